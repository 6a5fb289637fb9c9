//! Two rankings of the same questions side by side.

use super::interval::mean_interval;
use super::metrics::score_each;
use super::{Ranking, TestSet};
use crate::error::{Error, Result};
use serde::Serialize;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// One question's nDCG@10 in both.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// The question's id.
    pub id: String,
    /// What is asked.
    pub text: String,
    /// nDCG@10 of the first.
    pub a: f64,
    /// nDCG@10 of the second.
    pub b: f64,
}

/// What a change did.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Comparison {
    /// Mean nDCG@10 of the first.
    pub a: f64,
    /// Mean nDCG@10 of the second.
    pub b: f64,
    /// Mean of the second less the first.
    pub difference: f64,
    /// Its 95 % interval over the questions.
    pub interval: Option<[f64; 2]>,
    /// Questions that the second answers better, and worse.
    pub better: usize,
    /// See `better`.
    pub worse: usize,
    /// The questions that differ, the largest loss first.
    pub questions: Vec<Difference>,
}

impl Comparison {
    /// Compares two rankings of each of the set's questions.
    pub fn new(set: &TestSet, a: &[Ranking], b: &[Ranking]) -> Self {
        let both = set.queries.iter().zip(score_each(set, a)).zip(score_each(set, b));
        let (queries, pairs): (Vec<_>, Vec<(f64, f64)>) =
            both.filter_map(|((q, a), b)| Some((q, (a?[0], b?[0])))).unzip();
        let n = pairs.len().max(1) as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
        let differences: Vec<f64> = pairs.iter().map(|(a, b)| b - a).collect();
        let mut questions: Vec<Difference> = queries
            .into_iter()
            .zip(&pairs)
            .filter(|(_, (a, b))| a != b)
            .map(|(q, (a, b))| Difference { id: q.id.clone(), text: q.text.clone(), a: *a, b: *b })
            .collect();
        questions.sort_by(|x, y| (x.b - x.a).total_cmp(&(y.b - y.a)).then_with(|| x.id.cmp(&y.id)));
        Self {
            a: mean(|p| p.0),
            b: mean(|p| p.1),
            difference: mean(|p| p.1 - p.0),
            interval: mean_interval(&differences),
            better: differences.iter().filter(|d| **d > 0.0).count(),
            worse: differences.iter().filter(|d| **d < 0.0).count(),
            questions,
        }
    }

    /// Whether the second is worse beyond chance: the whole interval is below 0.
    pub fn is_worse(&self) -> bool {
        self.interval.map_or(self.difference < 0.0, |[_, high]| high < 0.0)
    }
}

/// Reads a run file: question, passage, score, with tabs, best first; a passage counts once.
pub fn read_run(set: &TestSet, path: &Path) -> Result<Vec<Ranking>> {
    let text = std::fs::read_to_string(path).map_err(|e| Error::io("read", path, e))?;
    let mut of: HashMap<&str, Ranking> = HashMap::new();
    let mut seen = HashSet::new();
    for (i, line) in text.lines().enumerate().filter(|(_, l)| !l.trim().is_empty()) {
        let mut parts = line.split('\t');
        let (Some(question), Some(passage)) = (parts.next(), parts.next()) else {
            return Err(Error::failed(
                format!("{}: line {} is not a question and a passage with a tab between", path.display(), i + 1),
                "a run is what `eval --run-out` writes",
            ));
        };
        if seen.insert((question, passage)) {
            let score = parts.next().and_then(|s| s.trim().parse().ok()).unwrap_or(0.0);
            of.entry(question).or_default().push((passage.to_string(), score));
        }
    }
    Ok(set.queries.iter().map(|q| of.remove(q.id.as_str()).unwrap_or_default()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::asked::Scope;
    use crate::eval::set::Question;

    fn set(n: usize) -> TestSet {
        let id = |i: usize| format!("q{i}");
        TestSet {
            name: "t".into(),
            corpus: vec![],
            queries: (0..n)
                .map(|i| Question { id: id(i), text: String::new(), lang: None, scope: Scope::default() })
                .collect(),
            relevant: (0..n).map(|i| (id(i), HashMap::from([("d".to_string(), 1.0)]))).collect(),
            unwanted: HashMap::new(),
        }
    }

    fn at(rank: usize) -> Ranking {
        (1..rank).map(|i| (format!("x{i}"), 0.0)).chain([("d".to_string(), 0.0)]).collect()
    }

    /// One relevant passage: nDCG is 1 at rank 1, 1 / log2(3) = 0.63093 at rank 2, 0.5 at rank 3.
    #[test]
    fn differences_by_hand() {
        let set = set(3);
        let c = Comparison::new(&set, &[at(1), at(1), at(3)], &[at(1), at(2), at(1)]);
        assert!((c.a - 2.5 / 3.0).abs() < 1e-9 && (c.b - 2.630_929_75 / 3.0).abs() < 1e-6, "{c:?}");
        assert_eq!((c.better, c.worse), (1, 1));
        assert_eq!(c.questions.iter().map(|q| q.id.as_str()).collect::<Vec<_>>(), ["q1", "q2"]);
        assert!(!c.is_worse());
    }

    #[test]
    fn a_loss_everywhere_is_worse() {
        let set = set(8);
        let (a, b) = (vec![at(1); 8], vec![at(2); 8]);
        assert!(Comparison::new(&set, &a, &b).is_worse() && !Comparison::new(&set, &b, &a).is_worse());
    }

    #[test]
    fn runs_are_read_as_they_are_written() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("run");
        std::fs::write(&path, "q1\tb\t2\nq0\ta\t0.5\nq1\tb\t1\nq1\tc\t1\n").expect("writes");
        let run = read_run(&set(3), &path).expect("reads");
        assert_eq!(run, [vec![("a".into(), 0.5)], vec![("b".into(), 2.0), ("c".into(), 1.0)], vec![]]);
        std::fs::write(&path, "nothing\n").expect("writes");
        assert!(read_run(&set(1), &path).is_err());
    }
}
