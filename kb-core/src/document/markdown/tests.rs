use super::*;
use proptest::prelude::*;

fn outline(text: &str) -> Vec<(u8, String, String, Option<usize>)> {
    let document = parse_markdown("p.md", text).document;
    document.sections.into_iter().map(|s| (s.level, s.title, s.anchor, s.parent)).collect()
}

fn entry(level: u8, title: &str, anchor: &str, parent: Option<usize>) -> (u8, String, String, Option<usize>) {
    (level, title.to_owned(), anchor.to_owned(), parent)
}

#[test]
fn headings_become_a_tree() {
    let text = "intro\n\n# A *b* `c`\n\ntext\n\n### Deep\n\nSetext\n------\n\n## [Link](u) ##\n\n# A b c\n";
    let expected = [
        entry(1, "A b c", "a-b-c", None),
        entry(3, "Deep", "deep", Some(0)),
        entry(2, "Setext", "setext", Some(0)),
        entry(2, "Link", "link", Some(0)),
        entry(1, "A b c", "a-b-c-1", None),
    ];
    assert_eq!(outline(text), expected);
    let document = parse_markdown("p.md", text).document;
    assert_eq!(document.heading_path(1), ["A b c", "Deep"]);
    let span = document.sections[2].span_bytes.clone();
    assert_eq!(&document.text[span], "Setext\n------\n\n");
}

#[test]
fn explicit_ids_are_honoured() {
    let text = "# One {#first}\n\n## Two {/*second*/}\n\n## first\n\n## 图的存储 { #store }\n";
    let expected = [
        entry(1, "One", "first", None),
        entry(2, "Two", "second", Some(0)),
        entry(2, "first", "first-1", Some(0)),
        entry(2, "图的存储", "store", Some(0)),
    ];
    assert_eq!(outline(text), expected);
}

#[test]
fn only_headings_of_the_page_itself_count() {
    let text = "```\n# code\n```\n\n> # quoted\n\n- # listed\n\n# quoted\n\n$$\nx\n=\ny\n$$\n\n    # indented\n\n\\# escaped\n";
    // The quoted one has its place on the page, so the next of that name is numbered.
    assert_eq!(outline(text), [entry(1, "quoted", "quoted-1", None)]);
}

#[test]
fn titles() {
    for (path, text, title) in [
        ("a/b.md", "---\ntitle: From front matter\n---\n# H\n", "From front matter"),
        ("a/b.md", "text\n\n## 第一个标题 $O(n)$\n", "第一个标题 $O(n)$"),
        ("a/note.v2.md", "no heading", "note.v2"),
        ("graph/shortest-path.md", "intro\n\n## 定义\n\n## 记号\n", "shortest-path"),
        ("a/b.md", "# One\n\n# Two\n", "One"),
        ("graph/index.md", "no heading", "graph"),
        ("README.md", "", "README"),
        (".hidden", "", ".hidden"),
    ] {
        assert_eq!(parse_markdown(path, text).document.title, title);
    }
    assert_eq!(parse_text("docs/读我.txt", "# not a heading").title, "读我");
}

#[test]
fn line_ends_and_marks_of_files_go() {
    let parsed = parse_markdown("p.md", "\u{feff}---\r\ntags: [a]\r\n---\r\n# H\r\n\r\nb\rc\0");
    assert_eq!(parsed.document.text, "# H\n\nb\nc\u{fffd}");
    assert_eq!(parsed.document.metadata["tags"], MetaValue::List(vec![MetaValue::Text("a".into())]));
    assert_eq!(parsed.warnings, Vec::<String>::new());
    assert_eq!(parse_markdown("p.md", "---\na: 'open\n---\nb").warnings.len(), 1);
}

proptest! {
    #[test]
    fn sections_tile_the_text_after_the_first_heading(
        lines in proptest::collection::vec("(#{1,6} )?([a-c图 ]{0,5}|```|~~~|\\$\\$|---|===|> x|- y|    z|<div>|\\{#i\\})", 0..40)
    ) {
        let document = parse_markdown("p.md", &lines.join("\n")).document;
        let mut at = document.sections.first().map_or(document.text.len(), |s| s.span_bytes.start);
        for (i, s) in document.sections.iter().enumerate() {
            prop_assert_eq!(s.span_bytes.start, at);
            prop_assert!(document.text.is_char_boundary(s.span_bytes.end));
            prop_assert!((1..=6).contains(&s.level));
            prop_assert!(s.parent.is_none_or(|p| p < i && document.sections[p].level < s.level));
            at = s.span_bytes.end;
        }
        prop_assert_eq!(at, document.text.len());
    }
}
