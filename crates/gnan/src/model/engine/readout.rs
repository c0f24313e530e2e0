//! The readout of a graph task: `y[i, c] = sum over parts k of g_k[c](H[i, k])`.
//!
//! A part is a feature, or the structure (part 0); `H[i, k] = gain * sum over the cells of k of Q_i[cell] * P[cell]` is its
//! sum over the receivers of a graph. Its gradient goes through every `g_k` back to the products `P`.

use crate::shape::{Bank, BankSpec, EvalPoints};
use crate::statistics::{CellRows, Statistics};

/// The readout functions as they are at this step, and which part every cell belongs to.
pub(super) struct Readout {
    spec: BankSpec,
    functions: Bank,
    part_of_cell: Vec<u32>,
    outputs: usize,
}

/// `H` of every part of some items: where the functions are evaluated, and the gradient of the results.
pub(super) struct BatchReadout {
    /// Part after part, item after item.
    pub points: EvalPoints,
    pub gradient: Vec<f32>,
}

impl Readout {
    pub(super) fn new(spec: BankSpec, outputs: usize, statistics: &Statistics) -> Readout {
        let levels = &statistics.levels;
        let part = |unit: &u32| levels.feature_of(*unit).map_or(0, |feature| feature as u32 + 1);
        let part_of_cell = statistics.cells.units.iter().map(part).collect();
        Readout { functions: Bank::zeros(&spec), spec, part_of_cell, outputs }
    }

    /// Number of outputs.
    pub(super) fn output_count(&self) -> usize {
        self.outputs
    }

    /// Takes over the functions.
    pub(super) fn fill(&mut self, functions: &Bank) {
        self.functions.copy_from(functions);
    }

    /// Working memory for the outputs of so many items.
    pub(super) fn items(&self, count: usize) -> BatchReadout {
        let points = EvalPoints::new(&self.spec, &vec![vec![0.0; count]; self.spec.len()]);
        BatchReadout { gradient: vec![0.0; points.len() * self.outputs], points }
    }

    /// `out[i, c] = sum_k g_k[c](gain * sum of Q_i[cell] * P[cell] over the cells of k)`
    pub(super) fn outputs(
        &self,
        rows: &CellRows,
        products: &[f32],
        gain: f32,
        items: &mut BatchReadout,
        out: &mut [f32],
    ) {
        let (count, parts) = (rows.len(), self.spec.len());
        let mut sums = vec![0.0f64; parts];
        for item in 0..count {
            sums.fill(0.0);
            let (cells, weights) = rows.row(item);
            for (cell, weight) in cells.iter().zip(weights) {
                let part = self.part_of_cell[*cell as usize] as usize;
                sums[part] += f64::from(*weight) * f64::from(products[*cell as usize]);
            }
            let inputs = &mut items.points.inputs;
            sums.iter().enumerate().for_each(|(part, sum)| inputs[part * count + item] = gain * *sum as f32);
        }
        self.functions.forward(&mut items.points, false);
        out.fill(0.0);
        for of_part in items.points.outputs.chunks_exact((count * self.outputs).max(1)) {
            out.iter_mut().zip(of_part).for_each(|(sum, y)| *sum += y);
        }
    }

    /// From outputs to the gradient of every product; that of the functions stays with the items.
    pub(super) fn product_gradients(
        &self,
        rows: &CellRows,
        out_gradient: &[f32],
        gain: f32,
        items: &mut BatchReadout,
        gradient: &mut [f32],
    ) {
        for of_part in items.gradient.chunks_exact_mut(out_gradient.len().max(1)) {
            of_part.copy_from_slice(out_gradient);
        }
        let input_gradients = self.functions.input_gradients(&items.points, &items.gradient);
        gradient.fill(0.0);
        for item in 0..rows.len() {
            let (cells, weights) = rows.row(item);
            for (cell, weight) in cells.iter().zip(weights) {
                let part = self.part_of_cell[*cell as usize] as usize;
                gradient[*cell as usize] += gain * weight * input_gradients[part * rows.len() + item];
            }
        }
    }
}
