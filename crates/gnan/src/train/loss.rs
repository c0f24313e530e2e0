//! Losses: how wrong outputs are, and which way they should move.
//!
//! ```text
//! binary, one logit     log(1 + exp(-y)) or log(1 + exp(y))       g = sigmoid(y) - target
//! classes               log(sum_c exp(y_c)) - y_target            g_c = softmax(y)_c - [c = target]
//! squared error         (y - target)^2                            g = 2 (y - target)
//! absolute error        |y - target|                              g = sign(y - target)
//! ```
//!
//! Losses are means over known targets, weighted; sums run in f64.

use serde::{Deserialize, Serialize};

use crate::dataset::Outcome;

/// What training minimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// One logit per target: binary cross entropy.
    Logistic,
    /// One logit per class: cross entropy.
    CrossEntropy,
    /// Squared error.
    Squared,
    /// Absolute error.
    Absolute,
}

impl Loss {
    /// The usual loss for an outcome.
    pub fn usual(outcome: Outcome, two_logits: bool) -> Loss {
        match outcome {
            Outcome::Binary if !two_logits => Loss::Logistic,
            Outcome::Binary | Outcome::Multiclass => Loss::CrossEntropy,
            Outcome::MultiLabel => Loss::Logistic,
            Outcome::Regression | Outcome::MultiRegression => Loss::Squared,
        }
    }

    /// The word used in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Loss::Logistic => "logistic",
            Loss::CrossEntropy => "cross-entropy",
            Loss::Squared => "squared",
            Loss::Absolute => "absolute",
        }
    }

    /// The loss of that name.
    pub fn named(name: &str) -> Option<Loss> {
        [Loss::Logistic, Loss::CrossEntropy, Loss::Squared, Loss::Absolute].into_iter().find(|loss| loss.name() == name)
    }

    /// The mean loss of `outputs` (`[items, width]`); fills `gradient` (same shape) with its derivative.
    pub fn evaluate(self, outputs: &[f32], goals: &Goals, mut gradient: Option<&mut [f32]>) -> f64 {
        let width = if goals.is_empty() { 1 } else { outputs.len() / goals.len() };
        let total = goals.total_weight;
        let mut sum = 0.0;
        let mut scratch = vec![0.0f64; width];
        for (item, outputs) in outputs.chunks_exact(width).enumerate() {
            let targets = &goals.values[item * goals.width..][..goals.width];
            let weight = f64::from(goals.weights[item]);
            sum += weight * self.one(outputs, targets, &mut scratch, &goals.class_weights);
            if let Some(gradient) = gradient.as_deref_mut() {
                let gradient = &mut gradient[item * width..][..width];
                gradient.iter_mut().zip(&scratch).for_each(|(g, exact)| *g = (exact * weight / total) as f32);
            }
        }
        sum / total
    }

    /// The loss of one item; leaves its derivative in `gradient`.
    fn one(self, outputs: &[f32], targets: &[f32], gradient: &mut [f64], class_weights: &[f64]) -> f64 {
        gradient.fill(0.0);
        if self == Loss::CrossEntropy {
            let Some(target) = targets.first().filter(|t| !t.is_nan()) else { return 0.0 };
            let target = *target as usize;
            let weight = class_weights.get(target).copied().unwrap_or(1.0);
            let largest = outputs.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
            let sum: f64 = outputs.iter().map(|y| f64::from(y - largest).exp()).sum();
            for (c, (g, y)) in gradient.iter_mut().zip(outputs).enumerate() {
                *g = weight * (f64::from(y - largest).exp() / sum - f64::from(u8::from(c == target)));
            }
            return weight * (sum.ln() - f64::from(outputs[target] - largest));
        }
        let mut sum = 0.0;
        for ((y, target), g) in outputs.iter().zip(targets).zip(gradient) {
            if target.is_nan() {
                continue;
            }
            let (y, target) = (f64::from(*y), f64::from(*target));
            let (loss, slope) = match self {
                Loss::Squared => ((y - target).powi(2), 2.0 * (y - target)),
                Loss::Absolute => ((y - target).abs(), if y == target { 0.0 } else { (y - target).signum() }),
                _ => {
                    let weight = class_weights.get(target as usize).copied().unwrap_or(1.0);
                    let signed = if target > 0.5 { -y } else { y };
                    // log(1 + exp(s)) without overflow
                    let loss = signed.max(0.0) + (-signed.abs()).exp().ln_1p();
                    (weight * loss, weight * (1.0 / (1.0 + (-y).exp()) - target))
                }
            };
            sum += loss;
            *g = slope;
        }
        sum
    }
}

/// The targets of some items, with weights.
#[derive(Clone, Debug)]
pub struct Goals {
    pub(super) width: usize,
    /// `[items, targets]`: a class index or a value; NaN is missing.
    pub(super) values: Vec<f32>,
    pub(super) weights: Vec<f32>,
    pub(super) class_weights: Vec<f64>,
    total_weight: f64,
}

impl Goals {
    /// Goals from `[items, width]` values and one weight per item.
    pub fn new(width: usize, values: Vec<f32>, weights: Vec<f32>, class_weights: Vec<f64>) -> Goals {
        let total_weight: f64 = values
            .chunks_exact(width.max(1))
            .zip(&weights)
            .map(|(row, weight)| {
                let known = row.iter().filter(|t| !t.is_nan());
                f64::from(*weight) * known.map(|t| class_weights.get(*t as usize).copied().unwrap_or(1.0)).sum::<f64>()
            })
            .sum();
        let total_weight = if total_weight > 0.0 { total_weight } else { 1.0 };
        Goals { width, values, weights, class_weights, total_weight }
    }

    /// Number of items.
    pub fn len(&self) -> usize {
        self.weights.len()
    }

    /// Whether there are no items.
    pub fn is_empty(&self) -> bool {
        self.weights.is_empty()
    }

    /// The goals of some items.
    pub fn select(&self, items: &[usize]) -> Goals {
        let values = items.iter().flat_map(|i| &self.values[i * self.width..][..self.width]).copied().collect();
        let weights = items.iter().map(|i| self.weights[*i]).collect();
        Goals::new(self.width, values, weights, self.class_weights.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Central differences of every loss, away from the kink of the absolute error.
    #[test]
    fn gradients_match_differences() {
        let outputs = [0.3f32, -1.2, 2.0, 0.7, -0.4, 0.1];
        for (loss, width, values) in [
            (Loss::Logistic, 1, vec![1.0, 0.0, f32::NAN, 1.0, 0.0, 1.0]),
            (Loss::CrossEntropy, 1, vec![2.0, 0.0]),
            (Loss::Squared, 2, vec![1.0, f32::NAN, 0.5, 2.0, -1.0, 0.0]),
            (Loss::Absolute, 1, vec![1.0, 0.0, 0.5, 2.0, -1.0, 0.0]),
        ] {
            let items = values.len() / width;
            let weights = (0..items).map(|i| 1.0 + i as f32 * 0.5).collect();
            let goals = Goals::new(width, values, weights, vec![1.0, 2.0, 0.5]);
            let goals = if matches!(loss, Loss::Squared | Loss::Absolute) {
                Goals::new(goals.width, goals.values, goals.weights, Vec::new())
            } else {
                goals
            };
            let mut gradient = [0.0; 6];
            loss.evaluate(&outputs, &goals, Some(&mut gradient));
            for i in 0..6 {
                let at = |delta: f32| {
                    let mut moved = outputs;
                    moved[i] += delta;
                    loss.evaluate(&moved, &goals, None)
                };
                let difference = (at(1e-3) - at(-1e-3)) / 2e-3;
                assert!((difference - f64::from(gradient[i])).abs() < 1e-3, "{loss:?} {i}: {difference} {gradient:?}");
            }
        }
    }

    #[test]
    fn large_logits_do_not_overflow() {
        let goals = Goals::new(1, vec![0.0, 1.0], vec![1.0; 2], Vec::new());
        assert!((Loss::Logistic.evaluate(&[1e4, 1e4], &goals, None) - 5e3).abs() < 1.0);
    }
}
