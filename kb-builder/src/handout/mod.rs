//! A knowledge base inside one HTML file: a page of its own that opens from the disk, or part of a teacher's page.

mod attach;
mod blocks;
mod modules;

use crate::base;
use crate::error::{Error, Result};
use crate::model::{FILES as MODEL_FILES, ModelFolder};
use crate::site::{BUNDLE_DIR, MODEL_DIR, PAGE_FILES, Page, escape};
use kb_core::bundle::{MANIFEST_FILE, Manifest, SectionKind};
use std::path::Path;

pub use attach::{Look, attach, link};
#[cfg(test)]
pub(crate) use blocks::base64;
pub(crate) use blocks::policy_hash;

/// The module that runs the whole page.
const PAGE: &str = "assets/app.js";

/// What searches run in.
const WORKERS: [&str; 2] = ["assets/engine/search-worker.js", "assets/engine/encoder-worker.js"];

/// The module that sets formulas, and what stands for it where no document has one.
const FORMULAS: &str = "assets/vendor/katex/katex.js";
const NO_FORMULAS: &str = "export const katex = undefined;";

/// How large the parts of a handout are in the file, in bytes.
#[derive(Debug, Default, Clone, Copy, serde::Serialize)]
pub struct Sizes {
    /// The whole file.
    pub total: usize,
    /// Page, scripts and the search module.
    pub program: usize,
    /// Text and index.
    pub text: usize,
    /// Model, its module and the vectors.
    pub meaning: usize,
}

/// The knowledge base as elements to put into a page, in the order in which they are needed.
struct Carried {
    manifest: Manifest,
    /// What a search by words needs.
    words: String,
    /// What a search by meaning needs besides; empty without a model.
    meaning: String,
    /// The script, without its element.
    script: String,
    sizes: Sizes,
}

/// Whether a page has a knowledge base inside it: a handout, or a page that one was attached to.
pub fn carries_base(html: &[u8]) -> bool {
    blocks::carries(html, &format!("{BUNDLE_DIR}/{MANIFEST_FILE}"))
}

/// Whether a page was written by this program, wholly or in part.
pub fn is_ours(html: &[u8]) -> bool {
    carries_base(html) || attach::is_attached(html)
}

/// A file of the page by its path in a site.
fn asset(path: &str) -> Option<&'static [u8]> {
    PAGE_FILES.iter().find(|(name, _)| *name == path).map(|(_, bytes)| *bytes)
}

fn asset_text(path: &str) -> Option<&'static str> {
    asset(path).and_then(|bytes| std::str::from_utf8(bytes).ok())
}

fn runtime(path: &str) -> Result<&'static [u8]> {
    asset(path).ok_or_else(|| {
        Error::failed(
            format!("this kb-builder was compiled without {path}"),
            "build it from a complete clone: prebuilt/runtime holds that file",
        )
    })
}

/// Reads a site and makes the elements; `page` is the module that is to run on the page.
fn carry(site: &Path, page: &str, model: bool) -> Result<Carried> {
    let manifest = base::manifest(site)?;
    let folder = site.join(BUNDLE_DIR);
    if !folder.join(MANIFEST_FILE).is_file() {
        return Err(Error::failed(
            format!("{} is not a site", site.display()),
            format!("name the folder that holds `{BUNDLE_DIR}`"),
        ));
    }
    let read = |path: &Path| std::fs::read(path).map_err(|e| Error::io("read", path, e));
    let meaning_too = model && manifest.model.is_some();

    let mut text = blocks::element(&format!("{BUNDLE_DIR}/{MANIFEST_FILE}"), &read(&folder.join(MANIFEST_FILE))?);
    let mut meaning = String::new();
    let mut formulas = false;
    for section in &manifest.sections {
        let to = match section.kind {
            // Handouts are small enough to be scanned.
            SectionKind::Graph => continue,
            SectionKind::Vectors if !meaning_too => continue,
            SectionKind::Vectors => &mut meaning,
            _ => &mut text,
        };
        let bytes = read(&folder.join(&section.file))?;
        // A damaged file would only be noticed by the readers of the handout.
        let payload = section.open(&bytes)?;
        if section.kind == SectionKind::Text {
            formulas |= kb_core::bundle::text::decode(&payload)?.1.iter().any(|text| text.contains('$'));
        }
        to.push_str(&blocks::element(&format!("{BUNDLE_DIR}/{}", section.file), &bytes));
    }
    let search = "assets/runtime/kb_search_bg.wasm";
    let mut words = blocks::element(search, runtime(search)?);
    // Elements on other pages search and do not answer.
    let by_service = manifest.model.as_ref().is_some_and(|m| m.service.is_some());
    if page == PAGE || (meaning_too && by_service) {
        let answer = "assets/runtime/kb_answer_bg.wasm";
        words.push_str(&blocks::element(answer, runtime(answer)?));
    }
    if meaning_too {
        let encoder = "assets/runtime/kb_encoder_bg.wasm";
        meaning.push_str(&blocks::element(encoder, runtime(encoder)?));
    }
    // A model that a service has is asked there.
    if meaning_too && !by_service {
        for name in MODEL_FILES {
            let file = site.join(MODEL_DIR).join(name);
            if !file.is_file() {
                return Err(Error::failed(
                    format!("{} is missing", file.display()),
                    "copy the model into the site, or make the handout with --no-model",
                ));
            }
            meaning.push_str(&blocks::element(&format!("{MODEL_DIR}/{name}"), &read(&file)?));
        }
        // Reading checks its fingerprint.
        ModelFolder::read(&site.join(MODEL_DIR))?;
    }
    let entries: Vec<&str> = std::iter::once(page).chain(WORKERS).take(if meaning_too { 3 } else { 2 }).collect();
    // What sets formulas is a quarter of a megabyte; its absence leaves their source.
    let module = |path: &str| if path == FORMULAS && !formulas { Some(NO_FORMULAS) } else { asset_text(path) };
    let script = modules::script(page, &entries, module)?;
    let sizes = Sizes { total: 0, program: words.len() + script.len(), text: text.len(), meaning: meaning.len() };
    words.push_str(&text);
    Ok(Carried { manifest, words, meaning, script, sizes })
}

/// One HTML file with the page, the knowledge base and, unless `model` is false, the model. It opens from
/// the disk and asks the network for nothing, but for a language model that its reader sets up.
pub fn single_file(site: &Path, model: bool) -> Result<(String, Sizes)> {
    let carried = carry(site, PAGE, model)?;
    let template = asset_text("index.html").unwrap_or_default();
    let page = Page {
        early: Vec::new(),
        title: carried.manifest.title.clone(),
        language: carried.manifest.language.clone(),
        id: carried.manifest.id.clone(),
        site_url: None,
        meaning: !carried.meaning.is_empty(),
        documents: Vec::new(),
    };
    let mut style = String::new();
    let mut theme = String::new();
    let mut html = String::new();
    for line in page.index(template).lines() {
        // What the page would fetch is inside it.
        if line.starts_with("<link rel=\"stylesheet\"") {
            let path = line.split('"').nth(3).unwrap_or_default();
            style.push_str(asset_text(path).unwrap_or_default());
        } else if line.starts_with("<script src=\"assets/theme.js\"") {
            theme = asset_text("assets/theme.js").unwrap_or_default().to_string();
        } else if line.contains("http-equiv=\"Content-Security-Policy\"") {
            html.push_str("<!-- kb:policy -->\n");
        } else if line.starts_with("<link rel=\"icon\"")
            || !(line.starts_with("<link ") || line.starts_with("<script "))
        {
            html.push_str(line);
            html.push('\n');
        }
    }
    let policy = policy(template, &[&theme, &carried.script], &style)?;
    let head = format!("{policy}\n<style>{style}</style>\n<script>{theme}</script>");
    let (before, after) = html.split_once("</body>").ok_or_else(|| broken("has no body"))?;
    let before = before.replacen("<!-- kb:policy -->", &head, 1);
    // The script stands behind what words need and before the model, so that it does not wait for that.
    let out =
        format!("{before}{}<script>{}</script>\n{}</body>{after}", carried.words, carried.script, carried.meaning);
    let sizes =
        Sizes { total: out.len(), program: out.len() - carried.sizes.text - carried.sizes.meaning, ..carried.sizes };
    Ok((out, sizes))
}

/// The page's own policy with what a handout has instead of files: scripts and styles by their hashes,
/// workers from blobs, and no connection.
fn policy(template: &str, scripts: &[&str], style: &str) -> Result<String> {
    let marker = "http-equiv=\"Content-Security-Policy\" content=\"";
    let content = template
        .split_once(marker)
        .and_then(|(_, rest)| rest.split_once('"'))
        .ok_or_else(|| broken("has no policy"))?;
    let directives: Vec<String> = content
        .0
        .split(';')
        .map(str::trim)
        .filter_map(|directive| {
            let (name, sources) = directive.split_once(' ')?;
            let sources = match name {
                "script-src" => {
                    let hashes: Vec<String> = scripts.iter().map(|text| blocks::policy_hash(text)).collect();
                    sources.replacen("'self'", &hashes.join(" "), 1)
                }
                "style-src" => blocks::policy_hash(style),
                "worker-src" => "blob:".into(),
                "manifest-src" => return None,
                _ => {
                    let left: Vec<&str> = sources.split(' ').filter(|source| *source != "'self'").collect();
                    if left.is_empty() { "'none'".into() } else { left.join(" ") }
                }
            };
            Some(format!("{name} {sources}"))
        })
        .collect();
    Ok(format!("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">", directives.join("; ")))
}

fn broken(what: &str) -> Error {
    Error::failed(format!("the page that kb-builder carries {what}"), "build kb-builder again from a complete clone")
}

/// An attribute with its value, or nothing.
fn attribute(name: &str, value: Option<&str>) -> String {
    value.map(|value| format!(" {name}=\"{}\"", escape(value))).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_of_a_handout_connects_to_nothing_and_names_its_scripts() {
        let template = "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; \
                        worker-src 'self'; connect-src 'self'; style-src 'self'; img-src 'self' data:; manifest-src 'self'\">";
        let policy = policy(template, &["alert('Hello, world.');"], "").expect("policy");
        assert_eq!(
            policy,
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; \
             script-src 'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng=' 'wasm-unsafe-eval'; worker-src blob:; \
             connect-src 'none'; style-src 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='; img-src data:\">"
        );
    }
}
