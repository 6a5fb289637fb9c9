//! The third module: what a page needs to have a language model answer, except for the network.

use crate::answer_dto::{
    ChatRequestDto, ChatSettingsDto, CheckDto, EventDto, FailureDto, FoundDto, PromptDto, RelevanceDto, SentenceDto,
};
use crate::error::{JsResult, bad_argument, to_js};
use crate::utf16::Utf16Cursor;
use kb_core::answer::Passage;
use kb_core::answer::citations::{CitationStream, Segment, join, to_text};
use kb_core::answer::extract;
use kb_core::answer::prompt::{self, Templates, Turn};
use kb_core::answer::relevance::{Evidence, judge};
use kb_core::answer::request::{self, ChatOptions, Endpoint, Message, Protocol, Provider};
use kb_core::answer::stream::{self, Event, StreamParser};
use kb_core::answer::support;
use kb_core::document::Lang;
use kb_core::search::Mode;
use kb_core::{Error, ErrorKind};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;
use wasm_bindgen::prelude::{JsValue, wasm_bindgen};

/// A reply of a language model, read while it arrives.
#[wasm_bindgen]
pub struct AnswerStream {
    passages: Vec<Passage>,
    lang: Lang,
    parser: StreamParser,
    citations: CitationStream,
    segments: Vec<Segment>,
}

#[wasm_bindgen]
impl AnswerStream {
    /// A reply with status 200 of this provider to a prompt with these passages. `language` is that of
    /// messages about failures.
    ///
    /// # Errors
    /// Throws a `KbError`: `kb::invalid_input`.
    #[wasm_bindgen(constructor)]
    pub fn new(
        #[wasm_bindgen(unchecked_param_type = "Provider")] provider: &str,
        #[wasm_bindgen(unchecked_param_type = "Passage[]")] passages: JsValue,
        language: &str,
    ) -> JsResult<AnswerStream> {
        let passages: Vec<Passage> = read("the passages", passages)?;
        Ok(Self {
            parser: StreamParser::new(protocol(provider)?),
            citations: CitationStream::new(&passages),
            lang: lang(language),
            segments: Vec::new(),
            passages,
        })
    }

    /// Takes the next bytes.
    ///
    /// # Errors
    /// None; the type comes from the serialiser.
    #[wasm_bindgen(unchecked_return_type = "AnswerEvent[]")]
    pub fn push(&mut self, bytes: &[u8]) -> JsResult<JsValue> {
        let mut events = Vec::new();
        self.parser.push(bytes, &mut events);
        self.pass_on(events)
    }

    /// The connection has ended.
    ///
    /// # Errors
    /// None; the type comes from the serialiser.
    #[wasm_bindgen(unchecked_return_type = "AnswerEvent[]")]
    pub fn finish(&mut self) -> JsResult<JsValue> {
        let mut events = Vec::new();
        self.parser.finish(&mut events);
        self.pass_on(events)
    }

    /// Whether the server has said that the reply is complete: a stall after that is no failure, call
    /// `finish`.
    #[wasm_bindgen(getter)]
    pub fn complete(&self) -> bool {
        self.parser.is_complete()
    }

    /// Whether the reply is over, well or badly.
    #[wasm_bindgen(getter)]
    pub fn over(&self) -> bool {
        self.parser.is_over()
    }

    /// Compares the answer so far with what it cites.
    ///
    /// # Errors
    /// None; the type comes from the serialiser.
    #[wasm_bindgen(unchecked_return_type = "AnswerCheck")]
    pub fn check(&self, refusal: &str, relevance: f32) -> JsResult<JsValue> {
        let segments = join(self.segments.clone());
        let plain: String = segments.iter().filter_map(text_of).collect();
        let refused = support::is_refusal(&plain, refusal);
        let sentences = support::check(&segments, &self.passages, refusal, None);
        let confidence = if refused { 0.0 } else { support::confidence(relevance, &sentences) };
        let mut cursor = Utf16Cursor::new(&plain);
        serialise(&CheckDto {
            sentences: sentences.into_iter().map(|s| SentenceDto::new(s, &mut cursor)).collect(),
            confidence,
            refused,
            unresolved: self.citations.unresolved(),
            order: self.citations.order(),
            text: to_text(&segments),
        })
    }
}

impl AnswerStream {
    fn pass_on(&mut self, events: Vec<Event>) -> JsResult<JsValue> {
        let mut out = Vec::new();
        for event in events {
            let from = self.segments.len();
            match &event {
                Event::Text(text) => self.citations.push(text, &mut self.segments),
                Event::TextWasReasoning => {
                    self.citations = CitationStream::new(&self.passages);
                    self.segments.clear();
                }
                Event::Error(_) | Event::End(_) => self.citations.finish(&mut self.segments),
                Event::Reasoning(_) | Event::Usage(_) => {}
            }
            out.extend(self.segments.get(from..).unwrap_or_default().iter().map(EventDto::segment));
            if !matches!(event, Event::Text(_)) {
                out.push(EventDto::event(event, self.lang));
            }
        }
        serialise(&out)
    }
}

/// The messages for a question and its passages, best first.
///
/// # Errors
/// Throws a `KbError`: `kb::invalid_input`.
#[wasm_bindgen(js_name = buildPrompt, unchecked_return_type = "Prompt")]
pub fn build_prompt(
    question: &str,
    #[wasm_bindgen(unchecked_param_type = "Passage[]")] passages: JsValue,
    #[wasm_bindgen(js_name = numCtx)] num_ctx: Option<u32>,
) -> JsResult<JsValue> {
    let passages: Vec<Passage> = read("the passages", passages)?;
    let num_ctx = num_ctx.unwrap_or(ChatOptions::default().num_ctx);
    let prompt = prompt::build(&Templates::default(), question, &passages, num_ctx);
    serialise(&PromptDto {
        messages: &prompt.messages,
        passages: &prompt.passages,
        refusal: &prompt.refusal,
        estimated_tokens: prompt.estimated_tokens,
        language: prompt::language(question).code(),
    })
}

/// The messages that ask for a follow-up question to be rewritten with the turns before it.
///
/// # Errors
/// Throws a `KbError`: `kb::invalid_input`.
#[wasm_bindgen(js_name = rewriteMessages, unchecked_return_type = "ChatMessage[]")]
pub fn rewrite_messages(
    #[wasm_bindgen(unchecked_param_type = "Turn[]")] history: JsValue,
    question: &str,
) -> JsResult<JsValue> {
    let history: Vec<Turn> = read("the history", history)?;
    serialise(&prompt::rewrite(&Templates::default(), &history, question))
}

/// The question out of the reply to `rewriteMessages`.
#[wasm_bindgen]
pub fn rewritten(reply: &str, question: &str) -> String {
    prompt::rewritten(reply, question)
}

/// Where to send a chat, and what.
///
/// # Errors
/// Throws a `KbError`: `kb::invalid_input` for an address that cannot be used.
#[wasm_bindgen(js_name = chatRequest, unchecked_return_type = "ChatRequest")]
pub fn chat_request(
    #[wasm_bindgen(unchecked_param_type = "Provider")] provider: &str,
    #[wasm_bindgen(js_name = baseUrl)] base_url: Option<String>,
    #[wasm_bindgen(unchecked_param_type = "ChatSettings")] settings: JsValue,
    #[wasm_bindgen(unchecked_param_type = "ChatMessage[]")] messages: JsValue,
) -> JsResult<JsValue> {
    let endpoint = endpoint(provider, base_url)?;
    let settings: ChatSettingsDto = read("the settings", settings)?;
    let messages: Vec<Message> = read("the messages", messages)?;
    let body = request::chat_body(endpoint.provider(), &settings.into(), &messages);
    serialise(&ChatRequestDto { url: endpoint.chat_url(), body })
}

/// Where the list of models is, for a GET.
///
/// # Errors
/// Throws a `KbError`: `kb::invalid_input` for an address that cannot be used.
#[wasm_bindgen(js_name = modelsUrl)]
pub fn models_url(
    #[wasm_bindgen(unchecked_param_type = "Provider")] provider: &str,
    #[wasm_bindgen(js_name = baseUrl)] base_url: Option<String>,
) -> JsResult<String> {
    Ok(endpoint(provider, base_url)?.models_url())
}

/// The names of the models in the reply to a GET of `modelsUrl`; nothing if it is no such list.
///
/// # Errors
/// Throws a `KbError`: `kb::invalid_input` for an unknown provider.
#[wasm_bindgen(js_name = parseModels)]
pub fn parse_models(
    #[wasm_bindgen(unchecked_param_type = "Provider")] provider: &str,
    body: &[u8],
) -> JsResult<Option<Vec<String>>> {
    Ok(request::parse_models(protocol(provider)?, body).ok())
}

/// What a reply with another status than 200 means.
///
/// # Errors
/// None; the type comes from the serialiser.
#[wasm_bindgen(js_name = classifyFailure, unchecked_return_type = "Failure")]
pub fn classify_failure(status: u16, body: &[u8], language: &str) -> JsResult<JsValue> {
    serialise(&FailureDto::new(stream::classify(status, body), lang(language)))
}

/// Whether a question has anything to do with the base, from what `KnowledgeBase.search` returned for it and
/// the name of the base's model.
///
/// # Errors
/// Throws a `KbError`: `kb::invalid_input`.
#[wasm_bindgen(js_name = judgeRelevance, unchecked_return_type = "Relevance")]
pub fn judge_relevance(
    question: &str,
    #[wasm_bindgen(unchecked_param_type = "Response")] response: JsValue,
    model: Option<String>,
) -> JsResult<JsValue> {
    let response: FoundDto = read("the response", response)?;
    let near = response.hits.iter().filter_map(|h| Some((h.vector_score?, h.lang.as_str())));
    let near = if response.mode == Mode::Lexical { Evidence::default() } else { Evidence::near(question, near) };
    let evidence = Evidence { coverage: response.coverage, unknown: response.unknown, ..near };
    let judged = judge(evidence, !response.hits.is_empty(), model.as_deref());
    serialise(&RelevanceDto { score: judged.score, relevant: judged.relevant })
}

/// The sentences that `extractiveAnswer` takes scores for, in its order.
///
/// # Errors
/// Throws a `KbError`: `kb::invalid_input`.
#[wasm_bindgen(js_name = answerSentences)]
pub fn answer_sentences(
    question: &str,
    #[wasm_bindgen(unchecked_param_type = "Passage[]")] passages: JsValue,
) -> JsResult<Vec<String>> {
    let passages: Vec<Passage> = read("the passages", passages)?;
    let asked: RefCell<Vec<String>> = RefCell::default();
    extract::extract(
        question,
        &passages,
        Some(&|sentences: &[&str]| {
            *asked.borrow_mut() = sentences.iter().map(|s| (*s).to_owned()).collect();
            None
        }),
    );
    Ok(asked.into_inner())
}

/// The answer without a language model: sentences of the passages with their citations. `scores` are the
/// cosines of `answerSentences` and the question, where there is an encoder.
///
/// # Errors
/// Throws a `KbError`: `kb::invalid_input`.
#[wasm_bindgen(js_name = extractiveAnswer, unchecked_return_type = "AnswerSegment[]")]
pub fn extractive_answer(
    question: &str,
    #[wasm_bindgen(unchecked_param_type = "Passage[]")] passages: JsValue,
    scores: Option<Vec<f32>>,
) -> JsResult<JsValue> {
    let passages: Vec<Passage> = read("the passages", passages)?;
    let given = |_: &[&str]| scores.clone();
    let sentences = extract::extract(question, &passages, Some(&given));
    serialise(&extract::to_segments(&sentences).iter().map(EventDto::segment).collect::<Vec<_>>())
}

fn text_of(segment: &Segment) -> Option<&str> {
    match segment {
        Segment::Text { text } => Some(text),
        Segment::Citation { .. } => None,
    }
}

fn lang(code: &str) -> Lang {
    if code == Lang::Zh.code() { Lang::Zh } else { Lang::En }
}

fn provider_of(name: &str) -> JsResult<Provider> {
    let unknown = || to_js(Error::new(ErrorKind::InvalidInput, format!("there is no provider `{name}`")));
    Provider::from_name(name).ok_or_else(unknown)
}

fn protocol(provider: &str) -> JsResult<Protocol> {
    Ok(provider_of(provider)?.protocol())
}

fn endpoint(provider: &str, base_url: Option<String>) -> JsResult<Endpoint> {
    Endpoint::new(provider_of(provider)?, base_url.as_deref()).map_err(to_js)
}

fn read<T: DeserializeOwned>(what: &str, value: JsValue) -> JsResult<T> {
    serde_wasm_bindgen::from_value(value).map_err(|e| bad_argument(what, e))
}

fn serialise(value: &(impl Serialize + ?Sized)) -> JsResult<JsValue> {
    // Only maps with odd keys or numbers beyond 2^53 can fail, and there are none.
    Ok(serde_wasm_bindgen::to_value(value)?)
}
