//! Pairs in training: which two features interact, and a fit with them.
//!
//! The additive model is fitted first. What is left of every training item, the gradient of its loss, is then laid out
//! over the grid of every two features; a pair scores by how much of it the cells explain beyond rows and columns:
//!
//! ```text
//! left[cell]   mean over the nodes in the cell of -dloss/dy (of the node, or of the graph it is in)
//! explained    sum over cells of n[cell] * (left[cell] - row - column)^2, rows and columns fitted by least squares
//! score        (explained - what chance would explain) / sum over nodes of left^2
//! ```

use std::collections::BTreeSet;
use std::sync::Arc;

use rayon::prelude::*;

use crate::dataset::pair::MOST_LEVELS;
use crate::dataset::{Dataset, Feature, FeaturePair, PairMember};
use crate::error::{Error, Result};
use crate::files::{Task, Values};
use crate::model::{Ended, FeatureSchema, Model, PairRank};
use crate::remedy::Remedy;
use crate::shape::ShapeKind;
use crate::spec::{FeaturePairName, Spec};

use super::fit::FitItems;
use super::loss::LaneTargets;
use super::report::{Fitted, Monitor};
use super::resolve::ResolvedSpec;
use super::setup::learn_features;
use super::target_scale::TargetScale;

/// Most features among which pairs are looked for: the most important ones of the additive model.
pub const MOST_FEATURES: usize = 40;
/// Ranks kept in the record.
const RANKS_KEPT: usize = 20;
/// Sweeps over rows and columns; few are needed, for a grid is small.
const SWEEPS: usize = 20;

impl Spec {
    /// Whether the model is to have pairs.
    pub(super) fn wants_pairs(&self) -> bool {
        self.model.feature_pairs > 0 || !self.model.feature_pair.is_empty()
    }

    /// Refuses pairs that the features do not allow, before any work starts.
    pub(super) fn check_pairs(&self, train: &Dataset) -> Result<()> {
        if train.links().is_some() {
            return Err(Error::usage("pairs of features are for graphs and nodes: a link has two ends already")
                .with_remedy(Remedy::LeaveOut(&["feature-pairs", "feature-pair"])));
        }
        let features = train.features();
        let mut named = BTreeSet::new();
        for FeaturePairName([first, second]) in &self.model.feature_pair {
            for name in [first, second] {
                if !features.iter().any(|feature| feature.name == *name) {
                    return Err(Error::usage(format!("there is no feature \"{name}\" for a pair"))
                        .with_remedy(format!("choose two of: {}", train.first_names())));
                }
            }
            if let Some(name) = [first, second].into_iter().find(|name| self.is_ruled(name)) {
                return Err(Error::usage(format!("feature \"{name}\" must keep to a rule, which a pair could break"))
                    .with_remedy("leave the rule or the pair out"));
            }
            if first == second {
                return Err(Error::usage(format!("a pair of \"{first}\" with itself is no pair"))
                    .with_remedy("one feature has its shape function already"));
            }
            if !named.insert([first.min(second), first.max(second)]) {
                return Err(Error::usage(format!("the pair of \"{first}\" and \"{second}\" is named twice")));
            }
        }
        let considered = features.iter().filter(|feature| self.may_pair(feature)).count().min(MOST_FEATURES);
        let there_are = considered * considered.saturating_sub(1) / 2;
        if self.model.feature_pairs.saturating_add(named.len()) > there_are.max(named.len()) {
            return Err(Error::usage(format!(
                "{} pairs are requested, and the features make {there_are}",
                self.model.feature_pairs.saturating_add(named.len())
            ))
            .with_remedy(format!(
                "ask for fewer; at most {MOST_FEATURES} features are considered, none with more than {MOST_LEVELS} levels"
            )));
        }
        Ok(())
    }

    /// Whether a feature has promised something that a pair with it could break.
    pub(super) fn is_ruled(&self, name: &str) -> bool {
        let constrained = self.model.constrain.iter().any(|rules| rules.feature == name);
        constrained || self.distances.ruled_features().any(|ruled| ruled == name)
    }

    /// Whether a feature may be in a pair.
    fn may_pair(&self, feature: &Feature) -> bool {
        let few_levels = match &feature.values {
            // A described feature pools what is rare: how many levels it has is known when it is cut.
            Values::Categories { levels, .. } => levels.len() <= MOST_LEVELS || feature.description.is_some(),
            _ => true,
        };
        few_levels && feature.pair.is_none() && !self.is_ruled(&feature.name)
    }

    /// Fits the additive model, ranks pairs on what it leaves, and fits again with the best of them and the named ones.
    pub(super) fn fit_with_pairs(&self, items: FitItems<'_>, monitor: &mut Monitor<'_>) -> Result<Fitted> {
        let FitItems { cache, train, valid } = items;
        self.check_pairs(train)?;
        let schemas = learn_features(self, ShapeKind::Network, train);
        let mut chosen = Vec::new();
        for FeaturePairName(names) in &self.model.feature_pair {
            let member = |name: &String| Members::cut(train, &schemas, |feature| feature.name == *name)?.only(name);
            chosen.push(FeaturePair { members: [member(&names[0])?, member(&names[1])?], of_item: false });
        }
        let wanted = self.model.feature_pairs;
        let mut ranks = Vec::new();
        if wanted > 0 {
            let first = self.fit_plain(items, monitor)?;
            if first.ended == Ended::Interrupted {
                return Ok(first);
            }
            let ranking = Ranking::new(self, &first.model, train, &schemas)?;
            let named = |pair: &FeaturePair| chosen.iter().any(|other: &FeaturePair| other.has_members_of(pair));
            let best: Vec<FeaturePair> =
                ranking.pairs.iter().filter(|pair| !named(pair)).take(wanted).cloned().collect();
            chosen.extend(best);
            ranks = ranking.ranks;
            ranks.truncate(RANKS_KEPT.max(wanted));
        }
        let (paired_train, cache) = (train.paired(&chosen)?, cache.with_pairs(&chosen)?);
        let items = FitItems { cache: &cache, train: &paired_train, valid: &paired_train.view_of(valid) };
        let mut fitted = self.fit_plain(items, monitor)?;
        fitted.model = fitted.model.with_record(|record| record.pairs = ranks);
        (fitted.train, fitted.valid) = (train.view_of(&fitted.train), train.view_of(&fitted.valid));
        Ok(fitted)
    }
}

impl FeaturePair {
    fn has_members_of(&self, other: &FeaturePair) -> bool {
        let names = |pair: &FeaturePair| pair.members.each_ref().map(|member| member.feature.clone());
        let [a, b] = names(other);
        names(self) == [a.clone(), b.clone()] || names(self) == [b, a]
    }
}

/// Features cut into bins, with the bin of every node.
struct Members {
    members: Vec<PairMember>,
    bins: Vec<Vec<u16>>,
}

impl Members {
    /// Cuts the wanted features by the nodes of the training graphs; those that cannot be cut are an error.
    fn cut(train: &Dataset, schemas: &[FeatureSchema], wanted: impl Fn(&Feature) -> bool) -> Result<Members> {
        let in_training = train.is_source();
        let mut cut = Members { members: Vec::new(), bins: Vec::new() };
        for (feature, schema) in train.features().iter().zip(schemas).filter(|(feature, _)| wanted(feature)) {
            let levels: Vec<String> = schema.levels.iter().map(|level| level.name.clone()).collect();
            let member = PairMember::of(feature, &levels, schema.rare_level().is_some(), |node| in_training[node])?;
            cut.bins.push(member.cut(feature)?);
            cut.members.push(member);
        }
        Ok(cut)
    }

    fn only(mut self, name: &str) -> Result<PairMember> {
        self.members.pop().ok_or_else(|| Error::usage(format!("there is no feature \"{name}\" for a pair")))
    }
}

/// All pairs that were considered, the best first.
struct Ranking {
    pairs: Vec<FeaturePair>,
    ranks: Vec<PairRank>,
}

impl Ranking {
    fn new(spec: &Spec, additive: &Model, train: &Dataset, schemas: &[FeatureSchema]) -> Result<Ranking> {
        let left = Left::of(additive, train)?;
        let considered = considered(spec, additive, train, schemas)?;
        let Members { members, bins } =
            Members::cut(train, schemas, |feature| considered.contains(feature.name.as_str()))?;
        let places: Vec<[usize; 2]> =
            (0..members.len()).flat_map(|second| (0..second).map(move |first| [first, second])).collect();
        let score = |[first, second]: &[usize; 2]| {
            let widths = [members[*first].len(), members[*second].len()];
            left.score([&bins[*first], &bins[*second]], widths)
        };
        let scores: Vec<f64> = places.par_iter().map(score).collect();
        let mut order: Vec<usize> = (0..places.len()).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]));
        let pair =
            |at: &usize| FeaturePair { members: places[*at].map(|member| members[member].clone()), of_item: false };
        let rank = |at: &usize| PairRank {
            features: places[*at].map(|member| members[member].feature.clone()),
            score: scores[*at],
        };
        Ok(Ranking { pairs: order.iter().map(pair).collect(), ranks: order.iter().map(rank).collect() })
    }
}

/// The names of the features among which pairs are looked for: those that can be cut, and of many the most important.
fn considered<'a>(
    spec: &Spec,
    additive: &Model,
    train: &'a Dataset,
    schemas: &[FeatureSchema],
) -> Result<BTreeSet<&'a str>> {
    let few_levels = |schema: &FeatureSchema| schema.levels.len() <= MOST_LEVELS;
    let features = train.features().iter().zip(schemas).enumerate();
    let mut able: Vec<(usize, &str)> = features
        .filter(|(_, (feature, schema))| spec.may_pair(feature) && few_levels(schema))
        .map(|(k, (feature, _))| (k, feature.name.as_str()))
        .collect();
    if able.len() > MOST_FEATURES {
        let sizes = effect_sizes(additive, train)?;
        able.sort_by(|a, b| sizes[b.0].total_cmp(&sizes[a.0]));
        able.truncate(MOST_FEATURES);
    }
    Ok(able.into_iter().map(|(_, name)| name).collect())
}

/// The size of the effect of every feature, about: the sum over the training nodes of its largest square over distances.
fn effect_sizes(additive: &Model, train: &Dataset) -> Result<Vec<f64>> {
    let features = additive.features_of(train)?;
    let engine = additive.engine(Arc::new(additive.statistics(train, &features)?));
    let (levels, outputs) = (&engine.statistics().levels, additive.outputs());
    let per_rho = engine.statistics().axis.slots() * outputs;
    let square = |values: &[f32]| values.iter().map(|x| f64::from(*x).powi(2)).fold(0.0, f64::max);
    let largest_rho: Vec<f64> = engine.rho_table().chunks_exact(per_rho).map(square).collect();
    let mut sums = vec![0.0; levels.features.len()];
    for node in train.graphs().into_iter().flat_map(|graph| train.nodes_of(graph)) {
        levels.of_node(node).each(|unit, weight| {
            let Some(feature) = levels.feature_of(unit) else { return };
            let value = engine.unit(unit).map(|x| f64::from(x).powi(2)).fold(0.0, f64::max);
            sums[feature] += weight * value * largest_rho[engine.rho_of_unit()[unit as usize] as usize];
        });
    }
    Ok(sums)
}

/// What the additive model leaves of every training node: the gradient of its own item, or of its graph's.
struct Left {
    nodes: Vec<u32>,
    /// `[nodes, outputs]`.
    values: Vec<f64>,
    outputs: usize,
    /// The sum of squares, per output.
    squares: Vec<f64>,
}

impl Left {
    fn of(additive: &Model, train: &Dataset) -> Result<Left> {
        let outputs = additive.outputs();
        let found = additive.outputs_on(train)?.values;
        let resolved = ResolvedSpec::of_model(additive.definition())?;
        let targets = TargetScale::none(train.targets().len()).targets(train, &[]);
        let mut gradient = vec![0.0; found.len()];
        LaneTargets::of_one(resolved.loss, outputs, &targets).evaluate(&found, &mut gradient);
        let mut left = Left { nodes: Vec::new(), values: Vec::new(), outputs, squares: vec![0.0; outputs] };
        for (item, gradient) in train.items().iter().zip(gradient.chunks_exact(outputs)) {
            let nodes = match train.task() {
                Task::Graph => train.nodes_of(*item as usize),
                Task::Node => *item as usize..*item as usize + 1,
            };
            for node in nodes {
                left.nodes.push(node as u32);
                left.values.extend(gradient.iter().map(|g| -f64::from(*g)));
                left.squares.iter_mut().zip(gradient).for_each(|(sum, g)| *sum += f64::from(*g).powi(2));
            }
        }
        Ok(left)
    }

    /// The share of what is left that a grid explains beyond its rows and columns, less what chance would.
    fn score(&self, bins: [&[u16]; 2], widths: [usize; 2]) -> f64 {
        let [height, width] = widths;
        let mut counts = vec![0.0; height * width];
        let mut sums = vec![0.0; height * width * self.outputs];
        for (node, values) in self.nodes.iter().zip(self.values.chunks_exact(self.outputs)) {
            let [row, column] = bins.map(|bins| usize::from(bins[*node as usize]));
            if row >= height || column >= width {
                continue;
            }
            let cell = row * width + column;
            counts[cell] += 1.0;
            sums[cell * self.outputs..][..self.outputs].iter_mut().zip(values).for_each(|(sum, value)| *sum += value);
        }
        let occupied = |line: &mut dyn Iterator<Item = usize>| line.map(|cell| counts[cell]).sum::<f64>() > 0.0;
        let cells = counts.iter().filter(|count| **count > 0.0).count();
        let rows = (0..height).filter(|row| occupied(&mut (row * width..(row + 1) * width))).count();
        let columns = (0..width).filter(|column| occupied(&mut (*column..height * width).step_by(width))).count();
        let freedom = (cells + 1).saturating_sub(rows + columns) as f64;
        let total: f64 = self.squares.iter().sum();
        let explained: f64 = (0..self.outputs)
            .map(|output| {
                let sums: Vec<f64> = sums.iter().skip(output).step_by(self.outputs).copied().collect();
                beyond_rows_and_columns(&counts, &sums, width)
            })
            .sum();
        let by_chance = freedom * total / self.nodes.len().max(1) as f64;
        if total > 0.0 { (explained - by_chance) / total } else { 0.0 }
    }
}

/// The sum of squares between cells that rows and columns together do not explain.
fn beyond_rows_and_columns(counts: &[f64], sums: &[f64], width: usize) -> f64 {
    let height = counts.len() / width;
    let (mut rows, mut columns) = (vec![0.0; height], vec![0.0; width]);
    let fit = |line: &mut dyn Iterator<Item = usize>, other: &dyn Fn(usize) -> f64| {
        let (mut count, mut sum) = (0.0, 0.0);
        for cell in line {
            count += counts[cell];
            sum += sums[cell] - counts[cell] * other(cell);
        }
        if count > 0.0 { sum / count } else { 0.0 }
    };
    for _ in 0..SWEEPS {
        for (row, value) in rows.iter_mut().enumerate() {
            *value = fit(&mut (row * width..(row + 1) * width), &|cell| columns[cell % width]);
        }
        for (column, value) in columns.iter_mut().enumerate() {
            *value = fit(&mut (column..counts.len()).step_by(width), &|cell| rows[cell / width]);
        }
    }
    let cells = (0..counts.len()).filter(|cell| counts[*cell] > 0.0);
    cells
        .map(|cell| counts[cell] * (sums[cell] / counts[cell] - rows[cell / width] - columns[cell % width]).powi(2))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_rows_and_columns_leave_counts() {
        let counts = [3.0, 1.0, 2.0, 5.0];
        let additive = [1.0, 2.0, 4.0, 5.0];
        let sums: Vec<f64> = counts.iter().zip(additive).map(|(count, mean)| count * mean).collect();
        assert!(beyond_rows_and_columns(&counts, &sums, 2) < 1e-9);
        let crossed = [1.0, -1.0, -1.0, 1.0];
        assert!((beyond_rows_and_columns(&[1.0; 4], &crossed, 2) - 4.0).abs() < 1e-9);
    }
}
