//! The sum over channels and slots: `y[i, c] += sum of rho[r, l, c] * mean over S_i(l) of what sources say`.
//!
//! What a source says through a channel is the sum of `T` over its units in that channel. Where rho is shared or grouped
//! the bias is in a channel too; else it is in the cells. Every lens has shells of its own around the same sources.

use rayon::prelude::*;

use crate::statistics::{BIAS_UNIT, Levels, Shells};

use super::binding::Binding;
use super::lanes::Lanes;
use super::tables::Tables;

/// Sources that one task handles.
const SOURCES_PER_TASK: usize = 1024;

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
        ShellTerm { lanes, sources, bias, offsets, gradient: said.clone(), said }
    }

    /// Whether everything is in one channel.
    fn is_shared(&self) -> bool {
        self.bias.is_some() && self.lanes.channels() == 1
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
        let (lanes, width) = (&self.lanes, self.lanes.width());
        for block in 0..lanes.blocks() {
            let shared = self.is_shared().then(|| lanes.part(block, 0));
            let bias = self.bias.map(|channel| lanes.part(block, channel));
            let add = |said: &mut [f32], source: usize| {
                if let Some(part) = &shared {
                    said[part.lanes.clone()].copy_from_slice(&tables.unit(BIAS_UNIT)[part.outputs.clone()]);
                    for unit in levels.of_node(source) {
                        let table = &tables.unit(*unit)[part.outputs.clone()];
                        said.iter_mut().zip(table).for_each(|(said, value)| *said += value);
                    }
                    return;
                }
                said.fill(0.0);
                if let Some(part) = &bias {
                    said[part.lanes.clone()].copy_from_slice(&tables.unit(BIAS_UNIT)[part.outputs.clone()]);
                }
                for unit in levels.of_node(source) {
                    let Some(channel) = binding.channel(*unit) else { continue };
                    let part = lanes.part(block, channel);
                    let table = &tables.unit(*unit)[part.outputs];
                    said[part.lanes].iter_mut().zip(table).for_each(|(said, value)| *said += value);
                }
            };
            let said = &mut self.said[lanes.block(block, self.sources)];
            said.par_chunks_mut(SOURCES_PER_TASK * width).enumerate().for_each(|(task, said)| {
                for (source, said) in (task * SOURCES_PER_TASK..).zip(said.chunks_exact_mut(width)) {
                    add(said, source);
                }
            });
        }
    }

    /// From what every source says back to `T`.
    pub(super) fn table_gradients(&self, binding: &Binding, levels: &Levels, gradient: &mut Tables) {
        let (lanes, width) = (&self.lanes, self.lanes.width());
        let mut bias = vec![0.0f64; gradient.lanes];
        for block in 0..lanes.blocks() {
            let shared = self.is_shared().then(|| lanes.part(block, 0));
            let bias_part = self.bias.map(|channel| lanes.part(block, channel));
            let said = &self.gradient[lanes.block(block, self.sources)];
            for (source, said) in said.chunks_exact(width).enumerate() {
                if let Some(part) = &bias_part {
                    let bias = &mut bias[part.outputs.clone()];
                    bias.iter_mut().zip(&said[part.lanes.clone()]).for_each(|(sum, g)| *sum += f64::from(*g));
                }
                if let Some(part) = &shared {
                    for unit in levels.of_node(source) {
                        let table = &mut gradient.unit_mut(*unit)[part.outputs.clone()];
                        table.iter_mut().zip(said).for_each(|(sum, g)| *sum += g);
                    }
                    continue;
                }
                for unit in levels.of_node(source) {
                    let Some(channel) = binding.channel(*unit) else { continue };
                    let part = lanes.part(block, channel);
                    let table = &mut gradient.unit_mut(*unit)[part.outputs];
                    table.iter_mut().zip(&said[part.lanes]).for_each(|(sum, g)| *sum += g);
                }
            }
        }
        gradient.unit_mut(BIAS_UNIT).iter_mut().zip(bias).for_each(|(sum, g)| *sum += g as f32);
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
