//! What can go wrong with a request before its status says anything.

use kb_core::answer::stream::FailureKind;
use std::fmt;

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HttpErrorKind {
    /// The address or a header cannot be sent.
    Url,
    /// No connection: the name is unknown, nothing listens, no way there.
    Connect,
    /// TLS could not be agreed on.
    Tls,
    /// Nothing came for longer than the request allows.
    Stalled,
    /// The connection ended too early, or what came is no HTTP.
    Broken,
    /// The body is longer than the caller takes.
    TooLarge,
}

impl HttpErrorKind {
    /// What it means for somebody who asks a model.
    pub fn failure(self) -> FailureKind {
        match self {
            Self::Url => FailureKind::NoSuchAddress,
            Self::Connect => FailureKind::NotRunning,
            Self::Tls => FailureKind::Insecure,
            Self::Stalled => FailureKind::Stalled,
            Self::Broken => FailureKind::Broken,
            Self::TooLarge => FailureKind::TooLarge,
        }
    }
}

/// A failed request. Never holds a header's value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HttpError {
    /// What kind.
    pub kind: HttpErrorKind,
    message: String,
}

impl HttpError {
    /// An error that says `message`.
    pub fn new(kind: HttpErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into() }
    }

    pub(super) fn from_client(error: &hyper_util::client::legacy::Error) -> Self {
        let message = innermost(error);
        let secure = ["certificate", "tls", "handshake", "corrupt message"];
        let lower = message.to_lowercase();
        let kind = if secure.iter().any(|word| lower.contains(word)) {
            HttpErrorKind::Tls
        } else if error.is_connect() {
            HttpErrorKind::Connect
        } else {
            HttpErrorKind::Broken
        };
        Self::new(kind, message)
    }

    pub(super) fn from_body(error: &hyper::Error) -> Self {
        Self::new(HttpErrorKind::Broken, innermost(error))
    }
}

/// The last cause says most: "connection refused".
fn innermost(error: &dyn std::error::Error) -> String {
    let mut at = error;
    while let Some(source) = at.source() {
        at = source;
    }
    at.to_string()
}

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for HttpError {}
