//! The explanation of one prediction: every part of it, in the units of the output, adding up exactly.
//!
//! For one output the whole of a prediction is the array
//! `A[i, j, k, l] = f_k(x_jk) * rho(l) * [dist(j,i) = l] / n_i(l)` plus the structure term and `b0`. What is kept here
//! are its marginals by (source, feature), by (feature, distance) and by receiver, from which the others are sums.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::Serialize;

use super::part_sds::PartSds;
use super::parts::Unlisted;
use super::reference::{AverageParts, Reference};
use crate::lens::DistanceAxis;

/// Parts add up to the output within this much, relative to the sum of their sizes.
pub const TOLERANCE: f64 = 1e-5;

/// What one feature of one source contributes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Contribution {
    /// The source, as an index into [`Explanation::nodes`].
    pub node: usize,
    /// The feature, as an index into [`Explanation::features`].
    pub feature: usize,
    /// The contribution, per output.
    pub values: Vec<f64>,
}

/// The parts of the prediction of one item.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// let why = model.explain(&test, 3)?;
/// let sum = why.base[0] + why.structure(0) + why.by_feature(0).iter().sum::<f64>();
/// assert!((sum - why.prediction[0]).abs() < 1e-4);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Id of the item.
    pub id: String,
    /// Names of the outputs that are explained: classes (centred over classes), the positive class (log-odds), targets.
    pub outputs: Vec<String>,
    /// What the engine computed, per output.
    pub prediction: Vec<f64>,
    /// The probability of each class, or of "yes" for each target of several; empty for quantities.
    pub probabilities: Vec<f64>,
    /// `b0`, per output.
    pub base: Vec<f64>,
    /// The distances, one slot each.
    pub axis: DistanceAxis,
    /// What the shape of the graph alone contributes, `[slots][outputs]`.
    pub structure_by_distance: Vec<Vec<f64>>,
    /// Names of the features.
    pub features: Vec<String>,
    /// Ids of the sources: all nodes of the graph; of a node pair the message edges, and the pair itself where it has features of its
    /// own.
    pub nodes: Arc<[String]>,
    /// What the sources are, for people: their level of the first categorical feature; empty without one.
    pub labels: Arc<[String]>,
    /// The values of the node that is predicted, feature by feature, as text; of a node pair those that it alone has, the others
    /// being empty. Empty for a graph.
    pub own_values: Vec<String>,
    /// By source and feature, ascending; a source that has the reference value of a feature (the 0 of a binary or sparse
    /// one) contributes nothing and is not listed.
    pub by_node_and_feature: Vec<Contribution>,
    /// What the parts by source and feature add up to that are too many and too small to be listed; `None`: all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unlisted: Option<Unlisted>,
    /// `[features][slots][outputs]`
    pub by_feature_and_distance: Vec<Vec<Vec<f64>>>,
    /// `[receivers][outputs]`: the contributions of features to each receiver; empty for a node task.
    pub by_receiver: Vec<Vec<f64>>,
    /// `[receivers][outputs]`: each receiver's share of the structure term; empty for a node task.
    pub structure_by_receiver: Vec<Vec<f64>>,
    /// For every slot, how many receivers have sources there.
    pub receivers: Vec<usize>,
    /// Values of this graph that training had not seen, which contribute 0.
    pub unseen: Vec<String>,
    /// What the average training item has in place of these parts, where it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average: Option<AverageParts>,
    /// What the terms of ledgers are compared with; the parts above are not.
    pub reference: Reference,
    /// How sure the model is of the parts, where it was fitted by penalised likelihood.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sds: Option<PartSds>,
}

impl Explanation {
    /// The structure term of an output.
    pub fn structure(&self, output: usize) -> f64 {
        self.structure_by_distance.iter().map(|row| row[output]).sum()
    }

    /// Contribution of every feature to an output, in the order of the features.
    pub fn by_feature(&self, output: usize) -> Vec<f64> {
        let sum = |slots: &Vec<Vec<f64>>| slots.iter().map(|values| values[output]).sum();
        self.by_feature_and_distance.iter().map(sum).collect()
    }

    /// A feature of a node pair with the value that the pair alone has: "common neighbours = 3"; just the name of other features.
    pub fn with_own_value(&self, feature: &str) -> String {
        let k = self.features.iter().position(|name| name == feature);
        match k.and_then(|k| self.own_values.get(k)).map(String::as_str) {
            None | Some("") => feature.to_owned(),
            Some(value) => format!("{feature} = {value}"),
        }
    }

    /// Contribution of every source to an output: what its own features did.
    pub fn by_node(&self, output: usize) -> Vec<f64> {
        if let Some(unlisted) = &self.unlisted {
            return unlisted.by_node.chunks_exact(self.outputs.len()).map(|values| values[output]).collect();
        }
        let mut sums = vec![0.0; self.nodes.len()];
        self.by_node_and_feature.iter().for_each(|part| sums[part.node] += part.values[output]);
        sums
    }

    /// Contribution of a feature to an output by the labels of the sources, ascending, with the number of sources that
    /// have each; a source without a label counts as missing. `None` where sources have no labels or not all are listed.
    pub fn by_label(&self, feature: usize, output: usize) -> Option<Vec<(&str, f64, usize)>> {
        if self.labels.is_empty() || self.unlisted.is_some() {
            return None;
        }
        let mut labels: BTreeMap<&str, (f64, usize)> = BTreeMap::new();
        for part in self.by_node_and_feature.iter().filter(|part| part.feature == feature) {
            let label = self.labels.get(part.node).map_or("", String::as_str);
            let (sum, sources) = labels.entry(if label.is_empty() { "missing" } else { label }).or_default();
            *sum += part.values[output];
            *sources += 1;
        }
        Some(labels.into_iter().map(|(label, (sum, sources))| (label, sum, sources)).collect())
    }

    /// Contribution of every distance to an output, "unreachable" last.
    pub fn by_distance(&self, output: usize) -> Vec<f64> {
        (0..self.structure_by_distance.len())
            .map(|slot| self.by_feature_and_distance.iter().map(|slots| slots[slot][output]).sum())
            .collect()
    }

    /// The output of every receiver of a graph: contributions of features and its share of the structure term, the area
    /// of an atom in the paper's figures. Empty for a node task.
    pub fn receiver_outputs(&self, output: usize) -> Vec<f64> {
        let both = self.by_receiver.iter().zip(&self.structure_by_receiver);
        both.map(|(features, structure)| features[output] + structure[output]).collect()
    }

    /// The sum of the parts of an output: base, structure term and features.
    pub fn total(&self, output: usize) -> f64 {
        self.base[output] + self.structure(output) + self.by_feature(output).iter().sum::<f64>()
    }

    /// By how much the worst marginal, with structure term and base, misses an output, relative to what is tolerated:
    /// 1 and less adds up.
    pub fn worst_miss(&self) -> f64 {
        (0..self.outputs.len()).map(|output| self.miss(output)).fold(0.0, largest)
    }

    fn miss(&self, output: usize) -> f64 {
        let structure = self.structure(output);
        let size = self.base[output].abs()
            + self.structure_by_distance.iter().map(|row| row[output].abs()).sum::<f64>()
            + self.by_node_and_feature.iter().map(|part| part.values[output].abs()).sum::<f64>()
            + self.unlisted.as_ref().map_or(0.0, |unlisted| unlisted.sizes[output]);
        let tolerated = TOLERANCE * size.max(1.0);
        let rest = self.base[output] + structure;
        let miss = |sum: f64, exact: f64| (sum - exact).abs() / tolerated;
        let listed = self.by_node_and_feature.iter().map(|part| part.values[output]);
        let pairs = listed.chain(self.unlisted.iter().map(|unlisted| unlisted.values[output])).collect();
        let mut worst = [self.by_node(output), self.by_feature(output), self.by_distance(output), pairs]
            .into_iter()
            .map(|marginal| miss(rest + marginal.iter().sum::<f64>(), self.prediction[output]))
            .fold(0.0, largest);
        if !self.by_receiver.is_empty() {
            let sum = |rows: &[Vec<f64>]| rows.iter().map(|values| values[output]).sum::<f64>();
            worst = largest(worst, miss(rest + sum(&self.by_receiver), self.prediction[output]));
            worst = largest(worst, miss(sum(&self.structure_by_receiver), structure));
        }
        worst
    }

    /// Whether every marginal, with structure term and base, gives every output back.
    pub fn adds_up(&self) -> bool {
        self.worst_miss() <= 1.0
    }
}

/// The larger of two, and "not a number" if either is.
fn largest(a: f64, b: f64) -> f64 {
    if a.is_nan() || a > b { a } else { b }
}
