//! The values at which the shape functions of a model are evaluated.
//!
//! A ReLU network is a line between its bends, so that a feature with very many distinct values needs it at the bends
//! only: what lies between two of them follows exactly. Splines are evaluated at every distinct value.

use std::sync::Arc;

use rayon::prelude::*;

use super::Model;
use super::schema::{FARTHEST, FeatureSchema, Scale};
use crate::dataset::{Dataset, Feature};
use crate::error::Result;
use crate::shape::Bank;
use crate::spec::{BinChoice, MANY_VALUES};
use crate::statistics::knots::{distinct, quantile_knots, sorted_values};
use crate::statistics::{Levels, find_levels};

/// Beyond 1, lines are cut where the scaled value is a power of this: their ends never dwarf what lies between them.
const GROWTH: f64 = 4.0;

impl Model {
    /// The levels of the features of `data` that the model needs to be exact there.
    pub fn levels(&self, data: &Dataset, features: &[Feature]) -> Result<Arc<Levels>> {
        self.levels_above(MANY_VALUES, data, features)
    }

    /// The same, evaluating networks at their bends wherever a feature has more than so many distinct values.
    pub fn levels_above(&self, many: usize, data: &Dataset, features: &[Feature]) -> Result<Arc<Levels>> {
        let layout = self.definition.layout();
        let knots: Vec<Option<Vec<f64>>> = (features, &self.definition.learned.features, &layout.features)
            .into_par_iter()
            .map(|(feature, schema, place)| {
                if let Some(knots) = &schema.effect_knots {
                    return Some(knots.at.clone());
                }
                let (scale, network) = (schema.scale?, place.network?);
                let values = sorted_values(feature, |_| true)?;
                let count = distinct(&values);
                if count <= many {
                    return None;
                }
                let range = [values[0], values[values.len() - 1]];
                let knots = exact_knots(&self.parameters.shapes, network, &scale, range)?;
                (knots.len() < count).then_some(knots)
            })
            .collect();
        find_levels(data, features, &knots)
    }

    /// The levels on which the model was trained, as far as `data` are those it was trained on.
    pub(crate) fn training_levels(&self, data: &Dataset, features: &[Feature]) -> Result<Arc<Levels>> {
        let counted = data.counted_nodes();
        let counts = counted.counts();
        let knots = |(feature, schema): (&Feature, &FeatureSchema)| {
            let count = schema.knots?;
            Some(quantile_knots(&sorted_values(feature, |node| counts(feature, node))?, count))
        };
        let knots: Vec<_> = features.par_iter().zip(&self.definition.learned.features).map(knots).collect();
        find_levels(data, features, &knots)
    }
}

impl BinChoice {
    /// For every feature of `data` that is trained on knots their number.
    pub(crate) fn counts(self, data: &Dataset) -> Vec<usize> {
        self.knots(data.features(), data.counted_nodes().counts())
            .into_iter()
            .flatten()
            .map(|knots| knots.len())
            .collect()
    }

    /// The levels on which models of `data` are trained: knots are chosen by the nodes of its items' graphs.
    pub(crate) fn levels(self, data: &Dataset) -> Result<Arc<Levels>> {
        let knots = self.knots(data.features(), data.counted_nodes().counts());
        find_levels(data, data.features(), &knots)
    }
}

/// The values between which a network is a line, from the smallest to the largest that occurs; `None` for a spline.
fn exact_knots(shapes: &Bank, network: usize, scale: &Scale, [smallest, largest]: [f64; 2]) -> Option<Vec<f64>> {
    let (from, to) = (scale.apply(smallest), scale.apply(largest));
    let mut places = shapes.bends(network, None, from, to)?;
    places.extend(outer_cuts(from, to));
    let mut knots: Vec<f64> = places.into_iter().map(|place| place * scale.scale + scale.shift).collect();
    // Beyond the farthest the network is flat.
    knots.extend([-FARTHEST, FARTHEST].map(|place| place * scale.scale + scale.shift));
    knots.retain(|knot| *knot > smallest && *knot < largest);
    knots.extend([smallest, largest]);
    knots.sort_unstable_by(f64::total_cmp);
    knots.dedup();
    Some(knots)
}

/// Where lines between `from` and `to` are cut although nothing bends there.
pub(crate) fn outer_cuts(from: f64, to: f64) -> impl Iterator<Item = f64> {
    let powers = std::iter::successors(Some(1.0), |power| Some(power * GROWTH)).take_while(|power| *power < FARTHEST);
    let cuts = powers.flat_map(|power| [power, -power]).chain([0.0]);
    cuts.filter(move |cut| *cut > from && *cut < to)
}
