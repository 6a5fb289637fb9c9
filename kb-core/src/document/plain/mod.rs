//! Markdown without its markup, for excerpts, for the word index and for the model.
//!
//! Works on any slice of a page, also one that begins or ends in the middle of something, in linear
//! time and without a full Markdown parser, so that the browser can do it for every excerpt. Links
//! become their label, images their alternative text; markers of headings, lists, quotes, emphasis,
//! tables and admonitions go, so do HTML tags and comments; code and math stay as written.
//! Every block becomes one line; a code block keeps its lines.

mod html;
mod inline;
mod lines;

use crate::text::script::joins_without_space;

/// Text without markup that remembers where it came from.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PlainText {
    /// The text. Blocks are separated by `\n`.
    pub text: String,
    /// Where runs that were copied as they are begin: in `text`, and in the source. Ascending in both.
    runs: Vec<(usize, usize)>,
}

impl PlainText {
    /// The byte offset in the source that the byte at `plain` of [`Self::text`] came from. Always a
    /// char boundary of the source if `plain` is one of the text.
    pub fn source_offset(&self, plain: usize) -> usize {
        let after = self.runs.partition_point(|(p, _)| *p <= plain);
        let Some(&(start, source)) = after.checked_sub(1).and_then(|i| self.runs.get(i)) else { return 0 };
        source + (plain - start)
    }

    /// Appends a part of the source as it is.
    fn copy(&mut self, part: &str, source: usize) {
        if part.is_empty() {
            return;
        }
        let continues = self.runs.last().is_some_and(|(p, s)| s + (self.text.len() - p) == source);
        if !continues {
            self.runs.push((self.text.len(), source));
        }
        self.text.push_str(part);
    }

    /// Appends a character that stands for something at `source`.
    fn put(&mut self, c: char, source: usize) {
        self.runs.push((self.text.len(), source));
        self.text.push(c);
        // What follows is a run of its own, so that a longer stand-in cannot reach past its source.
        self.runs.push((self.text.len(), source));
    }

    /// Ends the current block.
    fn end_block(&mut self, source: usize) {
        while self.text.ends_with(' ') {
            self.text.pop();
        }
        if !self.text.is_empty() && !self.text.ends_with('\n') {
            self.put('\n', source);
        }
    }

    /// Appends the space that a line break or a run of white space stands for, unless the neighbours
    /// need none.
    fn soft_space(&mut self, next: Option<char>, is_break: bool, source: usize) {
        let Some(last) = self.text.chars().next_back() else { return };
        let east_asian = is_break && joins_without_space(last) && next.is_some_and(joins_without_space);
        if !last.is_whitespace() && !east_asian {
            self.put(' ', source);
        }
    }
}

/// The plain text of a slice of Markdown.
pub fn plain(markdown: &str) -> PlainText {
    plain_after("", markdown)
}

/// The plain text of a slice that follows `before` in its page: if a code block is open there, the
/// slice begins with code.
pub fn plain_after(before: &str, markdown: &str) -> PlainText {
    let mut out = PlainText::default();
    lines::convert(before, markdown, &mut out);
    let kept = out.text.trim_end().len();
    out.text.truncate(kept);
    out.runs.retain(|(p, _)| *p < kept);
    out
}

#[cfg(test)]
mod tests;
