//! Evaluation: folds, given splits and repeated seeds, with means and spreads.

use std::ops::ControlFlow;

use rayon::prelude::*;
use serde::Serialize;

use crate::dataset::{Dataset, Split};
use crate::error::{Error, Result};
use crate::metric::{Metrics, ORDER};
use crate::train::{EpochReport, Prepared, Training};

/// How the data are divided for evaluation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Stratified folds, each the test part once; 10 % of the rest validates.
    Folds(usize),
    /// The splits that came with the data.
    GivenSplits,
}

/// The result of one fold, split or seed.
#[derive(Clone, Debug, Serialize)]
pub struct FoldResult {
    /// Number of the fold or split, from 1.
    pub fold: usize,
    /// Seed of this run.
    pub seed: u64,
    /// Items trained on.
    pub train: usize,
    /// Items that decided when to stop.
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
#[derive(Clone, Debug, Serialize)]
pub struct Evaluation {
    /// Mean and spread by metric.
    pub metrics: std::collections::BTreeMap<&'static str, Spread>,
    /// Every fold, split and seed.
    pub folds: Vec<FoldResult>,
}

/// What an evaluation tells while it runs; runs are counted from 0 over all folds, splits and seeds.
#[derive(Clone, Copy, Debug)]
pub enum EvaluationEvent<'a> {
    /// A run has done an epoch.
    Epoch(usize, &'a EpochReport<'a>),
    /// A run is done.
    Done(usize),
}

/// Watches an evaluation from several threads; break to stop everything.
pub type EvaluationMonitor<'a> = dyn Fn(EvaluationEvent<'_>) -> ControlFlow<()> + Sync + 'a;

impl Evaluation {
    /// Trains and tests once per fold or split and seed, on all threads.
    pub fn run(
        data: &Dataset,
        training: &Training,
        protocol: Protocol,
        seeds: &[u64],
        monitor: &EvaluationMonitor<'_>,
    ) -> Result<Evaluation> {
        training.check()?;
        let mut runs: Vec<(usize, u64, Split)> = Vec::new();
        for seed in seeds {
            for (index, split) in splits(data, protocol, *seed)?.into_iter().enumerate() {
                runs.push((index + 1, *seed, split));
            }
        }
        let prepared = Prepared::new(data, training);
        let folds = runs
            .par_iter()
            .enumerate()
            .map(|(run, (fold, seed, split))| {
                let training = training.clone().seed(*seed);
                let mut interrupted = false;
                let mut watch = |report: &EpochReport<'_>| {
                    let flow = monitor(EvaluationEvent::Epoch(run, report));
                    interrupted |= flow.is_break();
                    flow
                };
                let fitted = training.fit_prepared(&prepared, &split.train, Some(&split.valid), &mut watch)?;
                if interrupted {
                    return Err(Error::training("the evaluation was interrupted"));
                }
                let metrics = fitted.model.evaluate(&split.test)?;
                let _ = monitor(EvaluationEvent::Done(run));
                let record = &fitted.model.description().record;
                Ok(FoldResult {
                    fold: *fold,
                    seed: *seed,
                    train: split.train.len(),
                    valid: split.valid.len(),
                    test: split.test.len(),
                    epochs: record.epochs,
                    best_epoch: record.best_epoch,
                    chosen: (fitted.tried.len() > 1).then(|| chosen(&fitted.tried)),
                    metrics,
                })
            })
            .collect::<Result<Vec<_>>>()?;
        Ok(Evaluation { metrics: spreads(&folds), folds })
    }
}

fn chosen(tried: &[(String, f64)]) -> String {
    let best = tried.iter().min_by(|a, b| a.1.total_cmp(&b.1));
    best.map(|(name, _)| name.clone()).unwrap_or_default()
}

/// The splits that a protocol makes with a seed.
pub fn splits(data: &Dataset, protocol: Protocol, seed: u64) -> Result<Vec<Split>> {
    match protocol {
        Protocol::Folds(count) => data
            .folds(count, seed)?
            .into_iter()
            .map(|(rest, test)| {
                let (train, valid) = rest.hold_out(seed)?;
                Ok(Split { train, valid, test })
            })
            .collect(),
        Protocol::GivenSplits => (0..data.given_splits())
            .map(|index| {
                let split = data.given_split(index, seed)?;
                if split.test.is_empty() {
                    return Err(Error::input("the given split has no labelled test items")
                        .in_file(data.name())
                        .remedy("evaluate over folds instead: --folds 10"));
                }
                Ok(split)
            })
            .collect(),
    }
}

fn spreads(folds: &[FoldResult]) -> std::collections::BTreeMap<&'static str, Spread> {
    let mut metrics = std::collections::BTreeMap::new();
    for name in ORDER {
        let values: Vec<f64> = folds.iter().filter_map(|fold| fold.metrics.get(name)).collect();
        if values.is_empty() {
            continue;
        }
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        let std = if count > 1.0 { (squares / (count - 1.0)).sqrt() } else { 0.0 };
        metrics.insert(name, Spread { mean, std });
    }
    metrics
}
