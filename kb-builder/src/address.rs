//! Addresses that an author gives and that become links: checked when they are given, not when a reader clicks.

use crate::error::{Error, Result};

/// That `address`, given as `what`, is the http or https address of a site.
///
/// # Errors
/// [`Error::Usage`] for anything else.
pub fn absolute(what: &str, address: &str) -> Result<()> {
    if on_web(address) && is_folder(address) {
        return Ok(());
    }
    Err(Error::usage(
        format!("{what} `{address}` is no address of a site"),
        "write it out, as in https://me.github.io/kb/",
    ))
}

/// Whether an address is http or https, with a host.
fn on_web(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    let host = lower.strip_prefix("https://").or_else(|| lower.strip_prefix("http://"));
    host.is_some_and(|rest| rest.starts_with(|c: char| c.is_alphanumeric() || c == '[')) && plain(address)
}

/// Whether something can be put behind it.
fn is_folder(address: &str) -> bool {
    !address.contains(['?', '#'])
}

/// That `address` is absolute, or relative to the page that it stands on.
///
/// # Errors
/// [`Error::Usage`] for an address that a browser would run or open elsewhere.
pub fn absolute_or_relative(what: &str, address: &str) -> Result<()> {
    if address.starts_with("//") || scheme(address).is_some() {
        return absolute(what, address);
    }
    if looks_like_host(address) {
        return Err(Error::usage(
            format!("{what} `{address}` is a folder beside the page, but looks like an address"),
            format!("write https://{address} for a published site, ./{address} for a folder"),
        ));
    }
    if plain(address) && !address.is_empty() && is_folder(address) {
        return Ok(());
    }
    Err(Error::usage(format!("{what} `{address}` is no address"), "write it out, as in https://me.github.io/kb/"))
}

/// That `pattern` is an address with no other placeholders than `{path}` and `{stem}`.
///
/// # Errors
/// [`Error::Usage`], which says what is wrong.
pub fn pattern(what: &str, pattern: &str) -> Result<()> {
    let rest = pattern.replace("{path}", "x").replace("{stem}", "x");
    if rest.contains(['{', '}']) {
        return Err(Error::usage(
            format!("{what} `{pattern}` has a placeholder that is not known"),
            "{path} stands for a document's path, {stem} for the path without its suffix",
        ));
    }
    let rooted =
        ["https://", "http://", "/", "./", "../"].iter().any(|start| rest.to_ascii_lowercase().starts_with(start));
    let is_address = if rest.starts_with("//") || scheme(&rest).is_some() { on_web(&rest) } else { plain(&rest) };
    (is_address && rooted).then_some(()).ok_or_else(|| {
        Error::usage(
            format!("{what} `{pattern}` is no address"),
            "it begins with https:// or http://, or with / for a place on the same host",
        )
    })
}

/// Whether a relative address begins like one whose `https://` was left out: with names joined by dots, the last of them
/// letters.
fn looks_like_host(address: &str) -> bool {
    let first = address.split('/').next().unwrap_or_default();
    let mut names = first.rsplit('.');
    let last = names.next().unwrap_or_default();
    let is_domain = last.len() >= 2 && last.chars().all(|c| c.is_ascii_alphabetic());
    let named = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '-');
    let mut others = names.peekable();
    is_domain && others.peek().is_some() && others.all(named)
}

/// What stands before the first colon, if that is a scheme and no part of a path.
fn scheme(address: &str) -> Option<&str> {
    let (scheme, _) = address.split_once(':')?;
    let is = !scheme.contains(['/', '?', '#']);
    is.then_some(scheme)
}

/// Neither white space nor what would end an attribute.
fn plain(address: &str) -> bool {
    !address.contains(|c: char| c.is_whitespace() || c.is_control() || matches!(c, '"' | '<' | '>' | '\\'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_addresses_of_the_web_become_links() {
        for good in ["https://e.org", "http://localhost:8000/kb/", "HTTPS://E.org/a", "https://[::1]/"] {
            absolute("--site-url", good).expect(good);
        }
        for bad in [
            "",
            "nope",
            "javascript:alert(1)",
            "https://",
            "ftp://e.org/",
            "https:// e.org",
            "https://e.org/\"x",
            "https://e.org/?a#b",
        ] {
            assert_eq!(absolute("--site-url", bad).expect_err(bad).exit_status(), 2);
        }
    }

    #[test]
    fn an_element_may_name_a_folder_beside_its_page() {
        for good in ["kb/", "../kb/", "/kb/", "https://e.org/kb/"] {
            absolute_or_relative("--src", good).expect(good);
        }
        for folder in ["site", "v1.2/kb", "./me.github.io/kb", "../a.b", "..", "/e.org/kb", "kb_1.0.x/"] {
            absolute_or_relative("--src", folder).expect(folder);
        }
        for host in ["me.github.io/kb", "e.org", "e.org/", "www.my-course.example/a/b"] {
            let said = absolute_or_relative("--src", host).expect_err(host);
            assert!(said.hint().is_some_and(|h| h.contains(&format!("https://{host} "))), "{said}");
        }
        for bad in ["", "javascript:alert(1)", "data:text/html,x", "//", "a b", "kb/?x", "https://e.org/#x"] {
            absolute_or_relative("--src", bad).expect_err(bad);
        }
    }

    #[test]
    fn placeholders_are_known_ones() {
        for good in ["https://e.org/{stem}.html", "https://e.org/", "/docs/{path}", "https://e.org/v?f={path}"] {
            pattern("--url-base", good).expect(good);
        }
        for bad in ["https://e.org/{name}.html", "https://e.org/{stem", "javascript:{stem}", "{stem}:x", "nope"] {
            pattern("--url-base", bad).expect_err(bad);
        }
    }
}
