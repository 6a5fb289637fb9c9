//! kb-core in the browser. Translation only: bytes, strings and plain objects come in from JavaScript,
//! kb-core computes, and typed objects go back. Nothing is ranked or parsed here.
//!
//! One crate gives three modules:
//!
//! | feature | class | what it holds |
//! |---|---|---|
//! | `search` | `KnowledgeBase` | documents, BM25, fusion, excerpts; built without SIMD, for every browser |
//! | `encoder` | `Encoder` | the model and the vectors; built with SIMD, loaded when the first is at work |
//! | `answer` | `Answer`, `Chat`, `EmbeddingService` | prompts, language models, citations; what a service that has the model is asked; loaded when the reader asks for an answer |
//!
//! They meet in the page: `Encoder.candidates` proposes passages, `KnowledgeBase.search` fuses them with
//! its own list. Byte spans become UTF-16 here and nowhere else. Errors are thrown as an `Error` with
//! `code` and `hint`.

#[cfg(feature = "answer")]
mod answer;
#[cfg(feature = "answer")]
mod chat;
#[cfg(feature = "search")]
mod dto;
#[cfg(feature = "encoder")]
mod encoder;
mod error;
#[cfg(feature = "search")]
mod search;
#[cfg(feature = "answer")]
mod service;
mod types;
#[cfg(any(feature = "search", feature = "answer"))]
mod utf16;

#[cfg(feature = "answer")]
pub use answer::Answer;
#[cfg(feature = "answer")]
pub use chat::Chat;
#[cfg(feature = "encoder")]
pub use encoder::Encoder;
#[cfg(feature = "search")]
pub use search::KnowledgeBase;
#[cfg(feature = "answer")]
pub use service::EmbeddingService;
pub use types::TYPES;

#[cfg(any(feature = "search", feature = "encoder"))]
use kb_core::bundle::{Manifest, SectionRef};
#[cfg(any(feature = "search", feature = "encoder"))]
use kb_core::{Error, ErrorKind};
use wasm_bindgen::prelude::wasm_bindgen;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = console, js_name = error)]
    fn console_error(message: &str);
}

/// Runs when the module is instantiated: a panic stops WebAssembly with a bare `unreachable`, so where
/// it happened goes to the console first.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| console_error(&panic.to_string())));
}

#[cfg(any(feature = "search", feature = "encoder"))]
/// The section of `manifest` that is kept in `file`.
fn section_of<'a>(manifest: &'a Manifest, file: &str) -> Result<&'a SectionRef, Error> {
    let found = manifest.sections.iter().find(|section| section.file == file);
    found.ok_or_else(|| Error::new(ErrorKind::InvalidInput, format!("the manifest names no file `{file}`")))
}
