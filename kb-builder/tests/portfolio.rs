//! Portfolios against a real server on this machine's loopback address, with answers in the shape of GitHub's.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;
#[allow(dead_code, reason = "each test file uses a part of it")]
#[path = "common/http.rs"]
mod http;

use common::{Sandbox, stderr};
use http::{Asked, Server, reply};
use kb_builder::http::Reach;
use kb_builder::source::fetch::{FetchOptions, Fetcher};
use kb_builder::source::folder::Globs;
use kb_builder::source::portfolio::{Portfolio, PortfolioOptions};
use kb_builder::source::{Listing, Source};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

const README: &str = "# minisearch\n\nA search engine small enough to read in an evening, with an index and a ranking of its own.\n\n\
## Badges\n\n[![ci](https://e.org/ci.svg)](https://e.org/ci)\n\n## Why I wrote it\n\nThe engines that I knew were too large to understand, and I wanted to know how ranking works.\n\n\
## Architecture\n\nThe index is a sorted table of postings, read with memory mapping.\n\n## Usage\n\nRun it on a folder of notes:\n\n```sh\nminisearch index notes\nminisearch query words\n```\n";
const README_ZH: &str = "# 讲义笔记\n\n把课堂讲义整理成可以检索的笔记，支持中文分词。\n\n## 动机\n\n期末复习时找不到讲过的内容，于是自己写了这个工具，把所有讲义放在一起。\n\n## 用法\n\n运行脚本，指定讲义所在的文件夹，然后等待整理完成，最后打开生成的网页。\n";

fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for (i, part) in bytes.chunks(3).enumerate() {
        let n = part.iter().fold(0_u32, |n, b| (n << 8) | u32::from(*b)) << (8 * (3 - part.len()));
        for k in 0..4 {
            let digit = char::from(DIGITS[(n >> (18 - 6 * k)) as usize & 63]);
            out.push(if k > part.len() { '=' } else { digit });
        }
        // GitHub breaks its lines.
        if i % 15 == 14 {
            out.push('\n');
        }
    }
    out
}

fn content(name: &str, repository: &str, text: &str) -> Value {
    json!({"name": name, "type": "file", "encoding": "base64", "content": base64(text.as_bytes()),
        "html_url": format!("https://github.com/ann/{repository}/blob/main/{name}")})
}

fn repository(name: &str, more: Value) -> Value {
    let mut all = json!({"name": name, "html_url": format!("https://github.com/ann/{name}"), "fork": false, "private": false,
        "default_branch": "main", "created_at": "2023-01-02T03:04:05Z", "pushed_at": "2024-05-06T07:08:09Z",
        "description": null, "license": null, "topics": [], "stargazers_count": 0, "forks_count": 0, "archived": false});
    all.as_object_mut().expect("object").extend(more.as_object().expect("object").clone());
    all
}

fn commit(message: &str, login: &str, parents: usize) -> Value {
    json!({"sha": "0a1b", "author": {"login": login, "type": "User"}, "parents": vec![json!({}); parents],
        "commit": {"message": message, "author": {"name": login, "date": "2024-05-01T08:00:00Z"}}})
}

/// What GitHub has of the account `ann`.
fn answer(path: &str, host: &str) -> Option<(String, Value)> {
    let next = |path: &str, rel: &str| format!("link: <http://{host}{path}>; rel=\"{rel}\"\r\n");
    let none = String::new;
    Some(match path {
        "/users/ann" => (
            none(),
            json!({"login": "ann", "name": "Ann Example", "bio": "I build tools for finding things again.",
            "location": "Ulm", "html_url": "https://github.com/ann", "followers": 7, "public_repos": 5, "created_at": "2015-03-04T05:06:07Z"}),
        ),
        "/users/ann/repos?per_page=100&type=owner&sort=pushed" => (
            next("/user/1/repos?page=2", "next"),
            json!([
                repository(
                    "minisearch",
                    json!({"description": "A small search engine", "stargazers_count": 12, "topics": ["search", "ranking"],
                "license": {"spdx_id": "MIT"}, "language": "Rust"})
                ),
                repository("forked", json!({"fork": true})),
                repository("secret", json!({"private": true})),
            ]),
        ),
        "/user/1/repos?page=2" => (
            none(),
            json!([
                repository("notes-zh", json!({"description": "课堂讲义笔记", "stargazers_count": 3})),
                repository("bare", json!({})),
                repository("../../etc", json!({})),
            ]),
        ),
        "/repos/ann/minisearch/languages" => (none(), json!({"Rust": 9000, "Shell": 1000})),
        "/repos/ann/minisearch/readme" => (none(), content("README.md", "minisearch", README)),
        "/repos/ann/minisearch/contents/" => (
            none(),
            json!([
            {"name": "Cargo.toml", "type": "file", "size": 90}, {"name": "Dockerfile", "type": "file", "size": 20},
            {"name": "src", "type": "dir"}, {"name": "Makefile", "type": "file", "size": 9}]),
        ),
        "/repos/ann/minisearch/contents/Cargo.toml" => {
            (none(), content("Cargo.toml", "minisearch", "[dependencies]\nmemmap2 = \"0.9\"\nrayon = \"1\"\n"))
        }
        "/repos/ann/minisearch/contents/Dockerfile" => {
            (none(), content("Dockerfile", "minisearch", "FROM debian:12\n"))
        }
        "/repos/ann/minisearch/commits?per_page=100" => (
            next("/repositories/7/commits?per_page=100&page=4", "last"),
            json!([
                commit("Merge pull request #3 from ann/x", "ann", 2),
                commit("Bump rayon from 1.9 to 1.10", "dependabot[bot]", 1),
                commit("Rank short documents higher\n\nLong ones won by repeating words.", "ann", 1),
                commit("wip", "ann", 1),
                commit("fix typo", "ann", 1),
                commit("v0.3.0", "ann", 1)
            ]),
        ),
        "/repositories/7/commits?per_page=100&page=4" => {
            (none(), json!([commit("Begin with a sorted list of words", "ann", 1), commit("Initial commit", "ann", 0)]))
        }
        "/repos/ann/notes-zh/languages" => (none(), json!({"Python": 100})),
        "/repos/ann/notes-zh/readme" => (none(), content("README.md", "notes-zh", README_ZH)),
        "/repos/ann/notes-zh/contents/" => (none(), json!([{"name": "requirements.txt", "type": "file", "size": 12}])),
        "/repos/ann/notes-zh/contents/requirements.txt" => {
            (none(), content("requirements.txt", "notes-zh", "jieba>=0.42\n"))
        }
        "/repos/ann/notes-zh/commits?per_page=100" => (none(), json!([commit("用词典切分长句", "ann", 1)])),
        "/repos/ann/bare/languages" => (none(), json!({})),
        "/users/empty" => {
            (none(), json!({"login": "empty", "name": null, "bio": null, "created_at": "2026-01-01T00:00:00Z"}))
        }
        "/users/empty/repos?per_page=100&type=owner&sort=pushed" => (none(), json!([])),
        _ => return None,
    })
}

/// GitHub as it is on a good day: it says when nothing has changed.
fn github(asked: &Asked) -> Vec<u8> {
    match answer(&asked.path, &asked.headers["host"]) {
        Some(_) if asked.headers.get("if-none-match").is_some_and(|e| e == "\"v1\"") => {
            reply("304 Not Modified", "etag: \"v1\"\r\n", "")
        }
        Some((headers, body)) => {
            reply("200 OK", &format!("etag: \"v1\"\r\ncontent-type: application/json\r\n{headers}"), body.to_string())
        }
        None if asked.path.contains("/commits") => {
            reply("409 Conflict", "", "{\"message\":\"Git Repository is empty.\"}")
        }
        None => reply("404 Not Found", "", "{\"message\":\"Not Found\"}"),
    }
}

/// GitHub when its limit is used up for 50 minutes.
fn limited(headers: &str) -> Vec<u8> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("time").as_secs();
    let headers =
        format!("x-ratelimit-limit: 60\r\nx-ratelimit-remaining: 0\r\nx-ratelimit-reset: {}\r\n{headers}", now + 3000);
    reply("403 Forbidden", &headers, "{\"message\":\"API rate limit exceeded\"}")
}

fn portfolio(server: &Server, cache: &Path, change: impl Fn(&mut PortfolioOptions)) -> Portfolio {
    let mut options = PortfolioOptions {
        login: "ann".into(),
        api: server.base.clone(),
        max_repositories: 30,
        forks: false,
        token: None,
    };
    change(&mut options);
    let limits = FetchOptions {
        reach: Reach::Anywhere,
        pause: Duration::from_millis(5),
        retries: 1,
        idle: Duration::from_millis(900),
        ..FetchOptions::default()
    };
    let fetcher = Fetcher::new(limits).expect("starts");
    Portfolio::new("ann".into(), options, Globs::new(&[], &[]).expect("globs"), fetcher, cache)
}

fn paths(listing: &Listing) -> Vec<&str> {
    listing.entries.iter().map(|e| e.path.as_str()).collect()
}

fn text(source: &Portfolio, listing: &Listing, path: &str) -> String {
    let entry = listing.entries.iter().find(|e| e.path == path).expect(path);
    String::from_utf8(source.read(entry).expect("reads")).expect("UTF-8")
}

const ALL: [&str; 10] = [
    "profile.md",
    "projects/bare/overview.md",
    "projects/minisearch/README.md",
    "projects/minisearch/overview.md",
    "projects/minisearch/story.md",
    "projects/minisearch/tech.md",
    "projects/notes-zh/README.md",
    "projects/notes-zh/overview.md",
    "projects/notes-zh/story.md",
    "projects/notes-zh/tech.md",
];

#[test]
fn an_account_becomes_documents_with_their_places() {
    let server = Server::start(|asked, _| github(asked));
    let cache = tempfile::tempdir().expect("dir");
    let source = portfolio(&server, cache.path(), |o| o.token = Some("t0ken".into()));
    let listing = source.list().expect("lists");
    assert_eq!(paths(&listing), ALL);
    // The name that would lead out of the folder is told, forks and what is private are not there.
    assert_eq!(listing.problems.len(), 1, "{:?}", listing.problems);
    assert_eq!(listing.problems[0].path, "../../etc");
    assert!(!server.paths().iter().any(|p| p.contains("etc") || p.contains("forked") || p.contains("secret")));
    let url =
        |path: &str| source.url_of(listing.entries.iter().find(|e| e.path == path).expect(path)).expect("a place");
    let page = "https://github.com/ann/minisearch";
    assert_eq!(url("profile.md"), "https://github.com/ann");
    assert_eq!(url("projects/minisearch/overview.md"), page);
    assert_eq!(url("projects/minisearch/README.md"), format!("{page}/blob/main/README.md"));
    assert_eq!(url("projects/minisearch/story.md"), format!("{page}/commits/main"));
    let story = text(&source, &listing, "projects/minisearch/story.md");
    assert!(
        story.contains("Rank short documents higher. Long ones won") && story.contains("Begin with a sorted list"),
        "{story}"
    );
    for noise in ["Merge", "Bump", "wip", "typo", "v0.3.0", "Initial"] {
        assert!(!story.contains(noise), "{noise} in {story}");
    }
    let tech = text(&source, &listing, "projects/minisearch/tech.md");
    for part in ["Rust 90 %, Shell 10 %", "memmap2, rayon", "debian:12", "Make", "/blob/main/Cargo.toml"] {
        assert!(tech.contains(part), "{part} in {tech}");
    }
    let asked = server.asked.lock().expect("log");
    assert!(asked.iter().all(|a| a.headers.get("authorization").is_some_and(|t| t == "Bearer t0ken")));
    assert!(asked.iter().all(|a| a.headers["accept"] == "application/vnd.github+json"));
}

#[test]
fn what_has_not_changed_is_not_asked_for_again() {
    let server = Server::start(|asked, _| github(asked));
    let cache = tempfile::tempdir().expect("dir");
    let first = portfolio(&server, cache.path(), |_| {});
    let listing = first.list().expect("lists");
    let asked = server.paths().len();
    let second = portfolio(&server, cache.path(), |_| {});
    assert_eq!(second.list().expect("lists").entries, listing.entries);
    // Only the account and the two pages of its list, each answered with 304.
    let again = server.paths().split_off(asked);
    assert_eq!(again, ["/users/ann", "/users/ann/repos?per_page=100&type=owner&sort=pushed", "/user/1/repos?page=2"]);
}

#[test]
fn only_so_many_and_those_with_the_most_stars() {
    let server = Server::start(|asked, _| github(asked));
    let cache = tempfile::tempdir().expect("dir");
    let listing = portfolio(&server, cache.path(), |o| o.max_repositories = 1).list().expect("lists");
    assert!(paths(&listing).iter().all(|p| *p == "profile.md" || p.starts_with("projects/minisearch/")));
    assert!(listing.notes.iter().any(|n| n.contains("1 of 3 repositories")), "{:?}", listing.notes);
    let listing = portfolio(&server, cache.path(), |o| o.forks = true).list().expect("lists");
    assert!(paths(&listing).contains(&"projects/forked/overview.md"));
}

#[test]
fn a_limit_that_is_used_up_leaves_the_copies() {
    // 0: all is well; 1: everything but the account and the list is refused, and there are two pushes more.
    let state = Arc::new(AtomicUsize::new(0));
    let at = state.clone();
    let server = Server::start(move |asked, _| {
        if at.load(Ordering::SeqCst) == 0 {
            return github(asked);
        }
        match asked.path.as_str() {
            "/users/ann" => github(asked),
            "/users/ann/repos?per_page=100&type=owner&sort=pushed" => reply(
                "200 OK",
                "",
                json!([
                    repository("minisearch", json!({"stargazers_count": 12, "pushed_at": "2025-01-01T00:00:00Z"})),
                    repository("new-one", json!({"stargazers_count": 9})),
                    repository("notes-zh", json!({"stargazers_count": 3})),
                ])
                .to_string(),
            ),
            _ => limited(""),
        }
    });
    let cache = tempfile::tempdir().expect("dir");
    portfolio(&server, cache.path(), |_| {}).list().expect("lists");
    let before = server.paths().len();
    state.store(1, Ordering::SeqCst);
    let source = portfolio(&server, cache.path(), |_| {});
    let listing = source.list().expect("lists");
    // One request found out, and none was sent after it.
    assert_eq!(server.paths().len() - before, 3, "{:?}", server.paths());
    assert!(text(&source, &listing, "projects/minisearch/tech.md").contains("memmap2"));
    assert!(paths(&listing).contains(&"projects/new-one/overview.md"));
    assert_eq!(listing.problems.len(), 1, "{:?}", listing.problems);
    let reason = &listing.problems[0].reason;
    for part in [
        "limit of requests is used up for another 50 min",
        "GITHUB_TOKEN",
        "1 of 3 repositories",
        "(new-one)",
        "copies of the last run",
    ] {
        assert!(reason.contains(part), "{part} in {reason}");
    }
    assert_eq!(reason.lines().count(), 1);
}

#[test]
fn the_last_request_that_a_limit_allows_is_the_last() {
    let server = Server::start(|asked, _| {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).expect("time").as_secs();
        match asked.path.as_str() {
            "/users/ann" => reply(
                "200 OK",
                &format!("x-ratelimit-remaining: 0\r\nx-ratelimit-reset: {}\r\n", now + 1800),
                "{\"login\":\"ann\"}",
            ),
            _ => github(asked),
        }
    });
    let cache = tempfile::tempdir().expect("dir");
    let e = portfolio(&server, cache.path(), |_| {}).list().expect_err("nothing is known yet");
    assert!(
        e.to_string().contains("used up for another 30 min") || e.to_string().contains("used up for another 29 min"),
        "{e}"
    );
    assert_eq!(server.paths(), ["/users/ann"]);
}

#[test]
fn short_pauses_are_waited_for() {
    let server = Server::start(|asked, before| match (asked.path.as_str(), before) {
        ("/users/ann", 0) => reply("403 Forbidden", "retry-after: 1\r\n", "{\"message\":\"secondary rate limit\"}"),
        ("/repos/ann/minisearch/languages", 0) => reply("429 Too Many Requests", "retry-after: 0\r\n", ""),
        _ => github(asked),
    });
    let cache = tempfile::tempdir().expect("dir");
    let listing = portfolio(&server, cache.path(), |_| {}).list().expect("lists");
    assert_eq!(paths(&listing), ALL);
}

#[test]
fn a_repository_that_cannot_be_read_stops_nothing() {
    let better = Arc::new(AtomicUsize::new(0));
    let is_better = better.clone();
    let server = Server::start(move |asked, _| match asked.path.as_str() {
        _ if is_better.load(Ordering::SeqCst) == 1 => github(asked),
        "/repos/ann/minisearch/readme" => reply("451 Unavailable For Legal Reasons", "", ""),
        "/repos/ann/minisearch/languages" => reply("200 OK", "", "<html>no JSON"),
        _ => github(asked),
    });
    let cache = tempfile::tempdir().expect("dir");
    let listing = portfolio(&server, cache.path(), |_| {}).list().expect("lists");
    let all: Vec<&str> = ALL.into_iter().filter(|p| *p != "projects/minisearch/README.md").collect();
    assert_eq!(paths(&listing), all);
    let told: Vec<&str> = listing.problems.iter().map(|p| p.path.as_str()).collect();
    assert_eq!(told, ["../../etc", "minisearch"]);
    // What could not be read was not kept: on a better day it is asked for again.
    better.store(1, Ordering::SeqCst);
    let listing = portfolio(&server, cache.path(), |_| {}).list().expect("lists");
    assert_eq!(paths(&listing), ALL);
}

#[test]
fn nonsense_does_not_take_the_place_of_a_copy() {
    let state = Arc::new(AtomicUsize::new(0));
    let at = state.clone();
    let server = Server::start(move |asked, _| {
        let now = at.load(Ordering::SeqCst);
        match asked.path.as_str() {
            "/users/ann" if now == 1 => reply("200 OK", "", "<html>Under maintenance"),
            "/users/ann" if now == 2 => reply("503 Service Unavailable", "", ""),
            _ => github(asked),
        }
    });
    let cache = tempfile::tempdir().expect("dir");
    for now in 0..3 {
        state.store(now, Ordering::SeqCst);
        let source = portfolio(&server, cache.path(), |_| {});
        let listing = source.list().expect("lists");
        assert!(text(&source, &listing, "profile.md").contains("Ann Example"));
        let noted = listing.notes.iter().any(|n| n.contains("one request was answered by the copy"));
        assert_eq!(noted, now > 0, "{:?}", listing.notes);
    }
}

#[test]
fn what_is_huge_endless_or_no_account_is_told() {
    let log: Arc<Mutex<usize>> = Arc::default();
    let count = log.clone();
    let server = Server::start(move |asked, _| {
        if asked.path.starts_with("/users/loop/repos") || asked.path.starts_with("/user/9") {
            let mut n = count.lock().expect("count");
            *n += 1;
            let next = format!("link: <http://{}/user/9?page={n}>; rel=\"next\"\r\n", asked.headers["host"]);
            return reply("200 OK", &next, "[]");
        }
        match asked.path.as_str() {
            "/users/loop" => reply("200 OK", "", "{}"),
            "/users/away" => reply("200 OK", "", "{}"),
            p if p.starts_with("/users/away/repos") => {
                reply("200 OK", "link: <http://169.254.169.254/x>; rel=\"next\"\r\n", "[]")
            }
            _ => github(asked),
        }
    });
    let cache = tempfile::tempdir().expect("dir");
    let list = |login: &str| portfolio(&server, cache.path(), |o| o.login = login.into()).list();
    let endless = list("loop").expect("ends");
    assert_eq!((paths(&endless), *log.lock().expect("count")), (vec!["profile.md"], 10));
    assert!(endless.notes.iter().any(|n| n.contains("longer than what is read")), "{:?}", endless.notes);
    // A link to another host is not followed: the token would go along.
    assert_eq!(paths(&list("away").expect("lists")), ["profile.md"]);
    let e = list("nobody").expect_err("is not there");
    assert!(e.to_string().contains("no account `nobody`"), "{e}");
    let empty = list("empty").expect("lists");
    assert_eq!((paths(&empty), empty.problems.len()), (vec!["profile.md"], 0));
}

/// A site built from the portfolio, without a model.
fn site(server: &Server) -> Sandbox {
    let s = Sandbox::new();
    let api = &server.base;
    s.write(
        "kb.toml",
        format!("[[source]]\nportfolio = \"https://github.com/ann\"\napi = \"{api}\"\nallow_private = true\n"),
    );
    let output = s.command(&["build", "--no-model", "-q"]).env_remove("GITHUB_TOKEN").output().expect("runs");
    // The repository with the impossible name is listed.
    assert_eq!(output.status.code(), Some(3), "{}", stderr(&output));
    s
}

#[test]
fn questions_in_both_languages_lead_to_the_sorts() {
    let server = Server::start(|asked, _| github(asked));
    let s = site(&server);
    let hits = |args: &[&str]| -> Vec<Value> {
        let all = [&["search", "site"], args, &["--json"]].concat();
        s.json(&all)["hits"].as_array().expect("hits").clone()
    };
    let kinds =
        |hits: &[Value]| -> Vec<String> { hits.iter().map(|h| h["kind"].as_str().expect("kind").to_owned()).collect() };
    for (question, kind) in [
        ("what is the tech stack of minisearch", "project_tech"),
        ("minisearch 用的是什么技术栈", "project_tech"),
        ("why did Ann write minisearch, the story", "project_story"),
        ("讲义笔记为什么做，动机是什么", "project_story"),
        ("who is Ann Example", "identity"),
        ("Ann Example 是谁", "identity"),
        ("which project is about search", "project_overview"),
    ] {
        let found = hits(&[question, "--route"]);
        assert_eq!(found.first().map(|h| h["kind"].as_str()), Some(Some(kind)), "{question}: {found:#?}");
    }
    let tech = hits(&["minisearch", "--filter", "type=project_tech"]);
    assert!(!tech.is_empty() && kinds(&tech).iter().all(|k| k == "project_tech"), "{tech:?}");
    // A passage of a README opens at its heading, without what is too short.
    let story = hits(&["engines too large to understand", "--filter", "type=project_story"]);
    assert_eq!(story[0]["url"], "https://github.com/ann/minisearch/blob/main/README.md#why-i-wrote-it");
    assert_eq!(hits(&["badges ci", "--filter", "path=projects/minisearch/README"]).len(), 0);
    // Lists, dates, numbers and nested values are what they were.
    for (filter, is) in [
        ("tag=ranking", true),
        ("languages=Shell", true),
        ("stars=12", true),
        ("created=2023-01", true),
        ("repository.owner=ann", true),
        ("repository.language_bytes.Rust=9000", true),
        ("uses=rayon", true),
        ("archived=false", true),
        ("stars=13", false),
        ("tag=nothing", false),
    ] {
        assert_eq!(!hits(&["minisearch", "--filter", filter]).is_empty(), is, "{filter}");
    }
}
