//! The entries of cells of every item, gathered from the distances of its receivers.

use rayon::prelude::*;

use super::cells::{CellEntry, SourceWeights, WantedUnits, node_entries};
use super::levels::Levels;
use super::receiver_groups::{ReceiverGroup, receiver_groups};
use super::request::StatisticsRequest;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::lens::{Longest, Pool, View};
use crate::memory::MemoryLimit;

/// Items whose cells are made at a time.
const ITEMS_AT_ONCE: usize = 512;
/// What a cell takes while it is listed, numbered and copied.
const BYTES_OF_A_CELL: f64 = 40.0;

/// The entries of every item of a graph task, and the longest distance by every lens.
pub(super) fn graph_cells(
    data: &Dataset,
    levels: &Levels,
    request: &StatisticsRequest,
) -> Result<(Vec<Vec<CellEntry>>, Vec<Longest>)> {
    let found: Vec<(Vec<CellEntry>, Vec<Longest>)> = in_memory(
        data.run().memory,
        data.items(),
        |item: &u32| {
            let nodes = data.nodes_of(*item as usize);
            let receivers: Vec<u32> = (0..nodes.len() as u32).collect();
            let (mut entries, mut longest) = (Vec::new(), Vec::new());
            for (lens, way) in (0u16..).zip(&request.lenses) {
                let mut weights = SourceWeights::new(nodes.len(), request.weighting);
                let view = View::new(data, *item as usize, way)?;
                longest.push(view.each_row(&receivers, |_, row| weights.add_receiver(row))?);
                let share = if way.pool == Pool::Mean { 1.0 / nodes.len().max(1) as f64 } else { 1.0 };
                entries.extend(weights.entries(nodes.start, levels, lens, share));
            }
            Ok((entries, longest))
        },
        |(entries, _)| entries.len(),
    )?;
    let longest = all_longest(request.lenses.len(), found.iter().map(|(_, longest)| longest));
    Ok((found.into_iter().map(|(entries, _)| entries).collect(), longest))
}

/// The entries of every item of a node task over the units that are in cells, and the longest distance by every lens.
pub(super) fn node_cells(
    data: &Dataset,
    levels: &Levels,
    request: &StatisticsRequest,
    in_cells: &[bool],
    entries: &mut [Vec<CellEntry>],
) -> Result<Vec<Longest>> {
    let lenses = &request.lenses;
    let wanted = WantedUnits::new(levels, in_cells, data.node_count(), data.run().memory)?;
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
                    row.extend(node_entries(distances, first, &wanted, request.weighting, request.farthest, lens));
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

/// Adds what every item of a node task has at distance 0 of the features that it alone has.
pub(super) fn add_own_cells(data: &Dataset, levels: &Levels, entries: &mut [Vec<CellEntry>]) {
    let mut is_own = vec![false; levels.unit_count()];
    for feature in levels.features.iter().filter(|feature| feature.is_own()) {
        let end = feature.missing.map_or(feature.units.end, |missing| missing + 1);
        is_own[feature.units.start as usize..end as usize].fill(true);
    }
    for (item, entries) in data.items().iter().zip(entries) {
        levels.of_node(*item as usize).each(|unit, part| {
            if is_own[unit as usize] {
                entries.push((unit, 0, 0, part));
            }
        });
        entries.sort_unstable_by_key(|(unit, lens, distance, _)| (*lens, *unit, *distance));
    }
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
