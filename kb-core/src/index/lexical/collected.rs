//! The passages of one term while an index is built, in few bytes: a large base has tens of millions of such entries.

use super::bits::{Bytes, put_varint};

/// Units in ascending order, each with how often it has the term.
#[derive(Default)]
pub(super) struct Collected {
    /// What is finished: the distance from the unit before, doubled, plus 1 if a frequency other than 1 follows.
    bytes: Vec<u8>,
    /// The last unit in `bytes`.
    previous: u32,
    /// The unit at hand.
    unit: u32,
    /// How often it has the term; 0 before the first.
    frequency: u32,
}

impl Collected {
    /// `unit`, below 2^28 and not below the one before, has the term once more.
    pub fn add(&mut self, unit: u32) {
        if self.frequency > 0 && self.unit == unit {
            self.frequency += 1;
            return;
        }
        self.put();
        (self.unit, self.frequency) = (unit, 1);
    }

    /// Finishes the unit at hand.
    fn put(&mut self) {
        if self.frequency == 0 {
            return;
        }
        let often = self.frequency > 1;
        put_varint(&mut self.bytes, (self.unit - self.previous) << 1 | u32::from(often));
        if often {
            put_varint(&mut self.bytes, self.frequency);
        }
        self.previous = self.unit;
    }

    /// The units with their frequencies.
    pub fn postings(&self) -> Vec<(u32, u32)> {
        let mut reader = Bytes(&self.bytes);
        let (mut unit, mut all) = (0, Vec::new());
        // What was written here can be read; an end is the end.
        while let Ok(entry) = reader.varint() {
            unit += entry >> 1;
            let frequency = if entry & 1 == 1 { reader.varint().unwrap_or(1) } else { 1 };
            all.push((unit, frequency));
        }
        if self.frequency > 0 {
            all.push((self.unit, self.frequency));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_comes_back() {
        let mut c = Collected::default();
        assert_eq!(c.postings(), []);
        for unit in [0, 0, 5, 6, 6, 6, 300, (1 << 28) - 1] {
            c.add(unit);
        }
        assert_eq!(c.postings(), [(0, 2), (5, 1), (6, 3), (300, 1), ((1 << 28) - 1, 1)]);
        // Distance and frequency of (0, 2), distance of (5, 1), both of (6, 3), two bytes for 294.
        assert_eq!(c.bytes, [1, 2, 10, 3, 3, 0xcc, 0x04]);
    }
}
