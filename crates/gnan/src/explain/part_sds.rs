//! Standard deviations of the parts of a prediction, for models that were fitted by penalised likelihood.
//!
//! Every part is a sum of coefficients, and so has an exact standard deviation by the posterior.

use std::collections::BTreeMap;

use serde::Serialize;

use super::canonical::Canonical;
use super::effect_sums::{EffectSums, scaled};
use super::explainer::Explainer;
use super::reference::Reference;
use crate::error::Result;
use crate::files::Task;
use crate::lens::Reach;
use crate::model::{CoefficientMap, CoefficientSum};

/// Most sources of a prediction whose parts have a standard deviation, most whose own parts have one, and most receivers.
const MOST_SOURCES: usize = 100_000;
const MOST_NODES: usize = 300;
const MOST_RECEIVERS: usize = 100;

/// Most operations that the standard deviations of a prediction's parts may take: where items were weighed, every part takes a product
/// by all pairs of items.
const MOST_OPERATIONS: f64 = 2e9;

/// Standard deviations of the parts of an explanation, for the outputs as they are shown.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PartSds {
    /// Of the prediction, per output: how sure the model is of it, the noise of a target left out.
    pub prediction: Vec<f64>,
    /// Of the structure term, compared with the average item.
    pub structure: Vec<f64>,
    /// `[features][outputs]`: of what every feature contributes, compared with the average item.
    pub by_feature: Vec<Vec<f64>>,
    /// The same, compared with nothing.
    #[serde(skip)]
    alone: AloneSds,
    /// `[slots][outputs]`
    pub by_distance: Vec<Vec<f64>>,
    /// `[features][slots][outputs]`
    pub by_feature_and_distance: Vec<Vec<Vec<f64>>>,
    /// `[sources][outputs]`; empty where sources are many.
    pub by_node: Vec<Vec<f64>>,
    /// `[receivers][outputs]`: of the output of every receiver of a graph; empty where they are many, and for a node task.
    pub by_receiver: Vec<Vec<f64>>,
}

/// Standard deviations of parts that are compared with nothing.
#[derive(Clone, Debug, Default, PartialEq)]
struct AloneSds {
    structure: Vec<f64>,
    by_feature: Vec<Vec<f64>>,
}

impl PartSds {
    /// Of the structure term, compared with a reference.
    pub fn of_structure(&self, reference: Reference) -> &[f64] {
        if reference == Reference::Average { &self.structure } else { &self.alone.structure }
    }

    /// Of every feature, compared with a reference.
    pub fn of_features(&self, reference: Reference) -> &[Vec<f64>] {
        if reference == Reference::Average { &self.by_feature } else { &self.alone.by_feature }
    }
}

/// A sum of coefficients that grows.
#[derive(Clone, Default)]
struct GrowingSum(BTreeMap<usize, f64>);

impl GrowingSum {
    fn add(&mut self, sum: &CoefficientSum, by: f64) {
        scaled(sum, by).for_each(|(coefficient, share)| *self.0.entry(coefficient).or_default() += share);
    }

    fn add_other(&mut self, other: &GrowingSum, by: f64) {
        other.0.iter().for_each(|(coefficient, share)| *self.0.entry(*coefficient).or_default() += by * share);
    }

    fn sum(&self) -> CoefficientSum {
        self.0.iter().map(|(coefficient, share)| (*coefficient, *share)).collect()
    }

    fn sd(&self, sums: &EffectSums) -> Vec<f64> {
        sums.posterior().sd(&self.sum()).unwrap_or_default()
    }
}

/// The standard deviations of many sums, which are multiplied together where items were weighed.
fn sds(of: &[GrowingSum], sums: &EffectSums) -> Vec<Vec<f64>> {
    let of: Vec<CoefficientSum> = of.iter().map(GrowingSum::sum).collect();
    sums.posterior().sds(&of.iter().map(Vec::as_slice).collect::<Vec<_>>()).unwrap_or_default()
}

/// How much a source counts for a receiver in a slot.
struct PairWeight {
    receiver: usize,
    source: usize,
    slot: usize,
    weight: f64,
}

impl Explainer<'_> {
    /// The standard deviations of the parts of an item, by a canonical form that has its distances; `None` where the model has no
    /// covariances or they would take too long, for very many sources and for links.
    pub(super) fn part_sds(&self, item: u32, canonical: &Canonical) -> Result<Option<PartSds>> {
        let (sources, receivers) = self.counts(item);
        // Features of a node pair itself are not among those of its sources.
        let of_links = self.data().links().is_some();
        if of_links
            || sources > MOST_SOURCES
            || !self.model().posterior().is_some_and(|posterior| posterior.has_covariances())
        {
            return Ok(None);
        }
        let (slots, features) = (canonical.slots(), canonical.definition().learned.features.len());
        let operations = self.model().posterior().map_or(0.0, |posterior| posterior.operations_of_items());
        if operations * (features * (slots + 2)) as f64 > MOST_OPERATIONS {
            return Ok(None);
        }
        let Some(sums) = EffectSums::new(canonical) else { return Ok(None) };
        let of_graph = self.data().task() == Task::Graph;
        let by_receiver = if of_graph && receivers <= MOST_RECEIVERS { receivers } else { 0 };
        let mut by_receiver = vec![GrowingSum::default(); by_receiver];
        let mut pairs: Vec<PairWeight> = Vec::new();
        let mut weights: Vec<BTreeMap<usize, f64>> = vec![BTreeMap::new(); sources];
        let mut shells = vec![0.0; slots];
        self.each_weight(item, canonical, |receiver, source, slot, weight| match source {
            Some(source) => {
                *weights[source].entry(slot).or_default() += weight;
                if !by_receiver.is_empty() {
                    pairs.push(PairWeight { receiver, source, slot, weight });
                }
            }
            None => {
                shells[slot] += weight;
                if let Some(own) = by_receiver.get_mut(receiver) {
                    own.add(sums.structure(slot), weight);
                }
            }
        })?;
        let own_reach: Vec<bool> =
            canonical.definition().learned.features.iter().map(|k| k.reach == Some(Reach::OWN)).collect();
        // What features contribute from every distance, before centring, and how much is centred.
        let mut cells = vec![(GrowingSum::default(), 0.0); features * slots];
        let mut by_node = Vec::new();
        let mut effects: Vec<BTreeMap<usize, GrowingSum>> = Vec::new();
        self.each_node_terms(item, |source, terms| {
            let mut whole = GrowingSum::default();
            let mut by_slot: BTreeMap<usize, GrowingSum> = BTreeMap::new();
            for (slot, weight) in &weights[source] {
                let here = by_slot.entry(*slot).or_default();
                let itself = canonical.axis().distance(*slot) == Some(0);
                for (k, own) in terms.iter().filter(|(k, _)| itself || !own_reach[*k]) {
                    let (cell, centred) = &mut cells[k * slots + slot];
                    own.iter().for_each(|(rho, value)| cell.add(sums.rho(*rho, *slot), weight * value));
                    *centred += weight;
                    if sources <= MOST_NODES {
                        own.iter().for_each(|(rho, value)| here.add(sums.rho(*rho, *slot), *value));
                        here.add(sums.centre(*k, *slot), -1.0);
                    }
                }
                whole.add_other(here, *weight);
            }
            if sources <= MOST_NODES {
                by_node.push(whole.sd(&sums));
            }
            effects.push(if by_receiver.is_empty() { BTreeMap::new() } else { by_slot });
        });
        for PairWeight { receiver, source, slot, weight } in pairs {
            if let Some(effect) = effects[source].get(&slot) {
                by_receiver[receiver].add_other(effect, weight);
            }
        }
        let cell = |(place, (mut cell, centred)): (usize, (GrowingSum, f64))| {
            cell.add(sums.centre(place / slots, place % slots), -centred);
            cell
        };
        let cells: Vec<GrowingSum> = cells.into_iter().enumerate().map(cell).collect();
        let together = |places: &mut dyn Iterator<Item = usize>| {
            let mut sum = GrowingSum::default();
            places.for_each(|place| sum.add_other(&cells[place], 1.0));
            sum
        };
        let average = average_sums(canonical, &sums);
        let mut found = PartSds { by_node, ..PartSds::default() };
        let mut prediction = GrowingSum::default();
        prediction.add(&vec![(0, 1.0)], 1.0);
        let mut by_feature: Vec<GrowingSum> =
            (0..features).map(|k| together(&mut (k * slots..(k + 1) * slots))).collect();
        by_feature.iter().for_each(|whole| prediction.add_other(whole, 1.0));
        found.alone.by_feature = sds(&by_feature, &sums);
        for (k, whole) in by_feature.iter_mut().enumerate() {
            average.iter().for_each(|average| whole.add_other(&average[k], -1.0));
        }
        found.by_feature = sds(&by_feature, &sums);
        found.by_feature_and_distance =
            sds(&cells, &sums).chunks_exact(slots.max(1)).map(<[Vec<f64>]>::to_vec).collect();
        let mut structure = GrowingSum::default();
        for (slot, weight) in shells.iter().enumerate() {
            structure.add(sums.structure(slot), *weight);
            prediction.add(sums.whole_structure(slot), *weight);
        }
        found.alone.structure = structure.sd(&sums);
        average.iter().for_each(|average| structure.add_other(&average[features], -1.0));
        found.structure = structure.sd(&sums);
        found.prediction = prediction.sd(&sums);
        found.by_distance =
            (0..slots).map(|slot| together(&mut (0..features).map(|k| k * slots + slot)).sd(&sums)).collect();
        found.by_receiver = by_receiver.iter().map(|sum| sum.sd(&sums)).collect();
        Ok(Some(found))
    }
}

/// What the average training item has of every feature, and last of the structure, where it is known.
fn average_sums(canonical: &Canonical, sums: &EffectSums) -> Option<Vec<GrowingSum>> {
    let definition = canonical.definition();
    let structure = &definition.learned.average.as_ref()?.structure;
    let (map, trained) = (CoefficientMap::new(definition), definition.axis());
    let means = &sums.posterior().means;
    let own = |k: Option<usize>| -> CoefficientSum { map.coefficients_of(k).map(|at| (at, means[at])).collect() };
    let mut found = Vec::new();
    let mut of_structure = GrowingSum::default();
    for k in 0..definition.learned.features.len() {
        let mut sum = GrowingSum::default();
        sum.add(&own(Some(k)), 1.0);
        for (slot, weight) in structure.iter().enumerate() {
            sum.add(sums.centre(k, trained.slot_on(canonical.axis(), slot)), -weight);
        }
        found.push(sum);
    }
    for (slot, weight) in structure.iter().enumerate() {
        of_structure.add(sums.structure(trained.slot_on(canonical.axis(), slot)), *weight);
    }
    found.push(of_structure);
    Some(found)
}
