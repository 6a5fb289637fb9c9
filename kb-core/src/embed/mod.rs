//! Sentence embeddings: the model's description, the trait of everything that embeds, and (feature
//! `encoder`) the ONNX encoder on tract.

#[cfg(all(feature = "encoder", feature = "refine"))]
mod cross_encoder;
#[cfg(feature = "encoder")]
mod encoder;
#[cfg(feature = "encoder")]
pub mod kernels;
mod model;
#[cfg(feature = "encoder")]
mod onnx;
#[cfg(feature = "encoder")]
mod ops;
#[cfg(feature = "service")]
pub mod service;
#[cfg(feature = "encoder")]
mod tokens;

#[cfg(all(feature = "encoder", feature = "refine"))]
pub use cross_encoder::CrossEncoder;
#[cfg(feature = "encoder")]
pub use encoder::{OnnxEncoder, fingerprint};
pub use model::{ModelInfo, Pooling};
#[cfg(feature = "service")]
pub use service::{Service, ServiceClient, ServiceKind};
#[cfg(feature = "encoder")]
pub use tokens::TokenCounter;

use crate::Result;

/// Which of the two sides of a search a text is on. Models such as e5 are trained with a different
/// prefix for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextKind {
    /// A reader's question.
    Query,
    /// A passage of a document.
    Passage,
}

/// Anything that turns texts into vectors of unit length.
pub trait Embedder {
    /// The model behind it; its fingerprint is kept with every vector.
    fn info(&self) -> &ModelInfo;

    /// One vector of [`ModelInfo::dim`] numbers and unit length for each text, in the given order.
    /// The vector of a text does not depend on the texts beside it.
    fn embed(&self, kind: TextKind, texts: &[&str]) -> Result<Vec<Vec<f32>>>;
}
