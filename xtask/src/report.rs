//! Runs the steps of a command one after the other, whatever fails, and tells at the end what happened.

use std::time::{Duration, Instant};

use anyhow::Result;

use crate::counts::Counts;
use crate::run::Finished;

/// How a step ended, when nothing stopped it.
pub enum Outcome {
    /// It has no test cases of its own: it counts as one.
    Passed,
    /// It ran test cases.
    Counted {
        /// What its output says.
        counts: Counts,
        /// Whether the program ended well.
        success: bool,
    },
    /// It did not run, for this reason. It counts as nothing.
    Skipped(String),
}

impl From<Finished> for Outcome {
    fn from(finished: Finished) -> Self {
        Self::Counted { counts: Counts::read(&finished.output), success: finished.success }
    }
}

struct Row {
    name: &'static str,
    time: Duration,
    counts: Counts,
    note: String,
}

/// The steps so far.
#[derive(Default)]
pub struct Report {
    rows: Vec<Row>,
    only: Vec<String>,
}

impl Report {
    /// A report that runs only the steps named in `only`; all steps if there are none.
    pub fn new(only: Vec<String>) -> Self {
        Self { rows: Vec::new(), only }
    }

    /// Whether a step of this name is to run.
    pub fn wants(&self, name: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|o| o == name)
    }

    /// Runs one step; a failure is recorded and the next step still runs.
    pub fn step(&mut self, name: &'static str, run: impl FnOnce() -> Result<Outcome>) {
        if !self.wants(name) {
            return;
        }
        println!("\n=== {name}");
        let start = Instant::now();
        let result = run();
        let time = start.elapsed();
        if let Err(e) = &result {
            println!("{name}: {e:#}");
        }
        let (counts, note) = judge(result);
        self.rows.push(Row { name, time, counts, note });
    }

    /// Prints a line for each step and the closing line; whether everything passed.
    pub fn close(self) -> bool {
        let mut sum = Counts::default();
        println!("\n{:<26} {:>7} {:>7} {:>7}", "step", "time", "passed", "failed");
        for row in &self.rows {
            let seconds = row.time.as_secs();
            let time = format!("{}:{:02}", seconds / 60, seconds % 60);
            let Counts { passed, failed } = row.counts;
            println!("{:<26} {time:>7} {passed:>7} {failed:>7}  {}", row.name, row.note);
            sum += row.counts;
        }
        println!("\n{} passed, {} failed", sum.passed, sum.failed);
        sum.failed == 0 && sum.passed > 0
    }
}

/// What a result adds to the totals. A step that failed always adds at least one failure.
fn judge(result: Result<Outcome>) -> (Counts, String) {
    match result {
        Ok(Outcome::Passed) => (Counts { passed: 1, failed: 0 }, String::new()),
        Ok(Outcome::Skipped(why)) => (Counts::default(), format!("skipped: {why}")),
        Ok(Outcome::Counted { counts, success: true }) if counts == Counts::default() => {
            (Counts { passed: 0, failed: 1 }, "no test ran".to_string())
        }
        Ok(Outcome::Counted { counts, success: false }) if counts.failed == 0 => {
            (Counts { failed: 1, ..counts }, "stopped before its end".to_string())
        }
        Ok(Outcome::Counted { counts, .. }) => (counts, String::new()),
        Err(e) => (Counts { passed: 0, failed: 1 }, format!("{e:#}").lines().next().unwrap_or_default().to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(passed: u32, failed: u32, success: bool) -> Counts {
        judge(Ok(Outcome::Counted { counts: Counts { passed, failed }, success })).0
    }

    #[test]
    fn a_failed_step_is_never_counted_as_passed() {
        assert_eq!(counted(3, 0, false), Counts { passed: 3, failed: 1 });
        assert_eq!(counted(3, 2, false), Counts { passed: 3, failed: 2 });
        assert_eq!(counted(0, 0, true), Counts { passed: 0, failed: 1 });
        assert_eq!(judge(Err(anyhow::anyhow!("x"))).0.failed, 1);
    }

    #[test]
    fn one_failure_fails_the_whole_and_later_steps_still_run() {
        let mut report = Report::default();
        let mut ran = false;
        report.step("a", || anyhow::bail!("no"));
        report.step("b", || {
            ran = true;
            Ok(Outcome::Passed)
        });
        assert!(ran);
        assert!(!report.close());
    }

    #[test]
    fn a_report_of_skipped_steps_is_not_a_success() {
        let mut report = Report::new(vec!["a".into()]);
        report.step("a", || Ok(Outcome::Skipped("why".into())));
        report.step("b", || Ok(Outcome::Passed));
        assert!(!report.close());
    }
}
