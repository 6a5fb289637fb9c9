//! The English stemmer of Snowball (Porter2), after the algorithm's published description at
//! <https://snowballstem.org/algorithms/english/stemmer.html>, as of Snowball 3.1.

/// Words that the rules would get wrong, with their stems.
const EXCEPTIONS: [(&[u8], &[u8]); 15] = [
    (b"andes", b"andes"),
    (b"atlas", b"atlas"),
    (b"bias", b"bias"),
    (b"cosmos", b"cosmos"),
    (b"early", b"earli"),
    (b"gently", b"gentl"),
    (b"howe", b"howe"),
    (b"idly", b"idl"),
    (b"news", b"news"),
    (b"only", b"onli"),
    (b"singly", b"singl"),
    (b"skies", b"sky"),
    (b"skis", b"ski"),
    (b"sky", b"sky"),
    (b"ugly", b"ugli"),
];

/// Beginnings after which R1 starts, so that `general` and `generate` keep apart.
const R1_PREFIXES: [&[u8]; 9] =
    [b"arsen", b"commun", b"emerg", b"gener", b"inter", b"later", b"organ", b"past", b"univers"];

/// Reduces an English word to its stem in place. Only words of three or more lower-case ASCII letters
/// change; everything else is left alone.
pub fn stem(word: &mut Vec<u8>) {
    if word.len() < 3 || !word.iter().all(u8::is_ascii_lowercase) {
        return;
    }
    if let Some((_, stem)) = EXCEPTIONS.iter().find(|(w, _)| w == word) {
        word.clear();
        word.extend_from_slice(stem);
        return;
    }
    let mut s = Stemmer::new(word);
    s.plural();
    if !s.is_whole_word(&[b"inning", b"outing", b"canning", b"herring", b"earring", b"evening"]) {
        s.past_and_ing();
        s.final_y();
        s.suffixes_2();
        s.suffixes_3();
        s.suffixes_4();
        s.final_e_l();
    }
    word.make_ascii_lowercase();
}

/// `Y` in upper case is a consonant, as in the published description.
fn is_vowel(letter: u8) -> bool {
    matches!(letter, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

struct Stemmer<'a> {
    word: &'a mut Vec<u8>,
    /// Where the regions R1 and R2 begin; suffixes are mostly removed inside them.
    r1: usize,
    r2: usize,
}

impl<'a> Stemmer<'a> {
    fn new(word: &'a mut Vec<u8>) -> Self {
        for i in 0..word.len() {
            if word[i] == b'y' && (i == 0 || is_vowel(word[i - 1])) {
                word[i] = b'Y';
            }
        }
        let after_prefix = R1_PREFIXES.iter().find(|p| word.starts_with(p)).map(|p| p.len());
        let r1 = after_prefix.unwrap_or_else(|| region_after(word, 0));
        let r2 = region_after(word, r1);
        Self { word, r1, r2 }
    }

    fn is_whole_word(&self, words: &[&[u8]]) -> bool {
        words.contains(&self.word.as_slice())
    }

    fn ends(&self, suffix: &[u8]) -> bool {
        self.word.ends_with(suffix)
    }

    /// The longest of `suffixes` (given longest first) at the end of the word.
    fn longest<'s, T: Copy>(&self, suffixes: &'s [(&'s [u8], T)]) -> Option<(&'s [u8], T)> {
        suffixes.iter().find(|(s, _)| self.ends(s)).copied()
    }

    fn cut(&mut self, letters: usize) {
        let len = self.word.len().saturating_sub(letters);
        self.word.truncate(len);
    }

    fn replace(&mut self, suffix: &[u8], with: &[u8]) {
        self.cut(suffix.len());
        self.word.extend_from_slice(with);
    }

    /// Whether `suffix` at the end lies wholly in the region that begins at `from`.
    fn inside(&self, suffix: &[u8], from: usize) -> bool {
        self.word.len() - suffix.len() >= from
    }

    /// Whether the word ends in a short syllable when its last `cut` letters are taken away.
    fn ends_short(&self, cut: usize) -> bool {
        let w = &self.word[..self.word.len() - cut];
        match *w {
            [v, c] => is_vowel(v) && !is_vowel(c),
            [.., before, v, c] => {
                w == b"past" || !is_vowel(before) && is_vowel(v) && !is_vowel(c) && !matches!(c, b'w' | b'x' | b'Y')
            }
            _ => false,
        }
    }

    /// Step 1a: plurals.
    fn plural(&mut self) {
        if self.ends(b"sses") {
            self.cut(2);
        } else if self.ends(b"ied") || self.ends(b"ies") {
            let letters = if self.word.len() > 4 { 2 } else { 1 };
            self.cut(letters);
        } else if self.ends(b"s") && !self.ends(b"us") && !self.ends(b"ss") {
            // The vowel just before the s does not count: gas, this.
            let before = self.word.len().saturating_sub(2);
            if self.word[..before].iter().copied().any(is_vowel) {
                self.cut(1);
            }
        }
    }

    /// Step 1b: -eed, -ed, -ing and their adverbs.
    fn past_and_ing(&mut self) {
        const SUFFIXES: [(&[u8], u8); 6] =
            [(b"eedly", 0), (b"ingly", 2), (b"edly", 1), (b"eed", 0), (b"ing", 2), (b"ed", 1)];
        let Some((suffix, kind)) = self.longest(&SUFFIXES) else { return };
        let stem_len = self.word.len() - suffix.len();
        if kind == 0 {
            let kept = [&b"proc"[..], b"exc", b"succ"].contains(&&self.word[..stem_len]);
            if !kept && self.inside(suffix, self.r1) {
                self.replace(suffix, b"ee");
            }
            return;
        }
        // dying, lying, tying: die, lie, tie.
        if suffix == b"ing" && stem_len == 2 && self.word[1] == b'y' && !is_vowel(self.word[0]) {
            self.word.truncate(1);
            self.word.extend_from_slice(b"ie");
            return;
        }
        if !self.word[..stem_len].iter().copied().any(is_vowel) {
            return;
        }
        self.word.truncate(stem_len);
        const DOUBLES: [&[u8]; 9] = [b"bb", b"dd", b"ff", b"gg", b"mm", b"nn", b"pp", b"rr", b"tt"];
        if self.ends(b"at") || self.ends(b"bl") || self.ends(b"iz") {
            self.word.push(b'e');
        } else if DOUBLES.iter().any(|d| self.ends(d)) {
            // add, egg, off keep theirs.
            if !(self.word.len() == 3 && matches!(self.word[0], b'a' | b'e' | b'o')) {
                self.cut(1);
            }
        } else if self.word.len() == self.r1 && self.ends_short(0) {
            self.word.push(b'e');
        }
    }

    /// Step 1c: a final y after a consonant becomes i.
    fn final_y(&mut self) {
        if let [_, .., before, last @ (b'y' | b'Y')] = self.word.as_mut_slice()
            && !is_vowel(*before)
        {
            *last = b'i';
        }
    }

    /// Step 2: long suffixes in R1.
    fn suffixes_2(&mut self) {
        const SUFFIXES: [(&[u8], &[u8]); 23] = [
            (b"ational", b"ate"),
            (b"fulness", b"ful"),
            (b"iveness", b"ive"),
            (b"ization", b"ize"),
            (b"ousness", b"ous"),
            (b"biliti", b"ble"),
            (b"lessli", b"less"),
            (b"tional", b"tion"),
            (b"alism", b"al"),
            (b"aliti", b"al"),
            (b"ation", b"ate"),
            (b"entli", b"ent"),
            (b"fulli", b"ful"),
            (b"iviti", b"ive"),
            (b"ogist", b"og"),
            (b"ousli", b"ous"),
            (b"abli", b"able"),
            (b"alli", b"al"),
            (b"anci", b"ance"),
            (b"ator", b"ate"),
            (b"enci", b"ence"),
            (b"izer", b"ize"),
            (b"bli", b"ble"),
        ];
        if let Some((suffix, with)) = self.longest(&SUFFIXES) {
            if self.inside(suffix, self.r1) {
                self.replace(suffix, with);
            }
        } else if self.ends(b"ogi") {
            if self.inside(b"ogi", self.r1) && self.ends(b"logi") {
                self.cut(1);
            }
        } else if self.ends(b"li") && self.inside(b"li", self.r1) {
            let before = self.word.len().checked_sub(3).map(|i| self.word[i]);
            if before.is_some_and(|c| b"cdeghkmnrt".contains(&c)) {
                self.cut(2);
            }
        }
    }

    /// Step 3.
    fn suffixes_3(&mut self) {
        const SUFFIXES: [(&[u8], &[u8]); 9] = [
            (b"ational", b"ate"),
            (b"tional", b"tion"),
            (b"alize", b"al"),
            (b"ative", b""),
            (b"icate", b"ic"),
            (b"iciti", b"ic"),
            (b"ical", b"ic"),
            (b"ness", b""),
            (b"ful", b""),
        ];
        if let Some((suffix, with)) = self.longest(&SUFFIXES) {
            let from = if suffix == b"ative" { self.r2 } else { self.r1 };
            if self.inside(suffix, self.r1) && self.inside(suffix, from) {
                self.replace(suffix, with);
            }
        }
    }

    /// Step 4: suffixes that go in R2.
    fn suffixes_4(&mut self) {
        const SUFFIXES: [(&[u8], ()); 17] = [
            (b"ement", ()),
            (b"able", ()),
            (b"ance", ()),
            (b"ence", ()),
            (b"ible", ()),
            (b"ment", ()),
            (b"ant", ()),
            (b"ate", ()),
            (b"ent", ()),
            (b"ism", ()),
            (b"iti", ()),
            (b"ive", ()),
            (b"ize", ()),
            (b"ous", ()),
            (b"al", ()),
            (b"er", ()),
            (b"ic", ()),
        ];
        if let Some((suffix, ())) = self.longest(&SUFFIXES) {
            if self.inside(suffix, self.r2) {
                self.cut(suffix.len());
            }
        } else if (self.ends(b"sion") || self.ends(b"tion")) && self.inside(b"ion", self.r2) {
            self.cut(3);
        }
    }

    /// Step 5: a final e, and the second of two final l.
    fn final_e_l(&mut self) {
        if self.ends(b"e") {
            if self.inside(b"e", self.r2) || self.inside(b"e", self.r1) && !self.ends_short(1) {
                self.cut(1);
            }
        } else if self.ends(b"ll") && self.inside(b"l", self.r2) {
            self.cut(1);
        }
    }
}

/// Where the region begins that follows the first consonant after a vowel, counted from `start`.
fn region_after(word: &[u8], start: usize) -> usize {
    let vowel = (start..word.len()).find(|&i| is_vowel(word[i]));
    let consonant = vowel.and_then(|v| (v + 1..word.len()).find(|&i| !is_vowel(word[i])));
    consonant.map_or(word.len(), |c| c + 1)
}

#[cfg(test)]
mod tests {
    use super::stem;

    fn stem_of(word: &str) -> String {
        let mut bytes = word.as_bytes().to_vec();
        stem(&mut bytes);
        String::from_utf8(bytes).expect("ASCII in, ASCII out")
    }

    /// Pairs made with PyStemmer 3.1.0, the reference implementation's own binding.
    #[test]
    fn agrees_with_snowball() {
        let fixture = include_str!("stem_fixture.tsv");
        let mut checked = 0;
        for line in fixture.lines() {
            let (word, expected) = line.split_once('\t').expect("two columns");
            assert_eq!(stem_of(word), expected, "stem of {word}");
            checked += 1;
        }
        assert!(checked > 2000, "{checked} pairs");
    }

    #[test]
    fn leaves_other_tokens_alone() {
        for token in ["is", "0x80070005", "用户", "e0382", "naïve", ""] {
            assert_eq!(stem_of(token), token);
        }
    }
}
