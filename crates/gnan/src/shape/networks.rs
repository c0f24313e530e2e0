//! Many shape networks of one architecture, each evaluated at its own points.
//!
//! They are ragged: a binary feature has two points, a continuous one thousands, and no network is padded to the
//! largest. Parameters of a network are contiguous; its gradient never leaves the cache, because the Adam step of a
//! network follows its backward pass at once. Networks are independent, so the result does not depend on threads.

use std::ops::Range;

use super::adam::AdamStep;
use super::aligned::AlignedFloats;
use super::bank::Moments;
use super::eval_points::EvalPoints;
use super::network::Architecture;
use super::passes::{BackwardRange, ForwardRange};
use crate::random::Stream;

/// The parameters of many networks of one architecture.
#[derive(Clone, Debug)]
pub(crate) struct Networks {
    /// The architecture all networks share.
    pub architecture: Architecture,
    count: usize,
    parameters: AlignedFloats,
}

impl Networks {
    /// Networks of zeros.
    pub fn zeros(architecture: Architecture, count: usize) -> Networks {
        Networks { architecture, count, parameters: AlignedFloats::zeros(count * architecture.block_len()) }
    }

    /// Random networks, drawn from the stream `name` of `seed`.
    pub fn random(architecture: Architecture, count: usize, output_scale: f64, seed: u64, name: &str) -> Networks {
        let mut networks = Networks::zeros(architecture, count);
        for network in 0..count {
            let mut random = Stream::named(seed, name, network as u64);
            architecture.initialise(networks.block_mut(network), output_scale, &mut random);
        }
        networks
    }

    /// Number of networks.
    pub fn len(&self) -> usize {
        self.count
    }

    pub(super) fn range(&self, network: usize) -> Range<usize> {
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

    /// Takes over the parameters of as many others, without allocating.
    pub fn copy_from(&mut self, other: &Networks) {
        self.parameters.as_mut_slice().copy_from_slice(other.parameters.as_slice());
    }

    /// All parameters, network after network.
    pub fn numbers(&self) -> &[f32] {
        self.parameters.as_slice()
    }

    /// All parameters, to be changed.
    pub fn numbers_mut(&mut self) -> &mut [f32] {
        self.parameters.as_mut_slice()
    }

    /// Evaluates every network at its points; with `keep`, for a backward pass to follow.
    pub fn forward(&self, eval_points: &mut EvalPoints, keep: bool) {
        if keep {
            eval_points.keep_activations(self.architecture);
        }
        let EvalPoints { offsets, inputs, outputs, activations, masks, has_masks, .. } = eval_points;
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
        eval_points: &EvalPoints,
        out_gradient: &[f32],
        moments: &mut Moments,
        step: &AdamStep,
    ) {
        let EvalPoints { offsets, inputs, activations, masks, has_masks, .. } = eval_points;
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
