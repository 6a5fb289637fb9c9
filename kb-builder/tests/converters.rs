//! Whole files through the converters, against Markdown written by hand.

use kb_builder::convert::{Format, convert};
use kb_builder::source::Entry;
use std::path::{Path, PathBuf};

fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/convert")
}

/// Converts a fixture, includes resolved inside the folder.
fn converted(name: &str) -> kb_builder::convert::Converted {
    let bytes = std::fs::read(fixtures().join(name)).expect(name);
    let entry = Entry { path: name.into(), bytes: bytes.len() as u64 };
    let sibling = |path: &str| std::fs::read(fixtures().join(path)).ok();
    convert(Format::of(name).expect(name), "fixtures", &entry, &bytes, &sibling).expect(name)
}

#[test]
fn every_fixture_becomes_the_markdown_beside_it() {
    for name in ["guide.rst", "sphinx.html", "gbk.html", "notes.txt", "book.md"] {
        let expected = std::fs::read_to_string(fixtures().join(format!("{name}.md"))).expect(name);
        assert_eq!(converted(name).document.text.trim_end(), expected.trim_end(), "{name}");
    }
}

#[test]
fn titles_anchors_and_encodings() {
    let guide = converted("guide.rst");
    assert_eq!(guide.document.title, "Sorting array");
    let anchors: Vec<&str> = guide.document.sections.iter().map(|s| s.anchor.as_str()).collect();
    assert_eq!(anchors, ["sorting-array", "example", "cost"]);
    assert_eq!(guide.document.heading_path(2), ["Sorting array", "Cost"]);
    let page = converted("gbk.html");
    assert_eq!((page.document.title.as_str(), page.encoding), ("树状数组讲义", Some("GBK")));
    assert_eq!(converted("notes.txt").encoding, Some("UTF-16LE"));
    assert_eq!(converted("notes.txt").document.title, "会议记录");
    assert_eq!(converted("sphinx.html").document.title, "Broadcasting");
}

#[test]
fn damaged_input_is_an_error_or_text_and_never_a_panic() {
    // Every fixture cut at every 7th byte, and with every 11th byte turned.
    for name in ["guide.rst", "sphinx.html", "gbk.html", "notes.txt", "book.md"] {
        let bytes = std::fs::read(fixtures().join(name)).expect(name);
        let entry = Entry { path: name.into(), bytes: 0 };
        let format = Format::of(name).expect(name);
        let run = |bytes: &[u8]| {
            if let Err(e) = convert(format, "fixtures", &entry, bytes, &|_| None) {
                assert!(!e.message().contains("broke down"), "{name}: {e}");
            }
        };
        for end in (0..bytes.len()).step_by(7) {
            run(&bytes[..end]);
        }
        for at in (0..bytes.len()).step_by(11) {
            let mut turned = bytes.clone();
            turned[at] ^= 0x15;
            run(&turned);
        }
    }
}

/// Files below a folder with this suffix, in order.
fn below(dir: &Path, suffix: &str, out: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(dir).expect("folder").map(|e| e.expect("entry").path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            below(&path, suffix, out);
        } else if path.extension().is_some_and(|e| e == suffix) {
            out.push(path);
        }
    }
}

/// The text outside of code blocks and code spans.
fn outside_code(markdown: &str) -> String {
    let mut out = String::new();
    let mut fence = None;
    for line in markdown.lines() {
        let trimmed = line.trim_start_matches(['>', ' ', '-']);
        let ticks = trimmed.bytes().take_while(|b| *b == b'`').count();
        match fence {
            None if ticks >= 3 => fence = Some(ticks),
            None => {
                // Spans of any number of backticks.
                let mut rest = line;
                while let Some(at) = rest.find('`') {
                    out.push_str(&rest[..at]);
                    let run = rest[at..].bytes().take_while(|b| *b == b'`').count();
                    let mark = "`".repeat(run);
                    match rest[at + run..].find(&mark) {
                        // An escaped one is text.
                        Some(end) if !rest[..at].ends_with('\\') => rest = &rest[at + run + end + run..],
                        _ => {
                            out.push('`');
                            rest = &rest[at + run..];
                        }
                    }
                }
                out.push_str(rest);
                out.push('\n');
            }
            Some(open) if ticks >= open && trimmed.trim_matches('`').is_empty() => fence = None,
            Some(_) => {}
        }
    }
    out
}

/// `:ref:` and its kin in front of a backtick or a word.
fn roles(text: &str) -> usize {
    let names = [
        "ref", "doc", "func", "meth", "class", "mod", "attr", "data", "term", "any", "math", "exc", "obj", "c:func",
        "c:type", "ref:", "issue", "pr",
    ];
    names.iter().map(|n| text.matches(&format!(":{n}:`")).count()).sum()
}

#[test]
fn numpys_pages_have_no_litter() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpora");
    let corpora = if corpora.is_dir() { corpora } else { PathBuf::from("/nowhere") };
    let mut files = Vec::new();
    for name in ["numpy-user", "numpy-reference"] {
        if corpora.join(name).is_dir() {
            below(&corpora.join(name), "rst", &mut files);
        }
    }
    if files.is_empty() {
        println!("skipped: there are no corpora beside the repository");
        return;
    }
    let (mut role, mut directive, mut backtick) = (Vec::new(), Vec::new(), Vec::new());
    for path in &files {
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let bytes = std::fs::read(path).expect("reads");
        let entry = Entry { path: name.clone(), bytes: 0 };
        let document = convert(Format::Rst, "numpy", &entry, &bytes, &|_| None).expect(&name).document;
        let text = outside_code(&document.text);
        for line in text.lines() {
            if roles(line) > 0 {
                role.push(format!("{name}: {line}"));
            }
            if line.trim_start_matches(['>', ' ']).starts_with(".. ") {
                directive.push(format!("{name}: {line}"));
            }
            if line.contains('`') {
                backtick.push(format!("{name}: {line}"));
            }
        }
    }
    for (what, found) in [("roles", &role), ("directives", &directive), ("backticks", &backtick)] {
        println!("{what}: {} lines in {} files", found.len(), files.len());
        found.iter().take(40).for_each(|l| println!("  {l}"));
    }
    assert!(role.is_empty() && directive.is_empty() && backtick.is_empty());
}
