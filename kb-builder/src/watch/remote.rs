//! Sources on the web while a folder beside them is watched: asked once, then remembered.

use crate::config::SourceConfig;
use crate::error::Result;
use crate::source::{Entry, Listing, Source, open_all};
use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

/// The sources on the web of one configuration, by their places in it.
#[derive(Default)]
pub struct Remote(RefCell<HashMap<usize, Rc<Remembered>>>);

/// A source with what it said.
struct Remembered {
    source: Box<dyn Source>,
    listing: RefCell<Option<Listing>>,
}

impl Remote {
    /// Opens sources as [`open_all`] does; those on the web are the ones of before, where there was a time before.
    pub fn open(&self, configs: &[SourceConfig], out: &Path) -> Result<Vec<Box<dyn Source>>> {
        let mut kept = self.0.borrow_mut();
        let opened = open_all(configs, out)?.into_iter().zip(configs).enumerate();
        let source = |(i, (source, config)): (usize, (Box<dyn Source>, &SourceConfig))| -> Box<dyn Source> {
            if !config.is_remote() {
                return source;
            }
            let new = || Rc::new(Remembered { source, listing: RefCell::default() });
            Box::new(Shared(Rc::clone(kept.entry(i).or_insert_with(new))))
        };
        Ok(opened.map(source).collect())
    }
}

/// One of several holders of a source.
struct Shared(Rc<Remembered>);

impl Source for Shared {
    fn collection(&self) -> &str {
        self.0.source.collection()
    }

    fn list(&self) -> Result<Listing> {
        let mut listing = self.0.listing.borrow_mut();
        if let Some(known) = &*listing {
            return Ok(known.clone());
        }
        // A failure is not remembered: the network may be back at the next build.
        let new = self.0.source.list()?;
        Ok(listing.insert(new).clone())
    }

    fn read(&self, entry: &Entry) -> Result<Vec<u8>> {
        // What was listed is on the disk or in memory: no source asks the network here.
        self.0.source.read(entry)
    }

    fn sibling(&self, path: &str) -> Option<Vec<u8>> {
        self.0.source.sibling(path)
    }

    fn url_base(&self) -> Option<&str> {
        self.0.source.url_base()
    }

    fn url_of(&self, entry: &Entry) -> Option<String> {
        self.0.source.url_of(entry)
    }

    fn reads_code(&self) -> bool {
        self.0.source.reads_code()
    }
}
