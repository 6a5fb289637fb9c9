//! The third module, what it computes: whether there is anything to say, prompts, the answer without a
//! model, and how far an answer is backed. Nothing here sends anything.

use crate::error::{JsResult, bad_argument, to_js};
use crate::utf16::Utf16Cursor;
use kb_core::answer::citations::{Segment, to_text};
use kb_core::answer::extract::{Scorer, extract, to_segments};
use kb_core::answer::prompt::{self, TemplateChanges, Templates, Turn};
use kb_core::answer::relevance::{Calibration, Evidence, STRANGE, judge, names};
use kb_core::answer::request::{Message, Provider};
use kb_core::answer::support::{self, Verdict};
use kb_core::answer::{AnswerLimits, MAX_PASSAGES, Passage};
use kb_core::refine::listwise::{self, Candidate};
use kb_core::refine::merge::merge;
use kb_core::refine::reading::{self, Reading};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// What makes an answer of passages.
#[wasm_bindgen]
#[derive(Default)]
pub struct Answer {
    templates: Templates,
}

/// A kind of language model that can be asked.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "ProviderInfo"))]
pub(crate) struct ProviderDto {
    /// For `ChatSettings.provider`.
    #[cfg_attr(test, schemars(with = "Provider"))]
    name: &'static str,
    /// Where it is unless the reader says otherwise; empty if it has to be said.
    base_url: &'static str,
}

/// Whether a knowledge base has anything to say about a question.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Relevance"))]
pub(crate) struct RelevanceDto {
    /// 0 to 1.
    score: f32,
    /// Whether to go on. If not, no model is called.
    relevant: bool,
}

/// What a language model is asked.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Prompt"))]
pub(crate) struct PromptDto<'a> {
    /// To send.
    messages: &'a [Message],
    /// The passages that had room, numbered from 1 in this order; the last may be cut.
    passages: &'a [Passage],
    /// The sentence that says that nothing was found.
    refusal: &'a str,
    /// How long the messages are.
    estimated_tokens: u32,
}

/// How far a sentence of an answer is backed by what it cites.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "SentenceSupport"))]
pub(crate) struct SentenceDto {
    /// First UTF-16 unit, in the answer without citations.
    start: u32,
    /// One past its last unit.
    end: u32,
    /// What is to be thought of it.
    verdict: Verdict,
}

/// A sentence whose words do not say whether a passage backs it.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Doubt"))]
pub(crate) struct DoubtDto {
    /// Its text.
    sentence: String,
    /// Index of a passage that it cites.
    passage: usize,
}

/// An answer that was compared with its passages.
#[derive(Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema), schemars(rename = "Checked"))]
pub(crate) struct CheckedDto {
    /// Every sentence of it, in order.
    sentences: Vec<SentenceDto>,
    /// The smaller of the search's relevance and the share of the answer that is backed, 0 to 1.
    confidence: f32,
    /// Whether the answer says that nothing was found.
    refused: bool,
}

#[wasm_bindgen]
impl Answer {
    /// With the templates that come with the program and the changes of the knowledge base's author.
    ///
    /// # Errors
    /// Throws a `KbError` for changes of the wrong shape, or that leave out a place or are too long.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_optional_param_type = "TemplateChanges")] changes: JsValue,
    ) -> JsResult<Answer> {
        if changes.is_undefined() || changes.is_null() {
            return Ok(Self::default());
        }
        let changes: TemplateChanges = read("the templates", changes)?;
        Ok(Self { templates: Templates::default().with(&changes).map_err(to_js)? })
    }

    /// The kinds of service that can be asked.
    ///
    /// # Errors
    /// None; the type comes from the serialiser.
    #[wasm_bindgen(unchecked_return_type = "ProviderInfo[]")]
    pub fn providers(&self) -> JsResult<JsValue> {
        let all = Provider::ALL;
        serialise(&all.map(|p| ProviderDto { name: p.name(), base_url: p.default_base_url().unwrap_or_default() }))
    }

    /// Most passages that a prompt holds.
    #[wasm_bindgen(getter, js_name = maxPassages)]
    pub fn max_passages(&self) -> usize {
        MAX_PASSAGES
    }

    /// The names in a question. One is strange if a search by words for it alone says `unknown` of at least `strangeFrom`.
    pub fn names(&self, question: &str) -> Vec<String> {
        names(question)
    }

    /// See `names`.
    #[wasm_bindgen(getter, js_name = strangeFrom)]
    pub fn strange_from(&self) -> f32 {
        STRANGE
    }

    /// Judges what a search found: cosine and language of each hit that has a cosine (none for a search by words),
    /// the response's `coverage` and `unknown`, whether one of the `names` is strange, whether there was a hit at all, and the name of the model behind
    /// the cosines.
    ///
    /// # Errors
    /// None; the type comes from the serialiser.
    #[wasm_bindgen(unchecked_return_type = "Relevance")]
    #[allow(clippy::too_many_arguments, reason = "plain values cross the border without a type of their own")]
    pub fn judge(
        &self,
        question: &str,
        cosines: Vec<f32>,
        langs: Vec<String>,
        coverage: f32,
        unknown: f32,
        strange: bool,
        #[wasm_bindgen(js_name = foundAny)] found_any: bool,
        model: Option<String>,
    ) -> JsResult<JsValue> {
        let near = Evidence::near(question, cosines.into_iter().zip(langs.iter().map(String::as_str)));
        let relevance = judge(Evidence { coverage, unknown, strange, ..near }, found_any, model.as_deref());
        serialise(&RelevanceDto { score: relevance.score, relevant: relevance.relevant })
    }

    /// The sentence that says, in the question's language, that nothing was found.
    pub fn refusal(&self, question: &str) -> String {
        self.templates.of(question).refusal.clone()
    }

    /// The prompt for a question, with as many of the passages as there is room for in a window of `numCtx`
    /// tokens.
    ///
    /// # Errors
    /// Throws a `KbError` for passages of the wrong shape.
    #[wasm_bindgen(unchecked_return_type = "Prompt")]
    pub fn prompt(
        &self,
        question: &str,
        #[wasm_bindgen(unchecked_param_type = "Passage[]")] passages: JsValue,
        #[wasm_bindgen(js_name = numCtx)] num_ctx: u32,
    ) -> JsResult<JsValue> {
        let passages: Vec<Passage> = read("the passages", passages)?;
        let prompt = prompt::build(&self.templates, question, &passages, num_ctx);
        serialise(&PromptDto {
            messages: &prompt.messages,
            passages: &prompt.passages,
            refusal: &prompt.refusal,
            estimated_tokens: prompt.estimated_tokens,
        })
    }

    /// The messages that ask a model to put what is missing into a follow-up question.
    ///
    /// # Errors
    /// Throws a `KbError` for turns of the wrong shape.
    #[wasm_bindgen(unchecked_return_type = "Message[]")]
    pub fn rewrite(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Turn[]")] history: JsValue,
        question: &str,
    ) -> JsResult<JsValue> {
        let history: Vec<Turn> = read("the conversation", history)?;
        serialise(&prompt::rewrite(&self.templates, &history, question))
    }

    /// The question out of a reply to `rewrite`, or the question as it was if the reply is of no use.
    pub fn rewritten(&self, reply: &str, question: &str) -> String {
        prompt::rewritten(reply, question)
    }

    /// The messages that ask a model to read a question before it is looked up.
    ///
    /// # Errors
    /// None; the type comes from the serialiser.
    #[wasm_bindgen(unchecked_return_type = "Message[]")]
    pub fn reading(&self, question: &str) -> JsResult<JsValue> {
        serialise(&reading::messages(question))
    }

    /// What is to be looked up beside the question by a reply to `reading`: other words for it and its parts. Nothing if
    /// the reply is of no use.
    pub fn lookups(&self, reply: &str, question: &str) -> Vec<String> {
        reading::reading(reply, question).iter().flat_map(Reading::lookups).map(str::to_owned).collect()
    }

    /// The messages that ask a model to put passages in order, the best first. They get half of a window of `numCtx`
    /// tokens.
    ///
    /// # Errors
    /// Throws a `KbError` for passages of the wrong shape.
    #[wasm_bindgen(unchecked_return_type = "Message[]")]
    pub fn ranking(
        &self,
        question: &str,
        #[wasm_bindgen(unchecked_param_type = "Passage[]")] passages: JsValue,
        #[wasm_bindgen(js_name = numCtx)] num_ctx: u32,
    ) -> JsResult<JsValue> {
        let passages: Vec<Passage> = read("the passages", passages)?;
        let headings: Vec<String> = passages.iter().map(Passage::heading).collect();
        let candidates: Vec<Candidate> =
            passages.iter().zip(&headings).map(|(p, heading)| Candidate { heading, text: &p.text }).collect();
        serialise(&listwise::messages(question, &candidates, num_ctx))
    }

    /// The order in a reply to `ranking` of `count` passages: all their indices, the best first. Nothing if the reply
    /// is of no use.
    pub fn order(&self, reply: &str, count: u32) -> Option<Vec<u32>> {
        let order = listwise::order(reply, count as usize)?;
        Some(order.into_iter().filter_map(|i| u32::try_from(i).ok()).collect())
    }

    /// Lists of numbers, best first, in one order by their reciprocal ranks.
    ///
    /// # Errors
    /// Throws a `KbError` for lists of the wrong shape.
    pub fn merged(&self, #[wasm_bindgen(unchecked_param_type = "number[][]")] lists: JsValue) -> JsResult<Vec<u32>> {
        let lists: Vec<Vec<u32>> = read("the lists", lists)?;
        Ok(merge(&lists).into_iter().map(|merged| merged.item).collect())
    }

    /// The passages that an answer may rest on by the limits of the knowledge base's author.
    ///
    /// # Errors
    /// Throws a `KbError` for passages or limits of the wrong shape.
    #[wasm_bindgen(unchecked_return_type = "Passage[]")]
    pub fn within(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Passage[]")] passages: JsValue,
        #[wasm_bindgen(unchecked_param_type = "AnswerLimits")] limits: JsValue,
    ) -> JsResult<JsValue> {
        let (passages, limits): (Vec<Passage>, AnswerLimits) =
            (read("the passages", passages)?, read("the limits", limits)?);
        serialise(&limits.of(&passages))
    }

    /// The sentences of the passages that `extract` compares with the question, in its order.
    ///
    /// # Errors
    /// Throws a `KbError` for passages of the wrong shape.
    pub fn candidates(
        &self,
        question: &str,
        #[wasm_bindgen(unchecked_param_type = "Passage[]")] passages: JsValue,
    ) -> JsResult<Vec<String>> {
        let passages: Vec<Passage> = read("the passages", passages)?;
        let seen: RefCell<Vec<String>> = RefCell::default();
        let collect = |sentences: &[&str]| {
            *seen.borrow_mut() = sentences.iter().map(|s| (*s).to_owned()).collect();
            None
        };
        extract(question, &passages, Some(&collect));
        Ok(seen.into_inner())
    }

    /// The answer without a model: the passages' own sentences, each with its citation. `cosines` are those of
    /// `candidates`, where there is an encoder.
    ///
    /// # Errors
    /// Throws a `KbError` for passages of the wrong shape.
    #[wasm_bindgen(unchecked_return_type = "Segment[]")]
    pub fn extract(
        &self,
        question: &str,
        #[wasm_bindgen(unchecked_param_type = "Passage[]")] passages: JsValue,
        cosines: Option<Vec<f32>>,
    ) -> JsResult<JsValue> {
        let passages: Vec<Passage> = read("the passages", passages)?;
        let by_meaning = |_: &[&str]| cosines.clone();
        let scorer: Option<Scorer<'_>> = if cosines.is_some() { Some(&by_meaning) } else { None };
        serialise(&to_segments(&extract(question, &passages, scorer)))
    }

    /// The sentences of an answer that need their meaning compared with a passage that they cite, since their
    /// words do not suffice: for `check`.
    ///
    /// # Errors
    /// Throws a `KbError` for segments or passages of the wrong shape.
    #[wasm_bindgen(unchecked_return_type = "Doubt[]")]
    pub fn doubts(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Segment[]")] segments: JsValue,
        #[wasm_bindgen(unchecked_param_type = "Passage[]")] passages: JsValue,
        refusal: &str,
    ) -> JsResult<JsValue> {
        let segments: Vec<Segment> = read("the answer", segments)?;
        let passages: Vec<Passage> = read("the passages", passages)?;
        let seen: RefCell<Vec<DoubtDto>> = RefCell::default();
        let collect = |sentence: &str, passage: usize| {
            seen.borrow_mut().push(DoubtDto { sentence: sentence.trim().to_owned(), passage });
            None
        };
        support::check(&segments, &passages, refusal, Some(&collect));
        serialise(&seen.into_inner())
    }

    /// How far each sentence of an answer is backed by the passages that it cites: by their words, and for those
    /// of `doubts`, in its order, by the cosines of sentence and passage under the named model. Fewer cosines than
    /// doubts, or none, leave the rest to the words.
    ///
    /// # Errors
    /// Throws a `KbError` for segments or passages of the wrong shape.
    #[wasm_bindgen(unchecked_return_type = "Checked")]
    pub fn check(
        &self,
        #[wasm_bindgen(unchecked_param_type = "Segment[]")] segments: JsValue,
        #[wasm_bindgen(unchecked_param_type = "Passage[]")] passages: JsValue,
        refusal: &str,
        relevance: f32,
        cosines: Vec<f32>,
        model: Option<String>,
    ) -> JsResult<JsValue> {
        let segments: Vec<Segment> = read("the answer", segments)?;
        let passages: Vec<Passage> = read("the passages", passages)?;
        let near = Calibration::of(model.as_deref()).near;
        let next = RefCell::new(cosines.into_iter());
        let similar = |_: &str, _: usize| Some(next.borrow_mut().next()? >= near?);
        let checked = support::check(&segments, &passages, refusal, Some(&similar));
        let text: String =
            segments.iter().map(|s| if let Segment::Text { text } = s { text.as_str() } else { "" }).collect();
        let mut cursor = Utf16Cursor::new(&text);
        let sentences = checked.iter().map(|sentence| {
            let span = cursor.span(&sentence.span_bytes);
            SentenceDto { start: span.start, end: span.end, verdict: sentence.verdict }
        });
        serialise(&CheckedDto {
            sentences: sentences.collect(),
            confidence: support::confidence(relevance, &checked),
            refused: support::is_refusal(&to_text(&segments), refusal),
        })
    }
}

pub(crate) fn serialise(value: &(impl Serialize + ?Sized)) -> JsResult<JsValue> {
    // Only maps with odd keys or numbers beyond 2^53 can fail, and there are none.
    Ok(serde_wasm_bindgen::to_value(value)?)
}

pub(crate) fn read<T: DeserializeOwned>(what: &str, value: JsValue) -> JsResult<T> {
    serde_wasm_bindgen::from_value(value).map_err(|e| bad_argument(what, e))
}
