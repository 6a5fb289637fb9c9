use super::*;
use crate::answer::citations::segments;

fn passage(text: &str) -> Passage {
    Passage { path: "a.md".into(), title: "Undo".into(), text: text.into(), ..Passage::default() }
}

const REFUSAL: &str = "知识库中没有找到相关信息。";

fn verdicts(answer: &str, passages: &[Passage]) -> Vec<Verdict> {
    check(&segments(answer, passages), passages, REFUSAL, None).into_iter().map(|s| s.verdict).collect()
}

fn git() -> Vec<Passage> {
    vec![
        passage("The reflog keeps every position that your branches had for thirty days."),
        passage("A tag marks a release. Tags are not sent along by an ordinary push."),
    ]
}

#[test]
fn a_citation_belongs_to_the_sentence_before_it() {
    let answer =
        "The reflog keeps every position of branches.[1] Tags are not sent by a push [2].\n- Tags mark a release [2]";
    let sentences = check(&segments(answer, &git()), &git(), REFUSAL, None);
    let cited: Vec<&[usize]> = sentences.iter().map(|s| s.passages.as_slice()).collect();
    assert_eq!(cited, [&[0][..], &[1], &[1]]);
    assert!(sentences.iter().all(|s| s.verdict == Verdict::Supported), "{sentences:?}");

    let zh = vec![passage("图由点和边组成。"), passage("最短路可以用 Dijkstra 算法求出。")];
    let sentences = check(&segments("图由点和边组成。[1]最短路用 Dijkstra 算法。[2]", &zh), &zh, REFUSAL, None);
    let cited: Vec<&[usize]> = sentences.iter().map(|s| s.passages.as_slice()).collect();
    assert_eq!(cited, [&[0][..], &[1]]);
    let at_front =
        check(&segments("[2] Tags mark a release.\n[1] The reflog keeps positions.", &git()), &git(), REFUSAL, None);
    assert_eq!((&at_front[0].passages, &at_front[1].passages), (&vec![1], &vec![0]));
}

#[test]
fn sentences_without_backing_are_told() {
    let answer = "# Undo\n\nThe reflog keeps positions for thirty days [1]. Bananas ripen faster beside tomatoes [1]. \
                  Everything else depends on weather. Which one?\n\n```\nreset [1]\n```\n";
    use Verdict::*;
    assert_eq!(verdicts(answer, &git()), [NoClaim, Supported, Weak, Uncited, NoClaim, NoClaim]);
    assert_eq!(verdicts("引用日志保留三十天的位置 [1]。", &git()), [Unknown], "another language");
    assert_eq!(verdicts(REFUSAL, &git()), [NoClaim]);
}

#[test]
fn meaning_can_back_what_words_do_not() {
    let answer = segments("引用日志保留三十天的位置 [1]。", &git());
    let near = |_: &str, passage: usize| Some(passage == 0);
    assert_eq!(check(&answer, &git(), REFUSAL, Some(&near))[0].verdict, Verdict::Supported);
    let far = |_: &str, _: usize| Some(false);
    assert_eq!(check(&answer, &git(), REFUSAL, Some(&far))[0].verdict, Verdict::Weak);
}

/// By hand: four of four terms found, none of four, uncited. Lengths 40, 40 and 20 bytes would give
/// (40 · 1 + 40 · 0 + 20 · 0) / 100.
#[test]
fn confidence_is_the_lesser_of_fit_and_backing() {
    let sentence =
        |length: usize, support: f32, verdict| Sentence { span_bytes: 0..length, passages: vec![], support, verdict };
    let sentences = [
        sentence(40, 1.0, Verdict::Supported),
        sentence(40, 0.0, Verdict::Weak),
        sentence(20, 0.0, Verdict::Uncited),
        sentence(500, 0.0, Verdict::NoClaim),
    ];
    assert_eq!(backing(&sentences), 0.4);
    assert_eq!(confidence(0.9, &sentences), 0.4);
    assert_eq!(confidence(0.25, &sentences), 0.25);
    assert_eq!(backing(&[sentence(7, 0.0, Verdict::Unknown)]), 0.5);
    assert_eq!(confidence(1.0, &[]), 0.0);
}

#[test]
fn refusals_are_recognised() {
    for text in [REFUSAL, " 知识库中没有找到相关信息 [1]", "“知识库中没有找到相关信息”。\n"]
    {
        assert!(is_refusal(text, REFUSAL), "{text}");
    }
    let long = format!("{REFUSAL}不过根据段落，Dijkstra 算法每次取出距离最小的点，并松弛它的出边。");
    assert!(!is_refusal(&long, REFUSAL) && !is_refusal("", REFUSAL) && !is_refusal("x", ""));
}
