//! What GitHub's interface answers, as far as it is used. Everything may be missing, and nothing in it is trusted.

use serde::Deserialize;
use std::collections::BTreeMap;

/// Longest value that stands on one line, in characters.
const MAX_LINE: usize = 500;
/// Longest name of a repository or an account that GitHub gives.
const MAX_NAME: usize = 100;

/// An account: a person or an organisation.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Profile {
    pub login: Option<String>,
    pub name: Option<String>,
    pub bio: Option<String>,
    /// An organisation's bio.
    pub description: Option<String>,
    pub company: Option<String>,
    pub location: Option<String>,
    pub blog: Option<String>,
    pub html_url: Option<String>,
    pub followers: Option<i64>,
    pub public_repos: Option<i64>,
    pub created_at: Option<String>,
}

/// A repository of a list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Repo {
    pub name: Option<String>,
    pub description: Option<String>,
    pub homepage: Option<String>,
    pub language: Option<String>,
    pub default_branch: Option<String>,
    pub created_at: Option<String>,
    pub pushed_at: Option<String>,
    pub html_url: Option<String>,
    pub topics: Option<Vec<String>>,
    pub license: Option<Licence>,
    pub fork: Option<bool>,
    pub private: Option<bool>,
    pub archived: Option<bool>,
    pub stargazers_count: Option<i64>,
    pub forks_count: Option<i64>,
}

/// The licence that GitHub found.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Licence {
    pub spdx_id: Option<String>,
}

/// Bytes by programming language.
pub type Languages = BTreeMap<String, u64>;

/// A file, or one of a folder's list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Content {
    pub name: Option<String>,
    #[serde(rename = "type")]
    pub kind: Option<String>,
    pub size: Option<u64>,
    pub html_url: Option<String>,
    pub encoding: Option<String>,
    pub content: Option<String>,
}

/// A commit of a list.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Commit {
    pub sha: Option<String>,
    pub commit: Option<CommitBody>,
    pub author: Option<Account>,
    pub parents: Option<Vec<serde::de::IgnoredAny>>,
}

/// What git itself has of a commit.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct CommitBody {
    pub message: Option<String>,
    pub author: Option<Signature>,
}

/// Who and when.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Signature {
    pub name: Option<String>,
    pub email: Option<String>,
    pub date: Option<String>,
}

/// An account that wrote a commit.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default)]
pub struct Account {
    pub login: Option<String>,
    #[serde(rename = "type")]
    pub kind: Option<String>,
}

impl Content {
    /// The bytes of the file, if they came along.
    pub fn bytes(&self) -> Option<Vec<u8>> {
        let text = self.content.as_deref()?;
        match self.encoding.as_deref() {
            Some("base64") => from_base64(text),
            Some("utf-8") | None => Some(text.as_bytes().to_vec()),
            // GitHub gives `none` for files over 1 MB.
            _ => None,
        }
    }
}

/// A value on one line: without control characters, nothing if it is blank.
pub fn line(text: Option<&str>) -> Option<String> {
    let mut out = String::new();
    for word in text?.split(|c: char| c.is_whitespace() || c.is_control()).filter(|w| !w.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        // Marks that turn the writing direction of what follows would reach beyond the value.
        out.extend(
            word.chars()
                .filter(|c| !matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')),
        );
    }
    if out.chars().count() > MAX_LINE {
        out = out.chars().take(MAX_LINE).chain(['…']).collect();
    }
    (!out.is_empty()).then_some(out)
}

/// Whether GitHub gives such names to repositories and accounts. Others would lead elsewhere in an address or a path.
pub fn is_name(name: &str) -> bool {
    let fine = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.');
    (1..=MAX_NAME).contains(&name.len()) && name.bytes().all(fine) && name.bytes().any(|b| b != b'.')
}

/// Decodes base64 with line breaks; `None` for anything else.
fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut held) = (0_u32, 0_u32);
    let mut ended = false;
    for b in text.bytes().filter(|b| !b.is_ascii_whitespace()) {
        let value = match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            b'=' => {
                ended = true;
                continue;
            }
            _ => return None,
        };
        if ended {
            return None;
        }
        bits = (bits << 6) | u32::from(value);
        held += 6;
        if held >= 8 {
            held -= 8;
            out.push((bits >> held) as u8);
            bits &= (1 << held) - 1;
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_with_line_breaks_is_read() {
        for (coded, plain) in
            [("", Some("")), ("Zg==", Some("f")), ("Zm9v\nYmFy\n", Some("foobar")), ("Zm9*", None), ("Zg==Zg", None)]
        {
            assert_eq!(from_base64(coded).as_deref(), plain.map(str::as_bytes), "{coded}");
        }
        let none = Content { encoding: Some("none".into()), content: Some(String::new()), ..Content::default() };
        assert_eq!(none.bytes(), None);
    }

    #[test]
    fn values_are_one_line_and_names_are_names() {
        assert_eq!(line(Some(" a\n\u{7}b\u{202e}\tc ")), Some("a b c".into()));
        assert_eq!(line(Some("\n ")), None);
        assert_eq!(line(Some(&"x".repeat(600))).map(|l| l.chars().count()), Some(501));
        for (name, is) in [
            ("kb-builder", true),
            (".github", true),
            ("a_b.c", true),
            ("", false),
            ("..", false),
            ("a/b", false),
            ("a b", false),
            ("a\n", false),
            ("图", false),
        ] {
            assert_eq!(is_name(name), is, "{name}");
        }
        assert!(!is_name(&"x".repeat(101)));
    }

    #[test]
    fn answers_may_lack_everything() {
        let repo: Repo =
            serde_json::from_str(r#"{"name":"a","license":null,"topics":null,"unknown":[1]}"#).expect("reads");
        assert_eq!((repo.name.as_deref(), repo.topics), (Some("a"), None));
        let commit: Commit = serde_json::from_str(r#"{"author":null,"parents":[{},{}]}"#).expect("reads");
        assert_eq!(commit.parents.map(|p| p.len()), Some(2));
    }
}
