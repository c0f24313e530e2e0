//! Data sets that come with the program, so that it can show what it does without any files.

use std::path::PathBuf;

use crate::error::Result;
use crate::files::ReadOptions;
use crate::files::formats::smiles;
use crate::files::tables::Tables;
use crate::files::text::Text;

/// Names of the built-in data sets.
pub const NAMES: &[&str] = &["solubility"];

/// A built-in table of molecules.
pub struct BuiltIn {
    name: &'static str,
    text: &'static str,
    target: &'static str,
    unit: &'static str,
}

const SETS: &[BuiltIn] = &[BuiltIn {
    name: "solubility",
    text: include_str!("../../data/solubility.csv"),
    target: "log_solubility",
    unit: "log10 mol/L",
}];

/// The built-in data set of that name.
pub fn find(name: &str) -> Option<&'static BuiltIn> {
    SETS.iter().find(|set| set.name == name)
}

impl BuiltIn {
    /// Reads it as a file of its format would be read.
    pub fn read(&self, options: &ReadOptions) -> Result<Tables> {
        let text = Text { path: PathBuf::from(format!("{}.csv", self.name)), text: self.text.to_string() };
        let options = ReadOptions { smiles_column: None, ..options.clone() };
        let mut tables = smiles::read_text(&text, self.name.to_string(), &options)?;
        for column in tables.graph_columns.iter_mut().filter(|column| column.name == self.target) {
            column.unit = Some(self.unit.to_string());
        }
        tables.format = "built in".to_string();
        tables.targets = vec![self.target.to_string()];
        Ok(tables)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_a_set() {
        assert_eq!(SETS.iter().map(|set| set.name).collect::<Vec<_>>(), NAMES);
    }
}
