use super::*;

fn passage(text: &str) -> Passage {
    Passage { path: "a.md".into(), title: "T".into(), text: text.into(), ..Passage::default() }
}

fn texts(found: &[Extracted]) -> Vec<(usize, &str)> {
    found.iter().map(|e| (e.passage, e.text.as_str())).collect()
}

#[test]
fn the_sentence_with_the_words_is_chosen_and_cited() {
    let passages = [
        passage(
            "## Undo\n\nCommits are not deleted at once. The **reflog** keeps every position of a branch for thirty days.\n\n```\ngit reflog keeps\n```\n",
        ),
        passage("| reflog | keeps |\n|---|---|\n\nThe weather was fine all week long."),
    ];
    let found = extract("how long does the reflog keep positions", &passages, None);
    assert_eq!(texts(&found)[0], (0, "The reflog keeps every position of a branch for thirty days."));
    assert!(!found.iter().any(|e| e.text.contains("weather")), "{found:?}");
    assert!(found.iter().all(|e| !e.text.contains("git reflog") && !e.text.contains('|')));
}

#[test]
fn chinese_sentences_are_chosen_too() {
    let passages = [passage("图由点和边组成，可以有方向。Dijkstra 算法每次取出距离最小的点。边权必须非负才可以使用。")];
    let found = extract("Dijkstra 每次取什么点", &passages, None);
    assert_eq!(found[0].text, "Dijkstra 算法每次取出距离最小的点。");
}

#[test]
fn vectors_choose_where_there_are_any() {
    let passages =
        [passage("Alpha sentences speak of nothing at all. Beta sentences speak of something else entirely.")];
    let by_b =
        |sentences: &[&str]| Some(sentences.iter().map(|s| if s.starts_with("Beta") { 0.9 } else { 0.7 }).collect());
    assert_eq!(
        texts(&extract("gamma", &passages, Some(&by_b))),
        [(0, "Beta sentences speak of something else entirely.")]
    );
    let broken = |_: &[&str]| Some(vec![0.5]);
    assert!(!extract("alpha", &passages, Some(&broken)).is_empty(), "a wrong number of scores is ignored");
}

#[test]
fn nothing_is_said_twice_and_not_too_much() {
    let text = "The reflog keeps every position of a branch. ".repeat(3);
    let passages = [passage(&text), passage(&text)];
    assert_eq!(extract("reflog position", &passages, None).len(), 1);
    let many: String = (0..50).map(|i| format!("The reflog keeps position number {i} of a branch for you. ")).collect();
    let found = extract("reflog position", &[passage(&many)], None);
    let chars: usize = found.iter().map(|e| e.text.chars().count()).sum();
    assert!(found.len() <= MAX_SENTENCES && chars <= MAX_CHARS);
}

#[test]
fn segments_cite_each_passage_by_appearance() {
    let e = |passage, text: &str| Extracted { passage, text: text.into() };
    let segments = to_segments(&[e(2, "One two."), e(2, "Three."), e(0, "四五六。")]);
    assert_eq!(super::super::citations::to_text(&segments), "One two.[1] Three.[1]\n\n四五六。[2]");
    assert!(extract("q", &[], None).is_empty() && to_segments(&[]).is_empty());
    assert!(extract("q", &[passage("```\ncode only\n```")], None).is_empty());
}
