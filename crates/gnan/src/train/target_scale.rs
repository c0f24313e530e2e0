//! The scale of targets while training.
//!
//! Whatever the unit of a quantity, the networks are trained on numbers around 0 with a spread of 1; the scale is
//! folded into the parameters afterwards, so that the outputs of a model are in the units of its targets.

use crate::dataset::Dataset;

use super::loss::ItemTargets;
use super::resolve::ResolvedSpec;

/// How targets are brought to a common scale while training, and back into the parameters afterwards.
pub(super) struct TargetScale {
    /// Whether targets are quantities; else they are classes, which stay as they are.
    regression: bool,
    shift: Vec<f64>,
    scale: Vec<f64>,
}

impl TargetScale {
    /// Standardises quantities; classes stay as they are.
    pub(super) fn new(train: &Dataset, resolved: &ResolvedSpec) -> TargetScale {
        let width = train.targets().len();
        let regression = resolved.outcome.is_regression();
        let mut scale = TargetScale { regression, shift: vec![0.0; width], scale: vec![1.0; width] };
        if !regression {
            return scale;
        }
        for (k, target) in train.targets().iter().enumerate() {
            let known: Vec<f64> =
                train.items().iter().map(|item| target.values[*item as usize]).filter(|t| !t.is_nan()).collect();
            let count = known.len().max(1) as f64;
            let mean = known.iter().sum::<f64>() / count;
            let centre = if resolved.output_bias { mean } else { 0.0 };
            let spread = (known.iter().map(|t| (t - centre).powi(2)).sum::<f64>() / count).sqrt();
            scale.shift[k] = centre;
            scale.scale[k] = if spread.is_finite() && spread > 0.0 { spread } else { 1.0 };
        }
        scale
    }

    /// No scale: targets stay as they are.
    pub(super) fn none(targets: usize) -> TargetScale {
        TargetScale { regression: false, shift: vec![0.0; targets], scale: vec![1.0; targets] }
    }

    /// The scale of an earlier training, as [`pairs`](Self::pairs) wrote it down.
    pub(super) fn from_pairs(pairs: &[(f64, f64)]) -> TargetScale {
        let (shift, scale) = pairs.iter().copied().unzip();
        TargetScale { regression: true, shift, scale }
    }

    /// Shift and scale of every quantity; nothing for classes.
    pub(super) fn pairs(&self) -> Vec<(f64, f64)> {
        let pairs = self.shift.iter().copied().zip(self.scale.iter().copied());
        if self.regression { pairs.collect() } else { Vec::new() }
    }

    /// The factor from the common scale to that of the target of an output.
    pub(super) fn factor(&self, output: usize) -> f64 {
        if self.regression { self.scale[output] } else { 1.0 }
    }

    /// Source values are multiplied by this after training, per output, where outputs had `gain` during it.
    pub(super) fn gains(&self, gain: f32, outputs: usize) -> Vec<f32> {
        (0..outputs).map(|c| (f64::from(gain) * self.factor(c)) as f32).collect()
    }

    /// Takes rows of outputs, or the output bias, from the common scale to that of the targets.
    pub(super) fn restore(&self, outputs: &mut [f32]) {
        if self.regression {
            for row in outputs.chunks_exact_mut(self.scale.len()) {
                for ((y, shift), scale) in row.iter_mut().zip(&self.shift).zip(&self.scale) {
                    *y = (f64::from(*y) * scale + shift) as f32;
                }
            }
        }
    }

    /// The targets of some items on the common scale, and how much each of them counts.
    pub(super) fn targets(&self, part: &Dataset, class_weights: &[f64]) -> ItemTargets {
        let width = part.targets().len();
        let mut values = Vec::with_capacity(part.len() * width);
        for item in part.items() {
            for (k, target) in part.targets().iter().enumerate() {
                values.push(((target.values[*item as usize] - self.shift[k]) / self.scale[k]) as f32);
            }
        }
        let weights = part.items().iter().map(|item| part.weight(*item)).collect();
        ItemTargets { width, values, weights, class_weights: class_weights.to_vec() }
    }
}
