//! What a model's vectors have in common in each language, measured once for each model. A base estimates
//! its own means; these steady the estimate where it has few passages, and say how questions in one language
//! lie beside those in another.

use crate::document::Lang;

/// Fingerprint of multilingual-e5-small-zh-en-q4, and its numbers as f32, little endian: the mean of English
/// passages, of Chinese passages, of English and of Chinese beginnings of passages taken for questions, and
/// the mean of Chinese questions less that of the same questions in English. kb-builder/examples/model_means.rs made them
/// from XQuAD.
const KNOWN: [(&str, &[u8]); 1] = [(
    "1baff20b8aec1f14b140be9204d700afe946cb05c6b9e0dc0cdf516a8e7545f9",
    include_bytes!("known/multilingual-e5-small-zh-en-q4.f32"),
)];

/// As many passages as the shipped means count for.
const SHIPPED_COUNT: f64 = 30.0;
/// How much of the means is taken away from passages and questions in one language, and from all of a base that
/// speaks two, where it has at least [`WITHIN_FROM`] passages. Smaller ones were made worse by it.
const WITHIN: f32 = 0.5;
/// See [`WITHIN`].
const WITHIN_FROM: usize = 1000;
/// The same for a question and passages in different languages, and from how many passages on.
const ACROSS: f32 = 0.7;
/// See [`ACROSS`].
const ACROSS_FROM: usize = 100;

/// The means of a model.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelMeans {
    passages: [Vec<f32>; 2],
    beginnings: [Vec<f32>; 2],
    english_to_chinese: Vec<f32>,
}

impl ModelMeans {
    /// The languages that they are known for.
    pub const LANGUAGES: [Lang; 2] = [Lang::En, Lang::Zh];

    /// Those of the model with this fingerprint and so many numbers in a vector, if they were measured.
    pub fn of(fingerprint: &str, dim: usize) -> Option<Self> {
        let (_, bytes) = KNOWN.iter().find(|(known, _)| *known == fingerprint)?;
        let numbers: Vec<f32> = bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect();
        let mut vectors = numbers.chunks_exact(dim).map(<[f32]>::to_vec);
        let mut next = || vectors.next();
        Some(Self { passages: [next()?, next()?], beginnings: [next()?, next()?], english_to_chinese: next()? })
    }

    /// The mean of passages in `lang`, from the sum of `count` of them. `None` for another language.
    pub fn passages(&self, lang: Lang, sum: &[f64], count: usize) -> Option<Vec<f32>> {
        Some(steadied(self.passages.get(place(lang)?)?, sum, count))
    }

    /// The mean of questions in `asked` about passages in `lang`, from the sum of the vectors of `count`
    /// beginnings of such passages. `None` for another language.
    pub fn questions(&self, lang: Lang, asked: Lang, sum: &[f64], count: usize) -> Option<Vec<f32>> {
        let sign = place(asked)? as f32 - place(lang)? as f32;
        let own = steadied(self.beginnings.get(place(lang)?)?, sum, count);
        Some(own.iter().zip(&self.english_to_chinese).map(|(m, s)| m + sign * s).collect())
    }

    /// The strength in a base of `count` passages for those in one language and questions in another, or the
    /// same. A base that speaks both languages (`mixed`) has one strength for all, since its scores must be on
    /// one scale.
    pub fn strength(passages: Lang, questions: Lang, mixed: bool, count: usize) -> f32 {
        match (mixed, passages == questions) {
            (true, _) | (false, true) if count >= WITHIN_FROM => WITHIN,
            (false, false) if count >= ACROSS_FROM => ACROSS,
            _ => 0.0,
        }
    }
}

/// Place in [`ModelMeans::LANGUAGES`].
fn place(lang: Lang) -> Option<usize> {
    ModelMeans::LANGUAGES.iter().position(|l| *l == lang)
}

/// The mean of what was summed up and of the shipped mean, which counts as [`SHIPPED_COUNT`].
fn steadied(shipped: &[f32], sum: &[f64], count: usize) -> Vec<f32> {
    let all = count as f64 + SHIPPED_COUNT;
    shipped.iter().zip(sum).map(|(m, s)| ((s + SHIPPED_COUNT * f64::from(*m)) / all) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn means() -> ModelMeans {
        ModelMeans {
            passages: [vec![1.0, 0.0], vec![0.0, 1.0]],
            beginnings: [vec![0.5, 0.0], vec![0.0, 0.5]],
            english_to_chinese: vec![-0.25, 0.25],
        }
    }

    /// Thirty shipped ones of 1 and ninety of 0 have the mean 0.25.
    #[test]
    fn few_passages_are_steadied() {
        assert_eq!(means().passages(Lang::En, &[0.0, 90.0], 90), Some(vec![0.25, 0.75]));
        assert_eq!(means().passages(Lang::En, &[0.0, 0.0], 0), Some(vec![1.0, 0.0]));
        assert_eq!(means().passages(Lang::Ja, &[0.0, 0.0], 0), None);
    }

    #[test]
    fn questions_in_the_other_language_lie_beside() {
        let m = means();
        assert_eq!(m.questions(Lang::En, Lang::En, &[0.0, 0.0], 0), Some(vec![0.5, 0.0]));
        assert_eq!(m.questions(Lang::En, Lang::Zh, &[0.0, 0.0], 0), Some(vec![0.25, 0.25]));
        assert_eq!(m.questions(Lang::Zh, Lang::En, &[0.0, 0.0], 0), Some(vec![0.25, 0.25]));
        assert_eq!(m.questions(Lang::Zh, Lang::Ru, &[0.0, 0.0], 0), None);
    }

    #[test]
    fn small_and_mixed_bases_are_left_as_they_are() {
        let strength = ModelMeans::strength;
        assert_eq!([99, 100, 999, 1000].map(|n| strength(Lang::En, Lang::En, false, n)), [0.0, 0.0, 0.0, WITHIN]);
        assert_eq!([99, 100, 1000].map(|n| strength(Lang::En, Lang::Zh, false, n)), [0.0, ACROSS, ACROSS]);
        assert_eq!([999, 1000].map(|n| strength(Lang::En, Lang::Zh, true, n)), [0.0, WITHIN]);
        assert_eq!([999, 1000].map(|n| strength(Lang::En, Lang::En, true, n)), [0.0, WITHIN]);
    }

    #[test]
    fn the_default_model_is_known() {
        let (fingerprint, _) = KNOWN[0];
        let means = ModelMeans::of(fingerprint, 384).expect("known");
        assert_eq!(means.english_to_chinese.len(), 384);
        assert!(ModelMeans::of("another", 384).is_none());
    }
}
