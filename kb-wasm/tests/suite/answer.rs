//! The third module: from passages to messages, and from the bytes of a reply to segments.

use super::{code, get, json, list, number, text};
use js_sys::Array;
use kb_wasm::{
    AnswerStream, answer_sentences, build_prompt, chat_request, classify_failure, extractive_answer, judge_relevance,
    models_url, parse_models,
};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

fn passages() -> JsValue {
    json(
        r#"[{"chunkId": "00", "collection": "git", "path": "undo.md", "title": "Undo", "headingPath": ["Undo", "Net"],
             "anchor": "net", "text": "The reflog keeps every position of a branch 😀 for thirty days."}]"#,
    )
}

fn all(events: JsValue) -> Vec<JsValue> {
    Array::from(&events).to_vec()
}

#[wasm_bindgen_test]
fn a_prompt_becomes_a_request() {
    let prompt = build_prompt("how long does the reflog keep positions?", passages(), None).unwrap();
    assert_eq!((list(&prompt, "messages").len(), list(&prompt, "passages").len()), (2, 1));
    assert_eq!(text(&prompt, "language"), "en");
    let settings = json(r#"{"model": "m", "maxTokens": 9}"#);
    let request = chat_request("ollama", None, settings, get(&prompt, "messages")).unwrap();
    assert_eq!(text(&request, "url"), "http://localhost:11434/api/chat");
    let body = json(&text(&request, "body"));
    assert_eq!(number(&get(&body, "options"), "num_predict"), 9.0);
    assert_eq!(models_url("deepseek", None).unwrap(), "https://api.deepseek.com/models");
    assert_eq!(parse_models("ollama", br#"{"models":[{"name":"a"}]}"#).unwrap(), Some(vec!["a".to_string()]));
    assert_eq!(code(&models_url("openai-compatible", None).unwrap_err()), "kb::invalid_input");
    assert_eq!(code(&models_url("nobody", None).unwrap_err()), "kb::invalid_input");
}

#[wasm_bindgen_test]
fn a_reply_becomes_segments() {
    let mut stream = AnswerStream::new("ollama", passages(), "en").unwrap();
    let line = "{\"message\":{\"content\":\"It keeps every 😀 position of a branch 【1】 [7].\"},\"done\":false}\n";
    // Cut inside the emoji.
    let at = line.find('😀').unwrap() + 2;
    assert!(all(stream.push(&line.as_bytes()[..at]).unwrap()).is_empty());
    let mut events = all(stream.push(&line.as_bytes()[at..]).unwrap());
    events.extend(all(stream.push(b"{\"done\":true,\"prompt_eval_count\":3,\"eval_count\":4}\n").unwrap()));
    let kinds: Vec<String> = events.iter().map(|e| text(e, "kind")).collect();
    assert_eq!(kinds, ["text", "citation", "text", "usage", "end"]);
    assert_eq!(number(&events[1], "n"), 1.0);
    assert_eq!(number(&events[3], "promptTokens"), 3.0);
    assert!(stream.over() && stream.complete());

    let check = stream.check("no", 0.5).unwrap();
    assert_eq!(text(&check, "text"), "It keeps every 😀 position of a branch [1].");
    assert_eq!((number(&check, "unresolved"), number(&check, "confidence")), (1.0, 0.5));
    let sentences = list(&check, "sentences");
    assert_eq!(text(&sentences[0], "verdict"), "supported");
    let plain = "It keeps every 😀 position of a branch .";
    assert_eq!(number(&sentences[0], "end"), plain.encode_utf16().count() as f64);
}

#[wasm_bindgen_test]
fn failures_have_sentences() {
    let failure = classify_failure(402, br#"{"error":{"message":"Insufficient Balance"}}"#, "zh").unwrap();
    assert_eq!(
        (text(&failure, "code"), text(&failure, "message")),
        ("llm::no_balance".into(), "Insufficient Balance".into())
    );
    assert!(text(&failure, "sentence").contains("余额"));
    let mut stream = AnswerStream::new("deepseek", passages(), "en").unwrap();
    let events = all(stream.push(b"<!doctype html>\n").unwrap());
    assert_eq!(text(&get(&events[0], "failure"), "code"), "llm::html");
}

#[wasm_bindgen_test]
fn the_passages_answer_by_themselves() {
    let question = "how long does the reflog keep positions?";
    let sentences = answer_sentences(question, passages()).unwrap();
    assert_eq!(sentences, ["The reflog keeps every position of a branch 😀 for thirty days."]);
    let answer = all(extractive_answer(question, passages(), Some(vec![0.9])).unwrap());
    assert_eq!(text(&answer[0], "text"), sentences[0]);
    assert_eq!(number(&answer[1], "passage"), 0.0);
    let found =
        json(r#"{"hits": [{"vectorScore": 0.7, "lang": "en"}], "mode": "hybrid", "coverage": 0, "unknown": 1}"#);
    let far = judge_relevance(question, found, Some("multilingual-e5-small".into())).unwrap();
    assert_eq!(get(&far, "relevant"), JsValue::FALSE);
}
