//! Pages of a paginated document as anchors.

use super::{Document, Section};

/// The level of a part that only marks a page: below every heading.
const PAGE_LEVEL: u8 = 6;

impl Document {
    /// Gives every part of the text the anchor `page=N` of the page that it is on, which PDF viewers
    /// understand as a fragment. `pages` says where pages begin: a byte offset in the text, ascending, and
    /// the number. A page that begins inside a section becomes a part of it without a title; where a page
    /// begins between two characters of a section's heading line, it counts from the section.
    pub fn add_pages(&mut self, pages: &[(usize, usize)]) {
        if pages.is_empty() {
            return;
        }
        let page_at = |byte: usize| pages.iter().rev().find(|(from, _)| *from <= byte).map(|(_, number)| *number);
        let old = std::mem::take(&mut self.sections);
        let mut sections: Vec<Section> = Vec::with_capacity(old.len() + pages.len());
        // Where each of the old sections is now.
        let mut moved = Vec::with_capacity(old.len());
        let before = old.first().map_or(self.text.len(), |s| s.span_bytes.start);
        split(&mut sections, 0..before, None, pages, true);
        for mut section in old {
            let span = section.span_bytes.clone();
            if let Some(number) = page_at(span.start) {
                section.anchor = format!("page={number}");
            }
            section.parent = section.parent.and_then(|p| moved.get(p).copied());
            let own = sections.len();
            moved.push(own);
            section.span_bytes.end = next_page(pages, &span).unwrap_or(span.end);
            let rest = section.span_bytes.end..span.end;
            sections.push(section);
            split(&mut sections, rest, Some(own), pages, false);
        }
        self.sections = sections;
    }
}

/// The first page that begins inside `span`, not at its start.
fn next_page(pages: &[(usize, usize)], span: &std::ops::Range<usize>) -> Option<usize> {
    pages.iter().map(|(from, _)| *from).find(|from| span.start < *from && *from < span.end)
}

/// Adds parts for the pages that begin in `span`.
fn split(
    sections: &mut Vec<Section>,
    span: std::ops::Range<usize>,
    parent: Option<usize>,
    pages: &[(usize, usize)],
    at_start: bool,
) {
    let inside: Vec<&(usize, usize)> =
        pages.iter().filter(|(from, _)| span.start <= *from && *from < span.end).collect();
    for (i, (from, number)) in inside.iter().enumerate() {
        let start = if at_start && i == 0 { span.start } else { *from };
        let end = inside.get(i + 1).map_or(span.end, |(next, _)| *next);
        if start < end {
            sections.push(Section {
                level: PAGE_LEVEL,
                title: String::new(),
                anchor: format!("page={number}"),
                span_bytes: start..end,
                parent,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse_body;

    #[test]
    fn parts_have_the_anchor_of_their_page() {
        let text = "intro\n\n## A\n\none\n\ntwo\n\n## B\n\nthree\n";
        let mut document = parse_body("x.pdf", text).document;
        let at = |s: &str| text.find(s).expect("is there");
        document.add_pages(&[(0, 1), (at("two"), 2), (at("## B"), 3), (at("three"), 4)]);
        let parts: Vec<(&str, &str, &str)> = document
            .sections
            .iter()
            .map(|s| (s.title.as_str(), s.anchor.as_str(), text[s.span_bytes.clone()].trim()))
            .collect();
        assert_eq!(
            parts,
            [
                ("", "page=1", "intro"),
                ("A", "page=1", "## A\n\none"),
                ("", "page=2", "two"),
                ("B", "page=3", "## B"),
                ("", "page=4", "three"),
            ]
        );
        assert_eq!(document.heading_path(2), ["A"]);
        assert_eq!(document.heading_path(0), Vec::<&str>::new());
        // Together they cover the text, in order, and parents come first.
        let mut end = 0;
        for (i, s) in document.sections.iter().enumerate() {
            assert_eq!(s.span_bytes.start, end);
            assert!(s.parent.is_none_or(|p| p < i));
            end = s.span_bytes.end;
        }
        assert_eq!(end, text.len());
    }

    #[test]
    fn parents_follow_their_sections() {
        let text = "# A\n\none\n\ntwo\n\n## B\n\nx\n\n# C\n";
        let mut document = parse_body("x.pdf", text).document;
        document.add_pages(&[(0, 1), (text.find("two").expect("is there"), 2)]);
        let parents: Vec<(&str, Option<usize>)> =
            document.sections.iter().map(|s| (s.title.as_str(), s.parent)).collect();
        assert_eq!(parents, [("A", None), ("", Some(0)), ("B", Some(0)), ("C", None)]);
        assert_eq!(document.sections[3].anchor, "page=2");
        let without = parse_body("x.md", text).document;
        let mut same = without.clone();
        same.add_pages(&[]);
        assert_eq!(same, without);
    }
}
