//! Titles: any punctuation, under or over and under; the order of first use makes the levels.

use super::super::escape;
use super::Parser;
use super::lines::{is_blank, text_width};
use std::collections::BTreeSet;

/// A title found in the lines.
pub struct Title<'a> {
    pub text: &'a str,
    /// The punctuation, and whether it is above the title as well.
    style: (char, bool),
    /// How many lines it takes.
    pub lines: usize,
}

/// Titles seen so far.
#[derive(Default)]
pub struct Sections {
    /// Styles in the order of first use: the index is the level.
    styles: Vec<(char, bool)>,
    ids: BTreeSet<String>,
    /// Counter of docutils' ids for titles that yield none or one that is taken.
    auto: usize,
    /// A `.. _label:` that waits for its title.
    pub label: Option<String>,
}

/// The title that begins at line `i`, if one does.
pub fn title_at<'a>(lines: &[&'a str], i: usize) -> Option<Title<'a>> {
    let line = *lines.get(i)?;
    if let Some(c) = adornment(line) {
        let text = lines.get(i + 1).filter(|t| !is_blank(t) && adornment(t).is_none())?;
        let under = lines.get(i + 2)?;
        let long_enough = line.len() >= text_width(text.trim()) || line.len() >= 4;
        return (adornment(under) == Some(c) && long_enough).then(|| Title {
            text: text.trim(),
            style: (c, true),
            lines: 3,
        });
    }
    if is_blank(line) || line.starts_with(' ') || line.starts_with(".. ") {
        return None;
    }
    let under = lines.get(i + 1)?;
    let c = adornment(under)?;
    // docutils warns about a short underline from 4 characters on, and takes a shorter one for text.
    (under.len() >= 4 || under.len() >= text_width(line)).then(|| Title {
        text: line.trim(),
        style: (c, false),
        lines: 2,
    })
}

/// The character of a line that consists of one punctuation character, at least twice.
pub fn adornment(line: &str) -> Option<char> {
    let first = line.chars().next().filter(char::is_ascii_punctuation)?;
    (line.len() >= 2 && line.chars().all(|c| c == first) && line != ".." && line != "::").then_some(first)
}

impl Parser<'_> {
    /// The heading line of a title.
    pub fn heading(&mut self, title: &Title) -> String {
        let level = match self.sections.styles.iter().position(|s| *s == title.style) {
            Some(level) => level,
            None => {
                self.sections.styles.push(title.style);
                self.sections.styles.len() - 1
            }
        };
        let text = self.inline(title.text);
        let anchor = self.sections.anchor(&plain(&text));
        escape::heading(u8::try_from(level + 1).unwrap_or(6), &escape_closing_hashes(&text), &anchor)
    }
}

impl Sections {
    /// The id that docutils gives: from the title; if that is taken or empty, from the label before
    /// it; else a running number.
    fn anchor(&mut self, title: &str) -> String {
        let label = self.label.take().map(|l| make_id(&l)).unwrap_or_default();
        for id in [make_id(title), label] {
            if !id.is_empty() && self.ids.insert(id.clone()) {
                return id;
            }
        }
        loop {
            self.auto += 1;
            let id = format!("id{}", self.auto);
            if self.ids.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// docutils' `make_id`: ASCII letters and digits in lower case, anything else a hyphen, beginning
/// with a letter. Accents are dropped from the letters of Latin-1; other scripts yield nothing.
pub fn make_id(text: &str) -> String {
    let mut id = String::new();
    for c in text.chars().flat_map(char::to_lowercase) {
        let c = match c {
            'à'..='å' => 'a',
            'è'..='ë' => 'e',
            'ì'..='ï' => 'i',
            'ò'..='ö' => 'o',
            'ù'..='ü' => 'u',
            'ç' => 'c',
            'ñ' => 'n',
            c => c,
        };
        if c.is_ascii_alphanumeric() {
            id.push(c);
        } else if !c.is_alphanumeric() && !id.ends_with('-') {
            id.push('-');
        }
    }
    let start = id.find(|c: char| c.is_ascii_lowercase()).unwrap_or(id.len());
    id[start..].trim_end_matches('-').to_string()
}

/// Inline Markdown that the converter itself wrote, as plain text.
fn plain(markdown: &str) -> String {
    markdown.chars().filter(|c| !matches!(c, '`' | '\\')).collect()
}

/// A `#` at the end of a heading line would be taken for its closing sequence: `C#`.
fn escape_closing_hashes(text: &str) -> String {
    match text.strip_suffix('#') {
        Some(rest) if rest.ends_with([' ', '#']) => format!("{rest}\\#"),
        _ => text.to_string(),
    }
}
