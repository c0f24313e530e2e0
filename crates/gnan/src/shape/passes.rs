//! The forward and the backward pass over a bank, divided between threads.
//!
//! A range of networks is halved until its work is small; results are slices of their own, so no two threads write to
//! the same place and no sum depends on how the work was divided.

use std::cell::RefCell;
use std::ops::Range;

use pulp::Arch;

use super::adam::AdamStep;
use super::network::{Architecture, Backward, BackwardScratch, Forward};
use super::networks::Networks;

/// A network with more points than this is evaluated in pieces whose activations stay in the cache.
pub(super) const MOST_ROWS_AT_ONCE: usize = 1024;
/// Work (multiplications, roughly) below which a range of networks is not divided between threads.
const LEAST_WORK_TO_DIVIDE: usize = 1_000_000;

/// Working memory of a thread.
#[derive(Default)]
struct PassScratch {
    backward: BackwardScratch,
    gradient: Vec<f32>,
    piece_gradient: Vec<f32>,
    activations: Vec<f32>,
    outputs: Vec<f32>,
}

thread_local! {
    static SCRATCH: RefCell<PassScratch> = RefCell::default();
}

/// Whether a range of networks is worth dividing, and the middle of it.
fn middle(networks: &Range<usize>, offsets: &[usize], block_len: usize) -> Option<usize> {
    let rows = offsets[networks.end] - offsets[networks.start];
    // A network costs its parameters once per point, and about ten times more for its Adam step.
    let work = (rows + 10 * networks.len()) * block_len;
    (networks.len() > 1 && work > LEAST_WORK_TO_DIVIDE).then(|| networks.start + networks.len() / 2)
}

fn mask_of(masks: &[f32], network: usize, size: Architecture) -> Option<&[f32]> {
    let len = size.hidden_layers() * size.hidden;
    (!masks.is_empty()).then(|| &masks[network * len..][..len])
}

/// The forward pass of a range of networks; results are those of this range only.
pub(super) struct ForwardRange<'a> {
    pub networks: Range<usize>,
    pub outputs: &'a mut [f32],
    /// Empty where activations are not kept.
    pub activations: &'a mut [f32],
    pub bank: &'a Networks,
    pub offsets: &'a [usize],
    pub inputs: &'a [f32],
    pub masks: &'a [f32],
}

impl ForwardRange<'_> {
    /// Runs it, on as many threads as are worth it.
    pub(super) fn run(self) {
        let size = self.bank.architecture;
        let Some(middle) = middle(&self.networks, self.offsets, size.block_len()) else { return self.run_here() };
        let rows = self.offsets[middle] - self.offsets[self.networks.start];
        let ForwardRange { networks, outputs, activations, bank, offsets, inputs, masks } = self;
        let (outputs_a, outputs_b) = outputs.split_at_mut(rows * size.outputs);
        let kept = if activations.is_empty() { 0 } else { size.activations_len(rows) };
        let (activations_a, activations_b) = activations.split_at_mut(kept);
        let half = |networks, outputs, activations| {
            move || ForwardRange { networks, outputs, activations, bank, offsets, inputs, masks }.run()
        };
        rayon::join(
            half(networks.start..middle, outputs_a, activations_a),
            half(middle..networks.end, outputs_b, activations_b),
        );
    }

    fn run_here(self) {
        let size = self.bank.architecture;
        let arch = Arch::new();
        let base = self.offsets[self.networks.start];
        SCRATCH.with_borrow_mut(|scratch| {
            for network in self.networks {
                let rows = self.offsets[network]..self.offsets[network + 1];
                for start in rows.clone().step_by(MOST_ROWS_AT_ONCE) {
                    let piece = start..rows.end.min(start + MOST_ROWS_AT_ONCE);
                    let len = size.activations_len(piece.len());
                    let activations = if self.activations.is_empty() {
                        scratch.activations.resize(len, 0.0);
                        &mut scratch.activations[..]
                    } else {
                        &mut self.activations[size.activations_len(piece.start - base)..][..len]
                    };
                    arch.dispatch(Forward {
                        architecture: size,
                        block: self.bank.blocks.block(network),
                        inputs: &self.inputs[piece.clone()],
                        mask: mask_of(self.masks, network, size),
                        activations,
                        out: &mut self.outputs[(piece.start - base) * size.outputs..(piece.end - base) * size.outputs],
                    });
                }
            }
        });
    }
}

/// The backward pass and Adam step of a range of networks; blocks and moments are those of this range only.
pub(super) struct BackwardRange<'a> {
    pub networks: Range<usize>,
    pub blocks: &'a mut [f32],
    pub first: &'a mut [f32],
    pub second: &'a mut [f32],
    pub architecture: Architecture,
    pub step: &'a AdamStep,
    pub offsets: &'a [usize],
    pub inputs: &'a [f32],
    pub activations: &'a [f32],
    pub masks: &'a [f32],
    pub out_gradient: &'a [f32],
}

impl BackwardRange<'_> {
    /// Runs it, on as many threads as are worth it.
    pub(super) fn run(self) {
        let Some(middle) = middle(&self.networks, self.offsets, self.architecture.block_len()) else {
            return self.run_here();
        };
        let BackwardRange { networks, blocks, first, second, architecture, step, .. } = self;
        let BackwardRange { offsets, inputs, activations, masks, out_gradient, .. } = self;
        let at = (middle - networks.start) * architecture.block_len();
        let (blocks_a, blocks_b) = blocks.split_at_mut(at);
        let (first_a, first_b) = first.split_at_mut(at);
        let (second_a, second_b) = second.split_at_mut(at);
        let half = |networks, blocks, first, second| {
            let range = BackwardRange {
                networks,
                blocks,
                first,
                second,
                architecture,
                step,
                offsets,
                inputs,
                activations,
                masks,
                out_gradient,
            };
            move || range.run()
        };
        rayon::join(
            half(networks.start..middle, blocks_a, first_a, second_a),
            half(middle..networks.end, blocks_b, first_b, second_b),
        );
    }

    fn run_here(self) {
        let size = self.architecture;
        let len = size.block_len();
        SCRATCH.with_borrow_mut(|scratch| {
            let blocks = self.blocks.chunks_exact_mut(len);
            let moments = self.first.chunks_exact_mut(len).zip(self.second.chunks_exact_mut(len));
            for ((network, block), (first, second)) in self.networks.clone().zip(blocks).zip(moments) {
                let points = NetworkPoints {
                    inputs: self.inputs,
                    rows: self.offsets[network]..self.offsets[network + 1],
                    activations: self.activations,
                    mask: mask_of(self.masks, network, size),
                    out_gradient: self.out_gradient,
                };
                gradient(size, block, &points, scratch);
                self.step.update(block, &scratch.gradient, first, second);
            }
        });
    }
}

/// The points of one network.
struct NetworkPoints<'a> {
    inputs: &'a [f32],
    rows: Range<usize>,
    activations: &'a [f32],
    mask: Option<&'a [f32]>,
    out_gradient: &'a [f32],
}

/// Leaves the gradient of one network's parameters in `scratch.gradient`.
fn gradient(size: Architecture, block: &[f32], points: &NetworkPoints<'_>, scratch: &mut PassScratch) {
    let arch = Arch::new();
    let PassScratch { backward, gradient, piece_gradient, activations, outputs } = scratch;
    gradient.resize(size.block_len(), 0.0);
    let outputs_of = |rows: &Range<usize>| rows.start * size.outputs..rows.end * size.outputs;
    if !points.activations.is_empty() {
        let kept = size.activations_len(points.rows.start)..size.activations_len(points.rows.end);
        arch.dispatch(Backward {
            architecture: size,
            block,
            inputs: &points.inputs[points.rows.clone()],
            mask: points.mask,
            activations: &points.activations[kept],
            out_gradient: &points.out_gradient[outputs_of(&points.rows)],
            gradient,
            scratch: backward,
        });
        return;
    }
    gradient.fill(0.0);
    piece_gradient.resize(size.block_len(), 0.0);
    for start in points.rows.clone().step_by(MOST_ROWS_AT_ONCE) {
        let piece = start..points.rows.end.min(start + MOST_ROWS_AT_ONCE);
        let inputs = &points.inputs[piece.clone()];
        activations.resize(size.activations_len(piece.len()), 0.0);
        outputs.resize(piece.len() * size.outputs, 0.0);
        arch.dispatch(Forward { architecture: size, block, inputs, mask: points.mask, activations, out: outputs });
        arch.dispatch(Backward {
            architecture: size,
            block,
            inputs,
            mask: points.mask,
            activations,
            out_gradient: &points.out_gradient[outputs_of(&piece)],
            gradient: piece_gradient,
            scratch: backward,
        });
        gradient.iter_mut().zip(piece_gradient.iter()).for_each(|(sum, g)| *sum += g);
    }
}
