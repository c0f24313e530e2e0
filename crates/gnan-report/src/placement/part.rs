//! What to draw of a graph that is too large to draw whole: a connected part that holds strong contributions.

use std::collections::BinaryHeap;

use gnan::Graph;

/// A graph of more nodes is drawn in part: more could not be distinguished, and distances need memory by the square.
pub const MOST_NODES: usize = 600;

/// The nodes to draw, ascending: all, or [`MOST_NODES`] of them.
///
/// From the strongest node on, the strongest neighbour of what is drawn already is added; where there is none left, the
/// strongest node of all others. A contribution that is not a number counts as none.
pub fn strongest_part(graph: &Graph, contributions: &[f64]) -> Vec<usize> {
    let nodes = graph.len();
    if nodes <= MOST_NODES {
        return (0..nodes).collect();
    }
    let strength = |node: usize| strength(contributions, node);
    let mut by_strength: Vec<usize> = (0..nodes).collect();
    by_strength.sort_by(|&one, &other| strength(other).total_cmp(&strength(one)).then(one.cmp(&other)));
    let mut starts = by_strength.into_iter();
    let mut seen = vec![false; nodes];
    let mut edge_of_part: BinaryHeap<(Strength, std::cmp::Reverse<usize>)> = BinaryHeap::new();
    let mut chosen = Vec::with_capacity(MOST_NODES);
    while chosen.len() < MOST_NODES {
        let next = match edge_of_part.pop() {
            Some((_, std::cmp::Reverse(node))) => Some(node),
            None => starts.find(|&node| !seen[node]),
        };
        let Some(node) = next else { break };
        seen[node] = true;
        chosen.push(node);
        for &neighbour in graph.successors(node).iter().chain(graph.predecessors(node)) {
            let neighbour = neighbour as usize;
            if !std::mem::replace(&mut seen[neighbour], true) {
                edge_of_part.push((Strength(strength(neighbour)), std::cmp::Reverse(neighbour)));
            }
        }
    }
    chosen.sort_unstable();
    chosen
}

/// The size of a node's contribution; nothing, if there is none or it is not a number.
pub(crate) fn strength(contributions: &[f64], node: usize) -> f64 {
    contributions.get(node).map(|value| value.abs()).filter(|value| value.is_finite()).unwrap_or(0.0)
}

/// A finite number with an order.
#[derive(Clone, Copy, PartialEq)]
struct Strength(f64);

impl Eq for Strength {}

impl PartialOrd for Strength {
    fn partial_cmp(&self, other: &Strength) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Strength {
    fn cmp(&self, other: &Strength) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// The graph of some nodes (ascending) and the edges between them without their directions, nodes counted anew.
pub fn subgraph(graph: &Graph, nodes: &[usize]) -> Graph {
    let place = |node: u32| nodes.binary_search(&(node as usize)).ok().map(|place| place as u32);
    let edges = nodes.iter().zip(0u32..).flat_map(|(&node, source)| {
        graph.successors(node).iter().filter_map(move |&target| Some([source, place(target)?]))
    });
    Graph::new(nodes.len(), edges, false)
}

/// Edges between some nodes, as places among them; one that goes both ways is there once, and marked.
pub fn edges_between(graph: &Graph, nodes: &[usize]) -> Vec<([usize; 2], bool)> {
    let mut sorted: Vec<(usize, usize)> = nodes.iter().enumerate().map(|(place, &node)| (node, place)).collect();
    sorted.sort_unstable();
    let place_of = |node: usize| Some(sorted[sorted.binary_search_by_key(&node, |&(node, _)| node).ok()?].1);
    let mut edges = Vec::new();
    for (place, &node) in nodes.iter().enumerate() {
        for &next in graph.successors(node) {
            let Some(other) = place_of(next as usize) else { continue };
            let both_ways = graph.successors(next as usize).binary_search(&(node as u32)).is_ok();
            if !both_ways || place < other {
                edges.push(([place, other], both_ways));
            }
        }
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_grows_from_the_strongest_node_along_edges() {
        let path = Graph::new(5_000, (0..4_999u32).map(|node| [node, node + 1]), false);
        let mut contributions = vec![0.0; 5_000];
        contributions[2_500] = -3.0;
        contributions[2_501] = f64::NAN;
        let part = strongest_part(&path, &contributions);
        assert_eq!(part.len(), MOST_NODES);
        assert!(part.contains(&2_500) && part.windows(2).all(|pair| pair[1] == pair[0] + 1));
        assert_eq!(strongest_part(&Graph::new(3, [].into_iter(), false), &[]), [0, 1, 2]);
        assert_eq!(strongest_part(&Graph::new(700, [].into_iter(), false), &[]).len(), MOST_NODES);
    }
}
