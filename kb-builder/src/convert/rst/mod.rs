//! reStructuredText to Markdown, as docutils reads it and with the directives and roles of Sphinx.
//!
//! A document is cut into blocks by indentation ([`block`]); each block yields Markdown. What only
//! steers a build (toctree, index, currentmodule) is dropped; a directive that is not known keeps
//! its body, and the report counts it.

mod block;
mod directive;
mod inline;
mod lines;
mod list;
mod section;
mod table;

use super::Notes;
use std::collections::BTreeMap;

/// Converts a document.
pub fn to_markdown(text: &str, notes: &mut Notes) -> String {
    let expanded: Vec<String> = text.lines().map(lines::expand_tabs).collect();
    let lines: Vec<&str> = expanded.iter().map(String::as_str).collect();
    let mut parser = Parser {
        names: Names::collect(&lines),
        sections: section::Sections::default(),
        literal_language: String::new(),
        notes,
    };
    let mut out = parser.blocks(&lines, block::Place::Top).join("\n\n");
    out.push('\n');
    out
}

/// State of one conversion.
struct Parser<'n> {
    names: Names,
    sections: section::Sections,
    /// Language of literal blocks, set by the `highlight` directive.
    literal_language: String,
    notes: &'n mut Notes,
}

impl Parser<'_> {
    fn inline(&self, text: &str) -> String {
        inline::convert(text, &self.names)
    }
}

/// What references in the text can be resolved to inside the document, collected beforehand.
#[derive(Default)]
struct Names {
    /// `|name|` → reStructuredText to put in its place.
    substitutions: BTreeMap<String, String>,
    /// `.. _name: URL`, names in lower case.
    urls: BTreeMap<String, String>,
    /// `.. _label:` before a title → the title.
    titles: BTreeMap<String, String>,
}

impl Names {
    fn collect(lines: &[&str]) -> Self {
        let mut names = Self::default();
        let mut labels: Vec<String> = Vec::new();
        for (i, line) in lines.iter().enumerate() {
            let trimmed = line.trim();
            if trimmed.is_empty() {
                continue;
            }
            if let Some(rest) = trimmed.strip_prefix(".. |") {
                names.substitution(rest, lines.get(i + 1).copied());
            } else if let Some((name, url)) = target(trimmed) {
                if url.is_empty() {
                    labels.push(name);
                } else {
                    names.urls.insert(name, url);
                }
                continue;
            } else if !labels.is_empty()
                && let Some(title) = section::title_at(lines, i)
            {
                for label in &labels {
                    names.titles.insert(label.clone(), title.text.to_string());
                }
            }
            labels.clear();
        }
        names
    }

    fn substitution(&mut self, definition: &str, next: Option<&str>) {
        let Some((name, rest)) = definition.split_once('|') else { return };
        let rest = rest.trim();
        let value = if let Some(text) = rest.strip_prefix("replace::") {
            text.trim().to_string()
        } else if rest.starts_with("image::") {
            // The image's alternative text stands for it.
            next.and_then(|l| l.trim().strip_prefix(":alt:")).map(|a| a.trim().to_string()).unwrap_or_default()
        } else if let Some(codes) = rest.strip_prefix("unicode::") {
            codes.split_whitespace().take_while(|c| *c != "..").map(code_point).collect()
        } else {
            String::new()
        };
        self.substitutions.insert(name.trim().to_string(), value);
    }
}

/// A code in a `unicode` directive: `0xA9`, `U+00A9`, `169`, or text as it is.
fn code_point(code: &str) -> String {
    let hex = ["0x", "x", "\\x", "U+", "u+", "\\u"].iter().find_map(|p| code.strip_prefix(p));
    let number = match hex {
        Some(hex) => u32::from_str_radix(hex, 16).ok(),
        None => code.parse().ok(),
    };
    number.and_then(char::from_u32).map_or_else(|| code.to_string(), String::from)
}

/// `.. _name: URL` or `.. _label:`, the name in lower case and without quotes.
fn target(line: &str) -> Option<(String, String)> {
    let rest = line.strip_prefix(".. _")?;
    if rest.starts_with('_') {
        return None;
    }
    let (name, url) = match rest.strip_prefix('`') {
        Some(quoted) => {
            let (name, after) = quoted.split_once('`')?;
            (name, after.strip_prefix(':')?)
        }
        None => rest.split_once(": ").or_else(|| rest.strip_suffix(':').map(|n| (n, "")))?,
    };
    Some((normalised(name), url.trim().to_string()))
}

/// Reference names are compared in lower case, white space folded.
fn normalised(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

#[cfg(test)]
mod tests;
