//! Constraints of a penalised fit: the rules of features as inequalities between effects.
//!
//! A numeric feature has an effect of its own for every knot `q`, at every distance `l` by every lens. Its rules hold for every one of
//! these curves over its values, and so for what is between two knots or two distances, where effects are lines:
//!
//! ```text
//! up        theta_q+1(l) - theta_q(l) >= 0
//! convex    (theta_q+2 - theta_q+1) / (x_q+2 - x_q+1) - (theta_q+1 - theta_q) / (x_q+1 - x_q) >= 0
//! bounded   |theta_q(l) - sum_u share_u theta_u(l)| <= bound / lenses        missing values included
//! ```
//!
//! down and concave with the other sign. Parameters are rounded to f32 in the end, which must break no rule: inequalities have margins
//! that are larger than what rounding can take away, relative to the largest effect of the feature. Strengths of penalties are those
//! of the fit without constraints; which candidate is taken is decided by the marginal likelihood without them, and by the losses of
//! items that were left out with them.

use std::ops::Range;

use super::estimate::IterationMonitor;
use crate::files::Kind;
use crate::likelihood::{Inequality, PenalisedEstimate, PenalisedProblem, fit_within};
use crate::model::{CoefficientMap, CoefficientSum, Definition, merged};
use crate::spec::{Curvature, Rules, Trend};

/// What inequalities are kept away from being broken, relative to the largest effect: rounding keeps the order of numbers, and changes
/// what is added up.
const ORDER_MARGIN: f64 = 1e-9;
const SUM_MARGIN: f64 = 1e-6;
/// The same of a bound, relative to it.
const BOUND_MARGIN: f64 = 1e-5;
/// By how much margins grow where rounding would still break a rule, and how often.
const MORE: f64 = 8.0;
const MOST_MARGINS: usize = 8;

/// A rule as an inequality between effects.
struct EffectRule {
    /// The place of the feature among those with rules.
    feature: usize,
    /// The effects, each with its weight; weights have a size of about 1.
    terms: CoefficientSum,
    /// The least that their sum may be.
    least: f64,
    /// What the sum must be above that: a number, and a share of the largest effect.
    margin: (f64, f64),
}

/// The rules of all features.
pub(super) struct EffectRules {
    /// The coefficients of every feature with rules, and its bound.
    features: Vec<(Vec<usize>, Option<f64>)>,
    rules: Vec<EffectRule>,
}

/// The effects of a feature at one distance by one lens.
struct ValueCurve {
    /// Its values, ascending, and the coefficient of each; `None`: its effect is 0.
    values: Vec<(f64, Option<usize>)>,
    missing: Option<usize>,
    /// What is taken out of every effect.
    mean: CoefficientSum,
}

impl EffectRules {
    /// The rules of the features of a definition.
    pub(super) fn new(definition: &Definition, map: &CoefficientMap) -> EffectRules {
        let layout = definition.layout();
        let mut found = EffectRules { features: Vec::new(), rules: Vec::new() };
        for (schema, place) in definition.learned.features.iter().zip(&layout.features) {
            let Some(knots) = schema.effect_knots.as_ref().filter(|_| schema.rules.promise()) else { continue };
            let shares = schema.level_shares();
            let (mut curves, mut lenses) = (Vec::new(), 0);
            for lens in 0..layout.lenses {
                let of_values: Vec<Option<Range<usize>>> =
                    (0..schema.value_count()).map(|value| map.curve(place.first_rho + value, lens)).collect();
                let distances = of_values.iter().flatten().map(Range::len).max().unwrap_or(0);
                lenses += usize::from(distances > 0);
                for distance in 0..distances {
                    let coefficient = |value: usize| of_values[value].as_ref().map(|curve| curve.start + distance);
                    let known = knots.at.iter().enumerate().map(|(q, at)| (*at, coefficient(q)));
                    // The 0 of a binary feature is no knot.
                    let zero = (schema.kind == Kind::Binary).then_some((0.0, None));
                    let taken = shares.iter().enumerate().filter(|(_, share)| **share != 0.0);
                    curves.push(ValueCurve {
                        values: zero.into_iter().chain(known).collect(),
                        missing: schema.missing.and_then(|_| coefficient(knots.at.len())),
                        mean: taken.filter_map(|(value, share)| Some((coefficient(value)?, *share))).collect(),
                    });
                }
            }
            curves.iter().for_each(|curve| found.add_curve(curve, &schema.rules, lenses));
            let coefficients = curves.iter().flat_map(ValueCurve::coefficients).collect();
            found.features.push((coefficients, schema.rules.bound));
        }
        found
    }

    /// Whether there are none.
    pub(super) fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }

    fn add_curve(&mut self, curve: &ValueCurve, rules: &Rules, lenses: usize) {
        let feature = self.features.len();
        let mut add = |terms: Vec<(Option<usize>, f64)>, least: f64, margin: (f64, f64)| {
            let terms = merged(terms.into_iter().filter_map(|(at, weight)| Some((at?, weight))).collect());
            if !terms.is_empty() {
                self.rules.push(EffectRule { feature, terms, least, margin });
            }
        };
        if let Some(direction) = rules.direction {
            let sign = if direction == Trend::Up { 1.0 } else { -1.0 };
            for pair in curve.values.windows(2) {
                add(vec![(pair[1].1, sign), (pair[0].1, -sign)], 0.0, (0.0, ORDER_MARGIN));
            }
        }
        if let Some(curvature) = rules.curvature {
            let sign = if curvature == Curvature::Convex { 1.0 } else { -1.0 };
            for three in curve.values.windows(3) {
                // Halves, whose differences are finite.
                let [before, at, after] = [0, 1, 2].map(|place| three[place].0 / 2.0);
                let (left, right) = (at - before, after - at);
                let least = left.min(right);
                let (left, right) = (sign * least / left, sign * least / right);
                let terms = vec![(three[2].1, right), (three[1].1, -right - left), (three[0].1, left)];
                add(terms, 0.0, (0.0, SUM_MARGIN));
            }
        }
        if let Some(bound) = rules.bound {
            let bound = bound / lenses.max(1) as f64;
            for value in curve.values.iter().map(|(_, value)| *value).chain(curve.missing.map(Some)) {
                for sign in [1.0, -1.0] {
                    let mean = curve.mean.iter().map(|(at, share)| (Some(*at), -sign * share));
                    let terms = mean.chain([(value, sign)]).collect();
                    add(terms, -bound, (BOUND_MARGIN * bound, SUM_MARGIN));
                }
            }
        }
    }

    /// The estimate of an output that keeps to all rules, where a coefficient times its unit is an effect; `None` where there is none.
    /// `monitor` may break off its steps.
    pub(super) fn kept(
        &self,
        problem: PenalisedProblem<'_>,
        estimate: PenalisedEstimate,
        unit: impl Fn(usize) -> f64,
        monitor: &mut IterationMonitor<'_>,
    ) -> Option<PenalisedEstimate> {
        if self.is_empty() {
            return Some(estimate);
        }
        let largest = |(coefficients, bound): &(Vec<usize>, Option<f64>)| {
            let sizes = coefficients.iter().map(|at| (estimate.coefficients[*at] * unit(*at)).abs());
            sizes.fold(0.0, f64::max).min(bound.unwrap_or(f64::INFINITY))
        };
        let mut sizes: Vec<f64> = self.features.iter().map(largest).collect();
        let mut found = estimate;
        for _ in 0..MOST_MARGINS {
            found = fit_within(problem, found, &self.inequalities(&sizes, &unit), monitor)?;
            let effect = |at: usize| f64::from((found.coefficients[at] * unit(at)) as f32);
            let broken = |feature: usize| {
                let own = self.rules.iter().filter(|rule| rule.feature == feature);
                own.into_iter().any(|rule| rule.terms.iter().map(|(at, w)| w * effect(*at)).sum::<f64>() < rule.least)
            };
            let broken: Vec<usize> = (0..self.features.len()).filter(|feature| broken(*feature)).collect();
            if broken.is_empty() {
                return Some(found);
            }
            broken.into_iter().for_each(|feature| sizes[feature] *= MORE);
        }
        None
    }

    /// The rules as inequalities between coefficients, with margins for effects of these sizes.
    fn inequalities(&self, sizes: &[f64], unit: impl Fn(usize) -> f64) -> Vec<Inequality> {
        let inequality = |rule: &EffectRule| Inequality {
            terms: rule.terms.iter().map(|(at, weight)| (*at, weight * unit(*at))).collect(),
            least: rule.least + rule.margin.0 + rule.margin.1 * sizes[rule.feature],
        };
        self.rules.iter().map(inequality).collect()
    }
}

impl ValueCurve {
    fn coefficients(&self) -> impl Iterator<Item = usize> + '_ {
        self.values.iter().filter_map(|(_, coefficient)| *coefficient).chain(self.missing)
    }
}
