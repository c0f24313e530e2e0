//! Statistics: everything training needs to know of the graphs, computed once.
//!
//! The model depends on distinct values and distinct distances only, so an item (a graph, or a node with a target) is
//! summed up by few numbers. A [`CellList`] with [`CellRows`] holds `Q[unit, slot]` per item; [`ShellCounts`] count, for
//! node tasks, the sources in every shell around each receiver, and [`Shells`] write down which they are. Training
//! touches neither nodes nor edges again.

mod cells;
pub mod knots;
mod levels;
mod shells;

use std::sync::Arc;

use rayon::prelude::*;
use serde::Serialize;

pub use cells::{CellList, CellRows};
pub use levels::{BIAS_UNIT, FeatureLevels, LevelValues, Levels, NodeUnits};
pub use shells::{DistanceStorage, Sample, ShellCounts, Shells};

use crate::dataset::{Dataset, Feature};
use crate::distance::{RECEIVERS_AT_ONCE, UNREACHABLE};
use crate::error::{Error, Result};
use crate::files::{Kind, Task};
use crate::lens::{DistanceAxis, Lens, Longest, Pool, View};
use crate::memory::MemoryLimit;
use crate::run::Run;
use cells::{CellEntry, SourceWeights, node_entries, number_cells};

/// In a node task with a rho per feature, a feature is kept in cells while an item has at most this share of the
/// nodes in cells of that feature; else it becomes a channel of the shell rows.
const MOST_CELLS_PER_NODE: f64 = 0.25;
/// Items whose cells are made at a time.
const ITEMS_AT_ONCE: usize = 512;
/// What a cell takes while it is listed, numbered and copied.
const BYTES_OF_A_CELL: f64 = 40.0;
/// Receivers by which the typical size of a shell is estimated.
const TYPICAL_RECEIVERS: usize = 512;

/// Which statistics to compute: everything that they depend on besides the items and the levels of the features.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StatisticsRequest {
    /// Divide by the number of nodes in a shell.
    pub normalise: bool,
    /// The ways in which distance is measured.
    pub lenses: Vec<Lens>,
    /// Which features share a rho; `None`: every feature has a rho of its own.
    pub channels: Option<ChannelPlan>,
    /// A sample of every shell in place of the whole.
    pub sample: Option<Sample>,
}

/// Which features of a node task share a rho, and so a channel of the shell rows.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChannelPlan {
    /// The channel of the bias.
    pub bias: usize,
    /// The channel of every feature.
    pub features: Vec<usize>,
}

impl ChannelPlan {
    /// One rho for all of so many features and the bias.
    pub fn shared(features: usize) -> ChannelPlan {
        ChannelPlan { bias: 0, features: vec![0; features] }
    }

    /// Number of channels.
    pub fn count(&self) -> usize {
        1 + self.features.iter().copied().fold(self.bias, usize::max)
    }
}

/// What training and prediction need to know of some items.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// Which statistics these are.
    pub request: StatisticsRequest,
    run: Run,
    /// The items, in the order of the rows.
    pub items: Vec<u32>,
    /// The distances that occur.
    pub axis: DistanceAxis,
    /// For every lens whether any source is unreachable from any receiver.
    pub has_unreachable: Vec<bool>,
    /// The levels of the features.
    pub levels: Arc<Levels>,
    /// The cells.
    pub cells: CellList,
    /// The cell rows of all items.
    pub rows: CellRows,
    /// For every lens the shell counts of all items; empty where everything is in cells.
    pub shell_counts: Vec<Arc<ShellCounts>>,
    /// Nodes of every item, where receivers are averaged.
    pooled: Vec<f64>,
    /// For every feature its channel in the shell rows; `None`: it is in the cells.
    pub channels: Vec<Option<usize>>,
}

impl Statistics {
    /// The statistics of the items of `data`, for `features` (which need not be the data set's own list).
    pub fn new(data: &Dataset, features: &[Feature], request: StatisticsRequest) -> Result<Statistics> {
        Self::with_levels(data, features, find_levels(data, features, &[])?, request, &[])
    }

    /// The same where the levels are known, and the distances by every lens go at least this far: the statistics of some
    /// items after others.
    pub fn with_levels(
        data: &Dataset,
        features: &[Feature],
        levels: Arc<Levels>,
        request: StatisticsRequest,
        at_least: &[usize],
    ) -> Result<Statistics> {
        match data.task() {
            Task::Graph => Self::of_graphs(data, levels, request),
            Task::Node => {
                let channels = choose_channels(data, features, &levels, &request);
                Self::of_nodes(data, levels, request, channels, at_least)
            }
        }
    }

    /// The same with every unit in cells, whatever that takes: every part of every contribution can be distinguished.
    pub fn in_cells(data: &Dataset, levels: Arc<Levels>, request: StatisticsRequest) -> Result<Statistics> {
        let request = StatisticsRequest { channels: None, ..request };
        let channels = vec![None; levels.features.len()];
        match data.task() {
            Task::Graph => Self::of_graphs(data, levels, request),
            Task::Node => Self::of_nodes(data, levels, request, channels, &[]),
        }
    }

    fn of_graphs(data: &Dataset, levels: Arc<Levels>, request: StatisticsRequest) -> Result<Statistics> {
        let lenses = &request.lenses;
        let found: Vec<(Vec<CellEntry>, Vec<Longest>)> = in_memory(
            data.run().memory,
            data.items(),
            |item: &u32| {
                let nodes = data.nodes_of(*item as usize);
                let receivers: Vec<u32> = (0..nodes.len() as u32).collect();
                let (mut entries, mut longest) = (Vec::new(), Vec::new());
                for (lens, way) in (0u16..).zip(lenses) {
                    let mut weights = SourceWeights::new(nodes.len(), request.normalise);
                    let view = View::new(data, *item as usize, way)?;
                    longest.push(view.each_row(&receivers, |_, row| weights.add_receiver(row))?);
                    let share = if way.pool == Pool::Mean { 1.0 / nodes.len().max(1) as f64 } else { 1.0 };
                    entries.extend(weights.entries(nodes.start, &levels, lens, share));
                }
                Ok((entries, longest))
            },
            |(entries, _)| entries.len(),
        )?;
        let longest = all_longest(lenses.len(), found.iter().map(|(_, longest)| longest));
        let axis = axis_of(lenses, &longest)?;
        let entries: Vec<Vec<CellEntry>> = found.into_iter().map(|(entries, _)| entries).collect();
        let (cells, rows) = number_cells(&entries, |lens, distance| slot_of(&axis, lens, distance));
        let pooled = match lenses.iter().any(|lens| lens.pool == Pool::Mean) {
            true => data.items().iter().map(|item| data.nodes_of(*item as usize).len() as f64).collect(),
            false => Vec::new(),
        };
        Ok(Statistics {
            run: data.run().clone(),
            items: data.items().to_vec(),
            axis,
            has_unreachable: longest.iter().map(|longest| longest.unreachable).collect(),
            channels: vec![None; levels.features.len()],
            levels,
            cells,
            rows,
            shell_counts: Vec::new(),
            pooled,
            request,
        })
    }

    fn of_nodes(
        data: &Dataset,
        levels: Arc<Levels>,
        request: StatisticsRequest,
        channels: Vec<Option<usize>>,
        at_least: &[usize],
    ) -> Result<Statistics> {
        let lenses = &request.lenses;
        let rho_per_feature = request.channels.is_none();
        let with_shells = channels.iter().any(Option::is_some) || !rho_per_feature;
        let shell_counts: Vec<Arc<ShellCounts>> = match with_shells {
            true => {
                let least = at_least.iter().copied().chain(std::iter::repeat(0));
                let each = lenses.iter().zip(least);
                each.map(|(lens, least)| ShellCounts::new(data, lens, request.normalise, least))
                    .collect::<Result<_>>()?
            }
            false => Vec::new(),
        };
        let mut longest: Vec<Longest> = shell_counts.iter().map(|of_lens| of_lens.longest).collect();
        let mut entries: Vec<Vec<CellEntry>> = vec![Vec::new(); data.len()];
        if rho_per_feature {
            let in_cells = unit_in_cells(&levels, &channels);
            longest = node_cells(data, &levels, &request, &in_cells, &mut entries)?;
        }
        longest.iter_mut().zip(at_least).for_each(|(own, least)| own.finite = own.finite.max(*least as u16));
        let axis = axis_of(lenses, &longest)?;
        let (cells, rows) = number_cells(&entries, |lens, distance| slot_of(&axis, lens, distance));
        Ok(Statistics {
            run: data.run().clone(),
            items: data.items().to_vec(),
            axis,
            has_unreachable: longest.iter().map(|longest| longest.unreachable).collect(),
            levels,
            cells,
            rows,
            shell_counts,
            pooled: Vec::new(),
            channels,
            request,
        })
    }

    /// Number of slots over all lenses.
    pub fn slots(&self) -> usize {
        self.axis.slots()
    }

    /// The memory, in bytes, that any model with shells needs: the means of so many lanes over every shell of every item,
    /// and the lists of sampled sources.
    pub fn least_bytes(&self, lanes: usize) -> u64 {
        let of_lens = |of_lens: &Arc<ShellCounts>| {
            let means = 4 * (of_lens.len() * of_lens.slots * lanes.next_power_of_two()) as u64;
            means + self.request.sample.map_or(0, |sample| of_lens.list_bytes(sample.size))
        };
        self.shell_counts.iter().map(of_lens).sum()
    }

    /// The shells around some items, lens after lens.
    pub fn shells(&self, rows: &[usize]) -> Vec<Shells> {
        let (sample, cache) = (self.request.sample, self.run.cache.as_ref());
        self.shell_counts.iter().map(|of_lens| Shells::new(of_lens, rows, sample, cache)).collect()
    }

    /// The same for a single pass: all sources, and nothing is stored.
    pub fn shells_once(&self, rows: &[usize]) -> Vec<Shells> {
        self.shell_counts.iter().map(|of_lens| Shells::stored(of_lens, rows, &DistanceStorage::Recomputed)).collect()
    }

    /// The channel of the bias in the shell rows; `None`: it is in the cells.
    pub fn bias_channel(&self) -> Option<usize> {
        self.request.channels.as_ref().filter(|_| !self.shell_counts.is_empty()).map(|plan| plan.bias)
    }

    /// Number of channels in the shell rows; 0 without them.
    pub fn channel_count(&self) -> usize {
        if self.shell_counts.is_empty() {
            return 0;
        }
        let channels = self.channels.iter().flatten().copied().chain(self.bias_channel());
        1 + channels.max().expect("shells are made for a channel of the bias or of a feature")
    }

    /// `R(l)` summed over the given rows: the number of receivers whose shell is not empty, by slot (normalisation off: the
    /// number of receiver-source pairs).
    pub fn receivers(&self, rows: &[usize]) -> Vec<f64> {
        let mut receivers = vec![0.0; self.slots()];
        for row in rows {
            let (cells, weights) = self.rows.row(*row);
            for (cell, weight) in cells.iter().zip(weights) {
                if self.cells.units[*cell as usize] == BIAS_UNIT {
                    let slot = usize::from(self.cells.slots[*cell as usize]);
                    let lens = &self.request.lenses[self.axis.lens_of(slot)];
                    // The items of a node task are single receivers, whose mean is themselves.
                    let nodes =
                        if lens.pool == Pool::Mean { self.pooled.get(*row).copied().unwrap_or(1.0) } else { 1.0 };
                    receivers[slot] += f64::from(*weight) * nodes;
                }
            }
            if cells.is_empty() {
                for (lens, of_lens) in self.shell_counts.iter().enumerate() {
                    let counts = of_lens.counts(*row).iter();
                    let weight = |count: &u32| {
                        if self.request.normalise { f64::from((*count).min(1)) } else { f64::from(*count) }
                    };
                    receivers[self.axis.range(lens)]
                        .iter_mut()
                        .zip(counts)
                        .for_each(|(sum, count)| *sum += weight(count));
                }
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

/// The levels of features over the nodes of `data`, at knots where there are some, unless they take more memory than there is: see
/// [`Levels::at_knots`].
pub fn find_levels(data: &Dataset, features: &[Feature], knots: &[Option<Vec<f64>>]) -> Result<Arc<Levels>> {
    let nodes = data.node_count();
    let listed: usize = features.iter().map(|feature| feature.values.listed()).sum();
    data.run().memory.demand(24 * (listed + nodes) as u64, "the distinct values of the features")?;
    Ok(Arc::new(Levels::at_knots(features, knots, nodes)))
}

/// For every slot the root of the size of a typical shell of the receivers, `1 / sqrt(mean of 1 / n_i(l))`, by at most
/// 512 of them: the mean of such a shell varies that much less than one node does.
pub fn shell_scale(data: &Dataset, slots: usize) -> Result<Vec<f64>> {
    let (mut shares, mut receivers) = (vec![0.0; slots], vec![0.0f64; slots]);
    for group in receiver_groups(&data.spaced(TYPICAL_RECEIVERS)) {
        let view = View::new(data, group.graph, &Lens::default())?;
        view.each_row(&group.receivers, |_, row| {
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
    Ok(shares
        .iter()
        .zip(receivers)
        .map(|(share, count)| if *share > 0.0 { (count / share).sqrt() } else { 1.0 })
        .collect())
}

/// Receivers of one graph, at most as many as one search serves.
struct ReceiverGroup {
    graph: usize,
    receivers: Vec<u32>,
    positions: Vec<usize>,
}

/// The entries of every item of a node task over the units that are in cells, and the longest distance by every lens.
fn node_cells(
    data: &Dataset,
    levels: &Levels,
    request: &StatisticsRequest,
    in_cells: &[bool],
    entries: &mut [Vec<CellEntry>],
) -> Result<Vec<Longest>> {
    let lenses = &request.lenses;
    let groups = receiver_groups(data);
    let graphs = data.graphs();
    let views: Vec<Vec<View>> = graphs
        .par_iter()
        .map(|graph| lenses.iter().map(|lens| View::new(data, *graph, lens)).collect())
        .collect::<Result<_>>()?;
    let found: Vec<(Vec<Vec<CellEntry>>, Vec<Longest>)> = in_memory(
        data.run().memory,
        &groups,
        |group: &ReceiverGroup| {
            let first = data.nodes_of(group.graph).start;
            let mut rows: Vec<Vec<CellEntry>> = group.receivers.iter().map(|_| Vec::new()).collect();
            let mut longest = Vec::new();
            for (lens, view) in (0u16..).zip(&views[graphs.partition_point(|graph| *graph < group.graph)]) {
                let mut next = rows.iter_mut();
                longest.push(view.each_row(&group.receivers, |_, distances| {
                    let row = next.next().expect("invariant: a receiver has a row");
                    row.extend(node_entries(distances, first, levels, request.normalise, in_cells, lens));
                })?);
            }
            Ok((rows, longest))
        },
        |(rows, _)| rows.iter().map(Vec::len).sum(),
    )?;
    let longest = all_longest(lenses.len(), found.iter().map(|(_, longest)| longest));
    // Groups are by graph; items keep the order of the data set.
    for (group, (rows, _)) in groups.iter().zip(found) {
        for (position, row) in group.positions.iter().zip(rows) {
            entries[*position] = row;
        }
    }
    Ok(longest)
}

/// Makes cells of items on all threads, some items at a time; refuses as soon as it is clear that those of all items
/// do not fit. `count`: how many cells came of an item.
fn in_memory<T: Sync, U: Send>(
    memory: MemoryLimit,
    items: &[T],
    make: impl Fn(&T) -> Result<U> + Sync,
    count: impl Fn(&U) -> usize,
) -> Result<Vec<U>> {
    let (mut made, mut cells) = (Vec::with_capacity(items.len()), 0);
    for some in items.chunks(ITEMS_AT_ONCE) {
        let rest = (items.len() - made.len()) as f64;
        let needed = cells as f64 / made.len().max(1) as f64 * rest * BYTES_OF_A_CELL;
        memory.demand(needed as u64, "the sums over shells of all items")?;
        let found = some.par_iter().map(&make).collect::<Result<Vec<U>>>()?;
        cells += found.iter().map(&count).sum::<usize>();
        made.extend(found);
    }
    Ok(made)
}

/// The longest distance by every lens.
fn all_longest<'a>(lenses: usize, found: impl Iterator<Item = &'a Vec<Longest>>) -> Vec<Longest> {
    let mut all = vec![Longest::default(); lenses];
    for found in found {
        all.iter_mut().zip(found).for_each(|(all, found)| *all = all.and(*found));
    }
    all
}

/// The axis of lenses with these longest distances; slots are numbered in 16 bits.
fn axis_of(lenses: &[Lens], longest: &[Longest]) -> Result<DistanceAxis> {
    let longest: Vec<usize> = longest.iter().map(|longest| usize::from(longest.finite)).collect();
    let axis = DistanceAxis::new(lenses, &longest);
    if axis.slots() > usize::from(u16::MAX) + 1 {
        return Err(Error::limit(format!("{} distances over all lenses are too many", axis.slots()))
            .with_remedy("measure distance in fewer ways"));
    }
    Ok(axis)
}

fn slot_of(axis: &DistanceAxis, lens: u16, distance: u16) -> u16 {
    axis.slot(usize::from(lens), (distance != UNREACHABLE).then_some(usize::from(distance))) as u16
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

/// The channels that are planned; else a channel for every numeric feature with many levels.
fn choose_channels(
    data: &Dataset,
    features: &[Feature],
    levels: &Levels,
    request: &StatisticsRequest,
) -> Vec<Option<usize>> {
    if let Some(plan) = &request.channels {
        return plan.features.iter().map(|channel| Some(*channel)).collect();
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
    levels.features.iter().zip(features).map(|(levels, feature)| channel(levels, feature)).collect()
}

fn unit_in_cells(levels: &Levels, channels: &[Option<usize>]) -> Vec<bool> {
    let mut in_cells = vec![true; levels.unit_count()];
    for (feature, channel) in levels.features.iter().zip(channels) {
        if channel.is_some() {
            let end = feature.missing.map_or(feature.units.end, |missing| missing + 1);
            in_cells[feature.units.start as usize..end as usize].fill(false);
        }
    }
    in_cells
}
