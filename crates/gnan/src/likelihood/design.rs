//! The design matrix: what every item has of every coefficient, in sparse rows.

use std::ops::Range;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

use super::matrix::{TILE, Tiles};
use super::vector::add_multiple;

/// Rows that are made dense at a time.
const DENSE_ROWS: usize = 256;
/// Columns with more than this share of entries other than 0 are multiplied densely.
const DENSE: f64 = 0.15;
/// Columns that few rows have whose products are summed up at a time.
const SPARSE_COLUMNS: usize = 384;
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

/// Columns by how many rows have them: those that many have first.
struct ColumnPlaces {
    /// Columns that many rows have, ascending.
    dense: Vec<usize>,
    /// All others, ascending.
    sparse: Vec<usize>,
    /// The place of every column among those, one after the other.
    of: Vec<usize>,
}

impl ColumnPlaces {
    fn new(design: &Design) -> ColumnPlaces {
        let mut counts = vec![0usize; design.columns];
        design.index.iter().for_each(|column| counts[*column as usize] += 1);
        let least = DENSE * design.rows() as f64;
        let (dense, sparse): (Vec<usize>, Vec<usize>) =
            (0..design.columns).partition(|column| counts[*column] as f64 > least);
        let mut of = vec![0; design.columns];
        dense.iter().chain(&sparse).enumerate().for_each(|(place, column)| of[*column] = place);
        ColumnPlaces { dense, sparse, of }
    }
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
    /// multiples of the number of columns. Columns that many rows have are multiplied densely, the others entry by entry.
    pub fn add_gram(&self, weights: &[f64], to: &mut Tiles, first: [usize; 2]) {
        let places = ColumnPlaces::new(self);
        let dense = places.dense.len();
        for start in (0..self.rows()).step_by(DENSE_ROWS).filter(|_| dense > 0) {
            let plain = self.dense_rows(&places, start);
            let weighted = Mat::from_fn(dense, plain.ncols(), |row, item| plain[(row, item)] * weights[start + item]);
            to.each_tile(|row, column, tile| {
                let Some((rows, across)) = self.within(tile, [row, column], first) else { return };
                let cut = |range: &Range<usize>| {
                    let at = |bound: usize| places.dense.partition_point(|column| *column < bound);
                    (at(range.start), at(range.end) - at(range.start))
                };
                let ((down, rows), (across, count)) = (cut(&rows), cut(&across));
                let (left, right) = (weighted.as_ref().subrows(down, rows), plain.as_ref().subrows(across, count));
                if rows == 0 || count == 0 {
                    return;
                }
                // Columns that follow one another are added where they belong at once.
                let follow =
                    |first: usize, count: usize| places.dense[first + count - 1] - places.dense[first] == count - 1;
                if follow(down, rows) && follow(across, count) {
                    let at = [places.dense[down] + first[0] - row, places.dense[across] + first[1] - column];
                    let to = tile.as_mut().submatrix_mut(at[0], at[1], rows, count);
                    matmul(to, Accum::Add, left, right.transpose(), 1.0, Par::Seq);
                    return;
                }
                let mut product: Mat<f64> = Mat::zeros(rows, count);
                matmul(product.as_mut(), Accum::Replace, left, right.transpose(), 1.0, Par::Seq);
                for j in 0..count {
                    let place = places.dense[across + j] + first[1] - column;
                    for i in 0..rows {
                        tile[(places.dense[down + i] + first[0] - row, place)] += product[(i, j)];
                    }
                }
            });
        }
        for some in places.sparse.chunks(SPARSE_COLUMNS) {
            self.add_sparse_gram(&places, some, weights, to, first);
        }
    }

    /// Adds what belongs to some of the columns that few rows have, in the rows and in the columns of the matrix.
    fn add_sparse_gram(
        &self,
        places: &ColumnPlaces,
        some: &[usize],
        weights: &[f64],
        to: &mut Tiles,
        first: [usize; 2],
    ) {
        let (dense, order) = (places.dense.len(), self.columns);
        let mut products = vec![0.0; some.len() * order];
        let (from, end) = (places.of[some[0]], places.of[some[0]] + some.len());
        for start in (0..self.rows()).step_by(DENSE_ROWS) {
            let plain = self.dense_rows(places, start);
            // The weighted entries of every column, by row.
            let mut own: Vec<Vec<(usize, f64)>> = vec![Vec::new(); some.len()];
            let rows = DENSE_ROWS.min(self.rows() - start);
            let few: Vec<Vec<(usize, f64)>> = (0..rows)
                .map(|item| {
                    let placed = self.row(start + item).map(|(column, value)| (places.of[column], value));
                    placed.filter(|(place, _)| *place >= dense).collect()
                })
                .collect();
            for (item, few) in few.iter().enumerate().filter(|(item, _)| weights[start + item] != 0.0) {
                for (place, value) in few.iter().filter(|(place, _)| (from..end).contains(place)) {
                    own[place - from].push((item, weights[start + item] * value));
                }
            }
            products.par_chunks_mut(order).zip(&own).for_each(|(product, own)| {
                let (of_dense, of_sparse) = product.split_at_mut(dense);
                for (item, weighted) in own {
                    let values = if dense > 0 { plain.col_as_slice(*item) } else { &[] };
                    add_multiple(of_dense, *weighted, values);
                    few[*item].iter().for_each(|(place, value)| of_sparse[place - dense] += weighted * value);
                }
            });
        }
        let product = |of: usize, with: usize| products[(of - from) * order + with];
        to.each_tile(|row, column, tile| {
            let Some((rows, columns)) = self.within(tile, [row, column], first) else { return };
            for across in columns {
                let across_place = places.of[across];
                for down in rows.clone() {
                    let down_place = places.of[down];
                    let sum = match ((from..end).contains(&across_place), (from..end).contains(&down_place)) {
                        (true, _) => product(across_place, down_place),
                        // What two columns have together that few rows have is added once.
                        (false, true) if across_place < dense => product(down_place, across_place),
                        _ => continue,
                    };
                    tile[(down + first[0] - row, across + first[1] - column)] += sum;
                }
            }
        });
    }

    /// The columns of the design that a tile of a matrix holds, in its rows and in its columns, where the part of the design begins at
    /// `first`.
    fn within(&self, tile: &Mat<f64>, at: [usize; 2], first: [usize; 2]) -> Option<(Range<usize>, Range<usize>)> {
        let cut = |start: usize, size: usize, first: usize| {
            let (start, end) = (start.max(first), (start + size).min(first + self.columns));
            (start < end).then(|| start - first..end - first)
        };
        Some((cut(at[0], tile.nrows(), first[0])?, cut(at[1], tile.ncols(), first[1])?))
    }

    /// Some rows of the columns that many have, `[columns, rows]`.
    fn dense_rows(&self, places: &ColumnPlaces, start: usize) -> Mat<f64> {
        let count = DENSE_ROWS.min(self.rows() - start);
        let mut found = Mat::zeros(places.dense.len(), count);
        for item in 0..count {
            let placed = self.row(start + item).map(|(column, value)| (places.of[column], value));
            placed
                .filter(|(place, _)| *place < places.dense.len())
                .for_each(|(place, value)| found[(place, item)] = value);
        }
        found
    }

    /// The memory that an estimate takes, in bytes, besides the design: the matrix of second derivatives, the same with penalties, its
    /// factor and the root of the inverse.
    pub fn fit_bytes(columns: usize, outputs: usize) -> u64 {
        4 * Tiles::bytes(columns * outputs) + ((2 * DENSE_ROWS + SPARSE_COLUMNS) * columns + TILE) as u64 * 8
    }
}
