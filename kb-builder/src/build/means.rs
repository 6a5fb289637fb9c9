//! What the passages of a base have in common, and what questions about it would: the means that are taken
//! out of vectors before they are compared.
//!
//! Nobody has asked anything yet, so the beginnings of passages stand in for questions, embedded as such.
//! They are in the language of the passages; questions in the other language differ from them by a shift
//! that belongs to the model, as do the means that steady those of a small base.

use super::embed_texts;
use crate::embedding::EmbeddingModel;
use crate::error::Result;
use crate::report::Reporter;
use kb_core::chunk::{Chunk, opening_headings, plain_passage, title_path};
use kb_core::document::{Document, Lang};
use kb_core::embed::TextKind;
use kb_core::index::vector::{Centring, Group, ModelMeans, QuestionMean};
use kb_core::search::speaks;
use kb_core::text::sentence_ends;
use std::path::Path;

/// Most beginnings that are embedded for one language.
const SAMPLE: usize = 400;
/// Longest beginning in characters: about as long as a question.
const BEGINNING_CHARS: usize = 60;

/// What this needs to know of a passage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    lang: Lang,
    /// Its first sentence, as far as [`BEGINNING_CHARS`].
    beginning: String,
}

impl Passage {
    /// Of one passage.
    pub fn new(document: &Document, chunk: &Chunk) -> Self {
        let body = plain_passage(document, chunk).text;
        let body = &body[opening_headings(&body, &title_path(document, chunk))..];
        let line = body.lines().find(|l| !l.trim().is_empty()).unwrap_or_default().trim();
        let sentence = sentence_ends(line).next().map_or(line, |end| &line[..end]);
        let beginning = sentence.chars().take(BEGINNING_CHARS).collect::<String>().trim_end().to_string();
        Self { lang: document.lang, beginning }
    }

    /// What stands in for a question about it; empty for a passage without text.
    pub fn beginning(&self) -> &str {
        &self.beginning
    }
}

/// The means for a base of these passages, whose vectors are `vectors`. `None` for a model for which it was
/// not measured that they help, and for a base in none of the languages that it was measured for.
pub fn centring(
    model: &EmbeddingModel,
    cache: Option<&Path>,
    passages: &[Passage],
    vectors: &[Vec<f32>],
    reporter: &Reporter,
) -> Result<Option<Centring>> {
    let Some(known) = ModelMeans::of(&model.info().fingerprint, model.info().dim) else { return Ok(None) };
    let is_spoken = |lang: Lang| speaks(passages.iter().filter(|p| p.lang == lang).count(), passages.len());
    let mixed = ModelMeans::LANGUAGES.into_iter().all(is_spoken);
    let mut groups = Vec::new();
    let mut members: Vec<Vec<usize>> = Vec::new();
    for lang in ModelMeans::LANGUAGES {
        let own: Vec<usize> = (0..passages.len()).filter(|i| passages[*i].lang == lang).collect();
        if !is_spoken(lang) {
            continue;
        }
        let (sum, count) = total(own.iter().map(|i| vectors[*i].as_slice()), model.info().dim);
        let beginnings = sample(&own, passages);
        let embedded = embed_texts(model, cache, TextKind::Query, &beginnings, reporter)?.vectors;
        let (asked, asked_count) = total(embedded.iter().map(Vec::as_slice), model.info().dim);
        let Some(mean) = known.passages(lang, &sum, count) else { continue };
        let questions = ModelMeans::LANGUAGES
            .into_iter()
            .filter_map(|other| {
                let mean = known.questions(lang, other, &asked, asked_count)?;
                Some(QuestionMean {
                    lang: other,
                    strength: ModelMeans::strength(lang, other, mixed, passages.len()),
                    mean,
                })
            })
            .collect();
        groups.push(Group { lang, mean, questions });
        members.push(own);
    }
    // Passages in other languages, and the few in the other one of the two, go with the larger group: every
    // score must be on one scale.
    let Some(largest) = (0..members.len()).max_by_key(|g| members[*g].len()) else { return Ok(None) };
    let mut group_of = vec![largest as u8; passages.len()];
    for (g, own) in members.iter().enumerate() {
        own.iter().for_each(|i| group_of[*i] = g as u8);
    }
    Ok(Some(Centring { groups, group_of }))
}

/// The beginnings of passages evenly spread over all of them.
fn sample(members: &[usize], passages: &[Passage]) -> Vec<String> {
    let with_text: Vec<&String> =
        members.iter().map(|i| &passages[*i].beginning).filter(|b| b.chars().any(char::is_alphabetic)).collect();
    let step = with_text.len().div_ceil(SAMPLE).max(1);
    with_text.into_iter().step_by(step).cloned().collect()
}

/// The sum of vectors in a fixed order and in f64, so that every machine has the same; and their number.
fn total<'v>(vectors: impl Iterator<Item = &'v [f32]>, dim: usize) -> (Vec<f64>, usize) {
    let mut sum = vec![0f64; dim];
    let mut count = 0;
    for vector in vectors {
        sum.iter_mut().zip(vector).for_each(|(s, x)| *s += f64::from(*x));
        count += 1;
    }
    (sum, count)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kb_core::chunk::heading::{HeadingOptions, chunk};
    use kb_core::document::parse_markdown;

    #[test]
    fn a_beginning_is_the_first_sentence_without_headings() {
        let document =
            parse_markdown("a.md", "# Graphs\n\n## Paths\n\nA **path** visits nodes. It may be long.\n").document;
        let chunks = chunk(&document, 0, &HeadingOptions::default()).expect("valid options");
        let found: Vec<String> = chunks.iter().map(|c| Passage::new(&document, c).beginning).collect();
        assert_eq!(found.last().map(String::as_str), Some("A path visits nodes."));
        let long = parse_markdown("b.md", &"字".repeat(100)).document;
        let chunks = chunk(&long, 0, &HeadingOptions::default()).expect("valid options");
        assert_eq!(Passage::new(&long, &chunks[0]).beginning.chars().count(), BEGINNING_CHARS);
    }

    #[test]
    fn a_sample_is_spread_evenly() {
        let passages: Vec<Passage> =
            (0..1000).map(|i| Passage { lang: Lang::En, beginning: format!("p{i}") }).collect();
        let all: Vec<usize> = (0..1000).collect();
        let sample = sample(&all, &passages);
        assert!(sample.len() <= SAMPLE && sample.len() > SAMPLE / 2);
        assert_eq!(sample[..2], ["p0", "p3"]);
    }

    #[test]
    fn totals_by_hand() {
        assert_eq!(total([[1.0, 0.0].as_slice(), &[0.25, 0.5]].into_iter(), 2), (vec![1.25, 0.5], 2));
        assert_eq!(total(std::iter::empty(), 2), (vec![0.0, 0.0], 0));
    }
}
