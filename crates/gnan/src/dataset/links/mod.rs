//! Links: which pairs of nodes are joined, as a node task on the line graph.
//!
//! The nodes of a data set of links are pairs of nodes: first the *message edges* of every graph, which are the sources,
//! then its *candidates*, which are the receivers and the items. The sources of a candidate are the message edges, its own
//! excluded, by their distance in the line graph, and at distance 0 itself, with features that only candidates have
//! ([`OwnFeatures`]); the target is whether it is a link. The candidates come from a [`LinkDivision`]
//! of the edges (for training), or are named by the user ([`QueriedPair`]). The line graph itself is never built.

mod division;
mod own_features;
mod pair_features;
mod path_search;
mod queried;

use std::ops::Range;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use division::LinkDivision;
pub use own_features::OwnFeatures;
pub use queried::QueriedPair;

use super::content::Content;
use super::{Dataset, Feature, Target};
use crate::checksum::Checksum;
use crate::error::{Error, Result};
use crate::files::{DateOrder, Kind, SplitPart, Tables, Task, Values};
use crate::graph::Graph;
use crate::remedy::Remedy;
use crate::spec::{DataSpec, NodeDescription, TaskChoice};
use own_features::{Candidates, check_names};
use pair_features::{Incidence, pair_features};

/// The name of the target.
pub const LINK: &str = "link";
/// Its classes.
pub const CLASSES: [&str; 2] = ["no", "yes"];
/// Stands between the ids of the ends of a pair, and between the levels of a pair of categories.
pub const JOINT: &str = "–";

/// Which node pairs are the candidates.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkPairs {
    /// Edges and as many pairs as wanted that are none, divided into parts.
    Divided(LinkDivision),
    /// These pairs, given all edges.
    Queried(Vec<QueriedPair>),
}

/// How a data set is to be understood as one of links.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkOptions {
    /// Which node pairs are the candidates.
    pub pairs: LinkPairs,
    /// Which features pairs have.
    pub features: LinkFeatures,
}

/// Which features node pairs have.
#[derive(Clone, Debug, PartialEq)]
pub enum LinkFeatures {
    /// Those made of all features of the nodes; with `own` also features that candidates alone have.
    All {
        /// Whether candidates have features of their own.
        own: bool,
    },
    /// Those that a model has.
    Known {
        /// The features of the nodes that they are made of.
        ends: Vec<EndFeature>,
        /// The features that candidates alone have, if any.
        own: Option<OwnFeatures>,
    },
}

/// A feature of the nodes from which features of pairs are made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EndFeature {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The unit of its values, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// The levels of a categorical feature that was read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<String>,
    /// How it is computed from the message edges; `None`: it is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<NodeDescription>,
    /// Whether the day or the month came first in training, where it holds dates that show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_order: Option<DateOrder>,
    /// What agreement in it counts where all features are taken together: see [`OwnFeatures::Together`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weight: Option<f64>,
}

/// What a model of links remembers of its data.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct LinkSchema {
    /// How edges were divided for training.
    pub division: LinkDivision,
    /// The features of the nodes.
    pub ends: Vec<EndFeature>,
    /// The features that node pairs have of their own; `None`: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<OwnFeatures>,
}

impl LinkSchema {
    /// The features of node pairs, by name and kind, those that only candidates have last.
    pub fn pair_features(&self) -> Vec<(String, Kind)> {
        let of_ends = self.ends.iter().flat_map(|end| pair_features::names(&end.name, end.kind));
        of_ends.chain(self.own.into_iter().flat_map(|own| own.names(&self.ends))).collect()
    }
}

/// What makes a data set one of links.
#[derive(Clone, Debug)]
pub struct Links {
    /// The end points of every node of the data set, counted over all nodes of the graphs it was made of.
    ends: Vec<[u32; 2]>,
    /// For every graph how many of its nodes are message edges; they come first.
    messages: Vec<usize>,
    /// The nodes of graph `g` of those it was made of are `node_offsets[g]..node_offsets[g + 1]`.
    node_offsets: Vec<usize>,
    schema: LinkSchema,
    sample: Option<String>,
}

/// CandidatePairs of some graphs, each with its part and whether it is a link, where that is known.
struct CandidatePairs {
    /// Message edges, ascending.
    messages: Vec<[u32; 2]>,
    pairs: Vec<CandidatePair>,
    /// What a user should know, where not all pairs are candidates.
    sample: Option<String>,
}

struct CandidatePair {
    ends: [u32; 2],
    part: SplitPart,
    link: Option<bool>,
}

impl EndFeature {
    fn of(feature: &Feature) -> EndFeature {
        let levels = match &feature.values {
            Values::Categories { levels, .. } if feature.description.is_none() => levels.clone(),
            _ => Vec::new(),
        };
        let (name, description) = (feature.name.clone(), feature.description.clone());
        let Feature { kind, date_order, .. } = *feature;
        EndFeature { name, kind, unit: feature.unit.clone(), levels, description, date_order, weight: None }
    }

    fn find(&self, data: &Dataset) -> Result<Feature> {
        if let Some(description) = &self.description {
            return data.describe(description);
        }
        match data.features().iter().find(|feature| feature.name == self.name) {
            Some(feature) => feature.with_kind(self.kind),
            None => Err(Error::input(format!("the nodes have no feature \"{}\", which the model needs", self.name))
                .with_remedy("add the column")),
        }
    }
}

impl Links {
    /// What a model remembers.
    pub fn schema(&self) -> &LinkSchema {
        &self.schema
    }

    /// In words, how many pairs are candidates of how many; `None`: all are.
    pub fn sample(&self) -> Option<&str> {
        self.sample.as_deref()
    }

    /// Adds the pairs to a checksum.
    pub(super) fn add_to(&self, sum: Checksum) -> Checksum {
        let sum = self.messages.iter().fold(sum, |sum, count| sum.and(&count.to_le_bytes()));
        self.ends.iter().fold(sum, |sum, ends| sum.and_codes(ends))
    }

    /// The graph of the message edges of a graph.
    pub fn message_graph(&self, data: &Dataset, graph: usize) -> Graph {
        let nodes = self.node_offsets[graph]..self.node_offsets[graph + 1];
        Graph::new(nodes.len(), self.local_ends(data.sources_of(graph), graph), false)
    }

    /// The ends of some nodes of the data set, counted within the graph they are in.
    pub fn local_ends(&self, nodes: Range<usize>, graph: usize) -> impl Iterator<Item = [u32; 2]> + '_ {
        let first = self.node_offsets[graph] as u32;
        self.ends[nodes].iter().map(move |ends| ends.map(|node| node - first))
    }
}

impl Dataset {
    /// What makes this a data set of links; `None` if it is none.
    pub fn links(&self) -> Option<&Links> {
        self.content.links.as_deref()
    }

    /// The sources of a graph: all of its nodes, or in a data set of links the message edges.
    pub fn sources_of(&self, graph: usize) -> Range<usize> {
        let nodes = self.nodes_of(graph);
        match self.links() {
            Some(links) => nodes.start..nodes.start + links.messages[graph],
            None => nodes,
        }
    }

    /// The links of this data set of graphs with features of nodes, to which these descriptions are added.
    pub fn into_links(self, options: &LinkOptions, describe: &[NodeDescription]) -> Result<Dataset> {
        if self.directed() {
            return Err(Error::usage("links that have a direction cannot be predicted")
                .with_remedy(Remedy::Set("directed", "false".to_owned()).to("ignore it")));
        }
        let (candidates, division) = match &options.pairs {
            LinkPairs::Divided(division) => (division.divide(&self, !describe.is_empty())?, division.clone()),
            LinkPairs::Queried(pairs) => (queried::candidates(&self, pairs)?, LinkDivision::default()),
        };
        // Whatever is computed from the graph must not depend on the edges that are candidates.
        let message_graph = self.with_edges(&candidates.messages);
        let (features, ends, own): (Vec<Feature>, Vec<EndFeature>, Option<OwnFeatures>) = match &options.features {
            LinkFeatures::Known { ends, own } => {
                let found = ends.iter().map(|end| end.find(&message_graph)).collect::<Result<_>>()?;
                (found, ends.clone(), *own)
            }
            LinkFeatures::All { own } => {
                let features = message_graph.described(describe)?.features().to_vec();
                let mut ends: Vec<EndFeature> = features.iter().map(EndFeature::of).collect();
                let own = own.then(|| OwnFeatures::suited(&ends));
                for (end, feature) in ends.iter_mut().zip(&features) {
                    end.weight = own.and_then(|own| own.weight(feature));
                }
                (features, ends, own)
            }
        };
        if features.is_empty() && own.is_none() {
            return Err(Error::input("the nodes have no features, and links are predicted from those of their ends")
                .with_remedy([
                    Remedy::LeaveOut(&["pair-features"]),
                    Remedy::Set("describe", "degree".to_owned()).to("make one from the graph itself"),
                ]));
        }
        self.of_candidates(candidates, &features, LinkSchema { division, ends, own })
    }

    /// The distinct edges without self-loops, the smaller end first, ascending.
    fn distinct_edges(&self) -> Vec<[u32; 2]> {
        let ordered = |[one, other]: [u32; 2]| if one < other { [one, other] } else { [other, one] };
        let mut edges: Vec<[u32; 2]> = self.content.tables.edges.iter().map(|edge| ordered(*edge)).collect();
        edges.retain(|[one, other]| one != other);
        edges.sort_unstable();
        edges.dedup();
        edges
    }

    /// The same graphs with some of their edges only, given as [`distinct_edges`](Self::distinct_edges) has them.
    fn with_edges(&self, kept: &[[u32; 2]]) -> Dataset {
        let mut content = (*self.content).clone();
        let is_kept = |edge: usize| {
            let [one, other] = self.content.tables.edges[edge];
            kept.binary_search(&[one.min(other), one.max(other)]).is_ok()
        };
        let places: Vec<usize> = (0..content.tables.edges.len()).filter(|edge| is_kept(*edge)).collect();
        content.tables.select_edges(&places);
        let before = |edge: &usize| places.partition_point(|place| place < edge);
        content.edge_offsets = self.content.edge_offsets.iter().map(before).collect();
        self.with_content(content)
    }

    fn of_candidates(&self, candidates: CandidatePairs, features: &[Feature], schema: LinkSchema) -> Result<Dataset> {
        let CandidatePairs { messages, pairs, sample } = candidates;
        // As nodes candidates come graph by graph, as items in their own order.
        let mut order: Vec<usize> = (0..pairs.len()).collect();
        order.sort_by_key(|pair| self.graph_of(pairs[*pair].ends[0] as usize));
        let (mut ends, mut parts, mut values) = (Vec::new(), Vec::new(), Vec::new());
        let (mut node_offsets, mut message_counts, mut items) = (vec![0], Vec::new(), vec![0; pairs.len()]);
        let (mut message, mut next) = (0, 0);
        for graph in 0..self.graph_count() {
            let end = self.nodes_of(graph).end as u32;
            let own = messages[message..].iter().take_while(|edge| edge[0] < end).count();
            ends.extend_from_slice(&messages[message..message + own]);
            parts.extend(vec![SplitPart::Unused; own]);
            values.extend(vec![f64::NAN; own]);
            message += own;
            message_counts.push(own);
            for place in order[next..].iter().take_while(|place| pairs[**place].ends[0] < end) {
                let candidate = &pairs[*place];
                items[*place] = ends.len() as u32;
                ends.push(candidate.ends);
                parts.push(candidate.part);
                values.push(candidate.link.map_or(f64::NAN, |link| f64::from(u8::from(link))));
                next += 1;
            }
            node_offsets.push(ends.len());
        }
        let id = |pair: &[u32; 2]| {
            let [one, other] = pair.map(|node| self.node_id(node as usize));
            format!("{one}{JOINT}{other}")
        };
        let node_ids = ends.iter().map(id).collect();
        let incidence = Incidence::new(&ends, self.node_count());
        let divided = parts.iter().any(|part| *part != SplitPart::Unused);
        let mut made = pair_features(features, &incidence);
        if let Some(own) = schema.own {
            let graph = Graph::new(self.node_count(), messages.iter().copied(), false);
            let mut nodes = items.clone();
            nodes.sort_unstable();
            let of_node: Vec<[u32; 2]> = nodes.iter().map(|node| ends[*node as usize]).collect();
            let candidates = Candidates { nodes: &nodes, ends: &of_node };
            let memory = self.run.memory;
            made.extend(own.features((&schema.ends, features), &graph, &candidates, ends.len(), memory)?);
        }
        check_names(&made)?;
        let own = &self.content.tables;
        let links = Links { ends, messages: message_counts, node_offsets: own.node_offsets.clone(), schema, sample };
        let content = Content {
            edge_offsets: vec![0; node_offsets.len()],
            tables: Tables {
                name: own.name.clone(),
                format: own.format.clone(),
                graph_ids: own.graph_ids.clone(),
                node_offsets,
                node_ids: Some(node_ids),
                splits: if divided { vec![parts] } else { Vec::new() },
                notes: own.notes.clone(),
                cautions: own.cautions.clone(),
                ..Tables::default()
            },
            task: Task::Node,
            features: made,
            targets: vec![Target::new(LINK, Some(CLASSES.map(str::to_owned).to_vec()), values)],
            weights: None,
            other_columns: Vec::new(),
            spec: DataSpec { task: Some(TaskChoice::Link), ..self.content.spec.clone() },
            links: Some(Arc::new(links)),
        };
        Ok(Dataset { content: content.into(), items: items.into(), run: self.run.clone() })
    }
}
