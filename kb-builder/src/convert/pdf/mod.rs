//! PDF to Markdown: glyphs → lines → blocks → headings → text with page numbers.
//!
//! A PDF says where each glyph stands and little else. Lines, words, paragraphs and headings are inferred
//! from places and sizes; the order is the one in which the page was drawn, which is the reading order for
//! nearly all programs that make PDF files.

mod block;
mod collection;
mod content;
mod contents;
mod damage;
mod extract;
mod font;
mod furniture;
mod heading;
mod line;
mod render;

use super::{Markdown, Notes};
use extract::Page;
use kb_core::document::MetaValue;
use kb_core::{Error, ErrorKind, Result};
use std::collections::BTreeMap;

/// Converts a document; the headings and parts of it get the anchor `page=N` later, by [`Markdown::pages`].
///
/// # Errors
/// [`ErrorKind::Convert`] for what is no PDF, needs a password, holds pictures of text only, or has fonts
/// that do not say what their letters are.
pub fn to_markdown(bytes: &[u8], path: &str, notes: &mut Notes) -> Result<Markdown> {
    let pdf = extract::read(bytes)?;
    check(&pdf.pages, pdf.lost)?;
    if let Some(what) = damaged(&pdf) {
        notes.count(&format!("{path}: {what}"), pdf.lost + pdf.pages.iter().filter(|p| p.damaged).count());
    }
    let empty = pdf.pages.iter().filter(|p| p.glyphs.is_empty() && p.images > 0).count();
    notes.count_some("PDF pages that are pictures without text", empty);
    let unknown: usize = pdf.pages.iter().map(|p| p.unknown).sum();
    notes.count_some("PDF letters of fonts that do not say what they are, left out", unknown);
    let turned: usize = pdf.pages.iter().map(|p| p.turned).sum();
    notes.count_some("PDF letters that stand sideways, left out", turned);

    let mut pages: Vec<Vec<line::Line>> = pdf.pages.iter().map(|p| line::lines(&p.glyphs)).collect();
    let body = heading::body_size(&block::blocks(&pages));
    let removed = furniture::remove(&mut pages, body);
    notes.count_some("PDF running heads, feet and page numbers left out", removed);
    let listed = contents::remove(&mut pages);
    notes.count_some("PDF lines of tables of contents left out", listed);
    let blocks = block::blocks(&pages);
    let headings = heading::headings(&blocks, body);
    let rendered = render::render(&blocks, &headings);

    let title = first_page_title(&blocks, &headings)
        .or_else(|| pdf.title.filter(|t| is_title(t)))
        .unwrap_or_else(|| stem(path).to_string());
    let mut metadata = BTreeMap::new();
    if let Some(author) = pdf.author.filter(|a| !a.trim().is_empty()) {
        metadata.insert("author".to_string(), MetaValue::Text(author));
    }
    metadata.insert("pages".to_string(), MetaValue::Int(pdf.pages.len() as i64));
    Ok(Markdown { text: rendered.text, title: Some(title), metadata, pages: rendered.pages })
}

/// Most page numbers in a sentence.
const MAX_NAMED: usize = 10;

/// Which pages are damaged, as words for a note.
fn damaged(pdf: &extract::Document) -> Option<String> {
    let numbers: Vec<String> =
        pdf.pages.iter().zip(1..).filter(|(p, _)| p.damaged).map(|(_, n): (_, usize)| n.to_string()).collect();
    let mut which = numbers[..numbers.len().min(MAX_NAMED)].to_vec();
    if numbers.len() > MAX_NAMED {
        which.push("…".into());
    }
    let missing = "damaged pages, whose text is missing in whole or in part";
    match (numbers.is_empty(), pdf.lost) {
        (true, 0) => None,
        (true, _) => Some("damaged pages that are missing".into()),
        (false, 0) => Some(format!("{missing} ({})", which.join(", "))),
        (false, lost) => Some(format!("{missing} ({}, and {lost} that could not be found)", which.join(", "))),
    }
}

/// Refuses documents whose text cannot be had.
fn check(pages: &[Page], lost: usize) -> Result<()> {
    let refuse = |message: String| Err(Error::new(ErrorKind::Convert, message));
    let letters: usize = pages.iter().map(|p| p.glyphs.len()).sum();
    let unknown: usize = pages.iter().map(|p| p.unknown).sum();
    let images: usize = pages.iter().map(|p| p.images).sum();
    if letters + unknown == 0 {
        return refuse(if images > 0 {
            format!(
                "its {} pages are pictures without text (a scan): run text recognition over it first, for example ocrmypdf",
                pages.len()
            )
        } else if lost > 0 || pages.iter().any(|p| p.damaged) {
            "its pages are damaged: open it in a program that repairs PDF files, and save it".to_string()
        } else {
            "it has no text".to_string()
        });
    }
    if unknown > letters {
        return refuse(format!(
            "its fonts do not say which letters they show: {unknown} of {} are unknown",
            letters + unknown
        ));
    }
    Ok(())
}

/// The first heading of the highest level, if it stands on the first page, and either opens it or is the
/// only one of its level.
fn first_page_title(blocks: &[block::Block], headings: &[Option<heading::Heading>]) -> Option<String> {
    let highest = headings.iter().flatten().map(|h| h.level).min()?;
    let mut of_level = headings.iter().enumerate().filter(|(_, h)| h.is_some_and(|h| h.level == highest));
    let (at, _) = of_level.next()?;
    let block = &blocks[at];
    let is_title = block.pages.first() == Some(&0) && (at == 0 || of_level.next().is_none());
    is_title.then(|| block.lines.iter().map(|l| l.text.as_str()).collect::<Vec<_>>().join(" "))
}

/// Whether the title in the properties is the author's: Word and TeX write file names there.
fn is_title(title: &str) -> bool {
    let lower = title.trim().to_lowercase();
    !(lower.is_empty()
        || lower.starts_with("microsoft ")
        || lower.starts_with("untitled")
        || lower == "about:blank"
        || lower.contains("://")
        || [".doc", ".docx", ".tex", ".dvi", ".pdf", ".ppt", ".pptx", ".html", ".wps", ".indd"]
            .iter()
            .any(|s| lower.ends_with(s)))
}

fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map_or(name, |(stem, _)| stem)
}
