//! `search`, `inspect` and `serve` on a built site.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Sandbox, course, stderr};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Stdio};

fn site() -> Sandbox {
    let s = Sandbox::new();
    course(&s);
    s.expect(0, &["build", "zh", "en", "--no-model", "-q"]);
    s
}

#[test]
fn the_json_has_what_scripts_rely_on() {
    let s = site();
    let answer = s.json(&["search", "site", "距离最小的点", "--json", "-k", "2"]);
    assert_eq!(
        (&answer["query"], &answer["mode"], &answer["model"]),
        (&Value::from("距离最小的点"), &Value::from("lexical"), &Value::Null)
    );
    assert!(answer["took_ms"].as_f64().is_some_and(|t| t >= 0.0));
    let hits = answer["hits"].as_array().expect("hits");
    assert!((1..=2).contains(&hits.len()));
    let hit = &hits[0];
    assert_eq!(hit["rank"], 1);
    assert!(hit["score"].as_f64().is_some_and(|s| s > 0.0));
    assert_eq!(
        (&hit["collection"], &hit["path"], &hit["title"], &hit["lang"]),
        (&"zh".into(), &"图论/最短路.md".into(), &"最短路".into(), &"zh".into())
    );
    assert_eq!(hit["heading_path"], serde_json::json!(["最短路", "Dijkstra 算法"]));
    assert_eq!(hit["anchor"], "dijkstra-算法");
    let id = hit["chunk_id"].as_str().expect("id");
    assert!(id.len() == 16 && id.bytes().all(|b| b.is_ascii_hexdigit()));
    assert_eq!(
        hit["url"],
        format!("?doc=zh/%E5%9B%BE%E8%AE%BA/%E6%9C%80%E7%9F%AD%E8%B7%AF.md&p={id}#dijkstra-%E7%AE%97%E6%B3%95")
    );
    let excerpt = hit["excerpt"].as_str().expect("excerpt");
    assert!(excerpt.contains("距离最小的点"), "{excerpt}");
    let marked: Vec<&str> = hit["excerpt_marks_bytes"]
        .as_array()
        .expect("marks")
        .iter()
        .map(|m| &excerpt[m[0].as_u64().expect("from") as usize..m[1].as_u64().expect("to") as usize])
        .collect();
    assert!(marked.concat().contains("距离"), "{marked:?}");
}

#[test]
fn collections_and_filters_restrict() {
    let s = site();
    let paths = |args: &[&str]| -> Vec<String> {
        let mut all = vec!["search", "site"];
        all.extend(args);
        all.push("--json");
        s.json(&all)["hits"]
            .as_array()
            .expect("hits")
            .iter()
            .map(|h| h["path"].as_str().expect("path").to_string())
            .collect()
    };
    assert_eq!(paths(&["array", "--collection", "en"]), ["guide.rst"]);
    assert!(paths(&["array", "--collection", "zh"]).is_empty());
    assert!(paths(&["算法", "--filter", "path=图论/"]).iter().all(|p| p == "图论/最短路.md"));
    assert!(!paths(&["算法", "--filter", "tag=图论"]).is_empty());
    assert!(paths(&["算法", "--filter", "tag=代数"]).is_empty());
    assert!(paths(&["value", "--filter", "lang=zh"]).is_empty());
    let output = s.expect(2, &["search", "site", "x", "--collection", "fr"]);
    assert!(
        stderr(&output).contains("no collection `fr`") && stderr(&output).contains("en, zh"),
        "{}",
        stderr(&output)
    );
    s.expect(2, &["search", "site", "x", "--filter", "nonsense"]);
    s.expect(2, &["search", "site", "x", "-k", "0"]);
    s.expect(2, &["search", "site", " "]);
}

#[test]
fn conditions_can_be_turned_round_and_values_counted() {
    let s = site();
    let answer = s.json(&["search", "site", "数组 array 算法", "--filter", "lang!=zh", "--facets", "--json"]);
    let hits = answer["hits"].as_array().expect("hits");
    assert!(!hits.is_empty() && hits.iter().all(|h| h["lang"] == "en"), "{answer}");
    let languages = answer["facets"].as_array().expect("facets").iter().find(|f| f["key"] == "lang").expect("lang");
    assert_eq!(languages["values"], serde_json::json!([["en", 1]]));
}

#[test]
fn a_typing_mistake_a_beginning_and_a_phrase_are_understood() {
    let s = site();
    let first = |args: &[&str]| -> Value {
        let mut all = vec!["search", "site"];
        all.extend(args);
        all.extend(["--explain", "--json"]);
        s.json(&all)
    };
    let answer = first(&["asignning varable"]);
    assert_eq!(answer["hits"][0]["path"], "ownership.md");
    assert_eq!(answer["understanding"]["corrected"].as_array().map(Vec::len), Some(2), "{answer}");
    assert!(first(&["slic"])["hits"].as_array().expect("hits").is_empty());
    assert_eq!(first(&["slic", "--unfinished"])["hits"][0]["path"], "guide.rst");
    // Word for word: the second holds all words of it, in another order.
    let found = first(&["\"part of an array\""]);
    assert_eq!((found["hits"].as_array().map(Vec::len), &found["hits"][0]["path"]), (Some(1), &"guide.rst".into()));
    assert_eq!(found["understanding"]["phrases"], serde_json::json!(["part of an array"]));
    assert_eq!(first(&["\"array an of part\""])["understanding"]["phrases"], serde_json::json!([]));
    // Several passages of a document are one document with sub-results.
    let answer = s.json(&["search", "site", "算法 距离", "--json"]);
    let documents = answer["documents"].as_array().expect("documents");
    let subs: usize = documents.iter().map(|d| d["sub_results"].as_array().map_or(0, Vec::len)).sum();
    assert_eq!(documents.len() + subs, answer["hits"].as_array().expect("hits").len());
}

#[test]
fn what_nobody_asks_is_answered_or_refused_at_once() {
    let s = site();
    let long = "算法距离".repeat(750);
    let paste = "value moves 边权 ".repeat(6000);
    for question in [long.as_str(), &paste, "the of a", "😀🎉", "？！。", ".*(a+)+$", "\"\"", "\"the of\""] {
        let answer = s.json(&["search", "site", question, "--json"]);
        assert!(answer["hits"].is_array());
        assert!(answer["took_ms"].as_f64().is_some_and(|ms| ms < 100.0), "{}", answer["took_ms"]);
    }
}

#[test]
fn a_file_of_questions_measures_a_site() {
    let s = site();
    s.write("questions.txt", "# two\n距离最小的点 → 最短路.md#Dijkstra 算法\nslice of an array -> en/guide.rst\n");
    let scores = s.json(&["eval", "questions.txt", "--site", "site", "--mode", "lexical"]);
    assert_eq!((&scores["queries"], &scores["mrr10"], &scores["hit5"]), (&2.into(), &1.0.into(), &1.0.into()));
    assert_eq!(scores["languages"]["zh"]["queries"], 1);
    s.expect(0, &["eval", "questions.txt", "--mode", "lexical", "--compare", "site", "site"]);
    s.expect(2, &["eval", "questions.txt", "--mode", "lexical"]);
    // A place that is mistyped counts as not found, and is told.
    s.write("typo.txt", "距离最小的点 → 最短路.md#Dijkstra\nslice → en/gide.rst\n");
    let output = s.expect(0, &["eval", "typo.txt", "--site", "site", "--mode", "lexical"]);
    assert_eq!(stderr(&output).matches("nothing in the knowledge base is at").count(), 2, "{}", stderr(&output));
}

#[test]
fn a_search_by_meaning_needs_vectors() {
    let s = site();
    let output = s.expect(1, &["search", "site", "x", "--mode", "vector"]);
    assert!(stderr(&output).contains("built without a model"), "{}", stderr(&output));
}

#[test]
fn damage_is_an_error_with_its_code_and_what_to_do() {
    let s = site();
    let kb = s.path("site/kb");
    let lexical = std::fs::read_dir(&kb)
        .expect("kb")
        .map(|e| e.expect("entry").path())
        .find(|p| p.to_string_lossy().contains("lexical"))
        .expect("section");
    let mut bytes = std::fs::read(&lexical).expect("read");
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x40;
    std::fs::write(&lexical, bytes).expect("write");
    for command in [&["search", "site", "x"][..], &["inspect", "site"]] {
        let output = s.expect(1, command);
        assert!(stderr(&output).contains("kb::corrupt") && stderr(&output).contains("help: "), "{}", stderr(&output));
    }
    let output = s.expect(1, &["search", "zh", "x"]);
    assert!(stderr(&output).contains("not a knowledge base"), "{}", stderr(&output));
}

#[test]
fn inspect_adds_up() {
    let s = site();
    let info = s.json(&["inspect", "site", "--json"]);
    assert_eq!(
        (&info["documents"], &info["languages"]["zh"], &info["languages"]["en"]),
        (&4.into(), &2.into(), &2.into())
    );
    let sections = info["sections"].as_array().expect("sections");
    let sum: u64 = sections.iter().map(|x| x["bytes"].as_u64().expect("bytes")).sum();
    assert_eq!(info["bundle_bytes"].as_u64(), Some(sum));
    let on_disk: u64 = std::fs::read_dir(s.path("site/kb"))
        .expect("kb")
        .map(|e| e.expect("entry"))
        .filter(|e| e.file_name().to_string_lossy().ends_with(".kbs"))
        .map(|e| e.metadata().expect("meta").len())
        .sum();
    assert_eq!(on_disk, sum);
    let text = String::from_utf8_lossy(&s.expect(0, &["inspect", "site"]).stdout).into_owned();
    assert!(text.contains("4 documents") && text.contains("no model: search by words only"), "{text}");
}

#[test]
fn a_document_is_shown_as_it_was_converted() {
    let s = site();
    let output = s.expect(0, &["inspect", "site", "--document", "en/guide.rst"]);
    let expected = "# Arrays {#arrays}\n\n## Slicing {#slicing}\n\nA slice shows a part of an array without copying, see `numpy.copy`.\n";
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    s.expect(2, &["inspect", "site", "--document", "en/nope.rst"]);
}

/// A server that ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Sends one request as it stands; returns status line, head and body.
fn request(address: &str, request: &str) -> (String, String, Vec<u8>) {
    let mut stream = TcpStream::connect(address).expect("connects");
    stream.write_all(request.as_bytes()).expect("sends");
    let mut reply = Vec::new();
    stream.read_to_end(&mut reply).expect("reads");
    let split = reply.windows(4).position(|w| w == b"\r\n\r\n").expect("a head");
    let head = String::from_utf8_lossy(&reply[..split]).into_owned();
    (head.lines().next().expect("status").to_string(), head.to_lowercase(), reply[split + 4..].to_vec())
}

#[test]
fn a_site_is_served_under_a_sub_path() {
    let s = site();
    let mut child = s
        .command(&["serve", "site", "--port", "0", "--base", "/course/kb/"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut line = String::new();
    BufReader::new(child.stdout.take().expect("stdout")).read_line(&mut line).expect("a line");
    let _server = Server(child);
    let url = line.split_whitespace().find(|w| w.starts_with("http://")).expect("an address");
    let (host, base) = url.strip_prefix("http://").and_then(|u| u.split_once('/')).expect("address");
    assert_eq!(base, "course/kb/");
    let address = host.replace("localhost", "127.0.0.1");
    let get = |path: &str| request(&address, &format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"));

    let (status, head, body) = get("/course/kb/");
    assert_eq!(status, "HTTP/1.1 200 OK");
    assert!(head.contains("content-type: text/html") && head.contains("cache-control: no-cache"), "{head}");
    assert_eq!(body, std::fs::read(s.path("site/index.html")).expect("page"));
    let (status, head, body) = get("/course/kb/kb/manifest.json");
    assert!(status.ends_with("200 OK") && head.contains("content-type: application/json"));
    assert!(serde_json::from_slice::<Value>(&body).is_ok());
    assert!(get("/").1.contains("location: /course/kb/"));
    for outside in ["/course/kb/../../zh/字符串.md", "/course/kb/%2e%2e/zh/", "/index.html"] {
        assert!(get(outside).0.ends_with("404 Not Found"), "{outside}");
    }
    let (status, head, body) = request(&address, "HEAD /course/kb/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    assert!(status.ends_with("200 OK") && body.is_empty() && head.contains("content-length"), "{head}");
    let (status, _, _) =
        request(&address, "POST /course/kb/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 0\r\n\r\n");
    assert!(status.ends_with("405 Method Not Allowed"), "{status}");

    let port = address.rsplit(':').next().expect("port");
    let output = s.expect(1, &["serve", "site", "--port", port]);
    assert!(stderr(&output).contains(&format!("port {port} is in use")), "{}", stderr(&output));
    let output = s.expect(1, &["serve", "zh", "--port", "0"]);
    assert!(stderr(&output).contains("not a knowledge base"), "{}", stderr(&output));
}
