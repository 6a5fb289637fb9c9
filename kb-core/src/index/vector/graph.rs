//! Building the graph with instant-distance, and walking it.

use super::graph_wire;
use super::hnsw::{Point, Space, from_words};
use super::quantise::{Matrix, QueryVector};
use super::top::Top;
use crate::Result;
use crate::bundle::SectionKind;
use crate::search::VectorHit;
use instant_distance::{Hnsw, Search};
use std::sync::Arc;

/// Size of a layer over that of the one below. instant-distance's own 1 / ln 32 makes the upper layers
/// a third larger in the file without finding more.
#[cfg(not(target_arch = "wasm32"))]
const LAYER_RATIO: f32 = 1.0 / 16.0;

/// Stands for the way in which vectors become a graph. Who keeps graphs keeps them under it, so it is raised with every
/// change after which the same vectors and options give other bytes.
pub const GRAPH_RECIPE: u32 = 1;

/// How a graph is built. The defaults were measured with `examples/vector_bench.rs`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphOptions {
    /// Where the random order of insertion begins.
    pub seed: u64,
    /// How many candidates an insertion looks at, 1 to 4096. More is slower to build and finds more.
    pub ef_construction: usize,
    /// How many candidates a search keeps, 1 to 4096: also the most hits that it can give.
    pub ef_search: usize,
}

impl Default for GraphOptions {
    fn default() -> Self {
        Self { seed: 1, ef_construction: 100, ef_search: 400 }
    }
}

/// What came out of building a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct GraphReport {
    /// Different vectors.
    pub nodes: usize,
    /// Vectors that equal another one and are found together with it.
    pub folded: usize,
    /// Nodes that no way leads to; they are always compared directly.
    pub strays: usize,
    /// Neighbours in all lists.
    pub links: usize,
}

/// A loaded graph.
pub(super) struct Graph {
    hnsw: Hnsw<Point>,
    space: Arc<Space>,
    ef_search: usize,
    /// Row of each node.
    rows: Vec<u32>,
    /// Node and row, sorted.
    folded: Vec<(u32, u32)>,
    strays: Vec<u32>,
}

impl std::fmt::Debug for Graph {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Graph")
            .field("nodes", &self.rows.len())
            .field("ef_search", &self.ef_search)
            .finish_non_exhaustive()
    }
}

impl Graph {
    pub(super) fn from_bytes(payload: &[u8], matrix: &Arc<Matrix>) -> Result<Self> {
        let checked = graph_wire::decode(payload, matrix.len())?;
        let space = Arc::new(Space::new(matrix.clone()));
        let hnsw = from_words(checked.words(), &space).map_err(|e| SectionKind::Graph.corrupt(e))?;
        let mut folded: Vec<(u32, u32)> = checked.folded.iter().map(|(row, node)| (*node, *row)).collect();
        folded.sort_unstable();
        let ef_search = checked.ef_search as usize;
        Ok(Self { hnsw, space, ef_search, folded, strays: checked.strays, rows: checked.rows })
    }

    /// How many candidates a walk keeps.
    pub(super) fn ef_search(&self) -> usize {
        self.ef_search
    }

    /// The best `k` that a walk finds; none if it cannot be trusted to find so many.
    pub(super) fn search(&self, matrix: &Matrix, query: QueryVector, k: usize) -> Option<Vec<VectorHit>> {
        if k > self.ef_search {
            return None;
        }
        let query = Arc::new(query);
        let mut walk = Search::default();
        let point = Point::Query { query: query.clone(), space: self.space.clone() };
        let found = self.hnsw.search(&point, &mut walk);
        // A walk that ends with free places has seen all that it could reach: it is caught in a part of
        // the graph from which no way leads back.
        if found.len() < self.ef_search.min(self.rows.len() - self.strays.len()) {
            return None;
        }
        let mut top = Top::new(k);
        let mut offer = |node: u32| {
            let Some(row) = self.rows.get(node as usize) else { return };
            // Equal vectors have equal scores.
            let score = matrix.cosine(&query, *row);
            top.offer(*row, score);
            let first = self.folded.partition_point(|(n, _)| *n < node);
            for (_, row) in self.folded[first..].iter().take_while(|(n, _)| *n == node) {
                top.offer(*row, score);
            }
        };
        found.for_each(|item| offer(item.pid.into_inner()));
        self.strays.iter().for_each(|node| offer(*node));
        Some(top.into_hits())
    }
}

#[cfg(not(target_arch = "wasm32"))]
pub(super) use build::build;

#[cfg(not(target_arch = "wasm32"))]
mod build {
    use super::super::graph_wire::{EF_RANGE, RawGraph};
    use super::*;
    use crate::bundle::codec;
    use crate::{Error, ErrorKind};
    use instant_distance::{Builder, Heuristic};
    use serde::Deserialize;
    use std::collections::HashMap;

    /// What instant-distance serialises. Serde's arrays end at 32, so its 64 ids are two of them here.
    #[derive(Deserialize)]
    struct Dump {
        #[allow(dead_code)]
        ef_search: u64,
        points: Vec<u32>,
        zero: Vec<([u32; 32], [u32; 32])>,
        layers: Vec<Vec<[u32; 32]>>,
    }

    pub(in super::super) fn build(matrix: &Arc<Matrix>, options: &GraphOptions) -> Result<(Vec<u8>, GraphReport)> {
        let invalid = |what: &str| Error::new(ErrorKind::InvalidInput, what);
        if matrix.len() == 0 {
            return Err(invalid("there is no vector to build a graph of"));
        }
        if !EF_RANGE.contains(&options.ef_search) || !EF_RANGE.contains(&options.ef_construction) {
            return Err(invalid("ef_search and ef_construction are 1 to 4096"));
        }
        let (unique, folded) = fold(matrix);
        let space = Arc::new(Space::new(matrix.clone()));
        let points: Vec<Point> = unique.iter().map(|row| Point::row(*row, &space)).collect();
        // Lists are not filled up with candidates that the selection passed over: with them a graph is
        // three to four times as large in the file and takes eight times as long to build, and finds the same.
        let heuristic = Heuristic { extend_candidates: false, keep_pruned: false };
        let builder = Builder::default()
            .seed(options.seed)
            .ml(LAYER_RATIO)
            .ef_construction(options.ef_construction)
            .ef_search(options.ef_search)
            .select_heuristic(Some(heuristic));
        // With more threads the order of insertion, and with it the graph, changes from run to run.
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(1)
            .build()
            .map_err(|e| invalid(&format!("no thread to build the graph ({e})")))?;
        let (hnsw, _) = pool.install(|| builder.build_hnsw(points));
        let dump = codec::encode(SectionKind::Graph, &hnsw)?;
        drop(hnsw);
        let dump: Dump = codec::decode(SectionKind::Graph, &dump)?;

        let mut graph = relabel(&dump);
        graph.ef_search = options.ef_search as u32;
        let node_of: HashMap<u32, u32> = graph.rows.iter().zip(0..).map(|(row, node)| (*row, node)).collect();
        graph.folded = folded.iter().filter_map(|(row, first)| Some((*row, *node_of.get(first)?))).collect();
        graph.strays = unreachable(&graph.zero);
        let links = graph.zero.iter().chain(graph.layers.iter().flatten()).map(Vec::len).sum();
        let report =
            GraphReport { nodes: graph.rows.len(), folded: graph.folded.len(), strays: graph.strays.len(), links };
        Ok((graph_wire::encode(&graph), report))
    }

    /// The first row of each different vector; and every other row with the first that equals it. Many
    /// equal vectors would fill each other's lists and cut the graph apart.
    fn fold(matrix: &Matrix) -> (Vec<u32>, Vec<(u32, u32)>) {
        let mut first = HashMap::new();
        let (mut unique, mut folded) = (Vec::new(), Vec::new());
        for row in 0..matrix.len() as u32 {
            let key = (matrix.row(row), matrix.share(row).to_bits(), matrix.scale(row).to_bits());
            let at = *first.entry(key).or_insert(row);
            if at == row { unique.push(row) } else { folded.push((row, at)) }
        }
        (unique, folded)
    }

    /// Gives nodes of the same highest layer the order of their rows, and sorts every list.
    fn relabel(dump: &Dump) -> RawGraph {
        let nodes = dump.points.len();
        let mut old: Vec<u32> = (0..nodes as u32).collect();
        for band in graph_wire::bands(nodes, dump.layers.iter().map(Vec::len)) {
            old[band].sort_unstable_by_key(|node| dump.points[*node as usize]);
        }
        let mut new = vec![0; nodes];
        for (label, node) in old.iter().enumerate() {
            new[*node as usize] = label as u32;
        }
        let list = |ids: &mut dyn Iterator<Item = u32>| {
            // The first INVALID ends a list, as in instant-distance.
            let mut list: Vec<u32> = ids.take_while(|id| *id != u32::MAX).map(|id| new[id as usize]).collect();
            list.sort_unstable();
            list
        };
        let layers = dump.layers.iter().map(|layer| {
            let nodes = &old[..layer.len()];
            nodes.iter().map(|node| list(&mut layer[*node as usize].into_iter())).collect()
        });
        RawGraph {
            rows: old.iter().map(|node| dump.points[*node as usize]).collect(),
            layers: layers.collect(),
            zero: old
                .iter()
                .map(|node| dump.zero[*node as usize])
                .map(|(a, b)| list(&mut a.into_iter().chain(b)))
                .collect(),
            ..RawGraph::default()
        }
    }

    /// Nodes to which no way leads from node 0.
    fn unreachable(zero: &[Vec<u32>]) -> Vec<u32> {
        let mut seen = vec![false; zero.len()];
        let mut open = vec![0u32];
        seen[0] = true;
        while let Some(node) = open.pop() {
            for next in &zero[node as usize] {
                if !std::mem::replace(&mut seen[*next as usize], true) {
                    open.push(*next);
                }
            }
        }
        (0..zero.len() as u32).filter(|node| !seen[*node as usize]).collect()
    }
}
