//! The points at which the functions of a bank are evaluated, with dropout masks and the results.

use std::ops::Range;
use std::sync::Arc;

use super::bank::BankSpec;
use super::basis::BasisPoint;
use super::network::Architecture;
use super::passes::MOST_ROWS_AT_ONCE;
use super::splines::basis_points;
use crate::random::Stream;

/// Activations are kept from the forward to the backward pass up to this many floats in all, else computed again.
const MOST_KEPT_ACTIVATIONS: usize = 8 << 20;

/// Where every function of a bank is evaluated, and the results.
#[derive(Clone, Debug)]
pub struct EvalPoints {
    pub(super) offsets: Vec<usize>,
    /// The inputs of networks.
    pub(crate) inputs: Vec<f32>,
    /// Which coefficients of splines count, and how much.
    pub(super) basis_points: Arc<[BasisPoint]>,
    /// The results, `[points, outputs]`.
    pub(crate) outputs: Vec<f32>,
    pub(super) activations: Vec<f32>,
    pub(super) masks: Vec<f32>,
    pub(super) has_masks: bool,
}

impl EvalPoints {
    /// Functions evaluated at `points`, one list per function.
    pub fn new(spec: &BankSpec, points: &[Vec<f64>]) -> EvalPoints {
        let mut offsets = vec![0];
        for points in points {
            offsets.push(offsets[offsets.len() - 1] + points.len());
        }
        let len = offsets[points.len()];
        let (mut inputs, mut basis) = (Vec::new(), Vec::new());
        let outputs = match spec {
            BankSpec::Networks(architecture, _) => {
                inputs = points.iter().flatten().map(|point| *point as f32).collect();
                architecture.outputs
            }
            BankSpec::Splines(specs, outputs) => {
                basis = basis_points(specs, points);
                *outputs
            }
        };
        EvalPoints {
            offsets,
            inputs,
            basis_points: basis.into(),
            outputs: vec![0.0; len * outputs],
            activations: Vec::new(),
            masks: Vec::new(),
            has_masks: false,
        }
    }

    /// The points of a function, as rows of [`outputs`](Self::outputs).
    pub fn rows(&self, function: usize) -> Range<usize> {
        self.offsets[function]..self.offsets[function + 1]
    }

    /// Moves some networks, by ascending number, to other points; results have so many outputs.
    pub(crate) fn replace(&mut self, changed: &[(usize, Vec<f32>)], outputs: usize) {
        let (mut offsets, mut inputs) = (vec![0], Vec::new());
        let mut changed = changed.iter().peekable();
        for function in 0..self.offsets.len() - 1 {
            match changed.next_if(|(network, _)| *network == function) {
                Some((_, points)) => inputs.extend_from_slice(points),
                None => inputs.extend_from_slice(&self.inputs[self.rows(function)]),
            }
            offsets.push(inputs.len());
        }
        self.outputs.resize(inputs.len() * outputs, 0.0);
        self.activations.clear();
        (self.offsets, self.inputs) = (offsets, inputs);
    }

    /// The dropout mask of a network, where there is one.
    pub(crate) fn mask(&self, architecture: Architecture, network: usize) -> Option<&[f32]> {
        let len = architecture.hidden_layers() * architecture.hidden;
        self.has_masks.then(|| &self.masks[network * len..][..len])
    }

    /// Number of points over all functions.
    pub fn len(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// Whether there are no points.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Makes room to keep all activations, unless they are too many; then they are computed again.
    pub(super) fn keep_activations(&mut self, architecture: Architecture) {
        if self.activations.is_empty() {
            let len = architecture.activations_len(self.len());
            if len <= MOST_KEPT_ACTIVATIONS && self.widest() <= MOST_ROWS_AT_ONCE {
                self.activations.resize(len, 0.0);
            }
        }
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
}
