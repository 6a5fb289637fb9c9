//! With the real model: builds, the embedding cache, search by meaning, `eval`.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Sandbox, course, files, stderr};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The clone's default model. The tests run in folders outside the clone; the program finds it from
/// its own place only if the build folder is in the clone, so they name it.
fn model() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prebuilt/models/multilingual-e5-small-zh-en-q4");
    path.canonicalize().expect("the default model is in prebuilt/models").to_string_lossy().into_owned()
}

#[test]
fn cached_fresh_and_partly_cached_builds_give_the_same_bytes() {
    let s = Sandbox::new();
    course(&s);
    let m = model();
    let build = |out: &str, more: &[&str]| -> Value {
        let mut args = vec!["build", "zh", "en", "--json", "--model", &m, "-o", out];
        args.extend(more);
        let output = s.expect(0, &args);
        let last = String::from_utf8_lossy(&output.stdout).lines().last().map(str::to_string).expect("an event");
        serde_json::from_str(&last).expect("JSON")
    };
    let fresh = build("fresh", &["--no-cache"]);
    let filling = build("filling", &[]);
    let cached = build("cached", &[]);
    let n = fresh["passages"].clone();
    assert!(n.as_u64().is_some_and(|n| n >= 4));
    assert_eq!((&fresh["embedded"], &fresh["from_cache"]), (&n, &0.into()));
    assert_eq!((&filling["embedded"], &filling["from_cache"]), (&n, &0.into()));
    assert_eq!((&cached["embedded"], &cached["from_cache"]), (&0.into(), &n));
    let expected = files(&s.path("fresh"));
    assert_eq!(expected, files(&s.path("filling")));
    assert_eq!(expected, files(&s.path("cached")));

    // One more document costs one embedding, and the rest comes out as in a clean build.
    s.write("en/new.md", "# Lifetimes\n\nA reference must not outlive what it points to.\n");
    let grown = build("grown", &[]);
    assert_eq!((&grown["embedded"], &grown["from_cache"]), (&1.into(), &n));
    build("clean", &["--no-cache"]);
    assert_eq!(files(&s.path("grown")), files(&s.path("clean")));
}

#[test]
fn a_question_without_a_common_word_finds_its_passage() {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "en", "--model", &model(), "-q"]);
    for name in ["model.onnx", "tokenizer.json", "model.json"] {
        assert!(s.path("site/model").join(name).is_file(), "{name}");
    }
    // The site's own model answers: nothing else is named here.
    let best = |question: &str, mode: &str| -> Value {
        s.json(&["search", "site", question, "--mode", mode, "--json"])["hits"][0].clone()
    };
    assert_eq!(best("why is my variable gone after giving it away", "vector")["path"], "ownership.md");
    assert_eq!(best("怎样求两点之间走得最省的路线", "vector")["path"], "图论/最短路.md");
    assert_eq!(best("怎样求两点之间走得最省的路线", "hybrid")["path"], "图论/最短路.md");
    let answer = s.json(&["search", "site", "slice", "--json"]);
    assert_eq!((&answer["mode"], &answer["model"]), (&"hybrid".into(), &"multilingual-e5-small-zh-en-q4".into()));
    let hit = &answer["hits"][0];
    assert_eq!(hit["path"], "guide.rst");
    assert!(
        hit["vector_score"].as_f64().is_some_and(|v| (0.0..=1.0).contains(&v))
            && hit["lexical_score"].as_f64().is_some_and(|v| v > 0.0)
    );
    // Every score is the sum of its parts, whichever way the lists are combined.
    for method in ["convex", "rrf", "three-way", "three-way-semantic"] {
        let answer = s.json(&["search", "site", "slice of an array", "--fusion", method, "--explain", "--json"]);
        let hits = answer["hits"].as_array().expect("hits");
        assert!(hits.len() > 1 && answer["settings"]["fusion"] == method.trim_end_matches("-semantic"), "{answer}");
        for hit in hits {
            let parts = hit["explanation"]["parts"].as_array().expect("parts");
            let number = |v: &Value| v.as_f64().expect("a number");
            let sum: f64 = parts.iter().map(|p| number(&p["weight"]) * number(&p["value"])).sum();
            assert!((sum - number(&hit["score"])).abs() < 1e-5, "{hit}");
        }
    }
    // A base this small has no graph to ask for.
    let refused = s.expect(2, &["search", "site", "slice", "--vectors", "graph"]);
    assert!(stderr(&refused).contains("has no graph"), "{}", stderr(&refused));
    // Filters apply inside the vector search.
    let answer =
        s.json(&["search", "site", "why is my variable gone", "--mode", "vector", "--collection", "zh", "--json"]);
    let hits = answer["hits"].as_array().expect("hits");
    assert!(!hits.is_empty() && hits.iter().all(|h| h["collection"] == "zh"));
}

#[test]
fn another_model_is_refused_by_its_fingerprint() {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "en", "--model", &model(), "-q"]);
    // The same files under another description are another model.
    let other = s.path("other");
    std::fs::create_dir(&other).expect("mkdir");
    for name in ["model.onnx", "tokenizer.json"] {
        std::fs::copy(Path::new(&model()).join(name), other.join(name)).expect("copy");
    }
    let description = json!({"name": "other", "dim": 384, "max_tokens": 128, "pooling": "mean", "query_prefix": "query: ", "passage_prefix": "passage: "});
    s.write("other/model.json", description.to_string());
    let output = s.expect(1, &["search", "site", "moves", "--model", "other"]);
    assert!(
        stderr(&output).contains("kb::model_mismatch") && stderr(&output).contains("multilingual-e5-small-zh-en-q4"),
        "{}",
        stderr(&output)
    );
    // Installed, it is found by its name.
    s.expect(0, &["model", "--install", "other"]);
    assert_eq!(s.json(&["model", "--model", "other", "--json"])["max_tokens"], 128);
    assert!(stderr(&s.expect(1, &["model", "--install", "other"])).contains("is installed"));
}

#[test]
fn a_description_that_cannot_be_is_refused() {
    let s = Sandbox::new();
    s.write("one/a.md", "# A\n\nText about boats.\n");
    let from = PathBuf::from(model());
    for tokens in [0, 100_000] {
        std::fs::create_dir_all(s.path("m")).expect("mkdir");
        for name in ["model.onnx", "tokenizer.json"] {
            std::fs::copy(from.join(name), s.path("m").join(name)).expect("copies");
        }
        let json = std::fs::read_to_string(from.join("model.json")).expect("reads");
        let mut info: Value = serde_json::from_str(&json).expect("JSON");
        info["max_tokens"] = tokens.into();
        // A description of one's own has no fingerprint yet.
        info["fingerprint"] = "".into();
        s.write("m/model.json", info.to_string());
        let output = s.expect(1, &["build", "one", "--model", "m", "-q", "--no-cache"]);
        let said = stderr(&output);
        assert!(said.contains(&format!("{tokens} tokens at most")) && said.contains("8 to 8192"), "{said}");
    }
    // The flag of `ask` is called by its own name.
    s.expect(0, &["build", "one", "--model", &model(), "-q"]);
    let output = s.expect(2, &["ask", "site", "boats", "--encoder", "nosuch"]);
    assert!(stderr(&output).contains("--encoder names nosuch"), "{}", stderr(&output));
}

#[test]
fn eval_measures_what_the_run_file_says() {
    let s = Sandbox::new();
    let corpus = [
        json!({"id": "d1", "title": "Apples", "text": "Apples grow on trees in an orchard."}),
        json!({"id": "d2", "title": "Ships", "text": "Ships carry freight across the ocean."}),
        json!({"id": "d3", "title": "天气", "text": "今天下雨，出门要带伞。"}),
    ];
    let queries = [
        json!({"id": "q1", "text": "orchard"}),
        json!({"id": "q2", "text": "freight on the ocean"}),
        json!({"id": "q3", "text": "orchard trees"}),
    ];
    let lines = |values: &[Value]| values.iter().map(|v| format!("{v}\n")).collect::<String>();
    s.write("set/corpus.jsonl", lines(&corpus));
    s.write("set/queries.jsonl", lines(&queries));
    // q3's judgement is wrong on purpose: words find d1 and never d3.
    s.write("set/qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\nq3\td3\t1\n");
    let scores = s.json(&["eval", "set", "--mode", "lexical", "--run-out", "run.tsv"]);
    let expected = json!({"set": "set", "mode": "lexical", "model": null, "passages": 3, "ndcg10": 0.6667, "recall5": 0.6667, "mrr10": 0.6667, "hit5": 0.6667, "queries": 3});
    for (key, value) in expected.as_object().expect("an object") {
        assert_eq!(&scores[key], value, "{key}");
    }
    // Two of three: every resample has a mean between 0 and 1, and most of them are not all alike.
    let ends = scores["ndcg10_interval"].as_array().expect("an interval");
    assert!(ends[0].as_f64() < Some(0.6667) && ends[1].as_f64() > Some(0.6667), "{scores}");
    assert_eq!(scores["languages"]["en"]["queries"], 3);
    let run = std::fs::read_to_string(s.path("run.tsv")).expect("run file");
    let rows: Vec<Vec<&str>> = run.lines().map(|l| l.split('\t').collect()).collect();
    assert_eq!((rows[0][0], rows[0][1]), ("q1", "d1"));
    assert!(rows.iter().all(|r| r.len() == 3 && r[2].parse::<f32>().is_ok_and(|x| x > 0.0)), "{run}");

    // The same ranking is not worse than itself; one with the best hits taken away is.
    let same = s.json(&["eval", "set", "--compare", "run.tsv", "run.tsv"]);
    assert_eq!((&same["difference"], &same["better"], &same["worse"]), (&0.0.into(), &0.into(), &0.into()));
    s.write("empty.tsv", "");
    s.write("set/qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq2\td2\t1\nq3\td1\t1\n");
    let output = s.expect(1, &["eval", "set", "--compare", "run.tsv", "empty.tsv"]);
    let worse: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((&worse["difference"], &worse["worse"]), (&(-1.0).into(), &3.into()));

    s.write(
        "set/queries.jsonl",
        lines(&[
            json!({"id": "q1", "text": "which fruit is picked from branches"}),
            json!({"id": "q3", "text": "need an umbrella?"}),
        ]),
    );
    s.write("set/qrels.tsv", "query-id\tcorpus-id\tscore\nq1\td1\t1\nq3\td3\t1\n");
    let scores = s.json(&["eval", "set", "--mode", "vector", "--model", &model()]);
    assert_eq!((&scores["mode"], &scores["ndcg10"], &scores["queries"]), (&"vector".into(), &1.0.into(), &2.into()));
    let output = s.expect(1, &["eval", "cache", "--mode", "lexical"]);
    assert!(stderr(&output).contains("corpus.jsonl"), "{}", stderr(&output));
}

/// The program alone, copied out of the clone, as `cargo install` leaves it.
#[test]
fn an_installed_program_brings_its_model() {
    let s = Sandbox::new();
    course(&s);
    let program = s.path("bin").join(format!("kb-builder{}", std::env::consts::EXE_SUFFIX));
    std::fs::create_dir_all(s.path("bin")).expect("mkdir");
    std::fs::copy(env!("CARGO_BIN_EXE_kb-builder"), &program).expect("copy");
    let run = |args: &[&str]| {
        let mut command = std::process::Command::new(&program);
        command.args(args).current_dir(s.path("")).env("KB_CACHE", s.path("cache")).env_remove("KB_MODEL");
        let output = command.output().expect("the program runs");
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        output.stdout
    };
    run(&["build", "zh", "en", "-q"]);
    let shown: Value = serde_json::from_slice(&run(&["model", "--json"])).expect("JSON");
    let installed = s.path("cache").join("models/multilingual-e5-small-zh-en-q4");
    assert_eq!(shown["path"], installed.to_string_lossy().as_ref());
    assert_eq!(
        std::fs::read(installed.join("model.onnx")).expect("model"),
        std::fs::read(Path::new(&model()).join("model.onnx")).expect("model")
    );
}
