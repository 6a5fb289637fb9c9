//! The operations that run on tract's plan. Each is a pure function of its input tensors with a
//! declared output type and shape; shapes are always concrete (see `onnx`).
//!
//! tract has operations of its own for most of these. They are not used, because each pulls in
//! tract's symbolic rewriting and its kernels for every type (several megabytes of WebAssembly),
//! and because the arithmetic must be the same, bit for bit, natively and in the browser.

mod attention;
mod cast;
mod elementwise;
mod gather;
mod layout;
mod linear;
mod matmul;
mod norm;
mod quant;
mod reduce;

pub(super) use attention::MultiHeadAttention;
pub(super) use cast::{Cast, IsNan};
pub(super) use elementwise::{Binary, BinaryKind, Unary, UnaryKind, Where};
pub(super) use gather::{Gather, GatherElements, GatherNd};
pub(super) use layout::{Concat, Expand, Reshape, Slice, Transpose};
pub(super) use linear::{IntegerLinear, Linear, integers};
pub(super) use matmul::MatMul;
pub(super) use norm::{AddBias, Gelu, LayerNorm, Softmax};
pub(super) use quant::{Dequantize, DynamicQuantize};
pub(super) use reduce::{CumSum, Reduce, ReduceKind};

use tract_core::internal::*;

/// What an operation has to say for itself; `pure_op!` makes it one of tract's.
pub(super) trait Pure {
    /// Type and shape of each output, from those of the inputs.
    fn signature(&self, inputs: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>>;
    /// The outputs.
    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>>;
}

/// Type and shape of what an operation would give.
pub(super) fn facts_of(op: &impl Pure, inputs: &[&TypedFact]) -> TractResult<TVec<TypedFact>> {
    let shapes: TVec<TVec<usize>> = inputs
        .iter()
        .map(|f| {
            let shape = f.shape.as_concrete().context("a shape is not known")?;
            Ok(TVec::from_slice(shape))
        })
        .collect::<TractResult<_>>()?;
    let views: TVec<(DatumType, &[usize])> = inputs.iter().zip(&shapes).map(|(f, s)| (f.datum_type, &**s)).collect();
    Ok(op.signature(&views)?.into_iter().map(|(dt, shape)| dt.fact(&shape)).collect())
}

macro_rules! pure_op {
    ($op:ty, $name:literal) => {
        // Two operations are never merged, so equality may always say no.
        impl PartialEq for $op {
            fn eq(&self, _: &Self) -> bool {
                false
            }
        }
        impl Eq for $op {}
        impl std::fmt::Debug for $op {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str($name)
            }
        }
        impl Op for $op {
            fn name(&self) -> StaticName {
                $name.into()
            }
            op_as_typed_op!();
        }
        impl EvalOp for $op {
            op_out_of_plan!();
            fn eval(&self, _: &EvalContext, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
                $crate::embed::ops::Pure::compute(self, inputs)
            }
        }
        impl TypedOp for $op {
            as_op!();
            fn output_facts(&self, inputs: &[&TypedFact]) -> TractResult<TVec<TypedFact>> {
                $crate::embed::ops::facts_of(self, inputs)
            }
        }
    };
}
pub(super) use pure_op;

/// A tensor's numbers.
pub(super) fn slice<T: Datum>(t: &Tensor) -> TractResult<&[T]> {
    t.try_as_plain_ram()?.as_slice::<T>()
}

/// A tensor's numbers, to write to.
pub(super) fn with_mut<T: Datum, R>(t: &mut Tensor, f: impl FnOnce(&mut [T]) -> R) -> TractResult<R> {
    Ok(f(t.try_as_plain_ram_mut()?.as_slice_mut::<T>()?))
}

/// A new tensor of `shape` with `data`.
pub(super) fn tensor<T: Datum + Copy>(shape: &[usize], data: &[T]) -> TractResult<Tensor> {
    Tensor::from_shape(shape, data)
}

/// An axis that may count from the end, as an index; an error outside of the rank.
pub(super) fn axis(axis: i64, rank: usize) -> TractResult<usize> {
    let a = if axis < 0 { axis + rank as i64 } else { axis };
    ensure!(a >= 0 && (a as usize) < rank.max(1), "axis {axis} is outside of rank {rank}");
    Ok(a as usize)
}

/// The shape that two shapes broadcast to (NumPy's rule).
pub(super) fn broadcast(a: &[usize], b: &[usize]) -> TractResult<TVec<usize>> {
    let rank = a.len().max(b.len());
    let at = |s: &[usize], i: usize| (i + s.len()).checked_sub(rank).map_or(1, |j| s[j]);
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (x, y) if x == y => Ok(x),
            (1, y) => Ok(y),
            (x, 1) => Ok(x),
            _ => bail!("shapes {a:?} and {b:?} do not broadcast"),
        })
        .collect()
}

/// Element strides of `shape` seen as `target`; 0 along what is repeated.
pub(super) fn broadcast_strides(shape: &[usize], target: &[usize]) -> TVec<usize> {
    let mut strides: TVec<usize> = tvec![0; target.len()];
    let mut step = 1;
    for (i, d) in shape.iter().enumerate().rev() {
        let at = i + target.len() - shape.len();
        strides[at] = if *d == 1 { 0 } else { step };
        step *= d;
    }
    strides
}

/// Calls `f` with the offset of every run of the last axis, in row-major order of `shape`, for
/// operands with the given strides.
pub(super) fn for_rows<const N: usize>(shape: &[usize], strides: [&[usize]; N], mut f: impl FnMut([usize; N])) {
    let outer = &shape[..shape.len().saturating_sub(1)];
    if shape.contains(&0) {
        return;
    }
    let mut index: TVec<usize> = tvec![0; outer.len()];
    let mut at = [0usize; N];
    loop {
        f(at);
        let mut axis = outer.len();
        loop {
            if axis == 0 {
                return;
            }
            axis -= 1;
            index[axis] += 1;
            for (at, s) in at.iter_mut().zip(&strides) {
                *at += s[axis];
            }
            if index[axis] < outer[axis] {
                break;
            }
            for (at, s) in at.iter_mut().zip(&strides) {
                *at -= s[axis] * outer[axis];
            }
            index[axis] = 0;
        }
    }
}
