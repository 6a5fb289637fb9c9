//! Asking GitHub's interface: what has not changed is not asked for again, and when the limit of requests is used up,
//! the copies of the last run answer.

use super::super::fetch::{FetchError, Fetched, Fetcher, Validators};
use super::super::web::store::Store;
use super::super::web::{Address, is_passing};
use serde::de::DeserializeOwned;
use std::cell::Cell;
use std::time::Duration;

/// Most pages of a list.
const MAX_PAGES: usize = 10;

/// What was asked for.
#[derive(Debug)]
pub enum Answer<T> {
    /// It is there.
    Found(T),
    /// There is no such thing: 404, or 409 for the commits of an empty repository.
    Missing,
}

impl<T> Answer<T> {
    /// The value, if it is there.
    pub fn found(self) -> Option<T> {
        match self {
            Self::Found(value) => Some(value),
            Self::Missing => None,
        }
    }
}

/// The interface, with what it has answered so far.
pub struct Api {
    base: String,
    bearer: Option<String>,
    fetcher: Fetcher,
    store: Store,
    /// How long GitHub asks to stay away, once it does.
    wait: Cell<Option<Duration>>,
    /// Requests that a copy of an earlier run answered because GitHub did not.
    copies: Cell<usize>,
}

impl Api {
    /// The interface at `base`; what was fetched before is in `store`.
    pub fn new(base: &str, token: Option<&str>, fetcher: Fetcher, store: Store) -> Self {
        let bearer = token.map(|t| format!("Bearer {t}"));
        Self {
            base: base.trim_end_matches('/').to_owned(),
            bearer,
            fetcher,
            store,
            wait: Cell::default(),
            copies: Cell::default(),
        }
    }

    /// How long GitHub asks to stay away, if its limit of requests is used up.
    pub fn limited(&self) -> Option<Duration> {
        self.wait.get()
    }

    /// How many requests copies have answered so far because GitHub did not.
    pub fn copies(&self) -> usize {
        self.copies.get()
    }

    /// Whether requests carry a token.
    pub fn has_token(&self) -> bool {
        self.bearer.is_some()
    }

    /// Asks for `path`. `state` is what the answer depends on, such as the time of the last push: while it is what it was
    /// when GitHub answered last, GitHub is not asked.
    pub fn get<T: DeserializeOwned>(&self, path: &str, state: Option<&str>) -> Result<Answer<T>, FetchError> {
        let url = format!("{}{path}", self.base);
        Ok(self.fetch(&url, state)?.map_or(Answer::Missing, |reply| Answer::Found(reply.value)))
    }

    /// Asks for a list that may have several pages. What is said besides tells whether there were more than are read.
    pub fn list<T: DeserializeOwned>(&self, path: &str) -> Result<Answer<(Vec<T>, bool)>, FetchError> {
        let mut url = format!("{}{path}", self.base);
        let mut all: Vec<T> = Vec::new();
        for _ in 0..MAX_PAGES {
            let Some(reply) = self.fetch::<Vec<T>>(&url, None)? else { return Ok(Answer::Missing) };
            all.extend(reply.value);
            match linked(&url, reply.link.as_deref(), "next") {
                Some(next) => url = next,
                None => return Ok(Answer::Found((all, false))),
            }
        }
        Ok(Answer::Found((all, true)))
    }

    /// The first and the last page of a list, which is read no further.
    pub fn ends<T: DeserializeOwned>(&self, path: &str, state: Option<&str>) -> Result<Answer<Vec<T>>, FetchError> {
        let url = format!("{}{path}", self.base);
        let Some(first) = self.fetch::<Vec<T>>(&url, state)? else { return Ok(Answer::Missing) };
        let mut all = first.value;
        if let Some(last) = linked(&url, first.link.as_deref(), "last")
            && let Some(reply) = self.fetch::<Vec<T>>(&last, state)?
        {
            all.extend(reply.value);
        }
        Ok(Answer::Found(all))
    }

    /// What is at `url`, `None` if there is nothing. Only what can be read is kept.
    fn fetch<T: DeserializeOwned>(&self, url: &str, state: Option<&str>) -> Result<Option<Reply<T>>, FetchError> {
        let known = self.store.get(url).and_then(|k| Some((Reply::read(url, &k).ok()?, k.validators)));
        let mark = format!("{url}#state");
        let marked = self.store.get(&mark).and_then(|m| String::from_utf8(m.body).ok());
        if let (Some(state), Some(marked)) = (state, &marked) {
            if *marked == format!("404 {state}") {
                return Ok(None);
            }
            if *marked == format!("200 {state}") && known.is_some() {
                return Ok(known.map(|(reply, _)| reply));
            }
        }
        let validators = known.as_ref().map(|(_, v)| v.clone()).unwrap_or_default();
        let mut headers = vec![("accept", "application/vnd.github+json"), ("x-github-api-version", "2022-11-28")];
        headers.extend(self.bearer.as_deref().map(|b| ("authorization", b)));
        let fetched = self.fetcher.get(url, &validators, &headers).and_then(|fetched| {
            if fetched.unchanged {
                return Ok(None);
            }
            let reply = Reply::read(url, &fetched)?;
            self.store.keep(url, &fetched);
            Ok(Some(reply))
        });
        match fetched {
            Ok(fresh) => {
                self.mark(&mark, "200", state);
                Ok(fresh.or(known.map(|(reply, _)| reply)))
            }
            Err(e) if matches!(e.status, Some(404 | 409)) => {
                self.mark(&mark, "404", state);
                Ok(None)
            }
            Err(e) => {
                if e.wait.is_some() {
                    self.wait.set(e.wait);
                }
                // That there was nothing is known as well as what there was.
                let gone = known.is_none() && marked.is_some_and(|m| m.starts_with("404 "));
                if is_passing(&e) && (known.is_some() || gone) {
                    self.copies.set(self.copies.get() + 1);
                    return Ok(known.map(|(reply, _)| reply));
                }
                Err(e)
            }
        }
    }

    fn mark(&self, mark: &str, status: &str, state: Option<&str>) {
        if let Some(state) = state {
            let fetched = Fetched {
                url: mark.to_owned(),
                unchanged: false,
                content_type: String::new(),
                link: None,
                validators: Validators::default(),
                body: format!("{status} {state}").into_bytes(),
            };
            self.store.keep(mark, &fetched);
        }
    }
}

/// An answer that was read, with the header that names other pages.
struct Reply<T> {
    value: T,
    link: Option<String>,
}

impl<T: DeserializeOwned> Reply<T> {
    fn read(url: &str, fetched: &Fetched) -> Result<Self, FetchError> {
        let value = serde_json::from_slice(&fetched.body).map_err(|e| FetchError {
            status: None,
            message: format!("{url} answered what is no answer of GitHub's interface: {e}"),
            wait: None,
        })?;
        Ok(Self { value, link: fetched.link.clone() })
    }
}

/// The page that the header `link` names for `rel`. The token goes along, so that it must be on the same host.
fn linked(url: &str, header: Option<&str>, rel: &str) -> Option<String> {
    let here = Address::parse(url).ok()?;
    let there = here.join(link_target(header?, rel)?).ok()?;
    (there.same_site(&here) && there != here).then(|| there.to_string())
}

/// The address for `rel` in a header such as `<https://…?page=2>; rel="next", <…>; rel="last"`.
fn link_target<'h>(header: &'h str, rel: &str) -> Option<&'h str> {
    header.split('<').skip(1).find_map(|part| {
        let (target, parameters) = part.split_once('>')?;
        let is = |p: &str| {
            p.trim().trim_end_matches(',').trim().strip_prefix("rel=").is_some_and(|r| r.trim_matches('"') == rel)
        };
        parameters.split(';').any(is).then_some(target)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_to_other_pages_are_found() {
        let header = "<https://api.e.org/user/1/repos?page=2>; rel=\"next\", <https://api.e.org/user/1/repos?page=9>; rel=\"last\"";
        assert_eq!(link_target(header, "next"), Some("https://api.e.org/user/1/repos?page=2"));
        assert_eq!(link_target(header, "last"), Some("https://api.e.org/user/1/repos?page=9"));
        assert_eq!(link_target(header, "prev"), None);
        for odd in ["", "<", "<x", "x>; rel=next", "<a>"] {
            assert_eq!(link_target(odd, "next"), None, "{odd}");
        }
    }
}
