//! From documents to passages that the model reads to their ends.

use crate::cache::Counts;
use crate::embedding::EmbeddingModel;
use crate::error::{Error, Result};
use crate::model::ModelFolder;
use crate::report::Reporter;
use kb_core::chunk::{self, Chunk, ChunkStrategy};
use kb_core::document::Document;
use kb_core::embed::{TextKind, TokenCounter};
use rayon::prelude::*;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::OnceLock;

/// Cuts all documents into passages, in the order of the documents. `own` has the strategies of collections that are cut
/// otherwise than `general` says; what the model's tokens are counted from is kept in `cache`.
pub fn cut(
    documents: &[Document],
    own: &BTreeMap<String, ChunkStrategy>,
    general: &ChunkStrategy,
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
        let passages = own.get(&document.collection).unwrap_or(general).chunk(document, number)?;
        reporter.advance(1);
        Ok(match &tokens {
            // A passage that the model reads only in part would not be found by its end.
            Some(tokens) => chunk::fit(document, passages, tokens.limit(), &|text| tokens.up_to_limit(text)),
            None => passages,
        })
    });
    let passages = passages.collect::<Result<Vec<Vec<Chunk>>>>()?;
    tokens.map_or(Ok(()), Tokens::finish)?;
    reporter.end_stage();
    Ok(passages.concat())
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

    /// How many the model reads.
    fn limit(&self) -> usize {
        self.folder.info.max_tokens
    }

    /// The tokens of a passage, or 0 where it surely has no more than the limit.
    fn up_to_limit(&self, text: &str) -> usize {
        if TokenCounter::surely_fits(&self.folder.info, text, self.limit()) { 0 } else { self.of(text) }
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
