//! The first module: a knowledge base that searches by words, takes the encoder's candidates, and hands
//! out documents.

use crate::dto::{DocumentTextDto, InfoDto, ResponseDto, SectionDto};
use crate::error::{JsResult, bad_argument, to_js};
use crate::utf16::Utf16Cursor;
use js_sys::Uint8Array;
use kb_core::bundle::{self, Manifest, ManifestProbe, SectionKind, SectionRef};
use kb_core::chunk::Chunk;
use kb_core::document::Document;
use kb_core::index::lexical::LexicalIndex;
use kb_core::search::{self, Query, VectorHit};
use kb_core::{Error, ErrorKind};
use serde::Serialize;
use wasm_bindgen::JsCast as _;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// What the encoder module reads; everything else belongs here.
const VECTOR_SECTIONS: [SectionKind; 2] = [SectionKind::Vectors, SectionKind::Graph];

/// A knowledge base: first its parts are added, then it answers.
#[wasm_bindgen]
pub struct KnowledgeBase {
    manifest: Manifest,
    /// Section files by name, until `finish` reads them.
    files: Vec<(String, Vec<u8>)>,
    base: Option<search::KnowledgeBase>,
}

#[wasm_bindgen]
impl KnowledgeBase {
    /// The knowledge base with this `manifest.json`. `sections` says what it consists of.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::not_a_bundle`, `kb::newer_format`, `kb::corrupt`, `kb::too_large`.
    #[wasm_bindgen(constructor)]
    pub fn new(manifest: Vec<u8>) -> JsResult<KnowledgeBase> {
        let manifest = read_manifest(&manifest).map_err(to_js)?;
        Ok(Self { manifest, files: Vec::new(), base: None })
    }

    /// The section files that the manifest names.
    ///
    /// # Errors
    /// None; the type comes from the serialiser.
    #[wasm_bindgen(unchecked_return_type = "Section[]")]
    pub fn sections(&self) -> JsResult<JsValue> {
        serialise(&self.manifest.sections.iter().map(SectionDto::from).collect::<Vec<_>>())
    }

    /// Takes the bytes of a section file: `docs`, `chunks` and `lexical` before `finish`, `text` before or
    /// after it, `terms` after it.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::corrupt` for bytes that are not that file, `kb::invalid_input` for a name
    /// that the manifest does not know.
    #[wasm_bindgen(js_name = addSection)]
    pub fn add_section(&mut self, file: &str, bytes: Vec<u8>) -> JsResult<()> {
        self.add(file, bytes).map_err(to_js)
    }

    /// Puts the parts together; from here on it answers.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::missing` without `docs`, `chunks` or `lexical`, `kb::corrupt` for parts
    /// that are damaged or do not belong together.
    pub fn finish(&mut self) -> JsResult<()> {
        self.put_together().map_err(to_js)
    }

    /// Whether `finish` has succeeded.
    #[wasm_bindgen(getter)]
    pub fn ready(&self) -> bool {
        self.base.is_some()
    }

    /// What the knowledge base says of itself.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::missing` before `finish`.
    #[wasm_bindgen(unchecked_return_type = "Info")]
    pub fn info(&self) -> JsResult<JsValue> {
        let vectors = self.manifest.sections.iter().filter(|section| VECTOR_SECTIONS.contains(&section.kind));
        serialise(&InfoDto::new(&self.manifest, self.base()?, vectors))
    }

    /// Answers a query: by words, or by words and meaning together with what `Encoder.candidates` gave.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::invalid_input` for an empty question, `k` out of range or lists of
    /// unequal length; `kb::missing` before `finish`.
    #[wasm_bindgen(unchecked_return_type = "Response")]
    pub fn search(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Query")] query: JsValue,
        ids: Option<Vec<u32>>,
        scores: Option<Vec<f32>>,
    ) -> JsResult<JsValue> {
        let query = read_query(query)?;
        let vectors = pair(ids, scores).map_err(to_js)?;
        let base = self.base()?;
        let response = base.search(&query, vectors.as_deref()).map_err(to_js)?;
        let without_text = response.hits.iter().filter_map(|hit| base.chunks().get(hit.chunk as usize));
        let mut missing: Vec<&str> =
            without_text.filter(|c| !base.has_text(c.doc)).filter_map(|c| self.file_of(c.doc)).collect();
        missing.sort_unstable();
        missing.dedup();
        serialise(&ResponseDto::new(&response, missing))
    }

    /// Which of the `terms` sections, counted from 0, the last search would have read and have not come: what it found is
    /// not all. When they are added, the same search may want others; when it wants none, its result is final.
    #[wasm_bindgen(js_name = wantedTerms)]
    pub fn wanted_terms(&self) -> Vec<u32> {
        self.base.as_ref().map_or_else(Vec::new, |base| base.lexical_index().wanted())
    }

    /// The passages that the query's collections and filters admit, one bit a passage, lowest first;
    /// nothing if all are.
    ///
    /// # Errors
    /// Throws a `KbError` for a query of the wrong shape, or before `finish`.
    pub fn allowed(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Query")] query: JsValue,
    ) -> JsResult<Option<Uint8Array>> {
        let set = self.base()?.allowed(&read_query(query)?);
        Ok(set.map(|set| Uint8Array::from(set.to_bytes().as_slice())))
    }

    /// How many candidates `Encoder.candidates` should give for a query.
    ///
    /// # Errors
    /// Throws a `KbError` for a query of the wrong shape, or before `finish`.
    #[wasm_bindgen(js_name = candidateCount)]
    pub fn candidate_count(&self, #[wasm_bindgen(unchecked_param_type = "Query")] query: JsValue) -> JsResult<u32> {
        let count = self.base()?.candidates(&read_query(query)?);
        Ok(u32::try_from(count).unwrap_or(u32::MAX))
    }

    /// The section file that holds a document's text and has not been added; nothing if the text is
    /// there.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::missing` before `finish`.
    #[wasm_bindgen(js_name = missingText)]
    pub fn missing_text(&self, document: u32) -> JsResult<Option<String>> {
        let has_text = self.base()?.has_text(document);
        Ok((!has_text).then(|| self.file_of(document)).flatten().map(str::to_owned))
    }

    /// The text of a document and its headings.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::invalid_input` if there is no such document, `kb::missing` if its text
    /// has not been added.
    #[wasm_bindgen(unchecked_return_type = "DocumentText")]
    pub fn document(&self, document: u32) -> JsResult<JsValue> {
        let base = self.base()?;
        serialise(&DocumentTextDto::from(self.readable(base, document)?))
    }

    /// The range of a passage in the text of its document, by its id; nothing if the document has no such
    /// passage.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::invalid_input` if there is no such document, `kb::missing` if its text
    /// has not been added.
    #[wasm_bindgen(unchecked_return_type = "Span | undefined")]
    pub fn passage(&self, document: u32, #[wasm_bindgen(js_name = chunkId)] chunk_id: &str) -> JsResult<JsValue> {
        let base = self.base()?;
        let text = &self.readable(base, document)?.text;
        let is_it = |chunk: &&Chunk| chunk.doc == document && u64::from_str_radix(chunk_id, 16) == Ok(chunk.id.0);
        let Some(chunk) = base.chunks().iter().find(is_it) else {
            return Ok(JsValue::UNDEFINED);
        };
        let range = chunk.span_bytes.start as usize..chunk.span_bytes.end as usize;
        serialise(&Utf16Cursor::new(text).span(&range))
    }
}

impl KnowledgeBase {
    fn base(&self) -> JsResult<&search::KnowledgeBase> {
        self.base.as_ref().ok_or_else(|| to_js(missing("the knowledge base's index")))
    }

    /// A document whose text is there.
    fn readable<'a>(&self, base: &'a search::KnowledgeBase, document: u32) -> JsResult<&'a Document> {
        let found = base
            .documents()
            .get(document as usize)
            .ok_or_else(|| to_js(Error::new(ErrorKind::InvalidInput, format!("there is no document {document}"))))?;
        if base.has_text(document) { Ok(found) } else { Err(to_js(missing(&format!("the text of {}", found.path)))) }
    }

    /// The file that holds the text of `document`.
    fn file_of(&self, document: u32) -> Option<&str> {
        self.manifest.text_section(document).map(|section| section.file.as_str())
    }

    fn add(&mut self, file: &str, bytes: Vec<u8>) -> Result<(), Error> {
        let section = crate::section_of(&self.manifest, file)?;
        if VECTOR_SECTIONS.contains(&section.kind) {
            let what = format!("section `{}` belongs to the encoder module", section.kind.name());
            return Err(Error::new(ErrorKind::InvalidInput, what));
        }
        match &mut self.base {
            Some(base) if section.kind == SectionKind::Text => add_texts(base, section, &bytes),
            Some(base) if section.kind == SectionKind::Terms => {
                let part = self.manifest.sections_of(SectionKind::Terms).position(|s| s.file == file);
                base.lexical_index_mut().add_part(part.unwrap_or_default(), section.open(&bytes)?)
            }
            Some(_) => Ok(()), // it is part of the base already
            None => {
                self.files.retain(|(name, _)| name != file);
                self.files.push((file.to_owned(), bytes));
                Ok(())
            }
        }
    }

    fn put_together(&mut self) -> Result<(), Error> {
        let files = std::mem::take(&mut self.files);
        let file_of = |section: &SectionRef| {
            files.iter().find(|(name, _)| *name == section.file).map(|(_, bytes)| bytes.as_slice())
        };
        let fetch = |section: &SectionRef| file_of(section).ok_or_else(|| missing(&section.file));
        let mut bundle = bundle::open_sections(self.manifest.clone(), &[SectionKind::Lexical], fetch)?;
        let lexical = bundle.take_index(SectionKind::Lexical).ok_or_else(|| missing("the section `lexical`"))?;
        let mut base = search::KnowledgeBase::new(bundle.documents, bundle.chunks, LexicalIndex::from_bytes(lexical)?)?;
        base.set_options(self.manifest.retrieval)?;
        base.set_synonyms(&self.manifest.synonyms)?;
        // Other parts of the text may follow later.
        for section in self.manifest.sections_of(SectionKind::Text) {
            if let Some(file) = file_of(section) {
                add_texts(&mut base, section, file)?;
            }
        }
        self.base = Some(base);
        Ok(())
    }
}

fn add_texts(base: &mut search::KnowledgeBase, section: &SectionRef, file: &[u8]) -> Result<(), Error> {
    let payload = section.open(file)?;
    let (first, texts) = bundle::text::decode(&payload)?;
    base.add_texts(first, &texts)
}

/// Reads a manifest with the browser's own parser of JSON: one of ours would be a tenth of this module.
fn read_manifest(bytes: &[u8]) -> Result<Manifest, Error> {
    Manifest::check_length(bytes.len())?;
    let begins = bytes.trim_ascii_start().first() == Some(&b'{');
    let text = std::str::from_utf8(bytes).map_err(|e| Manifest::not_a_manifest(begins, &e.to_string()))?;
    let parsed = js_sys::JSON::parse(text).map_err(|e| {
        let why = e.dyn_ref::<js_sys::Error>().map_or_else(String::new, |e| String::from(e.message()));
        Manifest::not_a_manifest(begins, &why)
    })?;
    let probe: ManifestProbe =
        serde_wasm_bindgen::from_value(parsed.clone()).map_err(|e| Manifest::not_a_manifest(false, &e.to_string()))?;
    Manifest::from_parsed(probe, || serde_wasm_bindgen::from_value(parsed).map_err(|e| e.to_string()))
}

fn serialise(value: &impl Serialize) -> JsResult<JsValue> {
    // Only maps with odd keys or numbers beyond 2^53 can fail, and there are none.
    Ok(serde_wasm_bindgen::to_value(value)?)
}

fn read_query(query: JsValue) -> JsResult<Query> {
    serde_wasm_bindgen::from_value(query).map_err(|e| bad_argument("the query", e))
}

/// Ids and scores as candidates; `None` if neither is there.
fn pair(ids: Option<Vec<u32>>, scores: Option<Vec<f32>>) -> Result<Option<Vec<VectorHit>>, Error> {
    let (Some(ids), Some(scores)) = (ids, scores) else { return Ok(None) };
    if ids.len() != scores.len() {
        let what = format!("{} candidates came with {} scores", ids.len(), scores.len());
        return Err(Error::new(ErrorKind::InvalidInput, what));
    }
    Ok(Some(ids.into_iter().zip(scores).map(|(chunk, score)| VectorHit { chunk, score }).collect()))
}

fn missing(what: &str) -> Error {
    Error::new(ErrorKind::Missing, format!("{what} has not been loaded"))
}
