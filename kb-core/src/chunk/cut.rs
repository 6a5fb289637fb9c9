//! From ranges of a document's text to chunks: what all strategies do at their end.

use super::pack::Piece;
use super::{Chunk, ChunkId, ChunkKind, kind_of};
use crate::document::{Document, MetaValue};
use crate::{Error, ErrorKind, Result};
use std::collections::HashMap;

/// Key of the front matter that names the sort of all passages of a document.
const KIND_KEY: &str = "chunk_type";

/// That offsets in the document fit into a chunk.
///
/// # Errors
/// [`ErrorKind::TooLarge`] for a text of 4 GiB or more.
pub(super) fn check_size(document: &Document) -> Result<()> {
    if u32::try_from(document.text.len()).is_err() {
        return Err(Error::new(ErrorKind::TooLarge, format!("{} has 4 GiB of text or more", document.path)));
    }
    Ok(())
}

/// The chunks for `pieces` in their order, each with the section that it is known to be in, if any.
pub(super) fn chunks_of(
    document: &Document,
    doc: u32,
    pieces: impl IntoIterator<Item = (Piece, Option<usize>)>,
) -> Vec<Chunk> {
    let mut occurrences: HashMap<&str, u32> = HashMap::new();
    let mut chunks = Vec::new();
    for (piece, section) in pieces {
        let Some(passage) = document.text.get(piece.span.clone()) else { continue };
        let occurrence = occurrences.entry(passage).or_default();
        let id = ChunkId::new(&document.collection, &document.path, passage, *occurrence);
        *occurrence += 1;
        // A heading nearer than the one known.
        let section = section_at(document, piece.new_from).max(section);
        chunks.push(Chunk {
            id,
            doc,
            section: section.map(|s| s as u32),
            span_bytes: piece.span.start as u32..piece.span.end as u32,
            overlap_bytes: (piece.new_from - piece.span.start) as u32,
            kind: sort_of(document, passage, section),
        });
    }
    chunks
}

/// Index of the last section that begins at or before `byte`.
fn section_at(document: &Document, byte: usize) -> Option<usize> {
    document.sections.partition_point(|s| s.span_bytes.start <= byte).checked_sub(1)
}

/// The sort that the document's front matter names for all its passages.
pub(super) fn declared_kind(document: &Document) -> Option<ChunkKind> {
    match document.metadata.get(KIND_KEY) {
        Some(MetaValue::Text(name)) => ChunkKind::from_name(name),
        _ => None,
    }
}

/// The sort of a passage: what the document's front matter says (`chunk_type`), or what the rules tell.
fn sort_of(document: &Document, passage: &str, section: Option<usize>) -> ChunkKind {
    if let Some(kind) = declared_kind(document) {
        return kind;
    }
    let heading = section.and_then(|s| document.sections.get(s)).map_or(document.title.as_str(), |s| s.title.as_str());
    kind_of(passage, heading)
}
