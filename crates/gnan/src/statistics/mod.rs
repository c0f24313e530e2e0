//! Statistics: everything training needs to know of the graphs, computed once.
//!
//! The model sees distinct values and distinct distances only, so an item (a graph, or a node with a target) is
//! summed up by few numbers. [`Cells`] hold `Q[unit, slot]` per item; [`Shells`] hold, for node tasks, the slot of
//! every source around each receiver. Training touches neither nodes nor edges again.

mod cells;
mod levels;
mod shells;

use rayon::prelude::*;

pub use cells::{CellRows, Cells};
pub use levels::{BIAS_UNIT, FeatureLevels, LevelValues, Levels};
pub use shells::Shells;

use crate::dataset::{Dataset, Feature};
use crate::distance::{RECEIVERS_AT_ONCE, Search, UNREACHABLE, distances_to};
use crate::error::{Error, Result};
use crate::files::{Kind, Task};
use crate::graph::Graph;
use cells::{Entry, SourceWeights, node_entries, number_cells};

/// In a node task with a rho per feature, a feature is kept in cells while an item has at most this share of the
/// nodes in cells of that feature; else it becomes a channel of the shell rows.
const MOST_CELLS_PER_NODE: f64 = 0.25;
/// Most pairs of receiver and source whose distance is held in memory.
const MOST_PAIRS: u64 = 6_000_000_000;

/// Receivers by which the typical size of a shell is judged.
const TYPICAL_RECEIVERS: usize = 512;

/// Which statistics are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatisticsOptions {
    /// Divide by the number of nodes in a shell.
    pub normalise: bool,
    /// Whether every feature has a rho of its own.
    pub rho_per_feature: bool,
}

/// What training and prediction need to know of some items.
#[derive(Clone, Debug)]
pub struct Statistics {
    options: StatisticsOptions,
    items: Vec<u32>,
    longest: u16,
    has_unreachable: bool,
    levels: Levels,
    cells: Cells,
    rows: CellRows,
    shells: Option<Shells>,
    /// For every feature its channel in the shell rows; `None`: it is in the cells.
    channels: Vec<Option<usize>>,
}

impl Statistics {
    /// The statistics of the items of `data`, for `features` (which need not be the data set's own list).
    pub fn new(data: &Dataset, features: &[Feature], options: StatisticsOptions) -> Result<Statistics> {
        let levels = Levels::new(features, data.node_count());
        match data.task() {
            Task::Graph => Self::of_graphs(data, levels, options),
            Task::Node => {
                let channels = choose_channels(data, features, &levels, options);
                Self::of_nodes(data, levels, options, channels)
            }
        }
    }

    /// The same with every unit in cells, whatever that takes: every part of every contribution can be told apart.
    pub fn in_cells(data: &Dataset, features: &[Feature], normalise: bool) -> Result<Statistics> {
        let options = StatisticsOptions { normalise, rho_per_feature: true };
        let levels = Levels::new(features, data.node_count());
        match data.task() {
            Task::Graph => Self::of_graphs(data, levels, options),
            Task::Node => Self::of_nodes(data, levels, options, vec![None; features.len()]),
        }
    }

    fn of_graphs(data: &Dataset, levels: Levels, options: StatisticsOptions) -> Result<Statistics> {
        let found: Vec<(Vec<Entry>, Longest)> = data
            .items()
            .par_iter()
            .map(|item| {
                let nodes = data.nodes_of(*item as usize);
                let mut weights = SourceWeights::new(nodes.len(), options.normalise);
                let receivers: Vec<u32> = (0..nodes.len() as u32).collect();
                let longest = each_row(&data.graph(*item as usize), &receivers, |_, row| weights.add_receiver(row))?;
                Ok((weights.entries(nodes.start, &levels), longest))
            })
            .collect::<Result<_>>()?;
        let longest = found.iter().fold(Longest::default(), |all, (_, longest)| all.and(*longest));
        let entries: Vec<Vec<Entry>> = found.into_iter().map(|(entries, _)| entries).collect();
        let (cells, rows) = number_cells(&entries, |distance| longest.slot(distance));
        let channels = vec![None; levels.features().len()];
        let (items, Longest { finite: longest, unreachable: has_unreachable }) = (data.items().to_vec(), longest);
        Ok(Statistics { options, items, longest, has_unreachable, levels, cells, rows, shells: None, channels })
    }

    fn of_nodes(
        data: &Dataset,
        levels: Levels,
        options: StatisticsOptions,
        channels: Vec<Option<usize>>,
    ) -> Result<Statistics> {
        let with_shells = channels.iter().any(Option::is_some) || !options.rho_per_feature;
        let groups = receiver_groups(data);
        let pairs: u64 = groups.iter().map(|g| g.receivers.len() as u64 * data.nodes_of(g.graph).len() as u64).sum();
        if pairs > MOST_PAIRS {
            return Err(Error::limit(format!(
                "the distances of {} labelled nodes to all others are {pairs} numbers, more than the {MOST_PAIRS} held in memory",
                data.len()
            )));
        }
        let in_cells: Vec<bool> = unit_in_cells(&levels, &channels, options);
        let found: Vec<(Vec<NodeRow>, Longest)> = groups
            .par_iter()
            .map(|group| {
                let first = data.nodes_of(group.graph).start;
                let mut rows = Vec::with_capacity(group.receivers.len());
                let longest = each_row(&data.graph(group.graph), &group.receivers, |_, row| {
                    let entries = if options.rho_per_feature {
                        node_entries(row, first, &levels, options.normalise, &in_cells)
                    } else {
                        Vec::new()
                    };
                    let distances = if with_shells { row.to_vec() } else { Vec::new() };
                    rows.push(NodeRow { entries, first, distances });
                })?;
                Ok((rows, longest))
            })
            .collect::<Result<_>>()?;
        let longest = found.iter().fold(Longest::default(), |all, (_, longest)| all.and(*longest));
        // Groups are by graph; items keep the order of the data set.
        let mut by_item: Vec<Option<NodeRow>> = (0..data.len()).map(|_| None).collect();
        for (group, (rows, _)) in groups.iter().zip(found) {
            for (position, row) in group.positions.iter().zip(rows) {
                by_item[*position] = Some(row);
            }
        }
        let (mut entries, mut shell_rows) = (Vec::new(), Vec::new());
        for row in by_item.into_iter().flatten() {
            entries.push(row.entries);
            let slots = row.distances.into_iter().map(|distance| longest.slot(distance)).collect();
            shell_rows.push((row.first, slots));
        }
        let (cells, rows) = number_cells(&entries, |distance| longest.slot(distance));
        let slots = usize::from(longest.finite) + 2;
        let shells = with_shells.then(|| Shells::new(shell_rows, slots, data.node_count(), options.normalise));
        let (items, Longest { finite: longest, unreachable: has_unreachable }) = (data.items().to_vec(), longest);
        Ok(Statistics { options, items, longest, has_unreachable, levels, cells, rows, shells, channels })
    }

    /// Which statistics these are.
    pub fn options(&self) -> StatisticsOptions {
        self.options
    }

    /// The items, in the order of the rows.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// Number of slots: every distance from 0 to the longest, and "unreachable".
    pub fn slots(&self) -> usize {
        usize::from(self.longest) + 2
    }

    /// The longest finite distance.
    pub fn longest(&self) -> usize {
        usize::from(self.longest)
    }

    /// Whether any source is unreachable from any receiver.
    pub fn has_unreachable(&self) -> bool {
        self.has_unreachable
    }

    /// The argument of rho for a slot: `1 / (1 + distance)`, and 0 for "unreachable".
    pub fn rho_argument(&self, slot: usize) -> f64 {
        if slot + 1 == self.slots() { 0.0 } else { 1.0 / (1.0 + slot as f64) }
    }

    /// The levels of the features.
    pub fn levels(&self) -> &Levels {
        &self.levels
    }

    /// The cells.
    pub fn cells(&self) -> &Cells {
        &self.cells
    }

    /// The cell rows of all items.
    pub fn rows(&self) -> &CellRows {
        &self.rows
    }

    /// The shell rows of a node task, where there are any.
    pub fn shells(&self) -> Option<&Shells> {
        self.shells.as_ref()
    }

    /// For every feature its channel in the shell rows; `None`: it is in the cells.
    pub fn channels(&self) -> &[Option<usize>] {
        &self.channels
    }

    /// `R(l)` summed over the given rows: the number of receivers that hear something from each slot (normalisation
    /// off: the number of pairs).
    pub fn receivers(&self, rows: &[usize]) -> Vec<f64> {
        let mut receivers = vec![0.0; self.slots()];
        for row in rows {
            let (cells, weights) = self.rows.row(*row);
            for (cell, weight) in cells.iter().zip(weights) {
                if self.cells.units[*cell as usize] == BIAS_UNIT {
                    receivers[usize::from(self.cells.slots[*cell as usize])] += f64::from(*weight);
                }
            }
            if let Some(shells) = &self.shells
                && cells.is_empty()
            {
                shells.add_receivers(*row, &mut receivers);
            }
        }
        receivers
    }

    /// The rows that the items of `data` have here.
    pub fn rows_of(&self, data: &Dataset) -> Result<Vec<usize>> {
        let mut order: Vec<usize> = (0..self.items.len()).collect();
        order.sort_by_key(|row| self.items[*row]);
        data.items()
            .iter()
            .map(|item| match order.binary_search_by_key(item, |row| self.items[*row]) {
                Ok(at) => Ok(order[at]),
                Err(_) => Err(Error::usage("these items are not among those the statistics were made for")),
            })
            .collect()
    }
}

/// For every slot the root of the size of a typical shell of the receivers, `1 / sqrt(mean of 1 / n_i(l))`, by at most
/// [`TYPICAL_RECEIVERS`] of them: the mean of such a shell varies that much less than one node does.
pub fn shell_scale(data: &Dataset, slots: usize) -> Result<Vec<f64>> {
    let every = data.len().div_ceil(TYPICAL_RECEIVERS).max(1);
    let some: Vec<usize> = (0..data.len()).step_by(every).collect();
    let (mut shares, mut receivers) = (vec![0.0; slots], vec![0.0f64; slots]);
    for group in receiver_groups(&data.subset(&some)) {
        each_row(&data.graph(group.graph), &group.receivers, |_, row| {
            let mut sizes = vec![0.0; slots];
            for distance in row {
                sizes[if *distance == UNREACHABLE { slots - 1 } else { usize::from(*distance).min(slots - 2) }] += 1.0;
            }
            for (slot, size) in sizes.into_iter().enumerate().filter(|(_, size)| *size > 0.0) {
                shares[slot] += 1.0 / size;
                receivers[slot] += 1.0;
            }
        })?;
    }
    Ok(shares.iter().zip(receivers).map(|(share, count)| if *share > 0.0 { (count / share).sqrt() } else { 1.0 }).collect())
}

/// Receivers of one graph, at most as many as one search serves.
struct ReceiverGroup {
    graph: usize,
    receivers: Vec<u32>,
    positions: Vec<usize>,
}

struct NodeRow {
    entries: Vec<Entry>,
    first: usize,
    distances: Vec<u16>,
}

#[derive(Clone, Copy, Default)]
struct Longest {
    finite: u16,
    unreachable: bool,
}

impl Longest {
    fn and(self, other: Longest) -> Longest {
        Longest { finite: self.finite.max(other.finite), unreachable: self.unreachable || other.unreachable }
    }

    fn slot(self, distance: u16) -> u16 {
        if distance == UNREACHABLE { self.finite + 1 } else { distance }
    }
}

/// Calls `visit` with every receiver's distance row, in order.
fn each_row(graph: &Graph, receivers: &[u32], mut visit: impl FnMut(u32, &[u16])) -> Result<Longest> {
    let mut search = Search::default();
    let mut rows = Vec::new();
    let mut longest = Longest::default();
    for batch in receivers.chunks(RECEIVERS_AT_ONCE) {
        rows.resize(batch.len() * graph.len(), 0);
        longest.finite = longest.finite.max(distances_to(graph, batch, &mut search, &mut rows)?);
        for (receiver, row) in batch.iter().zip(rows.chunks_exact(graph.len().max(1))) {
            longest.unreachable |= row.contains(&UNREACHABLE);
            visit(*receiver, row);
        }
    }
    Ok(longest)
}

fn receiver_groups(data: &Dataset) -> Vec<ReceiverGroup> {
    let mut by_graph: Vec<(usize, u32, usize)> = (data.items().iter().enumerate())
        .map(|(position, node)| {
            let graph = data.graph_of(*node as usize);
            (graph, *node - data.nodes_of(graph).start as u32, position)
        })
        .collect();
    by_graph.sort_unstable();
    let mut groups: Vec<ReceiverGroup> = Vec::new();
    for (graph, receiver, position) in by_graph {
        match groups.last_mut() {
            Some(group) if group.graph == graph && group.receivers.len() < RECEIVERS_AT_ONCE => {
                group.receivers.push(receiver);
                group.positions.push(position);
            }
            _ => groups.push(ReceiverGroup { graph, receivers: vec![receiver], positions: vec![position] }),
        }
    }
    groups
}

/// One channel for everything under a shared rho; else a channel for every numeric feature with many levels.
fn choose_channels(
    data: &Dataset,
    features: &[Feature],
    levels: &Levels,
    options: StatisticsOptions,
) -> Vec<Option<usize>> {
    if !options.rho_per_feature {
        return vec![Some(0); features.len()];
    }
    // Distances are not known yet; a dozen is the order of magnitude on real graphs.
    const USUAL_SLOTS: usize = 12;
    let mut count = 0;
    let mut channel = |levels: &FeatureLevels, feature: &Feature| {
        let cells = (levels.units.len() * USUAL_SLOTS).min(levels.listed) as f64;
        if feature.kind == Kind::Categorical || cells <= MOST_CELLS_PER_NODE * data.node_count() as f64 {
            return None;
        }
        count += 1;
        Some(count - 1)
    };
    levels.features().iter().zip(features).map(|(levels, feature)| channel(levels, feature)).collect()
}

fn unit_in_cells(levels: &Levels, channels: &[Option<usize>], options: StatisticsOptions) -> Vec<bool> {
    let mut in_cells = vec![options.rho_per_feature; levels.unit_count()];
    for (feature, channel) in levels.features().iter().zip(channels) {
        if channel.is_some() {
            let end = feature.missing.map_or(feature.units.end, |missing| missing + 1);
            in_cells[feature.units.start as usize..end as usize].fill(false);
        }
    }
    in_cells
}
