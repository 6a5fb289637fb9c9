//! What an answer may rest on.

use crate::search::{Hit, KnowledgeBase};
use serde::{Deserialize, Serialize};

/// Most passages that a prompt holds.
pub const MAX_PASSAGES: usize = 5;

/// A whole passage with its place.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Passage {
    /// Stable chunk id, 16 hex digits.
    pub chunk_id: String,
    /// Collection of the document.
    pub collection: String,
    /// Path of the document in its collection.
    pub path: String,
    /// Title of the document.
    pub title: String,
    /// Headings from the outermost to the passage's own.
    pub heading_path: Vec<String>,
    /// Fragment identifier of the passage's heading.
    pub anchor: String,
    /// The passage in Markdown.
    pub text: String,
}

impl Passage {
    /// Title and headings in one line, repetitions left out: `Git > Undo > The safety net`.
    pub fn heading(&self) -> String {
        let mut parts = vec![self.title.as_str()];
        for heading in &self.heading_path {
            if parts.last() != Some(&heading.as_str()) {
                parts.push(heading);
            }
        }
        parts.retain(|p| !p.is_empty());
        parts.join(" > ")
    }

    /// Collection and path: `notes/git/undo.md`.
    pub fn source(&self) -> String {
        if self.collection.is_empty() { self.path.clone() } else { format!("{}/{}", self.collection, self.path) }
    }
}

/// The passages of the first `limit` hits whose text is there, in their order. What a passage repeats of
/// the one before it is left out where both are among them.
pub fn passages(base: &KnowledgeBase, hits: &[Hit], limit: usize) -> Vec<Passage> {
    let hits = &hits[..hits.len().min(limit)];
    hits.iter()
        .filter_map(|hit| {
            let chunk = base.chunks().get(hit.chunk as usize)?;
            let document = base.documents().get(chunk.doc as usize)?;
            let mut text = chunk.text(document)?;
            let before = hit.chunk.checked_sub(1);
            let repeats = before.is_some_and(|b| hits.iter().any(|h| h.chunk == b))
                && before.and_then(|b| base.chunks().get(b as usize)).is_some_and(|b| b.doc == chunk.doc);
            if repeats {
                text = text.get(chunk.overlap_bytes as usize..).unwrap_or(text);
            }
            Some(Passage {
                chunk_id: hit.chunk_id.clone(),
                collection: hit.collection.clone(),
                path: hit.path.clone(),
                title: hit.title.clone(),
                heading_path: hit.heading_path.clone(),
                anchor: hit.anchor.clone(),
                text: text.trim().to_owned(),
            })
        })
        .filter(|p| !p.text.is_empty())
        .collect()
}
