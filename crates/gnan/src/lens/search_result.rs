//! The distances that a search through a view found, read out for a block of eight receivers at a time.

use super::view::Longest;
use crate::distance::{DistanceBitPlanes, RECEIVERS_PER_BLOCK, ReorderedGraph, UNREACHABLE};

/// The distances from all sources to the receivers of one search.
pub enum SearchResult<'a> {
    /// Numbers of edges.
    BitPlanes(&'a DistanceBitPlanes, &'a ReorderedGraph),
    /// Distances of another kind, `[receivers, sources]`.
    Rows(&'a [u16], usize, Longest),
}

impl SearchResult<'_> {
    /// The longest distance, and whether there are unreachable sources.
    pub fn longest(&self) -> Longest {
        match self {
            SearchResult::BitPlanes(planes, _) => {
                Longest { finite: planes.longest, unreachable: planes.any_unreachable }
            }
            SearchResult::Rows(_, _, longest) => *longest,
        }
    }

    /// Adds up how many sources are at each distance of a receiver; those that are unreachable are not counted.
    pub fn count(&self, receiver: usize, counts: &mut [u32]) {
        match self {
            SearchResult::BitPlanes(planes, _) => {
                (0..).zip(counts).for_each(|(distance, count)| *count += planes.count(receiver, distance));
            }
            SearchResult::Rows(rows, sources, _) => {
                for distance in rows[receiver * sources..][..*sources].iter().filter(|x| **x != UNREACHABLE) {
                    counts[usize::from(*distance)] += 1;
                }
            }
        }
    }

    /// Writes the distances of a block of receivers from every source, one byte each.
    pub fn write_bytes(&self, block: usize, unreachable: u8, out: &mut [u64]) {
        match self {
            SearchResult::BitPlanes(planes, graph) => planes.write_bytes(block, graph, unreachable, out),
            SearchResult::Rows(rows, sources, _) => {
                out.fill(0);
                for (lane, row) in lanes_of(rows, block, *sources) {
                    for (word, distance) in out.iter_mut().zip(row) {
                        let distance = if *distance == UNREACHABLE { unreachable } else { *distance as u8 };
                        *word |= u64::from(distance) << (8 * lane);
                    }
                }
            }
        }
    }

    /// The same with two bytes each.
    pub fn write_wide(&self, block: usize, unreachable: u16, out: &mut [[u16; RECEIVERS_PER_BLOCK]]) {
        match self {
            SearchResult::BitPlanes(planes, graph) => planes.write_wide(block, graph, unreachable, out),
            SearchResult::Rows(rows, sources, _) => {
                out.fill([0; RECEIVERS_PER_BLOCK]);
                for (lane, row) in lanes_of(rows, block, *sources) {
                    for (lanes, distance) in out.iter_mut().zip(row) {
                        lanes[lane] = if *distance == UNREACHABLE { unreachable } else { *distance };
                    }
                }
            }
        }
    }
}

/// The rows of a block, each with its lane.
fn lanes_of(rows: &[u16], block: usize, sources: usize) -> impl Iterator<Item = (usize, &[u16])> {
    rows.chunks_exact(sources.max(1)).skip(block * RECEIVERS_PER_BLOCK).take(RECEIVERS_PER_BLOCK).enumerate()
}
