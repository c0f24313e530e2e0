//! Readers: from files to [`Tables`].
//!
//! [`read`] finds out which format a path holds, lets the reader of that format turn it into [`Tables`], and
//! then checks and trims the result once for all formats. The readers stand in `formats`; what they are built of stands
//! in modules by what it reads: `text`, `arrays`, `table` (named columns, from CSV, JSON, XML or `parquet`), `columns`.

mod arrays;
mod builtin;
mod bundle;
mod check;
mod columns;
mod component;
mod edge_notes;
mod formats;
mod molecule;
mod naming;
mod pairs_file;
mod parquet;
mod row_selection;
mod split_file;
mod table;
mod tables;
mod text;
mod write;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::limits::Limits;
use formats::{Format, data_sets_inside, detect};

pub use builtin::NAMES as BUILT_IN;
pub(crate) use check::check;
pub use formats::known_formats;
pub(crate) use molecule::element_symbol;
pub use molecule::{Atom, Bond, BondOrder, Molecule};
pub(crate) use pairs_file::read_pairs;
pub use parquet::PARQUET_THREAD;
pub use tables::{Column, Kind, MISSING, SplitPart, Tables, Task, Values};
pub use write::{TableFormat, check_place, write_tables};

/// How to read: options that belong to the files rather than the data set.
#[derive(Clone, Debug, Default)]
pub struct ReadOptions {
    /// How large an input may be.
    pub limits: Limits,
    /// Makes the hydrogens of a molecule nodes of their own.
    pub explicit_hydrogens: bool,
    /// Keeps only the largest connected component of each graph.
    pub largest_component: bool,
    /// The column that holds the SMILES, where it is not called `smiles`.
    pub smiles_column: Option<String>,
    /// Whether edges have a direction, overruling what the format says.
    pub directed: Option<bool>,
    /// A file of splits that replace those of the data; they count what is left of it.
    pub splits: Option<PathBuf>,
}

/// Reads the data set at `source`: a path whose format is detected, or the name of a built-in set.
///
/// A name that is both is the path. The result is checked: ids are unique, every edge joins two nodes of one
/// graph, columns have a value for each row, and nothing is larger than the limits.
pub fn read(source: &str, options: &ReadOptions) -> Result<Tables> {
    let path = Path::new(source);
    // What several files begin with is the path of a data set, though no file has that name.
    let found = path.exists() || detect(path).is_some();
    let mut tables = match (found, builtin::find(source)) {
        (false, Some(set)) => set.read(options)?,
        (false, None) => return Err(nothing_at(source)),
        (true, _) => read_path(path, options)?,
    };
    if let Some(directed) = options.directed {
        tables.directed = directed;
    }
    check(&tables, &options.limits).map_err(|error| error.in_file(path))?;
    if tables.nodes() == 0 {
        return Err(Error::input("this data set is empty: its graphs have no nodes").in_file(path));
    }
    if options.largest_component {
        component::keep_largest(&mut tables);
    }
    if let Some(splits) = &options.splits {
        split_file::apply(&mut tables, splits, options)?;
    }
    Ok(tables)
}

fn read_path(path: &Path, options: &ReadOptions) -> Result<Tables> {
    if let Some(format) = detect(path) {
        return read_as(format, path, options);
    }
    let inside = data_sets_inside(path)?;
    match inside.as_slice() {
        [] => Err(Error::input("this is not a data set in a format that gnan knows")
            .in_file(path)
            .with_remedy(format!("gnan reads{}", recognised()))),
        [(format, only)] => read_as(format, only, options),
        several => {
            let names: Vec<_> =
                several.iter().map(|(format, path)| format!("{} ({})", path.display(), format.name)).collect();
            Err(Error::input(format!("this folder holds {} data sets: {}", names.len(), names.join(", ")))
                .in_file(path)
                .with_remedy("name one of them"))
        }
    }
}

fn read_as(format: &Format, path: &Path, options: &ReadOptions) -> Result<Tables> {
    let mut tables = (format.read)(path, options).map_err(|error| error.in_file(path))?;
    tables.format = format.name.to_string();
    Ok(tables)
}

fn nothing_at(source: &str) -> Error {
    Error::input(format!("there is no file or folder \"{source}\", and no built-in data set of that name"))
        .with_remedy(format!("built in: {}; gnan reads{}", BUILT_IN.join(", "), recognised()))
}

/// The formats, a line each.
fn recognised() -> String {
    known_formats().into_iter().map(|(name, appearance)| format!("\n    {name}: {appearance}")).collect()
}
