//! How many of the ten nearest passages the graph finds: `graph_recall MODEL CACHE EF SET…`, EF at most 4096.
//!
//! Each SET is a test set as `kb-builder eval` reads it. Its passages are embedded with the model in folder MODEL by way
//! of the cache, and centred as a build does; every question is asked of all vectors and of the graph. Prints a line of
//! JSON for each set: recall@10, and the median time of both in microseconds, the embedding left out.

use kb_builder::build::{Passage, centring, embed_texts};
use kb_builder::embedding::EmbeddingModel;
use kb_builder::eval::{TestSet, corpus, text_to_embed};
use kb_builder::model::ModelFolder;
use kb_builder::report::{Reporter, Style};
use kb_core::embed::TextKind;
use kb_core::index::vector::{GraphOptions, VectorIndex, VectorMethod};
use kb_core::search::{KnowledgeBase, VectorHit};
use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::time::Instant;

const K: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [model, cache, ef, sets @ ..] = args.as_slice() else {
        return Err("usage: graph_recall MODEL CACHE EF SET…".into());
    };
    let model = EmbeddingModel::from(ModelFolder::read(Path::new(model))?);
    for set in sets {
        println!("{}", measure(&model, Path::new(cache), ef.parse()?, Path::new(set))?);
    }
    Ok(())
}

fn measure(
    model: &EmbeddingModel,
    cache: &Path,
    ef_search: usize,
    dir: &Path,
) -> Result<serde_json::Value, Box<dyn Error>> {
    let reporter = Reporter::new(Style::Quiet);
    let set = TestSet::read(dir)?;
    let (documents, chunks) = corpus(&set)?;
    let texts: Vec<String> = chunks.iter().map(|c| text_to_embed(&documents[c.doc as usize], c)).collect();
    let vectors = embed_texts(model, Some(cache), TextKind::Passage, &texts, &reporter)?.vectors;
    let asked: Vec<String> = set.queries.iter().map(|q| q.text.clone()).collect();
    let questions = embed_texts(model, Some(cache), TextKind::Query, &asked, &reporter)?.vectors;
    let passages: Vec<Passage> = chunks.iter().map(|c| Passage::new(&documents[c.doc as usize], c)).collect();
    let mut index = VectorIndex::build(model.info().dim, &vectors.concat())?;
    let means = centring(model, Some(cache), &passages, &vectors, &reporter)?;
    let groups = means.as_ref().map_or(0, |m| m.groups.len());
    if let Some(means) = means {
        index = index.with_centring(means)?;
    }
    let (graph, _) = index.build_graph(&GraphOptions { ef_search, ..GraphOptions::default() })?;
    index.load_graph(&graph)?;
    let mut answers: Vec<(Vec<Vec<VectorHit>>, f64)> = Vec::new();
    for method in [VectorMethod::Exact, VectorMethod::Graph] {
        index.set_method(method);
        let (mut found, mut times) = (Vec::new(), Vec::new());
        for (text, question) in asked.iter().zip(&questions) {
            let lang = KnowledgeBase::language_of(text);
            let started = Instant::now();
            found.push(index.search_as(question, lang, K, None)?);
            times.push(started.elapsed().as_secs_f64() * 1e6);
        }
        times.sort_by(f64::total_cmp);
        answers.push((found, times.get(times.len() / 2).copied().unwrap_or_default()));
    }
    let [(exact, exact_time), (walked, walked_time)] = answers.as_slice() else { unreachable!("two methods") };
    // A passage as near as the tenth is as good as it.
    let same = exact.iter().zip(walked).map(|(exact, walked)| {
        let least = exact.last().map_or(f32::MAX, |h| h.score) - 1e-4;
        walked.iter().filter(|hit| hit.score >= least).count()
    });
    let wanted: usize = exact.iter().map(Vec::len).sum();
    Ok(json!({
        "set": set.name, "passages": chunks.len(), "groups": groups, "ef": ef_search,
        "recall10": same.sum::<usize>() as f64 / wanted.max(1) as f64,
        "scan_us": exact_time, "graph_us": walked_time,
    }))
}
