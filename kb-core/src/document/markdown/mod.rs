//! Reading Markdown: CommonMark with GitHub's tables, strikethrough and task lists, LaTeX math,
//! heading identifiers, front matter.

mod front_matter;
mod mask;
mod slug;

pub use slug::Slugger;

use super::{Document, MetaValue, Section, lang};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::collections::BTreeMap;

/// A document, and what its author should know about.
#[derive(Debug, Clone, PartialEq)]
pub struct Parsed {
    /// The document, with an empty collection and no url: the caller knows those.
    pub document: Document,
    /// Problems that did not prevent reading, one sentence each.
    pub warnings: Vec<String>,
}

/// Reads a Markdown page. Never fails: every text is some Markdown.
///
/// - Line ends become `\n`; a byte order mark goes, NUL becomes U+FFFD.
/// - Front matter becomes [`Document::metadata`] and is not part of the text.
/// - Headings outside lists and quotes become sections. Anchors follow GitHub's rule, see [`Slugger`];
///   `{#id}` and `{/*id*/}` behind a heading are honoured.
/// - The title is the front matter's `title`; else the first heading, if it stands over the page: on level
///   1, or no other heading has its level or a higher one; else the name of the file, or of its folder
///   for `index` and `README`.
pub fn parse_markdown(path: &str, raw: &str) -> Parsed {
    let raw = normalise(raw);
    let (metadata, text, problem) = front_matter::split(&raw);
    let document = read(path, text.to_owned(), metadata);
    Parsed { document, warnings: problem.into_iter().collect() }
}

/// Reads Markdown that was made from another format: like [`parse_markdown`], but text that looks like
/// front matter is text.
pub fn parse_body(path: &str, raw: &str) -> Parsed {
    Parsed { document: read(path, normalise(raw), BTreeMap::new()), warnings: Vec::new() }
}

fn read(path: &str, text: String, metadata: BTreeMap<String, MetaValue>) -> Document {
    let sections = sections(&text);
    let title = match metadata.get("title") {
        Some(MetaValue::Text(t)) if !t.trim().is_empty() => t.trim().to_owned(),
        Some(MetaValue::Int(n)) => n.to_string(),
        Some(MetaValue::Date(d)) => d.clone(),
        _ => title_heading(&sections).unwrap_or_else(|| file_title(path)).to_owned(),
    };
    Document {
        path: path.to_owned(),
        collection: String::new(),
        title,
        lang: lang::detect(&text),
        url: None,
        text,
        sections,
        metadata,
    }
}

/// Reads plain text: no headings, no markup, the title is the name of the file.
pub fn parse_text(path: &str, raw: &str) -> Document {
    let text = normalise(raw);
    Document {
        path: path.to_owned(),
        collection: String::new(),
        title: file_title(path).to_owned(),
        lang: lang::detect(&text),
        url: None,
        text,
        sections: Vec::new(),
        metadata: Default::default(),
    }
}

fn normalise(raw: &str) -> String {
    let raw = raw.strip_prefix('\u{feff}').unwrap_or(raw);
    if !raw.contains(['\r', '\0']) {
        return raw.to_owned();
    }
    raw.replace("\r\n", "\n").replace('\r', "\n").replace('\0', "\u{fffd}")
}

/// The heading that is the page's title. Of several chapters on one level none is.
fn title_heading(sections: &[Section]) -> Option<&str> {
    let (first, others) = sections.split_first()?;
    let stands_over = first.level == 1 || others.iter().all(|s| s.level > first.level);
    (stands_over && !first.title.is_empty()).then_some(&first.title)
}

fn file_title(path: &str) -> &str {
    let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
    let stem = match name.rfind('.') {
        Some(dot) if dot > 0 => &name[..dot],
        _ => name,
    };
    let folder = folder.rsplit('/').next().unwrap_or_default();
    let says_nothing = ["index", "_index", "readme"].iter().any(|n| stem.eq_ignore_ascii_case(n));
    if says_nothing && !folder.is_empty() { folder } else { stem }
}

/// The headings of `text` that are not inside a list, quote or footnote.
fn sections(text: &str) -> Vec<Section> {
    let masked = mask::mask(text);
    let options = Options::ENABLE_TABLES
        | Options::ENABLE_FOOTNOTES
        | Options::ENABLE_STRIKETHROUGH
        | Options::ENABLE_TASKLISTS
        | Options::ENABLE_HEADING_ATTRIBUTES
        | Options::ENABLE_MATH
        | Options::ENABLE_GFM;
    let mut sections: Vec<Section> = Vec::new();
    let mut slugger = Slugger::default();
    let mut depth = 0_usize;
    let mut heading: Option<Heading> = None;
    for (event, range) in Parser::new_ext(&masked, options).into_offset_iter() {
        match event {
            Event::Start(Tag::Heading { level, id, attrs, .. }) => {
                // MDX has no `{#id}`; its authors write `{/*id*/}`.
                let comment = |a: &str| a.strip_prefix("/*").and_then(|a| a.strip_suffix("*/")).map(str::to_owned);
                let id = id.map(|i| i.to_string()).or_else(|| attrs.iter().find_map(|(a, _)| comment(a)));
                heading = Some(Heading { level: level as u8, id, title: String::new(), start: range.start });
            }
            Event::End(TagEnd::Heading(_)) => {
                let Some(done) = heading.take() else { continue };
                let (title, anchor) = done.title_and_anchor(&mut slugger);
                if depth > 0 {
                    continue;
                }
                let start = text[..done.start].rfind('\n').map_or(0, |n| n + 1);
                let parent = parent_of(&sections, done.level);
                if let Some(last) = sections.last_mut() {
                    last.span_bytes.end = start;
                }
                sections.push(Section { level: done.level, title, anchor, span_bytes: start..text.len(), parent });
            }
            Event::Start(Tag::BlockQuote(_) | Tag::List(_) | Tag::FootnoteDefinition(_)) => depth += 1,
            Event::End(TagEnd::BlockQuote(_) | TagEnd::List(_) | TagEnd::FootnoteDefinition) => depth -= 1,
            Event::Text(t) | Event::Code(t) => add(&mut heading, &t),
            Event::InlineMath(t) => add(&mut heading, &format!("${t}$")),
            Event::DisplayMath(t) => add(&mut heading, &format!("$${t}$$")),
            Event::SoftBreak | Event::HardBreak => add(&mut heading, " "),
            _ => {}
        }
    }
    sections
}

fn add(heading: &mut Option<Heading>, text: &str) {
    if let Some(heading) = heading {
        heading.title.push_str(text);
    }
}

/// The nearest section before that is of a higher rank.
fn parent_of(sections: &[Section], level: u8) -> Option<usize> {
    let mut at = sections.len().checked_sub(1);
    while let Some(i) = at {
        if sections[i].level < level {
            return Some(i);
        }
        at = sections[i].parent;
    }
    None
}

/// A heading that is being read.
struct Heading {
    level: u8,
    id: Option<String>,
    title: String,
    start: usize,
}

impl Heading {
    fn title_and_anchor(&self, slugger: &mut Slugger) -> (String, String) {
        let title = self.title.trim();
        let anchor = match self.id.as_ref().filter(|i| !i.is_empty()) {
            Some(id) => {
                slugger.reserve(id);
                id.clone()
            }
            None => slugger.slug(title),
        };
        (title.to_owned(), anchor)
    }
}

#[cfg(test)]
mod tests;
