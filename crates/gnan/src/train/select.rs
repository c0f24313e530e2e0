//! Selection: which features a model can do without.
//!
//! A path of models is trained with a stronger and stronger group penalty, each from where the one before ended; at every
//! strength some features are switched off exactly. Every set of features that survives is then fitted again, without the
//! penalty and without the others, and judged on validation items; the smallest set that does about as well as the best is
//! kept. A kept model does not know the other features at all: new data need not have them.

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::model::SelectionStep;
use crate::remedy::Remedy;

use super::fit::Fit;
use super::prepared::Prepared;
use super::report::{Ended, Fitted, Monitor};
use super::settings::{Selection, Training};

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

impl Training {
    /// Walks the path, fits every set of survivors again, and keeps the smallest that is about as good as the best.
    pub(super) fn fit_selected(
        &self,
        prepared: &Prepared,
        train: &Dataset,
        valid: &Dataset,
        monitor: &mut Monitor<'_>,
    ) -> Result<Fitted> {
        let plain = Training { select: Selection::Off, ..self.clone() };
        let outcome = train.outcome()?;
        let (rhos, named) =
            (self.rho_candidates(train), self.rules.len() + self.associations.len() + self.rho_groups.len());
        let logits = self.logit_candidates(outcome, rhos[0]);
        let refuse = |what: &str, remedy: Remedy| Err(Error::usage(what).with_remedy(remedy));
        if rhos.len() * logits.len() > 1 {
            return refuse(
                "a path of features for several models at once",
                [Remedy::Use("rho"), Remedy::Use("logits")].into(),
            );
        }
        if self.readout || self.wants_pairs() || self.batch.is_some() {
            return refuse(
                "features are selected in plain models, in one batch",
                Remedy::LeaveOut(&["readout", "pairs", "batch"]).to("choose features first"),
            );
        }
        if named > 0 {
            return refuse(
                "rules, constraints and groups name features that selection may remove",
                "select first, then train on what is left with the rules".into(),
            );
        }
        if valid.is_empty() {
            return refuse(
                "there is nothing to validate the features on",
                "label more items, or give a validation part".into(),
            );
        }
        let settled = self.settle(train, outcome, logits[0], rhos[0])?;
        let mut fit = Fit::new(self, &settled, prepared, train, valid)?;
        let largest = fit.largest_penalty();
        let strengths: Vec<f64> = match self.select {
            Selection::Strength(strength) => vec![strength],
            _ => (0..STRENGTHS).map(|place| largest * WEAKEST * GROWTH.powi(place)).collect(),
        };
        // With one strength, only what it leaves is judged.
        let single = matches!(self.select, Selection::Strength(_));
        let mut kept: Vec<Vec<bool>> = vec![vec![true; train.features().len()]];
        let mut steps =
            vec![SelectionStep { strength: 0.0, features: train.features().len(), ..SelectionStep::default() }];
        for strength in strengths {
            let survivors = fit.penalised(strength, settled.epochs / PART_OF_EPOCHS + 1, monitor)?;
            let Some(survivors) = survivors else { break };
            let features = survivors.iter().filter(|survives| **survives).count();
            if features == 0 {
                break;
            }
            let before = steps.last().map_or(0, |step: &SelectionStep| step.features);
            if features as f64 <= FEWER * before as f64 || (single && features < before) {
                kept.push(survivors);
                steps.push(SelectionStep { strength, features, ..SelectionStep::default() });
            }
        }
        if kept.len() == 1 && single {
            return refuse(
                "this strength removes no feature, or all of them",
                Remedy::Use("select").to("try a path of strengths, without a number"),
            );
        }
        let first = usize::from(single);
        let mut fits: Vec<Fitted> = Vec::new();
        for (survivors, step) in kept.iter().zip(&mut steps).skip(first) {
            let refitted = Prepared::new(&prepared.data().with_features(survivors), &plain);
            let (train, valid) = (refitted.data().view_of(train), refitted.data().view_of(valid));
            let fitted = plain.fit_prepared(&refitted, &train, Some(&valid), monitor)?;
            step.valid_loss = fitted.valid_loss;
            step.metric = fitted.model.evaluate(&valid)?.chief().map(|(name, value)| (name.to_owned(), value));
            let interrupted = fitted.ended == Ended::Interrupted;
            fits.push(fitted);
            if interrupted {
                break;
            }
        }
        let steps: Vec<SelectionStep> = steps.into_iter().skip(first).take(fits.len()).collect();
        let chosen = smallest_good(&steps, valid.len());
        let removed = train.features().iter().zip(&kept[first + chosen]).filter(|(_, survives)| !**survives);
        let removed = removed.map(|(feature, _)| feature.name.clone()).collect();
        let mut fitted = fits.swap_remove(chosen);
        fitted.model = fitted.model.selected(steps, removed);
        (fitted.train, fitted.valid) = (train.view_of(&fitted.train), train.view_of(&fitted.valid));
        Ok(fitted)
    }
}

/// The last, and so smallest, of the steps that are about as good as the best.
fn smallest_good(steps: &[SelectionStep], items: usize) -> usize {
    let share =
        |step: &SelectionStep| step.metric.as_ref().filter(|(name, _)| name == "accuracy").map(|(_, value)| *value);
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
            metric: Some(("accuracy".to_owned(), accuracy)),
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
