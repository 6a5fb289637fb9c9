//! A server that answers with replies in the shapes that language models' servers send.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

/// What was asked.
#[derive(Debug, Clone)]
pub struct Asked {
    /// `POST /api/chat HTTP/1.1` and the headers, as sent.
    pub head: String,
    pub body: String,
}

/// What is sent back.
#[derive(Debug, Clone)]
pub struct Reply {
    pub status: u16,
    pub kind: &'static str,
    pub body: String,
    /// Bytes of each chunk of the transfer; 0 sends all at once.
    pub chunk: usize,
    /// After this many bytes nothing more comes, and the connection stays open.
    pub stall_after: Option<usize>,
    /// Extra header lines.
    pub headers: String,
}

impl Reply {
    pub fn new(status: u16, body: &str) -> Self {
        Self {
            status,
            kind: "application/json",
            body: body.into(),
            chunk: 0,
            stall_after: None,
            headers: String::new(),
        }
    }
}

/// The server; ends with the test's process.
pub struct Fixture {
    pub url: String,
    pub asked: Arc<Mutex<Vec<Asked>>>,
    /// When a connection was closed by the other side while the server was still sending.
    pub closed: Arc<Mutex<Option<Instant>>>,
}

impl Fixture {
    /// Answers every request with what `reply` says; it gets the number of the request, from 0, and its path.
    pub fn start(reply: impl Fn(usize, &str) -> Reply + Send + Sync + 'static) -> Self {
        Self::answering(move |number, path, _| reply(number, path))
    }

    /// The same for replies that depend on what was asked: number, path, body.
    pub fn answering(reply: impl Fn(usize, &str, &str) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let url = format!("http://{}", listener.local_addr().expect("address"));
        let (asked, closed) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(None)));
        let (seen, gone, reply) = (Arc::clone(&asked), Arc::clone(&closed), Arc::new(reply));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let (seen, gone, reply) = (Arc::clone(&seen), Arc::clone(&gone), Arc::clone(&reply));
                thread::spawn(move || {
                    if let Ok(mut stream) = stream
                        && serve(&mut stream, &seen, &*reply).is_err()
                    {
                        *gone.lock().expect("lock") = Some(Instant::now());
                    }
                });
            }
        });
        Self { url, asked, closed }
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().expect("lock").clone()
    }
}

fn serve(
    stream: &mut TcpStream,
    asked: &Mutex<Vec<Asked>>,
    reply: &dyn Fn(usize, &str, &str) -> Reply,
) -> std::io::Result<()> {
    let mut head = Vec::new();
    let mut byte = [0];
    while !head.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte)? == 0 {
            return Ok(());
        }
        head.push(byte[0]);
    }
    let head = String::from_utf8_lossy(&head).into_owned();
    let length =
        head.to_lowercase().split("content-length: ").nth(1).and_then(|l| l.split("\r\n").next()?.parse().ok());
    let mut body = vec![0; length.unwrap_or(0)];
    stream.read_exact(&mut body)?;
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let body = String::from_utf8_lossy(&body).into_owned();
    let number = {
        let mut asked = asked.lock().expect("lock");
        asked.push(Asked { head, body: body.clone() });
        asked.len() - 1
    };
    let reply = reply(number, &path, &body);
    let (status, kind, extra) = (reply.status, reply.kind, &reply.headers);
    write!(
        stream,
        "HTTP/1.1 {status} X\r\nContent-Type: {kind}\r\n{extra}Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n"
    )?;
    let bytes = reply.body.as_bytes();
    let sent = &bytes[..reply.stall_after.unwrap_or(bytes.len()).min(bytes.len())];
    let size = if reply.chunk == 0 { sent.len().max(1) } else { reply.chunk };
    for piece in sent.chunks(size) {
        write!(stream, "{:x}\r\n", piece.len())?;
        stream.write_all(piece)?;
        stream.write_all(b"\r\n")?;
        stream.flush()?;
    }
    if reply.stall_after.is_some() {
        // Reading ends when the other side closes.
        stream.set_read_timeout(Some(Duration::from_secs(30)))?;
        return match stream.read(&mut byte)? {
            0 => Err(std::io::ErrorKind::ConnectionReset.into()),
            _ => Ok(()),
        };
    }
    stream.write_all(b"0\r\n\r\n")
}

/// A line of Ollama's reply.
pub fn ollama(content: &str) -> String {
    serde_json::json!({"model": "m", "message": {"role": "assistant", "content": content}, "done": false}).to_string()
        + "\n"
}

/// The last line of Ollama's reply.
pub const OLLAMA_END: &str = "{\"model\":\"m\",\"message\":{\"role\":\"assistant\",\"content\":\"\"},\"done\":true,\"done_reason\":\"stop\",\"prompt_eval_count\":120,\"eval_count\":7}\n";

/// An event of an OpenAI-compatible reply.
pub fn event(delta: serde_json::Value, finish: Option<&str>) -> String {
    let json = serde_json::json!({"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]});
    format!("data: {json}\n\n")
}
