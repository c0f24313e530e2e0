//! A scorer: the metrics of predictions that come one by one, where the data hold the targets.

use std::collections::HashMap;

use super::parts::PartMetrics;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::model::Model;
use crate::predict::Prediction;

/// Gathers the outputs of the items whose targets are known.
pub struct Scorer<'a> {
    model: &'a Model,
    data: &'a Dataset,
    labelled: Dataset,
    /// Items that were predicted.
    done: usize,
    /// Of them, those with a target.
    known: usize,
    /// `[labelled items, outputs]`; `None` where the data lack a target of the model.
    outputs: Option<Vec<f32>>,
}

impl<'a> Scorer<'a> {
    /// A scorer for the predictions of `data`.
    pub fn new(model: &'a Model, data: &'a Dataset) -> Scorer<'a> {
        let is_there = |name: &str| data.targets().iter().any(|target| target.name == name);
        let outputs = model.definition().learned.targets.iter().all(|target| is_there(&target.name)).then(Vec::new);
        Scorer { model, data, labelled: data.labelled(), done: 0, known: 0, outputs }
    }

    /// Takes in the prediction of the next item.
    pub fn add(&mut self, prediction: &Prediction) {
        let item = self.data.items().get(self.done);
        self.done += 1;
        if item.is_some() && item == self.labelled.items().get(self.known) {
            self.known += 1;
            self.outputs.iter_mut().for_each(|outputs| outputs.extend_from_slice(&prediction.outputs));
        }
    }

    /// The metrics of all items that have a target, by what the model knows of them; `None` where none has. Targets that
    /// differ from the model's are an error.
    pub fn finish(self) -> Result<Option<PartMetrics>> {
        let Some(outputs) = self.outputs.filter(|outputs| !outputs.is_empty()) else { return Ok(None) };
        let width = self.model.outputs();
        let rows: HashMap<u32, &[f32]> =
            self.labelled.items().iter().copied().zip(outputs.chunks_exact(width)).collect();
        let of_part = |part: &Dataset| Ok(part.items().iter().flat_map(|item| rows[item]).copied().collect());
        PartMetrics::of_outputs(self.model, self.data, of_part).map(Some)
    }
}
