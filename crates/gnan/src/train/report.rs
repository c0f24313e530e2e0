//! What training reports while it runs and when it is done.

use std::ops::ControlFlow;

use crate::dataset::Dataset;
use crate::metric::Metric;
use crate::model::{Ended, Model};
use crate::spec::Spec;

/// What is known after an epoch.
#[derive(Clone, Debug)]
pub struct EpochReport<'a> {
    /// Which of the candidates is being trained ("rho per feature, one logit"); empty if there is one only.
    pub candidate: &'a str,
    /// Epochs done.
    pub epoch: usize,
    /// Limit on epochs.
    pub epochs: usize,
    /// Mean training loss.
    pub train_loss: f64,
    /// Mean validation loss; the training loss where there are no validation items.
    pub valid_loss: f64,
    /// The best epoch so far.
    pub best_epoch: usize,
    /// The chief metric on the validation part.
    pub metric: Option<(Metric, f64)>,
}

/// Watches training and may end it: return [`ControlFlow::Break`] to stop with the best model so far.
pub type Monitor<'a> = dyn FnMut(&EpochReport<'_>) -> ControlFlow<()> + Send + 'a;

/// A trained model and how training went.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The model, with the best weights.
    pub model: Model,
    /// Why training ended.
    pub ended: Ended,
    /// The validation loss of the kept weights.
    pub valid_loss: f64,
    /// What was fitted on.
    pub train: Dataset,
    /// The validation items; there may be none.
    pub valid: Dataset,
    /// What was tried where there was a choice: (name, validation loss).
    pub tried: Vec<(String, f64)>,
    /// The name of what was kept among what was tried.
    pub chosen: String,
}

impl Spec {
    /// A note on the features of the data that are trained on knots, where any are.
    pub fn knots_note(&self, data: &Dataset) -> Option<String> {
        let counts: Vec<usize> = self.statistics.bins.counts(data);
        let (features, least) = (counts.len(), counts.first()?);
        let what = if features == 1 { "feature has" } else { "features have" };
        Some(format!(
            "{features} {what} so many distinct values that training uses {least} of them, at quantiles, with lines \
             between them: an approximation (bins off: all of them); predictions will be exact"
        ))
    }
}
