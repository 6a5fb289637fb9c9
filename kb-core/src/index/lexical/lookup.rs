//! What is looked up for a word of a question: itself, or terms of the index near it. A mistyped word
//! stands for the nearest terms, an unfinished one for those that it begins.

use super::{LexicalIndex, alphabet};
use crate::Result;
use crate::text::QueryTerm;
use std::collections::{BTreeMap, BTreeSet};

/// Shorter words have too many neighbours to be corrected.
const MIN_CORRECTED_LETTERS: usize = 5;
/// Longer words are not corrected: nobody types them.
const MAX_CORRECTED_LETTERS: usize = 32;
/// Most terms that one mistyped word stands for.
const MAX_CORRECTIONS: usize = 3;
/// Most words of a question that are corrected; each costs a walk through the dictionary.
const MAX_CORRECTED_WORDS: usize = 6;
/// What a term counts at one and at two mistakes.
const CORRECTION_FACTORS: [f32; 2] = [0.8, 0.5];
/// Most terms that an unfinished word stands for, the most frequent ones.
const MAX_COMPLETIONS: usize = 24;
/// Most terms that are looked at for that.
const MAX_COMPLETIONS_SEEN: usize = 400;
/// What a completed word counts beside one that was typed in full.
const COMPLETION_FACTOR: f32 = 0.7;

/// One word of a question, as terms of the index of which any will do.
#[derive(Debug, Clone, PartialEq)]
pub struct Lookup {
    /// What the word counts in the question, above 0.
    pub weight: f32,
    /// The terms with what a match of each counts, 0 to 1. The first one is the word itself.
    pub forms: Vec<(String, f32)>,
    /// Whether the word is not in the index and the other forms are corrections of it.
    pub corrected: bool,
    /// Whether it is still being typed.
    pub unfinished: bool,
}

impl Lookup {
    /// The word itself and nothing else.
    pub fn exact(term: &QueryTerm) -> Self {
        Self { weight: term.weight, forms: vec![(term.term.clone(), 1.0)], corrected: false, unfinished: false }
    }

    /// How sure it is that a passage with one of the forms has the word, 0 to 1.
    pub(super) fn certainty(&self) -> f32 {
        match self.forms.get(1) {
            Some((_, factor)) if self.corrected => *factor,
            _ => 1.0,
        }
    }

    /// The word and the other terms that stand for it.
    pub fn correction(&self) -> Option<(String, Vec<String>)> {
        let (word, others) = self.forms.split_first()?;
        Some((word.0.clone(), others.iter().map(|(term, _)| term.clone()).collect()))
    }
}

impl LexicalIndex {
    /// What to look up for `terms`. Words that the index lacks are corrected; with `unfinished` the last
    /// word is completed.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Corrupt`] if the dictionary is damaged.
    pub fn lookups(&self, terms: &[QueryTerm], unfinished: bool) -> Result<Vec<Lookup>> {
        let mut corrected = 0;
        terms
            .iter()
            .map(|term| {
                let mut lookup = Lookup::exact(term);
                if unfinished && term.last {
                    lookup.unfinished = true;
                    let completions = self.beginning_with(&term.typed)?;
                    let others = completions.into_iter().filter(|t| *t != term.term);
                    lookup.forms.extend(others.map(|t| (t, COMPLETION_FACTOR)));
                }
                let may_be_mistyped = corrected < MAX_CORRECTED_WORDS && is_correctable(term);
                if lookup.forms.len() == 1 && may_be_mistyped && self.lacks(&term.term)? {
                    corrected += 1;
                    lookup.forms.extend(self.similar(term)?);
                    lookup.corrected = lookup.forms.len() > 1;
                }
                Ok(lookup)
            })
            .collect()
    }

    /// In how many passages, titles and headings `term` is, without reading where: the largest of the three.
    ///
    /// # Errors
    /// [`crate::ErrorKind::Corrupt`] if the dictionary is damaged.
    pub fn posting_count(&self, term: &str) -> Result<u32> {
        let mut bytes = Vec::with_capacity(term.len());
        alphabet::encode(term, &mut bytes);
        let mut most = 0;
        for field in &self.fields {
            most = most.max(field.posting_count(&self.bytes, &bytes)?);
        }
        Ok(most)
    }

    /// Whether no passage has `term`, as far as can be told: what has not come may have it.
    pub(crate) fn lacks(&self, term: &str) -> Result<bool> {
        let mut bytes = Vec::with_capacity(term.len());
        alphabet::encode(term, &mut bytes);
        Ok(self.posting_count(term)? == 0 && self.fields.iter().all(|field| field.can_tell(&bytes)))
    }

    /// The terms nearest to a word that is not in the index, with what each counts: only those at the least
    /// number of mistakes, the most frequent first. A word at two mistakes must begin alike, and what is left
    /// of a longer word without its ending is too short for two: `revis` is not `rebas`.
    fn similar(&self, word: &QueryTerm) -> Result<Vec<(String, f32)>> {
        let pattern = word.term.as_bytes();
        let letters = letters_of(pattern);
        let two_allowed = pattern.len() > MIN_CORRECTED_LETTERS || word.term == word.typed;
        let mut found: [BTreeSet<String>; 2] = Default::default();
        for field in &self.fields {
            field.terms_from(&self.bytes, &[], &mut |term| {
                let near = pattern.len().abs_diff(term.len()) <= 2
                    && (letters ^ letters_of(term)).count_ones() <= 4
                    && term.iter().all(u8::is_ascii_alphanumeric);
                match near.then(|| distance(pattern, term)).flatten() {
                    Some(1) => {
                        found[0].insert(String::from_utf8_lossy(term).into_owned());
                    }
                    Some(2) if two_allowed && found[0].is_empty() && pattern.first() == term.first() => {
                        found[1].insert(String::from_utf8_lossy(term).into_owned());
                    }
                    _ => {}
                }
                true
            })?;
        }
        let [one, two] = found;
        let (terms, factor) = if one.is_empty() { (two, CORRECTION_FACTORS[1]) } else { (one, CORRECTION_FACTORS[0]) };
        let mut terms = self.most_frequent(terms)?;
        terms.truncate(MAX_CORRECTIONS);
        Ok(terms.into_iter().map(|t| (t, factor)).collect())
    }

    /// The terms that an unfinished word may become, the most frequent ones. Terms are stems: `configurat`
    /// is longer than `configur`, and yet on the way to `configuration`.
    fn beginning_with(&self, typed: &str) -> Result<Vec<String>> {
        let mut bytes = Vec::with_capacity(typed.len());
        alphabet::encode(typed, &mut bytes);
        if typed.chars().count() < 2 {
            return Ok(Vec::new());
        }
        let mut found = BTreeSet::new();
        for field in &self.fields {
            field.terms_from(&self.bytes, &bytes, &mut |term| {
                let begins = term.starts_with(&bytes);
                if begins && term.is_ascii() {
                    found.insert(String::from_utf8_lossy(term).into_owned());
                }
                begins && found.len() < MAX_COMPLETIONS_SEEN
            })?;
        }
        if found.is_empty() && typed.is_ascii() {
            for cut in (4..typed.len()).rev() {
                let (stem, rest) = typed.split_at(cut);
                if ENDINGS.iter().any(|e| e.starts_with(rest)) && self.posting_count(stem)? > 0 {
                    found.insert(stem.to_owned());
                    break;
                }
            }
        }
        let mut found = self.most_frequent(found)?;
        found.truncate(MAX_COMPLETIONS);
        Ok(found)
    }

    fn most_frequent(&self, terms: BTreeSet<String>) -> Result<Vec<String>> {
        let mut counted: BTreeMap<(std::cmp::Reverse<usize>, String), ()> = BTreeMap::new();
        for term in terms {
            counted.insert((std::cmp::Reverse(self.document_frequency(&term)?), term), ());
        }
        Ok(counted.into_keys().map(|(_, term)| term).collect())
    }
}

/// Endings that the stemmer takes away.
const ENDINGS: [&str; 12] =
    ["ation", "ations", "ational", "ing", "ings", "ed", "er", "ers", "able", "ment", "ly", "es"];

/// Whether a word is one that people mistype: letters only, neither an identifier nor a number.
fn is_correctable(term: &QueryTerm) -> bool {
    let typed = term.typed.as_bytes();
    (MIN_CORRECTED_LETTERS..=MAX_CORRECTED_LETTERS).contains(&typed.len())
        && typed.iter().all(u8::is_ascii_alphabetic)
        && term.term.is_ascii()
}

/// One bit for each letter that occurs, one for all digits.
fn letters_of(word: &[u8]) -> u32 {
    word.iter().fold(0, |set, c| if c.is_ascii_lowercase() { set | 1 << (c - b'a') } else { set | 1 << 26 })
}

/// How many letters were left out, added, replaced, or changed places with their neighbour (optimal string
/// alignment), if that is at most 2.
fn distance(a: &[u8], b: &[u8]) -> Option<usize> {
    const LIMIT: usize = 2;
    if a.len().abs_diff(b.len()) > LIMIT {
        return None;
    }
    let mut before = vec![usize::MAX; b.len() + 1];
    let mut last: Vec<usize> = (0..=b.len()).collect();
    let mut row = vec![0; b.len() + 1];
    for i in 1..=a.len() {
        row[0] = i;
        let mut least = i;
        for j in 1..=b.len() {
            let replaced = last[j - 1] + usize::from(a[i - 1] != b[j - 1]);
            let mut best = replaced.min(last[j] + 1).min(row[j - 1] + 1);
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(before[j - 2] + 1);
            }
            row[j] = best;
            least = least.min(best);
        }
        if least > LIMIT {
            return None;
        }
        std::mem::swap(&mut before, &mut last);
        std::mem::swap(&mut last, &mut row);
    }
    last.last().copied().filter(|d| *d <= LIMIT)
}

#[cfg(all(test, feature = "build"))]
mod tests {
    use super::*;
    use crate::index::lexical::LexicalBuilder;
    use crate::text::query_terms;

    fn index(texts: &[&str]) -> LexicalIndex {
        let mut builder = LexicalBuilder::new();
        for text in texts {
            builder.add("", "", text).expect("small");
        }
        builder.build().expect("small")
    }

    fn forms(index: &LexicalIndex, text: &str, unfinished: bool) -> Vec<String> {
        let lookups = index.lookups(&query_terms(text), unfinished).expect("sound");
        lookups.into_iter().flat_map(|l| l.forms).map(|(t, _)| t).collect()
    }

    /// Counted by hand; `ca` and `abc` are the classic pair that tells optimal string alignment (3) from
    /// the unrestricted distance (2).
    #[test]
    fn mistakes_are_counted() {
        for (a, b, expected) in [
            ("apple", "apple", Some(0)),
            ("aplpe", "apple", Some(1)),
            ("recieve", "receive", Some(1)),
            ("kitten", "sitten", Some(1)),
            ("gumbo", "gambol", Some(2)),
            ("kitten", "sitting", None),
            ("ca", "abc", None),
            ("", "ab", Some(2)),
            ("", "abc", None),
        ] {
            assert_eq!(distance(a.as_bytes(), b.as_bytes()), expected, "{a} {b}");
        }
    }

    #[test]
    fn a_word_that_is_not_there_stands_for_the_nearest_ones() {
        let index = index(&["the algorithm works", "an algorite", "logarithm and rhythm", "cats"]);
        assert_eq!(forms(&index, "algoritm", false), ["algoritm", "algorit", "algorithm"]);
        // Two neighbours changed places, and one letter is missing.
        assert_eq!(forms(&index, "logairthm", false), ["logairthm", "logarithm"]);
        assert_eq!(forms(&index, "alogritm", false), ["alogritm", "algorit", "algorithm"]);
        // One that is there is not corrected, neither are short words, identifiers and numbers.
        assert_eq!(forms(&index, "logarithm", false), ["logarithm"]);
        assert_eq!(forms(&index, "cads", false), ["cad"]);
        assert_eq!(forms(&index, "algor1tm", false)[0], "algor1tm");
        let index = self::index(&["rebase and refuse"]);
        assert_eq!(forms(&index, "revisions", false), ["revis"]);
    }

    #[test]
    fn the_last_word_is_completed_while_it_is_typed() {
        let index = index(&["configuration of graphs", "graph", "a gravel road", "Grammar"]);
        assert_eq!(forms(&index, "gra", true), ["gra", "graph", "grammar", "gravel"]);
        assert_eq!(forms(&index, "gra", false), ["gra"]);
        assert_eq!(forms(&index, "gra ", true), ["gra"]);
        assert_eq!(forms(&index, "configurati", true), ["configurati", "configur"]);
        assert_eq!(forms(&index, "gra configur", true)[..2], ["gra", "configur"]);
    }
}
