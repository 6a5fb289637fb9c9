//! How many tokens passages have, kept beside their embeddings: to count them again takes longer than everything else
//! in a build in which nothing has changed.
//!
//! One file for each model, `<model>.kbt`: a header of 40 bytes (magic `KBTOKEN1`, the hash of the model's fingerprint),
//! then records of 24 bytes: a key of 16 bytes as for embeddings, the count as u32, CRC-32 of both. What is damaged
//! is counted again. Nothing here can fail a build: it only saves time.

use super::{Key, key, place};
use kb_core::embed::{ModelInfo, TextKind};
use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

const MAGIC: &[u8; 8] = b"KBTOKEN1";
const RECORD_BYTES: usize = 24;

/// The counts of one model. Threads may share it.
pub struct Counts {
    /// None for counts that are not kept.
    path: Option<PathBuf>,
    header: Vec<u8>,
    known: HashMap<Key, u32>,
    new: Mutex<HashMap<Key, u32>>,
}

impl Counts {
    /// What the folder `dir` has for `model`; without a folder nothing is known or kept.
    pub fn open(dir: Option<&Path>, model: &ModelInfo) -> Self {
        let (path, identity) = place(dir.unwrap_or(Path::new("")), &model.fingerprint);
        let path = dir.map(|_| path.with_extension("kbt"));
        let header = [MAGIC.as_slice(), &identity].concat();
        let bytes = path.as_deref().and_then(|p| std::fs::read(p).ok()).unwrap_or_default();
        let records = bytes.strip_prefix(header.as_slice()).unwrap_or_default();
        let known = records.chunks_exact(RECORD_BYTES).filter_map(read).collect();
        Self { path, header, known, new: Mutex::default() }
    }

    /// The tokens of a passage: as it was counted before, or by `count`.
    pub fn of(&self, text: &str, count: impl FnOnce() -> usize) -> usize {
        if self.path.is_none() {
            return count();
        }
        let key = key(TextKind::Passage, text);
        let new = || self.new.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(n) = self.known.get(&key).copied().or_else(|| new().get(&key).copied()) {
            return n as usize;
        }
        let n = count();
        // A text of over four thousand million tokens is not a passage.
        new().insert(key, u32::try_from(n).unwrap_or(u32::MAX));
        n
    }

    /// Writes what was counted now behind what was there. Another build that is writing keeps the file to itself.
    pub fn keep(self) {
        let mut new: Vec<_> = self.new.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().collect();
        new.sort_unstable();
        let (Some(path), false) = (self.path, new.is_empty()) else { return };
        // Whatever goes wrong, the next build counts again.
        let _ = append(&path, &self.header, &new);
    }
}

fn append(path: &Path, header: &[u8], new: &[(Key, u32)]) -> std::io::Result<()> {
    path.parent().map_or(Ok(()), std::fs::create_dir_all)?;
    let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
    if let Err(std::fs::TryLockError::WouldBlock) = file.try_lock() {
        return Ok(());
    }
    let mut found = vec![0; header.len()];
    let mut end = header.len() as u64;
    if file.read_exact(&mut found).is_ok() && found == header {
        // A record that was cut off is written over.
        let records = file.metadata()?.len().saturating_sub(end) / RECORD_BYTES as u64;
        end += records * RECORD_BYTES as u64;
    } else {
        file.set_len(0)?;
        file.seek(SeekFrom::Start(0))?;
        file.write_all(header)?;
    }
    file.seek(SeekFrom::Start(end))?;
    let records: Vec<u8> = new.iter().flat_map(|(key, n)| write(key, *n)).collect();
    file.write_all(&records)
}

fn write(key: &Key, n: u32) -> Vec<u8> {
    let mut record = key.to_vec();
    record.extend(n.to_le_bytes());
    record.extend(crc32fast::hash(&record).to_le_bytes());
    record
}

fn read(record: &[u8]) -> Option<(Key, u32)> {
    let (body, crc) = record.split_at_checked(RECORD_BYTES - 4)?;
    let (key, n) = body.split_at_checked(size_of::<Key>())?;
    (crc32fast::hash(body).to_le_bytes() == crc).then_some(())?;
    Some((key.try_into().ok()?, u32::from_le_bytes(n.try_into().ok()?)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::tests::model;

    fn counts(dir: &Path) -> Counts {
        Counts::open(Some(dir), &model("a"))
    }

    #[test]
    fn a_text_is_counted_once_and_for_one_model() {
        let dir = tempfile::tempdir().expect("dir");
        let (first, n) = (counts(dir.path()), || panic!("known"));
        assert_eq!((first.of("图论", || 3), first.of("图论", n)), (3, 3));
        first.keep();
        assert_eq!(counts(dir.path()).of("图论", n), 3);
        assert_eq!(Counts::open(Some(dir.path()), &model("b")).of("图论", || 4), 4);
        assert_eq!(Counts::open(None, &model("a")).of("图论", || 5), 5);
    }

    #[test]
    fn what_is_damaged_is_counted_again() {
        let dir = tempfile::tempdir().expect("dir");
        let first = counts(dir.path());
        first.of("x", || 1);
        first.keep();
        let second = counts(dir.path());
        second.of("y", || 2);
        second.keep();
        let file = std::fs::read_dir(dir.path()).expect("dir").next().expect("a file").expect("entry").path();
        let whole = std::fs::read(&file).expect("reads");
        assert_eq!(whole.len(), 40 + 2 * RECORD_BYTES);
        let again = |bytes: &[u8]| {
            std::fs::write(&file, bytes).expect("writes");
            let counts = counts(dir.path());
            let found = (counts.of("x", || 10), counts.of("y", || 20));
            counts.keep();
            found
        };
        assert_eq!(again(&whole), (1, 2));
        assert_eq!(again(&whole[..whole.len() - 1]), (1, 20));
        assert_eq!(std::fs::read(&file).expect("reads").len(), whole.len());
        let mut flipped = whole.clone();
        flipped[50] ^= 1;
        assert_eq!(again(&flipped), (10, 2));
        assert_eq!(again(b"something else"), (10, 20));
        assert_eq!(again(&[]), (10, 20));
        assert_eq!(counts(dir.path()).known.len(), 2);
    }
}
