//! CSV tables: a folder with `nodes.csv`, and usually `edges.csv`, `graphs.csv` and a `.toml` of declarations.
//!
//! `nodes.csv` has a `node_id`, a `graph_id` if there are several graphs, and a column per feature; `edges.csv` has
//! `source` and `target`; `graphs.csv` has a `graph_id` and a column per target. A column `split` in the table of the
//! task says what is for training. Columns and rows may come in any order.

use std::path::Path;

use crate::error::{Error, Result};
use crate::limits::Limits;

use super::bundle::Bundle;
use super::csv_table::CsvTable;
use super::id_index::{GraphIndex, NodeIndex, read_edges};
use super::overrides::Overrides;
use super::selection::Selection;
use super::tables::{Column, Part, Tables, Task};
use super::{Format, ReadOptions, name_of};

/// The table of nodes, which must be there.
pub const NODES: &str = "nodes.csv";
/// The table of edges.
pub const EDGES: &str = "edges.csv";
/// The table of graphs.
pub const GRAPHS: &str = "graphs.csv";

pub const FORMAT: Format = Format {
    name: "CSV tables",
    appearance: "a folder with nodes.csv, edges.csv and perhaps graphs.csv",
    detect: |path| [NODES, EDGES, GRAPHS].iter().any(|name| path.join(name).is_file()),
    read,
};

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let limits = &options.limits;
    let mut folder = Bundle::open(path, limits)?;
    let overrides = read_overrides(&mut folder)?;
    let mut nodes = read_table(&mut folder, NODES, limits)?
        .ok_or_else(|| Error::input(format!("there is no {NODES} in this folder")).in_file(path))?;
    let mut graphs = read_table(&mut folder, GRAPHS, limits)?;
    let edges = read_table(&mut folder, EDGES, limits)?;
    Limits::check(nodes.rows() as u64, limits.nodes, "nodes").map_err(|error| error.in_file(path.join(NODES)))?;

    let name = name_of(path);
    let node_ids = nodes.take_ids("node_id")?;
    let graph_of_node = nodes.take_ids_if_any("graph_id")?;
    let index = GraphIndex::new(&name, &nodes, graph_of_node.as_ref(), graphs.as_mut())?;
    Limits::check(index.ids.len() as u64, limits.graphs, "graphs").map_err(|error| error.in_file(path))?;
    let node_index = NodeIndex::new(&node_ids, &nodes, &index)?;

    let mut tables = Tables { name, directed: overrides.directed.unwrap_or(false), ..Tables::default() };
    let named = |table: &CsvTable| table.names().map(str::to_string).collect::<Vec<_>>();
    let all_names = [named(&nodes), graphs.as_ref().map(named).unwrap_or_default()].concat();
    overrides.check_names(all_names.iter().map(String::as_str))?;
    let node_split = nodes.take_split()?;
    let node_columns = columns(&mut nodes, &overrides)?;
    let mut graph_split = None;
    if let Some(graphs) = &mut graphs {
        graph_split = graphs.take_split()?;
        tables.graph_columns = columns(graphs, &overrides)?;
        tables.notes.append(&mut graphs.notes);
    }
    tables.notes.append(&mut nodes.notes);

    let (order, offsets) = Selection::grouped(&index.graph_of_node, index.ids.len());
    match edges {
        Some(edges) => tables.edges = order.edges(&read_edges(edges, &node_index, &index, limits)?),
        None => tables.notes.push(format!("there is no {EDGES}: the graphs have no edges")),
    }
    tables.targets = overrides.targets();
    tables.task = overrides.task.or(if !tables.graph_columns.is_empty() || graph_split.is_some() {
        Some(Task::Graph)
    } else {
        (index.ids.len() == 1).then_some(Task::Node)
    });
    let node_split = node_split.map(|parts| order.items(&parts));
    choose_split(&mut tables, graph_split, node_split);
    tables.node_ids = Some(order.items(&node_ids.iter().map(str::to_string).collect::<Vec<_>>()));
    tables.node_columns = node_columns.into_iter().map(|column| order.column(column)).collect();
    tables.node_offsets = offsets;
    tables.graph_ids = index.ids;
    Ok(tables)
}

fn read_table(folder: &mut Bundle, name: &str, limits: &Limits) -> Result<Option<CsvTable>> {
    folder.text(name)?.map(|text| CsvTable::parse(&text, b',', limits)).transpose()
}

/// Reads `gnan.toml`, or else the only `.toml` there is.
fn read_overrides(folder: &mut Bundle) -> Result<Overrides> {
    let mut names: Vec<_> = folder.names().filter(|name| name.ends_with(".toml")).map(str::to_string).collect();
    if let Some(own) = names.iter().position(|name| name == "gnan.toml") {
        names = vec![names.swap_remove(own)];
    }
    match names.as_slice() {
        [] => Ok(Overrides::default()),
        [name] => folder.text(name)?.map_or_else(|| Ok(Overrides::default()), |text| Overrides::parse(&text)),
        several => Err(Error::input(format!("there are several .toml files: {}", several.join(", ")))
            .in_file(folder.place(""))
            .remedy("call the one that describes the tables gnan.toml")),
    }
}

fn columns(table: &mut CsvTable, overrides: &Overrides) -> Result<Vec<Column>> {
    let typed = table.typed_columns()?;
    overrides.apply(typed, table)
}

/// Keeps the split that belongs to the task; a split of an undecided task decides it.
fn choose_split(tables: &mut Tables, of_graphs: Option<Vec<Part>>, of_nodes: Option<Vec<Part>>) {
    if tables.task.is_none() && of_nodes.is_some() {
        tables.task = Some(Task::Node);
    }
    let (used, unused, where_unused) = match tables.task {
        Some(Task::Node) => (of_nodes, of_graphs, GRAPHS),
        _ => (of_graphs, of_nodes, NODES),
    };
    if unused.is_some() {
        tables.notes.push(format!("the column split of {where_unused} is not used: the task is about the other table"));
    }
    tables.splits.extend(used);
}
