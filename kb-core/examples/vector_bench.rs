//! Exact scan against graph, as JSON on stdout: recall@10 against the cosine in f32, microseconds a
//! search, bytes a chunk, seconds to build and load.
//!
//!     cargo run --release -p kb-core --features vector --example vector_bench -- [SIZE…]
//!
//! Without sizes: 1000, 10000 and 100000 (minutes, one thread).

// A program with a clock and arguments, unlike the library beside it.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

#[path = "synthetic/vectors.rs"]
mod vectors;

use kb_core::bundle::{SectionKind, seal};
use kb_core::index::vector::{GraphOptions, VectorIndex};
use kb_core::search::VectorHit;
use std::error::Error;
use std::time::Instant;
use vectors::{DIM, sample};

const K: usize = 10;

fn main() -> Result<(), Box<dyn Error>> {
    let mut sizes: Vec<usize> = std::env::args().skip(1).map(|size| size.parse()).collect::<Result<_, _>>()?;
    if sizes.is_empty() {
        sizes = vec![1_000, 10_000, 100_000];
    }
    let rows = sizes.into_iter().map(measure).collect::<Result<Vec<_>, _>>()?;
    println!("{}", serde_json::to_string_pretty(&rows)?);
    Ok(())
}

fn measure(size: usize) -> Result<serde_json::Value, Box<dyn Error>> {
    eprintln!("{size} vectors");
    let (vectors, questions) = sample(size);
    let truth: Vec<Vec<u32>> = questions.iter().map(|q| best(&vectors, q)).collect();

    let mut index = VectorIndex::build(DIM, &vectors)?;
    let start = Instant::now();
    let (graph, report) = index.build_graph(&GraphOptions::default())?;
    let build = start.elapsed().as_secs_f64();
    let start = Instant::now();
    index.load_graph(&graph)?;
    let load = start.elapsed().as_secs_f64();

    let per_chunk = |bytes: usize| (bytes as f64 / size as f64 * 10.0).round() / 10.0;
    let (exact_recall, exact_us) = run(&questions, &truth, |q| index.search_exact(q, K, None))?;
    let (graph_recall, graph_us) = run(&questions, &truth, |q| index.search_graph(q, K))?;
    Ok(serde_json::json!({
        "vectors": size,
        "dim": DIM,
        "exact": { "recall10": exact_recall, "microseconds": exact_us },
        "graph": {
            "recall10": graph_recall,
            "microseconds": graph_us,
            "build_seconds": build,
            "load_seconds": load,
            "links_per_node": report.links as f64 / report.nodes as f64,
            "strays": report.strays,
        },
        "bytes_per_chunk": {
            "vectors": per_chunk(seal(SectionKind::Vectors, &index.to_bytes())?.len()),
            "graph": per_chunk(seal(SectionKind::Graph, &graph)?.len()),
        },
    }))
}

/// Recall and the median time of a search.
fn run(
    questions: &[Vec<f32>],
    truth: &[Vec<u32>],
    search: impl Fn(&[f32]) -> kb_core::Result<Vec<VectorHit>>,
) -> kb_core::Result<(f64, f64)> {
    let mut found = 0;
    let mut times = Vec::with_capacity(questions.len());
    for (question, truth) in questions.iter().zip(truth) {
        let start = Instant::now();
        let hits = search(question)?;
        times.push(start.elapsed().as_secs_f64() * 1e6);
        found += hits.iter().filter(|hit| truth.contains(&hit.chunk)).count();
    }
    times.sort_by(f64::total_cmp);
    Ok((found as f64 / (K * questions.len()) as f64, times.get(times.len() / 2).copied().unwrap_or_default()))
}

/// The `K` best by the product in f32, summed in f64.
fn best(vectors: &[f32], question: &[f32]) -> Vec<u32> {
    let score = |v: &[f32]| v.iter().zip(question).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum::<f64>();
    let mut all: Vec<(f64, u32)> = vectors.chunks_exact(DIM).zip(0..).map(|(v, i)| (score(v), i)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all.into_iter().take(K).map(|(_, i)| i).collect()
}
