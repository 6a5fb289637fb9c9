//! Running programs: echoed, checked, timed out, tried again.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// A program started from here may not run longer than this: a hanging one must not eat the report of the others.
const LIMIT: Duration = Duration::from_secs(25 * 60);

/// What a program printed and how it ended.
pub struct Finished {
    /// Standard output and standard error, in the order of arrival.
    pub output: String,
    /// Whether it ended with status 0.
    pub success: bool,
}

/// `program args…` as one would type it.
pub fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words: Vec<String> = words
        .map(|w| {
            let w = w.to_string_lossy();
            if w.contains(' ') { format!("'{w}'") } else { w.into_owned() }
        })
        .collect();
    words.join(" ")
}

/// Runs the command with its output on the terminal; an error when it fails.
pub fn check(command: &mut Command) -> Result<()> {
    check_within(command, LIMIT)
}

/// [`check`] with a time limit of its own.
pub fn check_within(command: &mut Command, limit: Duration) -> Result<()> {
    println!("$ {}", shown(command));
    command.stdin(Stdio::null());
    let mut child = command.spawn().with_context(|| format!("cannot start {}", shown(command)))?;
    let status = wait(&mut child, limit)?;
    if !status.success() {
        bail!("{} ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs the command silently and returns its trimmed standard output; an error when it fails.
pub fn output(command: &mut Command) -> Result<String> {
    command.stdin(Stdio::null());
    let out = command.output().with_context(|| format!("cannot start {}", shown(command)))?;
    if !out.status.success() {
        let error = String::from_utf8_lossy(&out.stderr);
        bail!("{} ended with {}: {}", shown(command), out.status, error.trim());
    }
    Ok(String::from_utf8_lossy(&out.stdout).trim().to_string())
}

/// Runs the command with its output on the terminal, and keeps the output.
pub fn tee(command: &mut Command) -> Result<Finished> {
    println!("$ {}", shown(command));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().with_context(|| format!("cannot start {}", shown(command)))?;
    let (sender, lines) = mpsc::channel::<String>();
    let readers = [
        child.stdout.take().map(|s| forward(s, sender.clone())),
        child.stderr.take().map(|s| forward(s, sender.clone())),
    ];
    drop(sender);
    let collector = thread::spawn(move || {
        let mut all = String::new();
        for line in lines {
            let mut out = std::io::stdout().lock();
            // A closed terminal is no reason to fail the step.
            let _ = writeln!(out, "{line}");
            all.push_str(&line);
            all.push('\n');
        }
        all
    });
    let status = wait(&mut child, LIMIT)?;
    for reader in readers.into_iter().flatten() {
        let _ = reader.join();
    }
    let output = collector.join().unwrap_or_default();
    Ok(Finished { output, success: status.success() })
}

fn forward(stream: impl Read + Send + 'static, to: mpsc::Sender<String>) -> thread::JoinHandle<()> {
    thread::spawn(move || {
        let mut reader = BufReader::new(stream);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(n) if n > 0) {
            let text = String::from_utf8_lossy(&line);
            if to.send(text.trim_end_matches(['\r', '\n']).to_string()).is_err() {
                return;
            }
            line.clear();
        }
    })
}

/// Waits for the child, and ends it when the limit has passed.
fn wait(child: &mut Child, limit: Duration) -> Result<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            bail!("stopped after {} minutes without an end", limit.as_secs() / 60);
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Tries a step that needs the network up to three times, 5 and then 15 seconds apart.
pub fn retry<T>(what: &str, mut step: impl FnMut() -> Result<T>) -> Result<T> {
    for pause in [5, 15] {
        match step() {
            Ok(value) => return Ok(value),
            Err(e) => println!("{what} failed ({e:#}); trying again in {pause} s"),
        }
        thread::sleep(Duration::from_secs(pause));
    }
    step().with_context(|| format!("{what} failed three times"))
}
