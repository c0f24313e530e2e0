//! What a `.toml` file beside tables says about them: targets, kinds, units, levels, one-hot codes.
//!
//! A column is known by its name, or as `nodes.name` or `graphs.name` where both tables have one of that name.
//!
//! ```toml
//! name = "molecules"
//! task = "graph"
//! target = "toxic"
//! [kinds]
//! group = "categorical"
//! [units]
//! mass = "g/mol"
//! [levels]
//! "nodes.size" = ["small", "medium", "large"]
//! [one_hot]
//! colour = ["colour_red", "colour_blue"]
//! ```

use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::files::columns::levels;
use crate::files::table::{Table, quoted};
use crate::files::tables::{Column, Kind, MISSING, Task, Values};
use crate::files::text::Text;

/// The content of the file.
#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Overrides {
    /// What the data set is called, if not after its folder.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Whether edges have a direction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub directed: Option<bool>,
    /// Whether targets belong to graphs or nodes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task: Option<Task>,
    /// Names of the targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<OneOrMany>,
    /// Kinds of columns.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub kinds: BTreeMap<String, Declared>,
    /// Units of columns.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub units: BTreeMap<String, String>,
    /// Levels of categorical columns, in their order.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub levels: BTreeMap<String, Vec<String>>,
    /// Features that are made of one-hot columns.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub one_hot: BTreeMap<String, Vec<String>>,
    /// The file, for messages.
    #[serde(skip)]
    pub path: PathBuf,
}

/// A name or a list of them.
#[derive(Debug, Deserialize, Serialize)]
#[serde(untagged)]
pub enum OneOrMany {
    /// One.
    One(String),
    /// Any number.
    Many(Vec<String>),
}

/// What a column is declared to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Declared {
    /// [`Kind::Binary`].
    Binary,
    /// [`Kind::Categorical`].
    Categorical,
    /// [`Kind::Continuous`].
    Continuous,
    /// [`Kind::Sparse`].
    Sparse,
    /// Not to be read.
    Ignore,
}

impl From<Kind> for Declared {
    fn from(kind: Kind) -> Declared {
        match kind {
            Kind::Binary => Declared::Binary,
            Kind::Categorical => Declared::Categorical,
            Kind::Continuous => Declared::Continuous,
            Kind::Sparse => Declared::Sparse,
        }
    }
}

/// What is declared for a column: by its full name, or else by its name in any table.
fn declared_for<'a, T>(map: &'a BTreeMap<String, T>, table: &str, column: &str) -> Option<&'a T> {
    map.get(&format!("{table}.{column}")).or_else(|| map.get(column))
}

impl Overrides {
    /// Parses the file.
    pub fn parse(text: &Text) -> Result<Overrides> {
        let parsed = toml::from_str(&text.text).map_err(|error| {
            let start = error.span().map_or(0, |span| span.start);
            text.place(Error::input(error.message().trim().replace('\n', " ")).caused_by(error), start)
        })?;
        Ok(Overrides { path: text.path.clone(), ..parsed })
    }

    /// Names of the targets.
    pub fn targets(&self) -> Vec<String> {
        match &self.target {
            None => Vec::new(),
            Some(OneOrMany::One(name)) => vec![name.clone()],
            Some(OneOrMany::Many(names)) => names.clone(),
        }
    }

    /// Demands that every column the file names is one of `columns` (table and name) or a feature it makes of them.
    pub fn check_names(&self, columns: &[(&str, &str)]) -> Result<()> {
        let mut known: HashSet<&str> = columns.iter().map(|(_, name)| *name).collect();
        let full: HashSet<String> = columns.iter().map(|(table, name)| format!("{table}.{name}")).collect();
        let missing = |name: &&String, known: &HashSet<&str>| !known.contains(name.as_str()) && !full.contains(*name);
        if let Some((name, _)) = self.one_hot.iter().find(|(_, parts)| parts.is_empty()) {
            return Err(Error::input(format!("the one-hot code \"{name}\" has no columns")).in_file(&self.path));
        }
        let parts = self.one_hot.values().flatten();
        let mut unknown: Vec<_> = parts.filter(|name| missing(name, &known)).collect();
        known.extend(self.one_hot.keys().map(String::as_str));
        let targets = self.targets();
        let named = self.kinds.keys().chain(self.units.keys()).chain(self.levels.keys()).chain(&targets);
        unknown.extend(named.filter(|name| missing(name, &known)));
        match unknown.first() {
            None => Ok(()),
            Some(name) => {
                let existing = columns.iter().map(|(_, name)| quoted(name)).collect::<Vec<_>>().join(", ");
                let message = format!("there is no column \"{name}\"; the columns are {existing}");
                Err(Error::input(message).in_file(&self.path))
            }
        }
    }

    /// Declares what is known of the cells of a table; `of` is "nodes", "edges" or "graphs".
    pub fn declare_cells(&self, table: &mut Table, of: &str) {
        for cells in table.columns_mut() {
            cells.levels = declared_for(&self.levels, of, &cells.name).cloned();
            cells.categorical = declared_for(&self.kinds, of, &cells.name) == Some(&Declared::Categorical);
        }
    }

    /// The columns of one table, as the file says they are.
    pub fn columns(&self, table: &mut Table, of: &str) -> Result<Vec<Column>> {
        let ignored = |name: &str| declared_for(&self.kinds, of, name) == Some(&Declared::Ignore);
        let unread: Vec<String> = table.names().filter(|name| ignored(name)).map(str::to_owned).collect();
        unread.iter().for_each(|name| drop(table.take(name)));
        self.declare_cells(table, of);
        let typed = table.typed_columns()?;
        let mut columns = self.fuse(typed, table)?;
        columns.retain(|column| !ignored(&column.name));
        for column in &mut columns {
            if let Some(&declared) = declared_for(&self.kinds, of, &column.name) {
                declare(column, declared, table)?;
            }
            if let Some(unit) = declared_for(&self.units, of, &column.name) {
                column.unit = Some(unit.clone());
            }
        }
        Ok(columns)
    }

    fn fuse(&self, mut columns: Vec<Column>, table: &Table) -> Result<Vec<Column>> {
        for (name, parts) in &self.one_hot {
            let Some(place) = columns.iter().position(|column| parts.contains(&column.name)) else { continue };
            let find = |part: &String| {
                let column = columns.iter().find(|column| column.name == *part);
                column
                    .ok_or_else(|| table.table_error(format!("\"{part}\", a part of \"{name}\", is not in this table")))
            };
            let found = parts.iter().map(find).collect::<Result<Vec<_>>>()?;
            let codes = one_hot_codes(name, &found, table)?;
            let fused = Column::new(name, Values::Categories { codes, levels: level_names(parts) });
            columns.retain(|column| !parts.contains(&column.name));
            columns.insert(place, fused.with_kind(Kind::Categorical));
        }
        Ok(columns)
    }
}

/// Which of the columns is 1 in each row; none at all is a missing value.
fn one_hot_codes(name: &str, parts: &[&Column], table: &Table) -> Result<Vec<u32>> {
    let mut codes = vec![MISSING; table.rows()];
    for (code, part) in (0..).zip(parts) {
        let values = binary_numbers(part, table)?;
        for (row, _) in values.iter().enumerate().filter(|(_, value)| **value == 1.0) {
            if codes[row] != MISSING {
                return Err(table
                    .error(row, format!("more than one of the columns of \"{name}\" is 1"))
                    .in_column(&part.name));
            }
            codes[row] = code;
        }
    }
    Ok(codes)
}

/// The names of one-hot columns without the prefix they share, cut where a word ends.
fn level_names(columns: &[String]) -> Vec<String> {
    let shared = columns.iter().fold(columns[0].as_str(), |shared, name| {
        let same = shared.chars().zip(name.chars()).take_while(|(a, b)| a == b);
        &shared[..same.map(|(letter, _)| letter.len_utf8()).sum()]
    });
    let prefix = shared.rfind(['_', '-', '.', ':', '=', ' ']).map_or(0, |separator| separator + 1);
    let whole = columns.iter().any(|name| name.len() == prefix);
    columns.iter().map(|name| if whole { name.clone() } else { name[prefix..].to_string() }).collect()
}

fn declare(column: &mut Column, declared: Declared, table: &Table) -> Result<()> {
    let kind = match declared {
        Declared::Ignore => return Ok(()),
        Declared::Binary => {
            binary_numbers(column, table)?;
            Kind::Binary
        }
        Declared::Categorical => {
            if let Values::Numbers(numbers) = &column.values {
                // Adding zero makes -0 the same level as 0.
                let words: Vec<_> = numbers.iter().map(|number| (number + 0.0).to_string()).collect();
                column.values = levels::of_words(
                    words.iter().zip(numbers).map(|(word, number)| (!number.is_nan()).then_some(word.as_str())),
                );
            }
            Kind::Categorical
        }
        Declared::Continuous | Declared::Sparse => {
            let kind = if declared == Declared::Sparse { Kind::Sparse } else { Kind::Continuous };
            numbers(column, kind, table)?;
            kind
        }
    };
    column.kind = Some(kind);
    Ok(())
}

fn binary_numbers<'a>(column: &'a Column, table: &Table) -> Result<&'a [f64]> {
    let numbers = numbers(column, Kind::Binary, table)?;
    match numbers.iter().position(|number| !number.is_nan() && *number != 0.0 && *number != 1.0) {
        None => Ok(numbers),
        Some(row) => Err(table
            .error(row, format!("column \"{}\" is declared binary but holds {}", column.name, numbers[row]))
            .in_column(&column.name)
            .with_remedy("a binary column holds 0, 1 or nothing")),
    }
}

fn numbers<'a>(column: &'a Column, kind: Kind, table: &Table) -> Result<&'a [f64]> {
    match &column.values {
        Values::Numbers(numbers) => Ok(numbers),
        _ => Err(table
            .table_error(format!("column \"{}\" is declared {} but holds text", column.name, kind.name()))
            .in_column(&column.name)
            .with_remedy("declare it categorical, or correct the cells that are not numbers")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_lose_a_prefix_only_at_the_end_of_a_word() {
        let names = |columns: &[&str]| level_names(&columns.iter().map(|name| name.to_string()).collect::<Vec<_>>());
        assert_eq!(names(&["atom_C", "atom_Cl"]), ["C", "Cl"]);
        assert_eq!(names(&["red", "rose"]), ["red", "rose"]);
        assert_eq!(names(&["is_", "is_b"]), ["is_", "is_b"]);
        assert_eq!(names(&["größe_é", "größe_è"]), ["é", "è"]);
    }
}
