//! How sure a penalised model is of its predictions: standard deviations and 95 % intervals.
//!
//! An output is a sum of coefficients, whose standard deviation is that of the posterior. A quantity lies around its output with
//! the noise of the targets, which a prediction interval holds as well. The interval of a probability is that of its log-odds,
//! transformed, so that it stays between 0 and 1; that of the mean of counts or gamma quantities is that of its logarithm,
//! transformed, so that it stays above 0: how single counts vary around their mean comes on top.

use std::sync::Arc;

use rayon::prelude::*;

use crate::dataset::{Dataset, Feature, Outcome};
use crate::error::Result;
use crate::model::{CoefficientSums, Learned, Model, Posterior, rhos_of_units};
use crate::statistics::{Levels, Statistics};

/// Standard deviations to either side of the mean that hold 95 % of a normal number.
const WIDTH: f64 = 1.959_963_984_540_054;

/// How sure a model is of one number that it predicts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PredictionBand {
    /// The standard deviation of the output, in the unit of a quantity, of the logarithm of a mean, or of the log-odds of a class; the
    /// noise of targets is left out.
    pub sd: f64,
    /// The lower end of the 95 % interval: of the quantity itself, noise included, of the mean of counts or gamma quantities, or of the
    /// probability of the class.
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

impl Model {
    /// Whether predictions come with standard deviations and intervals: the model was fitted by penalised likelihood, and has not
    /// too many coefficients for that.
    pub fn has_prediction_bands(&self) -> bool {
        self.posterior().is_some_and(|posterior| posterior.has_covariances())
    }

    /// For every item of `data` the bands of its classes or targets, given their outputs and the levels of the features of all data;
    /// none for other models.
    pub(super) fn prediction_bands(
        &self,
        data: &Dataset,
        features: &[Feature],
        levels: &Arc<Levels>,
        outputs: &[f32],
    ) -> Result<Vec<Vec<PredictionBand>>> {
        let Some(posterior) = self.posterior().filter(|posterior| posterior.has_covariances()) else {
            return Ok(Vec::new());
        };
        debug_assert_eq!(features.len(), levels.features.len());
        let definition = self.definition();
        let statistics = Statistics::in_cells(data, Arc::clone(levels), definition.statistics_request())?;
        let sums = CoefficientSums::new(definition, &statistics.axis);
        let rhos = rhos_of_units(definition, levels);
        let rows: Vec<&[f32]> = outputs.chunks_exact(self.outputs().max(1)).collect();
        let band = |(row, outputs): (usize, &&[f32])| {
            let sum = sums.output(&statistics, &rhos, row);
            let outputs: Vec<f64> = outputs.iter().map(|y| f64::from(*y)).collect();
            bands(posterior, &definition.learned, &sum, &outputs)
        };
        Ok(rows.par_iter().enumerate().map(band).collect())
    }
}

/// The bands of the classes or targets of an item.
fn bands(posterior: &Posterior, learned: &Learned, sum: &[(usize, f64)], outputs: &[f64]) -> Vec<PredictionBand> {
    let probability = |log_odds: f64, sd: f64| PredictionBand {
        sd,
        lower: logistic(log_odds - WIDTH * sd),
        upper: logistic(log_odds + WIDTH * sd),
    };
    let alone = || posterior.own_sd(sum).unwrap_or_default();
    match learned.outcome {
        Outcome::Regression | Outcome::MultiRegression => {
            let quantity = |((output, sd), noise): ((&f64, f64), f64)| {
                let half = WIDTH * (noise + sd * sd).sqrt();
                PredictionBand { sd, lower: learned.value_of(output - half), upper: learned.value_of(output + half) }
            };
            outputs.iter().zip(alone()).zip(posterior.noise()).map(quantity).collect()
        }
        Outcome::MultiLabel => outputs.iter().zip(alone()).map(|(y, sd)| probability(*y, sd)).collect(),
        // The first class has the log-odds of the second, their sign changed.
        Outcome::Binary => {
            let yes = probability(outputs[0], alone().first().copied().unwrap_or(0.0));
            vec![PredictionBand { sd: yes.sd, lower: 1.0 - yes.upper, upper: 1.0 - yes.lower }, yes]
        }
        Outcome::Multiclass => {
            // The log-odds of class c are y_c - log of the sum of exp(y_j) over the others.
            let class = |c: usize| {
                let others = || outputs.iter().enumerate().filter(move |(j, _)| *j != c);
                let largest = others().map(|(_, y)| *y).fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = others().map(|(_, y)| (y - largest).exp()).sum();
                let slope = |j: usize| if j == c { 1.0 } else { -(outputs[j] - largest).exp() / total };
                (outputs[c] - largest - total.ln(), (0..outputs.len()).map(slope).collect::<Vec<f64>>())
            };
            let (log_odds, slopes): (Vec<f64>, Vec<Vec<f64>>) = (0..outputs.len()).map(class).unzip();
            let sds = posterior.mixed_sds(sum, &slopes).unwrap_or_default();
            log_odds.into_iter().zip(sds).map(|(log_odds, sd)| probability(log_odds, sd)).collect()
        }
    }
}

fn logistic(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}
