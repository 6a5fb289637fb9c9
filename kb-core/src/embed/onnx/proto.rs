//! The parts of an ONNX model that an encoder needs, read without copying weights.
//! Field numbers are those of `onnx.proto3` (ONNX IR version 3 to 10).

use super::wire::{Fields, Value, damaged};
use crate::{Error, ErrorKind, Result};
use std::collections::HashMap;
use tract_core::internal::*;

/// A graph as it lies in the file.
#[derive(Debug, Default)]
pub(super) struct Graph<'a> {
    pub nodes: Vec<Node>,
    pub initializers: HashMap<String, RawTensor<'a>>,
    /// Names and ONNX element types of the inputs that are not initializers.
    pub inputs: Vec<(String, i64)>,
    pub outputs: Vec<String>,
    /// Version of the default operator set.
    pub opset: i64,
}

/// One operation.
#[derive(Debug, Default)]
pub(super) struct Node {
    pub op_type: String,
    pub inputs: Vec<String>,
    pub outputs: Vec<String>,
    pub attributes: HashMap<String, Attribute>,
}

/// An attribute's value; graphs and sparse tensors are not read.
#[derive(Debug)]
pub(super) enum Attribute {
    Int(i64),
    Float(f32),
    Text(String),
    Ints(Vec<i64>),
    Tensor(Arc<Tensor>),
    Other,
}

/// A constant: its bytes are still in the file.
#[derive(Debug, Default, Clone)]
pub(super) struct RawTensor<'a> {
    pub name: String,
    pub dims: Vec<usize>,
    pub data_type: i64,
    pub raw: Option<&'a [u8]>,
    ints: Vec<i64>,
    floats: Vec<f32>,
    external: bool,
}

impl Node {
    pub fn int(&self, name: &str) -> Option<i64> {
        match self.attributes.get(name) {
            Some(Attribute::Int(i)) => Some(*i),
            _ => None,
        }
    }

    pub fn float(&self, name: &str) -> Option<f32> {
        match self.attributes.get(name) {
            Some(Attribute::Float(f)) => Some(*f),
            _ => None,
        }
    }

    pub fn ints(&self, name: &str) -> Option<&[i64]> {
        match self.attributes.get(name) {
            Some(Attribute::Ints(v)) => Some(v),
            _ => None,
        }
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        match self.attributes.get(name) {
            Some(Attribute::Text(s)) => Some(s),
            _ => None,
        }
    }

    pub fn tensor(&self, name: &str) -> Option<&Arc<Tensor>> {
        match self.attributes.get(name) {
            Some(Attribute::Tensor(t)) => Some(t),
            _ => None,
        }
    }
}

/// Reads a ModelProto.
pub(super) fn read_model(bytes: &[u8]) -> Result<Graph<'_>> {
    let mut graph = None;
    let mut opset = 0;
    let mut fields = Fields(bytes);
    while let Some((field, value)) = fields.next()? {
        match field {
            7 => graph = Some(read_graph(value.bytes()?)?),
            8 => {
                let (mut domain, mut version) = (String::new(), 0);
                let mut set = Fields(value.bytes()?);
                while let Some((field, value)) = set.next()? {
                    match field {
                        1 => domain = value.string()?,
                        2 => version = value.int()?,
                        _ => {}
                    }
                }
                if domain.is_empty() || domain == "ai.onnx" {
                    opset = version;
                }
            }
            _ => {}
        }
    }
    let mut graph = graph.ok_or_else(|| damaged("it holds no graph"))?;
    graph.opset = opset;
    Ok(graph)
}

fn read_graph(bytes: &[u8]) -> Result<Graph<'_>> {
    let mut graph = Graph::default();
    let mut fields = Fields(bytes);
    while let Some((field, value)) = fields.next()? {
        match field {
            1 => graph.nodes.push(read_node(value.bytes()?)?),
            5 => {
                let tensor = read_tensor(value.bytes()?)?;
                graph.initializers.insert(tensor.name.clone(), tensor);
            }
            11 => graph.inputs.push(read_value_info(value.bytes()?)?),
            12 => graph.outputs.push(read_value_info(value.bytes()?)?.0),
            _ => {}
        }
    }
    let initializers = &graph.initializers;
    graph.inputs.retain(|(name, _)| !initializers.contains_key(name));
    Ok(graph)
}

/// A value's name and element type (0 where it has none).
fn read_value_info(bytes: &[u8]) -> Result<(String, i64)> {
    let (mut name, mut element) = (String::new(), 0);
    let mut fields = Fields(bytes);
    while let Some((field, value)) = fields.next()? {
        match field {
            1 => name = value.string()?,
            // TypeProto.tensor_type.elem_type
            2 => {
                let mut kind = Fields(value.bytes()?);
                while let Some((field, value)) = kind.next()? {
                    if field == 1 {
                        let mut tensor = Fields(value.bytes()?);
                        while let Some((field, value)) = tensor.next()? {
                            if field == 1 {
                                element = value.int()?;
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }
    Ok((name, element))
}

fn read_node(bytes: &[u8]) -> Result<Node> {
    let mut node = Node::default();
    let mut fields = Fields(bytes);
    while let Some((field, value)) = fields.next()? {
        match field {
            1 => node.inputs.push(value.string()?),
            2 => node.outputs.push(value.string()?),
            4 => node.op_type = value.string()?,
            5 => {
                let (name, attribute) = read_attribute(value.bytes()?)?;
                node.attributes.insert(name, attribute);
            }
            _ => {}
        }
    }
    Ok(node)
}

fn read_attribute(bytes: &[u8]) -> Result<(String, Attribute)> {
    let mut name = String::new();
    let mut kind = 0;
    let (mut int, mut float, mut text, mut tensor) = (0, 0f32, String::new(), None);
    let mut ints = Vec::new();
    let mut fields = Fields(bytes);
    while let Some((field, value)) = fields.next()? {
        match (field, value) {
            (1, _) => name = value.string()?,
            (2, _) => float = value.float()?,
            (3, _) => int = value.int()?,
            (4, Value::Bytes(b)) => text = String::from_utf8_lossy(b).into_owned(),
            (5, _) => tensor = Some(read_tensor(value.bytes()?)?.to_tensor()?.into_arc_tensor()),
            (8, _) => value.ints(&mut ints)?,
            (20, _) => kind = value.int()?,
            _ => {}
        }
    }
    let attribute = match kind {
        1 => Attribute::Float(float),
        2 => Attribute::Int(int),
        3 => Attribute::Text(text),
        4 => tensor.map_or(Attribute::Other, Attribute::Tensor),
        7 => Attribute::Ints(ints),
        _ => Attribute::Other,
    };
    Ok((name, attribute))
}

fn read_tensor(bytes: &[u8]) -> Result<RawTensor<'_>> {
    let mut tensor = RawTensor::default();
    let mut dims = Vec::new();
    let mut fields = Fields(bytes);
    while let Some((field, value)) = fields.next()? {
        match field {
            1 => value.ints(&mut dims)?,
            2 => tensor.data_type = value.int()?,
            4 => value.floats(&mut tensor.floats)?,
            5 | 7 | 11 => value.ints(&mut tensor.ints)?,
            8 => tensor.name = value.string()?,
            9 => tensor.raw = Some(value.bytes()?),
            14 => tensor.external = value.int()? == 1,
            _ => {}
        }
    }
    tensor.dims = dims
        .into_iter()
        .map(|d| usize::try_from(d).map_err(|_| damaged("a negative dimension")))
        .collect::<Result<_>>()?;
    Ok(tensor)
}

impl RawTensor<'_> {
    /// Number of elements, checked against overflow.
    pub fn elements(&self) -> Result<usize> {
        self.dims.iter().try_fold(1usize, |a, d| a.checked_mul(*d)).ok_or_else(|| damaged("a tensor's size"))
    }

    /// The raw bytes, whose length is checked to be `elements * size`.
    pub fn raw_of(&self, size: usize) -> Result<&[u8]> {
        let expected = self.elements()?.checked_mul(size);
        match self.raw {
            Some(raw) if Some(raw.len()) == expected => Ok(raw),
            _ if self.external => Err(Error::new(
                ErrorKind::Model,
                "the model keeps its weights in a second file; export it as a single model.onnx",
            )),
            _ => Err(damaged(&format!("the data of `{}` has not the declared size", self.name))),
        }
    }

    /// Makes a tensor of it. 16-bit floats become 32-bit ones.
    pub fn to_tensor(&self) -> Result<Tensor> {
        let tensor = match self.data_type {
            1 => self.numbers(4, &self.floats, |b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            2 => self.numbers(1, &self.cast(|i| i as u8), |b| b[0]),
            3 => self.numbers(1, &self.cast(|i| i as i8), |b| b[0] as i8),
            6 => self.numbers(4, &self.cast(|i| i as i32), |b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])),
            7 => self.numbers(8, &self.ints, |b| i64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]])),
            9 => self.numbers(1, &self.cast(|i| i != 0), |b| b[0] != 0),
            10 => self.numbers(2, &self.cast(|i| half(i as u16)), |b| half(u16::from_le_bytes([b[0], b[1]]))),
            11 => self.numbers(8, &[], |b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]) as f32),
            t => {
                return Err(Error::new(
                    ErrorKind::Model,
                    format!("tensor `{}` has ONNX data type {t}, which is not supported", self.name),
                ));
            }
        }?;
        Ok(tensor)
    }

    fn cast<T>(&self, f: impl Fn(i64) -> T) -> Vec<T> {
        self.ints.iter().map(|i| f(*i)).collect()
    }

    fn numbers<T: Datum + Copy>(&self, size: usize, listed: &[T], read: impl Fn(&[u8]) -> T) -> Result<Tensor> {
        let n = self.elements()?;
        let from_raw;
        let data = if self.raw.is_none() && listed.len() == n && !self.external {
            listed
        } else {
            from_raw = self.raw_of(size)?.chunks_exact(size).map(read).collect::<Vec<T>>();
            &from_raw
        };
        Tensor::from_shape(&self.dims, data).map_err(|e| damaged(&e.to_string()))
    }
}

/// IEEE 754 half precision to single.
pub(super) fn half(bits: u16) -> f32 {
    f16::from_bits(bits).to_f32()
}
