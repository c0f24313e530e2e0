//! Anchors: the distance at which the effect of a feature is shown, so that all its values stand at the same one.
//!
//! It is the smallest distance at which the feature may contribute, normally the node itself, if that is *supported* (at
//! least 10 training receivers, and 1 % of them, have a source there) and the effect there is at least 5 % of the largest
//! at any supported distance. Otherwise it is the supported distance with the largest mean effect, weighted by support. Of
//! several lenses it is that with the larger effects.

use std::collections::BTreeMap;

use super::canonical::{Canonical, FeatureValue, RawTerm};
use crate::files::Kind;
use crate::lens::Pool;

/// A distance with fewer training receivers that have a source there is not supported ...
const LEAST_RECEIVERS: f64 = 10.0;
/// ... nor is one with a smaller share of them.
const LEAST_SHARE: f64 = 0.01;
/// The smallest share of the largest effect with which the smallest distance is the anchor.
pub(super) const LEAST_EFFECT: f64 = 0.05;
/// Values at which a curve is looked at.
const PLACES: usize = 9;

/// How large the effects of a feature are in a slot, over its values and the shown outputs.
#[derive(Clone, Copy, Default)]
struct EffectSize {
    largest: f64,
    mean: f64,
}

impl Canonical {
    /// The slot at which the effect of a feature is shown.
    pub fn anchor(&self, k: usize) -> usize {
        *self.anchors[k].get_or_init(|| self.find_anchor(k))
    }

    /// The slot at which a rho is 1; `None` where it is no influence.
    pub fn rho_anchor(&self, r: usize) -> Option<usize> {
        self.rho_anchors()[r]
    }

    /// For every rho the slot at which it is 1, the anchor of most of the features that it weighs; `None` for that of the bias
    /// alone, and of features whose effects are not [separable](Self::is_separable).
    pub(super) fn rho_anchors(&self) -> Vec<Option<usize>> {
        let mut votes: Vec<BTreeMap<usize, usize>> = vec![BTreeMap::new(); self.layout.rhos.len()];
        for (k, place) in self.layout.features.iter().enumerate().filter(|(k, _)| self.is_separable(*k)) {
            *votes[place.first_rho].entry(self.anchor(k)).or_default() += 1;
        }
        // The nearest of several.
        let most = |votes: BTreeMap<usize, usize>| votes.into_iter().rev().max_by_key(|(_, votes)| *votes);
        votes.into_iter().map(|votes| most(votes).map(|(slot, _)| slot)).collect()
    }

    /// Whether enough training receivers have a source in a slot for what is shown there to be relied on.
    pub fn is_supported(&self, slot: usize) -> bool {
        let range = self.axis().range(self.axis().lens_of(slot));
        // Every node is at distance 0 of itself; a link is not among its own sources.
        let all = match self.receivers_at(range.start) {
            0.0 => range.map(|slot| self.receivers_at(slot)).fold(0.0, f64::max),
            all => all,
        };
        self.receivers_at(slot) >= LEAST_RECEIVERS.max(LEAST_SHARE * all)
    }

    fn find_anchor(&self, k: usize) -> usize {
        let sizes = self.effect_sizes(k);
        let by_lens = (0..self.axis().lenses()).filter_map(|lens| self.anchor_by_lens(k, lens, &sizes));
        // What a receiver that is averaged gets is divided by the number of nodes of its graph.
        let learned = &self.definition().learned;
        let record = &self.definition().record;
        let nodes = (record.nodes as f64 / record.train_items.max(1) as f64).max(1.0);
        let size = |slot: usize| match learned.lenses[self.axis().lens_of(slot)].pool {
            Pool::Mean => sizes[slot].mean / nodes,
            Pool::Sum => sizes[slot].mean,
        };
        // The first of several.
        let strongest = by_lens.rev().max_by(|a, b| size(*a).total_cmp(&size(*b)));
        strongest.unwrap_or(0)
    }

    /// The anchor among the slots of a lens; `None` where training has seen none of those that count.
    fn anchor_by_lens(&self, k: usize, lens: usize, sizes: &[EffectSize]) -> Option<usize> {
        let reach = self.layout.rhos[self.layout.features[k].first_rho].reach;
        let within: Vec<usize> =
            self.axis().range(lens).filter(|slot| reach.includes(self.axis().distance(*slot))).collect();
        let mut relied_on: Vec<usize> = within.iter().copied().filter(|slot| self.is_supported(*slot)).collect();
        if relied_on.is_empty() {
            relied_on = within.iter().copied().filter(|slot| self.seen(*slot)).collect();
        }
        let largest = relied_on.iter().map(|slot| sizes[*slot].largest).fold(0.0, f64::max);
        let first = within.first().filter(|first| relied_on.contains(first));
        if let Some(first) = first.filter(|first| sizes[**first].largest >= LEAST_EFFECT * largest) {
            return Some(*first);
        }
        let weight = |slot: usize| self.receivers_at(slot) * sizes[slot].mean;
        // The nearest of several.
        relied_on.into_iter().rev().max_by(|a, b| weight(*a).total_cmp(&weight(*b)))
    }

    /// The sizes of the effects of a feature, slot by slot.
    fn effect_sizes(&self, k: usize) -> Vec<EffectSize> {
        let values: Vec<(Vec<RawTerm>, f64)> = (self.looked_at(k).into_iter())
            .filter_map(|(value, weight)| self.raw_terms(k, value).map(|terms| (terms, weight)))
            .collect();
        let all: f64 = values.iter().map(|(_, weight)| weight).sum();
        let size = |slot: usize| {
            let mut size = EffectSize::default();
            for (terms, weight) in &values {
                for effect in self.definition().shown(&self.product_of(k, Some(terms), slot)) {
                    size.largest = size.largest.max(effect.abs());
                    size.mean += effect.abs() * weight / all.max(1.0);
                }
            }
            size
        };
        (0..self.slots()).map(size).collect()
    }

    /// Values of a feature, each with the number of training nodes that it stands for.
    pub(super) fn looked_at(&self, k: usize) -> Vec<(FeatureValue<'_>, f64)> {
        let feature = &self.definition().learned.features[k];
        let levels = feature.levels.iter();
        let mut values: Vec<(FeatureValue<'_>, f64)> =
            levels.map(|level| (FeatureValue::Level(&level.name), level.support.nodes as f64)).collect();
        let nodes = feature.support.nodes as f64;
        match (feature.kind, feature.scale) {
            (Kind::Binary, _) => values.push((FeatureValue::Number(1.0), nodes)),
            (Kind::Continuous | Kind::Sparse, Some(scale)) => {
                let place = |step: usize| scale.min + (scale.max - scale.min) * step as f64 / (PLACES - 1) as f64;
                let places = (0..PLACES).map(|step| (FeatureValue::Number(place(step)), nodes / PLACES as f64));
                values.extend(places);
            }
            _ => {}
        }
        values.extend(feature.missing.map(|support| (FeatureValue::Missing, support.nodes as f64)));
        values
    }
}
