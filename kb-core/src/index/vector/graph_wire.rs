//! The payload of section `graph`. Encoder and decoder side by side; the layout is in bundle/FORMAT.md.
//!
//! Everything is an unsigned LEB128 number. A list of neighbours is sorted and written as its length,
//! its first id and the gaps less 1: their order means nothing to a search. Node ids of one layer are
//! in the order of their rows, so that neighbours, which are often near each other in a document, have
//! small gaps.

use crate::Result;
use crate::bundle::SectionKind;
use std::ops::Range;

const KIND: SectionKind = SectionKind::Graph;

/// Most neighbours in an upper layer: instant-distance's fixed M.
pub(super) const M: usize = 32;

/// Most neighbours in the zero layer.
pub(super) const M_ZERO: usize = 2 * M;

/// instant-distance's mark for "no neighbour".
const INVALID: u32 = u32::MAX;

/// Range of `ef_search`.
pub(super) const EF_RANGE: Range<usize> = 1..4097;

/// A graph with nothing of instant-distance in it.
#[cfg(not(target_arch = "wasm32"))]
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct RawGraph {
    pub(super) ef_search: u32,
    /// Row of each node. Node 0 is where every search begins.
    pub(super) rows: Vec<u32>,
    /// Row and node: the row is not in the graph because its vector equals that of the node. By row.
    pub(super) folded: Vec<(u32, u32)>,
    /// Nodes that cannot be reached from node 0 in the zero layer, ascending.
    pub(super) strays: Vec<u32>,
    /// Neighbours of each node in the zero layer, sorted.
    pub(super) zero: Vec<Vec<u32>>,
    /// The layers above, from the largest to the smallest. Layer nodes are the first nodes of the
    /// layer below.
    pub(super) layers: Vec<Vec<Vec<u32>>>,
}

#[cfg(not(target_arch = "wasm32"))]
pub(super) fn encode(graph: &RawGraph) -> Vec<u8> {
    let mut out = Vec::new();
    let mut put = |n: u32| put_number(&mut out, n);
    put(graph.ef_search);
    put(graph.rows.len() as u32);
    put(graph.layers.len() as u32);
    for layer in &graph.layers {
        put(layer.len() as u32);
    }
    for band in bands(graph.rows.len(), graph.layers.iter().map(Vec::len)) {
        put_ascending(&mut put, &graph.rows[band]);
    }
    put(graph.folded.len() as u32);
    let mut next = 0;
    for (row, node) in &graph.folded {
        put(row - next);
        put(*node);
        next = row + 1;
    }
    put(graph.strays.len() as u32);
    put_ascending(&mut put, &graph.strays);
    for list in graph.zero.iter().chain(graph.layers.iter().flatten()) {
        put(list.len() as u32);
        put_ascending(&mut put, list);
    }
    out
}

/// A payload that has been read and checked to the end. The neighbour lists stay encoded.
#[derive(Debug)]
pub(super) struct CheckedGraph<'a> {
    pub(super) ef_search: u32,
    pub(super) rows: Vec<u32>,
    pub(super) folded: Vec<(u32, u32)>,
    pub(super) strays: Vec<u32>,
    layer_lengths: Vec<u32>,
    lists: &'a [u8],
}

/// Reads the payload of section `graph` over `count` vectors.
pub(super) fn decode(payload: &[u8], count: usize) -> Result<CheckedGraph<'_>> {
    let mut input = Input(payload);
    let ef_search = input.number()?;
    let nodes = input.number()? as usize;
    let layers = input.number()? as usize;
    if !EF_RANGE.contains(&(ef_search as usize)) {
        return Err(KIND.corrupt(format!("ef_search is {ef_search}")));
    }
    // Every row is a node or folded into one, so nodes are at most the vectors that are already here.
    if nodes == 0 || nodes > count || layers > 32 {
        return Err(KIND.corrupt(format!("{nodes} nodes in {layers} layers over {count} vectors")));
    }
    let mut layer_lengths = Vec::with_capacity(layers);
    let mut below = nodes;
    for _ in 0..layers {
        let length = input.number()?;
        if length == 0 || length as usize > below {
            return Err(KIND.corrupt("a layer is empty or larger than the one below"));
        }
        below = length as usize;
        layer_lengths.push(length);
    }

    let mut seen = vec![false; count];
    let mut mark = |row: u32| match seen.get_mut(row as usize) {
        Some(seen) if !*seen => {
            *seen = true;
            Ok(())
        }
        _ => Err(KIND.corrupt("a vector is named twice or is not there")),
    };
    let mut rows = Vec::with_capacity(nodes);
    for band in bands(nodes, layer_lengths.iter().map(|n| *n as usize)) {
        input.ascending(band.len(), count, |row| {
            rows.push(row);
            mark(row)
        })?;
    }
    let folded_count = input.number()? as usize;
    if nodes + folded_count != count {
        return Err(KIND.corrupt(format!(
            "{nodes} nodes and {folded_count} equal vectors are not the {count} vectors of the bundle"
        )));
    }
    let mut folded = Vec::with_capacity(folded_count);
    let mut next = 0u32;
    for _ in 0..folded_count {
        let row = next.saturating_add(input.number()?);
        let node = input.number()?;
        mark(row)?;
        if node as usize >= nodes {
            return Err(KIND.corrupt("a vector equals a node that is not there"));
        }
        folded.push((row, node));
        next = row.saturating_add(1);
    }
    let stray_count = input.number()? as usize;
    if stray_count >= nodes {
        return Err(KIND.corrupt("no node can be reached"));
    }
    let mut strays = Vec::with_capacity(stray_count);
    input.ascending(stray_count, nodes, |node| {
        strays.push(node);
        Ok(())
    })?;

    let lists = input.0;
    for (length, most) in lengths(nodes, &layer_lengths) {
        for node in 0..length {
            let degree = input.number()? as usize;
            if degree > most {
                return Err(KIND.corrupt(format!("node {node} has {degree} neighbours, {most} are the most")));
            }
            input.ascending(degree, length as usize, |id| {
                if id == node { Err(KIND.corrupt("a node is its own neighbour")) } else { Ok(()) }
            })?;
        }
    }
    if !input.0.is_empty() {
        return Err(KIND.corrupt(format!("{} bytes are left over", input.0.len())));
    }
    Ok(CheckedGraph { ef_search, rows, folded, strays, layer_lengths, lists })
}

impl CheckedGraph<'_> {
    /// The graph in the words that [`super::hnsw::from_words`] reads, without a copy of the lists.
    pub(super) fn words(&self) -> impl Iterator<Item = u32> + '_ {
        let nodes = self.rows.len() as u32;
        let head = [self.ef_search, nodes].into_iter().chain(self.rows.iter().copied()).chain([nodes]);
        let mut input = Input(self.lists);
        let mut zero = Padded { left: self.rows.len() * M_ZERO, slots: M_ZERO, at: 0, degree: 0, next: 0 };
        let layers = self.layer_lengths.clone();
        let mut layer = 0;
        let mut upper: Option<Padded> = None;
        let mut announced = false;
        let body = std::iter::from_fn(move || {
            if let Some(word) = zero.next(&mut input) {
                return Some(word);
            }
            if !announced {
                announced = true;
                return Some(layers.len() as u32);
            }
            if let Some(word) = upper.as_mut().and_then(|u| u.next(&mut input)) {
                return Some(word);
            }
            let length = *layers.get(layer)?;
            layer += 1;
            upper = Some(Padded { left: length as usize * M, slots: M, at: 0, degree: 0, next: 0 });
            Some(length)
        });
        head.chain(body)
    }
}

/// Neighbour lists as arrays of `slots` words, filled up with [`INVALID`].
struct Padded {
    left: usize,
    slots: usize,
    at: usize,
    degree: u32,
    next: u32,
}

impl Padded {
    fn next(&mut self, input: &mut Input) -> Option<u32> {
        self.left = self.left.checked_sub(1)?;
        if self.at == 0 {
            (self.degree, self.next) = (input.number().ok()?, 0);
        }
        let word = if self.degree > 0 {
            self.degree -= 1;
            let id = self.next + input.number().ok()?;
            self.next = id + 1;
            id
        } else {
            INVALID
        };
        self.at = (self.at + 1) % self.slots;
        Some(word)
    }
}

/// Number of nodes and most neighbours of each layer, the zero layer first.
fn lengths(nodes: usize, layers: &[u32]) -> impl Iterator<Item = (u32, usize)> + '_ {
    std::iter::once((nodes as u32, M_ZERO)).chain(layers.iter().map(|n| (*n, M)))
}

/// Runs of nodes that have their highest layer in common: node 0 alone, the rest of the top layer, what
/// the next layer adds, and so on. Within a run nodes are in the order of their rows.
pub(super) fn bands(nodes: usize, layers: impl DoubleEndedIterator<Item = usize>) -> Vec<Range<usize>> {
    let mut start = 0;
    let mut bands = Vec::new();
    for end in std::iter::once(1).chain(layers.rev()).chain([nodes]) {
        bands.push(start..end.max(start));
        start = end.max(start);
    }
    bands
}

#[cfg(not(target_arch = "wasm32"))]
fn put_number(out: &mut Vec<u8>, mut n: u32) {
    while n >= 0x80 {
        out.push(n as u8 | 0x80);
        n >>= 7;
    }
    out.push(n as u8);
}

#[cfg(not(target_arch = "wasm32"))]
fn put_ascending(put: &mut impl FnMut(u32), ids: &[u32]) {
    let mut next = 0;
    for id in ids {
        put(id - next);
        next = id + 1;
    }
}

struct Input<'a>(&'a [u8]);

impl Input<'_> {
    #[inline]
    fn number(&mut self) -> Result<u32> {
        let mut value = 0u32;
        for shift in [0, 7, 14, 21, 28] {
            let (byte, rest) = self.0.split_first().ok_or_else(|| KIND.corrupt("it ends early"))?;
            self.0 = rest;
            // Only one spelling for each number: no bits beyond 32, no needless zero byte at the end.
            if shift == 28 && *byte > 0x0f || shift > 0 && *byte == 0 {
                break;
            }
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(KIND.corrupt("a number is not well formed"))
    }

    /// Reads `n` ascending numbers below `limit`.
    fn ascending(&mut self, n: usize, limit: usize, mut each: impl FnMut(u32) -> Result<()>) -> Result<()> {
        let mut next = 0u64;
        for _ in 0..n {
            let id = next + u64::from(self.number()?);
            if id >= limit as u64 {
                return Err(KIND.corrupt("an id is out of range"));
            }
            each(id as u32)?;
            next = id + 1;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Six vectors: five nodes, two of them in an upper layer, node 4 a stray; row 3 equals node 2.
    fn sample() -> RawGraph {
        RawGraph {
            ef_search: 10,
            rows: vec![4, 2, 0, 1, 5],
            folded: vec![(3, 2)],
            strays: vec![4],
            zero: vec![vec![1, 3], vec![0, 2], vec![1], vec![0], vec![0]],
            layers: vec![vec![vec![1], vec![0]]],
        }
    }

    #[test]
    fn the_bytes_are_as_documented() {
        let expected = [
            10, 5, 1, 2, // ef_search, nodes, upper layers, size of the layer
            4, 2, 0, 0, 3, // rows: node 0; node 1; nodes 2 to 4
            1, 3, 2, // one folded row
            1, 4, // one stray
            2, 1, 1, 2, 0, 1, 1, 1, 1, 0, 1, 0, // zero layer
            1, 1, 1, 0, // upper layer
        ];
        assert_eq!(encode(&sample()), expected);
    }

    #[test]
    fn instant_distance_gets_padded_lists() {
        let bytes = encode(&sample());
        let checked = decode(&bytes, 6).unwrap();
        assert_eq!((checked.rows.as_slice(), checked.folded.as_slice()), (&[4, 2, 0, 1, 5][..], &[(3, 2)][..]));
        assert_eq!(checked.strays, [4]);
        let padded = |ids: &[u32], slots: usize| {
            ids.iter().copied().chain(std::iter::repeat(INVALID)).take(slots).collect::<Vec<u32>>()
        };
        let mut expected = vec![10, 5, 4, 2, 0, 1, 5, 5];
        sample().zero.iter().for_each(|list| expected.extend(padded(list, M_ZERO)));
        expected.extend([1, 2]);
        sample().layers[0].iter().for_each(|list| expected.extend(padded(list, M)));
        assert_eq!(checked.words().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn every_rule_is_checked() {
        type Change = fn(&mut RawGraph);
        let changes: [(&str, Change); 13] = [
            ("ef_search of 0", |g| g.ef_search = 0),
            ("ef_search too large", |g| g.ef_search = 5000),
            ("row not there", |g| g.rows[4] = 6),
            ("row named twice", |g| g.rows[0] = 2),
            ("row missing", |g| g.folded.clear()),
            ("folded row is a node", |g| g.folded[0].0 = 5),
            ("folded into nothing", |g| g.folded[0].1 = 5),
            ("stray not there", |g| g.strays = vec![5]),
            ("all are strays", |g| g.strays = vec![0, 1, 2, 3, 4]),
            ("neighbour not there", |g| g.zero[4] = vec![5]),
            ("own neighbour", |g| g.zero[4] = vec![4]),
            ("neighbour below the layer", |g| g.layers[0][0] = vec![2]),
            ("empty layer", |g| g.layers.push(vec![])),
        ];
        for (what, change) in changes {
            let mut graph = sample();
            change(&mut graph);
            assert!(decode(&encode(&graph), 6).is_err(), "{what}");
        }
        let good = encode(&sample());
        assert!(decode(&good, 6).is_ok());
        for count in [0, 5, 7] {
            assert!(decode(&good, count).is_err(), "laid over {count} vectors");
        }
        for cut in 0..good.len() {
            assert!(decode(&good[..cut], 6).is_err(), "cut at {cut}");
        }
        assert!(decode(&[good.as_slice(), &[0]].concat(), 6).is_err(), "bytes left over");
    }

    #[test]
    fn a_number_has_one_spelling() {
        let read = |bytes: &[u8]| Input(bytes).number();
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0x0f]).unwrap(), u32::MAX);
        assert_eq!(read(&[0x80, 0x01]).unwrap(), 128);
        for bad in [&[0x80, 0x00][..], &[0xff, 0xff, 0xff, 0xff, 0x10], &[0x80], &[]] {
            assert!(read(bad).is_err(), "{bad:?}");
        }
        for n in [0, 127, 128, 16_383, 16_384, u32::MAX] {
            let mut bytes = Vec::new();
            put_number(&mut bytes, n);
            assert_eq!(read(&bytes).unwrap(), n);
        }
    }
}
