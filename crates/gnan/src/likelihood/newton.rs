//! Newton steps in the coefficients, Fellner-Schall updates of the smoothing parameters.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use super::design::Design;
use super::dispersion::{FittedTargets, first_dispersion, first_variance};
use super::family::{Derivatives, Family};
use super::matrix::{Factor, InverseRoot, Tiles};
use super::observed::Observed;
use super::penalty::Block;

/// Most iterations: a step in the coefficients and an update of the smoothing parameters each.
const MOST_ITERATIONS: usize = 80;
/// Most halvings of a step that lowers the penalised likelihood.
const MOST_HALVINGS: usize = 14;
/// Bounds of smoothing parameters, and of the factor by which an update changes one.
const LAMBDAS: [f64; 2] = [1e-8, 1e9];
const MOST_CHANGE: f64 = 16.0;
/// It has converged where the penalised log-likelihood changes by less than this share of its size and this amount ...
const STILL: [f64; 2] = [1e-6, 1e-3];
/// ... and an update of the smoothing parameters moves the logarithm of none that is not at a bound by more than this, unless the
/// marginal likelihood is as good as flat in it, or all of it raises the logarithm of the marginal likelihood by less than that.
const SETTLED: f64 = 0.05;
const NO_SLOPE: f64 = 1e-3;
const NO_RISE: f64 = 5e-3;
/// `X' W X` is kept while the weights of items change by no more than this share of their sum, a common factor aside: steps along a
/// curvature that is nearly right lead to the same optimum, and the last estimate has its own. While an update of the smoothing
/// parameters raises the logarithm of the marginal likelihood by more than `FAR_RISE`, where they end; where they have settled; and the
/// share that is rounding.
const KEPT_FAR: f64 = 0.1;
const FAR_RISE: f64 = 0.1;
const KEPT_WHILE: f64 = 0.01;
const KEPT_SETTLED: f64 = 1e-3;
const ROUNDING: f64 = 1e-13;
/// A fit is given up whose marginal likelihood is less than needed by more than this many times what an update raised it by, and this.
const ABOVE_RISE: f64 = 20.0;
const CLEARLY: f64 = 2.0;
/// Most steps with fixed smoothing parameters at the end, and the share of the likelihood below which a gain is none.
const MOST_SETTLING: usize = 12;
const NO_GAIN: f64 = 1e-17;
/// By how much a smoothing parameter that keeps moving one way moves further each time, and the most of it.
const FASTER: [f64; 2] = [1.5, 6.0];
/// What is added to the diagonal, as a share of its mean, so that coefficients without data have an estimate.
const RIDGE: f64 = 1e-9;
/// The same as shares of the largest entry, where strengths are so far apart that rounding makes the matrix indefinite.
const MORE_RIDGE: [f64; 4] = [1e-15, 1e-13, 1e-11, 1e-9];
/// The least variance, as a share of where it starts.
const LEAST_VARIANCE: f64 = 1e-12;

/// What is to be estimated from what.
#[derive(Clone, Copy)]
pub struct PenalisedProblem<'a> {
    /// What every item has of every coefficient, first the intercept. The coefficients of several outputs follow one another.
    pub design: &'a Design,
    /// The penalties, the same for every output; coefficients in no block are free.
    pub blocks: &'a [Block],
    /// What targets are, given outputs.
    pub family: Family,
    /// What is known of the target of every item: a number, or that of a class.
    pub targets: &'a [Observed],
    /// How much every item counts.
    pub weights: &'a [f64],
    /// What is added to what coefficients give for every item.
    pub offset: f64,
}

/// An estimate.
pub struct PenalisedEstimate {
    /// The coefficients, output after output.
    pub coefficients: Vec<f64>,
    /// The root of their posterior covariance: see [`InverseRoot::quadratic`].
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
    /// The same of all coefficients together.
    pub freedom: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether they ended because nothing changed any more.
    pub converged: bool,
}

/// Where an iteration stands.
pub struct Iteration {
    /// How many are done.
    pub number: usize,
    /// The most there can be.
    pub most: usize,
    /// The penalised log-likelihood.
    pub value: f64,
    /// Number of items that it is of.
    pub items: usize,
}

/// Where a fit starts.
#[derive(Clone, Copy, Default)]
pub struct FitStart<'a> {
    /// The smoothing parameters of the first blocks.
    pub lambdas: &'a [Vec<f64>],
    /// The coefficients; 0 where they are not known.
    pub coefficients: Option<&'a [f64]>,
    /// The dispersion of the family.
    pub variance: Option<f64>,
    /// The fit is given up where the logarithm of its marginal likelihood will clearly be less than this.
    pub least_marginal: Option<f64>,
    /// It ends where an update of the smoothing parameters raises the logarithm of the marginal likelihood by less than this, before
    /// anything has settled: to compare it with others.
    pub enough_rise: Option<f64>,
}

/// Finds the coefficients and smoothing parameters of a problem, starting with what is known of them; `monitor` may break off, which
/// gives the estimate of the time. `None` where the likelihood is not finite or its second derivatives are not usable, and where it is
/// given up.
pub fn fit(
    problem: PenalisedProblem<'_>,
    start: FitStart<'_>,
    monitor: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Option<PenalisedEstimate> {
    let mut state = NewtonState::new(problem, start.lambdas);
    if let Some(known) = start.coefficients {
        state.coefficients.copy_from_slice(known);
        state.predicted = state.predict(known);
    }
    state.variance = start.variance.unwrap_or(state.variance);
    let mut converged = false;
    let mut iterations = 0;
    let mut change_allowed = KEPT_FAR;
    while iterations < MOST_ITERATIONS && !converged {
        iterations += 1;
        let current = state.information_within(change_allowed)?;
        let factor = state.factored()?;
        let root = factor.inverse_root();
        let (before, after) = state.step(&root.solve(&state.gradient()))?;
        let marginal = start.least_marginal.filter(|_| current).map(|least| state.marginal(&factor) - least);
        let change = state.update(&root);
        let surely_less = |above: f64| above + ABOVE_RISE * change.rise + CLEARLY < 0.0;
        if (after - before).abs() < CLEARLY && marginal.is_some_and(surely_less) {
            return None;
        }
        let still = (after - before).abs() < STILL[0] * before.abs() + STILL[1];
        let settled = still && (change.largest < SETTLED || change.rise < NO_RISE);
        // What has settled by second derivatives of before must settle by its own.
        converged = settled && current;
        change_allowed = match change.rise {
            _ if settled => KEPT_SETTLED,
            rise if rise > FAR_RISE => KEPT_FAR,
            _ => KEPT_WHILE,
        };
        let report =
            Iteration { number: iterations, most: MOST_ITERATIONS, value: after, items: problem.targets.len() };
        if monitor(&report).is_break() {
            break;
        }
        let near = (after - before).abs() < CLEARLY;
        if !converged && near && start.enough_rise.is_some_and(|enough| change.rise < enough) {
            // Determinants of before are no measure of a marginal likelihood.
            state.information_anew()?;
            let factor = state.factored()?;
            return Some(state.estimate(&factor, iterations, true));
        }
    }
    state.finish(iterations, converged)
}

pub(super) struct NewtonState<'a> {
    pub(super) problem: PenalisedProblem<'a>,
    pub(super) outputs: usize,
    pub(super) coefficients: Vec<f64>,
    /// `[outputs][items]`
    pub(super) predicted: Vec<Vec<f64>>,
    pub(super) lambdas: Vec<Vec<f64>>,
    /// The logarithm of the last factor of every smoothing parameter, and how much further it was moved.
    moves: Vec<Vec<(f64, f64)>>,
    pub(super) variance: f64,
    information: Option<KnownInformation>,
}

/// What an update of the smoothing parameters changed, of those in which the marginal likelihood is not flat.
#[derive(Default)]
struct StrengthChange {
    /// The largest change of the logarithm of one.
    largest: f64,
    /// How much the logarithm of the marginal likelihood rises by all of them, by its slopes.
    rise: f64,
}

/// `X' W X` for some weights of the items, `[outputs * outputs][items]`.
struct KnownInformation {
    weights: Vec<Vec<f64>>,
    matrix: Tiles,
}

impl KnownInformation {
    /// The factor by which other weights are those of this one, and the share of their sum by which they differ from that.
    fn change(&self, weights: &[Vec<f64>]) -> (f64, f64) {
        let pairs = || self.weights.iter().flatten().zip(weights.iter().flatten());
        let (sum, known) = pairs().fold((0.0, 0.0), |(sum, known), (a, b)| (sum + b.abs(), known + a.abs()));
        let factor = if known > 0.0 { sum / known } else { 1.0 };
        let differences: f64 = pairs().map(|(known, own)| (own - factor * known).abs()).sum();
        (factor, if sum > 0.0 { differences / sum } else { differences })
    }
}

impl<'a> NewtonState<'a> {
    fn new(problem: PenalisedProblem<'a>, known: &[Vec<f64>]) -> NewtonState<'a> {
        let outputs = problem.family.outputs();
        let variance = first_dispersion(problem.family, problem.targets, problem.weights);
        // From the smooth side: a quantity is never interpolated at the start, however many coefficients there are.
        let of_item = first_variance(problem.family, problem.targets, problem.weights, variance);
        let strength = (problem.design.columns() as f64 / of_item).max(1.0);
        let lambdas = problem.blocks.iter().enumerate().map(|(place, block)| match known.get(place) {
            Some(lambdas) if lambdas.len() == block.penalties() => lambdas.clone(),
            _ => vec![strength; block.penalties()],
        });
        let lambdas: Vec<Vec<f64>> = lambdas.collect();
        NewtonState {
            outputs,
            coefficients: vec![0.0; outputs * problem.design.columns()],
            predicted: vec![vec![0.0; problem.design.rows()]; outputs],
            moves: lambdas.iter().map(|own: &Vec<f64>| vec![(0.0, 1.0); own.len()]).collect(),
            lambdas,
            variance,
            information: None,
            problem,
        }
    }

    /// Where an estimate stands.
    pub(super) fn of_estimate(problem: PenalisedProblem<'a>, estimate: &PenalisedEstimate) -> NewtonState<'a> {
        let mut state = NewtonState::new(problem, &estimate.lambdas);
        state.coefficients.clone_from(&estimate.coefficients);
        state.predicted = state.predict(&state.coefficients);
        state.variance = estimate.variance;
        state
    }

    /// Finds `X' W X` at the present coefficients.
    pub(super) fn information_anew(&mut self) -> Option<()> {
        self.information_within(ROUNDING).map(|_| ())
    }

    /// The blocks with their penalties added up, for every output: first coefficient of each group and the matrix.
    fn penalties(&self) -> Vec<Vec<f64>> {
        self.problem.blocks.iter().zip(&self.lambdas).map(|(block, lambdas)| block.matrix(lambdas)).collect()
    }

    /// The first coefficients of all groups of a block, over all outputs.
    fn groups<'b>(&'b self, block: &'b Block) -> impl Iterator<Item = usize> + 'b {
        let columns = self.problem.design.columns();
        (0..self.outputs).flat_map(move |output| block.groups().map(move |start| output * columns + start))
    }

    /// `X' W X + S` for the weights that are known.
    pub(super) fn curvature(&self) -> Tiles {
        let known = self.information.as_ref().expect("it is found before it is used");
        let mut matrix = known.matrix.clone();
        let order = matrix.order();
        let ridge = RIDGE * (0..order).map(|at| matrix.get(at, at)).sum::<f64>() / order as f64;
        (0..order).for_each(|at| matrix.add(at, at, ridge));
        let intercepts = self.tied_intercepts();
        for (place, row) in intercepts.iter().enumerate() {
            intercepts[..=place].iter().for_each(|column| matrix.add(*row, *column, 1.0));
        }
        for (block, penalty) in self.problem.blocks.iter().zip(self.penalties()) {
            for start in self.groups(block) {
                for i in 0..block.size {
                    for j in 0..=i {
                        let entry = penalty[i * block.size + j];
                        if entry != 0.0 {
                            matrix.add(start + i, start + j, entry);
                        }
                    }
                }
            }
        }
        matrix
    }

    /// The factor of `X' W X + S`; `None` where that is not positive definite by far.
    pub(super) fn factored(&self) -> Option<Factor> {
        self.curvature().factor().or_else(|| {
            MORE_RIDGE.iter().find_map(|share| {
                let mut matrix = self.curvature();
                let largest = (0..matrix.order()).map(|at| matrix.get(at, at)).fold(0.0, f64::max);
                (0..matrix.order()).for_each(|at| matrix.add(at, at, share * largest));
                matrix.factor()
            })
        })
    }

    /// The intercepts of several outputs, of which only differences matter to a likelihood: their sum is kept at 0.
    fn tied_intercepts(&self) -> Vec<usize> {
        let columns = self.problem.design.columns();
        if self.outputs > 1 { (0..self.outputs).map(|output| output * columns).collect() } else { Vec::new() }
    }

    /// Finds `X' W X` anew where the weights of items have changed by more than this share since it was found; whether it now is as good as
    /// that of the present coefficients. `None` where these have none.
    fn information_within(&mut self, allowed: f64) -> Option<bool> {
        let weights = self.item_weights()?;
        if let Some(known) = &mut self.information {
            let (factor, change) = known.change(&weights);
            if change <= allowed {
                if factor != 1.0 {
                    known.matrix.scale(factor);
                    known.weights.iter_mut().flatten().for_each(|weight| *weight *= factor);
                }
                return Some(change <= KEPT_SETTLED);
            }
        }
        let (design, outputs) = (self.problem.design, self.outputs);
        let columns = design.columns();
        let mut matrix = Tiles::zeros(outputs * columns);
        for row in 0..outputs {
            for column in 0..=row {
                design.add_gram(&weights[row * outputs + column], &mut matrix, [row * columns, column * columns]);
            }
        }
        self.information = Some(KnownInformation { weights, matrix });
        Some(true)
    }

    /// The weights of the items in `X' W X` at the present coefficients, `[outputs * outputs][items]`; `None` where one is not finite.
    fn item_weights(&self) -> Option<Vec<Vec<f64>>> {
        let PenalisedProblem { design, family, targets, weights, offset, .. } = self.problem;
        let outputs = self.outputs;
        let mut second = vec![vec![0.0; design.rows()]; outputs * outputs];
        let mut found = Derivatives::default();
        let mut own = vec![0.0; outputs];
        for item in 0..design.rows() {
            if weights[item] == 0.0 {
                continue;
            }
            own.iter_mut().zip(&self.predicted).for_each(|(own, all)| *own = all[item] + offset);
            family.derivatives(&own, targets[item], self.variance, &mut found);
            for (all, one) in second.iter_mut().zip(&found.second) {
                all[item] = weights[item] * one;
            }
        }
        second.iter().flatten().all(|weight| weight.is_finite()).then_some(second)
    }

    /// `S b`, and `b' S b`.
    fn penalty_gradient(&self, coefficients: &[f64]) -> (Vec<f64>, f64) {
        let mut gradient = vec![0.0; coefficients.len()];
        for (block, penalty) in self.problem.blocks.iter().zip(self.penalties()) {
            for start in self.groups(block) {
                let own = &coefficients[start..start + block.size];
                for i in 0..block.size {
                    let row = &penalty[i * block.size..][..block.size];
                    gradient[start + i] = row.iter().zip(own).map(|(entry, b)| entry * b).sum();
                }
            }
        }
        let intercepts = self.tied_intercepts();
        let sum: f64 = intercepts.iter().map(|at| coefficients[*at]).sum();
        intercepts.iter().for_each(|at| gradient[*at] += sum);
        let form = gradient.iter().zip(coefficients).map(|(gradient, b)| gradient * b).sum();
        (gradient, form)
    }

    pub(super) fn predict(&self, coefficients: &[f64]) -> Vec<Vec<f64>> {
        let design = self.problem.design;
        coefficients.chunks_exact(design.columns()).map(|own| design.times(own)).collect()
    }

    pub(super) fn log_likelihood(&self, predicted: &[Vec<f64>]) -> f64 {
        let PenalisedProblem { family, targets, weights, offset, .. } = self.problem;
        let mut own = vec![0.0; self.outputs];
        let mut sum = 0.0;
        for item in (0..targets.len()).filter(|item| weights[*item] != 0.0) {
            own.iter_mut().zip(predicted).for_each(|(own, all)| *own = all[item] + offset);
            sum += weights[item] * family.value(&own, targets[item], self.variance);
        }
        sum
    }

    /// What the log-likelihoods of all items leave out.
    pub(super) fn constants(&self) -> f64 {
        let PenalisedProblem { family, targets, weights, .. } = self.problem;
        let known = targets.iter().zip(weights).filter(|(_, weight)| **weight != 0.0);
        known.map(|(target, weight)| family.constant(*target, *weight, self.variance)).sum()
    }

    /// The gradient of the penalised log-likelihood.
    pub(super) fn gradient(&self) -> Vec<f64> {
        let PenalisedProblem { design, family, targets, weights, offset, .. } = self.problem;
        let mut first = vec![vec![0.0; design.rows()]; self.outputs];
        let mut found = Derivatives::default();
        let mut own = vec![0.0; self.outputs];
        for item in (0..targets.len()).filter(|item| weights[*item] != 0.0) {
            own.iter_mut().zip(&self.predicted).for_each(|(own, all)| *own = all[item] + offset);
            family.derivatives(&own, targets[item], self.variance, &mut found);
            first.iter_mut().zip(&found.first).for_each(|(all, one)| all[item] = weights[item] * one);
        }
        let mut gradient: Vec<f64> = first.iter().flat_map(|first| design.transposed_times(first)).collect();
        let (penalty, _) = self.penalty_gradient(&self.coefficients);
        gradient.iter_mut().zip(penalty).for_each(|(gradient, penalty)| *gradient -= penalty);
        gradient
    }

    /// A Newton step, halved until the penalised likelihood does not fall; its values before and after.
    pub(super) fn step(&mut self, step: &[f64]) -> Option<(f64, f64)> {
        let before = self.log_likelihood(&self.predicted) - 0.5 * self.penalty_gradient(&self.coefficients).1;
        let mut length = 1.0;
        for _ in 0..=MOST_HALVINGS {
            let moved: Vec<f64> = self.coefficients.iter().zip(step).map(|(b, step)| b + length * step).collect();
            let predicted = self.predict(&moved);
            let after = self.log_likelihood(&predicted) - 0.5 * self.penalty_gradient(&moved).1;
            if after.is_finite() && after >= before - 1e-9 * before.abs() {
                (self.coefficients, self.predicted) = (moved, predicted);
                return Some((before, after));
            }
            length /= 2.0;
        }
        before.is_finite().then_some((before, before))
    }

    /// `tr(V S_j)` of every penalty of a block, and `b' S_j b`.
    pub(super) fn forms(&self, block: &Block, root: &InverseRoot) -> (Vec<f64>, Vec<f64>) {
        let columns = self.problem.design.columns();
        let (mut traces, mut forms) = (vec![0.0; block.penalties()], vec![0.0; block.penalties()]);
        for output in 0..self.outputs {
            let shift = output * columns;
            let found = block.traces(|i, j| root.inverse(shift + i, shift + j));
            traces.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
            let found = block.traces(|i, j| self.coefficients[shift + i] * self.coefficients[shift + j]);
            forms.iter_mut().zip(found).for_each(|(sum, found)| *sum += found);
        }
        (traces, forms)
    }

    /// Updates the variance and every smoothing parameter.
    fn update(&mut self, root: &InverseRoot) -> StrengthChange {
        let mut change = StrengthChange::default();
        let mut penalised = 0.0;
        let mut lambdas = self.lambdas.clone();
        let mut moves = self.moves.clone();
        // For every penalty tr(S^- S_j), tr(V S_j) and b' S_j b.
        let mut found: Vec<Vec<[f64; 3]>> = Vec::new();
        for (block, lambdas) in self.problem.blocks.iter().zip(&lambdas) {
            let (own, _, _) = block.spectrum(lambdas);
            let (traces, forms) = self.forms(block, root);
            let repeats = (block.repeats * self.outputs) as f64;
            penalised += repeats * block.held() as f64;
            penalised += traces.iter().zip(lambdas).map(|(trace, lambda)| trace * lambda).sum::<f64>();
            found.push((0..own.len()).map(|j| [repeats * own[j], traces[j], forms[j]]).collect());
        }
        let found = self.tied(found);
        for ((found, lambdas), moves) in found.iter().zip(&mut lambdas).zip(&mut moves) {
            for (j, lambda) in lambdas.iter_mut().enumerate() {
                let [own, trace, form] = found[j];
                let factor = (own - trace).max(1e-12) / form.max(1e-12);
                let step = factor.ln();
                let (last, further) = moves[j];
                let further = if step * last > 0.0 { (further * FASTER[0]).min(FASTER[1]) } else { 1.0 };
                moves[j] = (step, further);
                let factor = (step * further).exp().clamp(1.0 / MOST_CHANGE, MOST_CHANGE);
                let next = (*lambda * factor).clamp(LAMBDAS[0], LAMBDAS[1]);
                let slope = 0.5 * *lambda * (own - trace - form);
                let moved = (next / *lambda).ln();
                if next > 1.01 * LAMBDAS[0] && next < 0.99 * LAMBDAS[1] && slope.abs() > NO_SLOPE {
                    change.largest = change.largest.max(moved.abs());
                    change.rise += slope * moved;
                }
                *lambda = next;
            }
        }
        self.variance = self.dispersion(self.coefficients.len() as f64 - penalised);
        (self.lambdas, self.moves) = (lambdas, moves);
        change
    }

    /// The dispersion at the present coefficients, after so many degrees of freedom.
    pub(super) fn dispersion(&self, freedom: f64) -> f64 {
        let PenalisedProblem { family, targets, weights, offset, .. } = self.problem;
        if !family.has_dispersion() {
            return self.variance;
        }
        let fitted = FittedTargets { family, targets, weights, outputs: &self.predicted[0], offset };
        fitted.dispersion(freedom, self.variance, LEAST_VARIANCE)
    }

    /// The same numbers of every penalty, those of blocks that share strengths summed up.
    fn tied(&self, mut found: Vec<Vec<[f64; 3]>>) -> Vec<Vec<[f64; 3]>> {
        let mut sums: BTreeMap<usize, Vec<[f64; 3]>> = BTreeMap::new();
        for (block, own) in self.problem.blocks.iter().zip(&found) {
            let Some(tie) = block.tie else { continue };
            let sums = sums.entry(tie).or_insert_with(|| vec![[0.0; 3]; own.len()]);
            for (sum, own) in sums.iter_mut().zip(own) {
                sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
            }
        }
        for (block, own) in self.problem.blocks.iter().zip(&mut found) {
            if let Some(sum) = block.tie.and_then(|tie| sums.get(&tie)) {
                own.clone_from(sum);
            }
        }
        found
    }

    /// Newton steps with fixed smoothing parameters until the gradient is nothing but rounding; the factor of the curvature.
    fn settle(&mut self) -> Option<Factor> {
        self.information_within(KEPT_WHILE)?;
        let mut factor = self.factored()?;
        for _ in 0..MOST_SETTLING {
            let gradient = self.gradient();
            let step = factor.solve(&gradient);
            let gain: f64 = step.iter().zip(&gradient).map(|(step, slope)| step * slope).sum();
            let (before, _) = self.step(&step)?;
            if gain < NO_GAIN * (1.0 + before.abs()) {
                break;
            }
            let weights = self.item_weights()?;
            if self.information.as_ref().is_none_or(|known| known.change(&weights).1 > KEPT_WHILE) {
                self.information_within(KEPT_WHILE)?;
                factor = self.factored()?;
            }
        }
        self.information_within(ROUNDING)?;
        self.factored()
    }

    /// The logarithm of the marginal likelihood, by Laplace's approximation, given the factor of the curvature.
    fn marginal(&self, factor: &Factor) -> f64 {
        let (mut log_penalty, mut rank) = (0.0, 0);
        for (block, lambdas) in self.problem.blocks.iter().zip(&self.lambdas) {
            let repeats = block.repeats * self.outputs;
            let (_, log, own) = block.spectrum(lambdas);
            log_penalty += repeats as f64 * log;
            rank += repeats * own;
        }
        let free = (self.coefficients.len() - rank) as f64;
        self.log_likelihood(&self.predicted) + self.constants() - 0.5 * self.penalty_gradient(&self.coefficients).1
            + 0.5 * log_penalty
            - 0.5 * factor.log_determinant()
            + 0.5 * free * std::f64::consts::TAU.ln()
    }

    fn finish(mut self, iterations: usize, converged: bool) -> Option<PenalisedEstimate> {
        let factor = self.settle()?;
        Some(self.estimate(&factor, iterations, converged))
    }

    /// The estimate where it stands, given the factor of the curvature.
    fn estimate(self, factor: &Factor, iterations: usize, converged: bool) -> PenalisedEstimate {
        let root = factor.inverse_root();
        let mut freedoms = Vec::new();
        let mut penalised = 0.0;
        for (block, lambdas) in self.problem.blocks.iter().zip(&self.lambdas) {
            let repeats = block.repeats * self.outputs;
            let (traces, _) = self.forms(block, &root);
            let shrunk: f64 = traces.iter().zip(lambdas).map(|(trace, lambda)| trace * lambda).sum();
            let shrunk = shrunk + (repeats * block.held()) as f64;
            freedoms.push((repeats * block.size) as f64 - shrunk);
            penalised += shrunk;
        }
        PenalisedEstimate {
            freedom: self.coefficients.len() as f64 - penalised,
            log_likelihood: self.log_likelihood(&self.predicted) + self.constants(),
            marginal: self.marginal(factor),
            coefficients: self.coefficients,
            root,
            lambdas: self.lambdas,
            variance: self.variance,
            freedoms,
            iterations,
            converged,
        }
    }
}
