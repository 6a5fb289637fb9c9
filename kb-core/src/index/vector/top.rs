//! The best k of a stream of candidates.

use crate::search::VectorHit;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Cosines are ordered in steps of 1e-4: differences below that are not the same on every machine,
/// since the question's vector is not.
const STEPS: f32 = 1e4;

/// Keeps the best `k` of what it is offered: the larger cosine in steps of 1e-4, then the smaller index.
pub(super) struct Top {
    k: usize,
    /// The worst on top: its step, its index, its cosine's bits.
    heap: BinaryHeap<Reverse<(i32, Reverse<u32>, u32)>>,
    /// Nothing below this can enter; −∞ until the heap is full.
    floor: f32,
}

impl Top {
    pub(super) fn new(k: usize) -> Self {
        Self { k, heap: BinaryHeap::with_capacity(k.min(1024) + 1), floor: f32::NEG_INFINITY }
    }

    #[inline]
    pub(super) fn offer(&mut self, chunk: u32, score: f32) {
        if score >= self.floor && self.k > 0 {
            self.insert(chunk, score);
        }
    }

    fn insert(&mut self, chunk: u32, score: f32) {
        let step = (score * STEPS).round_ties_even() as i32;
        self.heap.push(Reverse((step, Reverse(chunk), score.to_bits())));
        if self.heap.len() > self.k {
            self.heap.pop();
        }
        if self.heap.len() == self.k
            && let Some(Reverse((worst, ..))) = self.heap.peek()
        {
            // A step further down, so that rounding never shuts out an equal.
            self.floor = (*worst - 1) as f32 / STEPS;
        }
    }

    /// What was kept, best first.
    pub(super) fn into_hits(self) -> Vec<VectorHit> {
        let hit = |Reverse((_, Reverse(chunk), bits))| VectorHit { chunk, score: f32::from_bits(bits) };
        self.heap.into_sorted_vec().into_iter().map(hit).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_sorting_everything() {
        let mut state = 1u32;
        let scores: Vec<f32> = (0..500)
            .map(|_| {
                state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // Few distinct values, so that ties abound; both signs.
                ((state >> 20) % 40) as f32 * 0.05 - 1.0 + (state >> 30) as f32 * 1e-5
            })
            .collect();
        let mut all: Vec<(i32, u32)> =
            scores.iter().enumerate().map(|(i, s)| (-((s * 1e4).round_ties_even() as i32), i as u32)).collect();
        all.sort_unstable();
        for k in [0, 1, 7, 100, 499, 500, 1000] {
            let mut top = Top::new(k);
            scores.iter().enumerate().for_each(|(i, s)| top.offer(i as u32, *s));
            let hits = top.into_hits();
            let expected: Vec<u32> = all.iter().take(k).map(|(_, i)| *i).collect();
            assert_eq!(hits.iter().map(|h| h.chunk).collect::<Vec<_>>(), expected, "k = {k}");
            assert!(hits.iter().all(|h| h.score == scores[h.chunk as usize]));
        }
    }
}
