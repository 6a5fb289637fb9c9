//! Whether the knowledge base has anything to say about a question, before a model is asked.
//!
//! Figures decide that the search has anyway: the cosine of the nearest passage, and how far it is ahead of
//! the others; the coverage, the share of the question's words that its best passage has; and how much of
//! the question stands nowhere in the base. The words say nothing where the nearest passage is in another language. A name
//! that stands nowhere ([`names`]) says much in any language: what the base never mentions it hardly explains. A cosine means nothing without its model, so its part
//! is kept by model; of an unknown model only the words are looked at. docs/BENCHMARKS.md has the curve
//! that the figures come from.

use super::prompt::language;
use crate::document::Lang;
use crate::search::{Mode, Response};
use serde::Serialize;

/// What a search found, in figures.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Evidence {
    /// Cosine of the nearest passage; none for a search without vectors.
    pub cosine: Option<f32>,
    /// How far that is above the mean cosine of the hits.
    pub lead: f32,
    /// Whether the nearest passage is in another language than the question.
    pub foreign: bool,
    /// [`Response::coverage`]
    pub coverage: f32,
    /// [`Response::unknown`]
    pub unknown: f32,
    /// Whether one of the question's [`names`] stands nowhere in the base.
    pub strange: bool,
}

/// Most names of a question that are looked up.
const MAX_NAMES: usize = 4;
/// Longest name in characters.
const MAX_NAME_CHARS: usize = 40;

/// The names in a question, each to be looked up by itself: a word is strange if most of it is [`Response::unknown`].
/// In a question with wide characters every Latin word is one; in others a word with a capital behind the first word, or
/// with one inside. A question in capitals has none.
pub fn names(question: &str) -> Vec<String> {
    let wide = language(question) == Lang::Zh;
    let shouted = !question.chars().any(char::is_lowercase);
    let part = |c: char| u32::from(c) < 0x2e80 && (c.is_alphanumeric() || matches!(c, '.' | '-' | '_' | '+' | '#'));
    let mut out: Vec<String> = Vec::new();
    let words = question.split(|c| !part(c)).map(|w| w.trim_matches(['.', '-', '_'])).filter(|w| !w.is_empty());
    for (i, word) in words.enumerate() {
        let letters = word.chars().filter(|c| c.is_alphabetic()).count();
        let inner = word.chars().skip(1).any(char::is_uppercase);
        let named = if wide { true } else { !shouted && (inner || (i > 0 && word.starts_with(char::is_uppercase))) };
        let fits = letters >= 2 && word.chars().count() <= MAX_NAME_CHARS && out.len() < MAX_NAMES;
        if named && fits && !out.iter().any(|o| o == word) {
            out.push(word.to_owned());
        }
    }
    out
}

/// From which share of unknown words a name is strange: of `GPT-4o` one of two words.
pub const STRANGE: f32 = 0.5;

impl Evidence {
    /// The figures of a response; `strange` as in the field.
    pub fn of(question: &str, response: &Response, strange: bool) -> Self {
        let near = if response.mode == Mode::Lexical { &[][..] } else { response.hits.as_slice() };
        let hits = near.iter().filter_map(|h| Some((h.vector_score?, h.lang.as_str())));
        Self { coverage: response.coverage, unknown: response.unknown, strange, ..Self::near(question, hits) }
    }

    /// The figures of the hits that have a cosine: cosine and language of each.
    pub fn near<'h>(question: &str, hits: impl Iterator<Item = (f32, &'h str)>) -> Self {
        let (mut best, mut sum, mut count): (Option<(f32, &str)>, f32, f32) = (None, 0.0, 0.0);
        for (cosine, lang) in hits {
            sum += cosine;
            count += 1.0;
            if best.is_none_or(|(b, _)| cosine > b) {
                best = Some((cosine, lang));
            }
        }
        let Some((cosine, lang)) = best else { return Self::default() };
        let foreign = ["zh", "en"].contains(&lang) && lang != language(question).code();
        Self { cosine: Some(cosine), lead: cosine - sum / count, foreign, ..Self::default() }
    }
}

/// A logistic curve over the evidence: how likely it is that the base answers the question.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Calibration {
    /// Added to the sum.
    pub bias: f32,
    /// What a cosine of 1 counts.
    pub cosine: f32,
    /// What a lead of 1 counts.
    pub lead: f32,
    /// What full coverage counts.
    pub coverage: f32,
    /// What it counts if no word of the question stands in the base.
    pub unknown: f32,
    /// Counts in place of the last two where the nearest passage is in another language.
    pub foreign: f32,
    /// What a name counts that stands nowhere in the base.
    pub strange: f32,
    /// Relevance below which nothing is said to have been found, 0 to 1.
    pub threshold: f32,
    /// Cosine from which a sentence means what a passage says; none if that is not known of the model.
    pub near: Option<f32>,
}

impl Calibration {
    /// For searches by words, and for models that have not been calibrated. It refuses late: a question in
    /// other words than the text has little coverage too.
    pub const WORDS: Self = Self {
        bias: 2.1,
        cosine: 0.0,
        lead: 0.0,
        coverage: 0.3,
        unknown: -2.9,
        foreign: 0.0,
        strange: -3.8,
        threshold: 0.35,
        near: None,
    };
    /// For multilingual-e5-small and its kin, of cosines as they are (`VectorIndex::search`).
    pub const E5: Self = Self {
        bias: -14.9,
        cosine: 18.7,
        lead: 54.1,
        coverage: 0.0,
        unknown: -1.8,
        foreign: 0.0,
        strange: -4.3,
        threshold: 0.4,
        near: Some(0.9),
    };

    /// The figures for a model, found by its name: the numbers of a family lie close together, and a
    /// fingerprint changes with every new quantisation.
    pub fn of(model: Option<&str>) -> Self {
        match model {
            Some(name) if name.to_lowercase().contains("e5-small") => Self::E5,
            _ => Self::WORDS,
        }
    }

    fn sum(&self, evidence: Evidence) -> f32 {
        let words = if evidence.foreign && self.cosine > 0.0 {
            self.foreign
        } else {
            self.coverage * evidence.coverage + self.unknown * evidence.unknown
        };
        self.bias
            + self.cosine * evidence.cosine.unwrap_or(0.0)
            + self.lead * evidence.lead
            + words
            + if evidence.strange { self.strange } else { 0.0 }
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
    let score = if found_any { 1.0 / (1.0 + libm::expf(-calibration.sum(evidence))) } else { 0.0 };
    let score = libm::roundf(score * 1000.0) / 1000.0;
    Relevance { score, relevant: found_any && score >= calibration.threshold, evidence }
}

#[cfg(test)]
mod tests {
    use super::*;

    const E5: &str = "multilingual-e5-small-zh-en-q4";

    fn evidence(cosine: Option<f32>, coverage: f32, unknown: f32) -> Evidence {
        Evidence { cosine, lead: 0.03, foreign: false, coverage, unknown, strange: false }
    }

    #[test]
    fn more_evidence_is_more_relevant() {
        let judged = |cosine, coverage, unknown| judge(evidence(Some(cosine), coverage, unknown), true, Some(E5));
        let score = |cosine, coverage, unknown| judged(cosine, coverage, unknown).score;
        assert!(score(0.9, 0.5, 0.2) > score(0.85, 0.5, 0.2) && score(0.9, 0.5, 0.2) > score(0.9, 0.5, 0.6));
        assert!(!judged(0.7, 0.0, 1.0).relevant && judged(0.92, 0.6, 0.0).relevant);
        assert!(!judge(Evidence::default(), false, None).relevant, "nothing was found at all");
        // A name that stands nowhere outweighs a near passage, and one more word that does.
        let named = |strange| judge(Evidence { strange, ..evidence(Some(0.87), 0.5, 0.2) }, true, Some(E5));
        assert!(named(false).relevant && !named(true).relevant);
    }

    #[test]
    fn names_are_found() {
        let found = |question: &str| names(question).join(" ");
        for (question, expected) in [
            ("PageRank 的阻尼系数一般取多少", "PageRank"),
            ("用 git 的 C 代码怎么写 hook", "git hook"),
            ("How does the Borrow checker of Rust work?", "Borrow Rust"),
            ("Where is PostgreSQL, where is PostgreSQL?", "PostgreSQL"),
            ("PostgreSQL or not", "PostgreSQL"),
            ("Python has it", ""),
            ("what is a branch", ""),
            ("HOW DO I UNDO", ""),
            ("why GPT-4o and C++?", "GPT-4o"),
            ("", ""),
        ] {
            assert_eq!(found(question), expected, "{question}");
        }
        assert!(names(&"Xy Zw ".repeat(100_000)).len() <= MAX_NAMES);
    }

    #[test]
    fn the_cosine_of_an_unknown_model_is_not_looked_at() {
        let score = |cosine, model| judge(evidence(cosine, 0.4, 0.1), true, model).score;
        assert_eq!(score(Some(0.1), Some("some-other-model")), score(Some(0.99), Some("some-other-model")));
        assert_eq!(score(Some(0.1), Some("some-other-model")), score(None, Some(E5)));
    }

    /// By hand: 0.9 leads the mean of 0.9, 0.8 and 0.7 by 0.1.
    #[test]
    fn figures_are_taken_from_the_hits() {
        let found = Evidence::near("what is this", [(0.8, "en"), (0.9, "zh"), (0.7, "en")].into_iter());
        assert_eq!((found.cosine, found.foreign), (Some(0.9), true));
        assert!((found.lead - 0.1).abs() < 1e-6);
        assert!(!Evidence::near("这是什么", [(0.9, "zh")].into_iter()).foreign);
        assert!(!Evidence::near("这是什么", [(0.9, "other")].into_iter()).foreign, "a language that is not known");
        assert_eq!(Evidence::near("x", std::iter::empty()), Evidence::default());
    }
}
