//! `kb-builder model`

use super::print_json;
use crate::error::{Error, Result};
use crate::model::{self, ModelFolder};
use crate::report::bytes;
use serde::Serialize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
A model is a folder with three files:
  model.onnx       a sentence-transformers export: token ids in, last_hidden_state out
  tokenizer.json   its tokenizer, as the Hugging Face library writes it
  model.json       {\"name\": \"all-MiniLM-L6-v2\", \"dim\": 384, \"max_tokens\": 256, \"pooling\": \"mean\",
                    \"query_prefix\": \"\", \"passage_prefix\": \"\"}   (pooling: mean or cls)

Examples:
  kb-builder model                        the model that builds use, and where it was found
  kb-builder model --install my-model     copy a folder into the cache; then `--model NAME` finds it";

/// Show or install the embedding model
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// Folder of the model, or the name of an installed one [default: where builds look]
    #[arg(long, value_name = "DIR")]
    model: Option<PathBuf>,
    /// Check this folder and copy it to the cache folder, under the name that its model.json gives
    #[arg(long, value_name = "DIR", conflicts_with = "model")]
    install: Option<PathBuf>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Output<'a> {
    path: &'a Path,
    name: &'a str,
    fingerprint: &'a str,
    dim: usize,
    max_tokens: usize,
    query_prefix: &'a str,
    passage_prefix: &'a str,
    onnx_bytes: usize,
    tokenizer_bytes: usize,
}

/// Shows or installs.
pub fn run(args: &Args) -> Result<ExitCode> {
    let path = match &args.install {
        Some(from) => install(from)?,
        None => model::locate(args.model.as_deref(), None)?,
    };
    let folder = ModelFolder::read(&path)?;
    // Loading proves that the files can be used, not only that they are there.
    folder.encoder()?;
    if args.json {
        let i = &folder.info;
        print_json(&Output {
            path: &folder.path,
            name: &i.name,
            fingerprint: &i.fingerprint,
            dim: i.dim,
            max_tokens: i.max_tokens,
            query_prefix: &i.query_prefix,
            passage_prefix: &i.passage_prefix,
            onnx_bytes: folder.onnx.len(),
            tokenizer_bytes: folder.tokenizer.len(),
        })?;
    } else {
        println!("{} in {}", folder.info.name, folder.path.display());
        println!(
            "{} numbers, {} tokens, fingerprint {:.16}",
            folder.info.dim, folder.info.max_tokens, folder.info.fingerprint
        );
        println!(
            "model.onnx {}, tokenizer.json {}",
            bytes(folder.onnx.len() as u64),
            bytes(folder.tokenizer.len() as u64)
        );
    }
    Ok(ExitCode::SUCCESS)
}

/// Copies a model that loads into the cache folder, in one step, and returns the new folder.
fn install(from: &Path) -> Result<PathBuf> {
    let folder = ModelFolder::read(from)?;
    folder.encoder()?;
    let name = &folder.info.name;
    if name.is_empty() || name.starts_with('.') || name.contains(['/', '\\', ':']) {
        return Err(Error::failed(
            format!("`{name}` in model.json cannot be the name of a folder"),
            "give the model a plain name there",
        ));
    }
    let target = model::cache_dir().join("models").join(name);
    if target.exists() {
        return Err(Error::failed(
            format!("a model of that name is installed in {}", target.display()),
            "remove that folder first, or give yours another name in model.json",
        ));
    }
    model::store(name, [&folder.onnx, &folder.tokenizer, &folder.description()?])
}
