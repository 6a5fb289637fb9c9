//! Converters of risky formats run in a child process: whatever a damaged or hostile file makes them do,
//! it costs that file and nothing else. The child is this program with a hidden command; it has a limit
//! on its time and, where the system has such limits, on its memory.

use super::{Format, Markdown, Notes};
use kb_core::{Error, ErrorKind, Result};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// The hidden command.
pub const COMMAND: &str = "convert-one";
/// Variable that sets another limit of time, in seconds: for books of thousands of pages.
pub const TIME_VARIABLE: &str = "KB_CONVERT_SECONDS";
/// How long one file may take, in seconds.
const MAX_SECONDS: u64 = 120;
/// How much memory the child may have, in bytes.
const MAX_MEMORY_BYTES: u64 = 2 << 30;
/// Most that a child may answer, in bytes.
const MAX_ANSWER_BYTES: u64 = 512 << 20;

/// The program to start; unset in tests of the library, which convert in their own process.
static PROGRAM: OnceLock<PathBuf> = OnceLock::new();

/// Says that `program` is this program, so that files can be converted in child processes.
pub fn use_program(program: PathBuf) {
    // A second call names the same program.
    let _ = PROGRAM.set(program);
}

/// What a child answers on standard output, as JSON.
#[derive(Serialize, Deserialize)]
enum Answer {
    Converted(Markdown, Notes),
    Refused(ErrorName, String),
}

/// The kinds of errors that converters give.
#[derive(Serialize, Deserialize)]
enum ErrorName {
    Convert,
    TooLarge,
}

/// Converts in a child process if there is a program to start, else here.
pub(super) fn convert(format: Format, path: &str, bytes: &[u8], notes: &mut Notes) -> Result<Markdown> {
    let Some(program) = PROGRAM.get() else { return super::convert_bytes(format, path, bytes, notes) };
    let seconds = std::env::var(TIME_VARIABLE).ok().and_then(|s| s.parse().ok()).unwrap_or(MAX_SECONDS);
    let mut command = Command::new(program);
    command.args([COMMAND, format.name(), path]);
    let output = ask(command, bytes, Duration::from_secs(seconds))?;
    match serde_json::from_slice(&output) {
        Ok(Answer::Converted(markdown, own)) => {
            notes.merge(&own);
            Ok(markdown)
        }
        Ok(Answer::Refused(ErrorName::TooLarge, message)) => Err(Error::new(ErrorKind::TooLarge, message)),
        Ok(Answer::Refused(ErrorName::Convert, message)) => Err(broke_down(message)),
        Err(e) => Err(broke_down(format!("the converter gave no answer: {e}"))),
    }
}

/// The child's part: reads a file from standard input, writes the answer to standard output.
pub fn serve(format: Format, path: &str) -> crate::Result<()> {
    limit_memory();
    let mut bytes = Vec::new();
    let io = |action, e| crate::Error::io(action, path, e);
    std::io::stdin().lock().read_to_end(&mut bytes).map_err(|e| io("read", e))?;
    let mut notes = Notes::default();
    let converted = super::contained(|| super::convert_bytes(format, path, &bytes, &mut notes));
    let answer = match converted {
        Ok(markdown) => Answer::Converted(markdown, notes),
        Err(e) => {
            let kind = if e.kind() == ErrorKind::TooLarge { ErrorName::TooLarge } else { ErrorName::Convert };
            Answer::Refused(kind, e.message().to_string())
        }
    };
    let json = serde_json::to_vec(&answer).unwrap_or_default();
    std::io::stdout().lock().write_all(&json).map_err(|e| io("write", e))
}

#[cfg(unix)]
fn limit_memory() {
    // A system that refuses the limit still has the limit of time.
    let _ = rlimit::setrlimit(rlimit::Resource::AS, MAX_MEMORY_BYTES, MAX_MEMORY_BYTES);
    let _ = rlimit::setrlimit(rlimit::Resource::CORE, 0, 0);
}

#[cfg(not(unix))]
fn limit_memory() {
    let _ = MAX_MEMORY_BYTES;
}

/// Starts `command`, gives it `input` and returns what it wrote, unless it takes longer than `time`.
fn ask(mut command: Command, input: &[u8], time: Duration) -> Result<Vec<u8>> {
    let started = Instant::now();
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().map_err(|e| broke_down(format!("the converter cannot be started: {e}")))?;
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    std::thread::scope(|scope| {
        // Both ends at once: a child that answers before it has read everything must not block.
        scope.spawn(move || {
            if let Some(mut stdin) = stdin {
                // A child that ended early has said why, or is reported as broken down.
                let _ = stdin.write_all(input);
            }
        });
        let reader = scope.spawn(move || {
            let mut output = Vec::new();
            if let Some(stdout) = stdout {
                let _ = stdout.take(MAX_ANSWER_BYTES).read_to_end(&mut output);
            }
            output
        });
        let mut pause = Duration::from_millis(1);
        let status = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Ok(status),
                Ok(None) if started.elapsed() > time => {
                    let _ = child.kill();
                    let _ = child.wait();
                    break Err(broke_down(format!("converting it took longer than {} seconds", time.as_secs())));
                }
                Ok(None) => std::thread::sleep(pause),
                Err(e) => break Err(broke_down(format!("the converter cannot be watched: {e}"))),
            }
            pause = (pause * 2).min(Duration::from_millis(50));
        };
        let output = reader.join().unwrap_or_default();
        let status = status?;
        if status.success() { Ok(output) } else { Err(broke_down(how_it_ended(status))) }
    })
}

fn how_it_ended(status: ExitStatus) -> String {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;
        // SIGABRT is what Rust does without memory or stack; SIGKILL is the system's own way.
        if matches!(status.signal(), Some(6 | 9 | 11)) {
            return format!("the converter broke down: it needed more than {} MB of memory", MAX_MEMORY_BYTES >> 20);
        }
    }
    format!("the converter broke down: {status}")
}

fn broke_down(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Convert, message)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn a_child_reads_and_answers() {
        // More than a pipe holds, both ways.
        let input = vec![b'x'; 1 << 20];
        assert_eq!(ask(shell("cat"), &input, Duration::from_secs(20)).expect("answers"), input);
        assert_eq!(ask(shell("echo early"), &input, Duration::from_secs(20)).expect("answers"), b"early\n");
    }

    #[test]
    fn a_child_that_hangs_or_dies_costs_its_file() {
        let started = Instant::now();
        let e = ask(shell("exec sleep 60"), b"", Duration::from_millis(200)).expect_err("is stopped");
        assert!(e.message().contains("took longer") && started.elapsed() < Duration::from_secs(20), "{e}");
        let e = ask(shell("kill -ABRT $$"), b"", Duration::from_secs(20)).expect_err("is told");
        assert!(e.message().contains("memory"), "{e}");
        let e = ask(shell("exit 7"), b"", Duration::from_secs(20)).expect_err("is told");
        assert!(e.message().contains('7'), "{e}");
        let e = ask(Command::new("/no/such/program"), b"", Duration::from_secs(1)).expect_err("is told");
        assert!(e.message().contains("cannot be started"), "{e}");
    }
}
