//! `prebuilt/runtime/STAMP`: what the prebuilt browser modules were made from, with which tools, and their checksums.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::{paths, run, toolchain};

/// File name of the stamp.
pub const FILE: &str = "STAMP";

/// The contents of the stamp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// SHA-256 over everything that the modules are compiled from.
    pub inputs: String,
    /// The tools and their versions, one line each: rustc, wasm-bindgen, binaryen.
    pub tools: Vec<String>,
    /// SHA-256 of each file.
    pub files: BTreeMap<String, String>,
}

impl Stamp {
    /// Reads the stamp in `dir`.
    pub fn read(dir: &Path) -> Result<Self> {
        let path = dir.join(FILE);
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        Self::parse(&text).with_context(|| format!("{} is not a stamp", path.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        let mut stamp = Self::default();
        for line in text.lines().filter(|l| !l.starts_with('#') && !l.trim().is_empty()) {
            let (key, value) = line.split_once(' ').with_context(|| format!("odd line `{line}`"))?;
            match key {
                "inputs" => stamp.inputs = value.to_string(),
                "tool" => stamp.tools.push(value.to_string()),
                "file" => {
                    let (hash, name) = value.split_once(' ').with_context(|| format!("odd line `{line}`"))?;
                    stamp.files.insert(name.to_string(), hash.to_string());
                }
                _ => bail!("odd line `{line}`"),
            }
        }
        if stamp.inputs.is_empty() || stamp.files.is_empty() {
            bail!("no inputs or no files are named");
        }
        Ok(stamp)
    }

    /// Writes the stamp into `dir`.
    pub fn write(&self, dir: &Path) -> Result<()> {
        let mut text = String::from("# Written by `cargo xtask wasm`, checked by `cargo xtask wasm --check`.\n");
        let _ = writeln!(text, "inputs {}", self.inputs);
        for tool in &self.tools {
            let _ = writeln!(text, "tool {tool}");
        }
        for (name, hash) in &self.files {
            let _ = writeln!(text, "file {hash} {name}");
        }
        fs::write(dir.join(FILE), text).with_context(|| format!("cannot write into {}", dir.display()))
    }

    /// The rustc that compiled the modules, as `rustc --version` says it.
    pub fn rustc(&self) -> Option<&str> {
        self.tools.iter().map(String::as_str).find(|t| t.starts_with("rustc "))
    }
}

/// The checksums of all files in `dir` but the stamp.
pub fn checksums(dir: &Path) -> Result<BTreeMap<String, String>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if name != FILE {
            all.insert(name, hex(&Sha256::digest(fs::read(&path)?)));
        }
    }
    Ok(all)
}

/// SHA-256 over what the modules are compiled from: the sources of kb-core and kb-wasm, their dependencies with
/// versions and features, the build profiles, and the recipe. Comments in Markdown don't count.
pub fn inputs() -> Result<String> {
    let root = paths::root();
    let mut files = Vec::new();
    for dir in ["kb-core/src", "kb-wasm/src"] {
        collect(&root.join(dir), &mut files)?;
    }
    files.extend(["kb-core/Cargo.toml", "kb-wasm/Cargo.toml", "xtask/src/runtime.rs"].map(|f| root.join(f)));
    let mut named: Vec<(String, PathBuf)> = Vec::new();
    for path in files {
        let name = path.strip_prefix(&root)?.to_string_lossy().replace('\\', "/");
        named.push((name, path));
    }
    named.sort();

    let mut hash = Sha256::new();
    for (name, path) in named {
        let text = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
        add(&mut hash, &name, &without_carriage_returns(&text));
    }
    let manifest = fs::read_to_string(root.join("Cargo.toml"))?;
    add(&mut hash, "profiles", profiles(&manifest).as_bytes());
    add(&mut hash, "dependencies", dependencies()?.as_bytes());
    Ok(hex(&hash.finalize()))
}

fn add(hash: &mut Sha256, name: &str, bytes: &[u8]) {
    hash.update(format!("{name}\0{}\0", bytes.len()));
    hash.update(bytes);
}

/// Git may check files out with either line ending.
fn without_carriage_returns(bytes: &[u8]) -> Vec<u8> {
    bytes.iter().copied().filter(|b| *b != b'\r').collect()
}

fn collect(dir: &Path, into: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let path = entry?.path();
        if path.is_dir() {
            collect(&path, into)?;
        } else if path.extension().is_none_or(|e| e != "md") {
            into.push(path);
        }
    }
    Ok(())
}

/// The `[profile…]` tables of a manifest, without comments.
fn profiles(manifest: &str) -> String {
    let mut inside = false;
    let mut out = String::new();
    for line in manifest.lines().map(str::trim).filter(|l| !l.is_empty() && !l.starts_with('#')) {
        if line.starts_with('[') {
            inside = line.starts_with("[profile");
        }
        if inside {
            out.push_str(line);
            out.push('\n');
        }
    }
    out
}

/// The packages behind the two modules: `name version features`, sorted. Crates that only native code uses are not
/// among them, so that they can change without a rebuild.
fn dependencies() -> Result<String> {
    let mut command = toolchain::cargo();
    command.args(["tree", "--locked", "--package", "kb-wasm", "--all-features", "--target", toolchain::WASM32]);
    command.args(["--edges", "normal", "--prefix", "none", "--format", "{p}|{f}"]);
    let tree = run::retry("cargo tree", || run::output(&mut command))?;
    Ok(packages(&tree))
}

fn packages(tree: &str) -> String {
    let mut lines: Vec<String> = tree
        .lines()
        .filter_map(|line| {
            let (package, features) = line.trim_end_matches(" (*)").split_once('|')?;
            let mut words = package.split_whitespace();
            Some(format!("{} {} {features}", words.next()?, words.next()?))
        })
        .collect();
    lines.sort();
    lines.dedup();
    lines.join("\n")
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut s, b| {
        let _ = write!(s, "{b:02x}");
        s
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_read_as_it_was_written() {
        let dir = std::env::temp_dir().join(format!("kb-stamp-{}", std::process::id()));
        fs::create_dir_all(&dir).expect("folder");
        let stamp = Stamp {
            inputs: "ab".into(),
            tools: vec!["rustc 1.96.0 (x)".into(), "binaryen 1".into()],
            files: [("a.js".to_string(), "cd".to_string())].into(),
        };
        stamp.write(&dir).expect("written");
        let read = Stamp::read(&dir).expect("read");
        fs::remove_dir_all(&dir).expect("removed");
        assert_eq!(read, stamp);
        assert_eq!(read.rustc(), Some("rustc 1.96.0 (x)"));
    }

    #[test]
    fn an_odd_stamp_is_an_error() {
        assert!(Stamp::parse("").is_err());
        assert!(Stamp::parse("inputs ab\nwhat is this\n").is_err());
    }

    #[test]
    fn packages_are_named_without_places_and_repeats() {
        let tree = "kb-wasm v0.1.0 (/home/a/kb-wasm)|search\nserde v1.0.2|default,std\nserde v1.0.2|default,std (*)\nd v2.0.0 (proc-macro)|\n";
        assert_eq!(packages(tree), "d v2.0.0 \nkb-wasm v0.1.0 search\nserde v1.0.2 default,std");
    }

    #[test]
    fn only_profiles_of_a_manifest_count() {
        let manifest = "[workspace]\nx = 1\n# c\n[profile.release]\nlto = true\n[profile.release.package.a]\nopt-level = 1\n[other]\ny = 2\n";
        assert_eq!(profiles(manifest), "[profile.release]\nlto = true\n[profile.release.package.a]\nopt-level = 1\n");
    }

    #[test]
    fn a_known_checksum() {
        // FIPS 180-2, appendix B.1.
        let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex(&Sha256::digest(b"abc")), abc);
    }
}
