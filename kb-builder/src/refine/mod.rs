//! After the fusion: other readings of the question, searched as well, and a second model that puts the first hits in a
//! better order. All of it is off unless it is asked for. Of the page only answers have a part of it, in www/assets/engine/answers.js.

mod folder;
mod llm;

pub use folder::read_cross_encoder;
pub use llm::LanguageModel;

use crate::base::Base;
use crate::error::{Error, Result};
use kb_core::chunk::embedding_text;
use kb_core::embed::CrossEncoder;
use kb_core::refine::listwise::{self, Candidate};
use kb_core::refine::merge::{Merged, merge};
use kb_core::refine::reading::{self, Reading};
use kb_core::search::{Explained, Explanation, Hit, Query};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// How many of the first hits a reranker sees, if nothing else is said.
pub const CANDIDATES: usize = 25;

/// The name that stands for the language model where a folder could stand.
const LANGUAGE_MODEL: &str = "llm";
/// The name for none.
const NONE: &str = "none";

/// Who reads a question before it is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema, clap::ValueEnum)]
#[serde(rename_all = "lowercase")]
pub enum Reader {
    /// Rules, which need no model
    Rules,
    /// The language model of [llm]
    Llm,
}

/// What is asked for after the search; `None` leaves it to the next source of settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Choice {
    /// Folder of a cross-encoder, `llm` or `none`.
    pub reranker: Option<PathBuf>,
    /// How many of the first hits it sees.
    pub candidates: Option<usize>,
    /// Who reads the question.
    pub understand: Option<Reader>,
    /// Whether the two things of a comparison are searched as well.
    pub split_comparisons: Option<bool>,
}

impl Choice {
    /// This, and where it says nothing, `below`.
    pub fn over(self, below: &Self) -> Self {
        Self {
            reranker: self.reranker.or_else(|| below.reranker.clone()),
            candidates: self.candidates.or(below.candidates),
            understand: self.understand.or(below.understand),
            split_comparisons: self.split_comparisons.or(below.split_comparisons),
        }
    }

    fn reranks_by(&self, name: &str) -> bool {
        self.reranker.as_deref() == Some(Path::new(name))
    }

    /// Whether a language model has a part in it.
    fn needs_language_model(&self) -> bool {
        self.reranks_by(LANGUAGE_MODEL) || self.understand == Some(Reader::Llm)
    }

    /// Loads what it takes; none if nothing is asked for. `llm` gives the language model.
    pub fn open(&self, llm: impl FnOnce() -> Result<LanguageModel>) -> Result<Option<Refiner>> {
        let llm = if self.needs_language_model() { Some(llm()?) } else { None };
        let reranker = match &self.reranker {
            None => None,
            Some(_) if self.reranks_by(NONE) => None,
            Some(_) if self.reranks_by(LANGUAGE_MODEL) => Some(Reranker::LanguageModel),
            Some(folder) => Some(Reranker::CrossEncoder(Box::new(read_cross_encoder(folder)?))),
        };
        let candidates = self.candidates.unwrap_or(CANDIDATES);
        if !(2..=100).contains(&candidates) {
            return Err(Error::usage(
                format!("a reranker cannot see {candidates} hits"),
                "--rerank-candidates and rerank_candidates are 2 to 100",
            ));
        }
        let (reads, splits) = (self.understand == Some(Reader::Llm), self.split_comparisons == Some(true));
        if reranker.is_none() && !reads && !splits {
            return Ok(None);
        }
        Ok(Some(Refiner { reranker, candidates, reads, splits, llm }))
    }
}

enum Reranker {
    CrossEncoder(Box<CrossEncoder>),
    LanguageModel,
}

/// What comes after a search.
pub struct Refiner {
    reranker: Option<Reranker>,
    candidates: usize,
    /// Whether the language model reads the question.
    reads: bool,
    /// Whether the halves of a comparison are searched.
    splits: bool,
    llm: Option<LanguageModel>,
}

/// How a hit came to its place after the search.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Refinement {
    /// Its rank before the reranker, from 1.
    pub rank_before: usize,
    /// What the cross-encoder gave it, 0 to 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reranker_score: Option<f32>,
    /// The sum of `1 / (60 + rank)` over the lists, where several were merged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub merged_score: Option<f32>,
    /// Its rank in each of them, from 1: the question's own first, then those of `searched`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<Option<usize>>,
}

/// A search with what came after it.
pub struct Refined {
    /// Hits in their last order. Scores and explanations are those of the list that had the hit best.
    pub found: Explained,
    /// One for each hit.
    pub refinements: Vec<Refinement>,
    /// What the language model read in the question.
    pub reading: Option<Reading>,
    /// What was looked up beside the question.
    pub searched: Vec<String>,
    /// What did not work, a sentence each; the search's own order then stands.
    pub notes: Vec<String>,
}

impl Refined {
    /// A search that nothing comes after.
    pub fn plain(found: Explained) -> Self {
        Self { found, refinements: Vec::new(), reading: None, searched: Vec::new(), notes: Vec::new() }
    }
}

/// A hit with what is known of it.
struct Placed {
    hit: Hit,
    explanation: Explanation,
    refinement: Refinement,
}

impl Refiner {
    /// Searches; `embed` gives the vector of a question where there is a model.
    pub fn search(&self, base: &Base, query: &Query, embed: &dyn Fn(&str) -> Option<Vec<f32>>) -> Result<Refined> {
        // The reranker needs something to choose from.
        let pool = if self.reranker.is_some() { self.candidates } else { 0 };
        let wide = Query { k: query.k.max(pool), ..query.clone() };
        let mut notes = Vec::new();
        let reading = self.read(&query.text, &mut notes);
        let first = base.explain(&wide, embed(&query.text).as_deref())?;
        let mut searched: Vec<String> = reading.iter().flat_map(Reading::lookups).map(str::to_owned).collect();
        if self.splits {
            let halves = first.understanding.plan.sub_questions.iter();
            searched.extend(halves.filter(|half| !searched.contains(half)).cloned().collect::<Vec<_>>());
        }
        let mut lists = vec![first];
        for text in &searched {
            lists.push(base.explain(&Query { text: text.clone(), ..wide.clone() }, embed(text).as_deref())?);
        }
        let (mut found, mut placed) = one_order(lists);
        self.rerank(base, &query.text, &mut placed, &mut notes)?;
        placed.truncate(query.k);
        let mut refinements = Vec::with_capacity(placed.len());
        for (i, mut place) in placed.into_iter().enumerate() {
            place.hit.rank = i + 1;
            found.response.hits.push(place.hit);
            found.explanations.push(place.explanation);
            refinements.push(place.refinement);
        }
        Ok(Refined { found, refinements, reading, searched, notes })
    }

    fn read(&self, question: &str, notes: &mut Vec<String>) -> Option<Reading> {
        let llm = self.llm.as_ref().filter(|_| self.reads)?;
        let reply = match llm.ask(&reading::messages(question)) {
            Ok(reply) => reply,
            Err(why) => {
                notes.push(format!("the question was read by rules alone: {why}"));
                return None;
            }
        };
        let read = reading::reading(&reply, question);
        if read.is_none() {
            notes.push("the question was read by rules alone: the language model gave no reading".into());
        }
        read
    }

    /// Puts the first hits in another order. A model that fails leaves them as they are.
    fn rerank(&self, base: &Base, question: &str, placed: &mut [Placed], notes: &mut Vec<String>) -> Result<()> {
        let count = placed.len().min(self.candidates);
        let (Some(reranker), true) = (&self.reranker, count > 1) else { return Ok(()) };
        let (documents, chunks) = (base.knowledge.documents(), base.knowledge.chunks());
        let text = |place: &Placed| {
            let chunk = chunks.get(place.hit.chunk as usize);
            chunk.and_then(|c| Some(embedding_text(documents.get(c.doc as usize)?, c))).unwrap_or_default()
        };
        let texts: Vec<String> = placed[..count].iter().map(text).collect();
        match reranker {
            Reranker::CrossEncoder(model) => {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                for (place, score) in placed.iter_mut().zip(model.score(question, &texts)?) {
                    place.refinement.reranker_score = Some(score);
                }
                // Equal scores stay in the order of the search.
                placed[..count].sort_by(|a, b| {
                    let score = |p: &Placed| p.refinement.reranker_score.unwrap_or(0.0);
                    score(b).total_cmp(&score(a))
                });
            }
            Reranker::LanguageModel => {
                let Some(llm) = &self.llm else { return Ok(()) };
                let candidates: Vec<Candidate> = texts
                    .iter()
                    .map(|text| {
                        let (heading, text) = text.split_once('\n').unwrap_or(("", text));
                        Candidate { heading, text }
                    })
                    .collect();
                let reply = llm.ask(&listwise::messages(question, &candidates, llm.num_ctx()));
                let order = match reply {
                    Ok(reply) => {
                        listwise::order(&reply, count).ok_or_else(|| "the language model gave no order".to_owned())
                    }
                    Err(why) => Err(why),
                };
                match order {
                    Ok(order) => {
                        let mut place = vec![0; count];
                        order.iter().enumerate().for_each(|(to, from)| place[*from] = to);
                        placed[..count].sort_by_key(|p| place[p.refinement.rank_before - 1]);
                    }
                    Err(why) => notes.push(format!("the search's own order stays: {why}")),
                }
            }
        }
        Ok(())
    }
}

/// The hits of all lists in one order, and the first list without its hits.
fn one_order(mut lists: Vec<Explained>) -> (Explained, Vec<Placed>) {
    let chunks: Vec<Vec<u32>> = lists.iter().map(|l| l.response.hits.iter().map(|h| h.chunk).collect()).collect();
    let several = lists.len() > 1;
    let mut placed: Vec<Placed> = Vec::new();
    for (i, Merged { score, ranks, .. }) in merge(&chunks).into_iter().enumerate() {
        let best = ranks.iter().enumerate().filter_map(|(list, rank)| Some((rank.as_ref()?, list))).min();
        let Some((rank, list)) = best else { continue };
        let from = &lists[list];
        let (Some(hit), Some(explanation)) = (from.response.hits.get(rank - 1), from.explanations.get(rank - 1)) else {
            continue;
        };
        let refinement = Refinement {
            rank_before: i + 1,
            reranker_score: None,
            merged_score: several.then_some(score),
            ranks: if several { ranks } else { Vec::new() },
        };
        placed.push(Placed { hit: hit.clone(), explanation: explanation.clone(), refinement });
    }
    let mut first = lists.swap_remove(0);
    first.response.hits.clear();
    first.explanations.clear();
    (first, placed)
}
