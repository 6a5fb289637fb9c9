//! `[chunking]`: how documents are cut.

use kb_core::chunk::heading::HeadingOptions;
use kb_core::chunk::{ChunkStrategy, Window};
use schemars::JsonSchema;
use serde::Deserialize;

/// `[chunking]`, or `chunking` of one source.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ChunkingConfig {
    /// `heading`, `sliding`, `paragraph`, `line` or `portfolio`. Default: `heading`; for a portfolio `portfolio`.
    pub strategy: Option<StrategyName>,
    /// What `size`, `overlap` and `min` count: `characters`, or `tokens` of the embedding model, in which the defaults are
    /// 0.32 times as large. Default: `characters`.
    pub unit: Option<LengthUnit>,
    /// Longest passage in characters. Default: 800; 500 for `paragraph` and `line`.
    pub size: Option<usize>,
    /// How much of a passage the next one repeats, in characters. Default: 80; 150 for `sliding`, 50 for `paragraph`
    /// and `line`.
    pub overlap: Option<usize>,
    /// Shorter passages are left out, in characters; with `heading` they join the next one. Default: 100 for
    /// `heading`, 50 for `sliding`, 21 for `portfolio`, 0 for the others.
    pub min: Option<usize>,
}

/// What the lengths of passages count.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum LengthUnit {
    /// Unicode scalar values.
    #[default]
    Characters,
    /// What the embedding model reads at a time.
    Tokens,
}

/// The strategies as they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StrategyName {
    /// By headings.
    Heading,
    /// A window that slides over the text.
    Sliding,
    /// By paragraphs.
    Paragraph,
    /// By lines.
    Line,
    /// By sections, with the sorts that portfolios have.
    Portfolio,
}

impl ChunkingConfig {
    /// What a source says over what is said for all. A strategy of its own has its own defaults.
    pub fn over(self, general: Self) -> Self {
        let unit = self.unit.or(general.unit);
        if self.strategy.is_some() {
            return Self { unit, ..self };
        }
        // A size of its own must not be made wrong by what the general one had room for.
        let share = if general.strategy.is_none_or(|s| s == StrategyName::Heading) { 4 } else { 2 };
        let fitting = |value: usize, share: usize| self.size.map_or(value, |size| value.min(size / share));
        Self {
            strategy: general.strategy,
            unit,
            size: self.size.or(general.size),
            overlap: self.overlap.or(general.overlap.map(|n| fitting(n, share))),
            min: self.min.or(general.min.map(|n| fitting(n, 1))),
        }
    }

    /// The strategy with its settings, lengths in [`Self::unit`].
    pub fn strategy(&self) -> ChunkStrategy {
        let default = HeadingOptions::default();
        let in_tokens = self.unit == Some(LengthUnit::Tokens);
        // What a passage of 800 characters has between English and Chinese, and half of what most models read.
        let n = |characters: usize| if in_tokens { characters * 256 / 800 } else { characters };
        // What is not said must not make wrong what is.
        let window = |w: Window| {
            let w = Window { size: n(w.size), overlap: n(w.overlap), min: n(w.min) };
            let size = self.size.unwrap_or(w.size);
            Window {
                size,
                overlap: self.overlap.unwrap_or(w.overlap.min(size / 2)),
                min: self.min.unwrap_or(w.min.min(size)),
            }
        };
        match self.strategy.unwrap_or(StrategyName::Heading) {
            StrategyName::Sliding => ChunkStrategy::Sliding(window(Window::SLIDING)),
            StrategyName::Paragraph => ChunkStrategy::Paragraph(window(Window::PARAGRAPH)),
            StrategyName::Line => ChunkStrategy::Line(window(Window::LINE)),
            StrategyName::Portfolio => ChunkStrategy::Portfolio(window(Window::PORTFOLIO)),
            StrategyName::Heading => {
                let max_chars = self.size.unwrap_or(n(default.max_chars));
                ChunkStrategy::Heading(HeadingOptions {
                    max_chars,
                    overlap_chars: self.overlap.unwrap_or(n(default.overlap_chars).min(max_chars / 4)),
                    // In tokens nothing is longer than the size.
                    hard_max_chars: if in_tokens { max_chars } else { default.hard_max_chars.max(max_chars) },
                    min_chars: self.min.unwrap_or(n(default.min_chars).min(max_chars)),
                    ..default
                })
            }
        }
    }
}
