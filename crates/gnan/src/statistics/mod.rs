//! Statistics: everything training needs to know of the graphs, computed once.
//!
//! The model depends on distinct values and distinct distances only, so an item (a graph, or a node with a target) is
//! summed up by few numbers. A [`CellList`] with [`CellRows`] holds `Q[unit, slot]` per item; [`ShellCounts`] count, for
//! node tasks, the sources in every shell around each receiver, and [`Shells`] write down which they are. Training
//! touches neither nodes nor edges again.

mod cell_entries;
mod cells;
mod item_statistics;
pub mod knots;
mod levels;
mod receiver_groups;
mod request;
mod shells;

use std::sync::Arc;

pub use cells::{CellList, CellRows};
pub use item_statistics::item_statistics;
pub use levels::{BIAS_UNIT, FeatureLevels, LevelValues, Levels, NodeUnits};
pub(crate) use receiver_groups::shell_scale;
pub use request::{ChannelPlan, ShellWeighting, StatisticsRequest};
pub use shells::{DistanceStorage, Sample, ShellCounts, Shells};

use crate::dataset::{Dataset, Feature};
use crate::distance::UNREACHABLE;
use crate::error::{Error, Result};
use crate::files::{Kind, Task};
use crate::lens::{DistanceAxis, Lens, Longest, Pool};
use crate::run::Run;
use cell_entries::{add_own_cells, graph_cells, node_cells};
use cells::{CellEntry, number_cells};

/// In a node task with a rho per feature, a feature is kept in cells while an item has at most this share of the
/// nodes in cells of that feature; else it becomes a channel of the shell rows.
const MOST_CELLS_PER_NODE: f64 = 0.25;

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
        let request = StatisticsRequest { channels: None, in_cells: true, ..request };
        let channels = vec![None; levels.features.len()];
        match data.task() {
            Task::Graph => Self::of_graphs(data, levels, request),
            Task::Node => Self::of_nodes(data, levels, request, channels, &[]),
        }
    }

    /// The statistics of the same items with all features of `levels` in cells, made of these, where they differ in nothing but values
    /// of the items themselves that come last, and in how far features count. `None`: they differ in more.
    pub fn with_own_values(
        &self,
        data: &Dataset,
        levels: &Arc<Levels>,
        request: &StatisticsRequest,
    ) -> Option<Statistics> {
        let wider = self.request.farthest.is_none() || self.request.farthest == request.farthest;
        let alike =
            StatisticsRequest { farthest: self.request.farthest, channels: None, in_cells: true, ..request.clone() };
        let known = self.levels.features.len();
        let (before, added) = levels.features.split_at_checked(known)?;
        let same = wider && alike == self.request && self.items == data.items() && before == self.levels.features;
        if !same || added.iter().any(|feature| !feature.of_item) {
            return None;
        }
        // A value of a whole graph counts once, by the mean over its nodes.
        let mean = self.request.lenses.iter().position(|lens| lens.pool == Pool::Mean);
        let lens = if data.task() == Task::Graph { mean? } else { 0 };
        let slot = self.axis.slot(lens, Some(0)) as u16;
        let first = self.levels.unit_count() as u32;
        let mut found = self.clone();
        found.cells.units.extend(first..levels.unit_count() as u32);
        found.cells.slots.resize(found.cells.units.len(), slot);
        let first_cell = self.cells.len() as u32;
        let mut rows = CellRows { offsets: vec![0], cells: Vec::new(), weights: Vec::new() };
        for (row, item) in data.items().iter().enumerate() {
            let (cells, weights) = self.rows.row(row);
            rows.cells.extend_from_slice(cells);
            rows.weights.extend_from_slice(weights);
            let node = match data.task() {
                Task::Graph => data.nodes_of(*item as usize).next(),
                Task::Node => Some(*item as usize),
            };
            if let Some(node) = node {
                levels.of_node(node).each(|unit, part| {
                    if unit >= first {
                        rows.cells.push(first_cell + unit - first);
                        rows.weights.push(part as f32);
                    }
                });
            }
            rows.offsets.push(rows.cells.len());
        }
        (found.rows, found.levels, found.channels) = (rows, Arc::clone(levels), vec![None; levels.features.len()]);
        Some(found)
    }

    fn of_graphs(data: &Dataset, levels: Arc<Levels>, request: StatisticsRequest) -> Result<Statistics> {
        let lenses = &request.lenses;
        let (entries, longest) = graph_cells(data, &levels, &request)?;
        let axis = axis_of(lenses, &longest)?;
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
                each.map(|(lens, least)| ShellCounts::new(data, lens, request.weighting, least))
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
        if levels.features.iter().any(FeatureLevels::is_own) {
            add_own_cells(data, &levels, &mut entries);
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
        // The items of a node task are single receivers, whose mean is themselves.
        let averaged = |row: usize| self.pooled.get(row).copied().unwrap_or(1.0);
        let nodes = |row: usize, slot: usize| match self.request.lenses[self.axis.lens_of(slot)].pool {
            Pool::Mean => averaged(row),
            Pool::Sum => 1.0,
        };
        self.structure_sums(rows, |row, slot, weight| weight * nodes(row, slot))
    }

    /// How many of the given rows have a receiver with a source in each slot.
    pub fn items_at(&self, rows: &[usize]) -> Vec<u64> {
        let counts = self.structure_sums(rows, |_, _, weight| f64::from(u8::from(weight > 0.0)));
        counts.into_iter().map(|count| count as u64).collect()
    }

    /// The mean over rows of what the structure curve is multiplied by in every slot.
    pub fn mean_structure(&self, rows: &[usize]) -> Vec<f64> {
        let mut means = self.structure_sums(rows, |_, _, weight| weight);
        means.iter_mut().for_each(|mean| *mean /= rows.len().max(1) as f64);
        means
    }

    /// Whether every receiver is a source for itself by features that it alone has.
    pub fn has_own_features(&self) -> bool {
        self.levels.has_own_only()
    }

    /// For every slot the sum over rows of what is made of the row, the slot, and what the structure curve is multiplied by
    /// there.
    fn structure_sums(&self, rows: &[usize], term: impl Fn(usize, usize, f64) -> f64) -> Vec<f64> {
        let mut receivers = vec![0.0; self.axis.slots()];
        let has_own = self.has_own_features();
        // A node pair is at distance 0 of itself, whether or not it is a message edge, which would be no source.
        let counts = |slot: usize| !(has_own && self.axis.distance(slot) == Some(0));
        for row in rows {
            if has_own {
                receivers[0] += term(*row, 0, 1.0);
            }
            let (cells, weights) = self.rows.row(*row);
            for (cell, weight) in cells.iter().zip(weights) {
                let slot = usize::from(self.cells.slots[*cell as usize]);
                if self.cells.units[*cell as usize] == BIAS_UNIT && counts(slot) {
                    receivers[slot] += term(*row, slot, f64::from(*weight));
                }
            }
            if self.bias_channel().is_some() {
                for (lens, of_lens) in self.shell_counts.iter().enumerate() {
                    let slots = self.axis.range(lens).zip(of_lens.counts(*row)).filter(|(slot, _)| counts(*slot));
                    for (slot, count) in slots {
                        receivers[slot] += term(*row, slot, self.request.weighting.of_all(*count));
                    }
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

/// The channels that are planned; else a channel for every numeric feature with many levels.
fn choose_channels(
    data: &Dataset,
    features: &[Feature],
    levels: &Levels,
    request: &StatisticsRequest,
) -> Vec<Option<usize>> {
    if let Some(plan) = &request.channels {
        let planned = plan.features.iter().zip(&levels.features);
        return planned.map(|(channel, levels)| (!levels.is_own()).then_some(*channel)).collect();
    }
    if request.in_cells {
        return vec![None; features.len()];
    }
    // Distances are not known yet; a dozen is the order of magnitude on real graphs.
    const USUAL_SLOTS: usize = 12;
    let mut count = 0;
    let mut channel = |levels: &FeatureLevels, feature: &Feature| {
        let cells = (levels.units.len() * USUAL_SLOTS).min(levels.listed) as f64;
        if feature.kind == Kind::Categorical
            || levels.is_own()
            || cells <= MOST_CELLS_PER_NODE * data.node_count() as f64
        {
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
        // What counts for the receiver alone is no matter of shells.
        if channel.is_some() || feature.is_own() {
            let end = feature.missing.map_or(feature.units.end, |missing| missing + 1);
            in_cells[feature.units.start as usize..end as usize].fill(false);
        }
    }
    in_cells
}
