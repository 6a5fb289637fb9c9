//! One field's inverted file: a sorted dictionary in blocks, and bit-packed postings.
//!
//! Layout: units, terms (varints); the length of each unit (varints); for each block of 16 terms the
//! bytes of its terms and of its postings (varints); the terms; the postings.
//! - A term, in the [`super::alphabet`], is one byte with the number of bytes shared with the term before (high four bits, 15: a
//!   varint of the rest follows) and of new bytes (low four bits, likewise), then the new bytes. The
//!   first term of a block shares nothing.
//! - The postings of a block follow one another bit by bit: how many (gamma); if 32 or more, how many
//!   bits follow (gamma); then the units (binary interpolation between the first and the last unit of the
//!   field); then the frequency in each (gamma).
//!
//! A large field comes in parts of consecutive blocks. Its head has, in place of blocks, the number of parts (varint) and
//! of each its terms (varint) and its first term (length as a varint, bytes); a part has what follows the lengths above.
//! Another field may be cut at the same terms: its head has the number of terms of each part alone.
//! What a search would have read in a part that has not come is empty, and [`Field::wanted`] tells that part.

use super::bits::{BitReader, Bytes, corrupt};
use crate::Result;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

/// Terms in a block.
pub(super) const BLOCK: usize = 16;
/// From this many postings on a list says how long it is, so that it can be skipped.
pub(super) const LONG_LIST: u32 = 32;

/// A field that was read. It holds offsets only; terms and postings stay in the index's bytes or in the parts'.
#[derive(Debug)]
pub(super) struct Field {
    /// Length of each unit in tokens that count.
    pub lengths: Vec<u32>,
    /// Their mean; 1 if there is nothing to divide.
    pub mean_length: f32,
    /// Number of terms.
    pub terms: u32,
    parts: Vec<Part>,
}

/// A run of blocks.
#[derive(Debug)]
struct Part {
    /// Its first term, or the smallest that it may have; empty for the only part of a field.
    first: Vec<u8>,
    terms: u32,
    /// Its bytes, unless they are the index's own.
    bytes: Option<Vec<u8>>,
    /// Where each block's terms and postings begin in the bytes; one more entry at the end. Nothing until it has come.
    blocks: Vec<(u32, u32)>,
    wanted: AtomicBool,
}

impl Part {
    /// Whether it has come; if not, it is wanted from now on.
    fn is_here(&self) -> bool {
        if self.blocks.is_empty() {
            self.wanted.store(true, Ordering::Relaxed);
        }
        !self.blocks.is_empty()
    }

    fn block_count(&self) -> usize {
        self.blocks.len().saturating_sub(1)
    }

    /// The bytes, `shared` being the index's own.
    fn bytes<'b>(&'b self, shared: &'b [u8]) -> &'b [u8] {
        self.bytes.as_deref().unwrap_or(shared)
    }

    fn block_terms<'b>(&'b self, shared: &'b [u8], block: usize) -> Result<TermReader<'b>> {
        let (Some(from), Some(to)) = (self.blocks.get(block), self.blocks.get(block + 1)) else {
            return Err(corrupt("a block is missing"));
        };
        let bytes = self.bytes(shared).get(from.0 as usize..to.0 as usize);
        let left = (self.terms as usize).saturating_sub(block * BLOCK).min(BLOCK);
        Ok(TermReader { input: Bytes(bytes.ok_or_else(|| corrupt("a block is missing"))?), term: Vec::new(), left })
    }

    fn block_postings<'b>(&'b self, shared: &'b [u8], block: usize) -> Result<BitReader<'b>> {
        let (Some(from), Some(to)) = (self.blocks.get(block), self.blocks.get(block + 1)) else {
            return Err(corrupt("a block is missing"));
        };
        let bytes = self.bytes(shared).get(from.1 as usize..to.1 as usize);
        Ok(BitReader::new(bytes.ok_or_else(|| corrupt("a block is missing"))?))
    }

    /// The block that has `term` if any has it: the last one whose first term is not larger.
    fn block_of(&self, shared: &[u8], term: &[u8]) -> Result<Option<usize>> {
        let (mut low, mut high) = (0, self.block_count());
        while low < high {
            let middle = (low + high) / 2;
            let mut terms = self.block_terms(shared, middle)?;
            let first = terms.next()?.ok_or_else(|| corrupt("a block is empty"))?;
            if first <= term {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        Ok(low.checked_sub(1))
    }
}

/// Reads where the blocks of `terms` terms begin in `bytes[range]`, which has their sizes, terms and postings.
fn read_blocks(bytes: &[u8], range: Range<usize>, terms: usize) -> Result<Vec<(u32, u32)>> {
    let mut input = Bytes(bytes.get(range.clone()).ok_or_else(|| corrupt("ends early"))?);
    let count = terms.div_ceil(BLOCK);
    if count > input.0.len() {
        return Err(corrupt("ends early"));
    }
    let mut sizes = Vec::with_capacity(count);
    let mut all_terms = 0_u64;
    for _ in 0..count {
        let size = (input.varint()?, input.varint()?);
        all_terms += u64::from(size.0);
        sizes.push(size);
    }
    let start = (range.end - input.0.len()) as u64;
    let (mut term_at, mut posting_at) = (start, start + all_terms);
    let mut blocks = Vec::with_capacity(count + 1);
    for size in sizes.iter().chain([&(0, 0)]) {
        let entry = (u32::try_from(term_at), u32::try_from(posting_at));
        let (Ok(t), Ok(p)) = entry else { return Err(corrupt("larger than 4 GiB")) };
        blocks.push((t, p));
        term_at += u64::from(size.0);
        posting_at += u64::from(size.1);
    }
    if posting_at != range.end as u64 {
        return Err(corrupt("a field has another length than its parts"));
    }
    Ok(blocks)
}

/// Where the blocks of a field are.
#[derive(Clone, Copy)]
pub(super) enum Blocks<'f> {
    /// Behind its lengths.
    Here,
    /// In parts that come later.
    Apart,
    /// In parts that begin with the same terms as those of another field.
    AsIn(&'f Field),
}

impl Field {
    /// Reads the offsets of the field that takes up `bytes[range]`.
    pub fn read(bytes: &[u8], range: Range<usize>, place: Blocks<'_>) -> Result<Self> {
        let mut input = Bytes(bytes.get(range.clone()).ok_or_else(|| corrupt("ends early"))?);
        let units = input.count()?;
        let terms = input.varint()?;
        let lengths = (0..units).map(|_| input.varint()).collect::<Result<Vec<_>>>()?;
        let sum: u64 = lengths.iter().map(|l| u64::from(*l)).sum();
        let mean_length = if sum == 0 { 1.0 } else { sum as f32 / units as f32 };
        let mut parts = Vec::new();
        let part = |first, terms, blocks| Part { first, terms, bytes: None, blocks, wanted: AtomicBool::default() };
        if matches!(place, Blocks::Here) {
            let blocks = read_blocks(bytes, range.end - input.0.len()..range.end, terms as usize)?;
            parts.push(part(Vec::new(), terms, blocks));
        } else {
            let count = if let Blocks::AsIn(other) = place { other.parts.len() } else { input.count()? };
            for i in 0..count {
                let terms = input.varint()?;
                let first = match place {
                    // Before the other field's first term there may be some of this one.
                    Blocks::AsIn(other) => {
                        other.parts.get(i).filter(|_| i > 0).map_or(Vec::new(), |part| part.first.clone())
                    }
                    _ => {
                        let length = input.varint()? as usize;
                        input.take(length)?.to_vec()
                    }
                };
                if parts.last().is_some_and(|p: &Part| p.first >= first) {
                    return Err(corrupt("terms are not in order"));
                }
                parts.push(part(first, terms, Vec::new()));
            }
            if parts.iter().map(|p| u64::from(p.terms)).sum::<u64>() != u64::from(terms) || !input.0.is_empty() {
                return Err(corrupt("a field has another length than its parts"));
            }
        }
        Ok(Self { lengths, mean_length, terms, parts })
    }

    /// How many parts it has.
    pub fn part_count(&self) -> usize {
        self.parts.len()
    }

    /// Takes a part that has come; `exact` where its first term is known.
    pub fn add_part(&mut self, index: usize, bytes: Vec<u8>, exact: bool) -> Result<()> {
        let part = self.parts.get_mut(index).ok_or_else(|| corrupt("a block is missing"))?;
        let blocks = read_blocks(&bytes, 0..bytes.len(), part.terms as usize)?;
        let (bytes, blocks) = (Some(bytes), blocks);
        let new = Part {
            first: std::mem::take(&mut part.first),
            bytes,
            blocks,
            terms: part.terms,
            wanted: AtomicBool::default(),
        };
        *part = new;
        if part.terms == 0 && !exact {
            return Ok(());
        }
        let mut terms = part.block_terms(&[], 0)?;
        let begins = terms.next()?.map(|term| term.cmp(&part.first));
        if begins.is_some_and(|order| order.is_eq() || (order.is_gt() && !exact)) {
            return Ok(());
        }
        part.blocks.clear();
        Err(corrupt("terms are not in order"))
    }

    /// The parts that were asked for since the last time and have not come.
    pub fn wanted(&self) -> Vec<u32> {
        (0..).zip(&self.parts).filter(|(_, part)| part.wanted.swap(false, Ordering::Relaxed)).map(|(i, _)| i).collect()
    }

    /// The part that has `term` if any has it: the last one whose first term is not larger.
    fn part_of(&self, term: &[u8]) -> usize {
        self.parts.partition_point(|p| p.first.as_slice() <= term).saturating_sub(1)
    }

    /// Passes unit and frequency of every posting of `term` to `sink`, units ascending.
    pub fn postings(&self, bytes: &[u8], term: &[u8], sink: &mut dyn FnMut(u32, u32)) -> Result<()> {
        match self.list_of(bytes, term)? {
            Some(mut postings) => self.read_list(&mut postings, sink),
            None => Ok(()),
        }
    }

    /// Whether the part that `term` would be in has come.
    pub fn can_tell(&self, term: &[u8]) -> bool {
        self.parts.get(self.part_of(term)).is_none_or(Part::is_here)
    }

    /// How many postings `term` has.
    pub fn posting_count(&self, bytes: &[u8], term: &[u8]) -> Result<u32> {
        match self.list_of(bytes, term)? {
            Some(mut postings) => Ok(self.head(&mut postings)?.0),
            None => Ok(0),
        }
    }

    /// Where the postings of `term` begin, if there are any.
    fn list_of<'b>(&'b self, bytes: &'b [u8], term: &[u8]) -> Result<Option<BitReader<'b>>> {
        let Some(part) = self.parts.get(self.part_of(term)).filter(|p| p.is_here()) else { return Ok(None) };
        let Some(block) = part.block_of(bytes, term)? else { return Ok(None) };
        let mut terms = part.block_terms(bytes, block)?;
        let mut before = 0;
        while let Some(found) = terms.next()? {
            if found == term {
                let mut postings = part.block_postings(bytes, block)?;
                for _ in 0..before {
                    self.skip_list(&mut postings)?;
                }
                return Ok(Some(postings));
            }
            if found > term {
                break;
            }
            before += 1;
        }
        Ok(None)
    }

    /// Goes through all terms, or those that begin with `prefix` and some around them; passes the postings of those that
    /// `choose` gives a factor, and the factor.
    pub fn postings_where(
        &self,
        bytes: &[u8],
        prefix: &[u8],
        choose: impl Fn(&[u8]) -> Option<f32>,
        sink: &mut impl FnMut(u32, u32, f32),
    ) -> Result<()> {
        let is_behind = |term: &[u8]| term > prefix && !term.starts_with(prefix);
        for part in self.parts.iter().skip(self.part_of(prefix)) {
            if is_behind(&part.first) {
                break;
            }
            if !part.is_here() {
                continue;
            }
            for block in part.block_of(bytes, prefix)?.unwrap_or(0)..part.block_count() {
                let mut terms = part.block_terms(bytes, block)?;
                let mut factors = [None; BLOCK];
                for (n, factor) in factors.iter_mut().enumerate() {
                    match terms.next()? {
                        Some(term) if n == 0 && is_behind(term) => return Ok(()),
                        Some(term) => *factor = choose(term),
                        None => break,
                    }
                }
                // The postings of most blocks need not be looked at.
                let Some(last) = factors.iter().rposition(Option::is_some) else { continue };
                let mut postings = part.block_postings(bytes, block)?;
                for factor in &factors[..=last] {
                    match *factor {
                        Some(factor) => self.read_list(&mut postings, &mut |unit, tf| sink(unit, tf, factor))?,
                        None => self.skip_list(&mut postings)?,
                    }
                }
            }
        }
        Ok(())
    }

    /// Passes every term from `from` on to `sink`, in order, until it says no.
    pub fn terms_from(&self, bytes: &[u8], from: &[u8], sink: &mut dyn FnMut(&[u8]) -> bool) -> Result<()> {
        for part in self.parts.iter().skip(self.part_of(from)) {
            // The first term is known of a part that has not come.
            let known = part.blocks.is_empty() && !part.first.is_empty();
            if known && part.first.as_slice() >= from && !sink(&part.first) {
                return Ok(());
            }
            if !part.is_here() {
                continue;
            }
            for block in part.block_of(bytes, from)?.unwrap_or(0)..part.block_count() {
                let mut terms = part.block_terms(bytes, block)?;
                while let Some(term) = terms.next()? {
                    if term >= from && !sink(term) {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    fn head(&self, postings: &mut BitReader<'_>) -> Result<(u32, usize)> {
        let count = postings.gamma()?;
        if count as usize > self.lengths.len() {
            return Err(corrupt("more postings than passages"));
        }
        let bits = if count >= LONG_LIST { postings.gamma()? as usize } else { 0 };
        Ok((count, bits))
    }

    fn skip_list(&self, postings: &mut BitReader<'_>) -> Result<()> {
        let (count, bits) = self.head(postings)?;
        if bits > 0 { postings.skip(bits) } else { self.read_postings(postings, count, &mut |_, _| {}) }
    }

    fn read_list(&self, postings: &mut BitReader<'_>, sink: &mut dyn FnMut(u32, u32)) -> Result<()> {
        let (count, _) = self.head(postings)?;
        self.read_postings(postings, count, sink)
    }

    fn read_postings(&self, postings: &mut BitReader<'_>, count: u32, sink: &mut dyn FnMut(u32, u32)) -> Result<()> {
        // `head` has checked that there are as many units, so there is at least one.
        let mut units = Vec::with_capacity(count as usize);
        postings.ascending(count, 0, self.lengths.len() as u32 - 1, &mut units)?;
        for unit in units {
            sink(unit, postings.gamma()?);
        }
        Ok(())
    }

    /// Walks through everything that is here once: for checks and statistics.
    pub fn walk(&self, bytes: &[u8], mut sink: impl FnMut(&[u8], u32, u32)) -> Result<()> {
        let mut last: Option<Vec<u8>> = None;
        for part in &self.parts {
            for block in 0..part.block_count() {
                let mut terms = part.block_terms(bytes, block)?;
                let mut postings = part.block_postings(bytes, block)?;
                while let Some(term) = terms.next()? {
                    if last.as_deref().is_some_and(|last| term <= last) {
                        return Err(corrupt("terms are not in order"));
                    }
                    let term = last.insert(term.to_vec());
                    self.read_list(&mut postings, &mut |unit, tf| sink(term, unit, tf))?;
                }
            }
        }
        Ok(())
    }
}

/// Reads the terms of a block.
struct TermReader<'a> {
    input: Bytes<'a>,
    term: Vec<u8>,
    left: usize,
}

impl TermReader<'_> {
    fn next(&mut self) -> Result<Option<&[u8]>> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        let head = self.input.take(1)?[0];
        let mut number = |nibble: u8| match nibble {
            15 => self.input.varint().map(|n| n as usize + 15),
            n => Ok(n as usize),
        };
        let (shared, new) = (number(head >> 4)?, number(head & 15)?);
        if shared > self.term.len() {
            return Err(corrupt("a term shares more than there is"));
        }
        self.term.truncate(shared);
        self.term.extend_from_slice(self.input.take(new)?);
        Ok(Some(&self.term))
    }
}
