//! `kb-builder attach`

use super::export::{may_write, outside_sites, sentence, write};
use crate::address;
use crate::config::PageLanguage;
use crate::error::{Error, Result};
use crate::handout::{self, Look};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Examples:
  kb-builder attach notes.html --site site                  writes notes.kb.html, the knowledge base inside it
  kb-builder attach notes.html --site site --out notes.html  into the page itself; done again, it is brought up to date
  kb-builder attach notes.html --src https://me.github.io/kb/  takes the knowledge base from a published site

The page gets a button in its corner; Ctrl+K, Cmd+K and / open the search too.";

/// Add a knowledge base to an HTML page of your own
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The page
    #[arg(value_name = "PAGE")]
    page: PathBuf,
    /// The folder that `build` wrote: the knowledge base is put into the page
    #[arg(long, value_name = "DIR", required_unless_present = "src", conflicts_with = "src")]
    site: Option<PathBuf>,
    /// Address of a published site: the page takes the knowledge base from there
    #[arg(long, value_name = "URL")]
    src: Option<String>,
    /// The file to write [default: the page's name with `.kb` before its suffix]
    #[arg(short, long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Leave the model out: search by words only
    #[arg(long, conflicts_with = "src")]
    no_model: bool,
    /// Language of the button and the search [default: the page's]
    #[arg(long, value_name = "LANG")]
    lang: Option<PageLanguage>,
    /// Colours [default: as the reader's system]
    #[arg(long, value_name = "THEME", value_parser = ["light", "dark"])]
    theme: Option<String>,
    /// Replace a file that kb-builder did not write
    #[arg(long)]
    force: bool,
}

/// Where the page goes by default: `notes.kb.html` for `notes.html`, and the same file for one that went there before. The
/// suffix stays, since a server goes by it.
fn beside(page: &Path) -> PathBuf {
    match page.file_stem().and_then(|stem| Path::new(stem).extension()) {
        Some(extension) if extension == "kb" => page.to_path_buf(),
        _ => {
            let suffix = page.extension().map_or("html".into(), |s| s.to_string_lossy());
            page.with_extension(format!("kb.{suffix}"))
        }
    }
}

/// Writes the page with the knowledge base.
pub fn run(args: &Args) -> Result<ExitCode> {
    let html = std::fs::read(&args.page).map_err(|e| Error::io("read", &args.page, e))?;
    let out = args.out.clone().unwrap_or_else(|| beside(&args.page));
    // The page itself is named twice by who means it.
    let itself = out.canonicalize().ok().is_some_and(|out| args.page.canonicalize().ok() == Some(out));
    if itself {
        outside_sites(&out)?;
    } else {
        may_write(&out, args.force)?;
    }
    if let Some(src) = &args.src {
        address::absolute_or_relative("--src", src)?;
    }
    let look = Look { lang: args.lang.map(PageLanguage::code), theme: args.theme.as_deref() };
    match (&args.site, &args.src) {
        (Some(site), _) => {
            let (page, sizes) = handout::attach(&html, site, !args.no_model, &look)?;
            write(&out, &page)?;
            println!("{}", sentence(&out, &sizes));
        }
        (None, src) => {
            write(&out, &handout::link(&html, src.as_deref().unwrap_or_default(), &look)?)?;
            println!("{}: takes the knowledge base from {}", out.display(), src.as_deref().unwrap_or_default());
        }
    }
    Ok(ExitCode::SUCCESS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_keeps_its_suffix() {
        let of = |page: &str| beside(Path::new(page)).to_string_lossy().into_owned();
        assert_eq!(
            ["a/x.html", "x.htm", "x.HTM", "x.xhtml", "x", "x.kb.htm", "v1.2.html"].map(of),
            ["a/x.kb.html", "x.kb.htm", "x.kb.HTM", "x.kb.xhtml", "x.kb.html", "x.kb.htm", "v1.2.kb.html"]
        );
    }
}
