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

/// Distances below this one are summed up in tables, others in lists: few distances occur, and few of them are long.
const NEAR: usize = 32;
/// Counts of every distance that are kept and then added up.
const COUNTS_AT_ONCE: usize = 4;

/// `W_jl` of one graph, gathered from the distance rows of its receivers.
pub(super) struct SourceWeights {
    /// For every source its weights at near distances.
    near: Vec<[f64; NEAR]>,
    /// For every source its other distances, ascending, with weights.
    far: Vec<Vec<(u16, f64)>>,
    /// The longest near distance that occurs.
    longest_near: usize,
    counts: ShellSizes,
    weighting: ShellWeighting,
}

impl SourceWeights {
    pub fn new(nodes: usize, weighting: ShellWeighting) -> Self {
        SourceWeights {
            near: vec![[0.0; NEAR]; nodes],
            far: vec![Vec::new(); nodes],
            longest_near: 0,
            counts: ShellSizes::default(),
            weighting,
        }
    }

    /// Adds the sources of one receiver.
    pub fn add_receiver(&mut self, row: &[u16]) {
        self.counts.count(row);
        let shares = self.counts.near.map(|count| self.weighting.of_one(count));
        for (source, distance) in row.iter().enumerate() {
            if let Some(share) = shares.get(usize::from(*distance)) {
                self.near[source][usize::from(*distance)] += share;
                self.longest_near = self.longest_near.max(usize::from(*distance));
                continue;
            }
            let share = self.weighting.of_one(self.counts.of(*distance));
            let weights = &mut self.far[source];
            match weights.binary_search_by_key(distance, |(distance, _)| *distance) {
                Ok(at) => weights[at].1 += share,
                Err(at) => weights.insert(at, (*distance, share)),
            }
        }
    }

    /// `Q_G` by one lens, times a share, sorted by unit and distance.
    pub fn entries(&self, first_node: usize, levels: &Levels, lens: u16, share: f64) -> Vec<CellEntry> {
        let of_item = levels.units_of_items();
        // The sources that have every unit, in their own order, and how much each has of it.
        let mut sources: Vec<(u32, u32, f64)> = Vec::new();
        for source in 0..self.near.len() {
            sources.push((BIAS_UNIT, source as u32, share));
            levels.of_node(first_node + source).each(|unit, part| sources.push((unit, source as u32, share * part)));
        }
        sources.sort_unstable_by_key(|(unit, source, _)| (*unit, *source));
        let mut entries = Vec::new();
        for own in sources.chunk_by(|one, other| one.0 == other.0) {
            let unit = own[0].0;
            let counts_itself_only = of_item.get(unit as usize).is_some_and(|of_item| *of_item);
            let near = if counts_itself_only { 1 } else { self.longest_near + 1 };
            let mut sums = [0.0; NEAR];
            let mut far = Vec::new();
            for (_, source, part) in own {
                let weights = &self.near[*source as usize][..near];
                sums.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight * part);
                if !counts_itself_only {
                    let weights = self.far[*source as usize].iter();
                    far.extend(weights.map(|(distance, weight)| (unit, lens, *distance, weight * part)));
                }
            }
            let found = sums[..near].iter().enumerate().filter(|(_, sum)| **sum != 0.0);
            entries.extend(found.map(|(distance, sum)| (unit, lens, distance as u16, *sum)));
            entries.extend(merge(far));
        }
        entries
    }
}

/// Number of sources at every distance from a receiver.
#[derive(Clone, Debug, Default)]
struct ShellSizes {
    near: [u32; NEAR],
    /// Other distances, ascending.
    far: Vec<(u16, u32)>,
}

impl ShellSizes {
    /// Counts anew.
    fn count(&mut self, row: &[u16]) {
        self.far.clear();
        // Several counts of a distance, so that one after the other need not wait for it.
        let mut near = [[0; NEAR]; COUNTS_AT_ONCE];
        for (place, distance) in row.iter().enumerate() {
            match near[place % COUNTS_AT_ONCE].get_mut(usize::from(*distance)) {
                Some(count) => *count += 1,
                None => match self.far.binary_search_by_key(distance, |(distance, _)| *distance) {
                    Ok(at) => self.far[at].1 += 1,
                    Err(at) => self.far.insert(at, (*distance, 1)),
                },
            }
        }
        self.near = std::array::from_fn(|distance| near.iter().map(|counts| counts[distance]).sum());
    }

    /// How many there are at a distance.
    fn of(&self, distance: u16) -> u32 {
        match self.near.get(usize::from(distance)) {
            Some(count) => *count,
            None => {
                let at = self.far.binary_search_by_key(&distance, |(distance, _)| *distance);
                at.map_or(0, |at| self.far[at].1)
            }
        }
    }

    /// The distances that occur, ascending, with their numbers.
    fn occurring(&self) -> impl Iterator<Item = (u16, u32)> + '_ {
        let near = self.near.iter().enumerate().filter(|(_, count)| **count > 0);
        near.map(|(distance, count)| (distance as u16, *count)).chain(self.far.iter().copied())
    }
}

/// The units that every node has, of those that are wanted, and how much of each.
pub(super) struct WantedUnits<'a> {
    levels: &'a Levels,
    /// They, listed by node; `None`: all are wanted, and there is no memory for lists.
    lists: Option<UnitLists>,
}

/// The units of node `j` and how much it has of each are `units[offsets[j]..offsets[j + 1]]`.
struct UnitLists {
    offsets: Vec<usize>,
    units: Vec<(u32, f64)>,
}

impl WantedUnits<'_> {
    pub fn new<'a>(levels: &'a Levels, wanted: &[bool], nodes: usize, memory: MemoryLimit) -> Result<WantedUnits<'a>> {
        let lists = match UnitLists::new(levels, wanted, nodes, memory) {
            Err(_) if wanted.iter().all(|wanted| *wanted) => None,
            lists => Some(lists?),
        };
        Ok(WantedUnits { levels, lists })
    }

    #[inline]
    fn each_of(&self, node: usize, mut visit: impl FnMut(u32, f64)) {
        match &self.lists {
            None => self.levels.of_node(node).each(visit),
            Some(UnitLists { offsets, units }) => {
                units[offsets[node]..offsets[node + 1]].iter().for_each(|(unit, part)| visit(*unit, *part));
            }
        }
    }
}

impl UnitLists {
    fn new(levels: &Levels, wanted: &[bool], nodes: usize, memory: MemoryLimit) -> Result<UnitLists> {
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
        Ok(UnitLists { offsets, units })
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
    let mut sizes = ShellSizes::default();
    sizes.count(row);
    let bias = |(distance, count): (u16, u32)| (BIAS_UNIT, lens, distance, weighting.of_all(count));
    let mut entries: Vec<CellEntry> = sizes.occurring().map(bias).collect();
    // How much of each unit the sources at every distance have, some distances at a time: many distances take many passes.
    let near: Vec<(u16, u32)> = sizes.occurring().filter(|(distance, _)| within(*distance)).collect();
    let units = wanted.levels.unit_count();
    for some in near.chunks((HELD_AT_ONCE / units).max(1)) {
        let mut places = [None; NEAR];
        for (place, (distance, _)) in some.iter().enumerate().filter(|(_, (at, _))| usize::from(*at) < NEAR) {
            places[usize::from(*distance)] = Some(place);
        }
        let mut held = vec![0.0f64; some.len() * units];
        for (source, distance) in row.iter().enumerate() {
            let place = match places.get(usize::from(*distance)) {
                Some(place) => *place,
                None => some.binary_search_by_key(distance, |(distance, _)| *distance).ok(),
            };
            let Some(place) = place else { continue };
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

/// The entries of one unit, those of the same distance added up.
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
