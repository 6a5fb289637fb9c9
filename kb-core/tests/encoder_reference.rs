//! The encoder against onnxruntime: token ids equal, cosines at least 0.999, on the same ONNX files.
//! The reference files are made by `tests/reference/make_reference.py`.
#![cfg(feature = "encoder")]
// Tests read files, the library does not.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, clippy::unwrap_used)]

use kb_core::embed::{ModelInfo, OnnxEncoder, Pooling, TextKind};
use serde_json::Value;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn load(dir: &Path) -> OnnxEncoder {
    let read = |name: &str| std::fs::read(dir.join(name)).unwrap_or_else(|e| panic!("{}: {e}", dir.display()));
    let info: ModelInfo = serde_json::from_slice(&read("model.json")).unwrap();
    OnnxEncoder::load(&read("model.onnx"), &read("tokenizer.json"), info).unwrap()
}

/// Compares with `tests/reference/NAME.json` and `.f32`; gives the lowest cosine.
fn compare(encoder: &OnnxEncoder, name: &str) -> f64 {
    let dir = root().join("tests/reference");
    let json = |file: &str| -> Value { serde_json::from_slice(&std::fs::read(dir.join(file)).unwrap()).unwrap() };
    let texts = json("texts.json");
    let reference = json(&format!("{name}.json"));
    let vectors: Vec<f32> = std::fs::read(dir.join(format!("{name}.f32")))
        .unwrap()
        .chunks_exact(4)
        .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
        .collect();
    let entries = reference["texts"].as_array().unwrap();
    assert!(entries.len() >= 60);
    let (mut lowest, mut sum) = (1f64, 0f64);
    for ((text, entry), vector) in
        texts.as_array().unwrap().iter().zip(entries).zip(vectors.chunks_exact(encoder_dim(encoder)))
    {
        let id = entry["id"].as_str().unwrap();
        assert_eq!(text["id"], entry["id"]);
        let kind = if text["prefix"] == "query" { TextKind::Query } else { TextKind::Passage };
        let text = text["text"].as_str().unwrap();
        let ids: Vec<u32> = entry["ids"].as_array().unwrap().iter().map(|i| i.as_u64().unwrap() as u32).collect();
        assert_eq!(encoder.token_ids(kind, text).unwrap(), ids, "token ids of {id}");
        let ours = encoder.embed_one(kind, text).unwrap();
        let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
        let cosine = dot(&ours, vector) / (dot(&ours, &ours) * dot(vector, vector)).sqrt();
        assert!(cosine >= 0.999, "{name} {id}: cosine {cosine}");
        lowest = lowest.min(cosine);
        sum += cosine;
    }
    println!("{name}: lowest cosine {lowest:.7}, mean {:.7}, {} texts", sum / entries.len() as f64, entries.len());
    lowest
}

fn encoder_dim(encoder: &OnnxEncoder) -> usize {
    kb_core::embed::Embedder::info(encoder).dim
}

#[test]
fn the_default_model_equals_onnxruntime() {
    let encoder = load(&root().join("prebuilt/models/multilingual-e5-small-zh-en-q4"));
    // Weights and activations are rounded to 12 bits and more, so it comes out far closer than 0.999.
    assert!(compare(&encoder, "e5-zh-en") > 0.999_9);
}

/// all-MiniLM-L6-v2, an 8-bit export whose graph is spelt out in plain ONNX operators, loaded as it is.
/// `tests/reference/fetch_minilm.py DIR` fetches it; KB_MINILM names the folder.
#[test]
fn minilm_equals_onnxruntime() {
    let Some(dir) = std::env::var_os("KB_MINILM") else {
        println!("skipped: KB_MINILM does not name a folder with all-MiniLM-L6-v2");
        return;
    };
    let encoder = load(Path::new(&dir));
    assert_eq!(kb_core::embed::Embedder::info(&encoder).pooling, Pooling::Mean);
    compare(&encoder, "minilm");
}

#[test]
fn neighbours_do_not_change_a_vector() {
    let encoder = load(&root().join("prebuilt/models/multilingual-e5-small-zh-en-q4"));
    let texts = ["短", "a much longer text about how an index finds its passages in a book", "short", ""];
    let together = encoder.embed_all(TextKind::Passage, &texts, &|_, _, _| {}).unwrap();
    for (text, vector) in texts.iter().zip(together) {
        assert_eq!(encoder.embed_one(TextKind::Passage, text).unwrap(), vector);
    }
}

#[test]
fn another_fingerprint_is_refused() {
    let dir = root().join("prebuilt/models/multilingual-e5-small-zh-en-q4");
    let read = |name: &str| std::fs::read(dir.join(name)).unwrap();
    let mut info: ModelInfo = serde_json::from_slice(&read("model.json")).unwrap();
    info.fingerprint = "00".repeat(32);
    let error = OnnxEncoder::load(&read("model.onnx"), &read("tokenizer.json"), info).err().unwrap();
    assert_eq!(error.code(), "kb::model_mismatch");
}
