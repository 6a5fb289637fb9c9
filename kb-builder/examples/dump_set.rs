//! Research dump.
use kb_builder::build::{Passage, embed_texts};
use kb_builder::eval::{TestSet, corpus, text_to_embed};
use kb_builder::model::ModelFolder;
use kb_builder::report::{Reporter, Style};
use kb_core::embed::TextKind;
use kb_core::index::lexical::{LexicalBuilder, LexicalIndex};
use kb_core::text::query_terms;
use std::fmt::Write as _;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, model, cache, set, out] = args.as_slice() else { return Err("usage".into()) };
    let model = ModelFolder::read(Path::new(model))?;
    let reporter = Reporter::new(Style::choose(false, true));
    let out = Path::new(out);
    std::fs::create_dir_all(out)?;
    let set = TestSet::read(Path::new(set))?;
    let (documents, chunks) = corpus(&set)?;
    let mut lexical = LexicalBuilder::new();
    for c in &chunks {
        lexical.add_chunk(&documents[c.doc as usize], c)?;
    }
    let lexical = LexicalIndex::from_bytes(lexical.build()?.to_bytes().to_vec())?;
    let dump = |kind, texts: &[String], name: &str| -> Result<(), Box<dyn std::error::Error>> {
        let v = embed_texts(&model, Some(Path::new(cache)), kind, texts, &reporter)?.vectors;
        let bytes: Vec<u8> = v.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        std::fs::write(out.join(name), bytes)?;
        Ok(())
    };
    let docs: String = chunks.iter().map(|c| format!("{}\t{}\t{}\n", documents[c.doc as usize].path, documents[c.doc as usize].lang.code(), c.id)).collect();
    std::fs::write(out.join("chunks.tsv"), docs)?;
    dump(TextKind::Passage, &chunks.iter().map(|c| text_to_embed(&documents[c.doc as usize], c)).collect::<Vec<_>>(), "p.f32")?;
    dump(TextKind::Query, &set.queries.iter().map(|q| q.text.clone()).collect::<Vec<_>>(), "q.f32")?;
    let b: Vec<String> = chunks.iter().map(|c| Passage::new(&documents[c.doc as usize], c).beginning().to_string()).collect();
    std::fs::write(out.join("beginnings.txt"), b.join("\n"))?;
    let step = b.len().div_ceil(400).max(1);
    let b: Vec<String> = b.into_iter().filter(|b| b.chars().any(char::is_alphabetic)).step_by(step).collect();
    dump(TextKind::Query, &b, "b.f32")?;
    let mut lines = String::new();
    for q in &set.queries {
        let words = lexical.lookups(&query_terms(&q.text), false)?;
        let mut s = lexical.scores(&words, None)?;
        let attainable: f32 = words.iter().zip(&s.idf).map(|(w, i)| w.weight * i).sum();
        s.passages.sort_by(|a, b| b.score.total_cmp(&a.score).then(chunks[a.chunk as usize].id.cmp(&chunks[b.chunk as usize].id)));
        s.passages.truncate(1000);
        let _ = write!(lines, "{}\t{attainable}", q.id);
        for p in &s.passages {
            let _ = write!(lines, "\t{},{},{}", p.chunk, p.score, p.matched);
        }
        lines.push('\n');
    }
    std::fs::write(out.join("lexical.tsv"), lines)?;
    Ok(())
}
