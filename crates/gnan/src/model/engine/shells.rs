//! The sum over channels and slots: `y[i, c] += sum of rho[r, l, c] * mean over S_i(l) of the source values`.
//!
//! The value of a source in a channel is the sum of `T` over its units in that channel. Where rho is shared or grouped
//! the bias is in a channel too; else it is in the cells. Every lens has shells of its own around the same sources.

use rayon::prelude::*;

use crate::distance::RECEIVERS_PER_BLOCK;
use crate::statistics::{Levels, Shells};

use super::binding::Binding;
use super::lanes::Lanes;
use super::pieces::UnitRows;
use super::receiver_blocks;
use super::source_values::Sources;
use super::tables::FunctionTables;

/// Receiver blocks that one task handles.
const BLOCKS_PER_TASK: usize = 64;

/// The shells around some items, with working memory.
pub(super) struct BatchShells {
    lenses: Vec<LensShells>,
}

/// The shells by one lens.
struct LensShells {
    shells: Shells,
    /// The mean of every lane over every shell; later its gradient, times the share of each source in it.
    means: Vec<f32>,
}

impl BatchShells {
    /// The shells of some of the items.
    pub(super) fn select(&self, positions: &[usize]) -> Vec<Shells> {
        self.lenses.iter().map(|lens| lens.shells.select(positions)).collect()
    }

    /// Draws another sample of every shell, where there are samples.
    pub(super) fn redraw(&mut self, draw: u64) {
        self.lenses.iter_mut().for_each(|lens| lens.shells.redraw(draw));
    }
}

/// The values of every source, in lanes, and their gradient.
pub(super) struct ShellTerm {
    lanes: Lanes,
    sources: usize,
    /// The channel of the bias, where it is in one.
    bias: Option<usize>,
    /// The first slot of every lens.
    offsets: Vec<usize>,
    source_values: Vec<f32>,
    gradient: Vec<f32>,
    /// Working memory: a table per chunk of sources.
    chunk_tables: Vec<f32>,
}

impl ShellTerm {
    pub(super) fn new(
        rho_of_channel: Vec<usize>,
        outputs: usize,
        sources: usize,
        bias: Option<usize>,
        offsets: Vec<usize>,
    ) -> ShellTerm {
        let lanes = Lanes::new(rho_of_channel, outputs);
        let source_values = vec![0.0; lanes.len(sources)];
        ShellTerm {
            lanes,
            sources,
            bias,
            offsets,
            gradient: source_values.clone(),
            source_values,
            chunk_tables: Vec::new(),
        }
    }

    /// Working memory for the outputs of the items in the middle of these shells.
    pub(super) fn items(&self, lenses: Vec<Shells>) -> BatchShells {
        let with_means = |shells: Shells| {
            let means = vec![0.0; self.lanes.len(shells.receiver_blocks().len() * RECEIVERS_PER_BLOCK * shells.slots)];
            LensShells { shells, means }
        };
        BatchShells { lenses: lenses.into_iter().map(with_means).collect() }
    }

    /// The value of every source: the sum of `T` over its units.
    pub(super) fn fill(&mut self, tables: &FunctionTables, binding: &Binding, unit_rows: &UnitRows, levels: &Levels) {
        let (lanes, bias, count) = (&self.lanes, self.bias, self.sources);
        Sources { levels, binding, unit_rows, lanes, bias, count }.forward(tables, &mut self.source_values);
    }

    /// From the source values back to `T`.
    pub(super) fn table_gradients(
        &mut self,
        binding: &Binding,
        unit_rows: &UnitRows,
        levels: &Levels,
        gradient: &mut FunctionTables,
    ) {
        let (lanes, bias, count) = (&self.lanes, self.bias, self.sources);
        let sources = Sources { levels, binding, unit_rows, lanes, bias, count };
        sources.backward(&self.gradient, gradient, &mut self.chunk_tables);
    }

    /// `rho[l, lane]` of a lane block; that of spare lanes is 0.
    fn block_rhos(&self, lane_block: usize, slots: usize, offset: usize, tables: &FunctionTables) -> Vec<f32> {
        let width = self.lanes.width;
        let mut rhos = vec![0.0; slots * width];
        self.lanes.each(lane_block, |lane, rho, c| {
            for slot in 0..slots {
                rhos[slot * width + lane] = tables.rhos[tables.rho_start(rho, offset + slot) + c];
            }
        });
        rhos
    }

    /// Every lane of a lane block, and the output it stands for.
    fn outputs_of(&self, lane_block: usize) -> Vec<(usize, usize)> {
        let mut outputs = Vec::new();
        self.lanes.each(lane_block, |lane, _, c| outputs.push((lane, c)));
        outputs
    }

    /// `out[i, c] += sum over channels and slots of rho[r, l, c] * means[i, l, lane]`
    pub(super) fn add_outputs(&self, items: &mut BatchShells, tables: &FunctionTables, out: &mut [f32]) {
        let (outputs, width) = (tables.lanes, self.lanes.width);
        for (LensShells { shells, means }, offset) in items.lenses.iter_mut().zip(&self.offsets) {
            let slots = shells.slots;
            shells.means(&self.source_values, width, means);
            for lane_block in 0..self.lanes.blocks {
                let means =
                    &means[self.lanes.block(lane_block, shells.receiver_blocks().len() * RECEIVERS_PER_BLOCK * slots)];
                let rhos = self.block_rhos(lane_block, slots, *offset, tables);
                let mut block_outputs = vec![0.0; shells.receiver_blocks().len() * RECEIVERS_PER_BLOCK * width];
                let of_blocks = means.par_chunks_exact((slots * RECEIVERS_PER_BLOCK * width).max(1));
                of_blocks
                    .zip(block_outputs.par_chunks_exact_mut(RECEIVERS_PER_BLOCK * width))
                    .for_each(|(means, outputs)| receiver_blocks::forward(width, means, &rhos, outputs));
                let lanes = self.outputs_of(lane_block);
                for (receivers, y) in
                    shells.receiver_blocks().iter().zip(block_outputs.chunks_exact(RECEIVERS_PER_BLOCK * width))
                {
                    for (receiver, y) in receivers.members().zip(y.chunks_exact(width)) {
                        lanes.iter().for_each(|(lane, c)| out[receiver * outputs + c] += y[*lane]);
                    }
                }
            }
        }
    }

    /// From outputs back to `rho` and, through the means that [`add_outputs`](Self::add_outputs) left, to the
    /// source values.
    pub(super) fn source_value_gradients(
        &mut self,
        items: &mut BatchShells,
        out_gradient: &[f32],
        gain: f32,
        tables: &FunctionTables,
        gradient: &mut FunctionTables,
    ) {
        let (outputs, width) = (tables.lanes, self.lanes.width);
        self.gradient.fill(0.0);
        for (LensShells { shells, means }, offset) in items.lenses.iter_mut().zip(&self.offsets) {
            let slots = shells.slots;
            let per_block = slots * RECEIVERS_PER_BLOCK;
            for lane_block in 0..self.lanes.blocks {
                let place = self.lanes.block(lane_block, shells.receiver_blocks().len() * per_block);
                let rhos = self.block_rhos(lane_block, slots, *offset, tables);
                let lanes = self.outputs_of(lane_block);
                let chunks = means[place].par_chunks_mut((BLOCKS_PER_TASK * per_block * width).max(1)).enumerate();
                let of_rho = chunks.map(|(task, means)| {
                    let blocks = &shells.receiver_blocks()[task * BLOCKS_PER_TASK..];
                    let shares = shells.shares[task * BLOCKS_PER_TASK * per_block..].chunks_exact(per_block);
                    let mut of_rho = vec![0.0f32; slots * width];
                    let mut g = vec![0.0; RECEIVERS_PER_BLOCK * width];
                    for ((means, receivers), shares) in
                        means.chunks_exact_mut(per_block * width).zip(blocks).zip(shares)
                    {
                        g.fill(0.0);
                        for (receiver, g) in receivers.members().zip(g.chunks_exact_mut(width)) {
                            lanes.iter().for_each(|(lane, c)| g[*lane] = gain * out_gradient[receiver * outputs + c]);
                        }
                        receiver_blocks::backward(width, means, shares, &rhos, &g, &mut of_rho);
                    }
                    of_rho
                });
                for of_rho in of_rho.collect::<Vec<Vec<f32>>>() {
                    self.lanes.each(lane_block, |lane, rho, c| {
                        for slot in 0..slots {
                            gradient.rhos[tables.rho_start(rho, offset + slot) + c] += of_rho[slot * width + lane];
                        }
                    });
                }
            }
            shells.gather(means, width, &mut self.gradient);
        }
    }
}
