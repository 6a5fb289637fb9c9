//! Puts the page, the browser runtime and the default model into the program, so that it works without its sources.

#[path = "src/site/slim.rs"]
mod slim;

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

/// Suffixes of what belongs to a site; everything else in these folders is for developers.
const SUFFIXES: [&str; 9] = ["html", "js", "css", "wasm", "svg", "png", "ico", "json", "webmanifest"];

/// The default model in this clone, and its files in the order of `model::FILES`.
const MODEL: &str = "prebuilt/models/multilingual-e5-small-zh-en-q4";
const MODEL_FILES: [&str; 3] = ["model.onnx", "tokenizer.json", "model.json"];

/// Folders and files of `www/` that are not part of a site.
const DEVELOPMENT: [&str; 6] =
    ["node_modules", "package.json", "package-lock.json", "tsconfig.json", "jsconfig.json", "tests"];

fn main() -> io::Result<()> {
    let here = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").unwrap_or_default());
    let root = here.parent().unwrap_or(&here).to_path_buf();
    let mut files = Vec::new();
    collect(&root.join("www"), "", &mut files)?;
    collect(&root.join("prebuilt").join("runtime"), "assets/runtime", &mut files)?;
    // For authors of TypeScript pages; the types beside it are those of the browser runtime.
    files.push(("assets/kb-embed.d.ts".into(), root.join("www/assets/kb-embed.d.ts")));
    let types = root.join("kb-wasm/src/types.d.ts");
    println!("cargo::rerun-if-changed={}", types.display());
    files.push(("assets/kb-types.d.ts".into(), types));
    files.sort();
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    let mut code = String::from("&[\n");
    for (i, (name, path)) in files.iter().enumerate() {
        let path = match is_ours(name) {
            true => slimmed(path, &out.join(format!("slim-{i}")))?,
            false => path.clone(),
        };
        let _ = writeln!(code, "    ({name:?}, include_bytes!({:?})),", path.display().to_string());
    }
    code.push_str("]\n");
    fs::write(out.join("site_files.rs"), code)?;
    fs::write(out.join("model_files.rs"), model_files(&root.join(MODEL)))
}

/// Whether a file is a script or a style sheet without a licence of others in its comments.
fn is_ours(name: &str) -> bool {
    (name.ends_with(".js") || name.ends_with(".css")) && !name.contains("/vendor/")
}

/// Writes `path` without its comments to `to`, and returns that.
fn slimmed(path: &Path, to: &Path) -> io::Result<PathBuf> {
    println!("cargo::rerun-if-changed={}", path.display());
    fs::write(to, slim::slim(&fs::read_to_string(path)?))?;
    Ok(to.to_path_buf())
}

/// The default model's files, or none where the folder is not complete: the program then has to be told of one.
fn model_files(dir: &Path) -> String {
    println!("cargo::rerun-if-changed={}", dir.display());
    if !MODEL_FILES.iter().all(|name| dir.join(name).is_file()) {
        return "None".into();
    }
    let bytes = MODEL_FILES.map(|name| format!("include_bytes!({:?})", dir.join(name).display().to_string()));
    format!("Some([{}])", bytes.join(", "))
}

/// Adds the files below `dir` under `prefix`, by the paths they get in a site.
fn collect(dir: &Path, prefix: &str, files: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    // Watched even when it is missing: it may be made later.
    println!("cargo::rerun-if-changed={}", dir.display());
    if !dir.is_dir() {
        return Ok(());
    }
    for entry in fs::read_dir(dir)? {
        let path = entry?.path();
        let name = path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if name.starts_with('.') || DEVELOPMENT.contains(&name.as_str()) {
            continue;
        }
        let site_path = if prefix.is_empty() { name.clone() } else { format!("{prefix}/{name}") };
        if path.is_dir() {
            collect(&path, &site_path, files)?;
        } else if path.extension().is_some_and(|e| SUFFIXES.iter().any(|s| e == *s)) {
            files.push((site_path, path));
        }
    }
    Ok(())
}
