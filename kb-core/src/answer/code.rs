//! Whether a place in Markdown that is still being written lies inside code.

/// Follows backticks and tildes. A span opened by n backticks is closed by n backticks, a short one also
/// by an empty line, since one that is never closed is no code.
#[derive(Debug, Clone, Default)]
pub(super) struct CodeTracker {
    /// Character and length of the run that opened the code.
    open: Option<(char, usize)>,
    /// The run of marks that is being read.
    run: Option<(char, usize)>,
    /// Whether only white space stands before the run on its line.
    run_starts_line: bool,
    /// Line ends since the last visible character.
    line_ends: usize,
    line_is_blank: bool,
    started: bool,
}

impl CodeTracker {
    /// Takes the next character.
    pub fn push(&mut self, c: char) {
        if !self.started {
            (self.started, self.line_is_blank) = (true, true);
        }
        match &mut self.run {
            Some((mark, length)) if *mark == c => {
                *length += 1;
                return;
            }
            Some(_) => self.end_run(),
            None => {}
        }
        match c {
            '`' | '~' => {
                self.run = Some((c, 1));
                self.run_starts_line = self.line_is_blank;
                (self.line_is_blank, self.line_ends) = (false, 0);
            }
            '\n' => {
                self.line_ends += 1;
                self.line_is_blank = true;
                if self.line_ends > 1 && self.open.is_some_and(|(_, length)| length < 3) {
                    self.open = None;
                }
            }
            c if c.is_whitespace() => {}
            _ => (self.line_is_blank, self.line_ends) = (false, 0),
        }
    }

    /// Whether what was pushed last is inside code.
    pub fn inside(&self) -> bool {
        self.open.is_some()
    }

    fn end_run(&mut self) {
        let Some(run) = self.run.take() else { return };
        match self.open {
            None if run.0 == '`' || (run.1 >= 3 && self.run_starts_line) => self.open = Some(run),
            // A fence may be closed by a longer one.
            Some((mark, length)) if mark == run.0 && (run.1 == length || (length >= 3 && run.1 > length)) => {
                self.open = None;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The characters outside code and marks.
    fn outside(text: &str) -> String {
        let mut tracker = CodeTracker::default();
        let mut out = String::new();
        for c in text.chars() {
            tracker.push(c);
            if !tracker.inside() && !matches!(c, '`' | '~') {
                out.push(c);
            }
        }
        out
    }

    #[test]
    fn code_is_told_from_prose() {
        assert_eq!(outside("a `b` c"), "a  c");
        assert_eq!(outside("a ``b ` c`` d"), "a  d");
        assert_eq!(outside("a\n```rust\nb ` c\n```\nd"), "a\n\nd");
        assert_eq!(outside("~~~\nb\n~~~\nd"), "\nd");
        assert_eq!(outside("about ~5 and ~~gone~~ x"), "about 5 and gone x");
        assert_eq!(outside("a ` b\n\nc"), "a \nc", "a mark that is never closed");
    }
}
