//! Blocks as Markdown, with the places where pages begin.

use super::super::escape;
use super::block::{Block, Kind, marker, number};
use super::heading::Heading;
use super::line::{Line, is_east_asian};
use std::collections::HashSet;

/// The text, and where pages begin in it: byte offset and page number from 1.
pub struct Rendered {
    /// Markdown.
    pub text: String,
    /// Ascending.
    pub pages: Vec<(usize, usize)>,
}

/// Writes the blocks; `headings` says which of them are headings.
pub fn render(blocks: &[Block], headings: &[Option<Heading>]) -> Rendered {
    let hyphenated = hyphenated(blocks);
    let mut out = Rendered { text: String::new(), pages: Vec::new() };
    let mut open: Vec<f32> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        let is_item = block.kind == Kind::Item && headings[at].is_none();
        let after_item = at > 0 && blocks[at - 1].kind == Kind::Item && headings[at - 1].is_none();
        if at > 0 {
            out.text.push_str(if is_item && after_item { "\n" } else { "\n\n" });
        }
        if !(is_item && after_item) {
            open.clear();
        }
        let page = block.pages.first().map_or(1, |p| p + 1);
        out.begin_page(page);
        match (&headings[at], block.kind) {
            (Some(heading), _) => {
                let (text, _) = joined(&block.lines, &block.pages, &hyphenated);
                out.text.push_str(&escape::heading(heading.level, &text, ""));
            }
            (None, Kind::Code) => out.text.push_str(&escape::code_block("", &code(&block.lines))),
            (None, Kind::Table) => out.text.push_str(&escape::table(&rows(&block.lines))),
            (None, Kind::Text) => out.paragraph(block, &hyphenated),
            (None, Kind::Item) => {
                let left = block.lines[0].left;
                while open.last().is_some_and(|l| left < l - 1.0) {
                    open.pop();
                }
                if open.last().is_none_or(|l| left > l + 5.0) {
                    open.push(left);
                }
                let indent = "   ".repeat(open.len().saturating_sub(1).min(4));
                out.text.push_str(&indent);
                out.paragraph(block, &hyphenated);
            }
        }
    }
    out.text.push('\n');
    out
}

impl Rendered {
    fn begin_page(&mut self, number: usize) {
        if self.pages.last().is_none_or(|(_, last)| *last < number) {
            self.pages.push((self.text.len(), number));
        }
    }

    /// Running text or an item; a new page may begin inside of it.
    fn paragraph(&mut self, block: &Block, hyphenated: &HashSet<String>) {
        let (text, breaks) = joined(&block.lines, &block.pages, hyphenated);
        let skipped = if block.kind == Kind::Item { marker(&text) } else { 0 };
        let numbered = if block.kind == Kind::Item && skipped == 0 { number(&text) } else { 0 };
        if skipped > 0 {
            self.text.push_str("- ");
        } else if numbered > 0 {
            // `3.` and `3)` are numbers in Markdown too; others are kept as the item's text.
            let plain = text[..numbered].trim_end_matches(['.', ')']);
            if plain.bytes().all(|b| b.is_ascii_digit()) && plain.len() + 1 == numbered {
                self.text.push_str(plain);
                self.text.push_str(". ");
                return self.parts(&text, numbered, &breaks);
            }
            self.text.push_str("- ");
        }
        self.parts(&text, skipped, &breaks);
    }

    /// The text from `from` on; `breaks` says where in it pages begin.
    fn parts(&mut self, text: &str, from: usize, breaks: &[(usize, usize)]) {
        let from = from + (text[from..].len() - text[from..].trim_start().len());
        let mut at = from;
        let mut first = true;
        let later = breaks.iter().filter(|(offset, _)| *offset > from);
        for (end, page) in later.map(|(o, p)| (*o, Some(*p))).chain([(text.len(), None)]) {
            let part = escape::text(&text[at..end]);
            // A trailing space would be lost by `line_start`.
            if first {
                self.text.push_str(&escape::line_start(&part))
            } else {
                self.text.push_str(&part)
            }
            first = false;
            if let Some(page) = page {
                self.begin_page(page + 1);
            }
            at = end;
        }
    }
}

/// Words that the document writes with a hyphen inside a line.
fn hyphenated(blocks: &[Block]) -> HashSet<String> {
    let mut words = HashSet::new();
    for line in blocks.iter().flat_map(|b| &b.lines) {
        for word in line.text.split(|c: char| !c.is_alphanumeric() && c != '-') {
            if word.contains('-') && !word.starts_with('-') && !word.ends_with('-') {
                words.insert(word.to_lowercase());
            }
        }
    }
    words
}

/// Lines as running text, and where in it another page begins: byte offset and page from 0.
fn joined(lines: &[Line], pages: &[usize], hyphenated: &HashSet<String>) -> (String, Vec<(usize, usize)>) {
    let mut text = String::new();
    let mut breaks = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        if i > 0 {
            if line.beside {
                text.push(' ');
            } else {
                join(&mut text, &line.text, hyphenated);
            }
            if pages[i] != pages[i - 1] {
                breaks.push((text.len(), pages[i]));
            }
        }
        text.push_str(&line.text);
    }
    (text, breaks)
}

/// Ends the text so that `next` can be put behind it: a space, nothing, or a hyphen less.
fn join(text: &mut String, next: &str, hyphenated: &HashSet<String>) {
    let Some(last) = text.chars().next_back() else { return };
    let first = next.chars().next().unwrap_or(' ');
    if last == '\u{ad}' {
        text.pop();
        return;
    }
    if matches!(last, '-' | '\u{2010}') && first.is_lowercase() {
        let stem = &text[..text.len() - last.len_utf8()];
        let head: &str = stem.rsplit(|c: char| !c.is_alphanumeric() && c != '-').next().unwrap_or_default();
        let tail: &str = next.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
        if head.chars().next_back().is_some_and(char::is_alphabetic) {
            if !hyphenated.contains(&format!("{head}-{tail}").to_lowercase()) {
                text.truncate(stem.len());
            }
            return;
        }
    }
    // A dash between two words needs no space either.
    let dashed = matches!(last, '–' | '—' | '/') && text.chars().rev().nth(1).is_some_and(char::is_alphanumeric);
    if !(is_east_asian(last) || is_east_asian(first) || dashed) {
        text.push(' ');
    }
}

/// Lines of code with their indentation and blank lines.
fn code(lines: &[Line]) -> String {
    let left = lines.iter().filter(|l| !l.beside).map(|l| l.left).fold(f32::INFINITY, f32::min);
    let mut out = String::new();
    for (i, line) in lines.iter().enumerate() {
        let width = (line.right - line.left) / line.text.chars().count().max(1) as f32;
        let columns = |gap: f32| (gap / width.max(1.0)).round().clamp(0.0, 80.0) as usize;
        if i > 0 {
            let before = &lines[i - 1];
            if line.beside {
                out.push_str(&" ".repeat(columns(line.left - before.right).max(1)));
                out.push_str(&line.text);
                continue;
            }
            let step = (line.y - before.y) / line.size.max(1.0);
            out.push_str(if step > 2.0 { "\n\n" } else { "\n" });
        }
        out.push_str(&" ".repeat(columns(line.left - left)));
        out.push_str(&line.text);
    }
    out
}

/// Cells in rows; a row with fewer cells than the first is set below its columns.
fn rows(lines: &[Line]) -> Vec<Vec<String>> {
    let mut rows: Vec<Vec<&Line>> = Vec::new();
    for line in lines {
        match rows.last_mut() {
            Some(row) if line.beside => row.push(line),
            _ => rows.push(vec![line]),
        }
    }
    let columns: Vec<&Line> = rows.iter().max_by_key(|r| r.len()).cloned().unwrap_or_default();
    rows.iter()
        .map(|row| {
            let mut cells = vec![String::new(); columns.len()];
            for (i, cell) in row.iter().enumerate() {
                let distance = |c: &Line| {
                    let middle = |l: &Line| (l.left + l.right) / 2.0;
                    (c.left - cell.left).abs().min((middle(c) - middle(cell)).abs())
                };
                let nearest = (0..columns.len()).min_by(|a, b| distance(columns[*a]).total_cmp(&distance(columns[*b])));
                let column = if row.len() == columns.len() { i } else { nearest.unwrap_or(0) };
                if !cells[column].is_empty() {
                    cells[column].push(' ');
                }
                cells[column].push_str(&escape::text(&cell.text));
            }
            cells
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(text: &str, y: f32) -> Line {
        Line {
            text: text.into(),
            left: 50.0,
            right: 50.0 + 5.0 * text.chars().count() as f32,
            y,
            size: 10.0,
            bold: false,
            monospace: false,
            beside: false,
            first_word: 20.0,
        }
    }

    fn text_of(lines: &[&str]) -> String {
        let lines: Vec<Line> = lines.iter().enumerate().map(|(i, t)| line(t, 12.0 * i as f32)).collect();
        let block = Block { kind: Kind::Text, pages: vec![0; lines.len()], lines };
        render(&[block], &[None]).text
    }

    #[test]
    fn hyphens_at_line_ends_are_joined() {
        assert_eq!(text_of(&["an algo-", "rithm for", "graphs"]), "an algorithm for graphs\n");
        assert_eq!(text_of(&["a well-known fact is well-", "known"]), "a well-known fact is well-known\n");
        assert_eq!(text_of(&["pages 3-", "4 and A-", "B"]), "pages 3- 4 and A- B\n");
        assert_eq!(
            text_of(&["the Bellman–", "Ford and/", "or – a", "dash –", "too"]),
            "the Bellman–Ford and/or – a dash – too\n"
        );
        assert_eq!(text_of(&["soft\u{ad}", "ware"]), "software\n");
        assert_eq!(text_of(&["最短路", "算法 is", "好"]), "最短路算法 is好\n");
    }

    #[test]
    fn pages_begin_inside_paragraphs() {
        let lines = vec![line("begins here and", 700.0), line("ends there", 50.0)];
        let block = Block { kind: Kind::Text, pages: vec![0, 1], lines };
        let next = Block { kind: Kind::Text, pages: vec![2], lines: vec![line("third", 50.0)] };
        let r = render(&[block, next], &[None, None]);
        assert_eq!(r.text, "begins here and ends there\n\nthird\n");
        let at: Vec<(&str, usize)> = r.pages.iter().map(|(at, n)| (&r.text[*at..*at + 4], *n)).collect();
        assert_eq!(at, [("begi", 1), ("ends", 2), ("thir", 3)]);
    }

    #[test]
    fn code_keeps_its_indentation() {
        let mut lines = vec![line("def f():", 0.0), line("return 1", 12.0), line("f()", 40.0)];
        lines[1].left += 20.0;
        lines[1].right += 20.0;
        assert_eq!(code(&lines), "def f():\n    return 1\n\nf()");
    }

    #[test]
    fn numbers_and_bullets_are_lists() {
        let item = |text: &str, y| Block { kind: Kind::Item, pages: vec![0], lines: vec![line(text, y)] };
        let blocks = [item("• dot", 0.0), item("2. two", 12.0), item("(3) three", 24.0)];
        assert_eq!(render(&blocks, &[None, None, None]).text, "- dot\n2. two\n- (3) three\n");
    }
}
