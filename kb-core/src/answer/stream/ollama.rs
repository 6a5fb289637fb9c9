//! A line of Ollama's `/api/chat`.

use super::{EndReason, Event, State, ThinkSplitter, Usage, count};
use serde_json::Value;

/// Reads one object. Returns whether the reply is over.
pub(super) fn read(value: &Value, state: &mut State, think: &mut ThinkSplitter, events: &mut Vec<Event>) -> bool {
    let message = &value["message"];
    let done = value["done"].as_bool();
    state.understood |= message.is_object() || done.is_some();
    if let Some(thinking) = message["thinking"].as_str() {
        think.reasoning(thinking, events);
    }
    if let Some(content) = message["content"].as_str() {
        think.push(content, events);
    }
    if done != Some(true) {
        return false;
    }
    state.reason = Some(match value["done_reason"].as_str() {
        Some("length") => EndReason::Length,
        _ => EndReason::Stop,
    });
    if value.get("prompt_eval_count").is_some() || value.get("eval_count").is_some() {
        state.usage = Some(Usage {
            prompt_tokens: count(value.get("prompt_eval_count")),
            completion_tokens: count(value.get("eval_count")),
        });
    }
    true
}
