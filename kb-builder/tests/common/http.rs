//! A real server on this machine's loopback address.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

/// A request as the server saw it.
#[derive(Debug, Clone)]
pub struct Asked {
    pub path: String,
    pub headers: HashMap<String, String>,
}

/// What a server does with a request: the bytes that it writes before it closes the connection.
type Answer = dyn Fn(&Asked, usize) -> Vec<u8> + Send + Sync;

/// A server that ends with the test.
pub struct Server {
    pub base: String,
    pub asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    /// Serves `answer`, which gets the request and how often its path was asked before.
    pub fn start(answer: impl Fn(&Asked, usize) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("binds");
        let base = format!("http://{}", listener.local_addr().expect("address"));
        let asked: Arc<Mutex<Vec<Asked>>> = Arc::default();
        let (log, answer): (_, Arc<Answer>) = (asked.clone(), Arc::new(answer));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (log, answer) = (log.clone(), answer.clone());
                std::thread::spawn(move || serve(stream, &log, &*answer));
            }
        });
        Self { base, asked }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub fn paths(&self) -> Vec<String> {
        self.asked.lock().expect("log").iter().map(|a| a.path.clone()).collect()
    }
}

fn serve(mut stream: TcpStream, log: &Mutex<Vec<Asked>>, answer: &Answer) {
    let mut lines = BufReader::new(stream.try_clone().expect("clones")).lines();
    let Some(Ok(first)) = lines.next() else { return };
    let headers = lines
        .map_while(|l| l.ok().filter(|l| !l.is_empty()))
        .filter_map(|l| l.split_once(':').map(|(k, v)| (k.to_ascii_lowercase(), v.trim().to_string())))
        .collect();
    let asked = Asked { path: first.split(' ').nth(1).unwrap_or_default().to_string(), headers };
    let before = {
        let mut log = log.lock().expect("log");
        let before = log.iter().filter(|a| a.path == asked.path).count();
        log.push(asked.clone());
        before
    };
    let _ = stream.write_all(&answer(&asked, before));
    let _ = stream.shutdown(std::net::Shutdown::Write);
    let _ = stream.read(&mut [0; 1]);
}

pub fn reply(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let mut out = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len())
        .into_bytes();
    out.extend_from_slice(body);
    out
}
