//! What identifies a model and how its texts are prepared.

#[cfg(feature = "service")]
use super::Service;
use serde::{Deserialize, Serialize};

/// How token vectors become one text vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// Mean over the tokens that the attention mask keeps.
    Mean,
    /// The vector of the first token.
    Cls,
}

/// The description of an embedding model: `model.json` beside `model.onnx` and `tokenizer.json`, and
/// part of every bundle's manifest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ModelInfo {
    /// Name for people: `multilingual-e5-small-zh-en-q4`.
    pub name: String,
    /// SHA-256 in hex over model.onnx, tokenizer.json and the fields below; see `fingerprint`.
    #[serde(default)]
    pub fingerprint: String,
    /// Numbers in a vector.
    pub dim: usize,
    /// Longest input in tokens, special tokens included.
    pub max_tokens: usize,
    /// How token vectors are pooled.
    pub pooling: Pooling,
    /// Put before a question: `query: `.
    #[serde(default)]
    pub query_prefix: String,
    /// Put before a passage: `passage: `.
    #[serde(default)]
    pub passage_prefix: String,
    /// The service that runs it, where no folder holds it; then `max_tokens` is 0 and `pooling` means nothing.
    /// Modules of the browser that ask no service pass over it.
    #[cfg(feature = "service")]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<Service>,
}
