//! The rules of one shape function: its direction, its curvature and its bound.

use crate::files::Kind;
use crate::model::{Certificate, FeatureLayout, FeatureSchema, Layout, Model};
use crate::numbers::number;
use crate::shape::{Piece, Piecewise, extremes};
use crate::spec::{Curvature, Trend};

/// How far rounding in f64 may take a rise or a slope, relative to the largest value of the curve.
pub(super) const ROUNDING: f64 = 1e-11;

/// A feature with rules, and everything that decides whether they hold.
pub(super) struct RuledFeature<'a> {
    feature: &'a FeatureSchema,
    /// Its shape function; 0 at the reference.
    curve: Piecewise,
    /// The value of its missing level, per output.
    missing: Vec<f64>,
    /// The mean of its shape function over training, per output.
    mean: Vec<f64>,
    /// The lowest and the highest value of its rho, at any distance.
    rho: (f64, f64),
    /// The largest weight that a source can have, by all lenses together.
    loudest: f64,
    /// Whether a pair, which keeps to no rule, takes part in its effect.
    paired: bool,
    /// Rounding of the curve.
    tolerance: f64,
}

/// Whether a feature is one of a pair.
pub(super) fn in_pair(model: &Model, name: &str) -> bool {
    let pairs = model.definition().learned.features.iter().filter_map(|feature| feature.pair.as_ref());
    pairs.flat_map(|pair| &pair.members).any(|member| member.feature == name)
}

impl<'a> RuledFeature<'a> {
    /// The feature, if something was promised of it.
    pub(super) fn of(
        model: &Model,
        feature: &'a FeatureSchema,
        place: &FeatureLayout,
        layout: &Layout,
    ) -> Option<RuledFeature<'a>> {
        let (spline, scale) = (place.network.filter(|_| feature.rules.promise())?, feature.scale?);
        let (shapes, outputs) = (&model.parameters().shapes, model.outputs());
        let raw = shapes.curve(spline);
        let largest = raw.values.iter().flatten().fold(0.0f64, |largest, value| largest.max(value.abs()));
        let unchanged = vec![1.0; outputs];
        let rhos = model.rho_ranges(layout, place.first_rho);
        let missing = match feature.missing {
            Some(_) => &model.parameters().values[place.first_value * outputs..][..outputs],
            None => &[],
        };
        let mean = if feature.kind == Kind::Continuous { feature.mean_effect.clone() } else { Vec::new() };
        Some(RuledFeature {
            feature,
            curve: raw.rescaled(&shapes.evaluate(spline, 0.0), &unchanged).of_unscaled(scale.shift, scale.scale),
            missing: missing.iter().map(|value| f64::from(*value)).collect(),
            mean: if mean.is_empty() { vec![0.0; outputs] } else { mean },
            rho: extremes(rhos.iter().flat_map(|(low, high)| [*low, *high])),
            loudest: rhos.iter().map(|(low, high)| low.abs().max(high.abs())).sum(),
            paired: in_pair(model, &feature.name),
            tolerance: ROUNDING * largest,
        })
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

    fn certificate(&self, promise: String, mut evidence: String, holds: bool) -> Certificate {
        let holds = holds && !self.paired;
        if self.paired {
            evidence.push_str("; but it is part of a pair, which keeps to no rule");
        }
        Certificate { subject: self.feature.name.clone(), promise, evidence, holds }
    }

    fn pieces(&self) -> impl Iterator<Item = Piece> {
        (0..self.curve.outputs()).flat_map(|c| self.curve.pieces(c))
    }

    fn outer_slopes(&self) -> impl Iterator<Item = f64> {
        self.curve.left_slope.iter().chain(&self.curve.right_slope).copied()
    }

    fn rho_words(&self) -> String {
        format!("rho is from {} to {} at any distance", number(self.rho.0), number(self.rho.1))
    }

    /// Whether rho turns nothing round.
    fn rho_keeps_sign(&self) -> bool {
        self.rho.0 >= 0.0
    }

    fn direction(&self, direction: Trend) -> Certificate {
        let sign = if direction == Trend::Up { 1.0 } else { -1.0 };
        // Rounding matters to the rise over a piece, so slopes are looked at times the width of their piece.
        let inside =
            self.pieces().flat_map(|piece| [piece.rises().0, piece.rises().1]).all(|x| sign * x >= -self.tolerance);
        let width = self.curve.knots[self.curve.knots.len() - 1] - self.curve.knots[0];
        let outside = self.outer_slopes().all(|slope| sign * slope * width >= -self.tolerance);
        let slopes = self.pieces().flat_map(|piece| [piece.rises().0 / piece.width, piece.rises().1 / piece.width]);
        let (lowest, highest) = extremes(slopes.chain(self.outer_slopes()));
        let evidence = format!("its slope is from {} to {}; {}", number(lowest), number(highest), self.rho_words());
        let promise = if direction == Trend::Up {
            "never lowers a prediction as it grows"
        } else {
            "never raises a prediction as it grows"
        };
        self.certificate(promise.to_owned(), evidence, inside && outside && self.rho_keeps_sign())
    }

    fn curvature(&self, curvature: Curvature) -> Certificate {
        let sign = if curvature == Curvature::Convex { 1.0 } else { -1.0 };
        let flat = self.feature.spline.as_ref().is_some_and(|basis| basis.flat);
        let bends = (0..self.curve.outputs()).all(|c| {
            let pieces: Vec<Piece> = self.curve.pieces(c).collect();
            let within = pieces.iter().flat_map(|piece| piece.bends()).all(|bend| sign * bend >= -self.tolerance);
            // Where pieces meet the slope may change, over the narrower of both.
            let meeting = pieces.windows(2).all(|pair| {
                let change = pair[1].ends().0 / pair[1].width - pair[0].ends().1 / pair[0].width;
                sign * change * pair[0].width.min(pair[1].width) >= -self.tolerance
            });
            let (first, last) = (pieces.first(), pieces.last());
            let outer = |piece: Option<&Piece>, change: &dyn Fn(&Piece) -> f64| {
                flat || piece.is_none_or(|piece| sign * change(piece) >= -self.tolerance)
            };
            let before = outer(first, &|piece| piece.ends().0 - self.curve.left_slope[c] * piece.width);
            let after = outer(last, &|piece| self.curve.right_slope[c] * piece.width - piece.ends().1);
            within && meeting && before && after
        });
        let slopes = self.pieces().flat_map(|piece| [piece.ends().0 / piece.width, piece.ends().1 / piece.width]);
        let (lowest, highest) = extremes(slopes.chain(self.outer_slopes()));
        let way = if curvature == Curvature::Convex { "never falls" } else { "never rises" };
        let knots = &self.curve.knots;
        let place = if flat {
            format!(" from {} to {}", number(knots[0]), number(knots[knots.len() - 1]))
        } else {
            String::new()
        };
        let promise = format!("is {}", if curvature == Curvature::Convex { "convex" } else { "concave" });
        let evidence =
            format!("its slope {way}{place}, from {} to {}; {}", number(lowest), number(highest), self.rho_words());
        self.certificate(promise, evidence, bends && self.rho_keeps_sign())
    }

    fn bound(&self, bound: f64) -> Certificate {
        let mut largest = 0.0f64;
        for (c, mean) in self.mean.iter().enumerate() {
            let pieces = self.curve.pieces(c).flat_map(|piece| [piece.range().0, piece.range().1]);
            let knots = self.curve.values.iter().map(|values| values[c]);
            let values = pieces.chain(knots).chain(self.missing.get(c).copied());
            let (low, high) = extremes(values.map(|value| value - mean));
            largest = largest.max(low.abs()).max(high.abs());
        }
        let counts = largest * self.loudest;
        let stays = self.outer_slopes().all(|slope| slope == 0.0);
        let beyond = if stays { "and stays what it is beyond its range" } else { "but grows beyond its range" };
        let evidence = format!("it counts for at most {}, {beyond}; {}", number(counts), self.rho_words());
        let promise = format!("never counts for more than {bound} from one source, at any distance");
        self.certificate(promise, evidence, stays && counts <= bound)
    }
}
