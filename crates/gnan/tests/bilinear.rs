//! Fits in which values share distance functions: the likelihood against the same mathematics written densely and slowly here, and
//! planted values and distance functions that models find again.

use std::ops::ControlFlow;

use gnan::internals::likelihood::{
    BilinearEstimate, BilinearProblem, Block, Design, Family, Observed, Product, fit_bilinear,
};
use gnan::internals::random::Stream;

/// A dense matrix.
type Matrix = Vec<Vec<f64>>;

/// Number of values, and of points of two curves: five finite distances and "unreachable", and three distances.
const VALUES: [usize; 3] = [1, 5, 3];
const POINTS: [usize; 2] = [6, 3];
const PARAMETERS: usize = 1 + 9 + 9;

/// Random data: a bias, five values at knots that share one curve, three levels that share another.
struct World {
    rows: Matrix,
    products: Vec<Product>,
    family: Family,
    targets: Vec<Observed>,
    weights: Vec<f64>,
    offset: f64,
}

/// The value and the point of every column: values 1 to 6 by the first curve, 7 to 9 by the second.
fn products() -> Vec<Product> {
    let first = (1..1 + VALUES[0] + VALUES[1])
        .flat_map(|value| (0..POINTS[0]).map(move |point| Product { value, point: 10 + point }));
    let second =
        (7..7 + VALUES[2]).flat_map(|value| (0..POINTS[1]).map(move |point| Product { value, point: 16 + point }));
    first.chain(second).collect()
}

fn blocks() -> Vec<Block> {
    vec![
        Block::ridge(1, 1, 1),
        Block::knots(2, VALUES[1]),
        Block::ridge(7, 1, VALUES[2]),
        Block::straight(10, POINTS[0], 5),
        Block::straight(16, POINTS[1], POINTS[1]),
    ]
}

impl World {
    fn new(family: Family, items: usize, seed: u64) -> World {
        let mut random = Stream::named(seed, "bilinear", 0);
        let products = products();
        let values: Vec<f64> = vec![0.4, -1.0, -0.4, 0.1, 0.6, 0.9, 0.8, -0.5, 0.3];
        let points: Vec<f64> = vec![1.0, 0.7, 0.5, 0.3, 0.1, -0.2, 0.6, 1.0, 0.4];
        let outputs = family.outputs();
        let mut rows = Vec::new();
        let (mut targets, mut weights) = (Vec::new(), Vec::new());
        for _ in 0..items {
            let row: Vec<f64> = std::iter::once(1.0).chain(products.iter().map(|_| random.normal() * 0.6)).collect();
            let outputs: Vec<f64> = (0..outputs)
                .map(|c| {
                    let turn = |place: usize| values[(place + 2 * c) % 9];
                    let terms = products.iter().zip(&row[1..]);
                    0.3 + terms.map(|(p, x)| x * turn(p.value - 1) * points[p.point - 10]).sum::<f64>()
                })
                .collect();
            let uniform = random.uniform();
            targets.push(Observed::Exactly(match family {
                Family::Binomial => f64::from(u8::from(uniform < 1.0 / (1.0 + (-outputs[0]).exp()))),
                Family::Multinomial(_) => {
                    let total: f64 = outputs.iter().map(|y| y.exp()).sum();
                    let mut left = uniform * total;
                    let class = outputs.iter().position(|y| {
                        left -= y.exp();
                        left < 0.0
                    });
                    class.unwrap_or(0) as f64
                }
                Family::Poisson => {
                    let (mean, mut count, mut product) = (outputs[0].exp(), 0.0, uniform);
                    while product > (-mean).exp() {
                        count += 1.0;
                        product *= random.uniform();
                    }
                    count
                }
                _ => outputs[0] + 0.5 * random.normal(),
            }));
            weights.push(0.5 + random.uniform());
            rows.push(row);
        }
        World { rows, products, family, targets, weights, offset: if family == Family::Poisson { 0.2 } else { 0.0 } }
    }

    fn fit(&self, start: Option<&[f64]>) -> BilinearEstimate {
        let mut design = Design::new(1 + self.products.len());
        self.rows.iter().for_each(|row| design.push(row.iter().copied().enumerate()));
        let blocks = blocks();
        let curves = [(10..16).collect(), (16..19).collect()];
        let problem = BilinearProblem {
            design: &design,
            products: &self.products,
            parameters: PARAMETERS,
            curves: &curves,
            ones: &[],
            blocks: &blocks,
            family: self.family,
            targets: &self.targets,
            weights: &self.weights,
            offset: self.offset,
        };
        fit_bilinear(problem, start, &mut |_| ControlFlow::Continue(())).unwrap()
    }

    fn outputs(&self, parameters: &[f64], item: usize) -> Vec<f64> {
        let output = |own: &[f64]| {
            let terms = self.products.iter().zip(&self.rows[item][1..]);
            own[0] + self.offset + terms.map(|(p, x)| x * own[p.value] * own[p.point]).sum::<f64>()
        };
        parameters.chunks_exact(PARAMETERS).map(output).collect()
    }

    /// Log-likelihood without constants, from the definitions of the families.
    fn log_likelihood(&self, parameters: &[f64], variance: f64) -> f64 {
        let item = |item: usize| {
            let (y, f) = (self.targets[item].number(), self.outputs(parameters, item));
            let value = match self.family {
                Family::Binomial => y * f[0] - (1.0 + f[0].exp()).ln(),
                Family::Multinomial(_) => f[y as usize] - f.iter().map(|f| f.exp()).sum::<f64>().ln(),
                Family::Poisson => y * f[0] - f[0].exp(),
                _ => -0.5 * (y - f[0]).powi(2) / variance,
            };
            self.weights[item] * value
        };
        (0..self.rows.len()).map(item).sum()
    }
}

/// `D2' D2` over some places of a vector, times a strength.
fn bent(own: &[f64]) -> f64 {
    own.windows(3).map(|w| (w[0] - 2.0 * w[1] + w[2]).powi(2)).sum()
}

fn near_zero(own: &[f64]) -> f64 {
    own.iter().map(|b| b * b).sum()
}

/// `b' S b` of all outputs, written out; intercepts of several outputs are tied by the square of their sum.
fn penalty(parameters: &[f64], lambdas: &[Vec<f64>]) -> f64 {
    let output = |own: &[f64]| {
        lambdas[0][0] * near_zero(&own[1..2])
            + lambdas[1][0] * bent(&own[2..7])
            + lambdas[1][1] * near_zero(&own[2..7])
            + lambdas[2][0] * near_zero(&own[7..10])
            + lambdas[3][0] * bent(&own[10..15])
            + lambdas[3][1] * near_zero(&own[10..16])
            + lambdas[4][0] * bent(&own[16..19])
            + lambdas[4][1] * near_zero(&own[16..19])
    };
    let outputs: Vec<&[f64]> = parameters.chunks_exact(PARAMETERS).collect();
    let intercepts: f64 = outputs.iter().map(|own| own[0]).sum();
    let tied = if outputs.len() > 1 { intercepts * intercepts } else { 0.0 };
    outputs.into_iter().map(output).sum::<f64>() + tied
}

/// The logarithm of the determinant of a positive definite matrix, by elimination.
fn log_determinant(mut matrix: Matrix) -> f64 {
    let mut log = 0.0;
    for k in 0..matrix.len() {
        log += matrix[k][k].ln();
        for i in k + 1..matrix.len() {
            let share = matrix[i][k] / matrix[k][k];
            for j in k..matrix.len() {
                matrix[i][j] -= share * matrix[k][j];
            }
        }
    }
    log
}

/// The second derivatives of a quadratic form of the free parameters, by differences that are exact for it.
fn second_derivatives(at: &[f64], free: &[usize], form: impl Fn(&[f64]) -> f64) -> Matrix {
    let moved = |i: usize, j: usize| {
        let mut point = at.to_vec();
        point[free[i]] += 1.0;
        point[free[j]] += 1.0;
        form(&point)
    };
    let one = |i: usize| {
        let mut point = at.to_vec();
        point[free[i]] += 1.0;
        form(&point)
    };
    let none = form(at);
    let single: Vec<f64> = (0..free.len()).map(one).collect();
    (0..free.len())
        .map(|i| (0..free.len()).map(|j| 0.5 * (moved(i, j) - single[i] - single[j] + none)).collect())
        .collect()
}

fn families() -> [Family; 4] {
    [Family::Gaussian, Family::Binomial, Family::Multinomial(3), Family::Poisson]
}

#[test]
fn the_gradient_is_zero_at_the_estimate() {
    for family in families() {
        let world = World::new(family, 300, 1);
        let found = world.fit(None);
        assert!(found.converged, "{family:?}");
        let value = |parameters: &[f64]| {
            world.log_likelihood(parameters, found.variance) - 0.5 * penalty(parameters, &found.lambdas)
        };
        for place in (0..found.parameters.len()).filter(|place| !found.known[*place]) {
            // Central differences of fourth order; what rounding leaves of them is far below the bound.
            let step = 1e-3;
            let at = |by: f64| {
                let mut moved = found.parameters.clone();
                moved[place] += by * step;
                value(&moved)
            };
            let slope = (8.0 * (at(1.0) - at(-1.0)) - (at(2.0) - at(-2.0))) / (12.0 * step);
            assert!(slope.abs() < 1e-6, "{family:?} {place}: {slope}");
        }
        // One point of each curve is 1, in every output.
        for own in found.known.chunks_exact(PARAMETERS).zip(found.parameters.chunks_exact(PARAMETERS)) {
            for points in [10..16, 16..19] {
                let known: Vec<usize> = points.filter(|point| own.0[*point]).collect();
                assert_eq!(known.len(), 1);
                assert_eq!(own.1[known[0]], 1.0);
            }
        }
    }
}

/// The gradient itself, written out with the derivatives of the families, is zero to rounding; also of so many parameters that matrices
/// have several tiles.
#[test]
fn the_written_out_gradient_is_zero() {
    for family in families().into_iter().chain([Family::Multinomial(11)]) {
        let world = World::new(family, if family.outputs() > 3 { 1500 } else { 300 }, 1);
        let found = world.fit(None);
        let mut gradient = vec![0.0; found.parameters.len()];
        for item in 0..world.rows.len() {
            let (y, f) = (world.targets[item].number(), world.outputs(&found.parameters, item));
            let total: f64 = f.iter().map(|f| f.exp()).sum();
            for (c, own) in found.parameters.chunks_exact(PARAMETERS).enumerate() {
                let slope = world.weights[item]
                    * match family {
                        Family::Binomial => y - 1.0 / (1.0 + (-f[0]).exp()),
                        Family::Multinomial(_) => f64::from(u8::from(y as usize == c)) - f[c].exp() / total,
                        Family::Poisson => y - f[0].exp(),
                        _ => (y - f[0]) / found.variance,
                    };
                gradient[c * PARAMETERS] += slope;
                for (p, x) in world.products.iter().zip(&world.rows[item][1..]) {
                    gradient[c * PARAMETERS + p.value] += slope * x * own[p.point];
                    gradient[c * PARAMETERS + p.point] += slope * x * own[p.value];
                }
            }
        }
        for place in (0..gradient.len()).filter(|place| !found.known[*place]) {
            // The derivative of a quadratic form by differences is exact.
            let at = |by: f64| {
                let mut moved = found.parameters.clone();
                moved[place] += by;
                penalty(&moved, &found.lambdas)
            };
            let slope = gradient[place] - 0.25 * (at(1.0) - at(-1.0));
            let size: f64 = found.lambdas.iter().flatten().filter(|l| **l < 1e7).fold(1.0, |a, b| a.max(*b));
            assert!(slope.abs() < 1e-6 * size, "{family:?} {place}: {slope}");
        }
    }
}

#[test]
fn the_marginal_likelihood_is_its_formula() {
    for family in families() {
        let world = World::new(family, 250, 2);
        let found = world.fit(None);
        let free: Vec<usize> = (0..found.parameters.len()).filter(|place| !found.known[*place]).collect();
        // J' W J, item by item.
        let mut matrix = vec![vec![0.0; free.len()]; free.len()];
        let mut constants = 0.0;
        for item in 0..world.rows.len() {
            let (weight, f) = (world.weights[item], world.outputs(&found.parameters, item));
            let y = world.targets[item].number();
            let mut slopes = vec![vec![0.0; found.parameters.len()]; f.len()];
            for (c, (slopes, own)) in slopes.iter_mut().zip(found.parameters.chunks_exact(PARAMETERS)).enumerate() {
                slopes[c * PARAMETERS] = 1.0;
                for (p, x) in world.products.iter().zip(&world.rows[item][1..]) {
                    slopes[c * PARAMETERS + p.value] += x * own[p.point];
                    slopes[c * PARAMETERS + p.point] += x * own[p.value];
                }
            }
            let total: f64 = f.iter().map(|f| f.exp()).sum();
            let second = |c: usize, d: usize| match family {
                Family::Binomial => {
                    let p = 1.0 / (1.0 + (-f[0]).exp());
                    p * (1.0 - p)
                }
                Family::Multinomial(_) => {
                    let (p, q) = (f[c].exp() / total, f[d].exp() / total);
                    if c == d { p * (1.0 - p) } else { -p * q }
                }
                Family::Poisson => f[0].exp(),
                _ => 1.0 / found.variance,
            };
            for c in 0..f.len() {
                for d in 0..f.len() {
                    for (i, row) in free.iter().zip(&mut matrix) {
                        for (j, entry) in free.iter().zip(row.iter_mut()) {
                            *entry += weight * second(c, d) * slopes[c][*i] * slopes[d][*j];
                        }
                    }
                }
            }
            constants += match family {
                Family::Gaussian => -0.5 * (2.0 * std::f64::consts::PI * found.variance).ln(),
                Family::Poisson => -weight * (1..=y as u64).map(|k| (k as f64).ln()).sum::<f64>(),
                _ => 0.0,
            };
        }
        let form = |at: &[f64]| penalty(at, &found.lambdas);
        let whole = second_derivatives(&found.parameters, &free, form);
        matrix.iter_mut().flatten().zip(whole.iter().flatten()).for_each(|(sum, own)| *sum += own);
        // log |S| block by block; every direction of each has a penalty.
        let (mut log_penalty, mut rank) = (0.0, 0);
        for own in found.known.chunks_exact(PARAMETERS) {
            for (block, places) in [1..2, 2..7, 7..10, 10..16, 16..19].into_iter().enumerate() {
                let free: Vec<usize> = places.filter(|place| !own[*place]).collect();
                let strength = |other: usize, l: &f64| if other == block { *l } else { 0.0 };
                let only: Vec<Vec<f64>> = (found.lambdas.iter().enumerate())
                    .map(|(other, own)| own.iter().map(|l| strength(other, l)).collect())
                    .collect();
                log_penalty += log_determinant(second_derivatives(&[0.0; PARAMETERS], &free, |at| penalty(at, &only)));
                rank += free.len();
            }
        }
        let tied = |parameters: &[f64]| penalty(parameters, &found.lambdas);
        let expected = world.log_likelihood(&found.parameters, found.variance) + constants
            - 0.5 * tied(&found.parameters)
            + 0.5 * log_penalty
            - 0.5 * log_determinant(matrix)
            + 0.5 * (free.len() - rank) as f64 * (2.0 * std::f64::consts::PI).ln();
        assert!(
            (found.marginal - expected).abs() < 1e-4 * (1.0 + expected.abs()),
            "{family:?}: {} {expected}",
            found.marginal
        );
    }
}

#[test]
fn several_starts_agree() {
    for family in families() {
        let world = World::new(family, 400, 3);
        let found = world.fit(None);
        let flat = [1.0; 9];
        let falling: Vec<f64> = (0..6).chain(0..3).map(|l| 0.5f64.powi(l)).collect();
        let mut random = Stream::named(5, "starts", 0);
        let drawn: Vec<f64> = (0..9).map(|_| random.normal()).collect();
        for (name, start) in [("flat", &flat[..]), ("falling", &falling), ("random", &drawn)] {
            let other = world.fit(Some(start));
            assert!(
                (other.marginal - found.marginal).abs() < 0.2,
                "{family:?} {name}: {} {}",
                other.marginal,
                found.marginal
            );
            let (mut differences, mut squares) = (0.0, 0.0);
            for item in 0..world.rows.len() {
                // Only differences between classes count.
                let centred = |parameters: &[f64]| {
                    let outputs = world.outputs(parameters, item);
                    let mean = outputs.iter().sum::<f64>() / outputs.len() as f64;
                    let mean = if outputs.len() > 1 { mean } else { 0.0 };
                    outputs.into_iter().map(move |output| output - mean)
                };
                for (a, b) in centred(&found.parameters).zip(centred(&other.parameters)) {
                    differences += (a - b) * (a - b);
                    squares += a * a;
                }
            }
            let apart = (differences / squares).sqrt();
            assert!(apart < 0.05, "{family:?} {name}: {apart}");
        }
    }
}
