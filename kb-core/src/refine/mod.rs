//! What a second model adds to a search on this machine: another reading of the question, and another order of the
//! first hits. Prompts and what replies are worth; nothing here sends anything.
//!
//! - [`listwise`] asks a language model to order passages.
//! - [`reading`] asks one what a question is about.
//! - [`merge`] makes one order of several.
//!
//! The other reranker, a cross-encoder, is [`crate::embed::CrossEncoder`].

pub mod listwise;
pub mod merge;
pub mod reading;
