//! A website: from a start page along its links, or from its sitemap.

use super::super::fetch::{Fetched, Fetcher};
use super::super::{Entry, Listing, Problem, Source};
use super::robots::{self, Robots};
use super::sitemap::{self, Sitemap};
use super::store::Store;
use super::{Address, fetch, path_of, readable};
use crate::convert::Format;
use crate::error::{Error, Result};
use scraper::{Html, Selector};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

/// The name by which robots.txt may address this program.
const AGENT: &str = "kb-builder";
/// Most sitemaps that are read of one site.
const MAX_SITEMAPS: usize = 50;

/// What an author says of a website.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawlOptions {
    /// The first page. Pages below its folder belong to the site.
    pub start: String,
    /// How many links a page may be away from the first. Default: 5.
    pub depth: usize,
    /// Most pages that are taken. Default: 500.
    pub max_pages: usize,
    /// The sitemap, where it is not at its usual place or in robots.txt.
    pub sitemap: Option<String>,
}

/// A website that is one collection.
pub struct Website {
    collection: String,
    options: CrawlOptions,
    fetcher: RefCell<Fetcher>,
    store: Store,
    /// By path: the page's address, and the address that it was asked by.
    found: RefCell<BTreeMap<String, (String, String)>>,
    notes: RefCell<Vec<String>>,
}

impl Website {
    /// The site at `options.start`; what was fetched before is below `cache`.
    pub fn new(collection: String, options: CrawlOptions, fetcher: Fetcher, cache: &std::path::Path) -> Self {
        Self {
            collection,
            options,
            fetcher: RefCell::new(fetcher),
            store: Store::at(cache),
            found: RefCell::default(),
            notes: RefCell::default(),
        }
    }

    fn get(&self, url: &str) -> std::result::Result<Fetched, super::FetchError> {
        fetch(&self.fetcher.borrow(), &self.store, url, &[], &mut self.notes.borrow_mut())
    }

    /// robots.txt; none allows everything, one that the server cannot give allows nothing (RFC 9309).
    fn robots(&self, start: &Address) -> Result<Robots> {
        let Ok(url) = start.join("/robots.txt") else { return Ok(Robots::default()) };
        match self.get(&url.to_string()) {
            Ok(fetched) => {
                let body = &fetched.body[..fetched.body.len().min(robots::MAX_BYTES)];
                Ok(Robots::parse(&String::from_utf8_lossy(body), AGENT))
            }
            Err(e) if e.status.is_some_and(|s| (400..500).contains(&s) && s != 429) => Ok(Robots::default()),
            Err(e) => Err(Error::failed(format!("the site's robots.txt cannot be read: {e}"), "try again later")),
        }
    }

    /// The pages that the site's sitemaps list.
    fn listed(&self, start: &Address, robots: &Robots) -> Vec<String> {
        let mut queue: VecDeque<String> = match &self.options.sitemap {
            Some(sitemap) => VecDeque::from([sitemap.clone()]),
            None if robots.sitemaps.is_empty() => {
                start.join("/sitemap.xml").map(|a| a.to_string()).into_iter().collect()
            }
            None => robots.sitemaps.clone().into(),
        };
        let (mut pages, mut seen) = (Vec::new(), BTreeSet::new());
        while let Some(url) = queue.pop_front() {
            if seen.len() >= MAX_SITEMAPS || !seen.insert(url.clone()) {
                continue;
            }
            let Ok(fetched) = self.get(&url) else { continue };
            match sitemap::parse(&String::from_utf8_lossy(&fetched.body)) {
                Some(Sitemap::Pages(found)) => pages.extend(found),
                Some(Sitemap::Index(further)) => queue.extend(further),
                None => {}
            }
        }
        pages
    }
}

/// What a page says of itself and of others.
struct Links {
    /// The address that it wants to be known by.
    canonical: Option<Address>,
    /// Whether it does not want to be found.
    noindex: bool,
    links: Vec<Address>,
}

fn links(page: &str, at: &Address) -> Links {
    let html = Html::parse_document(page);
    let select = |query: &str| Selector::parse(query).ok();
    let base = select("base[href]")
        .and_then(|s| html.select(&s).next().and_then(|b| at.join(b.attr("href")?).ok()))
        .unwrap_or_else(|| at.clone());
    let mut found = Links { canonical: None, noindex: false, links: Vec::new() };
    if let Some(s) = select("link[rel=canonical][href]") {
        found.canonical = html.select(&s).next().and_then(|l| base.join(l.attr("href")?).ok());
    }
    let mut nofollow = false;
    if let Some(s) = select("meta[name=robots], meta[name=kb-builder]") {
        for meta in html.select(&s) {
            let content = meta.attr("content").unwrap_or_default().to_ascii_lowercase();
            found.noindex |= content.contains("noindex") || content.contains("none");
            nofollow |= content.contains("nofollow") || content.contains("none");
        }
    }
    if let Some(s) = select("a[href]").filter(|_| !nofollow) {
        for a in html.select(&s) {
            if a.attr("rel").is_some_and(|r| r.split_whitespace().any(|r| r == "nofollow")) {
                continue;
            }
            found.links.extend(a.attr("href").and_then(|h| base.join(h.trim()).ok()));
        }
    }
    found
}

impl Source for Website {
    fn collection(&self) -> &str {
        &self.collection
    }

    fn list(&self) -> Result<Listing> {
        let start = Address::parse(&self.options.start)
            .map_err(|e| Error::usage(e, "write the whole address, with https://"))?
            .without_query();
        let folder = start.path()[..start.path().rfind('/').map_or(0, |i| i + 1)].to_string();
        let belongs = |url: &Address| url.same_site(&start) && url.path().starts_with(&folder);
        let robots = self.robots(&start)?;
        if let Some(delay) = robots.delay {
            self.fetcher.borrow_mut().slow_down(delay);
        }
        let mut listing = Listing::default();
        let mut found = self.found.borrow_mut();
        found.clear();
        let mut queue = VecDeque::from([(start.clone(), 0)]);
        let listed = self.listed(&start, &robots);
        queue.extend(listed.iter().filter_map(|u| Address::parse(u).ok()).map(|u| (u.without_query(), 0)));
        let mut seen = BTreeSet::new();
        let mut refused = 0;
        let mut capped = false;
        while let Some((url, depth)) = queue.pop_front() {
            if !belongs(&url) || !seen.insert(url.to_string()) {
                continue;
            }
            if !robots.allows(url.path()) {
                refused += 1;
                continue;
            }
            // Pictures and archives are known by their names.
            let suffix = crate::convert::suffix(url.path());
            if !suffix.is_empty() && Format::of(url.path()).is_none() && is_file(&suffix) {
                continue;
            }
            if found.len() >= self.options.max_pages {
                capped = true;
                break;
            }
            let fetched = match self.get(&url.to_string()) {
                Ok(fetched) => fetched,
                Err(e) => {
                    let problem =
                        Problem { collection: self.collection.clone(), path: url.to_string(), reason: e.to_string() };
                    // A dead link of a page is the site's matter; a dead start is the author's.
                    if depth == 0 {
                        listing.problems.push(problem)
                    } else {
                        listing.notes.push(format!("{}: {}", self.collection, problem.reason))
                    }
                    continue;
                }
            };
            let mut address = Address::parse(&fetched.url).map_or(url.clone(), Address::without_query);
            if !belongs(&address) {
                continue;
            }
            let mut wanted = true;
            if fetched.content_type.contains("html") {
                let declared = crate::convert::declared_charset(&fetched.content_type, &fetched.body);
                let text = crate::convert::encoding::decode(&fetched.body, declared.as_deref()).map(|d| d.text);
                let page = links(&text.unwrap_or_default(), &address);
                if depth < self.options.depth {
                    queue.extend(page.links.into_iter().map(|u| (u.without_query(), depth + 1)));
                }
                wanted = !page.noindex;
                if let Some(canonical) = page.canonical.map(Address::without_query).filter(|c| belongs(c)) {
                    address = canonical;
                }
            }
            let path = path_of(&address, &fetched.content_type, false);
            if wanted && Format::of(&path).is_some() && !found.contains_key(&path) {
                listing.entries.push(Entry { path: path.clone(), bytes: fetched.body.len() as u64 });
                found.insert(path, (address.to_string(), url.to_string()));
            }
        }
        if refused > 0 {
            listing.notes.push(format!("{}: robots.txt keeps {refused} pages", self.collection));
        }
        if capped {
            listing
                .notes
                .push(format!("{}: stopped at {} pages, see `max_pages`", self.collection, self.options.max_pages));
        }
        listing.notes.append(&mut self.notes.borrow_mut());
        listing.entries.sort();
        Ok(listing)
    }

    fn read(&self, entry: &Entry) -> Result<Vec<u8>> {
        let asked = self.found.borrow().get(&entry.path).map(|(_, asked)| asked.clone());
        let Some(asked) = asked else { return Err(Error::failed(format!("{} was not listed", entry.path), "")) };
        match self.store.get(&asked) {
            Some(kept) => Ok(readable(kept)),
            None => self.get(&asked).map(readable).map_err(|e| Error::failed(e.to_string(), "")),
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
}

/// Suffixes of what is no page.
fn is_file(suffix: &str) -> bool {
    const FILES: [&str; 30] = [
        "png", "jpg", "jpeg", "gif", "svg", "webp", "ico", "css", "js", "mjs", "json", "map", "woff", "woff2", "ttf",
        "zip", "gz", "bz2", "xz", "7z", "exe", "dmg", "iso", "mp3", "mp4", "webm", "avi", "mov", "wasm", "xml",
    ];
    FILES.contains(&suffix)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved_and_wishes_respected() {
        let at = Address::parse("https://e.org/docs/a.html").expect("url");
        let page = links(
            "<head><link rel=canonical href='/docs/a'><meta name=robots content='noindex'></head><a href=b.html#x>b</a><a href='/c?q=1'>c</a>\
             <a href='mailto:x@e.org'>m</a><a rel='nofollow' href=d>d</a>",
            &at,
        );
        assert_eq!(page.canonical.map(|c| c.to_string()).as_deref(), Some("https://e.org/docs/a"));
        assert!(page.noindex);
        let found: Vec<String> = page.links.into_iter().map(|u| u.without_query().to_string()).collect();
        assert_eq!(found, ["https://e.org/docs/b.html", "https://e.org/c"]);
        assert!(links("<meta name=robots content=none><a href=x>x</a>", &at).links.is_empty());
    }
}
