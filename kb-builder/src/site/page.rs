//! The page's own files, filled in for one knowledge base: title, description, lists of documents, service worker.
//! All of it follows from the bundle, so the same bundle gives the same page.

use super::listing::{Listing, escape};
use super::{BUNDLE_DIR, assets, original_path};
use crate::error::Result;
use crate::source::encode_path;
use kb_core::bundle::{MANIFEST_FILE, Manifest, SealedBundle, SectionKind, SectionRef, sha256_hex};
use kb_core::document::Document;
use std::fmt::Write;

/// What the page says of the knowledge base before any script runs.
#[derive(Debug, Clone)]
pub struct Page {
    /// Title of the knowledge base.
    pub title: String,
    /// Main language as a code; empty if unknown.
    pub language: String,
    /// Id of the bundle.
    pub id: String,
    /// Where the site is going to be published, with a slash at the end, if the author says so.
    pub site_url: Option<String>,
    /// Whether it is searched by meaning too.
    pub meaning: bool,
    /// Files of the site that the first search needs, in the order of their weight for it; empty where nothing is fetched.
    pub early: Vec<String>,
    /// Every document, in the order of the bundle.
    pub documents: Vec<PageDocument>,
}

/// A document in the lists.
#[derive(Debug, Clone)]
pub struct PageDocument {
    /// Name of its collection.
    pub collection: String,
    /// Path in the collection.
    pub path: String,
    /// Title.
    pub title: String,
    /// Language code.
    pub lang: &'static str,
    /// Where it is published.
    pub url: Option<String>,
    /// The copy in the site, percent-encoded.
    pub file: Option<String>,
}

impl Page {
    /// The page of a bundle. `originals` says whether the site has copies of the documents.
    pub fn new(bundle: &SealedBundle, documents: &[Document], originals: bool, site_url: Option<&str>) -> Result<Self> {
        let manifest = Manifest::from_json(&bundle.manifest_json)?;
        let documents = documents.iter().map(|document| PageDocument {
            collection: document.collection.clone(),
            path: document.path.clone(),
            title: document.title.clone(),
            lang: document.lang.code(),
            url: document.url.clone(),
            file: originals.then(|| encode_path(&original_path(&document.collection, &document.path))),
        });
        Ok(Self {
            title: manifest.title,
            language: manifest.language,
            id: manifest.id,
            site_url: site_url.map(|url| format!("{}/", url.trim_end_matches('/'))),
            meaning: manifest.model.is_some(),
            early: early(&manifest.sections),
            documents: documents.collect(),
        })
    }

    /// All files of the page by their paths in the site.
    pub fn files(&self) -> Vec<(String, Vec<u8>)> {
        let mut files: Vec<(String, Vec<u8>)> = Vec::new();
        for (path, bytes) in assets::FILES {
            if *path == FIRST_SCRIPT {
                continue;
            }
            let bytes = match *path {
                "index.html" => with_first_script(&self.index(&String::from_utf8_lossy(bytes))).into_bytes(),
                _ => bytes.to_vec(),
            };
            files.push((path.to_string(), bytes));
        }
        files.push(("manifest.webmanifest".into(), self.web_manifest()));
        let listing = Listing::new(self);
        files.push(("documents.html".into(), listing.html().into_bytes()));
        files.push(("llms.txt".into(), listing.llms().into_bytes()));
        files.push(("catalog.json".into(), listing.catalog()));
        if let Some(at) = files.iter().position(|(path, _)| path == "sw.js") {
            let (path, template) = files.swap_remove(at);
            let worker = service_worker(&String::from_utf8_lossy(&template), &files);
            files.push((path, worker.into_bytes()));
        }
        files.sort();
        files
    }

    /// `index.html` with what is known of the knowledge base.
    pub fn index(&self, template: &str) -> String {
        let title = escape(&self.title);
        let html_lang = if self.language.is_empty() { "en" } else { &self.language };
        template
            .replacen("<html lang=\"en\">", &format!("<html lang=\"{}\">", escape(html_lang)), 1)
            .replacen("<title>Knowledge base</title>", &format!("<title>{title}</title>"), 1)
            .replace("data-title>Knowledge base<", &format!("data-title>{title}<"))
            .replacen("<!-- kb:meta -->", &self.meta(), 1)
            .replacen("<!-- kb:documents -->", &Listing::new(self).noscript(), 1)
    }

    /// One sentence on what can be searched here, in the main language.
    pub fn description(&self) -> String {
        let n = self.documents.len();
        if self.language == "zh" {
            let how = if self.meaning { "按词语和语义" } else { "按词语" };
            format!("{}：{n} 篇文档，可以在浏览器里{how}搜索。", self.title)
        } else {
            let how = if self.meaning { "by words and by meaning" } else { "by words" };
            let noun = if n == 1 { "document" } else { "documents" };
            format!("{}: {n} {noun}, searched in the browser {how}.", self.title)
        }
    }

    /// Description, Open Graph and, where the address is known, what needs an absolute one.
    fn meta(&self) -> String {
        let (title, description) = (escape(&self.title), escape(&self.description()));
        let mut out = format!(
            "<meta name=\"application-name\" content=\"{title}\">\n\
             <meta name=\"description\" content=\"{description}\">\n\
             <meta property=\"og:type\" content=\"website\">\n\
             <meta property=\"og:title\" content=\"{title}\">\n\
             <meta property=\"og:description\" content=\"{description}\">"
        );
        if !self.early.is_empty() {
            let _ = write!(out, "\n<meta name=\"kb-early\" content=\"{}\">", escape(&self.early.join(" ")));
        }
        if let Some(url) = &self.site_url {
            let url = escape(url);
            let _ = write!(
                out,
                "\n<link rel=\"canonical\" href=\"{url}\">\n<meta property=\"og:url\" content=\"{url}\">\n\
                 <meta property=\"og:image\" content=\"{url}assets/icons/icon-512.png\">"
            );
        }
        out
    }

    /// What a browser needs to install the page.
    fn web_manifest(&self) -> Vec<u8> {
        let icon = |file: &str, sizes: &str, kind: &str, purpose: &str| serde_json::json!({ "src": format!("assets/{file}"), "sizes": sizes, "type": kind, "purpose": purpose });
        let manifest = serde_json::json!({
            "name": self.title,
            "short_name": self.title.chars().take(24).collect::<String>(),
            "description": self.description(),
            "lang": self.language,
            "id": "./",
            "start_url": "./",
            "scope": "./",
            "display": "standalone",
            "background_color": "#faf8f4",
            "theme_color": "#faf8f4",
            "icons": [
                icon("icons/icon-192.png", "192x192", "image/png", "any"),
                icon("icons/icon-512.png", "512x512", "image/png", "any"),
                icon("icons/icon-512.png", "512x512", "image/png", "maskable"),
                icon("icon.svg", "any", "image/svg+xml", "any"),
            ],
        });
        manifest.to_string().into_bytes()
    }
}

/// What runs before anything else. It stands in the page itself: a file of its own would cost a journey to the server
/// before anything else is asked for.
const FIRST_SCRIPT: &str = "assets/theme.js";

/// The page with that script inside it, and its hash in the policy, so that no other script may stand there.
fn with_first_script(page: &str) -> String {
    let found = assets::FILES.iter().find(|(path, _)| *path == FIRST_SCRIPT);
    let script = found.map(|(_, bytes)| String::from_utf8_lossy(bytes).trim_end().to_owned()).unwrap_or_default();
    let allowed = format!("script-src 'self' {}", crate::handout::policy_hash(&script));
    page.replacen("script-src 'self'", &allowed, 1).replacen(
        &format!("<script src=\"{FIRST_SCRIPT}\"></script>"),
        &format!("<script>{script}</script>"),
        1,
    )
}

/// An index beyond this size is not asked for before the page can show how much of it has come. Bytes.
const MAX_EARLY_BYTES: u64 = 1_500_000;

/// What the first search needs beside the page's scripts.
fn early(sections: &[SectionRef]) -> Vec<String> {
    let mut files = vec![format!("{BUNDLE_DIR}/{MANIFEST_FILE}"), "assets/runtime/kb_search_bg.wasm".to_string()];
    let needed = || {
        let kinds = [SectionKind::Lexical, SectionKind::Docs, SectionKind::Chunks];
        kinds.into_iter().filter_map(|kind| sections.iter().find(|section| section.kind == kind))
    };
    if needed().map(|section| section.bytes).sum::<u64>() <= MAX_EARLY_BYTES {
        files.extend(needed().map(|section| format!("{BUNDLE_DIR}/{}", section.file)));
    }
    files
}

/// The service worker with its version and the files that it keeps.
fn service_worker(template: &str, files: &[(String, Vec<u8>)]) -> String {
    // What only other pages, hosts and programs fetch is not part of the page.
    let elsewhere = |path: &str| {
        path.starts_with("assets/embed/")
            || path.starts_with("assets/icons/")
            || path == "assets/styles/embed.css"
            || path.ends_with(".d.ts")
            || ["404.html", "documents.html", "llms.txt", "catalog.json", "assets/kb-embed.js"].contains(&path)
    };
    let mut kept: Vec<(&str, &[u8])> = files
        .iter()
        .filter(|(path, _)| !elsewhere(path))
        .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
        .collect();
    kept.sort();
    let mut content = String::new();
    let mut list = String::from("[\n");
    for (path, bytes) in kept {
        let _ = writeln!(content, "{path} {}", sha256_hex(bytes));
        let _ = writeln!(list, "  [{path:?}, {}],", bytes.len());
    }
    list.push(']');
    // A new version begins with any change of the page or of this file.
    let version = &sha256_hex(format!("{content}{template}").as_bytes())[..16];
    template.replacen("const VERSION = 'development';", &format!("const VERSION = '{version}';"), 1).replacen(
        "const FILES = [];",
        &format!("const FILES = {list};"),
        1,
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(title: &str) -> Page {
        let document = |path: &str, title: &str| PageDocument {
            collection: "notes".into(),
            path: path.into(),
            title: title.into(),
            lang: "en",
            url: None,
            file: Some(format!("files/notes/{path}")),
        };
        Page {
            early: Vec::new(),
            title: title.into(),
            language: "en".into(),
            id: "0123456789abcdef".into(),
            site_url: None,
            meaning: true,
            documents: vec![document("a.md", "A <b>bold</b> title"), document("b.md", "B & \"C\"")],
        }
    }

    fn file(page: &Page, name: &str) -> String {
        let files = page.files();
        let (_, bytes) = files.iter().find(|(path, _)| path == name).unwrap_or_else(|| panic!("no {name}"));
        String::from_utf8(bytes.clone()).expect("UTF-8")
    }

    #[test]
    fn nothing_of_a_title_becomes_markup() {
        let page = page("</title><script>alert(1)</script>");
        for name in ["index.html", "documents.html"] {
            let html = file(&page, name);
            assert!(!html.contains("<script>alert"), "{name}");
            assert!(!html.contains("<b>bold"), "{name}");
            assert!(html.contains("A &lt;b&gt;bold&lt;/b&gt; title"), "{name}");
            assert!(html.contains("B &amp; &quot;C&quot;"), "{name}");
        }
        let manifest: serde_json::Value = serde_json::from_str(&file(&page, "manifest.webmanifest")).expect("JSON");
        assert_eq!(manifest["name"], "</title><script>alert(1)</script>");
        assert_eq!(manifest["start_url"], "./");
    }

    #[test]
    fn no_placeholder_is_left_and_absolute_addresses_only_where_one_is_known() {
        let mut page = page("Notes");
        let html = file(&page, "index.html");
        assert!(!html.contains("<!-- kb:") && html.contains("<title>Notes</title>"), "{html}");
        assert!(!html.contains("og:url") && !html.contains("https://"));
        page.site_url = Some("https://example.org/kb/".into());
        let html = file(&page, "index.html");
        assert!(html.contains("<link rel=\"canonical\" href=\"https://example.org/kb/\">"));
        assert!(html.contains("content=\"https://example.org/kb/assets/icons/icon-512.png\""));
    }

    #[test]
    fn the_policy_allows_the_one_script_that_stands_in_the_page() {
        use sha2::{Digest, Sha256};
        let html = file(&page("Notes"), "index.html");
        let (_, rest) = html.split_once("<script>").expect("it stands there");
        let (script, rest) = rest.split_once("</script>").expect("it ends");
        assert!(script.contains("kb-early") && !rest.contains("<script>") && !rest.contains("theme.js"), "{html}");
        // As the specification says it: base64 of the SHA-256 of what stands between the tags.
        let hash = crate::handout::base64(&Sha256::digest(script.as_bytes()));
        assert!(html.contains(&format!("script-src 'self' 'sha256-{hash}' 'wasm-unsafe-eval'")), "{html}");
        assert!(!html.contains("unsafe-inline"));
    }

    #[test]
    fn the_service_worker_names_the_files_of_the_page_and_its_version_follows_them() {
        let one = file(&page("Notes"), "sw.js");
        assert_eq!(one, file(&page("Notes"), "sw.js"));
        assert!(!one.contains("'development'") && one.contains("[\"index.html\", "));
        assert!(one.contains("[\"assets/app.js\", ") && !one.contains("[\"sw.js\"") && !one.contains("embed"));
        let version = |text: &str| text.lines().find(|l| l.starts_with("const VERSION")).map(str::to_string);
        assert_ne!(version(&one), version(&file(&page("Other notes"), "sw.js")));
    }
}
