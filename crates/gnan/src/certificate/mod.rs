//! Certificates: every rule that a model has to keep, checked on the finished model.
//!
//! What is checked is the model as its file has it, in f64: shape functions piece by piece, at their knots and at the
//! extremes of every cubic piece, and rhos at all of their knots; where every value has a distance function of its own, the effects
//! of all values at all of these knots. Nothing is sampled and nothing that training recorded is
//! believed. A rule about a feature is a promise about predictions, so its rho is part of every certificate.

mod association;
mod effect_rules;
mod shape_rules;

use crate::model::{Certificate, Layout, Model};
use crate::numbers::number;
use crate::shape::extremes;

use effect_rules::RuledEffects;
use shape_rules::{ROUNDING, RuledFeature};

impl Model {
    /// Checks every rule that the model has to keep.
    pub fn certify(&self) -> Vec<Certificate> {
        let definition = self.definition();
        let layout = definition.layout();
        let mut certificates = Vec::new();
        for (feature, place) in definition.learned.features.iter().zip(&layout.features) {
            if let Some(ruled) = RuledFeature::of(self, feature, place, &layout) {
                certificates.extend(ruled.certificates());
            }
            if let Some(ruled) = RuledEffects::of(self, feature, place, &layout) {
                certificates.extend(ruled.certificates());
            }
        }
        certificates
            .extend(definition.spec.model.rho_monotone.then(|| self.certify_monotone_rhos(layout.rho_functions())));
        certificates.extend(self.certify_associations());
        certificates
    }

    /// The certificates that the model brings, checked again: those of its rules, and as false whatever else it claims.
    pub fn check_certificates(&self) -> Vec<Certificate> {
        let mut checked = self.certify();
        let claims = &self.definition().record.certificates;
        let unfounded = claims.iter().filter(|claim| !checked.iter().any(|found| found.promises_as(claim)));
        let unfounded: Vec<Certificate> = unfounded
            .map(|claim| Certificate { evidence: "the model has no such rule".into(), holds: false, ..claim.clone() })
            .collect();
        checked.extend(unfounded);
        checked
    }

    /// The same model with the certificates of its rules.
    pub fn certified(self) -> Model {
        let certificates = self.certify();
        self.with_record(|record| record.certificates = certificates)
    }

    /// A distance function over `t = 1 / (1 + distance)` from 0, unreachable, to 1, the node itself: the values at its knots,
    /// by output.
    fn rho_values(&self, rho: usize) -> Vec<Vec<f64>> {
        let scale = self.definition().learned.rho_scale;
        let curve = self.parameters().rhos.curve(rho).of_unscaled(scale.shift, scale.scale);
        let points = curve.points_between(0.0, 1.0);
        (0..self.outputs()).map(|c| points.iter().map(|(_, values)| values[c]).collect()).collect()
    }

    /// The lowest and the highest value of a rho at any distance by every lens.
    fn rho_ranges(&self, layout: &Layout, rho: usize) -> Vec<(f64, f64)> {
        let functions = (0..layout.lenses).map(|lens| layout.function(rho, lens));
        functions.map(|function| extremes(self.rho_values(function).into_iter().flatten())).collect()
    }

    fn certify_monotone_rhos(&self, rhos: usize) -> Certificate {
        let (mut largest_rise, mut lowest) = (0.0f64, f64::INFINITY);
        for values in (0..rhos).flat_map(|rho| self.rho_values(rho)) {
            let (low, high) = extremes(values.iter().copied());
            // From near to far t falls, and so must rho; values that only rounding tells apart are equal.
            let rounding = ROUNDING * low.abs().max(high.abs());
            let rises = values.windows(2).map(|pair| pair[0] - pair[1]).filter(|rise| *rise > rounding);
            largest_rise = rises.fold(largest_rise, f64::max);
            lowest = lowest.min(low);
        }
        let curves = if rhos == 1 { "one curve".to_owned() } else { format!("{rhos} curves") };
        Certificate {
            subject: "rho".to_owned(),
            promise: "never rises with distance and is never negative, unreachable being farthest".to_owned(),
            evidence: format!(
                "over {curves} the largest rise is {} and the lowest value {}",
                number(largest_rise),
                number(lowest)
            ),
            holds: largest_rise <= 0.0 && lowest >= 0.0,
        }
    }
}
