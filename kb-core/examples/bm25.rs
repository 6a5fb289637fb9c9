//! Ranks a retrieval test set by words alone and writes a run file.
//!
//! `cargo run --release -p kb-core --features build --example bm25 -- SETDIR RUNFILE`
//!
//! SETDIR holds corpus.jsonl with id, title, text and queries.jsonl with id, text. Each corpus entry is
//! one passage. A line of the run file: query id, corpus id, rank, score, separated by tabs.

// A program with files and arguments, unlike the library beside it.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use kb_core::document::plain;
use kb_core::index::lexical::LexicalBuilder;
use serde::Deserialize;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

#[derive(Deserialize)]
struct Entry {
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

fn read(path: &Path) -> Result<Vec<Entry>, Box<dyn Error>> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(text.lines().filter(|l| !l.is_empty()).map(serde_json::from_str).collect::<Result<_, _>>()?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(set), Some(run_file)) = (arguments.next(), arguments.next()) else {
        return Err("usage: bm25 SETDIR RUNFILE".into());
    };
    let set = Path::new(&set);
    let corpus = read(&set.join("corpus.jsonl"))?;
    let mut builder = LexicalBuilder::new();
    for entry in &corpus {
        builder.add(&entry.title, "", &plain(&entry.text).text)?;
    }
    let index = builder.build()?;
    let mut run = String::new();
    for query in read(&set.join("queries.jsonl"))? {
        for (rank, (chunk, score)) in index.search(&query.text, 10, None)?.into_iter().enumerate() {
            writeln!(run, "{}\t{}\t{}\t{score}", query.id, corpus[chunk as usize].id, rank + 1)?;
        }
    }
    std::fs::write(run_file, run)?;
    let raw: usize = corpus.iter().map(|e| e.title.len() + e.text.len()).sum();
    eprintln!(
        "{} passages, {} terms, index {} bytes, {:.1} % of the text",
        corpus.len(),
        index.term_count(),
        index.to_bytes().len(),
        100.0 * index.to_bytes().len() as f64 / raw as f64
    );
    Ok(())
}
