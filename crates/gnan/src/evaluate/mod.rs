//! Evaluation: how good models of some data are, and which options make good ones.
//!
//! A [`Protocol`] divides the data; a [`Search`] lists the candidates that are tried, a [`Spec`] each. Candidates are compared on
//! validation items only. Test items are predicted once, by the chosen candidate, after the choice is made: the runs
//! that choose never see them.
//!
//! All runs of an evaluation (splits, candidates, seeds) are independent of each other. They go through one pool of
//! `workers`, and through a [`Journal`] that remembers those that are done.

mod choice;
mod examples;
mod journal;
mod judgement;
mod parts;
mod protocol;
mod run;
mod scorer;
mod space;

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use serde::Serialize;

pub use choice::{CandidateSummary, Criterion, Trial};
pub use examples::{Example, ExampleReason};
pub use journal::Journal;
pub use judgement::{JudgedPart, Judgement};
pub use parts::PartMetrics;
pub use protocol::{Division, LINK_TEST_SHARE, Protocol, Tuning};
pub use scorer::Scorer;
pub use space::{Search, Space, Strategy};

use crate::dataset::{Dataset, Split};
use crate::error::Result;
use crate::metric::{Metric, Metrics};
use crate::spec::Spec;
use crate::train::EpochReport;
use run::Runs;

/// The result of one fold, split or seed.
#[derive(Clone, Debug, Serialize)]
pub struct FoldResult {
    /// Number of the fold or split, from 1.
    pub fold: usize,
    /// Seed of this run.
    pub seed: u64,
    /// Items trained on.
    pub train: usize,
    /// Items that decided when to stop, and which candidate was chosen.
    pub valid: usize,
    /// Items tested.
    pub test: usize,
    /// Epochs run.
    pub epochs: usize,
    /// Epoch whose weights were kept.
    pub best_epoch: usize,
    /// What was chosen on validation data, where there was a choice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
    /// Metrics on the test part.
    pub metrics: Metrics,
}

/// Mean and standard deviation of a metric over folds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Spread {
    /// Mean.
    pub mean: f64,
    /// Standard deviation (of the sample; 0 for a single fold).
    pub std: f64,
}

/// The result of a whole evaluation.
///
/// ```
/// use std::ops::ControlFlow;
/// use gnan::evaluate::Division;
/// use gnan::{Dataset, Evaluation, Journal, Metric, Protocol, Search, Spec};
/// let data = Dataset::open("solubility")?;
/// let search = Search::of(Spec::default().epochs(5));
/// let protocol = Protocol::new(Division::Folds(3), 1);
/// let result = Evaluation::run(&data, &search, &protocol, &Journal::in_memory(), &|_| ControlFlow::Continue(()))?;
/// assert_eq!(result.folds.len(), 3);
/// println!("{:.2}", result.metrics[&Metric::R2].mean);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// Mean and spread by metric.
    pub metrics: BTreeMap<Metric, Spread>,
    /// Every fold, split and seed.
    pub folds: Vec<FoldResult>,
    /// Every candidate that was tried on every split, where there was a choice.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<Trial>,
    /// What a reader of the figures should know: where options were tuned, what was cut short.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What an evaluation tells while it runs.
#[derive(Clone, Copy, Debug)]
pub enum EvaluationEvent<'a> {
    /// So many runs are known to be needed, of which so many were done before.
    Planned {
        /// Runs of this stage.
        runs: usize,
        /// Of them, taken from the journal.
        remembered: usize,
    },
    /// A run, counted from 0 within its stage, has done an epoch.
    Epoch(usize, &'a EpochReport<'a>),
    /// A run is done.
    Done(usize),
}

/// Watches an evaluation from several threads; break to stop everything.
pub type EvaluationMonitor<'a> = dyn Fn(EvaluationEvent<'_>) -> ControlFlow<()> + Sync + 'a;

impl Evaluation {
    /// Chooses a candidate on validation data for every split, and tests it once per split and seed.
    pub fn run(
        data: &Dataset,
        search: &Search,
        protocol: &Protocol,
        journal: &Journal,
        monitor: &EvaluationMonitor<'_>,
    ) -> Result<Evaluation> {
        let runs = Runs::new(data, protocol, journal, monitor)?;
        let choice = runs.choose(search, protocol.tuning)?;
        let folds = runs.test(&choice)?;
        Ok(Evaluation { metrics: spreads(&folds), folds, tried: choice.tried, notes: choice.notes })
    }

    /// Several evaluations as one, for instance of data that were divided with several seeds.
    pub fn together(evaluations: Vec<Evaluation>) -> Evaluation {
        let (mut folds, mut tried, mut notes) = (Vec::new(), Vec::new(), Vec::new());
        for evaluation in evaluations {
            folds.extend(evaluation.folds);
            tried.extend(evaluation.tried);
            notes.extend(evaluation.notes);
        }
        notes.sort_unstable();
        notes.dedup();
        Evaluation { metrics: spreads(&folds), folds, tried, notes }
    }

    /// Chooses a candidate on one split: the candidate, everything that was tried, and what a reader should know.
    pub fn search(
        data: &Dataset,
        split: Split,
        search: &Search,
        seed: u64,
        journal: &Journal,
        monitor: &EvaluationMonitor<'_>,
    ) -> Result<(Spec, Vec<Trial>, Vec<String>)> {
        let choice = Runs::on_split(data, split, seed, journal, monitor).choose(search, Tuning::FirstSplit)?;
        Ok((choice.chosen[0].0.clone(), choice.tried, choice.notes))
    }

    /// Every candidate that was tried, over all splits, the lowest mean validation loss first.
    pub fn by_candidate(&self) -> Vec<CandidateSummary> {
        CandidateSummary::of(&self.tried)
    }

    /// The candidate that most splits chose; of several, the first that was tried.
    pub fn most_chosen(&self) -> Option<&str> {
        let mut counts: Vec<(&str, usize)> = Vec::new();
        for chosen in self.folds.iter().filter_map(|fold| fold.chosen.as_deref()) {
            match counts.iter_mut().find(|(known, _)| *known == chosen) {
                Some((_, count)) => *count += 1,
                None => counts.push((chosen, 1)),
            }
        }
        counts.into_iter().rev().max_by_key(|(_, count)| *count).map(|(words, _)| words)
    }
}

fn spreads(folds: &[FoldResult]) -> BTreeMap<Metric, Spread> {
    let mut metrics = BTreeMap::new();
    for metric in Metric::ALL {
        let values: Vec<f64> = folds.iter().filter_map(|fold| fold.metrics.get(metric)).collect();
        if values.is_empty() {
            continue;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let std = if count > 1.0 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        metrics.insert(metric, Spread { mean, std });
    }
    metrics
}
