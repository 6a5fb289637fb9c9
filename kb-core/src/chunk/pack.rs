//! Packing blocks into passages of limited length.

use super::blocks::{Block, BlockKind, blocks};
use super::heading::HeadingOptions;
use crate::text::{is_clause_mark, sentence_ends};
use std::ops::Range;

/// A passage: its range in the text, and where its part begins that no passage before it had.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    pub span: Range<usize>,
    pub new_from: usize,
}

/// The smallest part that is never cut. Between units there is only white space.
struct Unit {
    span: Range<usize>,
    /// The same range in characters from the beginning of the packed text.
    chars: Range<usize>,
    /// Begins a block after which the text before may end.
    starts_group: bool,
    /// Code, a table or math, whole or a line of it: never repeated.
    solid: bool,
    /// A solid block as a whole, which may be longer than other passages.
    whole: bool,
}

/// Cuts `text[range]` into passages of at most `max_chars` characters; one that holds a solid block
/// may reach `hard_max_chars`.
pub(super) fn pack(text: &str, range: Range<usize>, options: &HeadingOptions) -> Vec<Piece> {
    let units = units(text, range, options);
    let chars = |from: usize, to: usize| units[to - 1].chars.end - units[from].chars.start;
    let mut pieces = Vec::new();
    let mut first = 0;
    let mut overlap: Option<Overlap> = None;
    while first < units.len() {
        // What is repeated, with the white space after it.
        let lead = overlap.as_ref().map_or(0, |o| o.chars + units[first].chars.start - units[first - 1].chars.end);
        let mut end = first;
        while end < units.len() {
            let group = group_end(&units, end);
            let length = chars(first, group);
            if lead + length <= options.max_chars {
                end = group;
                continue;
            }
            let whole_alone = chars(end, group) <= limit(&units[end..group], options);
            if end > first && (whole_alone || chars(first, end) * 2 >= options.max_chars) {
                break;
            }
            if end == first && whole_alone {
                // It fits without what would be repeated.
                overlap = None;
                end = group;
                break;
            }
            // Too long for any passage: cut between its units.
            while end < group && lead + chars(first, end + 1) <= options.max_chars {
                end += 1;
            }
            if end == first {
                overlap = None;
                end += 1;
            }
            break;
        }
        let new_from = units[first].span.start;
        let start = overlap.as_ref().map_or(new_from, |o| o.start);
        pieces.push(Piece { span: start..units[end - 1].span.end, new_from });
        overlap = tail(text, &units[first..end], options.overlap_chars);
        first = end;
    }
    pieces
}

/// How long a group of units may be.
fn limit(group: &[Unit], options: &HeadingOptions) -> usize {
    if group.iter().any(|u| u.whole) { options.hard_max_chars } else { options.max_chars }
}

fn group_end(units: &[Unit], from: usize) -> usize {
    (from + 1..units.len()).find(|&i| units[i].starts_group).unwrap_or(units.len())
}

/// The end of a passage that the next one repeats.
struct Overlap {
    start: usize,
    chars: usize,
}

/// As many whole sentences as fit into `limit` characters; if not even one does, the end of the last
/// one from a word or clause on. Code, tables and math are not repeated.
fn tail(text: &str, passage: &[Unit], limit: usize) -> Option<Overlap> {
    let last = passage.last().filter(|u| !u.solid && limit > 0)?;
    // One unit must stay that is not repeated, or the next passage would hold this one.
    let whole = passage.iter().skip(1).rposition(|u| u.solid || last.chars.end - u.chars.start > limit);
    let from = whole.map_or(1, |i| i + 2);
    if let Some(unit) = passage.get(from) {
        return Some(Overlap { start: unit.span.start, chars: last.chars.end - unit.chars.start });
    }
    let sentence = &text[last.span.clone()];
    let total = last.chars.len();
    if total <= limit {
        return None;
    }
    let whole_ranges = unbreakable(sentence);
    let mut fallback = None;
    for (n, (at, c)) in sentence.char_indices().enumerate().skip(total - limit - 1) {
        let cut = at + c.len_utf8();
        let left = total - n - 1;
        if cut >= sentence.len() || left < limit / 4 || cuts(&whole_ranges, cut) {
            continue;
        }
        let found = Overlap { start: last.span.start + cut, chars: left };
        if is_clause_mark(c) && !sentence[cut..].starts_with(char::is_whitespace) {
            return Some(found);
        }
        if !c.is_alphanumeric() || crate::text::script::is_unspaced(c) {
            fallback.get_or_insert(found);
        }
    }
    fallback
}

/// Longest inline code, math or link target that is kept whole, in bytes.
const MAX_INLINE_BYTES: usize = 400;

/// Ranges of inline code, math and link targets, ascending.
fn unbreakable(sentence: &str) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let mut open: Option<(u8, usize)> = None;
    let bytes = sentence.as_bytes();
    for (i, &b) in bytes.iter().enumerate() {
        // A lone mark opens nothing.
        open = open.filter(|(_, start)| i - start < MAX_INLINE_BYTES);
        match (open, b) {
            (None, b'`' | b'$') => open = Some((b, i)),
            (None, b'(') if i > 0 && bytes[i - 1] == b']' => open = Some((b')', i)),
            (Some((mark, start)), _) if b == mark => {
                ranges.push(start..i + 1);
                open = None;
            }
            _ => {}
        }
    }
    ranges
}

/// Whether a cut at `at` would go through one of the ascending `ranges`.
fn cuts(ranges: &[Range<usize>], at: usize) -> bool {
    let next = ranges.partition_point(|r| r.end <= at);
    ranges.get(next).is_some_and(|r| r.start < at)
}

fn units(text: &str, range: Range<usize>, options: &HeadingOptions) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut counter = Counter { text, byte: range.start, chars: 0 };
    let mut after_head = false;
    for block in blocks(text, range) {
        let solid = block.kind == BlockKind::Solid;
        let mut starts_group = !after_head;
        let parts = parts(text, &block, options);
        let whole = solid && parts.len() == 1;
        for span in parts {
            let chars = counter.at(span.start)..counter.at(span.end);
            units.push(Unit { span, chars, starts_group, solid, whole });
            starts_group = false;
        }
        after_head = block.kind == BlockKind::Head;
    }
    units
}

/// Counts characters while offsets grow.
struct Counter<'t> {
    text: &'t str,
    byte: usize,
    chars: usize,
}

impl Counter<'_> {
    fn at(&mut self, byte: usize) -> usize {
        self.chars += self.text[self.byte..byte].chars().count();
        self.byte = byte;
        self.chars
    }
}

/// The units of a block: sentences of prose; a solid block whole, or its lines if it is too long.
fn parts(text: &str, block: &Block, options: &HeadingOptions) -> Vec<Range<usize>> {
    let inside = &text[block.span.clone()];
    let base = block.span.start;
    // Room for what is repeated, so that a passage with it keeps to the limit.
    let room = options.max_chars.saturating_sub(options.overlap_chars + 1).max(1);
    let mut parts = Vec::new();
    if block.kind == BlockKind::Solid {
        if inside.chars().count() <= options.hard_max_chars {
            return vec![block.span.clone()];
        }
        let mut at = 0;
        for line in inside.split_inclusive('\n') {
            cut_long(inside, at..at + line.trim_end().len(), options.max_chars, base, &mut parts);
            at += line.len();
        }
    } else {
        let mut at = 0;
        let whole_ranges = unbreakable(inside);
        for end in sentence_ends(inside).chain([inside.len()]) {
            if end < inside.len() && cuts(&whole_ranges, end) {
                continue;
            }
            let sentence = inside[at..end].trim_end();
            cut_long(inside, at..at + sentence.len(), room, base, &mut parts);
            at = end;
        }
    }
    parts
}

/// Adds `range` of `inside` to `parts`, in several pieces if it has more than `room` characters:
/// cut after a clause or word where there is one in the second half, else anywhere.
fn cut_long(inside: &str, range: Range<usize>, room: usize, base: usize, parts: &mut Vec<Range<usize>>) {
    let mut start = range.start;
    let mut best = None;
    let mut count = 0;
    for (i, c) in inside[range.clone()].char_indices() {
        let at = range.start + i;
        if count == room {
            let cut = best.take().unwrap_or(at);
            parts.push(base + start..base + cut);
            count = inside[cut..at].chars().count();
            start = cut;
        }
        count += 1;
        if is_clause_mark(c) && count * 2 > room {
            best = Some(at + c.len_utf8());
        }
    }
    if start < range.end {
        parts.push(base + start..base + range.end);
    }
}
