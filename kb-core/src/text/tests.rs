//! What the tokeniser makes of real input. Expectations are written by hand from the rules in the
//! module's documentation.

use super::*;
use proptest::prelude::*;

fn terms(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    tokenize(text, |t| out.push(t.term.to_owned()));
    out
}

fn terms_of_kind(text: &str, kind: TokenKind) -> Vec<String> {
    let mut out = Vec::new();
    tokenize(text, |t| {
        if t.kind == kind {
            out.push(t.term.to_owned());
        }
    });
    out
}

#[test]
fn english_words_are_folded_and_stemmed() {
    assert_eq!(terms("Running the SHORTEST paths!"), ["run", "the", "shortest", "path"]);
    assert_eq!(terms("naïve cafés"), ["naiv", "cafe"]);
    assert_eq!(terms("don't the author’s we're"), ["don", "the", "author", "we"]);
}

#[test]
fn identifiers_come_whole_and_in_parts() {
    assert_eq!(terms("np.linalg.norm"), ["np.linalg.norm", "np", "linalg", "norm"]);
    assert_eq!(terms("useEffect"), ["useeffect", "use", "effect"]);
    assert_eq!(terms("use_effect"), ["useeffect", "use", "effect"]);
    assert_eq!(terms("HTTPServer"), ["httpserver", "http", "server"]);
    assert_eq!(terms("--no-deps"), ["nodep", "no", "dep"]);
    assert_eq!(terms("std::sync::Arc"), ["std::sync::arc", "std", "sync", "arc"]);
    assert_eq!(terms("float32"), ["float32", "float", "32"]);
    assert_eq!(terms("src/main.rs"), ["src", "main.rs", "main", "rs"]);
}

#[test]
fn codes_numbers_and_languages_stay_whole() {
    assert_eq!(terms("0x80070005"), ["0x80070005"]);
    assert_eq!(terms("error[E0382]: moved"), ["error", "e0382", "move"]);
    assert_eq!(terms("3.14, v1.2.3."), ["3.14", "v1.2.3", "v1", "2", "3"]);
    assert_eq!(terms("C++ and C# or F#."), ["c++", "and", "c#", "or", "f#"]);
    assert_eq!(terms("g++ i++"), ["g++", "i++"]);
    assert_eq!(terms("# C"), ["c"]);
}

#[test]
fn chinese_gives_bigrams_and_single_characters() {
    assert_eq!(terms_of_kind("最短路", TokenKind::Bigram), ["最短", "短路"]);
    assert_eq!(terms_of_kind("最短路", TokenKind::Unigram), ["最", "短"]);
    assert_eq!(terms_of_kind("最短路", TokenKind::Final), ["路"]);
    assert_eq!(terms("图"), ["图"]);
    assert_eq!(terms("用React写"), ["用", "react", "写"]);
    assert_eq!(terms_of_kind("你好，世界", TokenKind::Bigram), ["你好", "世界"]);
    assert_eq!(terms_of_kind("プログラム", TokenKind::Bigram), ["プロ", "ログ", "グラ", "ラム"]);
    assert_eq!(terms_of_kind("한국어", TokenKind::Bigram), ["한국", "국어"]);
}

#[test]
fn spans_are_those_of_the_given_text() {
    let text = "Ｆｏｏ 最短 cafe\u{301}s";
    let mut spans = Vec::new();
    tokenize(text, |t| spans.push((t.term.to_owned(), text[t.span_bytes].to_owned())));
    let expected = [("foo", "Ｆｏｏ"), ("最", "最"), ("最短", "最短"), ("短", "短"), ("cafe", "cafe\u{301}s")];
    assert_eq!(spans, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
}

#[test]
fn questions_keep_what_they_are_about() {
    let asked: Vec<_> = query_terms("How to find the shortest path in the graph").into_iter().map(|t| t.term).collect();
    assert_eq!(asked, ["find", "shortest", "path", "graph"]);
    let only_stop: Vec<_> = query_terms("to be or not to be").into_iter().map(|t| (t.term, t.weight)).collect();
    assert_eq!(only_stop, [("to", 2.0), ("be", 2.0), ("or", 1.0), ("not", 1.0)].map(|(t, w)| (t.to_owned(), w)));
    let zh: Vec<_> = query_terms("变量的作用域是什么？").into_iter().map(|t| (t.term, t.weight)).collect();
    let expected = [("变量", 1.0), ("量的", 0.5), ("的作", 0.5), ("作用", 1.0), ("用域", 1.0)];
    assert_eq!(zh, expected.map(|(t, w)| (t.to_owned(), w)));
    let only_question: Vec<_> = query_terms("为什么？").into_iter().map(|t| t.term).collect();
    assert_eq!(only_question, ["为什", "什么"]);
    let zh: Vec<_> = query_terms("图").into_iter().map(|t| t.term).collect();
    assert_eq!(zh, ["图"]);
}

#[test]
fn a_paste_of_a_hundred_thousand_characters_takes_linear_work() {
    // Linear work shows as a bounded number of tokens for every character, whatever the input is.
    for piece in ["最", "a", "A", "a.", "'", "_a", "a-", "9", "É", "::a", "\u{301}", "aB1"] {
        let text = piece.repeat(100_000 / piece.chars().count());
        let mut tokens = 0_usize;
        tokenize(&text, |t| {
            tokens += 1;
            assert!(t.term.len() <= MAX_TERM_BYTES);
        });
        assert!(tokens <= 2 * text.len(), "{piece}: {tokens}");
    }
}

proptest! {
    #[test]
    fn any_text_gives_sound_tokens(text in "(\\PC|[a-zA-Z0-9_.:'+#-]|[一-龥]|\u{301}|\n){0,200}") {
        let mut last_end = 0;
        tokenize(&text, |t| {
            assert!(!t.term.is_empty() && t.term.len() <= MAX_TERM_BYTES);
            assert!(text.get(t.span_bytes.clone()).is_some_and(|s| !s.is_empty()), "{:?}", t.span_bytes);
            if !matches!(t.kind, TokenKind::Part) {
                assert!(t.span_bytes.end >= last_end);
                last_end = t.span_bytes.end;
            }
        });
    }

    /// Build and query sides agree: a word of a text finds itself.
    #[test]
    fn a_term_of_the_text_is_a_term_of_its_own_span(text in "([a-zA-Z_.-]|[一-龥]| ){0,60}") {
        tokenize(&text, |t| {
            if t.kind == TokenKind::Word || t.kind == TokenKind::Bigram {
                assert!(terms(&text[t.span_bytes.clone()]).iter().any(|again| again == t.term));
            }
        });
    }
}
