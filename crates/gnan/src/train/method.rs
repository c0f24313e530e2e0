//! Which way a model is fitted, where that is left open: by penalised likelihood wherever that has all that is requested and is
//! not too large, at least with one distance function for all features, or a family of targets is requested, else by gradient descent.

use super::penalised::PenalisedSize;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::files::Task;
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

/// Hop caps of node tasks with which effects are fitted where all distances are too many.
const NEAR_CAPS: [usize; 3] = [4, 2, 1];

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
        // Where nodes at all distances have too many effects, near ones may not.
        let distances = &self.distances;
        let cap_is_open =
            distances.hop_cap.is_none() && distances.far_from.is_none() && distances.edge_weight.is_none();
        if self.fit.choose && cap_is_open && train.task() == Task::Node {
            let capped = NEAR_CAPS.iter().map(|cap| penalised.clone().hop_cap(*cap));
            if let Some(capped) = capped.into_iter().find(possible) {
                return Ok(capped);
            }
        }
        // Where an effect of its own for every value and distance would be too much, one distance function for all is not.
        let shared = penalised.clone().rho(RhoChoice::Shared);
        let left_open = self.model.rho.is_none() && self.distances.rho_group.is_empty();
        Ok(if left_open && possible(&shared) { shared } else { self.clone().method(FitMethod::Gradient) })
    }
}
