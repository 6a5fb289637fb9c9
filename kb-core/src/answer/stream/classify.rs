//! From a status and a body to the kind of failure.

use super::{Failure, FailureKind};
use serde_json::Value;

/// What a reply with a status other than 200 means. `body` may be cut.
pub fn classify(status: u16, body: &[u8]) -> Failure {
    let text = String::from_utf8_lossy(body);
    let is_html = text.trim_start().starts_with('<');
    let parsed: Option<Value> = serde_json::from_str(text.trim()).ok();
    let said = parsed.as_ref().and_then(message_of);
    let message = match said {
        Some(message) => message,
        // The source of a web page tells a reader nothing.
        None if is_html => String::new(),
        None => text.into_owned(),
    };
    let kind = kind_of(status, &message.to_lowercase(), is_html);
    Failure::with_message(kind, Some(status), &message)
}

/// `message` is in lower case.
fn kind_of(status: u16, message: &str, is_html: bool) -> FailureKind {
    let says = |words: &[&str]| words.iter().any(|w| message.contains(w));
    match status {
        400 if says(&["think"]) => FailureKind::CannotThink,
        400 | 413 if status == 413 || says(&["context length", "context size", "context window", "too long"]) => {
            FailureKind::PromptTooLong
        }
        400 if says(&["model"]) && says(&["not exist", "not found", "not a valid", "unknown model"]) => {
            FailureKind::NoSuchModel
        }
        400 => FailureKind::BadRequest,
        401 => FailureKind::WrongKey,
        402 => FailureKind::NoBalance,
        403 => FailureKind::Refused,
        404 if says(&["model"]) && !is_html => FailureKind::NoSuchModel,
        404 | 405 | 410 => FailureKind::NoSuchAddress,
        422 => FailureKind::BadParameters,
        429 if says(&["quota", "balance", "billing"]) => FailureKind::NoBalance,
        429 => FailureKind::RateLimited,
        503 | 529 => FailureKind::Overloaded,
        408 | 500..=599 => FailureKind::ServerFailed,
        300..=399 => FailureKind::NoSuchAddress,
        _ if is_html => FailureKind::Html,
        _ => FailureKind::BadRequest,
    }
}

/// The failure that an object in a stream speaks of, if it does.
pub(super) fn error_in(value: &Value) -> Option<Failure> {
    let error = value.get("error").filter(|e| !e.is_null())?;
    let message = message_of(value).unwrap_or_default();
    // Some servers give the status they would have sent as a number.
    let status = ["code", "status"].iter().find_map(|k| error.get(*k)?.as_u64()).filter(|s| (400..600).contains(s));
    let kind = match status {
        Some(status) => kind_of(status as u16, &message.to_lowercase(), false),
        None => FailureKind::InReply,
    };
    Some(Failure::with_message(kind, status.map(|s| s as u16), &message))
}

/// `{"error": "…"}`, `{"error": {"message": "…"}}`, `{"message": "…"}`, `{"detail": "…"}`, or a list of these.
fn message_of(value: &Value) -> Option<String> {
    let value = value.get(0).unwrap_or(value);
    let error = &value["error"];
    let found = [&error["message"], error, &value["message"], &value["detail"]];
    found.into_iter().find_map(Value::as_str).map(str::to_owned)
}
