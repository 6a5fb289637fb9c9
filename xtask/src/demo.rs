//! `cargo xtask demo`: a knowledge base from the documents in `docs/`, built afresh and served on this machine.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::{paths, run, toolchain};

/// The options of the command.
#[derive(Debug, PartialEq, Eq)]
pub struct Options {
    /// The port on localhost.
    pub port: u16,
    /// Whether to serve the site after it was built.
    pub serve: bool,
}

impl Options {
    /// Reads `--port N` and `--no-serve`.
    pub fn parse(args: &[String]) -> Result<Self> {
        let mut options = Self { port: 8080, serve: true };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match arg.as_str() {
                "--no-serve" => options.serve = false,
                "--port" => {
                    let port = args.next().context("--port needs a number")?;
                    options.port = port.parse().with_context(|| format!("`{port}` is not a port"))?;
                }
                other => bail!("demo does not know `{other}` (there are --port N and --no-serve)"),
            }
        }
        Ok(options)
    }
}

/// Where the demo's site is written.
pub fn site() -> PathBuf {
    paths::native_target().join("demo-site")
}

/// Compiles kb-builder, and returns the program.
pub fn compile() -> Result<PathBuf> {
    run::check(toolchain::cargo().args(["build", "--release", "--locked", "--package", "kb-builder"]))?;
    Ok(paths::native_program("kb-builder"))
}

/// Builds the demo's knowledge base into `out`. An older one there is removed first: nothing is taken from it.
pub fn build(program: &Path, out: &Path) -> Result<()> {
    if out.is_dir() {
        std::fs::remove_dir_all(out).with_context(|| format!("cannot remove {}", out.display()))?;
    }
    let mut command = Command::new(program);
    command.current_dir(paths::root()).args(["build", "--config", "docs/kb.toml", "--out"]).arg(out);
    run::check(&mut command)?;
    ensure!(out.join("kb/manifest.json").is_file(), "no knowledge base was written to {}", out.display());
    Ok(())
}

/// Runs the command.
pub fn run(options: &Options) -> Result<()> {
    let program = compile()?;
    let site = site();
    build(&program, &site)?;
    println!("\nThe demo is in {}", site.display());
    if !options.serve {
        return Ok(());
    }
    println!(
        "\nOpen http://localhost:{} and ask, in Chinese or in English. None of these shares a word with its answer:",
        options.port
    );
    for question in QUESTIONS {
        println!("  {question}");
    }
    println!(
        "The words are searched at once; the model (about 25 MB, once) loads beside it. Ctrl-C ends the server.\n"
    );
    let mut serve = Command::new(program);
    serve.arg("serve").arg(&site).args(["--port", &options.port.to_string()]).stdin(Stdio::null());
    let status = serve.status().context("cannot start the server")?;
    ensure!(status.success(), "the server ended with {status}");
    Ok(())
}

/// Some of `docs/demo-questions.json`.
const QUESTIONS: [&str; 4] = [
    "人工智能会瞎编吗",
    "怎么知道进步是不是碰巧",
    "my upload was declined because a teammate was faster",
    "are huge movies welcome here",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_read() {
        let read = |args: &[&str]| Options::parse(&args.iter().map(|a| a.to_string()).collect::<Vec<_>>());
        assert_eq!(read(&[]).expect("options"), Options { port: 8080, serve: true });
        assert_eq!(read(&["--port", "9000", "--no-serve"]).expect("options"), Options { port: 9000, serve: false });
        assert!(read(&["--port"]).is_err());
        assert!(read(&["--port", "70000"]).is_err());
        assert!(read(&["--nope"]).is_err());
    }

    #[test]
    fn the_questions_shown_are_tested_ones() {
        let tested = std::fs::read_to_string(paths::root().join("docs/demo-questions.json")).expect("questions");
        for question in QUESTIONS {
            assert!(tested.contains(&format!("\"{question}\"")), "{question}");
        }
    }
}
