//! One ranking from two lists.

use super::options::{FusionMethod, RetrievalOptions};
use super::{Explanation, Mode, VectorHit};
use crate::index::lexical::Scored;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How many candidates the words give at least. A list of hits of length k needs as many as k. The scores of
/// a list are stretched over its candidates: with more of them the best ones would lie closer together.
pub const CANDIDATES: usize = 50;

/// Most candidates of the vectors.
const MAX_VECTOR_CANDIDATES: usize = 200;

/// How many candidates the vectors give in a base of `passages`: a tenth of it, [`CANDIDATES`] at least and 200 at
/// most. All passages have a cosine, so that a few candidates say little about how good the best one is; but
/// in a small base a large share of it would press the best ones together.
pub(super) fn vector_candidates(passages: usize) -> usize {
    (passages / 10).clamp(CANDIDATES, MAX_VECTOR_CANDIDATES)
}

/// Share of the question's weight that the best passage must hold for the words' list to get its whole
/// weight. Below, it shrinks in proportion: the best passage of a question that shares a stray word with
/// the base proves little, however far it is ahead of the next one.
const FULL_COVERAGE: f32 = 0.4;
/// The same for a question in a language that the base hardly speaks: what it shares with a passage is names and
/// numbers, and little of what is asked. Above 1: even a passage with every word gets less than the whole weight.
const FULL_COVERAGE_ACROSS: f32 = 1.2;

/// By how much the last of [`CANDIDATES`] must fall behind the best passage, as a share of its score, for the words'
/// list to get its whole weight. Below, it shrinks in proportion: where fifty passages have nearly the same score, the
/// words do not tell them apart, however the scores are stretched. Chosen on the sets in docs/BENCHMARKS.md.
const FULL_FALL: f32 = 0.55;

/// From this share of its passages on a base speaks a language, in percent. A page of code in a Chinese base is
/// not English, and makes nobody ask in English.
const SPOKEN_PERCENT: usize = 20;

/// Whether a base of `all` passages with `own` of them in a language speaks that language.
pub fn speaks(own: usize, all: usize) -> bool {
    own > 0 && own * 100 >= all * SPOKEN_PERCENT
}

/// What the share of the question's words that a passage has counts beside both lists. Chosen with
/// tests/bench/fit_weights.py; words in the title or near one another added nothing to it.
const COVERAGE_WEIGHT: f32 = 0.1;

/// What a score is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PartName {
    /// BM25.
    Words,
    /// The cosine of question and passage.
    Meaning,
    /// The share of the question's words that the passage has.
    Coverage,
    /// Whether the passage is of a sort that the question asks for.
    Route,
}

/// A number between 0 and 1 and what it counts.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// What it says.
    pub name: PartName,
    /// The number; BM25 or a cosine itself where a single list answers.
    pub value: f32,
    /// Its factor in the sum.
    pub weight: f32,
}

/// A passage with its places in both lists.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fused {
    pub chunk: u32,
    /// The sum of the parts, each times its weight.
    pub score: f32,
    pub lexical: Option<Scored>,
    pub vector: Option<f32>,
    /// Rank among the candidates of each list, from 1.
    pub lexical_rank: Option<usize>,
    pub vector_rank: Option<usize>,
    pub parts: Vec<Part>,
}

impl Fused {
    /// How it came to its score.
    pub(super) fn explanation(&self, folded: Vec<u32>) -> Explanation {
        Explanation {
            chunk: self.chunk,
            lexical_rank: self.lexical_rank,
            lexical_score: self.lexical.map(|s| s.score),
            vector_rank: self.vector_rank,
            vector_score: self.vector,
            parts: self.parts.clone(),
            score: self.score,
            folded,
        }
    }
}

/// The candidates of both lists, best first.
pub(super) struct Lists<'a> {
    pub lexical: &'a [Scored],
    pub vector: &'a [VectorHit],
    /// Every passage that has one of the words, by ascending index.
    pub scored: &'a [Scored],
    /// Whether the base hardly speaks the question's language.
    pub across: bool,
}

impl Lists<'_> {
    /// All candidates, by ascending index, without a score yet. A passage that only the vectors proposed
    /// still has its BM25 score.
    fn candidates(&self) -> Vec<Fused> {
        let mut all: BTreeMap<u32, Fused> = BTreeMap::new();
        for (i, scored) in self.lexical.iter().enumerate() {
            all.entry(scored.chunk).or_insert_with(|| self.candidate(scored.chunk)).lexical_rank = Some(i + 1);
        }
        for (i, hit) in self.vector.iter().enumerate() {
            let known = all.entry(hit.chunk).or_insert_with(|| self.candidate(hit.chunk));
            known.vector = Some(hit.score);
            known.vector_rank = Some(i + 1);
        }
        all.into_values().collect()
    }

    fn candidate(&self, chunk: u32) -> Fused {
        let at = self.scored.binary_search_by_key(&chunk, |s| s.chunk).ok();
        Fused {
            chunk,
            score: 0.0,
            lexical: at.and_then(|i| self.scored.get(i)).copied(),
            vector: None,
            lexical_rank: None,
            vector_rank: None,
            parts: Vec::new(),
        }
    }
}

/// Both lists as one, in no particular order.
///
/// A list without any candidate does not take part, so that a question without a known word is ranked as
/// by vectors alone.
pub(super) fn fuse(lists: &Lists, options: &RetrievalOptions, mode: Mode) -> Vec<Fused> {
    let mut all = lists.candidates();
    match (mode, options.fusion) {
        (Mode::Lexical, _) => alone(PartName::Words, |f| f.lexical.map(|s| s.score), &mut all),
        (Mode::Vector, _) => alone(PartName::Meaning, |f| f.vector, &mut all),
        (_, FusionMethod::Convex) => convex(lists, options, &mut all),
        (_, FusionMethod::Rrf) => reciprocal_ranks(options.rrf_k, &mut all),
        (_, FusionMethod::ThreeWay) => three_way(lists, options.three_way.weights(), &mut all),
    }
    for fused in &mut all {
        fused.score = sum(&fused.parts);
    }
    all
}

/// The sum that a score is.
pub(super) fn sum(parts: &[Part]) -> f32 {
    parts.iter().fold(0.0, |sum, part| sum + part.weight * part.value)
}

/// One list answers: its score as it is.
fn alone(name: PartName, score: impl Fn(&Fused) -> Option<f32>, all: &mut [Fused]) {
    for fused in all {
        let value = score(fused).unwrap_or(0.0);
        fused.parts.push(Part { name, value, weight: 1.0 });
    }
}

/// Convex combination of min-max-normalised scores (Bruch, Gai and Ingber, TOIS 2023): each list is mapped
/// to 0..1 over its own candidates, a passage that a list lacks counts 0 there.
fn convex(lists: &Lists, options: &RetrievalOptions, all: &mut [Fused]) {
    let words = Range::of(lists.lexical.iter().map(|s| s.score));
    let meaning = Range::of(lists.vector.iter().map(|v| v.score));
    let coverage = lists.lexical.iter().map(|s| s.matched).fold(0.0, f32::max);
    // A shorter list is chosen already: all other passages have nothing.
    let last = lists.lexical.get(CANDIDATES - 1).map_or(0.0, |s| s.score / words.max);
    let full = if lists.across { FULL_COVERAGE_ACROSS } else { FULL_COVERAGE };
    let share = match (lists.lexical.is_empty(), lists.vector.is_empty()) {
        (true, _) => 0.0,
        (_, true) => 1.0,
        _ => options.lexical_weight * (coverage / full).clamp(0.0, 1.0) * ((1.0 - last) / FULL_FALL).clamp(0.0, 1.0),
    };
    for fused in all {
        let normal = fused.lexical.map_or(0.0, |s| words.normalise(s.score));
        fused.parts.push(Part { name: PartName::Words, value: normal, weight: share });
        let normal = fused.vector.map_or(0.0, |s| meaning.normalise(s));
        fused.parts.push(Part { name: PartName::Meaning, value: normal, weight: 1.0 - share });
        if options.rerank {
            let matched = fused.lexical.map_or(0.0, |s| s.matched);
            fused.parts.push(Part { name: PartName::Coverage, value: matched, weight: COVERAGE_WEIGHT });
        }
    }
}

/// Reciprocal rank fusion: the sum of 1 / (k + rank) over the lists that have the passage.
fn reciprocal_ranks(k: f32, all: &mut [Fused]) {
    for fused in all {
        for (name, rank) in [(PartName::Words, fused.lexical_rank), (PartName::Meaning, fused.vector_rank)] {
            let value = rank.map_or(0.0, |rank| 1.0 / (k + rank as f32));
            fused.parts.push(Part { name, value, weight: 1.0 });
        }
    }
}

/// Keywords, vectors and BM25, each normalised.
fn three_way(lists: &Lists, [keywords, vectors, bm25]: [f32; 3], all: &mut [Fused]) {
    let words = Range::of(lists.lexical.iter().map(|s| s.score));
    let meaning = Range::of(lists.vector.iter().map(|v| v.score));
    for fused in all {
        let matched = fused.lexical.map_or(0.0, |s| s.matched);
        fused.parts.push(Part { name: PartName::Coverage, value: matched, weight: keywords });
        let normal = fused.vector.map_or(0.0, |s| meaning.normalise(s));
        fused.parts.push(Part { name: PartName::Meaning, value: normal, weight: vectors });
        let normal = fused.lexical.map_or(0.0, |s| words.normalise(s.score));
        fused.parts.push(Part { name: PartName::Words, value: normal, weight: bm25 });
    }
}

struct Range {
    min: f32,
    max: f32,
}

impl Range {
    fn of(scores: impl Iterator<Item = f32>) -> Self {
        scores.fold(Self { min: f32::INFINITY, max: f32::NEG_INFINITY }, |r, s| Self {
            min: r.min.min(s),
            max: r.max.max(s),
        })
    }

    /// 0 for the least, 1 for the largest, 1 for all if they are equal; what lies outside counts as the
    /// nearer end.
    fn normalise(&self, score: f32) -> f32 {
        let width = self.max - self.min;
        if width > 0.0 { ((score - self.min) / width).clamp(0.0, 1.0) } else { 1.0 }
    }
}

#[cfg(test)]
#[path = "fusion_tests.rs"]
mod tests;
