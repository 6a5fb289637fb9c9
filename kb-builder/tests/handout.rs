//! `kb-builder export`, `attach` and `init`, from outside. The browser tests open what they write.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Sandbox, course, stderr};
use std::collections::BTreeMap;

/// The files that a page carries, unpacked.
fn carried(html: &str) -> BTreeMap<String, Vec<u8>> {
    let mut out = BTreeMap::new();
    for element in html.split("<script type=\"application/octet-stream\" data-kb=\"").skip(1) {
        let (path, rest) = element.split_once('"').expect("path");
        let (mark, rest) = rest.split_once('>').expect("tag");
        let bytes = from_base64(rest.split_once('<').expect("content").0);
        let bytes = match mark {
            " data-packed" => miniz_oxide::inflate::decompress_to_vec_zlib(&bytes).expect("zlib"),
            _ => bytes,
        };
        out.insert(path.to_string(), bytes);
    }
    out
}

fn from_base64(text: &str) -> Vec<u8> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let mut out = Vec::new();
    let (mut bits, mut count) = (0u32, 0);
    for c in text.bytes().filter(|c| *c != b'=') {
        bits = (bits << 6) | u32::from(value(c));
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count) as u8);
        }
    }
    out
}

#[test]
fn a_handout_carries_the_files_of_the_site_and_names_no_other() {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "en", "--no-model"]);
    s.expect(0, &["export", "site", "--single-file", "h.html"]);
    let html = std::fs::read_to_string(s.path("h.html")).expect("handout");
    let files = carried(&html);
    let sections: Vec<_> = std::fs::read_dir(s.path("site/kb")).expect("kb").map(|e| e.expect("entry")).collect();
    assert!(sections.len() >= 4);
    for section in sections {
        let name = format!("kb/{}", section.file_name().to_string_lossy());
        assert_eq!(files.get(&name), Some(&std::fs::read(section.path()).expect("section")), "{name}");
    }
    assert!(!html.contains("src=\"") && !html.contains("<link rel=\"stylesheet\"") && !html.contains("modulepreload"));
    // Nothing but the page is written.
    assert!(!s.path(".h.html.kb-new").exists());
}

#[test]
fn a_page_is_kept_and_what_was_put_in_is_replaced() {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "--no-model"]);
    s.write("n.html", "<html><body><p>My notes</p></body></html>");
    s.expect(0, &["attach", "n.html", "--site", "site"]);
    let first = std::fs::read_to_string(s.path("n.kb.html")).expect("page");
    assert!(first.starts_with("<html><body><p>My notes</p>") && first.ends_with("</body></html>"));
    assert!(carried(&first).contains_key("assets/styles/embed.css"));
    s.expect(0, &["attach", "n.kb.html", "--src", "https://e.org/kb", "--theme", "light", "--out", "n.kb.html"]);
    let second = std::fs::read_to_string(s.path("n.kb.html")).expect("page");
    assert!(carried(&second).is_empty() && second.matches("<kb-modal").count() == 1);
    assert!(second.contains("<kb-modal src=\"https://e.org/kb/\" theme=\"light\">"));
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let s = Sandbox::new();
    let output = s.expect(1, &["export", "nowhere", "--single-file", "h.html"]);
    assert!(stderr(&output).contains("kb-builder build"), "{}", stderr(&output));
    s.expect(2, &["attach", "n.html"]);
    let output = s.expect(2, &["init", "--github-pages"]);
    assert!(stderr(&output).contains("kb-builder init notes --github-pages"), "{}", stderr(&output));
    s.expect(2, &["init", "notes", "--github-pages"]);
    s.write("notes/a.md", "# A\n");
    s.expect(0, &["init", "notes", "--github-pages"]);
    let output = s.expect(2, &["init", "--github-pages"]);
    assert!(stderr(&output).contains("--force"), "{}", stderr(&output));
}
