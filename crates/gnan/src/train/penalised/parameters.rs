//! From the coefficients of a penalised fit to the parameters of a model.

use std::sync::Arc;

use super::columns::Columns;
use super::{PartEstimate, Setup};
use crate::dataset::{Dataset, Outcome};
use crate::error::{Error, Result};
use crate::files::Kind;
use crate::lens::DistanceAxis;
use crate::model::{AverageItem, Model, Parameters};
use crate::shape::Bank;
use crate::train::finish::own_contributions;

impl Setup {
    /// The model with these effects: every value is 1, and its distance function is its effect.
    pub(super) fn penalised_model(
        &self,
        columns: &Columns,
        found: &[PartEstimate],
        train: &Dataset,
        rows: &[usize],
    ) -> Result<Model> {
        let outputs = self.definition.learned.outputs;
        let (axis, layout) = (&self.statistics.axis, &self.layout);
        let specs = self.definition.bank_specs();
        let mut parameters = Parameters {
            shapes: Bank::zeros(&specs.shapes),
            rhos: Bank::zeros(&specs.rhos),
            values: vec![1.0; layout.values * outputs],
            bias: vec![1.0; outputs],
            output_bias: vec![0.0; outputs],
            readouts: Bank::zeros(&specs.readouts),
        };
        let together = self.definition.learned.outcome == Outcome::Multiclass;
        let coefficient = |c: usize, column: usize| match together {
            true => found[0].coefficient(c, column),
            false => found[c].coefficient(0, column),
        };
        for c in 0..outputs {
            parameters.output_bias[c] = coefficient(c, 0) as f32;
        }
        let knots = self.definition.learned.rho_spline.as_ref().map(|basis| basis.knots.clone()).unwrap_or_default();
        let mut fill = |function: usize, lens: usize, column_at: &dyn Fn(usize) -> Option<usize>| {
            for c in 0..outputs {
                let curve = over_distance(axis, lens, &knots, |slot| Some(coefficient(c, column_at(slot)?)));
                let block = parameters.rhos.block_mut(function);
                curve.into_iter().enumerate().for_each(|(knot, value)| block[knot * outputs + c] = value as f32);
            }
        };
        for lens in 0..axis.lenses() {
            fill(layout.function(0, lens), lens, &|slot| columns.structure(lens, slot));
            for (k, place) in layout.features.iter().enumerate() {
                for value in 0..layout.values_of(k).len() {
                    let function = layout.function(place.first_rho + value, lens);
                    fill(function, lens, &|slot| columns.effect(k, value, lens, slot));
                }
            }
        }
        // The 0 of a sparse feature has no effect.
        for (k, feature) in self.definition.learned.features.iter().enumerate() {
            let Some(knots) = feature.effect_knots.as_ref().filter(|_| feature.kind == Kind::Sparse) else { continue };
            if let Some(zero) = knots.at.iter().position(|knot| *knot == 0.0) {
                parameters.values[(layout.values_of(k).start + zero) * outputs..][..outputs].fill(0.0);
            }
        }
        if !parameters.is_finite() {
            return Err(Error::training("the model's weights are too large for 32-bit numbers")
                .with_remedy("give the target in a larger unit, so that its values become smaller"));
        }
        let mut definition = self.definition.clone();
        let model = Model::from_parts(definition.clone(), parameters.clone());
        let mut engine = model.engine(Arc::clone(&self.statistics));
        let mut own_rows = engine.rows(rows, false);
        let mut means = engine.mean_contributions(&mut own_rows).into_iter();
        let gains = vec![1.0; outputs];
        definition.learned.average = Some(AverageItem {
            bias: means.next().expect("the bias comes first"),
            features: means.collect(),
            own: own_contributions(&engine, train, &gains),
            structure: self.statistics.mean_structure(rows),
        });
        Ok(Model::from_parts(definition, parameters).certified())
    }
}

/// The values of a curve over distance at the knots of a distance function, from those in the slots of a lens that have one: linear
/// between them, constant beyond the longest distance; unreachable nodes have their own, or none.
fn over_distance(axis: &DistanceAxis, lens: usize, knots: &[f64], value: impl Fn(usize) -> Option<f64>) -> Vec<f64> {
    let range = axis.range(lens);
    let unreachable = value(range.end - 1).unwrap_or(0.0);
    let mut known: Vec<(f64, f64)> =
        (range.start..range.end - 1).filter_map(|slot| Some((axis.argument(slot), value(slot)?))).collect();
    known.sort_by(|a, b| a.0.total_cmp(&b.0));
    let at = |t: f64| {
        if t == 0.0 || known.is_empty() {
            return if t == 0.0 { unreachable } else { 0.0 };
        }
        let after = known.partition_point(|(place, _)| *place < t);
        match (after.checked_sub(1).map(|before| known[before]), known.get(after).copied()) {
            (Some((from, low)), Some((to, high))) => low + (high - low) * (t - from) / (to - from),
            (None, Some((_, value))) | (Some((_, value)), None) => value,
            (None, None) => 0.0,
        }
    };
    knots.iter().map(|t| at(*t)).collect()
}
