//! Lists: the sources of every shell by name, where they are few.
//!
//! Two things make them few. A *sample* of every shell stands for the whole of it while a model is trained. And where
//! one shell of every receiver holds nearly all sources, only the others are listed: what the largest one says in sum is
//! what all sources say less what is listed.

use std::sync::OnceLock;

use pulp::Arch;
use rayon::prelude::*;

use super::rows::{NOBODY, Octet};
use super::sweep::{SOURCES_IN_F32, SOURCES_PER_TASK, parts_of, split};
use crate::distance::OCTET;

/// The slot of a receiver none of whose shells is left out.
pub(super) const NO_REST: u16 = u16::MAX;
/// Octets whose pulls are read together: they stay in a cache meanwhile.
const OCTETS_PER_CHUNK: usize = 512;

/// The listed sources of every shell.
pub(super) struct Lists {
    pub(super) octets: Vec<Octet>,
    slots: usize,
    /// `[octets, slots, receivers] + 1`: where the list of every shell begins.
    offsets: Vec<usize>,
    sources: Vec<u32>,
    /// `[octets, receivers]`: the shell that is not listed.
    rest: Vec<u16>,
    source_count: usize,
    by_source: OnceLock<Vec<BySource>>,
}

/// The same lists of some octets by source.
struct BySource {
    offsets: Vec<u32>,
    /// Places within the pulls of these octets.
    places: Vec<u32>,
}

impl Lists {
    pub(super) fn new(
        octets: Vec<Octet>,
        slots: usize,
        offsets: Vec<usize>,
        sources: Vec<u32>,
        rest: Vec<u16>,
        source_count: usize,
    ) -> Lists {
        Lists { octets, slots, offsets, sources, rest, source_count, by_source: OnceLock::new() }
    }

    /// The lists of other octets, whose receivers are at `positions` of these.
    pub(super) fn select(&self, octets: Vec<Octet>, positions: &[usize]) -> Lists {
        let mut place = vec![(0, 0); positions.len().max(self.octets.len() * OCTET)];
        for (number, octet) in self.octets.iter().enumerate() {
            for (lane, receiver) in octet.receivers.iter().enumerate().filter(|(_, receiver)| **receiver != NOBODY) {
                place[*receiver as usize] = (number, lane);
            }
        }
        let (mut offsets, mut sources, mut rest) = (vec![0], Vec::new(), Vec::with_capacity(octets.len() * OCTET));
        for octet in &octets {
            let from = octet.receivers.map(|receiver| match receiver {
                NOBODY => None,
                receiver => Some(place[positions[receiver as usize]]),
            });
            rest.extend(from.map(|from| from.map_or(NO_REST, |(number, lane)| self.rest[number * OCTET + lane])));
            for slot in 0..self.slots {
                for (number, lane) in from.map(|from| from.unwrap_or((usize::MAX, 0))) {
                    if number != usize::MAX {
                        let list = (number * self.slots + slot) * OCTET + lane;
                        sources.extend_from_slice(&self.sources[self.offsets[list]..self.offsets[list + 1]]);
                    }
                    offsets.push(sources.len());
                }
            }
        }
        Lists::new(octets, self.slots, offsets, sources, rest, self.source_count)
    }

    /// `sums[octet, l, receiver, :] = sum over the listed sources of said[j, :]`, block after block.
    pub(super) fn sums<const W: usize>(&self, said: &[f32], sums: &mut [f32]) {
        if self.octets.is_empty() {
            return;
        }
        let per_octet = self.slots * OCTET * W;
        let blocks = sums.len() / (self.octets.len() * per_octet);
        for (said, sums) in split(said, blocks).zip(sums.chunks_exact_mut(self.octets.len() * per_octet)) {
            let said = said.as_chunks::<W>().0;
            let totals = self.totals(said);
            sums.par_chunks_mut(per_octet).enumerate().for_each(|(octet, sums)| {
                Arch::new().dispatch(|| self.octet_sums(octet, said, &totals, sums.as_chunks_mut::<W>().0));
            });
        }
    }

    #[inline(always)]
    fn octet_sums<const W: usize>(
        &self,
        octet: usize,
        said: &[[f32; W]],
        totals: &[(usize, [f64; W])],
        sums: &mut [[f32; W]],
    ) {
        let first = self.octets[octet].first;
        let mut listed = [[0.0f64; W]; OCTET];
        for slot in 0..self.slots {
            for lane in 0..OCTET {
                let place = slot * OCTET + lane;
                let list = octet * self.slots * OCTET + place;
                let mut exact = [0.0f64; W];
                for some in self.sources[self.offsets[list]..self.offsets[list + 1]].chunks(SOURCES_IN_F32) {
                    let mut sum = [0.0f32; W];
                    for source in some {
                        let value = &said[first + *source as usize];
                        for w in 0..W {
                            sum[w] += value[w];
                        }
                    }
                    exact.iter_mut().zip(sum).for_each(|(exact, sum)| *exact += f64::from(sum));
                }
                listed[lane].iter_mut().zip(exact).for_each(|(listed, sum)| *listed += sum);
                sums[place] = exact.map(|sum| sum as f32);
            }
        }
        for (lane, rest) in self.rest[octet * OCTET..][..OCTET].iter().enumerate() {
            let total = totals.iter().find(|(of, _)| *of == first).map(|(_, total)| total);
            if let (false, Some(total)) = (*rest == NO_REST, total) {
                sums[usize::from(*rest) * OCTET + lane] = std::array::from_fn(|w| (total[w] - listed[lane][w]) as f32);
            }
        }
    }

    /// What all sources of every graph say in sum, where that is needed.
    fn totals<const W: usize>(&self, said: &[[f32; W]]) -> Vec<(usize, [f64; W])> {
        let mut totals: Vec<(usize, [f64; W])> = Vec::new();
        for (octet, rest) in self.octets.iter().zip(self.rest.chunks_exact(OCTET)) {
            if rest.iter().all(|rest| *rest == NO_REST) || totals.last().is_some_and(|(first, _)| *first == octet.first)
            {
                continue;
            }
            let mut total = [0.0; W];
            for value in &said[octet.first..octet.first + octet.len] {
                total.iter_mut().zip(value).for_each(|(total, value)| *total += f64::from(*value));
            }
            totals.push((octet.first, total));
        }
        totals
    }

    /// `gradient[j, :] += sum over the shells that j is in of pull`, block after block; the pulls are used up.
    pub(super) fn gather<const W: usize>(&self, pull: &mut [f32], gradient: &mut [f32]) {
        if self.octets.is_empty() || gradient.is_empty() {
            return;
        }
        let by_source = self.by_source.get_or_init(|| self.transposed());
        let block_length = self.octets.len() * self.slots * OCTET * W;
        let blocks = pull.len() / block_length;
        let gradient_length = gradient.len() / blocks;
        for (pull, gradient) in pull.chunks_exact_mut(block_length).zip(gradient.chunks_exact_mut(gradient_length)) {
            self.pull_on_all(pull.as_chunks_mut::<W>().0, gradient.as_chunks_mut::<W>().0);
        }
        let pull: Vec<&[[f32; W]]> = split(pull, blocks).map(|block| block.as_chunks::<W>().0).collect();
        let mut parts = parts_of(gradient, blocks, SOURCES_PER_TASK * W);
        parts.par_iter_mut().enumerate().for_each(|(task, gradient)| {
            for (chunk, lists) in by_source.iter().enumerate() {
                for (pull, gradient) in pull.iter().zip(gradient.iter_mut()) {
                    let pull = &pull[chunk * OCTETS_PER_CHUNK * self.slots * OCTET..];
                    let gradient = gradient.as_chunks_mut::<W>().0;
                    Arch::new().dispatch(|| lists.add_pulls(task * SOURCES_PER_TASK, pull, gradient));
                }
            }
        });
    }

    /// A shell that is not listed pulls on all sources of its graph; those that are listed are in another shell, whose
    /// pull is lessened by as much.
    fn pull_on_all<const W: usize>(&self, pull: &mut [[f32; W]], gradient: &mut [[f32; W]]) {
        let mut of_graph = [0.0f64; W];
        for (place, octet) in self.octets.iter().enumerate() {
            let pull = &mut pull[place * self.slots * OCTET..][..self.slots * OCTET];
            for (lane, rest) in self.rest[place * OCTET..][..OCTET].iter().enumerate().filter(|(_, r)| **r != NO_REST) {
                let of_rest = pull[usize::from(*rest) * OCTET + lane];
                of_graph.iter_mut().zip(of_rest).for_each(|(sum, pull)| *sum += f64::from(pull));
                for slot in 0..self.slots {
                    pull[slot * OCTET + lane].iter_mut().zip(of_rest).for_each(|(pull, rest)| *pull -= rest);
                }
            }
            if self.octets.get(place + 1).is_none_or(|next| next.first != octet.first) {
                for sum in &mut gradient[octet.first..octet.first + octet.len] {
                    sum.iter_mut().zip(of_graph).for_each(|(sum, pull)| *sum += pull as f32);
                }
                of_graph = [0.0; W];
            }
        }
    }

    fn transposed(&self) -> Vec<BySource> {
        let chunks: Vec<usize> = (0..self.octets.len()).step_by(OCTETS_PER_CHUNK).collect();
        let per_octet = self.slots * OCTET;
        let transpose = |chunk: &usize| {
            let octets = *chunk..(chunk + OCTETS_PER_CHUNK).min(self.octets.len());
            let lists = (octets.start * per_octet..octets.end * per_octet).map(|list| {
                let first = self.octets[list / per_octet].first;
                let sources = &self.sources[self.offsets[list]..self.offsets[list + 1]];
                ((list - octets.start * per_octet) as u32, sources.iter().map(move |source| first + *source as usize))
            });
            let mut offsets = vec![0u32; self.source_count + 1];
            lists.clone().for_each(|(_, sources)| sources.for_each(|source| offsets[source + 1] += 1));
            for source in 0..self.source_count {
                offsets[source + 1] += offsets[source];
            }
            let mut next = offsets.clone();
            let mut places = vec![0; offsets[self.source_count] as usize];
            for (place, sources) in lists {
                for source in sources {
                    places[next[source] as usize] = place;
                    next[source] += 1;
                }
            }
            BySource { offsets, places }
        };
        chunks.par_iter().map(transpose).collect()
    }
}

impl BySource {
    /// Adds to every source, from `first` on, what is pulled by the lists that it is in.
    #[inline(always)]
    fn add_pulls<const W: usize>(&self, first: usize, pull: &[[f32; W]], gradient: &mut [[f32; W]]) {
        for (source, sum) in (first..).zip(gradient) {
            for place in self.of(source) {
                let pull = &pull[*place as usize];
                for w in 0..W {
                    sum[w] += pull[w];
                }
            }
        }
    }

    /// The lists that a source is in.
    fn of(&self, source: usize) -> &[u32] {
        &self.places[self.offsets[source] as usize..self.offsets[source + 1] as usize]
    }
}
