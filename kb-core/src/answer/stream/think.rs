//! `<think>` in the content: some models put their reasoning there, whatever they are asked.

use super::Event;
use crate::answer::code::CodeTracker;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// Sends what stands between the tags as reasoning, the rest as text. Tags inside code are code.
#[derive(Debug, Default)]
pub(super) struct ThinkSplitter {
    /// The beginning of what may become a tag.
    held: String,
    thinking: bool,
    code: CodeTracker,
    /// Whether text has been sent.
    has_text: bool,
    /// Whether a block has been opened or closed, or reasoning came apart from the content.
    has_reasoning: bool,
    /// Line ends between a block and the text are not part of either.
    skip_space: bool,
}

impl ThinkSplitter {
    /// Reasoning that came apart from the content.
    pub fn reasoning(&mut self, text: &str, events: &mut Vec<Event>) {
        if !text.is_empty() {
            self.has_reasoning = true;
            events.push(Event::Reasoning(text.to_owned()));
        }
    }

    /// The next piece of the content.
    pub fn push(&mut self, content: &str, events: &mut Vec<Event>) {
        let mut out = String::new();
        for c in content.chars() {
            self.character(c, &mut out, events);
        }
        self.send(&mut out, events);
    }

    /// The content is over: what was held back is no tag.
    pub fn finish(&mut self, events: &mut Vec<Event>) {
        let mut out = std::mem::take(&mut self.held);
        self.send(&mut out, events);
    }

    fn character(&mut self, c: char, out: &mut String, events: &mut Vec<Event>) {
        if self.held.is_empty() {
            if c != '<' || self.in_code(c) {
                return self.keep(c, out);
            }
            self.held.push(c);
            return;
        }
        self.held.push(c);
        if !self.thinking && self.held.eq_ignore_ascii_case(OPEN) {
            self.send(out, events);
            (self.thinking, self.has_reasoning) = (true, true);
            self.held.clear();
        } else if self.held.eq_ignore_ascii_case(CLOSE) {
            if !self.thinking && !self.has_reasoning {
                // The prompt had opened the block.
                self.send(out, events);
                if self.has_text {
                    events.push(Event::TextWasReasoning);
                }
                self.has_text = false;
            }
            self.send(out, events);
            (self.thinking, self.has_reasoning, self.skip_space) = (false, true, true);
            self.code = CodeTracker::default();
            self.held.clear();
        } else if ![OPEN, CLOSE].iter().any(|tag| begins(tag, &self.held)) {
            self.held.pop();
            for held in std::mem::take(&mut self.held).chars() {
                self.keep(held, out);
            }
            self.character(c, out, events);
        }
    }

    /// Whether a tag that begins with `c` here would be code. Reasoning is not followed: its marks are
    /// often left open.
    fn in_code(&self, c: char) -> bool {
        let mut code = self.code.clone();
        code.push(c);
        code.inside() && !self.thinking
    }

    fn keep(&mut self, c: char, out: &mut String) {
        if !self.thinking {
            if self.skip_space && c.is_whitespace() {
                return;
            }
            self.skip_space = false;
            self.code.push(c);
        }
        out.push(c);
    }

    fn send(&mut self, out: &mut String, events: &mut Vec<Event>) {
        if out.is_empty() {
            return;
        }
        let text = std::mem::take(out);
        events.push(if self.thinking {
            Event::Reasoning(text)
        } else {
            self.has_text = true;
            Event::Text(text)
        });
    }
}

/// Whether `tag` begins with `held`, whatever its case.
fn begins(tag: &str, held: &str) -> bool {
    tag.get(..held.len()).is_some_and(|t| t.eq_ignore_ascii_case(held))
}
