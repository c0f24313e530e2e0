//! The B-spline basis of one number: which coefficients count how much at a value.
//!
//! ```text
//! f(z) = sum_j c_j * B_j(z)        between the first and the last knot
//! ```
//!
//! beyond them the line that `f` leaves with, or, where it is `flat`, its last value. At most `degree + 1` of the `B_j` are
//! not 0 at a value; they are found by the recurrence of Cox and de Boor on knots whose ends are repeated. They are not
//! negative and add up to 1 between the ends, so that `f` stays within its coefficients, rises where they rise, and is
//! convex where the slopes between them (over their [Greville abscissae](Basis::greville)) rise.

use serde::{Deserialize, Serialize};

use super::piecewise::Piecewise;

/// Highest degree: cubic.
const MOST_DEGREE: usize = 3;
/// Most intervals between the knots of a shape function.
const MOST_INTERVALS: usize = 10;
/// Knots nearer to each other than this share of the whole range are one.
const LEAST_GAP: f64 = 1e-6;

/// A B-spline basis.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Basis {
    /// Degree of the pieces, 1 to 3.
    pub degree: usize,
    /// Where pieces meet, ascending, the ends of the range included; fewer than two: the function is 0.
    pub knots: Vec<f64>,
    /// Whether the first coefficient is 0 and not stored: a line needs only its rise.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub anchored: bool,
    /// Whether the function stays what it is at the ends of the range beyond them.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub flat: bool,
}

/// The coefficients that count at a value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct BasisPoint {
    /// The first of them.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// How much each counts.
    pub weights: [f64; MOST_DEGREE + 1],
}

impl BasisPoint {
    /// The coefficients and how much each counts.
    pub fn terms(&self) -> impl Iterator<Item = (usize, f64)> + use<> {
        (self.first as usize..).zip(self.weights).take(self.count as usize)
    }
}

impl Basis {
    /// A basis for values, each as often as it occurs: cubic, with knots at quantiles; simpler for few distinct values.
    pub fn of_values(mut values: Vec<f64>, flat: bool) -> Basis {
        values.retain(|value| value.is_finite());
        values.sort_by(f64::total_cmp);
        let distinct = apart(values.iter().copied());
        let Some(most_degree) = distinct.len().checked_sub(1).filter(|degree| *degree > 0) else {
            return Basis { degree: 1, flat, ..Basis::default() };
        };
        let degree = most_degree.min(MOST_DEGREE);
        let intervals = (distinct.len() - degree).min(MOST_INTERVALS);
        // Of few values each counts once, so that none is too rare for the curve to bend there.
        let pool = if distinct.len() <= 2 * MOST_INTERVALS { &distinct } else { &values };
        let quantile = |place: usize| pool[(pool.len() - 1) * place / intervals];
        Basis { degree, knots: apart((0..=intervals).map(quantile)), anchored: distinct.len() == 2, flat }
    }

    /// A basis of hats: a free value at every knot, linear between them.
    pub fn hats(mut knots: Vec<f64>) -> Basis {
        knots.sort_by(f64::total_cmp);
        knots.dedup();
        Basis { degree: 1, knots, ..Basis::default() }
    }

    /// Whether it can be used; a file may hold anything.
    pub fn is_usable(&self) -> bool {
        (1..=MOST_DEGREE).contains(&self.degree)
            && self.knots.iter().all(|knot| knot.is_finite())
            && self.knots.windows(2).all(|pair| pair[0] < pair[1] && (pair[1] - pair[0]).is_finite())
    }

    /// Number of coefficients, the one that is not stored included.
    pub fn full_count(&self) -> usize {
        if self.knots.len() < 2 { 0 } else { self.knots.len() - 1 + self.degree }
    }

    /// Number of stored coefficients.
    pub fn count(&self) -> usize {
        self.full_count().saturating_sub(usize::from(self.anchored))
    }

    /// The first and the last knot.
    pub fn range(&self) -> Option<(f64, f64)> {
        (self.knots.len() > 1).then(|| (self.knots[0], self.knots[self.knots.len() - 1]))
    }

    /// Where a coefficient (counted with the one that is not stored) sits: a line has its own values there as coefficients.
    pub fn greville(&self, coefficient: usize) -> f64 {
        let last = self.knots.len() - 1;
        let knot = |place: usize| self.knots[(coefficient + place).saturating_sub(self.degree).min(last)];
        (1..=self.degree).map(knot).sum::<f64>() / self.degree as f64
    }

    /// Which stored coefficients count how much at `z`.
    pub fn at(&self, z: f64) -> BasisPoint {
        let Some((start, end)) = self.range() else { return BasisPoint::default() };
        let inside = z.clamp(start, end);
        let span = self.span(inside);
        let mut weights = self.functions(self.degree, span, inside);
        if inside != z && !self.flat {
            let slopes = self.slopes(span, inside);
            weights.iter_mut().zip(slopes).for_each(|(weight, slope)| *weight += slope * (z - inside));
        }
        self.stored(span, weights)
    }

    /// How much the stored coefficients count in the slope at `z`, a place between the ends.
    pub fn slope_at(&self, z: f64) -> BasisPoint {
        if self.knots.len() < 2 {
            return BasisPoint::default();
        }
        let span = self.span(z);
        self.stored(span, self.slopes(span, z))
    }

    fn stored(&self, span: usize, mut weights: [f64; MOST_DEGREE + 1]) -> BasisPoint {
        let mut point = BasisPoint { first: span as u32, count: self.degree as u32 + 1, weights };
        if self.anchored {
            if span == 0 {
                weights.rotate_left(1);
                point = BasisPoint { count: point.count - 1, weights, ..point };
            } else {
                point.first -= 1;
            }
        }
        point
    }

    /// The interval that a place between the ends is in.
    fn span(&self, z: f64) -> usize {
        self.knots.partition_point(|knot| *knot <= z).clamp(1, self.knots.len() - 1) - 1
    }

    /// The knots around an interval: `before` its end (1 is its start), the first one repeated.
    fn before(&self, span: usize, before: usize) -> f64 {
        self.knots[(span + 1).saturating_sub(before)]
    }

    /// The same after its start (1 is its end), the last one repeated.
    fn after(&self, span: usize, after: usize) -> f64 {
        self.knots[(span + after).min(self.knots.len() - 1)]
    }

    /// The functions of a degree that are not 0 on an interval, at `z`.
    fn functions(&self, degree: usize, span: usize, z: f64) -> [f64; MOST_DEGREE + 1] {
        let mut found = [0.0; MOST_DEGREE + 1];
        found[0] = 1.0;
        for higher in 1..=degree {
            let mut carried = 0.0;
            for place in 0..higher {
                let (right, left) = (self.after(span, place + 1), self.before(span, higher - place));
                let share = found[place] / (right - left);
                found[place] = carried + (right - z) * share;
                carried = (z - left) * share;
            }
            found[higher] = carried;
        }
        found
    }

    /// Their slopes, from the functions of one degree less.
    fn slopes(&self, span: usize, z: f64) -> [f64; MOST_DEGREE + 1] {
        let lower = self.functions(self.degree - 1, span, z);
        let mut slopes = [0.0; MOST_DEGREE + 1];
        for (place, lower) in lower.into_iter().take(self.degree).enumerate() {
            let width = self.after(span, place + 1) - self.before(span, self.degree - place);
            let share = self.degree as f64 * lower / width;
            slopes[place] -= share;
            slopes[place + 1] += share;
        }
        slopes
    }

    /// The values of the function with these coefficients (`[coefficients, outputs]`) at `z`.
    pub fn evaluate(&self, coefficients: &[f32], outputs: usize, z: f64) -> Vec<f64> {
        weigh(self.at(z), coefficients, outputs)
    }

    /// The function with these coefficients, piece by piece.
    pub fn curve(&self, coefficients: &[f32], outputs: usize) -> Piecewise {
        let Some((start, end)) = self.range() else {
            let zero = vec![0.0; outputs];
            let (left_slope, right_slope) = (zero.clone(), zero.clone());
            return Piecewise { knots: vec![0.0], values: vec![zero], bends: Vec::new(), left_slope, right_slope };
        };
        let values: Vec<Vec<f64>> = self.knots.iter().map(|z| self.evaluate(coefficients, outputs, *z)).collect();
        let slope = |span: usize, z: f64| weigh(self.stored(span, self.slopes(span, z)), coefficients, outputs);
        let bends = |span: usize| {
            let (from, to) = (self.knots[span], self.knots[span + 1]);
            let (leaving, arriving) = (slope(span, from), slope(span, to));
            let bend = |c: usize| {
                let rise = values[span + 1][c] - values[span][c];
                let first = leaving[c] * (to - from) - rise;
                [first, rise - first - arriving[c] * (to - from)]
            };
            (0..outputs).map(bend).collect()
        };
        let outer = |z: f64| if self.flat { vec![0.0; outputs] } else { slope(self.span(z), z) };
        let pieces = if self.degree == 1 { 0 } else { self.knots.len() - 1 };
        let bends = (0..pieces).map(bends).collect();
        Piecewise { left_slope: outer(start), right_slope: outer(end), knots: self.knots.clone(), values, bends }
    }
}

fn weigh(point: BasisPoint, coefficients: &[f32], outputs: usize) -> Vec<f64> {
    let mut sums = vec![0.0; outputs];
    for (place, weight) in point.terms() {
        let row = &coefficients[place * outputs..][..outputs];
        sums.iter_mut().zip(row).for_each(|(sum, c)| *sum += weight * f64::from(*c));
    }
    sums
}

/// Ascending values without those too near to the one before; the last one is kept.
fn apart(values: impl Iterator<Item = f64> + Clone) -> Vec<f64> {
    let (Some(first), Some(last)) = (values.clone().next(), values.clone().last()) else { return Vec::new() };
    let least = LEAST_GAP * (last - first);
    let mut kept = vec![first];
    for value in values {
        if value - kept[kept.len() - 1] > least {
            kept.push(value);
        }
    }
    let end = kept.len() - 1;
    if end > 0 {
        kept[end] = last;
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn bases() -> Vec<Basis> {
        let mut random = Stream::named(1, "bases", 0);
        let mut values = |count: usize| (0..count).map(|_| random.normal()).collect::<Vec<f64>>();
        let mut bases: Vec<Basis> = [2, 3, 4, 5, 8, 30, 500].map(|count| Basis::of_values(values(count), false)).into();
        bases.push(Basis::of_values(values(40), true));
        bases.push(Basis::hats(vec![1.0, 0.0, 0.5, 1.0 / 3.0]));
        bases
    }

    #[test]
    fn few_values_make_simple_bases() {
        let shape = |values: &[f64]| {
            let basis = Basis::of_values(values.to_vec(), false);
            (basis.degree, basis.count(), basis.anchored)
        };
        assert_eq!(shape(&[]), (1, 0, false));
        assert_eq!(shape(&[7.0, 7.0]), (1, 0, false));
        assert_eq!(shape(&[0.0, 1.0, 1.0, 0.0]), (1, 1, true));
        assert_eq!(shape(&[0.0, 1.0, 3.0]), (2, 3, false));
        assert_eq!(shape(&[0.0, 1.0, 3.0, 3.0 + 1e-9, f64::NAN]), (2, 3, false));
        assert_eq!(shape(&[0.0, 1.0, 3.0, 4.0, 9.0]), (3, 5, false));
    }

    /// Weights add up to 1 inside, a line comes out as a line everywhere, and slopes are those of differences.
    #[test]
    fn lines_are_reproduced_and_slopes_are_derivatives() {
        for basis in bases() {
            let (start, end) = basis.range().unwrap();
            let line: Vec<f32> = (usize::from(basis.anchored)..basis.full_count())
                .map(|j| (basis.greville(j) - if basis.anchored { start } else { 0.0 }) as f32)
                .collect();
            let zero = if basis.anchored { start } else { 0.0 };
            for step in 0..=60 {
                let z = start - 1.0 + (end - start + 2.0) * f64::from(step) / 60.0;
                let expected = if basis.flat { z.clamp(start, end) } else { z } - zero;
                let found = basis.evaluate(&line, 1, z)[0];
                assert!((found - expected).abs() < 1e-5, "{basis:?} at {z}: {found} {expected}");
                let random: Vec<f32> = (0..basis.count()).map(|j| ((j * 7 + 3) % 5) as f32 - 2.0).collect();
                if z > start + 1e-5 && z < end - 1e-5 {
                    let [above, below] = [1e-6, -1e-6].map(|by| basis.evaluate(&random, 1, z + by)[0]);
                    let slope = weigh(basis.slope_at(z), &random, 1)[0];
                    let near = basis.knots.iter().any(|knot| (knot - z).abs() < 2e-6);
                    assert!(near || (slope - (above - below) / 2e-6).abs() < 1e-3 * (1.0 + slope.abs()), "{z}");
                }
            }
        }
    }

    #[test]
    fn the_curve_is_the_function() {
        for basis in bases() {
            let coefficients: Vec<f32> = (0..2 * basis.count()).map(|j| ((j * 5 + 1) % 7) as f32 - 3.0).collect();
            let curve = basis.curve(&coefficients, 2);
            let (start, end) = basis.range().unwrap();
            for step in 0..=200 {
                let z = start - 2.0 + (end - start + 4.0) * f64::from(step) / 200.0;
                for (found, expected) in curve.evaluate(z).into_iter().zip(basis.evaluate(&coefficients, 2, z)) {
                    assert!((found - expected).abs() < 1e-9 * (1.0 + expected.abs()), "{basis:?} at {z}");
                }
            }
        }
    }

    #[test]
    fn hats_are_exact_at_their_knots() {
        let basis = Basis::hats((0..40).map(|l| 1.0 / (1.0 + f64::from(l))).chain([0.0]).collect());
        for (place, knot) in basis.knots.iter().enumerate() {
            let terms: Vec<_> = basis.at(*knot).terms().filter(|(_, weight)| *weight != 0.0).collect();
            assert!(matches!(terms[..], [(own, weight)] if own == place && (weight - 1.0).abs() < 1e-14), "{terms:?}");
        }
    }

    #[test]
    fn bases_that_lie_are_not_usable() {
        let basis = |degree, knots: &[f64]| Basis { degree, knots: knots.to_vec(), ..Basis::default() };
        assert!(basis(3, &[0.0, 1.0]).is_usable() && basis(1, &[]).is_usable());
        for lie in [basis(0, &[0.0, 1.0]), basis(4, &[0.0, 1.0]), basis(1, &[1.0, 1.0]), basis(1, &[f64::NAN, 1.0])] {
            assert!(!lie.is_usable(), "{lie:?}");
        }
    }
}
