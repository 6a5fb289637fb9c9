//! How files are at one moment, and what differs between two moments.

use crate::error::{Error, Result};
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

/// A file that was written so shortly before it was looked at may be written once more without its time changing: the
/// coarsest file systems count in steps of two seconds.
const UNSURE: Duration = Duration::from_secs(2);

/// Most files that are named in a sentence.
const NAMED: usize = 5;

/// Files by their paths. What is not there is not in it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Snapshot(BTreeMap<PathBuf, State>);

/// A file at one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
struct State {
    stamp: Stamp,
    /// SHA-256 of what is in it; none if it cannot be read.
    hash: Option<[u8; 32]>,
}

/// What the file system says of a file without reading it.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    bytes: u64,
    modified: Option<SystemTime>,
    /// On Unix the file's number and the time of its last change of any sort: a copy that kept its time differs in them.
    identity: (u64, i64, i64),
    /// Whether the stamp could stay the same although the file is written again.
    unsure: bool,
}

impl Stamp {
    fn of(about: &Metadata) -> Self {
        let modified = about.modified().ok();
        // A time in the future counts as recent.
        let age = modified.and_then(|m| SystemTime::now().duration_since(m).ok());
        Self { bytes: about.len(), modified, identity: identity(about), unsure: age.is_none_or(|age| age < UNSURE) }
    }

    fn proves_the_same(&self, before: &Self) -> bool {
        !before.unsure && (self.bytes, self.modified, self.identity) == (before.bytes, before.modified, before.identity)
    }
}

#[cfg(unix)]
fn identity(about: &Metadata) -> (u64, i64, i64) {
    use std::os::unix::fs::MetadataExt;
    (about.ino(), about.ctime(), about.ctime_nsec())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, i64, i64) {
    (0, 0, 0)
}

/// What differs between two snapshots, as paths that can be shown.
#[derive(Debug, Default, PartialEq, Eq, Serialize)]
pub struct Changes {
    /// Files with other content.
    pub changed: Vec<String>,
    /// Files that were not there before.
    pub added: Vec<String>,
    /// Files that are not there any more.
    pub removed: Vec<String>,
}

impl Changes {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.changed.is_empty() && self.added.is_empty() && self.removed.is_empty()
    }

    /// `changed: notes/a.md; new: notes/b.md, notes/c.md`
    pub fn sentence(&self) -> String {
        let lists = [("changed", &self.changed), ("new", &self.added), ("gone", &self.removed)];
        let part = |(name, list): (&str, &Vec<String>)| {
            let named = list.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
            let more = if list.len() > NAMED { format!(" and {} more", list.len() - NAMED) } else { String::new() };
            format!("{name}: {named}{more}")
        };
        lists.into_iter().filter(|(_, list)| !list.is_empty()).map(part).collect::<Vec<_>>().join("; ")
    }
}

impl Snapshot {
    /// The files as they are now. A file is read only if its stamp does not prove that it is as in `before`.
    pub fn of<'p>(paths: impl IntoIterator<Item = &'p PathBuf>, before: &Self) -> Self {
        let mut now = BTreeMap::new();
        for path in paths {
            let Ok(about) = std::fs::metadata(path) else { continue };
            let stamp = Stamp::of(&about);
            let known = before.0.get(path).filter(|b| b.hash.is_some() && stamp.proves_the_same(&b.stamp));
            let hash = match known {
                Some(known) => known.hash,
                None => match hash(path) {
                    // It went between the two looks.
                    Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => continue,
                    other => other.ok(),
                },
            };
            now.insert(path.clone(), State { stamp, hash });
        }
        Self(now)
    }

    /// How many files there are.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds the files of `paths` that were last written before `moment` and are not yet in it.
    pub fn add_older(&mut self, paths: impl IntoIterator<Item = PathBuf>, moment: SystemTime) {
        let new: Vec<PathBuf> = paths.into_iter().filter(|path| !self.0.contains_key(path)).collect();
        let now = Self::of(&new, &Self::default());
        self.0.extend(now.0.into_iter().filter(|(_, state)| state.stamp.modified.is_some_and(|m| m < moment)));
    }

    /// What is different in `now`. A file that was only touched, or written anew as it was, is not.
    pub fn changes(&self, now: &Self) -> Changes {
        let shown = |path: &Path| path.display().to_string();
        let mut changes = Changes::default();
        for (path, state) in &now.0 {
            match self.0.get(path) {
                None => changes.added.push(shown(path)),
                Some(before) if before.hash != state.hash => changes.changed.push(shown(path)),
                Some(_) => {}
            }
        }
        changes.removed = self.0.keys().filter(|path| !now.0.contains_key(*path)).map(|p| shown(p)).collect();
        changes
    }

    /// Whether nothing at all was written between the two, not even the same again.
    pub fn is_still(&self, now: &Self) -> bool {
        let stamp = |s: &State| (s.stamp.bytes, s.stamp.modified, s.stamp.identity, s.hash);
        self.0.len() == now.0.len()
            && self.0.iter().zip(&now.0).all(|((a, before), (b, after))| a == b && stamp(before) == stamp(after))
    }
}

fn hash(path: &Path) -> Result<[u8; 32]> {
    let read = || -> std::io::Result<[u8; 32]> {
        let mut hasher = Sha256::new();
        std::io::copy(&mut File::open(path)?, &mut hasher)?;
        Ok(hasher.finalize().into())
    };
    read().map_err(|e| Error::io("read", path, e))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn names(list: &[&str]) -> Vec<String> {
        list.iter().map(|s| s.to_string()).collect()
    }

    #[test]
    fn what_was_written_counts_and_what_was_touched_does_not() {
        let dir = tempfile::tempdir().expect("dir");
        let paths: Vec<PathBuf> = ["a", "b", "c"].map(|n| dir.path().join(n)).to_vec();
        for path in &paths[..2] {
            fs::write(path, "one").expect("write");
        }
        let before = Snapshot::of(&paths, &Snapshot::default());
        assert_eq!(before.len(), 2);
        let later = SystemTime::now() + Duration::from_secs(100);
        File::options().append(true).open(&paths[0]).expect("open").set_modified(later).expect("touch");
        let touched = Snapshot::of(&paths, &before);
        assert!(before.changes(&touched).is_empty() && !before.is_still(&touched));
        assert!(touched.is_still(&Snapshot::of(&paths, &touched)));
        // Of the same length.
        fs::write(&paths[0], "two").expect("write");
        fs::remove_file(&paths[1]).expect("remove");
        fs::write(&paths[2], "new").expect("write");
        let after = Snapshot::of(&paths, &touched);
        let shown = |i: usize| paths[i].display().to_string();
        let expected = Changes { changed: vec![shown(0)], added: vec![shown(2)], removed: vec![shown(1)] };
        assert_eq!(before.changes(&after), expected);
    }

    #[test]
    fn a_second_write_within_one_tick_of_the_clock_is_noticed() {
        let dir = tempfile::tempdir().expect("dir");
        let path = dir.path().join("a");
        let now = SystemTime::now();
        let write = |text: &str, when: SystemTime| {
            fs::write(&path, text).expect("write");
            File::options().append(true).open(&path).expect("open").set_modified(when).expect("set");
        };
        write("one", now);
        let before = Snapshot::of([&path], &Snapshot::default());
        write("two", now);
        assert_eq!(before.changes(&Snapshot::of([&path], &before)).changed.len(), 1);
        // A file that is old is not read again.
        write("one", now - Duration::from_secs(60));
        let before = Snapshot::of([&path], &Snapshot::default());
        let mut known = before.clone();
        known.0.values_mut().for_each(|s| s.hash = Some([7; 32]));
        assert!(known.is_still(&Snapshot::of([&path], &known)));
    }

    #[test]
    fn long_lists_are_cut_in_sentences() {
        let changes = Changes {
            changed: names(&["a.md"]),
            added: names(&["1", "2", "3", "4", "5", "6", "7"]),
            removed: Vec::new(),
        };
        assert_eq!(changes.sentence(), "changed: a.md; new: 1, 2, 3, 4, 5 and 2 more");
        assert_eq!(Changes::default().sentence(), "");
    }
}
