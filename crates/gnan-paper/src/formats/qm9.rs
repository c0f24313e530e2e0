//! QM9 as graphs: `mol_id`, `node_ptr`, `x`, `edge_ptr`, `edges` and `bond_type` in an `.npz` archive, hydrogens
//! included, with the quantities of each molecule in `qm9.csv` (or `.csv.gz`) beside it.
//!
//! `node_ptr` and `edge_ptr` say where the atoms and bonds of each molecule begin, `edges` counts atoms within the
//! molecule, and `x` describes each atom by 11 numbers.
//!
//! Ramakrishnan et al., "Quantum chemistry structures and properties of 134 kilo molecules", 2014; the columns of the
//! table are those of MoleculeNet (Wu et al., 2018).

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::arrays::npy::{self, Array};
use gnan::error::{Error, Result};
use gnan::files::BondOrder;
use gnan::files::ReadOptions;
use gnan::files::{Column, Kind, Tables, Task, Values};
use gnan::files::{Format, itself};
use gnan::internals::files::bundle::Bundle;
use gnan::internals::files::columns::{levels, units::units};
use gnan::internals::files::naming::{has_extension, name_of};
use gnan::internals::files::table::{Table, csv_table};
use gnan::internals::files::text::Text;
use gnan::limits::Limits;
use gnan::memory::MemoryLimit;

pub const FORMAT: Format = Format {
    name: "QM9 arrays",
    appearance: "an .npz file with mol_id, node_ptr, x, edge_ptr, edges and bond_type",
    detect: |path| {
        let marks = |archive: Bundle| ["node_ptr.npy", "bond_type.npy"].iter().any(|name| archive.contains(name));
        has_extension(path, "npz") && Bundle::open(path, &Limits::default()).is_ok_and(marks)
    },
    read,
    set_of: itself,
};

/// What tables write before the number of a molecule.
const PREFIX: &str = "gdb_";
const ELEMENTS: [&str; 5] = ["H", "C", "N", "O", "F"];
const FLAGS: [&str; 4] = ["aromatic", "sp", "sp2", "sp3"];
/// Columns of `x`: the elements one-hot, the atomic number, the flags, the number of bonded hydrogens.
const WIDTH: usize = 11;
const FIRST_FLAG: usize = 6;
const HYDROGENS: usize = 10;
const ORDERS: [BondOrder; 4] = [BondOrder::Single, BondOrder::Double, BondOrder::Triple, BondOrder::Aromatic];

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let limits = &options.limits;
    let mut arrays = Qm9Arrays { archive: Bundle::open(path, limits)?, memory: limits.memory };
    let mut tables = Tables { name: name_of(path), task: Some(Task::Graph), ..Tables::default() };
    let molecules = arrays.integers("mol_id")?.values;
    limits.check_graphs(molecules.len() as u64).map_err(|error| error.in_file(path))?;
    let x = arrays.integers("x")?;
    if x.shape.len() != 2 || x.shape[1] != WIDTH {
        return Err(arrays.error("x", format!("this should be {WIDTH} numbers for each atom")));
    }
    let atoms = x.shape[0];
    limits.check_nodes(atoms as u64).map_err(|error| error.in_file(path))?;
    tables.node_offsets = arrays.pointers("node_ptr", molecules.len(), atoms)?;
    read_bonds(&mut arrays, &mut tables, limits)?;
    read_atoms(&arrays, &mut tables, &x.values)?;
    tables.notes.push("the atomic number follows from the element: it is left out".to_string());
    tables.graph_ids = molecules.iter().map(i64::to_string).collect();
    read_quantities(path, &mut tables, limits)?;
    Ok(tables)
}

struct Qm9Arrays {
    archive: Bundle,
    memory: MemoryLimit,
}

impl Qm9Arrays {
    fn place(&self, name: &str) -> PathBuf {
        self.archive.place(&format!("{name}.npy"))
    }

    fn error(&self, name: &str, message: impl Into<String>) -> Error {
        Error::input(message).in_file(self.place(name))
    }

    fn integers(&mut self, name: &str) -> Result<Array<i64>> {
        let bytes = self.archive.bytes(&format!("{name}.npy"))?;
        let bytes = bytes.ok_or_else(|| self.error(name, "this array is missing"))?;
        npy::integers(&bytes, &self.place(name), self.memory)
    }

    /// Where the parts of each molecule begin and end.
    fn pointers(&mut self, name: &str, molecules: usize, parts: usize) -> Result<Vec<usize>> {
        let pointers = self.integers(name)?.values;
        let fits = pointers.len() == molecules + 1 && pointers.first() == Some(&0) && pointers.is_sorted();
        if !fits || pointers.last() != Some(&(parts as i64)) {
            return Err(self.error(name, format!("this does not divide {parts} among {molecules} molecules")));
        }
        Ok(pointers.into_iter().map(|pointer| pointer as usize).collect())
    }
}

fn read_bonds(arrays: &mut Qm9Arrays, tables: &mut Tables, limits: &Limits) -> Result<()> {
    let edges = arrays.integers("edges")?;
    if edges.shape.len() != 2 || edges.shape[1] != 2 {
        return Err(arrays.error("edges", "this should be pairs of atoms"));
    }
    let (pairs, _) = edges.values.as_chunks::<2>();
    let place = arrays.place("edges");
    Limits::check(pairs.len() as u64, limits.edges, "edges").map_err(|error| error.in_file(place))?;
    let types = arrays.integers("bond_type")?.values;
    if types.len() != pairs.len() {
        return Err(arrays.error("bond_type", format!("{} types for {} bonds", types.len(), pairs.len())));
    }
    let molecules = tables.node_offsets.len() - 1;
    let pointers = arrays.pointers("edge_ptr", molecules, pairs.len())?;
    for (bonds, atoms) in pointers.windows(2).zip(tables.node_offsets.windows(2)) {
        let end = |atom: i64| {
            let place = usize::try_from(atom).ok().filter(|&atom| atom < atoms[1] - atoms[0]);
            let missing = || arrays.error("edges", format!("{atom} is not an atom of its molecule"));
            Ok((atoms[0] + place.ok_or_else(missing)?) as u32)
        };
        for &[one, other] in &pairs[bonds[0]..bonds[1]] {
            tables.edges.push([end(one)?, end(other)?]);
        }
    }
    let order = |kind: &i64| usize::try_from(*kind).ok().and_then(|kind| ORDERS.get(kind).copied());
    let bonds: Option<Vec<_>> = types.iter().map(order).collect();
    tables.bonds = Some(bonds.ok_or_else(|| arrays.error("bond_type", "a type is not 0, 1, 2 or 3"))?);
    Ok(())
}

fn read_atoms(arrays: &Qm9Arrays, tables: &mut Tables, x: &[i64]) -> Result<()> {
    let (rows, _) = x.as_chunks::<WIDTH>();
    let mut codes = Vec::with_capacity(rows.len());
    for (atom, row) in rows.iter().enumerate() {
        let (elements, flags) = (&row[..ELEMENTS.len()], &row[FIRST_FLAG..HYDROGENS]);
        let binary = elements.iter().chain(flags).all(|flag| matches!(flag, 0 | 1));
        let element = elements.iter().position(|&flag| flag == 1).filter(|_| elements.iter().sum::<i64>() == 1);
        match element {
            Some(element) if binary => codes.push(element as u32),
            _ => {
                let message = format!("row {atom} has no single element, or a flag that is neither 0 nor 1");
                return Err(arrays.error("x", message));
            }
        }
    }
    let ids = tables.node_offsets.windows(2).flat_map(|atoms| (1..).zip(&codes[atoms[0]..atoms[1]]));
    tables.node_ids = Some(ids.map(|(number, &code)| format!("{}{number}", ELEMENTS[code as usize])).collect());
    let levels = ELEMENTS.map(str::to_string).to_vec();
    let elements = Column::new("element", Values::Categories { codes, levels }).with_kind(Kind::Categorical);
    tables.node_columns.push(elements);
    for (place, name) in (FIRST_FLAG..).zip(FLAGS) {
        let values = Values::Numbers(rows.iter().map(|row| row[place] as f64).collect());
        tables.node_columns.push(Column::new(name, values).with_kind(Kind::Binary));
    }
    // Not "hydrogens": those are hydrogens that are no atoms of their own, and here they are.
    let bonded: Vec<_> = rows.iter().map(|row| Some(row[HYDROGENS])).collect();
    let bonded = levels::of_numbers(&bonded, |number| number.to_string());
    tables.node_columns.push(Column::new("bonded_hydrogens", bonded).with_kind(Kind::Categorical));
    Ok(())
}

/// Takes the quantities of each molecule from the table beside the archive.
fn read_quantities(path: &Path, tables: &mut Tables, limits: &Limits) -> Result<()> {
    let beside = ["qm9.csv", "qm9.csv.gz"].map(|name| path.with_file_name(name));
    let Some(place) = beside.into_iter().find(|place| place.is_file()) else {
        tables.notes.push("there is no qm9.csv or qm9.csv.gz beside the arrays: nothing to predict".to_string());
        return Ok(());
    };
    let mut table = csv_table::parse(&Text::open(&place, limits)?, b',', limits)?;
    let units = units(table.names());
    let rows = rows_of(&mut table, &tables.graph_ids)?;
    table.take("smiles");
    for mut column in table.typed_columns()? {
        let Values::Numbers(numbers) = &column.values else { continue };
        column.unit = units.iter().find(|(name, _)| *name == column.name).map(|(_, unit)| unit.to_string());
        column.values = Values::Numbers(rows.iter().map(|&row| numbers[row as usize]).collect());
        tables.graph_columns.push(column);
    }
    tables.notes.append(&mut table.notes);
    Ok(())
}

/// The row of each molecule.
fn rows_of(table: &mut Table, molecules: &[String]) -> Result<Vec<u32>> {
    let ids = table.take_ids("mol_id")?;
    let mut row_of = HashMap::with_capacity(table.rows());
    for (row, id) in (0u32..).zip(ids.iter()) {
        if row_of.insert(id.strip_prefix(PREFIX).unwrap_or(id), row).is_some() {
            return Err(table.error(row as usize, format!("molecule \"{id}\" is listed before")));
        }
    }
    let missing = |id: &String| table.table_error(format!("molecule \"{id}\" of the arrays is not in this table"));
    molecules.iter().map(|id| row_of.get(id.as_str()).copied().ok_or_else(|| missing(id))).collect()
}
