//! Crawling and converting: from sources to documents, one bad file never stopping the others.

use super::Summary;
use crate::convert::{self, Format, Notes};
use crate::error::Result;
use crate::handout;
use crate::report::Reporter;
use crate::site::{Site, original_path};
use crate::source::{Entry, Problem, Source, encode_path};
use kb_core::document::Document;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;

/// All documents of all sources, in order. Copies of the originals go into the site on the way.
pub fn read_all(
    sources: &[Box<dyn Source>],
    site: &Site,
    originals: bool,
    summary: &mut Summary,
    reporter: &Reporter,
) -> Result<Vec<Document>> {
    let mut wanted: Vec<(&dyn Source, Entry, Format)> = Vec::new();
    for source in sources {
        let listing = source.list()?;
        for note in &listing.notes {
            reporter.note(note);
        }
        for problem in listing.problems {
            fail(problem, summary, reporter);
        }
        for entry in listing.entries {
            let format = if source.reads_code() { Format::of_code(&entry.path) } else { Format::of(&entry.path) };
            match format {
                Some(format) => wanted.push((source.as_ref(), entry, format)),
                None => *summary.skipped.entry(convert::suffix(&entry.path)).or_default() += 1,
            }
        }
    }
    reporter.stage("reading", wanted.len() as u64, "files");
    let mut documents = Vec::with_capacity(wanted.len());
    let mut notes = Notes::default();
    let included = RefCell::new(BTreeSet::new());
    for (source, entry, format) in wanted {
        let taken = take(source, &entry, format, originals.then_some(site), &included);
        match taken {
            Ok((document, encoding, own_notes)) => {
                if let Some(encoding) = encoding.filter(|e| *e != "UTF-8") {
                    *summary.encodings.entry(encoding.to_string()).or_default() += 1;
                }
                notes.merge(&own_notes);
                documents.push(document);
            }
            Err(Failure::File(reason)) => {
                fail(Problem { collection: source.collection().into(), path: entry.path, reason }, summary, reporter)
            }
            Err(Failure::Ours) => reporter.note(&format!(
                "{}/{}: a page with a knowledge base inside it, which kb-builder wrote; left aside",
                source.collection(),
                entry.path
            )),
            Err(Failure::Output(e)) => return Err(e),
        }
        reporter.advance(1);
    }
    reporter.end_stage();
    summary.notes = notes.list();
    summary.included = included.into_inner();
    Ok(documents)
}

/// What can go wrong with one file: the file itself, or writing the site.
enum Failure {
    File(String),
    /// It is a handout: its text is the program's, or that of the page it was made from.
    Ours,
    Output(crate::Error),
}

fn take(
    source: &dyn Source,
    entry: &Entry,
    format: Format,
    site: Option<&Site>,
    included: &RefCell<BTreeSet<PathBuf>>,
) -> Result<(Document, Option<&'static str>, Notes), Failure> {
    let file = |e: crate::Error| Failure::File(e.to_string());
    let bytes = source.read(entry).map_err(file)?;
    if format == Format::Html && handout::carries_base(&bytes) {
        return Err(Failure::Ours);
    }
    let sibling = |path: &str| {
        included.borrow_mut().extend(source.file(path));
        source.sibling(path)
    };
    let converted = convert::convert(format, source.collection(), entry, &bytes, &sibling)
        .map_err(|e| Failure::File(e.message().to_string()))?;
    let mut document = converted.document;
    document.url = source.url_of(entry);
    if let Some(site) = site {
        let path = original_path(source.collection(), &entry.path);
        // What the page's reader cannot show as its author made it is opened where its copy is.
        if document.url.is_none() && !format.is_text() {
            document.url = Some(encode_path(&path));
        }
        // Texts in UTF-8 whatever they were in: a static host says that of every text.
        let copy = converted.recoded.map_or(bytes, String::into_bytes);
        site.write(&path, &copy).map_err(Failure::Output)?;
    }
    Ok((document, converted.encoding, converted.notes))
}

fn fail(problem: Problem, summary: &mut Summary, reporter: &Reporter) {
    reporter.problem(&problem);
    summary.failed.push(problem);
}
