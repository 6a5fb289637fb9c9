//! Chinese words that make a sentence a question. They have no spaces around them, so they are taken out
//! before the question is cut into bigrams: 如何使用 asks for 使用, not for 如何, 何使, 使用.

use std::borrow::Cow;

/// Question words, longer ones before those that they begin with.
const WORDS: [&str; 49] = [
    "为什么要",
    "为什么会",
    "为什么",
    "为何",
    "為什麼",
    "為何",
    "是什么样",
    "是什么",
    "是什麼",
    "是不是",
    "是否",
    "什么样",
    "什么",
    "什麼樣",
    "什麼",
    "怎么样",
    "怎么办",
    "怎么",
    "怎麼樣",
    "怎麼辦",
    "怎麼",
    "怎样",
    "怎樣",
    "该如何",
    "該如何",
    "如何",
    "有什么",
    "有什麼",
    "有哪些",
    "有没有",
    "有沒有",
    "哪些",
    "哪个",
    "哪個",
    "哪里",
    "哪裡",
    "哪儿",
    "哪种",
    "哪種",
    "请问",
    "請問",
    "能否",
    "能不能",
    "可否",
    "可不可以",
    "多少",
    "吗",
    "嗎",
    "呢",
];

/// A bigram with one of these counts half: they are in every sentence, and what they say depends on their
/// neighbour (目的, 的目).
const FUNCTION_CHARACTERS: [char; 10] = ['的', '了', '是', '在', '有', '和', '与', '與', '及', '之'];

/// `text` with a space for every question word; particles only at the end of a sentence.
pub(super) fn without_question_words(text: &str) -> Cow<'_, str> {
    let mut out: Option<String> = None;
    // Where the part begins that has not been copied yet.
    let mut copied = 0;
    let mut at = 0;
    while let Some(c) = text[at..].chars().next() {
        let rest = &text[at..];
        match WORDS.iter().find(|w| rest.starts_with(**w) && (w.chars().count() > 1 || ends_sentence(&rest[w.len()..])))
        {
            Some(word) => {
                let out = out.get_or_insert_default();
                out.push_str(&text[copied..at]);
                out.push(' ');
                at += word.len();
                copied = at;
            }
            None => at += c.len_utf8(),
        }
    }
    match out {
        Some(mut out) => {
            out.push_str(&text[copied..]);
            Cow::Owned(out)
        }
        None => Cow::Borrowed(text),
    }
}

fn ends_sentence(rest: &str) -> bool {
    rest.chars().next().is_none_or(|c| !c.is_alphanumeric())
}

/// How much a term counts because of the characters in it: 1, or half for a bigram with a function
/// character.
pub(super) fn weight_of(term: &str) -> f32 {
    let is_bigram = term.chars().count() == 2;
    if is_bigram && term.contains(FUNCTION_CHARACTERS) { 0.5 } else { 1.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn question_words_go() {
        for (question, left) in [
            ("如何使用字符串？", " 使用字符串？"),
            ("逗号运算符的优先级是什么？", "逗号运算符的优先级 ？"),
            ("为什么会死锁呢？", " 死锁 ？"),
            ("請問什麼是圖", "  是圖"),
            ("吗啡的结构", "吗啡的结构"),
            ("plain words", "plain words"),
            ("", ""),
        ] {
            assert_eq!(without_question_words(question), left);
        }
    }

    #[test]
    fn longer_words_come_before_those_that_they_begin_with() {
        for (i, word) in WORDS.iter().enumerate() {
            assert!(WORDS[..i].iter().all(|earlier| !word.starts_with(earlier)), "{word}");
        }
    }
}
