//! A table of molecules: a `.csv` or `.tsv` file with a column of SMILES, one molecule per row.
//!
//! Every atom is described by its element, hydrogens, degree, charge, and whether it is in a ring and aromatic. The
//! other columns of the table belong to the molecules.

use std::collections::{HashMap, HashSet};

use crate::error::{Error, Result};
use crate::limits::Limits;

use super::csv_table::{Cells, CsvTable, quoted};
use super::molecule::Molecule;
use super::tables::{Column, Kind, Tables, Task, Values};
use super::text::Text;
use super::{Format, ReadOptions, has_extension, levels, name_of};

const SMILES_COLUMNS: [&str; 2] = ["smiles", "canonical_smiles"];
const ID_COLUMNS: [&str; 4] = ["name", "id", "mol_id", "compound"];

pub const FORMAT: Format = Format {
    name: "SMILES table",
    appearance: "a .csv or .tsv file with a column smiles",
    detect: |path| has_extension(path, "csv") || has_extension(path, "tsv"),
    read: |path, options| read_text(&Text::open(path, &options.limits)?, name_of(path), options),
};

/// Reads the text of a table; its path tells the delimiter.
pub fn read_text(text: &Text, name: String, options: &ReadOptions) -> Result<Tables> {
    let tabs = text.path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("tsv"));
    let mut table = CsvTable::parse(text, if tabs { b'\t' } else { b',' }, &options.limits)?;
    let too_many = |error: Error| error.in_file(&text.path);
    Limits::check(table.rows() as u64, options.limits.graphs, "graphs").map_err(too_many)?;
    let smiles = take_smiles(&mut table, options.smiles_column.as_deref())?;
    let mut tables = Tables { name, task: Some(Task::Graph), ..Tables::default() };
    tables.graph_ids = take_ids(&mut table, &mut tables.notes);
    tables.splits.extend(table.take_split()?);

    let mut atoms = AtomColumns::default();
    let mut bonds = Vec::new();
    let mut as_written = 0;
    tables.node_offsets.push(0);
    for (row, (smiles, id)) in smiles.iter().zip(&tables.graph_ids).enumerate() {
        let mut molecule = Molecule::parse(smiles).map_err(|reason| {
            let what = if smiles.is_empty() { "has no SMILES".to_string() } else { unreadable(smiles, &reason) };
            table.error(row, format!("molecule \"{id}\" {what}")).remedy("correct or remove the row")
        })?;
        if options.explicit_hydrogens {
            molecule = molecule.with_hydrogens();
        }
        as_written += usize::from(!molecule.perceived);
        let first = atoms.add(&molecule);
        tables.edges.extend(molecule.bonds.iter().map(|bond| bond.atoms.map(|atom| first + atom)));
        bonds.extend(molecule.bonds.iter().map(|bond| bond.order));
        tables.node_offsets.push(atoms.ids.len());
        let limits = &options.limits;
        Limits::check(atoms.ids.len() as u64, limits.nodes.min(u32::MAX.into()), "nodes").map_err(too_many)?;
    }
    tables.bonds = Some(bonds);
    if as_written > 0 {
        tables.notes.push(format!("{as_written} molecule(s) are unusual: their aromaticity is as written"));
    }
    tables.graph_columns = table.typed_columns()?;
    tables.notes.append(&mut table.notes);
    if let [only] = tables.graph_columns.as_slice() {
        tables.targets = vec![only.name.clone()];
    }
    tables.node_columns = atoms.columns();
    tables.node_ids = Some(atoms.ids);
    Ok(tables)
}

fn unreadable(smiles: &str, reason: &str) -> String {
    const SHOWN: usize = 100;
    let shown: String = smiles.chars().take(SHOWN).collect();
    let rest = if shown.len() < smiles.len() { "..." } else { "" };
    format!("has a SMILES that cannot be read, {shown}{rest}: {reason}")
}

fn take_smiles(table: &mut CsvTable, wanted: Option<&str>) -> Result<Cells> {
    let known = |name: &&str| SMILES_COLUMNS.iter().any(|known| name.eq_ignore_ascii_case(known));
    let name = wanted.or_else(|| table.names().find(known)).map(str::to_string);
    if let Some(cells) = name.as_deref().and_then(|name| table.take(name)) {
        return Ok(cells);
    }
    let columns = table.names().map(quoted).collect::<Vec<_>>().join(", ");
    Err(match name {
        Some(name) => Error::usage(format!("there is no column \"{name}\" for the SMILES; the columns are {columns}")),
        None => table
            .complaint(format!("there is no column of SMILES; the columns are {columns}"))
            .on_line(1)
            .remedy("name the column with --smiles-column; for tables of nodes and edges, give the folder"),
    })
}

/// The id of each molecule: its name if there is a column of names, made unique, or else its row.
fn take_ids(table: &mut CsvTable, notes: &mut Vec<String>) -> Vec<String> {
    let find = |wanted: &&str| table.names().find(|name| name.eq_ignore_ascii_case(wanted)).map(str::to_string);
    let column = ID_COLUMNS.iter().find_map(find);
    let row_name = |row: usize| format!("row {}", row + 1);
    let Some(cells) = column.and_then(|name| table.take(&name)) else {
        return (0..table.rows()).map(row_name).collect();
    };
    let named = |(row, cell): (usize, &str)| if cell.is_empty() { row_name(row) } else { cell.to_string() };
    let wanted: Vec<String> = cells.iter().enumerate().map(named).collect();
    let mut taken: HashSet<String> = wanted.iter().cloned().collect();
    let mut uses: HashMap<&str, usize> = HashMap::new();
    let mut renamed = 0;
    let mut ids = Vec::with_capacity(wanted.len());
    for name in &wanted {
        let count = uses.entry(name).or_default();
        *count += 1;
        if *count == 1 {
            ids.push(name.clone());
            continue;
        }
        renamed += 1;
        let mut id = format!("{name} ({count})");
        while !taken.insert(id.clone()) {
            *count += 1;
            id = format!("{name} ({count})");
        }
        ids.push(id);
    }
    if renamed > 0 {
        notes.push(format!("{renamed} molecule(s) share a name with an earlier one and got a number"));
    }
    ids
}

/// The description of all atoms, molecule after molecule.
#[derive(Default)]
struct AtomColumns {
    ids: Vec<String>,
    elements: Vec<&'static str>,
    hydrogens: Vec<Option<i64>>,
    degrees: Vec<Option<i64>>,
    charges: Vec<Option<i64>>,
    rings: Vec<f64>,
    aromatic: Vec<f64>,
}

impl AtomColumns {
    /// Adds the atoms of a molecule and returns the place of the first.
    fn add(&mut self, molecule: &Molecule) -> u32 {
        let first = self.ids.len() as u32;
        for (number, (atom, degree)) in (1..).zip(molecule.atoms.iter().zip(molecule.degrees())) {
            self.ids.push(format!("{}{number}", atom.element));
            self.elements.push(atom.element);
            self.hydrogens.push(Some(atom.hydrogens.into()));
            self.degrees.push(Some(degree.into()));
            self.charges.push(Some(atom.charge.into()));
            self.rings.push(atom.ring.into());
            self.aromatic.push(atom.aromatic.into());
        }
        first
    }

    fn columns(&mut self) -> Vec<Column> {
        let signed = |charge: i64| if charge > 0 { format!("+{charge}") } else { charge.to_string() };
        let plain = |number: i64| number.to_string();
        let categorical = |name: &str, values| Column::new(name, values).with_kind(Kind::Categorical);
        let binary = |name: &str, flags| Column::new(name, Values::Numbers(flags)).with_kind(Kind::Binary);
        vec![
            categorical("element", levels::of_words(self.elements.iter().map(|&element| Some(element)))),
            categorical("hydrogens", levels::of_numbers(&self.hydrogens, plain)),
            categorical("degree", levels::of_numbers(&self.degrees, plain)),
            binary("ring", std::mem::take(&mut self.rings)),
            binary("aromatic", std::mem::take(&mut self.aromatic)),
            categorical("charge", levels::of_numbers(&self.charges, signed)),
        ]
    }
}
