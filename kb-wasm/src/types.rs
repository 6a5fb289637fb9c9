//! The TypeScript types of what crosses the border. `tests/web.rs` holds the values to them.

use wasm_bindgen::prelude::wasm_bindgen;

/// Declarations of every object that is passed or returned, as they stand in the `.d.ts` files.
pub const TYPES: &str = include_str!("types.d.ts");

#[wasm_bindgen(typescript_custom_section)]
const TYPES_SECTION: &str = include_str!("types.d.ts");
