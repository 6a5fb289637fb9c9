//! What of a model stays in memory: its nodes, its small constants, and its weights packed for the
//! kernels. The file's bytes are not needed afterwards.

use super::import::Findings;
use super::proto::{Graph, Node, RawTensor};
use super::wire::damaged;
use crate::embed::kernels::{PackedIntegers, PackedLinear};
use crate::{Error, ErrorKind, Result};
use std::collections::{HashMap, HashSet};
use tract_core::internal::*;

/// Packed weights of one node.
#[derive(Clone)]
pub(super) enum Weights {
    Float(Arc<PackedLinear>),
    Integer(Arc<PackedIntegers>),
}

/// A model ready to be imported for any input length.
pub(super) struct Prepared {
    pub nodes: Vec<Node>,
    pub constants: HashMap<String, Arc<Tensor>>,
    /// By index of the node.
    pub weights: HashMap<usize, Weights>,
    pub inputs: Vec<(String, i64)>,
    pub output: String,
    pub opset: i64,
}

impl Prepared {
    pub(super) fn new(graph: Graph<'_>) -> Result<Self> {
        let mut weights = HashMap::new();
        let mut kept: HashSet<&str> = HashSet::new();
        for (i, node) in graph.nodes.iter().enumerate() {
            let packed = pack(node, &graph.initializers)?;
            let used = if packed.is_some() { 1 } else { node.inputs.len() };
            kept.extend(node.inputs[..used.min(node.inputs.len())].iter().map(String::as_str));
            // The zero point of the activations is an input at run time.
            if matches!(packed, Some(Weights::Integer(_))) {
                kept.extend(node.inputs.get(2).map(String::as_str));
            }
            if let Some(packed) = packed {
                weights.insert(i, packed);
            }
        }
        let constants = graph
            .initializers
            .iter()
            .filter(|(name, _)| kept.contains(name.as_str()))
            .map(|(name, raw)| Ok((name.clone(), raw.to_tensor()?.into_arc_tensor())))
            .collect::<Result<HashMap<_, _>>>()?;
        let wanted = ["last_hidden_state", "token_embeddings", "sentence_embedding"];
        let output = wanted
            .iter()
            .find_map(|w| graph.outputs.iter().find(|o| o == w))
            .or(graph.outputs.first())
            .ok_or_else(|| damaged("it has no output"))?
            .clone();
        drop(kept);
        Ok(Self { nodes: graph.nodes, constants, weights, inputs: graph.inputs, output, opset: graph.opset })
    }
}

impl Prepared {
    /// Whether the model has an input that says which of two texts a token belongs to.
    pub(super) fn tells_texts_apart(&self) -> bool {
        self.inputs.iter().any(|(name, _)| name == "token_type_ids")
    }

    /// After a first import: puts its folded results among the constants, drops the nodes that gave
    /// them, and then the constants that nothing asks for any more.
    pub(super) fn keep_only_what_depends_on_the_text(&mut self, findings: Findings) {
        for (at, packed) in findings.packed {
            self.weights.insert(at, Weights::Float(packed));
        }
        let folded: HashMap<String, Arc<Tensor>> = findings.folded.into_iter().collect();
        let mut weights = HashMap::new();
        let mut used: HashSet<String> = HashSet::from([self.output.clone()]);
        let mut kept = Vec::new();
        for (at, node) in std::mem::take(&mut self.nodes).into_iter().enumerate() {
            if node.outputs.len() == 1 && folded.contains_key(&node.outputs[0]) {
                continue;
            }
            match self.weights.remove(&at) {
                Some(packed) => {
                    used.extend(node.inputs.first().cloned());
                    if matches!(packed, Weights::Integer(_)) {
                        used.extend(node.inputs.get(2).cloned());
                    }
                    weights.insert(kept.len(), packed);
                }
                None => used.extend(node.inputs.iter().cloned()),
            }
            kept.push(node);
        }
        self.nodes = kept;
        self.weights = weights;
        self.constants.extend(folded);
        self.constants.retain(|name, _| used.contains(name));
    }
}

fn unsupported(node: &Node, what: &str) -> Error {
    let name = node.outputs.first().map_or("", String::as_str);
    Error::new(ErrorKind::Model, format!("{} `{name}`: {what}", node.op_type))
}

/// The weights of a node that multiplies by a constant matrix, read from the file.
fn pack(node: &Node, constants: &HashMap<String, RawTensor<'_>>) -> Result<Option<Weights>> {
    let input = |i: usize| node.inputs.get(i).filter(|n| !n.is_empty()).map(|n| (n, constants.get(n.as_str())));
    match node.op_type.as_str() {
        "MatMulNBits" => {
            let constant = |i: usize| match input(i) {
                Some((_, Some(raw))) => Ok(Some(raw)),
                Some((name, None)) => Err(unsupported(node, &format!("`{name}` is not a constant"))),
                None => Ok(None),
            };
            if node.inputs.get(4).is_some_and(|g| !g.is_empty()) {
                return Err(unsupported(node, "group indices are not supported"));
            }
            let (Some(blocks), Some(scales)) = (constant(1)?, constant(2)?) else {
                return Err(unsupported(node, "weights and scales are missing"));
            };
            four_bits(node, blocks, scales, constant(3)?, constant(5)?).map(Some)
        }
        "MatMul" => match input(1) {
            Some((_, Some(raw))) if raw.dims.len() == 2 && [1, 10].contains(&raw.data_type) => {
                let t = raw.to_tensor()?;
                let packed = columns(&t).map_err(|e| damaged(&e.to_string()))?;
                Ok(Some(Weights::Float(Arc::new(packed))))
            }
            _ => Ok(None),
        },
        "MatMulInteger" => match (input(1), input(3)) {
            (Some((_, Some(raw))), None | Some((_, Some(_)))) if raw.dims.len() == 2 => {
                let zero = input(3).and_then(|z| z.1).map(RawTensor::to_tensor).transpose()?;
                integers(&raw.to_tensor()?, zero.as_ref()).map(Some).map_err(|e| damaged(&e.to_string()))
            }
            _ => Ok(None),
        },
        _ => Ok(None),
    }
}

/// Packs a constant `[k, n]` matrix of f32.
pub(super) fn columns(t: &Tensor) -> TractResult<PackedLinear> {
    let [k, n] = *t.shape() else { bail!("a matrix expected, not {:?}", t.shape()) };
    let data = t.try_as_plain_ram()?.as_slice::<f32>()?;
    Ok(PackedLinear::pack(n, k, vec![], |o, row| {
        for (i, w) in row.iter_mut().enumerate() {
            *w = data[i * n + o];
        }
    }))
}

fn integers(t: &Tensor, zero: Option<&Tensor>) -> TractResult<Weights> {
    let [k, n] = *t.shape() else { bail!("a matrix expected, not {:?}", t.shape()) };
    let data = crate::embed::ops::integers(t)?;
    let zeros = zero.map(crate::embed::ops::integers).transpose()?.unwrap_or_else(|| vec![0]);
    ensure!(zeros.len() == 1 || zeros.len() == n, "{} zero points for {n} outputs", zeros.len());
    Ok(Weights::Integer(Arc::new(PackedIntegers::pack(n, k, |o, row| {
        for (i, w) in row.iter_mut().enumerate() {
            *w = (data[i * n + o] - zeros[o % zeros.len()]) as i16;
        }
    }))))
}

/// `com.microsoft` MatMulNBits with 4 bits: for each output, blocks along k of nibbles in
/// consecutive pairs, low first; weight = (nibble - zero point) · scale, the zero point 8 if none is
/// given.
fn four_bits(
    node: &Node,
    blocks: &RawTensor<'_>,
    scales: &RawTensor<'_>,
    zeros: Option<&RawTensor<'_>>,
    bias: Option<&RawTensor<'_>>,
) -> Result<Weights> {
    let size = |name: &str| {
        node.int(name)
            .and_then(|v| usize::try_from(v).ok())
            .filter(|v| (1..=1 << 20).contains(v))
            .ok_or_else(|| unsupported(node, &format!("attribute {name}")))
    };
    let (k, n, block) = (size("K")?, size("N")?, size("block_size")?);
    if node.int("bits").unwrap_or(4) != 4 || !block.is_multiple_of(2) {
        return Err(unsupported(node, "only 4-bit weights are supported"));
    }
    let per_row = k.div_ceil(block);
    let bytes = blocks.raw_of(1)?;
    let floats = |raw: &RawTensor<'_>, expected: usize| -> Result<Vec<f32>> {
        let t = raw.to_tensor()?;
        let data = t
            .try_as_plain_ram()
            .and_then(|t| t.as_slice::<f32>().map(<[f32]>::to_vec))
            .map_err(|_| damaged("floats expected"))?;
        if data.len() != expected {
            return Err(damaged(&format!("`{}` has {} numbers, not {expected}", raw.name, data.len())));
        }
        Ok(data)
    };
    let scales = floats(scales, n * per_row)?;
    let bias = bias.map(|b| floats(b, n)).transpose()?.unwrap_or_default();
    if bytes.len() != n * per_row * block / 2 {
        return Err(damaged(&format!("`{}` has {} bytes", blocks.name, bytes.len())));
    }
    let zeros = zeros.map(|z| z.raw_of(1)).transpose()?;
    let zeros_per_row = per_row.div_ceil(2);
    if zeros.is_some_and(|z| z.len() != n * zeros_per_row) {
        return Err(damaged("the zero points' size"));
    }
    let nibble = |byte: u8, i: usize| if i.is_multiple_of(2) { byte & 15 } else { byte >> 4 };
    let packed = PackedLinear::pack(n, k, bias, |o, row| {
        for (b, part) in row.chunks_mut(block).enumerate() {
            let scale = scales[o * per_row + b];
            let zero = zeros.map_or(8, |z| nibble(z[o * zeros_per_row + b / 2], b));
            let codes = &bytes[(o * per_row + b) * block / 2..][..block / 2];
            for (i, w) in part.iter_mut().enumerate() {
                *w = (f32::from(nibble(codes[i / 2], i)) - f32::from(zero)) * scale;
            }
        }
    });
    Ok(Weights::Float(Arc::new(packed)))
}
