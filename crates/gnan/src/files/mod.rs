//! Readers: from files to [`Tables`]. A new format is one new file here and one line in [`read`].

mod tables;

pub use tables::{Column, Kind, MISSING, Part, Tables, Task, Values};
