//! The strategies by which a document can be cut, and their settings.

use super::heading::HeadingOptions;
use super::{Chunk, heading, line, paragraph, portfolio, sliding};
use crate::document::Document;
use crate::{Error, ErrorKind, Result};

/// How documents are cut into passages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChunkStrategy {
    /// By headings, long sections at their paragraphs.
    Heading(HeadingOptions),
    /// By a window that slides over the text.
    Sliding(Window),
    /// By paragraphs, headings or not.
    Paragraph(Window),
    /// By lines, sentences whole.
    Line(Window),
    /// What somebody's projects say of themselves: every section for itself, code never cut, each passage of one of the
    /// sorts that portfolios have.
    Portfolio(Window),
}

/// Limits of a strategy other than by headings. Lengths are characters (Unicode scalar values).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Longest passage, 50 to 100,000.
    pub size: usize,
    /// Most of a passage that the next one repeats, 0 to half of `size`.
    pub overlap: usize,
    /// Shorter passages are left out, unless a document would have none.
    pub min: usize,
}

impl Window {
    /// A window of 800 characters with 150 repeated, nothing shorter than 50.
    pub const SLIDING: Self = Self { size: 800, overlap: 150, min: 50 };
    /// Paragraphs up to 500 characters, 50 repeated.
    pub const PARAGRAPH: Self = Self { size: 500, overlap: 50, min: 0 };
    /// Lines up to 500 characters, 50 repeated.
    pub const LINE: Self = Self { size: 500, overlap: 50, min: 0 };
    /// Sections up to 800 characters, 80 repeated, nothing of 20 characters or fewer.
    pub const PORTFOLIO: Self = Self { size: 800, overlap: 80, min: 21 };

    /// Checks the ranges.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] names the setting that is out of its range.
    pub fn validate(&self) -> Result<()> {
        let problem = if !(50..=100_000).contains(&self.size) {
            "size must be 50 to 100000"
        } else if self.overlap > self.size / 2 {
            "overlap must be at most half of size"
        } else if self.min > self.size {
            "min must be at most size"
        } else {
            return Ok(());
        };
        Err(Error::new(ErrorKind::InvalidInput, problem))
    }
}

impl Default for ChunkStrategy {
    fn default() -> Self {
        Self::Heading(HeadingOptions::default())
    }
}

impl ChunkStrategy {
    /// Checks the settings.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] names the setting that is out of its range.
    pub fn validate(&self) -> Result<()> {
        match self {
            Self::Heading(options) => options.validate(),
            Self::Sliding(window) | Self::Paragraph(window) | Self::Line(window) | Self::Portfolio(window) => {
                window.validate()
            }
        }
    }

    /// Longest passage.
    pub fn size(&self) -> usize {
        match self {
            Self::Heading(options) => options.max_chars,
            Self::Sliding(window) | Self::Paragraph(window) | Self::Line(window) | Self::Portfolio(window) => {
                window.size
            }
        }
    }

    /// The same strategy with every length multiplied by `factor`, as near to it as the ranges allow.
    pub fn scaled(&self, factor: f64) -> Self {
        let times = |n: usize| (n as f64 * factor).round() as usize;
        let window = |w: &Window| {
            let size = times(w.size).clamp(50, 100_000);
            Window { size, overlap: times(w.overlap).min(size / 2), min: times(w.min).min(size) }
        };
        match self {
            Self::Heading(options) => {
                let max_chars = times(options.max_chars).clamp(100, 100_000);
                Self::Heading(HeadingOptions {
                    max_chars,
                    overlap_chars: times(options.overlap_chars).min(max_chars / 4),
                    hard_max_chars: times(options.hard_max_chars).max(max_chars),
                    min_chars: times(options.min_chars).min(max_chars),
                    ..options.clone()
                })
            }
            Self::Sliding(w) => Self::Sliding(window(w)),
            Self::Paragraph(w) => Self::Paragraph(window(w)),
            Self::Line(w) => Self::Line(window(w)),
            Self::Portfolio(w) => Self::Portfolio(window(w)),
        }
    }

    /// Cuts a document, `doc` being its index in the bundle.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for settings out of range, [`ErrorKind::TooLarge`] for a text of 4 GiB or more.
    pub fn chunk(&self, document: &Document, doc: u32) -> Result<Vec<Chunk>> {
        self.validate()?;
        match self {
            Self::Heading(options) => heading::chunk(document, doc, options),
            Self::Sliding(window) => sliding::chunk(document, doc, window),
            Self::Paragraph(window) => paragraph::chunk(document, doc, window),
            Self::Line(window) => line::chunk(document, doc, window),
            Self::Portfolio(window) => portfolio::chunk(document, doc, window),
        }
    }
}

/// Leaves out pieces that are shorter than `min` characters, unless nothing else is left.
pub(super) fn without_short(text: &str, pieces: Vec<super::pack::Piece>, min: usize) -> Vec<super::pack::Piece> {
    let is_long = |p: &super::pack::Piece| text[p.span.clone()].trim().chars().count() >= min.max(1);
    if pieces.iter().any(is_long) {
        return pieces.into_iter().filter(is_long).collect();
    }
    pieces.into_iter().filter(|p| !text[p.span.clone()].trim().is_empty()).collect()
}
