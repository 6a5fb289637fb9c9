//! The passages that were found, joined to one text with a source above each: what goes into a prompt.

use super::{Hit, KnowledgeBase};
use crate::chunk::title_path;
use std::ops::RangeInclusive;

/// Most characters of a context where nothing else is said.
pub const CONTEXT_CHARS: usize = 3_000;

/// Passages that follow one another in a document.
struct Part {
    doc: u32,
    chunks: RangeInclusive<u32>,
}

/// The passages of `hits`, best first, as one text of at most `limit` characters. Above each stands where it comes
/// from; passages that follow one another are joined without what they repeat. The best one is first and the second
/// best last, because a language model reads the beginning and the end of a long text best (Liu et al., "Lost in
/// the Middle", TACL 2024). What does not fit is left out; only the best one is cut instead. Passages whose text is
/// not there are left out too.
pub fn context(base: &KnowledgeBase, hits: &[Hit], limit: usize) -> String {
    let mut taken: Vec<String> = Vec::new();
    let mut left = limit;
    for part in parts(base, hits) {
        let Some(mut text) = render(base, &part) else { continue };
        let between = if taken.is_empty() { 0 } else { 2 };
        let chars = text.chars().count() + between;
        if chars > left {
            if !taken.is_empty() {
                continue;
            }
            text = text.chars().take(limit).collect();
        }
        left = left.saturating_sub(chars);
        taken.push(text);
    }
    let last: Vec<String> = taken.iter().skip(1).step_by(2).rev().cloned().collect();
    let first = taken.into_iter().step_by(2);
    first.chain(last).collect::<Vec<_>>().join("\n\n")
}

/// The hits with their neighbours among them, in the order of the best hit of each.
fn parts(base: &KnowledgeBase, hits: &[Hit]) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for hit in hits {
        let Some(chunk) = base.chunks().get(hit.chunk as usize) else { continue };
        let (doc, at) = (chunk.doc, hit.chunk);
        let beside = parts.iter_mut().find(|p| {
            let (from, to) = (*p.chunks.start(), *p.chunks.end());
            p.doc == doc && (p.chunks.contains(&at) || at + 1 == from || at == to + 1)
        });
        match beside {
            Some(part) => part.chunks = (*part.chunks.start()).min(at)..=(*part.chunks.end()).max(at),
            None => parts.push(Part { doc, chunks: at..=at }),
        }
    }
    parts
}

/// Source and text.
fn render(base: &KnowledgeBase, part: &Part) -> Option<String> {
    let document = base.documents().get(part.doc as usize)?;
    let first = base.chunks().get(*part.chunks.start() as usize)?;
    let last = base.chunks().get(*part.chunks.end() as usize)?;
    let text = document.text.get(first.span_bytes.start as usize..last.span_bytes.end as usize)?.trim();
    let place = title_path(document, first).join(" > ");
    let source = format!("{}/{}", document.collection, document.path);
    let head = if place.is_empty() { source } else { format!("{source}: {place}") };
    (!text.is_empty()).then(|| format!("[{head}]\n{text}"))
}

#[cfg(all(test, feature = "build"))]
mod tests {
    use super::*;
    use crate::chunk::heading::{HeadingOptions, chunk};
    use crate::document::parse_markdown;
    use crate::index::lexical::{LexicalBuilder, LexicalIndex};
    use crate::search::Query;

    /// One document of four sections, and two more documents.
    fn base() -> KnowledgeBase {
        let sections = ["one", "two", "three", "four"].map(|n| format!("## {n}\n\nalpha {n} text.\n\n")).concat();
        let texts =
            [format!("# Long\n\n{sections}"), "# B\n\nalpha beta gamma.\n".into(), "# C\n\nalpha delta.\n".into()];
        let mut documents = Vec::new();
        let mut chunks = Vec::new();
        let mut lexical = LexicalBuilder::new();
        for (i, text) in texts.iter().enumerate() {
            let mut document = parse_markdown(&format!("{i}.md"), text).document;
            document.collection = "c".into();
            let options = HeadingOptions { min_chars: 0, ..HeadingOptions::default() };
            for c in chunk(&document, i as u32, &options).expect("valid options") {
                lexical.add_chunk(&document, &c).expect("small");
                chunks.push(c);
            }
            documents.push(document);
        }
        let index = LexicalIndex::from_bytes(lexical.to_bytes().expect("small")).expect("sound");
        KnowledgeBase::new(documents, chunks, index).expect("fits")
    }

    fn hits(base: &KnowledgeBase, order: &[&str]) -> Vec<Hit> {
        let found = base.lexical(&Query { text: "alpha".into(), k: 100, ..Query::default() }).expect("found").hits;
        let text = |h: &Hit| {
            base.chunks()[h.chunk as usize]
                .text(&base.documents()[base.chunks()[h.chunk as usize].doc as usize])
                .expect("text")
        };
        order.iter().map(|w| found.iter().find(|h| text(h).contains(w)).expect("there").clone()).collect()
    }

    #[test]
    fn sources_stand_above_and_neighbours_are_joined() {
        let base = base();
        let text = context(&base, &hits(&base, &["two", "beta", "three"]), 1000);
        assert_eq!(
            text,
            "[c/0.md: Long > two]\n## two\n\nalpha two text.\n\n## three\n\nalpha three text.\n\n[c/1.md: B]\n# B\n\nalpha beta gamma."
        );
    }

    #[test]
    fn the_best_is_first_and_the_second_last() {
        let base = base();
        let text = context(&base, &hits(&base, &["one", "beta", "delta", "four"]), 1000);
        let at = |w: &str| text.find(w).expect("there");
        assert!(
            at("one text") < at("delta") && at("delta") < at("four text") && at("four text") < at("beta"),
            "{text}"
        );
    }

    #[test]
    fn a_budget_is_kept() {
        let base = base();
        let all = hits(&base, &["beta", "one", "delta"]);
        for limit in [0, 1, 10, 40, 60, 80, 1000] {
            assert!(context(&base, &all, limit).chars().count() <= limit);
        }
        // The second does not fit, the third does.
        let beta = "[c/1.md: B]\n# B\n\nalpha beta gamma.".chars().count();
        let delta = "[c/2.md: C]\n# C\n\nalpha delta.".chars().count();
        let text = context(&base, &all, beta + 2 + delta);
        assert!(text.contains("beta") && text.contains("delta") && !text.contains("one text"), "{text}");
        assert_eq!(context(&base, &[], 100), "");
    }
}
