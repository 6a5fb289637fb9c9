//! Measuring retrieval: on a test set (corpus.jsonl, queries.jsonl, qrels.tsv), or with a file of questions
//! on a built site.

pub mod answers;
pub mod asked;
pub mod compare;
pub mod interval;
pub mod metrics;
pub mod questions;
mod set;

use crate::base::Base;
use crate::build::{Passage, centring, embed_texts};
use crate::embedding::EmbeddingModel;
use crate::error::Result;
use crate::refine::Refiner;
use crate::report::Reporter;
use kb_core::bundle::BundleBuilder;
use kb_core::chunk::{Chunk, ChunkId, ChunkKind, heading};
use kb_core::document::Document;
use kb_core::embed::TextKind;
use kb_core::index::lexical::LexicalBuilder;
use kb_core::index::vector::{GraphOptions, VectorIndex, VectorMethod};
use kb_core::search::{CANDIDATES, Hit, KnowledgeBase, Mode, Query, RetrievalOptions};
use metrics::Scores;
use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

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
    /// For each question and hit what the score is made of, as lines of a table.
    pub features: String,
    /// Milliseconds of a search without embedding the question: 95 % took no longer.
    pub query_ms_p95: f64,
}

/// How a set is measured.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// Which lists answer. Without a model only [`Mode::Lexical`] is possible.
    pub mode: Mode,
    /// How they are combined.
    pub retrieval: RetrievalOptions,
    /// How the nearest vectors are looked for.
    pub vectors: VectorMethod,
    /// What comes after the search.
    pub refiner: Option<&'a Refiner>,
    /// The embedding model.
    pub model: Option<&'a EmbeddingModel>,
    /// Folder of the embedding cache.
    pub cache: Option<&'a Path>,
}

/// Indexes the set's corpus and asks its questions.
pub fn run(set: &TestSet, settings: &Settings, reporter: &Reporter) -> Result<Outcome> {
    let base = index(set, settings, reporter)?;
    let questions: Vec<String> = set.queries.iter().map(|q| q.text.clone()).collect();
    let vectors = match settings.model {
        Some(model) => Some(embed_texts(model, settings.cache, TextKind::Query, &questions, reporter)?.vectors),
        None => None,
    };
    ask(set, &base, settings, vectors.as_deref(), reporter, |_, hit| hit.path.clone())
}

/// Asks the questions of a file of a built site.
pub fn run_site(set: &TestSet, site: &Path, settings: &Settings, reporter: &Reporter) -> Result<Outcome> {
    let mut base = Base::open(site, settings.mode != Mode::Lexical)?;
    base.knowledge.set_options(settings.retrieval)?;
    base.set_vector_method(settings.vectors)?;
    for question in &set.queries {
        asked::check_scope(&question.text, &question.scope, &base.knowledge.collections())?;
    }
    for (question, place) in questions::unknown_places(set, base.knowledge.documents()) {
        reporter.note(&format!("nothing in the knowledge base is at `{place}`, where “{question}” is answered"));
    }
    let questions: Vec<String> = set.queries.iter().map(|q| q.text.clone()).collect();
    let vectors = match settings.model {
        Some(model) => {
            base.manifest.check_model(model.info())?;
            Some(embed_texts(model, settings.cache, TextKind::Query, &questions, reporter)?.vectors)
        }
        None => None,
    };
    ask(set, &base, settings, vectors.as_deref(), reporter, |question, hit| {
        let wanted = set.relevant.get(question).into_iter().flat_map(|places| places.keys());
        questions::place_of(wanted.chain(set.unwanted.get(question).into_iter().flatten()), hit)
    })
}

/// Asks all questions; `name` says what a hit is called in the rankings.
fn ask(
    set: &TestSet,
    base: &Base,
    settings: &Settings,
    vectors: Option<&[Vec<f32>]>,
    reporter: &Reporter,
    name: impl Fn(&str, &Hit) -> String,
) -> Result<Outcome> {
    reporter.stage("asking", set.queries.len() as u64, "questions");
    let mut rankings = Vec::with_capacity(set.queries.len());
    let mut milliseconds = Vec::with_capacity(set.queries.len());
    let mut features = String::new();
    let mut notes: BTreeMap<String, usize> = BTreeMap::new();
    // What comes after a search may look up more than the questions.
    let encoder = match (settings.refiner, settings.model) {
        (Some(_), Some(EmbeddingModel::Folder(folder))) => Some(folder.encoder()?),
        _ => None,
    };
    let embed = |text: &str| -> Option<Vec<f32>> {
        let embedded = match (&encoder, settings.model) {
            (Some(encoder), _) => encoder.embed_one(TextKind::Query, text).ok()?,
            (None, Some(model)) => model.embed_all(TextKind::Query, &[text], &|_, _, _| {}).ok()?.pop()?,
            _ => return None,
        };
        Some(embedded)
    };
    for (i, question) in set.queries.iter().enumerate() {
        let vector = vectors.and_then(|v| v.get(i)).map(Vec::as_slice);
        // What a reader waits for, and only a part of what is measured.
        let query = Query {
            text: question.text.clone(),
            mode: settings.mode,
            collections: question.scope.collections.clone(),
            filters: question.scope.filters.clone(),
            ..Query::default()
        };
        let started = Instant::now();
        base.search(&query, vector)?;
        milliseconds.push(started.elapsed().as_secs_f64() * 1e3);
        let query = Query { k: DEPTH, keep_duplicates: true, ..query };
        let found = match settings.refiner {
            None => base.explain(&query, vector)?,
            Some(refiner) => {
                let refined = refiner.search(base, &query, &|text| {
                    if text == query.text { vector.map(<[f32]>::to_vec) } else { embed(text) }
                })?;
                refined.notes.into_iter().for_each(|note| *notes.entry(note).or_default() += 1);
                refined.found
            }
        };
        let mut seen = HashSet::new();
        let named = found.response.hits.iter().map(|hit| (name(&question.id, hit), hit.score));
        for ((id, _), explanation) in named.clone().zip(&found.explanations) {
            let gain = set.relevant.get(&question.id).and_then(|r| r.get(&id)).copied().unwrap_or(0.0);
            let values: Vec<String> = explanation.parts.iter().map(|p| format!("{}\t{}", p.value, p.weight)).collect();
            // Writing to a String cannot fail.
            let _ = writeln!(features, "{}\t{id}\t{gain}\t{}", question.id, values.join("\t"));
        }
        rankings.push(named.filter(|(id, _)| seen.insert(id.clone())).collect());
        reporter.advance(1);
    }
    reporter.end_stage();
    for (note, times) in notes {
        reporter.note(&format!("{note} ({times} of {} questions)", set.queries.len()));
    }
    milliseconds.sort_by(f64::total_cmp);
    let p95 = milliseconds.get(milliseconds.len() * 95 / 100).copied().unwrap_or(0.0);
    let scores = metrics::score(set, &rankings);
    Ok(Outcome { rankings, scores, features, query_ms_p95: (p95 * 100.0).round() / 100.0 })
}

/// Builds the base in memory, through the bundle's own encoding, so that what is measured is what a
/// reader gets.
fn index(set: &TestSet, settings: &Settings, reporter: &Reporter) -> Result<Base> {
    let (documents, chunks) = corpus(set)?;
    index_of(documents, chunks, text_to_embed, settings, reporter)
}

/// The same for any documents, cut in any way; `text` says what the model reads of a passage.
pub fn index_of(
    documents: Vec<Document>,
    chunks: Vec<Chunk>,
    text: fn(&Document, &Chunk) -> String,
    settings: &Settings,
    reporter: &Reporter,
) -> Result<Base> {
    reporter.stage("indexing", chunks.len() as u64, "passages");
    let mut lexical = LexicalBuilder::new();
    for chunk in &chunks {
        lexical.add_chunk(&documents[chunk.doc as usize], chunk)?;
        reporter.advance(1);
    }
    let lexical = lexical.build()?;
    reporter.end_stage();
    let vectors = match settings.model {
        Some(model) => {
            let texts: Vec<String> = chunks.iter().map(|c| text(&documents[c.doc as usize], c)).collect();
            let vectors = embed_texts(model, settings.cache, TextKind::Passage, &texts, reporter)?.vectors;
            let mut index = VectorIndex::build(model.info().dim, &vectors.concat())?;
            let passages: Vec<Passage> = chunks.iter().map(|c| Passage::new(&documents[c.doc as usize], c)).collect();
            if let Some(means) = centring(model, settings.cache, &passages, &vectors, reporter)? {
                index = index.with_centring(means)?;
            }
            let mut index = VectorIndex::from_bytes(&index.to_bytes())?;
            if settings.vectors == VectorMethod::Graph {
                let (graph, _) = index.build_graph(&GraphOptions::default())?;
                index.load_graph(&graph)?;
            }
            index.set_method(settings.vectors);
            Some(index)
        }
        None => None,
    };
    let manifest = BundleBuilder::new("kb-builder eval", &documents, &chunks).finish()?.manifest;
    let mut knowledge = KnowledgeBase::new(documents, chunks, lexical)?;
    knowledge.set_options(settings.retrieval)?;
    Ok(Base { manifest, knowledge, vectors })
}

/// The set's corpus as documents and their passages.
pub fn corpus(set: &TestSet) -> Result<(Vec<Document>, Vec<Chunk>)> {
    let documents: Vec<Document> = set.corpus.iter().map(|e| document(set, e)).collect();
    let mut chunks: Vec<Chunk> = Vec::new();
    for (i, document) in documents.iter().enumerate() {
        chunks.extend(passages(document, i as u32)?);
    }
    Ok((documents, chunks))
}

/// What the model reads of a passage: the set's own definition, title, line end, text.
pub fn text_to_embed(document: &Document, chunk: &Chunk) -> String {
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
    Ok(vec![Chunk {
        id,
        doc: number,
        section: None,
        span_bytes: 0..document.text.len() as u32,
        overlap_bytes: 0,
        kind: ChunkKind::Text,
    }])
}

/// About how many tokens a text has: 0.8 for a Chinese character, one for four others.
fn tokens(text: &str) -> usize {
    let (mut wide, mut other) = (0, 0);
    for c in text.chars() {
        if u32::from(c) >= 0x2e80 { wide += 1 } else { other += 1 }
    }
    wide * 4 / 5 + other / 4
}
