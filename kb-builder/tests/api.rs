//! `serve --api`, against a language model with replies in recorded shapes.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;
#[allow(dead_code, reason = "each test file uses a part of it")]
#[path = "common/llm.rs"]
mod llm;

use common::{Sandbox, course, stderr};
use llm::{Fixture, OLLAMA_END, Reply, ollama};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

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

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn serve(s: &Sandbox, args: &[&str]) -> (Server, String) {
    let mut all = vec!["serve", "site", "--port", "0", "--base", "/kb/", "--api"];
    all.extend(args);
    let mut child = command(s, &all).stdout(Stdio::piped()).spawn().expect("starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("a line");
    let url = line.split_whitespace().find(|w| w.starts_with("http://localhost:")).expect("an address");
    let port = url.split(':').nth(2).and_then(|p| p.split('/').next()).expect("port").to_owned();
    (Server(child), port)
}

fn request(port: &str, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("connects");
    let length = body.len();
    write!(stream, "{head}\r\nConnection: close\r\nContent-Length: {length}\r\n\r\n{body}").expect("sends");
    let mut reply = String::new();
    stream.read_to_string(&mut reply).expect("reads");
    reply
}

#[test]
fn the_api_answers_this_machine_only() {
    let s = site();
    let reply = [ollama("取出距离"), ollama("最小的点 [1]。"), OLLAMA_END.into()].concat();
    let model = Fixture::start(move |_, _| Reply { chunk: 9, ..Reply::new(200, &reply) });
    let (_server, port) = serve(&s, &["--provider", "ollama", "--base-url", &model.url, "--model", "m"]);
    let own = format!("Host: localhost:{port}");

    let got =
        request(&port, &format!("GET /kb/api/search?q=%E8%B7%9D%E7%A6%BB&k=2&collection=zh HTTP/1.1\r\n{own}"), "");
    let (head, body) = got.split_once("\r\n\r\n").expect("a body");
    assert!(head.starts_with("HTTP/1.1 200") && head.contains("no-store"), "{head}");
    let search: Value = serde_json::from_str(body).expect("JSON");
    assert_eq!((&search["query"], &search["hits"][0]["collection"]), (&"距离".into(), &"zh".into()));

    let json = "Content-Type: application/json";
    let question = json!({"question": "Dijkstra 算法每次取出哪个点", "filters": ["lang=zh"]}).to_string();
    let got = request(&port, &format!("POST /kb/api/ask HTTP/1.1\r\n{own}\r\n{json}"), &question);
    let events: Vec<&str> = got.lines().filter_map(|l| l.strip_prefix("event: ")).collect();
    assert_eq!((events.first(), events.last()), (Some(&"found"), Some(&"answer")), "{got}");
    assert!(events.contains(&"text") && events.contains(&"citation"), "{events:?}");
    let last = got.lines().filter_map(|l| l.strip_prefix("data: ")).next_back().expect("data");
    let answer: Value = serde_json::from_str(last).expect("JSON");
    assert_eq!((&answer["answer"], &answer["kind"]), (&"取出距离最小的点 [1]。".into(), &"generated".into()));

    let before = model.asked().len();
    for (head, status) in [
        (format!("POST /kb/api/ask HTTP/1.1\r\nHost: evil.example\r\n{json}"), "403"),
        (format!("POST /kb/api/ask HTTP/1.1\r\n{own}\r\nOrigin: https://evil.example\r\n{json}"), "403"),
        (format!("POST /kb/api/ask HTTP/1.1\r\n{own}\r\nContent-Type: text/plain"), "415"),
        (format!("GET /kb/api/ask?q=x HTTP/1.1\r\n{own}"), "405"),
        (format!("GET /kb/api/other HTTP/1.1\r\n{own}"), "404"),
        (format!("GET /kb/api/search?q=x&k=0 HTTP/1.1\r\n{own}"), "400"),
        (format!("GET /kb/api/search?nonsense=1 HTTP/1.1\r\n{own}"), "400"),
        (format!("GET /kb/api/search?q=x&collection=nosuch HTTP/1.1\r\n{own}"), "400"),
    ] {
        let got = request(&port, &head, &question);
        assert!(got.starts_with(&format!("HTTP/1.1 {status}")), "{head}: {got}");
    }
    assert_eq!(model.asked().len(), before);
    let elsewhere = json!({"question": "x", "collections": ["nosuch"]}).to_string();
    let got = request(&port, &format!("POST /kb/api/ask HTTP/1.1\r\n{own}\r\n{json}"), &elsewhere);
    assert!(got.starts_with("HTTP/1.1 400") && got.contains("nosuch"), "{got}");

    // A follow-up is completed by the model before anything is searched.
    let further =
        json!({"question": "那它呢", "history": [{"question": "Dijkstra 算法是什么", "answer": "求最短路。"}]});
    let got = request(&port, &format!("POST /kb/api/ask HTTP/1.1\r\n{own}\r\n{json}"), &further.to_string());
    assert!(got.contains("event: question\ndata: {\"text\":\"取出距离最小的点 [1]。\"}"), "{got}");
    assert!(model.asked()[before].body.contains("问：Dijkstra 算法是什么"), "{}", model.asked()[before].body);

    // A site that is built anew is what is asked from then on.
    s.write("en/bananas.md", "# Bananas\n\nBananas ripen best beside apples in a paper bag.\n");
    s.expect(0, &["build", "zh", "en", "--no-model", "-q"]);
    let search = request(&port, &format!("GET /kb/api/search?q=bananas HTTP/1.1\r\n{own}"), "");
    assert!(search.contains("bananas.md"), "{search}");
    let output = command(&s, &["serve", "site", "--api", "--host", "0.0.0.0"]).output().expect("runs");
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

#[test]
fn leaving_the_api_ends_the_call_of_the_model() {
    let s = site();
    let body = ollama("每次");
    let length = body.len();
    let model = Fixture::start(move |_, _| Reply { stall_after: Some(length), ..Reply::new(200, &body) });
    let (_server, port) = serve(&s, &["--provider", "ollama", "--base-url", &model.url, "--model", "m"]);
    let question = json!({"question": "Dijkstra 算法每次取出哪个点"}).to_string();
    let mut stream = TcpStream::connect(format!("127.0.0.1:{port}")).expect("connects");
    write!(
        stream,
        "POST /kb/api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{question}",
        question.len()
    )
    .expect("sends");
    let mut reader = BufReader::new(stream.try_clone().expect("clones"));
    let mut line = String::new();
    while !line.contains("event: text") {
        line.clear();
        assert_ne!(reader.read_line(&mut line).expect("reads"), 0);
    }
    stream.shutdown(std::net::Shutdown::Both).expect("closes");
    let waited = Instant::now();
    while model.closed.lock().expect("lock").is_none() {
        assert!(waited.elapsed() < Duration::from_secs(2), "the call goes on");
        std::thread::sleep(Duration::from_millis(10));
    }
}
