//! The sliding strategy: a window of a fixed number of characters, each one repeating the end of the one before.

use super::Chunk;
use super::cut::{check_size, chunks_of};
use super::pack::Piece;
use super::strategy::{Window, without_short};
use crate::Result;
use crate::document::Document;

/// Cuts a document; the settings have been checked.
pub(super) fn chunk(document: &Document, doc: u32, window: &Window) -> Result<Vec<Chunk>> {
    check_size(document)?;
    let text = &document.text;
    // Where each character begins, and the end.
    let starts: Vec<usize> = text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
    let count = starts.len() - 1;
    let mut pieces = Vec::new();
    let (mut from, mut seen) = (0, 0);
    while from < count {
        let to = (from + window.size).min(count);
        pieces.push(Piece { span: starts[from]..starts[to], new_from: starts[seen.max(from)] });
        if to == count {
            break;
        }
        seen = to;
        from = to - window.overlap;
    }
    let pieces = without_short(text, pieces, window.min);
    Ok(chunks_of(document, doc, pieces.into_iter().map(|p| (p, None))))
}
