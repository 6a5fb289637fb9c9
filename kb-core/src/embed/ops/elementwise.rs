//! Functions of one element, or of two that broadcast.

use super::{Pure, broadcast, broadcast_strides, for_rows, pure_op, slice, tensor, with_mut};
use crate::embed::kernels::float;
use tract_core::internal::*;

/// A function of one element.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::embed) enum UnaryKind {
    Abs,
    Ceil,
    Cos,
    Erf,
    Exp,
    Floor,
    Log,
    Neg,
    Not,
    Reciprocal,
    Relu,
    Sigmoid,
    Sin,
    Sqrt,
    Tanh,
}

/// ONNX's operations on single f32 numbers; `Neg` and `Abs` on i64 and `Not` on bool as well.
#[derive(Clone)]
pub(in crate::embed) struct Unary(pub UnaryKind);

pure_op!(Unary, "Unary");

impl Pure for Unary {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        use UnaryKind::*;
        let ok = match self.0 {
            Not => i[0].0 == bool::datum_type(),
            Neg | Abs => [f32::datum_type(), i64::datum_type()].contains(&i[0].0),
            _ => i[0].0 == f32::datum_type(),
        };
        ensure!(ok, "an operation on single elements of type {:?}", i[0].0);
        Ok(tvec!((i[0].0, TVec::from_slice(i[0].1))))
    }

    fn compute(&self, mut inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        use UnaryKind::*;
        let mut x = inputs.remove(0).into_tensor();
        if x.datum_type() == bool::datum_type() {
            with_mut::<bool, _>(&mut x, |x| x.iter_mut().for_each(|v| *v = !*v))?;
        } else if x.datum_type() == i64::datum_type() {
            with_mut::<i64, _>(&mut x, |x| {
                for v in x {
                    *v = if self.0 == Neg { v.wrapping_neg() } else { v.wrapping_abs() };
                }
            })?;
        } else {
            let each = |x: &mut [f32], f: fn(f32) -> f32| x.iter_mut().for_each(|v| *v = f(*v));
            with_mut::<f32, _>(&mut x, |x| match self.0 {
                Abs => each(x, f32::abs),
                Ceil => each(x, libm::ceilf),
                Cos => each(x, libm::cosf),
                Erf => float::erf_all(x),
                Exp => float::exp_all(x),
                Floor => each(x, libm::floorf),
                Log => each(x, libm::logf),
                Neg | Not => each(x, |v| -v),
                Reciprocal => each(x, |v| 1.0 / v),
                Relu => each(x, |v| if v > 0.0 { v } else { 0.0 }),
                Sigmoid => {
                    each(x, |v| -v);
                    float::exp_all(x);
                    each(x, |e| 1.0 / (1.0 + e));
                }
                Sin => each(x, libm::sinf),
                Sqrt => each(x, f32::sqrt),
                Tanh => float::tanh_all(x),
            })?;
        }
        Ok(tvec!(x.into_tvalue()))
    }
}

/// A function of two elements.
#[derive(Clone, Copy, PartialEq)]
pub(in crate::embed) enum BinaryKind {
    Add,
    Sub,
    Mul,
    Div,
    Pow,
    Min,
    Max,
    Equal,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    And,
    Or,
}

/// ONNX's operations on two tensors of one type (f32, i64, i32, bool) that broadcast.
#[derive(Clone)]
pub(in crate::embed) struct Binary(pub BinaryKind);

pure_op!(Binary, "Binary");

impl BinaryKind {
    fn gives_bool(self) -> bool {
        use BinaryKind::*;
        matches!(self, Equal | Less | LessOrEqual | Greater | GreaterOrEqual | And | Or)
    }
}

impl Pure for Binary {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        ensure!(i.len() == 2 && i[0].0 == i[1].0, "two tensors of one type");
        let dt = if self.0.gives_bool() { bool::datum_type() } else { i[0].0 };
        Ok(tvec!((dt, broadcast(i[0].1, i[1].1)?)))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        use BinaryKind::*;
        let (a, b) = (&*inputs[0], &*inputs[1]);
        let dt = a.datum_type();
        let t = if dt == f32::datum_type() {
            match self.0 {
                Add => zip(a, b, |x: f32, y| x + y),
                Sub => zip(a, b, |x: f32, y| x - y),
                Mul => zip(a, b, |x: f32, y| x * y),
                Div => zip(a, b, |x: f32, y| x / y),
                Pow => zip(a, b, power),
                Min => zip(a, b, |x: f32, y| if y < x { y } else { x }),
                Max => zip(a, b, |x: f32, y| if y > x { y } else { x }),
                kind => compare::<f32>(kind, a, b),
            }
        } else if dt == i64::datum_type() {
            match self.0 {
                Add => zip(a, b, |x: i64, y: i64| x.wrapping_add(y)),
                Sub => zip(a, b, |x: i64, y: i64| x.wrapping_sub(y)),
                Mul => zip(a, b, |x: i64, y: i64| x.wrapping_mul(y)),
                Div => zip(a, b, |x: i64, y: i64| x.checked_div(y).unwrap_or(0)),
                Min => zip(a, b, |x: i64, y: i64| x.min(y)),
                Max => zip(a, b, |x: i64, y: i64| x.max(y)),
                kind => compare::<i64>(kind, a, b),
            }
        } else if dt == i32::datum_type() {
            match self.0 {
                Add => zip(a, b, |x: i32, y: i32| x.wrapping_add(y)),
                Sub => zip(a, b, |x: i32, y: i32| x.wrapping_sub(y)),
                Mul => zip(a, b, |x: i32, y: i32| x.wrapping_mul(y)),
                kind => compare::<i32>(kind, a, b),
            }
        } else if dt == bool::datum_type() {
            match self.0 {
                And => zip(a, b, |x: bool, y: bool| x & y),
                Or => zip(a, b, |x: bool, y: bool| x | y),
                kind => compare::<bool>(kind, a, b),
            }
        } else {
            bail!("an operation on two tensors of type {dt:?}")
        }?;
        Ok(tvec!(t.into_tvalue()))
    }
}

/// The powers that exports use are a square and a square root; others go through libm.
fn power(x: f32, y: f32) -> f32 {
    if y == 2.0 {
        x * x
    } else if y == 0.5 {
        x.sqrt()
    } else {
        libm::powf(x, y)
    }
}

fn compare<T: Datum + Copy + PartialOrd>(k: BinaryKind, a: &Tensor, b: &Tensor) -> TractResult<Tensor> {
    use BinaryKind::*;
    match k {
        Equal => zip(a, b, |x: T, y: T| x == y),
        Less => zip(a, b, |x: T, y: T| x < y),
        LessOrEqual => zip(a, b, |x: T, y: T| x <= y),
        Greater => zip(a, b, |x: T, y: T| x > y),
        GreaterOrEqual => zip(a, b, |x: T, y: T| x >= y),
        _ => bail!("the operation is not defined for {:?}", a.datum_type()),
    }
}

fn zip<T: Datum + Copy, R: Datum + Copy + Default>(
    a: &Tensor,
    b: &Tensor,
    f: impl Fn(T, T) -> R,
) -> TractResult<Tensor> {
    let (xs, ys) = (slice::<T>(a)?, slice::<T>(b)?);
    if a.shape() == b.shape() {
        let out: Vec<R> = xs.iter().zip(ys).map(|(x, y)| f(*x, *y)).collect();
        return tensor(a.shape(), &out);
    }
    let shape = broadcast(a.shape(), b.shape())?;
    let (sa, sb) = (broadcast_strides(a.shape(), &shape), broadcast_strides(b.shape(), &shape));
    let n = shape.last().copied().unwrap_or(1);
    let (da, db) = (sa.last().copied().unwrap_or(0), sb.last().copied().unwrap_or(0));
    let mut out = Vec::with_capacity(shape.iter().product());
    for_rows(&shape, [&sa, &sb], |[ia, ib]| match (da, db) {
        (1, 1) => out.extend(xs[ia..ia + n].iter().zip(&ys[ib..ib + n]).map(|(x, y)| f(*x, *y))),
        (1, _) => out.extend(xs[ia..ia + n].iter().map(|x| f(*x, ys[ib]))),
        _ => out.extend((0..n).map(|j| f(xs[ia + j * da], ys[ib + j * db]))),
    });
    tensor(&shape, &out)
}

/// ONNX `Where`: condition (bool), then, else, all broadcasting.
#[derive(Clone)]
pub(in crate::embed) struct Where;

pure_op!(Where, "Where");

impl Pure for Where {
    fn signature(&self, i: &[(DatumType, &[usize])]) -> TractResult<TVec<(DatumType, TVec<usize>)>> {
        ensure!(i.len() == 3 && i[0].0 == bool::datum_type() && i[1].0 == i[2].0, "Where's types");
        Ok(tvec!((i[1].0, broadcast(&broadcast(i[0].1, i[1].1)?, i[2].1)?)))
    }

    fn compute(&self, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
        let dt = inputs[1].datum_type();
        let t = if dt == f32::datum_type() {
            choose::<f32>(&inputs)
        } else if dt == i64::datum_type() {
            choose::<i64>(&inputs)
        } else if dt == bool::datum_type() {
            choose::<bool>(&inputs)
        } else {
            bail!("Where on {dt:?}")
        }?;
        Ok(tvec!(t.into_tvalue()))
    }
}

fn choose<T: Datum + Copy>(inputs: &[TValue]) -> TractResult<Tensor> {
    let (c, a, b) = (slice::<bool>(&inputs[0])?, slice::<T>(&inputs[1])?, slice::<T>(&inputs[2])?);
    let shape = broadcast(&broadcast(inputs[0].shape(), inputs[1].shape())?, inputs[2].shape())?;
    let s: TVec<TVec<usize>> = inputs.iter().map(|t| broadcast_strides(t.shape(), &shape)).collect();
    let n = shape.last().copied().unwrap_or(1);
    let step = |i: usize| s[i].last().copied().unwrap_or(0);
    let mut out = Vec::with_capacity(shape.iter().product());
    for_rows(&shape, [&s[0], &s[1], &s[2]], |[ic, ia, ib]| {
        out.extend((0..n).map(|j| if c[ic + j * step(0)] { a[ia + j * step(1)] } else { b[ib + j * step(2)] }));
    });
    tensor(&shape, &out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(op: &impl Pure, inputs: &[Tensor]) -> Tensor {
        let facts: Vec<(DatumType, &[usize])> = inputs.iter().map(|t| (t.datum_type(), t.shape())).collect();
        let signature = op.signature(&facts).unwrap();
        let out = op.compute(inputs.iter().map(|t| t.clone().into_tvalue()).collect()).unwrap();
        assert_eq!(signature[0].0, out[0].datum_type());
        assert_eq!(&*signature[0].1, out[0].shape());
        out[0].clone().into_tensor()
    }

    #[test]
    fn broadcasting_by_hand() {
        let a = tensor(&[2, 1, 2], &[1f32, 2.0, 3.0, 4.0]).unwrap();
        let b = tensor(&[3, 1], &[10f32, 20.0, 30.0]).unwrap();
        let sum = run(&Binary(BinaryKind::Add), &[a.clone(), b.clone()]);
        assert_eq!(sum.shape(), [2, 3, 2]);
        let expected = [11., 12., 21., 22., 31., 32., 13., 14., 23., 24., 33., 34.];
        assert_eq!(slice::<f32>(&sum).unwrap(), expected);
        let swapped = run(&Binary(BinaryKind::Add), &[b, a]);
        assert_eq!(slice::<f32>(&swapped).unwrap(), expected);
    }

    #[test]
    fn where_picks_by_condition() {
        let c = tensor(&[2, 1], &[true, false]).unwrap();
        let a = tensor(&[2], &[1i64, 2]).unwrap();
        let b = tensor(&[], &[9i64]).unwrap();
        assert_eq!(slice::<i64>(&run(&Where, &[c, a, b])).unwrap(), [1, 2, 9, 9]);
    }

    #[test]
    fn integers_divide_towards_zero_and_never_panic() {
        let a = tensor(&[3], &[7i64, -7, i64::MIN]).unwrap();
        let b = tensor(&[3], &[2i64, 2, 0]).unwrap();
        assert_eq!(slice::<i64>(&run(&Binary(BinaryKind::Div), &[a, b])).unwrap(), [3, -3, 0]);
    }

    #[test]
    fn sigmoid_and_tanh() {
        let x = tensor(&[3], &[0f32, 1.0, -40.0]).unwrap();
        let s = run(&Unary(UnaryKind::Sigmoid), std::slice::from_ref(&x));
        let s = slice::<f32>(&s).unwrap();
        assert!((s[0] - 0.5).abs() < 1e-7 && (s[1] - 0.731_058_6).abs() < 1e-6 && s[2] < 1e-10);
        let t = run(&Unary(UnaryKind::Tanh), &[x]);
        let t = slice::<f32>(&t).unwrap();
        assert!(t[0].abs() < 1e-7 && (t[1] - 0.761_594_2).abs() < 1e-6 && (t[2] + 1.0).abs() < 1e-7);
    }
}
