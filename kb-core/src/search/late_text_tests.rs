//! Texts that come after the index.

use super::*;
use crate::chunk::ChunkId;
use crate::chunk::heading::{self, HeadingOptions};
use crate::document::markdown::parse_markdown;
use crate::index::lexical::LexicalBuilder;

const TEXTS: [(&str, &str); 3] = [
    ("a.md", "# Graphs\n\nAll about vertices.\n\n## 最短路 😀\n\n在有向图😀里找两点之间的最短路。\n"),
    ("b.md", "# Trees\n\nA tree is a graph without cycles.\n"),
    ("c.md", "# Heaps\n\nA heap keeps the smallest key on top, and every vertex of a graph may be one.\n"),
];

fn parts() -> (Vec<Document>, Vec<Chunk>, LexicalIndex) {
    let documents: Vec<Document> = TEXTS.iter().map(|(path, raw)| parse_markdown(path, raw).document).collect();
    let mut chunks = Vec::new();
    let mut lexical = LexicalBuilder::new();
    for (i, document) in documents.iter().enumerate() {
        for chunk in heading::chunk(document, i as u32, &HeadingOptions::default()).expect("options are the defaults") {
            lexical.add_chunk(document, &chunk).expect("small");
            chunks.push(chunk);
        }
    }
    (documents, chunks, lexical.build().expect("small"))
}

fn without_text() -> KnowledgeBase {
    let (mut documents, chunks, lexical) = parts();
    documents.iter_mut().for_each(|d| d.text.clear());
    KnowledgeBase::new(documents, chunks, lexical).expect("fits")
}

fn query(text: &str) -> Query {
    Query { text: text.into(), ..Query::default() }
}

#[test]
fn hits_are_the_same_before_and_after_but_for_the_excerpt() {
    let (documents, chunks, lexical) = parts();
    let texts: Vec<String> = documents.iter().map(|d| d.text.clone()).collect();
    let whole = KnowledgeBase::new(documents, chunks, lexical).expect("fits");
    let mut late = without_text();
    for question in ["graph", "最短路", "heap vertex"] {
        let expected = whole.lexical(&query(question)).expect("answers");
        let early = late.lexical(&query(question)).expect("answers");
        assert!(!expected.hits.is_empty());
        let order = |r: &Response| r.hits.iter().map(|h| (h.chunk_id.clone(), h.score.to_bits())).collect::<Vec<_>>();
        assert_eq!(order(&early), order(&expected), "{question}");
        assert!(early.hits.iter().all(|h| h.excerpt.text.is_empty() && h.excerpt.marks_bytes.is_empty()));
    }
    // Out of order, as downloads come.
    late.add_texts(1, &[&texts[1], &texts[2]]).expect("fits");
    assert_eq!([0, 1, 2, 3].map(|d| late.has_text(d)), [false, true, true, false]);
    late.add_texts(0, &[&texts[0]]).expect("fits");
    for question in ["graph", "最短路", "heap vertex"] {
        assert_eq!(late.lexical(&query(question)), whole.lexical(&query(question)), "{question}");
    }
}

#[test]
fn texts_that_do_not_fit_are_refused_and_leave_nothing() {
    let (documents, ..) = parts();
    let (a, b) = (documents[0].text.as_str(), documents[1].text.as_str());
    let mut base = without_text();
    // The emoji one byte longer: a section then ends inside a character.
    let shifted = a.replacen("Graphs", "Graph😀", 1);
    for (first, texts) in
        [(0, vec![b]), (0, vec![a, "x"]), (0, vec![&shifted]), (3, vec![a]), (2, vec![a, b]), (u32::MAX, vec![a])]
    {
        let error = base.add_texts(first, &texts).expect_err("does not fit");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{error}");
        assert!((0..3).all(|d| !base.has_text(d)), "{first} {texts:?}");
    }
}

#[test]
fn ids_that_follow_from_the_text_come_with_it_and_the_order_is_the_same() {
    let (documents, chunks, lexical) = parts();
    let texts: Vec<String> = documents.iter().map(|d| d.text.clone()).collect();
    let whole = KnowledgeBase::new(documents.clone(), chunks.clone(), lexical).expect("fits");
    let (mut documents, mut unknown) = (documents, chunks.clone());
    documents.iter_mut().for_each(|d| d.text.clear());
    unknown.iter_mut().for_each(|c| c.id = ChunkId::UNKNOWN);
    let mut late = KnowledgeBase::new(documents, unknown, parts().2).expect("fits");
    let order = |r: &Response| r.hits.iter().map(|h| (h.chunk, h.score.to_bits())).collect::<Vec<_>>();
    let (expected, early) = (whole.lexical(&query("graph")).expect("ok"), late.lexical(&query("graph")).expect("ok"));
    assert_eq!(order(&early), order(&expected));
    assert!(early.hits.len() > 1 && early.hits.iter().all(|h| h.chunk_id.is_empty()));
    late.add_texts(1, &[&texts[1]]).expect("fits");
    assert_eq!(late.chunks().iter().map(|c| c.id == ChunkId::UNKNOWN).collect::<Vec<_>>(), [true, false, true]);
    late.add_texts(0, &[&texts[0]]).expect("fits");
    late.add_texts(2, &[&texts[2]]).expect("fits");
    assert_eq!(late.chunks(), chunks);
    assert_eq!(late.lexical(&query("graph")), whole.lexical(&query("graph")));
}
