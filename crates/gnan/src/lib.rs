//! Graph neural additive networks: graph models that people can read.
//!
//! ```
//! use gnan::{Dataset, Spec};
//! let (train, test) = Dataset::open("solubility")?.split(0.8, 42)?;
//! let model = Spec::default().epochs(20).fit(&train)?;
//! println!("{}", model.evaluate(&test)?);
//! assert!(model.explain(&test, 3)?.adds_up());
//! # Ok::<(), gnan::Error>(())
//! ```
//!
//! - Data: [`Dataset`] opens files ([`ReadOptions`], [`Format`]) or [`Tables`] in memory; a [`Split`] divides it.
//! - What is requested: a [`Spec`], made of [`SpecOption`]s. How work is done, never what comes out of it: a [`Run`].
//! - A [`Model`] comes from [`Spec::fit`] or a file; [`Plan`] estimates what training would take.
//! - Predictions: [`Model::predict`], judged by [`Metrics`]; [`Evaluation`] repeats all of it by a [`Protocol`];
//!   [`ModelCheck`] tells whether what the model assumes holds.
//! - Explanations: an [`Explainer`] gives an [`Explanation`] of a prediction, which a [`Ledger`] lists by whichever
//!   marginal, and an [`Overview`] of the model; [`Bootstrap`] tells how far its numbers can be trusted; a [`Certificate`]
//!   is a promise that was checked on the finished model.
//! - Errors: an [`Error`] knows its file, line and column, and a [`Remedy`].
//!
//! Data flow left to right, and a module uses only what stands to its left:
//!
//! ```text
//! spec (one table of options, read by all)
//! files -> graph -> dataset -> distance -> lens -> statistics -> shape, likelihood -> model -> predict, explain -> certificate -> train, plan
//!       -> model file -> evaluate, diagnostics, bootstrap                              judged by: metric, score, confidence, baseline
//! ```

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
mod ordered_object;
mod groups;

pub mod spec;
pub mod files;
mod graph;
pub mod dataset;
mod distance;
mod lens;
mod statistics;
mod shape;
mod likelihood;
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
pub mod diagnostics;
pub mod bootstrap;
#[cfg(feature = "internals")]
#[doc(hidden)]
pub mod internals;

// The public interface: about fifty types, each with an example; what they are made of stands in the modules.
pub use bootstrap::{Bootstrap, Intervals, Replicates};
pub use dataset::{Dataset, DatasetOptions, Outcome, Split};
pub use diagnostics::ModelCheck;
pub use error::{Error, ErrorKind, Result};
pub use evaluate::{Evaluation, Journal, Protocol, Search, Space};
pub use explain::{By, Canonical, Explainer, Explanation, Importance, Ledger, Overview, Verification};
pub use files::{Column, Format, Kind, Molecule, ReadOptions, Tables, Task, Values};
pub use graph::Graph;
pub use lens::{Lens, Pool};
pub use limits::Limits;
pub use memory::MemoryLimit;
pub use metric::{Metric, Metrics};
pub use model::{Certificate, Definition, Model, Record};
pub use plan::Plan;
pub use predict::{Prediction, Predictions};
pub use remedy::{Remedy, Step};
pub use run::{Cancel, DistanceCache, Run, WorkDone};
pub use spec::{Spec, SpecOption};

/// The examples of the README, compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
pub struct Readme;
