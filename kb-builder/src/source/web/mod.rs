//! Sources on the web: single addresses, a website, a repository on GitHub.

mod address;
mod crawl;
mod github;
mod robots;
mod sitemap;
pub(super) mod store;
mod urls;

pub use address::Address;
pub use crawl::{CrawlOptions, Website};
pub use github::{Repository, RepositoryOptions};
pub use urls::UrlList;

use super::fetch::{FetchError, Fetched, Fetcher};
use store::Store;

/// Asks for an address, with what is known of it from the last run; what comes is kept. If the server is
/// out of order, the copy of the last run is better than nothing: `notes` says that it is one.
fn fetch(
    fetcher: &Fetcher,
    store: &Store,
    url: &str,
    headers: &[(&str, &str)],
    notes: &mut Vec<String>,
) -> Result<Fetched, FetchError> {
    let known = store.get(url);
    let validators = known.as_ref().map(|k| k.validators.clone()).unwrap_or_default();
    match (fetcher.get(url, &validators, headers), known) {
        (Ok(fetched), Some(known)) if fetched.unchanged => Ok(known),
        (Ok(fetched), _) => {
            store.keep(url, &fetched);
            Ok(fetched)
        }
        (Err(e), Some(known)) if is_passing(&e) => {
            notes.push(format!("{e}; the copy of the last run is used"));
            Ok(known)
        }
        (Err(e), _) => Err(e),
    }
}

/// Whether a copy of the last run is as good as an answer: the server is out of order, or wants to be left alone.
pub(super) fn is_passing(error: &FetchError) -> bool {
    error.wait.is_some() || error.status.is_none_or(|status| status == 429 || status >= 500)
}

/// A body as it is converted: a text whose encoding only the server names comes in UTF-8.
fn readable(fetched: Fetched) -> Vec<u8> {
    let kind = fetched.content_type.to_ascii_lowercase();
    if !(kind.starts_with("text/") || kind.contains("xhtml")) || !kind.contains("charset=") {
        return fetched.body;
    }
    let declared = crate::convert::declared_charset(&kind, &fetched.body);
    match crate::convert::encoding::decode(&fetched.body, declared.as_deref()) {
        Ok(decoded) => decoded.text.into_bytes(),
        Err(_) => fetched.body,
    }
}

/// The path of a document in its collection, from its address and its type: `guide/intro.html`. Where source code is
/// read, it keeps its suffix: servers call it plain text.
fn path_of(url: &Address, content_type: &str, code: bool) -> String {
    let decoded = percent_encoding::percent_decode_str(url.path()).decode_utf8_lossy().into_owned();
    let parts: Vec<&str> = decoded.split('/').filter(|p| !p.is_empty() && *p != "." && *p != "..").collect();
    let mut path = parts.join("/").replace(|c: char| c.is_control() || matches!(c, '\\' | ':'), "_");
    let kind = content_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    let suffix = match kind.as_str() {
        "text/html" | "application/xhtml+xml" => "html",
        "text/markdown" => "md",
        "application/pdf" => "pdf",
        "text/plain" => "txt",
        _ => "",
    };
    if path.is_empty() || url.path().ends_with('/') {
        let slash = if path.is_empty() { "" } else { "/" };
        path = format!("{path}{slash}index.{}", if suffix.is_empty() { "html" } else { suffix });
    } else if !is_known(&path, code) && !suffix.is_empty() {
        path = format!("{path}.{suffix}");
    }
    path
}

fn is_known(path: &str, code: bool) -> bool {
    use crate::convert::Format;
    if code { Format::of_code(path).is_some() } else { Format::of(path).is_some() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_come_from_addresses() {
        for (url, kind, path) in [
            ("https://e.org/", "text/html; charset=utf-8", "index.html"),
            ("https://e.org/guide/", "text/html", "guide/index.html"),
            ("https://e.org/guide/intro", "text/html", "guide/intro.html"),
            ("https://e.org/a/%E5%9B%BE.md", "text/plain", "a/图.md"),
            ("https://e.org/v1.2", "text/html", "v1.2.html"),
            ("https://e.org/x.pdf?download=1", "application/pdf", "x.pdf"),
            ("https://e.org/..%2F..%2Fetc", "text/plain", "etc.txt"),
        ] {
            assert_eq!(path_of(&Address::parse(url).expect(url), kind, false), path, "{url}");
        }
        let script = Address::parse("https://e.org/a/b.py").expect("an address");
        let path = |code| path_of(&script, "text/plain; charset=utf-8", code);
        assert_eq!((path(true).as_str(), path(false).as_str()), ("a/b.py", "a/b.py.txt"));
    }
}
