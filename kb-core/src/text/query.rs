//! The terms of a question, and what each counts.

use super::{TokenKind, stop::is_stop_word, tokenize};
use std::collections::HashMap;

/// A term to look for.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The term as the tokeniser gives it.
    pub term: String,
    /// Its share, more than 0: how often it was said.
    pub weight: f32,
}

/// The distinct terms of `text`, in the order of their first occurrence.
///
/// Function words are left out unless nothing else was said. Single characters of a script without
/// spaces are asked for only where they stand alone: the bigrams already say what is meant.
pub fn query_terms(text: &str) -> Vec<QueryTerm> {
    let mut terms: Vec<(QueryTerm, bool)> = Vec::new();
    let mut seen: HashMap<String, usize> = HashMap::new();
    tokenize(text, |token| {
        if matches!(token.kind, TokenKind::Unigram | TokenKind::Final) {
            return;
        }
        if let Some(&at) = seen.get(token.term) {
            terms[at].0.weight += 1.0;
            return;
        }
        seen.insert(token.term.to_owned(), terms.len());
        terms.push((QueryTerm { term: token.term.to_owned(), weight: 1.0 }, is_stop_word(token.term)));
    });
    let all_stop = terms.iter().all(|(_, stop)| *stop);
    terms.into_iter().filter(|(_, stop)| all_stop || !stop).map(|(term, _)| term).collect()
}
