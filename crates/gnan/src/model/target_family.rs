//! The family of targets whose outputs are logarithms of their means: the one place where such outputs become values.

use serde::{Deserialize, Serialize};

use crate::likelihood::Family;
use crate::spec::FamilyChoice;

/// The family of the targets of a model, where outputs are logarithms of their means.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TargetFamily {
    /// Which family it is: counts, or gamma quantities.
    pub family: FamilyChoice,
    /// The dispersion of every target: with a mean `m` counts have the variance `m + d m^2` (0: `m`), gamma quantities `d m^2`.
    pub dispersions: Vec<f64>,
}

impl TargetFamily {
    /// The family of a choice, with the dispersion of every target; `None` where outputs are means themselves.
    pub(crate) fn of(family: FamilyChoice, dispersions: Vec<f64>) -> Option<TargetFamily> {
        let has_any = family != FamilyChoice::Poisson;
        let dispersions = dispersions.into_iter().map(|dispersion| if has_any { dispersion } else { 0.0 }).collect();
        family.is_log().then_some(TargetFamily { family, dispersions })
    }

    /// The mean that an output stands for.
    pub fn mean(&self, output: f64) -> f64 {
        // Predictions are numbers of single precision, which have a largest one.
        output.exp().min(f64::from(f32::MAX))
    }

    /// The deviance of a target from a mean, of one of the targets.
    pub fn deviance(&self, target: usize, mean: f64, value: f64) -> f64 {
        let dispersion = self.dispersions.get(target).copied().unwrap_or(0.0);
        let mean = mean.max(f64::MIN_POSITIVE);
        self.family.likelihood().deviance(mean, value, dispersion).unwrap_or(f64::NAN)
    }

    /// Whether it makes sense for so many targets.
    pub(crate) fn is_usable(&self, targets: usize) -> bool {
        let usable = |dispersion: &f64| match self.family {
            FamilyChoice::Poisson => *dispersion == 0.0,
            _ => *dispersion > 0.0 && dispersion.is_finite(),
        };
        self.family.is_log() && self.dispersions.len() == targets && self.dispersions.iter().all(usable)
    }

    /// How its parts add up, in a sentence.
    pub const SENTENCE: &'static str = "Parts add up to the natural logarithm of the predicted mean: prediction = exp(sum), so that a part \
         of +0.1 multiplies the prediction by exp(0.1) = 1.105.";

    /// The family in words, with its dispersions.
    pub fn words(&self) -> String {
        let dispersions: Vec<String> = self.dispersions.iter().map(|value| crate::numbers::number(*value)).collect();
        match self.family {
            FamilyChoice::Poisson => format!("{}, log link", self.family.words()),
            _ => format!("{}, log link, dispersion {}", self.family.words(), dispersions.join(", ")),
        }
    }
}

impl FamilyChoice {
    /// The likelihood of quantities of this choice.
    pub(crate) fn likelihood(self) -> Family {
        match self {
            FamilyChoice::Auto | FamilyChoice::Gaussian => Family::Gaussian,
            FamilyChoice::Poisson => Family::Poisson,
            FamilyChoice::NegativeBinomial => Family::NegativeBinomial,
            FamilyChoice::Gamma => Family::Gamma,
        }
    }
}
