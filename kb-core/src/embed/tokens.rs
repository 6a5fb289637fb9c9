//! How many tokens a text has for a model.

use super::{ModelInfo, TextKind};
use crate::{Error, ErrorKind, Result};
use tokenizers::Tokenizer;

/// A model's tokenizer without the model.
pub struct TokenCounter {
    tokenizer: Tokenizer,
    query_prefix: String,
    passage_prefix: String,
}

impl TokenCounter {
    /// Reads `tokenizer.json`.
    ///
    /// # Errors
    /// [`ErrorKind::Model`] if it cannot be read.
    pub fn new(tokenizer: &[u8], info: &ModelInfo) -> Result<Self> {
        let failed = |e: &dyn std::fmt::Display| Error::new(ErrorKind::Model, format!("tokenizer.json: {e}"));
        let mut tokenizer = Tokenizer::from_bytes(tokenizer).map_err(|e| failed(&e))?;
        tokenizer.with_padding(None);
        tokenizer.with_truncation(None).map_err(|e| failed(&e))?;
        Ok(Self { tokenizer, query_prefix: info.query_prefix.clone(), passage_prefix: info.passage_prefix.clone() })
    }

    /// Tokens of a text with its prefix and the model's special tokens. A text that the tokenizer fails on has none.
    pub fn count(&self, kind: TextKind, text: &str) -> usize {
        let prefix = if kind == TextKind::Query { &self.query_prefix } else { &self.passage_prefix };
        self.tokenizer.encode_fast(format!("{prefix}{text}"), true).map_or(0, |encoding| encoding.len())
    }

    /// Whether a passage surely has no more than `limit` tokens, told without the tokenizer: a token has a character at
    /// least, where no character is taken apart.
    pub fn surely_fits(info: &ModelInfo, text: &str, limit: usize) -> bool {
        // Begin, end, and the mark of a word's beginning.
        let most = limit.saturating_sub(info.passage_prefix.chars().count() + 4);
        let simple = |c: char| c.is_ascii() || matches!(c, '\u{3001}'..='\u{303f}' | '\u{4e00}'..='\u{9fff}');
        text.chars().nth(most).is_none() && text.chars().all(simple)
    }
}
