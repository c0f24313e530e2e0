//! Citation graphs in compressed sparse rows as arrays in an `.npz` archive, the form that Pro-GNN and others use.
//!
//! `adj_data`, `adj_indices`, `adj_indptr` and `adj_shape` are who cites whom, `attr_*` the words of the papers,
//! `labels` their classes; `node_names`, `attr_names` and `class_names` may be there.
//!
//! Shchur et al., "Pitfalls of graph neural network evaluation", 2018.

use std::path::Path;

use crate::arrays::{self, Arrays};
use crate::edge_notes::note_directions;
use crate::word_columns::{CLASS, WordColumns};
use gnan::error::Result;
use gnan::files::ReadOptions;
use gnan::files::{Column, Kind, Tables, Task};
use gnan::files::{Format, itself};
use gnan::internals::files::columns::levels;
use gnan::internals::files::naming::name_of;
use gnan::limits::Limits;

pub const FORMAT: Format = Format {
    name: "citation arrays",
    appearance: "an .npz file with adj_data, adj_indices, adj_indptr, adj_shape, the same of attr, and labels",
    detect: |path| arrays::holds(path, "adj_indptr") == Some(true),
    read,
    set_of: itself,
};

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let mut arrays = Arrays::open(path, &options.limits)?;
    let name = name_of(path);
    let mut tables = Tables { name: name.clone(), task: Some(Task::Node), ..Tables::default() };
    let adjacency = arrays.sparse_rows("adj")?;
    let nodes = adjacency.rows();
    if adjacency.columns != nodes {
        return Err(arrays.error("adj_shape", "this should be as many rows as columns"));
    }
    for source in 0..nodes {
        tables.edges.extend(adjacency.row(source).map(|(target, _)| [source as u32, target]));
    }
    Limits::check(tables.edges.len() as u64, options.limits.edges, "edges")
        .map_err(|error| error.in_file(arrays.place("adj_indptr")))?;
    note_directions(&mut tables, options);

    let attributes = arrays.sparse_rows("attr")?;
    Limits::check(attributes.columns as u64, options.limits.features, "features")
        .map_err(|error| error.in_file(arrays.place("attr_shape")))?;
    if attributes.rows() != nodes {
        return Err(arrays.error("attr_shape", format!("{} rows for {nodes} nodes", attributes.rows())));
    }
    let mut words = WordColumns::new(nodes, attributes.columns);
    for node in 0..nodes {
        attributes.row(node).for_each(|(word, value)| words.add(node as u32, word, value));
    }
    let vocabulary = names(&mut arrays, "attr_names", words.len())?;
    tables.node_columns = words.columns(vocabulary);

    let labels = arrays.labels("labels", nodes)?;
    let highest =
        labels.iter().flatten().max().map_or(0, |&highest| usize::try_from(highest).map_or(0, |highest| highest + 1));
    let classes = names(&mut arrays, "class_names", highest)?.unwrap_or_default();
    let class = |label: i64| {
        let class = usize::try_from(label).ok().and_then(|label| classes.get(label));
        class.cloned().unwrap_or_else(|| label.to_string())
    };
    tables.node_columns.push(Column::new(CLASS, levels::of_numbers(&labels, class)).with_kind(Kind::Categorical));
    tables.targets = vec![CLASS.to_string()];
    tables.node_ids = names(&mut arrays, "node_names", nodes)?;
    tables.node_offsets = vec![0, nodes];
    tables.graph_ids = vec![name];
    Ok(tables)
}

fn names(arrays: &mut Arrays, name: &str, count: usize) -> Result<Option<Vec<String>>> {
    if arrays.contains(name) { arrays.words(name, count).map(Some) } else { Ok(None) }
}
