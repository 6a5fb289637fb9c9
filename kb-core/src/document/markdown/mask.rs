//! Display math is hidden from the Markdown parser, which does not know it while it looks for blocks:
//! a line of `=` inside a formula would make a heading of the line above.

use std::borrow::Cow;

/// `text` with every multi-line `$$ … $$` block outside code replaced by as many bytes of `x`, so that
/// offsets stay the same.
pub(super) fn mask(text: &str) -> Cow<'_, str> {
    let mut masked: Option<Vec<u8>> = None;
    let mut fence: Option<(u8, usize)> = None;
    let mut math_start: Option<usize> = None;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let trimmed = line.trim();
        let mark = trimmed.as_bytes().first().copied().unwrap_or(0);
        let run = trimmed.bytes().take_while(|b| *b == mark).count();
        if let Some((open, length)) = fence {
            if mark == open && run >= length && run == trimmed.len() {
                fence = None;
            }
        } else if let Some(start) = math_start {
            if trimmed.contains("$$") {
                let end = at + line.trim_end().len();
                masked.get_or_insert_with(|| text.as_bytes().to_vec())[start..end].fill(b'x');
                math_start = None;
            } else if trimmed.is_empty() {
                // A formula has no blank line: this was something else.
                math_start = None;
            }
        } else if matches!(mark, b'`' | b'~') && run >= 3 {
            if mark == b'~' || !trimmed[run..].contains('`') {
                fence = Some((mark, run));
            }
        } else if let Some(rest) = trimmed.strip_prefix("$$")
            && !rest.contains("$$")
        {
            math_start = Some(at + line.len() - line.trim_start().len());
        }
        at += line.len();
    }
    // Only whole characters were replaced, so this is still UTF-8.
    masked.and_then(|m| String::from_utf8(m).ok()).map_or(Cow::Borrowed(text), Cow::Owned)
}

#[cfg(test)]
mod tests {
    use super::mask;

    #[test]
    fn formulas_are_hidden_and_lengths_kept() {
        let text = "a\n\n$$\n面积\n=\nb\n$$\n\nc $$x$$ d\n";
        let masked = mask(text);
        assert_eq!(masked.len(), text.len());
        assert_eq!(masked, format!("a\n\n{}\n\nc $$x$$ d\n", "x".repeat("$$\n面积\n=\nb\n$$".len())));
    }

    #[test]
    fn code_and_unclosed_formulas_stay() {
        for text in ["```\n$$\na\n$$\n```\n", "$$\nnever closed\n\n# H\n", "$$\n", "price: $$ and $$ more\n"] {
            assert_eq!(mask(text), text);
        }
    }
}
