//! Measures the encoder natively: `encoder_bench MODEL_DIR [TEXTS.json]` prints JSON with the time of
//! single questions of 8, 16, 32 and 128 tokens (one thread, median of many runs) and, with a JSON
//! list of texts, the throughput in tokens a second on all threads of rayon's pool.

// A program with files and arguments, unlike the library beside it.
#![allow(clippy::disallowed_types, clippy::disallowed_methods)]

use kb_core::embed::{ModelInfo, OnnxEncoder, TextKind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let dir = std::path::Path::new(args.get(1).ok_or("usage: encoder_bench MODEL_DIR [TEXTS.json]")?);
    let onnx = std::fs::read(dir.join("model.onnx"))?;
    let tokenizer = std::fs::read(dir.join("tokenizer.json"))?;
    let info: ModelInfo = serde_json::from_slice(&std::fs::read(dir.join("model.json"))?)?;
    let start = Instant::now();
    let encoder = OnnxEncoder::load(&onnx, &tokenizer, info)?;
    let load_ms = start.elapsed().as_secs_f64() * 1e3;
    let mut latency = serde_json::Map::new();
    let words = encoder.token_ids(TextKind::Query, &"how does the index find a passage ".repeat(40))?;
    for tokens in [8usize, 16, 32, 128] {
        let ids = &words[..tokens];
        let mut times = Vec::new();
        for _ in 0..(2000 / tokens).clamp(15, 100) {
            let start = Instant::now();
            encoder.embed_ids(ids)?;
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        times.sort_by(f64::total_cmp);
        latency.insert(tokens.to_string(), times[times.len() / 2].into());
    }
    let mut report = serde_json::json!({ "load_ms": load_ms, "latency_ms": latency });
    if let Some(path) = args.get(2) {
        let texts: Vec<String> = serde_json::from_slice(&std::fs::read(path)?)?;
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let total = AtomicUsize::new(0);
        let start = Instant::now();
        encoder.embed_all(TextKind::Passage, &texts, &|_, tokens, _| {
            total.fetch_add(tokens, Ordering::Relaxed);
        })?;
        let seconds = start.elapsed().as_secs_f64();
        let tokens = total.into_inner();
        report["throughput"] = serde_json::json!({
            "texts": texts.len(), "tokens": tokens, "tokens_per_second": tokens as f64 / seconds,
        });
    }
    println!("{report}");
    Ok(())
}
