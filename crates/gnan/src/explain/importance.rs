//! Importance: the mean absolute contribution over the predictions of a data set.

use rayon::prelude::*;
use serde::Serialize;

use crate::error::Result;

use super::explainer::Explainer;

/// Items that one task handles; sums are added up in the order of the tasks.
const ITEMS_PER_TASK: usize = 64;

/// Mean absolute contributions, for the outputs as they are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Importance {
    /// Number of predictions.
    pub items: usize,
    /// `[features][outputs]`
    pub by_feature: Vec<Vec<f64>>,
    /// `[slots][outputs]`: all features together, distance 0, 1, ..., "unreachable" last.
    pub by_distance: Vec<Vec<f64>>,
    /// `[features][slots][outputs]`
    pub by_feature_and_distance: Vec<Vec<Vec<f64>>>,
    /// Of the structure term, per output.
    pub structure: Vec<f64>,
}

impl Explainer<'_> {
    /// The importance of features and distances over all items of the data set. Distances longer than any in training
    /// are counted with the longest.
    pub fn importance(&self) -> Result<Importance> {
        let positions: Vec<usize> = (0..self.data().len()).collect();
        let parts: Vec<ImportanceSums> = positions
            .par_chunks(ITEMS_PER_TASK)
            .map(|positions| {
                let mut sums = ImportanceSums::zeros(self);
                positions.iter().try_for_each(|position| sums.add(self, self.data().items()[*position]))?;
                Ok(sums)
            })
            .collect::<Result<_>>()?;
        let mut all = ImportanceSums::zeros(self);
        parts.iter().for_each(|part| all.merge(part));
        Ok(all.mean(positions.len(), self))
    }
}

/// ImportanceSums of absolute contributions, flat: features by slots by outputs, features by outputs, slots by outputs, outputs.
struct ImportanceSums {
    both: Vec<f64>,
    features: Vec<f64>,
    slots: Vec<f64>,
    structure: Vec<f64>,
}

impl ImportanceSums {
    fn zeros(explainer: &Explainer<'_>) -> ImportanceSums {
        let definition = explainer.model().definition();
        let (features, slots) = (definition.learned.features.len(), explainer.canonical().slots());
        let outputs = definition.shown_names().len();
        ImportanceSums {
            both: vec![0.0; features * slots * outputs],
            features: vec![0.0; features * outputs],
            slots: vec![0.0; slots * outputs],
            structure: vec![0.0; outputs],
        }
    }

    fn add(&mut self, explainer: &Explainer<'_>, item: u32) -> Result<()> {
        let definition = explainer.model().definition();
        let (_, found) = explainer.marginals(item, false)?;
        let (width, slots) = (explainer.model().outputs(), explainer.canonical().slots());
        let outputs = self.structure.len();
        let kept = |slot: usize| found.axis.slot_on(explainer.canonical().axis(), slot);
        let mut by_slot = vec![0.0; found.slots * outputs];
        for (k, feature) in found.feature_distance.chunks_exact(found.slots * width).enumerate() {
            if feature.iter().all(|value| *value == 0.0) {
                continue;
            }
            let mut whole = vec![0.0; outputs];
            for (slot, values) in feature.chunks_exact(width).enumerate() {
                if values.iter().all(|value| *value == 0.0) {
                    continue;
                }
                for (c, value) in definition.shown(values).into_iter().enumerate() {
                    self.both[(k * slots + kept(slot)) * outputs + c] += value.abs();
                    by_slot[slot * outputs + c] += value;
                    whole[c] += value;
                }
            }
            whole.iter().enumerate().for_each(|(c, value)| self.features[k * outputs + c] += value.abs());
        }
        for (slot, values) in by_slot.chunks_exact(outputs).enumerate() {
            values.iter().enumerate().for_each(|(c, value)| self.slots[kept(slot) * outputs + c] += value.abs());
        }
        let mut structure = vec![0.0; outputs];
        for values in found.structure.chunks_exact(width) {
            structure.iter_mut().zip(definition.shown(values)).for_each(|(sum, value)| *sum += value);
        }
        self.structure.iter_mut().zip(structure).for_each(|(sum, value)| *sum += value.abs());
        Ok(())
    }

    fn parts(&mut self) -> [&mut Vec<f64>; 4] {
        [&mut self.both, &mut self.features, &mut self.slots, &mut self.structure]
    }

    fn merge(&mut self, other: &ImportanceSums) {
        let others = [&other.both, &other.features, &other.slots, &other.structure];
        for (own, other) in self.parts().into_iter().zip(others) {
            own.iter_mut().zip(other).for_each(|(own, other)| *own += other);
        }
    }

    fn mean(mut self, items: usize, explainer: &Explainer<'_>) -> Importance {
        let count = items.max(1) as f64;
        self.parts().into_iter().flatten().for_each(|sum| *sum /= count);
        let (outputs, slots) = (self.structure.len(), explainer.canonical().slots());
        let rows = |values: &[f64]| values.chunks_exact(outputs).map(<[f64]>::to_vec).collect::<Vec<_>>();
        Importance {
            items,
            by_feature: rows(&self.features),
            by_distance: rows(&self.slots),
            by_feature_and_distance: self.both.chunks_exact(slots * outputs).map(rows).collect(),
            structure: self.structure,
        }
    }
}
