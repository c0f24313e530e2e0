//! Symmetric matrices in tiles, their Cholesky factors, and the roots of their inverses.
//!
//! Products of tiles are faer's, on one thread each; tiles are worked on in parallel and every sum runs in a fixed order, so
//! that the number of threads changes no bit.

use faer::linalg::cholesky::llt;
use faer::linalg::matmul::matmul;
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

use super::vector::{add_multiple, dot};

/// Rows and columns of a tile.
pub const TILE: usize = 192;

/// The lower triangle of a symmetric matrix, tile by tile.
#[derive(Clone, Debug)]
pub struct Tiles {
    order: usize,
    /// Tile row after tile row, each up to the diagonal.
    tiles: Vec<Mat<f64>>,
}

/// Where tiles begin and how large they are.
fn tile_count(order: usize) -> usize {
    order.div_ceil(TILE)
}

fn tile_size(order: usize, tile: usize) -> usize {
    TILE.min(order - tile * TILE)
}

fn place(row: usize, column: usize) -> usize {
    row * (row + 1) / 2 + column
}

impl Tiles {
    /// A matrix of zeros.
    pub fn zeros(order: usize) -> Tiles {
        let count = tile_count(order);
        let tile = |row: usize, column: usize| Mat::zeros(tile_size(order, row), tile_size(order, column));
        let tiles = (0..count).flat_map(|row| (0..=row).map(move |column| tile(row, column))).collect();
        Tiles { order, tiles }
    }

    /// The memory that one takes, in bytes.
    pub fn bytes(order: usize) -> u64 {
        let tiles = tile_count(order) as u64;
        tiles * (tiles + 1) / 2 * (TILE * TILE * size_of::<f64>()) as u64
    }

    /// Number of rows.
    pub fn order(&self) -> usize {
        self.order
    }

    /// Adds to an entry at or below the diagonal.
    pub fn add(&mut self, row: usize, column: usize, value: f64) {
        let (row, column) = (row.max(column), row.min(column));
        self.tiles[place(row / TILE, column / TILE)][(row % TILE, column % TILE)] += value;
    }

    /// An entry.
    pub fn get(&self, row: usize, column: usize) -> f64 {
        let (row, column) = (row.max(column), row.min(column));
        self.tiles[place(row / TILE, column / TILE)][(row % TILE, column % TILE)]
    }

    /// Multiplies every entry.
    pub fn scale(&mut self, factor: f64) {
        self.tiles.par_iter_mut().for_each(|tile| *tile *= faer::Scale(factor));
    }

    /// Calls `fill(first row, first column, tile)` for every tile, in parallel.
    pub fn each_tile(&mut self, fill: impl Fn(usize, usize, &mut Mat<f64>) + Sync) {
        let count = tile_count(self.order);
        let places: Vec<(usize, usize)> =
            (0..count).flat_map(|row| (0..=row).map(move |column| (row, column))).collect();
        let tiles = self.tiles.par_iter_mut().zip(places);
        tiles.for_each(|(tile, (row, column))| fill(row * TILE, column * TILE, tile));
    }

    /// The Cholesky factor; `None` where the matrix is not positive definite.
    pub fn factor(mut self) -> Option<Factor> {
        let count = tile_count(self.order);
        for column in 0..count {
            let mut own: Vec<Mat<f64>> =
                (column..count).map(|row| std::mem::replace(&mut self.tiles[place(row, column)], Mat::new())).collect();
            own.par_iter_mut().enumerate().for_each(|(down, tile)| {
                for before in 0..column {
                    let left = &self.tiles[place(column + down, before)];
                    let right = &self.tiles[place(column, before)];
                    matmul(tile.as_mut(), Accum::Add, left.as_ref(), right.transpose(), -1.0, Par::Seq);
                }
            });
            let (diagonal, below) = own.split_first_mut()?;
            factor_tile(diagonal)?;
            let diagonal = &*diagonal;
            // Rows below times the inverse of the transposed diagonal factor.
            below.par_iter_mut().for_each(|tile| {
                solve_lower_triangular_in_place(diagonal.as_ref(), tile.as_mut().transpose_mut(), Par::Seq);
            });
            for (row, tile) in (column..count).zip(own) {
                self.tiles[place(row, column)] = tile;
            }
        }
        Some(Factor(self))
    }
}

/// Factors a tile on the diagonal in place; what is above the diagonal becomes 0.
fn factor_tile(tile: &mut Mat<f64>) -> Option<()> {
    let order = tile.nrows();
    let mut memory = faer::dyn_stack::MemBuffer::new(llt::factor::cholesky_in_place_scratch::<f64>(
        order,
        Par::Seq,
        Default::default(),
    ));
    let stack = faer::dyn_stack::MemStack::new(&mut memory);
    let factored =
        llt::factor::cholesky_in_place(tile.as_mut(), Default::default(), Par::Seq, stack, Default::default());
    factored.ok()?;
    for column in 1..order {
        (0..column).for_each(|row| tile[(row, column)] = 0.0);
    }
    Some(())
}

/// A lower triangular matrix `L` with `A = L L'`.
pub struct Factor(Tiles);

impl Factor {
    /// The logarithm of the determinant of `A`.
    pub fn log_determinant(&self) -> f64 {
        2.0 * (0..self.0.order).map(|place| self.0.get(place, place).ln()).sum::<f64>()
    }

    /// `A^-1 b`, by substitution.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let Tiles { order, tiles } = &self.0;
        let count = tile_count(*order);
        let part = |tile: usize| tile * TILE..tile * TILE + tile_size(*order, tile);
        let mut found = right.to_vec();
        for column in 0..count {
            let diagonal = &tiles[place(column, column)];
            let own = &mut found[part(column)];
            for j in 0..own.len() {
                own[j] /= diagonal[(j, j)];
                let (value, below) = (own[j], &diagonal.col_as_slice(j)[j + 1..]);
                add_multiple(&mut own[j + 1..], -value, below);
            }
            for row in column + 1..count {
                let tile = &tiles[place(row, column)];
                let (known, rest) = found.split_at_mut(row * TILE);
                let rest = &mut rest[..tile.nrows()];
                for (j, value) in known[part(column)].iter().enumerate() {
                    add_multiple(rest, -value, tile.col_as_slice(j));
                }
            }
        }
        for column in (0..count).rev() {
            for row in column + 1..count {
                let tile = &tiles[place(row, column)];
                let (own, known) = found.split_at_mut(row * TILE);
                for (j, x) in own[part(column)].iter_mut().enumerate() {
                    *x -= dot(tile.col_as_slice(j), known);
                }
            }
            let diagonal = &tiles[place(column, column)];
            let own = &mut found[part(column)];
            for j in (0..own.len()).rev() {
                let below = dot(&diagonal.col_as_slice(j)[j + 1..], &own[j + 1..]);
                own[j] = (own[j] - below) / diagonal[(j, j)];
            }
        }
        found
    }

    /// `L^-1`, whose columns give every quadratic form of the inverse: `g' A^-1 g = |L^-1 g|^2`.
    pub fn inverse_root(&self) -> InverseRoot {
        let Tiles { order, tiles } = &self.0;
        let count = tile_count(*order);
        let column = |column: usize| {
            let width = tile_size(*order, column);
            let mut found = Mat::zeros(order - column * TILE, width);
            let diagonal = &tiles[place(column, column)];
            invert_lower_triangular(found.as_mut().subrows_mut(0, width), diagonal.as_ref(), Par::Seq);
            for row in column + 1..count {
                let start = (row - column) * TILE;
                let (above, rest) = found.as_mut().split_at_row_mut(start);
                let mut own = rest.subrows_mut(0, tile_size(*order, row));
                for between in column..row {
                    let known = above.as_ref().subrows((between - column) * TILE, tile_size(*order, between));
                    matmul(own.as_mut(), Accum::Add, tiles[place(row, between)].as_ref(), known, -1.0, Par::Seq);
                }
                solve_lower_triangular_in_place(tiles[place(row, row)].as_ref(), own.as_mut(), Par::Seq);
            }
            found
        };
        InverseRoot { order: *order, columns: (0..count).into_par_iter().map(column).collect() }
    }
}

/// `L^-1`, from its tile columns.
#[derive(Clone, Debug)]
pub struct InverseRoot {
    order: usize,
    /// Every tile column from its diagonal down.
    columns: Vec<Mat<f64>>,
}

impl InverseRoot {
    /// Number of rows.
    pub fn order(&self) -> usize {
        self.order
    }

    /// A column from the first row of its tile down; what stands above the diagonal is 0.
    fn column(&self, column: usize) -> &[f64] {
        self.columns[column / TILE].col_as_slice(column % TILE)
    }

    /// `L^-1 g` for sparse `g`.
    pub fn times(&self, terms: impl IntoIterator<Item = (usize, f64)>) -> Vec<f64> {
        let mut sum = vec![0.0; self.order];
        for (column, weight) in terms {
            let start = column / TILE * TILE;
            add_multiple(&mut sum[start..], weight, self.column(column));
        }
        sum
    }

    /// `L^-1 G` for the columns of a dense matrix.
    pub fn times_dense(&self, dense: &Mat<f64>) -> Mat<f64> {
        let mut product = Mat::zeros(self.order, dense.ncols());
        for (tile, own) in self.columns.iter().enumerate() {
            let factor = dense.as_ref().subrows(tile * TILE, own.ncols());
            let mut below = product.as_mut().subrows_mut(tile * TILE, own.nrows());
            matmul(below.as_mut(), Accum::Add, own.as_ref(), factor, 1.0, Par::Seq);
        }
        product
    }

    /// `g' A^-1 g`.
    pub fn quadratic(&self, terms: impl IntoIterator<Item = (usize, f64)>) -> f64 {
        self.times(terms).iter().map(|value| value * value).sum()
    }

    /// `A^-1 b`.
    pub fn solve(&self, right: &[f64]) -> Vec<f64> {
        let half = self.times(right.iter().copied().enumerate().filter(|(_, value)| *value != 0.0));
        let row = |column: usize| {
            let start = column / TILE * TILE;
            dot(&half[start..], self.column(column))
        };
        (0..self.order).into_par_iter().map(row).collect()
    }

    /// An entry of `A^-1`.
    pub fn inverse(&self, row: usize, column: usize) -> f64 {
        let (one, other) = (row.min(column), row.max(column));
        let (first, second) = (one / TILE * TILE, other / TILE * TILE);
        let below = &self.column(one)[second - first..];
        dot(below, self.column(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// `B B' + I` for a random `B`, densely.
    fn positive(order: usize) -> Vec<Vec<f64>> {
        let mut random = Stream::named(3, "matrix", order as u64);
        let half: Vec<Vec<f64>> = (0..order).map(|_| (0..5).map(|_| random.normal()).collect()).collect();
        let product = |i: usize, j: usize| half[i].iter().zip(&half[j]).map(|(a, b)| a * b).sum::<f64>();
        let entry = |i: usize, j: usize| product(i, j) + f64::from(u8::from(i == j));
        (0..order).map(|i| (0..order).map(|j| entry(i, j)).collect()).collect()
    }

    #[test]
    fn factors_and_inverses_are_those_of_the_matrix() {
        for order in [1, 2, 7, TILE, TILE + 1, 2 * TILE + 30] {
            let dense = positive(order);
            let mut tiles = Tiles::zeros(order);
            (0..order).for_each(|i| (0..=i).for_each(|j| tiles.add(i, j, dense[i][j])));
            let factor = tiles.factor().unwrap();
            let root = factor.inverse_root();
            let right: Vec<f64> = (0..order).map(|i| (i % 7) as f64 - 2.0).collect();
            let solved = root.solve(&right);
            for (a, b) in factor.solve(&right).iter().zip(&solved) {
                assert!((a - b).abs() < 1e-9 * (1.0 + b.abs()), "{order}: {a} {b}");
            }
            for i in 0..order {
                let back: f64 = dense[i].iter().zip(&solved).map(|(a, x)| a * x).sum();
                assert!((back - right[i]).abs() < 1e-8 * order as f64, "{order} {i}: {back}");
            }
            let unit = order / 2;
            let column: Vec<f64> = (0..order).map(|i| root.inverse(i, unit)).collect();
            for i in 0..order {
                let entry: f64 = dense[i].iter().zip(&column).map(|(a, x)| a * x).sum();
                assert!((entry - f64::from(u8::from(i == unit))).abs() < 1e-8 * order as f64, "{order} {i}");
            }
            assert!((root.quadratic([(unit, 2.0)]) - 4.0 * root.inverse(unit, unit)).abs() < 1e-9);
            // |det B B' + I| by elimination without pivots.
            let mut left = dense.clone();
            let mut log = 0.0;
            for k in 0..order {
                log += left[k][k].ln();
                for i in k + 1..order {
                    let share = left[i][k] / left[k][k];
                    for j in k..order {
                        left[i][j] -= share * left[k][j];
                    }
                }
            }
            assert!((factor.log_determinant() - log).abs() < 1e-8 * (1.0 + log.abs()), "{order}");
        }
    }

    #[test]
    fn what_is_not_positive_definite_has_no_factor() {
        let mut tiles = Tiles::zeros(3);
        (0..3).for_each(|i| tiles.add(i, i, if i == 1 { -1.0 } else { 1.0 }));
        assert!(tiles.factor().is_none());
    }
}
