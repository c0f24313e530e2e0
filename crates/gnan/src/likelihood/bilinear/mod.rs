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

mod derivatives;
mod smoothing;
mod start;

use std::ops::ControlFlow;

use self::derivatives::ITEMS;
use self::start::first_parameters;
use super::design::Design;
use super::dispersion::first_dispersion;
use super::family::Family;
use super::matrix::{Factor, InverseRoot, TILE, Tiles};
use super::newton::Iteration;
use super::observed::Observed;
use super::penalty::Block;

/// Most iterations, and those before the first update of the smoothing parameters.
const MOST_ITERATIONS: usize = 150;
const BEFORE_UPDATES: usize = 3;
/// Most halvings of a step that lowers the penalised likelihood.
const MOST_HALVINGS: usize = 20;
/// Where smoothing parameters start.
const FIRST_LAMBDA: f64 = 1.0;
/// It has converged where the penalised log-likelihood changes by less than this share of its size and this amount, and the logarithm
/// of no smoothing parameter that matters by more than this.
const STILL: [f64; 2] = [1e-6, 1e-3];
const SETTLED: f64 = 0.05;
/// Another point is 1 where it is so many times as large, given what items have of it.
const LARGER: f64 = 4.0;
/// Most steps with fixed smoothing parameters at the end, the share of the likelihood below which a gain is none, and that below which it
/// may be rounding.
const MOST_SETTLING: usize = 60;
const NO_GAIN: f64 = 1e-23;
const ROUNDING: f64 = 1e-12;

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
        let items = problem.targets.len();
        if monitor(&Iteration { number: iterations, most: MOST_ITERATIONS, value: after, items }).is_break() {
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
}
