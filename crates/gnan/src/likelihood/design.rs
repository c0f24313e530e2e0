//! The design matrix: what every item has of every coefficient, in sparse rows.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

use super::matrix::{TILE, Tiles};

/// Rows that are made dense at a time.
const DENSE_ROWS: usize = 256;
/// From this share of entries other than 0 products are computed densely.
const DENSE: f64 = 0.15;
/// Parts into which sums over rows are divided, whatever the number of threads.
const PARTS: usize = 16;

/// A matrix of items by coefficients.
#[derive(Clone, Debug)]
pub struct Design {
    columns: usize,
    offsets: Vec<usize>,
    index: Vec<u32>,
    values: Vec<f64>,
}

impl Design {
    /// A matrix of so many columns without rows.
    pub fn new(columns: usize) -> Design {
        Design { columns, offsets: vec![0], index: Vec::new(), values: Vec::new() }
    }

    /// Adds a row; columns must ascend.
    pub fn push(&mut self, terms: impl IntoIterator<Item = (usize, f64)>) {
        for (column, value) in terms {
            debug_assert!(column < self.columns);
            self.index.push(column as u32);
            self.values.push(value);
        }
        self.offsets.push(self.index.len());
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Number of columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// The entries of a row that are not 0.
    pub fn row(&self, row: usize) -> impl Iterator<Item = (usize, f64)> + Clone + '_ {
        let range = self.offsets[row]..self.offsets[row + 1];
        let index = self.index[range.clone()].iter().map(|column| *column as usize);
        index.zip(self.values[range].iter().copied())
    }

    /// Multiplies every column by a factor.
    pub fn scale_columns(&mut self, factors: &[f64]) {
        let values = self.values.iter_mut().zip(&self.index);
        values.for_each(|(value, column)| *value *= factors[*column as usize]);
    }

    /// Mean and variance of every column over the rows.
    pub fn moments(&self) -> Vec<(f64, f64)> {
        let rows = self.rows().max(1) as f64;
        let mut moments = vec![(0.0, 0.0); self.columns];
        for (column, value) in self.index.iter().zip(&self.values) {
            let (sum, squares) = &mut moments[*column as usize];
            *sum += value;
            *squares += value * value;
        }
        let finished = |(sum, squares): (f64, f64)| {
            let mean = sum / rows;
            (mean, (squares / rows - mean * mean).max(0.0))
        };
        moments.into_iter().map(finished).collect()
    }

    /// `X b`.
    pub fn times(&self, coefficients: &[f64]) -> Vec<f64> {
        let product = |row: usize| self.row(row).map(|(column, value)| value * coefficients[column]).sum();
        (0..self.rows()).into_par_iter().map(product).collect()
    }

    /// `X' r`.
    pub fn transposed_times(&self, rows: &[f64]) -> Vec<f64> {
        let size = self.rows().div_ceil(PARTS).max(1);
        let part = |start: usize| {
            let mut sums = vec![0.0; self.columns];
            for row in start..self.rows().min(start + size) {
                if rows[row] != 0.0 {
                    self.row(row).for_each(|(column, value)| sums[column] += rows[row] * value);
                }
            }
            sums
        };
        let starts: Vec<usize> = (0..self.rows()).step_by(size).collect();
        let parts: Vec<Vec<f64>> = starts.into_par_iter().map(part).collect();
        let mut sums = vec![0.0; self.columns];
        parts.iter().for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, part)| *sum += part));
        sums
    }

    /// Adds `X' W X` for a diagonal of weights to the part of a matrix that begins at a row and a column, both of which are
    /// multiples of the number of columns.
    pub fn add_gram(&self, weights: &[f64], to: &mut Tiles, [first_row, first_column]: [usize; 2]) {
        let entries = self.index.len() as f64;
        if entries > DENSE * self.rows() as f64 * self.columns as f64 {
            return self.add_dense_gram(weights, to, [first_row, first_column]);
        }
        to.each_tile(|row, column, tile| {
            let within = |first: usize, size: usize, offset: usize| {
                let (start, end) = (first.max(offset), (first + size).min(offset + self.columns));
                (start < end).then(|| (start - offset) as u32..(end - offset) as u32)
            };
            let Some(rows) = within(row, tile.nrows(), first_row) else { return };
            let Some(columns) = within(column, tile.ncols(), first_column) else { return };
            for item in 0..self.rows() {
                let range = self.offsets[item]..self.offsets[item + 1];
                let (index, values) = (&self.index[range.clone()], &self.values[range]);
                let cut = |bound: u32| index.partition_point(|column| *column < bound);
                let (from, to) = (cut(rows.start), cut(rows.end));
                if from == to || weights[item] == 0.0 {
                    continue;
                }
                let (across_from, across_to) = (cut(columns.start), cut(columns.end));
                for at in across_from..across_to {
                    let weighted = weights[item] * values[at];
                    let place = index[at] as usize + first_column - column;
                    for down in from..to {
                        tile[(index[down] as usize + first_row - row, place)] += weighted * values[down];
                    }
                }
            }
        });
    }

    fn add_dense_gram(&self, weights: &[f64], to: &mut Tiles, [first_row, first_column]: [usize; 2]) {
        for start in (0..self.rows()).step_by(DENSE_ROWS) {
            let count = DENSE_ROWS.min(self.rows() - start);
            let mut plain: Mat<f64> = Mat::zeros(count, self.columns);
            let mut weighted: Mat<f64> = Mat::zeros(count, self.columns);
            for item in 0..count {
                for (column, value) in self.row(start + item) {
                    plain[(item, column)] = value;
                    weighted[(item, column)] = weights[start + item] * value;
                }
            }
            to.each_tile(|row, column, tile| {
                let within = |first: usize, size: usize, offset: usize| {
                    let (start, end) = (first.max(offset), (first + size).min(offset + self.columns));
                    (start < end).then(|| (start, end - start))
                };
                let Some((down, rows)) = within(row, tile.nrows(), first_row) else { return };
                let Some((across, columns)) = within(column, tile.ncols(), first_column) else { return };
                let left = weighted.as_ref().subcols(down - first_row, rows);
                let right = plain.as_ref().subcols(across - first_column, columns);
                let own = tile.as_mut().submatrix_mut(down - row, across - column, rows, columns);
                matmul(own, Accum::Add, left.transpose(), right, 1.0, Par::Seq);
            });
        }
    }

    /// The memory that an estimate takes, in bytes, besides the design: the matrix of second derivatives, its factor and the
    /// root of the inverse.
    pub fn fit_bytes(columns: usize, outputs: usize) -> u64 {
        3 * Tiles::bytes(columns * outputs) + (2 * DENSE_ROWS * columns + TILE) as u64 * 8
    }
}
