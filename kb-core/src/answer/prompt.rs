//! The messages that a language model gets.
//!
//! Passages and questions are data. Each passage stands between `<passage …>` and `</passage>`, and
//! nothing inside it can end it early: every `<` that could be read as one of these tags, or as a mark
//! that a model's own chat format uses, is replaced by a look-alike before it is put in. What a passage
//! asks for can still be read by the model, so the rules say that it is a quotation.

use super::passage::{MAX_PASSAGES, Passage};
use super::request::{Message, Role};
pub use super::template::{REFUSAL_EN, REFUSAL_ZH, Template, TemplateChange, TemplateChanges, Templates};
use crate::document::{Lang, lang::detect};
use crate::text::sentence_ends;
use serde::{Deserialize, Serialize};

/// Passages may fill this part of the window: a quarter.
const WINDOW_SHARE: u32 = 4;
/// The rest of a passage is not worth adding if fewer tokens than this are left.
const MIN_TOKENS: u32 = 40;
/// Longest question in characters; the rest of a longer one is left out.
const MAX_QUESTION_CHARS: usize = 2000;
/// How many turns of a conversation a follow-up question is rewritten with.
const MAX_TURNS: usize = 3;
/// Longest answer that is repeated then, in characters.
const MAX_TURN_CHARS: usize = 500;
/// Longest question that a rewriting may give, in characters.
const MAX_REWRITTEN_CHARS: usize = 300;

/// The language to answer in: Chinese for a question in Chinese, English for any other.
pub fn language(question: &str) -> Lang {
    if detect(question) == Lang::Zh { Lang::Zh } else { Lang::En }
}

/// A question with its passages, as messages.
#[derive(Debug, Clone, PartialEq)]
pub struct Prompt {
    /// What is sent.
    pub messages: Vec<Message>,
    /// The passages that are in it, numbered from 1 in this order; the last one may be cut.
    pub passages: Vec<Passage>,
    /// The sentence that says that nothing was found.
    pub refusal: String,
    /// How many tokens the messages take, estimated.
    pub estimated_tokens: u32,
}

/// The prompt for a question. As many of the passages as there is room for are in it: at most
/// [`MAX_PASSAGES`] and a quarter of the window of `num_ctx` tokens.
pub fn build(templates: &Templates, question: &str, passages: &[Passage], num_ctx: u32) -> Prompt {
    let template = templates.of(question);
    let mut left = num_ctx / WINDOW_SHARE;
    let mut kept: Vec<Passage> = Vec::new();
    let mut block = String::new();
    for passage in passages.iter().take(MAX_PASSAGES) {
        let head = fence(passage, kept.len() + 1);
        let room = left.saturating_sub(estimate_tokens(&head));
        let text = fitting(&passage.text, room);
        if text.is_empty() || (!kept.is_empty() && room < MIN_TOKENS && text.len() < passage.text.len()) {
            break;
        }
        let entry = format!("{head}\n{}\n</passage>", quoted(text));
        left = left.saturating_sub(estimate_tokens(&entry));
        if !block.is_empty() {
            block.push('\n');
        }
        block.push_str(&entry);
        kept.push(Passage { text: text.to_owned(), ..passage.clone() });
    }
    let question = quoted(head_chars(question.trim(), MAX_QUESTION_CHARS));
    let values = [("{passages}", block.as_str()), ("{question}", &question), ("{refusal}", &template.refusal)];
    let messages = vec![
        Message { role: Role::System, content: fill(&template.system, &values) },
        Message { role: Role::User, content: fill(&template.user, &values) },
    ];
    let estimated_tokens = messages.iter().map(|m| estimate_tokens(&m.content) + 4).sum();
    Prompt { messages, passages: kept, refusal: template.refusal.clone(), estimated_tokens }
}

/// A question and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Turn {
    /// What was asked.
    pub question: String,
    /// What was answered.
    pub answer: String,
}

/// The messages that ask a model to rewrite a follow-up question with the last turns before it.
pub fn rewrite(templates: &Templates, history: &[Turn], question: &str) -> Vec<Message> {
    let template = templates.of(question);
    let zh = language(question) == Lang::Zh;
    let (asked, answered, last) =
        if zh { ("问：", "答：", "最后一个问题：") } else { ("Q: ", "A: ", "Last question: ") };
    let mut content = String::new();
    for turn in &history[history.len().saturating_sub(MAX_TURNS)..] {
        for (name, text) in [(asked, &turn.question), (answered, &turn.answer)] {
            content.push_str(name);
            content.push_str(&quoted(head_chars(text.trim(), MAX_TURN_CHARS)));
            content.push('\n');
        }
    }
    content.push_str(last);
    content.push_str(&quoted(head_chars(question.trim(), MAX_QUESTION_CHARS)));
    vec![Message { role: Role::System, content: template.rewrite.clone() }, Message { role: Role::User, content }]
}

/// The question out of a reply to [`rewrite`]: its first line without quotation marks, or the question as
/// it was asked if the reply is of no use.
pub fn rewritten(reply: &str, question: &str) -> String {
    let line = reply.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or_default();
    let marks = ['"', '\'', '“', '”', '「', '」', '*', '`'];
    let line = line.trim_matches(|c: char| marks.contains(&c) || c.is_whitespace());
    let usable = !line.is_empty() && line.chars().count() <= MAX_REWRITTEN_CHARS;
    if usable { line.to_owned() } else { question.to_owned() }
}

/// About how many tokens a model makes of `text`: one for a character of a wide script, three for ten
/// others. Rather too many than too few.
pub fn estimate_tokens(text: &str) -> u32 {
    let tenths: u64 = text.chars().map(|c| if u32::from(c) >= 0x2e80 { 10 } else { 3 }).sum();
    u32::try_from(tenths.div_ceil(10)).unwrap_or(u32::MAX)
}

/// `text`, or as many of its sentences, else of its characters, as fit into `room` tokens.
fn fitting(text: &str, room: u32) -> &str {
    if estimate_tokens(text) <= room {
        return text;
    }
    let mut tenths = u64::from(room) * 10;
    let mut end = 0;
    for (at, c) in text.char_indices() {
        let cost = if u32::from(c) >= 0x2e80 { 10 } else { 3 };
        if cost > tenths {
            break;
        }
        tenths -= cost;
        end = at + c.len_utf8();
    }
    let cut = &text[..end];
    let sentence = sentence_ends(text).take_while(|e| *e <= end).last().into_iter();
    let line = cut.rfind('\n').into_iter();
    let whole = sentence.chain(line).max().filter(|e| *e > end / 2).unwrap_or(end);
    text[..whole].trim_end()
}

fn head_chars(text: &str, count: usize) -> &str {
    text.char_indices().nth(count).map_or(text, |(at, _)| &text[..at])
}

/// The opening tag of a passage.
fn fence(passage: &Passage, number: usize) -> String {
    let attribute = |text: &str| {
        let text = quoted(text);
        text.replace(['"', '\n', '\r', '\t'], " ").replace('<', "‹").replace('>', "›")
    };
    // `>` between headings becomes `›`, which reads as well.
    format!(
        "<passage n=\"{number}\" source=\"{}\" heading=\"{}\">",
        attribute(&passage.source()),
        attribute(&passage.heading())
    )
}

/// What may follow `<` and would then be read as more than text: our own fence, and the marks of models'
/// chat formats. In lower case, without white space.
const TAGS: [&str; 14] = [
    "passage",
    "/passage",
    "|",
    "｜",
    "s>",
    "/s>",
    "think>",
    "/think>",
    "start_of_turn",
    "end_of_turn",
    "bos>",
    "eos>",
    "start_header_id",
    "end_header_id",
];

/// `text` with every mark that could end a passage, or a message, replaced by a look-alike.
pub(crate) fn quoted(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for (at, c) in text.char_indices() {
        let rest = &text[at + c.len_utf8()..];
        match c {
            '<' | '＜' if begins_tag(rest) => out.push('‹'),
            '[' if begins(rest, "INST]") || begins(rest, "/INST]") => out.push('⁅'),
            '\0' => {}
            _ => out.push(c),
        }
    }
    out
}

/// Whether what follows a `<` makes it a tag. White space and case do not matter: a model reads
/// `< / PASSAGE >` as one too.
fn begins_tag(rest: &str) -> bool {
    let mut squeezed = String::new();
    for c in rest.chars().filter(|c| !c.is_whitespace() && !is_invisible(*c)).take(20) {
        squeezed.extend(c.to_lowercase());
    }
    TAGS.iter().any(|tag| squeezed.starts_with(tag))
}

fn begins(rest: &str, word: &str) -> bool {
    rest.get(..word.len()).is_some_and(|r| r.eq_ignore_ascii_case(word))
}

/// Characters that nobody sees and that could hide a tag.
fn is_invisible(c: char) -> bool {
    matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{feff}') || c.is_control()
}

/// Replaces every name by its value in one pass, so that a value is never searched for names.
fn fill(template: &str, values: &[(&str, &str)]) -> String {
    let mut out = String::with_capacity(template.len());
    let mut rest = template;
    'next: while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        for (name, value) in values {
            if let Some(after) = rest.strip_prefix(name) {
                out.push_str(value);
                rest = after;
                continue 'next;
            }
        }
        out.push('{');
        rest = &rest[1..];
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
#[path = "prompt_tests.rs"]
mod tests;
