//! Phrases in quotation marks: the passages that hold them word for word.

use super::{ChunkSet, KnowledgeBase};
use crate::Result;
use crate::chunk::{plain_passage, title_path};
use crate::index::lexical::Lookup;
use crate::text::{QueryTerm, fold_str, query_terms};

/// Most passages whose text is read for a phrase, those with the highest scores first.
const MAX_READ: usize = 500;

/// The passages of `allowed` that hold all `phrases`, letter for letter but for case, width, diacritics and
/// white space; in their text or in the titles above it. `None` if there is no such passage. One whose text
/// is not loaded counts if it has all words of the phrase.
pub(super) fn holding(base: &KnowledgeBase, phrases: &[&str], allowed: Option<&ChunkSet>) -> Result<Option<ChunkSet>> {
    let mut left: Option<ChunkSet> = allowed.cloned();
    for phrase in phrases {
        let terms: Vec<QueryTerm> = query_terms(phrase);
        let words: Vec<Lookup> = terms.iter().map(Lookup::exact).collect();
        let mut found = base.lexical_index().scores(&words, left.as_ref())?.passages;
        // Both sums are made of the same numbers in the same order: a share of 1 is exact.
        found.retain(|p| p.matched >= 1.0);
        found.sort_by(|a, b| b.score.total_cmp(&a.score).then(a.chunk.cmp(&b.chunk)));
        found.truncate(MAX_READ);
        let wanted = squeezed(phrase);
        let mut set = ChunkSet::new(base.chunks().len());
        for passage in found {
            if holds(base, passage.chunk, &wanted) {
                set.insert(passage.chunk);
            }
        }
        left = Some(set);
    }
    Ok(left.filter(|set| !phrases.is_empty() && !set.is_empty()))
}

fn holds(base: &KnowledgeBase, chunk: u32, wanted: &str) -> bool {
    let Some(chunk) = base.chunks().get(chunk as usize) else { return false };
    let Some(document) = base.documents().get(chunk.doc as usize) else { return false };
    if !base.has_text(chunk.doc) {
        return true;
    }
    squeezed(&plain_passage(document, chunk).text).contains(wanted)
        || title_path(document, chunk).iter().any(|title| squeezed(title).contains(wanted))
}

/// Folded, with one space for each run of white space.
fn squeezed(text: &str) -> String {
    let folded = fold_str(text);
    let mut out = String::with_capacity(folded.len());
    for word in folded.split_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}
