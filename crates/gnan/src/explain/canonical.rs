//! The canonical form: the one way of writing a model down that every table, figure and comparison uses.
//!
//! `(a * rho, f / a, b / a)` is the same model for every `a`, and constants can move between the `f_k` and `b`; a raw
//! network output therefore means nothing. In canonical form each rho has its largest absolute value over the
//! distances seen in training at +1; binary and sparse features are 0 at 0; continuous and categorical features have
//! mean 0 over the training nodes. What is taken out of the features is part of the *structure curve* `beta(l)`, what
//! the shape of the graph alone contributes. Everything here is f64.

use std::sync::OnceLock;

use serde::Serialize;

use crate::dataset::Outcome;
use crate::files::{Kind, Task};
use crate::model::{Description, FeatureSchema, Layout, Model, Rho, Support, shell_factor};
use crate::shape::PiecewiseLinear;

/// A rho in canonical form.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RhoCurve {
    /// What it weighs: "all features", "bias", a feature, or a level (`element: O`).
    pub name: String,
    /// `[slots][outputs]`: distance 0, 1, ..., and "unreachable" last.
    pub values: Vec<Vec<f64>>,
}

/// A level of a categorical feature, the missing level of any feature, or the 1 of a binary one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CanonicalLevel {
    /// Its name.
    pub name: String,
    /// Whether it stands for missing values.
    pub missing: bool,
    /// Its value per output, at the distance where rho is 1.
    pub values: Vec<f64>,
    /// What stands behind it.
    pub support: Support,
}

/// A feature in canonical form.
#[derive(Clone, Debug, PartialEq)]
pub struct CanonicalFeature {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// Its levels: of a categorical feature, the 1 of a binary one, and the missing level where there is one. A
    /// categorical feature whose levels have a rho each is not centred here but per distance: see
    /// [`Canonical::product`].
    pub levels: Vec<CanonicalLevel>,
}

/// A model in canonical form.
#[derive(Clone, Debug)]
pub struct Canonical {
    pub(super) model: Model,
    layout: Layout,
    slots: usize,
    seen: Vec<bool>,
    /// `[rhos][slots][outputs]`, raw.
    rho: Vec<Vec<Vec<f64>>>,
    /// `[rhos][outputs]`: raw rho divided by this is canonical.
    pub(super) scale: Vec<Vec<f64>>,
    /// `[features][slots][outputs]`: what centring takes out of every product.
    centre: Vec<Vec<Vec<f64>>>,
    structure: Vec<Vec<f64>>,
    output_bias: Vec<f64>,
    /// For every continuous or sparse feature raw `f_k`, knot by knot, once it has been asked for.
    curves: Vec<OnceLock<PiecewiseLinear>>,
}

/// A value of a feature, as a product is asked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// A number of a numeric feature.
    Number(f64),
    /// A level of a categorical feature, by name.
    Level(&'a str),
    /// A missing value.
    Missing,
}

impl Model {
    /// The model in canonical form, for distances up to the longest seen in training.
    pub fn canonical(&self) -> Canonical {
        Canonical::new(self, self.description().receivers.len())
    }
}

impl Canonical {
    /// The canonical form for `slots` slots, which may be more than training has seen.
    pub fn new(model: &Model, slots: usize) -> Canonical {
        let description = model.description();
        let layout = Layout::new(&description.features, description.rho);
        let outputs = model.outputs();
        let rho: Vec<Vec<Vec<f64>>> =
            (0..layout.rhos).map(|r| (0..slots).map(|slot| raw_rho(model, r, slot, slots)).collect()).collect();
        let seen = seen_slots(&description.receivers, slots);
        let scale = rho.iter().map(|rho| (0..outputs).map(|c| largest(rho, &seen, c)).collect()).collect();
        let mut canonical = Canonical {
            model: model.clone(),
            layout,
            slots,
            seen,
            rho,
            scale,
            centre: Vec::new(),
            structure: Vec::new(),
            output_bias: model.parameters().output_bias.iter().map(|b| f64::from(*b)).collect(),
            curves: vec![OnceLock::new(); description.features.len()],
        };
        canonical.centre = (0..description.features.len()).map(|k| canonical.centre_of(k)).collect();
        canonical.structure = canonical.structure_curve();
        canonical.fold_constants();
        canonical
    }

    /// What the model is that this is the canonical form of.
    pub fn description(&self) -> &Description {
        self.model.description()
    }

    /// The same model for another number of slots.
    pub fn with_slots(&self, slots: usize) -> Canonical {
        Canonical { curves: self.curves.clone(), ..Canonical::new(&self.model, slots) }
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.output_bias.len()
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Whether a slot occurred in training.
    pub fn seen(&self, slot: usize) -> bool {
        self.seen[slot]
    }

    /// `b0`, with the constants that belong to it.
    pub fn output_bias(&self) -> &[f64] {
        &self.output_bias
    }

    /// The structure curve `beta(l)`, `[slots][outputs]`.
    pub fn structure(&self) -> &[Vec<f64>] {
        &self.structure
    }

    /// Every rho. With one rho per feature the first is the bias's, which is part of the structure curve.
    pub fn rhos(&self) -> Vec<RhoCurve> {
        let names = self.rho_names();
        (self.rho.iter().zip(&self.scale).zip(names))
            .map(|((rho, scale), name)| {
                let values = rho.iter().map(|row| row.iter().zip(scale).map(|(value, a)| divide(*value, *a)).collect());
                RhoCurve { name, values: values.collect() }
            })
            .collect()
    }

    pub(super) fn rho_names(&self) -> Vec<String> {
        let description = self.model.description();
        if description.rho == Rho::Shared {
            return vec!["all features".to_owned()];
        }
        let mut names = vec!["bias".to_owned()];
        for feature in &description.features {
            if feature.has_level_rhos() {
                names.extend(feature.levels.iter().map(|level| format!("{}: {}", feature.name, level.name)));
                names.extend(feature.missing.map(|_| format!("{}: missing", feature.name)));
            } else {
                names.push(feature.name.clone());
            }
        }
        names
    }

    /// Every feature with its levels.
    pub fn features(&self) -> Vec<CanonicalFeature> {
        let features = self.model.description().features.iter().enumerate();
        features
            .map(|(k, feature)| CanonicalFeature {
                name: feature.name.clone(),
                kind: feature.kind,
                levels: self.levels_of(k, feature),
            })
            .collect()
    }

    pub(super) fn levels_of(&self, k: usize, feature: &FeatureSchema) -> Vec<CanonicalLevel> {
        let mut levels: Vec<(String, Value<'_>, Support)> =
            feature.levels.iter().map(|level| (level.name.clone(), Value::Level(&level.name), level.support)).collect();
        if feature.kind == Kind::Binary {
            levels.push(("1".to_owned(), Value::Number(1.0), feature.support));
        }
        levels.extend(feature.missing.map(|support| ("missing".to_owned(), Value::Missing, support)));
        levels
            .into_iter()
            .filter_map(|(name, value, support)| {
                let values = self.shape(k, value)?;
                Some(CanonicalLevel { name, missing: value == Value::Missing, values, support })
            })
            .collect()
    }

    /// `f_k` at a value, per output: its effect at the distance where its rho is 1. `None`: unseen in training.
    pub fn shape(&self, k: usize, value: Value<'_>) -> Option<Vec<f64>> {
        let (said, rho) = self.said(k, value)?;
        let mean = self.centred_by(k);
        Some(said.iter().zip(mean).zip(&self.scale[rho]).map(|((said, mean), a)| (said - mean) * a).collect())
    }

    /// `f_k` of a continuous or sparse feature, knot by knot; `None` for the other kinds.
    pub fn shape_curve(&self, k: usize) -> Option<PiecewiseLinear> {
        let curve = self.raw_curve(k)?.clone();
        Some(curve.rescaled(&self.centred_by(k), &self.scale[self.layout.features[k].first_rho]))
    }

    /// Whether every level of a feature has a rho of its own; then it is centred per distance, on the products.
    pub fn has_level_rhos(&self, k: usize) -> bool {
        let description = self.model.description();
        description.features[k].has_level_rhos() && description.rho == Rho::PerFeature
    }

    /// Which of [`rhos`](Self::rhos) the level (of a categorical feature; missing comes last) or curve of a feature is
    /// heard with.
    pub fn rho_of(&self, k: usize, level: usize) -> usize {
        self.layout.features[k].first_rho + if self.has_level_rhos(k) { level } else { 0 }
    }

    /// What is taken out of raw `f_k` before it is shown.
    fn centred_by(&self, k: usize) -> Vec<f64> {
        if self.has_level_rhos(k) { vec![0.0; self.outputs()] } else { self.mean_effect(k) }
    }

    /// `rho(l) * f_k(value)`, centred: what one such source adds to a shell of its own, per output. A value unseen in
    /// training contributes 0.
    pub fn product(&self, k: usize, value: Value<'_>, slot: usize) -> Vec<f64> {
        match self.said(k, value) {
            None => vec![0.0; self.outputs()],
            Some((said, rho)) => {
                let (rho, centre) = self.factors(k, rho, slot);
                (0..self.outputs()).map(|c| said[c] * rho[c] - centre[c]).collect()
            }
        }
    }

    /// Raw rho and what centring takes out, per output: what a source says, as [`said`](Self::said) gives it, times the
    /// one and less the other is its product.
    pub(super) fn factors(&self, k: usize, rho: usize, slot: usize) -> (&[f64], &[f64]) {
        (&self.rho[rho][slot], &self.centre[k][slot])
    }

    /// Raw `f_k` and the rho it is heard with; `None`: unseen in training.
    pub(super) fn said(&self, k: usize, value: Value<'_>) -> Option<(Vec<f64>, usize)> {
        let feature = &self.model.description().features[k];
        let place = &self.layout.features[k];
        let parameters = self.model.parameters();
        let outputs = self.outputs();
        let free = |level: usize| {
            let value = place.first_value + level;
            parameters.values[value * outputs..][..outputs].iter().map(|x| f64::from(*x)).collect::<Vec<_>>()
        };
        match value {
            Value::Level(name) => {
                let level = feature.level(name)?;
                Some((free(level), self.rho_of(k, level)))
            }
            Value::Missing => {
                feature.missing?;
                let level = feature.levels.len();
                Some((free(level), self.rho_of(k, level)))
            }
            Value::Number(x) => {
                let (network, scale) = (place.network?, feature.scale?);
                if feature.kind != Kind::Continuous && x == 0.0 {
                    return Some((vec![0.0; outputs], place.first_rho));
                }
                if let Some(curve) = self.raw_curve(k) {
                    return Some((curve.evaluate(scale.within(x)), place.first_rho));
                }
                let (size, block) = (parameters.shapes.architecture(), parameters.shapes.block(network));
                let (at, reference) = (size.evaluate(block, f64::from(scale.apply(x))), size.evaluate(block, 0.0));
                Some((at.iter().zip(reference).map(|(at, reference)| at - reference).collect(), place.first_rho))
            }
        }
    }

    /// Raw `f_k` of a continuous or sparse feature.
    fn raw_curve(&self, k: usize) -> Option<&PiecewiseLinear> {
        let feature = &self.model.description().features[k];
        if !matches!(feature.kind, Kind::Continuous | Kind::Sparse) {
            return None;
        }
        let (network, scale) = (self.layout.features[k].network?, feature.scale?);
        Some(self.curves[k].get_or_init(|| {
            let bank = &self.model.parameters().shapes;
            let (size, block) = (bank.architecture(), bank.block(network));
            let reference = size.evaluate(block, 0.0);
            let unchanged = vec![1.0; reference.len()];
            size.knots(block).rescaled(&reference, &unchanged).of_unscaled(scale.shift, scale.scale)
        }))
    }

    /// The mean of raw `f_k` over the training nodes; 0 for binary and sparse features.
    pub(super) fn mean_effect(&self, k: usize) -> Vec<f64> {
        let feature = &self.model.description().features[k];
        let outputs = self.model.outputs();
        let mut mean = vec![0.0; outputs];
        match feature.kind {
            Kind::Continuous => feature.mean_effect.iter().zip(&mut mean).for_each(|(from, to)| *to = *from),
            Kind::Categorical => {
                let first = self.layout.features[k].first_value;
                for (level, share) in feature.level_shares().into_iter().enumerate() {
                    for (c, mean) in mean.iter_mut().enumerate() {
                        *mean += share * f64::from(self.model.parameters().values[(first + level) * outputs + c]);
                    }
                }
            }
            Kind::Binary | Kind::Sparse => {}
        }
        mean
    }

    /// What centring takes out of the products of a feature, `[slots][outputs]`.
    fn centre_of(&self, k: usize) -> Vec<Vec<f64>> {
        let feature = &self.model.description().features[k];
        let place = &self.layout.features[k];
        let outputs = self.outputs();
        if self.has_level_rhos(k) {
            let shares = feature.level_shares();
            let mean = |slot: usize, c: usize| {
                let levels = shares.iter().enumerate();
                let products = levels.map(|(level, share)| {
                    let said = f64::from(self.model.parameters().values[(place.first_value + level) * outputs + c]);
                    share * said * self.rho[place.first_rho + level][slot][c]
                });
                products.sum::<f64>()
            };
            return (0..self.slots).map(|slot| (0..outputs).map(|c| mean(slot, c)).collect()).collect();
        }
        let mean = self.mean_effect(k);
        let rho = &self.rho[place.first_rho];
        rho.iter().map(|row| row.iter().zip(&mean).map(|(rho, mean)| rho * mean).collect()).collect()
    }

    /// `beta(l) = b * rho_b(l) + sum_k` of what centring took out of the products.
    fn structure_curve(&self) -> Vec<Vec<f64>> {
        let bias: Vec<f64> = self.model.parameters().bias.iter().map(|b| f64::from(*b)).collect();
        let beta = |slot: usize, c: usize| {
            bias[c] * self.rho[0][slot][c] + self.centre.iter().map(|centre| centre[slot][c]).sum::<f64>()
        };
        (0..self.slots).map(|slot| (0..bias.len()).map(|c| beta(slot, c)).collect()).collect()
    }

    /// Whether `beta(0)` is a constant like `b0` and counted there: in a node task, where the structure has a curve of
    /// its own.
    pub fn folds_structure(&self) -> bool {
        let description = self.model.description();
        description.task == Task::Node && (description.rho == Rho::PerFeature || description.hop_cap.is_some())
    }

    /// `beta(0)` may belong to `b0`; in a softmax `b0` has mean 0.
    fn fold_constants(&mut self) {
        let description = self.model.description();
        if self.folds_structure() {
            for (bias, beta) in self.output_bias.iter_mut().zip(&mut self.structure[0]) {
                *bias += std::mem::take(beta);
            }
        }
        if description.outcome == Outcome::Multiclass {
            let mean = self.output_bias.iter().sum::<f64>() / self.output_bias.len() as f64;
            self.output_bias.iter_mut().for_each(|bias| *bias -= mean);
        }
    }
}

/// Raw rho in f64, with the hop cap.
fn raw_rho(model: &Model, r: usize, slot: usize, slots: usize) -> Vec<f64> {
    let description = model.description();
    let unreachable = slot + 1 == slots;
    if description.hop_cap.is_some_and(|cap| unreachable || slot > cap) {
        return vec![0.0; model.outputs()];
    }
    let t = if unreachable { 0.0 } else { 1.0 / (1.0 + slot as f64) };
    let bank = &model.parameters().rhos;
    let rho = bank.architecture().evaluate(bank.block(r), f64::from(description.rho_scale.apply(t)));
    let factor = f64::from(shell_factor(&description.shell_scale, slot, slots) as f32);
    rho.into_iter().map(|rho| rho * factor).collect()
}

/// Which of `slots` slots occurred in training; the last of both is "unreachable".
fn seen_slots(receivers: &[f64], slots: usize) -> Vec<bool> {
    let finite = receivers.len() - 1;
    (0..slots)
        .map(|slot| if slot + 1 == slots { receivers[finite] > 0.0 } else { slot < finite && receivers[slot] > 0.0 })
        .collect()
}

/// The value of largest size over the seen slots, the nearest of several; 0 if rho is 0 everywhere.
fn largest(rho: &[Vec<f64>], seen: &[bool], c: usize) -> f64 {
    let mut largest = 0.0f64;
    for (row, _) in rho.iter().zip(seen).filter(|(_, seen)| **seen) {
        if row[c].abs() > largest.abs() {
            largest = row[c];
        }
    }
    largest
}

fn divide(value: f64, by: f64) -> f64 {
    if by == 0.0 { 0.0 } else { value / by }
}
