//! From a question to hits: candidates, filters, fusion, excerpts.

mod chunk_set;
mod excerpt;
mod filter;
mod fusion;
mod knowledge_base;

pub use chunk_set::ChunkSet;
pub use excerpt::MAX_EXCERPT_CHARS;
pub use fusion::{CANDIDATES, FusionOptions};
pub use knowledge_base::KnowledgeBase;

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which lists answer a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Words and meaning fused; words alone where no vectors are given.
    #[default]
    Hybrid,
    /// BM25 only.
    Lexical,
    /// Vectors only.
    Vector,
}

/// A condition on a document: `KEY=VALUE`. Conditions on one key are alternatives (IN), conditions
/// on different keys must all hold (AND). Keys: `path` (prefix), `lang`, `tag`, or any metadata key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filter {
    /// `path`, `lang`, `tag` or a metadata key.
    pub key: String,
    /// The value to be equal to (for `path`: to begin with).
    pub value: String,
}

/// A search as it was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Query {
    /// The reader's words.
    pub text: String,
    /// Most hits to return, 1 to 100.
    pub k: usize,
    /// Which lists answer.
    pub mode: Mode,
    /// Only these collections; all if empty.
    pub collections: Vec<String>,
    /// Conditions on documents.
    pub filters: Vec<Filter>,
}

impl Default for Query {
    fn default() -> Self {
        Self { text: String::new(), k: 10, mode: Mode::Hybrid, collections: vec![], filters: vec![] }
    }
}

/// A candidate from the vector side: chunk index in the bundle and cosine.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VectorHit {
    /// Index of the chunk in the bundle's chunk table.
    pub chunk: u32,
    /// Cosine of question and passage, -1 to 1.
    pub score: f32,
}

/// A piece of a passage to show, as plain text, with the query's terms marked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Excerpt {
    /// Plain text without markup.
    pub text: String,
    /// Byte ranges of `text` to mark, in order, not overlapping.
    pub marks_bytes: Vec<Range<usize>>,
}

/// One result.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Hit {
    /// 1 for the best.
    pub rank: usize,
    /// Score that the order follows; its scale depends on the mode.
    pub score: f32,
    /// BM25 score, if the lexical list had it.
    pub lexical_score: Option<f32>,
    /// Cosine, if the vector list had it.
    pub vector_score: Option<f32>,
    /// Stable chunk id, 16 hex digits.
    pub chunk_id: String,
    /// Index of the chunk in the bundle.
    pub chunk: u32,
    /// Collection of the document.
    pub collection: String,
    /// Path of the document in its collection.
    pub path: String,
    /// Title of the document.
    pub title: String,
    /// Headings from the outermost to the passage's own.
    pub heading_path: Vec<String>,
    /// Fragment identifier of the passage's heading, empty before the first.
    pub anchor: String,
    /// Where the passage can be opened, fragment included, if there is such a place.
    pub url: Option<String>,
    /// Language code of the document: `zh`, `en`.
    pub lang: String,
    /// What to show.
    pub excerpt: Excerpt,
}

/// The answer to a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Response {
    /// The hits, best first.
    pub hits: Vec<Hit>,
    /// Which lists answered: `lexical` for a hybrid query that came without vectors.
    pub mode: Mode,
    /// Passages that hold one of the query's terms, after filters.
    pub lexical_candidates: usize,
    /// Passages that the vector side proposed, after filters.
    pub vector_candidates: usize,
    /// Share of the highest BM25 score that the question could have which its best passage reaches, 0 to
    /// 1; 0 where the words were not looked at.
    pub coverage: f32,
    /// Share of the question's words, weighted by rarity, that stand nowhere in the base, 0 to 1; 0 where
    /// the words were not looked at.
    pub unknown: f32,
}
