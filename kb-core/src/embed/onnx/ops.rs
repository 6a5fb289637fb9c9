//! What each ONNX operator becomes. The list covers the exports of sentence-transformers models
//! (BERT, RoBERTa, XLM-R, MPNet, DistilBERT, …), float or 8-bit, and onnxruntime's fused operators.

use super::import::{Import, Val};
use super::prepare::{Weights, columns};
use super::proto::Node;
use crate::embed::ops::*;
use tract_core::internal::*;

/// Element type of an ONNX type number.
pub(super) fn datum_type(onnx: i64) -> TractResult<DatumType> {
    Ok(match onnx {
        1 | 10 | 11 => f32::datum_type(),
        2 => u8::datum_type(),
        3 => i8::datum_type(),
        6 => i32::datum_type(),
        7 => i64::datum_type(),
        9 => bool::datum_type(),
        other => bail!("ONNX data type {other} is not supported"),
    })
}

/// The inputs of one node with what is usually asked of them.
struct Inputs<'a>(&'a [Option<Val>]);

impl Inputs<'_> {
    fn get(&self, i: usize) -> TractResult<Val> {
        self.opt(i).with_context(|| format!("input {i} is missing"))
    }

    fn opt(&self, i: usize) -> Option<Val> {
        self.0.get(i).cloned().flatten()
    }

    /// The numbers of an input that has to be known when the graph is read.
    fn ints(&self, i: usize) -> TractResult<Option<Vec<i64>>> {
        let Some(value) = self.opt(i) else { return Ok(None) };
        let t = value.known().with_context(|| format!("input {i} depends on the text"))?;
        let t = Cast(i64::datum_type()).compute(tvec![t.clone().into_tvalue()])?;
        Ok(Some(slice::<i64>(&t[0])?.to_vec()))
    }

    fn need_ints(&self, i: usize) -> TractResult<Vec<i64>> {
        self.ints(i)?.with_context(|| format!("input {i} is missing"))
    }

    fn floats(&self, i: usize) -> TractResult<Option<Arc<Vec<f32>>>> {
        let Some(value) = self.opt(i) else { return Ok(None) };
        let t = value.known().with_context(|| format!("input {i} is not a constant"))?;
        Ok(Some(Arc::new(slice::<f32>(t)?.to_vec())))
    }

    fn all(&self) -> Vec<Val> {
        self.0.iter().flatten().cloned().collect()
    }
}

/// Imports one node and gives its outputs.
pub(super) fn translate(m: &mut Import<'_>, node: &Node, inputs: &[Option<Val>]) -> TractResult<TVec<Val>> {
    let i = Inputs(inputs);
    if let Some(kind) = unary(&node.op_type) {
        return Ok(tvec!(m.apply(Unary(kind), &[i.get(0)?])?));
    }
    if let Some(kind) = binary(&node.op_type) {
        return Ok(tvec!(two(m, kind, i.get(0)?, i.get(1)?)?));
    }
    let empty = Arc::new(vec![]);
    let one = match node.op_type.as_str() {
        // Shapes and constants.
        "Constant" => known(constant(node)?, true),
        "Shape" => {
            let fixed = i.get(0)?.is_fixed();
            let shape: Vec<i64> = m.fact(&i.get(0)?)?.1.iter().map(|d| *d as i64).collect();
            let rank = shape.len() as i64;
            let bound = |v: i64| (if v < 0 { v + rank } else { v }).clamp(0, rank) as usize;
            let start = bound(node.int("start").unwrap_or(0));
            let shape = &shape[start..bound(node.int("end").unwrap_or(rank)).max(start)];
            known(Tensor::from_shape(&[shape.len()], shape)?, fixed)
        }
        "Size" => {
            let n: usize = m.fact(&i.get(0)?)?.1.iter().product();
            known(Tensor::from_shape(&[], &[n as i64])?, i.get(0)?.is_fixed())
        }
        "ConstantOfShape" => {
            let shape = dims(&i.need_ints(0)?)?;
            let value = match node.tensor("value") {
                Some(t) => t.clone().into_tensor().into_shape(&[])?,
                None => Tensor::from_shape(&[], &[0f32])?,
            };
            m.apply(Expand(shape), &[known(value, i.get(0)?.is_fixed())])?
        }
        "Range" => {
            let (a, b, step) = (i.need_ints(0)?[0], i.need_ints(1)?[0], i.need_ints(2)?[0]);
            ensure!(step != 0 && (b - a).abs() < 1 << 20, "Range from {a} to {b} by {step}");
            let n = ((b - a) as f64 / step as f64).ceil().max(0.0) as i64;
            let data: Vec<i64> = (0..n).map(|j| a + j * step).collect();
            let fixed = (0..3).all(|j| i.opt(j).is_some_and(|v| v.is_fixed()));
            let range = known(Tensor::from_shape(&[data.len()], &data)?, fixed);
            let dt = m.fact(&i.get(0)?)?.0;
            m.apply(Cast(dt), &[range])?
        }
        "Identity" | "Dropout" => i.get(0)?,
        "Cast" => {
            let to = datum_type(node.int("to").context("attribute to")?)?;
            m.apply(Cast(to), &[i.get(0)?])?
        }
        // Layout.
        "Reshape" => {
            let shape = reshape(&m.fact(&i.get(0)?)?.1, &i.need_ints(1)?, node.int("allowzero") == Some(1))?;
            m.apply(Reshape(shape), &[i.get(0)?])?
        }
        "Flatten" => {
            let shape = m.fact(&i.get(0)?)?.1;
            let at = axis(node.int("axis").unwrap_or(1), shape.len() + 1)?;
            let to = tvec!(shape[..at].iter().product(), shape[at..].iter().product());
            m.apply(Reshape(to), &[i.get(0)?])?
        }
        "Unsqueeze" => {
            let axes = axes_of(node, &i)?.context("axes are missing")?;
            let mut shape = m.fact(&i.get(0)?)?.1;
            let rank = shape.len() + axes.len();
            let mut axes = axes.iter().map(|a| axis(*a, rank)).collect::<TractResult<Vec<_>>>()?;
            axes.sort_unstable();
            for a in axes {
                ensure!(a <= shape.len(), "axes repeat");
                shape.insert(a, 1);
            }
            m.apply(Reshape(shape), &[i.get(0)?])?
        }
        "Squeeze" => {
            let shape = m.fact(&i.get(0)?)?.1;
            let drop: Vec<usize> = match axes_of(node, &i)? {
                Some(axes) => axes.iter().map(|a| axis(*a, shape.len())).collect::<TractResult<_>>()?,
                None => (0..shape.len()).filter(|a| shape[*a] == 1).collect(),
            };
            let to = (0..shape.len()).filter(|a| !drop.contains(a)).map(|a| shape[a]).collect();
            m.apply(Reshape(to), &[i.get(0)?])?
        }
        "Transpose" => {
            let rank = m.fact(&i.get(0)?)?.1.len();
            let perm = match node.ints("perm") {
                Some(p) => p.iter().map(|a| axis(*a, rank)).collect::<TractResult<_>>()?,
                None => (0..rank).rev().collect(),
            };
            m.apply(Transpose(perm), &[i.get(0)?])?
        }
        "Expand" => m.apply(Expand(dims(&i.need_ints(1)?)?), &[i.get(0)?])?,
        "Concat" => m.apply(Concat(node.int("axis").context("axis")?), &i.all())?,
        "Slice" => slices(m, node, &i)?,
        "Split" => return split(m, node, &i),
        "Gather" => {
            let at = node.int("axis").unwrap_or(0);
            let index = m.apply(Cast(i64::datum_type()), &[i.get(1)?])?;
            match i.get(0)? {
                Val::Const { tensor, fixed: true } if index.known().is_none() => {
                    m.apply(Gather { axis: at, table: Some(tensor) }, &[index])?
                }
                data => m.apply(Gather { axis: at, table: None }, &[data, index])?,
            }
        }
        "GatherElements" => {
            let index = m.apply(Cast(i64::datum_type()), &[i.get(1)?])?;
            m.apply(GatherElements(node.int("axis").unwrap_or(0)), &[i.get(0)?, index])?
        }
        "GatherND" => {
            ensure!(node.int("batch_dims").unwrap_or(0) == 0, "batch dimensions");
            let index = m.apply(Cast(i64::datum_type()), &[i.get(1)?])?;
            m.apply(GatherNd, &[i.get(0)?, index])?
        }
        "IsNaN" => m.apply(IsNan, &[i.get(0)?])?,
        "Where" => m.apply(Where, &[i.get(0)?, i.get(1)?, i.get(2)?])?,
        "CumSum" => {
            ensure!(node.int("exclusive") != Some(1) && node.int("reverse") != Some(1), "its variant");
            let rank = m.fact(&i.get(0)?)?.1.len();
            m.apply(CumSum(axis(i.need_ints(1)?[0], rank)?), &[i.get(0)?])?
        }
        // Reductions and normalisation.
        "ReduceMean" | "ReduceSum" | "ReduceMax" | "ReduceMin" | "ReduceL2" => {
            let rank = m.fact(&i.get(0)?)?.1.len();
            let mut axes: TVec<usize> = match axes_of(node, &i)? {
                Some(a) => a.iter().map(|a| axis(*a, rank)).collect::<TractResult<_>>()?,
                None => (0..rank).collect(),
            };
            axes.sort_unstable();
            let kind = match node.op_type.as_str() {
                "ReduceMean" => ReduceKind::Mean,
                "ReduceSum" => ReduceKind::Sum,
                "ReduceMax" => ReduceKind::Max,
                "ReduceMin" => ReduceKind::Min,
                _ => ReduceKind::L2,
            };
            let keep = node.int("keepdims").unwrap_or(1) != 0;
            m.apply(Reduce { kind, axes, keep }, &[i.get(0)?])?
        }
        "Softmax" => {
            let rank = m.fact(&i.get(0)?)?.1.len();
            let default = if m.prepared.opset < 13 { 1 } else { -1 };
            let at = axis(node.int("axis").unwrap_or(default), rank)?;
            ensure!(at + 1 == rank, "softmax over axis {at} of {rank}");
            m.apply(Softmax, &[i.get(0)?])?
        }
        "LayerNormalization" => {
            let rank = m.fact(&i.get(0)?)?.1.len();
            ensure!(axis(node.int("axis").unwrap_or(-1), rank)? + 1 == rank, "its axis");
            let op = LayerNorm {
                gamma: i.floats(1)?.context("scale")?,
                beta: i.floats(2)?.unwrap_or_else(|| empty.clone()),
                bias: empty,
                epsilon: node.float("epsilon").unwrap_or(1e-5),
            };
            m.apply(op, &[i.get(0)?])?
        }
        "SkipLayerNormalization" => {
            let op = LayerNorm {
                gamma: i.floats(2)?.context("gamma")?,
                beta: i.floats(3)?.unwrap_or_else(|| empty.clone()),
                bias: i.floats(4)?.unwrap_or(empty),
                epsilon: node.float("epsilon").unwrap_or(1e-12),
            };
            m.apply(op, &[i.get(0)?, i.get(1)?])?
        }
        "Gelu" => {
            ensure!(node.text("approximate").unwrap_or("none") == "none", "the tanh form");
            m.apply(Gelu { bias: empty }, &[i.get(0)?])?
        }
        "BiasGelu" => m.apply(Gelu { bias: i.floats(1)?.context("bias")? }, &[i.get(0)?])?,
        "MultiHeadAttention" => {
            ensure!(i.opt(3).is_none() && (5..8).all(|j| i.opt(j).is_none()), "only a key mask");
            let heads = node.int("num_heads").and_then(|h| usize::try_from(h).ok());
            let op = MultiHeadAttention {
                heads: heads.context("num_heads")?,
                scale: node.float("scale").filter(|s| *s != 0.0),
            };
            let mut inputs = vec![i.get(0)?, i.get(1)?, i.get(2)?];
            inputs.extend(i.opt(4));
            m.apply(op, &inputs)?
        }
        // Matrix products.
        "MatMul" | "MatMulNBits" => matmul(m, &i)?,
        "Gemm" => gemm(m, node, &i)?,
        "MatMulInteger" => match m.prepared.weights.get(&m.at) {
            Some(Weights::Integer(w)) => {
                let op = IntegerLinear(Arc::clone(w));
                let mut inputs = vec![i.get(0)?];
                inputs.extend(i.opt(2));
                m.apply(op, &inputs)?
            }
            _ => bail!("only constant weights are supported"),
        },
        "DynamicQuantizeLinear" => return m.apply_all(DynamicQuantize, &[i.get(0)?]),
        "DequantizeLinear" => m.apply(Dequantize { axis: node.int("axis").unwrap_or(1) }, &i.all())?,
        other => bail!("the operator {other} is not supported"),
    };
    Ok(tvec!(one))
}

fn unary(op_type: &str) -> Option<UnaryKind> {
    use UnaryKind::*;
    Some(match op_type {
        "Abs" => Abs,
        "Ceil" => Ceil,
        "Cos" => Cos,
        "Erf" => Erf,
        "Exp" => Exp,
        "Floor" => Floor,
        "Log" => Log,
        "Neg" => Neg,
        "Not" => Not,
        "Reciprocal" => Reciprocal,
        "Relu" => Relu,
        "Sigmoid" => Sigmoid,
        "Sin" => Sin,
        "Sqrt" => Sqrt,
        "Tanh" => Tanh,
        _ => return None,
    })
}

fn binary(op_type: &str) -> Option<BinaryKind> {
    use BinaryKind::*;
    Some(match op_type {
        "Add" => Add,
        "Sub" => Sub,
        "Mul" => Mul,
        "Div" => Div,
        "Pow" => Pow,
        "Min" => Min,
        "Max" => Max,
        "Equal" => Equal,
        "Less" => Less,
        "LessOrEqual" => LessOrEqual,
        "Greater" => Greater,
        "GreaterOrEqual" => GreaterOrEqual,
        "And" => And,
        "Or" => Or,
        _ => return None,
    })
}

/// An operation on two tensors. A bias along the last axis goes into the operation itself.
fn two(m: &mut Import<'_>, kind: BinaryKind, a: Val, b: Val) -> TractResult<Val> {
    let (dt, _) = m.fact(&a)?;
    let b = if kind == BinaryKind::Pow { m.apply(Cast(dt), &[b])? } else { b };
    if kind == BinaryKind::Add {
        for (x, bias) in [(&a, &b), (&b, &a)] {
            let (Val::Wire(_), Some(t)) = (x, bias.known()) else { continue };
            let (dt, shape) = m.fact(x)?;
            if dt == f32::datum_type() && t.rank() == 1 && !t.shape().contains(&0) && shape.last() == Some(&t.volume())
            {
                let bias = Arc::new(slice::<f32>(t)?.to_vec());
                return m.apply(AddBias(bias), std::slice::from_ref(x));
            }
        }
    }
    m.apply(Binary(kind), &[a, b])
}

fn known(tensor: Tensor, fixed: bool) -> Val {
    Val::Const { tensor: tensor.into_arc_tensor(), fixed }
}

fn constant(node: &Node) -> TractResult<Tensor> {
    if let Some(t) = node.tensor("value") {
        return Ok(t.clone().into_tensor());
    }
    if let Some(i) = node.int("value_int") {
        return Tensor::from_shape(&[], &[i]);
    }
    if let Some(f) = node.float("value_float") {
        return Tensor::from_shape(&[], &[f]);
    }
    if let Some(v) = node.ints("value_ints") {
        return Tensor::from_shape(&[v.len()], v);
    }
    bail!("a constant of this kind is not supported")
}

fn dims(shape: &[i64]) -> TractResult<TVec<usize>> {
    // -1 in Expand means one, which broadcasts to whatever is there.
    let dims: TVec<usize> = shape.iter().map(|d| if *d == -1 { 1 } else { (*d).max(0) as usize }).collect();
    let n = dims.iter().try_fold(1usize, |a, d| a.checked_mul(*d));
    ensure!(n.is_some_and(|n| n < 1 << 28), "a tensor of shape {shape:?} is too large");
    Ok(dims)
}

/// The shape that ONNX `Reshape` means: 0 keeps an axis, -1 takes what is left.
fn reshape(from: &[usize], to: &[i64], allow_zero: bool) -> TractResult<TVec<usize>> {
    let total: usize = from.iter().product();
    let mut shape: TVec<usize> = tvec![];
    for (i, d) in to.iter().enumerate() {
        shape.push(match *d {
            0 if !allow_zero => *from.get(i).context("a 0 past the rank")?,
            -1 => 1,
            d => usize::try_from(d).context("a negative dimension")?,
        });
    }
    if let Some(at) = to.iter().position(|d| *d == -1) {
        let others: usize = shape.iter().product();
        ensure!(others > 0 && total.is_multiple_of(others), "{from:?} as {to:?}");
        shape[at] = total / others;
    }
    Ok(shape)
}

/// Axes from the attribute (older operator sets) or the second input.
fn axes_of(node: &Node, i: &Inputs<'_>) -> TractResult<Option<Vec<i64>>> {
    match node.ints("axes") {
        Some(a) => Ok(Some(a.to_vec())),
        None => i.ints(1),
    }
}

fn slices(m: &mut Import<'_>, node: &Node, i: &Inputs<'_>) -> TractResult<Val> {
    let list = |name: &str, at: usize| match node.ints(name) {
        Some(v) => Ok(Some(v.to_vec())),
        None => i.ints(at),
    };
    let starts = list("starts", 1)?.context("starts")?;
    let ends = list("ends", 2)?.context("ends")?;
    let axes = list("axes", 3)?.unwrap_or_else(|| (0..starts.len() as i64).collect());
    let steps = i.ints(4)?.unwrap_or_else(|| vec![1; starts.len()]);
    ensure!(ends.len() == starts.len() && axes.len() == starts.len() && steps.len() == starts.len(), "lengths");
    let mut value = i.get(0)?;
    for j in 0..starts.len() {
        let shape = m.fact(&value)?.1;
        let at = axis(axes[j], shape.len())?;
        let len = shape[at] as i64;
        let absolute = |v: i64| if v < 0 { v.saturating_add(len) } else { v };
        let step = steps[j];
        ensure!(step != 0, "a step of 0");
        let (start, end) = if step > 0 {
            (absolute(starts[j]).clamp(0, len), absolute(ends[j]).clamp(0, len))
        } else {
            (absolute(starts[j]).clamp(-1, len - 1), absolute(ends[j]).clamp(-1, len - 1))
        };
        if (start, end, step) != (0, len, 1) {
            value = m.apply(Slice { axis: at, start, end, step }, &[value])?;
        }
    }
    Ok(value)
}

fn split(m: &mut Import<'_>, node: &Node, i: &Inputs<'_>) -> TractResult<TVec<Val>> {
    let shape = m.fact(&i.get(0)?)?.1;
    let at = axis(node.int("axis").unwrap_or(0), shape.len())?;
    let len = *shape.get(at).context("Split of a scalar")? as i64;
    let parts = node.outputs.len() as i64;
    let sizes = match node.ints("split") {
        Some(v) => v.to_vec(),
        None => match i.ints(1)? {
            Some(v) => v,
            None => {
                let each = (len + parts - 1) / parts.max(1);
                (0..parts).map(|p| each.min(len - p * each)).collect()
            }
        },
    };
    let mut start = 0;
    let mut outputs = tvec![];
    for size in sizes {
        ensure!(size >= 0 && start + size <= len, "the parts of {len}");
        let op = Slice { axis: at, start, end: start + size, step: 1 };
        outputs.push(m.apply(op, &[i.get(0)?])?);
        start += size;
    }
    Ok(outputs)
}

fn matmul(m: &mut Import<'_>, i: &Inputs<'_>) -> TractResult<Val> {
    if let Some(Weights::Float(w)) = m.prepared.weights.get(&m.at) {
        return m.apply(Linear(Arc::clone(w)), &[i.get(0)?]);
    }
    // Weights that follow from constants (dequantised, transposed) are packed once as well.
    let (a, b) = (i.get(0)?, i.get(1)?);
    if let Val::Const { tensor, fixed: true } = &b
        && tensor.rank() == 2
        && a.known().is_none()
    {
        let packed = Arc::new(columns(tensor)?);
        m.findings.packed.push((m.at, Arc::clone(&packed)));
        return m.apply(Linear(packed), &[a]);
    }
    m.apply(MatMul, &[a, b])
}

fn gemm(m: &mut Import<'_>, node: &Node, i: &Inputs<'_>) -> TractResult<Val> {
    let one = |name: &str| node.float(name).unwrap_or(1.0) == 1.0;
    ensure!(one("alpha") && one("beta"), "factors other than 1");
    let flip = |m: &mut Import<'_>, name: &str, v: Val| {
        if node.int(name) == Some(1) { m.apply(Transpose(tvec![1, 0]), &[v]) } else { Ok(v) }
    };
    let a = flip(m, "transA", i.get(0)?)?;
    let b = flip(m, "transB", i.get(1)?)?;
    let product = m.apply(MatMul, &[a, b])?;
    match i.opt(2) {
        Some(c) => two(m, BinaryKind::Add, product, c),
        None => Ok(product),
    }
}
