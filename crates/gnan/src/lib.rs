//! Graph neural additive networks: graph models that people can read.
//!
//! ```text
//! files -> dataset -> graph -> distance -> statistics -> shape -> model -> train -> model file -> explain
//! ```

pub mod error;
pub mod limits;

pub mod files;

pub use error::{Error, ErrorKind, Result};
pub use limits::Limits;
