//! Taking the common direction out of vectors. Those of e5 share a large one, and each language adds its
//! own: two unrelated texts in one language have a larger cosine than a question and its answer in another.
//! So the mean of the passages is taken from every passage, the mean of questions from the question, each
//! times a strength, and the cosine is that of what is left.
//!
//! A base may hold several languages. Each has a group with the mean of its passages, and for each language
//! of questions the mean of such questions and the strength.

use super::quantise::Matrix;
use crate::Result;
use crate::bundle::SectionKind;
use crate::document::Lang;

/// Most groups: one for each language.
pub(super) const MAX_GROUPS: usize = 6;

/// What questions of one language share.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionMean {
    /// The language.
    pub lang: Lang,
    /// How much of both means is taken away, 0 (nothing) to 1 (all).
    pub strength: f32,
    /// The mean of such questions' vectors, not brought to unit length.
    pub mean: Vec<f32>,
}

/// The passages of one language.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// The language.
    pub lang: Lang,
    /// The mean of their vectors.
    pub mean: Vec<f32>,
    /// For each language of questions what they share. Others are compared as they are.
    pub questions: Vec<QuestionMean>,
}

/// The means of a base.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Centring {
    /// The groups, at most one for each language.
    pub groups: Vec<Group>,
    /// Index of the group for each vector.
    pub group_of: Vec<u8>,
}

impl Centring {
    /// That all means have `dim` numbers in −1 to 1, all strengths are in range and every vector has a group.
    pub(super) fn check(&self, dim: usize, count: usize) -> std::result::Result<(), &'static str> {
        let within = |mean: &[f32]| mean.len() == dim && mean.iter().all(|x| x.abs() <= 1.0);
        if self.groups.len() > MAX_GROUPS || self.groups.iter().any(|g| g.questions.len() > MAX_GROUPS) {
            return Err("more languages than there are");
        }
        if self.group_of.len() != count || self.group_of.iter().any(|g| usize::from(*g) >= self.groups.len()) {
            return Err("a vector has no group");
        }
        for group in &self.groups {
            if !within(&group.mean) || group.questions.iter().any(|q| !within(&q.mean)) {
                return Err("a mean is out of range");
            }
            if group.questions.iter().any(|q| !(0.0..=1.0).contains(&q.strength)) {
                return Err("a strength is out of range");
            }
        }
        Ok(())
    }
}

/// The means with what can be computed from them beforehand.
#[derive(Debug)]
pub(super) struct Prepared {
    pub centring: Centring,
    /// For each row its product with its group's mean.
    along: Vec<f32>,
    /// The square of each group's mean.
    squares: Vec<f64>,
}

/// A question to be compared with the rows of one group.
pub(super) struct GroupQuestion {
    /// The question without what such questions share; of any length above 0.
    pub vector: Vec<f32>,
    /// Times this the passages' mean is taken from a row.
    pub strength: f64,
    /// The product of the passages' mean and the question, brought to unit length.
    pub base: f64,
}

impl Prepared {
    pub fn new(centring: Centring, matrix: &Matrix) -> Result<Self> {
        centring.check(matrix.dim, matrix.len()).map_err(|what| SectionKind::Vectors.corrupt(what))?;
        let mut along = vec![0.0; matrix.len()];
        for (g, group) in centring.groups.iter().enumerate() {
            let length = norm(&group.mean);
            // Means without a direction take nothing away.
            let Some(mean) = (length > 0.0).then(|| matrix.query(&group.mean)).transpose()? else { continue };
            for (i, of) in centring.group_of.iter().enumerate() {
                if usize::from(*of) == g {
                    along[i] = (f64::from(matrix.cosine(&mean, i as u32)) * length) as f32;
                }
            }
        }
        let squares = centring.groups.iter().map(|g| dot(&g.mean, &g.mean)).collect();
        Ok(Self { centring, along, squares })
    }

    /// The question for each group, in their order.
    pub fn questions(&self, question: &[f32], lang: Lang) -> Vec<GroupQuestion> {
        let length = norm(question);
        self.centring
            .groups
            .iter()
            .map(|group| {
                let plain = GroupQuestion { vector: question.to_vec(), strength: 0.0, base: 0.0 };
                let Some(own) = group.questions.iter().find(|q| q.lang == lang) else { return plain };
                let strength = f64::from(own.strength);
                let vector: Vec<f32> = question
                    .iter()
                    .zip(&own.mean)
                    .map(|(x, m)| (f64::from(*x) / length - strength * f64::from(*m)) as f32)
                    .collect();
                let left = norm(&vector);
                if left < 1e-6 {
                    return plain;
                }
                let base = dot(&group.mean, &vector) / left;
                GroupQuestion { vector, strength, base }
            })
            .collect()
    }

    /// The cosine of row `i` and the question, both without their means. `cosine` is that of the row as it
    /// is and the question without its mean.
    pub fn centred(&self, cosine: f32, question: &GroupQuestion, i: usize) -> f32 {
        if question.strength == 0.0 {
            return cosine;
        }
        let group = self.centring.group_of.get(i).map_or(0, |g| usize::from(*g));
        let along = self.along.get(i).copied().map_or(0.0, f64::from);
        let square = self.squares.get(group).copied().unwrap_or(0.0);
        let s = question.strength;
        // A row has unit length, but for its rounding.
        let left = 1.0 - 2.0 * s * along + s * s * square;
        if left < 1e-6 {
            return 0.0;
        }
        let cosine = (f64::from(cosine) - s * question.base) / left.sqrt();
        cosine.clamp(-1.0, 1.0) as f32
    }
}

fn dot(a: &[f32], b: &[f32]) -> f64 {
    a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
}

fn norm(a: &[f32]) -> f64 {
    dot(a, a).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::vector::VectorIndex;

    /// Three passages in two languages, in three dimensions. By hand, for an English question
    /// q = (0.6, 0.8, 0) with question mean (0.6, 0, 0) at strength 1 and passage mean (0.8, 0, 0):
    /// what is left of q is (0, 0.8, 0), of (0.8, 0.6, 0) it is (0, 0.6, 0), of (0.8, 0, 0.6) it is
    /// (0, 0, 0.6): cosines 1 and 0, where they are 0.96 and 0.48 as they are. The Chinese one has no mean of
    /// English questions, so it keeps its 0.8.
    #[test]
    fn what_is_shared_does_not_count() {
        let rows = [0.8, 0.0, 0.6, 0.8, 0.6, 0.0, 0.0, 1.0, 0.0];
        let question = QuestionMean { lang: Lang::En, strength: 1.0, mean: vec![0.6, 0.0, 0.0] };
        let centring = Centring {
            groups: vec![
                Group { lang: Lang::En, mean: vec![0.8, 0.0, 0.0], questions: vec![question] },
                Group { lang: Lang::Zh, mean: vec![0.0, 0.9, 0.0], questions: vec![] },
            ],
            group_of: vec![0, 0, 1],
        };
        let index = VectorIndex::build(3, &rows).expect("valid").with_centring(centring).expect("fits");
        let index = VectorIndex::from_bytes(&index.to_bytes()).expect("what was written");
        let hits = index.search_as(&[0.6, 0.8, 0.0], Lang::En, 3, None).expect("a valid question");
        assert_eq!(hits.iter().map(|h| h.chunk).collect::<Vec<_>>(), [1, 2, 0]);
        assert!(hits.iter().zip([1.0, 0.8, 0.0]).all(|(h, e)| (h.score - e).abs() < 0.02), "{hits:?}");
        let plain = index.search_as(&[0.6, 0.8, 0.0], Lang::Zh, 3, None).expect("a valid question");
        let exact = index.search_exact(&[0.6, 0.8, 0.0], 3, None).expect("a valid question");
        assert_eq!(plain, exact);
    }

    #[test]
    fn means_that_do_not_fit_are_refused() {
        let index = || VectorIndex::build(2, &[1.0, 0.0, 0.0, 1.0]).expect("valid");
        let group = |mean: Vec<f32>| Group { lang: Lang::En, mean, questions: vec![] };
        let fits = |groups: Vec<Group>, group_of: Vec<u8>| index().with_centring(Centring { groups, group_of }).is_ok();
        assert!(fits(vec![group(vec![0.5, 0.5])], vec![0, 0]));
        assert!(!fits(vec![group(vec![0.5])], vec![0, 0]));
        assert!(!fits(vec![group(vec![0.5, f32::NAN])], vec![0, 0]));
        assert!(!fits(vec![group(vec![0.5, 0.5])], vec![0]));
        assert!(!fits(vec![group(vec![0.5, 0.5])], vec![0, 1]));
    }
}
