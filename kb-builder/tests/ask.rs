//! `ask` and `eval --answers`, against servers with replies in recorded shapes.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;
#[path = "common/llm.rs"]
mod llm;

use common::{Sandbox, course, stderr};
use llm::{Fixture, OLLAMA_END, Reply, event, ollama};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const KEY: &str = "sk-test-0123456789abcdef";

fn site() -> Sandbox {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "en", "--no-model", "-q"]);
    s
}

/// The program without the tester's own settings.
fn command(s: &Sandbox, args: &[&str]) -> Command {
    let mut command = s.command(args);
    for name in ["KB_LLM_PROVIDER", "KB_LLM_BASE_URL", "KB_LLM_MODEL", "DEEPSEEK_API_KEY", "OPENAI_API_KEY"] {
        command.env_remove(name);
    }
    command
}

fn json_of(command: &mut Command) -> Value {
    let output = command.output().expect("runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

fn ask(s: &Sandbox, url: &str, provider: &str, extra: &[&str]) -> Command {
    let mut args = vec!["ask", "site", "Dijkstra 算法每次取出哪个点？", "--provider", provider, "--base-url", url];
    args.extend(["--model", "m"]);
    args.extend(extra);
    command(s, &args)
}

#[test]
fn without_a_model_the_passages_answer() {
    let s = site();
    let answer = json_of(&mut command(&s, &["ask", "site", "Dijkstra 算法每次取出哪个点？", "--json"]));
    assert_eq!(answer["kind"], "extractive");
    assert_eq!(answer["usage"], json!({"prompt_tokens": 0, "completion_tokens": 0}));
    assert_eq!(answer["chunk_types"], json!([]));
    assert_eq!(answer["model"], Value::Null);
    assert!(answer["answer"].as_str().expect("text").contains("每次取出距离最小的点，松弛它的出边。[1]"), "{answer}");
    assert!(answer["confidence"].as_f64().is_some_and(|c| c > 0.0 && c <= 1.0));
    let source = &answer["sources"][0];
    assert_eq!(
        (&source["n"], &source["path"], &source["title"]),
        (&1.into(), &"图论/最短路.md".into(), &"最短路".into())
    );
    assert_eq!(source["heading_path"], json!(["最短路", "Dijkstra 算法"]));
    assert_eq!(source["anchor"], "dijkstra-算法");
    assert!(source["url"].as_str().is_some_and(|u| u.starts_with("?doc=zh/")));
    assert_eq!(source["chunk_id"].as_str().map(str::len), Some(16));
    assert!(source["excerpt"].as_str().is_some_and(|e| e.contains("距离最小")));
    let text = command(&s, &["ask", "site", "Dijkstra 算法每次取出哪个点？"]).output().expect("runs");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("no language model") && text.contains("Sources:\n  [1] 最短路 > Dijkstra 算法"), "{text}");
}

#[test]
fn nothing_relevant_means_no_call() {
    let s = site();
    let server = Fixture::start(|_, _| Reply::new(500, ""));
    let mut ask = command(
        &s,
        &[
            "ask",
            "site",
            "how do bananas ripen",
            "--provider",
            "ollama",
            "--base-url",
            &server.url,
            "--model",
            "m",
            "--json",
        ],
    );
    let answer = json_of(&mut ask);
    assert_eq!((&answer["kind"], &answer["confidence"]), (&"nothing_relevant".into(), &0.0.into()));
    assert_eq!(answer["answer"], "The knowledge base has no information about this.");
    assert_eq!(server.asked().len(), 0, "no call");
    let zh = json_of(&mut command(&s, &["ask", "site", "红烧肉怎么做", "--json"]));
    assert_eq!(zh["answer"], "知识库中没有找到相关信息。");
}

#[test]
fn an_answer_from_ollama_is_streamed_checked_and_cited() {
    let s = site();
    let body = [
        ollama("<think>hm</think>每次取出距离"),
        ollama("最小的点【1"),
        ollama("】，松弛出边 [1][9]。"),
        OLLAMA_END.into(),
    ]
    .concat();
    let server = Fixture::start(move |_, _| Reply { chunk: 7, ..Reply::new(200, &body) });
    let answer = json_of(&mut ask(&s, &server.url, "ollama", &["--json", "--show-prompt"]));
    assert_eq!(answer["kind"], "generated");
    assert_eq!(answer["answer"], "每次取出距离最小的点[1]，松弛出边 [1]。");
    assert_eq!(answer["usage"], json!({"prompt_tokens": 120, "completion_tokens": 7}));
    assert_eq!(
        (&answer["model"], &answer["unresolved_citations"], &answer["end"]),
        (&"m".into(), &1.into(), &"stop".into())
    );
    let sources = answer["sources"].as_array().expect("sources");
    assert_eq!(sources.len(), 1, "only what is cited");
    assert_eq!(
        (&sources[0]["n"], &sources[0]["cited"], &sources[0]["path"]),
        (&1.into(), &true.into(), &"图论/最短路.md".into())
    );
    assert_eq!(answer["sentences"][0]["verdict"], "supported");
    assert!(answer["confidence"].as_f64().is_some_and(|c| c > 0.3));

    let asked = server.asked();
    assert!(asked[0].head.starts_with("POST /api/chat HTTP/1.1"), "{}", asked[0].head);
    assert!(!asked[0].head.to_lowercase().contains("authorization"));
    let sent: Value = serde_json::from_str(&asked[0].body).expect("JSON");
    assert_eq!((&sent["model"], &sent["stream"], &sent["keep_alive"]), (&"m".into(), &true.into(), &"5m".into()));
    assert_eq!(sent["options"], json!({"num_ctx": 8192, "num_predict": 2048, "temperature": 0.2}));
    assert_eq!(sent.get("think"), None);
    assert_eq!(sent["messages"], answer["prompt"], "--show-prompt shows what was sent");
    let user = sent["messages"][1]["content"].as_str().expect("text");
    assert!(
        user.contains("<passage n=\"1\" source=\"zh/图论/最短路.md\"") && user.contains("问题：Dijkstra"),
        "{user}"
    );

    let text = ask(&s, &server.url, "ollama", &[]).output().expect("runs");
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.starts_with("每次取出距离最小的点[1]，松弛出边 [1]。") && text.contains("Sources:"), "{text}");
}

#[test]
fn deepseek_gets_its_key_and_the_key_is_shown_nowhere() {
    let s = site();
    let body = [
        ": keep-alive\n\n".to_owned(),
        event(json!({"content": null, "reasoning_content": "想"}), None),
        event(json!({"content": "取出距离最小的点 [1]。"}), None),
        event(json!({"content": ""}), Some("stop")),
        "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":31,\"completion_tokens\":9}}\n\n".to_owned(),
    ]
    .concat();
    // Without [DONE], in pieces of three bytes: characters are cut.
    let server = Fixture::start(move |_, _| Reply { chunk: 3, kind: "text/event-stream", ..Reply::new(200, &body) });
    s.write(".env", format!("DEEPSEEK_API_KEY={KEY}\n"));
    let answer = json_of(&mut ask(&s, &server.url, "deepseek", &["--json"]));
    assert_eq!(
        (&answer["answer"], &answer["usage"]["completion_tokens"]),
        (&"取出距离最小的点 [1]。".into(), &9.into())
    );
    let asked = server.asked();
    assert!(
        asked[0].head.starts_with("POST /chat/completions ")
            && asked[0].head.contains(&format!("authorization: Bearer {KEY}"))
    );
    let sent: Value = serde_json::from_str(&asked[0].body).expect("JSON");
    assert_eq!((&sent["max_tokens"], &sent["stream_options"]), (&2048.into(), &json!({"include_usage": true})));

    let refusing = Fixture::start(|_, _| {
        Reply::new(401, &format!("{{\"error\":{{\"message\":\"Authentication fails, your key {KEY} is invalid\"}}}}"))
    });
    // Without a key nothing is sent, and what is missing is said.
    std::fs::remove_file(s.path(".env")).expect("removes");
    let before = server.asked().len();
    let output = ask(&s, &server.url, "deepseek", &[]).output().expect("runs");
    let said = stderr(&output);
    assert_eq!((output.status.code(), server.asked().len()), (Some(2), before), "{said}");
    assert!(
        said.contains("deepseek needs a key") && said.contains("DEEPSEEK_API_KEY") && said.contains(".env"),
        "{said}"
    );
    let output = ask(&s, &server.url, "ollama", &["--api-key-env", "UNKNOWN"]).output().expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("UNKNOWN"), "{}", stderr(&output));
    let output = ask(&s, &refusing.url, "deepseek", &["--json"]).env("DEEPSEEK_API_KEY", KEY).output().expect("runs");
    assert_eq!(output.status.code(), Some(1));
    let said = stderr(&output) + &String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("llm::wrong_key") && said.contains("密钥") && !said.contains("0123456789"), "{said}");
    for path in ["site/kb/manifest.json", "site/index.html"] {
        assert!(!String::from_utf8_lossy(&std::fs::read(s.path(path)).expect("file")).contains(KEY));
    }
}

#[test]
fn every_failure_has_its_sentence() {
    let s = site();
    let html = "<!doctype html><html><script>alert(1)</script></html>";
    let cases: [(u16, &str, &str); 9] = [
        (401, "{\"error\":{\"message\":\"no\"}}", "llm::wrong_key"),
        (402, "{\"error\":{\"message\":\"Insufficient Balance\"}}", "llm::no_balance"),
        (403, "", "llm::refused"),
        (404, "{\"error\":\"model 'm' not found\"}", "llm::no_such_model"),
        (404, "404 page not found", "llm::no_such_address"),
        (422, "{\"error\":{\"message\":\"temperature\"}}", "llm::bad_parameters"),
        (200, html, "llm::html"),
        (200, "Ollama is running", "llm::not_json"),
        (200, "", "llm::empty"),
    ];
    for (status, body, code) in cases {
        let server = Fixture::start(move |_, _| Reply::new(status, body));
        let output = ask(&s, &server.url, "ollama", &[]).output().expect("runs");
        assert_eq!(output.status.code(), Some(1), "{code}");
        let said = stderr(&output);
        assert!(said.contains(code) && !said.contains("<script"), "{status}: {said}");
        assert_eq!(server.asked().len(), 1, "{code}: not tried again");
    }
    let closed = std::net::TcpListener::bind("127.0.0.1:0").expect("binds").local_addr().expect("address");
    let output = ask(&s, &format!("http://{closed}"), "ollama", &[]).output().expect("runs");
    assert!(stderr(&output).contains("llm::not_running"), "{}", stderr(&output));
    let half = [ollama("每次取出"), "{\"error\":\"boom\"}\n".to_owned()].concat();
    let server = Fixture::start(move |_, _| Reply::new(200, &half));
    let output = ask(&s, &server.url, "ollama", &[]).output().expect("runs");
    assert!(stderr(&output).contains("llm::in_reply") && stderr(&output).contains("boom"), "{}", stderr(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "每次取出");
    assert_eq!(server.asked().len(), 1, "something was shown already");
}

#[test]
fn an_answer_that_breaks_off_is_no_success() {
    let s = site();
    let half = event(json!({"content": "距离最小的点 [1]，"}), None);
    let server = Fixture::start(move |_, _| Reply { kind: "text/event-stream", ..Reply::new(200, &half) });
    let output = ask(&s, &server.url, "openai-compatible", &[]).output().expect("runs");
    assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("before the answer was complete"));
    let output = ask(&s, &server.url, "openai-compatible", &["--json"]).output().expect("runs");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((output.status.code(), &answer["end"]), (Some(1), &"interrupted".into()));
}

#[test]
fn a_prompt_that_the_server_has_cut_is_told() {
    let s = site();
    let end = OLLAMA_END.replace("120", "40");
    let reply = [ollama("距离最小的点 [1]。"), end].concat();
    let server = Fixture::start(move |_, _| Reply::new(200, &reply));
    assert_eq!(json_of(&mut ask(&s, &server.url, "ollama", &["--json"]))["prompt_cut"], true);
    let output = ask(&s, &server.url, "ollama", &[]).output().expect("runs");
    assert!(String::from_utf8_lossy(&output.stdout).contains("has cut the prompt"));
}

#[test]
fn a_conversation_completes_its_questions() {
    let s = site();
    let server = Fixture::start(|number, _| {
        let text = ["取出距离最小的点 [1]。", "“Dijkstra 算法怎样松弛出边？”", "逐条松弛 [1]。"][number.min(2)];
        Reply::new(200, &[ollama(text), OLLAMA_END.into()].concat())
    });
    let args = ["ask", "site", "--provider", "ollama", "--base-url", &server.url, "--model", "m", "--json"];
    let mut child = command(&s, &args).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let questions = "Dijkstra 算法每次取出哪个点\n\n那怎样松弛呢\n";
    child.stdin.take().expect("stdin").write_all(questions.as_bytes()).expect("writes");
    let output = child.wait_with_output().expect("ends");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let answers: Vec<Value> = serde_json::Deserializer::from_slice(&output.stdout)
        .into_iter()
        .collect::<Result<_, _>>()
        .expect("one object a question");
    assert_eq!(answers.len(), 2);
    assert_eq!((&answers[0]["question"], answers[0].get("understood")), (&"Dijkstra 算法每次取出哪个点".into(), None));
    assert_eq!(
        (&answers[1]["question"], &answers[1]["understood"]),
        (&"那怎样松弛呢".into(), &"Dijkstra 算法怎样松弛出边？".into())
    );
    let rewriting: Value = serde_json::from_str(&server.asked()[1].body).expect("JSON");
    let sent = rewriting["messages"][1]["content"].as_str().expect("text");
    assert!(sent.contains("答：取出距离最小的点[1]") || sent.contains("答：取出距离最小的点 [1]"), "{sent}");
    let answering: Value = serde_json::from_str(&server.asked()[2].body).expect("JSON");
    assert!(
        answering["messages"][1]["content"].as_str().is_some_and(|c| c.contains("问题：Dijkstra 算法怎样松弛出边？"))
    );
}

#[test]
fn a_site_brings_the_words_of_its_author() {
    let s = Sandbox::new();
    course(&s);
    s.write(
        "kb.toml",
        "[[source]]\npath = \"zh\"\n[[source]]\npath = \"en\"\n[llm.templates.zh]\nsystem = \"像船长那样说话。\"\n\
         refusal = \"讲义里没有。\"\n[llm.templates.en]\nrefusal = \"The notes are silent.\"\n",
    );
    s.expect(0, &["build", "--no-model", "-q"]);
    std::fs::remove_file(s.path("kb.toml")).expect("removes");
    let reply = [ollama("讲义里没有。"), OLLAMA_END.into()].concat();
    let server = Fixture::start(move |_, _| Reply::new(200, &reply));
    let answer = json_of(&mut ask(&s, &server.url, "ollama", &["--json", "--show-prompt"]));
    assert_eq!((&answer["kind"], &answer["prompt"][0]["content"]), (&"refused".into(), &"像船长那样说话。".into()));
    let answer = json_of(&mut command(&s, &["ask", "site", "how do bananas ripen", "--json"]));
    assert_eq!(answer["answer"], "The notes are silent.");
    // What kb.toml says at asking is nearer.
    s.write("kb.toml", "[llm.templates.en]\nrefusal = \"No.\"\n");
    let answer = json_of(&mut command(&s, &["ask", "site", "how do bananas ripen", "--json"]));
    assert_eq!(answer["answer"], "No.");
    s.write("kb.toml", "[llm.templates.en]\nuser = \"{question}\"\n");
    let output = s.expect(2, &["build", "zh", "--no-model", "-q", "--out", "other"]);
    assert!(stderr(&output).contains("{passages}"), "{}", stderr(&output));
    s.write("kb.toml", format!("[llm.templates.en]\nsystem = \"{}\"\n", "x".repeat(4001)));
    let output = s.expect(2, &["build", "zh", "--no-model", "-q", "--out", "other"]);
    assert!(stderr(&output).contains("4001"), "{}", stderr(&output));
}

#[test]
fn a_busy_server_is_asked_again_only_before_anything_was_shown() {
    let s = site();
    let good = [ollama("距离最小的点 [1]。"), OLLAMA_END.into()].concat();
    let server = Fixture::start(move |number, _| match number {
        0 => Reply { headers: "Retry-After: 0\r\n".into(), ..Reply::new(429, "{\"error\":\"busy\"}") },
        1 => Reply { headers: "Retry-After: 0\r\n".into(), ..Reply::new(503, "") },
        _ => Reply::new(200, &good),
    });
    let answer = json_of(&mut ask(&s, &server.url, "ollama", &["--json"]));
    assert_eq!((&answer["answer"], server.asked().len()), (&"距离最小的点 [1]。".into(), 3));
}

#[test]
fn a_server_that_stalls_is_given_up() {
    let s = site();
    s.write("kb.toml", "[llm]\nidle_timeout = 1\n");
    let body = ollama("每次") + &ollama("取出");
    let stall = body.len() - 20;
    let server = Fixture::start(move |_, _| Reply { stall_after: Some(stall), ..Reply::new(200, &body) });
    let started = Instant::now();
    let output = ask(&s, &server.url, "ollama", &[]).output().expect("runs");
    assert!(stderr(&output).contains("llm::stalled"), "{}", stderr(&output));
    assert!(started.elapsed() < Duration::from_secs(10));
    // One that has said everything and only does not close is no failure.
    let whole = event(json!({"content": "距离最小的点 [1]。"}), Some("stop"));
    let length = whole.len();
    let server = Fixture::start(move |_, _| Reply { stall_after: Some(length), ..Reply::new(200, &whole) });
    let answer = json_of(&mut ask(&s, &server.url, "openai-compatible", &["--json"]));
    assert_eq!(answer["answer"], "距离最小的点 [1]。");
}

#[cfg(unix)]
#[test]
fn ctrl_c_closes_the_connection_at_once() {
    let s = site();
    let body = ollama("每次") + &ollama("取出");
    let length = body.len();
    let server = Fixture::start(move |_, _| Reply { stall_after: Some(length), ..Reply::new(200, &body) });
    let mut child =
        ask(&s, &server.url, "ollama", &[]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut first = [0; 6];
    child.stdout.as_mut().expect("stdout").read_exact(&mut first).expect("the first word");
    assert_eq!(String::from_utf8_lossy(&first), "每次");
    let stopped = Instant::now();
    assert!(Command::new("kill").args(["-INT", &child.id().to_string()]).status().expect("kill").success());
    assert_eq!(child.wait().expect("ends").code(), Some(130));
    std::thread::sleep(Duration::from_millis(100));
    let closed = server.closed.lock().expect("lock").expect("closed");
    assert!(closed.duration_since(stopped) < Duration::from_millis(500), "{:?}", closed.duration_since(stopped));
}

#[test]
fn a_model_without_a_name_is_the_only_one_of_the_server() {
    let s = site();
    let reply = [ollama("距离最小的点 [1]。"), OLLAMA_END.into()].concat();
    let one = move |_: usize, path: &str| match path {
        "/api/tags" => Reply::new(200, "{\"models\":[{\"name\":\"qwen3:4b\"}]}"),
        _ => Reply::new(200, &reply),
    };
    let server = Fixture::start(one);
    let base = ["ask", "site", "Dijkstra 算法取出哪个点", "--provider", "ollama", "--base-url"];
    let with = |url: &str| command(&s, &[&base[..], &[url, "--json"]].concat());
    assert_eq!(json_of(&mut with(&server.url))["model"], "qwen3:4b");
    let server = Fixture::start(|_, _| Reply::new(200, "{\"models\":[{\"name\":\"a\"},{\"name\":\"b\"}]}"));
    let output = with(&server.url).output().expect("runs");
    assert_eq!(output.status.code(), Some(2));
    assert!(stderr(&output).contains("--model") && stderr(&output).contains("a, b"), "{}", stderr(&output));
}

#[test]
fn settings_come_from_the_file_and_a_refusal_is_recognised() {
    let s = site();
    let reply = [ollama("没有答案。"), OLLAMA_END.into()].concat();
    let server = Fixture::start(move |_, _| Reply::new(200, &reply));
    let config = format!(
        "[llm]\nprovider = \"ollama\"\nbase_url = \"{}\"\nmodel = \"f\"\nmax_tokens = 77\nnum_ctx = 2048\ntemperature = 0.5\n\
         keep_alive = \"1h\"\nthink = false\n[llm.templates.zh]\nrefusal = \"没有答案。\"\n",
        server.url
    );
    s.write("conf/kb.toml", config);
    let question = "Dijkstra 算法每次取出哪个点";
    let answer = json_of(&mut command(&s, &["ask", "site", question, "--config", "conf/kb.toml", "--json"]));
    assert_eq!((&answer["kind"], &answer["confidence"]), (&"refused".into(), &0.0.into()));
    assert!(answer["sources"].as_array().is_some_and(|l| !l.is_empty() && l.iter().all(|x| x["cited"] == false)));
    let sent: Value = serde_json::from_str(&server.asked()[0].body).expect("JSON");
    assert_eq!(sent["options"], json!({"num_ctx": 2048, "num_predict": 77, "temperature": 0.5}));
    assert_eq!((&sent["model"], &sent["keep_alive"], &sent["think"]), (&"f".into(), &"1h".into(), &false.into()));
    assert!(sent["messages"][0]["content"].as_str().is_some_and(|c| c.contains("没有答案。")));
    let output = s.expect(2, &["ask", "site", "x", "--provider", "nonsense"]);
    assert!(stderr(&output).contains("openai-compatible"), "{}", stderr(&output));
}

#[test]
fn answers_are_measured() {
    let s = site();
    let lines = [
        json!({"question": "Dijkstra 算法每次取出哪个点", "expected": "图论/最短路.md#Dijkstra 算法"}),
        json!({"question": "assigning a value moves it", "expected": "en/ownership.md"}),
        json!({"question": "how do bananas ripen", "expected": "unanswerable"}),
    ];
    s.write("q.jsonl", lines.map(|l| l.to_string()).join("\n"));
    let scores = json_of(&mut command(&s, &["eval", "--answers", "site", "q.jsonl", "-q"]));
    assert_eq!(scores["retrieval_hit"], json!({"count": 2, "of": 2, "share": 1.0}));
    assert_eq!(scores["citation_correctness"], json!({"count": 2, "of": 2, "share": 1.0}));
    assert_eq!(scores["refusals_right"], json!({"count": 1, "of": 1, "share": 1.0}));
    assert_eq!(scores["refusals_wrong"]["count"], 0);
    assert_eq!((&scores["refused_by_relevance"], &scores["prompt_tokens"]), (&1.into(), &0.into()));

    let reply = [ollama("It moves [1] and [7]."), OLLAMA_END.into()].concat();
    let server = Fixture::start(move |_, _| Reply::new(200, &reply));
    let llm = ["--provider", "ollama", "--base-url", &server.url, "--model", "m"];
    let scores = json_of(&mut command(&s, &[&["eval", "--answers", "site", "q.jsonl", "-q"][..], &llm].concat()));
    assert_eq!(scores["citation_validity"], json!({"count": 2, "of": 4, "share": 0.5}));
    assert_eq!((&scores["prompt_tokens"], server.asked().len()), (&240.into(), 2));
    s.expect(2, &["eval", "--answers", "site"]);
}

#[test]
fn a_judge_gives_verdicts_or_the_words_do() {
    let s = site();
    let lines = [
        json!({"question": "Dijkstra 算法每次取出哪个点", "expected": "图论/最短路.md#Dijkstra 算法"}),
        json!({"question": "assigning a value moves it", "expected": "en/ownership.md"}),
        json!({"question": "how do bananas ripen", "expected": "unanswerable"}),
    ];
    s.write("q.jsonl", lines.map(|l| l.to_string()).join("\n"));
    // Answer, verdict, answer, no verdict.
    let server = Fixture::start(|number, _| {
        let text = [
            "取出距离最小的点 [1]。",
            "```json\n{\"grounded\": true, \"answers\": false, \"reason\": \"short\"}\n```",
            "Assigning a value moves it [1].",
            "I would rather not say.",
        ][number.min(3)];
        Reply::new(200, &[ollama(text), OLLAMA_END.into()].concat())
    });
    let args = ["eval", "--answers", "site", "q.jsonl", "-q", "--provider", "ollama", "--base-url", &server.url];
    let scores = json_of(&mut command(&s, &[&args[..], &["--model", "m", "--judge=strict"]].concat()));
    let judged = &scores["judged"];
    assert_eq!((&judged["model"], &judged["without_verdict"]), (&"strict".into(), &1.into()));
    assert_eq!(judged["grounded"], json!({"count": 1, "of": 1, "share": 1.0}));
    assert_eq!(judged["answers"]["count"], 0);
    let verdicts: Vec<&Value> = scores["details"].as_array().expect("details").iter().map(|d| &d["verdict"]).collect();
    assert_eq!((&verdicts[0]["by"], &verdicts[0]["reason"]), (&"judge".into(), &"short".into()));
    assert_eq!((&verdicts[1]["by"], &verdicts[1]["grounded"]), (&"words".into(), &true.into()));
    assert_eq!(verdicts[2], &Value::Null, "a refusal is not judged");
    let asked: Value = serde_json::from_str(&server.asked()[1].body).expect("JSON");
    assert_eq!((&asked["model"], &asked["options"]["temperature"]), (&"strict".into(), &0.0.into()));
    let data: Value = serde_json::from_str(asked["messages"][1]["content"].as_str().expect("text")).expect("data");
    assert!(data["passages"][0]["text"].as_str().is_some_and(|t| t.contains("距离最小")), "{data}");
    let output = command(&s, &["eval", "--answers", "site", "q.jsonl", "-q", "--judge"]).output().expect("runs");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn feedback_is_replayed_by_both_measures() {
    let s = site();
    let lines = [
        json!({"question": "Dijkstra 算法每次取出哪个点", "expected": ["zh/图论/最短路.md#dijkstra-算法"], "unwanted": ["en/ownership.md"],
               "given": [{"on": "answer", "useful": true}]}),
        json!({"question": "how do bananas ripen", "expected": "unanswerable"}),
        json!({"question": "assigning a value moves it", "unwanted": ["en/ownership.md"], "collection": "en"}),
    ];
    s.write("feedback.jsonl", lines.map(|l| l.to_string()).join("\n"));
    let scores = json_of(&mut command(&s, &["eval", "--answers", "site", "feedback.jsonl", "-q"]));
    assert_eq!(scores["retrieval_hit"], json!({"count": 1, "of": 1, "share": 1.0}));
    assert_eq!(scores["refusals_right"], json!({"count": 1, "of": 1, "share": 1.0}));
    assert_eq!(scores["unwanted_cited"], json!({"count": 1, "of": 2, "share": 0.5}));
    let args = ["eval", "feedback.jsonl", "--site", "site", "--mode", "lexical", "-q", "--no-cache"];
    let scores = json_of(&mut command(&s, &args));
    assert_eq!((&scores["hit5"], &scores["queries"]), (&1.0.into(), &1.into()));
    assert_eq!(scores["unwanted"]["of"], 2);
    assert!(scores["unwanted"]["in_first_ten"].as_u64().is_some_and(|n| n >= 1));
    let compared = ["eval", "feedback.jsonl", "--compare", "site", "site", "--mode", "lexical", "-q", "--no-cache"];
    assert_eq!(json_of(&mut command(&s, &compared))["difference"], 0.0);
}
