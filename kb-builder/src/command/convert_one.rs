//! The hidden command that a build starts for one file of a risky format.

use crate::convert::{Format, worker};
use crate::error::{Error, Result};
use std::process::ExitCode;

/// Converts one file from standard input; started by `build`, not by people.
#[derive(Debug, clap::Args)]
pub struct Args {
    /// Name of the format
    format: String,
    /// Path of the file inside its collection
    path: String,
}

/// Converts.
pub fn run(args: &Args) -> Result<ExitCode> {
    let format = Format::named(&args.format).ok_or_else(|| {
        Error::usage(format!("`{}` is no format", args.format), "this command is for kb-builder itself")
    })?;
    worker::serve(format, &args.path)?;
    Ok(ExitCode::SUCCESS)
}
