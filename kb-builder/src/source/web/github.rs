//! A repository on GitHub at a branch, a tag or a commit, by its archive.

use super::super::fetch::Fetcher;
use super::super::folder::Globs;
use super::super::{Entry, Listing, Source, encode_path};
use super::store::Store;
use crate::error::{Error, Result};
use std::cell::RefCell;
use std::io::{Cursor, Read};
use zip::ZipArchive;

/// Largest file that is unpacked, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// What an author says of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RepositoryOptions {
    /// `owner/name`.
    pub name: String,
    /// Branch, tag or commit; `HEAD` is the default branch.
    pub reference: String,
    /// Only what is below this folder; empty for all.
    pub folder: String,
    /// Where the programming interface is: GitHub's own or that of an Enterprise server.
    pub api: String,
    /// For private repositories, and for more requests in an hour.
    pub token: Option<String>,
}

/// A repository that is one collection.
pub struct Repository {
    collection: String,
    options: RepositoryOptions,
    globs: Globs,
    fetcher: Fetcher,
    store: Store,
    code: bool,
    url_base: Option<String>,
    archive: RefCell<Option<Archive>>,
}

struct Archive {
    zip: ZipArchive<Cursor<Vec<u8>>>,
    /// The folder that everything in it is below: `owner-name-0123abc/`.
    root: String,
}

impl Repository {
    /// The repository; what was fetched before is below `cache`.
    pub fn new(
        collection: String,
        options: RepositoryOptions,
        globs: Globs,
        fetcher: Fetcher,
        cache: &std::path::Path,
        (code, url_base): (bool, Option<String>),
    ) -> Self {
        let store = Store::at(cache);
        Self { collection, options, globs, fetcher, store, code, url_base, archive: RefCell::new(None) }
    }

    fn open(&self, notes: &mut Vec<String>) -> Result<Archive> {
        let RepositoryOptions { name, reference, api, token, .. } = &self.options;
        let url = format!("{}/repos/{name}/zipball/{}", api.trim_end_matches('/'), encode_path(reference));
        let bearer = token.as_ref().map(|t| format!("Bearer {t}"));
        let headers: Vec<(&str, &str)> = bearer.iter().map(|b| ("authorization", b.as_str())).collect();
        let fetched = super::fetch(&self.fetcher, &self.store, &url, &headers, notes).map_err(|e| {
            let hint = match e.status {
                _ if e.wait.is_some() => "build again after that time; a token in GITHUB_TOKEN raises the limit",
                Some(404) => "check owner, name and branch; a private repository needs a token in GITHUB_TOKEN",
                Some(401 | 403) => "check the token in GITHUB_TOKEN",
                _ => "try again later",
            };
            Error::failed(format!("the repository {name} cannot be had: {e}"), hint)
        })?;
        let damaged =
            |e: zip::result::ZipError| Error::failed(format!("the archive of {name} is damaged: {e}"), "try again");
        let zip = ZipArchive::new(Cursor::new(fetched.body)).map_err(damaged)?;
        let first = zip.file_names().filter_map(|n| n.ok()).next().unwrap_or_default();
        let root = first.split_once('/').map_or(String::new(), |(root, _)| format!("{root}/"));
        Ok(Archive { zip, root })
    }

    /// Path of the collection's folder inside the archive.
    fn prefix(&self, archive: &Archive) -> String {
        let folder = self.options.folder.trim_matches('/');
        if folder.is_empty() { archive.root.clone() } else { format!("{}{folder}/", archive.root) }
    }

    fn unpack(&self, path: &str) -> Option<Result<Vec<u8>>> {
        let mut archive = self.archive.borrow_mut();
        let archive = archive.as_mut()?;
        let full = self.prefix(archive) + path;
        let file = archive.zip.by_name(&full).ok()?;
        let mut bytes = Vec::new();
        let read = file.take(MAX_FILE_BYTES + 1).read_to_end(&mut bytes);
        Some(match read {
            Ok(_) if bytes.len() as u64 > MAX_FILE_BYTES => {
                Err(Error::failed(format!("{path} has more than {} MB", MAX_FILE_BYTES >> 20), "exclude it"))
            }
            Ok(_) => Ok(bytes),
            Err(e) => Err(Error::io("unpack", path, e)),
        })
    }
}

impl Source for Repository {
    fn collection(&self) -> &str {
        &self.collection
    }

    fn list(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        let archive = self.open(&mut listing.notes)?;
        let prefix = self.prefix(&archive);
        for full in archive.zip.file_names().filter_map(|n| n.ok()) {
            let Some(path) = full.strip_prefix(&prefix) else { continue };
            let hidden = path.split('/').any(|p| p.starts_with('.') || p.is_empty());
            if !hidden && self.globs.wanted(path) {
                listing.entries.push(Entry { path: path.to_string(), bytes: 0 });
            }
        }
        listing.entries.sort();
        if listing.entries.is_empty() {
            listing.notes.push(format!("{}: nothing below `{}`", self.collection, self.options.folder));
        }
        *self.archive.borrow_mut() = Some(archive);
        Ok(listing)
    }

    fn read(&self, entry: &Entry) -> Result<Vec<u8>> {
        self.unpack(&entry.path).unwrap_or_else(|| Err(Error::failed(format!("{} was not listed", entry.path), "")))
    }

    fn sibling(&self, path: &str) -> Option<Vec<u8>> {
        self.unpack(path)?.ok()
    }

    fn url_base(&self) -> Option<&str> {
        self.url_base.as_deref()
    }

    fn reads_code(&self) -> bool {
        self.code
    }
}
