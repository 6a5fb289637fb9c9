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
            if self.bits % 8 == 0 {
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

    /// Rice code of `value`: its high part in ones, a zero, its low `k` bits.
    pub fn put_rice(&mut self, value: u32, k: u32) {
        for _ in 0..value >> k {
            self.put(1, 1);
        }
        self.put(0, 1);
        self.put(value, k);
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

    /// A number that [`BitWriter::put_rice`] wrote with the same `k`, if it is at most `max`.
    pub fn rice(&mut self, k: u32, max: u32) -> Result<u32> {
        let mut high = 0;
        loop {
            let ones = self.window().trailing_ones().min(32);
            self.skip(ones as usize)?;
            high += ones;
            if high > max >> k {
                return Err(corrupt("postings go past the last passage"));
            }
            if ones < 32 {
                break;
            }
        }
        self.skip(1)?;
        let value = high << k | self.take(k)?;
        if value > max { Err(corrupt("postings go past the last passage")) } else { Ok(value) }
    }
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
            let written: String = (0..w.len()).map(|i| if w.bytes[i / 8] >> (i % 8) & 1 == 1 { '1' } else { '0' }).collect();
            assert_eq!(written, bits);
        }
    }

    proptest! {
        #[test]
        fn numbers_survive(values in proptest::collection::vec((0..5_u32, any::<u32>()), 0..60)) {
            let mut w = BitWriter::default();
            let mut bytes = Vec::new();
            for &(k, v) in &values {
                put_varint(&mut bytes, v);
                w.put_gamma(v.max(1));
                w.put_rice(v % 1_000, k);
                w.put(v, 32);
            }
            let (mut r, mut b) = (BitReader::new(&w.bytes), Bytes(&bytes));
            for &(k, v) in &values {
                prop_assert_eq!(b.varint()?, v);
                prop_assert_eq!(r.gamma()?, v.max(1));
                prop_assert_eq!(r.rice(k, 999)?, v % 1_000);
                prop_assert_eq!(r.take(32)?, v);
            }
            prop_assert!(b.0.is_empty() && r.skip(8).is_err());
        }
    }
}
