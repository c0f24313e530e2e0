//! Comma-separated values: from text to a [`Table`].

use csv::{Position, ReaderBuilder, StringRecord, Trim};

use crate::error::{Error, Result};
use crate::files::table::Table;
use crate::files::table::text_column::TextColumn;
use crate::files::text::{Text, newlines};
use crate::limits::Limits;
use crate::numbers::counted;

/// A row that has more or fewer cells than the header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnevenRow {
    /// Its place among all rows, from 0.
    pub place: usize,
    /// The line that it begins on.
    pub line: u64,
    /// How many cells it has.
    pub cells: usize,
    /// How many the header has.
    pub columns: usize,
}

impl UnevenRow {
    /// The same without a subject.
    pub fn predicate(&self) -> String {
        format!("has {}, the header has {}", counted(self.cells, "cell"), self.columns)
    }

    /// What is wrong with it.
    pub fn reason(&self) -> String {
        format!("this row {}", self.predicate())
    }
}

/// What to do about a row that has more or fewer cells than the header.
pub const UNEVEN_REMEDY: &str = "check for a missing or extra comma, or a cell that needs quotes";

/// Splits a text into cells. Every row must have as many as the header.
pub fn parse(text: &Text, delimiter: u8, limits: &Limits) -> Result<Table> {
    let (table, uneven) = parse_even(text, delimiter, limits)?;
    match uneven.first() {
        None => Ok(table),
        Some(row) => Err(text.error(row.line, row.reason()).with_remedy(UNEVEN_REMEDY)),
    }
}

/// Splits a text into cells; rows that have more or fewer than the header are not part of the table, nor are rows of empty
/// cells, which spreadsheets leave at the end.
pub fn parse_even(text: &Text, usual: u8, limits: &Limits) -> Result<(Table, Vec<UnevenRow>)> {
    let delimiter = delimiter_of(&text.text, usual);
    // Where cells are separated by semicolons, a comma stands before decimals.
    let decimal_comma = delimiter == b';';
    let mut reader =
        ReaderBuilder::new().delimiter(delimiter).flexible(true).trim(Trim::All).from_reader(text.text.as_bytes());
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
    let mut uneven = Vec::new();
    let mut record = StringRecord::new();
    loop {
        let start = byte_of(reader.position());
        if !reader.read_record(&mut record).map_err(|error| unreadable(text, error))? {
            break;
        }
        let line = lines.at(&text.text, start);
        if record.iter().all(str::is_empty) {
            continue;
        }
        if record.len() != columns.len() {
            let place = starts.len() + uneven.len();
            uneven.push(UnevenRow { place, line, cells: record.len(), columns: columns.len() });
            continue;
        }
        starts.push(line);
        for (column, cell) in columns.iter_mut().zip(&record) {
            match decimal_comma && has_decimal_comma(cell) {
                true => column.push(&cell.replacen(',', ".", 1)),
                false => column.push(cell),
            }
        }
    }
    Ok((Table::on_lines(&text.path, columns, starts)?, uneven))
}

/// What separates the cells: the usual sign, or another that the header has in its place.
fn delimiter_of(text: &str, usual: u8) -> u8 {
    let header = text.trim_start_matches('\u{feff}').lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
    let has = |delimiter: u8| header.as_bytes().contains(&delimiter);
    if has(usual) { usual } else { [b';', b'\t', b','].into_iter().find(|other| has(*other)).unwrap_or(usual) }
}

/// Whether a cell is a number such as `-3,25`.
fn has_decimal_comma(cell: &str) -> bool {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = cell.trim_start_matches(['-', '+', '<', '>', '=', ' ']);
    unsigned.split_once(',').is_some_and(|(whole, decimals)| digits(whole) && digits(decimals))
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
    text.error(line, format!("this table cannot be read: {error}")).caused_by(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(text: &str) -> (Table, Vec<UnevenRow>) {
        let text = Text { path: "t.csv".into(), text: text.to_owned() };
        parse_even(&text, b',', &Limits::default()).unwrap()
    }

    #[test]
    fn other_delimiters_are_recognised_by_the_header() {
        for (text, expected) in [("a;b\n1,5;x\n", "1.5"), ("a\tb\n1,5\tx\n", "1,5"), ("a,b\n1;5,x\n", "1;5")] {
            assert_eq!(table(text).0.columns()[0].get(0), expected, "{text}");
        }
        assert_eq!(table("a;b\n<-3,25;1,2,3\n").0.columns()[0].get(0), "<-3.25");
        assert_eq!(table("a;b\n<-3,25;1,2,3\n").0.columns()[1].get(0), "1,2,3");
    }

    #[test]
    fn rows_of_empty_cells_are_no_rows() {
        let (table, uneven) = table("a,b\n1,2\n,\n3\n,,\n4,5\n");
        assert_eq!((table.rows(), uneven.len()), (2, 1));
        assert_eq!((uneven[0].place, uneven[0].line, table.line(1)), (1, 4, Some(6)));
    }
}
