//! JSON values out of lines: one a line as a rule, one over several lines from some proxies.

use serde_json::Value;

/// Longest value that stands on several lines, in bytes. Each of its lines costs an attempt to read it.
const MAX_JOINED_BYTES: usize = 8 << 10;

/// Lines that are not a value yet.
#[derive(Debug, Default)]
pub(super) struct JsonLines {
    pending: String,
    saw_anything: bool,
}

impl JsonLines {
    /// The value that `line` is or completes.
    pub fn push(&mut self, line: &str) -> Option<Value> {
        self.saw_anything = true;
        if let Some(value) = object(line) {
            self.pending.clear();
            return Some(value);
        }
        if self.pending.len() + line.len() >= MAX_JOINED_BYTES {
            return None;
        }
        self.pending.push_str(line);
        self.pending.push('\n');
        if !line.ends_with(['}', ']']) {
            return None;
        }
        self.last()
    }

    /// The value that the lines so far are.
    pub fn last(&mut self) -> Option<Value> {
        let value = object(&self.pending)?;
        self.pending.clear();
        Some(value)
    }

    /// Whether there was any line.
    pub fn saw_anything(&self) -> bool {
        self.saw_anything
    }
}

/// Nothing but an object, or an error object in a list, is of use.
fn object(text: &str) -> Option<Value> {
    match serde_json::from_str(text).ok()? {
        value @ Value::Object(_) => Some(value),
        Value::Array(list) => list.into_iter().next().filter(Value::is_object),
        _ => None,
    }
}
