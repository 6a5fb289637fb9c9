use super::*;
use proptest::prelude::*;

fn passages() -> Vec<Passage> {
    let passage = |path: &str, title: &str, heading: &str, anchor: &str| Passage {
        collection: "git".into(),
        path: path.into(),
        title: title.into(),
        heading_path: vec![title.into(), heading.into()],
        anchor: anchor.into(),
        ..Passage::default()
    };
    vec![
        passage("en/03-undo.md", "Taking things back", "The safety net", "the-safety-net"),
        passage("zh/图论/最短路.md", "最短路", "Dijkstra 算法", "dijkstra-算法"),
        passage("en/03-undo.md", "Taking things back", "Moving the branch", "moving-the-branch"),
        passage("faq.md", "FAQ", "Size", "size"),
    ]
}

/// The answer with citations as `{n:passage}`, and how many were taken out.
fn read(text: &str) -> (String, usize) {
    let passages = passages();
    let mut stream = CitationStream::new(&passages);
    let mut out = Vec::new();
    stream.push(text, &mut out);
    stream.finish(&mut out);
    (show(&out), stream.unresolved())
}

fn show(segments: &[Segment]) -> String {
    segments
        .iter()
        .map(|s| match s {
            Segment::Text { text } => text.clone(),
            Segment::Citation { n, passage } => format!("{{{n}:{passage}}}"),
        })
        .collect()
}

#[test]
fn every_form_is_recognised() {
    for (text, expected) in [
        ("a [1].", "a {1:0}."),
        ("a [2][4] b", "a {1:1}{2:3} b"),
        ("a [2] [4] b", "a {1:1}{2:3} b"),
        ("a [2, 4]", "a {1:1}{2:3}"),
        ("a [1，2、3]", "a {1:0}{2:1}{3:2}"),
        ("a [1-3]", "a {1:0}{2:1}{3:2}"),
        ("a [1 - 2; 4]", "a {1:0}{2:1}{3:3}"),
        ("a【2】。", "a{1:1}。"),
        ("a【2†第3行】", "a{1:1}"),
        ("a [^3]", "a {1:2}"),
        ("a (source 1)", "a {1:0}"),
        ("a (Sources: 1 & 2)", "a {1:0}{2:1}"),
        ("a（来源：2）", "a{1:1}"),
        ("a [来源 2]", "a {1:1}"),
        ("a [passage 4]", "a {1:3}"),
        ("a [来源: 最短路.md#Dijkstra 算法]", "a {1:1}"),
        ("a [来源：03-undo#Moving the branch]", "a {1:2}"),
        ("a [source: faq.md]", "a {1:3}"),
        ("a [Source: en/03-undo.md#moving-the-branch]", "a {1:2}"),
        ("a [Source: en/03-undo.md#no such heading]", "a {1:0}"),
        ("a [Reference 2]", "a {1:1}"),
        ("[[2]]", "[{1:1}]"),
    ] {
        assert_eq!(read(text), (expected.to_owned(), 0), "{text}");
    }
}

#[test]
fn numbers_follow_the_first_appearance() {
    assert_eq!(read("x [3], y [1], z [3][2].").0, "x {1:2}, y {2:0}, z {1:2}{3:1}.");
    let passages = passages();
    let mut stream = CitationStream::new(&passages);
    stream.push("x [3] y [1]", &mut Vec::new());
    assert_eq!(stream.order(), [2, 0]);
}

#[test]
fn what_names_no_passage_is_taken_out_and_counted() {
    for (text, expected, count) in [
        ("a [9].", "a.", 1),
        ("a [9] b", "a b", 1),
        ("a [0][7] b", "a b", 2),
        ("a [4, 9]", "a {1:3}", 1),
        ("a [3-6].", "a {1:2}{2:3}.", 2),
        ("a [来源: 没有.md#x]。", "a。", 1),
        ("a [9]\n\nb", "a\n\nb", 1),
        ("a [9]", "a", 1),
    ] {
        assert_eq!(read(text), (expected.to_owned(), count), "{text}");
    }
}

#[test]
fn text_stays_text() {
    for text in [
        "in [2023] and [1999-2004]",
        "[x] done, [ ] not",
        "a [link](http://x/) and ![i](j)",
        "f(1) and (1) first, (2) second",
        "[1.5] and [a1] and []",
        "(sources of error) and [source code]",
        "[来源于网络]",
        "never closed [1",
        "never closed (source",
        "[1\n2]",
        "`a[1]` and ``b [2] ` [3]``",
        "```\nx[1] = y[2]\n```\n",
        "two  spaces and a tail  ",
    ] {
        assert_eq!(read(text), (text.to_owned(), 0), "{text}");
    }
    assert_eq!(read("`a[1]` says [1]").0, "`a[1]` says {1:0}");
    assert_eq!(read("an open ` mark\n\nthen [1]").0, "an open ` mark\n\nthen {1:0}");
}

#[test]
fn text_is_not_held_back_longer_than_needed() {
    let passages = passages();
    let mut stream = CitationStream::new(&passages);
    let mut out = Vec::new();
    stream.push("See [the", &mut out);
    assert_eq!(show(&out), "See [the");
    stream.push(" list] now [1", &mut out);
    assert_eq!(show(&out), "See [the list] now");
    stream.push("]", &mut out);
    assert_eq!(show(&out), "See [the list] now {1:0}");
}

#[test]
fn a_hostile_reply_is_bounded() {
    for text in [
        "[1,".repeat(100_000),
        "[来源: ".to_owned() + &"长".repeat(100_000),
        "[1-999]".repeat(10_000),
        "(".repeat(100_000),
    ] {
        let (shown, _) = read(&text);
        assert!(shown.len() <= text.len() * 3);
    }
}

const PIECES: [&str; 18] = [
    "a",
    " ",
    "[",
    "]",
    "1",
    "2",
    "9",
    ",",
    "-",
    "【",
    "】",
    "(source ",
    ")",
    "来源: faq.md",
    "`",
    "```\n",
    "\n",
    "。",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_split_gives_the_same_answer(pieces in proptest::collection::vec(0..PIECES.len(), 0..40)) {
        let whole: String = pieces.iter().map(|p| PIECES[*p]).collect();
        let passages = passages();
        let mut stream = CitationStream::new(&passages);
        let mut out = Vec::new();
        for piece in &pieces {
            stream.push(PIECES[*piece], &mut out);
        }
        stream.finish(&mut out);
        prop_assert_eq!(join(out.clone()), segments(&whole, &passages));
        for segment in &out {
            match segment {
                Segment::Text { text } => prop_assert!(!text.is_empty()),
                Segment::Citation { n, passage } => prop_assert_eq!(stream.order()[*n - 1], *passage),
            }
        }
    }

    #[test]
    fn any_text_is_safe(text in "\\PC{0,60}") {
        let _ = segments(&text, &passages());
    }
}
