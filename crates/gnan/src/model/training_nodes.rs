//! The nodes of training graphs, and which items they belong to: what support is counted in.

use crate::dataset::{Dataset, Feature};
use crate::files::Task;

/// Marks a node outside of the training graphs.
const OUTSIDE: u32 = u32::MAX;

/// The nodes of the graphs of some items.
pub struct TrainingNodes {
    graph_of_node: Vec<u32>,
    items: CountedItems,
    /// Number of items.
    pub item_count: usize,
    /// Where items are node pairs, the pairs themselves: what features that they alone have are counted in.
    candidates: Option<Box<TrainingNodes>>,
    /// Where items are graphs, one node of each: what values of whole graphs are counted in.
    firsts: Option<Box<TrainingNodes>>,
}

/// What an item is.
enum CountedItems {
    /// A graph.
    Graphs,
    /// A labelled node.
    Nodes(Vec<bool>),
    /// A node pair: every source counts, or every pair where the feature is one of pairs themselves.
    Pairs,
}

impl TrainingNodes {
    /// The nodes of the graphs of these items.
    pub fn of(data: &Dataset) -> TrainingNodes {
        let mut graph_of_node = vec![OUTSIDE; data.node_count()];
        for graph in data.graphs() {
            data.sources_of(graph).for_each(|node| graph_of_node[node] = graph as u32);
        }
        let items = match data.task() {
            _ if data.links().is_some() => CountedItems::Pairs,
            Task::Graph => CountedItems::Graphs,
            Task::Node => {
                let mut is_item = vec![false; data.node_count()];
                data.items().iter().for_each(|item| is_item[*item as usize] = true);
                CountedItems::Nodes(is_item)
            }
        };
        let candidates = data.links().map(|_| Box::new(TrainingNodes::candidates(data)));
        let firsts = (data.task() == Task::Graph).then(|| Box::new(TrainingNodes::firsts(data)));
        TrainingNodes { graph_of_node, items, item_count: data.len(), candidates, firsts }
    }

    /// The items themselves.
    fn candidates(data: &Dataset) -> TrainingNodes {
        let mut graph_of_node = vec![OUTSIDE; data.node_count()];
        for item in data.items() {
            graph_of_node[*item as usize] = data.graph_of(*item as usize) as u32;
        }
        TrainingNodes { items: CountedItems::Pairs, ..TrainingNodes::alone(graph_of_node, data) }
    }

    /// The first node of every graph.
    fn firsts(data: &Dataset) -> TrainingNodes {
        let mut graph_of_node = vec![OUTSIDE; data.node_count()];
        for graph in data.graphs() {
            data.nodes_of(graph).take(1).for_each(|node| graph_of_node[node] = graph as u32);
        }
        TrainingNodes::alone(graph_of_node, data)
    }

    fn alone(graph_of_node: Vec<u32>, data: &Dataset) -> TrainingNodes {
        let items = CountedItems::Graphs;
        TrainingNodes { graph_of_node, items, item_count: data.len(), candidates: None, firsts: None }
    }

    /// The nodes whose values of a feature count.
    pub fn of_feature(&self, feature: &Feature) -> &TrainingNodes {
        let candidates = self.candidates.as_deref().filter(|_| feature.own_only);
        candidates.or(self.firsts.as_deref().filter(|_| feature.is_of_item())).unwrap_or(self)
    }

    /// Whether the items are graphs.
    pub fn predicts_graphs(&self) -> bool {
        matches!(self.items, CountedItems::Graphs)
    }

    /// The graph of a node; `None` for a node outside of the training graphs.
    pub fn graph(&self, node: usize) -> Option<u32> {
        Some(self.graph_of_node[node]).filter(|graph| *graph != OUTSIDE)
    }
}

/// Support: how much of the training data a level or a part of a curve was learned from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Support {
    /// Nodes of the training graphs.
    pub nodes: u64,
    /// Training graphs with at least one such node.
    pub graphs: u64,
    /// Training items: graphs with such a node, or labelled nodes that are such.
    #[serde(default)]
    pub items: u64,
}

/// With fewer training items than this behind it, a part of a model is weakly supported.
pub const LITTLE_SUPPORT: u64 = 10;

impl Support {
    /// Whether this is too little to rely on.
    pub fn is_little(&self) -> bool {
        self.items < LITTLE_SUPPORT
    }

    /// What both have at most.
    pub fn min(&self, other: Support) -> Support {
        Support {
            nodes: self.nodes.min(other.nodes),
            graphs: self.graphs.min(other.graphs),
            items: self.items.min(other.items),
        }
    }
}

/// Counts support node by node; the nodes of a graph come one after the other.
#[derive(Clone, Copy, Debug)]
pub(super) struct SupportCounter {
    pub support: Support,
    last_graph: u32,
}

impl Default for SupportCounter {
    fn default() -> Self {
        SupportCounter { support: Support::default(), last_graph: OUTSIDE }
    }
}

impl SupportCounter {
    /// Counts a node of the training graphs.
    pub fn count(&mut self, node: usize, nodes: &TrainingNodes) {
        let graph = nodes.graph_of_node[node];
        let new_graph = u64::from(graph != self.last_graph);
        self.last_graph = graph;
        self.support.nodes += 1;
        self.support.graphs += new_graph;
        self.support.items += match &nodes.items {
            CountedItems::Graphs => new_graph,
            CountedItems::Nodes(is_item) => u64::from(is_item[node]),
            CountedItems::Pairs => 1,
        };
    }
}
