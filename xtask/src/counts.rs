//! How many tests passed and failed, read from what the test programs print.

use std::ops::AddAssign;

/// Test cases that ran.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Cases that passed.
    pub passed: u32,
    /// Cases that failed.
    pub failed: u32,
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }
}

impl Counts {
    /// Sums the closing lines of Rust's test programs and of Node's test runner.
    pub fn read(output: &str) -> Self {
        let mut sum = Self::default();
        for line in output.lines() {
            let line = plain(line);
            if let Some(rest) = line.trim().strip_prefix("test result:") {
                sum.passed += number_before(rest, "passed");
                sum.failed += number_before(rest, "failed");
            } else if let Some(n) = node_total(&line, "pass") {
                sum.passed += n;
            } else if let Some(n) = node_total(&line, "fail").or_else(|| node_total(&line, "cancelled")) {
                sum.failed += n;
            }
        }
        sum
    }
}

/// The line without terminal colours.
fn plain(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c == '\u{1b}' {
            chars.by_ref().find(char::is_ascii_alphabetic);
        } else {
            out.push(c);
        }
    }
    out
}

fn number_before(text: &str, word: &str) -> u32 {
    let words: Vec<&str> = text.split([' ', ';', '.']).filter(|w| !w.is_empty()).collect();
    words.windows(2).find(|w| w[1] == word).and_then(|w| w[0].parse().ok()).unwrap_or(0)
}

/// `# pass 12` or `ℹ pass 12`.
fn node_total(line: &str, word: &str) -> Option<u32> {
    let rest = line.strip_prefix("# ").or_else(|| line.strip_prefix("ℹ "))?;
    rest.strip_prefix(word)?.strip_prefix(' ')?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rust_programs_are_summed() {
        let text = "running 3 tests\n\ntest result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.01s\n\
                    test result: FAILED. 4 passed; 2 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.01s\n";
        assert_eq!(Counts::read(text), Counts { passed: 7, failed: 2 });
    }

    #[test]
    fn node_is_read() {
        let text = "✔ says that 5 passed (1.2ms)\nℹ tests 6\nℹ pass 4\nℹ fail 1\nℹ cancelled 1\nℹ skipped 0\n";
        assert_eq!(Counts::read(text), Counts { passed: 4, failed: 2 });
        assert_eq!(Counts::read("# pass 5\n# fail 1\n"), Counts { passed: 5, failed: 1 });
    }

    #[test]
    fn colours_do_not_hide_a_result() {
        assert_eq!(Counts::read("test result: \u{1b}[32mok\u{1b}[m. 3 passed; 0 failed; 0 ignored\n").passed, 3);
    }
}
