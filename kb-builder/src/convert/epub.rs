//! Books (EPUB 2 and 3) to Markdown: the chapters in reading order.

use super::archive::Archive;
use super::office::resolve;
use super::xml::{self, Element};
use super::{Markdown, Notes, escape, html};
use kb_core::document::MetaValue;
use kb_core::{Error, ErrorKind, Result};
use std::collections::{BTreeMap, HashMap};

/// Ways of obfuscating fonts, which are no protection of the text.
const FONT_OBFUSCATION: [&str; 2] = ["http://www.idpf.org/2008/embedding", "http://ns.adobe.com/pdf/enc#RC"];

/// Converts a book.
///
/// # Errors
/// [`ErrorKind::Convert`] for what is no such file, is damaged or protected.
pub fn to_markdown(bytes: &[u8], notes: &mut Notes) -> Result<Markdown> {
    let archive = Archive::open(bytes, "EPUB")?;
    refuse_protected(&archive)?;
    let container = archive.required("META-INF/container.xml")?;
    let container = xml::parse(&container, "META-INF/container.xml")?;
    let package_path = container
        .descendants()
        .find(|n| n.name() == "rootfile")
        .and_then(|n| n.attr("full-path"))
        .ok_or_else(|| Error::new(ErrorKind::Convert, "it does not say where its contents are"))?;
    let folder = package_path.rsplit_once('/').map_or("", |(folder, _)| folder);
    let text = archive.required(package_path)?;
    let package = xml::parse(&text, package_path)?;
    let root = package.root_element();

    let mut parts = HashMap::new();
    for item in root.child("manifest").iter().flat_map(|m| m.all("item")) {
        let (Some(id), Some(href)) = (item.attr("id"), item.attr("href")) else { continue };
        let is_text = item.attr("media-type").is_some_and(|t| t.contains("html"));
        let is_contents = item.attr("properties").is_some_and(|p| p.split(' ').any(|p| p == "nav"));
        if is_text && !is_contents {
            let href = percent_encoding::percent_decode_str(href).decode_utf8_lossy().into_owned();
            parts.insert(id, resolve(folder, &href));
        }
    }
    let mut blocks: Vec<String> = Vec::new();
    for reference in root.child("spine").iter().flat_map(|s| s.all("itemref")) {
        let Some(part) = reference.attr("idref").and_then(|id| parts.get(id)) else { continue };
        let Some(bytes) = archive.part(part)? else {
            notes.count("chapter that the book lists but does not have", 1);
            continue;
        };
        let declared = html::declared_charset(&bytes);
        let page = super::encoding::decode(&bytes, declared.as_deref())?.text;
        let chapter = html::to_markdown(&self_closed(&page))?;
        let text = chapter.text.trim();
        if text.is_empty() {
            continue;
        }
        // A chapter without a heading is known by the title of its page, if that is not the book's.
        let title = chapter.title.filter(|t| !t.is_empty() && !text.contains("# "));
        if let Some(title) = title.filter(|t| metadata_text(root, "title").as_ref() != Some(t)) {
            blocks.push(escape::heading(2, &escape::text(&title), ""));
        }
        blocks.push(text.to_string());
    }
    let mut metadata = BTreeMap::new();
    for (key, name) in [("author", "creator"), ("publisher", "publisher")] {
        if let Some(value) = metadata_text(root, name) {
            metadata.insert(key.to_string(), MetaValue::Text(value));
        }
    }
    if let Some(date) = metadata_text(root, "date") {
        metadata.insert("date".to_string(), MetaValue::Date(date));
    }
    Ok(Markdown {
        text: blocks.join("\n\n") + "\n",
        title: metadata_text(root, "title"),
        metadata,
        ..Markdown::default()
    })
}

fn metadata_text(package: roxmltree::Node, name: &str) -> Option<String> {
    let text = package.child("metadata")?.children().find(|n| n.name() == name)?.content();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    (!text.is_empty()).then_some(text)
}

fn refuse_protected(archive: &Archive) -> Result<()> {
    let Some(text) = archive.xml("META-INF/encryption.xml")? else { return Ok(()) };
    let document = xml::parse(&text, "META-INF/encryption.xml")?;
    let protected = document
        .descendants()
        .filter(|n| n.name() == "EncryptionMethod")
        .filter_map(|n| n.attr("Algorithm"))
        .any(|a| !FONT_OBFUSCATION.contains(&a));
    if protected {
        return Err(Error::new(
            ErrorKind::Convert,
            "it is protected against copying (DRM), so its text cannot be read",
        ));
    }
    Ok(())
}

/// XHTML lets any element close itself; HTML takes `<title/>` or `<script/>` for one that never ends.
fn self_closed(page: &str) -> String {
    let mut out = page.to_string();
    for name in ["title", "script", "style", "a", "div", "span", "p", "i", "b", "em"] {
        let mut from = 0;
        while let Some(found) = out[from..].find(&format!("<{name}")) {
            let start = from + found;
            let after = start + 1 + name.len();
            from = after;
            let Some(length) = out[after..].find('>') else { break };
            let end = after + length;
            let ends_name = matches!(out.as_bytes().get(after), Some(b'/' | b' ' | b'\n' | b'\t' | b'\r'));
            if ends_name && out[..end].ends_with('/') && !out[after..end].contains('<') {
                out.replace_range(end - 1..=end, &format!("></{name}>"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_close_themselves_are_closed() {
        assert_eq!(self_closed("<title/><p>x</p><a id=\"n\"/>y"), "<title></title><p>x</p><a id=\"n\"></a>y");
        assert_eq!(self_closed("<abbr/><p class=\"a/\">x</p>"), "<abbr/><p class=\"a/\">x</p>");
    }
}
