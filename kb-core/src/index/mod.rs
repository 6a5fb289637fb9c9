//! What is searched: BM25 postings, and (feature `vector`) int8 vectors with their graph.

pub mod lexical;
#[cfg(feature = "vector")]
pub mod vector;
