//! How the outputs of networks change with their inputs, for networks that are composed with other functions.
//!
//! `in_gradient[r] = sum_c out_gradient[r, c] * dy_c/dx(r)`: the deltas of the backward pass, taken one layer further.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::eval_points::EvalPoints;
use super::kernel::{self, Start, Strided};
use super::network::{Architecture, Forward};
use super::networks::Networks;
use super::passes::MOST_ROWS_AT_ONCE;

impl Networks {
    /// The gradient of every input, given that of every output. Dropout has no part in it.
    pub(crate) fn input_gradients(&self, eval_points: &EvalPoints, out_gradient: &[f32]) -> Vec<f32> {
        let size = self.architecture;
        let by_network: Vec<Vec<f32>> = (0..self.blocks.len())
            .into_par_iter()
            .map(|network| {
                let rows = eval_points.rows(network);
                let mut found = vec![0.0; rows.len()];
                for (piece, in_gradient) in found.chunks_mut(MOST_ROWS_AT_ONCE).enumerate() {
                    let start = rows.start + piece * MOST_ROWS_AT_ONCE;
                    let outputs = start * size.outputs..(start + in_gradient.len()) * size.outputs;
                    Arch::new().dispatch(InputGradient {
                        size,
                        block: self.blocks.block(network),
                        inputs: &eval_points.inputs[start..start + in_gradient.len()],
                        out_gradient: &out_gradient[outputs],
                        in_gradient,
                    });
                }
                found
            })
            .collect();
        by_network.concat()
    }
}

struct InputGradient<'a> {
    size: Architecture,
    block: &'a [f32],
    inputs: &'a [f32],
    out_gradient: &'a [f32],
    in_gradient: &'a mut [f32],
}

impl WithSimd for InputGradient<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let InputGradient { size, block, inputs, out_gradient, in_gradient } = self;
        let (h, rows, outputs) = (size.hidden, inputs.len(), size.outputs);
        let weight = &block[size.output_weight()];
        if size.layers == 1 {
            for (in_gradient, row) in in_gradient.iter_mut().zip(out_gradient.chunks_exact(outputs)) {
                *in_gradient = row.iter().zip(weight).map(|(g, w)| g * w).sum();
            }
            return;
        }
        let mut activations = vec![0.0; size.activations_len(rows)];
        let mut out = vec![0.0; rows * outputs];
        let forward =
            Forward { architecture: size, block, inputs, mask: None, activations: &mut activations, out: &mut out };
        forward.with_simd(simd);
        let mut delta = vec![0.0; rows * h];
        for (delta, row) in delta.chunks_exact_mut(h).zip(out_gradient.chunks_exact(outputs)) {
            for (g, weight) in row.iter().zip(weight.chunks_exact(h)) {
                kernel::add_scaled(simd, delta, *g, weight);
            }
        }
        let (mut previous, mut transposed) = (vec![0.0; rows * h], vec![0.0; h * h]);
        for layer in (0..size.hidden_layers()).rev() {
            kernel::rectify_gradient(simd, &mut delta, &activations[layer * rows * h..][..rows * h], None);
            let weight = &block[size.hidden_part(layer).0];
            if layer == 0 {
                for (in_gradient, delta) in in_gradient.iter_mut().zip(delta.chunks_exact(h)) {
                    *in_gradient = kernel::dot(simd, delta, weight);
                }
                return;
            }
            for (i, row) in weight.chunks_exact(h).enumerate() {
                row.iter().enumerate().for_each(|(o, w)| transposed[o * h + i] = *w);
            }
            let left = Strided { values: &delta, row: h, column: 1 };
            kernel::product(simd, &mut previous, Start::Zero, left, &transposed, h);
            std::mem::swap(&mut delta, &mut previous);
        }
    }
}
