//! The trainable numbers of a model, and the layout that says which of them belongs to which feature.

use serde::{Deserialize, Serialize};

use crate::files::Kind;
use crate::shape::{Architecture, Bank};

use super::schema::FeatureSchema;

/// Shape functions start this much smaller than their hidden layers would make them.
const INITIAL_OUTPUT_SCALE: f64 = 0.1;
/// How `t = 1 / (1 + distance)` enters a rho network: as `(t - shift) / scale`.
///
/// The default is about the mean and the spread of `t` over a dozen distances, so that a network tells far distances
/// apart as easily as near ones.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct RhoScale {
    /// Subtracted from `t`.
    pub shift: f64,
    /// Divides the difference.
    pub scale: f64,
}

impl Default for RhoScale {
    fn default() -> Self {
        RhoScale { shift: 0.15, scale: 0.2 }
    }
}

impl RhoScale {
    /// What a rho network sees of `t`.
    pub fn apply(&self, t: f64) -> f32 {
        ((t - self.shift) / self.scale) as f32
    }
}

/// What rho is multiplied by at a slot of `slots`, by the factors of a model (distance 0, 1, ..., "unreachable" last; none:
/// 1). A distance beyond those of training has the factor of the longest.
pub fn shell_factor(factors: &[f64], slot: usize, slots: usize) -> f64 {
    match factors {
        [] => 1.0,
        [only] => *only,
        [finite @ .., unreachable] if slot + 1 == slots || finite.is_empty() => *unreachable,
        [finite @ .., _] => finite[slot.min(finite.len() - 1)],
    }
}

/// Whether all features share one distance function or each has its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rho {
    /// One rho for everything.
    Shared,
    /// One rho per feature, per level of a categorical feature that is not a pair, and one for the bias.
    PerFeature,
}

/// Everything that training changes.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// One network per numeric feature, in the order of the features.
    pub shapes: Bank,
    /// One network, or one per feature.
    pub rhos: Bank,
    /// Free values, `[values, outputs]`: the levels of categorical features and the missing level of any.
    pub values: Vec<f32>,
    /// The bias `b` of a source, one per output.
    pub bias: Vec<f32>,
    /// The output bias `b0`, one per output.
    pub output_bias: Vec<f32>,
}

/// Which network, values and rho belong to a feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureLayout {
    /// Its network in the bank of shape functions; `None` for a categorical feature.
    pub network: Option<usize>,
    /// The first of its free values: one per level, then one for missing where there is one.
    pub first_value: usize,
    /// The rho of its first level; the levels of a categorical feature (missing last) have one each, but for a pair.
    pub first_rho: usize,
}

/// Where the parameters of every feature are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// For every feature.
    pub features: Vec<FeatureLayout>,
    /// Number of shape networks.
    pub networks: usize,
    /// Number of free values, each with one number per output.
    pub values: usize,
    /// Number of rho networks; rho 0 is the bias's (or the shared one).
    pub rhos: usize,
}

impl Layout {
    /// The layout of a model with these features.
    pub fn new(features: &[FeatureSchema], rho: Rho) -> Layout {
        let mut layout = Layout { features: Vec::new(), networks: 0, values: 0, rhos: 1 };
        for feature in features {
            let categorical = feature.kind == Kind::Categorical;
            let values = feature.levels.len() + usize::from(feature.missing.is_some());
            layout.features.push(FeatureLayout {
                network: (!categorical).then_some(layout.networks),
                first_value: layout.values,
                first_rho: if rho == Rho::Shared { 0 } else { layout.rhos },
            });
            layout.networks += usize::from(!categorical);
            layout.values += values;
            if rho == Rho::PerFeature {
                layout.rhos += if feature.has_level_rhos() { values } else { 1 };
            }
        }
        layout
    }
}

impl Parameters {
    /// Draws the parameters that training starts from.
    pub fn random(layout: &Layout, architecture: Architecture, seed: u64) -> Parameters {
        let outputs = architecture.outputs;
        let RhoScale { shift, scale } = RhoScale::default();
        let mut rhos = Bank::random(architecture, layout.rhos, INITIAL_OUTPUT_SCALE, seed, "rho");
        (0..layout.rhos).for_each(|k| {
            // Rho starts at 1 / (1 + distance): near nodes count more.
            architecture.add_line(rhos.block_mut(k), scale as f32, (shift / scale) as f32);
        });
        Parameters {
            shapes: Bank::random(architecture, layout.networks, INITIAL_OUTPUT_SCALE, seed, "shape functions"),
            rhos,
            values: vec![0.0; layout.values * outputs],
            bias: vec![0.0; outputs],
            output_bias: vec![0.0; outputs],
        }
    }

    /// Multiplies what every source says by a factor per output, and so the outputs before the output bias.
    pub fn scale_sources(&mut self, factors: &[f32]) {
        let architecture = self.shapes.architecture();
        for network in 0..self.shapes.len() {
            architecture.scale_outputs(self.shapes.block_mut(network), factors);
        }
        for row in self.values.chunks_exact_mut(factors.len()).chain([&mut self.bias[..]]) {
            row.iter_mut().zip(factors).for_each(|(value, factor)| *value *= factor);
        }
    }

    /// Takes over the numbers of parameters of the same layout, without allocating.
    pub fn copy_from(&mut self, other: &Parameters) {
        self.shapes.copy_from(&other.shapes);
        self.rhos.copy_from(&other.rhos);
        self.values.copy_from_slice(&other.values);
        self.bias.copy_from_slice(&other.bias);
        self.output_bias.copy_from_slice(&other.output_bias);
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        let banks = [&self.shapes, &self.rhos];
        banks.iter().all(|bank| (0..bank.len()).all(|k| bank.block(k).iter().all(|w| w.is_finite())))
            && self.values.iter().chain(&self.bias).chain(&self.output_bias).all(|w| w.is_finite())
    }
}
