//! The base that the API answers from: opened again when the site is built anew.

use crate::answer::{Answerer, Settings};
use crate::error::Result;
use crate::site::BUNDLE_DIR;
use kb_core::bundle::MANIFEST_FILE;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;

/// A base with the settings that go with it.
pub struct Opened {
    /// The base.
    pub answerer: Answerer,
    /// The language model, with the words of the site.
    pub settings: Settings,
}

/// The newest base of a site.
pub struct Current {
    site: PathBuf,
    settings: Settings,
    now: Mutex<(Stamp, Arc<Opened>)>,
}

/// What changes when a manifest is written: time and length.
type Stamp = Option<(SystemTime, u64)>;

impl Current {
    /// Opens the site.
    pub fn open(site: &Path, settings: Settings) -> Result<Self> {
        // Looked at before the files are read: what is written meanwhile is then noticed afterwards.
        let seen = stamp(site);
        let opened = open(site, &settings)?;
        Ok(Self { site: site.to_path_buf(), settings, now: Mutex::new((seen, Arc::new(opened))) })
    }

    /// The base as it is now. While a new one cannot be opened, the one before goes on answering.
    pub fn get(&self) -> Arc<Opened> {
        let mut now = self.now.lock().unwrap_or_else(PoisonError::into_inner);
        let seen = stamp(&self.site);
        if seen.is_some() && seen != now.0 {
            match open(&self.site, &self.settings) {
                Ok(opened) => *now = (seen, Arc::new(opened)),
                Err(e) => eprintln!("note: the new knowledge base cannot be opened, the one before still answers: {e}"),
            }
        }
        Arc::clone(&now.1)
    }
}

fn open(site: &Path, settings: &Settings) -> Result<Opened> {
    let answerer = Answerer::open(site, None)?;
    if let Some(note) = &answerer.note {
        eprintln!("note: {note}");
    }
    let mut settings = settings.clone();
    settings.adopt(&answerer.base().manifest)?;
    Ok(Opened { answerer, settings })
}

fn stamp(site: &Path) -> Stamp {
    let about = std::fs::metadata(site.join(BUNDLE_DIR).join(MANIFEST_FILE)).ok()?;
    Some((about.modified().ok()?, about.len()))
}
