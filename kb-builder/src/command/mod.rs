//! The subcommands, one file each. They read arguments, call the library and print.

mod ask;
mod attach;
mod build;
mod build_args;
mod convert_one;
mod eval;
mod export;
mod init;
mod inspect;
mod model;
mod refine;
mod retrieval;
mod search;
mod serve;
mod sources;
mod watch;

pub(crate) use ask::choose_model;
pub(crate) use search::check_collections;
pub use search::{SearchMode, SearchOutput};

use crate::error::Result;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

const EXAMPLES: &str = "\
Examples:
  kb-builder init                            a kb.toml for the documents in this folder
  kb-builder sources list                    documentation of libraries that is ready to use
  kb-builder build notes --out site          a knowledge base from the folder notes
  kb-builder watch notes --serve             look at it while you write: built again with every change
  kb-builder serve site                      look at it on http://localhost:8080
  kb-builder search site \"怎样求最短路\"       search it here
  kb-builder ask site \"怎样求最短路\"          get an answer with its sources
  kb-builder inspect site                    what is in it

Exit status: 0 all went well, 1 failed, 2 wrong usage, 3 built, but some files could not be read.";

/// Builds a knowledge base that lives in static files and is searched in the reader's browser.
#[derive(Debug, Parser)]
#[command(name = "kb-builder", version, after_help = EXAMPLES, disable_help_subcommand = true)]
pub struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Init(init::Args),
    Build(build::Args),
    Sources(sources::Args),
    Watch(watch::Args),
    Serve(serve::Args),
    Search(search::Args),
    Ask(ask::Args),
    Inspect(inspect::Args),
    Eval(eval::Args),
    Model(model::Args),
    Export(export::Args),
    Attach(attach::Args),
    #[command(name = crate::convert::worker::COMMAND, hide = true)]
    ConvertOne(convert_one::Args),
}

impl Cli {
    /// Runs the command that was typed.
    pub fn run(self) -> Result<ExitCode> {
        match self.command {
            Command::Init(args) => init::run(&args),
            Command::Build(args) => build::run(&args),
            Command::Sources(args) => sources::run(&args),
            Command::Watch(args) => watch::run(&args),
            Command::Serve(args) => serve::run(&args),
            Command::Search(args) => search::run(&args),
            Command::Ask(args) => ask::run(&args),
            Command::Inspect(args) => inspect::run(&args),
            Command::Eval(args) => eval::run(&args),
            Command::Model(args) => model::run(&args),
            Command::Export(args) => export::run(&args),
            Command::Attach(args) => attach::run(&args),
            Command::ConvertOne(args) => convert_one::run(&args),
        }
    }
}

/// Prints a value as JSON on standard output, on many lines.
fn print_json(value: &impl serde::Serialize) -> Result<()> {
    use std::io::Write;
    let text = serde_json::to_string_pretty(value)
        .map_err(|e| crate::Error::failed(format!("the result cannot be written as JSON: {e}"), ""))?;
    match writeln!(std::io::stdout().lock(), "{text}").and_then(|()| std::io::stdout().flush()) {
        // A reader that has seen enough, such as `head`, is no failure.
        Err(e) if e.kind() != std::io::ErrorKind::BrokenPipe => {
            Err(crate::Error::failed(format!("cannot write the output: {e}"), "make room, or write elsewhere"))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
