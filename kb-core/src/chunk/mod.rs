//! Chunks: the passages that are embedded, indexed and shown. One file per strategy.

#[cfg(feature = "build")]
mod blocks;
#[cfg(feature = "build")]
mod cut;
#[cfg(feature = "build")]
mod fit;
#[cfg(feature = "build")]
pub mod heading;
mod kind;
#[cfg(feature = "build")]
mod line;
#[cfg(feature = "build")]
mod pack;
#[cfg(feature = "build")]
mod paragraph;
#[cfg(feature = "build")]
mod portfolio;
#[cfg(feature = "build")]
mod sliding;
#[cfg(feature = "build")]
mod strategy;
#[cfg(all(test, feature = "build"))]
mod strategy_tests;

use crate::document::{Document, PlainText, plain_after};
#[cfg(feature = "build")]
pub use fit::fit;
pub use kind::ChunkKind;
#[cfg(feature = "build")]
pub use kind::kind_of;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::ops::Range;
#[cfg(feature = "build")]
pub use strategy::{ChunkStrategy, Window};

/// Stable identity of a chunk: a hash of collection, path, text and the occurrence of that text in
/// the document, so that inserting something elsewhere moves no other id. Shown as 16 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChunkId(pub u64);

/// Gives the passages of one document, in their order, the identities that follow from its text. A passage that is not
/// inside it keeps the one it has.
pub fn identify(document: &Document, text: &str, chunks: &mut [Chunk]) {
    let of = |chunk: &Chunk| text.get(chunk.span_bytes.start as usize..chunk.span_bytes.end as usize);
    for i in 0..chunks.len() {
        let (before, rest) = chunks.split_at_mut(i);
        let Some((chunk, passage)) = rest.first_mut().and_then(|chunk| of(chunk).map(|passage| (chunk, passage)))
        else {
            continue;
        };
        let occurrence = before.iter().filter(|earlier| of(earlier) == Some(passage)).count();
        chunk.id = ChunkId::new(&document.collection, &document.path, passage, occurrence as u32);
    }
}

impl ChunkId {
    /// Of a passage of a bundle whose text has not come: the identity follows from it.
    pub const UNKNOWN: Self = Self(0);

    /// The identity of the `occurrence`th (from 0) chunk with this very text in a document: the first
    /// 64 bits of a SHA-256 over the four, each preceded by its length.
    pub fn new(collection: &str, path: &str, text: &str, occurrence: u32) -> Self {
        let mut hash = Sha256::new();
        for part in [collection, path, text] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        hash.update(occurrence.to_le_bytes());
        let digest: [u8; 32] = hash.finalize().into();
        let [a, b, c, d, e, f, g, h, ..] = digest;
        Self(u64::from_be_bytes([a, b, c, d, e, f, g, h]))
    }
}

impl fmt::Display for ChunkId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// One passage of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// Stable identity.
    pub id: ChunkId,
    /// Index of its document in the bundle.
    pub doc: u32,
    /// Index into the document's sections, `None` before the first heading.
    pub section: Option<u32>,
    /// Byte range in the document's text.
    pub span_bytes: Range<u32>,
    /// How many bytes at the start are also the end of the chunk before (declared overlap).
    pub overlap_bytes: u32,
    /// What sort of passage it is.
    pub kind: ChunkKind,
}

impl Chunk {
    /// The passage as it stands in its document, or `None` if `document` is not its document.
    pub fn text<'d>(&self, document: &'d Document) -> Option<&'d str> {
        document.text.get(self.span_bytes.start as usize..self.span_bytes.end as usize)
    }
}

/// Titles from the document's own to the passage's heading, repetitions left out: what is put in front
/// of a passage, so that it can be understood alone.
pub fn title_path<'d>(document: &'d Document, chunk: &Chunk) -> Vec<&'d str> {
    let mut path = vec![document.title.as_str()];
    if let Some(section) = chunk.section {
        for title in document.heading_path(section as usize) {
            if path.last() != Some(&title) {
                path.push(title);
            }
        }
    }
    path.retain(|t| !t.is_empty());
    path
}

/// A passage as plain text. Offsets of the result count from the beginning of the passage. Empty if
/// `document` is not the passage's.
pub fn plain_passage(document: &Document, chunk: &Chunk) -> PlainText {
    let section = chunk.section.and_then(|s| document.sections.get(s as usize));
    // Code does not go on over a heading.
    let from = section.map_or(0, |s| s.span_bytes.start).min(chunk.span_bytes.start as usize);
    let before = document.text.get(from..chunk.span_bytes.start as usize).unwrap_or_default();
    plain_after(before, chunk.text(document).unwrap_or_default())
}

/// Where the text of a passage begins behind the headings that open it: the length of the leading
/// lines of `plain_text` that are titles of `path`.
pub fn opening_headings(plain_text: &str, path: &[&str]) -> usize {
    let mut length = 0;
    for line in plain_text.split_inclusive('\n') {
        if !path.contains(&line.trim_end()) {
            break;
        }
        length += line.len();
    }
    length
}

/// What the model gets to read of a passage: title and heading path on the first line, then the
/// passage as plain text, without the headings that open it, which the path already has.
pub fn embedding_text(document: &Document, chunk: &Chunk) -> String {
    let path = title_path(document, chunk);
    let body = plain_passage(document, chunk).text;
    let body = &body[opening_headings(&body, &path)..];
    let mut text = path.join(" > ");
    if !body.is_empty() && !text.is_empty() {
        text.push('\n');
    }
    text.push_str(body);
    text
}

#[cfg(all(test, feature = "build"))]
mod tests;
