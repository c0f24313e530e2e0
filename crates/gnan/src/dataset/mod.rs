//! Data sets: one type for both tasks.
//!
//! A graph task has many graphs with a target each; a node task has graphs whose nodes carry targets, some of them
//! unlabelled. The *items* of a data set are what is predicted: graphs, or nodes. A [`Dataset`] is a view of some
//! items of shared content, so that a split or a fold costs nothing; in a node task every view still sees the whole
//! graph, only the targets differ.

mod describe;
mod feature;
mod ids;
pub(crate) mod links;
mod molecule;
mod options;
pub(crate) mod pair;
mod roles;
mod split;
mod summary;
mod target;

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

pub use feature::{Feature, OneHot, one_hot_columns};
pub use links::{EndFeature, LinkDivision, LinkOptions, LinkPairs, LinkSchema, Links, QueriedPair};
pub use options::DatasetOptions;
pub use pair::{FeatureBins, FeaturePair, PairMember};
pub use split::Split;
pub use summary::{FeatureSummary, Summary, TargetSummary};
pub use target::{Outcome, Problem, Target};

use crate::checksum::Checksum;
use crate::error::{Error, Result};
use crate::files::{self, BondOrder, Column, SplitPart, Tables, Task, Values};
use crate::graph::Graph;
use crate::run::Run;
use crate::spec::DataSpec;
use roles::{check_weights, choose_targets, take_weights};

/// Everything in a data set, shared by its views.
#[derive(Clone, Debug)]
struct Content {
    name: String,
    format: String,
    task: Task,
    directed: bool,
    graph_ids: Vec<String>,
    node_offsets: Vec<usize>,
    node_ids: Option<Vec<String>>,
    edges: Vec<[u32; 2]>,
    edge_offsets: Vec<usize>,
    bonds: Option<Vec<BondOrder>>,
    edge_labels: Option<Column>,
    edge_numbers: Vec<Column>,
    features: Vec<Feature>,
    targets: Vec<Target>,
    weights: Option<Vec<f32>>,
    splits: Vec<Vec<SplitPart>>,
    /// How it was to be read.
    spec: DataSpec,
    notes: Vec<String>,
    links: Option<Arc<Links>>,
}

/// Why there is an end of the nodes.
const OFFSETS: &str = "offsets of nodes begin with 0: the tables were checked";

/// Graphs with named features and targets, or a view of some of them.
///
/// ```
/// use gnan::Dataset;
/// let data = Dataset::open("solubility")?;
/// assert_eq!((data.len(), data.graph_count()), (1282, 1282));
/// let (train, test) = data.split(0.8, 42)?;
/// assert_eq!(train.len() + test.len(), data.len());
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Dataset {
    content: Arc<Content>,
    items: Arc<[u32]>,
    run: Run,
}

impl Dataset {
    /// Opens a data set: a path whose format is detected, or the name of a built-in set.
    pub fn open(source: impl AsRef<Path>) -> Result<Dataset> {
        Self::open_with(source, &DatasetOptions::default())
    }

    /// Opens a data set with options.
    pub fn open_with(source: impl AsRef<Path>, options: &DatasetOptions) -> Result<Dataset> {
        let source = source.as_ref();
        let name = source.to_str().ok_or_else(|| Error::input("the path is not valid UTF-8").in_file(source))?;
        let mut read = options.read.clone();
        read.limits.memory = options.run.memory;
        let tables = options.run.install(|| files::read(name, &read))?;
        Self::from_tables(tables, options).map_err(|error| error.in_file(source))
    }

    /// Interprets what a reader found.
    pub fn from_tables(tables: Tables, options: &DatasetOptions) -> Result<Dataset> {
        files::check(&tables, &options.read.limits)?;
        let Tables { name, format, graph_ids, node_offsets, node_ids, edges, bonds, edge_labels, directed, .. } =
            tables;
        let Tables { mut node_columns, mut graph_columns, mut edge_numbers, task, targets, splits, mut notes, .. } =
            tables;
        let weights = match &options.weight {
            Some(name) if graph_columns.iter().any(|column| column.name == *name) => {
                Some(take_weights(&mut graph_columns, name)?)
            }
            Some(name) => Some(take_weights(&mut node_columns, name)?),
            None => None,
        };
        // Splits are of what the format predicts, graphs where it does not say: so they were checked.
        let split_task = task.unwrap_or(Task::Graph);
        let choice = if options.targets.is_empty() { targets } else { options.targets.clone() };
        let (task, choice) = match &options.links {
            // Every column of the nodes is a feature, but for what the format calls a target.
            Some(_) => (Task::Node, choice),
            None => {
                choose_targets(&choice, options.task.or(task), &node_columns, &graph_columns, options.targets_optional)?
            }
        };
        let (item_columns, other_columns) = match task {
            Task::Graph => (graph_columns, node_columns),
            Task::Node => (node_columns, Vec::new()),
        };
        let (target_columns, rest): (Vec<Column>, Vec<Column>) =
            item_columns.into_iter().partition(|column| choice.contains(&column.name));
        let feature_columns = if task == Task::Graph { other_columns } else { rest };
        let features = Feature::from_columns(feature_columns, &options.one_hot)?;
        let mut targets = target_columns
            .into_iter()
            .map(|column| Target::from_column(column, options.problem))
            .collect::<Result<Vec<_>>>()?;
        targets.sort_by_key(|target| choice.iter().position(|name| *name == target.name));
        let (edge_order, edge_offsets) = edges_by_graph(&edges, &node_offsets)?;
        let edges = ordered(edges, &edge_order);
        let bonds = bonds.map(|bonds| ordered(bonds, &edge_order));
        let mut edge_labels = edge_labels;
        if let Some(Column { values: Values::Categories { codes, .. }, .. }) = &mut edge_labels {
            *codes = ordered(std::mem::take(codes), &edge_order);
        }
        for column in &mut edge_numbers {
            if let Values::Numbers(numbers) = &mut column.values {
                *numbers = ordered(std::mem::take(numbers), &edge_order);
            }
        }
        if let (Some(weights), Some(name)) = (&weights, &options.weight) {
            check_weights(weights, &targets, name)?;
        }
        let item_count = match task {
            Task::Graph => graph_ids.len(),
            Task::Node => *node_offsets.last().expect(OFFSETS),
        };
        let splits = match splits.is_empty() || task == split_task {
            true => splits,
            false => {
                notes.push("the splits that come with the data are not of what is predicted: they are not used".into());
                Vec::new()
            }
        };
        if weights.as_ref().is_some_and(|weights| weights.len() != item_count) {
            return Err(Error::usage("the weights do not belong to what is predicted")
                .with_remedy("give them in graphs.csv to predict graphs, in nodes.csv to predict nodes"));
        }
        let content = Content {
            name,
            format,
            task,
            directed,
            graph_ids,
            node_offsets,
            node_ids,
            edges,
            edge_offsets,
            bonds,
            edge_labels,
            edge_numbers,
            features,
            targets,
            weights,
            splits,
            // Descriptions that are computed below are added there; those of links are computed with them.
            spec: DataSpec { describe: options.describe_of_links(), ..options.spec() },
            notes,
            links: None,
        };
        let data =
            Dataset { content: Arc::new(content), items: (0..item_count as u32).collect(), run: options.run.clone() };
        match &options.links {
            Some(links) => data.into_links(links, &options.describe),
            None => data.described(&options.describe),
        }
    }

    /// The same items, with another way of doing work on them.
    pub fn with_run(&self, run: &Run) -> Dataset {
        Dataset { run: run.clone(), ..self.clone() }
    }

    /// How work on these items is done.
    pub fn run(&self) -> &Run {
        &self.run
    }

    fn with_items(&self, items: Arc<[u32]>) -> Dataset {
        Dataset { items, ..self.clone() }
    }

    fn with_content(&self, content: Content) -> Dataset {
        Dataset { content: Arc::new(content), ..self.clone() }
    }

    /// The view of the items at these positions of this view.
    pub fn subset(&self, positions: &[usize]) -> Dataset {
        self.with_items(positions.iter().map(|p| self.items[*p]).collect())
    }

    /// The view of the items of both views of one content.
    pub fn union(&self, other: &Dataset) -> Dataset {
        let mut items = [&self.items[..], &other.items[..]].concat();
        items.sort_unstable();
        items.dedup();
        self.with_items(items.into())
    }

    /// Number of receiver-source pairs of the items of a node task; 0 for a graph task.
    pub fn receiver_source_pairs(&self) -> u64 {
        match self.task() {
            Task::Graph => 0,
            Task::Node => {
                self.items.iter().map(|node| self.sources_of(self.graph_of(*node as usize)).len() as u64).sum()
            }
        }
    }

    /// The view of the items of another view, of data that have the same items as these.
    pub fn view_of(&self, other: &Dataset) -> Dataset {
        self.with_items(Arc::clone(&other.items))
    }

    /// The view of all items of the same content.
    pub fn whole(&self) -> Dataset {
        let count = match self.task() {
            Task::Graph => self.graph_count(),
            Task::Node => self.node_count(),
        };
        self.with_items((0..count as u32).collect())
    }

    /// The view of the items that have at least one target.
    pub fn labelled(&self) -> Dataset {
        let has_target = |item: &u32| self.content.targets.iter().any(|target| !target.values[*item as usize].is_nan());
        self.with_items(self.items.iter().copied().filter(has_target).collect())
    }

    /// Whether two views share their content.
    pub fn same_content(&self, other: &Dataset) -> bool {
        Arc::ptr_eq(&self.content, &other.content)
    }

    /// Number of items in this view.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// Whether this view has no items.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// The items of this view: graphs or nodes, counted over the whole content.
    pub fn items(&self) -> &[u32] {
        &self.items
    }

    /// Name of the set.
    pub fn name(&self) -> &str {
        &self.content.name
    }

    /// Name of the format it was read from.
    pub fn format(&self) -> &str {
        &self.content.format
    }

    /// Whether targets belong to graphs or to nodes.
    pub fn task(&self) -> Task {
        self.content.task
    }

    /// Whether edges have a direction.
    pub fn directed(&self) -> bool {
        self.content.directed
    }

    /// Number of graphs in the whole content.
    pub fn graph_count(&self) -> usize {
        self.content.graph_ids.len()
    }

    /// Number of nodes in the whole content.
    pub fn node_count(&self) -> usize {
        *self.content.node_offsets.last().expect(OFFSETS)
    }

    /// The nodes of a graph, counted over the whole content.
    pub fn nodes_of(&self, graph: usize) -> Range<usize> {
        self.content.node_offsets[graph]..self.content.node_offsets[graph + 1]
    }

    /// The graph that a node belongs to.
    pub fn graph_of(&self, node: usize) -> usize {
        self.content.node_offsets.partition_point(|start| *start <= node) - 1
    }

    /// The graphs this view's items are in, ascending, each once.
    pub fn graphs(&self) -> Vec<usize> {
        let mut graphs: Vec<usize> = match self.task() {
            Task::Graph => self.items.iter().map(|item| *item as usize).collect(),
            Task::Node => self.items.iter().map(|item| self.graph_of(*item as usize)).collect(),
        };
        graphs.sort_unstable();
        graphs.dedup();
        graphs
    }

    /// The structure of a graph.
    pub fn graph(&self, graph: usize) -> Graph {
        Graph::new(self.nodes_of(graph).len(), self.edges_of(graph), self.directed())
    }

    /// Number of edges listed for a graph, as the files have them.
    pub fn listed_edges(&self, graph: usize) -> usize {
        self.edge_range(graph).len()
    }

    /// Where the edges of a graph are among all edges.
    pub(crate) fn edge_range(&self, graph: usize) -> Range<usize> {
        self.content.edge_offsets[graph]..self.content.edge_offsets[graph + 1]
    }

    /// The edges of a graph as listed, each by the positions of its ends within the graph.
    pub(crate) fn edges_of(&self, graph: usize) -> impl Iterator<Item = [u32; 2]> + '_ {
        let start = self.nodes_of(graph).start as u32;
        self.content.edges[self.edge_range(graph)].iter().map(move |edge| edge.map(|node| node - start))
    }

    /// The type of every edge of a graph as listed, and the names of the types; `None` where edges have none.
    pub(crate) fn edge_types(&self, graph: usize) -> Option<(Vec<u32>, Vec<String>)> {
        let edges = self.edge_range(graph);
        match (self.content.edge_labels.as_ref().map(|labels| &labels.values), &self.content.bonds) {
            (Some(Values::Categories { codes, levels }), _) => Some((codes[edges].to_vec(), levels.clone())),
            (_, Some(bonds)) => {
                let names = BondOrder::ALL.map(|order| order.name().to_owned()).to_vec();
                Some((bonds[edges].iter().map(|order| *order as u32).collect(), names))
            }
            _ => None,
        }
    }

    /// The numbers that edges carry: columns over all edges, graph by graph.
    pub(crate) fn edge_numbers(&self) -> &[Column] {
        &self.content.edge_numbers
    }

    /// Id of a graph.
    pub fn graph_id(&self, graph: usize) -> &str {
        &self.content.graph_ids[graph]
    }

    /// Id of a node: its own, or its position within its graph.
    pub fn node_id(&self, node: usize) -> String {
        match &self.content.node_ids {
            Some(ids) => ids[node].clone(),
            None => (node - self.content.node_offsets[self.graph_of(node)]).to_string(),
        }
    }

    /// Id of an item: a graph's, or a node's (with its graph before it where there are several graphs).
    pub fn item_id(&self, item: u32) -> String {
        let item = item as usize;
        match self.task() {
            Task::Graph => self.graph_id(item).to_owned(),
            Task::Node if self.graph_count() == 1 => self.node_id(item),
            Task::Node => format!("{}/{}", self.graph_id(self.graph_of(item)), self.node_id(item)),
        }
    }

    /// A checksum of the ids of the items and of their targets, whatever their order.
    pub fn items_checksum(&self) -> String {
        let of_item = |item: &u32| {
            let targets = self.targets().iter().map(|target| match &target.classes {
                _ if target.values[*item as usize].is_nan() => String::new(),
                Some(classes) => classes[target.values[*item as usize] as usize].clone(),
                None => target.values[*item as usize].to_string(),
            });
            let words = targets.fold(self.item_id(*item), |words, target| format!("{words}\n{target}"));
            Checksum::of(words.as_bytes()).number()
        };
        format!("{:016x}", self.items().iter().map(of_item).fold(0u64, u64::wrapping_add))
    }

    /// A checksum of graphs, features and targets of the whole content.
    pub fn content_checksum(&self) -> String {
        let content = &self.content;
        let mut sum = Checksum::of(content.name.as_bytes()).and(&[u8::from(content.directed)]);
        for edge in &content.edges {
            sum = sum.and(&edge[0].to_le_bytes()).and(&edge[1].to_le_bytes());
        }
        for offset in &content.node_offsets {
            sum = sum.and(&offset.to_le_bytes());
        }
        for feature in &content.features {
            sum = sum.and(feature.name.as_bytes()).and(feature.kind.name().as_bytes());
            sum = match &feature.values {
                Values::Numbers(values) => sum.and_numbers(values),
                Values::Sparse { rows, values, .. } => sum.and_codes(rows).and_numbers(values),
                Values::Categories { codes, levels } => {
                    levels.iter().fold(sum.and_codes(codes), |sum, level| sum.and(level.as_bytes()).and(b"\n"))
                }
            };
        }
        if let Some(Column { values: Values::Categories { codes, levels }, .. }) = &content.edge_labels {
            sum = levels.iter().fold(sum.and_codes(codes), |sum, level| sum.and(level.as_bytes()).and(b"\n"));
        }
        for column in &content.edge_numbers {
            if let Values::Numbers(numbers) = &column.values {
                sum = sum.and(column.name.as_bytes()).and_numbers(numbers);
            }
        }
        sum = content.bonds.iter().flatten().fold(sum, |sum, bond| sum.and(&[*bond as u8]));
        for target in &content.targets {
            sum = sum.and(target.name.as_bytes()).and_numbers(&target.values);
        }
        sum = self.links().iter().fold(sum, |sum, links| links.add_to(sum));
        content.weights.iter().fold(sum, |sum, weights| sum.and_floats(weights)).to_string()
    }

    /// Position in this view of the item called `id`.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.items.iter().position(|item| self.item_id(*item) == id)
    }

    /// The features of the nodes.
    pub fn features(&self) -> &[Feature] {
        &self.content.features
    }

    /// The same data with some of the features: `kept` says of each whether it is one of them.
    pub fn with_features(&self, kept: &[bool]) -> Dataset {
        let mut content = (*self.content).clone();
        let mut next = kept.iter();
        content.features.retain(|_| next.next().copied().unwrap_or(false));
        self.with_content(content)
    }

    /// The targets of the whole content; their values are indexed by item.
    pub fn targets(&self) -> &[Target] {
        &self.content.targets
    }

    /// How much an item counts in training; 1 without weights.
    pub fn weight(&self, item: u32) -> f32 {
        self.content.weights.as_ref().map_or(1.0, |weights| weights[item as usize])
    }

    /// How the data were read and understood, as a specification requests it.
    pub fn spec(&self) -> &DataSpec {
        &self.content.spec
    }

    /// The outcome that the targets define.
    pub fn outcome(&self) -> Result<Outcome> {
        Outcome::of(&self.content.targets)
    }

    /// Number of splits the data come with.
    pub fn given_splits(&self) -> usize {
        self.content.splits.len()
    }

    /// What the reader did that a user should know.
    pub fn notes(&self) -> &[String] {
        &self.content.notes
    }
}

/// The order of the edges by graph, keeping their order within one (`None`: they are in order already); and where those
/// of each graph begin and end.
fn edges_by_graph(edges: &[[u32; 2]], node_offsets: &[usize]) -> Result<(Option<Vec<usize>>, Vec<usize>)> {
    let graph_of = |node: u32| node_offsets.partition_point(|start| *start <= node as usize).saturating_sub(1);
    let graph_count = node_offsets.len().saturating_sub(1);
    let mut offsets = vec![0; graph_count + 1];
    let (mut in_order, mut last) = (true, 0);
    for edge in edges {
        let [source, target] = edge.map(graph_of);
        if source != target || source >= graph_count {
            return Err(Error::input("an edge joins two graphs"));
        }
        offsets[source + 1] += 1;
        in_order &= last <= source;
        last = source;
    }
    for graph in 0..graph_count {
        offsets[graph + 1] += offsets[graph];
    }
    if in_order {
        return Ok((None, offsets));
    }
    let mut order: Vec<usize> = (0..edges.len()).collect();
    order.sort_by_key(|edge| graph_of(edges[*edge][0]));
    Ok((Some(order), offsets))
}

/// What belongs to the edges, in their new order.
fn ordered<T: Copy>(items: Vec<T>, order: &Option<Vec<usize>>) -> Vec<T> {
    match order {
        None => items,
        Some(order) => order.iter().map(|edge| items[*edge]).collect(),
    }
}
