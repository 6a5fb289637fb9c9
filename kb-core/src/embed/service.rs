//! Embeddings by a service: what is sent and what comes back, as pure functions. The program and the browser send it.
//!
//! Ollama has `/api/embed` with many texts a request; before version 0.3 it had `/api/embeddings` with one. OpenAI and
//! what imitates it have `/embeddings`; Voyage's differs in that it is told on which side of a search a text is.

use super::{ModelInfo, Pooling, TextKind};
use crate::answer::request::{Endpoint, Provider};
use crate::answer::stream::{Failure, FailureKind, classify};
use crate::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// A kind of service.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ServiceKind {
    /// Ollama.
    Ollama,
    /// OpenAI.
    OpenAi,
    /// Anything else that speaks as OpenAI does: llama.cpp, vLLM, LM Studio.
    #[serde(rename = "openai-compatible")]
    OpenAiCompatible,
    /// Voyage AI.
    Voyage,
}

impl ServiceKind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Ollama, Self::OpenAi, Self::OpenAiCompatible, Self::Voyage];

    /// The name in settings: `ollama`, `openai`, `openai-compatible`, `voyage`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Ollama => "ollama",
            Self::OpenAi => "openai",
            Self::OpenAiCompatible => "openai-compatible",
            Self::Voyage => "voyage",
        }
    }

    /// The kind with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Where it is unless somebody says otherwise.
    pub fn default_base_url(self) -> Option<&'static str> {
        match self {
            Self::Ollama => Some("http://localhost:11434"),
            Self::OpenAi => Some("https://api.openai.com/v1"),
            Self::OpenAiCompatible => None,
            Self::Voyage => Some("https://api.voyageai.com/v1"),
        }
    }

    /// Its model where none is named.
    pub fn default_model(self) -> Option<&'static str> {
        match self {
            Self::Ollama => Some("nomic-embed-text"),
            Self::OpenAi => Some("text-embedding-3-small"),
            Self::OpenAiCompatible => None,
            Self::Voyage => Some("voyage-3.5"),
        }
    }

    /// Whether nothing can be asked without a key.
    pub fn needs_key(self) -> bool {
        matches!(self, Self::OpenAi | Self::Voyage)
    }

    /// The environment variable that usually holds the key.
    pub fn key_variable(self) -> Option<&'static str> {
        match self {
            Self::Ollama => None,
            Self::OpenAi | Self::OpenAiCompatible => Some("OPENAI_API_KEY"),
            Self::Voyage => Some("VOYAGE_API_KEY"),
        }
    }

    /// To how many characters texts are cut where nothing is said about it. Many models of Ollama read few tokens
    /// and refuse what is longer.
    pub fn default_max_chars(self) -> Option<usize> {
        (self == Self::Ollama).then_some(500)
    }
}

/// Which model of which service makes a base's vectors. Part of the manifest: the reader's browser asks the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Service {
    /// The kind of service.
    pub kind: ServiceKind,
    /// Its address, without a slash at the end. Not a part of the model's identity: the same model may be elsewhere.
    pub base_url: String,
    /// The model's name there.
    pub model: String,
    /// Texts are cut to so many characters, prefix aside.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_chars: Option<usize>,
}

impl Service {
    /// The description of its model, which gives vectors of `dim` numbers. `max_tokens` is 0: the service knows.
    pub fn info(&self, dim: usize, query_prefix: &str, passage_prefix: &str) -> ModelInfo {
        let mut info = ModelInfo {
            name: format!("{} ({})", self.model, self.kind.name()),
            fingerprint: String::new(),
            dim,
            max_tokens: 0,
            pooling: Pooling::Mean,
            query_prefix: query_prefix.to_owned(),
            passage_prefix: passage_prefix.to_owned(),
            service: Some(self.clone()),
        };
        info.fingerprint = self.fingerprint(query_prefix, passage_prefix);
        info
    }

    /// What the vectors depend on, as far as it is known before the first of them: SHA-256 in hex over the kind, the
    /// model's name, the prefixes and the cut.
    pub fn fingerprint(&self, query_prefix: &str, passage_prefix: &str) -> String {
        // `nomic-embed-text` and `nomic-embed-text:latest` are one model of Ollama.
        let model = if self.kind == ServiceKind::Ollama {
            self.model.strip_suffix(":latest").unwrap_or(&self.model)
        } else {
            &self.model
        };
        let text = format!("{}\n{model}\n{query_prefix}\n{passage_prefix}\n{:?}", self.kind.name(), self.max_chars);
        Sha256::digest(text.as_bytes()).iter().map(|b| format!("{b:02x}")).collect()
    }
}

/// The prefixes that well-known models were trained with, query and passage. Their model cards state them:
/// <https://huggingface.co/nomic-ai/nomic-embed-text-v1.5>, <https://huggingface.co/mixedbread-ai/mxbai-embed-large-v1>,
/// <https://huggingface.co/intfloat/multilingual-e5-small>.
pub fn usual_prefixes(model: &str) -> (&'static str, &'static str) {
    let name = model.to_ascii_lowercase();
    if name.contains("nomic-embed-text") {
        ("search_query: ", "search_document: ")
    } else if name.contains("mxbai-embed") {
        ("Represent this sentence for searching relevant passages: ", "")
    } else if name.contains("e5-") && !name.contains("instruct") {
        ("query: ", "passage: ")
    } else {
        ("", "")
    }
}

/// What an answer of the service means.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// One vector of unit length for each text, in their order.
    Vectors(Vec<Vec<f32>>),
    /// An older server: ask again with what [`ServiceClient::request`] gives now, [`ServiceClient::batch`] texts at once.
    AskAgain,
    /// No vectors.
    Failed(Failure),
}

/// The conversation with a service, without the sending.
#[derive(Debug, Clone)]
pub struct ServiceClient {
    info: ModelInfo,
    service: Service,
    base_url: String,
    /// The server has `/api/embeddings` only.
    old: bool,
}

impl ServiceClient {
    /// The service that `info` names, at `base_url` or where `info` says.
    ///
    /// # Errors
    /// [`ErrorKind::Missing`] if `info` names none, [`ErrorKind::InvalidInput`] for an address that cannot be one.
    pub fn new(info: &ModelInfo, base_url: Option<&str>) -> Result<Self> {
        let Some(service) = &info.service else {
            return Err(Error::new(ErrorKind::Missing, "the vectors were not made by a service"));
        };
        let given = base_url.map(str::trim).filter(|u| !u.is_empty()).unwrap_or(&service.base_url);
        Ok(Self {
            info: info.clone(),
            service: service.clone(),
            base_url: base_url_of(service.kind, given)?,
            old: false,
        })
    }

    /// The model.
    pub fn info(&self) -> &ModelInfo {
        &self.info
    }

    /// The address without a slash at its end.
    pub fn base_url(&self) -> &str {
        &self.base_url
    }

    /// How many texts a request may have.
    pub fn batch(&self) -> usize {
        if self.old { 1 } else { 32 }
    }

    /// Where to POST, and the JSON for these texts, of which there are at most [`Self::batch`].
    pub fn request(&self, kind: TextKind, texts: &[&str]) -> (String, String) {
        let prefix = if kind == TextKind::Query { &self.info.query_prefix } else { &self.info.passage_prefix };
        let texts: Vec<String> = texts.iter().map(|t| format!("{prefix}{}", cut(t, self.service.max_chars))).collect();
        let model = &self.service.model;
        let (path, body) = match self.service.kind {
            ServiceKind::Ollama if self.old => {
                let prompt = texts.first().map_or("", String::as_str);
                ("/api/embeddings", json!({ "model": model, "prompt": prompt }))
            }
            ServiceKind::Ollama => ("/api/embed", json!({ "model": model, "input": texts, "truncate": true })),
            ServiceKind::Voyage => {
                let side = if kind == TextKind::Query { "query" } else { "document" };
                ("/embeddings", json!({ "model": model, "input": texts, "input_type": side }))
            }
            ServiceKind::OpenAi | ServiceKind::OpenAiCompatible => {
                ("/embeddings", json!({ "model": model, "input": texts, "encoding_format": "float" }))
            }
        };
        (format!("{}{path}", self.base_url), body.to_string())
    }

    /// Reads the answer to a request with `n` texts. [`ModelInfo::dim`] of 0 admits any length of the vectors.
    pub fn read(&mut self, status: u16, body: &[u8], n: usize) -> Outcome {
        if status != 200 {
            let failure = classify(status, body);
            // "404 page not found" is a server without the address; a missing model has words of its own.
            if self.service.kind == ServiceKind::Ollama && !self.old && failure.kind == FailureKind::NoSuchAddress {
                self.old = true;
                return Outcome::AskAgain;
            }
            return Outcome::Failed(failure);
        }
        match self.vectors(body, n) {
            Ok(vectors) => Outcome::Vectors(vectors),
            Err(failure) => Outcome::Failed(failure),
        }
    }

    fn vectors(&self, body: &[u8], n: usize) -> Result<Vec<Vec<f32>>, Failure> {
        let wrong = |what: &str| Failure::with_message(FailureKind::NotJson, None, what);
        if body.trim_ascii_start().starts_with(b"<") {
            return Err(Failure::new(FailureKind::Html));
        }
        let value: Value = serde_json::from_slice(body).map_err(|_| Failure::new(FailureKind::NotJson))?;
        if let Some(error) = value["error"].as_str().or(value["error"]["message"].as_str()) {
            return Err(Failure::with_message(FailureKind::InReply, None, error));
        }
        let mut rows: Vec<&Value> = Vec::new();
        match self.service.kind {
            ServiceKind::Ollama if self.old => rows.push(&value["embedding"]),
            ServiceKind::Ollama => rows.extend(value["embeddings"].as_array().into_iter().flatten()),
            _ => {
                let mut data: Vec<&Value> = value["data"].as_array().into_iter().flatten().collect();
                // The order is that of `index`, not that of the list.
                data.sort_by_key(|row| row["index"].as_u64().unwrap_or(u64::MAX));
                let is_twice = |pair: &[&Value]| pair[0]["index"].is_u64() && pair[0]["index"] == pair[1]["index"];
                if data.windows(2).any(is_twice) {
                    return Err(wrong("two vectors have one number"));
                }
                rows.extend(data.into_iter().map(|row| &row["embedding"]));
            }
        }
        if rows.len() != n {
            return Err(wrong(&format!("{} vectors came for {n} texts", rows.len())));
        }
        rows.into_iter()
            .map(|row| {
                let numbers = row.as_array().ok_or_else(|| wrong("a vector is missing"))?;
                let vector: Option<Vec<f32>> = numbers.iter().map(|x| x.as_f64().map(|x| x as f32)).collect();
                let vector = vector.and_then(unit).ok_or_else(|| wrong("a vector is none"))?;
                let dim = self.info.dim;
                if dim != 0 && vector.len() != dim {
                    let what = format!(
                        "the model `{}` gives vectors of {} numbers, the ones at hand have {dim}: another model has the same name",
                        self.service.model,
                        vector.len()
                    );
                    return Err(Failure::with_message(FailureKind::BadParameters, None, &what));
                }
                Ok(vector)
            })
            .collect()
    }
}

/// A service's address, checked as that of a language model is.
///
/// # Errors
/// [`ErrorKind::InvalidInput`].
pub fn base_url_of(kind: ServiceKind, url: &str) -> Result<String> {
    let given = if url.trim().is_empty() { kind.default_base_url().unwrap_or_default() } else { url.trim() };
    let ends: &[&str] = match kind {
        ServiceKind::Ollama => &["/api/embed", "/api/embeddings"],
        _ => &["/embeddings"],
    };
    let trimmed = given.trim_end_matches('/');
    let shorter = ends.iter().find_map(|end| trimmed.strip_suffix(end)).unwrap_or(trimmed);
    let provider = if kind == ServiceKind::Ollama { Provider::Ollama } else { Provider::OpenAiCompatible };
    Ok(Endpoint::new(provider, Some(shorter))?.base_url().to_owned())
}

/// The first `max` characters.
fn cut(text: &str, max: Option<usize>) -> &str {
    match max.and_then(|max| text.char_indices().nth(max)) {
        Some((at, _)) => &text[..at],
        None => text,
    }
}

/// The vector at unit length; none for one that has no direction.
fn unit(mut vector: Vec<f32>) -> Option<Vec<f32>> {
    let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    if !norm.is_finite() || norm == 0.0 {
        return None;
    }
    vector.iter_mut().for_each(|x| *x = (f64::from(*x) / norm) as f32);
    Some(vector)
}

#[cfg(test)]
#[path = "service_tests.rs"]
mod tests;
