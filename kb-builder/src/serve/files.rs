//! From the path of a request to the file of a site.

use super::reload;
use crate::error::{Error, Result};
use crate::source::encode_path;
use hyper::StatusCode;
use percent_encoding::percent_decode_str;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// What is sent back.
pub struct Reply {
    pub status: StatusCode,
    pub headers: Vec<(&'static str, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    /// A plain page that says the status.
    pub fn error(status: StatusCode) -> Self {
        let reason = status.canonical_reason().unwrap_or("Error");
        Self {
            status,
            headers: vec![("content-type", "text/plain; charset=utf-8".into())],
            body: format!("{} {reason}\n", status.as_u16()).into_bytes(),
        }
    }

    fn redirect(to: String) -> Self {
        Self { status: StatusCode::TEMPORARY_REDIRECT, headers: vec![("location", to)], body: Vec::new() }
    }
}

/// What is sent as `sw.js`: a service worker that takes itself away. One that a site had left under the same
/// address, by another server on this port, would otherwise go on showing that site.
const NO_WORKER: &str = "\
// `kb-builder serve` shows a site as it is on the disk: nothing is kept for times without a network.
self.addEventListener('install', () => self.skipWaiting());
self.addEventListener('activate', (event) => event.waitUntil(self.registration.unregister()));
";

/// A folder that is served.
pub struct StaticSite {
    /// Canonical.
    root: PathBuf,
    /// Begins and ends with a slash.
    base: String,
    /// Whether the page reloads itself when the site was built anew.
    reloads: bool,
}

impl StaticSite {
    /// Serves `root` under `base`, which begins and ends with a slash.
    pub fn new(root: &Path, base: &str) -> Result<Self> {
        let root = root.canonicalize().map_err(|e| Error::io("read", root, e))?;
        Ok(Self { root, base: base.to_string(), reloads: false })
    }

    /// The same, with a page that reloads itself when the site was built anew.
    pub fn reloading(self) -> Self {
        Self { reloads: true, ..self }
    }

    /// Answers a GET for `path`, as it stands in the request. `known` is the tag of the copy that the
    /// browser has.
    pub fn reply(&self, path: &str, known: Option<&str>) -> Reply {
        let Ok(path) = percent_decode_str(path).decode_utf8() else {
            return Reply::error(StatusCode::BAD_REQUEST);
        };
        let Some(inside) = path.strip_prefix(self.base.as_str()) else {
            // The way to the site from the bare address, or from the base without its slash.
            let leads_here = path == "/" || self.base.strip_suffix('/') == Some(&path);
            return if leads_here {
                Reply::redirect(encode_path(&self.base))
            } else {
                Reply::error(StatusCode::NOT_FOUND)
            };
        };
        if inside == "sw.js" {
            let headers =
                vec![("content-type", "text/javascript; charset=utf-8".into()), ("cache-control", "no-store".into())];
            return Reply { status: StatusCode::OK, headers, body: NO_WORKER.into() };
        }
        if let Some(name) = inside.strip_prefix(reload::FOLDER).filter(|_| self.reloads) {
            return self.about_reloading(name);
        }
        let Some(file) = self.file(inside) else { return Reply::error(StatusCode::NOT_FOUND) };
        if file.is_dir() {
            if !inside.is_empty() && !inside.ends_with('/') {
                return Reply::redirect(encode_path(&format!("{path}/")));
            }
            return self.send(&file.join("index.html"), known);
        }
        self.send(&file, known)
    }

    /// The script that reloads the page, and what it asks for.
    fn about_reloading(&self, name: &str) -> Reply {
        let (kind, body) = match name {
            "script.js" => ("text/javascript; charset=utf-8", Some(reload::SCRIPT.to_string())),
            "version" => ("text/plain; charset=utf-8", reload::version(&self.root)),
            _ => return Reply::error(StatusCode::NOT_FOUND),
        };
        let Some(body) = body else { return Reply::error(StatusCode::SERVICE_UNAVAILABLE) };
        let headers = vec![("content-type", kind.to_string()), ("cache-control", "no-store".into())];
        Reply { status: StatusCode::OK, headers, body: body.into_bytes() }
    }

    /// The file or folder for a path below the base, if it is inside the site.
    fn file(&self, inside: &str) -> Option<PathBuf> {
        let mut file = self.root.clone();
        for part in inside.split('/').filter(|p| !p.is_empty()) {
            // No way up, no hidden files, and nothing that another system reads as a separator or drive.
            if part.starts_with('.') || part.contains(['\\', ':', '\0']) {
                return None;
            }
            file.push(part);
        }
        // A link in the site must not lead out of it.
        file.canonicalize().ok().filter(|f| f.starts_with(&self.root))
    }

    fn send(&self, file: &Path, known: Option<&str>) -> Reply {
        let Ok(meta) = fs::metadata(file) else { return Reply::error(StatusCode::NOT_FOUND) };
        let modified = meta.modified().ok().and_then(|m| m.duration_since(UNIX_EPOCH).ok()).map_or(0, |d| d.as_nanos());
        // Asked for before the page is read, so that a build between the two is noticed.
        let is_page = self.reloads && file == self.root.join("index.html");
        let version = if is_page { reload::version(&self.root) } else { None };
        // The page with the script is another one than without, and the script belongs to one build.
        let tag = format!("\"{:x}-{modified:x}{}\"", meta.len(), version.as_deref().unwrap_or_default());
        // A rebuilt site must show at once; the tag saves sending what has not changed.
        let mut headers = vec![("cache-control", "no-cache".to_string()), ("etag", tag.clone())];
        if known == Some(tag.as_str()) {
            return Reply { status: StatusCode::NOT_MODIFIED, headers, body: Vec::new() };
        }
        match fs::read(file) {
            Ok(body) => {
                let body = match version {
                    Some(version) => reload::inject(body, &encode_path(&self.base), &version),
                    None => body,
                };
                headers.push(("content-type", mime(file).to_string()));
                // The page sees by this that it is only being looked at, and registers no service worker.
                headers.push(("server-timing", "kb-preview".into()));
                Reply { status: StatusCode::OK, headers, body }
            }
            Err(_) => Reply::error(StatusCode::NOT_FOUND),
        }
    }
}

/// The media type by suffix. Documents in text forms are shown as text.
fn mime(file: &Path) -> &'static str {
    let suffix = file.extension().and_then(|e| e.to_str()).unwrap_or_default().to_ascii_lowercase();
    match suffix.as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "webmanifest" => "application/manifest+json",
        "wasm" => "application/wasm",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "ico" => "image/x-icon",
        "pdf" => "application/pdf",
        "md" | "markdown" | "mdown" | "mkd" | "txt" | "text" | "rst" | "rest" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(base: &str) -> (tempfile::TempDir, StaticSite) {
        let dir = tempfile::tempdir().expect("dir");
        let root = dir.path().join("site");
        fs::create_dir_all(root.join("kb/图")).expect("mkdir");
        fs::write(root.join("index.html"), "page").expect("write");
        fs::write(root.join("kb/a b.wasm"), "wasm").expect("write");
        fs::write(root.join("kb/图/最短路.md"), "text").expect("write");
        fs::write(root.join(".hidden"), "x").expect("write");
        fs::write(dir.path().join("secret"), "secret").expect("write");
        let site = StaticSite::new(&root, base).expect("opens");
        (dir, site)
    }

    fn header<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
        reply.headers.iter().find(|(n, _)| *n == name).map(|(_, v)| v.as_str())
    }

    #[test]
    fn files_have_their_types_and_are_validated_again() {
        let (_dir, site) = site("/course/kb/");
        let reply = site.reply("/course/kb/", None);
        assert_eq!((reply.status, &reply.body[..]), (StatusCode::OK, &b"page"[..]));
        assert_eq!(header(&reply, "content-type"), Some("text/html; charset=utf-8"));
        let reply = site.reply("/course/kb/kb/a%20b.wasm", None);
        assert_eq!(header(&reply, "content-type"), Some("application/wasm"));
        assert_eq!(header(&reply, "cache-control"), Some("no-cache"));
        let again = site.reply("/course/kb/kb/a%20b.wasm", header(&reply, "etag"));
        assert_eq!((again.status, again.body.len()), (StatusCode::NOT_MODIFIED, 0));
        let reply = site.reply("/course/kb/kb/%E5%9B%BE/%E6%9C%80%E7%9F%AD%E8%B7%AF.md", None);
        assert_eq!((reply.status, header(&reply, "content-type")), (StatusCode::OK, Some("text/plain; charset=utf-8")));
    }

    #[test]
    fn ways_to_the_site_are_redirected_and_others_are_not_there() {
        let (_dir, site) = site("/course/kb/");
        for path in ["/", "/course/kb"] {
            let reply = site.reply(path, None);
            assert_eq!(
                (reply.status, header(&reply, "location")),
                (StatusCode::TEMPORARY_REDIRECT, Some("/course/kb/")),
                "{path}"
            );
        }
        let reply = site.reply("/course/kb/kb", None);
        assert_eq!(header(&reply, "location"), Some("/course/kb/kb/"));
        for path in ["/course", "/index.html", "/course/kb/nope", "/course/kbx/index.html"] {
            assert_eq!(site.reply(path, None).status, StatusCode::NOT_FOUND, "{path}");
        }
    }

    #[test]
    fn a_site_is_looked_at_without_its_service_worker() {
        let (dir, site) = site("/kb/");
        fs::write(dir.path().join("site/sw.js"), "the site's own").expect("write");
        let reply = site.reply("/kb/sw.js", None);
        assert_eq!(reply.status, StatusCode::OK);
        let text = String::from_utf8(reply.body).expect("UTF-8");
        assert!(text.contains("registration.unregister()") && !text.contains("own"), "{text}");
        assert_eq!(header(&site.reply("/kb/", None), "server-timing"), Some("kb-preview"));
    }

    #[test]
    fn only_a_site_that_is_to_reload_has_the_script() {
        let (dir, site) = site("/kb/");
        fs::write(dir.path().join("site/kb/manifest.json"), "{}").expect("write");
        let plain = site.reply("/kb/", None);
        assert_eq!(
            (&plain.body[..], site.reply("/kb/.reload/version", None).status),
            (&b"page"[..], StatusCode::NOT_FOUND)
        );
        let site = site.reloading();
        let page = site.reply("/kb/", header(&plain, "etag"));
        let text = String::from_utf8(page.body.clone()).expect("UTF-8");
        let version = String::from_utf8(site.reply("/kb/.reload/version", None).body).expect("UTF-8");
        assert!(
            page.status == StatusCode::OK && text.starts_with("page<script src=\"/kb/.reload/script.js\""),
            "{text}"
        );
        assert!(!version.is_empty() && text.contains(&version));
        assert_eq!(site.reply("/kb/index.html", header(&page, "etag")).status, StatusCode::NOT_MODIFIED);
        assert_eq!(
            header(&site.reply("/kb/.reload/script.js", None), "content-type"),
            Some("text/javascript; charset=utf-8")
        );
        fs::remove_file(dir.path().join("site/kb/manifest.json")).expect("remove");
        assert_eq!(site.reply("/kb/.reload/version", None).status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(site.reply("/kb/.reload/other", None).status, StatusCode::NOT_FOUND);
    }

    #[test]
    fn nothing_outside_the_site_is_sent() {
        let (dir, site) = site("/");
        #[cfg(unix)]
        std::os::unix::fs::symlink(dir.path().join("secret"), dir.path().join("site/link")).expect("link");
        for path in [
            "/../secret",
            "/%2e%2e/secret",
            "/kb/../../secret",
            "/..%2fsecret",
            "/..%5csecret",
            "/link",
            "/.hidden",
            "/kb%00",
            "//etc/passwd",
            "/C:/x",
        ] {
            let reply = site.reply(path, None);
            assert_eq!(reply.status, StatusCode::NOT_FOUND, "{path}");
        }
        assert_eq!(site.reply("/%ff", None).status, StatusCode::BAD_REQUEST);
        drop(dir);
    }
}
