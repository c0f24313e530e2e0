//! The trainable numbers of a model, and the layout that assigns them to features.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::files::Kind;
use crate::lens::Reach;
use crate::shape::Bank;
use crate::spec::RhoChoice;

use super::bank_specs::BankSpecs;
use super::schema::FeatureSchema;

/// Shape functions start this much smaller than their hidden layers would make them.
const INITIAL_OUTPUT_SCALE: f64 = 0.1;
/// Readout functions start as the identity of whatever is above minus this.
const READOUT_REACH: f32 = 4.0;

/// How `t = 1 / (1 + distance)` enters a rho: as `(t - shift) / scale`.
///
/// The default is about the mean and the spread of `t` over a dozen distances, so that a network distinguishes far
/// distances as easily as near ones.
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
    /// What splines take: `t` itself.
    pub const PLAIN: RhoScale = RhoScale { shift: 0.0, scale: 1.0 };

    /// The argument of a rho at `t`.
    pub fn apply(&self, t: f64) -> f64 {
        (t - self.shift) / self.scale
    }
}

/// What rho is multiplied by at a distance (`None`: unreachable), by the factors of a model: distance 0, 1, ..., and
/// "unreachable" last; none: 1. A distance beyond those of training has the factor of the longest.
pub fn shell_factor(factors: &[f64], distance: Option<usize>) -> f32 {
    match (factors, distance) {
        ([finite @ .., _], Some(distance)) if !finite.is_empty() => finite[distance.min(finite.len() - 1)] as f32,
        ([.., unreachable], _) => *unreachable as f32,
        ([], _) => 1.0,
    }
}

/// Whether all features share one distance function, or each has its own, or groups of them have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rho {
    /// One rho for everything.
    Shared,
    /// One rho per feature, per level of a categorical feature that is not a pair, and one for the bias.
    PerFeature,
    /// One rho per group of features, and one for the bias; features without a group are a group together.
    Grouped,
}

impl Rho {
    /// How many of the first rhos weigh the bias alone and no feature: none where there is one for everything.
    pub fn of_bias_alone(self) -> usize {
        usize::from(self != Rho::Shared)
    }

    /// The choice that leads to it; groups are chosen by naming them.
    pub(crate) fn choice(self) -> Option<RhoChoice> {
        match self {
            Rho::Shared => Some(RhoChoice::Shared),
            Rho::PerFeature => Some(RhoChoice::PerFeature),
            Rho::Grouped => None,
        }
    }
}

/// Everything that training changes.
#[derive(Clone, Debug)]
pub struct Parameters {
    /// One function per numeric feature, in the order of the features.
    pub shapes: Bank,
    /// Every distance function of every lens.
    pub rhos: Bank,
    /// Free values, `[values, outputs]`: the levels of categorical features and the missing level of any.
    pub values: Vec<f32>,
    /// The bias `b` of a source, one per output of a source.
    pub bias: Vec<f32>,
    /// The output bias `b0`, one per output.
    pub output_bias: Vec<f32>,
    /// The readout functions, the structure's first, then one per feature; none without a readout.
    pub readouts: Bank,
}

/// Which network, values and rho belong to a feature.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FeatureLayout {
    /// Its network in the bank of shape functions; `None` for a feature of free values.
    pub network: Option<usize>,
    /// The first of its free values: one per level, then one for missing where there is one.
    pub first_value: usize,
    /// The rho of its first level; the levels of a categorical feature (missing last) have one each, but for a pair.
    pub first_rho: usize,
}

/// A rho as features use it: a distance function, and the distances at which it is not 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RhoRow {
    /// Its distance function, counted within a lens.
    pub function: usize,
    /// Where it is not 0.
    pub reach: Reach,
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
    /// Every rho; rho 0 is the bias's (or the shared one).
    pub rhos: Vec<RhoRow>,
    /// Number of distance functions of every lens.
    pub functions: usize,
    /// Number of lenses.
    pub lenses: usize,
}

impl Layout {
    /// The layout of a model with these features, to which sources within `reach` contribute, by so many lenses.
    pub fn new(features: &[FeatureSchema], rho: Rho, reach: Reach, lenses: usize) -> Layout {
        let bias = RhoRow { function: 0, reach };
        let mut layout =
            Layout { features: Vec::new(), networks: 0, values: 0, rhos: vec![bias], functions: 1, lenses };
        let mut groups: Vec<Option<&str>> = Vec::new();
        for feature in features {
            let has_values = feature.kind == Kind::Categorical || feature.effect_knots.is_some();
            let values = feature.value_count();
            let reach = feature.reach_within(reach);
            let first_rho = match rho {
                Rho::Shared => layout.row(RhoRow { function: 0, reach }),
                Rho::Grouped => {
                    let group = feature.rho_group.as_deref();
                    let place = groups.iter().position(|known| *known == group).unwrap_or_else(|| {
                        groups.push(group);
                        layout.functions += 1;
                        groups.len() - 1
                    });
                    layout.row(RhoRow { function: 1 + place, reach })
                }
                Rho::PerFeature => {
                    let first = layout.rhos.len();
                    for _ in 0..if feature.has_level_rhos() { values } else { 1 } {
                        layout.rhos.push(RhoRow { function: layout.functions, reach });
                        layout.functions += 1;
                    }
                    first
                }
            };
            layout.features.push(FeatureLayout {
                network: (!has_values).then_some(layout.networks),
                first_value: layout.values,
                first_rho,
            });
            layout.networks += usize::from(!has_values);
            layout.values += values;
        }
        layout
    }

    /// The free values of a feature.
    pub fn values_of(&self, feature: usize) -> Range<usize> {
        let end = self.features.get(feature + 1).map_or(self.values, |next| next.first_value);
        self.features[feature].first_value..end
    }

    /// Number of distance functions of all lenses.
    pub fn rho_functions(&self) -> usize {
        self.functions * self.lenses
    }

    /// The distance function of a rho by a lens, counted over all lenses.
    pub fn function(&self, rho: usize, lens: usize) -> usize {
        lens * self.functions + self.rhos[rho].function
    }

    /// The place of a row, which is added where it is new.
    fn row(&mut self, row: RhoRow) -> usize {
        self.rhos.iter().position(|known| *known == row).unwrap_or_else(|| {
            self.rhos.push(row);
            self.rhos.len() - 1
        })
    }
}

impl Parameters {
    /// Draws the parameters that training starts from: rho at `1 / (1 + distance)`, so that near nodes count more, and
    /// every readout function at what it is given.
    pub fn random(layout: &Layout, specs: &BankSpecs, outputs: usize, seed: u64) -> Parameters {
        let RhoScale { shift, scale } = RhoScale::default();
        let mut rhos = Bank::random(&specs.rhos, INITIAL_OUTPUT_SCALE, seed, "rho");
        rhos.add_identity(shift, scale);
        let mut readouts = Bank::random(&specs.readouts, INITIAL_OUTPUT_SCALE, seed, "readout");
        readouts.start_as_identity(READOUT_REACH);
        let source_outputs = if readouts.is_empty() { outputs } else { 1 };
        Parameters {
            shapes: Bank::random(&specs.shapes, INITIAL_OUTPUT_SCALE, seed, "shape functions"),
            rhos,
            values: vec![0.0; layout.values * source_outputs],
            bias: vec![0.0; source_outputs],
            output_bias: vec![0.0; outputs],
            readouts,
        }
    }

    /// Multiplies every source value by a factor per output, and so the outputs before the output bias.
    pub fn scale_sources(&mut self, factors: &[f32]) {
        self.shapes.scale_outputs(factors);
        for row in self.values.chunks_exact_mut(factors.len()).chain([&mut self.bias[..]]) {
            row.iter_mut().zip(factors).for_each(|(value, factor)| *value *= factor);
        }
    }

    /// Divides every distance function by a factor per output and multiplies the source values it applies to by the same:
    /// the model stays what it is. `level_rhos`: for every feature whether each of its levels has a rho of its own.
    pub(crate) fn balance(&mut self, layout: &Layout, level_rhos: &[bool], factors: &[Vec<f32>]) {
        let outputs = self.bias.len();
        for function in 0..layout.rho_functions() {
            let inverse: Vec<f32> = factors[function % layout.functions].iter().map(|factor| 1.0 / factor).collect();
            self.rhos.scale_outputs_of(function, &inverse);
        }
        let times = |numbers: &mut [f32], factors: &[f32]| {
            numbers.iter_mut().zip(factors).for_each(|(number, factor)| *number *= factor);
        };
        times(&mut self.bias, &factors[0]);
        for (k, place) in layout.features.iter().enumerate() {
            if let Some(network) = place.network {
                self.shapes.scale_outputs_of(network, &factors[layout.rhos[place.first_rho].function]);
            }
            for (level, value) in layout.values_of(k).enumerate() {
                let rho = place.first_rho + if level_rhos[k] { level } else { 0 };
                times(&mut self.values[value * outputs..][..outputs], &factors[layout.rhos[rho].function]);
            }
        }
    }

    /// Takes over the numbers of parameters of the same layout, without allocating.
    pub fn copy_from(&mut self, other: &Parameters) {
        self.shapes.copy_from(&other.shapes);
        self.rhos.copy_from(&other.rhos);
        self.values.copy_from_slice(&other.values);
        self.bias.copy_from_slice(&other.bias);
        self.output_bias.copy_from_slice(&other.output_bias);
        self.readouts.copy_from(&other.readouts);
    }

    /// Whether every number is finite.
    pub fn is_finite(&self) -> bool {
        self.shapes.is_finite()
            && self.rhos.is_finite()
            && self.readouts.is_finite()
            && self.values.iter().chain(&self.bias).chain(&self.output_bias).all(|w| w.is_finite())
    }
}
