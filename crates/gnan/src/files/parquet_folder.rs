//! Parquet tables: a folder with `nodes.parquet`, and usually `edges.parquet`, `graphs.parquet` and a `.toml` of
//! declarations, or one `.parquet` file with a column of SMILES.
//!
//! What the columns mean is said in [`assembly`](super::assembly). They are those of the CSV tables.

use std::path::Path;

use crate::error::{Error, Result};

use super::assembly::Assembly;
use super::bundle::Bundle;
use super::csv_folder::read_overrides;
use super::tables::Tables;
use super::{Format, ReadOptions, has_extension, name_of, parquet_table, smiles};

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
};

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let limits = &options.limits;
    if !path.is_dir() {
        let table = parquet_table::parse(limits.read(path, "bytes")?, path, limits)?;
        return smiles::read_table(table, name_of(path), options);
    }
    let mut folder = Bundle::open(path, limits)?;
    let overrides = read_overrides(&mut folder)?;
    let mut table = |name: &str| {
        let bytes = folder.bytes(name)?;
        bytes.map(|bytes| parquet_table::parse(bytes, &folder.place(name), limits)).transpose()
    };
    let nodes = table(NODES)?;
    let nodes = nodes.ok_or_else(|| Error::input(format!("there is no {NODES} in this folder")).in_file(path))?;
    let (edges, graphs) = (table(EDGES)?, table(GRAPHS)?);
    Assembly { name: name_of(path), nodes, edges, graphs, overrides }.assemble(limits)
}
