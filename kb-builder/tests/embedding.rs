//! Embedding by a service: real HTTP against a server that speaks as Ollama, OpenAI and Voyage document it.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;
#[allow(dead_code, reason = "each test file uses a part of it")]
#[path = "common/llm.rs"]
mod llm;

use common::{Sandbox, files, stderr};
use kb_builder::answer::Key;
use kb_builder::embedding::{RemoteModel, ServiceChoice, Waits};
use kb_core::embed::{Service, ServiceKind, TextKind};
use llm::{Fixture, Reply};
use serde_json::{Value, json};
use std::process::Output;
use std::time::Duration;

const KEY: &str = "sk-0123456789-secret";

/// What texts are about, one number a subject. A word of another language or another word for the same is the same
/// subject, so that what is found by it alone is found by meaning.
fn vector(text: &str) -> Vec<f32> {
    const SUBJECTS: [&[&str]; 3] =
        [&["ship", "vessel", "船"], &["bread", "loaf", "面包"], &["mountain", "summit", "山"]];
    let lower = text.to_lowercase();
    let count = |words: &&[&str]| words.iter().map(|w| lower.matches(w).count() as f32).sum::<f32>();
    // Not at unit length: services need not give that.
    SUBJECTS.iter().map(count).chain([0.1]).map(|x| x * 3.0).collect()
}

fn texts(body: &str) -> Vec<String> {
    let body: Value = serde_json::from_str(body).expect("the request is JSON");
    match (&body["input"], &body["prompt"]) {
        (Value::Array(texts), _) => texts.iter().map(|t| t.as_str().expect("text").to_owned()).collect(),
        (_, Value::String(prompt)) => vec![prompt.clone()],
        _ => panic!("nothing to embed in {body}"),
    }
}

fn ollama(body: &str) -> Reply {
    let vectors: Vec<_> = texts(body).iter().map(|t| vector(t)).collect();
    Reply::new(200, &json!({ "model": "nomic-embed-text", "embeddings": vectors }).to_string())
}

fn openai(body: &str) -> Reply {
    let texts = texts(body);
    let rows =
        texts.iter().enumerate().map(|(i, t)| json!({ "object": "embedding", "index": i, "embedding": vector(t) }));
    // In any order: `index` says whose each is.
    let data: Vec<_> = rows.rev().collect();
    Reply::new(200, &json!({ "object": "list", "data": data }).to_string())
}

fn notes() -> Sandbox {
    let s = Sandbox::new();
    s.write(
        "notes/sea.md",
        "# At sea\n\nA ship leaves the harbour with the tide and comes back when the hold is full.\n",
    );
    s.write(
        "notes/kitchen.md",
        "# In the kitchen\n\nBread needs flour, water, salt, yeast and a good deal of patience.\n",
    );
    s.write(
        "notes/alps.md",
        "# In the Alps\n\nThe mountain is climbed from the north, early in the morning before the snow is soft.\n",
    );
    s
}

fn run(s: &Sandbox, server: &Fixture, args: &[&str]) -> Output {
    let mut command = s.command(args);
    for name in ["KB_EMBEDDER", "KB_EMBEDDER_MODEL", "OPENAI_API_KEY", "VOYAGE_API_KEY"] {
        command.env_remove(name);
    }
    command.env("KB_EMBEDDER_URL", &server.url).output().expect("the program runs")
}

fn built(s: &Sandbox, server: &Fixture, extra: &[&str]) -> String {
    let output = run(s, server, &[&["build", "notes"], extra].concat());
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn first_hit(s: &Sandbox, server: &Fixture, question: &str, mode: &str) -> (Option<String>, String) {
    let output = run(s, server, &["search", "site", question, "--mode", mode, "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    (found["hits"][0]["path"].as_str().map(str::to_owned), stderr(&output))
}

fn manifest(s: &Sandbox) -> Value {
    serde_json::from_slice(&std::fs::read(s.path("site/kb/manifest.json")).expect("manifest")).expect("JSON")
}

#[test]
fn ollama_embeds_passages_and_questions_and_only_what_is_new() {
    let server = Fixture::answering(|_, path, body| match path {
        "/api/embed" => ollama(body),
        _ => Reply::new(404, "404 page not found"),
    });
    let s = notes();
    s.write("notes/long.md", format!("# Long\n\n{}\n", "面包很长。".repeat(150)));
    s.write("kb.toml", "[chunking]\nsize = 1000\n");
    built(&s, &server, &["--embedder", "ollama"]);

    let asked: Vec<String> = server.asked().iter().flat_map(|a| texts(&a.body)).collect();
    assert_eq!(asked.len(), 5, "one to learn the length of the vectors, four passages: {asked:?}");
    assert!(asked.iter().all(|t| t.starts_with("search_document: ")), "{asked:?}");
    // FEATURES' number: characters, not bytes.
    let longest = asked.iter().map(|t| t.trim_start_matches("search_document: ").chars().count()).max();
    assert_eq!(longest, Some(500));

    let service = &manifest(&s)["model"]["service"];
    assert_eq!(
        service,
        &json!({ "kind": "ollama", "base_url": server.url, "model": "nomic-embed-text", "max_chars": 500 })
    );
    assert_eq!(manifest(&s)["model"]["dim"], 4);
    assert!(!s.path("site/model").exists(), "there is no model to carry");

    // No word in common with what is found.
    assert_eq!(first_hit(&s, &server, "vessel", "hybrid").0.as_deref(), Some("sea.md"));
    assert_eq!(first_hit(&s, &server, "山", "vector").0.as_deref(), Some("alps.md"));
    assert!(server.asked().last().expect("asked").body.contains("search_query: 山"));

    // An unchanged folder asks for nothing, a changed file for itself.
    let before = server.asked().len();
    built(&s, &server, &["--embedder", "ollama"]);
    assert_eq!(server.asked().len(), before);
    s.write(
        "notes/alps.md",
        "# In the Alps\n\nThe summit is reached at noon, and the way down takes until the evening.\n",
    );
    built(&s, &server, &["--embedder", "ollama"]);
    let new: Vec<String> = server.asked()[before..].iter().flat_map(|a| texts(&a.body)).collect();
    assert_eq!(new.len(), 1, "{new:?}");
    assert!(new[0].contains("summit"), "{new:?}");
}

#[test]
fn an_ollama_that_knows_only_the_older_address_is_asked_there() {
    let server = Fixture::answering(|_, path, body| match path {
        "/api/embeddings" => Reply::new(200, &json!({ "embedding": vector(&texts(body)[0]) }).to_string()),
        _ => Reply { kind: "text/plain", ..Reply::new(404, "404 page not found") },
    });
    let s = notes();
    built(&s, &server, &["--embedder", "ollama", "--embedder-model", "all-minilm"]);
    assert_eq!(first_hit(&s, &server, "loaf", "vector").0.as_deref(), Some("kitchen.md"));
}

#[test]
fn a_key_goes_to_the_service_and_nowhere_else() {
    let server = Fixture::answering(|_, path, body| {
        assert_eq!(path, "/v1/embeddings");
        openai(body)
    });
    let s = notes();
    s.write(".env", format!("EMBED_KEY={KEY}\n"));
    s.write(
        "kb.toml",
        format!(
            "[[source]]\npath = \"notes\"\n[embedding]\nprovider = \"openai\"\nbase_url = \"{}/v1\"\napi_key = \"${{EMBED_KEY}}\"\n",
            server.url
        ),
    );
    let quiet = |args: &[&str]| s.command(args).env_remove("KB_EMBEDDER_URL").output().expect("runs");
    let output = quiet(&["build", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let asked = server.asked();
    let bearer = format!("authorization: bearer {KEY}");
    assert!(asked.iter().all(|a| a.head.to_lowercase().contains(&bearer)), "{asked:?}");
    assert!(asked.iter().all(|a| !a.body.contains(KEY)));
    let found = quiet(&["search", "site", "vessel", "--json"]);
    assert!(String::from_utf8_lossy(&found.stdout).contains("sea.md"), "{}", stderr(&found));
    for output in [output, found] {
        for stream in [output.stdout, output.stderr] {
            assert!(!String::from_utf8_lossy(&stream).contains(KEY));
        }
    }
    for folder in ["site", "cache"] {
        for (name, bytes) in files(&s.path(folder)) {
            assert!(!bytes.windows(KEY.len()).any(|w| w == KEY.as_bytes()), "the key is in {name}");
        }
    }
}

#[test]
fn voyage_hears_which_side_a_text_is_on() {
    let server = Fixture::answering(|_, path, body| match path {
        "/embeddings" => openai(body),
        _ => Reply::new(404, "{}"),
    });
    let s = notes();
    s.write(".env", format!("VOYAGE_API_KEY={KEY}\n"));
    built(&s, &server, &["--embedder", "voyage"]);
    assert_eq!(first_hit(&s, &server, "loaf", "vector").0.as_deref(), Some("kitchen.md"));
    let sides: Vec<Value> = server
        .asked()
        .iter()
        .map(|a| serde_json::from_str::<Value>(&a.body).expect("JSON")["input_type"].clone())
        .collect();
    assert_eq!(sides.first(), Some(&json!("document")));
    assert_eq!(sides.last(), Some(&json!("query")));
}

#[test]
fn what_is_wrong_is_said_in_a_sentence() {
    let s = notes();
    // Wrong key, which the server repeats.
    let server = Fixture::start(|_, _| {
        Reply::new(401, &json!({ "error": { "message": format!("bad key {KEY}") } }).to_string())
    });
    s.write(".env", format!("OPENAI_API_KEY={KEY}\n"));
    let output = run(&s, &server, &["build", "notes", "--embedder", "openai"]);
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("llm::wrong_key") && !said.contains(KEY) && !said.contains("0123456789"), "{said}");
    // No key.
    s.write(".env", "");
    let said = stderr(&run(&s, &server, &["build", "notes", "--embedder", "voyage"]));
    assert!(said.contains("needs a key") && said.contains("VOYAGE_API_KEY"), "{said}");
    // No such model.
    let server =
        Fixture::start(|_, _| Reply::new(404, r#"{"error":"model \"nosuch\" not found, try pulling it first"}"#));
    let said = stderr(&run(&s, &server, &["build", "notes", "--embedder", "ollama", "--embedder-model", "nosuch"]));
    assert!(said.contains("llm::no_such_model") && said.contains("ollama pull"), "{said}");
    // A key in the file.
    s.write("kb.toml", format!("[embedding]\nprovider = \"openai\"\napi_key = \"{KEY}\"\n"));
    let output = run(&s, &server, &["build", "notes"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("no place for one") && !stderr(&output).contains(KEY), "{}", stderr(&output));
    s.write("kb.toml", "");
    // No such kind of service.
    let output = run(&s, &server, &["build", "notes", "--embedder", "cohere"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("openai-compatible, voyage"), "{}", stderr(&output));
    assert!(!s.path("site").exists(), "nothing was built");
}

#[test]
fn what_was_embedded_before_a_failure_is_kept() {
    let server = Fixture::answering(|number, _, body| match number {
        0 | 1 => ollama(body),
        2 => Reply::new(400, r#"{"error":"out of luck"}"#),
        _ => ollama(body),
    });
    let s = Sandbox::new();
    for i in 0..50 {
        s.write(
            &format!("notes/{i:02}.md"),
            format!("# Note {i}\n\nThe ship number {i} is in the harbour today and leaves tomorrow.\n"),
        );
    }
    let output = run(&s, &server, &["build", "notes", "--embedder", "ollama"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    built(&s, &server, &["--embedder", "ollama"]);
    let counts: Vec<usize> = server.asked().iter().map(|a| texts(&a.body).len()).collect();
    assert_eq!(counts, [1, 32, 18, 18], "a probe, two batches of which one fails, the rest");
}

#[test]
fn a_search_goes_on_by_words_when_the_service_is_away_or_another() {
    let server = Fixture::answering(|_, _, body| ollama(body));
    let s = notes();
    built(&s, &server, &["--embedder", "ollama"]);
    // Another model under the same name: its vectors have another length.
    let other = Fixture::start(|_, _| Reply::new(200, r#"{"embeddings":[[1,0,0,0,0]]}"#));
    let (hit, said) = first_hit(&s, &other, "bread", "hybrid");
    assert_eq!(hit.as_deref(), Some("kitchen.md"));
    assert!(said.contains("searching by words only") && said.contains("5 numbers"), "{said}");
    let output = run(&s, &other, &["search", "site", "bread", "--mode", "vector"]);
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    let asked = run(&s, &other, &["ask", "site", "What does bread need?"]);
    assert_eq!(asked.status.code(), Some(0), "{}", stderr(&asked));
    assert!(String::from_utf8_lossy(&asked.stdout).contains("flour"));
}

/// A model at `server` with short waits.
fn model(server: &Fixture, dim: usize) -> RemoteModel {
    let service = Service {
        kind: ServiceKind::OpenAiCompatible,
        base_url: server.url.clone(),
        model: "m".into(),
        max_chars: None,
    };
    let waits = Waits([5, 10, 15].map(Duration::from_millis));
    RemoteModel::of(&service.info(dim, "", ""), None, Some(Key::new(KEY)), waits).expect("opens")
}

#[test]
fn a_busy_service_is_asked_three_more_times() {
    let server = Fixture::answering(|number, _, body| if number < 3 { Reply::new(429, "{}") } else { openai(body) });
    let vectors = model(&server, 4).embed_all(TextKind::Passage, &["ship", "bread"], &|_, _, _| {}).expect("comes");
    assert_eq!(server.asked().len(), 4);
    // (3, 0, 0, 0.3) and (0, 3, 0, 0.3) at unit length.
    let near = |a: f32, b: f32| (a - b).abs() < 1e-6;
    assert!(near(vectors[0][0], 0.995_037_2) && near(vectors[1][1], 0.995_037_2) && near(vectors[1][3], 0.099_503_72));

    let server = Fixture::start(|_, _| Reply::new(503, "{}"));
    let e = model(&server, 4).embed_all(TextKind::Passage, &["a"], &|_, _, _| {}).expect_err("gives up");
    assert_eq!(server.asked().len(), 4);
    assert!(e.to_string().contains("llm::overloaded"), "{e}");
    // What cannot pass is not tried again.
    let server = Fixture::start(|_, _| Reply::new(401, "{}"));
    model(&server, 4).embed_all(TextKind::Passage, &["a"], &|_, _, _| {}).expect_err("fails");
    assert_eq!(server.asked().len(), 1);
}

#[test]
fn the_waits_are_those_that_are_documented() {
    assert_eq!(Waits::default().0.map(|w| w.as_secs()), [4, 8, 10]);
}

#[test]
fn the_length_of_vectors_is_asked_once() {
    let server = Fixture::answering(|_, _, body| openai(body));
    let service = Service {
        kind: ServiceKind::OpenAiCompatible,
        base_url: server.url.clone(),
        model: "m".into(),
        max_chars: None,
    };
    let choice = ServiceChoice { service, query_prefix: String::new(), passage_prefix: String::new(), key: None };
    let opened = RemoteModel::open(&choice, None, Waits::default()).expect("opens");
    assert_eq!((opened.info().dim, server.asked().len()), (4, 1));
}
