//! Passages that say nearly the same: copies of a page, boilerplate that every page carries.

use super::KnowledgeBase;
use crate::chunk::plain_passage;
use crate::text::tokenize;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

/// Two passages with this share of their word sequences in common are one (Broder's resemblance, 1997).
const SAME: f32 = 0.9;
/// Words in a sequence.
const SEQUENCE: usize = 4;
/// Shorter passages are compared whole.
const MAX_SEQUENCES: usize = 4000;

/// The passages that are hits already.
#[derive(Default)]
pub(super) struct Seen {
    /// Place of the hit, and its sequences in order, each once.
    sequences: Vec<(usize, Vec<u64>)>,
}

impl Seen {
    /// The place of the hit that says nearly the same as `chunk`; else remembers `chunk` as the hit at
    /// `place`. A passage whose text is not loaded is like no other.
    pub(super) fn same_as(&mut self, base: &KnowledgeBase, chunk: u32, place: usize) -> Option<usize> {
        let own = sequences(base, chunk)?;
        if let Some((at, _)) = self.sequences.iter().find(|(_, other)| resemblance(&own, other) >= SAME) {
            return Some(*at);
        }
        self.sequences.push((place, own));
        None
    }
}

fn sequences(base: &KnowledgeBase, chunk: u32) -> Option<Vec<u64>> {
    let passage = base.chunks().get(chunk as usize)?;
    let document = base.document_of(chunk)?;
    if !base.has_text(passage.doc) {
        return None;
    }
    let mut words: Vec<u64> = Vec::new();
    tokenize(&plain_passage(document, passage).text, |token| {
        if token.kind.counts() {
            words.push(hash(token.term));
        }
    });
    let mut set: Vec<u64> = words.windows(SEQUENCE).take(MAX_SEQUENCES).map(hash).collect();
    if set.is_empty() {
        set.push(hash(words.as_slice()));
    }
    set.sort_unstable();
    set.dedup();
    Some(set)
}

/// The share of both sets' members that both have.
fn resemblance(a: &[u64], b: &[u64]) -> f32 {
    let (small, large) = if a.len() < b.len() { (a, b) } else { (b, a) };
    // Sets of very different size cannot be alike.
    if (small.len() as f32) < SAME * large.len() as f32 {
        return 0.0;
    }
    let common = small.iter().filter(|x| large.binary_search(x).is_ok()).count();
    common as f32 / (a.len() + b.len() - common).max(1) as f32
}

/// Only whether two are equal matters, so that the numbers may differ between machines.
fn hash<T: Hash + ?Sized>(value: &T) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
