//! Importance: the mean size of contributions over the predictions of a data set. Those of features and of the structure term are
//! compared with the average training item, where it is known: what all items have in common is not important.

use rayon::prelude::*;
use serde::Serialize;

use crate::error::Result;

use super::explainer::Explainer;

/// Items that one task handles; sums are added up in the order of the tasks.
const ITEMS_PER_TASK: usize = 64;

/// Mean absolute contributions, for the outputs as they are shown.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// use gnan::Explainer;
/// let importance = Explainer::new(&model, &test)?.importance()?;
/// assert_eq!(importance.items, test.len());
/// # Ok::<(), gnan::Error>(())
/// ```
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

impl Importance {
    /// The importance of a feature, on average over outputs.
    pub fn of_feature(&self, k: usize) -> f64 {
        mean(&self.by_feature[k])
    }

    /// The importance of a distance, on average over outputs.
    pub fn of_distance(&self, slot: usize) -> f64 {
        mean(&self.by_distance[slot])
    }

    /// The importance of the structure term, on average over outputs.
    pub fn of_structure(&self) -> f64 {
        mean(&self.structure)
    }

    /// The share of a feature in the importances of all features and of the structure term.
    pub fn share_of_feature(&self, k: usize) -> f64 {
        self.share(self.of_feature(k))
    }

    /// The same share of the structure term.
    pub fn share_of_structure(&self) -> f64 {
        self.share(self.of_structure())
    }

    fn share(&self, part: f64) -> f64 {
        let total = self.of_structure() + (0..self.by_feature.len()).map(|k| self.of_feature(k)).sum::<f64>();
        if total > 0.0 { part / total } else { 0.0 }
    }

    /// The importances of some features for some outputs, added up.
    pub fn sum_over(&self, features: &[usize], outputs: &[usize]) -> f64 {
        features.iter().flat_map(|k| outputs.iter().map(|output| self.by_feature[*k][*output])).sum()
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

impl Explainer<'_> {
    /// The importance of features and distances over all items of the data set. Distances longer than any in training
    /// are counted with the longest.
    pub fn importance(&self) -> Result<Importance> {
        let parts: Vec<Importance> = (self.data().items())
            .par_chunks(ITEMS_PER_TASK)
            .map(|items| {
                let mut sums = Importance::zeros(self);
                items.iter().try_for_each(|item| sums.add(self, *item))?;
                Ok(sums)
            })
            .collect::<Result<_>>()?;
        let mut all = Importance::zeros(self);
        for mut part in parts {
            all.items += part.items;
            all.numbers_mut().zip(part.numbers_mut()).for_each(|(sum, part)| *sum += *part);
        }
        let count = all.items.max(1) as f64;
        all.numbers_mut().for_each(|sum| *sum /= count);
        Ok(all)
    }
}

impl Importance {
    fn zeros(explainer: &Explainer<'_>) -> Importance {
        let definition = explainer.model().definition();
        let structure = vec![0.0; definition.shown_names().len()];
        let by_feature = vec![structure.clone(); definition.learned.features.len()];
        let by_distance = vec![structure.clone(); explainer.canonical().slots()];
        let by_feature_and_distance = vec![by_distance.clone(); by_feature.len()];
        Importance { items: 0, by_feature, by_distance, by_feature_and_distance, structure }
    }

    /// Adds the sizes of the contributions of an item.
    fn add(&mut self, explainer: &Explainer<'_>, item: u32) -> Result<()> {
        let definition = explainer.model().definition();
        let (_, found) = explainer.marginals(item, false)?;
        let width = explainer.model().outputs();
        let outputs = self.structure.len();
        let kept = |slot: usize| found.axis.slot_on(explainer.canonical().axis(), slot);
        let mut by_slot = vec![0.0; found.slots * outputs];
        let average = explainer.average();
        for (k, feature) in found.feature_distance.chunks_exact(found.slots * width).enumerate() {
            let mut whole = average.map_or_else(|| vec![0.0; outputs], |average| negated(&average.features[k]));
            for (slot, values) in feature.chunks_exact(width).enumerate() {
                if values.iter().all(|value| *value == 0.0) {
                    continue;
                }
                for (c, value) in definition.shown(values).into_iter().enumerate() {
                    self.by_feature_and_distance[k][kept(slot)][c] += value.abs();
                    by_slot[slot * outputs + c] += value;
                    whole[c] += value;
                }
            }
            add_sizes(&mut self.by_feature[k], &whole);
        }
        for (slot, values) in by_slot.chunks_exact(outputs).enumerate() {
            add_sizes(&mut self.by_distance[kept(slot)], values);
        }
        let mut structure = average.map_or_else(|| vec![0.0; outputs], |average| negated(&average.structure));
        for values in found.structure.chunks_exact(width) {
            structure.iter_mut().zip(definition.shown(values)).for_each(|(sum, value)| *sum += value);
        }
        add_sizes(&mut self.structure, &structure);
        self.items += 1;
        Ok(())
    }

    fn numbers_mut(&mut self) -> impl Iterator<Item = &mut f64> {
        let cells = self.by_feature_and_distance.iter_mut().flatten();
        let rows = self.by_feature.iter_mut().chain(&mut self.by_distance).chain(cells);
        rows.chain([&mut self.structure]).flatten()
    }
}

fn negated(values: &[f64]) -> Vec<f64> {
    values.iter().map(|value| -value).collect()
}

fn add_sizes(sums: &mut [f64], values: &[f64]) {
    sums.iter_mut().zip(values).for_each(|(sum, value)| *sum += value.abs());
}
