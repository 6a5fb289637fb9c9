//! A line of an OpenAI-compatible `/chat/completions`: server-sent events, or one object from a server
//! that does not stream.

use super::{EndReason, Event, State, ThinkSplitter, Usage, count};
use serde_json::Value;

/// What a line of server-sent events is.
pub(super) enum Field<'a> {
    /// `data: …`
    Data(&'a str),
    /// A comment, or another field.
    Other,
    /// No field at all.
    None,
}

/// Tells apart the fields of server-sent events.
pub(super) fn field(line: &str) -> Field<'_> {
    if let Some(data) = line.strip_prefix("data:") {
        return Field::Data(data.trim());
    }
    let other = [":", "event:", "id:", "retry:"].iter().any(|f| line.starts_with(f));
    if other { Field::Other } else { Field::None }
}

/// Reads one object. Never over: `[DONE]`, or the end of the connection, says so.
pub(super) fn read(value: &Value, state: &mut State, think: &mut ThinkSplitter, events: &mut Vec<Event>) -> bool {
    let usage = &value["usage"];
    if usage.is_object() {
        // Some servers send it with every piece: the last one counts.
        state.usage = Some(Usage {
            prompt_tokens: count(usage.get("prompt_tokens")),
            completion_tokens: count(usage.get("completion_tokens")),
        });
    }
    state.understood |= value["choices"].is_array() || usage.is_object();
    let choice = &value["choices"][0];
    let delta = if choice["delta"].is_object() { &choice["delta"] } else { &choice["message"] };
    for key in ["reasoning_content", "reasoning"] {
        if let Some(text) = delta[key].as_str() {
            think.reasoning(text, events);
            break;
        }
    }
    match &delta["content"] {
        Value::String(text) => think.push(text, events),
        Value::Array(parts) => parts.iter().filter_map(|p| p["text"].as_str()).for_each(|t| think.push(t, events)),
        _ => {}
    }
    if let Some(text) = choice["text"].as_str() {
        think.push(text, events);
    }
    state.reason = match choice["finish_reason"].as_str() {
        None => state.reason,
        Some("length") => Some(EndReason::Length),
        Some("content_filter") => Some(EndReason::Filtered),
        Some("insufficient_system_resource") => Some(EndReason::Interrupted),
        Some(_) => Some(EndReason::Stop),
    };
    false
}
