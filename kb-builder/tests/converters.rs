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
