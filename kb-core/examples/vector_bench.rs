//! Exact scan against graph, as JSON on stdout: recall@10 against the cosine in f32, microseconds a
//! search, bytes a chunk, seconds to build and load.
//!
//!     cargo run --release -p kb-core --features vector --example vector_bench -- [SIZE…]
//!
//! Without sizes: 1000, 10000 and 100000 (minutes, one thread). The vectors are clusters within
//! clusters in 48 dimensions, put into 384 with a large common part, as sentence vectors are.

// A program with a clock and arguments, unlike the library beside it.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use kb_core::bundle::{SectionKind, seal};
use kb_core::index::vector::{GraphOptions, VectorIndex};
use kb_core::search::VectorHit;
use std::error::Error;
use std::time::Instant;

const DIM: usize = 384;
const LATENT: usize = 48;
const QUESTIONS: usize = 200;
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

fn sample(size: usize) -> (Vec<f32>, Vec<Vec<f32>>) {
    let mut random = Random(42);
    let matrix = random.normals(LATENT * DIM, (DIM as f32).sqrt().recip());
    let common = random.normals(DIM, 9.0 / (DIM as f32).sqrt());
    let outer: Vec<Vec<f32>> = (0..40).map(|_| random.normals(LATENT, 1.0)).collect();
    let inner: Vec<Vec<f32>> = (0..size / 50 + 1)
        .map(|_| {
            let centre = &outer[random.below(outer.len())];
            centre.iter().map(|c| c + 0.7 * random.normal()).collect()
        })
        .collect();
    let mut vectors = Vec::with_capacity(size * DIM);
    for _ in 0..size {
        let centre = &inner[random.below(inner.len())];
        let latent: Vec<f32> = centre.iter().map(|c| c + 0.5 * random.normal()).collect();
        let mut vector: Vec<f32> = common.iter().map(|c| c + 0.05 * random.normal()).collect();
        for (l, row) in latent.iter().zip(matrix.chunks_exact(DIM)) {
            vector.iter_mut().zip(row).for_each(|(v, m)| *v += l * m);
        }
        vectors.extend(unit(vector));
    }
    let questions = (0..QUESTIONS).map(|_| {
        let at = random.below(size) * DIM;
        unit(vectors[at..at + DIM].iter().map(|x| x + 0.012 * random.normal()).collect())
    });
    let questions = questions.collect();
    (vectors, questions)
}

fn unit(mut vector: Vec<f32>) -> Vec<f32> {
    let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
    vector.iter_mut().for_each(|x| *x /= norm);
    vector
}

/// SplitMix64 (Steele, Lea, Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// About normal: the sum of twelve uniform numbers less 6.
    fn normal(&mut self) -> f32 {
        (0..12).map(|_| (self.next() >> 40) as f32 / (1u64 << 24) as f32).sum::<f32>() - 6.0
    }

    fn normals(&mut self, count: usize, scale: f32) -> Vec<f32> {
        (0..count).map(|_| scale * self.normal()).collect()
    }
}
