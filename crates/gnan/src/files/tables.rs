//! What a reader found, before any of it is interpreted: graphs, nodes with columns, edges, and splits.
//!
//! A reader's whole duty is to turn files into [`Tables`]. What is a feature and of which kind, what is the
//! target, what a split means is decided once, for all formats, when a [`Dataset`](crate::Dataset) is made of them.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::files::molecule::BondOrder;
use crate::files::table::bounds::Bound;
use crate::files::table::dates::DateOrder;

/// Marks a missing value among the codes of [`Values::Categories`].
pub const MISSING: u32 = u32::MAX;

/// How a feature is shown and what its shape function looks like.
///
/// ```
/// use gnan::{Dataset, Kind};
/// let data = Dataset::open("solubility")?;
/// let element = data.features().iter().find(|feature| feature.name == "element").expect("atoms have an element");
/// assert_eq!(element.kind, Kind::Categorical);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Two levels, 0 and 1; 0 is the reference.
    Binary,
    /// One free value per level.
    Categorical,
    /// A curve over the values; the training mean is the reference.
    Continuous,
    /// A curve over the values, mostly zero; 0 is the reference.
    Sparse,
}

impl Kind {
    /// The word used on the command line, in files and in figures.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Binary => "binary",
            Kind::Categorical => "categorical",
            Kind::Continuous => "continuous",
            Kind::Sparse => "sparse",
        }
    }
}

/// The values of one column, one per row.
///
/// ```
/// use gnan::Values;
/// // 1,000 rows, of which two are not zero.
/// let words = Values::Sparse { len: 1000, rows: vec![3, 70], values: vec![1.0, 2.0] };
/// assert_eq!(words.len(), 1000);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Values {
    /// One number per row; NaN is a missing value.
    Numbers(Vec<f64>),
    /// The rows (ascending) that are not zero, and what they hold; NaN is a missing value.
    Sparse {
        /// Number of rows, zeros included.
        len: usize,
        /// Rows that are not zero, ascending.
        rows: Vec<u32>,
        /// Their values.
        values: Vec<f64>,
    },
    /// One level per row, as an index into `levels`; [`MISSING`] is a missing value.
    Categories {
        /// Index into `levels` for each row.
        codes: Vec<u32>,
        /// Names of the levels, each once.
        levels: Vec<String>,
    },
}

impl Values {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self {
            Values::Numbers(values) => values.len(),
            Values::Sparse { len, .. } => *len,
            Values::Categories { codes, .. } => codes.len(),
        }
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of rows that are listed: all of them, but for the zeros of sparse values.
    pub(crate) fn listed(&self) -> usize {
        match self {
            Values::Numbers(values) | Values::Sparse { values, .. } => values.len(),
            Values::Categories { codes, .. } => codes.len(),
        }
    }

    /// The listed rows with their numbers, ascending; none of categories.
    pub(crate) fn numbers(&self) -> impl ExactSizeIterator<Item = (usize, f64)> + '_ {
        self.numbers_in(0..self.len())
    }

    /// The listed rows of a range with their numbers.
    pub(crate) fn numbers_in(&self, range: Range<usize>) -> impl ExactSizeIterator<Item = (usize, f64)> + '_ {
        let (first, mut listed) = (range.start, None);
        let numbers = match self {
            Values::Numbers(numbers) => &numbers[range],
            Values::Sparse { rows, values, .. } => {
                let place = |row: usize| rows.partition_point(|listed| (*listed as usize) < row);
                let places = place(range.start)..place(range.end);
                listed = Some(&rows[places.clone()]);
                &values[places]
            }
            Values::Categories { .. } => &[],
        };
        let row = move |at: usize| listed.map_or(first + at, |rows| rows[at] as usize);
        numbers.iter().enumerate().map(move |(at, number)| (row(at), *number))
    }

    /// The level of a row; `None`: it is missing, or the values are no categories.
    pub(crate) fn level(&self, row: usize) -> Option<&str> {
        match self {
            Values::Categories { codes, levels } => levels.get(codes[row] as usize).map(String::as_str),
            _ => None,
        }
    }
}

/// A named column of a table.
///
/// ```
/// use gnan::{Column, Kind, Values};
/// let column = Column::new("aromatic", Values::Numbers(vec![0.0, 1.0, 1.0])).with_kind(Kind::Binary);
/// assert_eq!(column.values.len(), 3);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name, as the file or the format gives it.
    pub name: String,
    /// Its kind where the format knows it; `None` leaves it to detection.
    pub kind: Option<Kind>,
    /// The unit of its values, where known (shown beside them).
    pub unit: Option<String>,
    /// Its values.
    pub values: Values,
    /// What is known of missing values that lie below or above a number, by ascending rows.
    pub bounds: Vec<Bound>,
    /// What its reader made of its cells that a user of it should know.
    pub note: Option<String>,
    /// Whether cells of it count as missing or as words although something else was meant.
    pub doubtful: bool,
    /// Whether the day or the month comes first in its cells, where they are dates that show it.
    pub date_order: Option<DateOrder>,
}

impl Column {
    /// A column whose kind is left to detection.
    pub fn new(name: impl Into<String>, values: Values) -> Self {
        Column {
            name: name.into(),
            kind: None,
            unit: None,
            values,
            bounds: Vec::new(),
            note: None,
            doubtful: false,
            date_order: None,
        }
    }

    /// The same column with its kind declared.
    pub fn with_kind(mut self, kind: Kind) -> Self {
        self.kind = Some(kind);
        self
    }
}

/// The part of a split an item belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SplitPart {
    /// Fitted on.
    Train,
    /// Used to stop training and to choose options.
    Valid,
    /// Looked at once, at the end.
    Test,
    /// In none of the three.
    Unused,
}

impl SplitPart {
    /// Reads the words that files use for a part, in any case; an empty word is [`SplitPart::Unused`].
    pub fn parse(word: &str) -> Option<SplitPart> {
        match word.trim().to_ascii_lowercase().as_str() {
            "train" => Some(SplitPart::Train),
            "valid" | "val" | "validation" | "dev" => Some(SplitPart::Valid),
            "test" => Some(SplitPart::Test),
            "" => Some(SplitPart::Unused),
            _ => None,
        }
    }
}

/// Whether the targets belong to graphs or to nodes.
///
/// ```
/// use gnan::{Dataset, Task};
/// assert_eq!(Dataset::open("solubility")?.task(), Task::Graph);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Task {
    /// One target (or several) per graph.
    Graph,
    /// One target (or several) per node.
    Node,
}

/// A row that could not be read and was left out.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SkippedRow {
    /// Its place among all rows of the table, those that could be read included, from 0.
    pub place: usize,
    /// The line that it begins on, where the file has lines.
    pub line: Option<u64>,
    /// What it would be called.
    pub id: String,
    /// Why it could not be read.
    pub reason: String,
}

/// Everything a reader found in the files of one data set.
///
/// ```
/// use gnan::{Column, Dataset, DatasetOptions, Tables, Task, Values};
/// // Two graphs: three nodes in a row, and one node alone.
/// let tables = Tables {
///     graph_ids: vec!["row".to_owned(), "alone".to_owned()],
///     node_offsets: vec![0, 3, 4],
///     edges: vec![[0, 1], [1, 2]],
///     node_columns: vec![Column::new("size", Values::Numbers(vec![1.0, 2.0, 3.0, 4.0]))],
///     graph_columns: vec![Column::new("value", Values::Numbers(vec![0.5, 1.5]))],
///     task: Some(Task::Graph),
///     targets: vec!["value".to_owned()],
///     ..Tables::default()
/// };
/// let data = Dataset::from_tables(tables, &DatasetOptions::default())?;
/// assert_eq!(data.graph(0).edge_count(), 2);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Tables {
    /// Name of the set, for messages and the model file.
    pub name: String,
    /// Name of the format, for messages ("TU folder", "CSV tables", ...).
    pub format: String,
    /// Id of each graph, unique.
    pub graph_ids: Vec<String>,
    /// Whether the ids of the graphs are no names but where they stand in the file.
    pub unnamed: bool,
    /// Nodes of graph `g` are `node_offsets[g]..node_offsets[g + 1]`; one more entry than graphs, first 0.
    pub node_offsets: Vec<usize>,
    /// Id of each node, unique within its graph; `None`: the position within the graph, counted from 0.
    pub node_ids: Option<Vec<String>>,
    /// Edges between nodes counted over all graphs, both ends in the same graph, as the files list them.
    pub edges: Vec<[u32; 2]>,
    /// The order of each edge where the edges are chemical bonds; drawings use it, models do not.
    pub bonds: Option<Vec<BondOrder>>,
    /// The kind of each edge (a relation, the order of a bond), always categories, for descriptions of nodes; not
    /// needed where there are `bonds`.
    pub edge_labels: Option<Column>,
    /// Numbers that edges carry, such as a length or a time, for weighted distances.
    pub edge_numbers: Vec<Column>,
    /// Whether an edge has a direction. Undirected sets may list each edge once or both ways.
    pub directed: bool,
    /// Columns of the nodes: features, and the targets of a node task.
    pub node_columns: Vec<Column>,
    /// Columns of the graphs: targets and descriptions.
    pub graph_columns: Vec<Column>,
    /// Whether targets belong to graphs or nodes, where the format says so.
    pub task: Option<Task>,
    /// Names of the columns that the format calls targets; empty leaves it to the user.
    pub targets: Vec<String>,
    /// Splits given by the format: for each, the part of every graph (graph task) or node (node task).
    pub splits: Vec<Vec<SplitPart>>,
    /// Rows of a table of molecules that could not be read, by their places.
    pub skipped: Vec<SkippedRow>,
    /// Which columns that are used hold cells that count as missing although something was written there.
    pub cautions: Vec<String>,
    /// What the reader did that a user should know ("37 duplicate edges", ...).
    pub notes: Vec<String>,
}

impl Tables {
    /// Number of graphs.
    pub fn graphs(&self) -> usize {
        self.graph_ids.len()
    }

    /// Number of nodes over all graphs.
    pub fn nodes(&self) -> usize {
        self.node_offsets.last().copied().unwrap_or(0)
    }

    /// Keeps the edges at these positions, in this order, with everything that belongs to them.
    pub(crate) fn select_edges(&mut self, positions: &[usize]) {
        self.edges = picked(&self.edges, positions);
        self.bonds = self.bonds.as_ref().map(|bonds| picked(bonds, positions));
        if let Some(Column { values: Values::Categories { codes, .. }, .. }) = &mut self.edge_labels {
            *codes = picked(codes, positions);
        }
        for column in &mut self.edge_numbers {
            if let Values::Numbers(numbers) = &mut column.values {
                *numbers = picked(numbers, positions);
            }
        }
    }
}

fn picked<T: Copy>(items: &[T], positions: &[usize]) -> Vec<T> {
    positions.iter().map(|position| items[*position]).collect()
}
