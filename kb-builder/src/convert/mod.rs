//! From the bytes of a file to a [`Document`]: one module a format, all of them ending in Markdown.

mod archive;
mod code;
mod delimited;
mod docx;
pub mod encoding;
mod epub;
pub(crate) mod escape;
mod format;
mod html;
mod markdown;
mod mdx;
mod notebook;
mod office;
mod pdf;
mod pptx;
mod rst;
mod texinfo;
mod text;
pub mod worker;
mod xml;

use crate::source::Entry;
use kb_core::document::{Document, MetaValue};
use kb_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

pub use format::Format;
pub use markdown::Sibling;

/// The suffix of a file name in lower case, without the dot; empty if there is none.
pub fn suffix(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    match name.rsplit_once('.') {
        Some((stem, suffix)) if !stem.is_empty() => suffix.to_ascii_lowercase(),
        _ => String::new(),
    }
}

/// What an author can do about files that are left aside, one sentence a kind.
pub fn advice<'s>(suffixes: impl Iterator<Item = &'s String>) -> Vec<&'static str> {
    const OLD: [&str; 12] = ["doc", "dot", "wps", "rtf", "odt", "ppt", "pps", "dps", "odp", "xls", "xlsx", "pages"];
    let (mut old, mut code) = (false, false);
    for suffix in suffixes {
        old |= OLD.contains(&suffix.as_str());
        code |= code::is_code(suffix);
    }
    let office = "save .doc, .wps and .rtf as .docx, .ppt as .pptx, tables as .csv, and build again";
    let source = "source code is read with --code, or `code = true` in kb.toml";
    [(old, office), (code, source)].into_iter().filter(|(found, _)| *found).map(|(_, sentence)| sentence).collect()
}

/// What converters have to say about a file beside its text: counts by sentence.
#[derive(Debug, Default, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Notes(BTreeMap<String, usize>);

impl Notes {
    /// Adds `n` to the count of `what`.
    pub fn count(&mut self, what: &str, n: usize) {
        *self.0.entry(what.to_string()).or_default() += n;
    }

    /// Adds `n` to the count of `what`, if it is not 0.
    fn count_some(&mut self, what: &str, n: usize) {
        if n > 0 {
            self.count(what, n);
        }
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

/// The encoding that a page on the web declares: in its header, or in itself.
pub fn declared_charset(content_type: &str, body: &[u8]) -> Option<String> {
    let lower = content_type.to_ascii_lowercase();
    let header = lower.split_once("charset=").map(|(_, c)| c.trim_matches(['"', ' ']).split(';').next());
    header.flatten().filter(|c| !c.is_empty()).map(str::to_string).or_else(|| html::declared_charset(body))
}

/// A converter's result.
#[derive(Debug)]
pub struct Converted {
    /// The document, `url` not yet set.
    pub document: Document,
    /// The file's own text in UTF-8, where the file is a text in another encoding.
    pub recoded: Option<String>,
    /// Name of the encoding of a text.
    pub encoding: Option<&'static str>,
    /// What was dropped or resolved.
    pub notes: Notes,
}

/// Markdown, and what a format knows beside it.
#[derive(Debug, Default, PartialEq, Serialize, Deserialize)]
struct Markdown {
    text: String,
    /// Set by formats whose title is not the first heading.
    title: Option<String>,
    /// What the file says of itself: author, date.
    metadata: BTreeMap<String, MetaValue>,
    /// Where the pages of a paginated document begin: byte offset in `text`, and the number.
    pages: Vec<(usize, usize)>,
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
    let mut notes = Notes::default();
    let (markdown, decoded) = if format.is_text() {
        let declared = if format == Format::Html { html::declared_charset(bytes) } else { None };
        let decoded = encoding::decode(bytes, declared.as_deref())?;
        (convert_text(format, &entry.path, &decoded.text, sibling, &mut notes)?, Some(decoded))
    } else {
        (worker::convert(format, &entry.path, bytes, &mut notes)?, None)
    };
    // Only Markdown has front matter: a line such as `---` in another format is something else.
    let parsed = match format {
        Format::Markdown => kb_core::document::parse_markdown(&entry.path, &markdown.text),
        _ => kb_core::document::parse_body(&entry.path, &markdown.text),
    };
    let mut document = parsed.document;
    document.collection = collection.to_string();
    for warning in parsed.warnings {
        notes.count(&warning, 1);
    }
    if let Some(title) = markdown.title.filter(|t| !t.trim().is_empty()) {
        document.title = title;
    }
    for (key, value) in markdown.metadata {
        document.metadata.entry(key).or_insert(value);
    }
    document.add_pages(&markdown.pages);
    let encoding = decoded.as_ref().map(|d| d.encoding);
    let recoded = decoded.filter(|d| d.encoding != "UTF-8").map(|d| d.text);
    Ok(Converted { document, recoded, encoding, notes })
}

/// Converts a format that is text.
fn convert_text(format: Format, path: &str, text: &str, sibling: Sibling, notes: &mut Notes) -> Result<Markdown> {
    // NUL is not allowed in Markdown (CommonMark 2.3), and nothing good comes of it in an index.
    let text = &text.replace('\0', "\u{fffd}");
    let plain = |text| Markdown { text, ..Markdown::default() };
    Ok(match format {
        Format::Text if text::is_rst(text) => plain(rst::to_markdown(text, notes)),
        Format::Text => Markdown { title: text::title(text), ..plain(text::to_markdown(text)) },
        Format::Html => html::to_markdown(text)?,
        Format::Rst => plain(rst::to_markdown(text, notes)),
        Format::Notebook => notebook::to_markdown(text)?,
        Format::Delimited => delimited::to_markdown(text, &suffix(path))?,
        Format::Texinfo => {
            let (text, title) = texinfo::to_markdown(text, notes);
            Markdown { title, ..plain(text) }
        }
        Format::Code => code::to_markdown(text, path),
        _ if suffix(path) == "mdx" => plain(mdx::to_markdown(text)),
        _ => plain(markdown::resolve_includes(text, path, sibling, notes)),
    })
}

/// Converts a format that is no text. Runs in a process of its own, see [`worker`].
fn convert_bytes(format: Format, path: &str, bytes: &[u8], notes: &mut Notes) -> Result<Markdown> {
    match format {
        Format::Docx => docx::to_markdown(bytes, notes),
        Format::Pptx => pptx::to_markdown(bytes, notes),
        Format::Epub => epub::to_markdown(bytes, notes),
        Format::Pdf => pdf::to_markdown(bytes, path, notes),
        _ => Err(Error::new(ErrorKind::Convert, format!("{path} is no binary format"))),
    }
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
    fn advice_is_given_for_what_can_be_saved_otherwise() {
        let of = |list: &[&str]| advice(list.iter().map(|s| s.to_string()).collect::<Vec<_>>().iter()).len();
        assert_eq!((of(&["png"]), of(&["doc", "rtf"]), of(&["rs"]), of(&["doc", "py"])), (0, 1, 1, 2));
    }

    #[test]
    fn suffixes_are_of_the_name_alone() {
        assert_eq!(
            (suffix("a.b/README").as_str(), suffix(".md").as_str(), suffix("x.tar.GZ").as_str()),
            ("", "", "gz")
        );
    }
}
