//! The check that every data set passes, whichever reader it comes from.

use std::collections::HashSet;

use crate::error::{Error, Result};
use crate::files::table::quoted;
use crate::files::tables::{Column, MISSING, Tables, Task, Values};
use crate::limits::Limits;

/// Accepts tables that hold together and respect the limits.
pub fn check(tables: &Tables, limits: &Limits) -> Result<()> {
    check_sizes(tables, limits)?;
    check_ids(tables)?;
    check_edges(tables)?;
    check_columns(&tables.node_columns, tables.nodes(), "nodes")?;
    check_columns(&tables.graph_columns, tables.graphs(), "graphs")?;
    if let Some(labels) = &tables.edge_labels {
        check_columns(std::slice::from_ref(labels), tables.edges.len(), "edges")?;
        let categories = matches!(labels.values, Values::Categories { .. });
        demand(categories, || format!("column \"{}\" of the edges is not made of categories", labels.name))?;
    }
    check_columns(&tables.edge_numbers, tables.edges.len(), "edges")?;
    let numbers = tables.edge_numbers.iter().all(|column| matches!(column.values, Values::Numbers(_)));
    demand(numbers, || "a column of numbers of the edges is not made of numbers".to_owned())?;
    check_task(tables)
}

fn check_sizes(tables: &Tables, limits: &Limits) -> Result<()> {
    let columns = tables.node_columns.len().max(tables.graph_columns.len());
    limits.check_graphs(tables.graphs() as u64)?;
    limits.check_nodes(tables.nodes() as u64)?;
    Limits::check(tables.edges.len() as u64, limits.edges, "edges")?;
    Limits::check(columns as u64, limits.features, "columns")?;
    if tables.graphs() == 0 {
        return Err(Error::input("this data set is empty: it has no graphs"));
    }
    let offsets = &tables.node_offsets;
    let ordered = offsets.first() == Some(&0) && offsets.is_sorted();
    demand(ordered && offsets.len() == tables.graphs() + 1, || "the nodes of the graphs do not line up".to_string())
}

fn check_ids(tables: &Tables) -> Result<()> {
    if let Some(id) = repeated(tables.graph_ids.iter()) {
        return Err(Error::input(format!("more than one graph is called \"{id}\"")));
    }
    let Some(ids) = &tables.node_ids else { return Ok(()) };
    demand(ids.len() == tables.nodes(), || format!("{} node ids for {} nodes", ids.len(), tables.nodes()))?;
    for (graph, range) in tables.node_offsets.windows(2).enumerate() {
        if let Some(id) = repeated(ids[range[0]..range[1]].iter()) {
            let graph = &tables.graph_ids[graph];
            return Err(Error::input(format!("more than one node of graph \"{graph}\" is called \"{id}\"")));
        }
    }
    Ok(())
}

fn check_edges(tables: &Tables) -> Result<()> {
    let nodes = tables.nodes();
    if let Some(bonds) = &tables.bonds {
        let edges = tables.edges.len();
        demand(bonds.len() == edges, || format!("{} orders of bonds for {edges} edges", bonds.len()))?;
    }
    let graph_of = |node: u32| tables.node_offsets.partition_point(|&offset| offset <= node as usize);
    for &[source, target] in &tables.edges {
        demand((source as usize) < nodes && (target as usize) < nodes, || {
            format!("an edge joins nodes {source} and {target}, but there are {nodes} nodes")
        })?;
        demand(graph_of(source) == graph_of(target), || {
            format!("an edge joins nodes {source} and {target} of different graphs")
        })?;
    }
    Ok(())
}

fn check_columns(columns: &[Column], rows: usize, what: &str) -> Result<()> {
    if let Some(name) = repeated(columns.iter().map(|column| &column.name)) {
        return Err(Error::input(format!("more than one column of the {what} is called \"{name}\"")));
    }
    for column in columns {
        let name = &column.name;
        let found = column.values.len();
        demand(found == rows, || format!("column \"{name}\" has {found} values for {rows} {what}"))?;
        let sound = match &column.values {
            Values::Numbers(numbers) => !numbers.iter().any(|number| number.is_infinite()),
            Values::Categories { codes, levels } => {
                let known = |&code: &u32| code == MISSING || (code as usize) < levels.len();
                codes.iter().all(known) && repeated(levels.iter()).is_none()
            }
            Values::Sparse { len, rows, values } => {
                rows.len() == values.len()
                    && rows.is_sorted_by(|a, b| a < b)
                    && rows.last().is_none_or(|&last| (last as usize) < *len)
                    && !values.iter().any(|value| value.is_infinite())
            }
        };
        demand(sound, || format!("column \"{name}\" holds an infinite or impossible value"))?;
    }
    Ok(())
}

fn check_task(tables: &Tables) -> Result<()> {
    let columns = match tables.task {
        Some(Task::Node) => vec![&tables.node_columns],
        Some(Task::Graph) => vec![&tables.graph_columns],
        None => vec![&tables.graph_columns, &tables.node_columns],
    };
    let names: Vec<_> = columns.into_iter().flatten().map(|column| column.name.as_str()).collect();
    if let Some(target) = tables.targets.iter().find(|target| !names.contains(&target.as_str())) {
        let names: Vec<_> = names.into_iter().map(quoted).collect();
        let message =
            format!("the target \"{target}\" is not a column of the task; the columns are {}", names.join(", "));
        return Err(Error::input(message));
    }
    let items = if tables.task == Some(Task::Node) { tables.nodes() } else { tables.graphs() };
    let lengths = tables.splits.iter().all(|split| split.len() == items);
    demand(lengths, || format!("a split does not have one part for each of the {items} items"))
}

fn repeated<T: std::hash::Hash + Eq + Copy>(items: impl Iterator<Item = T>) -> Option<T> {
    let mut seen = HashSet::new();
    items.into_iter().find(|item| !seen.insert(*item))
}

fn demand(holds: bool, message: impl FnOnce() -> String) -> Result<()> {
    if holds { Ok(()) } else { Err(Error::input(message())) }
}
