//! The values of item statistics, from the distances between all nodes of a graph.

use std::ops::Range;

use rayon::prelude::*;

use crate::dataset::{Dataset, Feature, ItemStatistic, Quantity};
use crate::error::{Error, Result};
use crate::files::{MISSING, Task, Values};
use crate::lens::{Lens, View};

/// Receivers whose shells are summed up by one task.
const RECEIVERS_PER_TASK: usize = 256;

/// What is averaged: the number that every node has of it, `[nodes, quantities]`, NaN where it is missing.
struct NodeNumbers {
    numbers: Vec<f64>,
    count: usize,
}

/// What the shells of a receiver hold: nodes by distance, and of every quantity the nodes that have it, and their sum.
#[derive(Clone)]
struct ShellSums {
    nodes: Vec<f64>,
    known: Vec<f64>,
    sums: Vec<f64>,
}

/// The features that some statistics are, over all nodes of the graphs of `data`, distances measured by a lens.
pub fn item_statistics(data: &Dataset, lens: &Lens, wanted: &[ItemStatistic]) -> Result<Vec<Feature>> {
    if data.links().is_some() {
        return Err(Error::usage("node pairs are not summed up by statistics"));
    }
    let mut averaged: Vec<(&str, Option<&str>)> = wanted.iter().filter_map(ItemStatistic::feature).collect();
    averaged.sort_unstable();
    averaged.dedup();
    let cells = data.node_count() as u64 * (wanted.len() + 3 * averaged.len()) as u64;
    data.run().memory.demand(8 * cells, "the numbers that sum up items")?;
    let numbers = NodeNumbers::new(data, &averaged)?;
    // Counts and shares of whole graphs need no distances.
    let farthest = wanted.iter().map(|statistic| statistic.distance).max().unwrap_or(0);
    let lens = Lens { bins: None, far: None, ..lens.clone() };
    let mut values = vec![vec![f64::NAN; data.node_count()]; wanted.len()];
    let places: Vec<Option<usize>> = wanted
        .iter()
        .map(|own| own.feature().and_then(|own| averaged.iter().position(|other| *other == own)))
        .collect();
    let of_graph = |graph: usize| -> Result<Vec<Vec<f64>>> {
        let shells = shell_sums(data, graph, &lens, &numbers, farthest)?;
        let each = wanted.iter().zip(&places);
        Ok(match data.task() {
            Task::Graph => {
                each.map(|(own, place)| vec![own.of_graph(data, graph, &shells, *place, &numbers)]).collect()
            }
            Task::Node => {
                let of_nodes = |(own, place): (&ItemStatistic, &Option<usize>)| {
                    shells.iter().map(|shells| own.of_node(shells, *place, numbers.count)).collect()
                };
                each.map(of_nodes).collect()
            }
        })
    };
    let graphs = data.graphs();
    let found: Vec<Vec<Vec<f64>>> = graphs.par_iter().map(|graph| of_graph(*graph)).collect::<Result<_>>()?;
    for (graph, found) in graphs.into_iter().zip(found) {
        let nodes = data.nodes_of(graph);
        for (values, found) in values.iter_mut().zip(found) {
            match found.as_slice() {
                [one] => values[nodes.clone()].fill(*one),
                each => values[nodes.clone()].copy_from_slice(each),
            }
        }
    }
    Ok(wanted.iter().cloned().zip(values).map(|(statistic, values)| statistic.with_values(values)).collect())
}

impl NodeNumbers {
    fn new(data: &Dataset, averaged: &[(&str, Option<&str>)]) -> Result<NodeNumbers> {
        let count = averaged.len();
        let mut numbers = vec![0.0; data.node_count() * count];
        for (place, (name, level)) in averaged.iter().enumerate() {
            let feature = data.features().iter().find(|feature| feature.name == *name && feature.is_read());
            let unfit = |what: &str| {
                Error::input(format!("the data have no feature \"{name}\"{what}, which the model sums up"))
                    .with_remedy("add the column")
            };
            let feature = feature.ok_or_else(|| unfit(""))?;
            match (&feature.values, level) {
                (Values::Categories { codes, levels }, Some(level)) => {
                    let code = levels.iter().position(|other| other == level).map(|code| code as u32);
                    for (node, own) in codes.iter().enumerate() {
                        numbers[node * count + place] = match *own {
                            MISSING => f64::NAN,
                            own => f64::from(u8::from(Some(own) == code)),
                        };
                    }
                }
                (Values::Numbers(_) | Values::Sparse { .. }, None) => {
                    for (node, value) in feature.values.numbers() {
                        numbers[node * count + place] = value;
                    }
                }
                (Values::Categories { .. }, None) => return Err(unfit(" of numbers")),
                (_, Some(_)) => return Err(unfit(" of categories")),
            }
        }
        Ok(NodeNumbers { numbers, count })
    }
}

/// The sums over the shells of every node of a graph.
fn shell_sums(
    data: &Dataset,
    graph: usize,
    lens: &Lens,
    numbers: &NodeNumbers,
    farthest: usize,
) -> Result<Vec<ShellSums>> {
    let nodes = data.nodes_of(graph);
    let width = numbers.count;
    let empty = ShellSums {
        nodes: vec![0.0; farthest + 1],
        known: vec![0.0; (farthest + 1) * width],
        sums: vec![0.0; (farthest + 1) * width],
    };
    let own = |node: usize| &numbers.numbers[node * width..][..width];
    if farthest == 0 {
        let itself = |node: usize| {
            let mut shells = empty.clone();
            shells.add(0, own(node));
            shells
        };
        return Ok(nodes.map(itself).collect());
    }
    let view = View::new(data, graph, lens)?;
    let starts: Vec<Range<u32>> = (0..nodes.len() as u32)
        .step_by(RECEIVERS_PER_TASK)
        .map(|start| start..(nodes.len() as u32).min(start + RECEIVERS_PER_TASK as u32))
        .collect();
    let of_some = |receivers: Range<u32>| -> Result<Vec<ShellSums>> {
        let mut found = Vec::with_capacity(receivers.len());
        let receivers: Vec<u32> = receivers.collect();
        view.each_row(&receivers, |_, row| {
            let mut shells = empty.clone();
            for (source, distance) in row.iter().enumerate().filter(|(_, at)| usize::from(**at) <= farthest) {
                shells.add(usize::from(*distance), own(nodes.start + source));
            }
            found.push(shells);
        })?;
        Ok(found)
    };
    let found: Vec<Vec<ShellSums>> = starts.into_par_iter().map(of_some).collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

impl ShellSums {
    fn add(&mut self, distance: usize, numbers: &[f64]) {
        self.nodes[distance] += 1.0;
        let first = distance * numbers.len();
        for (place, number) in numbers.iter().enumerate().filter(|(_, number)| !number.is_nan()) {
            self.known[first + place] += 1.0;
            self.sums[first + place] += number;
        }
    }
}

/// A mean; NaN of nothing.
fn mean(sum: f64, count: f64) -> f64 {
    if count > 0.0 { sum / count } else { f64::NAN }
}

impl ItemStatistic {
    fn of_node(&self, shells: &ShellSums, place: Option<usize>, width: usize) -> f64 {
        let at = |place: usize| self.distance * width + place;
        match (&self.of, place) {
            (Quantity::Mean { .. } | Quantity::Share { .. }, Some(place)) => {
                mean(shells.sums[at(place)], shells.known[at(place)])
            }
            (Quantity::Nodes, _) => shells.nodes[self.distance],
            // The others are of graphs.
            _ => f64::NAN,
        }
    }

    fn of_graph(
        &self,
        data: &Dataset,
        graph: usize,
        shells: &[ShellSums],
        place: Option<usize>,
        numbers: &NodeNumbers,
    ) -> f64 {
        let (nodes, width) = (shells.len() as f64, numbers.count);
        match (&self.of, place) {
            (Quantity::Nodes, _) => nodes,
            (Quantity::Edges, _) => mean(data.graph(graph).edge_count() as f64, nodes),
            (Quantity::Reaching, _) => {
                mean(shells.iter().filter(|shells| shells.nodes[self.distance] > 0.0).count() as f64, nodes)
            }
            (Quantity::Count { .. }, Some(place)) => shells.iter().map(|shells| shells.sums[place]).sum(),
            (_, Some(place)) => {
                let at = self.distance * width + place;
                let known = shells.iter().filter(|shells| shells.known[at] > 0.0);
                let (sum, count) =
                    known.fold((0.0, 0.0), |(sum, count), own| (sum + own.sums[at] / own.known[at], count + 1.0));
                mean(sum, count)
            }
            (_, None) => f64::NAN,
        }
    }
}
