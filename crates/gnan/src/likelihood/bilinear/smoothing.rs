//! Penalties of parameters, and the updates of their strengths.

use std::collections::BTreeMap;

use super::super::dispersion::FittedTargets;
use super::super::matrix::{InverseRoot, Tiles};
use super::super::penalty::Block;
use super::{BilinearProblem, BilinearState};

/// Bounds of smoothing parameters, and the largest factor of an update.
const LAMBDAS: [f64; 2] = [1e-8, 1e7];
const MOST_CHANGE: f64 = 16.0;
/// By how much a smoothing parameter that keeps moving one way moves further each time, and the most of it.
const FASTER: [f64; 2] = [1.5, 4.0];
/// The marginal likelihood is as good as flat in a smoothing parameter along which it changes by no more than this.
const NO_SLOPE: f64 = 1e-2;
/// What is added to the diagonal, as a share of its mean.
const RIDGE: f64 = 1e-9;
/// The same as a share of the entry itself: a curve through which nothing goes is known by its penalty alone, which leaves lines free.
const OWN_RIDGE: f64 = 1e-12;
/// The least variance, as a share of where it starts.
const LEAST_VARIANCE: f64 = 1e-12;

impl BilinearState<'_> {
    /// `J' W J + S`, less `X' g` of every output where a value meets a point, if that is given.
    pub(super) fn curvature(&self, mut matrix: Tiles, gradients: Option<&[Vec<f64>]>) -> Tiles {
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
    pub(super) fn groups<'b>(&'b self, block: &'b Block) -> impl Iterator<Item = usize> + 'b {
        let count = self.problem.parameters;
        (0..self.outputs).flat_map(move |output| block.groups().map(move |start| output * count + start))
    }

    /// The intercepts of several outputs, of which only differences matter to a likelihood: their sum is kept at 0.
    pub(super) fn tied_intercepts(&self) -> Vec<usize> {
        let count = self.problem.parameters;
        if self.outputs > 1 { (0..self.outputs).map(|output| output * count).collect() } else { Vec::new() }
    }

    /// `S b` for parameters that are not known, and `b' S b`.
    pub(super) fn penalty_gradient(&self, parameters: &[f64]) -> (Vec<f64>, f64) {
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

    /// `tr(S^- S_j)` of every penalty of a block over all outputs, `log |S|_+` and the rank of `S`.
    pub(super) fn spectrum(&self, block: &Block, lambdas: &[f64]) -> (Vec<f64>, f64, usize) {
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
    pub(super) fn forms(&self, block: &Block, root: &InverseRoot) -> (Vec<f64>, Vec<f64>) {
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
    pub(super) fn update(&mut self, root: &InverseRoot) -> f64 {
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
    pub(super) fn has_known_scale(&self, block: &Block) -> bool {
        self.problem.curves.iter().flatten().any(|point| *point == block.first)
    }

    /// Number of parameters that are estimated.
    pub(super) fn free_count(&self) -> f64 {
        self.known.iter().filter(|known| !**known).count() as f64
    }
}
