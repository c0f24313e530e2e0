//! The text format of Geom-GCN (Cornell, Texas, Wisconsin and others): a folder with `out1_node_feature_label.txt`,
//! `out1_graph_edges.txt`, both with a header line, and perhaps `splits/*.npz` with marks of the nodes in each part. Features are a
//! number for every word, or, where nodes have different numbers of them (as actors do), the numbers of the words that a node has.
//!
//! Pei et al., "Geom-GCN: geometric graph convolutional networks", 2020.

use std::collections::HashMap;
use std::path::Path;

use crate::arrays::Arrays;
use crate::edge_notes::note_directions;
use crate::word_columns::{CLASS, WordColumns};
use gnan::error::{Error, Result};
use gnan::files::ReadOptions;
use gnan::files::{Column, Kind, SplitPart, Tables, Task};
use gnan::files::{Format, itself};
use gnan::internals::files::columns::levels;
use gnan::internals::files::naming::{has_extension, name_of};
use gnan::internals::files::text::{Text, children};
use gnan::limits::Limits;

const NODES: &str = "out1_node_feature_label.txt";
const EDGES: &str = "out1_graph_edges.txt";
const MASKS: [&str; 3] = ["train_mask", "val_mask", "test_mask"];

pub const FORMAT: Format = Format {
    name: "Geom-GCN",
    appearance: "a folder with out1_node_feature_label.txt and out1_graph_edges.txt",
    detect: |path| [NODES, EDGES].iter().any(|name| path.join(name).is_file()),
    read,
    set_of: itself,
};

/// The classes of Texas, which some published copies hold in the place of Cornell's.
const CLASSES_OF_TEXAS: [usize; 5] = [33, 1, 18, 101, 30];

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let name = name_of(path);
    let mut tables = Tables { name: name.clone(), task: Some(Task::Node), ..Tables::default() };
    let nodes = Nodes::read(&Text::open(&path.join(NODES), &options.limits)?, &options.limits)?;
    tables.edges = nodes.read_edges(&Text::open(&path.join(EDGES), &options.limits)?, &options.limits)?;
    note_directions(&mut tables, options);
    if nodes.listed {
        tables.notes.push(
            "nodes have different numbers of features: these are the numbers of the words that they have".to_owned(),
        );
    }
    tables.splits = read_splits(&path.join("splits"), nodes.ids.len(), &options.limits)?;
    let size = |class: i64| nodes.labels.iter().filter(|label| **label == Some(class)).count();
    if name.eq_ignore_ascii_case("cornell") && CLASSES_OF_TEXAS == [0, 1, 2, 3, 4].map(size) {
        tables.notes.push("these are the features and labels of Texas, which some copies hold for Cornell".to_string());
    }
    let counted = (0..).zip(&nodes.ids).all(|(place, &id): (u64, _)| place == id);
    tables.node_ids = (!counted).then(|| nodes.ids.iter().map(u64::to_string).collect());
    tables.node_offsets = vec![0, nodes.ids.len()];
    tables.node_columns = nodes.words.columns(None);
    let classes = levels::of_numbers(&nodes.labels, |label| label.to_string());
    tables.node_columns.push(Column::new(CLASS, classes).with_kind(Kind::Categorical));
    tables.targets = vec![CLASS.to_string()];
    tables.graph_ids = vec![name];
    Ok(tables)
}

/// The nodes, by their numbers.
struct Nodes {
    ids: Vec<u64>,
    words: WordColumns,
    labels: Vec<Option<i64>>,
    /// Whether the words of every node are listed.
    listed: bool,
}

impl Nodes {
    fn read(text: &Text, limits: &Limits) -> Result<Nodes> {
        let mut rows = Vec::new();
        for (line, row) in text.lines().skip(1) {
            let cells: Vec<&str> = row.split('\t').collect();
            let [id, features, label] = cells[..] else {
                return Err(text.error(line, "this is not a node, its features and its label, with tabs between"));
            };
            let id =
                id.parse::<u64>().map_err(|_| text.error(line, format!("\"{id}\" is not the number of a node")))?;
            let label = label.parse::<i64>();
            let label = label.map_err(|error| text.error(line, "the label is not a whole number").caused_by(error))?;
            rows.push((id, line, features, label));
        }
        let in_file = |error: Error| error.in_file(&text.path);
        limits.check_nodes(rows.len() as u64).map_err(in_file)?;
        rows.sort_by_key(|&(id, line, ..)| (id, line));
        if let Some(pair) = rows.windows(2).find(|pair| pair[0].0 == pair[1].0) {
            return Err(text.error(pair[1].1, format!("node {} is already on line {}", pair[1].0, pair[0].1)));
        }
        let lists = word_lists(rows.iter().map(|row| (row.1, row.2)), text)?;
        let width = match &lists {
            Some(lists) => lists.iter().flatten().max().map_or(0, |word| u64::from(*word) + 1),
            None => rows.first().map_or(0, |row| row.2.split(',').count() as u64),
        };
        Limits::check(width, limits.features, "features").map_err(in_file)?;
        let mut words = WordColumns::new(rows.len(), width as usize);
        if let Some(lists) = &lists {
            for (node, list) in (0..).zip(lists) {
                list.iter().for_each(|word| words.add(node, *word, 1.0));
            }
        } else {
            for (node, &(_, line, features, _)) in (0..).zip(&rows) {
                for (word, cell) in (0..).zip(features.split(',')) {
                    let value = cell.trim().parse::<f64>().ok().filter(|value| value.is_finite());
                    let value = value.ok_or_else(|| text.error(line, format!("\"{cell}\" is not a number")))?;
                    if value != 0.0 {
                        words.add(node, word, value);
                    }
                }
            }
        }
        let ids = rows.iter().map(|row| row.0).collect();
        let labels = rows.iter().map(|row| Some(row.3).filter(|&label| label != -1)).collect();
        Ok(Nodes { ids, words, labels, listed: lists.is_some() })
    }

    fn read_edges(&self, text: &Text, limits: &Limits) -> Result<Vec<[u32; 2]>> {
        let place: HashMap<u64, u32> = self.ids.iter().copied().zip(0..).collect();
        let mut edges = Vec::new();
        for (line, pair) in text.lines().skip(1) {
            let end = |word: &str| {
                let node = word.parse().ok().and_then(|id: u64| place.get(&id).copied());
                node.ok_or_else(|| text.error(line, format!("node \"{word}\" is not in {NODES}")))
            };
            let ends: Vec<&str> = pair.split_whitespace().collect();
            let [source, target] = ends[..] else {
                return Err(text.error(line, format!("\"{pair}\" is not a pair of nodes")));
            };
            edges.push([end(source)?, end(target)?]);
        }
        Limits::check(edges.len() as u64, limits.edges, "edges").map_err(|error| error.in_file(&text.path))?;
        Ok(edges)
    }
}

/// The words of every node, where their numbers are listed: nodes then have different numbers of them, and none twice.
fn word_lists<'a>(rows: impl Iterator<Item = (u64, &'a str)> + Clone, text: &Text) -> Result<Option<Vec<Vec<u32>>>> {
    let count = |features: &str| features.split(',').count();
    let Some(expected) = rows.clone().next().map(|(_, features)| count(features)) else { return Ok(None) };
    let Some((line, other)) = rows.clone().find(|(_, features)| count(features) != expected) else { return Ok(None) };
    let list = |features: &str| {
        let cells = features.split(',').map(str::trim).filter(|cell| !cell.is_empty());
        let mut words = cells.map(|cell| cell.parse::<u32>().ok()).collect::<Option<Vec<u32>>>()?;
        words.sort_unstable();
        words.windows(2).all(|pair| pair[0] != pair[1]).then_some(words)
    };
    let lists: Option<Vec<Vec<u32>>> = rows.map(|(_, features)| list(features)).collect();
    let wrong = || text.error(line, format!("{} features, others have {expected}", count(other)));
    lists.map(Some).ok_or_else(wrong)
}

/// The splits in a folder, if there is one, in the order of the numbers that their names end in.
fn read_splits(folder: &Path, nodes: usize, limits: &Limits) -> Result<Vec<Vec<SplitPart>>> {
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let mut files: Vec<_> = children(folder)?.into_iter().filter(|file| has_extension(file, "npz")).collect();
    files.sort_by_key(|file| number(file));
    let mut splits = Vec::new();
    for file in files {
        splits.extend(Arrays::open(&file, limits)?.splits(MASKS, nodes)?);
    }
    Ok(splits)
}

fn number(file: &Path) -> Option<u64> {
    let stem = file.file_stem()?.to_str()?;
    let digits = stem.len() - stem.trim_end_matches(|letter: char| letter.is_ascii_digit()).len();
    stem[stem.len() - digits..].parse().ok()
}
