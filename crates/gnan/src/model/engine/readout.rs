//! The readout of a graph task: `y[i, c] = sum over parts k of g_k[c](H[i, k])`.
//!
//! A part is a feature, or the structure (part 0); `H[i, k] = gain * sum over the cells of k of Q_i[cell] * P[cell]` is
//! what the receivers of a graph hear of it. Its gradient goes through every `g_k` back to the products `P`.

use crate::shape::{Bank, BankForm, Evaluation};
use crate::statistics::{CellRows, Statistics};

/// The readout functions as they are at this step, and which part every cell belongs to.
pub(super) struct Readout {
    form: BankForm,
    functions: Bank,
    part_of_cell: Vec<u32>,
    outputs: usize,
}

/// What is heard of every part of some items: where the functions are evaluated, and the gradient of the results.
pub(super) struct ItemReadout {
    /// Part after part, item after item.
    pub points: Evaluation,
    pub gradient: Vec<f32>,
}

impl Readout {
    pub(super) fn new(form: BankForm, outputs: usize, statistics: &Statistics) -> Readout {
        let levels = statistics.levels();
        let part = |unit: &u32| levels.feature_of(*unit).map_or(0, |feature| feature as u32 + 1);
        let part_of_cell = statistics.cells().units.iter().map(part).collect();
        Readout { functions: Bank::zeros(&form), form, part_of_cell, outputs }
    }

    /// Number of outputs.
    pub(super) fn output_count(&self) -> usize {
        self.outputs
    }

    /// Takes over the functions.
    pub(super) fn fill(&mut self, functions: &Bank) {
        self.functions.copy_from(functions);
    }

    /// Room to compute the outputs of so many items.
    pub(super) fn items(&self, count: usize) -> ItemReadout {
        let points = Evaluation::new(&self.form, &vec![vec![0.0; count]; self.form.len()]);
        ItemReadout { gradient: vec![0.0; points.len() * self.outputs], points }
    }

    /// `out[i, c] = sum_k g_k[c](gain * sum of Q_i[cell] * P[cell] over the cells of k)`
    pub(super) fn outputs(
        &self,
        rows: &CellRows,
        products: &[f32],
        gain: f32,
        items: &mut ItemReadout,
        out: &mut [f32],
    ) {
        let (count, parts) = (rows.len(), self.form.len());
        let mut heard = vec![0.0f64; parts];
        for item in 0..count {
            heard.fill(0.0);
            let (cells, weights) = rows.row(item);
            for (cell, weight) in cells.iter().zip(weights) {
                let part = self.part_of_cell[*cell as usize] as usize;
                heard[part] += f64::from(*weight) * f64::from(products[*cell as usize]);
            }
            let inputs = items.points.inputs_mut();
            heard.iter().enumerate().for_each(|(part, heard)| inputs[part * count + item] = gain * *heard as f32);
        }
        self.functions.forward(&mut items.points, false);
        out.fill(0.0);
        for of_part in items.points.outputs().chunks_exact((count * self.outputs).max(1)) {
            out.iter_mut().zip(of_part).for_each(|(sum, y)| *sum += y);
        }
    }

    /// From outputs to the gradient of every product; that of the functions stays with the items.
    pub(super) fn product_gradients(
        &self,
        rows: &CellRows,
        out_gradient: &[f32],
        gain: f32,
        items: &mut ItemReadout,
        gradient: &mut [f32],
    ) {
        for of_part in items.gradient.chunks_exact_mut(out_gradient.len().max(1)) {
            of_part.copy_from_slice(out_gradient);
        }
        let heard = self.functions.input_gradients(&items.points, &items.gradient);
        gradient.fill(0.0);
        for item in 0..rows.len() {
            let (cells, weights) = rows.row(item);
            for (cell, weight) in cells.iter().zip(weights) {
                let part = self.part_of_cell[*cell as usize] as usize;
                gradient[*cell as usize] += gain * weight * heard[part * rows.len() + item];
            }
        }
    }
}
