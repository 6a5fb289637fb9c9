//! Whether the knowledge base has anything to say about a question, before a model is asked.
//!
//! Three figures decide, all of which the search has anyway: the cosine of the nearest passage; the
//! coverage, the share of the question's words that its best passage has; and how much of the question stands nowhere in the base. A cosine means nothing without its
//! model, so its part is kept by model; of an unknown model only the words are looked at.
//! docs/BENCHMARKS.md has the curve that the figures come from.

use crate::search::{Mode, Response};
use serde::Serialize;

/// What a search found, in three figures.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Evidence {
    /// Cosine of the nearest passage; none for a search without vectors.
    pub cosine: Option<f32>,
    /// [`Response::coverage`]
    pub coverage: f32,
    /// [`Response::unknown`]
    pub unknown: f32,
}

impl Evidence {
    /// The figures of a response.
    pub fn of(response: &Response) -> Self {
        let cosine = response.hits.iter().filter_map(|h| h.vector_score).reduce(f32::max);
        Self {
            cosine: cosine.filter(|_| response.mode != Mode::Lexical),
            coverage: response.coverage,
            unknown: response.unknown,
        }
    }
}

/// A logistic curve over the evidence: how likely it is that the base answers the question.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Calibration {
    /// Added to the sum.
    pub bias: f32,
    /// What a cosine of 1 counts.
    pub cosine: f32,
    /// What full coverage counts.
    pub coverage: f32,
    /// What it counts if no word of the question stands in the base.
    pub unknown: f32,
    /// Relevance below which nothing is said to have been found, 0 to 1.
    pub threshold: f32,
    /// Cosine from which a sentence means what a passage says; none if that is not known of the model.
    pub near: Option<f32>,
}

impl Calibration {
    /// For searches by words, and for models that have not been calibrated. It refuses late: a question in
    /// other words than the text has little coverage too.
    pub const WORDS: Self = Self { bias: -1.0, cosine: 0.0, coverage: 6.0, unknown: -1.0, threshold: 0.3, near: None };
    /// For multilingual-e5-small and its kin.
    pub const E5: Self =
        Self { bias: -40.0, cosine: 46.0, coverage: 3.0, unknown: -1.0, threshold: 0.5, near: Some(0.88) };

    /// The figures for a model, found by its name: the numbers of a family lie close together, and a
    /// fingerprint changes with every new quantisation.
    pub fn of(model: Option<&str>) -> Self {
        match model {
            Some(name) if name.to_lowercase().contains("e5-small") => Self::E5,
            _ => Self::WORDS,
        }
    }
}

/// How likely the base answers a question, and what follows from it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Relevance {
    /// 0 to 1.
    pub score: f32,
    /// Whether to go on. If not, no model is called.
    pub relevant: bool,
    /// What it was judged by.
    #[serde(flatten)]
    pub evidence: Evidence,
}

/// Judges what a search found. `model` is the name of the one that made the vectors.
pub fn judge(evidence: Evidence, found_any: bool, model: Option<&str>) -> Relevance {
    let calibration = match evidence.cosine {
        Some(_) => Calibration::of(model),
        None => Calibration::WORDS,
    };
    let sum = calibration.bias
        + calibration.cosine * evidence.cosine.unwrap_or(0.0)
        + calibration.coverage * evidence.coverage
        + calibration.unknown * evidence.unknown;
    let score = if found_any { 1.0 / (1.0 + libm::expf(-sum)) } else { 0.0 };
    let score = libm::roundf(score * 1000.0) / 1000.0;
    Relevance { score, relevant: found_any && score >= calibration.threshold, evidence }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_evidence_is_more_relevant() {
        let e5 = "multilingual-e5-small-zh-en-q4";
        let score =
            |cosine, coverage| judge(Evidence { cosine: Some(cosine), coverage, unknown: 0.2 }, true, Some(e5)).score;
        assert!(score(0.9, 0.5) > score(0.85, 0.5) && score(0.85, 0.5) > score(0.85, 0.1));
        assert!(!judge(Evidence { cosine: Some(0.7), coverage: 0.0, unknown: 0.8 }, true, Some(e5)).relevant);
        assert!(judge(Evidence { cosine: Some(0.92), coverage: 0.6, unknown: 0.0 }, true, Some(e5)).relevant);
        assert!(!judge(Evidence::default(), false, None).relevant, "nothing was found at all");
    }

    #[test]
    fn the_cosine_of_an_unknown_model_is_not_looked_at() {
        let other = "some-other-model";
        let score =
            |cosine| judge(Evidence { cosine: Some(cosine), coverage: 0.4, unknown: 0.1 }, true, Some(other)).score;
        assert_eq!(score(0.1), score(0.99));
        assert_eq!(score(0.1), judge(Evidence { cosine: None, coverage: 0.4, unknown: 0.1 }, true, None).score);
    }
}
