//! What training tells while it runs and when it is done.

use std::ops::ControlFlow;

use crate::dataset::Dataset;
use crate::metric::Metric;
use crate::model::Model;

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
    /// Mean validation loss; the training loss where nothing is set aside.
    pub valid_loss: f64,
    /// The best epoch so far.
    pub best_epoch: usize,
    /// The chief metric on the validation part.
    pub metric: Option<(Metric, f64)>,
}

/// Watches training and may end it: return [`ControlFlow::Break`] to stop with the best model so far.
pub type Monitor<'a> = dyn FnMut(&EpochReport<'_>) -> ControlFlow<()> + Send + 'a;

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The limit on epochs was reached.
    Epochs,
    /// The validation loss did not improve for long enough.
    Patience,
    /// The monitor asked for it.
    Interrupted,
    /// The loss was no longer a finite number; the best model before that was kept.
    Diverged,
}

impl Ended {
    /// The reason in words, for the training record.
    pub(super) fn words(self) -> &'static str {
        match self {
            Ended::Epochs => "the limit on epochs was reached",
            Ended::Patience => "the validation loss stopped improving",
            Ended::Interrupted => "it was interrupted",
            Ended::Diverged => "the loss was no longer finite",
        }
    }
}

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
    /// What decided when to stop; empty if nothing was set aside.
    pub valid: Dataset,
    /// What was tried where there was a choice: (name, validation loss).
    pub tried: Vec<(String, f64)>,
}

impl Fitted {
    /// The name of what was kept among what was tried.
    pub fn chosen(&self) -> String {
        let best = self.tried.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        best.map(|(name, _)| name.clone()).unwrap_or_default()
    }
}
