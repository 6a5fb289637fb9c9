//! What the third module gives to JavaScript. `types.d.ts` declares the same.

use crate::utf16::{Utf16Cursor, Utf16Span};
use kb_core::answer::Passage;
use kb_core::answer::citations::Segment;
use kb_core::answer::request::{ChatOptions, Message};
use kb_core::answer::stream::{EndReason, Event, Failure};
use kb_core::answer::support::{Sentence, Verdict};
use kb_core::document::Lang;
use kb_core::search::Mode;
use serde::{Deserialize, Serialize};

/// `ChatSettings` of `types.d.ts`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct ChatSettingsDto {
    model: String,
    max_tokens: Option<u32>,
    num_ctx: Option<u32>,
    temperature: Option<f32>,
    keep_alive: Option<String>,
    think: Option<bool>,
}

impl From<ChatSettingsDto> for ChatOptions {
    fn from(given: ChatSettingsDto) -> Self {
        let default = Self::default();
        Self {
            model: given.model,
            max_tokens: given.max_tokens.unwrap_or(default.max_tokens),
            num_ctx: given.num_ctx.unwrap_or(default.num_ctx),
            temperature: given.temperature.unwrap_or(default.temperature),
            keep_alive: given.keep_alive.unwrap_or(default.keep_alive),
            think: given.think,
        }
    }
}

/// `ChatRequest` of `types.d.ts`.
#[derive(Serialize)]
pub(crate) struct ChatRequestDto {
    pub url: String,
    pub body: String,
}

/// `Prompt` of `types.d.ts`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PromptDto<'a> {
    pub messages: &'a [Message],
    pub passages: &'a [Passage],
    pub refusal: &'a str,
    pub estimated_tokens: u32,
    pub language: &'static str,
}

/// `AnswerEvent` of `types.d.ts`.
#[derive(Serialize, Default)]
#[serde(rename_all = "camelCase")]
pub(crate) struct EventDto {
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    n: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    passage: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    completion_tokens: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<EndReason>,
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureDto>,
}

impl EventDto {
    /// An event that is no text: text has become segments.
    pub(crate) fn event(event: Event, lang: Lang) -> Self {
        match event {
            Event::Reasoning(text) => Self { kind: "reasoning", text: Some(text), ..Self::default() },
            Event::Text(text) => Self { kind: "text", text: Some(text), ..Self::default() },
            Event::TextWasReasoning => Self { kind: "startAgain", ..Self::default() },
            Event::Usage(usage) => Self {
                kind: "usage",
                prompt_tokens: Some(usage.prompt_tokens),
                completion_tokens: Some(usage.completion_tokens),
                ..Self::default()
            },
            Event::Error(failure) => {
                Self { kind: "error", failure: Some(FailureDto::new(failure, lang)), ..Self::default() }
            }
            Event::End(reason) => Self { kind: "end", reason: Some(reason), ..Self::default() },
        }
    }

    /// A piece of the answer; `AnswerSegment` of `types.d.ts` too.
    pub(crate) fn segment(segment: &Segment) -> Self {
        match segment {
            Segment::Text { text } => Self { kind: "text", text: Some(text.clone()), ..Self::default() },
            Segment::Citation { n, passage } => {
                Self { kind: "citation", n: Some(*n), passage: Some(*passage), ..Self::default() }
            }
        }
    }
}

/// `Failure` of `types.d.ts`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FailureDto {
    code: &'static str,
    sentence: &'static str,
    message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    may_pass: bool,
}

impl FailureDto {
    pub(crate) fn new(failure: Failure, lang: Lang) -> Self {
        Self {
            code: failure.kind.code(),
            sentence: failure.kind.sentence(lang),
            may_pass: failure.kind.may_pass(),
            status: failure.status,
            message: failure.message,
        }
    }
}

/// `SentenceSupport` of `types.d.ts`.
#[derive(Serialize)]
pub(crate) struct SentenceDto {
    start: u32,
    end: u32,
    passages: Vec<usize>,
    support: f32,
    verdict: Verdict,
}

impl SentenceDto {
    pub(crate) fn new(sentence: Sentence, cursor: &mut Utf16Cursor<'_>) -> Self {
        let Utf16Span { start, end } = cursor.span(&sentence.span_bytes);
        Self { start, end, passages: sentence.passages, support: sentence.support, verdict: sentence.verdict }
    }
}

/// `AnswerCheck` of `types.d.ts`.
#[derive(Serialize)]
pub(crate) struct CheckDto<'a> {
    pub sentences: Vec<SentenceDto>,
    pub confidence: f32,
    pub refused: bool,
    pub unresolved: usize,
    pub order: &'a [usize],
    pub text: String,
}

/// What of a `Response` of `types.d.ts` tells its relevance.
#[derive(Deserialize)]
pub(crate) struct FoundDto {
    pub hits: Vec<FoundHitDto>,
    pub mode: Mode,
    pub coverage: f32,
    pub unknown: f32,
}

/// What of a `Hit` does.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct FoundHitDto {
    pub vector_score: Option<f32>,
    pub lang: String,
}

/// `Relevance` of `types.d.ts`.
#[derive(Serialize)]
pub(crate) struct RelevanceDto {
    pub score: f32,
    pub relevant: bool,
}
