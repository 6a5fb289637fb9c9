//! Measuring retrieval on a test set: corpus.jsonl, queries.jsonl, qrels.tsv.

pub mod answers;
pub mod metrics;
mod set;

use crate::base::Base;
use crate::build::embed_texts;
use crate::error::Result;
use crate::model::ModelFolder;
use crate::report::Reporter;
use kb_core::bundle::BundleBuilder;
use kb_core::chunk::{Chunk, ChunkId, heading};
use kb_core::document::{Document, plain};
use kb_core::embed::TextKind;
use kb_core::index::lexical::LexicalBuilder;
use kb_core::index::vector::VectorIndex;
use kb_core::search::{CANDIDATES, KnowledgeBase, Mode, Query};
use metrics::Scores;
use std::collections::HashSet;
use std::path::Path;

pub use set::TestSet;

/// Texts that are likely longer than what a model reads are cut into passages; the best one ranks its
/// document. In tokens, estimated.
const LONG_TOKENS: usize = 512;

/// How many hits a question gets. As many as the candidates of each list, so that the ranking is the
/// one that a reader sees.
const DEPTH: usize = CANDIDATES;

/// What one question found: corpus ids with scores, best first, each once.
pub type Ranking = Vec<(String, f32)>;

/// The rankings of all questions, in their order, and what they are worth.
pub struct Outcome {
    /// One for each question.
    pub rankings: Vec<Ranking>,
    /// Means over the questions.
    pub scores: Scores,
}

/// Indexes the set's corpus and asks its questions. Without a model only [`Mode::Lexical`] is possible.
pub fn run(
    set: &TestSet,
    mode: Mode,
    model: Option<&ModelFolder>,
    cache: Option<&Path>,
    reporter: &Reporter,
) -> Result<Outcome> {
    let base = index(set, model, cache, reporter)?;
    let questions: Vec<String> = set.queries.iter().map(|q| q.text.clone()).collect();
    let vectors = match model {
        Some(model) => Some(embed_texts(model, cache, TextKind::Query, &questions, reporter)?.vectors),
        None => None,
    };
    reporter.stage("asking", questions.len() as u64, "questions");
    let mut rankings = Vec::with_capacity(questions.len());
    for (i, question) in questions.iter().enumerate() {
        let query = Query { text: question.clone(), k: DEPTH, mode, ..Query::default() };
        let response = base.search(&query, vectors.as_ref().map(|v| v[i].as_slice()))?;
        let mut seen = HashSet::new();
        let hits = response.hits.into_iter().filter(|h| seen.insert(h.path.clone()));
        rankings.push(hits.map(|h| (h.path, h.score)).collect());
        reporter.advance(1);
    }
    reporter.end_stage();
    let scores = metrics::score(set, &rankings);
    Ok(Outcome { rankings, scores })
}

/// Builds the base in memory, through the bundle's own encoding, so that what is measured is what a
/// reader gets.
fn index(set: &TestSet, model: Option<&ModelFolder>, cache: Option<&Path>, reporter: &Reporter) -> Result<Base> {
    let documents: Vec<Document> = set.corpus.iter().map(|e| document(set, e)).collect();
    let mut chunks: Vec<Chunk> = Vec::new();
    for (i, document) in documents.iter().enumerate() {
        chunks.extend(passages(document, i as u32)?);
    }
    reporter.stage("indexing", chunks.len() as u64, "passages");
    let mut lexical = LexicalBuilder::new();
    for chunk in &chunks {
        let document = &documents[chunk.doc as usize];
        lexical.add(&document.title, "", &plain(chunk.text(document).unwrap_or_default()).text)?;
        reporter.advance(1);
    }
    let lexical = lexical.build()?;
    reporter.end_stage();
    let vectors = match model {
        Some(model) => {
            let texts: Vec<String> = chunks.iter().map(|c| text_to_embed(&documents[c.doc as usize], c)).collect();
            let embedding = embed_texts(model, cache, TextKind::Passage, &texts, reporter)?;
            Some(VectorIndex::from_bytes(&VectorIndex::build(model.info.dim, &embedding.vectors.concat())?.to_bytes())?)
        }
        None => None,
    };
    let manifest = BundleBuilder::new("kb-builder eval", &documents, &chunks).finish()?.manifest;
    Ok(Base { manifest, knowledge: KnowledgeBase::new(documents, chunks, lexical)?, vectors })
}

/// The set's own definition: title, line end, text.
fn text_to_embed(document: &Document, chunk: &Chunk) -> String {
    format!("{}\n{}", document.title, chunk.text(document).unwrap_or_default())
}

fn document(set: &TestSet, entry: &set::Entry) -> Document {
    let mut document = kb_core::document::markdown::parse_text(&entry.id, &entry.text);
    document.collection = set.name.clone();
    document.title = entry.title.clone();
    document
}

/// One passage, or several for a long text.
fn passages(document: &Document, number: u32) -> Result<Vec<Chunk>> {
    if tokens(&document.text) > LONG_TOKENS {
        let cut = heading::chunk(document, number, &heading::HeadingOptions::default())?;
        if !cut.is_empty() {
            return Ok(cut);
        }
    }
    let id = ChunkId::new(&document.collection, &document.path, &document.text, 0);
    Ok(vec![Chunk { id, doc: number, section: None, span_bytes: 0..document.text.len() as u32, overlap_bytes: 0 }])
}

/// About how many tokens a text has: 0.8 for a Chinese character, one for four others.
fn tokens(text: &str) -> usize {
    let (mut wide, mut other) = (0, 0);
    for c in text.chars() {
        if u32::from(c) >= 0x2e80 { wide += 1 } else { other += 1 }
    }
    wide * 4 / 5 + other / 4
}
