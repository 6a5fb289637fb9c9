//! nDCG, recall, reciprocal rank and hit rate, as means over the questions.

use super::{Ranking, TestSet};
use serde::Serialize;
use std::collections::HashMap;

/// What a ranking is worth, each 0 to 1, rounded to four digits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Scores {
    /// nDCG@10 with linear gain and a discount of log2(rank + 1) (Järvelin and Kekäläinen, TOIS 2002).
    pub ndcg10: f64,
    /// The share of relevant passages among the first 5.
    pub recall5: f64,
    /// The reciprocal of the rank of the first relevant passage, 0 after rank 10.
    pub mrr10: f64,
    /// Whether a relevant passage is among the first 5.
    pub hit5: f64,
    /// How many questions.
    pub queries: usize,
}

/// What one question's ranking is worth: nDCG@10, recall@5, reciprocal rank@10, hit@5. A passage counts once,
/// at its best rank.
pub fn score_one(relevant: &HashMap<String, f64>, ranking: &Ranking) -> [f64; 4] {
    let gains: Vec<f64> = ranking.iter().take(10).map(|(id, _)| relevant.get(id).copied().unwrap_or(0.0)).collect();
    let mut ideal: Vec<f64> = relevant.values().copied().collect();
    ideal.sort_by(|a, b| b.total_cmp(a));
    let found = gains.iter().take(5).filter(|g| **g > 0.0).count();
    [
        dcg(&gains) / dcg(&ideal[..ideal.len().min(10)]),
        found as f64 / relevant.len() as f64,
        gains.iter().position(|g| *g > 0.0).map_or(0.0, |i| 1.0 / (i as f64 + 1.0)),
        f64::from(u8::from(found > 0)),
    ]
}

/// What each question's ranking is worth, in the order of the questions; none for a question of which only that is
/// known which places are of no use.
pub fn score_each(set: &TestSet, rankings: &[Ranking]) -> Vec<Option<[f64; 4]>> {
    let each = set.queries.iter().zip(rankings);
    each.map(|(q, ranking)| set.relevant.get(&q.id).map(|relevant| score_one(relevant, ranking))).collect()
}

/// How many of the places that readers marked as of no use are among the first ten, and how many there are.
pub fn unwanted(set: &TestSet, rankings: &[Ranking]) -> (usize, usize) {
    let mut count = (0, 0);
    for (question, ranking) in set.queries.iter().zip(rankings) {
        for place in set.unwanted.get(&question.id).into_iter().flatten() {
            count.0 += usize::from(ranking.iter().take(10).any(|(id, _)| id == place));
            count.1 += 1;
        }
    }
    count
}

/// Scores the rankings of a set's questions.
pub fn score(set: &TestSet, rankings: &[Ranking]) -> Scores {
    mean(&score_each(set, rankings).into_iter().flatten().collect::<Vec<_>>())
}

/// The means over some questions.
pub fn mean(each: &[[f64; 4]]) -> Scores {
    let n = each.len().max(1) as f64;
    let mean = |i: usize| (each.iter().map(|s| s[i]).sum::<f64>() / n * 1e4).round() / 1e4 + 0.0;
    Scores { ndcg10: mean(0), recall5: mean(1), mrr10: mean(2), hit5: mean(3), queries: each.len() }
}

/// Discounted cumulative gain: gain / log2(rank + 1), ranks from 1.
fn dcg(gains: &[f64]) -> f64 {
    // The sum of nothing is -0.0.
    gains.iter().enumerate().map(|(i, g)| g / (i as f64 + 2.0).log2()).sum::<f64>() + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::asked::Scope;
    use crate::eval::set::Question;

    fn set(relevant: &[(&str, &[(&str, f64)])]) -> TestSet {
        let queries = relevant
            .iter()
            .map(|(q, _)| Question { id: q.to_string(), text: String::new(), lang: None, scope: Scope::default() })
            .collect();
        let gains = |list: &[(&str, f64)]| list.iter().map(|(d, g)| (d.to_string(), *g)).collect::<HashMap<_, _>>();
        TestSet {
            name: "t".into(),
            corpus: vec![],
            queries,
            relevant: relevant.iter().map(|(q, list)| (q.to_string(), gains(list))).collect(),
            unwanted: HashMap::new(),
        }
    }

    fn ranking(ids: &[&str]) -> Ranking {
        ids.iter().map(|id| (id.to_string(), 1.0)).collect()
    }

    #[test]
    fn values_computed_by_hand() {
        // Found at ranks 2 and 4, gains 1 and 2: DCG = 1/log2(3) + 2/log2(5) = 0.63093 + 0.86135 = 1.49228.
        // Ideal: 2/log2(2) + 1/log2(3) = 2.63093. nDCG = 0.56720.
        let s = score(&set(&[("q", &[("a", 1.0), ("b", 2.0)])]), &[ranking(&["x", "a", "y", "b"])]);
        assert_eq!(s, Scores { ndcg10: 0.5672, recall5: 1.0, mrr10: 0.5, hit5: 1.0, queries: 1 });
        // One of three at rank 7: DCG = 1/log2(8) = 0.33333; ideal 1 + 0.63093 + 0.5 = 2.13093; 0.15643.
        let s = score(
            &set(&[("q", &[("a", 1.0), ("b", 1.0), ("c", 1.0)])]),
            &[ranking(&["1", "2", "3", "4", "5", "6", "a"])],
        );
        assert_eq!(s, Scores { ndcg10: 0.1564, recall5: 0.0, mrr10: 0.1429, hit5: 0.0, queries: 1 });
        // Rank 11 does not count. The mean is over both questions.
        let eleven: Vec<String> = (0..10).map(|i| i.to_string()).chain(["a".into()]).collect();
        let late = ranking(&eleven.iter().map(String::as_str).collect::<Vec<_>>());
        let s = score(&set(&[("p", &[("a", 1.0)]), ("q", &[("b", 1.0)])]), &[late, ranking(&["b"])]);
        assert_eq!(s, Scores { ndcg10: 0.5, recall5: 0.5, mrr10: 0.5, hit5: 0.5, queries: 2 });
        // What is only unwanted is no part of the means.
        let mut marked = set(&[("q", &[("a", 1.0)])]);
        marked.queries.push(Question { id: "r".into(), text: String::new(), lang: None, scope: Scope::default() });
        marked.unwanted = HashMap::from([("q".into(), vec!["x".into(), "y".into()]), ("r".into(), vec!["z".into()])]);
        let rankings = [ranking(&["a", "x"]), ranking(&["z"])];
        assert_eq!(score(&marked, &rankings).queries, 1);
        assert_eq!(unwanted(&marked, &rankings), (2, 3));
        // Nothing found at all.
        let s = score(&set(&[("q", &[("a", 1.0)])]), &[vec![]]);
        assert_eq!(s, Scores { ndcg10: 0.0, recall5: 0.0, mrr10: 0.0, hit5: 0.0, queries: 1 });
        let none = mean(&[]);
        assert!(s.ndcg10.is_sign_positive() && none.ndcg10.is_sign_positive() && none.recall5.is_sign_positive());
    }
}
