//! `kb-builder sources`

use super::print_json;
use crate::config::{Config, FILE_NAME, SourceConfig};
use crate::error::{Error, Result};
use crate::source::default_name;
use crate::source::ready::{self, Ready};
use clap::Subcommand;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Examples:
  kb-builder sources list                 the documentation that is ready to use
  kb-builder sources show numpy           the [[source]] of one, for kb.toml
  kb-builder sources add numpy pandas     appends two to kb.toml, which is made if there is none

The documents stay their authors': `show` names the licence, which says what a site that holds them needs.";

/// Documentation of common libraries that is ready to use
#[derive(Debug, clap::Args)]
#[command(after_help = HELP, disable_help_subcommand = true)]
pub struct Args {
    #[command(subcommand)]
    what: What,
}

#[derive(Debug, Subcommand)]
enum What {
    /// List them
    List {
        /// Print one JSON object
        #[arg(long)]
        json: bool,
    },
    /// Print the [[source]] of one
    Show {
        /// Its name in the list
        name: String,
        /// Print one JSON object, with the files that were seen
        #[arg(long)]
        json: bool,
    },
    /// Append some to kb.toml
    Add {
        /// Their names in the list
        #[arg(required = true, value_name = "NAME")]
        names: Vec<String>,
        /// The file [default: kb.toml in the current folder]
        #[arg(long, value_name = "FILE")]
        config: Option<PathBuf>,
    },
}

/// Lists, shows or adds.
pub fn run(args: &Args) -> Result<ExitCode> {
    match &args.what {
        What::List { json: true } => print_json(&serde_json::json!({ "sources": ready::all()? }))?,
        What::List { json: false } => print!("{}", table(&ready::all()?)),
        What::Show { name, json: true } => print_json(&ready::named(name)?)?,
        What::Show { name, json: false } => print!("{}", ready::named(name)?.block()),
        What::Add { names, config } => add(names, config.as_deref().unwrap_or(Path::new(FILE_NAME)))?,
    }
    Ok(ExitCode::SUCCESS)
}

/// Name, language and what it is about, in columns.
fn table(all: &[Ready]) -> String {
    let width = all.iter().map(|r| r.name.len()).max().unwrap_or(0);
    all.iter().map(|r| format!("{:width$}  {}  {}\n", r.name, r.language, r.about)).collect()
}

/// Appends entries to a kb.toml. What is there stays byte for byte, and nothing is written that could not be read.
fn add(names: &[String], file: &Path) -> Result<()> {
    let mut wanted: Vec<Ready> = Vec::new();
    for name in names {
        let entry = ready::named(name)?;
        if wanted.iter().any(|w| w.name == entry.name) {
            return Err(Error::usage(format!("{} is named twice", entry.name), "name each source once"));
        }
        wanted.push(entry);
    }
    let there = file.exists();
    let text = if there {
        std::fs::read_to_string(file).map_err(|e| Error::io("read", file, e))?
    } else {
        "# What the knowledge base is made of; every key is in the guide, under configuration.\n".to_owned()
    };
    if there {
        let sources = Config::load(Some(file))?.sources;
        for entry in &wanted {
            if let Some(other) = sources.iter().find(|s| is_same(s, entry)) {
                let called = other.name.clone().or_else(|| default_name(other).ok()).unwrap_or_default();
                return Err(Error::usage(
                    format!("{} has {} already, as the source `{called}`", file.display(), entry.name),
                    "nothing was added; leave it out, or remove the other first",
                ));
            }
        }
    }
    let new = appended(&text, &wanted);
    replace(file, &new, there)?;
    let list = wanted.iter().map(|w| w.name.as_str()).collect::<Vec<_>>().join(", ");
    println!("{}: {list} added", file.display());
    for entry in &wanted {
        println!("  {}: {}, licence {}", entry.name, entry.origin(), entry.licence);
    }
    let option = if file == Path::new(FILE_NAME) { String::new() } else { format!(" --config {}", file.display()) };
    println!("Then run: kb-builder build{option}");
    Ok(())
}

/// Whether a source of a kb.toml is this entry: by its name, or by where its files come from.
fn is_same(source: &SourceConfig, entry: &Ready) -> bool {
    let ours = entry.config();
    let name = source.name.clone().or_else(|| default_name(source).ok());
    let from = |s: &SourceConfig| (s.github.clone(), s.folder.clone(), s.urls.clone());
    name == ours.name || from(source) == from(&ours)
}

/// The text with the entries behind it, its line ends as they are.
fn appended(text: &str, entries: &[Ready]) -> String {
    let mut blocks = String::new();
    for entry in entries {
        blocks += "\n";
        blocks += &entry.block();
    }
    let mut out = text.to_owned();
    if text.contains("\r\n") {
        blocks = blocks.replace('\n', "\r\n");
    }
    if !out.is_empty() && !out.ends_with('\n') {
        out += if text.contains("\r\n") { "\r\n" } else { "\n" };
    }
    out + &blocks
}

/// Writes the new text beside the file, checks that it can be read, and puts it into the file's place.
fn replace(file: &Path, text: &str, there: bool) -> Result<()> {
    // A link stays a link: what it leads to is replaced.
    let target = if there { file.canonicalize().map_err(|e| Error::io("read", file, e))? } else { file.to_path_buf() };
    let beside = target.with_extension(format!("toml.new-{}", std::process::id()));
    std::fs::write(&beside, text).map_err(|e| Error::io("write", &beside, e))?;
    let checked = Config::load(Some(&beside)).map_err(|_| {
        Error::usage(
            format!(
                "nothing can be appended to {}: its sources are written in another form than [[source]]",
                file.display()
            ),
            "copy what `kb-builder sources show NAME` prints to where it belongs",
        )
    });
    let moved = checked.and_then(|_| {
        if let Ok(meta) = std::fs::metadata(&target) {
            std::fs::set_permissions(&beside, meta.permissions()).map_err(|e| Error::io("write", &beside, e))?;
        }
        std::fs::rename(&beside, &target).map_err(|e| Error::io("write", &target, e))
    });
    if moved.is_err() {
        let _ = std::fs::remove_file(&beside);
    }
    moved
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_stays_as_it_is() {
        let entry = ready::named("numpy").expect("is there");
        for text in ["", "title = \"x\"", "title = \"x\"\n", "title = \"x\"\r\n[site]\r\nout = \"y\"\r\n"] {
            let new = appended(text, std::slice::from_ref(&entry));
            assert!(new.starts_with(text), "{new}");
            assert_eq!(new.contains("\r\n"), text.contains("\r\n"));
            assert!(
                !new.replace("\r\n", "").contains('\r')
                    && (!text.contains('\r') || !new.replace("\r\n", "").contains('\n'))
            );
        }
    }
}
