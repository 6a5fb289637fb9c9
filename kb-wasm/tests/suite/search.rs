//! `KnowledgeBase`: opening, searching, reading, and what damaged input gives.

use super::{bundle, code, get, json, list, number, text};
use kb_core::bundle::{SealedBundle, SectionKind};
use kb_wasm::KnowledgeBase;
use wasm_bindgen::JsValue;
use wasm_bindgen_test::wasm_bindgen_test;

pub fn opened(bundle: &SealedBundle) -> KnowledgeBase {
    let mut base = KnowledgeBase::new(bundle.manifest_json.clone()).unwrap();
    for file in &bundle.files {
        base.add_section(&file.name, file.bytes.clone()).unwrap();
    }
    base.finish().unwrap();
    base
}

fn ask(base: &KnowledgeBase, question: &str) -> Vec<JsValue> {
    let query = js_sys::Object::new();
    js_sys::Reflect::set(&query, &"text".into(), &question.into()).unwrap();
    list(&base.search(query.into(), None, None).unwrap(), "hits")
}

/// The part of a JavaScript string that a span names, by JavaScript's own rule.
fn cut(whole: &str, span: &JsValue) -> String {
    js_sys::JsString::from(whole).slice(number(span, "start") as u32, number(span, "end") as u32).into()
}

#[wasm_bindgen_test]
fn says_what_it_needs_and_what_it_is() {
    let bundle = bundle();
    let mut base = KnowledgeBase::new(bundle.manifest_json.clone()).unwrap();
    let sections = js_sys::Array::from(&base.sections().unwrap()).to_vec();
    let kinds: Vec<String> = sections.iter().map(|s| text(s, "kind")).collect();
    assert_eq!(kinds, ["docs", "text", "chunks", "lexical"]);
    assert!(!base.ready());
    assert_eq!(code(&base.info().unwrap_err()), "kb::missing");
    assert_eq!(code(&base.finish().unwrap_err()), "kb::missing");

    base = opened(&bundle);
    assert!(base.ready());
    let info = base.info().unwrap();
    assert_eq!(text(&info, "title"), "测试 test");
    let documents = list(&info, "documents");
    assert_eq!(
        documents.iter().map(|d| text(d, "path")).collect::<Vec<_>>(),
        ["graphs.md", "trees.md", "heaps.md", "diary.md"]
    );
    assert_eq!(text(&documents[0], "url"), "source/graphs.md");
    let collections = list(&info, "collections");
    assert_eq!(
        collections.iter().map(|c| (text(c, "name"), number(c, "documents") as u32)).collect::<Vec<_>>(),
        [("course".into(), 3), ("notes".into(), 1)]
    );
}

#[wasm_bindgen_test]
fn finds_english_and_chinese() {
    let base = opened(&bundle());
    let hits = ask(&base, "smallest keys");
    assert_eq!(text(&hits[0], "path"), "heaps.md");
    assert_eq!(number(&hits[0], "rank"), 1.0);
    assert_eq!(text(&hits[0], "url"), "source/heaps.md#heaps");
    assert!(get(&hits[0], "vectorScore").is_undefined());
    let hits = ask(&base, "两点之间最短");
    assert_eq!(text(&hits[0], "path"), "graphs.md");
    assert_eq!(text(&hits[0], "anchor"), "最短路-");
    assert!(ask(&base, "zebra").is_empty());
}

#[wasm_bindgen_test]
fn marks_are_utf16() {
    let base = opened(&bundle());
    for (question, expected) in [("最短路", "最短路"), ("dijkstra", "Dijkstra")] {
        let hits = ask(&base, question);
        let hit = hits.iter().find(|h| text(h, "path") == "graphs.md").unwrap();
        let excerpt = get(hit, "excerpt");
        let whole = text(&excerpt, "text");
        assert!(whole.contains("😀"), "the marks stand behind an emoji: {whole}");
        let marked: Vec<String> = list(&excerpt, "marks").iter().map(|m| cut(&whole, m)).collect();
        assert!(marked.iter().any(|m| m == expected), "{marked:?}");
    }
}

#[wasm_bindgen_test]
fn documents_and_passages_are_utf16() {
    let base = opened(&bundle());
    let document = base.document(0).unwrap();
    let whole = text(&document, "text");
    let sections = list(&document, "sections");
    let starts: Vec<String> = sections.iter().map(|s| cut(&whole, s).lines().next().unwrap().into()).collect();
    assert_eq!(starts, ["# Graphs", "## 最短路 😀"]);
    assert_eq!(number(&sections[1], "end"), f64::from(js_sys::JsString::from(whole.as_str()).length()));

    let hits = ask(&base, "最短路");
    let span = base.passage(0, &text(&hits[0], "chunkId")).unwrap();
    let passage = cut(&whole, &span);
    assert!(passage.trim_end().ends_with("Dijkstra 算法。") && passage.contains("在有向图😀里"), "{passage}");
    assert!(base.passage(1, &text(&hits[0], "chunkId")).unwrap().is_undefined(), "it is in another document");
    for odd in ["", "0", "zz", "ffffffffffffffffffff"] {
        assert!(base.passage(0, odd).unwrap().is_undefined());
    }
    assert_eq!(code(&base.document(99).unwrap_err()), "kb::invalid_input");
}

#[wasm_bindgen_test]
fn candidates_are_fused_and_filters_hold() {
    let base = opened(&bundle());
    let query = || json(r#"{"text": "heron by the water", "k": 5}"#);
    // Chunk 1 is the Chinese one: it has no word of the question, only the vectors propose it.
    let response = base.search(query(), Some(vec![1, 4]), Some(vec![0.9, 0.5])).unwrap();
    assert_eq!(text(&response, "mode"), "hybrid");
    let hits = list(&response, "hits");
    let found = hits.iter().find(|h| text(h, "path") == "graphs.md").unwrap();
    assert!((number(found, "vectorScore") - 0.9).abs() < 1e-6);
    assert!(get(found, "lexicalScore").is_undefined());
    let both = hits.iter().find(|h| text(h, "path") == "diary.md").unwrap();
    assert!(number(both, "lexicalScore") > 0.0);

    let scoped = || json(r#"{"text": "heron", "collections": ["notes"]}"#);
    let bits = base.allowed(scoped()).unwrap().unwrap().to_vec();
    assert_eq!(bits, [0b1_0000], "of five passages the last");
    assert!(base.allowed(query()).unwrap().is_none());
    let hits = list(&base.search(scoped(), Some(vec![1]), Some(vec![0.9])).unwrap(), "hits");
    assert_eq!(hits.iter().map(|h| text(h, "path")).collect::<Vec<_>>(), ["diary.md"]);
    assert!(base.candidate_count(query()).unwrap() >= 5);
}

#[wasm_bindgen_test]
fn odd_queries_are_errors() {
    let base = opened(&bundle());
    for query in [
        json(r#"{"text": " "}"#),
        json(r#"{"text": "a", "k": 0}"#),
        json(r#"{"text": "a", "k": 101}"#),
        json(r#"{"text": "a", "k": -1}"#),
        json(r#"{"text": 5}"#),
        json(r#"{"text": "a", "mode": "magic"}"#),
        json(r#"{"text": "a", "filters": [{"key": "lang"}]}"#),
        JsValue::NULL,
        JsValue::from_str("text"),
    ] {
        assert_eq!(code(&base.search(query.clone(), None, None).unwrap_err()), "kb::invalid_input", "{query:?}");
    }
    let query = json(r#"{"text": "a"}"#);
    assert_eq!(code(&base.search(query.clone(), Some(vec![1, 2]), Some(vec![0.5])).unwrap_err()), "kb::invalid_input");
    // Candidates from nowhere are not hits.
    let hits = list(&base.search(query, Some(vec![77]), Some(vec![f32::NAN])).unwrap(), "hits");
    assert!(hits.iter().all(|h| get(h, "vectorScore").is_undefined()));
}

#[wasm_bindgen_test]
fn text_may_follow() {
    let bundle = bundle();
    let mut base = KnowledgeBase::new(bundle.manifest_json.clone()).unwrap();
    let is_text = |name: &str| name.starts_with(SectionKind::Text.name());
    for file in bundle.files.iter().filter(|f| !is_text(&f.name)) {
        base.add_section(&file.name, file.bytes.clone()).unwrap();
    }
    base.finish().unwrap();
    let part = bundle.files.iter().find(|f| is_text(&f.name)).unwrap();
    let query = || json(r#"{"text": "smallest keys"}"#);
    let response = base.search(query(), None, None).unwrap();
    let hit = &list(&response, "hits")[0];
    assert_eq!((text(hit, "path"), text(&get(hit, "excerpt"), "text")), ("heaps.md".into(), String::new()));
    assert_eq!(
        list(&response, "missing").iter().map(|f| f.as_string().unwrap()).collect::<Vec<_>>(),
        [part.name.as_str()]
    );
    assert_eq!(base.missing_text(2).unwrap().as_ref(), Some(&part.name));
    assert_eq!(code(&base.document(2).unwrap_err()), "kb::missing");

    base.add_section(&part.name, part.bytes.clone()).unwrap();
    let response = base.search(query(), None, None).unwrap();
    assert!(text(&get(&list(&response, "hits")[0], "excerpt"), "text").contains("smallest key"));
    assert!(list(&response, "missing").is_empty());
    assert_eq!(base.missing_text(2).unwrap(), None);
}

#[wasm_bindgen_test]
fn damage_is_an_error_with_a_code() {
    let bundle = bundle();
    let manifest = |bytes: &[u8]| KnowledgeBase::new(bytes.to_vec()).map(|_| ()).unwrap_err();
    assert_eq!(code(&manifest(b"<!doctype html>")), "kb::not_a_bundle");
    assert_eq!(code(&manifest(br#"{"format": 65000}"#)), "kb::newer_format");
    assert_eq!(code(&manifest(&bundle.manifest_json[..bundle.manifest_json.len() / 2])), "kb::corrupt");

    for damaged in 0..bundle.files.len() {
        // One bit, a cut, a web page in its place, another section's bytes.
        let mut bit = bundle.files[damaged].bytes.clone();
        let middle = bit.len() / 2;
        bit[middle] ^= 1;
        let short = bundle.files[damaged].bytes[..middle].to_vec();
        let other = bundle.files[(damaged + 1) % bundle.files.len()].bytes.clone();
        for (bytes, expected) in [
            (bit, "kb::corrupt"),
            (short, "kb::corrupt"),
            (b"<html>".to_vec(), "kb::not_a_bundle"),
            (other, "kb::corrupt"),
        ] {
            let mut base = KnowledgeBase::new(bundle.manifest_json.clone()).unwrap();
            for (i, file) in bundle.files.iter().enumerate() {
                base.add_section(&file.name, if i == damaged { bytes.clone() } else { file.bytes.clone() }).unwrap();
            }
            let thrown = base.finish().unwrap_err();
            assert_eq!(code(&thrown), expected, "{}: {}", bundle.files[damaged].name, text(&thrown, "message"));
            assert!(!base.ready());
        }
    }
    let mut base = KnowledgeBase::new(bundle.manifest_json.clone()).unwrap();
    assert_eq!(code(&base.add_section("nowhere.kbs", vec![]).unwrap_err()), "kb::invalid_input");
}
