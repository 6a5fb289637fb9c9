//! The flags of `search` and `eval` that change how a base is ranked.

use clap::ValueEnum;
use kb_core::index::vector::VectorMethod;
use kb_core::search::{FusionMethod, RetrievalOptions, ThreeWayPreset};

/// How the lists become one; what is not given stays as the base or the default has it.
#[derive(Debug, Clone, Copy, Default, clap::Args)]
#[command(next_help_heading = "Ranking")]
pub struct RetrievalArgs {
    /// How words and meaning are combined
    #[arg(long, value_enum, value_name = "METHOD")]
    pub fusion: Option<Fusion>,
    /// Weight of the words, 0 to 1; the meaning has the rest
    #[arg(long, value_name = "W")]
    pub lexical_weight: Option<f32>,
    /// Do not count which share of the words a passage has
    #[arg(long)]
    pub no_rerank: bool,
    /// Look words up as they are typed, without synonyms
    #[arg(long)]
    pub no_expand: bool,
    /// Passages of the sorts that the question asks for come first
    #[arg(long)]
    pub route: bool,
    /// How many candidates each list gives, 1 to 1000
    #[arg(long, value_name = "N")]
    pub candidates: Option<usize>,
    /// Most hits from one document, 1 to 100
    #[arg(long, value_name = "N")]
    pub per_document: Option<usize>,
    /// Leave out hits with a lower score
    #[arg(long, value_name = "S")]
    pub min_score: Option<f32>,
    /// Leave out what is further from the question than this cosine distance, 0 to 2
    #[arg(long, value_name = "D")]
    pub max_distance: Option<f32>,
    /// How the nearest vectors are looked for
    #[arg(long, value_enum, default_value_t = Vectors::Auto, value_name = "HOW")]
    pub vectors: Vectors,
}

/// The ways to the nearest vectors as they are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum Vectors {
    /// Among all of them; by the graph from 200,000 passages on
    #[default]
    Auto,
    /// Among all of them
    Exact,
    /// By the graph (HNSW), which may miss one; a question with filters goes through all
    Graph,
}

impl From<Vectors> for VectorMethod {
    fn from(vectors: Vectors) -> Self {
        match vectors {
            Vectors::Auto => Self::Auto,
            Vectors::Exact => Self::Exact,
            Vectors::Graph => Self::Graph,
        }
    }
}

/// The methods as they are typed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Fusion {
    /// Weighted sum of normalised scores
    Convex,
    /// Reciprocal ranks, k = 60
    Rrf,
    /// Keywords 0.5, vectors 0.3, BM25 0.2
    ThreeWay,
    /// Keywords 0.7, vectors 0.2, BM25 0.1
    ThreeWayExact,
    /// Keywords 0.3, vectors 0.5, BM25 0.2
    ThreeWaySemantic,
}

impl RetrievalArgs {
    /// `options` with what was given on the command line.
    pub fn over(self, mut options: RetrievalOptions) -> RetrievalOptions {
        if let Some(fusion) = self.fusion {
            let (method, preset) = match fusion {
                Fusion::Convex => (FusionMethod::Convex, options.three_way),
                Fusion::Rrf => (FusionMethod::Rrf, options.three_way),
                Fusion::ThreeWay => (FusionMethod::ThreeWay, ThreeWayPreset::Balanced),
                Fusion::ThreeWayExact => (FusionMethod::ThreeWay, ThreeWayPreset::Exact),
                Fusion::ThreeWaySemantic => (FusionMethod::ThreeWay, ThreeWayPreset::Semantic),
            };
            (options.fusion, options.three_way) = (method, preset);
        }
        options.lexical_weight = self.lexical_weight.unwrap_or(options.lexical_weight);
        options.rerank &= !self.no_rerank;
        options.expand &= !self.no_expand;
        options.route |= self.route;
        options.candidates = self.candidates.or(options.candidates);
        options.per_document = self.per_document.or(options.per_document);
        options.min_score = self.min_score.or(options.min_score);
        options.max_distance = self.max_distance.or(options.max_distance);
        options
    }
}
