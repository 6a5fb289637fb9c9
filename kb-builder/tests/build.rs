//! `kb-builder build`, from outside.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Sandbox, course, files, stderr};
use serde_json::Value;

#[test]
fn two_builds_give_the_same_bytes_and_replace_one_another() {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "en", "--no-model", "-o", "one"]);
    s.expect(0, &["build", "zh", "en", "--no-model", "-o", "two"]);
    let one = files(&s.path("one"));
    assert_eq!(one, files(&s.path("two")));
    let names: Vec<&str> = one.iter().map(|(name, _)| name.as_str()).collect();
    for name in [".nojekyll", "index.html", "kb/manifest.json", "files/zh/图论/最短路.md", "files/en/guide.rst"] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    // A second build over the first leaves nothing of it and nothing beside it.
    s.expect(0, &["build", "en", "--no-model", "-o", "one"]);
    assert!(!files(&s.path("one")).iter().any(|(name, _)| name.starts_with("files/zh")));
    let beside = std::fs::read_dir(s.path(".")).expect("folder").map(|e| e.expect("entry").file_name());
    assert!(
        !beside.into_iter().any(|n| n.to_string_lossy().contains("kb-new") || n.to_string_lossy().contains("kb-old"))
    );
}

#[test]
fn a_broken_file_is_reported_and_the_others_are_built() {
    let s = Sandbox::new();
    course(&s);
    s.write("en/broken.md", b"\x00\x01\x02binary");
    s.write("en/half.docx", b"PK\x03\x04 and no more");
    s.write("en/gbk.txt", b"\xd6\xaa\xca\xb6\xbf\xe2\n");
    s.write("en/photo.png", b"\x89PNG");
    let output = s.expect(3, &["build", "en", "--no-model"]);
    assert!(stderr(&output).contains("failed: en/broken.md: "), "{}", stderr(&output));
    let report = String::from_utf8_lossy(&output.stdout).into_owned();
    for part in ["3 documents", "1 .png", "1 files were read as gb18030", "2 files could not be read", "en/half.docx: "]
    {
        assert!(report.contains(part), "{part} in {report}");
    }
    let hits = s.json(&["search", "site", "知识库", "--json", "--mode", "lexical"]);
    assert_eq!(hits["hits"][0]["path"], "gbk.txt");
    let copy = std::fs::read_to_string(s.path("site/files/en/gbk.txt")).expect("the copy is UTF-8");
    assert_eq!(copy, "知识库\n");
}

#[test]
fn events_are_json_lines() {
    let s = Sandbox::new();
    course(&s);
    s.write("zh/bad.md", b"\x00");
    let output = s.expect(3, &["build", "zh", "--no-model", "--json"]);
    let events: Vec<Value> =
        String::from_utf8_lossy(&output.stdout).lines().map(|l| serde_json::from_str(l).expect("JSON")).collect();
    let of = |name: &str| events.iter().filter(|e| e["event"] == name).collect::<Vec<_>>();
    assert_eq!(of("file_failed")[0]["path"], "bad.md");
    assert!(of("stage").iter().any(|e| e["stage"] == "reading" && e["total"] == 3));
    let end = of("finished");
    assert_eq!(
        (end.len(), &end[0]["documents"], &end[0]["failed"][0]["collection"]),
        (1, &Value::from(2), &Value::from("zh"))
    );
}

#[test]
fn a_folder_of_somebody_else_is_refused_and_untouched() {
    let s = Sandbox::new();
    course(&s);
    s.write("thesis/chapter.tex", "precious");
    let output = s.expect(2, &["build", "zh", "--no-model", "--out", "thesis"]);
    assert!(stderr(&output).contains("did not write") && stderr(&output).contains("help: "), "{}", stderr(&output));
    assert_eq!(files(&s.path("thesis")), [("chapter.tex".to_string(), b"precious".to_vec())]);
}

#[test]
fn a_build_that_fails_leaves_the_previous_site() {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "--no-model"]);
    let before = files(&s.path("site"));
    s.write("empty/readme.doc", "x");
    let output = s.expect(1, &["build", "empty", "--no-model"]);
    assert!(stderr(&output).contains("1 .doc"), "{}", stderr(&output));
    assert_eq!(files(&s.path("site")), before);
}

#[test]
fn the_configuration_is_used_and_flags_are_stronger() {
    let s = Sandbox::new();
    course(&s);
    s.write("kb.toml", "title = \"课程\"\n[[source]]\nname = \"讲义\"\npath = \"zh\"\nurl_base = \"https://h.org/{stem}/\"\n[site]\nout = \"public\"\noriginals = false\n");
    s.expect(0, &["build", "--no-model", "-q"]);
    let info = s.json(&["inspect", "public", "--json"]);
    assert_eq!((&info["title"], &info["collections"][0]["name"]), (&Value::from("课程"), &Value::from("讲义")));
    assert!(!s.path("public/files").exists());
    let hit = &s.json(&["search", "public", "松弛", "--json"])["hits"][0];
    assert_eq!(hit["url"], "https://h.org/%E5%9B%BE%E8%AE%BA/%E6%9C%80%E7%9F%AD%E8%B7%AF/#dijkstra-%E7%AE%97%E6%B3%95");
    s.expect(0, &["build", "--no-model", "--title", "Other", "--out", "elsewhere"]);
    assert_eq!(s.json(&["inspect", "elsewhere", "--json"])["title"], "Other");
    s.write("kb.toml", "titel = \"x\"\n");
    let output = s.expect(2, &["build", "zh", "--no-model"]);
    assert!(stderr(&output).contains("line 1: unknown key `titel`, did you mean `title`?"), "{}", stderr(&output));
}

#[test]
fn wrong_usage_has_its_own_status() {
    let s = Sandbox::new();
    for args in
        [&["build"][..], &["build", "zh", "--nope"], &["build", "zh", "--model", "no/such", "-q"], &["frobnicate"]]
    {
        s.expect(2, args);
    }
    let output = s.expect(1, &["build", "missing", "--no-model"]);
    assert!(stderr(&output).contains("missing"), "{}", stderr(&output));
}

#[test]
fn the_output_is_not_read_when_it_lies_in_the_source() {
    let s = Sandbox::new();
    course(&s);
    for _ in 0..2 {
        s.expect(0, &["build", ".", "--no-model", "-o", "site"]);
    }
    assert_eq!(s.json(&["inspect", "site", "--json"])["documents"], 4);
}

/// A file of the fixtures.
fn fixture(name: &str) -> Vec<u8> {
    let fixtures = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures");
    std::fs::read(fixtures.join(name)).expect(name)
}

#[test]
fn a_pdf_is_copied_as_it_is_and_opened_at_its_page() {
    let s = Sandbox::new();
    s.write("课/图 论.pdf", fixture("pdf/reportlab-en.pdf"));
    s.write("课/讲义.docx", fixture("office/pandoc.docx"));
    s.expect(0, &["build", "课", "--no-model"]);
    assert_eq!(std::fs::read(s.path("site/files/课/图 论.pdf")).expect("copy"), fixture("pdf/reportlab-en.pdf"));
    let hits = s.json(&["search", "site", "negative weights", "--json", "--mode", "lexical"]);
    let urls: Vec<&str> = hits["hits"].as_array().expect("hits").iter().filter_map(|h| h["url"].as_str()).collect();
    assert!(
        urls.iter().all(|u| u.starts_with("files/%E8%AF%BE/%E5%9B%BE%20%E8%AE%BA.pdf#page=")) && urls.len() > 2,
        "{urls:?}"
    );
    let hits = s.json(&["search", "site", "负权边", "--json", "--mode", "lexical"]);
    assert_eq!(hits["hits"][0]["path"], "讲义.docx");
    // Without copies there is nothing to open but the page's own reader.
    s.expect(0, &["build", "课", "--no-model", "--no-originals"]);
    let hits = s.json(&["search", "site", "负权边", "--json", "--mode", "lexical"]);
    assert!(
        hits["hits"][0]["url"].is_null() || hits["hits"][0]["url"].as_str().is_some_and(|u| u.starts_with("?doc="))
    );
}

#[test]
fn two_builds_of_binary_formats_give_the_same_bytes() {
    let s = Sandbox::new();
    for name in
        ["pdf/chromium-zh.pdf", "pdf/typst-mixed.pdf", "office/styled.docx", "office/slides.pptx", "office/pandoc.epub"]
    {
        s.write(&format!("in/{name}"), fixture(name));
    }
    s.write("in/locked.pdf", fixture("pdf/locked.pdf"));
    s.write("in/scanned.pdf", fixture("pdf/scanned.pdf"));
    let output = s.expect(3, &["build", "in", "--no-model", "-o", "one"]);
    assert!(stderr(&output).contains("password") && stderr(&output).contains("scan"), "{}", stderr(&output));
    s.expect(3, &["build", "in", "--no-model", "-o", "two"]);
    assert_eq!(files(&s.path("one")), files(&s.path("two")));
}

#[test]
fn a_file_that_takes_too_long_costs_only_itself() {
    let s = Sandbox::new();
    s.write("in/notes.md", "# Notes\n\ntext\n");
    s.write("in/slow.pdf", fixture("pdf/reportlab-en.pdf"));
    let output = s.command(&["build", "in", "--no-model"]).env("KB_CONVERT_SECONDS", "0").output().expect("runs");
    assert_eq!(output.status.code(), Some(3));
    assert!(stderr(&output).contains("in/slow.pdf: converting it took longer than 0 seconds"), "{}", stderr(&output));
    assert_eq!(s.json(&["inspect", "site", "--json"])["documents"], 1);
}

#[test]
fn init_writes_a_configuration_that_builds() {
    let s = Sandbox::new();
    s.write("README.md", "# 课程 \"甲\"\n\ntext\n");
    s.write("docs/a.md", "# A\n\nshortest paths\n");
    s.write("docs/old.doc", "x");
    s.write(".git/config", "[remote \"origin\"]\n\turl = git@github.com:o/r.git\n");
    s.write(".git/HEAD", "ref: refs/heads/dev\n");
    s.expect(0, &["init"]);
    let text = std::fs::read_to_string(s.path("kb.toml")).expect("is there");
    for part in ["1 .md", "Not read: 1 .doc", "https://github.com/o/r/blob/dev/docs/{path}"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    s.expect(0, &["build", "--no-model"]);
    assert_eq!(s.json(&["inspect", "site", "--json"])["title"], "课程 \"甲\"");
    s.write("kb.toml", "title = \"mine\"\n");
    s.expect(2, &["init"]);
    assert_eq!(std::fs::read_to_string(s.path("kb.toml")).expect("is there"), "title = \"mine\"\n");
    s.expect(1, &["init", "docs/../.git"]);
    let nowhere = s.expect(2, &["init", "nope"]);
    assert!(stderr(&nowhere).contains("nope is not there"), "{}", stderr(&nowhere));
    // A folder that is named twice, one way and another, is one collection.
    let twice = s.expect(0, &["build", "docs", "./docs/../docs", "--no-model", "-q", "-o", "once"]);
    assert!(stderr(&twice).contains("named more than once"), "{}", stderr(&twice));
    assert_eq!(s.json(&["inspect", "once", "--json"])["documents"], 1);
}

#[test]
fn documents_are_cut_as_the_configuration_says() {
    let s = Sandbox::new();
    let text: String = (0..40).map(|i| format!("Sentence number {i} of a long text. ")).collect();
    s.write("a/one.md", format!("# One\n\n{text}\n"));
    s.write("b/two.md", format!("# Two\n\n{text}\n"));
    s.write("kb.toml", "[[source]]\npath = \"a\"\n[[source]]\npath = \"b\"\nchunking = { strategy = \"line\", size = 100, overlap = 0 }\n[chunking]\nstrategy = \"sliding\"\nsize = 500\noverlap = 100\n");
    s.expect(0, &["build", "--no-model", "-q"]);
    let manifest = s.json(&["inspect", "site", "--json"]);
    let passages = |name: &str| {
        let all = manifest["collections"].as_array().expect("collections");
        all.iter().find(|c| c["name"] == name).and_then(|c| c["passages"].as_u64()).expect("a number")
    };
    // Windows of 500 begin at 0, 400, 800 and so on, until one reaches the end.
    let length = 7 + text.chars().count() - 1;
    assert_eq!(passages("a"), (length - 100).div_ceil(400) as u64);
    // Two sentences of 34 or 35 characters fit into 100, and the heading's line with the first two.
    assert_eq!(passages("b"), 20);
    s.write("kb.toml", "[[source]]\npath = \"a\"\n[chunking]\nsize = 3\n");
    s.expect(2, &["build", "--no-model", "-q"]);
}
