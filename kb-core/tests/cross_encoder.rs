//! The cross-encoder against onnxruntime and the `tokenizers` library, with tiny models of random weights that
//! `tests/reference/make_cross_encoders.py` exports as transformers exports real ones.
#![cfg(all(feature = "encoder", feature = "refine"))]
// Tests read files, the library does not.
#![allow(clippy::disallowed_types, clippy::disallowed_methods, clippy::unwrap_used)]

use kb_core::embed::CrossEncoder;
use serde_json::Value;
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/reference/cross-encoders")
}

fn load(name: &str) -> CrossEncoder {
    let read = |file: &str| std::fs::read(folder().join(name).join(file)).unwrap();
    CrossEncoder::load(&read("model.onnx"), &read("tokenizer.json"), 64).unwrap()
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect()
}

fn compare(name: &str) {
    let model = load(name);
    let pairs: Value = serde_json::from_slice(&std::fs::read(folder().join("pairs.json")).unwrap()).unwrap();
    let pairs = pairs[name].as_array().unwrap();
    assert!(pairs.len() >= 12);
    for pair in pairs {
        let (question, passage) = (pair["question"].as_str().unwrap(), pair["passage"].as_str().unwrap());
        let (ids, second) = model.token_ids(question, passage).unwrap();
        let ids: Vec<f64> = ids.into_iter().map(f64::from).collect();
        assert_eq!(ids, numbers(&pair["ids"]), "{name}: token ids of {question:?} and {passage:?}");
        let types = numbers(&pair["types"]);
        assert_eq!(second, types.iter().position(|t| *t == 1.0).unwrap_or(types.len()));
        // Weights are rounded to 12 bits for the kernels.
        let close = |ours: f32, theirs: f64| (f64::from(ours) - theirs).abs() < 5e-3;
        let logits = model.logits(question, passage).unwrap();
        let expected = numbers(&pair["logits"]);
        assert!(
            logits.len() == expected.len() && logits.iter().zip(&expected).all(|(a, b)| close(*a, *b)),
            "{name} {question:?} {passage:?}: {logits:?}, onnxruntime {expected:?}"
        );
        let score = model.score(question, &[passage]).unwrap();
        assert!(close(score[0], pair["score"].as_f64().unwrap()), "{score:?}");
    }
}

#[test]
fn bert_with_two_classes_equals_onnxruntime() {
    compare("bert");
}

#[test]
fn xlm_roberta_with_one_number_equals_onnxruntime() {
    compare("xlmr");
}

#[test]
fn what_is_no_cross_encoder_is_refused() {
    let read = |path: &str| std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap();
    let e5 = "../prebuilt/models/multilingual-e5-small-zh-en-q4";
    let refused =
        CrossEncoder::load(&read(&format!("{e5}/model.onnx")), &read(&format!("{e5}/tokenizer.json")), 512).err();
    assert!(refused.unwrap().message().contains("no cross-encoder"));
    assert!(CrossEncoder::load(b"not a model", b"{}", 64).is_err());
    let bert = folder().join("bert");
    let (model, tokenizer) =
        (std::fs::read(bert.join("model.onnx")).unwrap(), std::fs::read(bert.join("tokenizer.json")).unwrap());
    assert!(CrossEncoder::load(&model, &tokenizer, 4).is_err());
    // Positions that the model does not have are told and do not panic.
    let model = CrossEncoder::load(&model, &tokenizer, 512).unwrap();
    assert!(model.score("a", &[&"git revert ".repeat(100)]).is_err());
}
