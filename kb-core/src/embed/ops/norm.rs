//! Normalisation, softmax, GELU and biases, all over the last axis and in place where they can.

use super::{Pure, pure_op, with_mut};
use crate::embed::kernels::float;
use tract_core::internal::*;

/// Layer normalisation over the last axis; with more than one input, of their sum
/// (`com.microsoft` SkipLayerNormalization).
#[derive(Clone)]
pub(in crate::embed) struct LayerNorm {
    pub gamma: Arc<Vec<f32>>,
    /// As long as gamma, or empty.
    pub beta: Arc<Vec<f32>>,
    /// Added before the normalisation: as long as gamma, or empty.
    pub bias: Arc<Vec<f32>>,
    pub epsilon: f32,
}

pure_op!(LayerNorm, "LayerNorm");

fn same(i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
    ensure!(i.iter().all(|x| x.0 == f32::datum_type() && x.1 == i[0].1), "f32 tensors of one shape");
    Ok(tvec!((i[0].0, TVec::from_slice(i[0].1))))
}

impl Pure for LayerNorm {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        let n = self.gamma.len();
        ensure!(n > 0 && i[0].1.last() == Some(&n), "LayerNorm of {n} over {:?}", i[0].1);
        ensure!(self.beta.is_empty() || self.beta.len() == n, "beta's length");
        ensure!(self.bias.is_empty() || self.bias.len() == n, "the bias's length");
        same(i)
    }

    fn compute(&self, mut inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let mut x = inputs.remove(0).into_tensor();
        for other in &inputs {
            let other = super::slice::<f32>(other)?;
            with_mut(&mut x, |x| float::add(x, other))?;
        }
        with_mut(&mut x, |x| {
            if !self.bias.is_empty() {
                float::add_rows(x, &self.bias);
            }
            float::layer_norm(x, &self.gamma, &self.beta, self.epsilon);
        })?;
        Ok(tvec!(x.into_tvalue()))
    }
}

/// GELU with the error function, after adding a bias if there is one.
#[derive(Clone)]
pub(in crate::embed) struct Gelu {
    pub bias: Arc<Vec<f32>>,
}

pure_op!(Gelu, "Gelu");

impl Pure for Gelu {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        let n = self.bias.len();
        ensure!(n == 0 || i[0].1.last() == Some(&n), "a bias of {n} on {:?}", i[0].1);
        same(i)
    }

    fn compute(&self, mut inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let mut x = inputs.remove(0).into_tensor();
        with_mut(&mut x, |x| {
            if !self.bias.is_empty() {
                float::add_rows(x, &self.bias);
            }
            float::gelu(x);
        })?;
        Ok(tvec!(x.into_tvalue()))
    }
}

/// Adds a constant vector along the last axis.
#[derive(Clone)]
pub(in crate::embed) struct AddBias(pub Arc<Vec<f32>>);

pure_op!(AddBias, "AddBias");

impl Pure for AddBias {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        ensure!(!self.0.is_empty() && i[0].1.last() == Some(&self.0.len()), "a bias on {:?}", i[0].1);
        same(i)
    }

    fn compute(&self, mut inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let mut x = inputs.remove(0).into_tensor();
        with_mut(&mut x, |x| float::add_rows(x, &self.0))?;
        Ok(tvec!(x.into_tvalue()))
    }
}

/// Softmax over the last axis.
#[derive(Clone)]
pub(in crate::embed) struct Softmax;

pure_op!(Softmax, "Softmax");

impl Pure for Softmax {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        ensure!(!i[0].1.is_empty(), "Softmax of a scalar");
        same(i)
    }

    fn compute(&self, mut inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let mut x = inputs.remove(0).into_tensor();
        let n = x.shape().last().copied().unwrap_or(1).max(1);
        with_mut(&mut x, |x| float::softmax_rows(x, n))?;
        Ok(tvec!(x.into_tvalue()))
    }
}
