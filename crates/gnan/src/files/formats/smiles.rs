//! A table of molecules: a `.csv` or `.tsv` file, perhaps compressed, with a column of SMILES, one molecule per row.
//!
//! Every atom is described by its element, hydrogens, degree, charge, and whether it is in a ring and aromatic. The
//! other columns of the table belong to the molecules.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use crate::error::{Error, Result};
use crate::files::ReadOptions;
use crate::files::columns::levels;
use crate::files::columns::units::units;
use crate::files::formats::{Format, itself};
use crate::files::molecule::Molecule;
use crate::files::naming::{has_ending, name_of};
use crate::files::row_selection::RowSelection;
use crate::files::skipped_rows::SkippedRows;
use crate::files::table::csv_table::{UNEVEN_REMEDY, UnevenRow};
use crate::files::table::text_column::TextColumn;
use crate::files::table::{Table, csv_table, id_columns, quoted};
use crate::files::tables::{Column, Kind, Tables, Task, Values};
use crate::files::text::Text;
use crate::remedy::Remedy;

const SMILES_COLUMNS: [&str; 2] = ["smiles", "canonical_smiles"];
/// Molecules parsed at a time by all threads together.
const CHUNK: usize = 4096;

/// What a letter of SMILES takes, an atom with its features and bonds or less.
const BYTES_OF_A_LETTER: u64 = 128;

pub const FORMAT: Format = Format {
    name: "SMILES table",
    appearance: "a .csv or .tsv file (or .csv.gz) with a column smiles",
    detect: |path| path.is_file() && (has_ending(path, "csv") || has_ending(path, "tsv")),
    read: |path, options| read_text(&Text::open(path, &options.limits)?, name_of(path), options),
    set_of: itself,
};

/// Reads the text of a table; its path tells the delimiter.
pub fn read_text(text: &Text, name: String, options: &ReadOptions) -> Result<Tables> {
    let delimiter = if has_ending(&text.path, "tsv") { b'\t' } else { b',' };
    let (table, uneven) = csv_table::parse_even(text, delimiter, &options.limits)?;
    if let Some(row) = uneven.first().filter(|_| options.strict) {
        return Err(text.error(row.line, row.reason()).with_remedy(UNEVEN_REMEDY));
    }
    read_rows(table, uneven, name, options)
}

/// Reads a table of molecules.
pub fn read_table(table: Table, name: String, options: &ReadOptions) -> Result<Tables> {
    read_rows(table, Vec::new(), name, options)
}

fn read_rows(mut table: Table, uneven: Vec<UnevenRow>, name: String, options: &ReadOptions) -> Result<Tables> {
    let place = table.path().to_path_buf();
    let too_many = |error: Error| error.in_file(&place);
    options.limits.check_graphs(table.rows() as u64).map_err(too_many)?;
    let units = units(table.names());
    let smiles = take_smiles(&mut table, options.smiles_column.as_deref())?;
    let letters: usize = smiles.iter().map(str::len).sum();
    options
        .limits
        .memory
        .demand(letters as u64 * BYTES_OF_A_LETTER, "the atoms and bonds of these molecules")
        .map_err(|error| error.in_file(&place))?;
    let mut tables = Tables { name, task: Some(Task::Graph), ..Tables::default() };
    let (mut ids, named) = take_ids(&mut table, &uneven, options.name_column.as_deref(), &mut tables.notes)?;
    tables.unnamed = !named;
    let splits = table.take_splits()?;

    let mut atoms = AtomColumns::default();
    let mut bonds = Vec::new();
    let mut as_written = 0;
    let mut skipped = SkippedRows::new(uneven, table.rows());
    let mut readable = vec![true; table.rows()];
    tables.node_offsets.push(0);
    let smiles: Vec<&str> = smiles.iter().collect();
    for (chunk, part) in smiles.chunks(CHUNK).enumerate() {
        let parsed: Vec<_> = part.par_iter().map(|smiles| Molecule::parse(smiles)).collect();
        for (row, (molecule, smiles)) in (chunk * CHUNK..).zip(parsed.into_iter().zip(part)) {
            let mut molecule = match molecule {
                Ok(molecule) => molecule,
                Err(reason) => {
                    let what = if smiles.is_empty() { "has no SMILES".to_owned() } else { unreadable(smiles, &reason) };
                    if options.strict {
                        let message = format!("molecule \"{}\" {what}", ids[row]);
                        return Err(table.error(row, message).with_remedy("correct or remove the row"));
                    }
                    readable[row] = false;
                    skipped.add(row, table.line(row), std::mem::take(&mut ids[row]), what);
                    continue;
                }
            };
            if options.explicit_hydrogens {
                molecule = molecule.with_hydrogens();
            }
            as_written += usize::from(!molecule.perceived);
            let first = atoms.add(&molecule);
            tables.edges.extend(molecule.bonds.iter().map(|bond| bond.atoms.map(|atom| first + atom)));
            bonds.extend(molecule.bonds.iter().map(|bond| bond.order));
            tables.node_offsets.push(atoms.ids.len());
            options.limits.check_nodes(atoms.ids.len() as u64).map_err(too_many)?;
        }
    }
    tables.skipped = skipped.checked().map_err(too_many)?;
    tables.bonds = Some(bonds);
    if as_written > 0 {
        tables.notes.push(format!("{as_written} molecule(s) are unusual: their aromaticity is as written"));
    }
    let kept = RowSelection::keep(&readable);
    tables.graph_ids = kept.items(&ids);
    tables.splits = splits.iter().map(|parts| kept.items(parts)).collect();
    tables.graph_columns = table.typed_columns()?.into_iter().map(|column| kept.column(column)).collect();
    for column in &mut tables.graph_columns {
        let unit = units.iter().find(|(name, _)| *name == column.name).map(|(_, unit)| unit.to_string());
        column.unit = unit.or(column.unit.take());
    }
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

fn take_smiles(table: &mut Table, wanted: Option<&str>) -> Result<TextColumn> {
    let known = |name: &&str| SMILES_COLUMNS.iter().any(|known| name.eq_ignore_ascii_case(known));
    let name = wanted.or_else(|| table.names().find(known)).map(str::to_string);
    if let Some(cells) = name.as_deref().and_then(|name| table.take(name)) {
        return Ok(cells);
    }
    let columns = table.names().map(quoted).collect::<Vec<_>>().join(", ");
    Err(match name {
        Some(name) => Error::usage(format!("there is no column \"{name}\" for the SMILES; the columns are {columns}")),
        None => table.header_error(format!("there is no column of SMILES; the columns are {columns}")).with_remedy([
            Remedy::Use("smiles-column").to("name the column"),
            "give the folder of tables of nodes and edges".into(),
        ]),
    })
}

/// The id of each molecule: its name if there is a column of names, made unique, or else its row in the file; and whether they
/// are names.
fn take_ids(
    table: &mut Table,
    uneven: &[UnevenRow],
    name_column: Option<&str>,
    notes: &mut Vec<String>,
) -> Result<(Vec<String>, bool)> {
    let is_even = |place: &usize| uneven.binary_search_by_key(place, |row| row.place).is_err();
    let places: Vec<usize> = (0..table.rows() + uneven.len()).filter(is_even).collect();
    let row_name = |row: usize| format!("row {}", places[row] + 1);
    let Some(cells) = id_columns::take_molecule_names(table, name_column)? else {
        return Ok(((0..table.rows()).map(row_name).collect(), false));
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
    Ok((ids, true))
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
