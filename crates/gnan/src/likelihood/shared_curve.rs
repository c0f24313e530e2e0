//! The dual form with one curve over distance that all coefficients share.

use std::ops::ControlFlow;

use faer::Mat;

use super::dual::{CLOSE, DualCurvature, DualEstimate, DualProblem, DualState, LEAST_GAIN};
use super::newton::Iteration;

/// Finds item weights where all coefficients share one curve over distance: `X_g` of group `g` counts `r_g` times, and `b` is shared.
///
/// ```text
/// f_c = K a_c,   K = K_0 + (sum_g r_g X_g) (sum_g r_g X_g)'
/// ```
///
/// The curve `r` climbs the marginal likelihood along its gradient, which is that of the kernel: `1/2 (a a' - (K + W^-1)^-1)`.
pub fn fit_shared_curve(
    problem: DualProblem<'_>,
    cross: &[Vec<Mat<f64>>],
    strengths: &[f64],
    start: &[f64],
    monitor: &mut dyn FnMut(&Iteration) -> ControlFlow<()>,
) -> Option<(DualEstimate, Vec<f64>)> {
    let mut curve = start.to_vec();
    let mut kernels = problem.kernels.to_vec();
    kernels.push(curve_kernel(cross, &curve));
    let with = |kernels: &[Mat<f64>], curve: &[f64], weights: Option<Vec<Vec<f64>>>| {
        let problem = DualProblem { kernels, ..problem };
        let mut state = DualState::new(problem);
        state.strengths = strengths.iter().copied().chain([1.0]).collect();
        if let Some(weights) = weights {
            state.item_weights = weights;
        }
        state.sum_kernels();
        state.settle(CLOSE)?;
        let curvature = state.curvature()?;
        let marginal = state.marginal(&curvature);
        Some((marginal, curve_gradient(&state, &curvature, cross, curve), state.finish(0, true, true)?))
    };
    let length = |vector: &[f64]| vector.iter().map(|x| x * x).sum::<f64>().sqrt();
    // Along its gradient a curve grows or shrinks as a whole, too.
    let (mut best, mut slope, mut estimate) = with(&kernels, &curve, None)?;
    let mut step = FIRST_STEP;
    for number in 1..=MOST_CURVES {
        let (size, steep) = (length(&curve), length(&slope));
        if step < LAST_STEP || steep == 0.0 {
            break;
        }
        let moved: Vec<f64> = curve.iter().zip(&slope).map(|(r, s)| r + step * size * s / steep).collect();
        *kernels.last_mut()? = curve_kernel(cross, &moved);
        let tried = with(&kernels, &moved, Some(estimate.item_weights.clone()));
        match tried.filter(|(marginal, ..)| *marginal > best) {
            Some((marginal, gradient, found)) => {
                let gained = marginal - best;
                (best, slope, estimate, curve) = (marginal, gradient, found, moved);
                step *= 1.5;
                if gained < LEAST_GAIN {
                    break;
                }
            }
            None => step *= 0.4,
        }
        if monitor(&Iteration { number, most: MOST_CURVES, value: best, items: problem.targets.len() }).is_break() {
            break;
        }
    }
    Some((estimate, curve))
}

/// The first step of a curve as a share of its length, the last, and the most of them.
const FIRST_STEP: f64 = 0.3;
const LAST_STEP: f64 = 0.01;
const MOST_CURVES: usize = 40;

/// `sum_gh r_g r_h X_g X_h'`, from the products with `g >= h`.
fn curve_kernel(cross: &[Vec<Mat<f64>>], curve: &[f64]) -> Mat<f64> {
    let items = cross[0][0].nrows();
    Mat::from_fn(items, items, |i, j| {
        let mut sum = 0.0;
        for (g, of_group) in cross.iter().enumerate() {
            for (h, product) in of_group.iter().enumerate() {
                let both = if g == h { product[(i, j)] } else { product[(i, j)] + product[(j, i)] };
                sum += curve[g] * curve[h] * both;
            }
        }
        sum
    })
}

/// The gradient of the marginal likelihood by the curve whose kernel comes last, up to a factor.
fn curve_gradient(
    state: &DualState<'_>,
    curvature: &DualCurvature,
    cross: &[Vec<Mat<f64>>],
    curve: &[f64],
) -> Vec<f64> {
    let items = state.items();
    let mut slope: Mat<f64> = Mat::zeros(items, items);
    for block in state.blocks(curvature) {
        slope -= block;
    }
    for own in &state.item_weights {
        for j in 0..items {
            let column = slope.col_as_slice_mut(j);
            column.iter_mut().zip(own).for_each(|(entry, a)| *entry += a * own[j]);
        }
    }
    let product = |matrix: &Mat<f64>| -> f64 {
        let column =
            |j: usize| matrix.col_as_slice(j).iter().zip(slope.col_as_slice(j)).map(|(a, b)| a * b).sum::<f64>();
        (0..items).map(column).sum()
    };
    let mut gradient = vec![0.0; cross.len()];
    for (g, of_group) in cross.iter().enumerate() {
        for (h, matrix) in of_group.iter().enumerate() {
            let value = product(matrix);
            gradient[g] += curve[h] * value;
            if g != h {
                gradient[h] += curve[g] * value;
            }
        }
    }
    gradient
}
