//! Sitemaps: the pages that a site lists.

use roxmltree::{Document, ParsingOptions};

/// What a sitemap lists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sitemap {
    /// Addresses of pages.
    Pages(Vec<String>),
    /// Addresses of further sitemaps.
    Index(Vec<String>),
}

/// Reads a sitemap; one address a line is a sitemap as well.
pub fn parse(text: &str) -> Option<Sitemap> {
    let options = ParsingOptions { nodes_limit: 1_000_000, ..ParsingOptions::default() };
    let Ok(document) = Document::parse_with_options(text.trim_start(), options) else {
        let lines: Vec<String> =
            text.lines().map(str::trim).filter(|l| l.starts_with("http")).map(str::to_string).collect();
        return (!lines.is_empty() && !text.trim_start().starts_with('<')).then_some(Sitemap::Pages(lines));
    };
    let locations = |parent: &str| {
        let of = |n: &roxmltree::Node| n.is_element() && n.tag_name().name() == "loc";
        let nodes = document.descendants().filter(of);
        let below = nodes.filter(|n| n.parent().is_some_and(|p| p.tag_name().name() == parent));
        below.filter_map(|n| n.text()).map(|t| t.trim().to_string()).filter(|t| !t.is_empty()).collect::<Vec<_>>()
    };
    match document.root_element().tag_name().name() {
        "urlset" => Some(Sitemap::Pages(locations("url"))),
        "sitemapindex" => Some(Sitemap::Index(locations("sitemap"))),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_and_indexes() {
        let ns = "xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"";
        let pages = format!(
            "<?xml version=\"1.0\"?><urlset {ns}><url><loc> https://e.org/a?x=1&amp;y=2 </loc><lastmod>2026-01-01</lastmod></url>\
             <url><loc>https://e.org/图</loc><image:image xmlns:image=\"i\"><image:loc>https://e.org/i.png</image:loc></image:image></url></urlset>"
        );
        assert_eq!(
            parse(&pages),
            Some(Sitemap::Pages(vec!["https://e.org/a?x=1&y=2".into(), "https://e.org/图".into()]))
        );
        let index = format!("<sitemapindex {ns}><sitemap><loc>https://e.org/1.xml</loc></sitemap></sitemapindex>");
        assert_eq!(parse(&index), Some(Sitemap::Index(vec!["https://e.org/1.xml".into()])));
        assert_eq!(
            parse("https://e.org/a\nhttps://e.org/b\n").map(|s| matches!(s, Sitemap::Pages(p) if p.len() == 2)),
            Some(true)
        );
        assert_eq!(parse("<html></html>"), None);
        assert_eq!(parse("<urlset><url>"), None);
    }
}
