//! What comes after a search: rerankers, the language model's reading of a question, comparisons by halves.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;
#[allow(dead_code, reason = "each test file uses a part of it")]
#[path = "common/llm.rs"]
mod llm;

use common::{Sandbox, course, stderr};
use llm::{Fixture, OLLAMA_END, Reply, ollama};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Output;

const QUESTION: &str = "最短路 前缀 点 slice reference value";

fn site() -> Sandbox {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "en", "--no-model", "-q"]);
    s
}

fn cross_encoder(name: &str) -> String {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/reference/cross-encoders").join(name);
    folder.canonicalize().expect("is there").to_string_lossy().into_owned()
}

fn ids(answer: &Value) -> Vec<&str> {
    answer["hits"].as_array().expect("hits").iter().map(|h| h["chunk_id"].as_str().expect("id")).collect()
}

fn number(value: &Value) -> f64 {
    value.as_f64().expect("a number")
}

/// Runs with the language model at `url`.
fn with_llm(s: &Sandbox, url: &str, args: &[&str]) -> Output {
    let mut command = s.command(args);
    command.env("KB_LLM_PROVIDER", "ollama").env("KB_LLM_BASE_URL", url).env("KB_LLM_MODEL", "m");
    command.output().expect("runs")
}

fn replying(text: &'static str) -> Fixture {
    Fixture::start(move |_, _| Reply::new(200, &format!("{}{OLLAMA_END}", ollama(text))))
}

#[test]
fn a_cross_encoder_orders_the_first_hits() {
    let s = site();
    let plain = s.json(&["search", "site", QUESTION, "--json"]);
    assert!(ids(&plain).len() >= 5 && plain["hits"][0].get("refinement").is_none());
    for name in ["bert", "xlmr"] {
        let folder = cross_encoder(name);
        let better = s.json(&["search", "site", QUESTION, "--reranker", &folder, "--explain", "--json"]);
        let hits = better["hits"].as_array().expect("hits");
        let scores: Vec<f64> = hits.iter().map(|h| number(&h["refinement"]["reranker_score"])).collect();
        assert!(
            scores.windows(2).all(|w| w[0] >= w[1]) && scores.iter().all(|s| (0.0..=1.0).contains(s)),
            "{scores:?}"
        );
        // Each hit says where it was, and all are those of the search.
        for hit in hits {
            let before = hit["refinement"]["rank_before"].as_u64().expect("a rank") as usize;
            assert_eq!(hit["chunk_id"].as_str().expect("id"), ids(&plain)[before - 1]);
            let parts = hit["explanation"]["parts"].as_array().expect("parts");
            let sum: f64 = parts.iter().map(|p| number(&p["weight"]) * number(&p["value"])).sum();
            assert!((sum - number(&hit["score"])).abs() < 1e-5, "{hit}");
        }
        let ranks: Vec<u64> = hits.iter().map(|h| h["rank"].as_u64().expect("a rank")).collect();
        assert_eq!(ranks, (1..=hits.len() as u64).collect::<Vec<_>>());
        assert_ne!(ids(&better), ids(&plain), "weights by chance keep no order");
        // The best of all candidates comes, not the best of those that would have been shown.
        let one = s.json(&["search", "site", QUESTION, "--reranker", &folder, "-k", "1", "--json"]);
        assert_eq!(ids(&one), ids(&better)[..1]);
        // Only the first two change places.
        let two = s.json(&["search", "site", QUESTION, "--reranker", &folder, "--rerank-candidates", "2", "--json"]);
        assert_eq!(ids(&two)[2..], ids(&plain)[2..]);
    }
    let text = s.expect(0, &["search", "site", QUESTION, "--reranker", &cross_encoder("bert"), "--explain"]);
    assert!(String::from_utf8_lossy(&text.stdout).contains("reranker 0."));
}

#[test]
fn kb_toml_names_a_reranker_and_a_flag_takes_it_back() {
    let s = site();
    let copy = s.path("models/bert");
    std::fs::create_dir_all(&copy).expect("mkdir");
    for file in ["model.onnx", "tokenizer.json", "config.json"] {
        std::fs::copy(Path::new(&cross_encoder("bert")).join(file), copy.join(file)).expect("copies");
    }
    let plain = s.json(&["search", "site", QUESTION, "--json"]);
    s.write("conf/kb.toml", "[retrieval]\nreranker = \"../models/bert\"\nrerank_candidates = 3\n");
    let config = ["search", "site", QUESTION, "--json", "--config", "conf/kb.toml"];
    let better = s.json(&config);
    let scored = |answer: &Value| {
        let hits = answer["hits"].as_array().expect("hits").iter();
        hits.filter(|h| !h["refinement"]["reranker_score"].is_null()).count()
    };
    assert_eq!(scored(&better), 3);
    let off = s.json(&[&config[..], &["--reranker", "none"]].concat());
    assert_eq!(ids(&off), ids(&plain));
    // Measured, too.
    s.write("questions.txt", "Dijkstra 每次取出什么 → zh/图论/最短路.md#dijkstra-算法\n");
    let measured = s.json(&["eval", "questions.txt", "--site", "site", "--config", "conf/kb.toml", "-q"]);
    assert_eq!(measured["queries"], 1);

    for (args, words) in [
        (vec!["--reranker", "nowhere"], "nowhere is no folder"),
        (vec!["--reranker", "zh"], "zh has no model.onnx"),
        (vec!["--reranker", "models/bert", "--rerank-candidates", "1"], "2 to 100"),
        (vec!["--reranker", "llm"], "--reranker llm needs a language model"),
        (vec!["--understand", "llm"], "--understand llm needs a language model"),
    ] {
        let refused = s.expect(2, &[&["search", "site", QUESTION], args.as_slice()].concat());
        assert!(stderr(&refused).contains(words), "{}", stderr(&refused));
    }
    s.write("models/bert/tokenizer.json", "{");
    let damaged = s.expect(1, &["search", "site", QUESTION, "--reranker", "models/bert"]);
    assert!(stderr(&damaged).contains("tokenizer.json"), "{}", stderr(&damaged));
}

#[test]
fn a_language_model_orders_the_first_hits() {
    let s = site();
    let plain = s.json(&["search", "site", QUESTION, "--json"]);
    let server = replying("The order is [3, 1, 99, 3].");
    let args = ["search", "site", QUESTION, "--reranker", "llm", "--json"];
    let output = with_llm(&s, &server.url, &args);
    let better: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let expected = [&[ids(&plain)[2], ids(&plain)[0], ids(&plain)[1]], &ids(&plain)[3..]].concat();
    assert_eq!(ids(&better), expected);
    assert_eq!(better["hits"][0]["refinement"], json!({"rank_before": 3}));
    let asked: Value = serde_json::from_str(&server.asked()[0].body).expect("JSON");
    assert_eq!(asked["options"]["temperature"], 0.0);
    let data: Value = serde_json::from_str(asked["messages"][1]["content"].as_str().expect("text")).expect("JSON");
    assert_eq!(data["question"], QUESTION);
    assert_eq!(data["passages"].as_array().map(Vec::len), Some(ids(&plain).len()));
    assert!(data["passages"][0]["text"].as_str().is_some_and(|t| !t.is_empty()));

    // A reply of no use, or none at all, changes nothing, and is told.
    let chatty = replying("I think the second passage is the best one.");
    let output = with_llm(&s, &chatty.url, &args);
    assert_eq!(ids(&serde_json::from_slice(&output.stdout).expect("JSON")), ids(&plain));
    assert!(stderr(&output).contains("own order stays") && output.status.success(), "{}", stderr(&output));
    let refusing = Fixture::start(|_, _| Reply::new(400, "{\"error\":\"no such model\"}"));
    let output = with_llm(&s, &refusing.url, &args);
    assert_eq!(ids(&serde_json::from_slice(&output.stdout).expect("JSON")), ids(&plain));
    assert!(stderr(&output).contains("own order stays"), "{}", stderr(&output));

    // What `ask` answers from is in that order as well.
    let answered = with_llm(&s, &server.url, &["ask", "site", QUESTION, "--reranker", "llm", "--show-prompt"]);
    let prompt = String::from_utf8_lossy(&answered.stdout).into_owned();
    let third = plain["hits"][2]["title"].as_str().expect("a title");
    let first = prompt.split("<passage n=\"1\"").nth(1).unwrap_or_default();
    assert!(first.lines().next().is_some_and(|line| line.contains(third)), "{prompt}");
}

#[test]
fn a_language_model_reads_the_question() {
    let s = site();
    // No word of it stands anywhere.
    let question = "gimme the quickest itinerary";
    assert!(ids(&s.json(&["search", "site", question, "--json"])).is_empty());
    let server = replying(
        "{\"intent\": \"how-to\", \"entities\": [\"Dijkstra\"], \"rewrite\": \"最短路\", \"sub_questions\": [\"Dijkstra 算法\", \"前缀函数\"]}",
    );
    let args = ["search", "site", question, "--understand", "llm", "--explain", "--json"];
    let output = with_llm(&s, &server.url, &args);
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(found["searched"], json!(["最短路", "Dijkstra 算法", "前缀函数"]));
    assert_eq!(found["reading"]["intent"], "how-to");
    assert_eq!(found["hits"][0]["path"], "图论/最短路.md", "{found}");
    let paths: Vec<&Value> = found["hits"].as_array().expect("hits").iter().map(|h| &h["path"]).collect();
    assert!(paths.contains(&&json!("字符串.md")), "{paths:?}");
    // 1 / (60 + rank), added up over the lists.
    for hit in found["hits"].as_array().expect("hits") {
        let ranks = hit["refinement"]["ranks"].as_array().expect("ranks");
        assert_eq!(ranks.len(), 4);
        let sum: f64 = ranks.iter().filter_map(Value::as_f64).map(|rank| 1.0 / (60.0 + rank)).sum();
        assert!((sum - number(&hit["refinement"]["merged_score"])).abs() < 1e-6, "{hit}");
    }
    let text = with_llm(&s, &server.url, &args[..6]);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("also looked up: 最短路") && text.contains("asks for howto; names Dijkstra"), "{text}");
    let silent = replying("42");
    let output = with_llm(&s, &silent.url, &args);
    assert!(stderr(&output).contains("read by rules alone"), "{}", stderr(&output));
}

#[test]
fn the_halves_of_a_comparison_are_searched() {
    let s = site();
    let question = "difference between borrowing and slicing";
    let found = s.json(&["search", "site", question, "--split-comparisons", "--json", "--explain"]);
    assert_eq!(found["searched"], json!(["borrowing", "slicing"]));
    let first: Vec<&Value> = found["hits"].as_array().expect("hits").iter().take(2).map(|h| &h["path"]).collect();
    assert!(first.contains(&&json!("ownership.md")) && first.contains(&&json!("guide.rst")), "{found}");
    // Nothing is compared here.
    let other = s.json(&["search", "site", "borrowing", "--split-comparisons", "--json", "--explain"]);
    assert!(other.get("searched").is_none());
}
