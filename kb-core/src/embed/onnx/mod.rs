//! From an ONNX file to something that runs: `proto` reads the file, `prepare` packs the weights,
//! `import` wires the graph into a tract model for one input length, and [`OnnxModel`] keeps a plan
//! for each length in use.
//!
//! Shapes are concrete: one plan for each number of tokens, batch 1. All shape arithmetic of an
//! export is then folded while importing (a millisecond or two), nothing symbolic has to be solved,
//! and padding, which other texts in a batch would force on a short one, never exists.

mod import;
mod ops;
mod prepare;
mod proto;
mod wire;

use crate::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::sync::Mutex;
use tract_core::internal::*;

/// Most plans kept. A plan holds no weights of its own, some tens of kilobytes of graph.
const MAX_PLANS: usize = 128;

/// A transformer encoder read from an ONNX file.
pub(super) struct OnnxModel {
    graph: prepare::Prepared,
    /// By the number of tokens and where the second text begins.
    plans: Mutex<HashMap<(usize, usize), Arc<TypedSimplePlan>>>,
}

/// What a run gives: rows of `width` numbers, one a token, or one row for the whole text.
pub(super) struct Output {
    pub rows: usize,
    pub width: usize,
    pub data: Vec<f32>,
}

fn failed(e: &TractError) -> Error {
    Error::new(ErrorKind::Model, format!("the model cannot be run: {e:#}"))
}

impl OnnxModel {
    /// Reads a model. `bytes` is a whole `model.onnx`; it may be dropped afterwards.
    pub(super) fn load(bytes: &[u8]) -> Result<Self> {
        let mut graph = prepare::Prepared::new(proto::read_model(bytes)?)?;
        let (_, findings) = import::import(&graph, 3, 3).map_err(|e| failed(&e))?;
        graph.keep_only_what_depends_on_the_text(findings);
        let model = Self { graph, plans: Mutex::new(HashMap::new()) };
        // An operator or a shape that is not supported should be told now, not at the first question.
        model.run(&[0, 0, 0])?;
        Ok(model)
    }

    /// Runs the model on one text's token ids (at least one).
    pub(super) fn run(&self, ids: &[i64]) -> Result<Output> {
        self.run_pair(ids, ids.len())
    }

    /// Runs the model on two texts' token ids in a row, the second's beginning at `second`.
    pub(super) fn run_pair(&self, ids: &[i64], second: usize) -> Result<Output> {
        let plan = self.plan(ids.len(), second)?;
        let run = || -> TractResult<Output> {
            let input = Tensor::from_shape(&[1, ids.len()], ids)?;
            let output = plan.run(tvec!(input.into_tvalue()))?.remove(0);
            let (rows, width) = match *output.shape() {
                [1, rows, width] => (rows, width),
                [1, width] => (1, width),
                _ => bail!("an output of shape {:?}", output.shape()),
            };
            let data = output.try_as_plain_ram()?.as_slice::<f32>()?.to_vec();
            Ok(Output { rows, width, data })
        };
        run().map_err(|e| failed(&e))
    }

    fn plan(&self, tokens: usize, second: usize) -> Result<Arc<TypedSimplePlan>> {
        // Most models see no difference between the texts.
        let second = if self.graph.tells_texts_apart() { second } else { tokens };
        let lock = || self.plans.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if let Some(plan) = lock().get(&(tokens, second)) {
            return Ok(Arc::clone(plan));
        }
        let (model, _) = import::import(&self.graph, tokens, second).map_err(|e| failed(&e))?;
        let plan = TypedSimplePlan::new(model).map_err(|e| failed(&e))?;
        let mut plans = lock();
        if plans.len() >= MAX_PLANS {
            plans.clear();
        }
        plans.insert((tokens, second), Arc::clone(&plan));
        Ok(plan)
    }
}
