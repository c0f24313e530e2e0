//! Readers: from files to [`Tables`].
//!
//! [`read`] finds out which format a path holds, lets the reader of that format turn it into [`Tables`], and
//! then checks and trims the result once for all formats. A new format is one new file in this folder, with a
//! constant `FORMAT`, and one line in `FORMATS`.

mod arrays;
mod assembly;
mod builtin;
mod bundle;
mod cells;
mod check;
mod citation;
mod component;
mod csv_folder;
mod csv_table;
mod edge_kinds;
mod edge_list;
mod edge_notes;
mod geom;
mod graphml;
mod gzip;
mod heterophilous;
mod id_index;
mod label_map;
mod levels;
mod linqs;
mod molecule;
mod node_link;
mod npy;
mod number_table;
mod ogb;
mod overrides;
mod parquet_check;
mod parquet_folder;
mod parquet_table;
mod pickle;
mod pickled_arrays;
mod planetoid;
mod planetoid_pickles;
mod pubmed;
mod qm9;
mod quiet;
mod ragged;
mod selection;
mod smiles;
mod sparse_rows;
mod split_file;
mod table;
mod tables;
mod text;
mod tu;
mod words;
mod write;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::limits::Limits;

pub use builtin::NAMES as BUILT_IN;
pub(crate) use check::check;
pub(crate) use molecule::element_symbol;
pub use molecule::{Atom, Bond, BondOrder, Molecule};
pub use tables::{Column, Kind, MISSING, Part, Tables, Task, Values};
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

/// A format: how to recognise it and how to read it.
struct Format {
    /// Its name, as messages show it.
    name: &'static str,
    /// What it looks like on disk, as messages show it.
    appearance: &'static str,
    /// Whether the file or folder looks like it. Damaged files should pass, so that the reader can say what is wrong.
    detect: fn(&Path) -> bool,
    /// Reads it.
    read: fn(&Path, &ReadOptions) -> Result<Tables>,
}

const FORMATS: &[Format] = &[
    edge_list::FORMAT,
    csv_folder::FORMAT,
    tu::FORMAT,
    smiles::FORMAT,
    planetoid::FORMAT,
    planetoid_pickles::FORMAT,
    heterophilous::FORMAT,
    citation::FORMAT,
    geom::FORMAT,
    linqs::FORMAT,
    pubmed::FORMAT,
    ogb::FORMAT,
    qm9::FORMAT,
    parquet_folder::FORMAT,
    node_link::FORMAT,
    graphml::FORMAT,
];

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
            .remedy(format!("gnan reads {}", recognised()))),
        [(format, only)] => read_as(format, only, options),
        several => {
            let names: Vec<_> =
                several.iter().map(|(format, path)| format!("{} ({})", path.display(), format.name)).collect();
            Err(Error::input(format!("this folder holds {} data sets: {}", names.len(), names.join(", ")))
                .in_file(path)
                .remedy("name one of them"))
        }
    }
}

fn read_as(format: &Format, path: &Path, options: &ReadOptions) -> Result<Tables> {
    let mut tables = (format.read)(path, options).map_err(|error| error.in_file(path))?;
    tables.format = format.name.to_string();
    Ok(tables)
}

fn detect(path: &Path) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.detect)(path))
}

/// The data sets directly inside a folder, by name.
fn data_sets_inside(path: &Path) -> Result<Vec<(&'static Format, PathBuf)>> {
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for child in text::children(path)? {
        let Some(format) = detect(&child) else { continue };
        let Some(set) = set_of(child).filter(|set| seen.insert(set.clone())) else { continue };
        found.push((format, set));
    }
    Ok(found)
}

/// The path of the data set that a file belongs to, which files of one set share; `None` for a file that is no set
/// without another that is not there.
fn set_of(file: PathBuf) -> Option<PathBuf> {
    if let Some(prefix) = planetoid_pickles::prefix_of(&file) {
        return Some(prefix);
    }
    match linqs::content_of(&file).or_else(|| pubmed::papers_of(&file)) {
        Some(main) => gzip::find(&main),
        None => Some(file),
    }
}

fn nothing_at(source: &str) -> Error {
    Error::input(format!("there is no file or folder \"{source}\", and no built-in data set of that name"))
        .remedy(format!("built in: {}; gnan reads {}", BUILT_IN.join(", "), recognised()))
}

fn recognised() -> String {
    let formats: Vec<_> = FORMATS.iter().map(|format| format!("{} ({})", format.name, format.appearance)).collect();
    formats.join("; ")
}

/// What to call the data set at `path`.
fn name_of(path: &Path) -> String {
    let full = path.canonicalize();
    let path = full.as_deref().unwrap_or(path);
    let is_folder = path.is_dir();
    let name = if is_folder { path.file_name() } else { path.file_stem() };
    let mut name = name.map_or_else(|| "data".to_string(), |name| name.to_string_lossy().into_owned());
    // qm9.csv.gz is called qm9.
    if !is_folder && path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("gz")) {
        name.truncate(name.rfind('.').filter(|dot| *dot > 0).unwrap_or(name.len()));
    }
    name
}

/// Whether `path` is a file with this extension, in any case.
fn has_extension(path: &Path, extension: &str) -> bool {
    path.is_file() && path.extension().is_some_and(|found| found.eq_ignore_ascii_case(extension))
}

/// Whether a file is named with this extension, in any case; `.gz` behind it, of a compressed file, does not count.
fn has_ending(path: &Path, extension: &str) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(&format!(".{extension}"))
}
