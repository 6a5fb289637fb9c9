//! A build that is ended by force, at any moment: what was there before stays whole, and nothing that was done is lost.
#![cfg(unix)]

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Sandbox, files};
use kb_core::bundle::sha256_hex;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

/// Bytes before the records of a cache, and of a record of 384 numbers.
const CACHE_HEADER: u64 = 56;
const CACHE_RECORD: u64 = 16 + 4 * 384 + 4;

/// How many builds are ended while they run.
const ROUNDS: usize = 51;

/// When a build is ended.
enum Moment {
    /// After so much time.
    Time(Duration),
    /// When it has put so many more vectors into the cache.
    Vectors(u64),
    /// So long after the indexes were finished, while the site is written and put in its place.
    Writing(Duration),
}

/// Numbers that only look random (a linear congruential generator), so that a failure can be repeated.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn micros(&mut self, most: Duration) -> Duration {
        Duration::from_micros(self.below(most.as_micros() as u64))
    }
}

fn model() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prebuilt/models/multilingual-e5-small-zh-en-q4");
    path.canonicalize().expect("the default model is in prebuilt/models").to_string_lossy().into_owned()
}

/// Twelve documents of two passages; no text of one generation stands in another.
fn write_documents(s: &Sandbox, generation: usize) {
    const WORDS: [&str; 12] =
        ["edge", "heap", "queue", "vertex", "path", "weight", "stack", "tree", "leaf", "root", "cycle", "cut"];
    let mut numbers = Numbers(generation as u64);
    for i in 0..12 {
        let mut text = format!("# Document {i}\n\nmarker\n");
        for part in 0..2 {
            text += &format!("\n## Part {part} of generation {generation}\n\n");
            for _ in 0..30 {
                text += WORDS[numbers.below(12) as usize];
                text += " ";
            }
            text += "\n";
        }
        s.write(&format!("notes/{i}.md"), text);
    }
}

fn vectors(s: &Sandbox) -> u64 {
    let dir = std::fs::read_dir(s.path("cache/embeddings")).into_iter().flatten().flatten();
    let sizes = dir.filter_map(|e| e.metadata().ok()).map(|m| m.len());
    sizes.map(|bytes| bytes.saturating_sub(CACHE_HEADER) / CACHE_RECORD).sum()
}

fn build(s: &Sandbox, args: &[&str]) -> Child {
    let model = model();
    let all = [&["build", "notes", "--json", "--model", &model], args].concat();
    s.command(&all).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the program starts")
}

/// Builds to the end; the last event.
fn finished(s: &Sandbox, args: &[&str]) -> Value {
    let output = build(s, args).wait_with_output().expect("ends");
    assert!(output.status.success(), "{output:?}");
    let last = String::from_utf8_lossy(&output.stdout).lines().last().map(str::to_string).expect("an event");
    serde_json::from_str(&last).expect("JSON")
}

/// Ends a build by force at the moment; whether it was still running.
fn kill(s: &Sandbox, moment: &Moment) -> bool {
    let before = vectors(s);
    let mut child = build(s, &[]);
    let began = Instant::now();
    match moment {
        Moment::Time(time) => std::thread::sleep(*time),
        Moment::Vectors(n) => {
            while vectors(s) < before + n && child.try_wait().expect("a child").is_none() {
                std::thread::sleep(Duration::from_millis(1));
            }
        }
        Moment::Writing(time) => {
            let lines = BufReader::new(child.stdout.take().expect("a pipe")).lines().map_while(Result::ok);
            let end = |line: &String| line.contains("\"indexing\"") && line.contains("\"finished\":true");
            assert!({ lines }.any(|line| end(&line)), "the indexes are finished some day");
            std::thread::sleep(*time);
        }
    }
    assert!(began.elapsed() < Duration::from_secs(60), "a build of this size takes no minute");
    let running = child.try_wait().expect("a child").is_none();
    child.kill().expect("is ended");
    child.wait().expect("has ended");
    running
}

/// That the folder is a site in which nothing is missing or cut off.
fn assert_whole(site: &Path, why: &str) {
    let have: BTreeMap<String, Vec<u8>> = files(site).into_iter().collect();
    let manifest = have.get("kb/manifest.json").unwrap_or_else(|| panic!("{why}: no manifest"));
    let manifest: Value = serde_json::from_slice(manifest).unwrap_or_else(|e| panic!("{why}: {e}"));
    let sections = manifest["sections"].as_array().expect("sections");
    assert!(sections.len() >= 4, "{why}: {manifest}");
    for section in sections {
        let file = format!("kb/{}", section["file"].as_str().expect("a name"));
        let bytes = have.get(&file).unwrap_or_else(|| panic!("{why}: no {file}"));
        assert_eq!(section["sha256"].as_str(), Some(sha256_hex(bytes).as_str()), "{why}: {file}");
    }
    let about: Value = serde_json::from_slice(&have["model/model.json"]).expect("JSON");
    for file in about["files"].as_array().expect("files") {
        let name = file["file"].as_str().expect("a name");
        assert_eq!(Some(have[&format!("model/{name}")].len() as u64), file["bytes"].as_u64(), "{why}: {name}");
    }
    for file in ["index.html", "sw.js", ".nojekyll", "files/notes/0.md", "assets/app.js"] {
        assert!(have.contains_key(file), "{why}: no {file}");
    }
}

fn beside(s: &Sandbox) -> Vec<String> {
    let names = std::fs::read_dir(s.path(".")).expect("folder").flatten();
    let mut names: Vec<String> = names.map(|e| e.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn a_build_may_be_ended_by_force_at_any_moment() {
    let s = Sandbox::new();
    write_documents(&s, 0);
    let began = Instant::now();
    let first = finished(&s, &[]);
    let whole_build = began.elapsed();
    let passages = first["passages"].as_u64().expect("a number");
    assert_eq!(first["embedded"], passages);
    let mut numbers = Numbers(20_26);
    let mut hit_while_running = 0;
    let mut kept = 0;
    // A build that had already finished proves nothing.
    for round in 0.. {
        if hit_while_running == ROUNDS {
            break;
        }
        assert!(round < 2 * ROUNDS, "{hit_while_running} of {round} builds were still running");
        // New texts every six rounds; in between a build goes on from where the one before was ended.
        if round % 6 == 0 {
            write_documents(&s, 1 + round / 6);
        }
        let known = vectors(&s);
        let moment = match round % 4 {
            0 | 2 => Moment::Time(numbers.micros(whole_build / 2)),
            1 => Moment::Vectors(1 + numbers.below(6)),
            _ => Moment::Writing(numbers.micros(Duration::from_millis(40))),
        };
        let why = format!("round {round}");
        hit_while_running += usize::from(kill(&s, &moment));
        assert_whole(&s.path("site"), &why);
        s.expect(0, &["inspect", "site"]);
        let hits = s.json(&["search", "site", "marker", "--json", "--mode", "lexical"]);
        assert_eq!(hits["hits"].as_array().map(Vec::len), Some(10), "{why}");
        // What lies beside it is not taken for a site unless it is whole.
        let half: PathBuf = s.path(".site.kb-new");
        if half.exists() && s.run(&["inspect", ".site.kb-new"]).status.success() {
            let manifest = std::fs::read(half.join("kb/manifest.json")).expect("a manifest");
            let manifest: Value = serde_json::from_slice(&manifest).expect("JSON");
            for section in manifest["sections"].as_array().expect("sections") {
                assert!(half.join("kb").join(section["file"].as_str().expect("a name")).is_file(), "{why}");
            }
        }
        assert!(vectors(&s) >= known, "{why}: nothing that was finished is lost");
        kept += vectors(&s) - known;
    }
    assert!(kept >= passages, "{kept} vectors were kept");

    // The next build takes what was finished, leaves nothing beside the site, and makes what a clean one makes.
    write_documents(&s, 100);
    kill(&s, &Moment::Vectors(5));
    let last = finished(&s, &[]);
    let (embedded, from_cache) = (last["embedded"].as_u64().expect("n"), last["from_cache"].as_u64().expect("n"));
    assert!(from_cache >= 5 && embedded + from_cache == passages, "{last}");
    assert_eq!(beside(&s), ["cache", "notes", "site"]);
    finished(&s, &["--no-cache", "-o", "clean"]);
    assert_eq!(files(&s.path("site")), files(&s.path("clean")));
}
