use super::*;
use proptest::prelude::*;

/// Title, headings, text.
fn index(passages: &[(&str, &str, &str)]) -> LexicalIndex {
    let mut builder = LexicalBuilder::new();
    for (title, headings, text) in passages {
        builder.add(title, headings, text).expect("small");
    }
    builder.build().expect("small")
}

fn found(index: &LexicalIndex, query: &str) -> Vec<u32> {
    index.search(query, 10, None).expect("sound").into_iter().map(|(chunk, _)| chunk).collect()
}

/// Expected values from the formula in the module's documentation, computed in Python.
#[test]
fn scores_are_bm25f() {
    let mut index =
        index(&[("Graphs", "", "Graph search: graph."), ("Graphs", "Trees", "Tree search."), ("Heaps", "", "Heap.")]);
    index.set_parameters(Bm25 { k1: 1.2, weights: [1.0, 2.0, 1.0], b: [0.5, 0.5, 0.75] });
    let scores = |query: &str| index.search(query, 10, None).expect("sound");
    let close = |got: &[(u32, f32)], expected: &[(u32, f32)]| {
        assert_eq!(got.len(), expected.len(), "{got:?}");
        for (g, e) in got.iter().zip(expected) {
            assert!(g.0 == e.0 && (g.1 - e.1).abs() < 1e-5, "{got:?} is not {expected:?}");
        }
    };
    close(&scores("graph"), &[(0, 0.315_674_08), (1, 0.213_638_01)]);
    close(&scores("tree search"), &[(1, 0.826_656_3), (0, 0.177_359_86)]);
    close(&scores("heap"), &[(2, 0.671_093_6)]);
    close(&scores("nothing of it"), &[]);
}

#[test]
fn both_sides_cut_text_alike() {
    let index = index(&[
        ("图论", "最短路", "用 Dijkstra 算法求最短路径"),
        ("字符串", "前缀函数", "KMP 用到 border"),
        ("React", "Hooks", "Call useEffect from np.linalg.norm, see E0382 and Ｆｕｌｌ"),
    ]);
    for (query, expected) in [
        ("最短路径", vec![0]),
        ("路", vec![0]),
        ("径", vec![0]),
        ("函", vec![1]),
        ("用", vec![0, 1]),
        ("dijkstra's", vec![0]),
        ("use_effect", vec![2]),
        ("linalg", vec![2]),
        ("e0382", vec![2]),
        ("full", vec![2]),
        ("鱼", vec![]),
        ("", vec![]),
        ("？！", vec![]),
    ] {
        let mut got = found(&index, query);
        got.sort_unstable();
        assert_eq!(got, expected, "{query}");
    }
}

#[test]
fn only_allowed_passages_are_ranked() {
    let index = index(&[("", "", "same word"), ("", "", "same word"), ("", "", "same")]);
    assert_eq!(found(&index, "word same"), [0, 1, 2]);
    let mut allowed = ChunkSet::new(3);
    allowed.insert(1);
    let hits = index.search("word same", 10, Some(&allowed)).expect("sound");
    assert_eq!(hits.len(), 1);
    // A filter hides passages; it does not change what a word is worth.
    assert_eq!(hits[0], index.search("word same", 10, None).expect("sound")[1]);
    assert_eq!(index.search("word same", 1, None).expect("sound").len(), 1);
}

#[test]
fn an_empty_index_answers() {
    let index = LexicalBuilder::new().build().expect("small");
    assert!(index.is_empty());
    assert_eq!(found(&index, "anything 任何"), [] as [u32; 0]);
}

#[test]
fn another_version_is_refused() {
    let mut bytes = index(&[("t", "h", "x")]).to_bytes().to_vec();
    bytes[0] = 4;
    assert_eq!(LexicalIndex::from_bytes(bytes).expect_err("other format").kind(), ErrorKind::NewerFormat);
    assert_eq!(LexicalIndex::from_bytes(vec![]).expect_err("nothing").kind(), ErrorKind::Corrupt);
}

/// A long question is a matter of milliseconds; were it quadratic, these would take minutes.
#[test]
fn long_questions_do_not_hang() {
    let text: String = (0..20_000_u32).filter_map(|i| char::from_u32(0x4E00 + i * 7 % 5_000)).collect();
    let index = index(&[("t", "h", &text), ("t", "h", "other")]);
    let question: String = text.chars().take(3_000).collect();
    assert_eq!(found(&index, &question), [0]);
    assert_eq!(found(&index, &text.repeat(5)), [0]);
}

fn passages() -> impl Strategy<Value = Vec<(String, String, String)>> {
    let text = |n| proptest::collection::vec("[a-e]{1,2}|[图论最短路]{1,3}|é", 0..n).prop_map(|w| w.join(" "));
    let passage = ("[ab]?", text(3), text(30));
    proptest::collection::vec(passage, 0..50)
}

fn build(passages: &[(String, String, String)]) -> Vec<u8> {
    let mut builder = LexicalBuilder::new();
    for (title, headings, text) in passages {
        builder.add(title, headings, text).expect("small");
    }
    builder.to_bytes().expect("small")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    /// What the index says is what plain counting says.
    #[test]
    fn postings_are_what_was_put_in(passages in passages()) {
        let bytes = build(&passages);
        prop_assert_eq!(&bytes, &build(&passages));
        let index = LexicalIndex::from_bytes(bytes)?;
        index.check()?;
        prop_assert_eq!(index.len(), passages.len());
        for term in ["a", "ab", "e", "图论", "短路", "none"] {
            let holds = |text: &str| {
                let mut holds = false;
                crate::text::tokenize(text, |t| holds |= t.term == term);
                holds
            };
            let expected = passages.iter().filter(|(t, h, x)| holds(t) || holds(h) || holds(x)).count();
            prop_assert_eq!(index.document_frequency(term)?, expected, "{}", term);
        }
        // One character: every passage that has it, however it is cut.
        let expected = passages.iter().filter(|(t, h, x)| [t, h, x].iter().any(|f| f.contains('路'))).count();
        prop_assert_eq!(index.document_frequency("路")?, expected);
    }

    /// Damaged bytes are an error or a wrong answer, never a panic, and never take long or much memory.
    #[test]
    fn damaged_bytes_do_no_harm(passages in passages(), changes in proptest::collection::vec((any::<u16>(), any::<u8>()), 1..6), cut in any::<u16>()) {
        let mut bytes = build(&passages);
        for (at, value) in changes {
            let at = at as usize % bytes.len();
            bytes[at] = value;
        }
        if cut % 4 == 0 {
            bytes.truncate(cut as usize % (bytes.len() + 1));
        }
        if let Ok(index) = LexicalIndex::from_bytes(bytes) {
            prop_assert!(index.len() <= 50 + 256);
            for query in ["a ab 图论", "路", "c d e"] {
                match index.search(query, 10, None) {
                    Ok(hits) => prop_assert!(hits.iter().all(|h| (h.0 as usize) < index.len())),
                    Err(error) => prop_assert_eq!(error.kind(), ErrorKind::Corrupt),
                }
            }
            let _ = index.check();
        }
    }

    #[test]
    fn foreign_bytes_do_no_harm(mut bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        if let [format, tokenizer, ..] = bytes.as_mut_slice() {
            (*format, *tokenizer) = (FORMAT_VERSION, TOKENIZER_VERSION);
        }
        if let Ok(index) = LexicalIndex::from_bytes(bytes) {
            let _ = (index.check(), index.search("a 图论 路", 5, None));
        }
    }
}

/// The same passages as an index in parts of which none has come.
fn in_parts(passages: &[(&str, &str, &str)], size: usize) -> (LexicalIndex, Vec<Vec<u8>>) {
    let mut builder = LexicalBuilder::new();
    for (title, headings, text) in passages {
        builder.add(title, headings, text).expect("small");
    }
    let (head, parts) = builder.to_parts(size).expect("small");
    (LexicalIndex::from_bytes(head).expect("sound"), parts)
}

/// Asks as the page does: again, until nothing is wanted. Says what came.
fn asked(
    index: &mut LexicalIndex,
    parts: &[Vec<u8>],
    ask: &dyn Fn(&LexicalIndex) -> Vec<(u32, f32)>,
) -> (Vec<(u32, f32)>, Vec<u32>) {
    let mut came = Vec::new();
    loop {
        let found = ask(index);
        let wanted = index.wanted();
        if wanted.is_empty() {
            return (found, came);
        }
        for part in wanted {
            index.add_part(part as usize, parts[part as usize].clone()).expect("its part");
            came.push(part);
        }
    }
}

fn by_lookups(text: &'static str, unfinished: bool) -> impl Fn(&LexicalIndex) -> Vec<(u32, f32)> {
    move |index| {
        let lookups = index.lookups(&query_terms(text), unfinished).expect("sound");
        index.scores(&lookups, None).expect("sound").passages.iter().map(|p| (p.chunk, p.score)).collect()
    }
}

#[test]
fn a_question_needs_the_parts_of_its_words_only() {
    let letter = |i: u32| char::from_u32('a' as u32 + i % 26).expect("a letter");
    let word = |i: u32| format!("zork{}{}{}", letter(i / 60), letter(i / 7), letter(i));
    let words: Vec<String> =
        (0..600).map(|i| format!("{} 字{}典", word(i), char::from_u32(0x4e00 + i).expect("han"))).collect();
    let passages: Vec<(&str, &str, &str)> = words.iter().map(|w| ("Title", "", w.as_str())).collect();
    let whole = index(&passages);
    let (empty, parts) = in_parts(&passages, 600);
    assert!(parts.len() >= 8 && empty.part_count() == parts.len(), "{}", parts.len());
    for (text, unfinished, most) in [
        ("zorkabi", false, 1),
        ("zorkabc zorkhij", false, parts.len()),
        ("zorkab", true, 3),
        ("title", false, 1),
        ("字", true, 6),
        ("no", false, 1),
        // A mistyped word is looked for everywhere.
        ("zrokqqqq", false, parts.len()),
        ("典", false, parts.len()),
    ] {
        let (mut index, parts) = in_parts(&passages, 600);
        let (found, came) = asked(&mut index, &parts, &by_lookups(text, unfinished));
        assert_eq!(found, by_lookups(text, unfinished)(&whole), "{text}");
        assert!(came.len() <= most, "{text}: {came:?}");
    }
    let (mut index, parts) = in_parts(&passages, 600);
    assert_eq!(index.add_part(0, parts[1].clone()).expect_err("another part").kind(), ErrorKind::Corrupt);
    assert_eq!(index.add_part(99, parts[1].clone()).expect_err("no such part").kind(), ErrorKind::Corrupt);
    assert_eq!(index.add_part(0, vec![1, 2, 3]).expect_err("damaged").kind(), ErrorKind::Corrupt);
    for (part, bytes) in parts.into_iter().enumerate() {
        index.add_part(part, bytes).expect("its part");
    }
    index.check().expect("sound");
    assert_eq!(index.term_count(), whole.term_count());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, ..ProptestConfig::default() })]

    #[test]
    fn an_index_in_parts_finds_what_the_whole_one_finds(
        texts in proptest::collection::vec(
            ("[a-d]{0,3}", "([a-e]{1,6} ?){0,2}|[图论最短路径]{1,3}", "([a-d]{1,6}|[图论最短路径]{1,4}) ([a-d]{1,6} ?){0,6}"),
            1..60,
        ),
        question in "([a-d]{1,7}|[图论最短路径]{1,3})( [a-d]{1,6})?",
        unfinished in proptest::bool::ANY,
        size in 20_usize..200,
    ) {
        let passages: Vec<(&str, &str, &str)> = texts.iter().map(|(t, h, x)| (t.as_str(), h.as_str(), x.as_str())).collect();
        let ask = |index: &LexicalIndex| -> Vec<(u32, f32)> {
            let lookups = index.lookups(&query_terms(&question), unfinished).expect("sound");
            index.scores(&lookups, None).expect("sound").passages.iter().map(|p| (p.chunk, p.score)).collect()
        };
        let expected = ask(&index(&passages));
        let (mut index, parts) = in_parts(&passages, size);
        prop_assert_eq!(asked(&mut index, &parts, &ask).0, expected);
    }
}
