//! The formats: one file each, with a constant `FORMAT`, and one line each in `FORMATS`.

pub mod csv_folder;
mod edge_list;
#[cfg(feature = "graphml")]
mod graphml;
mod node_link;
#[cfg(feature = "parquet")]
pub mod parquet_folder;
#[cfg(feature = "smiles")]
pub mod smiles;
mod tu;

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::error::Result;
use crate::files::{ReadOptions, Tables, text};

/// A format: how to recognise it and how to read it. Other crates have formats of their own: [`ReadOptions::formats`].
///
/// ```
/// use gnan::files::itself;
/// use gnan::{Error, Format, ReadOptions, files};
/// static MINE: [Format; 1] = [Format {
///     name: "my format",
///     appearance: "a file that ends in .mine",
///     detect: |path| path.extension().is_some_and(|ending| ending == "mine"),
///     read: |path, _| Err(Error::input("nothing is in it").in_file(path)),
///     set_of: itself,
/// }];
/// let options = ReadOptions { formats: &MINE, ..ReadOptions::default() };
/// assert!(files::known_formats(&options).iter().any(|(name, _)| *name == "my format"));
/// ```
#[derive(Debug)]
pub struct Format {
    /// Its name, as messages show it.
    pub name: &'static str,
    /// What it looks like on disk, as messages show it.
    pub appearance: &'static str,
    /// Whether the file or folder looks like it. Damaged files should pass, so that the reader can say what is wrong.
    pub detect: fn(&Path) -> bool,
    /// Reads it.
    pub read: fn(&Path, &ReadOptions) -> Result<Tables>,
    /// The path of the data set that a file of this format belongs to, which the files of one set share; `None` for a file
    /// that is no set without another that is not there. Where a set is one file or folder, this is [`itself`].
    pub set_of: fn(&Path) -> Option<PathBuf>,
}

/// For a format in which a data set is one file or folder.
pub fn itself(path: &Path) -> Option<PathBuf> {
    Some(path.to_path_buf())
}

const FORMATS: &[Format] = &[
    edge_list::FORMAT,
    csv_folder::FORMAT,
    tu::FORMAT,
    #[cfg(feature = "smiles")]
    smiles::FORMAT,
    #[cfg(feature = "parquet")]
    parquet_folder::FORMAT,
    node_link::FORMAT,
    #[cfg(feature = "graphml")]
    graphml::FORMAT,
];

/// The formats that are tried, one after the other: gnan's own, then those that were added.
fn tried(options: &ReadOptions) -> impl Iterator<Item = &'static Format> {
    FORMATS.iter().chain(options.formats)
}

/// The format that a path looks like.
pub fn detect(path: &Path, options: &ReadOptions) -> Option<&'static Format> {
    tried(options).find(|format| (format.detect)(path))
}

/// The data sets directly inside a folder, by name.
pub fn data_sets_inside(path: &Path, options: &ReadOptions) -> Result<Vec<(&'static Format, PathBuf)>> {
    if !path.is_dir() {
        return Ok(Vec::new());
    }
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    for child in text::children(path)? {
        let Some(format) = detect(&child, options) else { continue };
        let Some(set) = (format.set_of)(&child).filter(|set| seen.insert(set.clone())) else { continue };
        found.push((format, set));
    }
    Ok(found)
}

/// The formats that can be read, by name: what each is called, and what it looks like on disk.
pub fn known_formats(options: &ReadOptions) -> Vec<(&'static str, &'static str)> {
    let mut known: Vec<_> = tried(options).map(|format| (format.name, format.appearance)).collect();
    known.sort_by_key(|(name, _)| name.to_lowercase());
    known
}
