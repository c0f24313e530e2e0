//! Writing [`Tables`] as a folder of tables that reads back as the same.
//!
//! `nodes`, `edges` and `graphs` are written as CSV or Parquet, and what columns alone cannot hold (kinds, units, the
//! order of levels, targets, direction) goes into `gnan.toml`.

mod csv;
mod declarations;
#[cfg(feature = "parquet")]
mod parquet;
mod written_table;

use std::fs;
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::files::formats::csv_folder::{self, DECLARATIONS};
#[cfg(feature = "parquet")]
use crate::files::formats::parquet_folder;
use crate::files::tables::Tables;
use crate::files::text;
use crate::remedy::Remedy;
use written_table::WrittenTable;

/// How tables are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableFormat {
    /// `nodes.csv`, `edges.csv`, `graphs.csv`.
    Csv,
    /// `nodes.parquet`, `edges.parquet`, `graphs.parquet`.
    #[cfg(feature = "parquet")]
    Parquet,
}

impl TableFormat {
    /// Every format.
    const ALL: &[TableFormat] = &[
        TableFormat::Csv,
        #[cfg(feature = "parquet")]
        TableFormat::Parquet,
    ];

    /// The files of nodes, edges and graphs.
    fn names(self) -> [&'static str; 3] {
        match self {
            TableFormat::Csv => [csv_folder::NODES, csv_folder::EDGES, csv_folder::GRAPHS],
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => [parquet_folder::NODES, parquet_folder::EDGES, parquet_folder::GRAPHS],
        }
    }
}

/// Writes a data set as a new folder, whole or not at all; with `replace`, what is there is replaced.
pub fn write_tables(tables: &Tables, folder: &Path, format: TableFormat, replace: bool) -> Result<()> {
    check_place(folder, replace)?;
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let io = |error: std::io::Error| Error::io(folder, error);
    let grids = [Some(WrittenTable::nodes(tables)?), Some(WrittenTable::edges(tables)), WrittenTable::graphs(tables)?];
    let declarations = declarations::of(tables)?;
    let fresh = tempfile::Builder::new().prefix(".gnan-").tempdir_in(parent).map_err(io)?;
    for (name, grid) in format.names().into_iter().zip(grids) {
        let Some(grid) = grid else { continue };
        let place = fresh.path().join(name);
        match format {
            TableFormat::Csv => csv::write(&grid, &place)?,
            #[cfg(feature = "parquet")]
            TableFormat::Parquet => parquet::write(&grid, &place)?,
        }
    }
    fs::write(fresh.path().join(DECLARATIONS), declarations).map_err(io)?;
    make_readable(fresh.path()).map_err(io)?;
    if folder.exists() {
        // The old folder steps aside first, so that there is a whole one at every moment but this.
        let old = tempfile::Builder::new().prefix(".gnan-").tempdir_in(parent).map_err(io)?;
        fs::rename(folder, old.path().join("replaced")).map_err(io)?;
        if let Err(error) = fs::rename(fresh.path(), folder) {
            fs::rename(old.path().join("replaced"), folder).map_err(io)?;
            return Err(io(error));
        }
    } else {
        fs::rename(fresh.path(), folder).map_err(io)?;
    }
    // The temporary folder is where it belongs now.
    let _: PathBuf = fresh.keep();
    Ok(())
}

/// Refuses a place that cannot or should not be written, before any work is done for it.
pub fn check_place(folder: &Path, replace: bool) -> Result<()> {
    if folder.exists() && !folder.is_dir() {
        return Err(Error::usage("this is a file, not a folder")
            .in_file(folder)
            .with_remedy(Remedy::Use("output").to("name a folder")));
    }
    if !folder.is_dir() || replace && is_ours(folder)? {
        return Ok(());
    }
    let elsewhere = Remedy::Use("output").to("write elsewhere");
    Err(if replace {
        Error::usage("this folder holds more than tables, and only folders of nothing but tables are replaced")
            .with_remedy(elsewhere)
    } else {
        Error::usage("this folder exists already").with_remedy([Remedy::Use("force").to("replace it"), elsewhere])
    }
    .in_file(folder))
}

/// Whether a folder holds nothing but what is written here: nothing else may be lost.
fn is_ours(folder: &Path) -> Result<bool> {
    let ours: Vec<_> = TableFormat::ALL.iter().flat_map(|format| format.names()).chain([DECLARATIONS]).collect();
    let children = text::children(folder)?;
    Ok(children.iter().all(|path| path.file_name().is_some_and(|name| ours.iter().any(|ours| name == *ours))))
}

/// Temporary folders are private; a result should be readable like any other new folder.
#[cfg(unix)]
fn make_readable(folder: &Path) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(folder, fs::Permissions::from_mode(0o755))
}

#[cfg(not(unix))]
fn make_readable(_: &Path) -> std::io::Result<()> {
    Ok(())
}
