//! A bank of shape networks: one architecture, many networks, each evaluated at its own points.
//!
//! The bank is ragged: a binary feature has two points, a continuous one thousands, and no network is padded to the
//! largest. Parameters of a network are contiguous; its gradient never leaves the cache, because the Adam step of a
//! network follows its backward pass at once. Networks are independent, so the result does not depend on threads.

use std::cell::RefCell;
use std::ops::Range;

use bytemuck::{Pod, Zeroable};
use pulp::Arch;

use super::adam::AdamStep;
use super::kernel::LANES;
use super::network::{Architecture, Backward, BackwardScratch, Forward};
use crate::random::Stream;

/// A network with more points than this is evaluated in pieces whose activations stay in the cache.
const MOST_ROWS_AT_ONCE: usize = 1024;
/// Activations are kept from the forward to the backward pass up to this many floats in all, else computed again.
const MOST_KEPT_ACTIVATIONS: usize = 8 << 20;
/// Work (multiplications, roughly) below which a range of networks is not divided between threads.
const LEAST_WORK_TO_DIVIDE: usize = 200_000;

/// Floats aligned to cache lines.
#[derive(Clone, Debug, Default)]
pub struct AlignedFloats(Vec<Line>);

#[derive(Clone, Copy, Debug, Pod, Zeroable)]
#[repr(C, align(64))]
struct Line([f32; LANES]);

impl AlignedFloats {
    /// `len` zeros; `len` must be a multiple of 16.
    pub fn zeros(len: usize) -> Self {
        debug_assert!(len.is_multiple_of(LANES));
        AlignedFloats(vec![Line([0.0; LANES]); len / LANES])
    }

    /// The floats.
    pub fn as_slice(&self) -> &[f32] {
        bytemuck::cast_slice(&self.0)
    }

    /// The floats, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.0)
    }
}

/// The parameters of many networks of one architecture.
#[derive(Clone, Debug)]
pub struct Bank {
    architecture: Architecture,
    count: usize,
    parameters: AlignedFloats,
}

/// First and second moments of the parameters of a [`Bank`].
#[derive(Clone, Debug)]
pub struct Moments {
    pub(crate) first: AlignedFloats,
    pub(crate) second: AlignedFloats,
}

/// Where every network of a bank is evaluated, and the results.
#[derive(Clone, Debug)]
pub struct Evaluation {
    offsets: Vec<usize>,
    inputs: Vec<f32>,
    outputs: Vec<f32>,
    activations: Vec<f32>,
    masks: Vec<f32>,
    has_masks: bool,
}

impl Bank {
    /// A bank of zeros.
    pub fn zeros(architecture: Architecture, count: usize) -> Bank {
        Bank { architecture, count, parameters: AlignedFloats::zeros(count * architecture.block_len()) }
    }

    /// A bank of random networks, drawn from the stream `name` of `seed`.
    pub fn random(architecture: Architecture, count: usize, output_scale: f64, seed: u64, name: &str) -> Bank {
        let mut bank = Bank::zeros(architecture, count);
        for network in 0..count {
            let mut random = Stream::named(seed, name, network as u64);
            architecture.initialise(bank.block_mut(network), output_scale, &mut random);
        }
        bank
    }

    /// The architecture all networks share.
    pub fn architecture(&self) -> Architecture {
        self.architecture
    }

    /// Number of networks.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are no networks.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    fn range(&self, network: usize) -> Range<usize> {
        let len = self.architecture.block_len();
        network * len..(network + 1) * len
    }

    /// The parameters of one network.
    pub fn block(&self, network: usize) -> &[f32] {
        &self.parameters.as_slice()[self.range(network)]
    }

    /// The parameters of one network, to be changed.
    pub fn block_mut(&mut self, network: usize) -> &mut [f32] {
        let range = self.range(network);
        &mut self.parameters.as_mut_slice()[range]
    }

    /// Takes over the parameters of a bank of the same size, without allocating.
    pub fn copy_from(&mut self, other: &Bank) {
        self.parameters.as_mut_slice().copy_from_slice(other.parameters.as_slice());
    }

    /// Moments of zeros, the state in which Adam starts.
    pub fn moments(&self) -> Moments {
        let zeros = AlignedFloats::zeros(self.count * self.architecture.block_len());
        Moments { first: zeros.clone(), second: zeros }
    }

    /// Evaluates every network at its points; with `keep`, for a backward pass to follow.
    pub fn forward(&self, evaluation: &mut Evaluation, keep: bool) {
        let size = self.architecture;
        if keep && evaluation.activations.is_empty() {
            let len = size.activations_len(evaluation.inputs.len());
            if len <= MOST_KEPT_ACTIVATIONS && evaluation.widest() <= MOST_ROWS_AT_ONCE {
                evaluation.activations = vec![0.0; len];
            }
        }
        let Evaluation { offsets, inputs, outputs, activations, masks, has_masks } = evaluation;
        let kept = keep && !activations.is_empty();
        let masks = if *has_masks { &masks[..] } else { &[] };
        let whole = ForwardRange {
            networks: 0..self.count,
            outputs,
            activations: if kept { activations } else { &mut [] },
            bank: self,
            offsets,
            inputs,
            masks,
        };
        whole.run();
    }

    /// Takes the gradient of every output back to the parameters and moves them by one Adam step.
    pub(crate) fn backward(
        &mut self,
        evaluation: &Evaluation,
        out_gradient: &[f32],
        moments: &mut Moments,
        step: &AdamStep,
    ) {
        let Evaluation { offsets, inputs, activations, masks, has_masks, .. } = evaluation;
        let whole = BackwardRange {
            networks: 0..self.count,
            blocks: self.parameters.as_mut_slice(),
            first: moments.first.as_mut_slice(),
            second: moments.second.as_mut_slice(),
            architecture: self.architecture,
            step,
            offsets,
            inputs,
            activations,
            masks: if *has_masks { masks } else { &[] },
            out_gradient,
        };
        whole.run();
    }
}

impl Evaluation {
    /// Networks evaluated at `points`, one list per network.
    pub fn new(points: impl IntoIterator<Item = Vec<f32>>, outputs: usize) -> Evaluation {
        let mut offsets = vec![0];
        let mut inputs = Vec::new();
        for points in points {
            inputs.extend(points);
            offsets.push(inputs.len());
        }
        let outputs = vec![0.0; inputs.len() * outputs];
        Evaluation { offsets, inputs, outputs, activations: Vec::new(), masks: Vec::new(), has_masks: false }
    }

    /// The points of a network, as rows of [`outputs`](Self::outputs).
    pub fn rows(&self, network: usize) -> Range<usize> {
        self.offsets[network]..self.offsets[network + 1]
    }

    /// The results, `[points, outputs]`.
    pub fn outputs(&self) -> &[f32] {
        &self.outputs
    }

    /// Number of points over all networks.
    pub fn len(&self) -> usize {
        self.inputs.len()
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.inputs.is_empty()
    }

    fn widest(&self) -> usize {
        self.offsets.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap_or(0)
    }

    /// Draws dropout masks, one per network and hidden layer, for step `step`; a rate of 0 removes them.
    pub fn draw_masks(&mut self, architecture: Architecture, rate: f32, seed: u64, name: &str, step: u64) {
        self.has_masks = rate > 0.0;
        if !self.has_masks {
            return;
        }
        let len = architecture.hidden_layers() * architecture.hidden;
        let networks = self.offsets.len() - 1;
        self.masks.resize(networks * len, 0.0);
        let kept = 1.0 / (1.0 - rate);
        for (network, mask) in (0u64..).zip(self.masks.chunks_exact_mut(len.max(1))) {
            let mut random = Stream::named(seed, name, step.wrapping_mul(networks as u64).wrapping_add(network));
            mask.iter_mut().for_each(|m| *m = if random.uniform() < f64::from(rate) { 0.0 } else { kept });
        }
    }

    /// Removes the dropout masks, as for a prediction.
    pub fn clear_masks(&mut self) {
        self.has_masks = false;
    }
}

#[derive(Default)]
struct Scratch {
    backward: BackwardScratch,
    gradient: Vec<f32>,
    piece_gradient: Vec<f32>,
    activations: Vec<f32>,
    outputs: Vec<f32>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::default();
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
struct ForwardRange<'a> {
    networks: Range<usize>,
    outputs: &'a mut [f32],
    /// Empty where activations are not kept.
    activations: &'a mut [f32],
    bank: &'a Bank,
    offsets: &'a [usize],
    inputs: &'a [f32],
    masks: &'a [f32],
}

impl ForwardRange<'_> {
    fn run(self) {
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
                        block: self.bank.block(network),
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
struct BackwardRange<'a> {
    networks: Range<usize>,
    blocks: &'a mut [f32],
    first: &'a mut [f32],
    second: &'a mut [f32],
    architecture: Architecture,
    step: &'a AdamStep,
    offsets: &'a [usize],
    inputs: &'a [f32],
    activations: &'a [f32],
    masks: &'a [f32],
    out_gradient: &'a [f32],
}

impl BackwardRange<'_> {
    fn run(self) {
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

struct NetworkPoints<'a> {
    inputs: &'a [f32],
    rows: Range<usize>,
    activations: &'a [f32],
    mask: Option<&'a [f32]>,
    out_gradient: &'a [f32],
}

/// Leaves the gradient of one network's parameters in `scratch.gradient`.
fn gradient(size: Architecture, block: &[f32], points: &NetworkPoints<'_>, scratch: &mut Scratch) {
    let arch = Arch::new();
    let Scratch { backward, gradient, piece_gradient, activations, outputs } = scratch;
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
