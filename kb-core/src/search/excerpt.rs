//! The piece of a passage that is shown.

use super::Excerpt;
use crate::text::{sentence_ends, tokenize};
use std::ops::Range;

/// Longest excerpt in characters, ellipses left out.
pub const MAX_EXCERPT_CHARS: usize = 240;

/// A term to mark.
pub(super) struct MarkTerm {
    pub term: String,
    /// What finding it is worth, more than 0.
    pub weight: f32,
}

/// A place where a term of the query stands.
struct Match {
    span: Range<usize>,
    /// Which term.
    term: usize,
}

/// The best window of `text` (plain text) for the query's terms, each with the weight that finding it
/// is worth. Returns the excerpt and what in `text` it is about: where the first match in it stands, else
/// where it begins.
///
/// The window holds the most weight, each term counted once and its repetitions a tenth; it begins with
/// a sentence where that leaves the matches inside. Without a match it is the beginning.
pub(super) fn excerpt(text: &str, terms: &[MarkTerm]) -> (Excerpt, usize) {
    let found = matches(text, terms);
    let window = window(text, &found, terms);
    let piece = &text[window.clone()];
    let mut shown = String::with_capacity(piece.len() + 6);
    if !text[..window.start].trim().is_empty() && !starts_sentence(text, window.start) {
        shown.push('…');
    }
    let shift = shown.len();
    // Blocks are lines; an excerpt is one paragraph. Both are one byte.
    shown.push_str(&piece.replace('\n', " "));
    let mut marks: Vec<Range<usize>> = Vec::new();
    let mut focus = window.start;
    for m in found.iter().filter(|m| m.span.start >= window.start && m.span.end <= window.end) {
        let mark = m.span.start - window.start + shift..m.span.end - window.start + shift;
        match marks.last_mut() {
            Some(last) if mark.start <= last.end => last.end = last.end.max(mark.end),
            last => {
                if last.is_none() {
                    focus = m.span.start;
                }
                marks.push(mark);
            }
        }
    }
    if window.end < text.trim_end().len() && !ends_sentence(text, window.end) {
        shown.push('…');
    }
    (Excerpt { text: shown, marks_bytes: marks }, focus)
}

/// All matches by ascending start, which is the order of the tokens.
fn matches(text: &str, terms: &[MarkTerm]) -> Vec<Match> {
    let mut found = Vec::new();
    if terms.is_empty() {
        return found;
    }
    tokenize(text, |token| {
        if let Some(term) = terms.iter().position(|t| t.term == token.term) {
            found.push(Match { span: token.span_bytes, term });
        }
    });
    found
}

/// The bytes to show.
fn window(text: &str, found: &[Match], terms: &[MarkTerm]) -> Range<usize> {
    let Some(best) = best_run(text, found, terms) else {
        return 0..end_of_window(text, 0, 0);
    };
    let (first, last) =
        (found[best.start].span.start, found[best.start..best.end].iter().map(|m| m.span.end).max().unwrap_or(0));
    let start = start_of_window(text, first, last);
    start..end_of_window(text, start, last)
}

/// The run of matches within one window that is worth most, the first of equals.
fn best_run(text: &str, found: &[Match], terms: &[MarkTerm]) -> Option<Range<usize>> {
    let positions: Vec<usize> = char_positions(text, found);
    let mut counts = vec![0_u32; terms.len()];
    // A term counts once, its repetitions a tenth.
    let worth_of = |m: &Match, count: u32| if count == 0 { terms[m.term].weight } else { terms[m.term].weight * 0.1 };
    let mut worth = 0.0_f32;
    let mut best: Option<(f32, Range<usize>)> = None;
    let mut from = 0;
    for (i, m) in found.iter().enumerate() {
        worth += worth_of(m, counts[m.term]);
        counts[m.term] += 1;
        // Room for the length of the last match and a little context.
        while positions[i] - positions[from] > MAX_EXCERPT_CHARS * 3 / 4 {
            let gone = &found[from];
            counts[gone.term] -= 1;
            worth -= worth_of(gone, counts[gone.term]);
            from += 1;
        }
        if best.as_ref().is_none_or(|(w, _)| worth > w * 1.0001) {
            best = Some((worth, from..i + 1));
        }
    }
    best.map(|(_, run)| run)
}

/// Character offset of each match.
fn char_positions(text: &str, found: &[Match]) -> Vec<usize> {
    let (mut byte, mut chars) = (0, 0);
    found
        .iter()
        .map(|m| {
            chars += text[byte..m.span.start].chars().count();
            byte = m.span.start;
            chars
        })
        .collect()
}

/// Where to begin, so that `first..last` is shown: at the first sentence that leaves room for them,
/// else a little before `first`.
fn start_of_window(text: &str, first: usize, last: usize) -> usize {
    let needed = text[first..last].chars().count();
    let room = MAX_EXCERPT_CHARS.saturating_sub(needed);
    // Bytes of the characters before `first` that could still be shown, nearest first.
    let mut candidate = first;
    let mut back = text[..first].char_indices().rev().take(room).map(|(i, _)| i).peekable();
    while back.peek().is_some() {
        if let Some(i) = back.next() {
            candidate = i;
        }
    }
    let earliest = candidate;
    if let Some(sentence) = boundaries(text).take_while(|b| *b <= first).find(|b| *b >= earliest) {
        return sentence;
    }
    // No sentence begins there: some words of context.
    let context = text[..first].char_indices().rev().take(room.min(40)).map(|(i, _)| i).last().unwrap_or(first);
    let word =
        text[context..first].char_indices().find(|(_, c)| c.is_whitespace()).map(|(i, c)| context + i + c.len_utf8());
    word.filter(|w| *w < first).unwrap_or(context)
}

/// Where to end a window that begins at `start` and must show `last`: at the last sentence end that
/// fits in the second half, else after a word.
fn end_of_window(text: &str, start: usize, last: usize) -> usize {
    let limit = text[start..].char_indices().nth(MAX_EXCERPT_CHARS).map_or(text.len(), |(i, _)| start + i);
    if limit == text.len() {
        return text.trim_end().len().max(start);
    }
    let half = text.floor_char_boundary(start + (limit - start) / 2);
    let sentence = boundaries(text).take_while(|b| *b <= limit).filter(|b| *b >= last && *b > half).last();
    if let Some(end) = sentence {
        return start + text[start..end].trim_end().len();
    }
    let word = text[half..limit].rfind(|c: char| c.is_whitespace()).map(|i| half + i);
    word.filter(|w| *w >= last && *w > half).unwrap_or(limit)
}

/// Where sentences and blocks begin, ascending, 0 first.
fn boundaries(text: &str) -> impl Iterator<Item = usize> + '_ {
    let mut at = 0;
    text.split_inclusive('\n').flat_map(move |line| {
        let start = at;
        at += line.len();
        std::iter::once(start).chain(sentence_ends(line).map(move |end| start + end))
    })
}

fn starts_sentence(text: &str, at: usize) -> bool {
    boundaries(text).take_while(|b| *b <= at).any(|b| b == at)
}

fn ends_sentence(text: &str, at: usize) -> bool {
    let rest = &text[at..];
    let next = at + rest.len() - rest.trim_start().len();
    starts_sentence(text, next)
}

#[cfg(test)]
#[path = "excerpt_tests.rs"]
mod tests;
