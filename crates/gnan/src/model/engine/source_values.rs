//! Source values: `values[j, channel, c] = sum over the units u of source j in that channel of T[u, c]`, and the gradient.
//!
//! A source between two knots has a share of both. Sources are divided into chunks by the size of the data, never by
//! the number of threads; in the gradient every chunk has a table of its own, and these are added up in index order.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use crate::statistics::{Levels, NodeUnits};

use super::binding::Binding;
use super::lanes::Lanes;
use super::pieces::UnitRows;
use super::tables::{BIAS_ROW, FunctionTables};

/// Sources whose values one task adds up.
const SOURCES_PER_TASK: usize = 1024;
/// Additions to tables from which on another chunk of sources is worth a table of its own.
const ADDITIONS_PER_CHUNK: usize = 4 << 20;
/// Most chunks.
const MOST_CHUNKS: usize = 16;
/// Floats that the tables of all chunks may take.
const MOST_FLOATS: usize = 16 << 20;

/// Into how many chunks sources are divided whose gradients go to a table of so many floats.
fn chunks(levels: &Levels, lanes: usize, len: usize) -> usize {
    let additions = levels.listed() * lanes;
    let chunks = (additions / ADDITIONS_PER_CHUNK).min(additions / (4 * len)).min(MOST_FLOATS / len);
    chunks.clamp(1, MOST_CHUNKS)
}

/// Floats that the tables of all chunks take, where `T` has a row per unit.
pub(super) fn chunk_floats(levels: &Levels, lanes: usize) -> usize {
    let len = levels.unit_count() * lanes;
    match chunks(levels, lanes, len.max(1)) {
        1 => 0,
        chunks => chunks * len,
    }
}

/// Which units every source has, and the channel of each.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    pub levels: &'a Levels,
    pub binding: &'a Binding,
    pub unit_rows: &'a UnitRows,
    pub lanes: &'a Lanes,
    /// The channel of the bias, where it is in one.
    pub bias: Option<usize>,
    pub count: usize,
}

impl Sources<'_> {
    /// Adds up the values of every source.
    pub(super) fn forward(&self, tables: &FunctionTables, values: &mut [f32]) {
        let width = self.lanes.width;
        let mut tasks: Vec<Vec<&mut [f32]>> =
            (0..self.count.div_ceil(SOURCES_PER_TASK)).map(|_| Vec::with_capacity(self.lanes.blocks)).collect();
        for block in values.chunks_exact_mut((self.count * width).max(1)) {
            let parts = block.chunks_mut(SOURCES_PER_TASK * width);
            tasks.iter_mut().zip(parts).for_each(|(task, part)| task.push(part));
        }
        tasks.into_par_iter().enumerate().for_each(|(task, values)| {
            Arch::new().dispatch(SourceForward { sources: self, tables, first: task * SOURCES_PER_TASK, values });
        });
    }

    /// Takes the gradient of the source values back to `T`; `scratch` is working memory to be kept.
    pub(super) fn backward(&self, value_gradient: &[f32], gradient: &mut FunctionTables, scratch: &mut Vec<f32>) {
        let (lanes, len) = (gradient.lanes, gradient.units.len());
        let chunks = chunks(self.levels, lanes, len);
        let per_chunk = self.count.div_ceil(chunks).max(1);
        let backward = |chunk: usize, table: &mut [f32]| {
            let range = chunk * per_chunk..self.count.min((chunk + 1) * per_chunk);
            Arch::new().dispatch(SourceBackward { sources: self, range, lanes, value_gradient, table })
        };
        let bias: Vec<Vec<f64>> = if chunks == 1 {
            vec![backward(0, &mut gradient.units)]
        } else {
            scratch.resize(chunks * len, 0.0);
            let tables = scratch.par_chunks_mut(len).enumerate();
            let bias = tables.map(|(chunk, table)| {
                table.fill(0.0);
                backward(chunk, table)
            });
            let bias = bias.collect();
            let found = &*scratch;
            gradient.units.par_chunks_mut(SOURCES_PER_TASK).enumerate().for_each(|(part, sums)| {
                for table in found.chunks_exact(len) {
                    let table = &table[part * SOURCES_PER_TASK..];
                    sums.iter_mut().zip(table).for_each(|(sum, g)| *sum += g);
                }
            });
            bias
        };
        if self.bias.is_some() {
            for (c, sum) in gradient.row_mut(BIAS_ROW).iter_mut().enumerate() {
                *sum += bias.iter().map(|bias| bias[c]).sum::<f64>() as f32;
            }
        }
    }

    /// The channel of a unit; `None`: it is in the cells.
    #[inline(always)]
    fn channel(&self, shared: bool, unit: u32) -> Option<usize> {
        if shared { Some(0) } else { self.binding.channel(unit) }
    }

    /// The row of `T` that a listed unit takes, and the share of the row after it.
    #[inline(always)]
    fn row_of(&self, unit: u32, share: Option<&f32>) -> (usize, f32) {
        let (row, own) = self.unit_rows.of(unit);
        (row, share.copied().filter(|share| *share != 0.0).unwrap_or(own))
    }

    /// Whether everything is in one channel.
    fn is_shared(&self) -> bool {
        self.bias.is_some() && self.lanes.channels() == 1
    }

    /// Floats of a row of all lanes, spare ones included.
    fn row_len(&self) -> usize {
        self.lanes.blocks * self.lanes.width
    }
}

/// The values of the sources from `first` on, block by block.
struct SourceForward<'a> {
    sources: &'a Sources<'a>,
    tables: &'a FunctionTables,
    first: usize,
    values: Vec<&'a mut [f32]>,
}

impl WithSimd for SourceForward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let SourceForward { sources, tables, first, mut values } = self;
        let (lanes, width, shared) = (tables.lanes, sources.lanes.width, sources.is_shared());
        let mut row = vec![0.0f32; sources.row_len()];
        let count = values.first().map_or(0, |block| block.len() / width);
        for place in 0..count {
            row.fill(0.0);
            if let Some(channel) = sources.bias {
                row[channel * lanes..][..lanes].copy_from_slice(tables.row(BIAS_ROW));
            }
            let NodeUnits { units, shares } = sources.levels.of_node(first + place);
            for (at, unit) in units.iter().enumerate() {
                let Some(channel) = sources.channel(shared, *unit) else { continue };
                let row = &mut row[channel * lanes..][..lanes];
                let (unit_row, share) = sources.row_of(*unit, shares.get(at));
                let table = &tables.units[unit_row * lanes..];
                if share == 0.0 {
                    row.iter_mut().zip(&table[..lanes]).for_each(|(sum, value)| *sum += value);
                } else {
                    let (own, next) = table[..2 * lanes].split_at(lanes);
                    let rest = 1.0 - share;
                    for c in 0..lanes {
                        row[c] += rest * own[c] + share * next[c];
                    }
                }
            }
            for (block, row) in values.iter_mut().zip(row.chunks_exact(width)) {
                block[place * width..][..width].copy_from_slice(row);
            }
        }
    }
}

/// The way back, for a range of sources; returns the sums of the bias.
struct SourceBackward<'a> {
    sources: &'a Sources<'a>,
    range: std::ops::Range<usize>,
    lanes: usize,
    value_gradient: &'a [f32],
    table: &'a mut [f32],
}

impl WithSimd for SourceBackward<'_> {
    type Output = Vec<f64>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) -> Vec<f64> {
        let SourceBackward { sources, range, lanes, value_gradient, table } = self;
        let (width, shared) = (sources.lanes.width, sources.is_shared());
        let mut row = vec![0.0f32; sources.row_len()];
        let mut bias = vec![0.0f64; lanes];
        for source in range {
            for (block, row) in row.chunks_exact_mut(width).enumerate() {
                row.copy_from_slice(&value_gradient[(block * sources.count + source) * width..][..width]);
            }
            if let Some(channel) = sources.bias {
                bias.iter_mut().zip(&row[channel * lanes..]).for_each(|(sum, g)| *sum += f64::from(*g));
            }
            let NodeUnits { units, shares } = sources.levels.of_node(source);
            for (at, unit) in units.iter().enumerate() {
                let Some(channel) = sources.channel(shared, *unit) else { continue };
                let row = &row[channel * lanes..][..lanes];
                let (unit_row, share) = sources.row_of(*unit, shares.get(at));
                let table = &mut table[unit_row * lanes..];
                if share == 0.0 {
                    table[..lanes].iter_mut().zip(row).for_each(|(sum, g)| *sum += g);
                } else {
                    let (own, next) = table[..2 * lanes].split_at_mut(lanes);
                    let rest = 1.0 - share;
                    for c in 0..lanes {
                        own[c] += rest * row[c];
                        next[c] += share * row[c];
                    }
                }
            }
        }
        bias
    }
}
