//! From a question to an answer with its sources.

use super::chat::{Chat, ChatEvent};
use super::settings::Settings;
use crate::base::QueryEncoder;
use crate::base::{self, Base};
use crate::error::Result;
use crate::http::Client;
use crate::refine::Refiner;
use kb_core::answer::citations::{CitationStream, Segment, join, to_text};
use kb_core::answer::extract::{Scorer, extract, to_segments};
use kb_core::answer::prompt::{self, Prompt, Turn};
use kb_core::answer::relevance::{Calibration, Evidence, Relevance, STRANGE, judge, names};
use kb_core::answer::request::prompt_was_cut;
use kb_core::answer::stream::{EndReason, Failure, Usage};
use kb_core::answer::support::{self, Sentence};
use kb_core::answer::{MAX_PASSAGES, Passage, passages};
use kb_core::embed::TextKind;
use kb_core::search::{Hit, Mode, Query, Response};
use serde::Serialize;
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;

/// How many hits are looked at.
const HITS: usize = 10;

/// A knowledge base with what is needed to ask it.
pub struct Answerer {
    base: Base,
    encoder: Option<QueryEncoder>,
    refiner: Option<Refiner>,
    /// Why meaning is not looked at, where it is not.
    pub note: Option<String>,
}

/// What a question found.
pub struct Found {
    /// The hits.
    pub response: Response,
    /// The passages behind the first of them.
    pub passages: Vec<Passage>,
    /// Whether there is anything to say.
    pub relevance: Relevance,
    /// What was asked.
    pub question: String,
    vector: Option<Vec<f32>>,
}

/// How an answer came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A language model wrote it.
    Generated,
    /// Sentences of the passages, word for word.
    Extractive,
    /// A language model found no answer in the passages.
    Refused,
    /// Nothing in the base fits the question; no model was asked.
    NothingRelevant,
}

/// A passage that an answer rests on, or that was nearest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Source {
    /// Its number in the answer; for passages that are not cited, the numbers after those.
    pub n: usize,
    /// Whether the answer cites it.
    pub cited: bool,
    /// Collection of the document.
    pub collection: String,
    /// Path of the document in its collection.
    pub path: String,
    /// Title of the document.
    pub title: String,
    /// Headings from the outermost to the passage's own.
    pub heading_path: Vec<String>,
    /// Fragment identifier of the passage's heading.
    pub anchor: String,
    /// Where it can be opened; relative to the site if it has no address of its own.
    pub url: String,
    /// Stable id of the passage.
    pub chunk_id: String,
    /// A piece of it, as plain text.
    pub excerpt: String,
}

/// An answer.
#[derive(Debug, Clone, Serialize)]
pub struct Answer {
    /// What was asked.
    pub question: String,
    /// What a follow-up question was taken to mean, where a language model completed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub understood: Option<String>,
    /// The answer, its citations as `[1]`: Markdown, untrusted where a model wrote it.
    pub answer: String,
    /// How it came about.
    pub kind: Kind,
    /// Cited passages in the order of their numbers; the nearest ones where nothing is cited.
    pub sources: Vec<Source>,
    /// Types of the passages that were used, where they have types.
    pub chunk_types: Vec<String>,
    /// See `kb_core::answer::support::confidence`.
    pub confidence: f32,
    /// Tokens; zero if no model was called.
    pub usage: Usage,
    /// The language model's name.
    pub model: Option<String>,
    /// How the search judged the question.
    pub relevance: Relevance,
    /// How many citations named no passage and were taken out.
    pub unresolved_citations: usize,
    /// How far each sentence is backed.
    pub sentences: Vec<Sentence>,
    /// Why a model's reply ended.
    pub end: Option<EndReason>,
    /// Whether the server has cut the beginning of the prompt off, the rules with it.
    pub prompt_cut: bool,
    /// The passages of the prompt and the answer's pieces, for those who show them apart.
    #[serde(skip)]
    pub segments: Vec<Segment>,
}

/// What can be shown while an answer is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Progress {
    /// The model thinking aloud.
    Reasoning(String),
    /// A piece of the answer.
    Segment(Segment),
    /// All that was shown so far was reasoning.
    StartAgain,
}

impl Answerer {
    /// Opens a site. `encoder` names another folder for the embedding model.
    pub fn open(site: &Path, encoder: Option<&Path>) -> Result<Self> {
        let base = Base::open(site, true)?;
        if base.vectors.is_none() {
            return Ok(Self { base, encoder: None, refiner: None, note: None });
        }
        let (encoder, note) = match base::query_encoder(site, &base.manifest, "--encoder", encoder) {
            Ok(found) => (Some(found), None),
            // Words alone still answer; a model that was named must be the right one.
            Err(e) if encoder.is_none() => (None, Some(format!("searching by words only, since {e}"))),
            Err(e) => return Err(e),
        };
        Ok(Self { base, encoder, refiner: None, note })
    }

    /// What comes after each search from now on.
    pub fn set_refiner(&mut self, refiner: Option<Refiner>) {
        self.refiner = refiner;
    }

    /// The base.
    pub fn base(&self) -> &Base {
        &self.base
    }

    /// Searches, without asking anyone. `query.k` counts hits as in a search.
    pub fn search(&self, query: &Query) -> Result<Response> {
        let encoder = self.encoder.as_ref().filter(|_| query.mode != Mode::Lexical);
        let vector = encoder.and_then(|e| vector_of(e, &query.text));
        self.base.search(query, vector.as_deref())
    }

    /// Looks for passages, and judges whether they have anything to do with the question.
    pub fn find(&self, question: &str, collections: &[String], filters: &[kb_core::search::Filter]) -> Result<Found> {
        let query = Query {
            text: question.to_owned(),
            k: HITS,
            mode: Mode::Hybrid,
            collections: collections.to_vec(),
            filters: filters.to_vec(),
            ..Query::default()
        };
        let vector = self.encoder.as_ref().and_then(|e| vector_of(e, question));
        let response = match &self.refiner {
            None => self.base.search(&query, vector.as_deref())?,
            Some(refiner) => {
                let refined = refiner.search(&self.base, &query, &|text| {
                    if text == question { vector.clone() } else { vector_of(self.encoder.as_ref()?, text) }
                })?;
                refined.notes.iter().for_each(|note| eprintln!("note: {note}"));
                refined.found.response
            }
        };
        let passages = passages(&self.base.knowledge, &response.hits, MAX_PASSAGES);
        let model = self.encoder.as_ref().filter(|_| vector.is_some()).map(|e| e.info().name.as_str());
        let plain = self.base.search_plain(&query, vector.as_deref())?;
        let relevance =
            judge(Evidence::of(question, &plain, self.has_strange_name(question)?), !passages.is_empty(), model);
        Ok(Found { response, passages, relevance, question: question.to_owned(), vector })
    }

    /// Whether the question names something that the base never mentions.
    fn has_strange_name(&self, question: &str) -> Result<bool> {
        for name in names(question) {
            let query = Query { text: name, k: 1, mode: Mode::Lexical, ..Query::default() };
            if self.base.search(&query, None)?.unknown >= STRANGE {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// A follow-up question with what the conversation leaves unsaid put in by the language model; the question as
    /// it is where nothing went before it, or there is no model.
    pub async fn complete(
        client: &Client,
        settings: &Settings,
        history: &[Turn],
        question: &str,
    ) -> Result<String, Failure> {
        let Some(chat) = Chat::new(client, settings).filter(|_| !history.is_empty()) else {
            return Ok(question.to_owned());
        };
        let reply = chat.whole(&prompt::rewrite(&settings.templates, history, question)).await?;
        Ok(prompt::rewritten(&reply, question))
    }

    /// The prompt for what was found.
    pub fn prompt(&self, found: &Found, settings: &Settings) -> Prompt {
        let passages = settings.limits.of(&found.passages);
        prompt::build(&settings.templates, &found.question, &passages, settings.options.num_ctx)
    }

    /// The answer that needs no model: a refusal, or the passages' own sentences.
    pub fn without_model(&self, found: &Found, settings: &Settings) -> Answer {
        let refusal = settings.templates.of(&found.question).refusal.clone();
        if !found.relevance.relevant {
            let segments = vec![Segment::Text { text: refusal }];
            return self.answer(found, &found.passages, segments, Kind::NothingRelevant, "");
        }
        let passages = settings.limits.of(&found.passages);
        let by_meaning = |sentences: &[&str]| self.cosines(found.vector.as_deref()?, sentences);
        let scorer: Option<Scorer<'_>> = if found.vector.is_some() { Some(&by_meaning) } else { None };
        let mut segments = to_segments(&extract(&found.question, &passages, scorer));
        if segments.is_empty() {
            // Nothing but code or a table: show what the search would.
            let text = found.response.hits.first().map(|h| h.excerpt.text.clone()).unwrap_or_default();
            segments = vec![Segment::Text { text }, Segment::Citation { n: 1, passage: 0 }];
        }
        self.answer(found, &passages, segments, Kind::Extractive, &refusal)
    }

    /// Asks the language model. What it says is passed on while it comes.
    pub async fn with_model(
        &self,
        found: &Found,
        client: &Client,
        settings: &Settings,
        on_progress: &mut (dyn FnMut(Progress) + Send),
    ) -> Result<Answer, Failure> {
        let Some(chat) = Chat::new(client, settings).filter(|_| found.relevance.relevant) else {
            return Ok(self.without_model(found, settings));
        };
        let prompt = self.prompt(found, settings);
        let mut citations = CitationStream::new(&prompt.passages);
        let mut segments: Vec<Segment> = Vec::new();
        let end = chat
            .run(&prompt.messages, &mut |event| match event {
                ChatEvent::Reasoning(text) => on_progress(Progress::Reasoning(text)),
                ChatEvent::Text(text) => {
                    let from = segments.len();
                    citations.push(&text, &mut segments);
                    segments[from..].iter().for_each(|s| on_progress(Progress::Segment(s.clone())));
                }
                ChatEvent::TextWasReasoning => {
                    citations = CitationStream::new(&prompt.passages);
                    segments.clear();
                    on_progress(Progress::StartAgain);
                }
            })
            .await?;
        let from = segments.len();
        citations.finish(&mut segments);
        segments[from..].iter().for_each(|s| on_progress(Progress::Segment(s.clone())));
        let segments = join(segments);
        let refused = support::is_refusal(&to_text(&segments), &prompt.refusal);
        let kind = if refused { Kind::Refused } else { Kind::Generated };
        let mut answer = self.answer(found, &prompt.passages, segments, kind, &prompt.refusal);
        answer.usage = end.usage;
        answer.end = Some(end.reason);
        answer.prompt_cut = settings.endpoint.as_ref().is_some_and(|e| {
            prompt_was_cut(e.provider(), &prompt.messages, settings.options.num_ctx, end.usage.prompt_tokens)
        });
        answer.model = Some(settings.options.model.clone());
        answer.unresolved_citations = citations.unresolved();
        Ok(answer)
    }

    fn answer(&self, found: &Found, passages: &[Passage], segments: Vec<Segment>, kind: Kind, refusal: &str) -> Answer {
        let order = order_of(&segments);
        let cited = order.len();
        let rest = (0..passages.len()).filter(|p| cited == 0 && !order.contains(p));
        let shown: Vec<usize> = order.iter().copied().chain(rest).collect();
        let sources = shown
            .iter()
            .enumerate()
            .filter_map(|(i, p)| Some(source(i + 1, i < cited, passages.get(*p)?, &found.response.hits)))
            .collect();
        let claims = matches!(kind, Kind::Generated | Kind::Extractive);
        let sentences = if claims { self.check(&segments, passages, refusal) } else { Vec::new() };
        let confidence = if claims { support::confidence(found.relevance.score, &sentences) } else { 0.0 };
        Answer {
            question: found.question.clone(),
            understood: None,
            answer: to_text(&segments).trim().to_owned(),
            kind,
            sources,
            chunk_types: Vec::new(),
            confidence,
            usage: Usage::default(),
            model: None,
            relevance: found.relevance,
            unresolved_citations: 0,
            sentences,
            end: None,
            prompt_cut: false,
            segments,
        }
    }

    fn check(&self, segments: &[Segment], passages: &[Passage], refusal: &str) -> Vec<Sentence> {
        let near = self.encoder.as_ref().and_then(|e| Calibration::of(Some(&e.info().name)).near);
        let (Some(near), Some(encoder)) = (near, &self.encoder) else {
            return support::check(segments, passages, refusal, None);
        };
        let vectors: RefCell<HashMap<usize, Vec<f32>>> = RefCell::default();
        let similar = |sentence: &str, passage: usize| {
            let mut vectors = vectors.borrow_mut();
            if let std::collections::hash_map::Entry::Vacant(place) = vectors.entry(passage) {
                let text = format!("{}\n{}", passages.get(passage)?.heading(), passages.get(passage)?.text);
                place.insert(encoder.embed(TextKind::Passage, &[&text]).ok()?.pop()?);
            }
            let sentence = encoder.embed(TextKind::Query, &[sentence]).ok()?.pop()?;
            Some(dot(&sentence, vectors.get(&passage)?) >= near)
        };
        support::check(segments, passages, refusal, Some(&similar))
    }

    fn cosines(&self, question: &[f32], sentences: &[&str]) -> Option<Vec<f32>> {
        let vectors = self.encoder.as_ref()?.embed(TextKind::Passage, sentences).ok()?;
        Some(vectors.iter().map(|v| dot(v, question)).collect())
    }
}

/// The vector of a question; where a service gives none, words answer, and the note says so.
fn vector_of(encoder: &QueryEncoder, question: &str) -> Option<Vec<f32>> {
    base::embed_question(encoder.as_ref(), question)
        .inspect_err(|e| eprintln!("note: searching by words only, since {e}"))
        .ok()
}

/// The cosine of two vectors of unit length.
fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Indices of the cited passages in the order of their numbers.
fn order_of(segments: &[Segment]) -> Vec<usize> {
    let mut order = Vec::new();
    for segment in segments {
        if let Segment::Citation { passage, .. } = segment
            && !order.contains(passage)
        {
            order.push(*passage);
        }
    }
    order
}

fn source(n: usize, cited: bool, passage: &Passage, hits: &[Hit]) -> Source {
    let hit = hits.iter().find(|h| h.chunk_id == passage.chunk_id);
    Source {
        n,
        cited,
        collection: passage.collection.clone(),
        path: passage.path.clone(),
        title: passage.title.clone(),
        heading_path: passage.heading_path.clone(),
        anchor: passage.anchor.clone(),
        url: hit.map(base::address).unwrap_or_default(),
        chunk_id: passage.chunk_id.clone(),
        excerpt: hit.map(|h| h.excerpt.text.clone()).unwrap_or_default(),
    }
}
