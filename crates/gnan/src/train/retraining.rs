//! Retraining: a model trained again on resamples of its items, many replicates per pass over the data.
//!
//! Replicates share the point estimate's specification, feature schema, target scale and gain; they differ in their random
//! start and in how often each item counts. A group of them is trained at once by one training loop, full batch; each
//! stops by the loss of the items that its resample left out. What a replicate becomes depends on the seed and its number
//! only.

use std::ops::{ControlFlow, Range};

use super::setup::Setup;
use super::training_loop::TrainingLoop;
use crate::checksum::Checksum;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::model::Model;
use crate::random::Stream;
use crate::statistics::Statistics;

/// Most replicates in a group: as many as fill a vector register.
const MOST_IN_GROUP: usize = 16;
/// Memory that a group may take, about.
const GROUP_BYTES: usize = 200 << 20;

/// A model's training, ready to be repeated.
pub struct Retraining {
    setup: Setup,
    data: Dataset,
}

impl Retraining {
    /// Prepares to train `model` again on resamples of the labelled items of `data`.
    pub fn new(model: &Model, data: &Dataset) -> Result<Retraining> {
        let data = data.labelled();
        Ok(Retraining { setup: Setup::of_model(model, &data)?, data })
    }

    /// The items that are resampled.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// Their statistics.
    pub fn statistics(&self) -> &Statistics {
        &self.setup.statistics
    }

    /// A checksum of everything in the data that training sees.
    pub fn checksum(&self) -> Checksum {
        let targets = self.setup.scale.targets(&self.data, &self.setup.class_weights);
        let rows = &self.setup.statistics.rows;
        let cells = rows.cells.iter().fold(Checksum::default(), |sum, cell| sum.and(&cell.to_le_bytes()));
        let all: Vec<u32> = (0..self.setup.statistics.items.len() as u32).collect();
        let lenses = self.setup.statistics.shell_counts.iter();
        lenses
            .fold(cells.and_floats(&rows.weights), |sum, of_lens| {
                sum.and(&of_lens.checksum(&all).number().to_le_bytes())
            })
            .and_floats(&targets.values)
            .and_floats(&targets.weights)
    }

    /// Limit on epochs.
    pub fn epochs(&self) -> usize {
        self.setup.resolved.epochs
    }

    /// How many replicates are trained together: a power of two, fewer where they are large.
    pub fn group_size(&self) -> usize {
        let outputs = self.setup.resolved.outputs;
        let units = self.setup.statistics.levels.unit_count();
        let slots = self.setup.statistics.axis.slots();
        let forms = self.setup.definition.bank_specs();
        let (shapes, shape_activations) = forms.shapes.floats(units);
        let (rhos, rho_activations) = forms.rhos.floats(self.setup.layout.functions * slots);
        // Parameters, the best of them, and two moments; activations; rows of outputs, tables and products, twice each.
        let shells = self.setup.statistics.shell_counts.first();
        let shells = shells.map_or(0, |of_lens| of_lens.source_count + self.data.len() * slots);
        let rows = 4 * self.data.len()
            + 2 * (units + self.setup.layout.rhos.len() * slots + self.setup.statistics.cells.len());
        let bytes = 4 * (4 * (shapes + rhos) + shape_activations + rho_activations + outputs * (rows + 2 * shells));
        let group = (GROUP_BYTES / bytes.max(1)).clamp(1, MOST_IN_GROUP);
        1 << group.ilog2()
    }

    /// How often each item counts in resample number `index`: as many items are drawn as there are.
    pub fn resample(&self, seed: u64, index: usize) -> Vec<u32> {
        let mut random = Stream::named(seed, "resample", index as u64);
        let weight = |position: usize| self.data.weight(self.data.items()[position]);
        loop {
            let mut counts = vec![0; self.data.len()];
            (0..counts.len()).for_each(|_| counts[random.below(self.data.len())] += 1);
            // Nothing can be learned from items of weight 0 only.
            if counts.iter().enumerate().any(|(position, count)| *count > 0 && weight(position) > 0.0) {
                return counts;
            }
        }
    }

    /// Trains the replicates of a group, at most [`group_size`](Self::group_size); `monitor` is told how many epochs are
    /// done and how many replicates still run. `None`: it broke off.
    pub fn fit(
        &self,
        replicates: Range<usize>,
        seed: u64,
        monitor: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Option<Vec<Model>>> {
        let counts: Vec<Vec<u32>> = replicates.clone().map(|index| self.resample(seed, index)).collect();
        let starts: Vec<u64> = replicates.map(|index| Stream::named(seed, "start", index as u64).next_u64()).collect();
        self.fit_counts(counts, &starts, monitor)
    }

    /// Trains replicates on items that count as often as `counts` says, from these seeds of random starts.
    fn fit_counts(
        &self,
        mut counts: Vec<Vec<u32>>,
        starts: &[u64],
        monitor: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Option<Vec<Model>>> {
        // Spare lanes of an incomplete group count nothing, so that a replicate does not depend on the others.
        counts.resize(self.group_size().max(starts.len()), vec![0; self.data.len()]);
        let mut training = TrainingLoop::new(&self.setup, &self.data, &counts, starts)?;
        if training.run(&mut |_, epoch, running| monitor(epoch, running)).is_break() {
            return Ok(None);
        }
        training.finish(0).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::Spec;

    /// Every item once, from the same start: a plain full-batch fit that stops by its own loss, up to rounding.
    #[test]
    fn every_item_once_is_a_plain_fit() {
        let data = Dataset::open("solubility").unwrap();
        let data = data.subset(&(0..data.len()).step_by(10).collect::<Vec<_>>());
        for dropout in [0.0, 0.3] {
            let spec = Spec::default().hidden(16).dropout(dropout).patience(0).epochs(25).seed(9);
            let nothing = data.subset(&[]);
            let plain = spec.fit_watched(&data, Some(&nothing), &mut |_| ControlFlow::Continue(())).unwrap();
            let retraining = Retraining::new(&plain.model, &data).unwrap();
            let counts = vec![vec![1; data.len()]; 2];
            let go_on = &mut |_, _| ControlFlow::Continue(());
            let found = retraining.fit_counts(counts, &[3, 9], go_on).unwrap().unwrap();
            assert_eq!(found[1].record().best_epoch, plain.model.record().best_epoch);
            let outputs = |model: &Model| model.outputs_on(&data).unwrap().values;
            let (found, expected) = (outputs(&found[1]), outputs(&plain.model));
            let largest = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(largest < 2e-3, "{largest}");
        }
    }
}
