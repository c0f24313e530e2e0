//! Estimates that keep to linear inequalities between their coefficients.
//!
//! ```text
//! maximise over b   loglik(X b) - 1/2 b' S b   subject to   a_i' b >= c_i
//! ```
//!
//! with the strengths of the penalties that were found without the inequalities. Every step is a Newton step, followed by the
//! [nearest](nearest) point in the metric of `H = X' W X + S` that keeps to the inequalities, halved until the penalised likelihood
//! does not fall: both ends keep to them, and so does all between. It has converged where the step would gain nothing, which is
//! where the gradient is a sum of the active inequalities with multipliers not above 0 (Karush, Kuhn and Tucker). The dispersion is
//! estimated again in between.
//!
//! The covariance is that of the coefficients given that the active inequalities hold with equality,
//! `V - V A' (A V A')^-1 A V`: they are held by weights so large that nothing of their variance is left, as the means of rows of a
//! table are. The bands of such sums have width 0, those of others are never wider than without constraints; that an estimate near
//! an inequality that is not active cannot cross it is left out.

use std::ops::ControlFlow;

use super::inequality::{ActiveInequality, Inequality, nearest};
use super::matrix::InverseRoot;
use super::newton::{Iteration, NewtonState, PenalisedEstimate, PenalisedProblem};
use super::penalty::Block;

/// Most Newton steps for a dispersion, and the share of the likelihood below which a gain is none, or nearly.
const MOST_STEPS: usize = 40;
const NO_GAIN: f64 = 1e-17;
const HARDLY_ANY: f64 = 1e-9;
/// Most dispersions, and the share by which one changes that is taken for none.
const MOST_DISPERSIONS: usize = 12;
const SAME: f64 = 1e-3;
/// The most that a change of the logarithm of a dispersion is multiplied by.
const MOST_TIMES: f64 = 8.0;
/// How often an active inequality is weighed against its own variance.
const HELD: f64 = 1e8;

/// The estimate of the same problem that keeps to some inequalities; the same where it does already. `monitor` may break off, which
/// gives the first coefficients from then on that keep to them. `None` where they contradict one another, or the likelihood is not
/// finite. The marginal likelihood stays that without inequalities.
pub fn fit_within(
    problem: PenalisedProblem<'_>,
    estimate: PenalisedEstimate,
    inequalities: &[Inequality],
    monitor: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Option<PenalisedEstimate> {
    if inequalities.iter().all(|inequality| inequality.holds(&estimate.coefficients)) {
        return Some(estimate);
    }
    let mut state = NewtonState::of_estimate(problem, &estimate);
    let PenalisedEstimate { marginal, iterations, converged: free_converged, .. } = estimate;
    drop(estimate);
    let mut steps = ConstrainedSteps { within: false, taken: 0, interrupted: false, monitor };
    let mut dispersions = 1;
    let mut before: Option<(f64, f64)> = None;
    loop {
        let (active, converged) = state.steps_within(inequalities, &mut steps)?;
        let HeldCovariance { root, freedoms } = state.held(inequalities, &active)?;
        let freedom = freedoms.iter().sum::<f64>() + state.unpenalised();
        let dispersion = state.dispersion(freedom);
        let same = (dispersion - state.variance).abs() <= SAME * state.variance;
        if same || dispersions == MOST_DISPERSIONS || steps.interrupted {
            return Some(PenalisedEstimate {
                log_likelihood: state.log_likelihood(&state.predicted) + state.constants(),
                coefficients: state.coefficients,
                root,
                lambdas: state.lambdas,
                variance: state.variance,
                marginal,
                freedoms,
                freedom,
                iterations,
                converged: converged && same && free_converged && !steps.interrupted,
            });
        }
        // A secant step where the change of the logarithm shrinks as it moves, by at most so many times the change.
        let (at, change) = (state.variance.ln(), (dispersion / state.variance).ln());
        let times = before.map_or(1.0, |(other, of_other)| (at - other) / (of_other - change));
        let times = if times.is_finite() && times > 0.0 { times.min(MOST_TIMES) } else { 1.0 };
        before = Some((at, change));
        state.variance = (at + times * change).exp();
        dispersions += 1;
    }
}

/// The steps that are taken within inequalities.
struct ConstrainedSteps<'a> {
    /// Whether the coefficients keep to them already.
    within: bool,
    taken: usize,
    interrupted: bool,
    monitor: &'a mut dyn FnMut(&Iteration) -> ControlFlow<()>,
}

/// The covariance with the active inequalities held, and the degrees of freedom of every block.
struct HeldCovariance {
    root: InverseRoot,
    freedoms: Vec<f64>,
}

impl NewtonState<'_> {
    /// Newton steps within the inequalities until none gains anything; the active ones, and whether that was reached.
    fn steps_within(
        &mut self,
        inequalities: &[Inequality],
        steps: &mut ConstrainedSteps<'_>,
    ) -> Option<(Vec<ActiveInequality>, bool)> {
        let mut last = None;
        let mut least = f64::INFINITY;
        for _ in 0..MOST_STEPS {
            self.information_anew()?;
            let root = self.factored()?.inverse_root();
            let gradient = self.gradient();
            let newton = root.solve(&gradient);
            let target: Vec<f64> = self.coefficients.iter().zip(&newton).map(|(b, step)| b + step).collect();
            let found = nearest(&target, &root, inequalities)?;
            let step: Vec<f64> = found.point.iter().zip(&self.coefficients).map(|(x, b)| x - b).collect();
            if !steps.within {
                self.start_at(found.point)?;
                steps.within = true;
                continue;
            }
            let gain: f64 = step.iter().zip(&gradient).map(|(step, slope)| step * slope).sum();
            let (before, _) = self.step(&step)?;
            // A gain that is small and grows no smaller is rounding.
            let small = gain < HARDLY_ANY * (1.0 + before.abs());
            let done = gain < NO_GAIN * (1.0 + before.abs()) || small && gain > 0.1 * least;
            least = least.min(gain);
            last = Some((found.active, small));
            steps.taken += 1;
            let report = Iteration {
                number: steps.taken,
                most: MOST_STEPS * MOST_DISPERSIONS,
                value: before,
                items: self.problem.targets.len(),
            };
            steps.interrupted |= (steps.monitor)(&report).is_break();
            if done || steps.interrupted {
                break;
            }
        }
        last
    }

    /// Goes to coefficients that keep to the inequalities; `None` where their likelihood is not finite.
    fn start_at(&mut self, point: Vec<f64>) -> Option<()> {
        let predicted = self.predict(&point);
        let value = self.log_likelihood(&predicted);
        (self.coefficients, self.predicted) = (point, predicted);
        value.is_finite().then_some(())
    }

    /// The covariance and the degrees of freedom where some inequalities hold with equality.
    fn held(&mut self, inequalities: &[Inequality], active: &[ActiveInequality]) -> Option<HeldCovariance> {
        self.information_anew()?;
        let mut curvature = self.curvature();
        let free = self.factored()?.inverse_root();
        let terms = |active: &ActiveInequality| &inequalities[active.place].terms;
        let weights: Vec<f64> =
            active.iter().map(|active| HELD / free.quadratic(terms(active).iter().copied())).collect();
        drop(free);
        for (active, weight) in active.iter().zip(&weights) {
            for (row, one) in terms(active) {
                let lower = terms(active).iter().filter(|(column, _)| column <= row);
                lower.for_each(|(column, other)| curvature.add(*row, *column, weight * one * other));
            }
        }
        let root = curvature.factor()?.inverse_root();
        let mut freedoms: Vec<f64> = Vec::new();
        for (block, lambdas) in self.problem.blocks.iter().zip(&self.lambdas) {
            let (traces, _) = self.forms(block, &root);
            let shrunk: f64 = traces.iter().zip(lambdas).map(|(trace, lambda)| trace * lambda).sum();
            let count = self.outputs * block.repeats * (block.size - block.held());
            freedoms.push(count as f64 - shrunk);
        }
        // What an inequality takes of the freedom of every coefficient that it ties.
        for (active, weight) in active.iter().zip(&weights) {
            for (row, one) in terms(active) {
                let entry: f64 = terms(active).iter().map(|(column, other)| other * root.inverse(*row, *column)).sum();
                if let Some(place) = self.block_of(*row) {
                    freedoms[place] -= weight * one * entry;
                }
            }
        }
        Some(HeldCovariance { root, freedoms })
    }

    /// The block of a coefficient.
    fn block_of(&self, coefficient: usize) -> Option<usize> {
        let column = coefficient % self.problem.design.columns();
        let holds = |block: &Block| (block.first..block.first + block.repeats * block.size).contains(&column);
        self.problem.blocks.iter().position(holds)
    }

    /// Number of coefficients in no block.
    fn unpenalised(&self) -> f64 {
        let in_blocks: usize = self.problem.blocks.iter().map(|block| block.repeats * block.size).sum();
        self.coefficients.len() as f64 - (self.outputs * in_blocks) as f64
    }
}
