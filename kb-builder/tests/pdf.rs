//! PDF files made by real programs (`tests/fixtures/pdf/make.py`), against the text that PyMuPDF finds in them.

use kb_builder::convert::{Converted, Format, convert};
use kb_builder::source::Entry;
use kb_core::Result;
use kb_core::document::plain;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/fixtures/pdf")
}

fn read(bytes: &[u8], name: &str) -> Result<Converted> {
    let entry = Entry { path: name.into(), bytes: bytes.len() as u64 };
    convert(Format::Pdf, "fixtures", &entry, bytes, &|_| None)
}

fn converted(name: &str) -> Converted {
    read(&std::fs::read(folder().join(name)).expect(name), name).expect(name)
}

/// Letters and digits only: signs of layout and of markup differ, and so do spaces.
fn letters(text: &str) -> Vec<char> {
    text.chars().filter(|c| c.is_alphanumeric()).collect()
}

/// Length of the longest common subsequence.
fn common(a: &[char], b: &[char]) -> usize {
    let mut row = vec![0; b.len() + 1];
    for x in a {
        let mut diagonal = 0;
        for (i, y) in b.iter().enumerate() {
            let above = row[i + 1];
            row[i + 1] = if x == y { diagonal + 1 } else { above.max(row[i]) };
            diagonal = above;
        }
    }
    row[b.len()]
}

#[test]
fn nearly_every_letter_is_there_and_in_order() {
    let mut seen = 0;
    let mut weak = Vec::new();
    for entry in std::fs::read_dir(folder()).expect("fixtures") {
        let path = entry.expect("entry").path();
        let name = path.file_name().expect("name").to_string_lossy().into_owned();
        let Some(stem) = name.strip_suffix(".yardstick.txt") else { continue };
        let yardstick = letters(&std::fs::read_to_string(&path).expect("text"));
        let own = letters(&plain(&converted(&format!("{stem}.pdf")).document.text).text);
        let kept = common(&yardstick, &own) as f64 / yardstick.len() as f64;
        // What is there twice or made up would spoil a search as well.
        let extra = 1.0 - common(&yardstick, &own) as f64 / own.len().max(1) as f64;
        println!(
            "{stem}: {:.2} % of {} letters kept in order, {:.2} % extra",
            kept * 100.0,
            yardstick.len(),
            extra * 100.0
        );
        seen += 1;
        if kept < 0.98 || extra > 0.02 {
            weak.push(stem.to_string());
        }
    }
    assert!(seen >= 8, "{seen} files");
    assert!(weak.is_empty(), "{weak:?}");
}

/// Level, title and anchor of every heading.
fn headings(name: &str) -> Vec<(u8, String, String)> {
    let sections = converted(name).document.sections;
    sections.into_iter().filter(|s| !s.title.is_empty()).map(|s| (s.level, s.title, s.anchor)).collect()
}

#[test]
fn headings_are_found_by_their_size() {
    let zh = [(1, "图论讲义"), (2, "一、最短路问题"), (2, "二、负权边")];
    for name in ["reportlab-zh.pdf", "weasyprint-zh.pdf", "chromium-zh.pdf", "fpdf-zh.pdf"] {
        let wanted: Vec<_> = zh.iter().map(|(l, t)| (*l, t.to_string(), "page=1".to_string())).collect();
        assert_eq!(headings(name), wanted, "{name}");
        assert_eq!(converted(name).document.title, "图论讲义", "{name}");
    }
    let titles: Vec<String> = headings("chromium-en.pdf").into_iter().map(|(_, title, _)| title).collect();
    assert_eq!(titles, ["Notes on Graph Algorithms", "1 Dijkstra's algorithm", "2 The Bellman-Ford algorithm"]);
}

#[test]
fn paragraphs_lists_tables_and_code_are_told_apart() {
    let text = converted("chromium-zh.pdf").document.text;
    for part in [
        "如果所有边的权都不是负数，可以用 Dijkstra 算法，它每次取出距离最小的点，用它松弛相邻的点。",
        "| Algorithm | Weights | Time |\n| --- | --- | --- |\n| BFS | equal | O(n + m) |",
        "```\ndef relax(u, v, w):\n    if d[u] + w < d[v]:\n        d[v] = d[u] + w\n```",
    ] {
        assert!(text.contains(part), "{part}\n-- in:\n{text}");
    }
    let text = converted("fpdf-zh.pdf").document.text;
    let table = "| Algorithm | Weights | Time |\n| --- | --- | --- |\n| BFS | equal | O(n + m) |\n| Dijkstra | not negative | O(m log n) |\n| Bellman-Ford | any | O(n m) |";
    assert_eq!(converted("reportlab-en.pdf").document.text.matches(table).count(), 3);
    let text_of = |name: &str| converted(name).document.text;
    let code = text_of("libreoffice-zh.pdf");
    assert!(code.contains("```\ndef relax(u, v, w):\n    if d[u] + w < d[v]:\n        d[v] = d[u] + w\n```"), "{code}");
    assert!(text_of("latex-en.pdf").contains("an inefficient office affair of floating figures."));
    assert!(
        text.contains("- 把起点的距离设为零，其余的点设为无穷大；\n- 取出还没有确定的点中距离最小的一个；\n- 松弛"),
        "{text}"
    );
}

#[test]
fn pages_are_anchors_and_furniture_goes() {
    let found = converted("reportlab-en.pdf");
    let document = found.document;
    assert!(!document.text.contains("Course notes"), "{}", document.text);
    let anchors: Vec<&str> = document.sections.iter().map(|s| s.anchor.as_str()).collect();
    for page in ["page=1", "page=2", "page=3"] {
        assert!(anchors.contains(&page), "{page} in {anchors:?}");
    }
    assert!(found.notes.list().iter().any(|n| n.starts_with("PDF running heads")), "{:?}", found.notes);
}

#[test]
fn columns_are_read_one_after_the_other() {
    let text = plain(&converted("reportlab-columns.pdf").document.text).text;
    let words: Vec<&str> = text.split_whitespace().collect();
    let text = words.join(" ");
    assert!(text.contains("Shortest-path problems ask for the cheapest way from one vertex to another"), "{text}");
}

#[test]
fn what_cannot_be_read_says_why() {
    let e = read(&std::fs::read(folder().join("locked.pdf")).expect("file"), "locked.pdf").expect_err("is refused");
    assert!(e.message().contains("password"), "{e}");
    let e = read(&std::fs::read(folder().join("scanned.pdf")).expect("file"), "scanned.pdf").expect_err("is refused");
    assert!(e.message().contains("scan"), "{e}");
    let e = read(b"%PDF-1.7\nnothing", "x.pdf").expect_err("is refused");
    assert!(e.message().contains("no PDF") || e.message().contains("no text"), "{e}");
    let restricted = converted("restricted.pdf").document.text;
    assert!(restricted.contains("Printing is not allowed, reading is."), "{restricted}");
}

#[test]
fn damaged_files_are_errors_or_text() {
    let bytes = std::fs::read(folder().join("reportlab-zh.pdf")).expect("file");
    let run = |bytes: &[u8]| {
        if let Err(e) = read(bytes, "x.pdf") {
            assert!(!e.message().contains("broke down"), "{e}");
        }
    };
    for end in (0..bytes.len()).step_by(97) {
        run(&bytes[..end]);
    }
    for at in (0..bytes.len()).step_by(53) {
        let mut turned = bytes.clone();
        turned[at] ^= 0x15;
        run(&turned);
    }
}

#[test]
fn pages_that_are_damaged_are_named() {
    let bytes = std::fs::read(folder().join("typst-mixed.pdf")).expect("file");
    let whole = read(&bytes, "x.pdf").expect("reads");
    let damage = |notes: Vec<String>| notes.into_iter().find(|n| n.contains("damaged pages"));
    assert_eq!(damage(whole.notes.list()), None);
    let letters_of = |converted: &Converted| letters(&converted.document.text);
    // The middle of each stream in turn: contents of pages, fonts, tables.
    let starts: Vec<usize> =
        bytes.windows(8).enumerate().filter(|(_, w)| w == b"\nstream\n").map(|(i, _)| i + 8).collect();
    let mut named = Vec::new();
    for start in starts {
        let Some(length) = bytes[start..].windows(9).position(|w| w == b"endstream") else { continue };
        let mut turned = bytes.clone();
        turned[start + length / 2..][..8.min(length / 2)].iter_mut().for_each(|b| *b ^= 0x5a);
        let Ok(converted) = read(&turned, "x.pdf") else { continue };
        if let Some(note) = damage(converted.notes.list()) {
            assert_ne!(letters_of(&converted), letters_of(&whole), "{note}");
            named.push(note);
        }
    }
    let of = |page| format!("x.pdf: damaged pages, whose text is missing in whole or in part ({page}): 1");
    assert_eq!(named, [of(1), of(2), of(3)]);
    for fixture in std::fs::read_dir(folder()).expect("fixtures") {
        let path = fixture.expect("entry").path();
        if path.extension().is_some_and(|e| e == "pdf")
            && let Ok(converted) = read(&std::fs::read(&path).expect("reads"), "x.pdf")
        {
            assert_eq!(damage(converted.notes.list()), None, "{}", path.display());
        }
    }
}

#[test]
fn pages_that_are_not_there_are_counted() {
    let three =
        String::from_utf8(written_by_hand("BT /F 12 Tf 50 700 Td (Only this page is left) Tj ET")).expect("text");
    let converted = read(three.replace("/Count 1", "/Count 3").as_bytes(), "x.pdf").expect("reads");
    assert!(
        converted.notes.list().contains(&"x.pdf: damaged pages that are missing: 2".to_string()),
        "{:?}",
        converted.notes
    );
    let gone = three.replace("/Contents 4 0 R", "/Contents 9 0 R");
    let refused = read(gone.as_bytes(), "x.pdf").expect_err("nothing to read");
    assert!(refused.message().contains("damaged"), "{refused}");
}

/// A PDF of one page with this content; `F` is Helvetica, `X` a form that is half as large and stands at (50, 300).
fn written_by_hand(content: &str) -> Vec<u8> {
    let form = "BT /F 20 Tf 10 10 Td (In a form) Tj ET";
    let objects = [
        "<</Type/Catalog/Pages 2 0 R>>".to_string(),
        "<</Type/Pages/Kids[3 0 R]/Count 1>>".to_string(),
        "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>/XObject<</X 6 0 R>>>>>>"
            .to_string(),
        format!("<</Length {}>>stream\n{content}\nendstream", content.len()),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_string(),
        format!(
            "<</Type/XObject/Subtype/Form/BBox[0 0 900 900]/Matrix[.5 0 0 .5 50 300]/Length {}>>stream\n{form}\nendstream",
            form.len()
        ),
    ];
    let mut out = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (i, object) in objects.iter().enumerate() {
        places.push(out.len());
        out.extend(format!("{} 0 obj\n{object}\nendobj\n", i + 1).into_bytes());
    }
    let table = out.len();
    out.extend(format!("xref\n0 {}\n0000000000 65535 f \n", objects.len() + 1).into_bytes());
    for place in places {
        out.extend(format!("{place:010} 00000 n \n").into_bytes());
    }
    out.extend(format!("trailer<</Size {}/Root 1 0 R>>\nstartxref\n{table}\n%%EOF", objects.len() + 1).into_bytes());
    out
}

#[test]
fn every_operator_that_shows_text_is_carried_out() {
    let content = "BT /F 10 Tf 14 TL 50 700 Td (First line) Tj T* (second) Tj (third) ' 5 1 (wide words here) \" \
        0 Tw 0 Tc 0 -40 TD [(Kern) 120 (ed and ) -600 (apart)] TJ 1 0 0 1 50 560 Tm 50 Tz (narrow) Tj 100 Tz ( goes on) Tj ET \
        q 1 0 0 1 0 -60 cm BT /F 10 Tf 50 560 Td (moved) Tj ET Q /X Do \
        BT /F 10 Tf 0 1 -1 0 300 300 Tm (sideways) Tj ET BT /F 10 Tf 3 Tr 50 400 Td (invisible but there) Tj ET";
    let found = read(&written_by_hand(content), "hand.pdf").expect("reads");
    let words: Vec<&str> = found.document.text.split_whitespace().collect();
    assert_eq!(
        words.join(" "),
        "First line second third wide words here Kerned and apart narrow goes on moved In a form invisible but there"
    );
    assert!(found.notes.list().iter().any(|n| n.contains("sideways") && n.ends_with(": 8")), "{:?}", found.notes);
}

#[test]
fn forms_that_contain_themselves_end() {
    let looped = String::from_utf8(written_by_hand("/X Do")).expect("ASCII");
    let looped = looped
        .replace("/Matrix[.5 0 0 .5 50 300]", "/Resources<</XObject<</X 6 0 R>>>>")
        .replace("BT /F 20 Tf 10 10 Td (In a form) Tj ET", "/X Do /X Do");
    assert!(read(looped.as_bytes(), "loop.pdf").is_err(), "there is no text in it");
}
