//! Building the index.

use super::alphabet;
use super::bits::{BitWriter, put_varint};
use super::collected::Collected;
use super::field::{BLOCK, LONG_LIST};
use super::{FIELDS, FORMAT_VERSION, LexicalIndex, PARTS_VERSION, TOKENIZER_VERSION};
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
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        Ok(self.write(None)?.0)
    }

    /// The same as a head and parts of the text's terms, of about `part_bytes` each: see [`LexicalIndex::add_part`].
    ///
    /// # Errors
    /// As [`Self::to_bytes`].
    pub fn to_parts(&self, part_bytes: usize) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
        self.write(Some(part_bytes))
    }

    fn write(&self, part_bytes: Option<usize>) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
        let format = if part_bytes.is_some() { PARTS_VERSION } else { FORMAT_VERSION };
        let mut out = vec![format, TOKENIZER_VERSION];
        put_varint(&mut out, self.chunks);
        for field in &self.fields[..FIELDS - 1] {
            let mut bits = BitWriter::default();
            field.starts.iter().for_each(|s| bits.put(u32::from(*s), 1));
            out.extend_from_slice(&bits.bytes);
        }
        let mut parts = Vec::new();
        for (f, field) in self.fields.iter().enumerate() {
            let size = part_bytes.filter(|_| f == FIELDS - 1);
            let bytes = field.to_bytes(size, &mut parts);
            let length = u32::try_from(bytes.len()).ok().filter(|n| out.len() + *n as usize <= u32::MAX as usize);
            let length = length.ok_or_else(|| Error::new(ErrorKind::TooLarge, "lexical index of 4 GiB or more"))?;
            put_varint(&mut out, length);
            out.extend_from_slice(&bytes);
        }
        Ok((out, parts))
    }

    /// The finished index, ready to be asked.
    ///
    /// # Errors
    /// As [`Self::to_bytes`].
    pub fn build(&self) -> Result<LexicalIndex> {
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

    /// The field; with `part_bytes` its head, and its blocks as `parts`.
    fn to_bytes(&self, part_bytes: Option<usize>, parts: &mut Vec<Vec<u8>>) -> Vec<u8> {
        let units = self.lengths.len() as u32;
        let mut out = Vec::new();
        put_varint(&mut out, units);
        put_varint(&mut out, self.terms.len() as u32);
        self.lengths.iter().for_each(|l| put_varint(&mut out, *l));
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
        let mut runs: Vec<Run> = vec![Run::default()];
        for block in entries.chunks(BLOCK) {
            let full = |run: &Run| part_bytes.is_some_and(|n| run.len() >= n);
            if runs.last().is_some_and(full) {
                runs.push(Run::default());
            }
            let Some(run) = runs.last_mut() else { continue };
            let before = run.all_terms.len();
            let mut last: &[u8] = &[];
            let mut bits = BitWriter::default();
            for (term, list) in block {
                put_term(&mut run.all_terms, last, term);
                put_list(&mut bits, units, &list.postings());
                last = term;
            }
            run.first = run.first.take().or_else(|| block.first().map(|(term, _)| term.clone()));
            run.count += block.len() as u32;
            put_varint(&mut run.sizes, (run.all_terms.len() - before) as u32);
            put_varint(&mut run.sizes, bits.bytes.len() as u32);
            run.postings.append(&mut bits.bytes);
        }
        if part_bytes.is_none() {
            runs.into_iter().for_each(|run| out.extend(run.bytes()));
            return out;
        }
        runs.retain(|run| run.count > 0);
        put_varint(&mut out, runs.len() as u32);
        for run in runs {
            let first = run.first.as_deref().unwrap_or_default();
            put_varint(&mut out, run.count);
            put_varint(&mut out, first.len() as u32);
            out.extend_from_slice(first);
            parts.push(run.bytes());
        }
        out
    }
}

/// Consecutive blocks.
#[derive(Default)]
struct Run {
    first: Option<Vec<u8>>,
    count: u32,
    sizes: Vec<u8>,
    all_terms: Vec<u8>,
    postings: Vec<u8>,
}

impl Run {
    fn len(&self) -> usize {
        self.sizes.len() + self.all_terms.len() + self.postings.len()
    }

    fn bytes(self) -> Vec<u8> {
        [self.sizes, self.all_terms, self.postings].concat()
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
