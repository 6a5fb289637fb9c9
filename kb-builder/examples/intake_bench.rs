//! What a build costs before the model: conversion and cutting of Markdown by one core, and memory. Prints JSON.
//!
//! `intake_bench speed [MB | DIR]` reads and cuts a synthetic corpus, or the Markdown in a folder, in this process; `intake_bench index [CHUNKS]` measures the
//! index of words; `intake_bench build PROGRAM DIR [MB]` writes a corpus to DIR/corpus, has PROGRAM build it without a model,
//! and watches its memory (Linux).

#[path = "synthetic/pages.rs"]
mod pages;

use kb_builder::convert::{Format, convert};
use kb_builder::source::Entry;
use kb_core::chunk::{Chunk, ChunkStrategy};
use kb_core::document::Document;
use kb_core::index::lexical::LexicalBuilder;
use serde_json::json;
use std::error::Error;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pages::corpus;

fn read(i: usize, page: &str) -> Result<Document, Box<dyn Error>> {
    let entry = Entry { path: format!("{}/{i}.md", i % 100), bytes: page.len() as u64 };
    let converted = convert(Format::Markdown, "corpus", &entry, page.as_bytes(), &|_| None);
    Ok(converted.map_err(|e| e.to_string())?.document)
}

/// Megabytes (10^6 bytes) a second.
fn rate(bytes: usize, time: Duration) -> f64 {
    (bytes as f64 / 1e6 / time.as_secs_f64() * 10.0).round() / 10.0
}

/// The Markdown in a folder.
fn pages_in(dir: &Path, pages: &mut Vec<String>) -> Result<(), Box<dyn Error>> {
    for entry in std::fs::read_dir(dir)? {
        let path = entry?.path();
        if path.is_dir() {
            pages_in(&path, pages)?;
        } else if path.extension().is_some_and(|e| e == "md") {
            pages.push(String::from_utf8_lossy(&std::fs::read(&path)?).into_owned());
        }
    }
    Ok(())
}

fn speed(of: &str) -> Result<(), Box<dyn Error>> {
    let mut pages: Vec<String> = Vec::new();
    match of.parse::<usize>() {
        Ok(megabytes) => pages.extend(corpus(megabytes * 1_000_000)),
        Err(_) => pages_in(Path::new(of), &mut pages)?,
    }
    let bytes: usize = pages.iter().map(String::len).sum();
    let strategy = ChunkStrategy::default();
    // The best of three: the others tell of what else the machine does.
    let (mut best_read, mut best_cut, mut passages) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..3 {
        let started = Instant::now();
        let documents: Vec<Document> = pages.iter().enumerate().map(|(i, p)| read(i, p)).collect::<Result<_, _>>()?;
        best_read = best_read.min(started.elapsed());
        let started = Instant::now();
        passages = 0;
        for (i, document) in documents.iter().enumerate() {
            passages += strategy.chunk(document, i as u32).map_err(|e| e.to_string())?.len();
        }
        best_cut = best_cut.min(started.elapsed());
    }
    println!(
        "{}",
        json!({
            "megabytes": bytes as f64 / 1e6, "documents": pages.len(), "passages": passages,
            "convert_mb_s": rate(bytes, best_read), "cut_mb_s": rate(bytes, best_cut),
            "together_mb_s": rate(bytes, best_read + best_cut),
        })
    );
    Ok(())
}

/// Kilobytes that a process has had at most, by the kernel's account.
fn peak(process: &str) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap_or_default();
    let line = status.lines().find(|l| l.starts_with("VmHWM:")).unwrap_or_default().to_string();
    line.split_whitespace().nth(1).and_then(|n| n.parse().ok()).unwrap_or(0)
}

fn index(passages: usize) -> Result<(), Box<dyn Error>> {
    let strategy = ChunkStrategy::default();
    let (mut documents, mut chunks): (Vec<Document>, Vec<Chunk>) = (Vec::new(), Vec::new());
    for (i, page) in corpus(usize::MAX).enumerate() {
        if chunks.len() >= passages {
            break;
        }
        let document = read(i, &page)?;
        chunks.extend(strategy.chunk(&document, i as u32).map_err(|e| e.to_string())?);
        documents.push(document);
    }
    // A five sets the highest account back to what there is now.
    let reset = || std::fs::write("/proc/self/clear_refs", "5");
    reset()?;
    let before = peak("self");
    let started = Instant::now();
    let mut lexical = LexicalBuilder::new();
    for chunk in &chunks {
        lexical.add_chunk(&documents[chunk.doc as usize], chunk).map_err(|e| e.to_string())?;
    }
    let (added, collected) = (started.elapsed(), peak("self"));
    let bytes = lexical.to_bytes().map_err(|e| e.to_string())?.len();
    let per = 100_000.0 / chunks.len() as f64;
    let megabytes = |kilobytes: u64| (kilobytes as f64 * 1024.0 / 1e6 * per).round();
    println!(
        "{}",
        json!({
            "passages": chunks.len(), "text_megabytes": documents.iter().map(|d| d.text.len()).sum::<usize>() as f64 / 1e6,
            "seconds_collecting": added.as_secs_f64(), "seconds": started.elapsed().as_secs_f64(),
            "collecting_mb_per_100k": megabytes(collected.saturating_sub(before)),
            "peak_mb_per_100k": megabytes(peak("self").saturating_sub(before)),
            "index_mb_per_100k": (bytes as f64 / 1e6 * per).round(),
        })
    );
    Ok(())
}

fn build(program: &str, dir: &Path, megabytes: usize) -> Result<(), Box<dyn Error>> {
    let folder = dir.join("corpus");
    let mut bytes = 0;
    for (i, page) in corpus(megabytes * 1_000_000).enumerate() {
        let file = folder.join((i % 100).to_string());
        std::fs::create_dir_all(&file)?;
        std::fs::write(file.join(format!("{i}.md")), &page)?;
        bytes += page.len();
    }
    let started = Instant::now();
    let mut child = Command::new(program)
        .args(["build", "corpus", "--no-model", "--out", "site"])
        .current_dir(dir)
        .stdout(Stdio::null())
        .spawn()?;
    let id = child.id().to_string();
    let mut most = 0;
    let status = loop {
        // The account goes with the process.
        most = peak(&id).max(most);
        if let Some(status) = child.try_wait()? {
            break status;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    if !status.success() {
        return Err(format!("the build failed: {status}").into());
    }
    let seconds = started.elapsed();
    println!(
        "{}",
        json!({
            "megabytes": bytes as f64 / 1e6, "peak_megabytes": (most as f64 * 1024.0 / 1e6).round(),
            "seconds": seconds.as_secs_f64(), "mb_s": rate(bytes, seconds),
        })
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args.as_slice() {
        ["speed"] => speed("50"),
        ["speed", of] => speed(of),
        ["index"] => index(100_000),
        ["index", passages] => index(passages.parse()?),
        ["build", program, dir] => build(program, Path::new(dir), 200),
        ["build", program, dir, megabytes] => build(program, Path::new(dir), megabytes.parse()?),
        _ => Err("intake_bench speed [MB | DIR] | index [PASSAGES] | build PROGRAM DIR [MB]".into()),
    }
}
