//! The cells of a column, and what they mean: numbers, categories, or nothing.

use std::collections::HashMap;

use crate::error::Result;
use crate::files::columns::levels;
use crate::files::table::Table;
use crate::files::tables::{MISSING, Values};

/// The words for a missing value. `Na` is not among them: it is sodium.
pub const MISSING_WORDS: [&str; 8] = ["", "NA", "N/A", "NaN", "nan", "null", "None", "?"];

/// The cells of one column, trimmed.
#[derive(Clone, Debug, Default)]
pub struct TextColumn {
    /// The column's name.
    pub name: String,
    /// Whether the file declares these as words, even where they look like numbers.
    pub words: bool,
    /// The levels, where they are declared; every cell is one of them or missing.
    pub levels: Option<Vec<String>>,
    text: String,
    ends: Vec<usize>,
}

impl TextColumn {
    /// A column without cells.
    pub fn new(name: impl Into<String>) -> TextColumn {
        TextColumn { name: name.into().trim().to_string(), ..TextColumn::default() }
    }

    /// Adds a cell.
    pub fn push(&mut self, cell: &str) {
        self.text.push_str(cell.trim());
        self.ends.push(self.text.len());
    }

    /// Adds empty cells until there are `rows`.
    pub fn fill(&mut self, rows: usize) {
        self.ends.resize(rows.max(self.ends.len()), self.text.len());
    }

    /// Makes room for so many cells.
    pub fn reserve(&mut self, rows: usize) {
        self.ends.reserve_exact(rows);
    }

    /// Number of cells.
    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    /// The cell of a row.
    pub fn get(&self, row: usize) -> &str {
        let start = row.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..self.ends[row]]
    }

    /// The cell of each row.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.text[start..end])
    }
}

/// Whether a cell is one of the words for a missing value.
pub fn is_missing(cell: &str) -> bool {
    MISSING_WORDS.contains(&cell)
}

/// The cells as numbers if every one that is not missing is a number, and as categories otherwise.
pub fn typed(cells: &TextColumn, table: &Table) -> Result<Values> {
    if let Some(levels) = &cells.levels {
        return of_levels(cells, levels, table);
    }
    let number = |cell: &str| if is_missing(cell) { Some(f64::NAN) } else { cell.parse().ok() };
    let numbers = if cells.words { None } else { cells.iter().map(number).collect::<Option<Vec<f64>>>() };
    let Some(numbers) = numbers else { return Ok(categories(cells)) };
    match numbers.iter().position(|number| number.is_infinite()) {
        None => Ok(Values::Numbers(numbers)),
        Some(row) => Err(table
            .error(row, format!("column \"{}\" holds {}: infinite values are not allowed", cells.name, numbers[row]))
            .in_column(&cells.name)
            .with_remedy("leave the cell empty if the value is not known")),
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
