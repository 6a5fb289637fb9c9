//! From a question to hits: candidates, filters, fusion, excerpts.

mod chunk_set;
mod context;
mod duplicates;
mod excerpt;
mod facet;
mod filter;
mod fusion;
mod knowledge_base;
mod options;
mod phrase;
mod understand;

pub use chunk_set::ChunkSet;
pub use context::{CONTEXT_CHARS, context};
pub use excerpt::MAX_EXCERPT_CHARS;
pub use facet::Facet;
pub use fusion::{CANDIDATES, Part, PartName, speaks};
pub use knowledge_base::{Explained, KnowledgeBase};
pub use options::{FusionMethod, RRF_K, RetrievalOptions, ThreeWayPreset};
pub use understand::{Intent, MAX_SYNONYM_BYTES, Plan, Synonyms};

use crate::chunk::ChunkKind;
use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Which lists answer a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Mode {
    /// Words and meaning fused; words alone where no vectors are given.
    #[default]
    Hybrid,
    /// BM25 only.
    Lexical,
    /// Vectors only.
    Vector,
}

/// A condition on a document, or with the key `type` on a passage: `KEY=VALUE`. Conditions on one key are
/// alternatives (IN), conditions on different keys must all hold (AND). Keys: `path` (prefix), `lang`, `tag`,
/// `type` (a [`ChunkKind`]'s name), or any metadata key.
/// `KEY!=VALUE`, a key that ends in `!`, must not hold (NOT), whatever else does.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Filter {
    /// `path`, `lang`, `tag`, `type` or a metadata key; with `!` at its end the condition is turned round, with `>` or
    /// `<` a date is the value or later, or earlier.
    pub key: String,
    /// The value to be equal to (for `path`: to begin with).
    pub value: String,
}

/// A search as it was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("required" = ["text"])))]
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
    /// Whether the reader is still typing: the last word is then taken as the beginning of one.
    pub unfinished: bool,
    /// Whether passages that say nearly the same as a better hit are hits as well.
    pub keep_duplicates: bool,
}

impl Default for Query {
    fn default() -> Self {
        Self {
            text: String::new(),
            k: 10,
            mode: Mode::Hybrid,
            collections: vec![],
            filters: vec![],
            unfinished: false,
            keep_duplicates: false,
        }
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
    /// Stable chunk id, 16 hex digits; empty as long as it follows from a text that has not come.
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
    /// What sort of passage it is.
    pub kind: ChunkKind,
    /// What to show.
    pub excerpt: Excerpt,
}

/// How a hit came to its place.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Explanation {
    /// Index of the chunk in the bundle.
    pub chunk: u32,
    /// Rank among the words' candidates, from 1, if it is one of them.
    pub lexical_rank: Option<usize>,
    /// BM25 score, if it has one of the words.
    pub lexical_score: Option<f32>,
    /// Rank among the vectors' candidates, from 1, if it is one of them.
    pub vector_rank: Option<usize>,
    /// Cosine, if it is one of the vectors' candidates.
    pub vector_score: Option<f32>,
    /// What the score is made of: weight times value, added up.
    pub parts: Vec<Part>,
    /// The score that the order follows.
    pub score: f32,
    /// Passages further down that say nearly the same and were left out, by index.
    pub folded: Vec<u32>,
}

/// What was understood of a query.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub struct Understanding {
    /// Language code of the question.
    pub lang: String,
    /// The words that were looked up.
    pub terms: Vec<String>,
    /// Words that no passage has, and the terms that were taken for them.
    pub corrected: Vec<(String, Vec<String>)>,
    /// Phrases in quotation marks that every hit holds; empty where no passage holds them all.
    pub phrases: Vec<String>,
    /// What it asks for.
    pub plan: Plan,
    /// Words that no passage has, and the words of the list of synonyms that were looked up beside them.
    pub synonyms: Vec<(String, Vec<String>)>,
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
    /// Share of the question's words, by rarity, that the passage with most of them has, 0 to 1; 0 where the
    /// words were not looked at.
    pub coverage: f32,
    /// Share of the question's words, weighted by rarity, that stand nowhere in the base, 0 to 1; 0 where
    /// the words were not looked at.
    pub unknown: f32,
}
