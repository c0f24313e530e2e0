//! The curve of effects over a number, in a penalised fit.
//!
//! A number with few distinct values has effects of its own at each of them; one with more at knots at quantiles, linear between
//! them, or, where it is smooth, a cubic B-spline:
//!
//! ```text
//! theta_x(l) = sum_j c_j(l) B_j(x)
//! ```
//!
//! with as many coefficients as there would be knots. The model stays a table between whose rows one interpolates: a smooth curve
//! has several rows in every interval of the spline, and is fitted as the table that it becomes, so that nothing is lost between
//! the fit and the table.

use super::schema::FeatureSchema;
use crate::files::Kind;
use crate::shape::Basis;
use crate::spec::CurveChoice;
use crate::statistics::knots::{distinct, quantile_knots};

/// Most coefficients of a numeric feature with effects of its own at every distance, and from how many features on effects are
/// straight lines: so many curves could not be estimated, nor read.
const MOST_COEFFICIENTS: usize = 16;
const MANY_NUMBERS: usize = 64;
/// Coefficients of a smooth curve: fewer are enough, because it may bend between them.
const SMOOTH_COEFFICIENTS: usize = 10;
/// Most coefficients of a curve over a number that sums its item up.
const MOST_STATISTIC_COEFFICIENTS: usize = 9;
/// The degree of smooth curves, and the rows of the table in an interval between two of their knots.
const DEGREE: usize = 3;
const ROWS_PER_INTERVAL: usize = 3;

/// Where the rows of a curve are, and what their effects are sums of.
pub(super) struct EffectCurve {
    /// The values, ascending, between which effects are lines.
    pub at: Vec<f64>,
    /// The B-splines that a smooth curve is a sum of.
    pub spline: Option<Basis>,
}

impl EffectCurve {
    /// The curve of a feature, one of so many numbers, with these training values, ascending; `None`: it is no number.
    pub(super) fn learn(
        schema: &FeatureSchema,
        values: Option<Vec<f64>>,
        numbers: usize,
        choice: CurveChoice,
    ) -> Option<EffectCurve> {
        let linear = |at: Vec<f64>| Some(EffectCurve { at, spline: None });
        if schema.kind == Kind::Binary {
            return linear(vec![1.0]);
        }
        let values = values?;
        let most = match (numbers > MANY_NUMBERS, schema.kind) {
            _ if schema.statistic.is_some() => MOST_STATISTIC_COEFFICIENTS,
            (false, _) => MOST_COEFFICIENTS,
            (true, Kind::Sparse) => 1,
            (true, _) => 2,
        };
        let smooth = match choice {
            CurveChoice::Linear => false,
            CurveChoice::Smooth => true,
            // Numbers that sum up items were predicted no better by smooth curves.
            CurveChoice::Auto => schema.statistic.is_none(),
        };
        // The 0 of a sparse feature has no effect, whatever is next to it; and rules hold between two rows where they hold at both.
        let may_bend = schema.kind == Kind::Continuous && schema.rules.is_empty() && most > 2 * DEGREE;
        if smooth
            && may_bend
            && distinct(&values) > most
            && let Some(curve) = EffectCurve::smooth(&values, most.min(SMOOTH_COEFFICIENTS), schema.whole)
        {
            return Some(curve);
        }
        let mut at = quantile_knots(&values, most);
        if schema.kind == Kind::Sparse || at.is_empty() {
            at.push(0.0);
            at.sort_by(f64::total_cmp);
            at.dedup();
        }
        linear(at)
    }

    /// A smooth curve with so many coefficients over ascending values, all of them whole numbers or not; `None`: they are so far
    /// apart that it cannot be computed.
    fn smooth(values: &[f64], coefficients: usize, whole: bool) -> Option<EffectCurve> {
        let knots = quantile_knots(values, coefficients + 1 - DEGREE);
        let mut at = Vec::new();
        for ends in knots.windows(2) {
            at.push(ends[0]);
            at.extend(rows_between(values, [ends[0], ends[1]], whole));
        }
        at.extend(knots.last());
        let spline = Basis { degree: DEGREE, knots, flat: true, ..Basis::default() };
        let in_order = at.is_sorted_by(|a, b| a < b);
        (in_order && is_usable_at(&spline, &at)).then_some(EffectCurve { at, spline: Some(spline) })
    }
}

/// Rows between two knots: the values there where these are few, else evenly spaced ones, which are whole where all values are.
fn rows_between(values: &[f64], [from, to]: [f64; 2], whole: bool) -> Vec<f64> {
    let inside = &values[values.partition_point(|x| *x <= from)..values.partition_point(|x| *x < to)];
    if distinct(inside) < ROWS_PER_INTERVAL {
        return inside.chunk_by(|a, b| a == b).map(|run| run[0]).collect();
    }
    let row = |place: usize| {
        let share = place as f64 / ROWS_PER_INTERVAL as f64;
        let row = from * (1.0 - share) + to * share;
        if whole { row.round() } else { row }
    };
    (1..ROWS_PER_INTERVAL).map(row).collect()
}

/// Whether a basis can be evaluated at these values, which must reach from its first knot to its last; a file may hold anything.
pub(super) fn is_usable_at(basis: &Basis, at: &[f64]) -> bool {
    let ends = basis.range().is_some_and(|(start, end)| at.first() == Some(&start) && at.last() == Some(&end));
    let finite = |x: &f64| basis.at(*x).terms().all(|(_, weight)| weight.is_finite());
    basis.is_usable() && !basis.anchored && basis.knots.len() <= at.len() && ends && at.iter().all(finite)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::EffectKnots;

    #[test]
    fn rows_are_those_of_the_values_where_these_are_few() {
        let values: Vec<f64> = [0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 10.0].into();
        assert_eq!(rows_between(&values, [0.0, 3.0], true), [1.0, 2.0]);
        assert!(rows_between(&values, [6.0, 10.0], true).is_empty());
        assert_eq!(rows_between(&values, [0.0, 4.0], true), [1.0, 3.0]);
        assert_eq!(rows_between(&values, [0.0, 6.0], false), [2.0, 4.0]);
    }

    #[test]
    fn splines_that_do_not_fit_their_rows_are_refused() {
        let values: Vec<f64> = (0..200).map(|x| f64::from(x * x)).collect();
        let EffectCurve { at, spline } = EffectCurve::smooth(&values, MOST_COEFFICIENTS, true).unwrap();
        let knots = EffectKnots { shares: vec![0.0; at.len()], at, spline };
        assert_eq!(knots.coefficients(), MOST_COEFFICIENTS);
        assert!(knots.are_usable(Kind::Continuous) && !knots.are_usable(Kind::Sparse));
        type Lie = fn(&mut Basis);
        let lies: [Lie; 6] = [
            |basis| basis.degree = 0,
            |basis| basis.degree = 7,
            |basis| basis.anchored = true,
            |basis| basis.knots.clear(),
            |basis| basis.knots[0] -= 1.0,
            |basis| basis.knots[1] = f64::NAN,
        ];
        for lie in lies {
            let mut broken = knots.clone();
            lie(broken.spline.as_mut().unwrap());
            assert!(!broken.are_usable(Kind::Continuous), "{:?}", broken.spline);
        }
    }
}
