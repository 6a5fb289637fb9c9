//! HTML to Markdown: the main content of a page, without its navigation.

mod blocks;
mod inline;

use super::Markdown;
use kb_core::{Error, ErrorKind, Result};
use scraper::{ElementRef, Html, Selector};

/// Where a page's own text is, most telling first. `body` is the last resort.
const MAIN: [&str; 6] = ["main", "[role=main]", "#content article", "article", "div.document", "#content"];

/// Elements without text of the page.
const SKIPPED: [&str; 22] = [
    "script", "style", "noscript", "template", "nav", "aside", "footer", "form", "button", "input", "select",
    "textarea", "iframe", "svg", "canvas", "object", "dialog", "head", "audio", "video", "rp", "rt",
];

/// Classes that documentation generators give to what is not text of the page.
const SKIPPED_CLASSES: [&str; 16] = [
    "headerlink",
    "anchor-link",
    "hash-link",
    "doc-anchor",
    "boring",
    "toc",
    "breadcrumb",
    "breadcrumbs",
    "sidebar",
    "sphinxsidebar",
    "related",
    "linenos",
    "nav-wrapper",
    "nav-wide-wrapper",
    "prev-next-footer",
    "edit-this-page",
];

/// Roles of what surrounds the text.
const SKIPPED_ROLES: [&str; 6] = ["navigation", "banner", "contentinfo", "search", "complementary", "menu"];

/// Converts a page. The title is the `<title>` where the content has no `<h1>`.
///
/// # Errors
/// [`ErrorKind::Convert`] for a page whose elements are nested so deep that parsing would not end in
/// reasonable time.
pub fn to_markdown(text: &str) -> Result<Markdown> {
    if nesting(text) > MAX_NESTING {
        return Err(Error::new(ErrorKind::Convert, format!("its elements are nested more than {MAX_NESTING} deep")));
    }
    let page = Html::parse_document(text);
    let content = main_content(&page);
    let title = match first(&content, "h1") {
        Some(_) => None,
        None => page.root_element().select(&selector("title")).next().map(|t| inline::plain(t).trim().to_string()),
    };
    let mut text = blocks::of_container(content).join("\n\n");
    text.push('\n');
    Ok(Markdown { text, title, ..Markdown::default() })
}

/// Deepest nesting that is parsed. The parser looks through all open elements at every tag, so that
/// its time grows with the square of the depth; browsers stop at 512.
const MAX_NESTING: usize = 2000;

/// How deep the elements that need an end tag are nested, at most. Others close one another.
fn nesting(text: &str) -> usize {
    const NESTING: [&str; 12] =
        ["div", "span", "section", "article", "ul", "ol", "dl", "table", "blockquote", "main", "details", "figure"];
    let (mut depth, mut deepest) = (0_usize, 0);
    for (at, _) in text.match_indices('<') {
        let tag = &text[at + 1..];
        let (name, closes) = tag.strip_prefix('/').map_or((tag, false), |name| (name, true));
        let end = name.bytes().take(12).take_while(u8::is_ascii_alphanumeric).count();
        if NESTING.iter().any(|n| n.eq_ignore_ascii_case(&name[..end])) {
            depth = if closes { depth.saturating_sub(1) } else { depth + 1 };
            deepest = deepest.max(depth);
        }
    }
    deepest
}

/// The `charset` that a page declares in its first 1024 bytes, as the HTML standard looks for it.
pub fn declared_charset(bytes: &[u8]) -> Option<String> {
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1024)]).to_ascii_lowercase();
    let start = head
        .find("charset=")
        .map(|i| i + "charset=".len())
        .or_else(|| head.find("encoding=").map(|i| i + "encoding=".len()))?;
    let value = head[start..].trim_start_matches(['"', '\'', ' ']);
    let end =
        value.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | ':'))).unwrap_or(value.len());
    (end > 0).then(|| value[..end].to_string())
}

/// The innermost element that holds the page's text. Several articles are a list of them: all count.
fn main_content(page: &Html) -> ElementRef<'_> {
    let root = page.root_element();
    for query in MAIN {
        let query = selector(query);
        let mut found = root.select(&query);
        if let (Some(only), None) = (found.next(), found.next()) {
            return only;
        }
    }
    first(&root, "body").unwrap_or(root)
}

fn first<'a>(within: &ElementRef<'a>, query: &str) -> Option<ElementRef<'a>> {
    within.select(&selector(query)).next()
}

/// Compiles one of the constant selectors of this module; the universal one stands in for an
/// invalid one, which the tests exclude.
fn selector(query: &str) -> Selector {
    Selector::parse(query).unwrap_or_else(|_| selector("*"))
}

/// Whether an element and all in it is left out.
fn is_skipped(el: ElementRef) -> bool {
    let value = el.value();
    SKIPPED.contains(&value.name())
        || value.attr("hidden").is_some()
        || value.attr("aria-hidden") == Some("true")
        || value.attr("role").is_some_and(|r| SKIPPED_ROLES.contains(&r))
        || value.classes().any(|c| SKIPPED_CLASSES.contains(&c))
        // A site's header; an article's own header has its title.
        || (value.name() == "header" && el.parent().and_then(ElementRef::wrap).is_some_and(|p| p.value().name() == "body"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constant_selectors_are_valid() {
        for query in MAIN.iter().chain(&["title", "h1", "body", "*"]) {
            assert!(Selector::parse(query).is_ok(), "{query}");
        }
    }

    #[test]
    fn only_the_main_content_is_kept() {
        let m = to_markdown(
            "<title>T &amp; U</title><body><header>Site</header><nav>menu</nav><main><h2 id=a>One<a class=headerlink>¶</a></h2><p>Text</p>\
             <script>x()</script><aside>ad</aside></main><footer>f</footer>",
        )
        .expect("converts");
        assert_eq!(m.text, "## One {#a}\n\nText\n");
        assert_eq!(m.title.as_deref(), Some("T & U"));
        let m = to_markdown("<body><article>a</article><article>b</article><h1>H</h1>").expect("converts");
        assert_eq!((m.text.as_str(), m.title), ("a\n\nb\n\n# H\n", None));
    }

    #[test]
    fn the_declared_charset_is_found() {
        assert_eq!(declared_charset(b"<meta charset=\"gbk\">").as_deref(), Some("gbk"));
        assert_eq!(
            declared_charset(b"<META http-equiv=Content-Type content='text/html; charset=Big5'>").as_deref(),
            Some("big5")
        );
        assert_eq!(declared_charset(b"<?xml version='1.0' encoding='euc-jp'?>").as_deref(), Some("euc-jp"));
        assert_eq!(declared_charset(b"<p>nothing"), None);
    }

    #[test]
    fn deep_nesting_ends_well() {
        let deep = |open: &str, times: usize, close: &str| format!("{}deep{}", open.repeat(times), close.repeat(times));
        assert_eq!(to_markdown(&deep("<div>", 1_500, "</div>")).expect("converts").text.trim(), "deep");
        assert_eq!(to_markdown(&deep("<b><i>", 5_000, "")).expect("converts").text.trim(), "deep");
        assert!(to_markdown(&deep("<ul><li>", 1_500, "")).expect("converts").text.contains("deep"));
        for page in [deep("<div>", 50_000, "</div>"), deep("<ul><li>", 50_000, "")] {
            assert!(to_markdown(&page).expect_err("refused").message().contains("nested more than"));
        }
        // Elements side by side are no depth, and paragraphs need no end tag.
        let flat = deep("<div><p>x</div>", 5_000, "");
        assert!(to_markdown(&flat).expect("converts").text.contains("deep"));
    }
}
