//! Ten thousand injuries to each format: an error or a value, never a panic, never memory for data that
//! are not there.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::disallowed_types)]
#![cfg(feature = "vector")]

mod common;
#[path = "../fuzz/drive.rs"]
mod drive;

use common::{Random, damage};
use kb_core::bundle::{self, Manifest, SectionKind, SectionRef, chunks, docs, open_bundle, pack, text};
use kb_core::chunk::Chunk;
use kb_core::document::Lang;
use kb_core::index::vector::{Centring, GraphOptions, Group, QuestionMean, VectorIndex};
use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, with a note of the largest single request.
struct Watched;

static LARGEST: AtomicUsize = AtomicUsize::new(0);

// Safe: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Watched {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        LARGEST.fetch_max(layout.size(), Ordering::Relaxed);
        unsafe { System.alloc_zeroed(layout) }
    }
}

#[global_allocator]
static WATCHED: Watched = Watched;

/// No input here is over 100 kB, so no reader has a reason to ask for more than this at once.
const MOST_AT_ONCE: usize = 4 << 20;

const CASES: usize = 10_000;

/// Gives `read` damaged copies of `good`. How many were still accepted is returned: a check that is
/// missing shows as a number that grows.
fn survive(name: &str, good: &[u8], mut read: impl FnMut(&[u8]) -> bool) -> usize {
    assert!(read(good), "{name}: the undamaged bytes are refused");
    let mut random = Random(good.len() as u64);
    let mut accepted = 0;
    for _ in 0..CASES {
        let bad = damage(&mut random, good);
        if bad != good && read(&bad) {
            accepted += 1;
        }
    }
    let largest = LARGEST.load(Ordering::Relaxed);
    assert!(largest <= MOST_AT_ONCE, "{name}: {largest} bytes were asked for at once");
    accepted
}

fn index() -> (VectorIndex, Vec<u8>) {
    let mut random = Random(5);
    let mut vectors = common::clustered(&mut random, 150, 16, 5, 0.5);
    // Ten equal vectors, so that the graph has folded ones.
    let first = vectors[..16].to_vec();
    (0..10).for_each(|_| vectors.extend_from_slice(&first));
    let index = VectorIndex::build(16, &vectors).unwrap();
    let (graph, report) = index.build_graph(&GraphOptions::default()).unwrap();
    assert_eq!(report.folded, 10);
    (index, graph)
}

#[test]
fn sealed_files() {
    let documents = common::documents();
    let payload = docs::encode(&documents).unwrap().repeat(3);
    let file = bundle::seal(SectionKind::Docs, &payload).unwrap();
    let accepted = survive("frame", &file, |bytes| bundle::open(SectionKind::Docs, bytes).is_ok());
    assert_eq!(accepted, 0, "a checksum of 32 bits sees all of these");
}

#[test]
fn packs() {
    let accepted = survive("pack", &pack(&common::bundle()), |bytes| {
        bundle::unpack(bytes).and_then(|p| open_bundle(p.manifest_json, &SectionKind::ALL, |s| p.file(s))).is_ok()
    });
    assert_eq!(accepted, 0);
}

#[test]
fn manifests() {
    let sealed = common::bundle();
    survive("manifest", &sealed.manifest_json, |json| {
        Manifest::from_json(json).is_ok_and(|m| {
            let fetch = |s: &SectionRef| {
                Ok(sealed.files.iter().find(|f| f.name == s.file).map(|f| f.bytes.clone()).unwrap_or_default())
            };
            let _ = open_bundle(json, &SectionKind::ALL, fetch);
            m.text_section(2);
            true
        })
    });
}

#[test]
fn document_tables() {
    survive("docs", &docs::encode(&common::documents()).unwrap(), |bytes| {
        docs::decode(bytes).is_ok_and(|table| {
            for document in &table.documents {
                (0..document.sections.len()).for_each(|s| drop(document.heading_path(s)));
            }
            true
        })
    });
}

#[test]
fn texts() {
    survive("text", &text::encode(&common::documents(), 0..3).unwrap(), |bytes| text::decode(bytes).is_ok());
}

#[test]
fn chunk_tables_and_the_texts_they_cut() {
    let documents = common::documents();
    let sealed = common::bundle();
    let text = text::encode(&documents, 0..3).unwrap();
    let table = docs::decode(&docs::encode(&documents).unwrap()).unwrap();
    survive("chunks", &chunks::encode(&common::chunks(&documents), &documents).unwrap(), |bytes| {
        let Ok(read) = chunks::decode(bytes, &table.documents, &table.text_bytes) else { return false };
        let fetch = |s: &SectionRef| {
            Ok(sealed.files.iter().find(|f| f.name == s.file).map(|f| f.bytes.clone()).unwrap_or_default())
        };
        let mut opened = open_bundle(&sealed.manifest_json, &[], fetch).unwrap();
        opened.chunks = read;
        // Whatever is accepted cuts between characters.
        if opened.add_text(&text).is_ok() {
            let cut = |c: &Chunk| {
                opened.documents[c.doc as usize].text.get(c.span_bytes.start as usize..c.span_bytes.end as usize)
            };
            assert!(opened.chunks.iter().all(|c| cut(c).is_some()));
        }
        true
    });
}

#[test]
fn vectors() {
    let (index, _) = index();
    let query = vec![0.5; 16];
    survive("vectors", &index.to_bytes(), |bytes| {
        VectorIndex::from_bytes(bytes).is_ok_and(|index| {
            let hits = index.search_exact(&query, 10, None).unwrap_or_default();
            hits.iter().all(|h| h.score.is_finite() && (h.chunk as usize) < index.len())
        })
    });
}

/// A decoder that reads means must not be talked into a mean that is not there or is not a number.
#[test]
fn vectors_with_means() {
    let (index, _) = index();
    let mean = |x: f32| vec![x; 16];
    let question = |lang, strength| QuestionMean { lang, strength, mean: mean(0.1) };
    let groups = vec![
        Group { lang: Lang::En, mean: mean(0.2), questions: vec![question(Lang::En, 0.5), question(Lang::Zh, 1.0)] },
        Group { lang: Lang::Zh, mean: mean(-0.2), questions: vec![question(Lang::Zh, 0.5)] },
    ];
    let group_of = (0..index.len()).map(|i| (i % 2) as u8).collect();
    let index = index.with_centring(Centring { groups, group_of }).unwrap();
    let query = vec![0.5; 16];
    survive("vectors with means", &index.to_bytes(), |bytes| {
        VectorIndex::from_bytes(bytes).is_ok_and(|index| {
            [Lang::En, Lang::Zh, Lang::Ja].into_iter().all(|lang| {
                let hits = index.search_as(&query, lang, 10, None).unwrap_or_default();
                hits.iter().all(|h| h.score.is_finite() && (h.chunk as usize) < index.len())
            })
        })
    });
}

#[test]
fn graphs() {
    let (mut index, graph) = index();
    let query: Vec<f32> = (0..16).map(|i| i as f32 - 7.0).collect();
    survive("graph", &graph, |bytes| {
        index.load_graph(bytes).is_ok_and(|()| {
            let hits = index.search_graph(&query, 10).unwrap();
            hits.len() == 10 && hits.iter().all(|h| (h.chunk as usize) < index.len())
        })
    });
}

/// The inputs kept for the fuzz target; and each of them damaged.
#[test]
fn the_fuzz_corpus() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/decoders");
    let mut files = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let bytes = std::fs::read(entry.unwrap().path()).unwrap();
        drive::drive(&bytes);
        let mut random = Random(files);
        (0..500).for_each(|_| drive::drive(&damage(&mut random, &bytes)));
        files += 1;
    }
    assert!(files >= 8, "one input at least for each decoder");
}

/// Writes the corpus anew. Run it after a change of the format, and commit what it made.
#[test]
#[ignore = "writes into the source tree"]
fn write_the_fuzz_corpus() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/decoders");
    std::fs::create_dir_all(folder).unwrap();
    let documents = common::documents();
    let table = docs::encode(&documents).unwrap();
    let chunk_table = [
        &(table.len() as u16).to_le_bytes(),
        table.as_slice(),
        &chunks::encode(&common::chunks(&documents), &documents).unwrap(),
    ]
    .concat();
    let numbers: Vec<f32> = (1..=32).map(|i| ((i * 37) % 19) as f32 - 9.5).collect();
    let index = VectorIndex::build(4, &numbers).unwrap();
    let inputs: [(&str, Vec<u8>); 8] = [
        ("frame", bundle::seal(SectionKind::Docs, &table.repeat(3)).unwrap()),
        ("manifest", common::bundle().manifest_json),
        ("pack", pack(&common::bundle())),
        ("docs", table),
        ("text", text::encode(&documents, 0..3).unwrap()),
        ("chunks", chunk_table),
        ("vectors", index.to_bytes()),
        ("graph", index.build_graph(&GraphOptions::default()).unwrap().0),
    ];
    for (choice, (name, bytes)) in inputs.into_iter().enumerate() {
        std::fs::write(format!("{folder}/{name}"), [&[choice as u8], bytes.as_slice()].concat()).unwrap();
    }
}
