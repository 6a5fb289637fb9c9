//! The third module: from passages to messages, sentences and a model's settings. Replies are read in the browser
//! tests of the page, from a server.

use super::{code, get, json, list, number, text};
use js_sys::Array;
use kb_wasm::{Answer, Chat};
use wasm_bindgen::{JsCast, JsValue};
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
    let prompt = Answer::new(JsValue::UNDEFINED).unwrap().prompt(QUESTION, passages(), 8192).unwrap();
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
    let answer = Answer::new(JsValue::UNDEFINED).unwrap();
    let sentences = answer.candidates(QUESTION, passages()).unwrap();
    assert_eq!(sentences, ["The reflog keeps every position of a branch 😀 for thirty days."]);
    let segments = answer.extract(QUESTION, passages(), Some(vec![0.9])).unwrap();
    let pieces = Array::from(&segments).to_vec();
    assert_eq!(text(&pieces[0], "text"), sentences[0]);
    assert_eq!((number(&pieces[1], "n"), number(&pieces[1], "passage")), (1.0, 0.0));

    let checked = answer.check(segments, passages(), "No.", 0.5, vec![], None).unwrap();
    assert_eq!((number(&checked, "confidence"), get(&checked, "refused")), (0.5, JsValue::FALSE));
    let sentence = &list(&checked, "sentences")[0];
    assert_eq!(text(sentence, "verdict"), "supported");
    assert_eq!(number(sentence, "end"), sentences[0].encode_utf16().count() as f64);
}

#[wasm_bindgen_test]
fn nothing_near_is_not_relevant() {
    let answer = Answer::new(JsValue::UNDEFINED).unwrap();
    let judge = |cosines, coverage, unknown, found_any| {
        let model = Some("multilingual-e5-small".to_string());
        let judged =
            answer.judge("what is a reflog", cosines, vec!["en".into()], coverage, unknown, false, found_any, model);
        get(&judged.unwrap(), "relevant")
    };
    assert_eq!(judge(vec![-0.5], 0.0, 1.0, true), JsValue::FALSE);
    assert_eq!(judge(vec![0.95], 1.0, 0.0, true), JsValue::TRUE);
    assert_eq!(judge(vec![], 1.0, 0.0, false), JsValue::FALSE);
    assert_eq!(answer.refusal("图是什么"), "知识库中没有找到相关信息。");
}

#[wasm_bindgen_test]
fn the_authors_words_take_the_place_of_ours() {
    let changes = r#"{"en": {"system": "Speak like a sailor.", "refusal": "No idea."}, "zh": {"refusal": "不知道。"}}"#;
    let answer = Answer::new(json(changes)).unwrap();
    let prompt = answer.prompt(QUESTION, passages(), 8192).unwrap();
    assert_eq!(text(&list(&prompt, "messages")[0], "content"), "Speak like a sailor.");
    assert_eq!((answer.refusal("图是什么"), answer.refusal(QUESTION)), ("不知道。".into(), "No idea.".into()));
    for bad in
        [r#"{"en": {"user": "{question}"}}"#.to_string(), format!(r#"{{"zh": {{"refusal": "{}"}}}}"#, "x".repeat(301))]
    {
        assert_eq!(code(&Answer::new(json(&bad)).err().unwrap()), "kb::invalid_input", "{bad}");
    }
}

#[wasm_bindgen_test]
fn meaning_backs_what_words_do_not() {
    let answer = Answer::new(JsValue::UNDEFINED).unwrap();
    let segments = || {
        json(
            r#"[{"kind": "text", "text": "Old places stay reachable a month."}, {"kind": "citation", "n": 1, "passage": 0}]"#,
        )
    };
    let doubts = Array::from(&answer.doubts(segments(), passages(), "No.").unwrap()).to_vec();
    assert_eq!(text(&doubts[0], "sentence"), "Old places stay reachable a month.");
    assert_eq!((doubts.len(), number(&doubts[0], "passage")), (1, 0.0));
    let verdict = |cosines: Vec<f32>, model: Option<&str>| {
        let checked = answer.check(segments(), passages(), "No.", 1.0, cosines, model.map(str::to_owned)).unwrap();
        text(&list(&checked, "sentences")[0], "verdict")
    };
    let e5 = Some("multilingual-e5-small-zh-en-q4");
    assert_eq!((verdict(vec![0.95], e5), verdict(vec![0.5], e5)), ("supported".into(), "weak".into()));
    assert_eq!((verdict(vec![], e5), verdict(vec![0.95], Some("unknown"))), ("weak".into(), "weak".into()));
}

#[wasm_bindgen_test]
async fn a_service_that_needs_a_key_is_not_asked_without_one() {
    let chat = Chat::new(settings("deepseek", "http://127.0.0.1:9")).unwrap();
    let signal = js_sys::eval("new AbortController().signal").unwrap();
    let error = chat.models(signal.unchecked_into()).await.err().unwrap();
    assert_eq!(text(&error, "code"), "llm::no_key");
}
