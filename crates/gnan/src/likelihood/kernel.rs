//! Kernels: what items have in common, products of what they have of some numbers.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

/// Columns that one thread computes.
const TILE: usize = 128;

/// A sum of `strength X X'` over sets of numbers `X` that items have, in tiles of columns: the same on any number of threads.
pub struct Kernel {
    items: usize,
    tiles: Vec<Mat<f64>>,
}

impl Kernel {
    /// That of items that have nothing.
    pub fn new(items: usize) -> Kernel {
        let tile = |first: usize| Mat::zeros(items, TILE.min(items - first));
        Kernel { items, tiles: (0..items).step_by(TILE).map(tile).collect() }
    }

    /// Adds what items have in common of some numbers, `[numbers, items]`.
    pub fn add(&mut self, numbers: MatRef<'_, f64>, strength: f64) {
        self.tiles.par_iter_mut().enumerate().for_each(|(place, tile)| {
            let right = numbers.subcols(place * TILE, tile.ncols());
            matmul(tile.as_mut(), Accum::Add, numbers.transpose(), right, strength, Par::Seq);
        });
    }

    /// The sum, `[items, items]`.
    pub fn matrix(&self) -> Mat<f64> {
        Mat::from_fn(self.items, self.items, |i, j| self.tiles[j / TILE][(i, j % TILE)])
    }
}
