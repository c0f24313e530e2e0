//! Columns from what formats hold instead of tables with a header: bare numbers, and numbers that stand for something.

pub mod label_map;
pub mod levels;
pub mod number_table;
#[cfg(any(feature = "smiles", feature = "internals"))]
pub mod units;
