//! The terms of a question, and what each counts.

use super::question::{weight_of, without_question_words};
use super::{TokenKind, fold_str, stop::is_stop_word, tokenize};
use std::collections::HashMap;

/// A term to look for.
#[derive(Debug, Clone, PartialEq)]
pub struct QueryTerm {
    /// The term as the tokeniser gives it.
    pub term: String,
    /// What it counts, more than 0: how often it was said, half for a Chinese bigram with a function
    /// character.
    pub weight: f32,
    /// The word as it was typed, folded but not stemmed.
    pub typed: String,
    /// Whether the text ends with it, so that it may be unfinished.
    pub last: bool,
}

/// The distinct terms of `text`, in the order of their first occurrence.
///
/// Function and question words are left out unless nothing else was said. Single characters of a script
/// without spaces are asked for only where they stand alone: the bigrams already say what is meant.
pub fn query_terms(text: &str) -> Vec<QueryTerm> {
    let terms = content_terms(&without_question_words(text));
    if terms.is_empty() { all_terms(text) } else { terms }
}

/// What stands in quotation marks in `text`, the marks left out: `"…"`, `“…”`, `「…」`, `『…』`. A mark
/// that is not closed quotes nothing, and so does an empty pair. Nor does a sentence that ends with a question mark:
/// there people set words apart, and do not ask for them to stand as they are.
pub fn quoted(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    if text.trim_end().ends_with(['?', '？']) {
        return found;
    }
    let mut rest = text;
    while let Some((at, open)) = rest.char_indices().find(|(_, c)| closing_of(*c).is_some()) {
        let inside = &rest[at + open.len_utf8()..];
        let Some(end) = closing_of(open).and_then(|close| inside.find(close)) else {
            rest = inside;
            continue;
        };
        let phrase = inside[..end].trim();
        if phrase.chars().any(char::is_alphanumeric) {
            found.push(phrase);
        }
        rest = &inside[end..];
        rest = rest.char_indices().nth(1).map_or("", |(i, _)| &rest[i..]);
    }
    found
}

fn closing_of(open: char) -> Option<char> {
    match open {
        '"' => Some('"'),
        '\u{201C}' => Some('\u{201D}'),
        '「' => Some('」'),
        '『' => Some('』'),
        _ => None,
    }
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
        let last = token.span_bytes.end == text.len();
        if let Some(&at) = seen.get(token.term) {
            terms[at].weight += weight;
            terms[at].last |= last;
            return;
        }
        seen.insert(token.term.to_owned(), terms.len());
        let typed = text.get(token.span_bytes).map(fold_str).unwrap_or_default();
        terms.push(QueryTerm { term: token.term.to_owned(), weight, typed, last });
    });
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_of_both_kinds() {
        for (text, expected) in [
            ("say \"shortest path\" now", vec!["shortest path"]),
            ("“最短路” 和 「负环」", vec!["最短路", "负环"]),
            ("\"a\" b \"c d\"", vec!["a", "c d"]),
            ("an open \"mark", vec![]),
            ("\"\" and \"!\"", vec![]),
            ("“open \"closed\"", vec!["closed"]),
            ("what is a \"shallow\" copy?", vec![]),
            ("什么是“浅拷贝”？ ", vec![]),
        ] {
            assert_eq!(quoted(text), expected, "{text}");
        }
    }

    #[test]
    fn a_term_remembers_how_it_was_typed() {
        let terms = query_terms("Running useEff");
        let found: Vec<_> = terms.iter().map(|t| (t.term.as_str(), t.typed.as_str(), t.last)).collect();
        assert_eq!(
            found,
            [("run", "running", false), ("useeff", "useeff", true), ("use", "use", false), ("eff", "eff", true)]
        );
        assert!(query_terms("graph ").iter().all(|t| !t.last));
    }
}
