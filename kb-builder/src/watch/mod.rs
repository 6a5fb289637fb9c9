//! Watching: the documents are looked at every so often, and when some have changed and no more do, the site is built
//! anew. Files are polled, not subscribed to: that works on network drives and in containers, needs no library, and
//! the price is a look at every file's time and length.
//!
//! What is compared is the content of the files that a build reads, the output and the caches not among them, so
//! that a build never sets off the next one.

mod remote;
mod snapshot;

pub use snapshot::{Changes, Snapshot};

use crate::build::{self, Options};
use crate::config::{Pace, SourceConfig};
use crate::convert::Format;
use crate::error::{Error, Result};
use crate::model::cache_dir;
use crate::report::{Reporter, duration};
use crate::site::{self, BUNDLE_DIR};
use crate::source;
use kb_core::bundle::MANIFEST_FILE;
use remote::Remote;
use serde_json::json;
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant, SystemTime};

/// A folder in which something changes all the time is built all the same after this long, or after twenty times the
/// settling time.
const MAX_SETTLING: Duration = Duration::from_secs(60);

/// What is watched and how, as the settings say.
pub struct Plan {
    /// What is built.
    pub options: Options,
    /// How often it is looked at.
    pub pace: Pace,
    /// The files that this comes from: kb.toml, a list of synonyms. They need not be there.
    pub settings: Vec<PathBuf>,
}

/// Builds, and builds again with every change, until the program is ended. `resolve` reads the settings; `built`
/// gets the folder of every finished site.
///
/// # Errors
/// What is wrong at the beginning. Later errors are reported and the watching goes on.
pub fn run(
    resolve: &dyn Fn() -> Result<Plan>,
    built: &mut dyn FnMut(&Path) -> Result<()>,
    reporter: &Reporter,
) -> Result<Infallible> {
    site::is_the_usual_end("stopped watching; the site is as it was last built");
    let plan = resolve()?;
    let settings = Snapshot::of(&plan.settings, &Snapshot::default());
    let mut watch = Watch {
        resolve,
        reporter,
        applied: settings.clone(),
        seen: settings,
        documents: Snapshot::default(),
        included: BTreeSet::new(),
        remote: Remote::default(),
        has_built: false,
        trouble: None,
        owed: None,
        plan,
    };
    watch.documents = watch.look()?;
    if let Err(e) = watch.build(built) {
        // Wrong settings stay wrong; an empty folder fills.
        if e.exit_status() == 2 {
            return Err(e);
        }
        watch.failed(&e);
    }
    watch.tell();
    loop {
        sleep(watch.plan.pace.interval);
        watch.tick(built)?;
    }
}

struct Watch<'a> {
    resolve: &'a dyn Fn() -> Result<Plan>,
    reporter: &'a Reporter,
    plan: Plan,
    /// The settings that `plan` was made from.
    applied: Snapshot,
    /// The settings as they were last looked at, perhaps broken.
    seen: Snapshot,
    /// The documents that were last built, or tried.
    documents: Snapshot,
    /// What they include.
    included: BTreeSet<PathBuf>,
    remote: Remote,
    /// Whether the last build made a site: only that can be missed.
    has_built: bool,
    /// Why the documents cannot be looked at, once it was reported.
    trouble: Option<String>,
    /// Why the last build failed, if it did: it is tried again at every look, and told once.
    owed: Option<String>,
}

/// Everything at one moment.
struct View {
    settings: Snapshot,
    documents: Result<Snapshot>,
}

impl Watch<'_> {
    /// Looks once, and builds if there is a reason.
    fn tick(&mut self, built: &mut dyn FnMut(&Path) -> Result<()>) -> Result<()> {
        let view = self.view();
        let is_gone = self.has_built && !self.plan.options.out.join(BUNDLE_DIR).join(MANIFEST_FILE).is_file();
        let same = |documents: &Snapshot| self.documents.changes(documents).is_empty();
        // A server is not asked again and again.
        let local = !self.plan.options.sources.iter().any(SourceConfig::is_remote);
        // An empty folder fills by a change.
        let owes = self.owed.is_some() && local && !self.documents.is_empty();
        if !is_gone && !owes && self.seen.changes(&view.settings).is_empty() && view.documents.as_ref().is_ok_and(same)
        {
            self.trouble = None;
            if let Ok(documents) = view.documents {
                // Their times may be others.
                self.documents = documents;
            }
            return Ok(());
        }
        let view = self.settled(view);
        let new_settings = self.take_settings(&view.settings);
        let documents = if new_settings { self.look() } else { view.documents };
        let documents = match documents {
            Ok(documents) => documents,
            Err(e) => {
                if self.trouble.as_deref() != Some(&e.to_string()) {
                    self.trouble = Some(e.to_string());
                    self.failed(&e);
                }
                return Ok(());
            }
        };
        self.trouble = None;
        let changes = self.documents.changes(&documents);
        self.documents = documents;
        if !changes.is_empty() {
            self.reporter.happened("changed", &changes.sentence(), &changes);
        } else if !new_settings && !is_gone && !owes {
            return Ok(());
        } else if !new_settings && is_gone {
            self.reporter.happened("gone", "the site is gone; it is built again", json!({}));
        }
        if let Err(e) = self.build(built) {
            let again = self.owed.as_deref() == Some(&e.to_string());
            self.failed(&e);
            if again {
                return Ok(());
            }
        }
        self.tell();
        Ok(())
    }

    fn view(&self) -> View {
        View { settings: Snapshot::of(&self.plan.settings, &self.seen), documents: self.look() }
    }

    /// Looks again and again until nothing changes any more.
    fn settled(&self, mut view: View) -> View {
        let (began, settle) = (Instant::now(), self.plan.pace.settle);
        loop {
            sleep(settle);
            let again = View {
                settings: Snapshot::of(&self.plan.settings, &view.settings),
                documents: self.look_after(view.documents.as_ref().unwrap_or(&self.documents)),
            };
            let still = view.settings.is_still(&again.settings)
                && match (&view.documents, &again.documents) {
                    (Ok(before), Ok(now)) => before.is_still(now),
                    (Err(_), Err(_)) => true,
                    _ => false,
                };
            view = again;
            if still || began.elapsed() > MAX_SETTLING.max(settle * 20) {
                return view;
            }
        }
    }

    /// Takes over settings that were changed; says whether there are new ones.
    fn take_settings(&mut self, now: &Snapshot) -> bool {
        if self.seen.changes(now).is_empty() {
            return false;
        }
        self.seen = now.clone();
        if self.applied.changes(now).is_empty() {
            return false;
        }
        match (self.resolve)() {
            Ok(plan) => {
                self.plan = plan;
                // A list of synonyms may have come or gone.
                self.applied = Snapshot::of(&self.plan.settings, now);
                self.seen = self.applied.clone();
                // Other sources may be meant.
                self.remote = Remote::default();
                self.reporter.happened("settings", "the settings have changed", json!({}));
                true
            }
            Err(e) => {
                self.reporter.trouble("settings_failed", &e, "the settings of before stay until this is put right");
                false
            }
        }
    }

    fn look(&self) -> Result<Snapshot> {
        self.look_after(&self.documents)
    }

    /// The documents as they are now; `before` saves reading what has not changed.
    fn look_after(&self, before: &Snapshot) -> Result<Snapshot> {
        let options = &self.plan.options;
        let local: Vec<SourceConfig> = options.sources.iter().filter(|s| !s.is_remote()).cloned().collect();
        let mut files = self.included.clone();
        for source in source::open_all(&local, &options.out)? {
            for entry in source.list()?.entries {
                let reads = if source.reads_code() { Format::of_code } else { Format::of };
                if reads(&entry.path).is_some() {
                    files.extend(source.file(&entry.path));
                }
            }
        }
        let apart = apart(options);
        files.retain(|file| {
            std::path::absolute(file).map_or(true, |file| !apart.iter().any(|dir| file.starts_with(dir)))
        });
        Ok(Snapshot::of(&files, before))
    }

    fn build(&mut self, built: &mut dyn FnMut(&Path) -> Result<()>) -> Result<()> {
        self.has_built = false;
        let (options, began) = (&self.plan.options, SystemTime::now());
        let summary = build::build_from(options, &|| self.remote.open(&options.sources, &options.out), self.reporter)?;
        self.reporter.finished(&summary.text(), &summary);
        // What is written during the build is new to the next look.
        self.documents.add_older(summary.included.iter().cloned(), began);
        self.included = summary.included;
        self.has_built = true;
        self.owed = None;
        built(&options.out)
    }

    fn failed(&mut self, error: &Error) {
        if self.owed.replace(error.to_string()).as_deref() != Some(&error.to_string()) {
            self.reporter.trouble("build_failed", error, "the site is left as it is; it is tried again");
        }
    }

    fn tell(&self) {
        let pace = self.plan.pace;
        let text =
            format!("watching {} files, every {} (Ctrl-C ends it)", self.documents.len(), duration(pace.interval));
        let fields = json!({
            "files": self.documents.len(),
            "interval_seconds": pace.interval.as_secs_f64(),
            "settle_seconds": pace.settle.as_secs_f64(),
        });
        self.reporter.happened("watching", &text, fields);
    }
}

/// Folders that a build writes documents to: what it puts there must not set off the next one.
fn apart(options: &Options) -> Vec<PathBuf> {
    let both = |dir: PathBuf| [dir.canonicalize().ok(), std::path::absolute(dir).ok()];
    [cache_dir().join("web"), options.out.clone()].into_iter().flat_map(both).flatten().collect()
}
