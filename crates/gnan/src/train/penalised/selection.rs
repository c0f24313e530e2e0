//! Selection by the marginal likelihood: features that it does as well without are removed.
//!
//! Every block of coefficients has a penalty that draws all of it towards 0, so that the marginal likelihood can take the effects of a
//! feature away altogether (the "double penalty" of Marra and Wood 2011). What is left of such a feature is not exactly 0, and about
//! every second strength is fitted to chance where there is no effect. So a feature is removed without which the marginal likelihood
//! is lower by less than the number of strengths that it was fitted with, as Akaike's criterion counts them. The features are looked
//! at in the order of what they add, each without those that were removed before it, so that of two that stand for one another one
//! stays; then the others are fitted again, starting with the smoothness that they had, until none is left that can be removed.

use rayon::prelude::*;

use super::estimate::{CandidateFit, IterationMonitor};
use crate::dataset::Feature;
use crate::error::{Error, Result};
use crate::likelihood::{Iteration, NextOmission, Omission};
use crate::model::SelectionStep;
use crate::remedy::Remedy;
use crate::spec::FitMethod;

/// What a strength must add to the logarithm of the marginal likelihood: what it adds by chance, as Akaike's criterion has it.
pub(super) const GAIN_OF_STRENGTH: f64 = 1.0;

/// A candidate without the features that it can do without.
pub(super) struct SelectedFit {
    pub fit: CandidateFit,
    /// The sets of features that were fitted, and the loss of items that were not fitted on.
    pub steps: Vec<SelectionStep>,
    /// The names of the features that were removed.
    pub removed: Vec<String>,
}

impl CandidateFit {
    /// Removes what is of no use, until nothing is.
    pub(super) fn selected(self, monitor: &mut IterationMonitor<'_>) -> Result<SelectedFit> {
        if self.dual {
            return Err(Error::usage(
                "features are not selected where there are so many coefficients that items are weighed instead",
            )
            .with_remedy(Remedy::Set("fit", FitMethod::Gradient.to_string())));
        }
        let mut found = SelectedFit { steps: vec![self.selection_step()], removed: Vec::new(), fit: self };
        let mut interrupted = false;
        while !interrupted {
            let kept = found.fit.features_of_use();
            let features = found.fit.train.features();
            let removed = features.iter().zip(&kept).filter(|(_, kept)| !**kept);
            let removed: Vec<String> = removed.map(|(feature, _)| feature.name.clone()).collect();
            if removed.is_empty() {
                break;
            }
            let mut watch = |iteration: &Iteration| {
                let flow = monitor(iteration);
                interrupted |= flow.is_break();
                flow
            };
            let fewer = found.fit.without_features(&kept, &mut watch)?;
            found.fit = fewer.expect("a fit without a limit is made");
            found.steps.push(found.fit.selection_step());
            found.removed.extend(removed);
        }
        Ok(found)
    }

    fn selection_step(&self) -> SelectionStep {
        let features = self.train.features().len();
        SelectionStep { features, valid_loss: self.mean_left_out(), ..SelectionStep::default() }
    }

    /// Which features add more to the marginal likelihood than chance does, or others that do are made of them.
    fn features_of_use(&self) -> Vec<bool> {
        let features = self.train.features();
        let count = self.design.columns();
        let estimates = || self.found.iter().filter_map(|part| part.primal.as_ref());
        let mut omissions: Vec<Omission<'_>> =
            estimates().map(|estimate| Omission::new(estimate, &self.columns.blocks, count)).collect();
        let blocks = |k: usize| {
            let groups = self.columns.map.groups.iter().enumerate();
            groups.filter(move |(_, group)| group.feature == Some(k)).map(|(place, _)| place)
        };
        let chance = |k: usize| {
            let strengths: usize = blocks(k).map(|place| self.columns.blocks[place].penalties()).sum();
            GAIN_OF_STRENGTH * (strengths * omissions.len()) as f64
        };
        let chances: Vec<f64> = (0..features.len()).map(chance).collect();
        let surplus = |k: usize| {
            let loss: f64 = omissions.iter().map(|omission| omission.next(blocks(k)).loss).sum();
            loss - chances[k]
        };
        let mut ranked: Vec<(f64, usize)> = (0..features.len()).into_par_iter().map(|k| (surplus(k), k)).collect();
        ranked.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let mut kept = vec![true; features.len()];
        for (_, k) in ranked.into_iter().filter(|(surplus, _)| *surplus < 0.0) {
            let next: Vec<NextOmission> = omissions.iter().map(|omission| omission.next(blocks(k))).collect();
            if next.iter().map(|next| next.loss).sum::<f64>() < chances[k] {
                kept[k] = false;
                omissions.iter_mut().zip(next).for_each(|(omission, next)| omission.leave_out(next));
            }
        }
        // What is made of others comes after them.
        for k in (0..features.len()).rev().filter(|k| !kept[*k]).collect::<Vec<usize>>() {
            let users = features.iter().zip(&kept).filter(|(_, kept)| **kept);
            kept[k] = users.map(|(user, _)| user).any(|user| is_made_of(user, &features[k].name));
        }
        kept
    }
}

/// Whether a feature is computed from one of this name.
fn is_made_of(feature: &Feature, name: &str) -> bool {
    let in_pair = feature.pair.iter().flat_map(|pair| &pair.members).any(|member| member.feature == name);
    let summed_up = feature.statistic.as_ref().and_then(|statistic| statistic.feature());
    let label = feature.description.as_ref().and_then(|description| description.label.as_deref());
    in_pair || summed_up.is_some_and(|(of, _)| of == name) || label == Some(name)
}
