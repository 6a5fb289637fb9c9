//! The tests of the three modules, and what they share: a small bundle, and looking into JavaScript values.

#[cfg(feature = "answer")]
mod answer;
#[cfg(feature = "encoder")]
mod encoder;
#[cfg(feature = "search")]
mod search;
#[cfg(feature = "answer")]
mod service;
#[cfg(feature = "search")]
mod types;

use js_sys::{Array, Reflect};
use kb_core::bundle::{BundleBuilder, SealedBundle};
use kb_core::chunk::Chunk;
use kb_core::chunk::heading::{self, HeadingOptions};
use kb_core::document::markdown::parse_markdown;
use kb_core::document::{Document, MetaValue};
use kb_core::index::lexical::LexicalBuilder;
use wasm_bindgen::{JsCast, JsValue};

/// Paths and Markdown of the documents. Beside ASCII they have characters of two, three and four bytes,
/// which are one, one and two units of UTF-16.
pub const DOCUMENTS: [(&str, &str, &str); 4] = [
    (
        "course",
        "graphs.md",
        "# Graphs\n\nAll about vertices and edges, naïvely.\n\n## 最短路 😀\n\n在有向图😀里找两点之间的最短路，可以用 Dijkstra 算法。\n",
    ),
    ("course", "trees.md", "# Trees\n\nA tree is a connected graph without a cycle.\n"),
    ("course", "heaps.md", "# Heaps\n\nA heap keeps the smallest key on top. Dijkstra uses one as its queue.\n"),
    ("notes", "diary.md", "# Diary\n\nToday I walked around the lake and saw a heron.\n"),
];

/// The documents, cut and indexed as `kb-builder` does it.
pub fn bundle() -> SealedBundle {
    let documents: Vec<Document> = DOCUMENTS
        .iter()
        .map(|(collection, path, raw)| {
            let mut document = parse_markdown(path, raw).document;
            document.collection = (*collection).into();
            document.url = Some(format!("source/{path}"));
            document.metadata.insert("tags".into(), MetaValue::Text("reading".into()));
            document
        })
        .collect();
    let mut chunks: Vec<Chunk> = Vec::new();
    let mut lexical = LexicalBuilder::new();
    for (i, document) in documents.iter().enumerate() {
        let options = HeadingOptions { min_chars: 0, ..HeadingOptions::default() };
        for chunk in heading::chunk(document, i as u32, &options).unwrap() {
            lexical.add_chunk(document, &chunk).unwrap();
            chunks.push(chunk);
        }
    }
    let builder = BundleBuilder::new("test", &documents, &chunks).title("测试 test").language("zh");
    builder.lexical(lexical.to_bytes().unwrap()).finish().unwrap()
}

/// A property of an object.
pub fn get(object: &JsValue, key: &str) -> JsValue {
    Reflect::get(object, &key.into()).unwrap()
}

/// A property that is a string.
pub fn text(object: &JsValue, key: &str) -> String {
    get(object, key).as_string().unwrap_or_else(|| panic!("{key} is not a string"))
}

/// A property that is a number.
pub fn number(object: &JsValue, key: &str) -> f64 {
    get(object, key).as_f64().unwrap_or_else(|| panic!("{key} is not a number"))
}

/// A property that is an array.
pub fn list(object: &JsValue, key: &str) -> Vec<JsValue> {
    get(object, key).dyn_into::<Array>().unwrap_or_else(|_| panic!("{key} is not an array")).to_vec()
}

/// An object from JSON.
pub fn json(source: &str) -> JsValue {
    js_sys::JSON::parse(source).unwrap()
}

/// The code of an error that was thrown; it must be an `Error` with a hint and a message.
pub fn code(thrown: &JsValue) -> String {
    assert!(thrown.is_instance_of::<js_sys::Error>());
    assert!(!text(thrown, "hint").is_empty() && !text(thrown, "message").is_empty());
    text(thrown, "code")
}
