//! A model that a service runs: sends texts in batches, tries again where that may help.

use super::ServiceChoice;
use crate::answer::Key;
use crate::cache::Cache;
use crate::error::{Error, Result};
use crate::http::{Client, Request};
use kb_core::answer::stream::{Failure, FailureKind};
use kb_core::document::Lang;
use kb_core::embed::service::Outcome;
use kb_core::embed::{Embedder, ModelInfo, ServiceClient, TextKind};
use std::path::Path;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Most bytes of an answer: 32 vectors of 4,096 numbers are some 3 MB of JSON.
const MAX_ANSWER_BYTES: usize = 64 << 20;
/// How long a service may be silent. A model that is just being loaded takes its time.
const IDLE: Duration = Duration::from_secs(120);
/// The longest wait that a service may ask for; one that asks for more has failed.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// How long to wait before each further attempt.
#[derive(Debug, Clone, Copy)]
pub struct Waits(pub [Duration; 3]);

impl Default for Waits {
    /// Three further attempts, after 4, 8 and 10 seconds.
    fn default() -> Self {
        Self([4, 8, 10].map(Duration::from_secs))
    }
}

/// Texts to embed, and where the vectors go.
struct Job {
    kind: TextKind,
    texts: Vec<String>,
    answer: Sender<Result<Vec<Vec<f32>>>>,
}

/// A model at a service. Requests are sent by a thread of its own, so that it may be used from code that waits for the
/// network itself; the thread ends with this.
pub struct RemoteModel {
    info: ModelInfo,
    base_url: String,
    batch: usize,
    jobs: Mutex<Sender<Job>>,
}

impl RemoteModel {
    /// The model of a base whose manifest describes it, at `base_url` or where the manifest says.
    pub fn of(info: &ModelInfo, base_url: Option<&str>, key: Option<Key>, waits: Waits) -> Result<Self> {
        let client = ServiceClient::new(info, base_url)?;
        let needs_key = info.service.as_ref().is_some_and(|s| s.kind.needs_key());
        if needs_key && key.is_none() {
            let kind = info.service.as_ref().map(|s| s.kind);
            let variable = kind.and_then(|k| k.key_variable()).unwrap_or("the variable in api_key_env");
            return Err(Error::usage(
                format!("the embedding service {} needs a key", client.base_url()),
                format!("set {variable} in the environment or in the file .env beside kb.toml"),
            ));
        }
        let (jobs, todo) = channel();
        let (batch, base_url) = (client.batch(), client.base_url().to_owned());
        let worker = Worker { client, key, waits, reached: false };
        std::thread::Builder::new()
            .name("embedding service".into())
            .spawn(move || worker.run(&todo))
            .map_err(|e| Error::failed(format!("the program cannot start a thread: {e}"), ""))?;
        Ok(Self { info: info.clone(), base_url, batch, jobs: Mutex::new(jobs) })
    }

    /// The model of a build's settings. The length of its vectors is what the cache has, or what comes for a first text.
    pub fn open(choice: &ServiceChoice, cache: Option<&Path>, waits: Waits) -> Result<Self> {
        let (query, passage) = (&choice.query_prefix, &choice.passage_prefix);
        let unknown = choice.service.info(0, query, passage);
        let known = cache.and_then(|dir| Cache::dim_of(dir, &unknown.fingerprint));
        let dim = match known {
            Some(dim) => dim,
            None => {
                let probe = Self::of(&unknown, None, choice.key.clone(), waits)?;
                probe.ask(TextKind::Passage, vec!["a".into()])?.first().map_or(0, Vec::len)
            }
        };
        Self::of(&choice.service.info(dim, query, passage), None, choice.key.clone(), waits)
    }

    /// The model.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// Where it is.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// One vector for each text; `finished` hears of each batch as soon as it is there.
    pub fn embed_all(
        &self,
        kind: TextKind,
        texts: &[&str],
        finished: &(dyn Fn(usize, usize, &[f32]) + Sync),
    ) -> Result<Vec<Vec<f32>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        for batch in texts.chunks(self.batch) {
            let new = self.ask(kind, batch.iter().map(|t| (*t).to_owned()).collect())?;
            for vector in new {
                finished(vectors.len(), 0, &vector);
                vectors.push(vector);
            }
        }
        Ok(vectors)
    }

    fn ask(&self, kind: TextKind, texts: Vec<String>) -> Result<Vec<Vec<f32>>> {
        let gone = || Error::failed("the thread that asks the embedding service has ended", "please report this");
        let (answer, coming) = channel();
        let jobs = self.jobs.lock().unwrap_or_else(PoisonError::into_inner);
        jobs.send(Job { kind, texts, answer }).map_err(|_| gone())?;
        drop(jobs);
        coming.recv().map_err(|_| gone())?
    }
}

impl Embedder for RemoteModel {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn embed(&self, kind: TextKind, texts: &[&str]) -> kb_core::Result<Vec<Vec<f32>>> {
        self.embed_all(kind, texts, &|_, _, _| {})
            .map_err(|e| kb_core::Error::new(kb_core::ErrorKind::Model, e.to_string()))
    }
}

/// The thread's own state.
struct Worker {
    client: ServiceClient,
    key: Option<Key>,
    waits: Waits,
    /// Whether the service has answered before: then it being away may pass.
    reached: bool,
}

impl Worker {
    fn run(mut self, todo: &Receiver<Job>) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        // Connections belong to the runtime, and are kept from one job to the next.
        let http = Client::new();
        while let Ok(job) = todo.recv() {
            let result = match &runtime {
                Ok(runtime) => runtime.block_on(self.all(&http, job.kind, &job.texts)),
                Err(e) => Err(Error::failed(format!("the program cannot wait for the network: {e}"), "")),
            };
            // Who asked may be gone.
            let _ = job.answer.send(result);
        }
    }

    async fn all(&mut self, http: &Client, kind: TextKind, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let mut vectors = Vec::with_capacity(texts.len());
        while vectors.len() < texts.len() {
            let rest = &texts[vectors.len()..];
            let some: Vec<&str> = rest.iter().take(self.client.batch()).map(String::as_str).collect();
            vectors.extend(self.batch(http, kind, &some).await?);
        }
        Ok(vectors)
    }

    /// The vectors of one batch, or of its first text if the server turns out to be an old one.
    async fn batch(&mut self, http: &Client, kind: TextKind, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        let mut waits = self.waits.0.into_iter();
        loop {
            let texts = &texts[..texts.len().min(self.client.batch())];
            let (failure, asked_wait) = match self.attempt(http, kind, texts).await {
                Ok(Outcome::Vectors(vectors)) => {
                    self.reached = true;
                    return Ok(vectors);
                }
                Ok(Outcome::AskAgain) => continue,
                Ok(Outcome::Failed(failure)) => (failure, None),
                Err(failed) => failed,
            };
            let away = self.reached && matches!(failure.kind, FailureKind::NotRunning | FailureKind::Stalled);
            // Who asks for more than that will not be there in time.
            let too_long = asked_wait.is_some_and(|wait: Duration| wait > MAX_WAIT);
            match waits.next().filter(|_| (failure.kind.may_pass() || away) && !too_long) {
                Some(wait) => {
                    let wait = asked_wait.unwrap_or(wait);
                    if wait >= Duration::from_secs(2) {
                        let (at, seconds) = (self.client.base_url(), wait.as_secs());
                        eprintln!(
                            "note: the embedding service at {at} does not answer now; asked again in {seconds} s"
                        );
                    }
                    tokio::time::sleep(wait).await;
                }
                None => return Err(self.failed(failure)),
            }
        }
    }

    async fn attempt(
        &mut self,
        http: &Client,
        kind: TextKind,
        texts: &[&str],
    ) -> std::result::Result<Outcome, (Failure, Option<Duration>)> {
        let (url, body) = self.client.request(kind, texts);
        let mut request = Request::post_json(url, body).idle(IDLE);
        if let Some(key) = &self.key {
            request = request.header("authorization", format!("Bearer {}", key.expose()));
        }
        let network =
            |e: &crate::http::HttpError| (Failure::with_message(e.kind.failure(), None, &e.to_string()), None);
        let response = http.send(request).await.map_err(|e| network(&e))?;
        let status = response.status;
        let seconds = response.header("retry-after").and_then(|v| v.trim().parse().ok());
        let body = response.bytes(MAX_ANSWER_BYTES).await.map_err(|e| network(&e))?;
        match self.client.read(status, &body, texts.len()) {
            Outcome::Failed(failure) => Err((failure, seconds.map(Duration::from_secs))),
            outcome => Ok(outcome),
        }
    }

    /// The failure as an error of the program. A server may repeat the key in its message.
    fn failed(&self, failure: Failure) -> Error {
        let mut text = failure.to_text(Lang::En);
        if let Some(key) = &self.key {
            text = text.replace(key.expose(), "…");
        }
        let hint = match failure.kind {
            FailureKind::NoSuchModel => "for Ollama: `ollama pull NAME`",
            FailureKind::BadParameters => "if the model was changed, build with another --cache-dir or --no-cache",
            _ => "what was embedded so far is kept; the next build goes on from there",
        };
        let what = format!("the embedding service at {}: {text} [{}]", self.client.base_url(), failure.kind.code());
        Error::failed(what, hint)
    }
}
