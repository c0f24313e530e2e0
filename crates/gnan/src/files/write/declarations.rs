//! What the columns of tables alone cannot hold, as `gnan.toml`.

use std::collections::BTreeMap;

use super::written_table::label_name;
use crate::error::{Error, Result};
use crate::files::columns::levels;
use crate::files::table::overrides::{OneOrMany, Overrides};
use crate::files::table::text_column::is_missing;
use crate::files::tables::{Column, MISSING, Tables, Values};

/// The text of the file.
pub fn of(tables: &Tables) -> Result<String> {
    let mut overrides = Overrides {
        name: Some(tables.name.clone()),
        directed: Some(tables.directed),
        task: tables.task,
        target: match tables.targets.as_slice() {
            [] => None,
            [only] => Some(OneOrMany::One(only.clone())),
            several => Some(OneOrMany::Many(several.to_vec())),
        },
        ..Overrides::default()
    };
    for column in &tables.node_columns {
        declare(column, &format!("nodes.{}", column.name), &mut overrides)?;
    }
    for column in &tables.graph_columns {
        declare(column, &format!("graphs.{}", column.name), &mut overrides)?;
    }
    if let Some(labels) = &tables.edge_labels {
        declare_levels(labels, format!("edges.{}", label_name(labels)), &mut overrides.levels)?;
    }
    let text = toml::to_string(&overrides).map_err(|error| Error::because("the data cannot be described", error))?;
    Ok(format!("# What the tables beside this file are.\n{text}"))
}

fn declare(column: &Column, name: &str, overrides: &mut Overrides) -> Result<()> {
    if let Some(kind) = column.kind {
        overrides.kinds.insert(name.to_string(), kind.into());
    }
    if let Some(unit) = &column.unit {
        overrides.units.insert(name.to_string(), unit.clone());
    }
    declare_levels(column, name.to_string(), &mut overrides.levels)
}

/// Declares levels that would not be found, or not in their order.
fn declare_levels(column: &Column, name: String, declared: &mut BTreeMap<String, Vec<String>>) -> Result<()> {
    let Values::Categories { codes, levels } = &column.values else { return Ok(()) };
    let mut trimmed: Vec<&str> = levels.iter().map(|level| level.trim()).collect();
    trimmed.sort_unstable();
    if let Some(pair) = trimmed.windows(2).find(|pair| pair[0] == pair[1]) {
        let message = format!("column \"{}\" has levels that differ only in spaces: \"{}\"", column.name, pair[0]);
        return Err(Error::input(message));
    }
    let words = codes.iter().map(|&code| if code == MISSING { None } else { Some(levels[code as usize].as_str()) });
    let plain = |level: &String| level.trim() == level && !is_missing(level) && level.parse::<f64>().is_err();
    if !levels.iter().all(plain) || levels::of_words(words) != column.values {
        declared.insert(name, levels.clone());
    }
    Ok(())
}
