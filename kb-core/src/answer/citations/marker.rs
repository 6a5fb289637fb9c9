//! One marker, from its opening bracket on.

use crate::answer::passage::Passage;

/// Largest number that is taken for a citation; a larger one is a year or the like.
const MAX_NUMBER: usize = 999;
/// Most numbers that one marker may stand for.
const MAX_NUMBERS: usize = 50;

/// Words that announce a citation, in lower case, longer ones before those they begin with.
const WORDS: [&str; 16] = [
    "citations",
    "citation",
    "references",
    "reference",
    "passages",
    "passage",
    "sources",
    "source",
    "refs",
    "ref",
    "来源",
    "來源",
    "资料",
    "段落",
    "片段",
    "出处",
];

/// What a passage may be called.
#[derive(Debug)]
pub(super) struct Place {
    /// Path, file name and its stem, title; in lower case.
    names: Vec<String>,
    /// Headings and anchor, in lower case.
    headings: Vec<String>,
}

impl Place {
    pub fn new(passage: &Passage) -> Self {
        let path = passage.path.to_lowercase();
        let file = path.rsplit('/').next().unwrap_or_default().to_owned();
        let stem = file.rsplit_once('.').map_or(file.as_str(), |(stem, _)| stem).to_owned();
        let headings = passage.heading_path.iter().chain([&passage.anchor]).filter(|h| !h.is_empty());
        let mut names = vec![passage.source().to_lowercase(), path, file, stem, passage.title.to_lowercase()];
        names.retain(|n| !n.is_empty());
        Self { names, headings: headings.map(|h| h.to_lowercase()).collect() }
    }
}

/// A marker that is complete.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Marker {
    /// Indices of passages, in the order of the marker, each once.
    pub passages: Vec<usize>,
    /// How many names or numbers meant no passage.
    pub unresolved: usize,
}

/// What a beginning is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reading {
    /// It may become a marker.
    Maybe,
    /// It never will.
    No,
    /// It is one.
    Whole(Marker),
}

/// Reads `held`, which begins with a bracket.
pub(super) fn read(held: &str, places: &[Place]) -> Reading {
    let mut chars = held.chars();
    let (close, numbers_alone) = match chars.next() {
        Some('[') => (']', true),
        Some('【') => ('】', true),
        Some('(') => (')', false),
        Some('（') => ('）', false),
        _ => return Reading::No,
    };
    let rest = chars.as_str();
    let (inner, closed) = match rest.strip_suffix(close) {
        Some(inner) => (inner, true),
        None => (rest, false),
    };
    if inner.contains('\n') {
        return Reading::No;
    }
    let inner = inner.trim_start().trim_start_matches('^');
    let Some(first) = inner.chars().next() else {
        return if closed { Reading::No } else { Reading::Maybe };
    };
    if first.is_ascii_digit() && numbers_alone {
        return numbers(inner, closed, places.len());
    }
    let lower = inner.to_lowercase();
    if !closed && WORDS.iter().any(|w| w.starts_with(&lower)) {
        return Reading::Maybe;
    }
    if let Some(word) = WORDS.iter().find(|w| lower.starts_with(**w)) {
        // Lower case may be of another length, but the words that are looked for are not.
        return announced(lower.get(word.len()..).unwrap_or_default(), closed, places);
    }
    Reading::No
}

/// What follows a word such as `source`: numbers, or a colon and a name. `rest` is in lower case.
fn announced(rest: &str, closed: bool, places: &[Place]) -> Reading {
    let trimmed = rest.trim_start();
    let after_colon = trimmed.strip_prefix([':', '：']).map(str::trim_start);
    let body = after_colon.unwrap_or(trimmed);
    match body.chars().next() {
        None if !closed => Reading::Maybe,
        None => Reading::No,
        Some(c) if c.is_ascii_digit() || c == '#' => {
            match numbers(body.trim_start_matches('#'), closed, places.len()) {
                // A file may begin with a digit: `01-why.md`.
                Reading::No if after_colon.is_some() => named(body, closed, places),
                reading => reading,
            }
        }
        Some(_) if after_colon.is_some() => named(body, closed, places),
        Some(_) => Reading::No,
    }
}

/// `1`, `1, 3`, `1-3`, `1、2`, `1†lines`, with the bracket closed or not.
fn numbers(text: &str, closed: bool, passages: usize) -> Reading {
    let (list, tail) = text.split_once('†').map_or((text, false), |(list, _)| (list, true));
    let separator = |c: char| c.is_whitespace() || matches!(c, ',' | '，' | '、' | ';' | '；' | '&' | '^');
    let range = |c: char| matches!(c, '-' | '–' | '—' | '~' | '～' | '至');
    if !list.chars().all(|c| c.is_ascii_digit() || separator(c) || range(c)) {
        return Reading::No;
    }
    let list = list.replace(" -", "-").replace("- ", "-");
    let mut marker = Marker { passages: Vec::new(), unresolved: 0 };
    let mut count = 0;
    for part in list.split(separator).filter(|p| !p.is_empty()) {
        let mut bounds = part.split(range);
        let (from, to) = (bounds.next().unwrap_or_default(), bounds.next());
        let Some(from) = number(from) else { return Reading::No };
        let to = match to {
            // `[1-` is not over yet.
            Some("") if !closed && !tail => from,
            Some(to) => match number(to) {
                Some(to) if to >= from => to,
                _ => return Reading::No,
            },
            None => from,
        };
        if bounds.next().is_some() {
            return Reading::No;
        }
        for n in from..=to {
            count += 1;
            if count > MAX_NUMBERS {
                break;
            }
            match n.checked_sub(1).filter(|i| *i < passages) {
                Some(i) if marker.passages.contains(&i) => {}
                Some(i) => marker.passages.push(i),
                None => marker.unresolved += 1,
            }
        }
    }
    match (closed, count) {
        (false, _) => Reading::Maybe,
        (true, 0) => Reading::No,
        (true, _) => Reading::Whole(marker),
    }
}

fn number(text: &str) -> Option<usize> {
    text.parse().ok().filter(|n| *n <= MAX_NUMBER)
}

/// `undo.md#the safety net`, in lower case.
fn named(text: &str, closed: bool, places: &[Place]) -> Reading {
    if !closed {
        return Reading::Maybe;
    }
    let (file, heading) = text.split_once('#').map_or((text, ""), |(file, heading)| (file, heading));
    let (file, heading) = (file.trim(), heading.trim().trim_start_matches('#').trim());
    let in_file = |p: &&(usize, &Place)| p.1.names.iter().any(|n| n == file);
    let candidates: Vec<(usize, &Place)> = places.iter().enumerate().filter(|p| in_file(&p)).collect();
    let with_heading = candidates.iter().find(|(_, p)| p.headings.iter().any(|h| h == heading));
    // A heading that is not quite right still leaves the file.
    let found = with_heading.or(candidates.first()).map(|(i, _)| *i);
    Reading::Whole(Marker { passages: found.into_iter().collect(), unresolved: usize::from(found.is_none()) })
}
