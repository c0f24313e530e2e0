//! What a search through a view found, read out for eight receivers at a time.

use super::view::Longest;
use crate::distance::{Ground, OCTET, Planes, UNREACHABLE};

/// What a search through a view found.
pub enum Found<'a> {
    /// Numbers of edges.
    Planes(&'a Planes, &'a Ground),
    /// Distances of another kind, `[receivers, sources]`.
    Rows(&'a [u16], usize, Longest),
}

impl Found<'_> {
    /// The longest distance, and whether there are unreachable sources.
    pub fn longest(&self) -> Longest {
        match self {
            Found::Planes(planes, _) => Longest { finite: planes.longest(), unreachable: planes.any_unreachable() },
            Found::Rows(_, _, longest) => *longest,
        }
    }

    /// Adds up how many sources are at each distance of a receiver; those that are unreachable are not counted.
    pub fn count(&self, receiver: usize, counts: &mut [u32]) {
        match self {
            Found::Planes(planes, _) => {
                (0..).zip(counts).for_each(|(distance, count)| *count += planes.count(receiver, distance));
            }
            Found::Rows(rows, sources, _) => {
                for distance in rows[receiver * sources..][..*sources].iter().filter(|x| **x != UNREACHABLE) {
                    counts[usize::from(*distance)] += 1;
                }
            }
        }
    }

    /// Writes the distances of eight receivers from every source, one byte each.
    pub fn write_bytes(&self, octet: usize, unreachable: u8, out: &mut [u64]) {
        match self {
            Found::Planes(planes, ground) => planes.write_bytes(octet, ground, unreachable, out),
            Found::Rows(rows, sources, _) => {
                out.fill(0);
                for (lane, row) in lanes_of(rows, octet, *sources) {
                    for (word, distance) in out.iter_mut().zip(row) {
                        let distance = if *distance == UNREACHABLE { unreachable } else { *distance as u8 };
                        *word |= u64::from(distance) << (8 * lane);
                    }
                }
            }
        }
    }

    /// The same with two bytes each.
    pub fn write_wide(&self, octet: usize, unreachable: u16, out: &mut [[u16; OCTET]]) {
        match self {
            Found::Planes(planes, ground) => planes.write_wide(octet, ground, unreachable, out),
            Found::Rows(rows, sources, _) => {
                out.fill([0; OCTET]);
                for (lane, row) in lanes_of(rows, octet, *sources) {
                    for (lanes, distance) in out.iter_mut().zip(row) {
                        lanes[lane] = if *distance == UNREACHABLE { unreachable } else { *distance };
                    }
                }
            }
        }
    }
}

/// The rows of an octet, each with its lane.
fn lanes_of(rows: &[u16], octet: usize, sources: usize) -> impl Iterator<Item = (usize, &[u16])> {
    rows.chunks_exact(sources.max(1)).skip(octet * OCTET).take(OCTET).enumerate()
}
