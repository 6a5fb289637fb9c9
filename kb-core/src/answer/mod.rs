//! From hits to an answer: prompts, the wire formats of language models, citations, and the answer that
//! needs no model at all.
//!
//! - [`relevance`] says whether the base has anything to say, before any model is called.
//! - [`prompt`] turns passages and a question into messages; [`request`] turns messages into a body.
//! - [`stream`] reads the reply: bytes in, events out.
//! - [`citations`] finds `[1]` and its relatives in the text as it arrives; [`support`] compares every
//!   sentence with what it cites.
//! - [`judge`] lets a language model grade an answer.
//! - [`extract`] answers with sentences of the passages themselves.
//!
//! Nothing here sends or receives: the browser and the command line do, with the same code behind them.

pub mod citations;
mod code;
pub mod extract;
pub mod judge;
mod limits;
mod passage;
pub mod prompt;
pub mod relevance;
pub mod request;
pub mod stream;
pub mod support;
mod template;

pub use limits::AnswerLimits;
pub use passage::{MAX_PASSAGES, Passage, passages};
