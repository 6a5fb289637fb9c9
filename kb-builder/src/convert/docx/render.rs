//! The blocks of a Word document written as Markdown.

use super::super::escape;
use super::body::Block;

/// The text, and the title if a paragraph is one. Headings stand one level below it then.
pub fn render(blocks: &[Block]) -> (String, Option<String>) {
    let has_title = blocks.iter().any(|b| matches!(b, Block::Title(_)));
    let shift = u8::from(has_title);
    let mut title = None;
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    while at < blocks.len() {
        let run = |same: fn(&Block) -> bool| blocks[at..].iter().take_while(|b| same(b)).count();
        match &blocks[at] {
            Block::Title(text) => {
                if title.is_none() {
                    title = Some(kb_core::document::plain(text).text);
                    out.push(escape::heading(1, text, ""));
                } else {
                    out.push(escape::line_start(text));
                }
                at += 1;
            }
            Block::Heading(level, text) => {
                out.push(escape::heading(level.saturating_add(shift).min(6), text, ""));
                at += 1;
            }
            Block::Markdown(text) | Block::Paragraph { text, .. } => {
                out.push(text.clone());
                at += 1;
            }
            Block::Item(..) => {
                let count = run(|b| matches!(b, Block::Item(..)));
                out.push(list(&blocks[at..at + count]));
                at += count;
            }
            Block::Code(_) => {
                let count = run(|b| matches!(b, Block::Code(_)));
                out.push(code(&blocks[at..at + count]));
                at += count;
            }
            Block::Quote(_) => {
                let count = run(|b| matches!(b, Block::Quote(_)));
                let lines: Vec<&str> = blocks[at..at + count]
                    .iter()
                    .filter_map(|b| if let Block::Quote(text) = b { Some(text.as_str()) } else { None })
                    .collect();
                out.push(escape::prefixed(&lines.join("\n\n"), "> ", "> "));
                at += count;
            }
        }
    }
    out.retain(|b| !b.trim().is_empty());
    let mut text = out.join("\n\n");
    text.push('\n');
    (text, title)
}

fn list(items: &[Block]) -> String {
    let mut lines = Vec::new();
    // The levels that are open and how far their text is indented.
    let mut open: Vec<(usize, usize)> = Vec::new();
    for item in items {
        let Block::Item(level, marker, text) = item else { continue };
        while open.last().is_some_and(|(l, _)| l >= level) {
            open.pop();
        }
        let indent = open.last().map_or(0, |(_, width)| *width);
        let inner = indent + marker.len();
        open.push((*level, inner));
        lines.push(escape::prefixed(text, &(" ".repeat(indent) + marker), &" ".repeat(inner)));
    }
    lines.join("\n")
}

fn code(lines: &[Block]) -> String {
    let lines: Vec<&str> =
        lines.iter().filter_map(|b| if let Block::Code(line) = b { Some(line.as_str()) } else { None }).collect();
    escape::code_block("", lines.join("\n").trim_matches('\n'))
}
