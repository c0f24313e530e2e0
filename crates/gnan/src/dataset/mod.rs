//! Data sets: one type for both tasks.
//!
//! A graph task has many graphs with a target each; a node task has graphs whose nodes carry targets, some of them
//! unlabelled. The *items* of a data set are what is predicted: graphs, or nodes. A [`Dataset`] is a view of some
//! items of shared content, so that a split or a fold costs nothing; in a node task every view still sees the whole
//! graph, only the targets differ.

mod content;
mod describe;
mod feature;
mod identity;
mod ids;
mod item_statistic;
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

pub(crate) use feature::distinct_numbers;
pub use feature::{Feature, KnownFeature, one_hot_columns};
pub use identity::Identity;
pub use item_statistic::{ItemStatistic, Quantity};
pub use links::{
    EndFeature, LinkDivision, LinkFeatures, LinkOptions, LinkPairs, LinkSchema, Links, OwnFeatures, QueriedPair,
};
pub use options::DatasetOptions;
pub use pair::{FeatureBins, FeaturePair, PairMember};
pub use split::{Split, SplitOrigin};
pub use summary::{FeatureSummary, Summary, TargetSummary};
pub(crate) use target::FEWEST_VALUES;
pub use target::{Outcome, Problem, Target};

use crate::checksum::Checksum;
use crate::error::{Error, Result};
use crate::files::{self, BondOrder, Column, SkippedRow, Tables, Task, Values};
use crate::graph::Graph;
use crate::run::Run;
use crate::spec::DataSpec;
use content::Content;

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

/// The nodes whose values count: those of sources, or of features that candidate node pairs alone have, the candidates'.
pub(crate) struct CountedNodes {
    sources: Vec<bool>,
    items: Vec<bool>,
}

impl CountedNodes {
    /// For every node whether its value of a feature counts.
    pub(crate) fn of(&self, feature: &Feature) -> &[bool] {
        if feature.own_only { &self.items } else { &self.sources }
    }

    /// Whether the value of a feature at a node counts.
    pub(crate) fn counts(&self) -> impl Fn(&Feature, usize) -> bool + Sync + '_ {
        |feature, node| self.of(feature)[node]
    }
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
        let content = Content::new(tables, options)?;
        let items = (0..content.item_count() as u32).collect();
        let data = Dataset { content: Arc::new(content), items, run: options.run.clone() };
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

    /// The view of at most so many items, evenly spaced among all.
    pub(crate) fn spaced(&self, most: usize) -> Dataset {
        let every = self.len().div_ceil(most).max(1);
        self.with_items(self.items.iter().copied().step_by(every).collect())
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
        self.with_items((0..self.content.item_count() as u32).collect())
    }

    /// The view of the items that have at least one target.
    pub fn labelled(&self) -> Dataset {
        let has_target = |item: &u32| self.content.targets.iter().any(|target| !target.values[*item as usize].is_nan());
        self.with_items(self.items.iter().copied().filter(has_target).collect())
    }

    /// The view of the items without a target of which at least a bound is known, in the order of the content.
    pub(crate) fn bounded(&self) -> Dataset {
        let targets = &self.content.targets;
        if targets.iter().all(|target| target.bounds.is_empty()) {
            return self.with_items(Arc::new([]));
        }
        let has_bound = |item: &u32| {
            targets.iter().any(|target| target.bounds.binary_search_by_key(item, |bound| bound.row).is_ok())
        };
        let has_target = |item: &u32| targets.iter().any(|target| !target.values[*item as usize].is_nan());
        self.with_items(self.items.iter().copied().filter(|item| has_bound(item) && !has_target(item)).collect())
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
        &self.content.tables.name
    }

    /// Name of the format it was read from.
    pub fn format(&self) -> &str {
        &self.content.tables.format
    }

    /// Whether targets belong to graphs or to nodes.
    pub fn task(&self) -> Task {
        self.content.task
    }

    /// Whether edges have a direction.
    pub fn directed(&self) -> bool {
        self.content.tables.directed
    }

    /// Number of graphs in the whole content.
    pub fn graph_count(&self) -> usize {
        self.content.tables.graph_ids.len()
    }

    /// Number of nodes in the whole content.
    pub fn node_count(&self) -> usize {
        self.content.node_count()
    }

    /// The nodes of a graph, counted over the whole content.
    pub fn nodes_of(&self, graph: usize) -> Range<usize> {
        self.content.tables.node_offsets[graph]..self.content.tables.node_offsets[graph + 1]
    }

    /// The graph that a node belongs to.
    pub fn graph_of(&self, node: usize) -> usize {
        self.content.tables.node_offsets.partition_point(|start| *start <= node) - 1
    }

    /// The graphs this view's items are in, ascending, each once.
    pub fn graphs(&self) -> Vec<usize> {
        let mut graphs: Vec<usize> = self.items.iter().map(|item| self.graph_of_item(*item)).collect();
        graphs.sort_unstable();
        graphs.dedup();
        graphs
    }

    /// The graph that an item is, or is in.
    pub fn graph_of_item(&self, item: u32) -> usize {
        match self.task() {
            Task::Graph => item as usize,
            Task::Node => self.graph_of(item as usize),
        }
    }

    /// For every node of the whole content whether it is a source of an item of this view.
    pub(crate) fn is_source(&self) -> Vec<bool> {
        let mut is_source = vec![false; self.node_count()];
        for graph in self.graphs() {
            is_source[self.sources_of(graph)].fill(true);
        }
        is_source
    }

    /// For every feature the nodes of the whole content whose values of it count in the items of this view.
    pub(crate) fn counted_nodes(&self) -> CountedNodes {
        let mut items = Vec::new();
        if self.links().is_some() {
            items.resize(self.node_count(), false);
            self.items.iter().for_each(|item| items[*item as usize] = true);
        }
        CountedNodes { sources: self.is_source(), items }
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
        self.content.edge_range(graph)
    }

    /// The edges of a graph as listed, each by the positions of its ends within the graph.
    pub(crate) fn edges_of(&self, graph: usize) -> impl Iterator<Item = [u32; 2]> + '_ {
        let start = self.nodes_of(graph).start as u32;
        self.content.tables.edges[self.edge_range(graph)].iter().map(move |edge| edge.map(|node| node - start))
    }

    /// The type of every edge of a graph as listed, and the names of the types; `None` where edges have none.
    pub(crate) fn edge_types(&self, graph: usize) -> Option<(Vec<u32>, Vec<String>)> {
        let edges = self.edge_range(graph);
        match (self.content.tables.edge_labels.as_ref().map(|labels| &labels.values), &self.content.tables.bonds) {
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
        &self.content.tables.edge_numbers
    }

    /// Id of a graph.
    pub fn graph_id(&self, graph: usize) -> &str {
        &self.content.tables.graph_ids[graph]
    }

    /// Id of a node: its own, or its position within its graph.
    pub fn node_id(&self, node: usize) -> String {
        match &self.content.tables.node_ids {
            Some(ids) => ids[node].clone(),
            None => (node - self.content.tables.node_offsets[self.graph_of(node)]).to_string(),
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
        self.content.checksum().to_string()
    }

    /// Position in this view of the item called `id`.
    pub fn find(&self, id: &str) -> Option<usize> {
        self.items.iter().position(|item| self.item_id(*item) == id)
    }

    /// The features of the nodes.
    pub fn features(&self) -> &[Feature] {
        &self.content.features
    }

    /// The names of the first features, for messages.
    pub(crate) fn first_names(&self) -> String {
        let names: Vec<&str> = self.features().iter().map(|feature| feature.name.as_str()).take(12).collect();
        names.join(", ")
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
        self.content.tables.splits.len()
    }

    /// Rows of a table of molecules that could not be read, by their places: they are no items.
    pub fn skipped(&self) -> &[SkippedRow] {
        &self.content.tables.skipped
    }

    /// Which columns hold cells that count as missing although something was written there.
    pub fn cautions(&self) -> &[String] {
        &self.content.tables.cautions
    }

    /// What the reader did that a user should know.
    pub fn notes(&self) -> &[String] {
        &self.content.tables.notes
    }
}
