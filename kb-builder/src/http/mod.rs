//! A small HTTP client for everything that the program fetches: language models, sources.
//!
//! HTTP/1.1 over TCP or TLS (rustls with the usual web roots). A body can be read as it arrives; dropping
//! a [`Response`] closes its connection. Redirects are reported, not followed: what may go along to
//! another host is for the caller to say.

mod error;
mod reach;

pub use error::{HttpError, HttpErrorKind};
pub(crate) use reach::PRIVATE;
pub use reach::{Reach, is_public};

use http_body_util::{BodyExt, Full};
use hyper::body::{Bytes, Incoming};
use hyper::{HeaderMap, Method, Uri};
use hyper_rustls::HttpsConnector;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use reach::Resolver;
use std::future::Future;
use std::time::Duration;

/// How long a name may take to be found and a connection to be made.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a connection is kept for the next request to the same host.
const KEEP_IDLE: Duration = Duration::from_secs(30);
/// What requests are sent as.
const USER_AGENT: &str = concat!("kb-builder/", env!("CARGO_PKG_VERSION"));

/// A request.
#[derive(Debug, Clone)]
pub struct Request {
    /// GET, POST, …
    pub method: Method,
    /// Absolute, http or https.
    pub url: String,
    /// Besides `host`, `user-agent` and `content-length`.
    pub headers: Vec<(String, String)>,
    /// Empty for a GET.
    pub body: Bytes,
    /// How long the server may be silent: before its answer begins, and between two pieces of it.
    pub idle: Duration,
}

impl Request {
    /// A GET that waits 30 seconds.
    pub fn get(url: impl Into<String>) -> Self {
        Self {
            method: Method::GET,
            url: url.into(),
            headers: Vec::new(),
            body: Bytes::new(),
            idle: Duration::from_secs(30),
        }
    }

    /// A POST of JSON.
    pub fn post_json(url: impl Into<String>, json: String) -> Self {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Self { method: Method::POST, headers, body: Bytes::from(json), ..Self::get(url) }
    }

    /// With one more header.
    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }

    /// With another limit of silence.
    pub fn idle(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }
}

/// Sends requests and keeps connections. Cloning is cheap.
#[derive(Clone)]
pub struct Client {
    inner: hyper_util::client::legacy::Client<HttpsConnector<HttpConnector<Resolver>>, Full<Bytes>>,
    reach: Reach,
}

impl Default for Client {
    fn default() -> Self {
        Self::new()
    }
}

impl Client {
    /// A client without connections, for any host.
    pub fn new() -> Self {
        Self::with_reach(Reach::Anywhere)
    }

    /// A client without connections, for the hosts that `reach` allows.
    pub fn with_reach(reach: Reach) -> Self {
        let mut tcp = HttpConnector::new_with_resolver(Resolver(reach));
        tcp.enforce_http(false);
        tcp.set_nodelay(true);
        tcp.set_connect_timeout(Some(CONNECT_TIMEOUT));
        let https = hyper_rustls::HttpsConnectorBuilder::new()
            .with_webpki_roots()
            .https_or_http()
            .enable_http1()
            .wrap_connector(tcp);
        let inner = hyper_util::client::legacy::Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(KEEP_IDLE)
            .build(https);
        Self { inner, reach }
    }

    /// Sends a request and waits for the head of the answer, whatever its status.
    pub async fn send(&self, request: Request) -> Result<Response, HttpError> {
        let uri: Uri =
            request.url.parse().map_err(|e| HttpError::new(HttpErrorKind::Url, format!("not an address: {e}")))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) || uri.host().is_none() {
            return Err(HttpError::new(HttpErrorKind::Url, "the address is neither http nor https"));
        }
        if let Some(why) = uri.host().and_then(|host| reach::refused(self.reach, host)) {
            return Err(HttpError::new(HttpErrorKind::Url, why));
        }
        let mut builder = hyper::Request::builder().method(request.method).uri(uri).header("user-agent", USER_AGENT);
        for (name, value) in &request.headers {
            builder = builder.header(name.as_str(), value.as_str());
        }
        // The message of a bad header would repeat its value, which may be a key.
        let built = builder
            .body(Full::new(request.body))
            .map_err(|_| HttpError::new(HttpErrorKind::Url, "a header holds characters that cannot be sent"))?;
        let response =
            within(request.idle, self.inner.request(built)).await?.map_err(|e| HttpError::from_client(&e))?;
        let (head, body) = response.into_parts();
        Ok(Response { status: head.status.as_u16(), headers: head.headers, body, idle: request.idle })
    }
}

/// An answer whose body is still arriving.
#[derive(Debug)]
pub struct Response {
    /// HTTP status.
    pub status: u16,
    /// All headers.
    pub headers: HeaderMap,
    body: Incoming,
    idle: Duration,
}

impl Response {
    /// A header as text.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// The next piece of the body; `None` at its end.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        loop {
            match within(self.idle, self.body.frame()).await? {
                None => return Ok(None),
                // Trailers say nothing that anyone needs.
                Some(Ok(frame)) => match frame.into_data() {
                    Ok(data) if data.is_empty() => {}
                    Ok(data) => return Ok(Some(data)),
                    Err(_) => {}
                },
                Some(Err(e)) => return Err(HttpError::from_body(&e)),
            }
        }
    }

    /// The whole body, which may have up to `limit` bytes.
    pub async fn bytes(mut self, limit: usize) -> Result<Vec<u8>, HttpError> {
        let mut out = Vec::new();
        while let Some(chunk) = self.chunk().await? {
            if out.len() + chunk.len() > limit {
                return Err(HttpError::new(HttpErrorKind::TooLarge, format!("the answer has more than {limit} bytes")));
            }
            out.extend_from_slice(&chunk);
        }
        Ok(out)
    }

    /// As much of the body as there is and as `limit` allows: for the bodies of errors.
    pub async fn beginning(mut self, limit: usize) -> Vec<u8> {
        let mut out = Vec::new();
        while let Ok(Some(chunk)) = self.chunk().await {
            out.extend_from_slice(&chunk[..chunk.len().min(limit - out.len())]);
            if out.len() >= limit {
                break;
            }
        }
        out
    }
}

async fn within<T>(limit: Duration, work: impl Future<Output = T>) -> Result<T, HttpError> {
    tokio::time::timeout(limit, work)
        .await
        .map_err(|_| HttpError::new(HttpErrorKind::Stalled, format!("nothing came for {} s", limit.as_secs_f32())))
}

#[cfg(test)]
mod tests;
