//! The lines of a page: which belong together, and what marks them.

use super::{PlainText, html, inline};

/// What the lines so far have opened.
enum State {
    Prose,
    /// Inside a fenced code block: the fence's character, its length, its indentation.
    Fence(u8, usize, usize),
    /// Inside display math that takes several lines.
    Math,
    /// Inside something that is dropped, up to this text.
    Dropped(&'static str),
}

/// Most markers of quotes and lists that one line may begin with: keeps the work linear.
const MAX_MARKERS: usize = 32;

/// Lines of one paragraph, joined by `\n`, with the source offset of each.
#[derive(Default)]
pub(super) struct Paragraph {
    pub text: String,
    /// Where each line begins in `text` and in the source.
    lines: Vec<(usize, usize)>,
}

impl Paragraph {
    fn push(&mut self, line: &str, source: usize) {
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.lines.push((self.text.len(), source));
        self.text.push_str(line);
    }

    /// Source offset of a byte of `text`.
    pub fn source(&self, at: usize) -> usize {
        let after = self.lines.partition_point(|(p, _)| *p <= at);
        self.lines.get(after.wrapping_sub(1)).map_or(0, |(p, s)| s + (at - p))
    }
}

/// Converts `markdown`, which follows `before` in its page.
pub(super) fn convert(before: &str, markdown: &str, out: &mut PlainText) {
    let state = open_fence(before).unwrap_or(State::Prose);
    let mut c = Converter { out, paragraph: Paragraph::default(), state };
    let mut at = 0;
    for line in markdown.split_inclusive('\n') {
        let content = line.strip_suffix('\n').unwrap_or(line);
        c.line(content.strip_suffix('\r').unwrap_or(content), at);
        at += line.len();
    }
    c.flush(at);
}

/// The fence that is still open at the end of `before`.
fn open_fence(before: &str) -> Option<State> {
    let mut open: Option<(u8, usize, usize)> = None;
    for line in before.lines() {
        let indent = line.len() - line.trim_start().len();
        let trimmed = line.trim_start_matches([' ', '\t', '>']).trim_end();
        match open {
            Some((mark, length, _)) if trimmed.len() >= length && trimmed.bytes().all(|b| b == mark) => open = None,
            Some(_) => {}
            None => {
                if let Some(State::Fence(mark, length, _)) = opens(trimmed) {
                    open = Some((mark, length, indent));
                }
            }
        }
    }
    open.map(|(mark, length, indent)| State::Fence(mark, length, indent))
}

struct Converter<'a> {
    out: &'a mut PlainText,
    paragraph: Paragraph,
    state: State,
}

impl Converter<'_> {
    fn flush(&mut self, source: usize) {
        if !self.paragraph.text.is_empty() {
            let paragraph = std::mem::take(&mut self.paragraph);
            inline::convert(&paragraph, self.out);
        }
        self.out.end_block(source);
    }

    /// Appends a line that is a block of its own.
    fn block(&mut self, line: &str, source: usize) {
        self.flush(source);
        self.paragraph.push(line, source);
        self.flush(source + line.len());
    }

    fn line(&mut self, line: &str, at: usize) {
        match self.state {
            State::Prose => self.prose(line, at),
            State::Fence(mark, length, indent) => {
                let trimmed = line.trim();
                if trimmed.len() >= length && trimmed.bytes().all(|b| b == mark) {
                    self.state = State::Prose;
                } else if !trimmed.is_empty() {
                    let cut = line.bytes().take(indent).take_while(|b| *b == b' ').count();
                    self.out.copy(line[cut..].trim_end(), at + cut);
                    self.out.end_block(at + line.len());
                }
            }
            State::Math => {
                let trimmed = line.trim();
                let start = at + line.len() - line.trim_start().len();
                self.out.soft_space(trimmed.chars().next(), true, start);
                self.out.copy(trimmed, start);
                if trimmed.contains("$$") {
                    self.state = State::Prose;
                    self.out.end_block(at + line.len());
                }
            }
            State::Dropped(end) => {
                if let Some(found) = line.find(end) {
                    self.state = State::Prose;
                    let rest = found + end.len();
                    self.prose(&line[rest..], at + rest);
                }
            }
        }
    }

    fn prose(&mut self, line: &str, at: usize) {
        let mut rest = line.trim_start();
        for _ in 0..MAX_MARKERS {
            let here = at + line.len() - rest.len();
            match marker(rest) {
                Marker::Quote(n) => rest = rest[n..].trim_start(),
                Marker::Bullet(n) => {
                    self.flush(here);
                    rest = rest[n..].trim_start();
                    rest = ["[ ] ", "[x] ", "[X] "].iter().find_map(|b| rest.strip_prefix(b)).unwrap_or(rest);
                }
                Marker::Number(n) => {
                    self.flush(here);
                    self.paragraph.push(rest[..n].trim_end(), here);
                    rest = rest[n..].trim_start();
                }
                Marker::None => break,
            }
        }
        let rest = rest.trim_end();
        let here = at + (rest.as_ptr() as usize - line.as_ptr() as usize);
        if rest.is_empty() || is_rule(rest) || is_table_rule(rest) {
            return self.flush(here);
        }
        if let Some(state) = opens(rest) {
            self.flush(here);
            if matches!(state, State::Math) {
                self.out.copy(rest, here);
            }
            let indent = line.len() - line.trim_start().len();
            self.state = if let State::Fence(mark, n, _) = state { State::Fence(mark, n, indent) } else { state };
            return;
        }
        if let Some(dropped) = html::opens_dropped(rest) {
            if let Some(before) = rest.get(..dropped.at).filter(|b| !b.trim().is_empty()) {
                self.paragraph.push(before, here);
            }
            self.state = State::Dropped(dropped.end);
            return;
        }
        match block(rest) {
            Block::Own(range) => self.block(&rest[range.clone()], here + range.start),
            Block::Dropped => self.flush(here),
            Block::Prose(cut) => self.paragraph.push(&rest[cut..], here + cut),
        }
    }
}

enum Marker {
    Quote(usize),
    Bullet(usize),
    Number(usize),
    None,
}

/// The marker that `line` begins with, and its length with the space after it.
fn marker(line: &str) -> Marker {
    let b = line.as_bytes();
    match b {
        [b'>', ..] => Marker::Quote(1),
        [b'-' | b'*' | b'+', b' ' | b'\t', ..] if !is_rule(line) => Marker::Bullet(2),
        [b'0'..=b'9', ..] => {
            let digits = b.iter().take_while(|c| c.is_ascii_digit()).count();
            match b.get(digits..) {
                Some([b'.' | b')', b' ', ..]) if digits <= 9 => Marker::Number(digits + 2),
                _ => Marker::None,
            }
        }
        _ => Marker::None,
    }
}

/// A thematic break or the underline of a heading: three or more of one of `-*_=`, or two of `-=`.
fn is_rule(line: &str) -> bool {
    let mut marks = line.bytes().filter(|b| !matches!(b, b' ' | b'\t'));
    let Some(mark @ (b'-' | b'*' | b'_' | b'=')) = marks.next() else { return false };
    let mut count = 1;
    for m in marks {
        if m != mark {
            return false;
        }
        count += 1;
    }
    count >= 3 || count == 2 && matches!(mark, b'-' | b'=')
}

/// The row under a table's head: `| --- | :-: |`.
fn is_table_rule(line: &str) -> bool {
    line.contains('-') && line.contains('|') && line.bytes().all(|b| matches!(b, b'-' | b'|' | b':' | b' ' | b'\t'))
}

/// Whether the line opens a fence or display math.
fn opens(line: &str) -> Option<State> {
    let mark = *line.as_bytes().first()?;
    if matches!(mark, b'`' | b'~') {
        let length = line.bytes().take_while(|b| *b == mark).count();
        let info = &line[length..];
        return (length >= 3 && !(mark == b'`' && info.contains('`'))).then_some(State::Fence(mark, length, 0));
    }
    let math = line.strip_prefix("$$")?;
    (!math.contains("$$")).then_some(State::Math)
}

enum Block {
    /// A part of the line is a block of its own.
    Own(std::ops::Range<usize>),
    Dropped,
    /// Prose from this byte on.
    Prose(usize),
}

fn block(line: &str) -> Block {
    let hashes = line.bytes().take_while(|b| *b == b'#').count();
    if (1..=6).contains(&hashes) && line[hashes..].starts_with([' ', '\t']) {
        return Block::Own(heading(line, hashes));
    }
    for fence in ["!!!", "???+", "???", "==="] {
        if let Some(rest) = line.strip_prefix(fence)
            && rest.starts_with(' ')
        {
            return quoted(line).map_or(Block::Dropped, Block::Own);
        }
    }
    if line.starts_with(":::") {
        let words = line.trim_start_matches(':').trim_start();
        // `::: tip Title`, `:::{note} Title`: the first word is the kind.
        let title = words.find([' ', '\t']).map(|i| words[i..].trim_start()).filter(|t| !t.starts_with('{'));
        return title.map_or(Block::Dropped, |t| Block::Own(line.len() - t.len()..line.len()));
    }
    if line.starts_with('|') && line.len() > 1 {
        let end = if line.ends_with('|') && !line.ends_with("\\|") { line.len() - 1 } else { line.len() };
        return Block::Own(1..end);
    }
    if line.starts_with("[!") && line.ends_with(']') || line.starts_with("{:") && line.ends_with('}') {
        return Block::Dropped;
    }
    if let Some(label) = line.strip_prefix('[').and_then(|l| l.split_once("]:")).map(|(label, _)| label)
        && !label.is_empty()
        && !label.contains(['[', ']'])
    {
        let after = label.len() + 3;
        if label.starts_with('^') {
            return Block::Prose(after + line[after..].len() - line[after..].trim_start().len());
        }
        if line[after..].split_whitespace().count() <= 2 || line.ends_with(['"', '\'', ')']) {
            return Block::Dropped;
        }
    }
    if line.starts_with(": ") {
        return Block::Prose(2);
    }
    Block::Prose(0)
}

/// The text of an ATX heading: without the hashes on both sides and `{#id}` at the end.
fn heading(line: &str, hashes: usize) -> std::ops::Range<usize> {
    let mut end = line.len();
    let attributes = line.trim_end().strip_suffix('}').and_then(|l| l.rfind('{'));
    if let Some(open) = attributes.filter(|o| line[o + 1..].trim_start().starts_with(['#', '.', ':', '/'])) {
        end = open;
    }
    let text = line[..end].trim_end();
    let unhashed = text.trim_end_matches('#');
    end = if unhashed.ends_with([' ', '\t']) { unhashed.trim_end().len() } else { text.len() };
    let start = hashes + line[hashes..].len() - line[hashes..].trim_start().len();
    start.min(end)..end
}

/// The inside of the first pair of straight double quotes.
fn quoted(line: &str) -> Option<std::ops::Range<usize>> {
    let open = line.find('"')? + 1;
    let length = line[open..].rfind('"')?;
    (length > 0).then(|| open..open + length)
}
