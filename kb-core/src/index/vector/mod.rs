//! Search by meaning: vectors as 8-bit rows, an exact scan over them, and the instant-distance graph
//! for bases where a scan is slow.
//!
//! | file | what it does |
//! |---|---|
//! | `centring` | taking out what all passages and all questions share |
//! | `quantise` | unit vectors to 8-bit rows with a scale each, questions to 16 bits |
//! | `dot` | integer dot products, one result on every machine |
//! | `wire` | the bytes of the section `vectors` |
//! | `graph` | building the HNSW graph and walking it |
//! | `graph_wire` | the bytes of the section `graph`, checked before instant-distance sees them |
//! | `hnsw` | how a checked graph is handed to instant-distance |

mod centring;
mod dot;
mod graph;
mod graph_wire;
mod hnsw;
mod known;
mod quantise;
mod top;
mod wire;

use crate::document::Lang;
use crate::search::VectorHit;
use crate::{Error, ErrorKind, Result};
pub use centring::{Centring, Group, QuestionMean};
pub use graph::{GRAPH_RECIPE, GraphOptions, GraphReport};
pub use known::ModelMeans;
use quantise::Matrix;
use std::sync::Arc;
use top::Top;

/// Most numbers in a vector.
pub const MAX_DIM: usize = 8192;

/// Most vectors in an index: four million.
pub const MAX_VECTORS: usize = 4 << 20;

/// From this many chunks on a bundle gets a graph.
pub const GRAPH_FROM: usize = 2_000;

/// Up to this many chunks [`VectorIndex::search`] scans even where there is a graph, so that a reader
/// need not load one: a scan misses nothing, and takes 3 ms a 100,000 in a browser, where loading their graph
/// takes more than a second.
pub const SCAN_UP_TO: usize = 200_000;

/// Whether the nearest vectors are looked for in the graph or among all.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VectorMethod {
    /// By size: the graph for more than [`SCAN_UP_TO`] vectors without conditions, the scan for everything else.
    #[default]
    Auto,
    /// The scan, always.
    Exact,
    /// The graph wherever it can answer, whatever the size.
    Graph,
}

/// Which chunks may be found; `None` for all of them.
pub type Allowed<'a> = Option<&'a dyn Fn(u32) -> bool>;

/// The vectors of a bundle's chunks: row `i` belongs to chunk `i`.
#[derive(Debug)]
pub struct VectorIndex {
    matrix: Arc<Matrix>,
    graph: Option<graph::Graph>,
    centring: Option<centring::Prepared>,
    method: VectorMethod,
}

impl VectorIndex {
    /// Quantises the vectors of all chunks, `dim` numbers each, one after the other. They need not have
    /// unit length: only their direction counts.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a length that is no multiple of `dim`, for a vector that is zero
    /// or not finite; [`ErrorKind::TooLarge`] over [`MAX_VECTORS`].
    pub fn build(dim: usize, vectors: &[f32]) -> Result<Self> {
        Ok(Self {
            matrix: Arc::new(Matrix::build(dim, vectors)?),
            graph: None,
            centring: None,
            method: VectorMethod::Auto,
        })
    }

    /// The same vectors with their means, for [`search_as`](Self::search_as).
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for means of another length, out of range, or for other vectors.
    pub fn with_centring(mut self, centring: Centring) -> Result<Self> {
        self.centring = Some(centring::Prepared::new(centring, &self.matrix)?);
        Ok(self)
    }

    /// The means, where the index has them.
    pub fn centring(&self) -> Option<&Centring> {
        self.centring.as_ref().map(|c| &c.centring)
    }

    /// Reads the payload of a section `vectors`.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`], [`ErrorKind::TooLarge`].
    pub fn from_bytes(payload: &[u8]) -> Result<Self> {
        let (matrix, means) = wire::decode(payload)?;
        let index = Self { matrix: Arc::new(matrix), graph: None, centring: None, method: VectorMethod::Auto };
        match means {
            Some(means) => index.with_centring(means),
            None => Ok(index),
        }
    }

    /// The payload of the section `vectors`; the graph has its own.
    pub fn to_bytes(&self) -> Vec<u8> {
        wire::encode(&self.matrix, self.centring())
    }

    /// How many vectors there are.
    pub fn len(&self) -> usize {
        self.matrix.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many numbers a vector has.
    pub fn dim(&self) -> usize {
        self.matrix.dim
    }

    /// The vector of `chunk` as it was quantised, within about 0.001 of unit length.
    pub fn vector(&self, chunk: u32) -> Option<Vec<f32>> {
        ((chunk as usize) < self.len()).then(|| self.matrix.expand(chunk))
    }

    /// The `k` chunks with the largest cosine, by looking at every one that is allowed. Ordered by
    /// cosine rounded to 1e-4, then by index.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for a vector of another length, zero or not finite.
    pub fn search_exact(&self, query: &[f32], k: usize, allowed: Allowed) -> Result<Vec<VectorHit>> {
        let query = self.matrix.query(query)?;
        let mut top = Top::new(k);
        for chunk in 0..self.len() as u32 {
            if allowed.is_none_or(|allowed| allowed(chunk)) {
                top.offer(chunk, self.matrix.cosine(&query, chunk));
            }
        }
        Ok(top.into_hits())
    }

    /// Builds the graph and returns the payload of the section `graph`. The same vectors and options
    /// give the same bytes. One thread; minutes for 100,000 vectors.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for an empty index or options out of range.
    #[cfg(not(target_arch = "wasm32"))]
    pub fn build_graph(&self, options: &GraphOptions) -> Result<(Vec<u8>, GraphReport)> {
        graph::build(&self.matrix, options)
    }

    /// Adds the graph of a section `graph`, made over these very vectors.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`] for anything that does not fit; the index is then as it was before.
    pub fn load_graph(&mut self, payload: &[u8]) -> Result<()> {
        self.graph = Some(graph::Graph::from_bytes(payload, &self.matrix)?);
        Ok(())
    }

    /// Looks for the nearest in another way from now on.
    pub fn set_method(&mut self, method: VectorMethod) {
        self.method = method;
    }

    /// The graph, if it is to be walked for a search without conditions.
    fn walked(&self, allowed: Allowed) -> Option<&graph::Graph> {
        let wanted = match self.method {
            VectorMethod::Auto => self.len() > SCAN_UP_TO,
            VectorMethod::Exact => false,
            VectorMethod::Graph => true,
        };
        self.graph.as_ref().filter(|_| wanted && allowed.is_none())
    }

    /// Whether a graph is loaded.
    pub fn has_graph(&self) -> bool {
        self.graph.is_some()
    }

    /// About the `k` chunks with the largest cosine, by walking the graph. Scores and order are as in
    /// [`search_exact`](Self::search_exact); a hit may be missed. Where the graph cannot give `k` hits,
    /// the scan answers.
    ///
    /// # Errors
    /// As for [`search_exact`](Self::search_exact), and [`ErrorKind::Missing`] without a graph.
    pub fn search_graph(&self, query: &[f32], k: usize) -> Result<Vec<VectorHit>> {
        let Some(graph) = &self.graph else {
            return Err(Error::new(ErrorKind::Missing, "no graph is loaded"));
        };
        let prepared = self.matrix.query(query)?;
        match graph.search(&self.matrix, prepared, k) {
            Some(hits) => Ok(hits),
            None => self.search_exact(query, k, None),
        }
    }

    /// The `k` passages for a question in language `lang`: as [`search`](Self::search), but without what
    /// passages and questions share, where the index has means for that language.
    ///
    /// # Errors
    /// As for [`search_exact`](Self::search_exact).
    pub fn search_as(&self, query: &[f32], lang: Lang, k: usize, allowed: Allowed) -> Result<Vec<VectorHit>> {
        let Some(means) = &self.centring else { return self.search(query, k, allowed) };
        // Refuses what has no direction.
        self.matrix.query(query)?;
        let questions = means.questions(query, lang);
        if questions.iter().all(|q| q.strength == 0.0) {
            return self.search(query, k, allowed);
        }
        let prepared = questions.iter().map(|q| self.matrix.query(&q.vector)).collect::<Result<Vec<_>>>()?;
        let mut top = Top::new(k);
        // A walk finds what is near in one sense; with several groups each has its own.
        if let (Some(graph), [question], [vector]) = (self.walked(allowed), &questions[..], &prepared[..])
            && let Some(found) = graph.search(&self.matrix, vector.clone(), k.max(graph.ef_search()))
        {
            for hit in found {
                top.offer(hit.chunk, means.centred(hit.score, question, hit.chunk as usize));
            }
            return Ok(top.into_hits());
        }
        for (chunk, group) in means.centring.group_of.iter().enumerate() {
            let (row, group) = (chunk as u32, usize::from(*group));
            if let (true, Some(question), Some(vector)) =
                (allowed.is_none_or(|allowed| allowed(row)), questions.get(group), prepared.get(group))
            {
                top.offer(row, means.centred(self.matrix.cosine(vector, row), question, chunk));
            }
        }
        Ok(top.into_hits())
    }

    /// The `k` nearest by the graph or the scan, as [`set_method`](Self::set_method) says.
    ///
    /// # Errors
    /// As for [`search_exact`](Self::search_exact).
    pub fn search(&self, query: &[f32], k: usize, allowed: Allowed) -> Result<Vec<VectorHit>> {
        match self.walked(allowed) {
            Some(_) => self.search_graph(query, k),
            None => self.search_exact(query, k, allowed),
        }
    }
}
