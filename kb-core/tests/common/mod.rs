//! A small knowledge base that every test of the formats uses, and damage to inflict on it.
#![allow(dead_code, clippy::unwrap_used)]

use kb_core::bundle::{BundleBuilder, SealedBundle};
use kb_core::chunk::{Chunk, ChunkId, ChunkKind};
use kb_core::document::{Document, Lang, MetaValue, Section};
use kb_core::embed::{ModelInfo, Pooling};
use std::collections::BTreeMap;

/// Two collections, three documents in Chinese and English, every kind of metadata, one document
/// without sections and one without text.
pub fn documents() -> Vec<Document> {
    let section = |level, title: &str, anchor: &str, span_bytes, parent| Section {
        level,
        title: title.into(),
        anchor: anchor.into(),
        span_bytes,
        parent,
    };
    let text = "前言。\n\n# 图论\n\n图由点和边组成。\n\n## 最短路\n\n用队列做松弛。\n";
    let (graph, path) = (text.find("# 图论").unwrap(), text.find("## 最短路").unwrap());
    let metadata = BTreeMap::from([
        ("tags".into(), MetaValue::List(vec![MetaValue::Text("图".into()), MetaValue::Text("graph".into())])),
        ("date".into(), MetaValue::Date("2024-05-01".into())),
        ("weight".into(), MetaValue::Float(0.5)),
        ("order".into(), MetaValue::Int(-7)),
        ("draft".into(), MetaValue::Bool(false)),
        ("author".into(), MetaValue::Map(BTreeMap::from([("name".into(), MetaValue::Text("李".into()))]))),
    ]);
    let document = |path: &str, collection: &str, title: &str, lang, text: &str| Document {
        path: path.into(),
        collection: collection.into(),
        title: title.into(),
        lang,
        url: None,
        text: text.into(),
        sections: vec![],
        metadata: BTreeMap::new(),
    };
    vec![
        Document {
            url: Some("notes/graph.html".into()),
            sections: vec![
                section(1, "图论", "图论", graph..path, None),
                section(2, "最短路", "最短路", path..text.len(), Some(0)),
            ],
            metadata,
            ..document("notes/graph.md", "notes", "图论", Lang::Zh, text)
        },
        document("notes/empty.md", "notes", "", Lang::Other, ""),
        document(
            "book/ownership.txt",
            "book",
            "Ownership",
            Lang::En,
            "A value has one owner. Moving it ends the old name.",
        ),
    ]
}

/// Five chunks of [`documents`], one of them overlapping the one before.
pub fn chunks(documents: &[Document]) -> Vec<Chunk> {
    let mut chunks = Vec::new();
    let mut add = |doc: u32, section, from: usize, to: usize, overlap: usize| {
        let id = ChunkId(0x0123_4567_89ab_cdef_u64.rotate_left(8 * chunks.len() as u32));
        let span_bytes = from as u32..to as u32;
        chunks.push(Chunk { id, doc, section, span_bytes, overlap_bytes: overlap as u32, kind: ChunkKind::Text });
    };
    let sections = &documents[0].sections;
    add(0, None, 0, sections[0].span_bytes.start, 0);
    add(0, Some(0), sections[0].span_bytes.start, sections[0].span_bytes.end, 0);
    add(0, Some(1), sections[1].span_bytes.start, sections[1].span_bytes.end, 0);
    add(2, None, 0, 22, 0);
    add(2, None, 13, documents[2].text.len(), 9);
    chunks
}

/// A model of `dim` numbers.
pub fn model(dim: usize) -> ModelInfo {
    ModelInfo {
        name: "test-model".into(),
        fingerprint: "ab".repeat(32),
        dim,
        max_tokens: 128,
        pooling: Pooling::Mean,
        query_prefix: "query: ".into(),
        passage_prefix: "passage: ".into(),
        #[cfg(feature = "service")]
        service: None,
    }
}

/// A bundle of all that, with stand-ins for the indexes.
pub fn bundle() -> SealedBundle {
    let documents = documents();
    let chunks = chunks(&documents);
    BundleBuilder::new("kb-builder 0.1.0", &documents, &chunks)
        .title("测试 test")
        .language("zh")
        .lexical(b"postings ".repeat(40))
        .vectors(model(4), vec![1; 60])
        .graph(vec![2; 30])
        .finish()
        .unwrap()
}

/// SplitMix64 (Steele, Lea, Flood 2014): the tests' own numbers, the same everywhere.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n.max(1) as u64) as usize
    }

    /// About normal, mean 0, variance 1: the sum of twelve uniform numbers less 6.
    pub fn normal(&mut self) -> f32 {
        (0..12).map(|_| (self.next() >> 40) as f32 / (1u64 << 24) as f32).sum::<f32>() - 6.0
    }
}

/// `count` unit vectors around `clusters` centres, which share a common direction as sentence vectors
/// do. `spread` is the noise's length relative to a centre's.
pub fn clustered(random: &mut Random, count: usize, dim: usize, clusters: usize, spread: f32) -> Vec<f32> {
    let common: Vec<f32> = (0..dim).map(|_| random.normal()).collect();
    let centres: Vec<Vec<f32>> =
        (0..clusters).map(|_| (0..dim).map(|i| common[i] + random.normal()).collect()).collect();
    let mut all = Vec::with_capacity(count * dim);
    for _ in 0..count {
        let centre = &centres[random.below(clusters)];
        let vector: Vec<f32> = centre.iter().map(|c| c + spread * random.normal()).collect();
        let norm = vector.iter().map(|x| x * x).sum::<f32>().sqrt();
        all.extend(vector.iter().map(|x| x / norm));
    }
    all
}

/// `bytes` with one to four injuries: flipped bits, extreme values, cuts, repeated and moved pieces.
pub fn damage(random: &mut Random, bytes: &[u8]) -> Vec<u8> {
    let mut out = bytes.to_vec();
    for _ in 0..=random.below(4) {
        if out.is_empty() {
            break;
        }
        let at = random.below(out.len());
        let length = (1 + random.below(9)).min(out.len() - at);
        match random.below(8) {
            0 => out[at] ^= 1 << random.below(8),
            1 => out[at] = [0, 1, 0x7f, 0x80, 0xfa, 0xfb, 0xfc, 0xfd, 0xff][random.below(9)],
            2 => out[at..at + length].fill(0xff),
            3 => out.truncate(at),
            4 => drop(out.drain(at..at + length)),
            5 => {
                let piece = out[at..at + length].to_vec();
                let to = random.below(out.len());
                out.splice(to..to, piece);
            }
            6 => {
                let huge = [0xfc, 0xff, 0xff, 0xff, 0x7f];
                out.splice(at..at + length, huge);
            }
            _ => out[at] = random.next() as u8,
        }
    }
    out
}
