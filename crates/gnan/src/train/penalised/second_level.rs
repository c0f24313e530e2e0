//! The second level: numbers that sum up items, and which two of them belong together.
//!
//! A number that sums an item up ([`ItemStatistic`]) has a curve of its own. Of two of them, and of the own values of a node, a table
//! is added where it explains most of what the curves leave:
//!
//! ```text
//! T[cell]   sum of e / (sum of w + 2), e the slope of the log-likelihood by the output of an item, w its curvature
//! gain      sum over cells of w T^2, after the weighted means of rows and columns were taken out of T
//! ```

use rayon::prelude::*;

use super::estimate::CandidateFit;
use super::targets::target_parts;
use crate::dataset::pair::MOST_LEVELS;
use crate::dataset::{Dataset, Feature, FeaturePair, ItemStatistic, PairMember, Quantity};
use crate::error::Result;
use crate::files::{Kind, Task, Values};
use crate::likelihood::Derivatives;
use crate::model::FeatureSchema;
use crate::spec::Spec;
use crate::statistics::item_statistics;

/// Pairs that are tried.
pub(super) const PAIRS: usize = 10;
/// The distances over which means are taken around a node, and in a graph; and those at which the nodes of a graph that have others
/// there are counted.
const NODE_DISTANCES: std::ops::RangeInclusive<usize> = 1..=4;
const GRAPH_DISTANCES: std::ops::RangeInclusive<usize> = 0..=3;
const REACHED_DISTANCES: std::ops::RangeInclusive<usize> = 2..=6;
/// Most features that are summed up, most levels of one of them, and most of all.
const MOST_FEATURES: usize = 64;
const MOST_LEVELS_COUNTED: usize = 24;
const MOST_QUANTITIES: usize = 64;
/// A level is counted that so large a share of the nodes has, and so many of them.
const LEAST_SHARE: f64 = 0.002;
const LEAST_NODES: usize = 20;
/// A number is of use that so large a share of the items has another value of than the usual one.
const LEAST_DIFFERENT: f64 = 0.02;
/// Most pairs of nodes between which distances are found.
const MOST_NODE_PAIRS: f64 = 1e9;
/// Sweeps over rows and columns, and what is added to the curvature of a cell.
const SWEEPS: usize = 5;
const SHRINKAGE: f64 = 2.0;

/// The items, by their places, by which pairs are picked; the others judge them, so that they are not judged by what they were picked
/// for.
pub(super) const SCREENED: fn(usize) -> bool = |item| item % 2 == 0;

impl Spec {
    /// The same items with the numbers that sum them up as further features; `None` where there are none, or too many.
    pub(super) fn summed_up(&self, train: &Dataset) -> Result<Option<Dataset>> {
        let pairs: f64 = (0..train.graph_count()).map(|graph| (train.nodes_of(graph).len() as f64).powi(2)).sum();
        if train.links().is_some() || pairs > MOST_NODE_PAIRS {
            return Ok(None);
        }
        let wanted = self.statistics_of_items(train);
        let whole = train.whole();
        let found = item_statistics(&whole, &self.lenses()[0], &wanted)?;
        let known: Vec<Feature> = found.into_iter().filter(|feature| is_of_use(feature, train)).collect();
        Ok((!known.is_empty()).then(|| train.with_more_features(known)))
    }

    /// The numbers that may be worth having.
    fn statistics_of_items(&self, train: &Dataset) -> Vec<ItemStatistic> {
        // What a hop cap leaves out is not summed up either; an edge leads one step away.
        let farthest = self.distances.hop_cap.unwrap_or(usize::MAX);
        // Means of a feature would break what is promised of its own effects.
        let read = || train.features().iter().filter(|feature| feature.is_read());
        let counted = || read().filter(|feature| !self.is_ruled(&feature.name));
        let mut quantities = match read().count() <= MOST_FEATURES {
            true => counted().flat_map(|feature| quantities_of(feature, train)).collect::<Vec<Quantity>>(),
            false => Vec::new(),
        };
        quantities.truncate(MOST_QUANTITIES);
        let statistic = |of: Quantity, distance: usize| ItemStatistic { of, distance };
        let mut found = Vec::new();
        let distances = match train.task() {
            Task::Graph => {
                found.extend([statistic(Quantity::Nodes, 0), statistic(Quantity::Edges, 0)]);
                found.extend(REACHED_DISTANCES.map(|distance| statistic(Quantity::Reaching, distance)));
                for of in &quantities {
                    if let Quantity::Share { feature, level } = of {
                        let (feature, level) = (feature.clone(), level.clone());
                        found.push(statistic(Quantity::Count { feature, level }, 0));
                    }
                }
                GRAPH_DISTANCES
            }
            Task::Node => {
                found.extend(NODE_DISTANCES.map(|distance| statistic(Quantity::Nodes, distance)));
                NODE_DISTANCES
            }
        };
        for distance in distances {
            found.extend(quantities.iter().map(|of| statistic(of.clone(), distance)));
        }
        let reaches = |statistic: &ItemStatistic| match statistic.of {
            Quantity::Edges => 1,
            _ => statistic.distance,
        };
        found.retain(|statistic| reaches(statistic) <= farthest);
        found
    }

    /// The pairs that explain most of what a fit leaves.
    pub(super) fn best_pairs(&self, fit: &CandidateFit, most: usize) -> Result<Vec<FeaturePair>> {
        let train = &fit.train;
        let own_values = train.task() == Task::Node;
        let may = |feature: &Feature| feature.statistic.is_some() || (own_values && feature.is_read());
        let node_of = |item: u32| match train.task() {
            Task::Graph => train.nodes_of(item as usize).next(),
            Task::Node => Some(item as usize),
        };
        let nodes: Vec<Option<usize>> = train.items().iter().map(|item| node_of(*item)).collect();
        let mut is_item = vec![false; train.node_count()];
        nodes.iter().flatten().for_each(|node| is_item[*node] = true);
        let mut members: Vec<(PairMember, Vec<u16>)> = Vec::new();
        let schemas = fit.setup.definition.learned.features.iter();
        for (feature, schema) in train.features().iter().zip(schemas) {
            if !may(feature) || self.is_ruled(&feature.name) || schema.levels.len() > MOST_LEVELS {
                continue;
            }
            let member = member_of(feature, schema, |node| is_item[node])?;
            let bins = member.cut(feature)?;
            let of_item = |node: &Option<usize>| node.map_or(0, |node| bins[node].min(member.len() as u16));
            let bins: Vec<u16> = nodes.iter().map(of_item).collect();
            if bins.iter().any(|bin| *bin != bins[0]) {
                members.push((member, bins));
            }
        }
        let residuals = fit.working_residuals(SCREENED);
        let places: Vec<[usize; 2]> = (0..members.len())
            .flat_map(|first| (first + 1..members.len()).map(move |second| [first, second]))
            .collect();
        let gain = |[first, second]: &[usize; 2]| {
            let sides = [&members[*first], &members[*second]].map(|(member, bins)| (member.len() + 1, bins.as_slice()));
            residuals.iter().map(|residuals| residuals.gain(sides)).sum::<f64>()
        };
        let mut ranked: Vec<(f64, [usize; 2])> = places.par_iter().map(|place| (gain(place), *place)).collect();
        ranked.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        let pair = |(_, places): &(f64, [usize; 2])| FeaturePair {
            members: places.map(|place| members[place].0.clone()),
            of_item: true,
        };
        Ok(ranked.iter().take(most).map(pair).collect())
    }
}

/// What of a feature can be averaged or counted.
fn quantities_of(feature: &Feature, train: &Dataset) -> Vec<Quantity> {
    let Values::Categories { codes, levels } = &feature.values else {
        return vec![Quantity::Mean { feature: feature.name.clone() }];
    };
    let mut counts = vec![0usize; levels.len()];
    let mut nodes = 0;
    for node in train.graphs().into_iter().flat_map(|graph| train.nodes_of(graph)) {
        nodes += 1;
        if let Some(count) = counts.get_mut(codes[node] as usize) {
            *count += 1;
        }
    }
    let least = LEAST_NODES.max((LEAST_SHARE * nodes as f64) as usize);
    let mut common: Vec<usize> = (0..levels.len()).filter(|level| counts[*level] >= least).collect();
    common.sort_by_key(|level| std::cmp::Reverse(counts[*level]));
    common.truncate(MOST_LEVELS_COUNTED);
    let share = |level: usize| Quantity::Share { feature: feature.name.clone(), level: levels[level].clone() };
    common.into_iter().map(share).collect()
}

/// Whether the items differ in a number.
fn is_of_use(feature: &Feature, train: &Dataset) -> bool {
    let Values::Numbers(values) = &feature.values else { return false };
    let value = |item: &u32| match train.task() {
        Task::Graph => train.nodes_of(*item as usize).next().map_or(f64::NAN, |node| values[node]),
        Task::Node => values[*item as usize],
    };
    let mut known: Vec<f64> = train.items().iter().map(value).filter(|value| !value.is_nan()).collect();
    known.sort_unstable_by(f64::total_cmp);
    let Some(usual) = known.get(known.len() / 2) else { return false };
    let different = known.iter().filter(|value| *value != usual).count();
    different as f64 > LEAST_DIFFERENT * train.len() as f64
}

/// How the values of a feature are cut for a pair.
fn member_of(feature: &Feature, schema: &FeatureSchema, is_item: impl Fn(usize) -> bool) -> Result<PairMember> {
    let levels: Vec<String> = schema.levels.iter().map(|level| level.name.clone()).collect();
    let pooled = feature.kind == Kind::Categorical && schema.rare_level().is_some();
    PairMember::of(feature, &levels, pooled, is_item)
}

/// What a fit leaves of the items, for one output: slopes of the log-likelihood, and curvatures.
struct WorkingResiduals {
    slopes: Vec<f64>,
    curvatures: Vec<f64>,
}

impl WorkingResiduals {
    /// How much of it a table over two members explains beyond rows and columns, given the bins of each and of the items.
    fn gain(&self, [(rows, row_of), (columns, column_of)]: [(usize, &[u16]); 2]) -> f64 {
        let mut table = vec![0.0; rows * columns];
        let mut weights = vec![SHRINKAGE; rows * columns];
        for (item, (row, column)) in row_of.iter().zip(column_of).enumerate() {
            let cell = usize::from(*row) * columns + usize::from(*column);
            table[cell] += self.slopes[item];
            weights[cell] += self.curvatures[item];
        }
        table.iter_mut().zip(&weights).for_each(|(sum, weight)| *sum /= weight);
        for _ in 0..SWEEPS {
            for row in 0..rows {
                take_out_mean(&mut table, &weights, (0..columns).map(move |column| row * columns + column));
            }
            for column in 0..columns {
                take_out_mean(&mut table, &weights, (0..rows).map(move |row| row * columns + column));
            }
        }
        table.iter().zip(&weights).map(|(value, weight)| weight * value * value).sum()
    }
}

fn take_out_mean(table: &mut [f64], weights: &[f64], cells: impl Iterator<Item = usize> + Clone) {
    let (sum, total) =
        cells.clone().fold((0.0, 0.0), |(sum, total), cell| (sum + weights[cell] * table[cell], total + weights[cell]));
    cells.for_each(|cell| table[cell] -= sum / total);
}

impl CandidateFit {
    /// What it leaves of the items that count, by output.
    fn working_residuals(&self, counts: fn(usize) -> bool) -> Vec<WorkingResiduals> {
        let mut all = Vec::new();
        for (part, found) in
            target_parts(&self.train, self.setup.resolved.outcome, &self.setup.resolved).iter().zip(&self.found)
        {
            let outputs: Vec<Vec<f64>> =
                (0..found.outputs()).map(|output| found.predicted(&self.design, output)).collect();
            let empty = || WorkingResiduals { slopes: Vec::new(), curvatures: Vec::new() };
            let mut residuals: Vec<WorkingResiduals> = outputs.iter().map(|_| empty()).collect();
            let mut derivatives = Derivatives::default();
            for item in 0..self.design.rows() {
                let own: Vec<f64> = outputs.iter().map(|output| output[item] + part.offset()).collect();
                part.family.derivatives(&own, part.targets[item], found.variance, &mut derivatives);
                let weight = if counts(item) { part.weights[item] } else { 0.0 };
                for (output, residuals) in residuals.iter_mut().enumerate() {
                    residuals.slopes.push(weight * derivatives.first[output]);
                    residuals.curvatures.push(weight * derivatives.second[output * own.len() + output]);
                }
            }
            all.extend(residuals);
        }
        all
    }
}
