//! Where sentences end.

/// Byte offsets in `text` just after each sentence: after `。！？…` and closing marks that follow, after
/// `.!?` before white space if no lower-case letter follows (`e.g. this` is not an end). The end of the
/// text is not among them. Offsets lie after the white space that follows a sentence.
pub fn sentence_ends(text: &str) -> impl Iterator<Item = usize> + '_ {
    let mut chars = text.char_indices().peekable();
    std::iter::from_fn(move || {
        while let Some((at, c)) = chars.next() {
            let wide = matches!(c, '。' | '．' | '｡' | '！' | '？' | '…');
            if !wide && !matches!(c, '.' | '!' | '?') {
                continue;
            }
            let mut end = at + c.len_utf8();
            while let Some(&(i, next)) = chars.peek() {
                if !is_closing(next) {
                    break;
                }
                end = i + next.len_utf8();
                chars.next();
            }
            let mut spaces = false;
            while let Some(&(i, next)) = chars.peek() {
                if !next.is_whitespace() {
                    break;
                }
                spaces = true;
                end = i + next.len_utf8();
                chars.next();
            }
            let &(_, next) = chars.peek()?;
            if wide || spaces && !next.is_lowercase() {
                return Some(end);
            }
        }
        None
    })
}

/// Marks that belong to the sentence before them.
fn is_closing(c: char) -> bool {
    matches!(
        c,
        '。' | '！'
            | '？'
            | '…'
            | '.'
            | '!'
            | '?'
            | '”'
            | '’'
            | '」'
            | '』'
            | '）'
            | ')'
            | '》'
            | '"'
            | '\''
            | ']'
            | '】'
    )
}

/// Whether a long sentence may be cut after `c`.
pub fn is_clause_mark(c: char) -> bool {
    c.is_whitespace() || matches!(c, '，' | '；' | '：' | '、' | ',' | ';' | ':' | '）' | ')')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sentences(text: &str) -> Vec<&str> {
        let mut start = 0;
        let mut out = Vec::new();
        for end in sentence_ends(text).chain([text.len()]) {
            out.push(&text[start..end]);
            start = end;
        }
        out
    }

    #[test]
    fn ends() {
        assert_eq!(sentences("图是什么？图是“点和边。”接着看……好"), ["图是什么？", "图是“点和边。”", "接着看……", "好"]);
        assert_eq!(
            sentences("One (two.) Three, e.g. four. Version 1.2 is \"here.\" End."),
            ["One (two.) ", "Three, e.g. four. ", "Version 1.2 is \"here.\" ", "End."]
        );
        assert_eq!(sentences("一．二．"), ["一．", "二．"]);
        assert_eq!(sentences(""), [""]);
        assert_eq!(sentences("no end"), ["no end"]);
    }
}
