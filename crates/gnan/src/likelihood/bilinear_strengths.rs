//! The smoothing parameters of a fit of products: generalised Fellner-Schall updates, with the posterior covariance of all values and
//! points, that which is 1 included.

use std::collections::BTreeMap;

use super::bilinear::BilinearProblem;
use super::bilinear_state::{BilinearState, free_count};
use super::dispersion::FittedTargets;
use super::matrix::InverseRoot;
use super::penalty::Block;

/// Bounds of smoothing parameters, and the largest factor of an update.
const LAMBDAS: [f64; 2] = [1e-8, 1e7];
const MOST_CHANGE: f64 = 16.0;
/// Bounds of the strength that says how large the points of a curve are, of which one is 1: what is nearly nothing times a free curve
/// would be as likely as anything.
const CURVE_SIZES: [f64; 2] = [1e-3, 1e3];
/// By how much a smoothing parameter that keeps moving one way moves further each time, and the most of it.
const FASTER: [f64; 2] = [1.5, 4.0];
/// The slope of the marginal likelihood below which it is as good as flat.
const NO_SLOPE: f64 = 1e-2;
/// The least variance.
const LEAST_VARIANCE: f64 = 1e-12;

impl BilinearState<'_> {
    /// `tr(V S_j)` of every penalty of a block, some parameters being fixed, and `b' S_j b`.
    pub fn forms(&self, block: &Block, root: &InverseRoot, fixed: &[bool]) -> (Vec<f64>, Vec<f64>) {
        let count = self.problem.parameters;
        let (mut traces, mut forms) = (vec![0.0; block.penalties()], vec![0.0; block.penalties()]);
        for shift in (0..self.outputs).map(|output| output * count) {
            let entry = |i: usize, j: usize| match fixed[shift + i] || fixed[shift + j] {
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
    pub fn update(&mut self, root: &InverseRoot) -> f64 {
        let (mut largest, mut penalised) = (0.0f64, 0.0);
        // For every penalty tr(S^- S_j), tr(V S_j) and b' S_j b, those of blocks that share strengths summed up.
        let mut found: Vec<Vec<[f64; 3]>> = Vec::new();
        let mut shared: BTreeMap<usize, Vec<[f64; 3]>> = BTreeMap::new();
        for (block, lambdas) in self.problem.blocks.iter().zip(&self.lambdas) {
            let groups = self.groups(block).count() as f64;
            let own: Vec<f64> = block.spectrum(lambdas).0.into_iter().map(|trace| groups * trace).collect();
            let (traces, forms) = self.forms(block, root, &self.ones);
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
            let is_curve = self.problem.curves.iter().flatten().any(|point| *point == block.first);
            for (j, [own, trace, form]) in found.iter().copied().enumerate() {
                let [least, most] = if is_curve && j == 1 { CURVE_SIZES } else { LAMBDAS };
                let lambda = &mut self.lambdas[place][j];
                let step = ((own - trace).max(1e-12) / form.max(1e-12)).ln();
                let (last, further) = self.moves[place][j];
                let further = if step * last > 0.0 { (further * FASTER[0]).min(FASTER[1]) } else { 1.0 };
                self.moves[place][j] = (step, further);
                let factor = (step * further).exp().clamp(1.0 / MOST_CHANGE, MOST_CHANGE);
                let next = (*lambda * factor).clamp(least, most);
                let slope = 0.5 * *lambda * (own - trace - form);
                if next > 1.01 * least && next < 0.99 * most && slope.abs() > NO_SLOPE {
                    largest = largest.max((next / *lambda).ln().abs());
                }
                *lambda = next;
            }
        }
        if self.problem.family.has_dispersion() {
            let BilinearProblem { family, targets, weights, offset, .. } = self.problem;
            let fitted = FittedTargets { family, targets, weights, outputs: &self.predicted[0], offset };
            self.variance = fitted.dispersion(free_count(&self.ones) - penalised, self.variance, LEAST_VARIANCE);
        }
        largest
    }
}
