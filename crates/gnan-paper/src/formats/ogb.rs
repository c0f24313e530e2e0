//! Node tasks of the Open Graph Benchmark: a folder with `raw/edge.csv`, `raw/num-node-list.csv`, `raw/node-label.csv`,
//! perhaps `raw/node-feat.csv` and `raw/node_year.csv`; `split/<scheme>/train.csv`, `valid.csv` and `test.csv`; and
//! `mapping/labelidx2<what>.csv`. Any of them may be compressed (`.csv.gz`).
//!
//! Hu et al., "Open graph benchmark: datasets for machine learning on graphs", 2020.

use std::path::{Path, PathBuf};

use crate::compressed_files;
use crate::edge_notes::note_directions;
use crate::word_columns::CLASS;
use gnan::error::{Error, Result};
use gnan::files::ReadOptions;
use gnan::files::{Column, Kind, SplitPart, Tables, Task};
use gnan::files::{Format, itself};
use gnan::internals::files::columns::label_map::Names;
use gnan::internals::files::columns::number_table::NumberTable;
use gnan::internals::files::naming::name_of;
use gnan::internals::files::table::csv_table;
use gnan::internals::files::text::{Text, children};
use gnan::limits::Limits;

const EDGES: &str = "raw/edge.csv";
const NODE_COUNT: &str = "raw/num-node-list.csv";
const LABELS: &str = "raw/node-label.csv";
const FEATURES: &str = "raw/node-feat.csv";
const YEARS: &str = "raw/node_year.csv";

pub const FORMAT: Format = Format {
    name: "OGB",
    appearance: "a folder with raw/edge.csv.gz, raw/num-node-list.csv.gz and raw/node-label.csv.gz",
    detect: |path| [EDGES, NODE_COUNT, LABELS].iter().any(|name| compressed_files::find(&path.join(name)).is_some()),
    read,
    set_of: itself,
};

/// The files of one set.
struct Folder<'a> {
    path: &'a Path,
    limits: &'a Limits,
}

impl Folder<'_> {
    fn text(&self, name: &str) -> Result<Option<Text>> {
        compressed_files::find(&self.path.join(name)).map(|path| Text::open(&path, self.limits)).transpose()
    }

    fn required(&self, name: &str) -> Result<Text> {
        compressed_files::open_either(&self.path.join(name), self.limits)
    }

    fn numbers(&self, name: &str, nodes: usize) -> Result<Option<NumberTable>> {
        let table = self.text(name)?.map(|text| NumberTable::parse(&text, self.limits)).transpose()?;
        table.map(|table| table.with_rows(nodes, "nodes")).transpose()
    }

    /// The files and folders inside a folder of the set, if it is there.
    fn children(&self, name: &str) -> Result<Vec<PathBuf>> {
        let path = self.path.join(name);
        if path.is_dir() { children(&path) } else { Ok(Vec::new()) }
    }
}

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let folder = Folder { path, limits: &options.limits };
    let name = name_of(path);
    let mut tables = Tables { name: name.clone(), task: Some(Task::Node), ..Tables::default() };
    let labels = NumberTable::parse(&folder.required(LABELS)?, folder.limits)?;
    let nodes = labels.rows();
    options.limits.check_nodes(nodes as u64).map_err(|error| error.in_file(path.join(LABELS)))?;
    check_node_count(&folder.required(NODE_COUNT)?, nodes)?;
    tables.edges = read_edges(&folder.required(EDGES)?, nodes, folder.limits)?;
    note_directions(&mut tables, options);

    tables.node_columns = read_features(&folder, nodes, &mut tables.notes)?;
    let mut labels = labels.labels(&[class_names(&folder)?])?;
    match &mut labels[..] {
        [] => return Err(Error::input("there are no labels").in_file(path.join(LABELS))),
        [only] => only.name = CLASS.to_string(),
        several => several.iter_mut().for_each(|column| column.kind = Some(Kind::Categorical)),
    }
    tables.targets = labels.iter().map(|column| column.name.clone()).collect();
    tables.node_columns.extend(labels);
    tables.splits = read_split(&folder, nodes, &mut tables.notes)?.into_iter().collect();
    tables.node_offsets = vec![0, nodes];
    tables.graph_ids = vec![name];
    Ok(tables)
}

fn check_node_count(text: &Text, nodes: usize) -> Result<()> {
    let counts: Vec<_> = text.lines().collect();
    match counts[..] {
        [(line, word)] => match word.parse::<u64>() {
            Ok(count) if count == nodes as u64 => Ok(()),
            _ => Err(text.error(line, format!("\"{word}\" nodes, but there are labels for {nodes}"))),
        },
        _ => {
            Err(Error::input(format!("{} graphs, but gnan reads OGB sets of one graph", counts.len()))
                .in_file(&text.path))
        }
    }
}

fn read_features(folder: &Folder, nodes: usize, notes: &mut Vec<String>) -> Result<Vec<Column>> {
    let years = folder.numbers(YEARS, nodes)?;
    if let Some(features) = folder.numbers(FEATURES, nodes)? {
        if years.is_some() {
            notes.push(format!("{YEARS} is not used"));
        }
        let named = |(number, column)| Column { name: format!("feature_{number}"), ..column };
        return Ok(features.attributes().into_iter().enumerate().map(named).collect());
    }
    let instead = if years.is_some() { "; the year is the only feature" } else { "" };
    notes.push(format!("node features are missing: there is no {FEATURES}.gz{instead}"));
    let year = years.into_iter().flat_map(NumberTable::attributes).take(1);
    Ok(year.map(|column| Column { name: "year".to_string(), kind: Some(Kind::Continuous), ..column }).collect())
}

/// Names of the classes, from the second column of the table that maps labels to them.
fn class_names(folder: &Folder) -> Result<Names> {
    let is_map = |path: &PathBuf| {
        path.is_file() && path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("labelidx2"))
    };
    let Some(path) = folder.children("mapping")?.into_iter().find(is_map) else { return Ok(Names::new()) };
    let mut table = csv_table::parse(&Text::open(&path, folder.limits)?, b',', folder.limits)?;
    let columns: Vec<String> = table.names().take(2).map(str::to_string).collect();
    let mut take = |place: usize| columns.get(place).and_then(|name| table.take(name));
    let (Some(labels), Some(names)) = (take(0), take(1)) else { return Ok(Names::new()) };
    let entry = |(row, (label, name)): (usize, (&str, &str))| match label.parse() {
        Ok(label) => Ok((label, name.to_string())),
        Err(_) => {
            let message = format!("\"{label}\" in column \"{}\" is not the number of a class", columns[0]);
            Err(table.error(row, message).in_column(&columns[0]))
        }
    };
    labels.iter().zip(names.iter()).enumerate().map(entry).collect()
}

fn read_edges(text: &Text, nodes: usize, limits: &Limits) -> Result<Vec<[u32; 2]>> {
    let mut edges = Vec::new();
    for (line, pair) in text.lines() {
        let (source, target) =
            pair.split_once(',').ok_or_else(|| text.error(line, format!("\"{pair}\" is not an edge such as 1,2")))?;
        edges.push([node(text, line, source, nodes)?, node(text, line, target, nodes)?]);
    }
    Limits::check(edges.len() as u64, limits.edges, "edges").map_err(|error| error.in_file(&text.path))?;
    Ok(edges)
}

fn node(text: &Text, line: u64, word: &str, nodes: usize) -> Result<u32> {
    let node = word.trim().parse().ok().filter(|&node: &u32| (node as usize) < nodes);
    node.ok_or_else(|| text.error(line, format!("\"{word}\" is not a node from 0 to below {nodes}")))
}

/// The split of the first scheme, if there is any.
fn read_split(folder: &Folder, nodes: usize, notes: &mut Vec<String>) -> Result<Option<Vec<SplitPart>>> {
    let schemes: Vec<_> = folder.children("split")?.into_iter().filter(|path| path.is_dir()).collect();
    let Some(scheme) = schemes.first() else { return Ok(None) };
    if schemes.len() > 1 {
        notes.push(format!("of {} splits, that in {} is used", schemes.len(), scheme.display()));
    }
    let scheme = Folder { path: scheme, limits: folder.limits };
    let mut parts = vec![SplitPart::Unused; nodes];
    for (name, part) in
        [("train.csv", SplitPart::Train), ("valid.csv", SplitPart::Valid), ("test.csv", SplitPart::Test)]
    {
        let text = scheme.required(name)?;
        for (line, word) in text.lines() {
            let slot = &mut parts[node(&text, line, word, nodes)? as usize];
            if *slot != SplitPart::Unused {
                return Err(text.error(line, format!("node {word} is listed twice in the split")));
            }
            *slot = part;
        }
    }
    Ok(Some(parts))
}
