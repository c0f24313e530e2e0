//! Graph neural additive networks: graph models that people can read.
//!
//! ```text
//! files -> dataset -> graph -> distance -> statistics -> shape -> model -> train -> model file -> explain
//! ```

pub mod error;
pub mod limits;
pub mod random;

pub mod dataset;
pub mod distance;
pub mod evaluate;
pub mod explain;
pub mod files;
pub mod graph;
pub mod metric;
pub mod model;
pub mod model_file;
pub mod output;
pub mod predict;
pub mod shape;
pub mod statistics;
pub mod train;

pub use dataset::{Dataset, DatasetOptions};
pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
pub use model::Model;
pub use train::Training;
