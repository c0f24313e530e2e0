//! CSV tables: a folder with `nodes.csv`, and usually `edges.csv`, `graphs.csv` and a `.toml` of declarations.
//!
//! What the columns mean is explained in [`assembly`](crate::files::table::assembly). Any of the tables may be compressed (`nodes.csv.gz`).

use std::path::Path;

use crate::error::{Error, Result};
use crate::files::ReadOptions;
use crate::files::bundle::Bundle;
use crate::files::formats::{Format, itself};
use crate::files::naming::name_of;
use crate::files::table::assembly::Assembly;
use crate::files::table::id_columns::IdNames;
use crate::files::table::overrides::Overrides;
use crate::files::table::{Table, csv_table};
use crate::files::tables::Tables;
use crate::files::text::{Text, gzip};
use crate::limits::Limits;

/// The table of nodes, which must be there.
pub const NODES: &str = "nodes.csv";
/// The table of edges.
pub const EDGES: &str = "edges.csv";
/// The table of graphs.
pub const GRAPHS: &str = "graphs.csv";
/// What is declared about the tables.
pub const DECLARATIONS: &str = "gnan.toml";

pub const FORMAT: Format = Format {
    name: "CSV tables",
    appearance: "a folder with nodes.csv, edges.csv and perhaps graphs.csv",
    detect: |path| {
        let names = [NODES, EDGES, GRAPHS].into_iter().flat_map(|name| [name.to_string(), format!("{name}.gz")]);
        path.is_dir() && names.into_iter().any(|name| path.join(name).is_file())
    },
    read,
    set_of: itself,
};

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let limits = &options.limits;
    let mut folder = Bundle::open(path, limits)?;
    let overrides = read_overrides(&mut folder)?;
    let nodes = read_table(&mut folder, NODES, limits)?
        .ok_or_else(|| Error::input(format!("there is no {NODES} in this folder")).in_file(path))?;
    let graphs = read_table(&mut folder, GRAPHS, limits)?;
    let edges = read_table(&mut folder, EDGES, limits)?;
    let ids = IdNames::Usual(options.name_column.clone());
    Assembly { name: name_of(path), nodes, edges, graphs, overrides, ids }.assemble(limits)
}

fn read_table(folder: &mut Bundle, name: &str, limits: &Limits) -> Result<Option<Table>> {
    for name in [name.to_string(), format!("{name}.gz")] {
        if let Some(bytes) = folder.bytes(&name)? {
            let place = folder.place(&name);
            let text = Text::decode(place.clone(), gzip::expand(bytes, &place, limits)?)?;
            return csv_table::parse(&text, b',', limits).map(Some);
        }
    }
    Ok(None)
}

/// Reads `gnan.toml`, or else the only `.toml` there is.
pub fn read_overrides(folder: &mut Bundle) -> Result<Overrides> {
    let mut names: Vec<_> = folder.names().filter(|name| name.ends_with(".toml")).map(str::to_string).collect();
    if let Some(own) = names.iter().position(|name| name == DECLARATIONS) {
        names = vec![names.swap_remove(own)];
    }
    match names.as_slice() {
        [] => Ok(Overrides::default()),
        [name] => folder.text(name)?.map_or_else(|| Ok(Overrides::default()), |text| Overrides::parse(&text)),
        several => Err(Error::input(format!("there are several .toml files: {}", several.join(", ")))
            .in_file(folder.place(""))
            .with_remedy(format!("call the one that describes the tables {DECLARATIONS}"))),
    }
}
