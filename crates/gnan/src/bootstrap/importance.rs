//! Importances of many models of one kind on the same items.
//!
//! [`Explainer::importance`](crate::explain::Explainer::importance) walks over pairs of nodes, which would take longer
//! than training the replicates. Here the items are summed up once in cells, `Q[unit, slot]`, and every model then needs
//! its products at the distinct values only.

use std::borrow::Cow;
use std::sync::Arc;

use crate::dataset::Dataset;
use crate::error::Result;
use crate::explain::{Canonical, value_of_unit};
use crate::files::Task;
use crate::model::Model;
use crate::statistics::Statistics;

/// Most cells that are held in memory for a node task, about; then only some of the items are looked at.
const MOST_ENTRIES: usize = 20_000_000;

/// Items in cells.
pub(super) struct ImportanceCells<'a> {
    statistics: Cow<'a, Statistics>,
    /// The feature of every cell; `None` for the bias.
    features: Vec<Option<usize>>,
    /// Whether contributions are compared with their average.
    relative: bool,
}

/// Mean sizes of contributions, for the outputs as they are shown; see [`Importance`](crate::explain::Importance).
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Importances {
    /// `[features, shown]`
    pub by_feature: Vec<f64>,
    /// `[slots, shown]`
    pub by_distance: Vec<f64>,
    /// `[shown]`
    pub structure: Vec<f64>,
}

impl<'a> ImportanceCells<'a> {
    /// The items of `data`, whose statistics are at hand; of a node task with many, evenly spaced ones.
    pub(super) fn new(model: &Model, data: &Dataset, statistics: &'a Statistics) -> Result<ImportanceCells<'a>> {
        let statistics = match data.task() {
            Task::Graph => Cow::Borrowed(statistics),
            Task::Node => {
                let listed: usize = statistics.levels.features.iter().map(|levels| levels.listed).sum();
                let at_most = (MOST_ENTRIES / listed.max(1)).max(1);
                let options = model.definition().statistics_request();
                Cow::Owned(Statistics::in_cells(&data.spaced(at_most), Arc::clone(&statistics.levels), options)?)
            }
        };
        let feature = |unit: &u32| statistics.levels.feature_of(*unit);
        let features = statistics.cells.units.iter().map(feature).collect();
        Ok(ImportanceCells { statistics, features, relative: model.learned().average.is_some() })
    }

    /// The importances of a model. Distances longer than any in training are counted with the longest.
    pub(super) fn importances(&self, model: &Model) -> Importances {
        let canonical = model.canonical();
        let slots = canonical.slots();
        let products = self.products(&canonical);
        let shown = model.definition().shown_names().len();
        let features = model.definition().learned.features.len();
        let nothing = Importances {
            by_feature: vec![0.0; features * shown],
            by_distance: vec![0.0; slots * shown],
            structure: vec![0.0; shown],
        };
        let rows = self.statistics.rows.len();
        // What contributions are compared with: the average item of the model, or where that is known of the first model alone,
        // the average of these items.
        let mut means = nothing.clone();
        if let Some(average) = canonical.average().filter(|_| self.relative) {
            (means.by_feature, means.structure) = (average.features.concat(), average.structure);
        } else if self.relative {
            let mut item = nothing.clone();
            for row in 0..rows {
                self.contributions(row, &canonical, &products, &mut item);
                for (mean, part) in [(&mut means.by_feature, &item.by_feature), (&mut means.structure, &item.structure)]
                {
                    mean.iter_mut().zip(part).for_each(|(mean, part)| *mean += part / rows as f64);
                }
            }
        }
        let (mut sums, mut item) = (nothing.clone(), nothing);
        for row in 0..rows {
            self.contributions(row, &canonical, &products, &mut item);
            for ((sums, item), means) in sums.parts().into_iter().zip(item.parts()).zip(means.parts()) {
                sums.iter_mut().zip(item).zip(means).for_each(|((sum, value), mean)| *sum += (*value - *mean).abs());
            }
        }
        sums.parts().into_iter().flatten().for_each(|sum| *sum /= rows.max(1) as f64);
        sums
    }

    /// What everything contributes to an item.
    fn contributions(&self, row: usize, canonical: &Canonical, products: &[f64], item: &mut Importances) {
        let shown = item.structure.len();
        let cells = &self.statistics.cells;
        item.parts().into_iter().for_each(|part| part.fill(0.0));
        let (entries, weights) = self.statistics.rows.row(row);
        for (cell, weight) in entries.iter().zip(weights) {
            let cell = *cell as usize;
            let slot = self.statistics.axis.slot_on(canonical.axis(), usize::from(cells.slots[cell]));
            for c in 0..shown {
                let part = f64::from(*weight) * products[cell * shown + c];
                match self.features[cell] {
                    None => item.structure[c] += part,
                    Some(k) => {
                        item.by_feature[k * shown + c] += part;
                        item.by_distance[slot * shown + c] += part;
                    }
                }
            }
        }
    }

    /// `rho(l) * f_k(value)`, centred, as it is shown, for every cell; the structure curve for those of the bias.
    fn products(&self, canonical: &Canonical) -> Vec<f64> {
        let definition = canonical.definition();
        let canonical = canonical.with_axis(&self.statistics.axis);
        let rhos = canonical.rhos_over_largest();
        let cells = &self.statistics.cells;
        let mut products = Vec::with_capacity(cells.len() * definition.shown_names().len());
        let mut last: Option<(u32, Option<Vec<f64>>)> = None;
        for ((unit, slot), feature) in cells.units.iter().zip(&cells.slots).zip(&self.features) {
            let slot = usize::from(*slot);
            let product = match feature {
                None => canonical.structure()[slot].clone(),
                Some(k) if canonical.has_level_rhos(*k) => {
                    canonical.product(*k, value_of_unit(&self.statistics.levels.features[*k], *unit), slot)
                }
                Some(k) => {
                    // Cells come unit by unit, and a shape function is evaluated once for all slots.
                    if last.as_ref().is_none_or(|(before, _)| before != unit) {
                        last = Some((
                            *unit,
                            canonical
                                .shape_times_largest(*k, value_of_unit(&self.statistics.levels.features[*k], *unit)),
                        ));
                    }
                    let shape = last.as_ref().and_then(|(_, shape)| shape.as_ref());
                    let rho = &rhos[canonical.rho_of(*k, 0)][slot];
                    match shape {
                        Some(shape) => shape.iter().zip(rho).map(|(effect, rho)| effect * rho).collect(),
                        None => vec![0.0; rho.len()],
                    }
                }
            };
            products.extend(definition.shown(&product));
        }
        products
    }
}

impl Importances {
    fn parts(&mut self) -> [&mut Vec<f64>; 3] {
        [&mut self.by_feature, &mut self.by_distance, &mut self.structure]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Spec;
    use crate::explain::Explainer;
    use crate::spec::RhoChoice;

    #[test]
    fn importances_are_those_of_the_explainer() {
        let data = Dataset::open("solubility").unwrap();
        let data = data.subset(&(0..data.len()).step_by(10).collect::<Vec<_>>());
        for rho in [RhoChoice::Shared, RhoChoice::PerFeature] {
            let model = Spec::default().epochs(20).hidden(16).rho(rho).fit(&data).unwrap();
            let statistics = model.statistics(&data, &model.features_of(&data).unwrap()).unwrap();
            let found = ImportanceCells::new(&model, &data, &statistics).unwrap().importances(&model);
            let expected = Explainer::new(&model, &data).unwrap().importance().unwrap();
            let close = |found: &[f64], expected: &[f64]| {
                found.len() == expected.len()
                    && found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5 * (1.0 + b.abs()))
            };
            assert!(close(&found.by_feature, &expected.by_feature.concat()), "{found:?} {expected:?}");
            assert!(close(&found.by_distance, &expected.by_distance.concat()), "{found:?} {expected:?}");
            assert!(close(&found.structure, &expected.structure), "{found:?} {expected:?}");
        }
    }
}
