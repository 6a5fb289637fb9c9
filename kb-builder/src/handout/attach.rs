//! A knowledge base as part of a page that somebody already has.

use super::{Carried, Sizes, asset, attribute, blocks, carry};
use crate::error::{Error, Result};
use std::path::Path;

/// What stands around the part that is put in, so that it can be put in again.
const BEGIN: &str = "<!-- kb-builder: begin of the knowledge base -->";
const END: &str = "<!-- kb-builder: end of the knowledge base -->";

/// What the elements look like.
const STYLES: [&str; 5] = ["common.css", "search.css", "reader.css", "answer.css", "embed.css"];

/// How the knowledge base appears on the page.
#[derive(Debug, Default, Clone)]
pub struct Look<'a> {
    /// Language of the words on the button: `zh` or `en`. Default: the page's.
    pub lang: Option<&'a str>,
    /// `light` or `dark`. Default: as the reader's system.
    pub theme: Option<&'a str>,
}

impl Look<'_> {
    fn element(&self, src: Option<&str>) -> String {
        let attributes = [attribute("src", src), attribute("lang", self.lang), attribute("theme", self.theme)].concat();
        format!("<kb-modal{attributes}></kb-modal>\n")
    }
}

/// The page `html` with the knowledge base of `site` inside it. What is put in is ASCII, so the page may be in any
/// encoding that contains it. Done again, it replaces what it had put in before.
pub fn attach(html: &[u8], site: &Path, model: bool, look: &Look) -> Result<(Vec<u8>, Sizes)> {
    let Carried { mut words, meaning, script, sizes, .. } = carry(site, "assets/kb-embed.js", model)?;
    for name in STYLES {
        let path = format!("assets/styles/{name}");
        words.push_str(&blocks::element(&path, asset(&path).unwrap_or_default()));
    }
    let part = format!("{}{words}<script>{script}</script>\n{meaning}", look.element(None));
    let out = insert(html, &part)?;
    let sizes = Sizes { total: out.len(), program: part.len() - sizes.text - sizes.meaning, ..sizes };
    Ok((out, sizes))
}

/// The page `html` with an element that takes the knowledge base from the site at `src`.
pub fn link(html: &[u8], src: &str, look: &Look) -> Result<Vec<u8>> {
    let src = format!("{}/", src.trim_end_matches('/'));
    let script = attribute("src", Some(&format!("{src}assets/kb-embed.js")));
    insert(html, &format!("{}<script type=\"module\"{script}></script>\n", look.element(Some(&src))))
}

/// Puts a part before the end of the body.
fn insert(html: &[u8], part: &str) -> Result<Vec<u8>> {
    if html.contains(&0) {
        return Err(Error::usage("the page is in UTF-16, or is no HTML", "save it in UTF-8 first"));
    }
    let mut html = html.to_vec();
    if let (Some(from), Some(to)) = (find(&html, BEGIN.as_bytes()), find(&html, END.as_bytes()))
        && from < to
    {
        let rest = to + END.len();
        let newline = usize::from(html.get(rest) == Some(&b'\n'));
        html.drain(from..rest + newline);
    }
    let lower = html.to_ascii_lowercase();
    if !PAGE_TAGS.iter().any(|tag| find(&lower, tag).is_some()) {
        return Err(Error::usage("this is no HTML page", "name the page that the knowledge base is to be part of"));
    }
    let at = end_of_body(&lower);
    let part = format!("{BEGIN}\n{part}{END}\n");
    html.splice(at..at, part.into_bytes());
    Ok(html)
}

/// One of these is in every page, however short.
const PAGE_TAGS: [&[u8]; 8] = [b"<!doctype html", b"<html", b"<head", b"<body", b"<title", b"<h1", b"<p>", b"<div"];

/// What is not looked into for tags, and what ends it.
const OPAQUE: [(&[u8], &[u8]); 4] =
    [(b"<!--", b"-->"), (b"<script", b"</script"), (b"<style", b"</style"), (b"<textarea", b"</textarea")];

/// Where the body of a page ends: before its last closing tag outside comments and scripts, or at the end of the page.
fn end_of_body(lower: &[u8]) -> usize {
    let (mut body, mut html) = (None, None);
    let mut at = 0;
    while let Some(tag) = lower[at..].iter().position(|c| *c == b'<').map(|n| at + n) {
        let rest = &lower[tag..];
        if let Some((open, close)) = OPAQUE.iter().find(|(open, _)| rest.starts_with(open)) {
            match find(&rest[open.len()..], close) {
                Some(end) => at = tag + open.len() + end + close.len(),
                None => break,
            }
            continue;
        }
        if rest.starts_with(b"</body") {
            body = Some(tag);
        } else if rest.starts_with(b"</html") {
            html = Some(tag);
        }
        at = tag + 1;
    }
    body.or(html).unwrap_or(lower.len())
}

/// Whether a page has a part that [`attach`] or [`link`] put in.
pub fn is_attached(html: &[u8]) -> bool {
    find(html, BEGIN.as_bytes()).is_some()
}

fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_goes_before_the_end_of_the_body_and_replaces_the_last_one() {
        let page = b"<HTML><BODY><p>\xb1\xca\xbc\xc7</p></BODY></HTML>";
        let once = insert(page, "<one>").expect("inserts");
        let text = String::from_utf8_lossy(&once).into_owned();
        assert!(text.ends_with(&format!("{BEGIN}\n<one>{END}\n</BODY></HTML>")), "{text}");
        assert!(once.starts_with(b"<HTML><BODY><p>\xb1\xca\xbc\xc7</p>"));
        let twice = insert(&once, "<two>").expect("inserts");
        let expected =
            [&page[..page.len() - 14], format!("{BEGIN}\n<two>{END}\n").as_bytes(), b"</BODY></HTML>"].concat();
        assert_eq!(twice, expected);
        let short = insert(b"<p>text", "<a>").expect("inserts");
        assert_eq!(short, format!("<p>text{BEGIN}\n<a>{END}\n").into_bytes());
        assert_eq!(insert(b"just text, a < b", "<a>").expect_err("no page").exit_status(), 2);
        assert!(insert(b"<\0h\0", "<a>").is_err());
    }

    #[test]
    fn comments_and_scripts_end_no_body() {
        let page = "<body><p>x<script>'</body>'</script></body></html>\n<!-- served by </body> cache </html> -->\n";
        let out = String::from_utf8(insert(page.as_bytes(), "<a>").expect("inserts")).expect("UTF-8");
        assert!(out.contains(&format!("</script>{BEGIN}\n<a>{END}\n</body></html>\n<!-- served")), "{out}");
        let open = insert(b"<p>x<!-- never closed </body>", "<a>").expect("inserts");
        assert!(open.ends_with(format!("{END}\n").as_bytes()));
    }

    #[test]
    fn a_link_names_the_site() {
        let look = Look { lang: Some("zh"), theme: None };
        let html = link(b"<body></body>", "https://e.org/kb", &look).expect("links");
        let text = String::from_utf8(html).expect("UTF-8");
        assert!(text.contains("<kb-modal src=\"https://e.org/kb/\" lang=\"zh\"></kb-modal>"), "{text}");
        assert!(
            text.contains("<script type=\"module\" src=\"https://e.org/kb/assets/kb-embed.js\"></script>"),
            "{text}"
        );
    }
}
