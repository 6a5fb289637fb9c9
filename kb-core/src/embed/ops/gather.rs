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

#[cfg(test)]
mod tests {
    use super::super::tensor;
    use super::*;

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
