//! Bits and variable-length numbers, written and read side by side. Every read is checked.

use crate::{Error, ErrorKind, Result};

/// The error of bytes that no builder wrote.
pub(super) fn corrupt(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("lexical index: {what}"))
}

/// Appends `value` in groups of seven bits, lowest first (LEB128).
#[cfg(feature = "build")]
pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads bytes from the front.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub &'a [u8]);

impl<'a> Bytes<'a> {
    /// The next number that [`put_varint`] wrote.
    pub fn varint(&mut self) -> Result<u32> {
        let mut value = 0_u64;
        for shift in (0..35).step_by(7) {
            let byte = *self.take(1)?.first().ok_or_else(|| corrupt("ends early"))?;
            value |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return u32::try_from(value).map_err(|_| corrupt("number too large"));
            }
        }
        Err(corrupt("number too long"))
    }

    /// A number of things of which each takes at least one of the bytes left: a limit that no
    /// allocation can be talked past.
    pub fn count(&mut self) -> Result<usize> {
        let count = self.varint()? as usize;
        if count > self.0.len() { Err(corrupt("count is larger than what follows")) } else { Ok(count) }
    }

    /// The next `length` bytes.
    pub fn take(&mut self, length: usize) -> Result<&'a [u8]> {
        let (head, tail) = self.0.split_at_checked(length).ok_or_else(|| corrupt("ends early"))?;
        self.0 = tail;
        Ok(head)
    }
}

/// Collects bits, the first one in the lowest place.
#[cfg(feature = "build")]
#[derive(Default)]
pub(super) struct BitWriter {
    pub bytes: Vec<u8>,
    bits: usize,
}

#[cfg(feature = "build")]
impl BitWriter {
    /// Appends the lowest `count` bits of `value`, at most 32.
    pub fn put(&mut self, value: u32, count: u32) {
        for i in 0..count {
            if self.bits.is_multiple_of(8) {
                self.bytes.push(0);
            }
            if let Some(last) = self.bytes.last_mut() {
                *last |= ((value >> i & 1) as u8) << (self.bits % 8);
            }
            self.bits += 1;
        }
    }

    /// Elias gamma code of `value`, 1 or more: as many zeros as bits follow the leading one, then the
    /// one, then those bits.
    pub fn put_gamma(&mut self, value: u32) {
        let extra = value.max(1).ilog2();
        self.put(0, extra);
        self.put(1, 1);
        self.put(value, extra);
    }

    /// `value`, one of `0..choices`, in the fewest bits: truncated binary code.
    pub fn put_choice(&mut self, value: u32, choices: u32) {
        let (bits, short) = choice_code(choices);
        if value < short {
            // High bit last, so that the reader can ask for it when it needs it.
            self.put(value, bits);
        } else {
            let shifted = value + short;
            self.put(shifted >> 1, bits);
            self.put(shifted, 1);
        }
    }

    /// Ascending `values` from `low..=high` by binary interpolation (Moffat and Stuiver 2000): the
    /// middle one, then those before, then those after; ranges that are full take no bits.
    pub fn put_ascending(&mut self, values: &[u32], low: u32, high: u32) {
        let count = values.len() as u32;
        if count == 0 || count == high - low + 1 {
            return;
        }
        let middle = count / 2;
        let value = values[middle as usize];
        self.put_choice(value - low - middle, high - low + 2 - count);
        self.put_ascending(&values[..middle as usize], low, value.wrapping_sub(1));
        self.put_ascending(&values[middle as usize + 1..], value + 1, high);
    }

    /// Bits so far.
    pub fn len(&self) -> usize {
        self.bits
    }

    /// Appends all bits of `other`.
    pub fn append(&mut self, other: &BitWriter) {
        for i in 0..other.bits {
            self.put(u32::from(other.bytes[i / 8] >> (i % 8) & 1), 1);
        }
    }
}

/// Reads what a [`BitWriter`] wrote.
pub(super) struct BitReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> BitReader<'a> {
    /// From the first bit of `bytes` on.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Up to 57 bits from here on, zeros after the end.
    fn window(&self) -> u64 {
        let first = self.at / 8;
        let mut eight = [0; 8];
        if let Some(bytes) = self.bytes.get(first..first + 8) {
            eight.copy_from_slice(bytes);
        } else if let Some(rest) = self.bytes.get(first..) {
            eight[..rest.len()].copy_from_slice(rest);
        }
        u64::from_le_bytes(eight) >> (self.at % 8)
    }

    /// Goes `count` bits on.
    pub fn skip(&mut self, count: usize) -> Result<()> {
        self.at = self.at.saturating_add(count);
        if self.at > self.bytes.len() * 8 { Err(corrupt("postings end early")) } else { Ok(()) }
    }

    /// The next `count` bits, at most 32.
    pub fn take(&mut self, count: u32) -> Result<u32> {
        let value = self.window() & ((1_u64 << count) - 1);
        self.skip(count as usize)?;
        Ok(value as u32)
    }

    /// A number that [`BitWriter::put_gamma`] wrote, 1 or more.
    pub fn gamma(&mut self) -> Result<u32> {
        let zeros = self.window().trailing_zeros();
        if zeros > 31 {
            return Err(corrupt("postings hold too large a number"));
        }
        self.skip(zeros as usize + 1)?;
        Ok(1 << zeros | self.take(zeros)?)
    }

    /// A number that [`BitWriter::put_choice`] wrote.
    fn choice(&mut self, choices: u32) -> Result<u32> {
        let (bits, short) = choice_code(choices);
        let value = self.take(bits)?;
        if value < short { Ok(value) } else { Ok((value << 1 | self.take(1)?) - short) }
    }

    /// Passes to `out` what [`BitWriter::put_ascending`] wrote. `count` must be at most the size of
    /// `low..=high`; then all values are inside, whatever the bits are.
    pub fn ascending(&mut self, count: u32, low: u32, high: u32, out: &mut Vec<u32>) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        if count == high - low + 1 {
            out.extend(low..=high);
            return Ok(());
        }
        let middle = count / 2;
        let value = low + middle + self.choice(high - low + 2 - count)?;
        self.ascending(middle, low, value.wrapping_sub(1), out)?;
        out.push(value);
        self.ascending(count - middle - 1, value + 1, high, out)
    }
}

/// Bits of the shorter code words for one of `choices`, and how many values have them.
fn choice_code(choices: u32) -> (u32, u32) {
    let bits = choices.max(1).ilog2();
    // 2^(bits + 1) - choices; in 64 bits because 2^32 may occur.
    (bits, ((2_u64 << bits) - u64::from(choices.max(1))) as u32)
}

#[cfg(all(test, feature = "build"))]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn gamma_codes_are_eliass() {
        // From Elias 1975, table of gamma: 1 → 1, 2 → 010, 5 → 00101; here the extra bits come lowest first.
        for (value, bits) in [(1, "1"), (2, "010"), (3, "011"), (4, "00100"), (5, "00110"), (6, "00101")] {
            let mut w = BitWriter::default();
            w.put_gamma(value);
            let written: String =
                (0..w.len()).map(|i| if w.bytes[i / 8] >> (i % 8) & 1 == 1 { '1' } else { '0' }).collect();
            assert_eq!(written, bits);
        }
    }

    #[test]
    fn choices_take_the_fewest_bits() {
        // One of five: three code words of two bits, two of three.
        let lengths: Vec<usize> = (0..5)
            .map(|value| {
                let mut w = BitWriter::default();
                w.put_choice(value, 5);
                w.len()
            })
            .collect();
        assert_eq!(lengths, [2, 2, 2, 3, 3]);
        let mut w = BitWriter::default();
        w.put_choice(0, 1);
        w.put_ascending(&[3, 4, 5], 3, 5);
        assert_eq!(w.len(), 0);
    }

    proptest! {
        #[test]
        fn lists_survive(set in proptest::collection::btree_set(0..500_u32, 0..80), above in 0..300_u32) {
            let values: Vec<u32> = set.into_iter().collect();
            let high = values.last().map_or(0, |l| *l) + above;
            let mut w = BitWriter::default();
            w.put_ascending(&values, 0, high);
            w.put(5, 3);
            let mut r = BitReader::new(&w.bytes);
            let mut out = Vec::new();
            r.ascending(values.len() as u32, 0, high, &mut out)?;
            prop_assert_eq!(out, values);
            prop_assert_eq!(r.take(3)?, 5);
        }

        #[test]
        fn any_bits_give_values_inside(bytes in proptest::collection::vec(any::<u8>(), 0..40), count in 0..60_u32, more in 0..900_u32) {
            let mut out = Vec::new();
            if count + more > 0 && BitReader::new(&bytes).ascending(count, 7, 6 + count + more, &mut out).is_ok() {
                prop_assert_eq!(out.len() as u32, count);
                prop_assert!(out.is_sorted() && out.iter().all(|v| (7..7 + count + more).contains(v)));
            }
        }

        #[test]
        fn numbers_survive(values in proptest::collection::vec((1..5_000_u32, any::<u32>()), 0..60)) {
            let mut w = BitWriter::default();
            let mut bytes = Vec::new();
            for &(k, v) in &values {
                put_varint(&mut bytes, v);
                w.put_gamma(v.max(1));
                w.put_choice(v % k, k);
                w.put(v, 32);
            }
            let (mut r, mut b) = (BitReader::new(&w.bytes), Bytes(&bytes));
            for &(k, v) in &values {
                prop_assert_eq!(b.varint()?, v);
                prop_assert_eq!(r.gamma()?, v.max(1));
                prop_assert_eq!(r.choice(k)?, v % k);
                prop_assert_eq!(r.take(32)?, v);
            }
            prop_assert!(b.0.is_empty() && r.skip(8).is_err());
        }
    }
}
