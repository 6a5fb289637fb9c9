//! Language detection from Unicode ranges: no dictionary, no network, good enough to filter by.

use crate::text::script::is_han;
use serde::{Deserialize, Serialize};

/// A document's main language.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// Chinese.
    Zh,
    /// English, and any other language in Latin script.
    En,
    /// Japanese.
    Ja,
    /// Korean.
    Ko,
    /// Russian and other Cyrillic.
    Ru,
    /// Not enough letters to tell.
    #[default]
    Other,
}

impl Lang {
    /// The code that filters and hits show: `zh`, `en`, `ja`, `ko`, `ru`, `other`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Zh => "zh",
            Self::En => "en",
            Self::Ja => "ja",
            Self::Ko => "ko",
            Self::Ru => "ru",
            Self::Other => "other",
        }
    }
}

/// The main language of `text`.
///
/// Ideographs, kana and Hangul syllables count one each, Latin and Cyrillic one for each run of letters,
/// because a character of the former says about as much as a word of the latter. Fenced code blocks do
/// not count, so that a Chinese page with long listings stays Chinese.
pub fn detect(text: &str) -> Lang {
    let mut counts = Counts::default();
    let mut fence: Option<&str> = None;
    for line in text.lines() {
        let trimmed = line.trim_start();
        let marker = ["```", "~~~"].into_iter().find(|m| trimmed.starts_with(m));
        match (fence, marker) {
            (None, Some(m)) => fence = Some(m),
            (Some(open), Some(m)) if open == m => fence = None,
            (Some(_), _) => {}
            (None, None) => counts.add(line),
        }
    }
    // A page that is nothing but code, or whose fence never closes, still has words.
    if counts.total() == 0 {
        text.lines().for_each(|line| counts.add(line));
    }
    counts.main()
}

#[derive(Default)]
struct Counts {
    han: u64,
    kana: u64,
    hangul: u64,
    cyrillic_words: u64,
    latin_words: u64,
}

impl Counts {
    fn add(&mut self, line: &str) {
        #[derive(PartialEq, Clone, Copy)]
        enum Script {
            Latin,
            Cyrillic,
            None,
        }
        let mut last = Script::None;
        for c in line.chars() {
            let mut script = Script::None;
            match c as u32 {
                0x41..=0x5A | 0x61..=0x7A | 0xC0..=0x24F | 0x1E00..=0x1EFF => script = Script::Latin,
                0x400..=0x52F => script = Script::Cyrillic,
                0x3041..=0x3096 | 0x30A1..=0x30FA | 0x31F0..=0x31FF | 0xFF66..=0xFF9D => self.kana += 1,
                0x1100..=0x11FF | 0x3131..=0x318E | 0xAC00..=0xD7A3 => self.hangul += 1,
                _ if is_han(c) => self.han += 1,
                _ => {}
            }
            match script {
                Script::Latin if last != Script::Latin => self.latin_words += 1,
                Script::Cyrillic if last != Script::Cyrillic => self.cyrillic_words += 1,
                _ => {}
            }
            last = script;
        }
    }

    fn total(&self) -> u64 {
        self.han + self.kana + self.hangul + self.cyrillic_words + self.latin_words
    }

    fn main(&self) -> Lang {
        // Japanese mixes in ideographs, Korean a few; a tenth of kana is more than Chinese ever quotes.
        let japanese = self.kana * 10 >= self.han + self.kana && self.kana > 0;
        let korean = self.hangul > self.han + self.kana;
        let east_asian = self.han + self.kana + self.hangul;
        let largest = east_asian.max(self.latin_words).max(self.cyrillic_words);
        match largest {
            0 => Lang::Other,
            n if n == east_asian && korean => Lang::Ko,
            n if n == east_asian && japanese => Lang::Ja,
            n if n == east_asian => Lang::Zh,
            n if n == self.cyrillic_words => Lang::Ru,
            _ => Lang::En,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn languages() {
        for (text, lang) in [
            ("在图里找两点间最短的路，可以用 Dijkstra 算法（Dijkstra's algorithm）。", Lang::Zh),
            ("Ownership is what makes Rust special. 所有权", Lang::En),
            ("グラフの最短経路を求める", Lang::Ja),
            ("그래프에서 최단 경로 찾기 最短", Lang::Ko),
            ("Кратчайший путь в графе", Lang::Ru),
            ("Où est la bibliothèque ?", Lang::En),
            ("12345 + 67 = ?", Lang::Other),
            ("", Lang::Other),
        ] {
            assert_eq!(detect(text), lang, "{text}");
        }
    }

    #[test]
    fn code_does_not_decide() {
        let code = "let a = compute_something(with, many, english, words);\n".repeat(20);
        assert_eq!(detect(&format!("快速排序的实现如下：\n\n```rust\n{code}```\n")), Lang::Zh);
        assert_eq!(detect(&format!("```rust\n{code}```\n")), Lang::En);
    }
}
