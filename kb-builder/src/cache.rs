//! Finished embeddings on disk, so that a rebuild embeds only what changed and an interrupted build
//! loses nothing.
//!
//! One file for each model, named by its fingerprint. A header of 56 bytes: magic `KBEMBED1`, the
//! SHA-256 that the fingerprint stands for in hex (32 bytes of the hash of its text), the dimension
//! as u32, 8 reserved bytes, CRC-32 of all that. Then records of one length, in the order they were
//! made: a key of 16 bytes, the vector as f32, CRC-32 of both. All numbers little-endian. A record
//! whose CRC does not match is skipped; a cut-off one at the end is removed.

mod counts;
mod graphs;

use crate::error::{Error, Result};
pub use counts::Counts;
pub use graphs::Graphs;
use kb_core::embed::{ModelInfo, TextKind};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

const MAGIC: &[u8; 8] = b"KBEMBED1";
const HEADER_BYTES: u64 = 56;
const KEY_BYTES: usize = 16;
const CRC_BYTES: usize = 4;

/// What a vector is found by: the kind of text and the text itself, hashed.
type Key = [u8; KEY_BYTES];

/// The embeddings of one model.
pub struct Cache {
    file: File,
    path: PathBuf,
    dim: usize,
    /// Key → number of the record.
    records: HashMap<Key, u64>,
    /// How many records the file has, damaged ones included.
    count: u64,
    /// Whether this process may write; another one at work keeps the file to itself.
    writable: bool,
    /// What was found wrong when it was opened, one sentence each.
    pub notes: Vec<String>,
}

impl Cache {
    /// Opens the cache of `model` in the folder `dir`, making both as needed. A file that is not such
    /// a cache is moved aside under a name with the time, and reported.
    pub fn open(dir: &Path, model: &ModelInfo) -> Result<Self> {
        let (path, identity) = place(dir, &model.fingerprint);
        std::fs::create_dir_all(dir).map_err(|e| Error::io("create", dir, e))?;
        let mut cache = Self {
            file: open_file(&path)?,
            path,
            dim: model.dim,
            records: HashMap::new(),
            count: 0,
            writable: true,
            notes: Vec::new(),
        };
        match cache.file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                cache.writable = false;
                cache.notes.push("another build is writing the embedding cache; this one only reads it".into());
            }
            // Some network folders have no locks: two builds at once are the only danger.
            Err(TryLockError::Error(_)) => {}
        }
        let header = header(&identity, model.dim);
        let length = cache.file.metadata().map_err(|e| Error::io("read", &cache.path, e))?.len();
        if length > 0 && !cache.has_header(&header)? {
            cache.set_aside()?;
        }
        if cache.file.metadata().map_err(|e| Error::io("read", &cache.path, e))?.len() == 0 && cache.writable {
            cache.file.write_all(&header).map_err(|e| Error::io("write", &cache.path, e))?;
        }
        cache.scan()?;
        Ok(cache)
    }

    /// The length of the vectors that the folder `dir` holds for the model with this fingerprint, if it holds any.
    pub fn dim_of(dir: &Path, fingerprint: &str) -> Option<usize> {
        let (path, identity) = place(dir, fingerprint);
        let mut found = [0; HEADER_BYTES as usize];
        File::open(path).ok()?.read_exact(&mut found).ok()?;
        let dim = u32::from_le_bytes(found[40..44].try_into().ok()?) as usize;
        (found.as_slice() == header(&identity, dim)).then_some(dim)
    }

    /// How many vectors it holds.
    pub fn len(&self) -> usize {
        self.records.len()
    }

    /// Whether it holds none.
    pub fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// The vector of a text, if it is there.
    pub fn get(&mut self, kind: TextKind, text: &str) -> Result<Option<Vec<f32>>> {
        let Some(record) = self.records.get(&key(kind, text)) else { return Ok(None) };
        let mut bytes = vec![0; self.record_bytes()];
        let at = HEADER_BYTES + record * self.record_bytes() as u64;
        let read = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.read_exact(&mut bytes));
        read.map_err(|e| Error::io("read", &self.path, e))?;
        let body = &bytes[KEY_BYTES..bytes.len() - CRC_BYTES];
        Ok(Some(body.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()))
    }

    /// Appends a vector. What is written is kept even if the process ends at once.
    pub fn put(&mut self, kind: TextKind, text: &str, vector: &[f32]) -> Result<()> {
        let key = key(kind, text);
        if !self.writable || vector.len() != self.dim || self.records.contains_key(&key) {
            return Ok(());
        }
        let mut bytes = Vec::with_capacity(self.record_bytes());
        bytes.extend(key);
        bytes.extend(vector.iter().flat_map(|x| x.to_le_bytes()));
        bytes.extend(crc32fast::hash(&bytes).to_le_bytes());
        let at = HEADER_BYTES + self.count * self.record_bytes() as u64;
        // One write a record: a process that is killed leaves at most one torn record, at the end.
        let written = self.file.seek(SeekFrom::Start(at)).and_then(|_| self.file.write_all(&bytes));
        written.map_err(|e| Error::io("write", &self.path, e))?;
        self.records.insert(key, self.count);
        self.count += 1;
        Ok(())
    }

    fn record_bytes(&self) -> usize {
        KEY_BYTES + 4 * self.dim + CRC_BYTES
    }

    fn has_header(&mut self, expected: &[u8]) -> Result<bool> {
        let mut found = vec![0; expected.len()];
        let read = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.read_exact(&mut found));
        match read {
            Ok(()) => Ok(found == expected),
            Err(e) if e.kind() == std::io::ErrorKind::UnexpectedEof => Ok(false),
            Err(e) => Err(Error::io("read", &self.path, e)),
        }
    }

    /// Moves a file that is no cache out of the way and begins a new one.
    fn set_aside(&mut self) -> Result<()> {
        if !self.writable {
            return Err(Error::failed(
                format!("the embedding cache {} is damaged and another build holds it", self.path.display()),
                "wait for the other build, or use --no-cache",
            ));
        }
        let seconds = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).map_or(0, |d| d.as_secs());
        let backup = self.path.with_extension(format!("damaged-{seconds}"));
        std::fs::rename(&self.path, &backup).map_err(|e| Error::io("move", &self.path, e))?;
        self.file = open_file(&self.path)?;
        // As above: without locks two builds at once are the only danger.
        let _ = self.file.try_lock();
        self.notes
            .push(format!("the embedding cache was damaged; it was moved to {} and a new one begun", backup.display()));
        Ok(())
    }

    /// Reads all records once, checks them and remembers where they are.
    fn scan(&mut self) -> Result<()> {
        let fail = |path: &Path, e| Error::io("read", path, e);
        let length = self.file.metadata().map_err(|e| fail(&self.path, e))?.len().saturating_sub(HEADER_BYTES);
        let size = self.record_bytes();
        self.count = length / size as u64;
        self.file.seek(SeekFrom::Start(HEADER_BYTES)).map_err(|e| fail(&self.path, e))?;
        let mut reader = BufReader::with_capacity(1 << 20, &self.file);
        let mut record = vec![0; size];
        let mut damaged = 0;
        for number in 0..self.count {
            reader.read_exact(&mut record).map_err(|e| fail(&self.path, e))?;
            let (body, crc) = record.split_at(size - CRC_BYTES);
            if crc32fast::hash(body).to_le_bytes() == crc {
                let mut key = [0; KEY_BYTES];
                key.copy_from_slice(&body[..KEY_BYTES]);
                self.records.insert(key, number);
            } else {
                damaged += 1;
            }
        }
        if damaged > 0 {
            self.notes
                .push(format!("{damaged} records of the embedding cache are damaged; their texts are embedded again"));
        }
        if length % size as u64 != 0 && self.writable {
            let whole = HEADER_BYTES + self.count * size as u64;
            self.file.set_len(whole).map_err(|e| Error::io("write", &self.path, e))?;
        }
        Ok(())
    }
}

/// The file for a model in the folder of the caches, and the hash of its fingerprint.
fn place(dir: &Path, fingerprint: &str) -> (PathBuf, Vec<u8>) {
    let identity = Sha256::digest(fingerprint.as_bytes()).to_vec();
    (dir.join(format!("{}.kbe", short_hex(&identity))), identity)
}

/// The first 16 hex digits of a hash: part of a file's name.
fn short_hex(hash: &[u8]) -> String {
    hash.iter().take(8).map(|b| format!("{b:02x}")).collect()
}

fn open_file(path: &Path) -> Result<File> {
    let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
    opened.map_err(|e| Error::io("open", path, e))
}

fn header(identity: &[u8], dim: usize) -> Vec<u8> {
    let mut header = Vec::with_capacity(HEADER_BYTES as usize);
    header.extend(MAGIC);
    header.extend(identity);
    header.extend(u32::try_from(dim).unwrap_or(u32::MAX).to_le_bytes());
    header.extend([0; 8]);
    header.extend(crc32fast::hash(&header).to_le_bytes());
    header
}

fn key(kind: TextKind, text: &str) -> Key {
    let tag: &[u8] = match kind {
        TextKind::Query => b"query\0",
        TextKind::Passage => b"passage\0",
    };
    let hash = Sha256::new().chain_update(tag).chain_update(text).finalize();
    let mut key = [0; KEY_BYTES];
    key.copy_from_slice(&hash[..KEY_BYTES]);
    key
}

#[cfg(test)]
mod tests {
    use super::*;
    use kb_core::embed::Pooling;

    pub(super) fn model(fingerprint: &str) -> ModelInfo {
        ModelInfo {
            name: "m".into(),
            fingerprint: fingerprint.into(),
            dim: 3,
            max_tokens: 8,
            pooling: Pooling::Mean,
            query_prefix: String::new(),
            passage_prefix: String::new(),
            service: None,
        }
    }

    fn file_of(dir: &Path) -> PathBuf {
        let mut files: Vec<_> = std::fs::read_dir(dir)
            .expect("dir")
            .map(|e| e.expect("entry").path())
            .filter(|p| p.extension().is_some_and(|e| e == "kbe"))
            .collect();
        assert_eq!(files.len(), 1);
        files.remove(0)
    }

    #[test]
    fn vectors_come_back_bit_for_bit_and_by_kind() {
        let dir = tempfile::tempdir().expect("dir");
        let v = [0.1_f32, -1e-30, f32::MIN_POSITIVE];
        let mut cache = Cache::open(dir.path(), &model("a")).expect("opens");
        cache.put(TextKind::Passage, "知识", &v).expect("puts");
        drop(cache);
        let mut cache = Cache::open(dir.path(), &model("a")).expect("opens");
        assert_eq!(cache.get(TextKind::Passage, "知识").expect("reads").as_deref(), Some(&v[..]));
        assert_eq!(cache.get(TextKind::Query, "知识").expect("reads"), None);
        assert!(Cache::open(dir.path(), &model("b")).expect("opens").is_empty(), "another model has another cache");
    }

    #[test]
    fn a_torn_record_goes_and_the_others_stay() {
        let dir = tempfile::tempdir().expect("dir");
        let mut cache = Cache::open(dir.path(), &model("a")).expect("opens");
        for (i, text) in ["x", "y", "z"].iter().enumerate() {
            cache.put(TextKind::Passage, text, &[i as f32; 3]).expect("puts");
        }
        drop(cache);
        let file = file_of(dir.path());
        let whole = std::fs::read(&file).expect("reads");
        for cut in 1..32 {
            std::fs::write(&file, &whole[..whole.len() - cut]).expect("writes");
            let mut cache = Cache::open(dir.path(), &model("a")).expect("opens");
            assert_eq!(cache.len(), 2, "cut {cut}");
            cache.put(TextKind::Passage, "z", &[2.0; 3]).expect("puts");
            drop(cache);
            assert_eq!(std::fs::read(&file).expect("reads"), whole, "cut {cut}");
        }
    }

    #[test]
    fn a_flipped_byte_costs_one_record_and_a_foreign_file_is_kept_aside() {
        let dir = tempfile::tempdir().expect("dir");
        let mut cache = Cache::open(dir.path(), &model("a")).expect("opens");
        cache.put(TextKind::Passage, "x", &[1.0; 3]).expect("puts");
        cache.put(TextKind::Passage, "y", &[2.0; 3]).expect("puts");
        drop(cache);
        let file = file_of(dir.path());
        let mut bytes = std::fs::read(&file).expect("reads");
        bytes[HEADER_BYTES as usize + 20] ^= 1;
        std::fs::write(&file, &bytes).expect("writes");
        let mut cache = Cache::open(dir.path(), &model("a")).expect("opens");
        assert_eq!(cache.get(TextKind::Passage, "x").expect("reads"), None);
        assert_eq!(cache.get(TextKind::Passage, "y").expect("reads"), Some(vec![2.0; 3]));
        assert_eq!(cache.notes.len(), 1);
        drop(cache);
        std::fs::write(&file, b"something else altogether").expect("writes");
        let cache = Cache::open(dir.path(), &model("a")).expect("opens");
        assert!(cache.is_empty() && cache.notes[0].contains("moved to"), "{:?}", cache.notes);
        let kept = std::fs::read_dir(dir.path())
            .expect("dir")
            .filter_map(|e| std::fs::read(e.expect("entry").path()).ok())
            .any(|b| b == b"something else altogether");
        assert!(kept);
    }

    #[test]
    fn a_second_process_reads_but_does_not_write() {
        let dir = tempfile::tempdir().expect("dir");
        let mut first = Cache::open(dir.path(), &model("a")).expect("opens");
        first.put(TextKind::Passage, "x", &[1.0; 3]).expect("puts");
        let mut second = Cache::open(dir.path(), &model("a")).expect("opens");
        assert_eq!(second.get(TextKind::Passage, "x").expect("reads"), Some(vec![1.0; 3]));
        second.put(TextKind::Passage, "y", &[2.0; 3]).expect("is ignored");
        drop((first, second));
        assert_eq!(Cache::open(dir.path(), &model("a")).expect("opens").len(), 1);
    }
}
