//! A table to be written to a file: named columns of numbers or words, some of them empty.

use crate::error::{Error, Result};
use crate::files::table::SPLIT;
use crate::files::table::edge_kinds::{BOND_COLUMN, LABEL_COLUMNS, bonds_of_labels};
use crate::files::table::text_column::MISSING_WORDS;
use crate::files::tables::{Column, MISSING, SplitPart, Tables, Task, Values};

/// The columns of one table, all of the same length.
pub struct WrittenTable<'a> {
    /// Names and cells.
    pub columns: Vec<(String, WrittenColumn<'a>)>,
    /// Number of rows.
    pub rows: usize,
}

/// The cells of a column.
pub enum WrittenColumn<'a> {
    /// Numbers; NaN is empty.
    Numbers(Box<dyn Fn(usize) -> f64 + 'a>),
    /// Words; none is empty.
    Text(Box<dyn Fn(usize) -> Option<std::borrow::Cow<'a, str>> + 'a>),
}

impl<'a> WrittenTable<'a> {
    /// The nodes: ids, graphs, columns, splits of a node task.
    pub fn nodes(tables: &'a Tables) -> Result<WrittenTable<'a>> {
        let mut columns = Vec::new();
        let graph_of = graph_of_node(tables);
        let position = {
            let graph_of = graph_of.clone();
            move |node: usize| node - tables.node_offsets[graph_of[node] as usize]
        };
        columns.push((
            "node_id".to_string(),
            words(move |node| match &tables.node_ids {
                Some(ids) => Some(ids[node].as_str().into()),
                None => Some(position(node).to_string().into()),
            }),
        ));
        if needs_graphs(tables) {
            let id = move |node: usize| Some(tables.graph_ids[graph_of[node] as usize].as_str().into());
            columns.push(("graph_id".to_string(), words(id)));
        }
        columns.extend(tables.node_columns.iter().map(|column| (column.name.clone(), cells(column))));
        if tables.task == Some(Task::Node) {
            columns.extend(splits(tables));
        }
        WrittenTable { columns, rows: tables.nodes() }.checked(tables.node_ids.as_deref())
    }

    /// The edges: their ends, what is known of each.
    pub fn edges(tables: &'a Tables) -> WrittenTable<'a> {
        let graph_of = std::rc::Rc::new(graph_of_node(tables));
        let id = |end: usize| {
            let graph_of = graph_of.clone();
            words(move |edge: usize| {
                let node = tables.edges[edge][end] as usize;
                match &tables.node_ids {
                    Some(ids) => Some(ids[node].as_str().into()),
                    None => Some((node - tables.node_offsets[graph_of[node] as usize]).to_string().into()),
                }
            })
        };
        let mut columns = vec![("source".to_string(), id(0)), ("target".to_string(), id(1))];
        if needs_graphs(tables) {
            let graph_of = graph_of.clone();
            let id = move |edge: usize| {
                let [node, _] = tables.edges[edge];
                Some(tables.graph_ids[graph_of[node as usize] as usize].as_str().into())
            };
            columns.push(("graph_id".to_string(), words(id)));
        }
        if let Some(labels) = &tables.edge_labels {
            columns.push((label_name(labels).to_string(), cells(labels)));
        }
        columns.extend(tables.edge_numbers.iter().map(|column| (column.name.clone(), cells(column))));
        if let Some(bonds) = tables.bonds.as_ref().filter(|_| !bonds_follow(tables)) {
            columns.push((BOND_COLUMN.to_string(), words(move |edge| Some(bonds[edge].name().into()))));
        }
        WrittenTable { columns, rows: tables.edges.len() }
    }

    /// The graphs: ids, columns, splits of a graph task; `None` if there is nothing known of them.
    pub fn graphs(tables: &'a Tables) -> Result<Option<WrittenTable<'a>>> {
        if !needs_graphs(tables) {
            return Ok(None);
        }
        let id = move |graph: usize| Some(tables.graph_ids[graph].as_str().into());
        let mut columns = vec![("graph_id".to_string(), words(id))];
        columns.extend(tables.graph_columns.iter().map(|column| (column.name.clone(), cells(column))));
        if tables.task != Some(Task::Node) {
            columns.extend(splits(tables));
        }
        WrittenTable { columns, rows: tables.graphs() }.checked(Some(&tables.graph_ids)).map(Some)
    }

    /// Refuses names that would read back as something else.
    fn checked(self, ids: Option<&[String]>) -> Result<WrittenTable<'a>> {
        let mut names: Vec<&str> = self.columns.iter().map(|(name, _)| name.as_str()).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(Error::input(format!("a column is called \"{}\", which tables use themselves", pair[0])));
        }
        let lost = |name: &&str| name.is_empty() || name.trim() != *name;
        match names.into_iter().chain(ids.into_iter().flatten().map(String::as_str)).find(lost) {
            Some(name) => Err(Error::input(format!(
                "the name \"{name}\" is empty or has spaces around it: tables cannot hold it"
            ))),
            None => Ok(self),
        }
    }
}

/// Whether the graphs need a table: there are several, or they have columns or names of their own.
pub fn needs_graphs(tables: &Tables) -> bool {
    tables.graph_ids != [tables.name.as_str()] || !tables.graph_columns.is_empty() || tables.task != Some(Task::Node)
}

/// The column of edge labels in a file.
pub fn label_name(labels: &Column) -> &str {
    if LABEL_COLUMNS.contains(&labels.name.as_str()) { &labels.name } else { LABEL_COLUMNS[0] }
}

/// Whether the bonds follow from the labels of the edges alone.
fn bonds_follow(tables: &Tables) -> bool {
    tables.edge_labels.as_ref().and_then(bonds_of_labels) == tables.bonds
}

fn graph_of_node(tables: &Tables) -> Vec<u32> {
    let sizes = tables.node_offsets.windows(2).map(|range| range[1] - range[0]);
    (0u32..).zip(sizes).flat_map(|(graph, nodes)| std::iter::repeat_n(graph, nodes)).collect()
}

fn splits(tables: &Tables) -> impl Iterator<Item = (String, WrittenColumn<'_>)> {
    tables.splits.iter().enumerate().map(|(place, split)| {
        let name = if place == 0 { SPLIT.to_string() } else { format!("{SPLIT}_{}", place + 1) };
        let word = move |item: usize| match split[item] {
            SplitPart::Train => Some("train".into()),
            SplitPart::Valid => Some("valid".into()),
            SplitPart::Test => Some("test".into()),
            SplitPart::Unused => None,
        };
        (name, words(word))
    })
}

/// The cells of a column. Where a level looks like a missing value, a missing value looks like none of the levels.
fn cells(column: &Column) -> WrittenColumn<'_> {
    match &column.values {
        Values::Numbers(numbers) if !column.bounds.is_empty() => words(move |row| {
            let bound = column.bounds.binary_search_by_key(&(row as u32), |bound| bound.row);
            match bound {
                Ok(place) => Some(column.bounds[place].cell().into()),
                Err(_) => Some(numbers[row]).filter(|number| !number.is_nan()).map(|number| number_text(number).into()),
            }
        }),
        Values::Numbers(numbers) => WrittenColumn::Numbers(Box::new(|row| numbers[row])),
        Values::Sparse { rows, values, .. } => {
            WrittenColumn::Numbers(Box::new(|row| rows.binary_search(&(row as u32)).map_or(0.0, |place| values[place])))
        }
        Values::Categories { codes, levels } => {
            let free = MISSING_WORDS.into_iter().find(|word| !levels.iter().any(|level| level.trim() == *word));
            let missing = free.filter(|word| !word.is_empty());
            words(move |row| match codes[row] {
                MISSING => missing.map(Into::into),
                code => Some(levels[code as usize].as_str().into()),
            })
        }
    }
}

fn words<'a>(word: impl Fn(usize) -> Option<std::borrow::Cow<'a, str>> + 'a) -> WrittenColumn<'a> {
    WrittenColumn::Text(Box::new(word))
}

/// The shortest text that reads back as the same number; nothing for NaN.
pub fn number_text(number: f64) -> String {
    const PLAIN: std::ops::Range<f64> = 1e-5..1e16;
    match number {
        _ if number.is_nan() => String::new(),
        _ if number == 0.0 || PLAIN.contains(&number.abs()) => number.to_string(),
        _ => format!("{number:e}"),
    }
}
