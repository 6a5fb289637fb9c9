//! How well each way of cutting covers the exact places that answer questions: `chunking SET [MODEL CACHE]`.
//!
//! SET has `corpus.jsonl` with the pieces of whole files (`file`, `start`, `end` in characters, `text`) and
//! `queries.jsonl` with `references`: file, start, end. Without MODEL the words search, with it words and meaning.
//!
//! Recall, precision and intersection over union of characters as in Smith and Troynikov, "Evaluating Chunking
//! Strategies for Retrieval" (Chroma, 2024), over what the first passages of 3,000 characters in all hold and what the
//! first five hold; `precision_all` is the precision of all passages that touch a reference, whatever is searched.

use kb_builder::embedding::EmbeddingModel;
use kb_builder::eval::{Settings, index_of};
use kb_builder::model::ModelFolder;
use kb_builder::report::{Reporter, Style};
use kb_core::chunk::heading::HeadingOptions;
use kb_core::chunk::{self, Chunk, ChunkStrategy, Window};
use kb_core::document::Document;
use kb_core::document::markdown::parse_markdown;
use kb_core::embed::{Embedder, TextKind};
use kb_core::index::vector::VectorMethod;
use kb_core::search::{Mode, Query, RetrievalOptions};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::Path;

type Result<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Characters of the prompt's context.
const BUDGET: usize = 3000;

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let (set, model) = match args.as_slice() {
        [set] => (set, None),
        [set, model, cache] => (set, Some((EmbeddingModel::from(ModelFolder::read(Path::new(model))?), cache))),
        _ => return Err("usage: chunking SET [MODEL CACHE]".into()),
    };
    let documents = documents(&lines(Path::new(set), "corpus.jsonl")?);
    let questions = lines(Path::new(set), "queries.jsonl")?;
    let heading = |max_chars, overlap_chars, min_chars| {
        let options = HeadingOptions { max_chars, overlap_chars, min_chars, ..HeadingOptions::default() };
        ChunkStrategy::Heading(options)
    };
    let window = |size, overlap, min| Window { size, overlap, min };
    for (name, strategy) in [
        ("heading 800/80/100", ChunkStrategy::default()),
        ("heading 400/40/100", heading(400, 40, 100)),
        ("heading 600/80/100", heading(600, 80, 100)),
        ("heading 800/0/100", heading(800, 0, 100)),
        ("heading 1200/120/100", heading(1200, 120, 100)),
        ("sliding 800/150/50", ChunkStrategy::Sliding(window(800, 150, 50))),
        ("sliding 400/75/50", ChunkStrategy::Sliding(window(400, 75, 50))),
        ("paragraph 500/50", ChunkStrategy::Paragraph(window(500, 50, 0))),
        ("paragraph 800/80", ChunkStrategy::Paragraph(window(800, 80, 0))),
        ("line 500/50", ChunkStrategy::Line(window(500, 50, 0))),
    ] {
        println!("{}", measure(name, &strategy, &documents, &questions, model.as_ref())?);
    }
    Ok(())
}

fn lines(set: &Path, name: &str) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(set.join(name))?;
    Ok(text.lines().map(serde_json::from_str).collect::<std::result::Result<_, _>>()?)
}

/// The files that the pieces were cut from; only white space between pieces was lost.
fn documents(pieces: &[Value]) -> Vec<Document> {
    let mut files: BTreeMap<&str, Vec<char>> = BTreeMap::new();
    for piece in pieces {
        let text = files.entry(piece["file"].as_str().unwrap_or_default()).or_default();
        let start = piece["start"].as_u64().unwrap_or(0) as usize;
        text.resize(text.len().max(start), '\n');
        text.truncate(start);
        text.extend(piece["text"].as_str().unwrap_or_default().chars());
    }
    files.into_iter().map(|(path, text)| parse_markdown(path, &text.into_iter().collect::<String>()).document).collect()
}

/// Sets of characters of one document, sorted and apart.
fn union(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|r| r.start);
    let mut out: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match out.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => out.push(range),
        }
    }
    out
}

fn length(ranges: &[Range<usize>]) -> usize {
    ranges.iter().map(Range::len).sum()
}

fn common(a: &[Range<usize>], b: &[Range<usize>]) -> usize {
    let both = |x: &Range<usize>, y: &Range<usize>| x.end.min(y.end).saturating_sub(x.start.max(y.start));
    a.iter().map(|x| b.iter().map(|y| both(x, y)).sum::<usize>()).sum()
}

/// Characters by document.
type Places = BTreeMap<u32, Vec<Range<usize>>>;

/// Recall, precision, intersection over union.
fn scores(found: &Places, wanted: &Places) -> [f64; 3] {
    let (found, wanted): (Places, Places) = (
        found.iter().map(|(d, r)| (*d, union(r.clone()))).collect(),
        wanted.iter().map(|(d, r)| (*d, union(r.clone()))).collect(),
    );
    let (all, asked) =
        (found.values().map(|r| length(r)).sum::<usize>(), wanted.values().map(|r| length(r)).sum::<usize>());
    let both: usize = wanted.iter().map(|(d, r)| found.get(d).map_or(0, |f| common(f, r))).sum();
    let share = |n: usize, of: usize| if of == 0 { 0.0 } else { n as f64 / of as f64 };
    [share(both, asked), share(both, all), share(both, all + asked - both)]
}

fn measure(
    name: &str,
    strategy: &ChunkStrategy,
    documents: &[Document],
    questions: &[Value],
    model: Option<&(EmbeddingModel, &String)>,
) -> Result<Value> {
    let mut chunks: Vec<Chunk> = Vec::new();
    for (i, document) in documents.iter().enumerate() {
        chunks.extend(strategy.chunk(document, i as u32)?);
    }
    // Byte to character, since references count characters.
    let places: Vec<Vec<usize>> = documents.iter().map(|d| characters(&d.text)).collect();
    let span = |c: &Chunk| {
        let at = &places[c.doc as usize];
        at[c.span_bytes.start as usize]..at[c.span_bytes.end as usize]
    };
    let spans: Vec<(u32, Range<usize>)> = chunks.iter().map(|c| (c.doc, span(c))).collect();
    let ids: BTreeMap<String, usize> = chunks.iter().enumerate().map(|(i, c)| (c.id.to_string(), i)).collect();
    let (count, mean) = (chunks.len(), spans.iter().map(|(_, r)| r.len()).sum::<usize>() / chunks.len().max(1));
    let settings = Settings {
        vectors: VectorMethod::Auto,
        refiner: None,
        mode: if model.is_some() { Mode::Hybrid } else { Mode::Lexical },
        retrieval: RetrievalOptions::default(),
        model: model.map(|(m, _)| m),
        cache: model.map(|(_, cache)| Path::new(cache.as_str())),
    };
    let reporter = Reporter::new(Style::choose(false, true));
    let base = index_of(documents.to_vec(), chunks, chunk::embedding_text, &settings, &reporter)?;
    let encoder = model.and_then(|(m, _)| m.folder()).map(ModelFolder::encoder).transpose()?;
    let (mut by_budget, mut by_five, mut all, mut asked) = ([0.0; 3], [0.0; 3], 0.0, 0.0);
    for question in questions {
        let mut wanted = Places::new();
        for reference in question["references"].as_array().into_iter().flatten() {
            let document = documents.iter().position(|d| Some(d.path.as_str()) == reference[0].as_str());
            let (Some(document), Some(from), Some(to)) = (document, reference[1].as_u64(), reference[2].as_u64())
            else {
                continue;
            };
            wanted.entry(document as u32).or_default().push(from as usize..to as usize);
        }
        if wanted.is_empty() {
            continue;
        }
        let text = question["text"].as_str().unwrap_or_default().to_owned();
        let vector =
            encoder.as_ref().map(|e| e.embed(TextKind::Query, &[&text])).transpose()?.and_then(|mut v| v.pop());
        let query = Query { text, k: 50, mode: settings.mode, ..Query::default() };
        let hits = base.search(&query, vector.as_deref())?.hits;
        let found: Vec<&(u32, Range<usize>)> =
            hits.iter().filter_map(|h| ids.get(&h.chunk_id)).map(|i| &spans[*i]).collect();
        let (mut budget, mut five, mut touching, mut used) = (Places::new(), Places::new(), Places::new(), 0);
        for (rank, (document, range)) in found.iter().enumerate() {
            if rank < 5 {
                five.entry(*document).or_default().push(range.clone());
            }
            if used < BUDGET {
                let end = range.end.min(range.start + BUDGET - used);
                budget.entry(*document).or_default().push(range.start..end);
                used += range.len();
            }
        }
        for (document, range) in &spans {
            if wanted.get(document).is_some_and(|w| common(w, std::slice::from_ref(range)) > 0) {
                touching.entry(*document).or_default().push(range.clone());
            }
        }
        let add =
            |sum: &mut [f64; 3], found: &Places| sum.iter_mut().zip(scores(found, &wanted)).for_each(|(s, x)| *s += x);
        add(&mut by_budget, &budget);
        add(&mut by_five, &five);
        all += scores(&touching, &wanted)[1];
        asked += 1.0;
    }
    let round = |x: f64| (x / asked * 1000.0).round() / 1000.0;
    let of = |s: [f64; 3]| json!({ "recall": round(s[0]), "precision": round(s[1]), "iou": round(s[2]) });
    Ok(json!({
        "strategy": name, "passages": count, "mean_characters": mean, "questions": asked,
        "first_3000_characters": of(by_budget), "first_five": of(by_five), "precision_all": round(all),
    }))
}

/// For each byte of a text the number of the character that it belongs to, and one more for the end.
fn characters(text: &str) -> Vec<usize> {
    let mut out = Vec::with_capacity(text.len() + 1);
    for (n, c) in text.chars().enumerate() {
        out.extend(std::iter::repeat_n(n, c.len_utf8()));
    }
    out.push(text.chars().count());
    out
}
