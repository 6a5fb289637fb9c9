use super::*;

fn client(kind: ServiceKind, dim: usize) -> ServiceClient {
    let service = Service {
        kind,
        base_url: kind.default_base_url().unwrap_or("http://h/v1").into(),
        model: kind.default_model().unwrap_or("m").into(),
        max_chars: kind.default_max_chars(),
    };
    let (query, passage) = usual_prefixes(&service.model);
    ServiceClient::new(&service.info(dim, query, passage), None).expect("a client")
}

fn json_of((url, body): (String, String)) -> (String, Value) {
    (url, serde_json::from_str(&body).expect("JSON"))
}

#[test]
fn requests_have_the_shape_that_each_service_documents() {
    let texts = ["a", "b"];
    let (url, body) = json_of(client(ServiceKind::Ollama, 2).request(TextKind::Query, &texts));
    assert_eq!(url, "http://localhost:11434/api/embed");
    assert_eq!(body["model"], "nomic-embed-text");
    assert_eq!(body["input"], json!(["search_query: a", "search_query: b"]));
    let (url, body) = json_of(client(ServiceKind::OpenAi, 2).request(TextKind::Passage, &texts));
    assert_eq!(url, "https://api.openai.com/v1/embeddings");
    assert_eq!(body, json!({ "model": "text-embedding-3-small", "input": ["a", "b"], "encoding_format": "float" }));
    let (url, body) = json_of(client(ServiceKind::Voyage, 2).request(TextKind::Passage, &texts));
    assert_eq!(url, "https://api.voyageai.com/v1/embeddings");
    assert_eq!(body, json!({ "model": "voyage-3.5", "input": ["a", "b"], "input_type": "document" }));
    let (_, body) = json_of(client(ServiceKind::Voyage, 2).request(TextKind::Query, &["q"]));
    assert_eq!(body["input_type"], "query");
}

#[test]
fn texts_for_ollama_are_cut_to_500_characters_not_bytes() {
    let long = "最".repeat(501);
    let (_, body) = json_of(client(ServiceKind::Ollama, 2).request(TextKind::Passage, &[&long]));
    assert_eq!(body["input"][0].as_str().expect("text").chars().filter(|c| *c == '最').count(), 500);
    let (_, body) = json_of(client(ServiceKind::OpenAi, 2).request(TextKind::Passage, &[&long]));
    assert_eq!(body["input"][0].as_str().expect("text").chars().count(), 501);
}

#[test]
fn vectors_come_back_in_order_and_at_unit_length() {
    let body = br#"{"embeddings":[[3.0,4.0],[0.0,-2.0]]}"#;
    let Outcome::Vectors(v) = client(ServiceKind::Ollama, 2).read(200, body, 2) else { panic!("no vectors") };
    assert_eq!(v, [vec![0.6, 0.8], vec![0.0, -1.0]]);
    let body = br#"{"data":[{"index":1,"embedding":[0,1]},{"index":0,"embedding":[1,0]}]}"#;
    let Outcome::Vectors(v) = client(ServiceKind::OpenAi, 2).read(200, body, 2) else { panic!("no vectors") };
    assert_eq!(v, [vec![1.0, 0.0], vec![0.0, 1.0]]);
}

#[test]
fn an_old_ollama_is_asked_in_the_old_way() {
    let mut client = client(ServiceKind::Ollama, 2);
    assert_eq!(client.read(404, b"404 page not found", 2), Outcome::AskAgain);
    assert_eq!(client.batch(), 1);
    let (url, body) = json_of(client.request(TextKind::Passage, &["a"]));
    assert_eq!(url, "http://localhost:11434/api/embeddings");
    assert_eq!(body["prompt"], "search_document: a");
    let Outcome::Vectors(v) = client.read(200, br#"{"embedding":[0,5]}"#, 1) else { panic!("no vectors") };
    assert_eq!(v, [vec![0.0, 1.0]]);
    // There is no third way.
    assert!(matches!(client.read(404, b"404 page not found", 1), Outcome::Failed(_)));
}

#[test]
fn failures_keep_their_kind() {
    let failed = |kind, status, body: &[u8]| match client(kind, 2).read(status, body, 1) {
        Outcome::Failed(failure) => failure,
        other => panic!("{other:?}"),
    };
    let missing = br#"{"error":"model \"nomic-embed-text\" not found, try pulling it first"}"#;
    assert_eq!(failed(ServiceKind::Ollama, 404, missing).kind, FailureKind::NoSuchModel);
    assert_eq!(failed(ServiceKind::OpenAi, 401, b"{}").kind, FailureKind::WrongKey);
    assert_eq!(failed(ServiceKind::Voyage, 429, b"").kind, FailureKind::RateLimited);
    assert_eq!(failed(ServiceKind::OpenAi, 200, b"<html>login</html>").kind, FailureKind::Html);
    for body in [
        &b"{\"data\":[]}"[..],
        b"{\"data\":[{\"embedding\":[1,\"x\"]}]}",
        b"{\"data\":[{\"embedding\":[0,0]}]}",
        b"{\"data\":[{\"embedding\":[1e999,0]}]}",
        b"{\"data\":3}",
        b"[",
        b"\xff",
    ] {
        assert_eq!(failed(ServiceKind::OpenAi, 200, body).kind, FailureKind::NotJson, "{body:?}");
    }
    let other = failed(ServiceKind::OpenAi, 200, br#"{"data":[{"embedding":[1,2,3]}]}"#);
    assert!(other.message.contains("3 numbers") && other.message.contains("have 2"), "{other}");
}

#[test]
fn the_fingerprint_tells_what_the_vectors_depend_on() {
    let service = |model: &str, max_chars, base_url: &str| Service {
        kind: ServiceKind::Ollama,
        base_url: base_url.into(),
        model: model.into(),
        max_chars,
    };
    let of = |s: &Service| s.fingerprint("q", "p");
    let a = service("m", Some(500), "http://a");
    assert_eq!(of(&a), of(&service("m:latest", Some(500), "http://b")));
    for other in [service("n", Some(500), "http://a"), service("m", None, "http://a")] {
        assert_ne!(of(&a), of(&other));
    }
    assert_ne!(of(&a), a.fingerprint("", "p"));
    assert_eq!(of(&a).len(), 64);
}

#[test]
fn addresses_are_checked_and_lose_what_belongs_to_a_request() {
    let ok = |kind, url| base_url_of(kind, url).expect(url);
    assert_eq!(ok(ServiceKind::Ollama, "http://h:1/api/embed"), "http://h:1");
    assert_eq!(ok(ServiceKind::OpenAi, ""), "https://api.openai.com/v1");
    assert_eq!(ok(ServiceKind::OpenAiCompatible, "http://h/v1/embeddings/"), "http://h/v1");
    for bad in ["", "h:1", "ftp://h", "http://name:word@h", "http://h/?key=1"] {
        assert!(base_url_of(ServiceKind::OpenAiCompatible, bad).is_err(), "{bad}");
    }
}
