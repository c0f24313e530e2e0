//! The group penalty: `strength * sum_k sqrt(p_k) * ||w_k||`, which switches whole features off.
//!
//! `w_k` are the weights without which feature `k` has no effect: the output weights of its network, the coefficients of
//! its spline, the values of its levels; its missing value belongs to them. After an Adam step they are shrunk,
//!
//! ```text
//! w_k *= max(0, 1 - rate * strength * sqrt(p_k) / (metric_k * ||w_k||))
//! ```
//!
//! where `metric_k`, the root of the mean second moment of `w_k`, is what Adam divides its steps by: so a feature stays
//! at 0 exactly while the gradient of the loss at 0 is no longer than `strength * sqrt(p_k)`, as the penalty requires.

use std::ops::Range;

use crate::model::parameters::{FeatureLayout, Layout, Parameters};
use crate::shape::{AdamStep, Moments};

/// What switches every feature off.
pub(super) struct FeatureGroups(Vec<FeatureGroup>);

struct FeatureGroup {
    network: Option<usize>,
    /// Its free values, by number.
    values: Range<usize>,
}

impl FeatureGroups {
    pub(super) fn new(layout: &Layout) -> FeatureGroups {
        let group =
            |(k, place): (usize, &FeatureLayout)| FeatureGroup { network: place.network, values: layout.values_of(k) };
        FeatureGroups(layout.features.iter().enumerate().map(group).collect())
    }

    /// For every feature the norm of its weights, or of what stands in their place, over the root of their number.
    pub(super) fn norms(&self, parameters: &Parameters, shapes: &[f32], values: &[f32]) -> Vec<f64> {
        let outputs = parameters.bias.len();
        let norm = |group: &FeatureGroup| {
            let own = group.network.map_or(0..0, |network| parameters.shapes.group_of(network));
            let free = group.values.start * outputs..group.values.end * outputs;
            let count = own.len() + free.len();
            (squares(&shapes[own]) + squares(&values[free])).sqrt() / (count.max(1) as f64).sqrt()
        };
        self.0.iter().map(norm).collect()
    }

    /// Shrinks every group after a step of `shape_step` (networks or splines) and `value_step`.
    pub(super) fn shrink(
        &self,
        parameters: &mut Parameters,
        shapes: &Moments,
        second_of_values: &[f32],
        [shape_step, value_step]: [&AdamStep; 2],
        strength: f32,
    ) {
        let outputs = parameters.bias.len();
        for group in &self.0 {
            let own = group.network.map_or(0..0, |network| parameters.shapes.group_of(network));
            let free = group.values.start * outputs..group.values.end * outputs;
            let count = (own.len() + free.len()) as f64;
            let norm =
                (squares(&parameters.shapes.all()[own.clone()]) + squares(&parameters.values[free.clone()])).sqrt();
            if norm == 0.0 {
                continue;
            }
            let (step, seconds) = match own.is_empty() {
                true => (value_step, &second_of_values[free.clone()]),
                false => (shape_step, &shapes.second.as_slice()[own.clone()]),
            };
            let mean = seconds.iter().map(|second| f64::from(*second)).sum::<f64>() / seconds.len().max(1) as f64;
            let threshold = step.rate() * f64::from(strength) * count.sqrt() / step.metric(mean);
            let factor = (1.0 - threshold / norm).max(0.0) as f32;
            parameters.shapes.all_mut()[own].iter_mut().for_each(|weight| *weight *= factor);
            parameters.values[free].iter_mut().for_each(|value| *value *= factor);
        }
    }
}

fn squares(numbers: &[f32]) -> f64 {
    numbers.iter().map(|x| f64::from(*x) * f64::from(*x)).sum()
}
