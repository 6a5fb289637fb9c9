//! The TypeScript types of what crosses the border. `types.d.ts` is written from the structs themselves by the test in
//! `types/written.rs`, which `cargo xtask wasm` runs first; `tests/suite/types.rs` holds the values to it.

use wasm_bindgen::prelude::wasm_bindgen;

#[cfg(all(test, feature = "search", feature = "answer", not(target_arch = "wasm32")))]
mod typescript;
#[cfg(all(test, feature = "search", feature = "answer", not(target_arch = "wasm32")))]
mod written;

/// Declarations of every object that is passed or returned, as they stand in the `.d.ts` files.
pub const TYPES: &str = include_str!("types.d.ts");

#[wasm_bindgen(typescript_custom_section)]
const TYPES_SECTION: &str = include_str!("types.d.ts");

/// The names of the sorts of sections, which cross the border as strings.
#[cfg(all(test, feature = "search"))]
pub(crate) struct SectionKinds;

#[cfg(all(test, feature = "search"))]
impl schemars::JsonSchema for SectionKinds {
    fn inline_schema() -> bool {
        true
    }
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "SectionKinds".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let names = kb_core::bundle::SectionKind::ALL.map(|kind| kind.name());
        schemars::json_schema!({ "type": "string", "enum": names })
    }
}
