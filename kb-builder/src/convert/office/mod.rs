//! What Word and PowerPoint files have in common: relations between parts, properties, formulas.

pub mod math;

use super::archive::Archive;
use super::xml::{self, Element};
use kb_core::Result;
use kb_core::document::MetaValue;
use std::collections::{BTreeMap, HashMap};

/// What a part refers to, by relation id.
#[derive(Debug, Default)]
pub struct Relations(HashMap<String, Relation>);

#[derive(Debug)]
struct Relation {
    kind: String,
    target: String,
    external: bool,
}

impl Relations {
    /// The relations of the part `name`; none if the file has no list of them.
    pub fn read(archive: &Archive, name: &str) -> Result<Self> {
        let (folder, file) = name.rsplit_once('/').unwrap_or(("", name));
        let list = if folder.is_empty() { format!("_rels/{file}.rels") } else { format!("{folder}/_rels/{file}.rels") };
        let Some(text) = archive.xml(&list)? else { return Ok(Self::default()) };
        let document = xml::parse(&text, &list)?;
        let mut relations = HashMap::new();
        for r in document.root_element().all("Relationship") {
            let (Some(id), Some(target)) = (r.attr("Id"), r.attr("Target")) else { continue };
            let external = r.attr("TargetMode") == Some("External");
            let target = if external { target.to_string() } else { resolve(folder, target) };
            let kind = r.attr("Type").unwrap_or_default().rsplit('/').next().unwrap_or_default().to_string();
            relations.insert(id.to_string(), Relation { kind, target, external });
        }
        Ok(Self(relations))
    }

    /// The part behind a relation id.
    pub fn part(&self, id: &str) -> Option<&str> {
        self.0.get(id).filter(|r| !r.external).map(|r| r.target.as_str())
    }

    /// The address on the web behind a relation id.
    pub fn web(&self, id: &str) -> Option<&str> {
        self.0.get(id).filter(|r| r.external).map(|r| r.target.as_str())
    }

    /// The part that is related by the last word of the relation's type: `styles`, `notesSlide`.
    pub fn of_kind(&self, kind: &str) -> Option<&str> {
        let found = self.0.iter().filter(|(_, r)| r.kind == kind && !r.external);
        found.min_by(|a, b| a.0.cmp(b.0)).map(|(_, r)| r.target.as_str())
    }
}

/// `../slides/slide1.xml` seen from the folder `ppt/notesSlides`.
pub fn resolve(folder: &str, target: &str) -> String {
    let mut parts: Vec<&str> = if target.starts_with('/') { Vec::new() } else { folder.split('/').collect() };
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.retain(|p| !p.is_empty());
    parts.join("/")
}

/// The document's own properties: its title, and the rest as metadata.
pub fn properties(archive: &Archive) -> Result<(Option<String>, BTreeMap<String, MetaValue>)> {
    let mut metadata = BTreeMap::new();
    let Some(text) = archive.xml("docProps/core.xml")? else { return Ok((None, metadata)) };
    let Ok(document) = xml::parse(&text, "docProps/core.xml") else { return Ok((None, metadata)) };
    let root = document.root_element();
    let get = |name| root.child(name).map(|n| n.content().trim().to_string()).filter(|t| !t.is_empty());
    if let Some(author) = get("creator") {
        metadata.insert("author".into(), MetaValue::Text(author));
    }
    if let Some(date) = get("modified").or_else(|| get("created")) {
        metadata.insert("date".into(), MetaValue::Date(date));
    }
    if let Some(tags) = get("keywords") {
        let tags = tags.split([',', ';', '，', '；', '、']).map(str::trim).filter(|t| !t.is_empty());
        metadata.insert("tags".into(), MetaValue::List(tags.map(|t| MetaValue::Text(t.into())).collect()));
    }
    Ok((get("title"), metadata))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_resolved_against_the_folder() {
        for (folder, target, expected) in [
            ("word", "styles.xml", "word/styles.xml"),
            ("ppt/notesSlides", "../slides/slide1.xml", "ppt/slides/slide1.xml"),
            ("word", "/word/document.xml", "word/document.xml"),
            ("", "word/document.xml", "word/document.xml"),
            ("a", "../../../x", "x"),
        ] {
            assert_eq!(resolve(folder, target), expected);
        }
    }
}
