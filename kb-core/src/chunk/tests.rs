//! Golden passages, worked out by hand, and the invariants of [`super::heading`] on generated pages,
//! checked by code that shares nothing with the chunker.

use super::heading::{HeadingOptions, chunk};
use super::*;
use crate::document::parse_markdown;
use proptest::prelude::*;
use std::collections::HashSet;

fn page(text: &str) -> Document {
    let mut document = parse_markdown("notes/page.md", text).document;
    document.collection = "c".into();
    document
}

fn options(max: usize, overlap: usize, min: usize) -> HeadingOptions {
    HeadingOptions {
        max_chars: max,
        overlap_chars: overlap,
        hard_max_chars: max * 2,
        min_chars: min,
        ..HeadingOptions::default()
    }
}

fn passages<'d>(document: &'d Document, options: &HeadingOptions) -> Vec<&'d str> {
    chunk(document, 0, options).expect("valid options").iter().map(|c| c.text(document).expect("inside")).collect()
}

#[test]
fn a_section_is_a_passage() {
    let document = page("Intro.\n\n# One\n\nText.\n\n##### Deep\n\nDeeper.\n\n## Two\n\nMore.\n");
    let got = passages(&document, &options(800, 80, 0));
    assert_eq!(got, ["Intro.", "# One\n\nText.\n\n##### Deep\n\nDeeper.", "## Two\n\nMore."]);
    let chunks = chunk(&document, 7, &options(800, 80, 0)).expect("valid options");
    assert_eq!(chunks.iter().map(|c| (c.doc, c.section)).collect::<Vec<_>>(), [(7, None), (7, Some(0)), (7, Some(2))]);
}

#[test]
fn bare_and_short_sections_join_what_is_under_or_beside_them() {
    let text = "# Book\n\n## One\n\nShort.\n\n## Two\n\nAlso short.\n\n# Next\n\nEnd.\n";
    // The bare title always joins; the others stay apart if nothing is short.
    let document = page(text);
    assert_eq!(
        passages(&document, &options(800, 0, 0)),
        ["# Book\n\n## One\n\nShort.", "## Two\n\nAlso short.", "# Next\n\nEnd."]
    );
    let chunks = chunk(&document, 0, &options(800, 0, 0)).expect("valid options");
    assert_eq!(chunks[0].section, Some(1), "the passage is about the section that has text");
    // With a limit of 40 the sisters One and Two join; Next is neither under nor beside them.
    assert_eq!(
        passages(&document, &options(800, 0, 40)),
        ["# Book\n\n## One\n\nShort.\n\n## Two\n\nAlso short.", "# Next\n\nEnd."]
    );
}

/// Three paragraphs of 60, 60 and 30 characters under a limit of 100: the second does not fit beside the
/// first; the third fits beside the second (60 + 2 + 30).
#[test]
fn a_long_section_is_cut_between_paragraphs() {
    let [a, b, c] = [("a", 60), ("b", 60), ("c", 30)].map(|(l, n)| l.repeat(n));
    let document = page(&format!("{a}\n\n{b}\n\n{c}\n"));
    assert_eq!(passages(&document, &options(100, 0, 0)), [a.clone(), format!("{b}\n\n{c}")]);
}

/// 15 characters hold the last sentence 「三三三。」, but not the one before it too (4 + 12 > 15).
#[test]
fn a_passage_repeats_the_last_sentences_of_the_one_before() {
    let a = format!("{}。{}。三三三。", "一".repeat(70), "二".repeat(11));
    let b = "四".repeat(60);
    let document = page(&format!("{a}\n\n{b}"));
    let chunks = chunk(&document, 0, &options(100, 15, 0)).expect("valid options");
    assert_eq!(chunks.len(), 2);
    assert_eq!(chunks[1].text(&document), Some(format!("三三三。\n\n{b}").as_str()));
    // Four characters of three bytes, and the two line ends before the new paragraph.
    assert_eq!(chunks[1].overlap_bytes, 4 * 3 + 2);
}

#[test]
fn code_and_tables_stay_whole_up_to_the_hard_limit() {
    let code = format!("```text\n{}```", "x = 1\n\n".repeat(15));
    assert_eq!(code.chars().count(), 116);
    let table = format!("| a | b |\n|---|---|\n{}", "| 1 | 2 |\n".repeat(9));
    let document = page(&format!("# H\n\nBefore it.\n\n{code}\n\n{table}\nAfter.\n"));
    let got = passages(&document, &options(100, 20, 0));
    assert!(got.contains(&code.as_str()), "{got:#?}");
    assert!(got.iter().any(|p| p.contains(table.trim_end())), "{got:#?}");
    // Four times as long: cut, but between lines.
    let code = format!("```text\n{}```", "line of code\n".repeat(36));
    let document = page(&code);
    for p in passages(&document, &options(100, 20, 0)) {
        assert!(p.lines().all(|l| l == "line of code" || l.starts_with("```")), "{p}");
        assert!(p.chars().count() <= 100);
    }
}

#[test]
fn a_heading_is_not_left_behind() {
    let document = page(&format!("{}\n\n##### Deep\n\n{}", "a".repeat(80), "b".repeat(80)));
    assert_eq!(passages(&document, &options(100, 0, 0)), ["a".repeat(80), format!("##### Deep\n\n{}", "b".repeat(80))]);
}

#[test]
fn chinese_without_spaces_or_stops_is_cut_too() {
    let text: String = "图论最短路径".chars().cycle().take(5_000).collect();
    let document = page(&text);
    let chunks = chunk(&document, 0, &HeadingOptions::default()).expect("valid options");
    for c in &chunks {
        let passage = c.text(&document).expect("inside");
        assert!(passage.chars().count() <= 800);
        assert!(c.overlap_bytes <= 80 * 3);
    }
    // 5,000 characters with 80 repeated at each cut: at least ceil(4920 / 720) passages.
    assert_eq!(chunks.len(), 7);
}

#[test]
fn ids_move_only_with_their_text() {
    let one = page("# A\n\nsame\n\n# B\n\ntext\n\n# A\n\nsame\n");
    let two = page("New first paragraph.\n\n# A\n\nsame\n\n# B\n\ntext changed\n\n# A\n\nsame\n");
    let o = options(800, 80, 0);
    let ids = |d: &Document| chunk(d, 0, &o).expect("valid options").into_iter().map(|c| c.id).collect::<Vec<_>>();
    let (a, b) = (ids(&one), ids(&two));
    assert_eq!(a.len(), 3);
    assert_eq!((a[0], a[2]), (b[1], b[3]));
    assert!(a[0] != a[2] && a[1] != b[2]);
    let mut moved = one.clone();
    moved.path = "other.md".into();
    assert_ne!(ids(&moved)[0], a[0]);
}

/// Made with Python's hashlib over the four parts and their lengths.
#[test]
fn an_id_is_the_documented_hash() {
    assert_eq!(ChunkId::new("c", "a.md", "图", 0).to_string(), "7cb109637fa92d4a");
}

#[test]
fn the_model_reads_title_path_and_plain_text() {
    let document = page("---\ntitle: 图论\n---\n# 图论\n\n## 最短路\n\n**Dijkstra** 算法\n求[单源](u)最短路。\n");
    let chunks = chunk(&document, 0, &HeadingOptions::default()).expect("valid options");
    assert_eq!(chunks.len(), 1);
    assert_eq!(embedding_text(&document, &chunks[0]), "图论 > 最短路\nDijkstra 算法求单源最短路。");
    let document = page("# T\n\n## Own\n\nBody.\n\n## Other\n\nRest.\n");
    let chunks = chunk(&document, 0, &options(800, 80, 0)).expect("valid options");
    assert_eq!(embedding_text(&document, &chunks[1]), "T > Other\nRest.");
}

#[test]
fn options_out_of_range_are_refused() {
    let good = HeadingOptions::default();
    for bad in [
        HeadingOptions { max_chars: 99, ..good.clone() },
        HeadingOptions { overlap_chars: 201, ..good.clone() },
        HeadingOptions { hard_max_chars: 799, ..good.clone() },
        HeadingOptions { max_level: 0, ..good.clone() },
        HeadingOptions { min_chars: 801, ..good.clone() },
    ] {
        assert!(chunk(&page("x"), 0, &bad).is_err(), "{bad:?}");
    }
    assert!(good.validate().is_ok());
}

/// Pages with everything that matters for cutting.
fn pages() -> impl Strategy<Value = String> {
    let sentence = prop_oneof![
        "[a-z]{1,12}( [a-z]{1,12}){0,20}[.!?] ",
        "[一-龥]{1,60}[。！？，]",
        "`[a-z. ]{1,20}` \\$[a-z+. ]{1,9}\\$ ",
    ];
    let paragraph = proptest::collection::vec(sentence, 1..12).prop_map(|s| s.concat().trim().to_owned());
    let block = prop_oneof![
        6 => paragraph.clone(),
        2 => "#{1,6} [a-z图]{1,8}".prop_map(String::from),
        1 => proptest::collection::vec("[a-z ]{0,30}", 0..60).prop_map(|l| format!("```c\n{}\n```", l.join("\n"))),
        1 => proptest::collection::vec("[a-z]{1,9}", 1..60).prop_map(|l| format!("| h |\n|---|\n| {} |", l.join(" |\n| "))),
        1 => "(- [a-z ]{1,40}\n){1,20}".prop_map(|l| l.trim_end().to_owned()),
        1 => "[一-龥]{900,1800}".prop_map(String::from),
        1 => Just("$$\na\n=\nb\n$$".to_owned()),
        1 => Just("!!! note\n    inside".to_owned()),
    ];
    proptest::collection::vec(block, 0..14).prop_map(|b| b.join("\n\n"))
}

/// Line ranges of fenced code, found independently: the generator writes fences at line starts only.
fn solid_blocks(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(n) = text[at..].find("```c\n") {
        let start = at + n;
        let end = start + 5 + text[start + 5..].find("\n```").map_or(0, |n| n + 4);
        found.push(start..end);
        at = end;
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn what_the_chunker_promises_holds(
        text in pages(), max in 100..500_usize, overlap in 0..25_usize, hard in 0..400_usize, min in 0..100_usize
    ) {
        let document = page(&text);
        let o = HeadingOptions { max_level: 4, max_chars: max, overlap_chars: overlap, hard_max_chars: max + hard, min_chars: min };
        let chunks = chunk(&document, 3, &o).expect("valid options");
        let mut covered = 0_usize;
        let mut ids = HashSet::new();
        for c in &chunks {
            let (start, end) = (c.span_bytes.start as usize, c.span_bytes.end as usize);
            // Not empty, at characters, inside.
            let passage = document.text.get(start..end).expect("between characters");
            prop_assert!(!passage.trim().is_empty());
            // New text follows the last passage's with only white space between: nothing is lost,
            // and what is repeated is what is declared.
            let new = start + c.overlap_bytes as usize;
            prop_assert!(new >= covered && document.text[covered..new].trim().is_empty(), "lost {:?}", &document.text[covered..new]);
            prop_assert!(start + usize::from(c.overlap_bytes > 0) <= covered || c.overlap_bytes == 0);
            prop_assert!(document.text[start..new].trim_end().chars().count() <= overlap);
            prop_assert!(end > covered);
            covered = end;
            // Length.
            let length = passage.chars().count();
            let has_solid = passage.contains("```") || passage.contains("|---|") || passage.contains("$$");
            prop_assert!(length <= if has_solid { o.hard_max_chars } else { max }, "{} characters:\n{}", length, passage);
            prop_assert!(ids.insert(c.id));
            // The section is one that the passage lies in or begins with.
            let section = c.section.map(|s| &document.sections[s as usize]);
            prop_assert!(section.is_none_or(|s| s.span_bytes.start < end));
        }
        prop_assert!(document.text[covered..].trim().is_empty());
        // No passage begins or ends inside code that fits.
        for block in solid_blocks(&document.text) {
            if document.text[block.clone()].chars().count() > o.hard_max_chars {
                continue;
            }
            for c in &chunks {
                for cut in [c.span_bytes.start as usize, c.span_bytes.end as usize] {
                    prop_assert!(cut <= block.start || cut >= block.end, "cut at {} in code {:?}", cut, block);
                }
            }
        }
        // The same page gives the same passages.
        prop_assert_eq!(&chunk(&document, 3, &o).expect("valid options"), &chunks);
    }
}

/// Quadratic work on these would take minutes.
#[test]
fn large_documents_take_linear_time() {
    for piece in
        ["`a. b` $c. d$ Next. ", "一句话。", "- item\n", "word ", "# H\n\n", "```\n", "| a |\n|---|\n", "> ", "$5. "]
    {
        let document = page(&piece.repeat(1_000_000 / piece.len()));
        assert!(chunk(&document, 0, &HeadingOptions::default()).is_ok());
    }
}
