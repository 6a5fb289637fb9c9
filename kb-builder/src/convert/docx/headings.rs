//! Headings of documents whose author made them by hand, with bold or large letters instead of styles.

use super::super::Notes;
use super::body::Block;
use std::collections::BTreeMap;

/// Longer lines are no headings. Characters.
const MAX_CHARS: usize = 40;
/// Levels that sizes are told apart into.
const MAX_LEVELS: usize = 4;

/// Turns paragraphs into headings where a document has none by its styles: short lines without a stop
/// at the end, in larger letters than the text or entirely bold. The larger the letters, the higher the rank.
pub fn guess(blocks: &mut [Block], remarks: &mut Notes) {
    if blocks.iter().any(|b| matches!(b, Block::Heading(..))) {
        return;
    }
    let mut letters_of: BTreeMap<u32, usize> = BTreeMap::new();
    for block in blocks.iter() {
        if let Block::Paragraph { size, letters, .. } = block {
            *letters_of.entry(*size).or_default() += letters;
        }
    }
    let body = letters_of.iter().max_by_key(|(_, n)| **n).map_or(0, |(size, _)| *size);
    let is_heading = |block: &Block| match block {
        Block::Paragraph { text, size, bold, .. } => {
            (*size > body || *bold)
                && *size >= body
                && text.chars().count() <= MAX_CHARS
                && !text.contains('\n')
                && !text.ends_with(['。', '.', '；', ';', '，', ',', '！', '!', '：', ':', '、'])
                && text.chars().any(char::is_alphabetic)
        }
        _ => false,
    };
    let mut sizes: Vec<u32> = blocks
        .iter()
        .filter(|b| is_heading(b))
        .filter_map(|b| if let Block::Paragraph { size, .. } = b { Some(*size) } else { None })
        .collect();
    // A document in which every third line is bold or large uses that for something else.
    let paragraphs = blocks.iter().filter(|b| matches!(b, Block::Paragraph { .. })).count();
    if sizes.is_empty() || sizes.len() * 3 > paragraphs * 2 {
        return;
    }
    sizes.sort_unstable_by(|a, b| b.cmp(a));
    sizes.dedup();
    let mut guessed = 0;
    for block in blocks.iter_mut().filter(|b| is_heading(b)) {
        if let Block::Paragraph { text, size, .. } = block {
            let rank = sizes.iter().position(|s| s == size).unwrap_or(0).min(MAX_LEVELS - 1);
            *block = Block::Heading(rank as u8 + 1, std::mem::take(text));
            guessed += 1;
        }
    }
    remarks.count("headings guessed from bold or large letters, the document has no heading styles", guessed);
}
