//! Coefficient sums: rhos and outputs as sums of the coefficients of a penalised fit, for any distances and any data.

use super::coefficients::{CoefficientMap, CoefficientSum};
use super::definition::Definition;
use super::parameters::FeatureLayout;
use super::schema::FeatureSchema;
use crate::lens::DistanceAxis;
use crate::statistics::{BIAS_UNIT, FeatureLevels, LevelValues, Levels, Statistics};

/// The effects of every value, and the structure before anything is centred, as sums of coefficients.
#[derive(Clone, Debug)]
pub struct CoefficientSums {
    /// `[curves][slots]`, the structure first, then every value of every feature: the rhos of a model in which each has its own.
    rho: Vec<Vec<CoefficientSum>>,
    /// The average effect of every feature over its values in training, `[features][slots]`.
    average: Vec<Vec<CoefficientSum>>,
}

impl CoefficientSums {
    /// The sums of a model of this definition in the slots of an axis, which may be more than training has seen.
    pub fn new(definition: &Definition, axis: &DistanceAxis) -> CoefficientSums {
        let (map, layout) = (CoefficientMap::new(definition), definition.layout());
        let Some(basis) = &definition.learned.rho_spline else {
            return CoefficientSums { rho: Vec::new(), average: Vec::new() };
        };
        let scale = definition.learned.rho_scale;
        let mut reach = vec![layout.rhos[0].reach];
        for (schema, place) in definition.learned.features.iter().zip(&layout.features) {
            reach.extend(std::iter::repeat_n(layout.rhos[place.first_rho].reach, schema.value_count()));
        }
        let at = |rho: usize, slot: usize| -> CoefficientSum {
            if !reach[rho].includes(axis.distance(slot)) {
                return Vec::new();
            }
            let knots = basis.at(scale.apply(axis.argument(slot))).terms().filter(|(_, weight)| *weight != 0.0);
            let sums = knots.flat_map(|(knot, weight)| {
                let sum = map.rho_at(rho, axis.lens_of(slot), basis.knots[knot]);
                sum.into_iter().map(move |(coefficient, share)| (coefficient, weight * share))
            });
            merged(sums.collect())
        };
        let rhos = (0..map.curves()).map(|rho| (0..axis.slots()).map(|slot| at(rho, slot)).collect());
        let rho: Vec<Vec<CoefficientSum>> = rhos.collect();
        let average = |(feature, place): (&FeatureSchema, &FeatureLayout)| -> Vec<CoefficientSum> {
            let shares = feature.level_shares();
            let at = |slot: usize| {
                let levels = shares.iter().enumerate().filter(|(_, share)| **share != 0.0);
                let terms = levels.flat_map(|(level, share)| {
                    let own = rho[1 + place.first_value + level][slot].iter();
                    own.map(move |(coefficient, part)| (*coefficient, part * share))
                });
                merged(terms.collect())
            };
            (0..axis.slots()).map(at).collect()
        };
        let average = definition.learned.features.iter().zip(&layout.features).map(average).collect();
        CoefficientSums { rho, average }
    }

    /// The average effect of a feature over its values in training, in a slot: what a value unseen in training has.
    pub fn average(&self, k: usize, slot: usize) -> &CoefficientSum {
        &self.average[k][slot]
    }

    /// A curve in a slot.
    pub fn rho(&self, rho: usize, slot: usize) -> &CoefficientSum {
        &self.rho[rho][slot]
    }

    /// The output of the item in a row of statistics in cells whose units have these rhos: see [`rhos_of_units`]. A value unseen in
    /// training has the average effect of its feature.
    pub fn output(&self, statistics: &Statistics, rhos: &[Option<usize>], row: usize) -> CoefficientSum {
        let (cells, weights) = statistics.rows.row(row);
        let mut sum = vec![(0, 1.0)];
        for (cell, weight) in cells.iter().zip(weights) {
            let (unit, slot) = (statistics.cells.units[*cell as usize], statistics.cells.slots[*cell as usize]);
            let own = match (rhos[unit as usize], statistics.levels.feature_of(unit)) {
                (Some(rho), _) => &self.rho[rho][usize::from(slot)],
                (None, Some(k)) => &self.average[k][usize::from(slot)],
                (None, None) => continue,
            };
            sum.extend(own.iter().map(|(coefficient, share)| (*coefficient, f64::from(*weight) * share)));
        }
        merged(sum)
    }
}

/// The curve of every unit of some levels, which must be those of the knots of the model; `None`: unseen in training.
pub fn rhos_of_units(definition: &Definition, levels: &Levels) -> Vec<Option<usize>> {
    let layout = definition.layout();
    let mut found = vec![None; levels.unit_count()];
    found[BIAS_UNIT as usize] = Some(0);
    for (k, (schema, levels)) in definition.learned.features.iter().zip(&levels.features).enumerate() {
        let FeatureLevels { values, units, missing, .. } = levels;
        let first = 1 + layout.features[k].first_value;
        for (level, unit) in units.clone().enumerate() {
            found[unit as usize] = match values {
                LevelValues::Names(names) => schema.level(&names[level]).map(|level| first + level),
                LevelValues::Numbers(_) => Some(first + level),
            };
        }
        if let (Some(unit), Some(_)) = (missing, schema.missing) {
            found[*unit as usize] = Some(first + schema.known_values());
        }
    }
    found
}

/// A sum in which every coefficient occurs once, ascending.
pub fn merged(mut sum: CoefficientSum) -> CoefficientSum {
    sum.sort_by_key(|(coefficient, _)| *coefficient);
    sum.dedup_by(|next, kept| {
        let same = next.0 == kept.0;
        if same {
            kept.1 += next.1;
        }
        same
    });
    sum
}
