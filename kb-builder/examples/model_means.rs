//! Measures what a model's vectors have in common in English and in Chinese, for kb-core's
//! `index/vector/known`: `model_means MODEL CACHE ENGLISH CHINESE OUT`.
//!
//! ENGLISH and CHINESE are test sets with the same passages and questions in both languages (XQuAD). OUT gets
//! five means as f32, little endian: English passages, Chinese passages, English and Chinese beginnings of
//! passages taken for questions, and Chinese questions less English ones.

use kb_builder::build::{Passage, embed_texts};
use kb_builder::embedding::EmbeddingModel;
use kb_builder::eval::{TestSet, corpus, text_to_embed};
use kb_builder::model::ModelFolder;
use kb_builder::report::{Reporter, Style};
use kb_core::embed::TextKind;
use std::path::Path;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let [_, model, cache, english, chinese, out] = args.as_slice() else {
        return Err("usage: model_means MODEL CACHE ENGLISH CHINESE OUT".into());
    };
    let model = EmbeddingModel::from(ModelFolder::read(Path::new(model))?);
    println!("{} {}", model.info().name, model.info().fingerprint);
    let reporter = Reporter::new(Style::choose(false, true));
    let mean = |kind: TextKind, texts: &[String]| -> Result<Vec<f64>, kb_builder::Error> {
        let vectors = embed_texts(&model, Some(Path::new(cache)), kind, texts, &reporter)?.vectors;
        let mut sum = vec![0f64; model.info().dim];
        for vector in &vectors {
            sum.iter_mut().zip(vector).for_each(|(s, x)| *s += f64::from(*x));
        }
        Ok(sum.into_iter().map(|s| s / vectors.len().max(1) as f64).collect())
    };
    let (mut passages, mut beginnings, mut questions) = (Vec::new(), Vec::new(), Vec::new());
    for folder in [english, chinese] {
        let set = TestSet::read(Path::new(folder))?;
        let (documents, chunks) = corpus(&set)?;
        let with_document = || chunks.iter().map(|c| (&documents[c.doc as usize], c));
        passages.push(mean(TextKind::Passage, &with_document().map(|(d, c)| text_to_embed(d, c)).collect::<Vec<_>>())?);
        let starts: Vec<String> = with_document().map(|(d, c)| Passage::new(d, c).beginning().to_string()).collect();
        beginnings.push(mean(TextKind::Query, &starts)?);
        let asked: Vec<String> = set.queries.iter().map(|q| q.text.clone()).collect();
        questions.push(mean(TextKind::Query, &asked)?);
    }
    let shift: Vec<f64> = questions[1].iter().zip(&questions[0]).map(|(zh, en)| zh - en).collect();
    let all = passages.iter().chain(&beginnings).chain([&shift]).flatten();
    let bytes: Vec<u8> = all.flat_map(|x| (*x as f32).to_le_bytes()).collect();
    std::fs::write(out, bytes)?;
    Ok(())
}
