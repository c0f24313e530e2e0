//! The Planetoid citation graphs as their authors published them: `ind.<name>.x`, `.y`, `.tx`, `.ty`, `.allx`, `.ally`,
//! `.graph` and `.test.index`, all but the last Python pickles.
//!
//! Rows of `allx` and `ally` are the first nodes; row i of `tx` and `ty` belongs to the node on line i of `test.index`,
//! which is not sorted. A node in neither (Citeseer has fifteen) has no words and no class. The split is the public
//! one: as many nodes as `y` has rows for training, the next 500 for validation, those of `test.index` for testing.
//!
//! Yang, Cohen, Salakhutdinov, "Revisiting semi-supervised learning with graph embeddings", 2016.

use std::path::{Path, PathBuf};

use crate::arrays::npy::Array;
use crate::arrays::pickle::{Pickle, PickleValue};
use crate::arrays::pickled_arrays;
use crate::arrays::sparse_rows::SparseRows;
use crate::edge_notes::note_counts;
use crate::formats::planetoid::class_column;
use crate::word_columns::{CLASS, WordColumns, vocabulary_beside};
use gnan::error::{Error, Result};
use gnan::files::Format;
use gnan::files::ReadOptions;
use gnan::files::{SplitPart, Tables, Task};
use gnan::internals::files::text::Text;
use gnan::limits::Limits;

const ENDINGS: [&str; 8] = [".x", ".y", ".tx", ".ty", ".allx", ".ally", ".graph", ".test.index"];
const VALIDATION: usize = 500;

pub const FORMAT: Format = Format {
    name: "Planetoid pickles",
    appearance: "ind.<name>, for the files ind.<name>.x, .y, .tx, .ty, .allx, .ally, .graph and .test.index",
    detect: |path| prefix_of(path).is_some(),
    read,
    set_of: prefix_of,
};

/// What the paths of all files of the set begin with that `path` is a file of, or already is the beginning of.
fn prefix_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str().filter(|name| name.starts_with("ind."))?;
    if path.is_file() {
        let stem = ENDINGS.iter().find_map(|ending| name.strip_suffix(ending))?;
        return Some(path.with_file_name(stem));
    }
    let begins_a_file = !path.exists() && ENDINGS.iter().any(|ending| with_ending(path, ending).is_file());
    begins_a_file.then(|| path.to_path_buf())
}

fn with_ending(prefix: &Path, ending: &str) -> PathBuf {
    let mut path = prefix.as_os_str().to_owned();
    path.push(ending);
    PathBuf::from(path)
}

/// The files of one set.
struct Files<'a> {
    prefix: PathBuf,
    limits: &'a Limits,
}

impl Files<'_> {
    fn read<T>(&self, ending: &str, parse: impl FnOnce(&Pickle, &Path) -> Result<T>) -> Result<T> {
        let path = with_ending(&self.prefix, ending);
        let bytes = self.limits.read(&path, "bytes")?;
        parse(&Pickle::parse(&bytes, &path)?, &path)
    }

    fn matrix(&self, ending: &str) -> Result<SparseRows> {
        self.read(ending, |pickle, path| pickled_arrays::matrix(pickle, path, self.limits))
    }

    /// The class of each row of a matrix in which each row has at most one 1.
    fn classes(&self, ending: &str) -> Result<Vec<Option<i64>>> {
        let Array { shape, values } = self.read(ending, pickled_arrays::array)?;
        let wrong = |message: &str| Error::input(message).in_file(with_ending(&self.prefix, ending));
        let (&[_, classes], false) = (&shape[..], shape.contains(&0)) else {
            return Err(wrong("this should be a row of marks for each node"));
        };
        let class = |marks: &[f64]| {
            let marked = marks.iter().filter(|&&mark| mark != 0.0).count();
            if marked > 1 {
                return Err(wrong("a node has more than one class"));
            }
            Ok(marks.iter().position(|&mark| mark != 0.0).map(|class| class as i64))
        };
        values.chunks(classes).map(class).collect()
    }

    /// The nodes of the test part, in the order of the rows of `tx`.
    fn test_nodes(&self, nodes: usize) -> Result<Vec<u32>> {
        let text = Text::open(&with_ending(&self.prefix, ".test.index"), self.limits)?;
        let node = |(line, word): (u64, &str)| {
            let node = word.parse().ok().filter(|&node: &u32| (node as usize) < nodes);
            node.ok_or_else(|| text.error(line, format!("\"{word}\" is not a node from 0 to below {nodes}")))
        };
        text.lines().map(node).collect()
    }
}

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let prefix = prefix_of(path).unwrap_or_else(|| path.to_path_buf());
    let name = prefix.file_name().unwrap_or_default().to_string_lossy().trim_start_matches("ind.").to_string();
    let files = Files { prefix, limits: &options.limits };
    let mut tables = Tables { name: name.clone(), task: Some(Task::Node), ..Tables::default() };
    let nodes = files.read(".graph", |pickle, path| read_edges(pickle, path, &options.limits, &mut tables))?;
    let test_nodes = files.test_nodes(nodes)?;
    let (first, test) = (files.matrix(".allx")?, files.matrix(".tx")?);
    let (first_classes, test_classes) = (files.classes(".ally")?, files.classes(".ty")?);
    let trained = files.classes(".y")?.len();
    let unfit = |ending, message: String| Error::input(message).in_file(with_ending(&files.prefix, ending));
    if first.columns != test.columns {
        return Err(unfit(".tx", format!("{} words, but allx has {}", test.columns, first.columns)));
    }
    if first.rows() > nodes || first_classes.len() != first.rows() {
        let message = format!("{} classes for {} rows of {nodes} nodes", first_classes.len(), first.rows());
        return Err(unfit(".ally", message));
    }
    if test.rows() != test_nodes.len() || test_classes.len() != test_nodes.len() {
        let message =
            format!("{} nodes for {} rows of tx and {} of ty", test_nodes.len(), test.rows(), test_classes.len());
        return Err(unfit(".test.index", message));
    }

    let mut row_of: Vec<Option<(&SparseRows, usize)>> = vec![None; nodes];
    let mut classes = vec![None; nodes];
    let mut parts = vec![SplitPart::Unused; nodes];
    for (row, class) in first_classes.into_iter().enumerate() {
        row_of[row] = Some((&first, row));
        classes[row] = class;
    }
    let trained = trained.min(first.rows());
    parts[trained..first.rows().min(trained + VALIDATION)].fill(SplitPart::Valid);
    parts[..trained].fill(SplitPart::Train);
    for (row, (&node, class)) in test_nodes.iter().zip(test_classes).enumerate() {
        let node = node as usize;
        if row_of[node].is_some() {
            return Err(unfit(".test.index", format!("node {node} is listed twice, or has a row in allx as well")));
        }
        row_of[node] = Some((&test, row));
        classes[node] = class;
        parts[node] = SplitPart::Test;
    }
    let mut words = WordColumns::new(nodes, first.columns);
    for (node, row) in (0..).zip(&row_of) {
        if let Some((matrix, row)) = row {
            matrix.row(*row).for_each(|(word, value)| words.add(node, word, value));
        }
    }
    let absent = row_of.iter().filter(|row| row.is_none()).count();
    if absent > 0 {
        tables.notes.push(format!("{absent} nodes have neither words nor a class"));
    }
    let vocabulary = vocabulary_beside(&files.prefix, words.len(), &options.limits)?;
    tables.node_columns = words.columns(vocabulary);
    tables.node_columns.push(class_column(&classes, &name));
    tables.targets = vec![CLASS.to_string()];
    tables.splits = vec![parts];
    tables.node_offsets = vec![0, nodes];
    tables.graph_ids = vec![name];
    Ok(tables)
}

/// Reads the neighbours of each node into edges, each once; returns the number of nodes.
fn read_edges(pickle: &Pickle, path: &Path, limits: &Limits, tables: &mut Tables) -> Result<usize> {
    let wrong = |message: String| Error::input(message).in_file(path);
    let lists = pickle
        .dictionary(pickle.root)
        .ok_or_else(|| wrong("this pickle does not hold the neighbours of each node".to_string()))?;
    let nodes = lists.len();
    limits.check_nodes(nodes as u64).map_err(|error| error.in_file(path))?;
    let index = |value: PickleValue| match value {
        PickleValue::Integer(node) if (0..nodes as i64).contains(&node) => Ok(node as u32),
        other => Err(wrong(format!("{other:?} is not a node from 0 to below {nodes}"))),
    };
    let (mut arcs, mut loops) = (Vec::new(), 0);
    for &(node, neighbours) in lists {
        let node = index(node)?;
        let neighbours = pickle.sequence(neighbours);
        for &neighbour in neighbours.ok_or_else(|| wrong(format!("node {node} has no list of neighbours")))? {
            let neighbour = index(neighbour)?;
            if arcs.len() as u64 / 2 > limits.edges {
                return Err(Error::limit(format!("more than the limit of {} edges", limits.edges)).in_file(path));
            }
            if node == neighbour {
                loops += 1;
            } else {
                arcs.push([node, neighbour]);
            }
        }
    }
    let entries = arcs.len();
    arcs.sort_unstable();
    arcs.dedup();
    note_counts(tables, loops, entries - arcs.len());
    let mut edges: Vec<_> = arcs.into_iter().map(|[one, other]| [one.min(other), one.max(other)]).collect();
    edges.sort_unstable();
    edges.dedup();
    tables.edges = edges;
    Ok(nodes)
}
