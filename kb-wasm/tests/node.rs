//! The suite in Node: `wasm-pack test --node`.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::unwrap_used)]

mod suite;
