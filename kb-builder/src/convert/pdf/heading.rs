//! Which blocks are headings: larger letters than the text, or bold ones on a line of their own.

use super::block::{Block, Kind};
use std::collections::BTreeMap;

/// How much larger than the text a heading's letters are, at least.
const LARGER: f32 = 1.11;
/// Longer blocks are no headings. Characters.
const MAX_CHARS: usize = 120;
/// The same for those that are only bold.
const MAX_BOLD_CHARS: usize = 70;
/// Levels that are told apart; level 6 marks pages.
const MAX_LEVEL: u8 = 5;

/// A heading's place in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heading {
    /// 1 to 5.
    pub level: u8,
}

/// Size of the letters that most of the text is set in.
pub fn body_size(blocks: &[Block]) -> f32 {
    let mut sizes: BTreeMap<i32, usize> = BTreeMap::new();
    for line in blocks.iter().filter(|b| b.kind != Kind::Code).flat_map(|b| &b.lines) {
        *sizes.entry((line.size * 2.0).round() as i32).or_default() += line.text.len();
    }
    sizes.iter().max_by_key(|(_, n)| **n).map_or(10.0, |(size, _)| *size as f32 / 2.0)
}

/// Says of every block whether it is a heading. The sizes of headings give their levels, largest first.
pub fn headings(blocks: &[Block], body: f32) -> Vec<Option<Heading>> {
    let half_points = |b: &Block| (b.size() * 2.0).round() as i32;
    let large: Vec<bool> = blocks.iter().map(|b| can_be(b, MAX_CHARS) && b.size() >= body * LARGER).collect();
    let bold: Vec<bool> = blocks
        .iter()
        .enumerate()
        .map(|(i, b)| {
            !large[i]
                && can_be(b, MAX_BOLD_CHARS)
                && b.lines.len() <= 2
                && b.is_bold()
                && b.size() >= body * 0.97
                // What stands over nothing is no heading.
                && blocks.get(i + 1).is_some_and(|next| !(next.is_bold() && next.kind == Kind::Text) || next.size() > b.size())
        })
        .collect();
    // Bold lines are headings where they are few; in a text that is bold all over they are not.
    let bold_count = bold.iter().filter(|b| **b).count();
    let use_bold = bold_count > 0 && bold_count * 3 <= blocks.len() * 2;
    let mut sizes: Vec<i32> = blocks.iter().zip(&large).filter(|(_, l)| **l).map(|(b, _)| half_points(b)).collect();
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    // Half a point is no difference that a reader sees.
    sizes.dedup_by(|a, b| (*b - *a) <= 1);
    let level_of = |size: i32| {
        let rank = sizes.iter().position(|s| size >= *s - 1).unwrap_or(sizes.len());
        (rank as u8 + 1).min(MAX_LEVEL)
    };
    blocks
        .iter()
        .enumerate()
        .map(|(i, b)| {
            if large[i] {
                Some(Heading { level: level_of(half_points(b)) })
            } else if bold[i] && use_bold {
                Some(Heading { level: (sizes.len() as u8 + 1).min(MAX_LEVEL) })
            } else {
                None
            }
        })
        .collect()
}

fn can_be(block: &Block, max_chars: usize) -> bool {
    let Some(last) = block.lines.last() else { return false };
    let text = || block.lines.iter().flat_map(|l| l.text.chars());
    let numbered = block.kind == Kind::Item && block.lines.iter().all(|l| l.bold || l.size > 0.0);
    (block.kind == Kind::Text || numbered)
        && super::block::marker(&block.lines[0].text) == 0
        && block.chars() <= max_chars
        && block.lines.len() <= 4
        && text().filter(|c| c.is_alphabetic()).count() >= 2
        && !last.text.ends_with(['。', '；', '，', ',', ';', '.', '：', ':'])
        // The dots of a table of contents.
        && !text().collect::<String>().contains("....")
}

#[cfg(test)]
mod tests {
    use super::super::line::Line;
    use super::*;

    fn block(text: &str, size: f32, bold: bool) -> Block {
        let line = Line {
            text: text.into(),
            left: 50.0,
            right: 300.0,
            y: 100.0,
            size,
            bold,
            monospace: false,
            beside: false,
            first_word: 20.0,
        };
        Block { kind: Kind::Text, lines: vec![line], pages: vec![0] }
    }

    #[test]
    fn sizes_give_levels_and_bold_comes_last() {
        let text = "This is running text that is long enough to be most of the document by far.";
        let blocks = [
            block("The title", 20.0, true),
            block("1 Chapter", 14.0, true),
            block(text, 10.0, false),
            block("A point in bold", 10.0, true),
            block(text, 10.0, false),
            block("2 Chapter", 14.2, true),
            block(text, 10.0, false),
            block("Bold words that end like a sentence.", 10.0, true),
            block(text, 10.0, false),
        ];
        assert_eq!(body_size(&blocks), 10.0);
        let levels: Vec<u8> = headings(&blocks, 10.0).iter().map(|h| h.map_or(0, |h| h.level)).collect();
        assert_eq!(levels, [1, 2, 0, 3, 0, 2, 0, 0, 0]);
    }

    #[test]
    fn large_numbers_and_long_texts_are_none() {
        let long = "x".repeat(130);
        for text in ["12", "∑", long.as_str(), "绪论 ........ 3"] {
            assert_eq!(headings(&[block(text, 20.0, false)], 10.0), [None], "{text}");
        }
    }
}
