//! The formats: one file each, with a constant `FORMAT`, and one line each in `FORMATS`.

mod citation;
pub mod csv_folder;
mod edge_list;
mod geom;
mod graphml;
mod heterophilous;
mod linqs;
mod node_link;
mod ogb;
pub mod parquet_folder;
mod planetoid;
mod planetoid_pickles;
mod pubmed;
mod qm9;
pub mod smiles;
mod tu;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::files::text::{self, gzip};
use crate::files::{ReadOptions, Tables};

/// A format: how to recognise it and how to read it.
pub struct Format {
    /// Its name, as messages show it.
    pub name: &'static str,
    /// What it looks like on disk, as messages show it.
    pub appearance: &'static str,
    /// Whether the file or folder looks like it. Damaged files should pass, so that the reader can say what is wrong.
    pub detect: fn(&Path) -> bool,
    /// Reads it.
    pub read: fn(&Path, &ReadOptions) -> Result<Tables>,
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

/// The format that a path looks like.
pub fn detect(path: &Path) -> Option<&'static Format> {
    FORMATS.iter().find(|format| (format.detect)(path))
}

/// The data sets directly inside a folder, by name.
pub fn data_sets_inside(path: &Path) -> Result<Vec<(&'static Format, PathBuf)>> {
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

/// The formats that can be read, by name: what each is called, and what it looks like on disk.
pub fn known_formats() -> Vec<(&'static str, &'static str)> {
    let mut known: Vec<_> = FORMATS.iter().map(|format| (format.name, format.appearance)).collect();
    known.sort_by_key(|(name, _)| name.to_lowercase());
    known
}
