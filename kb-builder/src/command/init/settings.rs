//! The kb.toml for the documents in a folder.

use crate::config::{FILE_NAME, SourceConfig};
use crate::convert::{self, Format};
use crate::error::{Error, Result};
use crate::source::{Source, folder::Folder};
use std::collections::BTreeMap;
use std::path::Path;

/// Looks at `folder` and writes its kb.toml.
pub fn write(folder: &Path, force: bool) -> Result<()> {
    if !folder.is_dir() {
        let what = if folder.exists() { "is no folder" } else { "is not there" };
        return Err(Error::usage(format!("{} {what}", folder.display()), "name the folder that holds the documents"));
    }
    let file = folder.join(FILE_NAME);
    if file.exists() && !force {
        return Err(Error::usage(format!("{} is there already", file.display()), "use --force to replace it"));
    }
    let sources = sources(folder)?;
    if sources.iter().all(|s| s.read.is_empty()) {
        return Err(Error::failed(
            format!("there are no documents in {}", folder.display()),
            format!(
                "files with these suffixes are read: {}; `kb-builder sources add NAME` takes documentation from the web",
                Format::suffixes()
            ),
        ));
    }
    let title = title(folder);
    let text = written(&title, &sources, published(folder).as_deref());
    std::fs::write(&file, text).map_err(|e| Error::io("write", &file, e))?;
    println!("{}: {}", file.display(), counted(&sources));
    let here = folder == Path::new(".");
    let config = if here { String::new() } else { format!(" --config {}", file.display()) };
    println!("Look at it, then run: kb-builder build{config}");
    Ok(())
}

/// A folder that is going to be a collection.
struct Found {
    /// Path relative to the file.
    path: String,
    /// Files that are read, by suffix.
    read: BTreeMap<String, usize>,
    /// Files that are not, by suffix.
    left: BTreeMap<String, usize>,
}

/// The folders that hold documents: the one that a documentation tool names, else `docs`, else all of it.
fn sources(folder: &Path) -> Result<Vec<Found>> {
    let has = |name: &str| folder.join(name).exists();
    let named = if has("book.toml") {
        Some("src")
    } else if ["docs", "doc", "documentation", "content", "notes"].iter().any(|n| folder.join(n).is_dir()) {
        ["docs", "doc", "documentation", "content", "notes"].into_iter().find(|n| folder.join(n).is_dir())
    } else {
        None
    };
    if let Some(name) = named {
        let found = look(folder, name)?;
        if !found.read.is_empty() {
            return Ok(vec![found]);
        }
    }
    Ok(vec![look(folder, ".")?])
}

fn look(folder: &Path, path: &str) -> Result<Found> {
    let config = SourceConfig { path: folder.join(path), ..SourceConfig::default() };
    let source = Folder::open("init".into(), &config, &folder.join("site"))?;
    let mut found = Found { path: path.to_string(), read: BTreeMap::new(), left: BTreeMap::new() };
    for entry in source.list()?.entries {
        let counts = if Format::of(&entry.path).is_some() { &mut found.read } else { &mut found.left };
        *counts.entry(convert::suffix(&entry.path)).or_default() += 1;
    }
    Ok(found)
}

/// The first heading of the README, else the name of the folder.
fn title(folder: &Path) -> String {
    let readme =
        ["README.md", "readme.md", "index.md"].iter().find_map(|n| std::fs::read_to_string(folder.join(n)).ok());
    let heading = readme.as_deref().and_then(|text| {
        let document = kb_core::document::parse_markdown("README.md", text).document;
        document.sections.first().map(|s| s.title.clone()).filter(|t| !t.is_empty())
    });
    let name = || {
        let real = folder.canonicalize().ok()?;
        Some(real.file_name()?.to_string_lossy().into_owned())
    };
    heading.or_else(name).unwrap_or_else(|| "Knowledge base".into())
}

/// Where the files of a GitHub repository can be seen.
fn published(folder: &Path) -> Option<String> {
    let config = std::fs::read_to_string(folder.join(".git/config")).ok()?;
    let url = config.lines().find_map(|l| l.trim().strip_prefix("url = "))?.trim().trim_end_matches(".git");
    let repository = url.split_once("github.com").map(|(_, rest)| rest.trim_start_matches([':', '/']))?;
    let head = std::fs::read_to_string(folder.join(".git/HEAD")).ok()?;
    let branch = head.trim().strip_prefix("ref: refs/heads/").unwrap_or("main");
    Some(format!("https://github.com/{repository}/blob/{branch}"))
}

fn listed(counts: &BTreeMap<String, usize>) -> String {
    let name = |suffix: &str| if suffix.is_empty() { "without suffix".to_string() } else { format!(".{suffix}") };
    counts.iter().map(|(suffix, n)| format!("{n} {}", name(suffix))).collect::<Vec<_>>().join(", ")
}

fn counted(sources: &[Found]) -> String {
    sources.iter().map(|s| format!("{} with {}", s.path, listed(&s.read))).collect::<Vec<_>>().join("; ")
}

/// A string as TOML writes it, which is as JSON does.
fn quoted(text: &str) -> String {
    let printable: String = text.chars().filter(|c| !c.is_control()).collect();
    serde_json::Value::from(printable).to_string()
}

fn written(title: &str, sources: &[Found], published: Option<&str>) -> String {
    let mut out = format!(
        "# Settings of this knowledge base. Every key is optional; paths are relative to this file.\n\
         # For an editor that knows TOML: kb-builder init --schema > kb.schema.json, and a first line `#:schema kb.schema.json`.\n\n\
         # Stands at the top of the page.\ntitle = {}\n# Language of the page's own words, zh or en. Default: what most of the text is in.\n# language = \"zh\"\n",
        quoted(title)
    );
    for source in sources {
        let url = published.map_or("https://example.org/{stem}.html".to_string(), |base| match source.path.as_str() {
            "." => format!("{base}/{{path}}"),
            path => format!("{base}/{path}/{{path}}"),
        });
        out += &format!(
            "\n# A collection; there may be several. Found here: {}.\n[[source]]\npath = {}\n",
            listed(&source.read),
            quoted(&source.path)
        );
        out += "# name = \"notes\"                      # default: the folder's name\n\
                # include = [\"*.md\"]                  # read only these\n\
                # exclude = [\"drafts\"]                # leave these out\n";
        out += &format!("# url_base = {}  # where a hit leads; default: the page's own reader\n", quoted(&url));
        let is_code = |suffix: &String| Format::of_code(&format!("x.{suffix}")).is_some();
        if source.left.keys().any(is_code) {
            out += "# code = true                         # read source code as well\n";
        }
        if !source.left.is_empty() {
            out += &format!("# Not read: {}.\n", listed(&source.left));
            for sentence in convert::advice(source.left.keys()) {
                out += &format!("# {sentence}\n");
            }
        }
    }
    out += "\n[site]\n# The folder to write.\nout = \"site\"\n# Whether the site carries copies of the documents.\n# originals = true\n\
            \n# [model]\n# Another embedding model: a folder, or the name of an installed one.\n# path = \"models/my-model\"\n\
            \n# [embedding]\n# A service that embeds in its place: ollama, openai, openai-compatible, voyage.\n# provider = \"ollama\"\n# model = \"nomic-embed-text\"\n";
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_can_be_read() {
        let read = BTreeMap::from([("md".to_string(), 3), ("pdf".to_string(), 1)]);
        let left = BTreeMap::from([("doc".to_string(), 2), ("py".to_string(), 1), (String::new(), 1)]);
        let text = written(
            "图 \"论\"\\",
            &[Found { path: "docs".into(), read, left }],
            Some("https://github.com/o/r/blob/main"),
        );
        let table: toml::Table = text.parse().expect("is TOML");
        assert_eq!(table["title"].as_str(), Some("图 \"论\"\\"));
        assert_eq!(table["source"][0]["path"].as_str(), Some("docs"));
        for part in ["3 .md, 1 .pdf", "2 .doc", "save .doc", "code = true", "blob/main/docs/{path}"] {
            assert!(text.contains(part), "{part} in {text}");
        }
        // With every comment taken away from the keys it must still be valid.
        let all: String = text
            .lines()
            .map(|l| {
                let key = l.strip_prefix("# ").filter(|l| {
                    l.split(" = ").next().is_some_and(|k| k.bytes().all(|b| b.is_ascii_lowercase() || b == b'_'))
                        && l.contains(" = ")
                });
                format!("{}\n", key.unwrap_or(l))
            })
            .collect();
        let table: toml::Table =
            all.replace("# [model]", "[model]").replace("# [embedding]", "[embedding]").parse().expect(&all);
        assert_eq!(table["model"]["path"].as_str(), Some("models/my-model"));
        assert_eq!(table["source"][0]["code"].as_bool(), Some(true));
    }
}
