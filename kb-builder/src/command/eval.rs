//! `kb-builder eval`

use super::search::SearchMode;
use super::{ask, print_json};
use crate::answer::settings::parse_provider;
use crate::answer::{Answerer, LlmFlags};
use crate::error::{Error, Result};
use crate::eval::answers::read_questions;
use crate::eval::{self, Outcome, TestSet, metrics::Scores};
use crate::http::Client;
use crate::model::{self, ModelFolder};
use crate::report::{Reporter, Style};
use kb_core::answer::request::Provider;
use kb_core::document::Lang;
use kb_core::search::Mode;
use serde::Serialize;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
A test set is a folder with
  corpus.jsonl    {\"id\", \"title\", \"text\"} a line: the passages
  queries.jsonl   {\"id\", \"text\"} a line: the questions
  qrels.tsv       question, passage, gain, with tabs, after a header line

With --answers, the first argument is a site and the second a file of questions, one JSON object a line:
{\"question\": \"…\", \"expected\": \"path#heading\"}, or \"unanswerable\" as expected.

Examples:
  kb-builder eval --answers site questions.jsonl
  kb-builder eval --answers site questions.jsonl --provider ollama --model qwen3:4b
  kb-builder eval sets/xquad-zh
  kb-builder eval sets/xquad-zh --mode vector --run-out xquad-zh.run";

/// Measure retrieval on a test set
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Folder of the test set; with --answers, the folder of a site
    set: PathBuf,
    /// With --answers: the file of questions
    #[arg(requires = "answers")]
    questions: Option<PathBuf>,
    /// Measure answers instead of rankings
    #[arg(long, requires = "questions", conflicts_with = "run_out")]
    answers: bool,
    /// Search by words, by meaning, or both
    #[arg(long, value_enum, default_value_t = SearchMode::Hybrid)]
    mode: SearchMode,
    /// Write the rankings: question, passage, score, with tabs, best first
    #[arg(long, value_name = "FILE")]
    run_out: Option<PathBuf>,
    /// Folder of the embedding model, or the name of an installed one; with --answers, name of the language model
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// With --answers: ollama, deepseek or openai-compatible [default: none, the passages answer]
    #[arg(long, value_name = "NAME", value_parser = parse_provider, requires = "answers")]
    provider: Option<Provider>,
    /// With --answers: address of the language model
    #[arg(long, value_name = "URL", requires = "answers")]
    base_url: Option<String>,
    /// With --answers: variable that holds its key
    #[arg(long, value_name = "NAME", requires = "answers")]
    api_key_env: Option<String>,
    /// With --answers: configuration with the section [llm]
    #[arg(long, value_name = "FILE", requires = "answers")]
    config: Option<PathBuf>,
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
    if args.answers {
        return answers(args);
    }
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

/// Asks the questions of a file and prints what the answers are worth.
fn answers(args: &Args) -> Result<ExitCode> {
    let reporter = Reporter::new(Style::choose(false, args.quiet));
    let flags = LlmFlags {
        provider: args.provider,
        base_url: args.base_url.clone(),
        llm: args.model.as_ref().map(|m| m.to_string_lossy().into_owned()),
        api_key_env: args.api_key_env.clone(),
        config: args.config.clone(),
        no_llm: false,
    };
    let mut settings = ask::settings(&flags)?;
    let questions = read_questions(args.questions.as_deref().unwrap_or(Path::new("")))?;
    let answerer = Answerer::open(&args.set, None)?;
    if let Some(note) = &answerer.note {
        eprintln!("note: {note}");
    }
    let scores = ask::runtime()?.block_on(async {
        ask::choose_model(&Client::new(), &mut settings, Lang::En).await?;
        eval::answers::run(&answerer, &settings, &questions, &reporter).await
    })?;
    print_json(&scores)?;
    Ok(if scores.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
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
