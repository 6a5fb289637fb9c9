//! `kb-builder watch`

use super::build_args::BuildArgs;
use super::serve::open_browser;
use crate::error::Result;
use crate::report::{Reporter, Style};
use crate::{serve, watch};
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const HELP: &str = "\
Examples:
  kb-builder watch notes                        builds the folder notes, and again with every change
  kb-builder watch --serve                      what kb.toml says, shown on http://localhost:8080
  kb-builder watch notes --interval 5 --serve --port 0 --open

The files that a build reads are looked at every --interval seconds, kb.toml among them. When some have changed and
nothing more has for a moment (`settle` in [watcher]), the site is built anew. A build that fails leaves the site as
it is, a kb.toml that cannot be read leaves the settings as they are, and both are told. Sources on the web are asked
at the beginning and when kb.toml changes, not in between. Ctrl-C ends it, with exit status 0.

With --serve the page in the browser reloads after each build. It does so by a script that this server puts into the
page; the site on the disk does not have it. `kb-builder serve --reload` does the same beside a watch elsewhere.";

/// Build a knowledge base, and build it again whenever its documents change
#[derive(Debug, clap::Args)]
#[command(after_help = HELP)]
pub struct Args {
    #[command(flatten)]
    what: BuildArgs,
    /// Seconds between two looks at the files, 0.1 to 86400 [default: 30]
    #[arg(long, value_name = "SECONDS")]
    interval: Option<f64>,
    /// Serve the site meanwhile, with a page that reloads after each build
    #[arg(long)]
    serve: bool,
    /// Port of --serve; 0 takes any free one
    #[arg(short, long, default_value_t = 8080, requires = "serve")]
    port: u16,
    /// Path that --serve shows the site under
    #[arg(long, default_value = "/", value_name = "PATH", requires = "serve")]
    base: String,
    /// Open the site in the browser
    #[arg(long, requires = "serve")]
    open: bool,
    /// Report as JSON, one event a line, on standard output
    #[arg(long)]
    json: bool,
    /// Report only problems
    #[arg(short, long)]
    quiet: bool,
}

/// Watches until the program is ended.
pub fn run(args: &Args) -> Result<ExitCode> {
    let reporter = Reporter::new(Style::choose(args.json, args.quiet));
    // A port that is taken is told before anything is built.
    let listener = if args.serve { Some(serve::bind(IpAddr::V4(Ipv4Addr::LOCALHOST), args.port)?) } else { None };
    let mut server = Server { args, reporter: &reporter, listener, root: None };
    match watch::run(&|| args.what.plan(args.interval), &mut |out| server.built(out), &reporter)? {}
}

/// The server, which begins when there is a site.
struct Server<'a> {
    args: &'a Args,
    reporter: &'a Reporter,
    /// Until it begins.
    listener: Option<TcpListener>,
    /// What is served.
    root: Option<PathBuf>,
}

impl Server<'_> {
    fn built(&mut self, out: &Path) -> Result<()> {
        if let Some(root) = self.root.as_ref().filter(|root| *root != out) {
            self.reporter.note(&format!("{} is still what is served; start again to see the other", root.display()));
        }
        let Some(listener) = self.listener.take() else { return Ok(()) };
        let prefix = serve::normalised_base(&self.args.base);
        let address = serve::address(&listener, &prefix)?;
        self.root = Some(out.to_path_buf());
        let root = out.to_path_buf();
        let beside = serve::Beside { api: None, reload: true };
        std::thread::spawn(move || {
            if let Err(e) = serve::run(listener, &root, &prefix, beside) {
                eprintln!("error: {e}");
            }
        });
        let text = format!("Serving {} at {address}", out.display());
        self.reporter.happened("serving", &text, json!({ "address": address }));
        if self.args.open {
            open_browser(&address);
        }
        Ok(())
    }
}
