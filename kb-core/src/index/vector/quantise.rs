//! From unit vectors to 8-bit rows, and from a question's vector to 16 bits.
//!
//! Passages of one knowledge base share a large common part: with e5 two unrelated ones have a cosine
//! of 0.8. So what is quantised is the difference from the mean, where the same 255 steps are finer.
//! With centre c, row q and scale s, a passage is v ≈ c + s·q and its cosine with a question x is
//! x·c + s·(x·q).

use crate::{Error, ErrorKind, Result};

/// Largest absolute value in a row. −128 is not used, so that the range is symmetric.
const ROW_LIMIT: f64 = 127.0;

/// All rows of an index: `count × dim` numbers.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Matrix {
    pub(super) dim: usize,
    /// The mean of the vectors, `dim` numbers.
    pub(super) centre: Vec<f32>,
    /// One scale a row: 0 or more.
    pub(super) scales: Vec<f32>,
    /// Row after row.
    pub(super) rows: Vec<i8>,
}

/// A question's vector, ready to be compared with rows.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct QueryVector {
    /// The vector in steps of `scale`.
    pub(super) steps: Vec<i16>,
    pub(super) scale: f64,
    /// Its product with the centre.
    pub(super) base: f64,
}

impl Matrix {
    /// Quantises vectors of `dim` numbers, one after the other in `vectors`. They are brought to unit
    /// length first.
    pub(super) fn build(dim: usize, vectors: &[f32]) -> Result<Self> {
        let invalid = |what: String| Error::new(ErrorKind::InvalidInput, what);
        if dim == 0 || dim > super::MAX_DIM || !vectors.len().is_multiple_of(dim) {
            return Err(invalid(format!("{} numbers are not vectors of {dim}", vectors.len())));
        }
        let count = vectors.len() / dim;
        if count > super::MAX_VECTORS {
            let what = format!("{count} vectors are over the limit of {}", super::MAX_VECTORS);
            return Err(Error::new(ErrorKind::TooLarge, what));
        }
        let mut factors = Vec::with_capacity(count);
        let mut centre = vec![0f64; dim];
        for (i, vector) in vectors.chunks_exact(dim).enumerate() {
            let factor = to_unit(vector).ok_or_else(|| invalid(format!("vector {i} has no direction: it is zero or not finite")))?;
            for (sum, x) in centre.iter_mut().zip(vector) {
                *sum += f64::from(*x) * factor;
            }
            factors.push(factor);
        }
        // Rounded to f32 before use, since that is what a reader of the file will have.
        let centre: Vec<f32> = centre.iter().map(|sum| (sum / count.max(1) as f64) as f32).collect();

        let mut rows = Vec::with_capacity(vectors.len());
        let mut scales = Vec::with_capacity(count);
        let mut rest = vec![0f64; dim];
        for (vector, factor) in vectors.chunks_exact(dim).zip(factors) {
            for ((r, x), c) in rest.iter_mut().zip(vector).zip(&centre) {
                *r = f64::from(*x) * factor - f64::from(*c);
            }
            scales.push(quantise_row(&rest, &mut rows));
        }
        Ok(Self { dim, centre, scales, rows })
    }

    pub(super) fn len(&self) -> usize {
        self.scales.len()
    }

    /// Row `i`; empty if there is no such row.
    pub(super) fn row(&self, i: u32) -> &[i8] {
        let start = (i as usize).saturating_mul(self.dim);
        self.rows.get(start..start.saturating_add(self.dim)).unwrap_or_default()
    }

    pub(super) fn scale(&self, i: u32) -> f64 {
        self.scales.get(i as usize).copied().map_or(0.0, f64::from)
    }

    /// Cosine of a question and row `i`, −1 to 1.
    pub(super) fn cosine(&self, query: &QueryVector, i: u32) -> f32 {
        let dot = super::dot::dot_i8_i16(self.row(i), &query.steps);
        // Two multiplications and an addition in f64: the same on every machine.
        let cosine = query.base + self.scale(i) * query.scale * f64::from(dot);
        cosine.clamp(-1.0, 1.0) as f32
    }

    /// Prepares a question's vector. It is brought to unit length.
    ///
    /// # Errors
    /// [`ErrorKind::InvalidInput`] for another length than `dim`, and for zero, infinite or NaN values.
    pub(super) fn query(&self, vector: &[f32]) -> Result<QueryVector> {
        let invalid = |what: String| Error::new(ErrorKind::InvalidInput, what);
        if vector.len() != self.dim {
            return Err(invalid(format!("the question's vector has {} numbers, the index {}", vector.len(), self.dim)));
        }
        let factor = to_unit(vector).ok_or_else(|| invalid("the question's vector is zero or not finite".into()))?;
        let largest = vector.iter().fold(0f64, |m, x| m.max(f64::from(*x).abs())) * factor;
        let scale = largest / query_limit(self.dim);
        let steps = vector.iter().map(|x| (f64::from(*x) * factor / scale).round_ties_even() as i16);
        let base = vector.iter().zip(&self.centre).map(|(x, c)| f64::from(*x) * factor * f64::from(*c)).sum();
        Ok(QueryVector { steps: steps.collect(), scale, base })
    }

    /// Row `i` as numbers: centre plus scaled row, of about unit length.
    pub(super) fn expand(&self, i: u32) -> Vec<f32> {
        let scale = self.scale(i);
        self.row(i).iter().zip(&self.centre).map(|(q, c)| (f64::from(*c) + scale * f64::from(*q)) as f32).collect()
    }
}

/// Largest step of a 16-bit query: 127 × limit × dim must stay below 2³¹.
pub(super) fn query_limit(dim: usize) -> f64 {
    (f64::from(i32::MAX) / (ROW_LIMIT * dim as f64)).floor().min(f64::from(i16::MAX))
}

/// What `vector` must be multiplied by to have unit length; none if it has no direction.
fn to_unit(vector: &[f32]) -> Option<f64> {
    let norm = vector.iter().map(|x| f64::from(*x) * f64::from(*x)).sum::<f64>().sqrt();
    (norm.is_finite() && norm > 0.0).then(|| 1.0 / norm)
}

/// Appends `rest` to `rows` in steps of its largest value / 127, rounded to the nearest, halves to even.
/// The scale returned is not the step but ‖r‖² / r·q, which makes s·q as long as r in r's own
/// direction: so a vector has a cosine of exactly 1 with itself.
fn quantise_row(rest: &[f64], rows: &mut Vec<i8>) -> f32 {
    let largest = rest.iter().fold(0f64, |m, r| m.max(r.abs()));
    // Equal to the centre but for the rounding of the centre itself: nothing is left to say.
    if largest < 1e-7 {
        rows.extend(rest.iter().map(|_| 0));
        return 0.0;
    }
    let (mut square, mut product) = (0f64, 0f64);
    rows.extend(rest.iter().map(|r| {
        let q = (r / largest * ROW_LIMIT).round_ties_even();
        square += r * r;
        product += r * q;
        q as i8
    }));
    (square / product) as f32
}
