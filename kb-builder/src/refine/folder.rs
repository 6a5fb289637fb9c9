//! Reading a cross-encoder's folder.

use crate::error::{Error, Result};
use kb_core::embed::CrossEncoder;
use serde::Deserialize;
use std::path::Path;

/// Where exports put the model, best first.
const MODELS: [&str; 2] = ["model.onnx", "onnx/model.onnx"];
/// Longest input where nothing says how long it may be, or says more: as much as is worth the wait.
const MAX_TOKENS: usize = 512;

/// What is needed of `config.json` as transformers writes it.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Config {
    max_position_embeddings: Option<usize>,
    model_type: String,
}

impl Config {
    /// The model's longest input in tokens, 512 at most.
    fn max_tokens(&self) -> usize {
        let positions = self.max_position_embeddings.unwrap_or(MAX_TOKENS);
        // RoBERTa and its kin count positions from 2 on.
        let kept = if self.model_type.contains("roberta") { 2 } else { 0 };
        positions.saturating_sub(kept).min(MAX_TOKENS)
    }
}

/// Reads a folder with `model.onnx` (or `onnx/model.onnx`), `tokenizer.json` and, where there is one, `config.json`.
pub fn read_cross_encoder(folder: &Path) -> Result<CrossEncoder> {
    let hint = "a cross-encoder is a folder with model.onnx and tokenizer.json, as sentence-transformers exports it";
    if !folder.is_dir() {
        return Err(Error::usage(format!("{} is no folder, so it holds no reranker", folder.display()), hint));
    }
    let read = |name: &str| {
        let path = folder.join(name);
        std::fs::read(&path).map_err(|e| Error::io("read", &path, e))
    };
    let Some(model) = MODELS.into_iter().find(|name| folder.join(name).is_file()) else {
        return Err(Error::usage(format!("the folder {} has no model.onnx", folder.display()), hint));
    };
    let config = match read("config.json") {
        Ok(json) => serde_json::from_slice(&json)
            .map_err(|e| Error::usage(format!("{} cannot be read: {e}", folder.join("config.json").display()), hint))?,
        Err(_) => Config::default(),
    };
    Ok(CrossEncoder::load(&read(model)?, &read("tokenizer.json")?, config.max_tokens())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_input_comes_from_the_configuration() {
        let of = |json: &str| serde_json::from_str::<Config>(json).expect("JSON").max_tokens();
        assert_eq!(of("{}"), 512);
        assert_eq!(of("{\"max_position_embeddings\": 128, \"model_type\": \"bert\"}"), 128);
        assert_eq!(of("{\"max_position_embeddings\": 514, \"model_type\": \"xlm-roberta\"}"), 512);
        assert_eq!(of("{\"max_position_embeddings\": 258, \"model_type\": \"roberta\"}"), 256);
        assert_eq!(of("{\"max_position_embeddings\": 8192, \"model_type\": \"modernbert\"}"), 512);
    }
}
