//! Inline content of HTML as one paragraph of inline Markdown.

use super::super::escape;
use super::is_skipped;
use scraper::{ElementRef, Node};

/// Elements nested deeper than this are read as plain text, so that no page exhausts the stack.
pub const MAX_DEPTH: usize = 100;

/// The inline Markdown of an element's children, white space folded.
///
/// Emphasis is left out: between Chinese characters its Markdown form often is not recognised, and
/// search has no use for it.
pub fn of_children(el: ElementRef, depth: usize) -> String {
    let mut out = String::new();
    for child in el.children() {
        match child.value() {
            Node::Text(t) => push_folded(&mut out, &escape::text(&fold(t))),
            Node::Element(_) => {
                if let Some(child) = ElementRef::wrap(child) {
                    push_folded(&mut out, &of_element(child, depth));
                }
            }
            _ => {}
        }
    }
    out
}

/// The inline Markdown of one element.
pub fn of_element(el: ElementRef, depth: usize) -> String {
    if is_skipped(el) {
        return String::new();
    }
    if depth > MAX_DEPTH {
        return escape::text(&fold(&plain(el)));
    }
    if let Some(math) = tex(el) {
        return math;
    }
    match el.value().name() {
        "code" | "kbd" | "samp" | "tt" => escape::code_span(&plain(el)),
        "br" => "\n".into(),
        "img" => el.attr("alt").map(|a| escape::text(&fold(a))).unwrap_or_default(),
        "a" => link(el, depth),
        // Block elements in inline content are kept apart by a space.
        "p" | "div" | "li" | "td" | "th" | "tr" | "dd" | "dt" | "ul" | "ol" | "pre" | "blockquote" => {
            format!(" {} ", of_children(el, depth + 1))
        }
        _ => of_children(el, depth + 1),
    }
}

/// All text of an element as it stands, what is left out excepted. Iterative: any depth is fine.
pub fn plain(el: ElementRef) -> String {
    let mut out = String::new();
    // Nodes are taken from the end, so children are put on in reverse.
    let mut nodes: Vec<_> = el.children().rev().collect();
    while let Some(node) = nodes.pop() {
        match node.value() {
            Node::Text(t) => out.push_str(t),
            Node::Element(e) if e.name() == "br" => out.push('\n'),
            Node::Element(_) => {
                if let Some(child) = ElementRef::wrap(node).filter(|c| !is_skipped(*c)) {
                    nodes.extend(child.children().rev());
                }
            }
            _ => {}
        }
    }
    out
}

fn link(el: ElementRef, depth: usize) -> String {
    let text = of_children(el, depth + 1);
    let target = el.attr("href").unwrap_or_default().trim();
    let web = target.starts_with("https://") || target.starts_with("http://");
    let plain_target = !target.contains(|c: char| c.is_whitespace() || matches!(c, '(' | ')' | '<' | '>' | '\\'));
    // A link inside the site would be dead in the reader view; brackets in the text would end it.
    if web && plain_target && !text.trim().is_empty() && !text.contains(['[', ']', '\n']) {
        format!("[{}]({target})", text.trim())
    } else {
        text
    }
}

/// The TeX source of a formula, in the three ways that pages carry it: MathML with an annotation
/// (KaTeX), Sphinx's `\(…\)` and `\[…\]`, and MathJax's scripts (which are skipped otherwise).
fn tex(el: ElementRef) -> Option<String> {
    if el.value().name() == "math" {
        let source = super::first(&el, "annotation[encoding='application/x-tex']")
            .map(plain)
            .or_else(|| el.attr("alttext").map(str::to_string))?;
        let display = el.attr("display") == Some("block");
        return Some(delimited(&source, display));
    }
    if el.value().classes().any(|c| c == "math") {
        let source = plain(el);
        let source = source.trim();
        if let Some(inner) = source.strip_prefix("\\(").and_then(|s| s.strip_suffix("\\)")) {
            return Some(delimited(inner, false));
        }
        if let Some(inner) = source.strip_prefix("\\[").and_then(|s| s.strip_suffix("\\]")) {
            return Some(delimited(inner, true));
        }
    }
    None
}

fn delimited(source: &str, display: bool) -> String {
    let source = source.split_whitespace().collect::<Vec<_>>().join(" ");
    if display { format!("$${source}$$") } else { format!("${source}$") }
}

/// Folds runs of white space into one space, as a browser does. A no-break space is one too here: it
/// says how to break lines, which is of no use to a search.
pub fn fold(s: &str) -> String {
    let mut out = String::with_capacity(s.len());
    for c in s.chars() {
        if matches!(c, ' ' | '\t' | '\n' | '\r' | '\u{c}' | '\u{a0}') {
            if !out.ends_with(' ') {
                out.push(' ');
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Appends without doubling the space between two pieces.
fn push_folded(out: &mut String, piece: &str) {
    let piece = if out.ends_with([' ', '\n']) { piece.strip_prefix(' ').unwrap_or(piece) } else { piece };
    if piece.starts_with('\n') {
        out.truncate(out.trim_end_matches(' ').len());
    }
    out.push_str(piece);
}
