//! A small base of real pages, asked in every mode.

use super::*;
use crate::chunk::heading::{HeadingOptions, chunk};
use crate::chunk::{ChunkId, ChunkKind};
use crate::document::{parse_markdown, plain};
use crate::index::lexical::LexicalBuilder;
use crate::search::Filter;

const PAGES: [(&str, &str, &str); 4] = [
    (
        "algo",
        "graph/shortest-path.md",
        "---\ntags: [图论]\nweek: 3\n---\n# 最短路\n\n## Dijkstra 算法\n\n求**单源**最短路径，边权非负。用堆优化后复杂度是 $O(m\\log n)$，这是最常用的做法，竞赛里几乎总是够用。\n\n## Floyd 算法\n\n求任意两点之间的最短路径，复杂度是 $O(n^3)$，写起来只有三重循环，适合点数不多的稠密图。\n",
    ),
    ("algo", "string/kmp.md", "# 前缀函数\n\nKMP 算法用前缀函数匹配字符串。\n"),
    (
        "rust",
        "ch04.md",
        "# Understanding Ownership\n\n## What Is Ownership?\n\nOwnership is a set of rules that govern how a Rust program manages memory.\n\n## References & Borrowing\n\nA reference is like a pointer.\n",
    ),
    (
        "rust",
        "ch15.md",
        "# Smart Pointers\n\n`Rc<T>` enables multiple owners of the same data; the reference counter manages memory.\n",
    ),
];

fn base() -> KnowledgeBase {
    let options = HeadingOptions { min_chars: 0, ..HeadingOptions::default() };
    let (mut documents, mut chunks, mut lexical) = (Vec::new(), Vec::new(), LexicalBuilder::new());
    for (collection, path, text) in PAGES {
        let mut document = parse_markdown(path, text).document;
        document.collection = collection.into();
        document.url = Some(format!("https://example.org/{}", path.trim_end_matches(".md")));
        for c in chunk(&document, documents.len() as u32, &options).expect("valid options") {
            lexical.add_chunk(&document, &c).expect("small");
            chunks.push(c);
        }
        documents.push(document);
    }
    KnowledgeBase::new(documents, chunks, lexical.build().expect("small")).expect("fits together")
}

fn query(text: &str) -> Query {
    Query { text: text.into(), ..Query::default() }
}

fn anchors(response: &Response) -> Vec<&str> {
    response.hits.iter().map(|h| h.anchor.as_str()).collect()
}

#[test]
fn a_hit_says_where_it_is() {
    let response = base().lexical(&query("单源最短路径")).expect("a valid query");
    let hit = &response.hits[0];
    assert_eq!((hit.rank, hit.collection.as_str(), hit.path.as_str()), (1, "algo", "graph/shortest-path.md"));
    assert_eq!(hit.title, "最短路");
    assert_eq!(hit.heading_path, ["最短路", "Dijkstra 算法"]);
    assert_eq!(hit.anchor, "dijkstra-算法");
    assert_eq!(hit.url.as_deref(), Some("https://example.org/graph/shortest-path#dijkstra-%E7%AE%97%E6%B3%95"));
    assert_eq!(hit.lang, "zh");
    assert!(hit.excerpt.text.contains("单源最短路径，边权非负。"), "{}", hit.excerpt.text);
    assert_eq!(&hit.excerpt.text[hit.excerpt.marks_bytes[0].clone()], "单源最短路径");
    assert!(!hit.excerpt.text.contains("Dijkstra 算法") && !hit.excerpt.text.contains("**"));
    assert_eq!(hit.chunk_id.len(), 16);
    assert_eq!(hit.lexical_score, Some(hit.score));
    assert_eq!(hit.vector_score, None);
    assert_eq!(response.mode, Mode::Lexical);
}

#[test]
fn filters_and_collections_narrow() {
    let base = base();
    let ask = |collections: &[&str], filters: &[&str]| {
        let q = Query {
            collections: collections.iter().map(|c| (*c).to_owned()).collect(),
            filters: filters.iter().map(|f| f.parse::<Filter>().expect("a filter")).collect(),
            ..query("算法 memory reference")
        };
        let r = base.lexical(&q).expect("a valid query");
        let mut paths: Vec<String> = r.hits.into_iter().map(|h| h.path).collect();
        paths.sort_unstable();
        paths.dedup();
        paths
    };
    assert_eq!(ask(&[], &[]).len(), 4);
    assert_eq!(ask(&["rust"], &[]), ["ch04.md", "ch15.md"]);
    assert_eq!(ask(&[], &["path=graph/", "path=string/"]), ["graph/shortest-path.md", "string/kmp.md"]);
    assert_eq!(ask(&[], &["path=graph/", "lang=en"]), [] as [&str; 0]);
    assert_eq!(ask(&[], &["tag=图论"]), ["graph/shortest-path.md"]);
    assert_eq!(ask(&["none"], &[]), [] as [&str; 0]);
    let allowed = base.allowed(&Query { collections: vec!["rust".into()], ..query("x") }).expect("narrowed");
    assert_eq!(allowed.len(), base.chunks().iter().filter(|c| c.doc >= 2).count());
    assert_eq!(base.allowed(&query("x")), None);
    assert_eq!(base.collections(), ["algo", "rust"]);
}

#[test]
fn modes_use_the_lists_they_name() {
    let mut base = base();
    base.set_options(RetrievalOptions { rerank: false, ..RetrievalOptions::default() }).expect("in range");
    let vectors: Vec<VectorHit> = [(4, 0.9), (5, 0.8)].map(|(chunk, score)| VectorHit { chunk, score }).into();
    let hybrid = base.search(&query("Floyd"), Some(&vectors)).expect("a valid query");
    assert_eq!(hybrid.mode, Mode::Hybrid);
    assert_eq!((hybrid.lexical_candidates, hybrid.vector_candidates), (1, 2));
    // Floyd's section is best of one list, passage 4 of the other, both with half the weight.
    let mut scores: Vec<(u32, f32)> = hybrid.hits.iter().map(|h| (h.chunk, h.score)).collect();
    scores.sort_by_key(|s| s.0);
    assert_eq!(scores, [(1, 0.5), (4, 0.5), (5, 0.0)]);
    // Equal scores: the order of the bundle.
    assert_eq!(hybrid.hits.iter().map(|h| h.chunk).collect::<Vec<_>>(), [1, 4, 5]);

    let vector = base.search(&Query { mode: Mode::Vector, ..query("Floyd") }, Some(&vectors)).expect("a valid query");
    assert_eq!(vector.hits.iter().map(|h| (h.chunk, h.score)).collect::<Vec<_>>(), [(4, 0.9), (5, 0.8)]);
    assert_eq!(vector.hits[0].lexical_score, None);
    let lexical = base.search(&Query { mode: Mode::Lexical, ..query("Floyd") }, Some(&vectors)).expect("a valid query");
    assert_eq!((lexical.mode, anchors(&lexical)), (Mode::Lexical, vec!["floyd-算法"]));
    // Without a model a hybrid question is answered by words, and says so.
    let without = base.search(&query("Floyd"), None).expect("a valid query");
    assert_eq!((without.mode, without.hits), (Mode::Lexical, lexical.hits));
    // No known word: the vectors alone decide, undiluted.
    let unknown = base.search(&query("xyzzy"), Some(&vectors)).expect("a valid query");
    assert_eq!(unknown.hits.iter().map(|h| (h.chunk, h.score)).collect::<Vec<_>>(), [(4, 1.0), (5, 0.0)]);
}

/// Twelve words have nine sequences of four, one word more has ten: nine of ten are in both.
#[test]
fn copies_are_left_out_and_named() {
    let text = "one two three four five six seven eight nine ten eleven twelve";
    let pages = [("a.md", text.to_owned()), ("b.md", format!("{text} thirteen")), ("c.md", "one other two".to_owned())];
    let (mut documents, mut chunks, mut lexical) = (Vec::new(), Vec::new(), LexicalBuilder::new());
    for (path, text) in pages {
        let document = parse_markdown(path, &text).document;
        for c in chunk(&document, documents.len() as u32, &HeadingOptions::default()).expect("valid options") {
            lexical.add_chunk(&document, &c).expect("small");
            chunks.push(c);
        }
        documents.push(document);
    }
    let base = KnowledgeBase::new(documents, chunks, lexical.build().expect("small")).expect("fits together");
    let found = base.explain(&query("one two"), None).expect("a valid query");
    assert_eq!(found.response.hits.len(), 2);
    let folded: usize = found.explanations.iter().map(|e| e.folded.len()).sum();
    assert_eq!(folded, 1);
    let all = base.search(&Query { keep_duplicates: true, ..query("one two") }, None).expect("a valid query");
    assert_eq!(all.hits.len(), 3);
}

#[test]
fn thresholds_leave_out_what_is_below() {
    let mut base = base();
    let vectors: Vec<VectorHit> = [(4, 0.9), (5, 0.4)].map(|(chunk, score)| VectorHit { chunk, score }).into();
    let found = |base: &KnowledgeBase, text: &str| {
        let response = base.search(&query(text), Some(&vectors)).expect("a valid query");
        response.hits.iter().map(|h| h.chunk).collect::<Vec<_>>()
    };
    base.set_options(RetrievalOptions { max_distance: Some(0.5), ..RetrievalOptions::default() }).expect("in range");
    assert_eq!(found(&base, "xyzzy"), [4]);
    base.set_options(RetrievalOptions { min_score: Some(0.55), ..RetrievalOptions::default() }).expect("in range");
    // Half for the best of one list; Floyd's section has a tenth more for holding the whole question.
    assert_eq!(found(&base, "Floyd"), [1]);
    assert!(base.set_options(RetrievalOptions { rrf_k: -1.0, ..RetrievalOptions::default() }).is_err());
}

#[test]
fn vectors_from_outside_are_not_trusted() {
    let base = base();
    let vectors = [(99, 0.9), (4, f32::NAN), (0, 0.5), (0, 0.4)].map(|(chunk, score)| VectorHit { chunk, score });
    let q = Query { mode: Mode::Vector, ..query("anything") };
    let r = base.search(&q, Some(&vectors)).expect("a valid query");
    assert_eq!(r.hits.iter().map(|h| h.chunk).collect::<Vec<_>>(), [0]);
    let q = Query { filters: vec!["lang=en".parse().expect("a filter")], ..q };
    assert_eq!(base.search(&q, Some(&vectors)).expect("a valid query").hits, []);
}

#[test]
fn what_cannot_be_answered_is_an_error() {
    let base = base();
    for bad in [
        query(" \n"),
        Query { k: 0, ..query("x") },
        Query { k: 101, ..query("x") },
        Query { mode: Mode::Vector, ..query("x") },
    ] {
        assert_eq!(base.search(&bad, None).expect_err("not valid").kind(), ErrorKind::InvalidInput);
    }
    // A question of nothing but punctuation is valid and finds nothing.
    assert_eq!(base.lexical(&query("？！")).expect("a valid query").hits, []);
    assert!(base.lexical(&query(&"最短路径怎么求".repeat(20_000))).is_ok());
}

/// Two short sections in one passage: the anchor is that of the one that is shown.
#[test]
fn a_hit_leads_to_the_section_that_is_shown() {
    let mut document = parse_markdown("p.md", "# T\n\n## First\n\nApples.\n\n## Second\n\nPears.\n").document;
    document.url = Some("p.html".into());
    let chunks = chunk(&document, 0, &HeadingOptions::default()).expect("valid options");
    assert_eq!(chunks.len(), 1);
    let padding = "Filler sentence number one of many. ".repeat(12);
    document.text = document.text.replace("Apples.", &format!("Apples. {padding}"));
    let end = document.text.len();
    let shift = end as u32 - chunks[0].span_bytes.end - 1;
    document.sections[1].span_bytes.end += shift as usize;
    document.sections[2].span_bytes.start += shift as usize;
    document.sections[2].span_bytes.end = end;
    let c = Chunk { span_bytes: 0..end as u32, ..chunks[0].clone() };
    let mut lexical = LexicalBuilder::new();
    lexical.add("T", "First", &plain(&document.text).text).expect("small");
    let base = KnowledgeBase::new(vec![document], vec![c], lexical.build().expect("small")).expect("fits together");
    assert_eq!(anchors(&base.lexical(&query("apples")).expect("valid")), ["first"]);
    assert_eq!(anchors(&base.lexical(&query("pears")).expect("valid")), ["second"]);
}

#[test]
fn parts_that_do_not_fit_are_refused() {
    let document = || parse_markdown("p.md", "# 图\n\ntext\n").document;
    let good = || Chunk {
        id: ChunkId(1),
        doc: 0,
        section: Some(0),
        span_bytes: 0..10,
        overlap_bytes: 0,
        kind: ChunkKind::Text,
    };
    let index = |n: usize| {
        let mut b = LexicalBuilder::new();
        (0..n).for_each(|_| b.add("", "", "x").expect("small"));
        b.build().expect("small")
    };
    assert!(KnowledgeBase::new(vec![document()], vec![good()], index(1)).is_ok());
    for bad in [
        Chunk { doc: 1, ..good() },
        Chunk { section: Some(1), ..good() },
        Chunk { span_bytes: 0..99, ..good() },
        Chunk { span_bytes: 3..10, ..good() },
        #[expect(clippy::reversed_empty_ranges, reason = "what a damaged file may hold")]
        Chunk { span_bytes: 9..2, ..good() },
    ] {
        let error = KnowledgeBase::new(vec![document()], vec![bad.clone()], index(1)).expect_err("does not fit");
        assert_eq!(error.kind(), ErrorKind::Corrupt, "{bad:?}");
    }
    assert!(KnowledgeBase::new(vec![document()], vec![good()], index(2)).is_err());
    let mut looped = document();
    looped.sections[0].parent = Some(0);
    assert!(KnowledgeBase::new(vec![looped], vec![good()], index(1)).is_err());
}

#[test]
fn fragments_are_encoded() {
    assert_eq!(with_fragment("a.html", ""), "a.html");
    assert_eq!(with_fragment("a.html", "a b\"<图>%"), "a.html#a%20b%22%3C%E5%9B%BE%3E%25");
    assert_eq!(with_fragment("a.html", "x_(y)-1"), "a.html#x_(y)-1");
}
