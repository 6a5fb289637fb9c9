//! `kb-builder serve`

use super::ask;
use crate::answer::LlmFlags;
use crate::config::Config;
use crate::error::{Error, Result};
use crate::serve;
use crate::{base, site};
use std::io::Write;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

const HELP: &str = "\
Examples:
  kb-builder serve site
  kb-builder serve site --port 9000 --base /course/kb/   as it will be under a sub-path
  kb-builder serve site --api --provider ollama --model qwen3:4b

The site needs no server of its own: any static host will do. This one is for looking at it.";

/// Serve a site on this machine
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    /// The folder that `build` wrote
    #[arg(default_value = "site")]
    site: PathBuf,
    /// Port; 0 takes any free one
    #[arg(short, long, default_value_t = 8080)]
    port: u16,
    /// Address to listen on; 0.0.0.0 shows the site to the whole network
    #[arg(long, default_value = "127.0.0.1", value_name = "ADDRESS")]
    host: IpAddr,
    /// Path that the site is served under
    #[arg(long, default_value = "/", value_name = "PATH")]
    base: String,
    /// Open the site in the browser
    #[arg(long)]
    open: bool,
    /// Reload the page whenever the site was built anew
    #[arg(long)]
    reload: bool,
    /// Answer programs on this machine as well: GET api/search?q=…, POST api/ask
    #[arg(long)]
    api: bool,
    #[command(flatten)]
    llm: LlmFlags,
}

/// Serves until the program is ended.
pub fn run(args: &Args) -> Result<ExitCode> {
    base::manifest(&args.site)?;
    if !args.site.join("index.html").is_file() {
        return Err(Error::failed(
            format!("{} has no index.html: it is a bundle, not a site", args.site.display()),
            format!("name the folder that holds `{}`", site::BUNDLE_DIR),
        ));
    }
    let api = if args.api { Some(open_api(args)?) } else { None };
    let prefix = serve::normalised_base(&args.base);
    let listener = serve::bind(args.host, args.port)?;
    let address = serve::address(&listener, &prefix)?;
    println!("Serving {} at {address} (Ctrl-C ends it)", args.site.display());
    // Scripts wait for this line.
    let _ = std::io::stdout().flush();
    if args.open {
        open_browser(&address);
    }
    serve::run(listener, Path::new(&args.site), &prefix, serve::Beside { api, reload: args.reload })?;
    Ok(ExitCode::SUCCESS)
}

/// The API of the site. It spends the author's tokens, so it is for this machine only.
fn open_api(args: &Args) -> Result<serve::Api> {
    if !args.host.is_loopback() {
        return Err(Error::usage(
            "--api is for this machine only",
            "leave --host away, or serve the site to the network without --api",
        ));
    }
    serve::Api::open(&args.site, ask::settings(&args.llm, &Config::load(args.llm.config.as_deref())?)?)
}

/// Opens the address with the system's own command; the reader has the address in any case.
pub(super) fn open_browser(address: &str) {
    let (program, args): (&str, &[&str]) = if cfg!(windows) {
        ("cmd", &["/C", "start", ""])
    } else if cfg!(target_os = "macos") {
        ("open", &[])
    } else {
        ("xdg-open", &[])
    };
    let started = Command::new(program)
        .args(args)
        .arg(address)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn();
    if started.is_err() {
        eprintln!("note: `{program}` could not be started; open the address yourself");
    }
}
