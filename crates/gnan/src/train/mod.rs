//! Training: from a data set to a model.

mod fit;
mod loss;
mod settings;

pub use fit::{Ended, EpochReport, Fitted, Monitor, Prepared};
pub use loss::{Goals, Loss};
pub use settings::{LogitChoice, RhoChoice, Training};
