//! Hop distances: `dist(j, i)`, the number of edges on the shortest path from a source `j` to a receiver `i`.
//!
//! Many receivers are served at once by a breadth-first search whose frontier holds one bit per receiver
//! (multi-source BFS: Then et al. 2014): one pass over the edges of a level serves 64 receivers. A level pushes from
//! its frontier while that is small and pulls into the unfinished nodes when it is large (Beamer et al. 2012).

use crate::error::{Error, Result};
use crate::graph::Graph;

/// The distance of a source that has no path to the receiver.
pub const UNREACHABLE: u16 = u16::MAX;

/// Number of receivers a search serves at once.
pub const RECEIVERS_AT_ONCE: usize = 64;

/// A level pulls when its frontier has more than this share of all edges.
const PULL_SHARE: usize = 8;

/// Working memory of a search, kept between calls.
#[derive(Default)]
pub struct Search {
    /// Distances to nodes, from which those to edges follow.
    nodes: Vec<u16>,
    seen: Vec<u64>,
    frontier: Vec<u64>,
    next: Vec<u64>,
    active: Vec<u32>,
    touched: Vec<u32>,
}

/// Fills `rows` (`[receivers, nodes]`) with the distance from every node to each of at most 64 receivers, and returns
/// the largest finite one.
///
/// # Panics
/// If there are more than 64 receivers or `rows` has another length.
pub fn distances_to(graph: &Graph, receivers: &[u32], search: &mut Search, rows: &mut [u16]) -> Result<u16> {
    distances_to_any(graph, receivers.as_chunks::<1>().0, search, rows)
}

/// The same for receivers of several nodes each: the distance to the nearest of them.
fn distances_to_any<const N: usize>(
    graph: &Graph,
    receivers: &[[u32; N]],
    search: &mut Search,
    rows: &mut [u16],
) -> Result<u16> {
    let nodes = graph.len();
    assert!(receivers.len() <= RECEIVERS_AT_ONCE && rows.len() == receivers.len() * nodes);
    rows.fill(UNREACHABLE);
    let Search { seen, frontier, next, active, touched, .. } = search;
    for bits in [&mut *seen, &mut *frontier, &mut *next] {
        bits.clear();
        bits.resize(nodes, 0);
    }
    active.clear();
    for (bit, receiver) in receivers.iter().enumerate() {
        for start in receiver {
            let node = *start as usize;
            rows[bit * nodes + node] = 0;
            if frontier[node] == 0 {
                active.push(*start);
            }
            frontier[node] |= 1 << bit;
            seen[node] |= 1 << bit;
        }
    }
    let all = if receivers.len() == 64 { u64::MAX } else { (1 << receivers.len()) - 1 };
    let edges: usize = (0..nodes).map(|node| graph.predecessors(node).len()).sum();
    let mut level: u16 = 0;
    loop {
        let reach: usize = active.iter().map(|node| graph.predecessors(*node as usize).len()).sum();
        touched.clear();
        if reach * PULL_SHARE > edges {
            for node in 0..nodes {
                if seen[node] != all {
                    let arriving = graph.successors(node).iter().fold(0, |bits, from| bits | frontier[*from as usize]);
                    if arriving & !seen[node] != 0 {
                        next[node] = arriving;
                        touched.push(node as u32);
                    }
                }
            }
        } else {
            for from in active.iter() {
                let bits = frontier[*from as usize];
                for node in graph.predecessors(*from as usize) {
                    let node = *node as usize;
                    if bits & !seen[node] != 0 {
                        if next[node] == 0 {
                            touched.push(node as u32);
                        }
                        next[node] |= bits;
                    }
                }
            }
        }
        active.iter().for_each(|node| frontier[*node as usize] = 0);
        if touched.is_empty() {
            return Ok(level);
        }
        level += 1;
        if level == UNREACHABLE {
            return Err(Error::limit("two nodes are more than 65,534 edges apart"));
        }
        for node in touched.iter() {
            let node = *node as usize;
            let mut arrived = next[node] & !seen[node];
            next[node] = 0;
            seen[node] |= arrived;
            frontier[node] = arrived;
            while arrived != 0 {
                rows[arrived.trailing_zeros() as usize * nodes + node] = level;
                arrived &= arrived - 1;
            }
        }
        std::mem::swap(active, touched);
    }
}

/// Fills `rows` (`[pairs, edges]`) with the distance in the line graph from every edge to each of at most 64 pairs of
/// nodes, and returns the largest finite one: 0 for the pair itself, else 1 + the smallest distance between their ends.
///
/// The line graph is not built: a search from both ends of a pair finds the nearer end of every edge. An edge that joins
/// the pair itself shortens nothing, because both its ends are where the search begins.
///
/// # Panics
/// If there are more than 64 pairs or `rows` has another length.
pub fn line_distances_to(
    graph: &Graph,
    edges: &[[u32; 2]],
    pairs: &[[u32; 2]],
    search: &mut Search,
    rows: &mut [u16],
) -> Result<u16> {
    assert!(rows.len() == pairs.len() * edges.len());
    let mut to_nodes = std::mem::take(&mut search.nodes);
    to_nodes.resize(pairs.len() * graph.len(), 0);
    let found = distances_to_any(graph, pairs, search, &mut to_nodes);
    let mut longest = 0;
    let to_nodes_of = to_nodes.chunks_exact(graph.len().max(1));
    for ((pair, to_nodes), row) in pairs.iter().zip(to_nodes_of).zip(rows.chunks_exact_mut(edges.len().max(1))) {
        for (edge, distance) in edges.iter().zip(row) {
            let [one, other] = edge.map(|node| to_nodes[node as usize]);
            let itself = edge == pair || [edge[1], edge[0]] == *pair;
            *distance = match one.min(other) {
                0 if itself => 0,
                UNREACHABLE => UNREACHABLE,
                nearer => nearer + 1,
            };
            if *distance == UNREACHABLE && one.min(other) != UNREACHABLE {
                return Err(Error::limit("two edges are more than 65,533 edges apart"));
            }
            if *distance != UNREACHABLE {
                longest = longest.max(*distance);
            }
        }
    }
    search.nodes = to_nodes;
    found?;
    Ok(longest)
}
