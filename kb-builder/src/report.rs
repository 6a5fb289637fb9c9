//! What the author sees while a build runs: a line that moves on a terminal, plain lines in a pipe,
//! JSON events for programs.

use serde::Serialize;
use serde_json::{Map, Value, json};
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How progress is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// One line on standard error that is written over.
    Terminal,
    /// A line on standard error every ten seconds and at the end of a stage.
    Plain,
    /// One JSON object a line on standard output.
    Json,
    /// Only problems.
    Quiet,
}

impl Style {
    /// The style that the flags ask for, by the kind of standard error where they say nothing.
    pub fn choose(json: bool, quiet: bool) -> Self {
        match (json, quiet) {
            (true, _) => Self::Json,
            (false, true) => Self::Quiet,
            _ if std::io::stderr().is_terminal() => Self::Terminal,
            _ => Self::Plain,
        }
    }
}

/// Writes progress and problems. Threads may share it.
pub struct Reporter {
    style: Style,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    stage: Option<Stage>,
    /// Whether a line of the terminal has to be cleared before other text.
    drawn: bool,
}

struct Stage {
    name: &'static str,
    unit: &'static str,
    total: u64,
    done: u64,
    /// Work that took no time, such as texts out of the cache: it does not count for the rate.
    free: u64,
    started: Instant,
    shown: Option<Instant>,
}

impl Reporter {
    /// A reporter in this style.
    pub fn new(style: Style) -> Self {
        Self { style, state: Mutex::default() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // A thread that panicked leaves a picture of progress that is at worst out of date.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a stage of `total` `unit`s, ending the one before.
    pub fn stage(&self, name: &'static str, total: u64, unit: &'static str) {
        self.end_stage();
        self.state().stage = Some(Stage { name, unit, total, done: 0, free: 0, started: Instant::now(), shown: None });
        if self.style == Style::Json {
            self.event("stage", json!({ "stage": name, "total": total, "unit": unit }));
        }
        self.draw(false);
    }

    /// `n` more units are done.
    pub fn advance(&self, n: u64) {
        if let Some(stage) = &mut self.state().stage {
            stage.done += n;
        }
        self.draw(false);
    }

    /// `n` more units are done that needed no work.
    pub fn advance_free(&self, n: u64) {
        if let Some(stage) = &mut self.state().stage {
            stage.done += n;
            stage.free += n;
        }
        self.draw(false);
    }

    /// Ends the stage at hand.
    pub fn end_stage(&self) {
        self.draw(true);
        self.state().stage = None;
    }

    /// Something the author may want to know.
    pub fn note(&self, text: &str) {
        match self.style {
            Style::Quiet => {}
            Style::Json => self.event("note", json!({ "text": text })),
            _ => self.line(&format!("note: {text}")),
        }
    }

    /// Something that went wrong with one file; the work goes on.
    pub fn problem(&self, problem: &crate::source::Problem) {
        match self.style {
            Style::Json => self.event("file_failed", problem),
            _ => self.line(&format!("failed: {}/{}: {}", problem.collection, problem.path, problem.reason)),
        }
    }

    /// Something that happened between builds: `text` for people, `fields` for programs.
    pub fn happened(&self, name: &str, text: &str, fields: impl Serialize) {
        match self.style {
            Style::Quiet => {}
            Style::Json => self.event(name, fields),
            _ => self.line(text),
        }
    }

    /// An error after which the program goes on; `then` says with what.
    pub fn trouble(&self, name: &str, error: &crate::Error, then: &str) {
        self.end_stage();
        match self.style {
            Style::Json => self.event(name, json!({ "error": error.to_string(), "hint": error.hint() })),
            _ => {
                let hint = error.hint().map(|hint| format!("\n  help: {hint}")).unwrap_or_default();
                self.line(&format!("error: {error}{hint}\n{then}"));
            }
        }
    }

    /// The end: `text` for people, `fields` for programs.
    pub fn finished(&self, text: &str, fields: impl Serialize) {
        self.end_stage();
        match self.style {
            Style::Quiet => {}
            Style::Json => self.event("finished", fields),
            _ => println!("{text}"),
        }
    }

    /// Writes `{"event": name, …fields}`.
    fn event(&self, name: &str, fields: impl Serialize) {
        let mut object = Map::new();
        object.insert("event".into(), name.into());
        match serde_json::to_value(fields) {
            Ok(Value::Object(fields)) => object.extend(fields),
            Ok(other) => drop(object.insert("value".into(), other)),
            Err(e) => drop(object.insert("error".into(), e.to_string().into())),
        }
        let mut out = std::io::stdout().lock();
        // A reader that went away must not stop the build.
        let _ = writeln!(out, "{}", Value::Object(object));
        let _ = out.flush();
    }

    fn line(&self, text: &str) {
        let mut state = self.state();
        let clear = if std::mem::take(&mut state.drawn) { "\r\x1b[2K" } else { "" };
        let _ = writeln!(std::io::stderr().lock(), "{clear}{text}");
    }

    fn draw(&self, last: bool) {
        let mut state = self.state();
        let Some(stage) = &mut state.stage else { return };
        let interval = match self.style {
            Style::Terminal => Duration::from_millis(100),
            Style::Json => Duration::from_secs(1),
            Style::Plain => Duration::from_secs(10),
            Style::Quiet => return,
        };
        // The first plain line comes after an interval, so that short stages write one line only.
        let since = stage.shown.unwrap_or(stage.started).elapsed();
        if !last && (since < interval && (stage.shown.is_some() || self.style != Style::Terminal)) {
            return;
        }
        stage.shown = Some(Instant::now());
        let elapsed = stage.started.elapsed();
        match self.style {
            Style::Json => {
                let fields = json!({ "stage": stage.name, "done": stage.done, "total": stage.total, "seconds": rounded(elapsed), "finished": last });
                drop(state);
                self.event("progress", fields);
            }
            Style::Terminal => {
                let text = status(stage.name, stage.unit, stage.done, stage.total, stage.free, elapsed, last);
                let _ = write!(std::io::stderr().lock(), "\r\x1b[2K{text}{}", if last { "\n" } else { "" });
                let _ = std::io::stderr().flush();
                state.drawn = !last;
            }
            _ => {
                let _ = writeln!(
                    std::io::stderr().lock(),
                    "{}",
                    status(stage.name, stage.unit, stage.done, stage.total, stage.free, elapsed, last)
                );
            }
        }
    }
}

fn rounded(d: Duration) -> f64 {
    (d.as_secs_f64() * 1000.0).round() / 1000.0
}

/// `embedding 1200/4000 passages, 85/s, 33 s left`, or how long it took at the end.
fn status(name: &str, unit: &str, done: u64, total: u64, free: u64, elapsed: Duration, last: bool) -> String {
    let seconds = elapsed.as_secs_f64();
    let worked = done.saturating_sub(free);
    let rate = if seconds > 0.0 { worked as f64 / seconds } else { 0.0 };
    let mut text = format!("{name} {done}/{total} {unit}");
    if last {
        text.push_str(&format!(" in {}", duration(elapsed)));
        if free > 0 {
            text.push_str(&format!(", {free} of them from the cache"));
        }
    } else if rate > 0.0 {
        let left = Duration::from_secs_f64((total.saturating_sub(done) as f64 / rate).min(1e7));
        text.push_str(&format!(", {}/s, {} left", short(rate), duration(left)));
    }
    text
}

/// A rate with three digits at most where they mean something.
fn short(rate: f64) -> String {
    if rate >= 10.0 { format!("{rate:.0}") } else { format!("{rate:.1}") }
}

/// `0.4 s`, `33 s`, `2 min 05 s`, `1 h 02 min`.
pub fn duration(d: Duration) -> String {
    let s = d.as_secs();
    match s {
        0..=9 => format!("{:.1} s", d.as_secs_f64()),
        10..=119 => format!("{s} s"),
        120..=5999 => format!("{} min {:02} s", s / 60, s % 60),
        _ => format!("{} h {:02} min", s / 3600, s % 3600 / 60),
    }
}

/// `512 B`, `23.5 kB`, `4.1 MB`.
pub fn bytes(n: u64) -> String {
    match n {
        0..1000 => format!("{n} B"),
        1000..1_000_000 => format!("{:.1} kB", n as f64 / 1e3),
        _ => format!("{:.1} MB", n as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_comes_from_the_work_done_and_not_from_the_cache() {
        let s = |done, free, secs| status("embedding", "passages", done, 400, free, Duration::from_secs(secs), false);
        assert_eq!(s(100, 0, 10), "embedding 100/400 passages, 10/s, 30 s left");
        assert_eq!(s(200, 100, 10), "embedding 200/400 passages, 10/s, 20 s left");
        assert_eq!(s(200, 200, 10), "embedding 200/400 passages");
        let end = status("embedding", "passages", 400, 400, 100, Duration::from_secs(75), true);
        assert_eq!(end, "embedding 400/400 passages in 75 s, 100 of them from the cache");
    }

    #[test]
    fn durations_and_sizes_read_well() {
        assert_eq!(duration(Duration::from_millis(400)), "0.4 s");
        assert_eq!(duration(Duration::from_secs(125)), "2 min 05 s");
        assert_eq!(duration(Duration::from_secs(7_320)), "2 h 02 min");
        assert_eq!((bytes(999), bytes(23_512), bytes(4_140_000)), ("999 B".into(), "23.5 kB".into(), "4.1 MB".into()));
    }
}
