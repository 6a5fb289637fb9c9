//! The blocks of a Word document: headings, paragraphs, lists, tables, code.

use super::super::escape;
use super::super::xml::Element;
use super::Docx;
use super::inline::Inline;
use super::numbering::Label;
use super::styles::{Format, Role};
use roxmltree::Node;

/// Blocks nested deeper than this (tables in tables, boxes in boxes) are left out.
const MAX_DEPTH: usize = 20;

/// A block of the document.
#[derive(Debug)]
pub enum Block {
    /// The document's title.
    Title(String),
    /// Level 1 to 9, and the text with its number.
    Heading(u8, String),
    /// Anything that is Markdown already.
    Markdown(String),
    /// A paragraph of running text, with what a guess at headings needs.
    Paragraph {
        text: String,
        /// In half points, 0 if unknown.
        size: u32,
        letters: usize,
        bold: bool,
    },
    /// Level from 0, marker with its space, text.
    Item(usize, String, String),
    /// A line of code.
    Code(String),
    /// A line of a quotation.
    Quote(String),
}

/// Reads the blocks below `node` in order.
pub fn blocks<'a, 'i>(node: Node<'a, 'i>, docx: &Docx<'a, 'i>, depth: usize, out: &mut Vec<Block>) {
    if depth > MAX_DEPTH {
        return;
    }
    for child in node.children().filter(|c| c.is_element()) {
        match child.name() {
            "p" => paragraph(child, docx, depth, out),
            "tbl" => table(child, docx, depth, out),
            "sdt" => {
                let is_contents = child
                    .child("sdtPr")
                    .and_then(|p| p.child("docPartObj"))
                    .and_then(|p| p.val("docPartGallery"))
                    .is_some_and(|g| g == "Table of Contents");
                if let (false, Some(content)) = (is_contents, child.child("sdtContent")) {
                    blocks(content, docx, depth + 1, out);
                }
            }
            "AlternateContent" => {
                if let Some(chosen) = child.child("Choice").or_else(|| child.child("Fallback")) {
                    blocks(chosen, docx, depth + 1, out);
                }
            }
            "sectPr" | "del" | "moveFrom" => {}
            _ => blocks(child, docx, depth + 1, out),
        }
    }
}

fn paragraph<'a, 'i>(p: Node<'a, 'i>, docx: &Docx<'a, 'i>, depth: usize, out: &mut Vec<Block>) {
    let properties = p.child("pPr");
    let style = docx.styles.paragraph(properties.and_then(|p| p.val("pStyle")));
    // The mark of the paragraph has letter properties of its own, which say nothing of the text.
    let format = Format::read(properties, None).or(&style.format);
    let inline = Inline::read(p, &style.format, docx);
    let label = match format.numbering {
        Some(id) if id > 0 => docx.numbering.borrow_mut().next(id, format.level.unwrap_or(0)),
        _ => None,
    };
    if style.role == Role::Contents {
        return;
    }
    let level = match (format.outline, style.role) {
        (Some(level @ 1..), _) | (None, Role::Heading(level)) => Some(level),
        _ => None,
    };
    let text = inline.markdown();
    let number = |text: &str| match &label {
        Some(Label::Number { text: number, .. }) => join_number(number, text),
        _ => text.to_string(),
    };
    if text.is_empty() {
        if style.role == Role::Code && matches!(out.last(), Some(Block::Code(_))) {
            out.push(Block::Code(String::new()));
        }
    } else if style.role == Role::Title {
        out.push(Block::Title(text.replace('\n', " ")));
    } else if let Some(level) = level {
        out.push(Block::Heading(level, number(&text).replace('\n', " ")));
    } else if style.role == Role::Code || inline.is_monospace() {
        out.extend(inline.plain().replace('\t', "    ").lines().map(|l| Block::Code(l.trim_end().to_string())));
    } else if let Some(math) = inline.only_math() {
        out.push(Block::Markdown(format!("$$\n{math}\n$$")));
    } else if let Some(label) = &label {
        let marker = match label {
            Label::Bullet => "- ".to_string(),
            Label::Number { plain: Some(n), .. } => format!("{n}. "),
            Label::Number { .. } => "- ".to_string(),
        };
        let text = if marker == "- " { number(&text) } else { text };
        out.push(Block::Item(format.level.unwrap_or(0), marker, line_starts(&text)));
    } else if style.role == Role::Quote {
        out.push(Block::Quote(line_starts(&text)));
    } else {
        let (size, letters) = inline.size();
        out.push(Block::Paragraph { text: line_starts(&text), size, letters, bold: inline.is_bold() });
    }
    finish(&inline, docx, depth, out);
}

/// Text boxes and footnotes that hang on a paragraph follow it.
fn finish<'a, 'i>(inline: &Inline<'a, 'i>, docx: &Docx<'a, 'i>, depth: usize, out: &mut Vec<Block>) {
    for inner in &inline.boxes {
        blocks(*inner, docx, depth + 1, out);
    }
    for (mark, note) in &inline.notes {
        let text = text_of(*note, docx, depth + 1, out);
        if !text.is_empty() {
            out.push(Block::Markdown(format!("[^{mark}]: {text}")));
        }
    }
}

/// All paragraphs below a cell or note on one line. Footnotes of them go to `out`.
fn text_of<'a, 'i>(node: Node<'a, 'i>, docx: &Docx<'a, 'i>, depth: usize, out: &mut Vec<Block>) -> String {
    let mut parts = Vec::new();
    if depth > MAX_DEPTH {
        return String::new();
    }
    for p in node.descendants().filter(|d| d.name() == "p") {
        // The text of a box comes through the paragraph that it hangs on.
        if p.ancestors().skip(1).take_while(|a| *a != node).any(|a| matches!(a.name(), "txbxContent" | "p")) {
            continue;
        }
        let style = docx.styles.paragraph(p.child("pPr").and_then(|p| p.val("pStyle")));
        let format = Format::read(p.child("pPr"), None).or(&style.format);
        let inline = Inline::read(p, &style.format, docx);
        let label = match format.numbering {
            Some(id) if id > 0 => docx.numbering.borrow_mut().next(id, format.level.unwrap_or(0)),
            _ => None,
        };
        let text = inline.markdown().replace('\n', " ");
        match label {
            Some(Label::Number { text: number, .. }) if !text.is_empty() => parts.push(join_number(&number, &text)),
            _ => parts.push(text),
        }
        finish(&inline, docx, depth, out);
    }
    parts.retain(|t| !t.is_empty());
    parts.join(" ")
}

/// A number before a text: Chinese marks such as `、` need no space.
fn join_number(number: &str, text: &str) -> String {
    let gap = if number.ends_with(['、', '）', '．', '：']) { "" } else { " " };
    escape::text(number) + gap + text
}

fn line_starts(text: &str) -> String {
    text.lines().map(escape::line_start).collect::<Vec<_>>().join("\n")
}

/// Most columns that one cell may span.
const MAX_SPAN: usize = 64;

fn table<'a, 'i>(tbl: Node<'a, 'i>, docx: &Docx<'a, 'i>, depth: usize, out: &mut Vec<Block>) {
    // Rows and cells can stand inside content controls.
    let below = |node: Node<'a, 'i>, name: &'static str, stop: &'static str| {
        node.descendants()
            .skip(1)
            .filter(move |d| d.name() == name)
            .filter(move |d| d.ancestors().skip(1).take_while(|a| *a != node).all(|a| a.name() != stop))
            .collect::<Vec<_>>()
    };
    let rows = below(tbl, "tr", "tbl");
    let cells: Vec<Vec<Node>> = rows.iter().map(|r| below(*r, "tc", "tbl")).collect();
    if cells.iter().map(Vec::len).sum::<usize>() <= 1 {
        // A frame around text or code, not a table.
        for cell in cells.iter().flatten() {
            blocks(*cell, docx, depth + 1, out);
        }
        return;
    }
    let mut grid: Vec<Vec<String>> = Vec::new();
    let mut after = Vec::new();
    for row in &cells {
        let mut line: Vec<String> = Vec::new();
        for cell in row {
            let properties = cell.child("tcPr");
            let span = properties.and_then(|p| p.val("gridSpan")).and_then(|s| s.parse::<usize>().ok()).unwrap_or(1);
            let merge = properties.and_then(|p| p.child("vMerge"));
            let goes_on = merge.is_some_and(|m| m.attr("val").unwrap_or("continue") == "continue");
            let text = if goes_on {
                // A merged cell belongs to every one of its rows: each is read alone later.
                grid.last().and_then(|above| above.get(line.len())).cloned().unwrap_or_default()
            } else {
                text_of(*cell, docx, depth + 1, &mut after)
            };
            line.push(text);
            line.extend(std::iter::repeat_n(String::new(), span.clamp(1, MAX_SPAN) - 1));
        }
        grid.push(line);
    }
    if grid.iter().flatten().any(|c| !c.is_empty()) {
        out.push(Block::Markdown(escape::table(&grid)));
    }
    out.append(&mut after);
}
