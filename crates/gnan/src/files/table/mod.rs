//! A table whose cells are still text: named columns, and where each row is in the file.

pub mod assembly;
pub mod text_column;
pub mod bounds;
pub mod dates;
pub mod number_text;
pub mod typed_column;
pub mod csv_table;
pub mod edge_kinds;
pub mod id_columns;
mod id_index;
pub mod overrides;
pub mod ragged;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::tables::{Column, SplitPart};
use text_column::TextColumn;

/// The column that says what is for training.
pub const SPLIT: &str = "split";

/// A table whose cells are still text.
pub struct Table {
    path: PathBuf,
    columns: Vec<TextColumn>,
    rows: RowPositions,
    /// What was done that a user should know.
    pub notes: Vec<String>,
}

/// How many rows there are, and the line that each begins on if the file has lines.
enum RowPositions {
    Lines(Vec<u64>),
    Counted(usize),
}

impl Table {
    /// A table of so many rows, without lines to point at.
    pub fn counted(path: &Path, columns: Vec<TextColumn>, rows: usize) -> Result<Table> {
        Table::new(path, columns, RowPositions::Counted(rows))
    }

    /// A table whose rows begin on these lines.
    pub fn on_lines(path: &Path, columns: Vec<TextColumn>, lines: Vec<u64>) -> Result<Table> {
        Table::new(path, columns, RowPositions::Lines(lines))
    }

    fn new(path: &Path, columns: Vec<TextColumn>, rows: RowPositions) -> Result<Table> {
        let mut table = Table { path: path.to_path_buf(), columns, rows, notes: Vec::new() };
        table.check_names()?;
        Ok(table)
    }

    fn check_names(&mut self) -> Result<()> {
        let before = self.columns.len();
        self.columns.retain(|column| !column.name.is_empty());
        if self.columns.len() < before {
            let nameless = before - self.columns.len();
            self.notes.push(format!("{}: left out {nameless} column(s) without a name", self.path.display()));
        }
        let mut names: Vec<_> = self.columns.iter().map(|column| column.name.as_str()).collect();
        names.sort_unstable();
        let mut twice: Vec<_> =
            names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| quoted(pair[0])).collect();
        twice.dedup();
        if twice.is_empty() {
            return Ok(());
        }
        Err(self
            .header_error(format!("more than one column is called {}", twice.join(", ")))
            .with_remedy("give every column a name of its own"))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match &self.rows {
            RowPositions::Lines(lines) => lines.len(),
            RowPositions::Counted(rows) => *rows,
        }
    }

    /// Where a row is, for messages: "on line 3" or "in row 3".
    pub fn place(&self, row: usize) -> String {
        let preposition = if self.line(row).is_some() { "on" } else { "in" };
        format!("{preposition} {} {}", self.row_noun(), self.row_number(row))
    }

    /// What rows are counted by, for messages: "line" or "row".
    pub fn row_noun(&self) -> &'static str {
        match &self.rows {
            RowPositions::Lines(_) => "line",
            RowPositions::Counted(_) => "row",
        }
    }

    /// The number of a row, from 1, or that of the line that it begins on.
    pub fn row_number(&self, row: usize) -> u64 {
        self.line(row).unwrap_or(row as u64 + 1)
    }

    /// The line that a row begins on, if the file has lines.
    pub fn line(&self, row: usize) -> Option<u64> {
        match &self.rows {
            RowPositions::Lines(lines) => lines.get(row).copied(),
            RowPositions::Counted(_) => None,
        }
    }

    /// The file it was read from.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The name of the file, for messages about it in another.
    pub fn file_name(&self) -> String {
        self.path.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// An error about one row.
    pub fn error(&self, row: usize, message: impl Into<String>) -> Error {
        match self.line(row) {
            Some(line) => self.table_error(message).on_line(line),
            None => self.table_error(format!("row {}: {}", row + 1, message.into())),
        }
    }

    /// An error about the header.
    pub fn header_error(&self, message: impl Into<String>) -> Error {
        match &self.rows {
            RowPositions::Lines(_) => self.table_error(message).on_line(1),
            RowPositions::Counted(_) => self.table_error(message),
        }
    }

    /// An error about the whole table.
    pub fn table_error(&self, message: impl Into<String>) -> Error {
        Error::input(message).in_file(&self.path)
    }

    /// Names of the columns that were not taken out yet.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Takes a column out, if there is one of that name.
    pub fn take(&mut self, name: &str) -> Option<TextColumn> {
        let place = self.columns.iter().position(|column| column.name == name)?;
        Some(self.columns.remove(place))
    }

    /// Takes out a column of ids, which must be there; none of them may be empty.
    pub fn take_ids(&mut self, name: &str) -> Result<TextColumn> {
        let Some(ids) = self.take(name) else {
            let names: Vec<_> = self.names().map(quoted).collect();
            let message = format!("there is no column \"{name}\"; the columns are {}", names.join(", "));
            return Err(self.header_error(message));
        };
        let empty = ids.iter().position(str::is_empty);
        empty.map_or(Ok(ids), |row| Err(self.error(row, format!("the {name} is empty")).in_column(name)))
    }

    /// Takes the columns of splits out, as parts: `split`, and behind it `split_2`, `split_3`, ... if there are more.
    pub fn take_splits(&mut self) -> Result<Vec<Vec<SplitPart>>> {
        let mut splits = Vec::new();
        let mut name = SPLIT.to_string();
        while let Some(words) = self.take(&name) {
            let part = |(row, word)| {
                SplitPart::parse(word).ok_or_else(|| {
                    self.error(row, format!("\"{word}\" in column \"{name}\" is not a part of a split"))
                        .in_column(&name)
                        .with_remedy("use train, valid or test, or leave the cell empty")
                })
            };
            splits.push(words.iter().enumerate().map(part).collect::<Result<_>>()?);
            name = format!("{SPLIT}_{}", splits.len() + 1);
        }
        Ok(splits)
    }

    /// The columns that were not taken out yet.
    pub fn columns(&self) -> &[TextColumn] {
        &self.columns
    }

    /// The columns that were not taken out yet, to declare what is known of them.
    pub fn columns_mut(&mut self) -> &mut [TextColumn] {
        &mut self.columns
    }

    /// The columns that were not taken out, as numbers or categories.
    pub fn typed_columns(&mut self) -> Result<Vec<Column>> {
        let cells = std::mem::take(&mut self.columns);
        cells.into_iter().map(|cells| typed_column::typed(cells, self)).collect()
    }
}

/// A name in quotes, for messages.
pub fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}
