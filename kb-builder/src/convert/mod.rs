//! From the bytes of a file to a [`Document`]: one module a format, all of them ending in Markdown.

pub mod encoding;
mod escape;
mod html;
mod markdown;
mod rst;
mod text;

use crate::source::Entry;
use kb_core::document::Document;
use kb_core::{Error, ErrorKind, Result};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use markdown::Sibling;

/// The formats that can be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    /// CommonMark with the GitHub extensions, mdBook's includes resolved.
    Markdown,
    /// Plain text.
    Text,
    /// HTML: the main content of a page.
    Html,
    /// reStructuredText, as Sphinx reads it.
    Rst,
}

impl Format {
    /// The format of a file by its suffix, `None` if no converter reads it.
    pub fn of(path: &str) -> Option<Self> {
        match suffix(path).as_str() {
            "md" | "markdown" | "mdown" | "mkd" => Some(Self::Markdown),
            "txt" | "text" => Some(Self::Text),
            "html" | "htm" | "xhtml" => Some(Self::Html),
            "rst" | "rest" => Some(Self::Rst),
            _ => None,
        }
    }

    /// Suffixes that are read, for help and reports.
    pub const SUFFIXES: &'static str = "md markdown mdown mkd txt text html htm xhtml rst rest";
}

/// The suffix of a file name in lower case, without the dot; empty if there is none.
pub fn suffix(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, suffix)) if !stem.is_empty() => suffix.to_ascii_lowercase(),
        _ => String::new(),
    }
}

/// What converters have to say about a file beside its text: counts by sentence.
#[derive(Debug, Default, Clone)]
pub struct Notes(BTreeMap<String, usize>);

impl Notes {
    /// Adds `n` to the count of `what`.
    pub fn count(&mut self, what: &str, n: usize) {
        *self.0.entry(what.to_string()).or_default() += n;
    }

    /// Adds the counts of `other`.
    pub fn merge(&mut self, other: &Notes) {
        for (what, n) in &other.0 {
            self.count(what, *n);
        }
    }

    /// `what: n` in the order of the sentences.
    pub fn list(&self) -> Vec<String> {
        self.0.iter().map(|(what, n)| format!("{what}: {n}")).collect()
    }
}

/// A converter's result.
#[derive(Debug)]
pub struct Converted {
    /// The document, `url` not yet set.
    pub document: Document,
    /// The file's own text, decoded.
    pub original: String,
    /// Name of the encoding that the file was in.
    pub encoding: &'static str,
    /// What was dropped or resolved.
    pub notes: Notes,
}

/// Markdown with what a format knows of its title.
struct Markdown {
    text: String,
    /// Set by formats whose title is not the first heading.
    title: Option<String>,
}

/// Converts the file `entry` of `collection`. A converter that panics yields an error, like one that
/// refuses. `sibling` reads other files of the same source, for includes.
pub fn convert(format: Format, collection: &str, entry: &Entry, bytes: &[u8], sibling: Sibling) -> Result<Converted> {
    contained(|| convert_unguarded(format, collection, entry, bytes, sibling))
}

/// Runs a converter; if it panics, that is an error of its file.
fn contained<T>(converter: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_unwind(AssertUnwindSafe(converter)).unwrap_or_else(|panic| {
        let said = panic.downcast_ref::<String>().map(String::as_str).or_else(|| panic.downcast_ref::<&str>().copied());
        Err(Error::new(ErrorKind::Convert, format!("the converter broke down: {}", said.unwrap_or("no reason given"))))
    })
}

fn convert_unguarded(
    format: Format,
    collection: &str,
    entry: &Entry,
    bytes: &[u8],
    sibling: Sibling,
) -> Result<Converted> {
    let declared = if format == Format::Html { html::declared_charset(bytes) } else { None };
    let decoded = encoding::decode(bytes, declared.as_deref())?;
    let mut notes = Notes::default();
    // NUL is not allowed in Markdown (CommonMark 2.3), and nothing good comes of it in an index.
    let text = decoded.text.replace('\0', "\u{fffd}");
    let markdown = match format {
        Format::Markdown => {
            Markdown { text: markdown::resolve_includes(&text, &entry.path, sibling, &mut notes), title: None }
        }
        Format::Text => Markdown { text: text::to_markdown(&text), title: text::title(&text) },
        Format::Html => html::to_markdown(&text)?,
        Format::Rst => Markdown { text: rst::to_markdown(&text, &mut notes), title: None },
    };
    let parsed = kb_core::document::markdown::parse_markdown(&entry.path, &markdown.text);
    let mut document = parsed.document;
    document.collection = collection.to_string();
    for warning in parsed.warnings {
        notes.count(&warning, 1);
    }
    if let Some(title) = markdown.title.filter(|t| !t.trim().is_empty()) {
        document.title = title;
    }
    Ok(Converted { document, original: decoded.text, encoding: decoded.encoding, notes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_an_error_of_the_file() {
        assert_eq!(contained(|| Ok(1)), Ok(1));
        let e = contained(|| -> Result<()> { panic!("at byte {}", 7) }).expect_err("an error");
        assert_eq!((e.kind(), e.message()), (ErrorKind::Convert, "the converter broke down: at byte 7"));
        let e = contained(|| -> Result<()> { panic!("plain") }).expect_err("an error");
        assert!(e.message().ends_with("plain"));
    }

    #[test]
    fn formats_go_by_suffix() {
        assert_eq!(Format::of("a/b.MD"), Some(Format::Markdown));
        assert_eq!(Format::of("a.b/README"), None);
        assert_eq!(
            (suffix("a.b/README").as_str(), suffix(".md").as_str(), suffix("x.tar.GZ").as_str()),
            ("", "", "gz")
        );
        for suffix in Format::SUFFIXES.split(' ') {
            assert!(Format::of(&format!("x.{suffix}")).is_some(), "{suffix}");
        }
    }
}
