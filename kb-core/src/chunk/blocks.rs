//! The blocks of a page, found by its lines: what may be cut and what must stay whole.

use std::ops::Range;

/// What a block is, as far as cutting is concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BlockKind {
    /// A paragraph or list item: may be cut between sentences.
    Prose,
    /// A heading or the head of an admonition: stays with what follows.
    Head,
    /// Fenced code, a table or display math: stays whole as long as that is possible, else is cut
    /// between lines.
    Solid,
}

/// A block: whole lines, the last one without its line end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub span: Range<usize>,
    pub kind: BlockKind,
}

/// How a solid block that has begun will end.
enum Open {
    /// At a line of this many or more of this character; quoted or not.
    Fence(u8, usize, bool),
    /// At a line that holds this.
    Until(&'static str),
    /// Before a line without a bar.
    Table,
}

/// The blocks of `text[range]`, in order; between them there is only white space.
pub(super) fn blocks(text: &str, range: Range<usize>) -> Vec<Block> {
    let mut found: Vec<Block> = Vec::new();
    let mut open: Option<Open> = None;
    // Whether the last block takes further lines.
    let mut growing = false;
    let part = &text[range.clone()];
    let mut at = range.start;
    let mut lines = part.split_inclusive('\n').peekable();
    while let Some(line) = lines.next() {
        let start = at;
        at += line.len();
        let end = start + line.trim_end().len();
        let inner = line.trim_start_matches([' ', '\t', '>']).trim_end();
        if let Some(state) = &open {
            let quoted = line.trim_start().starts_with('>');
            let (more, last) = match state {
                // A quote that ends takes its code with it.
                Open::Fence(_, _, true) if !quoted => (false, true),
                Open::Fence(mark, length, _) => (true, inner.len() >= *length && inner.bytes().all(|b| b == *mark)),
                Open::Until(mark) => (true, inner.contains(mark)),
                Open::Table => (inner.contains('|'), false),
            };
            if more {
                if let Some(block) = found.last_mut().filter(|_| end > start) {
                    block.span.end = end;
                }
                if last {
                    open = None;
                    growing = false;
                }
                continue;
            }
            open = None;
            growing = false;
        }
        if inner.is_empty() {
            // The `>` of an empty quoted line still belongs to the text.
            match found.last_mut() {
                Some(block) if end > start => block.span.end = end,
                None if end > start => found.push(Block { span: start..end, kind: BlockKind::Prose }),
                _ => {}
            }
            growing = false;
            continue;
        }
        let (content, item) = without_marker(inner);
        let indent = line.len() - line.trim_start_matches(' ').len();
        if let Some(state) = opens(content, line, lines.peek().copied()) {
            found.push(Block { span: start..end, kind: BlockKind::Solid });
            open = Some(state);
        } else if is_head(inner) {
            found.push(Block { span: start..end, kind: BlockKind::Head });
            growing = false;
        } else if growing && !(item && indent < 4) {
            if let Some(block) = found.last_mut() {
                block.span.end = end;
            }
        } else {
            found.push(Block { span: start..end, kind: BlockKind::Prose });
            growing = true;
        }
    }
    found
}

/// Whether a solid block begins on this line.
fn opens(content: &str, line: &str, next: Option<&str>) -> Option<Open> {
    let mark = *content.as_bytes().first()?;
    if matches!(mark, b'`' | b'~') {
        let length = content.bytes().take_while(|b| *b == mark).count();
        if length >= 3 && !(mark == b'`' && content[length..].contains('`')) {
            return Some(Open::Fence(mark, length, line.trim_start().starts_with('>')));
        }
    }
    if content.strip_prefix("$$").is_some_and(|rest| !rest.contains("$$")) {
        return Some(Open::Until("$$"));
    }
    if content.starts_with("<table") && !content.contains("</table>") {
        return Some(Open::Until("</table>"));
    }
    let under = next?.trim_matches([' ', '\t', '>', '\n', '\r']);
    let is_rule =
        under.contains('-') && under.contains('|') && under.bytes().all(|b| matches!(b, b'-' | b'|' | b':' | b' '));
    (content.contains('|') && is_rule).then_some(Open::Table)
}

/// The line without a list marker, and whether it had one.
fn without_marker(line: &str) -> (&str, bool) {
    let digits = line.bytes().take_while(u8::is_ascii_digit).count();
    let rest = match line.as_bytes() {
        [b'-' | b'*' | b'+', b' ', ..] => &line[2..],
        b if (1..=9).contains(&digits) && matches!(b.get(digits..), Some([b'.' | b')', b' ', ..])) => {
            &line[digits + 2..]
        }
        _ => return (line, false),
    };
    (rest.trim_start(), true)
}

fn is_head(line: &str) -> bool {
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    let atx = (1..=6).contains(&hashes) && line[hashes..].starts_with([' ', '\t']);
    let admonition = ["!!! ", "??? ", "???+ ", "=== "].iter().any(|m| line.starts_with(m));
    atx || admonition || line.starts_with(":::") && line.trim_start_matches(':').len() > 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(text: &str) -> Vec<(BlockKind, &str)> {
        blocks(text, 0..text.len()).into_iter().map(|b| (b.kind, &text[b.span])).collect()
    }

    #[test]
    fn blocks_of_a_page() {
        use BlockKind::{Head, Prose, Solid};
        let text =
            "# H\npara\nmore\n\n- one\n- two\n  still\n\n```c\n# x\n\ny\n```\n| a |\n|---|\n| b |\n\n$$\nx\n$$\nend\n";
        let expected = [
            (Head, "# H"),
            (Prose, "para\nmore"),
            (Prose, "- one"),
            (Prose, "- two\n  still"),
            (Solid, "```c\n# x\n\ny\n```"),
            (Solid, "| a |\n|---|\n| b |"),
            (Solid, "$$\nx\n$$"),
            (Prose, "end"),
        ];
        assert_eq!(kinds(text), expected);
    }

    #[test]
    fn code_inside_other_blocks() {
        use BlockKind::{Head, Prose, Solid};
        assert_eq!(
            kinds("??? note\n    ```cpp\n    int a;\n\n    ```\n    text\n"),
            [(Head, "??? note"), (Solid, "    ```cpp\n    int a;\n\n    ```"), (Prose, "    text")]
        );
        assert_eq!(kinds("> ```\n> a\n\nb"), [(Solid, "> ```\n> a"), (Prose, "b")]);
        assert_eq!(kinds("1. ```\n   a\n   ```\n2. b"), [(Solid, "1. ```\n   a\n   ```"), (Prose, "2. b")]);
        assert_eq!(kinds("```\nnever closed\n\n# x"), [(Solid, "```\nnever closed\n\n# x")]);
    }
}
