//! `kb-builder inspect`

use super::print_json;
use crate::base::Base;
use crate::error::{Error, Result};
use crate::report::bytes;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

/// Show what a knowledge base consists of
#[derive(Debug, clap::Args)]
pub struct Args {
    /// The folder that `build` wrote
    site: PathBuf,
    /// Print one JSON object
    #[arg(long, conflicts_with = "document")]
    json: bool,
    /// Print one document as Markdown, as it was converted
    #[arg(long, value_name = "COLLECTION/PATH")]
    document: Option<String>,
}

/// What is printed.
#[derive(Serialize)]
struct Output {
    title: String,
    language: String,
    id: String,
    generator: String,
    format: u16,
    documents: u32,
    passages: u32,
    text_bytes: u64,
    collections: Vec<Collection>,
    /// Documents by language code.
    languages: BTreeMap<String, usize>,
    model: Option<Model>,
    /// Section files, parts of one kind together.
    sections: Vec<Section>,
    /// All section files.
    bundle_bytes: u64,
    /// Distinct terms of the word index.
    terms: usize,
    /// Whether the vectors have a graph.
    graph: bool,
}

#[derive(Serialize)]
struct Collection {
    name: String,
    documents: u32,
    passages: u32,
}

#[derive(Serialize)]
struct Model {
    name: String,
    fingerprint: String,
    dim: usize,
    max_tokens: usize,
}

#[derive(Serialize)]
struct Section {
    kind: String,
    files: usize,
    bytes: u64,
    bytes_per_passage: f64,
}

/// Reads everything, so that damage anywhere is found, and prints.
pub fn run(args: &Args) -> Result<ExitCode> {
    let base = Base::open(&args.site, true)?;
    if let Some(name) = &args.document {
        return print_document(&base, name);
    }
    base.knowledge.lexical_index().check()?;
    let output = describe(&base);
    if args.json {
        print_json(&output)?;
    } else {
        print(&output);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints the converted text of `COLLECTION/PATH`.
fn print_document(base: &Base, name: &str) -> Result<ExitCode> {
    let mut documents = base.knowledge.documents().iter();
    let found =
        documents.find(|d| name.strip_prefix(d.collection.as_str()).and_then(|n| n.strip_prefix('/')) == Some(&d.path));
    let Some(document) = found else {
        return Err(Error::usage(
            format!("there is no document `{name}`"),
            "name it as hits do: its collection, a slash, its path",
        ));
    };
    // A reader that has seen enough, such as `head`, is no failure.
    let _ = std::io::stdout().lock().write_all(document.text.as_bytes());
    Ok(ExitCode::SUCCESS)
}

fn describe(base: &Base) -> Output {
    let m = &base.manifest;
    let mut languages = BTreeMap::new();
    for document in base.knowledge.documents() {
        *languages.entry(document.lang.code().to_string()).or_default() += 1;
    }
    let mut sections: Vec<Section> = Vec::new();
    for section in &m.sections {
        let kind = section.kind.name();
        match sections.last_mut() {
            Some(last) if last.kind == kind => {
                last.files += 1;
                last.bytes += section.bytes;
            }
            _ => sections.push(Section { kind: kind.into(), files: 1, bytes: section.bytes, bytes_per_passage: 0.0 }),
        }
    }
    for section in &mut sections {
        section.bytes_per_passage = (section.bytes as f64 / f64::from(m.counts.chunks.max(1)) * 10.0).round() / 10.0;
    }
    Output {
        title: m.title.clone(),
        language: m.language.clone(),
        id: m.id.clone(),
        generator: m.generator.clone(),
        format: m.format,
        documents: m.counts.documents,
        passages: m.counts.chunks,
        text_bytes: m.counts.text_bytes,
        collections: m
            .collections
            .iter()
            .map(|c| Collection { name: c.name.clone(), documents: c.documents, passages: c.chunks })
            .collect(),
        languages,
        model: m.model.as_ref().map(|i| Model {
            name: i.name.clone(),
            fingerprint: i.fingerprint.clone(),
            dim: i.dim,
            max_tokens: i.max_tokens,
        }),
        bundle_bytes: sections.iter().map(|s| s.bytes).sum(),
        sections,
        terms: base.knowledge.lexical_index().term_count(),
        graph: base.vectors.as_ref().is_some_and(|v| v.has_graph()),
    }
}

fn print(o: &Output) {
    println!("{}  ({}, format {}, id {})", o.title, o.generator, o.format, o.id);
    println!("{} documents, {} passages, {} of text, {} terms", o.documents, o.passages, bytes(o.text_bytes), o.terms);
    let languages: Vec<String> =
        o.languages.iter().map(|(code, n)| format!("{} {n}", if code.is_empty() { "other" } else { code })).collect();
    println!("languages: {}", languages.join(", "));
    println!("\ncollections");
    for c in &o.collections {
        println!("  {:<24} {:>6} documents {:>8} passages", c.name, c.documents, c.passages);
    }
    match &o.model {
        Some(m) => println!(
            "\nmodel {}, {} numbers, {} tokens, fingerprint {:.16}",
            m.name, m.dim, m.max_tokens, m.fingerprint
        ),
        None => println!("\nno model: search by words only"),
    }
    println!("\nsections");
    for s in &o.sections {
        println!("  {:<10} {:>10} {:>9.1} bytes a passage", s.kind, bytes(s.bytes), s.bytes_per_passage);
    }
    println!("  {:<10} {:>10}", "together", bytes(o.bundle_bytes));
}
