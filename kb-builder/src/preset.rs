//! Presets: the numbers of systems that do the same job, for those who come from one of them or want to compare.
//!
//! A preset stands under `kb.toml`: what the file says itself counts more. It sets what that system has as a parameter
//! and this program too; everything else keeps this program's default. [`Preset`] is the one place for such numbers: a new
//! setting gets a field there, a line in [`Preset::under`] and its values in [`PresetName::preset`].

use crate::answer::LlmConfig;
use crate::config::{ChunkingConfig, Config, RetrievalConfig, StrategyName, WatcherConfig};
use crate::embedding::EmbeddingConfig;
use kb_core::answer::request::Provider;
use kb_core::search::{FusionMethod, ThreeWayPreset};
use schemars::JsonSchema;
use serde::Deserialize;

/// The presets as they are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PresetName {
    /// Documentation cut by a sliding window, found by vectors alone.
    Gangdan,
    /// Paragraphs, found by the three-way sum; the best three go to the language model.
    EducationAgent,
    /// Sections, sorted by what the question asks for.
    Foliochat,
    /// Lines, found by comparing every vector; DeepSeek answers.
    DeepseekRag,
    /// A folder of notes: sections, reciprocal rank fusion.
    LlmWiki,
}

impl PresetName {
    /// Every preset.
    pub const ALL: [Self; 5] = [Self::Gangdan, Self::EducationAgent, Self::Foliochat, Self::DeepseekRag, Self::LlmWiki];
}

/// What a preset sets; the rest is left to the defaults.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Preset {
    /// How documents are cut.
    pub chunking: ChunkingConfig,
    /// What embeds.
    pub embedding: EmbeddingConfig,
    /// How the base is searched.
    pub retrieval: RetrievalConfig,
    /// How a language model answers.
    pub llm: LlmConfig,
    /// How often changes are looked for.
    pub watcher: WatcherConfig,
}

impl PresetName {
    /// The numbers.
    pub fn preset(self) -> Preset {
        // Vectors alone, ranked by their cosine.
        let by_vectors = RetrievalConfig {
            fusion: Some(FusionMethod::Convex),
            lexical_weight: Some(0.0),
            rerank: Some(false),
            expand: Some(false),
            route: Some(false),
            ..RetrievalConfig::default()
        };
        match self {
            Self::Gangdan => Preset {
                chunking: chunking(StrategyName::Sliding, 800, 150, 50),
                embedding: EmbeddingConfig {
                    provider: Some("ollama".into()),
                    model: Some("nomic-embed-text".into()),
                    max_chars: Some(500),
                    ..EmbeddingConfig::default()
                },
                retrieval: RetrievalConfig {
                    candidates: Some(15),
                    top_k: Some(15),
                    max_distance: Some(1.5),
                    ..by_vectors
                },
                llm: LlmConfig { passages: Some(5), context: Some(3_000), ..LlmConfig::default() },
                ..Preset::default()
            },
            Self::EducationAgent => Preset {
                chunking: chunking(StrategyName::Paragraph, 500, 50, 0),
                retrieval: RetrievalConfig {
                    fusion: Some(FusionMethod::ThreeWay),
                    three_way: Some(ThreeWayPreset::Balanced),
                    // Ten are fused, three kept.
                    candidates: Some(10),
                    rerank_candidates: Some(10),
                    top_k: Some(3),
                    ..RetrievalConfig::default()
                },
                llm: LlmConfig { passages: Some(3), ..LlmConfig::default() },
                ..Preset::default()
            },
            Self::Foliochat => Preset {
                // It leaves out passages of 20 characters or fewer, and sections of 30 or fewer.
                chunking: ChunkingConfig {
                    strategy: Some(StrategyName::Portfolio),
                    min: Some(21),
                    ..ChunkingConfig::default()
                },
                retrieval: RetrievalConfig {
                    route: Some(true),
                    expand: Some(true),
                    top_k: Some(5),
                    ..RetrievalConfig::default()
                },
                llm: LlmConfig { passages: Some(5), max_tokens: Some(500), ..LlmConfig::default() },
                ..Preset::default()
            },
            Self::DeepseekRag => Preset {
                chunking: chunking(StrategyName::Line, 500, 50, 0),
                // A score of 0.6 is a cosine there, and a distance of 0.4 here.
                retrieval: RetrievalConfig { top_k: Some(5), max_distance: Some(0.4), exact: Some(true), ..by_vectors },
                llm: LlmConfig { provider: Some(Provider::DeepSeek), passages: Some(5), ..LlmConfig::default() },
                ..Preset::default()
            },
            Self::LlmWiki => Preset {
                chunking: ChunkingConfig {
                    strategy: Some(StrategyName::Heading),
                    size: Some(800),
                    overlap: Some(80),
                    ..ChunkingConfig::default()
                },
                retrieval: RetrievalConfig {
                    fusion: Some(FusionMethod::Rrf),
                    rrf_k: Some(60.0),
                    candidates: Some(25),
                    top_k: Some(5),
                    ..RetrievalConfig::default()
                },
                llm: LlmConfig {
                    passages: Some(5),
                    temperature: Some(0.2),
                    max_tokens: Some(2_048),
                    keep_alive: Some("5m".into()),
                    ..LlmConfig::default()
                },
                watcher: WatcherConfig { interval: Some(30.0), settle: None },
                ..Preset::default()
            },
        }
    }
}

fn chunking(strategy: StrategyName, size: usize, overlap: usize, min: usize) -> ChunkingConfig {
    ChunkingConfig { strategy: Some(strategy), unit: None, size: Some(size), overlap: Some(overlap), min: Some(min) }
}

impl Preset {
    /// Puts the preset under `config`: what it says itself stays.
    pub fn under(self, config: &mut Config) {
        config.chunking = config.chunking.over(self.chunking);
        let (own, preset) = (&mut config.embedding, self.embedding);
        // What else it says is about a service of its own.
        if own.provider.is_none() {
            fill(&mut own.model, preset.model);
            fill(&mut own.max_chars, preset.max_chars);
            own.provider = preset.provider;
        }
        let (own, preset) = (&mut config.retrieval, self.retrieval);
        fill(&mut own.fusion, preset.fusion);
        fill(&mut own.lexical_weight, preset.lexical_weight);
        fill(&mut own.rerank, preset.rerank);
        fill(&mut own.rrf_k, preset.rrf_k);
        fill(&mut own.three_way, preset.three_way);
        fill(&mut own.expand, preset.expand);
        fill(&mut own.route, preset.route);
        fill(&mut own.exact, preset.exact);
        fill(&mut own.candidates, preset.candidates);
        fill(&mut own.top_k, preset.top_k);
        fill(&mut own.per_document, preset.per_document);
        fill(&mut own.min_score, preset.min_score);
        fill(&mut own.max_distance, preset.max_distance);
        fill(&mut own.rerank_candidates, preset.rerank_candidates);
        let (own, preset) = (&mut config.llm, self.llm);
        fill(&mut own.provider, preset.provider);
        fill(&mut own.passages, preset.passages);
        fill(&mut own.context, preset.context);
        fill(&mut own.temperature, preset.temperature);
        fill(&mut own.max_tokens, preset.max_tokens);
        fill(&mut own.keep_alive, preset.keep_alive);
        fill(&mut config.watcher.interval, self.watcher.interval);
        fill(&mut config.watcher.settle, self.watcher.settle);
    }
}

fn fill<T>(own: &mut Option<T>, preset: Option<T>) {
    if own.is_none() {
        *own = preset;
    }
}
