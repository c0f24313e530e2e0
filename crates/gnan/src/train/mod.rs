//! Training: from a specification and a data set to a model.
//!
//! A specification is checked (`check`) and resolved (`resolve`); what the data decide before the first step is the
//! `setup`; one `training_loop` trains one or several models of it side by side, and `finish` makes models of their best
//! weights. `fit` puts stages together: a plain fit, the removal of features, feature pairs. `penalised` fits models that are linear
//! in their effects by penalised likelihood instead. `retraining` runs the loop on resamples.

mod check;
mod finish;
mod fit;
mod group_penalty;
pub(crate) mod loss;
mod method;
mod pairs;
mod penalised;
mod probe;
mod projection;
mod readout;
mod report;
mod resolve;
pub(crate) mod retraining;
mod select;
mod setup;
pub(crate) mod statistics_cache;
mod stopping;
mod target_scale;
mod training_loop;
mod weights;

pub use penalised::PenalisedSize;
pub(crate) use probe::{Probe, ProbeSetup};
pub use report::{EpochReport, Fitted, Monitor};
pub(crate) use retraining::Retraining;
pub(crate) use statistics_cache::StatisticsCache;
