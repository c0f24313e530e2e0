//! The sum over cells: `y[i, c] = sum over cells of Q_i[cell] * P[cell, c]`, where `P[(u, l), c] = T[u, c] * rho[r(u), l, c]`.
//!
//! The products `P` are made once per table; every item then gathers those of its cells.

use rayon::prelude::*;

use crate::model::parameters::Parameters;
use crate::statistics::{CellList, CellRows, Statistics};

use super::binding::Binding;
use super::gather::gather_rows;
use super::pieces::UnitRows;
use super::replicate::Replicate;
use super::tables::FunctionTables;

/// Rows that one task handles.
const ROWS_PER_TASK: usize = 512;
/// Cells that one task handles.
const CELLS_PER_TASK: usize = 256;

/// The cells of some items.
pub(super) struct BatchCells {
    pub rows: CellRows,
    /// The same, transposed, where the items are used again and again.
    by_cell: Option<CellRows>,
}

impl BatchCells {
    /// The cells of some rows that are included.
    pub(super) fn new(
        statistics: &Statistics,
        rows: &[usize],
        included: impl Fn(u32) -> bool,
        repeated: bool,
    ) -> BatchCells {
        let rows = statistics.rows.select(rows, included);
        let by_cell = repeated.then(|| rows.transpose(statistics.cells.len()));
        BatchCells { rows, by_cell }
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }
}

/// `P[cell, c]` and its gradient.
pub(super) struct CellTerm {
    lanes: usize,
    pub products: Vec<f32>,
    pub gradient: Vec<f32>,
}

impl CellTerm {
    pub(super) fn new(cells: usize, lanes: usize) -> CellTerm {
        CellTerm { lanes, products: vec![0.0; cells * lanes], gradient: vec![0.0; cells * lanes] }
    }

    /// `P[(u, l), c] = T[u, c] * rho[r(u), l, c]`
    pub(super) fn fill(&mut self, tables: &FunctionTables, binding: &Binding, unit_rows: &UnitRows, cells: &CellList) {
        let lanes = self.lanes;
        for ((product, unit), slot) in self.products.chunks_exact_mut(lanes).zip(&cells.units).zip(&cells.slots) {
            let start = tables.rho_start(binding.rho_of_unit[*unit as usize] as usize, usize::from(*slot));
            let rho = &tables.rhos[start..][..lanes];
            let row = unit_rows.of(*unit);
            for c in 0..lanes {
                product[c] = tables.value(row, c) * rho[c];
            }
        }
    }

    /// From products back to `T` and `rho`.
    pub(super) fn table_gradients(
        &self,
        tables: &FunctionTables,
        binding: &Binding,
        unit_rows: &UnitRows,
        cells: &CellList,
        gradient: &mut FunctionTables,
    ) {
        let lanes = self.lanes;
        for ((product, unit), slot) in self.gradient.chunks_exact(lanes).zip(&cells.units).zip(&cells.slots) {
            let rho = tables.rho_start(binding.rho_of_unit[*unit as usize] as usize, usize::from(*slot));
            let (row, share) = unit_rows.of(*unit);
            for c in 0..lanes {
                let of_value = product[c] * tables.rhos[rho + c];
                gradient.rhos[rho + c] += product[c] * tables.value((row, share), c);
                if share == 0.0 {
                    gradient.units[row * lanes + c] += of_value;
                } else {
                    gradient.units[row * lanes + c] += (1.0 - share) * of_value;
                    gradient.units[(row + 1) * lanes + c] += share * of_value;
                }
            }
        }
    }

    /// Where every level has a rho of its own, what an unseen unit averages is the products, per distance. It is not
    /// trained, so no gradient goes back.
    pub(super) fn average_unseen(
        &mut self,
        tables: &FunctionTables,
        binding: &Binding,
        cells: &CellList,
        parameters: &Parameters,
        replicate: &Replicate,
    ) {
        let (lanes, outputs) = (self.lanes, replicate.lanes.outputs);
        for unseen in binding.unseen.iter().filter(|unseen| !unseen.shares.is_empty()) {
            let start = cells.units.partition_point(|unit| *unit < unseen.unit);
            let end = cells.units.partition_point(|unit| *unit <= unseen.unit);
            for cell in start..end {
                let slot = usize::from(cells.slots[cell]);
                for (c, lane) in replicate.lanes.range().enumerate() {
                    let products = unseen.shares.iter().map(|share| {
                        let rho = f64::from(tables.rhos[tables.rho_start(share.rho, slot) + lane]);
                        share.share * f64::from(parameters.values[share.value * outputs + c]) * rho
                    });
                    self.products[cell * lanes + lane] = products.sum::<f64>() as f32;
                }
            }
        }
    }

    /// `out[i, c] = sum over cells of Q_i[cell] * P[cell, c]`
    pub(super) fn outputs(&self, items: &BatchCells, out: &mut [f32]) {
        let (lanes, products) = (self.lanes, &self.products);
        out.par_chunks_mut(ROWS_PER_TASK * lanes).enumerate().for_each(|(task, out)| {
            let first = task * ROWS_PER_TASK;
            gather_rows(&items.rows, first, products, lanes, out);
        });
    }

    /// `dP[cell, c] = gain * sum_i g[i, c] * Q_i[cell]`
    pub(super) fn product_gradients(&mut self, items: &BatchCells, out_gradient: &[f32], gain: f32) {
        let lanes = self.lanes;
        if let Some(by_cell) = &items.by_cell {
            let work = self.gradient.par_chunks_mut(CELLS_PER_TASK * lanes).enumerate();
            return work.for_each(|(task, gradient)| {
                let first = task * CELLS_PER_TASK;
                gather_rows(by_cell, first, out_gradient, lanes, gradient);
                gradient.iter_mut().for_each(|g| *g *= gain);
            });
        }
        self.gradient.fill(0.0);
        for (row, gradient) in out_gradient.chunks_exact(lanes).enumerate() {
            let (cells, weights) = items.rows.row(row);
            for (cell, weight) in cells.iter().zip(weights) {
                let sum = &mut self.gradient[*cell as usize * lanes..][..lanes];
                for c in 0..lanes {
                    sum[c] += gain * weight * gradient[c];
                }
            }
        }
    }
}
