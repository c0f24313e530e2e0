//! Hop distances: `dist(j, i)`, the number of edges on the shortest path from a source `j` to a receiver `i`.
//!
//! A [`DistanceSearch`] serves many receivers at once and leaves [`DistanceBitPlanes`]; [`distances_to`] turns those into
//! rows of numbers.

mod distance_bit_planes;
mod distance_search;
mod reordered_graph;

pub use distance_bit_planes::{DistanceBitPlanes, RECEIVERS_PER_BLOCK};
pub use distance_search::{DistanceSearch, Far};
pub use reordered_graph::ReorderedGraph;

use crate::error::{Error, Result};

/// The distance of a source that has no path to the receiver.
pub const UNREACHABLE: u16 = u16::MAX;

/// Number of receivers that [`distances_to`] serves at once.
pub const RECEIVERS_AT_ONCE: usize = 64;

/// Fills `rows` (`[receivers, nodes]`) with the distance from every node to each of at most 64 receivers, and returns
/// the largest finite one.
///
/// # Panics
/// If there are more than 64 receivers or `rows` has another length.
pub fn distances_to(
    graph: &ReorderedGraph,
    receivers: &[u32],
    far: Option<Far<'_>>,
    search: &mut DistanceSearch,
    rows: &mut [u16],
) -> Result<u16> {
    let planes = search.run(graph, receivers.as_chunks::<1>().0, far)?;
    write_rows(planes, graph, rows);
    Ok(planes.longest)
}

/// Writes planes as rows, `[receivers, nodes]`.
fn write_rows(planes: &DistanceBitPlanes, graph: &ReorderedGraph, rows: &mut [u16]) {
    let nodes = planes.nodes;
    assert!(rows.len() == planes.receivers * nodes);
    if planes.longest < u16::from(u8::MAX) {
        let mut words = vec![0; nodes];
        for (block, rows) in rows.chunks_mut((RECEIVERS_PER_BLOCK * nodes).max(1)).enumerate() {
            planes.write_bytes(block, graph, u8::MAX, &mut words);
            for (lane, row) in rows.chunks_exact_mut(nodes).enumerate() {
                for (distance, word) in row.iter_mut().zip(&words) {
                    let byte = (word >> (8 * lane)) as u8;
                    *distance = if byte == u8::MAX { UNREACHABLE } else { u16::from(byte) };
                }
            }
        }
        return;
    }
    let mut lanes = vec![[0; RECEIVERS_PER_BLOCK]; nodes];
    for (block, rows) in rows.chunks_mut((RECEIVERS_PER_BLOCK * nodes).max(1)).enumerate() {
        planes.write_wide(block, graph, UNREACHABLE, &mut lanes);
        for (lane, row) in rows.chunks_exact_mut(nodes).enumerate() {
            row.iter_mut().zip(&lanes).for_each(|(distance, lanes)| *distance = lanes[lane]);
        }
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
    graph: &ReorderedGraph,
    edges: &[[u32; 2]],
    pairs: &[[u32; 2]],
    search: &mut DistanceSearch,
    rows: &mut [u16],
) -> Result<u16> {
    assert!(rows.len() == pairs.len() * edges.len());
    let mut to_nodes = vec![0; pairs.len() * graph.graph.len()];
    write_rows(search.run(graph, pairs, None)?, graph, &mut to_nodes);
    let mut longest = 0;
    let to_nodes_of = to_nodes.chunks_exact(graph.graph.len().max(1));
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
    Ok(longest)
}
