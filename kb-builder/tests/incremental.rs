//! A build that takes what it can from the build before gives byte for byte what a clean one gives.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;
#[allow(dead_code, reason = "each test file uses a part of it")]
#[path = "common/llm.rs"]
mod llm;

use common::{Sandbox, course, files};
use llm::{Fixture, Reply};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The clone's default model.
fn model() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prebuilt/models/multilingual-e5-small-zh-en-q4");
    path.canonicalize().expect("the default model is in prebuilt/models").to_string_lossy().into_owned()
}

/// The only file with this suffix below the cache folder.
fn kept(s: &Sandbox, folder: &str, suffix: &str) -> PathBuf {
    let all = std::fs::read_dir(s.path("cache").join(folder)).expect("folder").map(|e| e.expect("entry").path());
    let found: Vec<PathBuf> = all.filter(|p| p.extension().is_some_and(|e| e == suffix)).collect();
    assert_eq!(found.len(), 1, "{found:?}");
    found[0].clone()
}

#[test]
fn counts_of_tokens_are_kept_and_never_believed_when_damaged() {
    let s = Sandbox::new();
    course(&s);
    // More tokens than the model reads, in fewer characters than a passage may have.
    let row = "| βγδ ζηθ κλμ νξο | ÿþß øœæ 0x7f3a9b |\n";
    s.write("en/table.md", format!("# Signs\n\n| a | b |\n|---|---|\n{}", row.repeat(60)));
    let m = model();
    let build = |out: &str, more: &[&str]| {
        s.expect(0, &[&["build", "zh", "en", "-q", "--model", &m, "-o", out], more].concat());
        files(&s.path(out))
    };
    let clean = build("clean", &["--no-cache"]);
    assert!(!s.path("cache/embeddings").exists());
    assert_eq!(build("one", &[]), clean);
    let counts = kept(&s, "embeddings", "kbt");
    let whole = std::fs::read(&counts).expect("reads");
    assert!(whole.len() > 40, "something was counted");
    assert_eq!(build("two", &[]), clean);
    assert_eq!(std::fs::read(&counts).expect("reads"), whole, "nothing was new");
    let mut flipped = whole.clone();
    flipped[40 + 17] ^= 0xff;
    std::fs::write(&counts, flipped).expect("writes");
    assert_eq!(build("three", &[]), clean);
}

#[test]
fn graphs_are_kept_and_built_again_for_other_vectors() {
    let server = Fixture::answering(|_, path, body| {
        assert_eq!(path, "/api/embed");
        let body: Value = serde_json::from_str(body).expect("JSON");
        let vector = |text: &Value| {
            // Different for different texts, the same for the same.
            let text = text.as_str().expect("text");
            (1..9)
                .map(|i| text.bytes().fold(i, |h: u32, b| h.wrapping_mul(31) ^ u32::from(b)) % 1009)
                .collect::<Vec<_>>()
        };
        let vectors: Vec<_> = body["input"].as_array().expect("texts").iter().map(vector).collect();
        Reply::new(200, &json!({ "embeddings": vectors }).to_string())
    });
    let s = Sandbox::new();
    let sections = |n: usize| -> String {
        let text = "words that stand in every section, so that none is short enough to be joined with the next of them";
        (0..n).map(|i| format!("## Section {i}\n\nNumber {i}: {text}.\n\n")).collect()
    };
    s.write("notes/many.md", format!("# Many\n\n{}", sections(2_050)));
    let build = |out: &str, more: &[&str]| {
        let args = [&["build", "notes", "-q", "--embedder", "ollama", "--embedder-url", &server.url, "-o", out], more];
        s.expect(0, &args.concat());
        files(&s.path(out))
    };
    let clean = build("clean", &["--no-cache"]);
    assert!(clean.iter().any(|(name, _)| name.starts_with("kb/graph-")));
    // Asked for, the graph is walked, and finds what the comparison with every vector finds.
    let nearest = |how: &str| -> Vec<String> {
        let answer = s.json(&["search", "clean", "Number 7", "--mode", "vector", "--vectors", how, "--json"]);
        let hits = answer["hits"].as_array().expect("hits").iter();
        hits.map(|hit| hit["chunk_id"].as_str().expect("an id").to_owned()).collect()
    };
    let (exact, walked) = (nearest("exact"), nearest("graph"));
    assert!(exact.len() == 10 && walked.iter().filter(|id| exact.contains(id)).count() >= 9, "{exact:?} {walked:?}");
    assert_eq!(build("one", &[]), clean);
    let graph = kept(&s, "embeddings/graphs", "kbg");
    let whole = std::fs::read(&graph).expect("reads");
    assert_eq!(build("two", &[]), clean);
    let mut flipped = whole.clone();
    flipped[whole.len() / 2] ^= 1;
    std::fs::write(&graph, flipped).expect("writes");
    assert_eq!(build("three", &[]), clean);
    assert_eq!(std::fs::read(&graph).expect("reads"), whole, "it was built again");
    s.write("notes/one-more.md", "# One more\n\nA passage that is not like the others.\n");
    assert_eq!(build("grown", &[]), build("clean", &["--no-cache"]));
}

#[cfg(unix)]
#[test]
fn files_that_stay_the_same_are_taken_over_and_no_others() {
    use std::os::unix::fs::MetadataExt;
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "en", "--no-model", "-q"]);
    let about = |name: &str| std::fs::metadata(s.path("site").join(name)).expect(name);
    let inode = |name: &str| about(name).ino();
    let names = ["index.html", "files/zh/字符串.md", "files/en/ownership.md", "kb/manifest.json"];
    let before = names.map(inode);
    // Somebody changed a file of the site, with the same length.
    let page = std::fs::read_to_string(s.path("site/index.html")).expect("reads");
    s.write("site/index.html", page.replacen("<html", "<HTML", 1));
    s.write("en/ownership.md", "# Ownership\n\nQuite another text.\n");
    s.expect(0, &["build", "zh", "en", "--no-model", "-q"]);
    let after = names.map(inode);
    assert_eq!(before.iter().zip(&after).map(|(a, b)| a == b).collect::<Vec<_>>(), [false, true, false, false]);
    assert_eq!(about("files/zh/字符串.md").nlink(), 1, "nothing of the site before is left");
    s.expect(0, &["build", "zh", "en", "--no-model", "-q", "-o", "clean"]);
    assert_eq!(files(&s.path("site")), files(&s.path("clean")));
    // What a link leads to is not part of the site.
    std::fs::rename(s.path("site/files/zh/字符串.md"), s.path("elsewhere.md")).expect("moves");
    std::os::unix::fs::symlink(s.path("elsewhere.md"), s.path("site/files/zh/字符串.md")).expect("links");
    s.expect(0, &["build", "zh", "en", "--no-model", "-q"]);
    let copy = std::fs::symlink_metadata(s.path("site/files/zh/字符串.md")).expect("is there");
    assert!(copy.is_file() && std::fs::metadata(s.path("elsewhere.md")).expect("is there").nlink() == 1);
}
