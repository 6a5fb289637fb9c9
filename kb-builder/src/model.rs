//! The embedding model's folder: where it is looked for, and reading it.

use crate::error::{Error, Result};
use kb_core::ErrorKind;
use kb_core::bundle::sha256_hex;
use kb_core::embed::{ModelInfo, OnnxEncoder, fingerprint};
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Name of the model that is used when nothing else is said.
pub const DEFAULT_MODEL: &str = "multilingual-e5-small-zh-en-q4";

/// The files of a model's folder that a site carries, in this order.
pub const FILES: [&str; 3] = ["model.onnx", "tokenizer.json", "model.json"];

/// Environment variable that names a model's folder.
pub const MODEL_VARIABLE: &str = "KB_MODEL";

/// The default model's [`FILES`], where the program carries them.
const BUILT_IN: Option<[&[u8]; 3]> = include!(concat!(env!("OUT_DIR"), "/model_files.rs"));

/// A model's files as they were read.
pub struct ModelFolder {
    /// Where it is.
    pub path: PathBuf,
    /// `model.onnx`.
    pub onnx: Vec<u8>,
    /// `tokenizer.json`.
    pub tokenizer: Vec<u8>,
    /// The description, its fingerprint computed.
    pub info: ModelInfo,
}

impl ModelFolder {
    /// Reads the folder. A `model.json` that is missing is an error: the prefixes and the pooling
    /// cannot be guessed.
    pub fn read(path: &Path) -> Result<Self> {
        let read = |name: &str| {
            let file = path.join(name);
            std::fs::read(&file).map_err(|e| match e.kind() {
                std::io::ErrorKind::NotFound => Error::failed(
                    format!("the model folder {} has no {name}", path.display()),
                    "a model is a folder with model.onnx, tokenizer.json and model.json; `kb-builder model --help` shows one",
                ),
                _ => Error::io("read", &file, e),
            })
        };
        let json = read("model.json")?;
        let mut info: ModelInfo = serde_json::from_slice(&json).map_err(|e| {
            kb_core::Error::new(ErrorKind::Model, format!("{} cannot be read: {e}", path.join("model.json").display()))
        })?;
        let (onnx, tokenizer) = (read("model.onnx")?, read("tokenizer.json")?);
        let actual = fingerprint(&onnx, &tokenizer, &info);
        if !info.fingerprint.is_empty() && info.fingerprint != actual {
            return Err(Error::failed(
                format!("the files in {} are not those that its model.json describes", path.display()),
                "get the model again, or remove `fingerprint` from model.json if you changed the files on purpose",
            ));
        }
        info.fingerprint = actual;
        Ok(Self { path: path.to_path_buf(), onnx, tokenizer, info })
    }

    /// The encoder. Takes a second or so.
    pub fn encoder(&self) -> Result<OnnxEncoder> {
        Ok(OnnxEncoder::load(&self.onnx, &self.tokenizer, self.info.clone())?)
    }

    /// `model.json` for the site: the description with its fingerprint, and the length and SHA-256 of the
    /// other files, so that the page can show progress, check what came and keep it.
    pub fn description(&self) -> Result<Vec<u8>> {
        let file = |file, bytes: &[u8]| ModelFile { file, bytes: bytes.len(), sha256: sha256_hex(bytes) };
        let files = [file("model.onnx", &self.onnx), file("tokenizer.json", &self.tokenizer)];
        let mut json = serde_json::to_vec_pretty(&SiteModel { info: &self.info, files }).map_err(|e| {
            kb_core::Error::new(ErrorKind::Model, format!("the model's description cannot be written: {e}"))
        })?;
        json.push(b'\n');
        Ok(json)
    }
}

/// `model.json` as it stands in a site.
#[derive(Serialize)]
struct SiteModel<'a> {
    #[serde(flatten)]
    info: &'a ModelInfo,
    files: [ModelFile; 2],
}

/// A file beside `model.json`.
#[derive(Serialize)]
struct ModelFile {
    file: &'static str,
    bytes: usize,
    sha256: String,
}

/// Finds the model's folder: what was given by flag, else `KB_MODEL`, else the configuration, else
/// the default model in the cache folder, next to the program, or in `prebuilt/models` of a clone
/// around the program or the current folder. When it is nowhere, the copy in the program is written to the cache folder.
pub fn locate(flag: Option<&Path>, config: Option<&Path>) -> Result<PathBuf> {
    locate_as("--model", flag, config)
}

/// The same, for a flag of another name.
pub fn locate_as(option: &str, flag: Option<&Path>, config: Option<&Path>) -> Result<PathBuf> {
    let variable = std::env::var_os(MODEL_VARIABLE).filter(|v| !v.is_empty()).map(PathBuf::from);
    let given = [(option, flag), (MODEL_VARIABLE, variable.as_deref()), ("[model] path", config)];
    if let Some((what, path)) = given.into_iter().find_map(|(what, path)| path.map(|p| (what, p))) {
        // What was asked for is used or refused, never replaced by something else.
        let installed = cache_dir().join("models").join(path);
        if path.is_dir() {
            return Ok(path.to_path_buf());
        }
        if path.components().count() == 1 && installed.is_dir() {
            return Ok(installed);
        }
        return Err(Error::usage(
            format!("{what} names {}, which is neither a folder nor an installed model", path.display()),
            "give the folder that holds model.onnx",
        ));
    }
    let places = default_places();
    if let Some(found) = places.iter().find(|p| p.join(FILES[0]).is_file()) {
        return Ok(found.clone());
    }
    if let Some(files) = BUILT_IN {
        return store(DEFAULT_MODEL, files);
    }
    Err({
        let list: String = places.iter().map(|p| format!("\n    {}", p.display())).collect();
        Error::failed(
            format!("no embedding model was found; looked in{list}"),
            format!(
                "copy the folder {DEFAULT_MODEL} to one of these places, name one with {option} DIR or {MODEL_VARIABLE}, or build with --no-model for search by words only"
            ),
        )
    })
}

/// Writes a model's [`FILES`] into the cache folder under `name`, in one step, and returns the new folder.
pub fn store(name: &str, files: [&[u8]; 3]) -> Result<PathBuf> {
    let models = cache_dir().join("models");
    let (target, temp) = (models.join(name), models.join(format!(".{name}.new-{}", std::process::id())));
    std::fs::create_dir_all(&temp).map_err(|e| Error::io("create", &temp, e))?;
    for (file, bytes) in FILES.iter().zip(files) {
        let path = temp.join(file);
        std::fs::write(&path, bytes).map_err(|e| Error::io("write", &path, e))?;
    }
    if let Err(e) = std::fs::rename(&temp, &target) {
        let _ = std::fs::remove_dir_all(&temp);
        // Another run of this program may have been faster.
        if !target.join(FILES[0]).is_file() {
            return Err(Error::io("move", &temp, e));
        }
    }
    Ok(target)
}

/// Where the default model is looked for, best first.
pub fn default_places() -> Vec<PathBuf> {
    let mut places = vec![cache_dir().join("models").join(DEFAULT_MODEL)];
    let program = std::env::current_exe().ok().and_then(|p| p.canonicalize().ok());
    if let Some(folder) = program.as_deref().and_then(Path::parent) {
        places.push(folder.join("models").join(DEFAULT_MODEL));
    }
    let here = std::env::current_dir().ok();
    for start in [program.as_deref(), here.as_deref()].into_iter().flatten() {
        let clone =
            start.ancestors().map(|a| a.join("prebuilt").join("models").join(DEFAULT_MODEL)).find(|p| p.is_dir());
        places.extend(clone.filter(|p| !places.contains(p)));
    }
    places
}

/// The folder for models and embeddings: `KB_CACHE`, or `kb-builder` in the user's cache folder.
pub fn cache_dir() -> PathBuf {
    let variable = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
    if let Some(dir) = variable("KB_CACHE") {
        return dir;
    }
    let home = || variable("HOME").or_else(|| variable("USERPROFILE")).unwrap_or_else(std::env::temp_dir);
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA").unwrap_or_else(|| home().join("AppData").join("Local"))
    } else if cfg!(target_os = "macos") {
        home().join("Library").join("Caches")
    } else {
        variable("XDG_CACHE_HOME").unwrap_or_else(|| home().join(".cache"))
    };
    base.join("kb-builder")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_was_asked_for_is_never_replaced_by_another() {
        let e = locate(Some(Path::new("no/such/model")), None).expect_err("refused");
        assert!(e.to_string().contains("no/such/model"), "{e}");
        assert_eq!(e.exit_status(), 2);
    }

    #[test]
    fn an_incomplete_folder_names_what_is_missing() {
        let dir = tempfile::tempdir().expect("dir");
        assert!(ModelFolder::read(dir.path()).err().expect("fails").to_string().contains("has no model.json"));
        std::fs::write(dir.path().join("model.json"), "{").expect("writes");
        assert!(ModelFolder::read(dir.path()).err().expect("fails").to_string().contains("model.json"));
        let json = r#"{"name":"m","dim":3,"max_tokens":8,"pooling":"mean"}"#;
        std::fs::write(dir.path().join("model.json"), json).expect("writes");
        assert!(ModelFolder::read(dir.path()).err().expect("fails").to_string().contains("has no model.onnx"));
        std::fs::write(dir.path().join("model.onnx"), "x").expect("writes");
        std::fs::write(dir.path().join("tokenizer.json"), "{}").expect("writes");
        let m = ModelFolder::read(dir.path()).expect("reads");
        assert_eq!(m.info.fingerprint.len(), 64);
        let json = r#"{"name":"m","dim":3,"max_tokens":8,"pooling":"mean","fingerprint":"00"}"#;
        std::fs::write(dir.path().join("model.json"), json).expect("writes");
        assert!(ModelFolder::read(dir.path()).is_err(), "a fingerprint that does not fit");
    }
}
