//! The choice between candidates, from what they did on validation items.

use std::str::FromStr;

use serde::Serialize;

use super::journal::RunOutcome;
use crate::error::{Error, Result};
use crate::metric::{Metric, Metrics};
use crate::spec::Spec;

/// What decides between candidates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// The lowest loss.
    #[default]
    Loss,
    /// The best value of a metric; of equal ones, the lowest loss.
    Metric(Metric),
}

impl FromStr for Criterion {
    type Err = Error;

    /// `loss`, or a metric by its name.
    fn from_str(word: &str) -> Result<Criterion> {
        if word == "loss" {
            return Ok(Criterion::Loss);
        }
        let names = Metric::ALL.map(Metric::name).join(", ");
        let metric = word.parse().map_err(|error: Error| error.with_remedy(format!("choose from loss, {names}")))?;
        Ok(Criterion::Metric(metric))
    }
}

/// One candidate on one split.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    /// Number of the fold or split, from 1.
    pub fold: usize,
    /// Seed of this run.
    pub seed: u64,
    /// The options in which candidates differ, in words.
    pub candidate: String,
    /// Loss on the validation items.
    pub valid_loss: f64,
    /// Metrics on the validation items.
    pub valid: Metrics,
    /// Epoch whose weights were kept.
    pub best_epoch: usize,
    /// Whether it was chosen for this split.
    pub chosen: bool,
}

impl Trial {
    /// The candidates of some trials with their losses, the lowest first, as the record of a model keeps them.
    pub fn by_loss(trials: Vec<Trial>) -> Vec<(String, f64)> {
        let mut tried: Vec<(String, f64)> =
            trials.into_iter().map(|trial| (trial.candidate, trial.valid_loss)).collect();
        tried.sort_by(|a, b| a.1.total_cmp(&b.1));
        tried
    }
}

/// A candidate over all splits on which it was tried.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateSummary {
    /// The options in which candidates differ, in words.
    pub candidate: String,
    /// The mean loss on the validation items.
    pub valid_loss: f64,
    /// The mean of every metric on the validation items.
    pub valid: Metrics,
    /// On how many splits it was chosen.
    pub chosen: usize,
}

impl CandidateSummary {
    /// Every candidate of some trials, the lowest mean loss first.
    pub(super) fn of(trials: &[Trial]) -> Vec<CandidateSummary> {
        let mut candidates: Vec<(&str, Vec<&Trial>)> = Vec::new();
        for trial in trials {
            match candidates.iter_mut().find(|(words, _)| *words == trial.candidate) {
                Some((_, trials)) => trials.push(trial),
                None => candidates.push((&trial.candidate, vec![trial])),
            }
        }
        let summary = |(words, trials): (&str, Vec<&Trial>)| CandidateSummary {
            candidate: words.to_owned(),
            valid_loss: trials.iter().map(|trial| trial.valid_loss).sum::<f64>() / trials.len() as f64,
            valid: Metrics::mean(trials.iter().map(|trial| &trial.valid)),
            chosen: trials.iter().filter(|trial| trial.chosen).count(),
        };
        let mut found: Vec<CandidateSummary> = candidates.into_iter().map(summary).collect();
        found.sort_by(|a, b| a.valid_loss.total_cmp(&b.valid_loss));
        found
    }
}

/// For every split the candidate that was chosen, and how it came to that.
pub(super) struct Choice {
    /// For every split that chose: the candidate, and its words where there was a choice.
    pub chosen: Vec<(Spec, Option<String>)>,
    pub tried: Vec<Trial>,
    pub notes: Vec<String>,
}

/// The best of some outcomes; of equal ones, the first.
pub(super) fn best(outcomes: &[(usize, &RunOutcome)], criterion: Criterion) -> Option<usize> {
    let key = |outcome: &RunOutcome| match criterion {
        Criterion::Loss => (outcome.valid_loss, 0.0),
        Criterion::Metric(metric) => {
            let sign = if metric.smaller_is_better() { 1.0 } else { -1.0 };
            let value = outcome.valid.get(metric).map_or(f64::INFINITY, |value| sign * value);
            (value, outcome.valid_loss)
        }
    };
    let better = |a: &(usize, &RunOutcome), b: &(usize, &RunOutcome)| {
        let (a, b) = (key(a.1), key(b.1));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    };
    outcomes.iter().min_by(|a, b| better(a, b)).map(|(candidate, _)| *candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(loss: f64, accuracy: f64, mae: f64) -> RunOutcome {
        let valid = Metrics::from_iter([(Metric::Accuracy, accuracy), (Metric::Mae, mae)]);
        RunOutcome { valid_loss: loss, valid, ..RunOutcome::default() }
    }

    #[test]
    fn a_candidate_is_summed_up_over_its_splits() {
        let trial = |candidate: &str, valid_loss, accuracy, chosen| Trial {
            fold: 1,
            seed: 0,
            candidate: candidate.to_owned(),
            valid_loss,
            valid: Metrics::from_iter([(Metric::Accuracy, accuracy)]),
            best_epoch: 1,
            chosen,
        };
        let trials = [trial("a", 1.0, 0.5, false), trial("b", 0.5, 0.7, true), trial("b", 1.0, 0.9, true)];
        let found = CandidateSummary::of(&trials);
        assert_eq!(
            found.iter().map(|one| (one.candidate.as_str(), one.chosen)).collect::<Vec<_>>(),
            [("b", 2), ("a", 0)]
        );
        assert_eq!((found[0].valid_loss, found[0].valid.get(Metric::Accuracy)), (0.75, Some(0.8)));
        let by_loss = Trial::by_loss(trials.to_vec());
        assert_eq!(by_loss, [("b".to_owned(), 0.5), ("a".to_owned(), 1.0), ("b".to_owned(), 1.0)]);
    }

    #[test]
    fn the_criterion_decides_and_ties_go_to_the_lower_loss_and_then_to_the_first() {
        let found = [outcome(0.5, 0.7, 3.0), outcome(0.6, 0.9, 2.0), outcome(0.4, 0.9, 2.5), outcome(0.4, 0.8, 2.5)];
        let found: Vec<(usize, &RunOutcome)> = found.iter().enumerate().collect();
        assert_eq!(best(&found, Criterion::Loss), Some(2));
        assert_eq!(best(&found, Criterion::Metric(Metric::Accuracy)), Some(2));
        assert_eq!(best(&found, Criterion::Metric(Metric::Mae)), Some(1));
        assert_eq!(best(&[], Criterion::Loss), None);
    }
}
