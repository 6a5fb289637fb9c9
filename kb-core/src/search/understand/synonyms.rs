//! Words that people type for words that documents use: a list of our own, and an author's.

use crate::text::fold_str;
use crate::{Error, ErrorKind, Result};
use std::borrow::Cow;

/// Largest list of an author.
pub const MAX_SYNONYM_BYTES: usize = 256 << 10;
/// Most entries of it.
const MAX_ENTRIES: usize = 10_000;

const BUILT_IN: &str = include_str!("synonyms.txt");

/// What is looked up in place of what was typed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Synonyms {
    /// Folded text and what replaces it, the longest first.
    rewrites: Vec<(String, String)>,
    /// Folded words for one thing.
    groups: Vec<Vec<String>>,
}

impl Default for Synonyms {
    /// The list that comes with the program.
    fn default() -> Self {
        let mut own = Self { rewrites: Vec::new(), groups: Vec::new() };
        // The file is part of the program; a test reads it.
        let _ = own.add(BUILT_IN);
        own
    }
}

impl Synonyms {
    /// The list of the program with that of an author, whose rewrites go first.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a line that is no entry, [`ErrorKind::TooLarge`] for more than 256 KiB or
    /// 10,000 lines.
    pub fn with(text: &str) -> Result<Self> {
        let mut all = Self { rewrites: Vec::new(), groups: Vec::new() };
        all.add(text)?;
        let Self { rewrites, groups } = Self::default();
        all.rewrites.extend(rewrites);
        // Stable: an author's entry stays before ours of the same length.
        all.rewrites.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        all.groups.extend(groups);
        Ok(all)
    }

    fn add(&mut self, text: &str) -> Result<()> {
        if text.len() > MAX_SYNONYM_BYTES || text.lines().count() > MAX_ENTRIES {
            let what = format!("the list of synonyms is longer than {MAX_SYNONYM_BYTES} bytes or {MAX_ENTRIES} lines");
            return Err(Error::new(ErrorKind::TooLarge, what));
        }
        for (i, line) in text.lines().enumerate() {
            let line = line.trim_start_matches('\u{feff}').trim();
            if line.is_empty() || line.starts_with(['#', '＃']) {
                continue;
            }
            let bad = || {
                let what = format!("line {} of the list of synonyms is neither `a → b` nor `a = b`: {line}", i + 1);
                Error::new(ErrorKind::InvalidInput, what)
            };
            if let Some((from, to)) = line.split_once('→').or_else(|| line.split_once("->")) {
                let (from, to) = (fold_str(from.trim()), to.trim().to_owned());
                if from.is_empty() || to.is_empty() {
                    return Err(bad());
                }
                self.rewrites.push((from, to));
            } else {
                let words: Vec<String> = line.split(['=', '＝']).map(|w| fold_str(w.trim())).collect();
                if words.len() < 2 || words.iter().any(String::is_empty) {
                    return Err(bad());
                }
                self.groups.push(words);
            }
        }
        self.rewrites.sort_by_key(|(from, _)| std::cmp::Reverse(from.len()));
        Ok(())
    }

    /// `text` with each whole `word` replaced by `with`.
    pub(crate) fn replace(text: &str, word: &str, with: &str) -> String {
        let own = Self { rewrites: vec![(word.to_owned(), with.to_owned())], groups: Vec::new() };
        own.rewrite(text).into_owned()
    }

    /// `text` with what is to be rewritten in it. Nothing is rewritten twice.
    pub fn rewrite<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let folded = fold_str(text);
        if !self.rewrites.iter().any(|(from, _)| folded.contains(from.as_str())) {
            return Cow::Borrowed(text);
        }
        let mut out = String::with_capacity(text.len());
        let mut at = 0;
        while let Some(c) = text[at..].chars().next() {
            let found = self.rewrites.iter().find_map(|(from, to)| Some((word_at(text, at, from)?, to)));
            match found {
                Some((end, to)) => {
                    out.push_str(to);
                    at = end;
                }
                None => {
                    out.push(c);
                    at += c.len_utf8();
                }
            }
        }
        Cow::Owned(out)
    }

    /// For each word of a group that stands in `text`: the word, and the others of its group.
    pub fn alternatives<'s>(&'s self, text: &str) -> Vec<(&'s str, Vec<&'s str>)> {
        let folded = fold_str(text);
        let stands = |word: &str| folded.match_indices(word).any(|(at, _)| word_at(&folded, at, word).is_some());
        let mut found = Vec::new();
        for group in &self.groups {
            if let Some(word) = group.iter().find(|w| stands(w)) {
                let others = group.iter().filter(|w| *w != word).map(String::as_str).collect();
                found.push((word.as_str(), others));
            }
        }
        found
    }
}

/// Where `word`, which is folded, ends if it stands at `at`: a word of letters without neighbours that go on, Chinese
/// anywhere.
fn word_at(text: &str, at: usize, word: &str) -> Option<usize> {
    let (mut left, mut end) = (word, at);
    for c in text[at..].chars() {
        if left.is_empty() {
            break;
        }
        left = left.strip_prefix(fold_str(c.encode_utf8(&mut [0; 4])).as_str())?;
        end += c.len_utf8();
    }
    if !left.is_empty() || end == at {
        return None;
    }
    let goes_on = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let joined = |inner: Option<char>, outer: Option<char>| inner.is_some_and(goes_on) && outer.is_some_and(goes_on);
    let before = joined(word.chars().next(), text[..at].chars().next_back());
    let after = joined(word.chars().next_back(), text[end..].chars().next());
    (!before && !after).then_some(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_spoken_becomes_what_is_written() {
        let own = Synonyms::default();
        for (typed, looked_up) in [
            ("numpy 咋装", "numpy 如何安装"),
            ("这是啥意思", "这是含义"),
            ("程序跑不起来咋办", "程序无法运行解决方法"),
            ("useEffect咋用", "useEffect如何使用"),
            ("nothing to do", "nothing to do"),
        ] {
            assert_eq!(own.rewrite(typed), looked_up);
        }
    }

    #[test]
    fn words_of_a_group_are_found_whole() {
        let own = Synonyms::default();
        let of = |text: &str| own.alternatives(text).into_iter().map(|(w, _)| w.to_owned()).collect::<Vec<_>>();
        assert_eq!(of("k8s DB"), ["k8s", "db"]);
        assert!(of("stray").is_empty() && of("jsx").is_empty());
    }

    #[test]
    fn an_author_goes_first_and_is_told_what_is_wrong() {
        let own = Synonyms::with("咋装 -> 安装指南\n# c\n＃ 注\nfoo = bar ＝ Baz\n").expect("a list");
        assert_eq!(own.rewrite("咋装"), "安装指南");
        assert_eq!(own.alternatives("a bar"), [("bar", vec!["foo", "baz"])]);
        for bad in ["one", "a → ", " = b", "→ b"] {
            let e = Synonyms::with(bad).expect_err("no entry");
            assert!(e.message().contains("line 1"), "{bad}: {e}");
        }
        assert!(Synonyms::with(&"a = b\n".repeat(MAX_ENTRIES + 1)).is_err());
    }
}
