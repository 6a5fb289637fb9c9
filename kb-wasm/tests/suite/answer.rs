//! The third module: from passages to messages, sentences and a model's settings. Replies are read in the browser
//! tests of the page, from a server.

use super::{code, get, json, list, number, text};
use js_sys::Array;
use kb_wasm::{Answer, Chat};
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

const QUESTION: &str = "how long does the reflog keep positions?";

fn passages() -> JsValue {
    json(
        r#"[{"chunkId": "00", "collection": "git", "path": "undo.md", "title": "Undo", "headingPath": ["Undo", "Net"],
             "anchor": "net", "text": "The reflog keeps every position of a branch 😀 for thirty days."}]"#,
    )
}

fn settings(provider: &str, base_url: &str) -> JsValue {
    json(&format!(r#"{{"provider": "{provider}", "baseUrl": "{base_url}", "model": "m", "maxTokens": 9}}"#))
}

#[wasm_bindgen_test]
fn a_prompt_becomes_a_request() {
    let prompt = Answer::new().prompt(QUESTION, passages(), 8192).unwrap();
    assert_eq!((list(&prompt, "messages").len(), list(&prompt, "passages").len()), (2, 1));
    let chat = Chat::new(settings("ollama", "")).unwrap();
    assert_eq!(chat.base_url(), "http://localhost:11434");
    let body = json(&chat.body(get(&prompt, "messages")).unwrap());
    assert_eq!(number(&get(&body, "options"), "num_predict"), 9.0);
    assert_eq!(text(&body, "model"), "m");
}

#[wasm_bindgen_test]
fn an_address_that_cannot_be_one_is_refused() {
    for (provider, address) in
        [("openai-compatible", ""), ("nobody", ""), ("ollama", "ftp://x"), ("ollama", "http://a:b@c")]
    {
        let error = Chat::new(settings(provider, address)).err().unwrap();
        assert_eq!(code(&error), "kb::invalid_input", "{provider} {address}");
    }
}

#[wasm_bindgen_test]
fn the_passages_answer_by_themselves() {
    let answer = Answer::new();
    let sentences = answer.candidates(QUESTION, passages()).unwrap();
    assert_eq!(sentences, ["The reflog keeps every position of a branch 😀 for thirty days."]);
    let segments = answer.extract(QUESTION, passages(), Some(vec![0.9])).unwrap();
    let pieces = Array::from(&segments).to_vec();
    assert_eq!(text(&pieces[0], "text"), sentences[0]);
    assert_eq!((number(&pieces[1], "n"), number(&pieces[1], "passage")), (1.0, 0.0));

    let checked = answer.check(segments, passages(), "No.", 0.5).unwrap();
    assert_eq!((number(&checked, "confidence"), get(&checked, "refused")), (0.5, JsValue::FALSE));
    let sentence = &list(&checked, "sentences")[0];
    assert_eq!(text(sentence, "verdict"), "supported");
    assert_eq!(number(sentence, "end"), sentences[0].encode_utf16().count() as f64);
}

#[wasm_bindgen_test]
fn nothing_near_is_not_relevant() {
    let answer = Answer::new();
    let judge = |cosines, coverage, unknown, found_any| {
        let model = Some("multilingual-e5-small".to_string());
        let judged = answer.judge("what is a reflog", cosines, vec!["en".into()], coverage, unknown, found_any, model);
        get(&judged.unwrap(), "relevant")
    };
    assert_eq!(judge(vec![-0.5], 0.0, 1.0, true), JsValue::FALSE);
    assert_eq!(judge(vec![0.95], 1.0, 0.0, true), JsValue::TRUE);
    assert_eq!(judge(vec![], 1.0, 0.0, false), JsValue::FALSE);
    assert_eq!(answer.refusal("图是什么"), "知识库中没有找到相关信息。");
}
