//! Columns from what formats hold instead of tables with a header: bare numbers, numbers that stand for something, and
//! words of documents.

pub mod label_map;
pub mod levels;
pub mod number_table;
pub mod word_columns;
