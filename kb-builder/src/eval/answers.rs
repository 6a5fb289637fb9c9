//! Measuring answers: questions with the place where their answer stands, or with none.

use super::asked::{Asked, check_scope, is_at};
use crate::answer::{Answer, Answerer, Chat, Found, Kind, Settings};
use crate::error::Result;
use crate::http::Client;
use crate::report::Reporter;
use kb_core::answer::judge::{self, Judgement};
use kb_core::answer::prompt::language;
use kb_core::answer::relevance::Evidence;
use kb_core::answer::{Passage, support};
use serde::Serialize;

/// From which backing an answer counts as grounded by its words.
const BACKED: f32 = 0.5;
/// At how many thresholds the curve is shown.
const STEPS: usize = 20;

/// How often something held among how many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Share {
    /// How often.
    pub count: usize,
    /// Among how many.
    pub of: usize,
    /// The share, rounded to three digits; 0 of none.
    pub share: f64,
}

impl Share {
    fn of(count: usize, of: usize) -> Self {
        let share = if of == 0 { 0.0 } else { (count as f64 / of as f64 * 1000.0).round() / 1000.0 };
        Self { count, of, share }
    }
}

/// The decision at one threshold of relevance.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Point {
    /// The threshold.
    pub threshold: f32,
    /// Answerable questions that would be answered.
    pub answered: Share,
    /// Unanswerable questions that would be refused.
    pub refused: Share,
}

/// What the answers to a file of questions are worth.
#[derive(Debug, Clone, Serialize)]
pub struct AnswerScores {
    /// The language model; none for the passages' own sentences.
    pub model: Option<String>,
    /// Questions.
    pub questions: usize,
    /// Answerable questions whose place is among the passages that were used.
    pub retrieval_hit: Share,
    /// Citations that name a passage, among all that were written.
    pub citation_validity: Share,
    /// Answers to answerable questions that cite an expected place, among those that were given.
    pub citation_correctness: Share,
    /// Unanswerable questions that were refused.
    pub refusals_right: Share,
    /// Answerable questions that were refused.
    pub refusals_wrong: Share,
    /// Places marked as of no use that an answer still cites, among all that were marked.
    pub unwanted_cited: Share,
    /// What the judge thinks of the answers that were given, where one was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub judged: Option<Judged>,
    /// Refusals without any call of a model.
    pub refused_by_relevance: usize,
    /// Mean confidence of the answers that were given.
    pub mean_confidence: f64,
    /// Tokens of all calls.
    pub prompt_tokens: u64,
    /// Tokens of all replies.
    pub completion_tokens: u64,
    /// Calls that failed, with the question.
    pub failures: Vec<String>,
    /// The decision at other thresholds of relevance.
    pub curve: Vec<Point>,
    /// One entry a question.
    pub details: Vec<Detail>,
}

/// What a judge thinks of the answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Judged {
    /// The language model that judged.
    pub model: String,
    /// Answers whose every claim stands in the passages, among those with a verdict.
    pub grounded: Share,
    /// Answers that answer the question, among those with a verdict.
    pub answers: Share,
    /// Answers that got no verdict, since the reply was none or the call failed; for these, the words say whether
    /// they are grounded (see `details`).
    pub without_verdict: usize,
}

/// A verdict on one answer.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "by", rename_all = "lowercase")]
pub enum Verdict {
    /// The judge's own.
    Judge(Judgement),
    /// The judge gave none: whether at least half of the answer stands, by its words, in what it cites.
    Words {
        /// Whether it does.
        grounded: bool,
    },
}

/// What became of one question.
#[derive(Debug, Clone, Serialize)]
pub struct Detail {
    /// What was asked.
    pub question: String,
    /// Whether the file says that the base answers it; none if it only says what is not wanted.
    pub answerable: Option<bool>,
    /// How it was answered; none if the call failed.
    pub kind: Option<Kind>,
    /// Relevance, from 0 to 1.
    pub relevance: f32,
    /// What it was judged by.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// Whether an expected place is among the passages.
    pub hit: bool,
    /// Whether an expected place is cited.
    pub cited: bool,
    /// Confidence of the answer.
    pub confidence: f32,
    /// How many of the places that are not wanted are cited, and how many there are.
    #[serde(skip_serializing_if = "nothing")]
    pub unwanted: (usize, usize),
    /// The judge's verdict, where one was asked and an answer was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
}

fn nothing(unwanted: &(usize, usize)) -> bool {
    unwanted.1 == 0
}

/// Asks all questions and scores the answers. A call that fails is noted and the rest goes on. `judge` has the
/// settings of the language model that judges, if one is to.
pub async fn run(
    answerer: &Answerer,
    settings: &Settings,
    questions: &[Asked],
    judge: Option<&Settings>,
    reporter: &Reporter,
) -> Result<AnswerScores> {
    let known = answerer.base().knowledge.collections();
    for question in questions {
        check_scope(&question.question, &question.scope()?, &known)?;
    }
    let client = Client::new();
    reporter.stage("asking", questions.len() as u64, "questions");
    let mut tally = Tally::default();
    for question in questions {
        let scope = question.scope()?;
        let found = answerer.find(&question.question, &scope.collections, &scope.filters)?;
        let answer = if settings.endpoint.is_some() {
            answerer.with_model(&found, &client, settings, &mut |_| {}).await
        } else {
            Ok(answerer.without_model(&found, settings))
        };
        match answer {
            Ok(answer) => {
                let verdict = match judge {
                    Some(judge) => verdict(&client, judge, &answer, &answerer.prompt(&found, settings).passages).await,
                    None => None,
                };
                tally.add(question, &found, Some(&answer), verdict);
            }
            Err(failure) => {
                let text = failure.to_text(language(&question.question));
                tally.failures.push(format!("{}: {text} [{}]", question.question, failure.kind.code()));
                tally.add(question, &found, None, None);
            }
        }
        reporter.advance(1);
    }
    reporter.end_stage();
    let name = |s: &Settings| s.options.model.clone();
    Ok(tally.scores(settings.endpoint.as_ref().map(|_| name(settings)), judge.map(name)))
}

/// The judge's verdict on an answer that was given; what the words say where the judge gives none.
async fn verdict(client: &Client, judge: &Settings, answer: &Answer, passages: &[Passage]) -> Option<Verdict> {
    if !matches!(answer.kind, Kind::Generated | Kind::Extractive) {
        return None;
    }
    // Their numbers are those of the answer's own citations.
    let mut cited: Vec<Passage> = Vec::new();
    for source in answer.sources.iter().filter(|s| s.cited) {
        cited.extend(passages.iter().find(|p| p.chunk_id == source.chunk_id).cloned());
    }
    let shown = if cited.is_empty() { passages } else { &cited };
    let reply = Chat::new(client, judge)?.whole(&judge::messages(&answer.question, &answer.answer, shown)).await;
    Some(match reply.ok().and_then(|r| judge::verdict(&r)) {
        Some(judgement) => Verdict::Judge(judgement),
        None => Verdict::Words { grounded: support::backing(&answer.sentences) >= BACKED },
    })
}

#[derive(Default)]
struct Tally {
    details: Vec<Detail>,
    failures: Vec<String>,
    citations: usize,
    unresolved: usize,
    prompt_tokens: u64,
    completion_tokens: u64,
}

impl Tally {
    fn add(&mut self, question: &Asked, found: &Found, answer: Option<&Answer>, verdict: Option<Verdict>) {
        let places = question.places();
        let is_expected = |collection: &str, path: &str, headings: &[String], anchor: &str| {
            places.iter().any(|place| is_at(place, collection, path, headings, anchor))
        };
        let hit = |p: &Passage| is_expected(&p.collection, &p.path, &p.heading_path, &p.anchor);
        let sources = answer.map_or(&[][..], |a| a.sources.as_slice());
        let cited =
            |s: &crate::answer::Source| s.cited && is_expected(&s.collection, &s.path, &s.heading_path, &s.anchor);
        let still = |place: &str| {
            let at = |s: &&crate::answer::Source| {
                s.cited && is_at(place, &s.collection, &s.path, &s.heading_path, &s.anchor)
            };
            sources.iter().find(at).is_some()
        };
        self.details.push(Detail {
            question: question.question.clone(),
            answerable: question.answerable(),
            kind: answer.map(|a| a.kind),
            relevance: found.relevance.score,
            evidence: found.relevance.evidence,
            hit: found.passages.iter().any(hit),
            cited: sources.iter().any(cited),
            confidence: answer.map_or(0.0, |a| a.confidence),
            unwanted: (question.unwanted.iter().filter(|p| still(p)).count(), question.unwanted.len()),
            verdict,
        });
        if let Some(answer) = answer {
            let count = |s: &&kb_core::answer::citations::Segment| {
                matches!(s, kb_core::answer::citations::Segment::Citation { .. })
            };
            self.citations += answer.segments.iter().filter(count).count();
            self.unresolved += answer.unresolved_citations;
            self.prompt_tokens += u64::from(answer.usage.prompt_tokens);
            self.completion_tokens += u64::from(answer.usage.completion_tokens);
        }
    }

    fn scores(self, model: Option<String>, judge: Option<String>) -> AnswerScores {
        let details = &self.details;
        let refused = |d: &&Detail| matches!(d.kind, Some(Kind::Refused | Kind::NothingRelevant));
        let given = |d: &&Detail| matches!(d.kind, Some(Kind::Generated | Kind::Extractive));
        let answerable: Vec<&Detail> =
            details.iter().filter(|d| d.answerable == Some(true) && d.kind.is_some()).collect();
        let others: Vec<&Detail> = details.iter().filter(|d| d.answerable == Some(false) && d.kind.is_some()).collect();
        let answers: Vec<&Detail> = details.iter().filter(given).collect();
        let right: Vec<&&Detail> = answerable.iter().filter(|d| given(d)).collect();
        let sum: f64 = answers.iter().map(|d| f64::from(d.confidence)).sum();
        let mean = if answers.is_empty() { 0.0 } else { (sum / answers.len() as f64 * 1000.0).round() / 1000.0 };
        AnswerScores {
            model,
            questions: details.len(),
            retrieval_hit: Share::of(answerable.iter().filter(|d| d.hit).count(), answerable.len()),
            citation_validity: Share::of(self.citations, self.citations + self.unresolved),
            citation_correctness: Share::of(right.iter().filter(|d| d.cited).count(), right.len()),
            refusals_right: Share::of(others.iter().filter(|d| refused(d)).count(), others.len()),
            refusals_wrong: Share::of(answerable.iter().filter(|d| refused(d)).count(), answerable.len()),
            unwanted_cited: Share::of(
                details.iter().map(|d| d.unwanted.0).sum(),
                details.iter().map(|d| d.unwanted.1).sum(),
            ),
            judged: judge.map(|model| judged(model, details)),
            refused_by_relevance: details.iter().filter(|d| d.kind == Some(Kind::NothingRelevant)).count(),
            mean_confidence: mean,
            prompt_tokens: self.prompt_tokens,
            completion_tokens: self.completion_tokens,
            curve: curve(details),
            failures: self.failures,
            details: self.details,
        }
    }
}

fn judged(model: String, details: &[Detail]) -> Judged {
    let verdicts: Vec<&Verdict> = details.iter().filter_map(|d| d.verdict.as_ref()).collect();
    let own: Vec<&Judgement> =
        verdicts.iter().filter_map(|v| if let Verdict::Judge(j) = v { Some(j) } else { None }).collect();
    Judged {
        model,
        grounded: Share::of(own.iter().filter(|j| j.grounded).count(), own.len()),
        answers: Share::of(own.iter().filter(|j| j.answers).count(), own.len()),
        without_verdict: verdicts.len() - own.len(),
    }
}

fn curve(details: &[Detail]) -> Vec<Point> {
    let count = |answerable: bool| details.iter().filter(|d| d.answerable == Some(answerable)).count();
    let over = |answerable: bool, threshold: f32| {
        details.iter().filter(|d| d.answerable == Some(answerable) && d.relevance >= threshold).count()
    };
    (1..STEPS)
        .map(|step| {
            let threshold = step as f32 / STEPS as f32;
            let refused = count(false) - over(false, threshold);
            Point {
                threshold,
                answered: Share::of(over(true, threshold), count(true)),
                refused: Share::of(refused, count(false)),
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail(answerable: bool, kind: Kind, relevance: f32, cited: bool) -> Detail {
        let (question, evidence, confidence) = (String::new(), Evidence::default(), 0.5);
        let (answerable, kind) = (Some(answerable), Some(kind));
        let (unwanted, verdict) = ((0, 0), None);
        Detail { question, answerable, kind, relevance, evidence, hit: cited, cited, confidence, unwanted, verdict }
    }

    #[test]
    fn shares_computed_by_hand() {
        let tally = Tally {
            details: vec![
                detail(true, Kind::Generated, 0.9, true),
                detail(true, Kind::Generated, 0.8, false),
                detail(true, Kind::Refused, 0.7, false),
                detail(true, Kind::NothingRelevant, 0.2, false),
                detail(false, Kind::NothingRelevant, 0.1, false),
                detail(false, Kind::Generated, 0.6, false),
            ],
            citations: 3,
            unresolved: 1,
            ..Tally::default()
        };
        let scores = tally.scores(None, None);
        assert_eq!((scores.retrieval_hit.count, scores.retrieval_hit.of), (1, 4));
        assert_eq!(scores.citation_validity.share, 0.75);
        assert_eq!((scores.citation_correctness.count, scores.citation_correctness.of), (1, 2));
        assert_eq!((scores.refusals_right.share, scores.refusals_wrong.share), (0.5, 0.5));
        assert_eq!(scores.refused_by_relevance, 2);
        let half = scores.curve.iter().find(|p| p.threshold == 0.5).expect("a point");
        assert_eq!((half.answered.share, half.refused.share), (0.75, 0.5));
        assert_eq!((scores.judged, scores.unwanted_cited.of), (None, 0));
    }

    #[test]
    fn verdicts_and_what_is_not_wanted_are_counted() {
        let judge = |grounded, answers| {
            let reason = String::new();
            Some(Verdict::Judge(Judgement { grounded, answers, reason }))
        };
        let with = |verdict, unwanted| Detail { verdict, unwanted, ..detail(true, Kind::Generated, 0.9, true) };
        let details = vec![
            with(judge(true, true), (1, 2)),
            with(judge(false, true), (0, 1)),
            with(Some(Verdict::Words { grounded: true }), (0, 0)),
            with(None, (0, 0)),
            Detail { answerable: None, ..detail(true, Kind::Refused, 0.9, false) },
        ];
        let scores = Tally { details, ..Tally::default() }.scores(None, Some("j".into()));
        let judged = scores.judged.expect("judged");
        assert_eq!((judged.grounded.share, judged.answers.share, judged.without_verdict), (0.5, 1.0, 1));
        assert_eq!((scores.unwanted_cited.count, scores.unwanted_cited.of), (1, 3));
        assert_eq!((scores.refusals_wrong.of, scores.refusals_right.of), (4, 0), "one is neither");
    }
}
