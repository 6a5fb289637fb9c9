//! `kb-builder build`

use super::build_args::BuildArgs;
use crate::build;
use crate::error::Result;
use crate::report::{Reporter, Style};
use std::process::ExitCode;

const HELP: &str = "\
Examples:
  kb-builder build notes                             the folder notes, into the folder site
  kb-builder build zh/ en/ --title \"Course\" -o site   two collections, named zh and en
  kb-builder build docs --include '*.md' --exclude drafts
  kb-builder build book/src --url-base 'https://doc.rust-lang.org/book/{stem}.html'
  kb-builder build                                   what kb.toml in this folder says

Without --url-base a hit opens in the page's own reader.

kb.toml has the keys preset, title, language, [[source]] (name, path, include, exclude, url_base,
code, chunking; or urls, github, website, portfolio, ready: `kb-builder sources list`), [model] (path), [embedding] (provider, model, base_url,
api_key, api_key_env, max_chars, query_prefix, passage_prefix), [site] (out, originals, url), [chunking] (strategy, unit, size, overlap, min), [retrieval]
(fusion, lexical_weight, rerank, rrf_k, three_way, expand, synonyms, route, candidates, top_k, per_document, min_score, max_distance, exact), [watcher] (interval, settle)
and [llm]. A flag is stronger than the environment variable KB_MODEL
or KB_CACHE, and that is stronger than the file. PATHs replace the file's sources.

An existing site is replaced in one step at the end; any other folder is refused.
Exit status 3: the site was built, but some files could not be read; they are listed.";

/// Build a knowledge base from folders or files
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    what: BuildArgs,
    /// Report as JSON, one event a line, on standard output
    #[arg(long)]
    json: bool,
    /// Report only problems
    #[arg(short, long)]
    quiet: bool,
}

/// Builds.
pub fn run(args: &Args) -> Result<ExitCode> {
    let reporter = Reporter::new(Style::choose(args.json, args.quiet));
    let options = args.what.plan(None)?.options;
    let summary = build::build(&options, &reporter)?;
    reporter.finished(&summary.text(), &summary);
    Ok(if summary.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(3) })
}
