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
//!
//! What is likely does not depend on which point is 1: the model of the data is `a ~ N(0, S_a^-)`, `r ~ N(0, S_r^-)`, all points free, and
//! its marginal likelihood is the integral over all of them,
//!
//! ```text
//! LAML = loglik - 1/2 b' S b + 1/2 log |S|_+ - 1/2 log |J' W J + S| + M/2 log 2 pi + curves / 2 log 2
//! ```
//!
//! with `J` and `S` of all values and points, that which is 1 included, and the size of curves found as their smoothness is. Values
//! multiplied and points divided by `e^t` give the same outputs: along `t` the penalties `1/2 (A e^2t + B e^-2t)` are twice as curved as
//! `J' W J + S` has it, and both signs of `(a, r)` count, which together is the factor `2 / sqrt 2` of every set of points.

use std::ops::ControlFlow;

use rayon::prelude::*;

use super::bilinear_state::{BilinearState, free_count};
use super::design::Design;
use super::family::{Derivatives, Family};
use super::left_out::LeftOutItem;
use super::matrix::{InverseRoot, TILE, Tiles};
use super::newton::Iteration;
use super::observed::Observed;
use super::penalty::Block;

/// Most iterations, and those before the first update of the smoothing parameters.
const MOST_ITERATIONS: usize = 150;
const BEFORE_UPDATES: usize = 3;
/// It has converged where the penalised log-likelihood changes by less than this share of its size and this amount, and the logarithm
/// of no smoothing parameter in which the marginal likelihood is not as good as flat by more than this.
const STILL: [f64; 2] = [1e-6, 1e-3];
const SETTLED: f64 = 0.05;
/// Another point is 1 where it is so many times as large, given what items have of it.
const LARGER: f64 = 4.0;
/// Items whose derivatives are multiplied at a time.
pub(super) const ITEMS: usize = 256;

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
    /// The penalties of parameters, the same for every output. Those of points that may be 1 are [straight](Block::straight) curves.
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

/// Where an estimate starts.
#[derive(Clone, Copy, Default)]
pub struct BilinearStart<'a> {
    /// The points, the last of the parameters of every output; where they are not given, a rank-one approximation of the effects.
    pub points: Option<&'a [f64]>,
    /// Points that are 1 throughout; of other sets it is the largest.
    pub known: &'a [usize],
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

/// Finds parameters and smoothing parameters. `None` where the likelihood is not finite.
pub fn fit_bilinear(
    problem: BilinearProblem<'_>,
    start: BilinearStart<'_>,
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
        let (gradient, by_column) = state.gradient();
        let step = match state.curvature(information.clone(), &state.known, Some(&by_column)).factor() {
            Some(factor) => factor.solve(&gradient),
            None => state.curvature(information.clone(), &state.known, None).factor()?.solve(&gradient),
        };
        let root = state.curvature(information, &state.ones, None).factor()?.inverse_root();
        let (before, after) = state.step(&step)?;
        let still = (after - before).abs() < STILL[0] * before.abs() + STILL[1];
        if iterations > BEFORE_UPDATES {
            converged = state.update(&root) < SETTLED && still;
        }
        // Penalties hold the point that is 1 where it is: in the end, once, the largest.
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

impl BilinearState<'_> {
    /// The estimate, with the marginal likelihood.
    fn finish(mut self, iterations: usize, converged: bool) -> Option<BilinearEstimate> {
        self.settle()?;
        let information = self.information()?;
        let root = self.curvature(information.clone(), &self.known, None).factor()?.inverse_root();
        let (mut log_penalty, mut rank, mut penalised) = (0.0, 0, 0.0);
        let mut freedoms = Vec::new();
        for (block, lambdas) in self.problem.blocks.iter().zip(&self.lambdas) {
            let (_, log, own) = block.spectrum(lambdas);
            let groups = self.groups(block).count();
            log_penalty += groups as f64 * log;
            rank += groups * own;
            let (traces, _) = self.forms(block, &root, &self.known);
            let shrunk: f64 = traces.iter().zip(lambdas).map(|(trace, lambda)| trace * lambda).sum();
            let free = self.groups(block).flat_map(|start| start..start + block.size).filter(|at| !self.known[*at]);
            freedoms.push(free.count() as f64 - shrunk);
            penalised += shrunk;
        }
        let BilinearProblem { family, targets, weights, curves, .. } = self.problem;
        let counted = targets.iter().zip(weights).filter(|(_, weight)| **weight != 0.0);
        let constants: f64 = counted.map(|(target, weight)| family.constant(*target, *weight, self.variance)).sum();
        let log_likelihood = self.log_likelihood(&self.predicted) + constants;
        let factor = self.curvature(information, &self.ones, None).factor()?;
        let marginal = log_likelihood - 0.5 * self.penalty_form() + 0.5 * log_penalty - 0.5 * factor.log_determinant()
            + 0.5 * (free_count(&self.ones) - rank as f64) * std::f64::consts::TAU.ln()
            + 0.5 * (self.outputs * curves.len()) as f64 * std::f64::consts::LN_2;
        let free = free_count(&self.known);
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
            self.item_derivatives(item, &self.known, &mut slopes);
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
