//! Operations that move elements without computing: any element type, by its size in bytes.

use super::{Pure, axis, broadcast, broadcast_strides, for_rows, pure_op};
use tract_core::internal::*;

/// Builds a tensor from bytes that were collected in row-major order.
pub(super) fn from_bytes(dt: DatumType, shape: &[usize], bytes: &[u8]) -> TractResult<Tensor> {
    ensure!(dt.is_copy(), "elements of type {dt:?}");
    let mut t = Tensor::zero_dt(dt, shape)?;
    ensure!(t.as_bytes().len() == bytes.len(), "{} bytes for {shape:?}", bytes.len());
    t.as_bytes_mut().copy_from_slice(bytes);
    Ok(t)
}

pub(super) type Signature = TractResult<TVec<(DatumType, TVec<usize>)>>;

/// The same elements in another shape.
#[derive(Clone)]
pub(in crate::embed) struct Reshape(pub TVec<usize>);

pure_op!(Reshape, "Reshape");

impl Pure for Reshape {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> Signature {
        let (from, to): (usize, usize) = (i[0].1.iter().product(), self.0.iter().product());
        ensure!(from == to, "{:?} cannot become {:?}", i[0].1, self.0);
        Ok(tvec!((i[0].0, self.0.clone())))
    }

    fn compute(&self, mut inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        Ok(tvec!(inputs.remove(0).into_tensor().into_shape(&self.0)?.into_tvalue()))
    }
}

/// ONNX `Transpose`: axis i of the output is axis `perm[i]` of the input.
#[derive(Clone)]
pub(in crate::embed) struct Transpose(pub TVec<usize>);

pure_op!(Transpose, "Transpose");

impl Pure for Transpose {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> Signature {
        let mut seen = self.0.clone();
        seen.sort_unstable();
        ensure!(seen.iter().copied().eq(0..i[0].1.len()), "the order of axes {:?}", self.0);
        Ok(tvec!((i[0].0, self.0.iter().map(|p| i[0].1[*p]).collect())))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let x = &inputs[0];
        let size = x.datum_type().size_of();
        let natural = Tensor::natural_strides(x.shape());
        let shape: TVec<usize> = self.0.iter().map(|p| x.shape()[*p]).collect();
        let strides: TVec<usize> = self.0.iter().map(|p| natural[*p] as usize).collect();
        let (n, step) = (shape.last().copied().unwrap_or(1), strides.last().copied().unwrap_or(1));
        let bytes = x.as_bytes();
        let mut out = Vec::with_capacity(bytes.len());
        for_rows(&shape, [&strides], |[at]| {
            if step == 1 {
                out.extend_from_slice(&bytes[at * size..(at + n) * size]);
            } else {
                for j in 0..n {
                    out.extend_from_slice(&bytes[(at + j * step) * size..][..size]);
                }
            }
        });
        Ok(tvec!(from_bytes(x.datum_type(), &shape, &out)?.into_tvalue()))
    }
}

/// ONNX `Expand`: broadcast to (at least) this shape.
#[derive(Clone)]
pub(in crate::embed) struct Expand(pub TVec<usize>);

pure_op!(Expand, "Expand");

impl Pure for Expand {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> Signature {
        Ok(tvec!((i[0].0, broadcast(i[0].1, &self.0)?)))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let x = &inputs[0];
        let shape = broadcast(x.shape(), &self.0)?;
        let size = x.datum_type().size_of();
        let strides = broadcast_strides(x.shape(), &shape);
        let (n, step) = (shape.last().copied().unwrap_or(1), strides.last().copied().unwrap_or(0));
        let bytes = x.as_bytes();
        let mut out = Vec::new();
        for_rows(&shape, [&strides], |[at]| {
            for j in 0..n {
                out.extend_from_slice(&bytes[(at + j * step) * size..][..size]);
            }
        });
        Ok(tvec!(from_bytes(x.datum_type(), &shape, &out)?.into_tvalue()))
    }
}

/// ONNX `Concat`.
#[derive(Clone)]
pub(in crate::embed) struct Concat(pub i64);

pure_op!(Concat, "Concat");

impl Pure for Concat {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> Signature {
        let axis = axis(self.0, i[0].1.len())?;
        let mut shape: TVec<usize> = TVec::from_slice(i[0].1);
        ensure!(!shape.is_empty(), "Concat of scalars");
        for other in &i[1..] {
            let fits = other.0 == i[0].0
                && other.1.len() == shape.len()
                && (0..shape.len()).all(|a| a == axis || other.1[a] == shape[a]);
            ensure!(fits, "Concat of {:?} and {:?}", i[0].1, other.1);
            shape[axis] += other.1[axis];
        }
        Ok(tvec!((i[0].0, shape)))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let first = &inputs[0];
        let axis = axis(self.0, first.rank())?;
        let size = first.datum_type().size_of();
        let mut shape: TVec<usize> = TVec::from_slice(first.shape());
        shape[axis] = inputs.iter().map(|t| t.shape()[axis]).sum();
        let outer: usize = shape[..axis].iter().product();
        let mut out = Vec::new();
        for o in 0..outer {
            for t in &inputs {
                let run = t.shape()[axis..].iter().product::<usize>() * size;
                out.extend_from_slice(&t.as_bytes()[o * run..][..run]);
            }
        }
        Ok(tvec!(from_bytes(first.datum_type(), &shape, &out)?.into_tvalue()))
    }
}

/// ONNX `Slice` along one axis: elements `start, start + step, …` before `end` (already clamped by
/// the importer to `0..=len`, for a negative step to `-1..len`).
#[derive(Clone)]
pub(in crate::embed) struct Slice {
    pub axis: usize,
    pub start: i64,
    pub end: i64,
    pub step: i64,
}

pure_op!(Slice, "Slice");

impl Slice {
    fn indices(&self) -> impl Iterator<Item = usize> {
        let (mut at, end, step) = (self.start, self.end, self.step);
        std::iter::from_fn(move || {
            let more = if step > 0 { at < end } else { at > end };
            let now = at;
            at += step;
            more.then_some(now as usize)
        })
    }
}

impl Pure for Slice {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> Signature {
        ensure!(self.axis < i[0].1.len() && self.step != 0, "Slice of {:?}", i[0].1);
        let len = i[0].1[self.axis];
        ensure!(self.indices().all(|j| j < len), "Slice outside of {len}");
        let mut shape: TVec<usize> = TVec::from_slice(i[0].1);
        shape[self.axis] = self.indices().count();
        Ok(tvec!((i[0].0, shape)))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let x = &inputs[0];
        let mut shape: TVec<usize> = TVec::from_slice(x.shape());
        let len = shape[self.axis];
        shape[self.axis] = self.indices().count();
        let outer: usize = shape[..self.axis].iter().product();
        let run = shape[self.axis + 1..].iter().product::<usize>() * x.datum_type().size_of();
        let mut out = Vec::new();
        for o in 0..outer {
            for i in self.indices() {
                out.extend_from_slice(&x.as_bytes()[(o * len + i) * run..][..run]);
            }
        }
        Ok(tvec!(from_bytes(x.datum_type(), &shape, &out)?.into_tvalue()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Gather, slice, tensor};
    use super::*;

    fn run(op: &impl Pure, inputs: &[Tensor]) -> Tensor {
        let facts: Vec<(DatumType, &[usize])> = inputs.iter().map(|t| (t.datum_type(), t.shape())).collect();
        let signature = op.signature(&facts).unwrap();
        let out = op.compute(inputs.iter().map(|t| t.clone().into_tvalue()).collect()).unwrap();
        assert_eq!(&*signature[0].1, out[0].shape());
        out[0].clone().into_tensor()
    }

    fn six() -> Tensor {
        tensor(&[2, 3], &[1i64, 2, 3, 4, 5, 6]).unwrap()
    }

    #[test]
    fn by_hand() {
        let ints = |t: Tensor| slice::<i64>(&t).unwrap().to_vec();
        assert_eq!(ints(run(&Transpose(tvec![1, 0]), &[six()])), [1, 4, 2, 5, 3, 6]);
        let column = tensor(&[2, 1], &[7i64, 8]).unwrap();
        assert_eq!(ints(run(&Expand(tvec![2, 2]), std::slice::from_ref(&column))), [7, 7, 8, 8]);
        assert_eq!(ints(run(&Concat(-1), &[six(), column])), [1, 2, 3, 7, 4, 5, 6, 8]);
        let rows = tensor(&[2], &[-1i64, 0]).unwrap();
        assert_eq!(ints(run(&Gather { axis: 0, table: None }, &[six(), rows])), [4, 5, 6, 1, 2, 3]);
        let back = Slice { axis: 1, start: 2, end: -1, step: -2 };
        assert_eq!(ints(run(&back, &[six()])), [3, 1, 6, 4]);
    }

    #[test]
    fn an_index_outside_is_an_error() {
        let rows = tensor(&[1], &[2i64]).unwrap();
        let op = Gather { axis: 0, table: None };
        assert!(op.compute(tvec![six().into_tvalue(), rows.into_tvalue()]).is_err());
    }
}
