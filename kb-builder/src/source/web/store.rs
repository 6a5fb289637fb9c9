//! What was fetched, kept in the user's cache folder: the next run only asks what has changed, and a run
//! that was interrupted goes on where it stopped.

use super::super::fetch::{Fetched, Validators};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// A folder of answers, by address.
pub struct Store {
    folder: PathBuf,
}

/// What is kept beside a body.
#[derive(serde::Serialize, serde::Deserialize)]
struct Head {
    /// The address that was asked for, against files that were mixed up.
    asked: String,
    url: String,
    content_type: String,
    #[serde(default)]
    link: Option<String>,
    validators: Validators,
    /// SHA-256 of the body in hex.
    sha256: String,
}

impl Store {
    /// The answers below `folder`, which is made when something is kept.
    pub fn at(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf() }
    }

    /// The answer that was kept for an address. A damaged one is none.
    pub fn get(&self, asked: &str) -> Option<Fetched> {
        let (head, body) = self.paths(asked);
        let head: Head = serde_json::from_slice(&std::fs::read(head).ok()?).ok()?;
        let body = std::fs::read(body).ok()?;
        (head.asked == asked && head.sha256 == hex(&body)).then_some(Fetched {
            url: head.url,
            unchanged: false,
            content_type: head.content_type,
            link: head.link,
            validators: head.validators,
            body,
        })
    }

    /// Keeps an answer. A cache that cannot be written only costs time, so that nothing is reported.
    pub fn keep(&self, asked: &str, fetched: &Fetched) {
        let (head_path, body_path) = self.paths(asked);
        let head = Head {
            asked: asked.to_string(),
            url: fetched.url.clone(),
            content_type: fetched.content_type.clone(),
            link: fetched.link.clone(),
            validators: fetched.validators.clone(),
            sha256: hex(&fetched.body),
        };
        let Ok(json) = serde_json::to_vec(&head) else { return };
        let _ = std::fs::create_dir_all(&self.folder)
            .and_then(|()| std::fs::write(body_path, &fetched.body))
            .and_then(|()| std::fs::write(head_path, json));
    }

    fn paths(&self, asked: &str) -> (PathBuf, PathBuf) {
        let name = &hex(asked.as_bytes())[..32];
        (self.folder.join(format!("{name}.json")), self.folder.join(format!("{name}.body")))
    }
}

fn hex(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_come_back_and_damaged_ones_do_not() {
        let dir = tempfile::tempdir().expect("dir");
        let store = Store::at(&dir.path().join("web"));
        let fetched = Fetched {
            url: "https://e.org/b".into(),
            unchanged: false,
            content_type: "text/html".into(),
            link: Some("<https://e.org/a?page=2>; rel=\"next\"".into()),
            validators: Validators { etag: Some("\"1\"".into()), modified: None },
            body: b"text".to_vec(),
        };
        assert_eq!(store.get("https://e.org/a"), None);
        store.keep("https://e.org/a", &fetched);
        assert_eq!(store.get("https://e.org/a"), Some(fetched));
        let (_, body) = store.paths("https://e.org/a");
        std::fs::write(body, "other").expect("writes");
        assert_eq!(store.get("https://e.org/a"), None);
    }
}
