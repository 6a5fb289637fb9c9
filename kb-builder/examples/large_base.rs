//! A large synthetic base: `large_base SIZE DIR [--search]`.
//!
//! Writes the bundle of SIZE made-up passages with made-up vectors to DIR, and questions to DIR/questions.json: words
//! of a passage, and a vector near another. With `--search` it opens the bundle as a reader's machine would and prints
//! as JSON how long questions take here, without embedding them; tests/bench/page/large.mjs asks them in a browser.

#[path = "synthetic/pages.rs"]
mod pages;
#[path = "../../kb-core/examples/synthetic/vectors.rs"]
mod vectors;

use kb_builder::base::Base;
use kb_core::bundle::{BundleBuilder, MANIFEST_FILE, SectionKind, seal};
use kb_core::chunk::{Chunk, ChunkStrategy};
use kb_core::document::Document;
use kb_core::document::markdown::parse_markdown;
use kb_core::embed::ModelInfo;
use kb_core::index::lexical::LexicalBuilder;
use kb_core::index::vector::{GraphOptions, VectorIndex};
use kb_core::search::{Mode, Query};
use pages::{Numbers, Vocabulary, corpus};
use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::time::Instant;
use vectors::{DIM, QUESTIONS, sample};

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (size, dir, search) = match args.as_slice() {
        [size, dir] => (size.parse()?, Path::new(dir), false),
        [size, dir, flag] if flag == "--search" => (size.parse()?, Path::new(dir), true),
        _ => return Err("usage: large_base SIZE DIR [--search]".into()),
    };
    if !dir.join(MANIFEST_FILE).is_file() {
        write(size, dir)?;
    }
    if search {
        println!("{}", serde_json::to_string_pretty(&measure(dir)?)?);
    }
    Ok(())
}

fn write(size: usize, dir: &Path) -> Result<(), Box<dyn Error>> {
    let strategy = ChunkStrategy::default();
    let (mut documents, mut chunks): (Vec<Document>, Vec<Chunk>) = (Vec::new(), Vec::new());
    for (i, page) in corpus(usize::MAX).enumerate() {
        if chunks.len() >= size {
            break;
        }
        let mut document = parse_markdown(&format!("{}/{i}.md", i % 100), &page).document;
        document.collection = "synthetic".into();
        chunks.extend(strategy.chunk(&document, i as u32)?);
        documents.push(document);
    }
    chunks.truncate(size);
    let mut lexical = LexicalBuilder::new();
    for chunk in &chunks {
        lexical.add_chunk(&documents[chunk.doc as usize], chunk)?;
    }
    let words = lexical.to_bytes()?;
    // As `kb-builder build` divides it.
    let (head, parts) = lexical.to_parts((words.len() / 64).max(24 << 10))?;
    let (flat, questions) = sample(size);
    let index = VectorIndex::build(DIM, &flat)?;
    let (graph, _) = index.build_graph(&GraphOptions::default())?;
    let model: ModelInfo = serde_json::from_value(json!({
        "name": "synthetic", "dim": DIM, "max_tokens": 512, "pooling": "mean", "normalise": true,
        "query_prefix": "", "passage_prefix": "", "fingerprint": "0".repeat(64),
    }))?;
    let text_bytes: usize = documents.iter().map(|d| d.text.len()).sum();
    let per = |bytes: usize| (bytes as f64 / size as f64 * 10.0).round() / 10.0;
    let bundle = BundleBuilder::new("large_base", &documents, &chunks)
        .title("Synthetic")
        .language("en")
        .lexical_parts(head, parts)
        .vectors(model, index.to_bytes())
        .graph(graph)
        .finish()?;
    let mut sections = std::collections::BTreeMap::<&str, usize>::new();
    for section in &bundle.manifest.sections {
        *sections.entry(section.kind.name()).or_default() += section.bytes as usize;
    }
    eprintln!(
        "{}",
        json!({
            "passages": size, "documents": documents.len(), "text_bytes": text_bytes,
            "bytes_a_passage": sections.iter().map(|(k, v)| (*k, per(*v))).collect::<std::collections::BTreeMap<_, _>>(),
            "words_whole": per(seal(SectionKind::Lexical, &words)?.len()),
            "words_of_text": words.len() as f64 / text_bytes as f64,
        })
    );
    std::fs::create_dir_all(dir)?;
    std::fs::write(dir.join(MANIFEST_FILE), &bundle.manifest_json)?;
    for file in &bundle.files {
        std::fs::write(dir.join(&file.name), &file.bytes)?;
    }
    let (mut n, vocabulary) = (Numbers(99), Vocabulary::new());
    let asked: Vec<_> = questions
        .iter()
        .map(|vector| {
            let words: Vec<&str> = (0..3 + n.below(8)).map(|_| vocabulary.word(&mut n)).collect();
            json!({ "text": words.join(" "), "vector": vector })
        })
        .collect();
    std::fs::write(dir.join("questions.json"), serde_json::to_vec(&asked)?)?;
    Ok(())
}

fn measure(dir: &Path) -> Result<serde_json::Value, Box<dyn Error>> {
    let started = Instant::now();
    let base = Base::open(dir, true)?;
    let opened = started.elapsed().as_secs_f64();
    let asked: Vec<serde_json::Value> = serde_json::from_slice(&std::fs::read(dir.join("questions.json"))?)?;
    let mut report = serde_json::Map::new();
    for (name, mode) in [("words", Mode::Lexical), ("words_and_meaning", Mode::Hybrid)] {
        let mut times = Vec::with_capacity(QUESTIONS);
        for question in &asked {
            let text = question["text"].as_str().unwrap_or_default().to_owned();
            let vector: Vec<f32> = serde_json::from_value(question["vector"].clone())?;
            let query = Query { text, mode, ..Query::default() };
            let best = (0..3).map(|_| {
                let started = Instant::now();
                base.search(&query, Some(&vector)).map(|_| started.elapsed().as_secs_f64() * 1e3)
            });
            times.push(best.collect::<Result<Vec<_>, _>>()?.into_iter().fold(f64::MAX, f64::min));
        }
        times.sort_by(f64::total_cmp);
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        report.insert(name.into(), json!({ "median_ms": at(50), "p95_ms": at(95) }));
    }
    report.insert("open_seconds".into(), json!(opened));
    Ok(report.into())
}
