//! One ranking from two.

use super::VectorHit;

/// How many candidates each list gives at least. A list of hits of length k needs as many as k.
pub const CANDIDATES: usize = 50;

/// How the two lists are combined.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FusionOptions {
    /// Weight of the lexical list, 0 to 1; the vector list has the rest. 0 and 1 give one list alone.
    pub lexical_weight: f32,
    /// Share of the highest BM25 score that the question could have at which the lexical list gets its
    /// whole weight, above 0. Below, its weight shrinks in proportion: the best passage of a question
    /// that shares a stray word with the base proves little, however far it is ahead of the next one.
    pub full_coverage: f32,
}

impl Default for FusionOptions {
    fn default() -> Self {
        Self { lexical_weight: 0.5, full_coverage: 0.3 }
    }
}

impl FusionOptions {
    /// The options for a question whose best passage reaches `coverage` of the highest possible score.
    pub(super) fn at_coverage(self, coverage: f32) -> Self {
        let share = (coverage / self.full_coverage).clamp(0.0, 1.0);
        Self { lexical_weight: self.lexical_weight * share, ..self }
    }
}

/// A passage with its scores from both lists.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fused {
    pub chunk: u32,
    pub score: f32,
    pub lexical: Option<f32>,
    pub vector: Option<f32>,
}

/// Convex combination of min-max-normalised scores (Bruch, Gai and Ingber, TOIS 2023): each list is
/// mapped to 0..1 over its own candidates, a passage that a list lacks counts 0 there. A list without
/// any candidate does not take part, so that a question without a known word is ranked as by vectors
/// alone. No list names a passage twice. The result is in no particular order.
pub(super) fn fuse(lexical: &[(u32, f32)], vector: &[VectorHit], options: FusionOptions) -> Vec<Fused> {
    let (lexical_weight, vector_weight) = match (lexical.is_empty(), vector.is_empty()) {
        (true, _) => (0.0, 1.0),
        (_, true) => (1.0, 0.0),
        _ => (options.lexical_weight, 1.0 - options.lexical_weight),
    };
    let range = Range::of(lexical.iter().map(|(_, s)| *s));
    let mut fused: Vec<Fused> = lexical
        .iter()
        .map(|&(chunk, score)| Fused {
            chunk,
            score: lexical_weight * range.normalise(score),
            lexical: Some(score),
            vector: None,
        })
        .collect();
    let range = Range::of(vector.iter().map(|v| v.score));
    for hit in vector {
        let share = vector_weight * range.normalise(hit.score);
        match fused.iter_mut().find(|f| f.chunk == hit.chunk) {
            Some(known) => {
                known.score += share;
                known.vector = Some(hit.score);
            }
            None => fused.push(Fused { chunk: hit.chunk, score: share, lexical: None, vector: Some(hit.score) }),
        }
    }
    fused
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

    /// 0 for the least, 1 for the largest, 1 for all if they are equal.
    fn normalise(&self, score: f32) -> f32 {
        let width = self.max - self.min;
        if width > 0.0 { (score - self.min) / width } else { 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn v(chunk: u32, score: f32) -> VectorHit {
        VectorHit { chunk, score }
    }

    fn scores(lexical: &[(u32, f32)], vector: &[VectorHit], weight: f32) -> Vec<(u32, f32)> {
        let fused = fuse(lexical, vector, FusionOptions { lexical_weight: weight, ..FusionOptions::default() });
        let mut scores: Vec<_> = fused.into_iter().map(|f| (f.chunk, f.score)).collect();
        scores.sort_by_key(|s| s.0);
        scores
    }

    /// By hand: lexical 10, 6, 2 become 1, 0.5, 0; vectors 0.9, 0.8 become 1, 0.
    #[test]
    fn halves_add_up() {
        let lexical = [(7, 10.0), (3, 6.0), (5, 2.0)];
        let got = scores(&lexical, &[v(3, 0.875), v(9, 0.75)], 0.5);
        assert_eq!(got, [(3, 0.75), (5, 0.0), (7, 0.5), (9, 0.0)]);
        let got = scores(&lexical, &[v(3, 0.875), v(9, 0.75)], 0.25);
        assert_eq!(got, [(3, 0.875), (5, 0.0), (7, 0.25), (9, 0.0)]);
    }

    #[test]
    fn a_stray_word_weighs_little() {
        let options = FusionOptions { lexical_weight: 0.5, full_coverage: 0.25 };
        let weight = |coverage: f32| options.at_coverage(coverage).lexical_weight;
        assert_eq!([0.0, 0.125, 0.25, 0.9].map(weight), [0.0, 0.25, 0.5, 0.5]);
    }

    #[test]
    fn an_empty_list_takes_no_part() {
        assert_eq!(scores(&[], &[v(1, 0.9), v(2, 0.8), v(3, 0.7)], 0.5)[0], (1, 1.0));
        assert_eq!(scores(&[(4, 3.0)], &[], 0.5), [(4, 1.0)]);
        assert_eq!(scores(&[], &[], 0.5), []);
    }

    #[test]
    fn equal_scores_are_all_best() {
        assert_eq!(scores(&[(1, 2.0), (2, 2.0)], &[], 0.5), [(1, 1.0), (2, 1.0)]);
    }
}
