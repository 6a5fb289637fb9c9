// What the fuzz target does with one input, and what the tests do with the corpus: the first byte chooses
// a reader, the rest are its bytes. Nothing may panic, whatever they are.

use kb_core::bundle::{self, Manifest, SectionKind, chunks, docs, text};
use kb_core::index::vector::VectorIndex;

/// Four numbers a vector, eight vectors: what a fuzzed graph is laid over.
fn vectors() -> Option<VectorIndex> {
    let numbers: Vec<f32> = (1..=32).map(|i| ((i * 37) % 19) as f32 - 9.5).collect();
    VectorIndex::build(4, &numbers).ok()
}

/// Feeds `input` to the reader that its first byte chooses.
pub fn drive(input: &[u8]) {
    let Some((choice, bytes)) = input.split_first() else { return };
    match choice % 8 {
        0 => {
            for kind in SectionKind::ALL {
                let _ = bundle::open(kind, bytes);
            }
        }
        1 => drop(Manifest::from_json(bytes)),
        2 => {
            if let Ok(packed) = bundle::unpack(bytes) {
                let _ = bundle::open_bundle(packed.manifest_json, &SectionKind::ALL, |s| packed.file(s));
            }
        }
        3 => drop(docs::decode(bytes)),
        4 => drop(text::decode(bytes)),
        5 => {
            // A chunk table is read against documents: take those of a table in front of it.
            let Some((length, rest)) = bytes.split_first_chunk::<2>() else { return };
            let Some((front, back)) = rest.split_at_checked(u16::from_le_bytes(*length) as usize) else { return };
            if let Ok(table) = docs::decode(front) {
                let _ = chunks::decode(back, &table.documents, &table.text_bytes);
            }
        }
        6 => {
            if let Ok(index) = VectorIndex::from_bytes(bytes) {
                let query = vec![1.0; index.dim()];
                let _ = index.search_exact(&query, 5, None);
            }
        }
        _ => {
            if let Some(mut index) = vectors()
                && index.load_graph(bytes).is_ok()
            {
                let hits = index.search_graph(&[0.1, -0.2, 0.3, 0.4], 5).unwrap_or_default();
                assert!(hits.iter().all(|hit| (hit.chunk as usize) < index.len()));
            }
        }
    }
}
