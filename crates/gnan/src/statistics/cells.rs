//! Cell statistics: `Q[u, l]`, how much of unit `u` an item has at distance `l`.
//!
//! ```text
//! graph:  Q_G[u, l] = sum_(j has u) W_jl,   W_jl = sum_(i : dist(j,i) = l) 1 / n_i(l)
//! node:   Q_i[u, l] = sum_(j has u, dist(j,i) = l) 1 / n_i(l)
//! ```
//!
//! A source that has only a share of a unit counts by that share.
//!
//! A *cell* is a pair (unit, slot); slot `l` is distance `l`, the last slot is "unreachable". The bias unit's cells
//! hold `R(l)`, so one sparse bilinear form gives the whole output: `y = b0 + sum_cells Q * T[u] * rho[l]`.

use super::ShellWeighting;
use super::levels::{BIAS_UNIT, Levels};
use crate::distance::UNREACHABLE;
use crate::error::Result;
use crate::groups::group_offsets;
use crate::memory::MemoryLimit;

/// The cells that occur in the data, sorted by unit, then slot.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellList {
    /// Unit of each cell.
    pub units: Vec<u32>,
    /// Slot of each cell.
    pub slots: Vec<u16>,
}

impl CellList {
    /// Number of cells.
    pub fn len(&self) -> usize {
        self.units.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }
}

/// Sparse rows over cells, one per item.
#[derive(Clone, Debug, PartialEq)]
pub struct CellRows {
    /// Entries of row `r` are `offsets[r]..offsets[r + 1]`.
    pub offsets: Vec<usize>,
    /// Cell of each entry.
    pub cells: Vec<u32>,
    /// `Q` of each entry.
    pub weights: Vec<f32>,
}

impl CellRows {
    /// The cells and weights of a row.
    pub fn row(&self, row: usize) -> (&[u32], &[f32]) {
        let range = self.offsets[row]..self.offsets[row + 1];
        (&self.cells[range.clone()], &self.weights[range])
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A copy of the rows at these positions, without the cells that are not wanted.
    pub fn select(&self, rows: &[usize], wanted: impl Fn(u32) -> bool) -> CellRows {
        let mut selected = CellRows { offsets: vec![0], cells: Vec::new(), weights: Vec::new() };
        for row in rows {
            let (cells, weights) = self.row(*row);
            for (cell, weight) in cells.iter().zip(weights).filter(|(cell, _)| wanted(**cell)) {
                selected.cells.push(*cell);
                selected.weights.push(*weight);
            }
            selected.offsets.push(selected.cells.len());
        }
        selected
    }

    /// The same entries by cell: `cells` then holds row numbers.
    pub fn transpose(&self, cell_count: usize) -> CellRows {
        let offsets = group_offsets(cell_count, self.cells.iter().map(|cell| *cell as usize));
        let mut next = offsets.clone();
        let (mut rows, mut weights) = (vec![0; self.cells.len()], vec![0.0; self.cells.len()]);
        for row in 0..self.len() {
            let (cells, row_weights) = self.row(row);
            for (cell, weight) in cells.iter().zip(row_weights) {
                let place = &mut next[*cell as usize];
                rows[*place] = row as u32;
                weights[*place] = *weight;
                *place += 1;
            }
        }
        CellRows { offsets, cells: rows, weights }
    }
}

/// Numbers that are held at a time while the cells of a receiver are summed up.
const HELD_AT_ONCE: usize = 1 << 20;
/// Nodes after which memory is looked at.
const UNITS_CHECKED: usize = 4096;

/// One entry before cells are numbered: unit, lens, distance, weight.
pub(super) type CellEntry = (u32, u16, u16, f64);

/// `W_jl` of one graph, gathered from the distance rows of its receivers.
pub(super) struct SourceWeights {
    /// For every source its distances and weights. Few distances occur, so a sorted list beats a table.
    weights: Vec<Vec<(u16, f64)>>,
    counts: Vec<(u16, u32)>,
    weighting: ShellWeighting,
}

impl SourceWeights {
    pub fn new(nodes: usize, weighting: ShellWeighting) -> Self {
        SourceWeights { weights: vec![Vec::new(); nodes], counts: Vec::new(), weighting }
    }

    /// Adds the sources of one receiver.
    pub fn add_receiver(&mut self, row: &[u16]) {
        count_distances(row, &mut self.counts);
        for (weights, distance) in self.weights.iter_mut().zip(row) {
            let share = self.weighting.of_one(count_of(&self.counts, *distance));
            match weights.binary_search_by_key(distance, |(distance, _)| *distance) {
                Ok(at) => weights[at].1 += share,
                Err(at) => weights.insert(at, (*distance, share)),
            }
        }
    }

    /// `Q_G` by one lens, times a share, sorted by unit and distance.
    pub fn entries(&self, first_node: usize, levels: &Levels, lens: u16, share: f64) -> Vec<CellEntry> {
        let mut entries = Vec::new();
        let of_item = levels.units_of_items();
        for (source, weights) in self.weights.iter().enumerate() {
            let mut add = |unit: u32, part: f64| {
                let own = of_item.get(unit as usize).is_some_and(|of_item| *of_item);
                let counting = weights.iter().filter(|(distance, _)| !own || *distance == 0);
                entries.extend(counting.map(|(distance, weight)| (unit, lens, *distance, *weight * share * part)));
            };
            add(BIAS_UNIT, 1.0);
            levels.of_node(first_node + source).each(add);
        }
        merge(entries)
    }
}

/// The units that every node has, of those that are wanted, and how much of each.
pub(super) struct WantedUnits<'a> {
    levels: &'a Levels,
    /// Those that are wanted, where not all of them are.
    some: Option<UnitLists>,
}

/// The units of node `j` and how much it has of each are `units[offsets[j]..offsets[j + 1]]`.
struct UnitLists {
    offsets: Vec<usize>,
    units: Vec<(u32, f64)>,
}

impl WantedUnits<'_> {
    pub fn new<'a>(levels: &'a Levels, wanted: &[bool], nodes: usize, memory: MemoryLimit) -> Result<WantedUnits<'a>> {
        if wanted.iter().all(|wanted| *wanted) {
            return Ok(WantedUnits { levels, some: None });
        }
        let (mut offsets, mut units) = (vec![0], Vec::new());
        for node in 0..nodes {
            levels.of_node(node).each(|unit, part| {
                if wanted[unit as usize] {
                    units.push((unit, part));
                }
            });
            offsets.push(units.len());
            if node % UNITS_CHECKED == 0 {
                let each = units.len() as u64 * size_of::<(u32, f64)>() as u64 / (node as u64 + 1);
                memory.demand(each * (nodes - node) as u64, "the values that are summed up over shells")?;
            }
        }
        Ok(WantedUnits { levels, some: Some(UnitLists { offsets, units }) })
    }

    fn each_of(&self, node: usize, mut visit: impl FnMut(u32, f64)) {
        match &self.some {
            None => self.levels.of_node(node).each(visit),
            Some(UnitLists { offsets, units }) => {
                units[offsets[node]..offsets[node + 1]].iter().for_each(|(unit, part)| visit(*unit, *part));
            }
        }
    }
}

/// `Q_i` of one receiver from its distance row, over the units that are wanted, up to the farthest distance; of the bias at all.
pub(super) fn node_entries(
    row: &[u16],
    first_node: usize,
    wanted: &WantedUnits<'_>,
    weighting: ShellWeighting,
    farthest: Option<usize>,
    lens: u16,
) -> Vec<CellEntry> {
    let within = |distance: u16| farthest.is_none_or(|far| distance != UNREACHABLE && usize::from(distance) <= far);
    let mut counts = Vec::new();
    count_distances(row, &mut counts);
    let bias = |(distance, count): &(u16, u32)| (BIAS_UNIT, lens, *distance, weighting.of_all(*count));
    let mut entries: Vec<CellEntry> = counts.iter().map(bias).collect();
    // How much of each unit the sources at every distance have, some distances at a time: many distances take many passes.
    let near: Vec<(u16, u32)> = counts.into_iter().filter(|(distance, _)| within(*distance)).collect();
    let units = wanted.levels.unit_count();
    for some in near.chunks((HELD_AT_ONCE / units).max(1)) {
        let mut held = vec![0.0f64; some.len() * units];
        for (source, distance) in row.iter().enumerate() {
            let Ok(place) = some.binary_search_by_key(distance, |(distance, _)| *distance) else { continue };
            let held = &mut held[place * units..][..units];
            wanted.each_of(first_node + source, |unit, part| held[unit as usize] += part);
        }
        for (place, (distance, count)) in some.iter().enumerate() {
            let share = weighting.of_one(*count);
            let held = held[place * units..][..units].iter().enumerate();
            let found = held.filter(|(_, sum)| **sum != 0.0);
            entries.extend(found.map(|(unit, sum)| (unit as u32, lens, *distance, sum * share)));
        }
    }
    entries.sort_unstable_by_key(|(unit, _, distance, _)| (*unit, *distance));
    entries
}

/// Number of sources at each distance that occurs, ascending by distance.
fn count_distances(row: &[u16], counts: &mut Vec<(u16, u32)>) {
    counts.clear();
    for distance in row {
        match counts.binary_search_by_key(distance, |(distance, _)| *distance) {
            Ok(at) => counts[at].1 += 1,
            Err(at) => counts.insert(at, (*distance, 1)),
        }
    }
}

fn count_of(counts: &[(u16, u32)], distance: u16) -> u32 {
    let at = counts.binary_search_by_key(&distance, |(distance, _)| *distance);
    counts[at.expect("invariant: every distance of the row is counted")].1
}

fn merge(mut entries: Vec<CellEntry>) -> Vec<CellEntry> {
    entries.sort_by_key(|(unit, _, distance, _)| (*unit, *distance));
    entries.dedup_by(|next, kept| {
        let same = (next.0, next.2) == (kept.0, kept.2);
        if same {
            kept.3 += next.3;
        }
        same
    });
    entries
}

/// Numbers the cells of all rows and puts the distances of every lens into slots.
pub(super) fn number_cells(rows: &[Vec<CellEntry>], slot_of: impl Fn(u16, u16) -> u16) -> (CellList, CellRows) {
    let mut keys: Vec<(u32, u16)> =
        rows.iter().flatten().map(|(unit, lens, distance, _)| (*unit, slot_of(*lens, *distance))).collect();
    keys.sort_unstable();
    keys.dedup();
    let mut numbered = CellRows { offsets: vec![0], cells: Vec::new(), weights: Vec::new() };
    for row in rows {
        for (unit, lens, distance, weight) in row {
            let cell = keys.binary_search(&(*unit, slot_of(*lens, *distance)));
            numbered.cells.push(cell.expect("invariant: every entry has a cell") as u32);
            numbered.weights.push(*weight as f32);
        }
        numbered.offsets.push(numbered.cells.len());
    }
    let (units, slots) = keys.into_iter().unzip();
    (CellList { units, slots }, numbered)
}
