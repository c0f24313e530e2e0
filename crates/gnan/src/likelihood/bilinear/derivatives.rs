//! What parameters predict, how likely that makes targets, and the derivatives of both.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::super::family::Derivatives;
use super::super::left_out::LeftOutItem;
use super::super::matrix::{InverseRoot, Tiles};
use super::{BilinearProblem, BilinearState};

/// Items whose derivatives are multiplied at a time.
pub(super) const ITEMS: usize = 256;

impl BilinearState<'_> {
    /// What every column is multiplied by.
    pub(super) fn coefficients(&self, own: &[f64]) -> Vec<f64> {
        let products = self.problem.products.iter().map(|product| own[product.value] * own[product.point]);
        std::iter::once(own[0]).chain(products).collect()
    }

    pub(super) fn predict(&self, parameters: &[f64]) -> Vec<Vec<f64>> {
        let outputs = parameters.chunks_exact(self.problem.parameters);
        outputs.map(|own| self.problem.design.times(&self.coefficients(own))).collect()
    }

    /// The derivatives of the outputs of an item by all parameters, `[outputs, parameters]`.
    pub(super) fn item_derivatives(&self, item: usize, found: &mut [f64]) {
        let count = self.problem.parameters;
        found.fill(0.0);
        for (output, found) in found.chunks_exact_mut(count).enumerate() {
            let own = &self.parameters[output * count..][..count];
            for (column, value) in self.problem.design.row(item) {
                match column.checked_sub(1).map(|product| self.problem.products[product]) {
                    None => found[0] += value,
                    Some(product) => {
                        found[product.value] += value * own[product.point];
                        found[product.point] += value * own[product.value];
                    }
                }
            }
        }
        found.iter_mut().zip(&self.known).filter(|(_, known)| **known).for_each(|(entry, _)| *entry = 0.0);
    }

    /// First and second derivatives of the log-likelihood of every item by its outputs, `[outputs][items]` and
    /// `[outputs * outputs][items]`.
    pub(super) fn derivatives(&self) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
        let BilinearProblem { family, targets, weights, offset, .. } = self.problem;
        let items = targets.len();
        let (mut first, mut second) =
            (vec![vec![0.0; items]; self.outputs], vec![vec![0.0; items]; self.outputs * self.outputs]);
        let mut found = Derivatives::default();
        for item in (0..items).filter(|item| weights[*item] != 0.0) {
            let own: Vec<f64> = self.predicted.iter().map(|all| all[item] + offset).collect();
            family.derivatives(&own, targets[item], self.variance, &mut found);
            first.iter_mut().zip(&found.first).for_each(|(all, one)| all[item] = weights[item] * one);
            second.iter_mut().zip(&found.second).for_each(|(all, one)| all[item] = weights[item] * one);
        }
        (first, second)
    }

    /// `J' W J`; `None` where it is not finite.
    pub(super) fn information(&self) -> Option<Tiles> {
        let (_, weights) = self.derivatives();
        if !weights.iter().flatten().all(|weight| weight.is_finite()) {
            return None;
        }
        let (count, items, outputs) = (self.problem.parameters, self.problem.design.rows(), self.outputs);
        let order = self.parameters.len();
        let mut matrix = Tiles::zeros(order);
        let mut flat = vec![0.0; order * ITEMS.min(items)];
        for start in (0..items).step_by(ITEMS) {
            let size = ITEMS.min(items - start);
            let part = &mut flat[..order * size];
            let columns = part.par_chunks_mut(order).enumerate();
            columns.for_each(|(item, found)| self.item_derivatives(start + item, found));
            let all = MatRef::from_column_major_slice(part, order, size);
            matrix.each_tile(|row, column, tile| {
                // A tile may hold parts of several outputs, each with weights of its own.
                let parts = |first: usize, size: usize| {
                    (0..outputs).filter_map(move |c| {
                        let (start, end) = (first.max(c * count), (first + size).min((c + 1) * count));
                        (start < end).then(|| (c, start, end - start))
                    })
                };
                for (c, down, rows) in parts(row, tile.nrows()) {
                    for (d, across, columns) in parts(column, tile.ncols()) {
                        let weights = &weights[c * outputs + d][start..start + size];
                        let left = all.subrows(down, rows);
                        let left = Mat::from_fn(rows, size, |i, item| left[(i, item)] * weights[item]);
                        let right = all.subrows(across, columns);
                        let to = tile.as_mut().submatrix_mut(down - row, across - column, rows, columns);
                        matmul(to, Accum::Add, left.as_ref(), right.transpose(), 1.0, Par::Seq);
                    }
                }
            });
        }
        Some(matrix)
    }

    pub(super) fn log_likelihood(&self, predicted: &[Vec<f64>]) -> f64 {
        let BilinearProblem { family, targets, weights, offset, .. } = self.problem;
        let mut own = vec![0.0; self.outputs];
        let mut sum = 0.0;
        for item in (0..targets.len()).filter(|item| weights[*item] != 0.0) {
            own.iter_mut().zip(predicted).for_each(|(own, all)| *own = all[item] + offset);
            sum += weights[item] * family.value(&own, targets[item], self.variance);
        }
        sum
    }

    /// The gradient of the penalised log-likelihood, and `X' g` of every output.
    pub(super) fn gradient(&self) -> (Vec<f64>, Vec<Vec<f64>>) {
        let count = self.problem.parameters;
        let (first, _) = self.derivatives();
        let by_column: Vec<Vec<f64>> = first.iter().map(|first| self.problem.design.transposed_times(first)).collect();
        let mut gradient = vec![0.0; self.parameters.len()];
        for (output, slopes) in by_column.iter().enumerate() {
            let own = &self.parameters[output * count..][..count];
            let found = &mut gradient[output * count..][..count];
            found[0] = slopes[0];
            for (product, slope) in self.problem.products.iter().zip(&slopes[1..]) {
                found[product.value] += slope * own[product.point];
                found[product.point] += slope * own[product.value];
            }
        }
        let (penalty, _) = self.penalty_gradient(&self.parameters);
        gradient.iter_mut().zip(penalty).for_each(|(gradient, penalty)| *gradient -= penalty);
        gradient.iter_mut().zip(&self.known).filter(|(_, known)| **known).for_each(|(entry, _)| *entry = 0.0);
        (gradient, by_column)
    }

    /// The loss of every item by a fit without it, the products linear around their estimates.
    pub(super) fn left_out(&self, root: &InverseRoot) -> Vec<f64> {
        let BilinearProblem { family, targets, weights, offset, .. } = self.problem;
        let (outputs, count) = (self.outputs, self.problem.parameters);
        let loss = |item: usize| {
            if weights[item] == 0.0 {
                return 0.0;
            }
            let at: Vec<f64> = self.predicted.iter().map(|all| all[item] + offset).collect();
            let mut found = Derivatives::default();
            family.derivatives(&at, targets[item], self.variance, &mut found);
            let mut slopes = vec![0.0; self.parameters.len()];
            self.item_derivatives(item, &mut slopes);
            let half = |c: usize| {
                let own = (c * count..(c + 1) * count).map(|place| (place, slopes[place]));
                root.times(own.filter(|(_, slope)| *slope != 0.0))
            };
            let halves: Vec<Vec<f64>> = (0..outputs).map(half).collect();
            let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
            let spread: Vec<f64> = (0..outputs * outputs)
                .map(|place| product(&halves[place / outputs], &halves[place % outputs]))
                .collect();
            found.first.iter_mut().chain(&mut found.second).for_each(|entry| *entry *= weights[item]);
            LeftOutItem { family, target: targets[item], dispersion: self.variance }.loss(at, &spread, &found)
        };
        (0..targets.len()).into_par_iter().map(loss).collect()
    }
}
