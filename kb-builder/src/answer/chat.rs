//! One call of a language model: sends, reads the stream, says what went wrong.

use super::settings::Settings;
use crate::http::{Client, HttpError, Request, Response};
use kb_core::answer::request::{Endpoint, Message, Protocol, chat_body, parse_models};
use kb_core::answer::stream::{EndReason, Event, Failure, StreamParser, Usage, classify};
use std::time::Duration;

/// Most bytes of a list of models.
const MAX_LIST_BYTES: usize = 4 << 20;
/// Most bytes of an error that are looked at.
const MAX_ERROR_BYTES: usize = 64 << 10;
/// How long to wait before each further attempt, in seconds.
const WAITS: [u64; 2] = [1, 3];
/// The longest wait that a server may ask for, in seconds.
const MAX_WAIT: u64 = 20;

/// What a reader may be shown while a reply arrives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChatEvent {
    /// The model thinking aloud.
    Reasoning(String),
    /// A piece of the answer.
    Text(String),
    /// All text so far was reasoning.
    TextWasReasoning,
}

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReplyEnd {
    /// Why.
    pub reason: EndReason,
    /// What it took, where the server says so.
    pub usage: Usage,
}

/// A language model that can be asked.
pub struct Chat<'a> {
    client: &'a Client,
    settings: &'a Settings,
    endpoint: &'a Endpoint,
}

impl<'a> Chat<'a> {
    /// The model of the settings, if they name a service.
    pub fn new(client: &'a Client, settings: &'a Settings) -> Option<Self> {
        settings.endpoint.as_ref().map(|endpoint| Self { client, settings, endpoint })
    }

    /// The models that the server has.
    pub async fn models(&self) -> Result<Vec<String>, Failure> {
        let request = self.signed(Request::get(self.endpoint.models_url())).idle(Duration::from_secs(20));
        let response = self.send(request).await.map_err(|(failure, _)| failure)?;
        let body = response.bytes(MAX_LIST_BYTES).await.map_err(|e| self.network(&e))?;
        parse_models(self.protocol(), &body)
    }

    /// Sends the messages and passes on what comes. Dropping the future ends the call and closes the
    /// connection. A call that failed before anything was passed on is tried again where that may help.
    pub async fn run(
        &self,
        messages: &[Message],
        on_event: &mut (dyn FnMut(ChatEvent) + Send),
    ) -> Result<ReplyEnd, Failure> {
        let body = chat_body(self.endpoint.provider(), &self.settings.options, messages);
        let mut waits = WAITS.iter();
        loop {
            let mut shown = false;
            let mut pass_on = |event| {
                shown = true;
                on_event(event);
            };
            let (failure, asked_wait) = match self.attempt(&body, &mut pass_on).await {
                Ok(end) => return Ok(end),
                Err(failed) => failed,
            };
            match waits.next() {
                Some(wait) if !shown && failure.kind.may_pass() => {
                    let wait = asked_wait.unwrap_or(*wait).min(MAX_WAIT);
                    tokio::time::sleep(Duration::from_secs(wait)).await;
                }
                _ => return Err(failure),
            }
        }
    }

    /// The text of a reply that nobody watches arriving.
    pub async fn whole(&self, messages: &[Message]) -> Result<String, Failure> {
        let mut text = String::new();
        self.run(messages, &mut |event| match event {
            ChatEvent::Text(piece) => text.push_str(&piece),
            ChatEvent::TextWasReasoning => text.clear(),
            ChatEvent::Reasoning(_) => {}
        })
        .await?;
        Ok(text)
    }

    async fn attempt(
        &self,
        body: &str,
        on_event: &mut (dyn FnMut(ChatEvent) + Send),
    ) -> Result<ReplyEnd, (Failure, Option<u64>)> {
        let request = self.signed(Request::post_json(self.endpoint.chat_url(), body.to_owned()));
        let mut response = self.send(request.idle(self.settings.idle)).await?;
        let mut parser = StreamParser::new(self.protocol());
        let mut events = Vec::new();
        let mut usage = Usage::default();
        loop {
            let broken = match response.chunk().await {
                Ok(Some(bytes)) => {
                    parser.push(&bytes, &mut events);
                    None
                }
                Ok(None) => {
                    parser.finish(&mut events);
                    None
                }
                // The answer is there, only the end of the stream is missing.
                Err(_) if parser.is_complete() => {
                    parser.finish(&mut events);
                    None
                }
                Err(e) => Some(self.network(&e)),
            };
            for event in events.drain(..) {
                match event {
                    Event::Reasoning(text) => on_event(ChatEvent::Reasoning(text)),
                    Event::Text(text) => on_event(ChatEvent::Text(text)),
                    Event::TextWasReasoning => on_event(ChatEvent::TextWasReasoning),
                    Event::Usage(counted) => usage = counted,
                    Event::Error(failure) => return Err((self.without_key(failure), None)),
                    Event::End(reason) => return Ok(ReplyEnd { reason, usage }),
                }
            }
            if let Some(failure) = broken {
                return Err((failure, None));
            }
        }
    }

    /// Sends a request; any status but 200 is a failure, with the wait that the server asks for.
    async fn send(&self, request: Request) -> Result<Response, (Failure, Option<u64>)> {
        let response = self.client.send(request).await.map_err(|e| (self.network(&e), None))?;
        if response.status == 200 {
            return Ok(response);
        }
        let status = response.status;
        let wait = response.header("retry-after").and_then(|v| v.trim().parse().ok());
        let body = response.beginning(MAX_ERROR_BYTES).await;
        Err((self.without_key(classify(status, &body)), wait))
    }

    fn signed(&self, request: Request) -> Request {
        match &self.settings.key {
            Some(key) => request.header("authorization", format!("Bearer {}", key.expose())),
            None => request,
        }
    }

    fn protocol(&self) -> Protocol {
        self.endpoint.provider().protocol()
    }

    fn network(&self, error: &HttpError) -> Failure {
        Failure::with_message(error.kind.failure(), None, &format!("{}: {error}", self.endpoint.base_url()))
    }

    /// A server may repeat the key in its message.
    fn without_key(&self, mut failure: Failure) -> Failure {
        if let Some(key) = &self.settings.key {
            failure.message = failure.message.replace(key.expose(), "…");
        }
        failure
    }
}
