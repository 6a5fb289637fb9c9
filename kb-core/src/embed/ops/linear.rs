//! Products with constant weights.

use super::{Pure, pure_op, slice, with_mut};
use crate::embed::kernels::{PackedIntegers, PackedLinear};
use tract_core::internal::*;

/// `y = x Wᵀ + b` over the last axis.
#[derive(Clone)]
pub(in crate::embed) struct Linear(pub Arc<PackedLinear>);

pure_op!(Linear, "Linear");

fn last_becomes(shape: &[usize], k: usize, n: usize) -> TractResult<TVec<usize>> {
    ensure!(shape.last() == Some(&k), "the last axis of {shape:?} should be {k}");
    let mut out = TVec::from_slice(shape);
    if let Some(last) = out.last_mut() {
        *last = n;
    }
    Ok(out)
}

impl Pure for Linear {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        ensure!(i.len() == 1 && i[0].0 == f32::datum_type(), "Linear takes one f32 tensor");
        Ok(tvec!((i[0].0, last_becomes(i[0].1, self.0.k(), self.0.n())?)))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let shape = last_becomes(inputs[0].shape(), self.0.k(), self.0.n())?;
        let x = slice::<f32>(&inputs[0])?;
        let mut y = Tensor::zero::<f32>(&shape)?;
        with_mut(&mut y, |y| self.0.forward(x, y))?;
        Ok(tvec!(y.into_tvalue()))
    }
}

/// ONNX `MatMulInteger` with constant weights: exact products of 8-bit integers, as i32.
/// Inputs: activations (u8 or i8) and, if there is a second, their zero point.
#[derive(Clone)]
pub(in crate::embed) struct IntegerLinear(pub Arc<PackedIntegers>);

pure_op!(IntegerLinear, "IntegerLinear");

impl Pure for IntegerLinear {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        // 255 × 255 × 33,000 is just under 2³¹.
        ensure!(self.0.k() < 33_000, "MatMulInteger over {} inputs would overflow", self.0.k());
        Ok(tvec!((i32::datum_type(), last_becomes(i[0].1, self.0.k(), self.0.n())?)))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let zero = match inputs.get(1) {
            Some(z) => i16::try_from(integers(z)?.first().copied().unwrap_or(0))?,
            None => 0,
        };
        let x: Vec<i16> = integers(&inputs[0])?.iter().map(|v| *v as i16 - zero).collect();
        let shape = last_becomes(inputs[0].shape(), self.0.k(), self.0.n())?;
        let mut y = Tensor::zero::<i32>(&shape)?;
        with_mut(&mut y, |y| self.0.forward(&x, y))?;
        Ok(tvec!(y.into_tvalue()))
    }
}

/// The numbers of an 8-bit tensor.
pub(in crate::embed) fn integers(t: &Tensor) -> TractResult<Vec<i32>> {
    if t.datum_type() == u8::datum_type() {
        Ok(slice::<u8>(t)?.iter().map(|v| i32::from(*v)).collect())
    } else if t.datum_type() == i8::datum_type() {
        Ok(slice::<i8>(t)?.iter().map(|v| i32::from(*v)).collect())
    } else if t.datum_type() == i32::datum_type() {
        Ok(slice::<i32>(t)?.to_vec())
    } else {
        bail!("8-bit integers expected, not {:?}", t.datum_type())
    }
}
