//! Training: from a data set to a model.

mod finish;
mod fit;
mod hearing;
mod lane_loss;
mod loss;
pub mod pairs;
mod penalised;
mod prepared;
mod probe;
mod projection;
mod readout;
mod report;
mod retraining;
mod rule_check;
mod select;
pub mod settings;
mod stopping;
mod target_scale;
mod weights;

pub use loss::{Goals, Loss};
pub use prepared::Prepared;
pub(crate) use probe::Probe;
pub use report::{Ended, EpochReport, Fitted, Monitor};
pub use retraining::{Retrained, Retraining};
pub use settings::{LogitChoice, RhoChoice, Selection, Training};
