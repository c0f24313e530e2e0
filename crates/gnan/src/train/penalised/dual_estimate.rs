//! The estimate of one candidate in the dual form: where coefficients outnumber the items by far or are too many, items are
//! weighed, and effects have one prior variance for each distance, or one curve over distance that all of them share.
//!
//! Prior variances do not depend on how many items there are, and finding them takes hundreds of fits. So where items are many, every
//! so many-th of them finds the prior variances, and judges what is compared; all items are fitted once, in the end.

use std::sync::Arc;

use faer::linalg::matmul::matmul;
use faer::{Accum, Mat, Par};
use rayon::prelude::*;

use super::columns::Columns;
use super::estimate::{IterationMonitor, PartEstimate, PowerFit, bring_to_one_spread};
use super::targets::TargetPart;
use crate::likelihood::{
    Design, DualCovariance, DualEstimate, DualProblem, DualRows, Kernel, Observed, dual_bytes, fit_dual, fit_dual_with,
    fit_shared_curve,
};
use crate::model::{Covariance, PosteriorPart};

/// Most items by which prior variances are found.
const MOST_SEARCHED: usize = 900;

/// The memory that the dual form takes, in bytes, with what every item has of every coefficient.
pub(super) fn dual_memory(columns: usize, items: usize, outputs: usize) -> u64 {
    dual_bytes(items, items.min(MOST_SEARCHED), outputs) + 4 * columns as u64 * items as u64
}

/// Operations that the dual form takes, about: several products of every output for a step, several steps for an update of the prior
/// variances, and tens of updates by some of the items; then some steps by all of them.
pub(super) fn dual_operations(items: usize, outputs: usize) -> f64 {
    let cube = |items: usize| outputs as f64 * (items as f64).powi(3);
    400.0 * cube(items.min(MOST_SEARCHED)) + 4.0 * cube(items)
}

/// What the posterior of an estimate is made of.
pub(super) struct DualPart {
    prior: DualPrior,
    /// The items that were fitted.
    items: Vec<usize>,
    /// The second derivative of each, `[outputs][items]`.
    second: Vec<Vec<f64>>,
    /// For every coefficient, on the scale of the fit, the latent number that it is a multiple of, and its standard deviation.
    latents: Vec<u32>,
    loadings: Vec<f64>,
    /// Effective degrees of freedom, and the logarithm of the marginal likelihood.
    pub freedom: f64,
    pub marginal: f64,
}

impl DualPart {
    /// The posterior of the coefficients, given what items have of them and the scale of targets; `None` where it is not finite.
    pub(super) fn posterior(&self, design: &Design, scale: f64, noise: f64) -> Option<PosteriorPart> {
        let latents = self.latents.iter().map(|latent| *latent as usize + 1).max().unwrap_or(0);
        let mut rows = vec![0.0; latents * self.items.len()];
        for (at, item) in self.items.iter().enumerate() {
            for (column, value) in design.row(*item) {
                rows[self.latents[column] as usize * self.items.len() + at] += (value * self.loadings[column]) as f32;
            }
        }
        let roots = |second: &Vec<f64>| second.iter().map(|second| second.sqrt()).collect();
        let covariance = DualCovariance::new(DualRows {
            latents: self.latents.as_slice().into(),
            loadings: self.loadings.iter().map(|loading| loading * scale).collect(),
            rows: rows.into(),
            weights: self.second.iter().map(roots).collect(),
        })?;
        let outputs = self.second.len();
        Some(PosteriorPart { outputs, covariance: Covariance::Dual(Arc::new(covariance)), products: None, noise })
    }
}

/// The prior of the effects.
#[derive(Clone)]
struct DualPrior {
    /// The prior variance of every group; without the distances where a curve is shared.
    strengths: Vec<f64>,
    variance: f64,
    /// The curve over distance that all effects share.
    curve: Option<Vec<f64>>,
}

/// Fits the weights of some items of every part.
pub(super) fn fit_some_dual(
    design: &Design,
    columns: &Columns,
    parts: &[TargetPart],
    power: f64,
    monitor: &mut IterationMonitor<'_>,
) -> Option<PowerFit> {
    let groups = columns.distance_groups();
    let factors = group_factors(design, &groups, power);
    let mut scaled = design.clone();
    scaled.scale_columns(&factors);
    let weighing = Weighing::new(&scaled, &groups, columns, power);
    let mut all = PowerFit { found: Vec::new(), marginal: 0.0, left_out: Vec::new(), converged: true };
    let mut losses = vec![0.0; design.rows()];
    for part in parts {
        let items = part.counting(design.rows());
        let (count, step) = (items.len(), items.len().div_ceil(MOST_SEARCHED).max(1));
        let some: Vec<usize> = items.into_iter().step_by(step).collect();
        let (estimate, prior) = weighing.search(part, &some, monitor)?;
        all.marginal += estimate.marginal;
        all.converged &= estimate.converged;
        // They stand for the others, of which another part may have looked at some.
        let stands_for = count as f64 / some.len() as f64;
        some.iter().zip(&estimate.left_out).for_each(|(item, loss)| losses[*item] += stands_for * loss);
        all.found.push(weighing.part_estimate(part, some, estimate, &factors, prior));
    }
    all.left_out = losses;
    Some(all)
}

/// Fits the weights of all items of every part of which only some were, and whether that converged. What was found by some is kept where
/// it is broken off or has no estimate.
pub(super) fn fit_rest_dual(
    design: &Design,
    columns: &Columns,
    parts: &[TargetPart],
    power: f64,
    mut found: Vec<PartEstimate>,
    monitor: &mut IterationMonitor<'_>,
) -> (Vec<PartEstimate>, bool) {
    let groups = columns.distance_groups();
    let mut scaled = design.clone();
    if let Some(first) = found.first() {
        scaled.scale_columns(&first.factors);
    }
    let weighing = Weighing::new(&scaled, &groups, columns, power);
    let (mut all_converged, mut interrupted) = (true, false);
    for (part, estimate) in parts.iter().zip(&mut found) {
        let items = part.counting(design.rows());
        let Some(dual) = estimate.dual.as_ref().filter(|dual| dual.items.len() < items.len() && !interrupted) else {
            continue;
        };
        let prior = dual.prior.clone();
        let of_all = weighing.fit_with(part, &items, &prior, &mut |iteration| {
            let flow = monitor(iteration);
            interrupted |= flow.is_break();
            flow
        });
        all_converged &= of_all.as_ref().is_some_and(|of_all| of_all.converged);
        if let Some(of_all) = of_all.filter(|_| !interrupted) {
            *estimate = weighing.part_estimate(part, items, of_all, &estimate.factors, prior);
        }
    }
    (found, all_converged)
}

/// Items that are weighed.
struct Weighing<'a> {
    design: &'a Design,
    /// The columns by what they are at which distance.
    groups: &'a [Vec<usize>],
    /// The first of the groups that may share a curve over distance, and whether they may.
    first_shared: usize,
    may_share: bool,
}

impl<'a> Weighing<'a> {
    fn new(design: &'a Design, groups: &'a [Vec<usize>], columns: &Columns, power: f64) -> Weighing<'a> {
        // The distances at which a curve may be shared come last.
        let first_shared = groups.len() - columns.places();
        Weighing { design, groups, first_shared, may_share: power == 0.0 && columns.places() > 1 }
    }

    /// The estimate of a part by some items.
    fn part_estimate(
        &self,
        part: &TargetPart,
        items: Vec<usize>,
        estimate: DualEstimate,
        factors: &[f64],
        prior: DualPrior,
    ) -> PartEstimate {
        let coefficients =
            estimate.item_weights.iter().flat_map(|own| self.coefficients(&items, own, &prior)).collect();
        let (latents, loadings) = self.latents(factors, &prior);
        let dual = DualPart {
            prior,
            items,
            second: estimate.second,
            latents,
            loadings,
            freedom: estimate.freedoms.iter().sum(),
            marginal: estimate.marginal,
        };
        PartEstimate {
            coefficients,
            factors: factors.to_vec(),
            shift: part.shift,
            scale: part.scale,
            variance: estimate.variance,
            primal: None,
            bilinear: None,
            dual: Some(dual),
        }
    }

    /// Finds the prior by some items.
    fn search(
        &self,
        part: &TargetPart,
        items: &[usize],
        monitor: &mut IterationMonitor<'_>,
    ) -> Option<(DualEstimate, DualPrior)> {
        let kernels: Vec<Mat<f64>> = self
            .groups
            .par_iter()
            .map(|group| dense_columns(self.design, items, group))
            .map(|x| product(&x, &x))
            .collect();
        let known = KnownTargets::new(part, items);
        let problem = known.problem(part, &kernels);
        let estimate = fit_dual(problem, monitor)?;
        let mut prior = DualPrior { strengths: estimate.strengths.clone(), variance: estimate.variance, curve: None };
        if !self.may_share {
            return Some((estimate, prior));
        }
        // One curve over distance for all effects, where that predicts better.
        let (others, shared) = estimate.strengths.split_at(self.first_shared);
        let start: Vec<f64> = shared.iter().map(|strength| strength.sqrt()).collect();
        let of_groups: Vec<Mat<f64>> =
            self.groups[self.first_shared..].par_iter().map(|group| dense_columns(self.design, items, group)).collect();
        let cross: Vec<Vec<Mat<f64>>> = (0..of_groups.len())
            .into_par_iter()
            .map(|g| (0..=g).map(|h| product(&of_groups[g], &of_groups[h])).collect())
            .collect();
        let without = DualProblem { kernels: &kernels[..self.first_shared], ..problem };
        let shared = fit_shared_curve(without, &cross, others, &start, monitor);
        let loss = |estimate: &DualEstimate| estimate.left_out.iter().sum::<f64>();
        match shared.filter(|(shared, _)| loss(shared) < loss(&estimate)) {
            Some((shared, curve)) => {
                prior.strengths.truncate(self.first_shared);
                (prior.variance, prior.curve) = (shared.variance, Some(curve));
                Some((shared, prior))
            }
            None => Some((estimate, prior)),
        }
    }

    /// Fits all items with a prior that is known.
    fn fit_with(
        &self,
        part: &TargetPart,
        items: &[usize],
        prior: &DualPrior,
        monitor: &mut IterationMonitor<'_>,
    ) -> Option<DualEstimate> {
        // One kernel with all strengths in it: there may be many groups.
        let mut kernel = Kernel::new(items.len());
        for (group, strength) in self.groups.iter().zip(&prior.strengths) {
            kernel.add(dense_columns(self.design, items, group).as_ref(), *strength);
        }
        if let Some(curve) = &prior.curve {
            let mut shared: Mat<f64> = Mat::zeros(self.groups[self.first_shared].len(), items.len());
            for (group, r) in self.groups[self.first_shared..].iter().zip(curve) {
                shared += dense_columns(self.design, items, group) * faer::Scale(*r);
            }
            kernel.add(shared.as_ref(), 1.0);
        }
        let known = KnownTargets::new(part, items);
        fit_dual_with(known.problem(part, &[kernel.matrix()]), &[1.0], prior.variance, monitor)
    }

    /// The latent number of every coefficient and what it is multiplied by, where columns are multiplied by factors: coefficients that
    /// share a curve over distance are multiples of one number.
    fn latents(&self, factors: &[f64], prior: &DualPrior) -> (Vec<u32>, Vec<f64>) {
        let mut latents: Vec<Option<u32>> = vec![None; factors.len()];
        let mut loadings = vec![0.0; factors.len()];
        let mut count = 0;
        let mut next = || {
            count += 1;
            Some(count - 1)
        };
        for (group, strength) in self.groups.iter().zip(&prior.strengths) {
            for column in group {
                (latents[*column], loadings[*column]) = (next(), factors[*column] * strength.sqrt());
            }
        }
        if let Some(curve) = &prior.curve {
            let shared = &self.groups[self.first_shared..];
            for value in 0..shared[0].len() {
                let latent = next();
                for (group, r) in shared.iter().zip(curve) {
                    (latents[group[value]], loadings[group[value]]) = (latent, factors[group[value]] * r);
                }
            }
        }
        // What is in no group is 0.
        let latents = latents.into_iter().map(|latent| latent.or_else(&mut next).unwrap_or_default());
        (latents.collect(), loadings)
    }

    /// The coefficients that the weights of some items make.
    fn coefficients(&self, items: &[usize], weights: &[f64], prior: &DualPrior) -> Vec<f64> {
        let mut of_rows = vec![0.0; self.design.rows()];
        items.iter().zip(weights).for_each(|(item, weight)| of_rows[*item] = *weight);
        let sums = self.design.transposed_times(&of_rows);
        let mut found = vec![0.0; sums.len()];
        for (group, strength) in self.groups.iter().zip(&prior.strengths) {
            group.iter().for_each(|column| found[*column] = strength * sums[*column]);
        }
        if let Some(curve) = &prior.curve {
            let shared = &self.groups[self.first_shared..];
            for value in 0..shared[0].len() {
                let places = || shared.iter().map(|group| group[value]).zip(curve);
                let sum: f64 = places().map(|(column, r)| r * sums[column]).sum();
                places().for_each(|(column, r)| found[column] = r * sum);
            }
        }
        found
    }
}

/// The targets and weights of some items.
struct KnownTargets {
    targets: Vec<Observed>,
    weights: Vec<f64>,
}

impl KnownTargets {
    fn new(part: &TargetPart, items: &[usize]) -> KnownTargets {
        KnownTargets {
            targets: items.iter().map(|item| part.targets[*item]).collect(),
            weights: items.iter().map(|item| part.weights[*item]).collect(),
        }
    }

    fn problem<'a>(&'a self, part: &TargetPart, kernels: &'a [Mat<f64>]) -> DualProblem<'a> {
        DualProblem {
            kernels,
            family: part.family,
            targets: &self.targets,
            weights: &self.weights,
            offset: part.offset(),
        }
    }
}

/// `A' B`.
fn product(left: &Mat<f64>, right: &Mat<f64>) -> Mat<f64> {
    let mut product = Mat::zeros(left.ncols(), right.ncols());
    matmul(product.as_mut(), Accum::Replace, left.transpose(), right.as_ref(), 1.0, Par::Seq);
    product
}

/// What items have of the columns of a group, `[columns, items]`.
fn dense_columns(design: &Design, items: &[usize], group: &[usize]) -> Mat<f64> {
    let mut place = vec![None; design.columns()];
    group.iter().enumerate().for_each(|(at, column)| place[*column] = Some(at));
    let mut dense: Mat<f64> = Mat::zeros(group.len(), items.len());
    for (at, item) in items.iter().enumerate() {
        for (column, value) in design.row(*item) {
            if let Some(row) = place[column] {
                dense[(row, at)] = value;
            }
        }
    }
    dense
}

/// What the columns of every group are multiplied by, so that groups have the same spread.
fn group_factors(design: &Design, groups: &[Vec<usize>], power: f64) -> Vec<f64> {
    let spreads: Vec<f64> = design.moments().into_iter().map(|(_, variance)| variance.sqrt()).collect();
    let mut factors = vec![1.0; design.columns()];
    // The intercept stays what it is.
    for group in &groups[1..] {
        bring_to_one_spread(group, &spreads, |_| 0.0, power, &mut factors);
    }
    factors
}
