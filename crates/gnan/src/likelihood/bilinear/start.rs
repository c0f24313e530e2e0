//! Where values and curves start: at the best rank-one approximation of effects that are each free.
//!
//! The free effects are those of least squares to the first Newton step of the outputs, by a few steps of conjugate gradients over
//! columns of one spread: few steps shrink as a ridge does, and nothing as large as the number of columns squared is made.

use std::collections::BTreeMap;

use faer::{Mat, Side};

use super::super::design::Design;
use super::super::family::Derivatives;
use super::BilinearProblem;

/// Steps of conjugate gradients.
const STEPS: usize = 8;
/// The least spread of a column, as a share of the largest.
const LEAST_SPREAD: f64 = 1e-3;

/// The first parameters, output after output: values that are 1 are 1. Given the points, all other values start at 0.
pub(super) fn first_parameters(
    problem: &BilinearProblem<'_>,
    moments: &[(f64, f64)],
    dispersion: f64,
    points: Option<&[f64]>,
) -> Vec<f64> {
    let (outputs, count) = (problem.family.outputs(), problem.parameters);
    let mut found = vec![0.0; outputs * count];
    for (output, own) in found.chunks_exact_mut(count).enumerate() {
        problem.ones.iter().for_each(|value| own[*value] = 1.0);
        match points {
            Some(points) => {
                let first = count - points.len();
                own[first..].copy_from_slice(points);
            }
            None => {
                let effects = free_effects(problem, moments, &first_steps(problem, output, dispersion));
                rank_one(problem, moments, &effects, own);
            }
        }
    }
    found
}

/// What outputs of 0 lack of where the likelihood of every item is largest, about: `g_i` over the mean of `W_i`.
fn first_steps(problem: &BilinearProblem<'_>, output: usize, dispersion: f64) -> Vec<f64> {
    let BilinearProblem { family, targets, weights, offset, .. } = *problem;
    let outputs = family.outputs();
    let at = vec![offset; outputs];
    let mut found = Derivatives::default();
    let (mut first, mut second, mut total) = (vec![0.0; targets.len()], 0.0, 0.0);
    for item in (0..targets.len()).filter(|item| weights[*item] != 0.0) {
        family.derivatives(&at, targets[item], dispersion, &mut found);
        first[item] = found.first[output];
        second += weights[item] * found.second[output * outputs + output];
        total += weights[item];
    }
    let mean = second / f64::max(total, f64::MIN_POSITIVE);
    let scale = if mean > 0.0 && mean.is_finite() { 1.0 / mean } else { 0.0 };
    first.iter().map(|slope| slope * scale).collect()
}

/// The columns of a design less their weighted means, each divided by its spread; the intercept is left out.
struct StandardColumns<'a> {
    design: &'a Design,
    weights: &'a [f64],
    total: f64,
    means: Vec<f64>,
    factors: Vec<f64>,
}

impl StandardColumns<'_> {
    /// `Z b`.
    fn times(&self, b: &[f64]) -> Vec<f64> {
        let scaled: Vec<f64> = b.iter().zip(&self.factors).map(|(b, factor)| b * factor).collect();
        let mean: f64 = scaled.iter().zip(&self.means).map(|(b, mean)| b * mean).sum();
        self.design.times(&scaled).into_iter().map(|value| value - mean).collect()
    }

    /// `Z' W r`.
    fn transposed_times(&self, rows: &[f64]) -> Vec<f64> {
        let weighted: Vec<f64> = rows.iter().zip(self.weights).map(|(row, weight)| row * weight).collect();
        let sum: f64 = weighted.iter().sum();
        let mut found = self.design.transposed_times(&weighted);
        for ((found, mean), factor) in found.iter_mut().zip(&self.means).zip(&self.factors) {
            *found = (*found - sum * mean) * factor;
        }
        found
    }

    /// `r' W r`.
    fn square(&self, rows: &[f64]) -> f64 {
        rows.iter().zip(self.weights).map(|(row, weight)| weight * row * row).sum()
    }
}

/// The effects of all columns that bring outputs near `wanted`, by conjugate gradients on the normal equations.
fn free_effects(problem: &BilinearProblem<'_>, moments: &[(f64, f64)], wanted: &[f64]) -> Vec<f64> {
    let spreads: Vec<f64> = moments.iter().map(|(_, variance)| variance.sqrt()).collect();
    let largest = spreads[1..].iter().copied().fold(0.0, f64::max);
    let mut factors: Vec<f64> =
        spreads.iter().map(|spread| if *spread > LEAST_SPREAD * largest { 1.0 / spread } else { 0.0 }).collect();
    factors[0] = 0.0;
    let (design, weights) = (problem.design, problem.weights);
    let total = f64::max(weights.iter().sum(), f64::MIN_POSITIVE);
    let means = design.transposed_times(weights).into_iter().map(|sum| sum / total).collect();
    let columns = StandardColumns { design, weights, total, means, factors };
    let mean = wanted.iter().zip(weights).map(|(wanted, weight)| wanted * weight).sum::<f64>() / columns.total;
    let mut left: Vec<f64> = wanted.iter().map(|wanted| wanted - mean).collect();
    let mut found = vec![0.0; design.columns()];
    let mut slope = columns.transposed_times(&left);
    let mut direction = slope.clone();
    let square = |values: &[f64]| values.iter().map(|value| value * value).sum::<f64>();
    let mut steep = square(&slope);
    for _ in 0..STEPS {
        let along = columns.times(&direction);
        let curvature = columns.square(&along);
        if curvature.is_nan() || curvature <= 0.0 || steep <= 0.0 {
            break;
        }
        let length = steep / curvature;
        found.iter_mut().zip(&direction).for_each(|(found, step)| *found += length * step);
        left.iter_mut().zip(&along).for_each(|(left, along)| *left -= length * along);
        slope = columns.transposed_times(&left);
        let next = square(&slope);
        direction.iter_mut().zip(&slope).for_each(|(step, slope)| *step = slope + next / steep * *step);
        steep = next;
    }
    found.iter().zip(&columns.factors).map(|(found, factor)| found * factor).collect()
}

/// The values and points whose products are nearest to these effects, columns counting by their spread: the first singular vectors
/// of every set of points.
fn rank_one(problem: &BilinearProblem<'_>, moments: &[(f64, f64)], effects: &[f64], own: &mut [f64]) {
    let mut sets: Vec<Option<usize>> = vec![None; problem.parameters];
    for (set, points) in problem.curves.iter().enumerate() {
        points.iter().for_each(|point| sets[*point] = Some(set));
    }
    // Values that are 1 leave their effects to the points.
    for (column, product) in problem.products.iter().enumerate() {
        if problem.ones.contains(&product.value) {
            own[product.point] = effects[column + 1];
        }
    }
    for (set, points) in problem.curves.iter().enumerate() {
        let mut columns: Vec<(usize, usize, usize)> = Vec::new();
        let mut values: BTreeMap<usize, usize> = BTreeMap::new();
        for (column, product) in problem.products.iter().enumerate().filter(|(_, own)| sets[own.point] == Some(set)) {
            let count = values.len();
            let value = *values.entry(product.value).or_insert(count);
            let point = points.iter().position(|point| *point == product.point).unwrap_or(0);
            columns.push((value, point, column + 1));
        }
        // How much every value and every point counts: the mean root of the spread of its columns.
        let (mut of_value, mut of_point) = (vec![(0.0, 0.0); values.len()], vec![(0.0, 0.0); points.len()]);
        for (value, point, column) in &columns {
            let spread = moments[*column].1.powf(0.25);
            for sum in [&mut of_value[*value], &mut of_point[*point]] {
                *sum = (sum.0 + spread, sum.1 + 1.0);
            }
        }
        let means = |sums: Vec<(f64, f64)>| -> Vec<f64> {
            sums.into_iter().map(|(sum, count): (f64, f64)| (sum / count.max(1.0)).max(1e-9)).collect()
        };
        let (of_value, of_point) = (means(of_value), means(of_point));
        let mut table: Mat<f64> = Mat::zeros(points.len(), values.len());
        for (value, point, column) in &columns {
            table[(*point, *value)] = effects[*column] * of_value[*value] * of_point[*point];
        }
        let squares = &table * table.transpose();
        let Ok(eigen) = squares.self_adjoint_eigen(Side::Lower) else { continue };
        let last = points.len().saturating_sub(1);
        let curve: Vec<f64> = (0..points.len()).map(|point| eigen.U()[(point, last)]).collect();
        let along = |value: usize| (0..points.len()).map(|point| table[(point, value)] * curve[point]).sum::<f64>();
        for (parameter, value) in &values {
            own[*parameter] = along(*value) / of_value[*value];
        }
        for ((parameter, point), weight) in points.iter().zip(&curve).zip(&of_point) {
            own[*parameter] = point / weight;
        }
    }
}
