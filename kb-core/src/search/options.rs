//! How a base is searched: what an author may set, kept in the manifest so that every reader ranks alike.

use crate::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};

/// The constant of reciprocal rank fusion (Cormack, Clarke and Büttcher, SIGIR 2009).
pub const RRF_K: f32 = 60.0;

/// How the lists become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FusionMethod {
    /// Weighted sum of normalised scores.
    #[default]
    Convex,
    /// The sum of 1 / (k + rank) over the lists.
    Rrf,
    /// Weighted sum of the share of words that are there, the vectors' score and BM25's.
    ThreeWay,
}

/// Weights of [`FusionMethod::ThreeWay`], for what a reader looks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ThreeWayPreset {
    /// Keywords 0.5, vectors 0.3, BM25 0.2.
    #[default]
    Balanced,
    /// Keywords 0.7, vectors 0.2, BM25 0.1.
    Exact,
    /// Keywords 0.3, vectors 0.5, BM25 0.2.
    Semantic,
}

impl ThreeWayPreset {
    /// Keywords, vectors, BM25.
    pub fn weights(self) -> [f32; 3] {
        match self {
            Self::Balanced => [0.5, 0.3, 0.2],
            Self::Exact => [0.7, 0.2, 0.1],
            Self::Semantic => [0.3, 0.5, 0.2],
        }
    }
}

/// How a base is searched.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default, rename_all = "snake_case")]
pub struct RetrievalOptions {
    /// How the lists become one.
    pub fusion: FusionMethod,
    /// For [`FusionMethod::Convex`]: the weight of the words' list, 0 to 1; the vectors have the rest.
    pub lexical_weight: f32,
    /// Whether [`FusionMethod::Convex`] also adds the share of the words that a passage has.
    pub rerank: bool,
    /// For [`FusionMethod::Rrf`]: its constant, above 0.
    pub rrf_k: f32,
    /// For [`FusionMethod::ThreeWay`].
    pub three_way: ThreeWayPreset,
    /// Whether spoken words are looked up as what documents say, and words that no passage has as their synonyms.
    pub expand: bool,
    /// Whether passages of the sorts that a question asks for come before all others.
    pub route: bool,
    /// How many candidates each list gives, 1 to 1,000. `None`: 50 from the words, and from the vectors a tenth of the
    /// passages, 50 at least and 200 at most.
    pub candidates: Option<usize>,
    /// How many hits who does not say it gets, 1 to 100. `None`: ten.
    pub top_k: Option<usize>,
    /// Most hits from one document, 1 to 100; the others are left out.
    pub per_document: Option<usize>,
    /// Hits with a lower score are left out.
    pub min_score: Option<f32>,
    /// Hits of the vectors' list with a larger cosine distance (1 − cosine) are left out of that list.
    pub max_distance: Option<f32>,
}

impl Default for RetrievalOptions {
    fn default() -> Self {
        Self {
            fusion: FusionMethod::Convex,
            lexical_weight: 0.5,
            rerank: true,
            rrf_k: RRF_K,
            three_way: ThreeWayPreset::Balanced,
            expand: true,
            route: false,
            candidates: None,
            top_k: None,
            per_document: None,
            min_score: None,
            max_distance: None,
        }
    }
}

impl RetrievalOptions {
    /// That every number is in its range.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`], naming the setting.
    pub fn check(&self) -> Result<()> {
        let within = |n: Option<usize>, most: usize| n.is_none_or(|n| (1..=most).contains(&n));
        // One sentence for each without the number itself: this is part of the browser's first module.
        let wrong = if !(0.0..=1.0).contains(&self.lexical_weight) {
            "lexical_weight must be 0 to 1"
        } else if !(self.rrf_k > 0.0 && self.rrf_k.is_finite()) {
            "rrf_k must be above 0"
        } else if !within(self.candidates, 1000) {
            "candidates must be 1 to 1000"
        } else if !within(self.top_k, 100) {
            "top_k must be 1 to 100"
        } else if !within(self.per_document, 100) {
            "per_document must be 1 to 100"
        } else if self.min_score.is_some_and(|s| !s.is_finite()) {
            "min_score is not a number"
        } else if self.max_distance.is_some_and(|d| !(0.0..=2.0).contains(&d)) {
            "max_distance must be 0 to 2"
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::InvalidInput, wrong))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the systems that these settings come from.
    #[test]
    fn presets_are_those_of_their_systems() {
        assert_eq!(ThreeWayPreset::Balanced.weights(), [0.5, 0.3, 0.2]);
        assert_eq!(ThreeWayPreset::Exact.weights(), [0.7, 0.2, 0.1]);
        assert_eq!(ThreeWayPreset::Semantic.weights(), [0.3, 0.5, 0.2]);
        assert_eq!(RetrievalOptions::default().rrf_k, 60.0);
    }

    #[test]
    fn settings_out_of_range_are_refused() {
        let ok = RetrievalOptions::default();
        assert!(ok.check().is_ok());
        for bad in [
            RetrievalOptions { lexical_weight: 1.5, ..ok },
            RetrievalOptions { lexical_weight: f32::NAN, ..ok },
            RetrievalOptions { rrf_k: 0.0, ..ok },
            RetrievalOptions { min_score: Some(f32::NAN), ..ok },
            RetrievalOptions { max_distance: Some(2.5), ..ok },
            RetrievalOptions { per_document: Some(0), ..ok },
            RetrievalOptions { candidates: Some(1001), ..ok },
            RetrievalOptions { top_k: Some(101), ..ok },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
    }

    #[test]
    fn names_are_as_documented() {
        let json = r#"{"fusion": "three-way", "three_way": "semantic", "lexical_weight": 0.4}"#;
        let options: RetrievalOptions = serde_json::from_str(json).expect("valid");
        assert_eq!((options.fusion, options.three_way), (FusionMethod::ThreeWay, ThreeWayPreset::Semantic));
        let rrf: RetrievalOptions = serde_json::from_str(r#"{"fusion": "rrf"}"#).expect("valid");
        assert_eq!(rrf, RetrievalOptions { fusion: FusionMethod::Rrf, ..RetrievalOptions::default() });
    }
}
