//! The presets of `kb.toml`, each held to the numbers of its system.

#[allow(dead_code, reason = "each test file uses a part of it")]
mod common;

use common::{Sandbox, course, stderr};
use kb_builder::config::{Config, Pace};
use kb_builder::preset::PresetName;
use kb_core::answer::request::Provider;
use kb_core::chunk::heading::HeadingOptions;
use kb_core::chunk::{ChunkStrategy, Window};
use kb_core::search::{FusionMethod, RetrievalOptions, ThreeWayPreset};
use std::time::Duration;

/// The settings that this `kb.toml` stands for.
fn config(text: &str) -> Config {
    let dir = tempfile::tempdir().expect("folder");
    let file = dir.path().join("kb.toml");
    std::fs::write(&file, text).expect("write");
    Config::load(Some(&file)).expect(text)
}

fn preset(name: &str) -> Config {
    config(&format!("preset = \"{name}\"\n"))
}

/// What has no preset.
const DEFAULT: RetrievalOptions = RetrievalOptions {
    fusion: FusionMethod::Convex,
    lexical_weight: 0.5,
    rerank: true,
    rrf_k: 60.0,
    three_way: ThreeWayPreset::Balanced,
    expand: true,
    route: false,
    candidates: None,
    top_k: None,
    per_document: None,
    min_score: None,
    max_distance: None,
};

#[test]
fn gangdan() {
    let c = preset("gangdan");
    // 800 characters, overlap 150, pieces under 50 dropped.
    assert_eq!(c.chunking.strategy(), ChunkStrategy::Sliding(Window { size: 800, overlap: 150, min: 50 }));
    // By distance alone; what is 1.5 away or more is dropped; a document may fill the list.
    let r = c.retrieval.options();
    assert_eq!((r.fusion, r.lexical_weight, r.rerank, r.expand), (FusionMethod::Convex, 0.0, false, false));
    assert_eq!((r.max_distance, r.min_score, r.per_document), (Some(1.5), None, None));
    // Ollama's nomic-embed-text, which gets 500 characters.
    let e = &c.embedding;
    let service = (e.provider.as_deref(), e.model.as_deref(), e.max_chars);
    assert_eq!(service, (Some("ollama"), Some("nomic-embed-text"), Some(500)));
    let local = config("preset = \"gangdan\"\n[embedding]\nprovider = \"local\"\n").embedding;
    assert_eq!((local.provider.as_deref(), local.model), (Some("local"), None));
    // The nearest 15.
    assert_eq!((r.candidates, r.top_k), (Some(15), Some(15)));
    // A context of at most 3,000 characters.
    assert_eq!(c.llm.context, Some(3_000));
}

#[test]
fn education_agent() {
    let c = preset("education-agent");
    // Paragraphs of 500 characters, overlap 50.
    assert_eq!(c.chunking.strategy(), ChunkStrategy::Paragraph(Window { size: 500, overlap: 50, min: 0 }));
    // Keyword 0.5, vector 0.3, BM25 0.2.
    let r = c.retrieval.options();
    assert_eq!((r.fusion, r.three_way.weights()), (FusionMethod::ThreeWay, [0.5, 0.3, 0.2]));
    // Its other weights are one key away.
    for (name, weights) in [("exact", [0.7, 0.2, 0.1]), ("semantic", [0.3, 0.5, 0.2])] {
        let c = config(&format!("preset = \"education-agent\"\n[retrieval]\nthree_way = \"{name}\"\n"));
        assert_eq!(c.retrieval.options().three_way.weights(), weights);
    }
    // Ten are fused, three are kept.
    assert_eq!((r.candidates, r.top_k, c.llm.passages), (Some(10), Some(3), Some(3)));
}

#[test]
fn foliochat() {
    let c = preset("foliochat");
    // Typed sections; chunks of 20 characters or fewer are dropped.
    let ChunkStrategy::Portfolio(w) = c.chunking.strategy() else { panic!("by typed sections") };
    assert_eq!(w.min, 21);
    // The sorts that a question asks for come first, and synonyms are looked up.
    let r = c.retrieval.options();
    assert_eq!((r.route, r.expand), (true, true));
    // Top 5, 500 tokens.
    assert_eq!((r.top_k, c.llm.passages, c.llm.max_tokens), (Some(5), Some(5), Some(500)));
}

#[test]
fn deepseek_rag() {
    let c = preset("deepseek-rag");
    assert!(matches!(c.chunking.strategy(), ChunkStrategy::Line(Window { overlap: 50, .. })), "lines with overlap");
    // The whole matrix, top 5, a cosine of 0.6 at least.
    let r = c.retrieval.options();
    assert_eq!((c.retrieval.exact, r.top_k, c.llm.passages), (Some(true), Some(5), Some(5)));
    assert_eq!((r.fusion, r.lexical_weight, r.rerank, r.expand), (FusionMethod::Convex, 0.0, false, false));
    assert!((1.0 - r.max_distance.expect("a distance") - 0.6).abs() < 1e-6);
    assert_eq!(c.llm.provider, Some(Provider::DeepSeek));
}

#[test]
fn llm_wiki() {
    let c = preset("llm-wiki");
    // Headings down to the fourth, 800 characters, overlap 80.
    let ChunkStrategy::Heading(h) = c.chunking.strategy() else { panic!("by headings") };
    let HeadingOptions { max_level, max_chars, overlap_chars, .. } = h;
    assert_eq!((max_level, max_chars, overlap_chars), (4, 800, 80));
    // Reciprocal ranks with k = 60.
    let r = c.retrieval.options();
    assert_eq!((r.fusion, r.rrf_k), (FusionMethod::Rrf, 60.0));
    // 25 candidates, five kept.
    assert_eq!((r.candidates, r.top_k), (Some(25), Some(5)));
    // Five passages, temperature 0.2, 2,048 tokens, kept for five minutes.
    assert_eq!((c.llm.passages, c.llm.temperature, c.llm.max_tokens), (Some(5), Some(0.2), Some(2_048)));
    assert_eq!(c.llm.keep_alive.as_deref(), Some("5m"));
    // A look every 30 seconds.
    let pace = c.watcher.pace(None).expect("a pace");
    assert_eq!(pace, Pace { interval: Duration::from_secs(30), settle: Duration::from_secs(1) });
}

#[test]
fn what_the_file_says_counts_more_than_its_preset() {
    let c = config(
        "preset = \"gangdan\"\n[chunking]\nsize = 200\n[retrieval]\nlexical_weight = 0.4\n[llm]\ncontext = 500\n\
         [[source]]\npath = \"a\"\nchunking = { size = 100 }\n[[source]]\npath = \"b\"\nchunking = { strategy = \"line\" }\n",
    );
    // What is not said must not make wrong what is: 150 would be more than half of 200.
    assert_eq!(c.chunking.strategy(), ChunkStrategy::Sliding(Window { size: 200, overlap: 100, min: 50 }));
    let of = |i: usize| c.sources[i].chunking.expect("its own").strategy();
    assert_eq!(of(0), ChunkStrategy::Sliding(Window { size: 100, overlap: 50, min: 50 }));
    assert_eq!(of(1), ChunkStrategy::Line(Window { size: 500, overlap: 50, min: 0 }));
    let r = c.retrieval.options();
    assert_eq!((r.lexical_weight, r.max_distance, c.llm.context), (0.4, Some(1.5), Some(500)));
    // Another strategy has its own numbers, not those of the preset's.
    let c = config("preset = \"gangdan\"\n[chunking]\nstrategy = \"paragraph\"\n");
    assert_eq!(c.chunking.strategy(), ChunkStrategy::Paragraph(Window { size: 500, overlap: 50, min: 0 }));
    assert_eq!(config("").retrieval.options(), DEFAULT);
}

#[test]
fn every_preset_builds_and_its_ranking_goes_into_the_site() {
    let s = Sandbox::new();
    course(&s);
    // Longer than what one of them leaves out.
    s.write("zh/图论/最短路.md", "# 最短路\n\n## Dijkstra 算法\n\n每次取出距离最小的点，松弛它的出边。边权必须非负，否则取出的点的距离可能还会变小。\n");
    for name in ["gangdan", "education-agent", "foliochat", "deepseek-rag", "llm-wiki"] {
        s.write("kb.toml", format!("preset = \"{name}\"\n[[source]]\npath = \"zh\"\n"));
        s.expect(0, &["build", "--no-model", "-q"]);
        let manifest = std::fs::read_to_string(s.path("site/kb/manifest.json")).expect("manifest");
        let manifest: serde_json::Value = serde_json::from_str(&manifest).expect("JSON");
        let ranking: RetrievalOptions = serde_json::from_value(manifest["retrieval"].clone()).expect(name);
        assert_eq!(ranking, preset(name).retrieval.options(), "{name}");
        let hits = s.json(&["search", "site", "Dijkstra 松弛", "--json"]);
        assert_eq!(hits["hits"][0]["path"], "图论/最短路.md", "{name}");
    }
    assert_eq!(PresetName::ALL.len(), 5);
    s.write("kb.toml", "preset = \"notion\"\n[[source]]\npath = \"zh\"\n");
    let output = s.expect(2, &["build", "--no-model"]);
    assert!(stderr(&output).contains("line 1") && stderr(&output).contains("llm-wiki"), "{}", stderr(&output));
}

#[test]
fn the_schema_is_printed_and_init_says_how_to_use_it() {
    let s = Sandbox::new();
    course(&s);
    let schema = s.json(&["init", "--schema"]);
    assert_eq!(schema["$schema"], "https://json-schema.org/draft/2020-12/schema");
    assert_eq!(schema["properties"]["source"]["items"]["properties"]["path"]["type"], "string");
    s.expect(0, &["init", "en"]);
    let text = std::fs::read_to_string(s.path("en/kb.toml")).expect("written");
    assert!(text.contains("#:schema kb.schema.json") && text.contains("init --schema"), "{text}");
    s.expect(2, &["init", "--schema", "--github-pages"]);
}
