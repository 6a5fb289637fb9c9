//! A list of addresses, each one file.

use super::super::fetch::Fetcher;
use super::super::{Entry, Listing, Problem, Source};
use super::store::Store;
use super::{Address, fetch, path_of, readable};
use crate::error::{Error, Result};
use std::cell::RefCell;
use std::collections::BTreeMap;

/// The files behind a list of addresses.
pub struct UrlList {
    collection: String,
    urls: Vec<String>,
    fetcher: Fetcher,
    store: Store,
    code: bool,
    /// By path: the address that an author sees, and the one that was asked.
    found: RefCell<BTreeMap<String, (String, String)>>,
}

impl UrlList {
    /// The files at `urls`; what was fetched before is below `cache`.
    pub fn new(collection: String, urls: Vec<String>, fetcher: Fetcher, cache: &std::path::Path, code: bool) -> Self {
        Self { collection, urls, fetcher, store: Store::at(cache), code, found: RefCell::default() }
    }
}

/// The address of the file itself for the address of GitHub's page about it.
pub fn raw(url: &str) -> String {
    let Ok(parsed) = Address::parse(url) else { return url.to_string() };
    let parts: Vec<&str> = parsed.path().trim_start_matches('/').split('/').collect();
    match (parsed.authority(), parts.as_slice()) {
        ("github.com" | "www.github.com", [owner, repository, "blob" | "raw", rest @ ..]) if rest.len() > 1 => {
            format!("https://raw.githubusercontent.com/{owner}/{repository}/{}", rest.join("/"))
        }
        _ => url.to_string(),
    }
}

impl Source for UrlList {
    fn collection(&self) -> &str {
        &self.collection
    }

    fn list(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        let mut found = self.found.borrow_mut();
        found.clear();
        for url in &self.urls {
            let asked = raw(url);
            let problem = |reason: String| Problem { collection: self.collection.clone(), path: url.clone(), reason };
            let fetched = match fetch(&self.fetcher, &self.store, &asked, &[], &mut listing.notes) {
                Ok(fetched) => fetched,
                Err(e) => {
                    listing.problems.push(problem(e.to_string()));
                    continue;
                }
            };
            let Ok(parsed) = Address::parse(&asked) else { continue };
            let mut path = path_of(&parsed, &fetched.content_type, self.code);
            // Two hosts may have files of one name.
            if found.contains_key(&path) {
                path = format!("{}/{path}", parsed.authority().replace(':', "-"));
            }
            if found.contains_key(&path) {
                listing.problems.push(problem("the list has another address for the same file".into()));
                continue;
            }
            listing.entries.push(Entry { path: path.clone(), bytes: fetched.body.len() as u64 });
            found.insert(path, (url.clone(), asked));
        }
        listing.entries.sort();
        Ok(listing)
    }

    fn read(&self, entry: &Entry) -> Result<Vec<u8>> {
        let found = self.found.borrow();
        let asked = found.get(&entry.path).map(|(_, asked)| asked);
        let kept = asked.and_then(|asked| self.store.get(asked));
        match (kept, asked) {
            (Some(kept), _) => Ok(readable(kept)),
            // The cache folder cannot be written: ask once more.
            (None, Some(asked)) => fetch(&self.fetcher, &self.store, asked, &[], &mut Vec::new())
                .map(readable)
                .map_err(|e| Error::failed(e.to_string(), "")),
            (None, None) => Err(Error::failed(format!("{} was not listed", entry.path), "")),
        }
    }

    fn sibling(&self, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn url_base(&self) -> Option<&str> {
        None
    }

    fn url_of(&self, entry: &Entry) -> Option<String> {
        self.found.borrow().get(&entry.path).map(|(url, _)| url.clone())
    }

    fn reads_code(&self) -> bool {
        self.code
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_about_files_become_the_files() {
        for (url, expected) in [
            ("https://github.com/o/r/blob/main/docs/a.md", "https://raw.githubusercontent.com/o/r/main/docs/a.md"),
            ("https://github.com/o/r/raw/v1/a.md", "https://raw.githubusercontent.com/o/r/v1/a.md"),
            ("https://github.com/o/r", "https://github.com/o/r"),
            ("https://github.com/o/r/blob/main", "https://github.com/o/r/blob/main"),
            ("https://e.org/o/r/blob/main/a.md", "https://e.org/o/r/blob/main/a.md"),
        ] {
            assert_eq!(raw(url), expected);
        }
    }
}
