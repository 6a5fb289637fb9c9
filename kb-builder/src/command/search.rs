//! `kb-builder search`

use super::print_json;
use crate::base::{self, Base};
use crate::error::{Error, Result};
use clap::ValueEnum;
use kb_core::search::{Excerpt, Filter, Hit, Mode, Query, Response};
use serde::Serialize;
use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

const HELP: &str = "\
Examples:
  kb-builder search site \"how do I undo a commit\"
  kb-builder search site 最短路 -k 3 --mode lexical
  kb-builder search site moves --collection rust-book --filter lang=en --json

Filters: path (the beginning of the document's path), lang, tag, or a key of the document's front
matter. Filters with one key are alternatives, filters with different keys must all hold.";

/// Search a knowledge base on this machine
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The folder that `build` wrote
    site: PathBuf,
    /// The question, in any language of the documents
    query: String,
    /// Most hits to give, 1 to 100
    #[arg(short, default_value_t = 10, value_name = "N")]
    k: usize,
    /// Search by words, by meaning, or both
    #[arg(long, value_enum, default_value_t = SearchMode::Hybrid)]
    mode: SearchMode,
    /// Only this collection; may be repeated
    #[arg(long = "collection", value_name = "NAME")]
    collections: Vec<String>,
    /// Only documents with this; may be repeated
    #[arg(long = "filter", value_name = "KEY=VALUE", value_parser = parse_filter)]
    filters: Vec<Filter>,
    /// Folder of the embedding model, or the name of an installed one [default: the site's own]
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

/// The modes as they are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum SearchMode {
    /// Words and meaning together
    Hybrid,
    /// Words (BM25)
    Lexical,
    /// Meaning (vectors)
    Vector,
}

impl From<SearchMode> for Mode {
    fn from(mode: SearchMode) -> Self {
        match mode {
            SearchMode::Hybrid => Self::Hybrid,
            SearchMode::Lexical => Self::Lexical,
            SearchMode::Vector => Self::Vector,
        }
    }
}

/// `KEY=VALUE`
pub(super) fn parse_filter(text: &str) -> Result<Filter, String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok(Filter { key: key.into(), value: value.into() }),
        _ => Err("a filter is KEY=VALUE".into()),
    }
}

/// The object that `--json` prints, and that `api/search` of `serve --api` returns.
#[derive(Serialize)]
pub struct SearchOutput<'a> {
    query: &'a str,
    /// What answered: `lexical` where a hybrid search had no model or no vectors.
    mode: Mode,
    model: Option<&'a str>,
    /// Embedding the question and searching, without loading.
    took_ms: f64,
    /// Share of the question's words, by rarity, that the best passage has: 0 to 1.
    coverage: f32,
    hits: Vec<OutputHit<'a>>,
}

impl<'a> SearchOutput<'a> {
    /// What `response` says; `model` is named where it was used.
    pub fn new(query: &'a str, response: &'a Response, model: Option<&'a str>, took: Duration) -> Self {
        Self {
            query,
            mode: response.mode,
            model: model.filter(|_| response.mode != Mode::Lexical),
            took_ms: (took.as_secs_f64() * 1e5).round() / 100.0,
            coverage: response.coverage,
            hits: response.hits.iter().map(OutputHit::from).collect(),
        }
    }
}

/// A hit with its excerpt as a string.
#[derive(Serialize)]
struct OutputHit<'a> {
    rank: usize,
    score: f32,
    lexical_score: Option<f32>,
    vector_score: Option<f32>,
    collection: &'a str,
    path: &'a str,
    title: &'a str,
    heading_path: &'a [String],
    anchor: &'a str,
    url: String,
    lang: &'a str,
    excerpt: &'a str,
    /// Byte ranges of `excerpt` that hold words of the query.
    excerpt_marks_bytes: Vec<[usize; 2]>,
    chunk_id: &'a str,
    chunk: u32,
}

/// Searches and prints.
pub fn run(args: &Args) -> Result<ExitCode> {
    let query = Query {
        text: args.query.clone(),
        k: args.k,
        mode: args.mode.into(),
        collections: args.collections.clone(),
        filters: args.filters.clone(),
    };
    let base = Base::open(&args.site, query.mode != Mode::Lexical)?;
    check_collections(&base, &query.collections)?;
    let encoder = match query.mode {
        Mode::Lexical => None,
        Mode::Vector => Some(base::query_encoder(&args.site, &base.manifest, args.model.as_deref())?),
        Mode::Hybrid if base.vectors.is_none() => None,
        Mode::Hybrid => match base::query_encoder(&args.site, &base.manifest, args.model.as_deref()) {
            Ok(encoder) => Some(encoder),
            // Words alone still answer; a model that was named must be the right one.
            Err(e) if args.model.is_none() => {
                eprintln!("note: searching by words only, since {e}");
                None
            }
            Err(e) => return Err(e),
        },
    };
    let started = Instant::now();
    let question = encoder.as_ref().map(|e| base::embed_question(e, &query.text)).transpose()?;
    let response = base.search(&query, question.as_deref())?;
    let took = started.elapsed();
    if args.json {
        let model = base.manifest.model.as_ref().map(|m| m.name.as_str());
        print_json(&SearchOutput::new(&query.text, &response, model, took))?;
    } else {
        print_list(&response.hits);
    }
    Ok(ExitCode::SUCCESS)
}

/// A collection that is not there is more likely mistyped than meant to match nothing.
pub(super) fn check_collections(base: &Base, wanted: &[String]) -> Result<()> {
    let names = base.knowledge.collections();
    match wanted.iter().find(|w| !names.contains(&w.as_str())) {
        Some(unknown) => Err(Error::usage(
            format!("there is no collection `{unknown}`"),
            format!("this knowledge base has {}", names.join(", ")),
        )),
        None => Ok(()),
    }
}

impl<'a> From<&'a Hit> for OutputHit<'a> {
    fn from(hit: &'a Hit) -> Self {
        Self {
            rank: hit.rank,
            score: hit.score,
            lexical_score: hit.lexical_score,
            vector_score: hit.vector_score,
            collection: &hit.collection,
            path: &hit.path,
            title: &hit.title,
            heading_path: &hit.heading_path,
            anchor: &hit.anchor,
            url: base::address(hit),
            lang: &hit.lang,
            excerpt: &hit.excerpt.text,
            excerpt_marks_bytes: hit.excerpt.marks_bytes.iter().map(|r| [r.start, r.end]).collect(),
            chunk_id: &hit.chunk_id,
            chunk: hit.chunk,
        }
    }
}

fn print_list(hits: &[Hit]) {
    if hits.is_empty() {
        println!("nothing found");
    }
    let bold = if std::io::stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    for hit in hits {
        let mut place = hit.heading_path.join(" > ");
        if hit.heading_path.first() != Some(&hit.title) {
            place = if place.is_empty() { hit.title.clone() } else { format!("{} > {place}", hit.title) };
        }
        println!("{}. {}{place}{}  ({:.3})", hit.rank, bold.0, bold.1, hit.score);
        println!("   {}/{}", hit.collection, hit.path);
        println!("   {}\n", marked(&hit.excerpt, bold));
    }
}

/// The excerpt on one line, its marks in bold.
fn marked(excerpt: &Excerpt, bold: (&str, &str)) -> String {
    let mut out = String::new();
    let mut at = 0;
    for mark in &excerpt.marks_bytes {
        let (Some(before), Some(inside)) = (excerpt.text.get(at..mark.start), excerpt.text.get(mark.clone())) else {
            continue;
        };
        out.push_str(before);
        out.push_str(bold.0);
        out.push_str(inside);
        out.push_str(bold.1);
        at = mark.end;
    }
    out.push_str(excerpt.text.get(at..).unwrap_or_default());
    out.replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_key_and_value() {
        assert_eq!(parse_filter("tag=a=b"), Ok(Filter { key: "tag".into(), value: "a=b".into() }));
        assert!(parse_filter("tag").is_err());
        assert!(parse_filter("=x").is_err());
    }

    #[test]
    fn marks_are_put_around_the_terms() {
        let excerpt = Excerpt { text: "the shortest\npath".into(), marks_bytes: vec![4..12, 13..17] };
        assert_eq!(marked(&excerpt, ("<", ">")), "the <shortest> <path>");
    }
}
