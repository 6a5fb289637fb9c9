//! A sentence-transformers model: tokenizer, ONNX encoder, pooling, unit length.

use super::onnx::{OnnxModel, Output};
use super::{Embedder, ModelInfo, Pooling, TextKind};
use crate::{Error, ErrorKind, Result};
use sha2::{Digest, Sha256};
use tokenizers::{Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy};

/// What a model's longest input may be, in tokens: fewer than the least hold no text, and no encoder that fits
/// into a page has more positions than the most.
const MAX_TOKENS: std::ops::RangeInclusive<usize> = 8..=8192;

/// An encoder that runs here: the same code natively and in the browser.
pub struct OnnxEncoder {
    info: ModelInfo,
    tokenizer: Tokenizer,
    model: OnnxModel,
}

pub(super) fn tokenizer_error(e: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Model, format!("tokenizer.json cannot be used: {e}"))
}

impl OnnxEncoder {
    /// Loads a model from the bytes of `model.onnx` and `tokenizer.json` and its description, whose
    /// fingerprint is computed here (an expected one in `info` is compared with it).
    ///
    /// # Errors
    /// [`ErrorKind::Model`] if a file cannot be read or uses something unsupported;
    /// [`ErrorKind::ModelMismatch`] if `info.fingerprint` is set and another one.
    pub fn load(onnx: &[u8], tokenizer: &[u8], mut info: ModelInfo) -> Result<Self> {
        let fingerprint = fingerprint(onnx, tokenizer, &info);
        if !info.fingerprint.is_empty() && info.fingerprint != fingerprint {
            return Err(Error::new(
                ErrorKind::ModelMismatch,
                format!(
                    "the model `{}` has fingerprint {}, expected {}",
                    info.name,
                    short(&fingerprint),
                    short(&info.fingerprint)
                ),
            ));
        }
        info.fingerprint = fingerprint;
        if !MAX_TOKENS.contains(&info.max_tokens) {
            return Err(Error::new(
                ErrorKind::Model,
                format!(
                    "the model's description says {} tokens at most, it must say {} to {}",
                    info.max_tokens,
                    MAX_TOKENS.start(),
                    MAX_TOKENS.end()
                ),
            ));
        }
        let mut tokenizer = Tokenizer::from_bytes(tokenizer).map_err(tokenizer_error)?;
        // Files of sentence-transformers models often pad to 128 tokens.
        tokenizer.with_padding(None);
        let truncation = TruncationParams {
            direction: TruncationDirection::Right,
            max_length: info.max_tokens,
            strategy: TruncationStrategy::LongestFirst,
            stride: 0,
        };
        tokenizer.with_truncation(Some(truncation)).map_err(tokenizer_error)?;
        let encoder = Self { info, tokenizer, model: OnnxModel::load(onnx)? };
        let width = encoder.embed_one(TextKind::Query, "a")?.len();
        if width != encoder.info.dim {
            return Err(Error::new(
                ErrorKind::Model,
                format!("the model gives {width} numbers, its description says {}", encoder.info.dim),
            ));
        }
        Ok(encoder)
    }

    /// Token ids of a text with its prefix and special tokens, cut to the model's length.
    ///
    /// # Errors
    /// [`ErrorKind::Model`] if the tokenizer fails.
    pub fn token_ids(&self, kind: TextKind, text: &str) -> Result<Vec<u32>> {
        let prefix = match kind {
            TextKind::Query => &self.info.query_prefix,
            TextKind::Passage => &self.info.passage_prefix,
        };
        // A tokenizer works on the whole text before it truncates. No token of a known model has
        // more than some tens of characters on average, so what is far past the end can go.
        let limit = self.info.max_tokens.saturating_mul(64);
        let text = match text.char_indices().nth(limit) {
            Some((end, _)) => &text[..end],
            None => text,
        };
        let encoding = self.tokenizer.encode_fast(format!("{prefix}{text}"), true).map_err(tokenizer_error)?;
        Ok(encoding.get_ids().to_vec())
    }

    /// Token vectors of one text pooled to one vector of unit length.
    ///
    /// # Errors
    /// [`ErrorKind::Model`] if the tokenizer or the model fails.
    pub fn embed_one(&self, kind: TextKind, text: &str) -> Result<Vec<f32>> {
        self.embed_ids(&self.token_ids(kind, text)?)
    }

    /// [`OnnxEncoder::embed_one`] for token ids.
    ///
    /// # Errors
    /// [`ErrorKind::Model`] if the model fails.
    pub fn embed_ids(&self, ids: &[u32]) -> Result<Vec<f32>> {
        let ids: Vec<i64> = ids.iter().map(|id| i64::from(*id)).collect();
        if ids.is_empty() {
            return Err(Error::new(ErrorKind::Model, "the tokenizer gave no tokens at all"));
        }
        let mut vector = pool(&self.model.run(&ids)?, self.info.pooling);
        normalise(&mut vector)?;
        Ok(vector)
    }

    /// Embeds many texts, longest first, on all cores where the feature `parallel` is on. `progress`
    /// is called after each text, from any thread, with its index, its number of tokens and its
    /// vector, so that finished work can be kept.
    ///
    /// # Errors
    /// The first error of any text; the others may or may not have been embedded.
    pub fn embed_all(
        &self,
        kind: TextKind,
        texts: &[&str],
        progress: &(dyn Fn(usize, usize, &[f32]) + Sync),
    ) -> Result<Vec<Vec<f32>>> {
        let tokens = map(texts, |text| self.token_ids(kind, text))?;
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|i| std::cmp::Reverse(tokens[*i].len()));
        let done = map(&order, |i| {
            let vector = self.embed_ids(&tokens[*i])?;
            progress(*i, tokens[*i].len(), &vector);
            Ok(vector)
        })?;
        let mut vectors = vec![Vec::new(); texts.len()];
        for (i, vector) in order.into_iter().zip(done) {
            vectors[i] = vector;
        }
        Ok(vectors)
    }
}

#[cfg(feature = "parallel")]
pub(super) fn map<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> Result<R> + Sync + Send) -> Result<Vec<R>> {
    use rayon::prelude::*;
    // Single items, in order: the longest texts start first, so no thread is left with a long tail.
    items.par_iter().with_max_len(1).map(f).collect()
}

#[cfg(not(feature = "parallel"))]
pub(super) fn map<T, R>(items: &[T], f: impl Fn(&T) -> Result<R>) -> Result<Vec<R>> {
    items.iter().map(f).collect()
}

impl Embedder for OnnxEncoder {
    fn info(&self) -> &ModelInfo {
        &self.info
    }

    fn embed(&self, kind: TextKind, texts: &[&str]) -> Result<Vec<Vec<f32>>> {
        self.embed_all(kind, texts, &|_, _, _| {})
    }
}

/// Mean over the tokens, or the first token's vector.
fn pool(output: &Output, pooling: Pooling) -> Vec<f32> {
    let width = output.width;
    match pooling {
        Pooling::Cls => output.data[..width.min(output.data.len())].to_vec(),
        Pooling::Mean => {
            let mut sum = vec![0f32; width];
            for row in output.data.chunks_exact(width.max(1)) {
                for (s, v) in sum.iter_mut().zip(row) {
                    *s += v;
                }
            }
            let n = output.rows.max(1) as f32;
            sum.iter_mut().for_each(|s| *s /= n);
            sum
        }
    }
}

fn normalise(vector: &mut [f32]) -> Result<()> {
    let length = vector.iter().map(|v| v * v).sum::<f32>().sqrt();
    if !(length.is_finite() && length > 0.0) {
        return Err(Error::new(ErrorKind::Model, "the model gave a vector without a direction"));
    }
    vector.iter_mut().for_each(|v| *v /= length);
    Ok(())
}

/// SHA-256 in hex over both files and what else decides about a vector.
pub fn fingerprint(onnx: &[u8], tokenizer: &[u8], info: &ModelInfo) -> String {
    let mut hash = Sha256::new();
    for part in [onnx, tokenizer] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let rest = format!(
        "{}\n{}\n{:?}\n{}\n{}",
        info.dim, info.max_tokens, info.pooling, info.query_prefix, info.passage_prefix
    );
    hash.update(rest.as_bytes());
    hash.finalize().iter().map(|b| format!("{b:02x}")).collect()
}

fn short(fingerprint: &str) -> &str {
    fingerprint.get(..12).unwrap_or(fingerprint)
}
