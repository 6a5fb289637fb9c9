//! `/api/search` and `/api/ask`, for programs on this machine.
//!
//! Whoever may ask may spend the author's tokens and read the base, so only this machine may: the server
//! listens on loopback, and a request is refused whose `Host` is another name (a site that makes its own
//! name point here) or whose `Origin` is another page.

use super::body::ReplyBody;
use super::current::{Current, Opened};
use crate::answer::{Answer, Answerer, Progress, Settings};
use crate::command::{SearchMode, SearchOutput, check_collections};
use crate::error::{Error, Result};
use crate::http::Client;
use clap::ValueEnum;
use http_body_util::{BodyExt, Limited};
use hyper::body::{Bytes, Incoming};
use hyper::header::{HOST, HeaderMap, HeaderValue, ORIGIN};
use hyper::{Method, Request, Response, StatusCode};
use kb_core::answer::citations::Segment;
use kb_core::answer::prompt::{Turn, language};
use kb_core::answer::stream::Failure;
use kb_core::search::{Filter, Query};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

/// Longest question with its conditions, in bytes.
const MAX_REQUEST_BYTES: usize = 256 << 10;

/// Most turns of a conversation that are taken.
const MAX_HISTORY: usize = 20;

/// A base that answers over HTTP.
pub struct Api {
    base: Current,
    client: Client,
}

/// What `/api/ask` takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    question: String,
    #[serde(default)]
    collections: Vec<String>,
    /// `KEY=VALUE`
    #[serde(default)]
    filters: Vec<String>,
    /// The turns before, the oldest first.
    #[serde(default)]
    history: Vec<Turn>,
}

/// A refusal.
struct Refused(StatusCode, String);

impl Api {
    /// The API of the site in a folder, opened again whenever it is built anew.
    pub fn open(site: &Path, settings: Settings) -> Result<Self> {
        Ok(Self { base: Current::open(site, settings)?, client: Client::new() })
    }

    /// Answers a request whose path, below the base of the site, is `api/` and `name`.
    pub async fn answer(self: Arc<Self>, name: &str, request: Request<Incoming>) -> Response<ReplyBody> {
        let done = match (guard(request.headers()), name, request.method()) {
            (Ok(()), "search", &Method::GET) => self.search(request.uri().query().unwrap_or_default().to_owned()).await,
            (Ok(()), "ask", &Method::POST) if sends_json(&request) => self.ask(request).await,
            (checked, ..) => {
                let refused = refusal(checked, name, request.method());
                // Whoever is still sending would not see the answer of a connection that is closed.
                let _ = Limited::new(request.into_body(), MAX_REQUEST_BYTES).collect().await;
                Err(refused)
            }
        };
        done.unwrap_or_else(|Refused(status, message)| {
            reply(status, "application/json", ReplyBody::full(json!({ "error": message }).to_string()))
        })
    }

    async fn search(self: Arc<Self>, parameters: String) -> Result<Response<ReplyBody>, Refused> {
        let mut query = Query::default();
        for (name, value) in pairs(&parameters) {
            match name.as_str() {
                "q" => query.text = value,
                "k" => query.k = value.parse().map_err(|_| bad("k is not a number"))?,
                "mode" => query.mode = SearchMode::from_str(&value, false).map_err(|_| bad("no such mode"))?.into(),
                "collection" => query.collections.push(value),
                "filter" => query.filters.push(filter(&value)?),
                _ => return Err(bad(&format!("there is no parameter `{name}`"))),
            }
        }
        let json = blocking(move || {
            let opened = self.base.get();
            check_collections(opened.answerer.base(), &query.collections)?;
            let started = Instant::now();
            let response = opened.answerer.search(&query)?;
            let model = opened.answerer.base().manifest.model.as_ref().map(|m| m.name.as_str());
            let output = SearchOutput::new(&query.text, &response, model, started.elapsed());
            serde_json::to_string(&output).map_err(|e| Error::failed(e.to_string(), ""))
        })
        .await?;
        Ok(reply(StatusCode::OK, "application/json", ReplyBody::full(json)))
    }

    async fn ask(self: Arc<Self>, request: Request<Incoming>) -> Result<Response<ReplyBody>, Refused> {
        let body = Limited::new(request.into_body(), MAX_REQUEST_BYTES).collect().await;
        let body = body.map_err(|_| Refused(StatusCode::PAYLOAD_TOO_LARGE, "too long".to_owned()))?.to_bytes();
        let ask: Ask = serde_json::from_slice(&body).map_err(|e| bad(&e.to_string()))?;
        if ask.question.trim().is_empty() {
            return Err(bad("the question is empty"));
        }
        if ask.history.len() > MAX_HISTORY {
            return Err(bad(&format!("the history has more than {MAX_HISTORY} turns")));
        }
        let filters = ask.filters.iter().map(|f| filter(f)).collect::<Result<Vec<_>, _>>()?;
        let api = Arc::clone(&self);
        let collections = ask.collections.clone();
        let opened = blocking(move || {
            let opened = api.base.get();
            check_collections(opened.answerer.base(), &collections)?;
            Ok(opened)
        })
        .await?;
        let (events, pieces) = unbounded_channel();
        tokio::spawn(async move {
            let gone = events.clone();
            tokio::select! {
                () = self.write(opened, ask, filters, Events(events)) => {}
                // Nobody reads any more: the call of the model is dropped with its connection.
                () = gone.closed() => {}
            }
        });
        Ok(reply(StatusCode::OK, "text/event-stream", ReplyBody::Stream(pieces)))
    }

    async fn write(self: Arc<Self>, opened: Arc<Opened>, ask: Ask, filters: Vec<Filter>, events: Events) {
        let mut settings = opened.settings.clone();
        let lang = language(&ask.question);
        let asks_model = settings.endpoint.is_some();
        let failed = |f: &Failure| json!({ "code": f.kind.code(), "message": f.to_text(lang), "status": f.status });
        let mut full = ask.question.clone();
        if asks_model && !ask.history.is_empty() {
            if let Err(e) = crate::command::choose_model(&self.client, &mut settings, lang).await {
                return events.send("error", &json!({ "message": e.to_string() }));
            }
            match Answerer::complete(&self.client, &settings, &ask.history, &ask.question).await {
                Ok(completed) => full = completed,
                Err(f) => return events.send("error", &failed(&f)),
            }
            events.send("question", &json!({ "text": full }));
        }
        let (here, question) = (Arc::clone(&opened), full.clone());
        let found = match blocking(move || here.answerer.find(&question, &ask.collections, &filters)).await {
            Ok(found) => found,
            Err(Refused(_, message)) => return events.send("error", &json!({ "message": message })),
        };
        events.send("found", &found.relevance);
        let as_asked = |mut answer: Answer| {
            if full != ask.question {
                ask.question.clone_into(&mut answer.question);
                answer.understood = Some(full.clone());
            }
            answer
        };
        if found.relevance.relevant && asks_model {
            if let Err(e) = crate::command::choose_model(&self.client, &mut settings, lang).await {
                return events.send("error", &json!({ "message": e.to_string() }));
            }
            let mut show = |p| events.progress(&p);
            match opened.answerer.with_model(&found, &self.client, &settings, &mut show).await {
                Ok(answer) => events.send("answer", &as_asked(answer)),
                Err(f) => events.send("error", &failed(&f)),
            }
            return;
        }
        let here = Arc::clone(&opened);
        match blocking(move || Ok(here.answerer.without_model(&found, &settings))).await {
            Ok(answer) => events.whole(&as_asked(answer)),
            Err(Refused(_, message)) => events.send("error", &json!({ "message": message })),
        }
    }
}

/// Server-sent events.
struct Events(UnboundedSender<Bytes>);

impl Events {
    fn send(&self, name: &str, data: &impl Serialize) {
        if let Ok(json) = serde_json::to_string(data) {
            // Nobody may be reading any more.
            let _ = self.0.send(Bytes::from(format!("event: {name}\ndata: {json}\n\n")));
        }
    }

    fn progress(&self, progress: &Progress) {
        match progress {
            Progress::Reasoning(text) => self.send("reasoning", &json!({ "text": text })),
            Progress::Segment(segment) => self.segment(segment),
            Progress::StartAgain => self.send("start_again", &json!({})),
        }
    }

    fn segment(&self, segment: &Segment) {
        let name = if matches!(segment, Segment::Text { .. }) { "text" } else { "citation" };
        self.send(name, segment);
    }

    fn whole(&self, answer: &Answer) {
        answer.segments.iter().for_each(|s| self.segment(s));
        self.send("answer", answer);
    }
}

/// Refuses what does not come from this machine's own page or program.
fn guard(headers: &HeaderMap) -> Result<(), Refused> {
    let text = |value: Option<&HeaderValue>| value.and_then(|v| v.to_str().ok()).unwrap_or_default().to_owned();
    let host = text(headers.get(HOST));
    let name = host
        .rsplit_once(':')
        .map_or(host.as_str(), |(name, port)| if port.bytes().all(|b| b.is_ascii_digit()) { name } else { &host });
    if !["localhost", "127.0.0.1", "[::1]"].iter().any(|own| name.eq_ignore_ascii_case(own)) {
        return Err(Refused(StatusCode::FORBIDDEN, "this API is for this machine only".to_owned()));
    }
    let foreign = headers.contains_key(ORIGIN) && text(headers.get(ORIGIN)) != format!("http://{host}");
    let cross_site = text(headers.get("sec-fetch-site")) == "cross-site";
    if foreign || cross_site {
        return Err(Refused(StatusCode::FORBIDDEN, "this API is not for other pages".to_owned()));
    }
    Ok(())
}

/// A form of another page cannot send this type unasked.
fn sends_json(request: &Request<Incoming>) -> bool {
    let kind = request.headers().get("content-type").and_then(|v| v.to_str().ok());
    kind.is_some_and(|k| k.starts_with("application/json"))
}

/// Why a request is not answered.
fn refusal(checked: Result<(), Refused>, name: &str, method: &Method) -> Refused {
    match (checked, name) {
        (Err(refused), _) => refused,
        (Ok(()), "ask") if method == Method::POST => {
            Refused(StatusCode::UNSUPPORTED_MEDIA_TYPE, "send application/json".to_owned())
        }
        (Ok(()), "search" | "ask") => {
            Refused(StatusCode::METHOD_NOT_ALLOWED, "GET api/search?q=… or POST api/ask with JSON".to_owned())
        }
        _ => Refused(StatusCode::NOT_FOUND, "there is api/search and api/ask".to_owned()),
    }
}

/// Searching and embedding hold up everything else.
async fn blocking<T: Send + 'static>(work: impl FnOnce() -> Result<T> + Send + 'static) -> Result<T, Refused> {
    match tokio::task::spawn_blocking(work).await {
        Ok(Ok(done)) => Ok(done),
        Ok(Err(e)) if e.exit_status() == 2 => Err(bad(&e.to_string())),
        Ok(Err(e)) => Err(Refused(StatusCode::INTERNAL_SERVER_ERROR, e.to_string())),
        Err(_) => Err(Refused(StatusCode::INTERNAL_SERVER_ERROR, "the search failed".to_owned())),
    }
}

fn bad(what: &str) -> Refused {
    Refused(StatusCode::BAD_REQUEST, what.to_owned())
}

fn filter(text: &str) -> Result<Filter, Refused> {
    text.parse().map_err(|e: kb_core::Error| bad(e.message()))
}

/// The names and values of a query string.
fn pairs(query: &str) -> impl Iterator<Item = (String, String)> + '_ {
    let decoded = |text: &str| percent_decode_str(&text.replace('+', " ")).decode_utf8_lossy().into_owned();
    query.split('&').filter(|p| !p.is_empty()).map(move |pair| {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        (decoded(name), decoded(value))
    })
}

fn reply(status: StatusCode, kind: &'static str, body: ReplyBody) -> Response<ReplyBody> {
    let mut response = Response::new(body);
    *response.status_mut() = status;
    let headers = response.headers_mut();
    headers.insert("content-type", HeaderValue::from_static(kind));
    headers.insert("cache-control", HeaderValue::from_static("no-store"));
    headers.insert("x-content-type-options", HeaderValue::from_static("nosniff"));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn admits(headers: &[(&'static str, &str)]) -> bool {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, HeaderValue::from_str(value).expect("a value"));
        }
        guard(&map).is_ok()
    }

    #[test]
    fn only_this_machine_is_answered() {
        assert!(
            admits(&[("host", "localhost:8080")])
                && admits(&[("host", "127.0.0.1")])
                && admits(&[("host", "[::1]:80")])
        );
        assert!(admits(&[("host", "localhost:8080"), ("origin", "http://localhost:8080")]));
        for host in ["", "evil.example", "localhost.evil.example:8080", "192.168.0.5:8080", "localhost:8080:x"] {
            assert!(!admits(&[("host", host)]), "{host}");
        }
        for origin in ["null", "https://evil.example", "http://localhost:8081", "http://localhost"] {
            assert!(!admits(&[("host", "localhost:8080"), ("origin", origin)]), "{origin}");
        }
        assert!(!admits(&[("host", "localhost"), ("sec-fetch-site", "cross-site")]));
    }

    #[test]
    fn query_strings_are_decoded() {
        let got: Vec<_> = pairs("q=a+b%26%E4%B8%80&k=3&&x").collect();
        let own = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        assert_eq!(got, [own("q", "a b&一"), own("k", "3"), own("x", "")]);
    }
}
