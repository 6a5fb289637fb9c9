//! Word documents (DOCX) to Markdown.

mod body;
mod headings;
mod inline;
mod numbering;
mod render;
mod styles;

use super::archive::Archive;
use super::office::{self, Relations};
use super::xml::{self, Element};
use super::{Markdown, Notes as Remarks};
use kb_core::Result;
use numbering::Numbering;
use roxmltree::Node;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use styles::Styles;

/// Footnotes or endnotes by id.
type Notes<'a, 'i> = HashMap<String, Node<'a, 'i>>;

/// What the body of a document refers to.
struct Docx<'a, 'i> {
    styles: Styles,
    numbering: RefCell<Numbering>,
    relations: Relations,
    footnotes: Notes<'a, 'i>,
    endnotes: Notes<'a, 'i>,
    notes: Cell<usize>,
}

impl Docx<'_, '_> {
    /// The mark of the next note.
    fn next_note(&self) -> usize {
        self.notes.set(self.notes.get() + 1);
        self.notes.get()
    }
}

/// Converts a document.
///
/// # Errors
/// [`kb_core::ErrorKind::Convert`] for what is no such file, is damaged or protected.
pub fn to_markdown(bytes: &[u8], remarks: &mut Remarks) -> Result<Markdown> {
    let archive = Archive::open(bytes, "DOCX")?;
    let root = Relations::read(&archive, "")?;
    let main = root.of_kind("officeDocument").unwrap_or("word/document.xml").to_string();
    let relations = Relations::read(&archive, &main)?;
    let text = archive.required(&main)?;
    let document = xml::parse(&text, &main)?;

    let part = |kind: &str| -> Result<Option<String>> {
        relations.of_kind(kind).map(|name| archive.xml(name)).transpose().map(Option::flatten)
    };
    let styles = match part("styles")? {
        Some(text) => Styles::read(xml::parse(&text, "styles")?.root_element()),
        None => Styles::default(),
    };
    let numbering = match part("numbering")? {
        Some(text) => Numbering::read(xml::parse(&text, "numbering")?.root_element()),
        None => Numbering::default(),
    };
    let (footnotes, endnotes) = (part("footnotes")?, part("endnotes")?);
    let footnotes = footnotes.as_deref().map(|t| xml::parse(t, "footnotes")).transpose()?;
    let endnotes = endnotes.as_deref().map(|t| xml::parse(t, "endnotes")).transpose()?;
    let docx = Docx {
        styles,
        numbering: RefCell::new(numbering),
        relations,
        footnotes: footnotes.as_ref().map(|d| by_id(d.root_element())).unwrap_or_default(),
        endnotes: endnotes.as_ref().map(|d| by_id(d.root_element())).unwrap_or_default(),
        notes: Cell::new(0),
    };
    let mut blocks = Vec::new();
    body::blocks(document.root_element(), &docx, 0, &mut blocks);
    headings::guess(&mut blocks, remarks);
    let (own_title, metadata) = office::properties(&archive)?;
    let (text, title) = render::render(&blocks);
    let has_heading = blocks.iter().any(|b| matches!(b, body::Block::Heading(..)));
    // The title in the properties often is a template's: what the page itself says comes first.
    let title = title.or_else(|| own_title.filter(|_| !has_heading));
    Ok(Markdown { text, title, metadata, ..Markdown::default() })
}

fn by_id<'a, 'i>(root: Node<'a, 'i>) -> Notes<'a, 'i> {
    root.children()
        // Separator lines are kept among the notes and have a type.
        .filter(|n| matches!(n.name(), "footnote" | "endnote") && n.attr("type").is_none_or(|t| t == "normal"))
        .filter_map(|n| Some((n.attr("id")?.to_string(), n)))
        .collect()
}

#[cfg(test)]
mod tests;
