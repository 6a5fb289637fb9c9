//! Where documents come from. One module a kind of source.

pub mod fetch;
pub mod folder;
pub mod portfolio;
pub mod ready;
pub mod web;

use crate::config::SourceConfig;
use crate::error::{Error, Result};
use crate::http::Reach;
use fetch::{FetchOptions, Fetcher};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// One file of a source, not yet read.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Path inside the collection, `/` separated.
    pub path: String,
    /// Size in bytes as the source states it.
    pub bytes: u64,
}

/// A file that could not be taken in, and why.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Problem {
    /// Collection it belongs to.
    pub collection: String,
    /// Path inside the collection.
    pub path: String,
    /// One sentence.
    pub reason: String,
}

/// What a source has.
#[derive(Debug, Default, Clone)]
pub struct Listing {
    /// Files in the order of their paths.
    pub entries: Vec<Entry>,
    /// Files and folders that could not be looked at.
    pub problems: Vec<Problem>,
    /// Things an author may want to know, such as a symbolic link that leads back into its own folder.
    pub notes: Vec<String>,
}

/// Anything that yields the files of one collection.
pub trait Source {
    /// Name of the collection.
    fn collection(&self) -> &str;
    /// All files, in a fixed order that does not depend on the machine.
    fn list(&self) -> Result<Listing>;
    /// The bytes of one file.
    fn read(&self, entry: &Entry) -> Result<Vec<u8>>;
    /// The bytes of another file of the source that a document includes, if the source has it.
    /// `path` is relative to the collection; it never leads out of it.
    fn sibling(&self, path: &str) -> Option<Vec<u8>>;
    /// Where the file at `path` lies on this machine's disk, for sources that are there.
    fn file(&self, _path: &str) -> Option<PathBuf> {
        None
    }
    /// Pattern of the published addresses, see [`SourceConfig::url_base`].
    fn url_base(&self) -> Option<&str>;
    /// Where one file is published, if the source knows better than a pattern.
    fn url_of(&self, entry: &Entry) -> Option<String> {
        self.url_base().map(|pattern| published_url(pattern, &entry.path))
    }
    /// Whether source code counts as a document here.
    fn reads_code(&self) -> bool {
        false
    }
}

/// Opens what the configuration names. `out` is the folder that is going to be written: it is never
/// read, even when it lies inside a source.
pub fn open_all(configs: &[SourceConfig], out: &Path) -> Result<Vec<Box<dyn Source>>> {
    let mut taken = BTreeSet::new();
    let mut sources: Vec<Box<dyn Source>> = Vec::new();
    for config in configs {
        let name = match &config.name {
            Some(name) => {
                check_name(name)?;
                if !taken.insert(name.clone()) {
                    return Err(Error::usage(
                        format!("two sources are named `{name}`"),
                        "give each [[source]] a name of its own",
                    ));
                }
                name.clone()
            }
            None => unique(default_name(config)?, &mut taken),
        };
        sources.push(open(name, config, out)?);
    }
    Ok(sources)
}

fn open(name: String, config: &SourceConfig, out: &Path) -> Result<Box<dyn Source>> {
    let elsewhere = [&config.github, &config.website, &config.portfolio];
    if config.urls.is_empty() && elsewhere.iter().all(|kind| kind.is_none()) {
        return Ok(Box::new(folder::Folder::open(name, config, out)?));
    }
    let options = FetchOptions {
        reach: if config.allow_private { Reach::Anywhere } else { Reach::Public },
        delay: Duration::from_secs(config.delay.unwrap_or(0)),
        // An archive of a whole repository is larger than any single file.
        max_bytes: if config.github.is_some() { 512 << 20 } else { FetchOptions::default().max_bytes },
        ..FetchOptions::default()
    };
    let fetcher = Fetcher::new(options)?;
    let cache = crate::model::cache_dir().join("web");
    let api = || config.api.clone().unwrap_or_else(|| "https://api.github.com".into());
    let token = || token_for(&api());
    let globs = || folder::Globs::new(&config.include, &config.exclude);
    if let Some(login) = &config.portfolio {
        let options = portfolio::PortfolioOptions {
            login: portfolio::login_of(login)?,
            api: api(),
            max_repositories: config.max_repositories.unwrap_or(30),
            forks: config.forks,
            token: token(),
        };
        return Ok(Box::new(portfolio::Portfolio::new(name, options, globs()?, fetcher, &cache)));
    }
    if let Some(repository) = &config.github {
        let reference = config.reference.clone().unwrap_or_else(|| "HEAD".into());
        let folder = config.folder.clone().unwrap_or_default();
        let below = if folder.is_empty() { String::new() } else { format!("{}/", folder.trim_matches('/')) };
        let page = format!("https://github.com/{repository}/blob/{reference}/{below}{{path}}");
        let options =
            web::RepositoryOptions { name: repository.clone(), reference, folder, api: api(), token: token() };
        let url_base = config.url_base.clone().or(Some(page));
        let look = (config.code, url_base);
        return Ok(Box::new(web::Repository::new(name, options, globs()?, fetcher, &cache, look)));
    }
    if let Some(start) = &config.website {
        let options = web::CrawlOptions {
            start: start.clone(),
            depth: config.depth.unwrap_or(5),
            max_pages: config.max_pages.unwrap_or(500),
            sitemap: config.sitemap.clone(),
        };
        return Ok(Box::new(web::Website::new(name, options, fetcher, &cache)));
    }
    Ok(Box::new(web::UrlList::new(name, config.urls.clone(), fetcher, &cache, config.code)))
}

/// The token for an interface: that of GitHub goes to GitHub alone, since a `kb.toml` of somebody else may name any address.
/// Another one has its own variable, and gets it by https or on this machine only.
fn token_for(api: &str) -> Option<String> {
    let address = web::Address::parse(api).ok()?;
    let (host, secure) = (address.authority(), api.trim_start().to_ascii_lowercase().starts_with("https://"));
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    let local = matches!(name, "localhost" | "127.0.0.1" | "[::1]");
    let variable = match (host == "api.github.com", secure) {
        (true, true) => "GITHUB_TOKEN",
        (false, true) => ENTERPRISE_TOKEN,
        (false, false) if local => ENTERPRISE_TOKEN,
        _ => return None,
    };
    std::env::var(variable).ok().filter(|t| !t.is_empty())
}

/// The variable for a server other than GitHub's own.
pub const ENTERPRISE_TOKEN: &str = "GITHUB_ENTERPRISE_TOKEN";

/// The name of a collection whose author gave none.
pub(crate) fn default_name(config: &SourceConfig) -> Result<String> {
    if let Some(repository) = &config.github {
        return Ok(repository.rsplit('/').next().unwrap_or(repository).to_string());
    }
    if let Some(login) = &config.portfolio {
        return portfolio::login_of(login);
    }
    let first = config.website.as_ref().or(config.urls.first());
    match first.map(|url| web::Address::parse(url)) {
        Some(Ok(address)) => Ok(address.authority().replace([':', '[', ']'], "-")),
        Some(Err(e)) => Err(Error::usage(e, "write the whole address, with https://")),
        None => folder::default_name(&config.path),
    }
}

/// A collection's name becomes a folder of the site and a part of addresses.
fn check_name(name: &str) -> Result<()> {
    let bad = name.trim().is_empty()
        || name == "."
        || name == ".."
        || name.contains(['/', '\\'])
        || name.chars().any(char::is_control);
    if bad {
        return Err(Error::usage(
            format!("`{name}` cannot be the name of a source"),
            "use letters, digits, spaces, `-`, `_` and `.`",
        ));
    }
    Ok(())
}

/// `name`, or `name-2`, `name-3`… if it is taken.
fn unique(name: String, taken: &mut BTreeSet<String>) -> String {
    let mut candidate = name.clone();
    let mut n = 2;
    while !taken.insert(candidate.clone()) {
        candidate = format!("{name}-{n}");
        n += 1;
    }
    candidate
}

/// The published address of the document at `path`, by a pattern as in [`SourceConfig::url_base`].
pub fn published_url(pattern: &str, path: &str) -> String {
    let encoded = encode_path(path);
    let file_start = encoded.rfind('/').map_or(0, |i| i + 1);
    let stem = match encoded[file_start..].rfind('.') {
        Some(dot) if dot > 0 => &encoded[..file_start + dot],
        _ => &encoded[..],
    };
    if pattern.contains("{path}") || pattern.contains("{stem}") {
        // MkDocs and VitePress publish a/index.md as a/, not as a/index/.
        if pattern.ends_with("{stem}/") && (stem == "index" || stem.ends_with("/index")) {
            return pattern.replace("{stem}/", stem.strip_suffix("index").unwrap_or(stem));
        }
        return pattern.replace("{path}", &encoded).replace("{stem}", stem);
    }
    let slash = if pattern.ends_with(['/', '=']) { "" } else { "/" };
    format!("{pattern}{slash}{encoded}")
}

/// Percent-encodes a `/` separated path, leaving the slashes.
pub fn encode_path(path: &str) -> String {
    use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
    // RFC 3986: pchar without the sub-delimiters, which some hosts treat specially, and `/`.
    const KEEP: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~').remove(b'/');
    utf8_percent_encode(path, KEEP).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn published_addresses_follow_the_pattern() {
        for (pattern, path, url) in [
            ("https://h/book/{stem}.html", "ch04-01.md", "https://h/book/ch04-01.html"),
            ("https://h/blob/main", "a/b c.md", "https://h/blob/main/a/b%20c.md"),
            ("https://h/blob/main/", "图/最短路.md", "https://h/blob/main/%E5%9B%BE/%E6%9C%80%E7%9F%AD%E8%B7%AF.md"),
            ("https://h/{stem}/", "graph/index.md", "https://h/graph/"),
            ("https://h/{stem}/", "index.md", "https://h/"),
            ("https://h/{stem}/", "graph/dijkstra.md", "https://h/graph/dijkstra/"),
            ("https://h/{stem}.html", "v1.2/arrays.dtypes.rst", "https://h/v1.2/arrays.dtypes.html"),
            ("https://h/{stem}", "dir.d/README", "https://h/dir.d/README"),
            ("https://h/view?file={path}", "a.md", "https://h/view?file=a.md"),
        ] {
            assert_eq!(published_url(pattern, path), url, "{pattern} {path}");
        }
    }

    #[test]
    fn default_names_are_made_unique_and_given_names_must_be() {
        let mut taken = BTreeSet::new();
        assert_eq!(unique("notes".into(), &mut taken), "notes");
        assert_eq!(unique("notes".into(), &mut taken), "notes-2");
        assert_eq!(unique("notes".into(), &mut taken), "notes-3");
        for bad in ["", " ", "a/b", "..", "a\nb"] {
            assert_eq!(check_name(bad).expect_err(bad).exit_status(), 2);
        }
        check_name("算法 笔记").expect("fine");
    }
}
