//! A file of questions, one JSON object a line: what is asked, where the answer stands, and what a reader did not
//! want. The page's download of feedback has this form.

use crate::error::{Error, Result};
use kb_core::search::Filter;
use serde::Deserialize;
use std::path::Path;

/// What stands in place of an expected source for a question that the base cannot answer.
const UNANSWERABLE: &str = "unanswerable";

/// What a line is, for those who get it wrong.
const FORM: &str = "a line is {\"question\": \"…\", \"expected\": \"path#heading\"}, or \"unanswerable\" as expected, or \"unwanted\": [\"path#heading\"]";

/// A line of the file. Fields that are not known are left alone.
#[derive(Debug, Clone, Deserialize)]
pub struct Asked {
    /// What is asked.
    pub question: String,
    /// `path#heading` of every place that answers it, or `unanswerable`.
    expected: Option<Expected>,
    /// Places that were marked as of no use for this question.
    #[serde(default)]
    pub unwanted: Vec<String>,
    /// Only this collection.
    #[serde(default)]
    pub collection: Option<String>,
    /// `KEY=VALUE`
    #[serde(default)]
    filters: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Expected {
    One(String),
    Several(Vec<String>),
}

/// Which documents a question is asked of.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Scope {
    /// Only these collections; all if empty.
    pub collections: Vec<String>,
    /// Only documents with this.
    pub filters: Vec<Filter>,
}

impl Asked {
    /// Where the answer stands: none for a question that the base cannot answer, and for one of which only that is
    /// known which places are of no use.
    pub fn places(&self) -> Vec<&str> {
        let all = match &self.expected {
            None => &[],
            Some(Expected::One(one)) => std::slice::from_ref(one),
            Some(Expected::Several(several)) => several.as_slice(),
        };
        all.iter().map(|p| p.trim()).filter(|p| !p.is_empty() && *p != UNANSWERABLE).collect()
    }

    fn is_unanswerable(&self) -> bool {
        match &self.expected {
            Some(Expected::One(one)) => one.trim() == UNANSWERABLE,
            Some(Expected::Several(several)) => several.iter().any(|p| p.trim() == UNANSWERABLE),
            None => false,
        }
    }

    /// Whether the base answers it; none if the line does not say.
    pub fn answerable(&self) -> Option<bool> {
        self.expected.as_ref().map(|_| !self.places().is_empty())
    }

    /// Which documents it is asked of.
    pub fn scope(&self) -> Result<Scope> {
        let filters = self.filters.iter().map(|f| f.parse()).collect::<std::result::Result<_, kb_core::Error>>()?;
        Ok(Scope { collections: self.collection.iter().cloned().collect(), filters })
    }
}

/// That a base has the collections of a question's scope: with one that is mistyped nothing would ever be found.
///
/// # Errors
/// [`Error::Usage`] names the question and what there is.
pub fn check_scope(question: &str, scope: &Scope, known: &[&str]) -> Result<()> {
    match scope.collections.iter().find(|c| !known.contains(&c.as_str())) {
        Some(unknown) => Err(Error::usage(
            format!("“{question}” is asked of the collection `{unknown}`, which is not there"),
            format!("this knowledge base has {}", known.join(", ")),
        )),
        None => Ok(()),
    }
}

/// Whether a text is such a file: its first line is an object.
pub fn is_json_lines(text: &str) -> bool {
    text.trim_start_matches('\u{feff}').trim_start().starts_with('{')
}

/// Reads the questions.
pub fn read(path: &Path) -> Result<Vec<Asked>> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
    parse(&text, path)
}

/// The questions of a text; `path` is for what is said about mistakes.
pub fn parse(text: &str, path: &Path) -> Result<Vec<Asked>> {
    let wrong = |i: usize, what: &str| Error::failed(format!("{}: line {}: {what}", path.display(), i + 1), FORM);
    let lines = text.trim_start_matches('\u{feff}').lines().enumerate().filter(|(_, l)| !l.trim().is_empty());
    let questions = lines
        .map(|(i, line)| {
            let asked: Asked = serde_json::from_str(line).map_err(|e| wrong(i, &e.to_string()))?;
            if asked.question.trim().is_empty() {
                return Err(wrong(i, "the question is empty"));
            }
            if asked.expected.is_none() && asked.unwanted.is_empty() {
                return Err(wrong(i, "it has neither `expected` nor `unwanted`"));
            }
            // Places that are none would make it a question that nothing answers.
            if asked.expected.is_some() && asked.places().is_empty() && !asked.is_unanswerable() {
                return Err(wrong(i, "`expected` names no place"));
            }
            asked.scope().map_err(|e| wrong(i, &e.to_string()))?;
            Ok(asked)
        })
        .collect::<Result<Vec<_>>>()?;
    if questions.is_empty() {
        return Err(Error::failed(format!("{} has no questions", path.display()), FORM));
    }
    Ok(questions)
}

/// Whether a passage is at `place`: `path`, `collection/path` or their end, with a heading or its anchor behind `#`.
pub fn is_at(place: &str, collection: &str, path: &str, headings: &[String], anchor: &str) -> bool {
    let (file, heading) = place.split_once('#').unwrap_or((place, ""));
    let (file, heading) = (file.trim(), heading.trim());
    let whole = format!("{collection}/{path}");
    let same_file = whole == file || whole.strip_suffix(file).is_some_and(|rest| rest.ends_with('/'));
    same_file && (heading.is_empty() || anchor == heading || headings.iter().any(|h| h == heading))
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

    #[test]
    fn lines_say_what_is_expected_and_what_is_not_wanted() {
        let text = "\u{feff}{\"question\": \"a\", \"expected\": \"x.md#H\"}\n\n\
                    {\"question\": \"b\", \"expected\": \"unanswerable\", \"given\": [{\"useful\": true}]}\n\
                    {\"question\": \"c\", \"expected\": [\"x.md\", \"y.md\"], \"collection\": \"z\", \"filters\": [\"lang=en\"]}\n\
                    {\"question\": \"d\", \"unwanted\": [\"w.md\"]}\n";
        let questions = parse(text, Path::new("q")).expect("reads");
        let seen: Vec<_> = questions.iter().map(|q| (q.places().len(), q.answerable())).collect();
        assert_eq!(seen, [(1, Some(true)), (0, Some(false)), (2, Some(true)), (0, None)]);
        let scope = questions[2].scope().expect("scope");
        assert_eq!((scope.collections, scope.filters.len()), (vec!["z".to_owned()], 1));
        assert_eq!(questions[3].unwanted, ["w.md"]);
        assert!(is_json_lines(text) && !is_json_lines("# c\na → b.md\n"));
        for bad in [
            "{\"question\": \"a\"}",
            "{\"question\": \" \", \"expected\": \"x\"}",
            "[]",
            "{\"question\": \"a\", \"expected\": []}",
            "{\"question\": \"a\", \"expected\": \" \", \"unwanted\": [\"x\"]}",
            "",
            "{\"question\": \"a\", \"expected\": \"x\", \"filters\": [\"nonsense\"]}",
        ] {
            let said = parse(bad, Path::new("q")).expect_err(bad);
            assert!(bad.is_empty() || said.to_string().contains("line 1"), "{said}");
            assert_eq!(said.hint(), Some(FORM));
        }
    }
}
