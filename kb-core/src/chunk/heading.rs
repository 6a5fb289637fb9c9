//! The heading strategy: a passage is a section, and a long section is cut at its paragraphs.

use super::Chunk;
use super::cut::{check_size, chunks_of};
use super::pack::{Piece, pack};
use crate::document::Document;
use crate::{Error, ErrorKind, Result};
use std::ops::Range;

/// Limits of the heading strategy. Lengths are characters (Unicode scalar values).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadingOptions {
    /// Deepest heading that begins a passage, 1 to 6. Default 4. With 1 only chapters are kept apart.
    pub max_level: u8,
    /// Longest passage, 100 to 100,000. Default 800. Smaller passages are found more precisely and say
    /// less each; what the model cannot read (512 tokens for most) does not count for its vector.
    pub max_chars: usize,
    /// How much of a passage the next one of the same section repeats, 0 to a quarter of `max_chars`.
    /// Default 80.
    pub overlap_chars: usize,
    /// Longest passage that keeps a code block, table or formula whole, `max_chars` or more.
    /// Default 1,600. Longer ones are cut between lines.
    pub hard_max_chars: usize,
    /// A section shorter than this joins the next one under it or beside it, if both together keep to
    /// `max_chars`. Default 100. With 0 only a heading without text joins what is under it.
    pub min_chars: usize,
}

impl Default for HeadingOptions {
    fn default() -> Self {
        Self { max_level: 4, max_chars: 800, overlap_chars: 80, hard_max_chars: 1_600, min_chars: 100 }
    }
}

impl HeadingOptions {
    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] names the option that is out of its range.
    pub fn validate(&self) -> Result<()> {
        let problem = if !(1..=6).contains(&self.max_level) {
            "max_level must be 1 to 6"
        } else if !(100..=100_000).contains(&self.max_chars) {
            "max_chars must be 100 to 100000"
        } else if self.overlap_chars > self.max_chars / 4 {
            "overlap_chars must be at most a quarter of max_chars"
        } else if self.hard_max_chars < self.max_chars {
            "hard_max_chars must be at least max_chars"
        } else if self.min_chars > self.max_chars {
            "min_chars must be at most max_chars"
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::InvalidInput, problem))
    }
}

/// Cuts a document, `doc` being its index in the bundle.
///
/// What holds for the result: chunks are in reading order and not empty; they begin and end at
/// characters; together they cover all of the text but white space between them; they overlap only by
/// the declared [`Chunk::overlap_bytes`], and only within a section; none is longer than `max_chars`
/// unless it holds a code block, table or formula, then not longer than `hard_max_chars`; such a block
/// is cut only if it is longer than that, and then between lines.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for options out of range, [`ErrorKind::TooLarge`] for a text of 4 GiB or
/// more.
pub fn chunk(document: &Document, doc: u32, options: &HeadingOptions) -> Result<Vec<Chunk>> {
    options.validate()?;
    check_size(document)?;
    let text = &document.text;
    let pieces = merge(document, regions(document, options), options).into_iter().flat_map(|region| {
        let pieces = if region.chars <= options.max_chars {
            vec![Piece { new_from: region.span.start, span: region.span.clone() }]
        } else {
            pack(text, region.span.clone(), options)
        };
        pieces.into_iter().map(move |piece| (piece, region.section))
    });
    Ok(chunks_of(document, doc, pieces))
}

/// A section with everything below it that does not begin a passage of its own.
pub(super) struct Region {
    /// Without white space at both ends; never empty.
    pub span: Range<usize>,
    pub chars: usize,
    pub section: Option<usize>,
    /// Nothing but its heading.
    is_bare: bool,
}

/// The sections that begin a passage, and the text before the first.
pub(super) fn regions(document: &Document, options: &HeadingOptions) -> Vec<Region> {
    let text = &document.text;
    let starts = document.sections.iter().enumerate().filter(|(_, s)| s.level <= options.max_level);
    let mut bounds: Vec<(usize, Option<usize>)> = vec![(0, None)];
    bounds.extend(starts.map(|(i, s)| (s.span_bytes.start, Some(i))));
    let ends = bounds.iter().skip(1).map(|(start, _)| *start).chain([text.len()]);
    let mut regions = Vec::new();
    for (&(start, section), end) in bounds.iter().zip(ends) {
        let Some(part) = text.get(start..end) else { continue };
        // Indentation stays: it means something.
        let lead = part.find(|c: char| !c.is_whitespace()).map(|i| part[..i].rfind('\n').map_or(0, |n| n + 1));
        let Some(lead) = lead else { continue };
        let span = start + lead..start + part.trim_end().len();
        let body = &text[span.clone()];
        let own_lines = section.map_or(0, |_| heading_lines(body));
        regions.push(Region {
            chars: body.chars().count(),
            is_bare: section.is_some() && body.lines().count() <= own_lines,
            span,
            section,
        });
    }
    regions
}

/// How many lines a section's heading takes: 1, or 2 if it is underlined.
pub(super) fn heading_lines(section: &str) -> usize {
    let is_atx = section.trim_start().starts_with('#');
    let mut lines = section.lines();
    if is_atx {
        return 1;
    }
    1 + lines.position(|l| !l.trim().is_empty() && l.trim().bytes().all(|b| b == b'=' || b == b'-')).unwrap_or(0)
}

/// Joins sections that are too short with what follows.
fn merge(document: &Document, regions: Vec<Region>, options: &HeadingOptions) -> Vec<Region> {
    let mut merged: Vec<Region> = Vec::new();
    for next in regions {
        let Some(last) = merged.last_mut() else {
            merged.push(next);
            continue;
        };
        let gap = document.text[last.span.end..next.span.start].chars().count();
        let together = last.chars + gap + next.chars;
        let fits = together <= options.max_chars && last.chars < options.min_chars;
        let below = is_below(document, next.section, last.section);
        let beside = parent(document, next.section) == parent(document, last.section) && last.section.is_some();
        if below && (fits || last.is_bare) || beside && fits {
            // The passage is about the first of them that says something.
            if last.is_bare && below {
                last.section = next.section;
                last.is_bare = next.is_bare;
            }
            last.span.end = next.span.end;
            last.chars = together;
        } else {
            merged.push(next);
        }
    }
    merged
}

fn parent(document: &Document, section: Option<usize>) -> Option<usize> {
    document.sections.get(section?)?.parent
}

/// Whether `section` lies under `ancestor`. Everything lies under the text before the first heading.
fn is_below(document: &Document, section: Option<usize>, ancestor: Option<usize>) -> bool {
    let Some(ancestor) = ancestor else { return true };
    let mut at = parent(document, section);
    while let Some(i) = at {
        if i == ancestor {
            return true;
        }
        // Parents come before their children, so this ends.
        at = parent(document, Some(i)).filter(|p| *p < i);
    }
    false
}
