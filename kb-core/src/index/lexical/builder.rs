//! Building the index.

use super::alphabet;
use super::bits::{BitWriter, put_varint};
use super::collected::Collected;
use super::field::{BLOCK, LONG_LIST};
use super::{FIELDS, FORMAT_VERSION, LexicalIndex, TOKENIZER_VERSION};
use crate::chunk::{Chunk, opening_headings, plain_passage, title_path};
use crate::document::Document;
use crate::text::{TokenKind, tokenize};
use crate::{Error, ErrorKind, Result};
use std::collections::HashMap;

/// Takes passages in their order in the bundle and writes the index. The same passages give the same
/// bytes.
#[derive(Default)]
pub struct LexicalBuilder {
    chunks: u32,
    /// Per field, in the order of [`super::FieldKind`].
    fields: [FieldBuilder; FIELDS],
}

/// What a field holds so far.
#[derive(Default)]
struct FieldBuilder {
    /// The last unit's text, to see whether the next passage has the same.
    last: Option<String>,
    /// For each passage whether its unit is a new one.
    starts: Vec<bool>,
    lengths: Vec<u32>,
    /// The units that have a term.
    terms: HashMap<String, Collected>,
}

impl LexicalBuilder {
    /// An index without passages.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds the next passage: its document's title, the titles of the headings above it joined by
    /// spaces or line breaks, and its own text. All three as plain text, without markup.
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] after 2^28 passages.
    pub fn add(&mut self, title: &str, headings: &str, text: &str) -> Result<()> {
        if self.chunks >= 1 << 28 {
            return Err(Error::new(ErrorKind::TooLarge, "more than 268 million passages in one index"));
        }
        self.chunks += 1;
        let [t, h, x] = &mut self.fields;
        t.add_shared(title);
        h.add_shared(headings);
        x.add_unit(text);
        Ok(())
    }

    /// Adds a passage of a document as the product does it: headings without the document's title, text
    /// without the headings that open it, so that each is counted in its own field only.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn add_chunk(&mut self, document: &Document, chunk: &Chunk) -> Result<()> {
        let path = title_path(document, chunk);
        let headings = path.strip_prefix(&[document.title.as_str()]).unwrap_or(&path);
        let body = plain_passage(document, chunk).text;
        self.add(&document.title, &headings.join("\n"), &body[opening_headings(&body, &path)..])
    }

    /// The finished index as bytes, see [`super`].
    ///
    /// # Errors
    /// [`ErrorKind::TooLarge`] for an index of 4 GiB or more.
    pub fn to_bytes(self) -> Result<Vec<u8>> {
        let mut out = vec![FORMAT_VERSION, TOKENIZER_VERSION];
        put_varint(&mut out, self.chunks);
        for field in &self.fields[..FIELDS - 1] {
            let mut bits = BitWriter::default();
            field.starts.iter().for_each(|s| bits.put(u32::from(*s), 1));
            out.extend_from_slice(&bits.bytes);
        }
        for field in self.fields {
            let bytes = field.to_bytes();
            let length = u32::try_from(bytes.len()).ok().filter(|n| out.len() + *n as usize <= u32::MAX as usize);
            let length = length.ok_or_else(|| Error::new(ErrorKind::TooLarge, "lexical index of 4 GiB or more"))?;
            put_varint(&mut out, length);
            out.extend_from_slice(&bytes);
        }
        Ok(out)
    }

    /// The finished index, ready to be asked.
    ///
    /// # Errors
    /// As [`Self::to_bytes`].
    pub fn build(self) -> Result<LexicalIndex> {
        LexicalIndex::from_bytes(self.to_bytes()?)
    }
}

impl FieldBuilder {
    /// Adds a passage whose text in this field is often the same as that of the one before.
    fn add_shared(&mut self, text: &str) {
        let is_new = self.last.as_deref() != Some(text);
        self.starts.push(is_new);
        if is_new {
            self.last = Some(text.to_owned());
            self.add_unit(text);
        }
    }

    fn add_unit(&mut self, text: &str) {
        let unit = self.lengths.len() as u32;
        let mut length = 0;
        tokenize(text, |token| {
            // Single characters are found by the bigrams that they are part of.
            if matches!(token.kind, TokenKind::Unigram | TokenKind::Final) {
                return;
            }
            length += u32::from(token.kind.counts());
            match self.terms.get_mut(token.term) {
                Some(collected) => collected.add(unit),
                None => self.terms.entry(token.term.to_owned()).or_default().add(unit),
            }
        });
        self.lengths.push(length);
    }

    fn to_bytes(&self) -> Vec<u8> {
        let units = self.lengths.len() as u32;
        let mut out = Vec::new();
        put_varint(&mut out, units);
        put_varint(&mut out, self.terms.len() as u32);
        self.lengths.iter().for_each(|l| put_varint(&mut out, *l));
        let (mut terms, mut postings) = (Vec::new(), Vec::new());
        let mut entries: Vec<_> = self
            .terms
            .iter()
            .map(|(term, list)| {
                let mut bytes = Vec::with_capacity(term.len());
                alphabet::encode(term, &mut bytes);
                (bytes, list)
            })
            .collect();
        entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        for block in entries.chunks(BLOCK) {
            let before = terms.len();
            let mut last: &[u8] = &[];
            let mut bits = BitWriter::default();
            for (term, list) in block {
                put_term(&mut terms, last, term);
                put_list(&mut bits, units, &list.postings());
                last = term;
            }
            put_varint(&mut out, (terms.len() - before) as u32);
            put_varint(&mut out, bits.bytes.len() as u32);
            postings.append(&mut bits.bytes);
        }
        out.append(&mut terms);
        out.append(&mut postings);
        out
    }
}

fn put_term(out: &mut Vec<u8>, last: &[u8], term: &[u8]) {
    let shared = last.iter().zip(term).take_while(|(a, b)| a == b).count();
    let new = term.len() - shared;
    out.push((shared.min(15) << 4 | new.min(15)) as u8);
    for number in [shared, new] {
        if number >= 15 {
            put_varint(out, (number - 15) as u32);
        }
    }
    out.extend_from_slice(&term[shared..]);
}

fn put_list(out: &mut BitWriter, units: u32, list: &[(u32, u32)]) {
    let mut bits = BitWriter::default();
    let ascending: Vec<u32> = list.iter().map(|(unit, _)| *unit).collect();
    bits.put_ascending(&ascending, 0, units.saturating_sub(1));
    list.iter().for_each(|(_, frequency)| bits.put_gamma(*frequency));
    let count = list.len() as u32;
    out.put_gamma(count);
    if count >= LONG_LIST {
        out.put_gamma(bits.len() as u32);
    }
    out.append(&bits);
}
