//! `kb-builder build`

use crate::address;
use crate::build::{self, Options};
use crate::config::{Config, PageLanguage, SourceConfig};
use crate::convert::{Format, encoding};
use crate::embedding::EmbedderFlags;
use crate::error::{Error, Result};
use crate::model;
use crate::report::{Reporter, Style};
use kb_core::search::Synonyms;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Examples:
  kb-builder build notes                             the folder notes, into the folder site
  kb-builder build zh/ en/ --title \"Course\" -o site   two collections, named zh and en
  kb-builder build docs --include '*.md' --exclude drafts
  kb-builder build book/src --url-base 'https://doc.rust-lang.org/book/{stem}.html'
  kb-builder build                                   what kb.toml in this folder says

Without --url-base a hit opens in the page's own reader.

kb.toml has the keys title, language, [[source]] (name, path, include, exclude, url_base,
code, chunking; or urls, github, website, portfolio, ready: `kb-builder sources list`), [model] (path), [embedding] (provider, model, base_url, api_key, api_key_env, max_chars,
query_prefix, passage_prefix), [site] (out, originals, url), [chunking] (strategy, unit, size, overlap, min), [retrieval] (fusion, lexical_weight,
rerank, rrf_k, three_way, expand, synonyms, route, per_document, min_score, max_distance) and [llm]. A flag is stronger than the environment variable KB_MODEL
or KB_CACHE, and that is stronger than the file. PATHs replace the file's sources.

An existing site is replaced in one step at the end; any other folder is refused.
Exit status 3: the site was built, but some files could not be read; they are listed.";

/// Build a knowledge base from folders or files
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Folders or files, one collection each, named after the folder
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The folder to write [default: site]
    #[arg(short, long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Settings [default: kb.toml in the current folder, if there is one]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Title of the knowledge base [default: the names of the collections]
    #[arg(long)]
    title: Option<String>,
    /// Language of the page's own words [default: what most of the text is in]
    #[arg(long, value_name = "LANG")]
    language: Option<PageLanguage>,
    /// Read only files that match; may be repeated
    #[arg(long, value_name = "GLOB", requires = "paths")]
    include: Vec<String>,
    /// Leave out files and folders that match; may be repeated
    #[arg(long, value_name = "GLOB", requires = "paths")]
    exclude: Vec<String>,
    /// Where the documents are published; {path} and {stem} stand for the document
    #[arg(long, value_name = "URL", requires = "paths")]
    url_base: Option<String>,
    /// Read source code as well: docstrings, signatures, top-level items
    #[arg(long, requires = "paths")]
    code: bool,
    /// Do not put copies of the originals into the site
    #[arg(long)]
    no_originals: bool,
    /// Where the site is going to be published, for link previews
    #[arg(long, value_name = "URL")]
    site_url: Option<String>,
    /// Folder of the embedding model, or the name of an installed one
    #[arg(long, value_name = "DIR", conflicts_with = "no_model")]
    model: Option<PathBuf>,
    /// Build for search by words only
    #[arg(long)]
    no_model: bool,
    #[command(flatten)]
    embedder: EmbedderFlags,
    /// Folder of the embedding cache [default: kb-builder in the user's cache folder]
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    cache_dir: Option<PathBuf>,
    /// Embed everything afresh and keep nothing
    #[arg(long)]
    no_cache: bool,
    /// Report as JSON, one event a line, on standard output
    #[arg(long)]
    json: bool,
    /// Report only problems
    #[arg(short, long)]
    quiet: bool,
}

/// Builds.
pub fn run(args: Args) -> Result<ExitCode> {
    let reporter = Reporter::new(Style::choose(args.json, args.quiet));
    let options = resolve(args)?;
    let summary = build::build(&options, &reporter)?;
    reporter.finished(&summary.text(), &summary);
    Ok(if summary.failed.is_empty() { ExitCode::SUCCESS } else { ExitCode::from(3) })
}

/// Flag before environment before file before default.
fn resolve(args: Args) -> Result<Options> {
    let config = Config::load(args.config.as_deref())?;
    let from_file = args.paths.is_empty();
    let sources = if from_file {
        config.sources
    } else {
        let one = |path| SourceConfig {
            name: None,
            path,
            include: args.include.clone(),
            exclude: args.exclude.clone(),
            url_base: args.url_base.clone(),
            code: args.code,
            ..SourceConfig::default()
        };
        args.paths.into_iter().map(one).collect()
    };
    if sources.is_empty() {
        return Err(Error::usage(
            "there is nothing to build from",
            format!(
                "name folders or files with suffixes {}, or write a kb.toml: `kb-builder sources` has ready-made ones",
                Format::suffixes()
            ),
        ));
    }
    // A mistake is named where it was made.
    let what = if args.site_url.is_some() { "--site-url" } else { "`url` in [site]" };
    let site_url = args.site_url.or(config.site.url);
    if let Some(url) = &site_url {
        address::absolute(what, url)?;
    }
    let what = if from_file { "`url_base` in [[source]]" } else { "--url-base" };
    for base in sources.iter().filter_map(|source| source.url_base.as_deref()) {
        address::pattern(what, base)?;
    }
    let folder = args.config.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
    let choose = || config.embedding.choose(&args.embedder, args.model.as_deref(), &config.model, folder);
    let model = if args.no_model { None } else { Some(choose()?) };
    let cache = args.cache_dir.unwrap_or_else(|| model::cache_dir().join("embeddings"));
    Ok(Options {
        sources,
        out: args.out.or(config.site.out).unwrap_or_else(|| PathBuf::from("site")),
        title: args.title.or(config.title),
        language: args.language.or(config.language),
        model,
        cache: (!args.no_cache).then_some(cache),
        originals: !args.no_originals && config.site.originals.unwrap_or(true),
        site_url,
        retrieval: config.retrieval.options(),
        chunking: config.chunking,
        synonyms: config.retrieval.synonyms.as_deref().map(read_synonyms).transpose()?.unwrap_or_default(),
        templates: config.llm.templates.checked()?,
    })
}

/// An author's list of synonyms.
fn read_synonyms(path: &Path) -> Result<String> {
    let bytes = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    let text = encoding::decode(&bytes, None)
        .map_err(|e| Error::usage(format!("{}: {}", path.display(), e.message()), "save the list as UTF-8"))?
        .text;
    match Synonyms::with(&text) {
        Ok(_) => Ok(text),
        Err(e) => Err(Error::usage(
            format!("{}: {}", path.display(), e.message()),
            "write `咋装 → 如何安装` to look up something else, `k8s = kubernetes` for words for one thing",
        )),
    }
}
