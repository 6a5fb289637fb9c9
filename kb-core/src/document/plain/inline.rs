//! The inside of a paragraph: links, code, math, emphasis, HTML.

use super::html::{self, Angle};
use super::lines::Paragraph;
use super::{PlainText, html::entity};

/// Longest inline math, link target or reference that is recognised, in bytes: keeps searches linear.
const MAX_SPAN_BYTES: usize = 1_000;
/// How many delimiters back an opening one is looked for.
const MAX_LOOK_BACK: usize = 32;

/// A piece of the output, in the order of the text.
enum Piece {
    /// Bytes of the paragraph as they are.
    Copy(usize, usize),
    /// One character for something at this byte.
    Char(char, usize),
    /// White space at this byte; whether it is a line break.
    Space(usize, bool),
    /// A run of emphasis marks of which so many are left to be shown.
    Marks(usize, usize),
    /// The opening bracket of a link or image, of this length; 0 when it turned out to be one.
    Bracket(usize, usize),
}

/// A run of emphasis marks that may still open or close something.
struct Delimiter {
    piece: usize,
    mark: u8,
}

pub(super) fn convert(paragraph: &Paragraph, out: &mut PlainText) {
    let mut parser = Parser {
        text: &paragraph.text,
        pieces: Vec::new(),
        open: Vec::new(),
        brackets: Vec::new(),
        unclosed: Unclosed::default(),
    };
    parser.run();
    let text = &paragraph.text;
    for piece in parser.pieces {
        match piece {
            Piece::Copy(start, end) => out.copy(&text[start..end], paragraph.source(start)),
            Piece::Char(c, at) => out.put(c, paragraph.source(at)),
            Piece::Space(at, is_break) => {
                let next = text[at..].trim_start().chars().next();
                out.soft_space(next, is_break, paragraph.source(at));
            }
            Piece::Marks(start, count) | Piece::Bracket(start, count) => {
                out.copy(&text[start..start + count], paragraph.source(start));
            }
        }
    }
}

/// Closing marks that are known not to come any more, so that no search is made twice in vain.
#[derive(Default)]
struct Unclosed {
    /// Bit n: no run of n backticks follows.
    backticks: u64,
    round: bool,
    square: bool,
    comment: bool,
}

struct Parser<'a> {
    text: &'a str,
    pieces: Vec<Piece>,
    open: Vec<Delimiter>,
    /// Pieces of opening brackets.
    brackets: Vec<usize>,
    unclosed: Unclosed,
}

impl Parser<'_> {
    fn run(&mut self) {
        let text = self.text;
        let bytes = text.as_bytes();
        let mut at = 0;
        let mut copied = 0;
        while at < bytes.len() {
            let special = matches!(
                bytes[at],
                b'\\'
                    | b'`'
                    | b'$'
                    | b'!'
                    | b'['
                    | b']'
                    | b'<'
                    | b'&'
                    | b'*'
                    | b'_'
                    | b'~'
                    | b'='
                    | b'{'
                    | b' '
                    | b'\t'
                    | b'\n'
            );
            if !special {
                at += 1;
                continue;
            }
            self.copy(copied, at);
            let next = self.special(at);
            if next == at {
                // Not markup after all.
                copied = at;
                at += 1;
            } else {
                copied = next;
                at = next;
            }
        }
        self.copy(copied, at);
    }

    fn copy(&mut self, start: usize, end: usize) {
        if let Some(Piece::Copy(_, last_end)) = self.pieces.last_mut()
            && *last_end == start
        {
            *last_end = end;
        } else if start < end {
            self.pieces.push(Piece::Copy(start, end));
        }
    }

    /// Handles what begins at `at`; returns where to go on, `at` itself if it is plain text.
    fn special(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        match rest.as_bytes()[0] {
            b' ' | b'\t' | b'\n' => self.white_space(at),
            b'\\' => self.backslash(at),
            b'`' => self.code(at),
            b'$' => {
                let end = math_end(rest).map_or(at, |n| at + n);
                self.copy_lines(at, end);
                end
            }
            b'!' | b'[' => self.bracket(at),
            b']' => self.close_bracket(at),
            b'<' => self.angle(at),
            b'&' => match entity(rest) {
                Some((' ', n)) => {
                    self.pieces.push(Piece::Space(at, false));
                    at + n
                }
                Some((c, n)) => {
                    self.pieces.push(Piece::Char(c, at));
                    at + n
                }
                None => at,
            },
            b'{' if rest.starts_with("{{#") => {
                rest.find("}}").filter(|n| *n < MAX_SPAN_BYTES).map_or(at, |n| at + n + 2)
            }
            b'{' => at,
            mark => self.emphasis(at, mark),
        }
    }

    fn white_space(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let n = rest.len() - rest.trim_start_matches([' ', '\t', '\n']).len();
        self.pieces.push(Piece::Space(at, rest[..n].contains('\n')));
        at + n
    }

    fn backslash(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let (flag, end) = match rest.as_bytes().get(1) {
            Some(b'(') => (&mut self.unclosed.round, "\\)"),
            Some(b'[') => (&mut self.unclosed.square, "\\]"),
            Some(b'\n') => return at + 1,
            Some(c) if c.is_ascii_punctuation() => {
                self.copy(at + 1, at + 2);
                return at + 2;
            }
            _ => return at,
        };
        // TeX's own brackets: math stays as it is.
        let close = if *flag { None } else { rest.find(end) };
        *flag = close.is_none();
        match close {
            Some(n) => {
                self.copy_lines(at, at + n + 2);
                at + n + 2
            }
            None => {
                self.copy(at + 1, at + 2);
                at + 2
            }
        }
    }

    fn code(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let n = rest.bytes().take_while(|b| *b == b'`').count();
        let bit = 1_u64.checked_shl(n as u32).unwrap_or(0);
        let close = if bit == 0 || self.unclosed.backticks & bit != 0 { None } else { closing_backticks(rest, n) };
        let Some(close) = close else {
            self.unclosed.backticks |= bit;
            self.copy(at, at + n);
            return at + n;
        };
        let (mut start, mut end) = (at + n, at + close);
        let inside = &self.text[start..end];
        if inside.len() > 2 && inside.starts_with(' ') && inside.ends_with(' ') {
            (start, end) = (start + 1, end - 1);
        }
        self.copy_lines(start, end);
        at + close + n
    }

    /// Copies code or math; a line break in it becomes a space.
    fn copy_lines(&mut self, start: usize, end: usize) {
        let mut line_start = start;
        for (i, line) in self.text[start..end].split('\n').enumerate() {
            if i > 0 {
                self.pieces.push(Piece::Space(line_start, true));
            }
            self.copy(line_start, line_start + line.len());
            line_start += line.len() + 1;
        }
    }

    fn bracket(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        let length = if rest.starts_with("![") { 2 } else { 1 };
        if !rest.starts_with('[') && length == 1 {
            return at;
        }
        let inside = &rest[length..];
        if length == 1 && inside.starts_with('^') {
            // A footnote's mark.
            let window = inside.as_bytes().iter().take(100).position(|b| matches!(b, b']' | b' ' | b'\n'));
            if let Some(n) = window.filter(|n| inside.as_bytes()[*n] == b']') {
                return at + 1 + n + 1;
            }
        }
        if let Some(wiki) = inside.strip_prefix('[') {
            let end = wiki.as_bytes().iter().take(300).position(|b| matches!(b, b'[' | b']' | b'\n'));
            if let Some(end) = end.filter(|e| wiki[*e..].starts_with("]]") && *e > 0) {
                let label = wiki[..end].rfind('|').map_or(0, |bar| bar + 1);
                let start = at + length + 1;
                self.copy(start + label, start + end);
                return start + end + 2;
            }
        }
        self.brackets.push(self.pieces.len());
        self.pieces.push(Piece::Bracket(at, length));
        at + length
    }

    fn close_bracket(&mut self, at: usize) -> usize {
        let Some(opening) = self.brackets.pop() else { return at };
        let rest = &self.text[at + 1..];
        let target = match rest.as_bytes().first() {
            Some(b'(') => link_target(rest),
            Some(b'[') => {
                let window = rest.as_bytes().iter().take(MAX_SPAN_BYTES).skip(1).position(|b| matches!(b, b']' | b'['));
                window.filter(|n| rest.as_bytes()[n + 1] == b']').map(|n| n + 2)
            }
            _ => None,
        };
        let Some(target) = target else { return at };
        if let Some(Piece::Bracket(_, length)) = self.pieces.get_mut(opening) {
            *length = 0;
        }
        at + 1 + target
    }

    fn angle(&mut self, at: usize) -> usize {
        let rest = &self.text[at..];
        if rest.starts_with("<!--") && self.unclosed.comment {
            return at;
        }
        match html::angle(rest, self.text[..at].chars().next_back()) {
            Angle::Tag(n, separates) => {
                if separates {
                    self.pieces.push(Piece::Space(at + n, false));
                }
                at + n
            }
            Angle::Autolink(n) => {
                self.copy(at + 1, at + n - 1);
                at + n
            }
            Angle::Text => {
                self.unclosed.comment |= rest.starts_with("<!--");
                at
            }
        }
    }

    /// A run of `*`, `_`, `~` or `=`. Markers go when they pair up; others stay.
    fn emphasis(&mut self, at: usize, mark: u8) -> usize {
        let rest = &self.text[at..];
        let mut count = rest.bytes().take_while(|b| *b == mark).count();
        let end = at + count;
        if matches!(mark, b'~' | b'=') && count != 2 || count > 3 {
            self.copy(at, end);
            return end;
        }
        let before = self.text[..at].chars().next_back();
        let after = self.text[end..].chars().next();
        let is_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric());
        let is_space = |c: Option<char>| c.is_none_or(char::is_whitespace);
        let inside_word = mark == b'_' && is_word(before) && is_word(after);
        let (can_open, can_close) = (!is_space(after) && !inside_word, !is_space(before) && !inside_word);
        if can_close {
            while count > 0
                && let Some(opener) = self.opener(mark)
            {
                count -= self.pair(opener, count);
            }
        }
        if count > 0 {
            if can_open {
                self.open.push(Delimiter { piece: self.pieces.len(), mark });
            }
            self.pieces.push(Piece::Marks(end - count, count));
        }
        end
    }

    /// Index in `open` of the nearest run that `mark` can close.
    fn opener(&self, mark: u8) -> Option<usize> {
        let first = self.open.len().saturating_sub(MAX_LOOK_BACK);
        // Nothing lies between the two: `**` alone is not emphasis.
        let found = (first..self.open.len()).rev().find(|&i| self.open[i].mark == mark)?;
        (self.open[found].piece + 1 < self.pieces.len()).then_some(found)
    }

    /// Takes up to `count` marks from the opening run; what was opened after it stays plain text.
    fn pair(&mut self, opener: usize, count: usize) -> usize {
        self.open.truncate(opener + 1);
        let Some(Piece::Marks(_, left)) = self.open.last().and_then(|d| self.pieces.get_mut(d.piece)) else {
            return count;
        };
        let used = count.min(*left);
        *left -= used;
        if *left == 0 {
            self.open.pop();
        }
        used
    }
}

/// Where the math that begins with the first byte of `text` ends.
fn math_end(text: &str) -> Option<usize> {
    let display = text.starts_with("$$");
    let open = if display { 2 } else { 1 };
    let b = &text.as_bytes()[..text.len().min(MAX_SPAN_BYTES)];
    if b.get(open).is_none_or(u8::is_ascii_whitespace) && !display {
        return None;
    }
    let mut i = open;
    while i < b.len() {
        match b[i] {
            b'\\' => i += 1,
            b'$' if display && b.get(i + 1) == Some(&b'$') => return Some(i + 2),
            b'$' if !display && i > open && !b[i - 1].is_ascii_whitespace() => {
                return (!b.get(i + 1).is_some_and(u8::is_ascii_digit)).then_some(i + 1);
            }
            _ => {}
        }
        i += 1;
    }
    None
}

/// Offset of the run of exactly `n` backticks that closes the one at the beginning of `text`.
fn closing_backticks(text: &str, n: usize) -> Option<usize> {
    let b = text.as_bytes();
    let mut i = n;
    while i < b.len() {
        let run = b[i..].iter().take_while(|c| **c == b'`').count();
        if run == n {
            return Some(i);
        }
        i += run.max(1);
    }
    None
}

/// Length of `(target "title")` at the beginning of `text`, parentheses balanced.
fn link_target(text: &str) -> Option<usize> {
    let b = &text.as_bytes()[..text.len().min(MAX_SPAN_BYTES)];
    let mut depth = 0_u32;
    let mut quote = 0;
    let mut i = 0;
    while i < b.len() {
        match b[i] {
            b'\\' => i += 1,
            c if quote != 0 => quote = if c == quote { 0 } else { quote },
            c @ (b'"' | b'\'') if b[i - 1].is_ascii_whitespace() => quote = c,
            b'(' => depth += 1,
            b')' if depth == 1 => return Some(i + 1),
            b')' => depth -= 1,
            _ => {}
        }
        i += 1;
    }
    None
}
