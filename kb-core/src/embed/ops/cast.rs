//! From one element type to another.

use super::{Pure, pure_op, slice, tensor};
use tract_core::internal::*;

/// ONNX `Cast` among f32, i64, i32, u8, i8 and bool. Floats are cut towards zero and saturate.
#[derive(Clone)]
pub(in crate::embed) struct Cast(pub DatumType);

pure_op!(Cast, "Cast");

impl Pure for Cast {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        Ok(tvec!((self.0, TVec::from_slice(i[0].1))))
    }

    fn compute(&self, mut inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let x = inputs.remove(0);
        if x.datum_type() == self.0 {
            return Ok(tvec!(x));
        }
        let (from, shape) = (x.datum_type(), x.shape());
        let t = if from == f32::datum_type() {
            let x = slice::<f32>(&x)?;
            self.write(shape, x, |v| v, |v| v as i64, |v| v != 0.0)
        } else if from == i64::datum_type() {
            self.write(shape, slice::<i64>(&x)?, |v| v as f32, |v| v, |v| v != 0)
        } else if from == i32::datum_type() {
            self.write(shape, slice::<i32>(&x)?, |v| v as f32, i64::from, |v| v != 0)
        } else if from == u8::datum_type() {
            self.write(shape, slice::<u8>(&x)?, f32::from, i64::from, |v| v != 0)
        } else if from == i8::datum_type() {
            self.write(shape, slice::<i8>(&x)?, f32::from, i64::from, |v| v != 0)
        } else if from == bool::datum_type() {
            self.write(shape, slice::<bool>(&x)?, |v| f32::from(u8::from(v)), i64::from, |v| v)
        } else {
            bail!("Cast from {from:?}")
        }?;
        Ok(tvec!(t.into_tvalue()))
    }
}

impl Cast {
    fn write<T: Copy>(
        &self,
        shape: &[usize],
        x: &[T],
        float: impl Fn(T) -> f32,
        int: impl Fn(T) -> i64,
        truth: impl Fn(T) -> bool,
    ) -> TractResult<Tensor> {
        fn all<T: Copy, R: Datum + Copy>(s: &[usize], x: &[T], f: impl Fn(T) -> R) -> TractResult<Tensor> {
            tensor(s, &x.iter().map(|v| f(*v)).collect::<Vec<R>>())
        }
        if self.0 == f32::datum_type() {
            all(shape, x, float)
        } else if self.0 == i64::datum_type() {
            all(shape, x, int)
        } else if self.0 == i32::datum_type() {
            all(shape, x, |v| int(v) as i32)
        } else if self.0 == u8::datum_type() {
            all(shape, x, |v| int(v) as u8)
        } else if self.0 == i8::datum_type() {
            all(shape, x, |v| int(v) as i8)
        } else if self.0 == bool::datum_type() {
            all(shape, x, truth)
        } else {
            bail!("Cast to {:?}", self.0)
        }
    }
}

/// ONNX `IsNaN` of f32 numbers.
#[derive(Clone)]
pub(in crate::embed) struct IsNan;

pure_op!(IsNan, "IsNan");

impl Pure for IsNan {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        ensure!(i[0].0 == f32::datum_type(), "IsNaN of {:?}", i[0].0);
        Ok(tvec!((bool::datum_type(), TVec::from_slice(i[0].1))))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let nan: Vec<bool> = slice::<f32>(&inputs[0])?.iter().map(|v| v.is_nan()).collect();
        Ok(tvec!(tensor(inputs[0].shape(), &nan)?.into_tvalue()))
    }
}
