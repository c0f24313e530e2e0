//! The bootstrap, and intervals: how far the numbers of a model can be trusted.
//!
//! A model of gradient descent is trained again on resamples of its items (graphs, or labelled nodes), drawn with replacement; see
//! [`Retraining`](crate::train::Retraining). Every replicate is written down in canonical form at fixed points:
//! [`Replicates`], a file beside the model that grows group by group, so that a killed run continues where it stopped.
//! [`Intervals`] are what replicates have in common: 95 % bands around every number that is shown, and a verdict in
//! plain words on every curve. A penalised fit needs no replicates: its intervals come from its posterior.

mod bands;
mod file;
mod importance;
mod intervals;
mod lookup;
mod of_posterior;
mod replicates;
mod run;
mod verdict;

pub use bands::Band;
pub use intervals::{BandKind, ImportanceBands, Intervals};
pub use replicates::{Replicates, ReplicatesHeader};
pub use run::{Bootstrap, BootstrapEvent, BootstrapMonitor, RESAMPLES};
