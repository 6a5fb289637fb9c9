//! Sums, means and extremes over axes.

use super::{Pure, pure_op, slice, tensor};
use crate::embed::kernels::float;
use tract_core::internal::*;

/// What is taken over the axes.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::embed) enum ReduceKind {
    Mean,
    Sum,
    Max,
    Min,
    /// Euclidean length.
    L2,
}

/// ONNX `ReduceMean` and its kin on f32 tensors.
#[derive(Clone)]
pub(in crate::embed) struct Reduce {
    pub kind: ReduceKind,
    /// Sorted, inside the rank.
    pub axes: TVec<usize>,
    /// Whether reduced axes stay with length one.
    pub keep: bool,
}

pure_op!(Reduce, "Reduce");

impl Pure for Reduce {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        ensure!(i[0].0 == f32::datum_type(), "a reduction of {:?}", i[0].0);
        ensure!(self.axes.iter().all(|a| *a < i[0].1.len()), "axes outside of {:?}", i[0].1);
        let shape = i[0]
            .1
            .iter()
            .enumerate()
            .filter(|(a, _)| self.keep || !self.axes.contains(a))
            .map(|(a, d)| if self.axes.contains(&a) { 1 } else { *d })
            .collect();
        Ok(tvec!((i[0].0, shape)))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let x = &inputs[0];
        let rank = x.rank();
        let out_shape = self.signature(&[(x.datum_type(), x.shape())])?.remove(0).1;
        // Bring the reduced axes to the end; then every result is one run.
        let mut order: TVec<usize> = (0..rank).filter(|a| !self.axes.contains(a)).collect();
        let kept = order.len();
        order.extend(self.axes.iter().copied());
        let moved;
        let data = if order.iter().copied().eq(0..rank) {
            slice::<f32>(x)?
        } else {
            moved = super::Transpose(order.clone()).compute(tvec![x.clone()])?.remove(0);
            slice::<f32>(&moved)?
        };
        let run: usize = order[kept..].iter().map(|a| x.shape()[*a]).product();
        let results = out_shape.iter().product::<usize>();
        let mut out = Vec::with_capacity(results);
        for r in 0..results {
            let run = &data[r * run..(r + 1) * run];
            out.push(match self.kind {
                ReduceKind::Sum => float::sum(run),
                ReduceKind::Mean => float::sum(run) / run.len() as f32,
                ReduceKind::Max => run.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b)),
                ReduceKind::Min => run.iter().fold(f32::INFINITY, |a, b| a.min(*b)),
                ReduceKind::L2 => float::sum(&run.iter().map(|v| v * v).collect::<Vec<_>>()).sqrt(),
            });
        }
        Ok(tvec!(tensor(&out_shape, &out)?.into_tvalue()))
    }
}

/// ONNX `CumSum` on i64 or i32 along one axis (inclusive, forward).
#[derive(Clone)]
pub(in crate::embed) struct CumSum(pub usize);

pure_op!(CumSum, "CumSum");

impl Pure for CumSum {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        ensure!(self.0 < i[0].1.len(), "CumSum's axis");
        ensure!([i64::datum_type(), i32::datum_type()].contains(&i[0].0), "CumSum of {:?}", i[0].0);
        Ok(tvec!((i[0].0, TVec::from_slice(i[0].1))))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        fn sums<T: Datum + Copy + num_traits::WrappingAdd>(t: &Tensor, axis: usize) -> TractResult<Tensor> {
            let mut data = slice::<T>(t)?.to_vec();
            let inner: usize = t.shape()[axis + 1..].iter().product();
            let block = inner * t.shape()[axis];
            for block in data.chunks_exact_mut(block.max(1)) {
                for i in inner..block.len() {
                    block[i] = block[i].wrapping_add(&block[i - inner]);
                }
            }
            tensor(t.shape(), &data)
        }
        let x = &inputs[0];
        let t = if x.datum_type() == i64::datum_type() { sums::<i64>(x, self.0) } else { sums::<i32>(x, self.0) }?;
        Ok(tvec!(t.into_tvalue()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn over_a_middle_axis() {
        let x = tensor(&[2, 2, 2], &[1f32, 2., 3., 4., 5., 6., 7., 8.]).unwrap();
        let op = Reduce { kind: ReduceKind::Mean, axes: tvec![1], keep: false };
        let y = op.compute(tvec![x.into_tvalue()]).unwrap();
        assert_eq!(slice::<f32>(&y[0]).unwrap(), [2., 3., 6., 7.]);
    }

    #[test]
    fn running_sums() {
        let x = tensor(&[2, 3], &[1i64, 1, 0, 1, 1, 1]).unwrap();
        let y = CumSum(1).compute(tvec![x.into_tvalue()]).unwrap();
        assert_eq!(slice::<i64>(&y[0]).unwrap(), [1, 2, 2, 1, 2, 3]);
    }
}
