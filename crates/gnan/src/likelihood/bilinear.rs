//! Products of values and curves: effects that are a value times a point of a curve that many values share.
//!
//! ```text
//! f_i = b0 + sum over columns t of X_it a_v(t) r_q(t)          one value a and one point r for every column but the first
//! J   = [1, sum over t of v of r_q(t) X_it, sum over t of q of a_v(t) X_it]
//! ```
//!
//! With `J' W J + S` in place of the second derivatives (Gauss and Newton), the marginal likelihood, the updates of the smoothing
//! parameters and the posterior covariance are those of [`newton`](super::newton). Values and curves are known up to a
//! factor: of every set of points one is 1, that through which most of the effect goes. Steps have the whole second derivatives
//! where these are positive definite; they differ by `X' g` where a value meets a point.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, MatRef, Par};
use rayon::prelude::*;

use super::bilinear_start::first_parameters;
use super::design::Design;
use super::dispersion::{FittedTargets, first_dispersion};
use super::family::{Derivatives, Family};
use super::left_out::LeftOutItem;
use super::matrix::{Factor, InverseRoot, TILE, Tiles};
use super::newton::Iteration;
use super::observed::Observed;
use super::penalty::Block;

/// Most iterations, and those before the first update of the smoothing parameters.
const MOST_ITERATIONS: usize = 150;
const BEFORE_UPDATES: usize = 3;
/// Most halvings of a step that lowers the penalised likelihood.
const MOST_HALVINGS: usize = 20;
/// Bounds of smoothing parameters, where they start, and the largest factor of an update.
const LAMBDAS: [f64; 2] = [1e-8, 1e7];
const FIRST_LAMBDA: f64 = 1.0;
const MOST_CHANGE: f64 = 16.0;
/// By how much a smoothing parameter that keeps moving one way moves further each time, and the most of it.
const FASTER: [f64; 2] = [1.5, 4.0];
/// It has converged where the penalised log-likelihood changes by less than this share of its size and this amount, and the logarithm
/// of no smoothing parameter in which the marginal likelihood is not as good as flat by more than this.
const STILL: [f64; 2] = [1e-6, 1e-3];
const SETTLED: f64 = 0.05;
const NO_SLOPE: f64 = 1e-2;
/// Another point is 1 where it is so many times as large, given what items have of it.
const LARGER: f64 = 4.0;
/// Most steps with fixed smoothing parameters at the end, the share of the likelihood below which a gain is none, and that below which it
/// may be rounding.
const MOST_SETTLING: usize = 60;
const NO_GAIN: f64 = 1e-23;
const ROUNDING: f64 = 1e-12;
/// What is added to the diagonal, as a share of its mean; and the least variance, as a share of where it starts.
const RIDGE: f64 = 1e-9;
/// The same as a share of the entry itself: a curve through which nothing goes is known by its penalty alone, which leaves lines free.
const OWN_RIDGE: f64 = 1e-12;
const LEAST_VARIANCE: f64 = 1e-12;
/// Items whose derivatives are multiplied at a time.
const ITEMS: usize = 256;

/// What a column is multiplied by: two parameters of an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Product {
    /// The value.
    pub value: usize,
    /// The point of a curve.
    pub point: usize,
}

/// What is to be estimated from what. The parameters of an output are its intercept, then values and points.
#[derive(Clone, Copy)]
pub struct BilinearProblem<'a> {
    /// What every item has of every product, first the intercept.
    pub design: &'a Design,
    /// Of every column but the first.
    pub products: &'a [Product],
    /// Number of parameters of an output.
    pub parameters: usize,
    /// Sets of points, every one of which belongs to values of its own: of each, one point is 1.
    pub curves: &'a [Vec<usize>],
    /// Values that are 1.
    pub ones: &'a [usize],
    /// The penalties of parameters, the same for every output. Those of points that may be 1 are [straight](Block::straight) curves: the
    /// second strength of these is 1 and not estimated, for what is nearly nothing times a free curve would be most likely of all.
    pub blocks: &'a [Block],
    /// What targets are, given outputs.
    pub family: Family,
    /// What is known of the target of every item: a number, or that of a class.
    pub targets: &'a [Observed],
    /// How much every item counts.
    pub weights: &'a [f64],
    /// What is added to what parameters give for every item.
    pub offset: f64,
}

/// An estimate.
pub struct BilinearEstimate {
    /// The parameters, output after output.
    pub parameters: Vec<f64>,
    /// Which of them are 1 and not estimated.
    pub known: Vec<bool>,
    /// The root of their posterior covariance; parameters that are known must be left out of what it is multiplied with.
    pub root: InverseRoot,
    /// The strength of every penalty, by block.
    pub lambdas: Vec<Vec<f64>>,
    /// The variance of a quantity around its output, or another dispersion of its family; 1 where there is none.
    pub variance: f64,
    /// The log-likelihood of the targets.
    pub log_likelihood: f64,
    /// The logarithm of the marginal likelihood, by Laplace's approximation.
    pub marginal: f64,
    /// Effective degrees of freedom of every block, all outputs together.
    pub freedoms: Vec<f64>,
    /// The same of all parameters together.
    pub freedom: f64,
    /// The loss of every item by a fit without it, approximately: see [`left_out_losses`](super::left_out_losses).
    pub left_out: Vec<f64>,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether they ended because nothing changed any more.
    pub converged: bool,
}

/// The memory that an estimate takes, in bytes, besides the design.
pub fn bilinear_bytes(parameters: usize, outputs: usize) -> u64 {
    let order = parameters * outputs;
    5 * Tiles::bytes(order) + (order * (2 * ITEMS + TILE)) as u64 * 8
}

/// Finds parameters and smoothing parameters, starting with a rank-one approximation of the effects, or with the `start` of every
/// point, in the order of the parameters. `None` where the likelihood is not finite.
pub fn fit_bilinear(
    problem: BilinearProblem<'_>,
    start: Option<&[f64]>,
    monitor: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Option<BilinearEstimate> {
    let mut state = BilinearState::new(problem, start);
    let (mut converged, mut iterations, mut chosen) = (false, 0, false);
    while iterations < MOST_ITERATIONS && !converged {
        iterations += 1;
        if !chosen {
            state.choose_known(LARGER);
        }
        let information = state.information()?;
        let root = state.curvature(information.clone(), None).factor()?.inverse_root();
        let (gradient, by_column) = state.gradient();
        let step = match state.curvature(information, Some(&by_column)).factor() {
            Some(factor) => factor.solve(&gradient),
            None => root.solve(&gradient),
        };
        let (before, after) = state.step(&step)?;
        let still = (after - before).abs() < STILL[0] * before.abs() + STILL[1];
        if iterations > BEFORE_UPDATES {
            converged = state.update(&root) < SETTLED && still;
        }
        // The marginal likelihood depends on which point is 1: in the end, once, the largest.
        if converged && !chosen {
            chosen = true;
            converged = !state.choose_known(1.0);
        }
        if monitor(&Iteration { number: iterations, most: MOST_ITERATIONS, value: after }).is_break() {
            break;
        }
    }
    state.finish(iterations, converged)
}

struct BilinearState<'a> {
    problem: BilinearProblem<'a>,
    outputs: usize,
    /// Output after output.
    parameters: Vec<f64>,
    known: Vec<bool>,
    /// How much items vary in the columns of every point.
    spreads: Vec<f64>,
    /// `[outputs][items]`
    predicted: Vec<Vec<f64>>,
    lambdas: Vec<Vec<f64>>,
    /// The logarithm of the last factor of every smoothing parameter, and how much further it was moved.
    moves: Vec<Vec<(f64, f64)>>,
    variance: f64,
}

impl<'a> BilinearState<'a> {
    fn new(problem: BilinearProblem<'a>, start: Option<&[f64]>) -> BilinearState<'a> {
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
            parameters: first_parameters(&problem, &moments, variance, start),
            known: vec![false; outputs * problem.parameters],
            spreads,
            predicted: Vec::new(),
            lambdas: problem.blocks.iter().map(|block| vec![FIRST_LAMBDA; block.penalties()]).collect(),
            moves: problem.blocks.iter().map(|block| vec![(0.0, 1.0); block.penalties()]).collect(),
            variance,
            problem,
        };
        for output in 0..outputs {
            problem.ones.iter().for_each(|value| state.known[output * problem.parameters + value] = true);
        }
        state.predicted = state.predict(&state.parameters);
        state
    }

    /// Brings one point of every set to 1: that of the largest effect, unless one is 1 already and it is not so many times as large;
    /// whether any was changed.
    fn choose_known(&mut self, larger: f64) -> bool {
        let mut changed = false;
        let count = self.problem.parameters;
        let mut values_of: Vec<Vec<usize>> = vec![Vec::new(); count];
        for product in self.problem.products {
            values_of[product.point].push(product.value);
        }
        for output in 0..self.outputs {
            let at = |place: usize| output * count + place;
            for set in self.problem.curves {
                let size = |point: usize| self.parameters[at(point)].abs() * self.spreads[point];
                let Some(largest) = set.iter().copied().max_by(|a, b| size(*a).total_cmp(&size(*b)).then(b.cmp(a)))
                else {
                    continue;
                };
                let present = set.iter().copied().find(|point| self.known[at(*point)]);
                if present.is_some_and(|present| size(largest) <= larger * size(present)) {
                    continue;
                }
                changed = true;
                let factor = self.parameters[at(largest)];
                set.iter().for_each(|point| self.known[at(*point)] = false);
                self.known[at(largest)] = true;
                if factor == 0.0 {
                    self.parameters[at(largest)] = 1.0;
                    continue;
                }
                set.iter().for_each(|point| self.parameters[at(*point)] /= factor);
                self.parameters[at(largest)] = 1.0;
                let mut values: Vec<usize> = set.iter().flat_map(|point| values_of[*point].iter().copied()).collect();
                values.sort_unstable();
                values.dedup();
                values.iter().for_each(|value| self.parameters[at(*value)] *= factor);
            }
        }
        if changed {
            self.predicted = self.predict(&self.parameters);
        }
        changed
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

    /// The derivatives of the outputs of an item by all parameters, `[outputs, parameters]`.
    fn item_derivatives(&self, item: usize, found: &mut [f64]) {
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

    /// `J' W J`; `None` where it is not finite.
    fn information(&self) -> Option<Tiles> {
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

    /// `J' W J + S`, less `X' g` of every output where a value meets a point, if that is given.
    fn curvature(&self, mut matrix: Tiles, gradients: Option<&[Vec<f64>]>) -> Tiles {
        let (order, count) = (matrix.order(), self.problem.parameters);
        let free = |at: usize| !self.known[at];
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
    fn groups<'b>(&'b self, block: &'b Block) -> impl Iterator<Item = usize> + 'b {
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

    fn log_likelihood(&self, predicted: &[Vec<f64>]) -> f64 {
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
    fn gradient(&self) -> (Vec<f64>, Vec<Vec<f64>>) {
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
    fn step(&mut self, step: &[f64]) -> Option<(f64, f64)> {
        let before = self.log_likelihood(&self.predicted) - 0.5 * self.penalty_gradient(&self.parameters).1;
        let mut length = 1.0;
        for _ in 0..=MOST_HALVINGS {
            let moved: Vec<f64> = self.parameters.iter().zip(step).map(|(b, step)| b + length * step).collect();
            let predicted = self.predict(&moved);
            let after = self.log_likelihood(&predicted) - 0.5 * self.penalty_gradient(&moved).1;
            if after.is_finite() && after >= before - 1e-12 * before.abs() {
                (self.parameters, self.predicted) = (moved, predicted);
                return Some((before, after));
            }
            length /= 2.0;
        }
        before.is_finite().then_some((before, before))
    }

    /// `tr(S^- S_j)` of every penalty of a block over all outputs, `log |S|_+` and the rank of `S`.
    fn spectrum(&self, block: &Block, lambdas: &[f64]) -> (Vec<f64>, f64, usize) {
        let (mut traces, mut log, mut rank) = (vec![0.0; block.penalties()], 0.0, 0);
        for start in self.groups(block) {
            let known = (0..block.size).find(|at| self.known[start + at]);
            let (own, own_log, own_rank) = match known {
                Some(known) => block.spectrum_without(lambdas, known),
                None => block.whole_spectrum(lambdas),
            };
            traces.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            log += own_log;
            rank += own_rank;
        }
        (traces, log, rank)
    }

    /// `tr(V S_j)` of every penalty of a block, and `b' S_j b`.
    fn forms(&self, block: &Block, root: &InverseRoot) -> (Vec<f64>, Vec<f64>) {
        let count = self.problem.parameters;
        let (mut traces, mut forms) = (vec![0.0; block.penalties()], vec![0.0; block.penalties()]);
        for shift in (0..self.outputs).map(|output| output * count) {
            let entry = |i: usize, j: usize| match self.known[shift + i] || self.known[shift + j] {
                true => 0.0,
                false => root.inverse(shift + i, shift + j),
            };
            traces.iter_mut().zip(block.traces(entry)).for_each(|(sum, found)| *sum += found);
            let found = block.traces(|i, j| self.parameters[shift + i] * self.parameters[shift + j]);
            forms.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
        }
        (traces, forms)
    }

    /// Updates the variance and every smoothing parameter; the largest change of the logarithm of one that matters.
    fn update(&mut self, root: &InverseRoot) -> f64 {
        let (mut largest, mut penalised) = (0.0f64, 0.0);
        // For every penalty tr(S^- S_j), tr(V S_j) and b' S_j b, those of blocks that share strengths summed up.
        let mut found: Vec<Vec<[f64; 3]>> = Vec::new();
        let mut shared: BTreeMap<usize, Vec<[f64; 3]>> = BTreeMap::new();
        for (block, lambdas) in self.problem.blocks.iter().zip(&self.lambdas) {
            let (own, _, _) = self.spectrum(block, lambdas);
            let (traces, forms) = self.forms(block, root);
            penalised += traces.iter().zip(lambdas).map(|(trace, lambda)| trace * lambda).sum::<f64>();
            let own: Vec<[f64; 3]> = (0..own.len()).map(|j| [own[j], traces[j], forms[j]]).collect();
            if let Some(tie) = block.tie {
                let sums = shared.entry(tie).or_insert_with(|| vec![[0.0; 3]; own.len()]);
                let pairs = sums.iter_mut().flatten().zip(own.iter().flatten());
                pairs.for_each(|(sum, own)| *sum += own);
            }
            found.push(own);
        }
        for (place, block) in self.problem.blocks.iter().enumerate() {
            let found = block.tie.and_then(|tie| shared.get(&tie)).unwrap_or(&found[place]);
            let estimated = if self.has_known_scale(block) { 1 } else { found.len() };
            for (j, [own, trace, form]) in found.iter().copied().enumerate().take(estimated) {
                let lambda = &mut self.lambdas[place][j];
                let step = ((own - trace).max(1e-12) / form.max(1e-12)).ln();
                let (last, further) = self.moves[place][j];
                let further = if step * last > 0.0 { (further * FASTER[0]).min(FASTER[1]) } else { 1.0 };
                self.moves[place][j] = (step, further);
                let factor = (step * further).exp().clamp(1.0 / MOST_CHANGE, MOST_CHANGE);
                let next = (*lambda * factor).clamp(LAMBDAS[0], LAMBDAS[1]);
                let slope = 0.5 * *lambda * (own - trace - form);
                if next > 1.01 * LAMBDAS[0] && next < 0.99 * LAMBDAS[1] && slope.abs() > NO_SLOPE {
                    largest = largest.max((next / *lambda).ln().abs());
                }
                *lambda = next;
            }
        }
        if self.problem.family.has_dispersion() {
            let BilinearProblem { family, targets, weights, offset, .. } = self.problem;
            let fitted = FittedTargets { family, targets, weights, outputs: &self.predicted[0], offset };
            self.variance = fitted.dispersion(self.free_count() - penalised, self.variance, LEAST_VARIANCE);
        }
        largest
    }

    /// Whether a block is that of a curve of which one point is 1.
    fn has_known_scale(&self, block: &Block) -> bool {
        self.problem.curves.iter().flatten().any(|point| *point == block.first)
    }

    /// Number of parameters that are estimated.
    fn free_count(&self) -> f64 {
        self.known.iter().filter(|known| !**known).count() as f64
    }

    /// Newton steps with fixed smoothing parameters until the gradient is nothing but rounding.
    fn settle(&mut self) -> Option<()> {
        let mut last = f64::INFINITY;
        for _ in 0..MOST_SETTLING {
            let (gradient, by_column) = self.gradient();
            let information = self.information()?;
            // Far from the optimum the whole second derivatives may have directions along which it is convex.
            let factor = match self.curvature(information.clone(), Some(&by_column)).factor() {
                Some(factor) => factor,
                None => self.curvature(information, None).factor()?,
            };
            let step = factor.solve(&gradient);
            let gain: f64 = step.iter().zip(&gradient).map(|(step, slope)| step * slope).sum();
            let (before, _) = self.step(&step)?;
            let size = 1.0 + before.abs();
            // Steps that gain no less than those before are made of rounding.
            if gain < NO_GAIN * size || (gain < ROUNDING * size && gain > 0.1 * last) {
                break;
            }
            last = gain;
        }
        Some(())
    }

    fn finish(mut self, iterations: usize, converged: bool) -> Option<BilinearEstimate> {
        self.settle()?;
        let factor: Factor = self.curvature(self.information()?, None).factor()?;
        let root = factor.inverse_root();
        let (mut log_penalty, mut rank, mut penalised) = (0.0, 0, 0.0);
        let mut freedoms = Vec::new();
        for (block, lambdas) in self.problem.blocks.iter().zip(&self.lambdas) {
            let (_, log, own) = self.spectrum(block, lambdas);
            log_penalty += log;
            rank += own;
            let (traces, _) = self.forms(block, &root);
            let shrunk: f64 = traces.iter().zip(lambdas).map(|(trace, lambda)| trace * lambda).sum();
            let free = self.groups(block).flat_map(|start| start..start + block.size).filter(|at| !self.known[*at]);
            freedoms.push(free.count() as f64 - shrunk);
            penalised += shrunk;
        }
        let BilinearProblem { family, targets, weights, .. } = self.problem;
        let counted = targets.iter().zip(weights).filter(|(_, weight)| **weight != 0.0);
        let constants: f64 = counted.map(|(target, weight)| family.constant(*target, *weight, self.variance)).sum();
        let log_likelihood = self.log_likelihood(&self.predicted) + constants;
        let free = self.free_count();
        let marginal = log_likelihood - 0.5 * self.penalty_gradient(&self.parameters).1 + 0.5 * log_penalty
            - 0.5 * factor.log_determinant()
            + 0.5 * (free - rank as f64) * std::f64::consts::TAU.ln();
        let left_out = self.left_out(&root);
        Some(BilinearEstimate {
            parameters: self.parameters,
            known: self.known,
            root,
            lambdas: self.lambdas,
            variance: self.variance,
            log_likelihood,
            marginal,
            freedoms,
            freedom: free - penalised,
            left_out,
            iterations,
            converged,
        })
    }

    /// The loss of every item by a fit without it, the products linear around their estimates.
    fn left_out(&self, root: &InverseRoot) -> Vec<f64> {
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
