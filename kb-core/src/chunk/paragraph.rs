//! The paragraph strategy: paragraphs are kept whole where they fit, whatever section they are in.

use super::Chunk;
use super::cut::{check_size, chunks_of};
use super::heading::HeadingOptions;
use super::pack::pack;
use super::strategy::{Window, without_short};
use crate::Result;
use crate::document::Document;

/// Cuts a document; the settings have been checked.
pub(super) fn chunk(document: &Document, doc: u32, window: &Window) -> Result<Vec<Chunk>> {
    check_size(document)?;
    let options = HeadingOptions {
        max_chars: window.size,
        overlap_chars: window.overlap,
        // Code and tables are no exception here.
        hard_max_chars: window.size,
        ..HeadingOptions::default()
    };
    let pieces = without_short(&document.text, pack(&document.text, 0..document.text.len(), &options), window.min);
    Ok(chunks_of(document, doc, pieces.into_iter().map(|p| (p, None))))
}
