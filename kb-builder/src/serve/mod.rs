//! A small static server for looking at a site on this machine. Publishing needs none.

mod api;
mod body;
mod current;
mod files;
mod reload;

pub use api::Api;

use crate::error::{Error, Result};
use body::ReplyBody;
use files::{Reply, StaticSite};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

/// Opens the port, with a sentence of its own for the port that is taken.
pub fn bind(host: IpAddr, port: u16) -> Result<TcpListener> {
    TcpListener::bind(SocketAddr::new(host, port)).map_err(|e| match e.kind() {
        std::io::ErrorKind::AddrInUse => Error::failed(
            format!("port {port} is in use by another program"),
            "choose another with --port, or 0 for any free one",
        ),
        std::io::ErrorKind::PermissionDenied => Error::failed(
            format!("this system does not let you open port {port}"),
            "choose one of 1024 or more with --port",
        ),
        _ => Error::failed(format!("cannot listen on {host}, port {port}: {e}"), ""),
    })
}

/// `base` as a path that begins and ends with a slash: `/`, `/course/kb/`.
pub fn normalised_base(base: &str) -> String {
    let parts: Vec<&str> = base.split('/').filter(|p| !p.is_empty()).collect();
    if parts.is_empty() { "/".into() } else { format!("/{}/", parts.join("/")) }
}

/// Where a browser on this machine opens the site.
pub fn address(listener: &TcpListener, base: &str) -> Result<String> {
    let local = listener.local_addr().map_err(|e| Error::failed(format!("the port has no address: {e}"), ""))?;
    let host = match local.ip() {
        ip if ip.is_loopback() || ip.is_unspecified() => "localhost".to_string(),
        IpAddr::V6(ip) => format!("[{ip}]"),
        IpAddr::V4(ip) => ip.to_string(),
    };
    Ok(format!("http://{host}:{}{base}", local.port()))
}

/// What a server does beside sending files.
#[derive(Default)]
pub struct Beside {
    /// Answers of the base.
    pub api: Option<Api>,
    /// Whether the page reloads itself when the site was built anew.
    pub reload: bool,
}

/// Serves the folder `root` under `base` until the program is ended.
pub fn run(listener: TcpListener, root: &Path, base: &str, beside: Beside) -> Result<()> {
    let site = StaticSite::new(root, base)?;
    let site = Arc::new(if beside.reload { site.reloading() } else { site });
    let api = beside.api.map(|api| (Arc::new(api), format!("{base}api/")));
    let stopped = |e: std::io::Error| Error::failed(format!("the server stopped: {e}"), "");
    listener.set_nonblocking(true).map_err(stopped)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(stopped)?;
    runtime.block_on(async move {
        let listener = tokio::net::TcpListener::from_std(listener).map_err(stopped)?;
        loop {
            // A connection that ends before it is taken is the visitor's affair.
            let Ok((stream, _)) = listener.accept().await else { continue };
            let (site, api) = (Arc::clone(&site), api.clone());
            tokio::spawn(async move {
                let service = service_fn(move |request| answer(Arc::clone(&site), api.clone(), request));
                // So is one that breaks off.
                let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), service).await;
            });
        }
    })
}

async fn answer(
    site: Arc<StaticSite>,
    api: Option<(Arc<Api>, String)>,
    request: Request<Incoming>,
) -> Result<Response<ReplyBody>, Infallible> {
    let path = request.uri().path().to_string();
    if let Some((api, prefix)) = api
        && let Some(name) = path.strip_prefix(&prefix)
    {
        return Ok(api.answer(name, request).await);
    }
    let tag = request.headers().get("if-none-match").and_then(|v| v.to_str().ok()).map(str::to_string);
    let head = request.method() == "HEAD";
    let reply = if head || request.method() == "GET" {
        // Reading a file would hold up the other connections.
        let read = tokio::task::spawn_blocking(move || site.reply(&path, tag.as_deref())).await;
        read.unwrap_or_else(|_| Reply::error(StatusCode::INTERNAL_SERVER_ERROR))
    } else {
        Reply::error(StatusCode::METHOD_NOT_ALLOWED)
    };
    Ok(response(reply, head))
}

fn response(reply: Reply, head: bool) -> Response<ReplyBody> {
    let mut builder = Response::builder().status(reply.status).header("x-content-type-options", "nosniff");
    for (name, value) in &reply.headers {
        builder = builder.header(*name, value);
    }
    if head {
        builder = builder.header("content-length", reply.body.len());
    }
    let body = ReplyBody::full(if head { Vec::new() } else { reply.body });
    // Header values come from file metadata and percent-encoded paths; one that is no header after
    // all is an error of ours.
    builder.body(body).unwrap_or_else(|_| {
        let mut failed = Response::new(ReplyBody::full(Vec::new()));
        *failed.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
        failed
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_normalised() {
        for (given, base) in [("", "/"), ("/", "/"), ("course/kb", "/course/kb/"), ("/course//kb/", "/course/kb/")] {
            assert_eq!(normalised_base(given), base);
        }
    }

    #[test]
    fn a_port_in_use_is_a_clear_message() {
        let host = IpAddr::from([127, 0, 0, 1]);
        let first = bind(host, 0).expect("binds");
        let port = first.local_addr().expect("address").port();
        let e = bind(host, port).expect_err("taken");
        assert!(e.to_string().contains(&format!("port {port} is in use")), "{e}");
        assert!(e.hint().is_some_and(|h| h.contains("--port")));
        assert_eq!(address(&first, "/a/").expect("address"), format!("http://localhost:{port}/a/"));
    }
}
