//! Fetching and crawling against a real server on this machine's loopback address.

#[path = "common/http.rs"]
mod http;

use http::{Server, reply};
use kb_builder::http::Reach;
use kb_builder::source::Source;
use kb_builder::source::fetch::{FetchOptions, Fetcher, Validators};
use kb_builder::source::folder::Globs;
use kb_builder::source::web::{CrawlOptions, Repository, RepositoryOptions, UrlList, Website};
use std::io::Write;
use std::time::{Duration, Instant};

fn html(body: impl AsRef<[u8]>) -> Vec<u8> {
    reply("200 OK", "content-type: text/html\r\n", body)
}

fn options() -> FetchOptions {
    FetchOptions {
        reach: Reach::Anywhere,
        pause: Duration::from_millis(5),
        idle: Duration::from_millis(400),
        ..FetchOptions::default()
    }
}

fn fetcher() -> Fetcher {
    Fetcher::new(options()).expect("starts")
}

#[test]
fn busy_servers_are_asked_again_and_say_when() {
    let server = Server::start(|asked, before| match (asked.path.as_str(), before) {
        ("/503", 0 | 1) => reply("503 Service Unavailable", "", ""),
        ("/429", 0) => reply("429 Too Many Requests", "retry-after: 1\r\n", ""),
        ("/later", _) => reply("429 Too Many Requests", "retry-after: 86400\r\n", ""),
        ("/never", _) => reply("500 Internal Server Error", "", ""),
        ("/404", _) => reply("404 Not Found", "", ""),
        _ => reply("200 OK", "content-type: text/plain\r\n", "fine"),
    });
    let get = |path: &str| fetcher().get(&server.url(path), &Validators::default(), &[]);
    assert_eq!(get("/503").expect("comes").body, b"fine");
    let started = Instant::now();
    assert_eq!(get("/429").expect("comes").body, b"fine");
    assert!(started.elapsed() >= Duration::from_secs(1), "{:?}", started.elapsed());
    let e = get("/later").expect_err("is too long");
    assert!(e.message.contains("86400"), "{e}");
    assert_eq!(get("/never").expect_err("fails").status, Some(500));
    assert_eq!(get("/404").expect_err("fails").status, Some(404));
    let count = |path: &str| server.paths().iter().filter(|p| *p == path).count();
    assert_eq!((count("/503"), count("/429"), count("/later"), count("/never"), count("/404")), (3, 2, 1, 4, 1));
}

#[test]
fn broken_slow_and_endless_answers_end() {
    let server = Server::start(|asked, before| match asked.path.as_str() {
        "/cut" if before == 0 => b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec(),
        "/slow" => {
            std::thread::sleep(Duration::from_secs(2));
            html("late")
        }
        "/loop" => reply("302 Found", "location: /loop\r\n", ""),
        "/nowhere" => reply("302 Found", "", ""),
        "/file" => reply("302 Found", "location: file:///etc/passwd\r\n", ""),
        "/large" => html(vec![b'x'; 3000]),
        _ => html("whole"),
    });
    let get = |path: &str| {
        let limits = FetchOptions { max_bytes: 2000, retries: 1, ..options() };
        Fetcher::new(limits).expect("starts").get(&server.url(path), &Validators::default(), &[])
    };
    assert_eq!(get("/cut").expect("comes the second time").body, b"whole");
    assert!(get("/slow").expect_err("stalls").message.contains("nothing came"));
    assert!(get("/loop").expect_err("loops").message.contains("more than 5 times"));
    for path in ["/nowhere", "/file"] {
        assert!(get(path).expect_err("goes nowhere").message.contains("without an address"), "{path}");
    }
    assert!(get("/large").expect_err("is large").message.contains("more than 2000 bytes"));
    assert_eq!(server.paths().iter().filter(|p| *p == "/loop").count(), 6);
}

#[test]
fn packed_bodies_are_unpacked_and_capped() {
    let pack = |bytes: &[u8]| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        encoder.write_all(bytes).expect("packs");
        encoder.finish().expect("packs")
    };
    let (text, bomb) = (pack("文字".as_bytes()), pack(&vec![0; 1 << 20]));
    let server = Server::start(move |asked, _| {
        let body = if asked.path == "/bomb" { &bomb } else { &text };
        reply("200 OK", "content-encoding: gzip\r\n", body)
    });
    let limits = FetchOptions { max_bytes: 10_000, ..options() };
    let get =
        |path: &str| Fetcher::new(limits.clone()).expect("starts").get(&server.url(path), &Validators::default(), &[]);
    assert_eq!(get("/text").expect("comes").body, "文字".as_bytes());
    assert!(get("/bomb").expect_err("is a bomb").message.contains("unpacks to more"));
}

#[test]
fn addresses_of_this_machine_are_refused_even_by_redirect() {
    let server = Server::start(|_, _| html("secret"));
    let port = server.base.rsplit(':').next().expect("port").to_string();
    let guarded = Fetcher::new(FetchOptions { reach: Reach::Public, ..options() }).expect("starts");
    for host in ["127.0.0.1", "localhost", "[::1]", "2130706433", "0.0.0.0"] {
        let e = guarded.get(&format!("http://{host}:{port}/"), &Validators::default(), &[]).expect_err(host);
        assert!(e.message.contains("of this machine or of a local network"), "{host}: {e}");
    }
    assert!(server.paths().is_empty());
}

#[test]
fn secrets_stay_with_their_host() {
    let other = Server::start(|_, _| html("other"));
    let target = other.url("/x");
    let server = Server::start(move |asked, _| match asked.path.as_str() {
        "/away" => reply("302 Found", &format!("location: {target}\r\n"), ""),
        _ => html("same"),
    });
    fetcher().get(&server.url("/away"), &Validators::default(), &[("authorization", "Bearer s3cret")]).expect("comes");
    let sent = |s: &Server| s.asked.lock().expect("log")[0].headers.get("authorization").cloned();
    assert_eq!((sent(&server).as_deref(), sent(&other)), (Some("Bearer s3cret"), None));
}

#[test]
fn a_list_of_addresses_asks_only_what_changed() {
    let server = Server::start(|asked, _| match asked.path.as_str() {
        "/a.md" if asked.headers.get("if-none-match").is_some_and(|e| e == "\"v1\"") => {
            reply("304 Not Modified", "etag: \"v1\"\r\n", "")
        }
        "/a.md" => reply("200 OK", "etag: \"v1\"\r\ncontent-type: text/markdown\r\n", "# A\n"),
        "/gbk" => reply("200 OK", "content-type: text/html; charset=gbk\r\n", b"<h1>\xcd\xbc\xc2\xdb</h1>"),
        _ => reply("404 Not Found", "", ""),
    });
    let cache = tempfile::tempdir().expect("dir");
    let urls = vec![server.url("/a.md"), server.url("/gbk"), server.url("/gone.md")];
    for run in 0..2 {
        let list = UrlList::new("web".into(), urls.clone(), fetcher(), cache.path(), false);
        let listing = list.list().expect("lists");
        let paths: Vec<&str> = listing.entries.iter().map(|e| e.path.as_str()).collect();
        assert_eq!(paths, ["a.md", "gbk.html"]);
        assert_eq!(listing.problems.len(), 1);
        assert!(listing.problems[0].reason.contains("404"), "{:?}", listing.problems);
        assert_eq!(list.read(&listing.entries[0]).expect("reads"), b"# A\n", "run {run}");
        assert_eq!(list.read(&listing.entries[1]).expect("reads"), "<h1>图论</h1>".as_bytes());
        assert_eq!(list.url_of(&listing.entries[0]), Some(server.url("/a.md")));
    }
    assert_eq!(server.paths().iter().filter(|p| *p == "/a.md").count(), 2);
}

#[test]
fn a_server_out_of_order_leaves_the_copy_of_the_last_run() {
    let server = Server::start(|_, before| match before {
        0 => reply("200 OK", "content-type: text/markdown\r\n", "# A\n"),
        1..=4 => reply("503 Service Unavailable", "", ""),
        _ => reply("404 Not Found", "", ""),
    });
    let cache = tempfile::tempdir().expect("dir");
    let run = || {
        let list = UrlList::new("web".into(), vec![server.url("/a.md")], fetcher(), cache.path(), false);
        list.list().expect("lists")
    };
    assert_eq!(run().entries.len(), 1);
    let second = run();
    assert_eq!((second.entries.len(), second.problems.len()), (1, 0));
    assert!(second.notes[0].contains("503") && second.notes[0].contains("copy of the last run"), "{:?}", second.notes);
    // What is gone is gone.
    let last = run();
    assert_eq!((last.entries.len(), last.problems.len()), (0, 1));
}

#[test]
fn a_website_is_read_within_its_bounds() {
    let server = Server::start(|asked, _| match asked.path.as_str() {
        "/robots.txt" => reply("200 OK", "content-type: text/plain\r\n", "user-agent: *\ndisallow: /docs/private\n"),
        "/docs/index.html" => html(
            "<main><h1>Start</h1><a href='a.html'>a</a><a href='/docs/private/x.html'>p</a><a href='/blog/'>b</a>\
             <a href='http://127.0.0.2:9/docs/'>elsewhere</a><a href='pic.png'>i</a><a href='gone.html'>g</a></main>",
        ),
        "/docs/a.html" => {
            html("<nav>menu</nav><main><h1>A</h1><a href='b/?page=2#x'>b</a><a href='index.html'>up</a></main>")
        }
        "/docs/b/" => html(
            "<head><link rel=canonical href='/docs/b-canonical'></head><main><h1>B</h1><a href='../deep.html'>d</a></main>",
        ),
        "/docs/deep.html" => html("<main><h1>Deep</h1><a href='deeper.html'>x</a></main>"),
        "/docs/deeper.html" => html("<main>too deep</main>"),
        "/docs/listed" => html("<main><h1>Listed</h1></main>"),
        "/sitemap.xml" => reply(
            "200 OK",
            "content-type: application/xml\r\n",
            "<urlset><url><loc>LISTED</loc></url></urlset>"
                .replace("LISTED", &format!("http://{}/docs/listed", asked.headers["host"])),
        ),
        _ => reply("404 Not Found", "", ""),
    });
    let cache = tempfile::tempdir().expect("dir");
    let crawl = |depth, max_pages| {
        let options = CrawlOptions { start: server.url("/docs/index.html"), depth, max_pages, sitemap: None };
        let site = Website::new("site".into(), options, fetcher(), cache.path());
        let listing = site.list().expect("lists");
        let paths: Vec<String> = listing.entries.iter().map(|e| e.path.clone()).collect();
        (paths, listing.notes, site.url_of(&listing.entries[0]))
    };
    let (paths, notes, url) = crawl(3, 100);
    assert_eq!(
        paths,
        ["docs/a.html", "docs/b-canonical.html", "docs/deep.html", "docs/index.html", "docs/listed.html"]
    );
    assert_eq!(url, Some(server.url("/docs/a.html")));
    assert!(
        notes.iter().any(|n| n.contains("robots.txt keeps 1")) && notes.iter().any(|n| n.contains("gone.html")),
        "{notes:?}"
    );
    let asked = server.paths();
    for never in ["/docs/private/x.html", "/blog/", "/docs/pic.png", "/docs/deeper.html"] {
        assert!(!asked.iter().any(|p| p == never), "{never} in {asked:?}");
    }
    let (paths, notes, _) = crawl(3, 2);
    assert_eq!(paths.len(), 2);
    assert!(notes.iter().any(|n| n.contains("stopped at 2 pages")), "{notes:?}");
}

#[test]
fn a_repository_comes_as_its_archive() {
    let archive = {
        let mut zip = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
        for (name, text) in [
            ("o-r-0a1b2c3/README.md", "# Readme\n"),
            ("o-r-0a1b2c3/docs/a.md", "# A\n"),
            ("o-r-0a1b2c3/docs/drafts/b.md", "# B\n"),
            ("o-r-0a1b2c3/docs/.hidden/c.md", "# C\n"),
            ("o-r-0a1b2c3/docs/code.rs", "fn main() {}\n"),
        ] {
            zip.start_file(name, zip::write::SimpleFileOptions::default()).expect("starts");
            zip.write_all(text.as_bytes()).expect("writes");
        }
        zip.finish().expect("finishes").into_inner()
    };
    let server = Server::start(move |asked, before| match asked.path.as_str() {
        "/repos/o/r/zipball/v1" if before == 0 => reply("429 Too Many Requests", "retry-after: 0\r\n", ""),
        "/repos/o/r/zipball/v1" => reply("302 Found", "location: /codeload/r.zip\r\n", ""),
        "/codeload/r.zip" => reply("200 OK", "content-type: application/zip\r\n", &archive),
        _ => reply("404 Not Found", "", "{\"message\":\"Not Found\"}"),
    });
    let cache = tempfile::tempdir().expect("dir");
    let repository = |reference: &str| {
        let options = RepositoryOptions {
            name: "o/r".into(),
            reference: reference.into(),
            folder: "docs".into(),
            api: server.base.clone(),
            token: Some("t0ken".into()),
        };
        let globs = Globs::new(&[], &["drafts".to_string()]).expect("globs");
        let look = (false, Some("https://github.com/o/r/blob/v1/docs/{path}".to_string()));
        Repository::new("r".into(), options, globs, fetcher(), cache.path(), look)
    };
    let source = repository("v1");
    let listing = source.list().expect("lists");
    let paths: Vec<&str> = listing.entries.iter().map(|e| e.path.as_str()).collect();
    assert_eq!(paths, ["a.md", "code.rs"]);
    assert_eq!(source.read(&listing.entries[0]).expect("reads"), b"# A\n");
    assert_eq!(source.url_of(&listing.entries[0]).as_deref(), Some("https://github.com/o/r/blob/v1/docs/a.md"));
    assert_eq!(source.sibling("drafts/b.md").as_deref(), Some(&b"# B\n"[..]));
    assert_eq!(source.sibling("../README.md"), None);
    let sent = server.asked.lock().expect("log")[0].headers.get("authorization").cloned();
    assert_eq!(sent.as_deref(), Some("Bearer t0ken"));
    let e = repository("no-such-branch").list().expect_err("fails");
    assert!(e.to_string().contains("404") && e.hint().is_some_and(|h| h.contains("private repository")), "{e}");
}
