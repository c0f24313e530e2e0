//! The paper's data sets and results, beside gnan's: for those who compare, not for those who use models.
//!
//! - [`FORMATS`]: readers of the formats in which benchmark data sets are published.
//! - [`catalogue`]: the paper's eleven data sets, where the public has them, and what the paper reports on each.
//! - [`reproduce`]: the paper's protocol for every column of its table, and the table with our figures.
//! - [`selftest`]: plants shape functions and distance functions, simulates data, trains, and compares with the truth.

mod arrays;
pub mod catalogue;
mod edge_notes;
mod formats;
pub mod reproduce;
pub mod selftest;
mod compressed_files;
mod word_columns;

pub use formats::{FORMATS, read_options};
