//! A table of comma-separated values as text: named columns of cells, and the line each row begins on.

use csv::ErrorKind::{UnequalLengths, Utf8};
use csv::{ReaderBuilder, StringRecord, Trim};
use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::limits::Limits;

use super::cells;
use super::tables::{Column, Part, Values};
use super::text::{Text, newlines};

/// A table whose cells are still text.
pub struct CsvTable {
    path: PathBuf,
    columns: Vec<Cells>,
    lines: Vec<u64>,
    /// What was done that a user should know.
    pub notes: Vec<String>,
}

/// The cells of one column, trimmed.
pub struct Cells {
    /// The column's name.
    pub name: String,
    text: String,
    ends: Vec<usize>,
}

impl Cells {
    fn push(&mut self, cell: &str) {
        self.text.push_str(cell);
        self.ends.push(self.text.len());
    }

    /// The cell of each row.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

impl CsvTable {
    /// Splits a text into cells. Every row must have as many as the header.
    pub fn parse(text: &Text, delimiter: u8, limits: &Limits) -> Result<CsvTable> {
        let mut reader = ReaderBuilder::new().delimiter(delimiter).trim(Trim::All).from_reader(text.text.as_bytes());
        let header = reader.headers().map_err(|error| unreadable(text, &error))?;
        if header.iter().all(str::is_empty) {
            return Err(text.error(1, "this table is empty: it has no header line"));
        }
        Limits::check(header.len() as u64, limits.features, "columns").map_err(|error| error.in_file(&text.path))?;
        let names = header.iter().map(str::to_string);
        let mut columns: Vec<_> = names.map(|name| Cells { name, text: String::new(), ends: Vec::new() }).collect();
        let mut lines = LineCounter::default();
        let mut starts = Vec::new();
        let mut record = StringRecord::new();
        loop {
            let start = usize::try_from(reader.position().byte()).unwrap_or(usize::MAX);
            if !reader.read_record(&mut record).map_err(|error| unreadable(text, &error))? {
                break;
            }
            starts.push(lines.at(&text.text, start));
            for (column, cell) in columns.iter_mut().zip(&record) {
                column.push(cell);
            }
        }
        let mut table = CsvTable { path: text.path.clone(), columns, lines: starts, notes: Vec::new() };
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
        Err(Error::input(format!("more than one column is called {}", twice.join(", ")))
            .in_file(&self.path)
            .on_line(1)
            .remedy("give every column a name of its own"))
    }

    /// Number of rows below the header.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// The line (counted from 1) that a row begins on.
    pub fn line(&self, row: usize) -> u64 {
        self.lines.get(row).copied().unwrap_or(1)
    }

    /// An error about one row.
    pub fn error(&self, row: usize, message: impl Into<String>) -> Error {
        Error::input(message).in_file(&self.path).on_line(self.line(row))
    }

    /// An error about the whole table.
    pub fn complaint(&self, message: impl Into<String>) -> Error {
        Error::input(message).in_file(&self.path)
    }

    /// Names of the columns that were not taken out yet.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// Takes a column out, if there is one of that name.
    pub fn take(&mut self, name: &str) -> Option<Cells> {
        let place = self.columns.iter().position(|column| column.name == name)?;
        Some(self.columns.remove(place))
    }

    /// Takes out a column of ids that must be there.
    pub fn take_ids(&mut self, name: &str) -> Result<Cells> {
        self.take_ids_if_any(name)?.ok_or_else(|| {
            let names: Vec<_> = self.names().map(quoted).collect();
            self.complaint(format!("there is no column \"{name}\"; the columns are {}", names.join(", "))).on_line(1)
        })
    }

    /// Takes out a column of ids, none of which may be empty.
    pub fn take_ids_if_any(&mut self, name: &str) -> Result<Option<Cells>> {
        let Some(ids) = self.take(name) else { return Ok(None) };
        let empty = ids.iter().position(str::is_empty);
        empty.map_or(Ok(Some(ids)), |row| Err(self.error(row, format!("the {name} is empty"))))
    }

    /// Takes the column `split` out, as parts.
    pub fn take_split(&mut self) -> Result<Option<Vec<Part>>> {
        let Some(words) = self.take("split") else { return Ok(None) };
        let part = |(row, word)| {
            Part::parse(word).ok_or_else(|| {
                self.error(row, format!("\"{word}\" is not a part of a split"))
                    .remedy("use train, valid or test, or leave the cell empty")
            })
        };
        words.iter().enumerate().map(part).collect::<Result<_>>().map(Some)
    }

    /// The columns that were not taken out, as numbers or categories.
    pub fn typed_columns(&mut self) -> Result<Vec<Column>> {
        let cells = std::mem::take(&mut self.columns);
        let mut columns = Vec::with_capacity(cells.len());
        for cells in cells {
            let values = cells::typed(&cells, self)?;
            if matches!(&values, Values::Numbers(numbers) if numbers.iter().all(|number| number.is_nan())) {
                self.notes.push(format!("{}: column \"{}\" has no values", self.path.display(), cells.name));
            }
            columns.push(Column::new(cells.name, values));
        }
        Ok(columns)
    }
}

/// A name in quotes, for messages.
pub fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

/// Counts lines from the text itself, because blank lines before a record are not the csv crate's concern.
#[derive(Default)]
struct LineCounter {
    byte: usize,
    lines: u64,
}

impl LineCounter {
    /// The line of the first record at or behind `start`; calls must come in ascending order.
    fn at(&mut self, text: &str, start: usize) -> u64 {
        let bytes = text.as_bytes();
        let blank = |byte: &&u8| matches!(byte, b'\r' | b'\n');
        let start = start.min(bytes.len());
        let start = start + bytes[start..].iter().take_while(blank).count();
        self.lines += newlines(&bytes[self.byte.min(start)..start]);
        self.byte = start;
        self.lines + 1
    }
}

fn unreadable(text: &Text, error: &csv::Error) -> Error {
    let position = error.position().map_or(0, |position| usize::try_from(position.byte()).unwrap_or(usize::MAX));
    let line = LineCounter::default().at(&text.text, position);
    match error.kind() {
        UnequalLengths { expected_len, len, .. } => text
            .error(line, format!("this row has {len} cells, the header has {expected_len}"))
            .remedy("check for a missing or extra comma, or a cell that needs quotes"),
        Utf8 { .. } => text.error(line, "this row is not UTF-8 text"),
        _ => text.error(line, format!("this table cannot be read: {error}")),
    }
}
