//! From tables of nodes, edges and graphs to [`Tables`], for every format that has them.
//!
//! The table of nodes has a `node_id`, a `graph_id` if there are several graphs, and a column per feature; that of the
//! edges has `source` and `target` and perhaps a `label`; that of the graphs has a `graph_id` and a column per target. Other
//! names of these columns are recognised as well: see [`IdNames`]. A column `split` in the table of the task says what is for training. Columns and rows may come in any order.

use crate::error::Result;
use crate::files::row_selection::RowSelection;
use crate::files::table::edge_kinds::EdgeKinds;
use crate::files::table::id_columns::IdNames;
use crate::files::table::id_index::{GraphIndex, NodeIndex, read_edges};
use crate::files::table::overrides::Overrides;
use crate::files::table::{Table, quoted};
use crate::files::tables::{Column, SplitPart, Tables, Task, Values};
use crate::limits::Limits;

/// What an id takes: itself as text, its place in the index, and its graph.
const BYTES_OF_AN_ID: u64 = 56 + 72 + 12;

/// The tables of one data set.
pub struct Assembly {
    /// What the data set is called if nothing else says so.
    pub name: String,
    /// The nodes.
    pub nodes: Table,
    /// The edges; without, the graphs have none.
    pub edges: Option<Table>,
    /// The graphs; without, they are those that the nodes name.
    pub graphs: Option<Table>,
    /// What else is known of the columns.
    pub overrides: Overrides,
    /// How the columns of ids are called.
    pub ids: IdNames,
}

impl Assembly {
    /// Puts the tables together.
    pub fn assemble(self, limits: &Limits) -> Result<Tables> {
        let Assembly { name, mut nodes, mut edges, mut graphs, overrides, ids } = self;
        let too_many_in = |table: &Table| table.path().to_path_buf();
        let place = too_many_in(&nodes);
        limits.check_nodes(nodes.rows() as u64).map_err(|error| error.in_file(&place))?;
        let name = overrides.name.clone().unwrap_or(name);
        let edge_rows = edges.as_ref().map_or(0, Table::rows) as u64;
        let needed = nodes.rows() as u64 * BYTES_OF_AN_ID + edge_rows * size_of::<[u32; 2]>() as u64;
        limits.memory.demand(needed, "the ids and edges of these tables").map_err(|error| error.in_file(&place))?;
        let graph_of_node = ids.take_graph_ids(&mut nodes)?;
        let node_ids = ids.take_node_ids(&mut nodes)?;
        let graph_ids = graphs.as_mut().map(|graphs| ids.take_own_graph_ids(graphs)).transpose()?;
        let index = GraphIndex::new(&name, &nodes, graph_of_node.as_ref(), graphs.as_ref().zip(graph_ids.as_ref()))?;
        limits.check_graphs(index.ids.len() as u64).map_err(|error| error.in_file(&place))?;
        let node_index = NodeIndex::new(&node_ids, &nodes, &index)?;

        let mut tables = Tables { name, directed: overrides.directed.unwrap_or(false), ..Tables::default() };
        check_names(&overrides, &nodes, edges.as_ref(), graphs.as_ref())?;
        let node_splits = nodes.take_splits()?;
        let node_columns = overrides.columns(&mut nodes, "nodes")?;
        let mut graph_splits = Vec::new();
        if let Some(graphs) = &mut graphs {
            graph_splits = graphs.take_splits()?;
            tables.graph_columns = overrides.columns(graphs, "graphs")?;
            tables.notes.append(&mut graphs.notes);
        }
        tables.notes.append(&mut nodes.notes);

        let (order, offsets) = RowSelection::grouped(&index.graph_of_node, index.ids.len());
        match &mut edges {
            Some(edges) => {
                // Grouping drops no node, so edges keep their order and their labels.
                let edge_rows = read_edges(edges, &ids, &node_index, &index, limits)?;
                tables.edges = order.edges(edge_rows);
                overrides.declare_cells(edges, "edges");
                let kinds = EdgeKinds::take(edges)?;
                (tables.edge_labels, tables.bonds) = (kinds.labels, kinds.bonds);
                let (numbers, others): (Vec<_>, Vec<_>) =
                    edges.typed_columns()?.into_iter().partition(|column| matches!(column.values, Values::Numbers(_)));
                tables.notes.extend(numbers.iter().filter_map(|column| column.note.clone()));
                tables.edge_numbers = numbers;
                tables.notes.append(&mut edges.notes);
                tables.notes.extend(unused(&edges.file_name(), &others));
            }
            None => tables.notes.push("there is no table of edges: the graphs have no edges".to_string()),
        }
        tables.targets = overrides.targets();
        tables.task = overrides.task.or(if !tables.graph_columns.is_empty() || !graph_splits.is_empty() {
            Some(Task::Graph)
        } else {
            (index.ids.len() == 1).then_some(Task::Node)
        });
        let node_splits = node_splits.iter().map(|parts| order.items(parts)).collect();
        choose_splits(&mut tables, graph_splits, node_splits);
        tables.node_ids = Some(order.map(|row| node_ids.get(row).to_string()));
        tables.node_columns = node_columns.into_iter().map(|column| order.column(column)).collect();
        tables.node_offsets = offsets;
        tables.graph_ids = index.ids;
        Ok(tables)
    }
}

fn check_names(overrides: &Overrides, nodes: &Table, edges: Option<&Table>, graphs: Option<&Table>) -> Result<()> {
    let tables = [("nodes", Some(nodes)), ("edges", edges), ("graphs", graphs)];
    let tables = tables.into_iter().filter_map(|(of, table)| Some((of, table?)));
    let names: Vec<_> = tables.flat_map(|(of, table)| table.names().map(move |name| (of, name))).collect();
    overrides.check_names(&names)
}

/// A note about the columns of the edges that nothing uses.
fn unused(file: &str, others: &[Column]) -> Option<String> {
    let names: Vec<_> = others.iter().map(|column| quoted(&column.name)).collect();
    let words = if names.len() == 1 { "column of the edges is" } else { "columns of the edges are" };
    (!names.is_empty()).then(|| format!("{file}: {} {words} not used", names.join(", ")))
}

/// Keeps the splits that belong to the task; splits of an undecided task decide it.
fn choose_splits(tables: &mut Tables, of_graphs: Vec<Vec<SplitPart>>, of_nodes: Vec<Vec<SplitPart>>) {
    if tables.task.is_none() && !of_nodes.is_empty() {
        tables.task = Some(Task::Node);
    }
    let (used, unused, where_unused) = match tables.task {
        Some(Task::Node) => (of_nodes, of_graphs, "graphs"),
        _ => (of_graphs, of_nodes, "nodes"),
    };
    if !unused.is_empty() {
        let note = format!("the column split of the {where_unused} is not used: the task is about the other table");
        tables.notes.push(note);
    }
    tables.splits = used;
}
