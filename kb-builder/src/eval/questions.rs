//! The simple form of a test: a file with a question a line and where its answer stands, asked of a built
//! site.
//!
//! ```text
//! # comment
//! how do I undo a commit → course-en/03-undo.md#The safety net
//! 停用词要不要删 -> 03-tokenization.md
//! ```
//!
//! The place is a path, or its end, with the collection in front or not; behind `#` a heading's title or its
//! anchor. Several places are separated by ` | `. A file of JSON objects ([`super::asked`]), such as the page's download
//! of feedback, is read as well.

use super::asked::{self, Asked, Scope};
use super::set::{Question, TestSet};
use crate::error::{Error, Result};
use kb_core::document::Document;
use kb_core::search::Hit;
use std::collections::HashMap;
use std::path::Path;

/// Reads such a file as a set without a corpus: the places are its passages.
pub fn read(path: &Path) -> Result<TestSet> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
    let mut set = TestSet {
        name: path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default(),
        corpus: vec![],
        queries: vec![],
        relevant: HashMap::new(),
        unwanted: HashMap::new(),
    };
    if asked::is_json_lines(&text) {
        return from_asked(set, &asked::parse(&text, path)?, path);
    }
    for (i, line) in text.lines().enumerate() {
        let line = line.trim().trim_start_matches('\u{FEFF}');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let (question, places) = line.rsplit_once('→').or_else(|| line.rsplit_once("->")).ok_or_else(|| {
            Error::failed(
                format!("{}: line {} has no `→`", path.display(), i + 1),
                "a line is `question → file#heading`; `->` will do",
            )
        })?;
        let id = format!("line-{}", i + 1);
        let places: HashMap<String, f64> =
            places.split(" | ").map(|p| (p.trim().to_string(), 1.0)).filter(|(p, _)| !p.is_empty()).collect();
        if question.trim().is_empty() || places.is_empty() {
            return Err(Error::failed(
                format!("{}: line {} lacks its question or its place", path.display(), i + 1),
                "a line is `question → file#heading`",
            ));
        }
        set.queries.push(Question {
            id: id.clone(),
            text: question.trim().to_string(),
            lang: None,
            scope: Scope::default(),
        });
        set.relevant.insert(id, places);
    }
    if set.queries.is_empty() {
        return Err(Error::failed(
            format!("{} has no questions", path.display()),
            "a line is `question → file#heading`",
        ));
    }
    Ok(set)
}

/// The place of `places` that a hit is, else a name of its own.
pub fn place_of<'p>(mut places: impl Iterator<Item = &'p String>, hit: &Hit) -> String {
    match places.find(|p| is_at(hit, p)) {
        Some(place) => place.clone(),
        None => format!("{}/{}#{}", hit.collection, hit.path, hit.anchor),
    }
}

/// The questions with a place that no document of the base is at, with that place: more likely mistyped than not found.
pub fn unknown_places<'s>(set: &'s TestSet, documents: &[Document]) -> Vec<(&'s str, &'s str)> {
    let is_there = |place: &str| {
        documents.iter().any(|d| {
            let at = |headings: &[String], anchor: &str| asked::is_at(place, &d.collection, &d.path, headings, anchor);
            let titles = |s: usize| d.heading_path(s).into_iter().map(str::to_owned).collect::<Vec<_>>();
            at(&[], "") || d.sections.iter().enumerate().any(|(i, s)| at(&titles(i), &s.anchor))
        })
    };
    let mut unknown = Vec::new();
    for question in &set.queries {
        let mut places: Vec<&String> = set.relevant.get(&question.id).into_iter().flat_map(|p| p.keys()).collect();
        places.sort();
        unknown.extend(places.into_iter().filter(|p| !is_there(p)).map(|p| (question.text.as_str(), p.as_str())));
    }
    unknown
}

fn is_at(hit: &Hit, place: &str) -> bool {
    asked::is_at(place, &hit.collection, &hit.path, &hit.heading_path, &hit.anchor)
}

/// Only a question with a place, wanted or not, can be ranked.
fn from_asked(mut set: TestSet, questions: &[Asked], path: &Path) -> Result<TestSet> {
    for (i, asked) in questions.iter().enumerate() {
        let places: HashMap<String, f64> = asked.places().into_iter().map(|p| (p.to_string(), 1.0)).collect();
        if places.is_empty() && asked.unwanted.is_empty() {
            continue;
        }
        let id = format!("question-{}", i + 1);
        set.queries.push(Question {
            id: id.clone(),
            text: asked.question.trim().to_string(),
            lang: None,
            scope: asked.scope()?,
        });
        if !places.is_empty() {
            set.relevant.insert(id.clone(), places);
        }
        set.unwanted.insert(id, asked.unwanted.clone());
    }
    if set.queries.is_empty() {
        return Err(Error::failed(
            format!("no question of {} names a place", path.display()),
            "questions that cannot be answered are for `eval --answers`",
        ));
    }
    Ok(set)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kb_core::search::Excerpt;

    fn hit(collection: &str, path: &str, headings: &[&str], anchor: &str) -> Hit {
        Hit {
            rank: 1,
            score: 1.0,
            lexical_score: None,
            vector_score: None,
            chunk_id: String::new(),
            chunk: 0,
            collection: collection.into(),
            path: path.into(),
            title: String::new(),
            heading_path: headings.iter().map(|h| h.to_string()).collect(),
            anchor: anchor.into(),
            url: None,
            lang: "en".into(),
            kind: kb_core::chunk::ChunkKind::Text,
            excerpt: Excerpt { text: String::new(), marks_bytes: vec![] },
        }
    }

    #[test]
    fn lines_are_questions_and_places() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("q.txt");
        std::fs::write(&path, "# c\n\na -> b → x.md#H h | y.md\n停用词 -> z.md\n").expect("writes");
        let set = read(&path).expect("reads");
        assert_eq!(set.queries.iter().map(|q| q.text.as_str()).collect::<Vec<_>>(), ["a -> b", "停用词"]);
        assert_eq!(set.relevant["line-3"].len(), 2);
        for bad in ["no arrow\n", "q →  \n", "→ x\n", "# nothing\n"] {
            std::fs::write(&path, bad).expect("writes");
            assert!(read(&path).is_err(), "{bad}");
        }
    }

    #[test]
    fn feedback_is_a_file_of_questions_too() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("feedback.jsonl");
        let text = "{\"question\": \"a\", \"expected\": [\"x.md\"], \"unwanted\": [\"y.md#H\"], \"collection\": \"c\"}\n\
                    {\"question\": \"b\", \"expected\": \"unanswerable\"}\n{\"question\": \"c\", \"unwanted\": [\"z.md\"]}\n";
        std::fs::write(&path, text).expect("writes");
        let set = read(&path).expect("reads");
        assert_eq!(set.queries.iter().map(|q| q.text.as_str()).collect::<Vec<_>>(), ["a", "c"]);
        assert_eq!(set.queries[0].scope.collections, ["c"]);
        assert_eq!((set.relevant.len(), set.unwanted["question-1"].len()), (1, 1));
        std::fs::write(&path, "{\"question\": \"b\", \"expected\": \"unanswerable\"}\n").expect("writes");
        assert!(read(&path).expect_err("refused").to_string().contains("names a place"));
    }

    #[test]
    fn a_hit_is_at_a_place() {
        let hit = hit("course", "unit/undo.md", &["Undo", "The net"], "the-net");
        for (place, expected) in [
            ("course/unit/undo.md", true),
            ("undo.md", true),
            ("unit/undo.md#The net", true),
            ("undo.md#the-net", true),
            ("undo.md#Undo", true),
            ("do.md", false),
            ("undo.md#Other", false),
            ("other/unit/undo.md", false),
        ] {
            assert_eq!(is_at(&hit, place), expected, "{place}");
        }
        let places = ["x.md".to_string(), "undo.md".to_string()];
        assert_eq!(place_of(places.iter(), &hit), "undo.md");
        assert_eq!(place_of(places[..1].iter(), &hit), "course/unit/undo.md#the-net");
    }
}
