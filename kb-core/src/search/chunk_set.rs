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
        }
    }
}
