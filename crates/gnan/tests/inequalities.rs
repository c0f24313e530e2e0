//! Estimates within linear inequalities, against the same problem solved densely and slowly here for every set of inequalities that
//! could hold with equality: the one optimum keeps to all of them, and its multipliers have the right sign.

use std::ops::ControlFlow;

use gnan::internals::likelihood::{
    Block, Design, Family, FitStart, Inequality, Iteration, Observed, PenalisedEstimate, PenalisedProblem, fit,
    fit_within, left_out_losses,
};
use gnan::internals::random::Stream;

type Matrix = Vec<Vec<f64>>;

/// `A^-1 b` by elimination with pivots; `None` where `A` is singular.
fn solve(matrix: &Matrix, right: &[f64]) -> Option<Vec<f64>> {
    let order = right.len();
    let mut rows: Matrix = matrix.iter().zip(right).map(|(row, y)| row.iter().copied().chain([*y]).collect()).collect();
    for k in 0..order {
        let pivot = (k..order).max_by(|a, b| rows[*a][k].abs().total_cmp(&rows[*b][k].abs()))?;
        rows.swap(k, pivot);
        if rows[k][k].abs() < 1e-12 {
            return None;
        }
        for i in (0..order).filter(|i| *i != k) {
            let share = rows[i][k] / rows[k][k];
            for j in k..=order {
                let value = rows[k][j];
                rows[i][j] -= share * value;
            }
        }
    }
    Some((0..order).map(|k| rows[k][order] / rows[k][k]).collect())
}

/// An intercept and two curves over three distances.
const COLUMNS: usize = 7;

struct World {
    rows: Matrix,
    design: Design,
    blocks: Vec<Block>,
    family: Family,
    targets: Vec<Observed>,
    weights: Vec<f64>,
}

impl World {
    fn new(seed: u64, family: Family) -> World {
        let mut random = Stream::named(seed, "inequalities", 0);
        let truth: Vec<f64> = (0..COLUMNS).map(|_| 0.6 * random.normal()).collect();
        let mut world = World {
            rows: Vec::new(),
            design: Design::new(COLUMNS),
            blocks: vec![Block::curves(1, 2, 3, 3)],
            family,
            targets: Vec::new(),
            weights: Vec::new(),
        };
        for item in 0..70 {
            let row: Vec<f64> = [1.0].into_iter().chain((1..COLUMNS).map(|_| random.normal())).collect();
            let score: f64 = row.iter().zip(&truth).map(|(x, b)| x * b).sum();
            world.targets.push(Observed::Exactly(match family {
                Family::Gaussian => score + 0.5 * random.normal(),
                Family::Binomial => f64::from(u8::from(random.uniform() < 1.0 / (1.0 + (-score).exp()))),
                Family::Poisson => (score.min(3.0).exp() + random.uniform()).floor(),
                _ => score.min(3.0).exp() * (0.3 * random.normal()).exp(),
            }));
            world.weights.push(if item % 8 == 3 { 0.0 } else { 1.0 + (item % 2) as f64 });
            world.design.push(row.iter().copied().enumerate());
            world.rows.push(row);
        }
        world
    }

    fn problem(&self) -> PenalisedProblem<'_> {
        PenalisedProblem {
            design: &self.design,
            blocks: &self.blocks,
            family: self.family,
            targets: &self.targets,
            weights: &self.weights,
            offset: 0.0,
        }
    }

    fn fit(&self) -> PenalisedEstimate {
        fit(self.problem(), FitStart::default(), &mut |_| ControlFlow::Continue(())).expect("an estimate")
    }

    /// Gradient of the penalised log-likelihood, and its second derivatives with their sign changed, by hand.
    fn derivatives(&self, b: &[f64], lambdas: &[f64], variance: f64) -> (Vec<f64>, Matrix) {
        let mut matrix = vec![vec![0.0; COLUMNS]; COLUMNS];
        let mut add = |terms: &[(usize, f64)], times: f64| {
            for (i, one) in terms {
                terms.iter().for_each(|(j, other)| matrix[*i][*j] += times * one * other);
            }
        };
        for start in [1, 4] {
            // Slopes over 1 / (1 + l), which falls by 1 / 2 and 1 / 6, relative to the last of them.
            for (l, slope) in [1.0 / 3.0, 1.0].into_iter().enumerate() {
                add(&[(start + l, -slope), (start + l + 1, slope)], lambdas[0]);
            }
            (0..3).for_each(|l| add(&[(start + l, 1.0)], lambdas[1]));
        }
        let mut gradient: Vec<f64> =
            (0..COLUMNS).map(|i| -(0..COLUMNS).map(|j| matrix[i][j] * b[j]).sum::<f64>()).collect();
        for ((row, target), weight) in self.rows.iter().zip(&self.targets).zip(&self.weights) {
            let (score, y) = (row.iter().zip(b).map(|(x, b)| x * b).sum::<f64>(), target.number());
            let (first, second) = match self.family {
                Family::Gaussian => ((y - score) / variance, 1.0 / variance),
                Family::Binomial => {
                    let p = 1.0 / (1.0 + (-score).exp());
                    (y - p, p * (1.0 - p))
                }
                Family::Poisson => (y - score.exp(), score.exp()),
                // Gamma: shape 1 / d, mean exp(score).
                _ => ((y * (-score).exp() - 1.0) / variance, y * (-score).exp() / variance),
            };
            for i in 0..COLUMNS {
                gradient[i] += weight * first * row[i];
                (0..COLUMNS).for_each(|j| matrix[i][j] += weight * second * row[i] * row[j]);
            }
        }
        (gradient, matrix)
    }

    /// The optimum where some inequalities hold with equality, and their multipliers, by Newton steps on both.
    fn equal(&self, active: &[&Inequality], lambdas: &[f64], variance: f64) -> Option<(Vec<f64>, Vec<f64>)> {
        let order = COLUMNS + active.len();
        let (mut b, mut multipliers) = (vec![0.0; COLUMNS], Vec::new());
        for _ in 0..60 {
            let (gradient, second) = self.derivatives(&b, lambdas, variance);
            let mut matrix = vec![vec![0.0; order]; order];
            (0..COLUMNS).for_each(|i| matrix[i][..COLUMNS].copy_from_slice(&second[i]));
            let mut right = gradient;
            for (place, inequality) in active.iter().enumerate() {
                for (at, weight) in &inequality.terms {
                    matrix[*at][COLUMNS + place] -= weight;
                    matrix[COLUMNS + place][*at] += weight;
                }
                right.push(-inequality.excess(&b));
            }
            let step = solve(&matrix, &right)?;
            // Long steps of a log link would overflow.
            let longest = step[..COLUMNS].iter().fold(0.0f64, |longest, x| longest.max(x.abs()));
            let length = (0.5 / longest.max(1e-300)).min(1.0);
            b.iter_mut().zip(&step).for_each(|(b, step)| *b += length * step);
            multipliers = step[COLUMNS..].to_vec();
        }
        Some((b, multipliers))
    }

    /// The constrained optimum, by looking at every set.
    fn slow(&self, inequalities: &[Inequality], lambdas: &[f64], variance: f64) -> Vec<f64> {
        let mut found = Vec::new();
        for set in 0..1usize << inequalities.len() {
            let active: Vec<&Inequality> =
                inequalities.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1).map(|(_, own)| own).collect();
            let Some((b, multipliers)) = self.equal(&active, lambdas, variance) else { continue };
            let kept = inequalities.iter().all(|inequality| inequality.excess(&b) > -1e-9);
            if kept && multipliers.iter().all(|multiplier| *multiplier > -1e-9) && b.iter().all(|x| x.is_finite()) {
                found.push(b);
            }
        }
        let best = found.pop().expect("one set is that of the optimum");
        // There is one optimum, whatever sets lead to it.
        for other in found {
            assert!(other.iter().zip(&best).all(|(a, b)| (a - b).abs() < 1e-6), "{other:?} {best:?}");
        }
        best
    }
}

fn inequality(terms: &[(usize, f64)], least: f64) -> Inequality {
    Inequality { terms: terms.to_vec(), least }
}

/// Rules over both curves: the first ascends and is convex, the second is within bounds of a weighted mean, and a sum of both.
fn rules() -> Vec<Inequality> {
    vec![
        inequality(&[(1, -1.0), (2, 1.0)], 0.01),
        inequality(&[(2, -1.0), (3, 1.0)], 0.01),
        inequality(&[(1, 0.5), (2, -1.5), (3, 1.0)], 0.0),
        inequality(&[(4, 0.7), (5, -0.3), (6, -0.4)], -0.05),
        inequality(&[(4, -0.7), (5, 0.3), (6, 0.4)], -0.05),
        inequality(&[(4, 0.3), (5, -0.7), (6, 0.4)], -0.05),
        inequality(&[(4, -0.3), (5, 0.7), (6, -0.4)], -0.05),
        inequality(&[(1, 1.0), (4, 1.0)], 0.2),
    ]
}

/// The estimate that keeps to some inequalities, not broken off.
fn within(world: &World, free: PenalisedEstimate, inequalities: &[Inequality]) -> Option<PenalisedEstimate> {
    fit_within(world.problem(), free, inequalities, &mut |_| ControlFlow::Continue(()))
}

#[test]
fn the_optimum_is_that_of_the_best_set() {
    let mut held = 0;
    for seed in 0..10 {
        for family in [Family::Gaussian, Family::Binomial, Family::Poisson, Family::Gamma] {
            let world = World::new(seed, family);
            let free = world.fit();
            let (marginal, lambdas) = (free.marginal, free.lambdas[0].clone());
            let found = within(&world, free, &rules()).expect("an estimate");
            assert!(found.converged, "{seed} {family:?}");
            assert_eq!((found.marginal, &found.lambdas[0]), (marginal, &lambdas));
            let expected = world.slow(&rules(), &lambdas, found.variance);
            for (found, expected) in found.coefficients.iter().zip(&expected) {
                assert!((found - expected).abs() < 1e-6, "{seed} {family:?}: {found} {expected}");
            }
            // Karush, Kuhn and Tucker at the estimate itself: the gradient is a sum of active inequalities, by least squares.
            let b = &found.coefficients;
            assert!(rules().iter().all(|rule| rule.holds(b)), "{seed} {family:?}");
            let active: Vec<Inequality> = rules().into_iter().filter(|rule| rule.excess(b) < 1e-9).collect();
            let (gradient, second) = world.derivatives(b, &lambdas, found.variance);
            let dense = |rule: &Inequality| {
                let mut row = vec![0.0; COLUMNS];
                rule.terms.iter().for_each(|(at, weight)| row[*at] += weight);
                row
            };
            let a: Matrix = active.iter().map(dense).collect();
            let dot = |x: &[f64], y: &[f64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<f64>();
            let products: Matrix = a.iter().map(|x| a.iter().map(|y| dot(x, y)).collect()).collect();
            let multipliers = solve(&products, &a.iter().map(|x| -dot(x, &gradient)).collect::<Vec<f64>>());
            let multipliers = multipliers.expect("independent inequalities");
            let size = gradient.iter().fold(1.0f64, |size, x| size.max(x.abs()));
            for at in 0..COLUMNS {
                let left = gradient[at] + multipliers.iter().zip(&a).map(|(m, row)| m * row[at]).sum::<f64>();
                assert!(left.abs() < 1e-7 * size, "{seed} {family:?}: {left}");
            }
            assert!(multipliers.iter().all(|multiplier| *multiplier > -1e-7 * size));
            held += active.len();
            // The covariance: V - V A' (A V A')^-1 A V.
            let column = |x: &[f64]| solve(&second, x).unwrap();
            let va: Matrix = a.iter().map(|row| column(row)).collect();
            let ava: Matrix = a.iter().map(|x| va.iter().map(|y| dot(x, y)).collect()).collect();
            for at in 0..COLUMNS {
                let unit: Vec<f64> = (0..COLUMNS).map(|i| f64::from(u8::from(i == at))).collect();
                let free = column(&unit)[at];
                let shares = solve(&ava, &va.iter().map(|row| row[at]).collect::<Vec<f64>>()).unwrap();
                let expected = free - shares.iter().zip(&va).map(|(share, row)| share * row[at]).sum::<f64>();
                let own = found.root.quadratic([(at, 1.0)]);
                assert!((own - expected).abs() < 1e-5 * free, "{seed} {family:?} {at}: {own} {expected}");
            }
            // Degrees of freedom: those of the penalty, less one for every inequality that is held.
            let mut data = second.clone();
            let mut none = World::new(seed, family);
            none.weights.fill(0.0);
            let (_, penalty) = none.derivatives(b, &lambdas, found.variance);
            (0..COLUMNS).for_each(|i| (0..COLUMNS).for_each(|j| data[i][j] -= penalty[i][j]));
            let freedom: f64 = (0..COLUMNS)
                .map(|at| {
                    let row: Vec<f64> = data.iter().map(|row| row[at]).collect();
                    let free = column(&row)[at];
                    let shares = solve(&ava, &va.iter().map(|v| dot(v, &row)).collect::<Vec<f64>>()).unwrap();
                    free - shares.iter().zip(&va).map(|(share, v)| share * v[at]).sum::<f64>()
                })
                .sum();
            assert!((freedom - found.freedom).abs() < 1e-4, "{seed} {family:?}: {freedom} {}", found.freedom);
            assert!(left_out_losses(&world.problem(), &found).iter().all(|loss| loss.is_finite()));
        }
    }
    assert!(held > 60, "{held}: the inequalities matter");
}

/// Who breaks off gets an estimate all the same, which keeps to the inequalities.
#[test]
fn what_is_broken_off_keeps_to_them() {
    for family in [Family::Gaussian, Family::Poisson] {
        let world = World::new(1, family);
        let mut steps = 0;
        let mut stop = |_: &Iteration| {
            steps += 1;
            ControlFlow::Break(())
        };
        let found = fit_within(world.problem(), world.fit(), &rules(), &mut stop).expect("an estimate");
        assert!(rules().iter().all(|rule| rule.holds(&found.coefficients)), "{family:?}");
        assert!(steps == 1 && !found.converged, "{family:?}: {steps}");
    }
}

/// An estimate that keeps to them already stays what it is.
#[test]
fn what_is_inside_stays() {
    let world = World::new(3, Family::Binomial);
    let free = world.fit();
    let before = free.coefficients.clone();
    let wide: Vec<Inequality> = before.iter().enumerate().map(|(at, b)| inequality(&[(at, 1.0)], b - 1e-6)).collect();
    let found = within(&world, free, &wide).unwrap();
    assert_eq!(found.coefficients, before);
}

/// Inequalities that follow from one another, are repeated or are scaled differently change nothing; those that contradict one another
/// have no estimate.
#[test]
fn dependent_and_contradictory_inequalities() {
    for seed in 0..6 {
        let world = World::new(seed, Family::Gaussian);
        let plain = within(&world, world.fit(), &rules()).unwrap().coefficients;
        let mut more = rules();
        more.extend(rules().iter().map(|rule| Inequality {
            terms: rule.terms.iter().map(|(at, weight)| (*at, 1e3 * weight)).collect(),
            least: 1e3 * rule.least,
        }));
        // The first two together.
        more.push(inequality(&[(1, -1.0), (3, 1.0)], 0.02));
        let found = within(&world, world.fit(), &more).unwrap().coefficients;
        assert!(found.iter().zip(&plain).all(|(a, b)| (a - b).abs() < 1e-8), "{seed}");
        let never = [inequality(&[(1, 1.0)], 1.0), inequality(&[(1, -1.0)], -0.5)];
        assert!(within(&world, world.fit(), &never).is_none());
    }
}
