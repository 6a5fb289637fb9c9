//! A converted document: uniform Markdown text with its heading tree, whatever it was made from.

pub mod lang;
#[cfg(feature = "build")]
pub mod markdown;
#[cfg(feature = "build")]
mod pages;
pub mod plain;

use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::ops::Range;

pub use lang::Lang;
#[cfg(feature = "build")]
pub use markdown::{Parsed, parse_body, parse_markdown, parse_text};
pub use plain::{PlainText, plain, plain_after};

/// One document after conversion. `text` is Markdown in UTF-8 with `\n` line ends; every span in
/// this crate is a byte range of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Document {
    /// Path inside its collection, `/` separated, as the author sees it: `notes/graph.md`.
    pub path: String,
    /// Name of the collection (the `[[source]]`) it belongs to.
    pub collection: String,
    /// Title: front matter, else the heading that stands over the page, else the file name without its
    /// suffix.
    pub title: String,
    /// The document's main language.
    pub lang: Lang,
    /// Where the original can be opened, without a fragment. Relative to the site or absolute.
    pub url: Option<String>,
    /// The converted text.
    pub text: String,
    /// Headings in reading order. Text before the first heading belongs to no section.
    pub sections: Vec<Section>,
    /// Typed metadata from front matter and the source.
    pub metadata: BTreeMap<String, MetaValue>,
}

/// A heading and the text under it up to the next heading of any level.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Section {
    /// 1 to 6.
    pub level: u8,
    /// Heading text without markup. Empty where a page of a paginated document begins inside a section:
    /// such a part belongs to the section around it and only has an anchor of its own.
    pub title: String,
    /// Fragment identifier that the published page has for this heading, without `#`.
    pub anchor: String,
    /// Byte range in [`Document::text`], the heading line included, up to the next heading.
    pub span_bytes: Range<usize>,
    /// Index of the enclosing section, always smaller than this one's own.
    pub parent: Option<usize>,
}

/// A metadata value that keeps its type on the way through a bundle. Dates are ISO 8601 strings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum MetaValue {
    /// `true` or `false`.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// Any other number.
    Float(f64),
    /// Text.
    Text(String),
    /// A calendar date or date-time, ISO 8601.
    Date(String),
    /// A list, in order.
    List(Vec<MetaValue>),
    /// Nested values by key.
    Map(BTreeMap<String, MetaValue>),
}

impl Document {
    /// Titles of the headings that enclose `section`, outermost first, itself last. Parts without a title
    /// are left out.
    pub fn heading_path(&self, section: usize) -> Vec<&str> {
        let mut path = Vec::new();
        let mut at = Some(section);
        while let Some(s) = at.and_then(|i| self.sections.get(i)) {
            if !s.title.is_empty() {
                path.push(s.title.as_str());
            }
            // A parent always precedes its child, so a damaged index cannot loop.
            at = s.parent.filter(|p| *p < at.unwrap_or(0));
        }
        path.reverse();
        path
    }
}
