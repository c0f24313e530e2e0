//! The dual form: where coefficients outnumber items by far, items are weighed in place of coefficients.
//!
//! ```text
//! outputs   f_c = K a_c,   K = sum_g strength_g X_g X_g'
//! ```
//!
//! The coefficients of group `g` have the prior `N(0, strength_g)`, so they are `strength_g X_g' a_c`, and nothing is ever as large as
//! their number. Newton steps are those of Rasmussen and Williams (2006), section 3.3 and 3.5 (Laplace's approximation), strengths
//! are updated as in [`newton`](super::newton): generalised Fellner-Schall, here `strength_g = |b_g|^2 / freedom_g`, in part where all
//! of an update would lower the marginal likelihood: with few items the second derivatives change much with the strengths.

use std::ops::ControlFlow;

use faer::linalg::matmul::matmul;
use faer::linalg::matmul::triangular::{self, BlockStructure};
use faer::linalg::solvers::Llt;
use faer::linalg::triangular_inverse::invert_lower_triangular;
use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Accum, Mat, Par, Side};
use rayon::prelude::*;

use super::dispersion::{FittedTargets, first_dispersion};
use super::family::{Derivatives, Family};
use super::left_out::LeftOutItem;
use super::newton::Iteration;
use super::observed::Observed;
use super::vector::{add_multiple, dot};

/// Most updates of the strengths, and most Newton steps between two of them.
const MOST_ITERATIONS: usize = 40;
const MOST_SETTLING: usize = 50;
/// Second derivatives serve another step where it gains at most so large a share of what the step before it gained.
const ENOUGH_SHARE: f64 = 0.2;
/// Most halvings of a step that lowers the penalised likelihood.
const MOST_HALVINGS: usize = 12;
/// Bounds of strengths as shares of where they start, and of the logarithm of the factor of an update.
const STRENGTHS: [f64; 2] = [1e-9, 1e9];
const MOST_STEP: f64 = 3.0;
/// An update is taken in part where all of it would lower the marginal likelihood, and further where that rises: bounds of the share.
const MOST_SHARE: f64 = 4.0;
const LEAST_SHARE: f64 = 0.02;
/// A gain of the marginal likelihood that is not worth another update.
pub(super) const LEAST_GAIN: f64 = 0.02;
/// By what strengths are multiplied or divided in the end, and how often at most.
const SEARCHED: [f64; 2] = [4.0, 2.0];
const MOST_MOVES: usize = 6;
/// Gains of the penalised likelihood, as shares of its size, that are not worth another step: between updates and in the end.
pub(super) const CLOSE: f64 = 1e-6;
const NO_GAIN: f64 = 1e-9;
/// The spread of outputs that strengths start with, all groups together, and that of the intercept.
const FIRST_SPREAD: f64 = 4.0;
/// The same of outputs that are logarithms.
const FIRST_LOG_SPREAD: f64 = 1.0;
/// The least variance, as a share of where it starts.
const LEAST_VARIANCE: f64 = 1e-9;
const INTERCEPT: f64 = 10.0;
/// Added to the diagonal of a kernel, as a share of its mean.
const RIDGE: f64 = 1e-8;

/// What is to be estimated from what.
#[derive(Clone, Copy)]
pub struct DualProblem<'a> {
    /// `X_g X_g'` of every group of coefficients, `[items, items]`.
    pub kernels: &'a [Mat<f64>],
    /// What targets are, given outputs.
    pub family: Family,
    /// What is known of the target of every item: a number, or that of a class.
    pub targets: &'a [Observed],
    /// How much every item counts; above 0.
    pub weights: &'a [f64],
    /// What is added to what coefficients give for every item.
    pub offset: f64,
}

/// An estimate.
pub struct DualEstimate {
    /// The weight of every item, `[outputs][items]`.
    pub item_weights: Vec<Vec<f64>>,
    /// The second derivative of every item, `[outputs][items]`; of classes, that of each alone.
    pub second: Vec<Vec<f64>>,
    /// The prior variance of the coefficients of every group.
    pub strengths: Vec<f64>,
    /// The variance of a quantity around its output, or another dispersion of its family; 1 where there is none.
    pub variance: f64,
    /// The logarithm of the marginal likelihood, by Laplace's approximation.
    pub marginal: f64,
    /// Effective degrees of freedom of every group, all outputs together.
    pub freedoms: Vec<f64>,
    /// The loss of every item by the outputs of a fit without it, approximately; empty where strengths were known.
    pub left_out: Vec<f64>,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether they ended because nothing changed any more.
    pub converged: bool,
}

/// The memory that an estimate takes, in bytes, with the kernels of usual groups, where strengths are found by so many of the items.
pub fn dual_bytes(items: usize, searched: usize, outputs: usize) -> u64 {
    ((3 * outputs as u64 + 16) * (items as u64).pow(2) + 40 * (searched as u64).pow(2)) * 8
}

/// Finds item weights and strengths; `monitor` may break off, which gives the estimate of the time. `None` where the likelihood is
/// not finite.
pub fn fit_dual(
    problem: DualProblem<'_>,
    monitor: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Option<DualEstimate> {
    let mut state = DualState::new(problem);
    state.settle(CLOSE)?;
    let mut curvature = state.curvature()?;
    let mut best = state.marginal(&curvature);
    let (mut number, mut converged, mut share) = (0, false, 1.0);
    while number < MOST_ITERATIONS && !converged {
        number += 1;
        let before = state.point();
        let steps = state.strength_steps(&curvature);
        state.move_strengths(&steps, share);
        state.settle(CLOSE)?;
        let found = state.curvature()?;
        let marginal = state.marginal(&found);
        if marginal > best {
            let gained = marginal - best;
            (best, curvature) = (marginal, found);
            share = f64::min(2.0 * share, MOST_SHARE);
            converged = gained < LEAST_GAIN;
        } else {
            state.go_to(before);
            share *= 0.4;
            converged = share < LEAST_SHARE;
        }
        if monitor(&Iteration { number, most: MOST_ITERATIONS, value: best, items: problem.targets.len() }).is_break() {
            break;
        }
    }
    if !problem.family.has_dispersion() {
        state.search()?;
    }
    state.settle(NO_GAIN)?;
    state.finish(number, converged, true)
}

/// Finds item weights where strengths and the variance are known, without losses of items that are left out; `monitor` may break off.
pub fn fit_dual_with(
    problem: DualProblem<'_>,
    strengths: &[f64],
    variance: f64,
    monitor: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Option<DualEstimate> {
    let mut state = DualState::new(problem);
    (state.strengths, state.variance) = (strengths.to_vec(), variance);
    state.sum_kernels();
    let (number, converged) = state.settle_watched(NO_GAIN, monitor)?;
    state.finish(number, converged, false)
}

/// Strengths and what belongs to them.
#[derive(Clone)]
struct DualPoint {
    strengths: Vec<f64>,
    item_weights: Vec<Vec<f64>>,
    variance: f64,
}

pub(super) struct DualState<'a> {
    problem: DualProblem<'a>,
    outputs: usize,
    kernel: Mat<f64>,
    pub strengths: Vec<f64>,
    start: Vec<f64>,
    /// `[outputs][items]`
    pub item_weights: Vec<Vec<f64>>,
    predicted: Vec<Vec<f64>>,
    variance: f64,
}

/// The second derivatives at some outputs.
pub(super) struct DualCurvature {
    /// Those of every item, `[items][outputs * outputs]`.
    second: Vec<Vec<f64>>,
    /// `(K + W_c^-1)^-1` of every output, of its own weights `W_c` alone.
    own: Vec<Mat<f64>>,
    /// The factor of their sum, where outputs are those of one softmax.
    sum: Option<Llt<f64>>,
    /// Half the logarithm of `|I + K W|`.
    half_log: f64,
}

impl<'a> DualState<'a> {
    pub(super) fn new(problem: DualProblem<'a>) -> DualState<'a> {
        let items = problem.targets.len();
        let outputs = problem.family.outputs();
        let variance = first_dispersion(problem.family, problem.targets, problem.weights);
        // Every group starts with the same share of the outputs' spread.
        let spread = match problem.family {
            Family::Gaussian => variance,
            family if family.is_log() => FIRST_LOG_SPREAD,
            _ => FIRST_SPREAD,
        };
        let start = |(g, kernel): (usize, &Mat<f64>)| {
            let mean = (0..items).map(|i| kernel[(i, i)]).sum::<f64>() / items.max(1) as f64;
            let share = if g == 0 { INTERCEPT } else { spread / problem.kernels.len() as f64 };
            if mean > 0.0 { share / mean } else { 1.0 }
        };
        let strengths: Vec<f64> = problem.kernels.iter().enumerate().map(start).collect();
        let mut state = DualState {
            outputs,
            kernel: Mat::new(),
            start: strengths.clone(),
            strengths,
            item_weights: vec![vec![0.0; items]; outputs],
            predicted: vec![vec![0.0; items]; outputs],
            variance,
            problem,
        };
        state.sum_kernels();
        state
    }

    pub(super) fn items(&self) -> usize {
        self.problem.targets.len()
    }

    pub(super) fn sum_kernels(&mut self) {
        let items = self.items();
        let mut sum: Mat<f64> = Mat::zeros(items, items);
        for (kernel, strength) in self.problem.kernels.iter().zip(&self.strengths) {
            for column in 0..items {
                add_multiple(sum.col_as_slice_mut(column), *strength, kernel.col_as_slice(column));
            }
        }
        let ridge = RIDGE * (0..items).map(|i| sum[(i, i)]).sum::<f64>() / items.max(1) as f64;
        (0..items).for_each(|i| sum[(i, i)] += ridge);
        self.kernel = sum;
        self.predicted = self.item_weights.iter().map(|own| self.times_kernel(own)).collect();
    }

    /// `K v`.
    fn times_kernel(&self, vector: &[f64]) -> Vec<f64> {
        times(&self.kernel, vector)
    }

    /// The derivatives of the log-likelihood of every item at the present outputs.
    fn derivatives(&self) -> Vec<Derivatives> {
        let DualProblem { family, targets, weights, offset, .. } = self.problem;
        let mut own = vec![0.0; self.outputs];
        (0..self.items())
            .map(|item| {
                own.iter_mut().zip(&self.predicted).for_each(|(own, all)| *own = all[item] + offset);
                let mut found = Derivatives::default();
                family.derivatives(&own, targets[item], self.variance, &mut found);
                found.first.iter_mut().chain(&mut found.second).for_each(|entry| *entry *= weights[item]);
                found
            })
            .collect()
    }

    /// The penalised log-likelihood.
    fn value(&self) -> f64 {
        self.value_at(&self.item_weights, &self.predicted)
    }

    fn value_at(&self, item_weights: &[Vec<f64>], predicted: &[Vec<f64>]) -> f64 {
        let DualProblem { family, targets, weights, offset, .. } = self.problem;
        let mut own = vec![0.0; self.outputs];
        let likelihood: f64 = (0..self.items())
            .map(|item| {
                own.iter_mut().zip(predicted).for_each(|(own, all)| *own = all[item] + offset);
                weights[item] * family.value(&own, targets[item], self.variance)
            })
            .sum();
        let pairs = item_weights.iter().zip(predicted);
        let form: f64 = pairs.map(|(a, f)| a.iter().zip(f).map(|(a, f)| a * f).sum::<f64>()).sum();
        likelihood - 0.5 * form
    }

    /// The second derivative of every item by every output, at least 0; of a softmax that of a class alone, from its probability.
    fn second(&self) -> Vec<Vec<f64>> {
        let items = 0..self.items();
        if self.outputs == 1 {
            return vec![self.derivatives().iter().map(|found| found.second[0].max(0.0)).collect()];
        }
        let own = |item: usize, c: usize| self.problem.weights[item] * probability(&self.predicted, item, c);
        (0..self.outputs).map(|c| items.clone().map(|item| own(item, c).max(0.0)).collect()).collect()
    }

    pub(super) fn curvature(&self) -> Option<DualCurvature> {
        let items = self.items();
        let softmax = self.outputs > 1;
        let second = self.second();
        let of_items = self.derivatives().into_iter().map(|found| found.second).collect();
        let one = |c: usize| {
            let roots: Vec<f64> = second[c].iter().map(|weight| weight.sqrt()).collect();
            let matrix = Mat::from_fn(items, items, |i, j| {
                roots[i] * self.kernel[(i, j)] * roots[j] + f64::from(u8::from(i == j))
            });
            let factor = matrix.llt(Side::Lower).ok()?;
            let lower = factor.L();
            let half_log: f64 = (0..items).map(|i| lower[(i, i)].ln()).sum();
            let mut inverse: Mat<f64> = Mat::zeros(items, items);
            invert_lower_triangular(inverse.as_mut(), lower, Par::Seq);
            for column in 0..items {
                inverse.col_as_slice_mut(column).iter_mut().for_each(|entry| *entry *= roots[column]);
            }
            let mut own: Mat<f64> = Mat::zeros(items, items);
            triangular::matmul(
                own.as_mut(),
                BlockStructure::TriangularLower,
                Accum::Replace,
                inverse.transpose(),
                BlockStructure::TriangularUpper,
                inverse.as_ref(),
                BlockStructure::TriangularLower,
                1.0,
                Par::Seq,
            );
            for column in 1..items {
                (0..column).for_each(|row| own[(row, column)] = own[(column, row)]);
            }
            Some((own, half_log))
        };
        let all: Vec<Option<(Mat<f64>, f64)>> = (0..self.outputs).into_par_iter().map(one).collect();
        let mut half_log = 0.0;
        let mut own = Vec::new();
        for found in all {
            let (matrix, log) = found?;
            half_log += log;
            own.push(matrix);
        }
        if !softmax {
            return Some(DualCurvature { second: of_items, own, sum: None, half_log });
        }
        let mut sum = own[0].clone();
        own[1..].iter().for_each(|matrix| sum += matrix);
        let factor = sum.llt(Side::Lower).ok()?;
        half_log += (0..items).map(|i| factor.L()[(i, i)].ln()).sum::<f64>();
        half_log -= 0.5 * self.problem.weights.iter().map(|weight| weight.ln()).sum::<f64>();
        Some(DualCurvature { second: of_items, own, sum: Some(factor), half_log })
    }

    /// A Newton step, by second derivatives that may be of outputs of before, halved until the penalised likelihood does not fall; how
    /// much it gained.
    fn step(&mut self, curvature: &DualCurvature) -> Option<f64> {
        let items = self.items();
        let found = self.derivatives();
        // W f + gradient.
        let right: Vec<Vec<f64>> = (0..self.outputs)
            .map(|c| {
                let of_item = |item: usize| {
                    let row = &curvature.second[item][c * self.outputs..][..self.outputs];
                    let weighted: f64 = row.iter().zip(&self.predicted).map(|(w, all)| w * all[item]).sum();
                    weighted + found[item].first[c]
                };
                (0..items).map(of_item).collect()
            })
            .collect();
        let inner: Vec<Vec<f64>> =
            right.iter().zip(&curvature.own).map(|(b, own)| times(own, &self.times_kernel(b))).collect();
        let shared = curvature.sum.as_ref().map(|factor| {
            let sum = Mat::from_fn(items, 1, |i, _| inner.iter().map(|own| own[i]).sum::<f64>());
            let solved = faer::linalg::solvers::Solve::solve(factor, sum);
            (0..items).map(|i| solved[(i, 0)]).collect::<Vec<f64>>()
        });
        let target: Vec<Vec<f64>> = (0..self.outputs)
            .map(|c| {
                let more = shared.as_ref().map(|shared| times(&curvature.own[c], shared));
                (0..items).map(|i| right[c][i] - inner[c][i] + more.as_ref().map_or(0.0, |more| more[i])).collect()
            })
            .collect();
        let before = self.value();
        let mut length = 1.0;
        for _ in 0..=MOST_HALVINGS {
            let moved: Vec<Vec<f64>> = (self.item_weights.iter().zip(&target))
                .map(|(now, then)| now.iter().zip(then).map(|(now, then)| now + length * (then - now)).collect())
                .collect();
            let predicted: Vec<Vec<f64>> = moved.iter().map(|own| self.times_kernel(own)).collect();
            let after = self.value_at(&moved, &predicted);
            if after.is_finite() && after >= before - 1e-9 * (1.0 + before.abs()) {
                (self.item_weights, self.predicted) = (moved, predicted);
                return Some((after - before).abs());
            }
            length /= 2.0;
        }
        before.is_finite().then_some(0.0)
    }

    /// Newton steps with fixed strengths until they gain nothing.
    pub(super) fn settle(&mut self, no_gain: f64) -> Option<()> {
        self.settle_watched(no_gain, &mut |_| ControlFlow::Continue(())).map(|_| ())
    }

    /// The same, watched; how many steps there were, and whether the last gained nothing. Second derivatives are found anew where a step
    /// gained too little beside the one before it.
    fn settle_watched(
        &mut self,
        no_gain: f64,
        monitor: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
    ) -> Option<(usize, bool)> {
        let mut curvature = self.curvature()?;
        let mut before = f64::INFINITY;
        for number in 1..=MOST_SETTLING {
            let gained = self.step(&curvature)?;
            let value = self.value();
            if gained < no_gain * (1.0 + value.abs()) {
                return Some((number, true));
            }
            if monitor(&Iteration { number, most: MOST_SETTLING, value, items: self.items() }).is_break() {
                return Some((number, false));
            }
            let enough = gained <= ENOUGH_SHARE * before;
            before = if enough { gained } else { f64::INFINITY };
            if !enough {
                curvature = self.curvature()?;
            }
        }
        Some((MOST_SETTLING, false))
    }

    fn point(&self) -> DualPoint {
        let DualState { strengths, item_weights, variance, .. } = self;
        DualPoint { strengths: strengths.clone(), item_weights: item_weights.clone(), variance: *variance }
    }

    fn go_to(&mut self, point: DualPoint) {
        (self.strengths, self.item_weights, self.variance) = (point.strengths, point.item_weights, point.variance);
        self.sum_kernels();
    }

    /// The logarithm of the marginal likelihood.
    pub(super) fn marginal(&self, curvature: &DualCurvature) -> f64 {
        let DualProblem { family, targets, weights, .. } = self.problem;
        let items = targets.iter().zip(weights);
        let constants: f64 = items.map(|(target, weight)| family.constant(*target, *weight, self.variance)).sum();
        self.value() + constants - curvature.half_log
    }

    /// Multiplies strengths, all of them and each, by a number or divides them by it while that lowers the loss of items that are left
    /// out: with few items the marginal likelihood by Laplace's approximation is not certain enough.
    fn search(&mut self) -> Option<()> {
        let loss = |state: &Self| Some(state.left_out(&state.curvature()?).iter().sum::<f64>());
        let mut best = loss(self)?;
        let groups = self.strengths.len();
        let directions: Vec<Vec<usize>> =
            [(1..groups).collect()].into_iter().chain((1..groups).map(|group| vec![group])).collect();
        for factor in SEARCHED {
            for direction in &directions {
                for times in [factor, 1.0 / factor] {
                    let mut moves = 0;
                    while moves < MOST_MOVES {
                        let before = self.point();
                        direction.iter().for_each(|group| self.strengths[*group] *= times);
                        self.sum_kernels();
                        self.settle(CLOSE)?;
                        let found = loss(self)?;
                        if found.is_nan() || found > best - LEAST_GAIN {
                            self.go_to(before);
                            break;
                        }
                        best = found;
                        moves += 1;
                    }
                    if moves > 0 {
                        break;
                    }
                }
            }
        }
        Some(())
    }

    /// The blocks on the diagonal of `(K + W^-1)^-1`, one per output.
    pub(super) fn blocks(&self, curvature: &DualCurvature) -> Vec<Mat<f64>> {
        let block = |own: &Mat<f64>| match &curvature.sum {
            None => own.clone(),
            Some(factor) => {
                let solved = faer::linalg::solvers::Solve::solve(factor, own);
                let mut block = own.clone();
                matmul(block.as_mut(), Accum::Add, own.as_ref(), solved.as_ref(), -1.0, Par::Seq);
                block
            }
        };
        curvature.own.par_iter().map(block).collect()
    }

    /// Effective degrees of freedom of every group.
    fn freedoms(&self, curvature: &DualCurvature) -> Vec<f64> {
        let items = self.items();
        let traces = |block: &Mat<f64>| {
            let trace = |kernel: &Mat<f64>| -> f64 {
                (0..items).map(|j| dot(block.col_as_slice(j), kernel.col_as_slice(j))).sum()
            };
            self.problem.kernels.iter().map(trace).collect::<Vec<f64>>()
        };
        let traces: Vec<Vec<f64>> = self.blocks(curvature).par_iter().map(traces).collect();
        let group = |g: usize| self.strengths[g] * traces.iter().map(|of_output| of_output[g]).sum::<f64>();
        (0..self.strengths.len()).map(group).collect()
    }

    /// The logarithm of what a Fellner-Schall update multiplies every strength by, but that of the intercept, which stays; and the
    /// variance that the present outputs have.
    fn strength_steps(&self, curvature: &DualCurvature) -> (Vec<f64>, f64) {
        let freedoms = self.freedoms(curvature);
        let step = |g: usize| {
            let kernel = &self.problem.kernels[g];
            let form = |own: &Vec<f64>| times(kernel, own).iter().zip(own).map(|(k, a)| k * a).sum::<f64>();
            let squares = self.strengths[g].powi(2) * self.item_weights.iter().map(form).sum::<f64>();
            let step = (squares.max(1e-300) / freedoms[g].max(1e-300) / self.strengths[g]).ln();
            if g == 0 { 0.0 } else { step.clamp(-MOST_STEP, MOST_STEP) }
        };
        let steps = (0..self.strengths.len()).map(step).collect();
        if !self.problem.family.has_dispersion() {
            return (steps, self.variance);
        }
        let DualProblem { family, targets, weights, offset, .. } = self.problem;
        let fitted = FittedTargets { family, targets, weights, outputs: &self.predicted[0], offset };
        (steps, fitted.dispersion(freedoms.iter().sum(), self.variance, LEAST_VARIANCE))
    }

    /// Takes a share of the steps.
    fn move_strengths(&mut self, (steps, variance): &(Vec<f64>, f64), share: f64) {
        for (g, step) in steps.iter().enumerate() {
            let [least, most] = STRENGTHS.map(|bound| bound * self.start[g]);
            self.strengths[g] = (self.strengths[g] * (share * step).exp()).clamp(least, most);
        }
        self.variance *= (variance / self.variance).powf(share.min(1.0));
        self.sum_kernels();
    }

    /// The loss of every item by the outputs of a fit without it.
    fn left_out(&self, curvature: &DualCurvature) -> Vec<f64> {
        let (items, outputs) = (self.items(), self.outputs);
        // E_c K, and the same divided by the root of the sum of all E_c.
        let halves = |own: &Mat<f64>| {
            let mut inner: Mat<f64> = Mat::zeros(items, items);
            matmul(inner.as_mut(), Accum::Replace, own.as_ref(), self.kernel.as_ref(), 1.0, Par::Seq);
            let shared = curvature.sum.as_ref().map(|factor| {
                let mut shared = inner.clone();
                solve_lower_triangular_in_place(factor.L(), shared.as_mut(), Par::Seq);
                shared
            });
            (inner, shared)
        };
        let halves: Vec<(Mat<f64>, Option<Mat<f64>>)> = curvature.own.par_iter().map(halves).collect();
        let found = self.derivatives();
        let loss = |item: usize| {
            let mut spread = vec![0.0; outputs * outputs];
            for (c, (inner, shared)) in halves.iter().enumerate() {
                let explained = dot(self.kernel.col_as_slice(item), inner.col_as_slice(item));
                spread[c * outputs + c] += self.kernel[(item, item)] - explained;
                for (d, (_, other)) in halves.iter().enumerate() {
                    if let (Some(shared), Some(other)) = (shared, other) {
                        spread[c * outputs + d] += dot(shared.col_as_slice(item), other.col_as_slice(item));
                    }
                }
            }
            let DualProblem { family, targets, offset, .. } = self.problem;
            let at: Vec<f64> = self.predicted.iter().map(|own| own[item] + offset).collect();
            LeftOutItem { family, target: targets[item], dispersion: self.variance }.loss(at, &spread, &found[item])
        };
        (0..items).into_par_iter().map(loss).collect()
    }

    pub(super) fn finish(self, iterations: usize, converged: bool, judged: bool) -> Option<DualEstimate> {
        let curvature = self.curvature()?;
        let marginal = self.marginal(&curvature);
        let freedoms = self.freedoms(&curvature);
        let left_out = if judged { self.left_out(&curvature) } else { Vec::new() };
        let second = self.second();
        marginal.is_finite().then_some(DualEstimate {
            left_out,
            second,
            item_weights: self.item_weights,
            strengths: self.strengths,
            variance: self.variance,
            marginal,
            freedoms,
            iterations,
            converged,
        })
    }
}

/// The probability of a class by a softmax of the outputs.
fn probability(predicted: &[Vec<f64>], item: usize, class: usize) -> f64 {
    let own = predicted[class][item];
    1.0 / predicted.iter().map(|outputs| (outputs[item] - own).exp()).sum::<f64>()
}

/// A symmetric matrix times a vector.
fn times(matrix: &Mat<f64>, vector: &[f64]) -> Vec<f64> {
    let product = |column: usize| dot(matrix.col_as_slice(column), vector);
    (0..matrix.ncols()).into_par_iter().map(product).collect()
}
