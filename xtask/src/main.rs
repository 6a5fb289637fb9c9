//! The project's chores: `cargo xtask demo`, `test`, `setup`, `wasm`, `lint`, `bench`.
//!
//! Nothing here is part of the product. Everything that a fresh machine lacks is looked for first, then installed
//! with one line that says what and why; tools go to a folder of the user (see [`paths`]), never into the clone.

mod bench;
mod counts;
mod demo;
mod lint;
mod paths;
mod questions;
mod report;
mod run;
mod runtime;
mod setup;
mod stamp;
mod test;
mod toolchain;
mod tools;

use anyhow::{Result, bail};

const USAGE: &str = "\
usage: cargo xtask <command>

  demo [--port N] [--no-serve]   build kb-builder, build a knowledge base from docs/, serve it on localhost
  test [--only STEP]...          everything that must pass: lints, native, wasm and browser tests
  setup [--wasm|--browser|--node]...   install what the tests need and this machine lacks (all three without a flag)
  wasm [--check]                 rebuild prebuilt/runtime; with --check only compare it with the sources
  lint                           formatting and clippy, for native and for wasm32
  bench [NAME [ARGS]...]         run a benchmark; without a name, list them

Tools are kept in $KB_TOOLS, or in the user's cache folder under kb-builder/tools.";

fn main() -> std::process::ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    match dispatch(&args) {
        Ok(true) => std::process::ExitCode::SUCCESS,
        Ok(false) => std::process::ExitCode::FAILURE,
        Err(e) => {
            eprintln!("error: {e:#}");
            std::process::ExitCode::FAILURE
        }
    }
}

/// Runs one command; `Ok(false)` is a failure that has been reported already.
fn dispatch(args: &[String]) -> Result<bool> {
    let (command, rest) = match args.split_first() {
        Some((c, rest)) => (c.as_str(), rest),
        None => ("help", args),
    };
    match command {
        "demo" => demo::run(&demo::Options::parse(rest)?).map(|()| true),
        "test" => test::run(&test::parse(rest)?),
        "setup" => setup::run(&setup::Parts::parse(rest)?).map(|()| true),
        "wasm" => runtime::run(rest),
        "lint" => lint::run(),
        "bench" => bench::run(rest),
        "help" | "--help" | "-h" => {
            println!("{USAGE}");
            Ok(true)
        }
        other => bail!("unknown command `{other}`\n\n{USAGE}"),
    }
}
