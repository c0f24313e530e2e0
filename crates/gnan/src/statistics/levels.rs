//! Levels: the distinct values of every feature, and which of them each node has.
//!
//! The model only depends on distinct values. A *unit* is one level of one feature; unit 0 is the bias that every
//! source has. A node lists the units it has, except those whose shape function is 0 by construction (the zero of a
//! binary or sparse feature), so an absent word costs nothing.
//!
//! A feature may be *interpolated*: its levels are knots, and a node whose value lies between two of them has a share of
//! both. It lists the first, with the share of the one after it.

use std::ops::Range;

use rayon::prelude::*;

use super::knots::between;
use crate::dataset::{Feature, distinct_numbers};
use crate::files::{MISSING, Values};

/// The unit that every node has: the bias of a source.
pub const BIAS_UNIT: u32 = 0;
/// Features whose units are found before they are written down.
const FEATURES_AT_ONCE: usize = 16;

/// The levels of one feature that occur in the data.
#[derive(Clone, Debug, PartialEq)]
pub enum LevelValues {
    /// Distinct numbers, ascending; zero is left out for binary and sparse features.
    Numbers(Vec<f64>),
    /// Names of categories, in the order of the data set.
    Names(Vec<String>),
}

/// The units of one feature.
#[derive(Clone, Debug, PartialEq)]
pub struct FeatureLevels {
    /// Its levels; level `i` is unit `units.start + i`.
    pub values: LevelValues,
    /// The units of its levels.
    pub units: Range<u32>,
    /// The unit of a missing value, where one occurs; it follows the others.
    pub missing: Option<u32>,
    /// Number of units that nodes have of this feature, about: two where a node lies between two levels.
    pub listed: usize,
    /// Whether its levels are knots between which values lie.
    pub interpolated: bool,
    /// Whether it counts for the receiver alone that has it: see [`Feature::own_only`].
    pub own_only: bool,
    /// Whether it is a value of an item, which counts at distance 0 alone: see [`Feature::is_of_item`].
    pub of_item: bool,
}

impl FeatureLevels {
    /// Whether it counts at distance 0 alone.
    pub fn is_own(&self) -> bool {
        self.own_only || self.of_item
    }
}

/// The levels of all features, and the units of every node.
#[derive(Clone, Debug)]
pub struct Levels {
    /// The levels of every feature.
    pub features: Vec<FeatureLevels>,
    unit_count: u32,
    offsets: Vec<usize>,
    units: Vec<u32>,
    /// For every listed unit the share of the unit after it; empty: no feature is interpolated.
    shares: Vec<f32>,
}

/// The units that a node lists, by feature, the bias left out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeUnits<'a> {
    /// A unit per feature.
    pub units: &'a [u32],
    /// For each of them the share of the unit after it, the rest being its own; empty: nothing.
    pub shares: &'a [f32],
}

impl NodeUnits<'_> {
    /// Calls `visit(unit, weight)` for every unit that the node has.
    pub fn each(self, mut visit: impl FnMut(u32, f64)) {
        if self.shares.is_empty() {
            return self.units.iter().for_each(|unit| visit(*unit, 1.0));
        }
        for (unit, share) in self.units.iter().zip(self.shares) {
            let share = f64::from(*share);
            if share != 1.0 {
                visit(*unit, 1.0 - share);
            }
            if share != 0.0 {
                visit(*unit + 1, share);
            }
        }
    }
}

impl Levels {
    /// Finds the levels of `features` over `nodes` nodes.
    pub fn new(features: &[Feature], nodes: usize) -> Levels {
        Levels::at_knots(features, &[], nodes)
    }

    /// The same where features that have knots here (ascending) are interpolated between them; beyond the outer knots
    /// a node has the nearest of them.
    pub fn at_knots(features: &[Feature], knots: &[Option<Vec<f64>>], nodes: usize) -> Levels {
        let knots_of = |k: usize| knots.get(k).and_then(Option::as_ref).filter(|knots| !knots.is_empty());
        let found: Vec<(LevelValues, bool)> = features
            .par_iter()
            .enumerate()
            .map(|(k, feature)| level_values(feature, knots_of(k).map(Vec::as_slice)))
            .collect();
        let mut levels = Levels {
            features: Vec::with_capacity(features.len()),
            unit_count: BIAS_UNIT + 1,
            offsets: vec![0; nodes + 1],
            units: Vec::new(),
            shares: Vec::new(),
        };
        for (k, ((values, has_missing), feature)) in found.into_iter().zip(features).enumerate() {
            let count = match &values {
                LevelValues::Numbers(numbers) => numbers.len(),
                LevelValues::Names(names) => names.len(),
            } as u32;
            let units = levels.unit_count..levels.unit_count + count;
            levels.unit_count += count + u32::from(has_missing);
            let interpolated = knots_of(k).is_some();
            levels.features.push(FeatureLevels {
                missing: has_missing.then_some(units.end),
                listed: feature.values.listed() * (1 + usize::from(interpolated)),
                values,
                units,
                interpolated,
                own_only: feature.own_only,
                of_item: feature.is_of_item(),
            });
            each_node(feature, |_, node| levels.offsets[node + 1] += 1);
        }
        for node in 0..nodes {
            levels.offsets[node + 1] += levels.offsets[node];
        }
        levels.list(features);
        levels
    }

    /// Writes down the units of every node.
    fn list(&mut self, features: &[Feature]) {
        let mut next = self.offsets.clone();
        let len = self.offsets[self.offsets.len() - 1];
        self.units = vec![0; len];
        if self.features.iter().any(|feature| feature.interpolated) {
            self.shares = vec![0.0; len];
        }
        for first in (0..features.len()).step_by(FEATURES_AT_ONCE) {
            let batch = first..features.len().min(first + FEATURES_AT_ONCE);
            let found: Vec<Vec<(u32, f32)>> =
                batch.clone().into_par_iter().map(|k| units_of(&features[k], &self.features[k])).collect();
            for (feature, found) in features[batch].iter().zip(found) {
                each_node(feature, |at, node| {
                    let (place, (unit, share)) = (next[node], found[at]);
                    self.units[place] = unit;
                    if share != 0.0 {
                        self.shares[place] = share;
                    }
                    next[node] += 1;
                });
            }
        }
    }

    /// Number of units, the bias included.
    pub fn unit_count(&self) -> usize {
        self.unit_count as usize
    }

    /// Number of units that all nodes list.
    pub fn listed(&self) -> usize {
        self.units.len()
    }

    /// The units that a node lists.
    pub fn of_node(&self, node: usize) -> NodeUnits<'_> {
        let range = self.offsets[node]..self.offsets[node + 1];
        let shares = if self.shares.is_empty() { &[] } else { &self.shares[range.clone()] };
        NodeUnits { units: &self.units[range], shares }
    }

    /// For every unit whether it is one of a value of an item; empty where there are none.
    pub fn units_of_items(&self) -> Vec<bool> {
        if !self.features.iter().any(|feature| feature.of_item) {
            return Vec::new();
        }
        let mut of_item = vec![false; self.unit_count()];
        for feature in self.features.iter().filter(|feature| feature.of_item) {
            let end = feature.missing.map_or(feature.units.end, |missing| missing + 1);
            of_item[feature.units.start as usize..end as usize].fill(true);
        }
        of_item
    }

    /// Whether any feature counts for the receiver alone that has it.
    pub fn has_own_only(&self) -> bool {
        self.features.iter().any(|feature| feature.own_only)
    }

    /// The feature that a unit belongs to; `None` for the bias.
    pub fn feature_of(&self, unit: u32) -> Option<usize> {
        if unit == BIAS_UNIT {
            return None;
        }
        Some(self.features.partition_point(|feature| feature.units.start <= unit).saturating_sub(1))
    }
}

/// Calls `visit(place, node)` for every node that lists a unit of a feature.
fn each_node(feature: &Feature, mut visit: impl FnMut(usize, usize)) {
    match &feature.values {
        Values::Sparse { rows, .. } => rows.iter().enumerate().for_each(|(at, node)| visit(at, *node as usize)),
        // Message edges have no such category.
        Values::Categories { codes, .. } if feature.own_only => {
            codes.iter().enumerate().filter(|(_, code)| **code != MISSING).for_each(|(at, _)| visit(at, at));
        }
        _ => (0..feature.values.listed()).for_each(|at| visit(at, at)),
    }
}

/// The levels of a feature, at its knots where it has any, and whether a value is missing.
fn level_values(feature: &Feature, knots: Option<&[f64]>) -> (LevelValues, bool) {
    match &feature.values {
        Values::Categories { codes, levels } => {
            (LevelValues::Names(levels.clone()), !feature.own_only && codes.contains(&MISSING))
        }
        Values::Numbers(values) | Values::Sparse { values, .. } => {
            let has_missing = values.iter().any(|value| value.is_nan());
            if let Some(knots) = knots {
                return (LevelValues::Numbers(knots.to_vec()), has_missing);
            }
            (LevelValues::Numbers(distinct_numbers(values)), has_missing)
        }
    }
}

/// For every node that lists a unit of a feature that unit, and the share of the unit after it.
fn units_of(feature: &Feature, levels: &FeatureLevels) -> Vec<(u32, f32)> {
    let unit = |level: usize| levels.units.start + (level as u32).min(levels.units.end - levels.units.start);
    match (&feature.values, &levels.values) {
        (Values::Numbers(values) | Values::Sparse { values, .. }, LevelValues::Numbers(numbers)) => {
            let place = |value: &f64| match value.is_nan() {
                true => (levels.units.end, 0.0),
                false if levels.interpolated => {
                    let (knot, share) = between(numbers, *value + 0.0);
                    (unit(knot), share)
                }
                false => (unit(numbers.partition_point(|level| *level < *value + 0.0)), 0.0),
            };
            values.iter().map(place).collect()
        }
        (Values::Categories { codes, .. }, _) => codes.iter().map(|code| (unit(*code as usize), 0.0)).collect(),
        _ => unreachable!("the levels of numbers are numbers"),
    }
}
