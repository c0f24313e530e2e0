//! Levels: the distinct values of every feature, and which of them each node has.
//!
//! The model only ever sees distinct values. A *unit* is one level of one feature; unit 0 is the bias that every
//! source has. A node lists the units it has, except those whose shape function is 0 by construction (the zero of a
//! binary or sparse feature), so an absent word costs nothing.

use std::ops::Range;

use crate::dataset::Feature;
use crate::files::{MISSING, Values};

/// The unit that every node has: the bias of a source.
pub const BIAS_UNIT: u32 = 0;

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
    /// Number of nodes that list a unit of this feature.
    pub listed: usize,
}

/// The levels of all features, and the units of every node.
#[derive(Clone, Debug)]
pub struct Levels {
    features: Vec<FeatureLevels>,
    unit_count: u32,
    offsets: Vec<usize>,
    units: Vec<u32>,
}

impl Levels {
    /// Finds the levels of `features` over `nodes` nodes.
    pub fn new(features: &[Feature], nodes: usize) -> Levels {
        let mut unit_count = BIAS_UNIT + 1;
        let mut found = Vec::with_capacity(features.len());
        let mut node_units: Vec<Vec<(u32, u32)>> = Vec::with_capacity(features.len());
        for feature in features {
            let (values, pairs, has_missing) = levels_of(feature);
            let count = match &values {
                LevelValues::Numbers(numbers) => numbers.len(),
                LevelValues::Names(names) => names.len(),
            } as u32;
            let units = unit_count..unit_count + count;
            unit_count += count + u32::from(has_missing);
            let missing = has_missing.then_some(units.end);
            let pairs: Vec<(u32, u32)> =
                pairs.into_iter().map(|(node, level)| (node, units.start + level.min(count))).collect();
            found.push(FeatureLevels { values, units, missing, listed: pairs.len() });
            node_units.push(pairs);
        }
        let mut offsets = vec![0; nodes + 1];
        node_units.iter().flatten().for_each(|(node, _)| offsets[*node as usize + 1] += 1);
        for node in 0..nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut units = vec![0; offsets[nodes]];
        for (node, unit) in node_units.into_iter().flatten() {
            units[next[node as usize]] = unit;
            next[node as usize] += 1;
        }
        Levels { features: found, unit_count, offsets, units }
    }

    /// The levels of every feature.
    pub fn features(&self) -> &[FeatureLevels] {
        &self.features
    }

    /// Number of units, the bias included.
    pub fn unit_count(&self) -> usize {
        self.unit_count as usize
    }

    /// The units that a node has, by feature, the bias left out.
    pub fn of_node(&self, node: usize) -> &[u32] {
        &self.units[self.offsets[node]..self.offsets[node + 1]]
    }

    /// The feature that a unit belongs to; `None` for the bias.
    pub fn feature_of(&self, unit: u32) -> Option<usize> {
        if unit == BIAS_UNIT {
            return None;
        }
        Some(self.features.partition_point(|feature| feature.units.start <= unit).saturating_sub(1))
    }
}

/// The levels of a feature, for the listed nodes (node, level), and whether a value is missing. The level of a missing
/// value is `u32::MAX`.
fn levels_of(feature: &Feature) -> (LevelValues, Vec<(u32, u32)>, bool) {
    match &feature.values {
        Values::Categories { codes, levels } => {
            let pairs = (0u32..).zip(codes).map(|(node, code)| (node, *code)).collect();
            (LevelValues::Names(levels.clone()), pairs, codes.contains(&MISSING))
        }
        Values::Numbers(values) => number_levels((0u32..).zip(values.iter().copied())),
        Values::Sparse { rows, values, .. } => number_levels(rows.iter().copied().zip(values.iter().copied())),
    }
}

fn number_levels(entries: impl Iterator<Item = (u32, f64)> + Clone) -> (LevelValues, Vec<(u32, u32)>, bool) {
    let mut distinct: Vec<f64> = entries.clone().map(|(_, value)| value).filter(|x| !x.is_nan()).collect();
    // -0 and 0 are one value.
    distinct.iter_mut().for_each(|x| *x += 0.0);
    distinct.sort_unstable_by(f64::total_cmp);
    distinct.dedup();
    let mut missing = false;
    let pairs = entries
        .map(|(node, value)| {
            let level = distinct.binary_search_by(|level| level.total_cmp(&(value + 0.0)));
            missing |= level.is_err();
            (node, level.map_or(u32::MAX, |level| level as u32))
        })
        .collect();
    (LevelValues::Numbers(distinct), pairs, missing)
}
