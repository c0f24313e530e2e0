//! Comma-separated values: from text to a [`Table`].

use csv::ErrorKind::UnequalLengths;
use csv::{Position, ReaderBuilder, StringRecord, Trim};

use crate::error::{Error, Result};
use crate::files::table::Table;
use crate::files::table::text_column::TextColumn;
use crate::files::text::{Text, newlines};
use crate::limits::Limits;

/// Splits a text into cells. Every row must have as many as the header.
pub fn parse(text: &Text, delimiter: u8, limits: &Limits) -> Result<Table> {
    let mut reader = ReaderBuilder::new().delimiter(delimiter).trim(Trim::All).from_reader(text.text.as_bytes());
    let header = reader.headers().map_err(|error| unreadable(text, error))?;
    if header.iter().all(str::is_empty) {
        return Err(text.error(1, "this table is empty: it has no header line"));
    }
    Limits::check(header.len() as u64, limits.features, "columns").map_err(|error| error.in_file(&text.path))?;
    let mut columns: Vec<_> = header.iter().map(TextColumn::new).collect();
    // Every cell takes at least a letter that ends it, so a file cannot claim more rows than it has.
    let rows = newlines(text.text.as_bytes()).min(1 + (text.text.len() / columns.len()) as u64);
    let needed = text.text.len() as u64 + rows.saturating_mul(size_of::<usize>() as u64 * (columns.len() as u64 + 1));
    limits.memory.demand(needed, "the cells of this table").map_err(|error| error.in_file(&text.path))?;
    columns.iter_mut().for_each(|column| column.reserve(rows as usize));
    let mut lines = LineCounter::default();
    let mut starts = Vec::new();
    let mut record = StringRecord::new();
    loop {
        let start = byte_of(reader.position());
        if !reader.read_record(&mut record).map_err(|error| unreadable(text, error))? {
            break;
        }
        starts.push(lines.at(&text.text, start));
        for (column, cell) in columns.iter_mut().zip(&record) {
            column.push(cell);
        }
    }
    Table::on_lines(&text.path, columns, starts)
}

/// Where the reader is in the text.
fn byte_of(position: &Position) -> usize {
    usize::try_from(position.byte()).expect("the text is in memory")
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

fn unreadable(text: &Text, error: csv::Error) -> Error {
    let position = error.position().map_or(0, byte_of);
    let line = LineCounter::default().at(&text.text, position);
    match error.kind() {
        UnequalLengths { expected_len, len, .. } => text
            .error(line, format!("this row has {len} cells, the header has {expected_len}"))
            .with_remedy("check for a missing or extra comma, or a cell that needs quotes"),
        _ => text.error(line, format!("this table cannot be read: {error}")),
    }
    .caused_by(error)
}
