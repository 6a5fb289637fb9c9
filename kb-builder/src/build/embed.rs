//! From texts to vectors, by way of the cache.

use crate::cache::Cache;
use crate::embedding::EmbeddingModel;
use crate::error::{Error, Result};
use crate::report::Reporter;
use kb_core::embed::TextKind;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// Vectors of some texts.
#[derive(Debug)]
pub struct Embedding {
    /// One vector of unit length for each text, in the order of the texts.
    pub vectors: Vec<Vec<f32>>,
    /// How many texts were embedded now; equal texts are embedded once.
    pub computed: usize,
    /// How many vectors came from the cache.
    pub from_cache: usize,
}

/// Embeds `texts`, looking into the cache at `cache` first and putting every vector there as soon as
/// it is finished. The encoder is loaded only if there is something to do.
pub fn embed_texts(
    model: &EmbeddingModel,
    cache: Option<&Path>,
    kind: TextKind,
    texts: &[String],
    reporter: &Reporter,
) -> Result<Embedding> {
    let mut store = match cache {
        Some(dir) => Some(Cache::open(dir, model.info())?),
        None => None,
    };
    for note in store.iter().flat_map(|c| &c.notes) {
        reporter.note(note);
    }
    let total: usize = texts.iter().map(|t| t.chars().count()).sum();
    reporter.stage("embedding", total as u64, "characters");
    let mut vectors: Vec<Vec<f32>> = vec![Vec::new(); texts.len()];
    let mut missing: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let mut from_cache = 0;
    for (i, text) in texts.iter().enumerate() {
        let known = store.as_mut().map(|c| c.get(kind, text)).transpose()?.flatten();
        match known {
            Some(vector) => {
                vectors[i] = vector;
                from_cache += 1;
                reporter.advance_free(text.chars().count() as u64);
            }
            None => missing.entry(text).or_default().push(i),
        }
    }
    let computed = missing.len();
    if computed > 0 {
        let todo: Vec<&str> = missing.keys().copied().collect();
        let store = store.map(Mutex::new);
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let cut = AtomicUsize::new(model.cut(&todo));
        let max_tokens = model.info().max_tokens;
        let finished = |i: usize, tokens: usize, vector: &[f32]| {
            if let Some(store) = &store {
                let mut store = store.lock().unwrap_or_else(PoisonError::into_inner);
                if let Err(e) = store.put(kind, todo[i], vector) {
                    failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(e);
                }
            }
            cut.fetch_add(usize::from(max_tokens > 0 && tokens >= max_tokens), Ordering::Relaxed);
            let copies = missing.get(todo[i]).map_or(1, Vec::len);
            reporter.advance((todo[i].chars().count() * copies) as u64);
        };
        let new = model.embed_all(kind, &todo, &finished)?;
        // A full disk costs the cache, not the build.
        if let Some(e) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            reporter.note(&format!("embeddings could not be kept for the next build: {e}"));
        }
        let cut = cut.into_inner();
        if cut > 0 {
            reporter.note(&format!(
                "{cut} texts are longer than the model reads ({}): their ends count for the search by words only",
                match model.info().service.as_ref().and_then(|s| s.max_chars) {
                    Some(chars) => format!("{chars} characters"),
                    None => format!("{max_tokens} tokens"),
                }
            ));
        }
        for (vector, places) in new.into_iter().zip(missing.values()) {
            for place in places {
                vectors[*place].clone_from(&vector);
            }
        }
    }
    reporter.end_stage();
    Ok(Embedding { vectors, computed, from_cache })
}
