//! Products of two computed matrices.

use super::{Pure, broadcast, broadcast_strides, pure_op, slice, with_mut};
use crate::embed::kernels::float::{LANES, multiversion};
use tract_core::internal::*;

/// ONNX `MatMul` of f32 tensors: NumPy's rules for leading axes.
#[derive(Clone)]
pub(in crate::embed) struct MatMul;

pure_op!(MatMul, "MatMul");

struct Dims {
    m: usize,
    k: usize,
    n: usize,
    batch: TVec<usize>,
    shape: TVec<usize>,
}

fn dims(a: &[usize], b: &[usize]) -> TractResult<Dims> {
    ensure!(!a.is_empty() && !b.is_empty(), "MatMul of a scalar");
    let (row, column) = (a.len() == 1, b.len() == 1);
    let (m, k) = if row { (1, a[0]) } else { (a[a.len() - 2], a[a.len() - 1]) };
    let (k2, n) = if column { (b[0], 1) } else { (b[b.len() - 2], b[b.len() - 1]) };
    ensure!(k == k2, "MatMul of {a:?} and {b:?}");
    let lead = |s: &[usize]| TVec::from_slice(&s[..s.len().saturating_sub(2)]);
    let batch = broadcast(&lead(a), &lead(b))?;
    let mut shape = batch.clone();
    if !row {
        shape.push(m);
    }
    if !column {
        shape.push(n);
    }
    Ok(Dims { m, k, n, batch, shape })
}

impl Pure for MatMul {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        ensure!(i.iter().all(|i| i.0 == f32::datum_type()), "MatMul takes f32 tensors");
        Ok(tvec!((f32::datum_type(), dims(i[0].1, i[1].1)?.shape)))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let d = dims(inputs[0].shape(), inputs[1].shape())?;
        let (a, b) = (slice::<f32>(&inputs[0])?, slice::<f32>(&inputs[1])?);
        let lead = |t: &Tensor| TVec::from_slice(&t.shape()[..t.rank().saturating_sub(2)]);
        // Strides in whole matrices, with a last axis of one so that every matrix is a row.
        let mut batch = d.batch.clone();
        batch.push(1);
        let strides = |t: &Tensor| {
            let mut s = broadcast_strides(&lead(t), &d.batch);
            s.push(0);
            s
        };
        let (sa, sb) = (strides(&inputs[0]), strides(&inputs[1]));
        let mut y = Tensor::zero::<f32>(&d.shape)?;
        with_mut(&mut y, |y| {
            let mut out = y.chunks_exact_mut((d.m * d.n).max(1));
            super::for_rows(&batch, [&sa, &sb], |[ia, ib]| {
                if let Some(out) = out.next() {
                    product(&a[ia * d.m * d.k..], &b[ib * d.k * d.n..], out, d.k, d.n);
                }
            });
        })?;
        Ok(tvec!(y.into_tvalue()))
    }
}

multiversion! {
    /// `out = a b` for row-major `a` (rows of `k`) and `b` (`k` rows of `n`).
    fn product(a: &[f32], b: &[f32], out: &mut [f32], k: usize, n: usize) {
        for (row, out) in out.chunks_exact_mut(n.max(1)).enumerate() {
            let a = &a[row * k..][..k];
            for (block, out) in out.chunks_mut(LANES).enumerate() {
                let mut acc = [0f32; LANES];
                if out.len() == LANES {
                    for (a, b) in a.iter().zip(b.chunks_exact(n)) {
                        for (s, b) in acc.iter_mut().zip(&b[block * LANES..][..LANES]) {
                            *s += a * b;
                        }
                    }
                } else {
                    for (a, b) in a.iter().zip(b.chunks_exact(n)) {
                        for (s, b) in acc.iter_mut().zip(&b[block * LANES..]) {
                            *s += a * b;
                        }
                    }
                }
                out.copy_from_slice(&acc[..out.len()]);
            }
        }
    }
}
