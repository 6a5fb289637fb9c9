//! What goes back to JavaScript, in its own naming and its own units. `types.d.ts` declares the same.

use crate::utf16::{Utf16Cursor, Utf16Span};
use kb_core::answer::prompt::TemplateChanges;
use kb_core::bundle::{CollectionInfo, Manifest, SectionRef};
use kb_core::document::{Document, Lang};
use kb_core::search::{Hit, Mode, Response};
use serde::Serialize;

/// `Response` of `types.d.ts`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ResponseDto<'a> {
    hits: Vec<HitDto<'a>>,
    mode: Mode,
    lexical_candidates: usize,
    vector_candidates: usize,
    coverage: f32,
    unknown: f32,
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

/// `Hit` of `types.d.ts`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct HitDto<'a> {
    rank: usize,
    score: f32,
    #[serde(skip_serializing_if = "Option::is_none")]
    lexical_score: Option<f32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    vector_score: Option<f32>,
    chunk_id: &'a str,
    collection: &'a str,
    path: &'a str,
    title: &'a str,
    heading_path: &'a [String],
    anchor: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    lang: &'a str,
    kind: &'static str,
    excerpt: ExcerptDto<'a>,
}

/// `Excerpt` of `types.d.ts`.
#[derive(Serialize)]
pub(crate) struct ExcerptDto<'a> {
    text: &'a str,
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

/// `Section` of `types.d.ts`.
#[derive(Serialize)]
pub(crate) struct SectionDto<'a> {
    kind: &'static str,
    file: &'a str,
    bytes: u64,
    sha256: &'a str,
}

impl<'a> From<&'a SectionRef> for SectionDto<'a> {
    fn from(section: &'a SectionRef) -> Self {
        Self { kind: section.kind.name(), file: &section.file, bytes: section.bytes, sha256: &section.sha256 }
    }
}

/// `Info` of `types.d.ts`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct InfoDto<'a> {
    title: &'a str,
    language: &'a str,
    id: &'a str,
    chunks: u32,
    collections: &'a [CollectionInfo],
    documents: Vec<DocumentDto<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    vector_sections: Vec<SectionDto<'a>>,
    #[serde(skip_serializing_if = "TemplateChanges::is_empty")]
    templates: &'a TemplateChanges,
}

/// `DocumentInfo` of `types.d.ts`.
#[derive(Serialize)]
struct DocumentDto<'a> {
    index: usize,
    collection: &'a str,
    path: &'a str,
    title: &'a str,
    lang: Lang,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
}

impl<'a> InfoDto<'a> {
    pub(crate) fn new(
        manifest: &'a Manifest,
        documents: &'a [Document],
        vector_sections: impl Iterator<Item = &'a SectionRef>,
    ) -> Self {
        let documents = documents.iter().enumerate().map(|(index, document)| DocumentDto {
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
            model: manifest.model.as_ref().map(|model| model.name.as_str()),
            vector_sections: vector_sections.map(SectionDto::from).collect(),
            templates: &manifest.templates,
        }
    }
}

/// `DocumentText` of `types.d.ts`.
#[derive(Serialize)]
pub(crate) struct DocumentTextDto<'a> {
    text: &'a str,
    sections: Vec<HeadingDto<'a>>,
}

/// `Heading` of `types.d.ts`.
#[derive(Serialize)]
struct HeadingDto<'a> {
    level: u8,
    title: &'a str,
    anchor: &'a str,
    start: u32,
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
