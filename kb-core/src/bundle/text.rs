//! Section `text`: the texts of a run of documents. Encoder and decoder side by side.

use super::codec;
use super::frame::SectionKind;
use crate::document::Document;
use crate::{ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::ops::Range;

const KIND: SectionKind = SectionKind::Text;

/// A part is closed when it has grown to this many bytes of text: about 300 kB on the wire, so that
/// the excerpts of ten hits cost few requests and not the whole base.
pub const TEXT_PART_BYTES: usize = 1 << 20;

#[derive(Serialize, Deserialize)]
struct TextWire<'a> {
    first_document: u32,
    #[serde(borrow)]
    texts: Vec<&'a str>,
}

/// Cuts `documents` into runs of about [`TEXT_PART_BYTES`] of text, whole documents each.
pub fn split(documents: &[Document]) -> Vec<Range<usize>> {
    let mut runs = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for (i, document) in documents.iter().enumerate() {
        bytes += document.text.len();
        if bytes >= TEXT_PART_BYTES {
            runs.push(start..i + 1);
            (start, bytes) = (i + 1, 0);
        }
    }
    if start < documents.len() {
        runs.push(start..documents.len());
    }
    runs
}

/// The payload of one section `text` with the texts of `documents[run]`.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] if `run` is not in `documents`.
pub fn encode(documents: &[Document], run: Range<usize>) -> Result<Vec<u8>> {
    let invalid = || KIND.error(ErrorKind::InvalidInput, "no such run of documents");
    let texts = documents.get(run.clone()).ok_or_else(invalid)?.iter().map(|d| d.text.as_str()).collect();
    codec::encode(KIND, &TextWire { first_document: run.start as u32, texts })
}

/// Reads one section `text`: the index of its first document, and the texts from there on.
///
/// # Errors
/// [`ErrorKind::Corrupt`], for text that is not UTF-8 as well.
pub fn decode(payload: &[u8]) -> Result<(u32, Vec<&str>)> {
    let wire: TextWire = codec::decode(KIND, payload)?;
    Ok((wire.first_document, wire.texts))
}
