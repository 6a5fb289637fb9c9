//! The documents as lists for those who run no script: people without JavaScript, crawlers, language models, programs.

use super::page::{Page, PageDocument};
use serde::Serialize;
use std::fmt::Write;

/// Documents that `index.html` itself lists for a browser without JavaScript; `documents.html` has all.
const IN_PAGE: usize = 100;

/// Text in an HTML text or a quoted attribute.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Where a document can be read without the page's own reader.
fn address(document: &PageDocument) -> Option<&str> {
    let safe = |url: &&str| {
        let scheme = url.split_once(':').map(|(scheme, _)| scheme);
        scheme.is_none_or(|s| matches!(s, "http" | "https") || s.contains(['/', '?', '#']))
    };
    document.url.as_deref().filter(safe).or(document.file.as_deref())
}

/// One object of `catalog.json`.
#[derive(Serialize)]
struct CatalogDocument<'a> {
    collection: &'a str,
    path: &'a str,
    title: &'a str,
    lang: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<&'a str>,
}

/// `catalog.json`.
#[derive(Serialize)]
struct Catalog<'a> {
    title: &'a str,
    language: &'a str,
    /// Id of the bundle: changes when answers may.
    id: &'a str,
    documents: Vec<CatalogDocument<'a>>,
}

/// Writes the lists of a page.
pub struct Listing<'a> {
    page: &'a Page,
}

impl<'a> Listing<'a> {
    /// The lists of this page.
    pub fn new(page: &'a Page) -> Self {
        Self { page }
    }

    /// The collections in the order of their first documents.
    fn collections(&self) -> Vec<(&'a str, Vec<&'a PageDocument>)> {
        let mut out: Vec<(&str, Vec<&PageDocument>)> = Vec::new();
        for document in &self.page.documents {
            match out.iter_mut().find(|(name, _)| *name == document.collection) {
                Some((_, list)) => list.push(document),
                None => out.push((document.collection.as_str(), vec![document])),
            }
        }
        out
    }

    fn shelves(&self) -> String {
        let mut out = String::new();
        for (name, documents) in self.collections() {
            let _ = writeln!(
                out,
                "<section class=\"shelf\"><div class=\"shelf-head\"><h2>{}</h2></div>\n<ul>",
                escape(name)
            );
            for document in documents {
                let title = escape(&document.title);
                let lang =
                    if document.lang == "other" { String::new() } else { format!(" lang=\"{}\"", document.lang) };
                let _ = match address(document) {
                    Some(to) => writeln!(out, "<li{lang}><a href=\"{}\">{title}</a></li>", escape(to)),
                    None => writeln!(out, "<li{lang}>{title}</li>"),
                };
            }
            out.push_str("</ul></section>\n");
        }
        out
    }

    /// What `index.html` shows where no script runs.
    pub fn noscript(&self) -> String {
        let all = "<p><a href=\"documents.html\">All documents · 全部文档</a></p>\n";
        let list = if self.page.documents.len() <= IN_PAGE { self.shelves() } else { all.to_string() };
        format!("<noscript><div class=\"library\">\n{list}</div></noscript>")
    }

    /// `documents.html`: every document, without a script.
    pub fn html(&self) -> String {
        let (title, description) = (escape(&self.page.title), escape(&self.page.description()));
        let lang = if self.page.language.is_empty() { "en" } else { &self.page.language };
        format!(
            "<!doctype html>\n<html lang=\"{}\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'\">\n\
             <meta name=\"color-scheme\" content=\"light dark\">\n<meta name=\"description\" content=\"{description}\">\n\
             <title>{title}</title>\n<link rel=\"icon\" href=\"assets/icon.svg\" type=\"image/svg+xml\">\n\
             <link rel=\"stylesheet\" href=\"assets/styles/common.css\">\n<link rel=\"stylesheet\" href=\"assets/styles/base.css\">\n\
             <link rel=\"stylesheet\" href=\"assets/styles/search.css\">\n</head>\n<body>\n<main>\n<div class=\"library\">\n\
             <h1><a href=\"./\">{title}</a></h1>\n{}</div>\n</main>\n</body>\n</html>\n",
            escape(lang),
            self.shelves()
        )
    }

    /// `llms.txt`, see llmstxt.org: what is here, for language models.
    pub fn llms(&self) -> String {
        let line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").replace(['[', ']'], "");
        let base = self.page.site_url.as_deref().unwrap_or_default();
        let mut out = format!("# {}\n\n> {}\n", line(&self.page.title), line(&self.page.description()));
        for (name, documents) in self.collections() {
            let _ = write!(out, "\n## {}\n\n", line(name));
            for document in documents {
                let title = line(&document.title);
                let _ = match address(document) {
                    Some(to) if to.contains("://") => writeln!(out, "- [{title}]({to})"),
                    Some(to) => writeln!(out, "- [{title}]({base}{to})"),
                    None => writeln!(out, "- {title}"),
                };
            }
        }
        out
    }

    /// `catalog.json`, for programs.
    pub fn catalog(&self) -> Vec<u8> {
        let documents = self.page.documents.iter().map(|document| CatalogDocument {
            collection: &document.collection,
            path: &document.path,
            title: &document.title,
            lang: document.lang,
            url: document.url.as_deref(),
            file: document.file.as_deref(),
        });
        let catalog = Catalog {
            title: &self.page.title,
            language: &self.page.language,
            id: &self.page.id,
            documents: documents.collect(),
        };
        // Strings and lists of them always become JSON.
        serde_json::to_vec_pretty(&catalog).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(url: Option<&str>, file: Option<&str>) -> PageDocument {
        PageDocument {
            collection: "c".into(),
            path: "p.md".into(),
            title: "T [x]\ny".into(),
            lang: "zh",
            url: url.map(Into::into),
            file: file.map(Into::into),
        }
    }

    #[test]
    fn an_address_that_runs_something_is_no_address() {
        for (url, file, expected) in [
            (Some("https://a.example/b"), Some("files/c/p.md"), Some("https://a.example/b")),
            (Some("javascript:alert(1)"), Some("files/c/p.md"), Some("files/c/p.md")),
            (Some("notes/p.html"), None, Some("notes/p.html")),
            (Some("notes/a:b.html"), None, Some("notes/a:b.html")),
            (Some("data:text/html,x"), None, None),
            (None, None, None),
        ] {
            assert_eq!(address(&document(url, file)), expected, "{url:?}");
        }
    }

    #[test]
    fn lists_for_programs() {
        let page = Page {
            early: Vec::new(),
            title: "Course".into(),
            language: "zh".into(),
            id: "id".into(),
            site_url: Some("https://e.org/kb/".into()),
            meaning: false,
            documents: vec![document(None, Some("files/c/p.md"))],
        };
        let listing = Listing::new(&page);
        assert_eq!(
            listing.llms(),
            "# Course\n\n> Course：1 篇文档，可以在浏览器里按词语搜索。\n\n## c\n\n- [T x y](https://e.org/kb/files/c/p.md)\n"
        );
        let catalog: serde_json::Value = serde_json::from_slice(&listing.catalog()).expect("JSON");
        assert_eq!(catalog["documents"][0]["file"], "files/c/p.md");
        assert_eq!(catalog["documents"][0]["lang"], "zh");
        assert!(catalog["documents"][0].get("url").is_none());
    }
}
