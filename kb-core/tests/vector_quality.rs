//! What quantisation and the graph cost in accuracy, against the definition of the cosine in f64.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::disallowed_types)]
#![cfg(feature = "vector")]

mod common;

use common::{Random, clustered};
use kb_core::ErrorKind;
use kb_core::index::vector::{GraphOptions, VectorIndex};

const DIM: usize = 384;

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// The true order, best first.
fn truth(vectors: &[f32], query: &[f32]) -> Vec<(f64, u32)> {
    let mut all: Vec<(f64, u32)> = vectors.chunks_exact(DIM).zip(0..).map(|(v, i)| (cosine(v, query), i)).collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    all
}

/// Vectors, and questions that lie near some of them as questions lie near their passages.
fn sample(count: usize, questions: usize) -> (Vec<f32>, Vec<Vec<f32>>) {
    let mut random = Random(42);
    let vectors = clustered(&mut random, count, DIM, count / 40, 0.6);
    let near = |random: &mut Random| {
        let at = random.below(count) * DIM;
        vectors[at..at + DIM].iter().map(|x| x + 0.02 * random.normal()).collect()
    };
    let questions = (0..questions).map(|_| near(&mut random)).collect();
    (vectors, questions)
}

#[test]
fn a_scan_scores_close_to_the_cosine() {
    let (vectors, questions) = sample(2000, 40);
    let index = VectorIndex::build(DIM, &vectors).unwrap();
    let (mut found, mut squares, mut count) = (0, 0.0, 0);
    for question in &questions {
        let truth = truth(&vectors, question);
        let hits = index.search_exact(question, index.len(), None).unwrap();
        for hit in &hits {
            let v = &vectors[hit.chunk as usize * DIM..][..DIM];
            let error = f64::from(hit.score) - cosine(v, question);
            assert!(error.abs() < 1.5e-3, "{error}");
            squares += error * error;
            count += 1;
        }
        let best: Vec<u32> = hits.iter().take(10).map(|h| h.chunk).collect();
        found += truth.iter().take(10).filter(|(_, i)| best.contains(i)).count();
    }
    let deviation = (squares / f64::from(count)).sqrt();
    assert!(deviation < 3e-4, "standard deviation of the error {deviation}");
    let recall = found as f64 / (10 * questions.len()) as f64;
    assert!(recall >= 0.97, "recall@10 of the scan {recall}");
}

#[test]
fn a_vector_finds_itself_with_cosine_one() {
    let (vectors, _) = sample(300, 0);
    let index = VectorIndex::build(DIM, &vectors).unwrap();
    for (i, vector) in vectors.chunks_exact(DIM).enumerate() {
        let hit = index.search_exact(vector, 1, None).unwrap()[0];
        assert_eq!(hit.chunk, i as u32);
        assert!((hit.score - 1.0).abs() < 1e-4, "{}", hit.score);
    }
}

#[test]
fn the_graph_finds_what_the_scan_finds() {
    let (vectors, questions) = sample(5000, 100);
    let mut index = VectorIndex::build(DIM, &vectors).unwrap();
    let (graph, report) = index.build_graph(&GraphOptions::default()).unwrap();
    assert_eq!((report.nodes, report.folded), (5000, 0));
    index.load_graph(&graph).unwrap();
    let mut found = 0;
    for question in &questions {
        let exact = index.search_exact(question, 10, None).unwrap();
        let walked = index.search_graph(question, 10).unwrap();
        assert_eq!(walked.len(), 10);
        // What both find has the same score, bit for bit.
        found += exact.iter().filter(|hit| walked.contains(hit)).count();
    }
    let recall = found as f64 / (10 * questions.len()) as f64;
    assert!(recall >= 0.95, "recall@10 of the graph {recall}");
}

#[test]
fn the_same_vectors_give_the_same_bytes() {
    let (vectors, _) = sample(1500, 0);
    let index = VectorIndex::build(DIM, &vectors).unwrap();
    let again = VectorIndex::from_bytes(&index.to_bytes()).unwrap();
    assert_eq!(index.to_bytes(), again.to_bytes());
    let options = GraphOptions::default();
    assert_eq!(index.build_graph(&options).unwrap(), again.build_graph(&options).unwrap());
}

#[test]
fn the_result_does_not_depend_on_where_it_came_from() {
    let (vectors, questions) = sample(500, 20);
    let index = VectorIndex::build(DIM, &vectors).unwrap();
    let read = VectorIndex::from_bytes(&index.to_bytes()).unwrap();
    for question in &questions {
        assert_eq!(index.search_exact(question, 30, None).unwrap(), read.search_exact(question, 30, None).unwrap());
    }
}

#[test]
fn conditions_hold() {
    let (vectors, questions) = sample(1000, 5);
    let index = VectorIndex::build(DIM, &vectors).unwrap();
    for question in &questions {
        let all = index.search_exact(question, 1000, None).unwrap();
        let third = |chunk: u32| chunk.is_multiple_of(3);
        let hits = index.search(question, 10, Some(&third)).unwrap();
        let expected: Vec<_> = all.into_iter().filter(|hit| third(hit.chunk)).take(10).collect();
        assert_eq!(hits, expected);
    }
}

/// A page that stands in the base a thousand times must neither hide the others nor be hidden.
#[test]
fn equal_vectors_do_not_cut_the_graph() {
    let (mut vectors, questions) = sample(1200, 30);
    let same = vectors[..DIM].to_vec();
    (0..1000).for_each(|_| vectors.extend_from_slice(&same));
    let mut index = VectorIndex::build(DIM, &vectors).unwrap();
    let (graph, report) = index.build_graph(&GraphOptions::default()).unwrap();
    assert_eq!((report.nodes, report.folded), (1200, 1000));
    index.load_graph(&graph).unwrap();
    let hits = index.search_graph(&same, 50).unwrap();
    assert_eq!(hits, index.search_exact(&same, 50, None).unwrap());
    assert_eq!(hits[0].chunk, 0);
    assert_eq!(hits[1].chunk, 1200);
    let mut found = 0;
    for question in &questions {
        let walked = index.search_graph(question, 10).unwrap();
        found += index.search_exact(question, 10, None).unwrap().iter().filter(|h| walked.contains(h)).count();
    }
    assert!(found >= 285, "{found} of 300");
}

/// Two far-apart heaps of near-equal vectors: the walk must get from one to the other.
#[test]
fn far_clusters_are_reached() {
    let mut random = Random(9);
    let mut vectors = Vec::new();
    for cluster in 0..20 {
        let centre: Vec<f32> = (0..DIM).map(|_| random.normal()).collect();
        for _ in 0..150 {
            vectors.extend(centre.iter().map(|c| c + 0.05 * random.normal()));
        }
        assert_eq!(vectors.len(), (cluster + 1) * 150 * DIM);
    }
    let mut index = VectorIndex::build(DIM, &vectors).unwrap();
    let (graph, _) = index.build_graph(&GraphOptions::default()).unwrap();
    index.load_graph(&graph).unwrap();
    for cluster in 0..20u32 {
        let at = (cluster as usize * 150 + 7) * DIM;
        let hits = index.search_graph(&vectors[at..at + DIM], 10).unwrap();
        assert!(hits.iter().all(|h| h.chunk / 150 == cluster), "cluster {cluster}");
        assert_eq!(hits[0].chunk, cluster * 150 + 7);
    }
}

#[test]
fn small_and_odd_sizes_work() {
    for (count, dim) in [(1, 1), (1, 384), (2, 3), (33, 17), (70, 100)] {
        let mut random = Random(count as u64);
        let vectors: Vec<f32> = (0..count * dim).map(|_| random.normal()).collect();
        let mut index = VectorIndex::build(dim, &vectors).unwrap();
        let (graph, _) = index.build_graph(&GraphOptions::default()).unwrap();
        index.load_graph(&graph).unwrap();
        let exact = index.search_exact(&vectors[..dim], 5, None).unwrap();
        assert_eq!(exact.len(), count.min(5));
        assert_eq!(index.search_graph(&vectors[..dim], 5).unwrap(), exact);
    }
    let empty = VectorIndex::build(384, &[]).unwrap();
    assert!(VectorIndex::from_bytes(&empty.to_bytes()).unwrap().search(&[1.0; 384], 5, None).unwrap().is_empty());
    assert_eq!(empty.build_graph(&GraphOptions::default()).unwrap_err().kind(), ErrorKind::InvalidInput);
}

#[test]
fn vectors_without_a_direction_are_errors() {
    let good = [1.0, 2.0, 3.0, 4.0];
    let index = VectorIndex::build(2, &good).unwrap();
    for bad in [[0.0, 0.0], [f32::NAN, 1.0], [f32::INFINITY, 1.0], [1.0, f32::NEG_INFINITY]] {
        assert_eq!(
            VectorIndex::build(2, &[good.as_slice(), &bad].concat()).unwrap_err().kind(),
            ErrorKind::InvalidInput
        );
        assert_eq!(index.search_exact(&bad, 1, None).unwrap_err().kind(), ErrorKind::InvalidInput);
    }
    assert_eq!(VectorIndex::build(3, &good).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(VectorIndex::build(0, &good).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(index.search_exact(&[1.0], 1, None).unwrap_err().kind(), ErrorKind::InvalidInput);
    assert_eq!(index.search_graph(&[1.0, 0.0], 1).unwrap_err().kind(), ErrorKind::Missing);
    // The extremes of f32 have a direction.
    let extreme = VectorIndex::build(2, &[f32::MAX, f32::MAX, f32::MIN_POSITIVE, 0.0]).unwrap();
    assert_eq!(extreme.search_exact(&[1e-38, 0.0], 1, None).unwrap()[0].chunk, 1);
}

#[test]
fn a_graph_of_other_vectors_is_refused() {
    let (vectors, _) = sample(300, 0);
    let (graph, _) = VectorIndex::build(DIM, &vectors).unwrap().build_graph(&GraphOptions::default()).unwrap();
    let mut fewer = VectorIndex::build(DIM, &vectors[..200 * DIM]).unwrap();
    assert_eq!(fewer.load_graph(&graph).unwrap_err().kind(), ErrorKind::Corrupt);
    assert!(!fewer.has_graph());
}

/// Graphs are kept from build to build. If this fails, the same vectors have another graph now: raise `GRAPH_RECIPE`.
#[test]
fn a_recipe_stands_for_one_graph() {
    // Whole numbers: logarithms differ from system to system.
    let mut random = Random(7);
    let vectors: Vec<f32> = (0..400 * 32).map(|_| random.below(2001) as f32 - 1000.0).collect();
    let (graph, _) = VectorIndex::build(32, &vectors)
        .unwrap()
        .build_graph(&GraphOptions { ef_search: 100, ..GraphOptions::default() })
        .unwrap();
    let hash = kb_core::bundle::sha256_hex(&graph);
    assert_eq!((kb_core::index::vector::GRAPH_RECIPE, &hash[..16]), (1, "f4d705bca695cd7f"));
}
