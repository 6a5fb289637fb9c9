//! BM25 over passages with three fields: title of the document, headings above the passage, text.
//!
//! **Score.** BM25F in the simple form of Robertson, Zaragoza and Taylor (CIKM 2004): frequencies are
//! weighted and normalised by field, added up, and saturated once.
//!
//! ```text
//! score(q, c) = Σ over terms t of q:  w(t) · idf(t) · x / (k1 + x)
//! x           = Σ over fields f:  W(f) · tf(t, c, f) / (1 − b(f) + b(f) · len(c, f) / mean_len(f))
//! idf(t)      = ln(1 + (N − n(t) + 0.5) / (n(t) + 0.5))
//! ```
//!
//! N is the number of passages, n(t) of those with t in any field, w(t) the term's weight in the
//! question. The idf is Lucene's, which is never negative. The logarithm is `libm`'s and sums run in a
//! fixed order, so that every machine gets the same bits.
//!
//! **Bytes.** Format version, tokeniser version (one byte each); number of passages (varint); for title
//! and headings one bit a passage, set where it differs from the passage before, so that what passages
//! share is stored once; then three times the length (varint) and bytes of a [`field`]. Reading makes
//! no copy: only offsets and lengths are taken out. In formats 2 and 3 the third field is a head, whose parts come
//! separately: a search notes which of them it would have read ([`LexicalIndex::wanted`]), and is repeated when they have
//! come. In format 3 the second field is a head as well, cut at the same terms: a part has the length (varint) and bytes of
//! the headings' blocks, then those of the texts.

mod alphabet;
mod bits;
#[cfg(feature = "build")]
mod builder;
#[cfg(feature = "build")]
mod collected;
mod field;
mod lookup;

#[cfg(feature = "build")]
pub use builder::LexicalBuilder;
pub use lookup::Lookup;

use crate::search::ChunkSet;
use crate::text::{query_terms, script::is_unspaced};
use crate::{Error, ErrorKind, Result};
use bits::{Bytes, corrupt};
use field::{Blocks, Field};

/// Version of the byte format of an index in one piece.
const FORMAT_VERSION: u8 = 1;
/// The same, where the text's terms come in parts.
const TEXT_PARTS_VERSION: u8 = 2;
/// The same, where the headings' terms do so too.
const PARTS_VERSION: u8 = 3;
/// Version of the tokeniser: another one would not find all that this one indexed. Before 2 traditional
/// characters stayed as they were; an index made then misses those only.
const TOKENIZER_VERSION: u8 = 2;
/// Fields of a passage.
const FIELDS: usize = 3;

/// The fields, in the order of the bytes.
#[derive(Clone, Copy)]
enum FieldKind {
    Title,
    Headings,
    Text,
}

/// How BM25F weighs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bm25 {
    /// Saturation of frequencies, above 0; usual 1.2 to 2. Larger: repeating a word counts for more.
    pub k1: f32,
    /// Weight of title, headings and text, 0 or more.
    pub weights: [f32; 3],
    /// Normalisation by length of the three, 0 (none) to 1 (full).
    pub b: [f32; 3],
}

impl Default for Bm25 {
    fn default() -> Self {
        Self { k1: 1.2, weights: [1.0, 2.0, 1.0], b: [0.5, 0.5, 0.75] }
    }
}

/// What [`LexicalIndex::scores`] found.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Scores {
    /// Passages with a score above 0, by ascending index.
    pub passages: Vec<Scored>,
    /// Inverse document frequency of each word, in the order of the lookups.
    pub idf: Vec<f32>,
}

/// A passage with its BM25 score and the share of the question that it holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scored {
    /// Index of the passage.
    pub chunk: u32,
    /// BM25, above 0.
    pub score: f32,
    /// The sum of weight times inverse document frequency over the question's words that are there, by the
    /// sum over all, 0 to 1. A corrected word counts as far as it is certain.
    pub matched: f32,
}

/// The word index of a bundle.
#[derive(Debug)]
pub struct LexicalIndex {
    bytes: Vec<u8>,
    chunks: u32,
    /// For each passage its unit in title and headings.
    units: [Vec<u32>; 2],
    fields: [Field; FIELDS],
    /// Whether a part has the headings' terms before the text's.
    split: bool,
    parameters: Bm25,
}

impl LexicalIndex {
    /// Takes an index that [`LexicalBuilder`] wrote.
    ///
    /// # Errors
    /// [`ErrorKind::NewerFormat`] for another version of format or tokeniser, [`ErrorKind::Corrupt`] if
    /// the parts do not fit together. Postings are checked when they are read.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Self> {
        let mut input = Bytes(&bytes);
        let [format, tokenizer] = *input.take(2)? else { return Err(corrupt("ends early")) };
        if !(FORMAT_VERSION..=PARTS_VERSION).contains(&format) || !(1..=TOKENIZER_VERSION).contains(&tokenizer) {
            let message = format!(
                "lexical index has format {format} and tokeniser {tokenizer}, this program knows {PARTS_VERSION} and {TOKENIZER_VERSION}"
            );
            return Err(Error::new(ErrorKind::NewerFormat, message));
        }
        // Every passage takes a byte at least, for its length.
        let chunks = input.count()? as u32;
        let mut units = [Vec::new(), Vec::new()];
        for list in &mut units {
            *list = read_units(input.take((chunks as usize).div_ceil(8))?, chunks);
        }
        let mut ranges = Vec::with_capacity(FIELDS);
        for _ in 0..FIELDS {
            let length = input.varint()? as usize;
            let start = bytes.len() - input.0.len();
            input.take(length)?;
            ranges.push(start..start + length);
        }
        if !input.0.is_empty() {
            return Err(corrupt("something follows the last field"));
        }
        let read = |kind: FieldKind, place| Field::read(&bytes, ranges[kind as usize].clone(), place);
        let text = read(FieldKind::Text, if format >= TEXT_PARTS_VERSION { Blocks::Apart } else { Blocks::Here })?;
        let split = format >= PARTS_VERSION;
        let headings = read(FieldKind::Headings, if split { Blocks::AsIn(&text) } else { Blocks::Here })?;
        let fields = [read(FieldKind::Title, Blocks::Here)?, headings, text];
        for (list, field) in units.iter().zip(&fields) {
            // Units are numbered from 0, so the last one tells how many there are.
            if list.last().map_or(0, |last| *last as usize + 1) != field.lengths.len() {
                return Err(corrupt("titles and passages do not match"));
            }
        }
        if fields[FieldKind::Text as usize].lengths.len() != chunks as usize {
            return Err(corrupt("texts and passages do not match"));
        }
        Ok(Self { bytes, chunks, units, fields, split, parameters: Bm25::default() })
    }

    /// The bytes that [`Self::from_bytes`] takes.
    pub fn to_bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// How many parts the terms of texts and headings come in; 1 if they are here already.
    pub fn part_count(&self) -> usize {
        self.fields[FieldKind::Text as usize].part_count()
    }

    /// Takes part `index`, as [`LexicalBuilder::to_parts`] wrote it.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for bytes that are not that part.
    pub fn add_part(&mut self, index: usize, bytes: Vec<u8>) -> Result<()> {
        let [_, headings, text] = &mut self.fields;
        if !self.split {
            return text.add_part(index, bytes, true);
        }
        let mut input = Bytes(&bytes);
        let length = input.varint()? as usize;
        let above = input.take(length)?.to_vec();
        text.add_part(index, input.0.to_vec(), true)?;
        headings.add_part(index, above, false)
    }

    /// The parts that were needed since the last call and have not come: what was found without them is not all. When they
    /// have come and the same is asked again, others may be wanted; when none is, the result is that of the whole index.
    pub fn wanted(&self) -> Vec<u32> {
        let [_, headings, text] = &self.fields;
        let mut wanted = [headings.wanted(), text.wanted()].concat();
        wanted.sort_unstable();
        wanted.dedup();
        wanted
    }

    /// Number of passages.
    pub fn len(&self) -> usize {
        self.chunks as usize
    }

    /// Whether there is no passage.
    pub fn is_empty(&self) -> bool {
        self.chunks == 0
    }

    /// Uses other parameters from now on.
    pub fn set_parameters(&mut self, parameters: Bm25) {
        self.parameters = parameters;
    }

    /// The `k` best passages for `query`: chunk index and score, best first, equal scores by index.
    /// Only passages with at least one of its terms, and of those only the `allowed` ones.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] if postings are damaged.
    pub fn search(&self, query: &str, k: usize, allowed: Option<&ChunkSet>) -> Result<Vec<(u32, f32)>> {
        let lookups: Vec<Lookup> = query_terms(query).iter().map(Lookup::exact).collect();
        let scores = self.scores(&lookups, allowed)?;
        let mut hits: Vec<(u32, f32)> = scores.passages.iter().map(|p| (p.chunk, p.score)).collect();
        hits.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        hits.truncate(k);
        Ok(hits)
    }

    /// The score of every passage that has one of the words.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn scores(&self, words: &[Lookup], allowed: Option<&ChunkSet>) -> Result<Scores> {
        let mut sums = vec![[0.0_f32; 2]; self.len()];
        let mut found = Found::new(self.len());
        let mut idf = Vec::with_capacity(words.len());
        let mut attainable = 0.0;
        for word in words {
            for (term, factor) in &word.forms {
                self.frequencies(term, *factor, word.unfinished, &mut found)?;
            }
            let own = self.idf(found.touched.len());
            idf.push(own);
            let weight = word.weight * own;
            attainable += weight;
            let certain = weight * word.certainty();
            for chunk in found.touched.drain(..) {
                let chunk = chunk as usize;
                let x = std::mem::take(&mut found.frequency[chunk]);
                let [score, matched] = &mut sums[chunk];
                *score += weight * x / (self.parameters.k1 + x);
                *matched += certain;
            }
        }
        let passages = (0..self.chunks)
            .zip(sums)
            .filter(|(c, s)| s[0] > 0.0 && allowed.is_none_or(|a| a.contains(*c)))
            .map(|(chunk, [score, matched])| Scored { chunk, score, matched: matched / attainable })
            .collect();
        Ok(Scores { passages, idf })
    }

    /// Inverse document frequency of a term that is in `count` passages: above 0, at most about
    /// ln(2 · passages + 2).
    pub fn idf(&self, count: usize) -> f32 {
        let (n, df) = (self.chunks as f32, count as f32);
        libm::logf(1.0 + (n - df + 0.5).max(0.0) / (df + 0.5))
    }

    /// How many passages have `term` in any field.
    ///
    /// # Errors
    /// As [`Self::search`].
    pub fn document_frequency(&self, term: &str) -> Result<usize> {
        let mut found = Found::new(self.len());
        self.frequencies(term, 1.0, false, &mut found)?;
        Ok(found.touched.len())
    }

    /// Adds the weighted frequency of `term`, times `own_factor`, for each passage that has it. A single character of a
    /// script without spaces is found by what it begins or ends, an `unfinished` one by what it begins.
    fn frequencies(&self, term: &str, own_factor: f32, unfinished: bool, found: &mut Found) -> Result<()> {
        let mut bytes = Vec::with_capacity(term.len());
        alphabet::encode(term, &mut bytes);
        let mut chars = term.chars();
        let single = chars.next().is_some_and(is_unspaced) && chars.next().is_none();
        for (f, field) in self.fields.iter().enumerate() {
            let (weight, b) = (self.parameters.weights[f], self.parameters.b[f]);
            if weight <= 0.0 {
                continue;
            }
            let units = self.units.get(f);
            let mut add = |unit: u32, tf: u32, factor: f32| {
                let length = field.lengths.get(unit as usize).copied().unwrap_or(0) as f32;
                let x = own_factor * weight * factor * tf as f32 / (1.0 - b + b * length / field.mean_length);
                for chunk in chunks_of(units, unit) {
                    found.add(chunk, x);
                }
            };
            if single {
                let prefix: &[u8] = if unfinished { &bytes } else { &[] };
                let share = |t: &[u8]| share_of(&bytes, t).filter(|_| !unfinished || t.starts_with(&bytes));
                field.postings_where(&self.bytes, prefix, share, &mut add)?;
            } else {
                field.postings(&self.bytes, &bytes, &mut |unit, tf| add(unit, tf, 1.0))?;
            }
        }
        Ok(())
    }

    /// Reads everything once.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for damaged terms or postings.
    pub fn check(&self) -> Result<()> {
        self.fields.iter().try_for_each(|f| f.walk(&self.bytes, |_, _, _| {}))
    }

    /// Number of distinct terms of the text field.
    pub fn term_count(&self) -> usize {
        self.fields[FieldKind::Text as usize].terms as usize
    }
}

/// The passages that a word was found in.
struct Found {
    /// Weighted frequency for each passage.
    frequency: Vec<f32>,
    /// Passages with a frequency above 0.
    touched: Vec<u32>,
}

impl Found {
    fn new(passages: usize) -> Self {
        Self { frequency: vec![0.0; passages], touched: Vec::new() }
    }

    fn add(&mut self, chunk: u32, x: f32) {
        if let Some(sum) = self.frequency.get_mut(chunk as usize) {
            if *sum == 0.0 {
                self.touched.push(chunk);
            }
            *sum += x;
        }
    }
}

/// What a term says about a single character of a script without spaces: itself fully, a bigram that
/// begins or ends with it by half, because most occurrences are in two bigrams.
fn share_of(character: &[u8], term: &[u8]) -> Option<f32> {
    if term == character {
        return Some(1.0);
    }
    // Only bigrams are as long: identifiers never mix scripts.
    let is_bigram = term.len() == 2 * character.len();
    let ends = [term.starts_with(character), term.ends_with(character)];
    (is_bigram && ends.contains(&true)).then(|| if ends == [true, true] { 1.0 } else { 0.5 })
}

/// The passages that share a unit; for the text field a unit is a passage.
fn chunks_of(units: Option<&Vec<u32>>, unit: u32) -> std::ops::Range<u32> {
    match units {
        None => unit..unit + 1,
        Some(list) => list.partition_point(|u| *u < unit) as u32..list.partition_point(|u| *u <= unit) as u32,
    }
}

/// Unit of each passage, from the bits that say where a new one starts.
fn read_units(bits: &[u8], chunks: u32) -> Vec<u32> {
    let mut unit = 0_u32;
    (0..chunks as usize)
        .map(|i| {
            if i > 0 && bits.get(i / 8).is_some_and(|b| b >> (i % 8) & 1 == 1) {
                unit += 1;
            }
            unit
        })
        .collect()
}

#[cfg(all(test, feature = "build"))]
mod tests;
