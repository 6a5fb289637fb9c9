//! The line strategy: whole lines up to a limit. A line over the limit is cut at its sentences, and a sentence over
//! the limit anywhere; nothing else is cut. A passage does not end with headings: they open the next one.

use super::Chunk;
use super::cut::{check_size, chunks_of};
use super::heading::heading_lines;
use super::pack::Piece;
use super::strategy::{Window, without_short};
use crate::Result;
use crate::document::Document;
use crate::text::sentence_ends;
use std::ops::Range;

/// A line or a part of a long one, and its length in characters with what ends it.
struct Part {
    span: Range<usize>,
    chars: usize,
}

/// Cuts a document; the settings have been checked.
pub(super) fn chunk(document: &Document, doc: u32, window: &Window) -> Result<Vec<Chunk>> {
    check_size(document)?;
    let text = &document.text;
    let parts = parts(text, window.size);
    let mut pieces = Vec::new();
    let mut first = 0;
    // Parts before `fresh` have been in a passage.
    let mut fresh = 0;
    while fresh < parts.len() {
        let mut chars: usize = parts[first..fresh].iter().map(|p| p.chars).sum();
        // What would be repeated must leave room for something new.
        while first < fresh && chars + parts[fresh].chars > window.size {
            chars -= parts[first].chars;
            first += 1;
        }
        let mut end = fresh;
        while end < parts.len() && chars + parts[end].chars <= window.size {
            chars += parts[end].chars;
            end += 1;
        }
        if end < parts.len() {
            end = before_headings(document, &parts, fresh, end);
        }
        pieces
            .push(Piece { span: parts[first].span.start..parts[end - 1].span.end, new_from: parts[fresh].span.start });
        let mut repeated = 0;
        first = end;
        // What stands before a heading is another subject.
        let opens = parts.get(end).is_some_and(|part| is_heading(document, part));
        while !opens && first > fresh + 1 && repeated + parts[first - 1].chars <= window.overlap {
            first -= 1;
            repeated += parts[first].chars;
        }
        fresh = end;
    }
    let pieces = without_short(text, pieces, window.min);
    Ok(chunks_of(document, doc, pieces.into_iter().map(|p| (p, None))))
}

/// Where a passage of the parts from `from` on ends that would end at `end`: before the headings that it would end with,
/// unless it has nothing else.
fn before_headings(document: &Document, parts: &[Part], from: usize, end: usize) -> usize {
    let mut cut = end;
    for at in (from + 1..end).rev() {
        if is_heading(document, &parts[at]) {
            cut = at;
        } else if !document.text[parts[at].span.clone()].trim().is_empty() {
            break;
        }
    }
    cut
}

/// Whether a line belongs to a heading.
fn is_heading(document: &Document, part: &Part) -> bool {
    let after = document.sections.partition_point(|s| s.span_bytes.start < part.span.end);
    let Some(section) = after.checked_sub(1).and_then(|i| document.sections.get(i)) else { return false };
    let rest = &document.text[section.span_bytes.start..];
    let length: usize = rest.split_inclusive('\n').take(heading_lines(rest)).map(str::len).sum();
    part.span.start < section.span_bytes.start + length
}

/// The lines of `text` with their line ends, none longer than `size`.
fn parts(text: &str, size: usize) -> Vec<Part> {
    let mut parts = Vec::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let chars = line.chars().count();
        if chars <= size {
            parts.push(Part { span: at..at + line.len(), chars });
        } else {
            let mut from = 0;
            for end in sentence_ends(line).chain([line.len()]) {
                if end > from {
                    add_long(&line[from..end], at + from, size, &mut parts);
                    from = end;
                }
            }
        }
        at += line.len();
    }
    parts
}

/// Adds a sentence, in pieces of `size` characters if it is longer.
fn add_long(sentence: &str, base: usize, size: usize, parts: &mut Vec<Part>) {
    let (mut from, mut chars) = (0, 0);
    for (at, _) in sentence.char_indices() {
        if chars == size {
            parts.push(Part { span: base + from..base + at, chars });
            (from, chars) = (at, 0);
        }
        chars += 1;
    }
    parts.push(Part { span: base + from..base + sentence.len(), chars });
}
