//! How rows become points of instant-distance 0.6.1, and how a graph of ours becomes its `Hnsw`.
//!
//! Its fields are private and its only other constructor builds from scratch, so a stored graph goes in
//! through its serde interface: a stream of words, read by the small deserializer here. Nothing in it
//! checks ids or lengths; [`super::graph_wire`] has done that before.

use super::dot::dot_i8;
use super::quantise::{Matrix, QueryVector};
use instant_distance::Hnsw;
use serde::de::{DeserializeSeed, Deserializer, Error as _, SeqAccess, Visitor, value::Error as WordsError};
use serde::{Deserialize, Serialize, Serializer, forward_to_deserialize_any};
use std::sync::{Arc, OnceLock};

/// The rows that points refer to, so that every vector is in memory once.
#[derive(Debug)]
pub(super) struct Space {
    pub(super) matrix: Arc<Matrix>,
    /// c·c of the centre.
    centre_square: f64,
    /// s·(c·q) of each row.
    along: Vec<f32>,
}

impl Space {
    pub(super) fn new(matrix: Arc<Matrix>) -> Self {
        let along = |i: u32| {
            let product: f64 =
                matrix.row(i).iter().zip(&matrix.centre).map(|(q, c)| f64::from(*q) * f64::from(*c)).sum();
            (matrix.scale(i) * product) as f32
        };
        let along = (0..matrix.len() as u32).map(along).collect();
        let centre_square = matrix.centre.iter().map(|c| f64::from(*c) * f64::from(*c)).sum();
        Self { matrix, centre_square, along }
    }

    /// 1 − cosine of two rows: (a·c + s·q)·(a'·c + s'·q') multiplied out.
    fn between(&self, i: u32, j: u32) -> f32 {
        let m = &self.matrix;
        let along = |row: u32| self.along.get(row as usize).copied().map_or(0.0, f64::from);
        let (a, b) = (m.share(i), m.share(j));
        let rows = m.scale(i) * m.scale(j) * f64::from(dot_i8(m.row(i), m.row(j)));
        (1.0 - (a * b * self.centre_square + a * along(j) + b * along(i) + rows)) as f32
    }
}

/// A point of the graph, or a question.
#[derive(Clone)]
pub(super) enum Point {
    /// A row. Points that come out of a file get their space after they are made.
    Row { row: u32, space: OnceLock<Arc<Space>> },
    /// What is searched for.
    Query { query: Arc<QueryVector>, space: Arc<Space> },
}

#[cfg(not(target_arch = "wasm32"))]
impl Point {
    pub(super) fn row(row: u32, space: &Arc<Space>) -> Self {
        Self::Row { row, space: OnceLock::from(space.clone()) }
    }
}

impl instant_distance::Point for Point {
    fn distance(&self, other: &Self) -> f32 {
        match (self, other) {
            (Self::Query { query, space }, Self::Row { row, .. })
            | (Self::Row { row, .. }, Self::Query { query, space }) => 1.0 - space.matrix.cosine(query, *row),
            (Self::Row { row, space }, Self::Row { row: other, .. }) => {
                space.get().map_or(f32::MAX, |space| space.between(*row, *other))
            }
            (Self::Query { .. }, Self::Query { .. }) => 0.0,
        }
    }
}

impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Row { row, .. } => serializer.serialize_u32(*row),
            Self::Query { .. } => Err(serde::ser::Error::custom("a question is not part of a graph")),
        }
    }
}

impl<'de> Deserialize<'de> for Point {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::Row { row: u32::deserialize(deserializer)?, space: OnceLock::new() })
    }
}

/// An `Hnsw` from the words of a checked graph, in the order of its fields: ef_search; the number of
/// points and their rows; the number of nodes in the zero layer and 64 ids each; the number of upper
/// layers, and for each its number of nodes and 32 ids each.
pub(super) fn from_words(words: impl Iterator<Item = u32>, space: &Arc<Space>) -> Result<Hnsw<Point>, WordsError> {
    let hnsw = Hnsw::<Point>::deserialize(&mut Words(words))?;
    for (_, point) in hnsw.iter() {
        if let Point::Row { space: place, .. } = point {
            // Empty until now, so it cannot be refused.
            let _ = place.set(space.clone());
        }
    }
    Ok(hnsw)
}

/// Reads values from a stream of words. A sequence begins with its length; a tuple and a struct do not.
struct Words<I>(I);

impl<I: Iterator<Item = u32>> Words<I> {
    fn next(&mut self) -> Result<u32, WordsError> {
        self.0.next().ok_or_else(|| WordsError::custom("the graph ends early"))
    }
}

impl<'de, I: Iterator<Item = u32>> Deserializer<'de> for &mut Words<I> {
    type Error = WordsError;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, WordsError> {
        Err(WordsError::custom("instant-distance has other fields than version 0.6.1"))
    }

    fn deserialize_u32<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WordsError> {
        visitor.visit_u32(self.next()?)
    }

    // `usize` asks for 64 bits.
    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WordsError> {
        visitor.visit_u32(self.next()?)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, WordsError> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, WordsError> {
        let left = self.next()? as usize;
        visitor.visit_seq(Elements { words: self, left })
    }

    fn deserialize_tuple<V: Visitor<'de>>(self, left: usize, visitor: V) -> Result<V::Value, WordsError> {
        visitor.visit_seq(Elements { words: self, left })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, WordsError> {
        visitor.visit_seq(Elements { words: self, left: fields.len() })
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u128 f32 f64 char str string bytes byte_buf option unit
        unit_struct tuple_struct map enum identifier ignored_any
    }
}

struct Elements<'w, I> {
    words: &'w mut Words<I>,
    left: usize,
}

impl<'de, I: Iterator<Item = u32>> SeqAccess<'de> for Elements<'_, I> {
    type Error = WordsError;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, WordsError> {
        if self.left == 0 {
            return Ok(None);
        }
        self.left -= 1;
        seed.deserialize(&mut *self.words).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.left)
    }
}
