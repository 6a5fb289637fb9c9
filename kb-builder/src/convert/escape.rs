//! Writing Markdown: what converters share, so that text that means nothing special in its own
//! format means nothing special in Markdown either.

/// Escapes the characters of running text that CommonMark would take for markup, and no others:
/// an intraword `_` or a lone `<` stays as it is.
pub fn text(s: &str) -> String {
    let mut out = String::with_capacity(s.len() + 8);
    let mut previous = ' ';
    let mut chars = s.chars().peekable();
    while let Some(c) = chars.next() {
        let next = chars.peek().copied().unwrap_or(' ');
        let special = match c {
            '\\' => next.is_ascii_punctuation(),
            '`' | '*' => true,
            // Emphasis with `_` needs a side that is not a letter or digit.
            '_' => !(previous.is_alphanumeric() && next.is_alphanumeric()),
            '<' => next.is_ascii_alphabetic() || matches!(next, '/' | '!' | '?'),
            '[' | ']' => false,
            _ => false,
        };
        if special {
            out.push('\\');
        }
        out.push(c);
        previous = c;
    }
    out
}

/// Escapes what is special only at the start of a line: headings, lists, quotes, rules, fences.
/// Give it text that [`text`] already went over.
pub fn line_start(line: &str) -> String {
    let trimmed = line.trim_start();
    let escape_at = if trimmed.starts_with(['#', '>', '~']) || starts_list(trimmed) || is_rule(trimmed) {
        Some(0)
    } else {
        ordered_marker(trimmed)
    };
    match escape_at {
        Some(at) => format!("{}\\{}", &trimmed[..at], &trimmed[at..]),
        None => trimmed.to_string(),
    }
}

fn starts_list(s: &str) -> bool {
    matches!(s.as_bytes(), [b'-' | b'+'] | [b'-' | b'+', b' ', ..])
}

/// `---`, `===`, `|` rows and setext underlines.
fn is_rule(s: &str) -> bool {
    let compact: String = s.chars().filter(|c| !c.is_whitespace()).collect();
    !compact.is_empty() && (compact.chars().all(|c| c == '-') || compact.chars().all(|c| c == '='))
}

/// Byte offset of the `.` or `)` of an ordered list marker.
fn ordered_marker(s: &str) -> Option<usize> {
    let digits = s.bytes().take_while(u8::is_ascii_digit).count();
    let rest = &s.as_bytes()[digits..];
    let marker = (1..=9).contains(&digits) && matches!(rest, [b'.' | b')'] | [b'.' | b')', b' ', ..]);
    marker.then_some(digits)
}

/// A code span: fenced by one backtick more than the longest run inside.
pub fn code_span(code: &str) -> String {
    let code = code.split_whitespace().collect::<Vec<_>>().join(" ");
    if code.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(&code, '`') + 1);
    let pad = if code.starts_with('`') || code.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{code}{pad}{fence}")
}

/// A fenced code block, its fence longer than any inside. `language` may be empty.
pub fn code_block(language: &str, code: &str) -> String {
    let fence = "`".repeat(longest_run(code, '`').max(2) + 1);
    let language = language.split_whitespace().next().unwrap_or_default().replace('`', "");
    format!("{fence}{language}\n{}\n{fence}", code.trim_end_matches('\n'))
}

fn longest_run(s: &str, of: char) -> usize {
    let (mut longest, mut run) = (0, 0);
    for c in s.chars() {
        run = if c == of { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// A GFM table. The first row is the header; short rows are filled up, cells are single lines of
/// inline Markdown in which `|` is escaped here.
pub fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    if columns == 0 {
        return String::new();
    }
    let line = |cells: &[String]| {
        let mut out = String::from("|");
        for i in 0..columns {
            let cell = cells.get(i).map(|c| c.split_whitespace().collect::<Vec<_>>().join(" ")).unwrap_or_default();
            out.push(' ');
            out.push_str(&cell.replace('|', "\\|"));
            out.push_str(if cell.is_empty() { "|" } else { " |" });
        }
        out
    };
    let mut out = vec![line(&rows[0]), format!("|{}", " --- |".repeat(columns))];
    out.extend(rows[1..].iter().map(|r| line(r)));
    out.join("\n")
}

/// A heading line with its anchor. `title` is inline Markdown on one line.
pub fn heading(level: u8, title: &str, anchor: &str) -> String {
    let hashes = "#".repeat(usize::from(level.clamp(1, 6)));
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    // A `}` or white space in an id cannot be written as an attribute; such an anchor is left out.
    if anchor.is_empty() || anchor.contains(|c: char| c.is_whitespace() || c == '}' || c == '{') {
        format!("{hashes} {title}")
    } else {
        format!("{hashes} {title} {{#{anchor}}}")
    }
}

/// Puts `prefix` before every line, without trailing spaces on empty ones.
pub fn prefixed(text: &str, first: &str, rest: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for (i, line) in text.lines().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let prefix = if i == 0 { first } else { rest };
        if line.is_empty() {
            out.push_str(prefix.trim_end());
        } else {
            out.push_str(prefix);
            out.push_str(line);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_text_keeps_its_meaning() {
        assert_eq!(text("__init__ and snake_case"), r"\_\_init\_\_ and snake_case");
        assert_eq!(text("Vec<T> if a < b"), r"Vec\<T> if a < b");
        assert_eq!(text("2*3 `x`"), r"2\*3 \`x\`");
        assert_eq!(text(r"C:\dir \*"), r"C:\dir \\\*");
        assert_eq!(line_start("# not a heading"), r"\# not a heading");
        assert_eq!(line_start("1. not a list"), r"1\. not a list");
        assert_eq!(line_start("1.5 is a number"), "1.5 is a number");
        assert_eq!(line_start("- x"), r"\- x");
        assert_eq!(line_start("-x"), "-x");
        assert_eq!(line_start("-----"), r"\-----");
    }

    #[test]
    fn code_gets_a_fence_that_it_does_not_contain() {
        assert_eq!(code_span("a`b"), "``a`b``");
        assert_eq!(code_span("`a"), "`` `a ``");
        assert_eq!(code_block("rust", "let s = \"```\";\n"), "````rust\nlet s = \"```\";\n````");
    }

    #[test]
    fn tables_are_rectangular_and_cells_cannot_break_out() {
        let rows = vec![vec!["a".into(), "b".into()], vec!["x|y".into()], vec!["".into(), "two\nlines".into()]];
        assert_eq!(table(&rows), "| a | b |\n| --- | --- |\n| x\\|y | |\n| | two lines |");
    }
}
