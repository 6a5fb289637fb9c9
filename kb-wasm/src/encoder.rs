//! The second module: the model and the vectors. A question goes in, the passages near it come out.

use crate::error::{JsResult, to_js};
use js_sys::{Float32Array, Uint32Array};
use kb_core::bundle::{Manifest, SectionKind};
use kb_core::embed::{Embedder, ModelInfo, OnnxEncoder, TextKind};
use kb_core::index::vector::VectorIndex;
use kb_core::search::{ChunkSet, KnowledgeBase};
use kb_core::{Error, ErrorKind};
use std::cell::RefCell;
use std::rc::Rc;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// A model, which several knowledge bases may share, and the question that it was asked last.
struct Model {
    /// None where a service has the model.
    encoder: Option<OnnxEncoder>,
    last: RefCell<Option<(String, Vec<f32>)>>,
}

/// The model of a knowledge base and the vectors that it made.
#[wasm_bindgen]
pub struct Encoder {
    manifest: Manifest,
    model: Option<Rc<Model>>,
    vectors: Option<VectorIndex>,
    graph: Option<Vec<u8>>,
}

#[wasm_bindgen]
impl Encoder {
    /// An encoder for the knowledge base with this `manifest.json`; it still needs the sections
    /// `vectors` and, where there is one, `graph`, and the model.
    ///
    /// # Errors
    /// Throws a `KbError` for a manifest that cannot be used.
    #[wasm_bindgen(constructor)]
    pub fn new(manifest: &[u8]) -> JsResult<Encoder> {
        let manifest = Manifest::from_json(manifest).map_err(to_js)?;
        Ok(Self { manifest, model: None, vectors: None, graph: None })
    }

    /// Takes the bytes of a section file that the manifest names, in any order.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::corrupt` for bytes that are not that file, `kb::invalid_input` for a
    /// file that is not of use here.
    #[wasm_bindgen(js_name = addSection)]
    pub fn add_section(&mut self, file: &str, bytes: Vec<u8>) -> JsResult<()> {
        self.add(file, &bytes).map_err(to_js)
    }

    /// Loads the model from the bytes of `model.onnx`, `tokenizer.json` and `model.json`.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::model` if the files cannot be used, `kb::model_mismatch` if the
    /// knowledge base was built with another model.
    pub fn load(
        &mut self,
        onnx: &[u8],
        tokenizer: &[u8],
        #[wasm_bindgen(js_name = modelJson)] model_json: &str,
    ) -> JsResult<()> {
        let info: ModelInfo = serde_json::from_str(model_json)
            .map_err(|e| to_js(Error::new(ErrorKind::Model, format!("model.json cannot be read ({e})"))))?;
        let model = OnnxEncoder::load(onnx, tokenizer, info).map_err(to_js)?;
        self.manifest.check_model(model.info()).map_err(to_js)?;
        self.model = Some(Rc::new(Model { encoder: Some(model), last: RefCell::default() }));
        Ok(())
    }

    /// Takes the vector of a question from the service that has the model, see `EmbeddingService`; then `candidates`
    /// knows this question, until it is told of another.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::model_mismatch` for a vector of another length than the knowledge base's.
    pub fn know(&mut self, question: &str, vector: Vec<f32>) -> JsResult<()> {
        let dim = self.manifest.model.as_ref().map_or(0, |m| m.dim);
        if vector.len() != dim {
            let what = format!("a vector of {} numbers where the knowledge base has {dim}", vector.len());
            return Err(to_js(Error::new(ErrorKind::ModelMismatch, what)));
        }
        let last = RefCell::new(Some((question.to_owned(), vector)));
        self.model = Some(Rc::new(Model { encoder: None, last }));
        Ok(())
    }

    /// Whether `candidates` can do without a model for this question, see `know`.
    pub fn knows(&self, question: &str) -> bool {
        let known = |model: &Rc<Model>| model.last.borrow().as_ref().is_some_and(|(asked, _)| asked == question);
        self.model.as_ref().is_some_and(known)
    }

    /// Takes the model that another knowledge base has loaded, in place of `load`. It is in memory once.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::missing` if the other one has none, `kb::model_mismatch` if this knowledge base was
    /// built with another model.
    pub fn share(&mut self, other: &Encoder) -> JsResult<()> {
        let model = other.model.clone().ok_or_else(|| to_js(missing("the model")))?;
        let encoder = model.encoder.as_ref().ok_or_else(|| to_js(missing("the model")))?;
        self.manifest.check_model(encoder.info()).map_err(to_js)?;
        self.model = Some(model);
        Ok(())
    }

    /// The vector of a question: unit length, as many numbers as the model gives.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::missing` before `load`.
    pub fn embed(&self, text: &str) -> JsResult<Float32Array> {
        Ok(Float32Array::from(self.question(text).map_err(to_js)?.as_slice()))
    }

    /// The cosine of a question and each of these texts, for example the sentences of a passage.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::missing` before `load`.
    pub fn similarities(&self, question: &str, texts: Vec<String>) -> JsResult<Float32Array> {
        let question = self.question(question).map_err(to_js)?;
        let encoder = self.encoder().map_err(to_js)?;
        let mut out = Vec::with_capacity(texts.len());
        for text in &texts {
            let vector = encoder.embed_one(TextKind::Passage, text).map_err(to_js)?;
            out.push(vector.iter().zip(&question).map(|(a, b)| a * b).sum::<f32>());
        }
        Ok(Float32Array::from(out.as_slice()))
    }

    /// The `k` passages nearest to a question, best first. `allowed` is what `KnowledgeBase.allowed`
    /// returned: one bit a chunk. With `plain` the vectors are compared as they are, whatever they have in common:
    /// such cosines mean the same in every base, and relevance is judged by them.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::missing` before the model and the vectors are there.
    #[wasm_bindgen(unchecked_return_type = "Candidates")]
    pub fn candidates(&self, text: &str, k: u32, allowed: Option<Vec<u8>>, plain: Option<bool>) -> JsResult<JsValue> {
        let found = self.nearest(text, k as usize, allowed, plain.unwrap_or_default());
        let (ids, scores) = found.map_err(to_js)?;
        let out = js_sys::Object::new();
        // Setting a property of a fresh object cannot fail.
        let _ = js_sys::Reflect::set(&out, &"ids".into(), &Uint32Array::from(ids.as_slice()));
        let _ = js_sys::Reflect::set(&out, &"scores".into(), &Float32Array::from(scores.as_slice()));
        Ok(out.into())
    }
}

impl Encoder {
    fn add(&mut self, file: &str, bytes: &[u8]) -> Result<(), Error> {
        let section = crate::section_of(&self.manifest, file)?;
        match section.kind {
            SectionKind::Vectors => self.vectors = Some(VectorIndex::from_bytes(&section.open(bytes)?)?),
            SectionKind::Graph => self.graph = Some(section.open(bytes)?),
            other => {
                let what = format!("section `{}` belongs to the search module", other.name());
                return Err(Error::new(ErrorKind::InvalidInput, what));
            }
        }
        // A graph can only be checked against its vectors.
        if let (Some(vectors), Some(graph)) = (&mut self.vectors, &self.graph) {
            vectors.load_graph(graph)?;
            self.graph = None;
        }
        Ok(())
    }

    fn encoder(&self) -> Result<&OnnxEncoder, Error> {
        self.model.as_ref().and_then(|model| model.encoder.as_ref()).ok_or_else(|| missing("the model"))
    }

    fn question(&self, text: &str) -> Result<Vec<f32>, Error> {
        let model = self.model.as_ref().ok_or_else(|| missing("the model"))?;
        // Several knowledge bases are asked the same, one after the other.
        if let Some((_, vector)) = model.last.borrow().as_ref().filter(|(asked, _)| asked == text) {
            return Ok(vector.clone());
        }
        let vector = self.encoder()?.embed_one(TextKind::Query, text)?;
        *model.last.borrow_mut() = Some((text.to_owned(), vector.clone()));
        Ok(vector)
    }

    fn nearest(
        &self,
        text: &str,
        k: usize,
        allowed: Option<Vec<u8>>,
        plain: bool,
    ) -> Result<(Vec<u32>, Vec<f32>), Error> {
        let vectors = self.vectors.as_ref().ok_or_else(|| missing("the section `vectors`"))?;
        let question = self.question(text)?;
        let allowed = allowed.map(|bits| ChunkSet::from_bytes(&bits, vectors.len()));
        let contains = allowed.as_ref().map(|set| move |chunk: u32| set.contains(chunk));
        let contains = contains.as_ref().map(|f| f as &dyn Fn(u32) -> bool);
        let hits = if plain {
            vectors.search(&question, k, contains)?
        } else {
            vectors.search_as(&question, KnowledgeBase::language_of(text), k, contains)?
        };
        Ok(hits.into_iter().map(|hit| (hit.chunk, hit.score)).unzip())
    }
}

fn missing(what: &str) -> Error {
    Error::new(ErrorKind::Missing, format!("{what} has not been loaded"))
}
