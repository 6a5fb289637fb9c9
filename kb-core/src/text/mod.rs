//! The one tokeniser, used when an index is built and when a question is asked, so that both sides
//! always cut text the same way.
//!
//! - Characters are folded first ([`fold`]): case, width, diacritics, traditional Chinese to simplified.
//! - Words are runs of letters and digits; English ones are stemmed ([`stem`]).
//! - Identifiers give their whole form and their parts: `np.linalg.norm` → `np.linalg.norm`, `np`,
//!   `linalg`, `norm`; `useEffect` → `useeffect`, `use`, `effect`. Error codes (`0x80070005`,
//!   `E0382`), numbers (`3.14`) and `c++` stay whole.
//! - Scripts without spaces give overlapping bigrams and single characters: 最短路 → 最短, 短路, 最, 短, 路.
//!
//! Time is linear in the length of the text.

mod fold;
mod fold_han;
mod fold_tables;
mod query;
mod question;
pub mod script;
mod sentence;
mod stem;
mod stop;
mod word;

pub use fold::{fold, fold_str};
pub use query::{QueryTerm, query_terms, quoted};
pub use sentence::{is_clause_mark, sentence_ends};
pub use stem::stem;
pub(crate) use stop::is_stop_word;

use script::is_unspaced;
use std::ops::Range;

/// Longest term in bytes; longer words are cut, longer identifiers are not indexed whole.
pub const MAX_TERM_BYTES: usize = 64;

/// What a token is, for those who weigh them differently.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TokenKind {
    /// A plain word, stemmed if English; a number; an error code.
    Word,
    /// An identifier or hyphenated word as a whole. Its parts follow.
    Whole,
    /// A part of the identifier before it.
    Part,
    /// Two neighbouring characters of a script without spaces.
    Bigram,
    /// One such character inside a longer run, with another one after it.
    Unigram,
    /// The last character of such a longer run.
    Final,
    /// One such character that stands alone.
    Single,
}

impl TokenKind {
    /// Whether the token counts in the length of a text. Whole identifiers and unigrams repeat what
    /// their parts and bigrams already count.
    pub fn counts(self) -> bool {
        !matches!(self, Self::Whole | Self::Unigram | Self::Final)
    }
}

/// A term and where it was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token<'a> {
    /// The folded, stemmed term: never empty, at most [`MAX_TERM_BYTES`] long.
    pub term: &'a str,
    /// Byte range in the text that was given.
    pub span_bytes: Range<usize>,
    /// What it is.
    pub kind: TokenKind,
}

/// One folded character of the text.
#[derive(Clone, Copy)]
pub(crate) struct Letter {
    /// Folded.
    pub folded: char,
    /// Whether it was written in upper case.
    pub upper: bool,
    /// Where its source begins and ends.
    pub start: usize,
    pub end: usize,
}

/// Passes every token of `text` to `sink`, in order of their ends (a whole identifier before its parts).
pub fn tokenize(text: &str, mut sink: impl FnMut(Token<'_>)) {
    tokenize_into(text, &mut sink);
}

/// Compiled once, not for every caller: the browser's first module is small.
fn tokenize_into(text: &str, sink: &mut dyn FnMut(Token<'_>)) {
    let mut run = UnspacedRun::default();
    let mut word = word::WordBuffer::default();
    for (start, c) in text.char_indices() {
        let end = start + c.len_utf8();
        let mut folded_to_nothing = true;
        fold(c, &mut |folded| {
            folded_to_nothing = false;
            let letter = Letter { folded, upper: c.is_uppercase(), start, end };
            if is_unspaced(folded) {
                word.flush(sink);
                run.push(letter, sink);
            } else {
                run.flush(sink);
                word.push(letter, text, sink);
            }
        });
        if folded_to_nothing {
            word.extend_last(end);
        }
    }
    run.flush(sink);
    word.flush(sink);
}

/// A run of characters of a script without spaces; remembers only the last one.
#[derive(Default)]
struct UnspacedRun {
    last: Option<Letter>,
    longer_than_one: bool,
}

impl UnspacedRun {
    fn push(&mut self, letter: Letter, sink: &mut dyn FnMut(Token<'_>)) {
        if let Some(last) = self.last {
            emit(&[last], TokenKind::Unigram, sink);
            emit(&[last, letter], TokenKind::Bigram, sink);
            self.longer_than_one = true;
        }
        self.last = Some(letter);
    }

    fn flush(&mut self, sink: &mut dyn FnMut(Token<'_>)) {
        if let Some(last) = self.last.take() {
            let kind = if self.longer_than_one { TokenKind::Final } else { TokenKind::Single };
            emit(&[last], kind, sink);
        }
        self.longer_than_one = false;
    }
}

fn emit(letters: &[Letter], kind: TokenKind, sink: &mut dyn FnMut(Token<'_>)) {
    let mut buffer = [0; 8];
    let mut len = 0;
    for letter in letters {
        len += letter.folded.encode_utf8(&mut buffer[len..]).len();
    }
    if let (Ok(term), [first, ..], [.., last]) = (std::str::from_utf8(&buffer[..len]), letters, letters) {
        sink(Token { term, span_bytes: first.start..last.end, kind });
    }
}

#[cfg(test)]
mod tests;
