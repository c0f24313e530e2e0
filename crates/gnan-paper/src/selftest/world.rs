//! A simulated data set: random graphs of the size of molecules, values of their nodes, and labels from a planted truth.

use gnan::dataset::{Dataset, DatasetOptions};
use gnan::error::Result;
use gnan::files::{Column, Kind, MISSING, Tables, Task, Values};
use gnan::internals::random::Stream;

use super::cases::{Case, Labels};
use super::planted::{PlantedFeature, PlantedGraph};

/// Fewest and most nodes of a graph.
const NODES: [usize; 2] = [10, 40];
/// Most neighbours that a node of a tree gets, as carbon has.
const MOST_NEIGHBOURS: usize = 4;
/// A new node joins one of this many latest nodes, which makes trees long rather than round.
const LATEST: usize = 8;
/// Share of graphs that consist of two parts.
const DISCONNECTED: f64 = 0.15;
/// Distances between nodes that an extra edge joins: rings of 5 and 6.
const RING: [usize; 2] = [4, 5];
/// Name of the target column.
const TARGET: &str = "target";

/// Graphs, values and labels, as simulated and as a data set.
pub(crate) struct World {
    /// The graphs with their values.
    pub graphs: Vec<PlantedGraph>,
    /// The same as a data set.
    pub data: Dataset,
    /// `[items][outputs]`: the outputs that labels were drawn from.
    pub outputs: Vec<Vec<f64>>,
    /// Share of the variance of the outputs that labels keep (regression); 1 where labels are classes.
    pub signal_share: f64,
}

impl World {
    /// The world of `seed` in which the truth of a case holds.
    pub fn simulate(case: &Case, seed: u64) -> Result<World> {
        let graphs: Vec<PlantedGraph> = (0..case.graphs as u64)
            .map(|index| random_graph(&case.planted.features, &mut Stream::named(seed, "selftest graph", index)))
            .collect();
        let outputs: Vec<Vec<f64>> = match case.task {
            Task::Graph => graphs.iter().map(|graph| case.planted.graph_outputs(graph)).collect(),
            Task::Node => graphs.iter().flat_map(|graph| case.planted.node_outputs(graph)).collect(),
        };
        let mut random = Stream::named(seed, "selftest labels", 0);
        let (labels, signal_share) = label(case, &outputs, &mut random);
        let data = Dataset::from_tables(tables(case, &graphs, labels), &DatasetOptions::default())?;
        Ok(World { graphs, data, outputs, signal_share })
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.graphs.iter().map(PlantedGraph::len).sum()
    }
}

/// A tree (or two) with up to three rings, every node with a value of every feature.
fn random_graph(features: &[PlantedFeature], random: &mut Stream) -> PlantedGraph {
    let nodes = NODES[0] + random.below(NODES[1] - NODES[0] + 1);
    let second_part = if random.uniform() < DISCONNECTED { 1 + random.below(nodes - 1) } else { 0 };
    let mut graph = PlantedGraph { neighbours: vec![Vec::new(); nodes], values: Vec::new() };
    for node in 1..nodes {
        if node == second_part {
            continue;
        }
        let first = node.saturating_sub(LATEST).max(if node > second_part { second_part } else { 0 });
        let open: Vec<usize> = (first..node).filter(|at| graph.neighbours[*at].len() < MOST_NEIGHBOURS).collect();
        // The latest node of a part always has room: it has one neighbour at most.
        let at = open[random.below(open.len())];
        graph.join(at, node);
    }
    for _ in 0..random.below(4) {
        let from = random.below(nodes);
        let length = RING[random.below(2)];
        let distances = graph.distances_to(from);
        let ends: Vec<usize> = (0..nodes).filter(|node| distances[*node] == Some(length)).collect();
        if !ends.is_empty() {
            graph.join(from, ends[random.below(ends.len())]);
        }
    }
    graph.values = (0..nodes).map(|_| features.iter().map(|feature| draw(feature, random)).collect()).collect();
    graph
}

/// One of a feature's values by their shares.
fn draw(feature: &PlantedFeature, random: &mut Stream) -> usize {
    let mut left = random.uniform();
    for (index, value) in feature.values.iter().enumerate() {
        left -= value.share;
        if left < 0.0 {
            return index;
        }
    }
    feature.values.len() - 1
}

/// Labels drawn from the outputs, and the share of their variance that is not noise.
fn label(case: &Case, outputs: &[Vec<f64>], random: &mut Stream) -> (Values, f64) {
    match case.labels {
        Labels::Number { noise } => {
            let mean = outputs.iter().map(|y| y[0]).sum::<f64>() / outputs.len().max(1) as f64;
            let variance = outputs.iter().map(|y| (y[0] - mean).powi(2)).sum::<f64>() / outputs.len().max(1) as f64;
            let numbers = outputs.iter().map(|y| {
                let noisy = y[0] + noise * random.normal();
                if random.uniform() < case.labelled { noisy } else { f64::NAN }
            });
            (Values::Numbers(numbers.collect()), variance / (variance + noise * noise))
        }
        Labels::Classes => {
            let classes = case.planted.outputs().max(2);
            let codes = outputs.iter().map(|y| {
                let class = draw_class(y, random.uniform());
                if random.uniform() < case.labelled { class as u32 } else { MISSING }
            });
            let codes = codes.collect();
            (Values::Categories { codes, levels: (0..classes).map(|class| format!("class {class}")).collect() }, 1.0)
        }
    }
}

/// The class that `uniform` falls to: class 1 with probability sigmoid for one output, else by softmax.
fn draw_class(outputs: &[f64], uniform: f64) -> usize {
    if let [log_odds] = outputs {
        return usize::from(uniform < 1.0 / (1.0 + (-log_odds).exp()));
    }
    let largest = outputs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = outputs.iter().map(|y| (y - largest).exp()).collect();
    let mut left = uniform * weights.iter().sum::<f64>();
    for (class, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return class;
        }
    }
    weights.len() - 1
}

/// The tables that a reader would make of the world.
fn tables(case: &Case, graphs: &[PlantedGraph], labels: Values) -> Tables {
    let mut node_offsets = vec![0];
    let mut edges = Vec::new();
    for graph in graphs {
        let first = node_offsets[node_offsets.len() - 1];
        for (node, neighbours) in graph.neighbours.iter().enumerate() {
            edges.extend(neighbours.iter().filter(|n| **n > node).map(|n| [(first + node) as u32, (first + n) as u32]));
        }
        node_offsets.push(first + graph.len());
    }
    let columns = case.planted.features.iter().enumerate().map(|(k, feature)| column(k, feature, graphs));
    let mut tables = Tables {
        name: format!("selftest: {}", case.name),
        format: "simulated".to_owned(),
        graph_ids: (0..graphs.len()).map(|graph| graph.to_string()).collect(),
        node_offsets,
        edges,
        node_columns: columns.collect(),
        task: Some(case.task),
        targets: vec![TARGET.to_owned()],
        ..Tables::default()
    };
    let columns = if case.task == Task::Graph { &mut tables.graph_columns } else { &mut tables.node_columns };
    columns.push(Column::new(TARGET, labels));
    tables
}

fn column(k: usize, feature: &PlantedFeature, graphs: &[PlantedGraph]) -> Column {
    let held = graphs.iter().flat_map(|graph| graph.values.iter().map(|values| values[k]));
    let values = if feature.kind == Kind::Categorical {
        let levels = feature.values.iter().map(|value| value.level.clone()).collect();
        Values::Categories { codes: held.map(|value| value as u32).collect(), levels }
    } else {
        Values::Numbers(held.map(|value| feature.values[value].number).collect())
    };
    Column::new(feature.name.clone(), values).with_kind(feature.kind)
}
