//! The build: sources → documents → passages → vectors → indexes → site.

mod cut;
mod embed;
mod intake;
mod means;

use crate::cache::Graphs;
use crate::config::{ChunkingConfig, PageLanguage, SourceConfig};
use crate::embedding::{EmbeddingModel, ModelChoice};
use crate::error::{Error, Result};
use crate::model::cache_dir;
use crate::report::{Reporter, bytes, duration};
use crate::site::{self, Page, Site};
use crate::source::{self, Problem, Source};
use kb_core::answer::AnswerLimits;
use kb_core::answer::prompt::TemplateChanges;
use kb_core::bundle::{BundleBuilder, SealedBundle};
use kb_core::chunk::{self, Chunk};
use kb_core::document::Document;
use kb_core::embed::TextKind;
use kb_core::index::lexical::LexicalBuilder;
use kb_core::index::vector::{GRAPH_FROM, GraphOptions, VectorIndex};
use kb_core::search::RetrievalOptions;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

pub use embed::{Embedding, embed_texts};
pub use means::{Passage, centring};

/// A word index of more bytes comes in parts, so that a first search need not wait for all of it.
const SPLIT_FROM: usize = 96 << 10;
/// Bytes of such a part: a question needs two or three of them.
const PART_BYTES: usize = 12 << 10;
/// Most parts: each is a file and a line of the manifest.
const MOST_PARTS: usize = 64;

/// Everything a build needs to know, resolved.
#[derive(Debug, Clone)]
pub struct Options {
    /// The collections.
    pub sources: Vec<SourceConfig>,
    /// The folder to write.
    pub out: PathBuf,
    /// Title of the knowledge base. Default: the names of the collections.
    pub title: Option<String>,
    /// Language of the page's own words. Default: what most of the text is in.
    pub language: Option<PageLanguage>,
    /// The embedding model; none builds for search by words only.
    pub model: Option<ModelChoice>,
    /// Folder of the embedding cache; none embeds everything afresh.
    pub cache: Option<PathBuf>,
    /// Whether copies of the originals become part of the site.
    pub originals: bool,
    /// Where the site is going to be published, for links that must be absolute.
    pub site_url: Option<String>,
    /// How the base is searched.
    pub retrieval: RetrievalOptions,
    /// Whether every vector is compared in a base of any size.
    pub exact: bool,
    /// How documents are cut, where their source says nothing else.
    pub chunking: ChunkingConfig,
    /// The author's list of synonyms, checked.
    pub synonyms: String,
    /// What is replaced of the words that a language model gets with the passages.
    pub templates: TemplateChanges,
    /// How much an answer may rest on.
    pub answers: AnswerLimits,
}

/// What a build did.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    /// The folder that was written.
    pub out: PathBuf,
    /// Documents in the knowledge base.
    pub documents: usize,
    /// Passages in it.
    pub passages: usize,
    /// Files that could not be taken in.
    pub failed: Vec<Problem>,
    /// Files that no converter reads, by suffix; the empty one stands for names without.
    pub skipped: BTreeMap<String, usize>,
    /// Documents that were not in UTF-8, by encoding.
    pub encodings: BTreeMap<String, usize>,
    /// What converters dropped or resolved, counted.
    pub notes: Vec<String>,
    /// Passages that were embedded, and those whose vectors came from the cache.
    pub embedded: usize,
    /// See `embedded`.
    pub from_cache: usize,
    /// Bytes of the bundle: manifest and sections.
    pub bundle_bytes: u64,
    /// How long it took.
    pub seconds: f64,
    /// Files on this machine that documents include, whether they are there or not.
    #[serde(skip)]
    pub included: BTreeSet<PathBuf>,
}

/// Builds a site. The folder at `options.out` is replaced at the end, or left as it was on an error.
pub fn build(options: &Options, reporter: &Reporter) -> Result<Summary> {
    build_from(options, &|| source::open_all(&options.sources, &options.out), reporter)
}

/// The same, with sources that `open` opens.
pub fn build_from(
    options: &Options,
    open: &dyn Fn() -> Result<Vec<Box<dyn Source>>>,
    reporter: &Reporter,
) -> Result<Summary> {
    let started = Instant::now();
    site::check_target(&options.out)?;
    for source in &options.sources {
        outside_of(&options.out, source)?;
    }
    let own = options.sources.iter().filter_map(|s| s.chunking.as_ref());
    let chunkings: Vec<&ChunkingConfig> = own.chain([&options.chunking]).collect();
    for chunking in &chunkings {
        cut::check_model(chunking, options.model.as_ref())?;
    }
    let model = options.model.as_ref().map(|m| EmbeddingModel::open(m, options.cache.as_deref())).transpose()?;
    for chunking in &chunkings {
        cut::check_size(chunking, model.as_ref())?;
    }
    let sources = open()?;
    let site = Site::begin(&options.out, &cache_dir().join("locks"))?;
    let mut summary = Summary { out: options.out.clone(), ..Summary::default() };

    let documents = intake::read_all(&sources, &site, options.originals, &mut summary, reporter)?;
    let strategies = strategies(options, &sources);
    let cache = options.cache.as_deref();
    let chunks = cut::cut(&documents, &strategies, &options.chunking, model.as_ref(), cache, reporter)?;
    if chunks.is_empty() {
        let looked = sources.iter().map(|s| s.collection()).collect::<Vec<_>>().join(", ");
        return Err(Error::failed(
            format!("nothing to search: no text was found in {looked}{}", skipped_sentence(&summary.skipped)),
            format!("files with these suffixes are read: {}", crate::convert::Format::suffixes()),
        ));
    }
    summary.documents = documents.len();
    summary.passages = chunks.len();

    let embedding = match &model {
        Some(model) => {
            let texts: Vec<String> =
                chunks.par_iter().map(|c| chunk::embedding_text(&documents[c.doc as usize], c)).collect();
            Some(embed_texts(model, cache, TextKind::Passage, &texts, reporter)?)
        }
        None => None,
    };
    if let Some(embedding) = &embedding {
        summary.embedded = embedding.computed;
        summary.from_cache = embedding.from_cache;
    }

    let bundle = index(options, &documents, &chunks, model.as_ref().zip(embedding.as_ref()), reporter)?;
    summary.bundle_bytes =
        bundle.manifest_json.len() as u64 + bundle.files.iter().map(|f| f.bytes.len() as u64).sum::<u64>();
    site.write_page(&Page::new(&bundle, &documents, options.originals, options.site_url.as_deref())?)?;
    if let Some(folder) = model.as_ref().and_then(EmbeddingModel::folder) {
        site.write_model(folder)?;
    }
    site.write_bundle(&bundle)?;
    site.publish()?;
    if !site::has_runtime() {
        reporter.note(
            "this kb-builder was compiled without the browser runtime: the page cannot search, `kb-builder search` can",
        );
    }
    summary.seconds = started.elapsed().as_secs_f64();
    Ok(summary)
}

/// The strategies of the sources that have their own, by collection.
fn strategies(options: &Options, sources: &[Box<dyn Source>]) -> BTreeMap<String, ChunkingConfig> {
    let own = options.sources.iter().zip(sources);
    own.filter_map(|(config, source)| Some((source.collection().to_string(), config.chunking?))).collect()
}

/// That no source lies in the folder that is replaced: it would be gone afterwards.
fn outside_of(out: &Path, source: &SourceConfig) -> Result<()> {
    let (Ok(out), Ok(path)) = (out.canonicalize(), source.path.canonicalize()) else { return Ok(()) };
    if source.path.as_os_str().is_empty() || !path.starts_with(&out) {
        return Ok(());
    }
    Err(Error::usage(
        format!("the source {} is inside the folder to write, which a build replaces", source.path.display()),
        "choose another one, by --out or `out` in [site], that holds no source",
    ))
}

/// Builds the indexes and seals the bundle.
fn index(
    options: &Options,
    documents: &[Document],
    chunks: &[Chunk],
    vectors: Option<(&EmbeddingModel, &Embedding)>,
    reporter: &Reporter,
) -> Result<SealedBundle> {
    let mut index = None;
    if let Some((model, embedding)) = vectors {
        let passages: Vec<Passage> = chunks.par_iter().map(|c| Passage::new(&documents[c.doc as usize], c)).collect();
        let means = centring(model, options.cache.as_deref(), &passages, &embedding.vectors, reporter)?;
        let plain = VectorIndex::build(model.info().dim, &embedding.vectors.concat())?;
        index = Some((model, if let Some(means) = means { plain.with_centring(means)? } else { plain }));
    }
    let payload = index.as_ref().map(|(_, index)| index.to_bytes()).unwrap_or_default();
    let with_graph = index.as_ref().filter(|_| chunks.len() >= GRAPH_FROM && !options.exact);
    let rounds = if with_graph.is_some() { 2 } else { 1 };
    reporter.stage("indexing", rounds * chunks.len() as u64, "passages");
    // Neither of the two needs anything of the other.
    let (lexical, graph) = rayon::join(
        || words(documents, chunks, reporter),
        || with_graph.map(|(_, index)| graph(index, &payload, options.cache.as_deref(), reporter)).transpose(),
    );
    reporter.end_stage();
    let title = options.title.clone().unwrap_or_else(|| default_title(documents));
    let language = options.language.map(PageLanguage::code).unwrap_or_else(|| main_language(documents));
    let generator = concat!("kb-builder ", env!("CARGO_PKG_VERSION"));
    let mut bundle = BundleBuilder::new(generator, documents, chunks).title(&title).language(language);
    let (head, parts) = lexical?;
    bundle = if parts.is_empty() { bundle.lexical(head) } else { bundle.lexical_parts(head, parts) };
    bundle = bundle
        .retrieval(options.retrieval)
        .synonyms(&options.synonyms)
        .templates(options.templates.clone())
        .answers(options.answers);
    if let Some((model, _)) = index {
        bundle = bundle.vectors(model.info().clone(), payload);
    }
    if let Some(graph) = graph? {
        bundle = bundle.graph(graph);
    }
    Ok(bundle.finish()?)
}

/// The index of words: a head and its parts, or all of it and none.
fn words(documents: &[Document], chunks: &[Chunk], reporter: &Reporter) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
    let mut lexical = LexicalBuilder::new();
    for chunk in chunks {
        lexical.add_chunk(&documents[chunk.doc as usize], chunk)?;
        reporter.advance(1);
    }
    let whole = lexical.to_bytes()?;
    if whole.len() <= SPLIT_FROM {
        return Ok((whole, Vec::new()));
    }
    Ok(lexical.to_parts((whole.len() / MOST_PARTS).max(PART_BYTES))?)
}

/// The graph over vectors whose section is `payload`: as an earlier build made it, or a new one.
fn graph(index: &VectorIndex, payload: &[u8], cache: Option<&Path>, reporter: &Reporter) -> Result<Vec<u8>> {
    let options = GraphOptions::default();
    let kept = cache.map(|dir| Graphs::of(dir, payload, &options));
    let graph = match kept.as_ref().and_then(Graphs::get) {
        Some(graph) => graph,
        None => {
            let (graph, _) = index.build_graph(&options)?;
            if let Some(kept) = kept {
                kept.put(&graph);
            }
            graph
        }
    };
    reporter.advance(index.len() as u64);
    Ok(graph)
}

/// The names of the collections, in their order.
fn default_title(documents: &[Document]) -> String {
    let mut names: Vec<&str> = Vec::new();
    for document in documents {
        if !names.contains(&document.collection.as_str()) {
            names.push(&document.collection);
        }
    }
    names.join(" · ")
}

/// The language code that most of the text is in.
fn main_language(documents: &[Document]) -> &'static str {
    let mut bytes: BTreeMap<&'static str, usize> = BTreeMap::new();
    for document in documents {
        *bytes.entry(document.lang.code()).or_default() += document.text.len();
    }
    bytes.into_iter().max_by_key(|(_, n)| *n).map_or("", |(code, _)| code)
}

/// `; left aside: 3 .png, 1 without suffix`, or nothing.
fn skipped_sentence(skipped: &BTreeMap<String, usize>) -> String {
    if skipped.is_empty() {
        return String::new();
    }
    let list: Vec<String> = skipped
        .iter()
        .map(|(suffix, n)| if suffix.is_empty() { format!("{n} without suffix") } else { format!("{n} .{suffix}") })
        .collect();
    format!("; left aside: {}", list.join(", "))
}

impl Summary {
    /// The report for people.
    pub fn text(&self) -> String {
        let mut lines = vec![format!(
            "{}: {} documents, {} passages, bundle of {}, {}",
            self.out.display(),
            self.documents,
            self.passages,
            bytes(self.bundle_bytes),
            duration(std::time::Duration::from_secs_f64(self.seconds))
        )];
        if !self.skipped.is_empty() {
            lines.push(skipped_sentence(&self.skipped).trim_start_matches("; ").replacen(
                "left aside",
                "left aside, no converter reads them",
                1,
            ));
            lines.extend(crate::convert::advice(self.skipped.keys()).into_iter().map(str::to_string));
        }
        for (encoding, n) in &self.encodings {
            lines.push(format!("{n} files were read as {encoding}"));
        }
        lines.extend(self.notes.iter().cloned());
        if !self.failed.is_empty() {
            lines.push(format!("{} files could not be read:", self.failed.len()));
            lines.extend(self.failed.iter().map(|p| format!("  {}/{}: {}", p.collection, p.path, p.reason)));
        }
        lines.join("\n")
    }
}
