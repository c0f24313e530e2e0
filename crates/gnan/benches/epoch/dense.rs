//! The forward pass of the dense oracle, timed on a part of the data and extrapolated.

use std::time::Instant;

use gnan::Dataset;
use gnan::files::{Tables, Task, Values};
use gnan::model::Model;

use super::oracle::{Case, CaseFeature, CaseGraph, FileModel, Value};

/// Graphs of a graph task that are timed.
const GRAPHS: usize = 40;
/// Nodes of a node task whose shape functions are timed.
const NODES: usize = 20;

/// Seconds of the dense forward pass over all items of `train`, distances not counted.
///
/// In a node task only the shape functions of all nodes are counted, which is nearly all of it.
pub fn forward_seconds(model: &Model, tables: &Tables, train: &Dataset) -> f64 {
    let file = FileModel::read(&model.to_bytes().expect("a model file"));
    match train.task() {
        Task::Graph => {
            let case = first_graphs(tables, GRAPHS);
            let receivers = case.receivers();
            let start = Instant::now();
            std::hint::black_box(file.outputs_of(&case, &receivers, 1.0));
            start.elapsed().as_secs_f64() * train.node_count() as f64 / case.nodes() as f64
        }
        Task::Node => {
            let case =
                Case { graph_task: false, directed: false, graphs: Vec::new(), features: columns(tables, NODES) };
            let start = Instant::now();
            (0..NODES).for_each(|node| drop(std::hint::black_box(file.terms_of_source(&case, node))));
            start.elapsed().as_secs_f64() * train.node_count() as f64 / NODES as f64
        }
    }
}

fn first_graphs(tables: &Tables, count: usize) -> Case {
    let mut graphs = Vec::new();
    for graph in 0..count.min(tables.graphs()) {
        let (first, end) = (tables.node_offsets[graph], tables.node_offsets[graph + 1]);
        let inside = |edge: &&[u32; 2]| (first..end).contains(&(edge[0] as usize));
        let edges = tables.edges.iter().filter(inside).map(|edge| edge.map(|node| node as usize - first)).collect();
        graphs.push(CaseGraph { nodes: end - first, edges });
    }
    let nodes = graphs.iter().map(|graph| graph.nodes).sum();
    Case { graph_task: true, directed: false, graphs, features: columns(tables, nodes) }
}

/// The feature columns of the first nodes.
fn columns(tables: &Tables, nodes: usize) -> Vec<CaseFeature> {
    let features = tables.node_columns.iter().filter(|column| !tables.targets.contains(&column.name));
    features
        .map(|column| {
            let values = match &column.values {
                Values::Numbers(numbers) => numbers[..nodes].iter().map(|x| Value::Number(*x)).collect(),
                Values::Categories { codes, levels } => {
                    codes[..nodes].iter().map(|code| Value::Category(levels[*code as usize].clone())).collect()
                }
                Values::Sparse { rows, values, .. } => {
                    let mut dense = vec![Value::Number(0.0); nodes];
                    for (row, value) in rows.iter().zip(values).take_while(|(row, _)| (**row as usize) < nodes) {
                        dense[*row as usize] = Value::Number(*value);
                    }
                    dense
                }
            };
            CaseFeature { name: column.name.clone(), kind: "", values }
        })
        .collect()
}
