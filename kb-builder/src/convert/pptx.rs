//! Presentations (PPTX) to Markdown: a section a slide, with its notes.

use super::archive::Archive;
use super::escape;
use super::office::{self, Relations, math};
use super::xml::{self, Element};
use super::{Markdown, Notes};
use kb_core::{Error, ErrorKind, Result};
use roxmltree::Node;

/// Groups nested deeper than this are left out.
const MAX_DEPTH: usize = 30;

/// Converts a presentation. Every slide has the anchor `slide-N`.
///
/// # Errors
/// [`kb_core::ErrorKind::Convert`] for what is no such file, is damaged or protected.
pub fn to_markdown(bytes: &[u8], notes: &mut Notes) -> Result<Markdown> {
    let archive = Archive::open(bytes, "PPTX")?;
    let root = Relations::read(&archive, "")?;
    let main = root.of_kind("officeDocument").unwrap_or("ppt/presentation.xml").to_string();
    let relations = Relations::read(&archive, &main)?;
    let text = archive.required(&main)?;
    let presentation = xml::parse(&text, &main)?;
    let list = presentation.root_element().child("sldIdLst");
    // `id` is the slide's own number, `r:id` the relation: both have the local name `id`.
    let relation_id =
        |n: Node| n.attributes().find(|a| a.name() == "id" && a.namespace().is_some()).map(|a| a.value().to_string());
    let slides: Vec<String> = list
        .iter()
        .flat_map(|l| l.all("sldId"))
        .filter_map(|n| relations.part(&relation_id(n)?).map(str::to_string))
        .collect();
    if slides.is_empty() {
        return Err(Error::new(ErrorKind::Convert, "it has no slides"));
    }
    let mut blocks = Vec::new();
    let mut first_title = None;
    let mut hidden = 0;
    for (i, part) in slides.iter().enumerate() {
        let slide = Slide::read(&archive, part)?;
        hidden += usize::from(slide.hidden);
        let number = i + 1;
        let title = match &slide.title {
            Some(title) => title.clone(),
            None => format!("Slide {number}"),
        };
        if first_title.is_none() {
            first_title = slide.title.as_deref().map(|t| kb_core::document::plain(t).text);
        }
        blocks.push(escape::heading(2, &title, &format!("slide-{number}")));
        blocks.extend(slide.blocks);
        if !slide.notes.is_empty() {
            blocks.push(escape::prefixed(&slide.notes.join("\n\n"), "> ", "> "));
        }
    }
    if hidden > 0 {
        notes.count("hidden slides read as well", hidden);
    }
    let (own_title, metadata) = office::properties(&archive)?;
    let title = first_title.or(own_title.filter(|t| t != "PowerPoint Presentation" && t != "PowerPoint 演示文稿"));
    Ok(Markdown { text: blocks.join("\n\n") + "\n", title, metadata, ..Markdown::default() })
}

#[derive(Default)]
struct Slide {
    title: Option<String>,
    blocks: Vec<String>,
    notes: Vec<String>,
    hidden: bool,
}

impl Slide {
    fn read(archive: &Archive, part: &str) -> Result<Self> {
        let relations = Relations::read(archive, part)?;
        let text = archive.required(part)?;
        let document = xml::parse(&text, part)?;
        let mut slide =
            Self { hidden: matches!(document.root_element().attr("show"), Some("0" | "false")), ..Self::default() };
        slide.shapes(document.root_element(), &relations, 0);
        if let Some(name) = relations.of_kind("notesSlide") {
            let text = archive.required(name)?;
            let document = xml::parse(&text, name)?;
            // The notes page also shows the slide, its number and the date, in placeholders of their own.
            for shape in document.descendants().filter(|d| d.name() == "sp") {
                if placeholder(shape).is_some_and(|kind| kind == "body") {
                    slide.notes.extend(paragraphs(shape, &relations).into_iter().map(|p| p.text));
                }
            }
        }
        Ok(slide)
    }

    fn shapes(&mut self, node: Node, relations: &Relations, depth: usize) {
        if depth > MAX_DEPTH {
            return;
        }
        for child in node.children().filter(|c| c.is_element()) {
            match child.name() {
                "sp" => self.shape(child, relations),
                "graphicFrame" => {
                    for table in child.descendants().filter(|d| d.name() == "tbl") {
                        self.table(table, relations);
                    }
                }
                "pic" => {
                    let description = child.descendants().find(|d| d.name() == "cNvPr").and_then(|d| d.attr("descr"));
                    if let Some(text) = description.filter(|d| !d.trim().is_empty() && !d.contains("自动生成")) {
                        self.blocks.push(escape::line_start(&escape::text(text.lines().next().unwrap_or_default())));
                    }
                }
                "AlternateContent" => {
                    if let Some(chosen) = child.child("Choice").or_else(|| child.child("Fallback")) {
                        self.shapes(chosen, relations, depth + 1);
                    }
                }
                "cSld" | "spTree" | "grpSp" => self.shapes(child, relations, depth + 1),
                _ => {}
            }
        }
    }

    fn shape(&mut self, shape: Node, relations: &Relations) {
        let kind = placeholder(shape);
        if matches!(kind, Some("sldNum" | "dt" | "ftr" | "hdr")) {
            return;
        }
        let paragraphs = paragraphs(shape, relations);
        if matches!(kind, Some("title" | "ctrTitle")) && self.title.is_none() {
            let title: Vec<&str> = paragraphs.iter().map(|p| p.text.as_str()).collect();
            self.title = Some(title.join(" ").replace('\n', " ")).filter(|t| !t.is_empty());
            return;
        }
        // In the body of a slide every paragraph is a point; elsewhere only what has a bullet.
        let in_body = matches!(kind, Some("body" | "obj"));
        let mut items: Vec<String> = Vec::new();
        for p in paragraphs {
            let text: Vec<String> = p.text.lines().map(escape::line_start).collect();
            let text = text.join("\n");
            if p.bullet.unwrap_or(in_body) {
                let indent = "  ".repeat(p.level);
                items.push(escape::prefixed(&text, &format!("{indent}- "), &format!("{indent}  ")));
            } else {
                self.blocks.extend(flush(&mut items));
                self.blocks.push(text);
            }
        }
        self.blocks.extend(flush(&mut items));
    }

    fn table(&mut self, table: Node, relations: &Relations) {
        let mut rows: Vec<Vec<String>> = Vec::new();
        for row in table.all("tr") {
            let mut line = Vec::new();
            for cell in row.all("tc") {
                let covered = |name| matches!(cell.attr(name), Some("1" | "true"));
                let text: Vec<String> = paragraphs(cell, relations).into_iter().map(|p| p.text).collect();
                let above = rows.last().and_then(|r| r.get(line.len())).cloned();
                line.push(if covered("vMerge") { above.unwrap_or_default() } else { text.join(" ") });
            }
            rows.push(line);
        }
        if rows.iter().flatten().any(|c| !c.is_empty()) {
            self.blocks.push(escape::table(&rows));
        }
    }
}

fn flush(items: &mut Vec<String>) -> Option<String> {
    let list = std::mem::take(items);
    (!list.is_empty()).then(|| list.join("\n"))
}

/// The kind of placeholder that a shape fills; `obj` where none is named.
fn placeholder<'a>(shape: Node<'a, '_>) -> Option<&'a str> {
    let properties = shape.children().find(|c| c.name() == "nvSpPr")?.child("nvPr")?;
    properties.child("ph").map(|ph| ph.attr("type").unwrap_or("obj"))
}

struct Paragraph {
    text: String,
    level: usize,
    /// Whether the paragraph itself has or refuses a bullet.
    bullet: Option<bool>,
}

/// The paragraphs of a shape or cell that have text.
fn paragraphs(node: Node, relations: &Relations) -> Vec<Paragraph> {
    let Some(body) = node.child("txBody") else { return Vec::new() };
    let mut out = Vec::new();
    for p in body.all("p") {
        let mut text = String::new();
        for child in p.children().filter(|c| c.is_element()) {
            inline(child, relations, &mut text, 0);
        }
        let lines: Vec<String> = text.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let text = lines.join("\n").trim().to_string();
        if text.is_empty() {
            continue;
        }
        let properties = p.child("pPr");
        let level = properties.and_then(|p| p.attr("lvl")).and_then(|l| l.parse::<usize>().ok()).unwrap_or(0).min(8);
        let has = |name| properties.is_some_and(|p| p.child(name).is_some());
        let bullet = if has("buNone") {
            Some(false)
        } else if has("buChar") || has("buAutoNum") || has("buBlip") {
            Some(true)
        } else {
            None
        };
        out.push(Paragraph { text, level, bullet });
    }
    out
}

fn inline(node: Node, relations: &Relations, out: &mut String, depth: usize) {
    if depth > MAX_DEPTH {
        return;
    }
    match node.name() {
        "r" | "fld" => {
            let text = escape::text(&node.child("t").map(|t| t.content()).unwrap_or_default());
            let link = node
                .child("rPr")
                .and_then(|p| p.child("hlinkClick"))
                .and_then(|h| relations.web(h.attr("id")?))
                .filter(|u| u.starts_with("http") && !u.contains(|c: char| c.is_whitespace() || "()<>\\".contains(c)));
            match link {
                Some(url) if !text.trim().is_empty() && !text.contains(['[', ']']) => {
                    out.push_str(&format!("[{}]({url})", text.trim()));
                }
                _ => out.push_str(&text),
            }
        }
        "br" => out.push('\n'),
        "oMath" | "oMathPara" => {
            let latex = math::latex(node);
            if !latex.is_empty() {
                out.push_str(&format!("${latex}$"));
            }
        }
        "AlternateContent" => {
            if let Some(chosen) = node.child("Choice").or_else(|| node.child("Fallback")) {
                inline(chosen, relations, out, depth + 1);
            }
        }
        // PowerPoint keeps a formula in `a14:m`.
        "m" | "Choice" | "Fallback" => {
            for child in node.children().filter(|c| c.is_element()) {
                inline(child, relations, out, depth + 1);
            }
        }
        _ => {}
    }
}
