//! Linear inequalities between coefficients, and the nearest point that keeps to all of them.
//!
//! ```text
//! minimise over x   1/2 (x - b)' H (x - b)   subject to   a_i' x >= c_i for every i
//! ```
//!
//! by the dual method of Goldfarb and Idnani (1983): it starts at `b`, takes up the inequality that is broken most, moves along
//! `V (a - sum_j r_j a_j)`, `V = H^-1`, which keeps those that hold with equality, and drops one whose multiplier would become
//! negative. Those that hold with equality are linearly independent at any time, and the last point is exact up to rounding.

use rayon::prelude::*;

use super::matrix::InverseRoot;

/// An inequality is broken by more than this share of the sizes of what it adds up. Where so many were taken up that steps are no more
/// than rounding, ten times as much is rounding from then on.
const ROUNDING: f64 = 1e-12;
/// An inequality depends on those that hold with equality where less than this share of its variance is left.
const DEPENDENT: f64 = 1e-11;
/// For how many inequalities more than there are they are taken up before more is rounding, and how often that is so.
const MORE_THAN_ALL: usize = 30;
const MOST_ROUNDS: i32 = 5;
/// Most corrections of what rounding leaves of equalities.
const MOST_CORRECTIONS: usize = 6;

/// A weighted sum of coefficients that must be at least some number.
#[derive(Clone, Debug, PartialEq)]
pub struct Inequality {
    /// The coefficients, each with its weight.
    pub terms: Vec<(usize, f64)>,
    /// The least that the sum may be.
    pub least: f64,
}

impl Inequality {
    fn sum(&self, point: &[f64]) -> f64 {
        self.terms.iter().map(|(at, weight)| weight * point[*at]).sum()
    }

    /// By how much the sum is larger than it must be.
    pub fn excess(&self, point: &[f64]) -> f64 {
        self.sum(point) - self.least
    }

    /// Whether it holds, up to rounding.
    pub fn holds(&self, point: &[f64]) -> bool {
        self.holds_within(ROUNDING, point)
    }

    fn holds_within(&self, rounding: f64, point: &[f64]) -> bool {
        let size = self.terms.iter().map(|(at, weight)| (weight * point[*at]).abs()).sum::<f64>() + self.least.abs();
        self.excess(point) >= -rounding * size
    }
}

/// An inequality that holds with equality.
pub(super) struct ActiveInequality {
    /// Its place among all.
    pub place: usize,
    /// How much the function that is minimised would fall if the least that it allows were lower by 1.
    pub multiplier: f64,
    /// `V a`.
    direction: Vec<f64>,
}

/// The nearest point.
pub(super) struct NearestPoint {
    pub point: Vec<f64>,
    /// The inequalities that hold with equality, linearly independent.
    pub active: Vec<ActiveInequality>,
}

/// The point nearest to another that keeps to all inequalities, where `root` is that of `V`; `None` where they contradict one another.
pub(super) fn nearest(from: &[f64], root: &InverseRoot, inequalities: &[Inequality]) -> Option<NearestPoint> {
    let spread = |inequality: &Inequality| root.quadratic(inequality.terms.iter().copied()).sqrt();
    let spreads: Vec<f64> = inequalities.par_iter().map(spread).collect();
    let mut search = NearestSearch { inequalities, point: from.to_vec(), active: Vec::new(), factor: Vec::new() };
    for round in 0..MOST_ROUNDS {
        let rounding = ROUNDING * 10f64.powi(round);
        for _ in 0..inequalities.len() + MORE_THAN_ALL {
            let mut broken = search.most_broken(&spreads, rounding);
            if broken.is_none() {
                search.correct();
                broken = search.most_broken(&spreads, rounding);
            }
            let Some(place) = broken else {
                return Some(NearestPoint { point: search.point, active: search.active });
            };
            search.take_up(place, root)?;
        }
    }
    None
}

struct NearestSearch<'a> {
    inequalities: &'a [Inequality],
    point: Vec<f64>,
    active: Vec<ActiveInequality>,
    /// The rows of the Cholesky factor of `a_i' V a_j` over those that hold with equality.
    factor: Vec<Vec<f64>>,
}

impl NearestSearch<'_> {
    /// The inequality that is broken by most of its standard deviations, besides those that hold with equality.
    fn most_broken(&self, spreads: &[f64], rounding: f64) -> Option<usize> {
        let mut most: Option<(f64, usize)> = None;
        for (place, inequality) in self.inequalities.iter().enumerate() {
            if inequality.holds_within(rounding, &self.point) || self.active.iter().any(|active| active.place == place)
            {
                continue;
            }
            let by = -inequality.excess(&self.point) / spreads[place].max(f64::MIN_POSITIVE);
            if most.is_none_or(|(largest, _)| by > largest) {
                most = Some((by, place));
            }
        }
        most.map(|(_, place)| place)
    }

    /// `a_i' V a_j` of those that hold with equality with another `V a_j`.
    fn products(&self, direction: &[f64]) -> Vec<f64> {
        self.active.iter().map(|active| self.inequalities[active.place].sum(direction)).collect()
    }

    /// Moves to where an inequality holds with equality, and drops those that need not any more.
    fn take_up(&mut self, place: usize, root: &InverseRoot) -> Option<()> {
        let mut dense = vec![0.0; self.point.len()];
        self.inequalities[place].terms.iter().for_each(|(at, weight)| dense[*at] += weight);
        let direction = root.solve(&dense);
        let variance = self.inequalities[place].sum(&direction);
        let mut multiplier = 0.0;
        loop {
            let half = solve_lower(&self.factor, &self.products(&direction));
            let shares = solve_upper(&self.factor, &half);
            let left = variance - half.iter().map(|value| value * value).sum::<f64>();
            let is_free = left > DEPENDENT * variance;
            let whole = if is_free { -self.inequalities[place].excess(&self.point) / left } else { f64::INFINITY };
            let whole = whole.max(0.0);
            // How far until a multiplier is 0.
            let limits = self.active.iter().zip(&shares).enumerate().filter(|(_, (_, share))| **share > 0.0);
            let limits = limits.map(|(at, (active, share))| (active.multiplier / share, at));
            let nearest = limits.min_by(|a, b| a.0.total_cmp(&b.0));
            let length = nearest.map_or(whole, |(limit, _)| whole.min(limit));
            if !length.is_finite() {
                return None;
            }
            if is_free {
                self.move_along(&direction, &shares, length);
            }
            for (active, share) in self.active.iter_mut().zip(&shares) {
                active.multiplier = (active.multiplier - length * share).max(0.0);
            }
            multiplier += length;
            match nearest.filter(|(limit, _)| *limit < whole) {
                Some((_, at)) => self.drop(at),
                None => {
                    self.factor.push(half.into_iter().chain([left.sqrt()]).collect());
                    self.active.push(ActiveInequality { place, multiplier, direction });
                    return Some(());
                }
            }
        }
    }

    /// Moves along a direction, less what those that hold with equality take of it.
    fn move_along(&mut self, direction: &[f64], shares: &[f64], length: f64) {
        self.point.iter_mut().zip(direction).for_each(|(x, step)| *x += length * step);
        for (active, share) in self.active.iter().zip(shares) {
            let steps = self.point.iter_mut().zip(&active.direction);
            steps.for_each(|(x, step)| *x -= length * share * step);
        }
    }

    /// Drops one of those that hold with equality; rotations make its factor triangular again.
    fn drop(&mut self, at: usize) {
        self.active.remove(at);
        self.factor.remove(at);
        for place in at..self.factor.len() {
            let (x, y) = (self.factor[place][place], self.factor[place][place + 1]);
            let length = x.hypot(y);
            let (cosine, sine) = (x / length, y / length);
            for row in &mut self.factor[place..] {
                let (x, y) = (row[place], row[place + 1]);
                (row[place], row[place + 1]) = (cosine * x + sine * y, cosine * y - sine * x);
            }
            self.factor[place].truncate(place + 1);
        }
    }

    /// Takes away what rounding has left between the active inequalities and equality.
    fn correct(&mut self) {
        for _ in 0..MOST_CORRECTIONS {
            let gaps: Vec<f64> =
                self.active.iter().map(|active| -self.inequalities[active.place].excess(&self.point)).collect();
            let shares = solve_upper(&self.factor, &solve_lower(&self.factor, &gaps));
            for (active, share) in self.active.iter_mut().zip(&shares) {
                active.multiplier = (active.multiplier + share).max(0.0);
                self.point.iter_mut().zip(&active.direction).for_each(|(x, step)| *x += share * step);
            }
        }
    }
}

/// `L^-1 y` for the rows of a lower triangular matrix.
fn solve_lower(rows: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut found: Vec<f64> = Vec::with_capacity(rows.len() + 1);
    for (place, row) in rows.iter().enumerate() {
        let sum: f64 = row.iter().zip(&found).map(|(entry, x)| entry * x).sum();
        found.push((right[place] - sum) / row[place]);
    }
    found
}

/// `L'^-1 y`.
fn solve_upper(rows: &[Vec<f64>], right: &[f64]) -> Vec<f64> {
    let mut found = right.to_vec();
    for place in (0..rows.len()).rev() {
        found[place] /= rows[place][place];
        let value = found[place];
        let row = rows[place].iter().take(place);
        found.iter_mut().zip(row).for_each(|(x, entry)| *x -= entry * value);
    }
    found
}
