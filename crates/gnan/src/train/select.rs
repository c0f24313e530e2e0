//! Selection: which features a model can do without.
//!
//! A path of models is trained with a stronger and stronger group penalty, each from where the one before ended; at every
//! strength some features are switched off exactly. Every set of features that survives is then fitted again, without the
//! penalty and without the others, and judged on validation items; the smallest set that does about as well as the best is
//! kept. A kept model does not know the other features at all: new data need not have them.
//!
//! This is what gradient descent does; in a penalised fit the marginal likelihood decides: see [`penalised`](super::penalised).

use super::check::refuse;
use super::fit::FitItems;
use super::report::{Fitted, Monitor};
use super::resolve::ResolvedSpec;
use super::setup::Setup;
use super::statistics_cache::StatisticsCache;
use super::training_loop::TrainingLoop;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::metric::Metric;
use crate::model::{Ended, SelectionStep};
use crate::remedy::Remedy;
use crate::score::shown_metrics;
use crate::spec::{Selection, Spec};

/// Most strengths on the path.
const STRENGTHS: i32 = 26;
/// The weakest strength, relative to the one that would switch everything off at the start.
const WEAKEST: f64 = 0.01;
/// Every strength is this much greater than the one before; hidden layers can make up for much, so the path goes on until
/// nothing is left.
const GROWTH: f64 = 1.6;
/// Epochs at every strength, as a part of the limit on epochs.
const PART_OF_EPOCHS: usize = 8;
/// A set of features is judged if it has at most this share of those of the last one that was.
const FEWER: f64 = 0.85;
/// Without a share of right answers, a loss this much above the best is about as good.
const ABOUT_AS_GOOD: f64 = 1.02;

impl Spec {
    /// Follows the path, fits every set of survivors again, and keeps the smallest that is about as good as the best.
    pub(super) fn fit_selected(&self, items: FitItems<'_>, monitor: &mut Monitor<'_>) -> Result<Fitted> {
        let FitItems { cache, train, valid } = items;
        let resolved = self.check_selection(train, valid)?;
        let setup = Setup::of_data(self, resolved.clone(), cache.statistics(&resolved)?, train)?;
        let mut training = TrainingLoop::of_one(&setup, train, valid)?;
        let single = match self.model.select {
            Some(Selection::Strength(strength)) => Some(strength),
            _ => None,
        };
        let strengths: Vec<f64> = match single {
            Some(strength) => vec![strength],
            None => {
                let largest = training.largest_penalty();
                (0..STRENGTHS).map(|step| largest * WEAKEST * GROWTH.powi(step)).collect()
            }
        };
        let mut kept: Vec<Vec<bool>> = vec![vec![true; train.features().len()]];
        let mut steps = vec![SelectionStep { features: train.features().len(), ..SelectionStep::default() }];
        for strength in strengths {
            let survivors = training.train_penalised(strength, resolved.epochs / PART_OF_EPOCHS + 1, monitor)?;
            let Some(survivors) = survivors else { break };
            let features = survivors.iter().filter(|survives| **survives).count();
            if features == 0 {
                break;
            }
            let before = steps.last().map_or(0, |step: &SelectionStep| step.features);
            if features as f64 <= FEWER * before as f64 || (single.is_some() && features < before) {
                kept.push(survivors);
                steps.push(SelectionStep { strength, features, ..SelectionStep::default() });
            }
        }
        if kept.len() == 1 && single.is_some() {
            return refuse("this strength removes no feature, or all of them", "leave the number out for a path");
        }
        // With one strength, only what it leaves is judged.
        let first = usize::from(single.is_some());
        let mut fits: Vec<Fitted> = Vec::new();
        for (survivors, step) in kept.iter().zip(&mut steps).skip(first) {
            let cache = StatisticsCache::new(&cache.data().with_features(survivors));
            let (train, valid) = (cache.data().view_of(train), cache.data().view_of(valid));
            let fitted = self.fit_plain(FitItems { cache: &cache, train: &train, valid: &valid }, monitor)?;
            step.valid_loss = fitted.valid_loss;
            step.metric = fitted.model.evaluate(&valid)?.first_of(&shown_metrics(valid.targets()));
            let interrupted = fitted.ended == Ended::Interrupted;
            fits.push(fitted);
            if interrupted {
                break;
            }
        }
        let steps: Vec<SelectionStep> = steps.into_iter().skip(first).take(fits.len()).collect();
        let chosen = smallest_good(&steps, valid.len());
        let removed = train.features().iter().zip(&kept[first + chosen]).filter(|(_, survives)| !**survives);
        let removed: Vec<String> = removed.map(|(feature, _)| feature.name.clone()).collect();
        let mut fitted = fits.swap_remove(chosen);
        fitted.model = fitted.model.with_record(|record| (record.selection, record.removed) = (steps, removed));
        (fitted.train, fitted.valid) = (train.view_of(&fitted.train), train.view_of(&fitted.valid));
        Ok(fitted)
    }

    /// Refuses what selection cannot be combined with; else the one resolution of the specification.
    fn check_selection(&self, train: &Dataset, valid: &Dataset) -> Result<ResolvedSpec> {
        let mut resolutions = self.resolutions(train)?;
        if resolutions.len() > 1 {
            return refuse(
                "a path of features for several models at once",
                Remedy::LeaveOut(&["rho", "logits"]).to("train one model"),
            );
        }
        let in_the_way: [(&[&str], bool); 4] = [
            (&["readout"], self.model.readout),
            (&["feature-pairs"], self.model.feature_pairs > 0),
            (&["feature-pair"], !self.model.feature_pair.is_empty()),
            (&["batch"], self.fit.batch.is_some()),
        ];
        if let Some((option, _)) = in_the_way.into_iter().find(|(_, there)| *there) {
            return refuse(
                "features are selected in plain models, in one batch",
                Remedy::LeaveOut(option).to("select features first"),
            );
        }
        self.check_selected_names()?;
        if valid.is_empty() {
            return refuse(
                "there is nothing to validate the features on",
                "label more items, or give validation items",
            );
        }
        Ok(resolutions.remove(0))
    }

    /// Refuses options that name features where some may be removed.
    pub(super) fn check_selected_names(&self) -> Result<()> {
        let distances = &self.distances;
        match self.model.constrain.len() + distances.rho_group.len() + distances.ruled_features().count() {
            0 => Ok(()),
            _ => refuse(
                "rules, constraints and groups name features that selection may remove",
                "select first, then train on what is left with the rules",
            ),
        }
    }
}

/// The last, and so smallest, of the steps that are about as good as the best.
fn smallest_good(steps: &[SelectionStep], items: usize) -> usize {
    let share =
        |step: &SelectionStep| step.metric.filter(|(metric, _)| *metric == Metric::Accuracy).map(|(_, value)| value);
    let good: Box<dyn Fn(&SelectionStep) -> bool> = match steps.iter().filter_map(share).reduce(f64::max) {
        Some(best) => {
            // One standard error of a share of right answers.
            let error = (best * (1.0 - best) / items.max(1) as f64).sqrt();
            Box::new(move |step| share(step).is_some_and(|value| value >= best - error))
        }
        None => {
            let best = steps.iter().map(|step| step.valid_loss).fold(f64::INFINITY, f64::min);
            Box::new(move |step| step.valid_loss <= best * ABOUT_AS_GOOD || step.valid_loss <= best)
        }
    };
    steps.iter().rposition(good).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_smallest_set_within_a_standard_error_is_kept() {
        let step = |features, accuracy: f64| SelectionStep {
            features,
            metric: Some((Metric::Accuracy, accuracy)),
            ..SelectionStep::default()
        };
        // With 100 items the standard error of 0.8 is 0.04.
        let steps = [step(50, 0.79), step(20, 0.8), step(5, 0.77), step(2, 0.7)];
        assert_eq!(smallest_good(&steps, 100), 2);
        assert_eq!(smallest_good(&steps, 10_000), 1);
        let losses: Vec<SelectionStep> =
            [1.0, 1.01, 1.5].map(|valid_loss| SelectionStep { valid_loss, ..SelectionStep::default() }).to_vec();
        assert_eq!(smallest_good(&losses, 100), 1);
    }
}
