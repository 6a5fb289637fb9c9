//! The payload of section `vectors`: fixed-width numbers, little endian. Encoder and decoder side by side.
//!
//! u32 dim, u32 count, f32 × dim centre, f32 × count shares, f32 × count scales, i8 × count × dim rows.

use super::quantise::Matrix;
use super::{MAX_DIM, MAX_VECTORS};
use crate::bundle::SectionKind;
use crate::{ErrorKind, Result};

const KIND: SectionKind = SectionKind::Vectors;

/// No share is further from 0, see the bounds on least squares in `quantise`. Keeps every product finite.
const MAX_SHARE: f32 = 1e5;

pub(super) fn encode(matrix: &Matrix) -> Vec<u8> {
    let mut out = Vec::with_capacity(8 + 4 * (matrix.dim + 2 * matrix.len()) + matrix.rows.len());
    out.extend_from_slice(&(matrix.dim as u32).to_le_bytes());
    out.extend_from_slice(&(matrix.len() as u32).to_le_bytes());
    for x in matrix.centre.iter().chain(&matrix.shares).chain(&matrix.scales) {
        out.extend_from_slice(&x.to_le_bytes());
    }
    out.extend(matrix.rows.iter().map(|q| *q as u8));
    out
}

pub(super) fn decode(payload: &[u8]) -> Result<Matrix> {
    let short = || KIND.corrupt("it ends within its header");
    let (dim, rest) = payload.split_first_chunk::<4>().ok_or_else(short)?;
    let (count, rest) = rest.split_first_chunk::<4>().ok_or_else(short)?;
    let (dim, count) = (u32::from_le_bytes(*dim) as usize, u32::from_le_bytes(*count) as usize);
    if dim > MAX_DIM || count > MAX_VECTORS {
        return Err(KIND.error(ErrorKind::TooLarge, format!("declares {count} vectors of {dim} numbers")));
    }
    // Both are capped, so the products fit in 64 bits.
    let expected = 4 * (dim as u64 + 2 * count as u64) + dim as u64 * count as u64;
    if dim == 0 || rest.len() as u64 != expected {
        return Err(
            KIND.corrupt(format!("{count} vectors of {dim} numbers take {expected} bytes, there are {}", rest.len()))
        );
    }
    let (centre, rest) = rest.split_at(4 * dim);
    let (shares, rest) = rest.split_at(4 * count);
    let (scales, rows) = rest.split_at(4 * count);
    let floats = |bytes: &[u8]| bytes.as_chunks::<4>().0.iter().map(|b| f32::from_le_bytes(*b)).collect::<Vec<f32>>();
    let (centre, shares, scales) = (floats(centre), floats(shares), floats(scales));
    let within = |numbers: &[f32], most: f32| numbers.iter().all(|x| x.abs() <= most);
    if !within(&centre, 1.0) || !within(&shares, MAX_SHARE) || !within(&scales, 1.0) {
        return Err(KIND.corrupt("the centre, a share or a scale is out of range"));
    }
    let rows: Vec<i8> = rows.iter().map(|q| *q as i8).collect();
    // −128 is never written, and would break the bound that keeps a dot product in 32 bits.
    if rows.contains(&i8::MIN) {
        return Err(KIND.corrupt("a row has a value that is never written"));
    }
    Ok(Matrix { dim, centre, shares, scales, rows })
}
