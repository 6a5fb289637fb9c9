//! `kb-builder eval`

use super::refine::RefineArgs;
use super::retrieval::RetrievalArgs;
use super::search::SearchMode;
use super::{ask, print_json};
use crate::answer::settings::parse_provider;
use crate::answer::{Answerer, LlmFlags};
use crate::base;
use crate::config::Config;
use crate::embedding::{EmbeddingModel, query_service};
use crate::error::{Error, Result};
use crate::eval::asked;
use crate::eval::compare::{Comparison, read_run};
use crate::eval::interval::mean_interval;
use crate::eval::metrics::{self, Scores};
use crate::eval::{self, Outcome, Ranking, Settings, TestSet, questions};
use crate::http::Client;
use crate::model::{self, ModelFolder};
use crate::refine::{LanguageModel, Refiner};
use crate::report::{Reporter, Style};
use crate::site::MODEL_DIR;
use kb_core::answer::request::Provider;
use kb_core::document::Lang;
use kb_core::search::{KnowledgeBase, Mode, RetrievalOptions};
use serde::Serialize;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
A test set is a folder with
  corpus.jsonl    {\"id\", \"title\", \"text\"} a line: the passages
  queries.jsonl   {\"id\", \"text\"} a line: the questions
  qrels.tsv       question, passage, gain, with tabs, after a header line
or a file of questions for a built site, a line each: `question → file#heading`.

With --answers, the first argument is a site and the second a file of questions, one JSON object a line:
{\"question\": \"…\", \"expected\": \"path#heading\"}, or \"unanswerable\" as expected, or \"unwanted\": [\"path#heading\"].
The feedback that readers download from the page is such a file, and --site reads it as well.

Examples:
  kb-builder eval --answers site questions.jsonl
  kb-builder eval --answers site questions.jsonl --provider ollama --model qwen3:4b
  kb-builder eval --answers site feedback.jsonl --provider ollama --model qwen3:4b --judge
  kb-builder eval feedback.jsonl --site site
  kb-builder eval sets/xquad-zh
  kb-builder eval sets/xquad-zh --mode vector --run-out xquad-zh.run
  kb-builder eval questions.txt --site site
  kb-builder eval sets/xquad-zh --compare before.run after.run

--compare asks nothing: it reads two rankings of the set's questions, each a file that --run-out wrote, or
a built site that a file of questions is asked of. Exit status 1 if the second is worse beyond chance.";

/// Measure retrieval on a test set or with a file of questions
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Folder of the test set, or a file of questions; with --answers, the folder of a site
    set: PathBuf,
    /// With --answers: the file of questions
    #[arg(requires = "answers")]
    questions: Option<PathBuf>,
    /// Measure answers instead of rankings
    #[arg(long, requires = "questions", conflicts_with_all = ["run_out", "features_out", "site", "compare"])]
    answers: bool,
    /// The site that a file of questions is about
    #[arg(long, value_name = "SITE")]
    site: Option<PathBuf>,
    /// Search by words, by meaning, or both
    #[arg(long, value_enum, default_value_t = SearchMode::Hybrid)]
    mode: SearchMode,
    /// Write the rankings: question, passage, score, with tabs, best first
    #[arg(long, value_name = "FILE")]
    run_out: Option<PathBuf>,
    /// Write what each score is made of: question, passage, gain, then value and weight of each part
    #[arg(long, value_name = "FILE")]
    features_out: Option<PathBuf>,
    /// Compare two rankings question by question
    #[arg(long, num_args = 2, value_names = ["A", "B"], conflicts_with_all = ["run_out", "features_out", "site"])]
    compare: Vec<PathBuf>,
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
    /// Configuration with the section [retrieval], for what comes after the search; and with [llm] [default: kb.toml here,
    /// if there is one, for this]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// With --answers: let a language model judge each answer; without a name, the one that answers
    #[arg(long, value_name = "MODEL", num_args = 0..=1, default_missing_value = "", require_equals = true, requires = "answers")]
    judge: Option<String>,
    /// Folder of the embedding cache [default: kb-builder in the user's cache folder]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    cache_dir: Option<PathBuf>,
    /// Embed everything afresh and keep nothing
    #[arg(long)]
    no_cache: bool,
    /// No progress
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    retrieval: RetrievalArgs,
    #[command(flatten)]
    refine: RefineArgs,
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
    /// 95 % interval of ndcg10 over the questions.
    ndcg10_interval: Option<[f64; 2]>,
    /// What became of the places that readers marked as of no use.
    #[serde(skip_serializing_if = "Option::is_none")]
    unwanted: Option<Unwanted>,
    /// The same for the questions of each language.
    languages: BTreeMap<String, Language>,
    query_ms_p95: f64,
}

/// Places that readers marked as of no use.
#[derive(Serialize)]
struct Unwanted {
    /// How many are still among the first ten hits of their question.
    in_first_ten: usize,
    /// How many there are.
    of: usize,
}

/// The questions of one language.
#[derive(Serialize)]
struct Language {
    #[serde(flatten)]
    scores: Scores,
    ndcg10_interval: Option<[f64; 2]>,
}

/// Measures and prints.
pub fn run(args: &Args) -> Result<ExitCode> {
    check_order(args)?;
    if args.answers {
        return answers(args);
    }
    let reporter = Reporter::new(Style::choose(false, args.quiet));
    let is_file = args.set.is_file();
    let set = if is_file { questions::read(&args.set)? } else { TestSet::read(&args.set)? };
    if let [a, b] = args.compare.as_slice() {
        return compare(args, &set, a, b, &reporter);
    }
    let outcome = match (&args.site, is_file) {
        (Some(site), true) => ask_site(args, &set, site, &reporter)?,
        (None, false) => {
            let (model, cache) = model_of(args, None)?;
            let refiner = refiner(args)?;
            let mut settings = settings(args, RetrievalOptions::default(), model.as_ref(), cache.as_deref());
            settings.refiner = refiner.as_ref();
            eval::run(&set, &settings, &reporter)?
        }
        (None, true) => return Err(Error::usage("a file of questions needs a site", "name it with --site")),
        (Some(_), false) => {
            return Err(Error::usage(
                "a test set has passages of its own",
                "leave --site out, or name a file of questions",
            ));
        }
    };
    if let Some(path) = &args.run_out {
        std::fs::write(path, run_file(&set, &outcome)).map_err(|e| Error::io("write", path, e))?;
    }
    if let Some(path) = &args.features_out {
        std::fs::write(path, &outcome.features).map_err(|e| Error::io("write", path, e))?;
    }
    // A base without vectors is searched by words, whatever was asked for.
    let by_words = match &args.site {
        Some(site) if Mode::from(args.mode) == Mode::Hybrid => base::manifest(site)?.model.is_none(),
        _ => false,
    };
    let mode = if by_words { Mode::Lexical } else { Mode::from(args.mode) };
    let name = match mode {
        Mode::Lexical => None,
        _ => model_of(args, args.site.as_deref())?.0.map(|m| m.info().name.clone()),
    };
    let each = metrics::score_each(&set, &outcome.rankings);
    let judged: Vec<[f64; 4]> = each.iter().flatten().copied().collect();
    let (still, unwanted) = metrics::unwanted(&set, &outcome.rankings);
    print_json(&Output {
        set: &set.name,
        mode,
        model: name.as_deref(),
        passages: set.corpus.len(),
        scores: outcome.scores,
        ndcg10_interval: interval(&judged),
        unwanted: (unwanted > 0).then_some(Unwanted { in_first_ten: still, of: unwanted }),
        languages: by_language(&set, &each),
        query_ms_p95: outcome.query_ms_p95,
    })?;
    Ok(ExitCode::SUCCESS)
}

/// That a site and a file of questions do not stand in each other's place.
fn check_order(args: &Args) -> Result<()> {
    let first = args.set.display();
    match (&args.questions, &args.site) {
        (Some(second), _) if args.set.is_file() && second.is_dir() => Err(Error::usage(
            format!("--answers takes the site first and then the questions, but {first} is a file"),
            format!("kb-builder eval --answers {} {first}", second.display()),
        )),
        (_, Some(site)) if args.set.is_dir() && site.is_file() => Err(Error::usage(
            format!("--site names the site, but {} is a file, and {first} a folder", site.display()),
            format!("kb-builder eval {} --site {first}", site.display()),
        )),
        _ => Ok(()),
    }
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
    let config = Config::load(args.config.as_deref())?;
    let mut settings = ask::settings(&flags, &config)?;
    let questions = asked::read(args.questions.as_deref().unwrap_or(Path::new("")))?;
    let mut answerer = Answerer::open(&args.set, None)?;
    answerer.set_refiner(args.refine.open(&config.retrieval, |what| LanguageModel::new(settings.clone(), what))?);
    if let Some(note) = &answerer.note {
        eprintln!("note: {note}");
    }
    settings.adopt(&answerer.base().manifest)?;
    if args.judge.is_some() && settings.endpoint.is_none() {
        return Err(Error::usage(
            "--judge needs a language model",
            "name its service with --provider or --base-url, or in [llm] of kb.toml",
        ));
    }
    let scores = ask::runtime()?.block_on(async {
        ask::choose_model(&Client::new(), &mut settings, Lang::En).await?;
        let judge = args.judge.as_ref().map(|name| {
            let mut judge = settings.clone();
            if !name.is_empty() {
                judge.options.model.clone_from(name);
            }
            judge.options.temperature = 0.0;
            judge
        });
        eval::answers::run(&answerer, &settings, &questions, judge.as_ref(), &reporter).await
    })?;
    print_json(&scores)?;
    Ok(if scores.failures.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What comes after the search, by flags and a configuration that was named: one that lies about is not measured.
fn refiner(args: &Args) -> Result<Option<Refiner>> {
    let config = args.config.as_deref().map(|path| Config::load(Some(path))).transpose()?.unwrap_or_default();
    let flags = LlmFlags { config: args.config.clone(), ..LlmFlags::default() };
    let llm = |what: &str| LanguageModel::new(ask::settings(&flags, &Config::load(args.config.as_deref())?)?, what);
    args.refine.open(&config.retrieval, llm)
}

fn settings<'a>(
    args: &Args,
    options: RetrievalOptions,
    model: Option<&'a EmbeddingModel>,
    cache: Option<&'a Path>,
) -> Settings<'a> {
    Settings {
        mode: Mode::from(args.mode),
        retrieval: args.retrieval.over(options),
        vectors: args.retrieval.vectors.into(),
        refiner: None,
        model,
        cache,
    }
}

/// The model and the folder of the cache: by flag, the site's own, or where builds look.
fn model_of(args: &Args, site: Option<&Path>) -> Result<(Option<EmbeddingModel>, Option<PathBuf>)> {
    let cache = args.cache_dir.clone().unwrap_or_else(|| model::cache_dir().join("embeddings"));
    let cache = (!args.no_cache).then_some(cache);
    if Mode::from(args.mode) == Mode::Lexical {
        return Ok((None, cache));
    }
    if let (None, Some(site)) = (&args.model, site)
        && let Some(info) = base::manifest(site)?.model.filter(|m| m.service.is_some())
    {
        return Ok((Some(EmbeddingModel::Service(Box::new(query_service(&info)?))), cache));
    }
    let own = site.map(|s| s.join(MODEL_DIR)).filter(|dir| dir.join(model::FILES[0]).is_file());
    let folder = match (&args.model, own) {
        (None, Some(own)) => own,
        (flag, _) => model::locate(flag.as_deref(), None)?,
    };
    Ok((Some(ModelFolder::read(&folder)?.into()), cache))
}

fn ask_site(args: &Args, set: &TestSet, site: &Path, reporter: &Reporter) -> Result<Outcome> {
    let manifest = base::manifest(site)?;
    let (model, cache) = model_of(args, Some(site))?;
    let model = model.filter(|_| manifest.model.is_some());
    let refiner = refiner(args)?;
    let mut settings = settings(args, manifest.retrieval, model.as_ref(), cache.as_deref());
    settings.refiner = refiner.as_ref();
    eval::run_site(set, site, &settings, reporter)
}

fn compare(args: &Args, set: &TestSet, a: &Path, b: &Path, reporter: &Reporter) -> Result<ExitCode> {
    let rankings = |path: &Path| -> Result<Vec<Ranking>> {
        if path.is_dir() { Ok(ask_site(args, set, path, reporter)?.rankings) } else { read_run(set, path) }
    };
    let comparison = Comparison::new(set, &rankings(a)?, &rankings(b)?);
    print_json(&comparison)?;
    Ok(if comparison.is_worse() { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn interval(each: &[[f64; 4]]) -> Option<[f64; 2]> {
    let values: Vec<f64> = each.iter().map(|s| s[0]).collect();
    mean_interval(&values).map(|ends| ends.map(|x| (x * 1e4).round() / 1e4))
}

/// By the language that the set names, else the one that the question looks to be in.
fn by_language(set: &TestSet, each: &[Option<[f64; 4]>]) -> BTreeMap<String, Language> {
    let mut of: BTreeMap<String, Vec<[f64; 4]>> = BTreeMap::new();
    for (question, scores) in set.queries.iter().zip(each).filter_map(|(q, s)| Some((q, s.as_ref()?))) {
        let lang =
            question.lang.clone().unwrap_or_else(|| KnowledgeBase::language_of(&question.text).code().to_string());
        of.entry(lang).or_default().push(*scores);
    }
    let one = |each: Vec<[f64; 4]>| Language { ndcg10_interval: interval(&each), scores: metrics::mean(&each) };
    of.into_iter().map(|(lang, each)| (lang, one(each))).collect()
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
