//! Section `docs`: the documents without their text. Encoder and decoder side by side.

use super::codec;
use super::frame::SectionKind;
use super::meta::{self, MetaItem};
use crate::document::{Document, Lang, Section};
use crate::{ErrorKind, Result};
use serde::{Deserialize, Serialize};

const KIND: SectionKind = SectionKind::Docs;

/// Documents as the section `docs` holds them: `text` is empty until its part is loaded.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentTable {
    /// In bundle order; a chunk's `doc` is an index into it.
    pub documents: Vec<Document>,
    /// Length of each document's text in bytes, known before the text is there.
    pub text_bytes: Vec<u32>,
}

#[derive(Serialize, Deserialize)]
struct DocWire<'a> {
    path: &'a str,
    collection: &'a str,
    title: &'a str,
    lang: u8,
    url: Option<&'a str>,
    text_bytes: u32,
    #[serde(borrow)]
    sections: Vec<SectionWire<'a>>,
    #[serde(borrow)]
    metadata: Vec<MetaItem<'a>>,
}

#[derive(Serialize, Deserialize)]
struct SectionWire<'a> {
    level: u8,
    title: &'a str,
    anchor: &'a str,
    /// Bytes between the end of the section before and the start of this one; nearly always 0.
    gap: u32,
    bytes: u32,
    /// How many sections before this one its parent stands; 0 for none.
    parent_back: u32,
}

/// How an anchor is stored from format version 5 on: what stands behind the one that the title gives, or `=` and the
/// anchor itself.
fn short_anchor(section: &Section) -> String {
    match section.anchor.strip_prefix(&usual_anchor(&section.title)) {
        Some(rest) if !rest.starts_with('=') => rest.to_owned(),
        _ => format!("={}", section.anchor),
    }
}

/// Very nearly what GitHub makes of a heading. It is part of the format, so it must give the same for ever and knows no
/// table of Unicode: a title that needs one has its anchor beside it.
fn usual_anchor(title: &str) -> String {
    let kept = title.trim_ascii().chars().filter_map(|c| match c {
        ' ' => Some('-'),
        '-' | '_' => Some(c),
        _ if c.is_ascii() => c.is_ascii_alphanumeric().then(|| c.to_ascii_lowercase()),
        // General and Chinese punctuation, and that of full width.
        '\u{2000}'..='\u{206F}' | '\u{3000}'..='\u{303F}' | '\u{FF00}'..='\u{FF20}' => None,
        _ => Some(c),
    });
    kept.collect()
}

/// The payload of section `docs`.
///
/// # Errors
/// [`ErrorKind::InvalidInput`] for sections out of order, out of the text or off a character boundary,
/// for a parent that does not precede, and for metadata nested too deeply.
pub fn encode(documents: &[Document]) -> Result<Vec<u8>> {
    let mut wire = Vec::with_capacity(documents.len());
    for document in documents {
        let invalid = |what: &str| KIND.error(ErrorKind::InvalidInput, format!("{}: {what}", document.path));
        let text_bytes = u32::try_from(document.text.len()).map_err(|_| invalid("the text is over 4 GiB"))?;
        check_sections(&document.sections, text_bytes).map_err(&invalid)?;
        check_section_boundaries(&document.text, &document.sections).map_err(&invalid)?;
        let mut end = 0;
        let sections = document.sections.iter().enumerate().map(|(i, section)| {
            let span = &section.span_bytes;
            let gap = (span.start - end) as u32;
            end = span.end;
            SectionWire {
                level: section.level,
                title: &section.title,
                anchor: "",
                gap,
                bytes: (span.end - span.start) as u32,
                parent_back: section.parent.map_or(0, |p| (i - p) as u32),
            }
        });
        wire.push(DocWire {
            path: &document.path,
            collection: &document.collection,
            title: &document.title,
            lang: lang_code(document.lang),
            url: document.url.as_deref(),
            text_bytes,
            sections: sections.collect(),
            metadata: meta::flatten(&document.metadata).map_err(invalid)?,
        });
    }
    let mut payload = codec::encode(KIND, &wire)?;
    // In a column of their own: from format version 5 on `anchor` is empty.
    let anchors: Vec<String> = documents.iter().flat_map(|d| &d.sections).map(short_anchor).collect();
    payload.extend(codec::encode(KIND, &anchors)?);
    Ok(payload)
}

/// Reads the payload of section `docs`. Everything but character boundaries is checked here; those
/// are checked when the text comes.
///
/// # Errors
/// [`ErrorKind::Corrupt`].
pub fn decode(payload: &[u8]) -> Result<DocumentTable> {
    let (wire, rest): (Vec<DocWire>, _) = codec::decode_first(KIND, payload)?;
    // Bundles up to version 4 end here.
    let anchors: Option<Vec<&str>> = if rest.is_empty() { None } else { Some(codec::decode(KIND, rest)?) };
    let mut anchors = anchors.map(Vec::into_iter);
    let mut table =
        DocumentTable { documents: Vec::with_capacity(wire.len()), text_bytes: Vec::with_capacity(wire.len()) };
    for document in wire {
        let corrupt = |what: &str| KIND.corrupt(format!("{}: {what}", document.path));
        let mut end = 0usize;
        let mut sections = Vec::with_capacity(document.sections.len());
        for (i, section) in document.sections.iter().enumerate() {
            let start = end.saturating_add(section.gap as usize);
            end = start.saturating_add(section.bytes as usize);
            let parent = match section.parent_back as usize {
                0 => None,
                back => Some(i.checked_sub(back).ok_or_else(|| corrupt("a section's parent is not there"))?),
            };
            let anchor = match &mut anchors {
                None => section.anchor.into(),
                Some(column) => {
                    let short = column.next().ok_or_else(|| corrupt("it has fewer anchors than sections"))?;
                    short.strip_prefix('=').map_or_else(|| usual_anchor(section.title) + short, Into::into)
                }
            };
            sections.push(Section {
                level: section.level,
                title: section.title.into(),
                anchor,
                span_bytes: start..end,
                parent,
            });
        }
        check_sections(&sections, document.text_bytes).map_err(corrupt)?;
        table.text_bytes.push(document.text_bytes);
        table.documents.push(Document {
            path: document.path.into(),
            collection: document.collection.into(),
            title: document.title.into(),
            lang: lang_from_code(document.lang).ok_or_else(|| corrupt("unknown language code"))?,
            url: document.url.map(Into::into),
            text: String::new(),
            sections,
            metadata: meta::unflatten(&document.metadata).map_err(corrupt)?,
        });
    }
    if anchors.is_some_and(|mut column| column.next().is_some()) {
        return Err(KIND.corrupt("it has more anchors than sections"));
    }
    Ok(table)
}

/// Levels, order, bounds and parents.
fn check_sections(sections: &[Section], text_bytes: u32) -> Result<(), &'static str> {
    let mut end = 0;
    for (i, section) in sections.iter().enumerate() {
        let span = &section.span_bytes;
        if !(1..=6).contains(&section.level) {
            return Err("a section's level is not 1 to 6");
        }
        if span.start < end || span.end < span.start {
            return Err("sections overlap or are out of order");
        }
        if span.end > text_bytes as usize {
            return Err("a section ends after the text");
        }
        if section.parent.is_some_and(|parent| parent >= i) {
            return Err("a section's parent does not precede it");
        }
        end = span.end;
    }
    Ok(())
}

/// That every section starts and ends between two characters of `text`.
pub(super) fn check_section_boundaries(text: &str, sections: &[Section]) -> Result<(), &'static str> {
    let on_boundary =
        |s: &Section| text.is_char_boundary(s.span_bytes.start) && text.is_char_boundary(s.span_bytes.end);
    if sections.iter().all(on_boundary) { Ok(()) } else { Err("a section starts or ends inside a character") }
}

/// The number of a language in the format; not the order of the enum, which may change.
pub(crate) fn lang_code(lang: Lang) -> u8 {
    match lang {
        Lang::Other => 0,
        Lang::Zh => 1,
        Lang::En => 2,
        Lang::Ja => 3,
        Lang::Ko => 4,
        Lang::Ru => 5,
    }
}

pub(crate) fn lang_from_code(code: u8) -> Option<Lang> {
    Some(match code {
        0 => Lang::Other,
        1 => Lang::Zh,
        2 => Lang::En,
        3 => Lang::Ja,
        4 => Lang::Ko,
        5 => Lang::Ru,
        _ => return None,
    })
}
