//! Bundles that were written once and must open for ever. A failure here means that bases which people
//! have published can no longer be read: mend the reader, never the file.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::disallowed_types)]

mod common;

use kb_core::bundle::{MANIFEST_FILE, SectionKind, SectionRef, open_bundle, unpack};
use kb_core::chunk::{Chunk, ChunkId, ChunkKind, identify};
use kb_core::index::lexical::LexicalIndex;
use kb_core::search::FusionMethod;
use std::path::PathBuf;

fn folder(version: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../tests/bundles").join(version)
}

#[test]
fn version_1_opens() {
    let folder = folder("v1");
    let manifest = std::fs::read(folder.join(MANIFEST_FILE)).unwrap();
    let opened =
        open_bundle(&manifest, &SectionKind::ALL, |s| Ok(std::fs::read(folder.join(&s.file)).unwrap())).unwrap();
    assert_eq!(opened.manifest.format, 1);
    assert_eq!(opened.documents, common::documents());
    assert_eq!(opened.chunks, common::chunks(&common::documents()));

    let packed = std::fs::read(folder.join("bundle.kbpack")).unwrap();
    let packed = unpack(&packed).unwrap();
    assert_eq!(packed.manifest, opened.manifest);
    assert_eq!(open_bundle(packed.manifest_json, &SectionKind::ALL, |s| packed.file(s)).unwrap(), opened);
}

#[test]
fn version_2_opens() {
    let folder = folder("v2");
    let manifest = std::fs::read(folder.join(MANIFEST_FILE)).unwrap();
    let opened =
        open_bundle(&manifest, &SectionKind::ALL, |s| Ok(std::fs::read(folder.join(&s.file)).unwrap())).unwrap();
    assert_eq!((opened.manifest.format, opened.manifest.retrieval.fusion), (2, FusionMethod::Rrf));
    assert_eq!(opened.documents, common::documents());
    assert_eq!(opened.chunks, common::chunks(&common::documents()));
}

/// The five chunks, each of another sort.
fn typed_chunks() -> Vec<Chunk> {
    let kinds = [ChunkKind::Concept, ChunkKind::Code, ChunkKind::Table, ChunkKind::Text, ChunkKind::ProjectStory];
    common::chunks(&common::documents()).into_iter().zip(kinds).map(|(c, kind)| Chunk { kind, ..c }).collect()
}

#[test]
fn version_3_opens() {
    let folder = folder("v3");
    let manifest = std::fs::read(folder.join(MANIFEST_FILE)).unwrap();
    let opened =
        open_bundle(&manifest, &SectionKind::ALL, |s| Ok(std::fs::read(folder.join(&s.file)).unwrap())).unwrap();
    assert_eq!(opened.manifest.format, 3);
    assert_eq!(opened.chunks, typed_chunks());
}

/// Words in two parts: the first search wants the one that has its word.
#[test]
fn version_4_searches_by_parts() {
    let folder = folder("v4");
    let manifest = std::fs::read(folder.join(MANIFEST_FILE)).unwrap();
    let mut opened =
        open_bundle(&manifest, &SectionKind::ALL, |s| Ok(std::fs::read(folder.join(&s.file)).unwrap())).unwrap();
    assert_eq!(opened.manifest.format, 4);
    let mut index = LexicalIndex::from_bytes(opened.take_index(SectionKind::Lexical).unwrap()).unwrap();
    let parts = opened.take_terms();
    assert_eq!((parts.len(), index.part_count()), (2, 2));
    assert_eq!(index.search("zebra", 5, None).unwrap(), []);
    assert_eq!(index.wanted(), [1]);
    index.add_part(1, parts[1].clone()).unwrap();
    assert_eq!(index.search("zebra", 5, None).unwrap().iter().map(|hit| hit.0).collect::<Vec<_>>(), [4]);
    assert!(index.wanted().is_empty());
}

/// The same chunks with the ids that their text gives, which are not in the bundle.
fn identified_chunks() -> Vec<Chunk> {
    let (documents, mut chunks) = (common::documents(), typed_chunks());
    for run in chunks.chunk_by_mut(|a, b| a.doc == b.doc) {
        let document = &documents[run[0].doc as usize];
        identify(document, &document.text, run);
    }
    chunks
}

#[test]
fn version_5_opens() {
    let folder = folder("v5");
    let manifest = std::fs::read(folder.join(MANIFEST_FILE)).unwrap();
    let fetch = |s: &SectionRef| Ok(std::fs::read(folder.join(&s.file)).unwrap());
    let opened = open_bundle(&manifest, &SectionKind::ALL, fetch).unwrap();
    assert_eq!(opened.manifest.format, 5);
    assert_eq!(opened.documents, common::documents());
    assert_eq!(opened.chunks, identified_chunks());
    let mut without_text = open_bundle(&manifest, &[SectionKind::Lexical, SectionKind::Terms], fetch).unwrap();
    assert!(without_text.chunks.iter().all(|chunk| chunk.id == ChunkId::UNKNOWN));
    // Words of headings are in the parts as well: "yak" stands above chunk 2 only, "zebra" in the text of 4.
    let mut index = LexicalIndex::from_bytes(without_text.take_index(SectionKind::Lexical).unwrap()).unwrap();
    let parts = without_text.take_terms();
    assert_eq!((parts.len(), index.part_count()), (2, 2));
    assert_eq!((index.search("yak zebra", 5, None).unwrap(), index.wanted()), (vec![], vec![1]));
    index.add_part(1, parts[1].clone()).unwrap();
    for (word, chunk) in [("yak", 2), ("zebra", 4)] {
        assert_eq!(index.search(word, 5, None).unwrap().iter().map(|hit| hit.0).collect::<Vec<_>>(), [chunk]);
    }
    assert!(index.wanted().is_empty());
}

/// Made tests/bundles/v5.
#[cfg(feature = "build")]
#[test]
#[ignore = "writes into the source tree, and only where there is no such bundle yet"]
fn write_version_5() {
    use kb_core::bundle::BundleBuilder;
    use kb_core::index::lexical::LexicalBuilder;

    let folder = folder("v5");
    assert!(!folder.join(MANIFEST_FILE).exists(), "frozen");
    std::fs::create_dir_all(&folder).unwrap();
    let (documents, chunks) = (common::documents(), identified_chunks());
    let mut lexical = LexicalBuilder::new();
    let words = [
        ("", "ant bear cat dog eagle fox goat hare ibis"),
        ("", "jackal koala lion"),
        ("yak", "mole newt"),
        ("ape", "owl panda"),
        ("ape", "quail zebra"),
    ];
    for (headings, text) in words {
        lexical.add("Animals", headings, text).unwrap();
    }
    let (head, parts) = lexical.to_parts(40).unwrap();
    let builder = BundleBuilder::new("kb-builder 0.1.0", &documents, &chunks).title("测试 test");
    let sealed = builder.lexical_parts(head, parts).finish().unwrap();
    for file in &sealed.files {
        std::fs::write(folder.join(&file.name), &file.bytes).unwrap();
    }
    std::fs::write(folder.join(MANIFEST_FILE), &sealed.manifest_json).unwrap();
}

/// Made tests/bundles/v4.
#[cfg(feature = "build")]
#[test]
#[ignore = "writes into the source tree, and only where there is no such bundle yet"]
fn write_version_4() {
    use kb_core::bundle::BundleBuilder;
    use kb_core::index::lexical::LexicalBuilder;

    let folder = folder("v4");
    assert!(!folder.join(MANIFEST_FILE).exists(), "frozen");
    std::fs::create_dir_all(&folder).unwrap();
    let documents = common::documents();
    let chunks = typed_chunks();
    let mut lexical = LexicalBuilder::new();
    let words =
        ["ant bear cat dog eagle fox goat hare ibis", "jackal koala lion", "mole newt", "owl panda", "quail zebra"];
    for text in words.iter().take(chunks.len()) {
        lexical.add("Animals", "", text).unwrap();
    }
    let (head, parts) = lexical.to_parts(40).unwrap();
    let builder = BundleBuilder::new("kb-builder 0.1.0", &documents, &chunks).title("测试 test");
    let sealed = builder.lexical_parts(head, parts).finish().unwrap();
    for file in &sealed.files {
        std::fs::write(folder.join(&file.name), &file.bytes).unwrap();
    }
    std::fs::write(folder.join(MANIFEST_FILE), &sealed.manifest_json).unwrap();
}

#[cfg(feature = "vector")]
mod vectors {
    use super::*;
    use kb_core::bundle::{BundleBuilder, pack};
    use kb_core::document::Lang;
    use kb_core::index::vector::{Centring, GraphOptions, Group, QuestionMean, VectorIndex};
    use kb_core::search::RetrievalOptions;

    const ROWS: [f32; 20] = [
        1.0, 0.0, 0.0, 0.0, //
        0.8, 0.6, 0.0, 0.0, //
        0.6, 0.0, 0.8, 0.0, //
        0.0, 0.0, 0.6, 0.8, //
        0.0, 1.0, 0.0, 0.0,
    ];

    /// Cosines that follow from [`ROWS`] by hand: x = (0.8, 0.6, 0, 0).
    #[test]
    fn version_1_searches() {
        let folder = folder("v1");
        let manifest = std::fs::read(folder.join(MANIFEST_FILE)).unwrap();
        let opened =
            open_bundle(&manifest, &SectionKind::ALL, |s| Ok(std::fs::read(folder.join(&s.file)).unwrap())).unwrap();
        let mut index = VectorIndex::from_bytes(opened.index(SectionKind::Vectors).unwrap()).unwrap();
        index.load_graph(opened.index(SectionKind::Graph).unwrap()).unwrap();
        let expected = [(1, 1.0), (0, 0.8), (4, 0.6), (2, 0.48), (3, 0.0)];
        for hits in [index.search_exact(&[0.8, 0.6, 0.0, 0.0], 5, None), index.search_graph(&[0.8, 0.6, 0.0, 0.0], 5)] {
            let hits = hits.unwrap();
            assert_eq!(hits.iter().map(|h| h.chunk).collect::<Vec<_>>(), expected.map(|e| e.0));
            assert!(hits.iter().zip(expected).all(|(h, e)| (h.score - e.1).abs() < 0.01), "{hits:?}");
        }
    }

    /// Made tests/bundles/v1. For a later version: another folder, and the old one stays.
    #[test]
    #[ignore = "writes into the source tree, and only where there is no such bundle yet"]
    fn write_version_1() {
        let folder = folder("v1");
        assert!(!folder.join(MANIFEST_FILE).exists(), "frozen");
        std::fs::create_dir_all(&folder).unwrap();
        let documents = common::documents();
        let chunks = common::chunks(&documents);
        let index = VectorIndex::build(4, &ROWS).unwrap();
        let sealed = BundleBuilder::new("kb-builder 0.1.0", &documents, &chunks)
            .title("测试 test")
            .language("zh")
            .lexical(b"stands in for postings".to_vec())
            .vectors(common::model(4), index.to_bytes())
            .graph(index.build_graph(&GraphOptions::default()).unwrap().0)
            .finish()
            .unwrap();
        for file in &sealed.files {
            std::fs::write(folder.join(&file.name), &file.bytes).unwrap();
        }
        std::fs::write(folder.join("bundle.kbpack"), pack(&sealed)).unwrap();
        std::fs::write(folder.join(MANIFEST_FILE), &sealed.manifest_json).unwrap();
    }

    fn means() -> Centring {
        let question = QuestionMean { lang: Lang::En, strength: 1.0, mean: vec![0.8, 0.0, 0.0, 0.0] };
        let group = |lang, questions| Group { lang, mean: vec![0.6, 0.0, 0.0, 0.0], questions };
        Centring {
            groups: vec![group(Lang::En, vec![question]), group(Lang::Zh, vec![])],
            group_of: vec![0, 0, 0, 0, 1],
        }
    }

    /// By hand, x = (0.8, 0.6, 0, 0) in English: without the means x is (0, 1, 0, 0), row 0 (0.4, 0, 0, 0),
    /// row 1 (0.2, 0.6, 0, 0), row 2 (0, 0, 0.8, 0), row 3 (−0.6, 0, 0.6, 0.8), so that the cosines are 0,
    /// 0.6 / √0.4, 0 and 0. Row 4 keeps its 0.6.
    #[test]
    fn version_2_searches() {
        let folder = folder("v2");
        let manifest = std::fs::read(folder.join(MANIFEST_FILE)).unwrap();
        let opened =
            open_bundle(&manifest, &SectionKind::ALL, |s| Ok(std::fs::read(folder.join(&s.file)).unwrap())).unwrap();
        let index = VectorIndex::from_bytes(opened.index(SectionKind::Vectors).unwrap()).unwrap();
        assert_eq!(index.centring(), Some(&means()));
        let hits = index.search_as(&[0.8, 0.6, 0.0, 0.0], Lang::En, 5, None).unwrap();
        assert_eq!(hits.iter().take(2).map(|h| h.chunk).collect::<Vec<_>>(), [1, 4]);
        let expected = [0.6 / 0.4_f32.sqrt(), 0.6, 0.0, 0.0, 0.0];
        assert!(hits.iter().zip(expected).all(|(h, e)| (h.score - e).abs() < 0.02), "{hits:?}");
    }

    /// Made tests/bundles/v3, as above.
    #[test]
    #[ignore = "writes into the source tree, and only where there is no such bundle yet"]
    fn write_version_3() {
        let folder = folder("v3");
        assert!(!folder.join(MANIFEST_FILE).exists(), "frozen");
        std::fs::create_dir_all(&folder).unwrap();
        let documents = common::documents();
        let chunks = typed_chunks();
        let sealed = BundleBuilder::new("kb-builder 0.1.0", &documents, &chunks)
            .title("测试 test")
            .lexical(b"stands in for postings".to_vec())
            .finish()
            .unwrap();
        for file in &sealed.files {
            std::fs::write(folder.join(&file.name), &file.bytes).unwrap();
        }
        std::fs::write(folder.join(MANIFEST_FILE), &sealed.manifest_json).unwrap();
    }

    /// Made tests/bundles/v2, as above.
    #[test]
    #[ignore = "writes into the source tree, and only where there is no such bundle yet"]
    fn write_version_2() {
        let folder = folder("v2");
        assert!(!folder.join(MANIFEST_FILE).exists(), "frozen");
        std::fs::create_dir_all(&folder).unwrap();
        let documents = common::documents();
        let chunks = common::chunks(&documents);
        let index = VectorIndex::build(4, &ROWS).unwrap().with_centring(means()).unwrap();
        let sealed = BundleBuilder::new("kb-builder 0.1.0", &documents, &chunks)
            .title("测试 test")
            .language("zh")
            .retrieval(RetrievalOptions { fusion: FusionMethod::Rrf, ..RetrievalOptions::default() })
            .lexical(b"stands in for postings".to_vec())
            .vectors(common::model(4), index.to_bytes())
            .finish()
            .unwrap();
        for file in &sealed.files {
            std::fs::write(folder.join(&file.name), &file.bytes).unwrap();
        }
        std::fs::write(folder.join(MANIFEST_FILE), &sealed.manifest_json).unwrap();
    }
}
