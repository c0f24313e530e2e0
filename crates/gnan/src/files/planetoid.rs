//! The Planetoid citation graphs (Cora, Citeseer, PubMed) as arrays in an `.npz` archive.
//!
//! `feat_data`, `feat_indices`, `feat_indptr` and `feat_shape` are the words of the papers in compressed rows,
//! `labels` their classes (-1: not known), `edges` the citations, and `train_idx`, `val_idx` and `test_idx` the public split.
//!
//! Yang, Cohen, Salakhutdinov, "Revisiting semi-supervised learning with graph embeddings", 2016.

use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::limits::Limits;

use super::bundle::Bundle;
use super::npy::{self, Array};
use super::tables::{Column, Kind, MISSING, Part, Tables, Task, Values};
use super::{Format, ReadOptions, has_extension, levels, name_of};

const MARK: &str = "feat_indptr.npy";

pub const FORMAT: Format = Format {
    name: "Planetoid arrays",
    appearance: "an .npz file with feat_data, feat_indices, feat_indptr, feat_shape, labels and edges",
    detect: |path| {
        let fits = |path| Bundle::open(path, &Limits::default()).map_or(true, |archive| archive.contains(MARK));
        has_extension(path, "npz") && fits(path)
    },
    read,
};

/// Classes of the well-known sets, which the arrays do not name, with the number of papers that identifies each.
const KNOWN_CLASSES: &[(&str, &[(&str, usize)])] = &[
    (
        "cora",
        &[
            ("Theory", 351),
            ("Reinforcement_Learning", 217),
            ("Genetic_Algorithms", 418),
            ("Neural_Networks", 818),
            ("Probabilistic_Methods", 426),
            ("Case_Based", 298),
            ("Rule_Learning", 180),
        ],
    ),
    ("citeseer", &[("AI", 249), ("ML", 590), ("IR", 668), ("DB", 701), ("Agents", 596), ("HCI", 508)]),
];

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let mut arrays = Arrays { archive: Bundle::open(path, &options.limits)? };
    let name = name_of(path);
    let features = read_features(&mut arrays, &options.limits)?;
    let nodes = features.nodes;
    let mut tables = Tables { name: name.clone(), task: Some(Task::Node), ..Tables::default() };
    tables.edges = read_edges(&mut arrays, nodes, &options.limits)?;
    tables.splits = vec![read_split(&mut arrays, nodes)?];
    tables.node_columns = features.columns();
    tables.node_columns.push(read_classes(&mut arrays, nodes, &name)?);
    tables.targets = vec!["class".to_string()];
    tables.node_offsets = vec![0, nodes];
    tables.graph_ids = vec![name];
    Ok(tables)
}

/// The arrays of the archive.
struct Arrays {
    archive: Bundle,
}

impl Arrays {
    fn place(&self, name: &str) -> PathBuf {
        self.archive.place(&format!("{name}.npy"))
    }

    fn bytes(&mut self, name: &str) -> Result<Vec<u8>> {
        let bytes = self.archive.bytes(&format!("{name}.npy"))?;
        bytes.ok_or_else(|| self.error(name, "this array is missing"))
    }

    fn integers(&mut self, name: &str) -> Result<Array<i64>> {
        npy::integers(&self.bytes(name)?, &self.place(name))
    }

    fn numbers(&mut self, name: &str) -> Result<Array<f64>> {
        npy::numbers(&self.bytes(name)?, &self.place(name))
    }

    fn error(&self, name: &str, message: impl Into<String>) -> Error {
        Error::input(message).in_file(self.place(name))
    }

    /// A number of an array as an index below `bound`.
    fn index(&self, name: &str, value: i64, bound: usize) -> Result<u32> {
        let index = u32::try_from(value).ok().filter(|&index| (index as usize) < bound);
        index.ok_or_else(|| self.error(name, format!("{value} is not an index from 0 to below {bound}")))
    }
}

/// The words: for each column the nodes that have it (ascending) and how strongly.
struct Features {
    nodes: usize,
    words: Vec<(Vec<u32>, Vec<f64>)>,
}

fn read_features(arrays: &mut Arrays, limits: &Limits) -> Result<Features> {
    let shape = arrays.integers("feat_shape")?.values;
    let (nodes, words) = match shape.as_slice() {
        [nodes, words] if *nodes >= 0 && *words >= 0 => (*nodes as u64, *words as u64),
        _ => return Err(arrays.error("feat_shape", "this should be a number of nodes and a number of words")),
    };
    let place = arrays.place("feat_shape");
    Limits::check(nodes, limits.nodes.min(MISSING.into()), "nodes").map_err(|error| error.in_file(&place))?;
    Limits::check(words, limits.features, "features").map_err(|error| error.in_file(&place))?;
    let (nodes, words) = (nodes as usize, words as usize);
    let pointers = arrays.integers("feat_indptr")?.values;
    let indices = arrays.integers("feat_indices")?.values;
    let data = arrays.numbers("feat_data")?.values;
    let rows_fit = pointers.len() == nodes + 1 && pointers.first() == Some(&0) && pointers.is_sorted();
    if !rows_fit || pointers.last() != Some(&(data.len() as i64)) || indices.len() != data.len() {
        return Err(
            arrays.error("feat_indptr", "the compressed rows do not fit feat_shape, feat_indices and feat_data")
        );
    }
    let mut features = Features { nodes, words: vec![(Vec::new(), Vec::new()); words] };
    for (node, row) in (0u32..).zip(pointers.windows(2)) {
        for entry in row[0] as usize..row[1] as usize {
            let word = arrays.index("feat_indices", indices[entry], words)? as usize;
            let (word_nodes, values) = &mut features.words[word];
            if data[entry].is_infinite() {
                return Err(arrays.error("feat_data", format!("node {node} has an infinite value")));
            }
            if word_nodes.last() == Some(&node) {
                return Err(arrays.error("feat_indices", format!("node {node} has word {word} twice")));
            }
            if data[entry] != 0.0 {
                word_nodes.push(node);
                values.push(data[entry]);
            }
        }
    }
    Ok(features)
}

impl Features {
    fn columns(self) -> Vec<Column> {
        let binary = self.words.iter().all(|(_, values)| values.iter().all(|&value| value == 1.0));
        let kind = if binary { Kind::Binary } else { Kind::Sparse };
        let column = |(word, (rows, values))| {
            let values = Values::Sparse { len: self.nodes, rows, values };
            Column::new(format!("word_{word}"), values).with_kind(kind)
        };
        self.words.into_iter().enumerate().map(column).collect()
    }
}

fn read_edges(arrays: &mut Arrays, nodes: usize, limits: &Limits) -> Result<Vec<[u32; 2]>> {
    let edges = arrays.integers("edges")?;
    if edges.shape.len() != 2 || edges.shape[1] != 2 {
        return Err(arrays.error("edges", "this should be pairs of nodes"));
    }
    Limits::check(edges.shape[0] as u64, limits.edges, "edges")
        .map_err(|error| error.in_file(arrays.place("edges")))?;
    let (pairs, _) = edges.values.as_chunks::<2>();
    let index = |node| arrays.index("edges", node, nodes);
    pairs.iter().map(|&[source, target]| Ok([index(source)?, index(target)?])).collect()
}

fn read_split(arrays: &mut Arrays, nodes: usize) -> Result<Vec<Part>> {
    let mut parts = vec![Part::Unused; nodes];
    for (name, part) in [("train_idx", Part::Train), ("val_idx", Part::Valid), ("test_idx", Part::Test)] {
        for node in arrays.integers(name)?.values {
            let slot = &mut parts[arrays.index(name, node, nodes)? as usize];
            if ![Part::Unused, part].contains(slot) {
                return Err(arrays.error(name, format!("node {node} is in two parts of the split")));
            }
            *slot = part;
        }
    }
    Ok(parts)
}

fn read_classes(arrays: &mut Arrays, nodes: usize, set: &str) -> Result<Column> {
    let labels = arrays.integers("labels")?.values;
    if labels.len() != nodes {
        return Err(arrays.error("labels", format!("{} labels for {nodes} nodes", labels.len())));
    }
    let labels: Vec<_> = labels.into_iter().map(|label| (label != -1).then_some(label)).collect();
    let known = known_classes(set, &labels);
    let name = |label: i64| match known.and_then(|names| names.get(usize::try_from(label).ok()?)) {
        Some((name, _)) => name.to_string(),
        None => label.to_string(),
    };
    Ok(Column::new("class", levels::of_numbers(&labels, name)).with_kind(Kind::Categorical))
}

/// The classes of a well-known set, if every one of them has as many nodes as it should.
fn known_classes(set: &str, labels: &[Option<i64>]) -> Option<&'static [(&'static str, usize)]> {
    let (_, classes) = KNOWN_CLASSES.iter().find(|(name, _)| set.eq_ignore_ascii_case(name))?;
    let count = |class| labels.iter().filter(|label| **label == Some(class)).count();
    let labelled = labels.iter().flatten().count();
    let sizes_fit = (0..).zip(*classes).all(|(class, (_, size))| count(class) == *size);
    (sizes_fit && labelled == classes.iter().map(|(_, size)| size).sum::<usize>()).then_some(*classes)
}
