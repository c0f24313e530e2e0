//! The targets of a penalised fit: numbers with weights, brought to one scale.

use super::super::resolve::ResolvedSpec;
use super::super::weights::class_weights;
use crate::dataset::{Dataset, Outcome, Target};
use crate::likelihood::Family;

/// The targets of one or several outputs that are fitted together.
pub(super) struct TargetPart {
    pub family: Family,
    pub targets: Vec<f64>,
    pub weights: Vec<f64>,
    /// What was subtracted from a quantity, and what the rest was divided by.
    pub shift: f64,
    pub scale: f64,
}

/// The targets of the outputs, those of one softmax together.
pub(super) fn target_parts(train: &Dataset, outcome: Outcome, resolved: &ResolvedSpec) -> Vec<TargetPart> {
    let classes = match resolved.spec.fit.balance {
        true => class_weights(train, outcome),
        false => Vec::new(),
    };
    let part = |target: &Target| {
        let mut values: Vec<f64> = train.items().iter().map(|item| target.values[*item as usize]).collect();
        let weight = |(item, value): (&u32, &f64)| match value.is_nan() {
            true => 0.0,
            false => f64::from(train.weight(*item)) * classes.get(*value as usize).copied().unwrap_or(1.0),
        };
        let weights: Vec<f64> = train.items().iter().zip(&values).map(weight).collect();
        values.iter_mut().for_each(|value| *value = if value.is_nan() { 0.0 } else { *value });
        let family = match outcome {
            Outcome::Binary | Outcome::MultiLabel => Family::Binomial,
            Outcome::Multiclass => Family::Multinomial(resolved.outputs),
            Outcome::Regression | Outcome::MultiRegression => Family::Gaussian,
        };
        let (mut shift, mut scale) = (0.0, 1.0);
        if family == Family::Gaussian {
            let known = || values.iter().zip(&weights).filter(|(_, weight)| **weight > 0.0).map(|(value, _)| *value);
            let count = (known().count() as f64).max(1.0);
            shift = known().sum::<f64>() / count;
            let spread = (known().map(|value| (value - shift).powi(2)).sum::<f64>() / count).sqrt();
            scale = if spread.is_finite() && spread > 0.0 { spread } else { 1.0 };
            values.iter_mut().for_each(|value| *value = (*value - shift) / scale);
        }
        TargetPart { family, targets: values, weights, shift, scale }
    };
    train.targets().iter().map(part).collect()
}
