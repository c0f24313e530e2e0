//! What the cells of a column mean: numbers (with bounds where a cell gives one), dates, or categories.
//!
//! A few cells that are no numbers do not make a column of numbers one of words: they count as missing, and a note says
//! which they are.

use std::collections::{HashMap, HashSet};

use crate::error::Result;
use crate::files::columns::levels;
use crate::files::table::bounds::{self, Bound};
use crate::files::table::dates::{self, DateOrder, Dates, SHORT_YEARS};
use crate::files::table::text_column::{TextColumn, is_missing};
use crate::files::table::{Table, quoted};
use crate::files::tables::{Column, MISSING, Values};
use crate::numbers::{DAYS, count, counted, counted_more, date};

/// Words that mean a missing value in a column that otherwise holds numbers or dates, in any case.
const NO_VALUES: [&str; 21] = [
    "n/a",
    "na",
    "nan",
    "null",
    "none",
    "n.a.",
    "nd",
    "n.d.",
    "-",
    "--",
    "—",
    "unknown",
    "missing",
    "not determined",
    "not available",
    "not measured",
    "#n/a",
    "#value!",
    "#div/0!",
    "#num!",
    "0000-00-00",
];
/// The largest share of the known cells that may be other words in a column of numbers ...
const MOST_WORDS: f64 = 0.05;
/// ... which then has more distinct numbers than this: with fewer, words may be a level like the numbers.
const MANY_NUMBERS: usize = 20;
/// Different cells, and places of each, that a note names.
const NAMED: usize = 4;

/// The column of these cells.
pub fn typed(cells: TextColumn, table: &Table) -> Result<Column> {
    let mut column = interpreted(&cells, table)?;
    if matches!(&column.values, Values::Numbers(numbers) if numbers.iter().all(|number| number.is_nan())) {
        column.note = Some(format!("{}: column \"{}\" has no values", table.path().display(), cells.name));
    }
    column.unit = column.unit.or(cells.unit.map(str::to_owned));
    column.name = cells.name;
    Ok(column)
}

fn interpreted(cells: &TextColumn, table: &Table) -> Result<Column> {
    let of = |values: Values| Column::new("", values);
    if let Some(levels) = &cells.levels {
        return of_levels(cells, levels, table).map(of);
    }
    let cell_number = |cell: &str| if is_missing(cell) { Some(f64::NAN) } else { number(cell) };
    let numbers = if cells.words { None } else { cells.iter().map(cell_number).collect::<Option<Vec<f64>>>() };
    if let Some(numbers) = numbers {
        return finite(numbers, cells, table).map(of);
    }
    if cells.categorical {
        return Ok(of(categories(cells)));
    }
    match dates::read(cells.iter().map(|cell| Some(cell).filter(|cell| is_value(cell))), None) {
        Dates::Days(dates) => {
            let others: Vec<usize> = cells
                .iter()
                .enumerate()
                .filter(|(row, cell)| dates.days[*row].is_nan() && !is_missing(cell))
                .map(|(row, _)| row)
                .collect();
            let mut note = match others.is_empty() {
                true => format!("column \"{}\" holds dates: they count as {DAYS}", cells.name),
                false => other_cells("dates", &others, false, cells, table),
            };
            if let Some(row) = dates.short_year {
                note += &format!("; {} is {}: {SHORT_YEARS}", cells.get(row), date(dates.days[row]));
            }
            let (unit, values) = (Some(DAYS.to_owned()), Values::Numbers(dates.days));
            let (note, doubtful) = (Some(note), !others.is_empty());
            return Ok(Column { unit, note, doubtful, date_order: dates.order, ..of(values) });
        }
        Dates::Ambiguous => {
            let note = format!(
                "column \"{}\" may hold dates, but whether the day or the month comes first cannot be told: write them as \
                 2024-12-31",
                cells.name
            );
            return Ok(Column { note: Some(note), doubtful: true, ..of(categories(cells)) });
        }
        Dates::Other => {}
    }
    match MixedCells::read(cells) {
        Some(mixed) => mixed.column(cells, table),
        None => Ok(of(categories(cells))),
    }
}

/// Refuses numbers that are not finite.
fn finite(numbers: Vec<f64>, cells: &TextColumn, table: &Table) -> Result<Values> {
    match numbers.iter().position(|number| number.is_infinite()) {
        None => Ok(Values::Numbers(numbers)),
        Some(row) => Err(table
            .error(row, format!("column \"{}\" holds {}: infinite values are not allowed", cells.name, numbers[row]))
            .in_column(&cells.name)
            .with_remedy("leave the cell empty if the value is not known")),
    }
}

/// A column of numbers in which some cells are something else.
struct MixedCells {
    numbers: Vec<f64>,
    bounds: Vec<Bound>,
    /// Rows whose cell is neither a number nor empty.
    others: Vec<usize>,
}

impl MixedCells {
    /// `None`: these are words, some of which may be numbers.
    fn read(cells: &TextColumn) -> Option<MixedCells> {
        let mut mixed = MixedCells { numbers: Vec::with_capacity(cells.len()), bounds: Vec::new(), others: Vec::new() };
        let (mut known, mut words, mut missing) = (0, 0, 0);
        for (row, cell) in cells.iter().enumerate() {
            let number = number(cell).filter(|number| !number.is_nan());
            mixed.numbers.push(number.unwrap_or(f64::NAN));
            if number.is_some() {
                known += 1;
            } else if let Some((side, value)) = bounds::read(cell) {
                mixed.bounds.push(Bound { row: row as u32, side, value });
                mixed.others.push(row);
            } else if !is_missing(cell) {
                mixed.others.push(row);
                if is_value(cell) { words += 1 } else { missing += 1 }
            }
        }
        let distinct =
            || mixed.numbers.iter().filter(|x| !x.is_nan()).map(|x| x.to_bits()).collect::<HashSet<_>>().len();
        // Words that the file declares as such are numbers only where bounds show that numbers were meant.
        let numbers_meant = !cells.words || (!mixed.bounds.is_empty() && words == 0);
        let few = words as f64 <= MOST_WORDS * (known + mixed.bounds.len() + words) as f64;
        // Nothing but the usual words for a missing value: a column without values.
        let no_values = known == 0 && words == 0 && mixed.bounds.is_empty() && missing > 0;
        let accepted = no_values || (known > 0 && (words == 0 || (few && distinct() > MANY_NUMBERS)));
        (numbers_meant && accepted).then_some(mixed)
    }

    fn column(self, cells: &TextColumn, table: &Table) -> Result<Column> {
        let values = finite(self.numbers, cells, table)?;
        let doubtful = !self.others.is_empty();
        let note = doubtful.then(|| other_cells("numbers", &self.others, !self.bounds.is_empty(), cells, table));
        Ok(Column { bounds: self.bounds, note, doubtful, ..Column::new("", values) })
    }
}

/// The cells of a column of numbers or dates that are none, and where they are.
fn other_cells(what: &str, others: &[usize], bounds: bool, cells: &TextColumn, table: &Table) -> String {
    let mut by_cell: Vec<(&str, Vec<usize>)> = Vec::new();
    let mut place_of: HashMap<&str, usize> = HashMap::new();
    for row in others {
        let cell = cells.get(*row);
        let place = *place_of.entry(cell).or_insert_with(|| {
            by_cell.push((cell, Vec::new()));
            by_cell.len() - 1
        });
        by_cell[place].1.push(*row);
    }
    let named = by_cell.iter().take(NAMED).map(|(cell, rows)| {
        let more = match rows.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {} more", count(more)),
        };
        let noun = if rows.len() == 1 { table.row_noun().to_owned() } else { format!("{}s", table.row_noun()) };
        let places: Vec<String> = rows.iter().take(NAMED).map(|row| table.row_number(*row).to_string()).collect();
        format!("{} {noun} {}{more}", quoted(cell), places.join(", "))
    });
    let named: Vec<String> = named.collect();
    let more = match by_cell.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; {}", counted_more(more, "kind")),
    };
    format!(
        "column \"{}\" holds {what}, but for {}, which {} as missing{}: {}{more}",
        cells.name,
        counted(others.len(), "cell"),
        if others.len() == 1 { "counts" } else { "count" },
        if bounds { " (bounds are kept)" } else { "" },
        named.join("; "),
    )
}

/// A number.
fn number(cell: &str) -> Option<f64> {
    cell.parse().ok()
}

/// Whether a cell holds a value, rather than a word for having none.
fn is_value(cell: &str) -> bool {
    !is_missing(cell) && !NO_VALUES.contains(&cell.to_lowercase().as_str())
}

/// Whether the cells of a column are words, and neither numbers nor dates but for a few.
pub fn are_words(cells: &TextColumn) -> bool {
    let numbers = cells.iter().all(|cell| is_missing(cell) || number(cell).is_some());
    let values = cells.iter().map(|cell| Some(cell).filter(|cell| is_value(cell)));
    !numbers && dates::read(values, None) == Dates::Other && MixedCells::read(cells).is_none()
}

/// Whether the cells of a column are dates, be it of any order of day and month.
pub fn are_dates(cells: &TextColumn) -> bool {
    let values = cells.iter().map(|cell| Some(cell).filter(|cell| is_value(cell)));
    dates::read(values, None) != Dates::Other
}

/// Cells as numbers, for a column that is known to hold them; NaN where a cell holds none.
pub fn cell_numbers(cells: &[String]) -> Vec<f64> {
    cells.iter().map(|cell| number(cell).filter(|x| x.is_finite()).unwrap_or(f64::NAN)).collect()
}

/// Cells as days, for a column that is known to hold dates, and whether their order had to be `known`; NaN where a cell holds
/// none. Dates of which day and month cannot be told apart come back as the error, by an example.
pub fn cell_days(cells: &[String], known: Option<DateOrder>) -> std::result::Result<(Vec<f64>, bool), String> {
    let values = cells.iter().map(|cell| Some(cell.as_str()).filter(|cell| is_value(cell)));
    let ambiguous = dates::read(values.clone(), None) == Dates::Ambiguous;
    match dates::read(values, known) {
        Dates::Days(dates) => Ok((dates.days, ambiguous)),
        Dates::Other => Ok((vec![f64::NAN; cells.len()], false)),
        Dates::Ambiguous => Err(cells.iter().find(|cell| is_value(cell)).cloned().unwrap_or_default()),
    }
}

/// The cells as categories, whatever they look like.
pub fn categories(cells: &TextColumn) -> Values {
    levels::of_words(cells.iter().map(|cell| Some(cell).filter(|cell| !is_missing(cell))))
}

/// The cells as categories of these levels. A level may be a word that would otherwise mean a missing value.
fn of_levels(cells: &TextColumn, levels: &[String], table: &Table) -> Result<Values> {
    let mut code_of = HashMap::new();
    for (code, level) in (0..).zip(levels) {
        if code_of.insert(level.trim(), code).is_some() {
            let message = format!("column \"{}\" is declared to have \"{level}\" twice", cells.name);
            return Err(table.table_error(message).in_column(&cells.name));
        }
    }
    let mut codes = Vec::with_capacity(cells.len());
    for (row, cell) in cells.iter().enumerate() {
        codes.push(match code_of.get(cell) {
            Some(&code) => code,
            None if is_missing(cell) => MISSING,
            None => {
                let message = format!("\"{cell}\" is not one of the levels declared for column \"{}\"", cells.name);
                return Err(table.error(row, message).in_column(&cells.name));
            }
        });
    }
    Ok(Values::Categories { codes, levels: levels.to_vec() })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn column(cells: &[&str]) -> Column {
        let mut text = TextColumn::new("x");
        cells.iter().for_each(|cell| text.push(cell));
        let lines = (0..cells.len() as u64).map(|row| row + 2).collect();
        let mut table = Table::on_lines(Path::new("t.csv"), vec![text], lines).unwrap();
        table.typed_columns().unwrap().remove(0)
    }

    #[test]
    fn cells_that_are_no_numbers_are_named_in_their_order() {
        let note = column(&["1", "<4", "n.d.", "<4", "<5", "2"]).note.unwrap();
        assert!(note.ends_with("(bounds are kept): \"<4\" lines 3, 5; \"n.d.\" line 4; \"<5\" line 6"), "{note}");
    }

    /// 200,000 different bounds: comparing each with all others would take minutes, which whoever runs the tests would notice.
    #[test]
    fn very_many_different_bounds_are_read() {
        let cells: Vec<String> = (0..200_000).map(|row| format!("<{row}")).collect();
        let mut cells: Vec<&str> = cells.iter().map(String::as_str).collect();
        cells.push("1");
        let found = column(&cells);
        assert_eq!(found.bounds.len(), 200_000);
        assert!(found.note.unwrap().ends_with("\"<3\" line 5; 199,996 more kinds"));
    }

    #[test]
    fn years_of_two_digits_are_explained_by_an_example() {
        let found = column(&["13/06/22", "05/06/70"]);
        assert_eq!(found.date_order, Some(DateOrder::DayFirst));
        assert!(
            found
                .note
                .unwrap()
                .ends_with("; 13/06/22 is 2022-06-13: years 00 to 68 are 2000 to 2068, 69 to 99 are 1969 to 1999")
        );
    }
}
