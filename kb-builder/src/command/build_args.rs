//! What is built: the arguments of `build` and `watch`, put together with the environment and `kb.toml`.

use crate::address;
use crate::build::Options;
use crate::config::{Config, FILE_NAME, PageLanguage, SourceConfig};
use crate::convert::{Format, encoding};
use crate::embedding::EmbedderFlags;
use crate::error::{Error, Result};
use crate::model;
use crate::watch::Plan;
use kb_core::search::Synonyms;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Arguments that say what is built.
#[derive(Debug, Clone, clap::Args)]
pub struct BuildArgs {
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
}

impl BuildArgs {
    /// Flag before environment before file before default. `interval` is a flag of `watch`.
    pub fn plan(&self, interval: Option<f64>) -> Result<Plan> {
        let config = Config::load(self.config.as_deref())?;
        let pace = config.watcher.pace(interval).map_err(|e| Error::usage(e, "see [watcher] in the guide"))?;
        let mut settings = vec![self.config.clone().unwrap_or_else(|| PathBuf::from(FILE_NAME))];
        settings.extend(config.retrieval.synonyms.clone());
        Ok(Plan { options: self.options(config)?, pace, settings })
    }

    fn options(&self, config: Config) -> Result<Options> {
        let from_file = self.paths.is_empty();
        let sources = if from_file { config.sources } else { self.sources() };
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
        let what = if self.site_url.is_some() { "--site-url" } else { "`url` in [site]" };
        let site_url = self.site_url.clone().or(config.site.url);
        if let Some(url) = &site_url {
            address::absolute(what, url)?;
        }
        let what = if from_file { "`url_base` in [[source]]" } else { "--url-base" };
        for base in sources.iter().filter_map(|source| source.url_base.as_deref()) {
            address::pattern(what, base)?;
        }
        let folder = self.config.as_deref().and_then(Path::parent).unwrap_or(Path::new(""));
        let choose = || config.embedding.choose(&self.embedder, self.model.as_deref(), &config.model, folder);
        let cache = || self.cache_dir.clone().unwrap_or_else(|| model::cache_dir().join("embeddings"));
        Ok(Options {
            sources,
            out: self.out.clone().or(config.site.out).unwrap_or_else(|| PathBuf::from("site")),
            title: self.title.clone().or(config.title),
            language: self.language.or(config.language),
            model: if self.no_model { None } else { Some(choose()?) },
            cache: (!self.no_cache).then(cache),
            originals: !self.no_originals && config.site.originals.unwrap_or(true),
            site_url,
            retrieval: config.retrieval.options(),
            exact: config.retrieval.exact.unwrap_or(false),
            chunking: config.chunking,
            synonyms: config.retrieval.synonyms.as_deref().map(read_synonyms).transpose()?.unwrap_or_default(),
            templates: config.llm.templates.checked()?,
            answers: config.llm.limits()?,
        })
    }

    /// A source for each path on the command line; one that is named twice is taken once.
    fn sources(&self) -> Vec<SourceConfig> {
        let one = |path: &PathBuf| SourceConfig {
            path: path.clone(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            url_base: self.url_base.clone(),
            code: self.code,
            ..SourceConfig::default()
        };
        let mut seen = BTreeSet::new();
        let (new, again): (Vec<_>, Vec<_>) =
            self.paths.iter().partition(|path| seen.insert(path.canonicalize().unwrap_or_else(|_| (*path).clone())));
        for path in again {
            eprintln!("note: {} is named more than once, and taken once", path.display());
        }
        new.into_iter().map(one).collect()
    }
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
