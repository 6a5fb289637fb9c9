//! `EmbeddingService`: what the page sends for a knowledge base whose model a service has.

use super::{code, get, text};
use js_sys::JSON;
use kb_wasm::EmbeddingService;
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

const MODEL: &str = r#"{"name":"m (openai)","fingerprint":"00","dim":2,"max_tokens":0,"pooling":"mean","query_prefix":"q: ","passage_prefix":"p: ",
    "service":{"kind":"openai","base_url":"https://h/v1","model":"m"}}"#;

fn service(base_url: &str) -> Result<EmbeddingService, JsValue> {
    EmbeddingService::new(JSON::parse(MODEL).unwrap(), base_url, " sk-1 ", "zh-Hans")
}

#[wasm_bindgen_test]
fn requests_and_vectors_cross_the_border() {
    let mut service = service("http://localhost:1/v1/").unwrap();
    assert_eq!((service.base_url().as_str(), service.batch()), ("http://localhost:1/v1", 32));
    let request = service.request(true, vec!["船".into()]);
    assert_eq!(text(&request, "url"), "http://localhost:1/v1/embeddings");
    let body = JSON::parse(&text(&request, "body")).unwrap();
    assert_eq!(js_sys::Array::from(&get(&body, "input")).get(0).as_string().unwrap(), "q: 船");
    let vectors = service.read(200, br#"{"data":[{"index":0,"embedding":[3,4]}]}"#, 1).unwrap().unwrap();
    assert_eq!(vectors.to_vec(), [0.6, 0.8]);
}

#[wasm_bindgen_test]
fn failures_are_sentences_without_the_key() {
    let mut service = service("").unwrap();
    let error = service.read(401, br#"{"error":{"message":"bad sk-1"}}"#, 1).unwrap_err();
    assert_eq!(text(&error, "code"), "llm::wrong_key");
    let message = text(&error, "message");
    assert!(message.contains("密钥") && !message.contains("sk-1"), "{message}");
    assert_eq!(text(&service.read(200, b"{}", 1).unwrap_err(), "code"), "llm::not_json");
    assert_eq!(code(&self::service("ftp://h").err().unwrap()), "kb::invalid_input");
    let local = JSON::parse(r#"{"name":"m","dim":2,"max_tokens":8,"pooling":"mean"}"#).unwrap();
    assert_eq!(code(&EmbeddingService::new(local, "", "", "en").err().unwrap()), "kb::missing");
}
