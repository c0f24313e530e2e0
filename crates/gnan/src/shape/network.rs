//! One shape network: a ReLU network of one number with `C` outputs.
//!
//! ```text
//! a_1 = relu(x * w_1 + b_1)                       w_1, b_1: [hidden]
//! a_n = relu(a_(n-1) W_n + b_n)                   W_n: [hidden in, hidden out], n = 2 .. layers - 1
//! out = a_(layers-1) W^T + b                      W: [outputs, hidden], b: [outputs]
//! ```
//!
//! With one layer it is a line: `out = x * w + b`. The parameters of a network lie in one block, in the order above,
//! each part padded with zeros to whole vectors; padding receives no gradient and so stays zero.

use std::ops::Range;

use pulp::{Simd, WithSimd};
use serde::{Deserialize, Serialize};

use super::kernel::{self, LANES, Start, Strided};
use crate::random::Stream;

/// With at most this many rows, gradients go back through a layer by dot products rather than by a transposed copy.
const FEW_ROWS: usize = 8;

/// The size of a shape network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Architecture {
    /// Number of layers, at least 1.
    pub layers: usize,
    /// Width of the hidden layers, a multiple of 16.
    pub hidden: usize,
    /// Number of outputs.
    pub outputs: usize,
}

/// A named part of a network's parameters: where it lies and its dimensions.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParameterPart {
    /// Its name, such as `layer1.weight`.
    pub name: String,
    /// Where it lies in the block of a network.
    pub range: Range<usize>,
    /// Its dimensions.
    pub dimensions: Vec<usize>,
}

impl Architecture {
    /// Number of hidden layers.
    pub fn hidden_layers(&self) -> usize {
        self.layers - 1
    }

    fn padded_outputs(&self) -> usize {
        self.outputs.next_multiple_of(LANES)
    }

    /// Number of floats in a block of parameters, padding included.
    pub fn block_len(&self) -> usize {
        self.output_bias().start + self.padded_outputs()
    }

    /// Number of floats of activations that a pass keeps for `rows` rows.
    pub fn activations_len(&self, rows: usize) -> usize {
        self.hidden_layers() * rows * self.hidden
    }

    /// Weights and biases of hidden layer `layer` (counted from 0).
    pub(super) fn hidden_part(&self, layer: usize) -> (Range<usize>, Range<usize>) {
        let h = self.hidden;
        if layer == 0 {
            return (0..h, h..2 * h);
        }
        let start = 2 * h + (layer - 1) * (h * h + h);
        (start..start + h * h, start + h * h..start + h * h + h)
    }

    pub(super) fn output_weight(&self) -> Range<usize> {
        match self.hidden_layers() {
            0 => 0..self.outputs,
            hidden_layers => {
                let start = self.hidden_part(hidden_layers - 1).1.end;
                start..start + self.outputs * self.hidden
            }
        }
    }

    pub(super) fn output_bias(&self) -> Range<usize> {
        let start = self.output_weight().end.next_multiple_of(LANES);
        start..start + self.outputs
    }

    /// Weights and biases of every layer, the last one included.
    pub(super) fn layer_parts(&self) -> impl Iterator<Item = (Range<usize>, Range<usize>)> + '_ {
        let hidden = (0..self.hidden_layers()).map(|layer| self.hidden_part(layer));
        hidden.chain([(self.output_weight(), self.output_bias())])
    }

    /// The parts of a block, padding left out, as they are stored in a model file.
    pub fn parts(&self) -> Vec<ParameterPart> {
        let mut parts = Vec::new();
        let mut part = |name: String, range: Range<usize>, dimensions: Vec<usize>| {
            parts.push(ParameterPart { name, range, dimensions });
        };
        for layer in 0..self.hidden_layers() {
            let (weight, bias) = self.hidden_part(layer);
            let dimensions = if layer == 0 { vec![self.hidden] } else { vec![self.hidden, self.hidden] };
            part(format!("layer{layer}.weight"), weight, dimensions);
            part(format!("layer{layer}.bias"), bias, vec![self.hidden]);
        }
        let dimensions = if self.layers == 1 { vec![self.outputs] } else { vec![self.outputs, self.hidden] };
        part("output.weight".to_owned(), self.output_weight(), dimensions);
        part("output.bias".to_owned(), self.output_bias(), vec![self.outputs]);
        parts
    }

    /// Draws the parameters of a network whose outputs start at (almost) nothing.
    ///
    /// First-layer weights and biases are uniform, which spreads the kinks over the scaled inputs; deeper weights
    /// keep the variance of their input (Glorot with gain 1). Only the last layer is scaled down by `output_scale`, so
    /// that thousands of features do not start as noise that training would have to unlearn.
    pub fn initialise(&self, block: &mut [f32], output_scale: f64, random: &mut Stream) {
        block.fill(0.0);
        let mut fill = |range: Range<usize>, scale: f64| {
            block[range].iter_mut().for_each(|w| *w = (scale * (2.0 * random.uniform() - 1.0)) as f32);
        };
        let glorot = |inputs: usize, outputs: usize| (6.0 / (inputs + outputs) as f64).sqrt();
        for layer in 0..self.hidden_layers() {
            let (weight, bias) = self.hidden_part(layer);
            if layer == 0 {
                fill(weight, 1.0);
                fill(bias, 1.0);
            } else {
                fill(weight, glorot(self.hidden, self.hidden));
                fill(bias, 1.0 / (self.hidden as f64).sqrt());
            }
        }
        let inputs = if self.layers == 1 { 1 } else { self.hidden };
        fill(self.output_weight(), output_scale * glorot(inputs, self.outputs));
    }

    /// Makes every output start with `slope * (x + offset)` for `x >= -offset`: the first unit of every layer carries it.
    pub fn add_line(&self, block: &mut [f32], slope: f32, offset: f32) {
        let h = self.hidden;
        for layer in 0..self.hidden_layers() {
            let (weight, bias) = self.hidden_part(layer);
            if layer > 0 {
                (0..h).for_each(|unit| block[weight.start + unit * h] = 0.0);
            }
            block[weight.start] = 1.0;
            block[bias.start] = if layer == 0 { offset } else { 0.0 };
        }
        let per_output = if self.layers == 1 { 1 } else { h };
        block[self.output_weight()].iter_mut().step_by(per_output).for_each(|w| *w = slope);
        if self.layers == 1 {
            block[self.output_bias()].fill(slope * offset);
        }
    }

    /// Multiplies every output of the function that `block` computes by a factor of its own.
    pub fn scale_outputs(&self, block: &mut [f32], factors: &[f32]) {
        for range in [self.output_weight(), self.output_bias()] {
            let per_output = range.len() / self.outputs;
            for (weights, factor) in block[range].chunks_exact_mut(per_output).zip(factors) {
                weights.iter_mut().for_each(|w| *w *= factor);
            }
        }
    }
}

/// Evaluates a network at `inputs`: fills `activations` and `out` (`[rows, outputs]`).
pub(crate) struct Forward<'a> {
    pub architecture: Architecture,
    pub block: &'a [f32],
    pub inputs: &'a [f32],
    /// Dropout masks, `[hidden layers, hidden]`, scaled by `1 / (1 - rate)`.
    pub mask: Option<&'a [f32]>,
    pub activations: &'a mut [f32],
    pub out: &'a mut [f32],
}

impl WithSimd for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Forward { architecture: size, block, inputs, mask, activations, out } = self;
        let (h, rows, outputs) = (size.hidden, inputs.len(), size.outputs);
        let bias = &block[size.output_bias()];
        if size.layers == 1 {
            let weight = &block[size.output_weight()];
            for (out, x) in out.chunks_exact_mut(outputs).zip(inputs) {
                out.iter_mut().zip(weight).zip(bias).for_each(|((out, w), b)| *out = x * w + b);
            }
            return;
        }
        for layer in 0..size.hidden_layers() {
            let (weight, bias) = size.hidden_part(layer);
            let (before, after) = activations.split_at_mut(layer * rows * h);
            let current = &mut after[..rows * h];
            if layer == 0 {
                for (row, x) in current.chunks_exact_mut(h).zip(inputs) {
                    row.copy_from_slice(&block[bias.clone()]);
                    kernel::add_scaled(simd, row, *x, &block[weight.clone()]);
                }
            } else {
                let left = Strided { values: &before[(layer - 1) * rows * h..], row: h, column: 1 };
                kernel::product(simd, current, Start::Row(&block[bias]), left, &block[weight], h);
            }
            kernel::rectify(simd, current, mask.map(|mask| &mask[layer * h..][..h]));
        }
        let last = &activations[(size.hidden_layers() - 1) * rows * h..][..rows * h];
        let weight = &block[size.output_weight()];
        for (out, row) in out.chunks_exact_mut(outputs).zip(last.chunks_exact(h)) {
            for ((out, weight), bias) in out.iter_mut().zip(weight.chunks_exact(h)).zip(bias) {
                *out = bias + kernel::dot(simd, row, weight);
            }
        }
    }
}

/// Takes the gradient `out_gradient` of the outputs (`[rows, outputs]`) back to the parameters: overwrites `gradient`.
pub(crate) struct Backward<'a> {
    pub architecture: Architecture,
    pub block: &'a [f32],
    pub inputs: &'a [f32],
    pub mask: Option<&'a [f32]>,
    pub activations: &'a [f32],
    pub out_gradient: &'a [f32],
    pub gradient: &'a mut [f32],
    pub scratch: &'a mut BackwardScratch,
}

/// Working memory of [`Backward`], kept between calls.
#[derive(Default)]
pub(crate) struct BackwardScratch {
    rows: [Vec<f32>; 2],
    transposed: Vec<f32>,
}

impl WithSimd for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Backward { architecture: size, block, inputs, mask, activations, out_gradient, gradient, scratch } = self;
        let (h, rows, outputs) = (size.hidden, inputs.len(), size.outputs);
        gradient.fill(0.0);
        for row in out_gradient.chunks_exact(outputs) {
            gradient[size.output_bias()].iter_mut().zip(row).for_each(|(sum, g)| *sum += g);
        }
        if size.layers == 1 {
            let gradient = &mut gradient[size.output_weight()];
            for (row, x) in out_gradient.chunks_exact(outputs).zip(inputs) {
                gradient.iter_mut().zip(row).for_each(|(sum, g)| *sum += x * g);
            }
            return;
        }
        scratch.rows.iter_mut().for_each(|buffer| buffer.resize(rows * h, 0.0));
        let [delta, previous] = &mut scratch.rows;
        let (mut delta, mut previous) = (&mut delta[..], &mut previous[..]);

        let last = &activations[(size.hidden_layers() - 1) * rows * h..][..rows * h];
        let weight = &block[size.output_weight()];
        let weight_gradient = &mut gradient[size.output_weight()];
        for (r, row_gradient) in out_gradient.chunks_exact(outputs).enumerate() {
            let delta = &mut delta[r * h..][..h];
            delta.fill(0.0);
            for (c, g) in row_gradient.iter().enumerate().filter(|(_, g)| **g != 0.0) {
                kernel::add_scaled(simd, delta, *g, &weight[c * h..][..h]);
                kernel::add_scaled(simd, &mut weight_gradient[c * h..][..h], *g, &last[r * h..][..h]);
            }
        }
        for layer in (0..size.hidden_layers()).rev() {
            let output = &activations[layer * rows * h..][..rows * h];
            kernel::rectify_gradient(simd, delta, output, mask.map(|mask| &mask[layer * h..][..h]));
            let (weight, bias) = size.hidden_part(layer);
            for row in delta.chunks_exact(h) {
                kernel::add_scaled(simd, &mut gradient[bias.clone()], 1.0, row);
            }
            if layer == 0 {
                for (row, x) in delta.chunks_exact(h).zip(inputs) {
                    kernel::add_scaled(simd, &mut gradient[weight.clone()], *x, row);
                }
                return;
            }
            let below = &activations[(layer - 1) * rows * h..][..rows * h];
            let left = Strided { values: below, row: 1, column: h };
            kernel::product(simd, &mut gradient[weight.clone()], Start::Zero, left, delta, h);
            let weight = &block[weight];
            if rows <= FEW_ROWS {
                for (previous, row) in previous.chunks_exact_mut(h).zip(delta.chunks_exact(h)) {
                    for (previous, weight) in previous.iter_mut().zip(weight.chunks_exact(h)) {
                        *previous = kernel::dot(simd, weight, row);
                    }
                }
            } else {
                scratch.transposed.resize(h * h, 0.0);
                for (i, row) in weight.chunks_exact(h).enumerate() {
                    row.iter().enumerate().for_each(|(o, w)| scratch.transposed[o * h + i] = *w);
                }
                let left = Strided { values: delta, row: h, column: 1 };
                kernel::product(simd, previous, Start::Zero, left, &scratch.transposed, h);
            }
            std::mem::swap(&mut delta, &mut previous);
        }
    }
}
