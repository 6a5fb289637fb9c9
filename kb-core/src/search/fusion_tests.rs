//! Values computed by hand.

use super::*;
use crate::search::ThreeWayPreset;

fn s(chunk: u32, score: f32, matched: f32) -> Scored {
    Scored { chunk, score, matched }
}

fn v(chunk: u32, score: f32) -> VectorHit {
    VectorHit { chunk, score }
}

fn plain(lexical_weight: f32) -> RetrievalOptions {
    RetrievalOptions { lexical_weight, rerank: false, ..RetrievalOptions::default() }
}

/// Chunk and score, by chunk. `scored` is by ascending chunk, as the index gives it.
fn scores(lexical: &[Scored], vector: &[VectorHit], options: RetrievalOptions) -> Vec<(u32, f32)> {
    let mut scored = lexical.to_vec();
    scored.sort_by_key(|s| s.chunk);
    let fused = fuse(&Lists { lexical, vector, scored: &scored, across: false }, &options, Mode::Hybrid);
    for f in &fused {
        assert_eq!(f.score, sum(&f.parts));
    }
    fused.into_iter().map(|f| (f.chunk, f.score)).collect()
}

/// Words 10, 6, 2 become 1, 0.5, 0; cosines 0.875, 0.75 become 1, 0.
#[test]
fn halves_add_up() {
    let lexical = [s(7, 10.0, 1.0), s(3, 6.0, 1.0), s(5, 2.0, 1.0)];
    let vector = [v(3, 0.875), v(9, 0.75)];
    assert_eq!(scores(&lexical, &vector, plain(0.5)), [(3, 0.75), (5, 0.0), (7, 0.5), (9, 0.0)]);
    assert_eq!(scores(&lexical, &vector, plain(0.25)), [(3, 0.875), (5, 0.0), (7, 0.25), (9, 0.0)]);
}

/// As above, and a tenth of the share of words: 0.75 + 0.1, 0 + 0.05, 0.5 + 0.025.
#[test]
fn the_share_of_words_is_added() {
    let lexical = [s(7, 10.0, 0.25), s(3, 6.0, 1.0), s(5, 2.0, 0.5)];
    let got = scores(&lexical, &[v(3, 0.875), v(9, 0.75)], RetrievalOptions { rerank: true, ..plain(0.5) });
    let expected = [(3, 0.85), (5, 0.05), (7, 0.525), (9, 0.0)];
    assert!(got.iter().zip(expected).all(|(g, e)| g.0 == e.0 && (g.1 - e.1).abs() < 1e-6), "{got:?}");
}

/// The best passage holds 0.25 of the question, where 0.4 would give the words their weight: 0.625 of 0.5.
#[test]
fn a_stray_word_weighs_little() {
    let got = scores(&[s(1, 9.0, 0.25), s(2, 3.0, 0.1)], &[v(2, 0.9), v(1, 0.5)], plain(0.5));
    assert!((got[0].1 - 0.312_5).abs() < 1e-6 && (got[1].1 - 0.687_5).abs() < 1e-6, "{got:?}");
    // In a language that the base hardly speaks it would have to hold 1.2: 0.25 / 1.2 of 0.5.
    let scored = [s(1, 9.0, 0.25), s(2, 3.0, 0.1)];
    let lists = Lists { lexical: &scored, vector: &[v(2, 0.9), v(1, 0.5)], scored: &scored, across: true };
    assert!((fuse(&lists, &plain(0.5), Mode::Hybrid)[0].score - 0.104_167).abs() < 1e-6);
}

/// The last of 50 has 0.8 of the best score, where it should have fallen by 0.55 of it: 0.2 / 0.55 of 0.5. With one
/// passage less the list is a choice, and has its whole weight.
#[test]
fn words_that_all_passages_have_weigh_little() {
    let flat: Vec<Scored> = (0..50).map(|i| s(i, if i == 0 { 10.0 } else { 8.0 }, 1.0)).collect();
    let vector = [v(49, 0.9), v(0, 0.5)];
    let got = scores(&flat, &vector, plain(0.5));
    assert!((got[0].1 - 0.181_818).abs() < 1e-6 && (got[49].1 - 0.818_182).abs() < 1e-6, "{got:?}");
    assert_eq!(scores(&flat[..49], &[v(48, 0.9), v(0, 0.5)], plain(0.5))[0], (0, 0.5));
}

#[test]
fn vectors_give_more_candidates_in_a_large_base() {
    assert_eq!([0, 188, 500, 1000, 2000, 100_000].map(vector_candidates), [50, 50, 50, 100, 200, 200]);
}

#[test]
fn a_few_pages_are_no_language_of_a_base() {
    assert_eq!(
        [(0, 10), (1, 10), (2, 10), (10, 10), (0, 0)].map(|(own, all)| speaks(own, all)),
        [false, false, true, true, false]
    );
}

#[test]
fn an_empty_list_takes_no_part() {
    assert_eq!(scores(&[], &[v(1, 0.9), v(2, 0.8), v(3, 0.7)], plain(0.5))[0], (1, 1.0));
    assert_eq!(scores(&[s(4, 3.0, 1.0)], &[], plain(0.5)), [(4, 1.0)]);
    assert_eq!(scores(&[], &[], plain(0.5)), []);
}

#[test]
fn equal_scores_are_all_best() {
    assert_eq!(scores(&[s(1, 2.0, 1.0), s(2, 2.0, 1.0)], &[], plain(0.5)), [(1, 1.0), (2, 1.0)]);
}

/// Ranks 1 and 2 by words, 1 and 2 by vectors, k = 60: 1/61 + 1/62, 1/62, 1/61.
#[test]
fn reciprocal_ranks_add_up() {
    let options = RetrievalOptions { fusion: FusionMethod::Rrf, ..RetrievalOptions::default() };
    let got = scores(&[s(7, 9.0, 1.0), s(3, 8.0, 1.0)], &[v(3, 0.9), v(9, 0.8)], options);
    let expected = [(3, 1.0 / 62.0 + 1.0 / 61.0), (7, 1.0 / 61.0), (9, 1.0 / 62.0)];
    assert!(got.iter().zip(expected).all(|(g, e)| g.0 == e.0 && (g.1 - e.1).abs() < 1e-6), "{got:?}");
}

/// Keywords 0.5 · share + vectors 0.3 · cosine + BM25 0.2 · score, the last two stretched to 0..1.
#[test]
fn three_ways_add_up() {
    let options = RetrievalOptions { fusion: FusionMethod::ThreeWay, ..RetrievalOptions::default() };
    let lexical = [s(7, 10.0, 0.5), s(3, 6.0, 1.0), s(5, 2.0, 0.25)];
    let vector = [v(3, 0.875), v(9, 0.75)];
    assert_eq!(scores(&lexical, &vector, options), [(3, 0.5 + 0.3 + 0.2 * 0.5), (5, 0.125), (7, 0.25 + 0.2), (9, 0.0)]);
    let options = RetrievalOptions { three_way: ThreeWayPreset::Semantic, ..options };
    assert_eq!(scores(&lexical, &vector, options)[0], (3, 0.3 + 0.5 + 0.2 * 0.5));
}

/// A passage that only the vectors proposed has its BM25 score all the same.
#[test]
fn what_the_words_say_is_known_of_every_candidate() {
    let scored = [s(1, 4.0, 1.0), s(2, 8.0, 1.0), s(3, 6.0, 1.0)];
    let lists =
        Lists { lexical: &[scored[1], scored[0]], vector: &[v(3, 0.9), v(1, 0.5)], scored: &scored, across: false };
    let fused = fuse(&lists, &plain(0.5), Mode::Hybrid);
    let third = fused.iter().find(|f| f.chunk == 3).expect("a candidate");
    assert_eq!((third.lexical_rank, third.lexical.map(|s| s.score)), (None, Some(6.0)));
    assert_eq!(third.score, 0.5 * 0.5 + 0.5);
}
