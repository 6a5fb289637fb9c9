//! A folder, or a single file, on the author's disk.

use super::{Entry, Listing, Problem, Source};
use crate::config::SourceConfig;
use crate::convert::Format;
use crate::error::{Error, Result};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};
use ignore::WalkBuilder;
use kb_core::bundle::MANIFEST_FILE;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};

/// Largest file that is read, in bytes. Larger ones are reported: no document of text is that long.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Most files that are counted though they are left out, and most that are looked at for it.
const MAX_IGNORED: usize = 1_000;
const MAX_LOOKED_AT: usize = 20_000;

/// A folder that is one collection.
pub struct Folder {
    collection: String,
    root: PathBuf,
    /// Set when the source is one file: its name below `root`.
    only: Option<String>,
    globs: Globs,
    /// Canonical path of the output, which is never read.
    out: Option<PathBuf>,
    url_base: Option<String>,
    code: bool,
}

/// The name a collection gets from its path: the folder's name, or the file's without its suffix.
pub fn default_name(path: &Path) -> Result<String> {
    let real = path.canonicalize().map_err(|e| Error::io("read", path, e))?;
    let part = if real.is_dir() { real.file_name() } else { real.file_stem() };
    Ok(part.map_or_else(|| "root".to_string(), |n| n.to_string_lossy().into_owned()))
}

impl Folder {
    /// Opens the folder or file of `config` as the collection `name`; `out` is left out of it.
    pub fn open(name: String, config: &SourceConfig, out: &Path) -> Result<Self> {
        let meta = std::fs::metadata(&config.path).map_err(|e| Error::io("read", &config.path, e))?;
        let (root, only) = if meta.is_dir() {
            (config.path.clone(), None)
        } else {
            let file = config.path.file_name().map(|n| n.to_string_lossy().into_owned());
            let parent = config.path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
            (parent.to_path_buf(), file)
        };
        Ok(Self {
            collection: name,
            root,
            only,
            globs: Globs::new(&config.include, &config.exclude)?,
            out: out.canonicalize().ok(),
            url_base: config.url_base.clone(),
            code: config.code,
        })
    }

    /// Goes through the files but those of sites, which it names in `sites`.
    fn walk(&self, sites: Arc<Mutex<Vec<PathBuf>>>) -> WalkBuilder {
        let out = self.out.clone();
        let mut walk = WalkBuilder::new(&self.root);
        walk.follow_links(true)
            .require_git(false)
            // The author's private ignore file would make two machines build different sites.
            .git_global(false)
            .filter_entry(move |e| {
                if !e.file_type().is_some_and(|t| t.is_dir()) {
                    return true;
                }
                if out.is_some() && e.path().canonicalize().ok() == out {
                    return false;
                }
                // What an earlier build wrote, to another place: its copies of the documents are no documents.
                let written = e.depth() > 0 && is_site(e.path());
                if written && let Ok(mut sites) = sites.lock() {
                    sites.push(e.path().to_path_buf());
                }
                !written
            });
        walk
    }

    /// How many files that could be read are not among `entries`: lists of what git leaves alone name them. Counts and
    /// looks only so far; such folders may hold a hundred thousand files.
    fn ignored(&self, entries: &[Entry]) -> usize {
        let everything = self.walk(Arc::default()).standard_filters(false).hidden(true).build();
        let files = everything.take(entries.len() + MAX_LOOKED_AT).flatten();
        let paths = files
            .filter(|e| e.file_type().is_some_and(|t| t.is_file()))
            .filter_map(|e| relative(&self.root, e.path()))
            .filter(|path| if self.code { Format::of_code(path) } else { Format::of(path) }.is_some())
            .filter(|path| self.globs.wanted(path));
        // In the order of their paths.
        let is_listed = |path: &String| entries.binary_search_by(|e| e.path.cmp(path)).is_ok();
        paths.filter(|path| !is_listed(path)).take(MAX_IGNORED + 1).count()
    }

    fn problem(&self, path: String, reason: String) -> Problem {
        Problem { collection: self.collection.clone(), path, reason }
    }
}

impl Source for Folder {
    fn collection(&self) -> &str {
        &self.collection
    }

    fn list(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        if let Some(file) = &self.only {
            let path = self.root.join(file);
            let bytes = std::fs::metadata(&path).map_err(|e| Error::io("read", &path, e))?.len();
            listing.entries.push(Entry { path: file.clone(), bytes });
            return Ok(listing);
        }
        let sites = Arc::new(Mutex::new(Vec::new()));
        let walk = self.walk(sites.clone()).build();
        for entry in walk {
            let entry = match entry {
                Ok(entry) => entry,
                Err(e) if is_loop(&e) => {
                    listing.notes.push(format!("{}: {e}; not followed", self.collection));
                    continue;
                }
                Err(e) => {
                    listing.problems.push(self.problem(error_path(&e, &self.root), e.to_string()));
                    continue;
                }
            };
            if !entry.file_type().is_some_and(|t| t.is_file()) {
                continue;
            }
            let Some(path) = relative(&self.root, entry.path()) else {
                let shown =
                    entry.path().strip_prefix(&self.root).unwrap_or(entry.path()).to_string_lossy().into_owned();
                listing.problems.push(self.problem(shown, "the file's name is not valid Unicode".into()));
                continue;
            };
            // Office puts one beside every document that is open: the name of whoever opened it, and no text.
            let is_owner_file = path.rsplit('/').next().is_some_and(|name| name.starts_with("~$"));
            if !is_owner_file && self.globs.wanted(&path) {
                let bytes = entry.metadata().map_or(0, |m| m.len());
                listing.entries.push(Entry { path, bytes });
            }
        }
        listing.entries.sort();
        let ignored = self.ignored(&listing.entries);
        if ignored > 0 {
            let at_least = if ignored > MAX_IGNORED { "over " } else { "" };
            listing.notes.push(format!(
                "{}: {at_least}{} files that could be read are left out, since .gitignore or .ignore names them",
                self.collection,
                ignored.min(MAX_IGNORED)
            ));
        }
        for site in sites.lock().iter().flat_map(|all| all.iter()) {
            let shown = site.strip_prefix(&self.root).unwrap_or(site).display().to_string();
            listing.notes.push(format!("{}/{shown}: a site that kb-builder wrote; left aside", self.collection));
        }
        listing.problems.sort_by(|a, b| a.path.cmp(&b.path));
        listing.notes.sort();
        Ok(listing)
    }

    fn read(&self, entry: &Entry) -> Result<Vec<u8>> {
        let path = self.root.join(&entry.path);
        let bytes = std::fs::metadata(&path).map_err(|e| Error::io("read", &path, e))?.len();
        if bytes > MAX_FILE_BYTES {
            return Err(Error::failed(
                format!("the file has {} MB, more than the {} MB that are read", bytes >> 20, MAX_FILE_BYTES >> 20),
                "split it, or exclude it",
            ));
        }
        std::fs::read(&path).map_err(|e| Error::io("read", &path, e))
    }

    fn sibling(&self, path: &str) -> Option<Vec<u8>> {
        let relative = Path::new(path);
        if !relative.components().all(|c| matches!(c, Component::Normal(_))) {
            return None;
        }
        // A symbolic link must not publish a file from outside the source either.
        let root = self.root.canonicalize().ok()?;
        let full = root.join(relative).canonicalize().ok()?;
        let small = std::fs::metadata(&full).is_ok_and(|m| m.is_file() && m.len() <= MAX_FILE_BYTES);
        if small && full.starts_with(&root) { std::fs::read(full).ok() } else { None }
    }

    fn file(&self, path: &str) -> Option<PathBuf> {
        Some(self.root.join(path))
    }

    fn url_base(&self) -> Option<&str> {
        self.url_base.as_deref()
    }

    fn reads_code(&self) -> bool {
        self.code
    }
}

/// Whether a folder is the output of a build.
pub(crate) fn is_site(dir: &Path) -> bool {
    dir.join("kb").join(MANIFEST_FILE).is_file() && dir.join("index.html").is_file()
}

/// Which files of a source are wanted.
pub struct Globs {
    include: Option<GlobSet>,
    exclude: GlobSet,
}

impl Globs {
    /// Files that match one of `include`, all if there is none, and none of `exclude`.
    pub fn new(include: &[String], exclude: &[String]) -> Result<Self> {
        let include = if include.is_empty() { None } else { Some(globs(include)?) };
        Ok(Self { include, exclude: globs(exclude)? })
    }

    /// Whether the globs let a file through. An excluded folder excludes what is in it.
    pub fn wanted(&self, path: &str) -> bool {
        let excluded = Path::new(path).ancestors().any(|p| !p.as_os_str().is_empty() && self.exclude.is_match(p));
        !excluded && self.include.as_ref().is_none_or(|set| set.is_match(path))
    }
}

/// Compiles globs. A pattern without `/` matches a name at any depth, as in .gitignore.
fn globs(patterns: &[String]) -> Result<GlobSet> {
    let bad = |p: &str, e: globset::Error| {
        Error::usage(format!("`{p}` is not a glob: {}", e.kind()), "see `kb-builder build --help` for examples")
    };
    let mut set = GlobSetBuilder::new();
    for pattern in patterns {
        let trimmed = pattern.trim_start_matches("./").trim_end_matches('/');
        let anchored = trimmed.strip_prefix('/').unwrap_or(trimmed);
        let full = if anchored.contains('/') || trimmed.starts_with('/') {
            anchored.to_string()
        } else {
            format!("**/{anchored}")
        };
        set.add(GlobBuilder::new(&full).literal_separator(true).build().map_err(|e| bad(pattern, e))?);
    }
    set.build().map_err(|e| bad(&patterns.join(" "), e))
}

/// `path` below `root` with `/` between its parts, if it is Unicode.
fn relative(root: &Path, path: &Path) -> Option<String> {
    let parts: Option<Vec<&str>> = path.strip_prefix(root).ok()?.components().map(|c| c.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

fn is_loop(e: &ignore::Error) -> bool {
    match e {
        ignore::Error::Loop { .. } => true,
        ignore::Error::WithPath { err, .. }
        | ignore::Error::WithDepth { err, .. }
        | ignore::Error::WithLineNumber { err, .. } => is_loop(err),
        _ => false,
    }
}

fn error_path(e: &ignore::Error, root: &Path) -> String {
    match e {
        ignore::Error::WithPath { path, .. } => {
            relative(root, path).unwrap_or_else(|| path.to_string_lossy().into_owned())
        }
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => error_path(err, root),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let dir = tempfile::tempdir().expect("temp dir");
        for file in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().expect("parent")).expect("mkdir");
            std::fs::write(path, file).expect("write");
        }
        dir
    }

    fn open(root: &Path, include: &[&str], exclude: &[&str]) -> Folder {
        let own = |list: &[&str]| list.iter().map(|s| s.to_string()).collect();
        let config =
            SourceConfig { path: root.into(), include: own(include), exclude: own(exclude), ..Default::default() };
        Folder::open("c".into(), &config, &root.join("site")).expect("opens")
    }

    fn paths(folder: &Folder) -> Vec<String> {
        folder.list().expect("lists").entries.into_iter().map(|e| e.path).collect()
    }

    #[test]
    fn lists_in_path_order_without_hidden_ignored_and_output_files() {
        let dir = tree(&["b.md", "a/z.md", "a/b.md", ".secret.md", "tmp/x.md", "site/kb/doc.md", "图/最短路.md"]);
        std::fs::write(dir.path().join(".gitignore"), "tmp/\n").expect("write");
        assert_eq!(paths(&open(dir.path(), &[], &[])), ["a/b.md", "a/z.md", "b.md", "图/最短路.md"]);
    }

    #[test]
    fn what_is_left_out_by_gitignore_is_counted() {
        let dir = tree(&["b.md", "tmp/x.md", "tmp/y.txt", "tmp/z.o", "tmp/.h.md", "site/kb/doc.md", "own/a.md"]);
        let notes = |include: &[&str]| open(dir.path(), include, &[]).list().expect("lists").notes;
        assert!(notes(&[]).is_empty());
        std::fs::write(dir.path().join(".gitignore"), "tmp/\n").expect("write");
        std::fs::write(dir.path().join(".ignore"), "own\n").expect("write");
        assert_eq!(notes(&[]), ["c: 3 files that could be read are left out, since .gitignore or .ignore names them"]);
        assert!(notes(&["b.*"]).is_empty(), "what is not wanted is not missed");
        assert_eq!(notes(&["*.txt"]).len(), 1);
    }

    #[test]
    fn globs_choose_and_exclusion_is_stronger() {
        let dir = tree(&["a.md", "a.txt", "drafts/b.md", "deep/drafts/c.md", "deep/d.md"]);
        assert_eq!(paths(&open(dir.path(), &["*.md"], &["drafts"])), ["a.md", "deep/d.md"]);
        assert_eq!(paths(&open(dir.path(), &["*.md"], &["/drafts"])), ["a.md", "deep/d.md", "deep/drafts/c.md"]);
        assert_eq!(paths(&open(dir.path(), &["deep/*"], &[])), ["deep/d.md"]);
        assert_eq!(paths(&open(dir.path(), &["deep/**"], &[])), ["deep/d.md", "deep/drafts/c.md"]);
        let config = SourceConfig { path: dir.path().into(), include: vec!["[".into()], ..Default::default() };
        assert_eq!(Folder::open("c".into(), &config, Path::new("site")).err().expect("refused").exit_status(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn a_symlink_loop_is_noted_and_links_out_of_the_folder_are_not_included_from() {
        let outside = tree(&["secret.txt"]);
        let dir = tree(&["a/x.md"]);
        std::os::unix::fs::symlink(dir.path(), dir.path().join("a/up")).expect("link");
        std::os::unix::fs::symlink(outside.path().join("secret.txt"), dir.path().join("a/leak.txt")).expect("link");
        let folder = open(dir.path(), &["*.md"], &[]);
        let listing = folder.list().expect("ends");
        assert_eq!(listing.entries.len(), 1);
        assert_eq!(listing.notes.len(), 1, "{:?}", listing.notes);
        assert!(listing.problems.is_empty(), "{:?}", listing.problems);
        assert_eq!(folder.sibling("a/x.md").as_deref(), Some(&b"a/x.md"[..]));
        assert_eq!(folder.sibling("a/leak.txt"), None);
        assert_eq!(folder.sibling("../secret.txt"), None);
    }

    #[test]
    fn one_file_is_a_collection_named_after_it() {
        let dir = tree(&["notes/graph.md", "notes/other.md"]);
        let path = dir.path().join("notes/graph.md");
        assert_eq!(default_name(&path).expect("name"), "graph");
        let config = SourceConfig { path, ..Default::default() };
        let folder = Folder::open("graph".into(), &config, Path::new("site")).expect("opens");
        assert_eq!(paths(&folder), ["graph.md"]);
    }

    #[test]
    fn a_missing_path_is_an_error_that_names_it() {
        let e = default_name(Path::new("no/such/folder")).expect_err("fails");
        assert!(e.to_string().contains("no/such/folder"), "{e}");
    }
}
