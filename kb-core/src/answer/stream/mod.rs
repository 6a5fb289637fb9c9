//! A language model's reply as it arrives: bytes in, events out.
//!
//! Nothing here reads from a socket or knows the time. The browser and the command line push what the
//! network gave them, in pieces of any size, and get the same events. Every piece of a reply is untrusted:
//! a line, a reply as a whole and what is kept between two calls have limits.

mod classify;
mod failure;
mod json;
mod lines;
mod ollama;
mod openai;
mod think;

pub use classify::classify;
pub use failure::{Failure, FailureKind};

use super::request::Protocol;
use json::JsonLines;
use lines::{Line, Lines};
use serde::Serialize;
use serde_json::Value;
use think::ThinkSplitter;

/// Longest line of a reply in bytes.
pub const MAX_LINE_BYTES: usize = 1 << 20;
/// Longest reply in bytes.
pub const MAX_REPLY_BYTES: usize = 16 << 20;

/// How many tokens a call took, as the server counted them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Usage {
    /// Tokens of the messages that were sent.
    pub prompt_tokens: u32,
    /// Tokens of the reply, reasoning included.
    pub completion_tokens: u32,
}

/// Why a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EndReason {
    /// The model had finished.
    Stop,
    /// The limit of tokens was reached.
    Length,
    /// The service's filter stopped it.
    Filtered,
    /// The connection ended before the server said that the reply is complete.
    Interrupted,
}

/// What a piece of a reply says. After [`Event::Error`] or [`Event::End`] nothing follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// The model thinking aloud: not part of the answer.
    Reasoning(String),
    /// A piece of the answer.
    Text(String),
    /// All text so far was reasoning: a model closed a block that its prompt had opened.
    TextWasReasoning,
    /// What the call took. At most once, just before the end.
    Usage(Usage),
    /// The reply failed.
    Error(Failure),
    /// The reply is over.
    End(EndReason),
}

/// Reads one reply.
#[derive(Debug)]
pub struct StreamParser {
    protocol: Protocol,
    lines: Lines,
    json: JsonLines,
    think: ThinkSplitter,
    /// Bytes that may still come.
    left: usize,
    state: State,
}

/// What the readers of the two protocols share.
#[derive(Debug, Default)]
struct State {
    usage: Option<Usage>,
    reason: Option<EndReason>,
    /// Whether anything of the reply has been understood.
    understood: bool,
    /// Whether any of it is for the reader, thoughts aside.
    said: bool,
    over: bool,
}

impl StreamParser {
    /// A parser for a reply with status 200. Others are for [`classify`].
    pub fn new(protocol: Protocol) -> Self {
        Self {
            protocol,
            lines: Lines::default(),
            json: JsonLines::default(),
            think: ThinkSplitter::default(),
            left: MAX_REPLY_BYTES,
            state: State::default(),
        }
    }

    /// Whether the server has said that the reply is complete. If it then neither ends the stream nor
    /// closes the connection, call [`Self::finish`] instead of reporting that it is stuck.
    pub fn is_complete(&self) -> bool {
        self.state.reason.is_some()
    }

    /// Whether an end or an error has been reported: the connection can be closed.
    pub fn is_over(&self) -> bool {
        self.state.over
    }

    /// Takes the next bytes and appends what they say to `events`.
    pub fn push(&mut self, bytes: &[u8], events: &mut Vec<Event>) {
        let taken = &bytes[..bytes.len().min(self.left)];
        self.left -= taken.len();
        let mut rest = taken;
        while !self.state.over {
            match self.lines.next(&mut rest) {
                Some(Line::Whole(line)) => self.line(&line, events),
                Some(Line::TooLong) => self.fail(FailureKind::TooLarge, events),
                None => break,
            }
        }
        if !self.state.over && taken.len() < bytes.len() {
            self.fail(FailureKind::TooLarge, events);
        }
    }

    /// The connection has ended.
    pub fn finish(&mut self, events: &mut Vec<Event>) {
        if self.state.over {
            return;
        }
        if let Some(line) = self.lines.last() {
            self.line(&line, events);
        }
        if self.state.over {
            return;
        }
        if let Some(value) = self.json.last() {
            self.value(&value, events);
        }
        if self.state.over {
            return;
        }
        if self.state.understood {
            self.end(events);
        } else {
            let kind = if self.json.saw_anything() { FailureKind::NotJson } else { FailureKind::Empty };
            self.fail(kind, events);
        }
    }

    fn line(&mut self, line: &[u8], events: &mut Vec<Event>) {
        let text = String::from_utf8_lossy(line);
        let mut text = text.trim();
        if self.protocol == Protocol::OpenAi {
            match openai::field(text) {
                openai::Field::Data("[DONE]") => {
                    if self.state.understood {
                        self.state.reason.get_or_insert(EndReason::Stop);
                        self.end(events);
                    }
                    return;
                }
                openai::Field::Data(data) => text = data,
                openai::Field::Other => return,
                openai::Field::None => {}
            }
        }
        if text.is_empty() {
            return;
        }
        if text.starts_with('<') && !self.state.understood {
            return self.fail(FailureKind::Html, events);
        }
        if let Some(value) = self.json.push(text) {
            self.value(&value, events);
        }
    }

    /// Notes whether the reader has been told anything.
    fn note(&mut self, events: &[Event]) {
        for event in events {
            match event {
                Event::Text(text) => self.state.said |= !text.trim().is_empty(),
                Event::TextWasReasoning => self.state.said = false,
                _ => {}
            }
        }
    }

    fn value(&mut self, value: &Value, events: &mut Vec<Event>) {
        let before = events.len();
        if let Some(failure) = classify::error_in(value) {
            self.think.finish(events);
            self.state.over = true;
            return events.push(Event::Error(failure));
        }
        let over = match self.protocol {
            Protocol::Ollama => ollama::read(value, &mut self.state, &mut self.think, events),
            Protocol::OpenAi => openai::read(value, &mut self.state, &mut self.think, events),
        };
        self.note(&events[before..]);
        if over {
            self.end(events);
        }
    }

    fn end(&mut self, events: &mut Vec<Event>) {
        let before = events.len();
        self.think.finish(events);
        self.note(&events[before..]);
        if let Some(usage) = self.state.usage.take() {
            events.push(Event::Usage(usage));
        }
        self.state.over = true;
        // Thoughts alone are no answer.
        if !self.state.said {
            return events.push(Event::Error(Failure::new(FailureKind::Empty)));
        }
        events.push(Event::End(self.state.reason.unwrap_or(EndReason::Interrupted)));
    }

    fn fail(&mut self, kind: FailureKind, events: &mut Vec<Event>) {
        self.think.finish(events);
        self.state.over = true;
        events.push(Event::Error(Failure::new(kind)));
    }
}

/// A count from JSON: a negative, broken or huge one is no reason to fail.
fn count(value: Option<&Value>) -> u32 {
    value.and_then(Value::as_u64).map_or(0, |n| u32::try_from(n).unwrap_or(u32::MAX))
}

#[cfg(test)]
mod recorded;
#[cfg(test)]
mod tests;
