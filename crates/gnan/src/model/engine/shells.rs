//! The sum over channels and slots: `y[i, c] += sum of rho[r, l, c] * mean over S_i(l) of what sources say`.
//!
//! What a source says through a channel is the sum of `T` over its units in that channel. Where rho is shared or grouped
//! the bias is in a channel too; else it is in the cells. Every lens has shells of its own around the same sources.

use rayon::prelude::*;

use crate::distance::OCTET;
use crate::statistics::{Levels, Shells};

use super::binding::Binding;
use super::lanes::Lanes;
use super::octets;
use super::pieces::Places;
use super::said::Sources;
use super::tables::Tables;

/// Octets of receivers that one task handles.
const OCTETS_PER_TASK: usize = 64;

/// The shells around some items, with working memory.
pub(super) struct ItemShells {
    lenses: Vec<LensShells>,
}

/// The shells by one lens.
struct LensShells {
    shells: Shells,
    /// The mean of every lane over every shell; later its gradient, times the share of each source in it.
    means: Vec<f32>,
}

impl ItemShells {
    /// The shells of some of the items.
    pub(super) fn select(&self, positions: &[usize]) -> Vec<Shells> {
        self.lenses.iter().map(|lens| lens.shells.select(positions)).collect()
    }

    /// Draws another sample of every shell, where there are samples.
    pub(super) fn redraw(&mut self, draw: u64) {
        self.lenses.iter_mut().for_each(|lens| lens.shells.redraw(draw));
    }
}

/// What every source says, in lanes, and its gradient.
pub(super) struct ShellTerm {
    lanes: Lanes,
    sources: usize,
    /// The channel of the bias, where it is in one.
    bias: Option<usize>,
    /// The first slot of every lens.
    offsets: Vec<usize>,
    said: Vec<f32>,
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
        let said = vec![0.0; lanes.len(sources)];
        ShellTerm { lanes, sources, bias, offsets, gradient: said.clone(), said, chunk_tables: Vec::new() }
    }

    /// Room to compute the outputs of the items in the middle of these shells.
    pub(super) fn items(&self, lenses: Vec<Shells>) -> ItemShells {
        let room = |shells: Shells| {
            let means = vec![0.0; self.lanes.len(shells.octets().len() * OCTET * shells.slots())];
            LensShells { shells, means }
        };
        ItemShells { lenses: lenses.into_iter().map(room).collect() }
    }

    /// What every source says: the sum of `T` over its units.
    pub(super) fn fill(&mut self, tables: &Tables, binding: &Binding, places: &Places, levels: &Levels) {
        let (lanes, bias, count) = (&self.lanes, self.bias, self.sources);
        Sources { levels, binding, places, lanes, bias, count }.say(tables, &mut self.said);
    }

    /// From what every source says back to `T`.
    pub(super) fn table_gradients(
        &mut self,
        binding: &Binding,
        places: &Places,
        levels: &Levels,
        gradient: &mut Tables,
    ) {
        let (lanes, bias, count) = (&self.lanes, self.bias, self.sources);
        let sources = Sources { levels, binding, places, lanes, bias, count };
        sources.table_gradients(&self.gradient, gradient, &mut self.chunk_tables);
    }

    /// `rho[l, lane]` of a block; the spare lanes hear nothing.
    fn block_rhos(&self, block: usize, slots: usize, offset: usize, tables: &Tables) -> Vec<f32> {
        let width = self.lanes.width();
        let mut rhos = vec![0.0; slots * width];
        self.lanes.each(block, |lane, rho, c| {
            for slot in 0..slots {
                rhos[slot * width + lane] = tables.rhos[tables.rho_start(rho, offset + slot) + c];
            }
        });
        rhos
    }

    /// Every lane of a block, and the output it stands for.
    fn outputs_of(&self, block: usize) -> Vec<(usize, usize)> {
        let mut outputs = Vec::new();
        self.lanes.each(block, |lane, _, c| outputs.push((lane, c)));
        outputs
    }

    /// `out[i, c] += sum over channels and slots of rho[r, l, c] * means[i, l, lane]`
    pub(super) fn add_outputs(&self, items: &mut ItemShells, tables: &Tables, out: &mut [f32]) {
        let (outputs, width) = (tables.lanes, self.lanes.width());
        for (LensShells { shells, means }, offset) in items.lenses.iter_mut().zip(&self.offsets) {
            let slots = shells.slots();
            shells.means(&self.said, width, means);
            for block in 0..self.lanes.blocks() {
                let means = &means[self.lanes.block(block, shells.octets().len() * OCTET * slots)];
                let rhos = self.block_rhos(block, slots, *offset, tables);
                let mut heard = vec![0.0; shells.octets().len() * OCTET * width];
                let octets = means.par_chunks_exact((slots * OCTET * width).max(1));
                octets
                    .zip(heard.par_chunks_exact_mut(OCTET * width))
                    .for_each(|(means, heard)| octets::hear(width, means, &rhos, heard));
                let lanes = self.outputs_of(block);
                for (octet, heard) in shells.octets().iter().zip(heard.chunks_exact(OCTET * width)) {
                    for (receiver, heard) in octet.members().zip(heard.chunks_exact(width)) {
                        lanes.iter().for_each(|(lane, c)| out[receiver * outputs + c] += heard[*lane]);
                    }
                }
            }
        }
    }

    /// From outputs back to `rho` and, through the means that [`add_outputs`](Self::add_outputs) left, to what every
    /// source says.
    pub(super) fn said_gradients(
        &mut self,
        items: &mut ItemShells,
        out_gradient: &[f32],
        gain: f32,
        tables: &Tables,
        gradient: &mut Tables,
    ) {
        let (outputs, width) = (tables.lanes, self.lanes.width());
        self.gradient.fill(0.0);
        for (LensShells { shells, means }, offset) in items.lenses.iter_mut().zip(&self.offsets) {
            let slots = shells.slots();
            let per_octet = slots * OCTET;
            for block in 0..self.lanes.blocks() {
                let place = self.lanes.block(block, shells.octets().len() * per_octet);
                let rhos = self.block_rhos(block, slots, *offset, tables);
                let lanes = self.outputs_of(block);
                let chunks = means[place].par_chunks_mut((OCTETS_PER_TASK * per_octet * width).max(1)).enumerate();
                let of_rho = chunks.map(|(task, means)| {
                    let octets = &shells.octets()[task * OCTETS_PER_TASK..];
                    let shares = shells.shares()[task * OCTETS_PER_TASK * per_octet..].chunks_exact(per_octet);
                    let mut of_rho = vec![0.0f32; slots * width];
                    let mut g = vec![0.0; OCTET * width];
                    for ((means, octet), shares) in means.chunks_exact_mut(per_octet * width).zip(octets).zip(shares) {
                        g.fill(0.0);
                        for (receiver, g) in octet.members().zip(g.chunks_exact_mut(width)) {
                            lanes.iter().for_each(|(lane, c)| g[*lane] = gain * out_gradient[receiver * outputs + c]);
                        }
                        octets::pull(width, means, shares, &rhos, &g, &mut of_rho);
                    }
                    of_rho
                });
                for of_rho in of_rho.collect::<Vec<Vec<f32>>>() {
                    self.lanes.each(block, |lane, rho, c| {
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
