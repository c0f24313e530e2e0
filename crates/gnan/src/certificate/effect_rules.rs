//! The rules of a feature with an effect of its own for every value and distance: its direction, its curvature and its bound.
//!
//! At every distance by every lens its effects are a curve over its values, with lines between the knots of these, and effects between
//! two knots of distance functions are lines, too: a rule that holds for the curves at all of these knots holds everywhere. Beyond the
//! range of its values an effect stays what it is.

use crate::files::Kind;
use crate::model::{Certificate, FeatureLayout, FeatureSchema, Layout, Model};
use crate::numbers::{counted, number};
use crate::shape::extremes;
use crate::spec::{Curvature, Trend};

use super::shape_rules::{ROUNDING, in_pair};

/// A feature with rules, and everything that decides whether they hold.
pub(super) struct RuledEffects<'a> {
    feature: &'a FeatureSchema,
    /// Its values, ascending.
    at: Vec<f64>,
    /// Its effects at these values, before they are centred: of every lens, one curve for every output and knot of distance.
    curves: Vec<Vec<RuledCurve>>,
    /// Why something besides these curves may break its rules.
    besides: Option<&'static str>,
    /// Rounding of its effects.
    tolerance: f64,
}

/// The effects at one distance.
struct RuledCurve {
    values: Vec<f64>,
    missing: Option<f64>,
    /// Their mean over training nodes.
    mean: f64,
}

/// Whether a number that sums items up is made of a feature.
fn is_summed_up(model: &Model, name: &str) -> bool {
    let mut statistics = model.learned().features.iter().filter_map(|feature| feature.statistic.as_ref());
    statistics.any(|statistic| statistic.feature().is_some_and(|(of, _)| of == name))
}

impl<'a> RuledEffects<'a> {
    /// The feature, if it has an effect for every value and distance and something was promised of it.
    pub(super) fn of(
        model: &Model,
        feature: &'a FeatureSchema,
        place: &FeatureLayout,
        layout: &Layout,
    ) -> Option<RuledEffects<'a>> {
        let knots = feature.effect_knots.as_ref().filter(|_| feature.rules.promise())?;
        let outputs = model.outputs();
        let uncentred = model.learned().uncentred;
        let shares = if uncentred { vec![0.0; feature.value_count()] } else { feature.level_shares() };
        // The 0 of a binary feature is no knot; its effect is 0, as is that of a sparse one.
        let zero = (feature.kind == Kind::Binary).then_some(0.0);
        let is_zero = |value: usize| feature.kind == Kind::Sparse && knots.at.get(value) == Some(&0.0);
        let mut from_zero = 0.0f64;
        let mut curves = Vec::new();
        for lens in 0..layout.lenses {
            // `[values][outputs][knots of distance]`
            let effects: Vec<Vec<Vec<f64>>> = (0..feature.value_count())
                .map(|value| {
                    let factors = &model.parameters().values[(place.first_value + value) * outputs..][..outputs];
                    let mut rho = model.rho_values(layout.function(place.first_rho + value, lens));
                    for (rho, factor) in rho.iter_mut().zip(factors) {
                        rho.iter_mut().for_each(|rho| *rho *= f64::from(*factor));
                    }
                    rho
                })
                .collect();
            let mut of_lens = Vec::new();
            let distances = effects.first().and_then(|effects| effects.first()).map_or(0, Vec::len);
            for (c, distance) in (0..outputs).flat_map(|c| (0..distances).map(move |distance| (c, distance))) {
                let own: Vec<f64> = effects.iter().map(|effects| effects[c][distance]).collect();
                let zeros = own.iter().enumerate().filter(|(value, _)| is_zero(*value));
                from_zero = zeros.fold(from_zero, |largest, (_, effect)| largest.max(effect.abs()));
                of_lens.push(RuledCurve {
                    mean: own.iter().zip(&shares).map(|(effect, share)| effect * share).sum(),
                    values: zero.into_iter().chain(own.iter().copied().take(knots.at.len())).collect(),
                    missing: own.get(knots.at.len()).copied(),
                });
            }
            curves.push(of_lens);
        }
        let besides = if in_pair(model, &feature.name) {
            Some("it is part of a pair, which keeps to no rule")
        } else if is_summed_up(model, &feature.name) {
            Some("means of it count as well, which keep to no rule")
        } else if from_zero > 0.0 {
            Some("values near 0 have effects, and 0 has none")
        } else {
            None
        };
        let sizes = curves.iter().flatten().flat_map(|curve: &RuledCurve| &curve.values).map(|effect| effect.abs());
        let tolerance = ROUNDING * sizes.fold(0.0, f64::max);
        let at = zero.into_iter().chain(knots.at.iter().copied()).collect();
        Some(RuledEffects { feature, at, curves, besides, tolerance })
    }

    /// One certificate per rule.
    pub(super) fn certificates(&self) -> Vec<Certificate> {
        let rules = &self.feature.rules;
        let mut found = Vec::new();
        found.extend(rules.direction.map(|direction| self.direction(direction)));
        found.extend(rules.curvature.map(|curvature| self.curvature(curvature)));
        found.extend(rules.bound.map(|bound| self.bound(bound)));
        found
    }

    fn certificate(&self, promise: String, evidence: String, holds: bool) -> Certificate {
        let evidence = match self.besides {
            Some(besides) => format!("{evidence}; but {besides}"),
            None => evidence,
        };
        Certificate { subject: self.feature.name.clone(), promise, evidence, holds: holds && self.besides.is_none() }
    }

    fn all_curves(&self) -> impl Iterator<Item = &RuledCurve> {
        self.curves.iter().flatten()
    }

    /// The slopes of all curves between neighbouring values, in words.
    fn slope_words(&self) -> String {
        let widths = || self.at.windows(2).map(|pair| pair[1] - pair[0]);
        let slopes = self.all_curves().flat_map(|curve| {
            curve.values.windows(2).zip(widths()).map(|(pair, width)| (pair[1] - pair[0]) / width).collect::<Vec<f64>>()
        });
        let (lowest, highest) = extremes(slopes.chain((self.at.len() < 2).then_some(0.0)));
        format!("from {} to {}", number(lowest), number(highest))
    }

    fn distance_words(&self) -> String {
        format!("at any distance ({} were looked at)", counted(self.all_curves().count(), "curve"))
    }

    fn direction(&self, direction: Trend) -> Certificate {
        let sign = if direction == Trend::Up { 1.0 } else { -1.0 };
        let keeps =
            |curve: &RuledCurve| curve.values.windows(2).all(|pair| sign * (pair[1] - pair[0]) >= -self.tolerance);
        let promise = match direction {
            Trend::Up => "never lowers a prediction as it grows",
            Trend::Down => "never raises a prediction as it grows",
        };
        let evidence = format!("its slope is {} {}", self.slope_words(), self.distance_words());
        self.certificate(promise.to_owned(), evidence, self.all_curves().all(keeps))
    }

    fn curvature(&self, curvature: Curvature) -> Certificate {
        let sign = if curvature == Curvature::Convex { 1.0 } else { -1.0 };
        let keeps = |curve: &RuledCurve| {
            curve.values.windows(3).zip(self.at.windows(3)).all(|(effects, at)| {
                // The change of the slope, over the narrower of both pieces; of halves, whose differences are finite.
                let (left, right) = (at[1] / 2.0 - at[0] / 2.0, at[2] / 2.0 - at[1] / 2.0);
                let least = left.min(right);
                let change = (effects[2] - effects[1]) * (least / right) - (effects[1] - effects[0]) * (least / left);
                sign * change >= -self.tolerance
            })
        };
        let (promise, way) = match curvature {
            Curvature::Convex => ("is convex", "never falls"),
            Curvature::Concave => ("is concave", "never rises"),
        };
        let range = match (self.at.first(), self.at.last()) {
            (Some(first), Some(last)) => format!(" from {} to {}", number(*first), number(*last)),
            _ => String::new(),
        };
        let evidence = format!("its slope {way}{range}, {} {}", self.slope_words(), self.distance_words());
        self.certificate(promise.to_owned(), evidence, self.all_curves().all(keeps))
    }

    fn bound(&self, bound: f64) -> Certificate {
        let of_curve = |curve: &RuledCurve| {
            let effects = curve.values.iter().copied().chain(curve.missing);
            let (lowest, highest) = extremes(effects.map(|effect| effect - curve.mean));
            lowest.abs().max(highest.abs())
        };
        // A source may count by every lens, at another distance each.
        let of_lens = |curves: &Vec<RuledCurve>| curves.iter().map(of_curve).fold(0.0, f64::max);
        let counts: f64 = self.curves.iter().map(of_lens).sum();
        let evidence = format!("it counts for at most {}, and stays what it is beyond its range", number(counts));
        let promise = format!("never counts for more than {bound} from one source, at any distance");
        self.certificate(promise, evidence, counts <= bound)
    }
}
