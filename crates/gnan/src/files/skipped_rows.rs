//! Rows of a table of molecules that cannot be read: they are left out and listed, as long as they are few.

use crate::error::{Error, Result};
use crate::files::table::csv_table::UnevenRow;
use crate::files::tables::SkippedRow;
use crate::numbers::{count, counted};

/// The largest share of all rows that may be left out; a single row always may.
const MOST: f64 = 0.05;
/// Rows that a refusal names.
const NAMED: usize = 3;

/// Gathers the rows that are left out, in the order of the table.
pub struct SkippedRows {
    uneven: std::iter::Peekable<std::vec::IntoIter<UnevenRow>>,
    skipped: Vec<SkippedRow>,
    /// Rows of the table, uneven ones included.
    rows: usize,
    /// Uneven rows before the row that was looked at last.
    passed: usize,
}

impl SkippedRows {
    /// Begins with rows whose cells do not fit the header, which are not among the `even` rows of the table.
    pub fn new(uneven: Vec<UnevenRow>, even: usize) -> SkippedRows {
        let rows = even + uneven.len();
        SkippedRows { uneven: uneven.into_iter().peekable(), skipped: Vec::new(), rows, passed: 0 }
    }

    /// Adds an even row; rows come in ascending order.
    pub fn add(&mut self, row: usize, line: Option<u64>, id: String, reason: String) {
        self.pass_uneven(row);
        self.skipped.push(SkippedRow { place: row + self.passed, line, id, reason });
    }

    /// Takes the uneven rows that stand before an even one.
    fn pass_uneven(&mut self, row: usize) {
        while let Some(uneven) = self.uneven.next_if(|uneven| uneven.place <= row + self.passed) {
            self.passed += 1;
            let (line, reason) = (Some(uneven.line), uneven.predicate());
            self.skipped.push(SkippedRow { place: uneven.place, line, id: format!("line {}", uneven.line), reason });
        }
    }

    /// The rows, unless they are too many.
    pub fn checked(mut self) -> Result<Vec<SkippedRow>> {
        self.pass_uneven(usize::MAX / 2);
        let most = (MOST * self.rows as f64) as usize;
        if self.skipped.len() <= most.max(1) && self.skipped.len() < self.rows.max(1) {
            return Ok(self.skipped);
        }
        let name = |row: &SkippedRow| format!("\n    {} {}", subject(row), row.reason);
        let named: String = self.skipped.iter().take(NAMED).map(name).collect();
        let more = match self.skipped.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!("\n    and {} more", count(more)),
        };
        Err(Error::input(format!(
            "{} of {} cannot be read:{named}{more}",
            count(self.skipped.len()),
            counted(self.rows, "row")
        ))
        .with_remedy("correct or remove these rows: up to 5 % of them, or one, may be left out"))
    }
}

/// What a row is called in a sentence.
fn subject(row: &SkippedRow) -> String {
    match row.line {
        Some(line) if row.id == format!("line {line}") => row.id.clone(),
        Some(line) => format!("\"{}\" on line {line}", row.id),
        None => format!("\"{}\"", row.id),
    }
}

/// A sentence about the rows that were left out; `None` where there is none.
pub fn skipped_note(rows: &[SkippedRow]) -> Option<String> {
    let first = rows.first()?;
    let (subject, reason) = (subject(first), &first.reason);
    Some(match rows.len() {
        1 => format!("1 row cannot be read and is left out: {subject} {reason}"),
        many => format!("{} cannot be read and are left out: the first, {subject}, {reason}", counted(many, "row")),
    })
}

/// The list of rows that were left out, as a CSV table.
pub fn skipped_csv(rows: &[SkippedRow]) -> Result<Vec<u8>> {
    let broken = |error: csv::Error| Error::because("the list of skipped rows cannot be written", error);
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["line", "id", "reason"]).map_err(broken)?;
    for row in rows {
        let line = row.line.map_or_else(|| format!("row {}", row.place + 1), |line| line.to_string());
        table.write_record([&line, &row.id, &row.reason]).map_err(broken)?;
    }
    table.into_inner().map_err(|error| Error::because("the list of skipped rows cannot be written", error.into_error()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_listed_in_the_order_of_the_table() {
        let uneven = [1, 4].map(|place| UnevenRow { place, line: place as u64 + 2, cells: 2, columns: 3 }).to_vec();
        // Rows 0 to 99, of which 1 and 4 are uneven: even row 1 is row 2, even row 3 is row 5.
        let mut rows = SkippedRows::new(uneven, 98);
        rows.add(1, Some(4), "a".to_owned(), "no".to_owned());
        rows.add(3, Some(7), "b".to_owned(), "no".to_owned());
        let found: Vec<(usize, String)> = rows.checked().unwrap().into_iter().map(|row| (row.place, row.id)).collect();
        assert_eq!(found, [(1, "line 3"), (2, "a"), (4, "line 6"), (5, "b")].map(|(at, id)| (at, id.to_owned())));
    }

    #[test]
    fn what_is_said_of_skipped_rows_is_a_sentence() {
        let uneven = vec![UnevenRow { place: 5, line: 7, cells: 4, columns: 3 }];
        let mut rows = SkippedRows::new(uneven.clone(), 98);
        assert_eq!(skipped_note(&[]), None);
        let one = SkippedRows::new(uneven, 98).checked().unwrap();
        let expected = "1 row cannot be read and is left out: line 7 has 4 cells, the header has 3";
        assert_eq!(skipped_note(&one).as_deref(), Some(expected));
        rows.add(1, Some(3), "M-4".to_owned(), "has no SMILES".to_owned());
        let expected = "2 rows cannot be read and are left out: the first, \"M-4\" on line 3, has no SMILES";
        assert_eq!(skipped_note(&rows.checked().unwrap()).as_deref(), Some(expected));
        let mut refused = SkippedRows::new(vec![UnevenRow { place: 0, line: 2, cells: 1, columns: 3 }], 1);
        refused.add(0, Some(3), "M-1".to_owned(), "has no SMILES".to_owned());
        let refusal = refused.checked().unwrap_err().to_string();
        assert!(
            refusal.contains("    line 2 has 1 cell, the header has 3\n    \"M-1\" on line 3 has no SMILES"),
            "{refusal}"
        );
    }

    #[test]
    fn one_row_or_a_twentieth_may_be_left_out() {
        let skip = |bad: usize, rows: usize| {
            let mut skipped = SkippedRows::new(Vec::new(), rows);
            (0..bad).for_each(|row| skipped.add(row, None, row.to_string(), "no".to_owned()));
            skipped.checked()
        };
        for (bad, rows, accepted) in [(0, 0, true), (1, 2, true), (1, 1, false), (2, 39, false), (2, 40, true)] {
            assert_eq!(skip(bad, rows).is_ok(), accepted, "{bad} of {rows}");
        }
        let refusal = skip(5, 10).unwrap_err().to_string();
        assert!(refusal.contains("5 of 10 rows cannot be read") && refusal.contains("and 2 more"), "{refusal}");
    }
}
