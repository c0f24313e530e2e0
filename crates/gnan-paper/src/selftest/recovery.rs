//! A trained model beside the truth that its data were simulated from.

use gnan::explain::{Canonical, FeatureValue};
use gnan::files::Kind;
use gnan::model::Model;

use super::cases::Case;
use super::curve::Curve;
use super::planted::{PlantedFeature, PlantedValue};
use super::report::{CurveRow, CurveSort};
use super::truth::{Truth, receivers_by_slot};
use super::world::World;
use gnan::dataset::Dataset;

/// A value of a planted feature, as the canonical form of a model takes it.
pub(super) fn feature_value(feature: &PlantedFeature, value: usize) -> FeatureValue<'_> {
    let value = &feature.values[value];
    if feature.kind == Kind::Categorical {
        FeatureValue::Level(&value.level)
    } else {
        FeatureValue::Number(value.number)
    }
}

fn value_name(value: &PlantedValue) -> String {
    if value.level.is_empty() { format!("{:.3}", value.number) } else { value.level.clone() }
}

/// A slot in words.
pub(super) fn slot_name(slot: usize, slots: usize) -> String {
    if slot + 1 == slots { "unreachable".to_owned() } else { format!("distance {slot}") }
}

/// Whether different rhos weigh the values of a feature, so that only their products are identifiable.
pub(super) fn has_own_rhos(case: &Case, k: usize) -> bool {
    let feature = &case.planted.features[k];
    feature.kind == Kind::Categorical && !case.planted.shares_rho()
}

/// Whether a planted feature has any effect.
pub(super) fn has_effect(feature: &PlantedFeature) -> bool {
    feature.values.iter().any(|value| value.effects != feature.values[0].effects)
}

/// The index of a feature's rho among the model's, and among the planted ones.
pub(super) fn rho_places(case: &Case, model: &Model, k: usize) -> (usize, usize) {
    let layout = model.definition().layout();
    (layout.features[k].first_rho, case.planted.features[k].values[0].rho)
}

/// Compares a model with the truth of its case.
pub(super) struct Recovery<'a> {
    pub case: &'a Case,
    pub world: &'a World,
    pub truth: &'a Truth,
    pub model: &'a Model,
    pub train: &'a Dataset,
}

impl Recovery<'_> {
    /// A row for every planted curve.
    pub fn rows(&self) -> Vec<CurveRow> {
        let canonical = self.model.canonical();
        let outputs = self.case.planted.outputs();
        let mut rows = Vec::new();
        // Adding one function to all classes changes no probability: with several classes products are compared, after
        // centring over the classes, and neither rho nor shape functions alone.
        if outputs == 1 {
            rows.extend(self.rho_rows(&canonical));
            rows.extend(self.shape_rows(&canonical));
        }
        rows.extend((0..outputs).flat_map(|c| self.product_rows(&canonical, c)));
        rows.extend((0..outputs).map(|c| self.structure_row(&canonical, c)));
        rows
    }

    fn rho_rows(&self, canonical: &Canonical) -> Vec<CurveRow> {
        let found = canonical.rhos();
        let slots = self.truth.receivers.len();
        let row = |name: String, (model, planted): (usize, usize)| {
            let mut curve = Curve::default();
            for (slot, support) in self.truth.receivers.iter().enumerate() {
                let truth = self.truth.influence(planted, slot, canonical.rho_anchor(model));
                let found = found[model].values[slot][0];
                curve.push(|| slot_name(slot, slots), *support, truth, found);
            }
            // Every receiver is its own source.
            CurveRow::new(self.case.name, name, CurveSort::Rho, &curve, self.truth.receivers[0])
        };
        if self.case.planted.shares_rho() {
            return vec![row("rho".to_owned(), (0, 0))];
        }
        let features = self.case.planted.features.iter().enumerate();
        let own = features.filter(|(k, feature)| has_effect(feature) && !has_own_rhos(self.case, *k));
        own.map(|(k, feature)| row(format!("rho of {}", feature.name), rho_places(self.case, self.model, k))).collect()
    }

    fn shape_rows(&self, canonical: &Canonical) -> Vec<CurveRow> {
        let features = self.case.planted.features.iter().enumerate();
        let shown = features.filter(|(k, feature)| has_effect(feature) && !has_own_rhos(self.case, *k));
        shown
            .map(|(k, feature)| {
                let mut curve = Curve::default();
                for (v, value) in feature.values.iter().enumerate() {
                    let found = canonical.shape(k, feature_value(feature, v)).map_or(0.0, |found| found[0]);
                    let (support, truth) = (self.truth.nodes[k][v], self.truth.products[k][v][canonical.anchor(k)][0]);
                    curve.push(|| format!("{} ({support} nodes)", value_name(value)), support, truth, found);
                }
                CurveRow::new(self.case.name, feature.name.clone(), CurveSort::Shape, &curve, curve.support())
            })
            .collect()
    }

    fn product_rows(&self, canonical: &Canonical, c: usize) -> Vec<CurveRow> {
        let features = &self.case.planted.features;
        let curves: Vec<Curve> = (0..features.len()).map(|k| self.products(canonical, k, c)).collect();
        let sizes: Vec<f64> = curves.iter().map(Curve::truth_size).filter(|size| *size > 0.0).collect();
        let mean_size = sizes.iter().sum::<f64>() / sizes.len().max(1) as f64;
        (features.iter().zip(&curves).enumerate())
            .map(|(k, (feature, curve))| {
                let support = self.truth.nodes[k].iter().sum();
                let name = self.of_class(format!("{} x distance", feature.name), c);
                if has_effect(feature) {
                    CurveRow::new(self.case.name, name, CurveSort::Products, curve, support)
                } else {
                    CurveRow::no_effect(self.case.name, name, curve, support, mean_size)
                }
            })
            .collect()
    }

    /// Every heatmap cell of a feature, for one output.
    fn products(&self, canonical: &Canonical, k: usize, c: usize) -> Curve {
        let feature = &self.case.planted.features[k];
        let slots = self.truth.receivers.len();
        let mut curve = Curve::default();
        for (v, value) in feature.values.iter().enumerate() {
            for (slot, receivers) in self.truth.receivers.iter().enumerate() {
                let found = centred(&canonical.product(k, feature_value(feature, v), slot), c);
                let truth = centred(&self.truth.products[k][v][slot], c);
                let place = || format!("{} at {}", value_name(value), slot_name(slot, slots));
                curve.push(place, self.truth.nodes[k][v] * receivers, truth, found);
            }
        }
        curve
    }

    /// The structure term of every training item. The curve behind it is not compared: items with a shell at some
    /// distance mostly have one at the next, so that neighbouring values of it can be exchanged.
    fn structure_row(&self, canonical: &Canonical, c: usize) -> CurveRow {
        let slots = self.truth.receivers.len();
        let mut curve = Curve::default();
        for item in self.train.items() {
            let receivers = receivers_by_slot(&self.world.graphs, self.train, *item, slots);
            let term = |beta: &[Vec<f64>]| {
                let parts = beta.iter().zip(&receivers).map(|(beta, receivers)| centred(beta, c) * receivers);
                parts.sum::<f64>()
            };
            let constant = centred(canonical.output_bias(), c) - centred(&self.case.planted.output_bias, c);
            let found = term(canonical.structure()) + constant;
            curve.push(|| format!("item {item}"), 1.0, term(&self.truth.structure), found);
        }
        let name = self.of_class("structure term".to_owned(), c);
        CurveRow::structure(self.case.name, name, &curve, self.spread(c))
    }

    /// The standard deviation of the planted outputs of the training items.
    fn spread(&self, c: usize) -> f64 {
        let outputs = || self.train.items().iter().map(|item| centred(&self.world.outputs[*item as usize], c));
        let count = self.train.len().max(1) as f64;
        let mean = outputs().sum::<f64>() / count;
        (outputs().map(|y| (y - mean).powi(2)).sum::<f64>() / count).sqrt()
    }

    fn of_class(&self, name: String, c: usize) -> String {
        if self.case.planted.outputs() == 1 { name } else { format!("{name}, class {c}") }
    }
}

/// A number per class minus its mean over the classes; a single output as it is.
pub(super) fn centred(values: &[f64], c: usize) -> f64 {
    if values.len() == 1 { values[0] } else { values[c] - values.iter().sum::<f64>() / values.len() as f64 }
}
