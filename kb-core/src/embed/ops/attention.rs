//! `com.microsoft` MultiHeadAttention for encoders.

use super::{Pure, pure_op, slice, with_mut};
use crate::embed::kernels::attention::Attention;
use tract_core::internal::*;

/// Attention of every token to every kept one. Inputs: query, key, value `[batch, tokens, width]`
/// and, if there is a fourth, a mask of i32 `[batch, keys]` with 1 for tokens to keep.
#[derive(Clone)]
pub(in crate::embed) struct MultiHeadAttention {
    pub heads: usize,
    /// 1/√head_dim if not given.
    pub scale: Option<f32>,
}

pure_op!(MultiHeadAttention, "MultiHeadAttention");

impl Pure for MultiHeadAttention {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        ensure!(i.len() == 3 || i.len() == 4, "MultiHeadAttention takes 3 or 4 inputs");
        let (q, k, v) = (i[0].1, i[1].1, i[2].1);
        ensure!(q.len() == 3 && k == v && k.len() == 3, "attention of {q:?}, {k:?}, {v:?}");
        ensure!(q[0] == k[0] && q[2] == k[2], "attention of {q:?} to {k:?}");
        ensure!(self.heads > 0 && q[2] % self.heads == 0, "{} heads over {}", self.heads, q[2]);
        if let Some(mask) = i.get(3) {
            ensure!(mask.1 == [k[0], k[1]] && mask.0 == i32::datum_type(), "a mask of {:?}", mask.1);
        }
        Ok(tvec!((f32::datum_type(), TVec::from_slice(q))))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let shape = inputs[0].shape();
        let (batch, width, keys) = (shape[0], shape[2], inputs[1].shape()[1]);
        let (q, k, v) = (slice::<f32>(&inputs[0])?, slice::<f32>(&inputs[1])?, slice::<f32>(&inputs[2])?);
        let keep: Vec<bool> = match inputs.get(3) {
            Some(m) => slice::<i32>(m)?.iter().map(|m| *m != 0).collect(),
            None => vec![true; batch * keys],
        };
        let scale = self.scale.unwrap_or_else(|| 1.0 / ((width / self.heads) as f32).sqrt());
        let mut y = Tensor::zero::<f32>(shape)?;
        with_mut(&mut y, |y: &mut [f32]| {
            let (nq, nk) = (shape[1] * width, keys * width);
            for b in 0..batch {
                Attention {
                    q: &q[b * nq..][..nq],
                    k: &k[b * nk..][..nk],
                    v: &v[b * nk..][..nk],
                    keep: &keep[b * keys..][..keys],
                    heads: self.heads,
                    scale,
                }
                .run(&mut y[b * nq..][..nq]);
            }
        })?;
        Ok(tvec!(y.into_tvalue()))
    }
}
