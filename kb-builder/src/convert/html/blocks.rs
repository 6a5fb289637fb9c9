//! Block content of HTML as Markdown blocks.

use super::super::escape;
use super::inline::{self, MAX_DEPTH};
use super::{first, is_skipped};
use scraper::{ElementRef, Node};

/// The blocks of an element's content, in order, to be joined by blank lines.
pub fn of_container(el: ElementRef) -> Vec<String> {
    let mut writer = Writer::default();
    writer.children(el, 0);
    writer.flush();
    writer.blocks
}

#[derive(Default)]
struct Writer {
    blocks: Vec<String>,
    /// Inline content since the last block.
    paragraph: String,
}

impl Writer {
    fn children(&mut self, el: ElementRef, depth: usize) {
        for child in el.children() {
            match child.value() {
                Node::Text(t) => self.inline(&escape::text(&inline::fold(t))),
                Node::Element(_) => {
                    if let Some(child) = ElementRef::wrap(child).filter(|c| !is_skipped(*c)) {
                        self.element(child, depth + 1);
                    }
                }
                _ => {}
            }
        }
    }

    fn element(&mut self, el: ElementRef, depth: usize) {
        if depth > MAX_DEPTH {
            let text = inline::plain(el);
            self.block(escape::text(&text.split_whitespace().collect::<Vec<_>>().join(" ")));
            return;
        }
        match el.value().name() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => self.heading(el, depth),
            "pre" => self.block(escape::code_block(&language(el), &inline::plain(el))),
            "ul" | "ol" | "menu" => self.list(el, depth),
            "table" => self.table(el, depth),
            "blockquote" => self.quote(el, None, depth),
            "dl" => self.definitions(el, depth),
            "hr" => self.flush(),
            "div" if el.value().classes().any(|c| c == "admonition") => self.admonition(el, depth),
            name if is_block(name) => {
                self.flush();
                self.children(el, depth);
                self.flush();
            }
            _ => {
                let text = inline::of_element(el, depth);
                // An element that is inline by name but holds blocks, such as a link around a card.
                if el.descendent_elements().any(|d| {
                    matches!(d.value().name(), "pre" | "table" | "h1" | "h2" | "h3" | "h4" | "h5" | "h6" | "ul" | "ol")
                }) {
                    self.children(el, depth);
                } else {
                    self.inline(&text);
                }
            }
        }
    }

    fn inline(&mut self, piece: &str) {
        let piece = if self.paragraph.is_empty() || self.paragraph.ends_with([' ', '\n']) {
            piece.trim_start_matches(' ')
        } else {
            piece
        };
        self.paragraph.push_str(piece);
    }

    /// Ends the paragraph at hand.
    fn flush(&mut self) {
        let paragraph = std::mem::take(&mut self.paragraph);
        let lines: Vec<String> =
            paragraph.lines().map(|l| escape::line_start(l.trim())).filter(|l| !l.is_empty()).collect();
        if !lines.is_empty() {
            self.blocks.push(lines.join("\n"));
        }
    }

    fn block(&mut self, block: String) {
        self.flush();
        if !block.trim().is_empty() {
            self.blocks.push(block);
        }
    }

    fn heading(&mut self, el: ElementRef, depth: usize) {
        let level = el.value().name().as_bytes().get(1).map_or(1, |d| d - b'0');
        let title = inline::of_children(el, depth);
        if !title.trim().is_empty() {
            self.block(escape::heading(level, &title, &anchor(el)));
        }
    }

    fn list(&mut self, el: ElementRef, depth: usize) {
        self.flush();
        let ordered = el.value().name() == "ol";
        let mut number: u64 = el.attr("start").and_then(|s| s.parse().ok()).unwrap_or(1);
        let mut items = Vec::new();
        for item in el.child_elements().filter(|c| !is_skipped(*c)) {
            let blocks = nested(item, depth);
            // A list straight inside a list belongs to the item before it.
            let body = join_tight(&blocks);
            if body.is_empty() {
                continue;
            }
            let marker = if ordered { format!("{number}. ") } else { "- ".to_string() };
            items.push(escape::prefixed(&body, &marker, &" ".repeat(marker.len())));
            number += 1;
        }
        self.block(items.join("\n"));
    }

    fn definitions(&mut self, el: ElementRef, depth: usize) {
        self.flush();
        for part in el.descendent_elements().skip(1).filter(|d| nearest(*d, "dl") == Some(el) && !is_skipped(*d)) {
            match part.value().name() {
                "dt" => {
                    let term = inline::of_children(part, depth);
                    if !term.trim().is_empty() {
                        self.block(escape::line_start(term.trim()));
                    }
                }
                "dd" => {
                    for block in nested(part, depth) {
                        self.block(block);
                    }
                }
                _ => {}
            }
        }
    }

    fn quote(&mut self, el: ElementRef, title: Option<String>, depth: usize) {
        let mut blocks: Vec<String> = title.map(|t| format!("**{t}**")).into_iter().collect();
        blocks.extend(nested(el, depth));
        self.block(escape::prefixed(&blocks.join("\n\n"), "> ", "> "));
    }

    fn admonition(&mut self, el: ElementRef, depth: usize) {
        // Sphinx marks the title by a class; it is a child and comes out as the first block.
        let mut blocks = nested(el, depth);
        if first(&el, ".admonition-title").is_some() && !blocks.is_empty() {
            blocks[0] = format!("**{}**", blocks[0]);
        }
        self.block(escape::prefixed(&blocks.join("\n\n"), "> ", "> "));
    }

    fn table(&mut self, el: ElementRef, depth: usize) {
        let own_cells = |row: ElementRef| -> Vec<String> {
            row.child_elements()
                .filter(|c| matches!(c.value().name(), "td" | "th"))
                .map(|c| inline::of_children(c, depth + 1).trim().to_string())
                .collect()
        };
        // A table with code, lists or tables in it is a layout: its cells are read as blocks.
        let is_layout =
            el.descendent_elements().skip(1).any(|d| matches!(d.value().name(), "pre" | "table" | "h1" | "h2" | "h3"));
        if is_layout {
            for block in nested_blocks_of_cells(el, depth) {
                self.block(block);
            }
            return;
        }
        if let Some(caption) = first(&el, "caption") {
            self.block(escape::line_start(inline::of_children(caption, depth).trim()));
        }
        let mut rows: Vec<Vec<String>> = el
            .descendent_elements()
            .filter(|d| d.value().name() == "tr" && !is_skipped(*d))
            .map(own_cells)
            .filter(|r| !r.is_empty())
            .collect();
        let has_header = first(&el, "th").is_some();
        if !has_header && !rows.is_empty() {
            // GFM has no table without a header row.
            rows.insert(0, vec![String::new(); rows.iter().map(Vec::len).max().unwrap_or(1)]);
        }
        self.block(if rows.is_empty() { String::new() } else { escape::table(&rows) });
    }
}

/// The blocks inside `el`, on their own.
fn nested(el: ElementRef, depth: usize) -> Vec<String> {
    let mut writer = Writer::default();
    writer.children(el, depth + 1);
    writer.flush();
    writer.blocks
}

fn nested_blocks_of_cells(el: ElementRef, depth: usize) -> Vec<String> {
    let own = |d: &ElementRef| matches!(d.value().name(), "td" | "th" | "caption") && nearest(*d, "table") == Some(el);
    el.descendent_elements()
        .skip(1)
        .filter(own)
        .filter(|c| !is_skipped(*c))
        .flat_map(|c| nested(c, depth + 1))
        .collect()
}

/// Blocks of a list item: a paragraph and a list under it need no blank line between them.
fn join_tight(blocks: &[String]) -> String {
    let mut out = String::new();
    for (i, block) in blocks.iter().enumerate() {
        if i > 0 {
            let is_list = block.starts_with("- ") || block.starts_with(|c: char| c.is_ascii_digit());
            out.push_str(if is_list { "\n" } else { "\n\n" });
        }
        out.push_str(block);
    }
    out
}

/// The nearest ancestor with this name.
fn nearest<'a>(el: ElementRef<'a>, name: &str) -> Option<ElementRef<'a>> {
    el.ancestors().filter_map(ElementRef::wrap).find(|a| a.value().name() == name)
}

fn is_block(name: &str) -> bool {
    matches!(
        name,
        "html"
            | "body"
            | "main"
            | "article"
            | "section"
            | "div"
            | "p"
            | "header"
            | "figure"
            | "figcaption"
            | "details"
            | "summary"
            | "address"
            | "center"
            | "fieldset"
            | "hgroup"
            | "li"
            | "dd"
            | "dt"
            | "tr"
            | "td"
            | "th"
            | "tbody"
            | "thead"
            | "tfoot"
            | "caption"
            | "search"
    )
}

/// The id that a link to this heading uses: its own, that of the section it opens (Sphinx), or that
/// of an anchor inside it.
fn anchor(el: ElementRef) -> String {
    if let Some(id) = el.attr("id") {
        return id.to_string();
    }
    if let Some(section) =
        el.parent().and_then(ElementRef::wrap).filter(|p| matches!(p.value().name(), "section" | "div"))
    {
        let opens = section.child_elements().find(|c| !matches!(c.value().name(), "span" | "a")) == Some(el);
        if let (true, Some(id)) = (opens, section.attr("id")) {
            return id.to_string();
        }
    }
    let inside = el
        .descendent_elements()
        .skip(1)
        .filter(|d| !is_skipped(*d))
        .find_map(|d| d.attr("id").or_else(|| d.attr("name").filter(|_| d.value().name() == "a")));
    inside.unwrap_or_default().to_string()
}

/// The language of a code block from the classes of `pre`, its `code` or what is around it.
fn language(pre: ElementRef) -> String {
    let around = pre.ancestors().filter_map(ElementRef::wrap).take(2);
    let code = pre.child_elements().find(|c| c.value().name() == "code");
    for el in code.into_iter().chain([pre]).chain(around) {
        for class in el.value().classes() {
            for prefix in ["language-", "lang-", "highlight-", "brush-"] {
                if let Some(language) = class
                    .strip_prefix(prefix)
                    .filter(|l| !matches!(*l, "default" | "none" | "notranslate" | "source" | "plaintext"))
                {
                    return language.to_string();
                }
            }
        }
    }
    String::new()
}
