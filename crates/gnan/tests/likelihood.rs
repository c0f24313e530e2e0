//! Penalised fits against the same mathematics written densely and slowly here: the gradient of the penalised likelihood is zero
//! at the estimate, the marginal likelihood is its formula, smoothing parameters are a fixed point of their update and a maximum
//! of the marginal likelihood.

use std::ops::ControlFlow;

use faer::Mat;
use gnan::internals::likelihood::{
    Block, Design, DualCovariance, DualProblem, DualRows, Family, FitStart, Observed, Omission, PenalisedEstimate,
    PenalisedProblem, fit, fit_dual, left_out_losses,
};
use gnan::internals::random::Stream;

/// A dense matrix.
type Matrix = Vec<Vec<f64>>;

/// The determinant's logarithm and the inverse of a positive definite matrix, by elimination.
fn inverse(matrix: &Matrix) -> (f64, Matrix) {
    let order = matrix.len();
    let mut left = matrix.clone();
    let mut right: Matrix = (0..order).map(|i| (0..order).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    let mut log = 0.0;
    for k in 0..order {
        let pivot = left[k][k];
        log += pivot.ln();
        for j in 0..order {
            left[k][j] /= pivot;
            right[k][j] /= pivot;
        }
        for i in (0..order).filter(|i| *i != k) {
            let share = left[i][k];
            for j in 0..order {
                left[i][j] -= share * left[k][j];
                right[i][j] -= share * right[k][j];
            }
        }
    }
    (log, right)
}

/// Random data: an intercept, two curves over five distances of which the last is not linked, and a table of four knots by three
/// distances.
struct World {
    rows: Matrix,
    family: Family,
    targets: Vec<Observed>,
    weights: Vec<f64>,
    offset: f64,
}

/// `log` of the share of a normal distribution below `z` and the derivative of that, by Simpson's rule:
/// `F(z) = f(z) times the integral of exp(z t - t^2 / 2) over t from 0 on` for `z` below 0.
fn normal_share(z: f64) -> (f64, f64) {
    let density = (-0.5 * z * z).exp() / (2.0 * std::f64::consts::PI).sqrt();
    let below = -z.abs();
    let (steps, width) = (20_000, 40.0 / 20_000.0);
    let at = |step: usize| {
        let t = step as f64 * width;
        (below * t - 0.5 * t * t).exp()
    };
    let weight = |step: usize| if step == 0 || step == steps { 1.0 } else { 2.0 + 2.0 * (step % 2) as f64 };
    let ratio = (0..=steps).map(|step| weight(step) * at(step)).sum::<f64>() * width / 3.0;
    match z < 0.0 {
        true => (density.ln() + ratio.ln(), 1.0 / ratio),
        false => ((1.0 - density * ratio).ln(), density / (1.0 - density * ratio)),
    }
}

/// The logarithm of the gamma function by the formula of Lanczos with 9 terms.
fn log_gamma(x: f64) -> f64 {
    let terms = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let series = |(place, term): (usize, &f64)| term / (x + 1.0 + place as f64);
    let sum = 0.999_999_999_999_809_9 + terms.iter().enumerate().map(series).sum::<f64>();
    let t = x + 7.5;
    0.5 * (2.0 * std::f64::consts::PI).ln() + (x + 0.5) * t.ln() - t + sum.ln()
}

const COLUMNS: usize = 1 + 2 * 5 + 4 * 3;

impl World {
    fn new(seed: u64, family: Family, items: usize) -> World {
        let mut random = Stream::named(seed, "penalised world", 0);
        let outputs = family.outputs();
        let size = if family.is_log() { 0.25 } else { 0.8 };
        let truth: Matrix = (0..outputs).map(|_| (0..COLUMNS).map(|_| size * random.normal()).collect()).collect();
        let offset = if family.is_log() { 1.2 } else { 0.0 };
        let mut world = World { rows: Vec::new(), family, targets: Vec::new(), weights: Vec::new(), offset };
        // A gamma number of mean 1 and a whole shape, and a Poisson count.
        let gamma = |shape: usize, random: &mut Stream| {
            (0..shape).map(|_| -random.uniform().max(1e-12).ln()).sum::<f64>() / shape as f64
        };
        let poisson = |mean: f64, random: &mut Stream| {
            let (mut count, mut left) = (0.0, (-mean).exp());
            let mut product = random.uniform();
            while product > left {
                count += 1.0;
                product *= random.uniform();
                left = left.max(1e-300);
            }
            count
        };
        for item in 0..items {
            let mut row: Vec<f64> =
                (0..COLUMNS).map(|_| if random.uniform() < 0.4 { random.normal() } else { 0.0 }).collect();
            row[0] = 1.0;
            let scores: Vec<f64> =
                truth.iter().map(|truth| truth.iter().zip(&row).map(|(b, x)| b * x).sum::<f64>()).collect();
            let mean = (scores[0] + offset).exp();
            world.targets.push(Observed::Exactly(match family {
                Family::Poisson => poisson(mean, &mut random),
                Family::NegativeBinomial => poisson(mean * gamma(2, &mut random), &mut random),
                Family::Gamma => mean * gamma(3, &mut random),
                Family::Gaussian => scores[0] + 0.7 * random.normal(),
                Family::Binomial => f64::from(u8::from(random.uniform() < 1.0 / (1.0 + (-scores[0]).exp()))),
                Family::Multinomial(_) => {
                    let noisy = scores.iter().map(|score| score - (-random.uniform().max(1e-12).ln()).ln());
                    noisy.enumerate().max_by(|a, b| a.1.total_cmp(&b.1)).unwrap().0 as f64
                }
            }));
            world.weights.push(if item % 9 == 4 { 0.0 } else { 1.0 + (item % 3) as f64 / 2.0 });
            world.rows.push(row);
        }
        world
    }

    /// Normal quantities of which those below -1 and above 1.5 are known by these bounds alone.
    fn censored(seed: u64, items: usize) -> World {
        let mut world = World::new(seed, Family::Gaussian, items);
        for target in &mut world.targets {
            *target = match target.number() {
                value if value < -1.0 => Observed::AtMost(-1.0),
                value if value > 1.5 => Observed::AtLeast(1.5),
                value => Observed::Exactly(value),
            };
        }
        world
    }

    fn blocks(&self) -> Vec<Block> {
        vec![Block::curves(1, 2, 5, 4), Block::table(11, 4, 3, 3)]
    }

    /// The estimate, and the loss of every item by a fit without it.
    fn fit(&self) -> (PenalisedEstimate, Vec<f64>) {
        self.fit_from(FitStart::default())
    }

    fn fit_from(&self, start: FitStart<'_>) -> (PenalisedEstimate, Vec<f64>) {
        let mut design = Design::new(COLUMNS);
        for row in &self.rows {
            design.push(row.iter().copied().enumerate().filter(|(_, value)| *value != 0.0));
        }
        let blocks = self.blocks();
        let problem = PenalisedProblem {
            design: &design,
            blocks: &blocks,
            family: self.family,
            targets: &self.targets,
            weights: &self.weights,
            offset: self.offset,
        };
        let estimate = fit(problem, start, &mut |_| ControlFlow::Continue(())).expect("an estimate");
        let left_out = left_out_losses(&problem, &estimate);
        (estimate, left_out)
    }

    /// `sum_j lambda_j S_j`.
    fn penalty(&self, lambdas: &[Vec<f64>]) -> Matrix {
        let order = self.family.outputs() * COLUMNS;
        let mut sum = vec![vec![0.0; order]; order];
        for (lambdas, own) in lambdas.iter().zip(&self.penalties()) {
            for (lambda, penalty) in lambdas.iter().zip(own) {
                (0..order).for_each(|i| (0..order).for_each(|j| sum[i][j] += lambda * penalty[i][j]));
            }
        }
        sum
    }

    /// The gradient of the penalised likelihood by the coefficients, the second derivatives with their sign changed, and the
    /// log-likelihood without constants; `without` is an item that does not count.
    fn derivatives(
        &self,
        b: &[f64],
        penalty: &Matrix,
        variance: f64,
        without: Option<usize>,
    ) -> (Vec<f64>, Matrix, f64) {
        let order = b.len();
        let mut gradient: Vec<f64> =
            (0..order).map(|i| -(0..order).map(|j| penalty[i][j] * b[j]).sum::<f64>()).collect();
        let mut matrix = penalty.clone();
        let mut log = 0.0;
        for item in (0..self.rows.len()).filter(|item| self.weights[*item] != 0.0 && Some(*item) != without) {
            let weight = self.weights[item];
            let (value, first, second) = self.likelihood(&self.scores(b, item), item, variance);
            log += weight * (value - self.constant(item, variance));
            for c in 0..first.len() {
                for i in 0..COLUMNS {
                    gradient[c * COLUMNS + i] += weight * first[c] * self.rows[item][i];
                    for d in 0..first.len() {
                        for j in 0..COLUMNS {
                            matrix[c * COLUMNS + i][d * COLUMNS + j] +=
                                weight * second[c][d] * self.rows[item][i] * self.rows[item][j];
                        }
                    }
                }
            }
        }
        (gradient, matrix, log)
    }

    /// `S_j` of every block over all coefficients of all outputs, by the definitions of differences.
    fn penalties(&self) -> Vec<Vec<Matrix>> {
        let outputs = self.family.outputs();
        let zero = || vec![vec![0.0; outputs * COLUMNS]; outputs * COLUMNS];
        let (mut curves, mut table) = ([zero(), zero()], [zero(), zero(), zero()]);
        let add = |matrix: &mut Matrix, terms: &[(usize, f64)]| {
            for (i, a) in terms {
                for (j, b) in terms {
                    matrix[*i][*j] += a * b;
                }
            }
        };
        // The slope over 1 / (1 + l) between two distances, relative to that between the last of so many steps.
        let step = |l: usize| 1.0 / (1.0 + l as f64) - 1.0 / (2.0 + l as f64);
        let slope = |l: usize, steps: usize| step(steps - 1) / step(l);
        for output in 0..outputs {
            let first = output * COLUMNS;
            for start in [1, 6] {
                for l in 0..3 {
                    let slope = slope(l, 3);
                    add(&mut curves[0], &[(first + start + l, -slope), (first + start + l + 1, slope)]);
                }
                (0..5).for_each(|l| add(&mut curves[1], &[(first + start + l, 1.0)]));
            }
            let at = |knot: usize, slot: usize| first + 11 + knot * 3 + slot;
            for slot in 0..3 {
                for knot in 0..2 {
                    add(&mut table[0], &[(at(knot, slot), 1.0), (at(knot + 1, slot), -2.0), (at(knot + 2, slot), 1.0)]);
                }
            }
            for knot in 0..4 {
                for l in 0..2 {
                    let slope = slope(l, 2);
                    add(&mut table[1], &[(at(knot, l), -slope), (at(knot, l + 1), slope)]);
                }
                (0..3).for_each(|slot| add(&mut table[2], &[(at(knot, slot), 1.0)]));
            }
        }
        vec![curves.to_vec(), table.to_vec()]
    }

    fn scores(&self, coefficients: &[f64], item: usize) -> Vec<f64> {
        let own = coefficients.chunks_exact(COLUMNS);
        own.map(|own| own.iter().zip(&self.rows[item]).map(|(b, x)| b * x).sum::<f64>() + self.offset).collect()
    }

    /// What of the log-likelihood of an item does not depend on scores.
    fn constant(&self, item: usize, variance: f64) -> f64 {
        let y = self.targets[item].number();
        match self.family {
            Family::Gaussian if self.targets[item].is_exact() => -0.5 * (2.0 * std::f64::consts::PI * variance).ln(),
            Family::Poisson => -log_gamma(y + 1.0),
            Family::NegativeBinomial => {
                let size = 1.0 / variance;
                log_gamma(y + size) - log_gamma(size) - log_gamma(y + 1.0) - y * size.ln()
            }
            Family::Gamma => -variance.ln() / variance - log_gamma(1.0 / variance) + (1.0 / variance - 1.0) * y.ln(),
            _ => 0.0,
        }
    }

    /// The constants of all items: of the density of a normal quantity once, whatever its weight.
    fn constants(&self, variance: f64) -> f64 {
        let counted = (0..self.rows.len()).filter(|item| self.weights[*item] != 0.0);
        let times = |item: usize| if self.family == Family::Gaussian { 1.0 } else { self.weights[item] };
        counted.map(|item| times(item) * self.constant(item, variance)).sum()
    }

    /// Log-likelihood, its gradient by the scores, and second derivatives with their sign changed.
    fn likelihood(&self, scores: &[f64], item: usize, variance: f64) -> (f64, Vec<f64>, Matrix) {
        let target = self.targets[item].number();
        let mean = scores[0].exp();
        match self.family {
            Family::Gaussian if !self.targets[item].is_exact() => {
                let sd = variance.sqrt();
                let sign = if matches!(self.targets[item], Observed::AtMost(_)) { 1.0 } else { -1.0 };
                let z = sign * (target - scores[0]) / sd;
                let (log, slope) = normal_share(z);
                (log, vec![-sign * slope / sd], vec![vec![slope * (z + slope) / variance]])
            }
            Family::Poisson => {
                let log = target * scores[0] - mean + self.constant(item, variance);
                (log, vec![target - mean], vec![vec![mean]])
            }
            Family::NegativeBinomial => {
                // With a size s = 1 / d the probability of y is that of y successes of probability m / (m + s) before s failures.
                let size = 1.0 / variance;
                let log = log_gamma(target + size) - log_gamma(size) - log_gamma(target + 1.0)
                    + size * (size / (size + mean)).ln()
                    + target * (mean / (size + mean)).ln();
                let first = target - (target + size) * mean / (size + mean);
                (log, vec![first], vec![vec![(target + size) * mean * size / (size + mean).powi(2)]])
            }
            Family::Gamma => {
                // Shape 1 / d and rate 1 / (d m).
                let (shape, rate) = (1.0 / variance, 1.0 / (variance * mean));
                let log = shape * rate.ln() - log_gamma(shape) + (shape - 1.0) * target.ln() - rate * target;
                (log, vec![rate * target - shape], vec![vec![rate * target]])
            }
            Family::Gaussian => {
                let residual = target - scores[0];
                let log = -0.5 * residual * residual / variance - 0.5 * (2.0 * std::f64::consts::PI * variance).ln();
                (log, vec![residual / variance], vec![vec![1.0 / variance]])
            }
            Family::Binomial => {
                let p = 1.0 / (1.0 + (-scores[0]).exp());
                let log = if target > 0.5 { p.ln() } else { (1.0 - p).ln() };
                (log, vec![target - p], vec![vec![p * (1.0 - p)]])
            }
            Family::Multinomial(classes) => {
                let sum: f64 = scores.iter().map(|score| score.exp()).sum();
                let p: Vec<f64> = scores.iter().map(|score| score.exp() / sum).collect();
                let is = |c: usize| f64::from(u8::from(c == target as usize));
                let second = (0..classes)
                    .map(|c| (0..classes).map(|d| p[c] * (f64::from(u8::from(c == d)) - p[d])).collect())
                    .collect();
                (p[target as usize].ln(), (0..classes).map(|c| is(c) - p[c]).collect(), second)
            }
        }
    }

    /// The gradient of the penalised likelihood, the marginal likelihood, and for every penalty the Fellner-Schall update.
    fn judge(&self, found: &PenalisedEstimate) -> (Vec<f64>, f64, Vec<Vec<Update>>) {
        let b = &found.coefficients;
        let order = b.len();
        let sum = self.penalty(&found.lambdas);
        let (gradient, mut matrix, log) = self.derivatives(b, &sum, found.variance, None);
        let log = log + self.constants(found.variance);
        let form: f64 = (0..order).map(|i| b[i] * (0..order).map(|j| sum[i][j] * b[j]).sum::<f64>()).sum();
        if self.family.outputs() > 1 {
            // Only differences of intercepts matter: their sum is kept at 0.
            for i in (0..order).step_by(COLUMNS) {
                (0..order).step_by(COLUMNS).for_each(|j| matrix[i][j] += 1.0);
            }
        }
        let penalties = self.penalties();
        let (log_determinant, covariance) = inverse(&matrix);
        // Only intercepts are not penalised.
        let penalised: Vec<usize> = (0..order).filter(|i| i % COLUMNS != 0).collect();
        let inner: Matrix = penalised.iter().map(|i| penalised.iter().map(|j| sum[*i][*j]).collect()).collect();
        let (log_penalty, penalty_inverse) = inverse(&inner);
        let free = (order - penalised.len()) as f64;
        let marginal = log - 0.5 * form + 0.5 * log_penalty - 0.5 * log_determinant
            + 0.5 * free * (2.0 * std::f64::consts::PI).ln();
        let updates = penalties
            .iter()
            .map(|own| {
                own.iter()
                    .map(|penalty| {
                        let mut prior = 0.0;
                        for (a, i) in penalised.iter().enumerate() {
                            for (c, j) in penalised.iter().enumerate() {
                                prior += penalty_inverse[a][c] * penalty[*j][*i];
                            }
                        }
                        let (mut posterior, mut form) = (0.0, 0.0);
                        for i in 0..order {
                            for j in 0..order {
                                posterior += covariance[i][j] * penalty[j][i];
                                form += b[i] * penalty[i][j] * b[j];
                            }
                        }
                        Update { factor: (prior - posterior) / form, slope: 0.5 * (prior - posterior - form) }
                    })
                    .collect()
            })
            .collect();
        (gradient, marginal, updates)
    }
}

/// What the Fellner-Schall update multiplies the strength of a penalty by, and the slope of the logarithm of the marginal likelihood
/// by the strength.
struct Update {
    factor: f64,
    slope: f64,
}

#[test]
fn estimates_are_those_of_the_dense_formulas() {
    for world in [
        World::new(1, Family::Gaussian, 200),
        World::new(2, Family::Gaussian, 60),
        World::new(3, Family::Binomial, 400),
        World::new(4, Family::Multinomial(3), 300),
        World::new(11, Family::Poisson, 250),
        World::new(12, Family::NegativeBinomial, 300),
        World::new(13, Family::Gamma, 250),
        World::censored(14, 250),
    ] {
        let family = world.family;
        let (found, _) = world.fit();
        assert!(found.converged, "{family:?}: {} iterations", found.iterations);
        let (gradient, marginal, updates) = world.judge(&found);
        let largest = gradient.iter().fold(0.0f64, |largest, g| largest.max(g.abs()));
        assert!(largest < 1e-8, "{family:?}: {largest}");
        assert!((found.marginal - marginal).abs() < 1e-5 * marginal.abs(), "{family:?}: {} {marginal}", found.marginal);
        for (Update { factor, slope }, lambda) in updates.iter().flatten().zip(found.lambdas.iter().flatten()) {
            // Near 0 a penalty has no effect, however much smaller it would become; and where the logarithm of the marginal
            // likelihood would hardly rise, an update tells nothing.
            let rise = lambda * slope * factor.ln();
            assert!(*lambda < 1e-2 || factor.ln().abs() < 0.06 || rise < 5e-3, "{family:?}: {factor} at {lambda}");
        }
        // Freedom lies between that of the intercepts and all coefficients.
        assert!(found.freedom > 1.0 && found.freedom < (COLUMNS * family.outputs()) as f64);
    }
}

/// Fits that end early, to be compared, have the marginal likelihood of where they ended: second derivatives of before give another
/// determinant.
#[test]
fn marginal_likelihoods_of_rough_fits_are_those_of_where_they_ended() {
    for world in [World::new(3, Family::Binomial, 400), World::new(11, Family::Poisson, 250)] {
        let (whole, _) = world.fit();
        let (rough, _) = world.fit_from(FitStart { enough_rise: Some(2.0), ..FitStart::default() });
        assert!(rough.iterations < whole.iterations);
        let (_, marginal, _) = world.judge(&rough);
        let near = 1e-5 * marginal.abs();
        assert!((rough.marginal - marginal).abs() < near, "{:?}: {} {marginal}", world.family, rough.marginal);
    }
}

/// The marginal likelihood of a normal quantity with some coefficients only is
/// `L(0) + 1/2 g' H^-1 g + 1/2 log |S| - 1/2 log |H|` and constants, with the gradient and curvature of these coefficients at 0.
#[test]
fn what_is_left_out_takes_from_the_marginal_likelihood_what_a_model_without_it_lacks() {
    for seed in 0..3 {
        let world = World::new(seed, Family::Gaussian, 90);
        let (found, _) = world.fit();
        let penalty = world.penalty(&found.lambdas);
        let (gradient, curvature, _) = world.derivatives(&[0.0; COLUMNS], &penalty, found.variance, None);
        let part = |matrix: &Matrix, kept: &[usize]| -> Matrix {
            kept.iter().map(|i| kept.iter().map(|j| matrix[*i][*j]).collect()).collect()
        };
        let marginal = |kept: &[usize]| {
            let (log_curvature, inverted) = inverse(&part(&curvature, kept));
            let products = (0..kept.len()).flat_map(|i| (0..kept.len()).map(move |j| (i, j)));
            let form: f64 = products.map(|(i, j)| gradient[kept[i]] * inverted[i][j] * gradient[kept[j]]).sum();
            let log_penalty = if kept.len() > 1 { inverse(&part(&penalty, &kept[1..])).0 } else { 0.0 };
            0.5 * (form + log_penalty - log_curvature)
        };
        let all: Vec<usize> = (0..COLUMNS).collect();
        let without_curves: Vec<usize> = [0].into_iter().chain(11..COLUMNS).collect();
        let without_table: Vec<usize> = (0..11).collect();
        let blocks = world.blocks();
        let mut omission = Omission::new(&found, &blocks, COLUMNS);
        let close = |loss: f64, expected: f64| {
            assert!((loss - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{seed}: {loss} {expected}");
        };
        close(omission.next([1]).loss, marginal(&all) - marginal(&without_table));
        let curves = omission.next([0]);
        close(curves.loss, marginal(&all) - marginal(&without_curves));
        omission.leave_out(curves);
        close(omission.next([1]).loss, marginal(&without_curves) - marginal(&[0]));
    }
}

/// Dispersions are where the likelihood of the outputs is largest, with `1/2 log d` more for every degree of freedom of normal and
/// gamma quantities; by differences.
#[test]
fn dispersions_are_those_of_the_largest_likelihood() {
    // Weights of 1.5 on average divide the variance of normal quantities, 0.49 here for all.
    for (world, truth) in [
        (World::new(1, Family::Gaussian, 200), 1.5 * 0.49),
        (World::new(12, Family::NegativeBinomial, 300), 0.5),
        (World::new(13, Family::Gamma, 250), 1.0 / 3.0),
        (World::censored(14, 250), 1.5 * 0.49),
    ] {
        let (found, _) = world.fit();
        let freedom = if world.family == Family::NegativeBinomial { 0.0 } else { found.freedom };
        let value = |log: f64| {
            let variance = found.variance * log.exp();
            let zero = vec![vec![0.0; COLUMNS]; COLUMNS];
            let (_, _, likelihood) = world.derivatives(&found.coefficients, &zero, variance, None);
            likelihood + world.constants(variance) + 0.5 * freedom * variance.ln()
        };
        let [before, at, after] = [-0.01, 0.0, 0.01].map(value);
        // A step of Newton in the logarithm.
        let step = 0.01 * 0.5 * (after - before) / (2.0 * at - before - after);
        assert!(after + before < 2.0 * at && step.abs() < 0.02, "{:?}: {step}", world.family);
        assert!((found.variance / truth).ln().abs() < 0.5, "{:?}: {} {truth}", world.family, found.variance);
    }
}

/// The loss of an item that is left out is that of a fit without it: exactly for a quantity, nearly for classes.
#[test]
fn losses_of_items_that_are_left_out_are_those_of_fits_without_them() {
    for (world, tolerance) in [
        (World::new(5, Family::Gaussian, 80), 1e-6),
        (World::new(6, Family::Binomial, 150), 0.03),
        (World::new(7, Family::Multinomial(3), 150), 0.05),
        (World::new(15, Family::Poisson, 150), 0.05),
        (World::new(16, Family::NegativeBinomial, 150), 0.05),
        (World::new(17, Family::Gamma, 150), 0.05),
        (World::censored(18, 120), 0.05),
    ] {
        let (family, items) = (world.family, world.rows.len());
        let (found, losses) = world.fit();
        let penalty = world.penalty(&found.lambdas);
        for item in (0..items).step_by(7).filter(|item| world.weights[*item] > 0.0) {
            let mut b = found.coefficients.clone();
            for _ in 0..12 {
                let (gradient, mut matrix, _) = world.derivatives(&b, &penalty, found.variance, Some(item));
                if family.outputs() > 1 {
                    for i in (0..b.len()).step_by(COLUMNS) {
                        (0..b.len()).step_by(COLUMNS).for_each(|j| matrix[i][j] += 1.0);
                    }
                }
                let (_, covariance) = inverse(&matrix);
                for (i, row) in covariance.iter().enumerate() {
                    b[i] += row.iter().zip(&gradient).map(|(v, g)| v * g).sum::<f64>();
                }
            }
            let scores = world.scores(&b, item);
            let expected = match (family, world.targets[item]) {
                (Family::Gaussian, Observed::Exactly(target)) => 0.5 * (target - scores[0]).powi(2),
                (Family::Gaussian, _) => -found.variance * world.likelihood(&scores, item, found.variance).0,
                _ => -world.likelihood(&scores, item, found.variance).0,
            };
            let near = tolerance * (1.0 + expected.abs());
            assert!((losses[item] - expected).abs() < near, "{family:?} {item}: {} {expected}", losses[item]);
        }
    }
}

/// Coefficients of the dual form are those at which the penalised likelihood with their prior variances has no slope, and the
/// marginal likelihood is that of the coefficients.
#[test]
fn the_dual_form_is_the_primal_form() {
    for mut world in [
        World::new(8, Family::Gaussian, 70),
        World::new(9, Family::Binomial, 70),
        World::new(10, Family::Multinomial(3), 70),
        World::new(19, Family::Poisson, 70),
        World::new(20, Family::NegativeBinomial, 70),
        World::new(21, Family::Gamma, 70),
        World::censored(22, 70),
    ] {
        let family = world.family;
        world.weights.iter_mut().for_each(|weight| *weight = weight.max(0.5));
        let groups: [Vec<usize>; 3] = [vec![0], (1..11).collect(), (11..COLUMNS).collect()];
        let kernels: Vec<Mat<f64>> = (groups.iter())
            .map(|group| {
                let product = |i: usize, j: usize| group.iter().map(|c| world.rows[i][*c] * world.rows[j][*c]).sum();
                Mat::from_fn(70, 70, product)
            })
            .collect();
        let World { targets, weights, offset, .. } = &world;
        let problem = DualProblem { kernels: &kernels, family, targets, weights, offset: *offset };
        let found = fit_dual(problem, &mut |_| ControlFlow::Continue(())).expect("an estimate");
        let outputs = family.outputs();
        let order = outputs * COLUMNS;
        let (mut b, mut penalty) = (vec![0.0; order], vec![vec![0.0; order]; order]);
        for (c, own) in found.item_weights.iter().enumerate() {
            for (group, strength) in groups.iter().zip(&found.strengths) {
                for column in group {
                    let sum: f64 = own.iter().zip(&world.rows).map(|(a, row)| a * row[*column]).sum();
                    b[c * COLUMNS + column] = strength * sum;
                    penalty[c * COLUMNS + column][c * COLUMNS + column] = 1.0 / strength;
                }
            }
        }
        let (gradient, matrix, log) = world.derivatives(&b, &penalty, found.variance, None);
        let largest = gradient.iter().fold(0.0f64, |largest, g| largest.max(g.abs()));
        assert!(largest < 1e-3, "{family:?}: {largest}");
        let form: f64 = (0..order).map(|i| b[i] * penalty[i][i] * b[i]).sum();
        let log_penalty: f64 = (0..order).map(|i| penalty[i][i].ln()).sum();
        let marginal =
            log + world.constants(found.variance) - 0.5 * form + 0.5 * log_penalty - 0.5 * inverse(&matrix).0;
        let near = 1e-4 * marginal.abs();
        assert!((found.marginal - marginal).abs() < near, "{family:?}: {} {marginal}", found.marginal);
    }
}

/// The dual covariance is the inverse of `A' W A + I`, also where coefficients share latent numbers, as those of a shared curve do.
#[test]
fn dual_covariances_are_those_of_the_dense_inverse() {
    for (seed, outputs) in [(31, 1), (32, 3)] {
        let mut random = Stream::named(seed, "dual covariance", 0);
        let (items, latents) = (12, 17);
        let rows: Vec<f32> = (0..latents * items).map(|_| random.normal() as f32).collect();
        let of_coefficients: Vec<u32> = (0..latents as u32).chain([3, 3, 5]).collect();
        let loadings: Vec<f64> = of_coefficients.iter().map(|_| random.normal()).collect();
        let mut second: Matrix = (0..outputs).map(|_| (0..items).map(|_| 0.1 + random.uniform()).collect()).collect();
        let counts: Vec<f64> = (0..items).map(|item| 1.0 + (item % 3) as f64).collect();
        if outputs > 1 {
            for item in 0..items {
                let total: f64 = second.iter().map(|own| own[item]).sum();
                second.iter_mut().for_each(|own| own[item] *= counts[item] / total);
            }
        }
        let at = |latent: usize, item: usize| f64::from(rows[latent * items + item]);
        let order = latents * outputs;
        let mut precision = vec![vec![0.0; order]; order];
        for (i, row) in precision.iter_mut().enumerate() {
            for (j, entry) in row.iter_mut().enumerate() {
                let (c, d) = (i / latents, j / latents);
                let weight = |item: usize| {
                    let own = if c == d { second[c][item] } else { 0.0 };
                    own - if outputs > 1 { second[c][item] * second[d][item] / counts[item] } else { 0.0 }
                };
                *entry = f64::from(u8::from(i == j))
                    + (0..items).map(|item| at(i % latents, item) * weight(item) * at(j % latents, item)).sum::<f64>();
            }
        }
        let dense = inverse(&precision).1;
        let rows = DualRows {
            latents: of_coefficients.as_slice().into(),
            loadings: loadings.as_slice().into(),
            rows: rows.as_slice().into(),
            weights: second.iter().map(|own| own.iter().map(|weight| weight.sqrt()).collect()).collect(),
        };
        let found = DualCovariance::new(rows.clone()).unwrap();
        assert_eq!(DualCovariance::with_roots(rows.clone(), &found.packed_roots()).as_ref(), Some(&found));
        assert!(DualCovariance::with_roots(rows, &found.packed_roots()[1..]).is_none());
        let count = of_coefficients.len();
        let covariance = |(c, one): (usize, usize), (d, other): (usize, usize)| {
            let place = |output: usize, own: usize| output * latents + of_coefficients[own] as usize;
            loadings[one] * loadings[other] * dense[place(c, one)][place(d, other)]
        };
        let sums: Vec<Vec<(usize, f64)>> = vec![
            vec![(0, 1.0)],
            vec![(3, 0.5), (18, -2.0), (5, 1.0)],
            (0..count).map(|at| (at, 0.3)).collect(),
            vec![],
        ];
        let sums: Vec<&[(usize, f64)]> = sums.iter().map(Vec::as_slice).collect();
        let expected = |(c, one): (usize, &[(usize, f64)]), (d, other): (usize, &[(usize, f64)])| -> f64 {
            let terms =
                one.iter().flat_map(|(i, a)| other.iter().map(move |(j, b)| a * b * covariance((c, *i), (d, *j))));
            terms.sum()
        };
        for (sum, found) in sums.iter().zip(found.of_sums(&sums)) {
            for (place, found) in found.into_iter().enumerate() {
                let expected = expected((place / outputs, sum), (place % outputs, sum));
                assert!((found - expected).abs() < 1e-9, "{outputs}: {found} {expected}");
            }
        }
        let all = found.between(&sums);
        let width = outputs * sums.len();
        for (place, found) in all.iter().enumerate() {
            let own = |place: usize| (place / sums.len(), sums[place % sums.len()]);
            let expected = expected(own(place / width), own(place % width));
            assert!((found - expected).abs() < 1e-9, "{outputs}: {found} {expected}");
        }
        // F = V X' W X = I - V P^-1: of latent numbers, whose prior is I.
        for (latent, freedom) in found.freedoms().into_iter().enumerate() {
            let left: f64 = (0..outputs).map(|c| dense[c * latents + latent][c * latents + latent]).sum();
            assert!((freedom - (outputs as f64 - left)).abs() < 1e-9);
        }
        // A column whose latent number is its own: its part of `V X' W X` is `- V P^-1` off the diagonal.
        let influence = found.influence_of(0);
        for row in 1..count {
            let expected: f64 = (0..outputs).map(|c| -covariance((c, row), (c, 0)) / loadings[0].powi(2)).sum();
            assert!((influence[row] - expected).abs() < 1e-9, "{} {expected}", influence[row]);
        }
        // Five standard errors of variances and covariances of draws.
        let draws: Vec<Vec<Vec<f64>>> = (0..4000).map(|_| found.draw(&mut || random.normal())).collect();
        for (one, other) in [((0, 0), (0, 0)), ((0, 3), (outputs - 1, 4)), ((outputs - 1, 18), (0, 18))] {
            let mean = draws.iter().map(|draw| draw[one.0][one.1] * draw[other.0][other.1]).sum::<f64>() / 4000.0;
            let size = (covariance(one, one) * covariance(other, other)).sqrt();
            assert!((mean - covariance(one, other)).abs() < 5.0 * size * (2.0f64 / 4000.0).sqrt(), "{one:?} {mean}");
        }
    }
}
