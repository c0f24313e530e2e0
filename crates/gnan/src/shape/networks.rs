//! Many shape networks of one architecture, each evaluated at its own points.
//!
//! They are ragged: a binary feature has two points, a continuous one thousands, and no network is padded to the
//! largest. Parameters of a network are contiguous; its gradient never leaves the cache, because the Adam step of a
//! network follows its backward pass at once. Networks are independent, so the result does not depend on threads.

use super::adam::AdamStep;
use super::bank::Moments;
use super::blocks::Blocks;
use super::eval_points::EvalPoints;
use super::network::Architecture;
use super::passes::{BackwardRange, ForwardRange};
use crate::random::Stream;

/// The parameters of many networks of one architecture.
#[derive(Clone, Debug)]
pub(crate) struct Networks {
    /// The architecture all networks share.
    pub architecture: Architecture,
    /// The parameters of every network.
    pub blocks: Blocks,
}

impl Networks {
    /// Networks of zeros.
    pub fn zeros(architecture: Architecture, count: usize) -> Networks {
        Networks { architecture, blocks: Blocks::zeros(std::iter::repeat_n(architecture.block_len(), count)) }
    }

    /// Random networks, drawn from the stream `name` of `seed`.
    pub fn random(architecture: Architecture, count: usize, output_scale: f64, seed: u64, name: &str) -> Networks {
        let mut networks = Networks::zeros(architecture, count);
        for network in 0..count {
            let mut random = Stream::named(seed, name, network as u64);
            architecture.initialise(networks.blocks.block_mut(network), output_scale, &mut random);
        }
        networks
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
            networks: 0..self.blocks.len(),
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
            networks: 0..self.blocks.len(),
            blocks: self.blocks.floats.as_mut_slice(),
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
