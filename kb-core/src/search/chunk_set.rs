//! A set of passages.

/// A set of chunk indices below a fixed number, as one bit each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChunkSet {
    words: Vec<u64>,
    /// Indices are below this.
    universe: u32,
    len: usize,
}

impl ChunkSet {
    /// An empty set for indices below `universe`.
    pub fn new(universe: usize) -> Self {
        let universe = u32::try_from(universe).unwrap_or(u32::MAX);
        Self { words: vec![0; (universe as usize).div_ceil(64)], universe, len: 0 }
    }

    /// Adds `chunk`; an index that is not below the universe is ignored.
    pub fn insert(&mut self, chunk: u32) {
        if chunk >= self.universe {
            return;
        }
        if let Some(word) = self.words.get_mut(chunk as usize / 64) {
            let bit = 1 << (chunk % 64);
            self.len += usize::from(*word & bit == 0);
            *word |= bit;
        }
    }

    /// Whether `chunk` is in the set.
    pub fn contains(&self, chunk: u32) -> bool {
        self.words.get(chunk as usize / 64).is_some_and(|word| word >> (chunk % 64) & 1 == 1)
    }

    /// The set as bytes: index `i` is bit `i % 8` of byte `i / 8`, counted from the lowest.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.words.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate((self.universe as usize).div_ceil(8));
        bytes
    }

    /// A set from [`Self::to_bytes`]; bits at or over `universe` are ignored.
    pub fn from_bytes(bytes: &[u8], universe: usize) -> Self {
        let mut set = Self::new(universe);
        for (word, bytes) in set.words.iter_mut().zip(bytes.chunks(8)) {
            let mut whole = [0; 8];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u64::from_le_bytes(whole);
        }
        let spare = set.words.len() * 64 - set.universe as usize;
        if let Some(last) = set.words.last_mut() {
            *last &= u64::MAX >> spare;
        }
        set.len = set.words.iter().map(|word| word.count_ones() as usize).sum();
        set
    }

    /// How many are in the set.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether none is.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The members, ascending.
    pub fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        (0..self.universe).filter(|c| self.contains(*c))
    }
}

#[cfg(test)]
mod tests {
    use super::ChunkSet;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn is_a_set(universe in 0..200_usize, items in proptest::collection::vec(0..300_u32, 0..50)) {
            let mut set = ChunkSet::new(universe);
            items.iter().for_each(|i| set.insert(*i));
            let expected: BTreeSet<u32> = items.iter().copied().filter(|i| (*i as usize) < universe).collect();
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), expected.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(set.len(), expected.len());
            prop_assert!((0..300).all(|i| set.contains(i) == expected.contains(&i)));
            prop_assert_eq!(ChunkSet::from_bytes(&set.to_bytes(), universe), set);
        }

        #[test]
        fn any_bytes_give_a_set(universe in 0..200_usize, bytes in proptest::collection::vec(proptest::num::u8::ANY, 0..40)) {
            let set = ChunkSet::from_bytes(&bytes, universe);
            let bit = |i: usize| bytes.get(i / 8).is_some_and(|byte| byte >> (i % 8) & 1 == 1);
            let expected: Vec<u32> = (0..universe).filter(|i| bit(*i)).map(|i| i as u32).collect();
            prop_assert_eq!(set.len(), expected.len());
            prop_assert_eq!(set.iter().collect::<Vec<_>>(), expected);
        }
    }
}
