//! What goes into a bundle comes out of it, and the same input gives the same bytes.
#![allow(clippy::unwrap_used, clippy::disallowed_methods, clippy::disallowed_types)]

mod common;

use kb_core::ErrorKind;
use kb_core::bundle::{self, Manifest, SectionKind, SectionRef, docs, open_bundle, pack, unpack};
use kb_core::bundle::{BundleBuilder, SealedBundle, chunks as chunk_codec, text};
use kb_core::chunk::{Chunk, ChunkId, ChunkKind};
use kb_core::document::{Document, Lang, MetaValue, Section};
use proptest::prelude::*;
use std::collections::BTreeMap;

fn fetch(bundle: &SealedBundle) -> impl FnMut(&SectionRef) -> kb_core::Result<Vec<u8>> + '_ {
    |section| Ok(bundle.files.iter().find(|f| f.name == section.file).map(|f| f.bytes.clone()).unwrap_or_default())
}

#[test]
fn everything_comes_back() {
    let sealed = common::bundle();
    let opened = open_bundle(&sealed.manifest_json, &SectionKind::ALL, fetch(&sealed)).unwrap();
    assert_eq!(opened.manifest, sealed.manifest);
    assert_eq!(opened.documents, common::documents());
    assert_eq!(opened.chunks, common::chunks(&common::documents()));
    assert_eq!(opened.index(SectionKind::Lexical).unwrap(), b"postings ".repeat(40));
    assert_eq!(opened.index(SectionKind::Vectors).unwrap(), [1; 60]);
    assert_eq!(opened.index(SectionKind::Graph).unwrap(), [2; 30]);
}

#[test]
fn the_manifest_says_what_is_inside() {
    let manifest = common::bundle().manifest;
    let of = |name: &str| manifest.collections.iter().find(|c| c.name == name).map(|c| (c.documents, c.chunks));
    assert_eq!((of("notes"), of("book")), (Some((2, 3)), Some((1, 2))));
    assert_eq!((manifest.counts.documents, manifest.counts.chunks), (3, 5));
    let json = String::from_utf8(manifest.to_json().unwrap()).unwrap();
    assert!(!json.contains("created"), "no time unless asked for");
    for section in &manifest.sections {
        assert_eq!(section.file, format!("{}-{}.kbs", section.kind.name(), &section.sha256[..16]));
    }
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    assert_eq!(common::bundle(), common::bundle());
    assert_eq!(pack(&common::bundle()), pack(&common::bundle()));
}

#[test]
fn a_pack_holds_the_same_bundle() {
    let sealed = common::bundle();
    let bytes = pack(&sealed);
    let packed = unpack(&bytes).unwrap();
    assert_eq!(packed.manifest_json, sealed.manifest_json);
    let opened = open_bundle(packed.manifest_json, &SectionKind::ALL, |s| packed.file(s)).unwrap();
    assert_eq!(opened, open_bundle(&sealed.manifest_json, &SectionKind::ALL, fetch(&sealed)).unwrap());
    for cut in 0..bytes.len() {
        assert!(unpack(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    assert_eq!(unpack(&[bytes.as_slice(), b"!"].concat()).unwrap_err().kind(), ErrorKind::Corrupt);
    assert_eq!(unpack(b"<html>").unwrap_err().kind(), ErrorKind::NotABundle);
}

#[test]
fn text_comes_in_parts_when_it_is_long() {
    let mut documents = Vec::new();
    for i in 0..7 {
        let mut document = common::documents().remove(2);
        document.path = format!("{i}.txt");
        // Ten bytes, so that three documents are a little over one part.
        document.text = format!("第{i}篇。").repeat(text::TEXT_PART_BYTES / 29);
        documents.push(document);
    }
    let sealed = BundleBuilder::new("test", &documents, &[]).finish().unwrap();
    let parts: Vec<&SectionRef> = sealed.manifest.sections_of(SectionKind::Text).collect();
    assert_eq!(parts.iter().map(|p| p.first_document).collect::<Vec<_>>(), [Some(0), Some(3), Some(6)]);
    assert_eq!(sealed.manifest.text_section(5), Some(parts[1]));

    let mut opened = open_bundle(&sealed.manifest_json, &[], fetch(&sealed)).unwrap();
    assert!((0..7).all(|d| !opened.has_text(d)));
    let file = &sealed.files.iter().find(|f| f.name == parts[1].file).unwrap().bytes;
    opened.add_text(&parts[1].open(file).unwrap()).unwrap();
    assert_eq!((0..7).filter(|d| opened.has_text(*d)).collect::<Vec<_>>(), [3, 4, 5]);
    assert_eq!(opened.documents[4].text, documents[4].text);
}

/// SHA-256 by Python's hashlib, as `ChunkId::new` documents it; "twice" stands there twice.
#[test]
fn ids_that_follow_from_the_text_are_left_out_and_come_back_with_it() {
    let ids = [0x7cf1_c6ea_ad9e_4bdd, 0x5bea_9bdc_702d_b568, 0x9f14_0914_59f6_8093];
    let mut document = common::documents().remove(0);
    (document.collection, document.path) = ("c".into(), "a.md".into());
    document.text = "twice twice once ".into();
    document.sections.clear();
    let spans = [0..6, 6..12, 12..17];
    let chunks: Vec<Chunk> = (spans.into_iter().zip(ids))
        .map(|(span_bytes, id)| {
            let (id, kind) = (ChunkId(id), ChunkKind::Text);
            Chunk { id, doc: 0, section: None, span_bytes, overlap_bytes: 0, kind }
        })
        .collect();
    let documents = [document];
    let sealed = BundleBuilder::new("test", &documents, &chunks).finish().unwrap();
    let without = open_bundle(&sealed.manifest_json, &[], fetch(&sealed)).unwrap();
    assert!(without.chunks.iter().all(|c| c.id == ChunkId::UNKNOWN));
    let with = open_bundle(&sealed.manifest_json, &[SectionKind::Text], fetch(&sealed)).unwrap();
    assert_eq!(with.chunks, chunks);
    // One that does not follow from it, and all are there from the beginning.
    let mut other = chunks.clone();
    other[2].id = ChunkId(7);
    let sealed = BundleBuilder::new("test", &documents, &other).finish().unwrap();
    assert_eq!(open_bundle(&sealed.manifest_json, &[], fetch(&sealed)).unwrap().chunks, other);
}

/// Anchors that a title gives, one behind another, and ones that it does not.
#[test]
fn anchors_come_back_whatever_they_are() {
    let sections: Vec<Section> = [
        ("Getting started", "getting-started"),
        ("Getting started", "getting-started-1"),
        ("特例：子集和 DP", "特例子集和-dp"),
        ("Naïve Über", "naïve-über"),
        ("A = B", "a--b"),
        ("Title", ""),
        ("Title", "page=3"),
        ("Title", "title=x"),
        ("", "=x"),
        ("", ""),
    ]
    .into_iter()
    .map(|(title, anchor)| Section {
        level: 1,
        title: title.into(),
        anchor: anchor.into(),
        span_bytes: 0..0,
        parent: None,
    })
    .collect();
    let mut document = common::documents().remove(0);
    document.text.clear();
    document.sections = sections;
    let documents = [document];
    let sealed = docs::encode(&documents).unwrap();
    assert_eq!(docs::decode(&sealed).unwrap().documents[0].sections, documents[0].sections);
    // What the title gives is not there.
    assert!(!String::from_utf8_lossy(&sealed).contains("getting-started"));
}

#[test]
fn what_breaks_a_rule_is_refused_when_written() {
    let documents = common::documents();
    let good = common::chunks(&documents);
    let refused = |documents: &[Document], chunks: &[Chunk]| {
        let error = BundleBuilder::new("test", documents, chunks).finish().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{error}");
    };
    let with = |change: &dyn Fn(&mut Vec<Chunk>)| {
        let mut chunks = good.clone();
        change(&mut chunks);
        refused(&documents, &chunks);
    };
    with(&|c| c.swap(0, 1));
    with(&|c| c.swap(2, 3));
    with(&|c| c[1].id = c[0].id);
    with(&|c| c[4].doc = 3);
    with(&|c| c[4].span_bytes.end += 1);
    with(&|c| c[0].span_bytes.start = 1);
    with(&|c| c[0].span_bytes.end = 0);
    with(&|c| c[1].section = Some(2));
    with(&|c| c[3].overlap_bytes = 23);
    let with = |change: &dyn Fn(&mut Document)| {
        let mut documents = documents.clone();
        change(&mut documents[0]);
        refused(&documents, &[]);
    };
    with(&|d| d.sections[1].parent = Some(1));
    with(&|d| d.sections[0].level = 0);
    with(&|d| d.sections[0].span_bytes.start += 3);
    with(&|d| d.sections[1].span_bytes.start -= 1);
    with(&|d| d.sections[1].span_bytes.end += 1);
    with(&|d| d.text.truncate(d.text.len() - 1));
}

#[test]
fn a_manifest_must_agree_with_itself_and_its_files() {
    let sealed = common::bundle();
    let json = String::from_utf8(sealed.manifest_json.clone()).unwrap();
    let kind = |json: &str| Manifest::from_json(json.as_bytes()).unwrap_err().kind();
    assert_eq!(kind(""), ErrorKind::NotABundle);
    assert_eq!(kind("<!DOCTYPE html>"), ErrorKind::NotABundle);
    assert_eq!(kind("{}"), ErrorKind::NotABundle);
    assert_eq!(kind(&json[..json.len() / 2]), ErrorKind::Corrupt);
    assert_eq!(kind("{\"format\": 99, \"everything\": \"else\"}"), ErrorKind::NewerFormat);
    assert_eq!(kind("{\"format\": 0}"), ErrorKind::Corrupt);
    for (from, to) in [
        ("\"documents\": 3", "\"documents\": 4"),
        ("\"file\": \"docs-", "\"file\": \"../docs-"),
        ("\"file\": \"docs-", "\"file\": \".docs-"),
        ("\"kind\": \"chunks\"", "\"kind\": \"docs\""),
        ("\"first_document\": 0", "\"first_document\": 1"),
        ("\"dim\": 4", "\"dim\": 0"),
    ] {
        assert!(json.contains(from), "{from}");
        assert_eq!(kind(&json.replacen(from, to, 1)), ErrorKind::Corrupt, "{to}");
    }

    // A good file of another bundle in place of the right one.
    let other = bundle::seal(SectionKind::Docs, &docs::encode(&[]).unwrap()).unwrap();
    let error = open_bundle(&sealed.manifest_json, &[], |_| Ok(other.clone())).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corrupt);
    assert!(error.message().contains("`docs`"), "{error}");
}

#[test]
fn another_model_is_refused_by_name() {
    let manifest = common::bundle().manifest;
    assert!(manifest.check_model(&common::model(4)).is_ok());
    let mut other = common::model(4);
    other.name = "other".into();
    other.fingerprint = "cd".repeat(32);
    let error = manifest.check_model(&other).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ModelMismatch);
    assert!(error.message().contains("`test-model`") && error.message().contains("`other`"), "{error}");
}

fn meta_value() -> impl Strategy<Value = MetaValue> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(MetaValue::Bool),
        any::<i64>().prop_map(MetaValue::Int),
        any::<f64>().prop_filter("NaN equals nothing", |f| !f.is_nan()).prop_map(MetaValue::Float),
        ".{0,6}".prop_map(MetaValue::Text),
        "[0-9]{4}-[0-9]{2}".prop_map(MetaValue::Date),
    ];
    leaf.prop_recursive(4, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(MetaValue::List),
            prop::collection::btree_map(".{0,4}", inner, 0..4).prop_map(MetaValue::Map),
        ]
    })
}

/// A document of arbitrary lines, each perhaps a section, with arbitrary cuts into chunks.
fn document() -> impl Strategy<Value = (Document, Vec<Chunk>)> {
    let line = ("\\PC{0,12}", any::<bool>(), 1..=6u8);
    let metadata = prop::collection::btree_map(".{0,4}", meta_value(), 0..3);
    (prop::collection::vec(line, 0..12), metadata, prop::option::of("\\PC{0,9}"), any::<u64>()).prop_map(
        |(lines, metadata, url, seed)| {
            let mut text = String::new();
            let mut sections: Vec<Section> = Vec::new();
            for (line, heading, level) in lines {
                let start = text.len();
                text.push_str(&line);
                text.push('\n');
                if heading {
                    let parent = sections.iter().rposition(|s| s.level < level);
                    sections.push(Section {
                        level,
                        title: line.clone(),
                        anchor: line,
                        span_bytes: start..text.len(),
                        parent,
                    });
                }
            }
            let mut random = common::Random(seed);
            let mut chunks: Vec<Chunk> = Vec::new();
            let mut at = 0;
            while at < text.len() {
                let mut end = (at + 1 + random.below(20)).min(text.len());
                while !text.is_char_boundary(end) {
                    end += 1;
                }
                let mut start =
                    at.saturating_sub(random.below(4)).max(chunks.last().map_or(0, |c| c.span_bytes.start as usize));
                while !text.is_char_boundary(start) {
                    start -= 1;
                }
                let section =
                    (!sections.is_empty() && random.below(2) == 0).then(|| random.below(sections.len()) as u32);
                let id = ChunkId(random.next());
                chunks.push(Chunk {
                    id,
                    doc: 0,
                    section,
                    span_bytes: start as u32..end as u32,
                    overlap_bytes: (at - start) as u32,
                    kind: ChunkKind::from_code(random.below(12) as u8),
                });
                at = end;
            }
            let (path, title) = (format!("{seed}.md"), String::new());
            (Document { path, collection: "c".into(), title, lang: Lang::Ja, url, text, sections, metadata }, chunks)
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn any_documents_and_chunks_come_back(all in prop::collection::vec(document(), 0..5)) {
        let (documents, chunks): (Vec<Document>, Vec<Vec<Chunk>>) = all.into_iter().unzip();
        let mut flat = Vec::new();
        for (i, list) in chunks.into_iter().enumerate() {
            flat.extend(list.into_iter().map(|c| Chunk { doc: i as u32, ..c }));
        }
        let sealed = BundleBuilder::new("test", &documents, &flat).finish().unwrap();
        let opened = open_bundle(&sealed.manifest_json, &[SectionKind::Text], fetch(&sealed)).unwrap();
        prop_assert_eq!(opened.documents, documents);
        prop_assert_eq!(opened.chunks, flat);
    }
}

#[test]
fn codecs_stand_alone() {
    let documents = common::documents();
    let chunks = common::chunks(&documents);
    let table = docs::decode(&docs::encode(&documents).unwrap()).unwrap();
    let read =
        chunk_codec::decode(&chunk_codec::encode(&chunks, &documents).unwrap(), &table.documents, &table.text_bytes)
            .unwrap();
    assert_eq!(read, chunks);
    let payload = text::encode(&documents, 1..3).unwrap();
    assert_eq!(text::decode(&payload).unwrap(), (1, vec!["", documents[2].text.as_str()]));
    assert_eq!(table.documents[0].metadata, documents[0].metadata);
    assert_eq!(table.documents[0].metadata.get("order"), Some(&MetaValue::Int(-7)));
    assert_eq!(table.documents[1].metadata, BTreeMap::new());
}
