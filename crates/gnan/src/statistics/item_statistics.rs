//! The values of item statistics, from the distances between all nodes of a graph.

use std::ops::Range;

use pulp::Arch;
use rayon::prelude::*;

use crate::dataset::{Dataset, Feature, ItemStatistic, Quantity};
use crate::error::{Error, Result};
use crate::files::{MISSING, Task, Values};
use crate::lens::{Lens, View};

/// Receivers whose shells are summed up by one task.
const RECEIVERS_PER_TASK: usize = 256;

/// What is averaged: of every node its number of every quantity, 0 where it is missing, and then 1 for each that is not missing;
/// without these where none is.
struct NodeNumbers {
    numbers: Vec<f64>,
    count: usize,
    is_complete: bool,
}

/// What the shells of a receiver hold: nodes by distance, and at every distance the sum of every quantity, and then how many nodes
/// have each, where not all have.
#[derive(Clone)]
struct ShellSums {
    nodes: Vec<f64>,
    sums: Vec<f64>,
    /// Number of quantities.
    width: usize,
    is_complete: bool,
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
            Task::Graph => each.map(|(own, place)| vec![own.of_graph(data, graph, &shells, *place)]).collect(),
            Task::Node => {
                let of_nodes = |(own, place): (&ItemStatistic, &Option<usize>)| {
                    shells.iter().map(|shells| own.of_node(shells, *place)).collect()
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
        let mut numbers = vec![0.0; data.node_count() * 2 * count];
        let mut set = |node: usize, place: usize, number: f64| {
            let first = node * 2 * count;
            (numbers[first + place], numbers[first + count + place]) =
                if number.is_nan() { (0.0, 0.0) } else { (number, 1.0) };
        };
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
                        if *own != MISSING {
                            set(node, place, f64::from(u8::from(Some(*own) == code)));
                        }
                    }
                }
                (Values::Numbers(_) | Values::Sparse { .. }, None) => {
                    if matches!(feature.values, Values::Sparse { .. }) {
                        (0..data.node_count()).for_each(|node| set(node, place, 0.0));
                    }
                    feature.values.numbers().for_each(|(node, value)| set(node, place, value));
                }
                (Values::Categories { .. }, None) => return Err(unfit(" of numbers")),
                (_, Some(_)) => return Err(unfit(" of categories")),
            }
        }
        let is_complete =
            numbers.chunks_exact(2 * count.max(1)).all(|own| own[count..].iter().all(|known| *known == 1.0));
        if is_complete {
            numbers = numbers.chunks_exact(2 * count.max(1)).flat_map(|own| own[..count].to_vec()).collect();
        }
        Ok(NodeNumbers { numbers, count, is_complete })
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
    let NodeNumbers { count: width, is_complete, .. } = *numbers;
    let stride = if is_complete { width } else { 2 * width };
    let sums = vec![0.0; (farthest + 1) * stride];
    let empty = ShellSums { nodes: vec![0.0; farthest + 1], sums, width, is_complete };
    let own = |node: usize| &numbers.numbers[node * stride..][..stride];
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
            Arch::new().dispatch(
                #[inline(always)]
                || {
                    for (source, distance) in row.iter().enumerate().filter(|(_, at)| usize::from(**at) <= farthest) {
                        shells.add(usize::from(*distance), own(nodes.start + source));
                    }
                },
            );
            found.push(shells);
        })?;
        Ok(found)
    };
    let found: Vec<Vec<ShellSums>> = starts.into_par_iter().map(of_some).collect::<Result<_>>()?;
    Ok(found.into_iter().flatten().collect())
}

impl ShellSums {
    #[inline(always)]
    fn add(&mut self, distance: usize, numbers: &[f64]) {
        self.nodes[distance] += 1.0;
        let sums = &mut self.sums[distance * numbers.len()..][..numbers.len()];
        sums.iter_mut().zip(numbers).for_each(|(sum, number)| *sum += number);
    }

    /// The sum of a quantity at a distance, and how many nodes have it.
    fn of(&self, distance: usize, place: usize) -> (f64, f64) {
        if self.is_complete {
            return (self.sums[distance * self.width + place], self.nodes[distance]);
        }
        let first = distance * 2 * self.width + place;
        (self.sums[first], self.sums[first + self.width])
    }
}

/// A mean; NaN of nothing.
fn mean(sum: f64, count: f64) -> f64 {
    if count > 0.0 { sum / count } else { f64::NAN }
}

impl ItemStatistic {
    fn of_node(&self, shells: &ShellSums, place: Option<usize>) -> f64 {
        match (&self.of, place) {
            (Quantity::Mean { .. } | Quantity::Share { .. }, Some(place)) => {
                let (sum, known) = shells.of(self.distance, place);
                mean(sum, known)
            }
            (Quantity::Nodes, _) => shells.nodes[self.distance],
            // The others are of graphs.
            _ => f64::NAN,
        }
    }

    fn of_graph(&self, data: &Dataset, graph: usize, shells: &[ShellSums], place: Option<usize>) -> f64 {
        let nodes = shells.len() as f64;
        match (&self.of, place) {
            (Quantity::Nodes, _) => nodes,
            (Quantity::Edges, _) => mean(data.graph(graph).edge_count() as f64, nodes),
            (Quantity::Reaching, _) => {
                mean(shells.iter().filter(|shells| shells.nodes[self.distance] > 0.0).count() as f64, nodes)
            }
            (Quantity::Count { .. }, Some(place)) => shells.iter().map(|shells| shells.of(0, place).0).sum(),
            (_, Some(place)) => {
                let each = shells.iter().map(|shells| shells.of(self.distance, place));
                let (sum, count) = each
                    .filter(|(_, known)| *known > 0.0)
                    .fold((0.0, 0.0), |(sum, count), (own, known)| (sum + own / known, count + 1.0));
                mean(sum, count)
            }
            (_, None) => f64::NAN,
        }
    }
}
