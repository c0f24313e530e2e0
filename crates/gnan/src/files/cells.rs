//! What the cells of a column mean: numbers, categories, or nothing.

use crate::error::Result;

use super::csv_table::{Cells, CsvTable};
use super::levels;
use super::tables::Values;

/// Whether a cell says that there is no value. `Na` is not among the words: it is sodium.
pub fn is_missing(cell: &str) -> bool {
    matches!(cell, "" | "NA" | "N/A" | "NaN" | "nan" | "null" | "None" | "?")
}

/// The cells as numbers if every one that is not missing is a number, and as categories otherwise.
pub fn typed(cells: &Cells, table: &CsvTable) -> Result<Values> {
    let number = |cell: &str| if is_missing(cell) { Some(f64::NAN) } else { cell.parse().ok() };
    let Some(numbers) = cells.iter().map(number).collect::<Option<Vec<f64>>>() else {
        return Ok(levels::of_words(cells.iter().map(|cell| Some(cell).filter(|cell| !is_missing(cell)))));
    };
    match numbers.iter().position(|number| number.is_infinite()) {
        None => Ok(Values::Numbers(numbers)),
        Some(row) => Err(table
            .error(row, format!("column \"{}\" holds {}: infinite values are not allowed", cells.name, numbers[row]))
            .remedy("leave the cell empty if the value is not known")),
    }
}
