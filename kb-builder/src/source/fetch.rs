//! Getting pages and files from the web, politely: one request at a time, with limits on everything, again
//! after a while where a server is busy, and not at all where nothing has changed.

use super::web::Address;
use crate::http::{Client, HttpErrorKind, PRIVATE, Reach, Request, Response};
use flate2::read::GzDecoder;
use std::cell::RefCell;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hasher};
use std::io::Read;
use std::time::{Duration, Instant, SystemTime};

/// Limits and manners.
#[derive(Debug, Clone)]
pub struct FetchOptions {
    /// Which hosts may be asked. Default: those on the internet.
    pub reach: Reach,
    /// Largest body, unpacked, in bytes. Default: 64 MB.
    pub max_bytes: usize,
    /// Redirects that are followed, one after the other. Default: 5.
    pub max_redirects: usize,
    /// How often a request is repeated that found a server busy or a connection broken. Default: 3.
    pub retries: u32,
    /// The pause before the first repetition; it doubles with each. Default: one second.
    pub pause: Duration,
    /// The longest pause that a server may ask for. Default: two minutes.
    pub max_pause: Duration,
    /// How long a server may be silent. Default: 30 seconds.
    pub idle: Duration,
    /// Least time between two requests to one host. Default: none.
    pub delay: Duration,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            reach: Reach::Public,
            max_bytes: 64 << 20,
            max_redirects: 5,
            retries: 3,
            pause: Duration::from_secs(1),
            max_pause: Duration::from_secs(120),
            idle: Duration::from_secs(30),
            delay: Duration::ZERO,
        }
    }
}

/// What an earlier answer said of itself, to ask whether it still holds.
#[derive(Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Validators {
    /// The header `etag`.
    pub etag: Option<String>,
    /// The header `last-modified`.
    pub modified: Option<String>,
}

impl Validators {
    fn is_empty(&self) -> bool {
        self.etag.is_none() && self.modified.is_none()
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The address that answered, after redirects.
    pub url: String,
    /// Whether nothing has changed since the validators were given; the body is empty then.
    pub unchanged: bool,
    /// The header `content-type`, its parameters included.
    pub content_type: String,
    /// The header `link`, by which a list in several pages names the next one.
    pub link: Option<String>,
    /// For the next time.
    pub validators: Validators,
    /// The body, unpacked.
    pub body: Vec<u8>,
}

/// Why something could not be fetched: one sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchError {
    /// The status of an answer that was no success.
    pub status: Option<u16>,
    /// What happened.
    pub message: String,
    /// How long the server asks to stay away, if that is longer than we wait.
    pub wait: Option<Duration>,
}

impl std::fmt::Display for FetchError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message)
    }
}

fn failure(message: impl Into<String>) -> FetchError {
    FetchError { status: None, message: message.into(), wait: None }
}

/// Fetches, one request after the other.
pub struct Fetcher {
    client: Client,
    runtime: tokio::runtime::Runtime,
    options: FetchOptions,
    /// When each host was asked last.
    asked: RefCell<HashMap<String, Instant>>,
    /// Hosts that said when they want to be asked again.
    closed: RefCell<HashMap<String, Instant>>,
}

/// What one try came to.
enum Try {
    Done(Fetched),
    Redirect(Address),
    /// Worth another try, after this long if the server says so.
    Busy(FetchError, Option<Duration>),
    Failed(FetchError),
}

impl Fetcher {
    /// A fetcher without connections.
    pub fn new(options: FetchOptions) -> crate::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(|e| crate::Error::failed(format!("the network cannot be used: {e}"), ""))?;
        Ok(Self {
            client: Client::with_reach(options.reach),
            runtime,
            options,
            asked: RefCell::default(),
            closed: RefCell::default(),
        })
    }

    /// Sets the least time between two requests to one host, if it is longer than what is set.
    pub fn slow_down(&mut self, delay: Duration) {
        self.options.delay = self.options.delay.max(delay);
    }

    /// Gets `url`. With `known` the server is asked whether that still holds. `headers` go to the first
    /// host only, not along with redirects to others.
    pub fn get(&self, url: &str, known: &Validators, headers: &[(&str, &str)]) -> Result<Fetched, FetchError> {
        let first = Address::parse(url).map_err(failure)?;
        let mut at = first.clone();
        let mut redirects = 0;
        let mut tries = 0;
        loop {
            self.wait_for_turn(&at)?;
            let own: &[(&str, &str)] = if at.same_site(&first) { headers } else { &[] };
            match self.runtime.block_on(self.once(&at, known, own)) {
                Try::Done(fetched) => return Ok(fetched),
                Try::Failed(e) => return Err(e),
                Try::Redirect(next) => {
                    redirects += 1;
                    if redirects > self.options.max_redirects {
                        return Err(failure(format!(
                            "{first} redirects more than {} times",
                            self.options.max_redirects
                        )));
                    }
                    at = next;
                }
                Try::Busy(e, asked) => {
                    if tries == self.options.retries {
                        return Err(FetchError { message: format!("{}, {} times", e.message, tries + 1), ..e });
                    }
                    let pause = asked.unwrap_or_else(|| jittered(self.options.pause * 2_u32.pow(tries.min(10))));
                    if pause > self.options.max_pause {
                        self.close(&at, pause);
                        return Err(FetchError {
                            message: format!("{}, and asks to come back in {} s", e.message, pause.as_secs()),
                            wait: Some(pause),
                            ..e
                        });
                    }
                    std::thread::sleep(pause);
                    tries += 1;
                }
            }
        }
    }

    /// Asks nothing more of a host for this long.
    fn close(&self, url: &Address, pause: Duration) {
        let until = Instant::now().checked_add(pause);
        self.closed.borrow_mut().extend(until.map(|until| (url.authority().to_string(), until)));
    }

    /// Keeps the distance to the last request to the same host, and waits until it is ready again.
    fn wait_for_turn(&self, url: &Address) -> Result<(), FetchError> {
        let host = url.authority().to_string();
        let closed = self.closed.borrow().get(&host).map(|until| until.saturating_duration_since(Instant::now()));
        if let Some(wait) = closed {
            if wait > self.options.max_pause {
                let message = format!("{url} was not asked: {host} asked to come back in {} s", wait.as_secs());
                return Err(FetchError { status: None, message, wait: Some(wait) });
            }
            std::thread::sleep(wait);
            self.closed.borrow_mut().remove(&host);
        }
        let mut asked = self.asked.borrow_mut();
        if let Some(last) = asked.get(&host) {
            std::thread::sleep(self.options.delay.saturating_sub(last.elapsed()));
        }
        asked.insert(host, Instant::now());
        Ok(())
    }

    async fn once(&self, url: &Address, known: &Validators, headers: &[(&str, &str)]) -> Try {
        let mut request = Request::get(url.to_string()).idle(self.options.idle).header("accept-encoding", "gzip");
        if let Some(etag) = &known.etag {
            request = request.header("if-none-match", etag);
        }
        if let Some(modified) = &known.modified {
            request = request.header("if-modified-since", modified);
        }
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        let response = match self.client.send(request).await {
            Ok(response) => response,
            Err(e) => {
                let error = failure(format!("{url}: {e}"));
                let lost = matches!(e.kind, HttpErrorKind::Url | HttpErrorKind::Tls) || error.message.contains(PRIVATE);
                return if lost { Try::Failed(error) } else { Try::Busy(error, None) };
            }
        };
        let status = response.status;
        let told = |what: &str| FetchError {
            status: Some(status),
            message: format!("{url} answered {status}{what}"),
            wait: None,
        };
        let reset = limit_reset(&response);
        if let Some(pause) = reset.filter(|_| status < 400) {
            self.close(url, pause);
        }
        match status {
            304 if !known.is_empty() => Try::Done(Fetched {
                url: url.to_string(),
                unchanged: true,
                content_type: String::new(),
                link: None,
                validators: known.clone(),
                body: Vec::new(),
            }),
            200..=299 => self.body(url, response).await,
            301 | 302 | 303 | 307 | 308 => match response.header("location").map(|l| url.join(l)) {
                Some(Ok(next)) => Try::Redirect(next),
                _ => Try::Failed(told(" without an address to go to")),
            },
            429 | 500 | 502 | 503 | 504 => {
                let pause = response.header("retry-after").and_then(retry_after);
                Try::Busy(told(""), pause.or(reset))
            }
            // GitHub says so when its limit is used up, by the hour or for a while.
            403 if response.header("x-ratelimit-remaining") == Some("0") => {
                Try::Busy(told(": its limit of requests is used up"), reset.or(Some(self.options.max_pause * 2)))
            }
            403 if response.header("retry-after").is_some() => {
                let pause = response.header("retry-after").and_then(retry_after);
                Try::Busy(told(": too many requests"), pause)
            }
            _ => Try::Failed(told("")),
        }
    }

    async fn body(&self, url: &Address, response: Response) -> Try {
        let header = |name: &str| response.header(name).map(str::to_string);
        let validators = Validators { etag: header("etag"), modified: header("last-modified") };
        let content_type = header("content-type").unwrap_or_default();
        let link = header("link");
        let packed = header("content-encoding").is_some_and(|e| e.eq_ignore_ascii_case("gzip"));
        let limit = self.options.max_bytes;
        let body = match response.bytes(limit).await {
            Ok(body) => body,
            Err(e) if e.kind == HttpErrorKind::TooLarge => return Try::Failed(failure(format!("{url}: {e}"))),
            Err(e) => return Try::Busy(failure(format!("{url}: {e}")), None),
        };
        let body = if packed {
            let mut out = Vec::new();
            let read = GzDecoder::new(body.as_slice()).take(limit as u64 + 1).read_to_end(&mut out);
            if read.is_err() {
                return Try::Busy(failure(format!("{url}: its packed body is damaged")), None);
            }
            if out.len() > limit {
                return Try::Failed(failure(format!("{url}: it unpacks to more than {limit} bytes")));
            }
            out
        } else {
            body
        };
        Try::Done(Fetched { url: url.to_string(), unchanged: false, content_type, link, validators, body })
    }
}

/// How long a limit of requests that is used up lasts, if the server says both: the last request that it allowed
/// says so as well as the first that it refused.
fn limit_reset(response: &Response) -> Option<Duration> {
    if response.header("x-ratelimit-remaining") != Some("0") {
        return None;
    }
    let reset: u64 = response.header("x-ratelimit-reset")?.trim().parse().ok()?;
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |d| d.as_secs());
    Some(Duration::from_secs(reset.saturating_sub(now).saturating_add(1)))
}

/// The pause that a server asks for, in seconds or by the date of its end.
fn retry_after(value: &str) -> Option<Duration> {
    if let Ok(seconds) = value.trim().parse() {
        return Some(Duration::from_secs(seconds));
    }
    let date = httpdate::parse_http_date(value.trim()).ok()?;
    Some(date.duration_since(SystemTime::now()).unwrap_or(Duration::ZERO))
}

/// Up to a quarter more or less, so that programs that failed together do not come back together.
fn jittered(pause: Duration) -> Duration {
    let random = std::collections::hash_map::RandomState::new().build_hasher().finish();
    pause.mul_f64(0.75 + 0.5 * (random % 1024) as f64 / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_are_seconds_or_dates() {
        assert_eq!(retry_after(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(retry_after("Wed, 21 Oct 2015 07:28:00 GMT"), Some(Duration::ZERO));
        assert_eq!(retry_after("soon"), None);
        for _ in 0..100 {
            let pause = jittered(Duration::from_secs(4));
            assert!(pause >= Duration::from_secs(3) && pause <= Duration::from_secs(5));
        }
    }
}
