//! A bank of shape functions: all of them networks, or all of them splines.

use std::sync::Arc;

use crate::spec::ShapeKind;

use super::adam::AdamStep;
use super::aligned::AlignedFloats;
use super::blocks::Blocks;
use super::eval_points::EvalPoints;
use super::network::Architecture;
use super::networks::Networks;
use super::piecewise::Piecewise;
use super::splines::{SplineSpec, Splines, offsets};

/// What the functions of a bank are, but for their parameters.
#[derive(Clone, Debug, PartialEq)]
pub enum BankSpec {
    /// So many networks of one architecture.
    Networks(Architecture, usize),
    /// Splines, with a number of outputs.
    Splines(Vec<Arc<SplineSpec>>, usize),
}

impl BankSpec {
    /// Number of functions.
    pub fn len(&self) -> usize {
        match self {
            BankSpec::Networks(_, count) => *count,
            BankSpec::Splines(specs, _) => specs.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Names and dimensions of the tensors in which a model file keeps the parameters.
    pub fn tensors(&self) -> Vec<(String, Vec<usize>)> {
        match self {
            BankSpec::Networks(architecture, count) => {
                let dimensions = |own: &[usize]| [&[*count], own].concat();
                architecture.parts().into_iter().map(|part| (part.name, dimensions(&part.dimensions))).collect()
            }
            BankSpec::Splines(specs, outputs) => {
                vec![("coefficients".to_owned(), vec![offsets(specs)[specs.len()], *outputs])]
            }
        }
    }

    /// Number of parameters.
    pub fn parameters(&self) -> usize {
        self.tensors().iter().map(|(_, dimensions)| dimensions.iter().product::<usize>()).sum()
    }

    /// Floats that a bank, with as much memory for activations at so many points, takes.
    pub(crate) fn floats(&self, points: usize) -> (usize, usize) {
        match self {
            BankSpec::Networks(architecture, count) => {
                (count * architecture.block_len(), architecture.activations_len(points))
            }
            BankSpec::Splines(..) => (self.parameters(), 0),
        }
    }
}

/// The parameters of many shape functions.
#[derive(Clone, Debug)]
pub struct Bank(Functions);

#[derive(Clone, Debug)]
enum Functions {
    Networks(Networks),
    Splines(Splines),
}

/// First and second moments of the parameters of a [`Bank`].
#[derive(Clone, Debug)]
pub struct Moments {
    pub(crate) first: AlignedFloats,
    pub(crate) second: AlignedFloats,
}

impl Bank {
    /// Functions with parameters of zero.
    pub fn zeros(spec: &BankSpec) -> Bank {
        Bank(match spec {
            BankSpec::Networks(architecture, count) => Functions::Networks(Networks::zeros(*architecture, *count)),
            BankSpec::Splines(specs, outputs) => Functions::Splines(Splines::zeros(specs, *outputs)),
        })
    }

    /// Functions that start at (almost) nothing: random networks, drawn from the stream `name` of `seed`, or splines of 0.
    pub fn random(spec: &BankSpec, output_scale: f64, seed: u64, name: &str) -> Bank {
        match spec {
            BankSpec::Networks(architecture, count) => {
                Bank(Functions::Networks(Networks::random(*architecture, *count, output_scale, seed, name)))
            }
            BankSpec::Splines(..) => Bank::zeros(spec),
        }
    }

    /// Makes every function start as the identity of a number, which networks take as `(number - shift) / scale` and
    /// splines as it is.
    pub(crate) fn add_identity(&mut self, shift: f64, scale: f64) {
        match &mut self.0 {
            Functions::Networks(networks) => {
                let architecture = networks.architecture;
                for network in 0..networks.blocks.len() {
                    architecture.add_line(networks.blocks.block_mut(network), scale as f32, (shift / scale) as f32);
                }
            }
            Functions::Splines(splines) => splines.set_identity(),
        }
    }

    /// Makes every network start as the identity, as far down as `-reach`.
    pub(crate) fn start_as_identity(&mut self, reach: f32) {
        if let Functions::Networks(networks) = &mut self.0 {
            let architecture = networks.architecture;
            for network in 0..networks.blocks.len() {
                let block = networks.blocks.block_mut(network);
                architecture.add_line(block, 1.0, reach);
                let lowered = if architecture.layers == 1 { 0.0 } else { -reach };
                block[architecture.output_bias()].fill(lowered);
            }
        }
    }

    /// The same networks as functions of `factor` times their input.
    pub(crate) fn scale_input_of(&mut self, function: usize, factor: f32) {
        if let Functions::Networks(networks) = &mut self.0 {
            let architecture = networks.architecture;
            let weight =
                if architecture.layers == 1 { architecture.output_weight() } else { architecture.hidden_part(0).0 };
            networks.blocks.block_mut(function)[weight].iter_mut().for_each(|weight| *weight *= factor);
        }
    }

    /// Adds a constant to every output of a network.
    pub(crate) fn add_constant_to(&mut self, function: usize, constants: &[f64]) {
        if let Functions::Networks(networks) = &mut self.0 {
            let place = networks.architecture.output_bias();
            let biases = networks.blocks.block_mut(function)[place].iter_mut();
            biases.zip(constants).for_each(|(bias, constant)| *bias = (f64::from(*bias) + constant) as f32);
        }
    }

    /// The architecture that all networks share; `None` for splines.
    pub fn architecture(&self) -> Option<Architecture> {
        match &self.0 {
            Functions::Networks(networks) => Some(networks.architecture),
            Functions::Splines(_) => None,
        }
    }

    /// The specifications of splines; nothing for networks.
    pub fn splines(&self) -> &[Arc<SplineSpec>] {
        match &self.0 {
            Functions::Networks(_) => &[],
            Functions::Splines(splines) => &splines.specs,
        }
    }

    /// What these functions are made of.
    pub fn kind(&self) -> ShapeKind {
        match &self.0 {
            Functions::Networks(_) => ShapeKind::Network,
            Functions::Splines(_) => ShapeKind::Spline,
        }
    }

    fn blocks(&self) -> &Blocks {
        match &self.0 {
            Functions::Networks(networks) => &networks.blocks,
            Functions::Splines(splines) => &splines.blocks,
        }
    }

    fn blocks_mut(&mut self) -> &mut Blocks {
        match &mut self.0 {
            Functions::Networks(networks) => &mut networks.blocks,
            Functions::Splines(splines) => &mut splines.blocks,
        }
    }

    /// Number of functions.
    pub fn len(&self) -> usize {
        self.blocks().len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The parameters of one function.
    pub fn block(&self, function: usize) -> &[f32] {
        self.blocks().block(function)
    }

    /// The parameters of one function, to be changed.
    pub fn block_mut(&mut self, function: usize) -> &mut [f32] {
        self.blocks_mut().block_mut(function)
    }

    /// The parameters as a model file keeps them, tensor by tensor in the order of [`BankSpec::tensors`].
    pub fn tensors(&self) -> Vec<Vec<f32>> {
        match &self.0 {
            Functions::Networks(networks) => {
                let of_part = |range: std::ops::Range<usize>| {
                    (0..networks.blocks.len())
                        .flat_map(|k| networks.blocks.block(k)[range.clone()].iter().copied())
                        .collect()
                };
                networks.architecture.parts().into_iter().map(|part| of_part(part.range)).collect()
            }
            Functions::Splines(splines) => vec![splines.blocks.all().to_vec()],
        }
    }

    /// The bank with the parameters that a model file kept; they must fit the specification.
    pub fn from_tensors(spec: &BankSpec, tensors: &[Vec<f32>]) -> Bank {
        let mut bank = Bank::zeros(spec);
        match &mut bank.0 {
            Functions::Networks(networks) => {
                for (part, values) in networks.architecture.parts().into_iter().zip(tensors) {
                    for (network, values) in values.chunks_exact(part.range.len()).enumerate() {
                        networks.blocks.block_mut(network)[part.range.clone()].copy_from_slice(values);
                    }
                }
            }
            Functions::Splines(splines) => {
                let numbers = splines.blocks.all_mut().iter_mut().zip(tensors.iter().flatten());
                numbers.for_each(|(to, from)| *to = *from);
            }
        }
        bank
    }

    /// Multiplies every output of every function by a factor of its own.
    pub fn scale_outputs(&mut self, factors: &[f32]) {
        (0..self.len()).for_each(|function| self.scale_outputs_of(function, factors));
    }

    /// Multiplies every output of one function by a factor of its own.
    pub fn scale_outputs_of(&mut self, function: usize, factors: &[f32]) {
        let architecture = self.architecture();
        let block = self.block_mut(function);
        match architecture {
            Some(architecture) => architecture.scale_outputs(block, factors),
            None => {
                for row in block.chunks_exact_mut(factors.len()) {
                    row.iter_mut().zip(factors).for_each(|(c, factor)| *c *= factor);
                }
            }
        }
    }

    /// The outputs of one function at `input`, in f64.
    pub fn evaluate(&self, function: usize, input: f64) -> Vec<f64> {
        match &self.0 {
            Functions::Networks(networks) => networks.architecture.evaluate(networks.blocks.block(function), input),
            Functions::Splines(splines) => {
                splines.specs[function].basis.evaluate(splines.blocks.block(function), splines.outputs, input)
            }
        }
    }

    /// One function, knot by knot.
    pub fn curve(&self, function: usize) -> Piecewise {
        match &self.0 {
            Functions::Networks(networks) => networks.architecture.knots(networks.blocks.block(function)),
            Functions::Splines(splines) => {
                splines.specs[function].basis.curve(splines.blocks.block(function), splines.outputs)
            }
        }
    }

    /// The places between `from` and `to`, both included, between which a network and its gradients are lines; `None` for
    /// splines, which are no lines.
    pub(crate) fn bends(&self, function: usize, mask: Option<&[f32]>, from: f64, to: f64) -> Option<Vec<f64>> {
        match &self.0 {
            Functions::Networks(networks) => {
                Some(networks.architecture.bends(networks.blocks.block(function), mask, from, to))
            }
            Functions::Splines(_) => None,
        }
    }

    /// All parameters, function after function.
    pub(crate) fn all(&self) -> &[f32] {
        self.blocks().all()
    }

    /// All parameters, to be changed.
    pub(crate) fn all_mut(&mut self) -> &mut [f32] {
        self.blocks_mut().all_mut()
    }

    /// Which of all parameters make a function constant where they are 0: output weights, or coefficients.
    pub(crate) fn group_of(&self, function: usize) -> std::ops::Range<usize> {
        match &self.0 {
            Functions::Networks(networks) => {
                let (first, weights) = (networks.blocks.range(function).start, networks.architecture.output_weight());
                first + weights.start..first + weights.end
            }
            Functions::Splines(splines) => splines.blocks.range(function),
        }
    }

    /// Whether every parameter is finite.
    pub fn is_finite(&self) -> bool {
        self.all().iter().all(|number| number.is_finite())
    }

    /// Takes over the parameters of a bank of the same specification, without allocating.
    pub fn copy_from(&mut self, other: &Bank) {
        self.all_mut().copy_from_slice(other.all());
    }

    /// Moments of zeros, the state in which Adam starts.
    pub fn moments(&self) -> Moments {
        let zeros = AlignedFloats::zeros(self.blocks().floats.as_slice().len());
        Moments { first: zeros.clone(), second: zeros }
    }

    /// Evaluates every function at its points; with `keep`, for a backward pass to follow.
    pub fn forward(&self, eval_points: &mut EvalPoints, keep: bool) {
        match &self.0 {
            Functions::Networks(networks) => networks.forward(eval_points, keep),
            Functions::Splines(splines) => splines.forward(eval_points),
        }
    }

    /// The gradient of every input of networks, given that of every output; splines are evaluated at fixed points
    /// and have none.
    pub(crate) fn input_gradients(&self, eval_points: &EvalPoints, out_gradient: &[f32]) -> Vec<f32> {
        match &self.0 {
            Functions::Networks(networks) => networks.input_gradients(eval_points, out_gradient),
            Functions::Splines(_) => Vec::new(),
        }
    }

    /// Takes the gradient of every output back to the parameters and moves them by one Adam step.
    pub(crate) fn backward(
        &mut self,
        eval_points: &EvalPoints,
        out_gradient: &[f32],
        moments: &mut Moments,
        step: &AdamStep,
    ) {
        match &mut self.0 {
            Functions::Networks(networks) => networks.backward(eval_points, out_gradient, moments, step),
            Functions::Splines(splines) => splines.backward(eval_points, out_gradient, moments, step),
        }
    }
}
