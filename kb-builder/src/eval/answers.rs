//! Measuring answers: questions with the place where their answer stands, or with none.

use crate::answer::{Answer, Answerer, Found, Kind, Settings};
use crate::error::{Error, Result};
use crate::http::Client;
use crate::report::Reporter;
use kb_core::answer::Passage;
use kb_core::answer::prompt::language;
use kb_core::answer::relevance::Evidence;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// What stands in place of an expected source for a question that the base cannot answer.
const UNANSWERABLE: &str = "unanswerable";
/// At how many thresholds the curve is shown.
const STEPS: usize = 20;

/// A line of the file of questions.
#[derive(Debug, Clone, Deserialize)]
pub struct AnswerQuestion {
    /// What is asked.
    pub question: String,
    /// `path#heading` of every place that answers it, or `unanswerable`.
    expected: Expected,
    /// Only this collection.
    #[serde(default)]
    pub collection: Option<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Expected {
    One(String),
    Several(Vec<String>),
}

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

/// What became of one question.
#[derive(Debug, Clone, Serialize)]
pub struct Detail {
    /// What was asked.
    pub question: String,
    /// Whether the file says that the base answers it.
    pub answerable: bool,
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
}

/// Reads the questions: one JSON object a line.
pub fn read_questions(path: &Path) -> Result<Vec<AnswerQuestion>> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
    let lines = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    let questions: Vec<AnswerQuestion> = lines
        .map(|(i, line)| {
            serde_json::from_str(line).map_err(|e| {
                Error::failed(
                    format!("{}: line {}: {e}", path.display(), i + 1),
                    "a line is {\"question\": \"…\", \"expected\": \"path#heading\"}, or \"unanswerable\" as expected",
                )
            })
        })
        .collect::<Result<_>>()?;
    if questions.is_empty() {
        return Err(Error::failed(format!("{} has no questions", path.display()), ""));
    }
    Ok(questions)
}

/// Asks all questions and scores the answers. A call that fails is noted and the rest goes on.
pub async fn run(
    answerer: &Answerer,
    settings: &Settings,
    questions: &[AnswerQuestion],
    reporter: &Reporter,
) -> Result<AnswerScores> {
    let client = Client::new();
    reporter.stage("asking", questions.len() as u64, "questions");
    let mut tally = Tally::default();
    for question in questions {
        let collections: Vec<String> = question.collection.iter().cloned().collect();
        let found = answerer.find(&question.question, &collections, &[])?;
        let answer = if settings.endpoint.is_some() {
            answerer.with_model(&found, &client, settings, &mut |_| {}).await
        } else {
            Ok(answerer.without_model(&found, settings))
        };
        match answer {
            Ok(answer) => tally.add(question, &found, Some(&answer)),
            Err(failure) => {
                let text = failure.to_text(language(&question.question));
                tally.failures.push(format!("{}: {text} [{}]", question.question, failure.kind.code()));
                tally.add(question, &found, None);
            }
        }
        reporter.advance(1);
    }
    reporter.end_stage();
    Ok(tally.scores(settings.endpoint.as_ref().map(|_| settings.options.model.clone())))
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
    fn add(&mut self, question: &AnswerQuestion, found: &Found, answer: Option<&Answer>) {
        let places = question.expected.places();
        let is_expected = |collection: &str, path: &str, headings: &[String], anchor: &str| {
            places.iter().any(|place| is_at(place, collection, path, headings, anchor))
        };
        let hit = |p: &Passage| is_expected(&p.collection, &p.path, &p.heading_path, &p.anchor);
        let sources = answer.map_or(&[][..], |a| a.sources.as_slice());
        let cited =
            |s: &crate::answer::Source| s.cited && is_expected(&s.collection, &s.path, &s.heading_path, &s.anchor);
        self.details.push(Detail {
            question: question.question.clone(),
            answerable: !places.is_empty(),
            kind: answer.map(|a| a.kind),
            relevance: found.relevance.score,
            evidence: found.relevance.evidence,
            hit: found.passages.iter().any(hit),
            cited: sources.iter().any(cited),
            confidence: answer.map_or(0.0, |a| a.confidence),
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

    fn scores(self, model: Option<String>) -> AnswerScores {
        let details = &self.details;
        let refused = |d: &&Detail| matches!(d.kind, Some(Kind::Refused | Kind::NothingRelevant));
        let given = |d: &&Detail| matches!(d.kind, Some(Kind::Generated | Kind::Extractive));
        let answerable: Vec<&Detail> = details.iter().filter(|d| d.answerable && d.kind.is_some()).collect();
        let others: Vec<&Detail> = details.iter().filter(|d| !d.answerable && d.kind.is_some()).collect();
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

fn curve(details: &[Detail]) -> Vec<Point> {
    let count = |answerable: bool| details.iter().filter(|d| d.answerable == answerable).count();
    let over = |answerable: bool, threshold: f32| {
        details.iter().filter(|d| d.answerable == answerable && d.relevance >= threshold).count()
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

impl Expected {
    /// None for a question without an answer.
    fn places(&self) -> Vec<&str> {
        let all = match self {
            Self::One(one) => std::slice::from_ref(one),
            Self::Several(several) => several.as_slice(),
        };
        all.iter().map(String::as_str).filter(|p| *p != UNANSWERABLE).collect()
    }
}

/// Whether a passage is at `place`: `path`, `collection/path` or their end, with a heading or its anchor
/// behind `#`.
fn is_at(place: &str, collection: &str, path: &str, headings: &[String], anchor: &str) -> bool {
    let (file, heading) = place.split_once('#').map_or((place, None), |(f, h)| (f, Some(h.trim())));
    let whole = format!("{collection}/{path}");
    let same_file = whole == file || whole.strip_suffix(file).is_some_and(|rest| rest.ends_with('/'));
    same_file && heading.is_none_or(|h| anchor == h || headings.iter().any(|x| x == h))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_matched_by_file_and_heading() {
        let headings = ["Undo".to_owned(), "The safety net".to_owned()];
        let at = |place: &str| is_at(place, "git", "en/03-undo.md", &headings, "the-safety-net");
        for place in
            ["03-undo.md", "en/03-undo.md#The safety net", "git/en/03-undo.md#the-safety-net", "03-undo.md#Undo"]
        {
            assert!(at(place), "{place}");
        }
        for place in ["undo.md", "3-undo.md", "03-undo.md#Other", "zh/03-undo.md", "#Undo"] {
            assert!(!at(place), "{place}");
        }
    }

    fn detail(answerable: bool, kind: Kind, relevance: f32, cited: bool) -> Detail {
        let (question, evidence, confidence) = (String::new(), Evidence::default(), 0.5);
        Detail { question, answerable, kind: Some(kind), relevance, evidence, hit: cited, cited, confidence }
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
        let scores = tally.scores(None);
        assert_eq!((scores.retrieval_hit.count, scores.retrieval_hit.of), (1, 4));
        assert_eq!(scores.citation_validity.share, 0.75);
        assert_eq!((scores.citation_correctness.count, scores.citation_correctness.of), (1, 2));
        assert_eq!((scores.refusals_right.share, scores.refusals_wrong.share), (0.5, 0.5));
        assert_eq!(scores.refused_by_relevance, 2);
        let half = scores.curve.iter().find(|p| p.threshold == 0.5).expect("a point");
        assert_eq!((half.answered.share, half.refused.share), (0.75, 0.5));
    }

    #[test]
    fn questions_are_read_line_by_line() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("q.jsonl");
        let text = "{\"question\": \"a\", \"expected\": \"x.md#H\"}\n\n{\"question\": \"b\", \"expected\": \"unanswerable\"}\n\
                    {\"question\": \"c\", \"expected\": [\"x.md\", \"y.md\"], \"collection\": \"z\"}\n";
        std::fs::write(&path, text).expect("writes");
        let questions = read_questions(&path).expect("reads");
        let places: Vec<usize> = questions.iter().map(|q| q.expected.places().len()).collect();
        assert_eq!(places, [1, 0, 2]);
        std::fs::write(&path, "{\"question\": \"a\"}").expect("writes");
        assert!(read_questions(&path).expect_err("refused").to_string().contains("line 1"));
    }
}
