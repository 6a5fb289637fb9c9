//! The flags of `search`, `ask` and `eval` for what comes after the search.

use crate::config::RetrievalConfig;
use crate::error::Result;
use crate::refine::{Choice, LanguageModel, Reader, Refiner};
use std::path::PathBuf;

/// What comes after the search; what is not given stays as `[retrieval]` of kb.toml has it.
#[derive(Debug, Clone, Default, clap::Args)]
#[command(next_help_heading = "After the search")]
pub struct RefineArgs {
    /// What puts the first hits in another order: the folder of a cross-encoder, `llm` for the language model of [llm],
    /// or `none`
    #[arg(long, value_name = "DIR|llm")]
    pub reranker: Option<PathBuf>,
    /// How many of the first hits it sees, 2 to 100 [default: 25]
    #[arg(long, value_name = "N")]
    pub rerank_candidates: Option<usize>,
    /// Who reads the question before it is looked up [default: rules]
    #[arg(long, value_enum, value_name = "WHO")]
    pub understand: Option<Reader>,
    /// Look the two things of a comparison up as well
    #[arg(long)]
    pub split_comparisons: bool,
}

impl RefineArgs {
    /// Loads what these flags and the file ask for. `llm` gives the language model for what is named to it.
    pub fn open(
        &self,
        config: &RetrievalConfig,
        llm: impl FnOnce(&str) -> Result<LanguageModel>,
    ) -> Result<Option<Refiner>> {
        let flags = Choice {
            reranker: self.reranker.clone(),
            candidates: self.rerank_candidates,
            understand: self.understand,
            split_comparisons: self.split_comparisons.then_some(true),
        };
        let choice = flags.over(&config.after_search());
        let what = if choice.understand == Some(Reader::Llm) { "--understand llm" } else { "--reranker llm" };
        choice.open(|| llm(what))
    }
}
