//! Graphs in compressed sparse rows: for every node the nodes that can send to it, and those it can send to.

use std::collections::VecDeque;

/// The structure of one graph. Self-loops and repeated edges are dropped: they change no distance.
///
/// ```
/// use gnan::Graph;
/// let path = Graph::new(3, [[0, 1], [1, 2]].into_iter(), false);
/// assert_eq!(path.successors(1), [0, 2]);
/// assert_eq!(path.components().1, 1);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    offsets: Vec<usize>,
    neighbours: Vec<u32>,
    /// Incoming edges where they differ from the outgoing ones.
    reversed: Option<(Vec<usize>, Vec<u32>)>,
    edges: usize,
}

impl Graph {
    /// A graph of `nodes` nodes; the ends of every edge must be below `nodes`.
    pub fn new(nodes: usize, edges: impl Iterator<Item = [u32; 2]>, directed: bool) -> Graph {
        let pairs: Vec<[u32; 2]> = edges.filter(|[source, target]| source != target).collect();
        let along = |[source, target]: &[u32; 2]| [*source, *target];
        let against = |[source, target]: &[u32; 2]| [*target, *source];
        if directed {
            let (offsets, neighbours) = rows(nodes, || pairs.iter().map(along));
            let edges = neighbours.len();
            return Graph { offsets, neighbours, reversed: Some(rows(nodes, || pairs.iter().map(against))), edges };
        }
        let (offsets, neighbours) = rows(nodes, || pairs.iter().map(along).chain(pairs.iter().map(against)));
        let edges = neighbours.len() / 2;
        Graph { offsets, neighbours, reversed: None, edges }
    }

    /// The most memory that making a graph of so many nodes and listed edges takes, in bytes.
    pub fn bytes(nodes: usize, edges: usize) -> u64 {
        (edges as u64).saturating_mul(16).saturating_add((nodes as u64).saturating_mul(24))
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Whether there are no nodes.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of distinct edges without self-loops; an undirected edge counts once.
    pub fn edge_count(&self) -> usize {
        self.edges
    }

    /// Whether edges have a direction.
    pub fn is_directed(&self) -> bool {
        self.reversed.is_some()
    }

    /// Number of arrows: an undirected edge counts twice.
    pub fn arc_count(&self) -> usize {
        self.neighbours.len()
    }

    /// Nodes that `node` has an edge to.
    pub fn successors(&self, node: usize) -> &[u32] {
        &self.neighbours[self.offsets[node]..self.offsets[node + 1]]
    }

    /// Nodes that have an edge to `node`.
    pub fn predecessors(&self, node: usize) -> &[u32] {
        match &self.reversed {
            None => self.successors(node),
            Some((offsets, neighbours)) => &neighbours[offsets[node]..offsets[node + 1]],
        }
    }

    /// From every node the number of edges, followed along their direction, to the nearest of some nodes; `None` where
    /// there is no path. One breadth-first search backwards from all of them.
    pub fn distances_to(&self, ends: &[usize]) -> Vec<Option<u32>> {
        let mut distances = vec![None; self.len()];
        ends.iter().for_each(|end| distances[*end] = Some(0));
        let mut queue: VecDeque<(usize, u32)> = ends.iter().map(|end| (*end, 0)).collect();
        while let Some((node, distance)) = queue.pop_front() {
            for &before in self.predecessors(node) {
                if distances[before as usize].is_none() {
                    distances[before as usize] = Some(distance + 1);
                    queue.push_back((before as usize, distance + 1));
                }
            }
        }
        distances
    }

    /// For every node the number of its component, ignoring direction; and how many components there are.
    pub fn components(&self) -> (Vec<u32>, usize) {
        let mut component = vec![u32::MAX; self.len()];
        let mut count = 0;
        let mut stack = Vec::new();
        for start in 0..self.len() {
            if component[start] != u32::MAX {
                continue;
            }
            component[start] = count;
            stack.push(start);
            while let Some(node) = stack.pop() {
                for next in self.successors(node).iter().chain(self.predecessors(node)) {
                    if component[*next as usize] == u32::MAX {
                        component[*next as usize] = count;
                        stack.push(*next as usize);
                    }
                }
            }
            count += 1;
        }
        (component, count as usize)
    }
}

/// Compressed rows of pairs, each row sorted and distinct.
fn rows<I: Iterator<Item = [u32; 2]>>(nodes: usize, pairs: impl Fn() -> I) -> (Vec<usize>, Vec<u32>) {
    let mut starts = vec![0; nodes + 1];
    pairs().for_each(|[source, _]| starts[source as usize + 1] += 1);
    for node in 0..nodes {
        starts[node + 1] += starts[node];
    }
    let mut neighbours = vec![0; starts[nodes]];
    // Where the next neighbour of every node goes: in the end, where its row ends.
    let mut next = starts;
    for [source, target] in pairs() {
        neighbours[next[source as usize]] = target;
        next[source as usize] += 1;
    }
    let (mut offsets, mut kept) = (vec![0; nodes + 1], 0);
    let mut start = 0;
    for node in 0..nodes {
        let end = next[node];
        neighbours[start..end].sort_unstable();
        for at in start..end {
            if kept == offsets[node] || neighbours[kept - 1] != neighbours[at] {
                neighbours[kept] = neighbours[at];
                kept += 1;
            }
        }
        (offsets[node + 1], start) = (kept, end);
    }
    neighbours.truncate(kept);
    neighbours.shrink_to_fit();
    (offsets, neighbours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn self_loops_and_repeats_are_dropped() {
        let graph = Graph::new(3, [[0, 1], [1, 0], [1, 1], [0, 1]].into_iter(), false);
        assert_eq!((graph.edge_count(), graph.successors(0), graph.successors(2)), (1, &[1][..], &[][..]));
        assert_eq!(graph.components(), (vec![0, 0, 1], 2));
    }

    #[test]
    fn a_directed_edge_goes_one_way() {
        let graph = Graph::new(2, [[0, 1]].into_iter(), true);
        assert_eq!((graph.successors(0), graph.predecessors(0)), (&[1][..], &[][..]));
        assert_eq!((graph.successors(1), graph.predecessors(1)), (&[][..], &[0][..]));
    }

    /// The path 0 - 1 - 2 - 3 and the node 4 alone; directed, only what comes before an end reaches it.
    #[test]
    fn distances_are_those_to_the_nearest_end_along_edges() {
        let path = || [[0, 1], [1, 2], [2, 3]].into_iter();
        let both_ways = Graph::new(5, path(), false);
        assert_eq!(both_ways.distances_to(&[1]), [Some(1), Some(0), Some(1), Some(2), None]);
        assert_eq!(both_ways.distances_to(&[0, 3]), [Some(0), Some(1), Some(1), Some(0), None]);
        assert_eq!(both_ways.distances_to(&[]), [None; 5]);
        assert_eq!(Graph::new(5, path(), true).distances_to(&[2]), [Some(2), Some(1), Some(0), None, None]);
    }
}
