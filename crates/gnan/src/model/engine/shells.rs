//! The sum over channels and slots: `y[i, c] += sum of rho[r, l, c] * mean over S_i(l) of what sources say`.
//!
//! What a source says through a channel is the sum of `T` over its units in that channel. Where rho is shared or grouped
//! the bias is in a channel too; else it is in the cells. Every lens has shells of its own around the same sources.

use crate::statistics::{Levels, Shells};

use super::binding::Binding;
use super::lanes::Lanes;
use super::said::Sources;
use super::tables::Tables;

/// The shells around some items, with working memory.
pub(super) struct ItemShells {
    lenses: Vec<LensShells>,
}

/// The shells by one lens.
struct LensShells {
    shells: Shells,
    /// The mean of every lane over every shell.
    means: Vec<f32>,
    /// The gradient of those means, times the share of each source in them.
    pull: Vec<f32>,
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
            let means = vec![0.0; self.lanes.len(shells.receivers.len() * shells.slots)];
            LensShells { shells, means, pull: Vec::new() }
        };
        ItemShells { lenses: lenses.into_iter().map(room).collect() }
    }

    /// What every source says: the sum of `T` over its units.
    pub(super) fn fill(&mut self, tables: &Tables, binding: &Binding, levels: &Levels) {
        let (lanes, bias, count) = (&self.lanes, self.bias, self.sources);
        Sources { levels, binding, lanes, bias, count }.say(tables, &mut self.said);
    }

    /// From what every source says back to `T`.
    pub(super) fn table_gradients(&mut self, binding: &Binding, levels: &Levels, gradient: &mut Tables) {
        let (lanes, bias, count) = (&self.lanes, self.bias, self.sources);
        let sources = Sources { levels, binding, lanes, bias, count };
        sources.table_gradients(&self.gradient, gradient, &mut self.chunk_tables);
    }

    /// `out[i, c] += sum over channels and slots of rho[r, l, c] * means[i, l, lane]`
    pub(super) fn add_outputs(&self, items: &mut ItemShells, tables: &Tables, out: &mut [f32]) {
        let (outputs, width) = (tables.lanes, self.lanes.width());
        for (LensShells { shells, means, .. }, offset) in items.lenses.iter_mut().zip(&self.offsets) {
            let slots = shells.slots;
            for block in 0..self.lanes.blocks() {
                let means = &mut means[self.lanes.block(block, shells.receivers.len() * slots)];
                shells.means(&self.said[self.lanes.block(block, self.sources)], width, means);
                for (means, out) in means.chunks_exact(slots * width).zip(out.chunks_exact_mut(outputs)) {
                    self.lanes.each(block, |lane, rho, c| {
                        let rho = |slot: usize| tables.rhos[tables.rho_start(rho, offset + slot) + c];
                        let sum: f32 = (0..slots).map(|slot| rho(slot) * means[slot * width + lane]).sum();
                        out[c] += sum;
                    });
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
        for (LensShells { shells, means, pull }, offset) in items.lenses.iter_mut().zip(&self.offsets) {
            let slots = shells.slots;
            pull.resize(means.len(), 0.0);
            for block in 0..self.lanes.blocks() {
                let place = self.lanes.block(block, shells.receivers.len() * slots);
                let (means, pull) = (&means[place.clone()], &mut pull[place]);
                let per_receiver = means.chunks_exact(slots * width).zip(pull.chunks_exact_mut(slots * width));
                for (i, (means, pull)) in per_receiver.enumerate() {
                    let shares = &shells.shares[i * slots..][..slots];
                    let out_gradient = &out_gradient[i * outputs..][..outputs];
                    self.lanes.each(block, |lane, rho, c| {
                        let g = gain * out_gradient[c];
                        for slot in 0..slots {
                            let at = tables.rho_start(rho, offset + slot) + c;
                            gradient.rhos[at] += g * means[slot * width + lane];
                            pull[slot * width + lane] = g * tables.rhos[at] * shares[slot];
                        }
                    });
                }
                let place = self.lanes.block(block, self.sources);
                shells.gather(pull, width, &mut self.gradient[place]);
            }
        }
    }
}
