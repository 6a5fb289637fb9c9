//! `kb-builder eval`

use super::print_json;
use super::search::SearchMode;
use crate::error::{Error, Result};
use crate::eval::{self, Outcome, TestSet, metrics::Scores};
use crate::model::{self, ModelFolder};
use crate::report::{Reporter, Style};
use kb_core::search::Mode;
use serde::Serialize;
use std::fmt::Write;
use std::path::PathBuf;
use std::process::ExitCode;

const HELP: &str = "\
A test set is a folder with
  corpus.jsonl    {\"id\", \"title\", \"text\"} a line: the passages
  queries.jsonl   {\"id\", \"text\"} a line: the questions
  qrels.tsv       question, passage, gain, with tabs, after a header line

Examples:
  kb-builder eval sets/xquad-zh
  kb-builder eval sets/xquad-zh --mode vector --run-out xquad-zh.run";

/// Measure retrieval on a test set
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Folder of the test set
    set: PathBuf,
    /// Search by words, by meaning, or both
    #[arg(long, value_enum, default_value_t = SearchMode::Hybrid)]
    mode: SearchMode,
    /// Write the rankings: question, passage, score, with tabs, best first
    #[arg(long, value_name = "FILE")]
    run_out: Option<PathBuf>,
    /// Folder of the embedding model, or the name of an installed one
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Folder of the embedding cache [default: kb-builder in the user's cache folder]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    cache_dir: Option<PathBuf>,
    /// Embed everything afresh and keep nothing
    #[arg(long)]
    no_cache: bool,
    /// No progress
    #[arg(short, long)]
    quiet: bool,
}

/// What is printed.
#[derive(Serialize)]
struct Output<'a> {
    set: &'a str,
    mode: Mode,
    model: Option<&'a str>,
    passages: usize,
    #[serde(flatten)]
    scores: Scores,
}

/// Measures and prints.
pub fn run(args: &Args) -> Result<ExitCode> {
    let reporter = Reporter::new(Style::choose(false, args.quiet));
    let set = TestSet::read(&args.set)?;
    let mode = Mode::from(args.mode);
    let model = match mode {
        Mode::Lexical => None,
        _ => Some(ModelFolder::read(&model::locate(args.model.as_deref(), None)?)?),
    };
    let cache = args.cache_dir.clone().unwrap_or_else(|| model::cache_dir().join("embeddings"));
    let outcome = eval::run(&set, mode, model.as_ref(), (!args.no_cache).then_some(cache.as_path()), &reporter)?;
    if let Some(path) = &args.run_out {
        std::fs::write(path, run_file(&set, &outcome)).map_err(|e| Error::io("write", path, e))?;
    }
    let name = model.as_ref().map(|m| m.info.name.as_str());
    print_json(&Output { set: &set.name, mode, model: name, passages: set.corpus.len(), scores: outcome.scores })?;
    Ok(ExitCode::SUCCESS)
}

/// One line a hit: question, passage, score, with tabs, best first.
fn run_file(set: &TestSet, outcome: &Outcome) -> String {
    let mut out = String::new();
    for (question, ranking) in set.queries.iter().zip(&outcome.rankings) {
        for (passage, score) in ranking {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "{}\t{passage}\t{score}", question.id);
        }
    }
    out
}
