//! The edges around a node pair, as a graph of their own in which edges that share an end are joined.
//!
//! Only the nearest and strongest are taken, so that a line graph is small however large the graph is.

use gnan::Dataset;
use gnan::Graph;

use super::part::{MOST_NODES, strength};

/// The edges around a node pair.
pub struct NearestEdges {
    /// Which message edges of the graph, counted within it; with every edge one that is nearer, if there is any.
    pub edges: Vec<usize>,
    /// The line graph of these edges and, after them, of the node pair.
    pub line_graph: Graph,
    /// The pair's own edge, where it is a message edge.
    pub own: Option<usize>,
}

impl NearestEdges {
    /// The message edges that contribute and are not drawn.
    pub fn others(&self, drawn: &[usize], messages: usize) -> Vec<usize> {
        let mut is_drawn = vec![false; messages];
        drawn.iter().copied().chain(self.own).for_each(|edge| is_drawn[edge] = true);
        (0..messages).filter(|edge| !is_drawn[*edge]).collect()
    }
}

/// The edges nearest to a node pair of a link data set, of equally near ones the strongest; `None` for other data.
pub fn nearest_edges(data: &Dataset, pair: usize, contributions: &[f64]) -> Option<NearestEdges> {
    let links = data.links()?;
    let graph = data.graph_of(pair);
    let ends: Vec<[u32; 2]> = links.local_ends(data.sources_of(graph), graph).collect();
    let [one, other] = links.local_ends(pair..pair + 1, graph).next()?;
    let to_nodes = links.message_graph(data, graph).distances_to(&[one as usize, other as usize]);
    let distance = |edge: usize| ends[edge].iter().filter_map(|end| to_nodes[*end as usize]).min();
    let own = ends.iter().position(|edge| *edge == [one, other] || *edge == [other, one]);
    let mut order: Vec<(u32, usize)> =
        (0..ends.len()).filter(|edge| Some(*edge) != own).filter_map(|edge| Some((distance(edge)?, edge))).collect();
    order.sort_by(|a, b| {
        let by_strength = strength(contributions, b.1).total_cmp(&strength(contributions, a.1));
        a.0.cmp(&b.0).then(by_strength).then(a.1.cmp(&b.1))
    });
    let edges: Vec<usize> = order.into_iter().take(MOST_NODES - 1).map(|(_, edge)| edge).collect();
    let mut at_node: Vec<(u32, u32)> = Vec::new();
    for (place, ends) in (0u32..).zip(edges.iter().map(|edge| ends[*edge]).chain([[one, other]])) {
        at_node.extend(ends.map(|end| (end, place)));
    }
    at_node.sort_unstable();
    let mut joined = Vec::new();
    for meeting in at_node.chunk_by(|a, b| a.0 == b.0) {
        for (place, (_, one)) in meeting.iter().enumerate() {
            joined.extend(meeting[..place].iter().map(|(_, other)| [*one, *other]));
        }
    }
    Some(NearestEdges { line_graph: Graph::new(edges.len() + 1, joined.into_iter(), false), edges, own })
}
