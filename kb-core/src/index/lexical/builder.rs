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

    /// The same as a head and parts of the terms of texts and headings, of about `part_bytes` each: see
    /// [`LexicalIndex::add_part`]. No parts where no text has a term.
    ///
    /// # Errors
    /// As [`Self::to_bytes`].
    pub fn to_parts(&self, part_bytes: usize) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
        self.write(Some(part_bytes))
    }

    fn write(&self, part_bytes: Option<usize>) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
        let [titles, headings, texts] = &self.fields;
        let units = texts.units();
        let runs = part_bytes.map_or(Vec::new(), |size| runs_of(units, &texts.entries(), size));
        let format = if runs.is_empty() { FORMAT_VERSION } else { PARTS_VERSION };
        let mut out = vec![format, TOKENIZER_VERSION];
        put_varint(&mut out, self.chunks);
        for field in [titles, headings] {
            let mut bits = BitWriter::default();
            field.starts.iter().for_each(|s| bits.put(u32::from(*s), 1));
            out.extend_from_slice(&bits.bytes);
        }
        put_field(&mut out, &titles.to_bytes())?;
        if runs.is_empty() {
            put_field(&mut out, &headings.to_bytes())?;
            put_field(&mut out, &texts.to_bytes())?;
            return Ok((out, Vec::new()));
        }
        // The headings are cut where the texts are, so that one part has all that there is of a term.
        let (mut heads, mut head) = (headings.head(), texts.head());
        put_varint(&mut head, runs.len() as u32);
        let entries = headings.entries();
        let mut parts = Vec::with_capacity(runs.len());
        let mut from = 0;
        for (i, run) in runs.iter().enumerate() {
            let to =
                runs.get(i + 1).map_or(entries.len(), |next| entries.partition_point(|(term, _)| *term < next.first));
            let above = Run::of(headings.units(), &entries[from..to]);
            put_varint(&mut heads, above.count);
            put_varint(&mut head, run.count);
            put_varint(&mut head, run.first.len() as u32);
            head.extend_from_slice(&run.first);
            let (above, mut part) = (above.bytes(), Vec::new());
            put_varint(&mut part, above.len() as u32);
            part.extend(above);
            part.extend(run.bytes());
            parts.push(part);
            from = to;
        }
        put_field(&mut out, &heads)?;
        put_field(&mut out, &head)?;
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

    fn units(&self) -> u32 {
        self.lengths.len() as u32
    }

    /// Its terms as they are stored, in their order.
    fn entries(&self) -> Vec<Entry<'_>> {
        let of = |(term, list): (&String, _)| {
            let mut bytes = Vec::with_capacity(term.len());
            alphabet::encode(term, &mut bytes);
            (bytes, list)
        };
        let mut entries: Vec<Entry> = self.terms.iter().map(|(term, list)| of((term, list))).collect();
        entries.sort_unstable_by(|(a, _), (b, _)| a.cmp(b));
        entries
    }

    /// What stands before its blocks.
    fn head(&self) -> Vec<u8> {
        let mut out = Vec::new();
        put_varint(&mut out, self.units());
        put_varint(&mut out, self.terms.len() as u32);
        self.lengths.iter().for_each(|l| put_varint(&mut out, *l));
        out
    }

    /// The field in one piece.
    fn to_bytes(&self) -> Vec<u8> {
        let mut out = self.head();
        out.extend(Run::of(self.units(), &self.entries()).bytes());
        out
    }
}

/// A term as it is stored, and what has it.
type Entry<'a> = (Vec<u8>, &'a Collected);

/// The entries in runs of whole blocks, each closed when it has reached `size` bytes.
fn runs_of(units: u32, entries: &[Entry<'_>], size: usize) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    for block in entries.chunks(BLOCK) {
        if runs.last().is_none_or(|run| run.len() >= size) {
            runs.push(Run::default());
        }
        if let Some(run) = runs.last_mut() {
            run.add(units, block);
        }
    }
    runs
}

/// Consecutive blocks.
#[derive(Default)]
struct Run {
    /// Its first term.
    first: Vec<u8>,
    count: u32,
    sizes: Vec<u8>,
    all_terms: Vec<u8>,
    postings: Vec<u8>,
}

impl Run {
    /// All of the entries.
    fn of(units: u32, entries: &[Entry<'_>]) -> Self {
        let mut run = Self::default();
        entries.chunks(BLOCK).for_each(|block| run.add(units, block));
        run
    }

    fn add(&mut self, units: u32, block: &[Entry<'_>]) {
        if let (0, Some((term, _))) = (self.count, block.first()) {
            self.first.clone_from(term);
        }
        let before = self.all_terms.len();
        let mut last: &[u8] = &[];
        let mut bits = BitWriter::default();
        for (term, list) in block {
            put_term(&mut self.all_terms, last, term);
            put_list(&mut bits, units, &list.postings());
            last = term;
        }
        self.count += block.len() as u32;
        put_varint(&mut self.sizes, (self.all_terms.len() - before) as u32);
        put_varint(&mut self.sizes, bits.bytes.len() as u32);
        self.postings.append(&mut bits.bytes);
    }

    fn len(&self) -> usize {
        self.sizes.len() + self.all_terms.len() + self.postings.len()
    }

    fn bytes(&self) -> Vec<u8> {
        [self.sizes.as_slice(), &self.all_terms, &self.postings].concat()
    }
}

/// A field behind its length.
fn put_field(out: &mut Vec<u8>, bytes: &[u8]) -> Result<()> {
    let length = u32::try_from(bytes.len()).ok().filter(|n| out.len() + *n as usize <= u32::MAX as usize);
    put_varint(out, length.ok_or_else(|| Error::new(ErrorKind::TooLarge, "lexical index of 4 GiB or more"))?);
    out.extend_from_slice(bytes);
    Ok(())
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
