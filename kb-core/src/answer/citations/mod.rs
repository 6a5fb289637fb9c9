//! Citations in the text of a language model, found while it arrives.
//!
//! A model is asked for `[1]` and writes `[1, 3]`, `[1-3]`, `【1】`, `[来源: undo.md#The safety net]` or
//! `(source 1)` as well. All of these become the same thing: a citation of one passage, numbered by first
//! appearance. One that names no passage is taken out and counted. Inside code nothing is touched.

mod marker;

use super::code::CodeTracker;
use super::passage::Passage;
use marker::{Marker, Reading};
use serde::{Deserialize, Serialize};

/// Longest marker in bytes.
const MAX_MARKER_BYTES: usize = 300;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "kind")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Segment {
    /// Text as the model wrote it: Markdown, untrusted.
    Text {
        /// Never empty.
        text: String,
    },
    /// A citation.
    Citation {
        /// The number to show: 1 for the passage that was cited first.
        n: usize,
        /// Index of the passage among those of the prompt, from 0.
        passage: usize,
    },
}

/// Recognises citations in a text that comes in pieces.
#[derive(Debug)]
pub struct CitationStream {
    places: Vec<marker::Place>,
    /// The indices of the cited passages in the order of their numbers.
    order: Vec<usize>,
    unresolved: usize,
    code: CodeTracker,
    /// What may become a marker, its bracket included.
    held: String,
    /// White space at the end of the text, which goes if a marker after it goes.
    space: String,
    text: String,
    /// Whether what was taken out last has left two spaces or a space before a full stop.
    taken_out: bool,
    /// The citation that was sent last, if nothing has followed it.
    last: Option<usize>,
}

impl CitationStream {
    /// For a reply to a prompt with these passages, in the prompt's order.
    pub fn new(passages: &[Passage]) -> Self {
        Self {
            places: passages.iter().map(marker::Place::new).collect(),
            order: Vec::new(),
            unresolved: 0,
            code: CodeTracker::default(),
            held: String::new(),
            space: String::new(),
            text: String::new(),
            taken_out: false,
            last: None,
        }
    }

    /// The cited passages: indices among those of the prompt, in the order of their numbers.
    pub fn order(&self) -> &[usize] {
        &self.order
    }

    /// How many citations named no passage and were taken out.
    pub fn unresolved(&self) -> usize {
        self.unresolved
    }

    /// Takes the next piece of text and appends what is certain to `out`.
    pub fn push(&mut self, text: &str, out: &mut Vec<Segment>) {
        for c in text.chars() {
            self.character(c, out);
        }
        self.send(out);
    }

    /// The text is over.
    pub fn finish(&mut self, out: &mut Vec<Segment>) {
        let held = std::mem::take(&mut self.held);
        held.chars().for_each(|c| self.keep(c));
        if !self.taken_out {
            self.text.push_str(&std::mem::take(&mut self.space));
        }
        self.send(out);
    }

    fn character(&mut self, c: char, out: &mut Vec<Segment>) {
        if self.held.is_empty() {
            return self.outside(c);
        }
        // A new bracket inside a marker: what came before it was none.
        if is_opening(c) {
            self.give_up();
            return self.outside(c);
        }
        self.held.push(c);
        match marker::read(&self.held, &self.places) {
            Reading::Maybe if self.held.len() <= MAX_MARKER_BYTES => {}
            Reading::Maybe | Reading::No => self.give_up(),
            Reading::Whole(marker) => self.marker(&marker, out),
        }
    }

    fn outside(&mut self, c: char) {
        if is_opening(c) && !self.in_code(c) { self.held.push(c) } else { self.keep(c) }
    }

    fn in_code(&self, c: char) -> bool {
        let mut code = self.code.clone();
        code.push(c);
        code.inside()
    }

    /// What is held is no marker.
    fn give_up(&mut self) {
        for c in std::mem::take(&mut self.held).chars() {
            self.keep(c);
        }
    }

    fn keep(&mut self, c: char) {
        self.code.push(c);
        if c.is_whitespace() {
            // One space is left where one stood on either side of what was taken out.
            if c == '\n' && self.taken_out && !self.space.contains('\n') {
                self.space.clear();
            }
            if c == '\n' || !self.taken_out || self.space.is_empty() {
                self.space.push(c);
            }
            return;
        }
        let space = std::mem::take(&mut self.space);
        if !self.taken_out || !is_closing(c) || space.contains('\n') {
            self.text.push_str(&space);
        }
        self.text.push(c);
        (self.taken_out, self.last) = (false, None);
    }

    fn marker(&mut self, marker: &Marker, out: &mut Vec<Segment>) {
        for c in std::mem::take(&mut self.held).chars() {
            self.code.push(c);
        }
        self.unresolved += marker.unresolved;
        if marker.passages.is_empty() {
            self.taken_out = true;
            return;
        }
        let space = std::mem::take(&mut self.space);
        // `[1] [2]` belongs together.
        if self.last.is_none() || space.contains('\n') {
            self.text.push_str(&space);
        }
        self.send(out);
        self.taken_out = false;
        for &passage in &marker.passages {
            if self.last == Some(passage) {
                continue;
            }
            let n = self.order.iter().position(|p| *p == passage).unwrap_or_else(|| {
                self.order.push(passage);
                self.order.len() - 1
            });
            out.push(Segment::Citation { n: n + 1, passage });
            self.last = Some(passage);
        }
    }

    fn send(&mut self, out: &mut Vec<Segment>) {
        if !self.text.is_empty() {
            out.push(Segment::Text { text: std::mem::take(&mut self.text) });
        }
    }
}

/// The segments of a whole text, neighbouring texts joined.
pub fn segments(text: &str, passages: &[Passage]) -> Vec<Segment> {
    let mut stream = CitationStream::new(passages);
    let mut out = Vec::new();
    stream.push(text, &mut out);
    stream.finish(&mut out);
    join(out)
}

/// Joins neighbouring texts.
pub fn join(segments: Vec<Segment>) -> Vec<Segment> {
    let mut out: Vec<Segment> = Vec::new();
    for segment in segments {
        match (out.last_mut(), segment) {
            (Some(Segment::Text { text }), Segment::Text { text: more }) => text.push_str(&more),
            (_, segment) => out.push(segment),
        }
    }
    out
}

/// An answer as text, its citations as `[1]`.
pub fn to_text(segments: &[Segment]) -> String {
    segments.iter().fold(String::new(), |mut out, segment| {
        match segment {
            Segment::Text { text } => out.push_str(text),
            Segment::Citation { n, .. } => {
                out.push('[');
                out.push_str(&n.to_string());
                out.push(']');
            }
        }
        out
    })
}

fn is_opening(c: char) -> bool {
    matches!(c, '[' | '【' | '(' | '（')
}

/// Marks that stand right after a word.
fn is_closing(c: char) -> bool {
    matches!(
        c,
        '.' | ',' | ';' | ':' | '!' | '?' | ')' | ']' | '。' | '，' | '；' | '：' | '！' | '？' | '、' | '）' | '】'
    )
}

#[cfg(test)]
mod tests;
