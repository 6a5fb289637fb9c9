//! Somebody's work on GitHub: who it is, what the projects are, what they are made with and how they came about.

mod api;
mod commits;
mod manifest;
mod pages;
mod wire;
mod words;

use super::fetch::{FetchError, Fetcher};
use super::folder::Globs;
use super::web::store::Store;
use super::{Entry, Listing, Problem, Source};
use crate::convert::{self, Format};
use crate::error::{Error, Result};
use crate::report::duration;
use api::{Answer, Api};
use pages::{Owner, Page, Project};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use wire::{Commit, Content, Languages, Profile, Repo, is_name, line};

/// Most manifests of one repository that are fetched.
const MAX_MANIFESTS: usize = 6;

/// What an author says of a portfolio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PortfolioOptions {
    /// The account: a person or an organisation.
    pub login: String,
    /// Where the programming interface is: GitHub's own or that of an Enterprise server.
    pub api: String,
    /// Most repositories, those with the most stars first.
    pub max_repositories: usize,
    /// Whether forks of other people's repositories count as own work.
    pub forks: bool,
    /// Allows 5,000 requests an hour where 60 are allowed without. It opens nothing private: a portfolio is public.
    pub token: Option<String>,
}

/// An account on GitHub that is one collection.
pub struct Portfolio {
    collection: String,
    options: PortfolioOptions,
    globs: Globs,
    api: Api,
    pages: RefCell<BTreeMap<String, Page>>,
}

/// The account for what an author wrote: `ann`, `@ann` or `https://github.com/ann`.
pub fn login_of(text: &str) -> Result<String> {
    let text = text.trim().trim_end_matches('/');
    let login = text.split_once("://").map_or(text, |(_, rest)| rest.split_once('/').map_or("", |(_, path)| path));
    let login = login.trim_start_matches('@');
    if is_name(login) {
        return Ok(login.to_owned());
    }
    Err(Error::usage(
        format!("`{}` is no account on GitHub", text.escape_debug()),
        "portfolio = \"login\", as in https://github.com/login",
    ))
}

impl Portfolio {
    /// The portfolio; what was fetched before is below `cache`. `globs` choose repositories by name.
    pub fn new(
        collection: String,
        options: PortfolioOptions,
        globs: Globs,
        fetcher: Fetcher,
        cache: &std::path::Path,
    ) -> Self {
        let api = Api::new(&options.api, options.token.as_deref(), fetcher, Store::at(cache));
        Self { collection, options, globs, api, pages: RefCell::default() }
    }

    fn problem(&self, path: &str, reason: String) -> Problem {
        Problem { collection: self.collection.clone(), path: path.to_owned(), reason }
    }

    /// The account and its repositories: without them there is no portfolio.
    fn account(&self) -> Result<(Profile, Vec<Repo>, bool)> {
        let login = &self.options.login;
        let none = || {
            Error::failed(
                format!("there is no account `{login}` on GitHub"),
                "portfolio is the name behind https://github.com/; `api` is the address of an Enterprise server's interface",
            )
        };
        let failed = |e: FetchError| {
            if let Some(wait) = self.api.limited() {
                return Error::failed(
                    format!("the portfolio of {login} cannot be had: {}", self.used_up(wait)),
                    "build again after that time",
                );
            }
            let hint = match e.status {
                Some(401 | 403) => "check the token in GITHUB_TOKEN",
                _ => "try again later",
            };
            Error::failed(format!("the portfolio of {login} cannot be had: {e}"), hint)
        };
        let profile = self.api.get(&format!("/users/{login}"), None).map_err(failed)?.found().ok_or_else(none)?;
        let path = format!("/users/{login}/repos?per_page=100&type=owner&sort=pushed");
        let (repos, more) = self.api.list(&path).map_err(failed)?.found().ok_or_else(none)?;
        Ok((profile, repos, more))
    }

    /// GitHub's limit in a clause that says what can be done.
    fn used_up(&self, wait: std::time::Duration) -> String {
        let advice =
            if self.api.has_token() { "" } else { "; a token in GITHUB_TOKEN raises it from 60 to 5,000 an hour" };
        format!("GitHub's limit of requests is used up for another {}{advice}", duration(wait))
    }

    /// The repositories that are read, the most starred first.
    fn chosen(&self, repos: Vec<Repo>, listing: &mut Listing) -> Vec<(String, Repo)> {
        let mut chosen = Vec::new();
        // Names that differ in their case alone would share a file on some systems.
        let mut taken = BTreeSet::new();
        let (mut odd, mut first_odd) = (0, String::new());
        for repo in repos {
            let Some(name) = repo.name.clone().filter(|n| is_name(n)) else {
                odd += 1;
                if odd == 1 {
                    first_odd = line(repo.name.as_deref()).unwrap_or_default();
                }
                continue;
            };
            // What is private stays so, whatever a token opens.
            let own = repo.private != Some(true) && (self.options.forks || repo.fork != Some(true));
            if own && self.globs.wanted(&name) && taken.insert(name.to_lowercase()) {
                chosen.push((name, repo));
            }
        }
        if odd > 0 {
            let more = if odd > 1 { format!("; {} more like it", odd - 1) } else { String::new() };
            listing
                .problems
                .push(self.problem(&first_odd, format!("this is no name that a repository can have{more}")));
        }
        let rank = |r: &Repo| (r.stargazers_count.unwrap_or(0), r.pushed_at.clone());
        chosen.sort_by(|(a, x), (b, y)| rank(y).cmp(&rank(x)).then_with(|| a.cmp(b)));
        if chosen.len() > self.options.max_repositories {
            listing.notes.push(format!(
                "{}: {} of {} repositories are read, those with the most stars; `max_repositories` says how many",
                self.collection,
                self.options.max_repositories,
                chosen.len()
            ));
            chosen.truncate(self.options.max_repositories);
        }
        chosen
    }

    /// What GitHub has of a repository; what cannot be had is said in the end, the rest is there.
    fn project(&self, name: String, repo: Repo) -> (Project, Vec<FetchError>) {
        let mut errors = Vec::new();
        let at = format!("/repos/{}/{name}", self.options.login);
        // Nothing of what follows changes without a push.
        let state = repo
            .pushed_at
            .as_ref()
            .map(|pushed| format!("{pushed} {}", repo.default_branch.as_deref().unwrap_or_default()));
        let state = state.as_deref();
        let languages =
            taken(self.api.get::<Languages>(&format!("{at}/languages"), state), &mut errors).unwrap_or_default();
        let readme = taken(self.api.get::<Content>(&format!("{at}/readme"), state), &mut errors)
            .and_then(|content| self.readme(&name, &content));
        let files =
            taken(self.api.get::<Vec<Content>>(&format!("{at}/contents/"), state), &mut errors).unwrap_or_default();
        let (mut manifests, mut tools) = (Vec::new(), Vec::new());
        for file in manifests_of(&files) {
            let path = format!("{at}/contents/{}", super::encode_path(&file));
            let Some(content) = taken(self.api.get::<Content>(&path, state), &mut errors) else { continue };
            let own = || format!("https://github.com/{}/{name}", self.options.login);
            let url = pages::address(content.html_url.as_deref()).unwrap_or_else(own);
            manifests.push((file.clone(), url, manifest::names(&file, &content.bytes().unwrap_or_default())));
        }
        for tool in files.iter().filter_map(|f| manifest::tool(f.name.as_deref()?)) {
            if !tools.contains(&tool) {
                tools.push(tool);
            }
        }
        let commits = taken(self.api.ends::<Commit>(&format!("{at}/commits?per_page=100"), state), &mut errors);
        let steps = commits::telling(&commits.unwrap_or_default());
        (Project { repo, name, languages, manifests, tools, readme, steps }, errors)
    }

    /// A README as Markdown, and where it stands.
    fn readme(&self, name: &str, content: &Content) -> Option<(String, String)> {
        let bytes = content.bytes()?;
        let file = line(content.name.as_deref()).unwrap_or_else(|| "README.md".into());
        // What has no converter, such as AsciiDoc, is still a text.
        let format = Format::of(&file).filter(|f| f.is_text()).unwrap_or(Format::Text);
        let suffix = convert::suffix(&file);
        let entry = Entry { path: format!("projects/{name}/README.{suffix}"), bytes: bytes.len() as u64 };
        let converted = convert::convert(format, &self.collection, &entry, &bytes, &|_| None).ok()?;
        let own = || format!("https://github.com/{}/{name}", self.options.login);
        let text = converted.document.text;
        let url = pages::address(content.html_url.as_deref()).unwrap_or_else(own);
        (!text.trim().is_empty()).then_some((text, url))
    }

    /// What is said once about a limit that was met and about copies that answered in GitHub's place.
    fn sum_up(&self, unread: &[String], all: usize, listing: &mut Listing) {
        let copies = match self.api.copies() {
            0 => String::new(),
            1 => "one request was answered by the copy of the last run".to_owned(),
            n => format!("{n} requests were answered by the copies of the last run"),
        };
        match self.api.limited() {
            Some(wait) => {
                let mut sentence = self.used_up(wait);
                if !unread.is_empty() {
                    sentence += &format!(
                        "; {} of {all} repositories could not be read in full ({})",
                        unread.len(),
                        unread.join(", ")
                    );
                }
                if !copies.is_empty() {
                    sentence += &format!("; {copies}");
                }
                match unread.is_empty() {
                    true => listing.notes.push(format!("{}: {sentence}", self.collection)),
                    false => listing.problems.push(self.problem(&self.options.login, sentence)),
                }
            }
            None if !copies.is_empty() => {
                listing.notes.push(format!("{}: GitHub is out of order; {copies}", self.collection));
            }
            None => {}
        }
    }
}

/// The value, if there is one; a failure is put aside.
fn taken<T>(answer: std::result::Result<Answer<T>, FetchError>, errors: &mut Vec<FetchError>) -> Option<T> {
    match answer {
        Ok(answer) => answer.found(),
        Err(e) => {
            errors.push(e);
            None
        }
    }
}

/// The files at the top of a repository that say what it is made with, the telling ones first.
fn manifests_of(files: &[Content]) -> Vec<String> {
    let plain =
        files.iter().filter(|f| f.kind.as_deref() == Some("file") && f.size.is_none_or(|s| s <= manifest::MAX_BYTES));
    let mut names: Vec<String> = plain.filter_map(|f| f.name.clone()).filter(|n| manifest::is_manifest(n)).collect();
    names.sort_by_key(|n| (manifest::rank(n), n.clone()));
    names.truncate(MAX_MANIFESTS);
    names
}

impl Source for Portfolio {
    fn collection(&self) -> &str {
        &self.collection
    }

    fn list(&self) -> Result<Listing> {
        let mut listing = Listing::default();
        let (profile, repos, more) = self.account()?;
        if more {
            listing
                .notes
                .push(format!("{}: the list of repositories is longer than what is read of it", self.collection));
        }
        let owner = Owner { login: &self.options.login, profile: &profile };
        let (mut projects, mut unread) = (Vec::new(), Vec::new());
        for (name, repo) in self.chosen(repos, &mut listing) {
            let (project, errors) = self.project(name.clone(), repo);
            // The limit is told once for all, what is wrong with one repository by its name.
            match errors.iter().find(|e| e.wait.is_none()) {
                Some(e) => listing.problems.push(self.problem(&name, e.to_string())),
                None if !errors.is_empty() => unread.push(name),
                None => {}
            }
            projects.push(project);
        }
        self.sum_up(&unread, projects.len(), &mut listing);
        let is_profile = |p: &Project| p.name.eq_ignore_ascii_case(owner.login);
        let mut all = vec![owner.page(&projects)];
        all.extend(projects.iter().flat_map(|p| p.pages(&owner, is_profile(p))));
        listing.entries.extend(all.iter().map(|p| Entry { path: p.path.clone(), bytes: p.text.len() as u64 }));
        listing.entries.sort();
        *self.pages.borrow_mut() = all.into_iter().map(|p| (p.path.clone(), p)).collect();
        Ok(listing)
    }

    fn read(&self, entry: &Entry) -> Result<Vec<u8>> {
        let pages = self.pages.borrow();
        let page = pages.get(&entry.path).ok_or_else(|| Error::failed(format!("{} was not listed", entry.path), ""))?;
        Ok(page.text.clone().into_bytes())
    }

    fn sibling(&self, _: &str) -> Option<Vec<u8>> {
        None
    }

    fn url_base(&self) -> Option<&str> {
        None
    }

    fn url_of(&self, entry: &Entry) -> Option<String> {
        self.pages.borrow().get(&entry.path).map(|page| page.url.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_may_be_written_in_three_ways() {
        for (text, login) in [("ann", "ann"), ("@ann", "ann"), (" https://github.com/ann-b/ ", "ann-b")] {
            assert_eq!(login_of(text).expect(text), login);
        }
        for bad in ["", "a/b", "https://github.com/a/b", "https://github.com", "a b", "..", "a?b", "图"] {
            assert_eq!(login_of(bad).expect_err(bad).exit_status(), 2);
        }
    }

    #[test]
    fn only_files_that_are_understood_are_fetched() {
        let files = serde_json::json!([
            {"name": "Dockerfile", "type": "file"}, {"name": "src", "type": "dir"}, {"name": "cargo.toml", "type": "dir"},
            {"name": "Cargo.toml", "type": "file", "size": 10}, {"name": "package.json", "type": "file", "size": 99_000_000},
        ]);
        let files: Vec<Content> = serde_json::from_value(files).expect("a list");
        assert_eq!(manifests_of(&files), ["Cargo.toml", "Dockerfile"]);
    }
}
