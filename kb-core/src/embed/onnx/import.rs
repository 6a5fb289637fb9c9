//! Wires a prepared graph into a tract model for one input length. What follows from constants and
//! shapes alone is computed on the way; only what depends on the token ids becomes a node.

use super::ops;
use super::prepare::Prepared;
use super::proto::Node;
use crate::embed::kernels::PackedLinear;
use crate::embed::ops::Pure;
use std::collections::HashMap;
use tract_core::internal::*;

/// A value while importing.
#[derive(Clone)]
pub(super) enum Val {
    /// Known now. `fixed`: the same for every input length.
    Const { tensor: Arc<Tensor>, fixed: bool },
    /// Computed at run time.
    Wire(OutletId),
}

/// The state of one import.
pub(super) struct Import<'a> {
    pub prepared: &'a Prepared,
    pub model: TypedModel,
    values: HashMap<&'a str, Val>,
    /// Position of the node being imported.
    pub at: usize,
    names: usize,
    pub findings: Findings,
}

/// What an import learnt that holds for every length.
#[derive(Default)]
pub(super) struct Findings {
    /// Results that follow from constants alone, by name.
    pub folded: Vec<(String, Arc<Tensor>)>,
    /// Weights that were packed from such results, by the position of their node.
    pub packed: Vec<(usize, Arc<PackedLinear>)>,
}

/// Imports the graph for texts of `tokens` tokens. The model's only input is the ids, i64
/// `[1, tokens]`: the mask is all ones, because a text is never padded. From the token `second` on they are a second text.
pub(super) fn import(prepared: &Prepared, tokens: usize, second: usize) -> TractResult<(TypedModel, Findings)> {
    let mut import = Import {
        prepared,
        model: TypedModel::default(),
        values: HashMap::new(),
        at: 0,
        names: 0,
        findings: Findings::default(),
    };
    for (name, element) in &prepared.inputs {
        let fill = |f: &dyn Fn(usize) -> i64| -> TractResult<Tensor> {
            let data: Vec<i64> = (0..tokens).map(f).collect();
            cast(&Tensor::from_shape(&[1, tokens], &data)?, *element)
        };
        let value = match name.as_str() {
            "input_ids" => {
                let fact = i64::fact([1, tokens]);
                let ids = Val::Wire(import.model.add_source("input_ids", fact)?);
                if *element == 6 { import.apply(crate::embed::ops::Cast(i32::datum_type()), &[ids])? } else { ids }
            }
            "attention_mask" => varying(fill(&|_| 1)?),
            "token_type_ids" => varying(fill(&|i| i64::from(i >= second))?),
            "position_ids" => varying(fill(&|i| i as i64)?),
            other => bail!("the input `{other}` is not one that a sentence encoder has"),
        };
        import.values.insert(name, value);
    }
    for (i, node) in prepared.nodes.iter().enumerate() {
        import.at = i;
        let outputs = import
            .node(node)
            .with_context(|| format!("{} `{}`", node.op_type, node.outputs.first().map_or("", String::as_str)))?;
        for (name, value) in node.outputs.iter().zip(outputs) {
            import.values.insert(name, value);
        }
    }
    let output = import.value(&prepared.output)?;
    let output = import.wire(&output)?;
    import.model.select_output_outlets(&[output])?;
    Ok((import.model, import.findings))
}

fn varying(tensor: Tensor) -> Val {
    Val::Const { tensor: tensor.into_arc_tensor(), fixed: false }
}

fn cast(t: &Tensor, element: i64) -> TractResult<Tensor> {
    let op = crate::embed::ops::Cast(ops::datum_type(if element == 0 { 7 } else { element })?);
    Ok(op.compute(tvec![t.clone().into_tvalue()])?.remove(0).into_tensor())
}

impl<'a> Import<'a> {
    fn value(&self, name: &str) -> TractResult<Val> {
        if let Some(v) = self.values.get(name) {
            return Ok(v.clone());
        }
        match self.prepared.constants.get(name) {
            Some(t) => Ok(Val::Const { tensor: Arc::clone(t), fixed: true }),
            None => bail!("nothing gives `{name}`"),
        }
    }

    fn node(&mut self, node: &'a Node) -> TractResult<TVec<Val>> {
        let packed = self.prepared.weights.contains_key(&self.at);
        let inputs: Vec<Option<Val>> = node
            .inputs
            .iter()
            .enumerate()
            .map(|(i, name)| {
                // Inputs that were packed into weights are not there any more.
                if name.is_empty() || (packed && i > 0 && i != 2) {
                    Ok(None)
                } else if packed && i == 2 {
                    Ok(self.value(name).ok())
                } else {
                    self.value(name).map(Some)
                }
            })
            .collect::<TractResult<_>>()?;
        let mut outputs = ops::translate(self, node, &inputs)?;
        // A shape that an operation takes in as numbers counts as well.
        if !inputs.iter().flatten().all(Val::is_fixed) {
            for output in &mut outputs {
                if let Val::Const { fixed, .. } = output {
                    *fixed = false;
                }
            }
        }
        if let ([name], [Val::Const { tensor, fixed: true }]) = (&*node.outputs, &*outputs) {
            self.findings.folded.push((name.clone(), Arc::clone(tensor)));
        }
        Ok(outputs)
    }

    /// Applies an operation with one output: at once if every input is known, else as a node.
    pub(super) fn apply(&mut self, op: impl Pure + TypedOp, inputs: &[Val]) -> TractResult<Val> {
        Ok(self.apply_all(op, inputs)?.remove(0))
    }

    /// [`Import::apply`] for any number of outputs.
    pub(super) fn apply_all(&mut self, op: impl Pure + TypedOp, inputs: &[Val]) -> TractResult<TVec<Val>> {
        let mut known = tvec![];
        let mut all_fixed = true;
        for input in inputs {
            if let Val::Const { tensor, fixed } = input {
                known.push(Arc::clone(tensor));
                all_fixed &= fixed;
            }
        }
        if known.len() == inputs.len() {
            let facts: TVec<(DatumType, &[usize])> = known.iter().map(|t| (t.datum_type(), t.shape())).collect();
            op.signature(&facts)?;
            let outputs = op.compute(known.iter().map(|t| t.clone().into_tvalue()).collect())?;
            return Ok(outputs
                .into_iter()
                .map(|t| Val::Const { tensor: t.into_arc_tensor(), fixed: all_fixed })
                .collect());
        }
        let wires = inputs.iter().map(|v| self.wire(v)).collect::<TractResult<TVec<OutletId>>>()?;
        let name = self.name();
        let op: Box<dyn TypedOp> = Box::new(op);
        Ok(self.model.wire_node(name, op, &wires)?.into_iter().map(Val::Wire).collect())
    }

    fn name(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    fn wire(&mut self, value: &Val) -> TractResult<OutletId> {
        match value {
            Val::Wire(outlet) => Ok(*outlet),
            Val::Const { tensor, .. } => {
                let name = self.name();
                self.model.add_const(name, Arc::clone(tensor))
            }
        }
    }

    /// Element type and shape of a value.
    pub(super) fn fact(&self, value: &Val) -> TractResult<(DatumType, TVec<usize>)> {
        match value {
            Val::Const { tensor, .. } => Ok((tensor.datum_type(), TVec::from_slice(tensor.shape()))),
            Val::Wire(outlet) => {
                let fact = self.model.outlet_fact(*outlet)?;
                let shape = fact.shape.as_concrete().context("a shape is not known")?;
                Ok((fact.datum_type, TVec::from_slice(shape)))
            }
        }
    }
}

impl Val {
    /// The tensor, if it is known now.
    pub(super) fn known(&self) -> Option<&Arc<Tensor>> {
        match self {
            Val::Const { tensor, .. } => Some(tensor),
            Val::Wire(_) => None,
        }
    }

    pub(super) fn is_fixed(&self) -> bool {
        matches!(self, Val::Const { fixed: true, .. })
    }
}
