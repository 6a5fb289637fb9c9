//! The documents that a portfolio is made of, as Markdown with metadata: one a sort of passage.

use super::commits::Step;
use super::wire::{Languages, Profile, Repo, line};
use super::words::{self, Words};
use crate::convert::escape;
use crate::source::encode_path;
use crate::source::web::Address;
use kb_core::document::MetaValue;
use std::collections::BTreeMap;

/// Metadata of a document.
pub type Metadata = BTreeMap<String, MetaValue>;

/// Most topics of one repository, most languages, and most dependencies that become metadata: together far from the size
/// of front matter that is read.
const MAX_TOPICS: usize = 30;
const MAX_ALL_LANGUAGES: usize = 50;
const MAX_USES: usize = 150;
/// Longest topic and longest name of a language, in bytes; GitHub's own are shorter.
const MAX_LABEL: usize = 60;
/// Most commits that are told.
const MAX_STEPS: usize = 150;
/// Languages that are named of a project.
const MAX_LANGUAGES: usize = 8;

/// A document that is ready.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Path in the collection.
    pub path: String,
    /// Its place on GitHub.
    pub url: String,
    /// Markdown with front matter.
    pub text: String,
}

/// All that was found of a project.
#[derive(Debug, Default)]
pub struct Project {
    pub repo: Repo,
    /// Checked, see [`super::wire::is_name`].
    pub name: String,
    pub languages: Languages,
    /// Files that say what the project is made with: name, address, names in it.
    pub manifests: Vec<(String, String, Vec<String>)>,
    pub tools: Vec<&'static str>,
    /// As Markdown, and where it stands.
    pub readme: Option<(String, String)>,
    pub steps: Vec<Step>,
}

/// The account that everything belongs to.
pub struct Owner<'a> {
    /// Checked, see [`super::wire::is_name`].
    pub login: &'a str,
    pub profile: &'a Profile,
}

/// An address that a browser may be led to, in one spelling.
pub fn address(url: Option<&str>) -> Option<String> {
    Address::parse(url?).ok().map(|a| a.to_string())
}

impl Owner<'_> {
    /// The page of the account on GitHub.
    pub fn url(&self) -> String {
        address(self.profile.html_url.as_deref()).unwrap_or_else(|| format!("https://github.com/{}", self.login))
    }

    /// Who it is.
    pub fn page(&self, projects: &[Project]) -> Page {
        let p = self.profile;
        let bio = line(p.bio.as_deref()).or_else(|| line(p.description.as_deref()));
        let w = words::of(bio.as_deref().unwrap_or_default());
        let name = line(p.name.as_deref()).unwrap_or_else(|| self.login.to_owned());
        let mut list = List::new(w);
        list.add(w.name, Some(name.clone()));
        list.add(w.account, Some(self.login.to_owned()));
        list.add(w.bio, bio);
        list.add(w.company, line(p.company.as_deref()));
        list.add(w.location, line(p.location.as_deref()));
        list.add(w.website, line(p.blog.as_deref()));
        list.add(w.since, day(p.created_at.as_deref()));
        list.add(w.repositories, p.public_repos.filter(|n| *n > 0).map(|n| n.to_string()));
        list.add(w.followers, p.followers.filter(|n| *n > 0).map(|n| n.to_string()));
        let mut all = Languages::new();
        for (language, bytes) in projects.iter().flat_map(|p| &p.languages) {
            let sum = all.entry(language.clone()).or_default();
            *sum = sum.saturating_add(*bytes);
        }
        let languages: Vec<String> = ranked(&all).into_iter().take(MAX_LANGUAGES).map(|(l, _)| l).collect();
        list.add(w.most_used, Some(languages.join(w.comma)));
        let known: Vec<&str> = projects.iter().take(5).map(|p| p.name.as_str()).collect();
        list.add(w.best_known, Some(known.join(w.comma)));
        let mut m = Metadata::from([("login".into(), text(self.login)), ("name".into(), text(&name))]);
        put(&mut m, "created", date(p.created_at.as_deref()));
        put(&mut m, "followers", p.followers.map(MetaValue::Int));
        put(&mut m, "languages", (!languages.is_empty()).then(|| texts(&languages)));
        put(&mut m, "company", line(p.company.as_deref()).map(MetaValue::Text));
        put(&mut m, "location", line(p.location.as_deref()).map(MetaValue::Text));
        page("profile.md", self.url(), &titled(m, "identity", w.profile, &name), &list.text)
    }
}

impl Project {
    /// The repository's page on GitHub.
    fn url(&self, owner: &Owner) -> String {
        let own = || format!("https://github.com/{}/{}", owner.login, self.name);
        address(self.repo.html_url.as_deref()).unwrap_or_else(own)
    }

    /// The documents about it. `is_profile` is a repository whose README is the account's own page.
    pub fn pages(&self, owner: &Owner, is_profile: bool) -> Vec<Page> {
        let url = self.url(owner);
        let description = line(self.repo.description.as_deref()).unwrap_or_default();
        let about = format!("{description}\n{}", self.readme.as_ref().map_or("", |(text, _)| text));
        let w = words::of(&about);
        let metadata = self.metadata(owner);
        let at = |file: &str| format!("projects/{}/{file}.md", self.name);
        let mut pages = Vec::new();
        if let Some((text, place)) = &self.readme {
            let mut m = metadata.clone();
            if is_profile {
                m = titled(m, "identity", w.profile, owner.login);
            }
            pages.push(page(&at("README"), place.clone(), &m, text));
        }
        if is_profile {
            return pages;
        }
        let told = |kind: &str, title: &str| titled(metadata.clone(), kind, title, &self.name);
        pages.push(page(
            &at("overview"),
            url.clone(),
            &told("project_overview", w.project),
            &self.overview(w, &description),
        ));
        if let Some(tech) = self.tech(w) {
            let mut m = told("project_tech", w.tech);
            let uses: Vec<String> =
                self.manifests.iter().flat_map(|(_, _, names)| names.iter().cloned()).take(MAX_USES).collect();
            put(&mut m, "uses", (!uses.is_empty()).then(|| texts(&uses)));
            pages.push(page(&at("tech"), url.clone(), &m, &tech));
        }
        if !self.steps.is_empty() {
            let branch = line(self.repo.default_branch.as_deref()).map(|b| format!("/{}", encode_path(&b)));
            let commits = format!("{url}/commits{}", branch.unwrap_or_default());
            pages.push(page(&at("story"), commits, &told("project_story", w.story), &self.story(w)));
        }
        pages
    }

    fn overview(&self, w: &Words, description: &str) -> String {
        let r = &self.repo;
        let mut list = List::new(w);
        list.add(w.topics, Some(self.topics().join(w.comma)));
        list.add(w.languages, Some(self.shares().join(w.comma)));
        list.add(w.website, line(r.homepage.as_deref()));
        list.add(w.licence, self.licence());
        list.add(w.stars, r.stargazers_count.filter(|n| *n > 0).map(|n| n.to_string()));
        list.add(w.begun, day(r.created_at.as_deref()));
        list.add(w.changed, day(r.pushed_at.as_deref()));
        if r.archived == Some(true) {
            list.text += &format!("- {}\n", w.archived);
        }
        let about =
            if description.is_empty() { String::new() } else { format!("{}{}", w.colon, escape::text(description)) };
        format!("**{}**{about}\n\n{}", escape::text(&self.name), list.text)
    }

    /// What it is made with; nothing if nothing is known.
    fn tech(&self, w: &Words) -> Option<String> {
        let mut out = String::new();
        let shares = self.shares();
        if !shares.is_empty() {
            out += &format!("{}{}{}\n\n", w.stack, w.colon, escape::text(&shares.join(w.comma)));
        }
        for (file, url, names) in self.manifests.iter().filter(|(_, _, names)| !names.is_empty()) {
            out += &format!("- [{}](<{url}>){}{}\n", escape::text(file), w.colon, escape::text(&names.join(w.comma)));
        }
        if !self.tools.is_empty() {
            out += &format!("- {}{}{}\n", w.tools, w.colon, self.tools.join(w.comma));
        }
        (!out.is_empty()).then_some(out)
    }

    fn story(&self, w: &Words) -> String {
        let mut list = List::new(w);
        list.add(w.begun, day(self.repo.created_at.as_deref()));
        list.add(w.changed, day(self.repo.pushed_at.as_deref()));
        let mut out = format!("{}\n{}\n\n", list.text, w.commits);
        for step in self.steps.iter().take(MAX_STEPS) {
            let day = if step.day.is_empty() { String::new() } else { format!("{}{}", step.day, w.colon) };
            let stop = if step.subject.ends_with(['.', '。', '!', '?', ':']) { "" } else { "." };
            let body =
                if step.body.is_empty() { String::new() } else { format!("{stop} {}", escape::text(&step.body)) };
            out += &format!("- {day}{}{body}\n", escape::text(&step.subject));
        }
        out
    }

    fn topics(&self) -> Vec<String> {
        let topics = self.repo.topics.iter().flatten().filter_map(|t| label(t));
        topics.take(MAX_TOPICS).collect()
    }

    fn licence(&self) -> Option<String> {
        line(self.repo.license.as_ref()?.spdx_id.as_deref()).filter(|l| l != "NOASSERTION")
    }

    /// `Rust 95 %`, or the main language alone.
    fn shares(&self) -> Vec<String> {
        let all: u64 = self.languages.values().fold(0, |sum, b| sum.saturating_add(*b));
        if all == 0 {
            return line(self.repo.language.as_deref()).into_iter().collect();
        }
        let share = |bytes: u64| ((bytes as f64 / all as f64) * 100.0).round() as u64;
        let named = ranked(&self.languages).into_iter().take(MAX_LANGUAGES);
        named.map(|(l, b)| if share(b) == 0 { format!("{l} < 1 %") } else { format!("{l} {} %", share(b)) }).collect()
    }

    fn metadata(&self, owner: &Owner) -> Metadata {
        let r = &self.repo;
        let ranked = ranked(&self.languages);
        let languages: Vec<String> = ranked.iter().map(|(l, _)| l.clone()).collect();
        let main = line(r.language.as_deref()).or_else(|| languages.first().cloned());
        let mut inner = Metadata::from([("name".into(), text(&self.name)), ("owner".into(), text(owner.login))]);
        put(&mut inner, "branch", line(r.default_branch.as_deref()).map(MetaValue::Text));
        let bytes = ranked.iter().map(|(l, b)| (l.clone(), MetaValue::Int(i64::try_from(*b).unwrap_or(i64::MAX))));
        put(&mut inner, "language_bytes", (!ranked.is_empty()).then(|| MetaValue::Map(bytes.collect())));
        let mut m =
            Metadata::from([("project".into(), text(&self.name)), ("repository".into(), MetaValue::Map(inner))]);
        let topics = self.topics();
        put(&mut m, "tags", (!topics.is_empty()).then(|| texts(&topics)));
        put(&mut m, "languages", (!languages.is_empty()).then(|| texts(&languages)));
        put(&mut m, "language", main.map(MetaValue::Text));
        put(&mut m, "stars", r.stargazers_count.map(MetaValue::Int));
        put(&mut m, "forks", r.forks_count.map(MetaValue::Int));
        put(&mut m, "created", date(r.created_at.as_deref()));
        put(&mut m, "pushed", date(r.pushed_at.as_deref()));
        put(&mut m, "license", self.licence().map(MetaValue::Text));
        put(&mut m, "archived", r.archived.map(MetaValue::Bool));
        m
    }
}

/// Lines of labels and values; what has no value is left out.
struct List<'w> {
    words: &'w Words,
    text: String,
}

impl<'w> List<'w> {
    fn new(words: &'w Words) -> Self {
        Self { words, text: String::new() }
    }

    fn add(&mut self, label: &str, value: Option<String>) {
        if let Some(value) = value.filter(|v| !v.is_empty()) {
            self.text += &format!("- {label}{}{}\n", self.words.colon, escape::text(&value));
        }
    }
}

/// A short name on one line.
fn label(text: &str) -> Option<String> {
    line(Some(text)).filter(|l| l.len() <= MAX_LABEL)
}

/// Languages with names on one line, the most used first.
fn ranked(languages: &Languages) -> Vec<(String, u64)> {
    let mut all: Vec<(String, u64)> = languages.iter().filter_map(|(l, b)| Some((label(l)?, *b))).collect();
    all.sort_by(|a, b| b.1.cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    all.truncate(MAX_ALL_LANGUAGES);
    all
}

/// The day of a date-time.
fn day(date_time: Option<&str>) -> Option<String> {
    date(date_time)?;
    date_time?.get(..10).map(str::to_owned)
}

/// A date-time that is one.
fn date(date_time: Option<&str>) -> Option<MetaValue> {
    let text = date_time?;
    let parsed: toml::value::Datetime = text.parse().ok()?;
    parsed.date.is_some().then(|| MetaValue::Date(parsed.to_string()))
}

fn text(value: &str) -> MetaValue {
    MetaValue::Text(value.to_owned())
}

fn texts(values: &[String]) -> MetaValue {
    MetaValue::List(values.iter().map(|v| text(v)).collect())
}

fn put(metadata: &mut Metadata, key: &str, value: Option<MetaValue>) {
    if let Some(value) = value {
        metadata.insert(key.to_owned(), value);
    }
}

fn titled(mut metadata: Metadata, kind: &str, title: &str, name: &str) -> Metadata {
    put(&mut metadata, "title", Some(MetaValue::Text(title.replace("{}", name))));
    put(&mut metadata, "chunk_type", Some(text(kind)));
    metadata
}

fn page(path: &str, url: String, metadata: &Metadata, body: &str) -> Page {
    let lines: String =
        metadata.iter().map(|(key, value)| format!("{} = {}\n", quoted(key), toml_value(value))).collect();
    Page { path: path.to_owned(), url, text: format!("+++\n{lines}+++\n\n{body}") }
}

/// A string as TOML writes it, which is as JSON does where there are no control characters.
fn quoted(text: &str) -> String {
    let printable: String = text.chars().filter(|c| !c.is_control()).collect();
    serde_json::Value::from(printable).to_string()
}

fn toml_value(value: &MetaValue) -> String {
    match value {
        MetaValue::Bool(b) => b.to_string(),
        MetaValue::Int(i) => i.to_string(),
        MetaValue::Float(f) => format!("{f:?}"),
        MetaValue::Text(t) => quoted(t),
        MetaValue::Date(d) => d.clone(),
        MetaValue::List(items) => format!("[{}]", items.iter().map(toml_value).collect::<Vec<_>>().join(", ")),
        MetaValue::Map(map) => {
            let entries: Vec<String> = map.iter().map(|(k, v)| format!("{} = {}", quoted(k), toml_value(v))).collect();
            format!("{{ {} }}", entries.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kb_core::document::parse_markdown;

    fn project() -> Project {
        let repo = serde_json::json!({
            "name": "tool", "description": "A *tool* \"for\" <you>\n# not a heading", "topics": ["search", "中文"], "stargazers_count": 12,
            "created_at": "2024-01-02T03:04:05Z", "pushed_at": "yesterday", "html_url": "javascript:alert(1)",
            "default_branch": "feature/a b", "license": {"spdx_id": "MIT"}, "archived": false,
        });
        Project {
            repo: serde_json::from_value(repo).expect("a repository"),
            name: "tool".into(),
            languages: Languages::from([("C++".into(), 950), ("Shell".into(), 48), ("Awk".into(), 2)]),
            manifests: vec![(
                "Cargo.toml".into(),
                "https://e.org/Cargo.toml".into(),
                vec!["serde".into(), "tokio".into()],
            )],
            tools: vec!["Make"],
            readme: Some(("# Tool\n\nIt is a tool.\n".into(), "https://e.org/README.md".into())),
            steps: vec![Step {
                day: "2024-05-01".into(),
                subject: "Read GBK files".into(),
                body: "Notes are in it".into(),
            }],
        }
    }

    #[test]
    fn metadata_keep_their_types_and_nothing_breaks_out() {
        let profile = Profile::default();
        let owner = Owner { login: "ann", profile: &profile };
        let pages = project().pages(&owner, false);
        let paths: Vec<&str> = pages.iter().map(|p| p.path.as_str()).collect();
        assert_eq!(paths, ["README", "overview", "tech", "story"].map(|f| format!("projects/tool/{f}.md")));
        let urls: Vec<&str> = pages.iter().map(|p| p.url.as_str()).collect();
        let repo = "https://github.com/ann/tool";
        assert_eq!(urls, ["https://e.org/README.md", repo, repo, &format!("{repo}/commits/feature/a%20b")]);
        for page in &pages {
            let parsed = parse_markdown(&page.path, &page.text);
            assert_eq!(parsed.warnings, Vec::<String>::new(), "{}", page.text);
            let m = &parsed.document.metadata;
            assert_eq!(m["tags"], texts(&["search".into(), "中文".into()]));
            assert_eq!(m["languages"], texts(&["C++".into(), "Shell".into(), "Awk".into()]));
            assert_eq!((&m["stars"], &m["archived"]), (&MetaValue::Int(12), &MetaValue::Bool(false)));
            assert_eq!(m["created"], MetaValue::Date("2024-01-02T03:04:05Z".into()));
            assert!(!m.contains_key("pushed"));
            let MetaValue::Map(repository) = &m["repository"] else { panic!("a map") };
            let MetaValue::Map(bytes) = &repository["language_bytes"] else { panic!("a map") };
            assert_eq!((&repository["owner"], &bytes["C++"]), (&text("ann"), &MetaValue::Int(950)));
        }
        let overview = parse_markdown("overview.md", &pages[1].text).document;
        assert_eq!((overview.title.as_str(), overview.sections.len()), ("tool: the project (项目)", 0));
        assert!(
            overview.text.contains("C++ 95 %, Shell 5 %, Awk < 1 %")
                || overview.text.contains("C++ 95 %, Shell 5 %, Awk \\< 1 %"),
            "{}",
            overview.text
        );
        assert!(pages[2].text.contains("[Cargo.toml](<https://e.org/Cargo.toml>): serde, tokio"), "{}", pages[2].text);
        assert!(pages[3].text.contains("- 2024-05-01: Read GBK files. Notes are in it"), "{}", pages[3].text);
    }

    #[test]
    fn however_much_comes_the_metadata_are_read() {
        let mut project = project();
        let long = "图".repeat(900);
        project.repo.topics = Some((0..500).map(|i| format!("{i}{}", "图".repeat(15))).chain([long.clone()]).collect());
        project.repo.homepage = Some(long.clone());
        project.repo.default_branch = Some(long.clone());
        project.repo.language = Some(long.clone());
        project.repo.license = Some(super::super::wire::Licence { spdx_id: Some(long) });
        project.languages = (0..500).map(|i| (format!("{i}{}", "图".repeat(15)), i)).collect();
        let names = (0..500).map(|i| format!("{i}{}", "图".repeat(20))).collect();
        project.manifests = vec![("Cargo.toml".into(), "https://e.org/".into(), names)];
        let profile = Profile::default();
        for page in project.pages(&Owner { login: "ann", profile: &profile }, false) {
            let parsed = parse_markdown(&page.path, &page.text);
            assert_eq!(
                (parsed.warnings, parsed.document.metadata.contains_key("tags")),
                (vec![], true),
                "{}",
                page.path
            );
        }
    }

    #[test]
    fn an_account_that_says_nothing_of_itself_still_has_a_page() {
        let profile = Profile::default();
        let page = Owner { login: "ann", profile: &profile }.page(&[]);
        assert_eq!((page.path.as_str(), page.url.as_str()), ("profile.md", "https://github.com/ann"));
        let document = parse_markdown("profile.md", &page.text).document;
        assert_eq!(document.metadata["chunk_type"], text("identity"));
        assert!(document.text.trim().chars().count() > 20, "{}", document.text);
    }

    #[test]
    fn a_project_in_chinese_is_told_in_chinese() {
        let mut project = project();
        project.repo.description = Some("一个用来搜索讲义的小工具".into());
        project.readme = None;
        let profile = Profile::default();
        let pages = project.pages(&Owner { login: "ann", profile: &profile }, false);
        assert!(pages[1].text.contains("技术栈：C++ 95 %"), "{}", pages[1].text);
    }
}
