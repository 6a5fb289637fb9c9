//! The pure half of kb-builder: bytes and text in, values out.
//!
//! Nothing here opens a file, a socket or a clock, and every number is computed the same way on a
//! native machine and in WebAssembly. The way of the data is one module a stage:
//! [`document`] → [`chunk`] → [`embed`] → [`index`] → [`bundle`] when a knowledge base is built, and
//! [`text`] → [`index`] → [`search`] when it is asked.

pub mod answer;
pub mod bundle;
pub mod chunk;
pub mod document;
pub mod embed;
pub mod error;
pub mod index;
#[cfg(feature = "refine")]
pub mod refine;
pub mod search;
pub mod text;

pub use error::{Error, ErrorKind, Result};
