use super::*;
use crate::text::query_terms;
use proptest::prelude::*;

fn terms(query: &str) -> Vec<MarkTerm> {
    query_terms(query).into_iter().map(|t| MarkTerm { term: t.term, weight: 1.0 }).collect()
}

/// The excerpt with its marks written as 【】.
fn shown(text: &str, query: &str) -> String {
    let (excerpt, _) = excerpt(text, &terms(query));
    let mut out = String::new();
    let mut at = 0;
    for mark in &excerpt.marks_bytes {
        out += &excerpt.text[at..mark.start];
        out += &format!("【{}】", &excerpt.text[mark.clone()]);
        at = mark.end;
    }
    out + &excerpt.text[at..]
}

#[test]
fn terms_are_marked() {
    assert_eq!(shown("Searching a graph finds paths.", "graph search"), "【Searching】 a 【graph】 finds paths.");
    assert_eq!(shown("求图中的最短路径。", "最短路径"), "求图中的【最短路径】。");
    assert_eq!(shown("求图中的最短路径。", "图"), "求【图】中的最短路径。");
    assert_eq!(shown("Use useEffect or np.linalg.norm", "linalg effect"), "Use use【Effect】 or np.【linalg】.norm");
    assert_eq!(shown("line one\nline two", "two"), "line one line 【two】");
    assert_eq!(shown("nothing here", "graph"), "nothing here");
    assert_eq!(shown("", "graph"), "");
}

#[test]
fn a_short_text_is_shown_whole() {
    let text = "第一句。第二句。第三句。";
    assert_eq!(shown(text, "第三"), "第一句。第二句。【第三】句。");
}

/// Sentences of 30 characters; the match in the tenth. The window may reach 240 characters, so it begins with
/// the earliest sentence from which the match can still be shown and ends with a sentence.
#[test]
fn a_window_holds_whole_sentences_around_the_match() {
    let sentence = |i: usize| format!("{}{}。", char::from_digit(i as u32 % 10, 10).unwrap_or('x'), "字".repeat(28));
    let text: String =
        (0..20).map(|i| if i == 9 { format!("9目标{}。", "字".repeat(26)) } else { sentence(i) }).collect();
    let (excerpt, focus) = excerpt(&text, &terms("目标"));
    assert_eq!(excerpt.text.chars().count() % 30, 0);
    assert!(excerpt.text.chars().count() <= 240);
    assert!(excerpt.text.ends_with('。') && excerpt.text.starts_with(|c: char| c.is_ascii_digit()));
    assert_eq!(&excerpt.text[excerpt.marks_bytes[0].clone()], "目标");
    assert!(text[focus..].starts_with("目标") && text.contains(&excerpt.text));
}

#[test]
fn the_window_with_most_terms_wins() {
    let filler = "filler words go on and on without an end ".repeat(10);
    let text = format!("alpha {filler} alpha alpha {filler} alpha beta {filler} gamma");
    let got = shown(&text, "alpha beta gamma");
    assert!(got.contains("【alpha】 【beta】") && got.starts_with('…') && got.ends_with('…'), "{got}");
}

#[test]
fn text_without_any_place_to_cut_is_cut_anyway() {
    let text = "图".repeat(400) + "目标" + &"论".repeat(400);
    let got = shown(&text, "目标");
    assert!(got.contains("【目标】") && got.starts_with('…') && got.ends_with('…'));
    assert!(got.chars().count() <= MAX_EXCERPT_CHARS + 4);
}

proptest! {
    #[test]
    fn any_text_gives_a_sound_excerpt(text in "([a-d ]{1,20}|[图论最短路]{1,30}|[。，.!\n]|é){0,80}", query in "[a-d]{1,3}( [a-d]{1,2}){0,3}|[图论最短路]{1,4}") {
        let text = text.trim_end();
        let (excerpt, focus) = excerpt(text, &terms(&query));
        prop_assert!(text.is_char_boundary(focus));
        prop_assert!(excerpt.text.trim_matches('…').chars().count() <= MAX_EXCERPT_CHARS);
        prop_assert!(!excerpt.text.contains('\n'));
        let mut last = 0;
        for mark in &excerpt.marks_bytes {
            prop_assert!(mark.start >= last && mark.end > mark.start);
            prop_assert!(excerpt.text.get(mark.clone()).is_some_and(|m| m.trim_matches('…') == m));
            last = mark.end + 1;
        }
        // A text that holds a term shows one.
        let mut holds = false;
        tokenize(text, |t| holds |= terms(&query).iter().any(|m| m.term == t.term));
        prop_assert_eq!(holds, !excerpt.marks_bytes.is_empty());
    }
}
