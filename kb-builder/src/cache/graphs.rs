//! Finished graphs, beside the embeddings: the same vectors have the same graph, and it takes a second for 8,000
//! passages, minutes for 100,000.
//!
//! One file for each graph, `graphs/<hash>.kbg`: magic `KBGRAPH1`, the SHA-256 of what the graph follows from, CRC-32 of
//! the graph, the graph. What does not fit is built again. Nothing here can fail a build: it only saves time.

use super::short_hex;
use kb_core::index::vector::{GRAPH_RECIPE, GraphOptions};
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

const MAGIC: &[u8; 8] = b"KBGRAPH1";
const CRC_BYTES: usize = 4;
/// How many graphs are kept: those that were used last.
const KEPT: usize = 8;

/// The graph of some vectors, if a build has made it before.
pub struct Graphs {
    path: PathBuf,
    header: Vec<u8>,
}

impl Graphs {
    /// The place in `dir` for the graph of `vectors`, the bytes of their section.
    pub fn of(dir: &Path, vectors: &[u8], options: &GraphOptions) -> Self {
        let recipe = format!("{GRAPH_RECIPE} {} {} {}\n", options.seed, options.ef_construction, options.ef_search);
        let hash = Sha256::new().chain_update(recipe).chain_update(vectors).finalize();
        let path = dir.join("graphs").join(format!("{}.kbg", short_hex(&hash)));
        Self { path, header: [MAGIC.as_slice(), &hash].concat() }
    }

    /// The graph, if it is there and whole.
    pub fn get(&self) -> Option<Vec<u8>> {
        let bytes = std::fs::read(&self.path).ok()?;
        let (crc, graph) = bytes.strip_prefix(self.header.as_slice())?.split_at_checked(CRC_BYTES)?;
        (crc32fast::hash(graph).to_le_bytes() == crc).then_some(())?;
        // What is used stays.
        let touched = std::fs::File::options().write(true).open(&self.path);
        let _ = touched.and_then(|file| file.set_modified(SystemTime::now()));
        Some(graph.to_vec())
    }

    /// Keeps the graph, and removes those that were not used for the longest time.
    pub fn put(&self, graph: &[u8]) {
        let bytes = [self.header.as_slice(), &crc32fast::hash(graph).to_le_bytes(), graph].concat();
        // Whatever goes wrong, the next build makes the graph again.
        let _ = self.write(&bytes);
    }

    fn write(&self, bytes: &[u8]) -> std::io::Result<()> {
        let Some(dir) = self.path.parent() else { return Ok(()) };
        std::fs::create_dir_all(dir)?;
        let temp = self.path.with_extension(format!("new-{}", std::process::id()));
        let moved = std::fs::write(&temp, bytes).and_then(|()| std::fs::rename(&temp, &self.path));
        if moved.is_err() {
            let _ = std::fs::remove_file(&temp);
        }
        moved?;
        let ours =
            std::fs::read_dir(dir)?.flatten().map(|e| e.path()).filter(|p| p.extension().is_some_and(|e| e == "kbg"));
        let mut all: Vec<_> =
            ours.filter_map(|p| Some((std::fs::metadata(&p).and_then(|m| m.modified()).ok()?, p))).collect();
        all.sort_unstable_by(|a, b| b.cmp(a));
        all.iter().skip(KEPT).for_each(|(_, old)| drop(std::fs::remove_file(old)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_graph_comes_back_for_the_same_vectors_and_options_only() {
        let dir = tempfile::tempdir().expect("dir");
        let options = GraphOptions::default();
        let graphs = Graphs::of(dir.path(), b"vectors", &options);
        assert_eq!(graphs.get(), None);
        graphs.put(b"the graph");
        assert_eq!(graphs.get().as_deref(), Some(b"the graph".as_slice()));
        assert_eq!(Graphs::of(dir.path(), b"vectorS", &options).get(), None);
        let others = GraphOptions { ef_search: 50, ..options };
        assert_eq!(Graphs::of(dir.path(), b"vectors", &others).get(), None);
        let whole = std::fs::read(&graphs.path).expect("reads");
        for i in 0..whole.len() {
            let mut bytes = whole.clone();
            bytes[i] ^= 1;
            std::fs::write(&graphs.path, &bytes).expect("writes");
            assert_eq!(graphs.get(), None, "byte {i}");
            std::fs::write(&graphs.path, &whole[..i]).expect("writes");
            assert_eq!(graphs.get(), None, "length {i}");
        }
    }

    #[test]
    fn only_the_last_ones_stay() {
        let dir = tempfile::tempdir().expect("dir");
        let of = |i: usize| Graphs::of(dir.path(), &[i as u8], &GraphOptions::default());
        for i in 0..2 * KEPT {
            of(i).put(b"g");
            let file = std::fs::File::options().write(true).open(of(i).path).expect("opens");
            file.set_modified(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(i as u64)).expect("sets");
        }
        let there = (0..2 * KEPT).filter(|i| of(*i).path.exists()).count();
        assert_eq!((there, of(2 * KEPT - 1).get().is_some(), of(0).get()), (KEPT, true, None));
        assert_eq!(std::fs::read_dir(dir.path().join("graphs")).expect("dir").count(), KEPT);
    }
}
