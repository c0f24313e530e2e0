//! Which rules a model may promise: checked before any work starts.

use crate::dataset::{Dataset, Outcome};
use crate::error::{Error, Result};
use crate::files::Kind;
use crate::model::{FeatureRules, Rules};
use crate::remedy::Remedy;
use crate::shape::ShapeKind;

use super::Training;
use super::settings::LogitChoice;

impl Training {
    /// Whether anything is promised of a shape function.
    pub(crate) fn promises(&self) -> bool {
        self.rules.iter().any(|asked| asked.rules.promise())
    }

    /// What shape functions are made of: rules need splines.
    pub(crate) fn settled_shape(&self) -> ShapeKind {
        let rules = if self.rules.is_empty() { ShapeKind::Network } else { ShapeKind::Spline };
        self.shape.unwrap_or(rules)
    }

    /// What rhos are made of: those that serve a promise, or keep one, are splines.
    pub(crate) fn settled_rho_shape(&self) -> ShapeKind {
        let rules = self.rho_monotone || self.promises();
        self.rho_shape.unwrap_or(if rules { ShapeKind::Spline } else { ShapeKind::Network })
    }

    /// Refuses rules that contradict other options, whatever the data.
    pub(super) fn check_rules(&self) -> Result<()> {
        let networks = |option: &'static [&'static str], because: &str| {
            Err(Error::usage(format!("{because} cannot be promised by networks"))
                .with_remedy(Remedy::LeaveOut(option).to("use splines where they are needed")))
        };
        if !self.rules.is_empty() && self.shape == Some(ShapeKind::Network) {
            return networks(&["shape"], "a rule for a feature");
        }
        let spline = Training { rho_shape: None, ..self.clone() }.settled_rho_shape() == ShapeKind::Spline;
        if spline && self.rho_shape == Some(ShapeKind::Network) {
            return networks(&["rho-shape"], "a rule that the distance functions keep to");
        }
        if let Some(asked) = self.rules.iter().find(|asked| !asked.rules.are_sensible()) {
            return Err(Error::usage(format!("the rules of {} have numbers that make no sense", asked.feature))
                .with_remedy("a bound must be above 0, and a strength 0 or more"));
        }
        for (place, asked) in self.rules.iter().enumerate() {
            if self.rules[..place].iter().any(|other| other.feature == asked.feature) {
                return Err(Error::usage(format!("the rules of {} are given twice", asked.feature))
                    .with_remedy("give all of them at once: \"logp: up, bounded 0.5\""));
            }
        }
        if self.promises() && matches!(self.logits, LogitChoice::Two | LogitChoice::Auto) {
            return Err(Error::usage("with two logits only their difference counts, of which nothing can be promised")
                .with_remedy(Remedy::LeaveOut(&["logits"]).to("use one logit")));
        }
        Ok(())
    }

    /// Refuses rules that the data cannot keep to.
    pub(super) fn check_rules_for(&self, data: &Dataset, outcome: Outcome) -> Result<()> {
        for FeatureRules { feature, rules } in &self.rules {
            let Some(found) = data.features().iter().find(|found| found.name == *feature) else {
                let names: Vec<&str> = data.features().iter().map(|found| found.name.as_str()).take(12).collect();
                return Err(Error::usage(format!("there is no feature \"{feature}\" to keep a rule"))
                    .with_remedy(format!("there are: {}", names.join(", "))));
            };
            if found.kind == Kind::Categorical {
                return Err(Error::usage(format!(
                    "\"{feature}\" is categorical: its levels have no order and no curve"
                ))
                .with_remedy("rules are for features with numbers; leave it out"));
            }
            if rules.promise() && outcome == Outcome::Multiclass {
                return Err(Error::usage(
                    "with several classes only differences between them count, of which nothing can be promised",
                )
                .with_remedy("predict two classes at a time, or a quantity; smooth X can be asked for"));
            }
        }
        Ok(())
    }

    /// What is asked of a feature.
    pub(super) fn rules_of(&self, feature: &str) -> Rules {
        let asked = self.rules.iter().find(|asked| asked.feature == feature);
        asked.map(|asked| asked.rules).unwrap_or_default()
    }
}
