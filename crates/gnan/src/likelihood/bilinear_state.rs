//! Where a fit of products stands: its parameters, which of them are 1, derivatives, and Newton steps with given smoothing parameters.

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::bilinear::{BilinearProblem, BilinearStart, ITEMS};
use super::bilinear_start::first_parameters;
use super::dispersion::first_dispersion;
use super::family::Derivatives;
use super::matrix::Tiles;
use super::penalty::Block;

/// Most halvings of a step that lowers the penalised likelihood.
const MOST_HALVINGS: usize = 20;
/// Where smoothing parameters start.
const FIRST_LAMBDA: f64 = 1.0;
/// Most steps with fixed smoothing parameters at the end, the share of the likelihood below which a gain is none, and that below which it
/// may be rounding; and how many such steps may gain no less than the one before.
const MOST_SETTLING: usize = 60;
const NO_GAIN: f64 = 1e-23;
const ROUNDING: f64 = 1e-12;
const MOST_ROUNDED: usize = 3;
/// What is added to the diagonal, as a share of its mean.
const RIDGE: f64 = 1e-9;
/// The same as a share of the entry itself: a curve through which nothing goes is known by its penalty alone, which leaves lines free.
const OWN_RIDGE: f64 = 1e-12;

pub(super) struct BilinearState<'a> {
    pub problem: BilinearProblem<'a>,
    pub outputs: usize,
    /// Output after output.
    pub parameters: Vec<f64>,
    /// Parameters that are 1 by definition, and those that are 1 for the time being: these and a point of every set.
    pub ones: Vec<bool>,
    pub known: Vec<bool>,
    /// Points that are 1 throughout.
    kept: Vec<usize>,
    /// How much items vary in the columns of every point.
    spreads: Vec<f64>,
    /// `[outputs][items]`
    pub predicted: Vec<Vec<f64>>,
    pub lambdas: Vec<Vec<f64>>,
    /// The logarithm of the last factor of every smoothing parameter, and how much further it was moved.
    pub moves: Vec<Vec<(f64, f64)>>,
    pub variance: f64,
}

impl<'a> BilinearState<'a> {
    pub fn new(problem: BilinearProblem<'a>, start: BilinearStart<'_>) -> BilinearState<'a> {
        let outputs = problem.family.outputs();
        let moments = problem.design.moments();
        let mut spreads = vec![0.0; problem.parameters];
        for (product, (_, variance)) in problem.products.iter().zip(&moments[1..]) {
            spreads[product.point] += variance;
        }
        spreads.iter_mut().for_each(|spread| *spread = f64::sqrt(*spread));
        let variance = first_dispersion(problem.family, problem.targets, problem.weights);
        let mut state = BilinearState {
            outputs,
            parameters: first_parameters(&problem, &moments, variance, start.points),
            ones: vec![false; outputs * problem.parameters],
            known: Vec::new(),
            kept: start.known.to_vec(),
            spreads,
            predicted: Vec::new(),
            lambdas: problem.blocks.iter().map(|block| vec![FIRST_LAMBDA; block.penalties()]).collect(),
            moves: problem.blocks.iter().map(|block| vec![(0.0, 1.0); block.penalties()]).collect(),
            variance,
            problem,
        };
        for output in 0..outputs {
            problem.ones.iter().for_each(|value| state.ones[output * problem.parameters + value] = true);
        }
        state.known.clone_from(&state.ones);
        state.predicted = state.predict(&state.parameters);
        state
    }

    /// Brings one point of every set to 1: that of the largest effect, unless one is 1 already and it is not so many times as large;
    /// whether any was changed.
    pub fn choose_known(&mut self, larger: f64) -> bool {
        let mut changed = false;
        let count = self.problem.parameters;
        for output in 0..self.outputs {
            for (place, set) in self.problem.curves.iter().enumerate() {
                let size = |point: usize| self.parameters[output * count + point].abs() * self.spreads[point];
                let kept = set.iter().copied().find(|point| self.kept.contains(point));
                let largest = set.iter().copied().max_by(|a, b| size(*a).total_cmp(&size(*b)).then(b.cmp(a)));
                let Some(wanted) = kept.or(largest) else { continue };
                let present = set.iter().copied().find(|point| self.known[output * count + point]);
                let stays =
                    |present: usize| present == wanted || (kept.is_none() && size(wanted) <= larger * size(present));
                if !present.is_some_and(stays) {
                    changed = true;
                    self.bring_to_one(output, place, wanted);
                }
            }
        }
        if changed {
            self.predicted = self.predict(&self.parameters);
        }
        changed
    }

    /// Divides the points of a set by one of them, which is 1 from now on, and multiplies their values by it.
    fn bring_to_one(&mut self, output: usize, set: usize, wanted: usize) {
        let BilinearProblem { curves, products, parameters: count, .. } = self.problem;
        let at = |place: usize| output * count + place;
        let set = &curves[set];
        let factor = self.parameters[at(wanted)];
        set.iter().for_each(|point| self.known[at(*point)] = false);
        self.known[at(wanted)] = true;
        if factor != 0.0 {
            set.iter().for_each(|point| self.parameters[at(*point)] /= factor);
            let own = products.iter().filter(|product| set.contains(&product.point));
            let mut values: Vec<usize> = own.map(|product| product.value).collect();
            values.sort_unstable();
            values.dedup();
            values.iter().for_each(|value| self.parameters[at(*value)] *= factor);
        }
        self.parameters[at(wanted)] = 1.0;
    }

    /// What every column is multiplied by.
    fn coefficients(&self, own: &[f64]) -> Vec<f64> {
        let products = self.problem.products.iter().map(|product| own[product.value] * own[product.point]);
        std::iter::once(own[0]).chain(products).collect()
    }

    fn predict(&self, parameters: &[f64]) -> Vec<Vec<f64>> {
        let outputs = parameters.chunks_exact(self.problem.parameters);
        outputs.map(|own| self.problem.design.times(&self.coefficients(own))).collect()
    }

    /// The derivatives of the outputs of an item by all parameters but those that are fixed, `[outputs, parameters]`.
    pub fn item_derivatives(&self, item: usize, fixed: &[bool], found: &mut [f64]) {
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
        found.iter_mut().zip(fixed).filter(|(_, fixed)| **fixed).for_each(|(entry, _)| *entry = 0.0);
    }

    /// First and second derivatives of the log-likelihood of every item by its outputs, `[outputs][items]` and
    /// `[outputs * outputs][items]`.
    fn derivatives(&self) -> (Vec<Vec<f64>>, Vec<Vec<f64>>) {
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

    /// `J' W J` of all parameters but those that are 1 by definition; `None` where it is not finite.
    pub fn information(&self) -> Option<Tiles> {
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
            columns.for_each(|(item, found)| self.item_derivatives(start + item, &self.ones, found));
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

    /// `J' W J + S` of the parameters that are not fixed, less `X' g` of every output where a value meets a point, if that is given.
    pub fn curvature(&self, mut matrix: Tiles, fixed: &[bool], gradients: Option<&[Vec<f64>]>) -> Tiles {
        let (order, count) = (matrix.order(), self.problem.parameters);
        let free = |at: usize| !fixed[at];
        for at in (0..order).filter(|at| fixed[*at]) {
            (0..order).for_each(|other| matrix.add(at, other, -matrix.get(at, other)));
        }
        let ridge = RIDGE * (0..order).map(|at| matrix.get(at, at)).sum::<f64>() / order as f64;
        (0..order).for_each(|at| matrix.add(at, at, if free(at) { ridge } else { 1.0 }));
        let intercepts = self.tied_intercepts();
        for (place, row) in intercepts.iter().enumerate() {
            intercepts[..=place].iter().for_each(|column| matrix.add(*row, *column, 1.0));
        }
        for (block, lambdas) in self.problem.blocks.iter().zip(&self.lambdas) {
            let penalty = block.matrix(lambdas);
            for start in self.groups(block) {
                for i in (0..block.size).filter(|i| free(start + i)) {
                    for j in (0..=i).filter(|j| free(start + j)) {
                        let entry = penalty[i * block.size + j];
                        if entry != 0.0 {
                            matrix.add(start + i, start + j, entry);
                        }
                    }
                }
            }
        }
        for at in (0..order).filter(|at| free(*at)) {
            let own = OWN_RIDGE * matrix.get(at, at);
            matrix.add(at, at, own);
        }
        for (output, gradient) in gradients.unwrap_or_default().iter().enumerate() {
            for (product, slope) in self.problem.products.iter().zip(&gradient[1..]) {
                let (value, point) = (output * count + product.value, output * count + product.point);
                if free(value) && free(point) {
                    matrix.add(value, point, -slope);
                }
            }
        }
        matrix
    }

    /// The first parameters of all groups of a block, over all outputs.
    pub fn groups<'b>(&'b self, block: &'b Block) -> impl Iterator<Item = usize> + 'b {
        let count = self.problem.parameters;
        (0..self.outputs).flat_map(move |output| block.groups().map(move |start| output * count + start))
    }

    /// The intercepts of several outputs, of which only differences matter to a likelihood: their sum is kept at 0.
    fn tied_intercepts(&self) -> Vec<usize> {
        let count = self.problem.parameters;
        if self.outputs > 1 { (0..self.outputs).map(|output| output * count).collect() } else { Vec::new() }
    }

    /// `S b` for parameters that are not known, and `b' S b`.
    fn penalty_gradient(&self, parameters: &[f64]) -> (Vec<f64>, f64) {
        let (mut gradient, mut form) = (vec![0.0; parameters.len()], 0.0);
        for (block, lambdas) in self.problem.blocks.iter().zip(&self.lambdas) {
            let penalty = block.matrix(lambdas);
            for start in self.groups(block) {
                let own = &parameters[start..start + block.size];
                for (i, row) in penalty.chunks_exact(block.size).enumerate() {
                    let slope: f64 = row.iter().zip(own).map(|(entry, b)| entry * b).sum();
                    form += slope * own[i];
                    gradient[start + i] = slope;
                }
            }
        }
        let intercepts = self.tied_intercepts();
        let sum: f64 = intercepts.iter().map(|at| parameters[*at]).sum();
        intercepts.iter().for_each(|at| gradient[*at] += sum);
        gradient.iter_mut().zip(&self.known).filter(|(_, known)| **known).for_each(|(entry, _)| *entry = 0.0);
        (gradient, form + sum * sum)
    }

    /// The sum of the sizes of all terms of `b' S b`, which nearly cancel where a strength is large.
    fn penalty_terms(&self) -> f64 {
        let mut sum = 0.0;
        for (block, lambdas) in self.problem.blocks.iter().zip(&self.lambdas) {
            let penalty = block.matrix(lambdas);
            for start in self.groups(block) {
                let own = &self.parameters[start..start + block.size];
                for (row, b) in penalty.chunks_exact(block.size).zip(own) {
                    sum += row.iter().zip(own).map(|(entry, other)| (entry * b * other).abs()).sum::<f64>();
                }
            }
        }
        sum
    }

    /// `b' S b`.
    pub fn penalty_form(&self) -> f64 {
        self.penalty_gradient(&self.parameters).1
    }

    /// The log-likelihood of targets, given what is predicted, but for constants.
    pub fn log_likelihood(&self, predicted: &[Vec<f64>]) -> f64 {
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
    pub fn gradient(&self) -> (Vec<f64>, Vec<Vec<f64>>) {
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

    /// A step, halved until the penalised likelihood does not fall; its values before and after.
    pub fn step(&mut self, step: &[f64]) -> Option<(f64, f64)> {
        let before = self.log_likelihood(&self.predicted) - 0.5 * self.penalty_gradient(&self.parameters).1;
        let rounding = 1e-12 * before.abs() + 1e-15 * self.penalty_terms();
        let mut length = 1.0;
        for _ in 0..=MOST_HALVINGS {
            let moved: Vec<f64> = self.parameters.iter().zip(step).map(|(b, step)| b + length * step).collect();
            let predicted = self.predict(&moved);
            let after = self.log_likelihood(&predicted) - 0.5 * self.penalty_gradient(&moved).1;
            if after.is_finite() && after >= before - rounding {
                (self.parameters, self.predicted) = (moved, predicted);
                return Some((before, after));
            }
            length /= 2.0;
        }
        before.is_finite().then_some((before, before))
    }

    /// Newton steps with fixed smoothing parameters until the gradient is nothing but rounding.
    pub fn settle(&mut self) -> Option<()> {
        let (mut last, mut rounded) = (f64::INFINITY, 0);
        for _ in 0..MOST_SETTLING {
            let (gradient, by_column) = self.gradient();
            let information = self.information()?;
            // Far from the optimum the whole second derivatives may have directions along which it is convex.
            let factor = match self.curvature(information.clone(), &self.known, Some(&by_column)).factor() {
                Some(factor) => factor,
                None => self.curvature(information, &self.known, None).factor()?,
            };
            let step = factor.solve(&gradient);
            let gain: f64 = step.iter().zip(&gradient).map(|(step, slope)| step * slope).sum();
            let (before, _) = self.step(&step)?;
            let size = 1.0 + before.abs();
            // Steps that gain no less than those before, time and again, are made of rounding.
            rounded += usize::from(gain < ROUNDING * size && gain >= last);
            if gain < NO_GAIN * size || rounded > MOST_ROUNDED {
                break;
            }
            last = gain;
        }
        Some(())
    }
}

/// Number of parameters that are not fixed.
pub(super) fn free_count(fixed: &[bool]) -> f64 {
    fixed.iter().filter(|fixed| !**fixed).count() as f64
}
