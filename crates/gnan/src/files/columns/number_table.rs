//! A text of comma-separated numbers without a header, as the TU format uses it: a row per line.

use std::path::PathBuf;

use crate::error::{Error, Result};
use crate::files::columns::label_map::{Names, names_elements};
use crate::files::columns::levels;
use crate::files::molecule::BondOrder;
use crate::files::table::text_column::is_missing;
use crate::files::tables::{Column, Kind, Values};
use crate::files::text::{Text, newlines};
use crate::limits::Limits;

/// Columns of numbers; NaN is a missing value.
pub struct NumberTable {
    path: PathBuf,
    lines: Vec<u64>,
    columns: Vec<Vec<f64>>,
}

impl NumberTable {
    /// Reads a text in which every line has the same number of cells.
    pub fn parse(text: &Text, limits: &Limits) -> Result<NumberTable> {
        let width = text.lines().next().map_or(0, |(_, line)| line.split(',').count());
        Limits::check(width as u64, limits.features, "columns").map_err(|error| error.in_file(&text.path))?;
        let rows = 1 + newlines(text.text.as_bytes()).min((text.text.len() / width.max(1)) as u64);
        let needed = rows.saturating_mul(size_of::<f64>() as u64 * (width as u64 + 1));
        limits.memory.demand(needed, "the numbers of this table").map_err(|error| error.in_file(&text.path))?;
        let columns = (0..width).map(|_| Vec::with_capacity(rows as usize)).collect();
        let mut table = NumberTable { path: text.path.clone(), lines: Vec::new(), columns };
        for (number, line) in text.lines() {
            let found = line.split(',').count();
            if found != width {
                return Err(text.error(number, format!("this line has {found} numbers, the first one has {width}")));
            }
            table.lines.push(number);
            for (place, (column, cell)) in (1..).zip(table.columns.iter_mut().zip(line.split(',').map(str::trim))) {
                let refuse = |message: String| text.error(number, message).in_column(i32::to_string(&place));
                let value = if is_missing(cell) { Some(f64::NAN) } else { cell.parse().ok() };
                match value {
                    Some(value) if value.is_infinite() => {
                        return Err(refuse(format!("{cell} in column {place}: infinite values are not allowed")));
                    }
                    Some(value) => column.push(value),
                    None => return Err(refuse(format!("\"{cell}\" in column {place} is not a number"))),
                }
            }
        }
        Ok(table)
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.lines.len()
    }

    /// Demands a row for each of `items`, which `what` names.
    pub fn with_rows(self, items: usize, what: &str) -> Result<NumberTable> {
        if self.rows() == items {
            return Ok(self);
        }
        Err(Error::input(format!("{} lines for {items} {what}", self.rows())).in_file(self.path))
    }

    /// The columns as `attribute_1`, `attribute_2`, ...
    pub fn attributes(self) -> Vec<Column> {
        let named = (1..).zip(self.columns);
        named.map(|(number, values)| Column::new(format!("attribute_{number}"), Values::Numbers(values))).collect()
    }

    /// The columns as categories called `label` (or `atom`, if they are named after elements; or `label_1`, `label_2`,
    /// ... if there are several), with the levels that `names` has for each.
    pub fn labels(self, names: &[Names]) -> Result<Vec<Column>> {
        let several = self.columns.len() > 1;
        let unnamed = Names::new();
        let mut labels = Vec::with_capacity(self.columns.len());
        for (place, column) in self.columns.iter().enumerate() {
            let names = names.get(place).unwrap_or(&unnamed);
            let mut numbers = Vec::with_capacity(column.len());
            for (&value, &line) in column.iter().zip(&self.lines) {
                numbers.push(if value.is_nan() { None } else { Some(self.whole(value, line)?) });
            }
            let level = |number: i64| names.get(&number).cloned().unwrap_or_else(|| number.to_string());
            let kind = if names_elements(names) { "atom" } else { "label" };
            let name = if several { format!("{kind}_{}", place + 1) } else { kind.to_string() };
            labels.push(Column::new(name, levels::of_numbers(&numbers, level)).with_kind(Kind::Categorical));
        }
        Ok(labels)
    }

    /// The first column as orders of bonds, if `names` has one for every number in it.
    pub fn bonds(&self, names: &Names) -> Option<Vec<BondOrder>> {
        let order = |value: &f64| BondOrder::named(names.get(&(*value as i64)).filter(|_| value.fract() == 0.0)?);
        self.columns.first()?.iter().map(order).collect()
    }

    fn whole(&self, value: f64, line: u64) -> Result<i64> {
        // Beyond 2^53 a float no longer tells neighbouring whole numbers apart.
        const EXACT: f64 = 9_007_199_254_740_992.0;
        if value.fract() == 0.0 && value.abs() <= EXACT {
            return Ok(value as i64);
        }
        Err(Error::input(format!("the label {value} is not a whole number")).in_file(&self.path).on_line(line))
    }
}
