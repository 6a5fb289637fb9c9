use super::*;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc;
use std::thread;
use std::time::Instant;

/// A server for one connection; `serve` gets it when the head of the request has been read.
fn server(serve: impl FnOnce(&mut TcpStream, String) + Send + 'static) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
    let address = listener.local_addr().expect("address");
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && stream.read(&mut byte).is_ok_and(|n| n == 1) {
            head.push(byte[0]);
        }
        serve(&mut stream, String::from_utf8_lossy(&head).to_lowercase());
    });
    format!("http://{address}/path?q=1")
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().expect("runtime").block_on(work)
}

#[test]
fn a_body_comes_piece_by_piece() {
    let (sent, next) = mpsc::channel::<()>();
    let url = server(move |stream, head| {
        assert!(
            head.starts_with("post /path?q=1 http/1.1\r\n") && head.contains("authorization: bearer k\r\n"),
            "{head}"
        );
        assert!(head.contains("user-agent: kb-builder/") && head.contains("content-type: application/json"));
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nX-Y: z\r\n\r\n1\r\na\r\n").expect("sends");
        next.recv().expect("the first piece was read");
        stream.write_all(b"2\r\nbc\r\n0\r\n\r\n").expect("sends");
    });
    run(async {
        let request = Request::post_json(url, "{}".into()).header("authorization", "Bearer k");
        let mut response = Client::new().send(request).await.expect("a response");
        assert_eq!((response.status, response.header("x-y")), (200, Some("z")));
        assert_eq!(response.chunk().await.expect("a piece").as_deref(), Some(&b"a"[..]));
        sent.send(()).expect("the server waits");
        assert_eq!(response.bytes(2).await.expect("the rest"), b"bc");
    });
}

#[test]
fn limits_hold() {
    let url = server(|stream, _| stream.write_all(b"HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nabcd").expect("sends"));
    let response = |url| async { Client::new().send(Request::get(url)).await.expect("a response") };
    run(async { assert_eq!(response(url).await.bytes(3).await.expect_err("too long").kind, HttpErrorKind::TooLarge) });
    let url = server(|stream, _| stream.write_all(b"HTTP/1.1 500 No\r\nContent-Length: 9\r\n\r\nabcd").expect("sends"));
    run(async { assert_eq!(response(url).await.beginning(3).await, b"abc") });
}

#[test]
fn each_way_to_fail_has_its_kind() {
    let kind = |request: Request| {
        run(async {
            match Client::new().send(request).await {
                Ok(response) => response.bytes(1000).await.expect_err("fails").kind,
                Err(e) => e.kind,
            }
        })
    };
    let closed = TcpListener::bind("127.0.0.1:0").expect("binds").local_addr().expect("address");
    assert_eq!(kind(Request::get(format!("http://{closed}/"))), HttpErrorKind::Connect);
    assert_eq!(kind(Request::get("ftp://x/")), HttpErrorKind::Url);
    assert_eq!(kind(Request::get("http://x y/")), HttpErrorKind::Url);
    assert_eq!(kind(Request::get("http://127.0.0.1/").header("a", "b\nc")), HttpErrorKind::Url);
    // The beginning of TLS has no blank line that `server` could wait for.
    let plain = TcpListener::bind("127.0.0.1:0").expect("binds");
    let url = format!("https://{}/", plain.local_addr().expect("address"));
    thread::spawn(move || {
        let (mut stream, _) = plain.accept().expect("a connection");
        let _ = stream.read(&mut [0; 512]);
        stream.write_all(b"HTTP/1.1 400 Bad\r\n\r\n").expect("sends");
    });
    assert_eq!(kind(Request::get(url)), HttpErrorKind::Tls);
    let short =
        server(|stream, _| stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc").expect("sends"));
    assert_eq!(kind(Request::get(short)), HttpErrorKind::Broken);
    let no_http = server(|stream, _| stream.write_all(b"hello\r\n\r\n").expect("sends"));
    assert_eq!(kind(Request::get(no_http)), HttpErrorKind::Broken);
    let silent = server(|_, _| thread::sleep(Duration::from_secs(3)));
    let started = Instant::now();
    assert_eq!(kind(Request::get(silent).idle(Duration::from_millis(100))), HttpErrorKind::Stalled);
    assert!(started.elapsed() < Duration::from_secs(2));
}

#[test]
fn dropping_a_response_closes_its_connection() {
    let (closed, when) = mpsc::channel();
    let url = server(move |stream, _| {
        stream.write_all(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n").expect("sends");
        // Reading ends when the other side has closed.
        let _ = stream.read_to_end(&mut Vec::new());
        closed.send(Instant::now()).expect("the test waits");
    });
    run(async {
        let mut response = Client::new().send(Request::get(url)).await.expect("a response");
        response.chunk().await.expect("a piece");
        let dropped = Instant::now();
        drop(response);
        // The connection's task needs the runtime once more.
        tokio::time::sleep(Duration::from_millis(50)).await;
        let seen = when.recv_timeout(Duration::from_secs(2)).expect("closed");
        assert!(seen.duration_since(dropped) < Duration::from_millis(100));
    });
}
