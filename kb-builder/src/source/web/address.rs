//! Addresses on the web: http and https only, resolved as RFC 3986 says.

use std::fmt;

/// An absolute address without a fragment, in one spelling.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    secure: bool,
    /// Host in lower case, with the port if it is not the usual one.
    authority: String,
    /// Begins with `/`; without dot segments.
    path: String,
    query: Option<String>,
}

impl Address {
    /// Reads an absolute address.
    pub fn parse(text: &str) -> Result<Self, String> {
        let text = text.trim();
        let (scheme, rest) = text.split_once("://").ok_or_else(|| format!("`{text}` does not begin with https://"))?;
        let secure = match scheme.to_ascii_lowercase().as_str() {
            "https" => true,
            "http" => false,
            _ => return Err(format!("`{text}` is neither http nor https")),
        };
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let authority =
            authority(&rest[..end], secure).ok_or_else(|| format!("`{text}` has no host that can be asked"))?;
        let (path, query) = path_and_query(&rest[end..]);
        Ok(Self { secure, authority, path: normal(&path), query })
    }

    /// The address that `reference` means on the page at this one.
    pub fn join(&self, reference: &str) -> Result<Self, String> {
        let reference = reference.trim();
        let scheme_end = reference.find(':').filter(|end| {
            let scheme = &reference[..*end];
            scheme.starts_with(|c: char| c.is_ascii_alphabetic())
                && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'-' | b'.'))
        });
        if scheme_end.is_some() {
            return Self::parse(reference);
        }
        if reference.starts_with("//") {
            return Self::parse(&format!("{}:{reference}", self.scheme()));
        }
        let (path, query) = path_and_query(reference);
        let mut joined = self.clone();
        if path.is_empty() {
            if query.is_some() {
                joined.query = query;
            }
            return Ok(joined);
        }
        let folder = &self.path[..self.path.rfind('/').map_or(0, |i| i + 1)];
        joined.path = normal(&if path.starts_with('/') { path } else { format!("{folder}{path}") });
        joined.query = query;
        Ok(joined)
    }

    /// `http` or `https`.
    pub fn scheme(&self) -> &'static str {
        if self.secure { "https" } else { "http" }
    }

    /// Host and port, without a usual port.
    pub fn authority(&self) -> &str {
        &self.authority
    }

    /// The path as it is sent.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// Whether both have the same scheme, host and port.
    pub fn same_site(&self, other: &Self) -> bool {
        (self.secure, &self.authority) == (other.secure, &other.authority)
    }

    /// The same without a query, by which a page is known.
    pub fn without_query(self) -> Self {
        Self { query: None, ..self }
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://{}{}", self.scheme(), self.authority, self.path)?;
        self.query.as_ref().map_or(Ok(()), |q| write!(f, "?{q}"))
    }
}

/// A host with its port, `None` if it has a user's name, no host, or signs that no host has.
fn authority(text: &str, secure: bool) -> Option<String> {
    let text = text.to_ascii_lowercase();
    let port_at = text.rfind(':').filter(|at| !text[*at..].contains(']'));
    let (host, port) = port_at.map_or((text.as_str(), ""), |at| (&text[..at], &text[at + 1..]));
    let is_host = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b'[' | b']' | b':');
    if host.is_empty() || !host.bytes().all(is_host) || !port.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    let usual = if secure { "443" } else { "80" };
    Some(if port.is_empty() || port == usual { host.to_string() } else { format!("{host}:{port}") })
}

/// Splits off the query and drops the fragment; what cannot be sent as it is gets encoded.
fn path_and_query(text: &str) -> (String, Option<String>) {
    let text = text.split('#').next().unwrap_or_default();
    match text.split_once('?') {
        Some((path, query)) => (sendable(path), Some(sendable(query))),
        None => (sendable(text), None),
    }
}

fn sendable(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for b in text.bytes() {
        if b.is_ascii_graphic() && !matches!(b, b'"' | b'<' | b'>' | b'\\' | b'^' | b'`' | b'{' | b'|' | b'}') {
            out.push(char::from(b));
        } else {
            out.push_str(&format!("%{b:02X}"));
        }
    }
    out
}

/// A path without dot segments (RFC 3986, 5.2.4).
fn normal(path: &str) -> String {
    let mut out: Vec<&str> = Vec::new();
    let mut parts = path.strip_prefix('/').unwrap_or(path).split('/').peekable();
    while let Some(part) = parts.next() {
        let last = parts.peek().is_none();
        match part {
            "." | ".." => {
                if part == ".." {
                    out.pop();
                }
                if last {
                    out.push("");
                }
            }
            part => out.push(part),
        }
    }
    format!("/{}", out.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of RFC 3986, 5.4, without those that keep a fragment.
    #[test]
    fn references_are_resolved_by_the_standard() {
        let base = Address::parse("http://a/b/c/d;p?q").expect("parses");
        for (reference, expected) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g/"),
            ("?y", "http://a/b/c/d;p?y"),
            ("g?y", "http://a/b/c/g?y"),
            ("#s", "http://a/b/c/d;p?q"),
            (";x", "http://a/b/c/;x"),
            ("", "http://a/b/c/d;p?q"),
            (".", "http://a/b/c/"),
            ("./", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("/./g", "http://a/g"),
            ("g.", "http://a/b/c/g."),
            ("..g", "http://a/b/c/..g"),
            ("./g/.", "http://a/b/c/g/"),
            ("g;x=1/../y", "http://a/b/c/y"),
            ("HTTPS://Example.ORG:443/x", "https://example.org/x"),
            ("图.html", "http://a/b/c/%E5%9B%BE.html"),
        ] {
            assert_eq!(base.join(reference).expect(reference).to_string(), expected, "{reference}");
        }
        for other in ["mailto:x@e.org", "javascript:alert(1)", "file:///etc/passwd"] {
            assert!(base.join(other).is_err(), "{other}");
        }
    }

    #[test]
    fn addresses_have_one_spelling() {
        for (text, expected) in [
            ("http://E.org:80", "http://e.org/"),
            ("https://e.org:8443/a/../b?x#y", "https://e.org:8443/b?x"),
            ("http://[::1]:8080/", "http://[::1]:8080/"),
        ] {
            assert_eq!(Address::parse(text).expect(text).to_string(), expected);
        }
        for bad in ["e.org", "ftp://e.org", "http://", "http://user@e.org/", "http://e org/", "http://e.org:x/"] {
            assert!(Address::parse(bad).is_err(), "{bad}");
        }
    }
}
