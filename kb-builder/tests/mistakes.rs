//! What is given in the wrong place or form is said in a sentence, never measured or written silently.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Sandbox, course, stderr};

fn site() -> Sandbox {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "en", "--no-model", "-q"]);
    s
}

fn refused(s: &Sandbox, status: i32, args: &[&str]) -> String {
    stderr(&s.expect(status, args))
}

#[test]
fn questions_of_a_collection_that_is_not_there() {
    let s = site();
    let line = "{\"question\": \"最短路\", \"expected\": \"最短路.md\", \"collection\": \"zn\"}\n";
    s.write("q.jsonl", line);
    let lexical = ["--mode", "lexical", "-q"];
    for args in [&["eval", "q.jsonl", "--site", "site"][..], &["eval", "--answers", "site", "q.jsonl"]] {
        let said = refused(&s, 2, &[args, &lexical].concat());
        assert!(said.contains("`zn`") && said.contains("has en, zh"), "{said}");
    }
    s.write("q.jsonl", line.replace("zn", "zh"));
    s.expect(0, &[&["eval", "q.jsonl", "--site", "site"][..], &lexical].concat());
}

#[test]
fn questions_without_a_place_and_paths_that_are_swapped() {
    let s = site();
    s.write("q.jsonl", "{\"question\": \"最短路\", \"expected\": []}\n");
    for args in [&["eval", "q.jsonl", "--site", "site", "-q"][..], &["eval", "--answers", "site", "q.jsonl", "-q"]] {
        let said = refused(&s, 1, args);
        assert!(said.contains("line 1: `expected` names no place") && said.contains("unanswerable"), "{said}");
    }
    let said = refused(&s, 2, &["eval", "--answers", "q.jsonl", "site"]);
    assert!(said.contains("takes the site first") && said.contains("eval --answers site q.jsonl"), "{said}");
    let said = refused(&s, 2, &["eval", "site", "--site", "q.jsonl"]);
    assert!(said.contains("q.jsonl is a file") && said.contains("eval q.jsonl --site site"), "{said}");
}

#[test]
fn nothing_found_is_nought() {
    let s = site();
    s.write("q.txt", "zzzz qqqq → 字符串.md\n");
    let output = s.expect(0, &["eval", "q.txt", "--site", "site", "--mode", "lexical", "-q"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("\"ndcg10\": 0.0") && !text.contains("-0.0"), "{text}");
}

#[test]
fn a_mistake_in_the_file_is_named_by_its_key() {
    let s = Sandbox::new();
    course(&s);
    s.write("kb.toml", "[[source]]\npath = \"zh\"\nurl_base = \"nope\"\n");
    let said = refused(&s, 2, &["build", "--no-model"]);
    assert!(said.contains("`url_base` in [[source]] `nope`") && !said.contains("--url-base"), "{said}");
    assert!(refused(&s, 2, &["build", "zh", "--url-base", "nope", "--no-model"]).contains("--url-base `nope`"));
    s.write("kb.toml", "[[source]]\npath = \"zh\"\n[site]\nurl = \"me.github.io\"\n");
    let said = refused(&s, 2, &["build", "--no-model"]);
    assert!(said.contains("`url` in [site] `me.github.io`") && !said.contains("--site-url"), "{said}");
    assert!(refused(&s, 2, &["build", "--no-model", "--site-url", "x"]).contains("--site-url `x`"));
}

#[test]
fn handouts_are_not_written_into_a_site() {
    let s = site();
    s.write("notes.htm", "<!doctype html><title>Notes</title><p>text</p>");
    for args in [
        &["export", "site", "--single-file", "site/course.html"][..],
        &["export", "site", "--single-file", "site/files/course.html", "--force"],
        &["attach", "notes.htm", "--site", "site", "--out", "site/notes.html"],
        &["attach", "site/index.html", "--site", "site", "--out", "site/index.html"],
    ] {
        let said = refused(&s, 2, args);
        assert!(said.contains("would lie in the site") && said.contains("outside of it"), "{args:?}: {said}");
    }
    s.expect(0, &["build", "zh", "--no-model", "-q"]);
    let said = refused(&s, 2, &["attach", "notes.htm", "--src", "me.github.io/kb"]);
    assert!(said.contains("https://me.github.io/kb") && said.contains("./me.github.io/kb"), "{said}");
    s.expect(0, &["attach", "notes.htm", "--src", "https://me.github.io/kb"]);
    assert!(s.path("notes.kb.htm").is_file() && !s.path("notes.kb.html").exists());
}

#[test]
fn documents_that_gitignore_names_are_counted_in_the_report() {
    let s = Sandbox::new();
    course(&s);
    s.write("zh/.gitignore", "字符串.md\n");
    let said = stderr(&s.expect(0, &["build", "zh", "--no-model"]));
    assert!(said.contains("note: zh: 1 files that could be read are left out"), "{said}");
}
