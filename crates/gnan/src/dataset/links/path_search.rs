//! The length of the shortest path between the ends of a node pair that does not use the pair's own edge.
//!
//! Breadth-first searches from both ends take turns, the one with fewer edges ahead of it first. While they have not met, the
//! distance is longer than both searches have gone together; so where a step first meets the other search, it is one more. They
//! end early where an end has nothing more to reach.

use crate::graph::Graph;

/// Searches in a graph without direction, with memory that is kept between them.
pub struct PathSearch<'a> {
    graph: &'a Graph,
    /// Which search has reached every node: that from the first end of pair number `n` is `2 n`, from the second `2 n + 1`.
    reached_by: Vec<u32>,
    frontiers: [Vec<u32>; 2],
    next: Vec<u32>,
    searches: u32,
}

impl<'a> PathSearch<'a> {
    /// Searches in this graph.
    pub fn new(graph: &'a Graph) -> PathSearch<'a> {
        PathSearch {
            graph,
            reached_by: vec![u32::MAX; graph.len()],
            frontiers: Default::default(),
            next: Vec::new(),
            searches: 0,
        }
    }

    /// The distance between two different nodes without the edge between them; `None`: there is no path.
    pub fn distance(&mut self, ends: [u32; 2]) -> Option<u32> {
        if self.searches >= u32::MAX / 2 {
            self.reached_by.fill(u32::MAX);
            self.searches = 0;
        }
        let marks = [2 * self.searches, 2 * self.searches + 1];
        self.searches += 1;
        for side in 0..2 {
            self.frontiers[side].clear();
            self.frontiers[side].push(ends[side]);
            self.reached_by[ends[side] as usize] = marks[side];
        }
        let mut length = 0;
        while self.frontiers.iter().all(|frontier| !frontier.is_empty()) {
            let [one, other] = [0, 1].map(|side| self.edges_ahead(side));
            let side = usize::from(other < one);
            length += 1;
            if self.step(side, ends, marks) {
                return Some(length);
            }
        }
        None
    }

    fn edges_ahead(&self, side: usize) -> usize {
        self.frontiers[side].iter().map(|node| self.graph.successors(*node as usize).len()).sum()
    }

    /// Takes the search of one side one edge further; whether it has met the other.
    fn step(&mut self, side: usize, ends: [u32; 2], marks: [u32; 2]) -> bool {
        self.next.clear();
        for node in &self.frontiers[side] {
            for neighbour in self.graph.successors(*node as usize) {
                let own_edge = [*node, *neighbour] == ends || [*neighbour, *node] == ends;
                let reached = &mut self.reached_by[*neighbour as usize];
                if own_edge || *reached == marks[side] {
                    continue;
                }
                if *reached == marks[1 - side] {
                    return true;
                }
                *reached = marks[side];
                self.next.push(*neighbour);
            }
        }
        std::mem::swap(&mut self.frontiers[side], &mut self.next);
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// By breadth-first search on a graph that has no such edge.
    fn slow_distance(nodes: usize, edges: &[[u32; 2]], [one, other]: [u32; 2]) -> Option<u32> {
        let kept = edges.iter().copied().filter(|edge| *edge != [one, other] && *edge != [other, one]);
        Graph::new(nodes, kept, false).distances_to(&[one as usize])[other as usize]
    }

    #[test]
    fn distances_are_those_of_a_graph_without_the_edge() {
        let mut random = Stream::named(1, "path search", 0);
        for _ in 0..50 {
            let nodes = 2 + random.below(20);
            let count = random.below(3 * nodes);
            let edges: Vec<[u32; 2]> =
                (0..count).map(|_| [random.below(nodes) as u32, random.below(nodes) as u32]).collect();
            let graph = Graph::new(nodes, edges.iter().copied(), false);
            let mut search = PathSearch::new(&graph);
            for one in 0..nodes as u32 {
                for other in (0..nodes as u32).filter(|other| *other != one) {
                    let pair = [one, other];
                    assert_eq!(search.distance(pair), slow_distance(nodes, &edges, pair), "{edges:?} {pair:?}");
                }
            }
        }
    }
}
