//! Chunks: the passages that are embedded, indexed and shown. One file per strategy.

pub mod heading;

use serde::{Deserialize, Serialize};
use std::fmt;
use std::ops::Range;

/// Stable identity of a chunk: a hash of collection, path, text and the occurrence of that text in
/// the document, so that inserting something elsewhere moves no other id. Shown as 16 hex digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ChunkId(pub u64);

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
}
