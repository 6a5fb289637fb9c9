//! Picking rows by index.

use super::layout::{Signature, from_bytes};
use super::{Pure, axis, pure_op, slice};
use tract_core::internal::*;

/// ONNX `Gather` along one axis. Inputs: data, indices (i64); negative indices count from the end.
#[derive(Clone)]
pub(in crate::embed) struct Gather {
    pub axis: i64,
    /// The table, when it is a constant: then the only input is the indices.
    pub table: Option<Arc<Tensor>>,
}

pure_op!(Gather, "Gather");

impl Gather {
    fn shape(&self, data: &[usize], indices: &[usize]) -> TractResult<(usize, TVec<usize>)> {
        let axis = axis(self.axis, data.len())?;
        ensure!(!data.is_empty(), "Gather from a scalar");
        let mut shape = TVec::from_slice(&data[..axis]);
        shape.extend(indices.iter().copied());
        shape.extend(data[axis + 1..].iter().copied());
        Ok((axis, shape))
    }
}

impl Pure for Gather {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> Signature {
        let (dt, data, indices) = match &self.table {
            Some(t) => (t.datum_type(), t.shape(), i[0]),
            None => (i[0].0, i[0].1, i[1]),
        };
        ensure!(indices.0 == i64::datum_type(), "Gather's indices are {:?}", indices.0);
        Ok(tvec!((dt, self.shape(data, indices.1)?.1)))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let (data, indices): (&Tensor, &Tensor) = match &self.table {
            Some(t) => (t, &inputs[0]),
            None => (&inputs[0], &inputs[1]),
        };
        let (axis, shape) = self.shape(data.shape(), indices.shape())?;
        let len = data.shape()[axis];
        let row: usize = data.shape()[axis + 1..].iter().product::<usize>() * data.datum_type().size_of();
        let outer: usize = data.shape()[..axis].iter().product();
        let bytes = data.as_bytes();
        let mut out = Vec::with_capacity(shape.iter().product::<usize>() * data.datum_type().size_of());
        for o in 0..outer {
            for i in slice::<i64>(indices)? {
                let i = if *i < 0 { i + len as i64 } else { *i };
                ensure!(i >= 0 && (i as usize) < len, "index {i} is outside of {len}");
                out.extend_from_slice(&bytes[(o * len + i as usize) * row..][..row]);
            }
        }
        Ok(tvec!(from_bytes(data.datum_type(), &shape, &out)?.into_tvalue()))
    }
}

/// ONNX `GatherND` without batch dimensions. Inputs: data, indices (i64) whose last axis holds the
/// first coordinates of what is picked.
#[derive(Clone)]
pub(in crate::embed) struct GatherNd;

pure_op!(GatherNd, "GatherND");

impl Pure for GatherNd {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> Signature {
        let (data, indices) = (i[0].1, i[1].1);
        let depth = *indices.last().context("GatherND without indices")?;
        ensure!(i[1].0 == i64::datum_type() && depth <= data.len(), "GatherND of {data:?} by {indices:?}");
        let mut shape = TVec::from_slice(&indices[..indices.len() - 1]);
        shape.extend(data[depth..].iter().copied());
        Ok(tvec!((i[0].0, shape)))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let (data, indices) = (&inputs[0], &inputs[1]);
        let facts = [(data.datum_type(), data.shape()), (indices.datum_type(), indices.shape())];
        let shape = self.signature(&facts)?.remove(0).1;
        let depth = indices.shape()[indices.rank() - 1];
        let row: usize = data.shape()[depth..].iter().product::<usize>() * data.datum_type().size_of();
        let bytes = data.as_bytes();
        let mut out = Vec::new();
        for index in slice::<i64>(indices)?.chunks_exact(depth.max(1)) {
            let mut at = 0;
            for (i, len) in index.iter().zip(data.shape()) {
                let i = if *i < 0 { i + *len as i64 } else { *i };
                ensure!(i >= 0 && (i as usize) < *len, "index {i} is outside of {len}");
                at = at * len + i as usize;
            }
            out.extend_from_slice(&bytes[at * row..][..row]);
        }
        Ok(tvec!(from_bytes(data.datum_type(), &shape, &out)?.into_tvalue()))
    }
}

/// ONNX `GatherElements`: picks along one axis, an element for each index. Inputs: data, and indices (i64) of the same
/// rank; negative indices count from the end.
#[derive(Clone)]
pub(in crate::embed) struct GatherElements(pub i64);

pure_op!(GatherElements, "GatherElements");

impl Pure for GatherElements {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> Signature {
        let (data, indices) = (i[0].1, i[1].1);
        let at = axis(self.0, data.len())?;
        let inside = indices.iter().zip(data).enumerate().all(|(d, (picked, len))| d == at || picked <= len);
        ensure!(
            i[1].0 == i64::datum_type() && !data.is_empty() && data.len() == indices.len() && inside,
            "GatherElements of {data:?} by {indices:?}"
        );
        Ok(tvec!((i[0].0, TVec::from_slice(indices))))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let (data, indices) = (&inputs[0], &inputs[1]);
        let (at, shape) = (axis(self.0, data.rank())?, indices.shape());
        let (size, len) = (data.datum_type().size_of(), data.shape()[at]);
        let bytes = data.as_bytes();
        let mut out = Vec::new();
        for (n, index) in slice::<i64>(indices)?.iter().enumerate() {
            let picked = if *index < 0 { index + len as i64 } else { *index };
            ensure!(picked >= 0 && (picked as usize) < len, "index {index} is outside of {len}");
            // The coordinates of the n-th element of the output, from the last axis to the first.
            let (mut rest, mut from, mut step) = (n, 0, 1);
            for (d, width) in shape.iter().enumerate().rev() {
                let coordinate = if d == at { picked as usize } else { rest % width };
                from += coordinate * step;
                (rest, step) = (rest / width, step * data.shape()[d]);
            }
            out.extend_from_slice(&bytes[from * size..][..size]);
        }
        Ok(tvec!(from_bytes(data.datum_type(), shape, &out)?.into_tvalue()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::tensor;
    use super::*;

    #[test]
    fn elements_are_picked_along_an_axis() {
        // Both examples of the ONNX specification.
        let picked = |axis, data: (&[usize], &[i64]), indices: (&[usize], &[i64])| {
            let inputs = [data, indices].map(|(shape, values)| tensor(shape, values).unwrap().into_tvalue());
            let y = GatherElements(axis).compute(inputs.into_iter().collect()).unwrap();
            slice::<i64>(&y[0]).unwrap().to_vec()
        };
        assert_eq!(picked(1, (&[2, 2], &[1, 2, 3, 4]), (&[2, 2], &[0, 0, 1, 0])), [1, 1, 4, 3]);
        let nine = (&[3, 3][..], &[1, 2, 3, 4, 5, 6, 7, 8, 9][..]);
        assert_eq!(picked(0, nine, (&[2, 3], &[1, 2, 0, 2, 0, 0])), [4, 8, 3, 7, 2, 3]);
        assert_eq!(picked(0, nine, (&[2, 3], &[-1, -2, 0, -2, -3, 0])), [7, 5, 3, 4, 2, 3]);
        let refused = GatherElements(1).signature(&[(i64::datum_type(), &[2, 2]), (i64::datum_type(), &[3, 1])]);
        assert!(refused.is_err());
    }

    #[test]
    fn pairs_pick_elements_and_single_coordinates_pick_rows() {
        let data = tensor(&[2, 2], &[1i64, 2, 3, 4]).unwrap().into_tvalue();
        let pairs = tensor(&[2, 2], &[0i64, 1, -1, 0]).unwrap().into_tvalue();
        let y = GatherNd.compute(tvec![data.clone(), pairs]).unwrap();
        assert_eq!((y[0].shape(), slice::<i64>(&y[0]).unwrap()), (&[2][..], &[2, 3][..]));
        let rows = tensor(&[1, 1], &[1i64]).unwrap().into_tvalue();
        let y = GatherNd.compute(tvec![data, rows]).unwrap();
        assert_eq!((y[0].shape(), slice::<i64>(&y[0]).unwrap()), (&[1, 2][..], &[3, 4][..]));
    }
}
