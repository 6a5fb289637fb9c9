//! How far the sentences of an answer are backed by what they cite.

use super::citations::Segment;
use super::passage::Passage;
use crate::document::{Lang, lang::detect, plain};
use crate::text::{TokenKind, is_stop_word, sentence_ends, tokenize};
use serde::Serialize;
use std::collections::HashSet;
use std::ops::Range;

/// Fewer terms than this say nothing that could be checked.
const MIN_TERMS: usize = 2;
/// Share of a sentence's terms that its passages must have.
const SUPPORTED: f32 = 0.5;

/// What is to be thought of a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Verdict {
    /// Its passages hold most of its terms, or mean the same.
    Supported,
    /// They do not: mark it, softly.
    Weak,
    /// It cites nothing.
    Uncited,
    /// It is in another language than its passages, and there is no model to compare the meaning.
    Unknown,
    /// It says nothing that could be checked: a heading, a few words, code, the sentence of refusal.
    NoClaim,
}

/// A sentence of an answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Sentence {
    /// Byte range in the answer's text without its citations.
    pub span_bytes: Range<usize>,
    /// Indices of the passages that it cites.
    pub passages: Vec<usize>,
    /// Share of its terms that stand in one of its passages, 0 to 1; or 1 for a meaning close enough.
    pub support: f32,
    /// What is to be thought of it.
    pub verdict: Verdict,
}

/// The similarity of a sentence and a passage: their cosine, and whether that is close for this model.
pub type Similarity<'a> = &'a dyn Fn(&str, usize) -> Option<bool>;

/// Compares every sentence of an answer with the passages that it cites. `similar` says whether a sentence
/// and a passage mean nearly the same, where there is a model; it is asked only where the words do not
/// suffice.
pub fn check(
    segments: &[Segment],
    passages: &[Passage],
    refusal: &str,
    similar: Option<Similarity<'_>>,
) -> Vec<Sentence> {
    let (text, citations) = flatten(segments);
    let terms: Vec<HashSet<String>> = passages.iter().map(terms_of_passage).collect();
    let mut out = Vec::new();
    for span in sentences(&text) {
        let words = &text[span.clone()];
        let mut cited: Vec<usize> = Vec::new();
        for (at, passage) in &citations {
            if owns(&text, &span, *at) && *passage < passages.len() && !cited.contains(passage) {
                cited.push(*passage);
            }
        }
        let own = content_terms(words);
        let (support, verdict) = if own.len() < MIN_TERMS || is_no_claim(words) || is_refusal(words, refusal) {
            (0.0, Verdict::NoClaim)
        } else if cited.is_empty() {
            (0.0, Verdict::Uncited)
        } else {
            let found = own.iter().filter(|t| cited.iter().any(|p| terms[*p].contains(*t))).count();
            let overlap = found as f32 / own.len() as f32;
            judge(words, overlap, &cited, passages, similar)
        };
        out.push(Sentence { span_bytes: span, passages: cited, support, verdict });
    }
    out
}

fn judge(
    words: &str,
    overlap: f32,
    cited: &[usize],
    passages: &[Passage],
    similar: Option<Similarity<'_>>,
) -> (f32, Verdict) {
    if overlap >= SUPPORTED {
        return (overlap, Verdict::Supported);
    }
    let answers: Vec<bool> = similar.map_or(vec![], |s| cited.iter().filter_map(|p| s(words, *p)).collect());
    if answers.contains(&true) {
        return (1.0, Verdict::Supported);
    }
    let lang = detect(words);
    let foreign = lang != Lang::Other && cited.iter().all(|p| detect(&passages[*p].text) != lang);
    let verdict = if answers.is_empty() && foreign { Verdict::Unknown } else { Verdict::Weak };
    (overlap, verdict)
}

/// How far an answer is backed, 0 to 1: the mean support of its claims, weighted by their length; one
/// without a citation counts 0, one that cannot be judged counts half. 0 without any claim.
pub fn backing(sentences: &[Sentence]) -> f32 {
    let (mut sum, mut total) = (0.0, 0.0);
    for sentence in sentences.iter().filter(|s| s.verdict != Verdict::NoClaim) {
        let length = sentence.span_bytes.len() as f32;
        let support = if sentence.verdict == Verdict::Unknown { 0.5 } else { sentence.support };
        sum += length * support;
        total += length;
    }
    if total > 0.0 { sum / total } else { 0.0 }
}

/// How far an answer can be trusted to come from the knowledge base, 0 to 1: the least of how well the
/// best passage fits the question ([`super::relevance`]) and how far the answer is backed by what it cites
/// ([`backing`]). 0 for a refusal. It says nothing about whether the passages are right.
pub fn confidence(relevance: f32, sentences: &[Sentence]) -> f32 {
    let value = relevance.min(backing(sentences)).clamp(0.0, 1.0);
    libm::roundf(value * 1000.0) / 1000.0
}

/// Whether an answer is the sentence of refusal, apart from white space, marks and citations.
pub fn is_refusal(text: &str, refusal: &str) -> bool {
    let letters = |s: &str| s.chars().filter(|c| c.is_alphanumeric()).collect::<String>();
    let (text, refusal) = (letters(text), letters(refusal));
    !refusal.is_empty() && text.len() <= refusal.len() + 24 && text.contains(&refusal)
}

/// The text without citations, and where each citation stood.
fn flatten(segments: &[Segment]) -> (String, Vec<(usize, usize)>) {
    let (mut text, mut citations) = (String::new(), Vec::new());
    for segment in segments {
        match segment {
            Segment::Text { text: more } => text.push_str(more),
            Segment::Citation { passage, .. } => citations.push((text.len(), *passage)),
        }
    }
    (text, citations)
}

/// The sentences of Markdown: lines, cut where sentences end; code blocks stay whole.
fn sentences(text: &str) -> Vec<Range<usize>> {
    let mut out: Vec<Range<usize>> = Vec::new();
    let mut start = 0;
    let mut fence: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let is_fence = line.trim_start().starts_with("```");
        match (fence, is_fence) {
            (None, true) => fence = Some(start),
            (Some(from), true) => {
                out.push(from..end);
                fence = None;
            }
            (Some(_), false) => {}
            (None, false) => {
                let mut from = start;
                for at in sentence_ends(line).map(|e| start + e).chain([end]) {
                    if !text[from..at].trim().is_empty() {
                        out.push(from..at);
                    }
                    from = at;
                }
            }
        }
        start = end;
    }
    out.extend(fence.map(|from| from..text.len()));
    out
}

/// Whether a citation at `at` belongs to the sentence: inside it or right behind it; at the beginning of a
/// line to the sentence that follows.
fn owns(text: &str, span: &Range<usize>, at: usize) -> bool {
    let begins_line = text[..at].trim_end_matches([' ', '\t', '-', '*', '>']).is_empty()
        || text[..at].trim_end_matches([' ', '\t', '-', '*', '>']).ends_with('\n');
    if begins_line { span.start <= at && at < span.end } else { span.start < at && at <= span.end }
}

/// Headings, code, table rules and questions claim nothing.
fn is_no_claim(words: &str) -> bool {
    let words = words.trim();
    words.starts_with('#') || words.starts_with("```") || words.ends_with(['?', '？', ':', '：'])
}

fn terms_of_passage(passage: &Passage) -> HashSet<String> {
    let text = format!("{} {} {}", passage.heading(), passage.text, plain(&passage.text).text);
    let mut terms = HashSet::new();
    tokenize(&text, |token| {
        terms.insert(token.term.to_owned());
    });
    terms
}

/// The distinct terms of a sentence that say what it is about.
fn content_terms(text: &str) -> HashSet<String> {
    let mut terms = HashSet::new();
    tokenize(&plain(text).text, |token| {
        let counts = token.kind.counts() && token.kind != TokenKind::Single;
        if counts && !is_stop_word(token.term) {
            terms.insert(token.term.to_owned());
        }
    });
    terms
}

#[cfg(test)]
#[path = "support_tests.rs"]
mod tests;
