//! The extractive answer: the best sentences of the best passages, word for word, each with its citation.
//! No model writes anything; with an encoder its vectors choose, without one the words do.

use super::citations::Segment;
use super::passage::Passage;
use crate::document::plain;
use crate::text::{is_stop_word, query_terms, sentence_ends, tokenize};
use std::collections::HashSet;

/// Most sentences that an answer has.
const MAX_SENTENCES: usize = 4;
/// Most characters that an answer has, except for its first sentence.
const MAX_CHARS: usize = 480;
/// Most sentences that are compared by meaning: each costs a run of the model.
const MAX_CANDIDATES: usize = 24;
/// A sentence shorter than this, in letters, says too little by itself; a wide character counts two.
const MIN_LETTERS: usize = 16;
/// A longer one is no sentence, but a list or a table.
const MAX_SENTENCE_CHARS: usize = 400;

/// The similarities of sentences to the question, one each, from -1 to 1.
pub type Scorer<'a> = &'a dyn Fn(&[&str]) -> Option<Vec<f32>>;

/// A sentence that was chosen.
#[derive(Debug, Clone, PartialEq)]
pub struct Extracted {
    /// Index of its passage.
    pub passage: usize,
    /// The sentence as plain text.
    pub text: String,
}

struct Candidate {
    passage: usize,
    position: usize,
    text: String,
    words: f32,
    score: f32,
}

/// The sentences that answer `question` best, in the order of the passages. Empty if no passage has a
/// sentence.
pub fn extract(question: &str, passages: &[Passage], scorer: Option<Scorer<'_>>) -> Vec<Extracted> {
    let mut candidates = candidates(question, passages);
    // Ties, and all that have no word of the question, go by the order of the passages.
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
    if let Some(scorer) = scorer {
        by_meaning(&mut candidates, passages.len(), scorer);
    }
    let mut chosen: Vec<Candidate> = Vec::new();
    let mut chars = 0;
    let best = candidates.first().map_or(0.0, |c| c.score);
    for candidate in candidates {
        let length = candidate.text.chars().count();
        let repeats = |c: &Candidate| c.text.contains(&candidate.text) || candidate.text.contains(&c.text);
        let fits = chosen.is_empty() || (chars + length <= MAX_CHARS && candidate.score >= best * 0.6);
        if fits && !chosen.iter().any(repeats) {
            chars += length;
            chosen.push(candidate);
        }
        if chosen.len() == MAX_SENTENCES {
            break;
        }
    }
    chosen.sort_by_key(|c| (c.passage, c.position));
    chosen.into_iter().map(|c| Extracted { passage: c.passage, text: c.text }).collect()
}

/// The sentences as an answer: one paragraph for each passage, citations numbered by appearance.
pub fn to_segments(sentences: &[Extracted]) -> Vec<Segment> {
    let mut out = Vec::new();
    let mut order: Vec<usize> = Vec::new();
    for (i, sentence) in sentences.iter().enumerate() {
        let same = i > 0 && sentences[i - 1].passage == sentence.passage;
        let wide = sentence.text.chars().next().is_some_and(|c| u32::from(c) >= 0x2e80);
        let before = match (i, same) {
            (0, _) => "",
            (_, true) if wide => "",
            (_, true) => " ",
            _ => "\n\n",
        };
        let n = order.iter().position(|p| *p == sentence.passage).unwrap_or_else(|| {
            order.push(sentence.passage);
            order.len() - 1
        });
        out.push(Segment::Text { text: format!("{before}{}", sentence.text) });
        out.push(Segment::Citation { n: n + 1, passage: sentence.passage });
    }
    super::citations::join(out)
}

/// Every sentence of the passages with what its words are worth.
fn candidates(question: &str, passages: &[Passage]) -> Vec<Candidate> {
    let wanted = query_terms(question);
    let total: f32 = wanted.iter().map(|t| t.weight).sum();
    let mut out: Vec<Candidate> = Vec::new();
    for (passage, source) in passages.iter().enumerate() {
        for (position, text) in sentences(source).into_iter().enumerate() {
            let mut terms = HashSet::new();
            let mut content = 0;
            tokenize(&text, |token| {
                content += usize::from(token.kind.counts() && !is_stop_word(token.term));
                terms.insert(token.term.to_owned());
            });
            let found: f32 = wanted.iter().filter(|t| terms.contains(&t.term)).map(|t| t.weight).sum();
            let words = if total > 0.0 { found / total } else { 0.0 };
            // An introduction to something that does not follow.
            let whole = if text.ends_with([':', '：']) { 0.5 } else { 1.0 };
            let rank = 1.0 / (1.0 + 0.15 * passage as f32);
            let first = if position == 0 { 0.02 } else { 0.0 };
            let score = if content < 2 { 0.0 } else { (0.05 + words + first) * whole * rank };
            out.push(Candidate { passage, position, text, words, score });
        }
    }
    out
}

/// Scores by meaning what looks best by words, with a share of every passage in it.
fn by_meaning(candidates: &mut Vec<Candidate>, passages: usize, scorer: Scorer<'_>) {
    let share = MAX_CANDIDATES.div_ceil(passages.max(1));
    let mut taken = vec![0; passages];
    candidates.retain(|c| {
        taken[c.passage] += 1;
        taken[c.passage] <= share
    });
    let texts: Vec<&str> = candidates.iter().map(|c| c.text.as_str()).collect();
    let Some(cosines) = scorer(&texts).filter(|c| c.len() == candidates.len()) else { return };
    // Cosines of one model lie close together, those of another far apart: only their order and distances
    // within this question count.
    let (low, high) = cosines.iter().fold((f32::MAX, f32::MIN), |(l, h), c| (l.min(*c), h.max(*c)));
    for (candidate, cosine) in candidates.iter_mut().zip(cosines) {
        let meaning = if high > low { (cosine - low) / (high - low) } else { 1.0 };
        let whole = if candidate.text.ends_with([':', '：']) { 0.5 } else { 1.0 };
        let rank = 1.0 / (1.0 + 0.1 * candidate.passage as f32);
        candidate.score = (meaning + 0.3 * candidate.words) * whole * rank;
    }
    candidates.sort_by(|a, b| b.score.total_cmp(&a.score));
}

/// The sentences of a passage as plain text, without headings, code, tables and formulas.
fn sentences(passage: &Passage) -> Vec<String> {
    let mut prose = String::new();
    let mut fence: Option<&str> = None;
    for line in passage.text.lines() {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~", "$$"].into_iter().find(|m| trimmed.starts_with(m));
        match (fence, mark) {
            (None, Some(m)) => {
                let closes_itself = m == "$$" && trimmed.len() > 4 && trimmed.trim_end().ends_with("$$");
                fence = (!closes_itself).then_some(m);
                prose.push_str("\n\n");
            }
            (Some(open), Some(m)) if open == m => fence = None,
            (Some(_), _) => {}
            (None, None) if trimmed.starts_with('|') => prose.push('\n'),
            (None, None) if trimmed.starts_with('#') => prose.push_str("\n\n"),
            (None, None) => {
                prose.push_str(line);
                prose.push('\n');
            }
        }
    }
    let prose = plain(&prose).text;
    let mut out = Vec::new();
    for line in prose.lines() {
        let mut start = 0;
        for end in sentence_ends(line).chain([line.len()]) {
            let sentence = line[start..end].trim();
            start = end;
            let letters: usize = sentence
                .chars()
                .filter(|c| c.is_alphanumeric())
                .map(|c| if u32::from(c) >= 0x2e80 { 2 } else { 1 })
                .sum();
            if letters >= MIN_LETTERS && sentence.chars().count() <= MAX_SENTENCE_CHARS {
                out.push(sentence.to_owned());
            }
        }
    }
    out
}

#[cfg(test)]
#[path = "extract_tests.rs"]
mod tests;
