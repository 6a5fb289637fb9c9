//! The questions of `docs/demo-questions.json`, asked of the built demo: each must find its document by meaning.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::counts::Counts;
use crate::report::Outcome;
use crate::{paths, run};

/// The document must be among this many hits.
const TOP: &str = "3";

/// A question, and where its answer stands.
struct Question {
    text: String,
    collection: String,
    path: String,
    heading: String,
    /// The collection that the search is restricted to, for a question in another language than its document.
    within: Option<String>,
}

/// Asks every question; each counts as one test.
pub fn check(program: &Path, site: &Path) -> Result<Outcome> {
    let text =
        fs::read_to_string(paths::root().join("docs/demo-questions.json")).context("cannot read the questions")?;
    let questions = read(&text)?;
    let mut counts = Counts::default();
    for question in &questions {
        match question.ask(program, site) {
            Ok(()) => counts.passed += 1,
            Err(e) => {
                counts.failed += 1;
                println!("{}: {e:#}", question.text);
            }
        }
    }
    println!("{} of {} questions found their document", counts.passed, questions.len());
    Ok(Outcome::Counted { counts, success: counts.failed == 0 })
}

fn read(text: &str) -> Result<Vec<Question>> {
    let list: Value = serde_json::from_str(text)?;
    let list = list.as_array().context("the questions are not a list")?;
    list.iter()
        .map(|entry| {
            let field = |name: &str| entry[name].as_str().map(str::to_string);
            let needed = |name: &str| field(name).with_context(|| format!("a question without `{name}`: {entry}"));
            Ok(Question {
                text: needed("question")?,
                collection: needed("collection")?,
                path: needed("path")?,
                heading: needed("heading")?,
                within: field("within"),
            })
        })
        .collect()
}

impl Question {
    /// The document must be found, and no word of the question may stand in the passage that answers it.
    fn ask(&self, program: &Path, site: &Path) -> Result<()> {
        let hits = self.search(program, site, "hybrid", TOP)?;
        let found: Vec<&str> = hits.iter().filter_map(|h| h["path"].as_str()).collect();
        ensure!(hits.iter().any(|h| self.is_document(h)), "not among the first {TOP}: {found:?}");
        let by_words = self.search(program, site, "lexical", "100")?;
        ensure!(!by_words.iter().any(|h| self.is_passage(h)), "the passage shares a word with the question");
        Ok(())
    }

    fn search(&self, program: &Path, site: &Path, mode: &str, k: &str) -> Result<Vec<Value>> {
        let mut command = Command::new(program);
        command.arg("search").arg(site).arg(&self.text).args(["--json", "--mode", mode, "-k", k]);
        if let Some(collection) = &self.within {
            command.args(["--collection", collection]);
        }
        let answer: Value = serde_json::from_str(&run::output(&mut command)?).context("the answer is not JSON")?;
        answer["hits"].as_array().cloned().context("the answer has no hits")
    }

    fn is_document(&self, hit: &Value) -> bool {
        hit["collection"] == self.collection.as_str() && hit["path"] == self.path.as_str()
    }

    fn is_passage(&self, hit: &Value) -> bool {
        let last = hit["heading_path"].as_array().and_then(|p| p.last());
        self.is_document(hit) && last.is_some_and(|h| *h == self.heading.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_question_names_a_heading_that_exists() {
        let root = paths::root();
        let text = fs::read_to_string(root.join("docs/demo-questions.json")).expect("questions");
        let questions = read(&text).expect("a list");
        assert!(questions.len() >= 20);
        for question in questions {
            let path = root.join("docs").join(&question.collection).join(&question.path);
            let document = fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
            let there =
                document.lines().any(|l| l.trim_start_matches('#').trim() == question.heading && l.starts_with('#'));
            assert!(there, "{} has no heading `{}`", path.display(), question.heading);
        }
    }

    #[test]
    fn a_question_without_a_document_is_refused() {
        assert!(read(r#"[{"question": "x", "collection": "c", "heading": "h"}]"#).is_err());
        assert!(read("{}").is_err());
    }
}
