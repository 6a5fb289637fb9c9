//! A whole bundle: from documents, chunks and indexes to files, and back.

use super::frame::{self, FORMAT_VERSION, SectionKind};
use super::manifest::{CollectionInfo, Counts, Manifest, SectionRef, sha256_hex};
use super::{chunks, docs, text};
#[cfg(feature = "build")]
use crate::answer::AnswerLimits;
use crate::answer::prompt::TemplateChanges;
use crate::chunk::{Chunk, ChunkId, identify};
use crate::document::Document;
use crate::embed::ModelInfo;
use crate::search::RetrievalOptions;
use crate::{Error, ErrorKind, Result};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// A file of a bundle, to be written beside the manifest.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleFile {
    /// `<kind>-<first 16 hex digits of the SHA-256>.kbs`.
    pub name: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// A bundle ready to be written.
#[derive(Debug, Clone, PartialEq)]
pub struct SealedBundle {
    /// The manifest.
    pub manifest: Manifest,
    /// The bytes of `manifest.json`. Write it last: a folder without it is not a bundle yet.
    pub manifest_json: Vec<u8>,
    /// The section files in the manifest's order.
    pub files: Vec<BundleFile>,
}

/// Collects the parts of a bundle. The same parts give the same bytes.
#[derive(Debug)]
pub struct BundleBuilder<'a> {
    generator: String,
    title: String,
    language: String,
    created: Option<String>,
    model: Option<ModelInfo>,
    documents: &'a [Document],
    chunks: &'a [Chunk],
    retrieval: RetrievalOptions,
    synonyms: String,
    templates: TemplateChanges,
    #[cfg(feature = "build")]
    answers: AnswerLimits,
    indexes: BTreeMap<SectionKind, Vec<u8>>,
    terms: Vec<Vec<u8>>,
}

impl<'a> BundleBuilder<'a> {
    /// A bundle of `documents` and their `chunks`, which are ordered by document and start.
    /// `generator` names the program and its version.
    pub fn new(generator: &str, documents: &'a [Document], chunks: &'a [Chunk]) -> Self {
        Self {
            generator: generator.into(),
            title: String::new(),
            language: String::new(),
            created: None,
            model: None,
            documents,
            chunks,
            retrieval: RetrievalOptions::default(),
            synonyms: String::new(),
            templates: TemplateChanges::default(),
            #[cfg(feature = "build")]
            answers: AnswerLimits::default(),
            indexes: BTreeMap::new(),
            terms: Vec::new(),
        }
    }

    /// Title for people.
    pub fn title(mut self, title: &str) -> Self {
        self.title = title.into();
        self
    }

    /// Main language as a code: `zh`, `en`.
    pub fn language(mut self, code: &str) -> Self {
        self.language = code.into();
        self
    }

    /// A date or time to name in the manifest. Without it the bundle says nothing about when.
    pub fn created(mut self, when: Option<String>) -> Self {
        self.created = when;
        self
    }

    /// How the base is searched.
    pub fn retrieval(mut self, options: RetrievalOptions) -> Self {
        self.retrieval = options;
        self
    }

    /// The author's list of synonyms.
    pub fn synonyms(mut self, list: &str) -> Self {
        self.synonyms = list.into();
        self
    }

    /// What is replaced of the words that a language model gets.
    pub fn templates(mut self, changes: TemplateChanges) -> Self {
        self.templates = changes;
        self
    }

    /// How much an answer may rest on.
    #[cfg(feature = "build")]
    pub fn answers(mut self, limits: AnswerLimits) -> Self {
        self.answers = limits;
        self
    }

    /// The payload of the BM25 index.
    pub fn lexical(mut self, payload: Vec<u8>) -> Self {
        self.indexes.insert(SectionKind::Lexical, payload);
        self
    }

    /// The same in parts: the head, and the payloads of the parts in their order.
    pub fn lexical_parts(mut self, head: Vec<u8>, parts: Vec<Vec<u8>>) -> Self {
        self.terms = parts;
        self.lexical(head)
    }

    /// The payload of the vector section and the model that made the vectors.
    pub fn vectors(mut self, model: ModelInfo, payload: Vec<u8>) -> Self {
        self.model = Some(model);
        self.indexes.insert(SectionKind::Vectors, payload);
        self
    }

    /// The payload of the graph section.
    pub fn graph(mut self, payload: Vec<u8>) -> Self {
        self.indexes.insert(SectionKind::Graph, payload);
        self
    }

    /// Encodes, seals and names everything.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for documents or chunks that break a rule of the format,
    /// [`ErrorKind::TooLarge`] for a section over the limit.
    pub fn finish(self) -> Result<SealedBundle> {
        let count = |n: usize| {
            u32::try_from(n).map_err(|_| Error::new(ErrorKind::TooLarge, "over four thousand million entries"))
        };
        // One payload a core at a time: the texts of a large base would otherwise be there twice.
        let mut sealed = vec![seal(SectionKind::Docs, None, docs::encode(self.documents)?)?];
        sealed.extend(map(&text::split(self.documents), |run| {
            seal(SectionKind::Text, Some(count(run.start)?), text::encode(self.documents, run.clone())?)
        })?);
        sealed.push(seal(SectionKind::Chunks, None, chunks::encode(self.chunks, self.documents)?)?);
        for (kind, payload) in self.indexes {
            sealed.push(seal(kind, None, payload)?);
        }
        for payload in self.terms {
            sealed.push(seal(SectionKind::Terms, None, payload)?);
        }
        let (sections, files): (Vec<SectionRef>, Vec<BundleFile>) = sealed.into_iter().unzip();
        let manifest = Manifest {
            format: FORMAT_VERSION,
            generator: self.generator,
            id: identity(&sections, self.model.as_ref()),
            created: self.created,
            title: self.title,
            language: self.language,
            collections: collections(self.documents, self.chunks),
            model: self.model,
            retrieval: self.retrieval,
            synonyms: self.synonyms,
            templates: self.templates,
            #[cfg(feature = "build")]
            answers: self.answers,
            counts: Counts {
                documents: count(self.documents.len())?,
                chunks: count(self.chunks.len())?,
                text_bytes: self.documents.iter().map(|d| d.text.len() as u64).sum(),
            },
            sections,
        };
        let manifest_json = manifest.to_json()?;
        // What is written must be readable: the reader's own checks decide.
        Manifest::from_json(&manifest_json).map_err(|e| Error::new(ErrorKind::InvalidInput, e.message()))?;
        Ok(SealedBundle { manifest, manifest_json, files })
    }
}

/// A section and its file.
fn seal(kind: SectionKind, first_document: Option<u32>, payload: Vec<u8>) -> Result<(SectionRef, BundleFile)> {
    let bytes = frame::seal(kind, &payload)?;
    let sha256 = sha256_hex(&bytes);
    let name = format!("{}-{}.kbs", kind.name(), &sha256[..16]);
    let section = SectionRef { kind, file: name.clone(), bytes: bytes.len() as u64, sha256, first_document };
    Ok((section, BundleFile { name, bytes }))
}

#[cfg(feature = "parallel")]
fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> Result<R> + Sync + Send) -> Result<Vec<R>> {
    use rayon::prelude::*;
    items.par_iter().map(f).collect()
}

#[cfg(not(feature = "parallel"))]
fn map<T, R>(items: &[T], f: impl Fn(&T) -> Result<R>) -> Result<Vec<R>> {
    items.iter().map(f).collect()
}

fn collections(documents: &[Document], chunks: &[Chunk]) -> Vec<CollectionInfo> {
    let mut collections: Vec<CollectionInfo> = Vec::new();
    let mut index = BTreeMap::new();
    for document in documents {
        let at = *index.entry(document.collection.as_str()).or_insert(collections.len());
        if at == collections.len() {
            collections.push(CollectionInfo { name: document.collection.clone(), documents: 0, chunks: 0 });
        }
        collections[at].documents += 1;
    }
    for chunk in chunks {
        let collection = documents.get(chunk.doc as usize).and_then(|d| index.get(d.collection.as_str()));
        if let Some(at) = collection {
            collections[*at].chunks += 1;
        }
    }
    collections
}

fn identity(sections: &[SectionRef], model: Option<&ModelInfo>) -> String {
    let mut all = String::new();
    for section in sections {
        all.push_str(&section.sha256);
    }
    all.push_str(model.map_or("", |m| m.fingerprint.as_str()));
    let mut id = sha256_hex(all.as_bytes());
    id.truncate(16);
    id
}

/// A bundle that was read.
#[derive(Debug, Clone, PartialEq)]
pub struct Bundle {
    /// Its manifest.
    pub manifest: Manifest,
    /// Its documents. `text` is empty where its part has not been loaded.
    pub documents: Vec<Document>,
    /// Its chunks, ordered by document and start.
    pub chunks: Vec<Chunk>,
    text_bytes: Vec<u32>,
    indexes: BTreeMap<SectionKind, Vec<u8>>,
    terms: Vec<Vec<u8>>,
}

/// Reads a bundle: `docs` and `chunks` always, and the other kinds that `want` names, where the bundle
/// has them. `fetch` brings the bytes of a section file.
///
/// # Errors
/// Those of [`Manifest::from_json`], [`SectionRef::open`], of `fetch` and of the decoders;
/// [`ErrorKind::Missing`] if the manifest does not list `docs` or `chunks`.
pub fn open_bundle<'b, B>(
    manifest_json: &[u8],
    want: &[SectionKind],
    mut fetch: impl FnMut(&SectionRef) -> Result<B>,
) -> Result<Bundle>
where
    B: Into<Cow<'b, [u8]>>,
{
    let mut bundle = open_sections(Manifest::from_json(manifest_json)?, want, &mut fetch)?;
    if want.contains(&SectionKind::Text) {
        let parts: Vec<SectionRef> = bundle.manifest.sections_of(SectionKind::Text).cloned().collect();
        for section in parts {
            let file: Cow<[u8]> = fetch(&section)?.into();
            bundle.add_text(&section.open(&file)?)?;
        }
    }
    Ok(bundle)
}

/// Reads the bundle of a manifest that was read already, as [`open_bundle`] does, but for the texts: they may follow
/// with [`Bundle::add_text`].
///
/// # Errors
/// Those of [`open_bundle`] but for the manifest's.
pub fn open_sections<'b, B>(
    manifest: Manifest,
    want: &[SectionKind],
    mut fetch: impl FnMut(&SectionRef) -> Result<B>,
) -> Result<Bundle>
where
    B: Into<Cow<'b, [u8]>>,
{
    let mut load = |section: &SectionRef| {
        let file: Cow<[u8]> = fetch(section)?.into();
        section.open(&file)
    };
    let listed = |kind: SectionKind| {
        manifest.section(kind).ok_or_else(|| kind.error(ErrorKind::Missing, "the manifest does not list it"))
    };

    let table = docs::decode(&load(listed(SectionKind::Docs)?)?)?;
    let chunks = chunks::decode(&load(listed(SectionKind::Chunks)?)?, &table.documents, &table.text_bytes)?;
    let text_total: u64 = table.text_bytes.iter().map(|n| u64::from(*n)).sum();
    let found = Counts { documents: table.documents.len() as u32, chunks: chunks.len() as u32, text_bytes: text_total };
    if found != manifest.counts {
        return Err(Error::new(ErrorKind::Corrupt, "the manifest's counts are not those of its sections"));
    }

    let mut payloads = Vec::new();
    for section in &manifest.sections {
        let apart = matches!(section.kind, SectionKind::Docs | SectionKind::Chunks | SectionKind::Text);
        if want.contains(&section.kind) && !apart {
            payloads.push((section.kind, load(section)?));
        }
    }
    let (documents, text_bytes) = (table.documents, table.text_bytes);
    let mut bundle = Bundle { manifest, documents, chunks, text_bytes, indexes: BTreeMap::new(), terms: Vec::new() };
    for (kind, payload) in payloads {
        match kind {
            SectionKind::Terms => bundle.terms.push(payload),
            _ => drop(bundle.indexes.insert(kind, payload)),
        }
    }
    Ok(bundle)
}

impl Bundle {
    /// The payload of an index section that was loaded: `lexical`, `vectors` or `graph`.
    pub fn index(&self, kind: SectionKind) -> Option<&[u8]> {
        self.indexes.get(&kind).map(Vec::as_slice)
    }

    /// Takes the payload of an index section out, so that its memory can be used otherwise.
    pub fn take_index(&mut self, kind: SectionKind) -> Option<Vec<u8>> {
        self.indexes.remove(&kind)
    }

    /// Takes the parts of the BM25 index's terms out, in their order.
    pub fn take_terms(&mut self) -> Vec<Vec<u8>> {
        std::mem::take(&mut self.terms)
    }

    /// Whether the text of `document` is there.
    pub fn has_text(&self, document: u32) -> bool {
        let at = document as usize;
        self.documents.get(at).zip(self.text_bytes.get(at)).is_some_and(|(d, n)| d.text.len() == *n as usize)
    }

    /// Adds the texts of one payload of kind `text`, after checking that sections and chunks start and
    /// end between characters.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`]; the bundle is then as it was before.
    pub fn add_text(&mut self, payload: &[u8]) -> Result<()> {
        let corrupt = |what: &str| SectionKind::Text.corrupt(what);
        let (first, texts) = text::decode(payload)?;
        let first = first as usize;
        let end = first
            .checked_add(texts.len())
            .filter(|end| *end <= self.documents.len())
            .ok_or_else(|| corrupt("it has more texts than there are documents"))?;
        let mut chunk = self.chunks.partition_point(|c| (c.doc as usize) < first);
        for (at, text) in (first..end).zip(&texts) {
            if text.len() != self.text_bytes[at] as usize {
                return Err(corrupt(&format!("the text of document {at} has another length than section `docs` says")));
            }
            docs::check_section_boundaries(text, &self.documents[at].sections).map_err(corrupt)?;
            while let Some(c) = self.chunks.get(chunk).filter(|c| c.doc as usize == at) {
                chunks::check_boundaries(text, c).map_err(corrupt)?;
                chunk += 1;
            }
        }
        for (document, text) in self.documents[first..end].iter_mut().zip(texts) {
            document.text = text.into();
        }
        identify_missing(&self.documents[..end], &mut self.chunks, first);
        Ok(())
    }
}

/// Gives the passages of the documents from `first` on, whose texts are there, the identities that are still unknown.
pub(crate) fn identify_missing(documents: &[Document], chunks: &mut [Chunk], first: usize) {
    let run = chunks.partition_point(|c| (c.doc as usize) < first)
        ..chunks.partition_point(|c| (c.doc as usize) < documents.len());
    for run in chunks.get_mut(run).unwrap_or_default().chunk_by_mut(|a, b| a.doc == b.doc) {
        let unknown = run.first().filter(|chunk| chunk.id == ChunkId::UNKNOWN);
        if let Some(document) = unknown.and_then(|chunk| documents.get(chunk.doc as usize)) {
            identify(document, &document.text, run);
        }
    }
}
