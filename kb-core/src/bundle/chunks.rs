//! Section `chunks`: the chunk table, column by column. Encoder and decoder side by side.

use super::codec;
use super::frame::SectionKind;
use crate::chunk::{Chunk, ChunkId, ChunkKind, identify};
use crate::document::Document;
use crate::{ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

const KIND: SectionKind = SectionKind::Chunks;

/// All columns have one entry a chunk, except `ids` with eight bytes.
#[derive(Serialize, Deserialize)]
struct ChunksWire<'a> {
    /// Ids, little endian; none from format version 5 on where each is the one that the text gives.
    ids: &'a [u8],
    /// How far the document's index is from that of the chunk before.
    doc_steps: Vec<u32>,
    /// Index of the section plus 1; 0 for none.
    sections: Vec<u32>,
    /// Start plus overlap, less the end of the chunk before in the same document (0 for the first):
    /// 0 wherever chunks cover the text as they should.
    gaps: Vec<i64>,
    bytes: Vec<u32>,
    overlaps: Vec<u32>,
}

/// What follows from format version 3 on: the sort of each chunk.
#[derive(Serialize, Deserialize)]
struct Kinds<'a> {
    kinds: &'a [u8],
}

/// The payload of section `chunks`.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for chunks that are not ordered by document and start, are empty, leave
/// their document, do not start and end between characters, name a section that is not there, or share
/// an id.
pub fn encode(chunks: &[Chunk], documents: &[Document]) -> Result<Vec<u8>> {
    let invalid = |what: &str| KIND.error(ErrorKind::InvalidInput, what);
    let sizes: Vec<u32> = documents.iter().map(|d| u32::try_from(d.text.len()).unwrap_or(u32::MAX)).collect();
    check(chunks, documents, &sizes).map_err(invalid)?;
    for chunk in chunks {
        check_boundaries(&documents[chunk.doc as usize].text, chunk).map_err(invalid)?;
    }
    let mut seen = HashSet::with_capacity(chunks.len());
    if !chunks.iter().all(|chunk| seen.insert(chunk.id)) {
        return Err(invalid("two chunks have the same id"));
    }

    // They do not compress, and are half of the section.
    let ids: Vec<u8> = match given_by_text(chunks, documents) {
        true => Vec::new(),
        false => chunks.iter().flat_map(|chunk| chunk.id.0.to_le_bytes()).collect(),
    };
    let mut wire = ChunksWire {
        ids: &ids,
        doc_steps: Vec::with_capacity(chunks.len()),
        sections: chunks.iter().map(|c| c.section.map_or(0, |s| s + 1)).collect(),
        gaps: Vec::with_capacity(chunks.len()),
        bytes: chunks.iter().map(|c| c.span_bytes.end - c.span_bytes.start).collect(),
        overlaps: chunks.iter().map(|c| c.overlap_bytes).collect(),
    };
    let (mut doc, mut end) = (0, 0);
    for chunk in chunks {
        if chunk.doc != doc {
            end = 0;
        }
        wire.doc_steps.push(chunk.doc - doc);
        wire.gaps.push(i64::from(chunk.span_bytes.start) + i64::from(chunk.overlap_bytes) - end);
        doc = chunk.doc;
        end = i64::from(chunk.span_bytes.end);
    }
    let mut payload = codec::encode(KIND, &wire)?;
    let kinds: Vec<u8> = chunks.iter().map(|c| c.kind.code()).collect();
    payload.extend(codec::encode(KIND, &Kinds { kinds: &kinds })?);
    Ok(payload)
}

/// Whether every id is the one that the text gives.
fn given_by_text(chunks: &[Chunk], documents: &[Document]) -> bool {
    let mut same = chunks.to_vec();
    for run in same.chunk_by_mut(|a, b| a.doc == b.doc) {
        let Some(document) = run.first().and_then(|chunk| documents.get(chunk.doc as usize)) else { return false };
        identify(document, &document.text, run);
    }
    same == chunks
}

/// Reads the payload of section `chunks`. `documents` and `text_bytes` are those of the section
/// `docs`; everything but character boundaries is checked against them. Ids that follow from the text are
/// [`ChunkId::UNKNOWN`] until it comes.
///
/// # Errors
/// [`ErrorKind::Corrupt`].
pub fn decode(payload: &[u8], documents: &[Document], text_bytes: &[u32]) -> Result<Vec<Chunk>> {
    let (wire, rest): (ChunksWire, _) = codec::decode_first(KIND, payload)?;
    // Bundles of version 1 and 2 end here.
    let kinds: Option<Kinds> = if rest.is_empty() { None } else { Some(codec::decode(KIND, rest)?) };
    let (ids, rest) = wire.ids.as_chunks::<8>();
    let count = wire.doc_steps.len();
    let columns = [wire.sections.len(), wire.gaps.len(), wire.bytes.len(), wire.overlaps.len()];
    let kinds_differ = kinds.as_ref().is_some_and(|k| k.kinds.len() != count);
    let ids_differ = !ids.is_empty() && ids.len() != count;
    if !rest.is_empty() || ids_differ || kinds_differ || columns.iter().any(|length| *length != count) {
        return Err(KIND.corrupt("the columns differ in length"));
    }
    let mut chunks = Vec::with_capacity(count);
    let (mut doc, mut end) = (0u32, 0i64);
    for i in 0..count {
        if wire.doc_steps[i] > 0 {
            end = 0;
        }
        doc = doc.saturating_add(wire.doc_steps[i]);
        let outside = || KIND.corrupt("a chunk leaves its document");
        let start = end.checked_add(wire.gaps[i]).and_then(|s| s.checked_sub(i64::from(wire.overlaps[i])));
        let start = start.and_then(|s| u32::try_from(s).ok()).ok_or_else(outside)?;
        let stop = start.checked_add(wire.bytes[i]).ok_or_else(outside)?;
        end = i64::from(stop);
        chunks.push(Chunk {
            id: ids.get(i).map_or(ChunkId::UNKNOWN, |id| ChunkId(u64::from_le_bytes(*id))),
            doc,
            section: wire.sections[i].checked_sub(1),
            span_bytes: start..stop,
            overlap_bytes: wire.overlaps[i],
            kind: kinds.as_ref().map_or(ChunkKind::Text, |k| ChunkKind::from_code(k.kinds[i])),
        });
    }
    check(&chunks, documents, text_bytes).map_err(|what| KIND.corrupt(what))?;
    Ok(chunks)
}

/// Order, bounds and references.
fn check(chunks: &[Chunk], documents: &[Document], text_bytes: &[u32]) -> Result<(), &'static str> {
    let mut before = (0, 0);
    for chunk in chunks {
        let at = (chunk.doc, chunk.span_bytes.start);
        if at < before {
            return Err("chunks are not ordered by document and start");
        }
        before = at;
        let (Some(document), Some(size)) = (documents.get(chunk.doc as usize), text_bytes.get(chunk.doc as usize))
        else {
            return Err("a chunk's document is not there");
        };
        if chunk.span_bytes.end <= chunk.span_bytes.start {
            return Err("a chunk is empty");
        }
        if chunk.span_bytes.end > *size {
            return Err("a chunk leaves its document");
        }
        if chunk.overlap_bytes > chunk.span_bytes.end - chunk.span_bytes.start {
            return Err("a chunk's overlap is longer than the chunk");
        }
        if chunk.section.is_some_and(|s| s as usize >= document.sections.len()) {
            return Err("a chunk's section is not there");
        }
    }
    Ok(())
}

/// That `chunk` and its overlap start and end between two characters of `text`.
pub(super) fn check_boundaries(text: &str, chunk: &Chunk) -> Result<(), &'static str> {
    let span = &chunk.span_bytes;
    let ends = [span.start, span.start + chunk.overlap_bytes, span.end];
    if ends.iter().all(|at| text.is_char_boundary(*at as usize)) {
        Ok(())
    } else {
        Err("a chunk starts or ends inside a character")
    }
}
