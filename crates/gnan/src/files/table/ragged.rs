//! A table that is met row by row, each row with attributes of its own: what a row lacks is empty.

use std::collections::HashMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::files::table::Table;
use crate::files::table::text_column::TextColumn;
use crate::limits::Limits;

/// Rows with named cells.
pub struct Ragged {
    columns: Vec<TextColumn>,
    place: HashMap<String, usize>,
    rows: usize,
    most_columns: u64,
    most_cells: u64,
}

impl Ragged {
    /// No rows yet, within these limits. Empty cells take room too, so their number is limited like bytes.
    pub fn new(limits: &Limits) -> Ragged {
        let most_cells = limits.bytes / size_of::<usize>() as u64;
        Ragged { columns: Vec::new(), place: HashMap::new(), rows: 0, most_columns: limits.features, most_cells }
    }

    /// Begins a row.
    pub fn next_row(&mut self) -> Result<()> {
        self.rows += 1;
        self.check()
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Whether the row has a cell of this name.
    #[cfg(feature = "graphml")]
    pub fn has(&self, name: &str) -> bool {
        self.place.get(name.trim()).is_some_and(|&place| self.columns[place].len() == self.rows)
    }

    /// Sets a cell of the row, once; `words` marks it as a word even if it looks like a number.
    pub fn put(&mut self, name: &str, cell: &str, words: bool) -> Result<()> {
        let name = name.trim();
        let place = match self.place.get(name) {
            Some(&place) => place,
            None => {
                self.place.insert(name.to_string(), self.columns.len());
                self.columns.push(TextColumn::new(name));
                self.check()?;
                self.columns.len() - 1
            }
        };
        let column = &mut self.columns[place];
        if column.len() == self.rows {
            return Err(Error::input(format!("row {}: \"{name}\" is given twice", self.rows)));
        }
        column.fill(self.rows - 1);
        column.push(cell);
        column.words |= words;
        Ok(())
    }

    fn check(&self) -> Result<()> {
        Limits::check(self.columns.len() as u64, self.most_columns, "columns")?;
        Limits::check(self.columns.len() as u64 * self.rows as u64, self.most_cells, "cells")
    }

    /// The table, as if it had been read from `path`.
    pub fn table(mut self, path: &Path) -> Result<Table> {
        self.columns.iter_mut().for_each(|column| column.fill(self.rows));
        Table::counted(path, self.columns, self.rows)
    }
}
