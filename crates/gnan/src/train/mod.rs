//! Training: from a data set to a model.

mod finish;
mod fit;
mod loss;
mod prepared;
mod report;
pub mod settings;
mod target_scale;
mod weights;

pub use loss::{Goals, Loss};
pub use prepared::Prepared;
pub use report::{Ended, EpochReport, Fitted, Monitor};
pub use settings::{LogitChoice, RhoChoice, Training};
