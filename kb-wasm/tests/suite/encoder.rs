//! `Encoder` with the default model, against what onnxruntime computed from the same file: passages are
//! the reference texts with onnxruntime's vectors, questions go through the model here.

use super::{code, get};
use js_sys::{Float32Array, Uint32Array};
use kb_core::bundle::{BundleBuilder, SealedBundle};
use kb_core::chunk::{Chunk, ChunkId, ChunkKind};
use kb_core::document::markdown::parse_text;
use kb_core::embed::{ModelInfo, fingerprint};
use kb_core::index::vector::VectorIndex;
use kb_core::search::ChunkSet;
use kb_wasm::Encoder;
use serde::Deserialize;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_test::wasm_bindgen_test;

macro_rules! repository {
    ($path:literal) => {
        include_bytes!(concat!("../../../", $path)) as &[u8]
    };
}

const ONNX: &[u8] = repository!("prebuilt/models/multilingual-e5-small-zh-en-q4/model.onnx");
const TOKENIZER: &[u8] = repository!("prebuilt/models/multilingual-e5-small-zh-en-q4/tokenizer.json");
const MODEL: &[u8] = repository!("prebuilt/models/multilingual-e5-small-zh-en-q4/model.json");
const TEXTS: &[u8] = repository!("tests/reference/texts.json");
const VECTORS: &[u8] = repository!("tests/reference/e5-zh-en.f32");

#[derive(Deserialize)]
struct Text {
    id: String,
    prefix: String,
    text: String,
}

/// The reference texts and onnxruntime's vectors of them.
fn reference() -> Vec<(Text, Vec<f32>)> {
    let texts: Vec<Text> = serde_json::from_slice(TEXTS).unwrap();
    let numbers: Vec<f32> = VECTORS.chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
    texts.into_iter().zip(numbers.chunks_exact(384).map(<[f32]>::to_vec)).collect()
}

fn model() -> ModelInfo {
    let mut info: ModelInfo = serde_json::from_slice(MODEL).unwrap();
    info.fingerprint = fingerprint(ONNX, TOKENIZER, &info);
    info
}

/// One document and passage for each vector.
fn bundle(vectors: &[Vec<f32>], model: ModelInfo) -> SealedBundle {
    let documents: Vec<_> = (0..vectors.len()).map(|i| parse_text(&format!("{i}.txt"), "passage")).collect();
    let chunks: Vec<_> = (0..vectors.len() as u32)
        .map(|i| Chunk {
            id: ChunkId(u64::from(i)),
            doc: i,
            section: None,
            span_bytes: 0..7,
            overlap_bytes: 0,
            kind: ChunkKind::Text,
        })
        .collect();
    let index = VectorIndex::build(384, &vectors.concat()).unwrap();
    BundleBuilder::new("test", &documents, &chunks).vectors(model, index.to_bytes()).finish().unwrap()
}

fn with_vectors(bundle: &SealedBundle) -> Encoder {
    let mut encoder = Encoder::new(&bundle.manifest_json).unwrap();
    let file = bundle.files.iter().find(|f| f.name.starts_with("vectors")).unwrap();
    encoder.add_section(&file.name, file.bytes.clone()).unwrap();
    encoder
}

fn nearest(encoder: &Encoder, text: &str, k: u32, allowed: Option<Vec<u8>>) -> Vec<(u32, f32)> {
    let found: JsValue = encoder.candidates(text, k, allowed, None).unwrap();
    let ids = get(&found, "ids").dyn_into::<Uint32Array>().unwrap().to_vec();
    let scores = get(&found, "scores").dyn_into::<Float32Array>().unwrap().to_vec();
    ids.into_iter().zip(scores).collect()
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// One test, because loading the model takes seconds.
#[wasm_bindgen_test]
fn questions_are_embedded_and_answered_as_onnxruntime_would() {
    let (questions, passages): (Vec<_>, Vec<_>) = reference().into_iter().partition(|(t, _)| t.prefix == "query");
    assert!(questions.len() >= 20 && passages.len() >= 40);
    let vectors: Vec<Vec<f32>> = passages.into_iter().map(|(_, v)| v).collect();
    let bundle = bundle(&vectors, model());
    let mut encoder = with_vectors(&bundle);
    assert_eq!(code(&encoder.embed("before the model").unwrap_err()), "kb::missing");
    let json = std::str::from_utf8(MODEL).unwrap();
    encoder.load(ONNX, TOKENIZER, json).unwrap();

    for (question, expected) in &questions {
        let ours = encoder.embed(&question.text).unwrap().to_vec();
        assert!((dot(&ours, &ours) - 1.0).abs() < 1e-4, "{}: its length is not 1", question.id);
        assert!(dot(&ours, expected) >= 0.999, "{}: cosine {}", question.id, dot(&ours, expected));

        let found = nearest(&encoder, &question.text, 10, None);
        assert_eq!(found.len(), 10);
        assert!(found.windows(2).all(|w| w[0].1 >= w[1].1 - 1e-4), "best first");
        for (chunk, score) in &found {
            let cosine = dot(expected, &vectors[*chunk as usize]);
            assert!((cosine - score).abs() < 0.005, "{}: {score} for {cosine}", question.id);
        }
        let best = vectors.iter().map(|v| dot(expected, v)).fold(f32::MIN, f32::max);
        assert!((dot(expected, &vectors[found[0].0 as usize]) - best).abs() < 0.003, "{}", question.id);
    }

    // A question that is asked again, as an answer does after a search, is not embedded again.
    let timed = |texts: Vec<String>| {
        let began = js_sys::Date::now();
        texts.iter().for_each(|text| drop(nearest(&encoder, text, 10, None)));
        js_sys::Date::now() - began
    };
    let different = timed((0..8).map(|i| format!("what is branch number {i}")).collect());
    let same = timed(vec!["what is branch number 7".to_owned(); 8]);
    assert!(same < different / 3.0, "{same} ms instead of {different}");

    // Only what is allowed.
    let mut set = ChunkSet::new(vectors.len());
    [3, 17, 30].into_iter().for_each(|i| set.insert(i));
    let mut found: Vec<u32> = nearest(&encoder, "anything", 10, Some(set.to_bytes())).iter().map(|f| f.0).collect();
    found.sort_unstable();
    assert_eq!(found, [3, 17, 30]);

    // A second knowledge base with the same model: it is not loaded again.
    let half = self::bundle(&vectors[..vectors.len() / 2], model());
    let mut second = with_vectors(&half);
    assert_eq!(code(&second.share(&with_vectors(&half)).unwrap_err()), "kb::missing");
    second.share(&encoder).unwrap();
    let asked = &questions[0].0.text;
    assert_eq!(second.embed(asked).unwrap().to_vec(), encoder.embed(asked).unwrap().to_vec());
    assert!(nearest(&second, asked, 100, None).len() == vectors.len() / 2);
    let other = ModelInfo { fingerprint: "0".repeat(64), ..model() };
    let mut foreign = with_vectors(&self::bundle(&vectors, other));
    assert_eq!(code(&foreign.share(&encoder).unwrap_err()), "kb::model_mismatch");
}

#[wasm_bindgen_test]
fn another_model_is_refused() {
    let mut other = model();
    other.fingerprint = "ab".repeat(32);
    let mut encoder = with_vectors(&bundle(&[vec![1.0; 384]], other));
    let json = std::str::from_utf8(MODEL).unwrap();
    assert_eq!(code(&encoder.load(b"no onnx", TOKENIZER, json).unwrap_err()), "kb::model");
    assert_eq!(code(&encoder.load(ONNX, TOKENIZER, "{}").unwrap_err()), "kb::model");
    let thrown = encoder.load(ONNX, TOKENIZER, json).unwrap_err();
    assert_eq!(code(&thrown), "kb::model_mismatch");
    assert!(super::text(&thrown, "message").contains("multilingual-e5-small"));
}

#[wasm_bindgen_test]
fn damaged_vectors_are_refused() {
    let bundle = bundle(&[vec![1.0; 384], vec![0.5; 384]], model());
    let mut encoder = Encoder::new(&bundle.manifest_json).unwrap();
    let file = bundle.files.iter().find(|f| f.name.starts_with("vectors")).unwrap();
    let mut bytes = file.bytes.clone();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    assert_eq!(code(&encoder.add_section(&file.name, bytes).unwrap_err()), "kb::corrupt");
    let docs = bundle.files.iter().find(|f| f.name.starts_with("docs")).unwrap();
    assert_eq!(code(&encoder.add_section(&docs.name, docs.bytes.clone()).unwrap_err()), "kb::invalid_input");
    assert_eq!(code(&encoder.candidates("question", 3, None, None).unwrap_err()), "kb::missing");
}

/// Vectors that a service computes take the place of a model's.
#[wasm_bindgen_test]
fn a_vector_from_outside_stands_in_for_the_model() {
    let mut vectors = vec![vec![0.0; 384]; 3];
    (0..3).for_each(|i| vectors[i][i] = 1.0);
    let bundle = bundle(&vectors, ModelInfo { fingerprint: "0".repeat(64), ..model() });
    let mut encoder = with_vectors(&bundle);
    assert!(!encoder.knows("a question"));
    assert_eq!(code(&encoder.know("a question", vec![1.0; 3]).unwrap_err()), "kb::model_mismatch");
    encoder.know("a question", vectors[1].clone()).unwrap();
    assert!(encoder.knows("a question") && !encoder.knows("another"));
    assert_eq!(nearest(&encoder, "a question", 1, None)[0].0, 1);
    assert_eq!(code(&encoder.candidates("another", 1, None, None).unwrap_err()), "kb::missing");
    assert_eq!(code(&encoder.similarities("a question", vec!["text".into()]).unwrap_err()), "kb::missing");
}
