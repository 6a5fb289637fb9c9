//! `kb-builder watch`, from outside.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;
#[allow(dead_code, reason = "each test file uses a part of it")]
#[path = "common/llm.rs"]
mod llm;

use common::{Sandbox, course, files};
use llm::{Fixture, Reply};
use serde_json::Value;
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long something that must happen may take on a busy machine.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long nothing must happen to be sure that nothing will: two looks and the settling.
const SILENCE: Duration = Duration::from_millis(3_200);

/// A watching program.
struct Watch {
    child: Child,
    events: Receiver<Value>,
}

impl Watch {
    /// Starts it and waits for the first build.
    fn start(s: &Sandbox, args: &[&str]) -> Self {
        let all = [&["watch", "--no-model", "--interval", "1", "--json"], args].concat();
        let mut child =
            s.command(&all).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts");
        let stdout = child.stdout.take().expect("a pipe");
        let (sender, events) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                let _ = sender.send(serde_json::from_str(&line).expect("a line of JSON"));
            }
        });
        let watch = Self { child, events };
        watch.until("watching");
        watch
    }

    /// The next event of this name; those before it are passed over.
    fn until(&self, name: &str) -> Value {
        let end = Instant::now() + PATIENCE;
        loop {
            match self.events.recv_timeout(end.saturating_duration_since(Instant::now())) {
                Ok(event) if event["event"] == name => return event,
                Ok(_) => {}
                Err(e) => panic!("no `{name}`: {e}"),
            }
        }
    }

    /// The paths of the next change, and its build.
    fn change(&self) -> (Vec<String>, Vec<String>, Vec<String>) {
        let event = self.until("changed");
        self.until("watching");
        let list = |name: &str| -> Vec<String> {
            let all = event[name].as_array().expect("a list").iter();
            all.map(|v| v.as_str().expect("a path").rsplit('/').next().unwrap_or_default().to_string()).collect()
        };
        (list("changed"), list("added"), list("removed"))
    }

    /// That nothing is built.
    fn is_silent(&self, why: &str) {
        match self.events.recv_timeout(SILENCE) {
            Err(RecvTimeoutError::Timeout) => {}
            other => panic!("{why}: {other:?}"),
        }
    }

    /// Ends it as Ctrl-C does: the exit status and what it said.
    #[cfg(unix)]
    fn interrupt(mut self) -> (Option<i32>, String) {
        let id = self.child.id().to_string();
        std::process::Command::new("kill").args(["-INT", &id]).status().expect("kill");
        let status = self.child.wait().expect("ends");
        let mut said = String::new();
        self.child.stderr.take().expect("a pipe").read_to_string(&mut said).expect("text");
        (status.code(), said)
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn finds(s: &Sandbox, word: &str) -> usize {
    let hits = s.json(&["search", "site", word, "--json", "--mode", "lexical"]);
    hits["hits"].as_array().expect("hits").len()
}

fn names(list: &[&str]) -> Vec<String> {
    list.iter().map(|s| s.to_string()).collect()
}

#[test]
fn every_way_of_saving_makes_one_build() {
    let s = Sandbox::new();
    course(&s);
    let watch = Watch::start(&s, &["en"]);
    watch.is_silent("the build itself changes nothing");
    let none = Vec::new;

    s.write("en/ownership.md", "# Ownership\n\nA zebra owns its stripes.\n");
    assert_eq!(watch.change(), (names(&["ownership.md"]), none(), none()));
    assert_eq!((finds(&s, "zebra"), finds(&s, "borrowing")), (1, 0));

    // Deleted and made anew, as some editors save.
    fs::remove_file(s.path("en/ownership.md")).expect("remove");
    std::thread::sleep(Duration::from_millis(300));
    s.write("en/ownership.md", "# Ownership\n\nA giraffe owns its neck.\n");
    assert_eq!(watch.change(), (names(&["ownership.md"]), none(), none()));
    assert_eq!((finds(&s, "zebra"), finds(&s, "giraffe")), (0, 1));

    // Written beside and moved over it, as others do.
    s.write("en/ownership.md.tmp", "# Ownership\n\nA walrus owns its tusks.\n");
    fs::rename(s.path("en/ownership.md.tmp"), s.path("en/ownership.md")).expect("rename");
    assert_eq!(watch.change(), (names(&["ownership.md"]), none(), none()));
    assert_eq!(finds(&s, "walrus"), 1);

    // Deleted and made anew as it was, or only touched: nothing to do.
    let text = fs::read(s.path("en/ownership.md")).expect("read");
    fs::remove_file(s.path("en/ownership.md")).expect("remove");
    s.write("en/ownership.md", &text);
    s.write("en/guide.rst", fs::read(s.path("en/guide.rst")).expect("read"));
    watch.is_silent("the same again");
    // What no build reads.
    s.write("en/.hidden.md", "x");
    s.write("en/notes.md~", "x");
    s.write("en/~$notes.docx", "x");
    watch.is_silent("other files");

    s.write("en/new/deep/folder.md", "# New\n\nAn okapi hides.\n");
    assert_eq!(watch.change(), (none(), names(&["folder.md"]), none()));
    assert_eq!(finds(&s, "okapi"), 1);
    fs::remove_dir_all(s.path("en/new")).expect("remove");
    assert_eq!(watch.change(), (none(), none(), names(&["folder.md"])));
    assert_eq!(finds(&s, "okapi"), 0);
    assert!(!s.path("site/files/en/new").exists());

    // Twenty writes within two seconds.
    for i in 0..20 {
        s.write(&format!("en/burst-{}.md", i % 7), format!("# Burst\n\nNumber {i} quokka.\n"));
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(watch.change().1.len(), 7);
    assert_eq!(finds(&s, "quokka"), 7);
    watch.is_silent("one build for all of them");
    // The site that was watched is the site that a build makes.
    s.expect(0, &["build", "en", "--no-model", "-q", "-o", "clean"]);
    assert_eq!(files(&s.path("site")), files(&s.path("clean")));
}

#[test]
fn failures_leave_the_site_and_the_watching_goes_on() {
    let s = Sandbox::new();
    course(&s);
    let settings = |title: &str| format!("title = {title}\n[[source]]\npath = \"zh\"\n[watcher]\nsettle = 0.3\n");
    s.write("kb.toml", settings("\"One\""));
    let watch = Watch::start(&s, &[]);
    let title = || s.json(&["inspect", "site", "--json"])["title"].clone();

    s.write("kb.toml", settings("\"Two\""));
    watch.until("settings");
    watch.until("watching");
    assert_eq!(title(), "Two");

    // Broken: told once, and the settings of before are used for what changes meanwhile.
    s.write("kb.toml", settings("Three"));
    let event = watch.until("settings_failed");
    assert!(event["error"].as_str().is_some_and(|e| e.contains("kb.toml: line 1")), "{event}");
    watch.is_silent("told once");
    s.write("zh/字符串.md", "# 字符串\n\n后缀自动机。\n");
    assert_eq!(watch.change().0.len(), 1);
    assert_eq!((title(), finds(&s, "后缀自动机")), ("Two".into(), 1));
    s.write("kb.toml", settings("\"Three\""));
    watch.until("watching");
    assert_eq!(title(), "Three");

    // Nothing left to build from: the site stays.
    let before = files(&s.path("site"));
    fs::rename(s.path("zh"), s.path("away")).expect("rename");
    let event = watch.until("build_failed");
    assert!(event["error"].as_str().is_some_and(|e| e.contains("zh")), "{event}");
    fs::create_dir(s.path("zh")).expect("mkdir");
    let event = watch.until("build_failed");
    assert!(event["error"].as_str().is_some_and(|e| e.contains("nothing to search")), "{event}");
    assert_eq!(files(&s.path("site")), before);
    fs::remove_dir(s.path("zh")).expect("rmdir");
    fs::rename(s.path("away"), s.path("zh")).expect("rename");
    watch.until("finished");
    assert_eq!(files(&s.path("site")), before);

    // A site that somebody has removed comes back.
    watch.until("watching");
    fs::remove_dir_all(s.path("site")).expect("remove");
    watch.until("gone");
    watch.until("finished");
    assert_eq!(files(&s.path("site")), before);
    #[cfg(unix)]
    {
        watch.until("watching");
        let (status, said) = watch.interrupt();
        assert_eq!((status, said.contains("stopped watching")), (Some(0), true), "{said}");
        assert_eq!(files(&s.path("site")), before);
    }
}

#[test]
fn an_edit_here_is_no_reason_to_ask_a_server() {
    let s = Sandbox::new();
    let page = "# Far\n\nA capybara swims.\n";
    let server = Fixture::start(move |_, _| Reply { kind: "text/markdown", ..Reply::new(200, page) });
    let settings = |title: &str| {
        format!(
            "title = \"{title}\"\n[[source]]\npath = \"notes\"\n\
             [[source]]\nname = \"far\"\nurls = [\"{}/far.md\"]\nallow_private = true\n",
            server.url
        )
    };
    s.write("notes/a.md", "# A\n\nA numbat.\n");
    s.write("kb.toml", settings("One"));
    let watch = Watch::start(&s, &[]);
    let asked = server.asked().len();
    assert!(asked > 0 && finds(&s, "capybara") == 1);
    s.write("notes/a.md", "# A\n\nA quoll.\n");
    watch.change();
    assert_eq!((finds(&s, "quoll"), finds(&s, "capybara"), server.asked().len()), (1, 1, asked));
    s.write("kb.toml", settings("Two"));
    watch.until("settings");
    watch.until("watching");
    assert!(server.asked().len() > asked, "new settings ask again");
}

#[test]
fn an_empty_folder_is_waited_for() {
    let s = Sandbox::new();
    fs::create_dir(s.path("notes")).expect("mkdir");
    let watch = Watch::start(&s, &["notes"]);
    watch.is_silent("it stays empty");
    s.write("notes/a.md", "# A\n\nA numbat.\n");
    assert_eq!(watch.change().1, names(&["a.md"]));
    assert_eq!(finds(&s, "numbat"), 1);
}

#[test]
fn included_files_count_and_the_output_among_the_sources_does_not() {
    let s = Sandbox::new();
    s.write("book/src/one.md", "# One\n\n{{#include ../../book/src/listing.inc}}\n");
    s.write("book/src/listing.inc", "a pangolin\n");
    // The output, the cache and the configuration lie in the source.
    s.write("kb.toml", "[[source]]\npath = \".\"\n[watcher]\nsettle = 0.3\n");
    s.write("book/src/one.md", "# One\n\n{{#include listing.inc}}\n");
    let watch = Watch::start(&s, &[]);
    assert_eq!(finds(&s, "pangolin"), 1);
    watch.is_silent("the output is no document");
    s.write("book/src/listing.inc", "an axolotl\n");
    assert_eq!(watch.change().0, names(&["listing.inc"]));
    assert_eq!((finds(&s, "pangolin"), finds(&s, "axolotl")), (0, 1));
    watch.is_silent("once");
}

#[test]
fn the_page_that_is_served_meanwhile_is_told_of_each_build() {
    let s = Sandbox::new();
    course(&s);
    let all = ["watch", "en", "--no-model", "--interval", "0.5", "--json", "--serve", "--port", "0", "--base", "/kb/"];
    let mut child = s.command(&all).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let stdout = child.stdout.take().expect("a pipe");
    let (sender, events) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            let _ = sender.send(serde_json::from_str(&line).expect("a line of JSON"));
        }
    });
    let watch = Watch { child, events };
    let address = watch.until("serving")["address"].as_str().expect("an address").to_string();
    let host = address.trim_start_matches("http://").split('/').next().expect("host").to_string();
    let get = |path: &str| {
        let mut stream = TcpStream::connect(&host).expect("connects");
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n").expect("sends");
        let mut reply = String::new();
        stream.read_to_string(&mut reply).expect("text");
        reply
    };
    let body = |reply: &str| reply.split_once("\r\n\r\n").expect("a body").1.to_string();
    watch.until("watching");
    let page = get("/kb/");
    let version = body(&get("/kb/.reload/version"));
    assert!(page.contains(&format!("<script src=\"/kb/.reload/script.js\" data-version=\"{version}\">")), "{page}");
    assert!(get("/kb/.reload/script.js").contains("location.reload()"));
    s.write("en/ownership.md", "# Ownership\n\nA zebra owns its stripes.\n");
    watch.change();
    assert_ne!(body(&get("/kb/.reload/version")), version);
    // Nothing of it is in the site.
    assert!(!fs::read_to_string(s.path("site/index.html")).expect("page").contains(".reload"));
}

#[test]
fn what_is_wrong_at_the_beginning_ends_it() {
    let s = Sandbox::new();
    course(&s);
    s.expect(2, &["watch"]);
    s.expect(2, &["watch", "zh", "--no-model", "--interval", "0"]);
    s.expect(2, &["watch", "zh", "--no-model", "--port", "8080"]);
    s.expect(1, &["watch", "missing", "--no-model"]);
    s.write("thesis/chapter.tex", "precious");
    s.expect(2, &["watch", "zh", "--no-model", "--out", "thesis"]);
    s.write("kb.toml", "[watcher]\nintervall = 3\n");
    s.expect(2, &["watch", "zh", "--no-model"]);
}
