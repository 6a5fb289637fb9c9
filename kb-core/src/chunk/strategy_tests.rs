use super::{ChunkStrategy, Window};
use crate::document::{Document, parse_markdown};
use proptest::prelude::{ProptestConfig, prop_assert, proptest};
use std::collections::HashSet;

fn document(text: &str) -> Document {
    parse_markdown("a.md", text).document
}

fn cut<'d>(document: &'d Document, strategy: &ChunkStrategy) -> Vec<&'d str> {
    let chunks = strategy.chunk(document, 0).expect("valid settings");
    chunks.iter().map(|c| c.text(document).expect("its own")).collect()
}

/// Counted by hand: windows begin at 0, 650, 1300; the last one has 50 characters left of 1,350 … and one of 49 would
/// be dropped.
#[test]
fn a_window_slides_over_characters() {
    let text: String = (0..1350).map(|i| char::from_u32(0x4e00 + i).expect("a character")).collect();
    let d = document(&text);
    let passages = cut(&d, &ChunkStrategy::Sliding(Window::SLIDING));
    let lengths: Vec<usize> = passages.iter().map(|p| p.chars().count()).collect();
    assert_eq!(lengths, [800, 700]);
    assert!(passages[1].starts_with(text.chars().nth(650).expect("there")));
    let chunks = ChunkStrategy::Sliding(Window::SLIDING).chunk(&d, 0).expect("valid");
    assert_eq!((chunks[0].overlap_bytes, chunks[1].overlap_bytes), (0, 450));
    // 10 characters beyond a window with nothing repeated: too short, left out.
    let d = document(&"字".repeat(810));
    let none = Window { overlap: 0, ..Window::SLIDING };
    assert_eq!(cut(&d, &ChunkStrategy::Sliding(none)).len(), 1);
    // A document that is short as a whole stays.
    assert_eq!(cut(&document("short"), &ChunkStrategy::Sliding(Window::SLIDING)), ["short"]);
}

#[test]
fn paragraphs_stay_whole_where_they_fit() {
    let a = "First paragraph. ".repeat(15);
    let b = "Second one here. ".repeat(15);
    let d = document(&format!("# T\n\n{a}\n\n{b}\n"));
    let window = Window { size: 300, overlap: 0, min: 0 };
    let passages = cut(&d, &ChunkStrategy::Paragraph(window));
    assert_eq!(passages.len(), 2);
    assert!(passages[0].ends_with(a.trim_end()) && passages[1] == b.trim_end());
}

#[test]
fn lines_are_cut_only_where_one_is_too_long() {
    let d = document("aaaa\nbbbb\ncccc\n");
    let window = Window { size: 50, overlap: 0, min: 0 };
    assert_eq!(cut(&d, &ChunkStrategy::Line(window)).len(), 1);
    let long = format!("short line\n{}。{}。\nlast", "一".repeat(40), "二".repeat(30));
    let d = document(&long);
    let passages = cut(&d, &ChunkStrategy::Line(window));
    assert!(passages.iter().all(|p| p.chars().count() <= 50), "{passages:?}");
    assert!(passages.iter().any(|p| p.trim_start_matches("short line\n").starts_with('一') && p.ends_with('。')));
}

#[test]
fn settings_out_of_range_are_refused() {
    let ok = Window::SLIDING;
    for bad in [Window { size: 49, ..ok }, Window { overlap: 401, ..ok }, Window { min: 801, ..ok }] {
        assert!(ChunkStrategy::Sliding(bad).chunk(&document("x"), 0).is_err(), "{bad:?}");
    }
    for window in [Window::SLIDING, Window::PARAGRAPH, Window::LINE] {
        assert!(window.validate().is_ok());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn windows_lose_nothing_and_keep_to_their_size(
        text in "([a-z]{1,9} |[一-龥]{1,20}。|\\n|\\n\\n|```\\n|- |[a-z]{90}){0,80}", size in 50..200_usize, overlap in 0..25_usize
    ) {
        let d = document(&text);
        let window = Window { size, overlap, min: 0 };
        for strategy in [ChunkStrategy::Sliding(window), ChunkStrategy::Paragraph(window), ChunkStrategy::Line(window)] {
            let mut covered = 0;
            let mut ids = HashSet::new();
            for c in strategy.chunk(&d, 0).expect("valid") {
                let (start, end) = (c.span_bytes.start as usize, c.span_bytes.end as usize);
                let passage = d.text.get(start..end).expect("between characters");
                prop_assert!(!passage.trim().is_empty() && passage.chars().count() <= size, "{:?} {}", strategy, passage);
                let new = start + c.overlap_bytes as usize;
                prop_assert!(new >= covered && d.text[covered..new].trim().is_empty(), "{:?} lost {:?}", strategy, &d.text[covered..new]);
                prop_assert!(d.text[start..new].trim_end().chars().count() <= overlap && end > covered);
                prop_assert!(ids.insert(c.id));
                covered = end;
            }
            prop_assert!(d.text[covered..].trim().is_empty());
        }
    }
}

#[test]
fn a_scaled_strategy_keeps_to_the_ranges() {
    let strategies = [
        ChunkStrategy::default(),
        ChunkStrategy::Sliding(Window { size: 100, overlap: 50, min: 100 }),
        ChunkStrategy::Paragraph(Window::PARAGRAPH),
        ChunkStrategy::Line(Window::LINE),
        ChunkStrategy::Portfolio(Window::PORTFOLIO),
    ];
    for strategy in strategies {
        for factor in [0.0, 0.01, 0.33, 1.0, 3.7, 1e6] {
            strategy.scaled(factor).validate().expect("in range");
        }
        assert_eq!(strategy.scaled(1.0), strategy);
    }
    let half = ChunkStrategy::Sliding(Window::SLIDING).scaled(0.5);
    assert_eq!((half.size(), half), (400, ChunkStrategy::Sliding(Window { size: 400, overlap: 75, min: 25 })));
}

#[test]
fn lines_do_not_leave_a_heading_behind() {
    let line = "A line of words that says something.\n";
    let d = document(&format!("# One\n\n{}\n## Two\n\n{}\nThree\n-----\n\n{line}", line.repeat(3), line.repeat(3)));
    for size in 60..400 {
        let passages = cut(&d, &ChunkStrategy::Line(Window { size, overlap: 40.min(size / 2), min: 0 }));
        for passage in &passages {
            let last = passage.trim_end().lines().last().expect("a line");
            assert!(last.starts_with("A line"), "{size}: {passages:?}");
        }
        for heading in ["## Two", "Three\n---"] {
            assert!(passages.iter().any(|p| p.contains(heading)), "{size}: {passages:?}");
        }
    }
    // One that opens a passage repeats nothing of what is before it.
    let passages = cut(&d, &ChunkStrategy::Line(Window { size: 130, overlap: 60, min: 0 }));
    assert!(passages.iter().any(|p| p.starts_with("## Two")), "{passages:?}");
}
