//! The portfolio strategy: what is written about somebody's projects, section by section, each passage of one of the
//! sorts that portfolios have. Badges and one-line sections are left out, code blocks are never cut.

use super::cut::{check_size, chunks_of, declared_kind};
use super::heading::{HeadingOptions, heading_lines, regions};
use super::pack::{Piece, pack};
use super::strategy::Window;
use super::{Chunk, ChunkKind};
use crate::Result;
use crate::document::{Document, plain};
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use std::ops::Range;

/// A section with so many characters below its heading, or fewer, says nothing.
const EMPTY_SECTION: usize = 30;

/// What headings say of the sections below them, by words in them. The first that fits counts.
const HEADINGS: [(ChunkKind, &[&str]); 3] = [
    (
        ChunkKind::ProjectTech,
        &[
            "tech stack",
            "technolog",
            "built with",
            "made with",
            "dependencies",
            "architecture",
            "under the hood",
            "技术",
            "依赖",
            "架构",
            "框架",
        ],
    ),
    (
        ChunkKind::ProjectStory,
        &[
            "motivation",
            "history",
            "background",
            "story",
            "why ",
            "lessons",
            "challenges",
            "changelog",
            "动机",
            "背景",
            "历史",
            "历程",
            "故事",
            "为什么",
            "缘起",
            "心得",
            "更新日志",
        ],
    ),
    (
        ChunkKind::ProjectOverview,
        &["overview", "introduction", "about", "features", "what is", "简介", "介绍", "概述", "概览", "特性", "功能"],
    ),
];

/// Cuts a document; the settings have been checked.
///
/// A document whose front matter names a sort (`chunk_type`) has that sort throughout. In another one the part over the
/// first subheading is what the project is, and headings tell the sorts of the rest.
pub(super) fn chunk(document: &Document, doc: u32, window: &Window) -> Result<Vec<Chunk>> {
    check_size(document)?;
    let options = HeadingOptions {
        max_level: 6,
        max_chars: window.size.max(100),
        overlap_chars: window.overlap.min(window.size / 4),
        hard_max_chars: usize::MAX,
        ..HeadingOptions::default()
    };
    let text = &document.text;
    let code = code_blocks(text);
    let mut pieces = Vec::new();
    for region in regions(document, &options) {
        if region.section.is_some() && is_empty(&text[region.span.clone()]) {
            continue;
        }
        let whole = || vec![Piece { new_from: region.span.start, span: region.span.clone() }];
        let cut = if region.chars <= options.max_chars { whole() } else { pack(text, region.span.clone(), &options) };
        let long = |p: &Piece| text[p.span.clone()].trim().chars().count() >= window.min.max(1);
        pieces.extend(joined(cut, &code).into_iter().filter(long).map(|piece| (piece, region.section)));
    }
    let mut chunks = chunks_of(document, doc, pieces);
    if declared_kind(document).is_none() {
        for chunk in &mut chunks {
            chunk.kind = kind_of_section(document, chunk.section.map(|s| s as usize));
        }
    }
    Ok(chunks)
}

/// Whether there is next to nothing below the heading of a section: too little, or only pictures.
fn is_empty(section: &str) -> bool {
    let below: String = section.split_inclusive('\n').skip(heading_lines(section)).collect();
    let below = below.trim();
    below.chars().count() <= EMPTY_SECTION || !has_words(below)
}

/// Whether there is anything besides pictures, such as badges.
fn has_words(markdown: &str) -> bool {
    let mut inside = 0_usize;
    let mut html = String::new();
    for event in Parser::new_ext(markdown, Options::ENABLE_TABLES | Options::ENABLE_GFM) {
        match event {
            Event::Start(Tag::Image { .. }) => inside += 1,
            Event::End(TagEnd::Image) => inside = inside.saturating_sub(1),
            Event::Text(t) | Event::Code(t) if inside == 0 && t.contains(char::is_alphanumeric) => return true,
            Event::Html(t) | Event::InlineHtml(t) => html.push_str(&t),
            _ => {}
        }
    }
    plain(&html).text.contains(char::is_alphanumeric)
}

/// Where the code blocks of a page are, fenced or indented.
fn code_blocks(text: &str) -> Vec<Range<usize>> {
    let events = Parser::new_ext(text, Options::ENABLE_TABLES | Options::ENABLE_GFM).into_offset_iter();
    events.filter(|(event, _)| matches!(event, Event::Start(Tag::CodeBlock(_)))).map(|(_, range)| range).collect()
}

/// The pieces, those between which a code block would be cut in one.
fn joined(pieces: Vec<Piece>, code: &[Range<usize>]) -> Vec<Piece> {
    let mut out: Vec<Piece> = Vec::new();
    for piece in pieces {
        let at = code.partition_point(|c| c.end <= piece.new_from);
        let cuts = code.get(at).is_some_and(|c| c.start < piece.new_from);
        match out.last_mut().filter(|_| cuts) {
            Some(last) => last.span.end = piece.span.end,
            None => out.push(piece),
        }
    }
    out
}

/// The sort of a section: what its heading or one around it says.
fn kind_of_section(document: &Document, section: Option<usize>) -> ChunkKind {
    let mut at = section;
    while let Some(section) = at.and_then(|i| document.sections.get(i)) {
        // The title stands over everything, and says nothing of its parts.
        if section.parent.is_none() && section.title == document.title {
            break;
        }
        let heading = format!("{} ", section.title.to_lowercase());
        if let Some((kind, _)) = HEADINGS.iter().find(|(_, words)| words.iter().any(|w| heading.contains(w))) {
            return *kind;
        }
        at = section.parent.filter(|p| Some(*p) < at);
    }
    let opens = section.is_none_or(|s| s == 0);
    if opens { ChunkKind::ProjectOverview } else { ChunkKind::ProjectDetail }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chunk::ChunkStrategy;
    use crate::document::parse_markdown;
    use proptest::prelude::{ProptestConfig, prop_assert, proptest};

    fn cut(text: &str) -> Vec<(ChunkKind, String)> {
        let document = parse_markdown("README.md", text).document;
        let chunks = ChunkStrategy::Portfolio(Window::PORTFOLIO).chunk(&document, 0).expect("valid settings");
        chunks.iter().map(|c| (c.kind, c.text(&document).expect("its own").to_owned())).collect()
    }

    #[test]
    fn headings_tell_the_sorts() {
        use ChunkKind::{ProjectDetail, ProjectOverview, ProjectStory, ProjectTech};
        let body = "Enough words below this heading to be worth a passage.";
        let text = format!(
            "# Tool\n\n{body}\n\n## Why I wrote it\n\n{body}\n\n## Tech stack\n\n{body}\n\n### Backend\n\n{body}\n\n\
             ## Usage\n\n{body}\n\n## 项目背景\n\n{body}\n\n## 功能\n\n{body}\n"
        );
        let kinds: Vec<ChunkKind> = cut(&text).iter().map(|(kind, _)| *kind).collect();
        assert_eq!(
            kinds,
            [ProjectOverview, ProjectStory, ProjectTech, ProjectTech, ProjectDetail, ProjectStory, ProjectOverview]
        );
        // A title with such a word in it says nothing of what is below.
        let kinds: Vec<ChunkKind> =
            cut(&format!("# Changelog tool\n\n{body}\n\n## Usage\n\n{body}\n")).iter().map(|(k, _)| *k).collect();
        assert_eq!(kinds, [ProjectOverview, ProjectDetail]);
        let declared = cut(&format!("---\nchunk_type: identity\n---\n{body}\n\n## Tech stack\n\n{body}\n"));
        assert!(declared.iter().all(|(kind, _)| *kind == ChunkKind::Identity), "{declared:?}");
    }

    #[test]
    fn what_is_too_short_is_dropped_at_these_very_numbers() {
        let text = |n: usize| "字".repeat(n);
        // Below a heading 30 characters are too few, 31 are enough.
        let page = format!("# A\n\n{}\n\n## B\n\n{}\n", text(30), text(31));
        assert_eq!(cut(&page).iter().map(|(_, t)| t.clone()).collect::<Vec<_>>(), [format!("## B\n\n{}", text(31))]);
        // Without a heading the limit is 20, and nothing is left of a document that is shorter.
        assert_eq!(cut(&text(20)), []);
        assert_eq!(cut(&text(21)).len(), 1);
        // Only badges.
        for only in [
            "[![build](https://e.org/a-badge.svg)](https://e.org/the-build-of-it)",
            "<p align=\"center\"><img src=\"https://e.org/logo.svg\" alt=\"logo\"></p>",
        ] {
            assert_eq!(cut(&format!("# A\n\n{only}\n")), []);
        }
        assert_eq!(cut("# A\n\n<p align=\"center\">All that is here is written in HTML.</p>\n").len(), 1);
    }

    #[test]
    fn code_is_never_cut_however_long() {
        let lines: String = (0..400).map(|i| format!("let x{i} = {i}; // Sentence. Another one.\n")).collect();
        let indented: String = lines.split_inclusive('\n').enumerate().fold(String::new(), |mut all, (i, line)| {
            all.push_str(&format!("    {line}"));
            if i % 7 == 6 {
                all.push('\n');
            }
            all
        });
        for block in [format!("```rust\n{lines}```"), indented.trim_end().to_owned()] {
            let page =
                format!("# A\n\n{}\n\n{block}\n\n{}\n", "Words before it. ".repeat(60), "Words after. ".repeat(90));
            let passages = cut(&page);
            assert!(passages.len() > 2 && passages.iter().any(|(_, t)| t.contains(block.trim())), "{}", passages.len());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn any_page_gives_passages_in_their_order(
            page in "(#{1,4} [a-z字]{0,6}\n|```\n|    x = 1\n|- [a-z. ]{0,30}\n|[字a-z.。 ]{0,90}\n|\n){0,60}",
        ) {
            let document = parse_markdown("README.md", &page).document;
            let window = Window { size: 100, overlap: 20, min: 21 };
            let chunks = ChunkStrategy::Portfolio(window).chunk(&document, 0).expect("valid settings");
            let code = code_blocks(&document.text);
            let mut end = 0;
            for chunk in &chunks {
                let text = chunk.text(&document).expect("its own");
                let new_from = chunk.span_bytes.start + chunk.overlap_bytes;
                prop_assert!(text.trim().chars().count() > 20, "{:?}", text);
                prop_assert!(new_from >= end && chunk.span_bytes.end > new_from);
                prop_assert!(!code.iter().any(|c| c.start < new_from as usize && (new_from as usize) < c.end));
                end = chunk.span_bytes.end;
            }
        }
    }
}
