//! Graph neural additive networks: graph models that people can read.
//!
//! Data flow left to right, and a module uses only what stands to its left (and errors, limits, random numbers):
//!
//! ```text
//! files -> dataset -> graph -> distance -> lens -> statistics -> shape -> model -> predict, explain -> certificate -> train, plan
//!       -> model file -> evaluate, bootstrap, selftest                    judged by: metric, score, confidence, baseline
//! ```
//!
//! - [`files`] turn whatever is on disk into tables; [`dataset`] says what they mean: features, targets, splits.
//! - [`catalogue`]: the data sets of the paper, where to get them and what the paper says of each.
//! - [`graph`] and [`distance`]: who can hear whom, and from how far. [`lens`]: the ways of measuring it.
//!   [`statistics`]: everything training needs to know of that, summed up once.
//! - [`shape`]: the univariate networks and splines, and their gradients. [`model`]: features, distances and functions
//!   bound together by the engine. [`train`]: from a data set to a model. [`plan`]: what that would take. [`model_file`]: from a model to a file and back.
//! - [`predict`] and [`evaluate`] use models; [`score`], [`confidence`] and [`baseline`] judge them by [`metric`]s.
//! - [`explain`]: the canonical form of a model, and predictions taken apart into parts that add up. [`certificate`]:
//!   what a model promises, checked on the finished model. [`bootstrap`]: how far its numbers can be trusted.
//!   [`selftest`]: plants truths and recovers them.

pub mod remedy;
pub mod error;
pub mod memory;
pub mod limits;
pub mod numbers;
pub mod random;
pub mod output;
pub mod checksum;
pub mod workers;
pub mod run;
pub mod metric;
pub mod names;
mod named;

pub mod spec;
pub mod files;
pub mod catalogue;
pub mod graph;
pub mod dataset;
pub mod distance;
pub mod lens;
pub mod statistics;
pub mod shape;
pub mod model;
pub mod score;
pub mod confidence;
pub mod baseline;
pub mod predict;
pub mod explain;
pub mod certificate;
pub mod train;
pub mod plan;
pub mod model_file;
pub mod evaluate;
pub mod reproduce;
pub mod bootstrap;
pub mod selftest;

pub use bootstrap::{Bootstrap, Intervals};
pub use dataset::{Dataset, DatasetOptions};
pub use error::{Error, ErrorColumn, ErrorKind, Result};
pub use explain::Explanation;
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
