//! What goes back to JavaScript, in its own naming and its own units. `types.d.ts` is written from these.

use crate::utf16::{Utf16Cursor, Utf16Span};
use kb_core::answer::prompt::TemplateChanges;
use kb_core::bundle::{CollectionInfo, Manifest, SectionRef};
use kb_core::document::{Document, Lang};
use kb_core::search::{Hit, KnowledgeBase, Mode, Response};
use serde::Serialize;

/// What a search found.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Response"))]
pub(crate) struct ResponseDto<'a> {
    /// Best first.
    hits: Vec<HitDto<'a>>,
    /// Which lists answered: `lexical` for a hybrid query that came without candidates.
    mode: Mode,
    /// Passages that hold one of the query's terms.
    lexical_candidates: usize,
    /// Passages that the vectors proposed.
    vector_candidates: usize,
    /// Share of the question's words, by rarity, that the passage with most of them has, 0 to 1.
    coverage: f32,
    /// Share of the question's words, weighted by rarity, that stand nowhere in the base: 0 to 1.
    unknown: f32,
    /// Files of text that must be added before every excerpt can be shown.
    missing: Vec<&'a str>,
}

impl<'a> ResponseDto<'a> {
    pub(crate) fn new(response: &'a Response, missing: Vec<&'a str>) -> Self {
        Self {
            hits: response.hits.iter().map(HitDto::from).collect(),
            mode: response.mode,
            lexical_candidates: response.lexical_candidates,
            vector_candidates: response.vector_candidates,
            coverage: response.coverage,
            unknown: response.unknown,
            missing,
        }
    }
}

/// A passage that was found.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Hit"))]
pub(crate) struct HitDto<'a> {
    /// 1 for the best.
    rank: usize,
    /// What the order goes by; larger is better, and comparable within one response only.
    score: f32,
    /// BM25 score, if the words matched.
    #[serde(skip_serializing_if = "Option::is_none")]
    lexical_score: Option<f32>,
    /// Cosine, if the vectors proposed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    vector_score: Option<f32>,
    /// Stable id of the passage, 16 hex digits.
    chunk_id: &'a str,
    /// Collection of the document.
    collection: &'a str,
    /// Path of the document in its collection.
    path: &'a str,
    /// Title of the document.
    title: &'a str,
    /// Headings from the outermost to the passage's own.
    heading_path: &'a [String],
    /// Fragment identifier of the passage's heading, may be empty.
    anchor: &'a str,
    /// Where the source can be opened, fragment included.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    /// Language code of the document.
    lang: &'a str,
    /// What sort of passage it is: `text`, `concept`, `steps`, `parameters`, `warning`, `code`, `table`, …
    kind: &'static str,
    /// What to show of it.
    excerpt: ExcerptDto<'a>,
}

/// A piece of a passage.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Excerpt"))]
pub(crate) struct ExcerptDto<'a> {
    /// Plain text; empty while the document's text is not loaded, see `Response.missing`.
    text: &'a str,
    /// What to mark, in order, not overlapping.
    marks: Vec<Utf16Span>,
}

impl<'a> From<&'a Hit> for HitDto<'a> {
    fn from(hit: &'a Hit) -> Self {
        let mut cursor = Utf16Cursor::new(&hit.excerpt.text);
        let marks = hit.excerpt.marks_bytes.iter().map(|range| cursor.span(range)).collect();
        Self {
            rank: hit.rank,
            score: hit.score,
            lexical_score: hit.lexical_score,
            vector_score: hit.vector_score,
            chunk_id: &hit.chunk_id,
            collection: &hit.collection,
            path: &hit.path,
            title: &hit.title,
            heading_path: &hit.heading_path,
            anchor: &hit.anchor,
            url: hit.url.as_deref(),
            lang: &hit.lang,
            kind: hit.kind.name(),
            excerpt: ExcerptDto { text: &hit.excerpt.text, marks },
        }
    }
}

/// A file of the bundle.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Section"))]
pub(crate) struct SectionDto<'a> {
    /// What it holds.
    #[cfg_attr(test, schemars(with = "crate::types::SectionKinds"))]
    kind: &'static str,
    /// Name of the file beside the manifest.
    file: &'a str,
    /// Its size.
    bytes: u64,
    /// SHA-256 of the file in hex.
    sha256: &'a str,
}

impl<'a> From<&'a SectionRef> for SectionDto<'a> {
    fn from(section: &'a SectionRef) -> Self {
        Self { kind: section.kind.name(), file: &section.file, bytes: section.bytes, sha256: &section.sha256 }
    }
}

/// What a knowledge base is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Info"))]
pub(crate) struct InfoDto<'a> {
    /// Its name, may be empty.
    title: &'a str,
    /// Main language as a code, may be empty.
    language: &'a str,
    /// Changes whenever answers may change.
    id: &'a str,
    /// How many passages it has.
    chunks: u32,
    /// Its collections.
    collections: &'a [CollectionInfo],
    /// Its documents.
    documents: Vec<DocumentDto<'a>>,
    /// Its documents' tags and how many documents have each, the most frequent first, 50 at most.
    tags: Vec<TagDto>,
    /// Name of the model that searching by meaning needs; none for a base without vectors.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    /// What the encoder module needs of this base.
    vector_sections: Vec<SectionDto<'a>>,
    /// What the author replaces of the words that a language model gets; for `Answer`.
    #[serde(skip_serializing_if = "TemplateChanges::is_empty")]
    templates: &'a TemplateChanges,
}

/// A tag of a knowledge base's documents.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "TagInfo"))]
pub(crate) struct TagDto {
    /// The tag.
    name: String,
    /// How many documents have it.
    documents: usize,
}

/// A document of a knowledge base.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "DocumentInfo"))]
pub(crate) struct DocumentDto<'a> {
    /// For `document()`.
    index: usize,
    /// Collection of the document.
    collection: &'a str,
    /// Path of the document in its collection.
    path: &'a str,
    /// Its title.
    title: &'a str,
    /// Code of its main language.
    #[cfg_attr(test, schemars(with = "String"))]
    lang: Lang,
    /// Where the author says it is published.
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
}

impl<'a> InfoDto<'a> {
    pub(crate) fn new(
        manifest: &'a Manifest,
        base: &'a KnowledgeBase,
        vector_sections: impl Iterator<Item = &'a SectionRef>,
    ) -> Self {
        let tags = base.tags().into_iter().map(|(name, documents)| TagDto { name, documents }).collect();
        let documents = base.documents().iter().enumerate().map(|(index, document)| DocumentDto {
            index,
            collection: &document.collection,
            path: &document.path,
            title: &document.title,
            lang: document.lang,
            url: document.url.as_deref(),
        });
        Self {
            title: &manifest.title,
            language: &manifest.language,
            id: &manifest.id,
            chunks: manifest.counts.chunks,
            collections: &manifest.collections,
            documents: documents.collect(),
            tags,
            model: manifest.model.as_ref().map(|model| model.name.as_str()),
            vector_sections: vector_sections.map(SectionDto::from).collect(),
            templates: &manifest.templates,
        }
    }
}

/// The text of a document.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "DocumentText"))]
pub(crate) struct DocumentTextDto<'a> {
    /// Markdown.
    text: &'a str,
    /// Its headings, in order.
    sections: Vec<HeadingDto<'a>>,
}

/// A heading of a document.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Heading"))]
pub(crate) struct HeadingDto<'a> {
    /// 1 to 6.
    level: u8,
    /// Plain text.
    title: &'a str,
    /// Fragment identifier.
    anchor: &'a str,
    /// First UTF-16 unit of the heading.
    start: u32,
    /// One past the last unit of what is under it, up to the next heading.
    end: u32,
}

impl<'a> From<&'a Document> for DocumentTextDto<'a> {
    fn from(document: &'a Document) -> Self {
        let mut cursor = Utf16Cursor::new(&document.text);
        let sections = document.sections.iter().map(|section| {
            let Utf16Span { start, end } = cursor.span(&section.span_bytes);
            HeadingDto { level: section.level, title: &section.title, anchor: &section.anchor, start, end }
        });
        Self { sections: sections.collect(), text: &document.text }
    }
}
