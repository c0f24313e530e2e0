//! Graph neural additive networks: graph models that people can read.
//!
//! Data flow left to right, and a module uses only what stands to its left:
//!
//! ```text
//! spec (one table of options, read by all)
//! files -> graph -> dataset -> distance -> lens -> statistics -> shape -> model -> predict, explain -> certificate -> train, plan
//!       -> model file -> evaluate, bootstrap, selftest                    judged by: metric, score, confidence, baseline
//! ```
//!
//! - [`spec`]: what is requested, every option in one table. [`run`]: how work is done, never what comes out of it.
//! - [`files`] turn whatever is on disk into tables; [`dataset`] gives them meaning: features, targets, splits.
//! - [`catalogue`]: the data sets of the paper, where to get them and what the paper reports on each.
//! - [`graph`] and [`distance`]: how far sources are from receivers. [`lens`]: the ways of measuring it.
//!   [`statistics`]: everything training needs to know of that, summed up once.
//! - [`shape`]: functions of one number, networks and splines, with their gradients. [`model`]: a specification, what was
//!   learned, parameters and a record, and the engine that computes it. [`train`]: from a specification and data to a model.
//!   [`plan`]: what that would take. [`model_file`]: from a model to a file and back.
//! - [`predict`] and [`evaluate`] use models; [`score`], [`confidence`] and [`baseline`] judge them by [`metric`]s.
//! - [`explain`]: the canonical form of a model, and predictions as contributions that add up. [`certificate`]:
//!   what a model promises, checked on the finished model. [`bootstrap`]: how far its numbers can be trusted.
//!   [`selftest`]: plants truths and recovers them.

pub mod remedy;
pub mod error;
pub mod numbers;
pub mod memory;
pub mod limits;
mod random;
pub mod output;
mod checksum;
mod workers;
pub mod run;
pub mod metric;
pub mod names;
mod named;
mod groups;

pub mod spec;
pub mod files;
mod graph;
pub mod dataset;
mod distance;
mod lens;
mod statistics;
mod shape;
pub mod model;
pub mod score;
pub mod confidence;
pub mod baseline;
pub mod predict;
pub mod explain;
mod certificate;
pub mod train;
pub mod plan;
pub mod model_file;
pub mod evaluate;
pub mod bootstrap;
#[cfg(feature = "internals")]
pub mod internals;

pub use bootstrap::{Bootstrap, Intervals};
pub use dataset::{Dataset, DatasetOptions};
pub use error::{Error, ErrorColumn, ErrorKind, Result};
pub use explain::Explanation;
pub use files::ReadOptions;
pub use graph::Graph;
pub use lens::{Lens, Pool};
pub use limits::Limits;
pub use metric::{Metric, Metrics};
pub use model::Model;
pub use remedy::{Remedy, Step};
pub use run::Run;
pub use spec::Spec;

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
