//! Readers: from files to [`Tables`].
//!
//! [`read`] finds out which format a path holds, lets the reader of that format turn it into [`Tables`], and
//! then checks and trims the result once for all formats. The readers stand in `formats`; what they are built of stands
//! in modules by what it reads: `text`, `table` (named columns, from CSV, JSON, XML or `parquet`), `columns`.

#[cfg(feature = "smiles")]
mod builtin;
pub(crate) mod bundle;
mod check;
pub(crate) mod columns;
mod component;
mod formats;
mod functional_groups;
mod molecule;
pub(crate) mod naming;
mod pairs_file;
#[cfg(feature = "parquet")]
mod parquet;
mod row_selection;
mod skipped_rows;
#[cfg(feature = "smiles")]
mod smiles_parser;
mod split_file;
pub(crate) mod table;
mod tables;
pub(crate) mod text;
mod write;

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::limits::Limits;
use formats::{data_sets_inside, detect};

#[cfg(feature = "smiles")]
pub use builtin::NAMES as BUILT_IN;
pub(crate) use check::check;
pub use formats::{Format, itself, known_formats};
pub use functional_groups::FunctionalGroup;
pub(crate) use molecule::element_symbol;
pub use molecule::{Atom, Bond, BondOrder, Molecule};
pub(crate) use pairs_file::read_pairs;
#[cfg(feature = "parquet")]
pub use parquet::PARQUET_THREAD;
pub use skipped_rows::{skipped_csv, skipped_note};
pub use table::bounds::{Bound, Side};
pub use table::dates::DateOrder;
pub(crate) use table::number_text::written_as_text;
pub(crate) use table::typed_column::{cell_days, cell_numbers};
pub use tables::{Column, Kind, MISSING, SkippedRow, SplitPart, Tables, Task, Values};
pub use write::{TableFormat, check_place, write_tables};

/// How to read: options that belong to the files rather than the data set.
///
/// ```
/// use gnan::{ReadOptions, files};
/// let options = ReadOptions { explicit_hydrogens: true, ..ReadOptions::default() };
/// let tables = files::read("solubility", &options)?;
/// assert!(tables.nodes() > files::read("solubility", &ReadOptions::default())?.nodes());
/// # Ok::<(), gnan::Error>(())
/// ```
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
    /// The column that names molecules or nodes, where it is not found.
    pub name_column: Option<String>,
    /// Refuses a table of molecules at the first row that cannot be read, instead of leaving such rows out.
    pub strict: bool,
    /// Whether edges have a direction, overruling what the format says.
    pub directed: Option<bool>,
    /// A file of splits that replace those of the data; they count what is left of it.
    pub splits: Option<PathBuf>,
    /// Formats that are recognised besides gnan's own.
    pub formats: &'static [Format],
}

/// Reads the data set at `source`: a path whose format is detected, or the name of a built-in set.
///
/// A name that is both is the path. The result is checked: ids are unique, every edge joins two nodes of one
/// graph, columns have a value for each row, and nothing is larger than the limits.
pub fn read(source: &str, options: &ReadOptions) -> Result<Tables> {
    let path = Path::new(source);
    // What several files begin with is the path of a data set, though no file has that name.
    let found = path.exists() || detect(path, options).is_some();
    let mut tables = match found {
        true => read_path(path, options)?,
        false => built_in(source, options).unwrap_or_else(|| Err(nothing_at(source, options)))?,
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

/// The built-in data set of that name.
#[cfg(feature = "smiles")]
fn built_in(name: &str, options: &ReadOptions) -> Option<Result<Tables>> {
    builtin::find(name).map(|set| set.read(options))
}

/// Names of the built-in data sets: they are tables of molecules, which this build does not read.
#[cfg(not(feature = "smiles"))]
pub const BUILT_IN: &[&str] = &[];

#[cfg(not(feature = "smiles"))]
fn built_in(_: &str, _: &ReadOptions) -> Option<Result<Tables>> {
    None
}

fn read_path(path: &Path, options: &ReadOptions) -> Result<Tables> {
    if let Some(format) = detect(path, options) {
        return read_as(format, path, options);
    }
    let inside = data_sets_inside(path, options)?;
    match inside.as_slice() {
        [] => Err(Error::input("this is not a data set in a format that gnan knows")
            .in_file(path)
            .with_remedy(format!("gnan reads{}", recognised(options)))),
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

fn nothing_at(source: &str, options: &ReadOptions) -> Error {
    Error::input(format!("there is no file or folder \"{source}\", and no built-in data set of that name"))
        .with_remedy(format!("built in: {}; gnan reads{}", BUILT_IN.join(", "), recognised(options)))
}

/// The formats, a line each.
fn recognised(options: &ReadOptions) -> String {
    known_formats(options).into_iter().map(|(name, appearance)| format!("\n    {name}: {appearance}")).collect()
}
