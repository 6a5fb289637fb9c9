//! Bullet lists, enumerated lists, option lists and field lists.

use super::super::escape;
use super::Parser;
use super::block::Place;
use super::lines::{dedent, indent, indented_end, is_blank};

/// What an item begins with.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    Bullet(char),
    /// The number to show; enumerations by letters and Roman numerals are numbered as well.
    Number(u32),
}

impl Parser<'_> {
    /// The list that begins at line `i`, if one does; returns the index of the line after it.
    pub fn list(&mut self, lines: &[&str], i: usize, place: Place, out: &mut Vec<String>) -> Option<usize> {
        if let Some(end) = self.options(lines, i, place, out) {
            return Some(end);
        }
        let (first, _) = marker(lines, i)?;
        let mut items: Vec<String> = Vec::new();
        let mut at = i;
        let mut number = if let Marker::Number(n) = first { n } else { 1 };
        while let Some((kind, text_at)) = lines.get(at).filter(|l| !is_blank(l)).and_then(|_| marker(lines, at)) {
            let same = match (first, kind) {
                (Marker::Bullet(a), Marker::Bullet(b)) => a == b,
                (Marker::Number(_), Marker::Number(_)) => true,
                _ => false,
            };
            if !same {
                break;
            }
            let end = indented_end(lines, at + 1, 1).max(at + 1);
            let body = item_body(&lines[at..end], text_at);
            let blocks = self.blocks(&body, place.deeper());
            let shown = match kind {
                Marker::Bullet(_) => "- ".to_string(),
                Marker::Number(_) => format!("{number}. "),
            };
            items.push(escape::prefixed(&join(&blocks), &shown, &" ".repeat(shown.len())));
            number = number.saturating_add(1);
            at = (end..lines.len()).find(|j| !is_blank(lines[*j])).unwrap_or(lines.len());
        }
        out.push(items.join("\n"));
        Some(at)
    }

    /// `:name: body` lines. At the very top they are the document's bibliographic fields and go.
    pub fn fields(&mut self, lines: &[&str], i: usize, place: Place, out: &mut Vec<String>) -> usize {
        let mut items = Vec::new();
        let mut at = i;
        while let Some((name, text)) = lines.get(at).and_then(|l| field(l)) {
            let end = indented_end(lines, at + 1, 1).max(at + 1);
            let mut body = vec![text];
            let rest = dedent(&lines[at + 1..end]);
            body.extend(&rest);
            let blocks = self.blocks(&body, place.deeper());
            let name = match name.split_once(' ') {
                // Sphinx's fields about one parameter: the name is the last word.
                Some((
                    "param" | "parameter" | "arg" | "argument" | "key" | "keyword" | "type" | "raises" | "raise"
                    | "var" | "ivar" | "cvar",
                    rest,
                )) => escape::code_span(rest.rsplit(' ').next().unwrap_or(rest)),
                _ => escape::text(name),
            };
            items.push(escape::prefixed(&format!("{name}: {}", join(&blocks)), "- ", "  "));
            at = (end..lines.len()).find(|j| !is_blank(lines[*j])).unwrap_or(lines.len());
        }
        let bibliographic = place == Place::Top && out.is_empty();
        if !bibliographic {
            out.push(items.join("\n"));
        }
        at
    }

    /// `-a, --all  text`: an option list.
    fn options(&mut self, lines: &[&str], i: usize, place: Place, out: &mut Vec<String>) -> Option<usize> {
        let mut items = Vec::new();
        let mut at = i;
        while let Some((option, text)) = lines.get(at).and_then(|l| option(l)) {
            let end = indented_end(lines, at + 1, 1).max(at + 1);
            let mut body = vec![text];
            let rest = dedent(&lines[at + 1..end]);
            body.extend(&rest);
            let blocks = self.blocks(&body, place.deeper());
            if blocks.is_empty() {
                break;
            }
            items.push(escape::prefixed(&format!("{}: {}", escape::code_span(option), join(&blocks)), "- ", "  "));
            at = (end..lines.len()).find(|j| !is_blank(lines[*j])).unwrap_or(lines.len());
        }
        if items.is_empty() {
            return None;
        }
        out.push(items.join("\n"));
        Some(at)
    }
}

/// The bullet items of some lines, each without its marker and indentation: for `list-table`.
pub fn bullet_items<'a>(lines: &[&'a str]) -> Vec<Vec<&'a str>> {
    let mut items = Vec::new();
    let mut at = 0;
    while at < lines.len() {
        let end = indented_end(lines, at + 1, 1).max(at + 1);
        if let Some((Marker::Bullet(_), text_at)) = marker(lines, at) {
            items.push(item_body(&lines[at..end], text_at));
        }
        at = end;
    }
    items
}

/// The marker at line `i` and the column where the item's text begins.
fn marker(lines: &[&str], i: usize) -> Option<(Marker, usize)> {
    let line = *lines.get(i)?;
    let first = line.chars().next()?;
    if matches!(first, '*' | '-' | '+' | '•' | '‣' | '⁃') {
        let rest = &line[first.len_utf8()..];
        return (rest.is_empty() || rest.starts_with(' '))
            .then(|| (Marker::Bullet(first), line.len() - rest.trim_start().len()));
    }
    let (number, after) = enumerator(line)?;
    if !(after.is_empty() || after.starts_with(' ')) {
        return None;
    }
    // "A. Einstein was" over a second line at the margin is a paragraph, as in docutils.
    let next = lines.get(i + 1).copied().unwrap_or("");
    let goes_on = is_blank(next) || indent(next) > 0 || enumerator(next).is_some();
    goes_on.then(|| (Marker::Number(number), line.len() - after.trim_start().len()))
}

/// `1.`, `#.`, `a)`, `(iv)`: the number and the rest of the line.
fn enumerator(line: &str) -> Option<(u32, &str)> {
    let (open, body) = match line.strip_prefix('(') {
        Some(body) => (true, body),
        None => (false, line),
    };
    let length = body.find(|c: char| !(c.is_ascii_alphanumeric() || c == '#'))?;
    let (label, rest) = body.split_at(length);
    let after = rest.strip_prefix(')').or_else(|| if open { None } else { rest.strip_prefix('.') })?;
    let number = match label {
        "" => return None,
        "#" => 1,
        l if l.bytes().all(|b| b.is_ascii_digit()) => l.parse().ok()?,
        l if l.len() == 1 && l != "i" && l != "I" => {
            u32::from(l.as_bytes()[0].to_ascii_lowercase().checked_sub(b'a')?) + 1
        }
        l => roman(l)?,
    };
    Some((number, after))
}

/// The value of a Roman numeral in one case, up to 39, which is more than lists have.
fn roman(s: &str) -> Option<u32> {
    let lower = s.to_ascii_lowercase();
    if s != lower && s != s.to_ascii_uppercase() {
        return None;
    }
    let tens = lower.bytes().take_while(|b| *b == b'x').count().min(3);
    let units =
        ["", "i", "ii", "iii", "iv", "v", "vi", "vii", "viii", "ix"].iter().position(|u| *u == &lower[tens..])?;
    u32::try_from(tens * 10 + units).ok().filter(|n| *n > 0)
}

/// `:name:` and the text after it; a role such as `` :ref:`x` `` is none.
pub fn field(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix(':')?;
    let end =
        rest.match_indices(':').map(|(i, _)| i).find(|i| rest[i + 1..].is_empty() || rest[i + 1..].starts_with(' '))?;
    let name = &rest[..end];
    let valid = !name.is_empty() && !name.starts_with([' ', ':']) && !name.contains('`');
    valid.then(|| (name, rest[end + 1..].trim()))
}

/// `-x`, `--long=ARG`, `/V` followed by two spaces and text, or by text on the next lines.
fn option(line: &str) -> Option<(&str, &str)> {
    let is_option = line.starts_with("--") && line.as_bytes().get(2).is_some_and(u8::is_ascii_alphanumeric)
        || line.starts_with('-') && line.as_bytes().get(1).is_some_and(u8::is_ascii_alphanumeric);
    if !is_option {
        return None;
    }
    match line.split_once("  ") {
        Some((option, text)) => Some((option.trim(), text.trim())),
        None if !line.contains(' ') || line.starts_with("--") && line.split(' ').count() <= 2 => Some((line, "")),
        None => None,
    }
}

/// The lines of an item, its marker cut off and its indentation removed.
fn item_body<'a>(lines: &[&'a str], text_at: usize) -> Vec<&'a str> {
    let mut body = vec![lines[0].get(text_at..).unwrap_or("")];
    // Text may be indented less than it should be; it must not lose characters for that.
    body.extend(lines[1..].iter().map(|l| l.get(text_at.min(indent(l))..).unwrap_or("")));
    body
}

/// Blocks of one item: a list right under its paragraph needs no blank line.
fn join(blocks: &[String]) -> String {
    let mut out = String::new();
    for (i, block) in blocks.iter().enumerate() {
        if i > 0 {
            out.push_str(if block.starts_with("- ") || block.starts_with("1. ") { "\n" } else { "\n\n" });
        }
        out.push_str(block);
    }
    out
}
