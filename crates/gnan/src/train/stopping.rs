//! When to stop: the validation loss has not improved for long enough, also not at a lowered rate.
//!
//! When it stops improving, the best weights are taken up again at a rate lowered by 3; when the rate is a ninth of what
//! it was and the loss stops improving once more, training ends.

use super::resolve::ResolvedSpec;

/// When the validation loss stops improving, the best weights are taken up again at a rate lowered by this factor ...
const RATE_LOWERED_BY: f32 = 3.0;
/// ... until it is this much lower than at first; then training ends.
const RATE_LOWERED_TO: f32 = 8.0;

/// The course of the validation loss so far, and the learning rate that follows from it.
pub(super) struct Stopping {
    patience: usize,
    first_rate: f32,
    /// The learning rate.
    pub rate: f32,
    /// The lowest loss so far.
    pub best_loss: f64,
    /// The epoch of the lowest loss.
    pub best_epoch: usize,
    lowered: usize,
}

/// What follows from the validation loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Another epoch.
    GoOn,
    /// The rate was lowered: start again from the best weights.
    TakeUpBest,
    /// Training ends.
    End,
}

impl Stopping {
    pub(super) fn new(resolved: &ResolvedSpec) -> Stopping {
        Stopping {
            patience: resolved.patience,
            first_rate: resolved.learning_rate,
            rate: resolved.learning_rate,
            best_loss: f64::INFINITY,
            best_epoch: 0,
            lowered: 0,
        }
    }

    /// Takes note of the loss after an epoch; whether it is the lowest so far.
    pub(super) fn improves(&mut self, epoch: usize, loss: f64) -> bool {
        let improved = loss < self.best_loss;
        if improved {
            (self.best_loss, self.best_epoch) = (loss, epoch);
        }
        improved
    }

    /// What to do after an epoch.
    pub(super) fn next(&mut self, epoch: usize) -> Next {
        if self.patience == 0 || epoch - self.best_epoch.max(self.lowered) < self.patience {
            return Next::GoOn;
        }
        if self.rate <= self.first_rate / RATE_LOWERED_TO {
            return Next::End;
        }
        self.rate /= RATE_LOWERED_BY;
        self.lowered = epoch;
        Next::TakeUpBest
    }
}
