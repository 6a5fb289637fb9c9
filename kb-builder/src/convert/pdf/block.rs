//! Lines to paragraphs, list items, code and tables.

use super::line::{Line, is_east_asian};
use std::collections::BTreeMap;

/// What a paragraph is made into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Running text.
    Text,
    /// An item of a list; the marker is still in its text.
    Item,
    /// Lines of one-width letters, as they stand.
    Code,
    /// Cells, row by row.
    Table,
}

/// Lines that belong together.
#[derive(Debug, Clone, PartialEq)]
pub struct Block {
    /// What it is.
    pub kind: Kind,
    /// Its lines in order; a row's cells follow one another.
    pub lines: Vec<Line>,
    /// Page that each line is on, from 0.
    pub pages: Vec<usize>,
}

impl Block {
    /// Size of its letters: that of the line with most of them.
    pub fn size(&self) -> f32 {
        let longest = self.lines.iter().max_by_key(|l| l.text.len());
        longest.map_or(0.0, |l| l.size)
    }

    /// Whether all its letters are bold.
    pub fn is_bold(&self) -> bool {
        self.lines.iter().all(|l| l.bold)
    }

    /// How many characters it has.
    pub fn chars(&self) -> usize {
        self.lines.iter().map(|l| l.text.chars().count()).sum()
    }
}

/// Lines closer than this in size belong to one paragraph.
const SAME_SIZE: f32 = 0.12;

/// Gathers the lines of all pages to blocks. A paragraph may go on on the next page.
pub fn blocks(pages: &[Vec<Line>]) -> Vec<Block> {
    let leading = leading(pages);
    let mut blocks: Vec<Block> = Vec::new();
    for (page, lines) in pages.iter().enumerate() {
        let mut at = 0;
        let first_on_page = blocks.len();
        while at < lines.len() {
            let table = table_rows(&lines[at..]);
            if table > 0 {
                push(&mut blocks, Kind::Table, &lines[at..at + table], page);
                at += table;
                continue;
            }
            let line = &lines[at];
            let kind = if line.monospace && line.text.chars().count() > 1 {
                Kind::Code
            } else if is_item(&line.text) {
                Kind::Item
            } else {
                Kind::Text
            };
            let right = right_margin(lines, line);
            let goes_on = match blocks.last() {
                Some(last) if blocks.len() == first_on_page => goes_on_after_break(last, line),
                Some(last) => goes_on(last, line, kind, &leading, right),
                None => false,
            };
            match blocks.last_mut() {
                Some(last) if goes_on => {
                    last.lines.push(line.clone());
                    last.pages.push(page);
                }
                _ => push(&mut blocks, kind, std::slice::from_ref(line), page),
            }
            at += 1;
        }
    }
    blocks
}

fn push(blocks: &mut Vec<Block>, kind: Kind, lines: &[Line], page: usize) {
    blocks.push(Block { kind, lines: lines.to_vec(), pages: vec![page; lines.len()] });
}

/// The usual distance of two lines of one paragraph by their size in points, as a multiple of it.
fn leading(pages: &[Vec<Line>]) -> BTreeMap<i32, f32> {
    let mut steps: BTreeMap<i32, Vec<f32>> = BTreeMap::new();
    for pair in pages.iter().flat_map(|lines| lines.windows(2)) {
        let step = (pair[1].y - pair[0].y) / pair[0].size.max(1.0);
        if same_size(&pair[0], &pair[1]) && (0.9..2.6).contains(&step) && !pair[1].beside {
            steps.entry(pair[0].size.round() as i32).or_default().push(step);
        }
    }
    steps
        .into_iter()
        .map(|(size, mut steps)| {
            steps.sort_by(f32::total_cmp);
            (size, steps[steps.len() / 2])
        })
        .collect()
}

fn same_size(a: &Line, b: &Line) -> bool {
    (a.size - b.size).abs() <= SAME_SIZE * a.size.max(b.size)
}

/// Where the column of `line` ends: the rightmost end of the lines that begin near it.
fn right_margin(lines: &[Line], line: &Line) -> f32 {
    let same_column = |l: &&Line| (l.left - line.left).abs() < 4.0 * line.size && same_size(l, line) && !l.beside;
    lines.iter().filter(same_column).map(|l| l.right).fold(line.right, f32::max)
}

fn goes_on(block: &Block, line: &Line, kind: Kind, leading: &BTreeMap<i32, f32>, right: f32) -> bool {
    let Some(last) = block.lines.last() else { return false };
    let size = last.size.max(1.0);
    if line.beside || (line.y - last.y).abs() < 0.9 * size {
        // The same line after a wide gap, or the parts of a fraction in it: lines of text stand farther apart.
        return block.kind != Kind::Table && kind != Kind::Code || block.kind == kind;
    }
    if block.kind == Kind::Code || kind == Kind::Code {
        let step = (line.y - last.y) / size;
        return block.kind == kind && step > 0.0 && step < 2.6;
    }
    if kind == Kind::Item || block.kind == Kind::Table {
        return false;
    }
    if !same_size(last, line) || (line.bold != last.bold && last.first_word < last.right - last.left) {
        return false;
    }
    let step = (line.y - last.y) / size;
    let usual = leading.get(&(last.size.round() as i32)).copied().unwrap_or(1.2);
    if step <= 0.0 {
        // The next column.
        return is_unfinished(&last.text) && continues(&line.text);
    }
    if step > 1.3 * usual.max(1.1) {
        return false;
    }
    // What would have fitted onto the line before was put onto a new one on purpose.
    if last.right + 0.5 * size + line.first_word < right && !is_centred(last, line) {
        return false;
    }
    // A first line that stands in: for a paragraph's first line anything else is a hanging indent.
    let left = block.lines.iter().skip(1).filter(|l| !l.beside).map(|l| l.left).fold(f32::INFINITY, f32::min);
    !(left.is_finite() && line.left > left + 0.8 * size)
}

/// Whether two lines have the same middle and not the same left edge, as titles of several lines have.
fn is_centred(a: &Line, b: &Line) -> bool {
    let middle = |l: &Line| (l.left + l.right) / 2.0;
    (middle(a) - middle(b)).abs() < 0.5 * a.size && (a.left - b.left).abs() > a.size
}

/// Whether the paragraph at the end of a page goes on with the first line of the next.
fn goes_on_after_break(block: &Block, line: &Line) -> bool {
    let Some(last) = block.lines.last() else { return false };
    matches!(block.kind, Kind::Text | Kind::Item)
        && same_size(last, line)
        && last.bold == line.bold
        && !line.monospace
        && !is_item(&line.text)
        && is_unfinished(&last.text)
        && continues(&line.text)
}

/// Whether a line ends in the middle of a sentence.
fn is_unfinished(text: &str) -> bool {
    !text
        .trim_end_matches(['”', '"', '’', ')', '）', '」', '』', ']'])
        .ends_with(['.', '。', '!', '！', '?', '？', ':', '：', ';', '；', '…'])
}

/// Whether a line can be the continuation of a sentence.
fn continues(text: &str) -> bool {
    text.chars().next().is_some_and(|c| c.is_lowercase() || is_east_asian(c) || matches!(c, '(' | ',' | '“'))
}

/// Signs that lists begin their items with.
const BULLETS: [char; 20] =
    ['•', '●', '○', '■', '□', '▪', '▫', '◦', '‣', '⁃', '➢', '➤', '✓', '✔', '◆', '◇', '·', '∙', '►', '▶'];

/// The length of a list marker and its space, 0 if the text does not begin with one.
pub fn marker(text: &str) -> usize {
    let mut chars = text.chars();
    match chars.next() {
        Some(c) if BULLETS.contains(&c) => {
            let rest = &text[c.len_utf8()..];
            if rest.trim().is_empty() { 0 } else { c.len_utf8() + (rest.len() - rest.trim_start().len()) }
        }
        Some('–' | '—' | '-' | 'o') if text[text.chars().next().map_or(0, char::len_utf8)..].starts_with(' ') => {
            text.find(' ').map_or(0, |i| i + 1)
        }
        _ => 0,
    }
}

/// Whether a line begins an item: a bullet, `1.`, `(1)`, `a)`, `①`.
fn is_item(text: &str) -> bool {
    marker(text) > 0 || number(text) > 0
}

/// The length of a number that begins an item, its punctuation included.
pub fn number(text: &str) -> usize {
    let (open, rest) = match text.strip_prefix(['(', '（', '[']) {
        Some(rest) => (text.len() - rest.len(), rest),
        None => (0, text),
    };
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let head = if (1..=3).contains(&digits) {
        digits
    } else if rest.starts_with(|c: char| c.is_ascii_lowercase()) {
        1
    } else if rest.starts_with(|c: char| ('①'..='⑳').contains(&c)) {
        return open + 3;
    } else {
        return 0;
    };
    let tail = &rest[head..];
    let closing = tail.chars().next().unwrap_or(' ');
    let ok = match (open > 0, closing) {
        (true, ')' | '）' | ']') => true,
        (false, ')' | '）' | '、') => true,
        // `1.` before a space; `1.5` and `e.g.` are none.
        (false, '.' | '．') => {
            digits > 0 && tail.chars().nth(1).is_some_and(|c| c.is_whitespace() || is_east_asian(c))
        }
        _ => false,
    };
    if ok { open + head + closing.len_utf8() } else { 0 }
}

/// Fewest rows that make a table.
const MIN_ROWS: usize = 2;

/// How many of the lines from the first on are cells of a table: rows of at least two cells whose edges
/// are aligned with those of the row before.
fn table_rows(lines: &[Line]) -> usize {
    let mut rows: Vec<&[Line]> = Vec::new();
    let mut at = 0;
    while at < lines.len() && !lines[at].beside {
        let cells = 1 + lines[at + 1..].iter().take_while(|l| l.beside).count();
        let row = &lines[at..at + cells];
        let fits = rows.last().is_none_or(|above: &&[Line]| is_aligned(above, row) && follows(above, row));
        if cells < 2 || !fits {
            break;
        }
        rows.push(row);
        at += cells;
    }
    if rows.len() >= MIN_ROWS && rows.iter().flat_map(|r| r.iter()).all(|l| l.text.chars().count() <= 120) {
        rows.iter().map(|r| r.len()).sum()
    } else {
        0
    }
}

/// Whether most cells of a row begin, end or have their middle where a cell of the row above has.
fn is_aligned(above: &[Line], row: &[Line]) -> bool {
    let near = |a: f32, b: f32, size: f32| (a - b).abs() < 0.6 * size;
    let aligned = row
        .iter()
        .filter(|cell| {
            above.iter().any(|other| {
                near(cell.left, other.left, cell.size)
                    || near(cell.right, other.right, cell.size)
                    || near(cell.left + cell.right, other.left + other.right, 2.0 * cell.size)
            })
        })
        .count();
    // Justified lines with wide gaps share both margins, but no gap goes through both of them.
    let has_gutters = row.len() != above.len()
        || (1..row.len()).all(|i| row[i].left > above[i - 1].right && above[i].left > row[i - 1].right);
    aligned * 3 >= row.len() * 2 && row.len() <= above.len() + 1 && has_gutters
}

fn follows(above: &[Line], row: &[Line]) -> bool {
    let step = (row[0].y - above[0].y) / row[0].size.max(1.0);
    step > 0.5 && step < 4.0
}

#[cfg(test)]
mod tests {
    use super::super::line::{lines, tests::set};
    use super::*;

    fn page(rows: &[(&str, f32, f32, f32)]) -> Vec<Line> {
        rows.iter().flat_map(|(text, x, y, size)| lines(&set(text, *x, *y, *size))).collect()
    }

    fn shown(blocks: &[Block]) -> Vec<String> {
        blocks.iter().map(|b| b.lines.iter().map(|l| l.text.as_str()).collect::<Vec<_>>().join("|")).collect()
    }

    #[test]
    fn paragraphs_end_where_a_line_was_left_early_or_stands_in() {
        let found = blocks(&[page(&[
            ("This paragraph fills its first line wholly", 50.0, 100.0, 10.0),
            ("and ends early.", 50.0, 112.0, 10.0),
            ("Another one begins here and is as long as", 50.0, 124.0, 10.0),
            ("the first one was.", 50.0, 136.0, 10.0),
            ("A gap parts as well.", 50.0, 170.0, 10.0),
        ])]);
        assert_eq!(found.len(), 3, "{:?}", shown(&found));
        let found = blocks(&[page(&[
            ("第一段从这里开始，缩进两个字，这一行是满的", 70.0, 100.0, 10.0),
            ("第一段的第二行顶格，这一行也是满的一共这么", 70.0 - 20.0, 115.0, 10.0),
            ("第二段又从这里开始，缩进两个字，这一行是满", 70.0, 130.0, 10.0),
        ])]);
        assert_eq!(found.len(), 2, "{:?}", shown(&found));
    }

    #[test]
    fn a_paragraph_goes_over_the_page() {
        let one = page(&[("a sentence that is not yet", 50.0, 700.0, 10.0)]);
        let two = page(&[("finished here. And more", 50.0, 60.0, 10.0)]);
        let found = blocks(&[one.clone(), two]);
        assert_eq!((found.len(), found[0].pages.as_slice()), (1, &[0, 1][..]));
        let found = blocks(&[one, page(&[("Another begins", 50.0, 60.0, 10.0)])]);
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn items_and_numbers() {
        for (text, length) in [
            ("1. one", 2),
            ("(2) two", 3),
            ("a) x", 2),
            ("3、三", 4),
            ("①甲", 3),
            ("１", 0),
            ("1.5 kg", 0),
            ("e.g. x", 0),
            ("2020) x", 0),
        ] {
            assert_eq!(number(text), length, "{text}");
        }
        assert_eq!((marker("• dot"), marker("- dash"), marker("-5"), marker("•")), (4, 2, 0, 0));
        let found = blocks(&[page(&[
            ("• one item is long enough to", 50.0, 100.0, 10.0),
            ("fill it", 60.0, 112.0, 10.0),
            ("• two", 50.0, 124.0, 10.0),
        ])]);
        assert_eq!(shown(&found), ["• one item is long enough to|fill it", "• two"]);
        assert!(found.iter().all(|b| b.kind == Kind::Item));
    }

    #[test]
    fn aligned_cells_are_a_table() {
        let row = |y: f32, cells: [&str; 3]| {
            let mut glyphs = Vec::new();
            for (i, cell) in cells.iter().enumerate() {
                glyphs.extend(set(cell, 50.0 + 120.0 * i as f32, y, 10.0));
            }
            lines(&glyphs)
        };
        let mut lines = row(100.0, ["name", "cost", "note"]);
        lines.extend(row(114.0, ["BFS", "O(n)", "queue"]));
        lines.extend(row(128.0, ["DFS", "O(n)", "stack"]));
        lines.extend(page(&[("After the table.", 50.0, 150.0, 10.0)]));
        let found = blocks(&[lines]);
        assert_eq!((found[0].kind, found[0].lines.len(), found.len()), (Kind::Table, 9, 2));
        // Two justified lines whose gaps stand one after the other.
        let line = |y: f32, first: &str, at: f32, second: &str| {
            let mut glyphs = set(first, 50.0, y, 10.0);
            glyphs.extend(set(second, at, y, 10.0));
            super::super::line::lines(&glyphs)
        };
        let mut justified = line(100.0, "short", 90.0, "the longer half");
        justified.extend(line(112.0, "a long first half", 150.0, "end"));
        assert!(blocks(&[justified]).iter().all(|b| b.kind == Kind::Text));
    }
}
