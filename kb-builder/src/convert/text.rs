//! Plain text: paragraphs between blank lines, nothing is markup.

use super::escape;

/// Escapes what Markdown would take for headings, rules, fences, emphasis, code or HTML. Lists and
/// quotes are left: they look the same in both. Lines and blank lines stay as they are; indentation
/// goes, since four spaces would turn a paragraph into code.
pub fn to_markdown(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + text.len() / 16);
    for line in text.lines() {
        let line = escape::text(line.trim());
        let looks_the_same = line.starts_with(['-', '+', '>']) && !line.trim_matches('-').is_empty();
        if looks_the_same || line.starts_with(|c: char| c.is_ascii_digit()) {
            out.push_str(&line);
        } else {
            out.push_str(&escape::line_start(&line));
        }
        out.push('\n');
    }
    out
}

/// Whether a text is reStructuredText under another suffix, as in Django's documentation: it has underlined headings,
/// and lines that begin a directive or name a place.
pub fn is_rst(text: &str) -> bool {
    let is_underline = |l: &str| l.len() >= 3 && l.bytes().all(|b| b == l.as_bytes()[0] && b"=-~^\"'`*+#".contains(&b));
    let mut last = "";
    let mut heads = false;
    let mut marks = 0;
    for line in text.lines().map(str::trim_end) {
        heads |= is_underline(line) && last.contains(char::is_alphanumeric) && last.chars().count() <= line.len();
        let mark = line.trim_start().strip_prefix(".. ").unwrap_or_default();
        marks += usize::from(
            mark.starts_with('_') && mark.ends_with(':') || mark.split(' ').next().is_some_and(|w| w.ends_with("::")),
        );
        last = line;
    }
    heads && marks >= 2
}

/// The title of a text: its first line that is not blank, if that is short enough to be one.
pub fn title(text: &str) -> Option<String> {
    /// Longer first lines are the beginning of a paragraph. Counted in characters.
    const MAX_TITLE_CHARS: usize = 60;
    let first = text.lines().map(str::trim).find(|l| !l.is_empty())?;
    (first.chars().count() <= MAX_TITLE_CHARS && !first.ends_with(['.', '。', ',', '，'])).then(|| first.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_in_plain_text_is_markup() {
        assert_eq!(
            to_markdown("# of items\n\n    indented *text*\n1. one\n----\n"),
            "\\# of items\n\nindented \\*text\\*\n1. one\n\\----\n"
        );
    }

    #[test]
    fn restructured_text_is_known_by_its_marks() {
        let page = "=====\nTitle\n=====\n\n.. _here:\n\nWords.\n\n.. code-block:: python\n\n    x\n";
        assert!(is_rst(page));
        assert!(!is_rst("Title\n=====\n\nWords ... and more.\n") && !is_rst(".. a::\n.. b::\n") && !is_rst(""));
    }

    #[test]
    fn a_short_first_line_is_the_title() {
        assert_eq!(title("\n  Meeting notes \n\nWe met."), Some("Meeting notes".into()));
        assert_eq!(title("We met.\n"), None);
        assert_eq!(title(&"长".repeat(61)), None);
        assert_eq!(title(""), None);
    }
}
