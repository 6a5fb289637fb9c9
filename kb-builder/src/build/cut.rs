//! From documents to passages that the model reads to their ends.

use crate::cache::Counts;
use crate::config::{ChunkingConfig, LengthUnit};
use crate::embedding::{EmbeddingModel, ModelChoice};
use crate::error::{Error, Result};
use crate::model::ModelFolder;
use crate::report::Reporter;
use kb_core::chunk::{self, Chunk};
use kb_core::document::Document;
use kb_core::embed::{TextKind, TokenCounter};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

/// Fewest tokens that a passage can be limited to: a short one is not cut, whatever titles stand over it.
const LEAST_TOKENS: usize = 100;

/// Which share of a size in tokens is cut by characters. The rest is for titles, and for parts of a document that have more
/// tokens than most of it: what is longer nevertheless is cut in two.
const ROOM: f64 = 0.9;

/// So much of a document tells how many characters its tokens have.
const SAMPLE_BYTES: usize = 1 << 16;

/// Cuts all documents into passages, in the order of the documents. `own` has the strategies of collections that are cut
/// otherwise than `general` says; what the model's tokens are counted from is kept in `cache`.
pub fn cut(
    documents: &[Document],
    own: &BTreeMap<String, ChunkingConfig>,
    general: &ChunkingConfig,
    model: Option<&EmbeddingModel>,
    cache: Option<&Path>,
    reporter: &Reporter,
) -> Result<Vec<Chunk>> {
    // A service counts for itself.
    let tokens = model.and_then(EmbeddingModel::folder).map(|folder| Tokens::new(folder, cache));
    reporter.stage("cutting", documents.len() as u64, "documents");
    let passages = documents.par_iter().enumerate().map(|(i, document)| {
        let number = u32::try_from(i)
            .map_err(|_| Error::failed("over four thousand million documents", "build several knowledge bases"))?;
        let chunking = own.get(&document.collection).unwrap_or(general);
        let strategy = chunking.strategy();
        let passages = match &tokens {
            Some(tokens) if is_in_tokens(chunking) => {
                let cut = strategy.scaled(tokens.characters_each(document) * ROOM).chunk(document, number)?;
                let size = strategy.size();
                chunk::fit(document, cut, size, &|text| tokens.up_to(size, text))
            }
            // A passage that the model reads only in part would not be found by its end.
            Some(tokens) => {
                let limit = tokens.folder.info.max_tokens;
                chunk::fit(document, strategy.chunk(document, number)?, limit, &|text| tokens.up_to(limit, text))
            }
            None => strategy.chunk(document, number)?,
        };
        reporter.advance(1);
        Ok(passages)
    });
    let passages = passages.collect::<Result<Vec<Vec<Chunk>>>>()?;
    tokens.map_or(Ok(()), Tokens::finish)?;
    reporter.end_stage();
    Ok(passages.concat())
}

fn is_in_tokens(chunking: &ChunkingConfig) -> bool {
    chunking.unit == Some(LengthUnit::Tokens)
}

const IN_CHARACTERS: &str = "leave out `unit = \"tokens\"` in [chunking] to count characters";

/// That sizes in tokens can be counted: not without a model, and not by a service.
pub fn check_model(chunking: &ChunkingConfig, model: Option<&ModelChoice>) -> Result<()> {
    let problem = match model {
        _ if !is_in_tokens(chunking) => return Ok(()),
        Some(ModelChoice::Folder(_)) => return Ok(()),
        Some(ModelChoice::Service(_)) => "an embedding service does not say how it counts tokens",
        None => "sizes in tokens need an embedding model that counts them",
    };
    Err(Error::usage(problem, IN_CHARACTERS))
}

/// That sizes in tokens are what the model reads.
pub fn check_size(chunking: &ChunkingConfig, model: Option<&EmbeddingModel>) -> Result<()> {
    let (size, most) = (chunking.strategy().size(), model.map_or(0, |m| m.info().max_tokens));
    if !is_in_tokens(chunking) || (LEAST_TOKENS..=most).contains(&size) {
        return Ok(());
    }
    let what = if size > most { "more than the model reads" } else { "too few for a passage with its titles" };
    Err(Error::usage(
        format!("`size = {size}` in [chunking] is {what}: with `unit = \"tokens\"` it is {LEAST_TOKENS} to {most}"),
        IN_CHARACTERS,
    ))
}

/// Counts a model's tokens. The tokenizer is read with the first text whose count is not known.
struct Tokens<'m> {
    folder: &'m ModelFolder,
    counts: Counts,
    counter: OnceLock<kb_core::Result<TokenCounter>>,
}

impl<'m> Tokens<'m> {
    fn new(folder: &'m ModelFolder, cache: Option<&Path>) -> Self {
        Self { folder, counts: Counts::open(cache, &folder.info), counter: OnceLock::new() }
    }

    /// How many characters a token of this document has.
    fn characters_each(&self, document: &Document) -> f64 {
        let sample = &document.text[..document.text.floor_char_boundary(SAMPLE_BYTES)];
        sample.chars().count() as f64 / self.of(sample).max(1) as f64
    }

    /// The tokens of a passage, or 0 where it surely has no more than the limit.
    fn up_to(&self, limit: usize, text: &str) -> usize {
        if TokenCounter::surely_fits(&self.folder.info, text, limit) { 0 } else { self.of(text) }
    }

    /// The tokens of a passage. Without a tokenizer there are none, and [`Self::finish`] says why.
    fn of(&self, text: &str) -> usize {
        self.counts.of(text, || {
            let counter = self.counter.get_or_init(|| TokenCounter::new(&self.folder.tokenizer, &self.folder.info));
            counter.as_ref().map_or(0, |counter| counter.count(TextKind::Passage, text))
        })
    }

    /// Keeps the counts for the next build.
    fn finish(self) -> Result<()> {
        if let Some(Err(e)) = self.counter.into_inner() {
            return Err(e.into());
        }
        self.counts.keep();
        Ok(())
    }
}
