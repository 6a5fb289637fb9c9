//! Sizes of passages in the tokens of the default model.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Sandbox, stderr};
use kb_builder::base::Base;
use kb_core::chunk::embedding_text;
use kb_core::embed::{TextKind, TokenCounter};
use std::path::Path;

/// The clone's default model.
fn model() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../prebuilt/models/multilingual-e5-small-zh-en-q4");
    path.canonicalize().expect("the default model is in prebuilt/models").to_string_lossy().into_owned()
}

/// The lengths in tokens of all passages of a site, by collection.
fn lengths(s: &Sandbox, collection: &str) -> Vec<usize> {
    let base = Base::open(&s.path("site"), false).expect("opens");
    let tokenizer = std::fs::read(s.path("site/model/tokenizer.json")).expect("tokenizer");
    let counter = TokenCounter::new(&tokenizer, base.manifest.model.as_ref().expect("model")).expect("reads");
    let documents = base.knowledge.documents();
    let own = base.knowledge.chunks().iter().map(|c| (&documents[c.doc as usize], c));
    own.filter(|(d, _)| d.collection == collection)
        .map(|(d, c)| counter.count(TextKind::Passage, &embedding_text(d, c)))
        .collect()
}

#[test]
fn no_passage_is_longer_and_both_languages_come_near() {
    let s = Sandbox::new();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs");
    for (name, file) in [("en", "course-en/07-reading-history.md"), ("zh", "course-zh/08-hybrid-search.md")] {
        s.write(&format!("{name}/{name}.md"), std::fs::read(docs.join(file)).expect("a document"));
    }
    let m = model();
    // Sections are as long as they are.
    for (strategy, least) in [("heading", 0.35), ("sliding", 0.6), ("paragraph", 0.6), ("line", 0.6)] {
        s.write(
            "kb.toml",
            format!("[[source]]\npath = \"en\"\n[[source]]\npath = \"zh\"\n[chunking]\nunit = \"tokens\"\nstrategy = \"{strategy}\"\nsize = 120\noverlap = 20\nmin = 0\n"),
        );
        s.expect(0, &["build", "-q", "--model", &m]);
        for name in ["en", "zh"] {
            let all = lengths(&s, name);
            let mean = all.iter().sum::<usize>() as f64 / all.len() as f64;
            println!(
                "{strategy} {name}: {} passages, mean {mean:.0}, longest {:?}: {all:?}",
                all.len(),
                all.iter().max()
            );
            assert!(all.iter().all(|n| *n <= 120), "{strategy} {name}: {all:?}");
            assert!(mean >= least * 120.0 && all.len() > 3, "{strategy} {name}: mean {mean}, {all:?}");
        }
    }
}

#[test]
fn what_cannot_be_kept_to_is_a_sentence() {
    let s = Sandbox::new();
    s.write("a/x.md", "# X\n\ntext\n");
    let m = model();
    let refused = |chunking: &str, args: &[&str]| {
        s.write("kb.toml", format!("[[source]]\npath = \"a\"\n[chunking]\nunit = \"tokens\"\n{chunking}\n"));
        stderr(&s.expect(2, &[&["build", "-q"], args].concat()))
    };
    assert!(refused("", &["--no-model"]).contains("need an embedding model"));
    assert!(
        refused(
            "",
            &["--embedder", "openai-compatible", "--embedder-model", "m", "--embedder-url", "http://127.0.0.1:9/v1"]
        )
        .contains("does not say how it counts")
    );
    let said = refused("size = 600", &["--model", &m]);
    assert!(
        said.contains("`size = 600`") && said.contains("more than the model reads") && said.contains("512"),
        "{said}"
    );
    assert!(refused("strategy = \"line\"\nsize = 60", &["--model", &m]).contains("100 to 512"));
    assert!(refused("unit = \"bytes\"", &["--model", &m]).contains("kb.toml"));
    // The defaults fit.
    s.write("kb.toml", "[[source]]\npath = \"a\"\nchunking = { strategy = \"line\" }\n[chunking]\nunit = \"tokens\"\n");
    s.expect(0, &["build", "-q", "--model", &m]);
}
