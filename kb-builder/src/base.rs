//! A knowledge base opened for searching on this machine.

use crate::embedding::query_service;
use crate::error::{Error, Result};
use crate::model::{self, ModelFolder};
use crate::site::{BUNDLE_DIR, MODEL_DIR};
use crate::source::encode_path;
use kb_core::bundle::{MANIFEST_FILE, Manifest, SectionKind, open_bundle, unpack};
use kb_core::embed::{Embedder, TextKind};
use kb_core::index::lexical::LexicalIndex;
use kb_core::index::vector::{Allowed, GRAPH_FROM, VectorIndex, VectorMethod};
use kb_core::search::{Explained, Hit, KnowledgeBase, Mode, Query, Response, VectorHit};
use std::borrow::Cow;
use std::path::{Path, PathBuf};

/// A bundle in memory.
pub struct Base {
    /// What the bundle says of itself.
    pub manifest: Manifest,
    /// Documents, passages, word index.
    pub knowledge: KnowledgeBase,
    /// Vectors, where the bundle has them and they were asked for.
    pub vectors: Option<VectorIndex>,
}

/// The bundle's folder for what an author may name: a site, the bundle's own folder, or a packed file.
enum Place {
    Folder(PathBuf),
    Packed(Vec<u8>),
}

impl Place {
    fn find(path: &Path) -> Result<Self> {
        for folder in [path.join(BUNDLE_DIR), path.to_path_buf()] {
            if folder.join(MANIFEST_FILE).is_file() {
                return Ok(Self::Folder(folder));
            }
        }
        if path.is_file() {
            return Ok(Self::Packed(std::fs::read(path).map_err(|e| Error::io("read", path, e))?));
        }
        Err(Error::failed(
            format!("{} is not a knowledge base: it has no {BUNDLE_DIR}/{MANIFEST_FILE}", path.display()),
            "name the folder that `kb-builder build` wrote",
        ))
    }
}

/// Reads the manifest of a site, a bundle's folder or a packed file.
pub fn manifest(path: &Path) -> Result<Manifest> {
    match Place::find(path)? {
        Place::Folder(folder) => {
            let file = folder.join(MANIFEST_FILE);
            let json = std::fs::read(&file).map_err(|e| Error::io("read", &file, e))?;
            Ok(Manifest::from_json(&json)?)
        }
        Place::Packed(bytes) => Ok(unpack(&bytes)?.manifest),
    }
}

impl Base {
    /// Opens a site, a bundle's folder or a packed file; `vectors` says whether the vector sections
    /// are read.
    pub fn open(path: &Path, vectors: bool) -> Result<Self> {
        let mut want = vec![SectionKind::Text, SectionKind::Lexical, SectionKind::Terms];
        if vectors {
            want.extend([SectionKind::Vectors, SectionKind::Graph]);
        }
        let mut bundle = match Place::find(path)? {
            Place::Folder(folder) => {
                let file = folder.join(MANIFEST_FILE);
                let json = std::fs::read(&file).map_err(|e| Error::io("read", &file, e))?;
                open_bundle(&json, &want, |section| {
                    let file = folder.join(&section.file);
                    std::fs::read(&file).map(Cow::Owned).map_err(|e: std::io::Error| {
                        kb_core::Error::new(kb_core::ErrorKind::Missing, format!("cannot read {}: {e}", file.display()))
                    })
                })?
            }
            Place::Packed(bytes) => {
                let packed = unpack(&bytes)?;
                open_bundle(packed.manifest_json, &want, |section| packed.file(section).map(Cow::Borrowed))?
            }
        };
        let missing = |kind: SectionKind| {
            kb_core::Error::new(kb_core::ErrorKind::Missing, format!("the bundle has no section `{}`", kind.name()))
        };
        let lexical = bundle.take_index(SectionKind::Lexical).ok_or_else(|| missing(SectionKind::Lexical))?;
        let vectors = match bundle.take_index(SectionKind::Vectors) {
            Some(payload) => {
                let mut index = VectorIndex::from_bytes(&payload)?;
                if let Some(graph) = bundle.take_index(SectionKind::Graph) {
                    index.load_graph(&graph)?;
                }
                Some(index)
            }
            None => None,
        };
        let mut lexical = LexicalIndex::from_bytes(lexical)?;
        for (part, payload) in bundle.take_terms().into_iter().enumerate() {
            lexical.add_part(part, payload)?;
        }
        let mut knowledge = KnowledgeBase::new(bundle.documents, bundle.chunks, lexical)?;
        knowledge.set_options(bundle.manifest.retrieval)?;
        knowledge.set_synonyms(&bundle.manifest.synonyms)?;
        Ok(Self { manifest: bundle.manifest, knowledge, vectors })
    }

    /// Looks for the nearest vectors in another way from now on. The graph can only be asked for where there is one.
    pub fn set_vector_method(&mut self, method: VectorMethod) -> Result<()> {
        let Some(index) = &mut self.vectors else { return Ok(()) };
        if method == VectorMethod::Graph && !index.has_graph() {
            return Err(Error::usage(
                "the knowledge base has no graph, so its vectors cannot be searched by one",
                format!("a build makes one from {GRAPH_FROM} passages on, unless kb.toml says `exact = true`"),
            ));
        }
        index.set_method(method);
        Ok(())
    }

    /// Answers a query; `question` is its vector where there is one.
    pub fn search(&self, query: &Query, question: Option<&[f32]>) -> Result<Response> {
        Ok(self.explain(query, question)?.response)
    }

    /// Answers a query with the vectors as they are, whatever they have in common: their cosines mean the same
    /// in every base, which is what relevance is judged by.
    pub fn search_plain(&self, query: &Query, question: Option<&[f32]>) -> Result<Response> {
        let hits = self.nearest(query, question, |index, question, k, filter| index.search(question, k, filter))?;
        Ok(self.knowledge.search(query, hits.as_deref())?)
    }

    /// Answers a query and says how.
    pub fn explain(&self, query: &Query, question: Option<&[f32]>) -> Result<Explained> {
        let lang = KnowledgeBase::language_of(&query.text);
        let hits =
            self.nearest(query, question, |index, question, k, filter| index.search_as(question, lang, k, filter))?;
        Ok(self.knowledge.explain(query, hits.as_deref())?)
    }

    /// The candidates of the vectors that the query admits, if there are vectors.
    fn nearest(
        &self,
        query: &Query,
        question: Option<&[f32]>,
        search: impl Fn(&VectorIndex, &[f32], usize, Allowed) -> kb_core::Result<Vec<VectorHit>>,
    ) -> Result<Option<Vec<VectorHit>>> {
        let hits = match (&self.vectors, question) {
            (Some(index), Some(question)) if query.mode != Mode::Lexical => {
                let allowed = self.knowledge.allowed(query);
                let admits = |chunk: u32| allowed.as_ref().is_none_or(|set| set.contains(chunk));
                let filter: Allowed = if allowed.is_some() { Some(&admits) } else { None };
                Some(search(index, question, self.knowledge.candidates(query), filter)?)
            }
            _ => None,
        };
        Ok(hits)
    }
}

/// What embeds questions.
pub type QueryEncoder = Box<dyn Embedder + Send + Sync>;

/// The encoder for a base's questions: by flag, from the site's own model folder, or where builds look.
/// A model other than the one that made the vectors is refused. `option` is what the flag is called. Where a service
/// made the vectors, it is asked for those of questions too.
pub fn query_encoder(site: &Path, manifest: &Manifest, option: &str, flag: Option<&Path>) -> Result<QueryEncoder> {
    let Some(info) = &manifest.model else {
        return Err(Error::failed(
            "the knowledge base was built without a model, so it has no vectors",
            "search with --mode lexical, or build it again with a model",
        ));
    };
    if info.service.is_some() && flag.is_none() {
        return Ok(Box::new(query_service(info)?));
    }
    let own = site.join(MODEL_DIR);
    let folder = match flag {
        None if own.join(model::FILES[0]).is_file() => own,
        _ => model::locate_as(option, flag, None)?,
    };
    let folder = ModelFolder::read(&folder)?;
    manifest.check_model(&folder.info)?;
    Ok(Box::new(folder.encoder()?))
}

/// The vector of a question.
pub fn embed_question(encoder: &dyn Embedder, question: &str) -> Result<Vec<f32>> {
    let vectors = encoder.embed(TextKind::Query, &[question])?;
    vectors
        .into_iter()
        .next()
        .ok_or_else(|| kb_core::Error::new(kb_core::ErrorKind::Model, "the encoder gave no vector").into())
}

/// Where a hit opens: its published address, or the reader view of the page, relative to the site.
pub fn address(hit: &Hit) -> String {
    if let Some(url) = &hit.url {
        return url.clone();
    }
    let document = encode_path(&format!("{}/{}", hit.collection, hit.path));
    let anchor = if hit.anchor.is_empty() { String::new() } else { format!("#{}", encode_path(&hit.anchor)) };
    format!("?doc={document}&p={}{anchor}", hit.chunk_id)
}
