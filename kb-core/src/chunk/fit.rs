//! Passages that a model reads to their ends: what is longer is cut in two until it fits.

use super::cut::chunks_of;
use super::pack::Piece;
use super::{Chunk, ChunkKind, embedding_text};
use crate::document::Document;
use std::ops::Range;

/// Passages of fewer characters are left as they are, whatever their titles add.
const LEAST: usize = 40;

/// Cuts the passages of one document whose [`embedding_text`] is longer than `limit` by the measure `length`, for
/// example the model's tokens: at the blank line nearest to the middle, else the end of a line, of a sentence, of a word.
/// All others keep their place and their identity.
pub fn fit(document: &Document, chunks: Vec<Chunk>, limit: usize, length: &dyn Fn(&str) -> usize) -> Vec<Chunk> {
    let Some(doc) = chunks.first().map(|c| c.doc) else { return chunks };
    let mut parts: Vec<Part> = Vec::with_capacity(chunks.len());
    for chunk in &chunks {
        divide(document, chunk.clone(), limit, length, &mut parts);
    }
    if parts.len() == chunks.len() {
        return chunks;
    }
    let mut fitted = chunks_of(document, doc, parts.iter().map(|p| (p.piece.clone(), p.section)));
    for (chunk, part) in fitted.iter_mut().zip(&parts) {
        // Which sort of a portfolio a passage is, its own words do not tell.
        if part.kind.is_of_portfolio() {
            chunk.kind = part.kind;
        }
    }
    fitted
}

/// A passage or a part of one, and what is known of it.
struct Part {
    piece: Piece,
    section: Option<usize>,
    kind: ChunkKind,
}

fn divide(document: &Document, chunk: Chunk, limit: usize, length: &dyn Fn(&str) -> usize, out: &mut Vec<Part>) {
    let span = chunk.span_bytes.start as usize..chunk.span_bytes.end as usize;
    let new_from = span.start + chunk.overlap_bytes as usize;
    let section = chunk.section.map(|s| s as usize);
    let passage = chunk.text(document).unwrap_or_default();
    let fits = passage.chars().nth(2 * LEAST).is_none() || length(&embedding_text(document, &chunk)) <= limit;
    let cut = if fits { None } else { middle(passage) };
    let Some((end, start)) = cut.map(|c| (span.start + c.start, span.start + c.end)) else {
        out.push(Part { piece: Piece { span, new_from }, section, kind: chunk.kind });
        return;
    };
    let part = |span: Range<usize>| Chunk {
        span_bytes: span.start as u32..span.end as u32,
        overlap_bytes: new_from.saturating_sub(span.start).min(span.len()) as u32,
        ..chunk.clone()
    };
    // What only repeats the passage before is there already.
    if end > new_from {
        divide(document, part(span.start..end), limit, length, out);
    }
    divide(document, part(start..span.end), limit, length, out);
}

/// The white space to cut at, which may be empty; `None` for a text that cannot be cut.
fn middle(text: &str) -> Option<Range<usize>> {
    let half = text.len() / 2;
    let (low, high) = (text.len() / 4, text.len() - text.len() / 4);
    let nearest = |ends: &mut dyn Iterator<Item = usize>| {
        ends.filter(|at| (low..=high).contains(at)).min_by_key(|at| at.abs_diff(half))
    };
    let after = |pattern: &'static str| text.match_indices(pattern).map(move |(at, found)| at + found.len());
    let sentences = || {
        text.char_indices().filter(|(at, c)| {
            let next = text[at + c.len_utf8()..].chars().next();
            matches!(c, '。' | '！' | '？') || (matches!(c, '.' | '!' | '?') && next.is_some_and(char::is_whitespace))
        })
    };
    let at = nearest(&mut after("\n\n"))
        .or_else(|| nearest(&mut after("\n")))
        .or_else(|| nearest(&mut sentences().map(|(at, c)| at + c.len_utf8())))
        .or_else(|| nearest(&mut after(" ")))
        .or_else(|| nearest(&mut text.char_indices().map(|(at, _)| at)))?;
    let end = text[..at].trim_end().len();
    // A line keeps its indentation.
    let start = text.len() - text[at..].trim_start_matches(['\n', '\r']).len();
    (end > 0 && start < text.len() && (end < text.len())).then_some(end..start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::ChunkStrategy;
    use crate::chunk::heading::HeadingOptions;
    use crate::document::parse_markdown;
    use proptest::prelude::*;

    fn chars(text: &str) -> usize {
        text.chars().count()
    }

    fn cut(source: &str, size: usize) -> (Document, Vec<Chunk>) {
        let document = parse_markdown("a.md", source).document;
        let options = HeadingOptions { max_chars: size, hard_max_chars: size.max(1600), ..HeadingOptions::default() };
        let chunks = ChunkStrategy::Heading(options).chunk(&document, 0).expect("valid");
        (document, chunks)
    }

    #[test]
    fn what_fits_stays_as_it_is() {
        let (document, chunks) = cut("# A\n\nSome words about one thing.\n\n## B\n\nSome about another.\n", 800);
        assert_eq!(fit(&document, chunks.clone(), 200, &chars), chunks);
    }

    #[test]
    fn a_long_table_is_cut_between_its_rows() {
        let rows: String = (0..40).map(|i| format!("| name {i} | a value with words {i} |\n")).collect();
        let (document, chunks) = cut(&format!("# T\n\n| n | v |\n|---|---|\n{rows}\nAfter it.\n"), 800);
        let fitted = fit(&document, chunks.clone(), 400, &chars);
        assert!(fitted.len() > chunks.len());
        for chunk in &fitted {
            let text = chunk.text(&document).expect("its own");
            assert!(chars(&embedding_text(&document, chunk)) <= 400, "{text}");
            assert!(text.lines().all(|l| !l.starts_with('|') || l.ends_with('|')), "a row is cut: {text}");
        }
    }

    #[test]
    fn chinese_without_a_space_is_cut_at_its_sentences() {
        let (document, chunks) = cut(&format!("# 长\n\n{}\n", "这一句话有十二个字左右。".repeat(60)), 800);
        let fitted = fit(&document, chunks, 300, &chars);
        assert!(fitted.iter().all(|c| c.text(&document).expect("its own").ends_with('。')), "{fitted:?}");
    }

    #[test]
    fn parts_of_a_portfolio_are_of_its_sorts() {
        let words = "A sentence about how it all began. ".repeat(30);
        let document = parse_markdown("a.md", &format!("# P\n\nWhat it is.\n\n## Motivation\n\n{words}\n")).document;
        let chunks = ChunkStrategy::Portfolio(crate::chunk::Window::PORTFOLIO).chunk(&document, 0).expect("valid");
        let last = chunks.last().expect("there").kind;
        let fitted = fit(&document, chunks.clone(), 300, &chars);
        assert!(fitted.len() > chunks.len() && last == ChunkKind::ProjectStory);
        assert!(fitted.iter().skip(1).all(|c| c.kind == ChunkKind::ProjectStory), "{fitted:?}");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

        /// Everything is still there, in order, and nothing is longer than the limit but what cannot be cut.
        #[test]
        fn nothing_is_lost(
            words in proptest::collection::vec("[a-z]{1,12}|[图论最短路。]{1,30}|\n\n|\n|```\n|\\| a \\| b \\|\n", 1..300),
            limit in 100_usize..600,
        ) {
            let (document, chunks) = cut(&words.join(" "), 800);
            let fitted = fit(&document, chunks.clone(), limit, &chars);
            let mut covered = chunks.first().map_or(0, |c| c.span_bytes.start) as usize;
            for chunk in &fitted {
                let (start, end) = (chunk.span_bytes.start as usize, chunk.span_bytes.end as usize);
                let new = start + chunk.overlap_bytes as usize;
                prop_assert!(new >= covered && start < end && end > covered);
                prop_assert!(document.text[covered..new].trim().is_empty(), "lost {:?}", &document.text[covered..new]);
                covered = end;
                let text = chunk.text(&document).expect("its own");
                prop_assert!(chars(&embedding_text(&document, chunk)) <= limit || chars(text) <= 2 * LEAST, "{text}");
            }
            prop_assert_eq!(covered, chunks.last().map_or(0, |c| c.span_bytes.end) as usize);
            let ids: std::collections::HashSet<_> = fitted.iter().map(|c| c.id).collect();
            prop_assert_eq!(ids.len(), fitted.len());
        }
    }
}
