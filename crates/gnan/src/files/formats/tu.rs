//! The text format of the TU collection: `<name>_A.txt`, `<name>_graph_indicator.txt` and companions, in a folder or a
//! zip archive.
//!
//! Line i of the graph indicator is the graph of node i; a line of A is an edge between two nodes; both count from 1
//! over the whole set. Labels are whole numbers, which a readme may name (see [`LabelMap`]).
//!
//! Morris et al., "TUDataset: a collection of benchmark datasets for learning with graphs", 2020.

use std::collections::BTreeMap;
use std::path::Path;

use crate::error::{Error, Result};
use crate::files::ReadOptions;
use crate::files::bundle::Bundle;
use crate::files::columns::label_map::{LabelMap, names_elements};
use crate::files::columns::number_table::NumberTable;
use crate::files::formats::{Format, itself};
use crate::files::molecule::BondOrder;
use crate::files::naming::has_extension;
use crate::files::row_selection::RowSelection;
use crate::files::tables::{Tables, Task};
use crate::files::text::{Text, children};
use crate::limits::Limits;

const EDGES: &str = "_A.txt";
const INDICATOR: &str = "_graph_indicator.txt";
const GRAPH_LABELS: &str = "_graph_labels.txt";
const GRAPH_ATTRIBUTES: &str = "_graph_attributes.txt";
const NODE_LABELS: &str = "_node_labels.txt";
const NODE_ATTRIBUTES: &str = "_node_attributes.txt";
const EDGE_LABELS: &str = "_edge_labels.txt";
const EDGE_ATTRIBUTES: &str = "_edge_attributes.txt";

pub const FORMAT: Format = Format {
    name: "TU",
    appearance: "a folder or .zip with <name>_A.txt and <name>_graph_indicator.txt",
    detect: |path| has_extension(path, "zip") || is_folder(path),
    read,
    set_of: itself,
};

fn is_folder(path: &Path) -> bool {
    let marks = |file: &Path| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(EDGES) || name.ends_with(INDICATOR)
    };
    path.is_dir() && children(path).is_ok_and(|files| files.iter().any(|file| marks(file)))
}

fn read(path: &Path, options: &ReadOptions) -> Result<Tables> {
    let mut files = TuFiles::open(path, options.limits)?;
    let names = files.label_map()?;
    let mut tables =
        Tables { name: files.name().to_string(), task: Some(Task::Graph), unnamed: true, ..Tables::default() };

    let graph_labels = files.numbers(GRAPH_LABELS)?;
    let graph_attributes = files.numbers(GRAPH_ATTRIBUTES)?;
    let listed = graph_labels.as_ref().or(graph_attributes.as_ref()).map(NumberTable::rows);
    let (graph_of_node, graph_ids) = read_indicator(&files.required(INDICATOR)?, listed, &options.limits)?;
    let (nodes, graphs) = (graph_of_node.len(), graph_ids.len());
    let edges = read_edges(&files.required(EDGES)?, &graph_of_node, &options.limits)?;

    if let Some(labels) = graph_labels {
        tables.graph_columns.extend(labels.labels(std::slice::from_ref(&names.graphs))?);
    }
    let labelled = tables.graph_columns.len();
    if let Some(attributes) = graph_attributes {
        tables.graph_columns.extend(attributes.with_rows(graphs, "graphs")?.attributes());
    }
    let targets = tables.graph_columns.iter().take(if labelled > 0 { labelled } else { usize::MAX });
    tables.targets = targets.map(|column| column.name.clone()).collect();

    let mut node_columns = Vec::new();
    match files.numbers(NODE_LABELS)? {
        Some(labels) => node_columns.extend(labels.with_rows(nodes, "nodes")?.labels(&names.nodes)?),
        None => tables.notes.push("there are no node labels".to_string()),
    }
    if let Some(attributes) = files.numbers(NODE_ATTRIBUTES)? {
        node_columns.extend(attributes.with_rows(nodes, "nodes")?.attributes());
    }
    if node_columns.iter().any(|column| column.name == "label") && names.nodes.is_empty() {
        tables.notes.push("the files do not name the node labels: they are shown as numbers".to_string());
    }
    if let Some(labels) = files.numbers(EDGE_LABELS)? {
        let labels = labels.with_rows(edges.len(), "edges")?;
        let mut names_of_edges = names.edges.clone();
        if names.nodes.first().is_some_and(names_elements) {
            tables.bonds = labels.bonds(&names.edges);
        }
        if tables.bonds.is_some() {
            // Some readmes call a bond 1, others single.
            let orders = names_of_edges.values_mut();
            orders.for_each(|name| {
                *name = BondOrder::named(name).map_or_else(|| name.clone(), |order| order.name().into())
            });
        }
        // Of several columns of labels the first is meant: where the collection names any, it names that one.
        tables.edge_labels = labels.labels(&[names_of_edges])?.into_iter().next();
    }
    let use_of_labels = "is used for drawings and descriptions of nodes";
    for (ending, used) in [(EDGE_LABELS, use_of_labels), (EDGE_ATTRIBUTES, "is not used")] {
        let name = files.full_name(ending);
        if files.bundle.contains(&name) {
            tables.notes.push(format!("{name} {used}"));
        }
    }

    let (order, offsets) = RowSelection::grouped(&graph_of_node, graphs);
    tables.node_offsets = offsets;
    // Grouping drops no node, so edges keep their order and their bonds.
    tables.edges = order.edges(edges);
    tables.node_columns = node_columns.into_iter().map(|column| order.column(column)).collect();
    tables.graph_ids = graph_ids;
    Ok(tables)
}

/// The files of one TU data set.
struct TuFiles {
    bundle: Bundle,
    /// What every name begins with, folder included: `PROTEINS/PROTEINS`.
    stem: String,
    limits: Limits,
}

impl TuFiles {
    fn open(path: &Path, limits: Limits) -> Result<TuFiles> {
        let bundle = Bundle::open(path, &limits)?;
        let mut stems: Vec<String> = Vec::new();
        for name in bundle.names() {
            let stem = name.strip_suffix(EDGES).or_else(|| name.strip_suffix(INDICATOR));
            if let Some(stem) = stem.filter(|stem| !stems.iter().any(|known| known == stem)) {
                stems.push(stem.to_string());
            }
        }
        match stems.len() {
            0 => Err(Error::input(format!("there is no data set here: no file ends in {EDGES}"))
                .in_file(path)
                .with_remedy("gnan reads zip archives of the TU collection")),
            1 => Ok(TuFiles { bundle, stem: stems.swap_remove(0), limits }),
            several => Err(Error::input(format!("there are {several} data sets here: {}", stems.join(", ")))
                .in_file(path)
                .with_remedy("put each into a folder of its own")),
        }
    }

    fn name(&self) -> &str {
        self.stem.rsplit('/').next().expect("a split text has at least one piece")
    }

    fn full_name(&self, ending: &str) -> String {
        format!("{}{ending}", self.stem)
    }

    fn required(&mut self, ending: &str) -> Result<Text> {
        let name = self.full_name(ending);
        let text = self.bundle.text(&name)?;
        text.ok_or_else(|| Error::input("this file of the data set is missing").in_file(self.bundle.place(&name)))
    }

    fn numbers(&mut self, ending: &str) -> Result<Option<NumberTable>> {
        let text = self.bundle.text(&self.full_name(ending))?;
        text.map(|text| NumberTable::parse(&text, &self.limits)).transpose()
    }

    /// What the readmes beside the data say about labels; the one about labels in particular comes first.
    fn label_map(&mut self) -> Result<LabelMap> {
        let folder = self.stem.len() - self.name().len();
        let is_readme = |name: &&str| {
            let beside = name.get(..folder) == Some(&self.stem[..folder]) && !name[folder..].contains('/');
            let name = name.to_ascii_lowercase();
            beside && name.contains("readme") && (name.ends_with(".txt") || name.ends_with(".md"))
        };
        let mut readmes: Vec<_> = self.bundle.names().filter(is_readme).map(str::to_string).collect();
        readmes.sort_by_key(|name| !name.contains("label"));
        let mut found = LabelMap::default();
        for name in readmes {
            let bytes = self.bundle.bytes(&name)?.expect("the names are those of the bundle");
            found = found.or(LabelMap::parse(&String::from_utf8_lossy(&bytes)));
        }
        Ok(found)
    }
}

/// The graph of each node, and the ids of the graphs.
///
/// With `listed` graphs their ids are 1 to `listed`, and one without nodes is an empty graph; without, the graphs are
/// the ones that occur.
fn read_indicator(text: &Text, listed: Option<usize>, limits: &Limits) -> Result<(Vec<u32>, Vec<String>)> {
    let mut numbers = Vec::new();
    for (line, number) in text.lines() {
        let number = whole(text, line, number)?;
        if number == 0 || listed.is_some_and(|graphs| number > graphs as u64) {
            let graphs = listed.map_or_else(|| "from 1".to_string(), |graphs| format!("from 1 to {graphs}"));
            return Err(text.error(line, format!("there is no graph {number}: graphs are numbered {graphs}")));
        }
        numbers.push(number);
    }
    let too_many = |error: Error| error.in_file(&text.path);
    limits.check_nodes(numbers.len() as u64).map_err(too_many)?;
    let mut places: BTreeMap<u64, u32> = match listed {
        Some(graphs) => (1..=graphs as u64).map(|graph| (graph, 0)).collect(),
        None => numbers.iter().map(|&graph| (graph, 0)).collect(),
    };
    limits.check_graphs(places.len() as u64).map_err(too_many)?;
    for (place, (_, slot)) in (0..).zip(&mut places) {
        *slot = place;
    }
    // Every number is a place: listed graphs were checked above, others are all numbers that occur.
    let graph_of_node = numbers.iter().map(|number| places[number]).collect();
    Ok((graph_of_node, places.keys().map(u64::to_string).collect()))
}

fn read_edges(text: &Text, graph_of_node: &[u32], limits: &Limits) -> Result<Vec<[u32; 2]>> {
    let nodes = graph_of_node.len();
    let end = |line: u64, cell: &str| {
        let number = whole(text, line, cell)?;
        let place =
            usize::try_from(number).ok().and_then(|number| number.checked_sub(1)).filter(|&place| place < nodes);
        place
            .ok_or_else(|| text.error(line, format!("there is no node {number}: nodes are numbered from 1 to {nodes}")))
    };
    let mut edges = Vec::new();
    for (line, pair) in text.lines() {
        let Some((source, target)) = pair.split_once([',', ' ', '\t']) else {
            return Err(text.error(line, format!("\"{pair}\" is not an edge such as 1, 2")));
        };
        let (source, target) = (end(line, source)?, end(line, target)?);
        if graph_of_node[source] != graph_of_node[target] {
            let message = format!("nodes {} and {} belong to different graphs", source + 1, target + 1);
            return Err(text.error(line, message));
        }
        edges.push([source as u32, target as u32]);
    }
    Limits::check(edges.len() as u64, limits.edges, "edges").map_err(|error| error.in_file(&text.path))?;
    Ok(edges)
}

fn whole(text: &Text, line: u64, cell: &str) -> Result<u64> {
    let cell = cell.trim();
    cell.parse().map_err(|_| text.error(line, format!("\"{cell}\" is not a whole number")))
}
