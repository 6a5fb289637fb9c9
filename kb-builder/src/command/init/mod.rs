//! `kb-builder init`

mod settings;
mod workflow;

use crate::error::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Examples:
  kb-builder init                         looks at this folder and writes kb.toml
  kb-builder init ~/course                the same for another folder
  kb-builder init --github-pages          a workflow that publishes, in a repository with a kb.toml
  kb-builder init notes --github-pages    and a kb.toml for the folder notes
  kb-builder init --schema > kb.schema.json   for editors: `#:schema kb.schema.json` on the first line of kb.toml

Every key that is written to kb.toml is explained, the others stand there as comments. Then run `kb-builder build`.
With a workflow: push, and choose \"GitHub Actions\" as the source in the repository's settings, under Pages.";

/// Write a kb.toml for the documents in a folder, or the workflow that publishes them
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The folder to look at [default: this one]; with --github-pages, folders for a kb.toml that is not there yet
    #[arg(value_name = "DIR")]
    paths: Vec<PathBuf>,
    /// Write a workflow that builds the site with every push and publishes it on GitHub Pages
    #[arg(long)]
    github_pages: bool,
    /// The branch that is published
    #[arg(long, default_value = "main", value_name = "NAME", requires = "github_pages")]
    branch: String,
    /// Print the JSON Schema of kb.toml, with which an editor checks, completes and explains its keys
    #[arg(long, conflicts_with_all = ["paths", "github_pages", "force"])]
    schema: bool,
    /// Replace a file that is there already
    #[arg(long)]
    force: bool,
}

/// Writes.
pub fn run(args: &Args) -> Result<ExitCode> {
    if args.schema {
        super::print_json(&crate::config::schema())?;
        return Ok(ExitCode::SUCCESS);
    }
    match args.paths.as_slice() {
        paths if args.github_pages => workflow::write(paths, &args.branch, args.force)?,
        [] => settings::write(Path::new("."), args.force)?,
        [folder] => settings::write(folder, args.force)?,
        _ => return Err(Error::usage("init looks at one folder", "name one, or add the others to kb.toml afterwards")),
    }
    Ok(ExitCode::SUCCESS)
}
