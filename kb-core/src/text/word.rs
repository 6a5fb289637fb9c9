//! Words and identifiers of scripts with spaces.

use super::{Letter, MAX_TERM_BYTES, Token, TokenKind, stem};

/// Collects the letters of a word or identifier until something ends it.
#[derive(Default)]
pub(super) struct WordBuffer {
    /// Letters and joiners; begins with a letter, never holds two joiners of which one is not allowed
    /// to be followed.
    letters: Vec<Letter>,
    /// Reused for terms.
    term: Vec<u8>,
}

/// What may stand between two parts of an identifier.
fn is_joiner(c: char) -> bool {
    matches!(c, '.' | '_' | '-' | ':' | '\'' | '\u{2019}')
}

impl WordBuffer {
    /// Takes the next character that is not of a script without spaces.
    pub fn push(&mut self, letter: Letter, text: &str, sink: &mut dyn FnMut(Token<'_>)) {
        let c = letter.folded;
        if c.is_alphanumeric() {
            // One colon ends a word; only two join.
            if self.letters.last().is_some_and(|l| l.folded == ':') && !self.ends_with_two(':') {
                self.flush(sink);
            }
            self.letters.push(letter);
            return;
        }
        let Some(last) = self.letters.last().map(|l| l.folded) else { return };
        // `__` and `::` are joiners of two characters, all others stand alone.
        if is_joiner(c) && (!is_joiner(last) || c == last && matches!(c, '_' | ':') && !self.ends_with_two(c)) {
            self.letters.push(letter);
            return;
        }
        if let Some(end) = self.end_of_plus_or_sharp(letter, text) {
            self.letters.push(Letter { end, ..letter });
        }
        self.flush(sink);
    }

    /// A combining mark belongs to the letter before it.
    pub fn extend_last(&mut self, end: usize) {
        if let Some(last) = self.letters.last_mut() {
            last.end = end;
        }
    }

    fn ends_with_two(&self, c: char) -> bool {
        matches!(self.letters.as_slice(), [.., a, b] if a.folded == c && b.folded == c)
    }

    /// `c++`, `g++`, `c#`, `f#`: where the sign ends, if nothing else follows it.
    fn end_of_plus_or_sharp(&self, letter: Letter, text: &str) -> Option<usize> {
        let rest = text.get(letter.start..)?;
        let one_letter = matches!(self.letters.as_slice(), [l] if l.folded.is_alphabetic());
        let sign = if rest.starts_with("++") && self.letters.last()?.folded.is_alphabetic() {
            "++"
        } else if rest.starts_with('#') && one_letter {
            "#"
        } else {
            return None;
        };
        let follows = rest[sign.len()..].chars().next();
        (!follows.is_some_and(|c| c.is_alphanumeric() || c == '+' || c == '#')).then(|| letter.start + sign.len())
    }

    /// Emits what was collected.
    pub fn flush(&mut self, sink: &mut dyn FnMut(Token<'_>)) {
        while self.letters.last().is_some_and(|l| is_joiner(l.folded)) {
            self.letters.pop();
        }
        if self.letters.is_empty() {
            return;
        }
        let letters = std::mem::take(&mut self.letters);
        self.emit_all(&letters, sink);
        self.letters = letters;
        self.letters.clear();
    }

    fn emit_all(&mut self, letters: &[Letter], sink: &mut dyn FnMut(Token<'_>)) {
        let letters = without_english_ending(letters);
        let Some((last, before)) = letters.split_last() else { return };
        if matches!(last.folded, '+' | '#') {
            // The sign is one letter here, whatever its length: c++ counts as one word.
            self.emit(letters, TokenKind::Word, sink);
            if before.len() > 1 {
                self.emit(before, TokenKind::Part, sink);
            }
            return;
        }
        let number = letters.iter().all(|l| l.folded.is_numeric() || l.folded == '.');
        let mut parts = parts(letters).peekable();
        let Some(first) = parts.next() else { return };
        if number || parts.peek().is_none() {
            self.emit(if number { letters } else { first }, TokenKind::Word, sink);
            return;
        }
        self.emit(letters, TokenKind::Whole, sink);
        self.emit(first, TokenKind::Part, sink);
        for part in parts {
            self.emit(part, TokenKind::Part, sink);
        }
    }

    fn emit(&mut self, letters: &[Letter], kind: TokenKind, sink: &mut dyn FnMut(Token<'_>)) {
        let ([first, ..], [.., last]) = (letters, letters) else { return };
        self.term.clear();
        let mut utf8 = [0; 4];
        for (i, l) in letters.iter().enumerate() {
            if is_silent_joiner(letters, i) {
                continue;
            }
            let bytes = if l.folded == '+' { b"++" } else { l.folded.encode_utf8(&mut utf8).as_bytes() };
            if self.term.len() + bytes.len() > MAX_TERM_BYTES {
                if kind == TokenKind::Whole {
                    return;
                }
                break;
            }
            self.term.extend_from_slice(bytes);
        }
        stem(&mut self.term);
        if let Ok(term) = std::str::from_utf8(&self.term) {
            sink(Token { term, span_bytes: first.start..last.end, kind });
        }
    }
}

/// A hyphen, underscore or apostrophe between letters is not part of the whole form, so that `pre-trained` meets
/// `pretrained` and `use_effect` meets `useEffect`. Between digits it is: 1-2 is not 12.
fn is_silent_joiner(letters: &[Letter], i: usize) -> bool {
    let is_letter = |l: Option<&Letter>| l.is_some_and(|l| l.folded.is_alphabetic() || l.folded == '_');
    matches!(letters[i].folded, '-' | '_' | '\'' | '\u{2019}')
        && is_letter(i.checked_sub(1).and_then(|p| letters.get(p)))
        && is_letter(letters.get(i + 1))
}

/// Drops `'s`, `n't`, `'re` and the like from the end.
fn without_english_ending(letters: &[Letter]) -> &[Letter] {
    let Some(at) = letters.iter().rposition(|l| matches!(l.folded, '\'' | '\u{2019}')) else { return letters };
    let ending: String = letters[at + 1..].iter().take(3).map(|l| l.folded).collect();
    if matches!(ending.as_str(), "s" | "t" | "d" | "m" | "re" | "ve" | "ll") && at > 0 {
        &letters[..at]
    } else {
        letters
    }
}

/// The parts of an identifier: cut at joiners, where camel case changes, and before digits after two
/// or more letters.
fn parts(letters: &[Letter]) -> impl Iterator<Item = &[Letter]> {
    letters.split(|l| is_joiner(l.folded)).flat_map(|piece| {
        let mut rest = piece;
        std::iter::from_fn(move || {
            if rest.is_empty() {
                return None;
            }
            let cut = (1..rest.len()).find(|&i| is_cut(rest, i)).unwrap_or(rest.len());
            let (part, tail) = rest.split_at(cut);
            rest = tail;
            Some(part)
        })
    })
}

/// Whether a new part begins at `i`: `use|Effect`, `HTTP|Server`, `float|32`.
fn is_cut(letters: &[Letter], i: usize) -> bool {
    let (before, here) = (letters[i - 1], letters[i]);
    // Letters that one character folded to (ß → ss) stay together.
    if before.start == here.start {
        return false;
    }
    if here.folded.is_numeric() {
        return i >= 2 && before.folded.is_alphabetic() && letters[..i].iter().all(|l| l.folded.is_alphabetic());
    }
    let next_is_lower = letters.get(i + 1).is_some_and(|n| n.folded.is_alphabetic() && !n.upper);
    here.upper && before.folded.is_alphabetic() && (!before.upper || next_is_lower)
}
