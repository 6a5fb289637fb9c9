//! `kb-builder search`

use super::print_json;
use super::refine::RefineArgs;
use super::retrieval::RetrievalArgs;
use crate::answer::LlmFlags;
use crate::base::{self, Base};
use crate::config::Config;
use crate::error::{Error, Result};
use crate::refine::{LanguageModel, Refined, Refinement};
use clap::ValueEnum;
use kb_core::chunk::ChunkKind;
use kb_core::refine::reading::Reading;
use kb_core::search::{
    Excerpt, Explanation, Facet, Filter, Hit, Mode, Plan, Query, Response, RetrievalOptions, Understanding, context,
};
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
  kb-builder search site '\"shortest path\" heap' --filter 'tag!=draft' --explain

Filters: path (the beginning of the document's path), lang, tag, type (of the passage: text, concept,
steps, parameters, warning, code, table), or a key of the document's front matter. Filters with one
key are alternatives, filters with different keys must all hold, and
KEY!=VALUE must not. Dates also have bounds, the value included: date>=2024-05, date<=2025. Words in quotation marks must stand in a passage as they are.";

/// Search a knowledge base on this machine
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The folder that `build` wrote
    site: PathBuf,
    /// The question, in any language of the documents
    query: String,
    /// Most hits to give, 1 to 100 [default: as the knowledge base says, or 10]
    #[arg(short, value_name = "N")]
    k: Option<usize>,
    /// Search by words, by meaning, or both
    #[arg(long, value_enum, default_value_t = SearchMode::Hybrid)]
    mode: SearchMode,
    /// Only this collection; may be repeated
    #[arg(long = "collection", value_name = "NAME")]
    collections: Vec<String>,
    /// Only documents with this; may be repeated
    #[arg(long = "filter", value_name = "KEY=VALUE", value_parser = parse_filter)]
    filters: Vec<Filter>,
    /// Take the last word as the beginning of one, as a page does while its reader types
    #[arg(long)]
    unfinished: bool,
    /// Say how each hit came to its place
    #[arg(long)]
    explain: bool,
    /// Print the passages found as one text with their sources, for a prompt, of at most N characters [default: 3000]
    #[arg(long, value_name = "N", num_args = 0..=1, default_missing_value = "3000", conflicts_with = "facets")]
    context: Option<usize>,
    /// Count the documents found by language, collection and tag
    #[arg(long)]
    facets: bool,
    /// Folder of the embedding model, or the name of an installed one [default: the site's own]
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    retrieval: RetrievalArgs,
    #[command(flatten)]
    refine: RefineArgs,
    /// Configuration with the sections [retrieval] and [llm] for these [default: kb.toml here, if there is one]
    #[arg(long, value_name = "FILE", help_heading = "After the search")]
    config: Option<PathBuf>,
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

/// `KEY=VALUE`, `KEY!=VALUE`, `KEY>=VALUE` or `KEY<=VALUE`
pub(super) fn parse_filter(text: &str) -> Result<Filter, String> {
    text.parse().map_err(|e: kb_core::Error| e.message().to_owned())
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
    /// Share of the question's words, by rarity, that stand nowhere in the base: 0 to 1.
    unknown: f32,
    hits: Vec<OutputHit<'a>>,
    /// The hits by document, each document at its best hit.
    documents: Vec<OutputDocument<'a>>,
    /// The passages as one text, where it was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    context: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    facets: Option<&'a [Facet]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    understanding: Option<&'a Understanding>,
    /// How the lists were combined.
    #[serde(skip_serializing_if = "Option::is_none")]
    settings: Option<RetrievalOptions>,
    /// What a language model read in the question.
    #[serde(skip_serializing_if = "Option::is_none")]
    reading: Option<&'a Reading>,
    /// What was looked up beside the question.
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    searched: &'a [String],
}

/// A document with its hits.
#[derive(Serialize)]
struct OutputDocument<'a> {
    collection: &'a str,
    path: &'a str,
    title: &'a str,
    /// Rank of its best hit.
    rank: usize,
    score: f32,
    /// Its other hits, under their headings.
    sub_results: Vec<SubResult<'a>>,
}

/// A further hit in a document.
#[derive(Serialize)]
struct SubResult<'a> {
    rank: usize,
    score: f32,
    heading_path: &'a [String],
    url: String,
    chunk_id: &'a str,
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
            unknown: response.unknown,
            hits: response.hits.iter().map(OutputHit::from).collect(),
            documents: by_document(&response.hits),
            context: None,
            facets: None,
            understanding: None,
            settings: None,
            reading: None,
            searched: &[],
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
    /// What sort of passage it is.
    kind: ChunkKind,
    excerpt: &'a str,
    /// Byte ranges of `excerpt` that hold words of the query.
    excerpt_marks_bytes: Vec<[usize; 2]>,
    chunk_id: &'a str,
    chunk: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    explanation: Option<&'a Explanation>,
    /// How it came to its place after the search, where something came after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    refinement: Option<&'a Refinement>,
}

/// Searches and prints.
pub fn run(args: &Args) -> Result<ExitCode> {
    let mut query = Query {
        text: args.query.clone(),
        mode: args.mode.into(),
        collections: args.collections.clone(),
        filters: args.filters.clone(),
        unfinished: args.unfinished,
        ..Query::default()
    };
    let mut base = Base::open(&args.site, query.mode != Mode::Lexical)?;
    check_collections(&base, &query.collections)?;
    base.set_vector_method(args.retrieval.vectors.into())?;
    let settings = args.retrieval.over(base.knowledge.options());
    base.knowledge.set_options(settings)?;
    query.k = args.k.or(settings.top_k).unwrap_or(query.k);
    let encoder = match query.mode {
        Mode::Lexical => None,
        Mode::Vector => Some(base::query_encoder(&args.site, &base.manifest, "--model", args.model.as_deref())?),
        Mode::Hybrid if base.vectors.is_none() => None,
        Mode::Hybrid => match base::query_encoder(&args.site, &base.manifest, "--model", args.model.as_deref()) {
            Ok(encoder) => Some(encoder),
            // Words alone still answer; a model that was named must be the right one.
            Err(e) if args.model.is_none() => {
                eprintln!("note: searching by words only, since {e}");
                None
            }
            Err(e) => return Err(e),
        },
    };
    let flags = LlmFlags { config: args.config.clone(), ..LlmFlags::default() };
    let config = match Config::load(args.config.as_deref()) {
        // One that only lies here may be about to be mended.
        Err(e) if args.config.is_none() => {
            eprintln!("note: {e}");
            Config::default()
        }
        read => read?,
    };
    let refiner =
        args.refine.open(&config.retrieval, |what| LanguageModel::new(super::ask::settings(&flags, &config)?, what))?;
    let started = Instant::now();
    let embedded = encoder.as_ref().map(|e| base::embed_question(e.as_ref(), &query.text)).transpose();
    let question = match embedded {
        Err(e) if query.mode == Mode::Hybrid => {
            eprintln!("note: searching by words only, since {e}");
            None
        }
        other => other?,
    };
    let refined = match &refiner {
        None => Refined::plain(base.explain(&query, question.as_deref())?),
        Some(refiner) => refiner.search(&base, &query, &|text| {
            if text == query.text {
                return question.clone();
            }
            encoder.as_ref().and_then(|e| base::embed_question(e.as_ref(), text).ok())
        })?,
    };
    let took = started.elapsed();
    for note in &refined.notes {
        eprintln!("note: {note}");
    }
    let found = &refined.found;
    let joined = args.context.map(|limit| context(&base.knowledge, &found.response.hits, limit));
    if args.json {
        let model = base.manifest.model.as_ref().map(|m| m.name.as_str());
        let mut output = SearchOutput::new(&query.text, &found.response, model, took);
        output.context = joined.as_deref();
        output.facets = args.facets.then_some(found.facets.as_slice());
        if args.explain {
            output.understanding = Some(&found.understanding);
            output.settings = Some(settings);
            for (hit, explanation) in output.hits.iter_mut().zip(&found.explanations) {
                hit.explanation = Some(explanation);
            }
            output.reading = refined.reading.as_ref();
            output.searched = &refined.searched;
        }
        for (hit, refinement) in output.hits.iter_mut().zip(&refined.refinements) {
            hit.refinement = Some(refinement);
        }
        print_json(&output)?;
    } else if let Some(text) = joined {
        println!("{text}");
    } else {
        print_list(&refined, args.explain);
        if args.facets {
            print_facets(&found.facets);
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The hits by document, in the order of their best hits.
fn by_document(hits: &[Hit]) -> Vec<OutputDocument<'_>> {
    let mut documents: Vec<OutputDocument> = Vec::new();
    for hit in hits {
        match documents.iter_mut().find(|d| (d.collection, d.path) == (hit.collection.as_str(), hit.path.as_str())) {
            Some(document) => document.sub_results.push(SubResult {
                rank: hit.rank,
                score: hit.score,
                heading_path: &hit.heading_path,
                url: base::address(hit),
                chunk_id: &hit.chunk_id,
            }),
            None => documents.push(OutputDocument {
                collection: &hit.collection,
                path: &hit.path,
                title: &hit.title,
                rank: hit.rank,
                score: hit.score,
                sub_results: Vec::new(),
            }),
        }
    }
    documents
}

/// A collection that is not there is more likely mistyped than meant to match nothing.
pub(crate) fn check_collections(base: &Base, wanted: &[String]) -> Result<()> {
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
            kind: hit.kind,
            excerpt: &hit.excerpt.text,
            excerpt_marks_bytes: hit.excerpt.marks_bytes.iter().map(|r| [r.start, r.end]).collect(),
            chunk_id: &hit.chunk_id,
            chunk: hit.chunk,
            explanation: None,
            refinement: None,
        }
    }
}

fn print_list(refined: &Refined, explain: bool) {
    let found = &refined.found;
    let hits = &found.response.hits;
    if hits.is_empty() {
        println!("nothing found");
    }
    let u = &found.understanding;
    for (word, terms) in u.corrected.iter().chain(&u.synonyms) {
        println!("no passage has `{word}`; searched for {}", terms.join(", "));
    }
    if explain {
        println!("language {}, words {}, phrases {:?}", u.lang, u.terms.join(" "), u.phrases);
        println!("{}", plan_sentence(&u.plan));
        let r = &found.response;
        println!("{} passages have a word, {} came from the vectors\n", r.lexical_candidates, r.vector_candidates);
        if let Some(reading) = &refined.reading {
            println!(
                "the language model reads: asks for {}; names {}",
                format!("{:?}", reading.intent).to_lowercase(),
                reading.entities.join(", ")
            );
        }
        for text in &refined.searched {
            println!("also looked up: {text}");
        }
    }
    let bold = if std::io::stdout().is_terminal() { ("\x1b[1m", "\x1b[0m") } else { ("", "") };
    for (i, (hit, explanation)) in hits.iter().zip(&found.explanations).enumerate() {
        let mut place = hit.heading_path.join(" > ");
        if hit.heading_path.first() != Some(&hit.title) {
            place = if place.is_empty() { hit.title.clone() } else { format!("{} > {place}", hit.title) };
        }
        println!("{}. {}{place}{}  ({:.3})", hit.rank, bold.0, bold.1, hit.score);
        println!("   {}/{}", hit.collection, hit.path);
        if explain {
            println!("   {}", sentence(explanation));
            if let Some(refinement) = refined.refinements.get(i) {
                println!("   {}", refinement_sentence(refinement));
            }
        }
        println!("   {}\n", marked(&hit.excerpt, bold));
    }
}

/// What the question asks for, on one line.
fn plan_sentence(plan: &Plan) -> String {
    let mut parts = vec![format!("asks for {}", format!("{:?}", plan.intent).to_lowercase())];
    let mut add = |name: &str, values: &[String]| {
        if !values.is_empty() {
            parts.push(format!("{name} {}", values.join(", ")));
        }
    };
    add("names", &plan.entities);
    add("compares", &plan.sub_questions);
    add("sorts of passages", &plan.kinds.iter().map(|k| k.name().to_owned()).collect::<Vec<_>>());
    add("read as", plan.rewritten.as_slice());
    parts.join("; ")
}

/// How a hit came to its place, on one line.
fn sentence(e: &Explanation) -> String {
    let place = |name: &str, rank: Option<usize>, score: Option<f32>| match (rank, score) {
        (Some(rank), Some(score)) => format!("{name} rank {rank} ({score:.4})"),
        (None, Some(score)) => format!("{name} below the candidates ({score:.4})"),
        _ => format!("{name} no"),
    };
    let parts: Vec<String> = e
        .parts
        .iter()
        .map(|p| format!("{:.3} × {:.4} {}", p.weight, p.value, format!("{:?}", p.name).to_lowercase()))
        .collect();
    let folded = if e.folded.is_empty() { String::new() } else { format!("; {} copies left out", e.folded.len()) };
    format!(
        "{}, {}; {} = {:.4}{folded}",
        place("words", e.lexical_rank, e.lexical_score),
        place("vectors", e.vector_rank, e.vector_score),
        parts.join(" + "),
        e.score
    )
}

/// What came after the search, on one line.
fn refinement_sentence(refinement: &Refinement) -> String {
    let mut parts = Vec::new();
    if let Some(score) = refinement.merged_score {
        let rank = |rank: &Option<usize>| rank.map_or_else(|| "–".to_owned(), |rank| rank.to_string());
        let ranks: Vec<String> = refinement.ranks.iter().map(rank).collect();
        parts.push(format!("ranks {} in the lists, together {score:.4}", ranks.join(", ")));
    }
    parts.push(match refinement.reranker_score {
        Some(score) => format!("reranker {score:.4}, was {}", refinement.rank_before),
        None => format!("was {}", refinement.rank_before),
    });
    parts.join("; ")
}

fn print_facets(facets: &[Facet]) {
    for facet in facets {
        let values: Vec<String> = facet.values.iter().map(|(value, n)| format!("{value} {n}")).collect();
        println!("{}: {}", facet.key, values.join(", "));
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
        assert!(parse_filter("=x").is_err() && parse_filter("!=x").is_err());
        assert_eq!(parse_filter("tag!=a"), Ok(Filter { key: "tag!".into(), value: "a".into() }));
    }

    #[test]
    fn marks_are_put_around_the_terms() {
        let excerpt = Excerpt { text: "the shortest\npath".into(), marks_bytes: vec![4..12, 13..17] };
        assert_eq!(marked(&excerpt, ("<", ">")), "the <shortest> <path>");
    }
}
