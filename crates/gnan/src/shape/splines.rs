//! Many B-splines, each evaluated at its own points: linear in their coefficients.
//!
//! ```text
//! forward    out[p, c]      = sum over the coefficients j that count at point p of weight[p, j] * coefficient[j, c]
//! backward   gradient[j, c] = sum over points of weight[p, j] * out_gradient[p, c] + smooth * (D^T D coefficients)[j, c]
//! ```
//!
//! Weights depend on points and knots alone and are computed once. `D` takes second differences, twice the distance of a
//! coefficient from the line through its neighbours: the penalty `smooth / 2 * |D coefficients|^2` costs a line nothing.

use std::sync::Arc;

use rayon::prelude::*;

use super::adam::AdamStep;
use super::bank::Moments;
use super::basis::{Basis, BasisPoint};
use super::blocks::Blocks;
use super::eval_points::EvalPoints;

/// Points that are evaluated by one thread at a time.
const POINTS_AT_ONCE: usize = 4096;

/// What one spline is, but for its coefficients.
#[derive(Clone, Debug, PartialEq)]
pub struct SplineSpec {
    /// Its basis.
    pub basis: Basis,
    smooth: f64,
    /// For every second difference how much the three coefficients count.
    differences: Vec<[f64; 3]>,
}

impl SplineSpec {
    /// A shape function, with this strength of its smoothness penalty.
    pub fn shape(basis: Basis, smooth: f64) -> SplineSpec {
        // A spline without its first coefficient is a line, which needs no smoothing.
        let count = if basis.anchored { 0 } else { basis.full_count() };
        let places: Vec<f64> = (0..count).map(|coefficient| basis.greville(coefficient)).collect();
        SplineSpec { differences: places.windows(3).map(difference).collect(), basis, smooth }
    }

    /// A distance function over `t = 1 / (1 + distance)`: smooth is one that hardly bends over distance. The node itself
    /// and "unreachable" are no neighbours of other distances.
    pub fn rho(basis: Basis, smooth: f64) -> SplineSpec {
        let distances: Vec<f64> = basis.knots.iter().map(|t| 1.0 / t - 1.0).collect();
        let alone = |places: &[f64]| places.iter().any(|distance| *distance == 0.0 || distance.is_infinite());
        let row = |places: &[f64]| if alone(places) { [0.0; 3] } else { difference(places) };
        SplineSpec { differences: distances.windows(3).map(row).collect(), basis, smooth }
    }

    /// Adds the gradient of the penalty to `gradient` (`[coefficients, outputs]`).
    fn add_penalty(&self, coefficients: &[f32], gradient: &mut [f64], outputs: usize) {
        if self.smooth == 0.0 {
            return;
        }
        for (row, weights) in self.differences.iter().enumerate() {
            for c in 0..outputs {
                let place = |k: usize| (row + k) * outputs + c;
                let bend: f64 = (0..3).map(|k| weights[k] * f64::from(coefficients[place(k)])).sum();
                (0..3).for_each(|k| gradient[place(k)] += self.smooth * bend * weights[k]);
            }
        }
    }
}

/// How the second difference of three coefficients at these places weighs them.
fn difference(places: &[f64]) -> [f64; 3] {
    let share = (places[1] - places[0]) / (places[2] - places[0]);
    [2.0 * (1.0 - share), -2.0, 2.0 * share]
}

/// The coefficients of many splines.
#[derive(Clone, Debug)]
pub(crate) struct Splines {
    pub outputs: usize,
    pub specs: Vec<Arc<SplineSpec>>,
    /// The coefficients of every spline, `[coefficients, outputs]`.
    pub blocks: Blocks,
}

impl Splines {
    /// Splines that are 0 everywhere.
    pub fn zeros(specs: &[Arc<SplineSpec>], outputs: usize) -> Splines {
        let lengths = specs.iter().map(|spec| spec.basis.count() * outputs);
        Splines { outputs, specs: specs.to_vec(), blocks: Blocks::zeros(lengths) }
    }

    /// Makes every spline the identity.
    pub fn set_identity(&mut self) {
        for (spline, spec) in self.specs.iter().enumerate() {
            for (coefficient, row) in self.blocks.block_mut(spline).chunks_exact_mut(self.outputs).enumerate() {
                row.fill(spec.basis.greville(coefficient) as f32);
            }
        }
    }

    /// Evaluates every spline at its points.
    pub fn forward(&self, eval_points: &mut EvalPoints) {
        let outputs = self.outputs;
        let coefficients = self.blocks.all();
        let points = eval_points.basis_points.par_chunks(POINTS_AT_ONCE);
        let found = eval_points.outputs.par_chunks_mut(POINTS_AT_ONCE * outputs);
        points.zip(found).for_each(|(points, found)| {
            for (point, found) in points.iter().zip(found.chunks_exact_mut(outputs)) {
                for (c, found) in found.iter_mut().enumerate() {
                    let term = |(j, weight): (usize, f64)| weight * f64::from(coefficients[j * outputs + c]);
                    *found = point.terms().map(term).sum::<f64>() as f32;
                }
            }
        });
    }

    /// Takes the gradient of every output, and that of the penalty, back to the coefficients and moves them by one Adam
    /// step.
    pub fn backward(&mut self, eval_points: &EvalPoints, out_gradient: &[f32], moments: &mut Moments, step: &AdamStep) {
        let mut gradient = vec![0.0; self.blocks.floats.as_slice().len()];
        let mut rest = &mut gradient[..];
        let mut parts = Vec::with_capacity(self.specs.len());
        for spline in 0..self.specs.len() {
            let (part, others) = rest.split_at_mut(self.blocks.range(spline).len());
            parts.push((spline, part));
            rest = others;
        }
        let work = |(spline, part): (usize, &mut [f32])| self.gradient(spline, eval_points, out_gradient, part);
        if eval_points.len() * self.outputs < POINTS_AT_ONCE {
            parts.into_iter().for_each(work);
        } else {
            parts.into_par_iter().for_each(work);
        }
        let (first, second) = (moments.first.as_mut_slice(), moments.second.as_mut_slice());
        step.update(self.blocks.floats.as_mut_slice(), &gradient, first, second);
    }

    /// Leaves the gradient of one spline's coefficients in `out`.
    fn gradient(&self, spline: usize, eval_points: &EvalPoints, out_gradient: &[f32], out: &mut [f32]) {
        let outputs = self.outputs;
        let mut sums = vec![0.0; out.len()];
        let start = self.blocks.range(spline).start / outputs;
        let rows = eval_points.rows(spline);
        let given = out_gradient[rows.start * outputs..rows.end * outputs].chunks_exact(outputs);
        for (point, given) in eval_points.basis_points[rows].iter().zip(given) {
            for (j, weight) in point.terms() {
                let sums = &mut sums[(j - start) * outputs..][..outputs];
                sums.iter_mut().zip(given).for_each(|(sum, g)| *sum += weight * f64::from(*g));
            }
        }
        self.specs[spline].add_penalty(self.blocks.block(spline), &mut sums, outputs);
        out.iter_mut().zip(sums).for_each(|(out, sum)| *out = sum as f32);
    }
}

/// The first coefficient of every spline, and their number.
pub(super) fn offsets(specs: &[Arc<SplineSpec>]) -> Vec<usize> {
    let mut offsets = vec![0];
    for spec in specs {
        offsets.push(offsets[offsets.len() - 1] + spec.basis.count());
    }
    offsets
}

/// The points of every spline, with coefficients counted over all splines.
pub(super) fn basis_points(specs: &[Arc<SplineSpec>], points: &[Vec<f64>]) -> Vec<BasisPoint> {
    let starts = offsets(specs);
    let of_spline = |((spec, start), points): ((&Arc<SplineSpec>, usize), &Vec<f64>)| {
        let found = points.iter().map(|z| spec.basis.at(*z));
        found.map(|point| BasisPoint { first: point.first + start as u32, ..point }).collect::<Vec<_>>()
    };
    specs.iter().zip(starts).zip(points).flat_map(of_spline).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The gradient of the penalty is that of its formula, and lines cost nothing however knots lie.
    #[test]
    fn the_penalty_has_the_gradient_of_its_formula() {
        let values: Vec<f64> = (0..50).map(|k| f64::from(k * k % 37) * 0.1).collect();
        let spec = SplineSpec::shape(Basis::of_values(values, false), 0.7);
        let count = spec.basis.count();
        let penalty = |c: &[f64]| {
            let bend = |row: usize| {
                let [a, b, d] = [0, 1, 2].map(|k| (spec.basis.greville(row + k), c[row + k]));
                2.0 * (a.1 + (d.1 - a.1) * (b.0 - a.0) / (d.0 - a.0) - b.1)
            };
            0.35 * (0..count - 2).map(|row| bend(row) * bend(row)).sum::<f64>()
        };
        let coefficients: Vec<f32> = (0..count).map(|j| ((j * 5) % 7) as f32 - 3.0).collect();
        let mut gradient = vec![0.0; count];
        spec.add_penalty(&coefficients, &mut gradient, 1);
        for j in 0..count {
            let at = |by: f64| {
                let mut moved: Vec<f64> = coefficients.iter().map(|c| f64::from(*c)).collect();
                moved[j] += by;
                penalty(&moved)
            };
            let difference = (at(1e-5) - at(-1e-5)) / 2e-5;
            assert!((difference - gradient[j]).abs() < 1e-6 * (1.0 + difference.abs()), "{j}");
        }
        let line: Vec<f32> = (0..count).map(|j| 3.0 - 2.0 * spec.basis.greville(j) as f32).collect();
        let mut gradient = vec![0.0; count];
        spec.add_penalty(&line, &mut gradient, 1);
        assert!(gradient.iter().all(|g| g.abs() < 1e-5), "{gradient:?}");
    }
}
