//! A cross-encoder: a model that reads a question and a passage together and says how well they go together.

use super::encoder::{map, tokenizer_error};
use super::onnx::OnnxModel;
use crate::{Error, ErrorKind, Result};
use tokenizers::{PostProcessor, Tokenizer, TruncationDirection};

/// What a model's longest input may be, in tokens.
const MAX_TOKENS: std::ops::RangeInclusive<usize> = 16..=8192;

/// A sequence classifier for pairs of texts, as sentence-transformers and transformers export it.
pub struct CrossEncoder {
    tokenizer: Tokenizer,
    model: OnnxModel,
    max_tokens: usize,
}

impl CrossEncoder {
    /// Loads the bytes of `model.onnx` and `tokenizer.json`. Question, passage and special tokens are `max_tokens` at
    /// most, 16 to 8,192.
    ///
    /// # Errors
    /// [`ErrorKind::Model`] if a file cannot be read or uses something unsupported, or if the model gives neither one
    /// number nor two for a pair.
    pub fn load(onnx: &[u8], tokenizer: &[u8], max_tokens: usize) -> Result<Self> {
        if !MAX_TOKENS.contains(&max_tokens) {
            let range = format!("{} to {}", MAX_TOKENS.start(), MAX_TOKENS.end());
            return Err(Error::new(
                ErrorKind::Model,
                format!("a cross-encoder reads {range} tokens, not {max_tokens}"),
            ));
        }
        let mut tokenizer = Tokenizer::from_bytes(tokenizer).map_err(tokenizer_error)?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(tokenizer_error)?;
        let encoder = Self { tokenizer, model: OnnxModel::load(onnx)?, max_tokens };
        encoder.logits("a", "b")?;
        Ok(encoder)
    }

    /// Token ids of a pair with the special tokens, and where the passage's begin to count as a second text. The passage
    /// is cut to what is left of the model's length, a question only where it takes more than half of it.
    ///
    /// # Errors
    /// [`ErrorKind::Model`] if the tokenizer fails.
    pub fn token_ids(&self, question: &str, passage: &str) -> Result<(Vec<u32>, usize)> {
        let encode = |text: &str| self.tokenizer.encode(head(text, self.max_tokens), false).map_err(tokenizer_error);
        let (mut question, mut passage) = (encode(question)?, encode(passage)?);
        let special = self.tokenizer.get_post_processor().map_or(0, |p| p.added_tokens(true));
        let room = self.max_tokens.saturating_sub(special);
        question.truncate(room / 2, 0, TruncationDirection::Right);
        passage.truncate(room.saturating_sub(question.len()), 0, TruncationDirection::Right);
        let pair = self.tokenizer.post_process(question, Some(passage), true).map_err(tokenizer_error)?;
        let ids = pair.get_ids().to_vec();
        let second = pair.get_type_ids().iter().position(|kind| *kind == 1).unwrap_or(ids.len());
        Ok((ids, second))
    }

    /// What the model gives for a pair: one number, or one for each of two classes.
    ///
    /// # Errors
    /// [`ErrorKind::Model`] if the tokenizer or the model fails, or gives something else.
    pub fn logits(&self, question: &str, passage: &str) -> Result<Vec<f32>> {
        let (ids, second) = self.token_ids(question, passage)?;
        let ids: Vec<i64> = ids.into_iter().map(i64::from).collect();
        if ids.is_empty() {
            return Err(Error::new(ErrorKind::Model, "the tokenizer gave no tokens at all"));
        }
        let output = self.model.run_pair(&ids, second)?;
        if !matches!((output.rows, output.width), (1, 1 | 2)) {
            return Err(Error::new(
                ErrorKind::Model,
                format!(
                    "the model is no cross-encoder: it gives {} times {} numbers for a pair, not one or two",
                    output.rows, output.width
                ),
            ));
        }
        Ok(output.data)
    }

    /// How well each passage goes with the question, 0 to 1, in the given order: the logistic function of the one
    /// logit, or, of two classes, the probability of the second (softmax, which is the logistic function of their
    /// difference). On all cores where the feature `parallel` is on.
    ///
    /// # Errors
    /// The first error of any passage.
    pub fn score(&self, question: &str, passages: &[&str]) -> Result<Vec<f32>> {
        map(passages, |passage| {
            let logit = match *self.logits(question, passage)? {
                [no, yes] => yes - no,
                [only] => only,
                _ => f32::NAN,
            };
            if logit.is_nan() {
                return Err(Error::new(ErrorKind::Model, "the cross-encoder gave no number"));
            }
            Ok(1.0 / (1.0 + libm::expf(-logit)))
        })
    }
}

/// As much of a text as can matter: no token of a known model has more than some tens of characters on average, and a
/// tokenizer works on the whole text before it truncates.
fn head(text: &str, max_tokens: usize) -> &str {
    text.char_indices().nth(max_tokens.saturating_mul(64)).map_or(text, |(end, _)| &text[..end])
}
