//! From the coefficients of a penalised fit to the parameters of a model.

use std::sync::Arc;

use super::columns::Columns;
use super::{PartEstimate, Setup};
use crate::dataset::{Dataset, Outcome};
use crate::error::{Error, Result};
use crate::files::Kind;
use crate::model::{AverageItem, Definition, Model, Parameters, Rho};
use crate::shape::Bank;
use crate::train::finish::own_contributions;

impl Setup {
    /// The parameters with these effects: every value is 1, and its distance function is its effect.
    pub(super) fn penalised_parameters(&self, columns: &Columns, found: &[PartEstimate]) -> Parameters {
        let outputs = self.definition.learned.outputs;
        let layout = &self.layout;
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
        let mut fill = |rho: usize, lens: usize| {
            let function = layout.function(rho, lens);
            for (knot, argument) in knots.iter().enumerate() {
                let sum = columns.map.rho_at(rho, lens, *argument);
                for c in 0..outputs {
                    let value: f64 = sum.iter().map(|(column, share)| share * coefficient(c, *column)).sum();
                    parameters.rhos.block_mut(function)[knot * outputs + c] = value as f32;
                }
            }
        };
        for lens in 0..layout.lenses {
            (0..layout.rhos.len()).for_each(|rho| fill(rho, lens));
        }
        // The 0 of a sparse feature has no effect.
        for (k, feature) in self.definition.learned.features.iter().enumerate() {
            let Some(knots) = feature.effect_knots.as_ref().filter(|_| feature.kind == Kind::Sparse) else { continue };
            if let Some(zero) = knots.at.iter().position(|knot| *knot == 0.0) {
                parameters.values[(layout.values_of(k).start + zero) * outputs..][..outputs].fill(0.0);
            }
        }
        parameters
    }

    /// The model with these parameters.
    pub(super) fn penalised_model(&self, parameters: Parameters, train: &Dataset, rows: &[usize]) -> Result<Model> {
        let outputs = self.definition.learned.outputs;
        if !parameters.is_finite() {
            return Err(Error::training("the model's weights are too large for 32-bit numbers")
                .with_remedy("give the target in a larger unit, so that its values become smaller"));
        }
        let mut definition = self.definition.clone();
        if definition.learned.rho != Rho::PerFeature {
            learn_mean_effects(&mut definition, &parameters);
        }
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

/// The mean over training nodes of the effects of every number whose values share a distance function, which centring takes out.
fn learn_mean_effects(definition: &mut Definition, parameters: &Parameters) {
    let (layout, outputs) = (definition.layout(), definition.learned.outputs);
    let features = definition.learned.features.iter_mut().zip(&layout.features);
    for (feature, place) in features.filter(|(feature, _)| feature.kind == Kind::Continuous) {
        let mut mean = vec![0.0; outputs];
        for (level, share) in feature.level_shares().into_iter().enumerate() {
            let values = &parameters.values[(place.first_value + level) * outputs..][..outputs];
            mean.iter_mut().zip(values).for_each(|(mean, value)| *mean += share * f64::from(*value));
        }
        feature.mean_effect = mean;
    }
}
