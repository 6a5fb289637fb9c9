//! Reading a test set.

use super::asked::Scope;
use crate::error::{Error, Result};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// A passage of the corpus.
#[derive(Debug, Clone, Deserialize)]
pub struct Entry {
    /// Its id in qrels.tsv.
    pub id: String,
    /// May be empty.
    #[serde(default)]
    pub title: String,
    /// The passage.
    pub text: String,
}

/// A question.
#[derive(Debug, Clone, Deserialize)]
pub struct Question {
    /// Its id in qrels.tsv.
    pub id: String,
    /// What is asked.
    pub text: String,
    /// Language code, where the set says so.
    #[serde(default)]
    pub lang: Option<String>,
    /// Which documents of a site it is asked of.
    #[serde(skip)]
    pub scope: Scope,
}

/// A test set in memory.
#[derive(Debug)]
pub struct TestSet {
    /// Name of its folder.
    pub name: String,
    /// All passages.
    pub corpus: Vec<Entry>,
    /// All questions.
    pub queries: Vec<Question>,
    /// Question id → passage id → gain, above 0.
    pub relevant: HashMap<String, HashMap<String, f64>>,
    /// Question id → places that a reader marked as of no use.
    pub unwanted: HashMap<String, Vec<String>>,
}

impl TestSet {
    /// Reads the folder and checks that its parts fit together.
    pub fn read(dir: &Path) -> Result<Self> {
        let name = dir
            .canonicalize()
            .ok()
            .and_then(|d| d.file_name().map(|n| n.to_string_lossy().into_owned()))
            .unwrap_or_default();
        let corpus: Vec<Entry> = lines(&dir.join("corpus.jsonl"))?;
        let queries: Vec<Question> = lines(&dir.join("queries.jsonl"))?;
        let relevant = qrels(&dir.join("qrels.tsv"))?;
        let mut ids = HashSet::new();
        if let Some(twice) = corpus.iter().find(|e| !ids.insert(e.id.as_str())) {
            return Err(invalid(&dir.join("corpus.jsonl"), &format!("the id {} is there twice", twice.id)));
        }
        if let Some(without) = queries.iter().find(|q| !relevant.contains_key(&q.id)) {
            return Err(invalid(
                &dir.join("qrels.tsv"),
                &format!("the question {} has no relevant passage", without.id),
            ));
        }
        if corpus.is_empty() || queries.is_empty() {
            return Err(invalid(dir, "it has no passages or no questions"));
        }
        Ok(Self { name, corpus, queries, relevant, unwanted: HashMap::new() })
    }
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))
}

fn lines<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>> {
    let text = read(path)?;
    let numbered = text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    numbered.map(|(i, l)| serde_json::from_str(l).map_err(|e| invalid(path, &format!("line {}: {e}", i + 1)))).collect()
}

/// `question TAB passage TAB gain` after a header line. Gains of 0 are not relevant.
fn qrels(path: &Path) -> Result<HashMap<String, HashMap<String, f64>>> {
    let mut relevant: HashMap<String, HashMap<String, f64>> = HashMap::new();
    for (i, line) in read(path)?.lines().enumerate().skip(1).filter(|(_, l)| !l.trim().is_empty()) {
        let bad =
            || invalid(path, &format!("line {}: not a question, a passage and a gain with tabs between them", i + 1));
        let parts: Vec<&str> = line.split('\t').collect();
        let [question, passage, gain] = parts[..] else { return Err(bad()) };
        let gain: f64 = gain.trim().parse().map_err(|_| bad())?;
        if gain > 0.0 {
            relevant.entry(question.into()).or_default().insert(passage.into(), gain);
        }
    }
    Ok(relevant)
}

fn invalid(path: &Path, what: &str) -> Error {
    Error::failed(
        format!("{}: {what}", path.display()),
        "a test set is a folder with corpus.jsonl {id, title, text}, queries.jsonl {id, text} and qrels.tsv (question, passage, gain; one header line)",
    )
}
