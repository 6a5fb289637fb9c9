//! `kb.toml`: what an author writes once instead of typing flags.
//!
//! Precedence is flag, then environment, then this file, then the default. Every path in the file
//! is relative to the file's own folder.

mod chunking;
mod message;
mod schema;
mod watcher;

use crate::answer::LlmConfig;
use crate::answer::settings::variable_of;
use crate::embedding::EmbeddingConfig;
use crate::error::{Error, Result};
use crate::preset::PresetName;
use crate::refine::{Choice, Reader};
use kb_core::search::{FusionMethod, RetrievalOptions, ThreeWayPreset};
use schemars::JsonSchema;
use serde::Deserialize;
use std::path::{Path, PathBuf};

pub use chunking::{ChunkingConfig, LengthUnit, StrategyName};
pub(crate) use schema::ProviderName;
pub use schema::schema;
pub use watcher::{Pace, WatcherConfig};

/// File name looked for in the current folder when `--config` is not given.
pub const FILE_NAME: &str = "kb.toml";

/// Settings of a knowledge base for kb-builder. Every key is optional, and paths are relative to the file.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Config {
    /// The numbers of another system, under what the file says itself: `gangdan`, `education-agent`, `foliochat`,
    /// `deepseek-rag` or `llm-wiki`.
    pub preset: Option<PresetName>,
    /// Name of the knowledge base, shown at the top of the page.
    pub title: Option<String>,
    /// Language of the page's own words: `zh` or `en`. Default: what most documents are in.
    pub language: Option<PageLanguage>,
    /// The collections, one each.
    #[serde(rename = "source")]
    pub sources: Vec<SourceConfig>,
    /// The embedding model.
    pub model: ModelConfig,
    /// A service that embeds in the model's place.
    pub embedding: EmbeddingConfig,
    /// The output folder.
    pub site: SiteConfig,
    /// The language model that `ask` and `serve --api` use.
    pub llm: LlmConfig,
    /// How the base is searched.
    pub retrieval: RetrievalConfig,
    /// How documents are cut into passages.
    pub chunking: ChunkingConfig,
    /// How often `kb-builder watch` looks for changes.
    pub watcher: WatcherConfig,
}

/// Languages that the page's own words exist in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum PageLanguage {
    /// Chinese.
    Zh,
    /// English.
    En,
}

impl PageLanguage {
    /// The language code: `zh`, `en`.
    pub fn code(self) -> &'static str {
        match self {
            Self::Zh => "zh",
            Self::En => "en",
        }
    }
}

/// One `[[source]]`, which becomes one collection: a folder or file (`path`), a list of addresses (`urls`), a
/// repository (`github`), a website (`website`), somebody's work on GitHub (`portfolio`), or an entry of the list of
/// ready-made sources (`ready`), see [`crate::source::ready`].
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SourceConfig {
    /// Name of the collection. Default: the folder's name, or the file's without suffix.
    pub name: Option<String>,
    /// Folder or file.
    pub path: PathBuf,
    /// Addresses of files; GitHub's pages about files stand for the files.
    pub urls: Vec<String>,
    /// `owner/name` of a repository on GitHub.
    pub github: Option<String>,
    /// Its branch, tag or commit. Default: the default branch.
    #[serde(rename = "ref")]
    pub reference: Option<String>,
    /// Only what is below this folder of the repository.
    pub folder: Option<String>,
    /// Where GitHub's programming interface is. Default: `https://api.github.com`.
    pub api: Option<String>,
    /// An account on GitHub whose public repositories make a portfolio.
    pub portfolio: Option<String>,
    /// Most repositories of a portfolio, those with the most stars. Default: 30.
    pub max_repositories: Option<usize>,
    /// Whether forks belong to a portfolio.
    pub forks: bool,
    /// Name of a ready-made source, which the other keys change.
    pub ready: Option<String>,
    /// First page of a website; what lies below its folder belongs to it.
    pub website: Option<String>,
    /// How many links a page may be away from the first. Default: 5.
    pub depth: Option<usize>,
    /// Most pages of the website. Default: 500.
    pub max_pages: Option<usize>,
    /// The website's sitemap, where it is not at its usual place.
    pub sitemap: Option<String>,
    /// Least time between two requests to one host, in seconds. Default: what the site asks for.
    pub delay: Option<u64>,
    /// Whether addresses may lead to this machine or into a local network. Default: false.
    pub allow_private: bool,
    /// Globs; when there are any, only files that match one are read. `*.md` matches at any depth,
    /// a pattern with `/` counts from the folder.
    pub include: Vec<String>,
    /// Globs of files and folders that are left out; stronger than `include`.
    pub exclude: Vec<String>,
    /// Where the documents are published. `{path}` stands for the document's path and `{stem}` for
    /// the path without its suffix; with neither, the path is appended:
    /// `https://doc.rust-lang.org/book/{stem}.html`, `https://github.com/o/r/blob/main/`.
    /// Without it, hits open the page's own reader.
    pub url_base: Option<String>,
    /// How its documents are cut, where that differs from `[chunking]`.
    pub chunking: Option<ChunkingConfig>,
    /// Whether source code is read as well: Python's docstrings and signatures, the items of other
    /// languages.
    pub code: bool,
}

impl SourceConfig {
    /// Whether its documents come over the network.
    pub fn is_remote(&self) -> bool {
        self.path.as_os_str().is_empty()
    }
}

/// `[model]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct ModelConfig {
    /// Folder with model.onnx, tokenizer.json and model.json, or the name of an installed model.
    pub path: Option<PathBuf>,
}

/// `[site]`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SiteConfig {
    /// The folder to write. Default: `site`.
    pub out: Option<PathBuf>,
    /// Whether copies of the originals are put into `files/` of the site. Default: true.
    pub originals: Option<bool>,
    /// Where the site is going to be published: `https://name.github.io/course/`. Link previews, the
    /// canonical address and `llms.txt` need it; everything else works without.
    pub url: Option<String>,
}

/// `[retrieval]`: what differs from the default.
#[derive(Debug, Clone, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct RetrievalConfig {
    /// How words and meaning are combined: `convex`, `rrf` or `three-way`. Default: `convex`.
    #[schemars(with = "Option<schema::FusionName>")]
    pub fusion: Option<FusionMethod>,
    /// Weight of the words, 0 to 1; the meaning has the rest. Default: 0.5.
    #[schemars(range(min = 0, max = 1))]
    pub lexical_weight: Option<f32>,
    /// Whether it counts which share of the question's words a passage has.
    pub rerank: Option<bool>,
    /// The constant of reciprocal rank fusion, above 0. Default: 60.
    pub rrf_k: Option<f32>,
    /// Weights of `three-way`: `balanced`, `exact` or `semantic`. Default: `balanced`.
    #[schemars(with = "Option<schema::ThreeWayName>")]
    pub three_way: Option<ThreeWayPreset>,
    /// Whether spoken words are looked up as what documents say, and unknown words as their synonyms.
    pub expand: Option<bool>,
    /// A list of synonyms of the author's own.
    pub synonyms: Option<PathBuf>,
    /// Whether passages of the sorts that a question asks for come before all others.
    pub route: Option<bool>,
    /// Whether every vector is compared in a base of any size. Default: false, from 200,000 passages on a graph (HNSW)
    /// leads to the nearest ones.
    pub exact: Option<bool>,
    /// How many candidates each list gives, 1 to 1,000. Default: 50 from the words, and from the vectors a tenth of the
    /// passages, 50 at least and 200 at most.
    #[schemars(range(min = 1, max = 1000))]
    pub candidates: Option<usize>,
    /// How many hits `search` gives, 1 to 100. Default: 10.
    #[schemars(range(min = 1, max = 100))]
    pub top_k: Option<usize>,
    /// Most hits from one document, 1 to 100.
    #[schemars(range(min = 1, max = 100))]
    pub per_document: Option<usize>,
    /// Hits with a lower score are left out.
    pub min_score: Option<f32>,
    /// Passages further from the question than this cosine distance, 0 to 2, are not taken for their meaning.
    #[schemars(range(min = 0, max = 2))]
    pub max_distance: Option<f32>,
    /// What puts the first hits of `search`, `ask` and `eval` in another order: the folder of a cross-encoder, or `llm`
    /// for the language model of [llm]. The page has none.
    pub reranker: Option<PathBuf>,
    /// How many of the first hits it sees, 2 to 100. Default: 25.
    #[schemars(range(min = 2, max = 100))]
    pub rerank_candidates: Option<usize>,
    /// Who reads a question before `search`, `ask` and `eval` look it up: `rules` or `llm`. Default: `rules`.
    pub understand: Option<Reader>,
    /// Whether `search`, `ask` and `eval` look the two things of a comparison up as well. Default: false.
    pub split_comparisons: Option<bool>,
}

impl RetrievalConfig {
    /// The settings with their defaults.
    pub fn options(&self) -> RetrievalOptions {
        let default = RetrievalOptions::default();
        RetrievalOptions {
            fusion: self.fusion.unwrap_or(default.fusion),
            lexical_weight: self.lexical_weight.unwrap_or(default.lexical_weight),
            rerank: self.rerank.unwrap_or(default.rerank),
            rrf_k: self.rrf_k.unwrap_or(default.rrf_k),
            three_way: self.three_way.unwrap_or(default.three_way),
            expand: self.expand.unwrap_or(default.expand),
            route: self.route.unwrap_or(default.route),
            candidates: self.candidates,
            top_k: self.top_k,
            per_document: self.per_document,
            min_score: self.min_score,
            max_distance: self.max_distance,
        }
    }
}

impl RetrievalConfig {
    /// What comes after the search on this machine.
    pub fn after_search(&self) -> Choice {
        Choice {
            reranker: self.reranker.clone(),
            candidates: self.rerank_candidates,
            understand: self.understand,
            split_comparisons: self.split_comparisons,
        }
    }
}

impl Config {
    /// Reads `path`, or `kb.toml` in the current folder if there is one, or gives the defaults.
    pub fn load(path: Option<&Path>) -> Result<Self> {
        let path = match path {
            Some(p) => p.to_path_buf(),
            None if Path::new(FILE_NAME).is_file() => PathBuf::from(FILE_NAME),
            None => return Ok(Self::default()),
        };
        let bytes = std::fs::read(&path).map_err(|e| Error::io("read", &path, e))?;
        let text = String::from_utf8(bytes).map_err(|e| {
            let line = e.as_bytes()[..e.utf8_error().valid_up_to()].iter().filter(|b| **b == b'\n').count() + 1;
            let what = format!("{}: line {line}: these characters are not in UTF-8", path.display());
            Error::usage(what, "save the file as UTF-8: editors have it under \"Save as\", as the encoding")
        })?;
        let text = text.trim_start_matches('\u{feff}').to_owned();
        let base = path.parent().unwrap_or(Path::new(""));
        Self::parse(&text, base).map_err(|message| {
            Error::usage(
                format!("{}: {message}", path.display()),
                "`kb-builder build --help` and the guide's page about the configuration list the keys",
            )
        })
    }

    /// Parses the text of a `kb.toml` that lies in `base`. The error is a sentence with its line.
    fn parse(text: &str, base: &Path) -> std::result::Result<Self, String> {
        let mut config: Self = toml::from_str(text).map_err(|e| message::of_parser(&e, text))?;
        for (section, key) in [("[llm]", &config.llm.api_key), ("[embedding]", &config.embedding.api_key)] {
            variable_of(section, key.as_deref(), None).map_err(|e| e.to_string())?;
        }
        if let Some(repository) =
            config.sources.iter().filter_map(|s| s.github.as_deref()).find(|r| r.split('/').count() != 2)
        {
            return Err(format!("`github` in [[source]] is `owner/name`, not `{repository}`"));
        }
        if let Some(name) = config.preset {
            name.preset().under(&mut config);
        }
        for source in &mut config.sources {
            crate::source::ready::resolve(source)?;
            if source.portfolio.is_some() {
                source.chunking.get_or_insert_default().strategy.get_or_insert(StrategyName::Portfolio);
            }
            source.chunking = source.chunking.map(|own| own.over(config.chunking));
        }
        for chunking in config.sources.iter().filter_map(|s| s.chunking).chain([config.chunking]) {
            chunking.strategy().validate().map_err(|e| {
                // The strategy by headings calls them otherwise.
                let sentence = e.message().replace("max_chars", "size").replace("_chars", "");
                let placed = message::of_value("chunking", &sentence, text);
                if placed == sentence { format!("chunking: {sentence}") } else { placed }
            })?;
        }
        let retrieval = config.retrieval.options().check();
        retrieval.map_err(|e| message::of_value("retrieval", e.message(), text))?;
        config.watcher.pace(None).map_err(|e| message::of_value("watcher", &e, text))?;
        for source in &mut config.sources {
            let kinds = [
                !source.path.as_os_str().is_empty(),
                !source.urls.is_empty(),
                source.github.is_some(),
                source.website.is_some(),
                source.portfolio.is_some(),
            ];
            match kinds.iter().filter(|there| **there).count() {
                0 => {
                    return Err(
                        "a [[source]] needs a `path`, `urls`, `github`, `website`, `portfolio` or `ready`".into()
                    );
                }
                1 => {}
                _ => {
                    return Err(
                        "a [[source]] has one of `path`, `urls`, `github`, `website` and `portfolio`, not several"
                            .into(),
                    );
                }
            }
            if kinds[0] {
                source.path = base.join(&source.path);
            }
        }
        if let Some(synonyms) = &mut config.retrieval.synonyms {
            *synonyms = base.join(&*synonyms);
        }
        if let Some(reranker) = &mut config.retrieval.reranker {
            // One word that is no folder beside the file is `llm` or `none`.
            let folder = base.join(&*reranker);
            if reranker.components().count() > 1 || folder.is_dir() {
                *reranker = folder;
            }
        }
        if let Some(out) = &mut config.site.out {
            if out.as_os_str().is_empty() {
                return Err(message::of_value("site", "out is empty, and names no folder to write", text));
            }
            *out = base.join(&*out);
        }
        if let Some(model) = &mut config.model.path {
            // One word that is no folder beside the file is the name of an installed model.
            let folder = base.join(&*model);
            if model.components().count() > 1 || folder.is_dir() {
                *model = folder;
            }
        }
        Ok(config)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kb_core::chunk::{ChunkStrategy, Window};

    #[test]
    fn reads_every_key_and_resolves_paths_against_the_file() {
        let text = r#"
            title = "算法"
            language = "zh"
            [[source]]
            name = "notes"
            path = "notes"
            include = ["*.md"]
            exclude = ["drafts"]
            url_base = "https://example.org/{stem}.html"
            code = true
            [[source]]
            path = "/abs/book"
            [model]
            path = "models/e5"
            [site]
            out = "public"
            originals = false
            [retrieval]
            fusion = "three-way"
            three_way = "exact"
            min_score = 0.2
        "#;
        let c = Config::parse(text, Path::new("course")).expect("parses");
        assert_eq!(c.title.as_deref(), Some("算法"));
        assert_eq!(c.language, Some(PageLanguage::Zh));
        assert_eq!(c.sources.len(), 2);
        assert_eq!(c.sources[0].path, Path::new("course/notes"));
        assert_eq!(c.sources[0].include, ["*.md"]);
        assert!(c.sources[0].code && !c.sources[1].code);
        assert_eq!(c.sources[1].path, Path::new("/abs/book"));
        assert_eq!(c.model.path.as_deref(), Some(Path::new("course/models/e5")));
        assert_eq!(c.site.out.as_deref(), Some(Path::new("course/public")));
        assert_eq!(c.site.originals, Some(false));
        let retrieval = c.retrieval.options();
        assert_eq!((retrieval.fusion, retrieval.three_way), (FusionMethod::ThreeWay, ThreeWayPreset::Exact));
        assert_eq!((retrieval.min_score, retrieval.rrf_k), (Some(0.2), 60.0));
        let e = Config::parse("[retrieval]\nlexical_weight = 2\n", Path::new("")).expect_err("refused");
        assert!(e.contains("lexical_weight"), "{e}");
    }

    #[test]
    fn a_strategy_can_be_chosen_for_all_and_for_one_source() {
        let text = "[[source]]\npath = \"a\"\nchunking = { strategy = \"line\", size = 300 }\n[chunking]\nstrategy = \"sliding\"\noverlap = 100\n";
        let c = Config::parse(text, Path::new("")).expect("parses");
        assert_eq!(c.chunking.strategy(), ChunkStrategy::Sliding(Window { size: 800, overlap: 100, min: 50 }));
        let own = c.sources[0].chunking.expect("its own").strategy();
        assert_eq!(own, ChunkStrategy::Line(Window { size: 300, overlap: 50, min: 0 }));
        assert_eq!(ChunkingConfig::default().strategy(), ChunkStrategy::default());
        // A size alone is enough, and a source without a strategy takes the general one.
        let c = Config::parse(
            "[[source]]\npath = \"a\"\nchunking = { min = 10 }\n[chunking]\nstrategy = \"sliding\"\nsize = 200\n",
            Path::new(""),
        )
        .expect("parses");
        let expected = ChunkStrategy::Sliding(Window { size: 200, overlap: 100, min: 10 });
        assert_eq!(c.sources[0].chunking.expect("its own").strategy(), expected);
        let e = Config::parse("[chunking]\nsize = 10\n", Path::new("")).expect_err("refused");
        assert!(e.contains("size must be") && !e.contains("max"), "{e}");
    }

    #[test]
    fn a_portfolio_is_cut_as_one_whatever_is_said_for_all() {
        let text = "[chunking]\nstrategy = \"line\"\n[[source]]\nportfolio = \"a\"\n[[source]]\nportfolio = \"b\"\nchunking = { size = 300 }\n";
        let c = Config::parse(text, Path::new("")).expect("parses");
        let own = |i: usize| c.sources[i].chunking.expect("its own").strategy();
        assert_eq!(own(0), ChunkStrategy::Portfolio(Window::PORTFOLIO));
        assert_eq!(own(1), ChunkStrategy::Portfolio(Window { size: 300, ..Window::PORTFOLIO }));
        let e = Config::parse("[[source]]\nready = \"nunpy\"\n", Path::new("")).expect_err("refused");
        assert!(e.contains("did you mean `numpy`"), "{e}");
    }

    #[test]
    fn an_installed_model_is_named_by_one_word() {
        let c = Config::parse("[model]\npath = \"my-model\"\n", Path::new("course")).expect("parses");
        assert_eq!(c.model.path.as_deref(), Some(Path::new("my-model")));
    }

    #[test]
    fn an_unknown_key_names_its_line_and_the_nearest_known_key() {
        let e = Config::parse("\ntitel = \"x\"\n", Path::new("")).expect_err("refused");
        assert_eq!(e, "line 2: unknown key `titel`, did you mean `title`?");
        let e = Config::parse("[[source]]\npath = \"x\"\nexcludes = []\n", Path::new("")).expect_err("refused");
        assert_eq!(e, "line 3: unknown key `excludes`, did you mean `exclude`?");
        let e = Config::parse("[model]\npaht = \"x\"\n", Path::new("")).expect_err("refused");
        assert!(e.starts_with("line 2: unknown key `paht`"), "{e}");
    }

    #[test]
    fn wrong_types_and_missing_paths_are_sentences() {
        let e = Config::parse("title = 3\n", Path::new("")).expect_err("refused");
        assert!(e.contains("line 1") && e.contains("text in quotation marks"), "{e}");
        let e = Config::parse("[[source]]\nname = \"x\"\n", Path::new("")).expect_err("refused");
        assert!(e.contains("path"), "{e}");
        let e = Config::parse("[[source]]\npath = \"x\"\ngithub = \"o/r\"\n", Path::new("")).expect_err("refused");
        assert!(e.contains("not several"), "{e}");
        let c = Config::parse("[[source]]\ngithub = \"o/r\"\nref = \"v1\"\n", Path::new("d")).expect("parses");
        assert_eq!((c.sources[0].reference.as_deref(), c.sources[0].path.as_os_str().is_empty()), (Some("v1"), true));
        assert!(Config::parse("language = \"fr\"\n", Path::new("")).is_err());
    }
}
