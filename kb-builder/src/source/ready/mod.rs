//! Sources that are ready to use: the documentation of common libraries, named in `sources.toml`.
//!
//! The list is data. An entry says where the files are, under which licence, where they are published if that is
//! known, and which of them were seen at which commit when the entry was written.

use crate::config::SourceConfig;
use crate::error::{Error, Result};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The list as it is written.
const DATA: &str = include_str!("sources.toml");

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct List {
    source: Vec<Ready>,
}

/// One entry. Its keys mean what they mean in a [`SourceConfig`].
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, serde::Serialize)]
#[serde(deny_unknown_fields)]
pub struct Ready {
    /// What it is called on the command line, and the collection that it becomes.
    pub name: String,
    /// What it is about, in a few words.
    pub about: String,
    /// Code of the language that the documents are in.
    pub language: String,
    /// Licence of the documents as SPDX writes it, from the repository.
    pub licence: String,
    /// `owner/name` of the repository.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub github: Option<String>,
    /// Its branch, tag or commit.
    #[serde(default, rename = "ref", skip_serializing_if = "Option::is_none")]
    pub reference: Option<String>,
    /// The folder in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
    /// Which files of it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub include: Vec<String>,
    /// Which not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exclude: Vec<String>,
    /// Addresses of files, in place of a repository.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub urls: Vec<String>,
    /// Where the documents are published.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub url_base: Option<String>,
    /// Whether source code is part of the documentation.
    #[serde(default)]
    pub code: bool,
    /// Files that were there when the entry was written, with the commit that they were seen at.
    pub seen: BTreeMap<String, String>,
}

/// All entries, by name.
///
/// # Errors
/// [`Error::Failed`] if the list that the program was compiled with is damaged.
pub fn all() -> Result<Vec<Ready>> {
    let list: List = toml::from_str(DATA)
        .map_err(|e| Error::failed(format!("the list of ready-made sources is damaged: {}", e.message()), ""))?;
    let mut all = list.source;
    all.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(all)
}

/// The entry of this name.
///
/// # Errors
/// [`Error::Usage`] names the nearest one that there is.
pub fn named(name: &str) -> Result<Ready> {
    let all = all()?;
    if let Some(found) = all.iter().find(|r| r.name.eq_ignore_ascii_case(name.trim())) {
        return Ok(found.clone());
    }
    let near = |r: &&Ready| strsim::jaro_winkler(&name.to_lowercase(), &r.name);
    let nearest = all.iter().max_by(|a, b| near(a).total_cmp(&near(b))).map_or("", |r| r.name.as_str());
    Err(Error::usage(
        format!("there is no ready-made source `{}`, did you mean `{nearest}`?", name.escape_debug()),
        "`kb-builder sources list` has them all",
    ))
}

/// Puts the entry that `ready` names into the place of `ready`; what the author says besides is stronger.
pub(crate) fn resolve(source: &mut SourceConfig) -> std::result::Result<(), String> {
    let Some(name) = source.ready.take() else { return Ok(()) };
    let has_files = !source.path.as_os_str().is_empty() || !source.urls.is_empty();
    if has_files || source.github.is_some() || source.website.is_some() || source.portfolio.is_some() {
        return Err("a [[source]] with `ready` has its files from there, and no `path`, `urls` or the like".into());
    }
    let entry = named(&name).map_err(|e| format!("{e} `kb-builder sources list` has them all"))?.config();
    let list = |own: &mut Vec<String>, theirs: Vec<String>| {
        if own.is_empty() {
            *own = theirs;
        }
    };
    list(&mut source.include, entry.include);
    list(&mut source.exclude, entry.exclude);
    source.urls = entry.urls;
    source.github = entry.github;
    source.code |= entry.code;
    source.name = source.name.take().or(entry.name);
    source.reference = source.reference.take().or(entry.reference);
    source.folder = source.folder.take().or(entry.folder);
    source.url_base = source.url_base.take().or(entry.url_base);
    Ok(())
}

impl Ready {
    /// The source that it stands for.
    pub fn config(&self) -> SourceConfig {
        SourceConfig {
            name: Some(self.name.clone()),
            github: self.github.clone(),
            reference: self.reference.clone(),
            folder: self.folder.clone(),
            include: self.include.clone(),
            exclude: self.exclude.clone(),
            urls: self.urls.clone(),
            url_base: self.url_base.clone(),
            code: self.code,
            ..SourceConfig::default()
        }
    }

    /// Where its files come from: a repository or a host.
    pub fn origin(&self) -> String {
        match (&self.github, self.urls.first()) {
            (Some(github), _) => format!("https://github.com/{github}"),
            (None, Some(url)) => url.split('/').take(5).collect::<Vec<_>>().join("/"),
            (None, None) => String::new(),
        }
    }

    /// The `[[source]]` for kb.toml.
    pub fn block(&self) -> String {
        let quoted = |text: &str| serde_json::Value::from(text).to_string();
        let mut out = format!("# {}. Licence of the documents: {}.\n[[source]]\n", self.about, self.licence);
        let texts = [
            ("name", Some(&self.name)),
            ("github", self.github.as_ref()),
            ("ref", self.reference.as_ref()),
            ("folder", self.folder.as_ref()),
            ("url_base", self.url_base.as_ref()),
        ];
        for (key, value) in texts {
            out.extend(value.map(|v| format!("{key} = {}\n", quoted(v))));
        }
        for (key, list) in [("include", &self.include), ("exclude", &self.exclude), ("urls", &self.urls)] {
            let items: Vec<String> = list.iter().map(|i| quoted(i)).collect();
            let line = items.join(", ");
            match items.len() {
                0 => {}
                _ if line.len() <= 100 => out += &format!("{key} = [{line}]\n"),
                _ => out += &format!("{key} = [\n    {},\n]\n", items.join(",\n    ")),
            }
        }
        if self.code {
            out += "code = true\n";
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Config;
    use crate::source::folder::Globs;
    use crate::source::web::Address;
    use std::collections::BTreeSet;

    #[test]
    fn every_entry_is_whole_and_can_be_used() {
        let all = all().expect("reads");
        assert!(all.len() >= 20, "{}", all.len());
        let names: BTreeSet<&str> = all.iter().map(|r| r.name.as_str()).collect();
        assert_eq!(names.len(), all.len(), "names are unique");
        let dir = tempfile::tempdir().expect("dir");
        for r in &all {
            let name = &r.name;
            let plain = |c: u8| c.is_ascii_lowercase() || c.is_ascii_digit() || c == b'-';
            assert!(name.bytes().all(plain) && !r.about.ends_with('.') && !r.licence.is_empty(), "{name}");
            assert!(["en", "zh"].contains(&r.language.as_str()), "{name}");
            assert_eq!(usize::from(r.github.is_some()) + usize::from(!r.urls.is_empty()), 1, "{name}");
            for url in &r.urls {
                let address = Address::parse(url).expect(url);
                assert_eq!((address.scheme(), address.to_string().as_str()), ("https", url.as_str()), "{name}");
            }
            if let Some(base) = &r.url_base {
                crate::address::pattern("url_base", base).expect(name);
                assert!(base.starts_with("https://") && base.contains("{stem}"), "{name}");
            }
            // What was seen is what the globs choose, or what the addresses name.
            let globs = Globs::new(&r.include, &r.exclude).expect(name);
            let folder = r.folder.as_ref().map_or(String::new(), |f| format!("{f}/"));
            assert!(!r.seen.is_empty(), "{name}");
            for (file, commit) in &r.seen {
                assert!(commit.len() == 40 && commit.bytes().all(|b| b.is_ascii_hexdigit()), "{name}: {file}");
                let inside = file.strip_prefix(&folder).is_some_and(|path| globs.wanted(path));
                let named = r.urls.iter().any(|u| u.ends_with(&crate::source::encode_path(&format!("/{file}"))));
                assert!(if r.github.is_some() { inside } else { named }, "{name}: {file}");
                let format = crate::convert::Format::of(file);
                assert!(format.is_some() || r.code, "{name}: {file} can be read");
            }
            if r.github.is_none() {
                assert_eq!(r.seen.len(), r.urls.len(), "{name}: every address was seen");
            }
            // The block and the short form mean the same.
            let file = dir.path().join("kb.toml");
            for text in [r.block(), format!("[[source]]\nready = {name:?}\n")] {
                std::fs::write(&file, &text).expect("writes");
                let config = Config::load(Some(&file)).expect(&text);
                assert_eq!(config.sources, [r.config()], "{text}");
            }
        }
    }

    #[test]
    fn what_an_author_says_besides_is_stronger() {
        let source = |toml: &str| {
            let mut source: SourceConfig = toml::from_str(toml).expect(toml);
            resolve(&mut source).map(|()| source)
        };
        let own = source("ready = \"numpy\"\nname = \"np\"\ninclude = [\"quickstart.rst\"]\n").expect("resolves");
        assert_eq!((own.name.as_deref(), own.include.as_slice()), (Some("np"), &["quickstart.rst".to_string()][..]));
        assert_eq!((own.github.as_deref(), own.ready), (Some("numpy/numpy"), None));
        let e = source("ready = \"nunpy\"\n").expect_err("no such entry");
        assert!(e.contains("did you mean `numpy`"), "{e}");
        assert!(source("ready = \"numpy\"\npath = \"x\"\n").is_err());
    }
}
