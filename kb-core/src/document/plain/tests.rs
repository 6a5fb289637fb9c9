use super::*;
use proptest::prelude::*;

#[test]
fn markup_goes_and_words_stay() {
    for (markdown, expected) in [
        ("# Heading **bold** #", "Heading bold"),
        ("## 图的存储 {#store}", "图的存储"),
        ("Title\n=====\ntext", "Title\ntext"),
        ("see [the *book*](https://x.org/a_(b) \"t\") and ![alt](i.png)", "see the book and alt"),
        ("[ref][id] [`Rc<T>`][rc]<!-- ignore --> [plain] a[i](x)", "ref Rc<T> [plain] ai"),
        ("[id]: https://example.org \"T\"\ntext[^1]\n\n[^1]: The note.", "text\nThe note."),
        ("[[Page]] [[Page|label]] [[1,2],[3]]", "Page label [[1,2],[3]]"),
        ("*a* **b** ***c*** _d_ ~~e~~ ==f== snake_case 2 * 3 a == b", "a b c d e f snake_case 2 * 3 a == b"),
        ("**注意：**这里", "注意：这里"),
        ("a \\*not\\* b", "a *not* b"),
        ("`a *b* <c>` ``x ` y``", "a *b* <c> x ` y"),
        ("$a_1 * b_2$ costs $5 and $x*y*z$", "$a_1 * b_2$ costs $5 and $x*y*z$"),
        ("\\(a_b*c*\\) \\[x\\]", "\\(a_b*c*\\) \\[x\\]"),
        ("$$\na_b\n=\nc\n$$", "$$ a_b = c $$"),
        ("- one\n- [x] two\n  still two\n1. three", "one\ntwo still two\n1. three"),
        ("> quoted\n> more\n\n> [!NOTE]\n> text", "quoted more\ntext"),
        ("!!! note \"标题\"\n    内容\n\n??? tip\n    more", "标题\n内容\nmore"),
        ("::: tip 提示\ntext\n:::", "提示\ntext"),
        ("| a | b |\n|---|:-:|\n| 1 | 2 |", "a | b\n1 | 2"),
        ("```rust\nlet a = *b;\n\n  c();\n```\nafter", "let a = *b;\n  c();\nafter"),
        ("<p align=\"center\">x<br>y</p><Note>z</Note> <https://a.b>", "x y z https://a.b"),
        ("Vec<T> and a < b > c, Rc<RefCell<i32>>", "Vec<T> and a < b > c, Rc<RefCell<i32>>"),
        ("a <!-- gone\n\nalso gone --> b", "a b"),
        ("&lt;T&gt; &amp; &#x4E2D;&nbsp;&unknown;", "<T> & 中 &unknown;"),
        ("中文一行\n接下一行 and\nEnglish", "中文一行接下一行 and English"),
        ("{{#include ../x.rs}}\ntext\n***\nmore", "text\nmore"),
        ("a  \nb\\\nc", "a b c"),
        ("", ""),
    ] {
        assert_eq!(plain(markdown).text, expected, "from {markdown:?}");
    }
}

#[test]
fn a_slice_of_code_stays_code() {
    let page = "# H\n\n  ~~~c\n  a_b = *c * *d;\n  e();\n  ~~~\n*x*\n";
    let cut = page.find("  e();").expect("is there");
    assert_eq!(plain_after(&page[..cut], &page[cut..]).text, "e();\nx");
    let cut = page.find("*x*").expect("is there");
    assert_eq!(plain_after(&page[..cut], &page[cut..]).text, "x");
    assert_eq!(plain_after("", "a\nb").text, "a b");
}

#[test]
fn source_offsets_point_at_what_was_copied() {
    let markdown = "# 标题\n\nsee [链接](u) and `code`\n\n```\nx = 1\n```\n";
    let p = plain(markdown);
    for word in ["标题", "see", "链接", "and", "code", "x = 1"] {
        let at = p.text.find(word).expect("word is in the plain text");
        assert!(markdown[p.source_offset(at)..].starts_with(word), "{word}");
    }
}

#[test]
fn pathological_input_takes_linear_time() {
    // Quadratic work on these would take minutes; the test runner would stop it.
    for piece in [
        "*a ", "**", "[", "![", "](", "`", "``` `", "$x ", "<", "<!--", "<a ", "\\(", "&", "_a", "~~", "[[", "[^",
        "> ", "- ", "{{#", "|",
    ] {
        let text = piece.repeat(200_000 / piece.len());
        assert!(plain(&text).text.len() <= 2 * text.len());
    }
}

proptest! {
    #[test]
    fn any_slice_is_handled(text in "([a-c 图，\n]|[*_~=`$\\[\\]()<>!|#{}\\\\&;:.-]|```|\\$\\$|<!--|-->|1\\. |<b>|\u{301}){0,80}") {
        let p = plain(&text);
        prop_assert!(!p.text.contains("\n\n") && p.text.trim_end() == p.text);
        let mut last = 0;
        for (at, c) in p.text.char_indices() {
            let source = p.source_offset(at);
            prop_assert!(text.is_char_boundary(source), "{} in {:?}", source, text);
            prop_assert!(source >= last, "offsets go back at {} {:?} {:?}", at, text, p);
            last = source;
            if !c.is_whitespace() {
                prop_assert!(text[source..].starts_with(c) || text[source..].starts_with('&'));
            }
        }
    }
}
