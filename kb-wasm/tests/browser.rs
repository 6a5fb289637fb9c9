//! The suite in a worker of a real browser, where the product runs: `wasm-pack test --headless --chrome`.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::unwrap_used)]

wasm_bindgen_test::wasm_bindgen_test_configure!(run_in_dedicated_worker);

mod suite;
