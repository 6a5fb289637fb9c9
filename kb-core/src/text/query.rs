//! The terms of a question, and what each counts.

use super::question::{weight_of, without_question_words};
use super::{TokenKind, stop::is_stop_word, tokenize};
use std::collections::HashMap;

/// A term to look for.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The term as the tokeniser gives it.
    pub term: String,
    /// What it counts, more than 0: how often it was said, half for a Chinese bigram with a function
    /// character.
    pub weight: f32,
}

/// The distinct terms of `text`, in the order of their first occurrence.
///
/// Function and question words are left out unless nothing else was said. Single characters of a script
/// without spaces are asked for only where they stand alone: the bigrams already say what is meant.
pub fn query_terms(text: &str) -> Vec<QueryTerm> {
    let terms = content_terms(&without_question_words(text));
    if terms.is_empty() { all_terms(text) } else { terms }
}

fn content_terms(text: &str) -> Vec<QueryTerm> {
    let mut terms = all_terms(text);
    terms.retain(|t| !is_stop_word(&t.term));
    terms
}

fn all_terms(text: &str) -> Vec<QueryTerm> {
    let mut terms: Vec<QueryTerm> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    tokenize(text, |token| {
        if matches!(token.kind, TokenKind::Unigram | TokenKind::Final) {
            return;
        }
        let weight = weight_of(token.term);
        if let Some(&at) = seen.get(token.term) {
            terms[at].weight += weight;
            return;
        }
        seen.insert(token.term.to_owned(), terms.len());
        terms.push(QueryTerm { term: token.term.to_owned(), weight });
    });
    terms
}
