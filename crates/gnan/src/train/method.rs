//! Which way a model is fitted, where that is left open: by penalised likelihood wherever that has all that is requested and is
//! not too large, at least with one distance function for all features, or a family of targets is requested, else by gradient descent.

use super::penalised::PenalisedSize;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::spec::{FamilyChoice, FitMethod, LevelChoice, RhoChoice, Spec};

/// Options that only gradient descent has a use for: to choose one is to choose it.
const OF_GRADIENT_DESCENT: [&str; 16] = [
    "feature-pairs",
    "layers",
    "hidden",
    "shape",
    "rho-shape",
    "output-bias",
    "bins",
    "pieces-above",
    "learning-rate",
    "weight-decay",
    "smooth",
    "dropout",
    "epochs",
    "patience",
    "resample",
    "loss",
];

impl Spec {
    /// The same specification with a way of fitting these items.
    pub(crate) fn with_method(&self, train: &Dataset) -> Result<Spec> {
        if self.fit.method != FitMethod::Auto {
            return Ok(self.clone());
        }
        // Only a penalised fit has families of targets.
        if self.fit.family != FamilyChoice::Auto {
            return Ok(self.clone().method(FitMethod::Penalised));
        }
        let usual = Spec::default();
        // Pairs of the second level are tables of a penalised fit.
        let of_second_level = |name: &str| name == "feature-pairs" && self.fit.level == LevelChoice::Two;
        let is_chosen = |name: &&str| self.get(name) != usual.get(name) && !of_second_level(name);
        let penalised = self.clone().method(FitMethod::Penalised);
        // Where items are weighed, no feature has strengths of its own that could remove it, nor coefficients that keep to constraints.
        let needs_coefficients = self.model.select.is_some() || self.promises();
        let fits = |size: PenalisedSize| size.fits && !(needs_coefficients && size.dual);
        let open = train.links().is_none() && !OF_GRADIENT_DESCENT.iter().any(is_chosen) && !train.is_empty();
        let possible = |spec: &Spec| open && spec.check().is_ok() && fits(spec.penalised_size(train));
        if possible(&penalised) {
            return Ok(penalised);
        }
        // Where an effect of its own for every value and distance would be too much, one distance function for all is not.
        let shared = penalised.clone().rho(RhoChoice::Shared);
        let left_open = self.model.rho.is_none() && self.distances.rho_group.is_empty();
        Ok(if left_open && possible(&shared) { shared } else { self.clone().method(FitMethod::Gradient) })
    }
}
