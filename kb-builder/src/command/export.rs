//! `kb-builder export`

use crate::error::{Error, Result};
use crate::handout::{self, Sizes};
use crate::report::bytes;
use crate::source::folder::is_site;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Examples:
  kb-builder export site --single-file course.html            with the model: search by words and by meaning
  kb-builder export site --single-file course.html --no-model  small enough for an e-mail: search by words

The file opens with a double click, without a server and without a network.";

/// Write a site as one HTML file that opens from the disk
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The folder that `build` wrote
    #[arg(default_value = "site")]
    site: PathBuf,
    /// The file to write
    #[arg(long, value_name = "FILE", required = true)]
    single_file: PathBuf,
    /// Leave the model out: search by words only
    #[arg(long)]
    no_model: bool,
    /// Replace a file that kb-builder did not write
    #[arg(long)]
    force: bool,
}

/// Writes the file and says how large its parts are.
pub fn run(args: &Args) -> Result<ExitCode> {
    may_write(&args.single_file, args.force)?;
    let (html, sizes) = handout::single_file(&args.site, !args.no_model)?;
    write(&args.single_file, html.as_bytes())?;
    println!("{}", sentence(&args.single_file, &sizes));
    Ok(ExitCode::SUCCESS)
}

/// That nothing of somebody else is at `path`: a page that this program wrote may be replaced, others with `--force` only.
pub fn may_write(path: &Path, force: bool) -> Result<()> {
    if path.is_dir() {
        return Err(Error::usage(format!("{} is a folder", path.display()), "name a file"));
    }
    outside_sites(path)?;
    if force || !path.exists() {
        return Ok(());
    }
    let old = std::fs::read(path).map_err(|e| Error::io("read", path, e))?;
    if handout::is_ours(&old) {
        return Ok(());
    }
    Err(Error::usage(
        format!("{} is there already, and kb-builder did not write it", path.display()),
        "choose another name, or replace it with --force",
    ))
}

/// That `path` is in no site: a build replaces the whole folder, and refuses to where it finds what it did not write.
pub fn outside_sites(path: &Path) -> Result<()> {
    let absolute = std::path::absolute(path).map_err(|e| Error::io("read", path, e))?;
    match absolute.ancestors().skip(1).find(|folder| is_site(folder)) {
        Some(site) => Err(Error::usage(
            format!("{} would lie in the site {}, which the next build replaces", path.display(), site.display()),
            "name a file outside of it",
        )),
        None => Ok(()),
    }
}

/// Writes beside the place first, so that an interruption leaves what was there.
pub fn write(path: &Path, content: &[u8]) -> Result<()> {
    let name = path.file_name().ok_or_else(|| Error::usage(format!("{} names no file", path.display()), ""))?;
    let temp = path.with_file_name(format!(".{}.kb-new", name.to_string_lossy()));
    std::fs::write(&temp, content).map_err(|e| Error::io("write", &temp, e))?;
    std::fs::rename(&temp, path).map_err(|e| Error::io("write", path, e))
}

/// `course.html: 41.2 MB (page 0.8 MB, text and index 0.4 MB, model 40.0 MB)`.
pub fn sentence(path: &Path, sizes: &Sizes) -> String {
    let part = |n: usize| bytes(n as u64);
    let model = if sizes.meaning > 0 { format!(", model {}", part(sizes.meaning)) } else { ", no model".into() };
    format!(
        "{}: {} (page {}, text and index {}{model})",
        path.display(),
        part(sizes.total),
        part(sizes.program),
        part(sizes.text)
    )
}
