//! The explanation of one prediction: every part of it, in the units of the output, adding up exactly.
//!
//! For one output the whole of a prediction is the array
//! `A[i, j, k, l] = f_k(x_jk) * rho(l) * [dist(j,i) = l] / n_i(l)` plus the structure term and `b0`. What is kept here
//! are its marginals by (source, feature), by (feature, distance) and by receiver, from which the others are sums.

use std::collections::HashMap;

use serde::Serialize;

use crate::dataset::{Dataset, Feature, Outcome};
use crate::distance::{RECEIVERS_AT_ONCE, Search, UNREACHABLE, distances_to};
use crate::error::{Error, Result};
use crate::files::{MISSING, Task, Values};
use crate::model::Model;

use super::canonical::{Canonical, Value};

/// Parts add up to the output within this much, relative to the sum of their sizes.
pub const TOLERANCE: f64 = 1e-5;

/// Why the model said what it said about one item.
#[derive(Clone, Debug, Serialize)]
pub struct Explanation {
    /// Id of the item.
    pub id: String,
    /// Names of the outputs that are explained: classes (centred over classes), the positive class (log-odds), targets.
    pub outputs: Vec<String>,
    /// What the engine computed, per output.
    pub prediction: Vec<f64>,
    /// `b0`, per output.
    pub base: Vec<f64>,
    /// What the shape of the graph alone contributes, `[slots][outputs]`.
    pub structure_by_distance: Vec<Vec<f64>>,
    /// Names of the features.
    pub features: Vec<String>,
    /// Ids of the sources: all nodes of the graph.
    pub nodes: Vec<String>,
    /// `[nodes][features][outputs]`
    pub by_node_and_feature: Vec<Vec<Vec<f64>>>,
    /// `[features][slots][outputs]`: distance 0, 1, ..., "unreachable" last.
    pub by_feature_and_distance: Vec<Vec<Vec<f64>>>,
    /// `[receivers][outputs]`: what each receiver heard of features; empty for a node task.
    pub by_receiver: Vec<Vec<f64>>,
    /// `[receivers][outputs]`: each receiver's share of the structure term; empty for a node task.
    pub structure_by_receiver: Vec<Vec<f64>>,
    /// Values of this graph that training had not seen, which contribute 0.
    pub unseen: Vec<String>,
}

impl Model {
    /// Explains the prediction of the item at `position` of `data`.
    pub fn explain(&self, data: &Dataset, position: usize) -> Result<Explanation> {
        let Some(item) = data.items().get(position) else {
            return Err(Error::usage(format!("there is no item number {position} among {}", data.len())));
        };
        let features = self.features_of(data)?;
        let one = data.subset(&[position]);
        let outputs = self.outputs_on(&one)?;
        let graph_index = match data.task() {
            Task::Graph => *item as usize,
            Task::Node => data.graph_of(*item as usize),
        };
        let nodes = data.nodes_of(graph_index);
        let receivers: Vec<u32> = match data.task() {
            Task::Graph => (0..nodes.len() as u32).collect(),
            Task::Node => vec![*item - nodes.start as u32],
        };
        let graph = data.graph(graph_index);
        let mut rows = vec![0; receivers.len() * nodes.len()];
        let mut search = Search::default();
        let mut longest = 0;
        let batches =
            receivers.chunks(RECEIVERS_AT_ONCE).zip(rows.chunks_mut((RECEIVERS_AT_ONCE * nodes.len()).max(1)));
        for (receivers, rows) in batches {
            longest = longest.max(distances_to(&graph, receivers, &mut search, rows)?);
        }
        let slots = usize::from(longest) + 2;
        let canonical = Canonical::new(self, slots.max(self.description().receivers.len()));
        let mut parts = Parts::new(self, &canonical, &features, nodes.clone());
        for row in rows.chunks_exact(nodes.len().max(1)) {
            parts.add_receiver(row);
        }
        let show = |values: &[f64]| shown(self, values);
        let shown_rows = |rows: Vec<Vec<f64>>| rows.iter().map(|row| show(row)).collect::<Vec<_>>();
        let raw: Vec<f64> = outputs.values.iter().map(|y| f64::from(*y)).collect();
        let node_task = data.task() == Task::Node;
        Ok(Explanation {
            id: data.item_id(*item),
            outputs: shown_names(self),
            prediction: show(&raw),
            base: show(canonical.output_bias()),
            structure_by_distance: shown_rows(parts.structure),
            features: features.iter().map(|feature| feature.name.clone()).collect(),
            nodes: nodes.map(|node| data.node_id(node)).collect(),
            by_node_and_feature: parts.node_feature.into_iter().map(shown_rows).collect(),
            by_feature_and_distance: parts.feature_distance.into_iter().map(shown_rows).collect(),
            by_receiver: if node_task { Vec::new() } else { shown_rows(parts.receivers) },
            structure_by_receiver: if node_task { Vec::new() } else { shown_rows(parts.receiver_structure) },
            unseen: parts.unseen,
        })
    }
}

impl Explanation {
    /// The structure term of an output.
    pub fn structure(&self, output: usize) -> f64 {
        self.structure_by_distance.iter().map(|row| row[output]).sum()
    }

    /// Contribution of every feature to an output, in the order of the features.
    pub fn by_feature(&self, output: usize) -> Vec<f64> {
        (0..self.features.len())
            .map(|k| self.by_node_and_feature.iter().map(|features| features[k][output]).sum())
            .collect()
    }

    /// Contribution of every source to an output: what its own features did.
    pub fn by_node(&self, output: usize) -> Vec<f64> {
        let sum = |features: &Vec<Vec<f64>>| features.iter().map(|values| values[output]).sum();
        self.by_node_and_feature.iter().map(sum).collect()
    }

    /// Contribution of every distance to an output, "unreachable" last.
    pub fn by_distance(&self, output: usize) -> Vec<f64> {
        (0..self.structure_by_distance.len())
            .map(|slot| self.by_feature_and_distance.iter().map(|slots| slots[slot][output]).sum())
            .collect()
    }

    /// The sum of the parts of an output: base, structure term and features.
    pub fn total(&self, output: usize) -> f64 {
        self.base[output] + self.structure(output) + self.by_feature(output).iter().sum::<f64>()
    }

    /// Whether every marginal, with structure term and base, gives every output back.
    pub fn adds_up(&self) -> bool {
        (0..self.outputs.len()).all(|output| {
            let rest = self.base[output] + self.structure(output);
            let size = self.base[output].abs()
                + self.structure_by_distance.iter().map(|row| row[output].abs()).sum::<f64>()
                + self.by_node_and_feature.iter().flatten().map(|values| values[output].abs()).sum::<f64>();
            let close = |sum: f64| (rest + sum - self.prediction[output]).abs() <= TOLERANCE * size.max(1.0);
            let receivers =
                self.by_receiver.is_empty() || close(self.by_receiver.iter().map(|values| values[output]).sum::<f64>());
            close(self.by_node(output).iter().sum())
                && close(self.by_feature(output).iter().sum())
                && close(self.by_distance(output).iter().sum())
                && receivers
        })
    }
}

/// The marginals of one prediction while they are gathered, for the model's own outputs.
struct Parts<'a> {
    canonical: &'a Canonical,
    normalise: bool,
    /// For every source and feature its products by slot, shared between equal values: an index into `products`.
    values: Vec<Vec<Option<usize>>>,
    /// `[distinct values][slots][outputs]`
    products: Vec<Vec<Vec<f64>>>,
    node_feature: Vec<Vec<Vec<f64>>>,
    feature_distance: Vec<Vec<Vec<f64>>>,
    structure: Vec<Vec<f64>>,
    receivers: Vec<Vec<f64>>,
    receiver_structure: Vec<Vec<f64>>,
    unseen: Vec<String>,
}

impl<'a> Parts<'a> {
    fn new(model: &Model, canonical: &'a Canonical, features: &[Feature], nodes: std::ops::Range<usize>) -> Parts<'a> {
        let (outputs, slots) = (model.outputs(), canonical.slots());
        let mut parts = Parts {
            canonical,
            normalise: model.description().normalise,
            values: vec![vec![None; features.len()]; nodes.len()],
            products: Vec::new(),
            node_feature: vec![vec![vec![0.0; outputs]; features.len()]; nodes.len()],
            feature_distance: vec![vec![vec![0.0; outputs]; slots]; features.len()],
            structure: vec![vec![0.0; outputs]; slots],
            receivers: Vec::new(),
            receiver_structure: Vec::new(),
            unseen: Vec::new(),
        };
        for (k, feature) in features.iter().enumerate() {
            parts.add_values(k, feature, nodes.clone());
        }
        parts
    }

    /// Computes the products of the distinct values of a feature and notes which source has which.
    fn add_values(&mut self, k: usize, feature: &Feature, nodes: std::ops::Range<usize>) {
        let mut known: HashMap<u64, Option<usize>> = HashMap::new();
        let mut set = |parts: &mut Self, node: usize, key: u64, value: Value<'_>| {
            let index = *known.entry(key).or_insert_with(|| {
                if parts.canonical.shape(k, value).is_none() {
                    let word = match value {
                        Value::Level(name) => name.to_owned(),
                        Value::Number(x) => x.to_string(),
                        Value::Missing => "missing".to_owned(),
                    };
                    parts.unseen.push(format!("{}: {word}", feature.name));
                    return None;
                }
                let products = (0..parts.canonical.slots()).map(|slot| parts.canonical.product(k, value, slot));
                parts.products.push(products.collect());
                Some(parts.products.len() - 1)
            });
            parts.values[node - nodes.start][k] = index;
        };
        let number = |x: f64| if x.is_nan() { Value::Missing } else { Value::Number(x) };
        match &feature.values {
            Values::Categories { codes, levels } => {
                for node in nodes.clone() {
                    let code = codes[node];
                    let value = if code == MISSING { Value::Missing } else { Value::Level(&levels[code as usize]) };
                    set(self, node, u64::from(code), value);
                }
            }
            Values::Numbers(values) => {
                for node in nodes.clone() {
                    set(self, node, values[node].to_bits(), number(values[node]));
                }
            }
            Values::Sparse { rows, values, .. } => {
                let start = rows.partition_point(|row| (*row as usize) < nodes.start);
                for (row, value) in rows[start..].iter().zip(&values[start..]) {
                    if *row as usize >= nodes.end {
                        break;
                    }
                    set(self, *row as usize, value.to_bits(), number(*value));
                }
            }
        }
    }

    /// Adds everything that one receiver hears.
    fn add_receiver(&mut self, row: &[u16]) {
        let slots = self.canonical.slots();
        let slot_of = |distance: u16| if distance == UNREACHABLE { slots - 1 } else { usize::from(distance) };
        let mut counts = vec![0u32; slots];
        row.iter().for_each(|distance| counts[slot_of(*distance)] += 1);
        let outputs = self.canonical.output_bias().len();
        let (mut heard, mut structure) = (vec![0.0; outputs], vec![0.0; outputs]);
        for (slot, count) in counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            let receivers = if self.normalise { 1.0 } else { f64::from(*count) };
            for (c, beta) in self.canonical.structure()[slot].iter().enumerate() {
                self.structure[slot][c] += beta * receivers;
                structure[c] += beta * receivers;
            }
        }
        for (source, distance) in row.iter().enumerate() {
            let slot = slot_of(*distance);
            let share = if self.normalise { 1.0 / f64::from(counts[slot]) } else { 1.0 };
            for (k, value) in self.values[source].iter().enumerate() {
                let Some(value) = value else { continue };
                for (c, product) in self.products[*value][slot].iter().enumerate() {
                    let part = product * share;
                    self.node_feature[source][k][c] += part;
                    self.feature_distance[k][slot][c] += part;
                    heard[c] += part;
                }
            }
        }
        self.receivers.push(heard);
        self.receiver_structure.push(structure);
    }
}

/// Outputs as they are shown: log-odds for two logits, centred over classes for a softmax, else as they are.
fn shown(model: &Model, values: &[f64]) -> Vec<f64> {
    match (model.description().outcome, values) {
        (Outcome::Binary, [no, yes]) => vec![yes - no],
        (Outcome::Multiclass, values) => {
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            values.iter().map(|value| value - mean).collect()
        }
        _ => values.to_vec(),
    }
}

fn shown_names(model: &Model) -> Vec<String> {
    let names = model.description().output_names();
    match model.description().outcome {
        Outcome::Binary => names.into_iter().rev().take(1).collect(),
        _ => names,
    }
}
