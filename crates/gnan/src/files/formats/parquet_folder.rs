//! Parquet tables: a folder with `nodes.parquet`, and usually `edges.parquet`, `graphs.parquet` and a `.toml` of
//! declarations, or one `.parquet` file with a column of SMILES.
//!
//! What the columns mean is explained in [`assembly`](crate::files::table::assembly). They are those of the CSV tables.

use std::path::Path;

use crate::error::{Error, Result};
use crate::files::bundle::Bundle;
use crate::files::formats::csv_folder::read_overrides;
#[cfg(feature = "smiles")]
use crate::files::formats::smiles;
use crate::files::formats::{Format, itself};
use crate::files::naming::{has_extension, name_of};
use crate::files::table::assembly::Assembly;
use crate::files::table::id_columns::IdNames;
use crate::files::tables::Tables;
use crate::files::{ReadOptions, parquet};

/// The table of nodes, which must be there.
pub const NODES: &str = "nodes.parquet";
/// The table of edges.
pub const EDGES: &str = "edges.parquet";
/// The table of graphs.
pub const GRAPHS: &str = "graphs.parquet";

pub const FORMAT: Format = Format {
    name: "Parquet tables",
    appearance: "a folder with nodes.parquet and edges.parquet, or a .parquet file with a column smiles",
    detect: |path| {
        has_extension(path, "parquet") || [NODES, EDGES, GRAPHS].iter().any(|name| path.join(name).is_file())
    },
    read,
    set_of: itself,
};

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let limits = &options.limits;
    if !path.is_dir() {
        #[cfg(feature = "smiles")]
        return smiles::read_table(parquet::parse(limits.read(path, "bytes")?, path, limits)?, name_of(path), options);
        #[cfg(not(feature = "smiles"))]
        return Err(Error::input("a Parquet file alone is a table of molecules, which this build does not read"));
    }
    let mut folder = Bundle::open(path, limits)?;
    let overrides = read_overrides(&mut folder)?;
    let mut table = |name: &str| {
        let bytes = folder.bytes(name)?;
        bytes.map(|bytes| parquet::parse(bytes, &folder.place(name), limits)).transpose()
    };
    let nodes = table(NODES)?;
    let nodes = nodes.ok_or_else(|| Error::input(format!("there is no {NODES} in this folder")).in_file(path))?;
    let (edges, graphs) = (table(EDGES)?, table(GRAPHS)?);
    let ids = IdNames::Usual(options.name_column.clone());
    Assembly { name: name_of(path), nodes, edges, graphs, overrides, ids }.assemble(limits)
}
