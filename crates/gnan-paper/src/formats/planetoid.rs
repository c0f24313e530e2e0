//! The Planetoid citation graphs (Cora, Citeseer, PubMed) as arrays in an `.npz` archive.
//!
//! `feat_data`, `feat_indices`, `feat_indptr` and `feat_shape` are the words of the papers in compressed rows,
//! `labels` their classes (-1: not known), `edges` the citations, and `train_idx`, `val_idx` and `test_idx` the public split.
//!
//! Yang, Cohen, Salakhutdinov, "Revisiting semi-supervised learning with graph embeddings", 2016.

use std::path::Path;

use crate::arrays::{self, Arrays};
use crate::word_columns::{CLASS, WordColumns, vocabulary_beside};
use gnan::error::Result;
use gnan::files::ReadOptions;
use gnan::files::{Column, Kind, SplitPart, Tables, Task};
use gnan::files::{Format, itself};
use gnan::internals::files::columns::levels;
use gnan::internals::files::naming::name_of;

pub const FORMAT: Format = Format {
    name: "Planetoid arrays",
    appearance: "an .npz file with feat_data, feat_indices, feat_indptr, feat_shape, labels and edges",
    // What cannot be opened at all is claimed here, so that the reader can say what is wrong.
    detect: |path| arrays::holds(path, "feat_indptr").unwrap_or(true),
    read,
    set_of: itself,
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
    let mut arrays = Arrays::open(path, &options.limits)?;
    let name = name_of(path);
    let features = arrays.sparse_rows("feat")?;
    let nodes = features.rows();
    let mut words = WordColumns::new(nodes, features.columns);
    for node in 0..nodes {
        features.row(node).for_each(|(word, value)| words.add(node as u32, word, value));
    }
    let vocabulary = vocabulary_beside(path, words.len(), &options.limits)?;
    let mut tables = Tables { name: name.clone(), task: Some(Task::Node), ..Tables::default() };
    tables.edges = arrays.edges("edges", nodes)?;
    tables.splits = vec![read_split(&mut arrays, nodes)?];
    tables.node_columns = words.columns(vocabulary);
    tables.node_columns.push(class_column(&arrays.labels("labels", nodes)?, &name));
    tables.targets = vec![CLASS.to_string()];
    tables.node_offsets = vec![0, nodes];
    tables.graph_ids = vec![name];
    Ok(tables)
}

fn read_split(arrays: &mut Arrays, nodes: usize) -> Result<Vec<SplitPart>> {
    let mut parts = vec![SplitPart::Unused; nodes];
    for (name, part) in [("train_idx", SplitPart::Train), ("val_idx", SplitPart::Valid), ("test_idx", SplitPart::Test)]
    {
        for node in arrays.integers(name)?.values {
            let slot = &mut parts[arrays.index(name, node, nodes)? as usize];
            if ![SplitPart::Unused, part].contains(slot) {
                return Err(arrays.error(name, format!("node {node} is in two parts of the split")));
            }
            *slot = part;
        }
    }
    Ok(parts)
}

/// The classes of the nodes, called by their names where the set is well known.
pub fn class_column(labels: &[Option<i64>], set: &str) -> Column {
    let known = known_classes(set, labels);
    let name = |label: i64| match known.and_then(|names| names.get(usize::try_from(label).ok()?)) {
        Some((name, _)) => name.to_string(),
        None => label.to_string(),
    };
    Column::new(CLASS, levels::of_numbers(labels, name)).with_kind(Kind::Categorical)
}

/// The classes of a well-known set, if every one of them has as many nodes as it should.
fn known_classes(set: &str, labels: &[Option<i64>]) -> Option<&'static [(&'static str, usize)]> {
    let (_, classes) = KNOWN_CLASSES.iter().find(|(name, _)| set.eq_ignore_ascii_case(name))?;
    let count = |class| labels.iter().filter(|label| **label == Some(class)).count();
    let labelled = labels.iter().flatten().count();
    let sizes_fit = (0..).zip(*classes).all(|(class, (_, size))| count(class) == *size);
    (sizes_fit && labelled == classes.iter().map(|(_, size)| size).sum::<usize>()).then_some(*classes)
}
