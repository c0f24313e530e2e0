//! The canonical form: the one way of writing a model down that every table, figure and comparison uses.
//!
//! `(a * rho, f / a, b / a)` is the same model for every `a`, and constants can move between the `f_k` and `b`; a raw
//! network output therefore means nothing. What is identifiable is the product, the *effect table*
//! `E_k(v, l) = rho_k(l) * f_k(v)`: what a node with value `v` adds to a receiver, alone at distance `l`. It is centred at
//! every distance: binary and sparse features have effect 0 at 0, continuous and categorical features mean 0 over the
//! training nodes. What centring takes out is part of the *structure curve* `beta(l)`, what the shape of the graph alone
//! contributes. The *shape* of a feature is the column of its effect table at its [anchor](Canonical::anchor), and the
//! influence by distance is rho relative to its value there. Everything here is f64.

use std::sync::OnceLock;

use serde::Serialize;

use crate::dataset::Outcome;
use crate::files::{Kind, Task};
use crate::lens::{DistanceAxis, Pool, Reach};
use crate::model::{Definition, FeatureSchema, Layout, Model, Rho, Support, shell_factor};
use crate::shape::Piecewise;

use super::anchor::LEAST_EFFECT;

/// The influence by distance: a rho relative to its value at the anchor of the features that it weighs. A rho that is no
/// influence (see [`Canonical::is_separable`]), and that of the bias alone, is relative to its largest value: there only the
/// effect table means something.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RhoCurve {
    /// What it weighs: "all features", "bias", a feature, or a level (`element: O`).
    pub name: String,
    /// The distance at which it is 1; none where it is no influence.
    pub anchor: Option<String>,
    /// `[slots][outputs]`: distance 0, 1, ..., and "unreachable" last.
    pub values: Vec<Vec<f64>>,
}

impl RhoCurve {
    /// Whether it is 0 at every distance.
    pub fn is_zero(&self) -> bool {
        self.values.iter().flatten().all(|value| *value == 0.0)
    }
}

/// A level of a categorical feature, the missing level of any feature, or the 1 of a binary one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CanonicalLevel {
    /// Its name.
    pub name: String,
    /// Whether it stands for missing values.
    pub missing: bool,
    /// Its effect at the anchor of the feature, per shown output.
    pub values: Vec<f64>,
    /// Its support in training.
    pub support: Support,
}

/// A feature in canonical form.
#[derive(Clone, Debug, PartialEq)]
pub struct CanonicalFeature {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// Its levels: of a categorical feature, the 1 of a binary one, and the missing level where there is one.
    pub levels: Vec<CanonicalLevel>,
}

/// A model in canonical form.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// let canonical = model.canonical();
/// let features = canonical.features();
/// assert_eq!(features.len(), train.features().len());
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Canonical {
    pub(super) model: Model,
    /// Where the parameters of every feature are.
    pub(super) layout: Layout,
    axis: DistanceAxis,
    seen: Vec<bool>,
    /// `[rhos][slots][outputs]`, raw.
    rho: Vec<Vec<Vec<f64>>>,
    /// `[rhos][outputs]`: the value of raw rho of largest size over the distances seen in training.
    largest: Vec<Vec<f64>>,
    /// The anchor of every feature, once it was needed.
    pub(super) anchors: Vec<OnceLock<usize>>,
    /// What every rho is divided by, once it was needed: see [`rho_scale`](Self::rho_scale).
    rho_scales: OnceLock<Vec<Vec<f64>>>,
    /// `[features][slots][outputs]`: what centring takes out of every product.
    centre: Vec<Vec<Vec<f64>>>,
    structure: Vec<Vec<f64>>,
    output_bias: Vec<f64>,
    /// `b0` without the constants that belong to it only where there are nodes.
    empty_output: Vec<f64>,
    /// For every continuous or sparse feature raw `f_k`, knot by knot, once it was needed.
    curves: Vec<OnceLock<Piecewise>>,
}

/// A part of raw `f_k` at a value, and the rho that weighs it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RawTerm {
    /// Per output.
    pub values: Vec<f64>,
    /// The rho.
    pub rho: usize,
}

/// A value of a feature at which its shape function is evaluated.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FeatureValue<'a> {
    /// A number of a numeric feature.
    Number(f64),
    /// A level of a categorical feature, by name.
    Level(&'a str),
    /// A missing value.
    Missing,
}

impl Model {
    /// The model in canonical form, for distances up to the longest seen in training.
    ///
    /// Of a model with a readout this is the part before the readout.
    pub fn canonical(&self) -> Canonical {
        match self.before_readout() {
            Some(before) => Canonical::new(&before, before.definition().axis()),
            None => Canonical::new(self, self.definition().axis()),
        }
    }
}

impl Canonical {
    /// The canonical form for the slots of an axis, which may be more than training has seen.
    #[doc(hidden)]
    pub fn new(model: &Model, axis: DistanceAxis) -> Canonical {
        let definition = model.definition();
        let layout = definition.layout();
        let outputs = model.outputs();
        let rho: Vec<Vec<Vec<f64>>> = (0..layout.rhos.len())
            .map(|r| (0..axis.slots()).map(|slot| raw_rho(model, &layout, &axis, r, slot)).collect())
            .collect();
        let seen = seen_slots(definition, &layout, &axis);
        let largest = rho.iter().map(|rho| (0..outputs).map(|c| largest(rho, &seen, c)).collect()).collect();
        let mut canonical = Canonical {
            model: model.clone(),
            layout,
            axis,
            seen,
            rho,
            largest,
            anchors: vec![OnceLock::new(); definition.learned.features.len()],
            rho_scales: OnceLock::new(),
            centre: Vec::new(),
            structure: Vec::new(),
            output_bias: model.parameters().output_bias.iter().map(|b| f64::from(*b)).collect(),
            empty_output: Vec::new(),
            curves: vec![OnceLock::new(); definition.learned.features.len()],
        };
        canonical.centre = (0..definition.learned.features.len()).map(|k| canonical.centre_of(k)).collect();
        canonical.structure = canonical.structure_curve();
        canonical.fold_constants();
        canonical
    }

    /// What the model is that this is the canonical form of.
    pub fn definition(&self) -> &Definition {
        self.model.definition()
    }

    /// The same model for other slots of the same lenses.
    #[doc(hidden)]
    pub fn with_axis(&self, axis: &DistanceAxis) -> Canonical {
        Canonical { curves: self.curves.clone(), ..Canonical::new(&self.model, axis.clone()) }
    }

    /// The distances it is given for.
    pub fn axis(&self) -> &DistanceAxis {
        &self.axis
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.output_bias.len()
    }

    /// Number of slots.
    pub fn slots(&self) -> usize {
        self.axis.slots()
    }

    /// Whether a slot occurred in training, and is within the reach of any rho.
    pub fn seen(&self, slot: usize) -> bool {
        self.seen[slot]
    }

    /// The support of everything in a slot: receivers with a source there, and items with such a receiver.
    pub fn support_at(&self, slot: usize) -> Support {
        if !self.seen[slot] {
            return Support::default();
        }
        let learned = &self.definition().learned;
        let trained = self.axis.slot_on(&self.definition().axis(), slot);
        let items = learned.items_at.get(trained).copied().unwrap_or(0);
        Support { nodes: self.receivers_at(slot).round() as u64, graphs: 0, items }
    }

    /// For every lens the slot of the shortest distance that occurs in training but in few items.
    pub fn first_rare_slots(&self) -> Vec<usize> {
        let axis = self.axis();
        let is_rare =
            |slot: &usize| axis.distance(*slot).is_some() && self.seen(*slot) && self.support_at(*slot).is_little();
        (0..axis.lenses()).filter_map(|lens| axis.range(lens).find(is_rare)).collect()
    }

    /// How many training receivers have a source in a slot; 0 for distances longer than any in training.
    pub(super) fn receivers_at(&self, slot: usize) -> f64 {
        if !self.seen[slot] {
            return 0.0;
        }
        let trained = self.definition().axis();
        self.definition().learned.receivers[self.axis.slot_on(&trained, slot)]
    }

    /// `b0`, with the constants that belong to it.
    pub fn output_bias(&self) -> &[f64] {
        &self.output_bias
    }

    /// The output of a graph without nodes: `b0` alone.
    pub fn empty_output(&self) -> &[f64] {
        &self.empty_output
    }

    /// The structure curve `beta(l)`, `[slots][outputs]`.
    pub fn structure(&self) -> &[Vec<f64>] {
        &self.structure
    }

    /// Every rho. With one rho per feature the first is the bias's, which is part of the structure curve.
    pub fn rhos(&self) -> Vec<RhoCurve> {
        let names = self.rho_names().into_iter().zip(self.rho_anchors()).enumerate();
        let curve = |(r, (name, anchor)): (usize, (String, Option<usize>))| RhoCurve {
            name,
            anchor: anchor.map(|slot| self.axis.name(slot)),
            values: self.rho_over(r, self.rho_scale(r)),
        };
        names.map(curve).collect()
    }

    /// Every rho divided by its value of largest size: `[rhos][slots][outputs]`.
    pub(crate) fn rhos_over_largest(&self) -> Vec<Vec<Vec<f64>>> {
        (0..self.rho.len()).map(|r| self.rho_over(r, &self.largest[r])).collect()
    }

    fn rho_over(&self, r: usize, scale: &[f64]) -> Vec<Vec<f64>> {
        self.rho[r].iter().map(|row| row.iter().zip(scale).map(|(value, a)| divide(*value, *a)).collect()).collect()
    }

    /// What raw rho is divided by, per output: its value at the anchor; its largest for an output for which it is next to nothing
    /// there, and where it weighs no feature or a single level.
    pub(super) fn rho_scale(&self, r: usize) -> &[f64] {
        let find = || {
            let scale = |(r, anchor): (usize, Option<usize>)| {
                let largest = &self.largest[r];
                let Some(anchor) = anchor else { return largest.clone() };
                let at_anchor = self.rho[r][anchor].iter().zip(largest);
                let scale = |(value, largest): (&f64, &f64)| {
                    if value.abs() < LEAST_EFFECT * largest.abs() { *largest } else { *value }
                };
                at_anchor.map(scale).collect()
            };
            self.rho_anchors().into_iter().enumerate().map(scale).collect()
        };
        &self.rho_scales.get_or_init(find)[r]
    }

    pub(super) fn rho_names(&self) -> Vec<String> {
        let definition = self.model.definition();
        if definition.learned.rho != Rho::PerFeature {
            return (0..self.layout.rhos.len()).map(|rho| self.rho_name(rho)).collect();
        }
        let mut names = vec!["bias".to_owned()];
        for feature in &definition.learned.features {
            if feature.has_level_rhos() {
                names.extend(feature.levels.iter().map(|level| format!("{}: {}", feature.name, level.name)));
                let knots = feature.effect_knots.iter().flat_map(|knots| &knots.at);
                names.extend(knots.map(|knot| format!("{}: {knot}", feature.name)));
                names.extend(feature.missing.map(|_| format!("{}: missing", feature.name)));
            } else {
                names.push(feature.name.clone());
            }
        }
        names
    }

    /// The name of a rho that features may share: the group, or the features that it weighs.
    fn rho_name(&self, rho: usize) -> String {
        let definition = self.model.definition();
        let places = definition.learned.features.iter().zip(&self.layout.features);
        let mut weighed = places.filter(|(_, place)| place.first_rho == rho).map(|(feature, _)| feature).peekable();
        let ruled = weighed.peek().and_then(|feature| feature.reach).map(|reach| format!(" ({})", reach.words()));
        let name = match (definition.learned.rho, weighed.peek()) {
            (Rho::Shared, _) if rho == 0 => return "all features".to_owned(),
            (_, None) => return "bias".to_owned(),
            (Rho::Grouped, Some(first)) => first.rho_group.clone().unwrap_or_else(|| "other features".to_owned()),
            _ => weighed.map(|feature| feature.name.as_str()).collect::<Vec<_>>().join(", "),
        };
        format!("{name}{}", ruled.unwrap_or_default())
    }

    /// Every feature with its levels.
    pub fn features(&self) -> Vec<CanonicalFeature> {
        let features = self.model.definition().learned.features.iter().enumerate();
        features
            .map(|(k, feature)| CanonicalFeature {
                name: feature.name.clone(),
                kind: feature.kind,
                levels: self.levels_of(k, feature),
            })
            .collect()
    }

    /// The levels of a feature: name, value, support.
    pub(super) fn level_values<'a>(&self, feature: &'a FeatureSchema) -> Vec<(String, FeatureValue<'a>, Support)> {
        let mut levels: Vec<(String, FeatureValue<'_>, Support)> = feature
            .levels
            .iter()
            .map(|level| (level.name.clone(), FeatureValue::Level(&level.name), level.support))
            .collect();
        if feature.kind == Kind::Binary {
            levels.push(("1".to_owned(), FeatureValue::Number(1.0), feature.support));
        }
        levels.extend(feature.missing.map(|support| ("missing".to_owned(), FeatureValue::Missing, support)));
        levels
    }

    fn levels_of(&self, k: usize, feature: &FeatureSchema) -> Vec<CanonicalLevel> {
        let level = |(name, value, support)| {
            let values = self.effect(k, value, self.anchor(k));
            CanonicalLevel { name, missing: value == FeatureValue::Missing, values, support }
        };
        self.level_values(feature).into_iter().map(level).collect()
    }

    /// The effect of a value at the anchor of its feature, per output of the model. `None`: unseen in training.
    pub fn shape(&self, k: usize, value: FeatureValue<'_>) -> Option<Vec<f64>> {
        let terms = self.raw_terms(k, value)?;
        Some(self.product_of(k, Some(&terms), self.anchor(k)))
    }

    /// The effects of a continuous or sparse feature at its anchor, knot by knot, per output of the model; `None` for the
    /// other kinds.
    pub fn shape_curve(&self, k: usize) -> Option<Piecewise> {
        let feature = &self.definition().learned.features[k];
        if let Some(knots) = feature.effect_knots.as_ref().filter(|_| feature.kind != Kind::Binary) {
            let values = knots.at.iter().map(|x| self.product(k, FeatureValue::Number(*x), self.anchor(k))).collect();
            let flat = vec![0.0; self.outputs()];
            let (left_slope, right_slope) = (flat.clone(), flat);
            return Some(Piecewise { knots: knots.at.clone(), values, bends: Vec::new(), left_slope, right_slope });
        }
        let rho = &self.rho[self.layout.features[k].first_rho][self.anchor(k)];
        Some(self.raw_curve(k)?.clone().rescaled(&self.centred_by(k), rho))
    }

    /// `f_k` at a value times a factor per output for its rho, before the levels of a feature with a rho each are centred:
    /// divided by the same factor, rho gives the products back. `None`: unseen in training.
    fn shape_times<'a>(
        &'a self,
        k: usize,
        value: FeatureValue<'_>,
        factor: impl Fn(usize) -> &'a [f64],
    ) -> Option<Vec<f64>> {
        let RawTerm { values: raw, rho } = self.raw_terms(k, value)?.into_iter().next()?;
        let mean = self.centred_by(k);
        Some(raw.iter().zip(mean).zip(factor(rho)).map(|((raw, mean), a)| (raw - mean) * a).collect())
    }

    /// [`shape_times`](Self::shape_times) the largest value of rho.
    pub(crate) fn shape_times_largest(&self, k: usize, value: FeatureValue<'_>) -> Option<Vec<f64>> {
        self.shape_times(k, value, |rho| &self.largest[rho])
    }

    /// [`shape_times`](Self::shape_times) what rho is divided by.
    pub(super) fn shape_times_scale(&self, k: usize, value: FeatureValue<'_>) -> Option<Vec<f64>> {
        self.shape_times(k, value, |rho| self.rho_scale(rho))
    }

    /// The whole curve of a continuous or sparse feature times what its rho is divided by.
    pub(super) fn curve_times_scale(&self, k: usize) -> Option<Piecewise> {
        let scale = self.rho_scale(self.layout.features[k].first_rho);
        Some(self.raw_curve(k)?.clone().rescaled(&self.centred_by(k), scale))
    }

    /// Whether every level of a feature has a rho of its own; then it is centred per distance, on the products.
    pub fn has_level_rhos(&self, k: usize) -> bool {
        let definition = self.model.definition();
        definition.learned.features[k].has_level_rhos() && definition.learned.rho == Rho::PerFeature
    }

    /// Whether the effects of a feature are those at its anchor times an influence by distance: not where every level has a
    /// rho of its own, nor where outputs are shown as differences of several.
    pub fn is_separable(&self, k: usize) -> bool {
        !self.has_level_rhos(k) && self.definition().shows_own_outputs()
    }

    /// Which of [`rhos`](Self::rhos) the level (of a categorical feature; missing comes last) or curve of a feature is
    /// weighed by.
    pub fn rho_of(&self, k: usize, level: usize) -> usize {
        self.layout.features[k].first_rho + if self.has_level_rhos(k) { level } else { 0 }
    }

    /// What is taken out of raw `f_k` before it is shown.
    pub(super) fn centred_by(&self, k: usize) -> Vec<f64> {
        if self.has_level_rhos(k) { vec![0.0; self.outputs()] } else { self.mean_effect(k) }
    }

    /// `rho(l) * f_k(value)`, centred: what one such source adds to a shell of its own, per output. A value unseen in
    /// training contributes 0.
    pub fn product(&self, k: usize, value: FeatureValue<'_>, slot: usize) -> Vec<f64> {
        self.product_of(k, self.raw_terms(k, value).as_deref(), slot)
    }

    /// The same from the terms of the value.
    pub(super) fn product_of(&self, k: usize, terms: Option<&[RawTerm]>, slot: usize) -> Vec<f64> {
        let Some(terms) = terms else { return vec![0.0; self.outputs()] };
        let mut product: Vec<f64> = self.centre[k][slot].iter().map(|centre| -centre).collect();
        for term in terms {
            let rho = &self.rho[term.rho][slot];
            product.iter_mut().zip(&term.values).zip(rho).for_each(|((sum, raw), rho)| *sum += raw * rho);
        }
        product
    }

    /// The effect of a value at a distance, `E_k(value, l)`: the same per shown output.
    pub fn effect(&self, k: usize, value: FeatureValue<'_>, slot: usize) -> Vec<f64> {
        self.definition().shown(&self.product(k, value, slot))
    }

    /// The effects of a value at every distance, `[slots][shown outputs]`.
    pub fn effects(&self, k: usize, value: FeatureValue<'_>) -> Vec<Vec<f64>> {
        let terms = self.raw_terms(k, value);
        let product = |slot: usize| self.product_of(k, terms.as_deref(), slot);
        (0..self.slots()).map(|slot| self.definition().shown(&product(slot))).collect()
    }

    /// What centring takes out of the products of a feature in a slot, per output.
    pub(super) fn centre_at(&self, k: usize, slot: usize) -> &[f64] {
        &self.centre[k][slot]
    }

    /// Raw rho in a slot, per output.
    pub(super) fn raw_rho(&self, rho: u32, slot: usize) -> &[f64] {
        &self.rho[rho as usize][slot]
    }

    /// Raw `f_k` as the terms that it is made of, each with the rho that weighs it: one, or one for each of the knots around a
    /// number. `None`: unseen in training.
    pub(super) fn raw_terms(&self, k: usize, value: FeatureValue<'_>) -> Option<Vec<RawTerm>> {
        let feature = &self.model.definition().learned.features[k];
        let (FeatureValue::Number(x), Some(knots)) = (value, &feature.effect_knots) else {
            return self.raw_shape(k, value).map(|(values, rho)| vec![RawTerm { values, rho }]);
        };
        if feature.kind != Kind::Continuous && x == 0.0 {
            return Some(Vec::new());
        }
        let around = knots.around(x).into_iter().filter(|(_, share)| *share != 0.0);
        let term = |(knot, share): (usize, f64)| {
            let values = self.free_value(k, knot).into_iter().map(|value| value * share).collect();
            RawTerm { values, rho: self.rho_of(k, knot) }
        };
        let terms = around.map(term);
        if self.has_level_rhos(k) {
            return Some(terms.collect());
        }
        // One distance function weighs them all.
        let mut values = vec![0.0; self.outputs()];
        terms.for_each(|term| values.iter_mut().zip(&term.values).for_each(|(sum, own)| *sum += own));
        Some(vec![RawTerm { values, rho: self.rho_of(k, 0) }])
    }

    /// The levels or knots that a value of a feature of free values is made of, with their shares; `None`: unseen in training.
    pub(super) fn level_terms(&self, k: usize, value: FeatureValue<'_>) -> Option<Vec<(usize, f64)>> {
        let feature = &self.model.definition().learned.features[k];
        match value {
            FeatureValue::Number(x) => {
                let knots = feature.effect_knots.as_ref()?;
                if feature.kind != Kind::Continuous && x == 0.0 {
                    return Some(Vec::new());
                }
                Some(knots.around(x).into_iter().filter(|(_, share)| *share != 0.0).collect())
            }
            FeatureValue::Level(name) => Some(vec![(feature.level(name)?, 1.0)]),
            FeatureValue::Missing => feature.missing.map(|_| vec![(feature.known_values(), 1.0)]),
        }
    }

    /// The curve of a free value of a feature among those of a penalised fit: that of the structure comes first, then one for every
    /// free value of every feature.
    pub(super) fn curve_of(&self, k: usize, level: usize) -> usize {
        1 + self.layout.features[k].first_value + level
    }

    /// The curve of a penalised fit by which a rho is best known for an output, and the value by which it is multiplied there: its
    /// own, or that of the largest of the values that share it.
    pub(super) fn largest_curve(&self, rho: usize, c: usize) -> Option<(usize, f64)> {
        let learned = &self.definition().learned;
        if learned.rho == Rho::PerFeature {
            return Some((rho, 1.0));
        }
        let mut found: Option<(usize, f64)> = None;
        let mut offer = |curve: usize, value: f64| {
            if value != 0.0 && found.is_none_or(|(_, best)| value.abs() > best.abs()) {
                found = Some((curve, value));
            }
        };
        if rho == 0 {
            offer(0, f64::from(self.model.parameters().bias[c]));
        }
        let of_rho = learned.features.iter().enumerate().filter(|(k, _)| self.layout.features[*k].first_rho == rho);
        for (k, feature) in of_rho {
            (0..feature.value_count()).for_each(|level| offer(self.curve_of(k, level), self.free_value(k, level)[c]));
        }
        found
    }

    /// A free value of a feature, per output.
    pub(super) fn free_value(&self, k: usize, level: usize) -> Vec<f64> {
        let (value, outputs) = (self.layout.features[k].first_value + level, self.outputs());
        self.model.parameters().values[value * outputs..][..outputs].iter().map(|x| f64::from(*x)).collect()
    }

    /// Raw `f_k` and the one rho that weighs it; `None`: unseen in training, or a number between knots with a rho each.
    fn raw_shape(&self, k: usize, value: FeatureValue<'_>) -> Option<(Vec<f64>, usize)> {
        let feature = &self.model.definition().learned.features[k];
        let place = &self.layout.features[k];
        let parameters = self.model.parameters();
        let outputs = self.outputs();
        let free = |level: usize| self.free_value(k, level);
        match value {
            FeatureValue::Level(name) => {
                let level = feature.level(name)?;
                Some((free(level), self.rho_of(k, level)))
            }
            FeatureValue::Missing => {
                feature.missing?;
                let level = feature.known_values();
                Some((free(level), self.rho_of(k, level)))
            }
            FeatureValue::Number(x) => {
                let (network, scale) = (place.network?, feature.scale?);
                if feature.kind != Kind::Continuous && x == 0.0 {
                    return Some((vec![0.0; outputs], place.first_rho));
                }
                if let Some(curve) = self.raw_curve(k) {
                    return Some((curve.evaluate(scale.within(x)), place.first_rho));
                }
                let shapes = &parameters.shapes;
                let (at, reference) = (shapes.evaluate(network, scale.apply(x)), shapes.evaluate(network, 0.0));
                Some((at.iter().zip(reference).map(|(at, reference)| at - reference).collect(), place.first_rho))
            }
        }
    }

    /// Raw `f_k` of a continuous or sparse feature.
    fn raw_curve(&self, k: usize) -> Option<&Piecewise> {
        let feature = &self.model.definition().learned.features[k];
        if !matches!(feature.kind, Kind::Continuous | Kind::Sparse) {
            return None;
        }
        let (network, scale) = (self.layout.features[k].network?, feature.scale?);
        Some(self.curves[k].get_or_init(|| {
            let bank = &self.model.parameters().shapes;
            let reference = bank.evaluate(network, 0.0);
            let unchanged = vec![1.0; reference.len()];
            bank.curve(network).rescaled(&reference, &unchanged).of_unscaled(scale.shift, scale.scale)
        }))
    }

    /// The mean of raw `f_k` over the training nodes; 0 for binary and sparse features.
    pub(super) fn mean_effect(&self, k: usize) -> Vec<f64> {
        let feature = &self.model.definition().learned.features[k];
        let outputs = self.model.outputs();
        let mut mean = vec![0.0; outputs];
        if self.model.definition().learned.uncentred {
            return mean;
        }
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
        let feature = &self.model.definition().learned.features[k];
        let place = &self.layout.features[k];
        let outputs = self.outputs();
        if self.has_level_rhos(k) && !self.model.definition().learned.uncentred {
            let shares = feature.level_shares();
            let mean = |slot: usize, c: usize| {
                let levels = shares.iter().enumerate();
                let products = levels.map(|(level, share)| {
                    let raw = f64::from(self.model.parameters().values[(place.first_value + level) * outputs + c]);
                    share * raw * self.rho[place.first_rho + level][slot][c]
                });
                products.sum::<f64>()
            };
            return (0..self.slots()).map(|slot| (0..outputs).map(|c| mean(slot, c)).collect()).collect();
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
        (0..self.slots()).map(|slot| (0..bias.len()).map(|c| beta(slot, c)).collect()).collect()
    }

    /// Whether `beta(0)` by a lens is a constant like `b0` and counted there: in a node task, and where receivers are
    /// averaged, if the structure has a curve of its own.
    pub fn folds_structure(&self, lens: usize) -> bool {
        let definition = self.model.definition();
        let ruled = definition.reach() != Reach::ALL || definition.learned.features.iter().any(|k| k.reach.is_some());
        let averaged = definition.learned.lenses[lens].pool == Pool::Mean && definition.spec.statistics.normalises();
        (definition.learned.task == Task::Node || averaged) && (definition.learned.rho != Rho::Shared || ruled)
    }

    /// `beta(0)` may belong to `b0`; in a softmax `b0` has mean 0.
    fn fold_constants(&mut self) {
        self.empty_output = self.output_bias.clone();
        let folded: Vec<usize> = (0..self.axis.lenses()).filter(|lens| self.folds_structure(*lens)).collect();
        for lens in folded {
            let itself = self.axis.range(lens).start;
            for (bias, beta) in self.output_bias.iter_mut().zip(&mut self.structure[itself]) {
                *bias += std::mem::take(beta);
            }
        }
        if self.model.definition().learned.outcome == Outcome::Multiclass {
            for constants in [&mut self.output_bias, &mut self.empty_output] {
                let mean = constants.iter().sum::<f64>() / constants.len() as f64;
                constants.iter_mut().for_each(|constant| *constant -= mean);
            }
        }
    }
}

/// Raw rho in f64; 0 beyond its reach.
fn raw_rho(model: &Model, layout: &Layout, axis: &DistanceAxis, r: usize, slot: usize) -> Vec<f64> {
    if !layout.rhos[r].reach.includes(axis.distance(slot)) {
        return vec![0.0; model.outputs()];
    }
    let definition = model.definition();
    let function = layout.function(r, axis.lens_of(slot));
    let factor = f64::from(shell_factor(&definition.learned.shell_scale, axis.distance(slot)));
    let mut rho = model.parameters().rhos.evaluate(function, definition.learned.rho_scale.apply(axis.argument(slot)));
    rho.iter_mut().for_each(|rho| *rho *= factor);
    rho
}

/// Which slots of an axis occurred in training and count.
fn seen_slots(definition: &Definition, layout: &Layout, axis: &DistanceAxis) -> Vec<bool> {
    let trained = definition.axis();
    let seen = |slot: usize| {
        let (lens, distance) = (axis.lens_of(slot), axis.distance(slot));
        let within = distance.is_none_or(|distance| distance + 1 < trained.range(lens).len());
        let counts = layout.rhos.iter().any(|rho| rho.reach.includes(distance));
        within && counts && definition.learned.receivers[trained.slot(lens, distance)] > 0.0
    };
    (0..axis.slots()).map(seen).collect()
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
