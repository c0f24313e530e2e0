//! Lists: the sources of every shell one by one, where they are few.
//!
//! Two things make them few. A *sample* of every shell stands for the whole of it while a model is trained. And where
//! one shell of every receiver holds nearly all sources, only the others are listed: the sum over the largest one is the
//! sum over all sources minus the sums over those that are listed.

use std::sync::OnceLock;

use pulp::Arch;
use rayon::prelude::*;

use super::slot_rows::{EMPTY_LANE, ReceiverBlock};
use super::sweep::{SOURCES_IN_F32, SOURCES_PER_TASK, parts_of, split};
use crate::distance::RECEIVERS_PER_BLOCK;

/// The slot of a receiver none of whose shells is left out.
pub(super) const NO_REST: u16 = u16::MAX;
/// Receiver blocks whose gradients are read together: they stay in a cache meanwhile.
const BLOCKS_PER_CHUNK: usize = 512;

/// The listed sources of every shell.
pub(super) struct Lists {
    pub(super) blocks: Vec<ReceiverBlock>,
    slots: usize,
    /// `[blocks, slots, receivers] + 1`: where the list of every shell begins.
    offsets: Vec<usize>,
    sources: Vec<u32>,
    /// `[blocks, receivers]`: the shell that is not listed.
    rest: Vec<u16>,
    source_count: usize,
    by_source: OnceLock<Vec<BySource>>,
}

/// The same lists of some blocks by source.
struct BySource {
    offsets: Vec<u32>,
    /// Places within the shell gradients of these blocks.
    places: Vec<u32>,
}

impl Lists {
    pub(super) fn new(
        blocks: Vec<ReceiverBlock>,
        slots: usize,
        offsets: Vec<usize>,
        sources: Vec<u32>,
        rest: Vec<u16>,
        source_count: usize,
    ) -> Lists {
        Lists { blocks, slots, offsets, sources, rest, source_count, by_source: OnceLock::new() }
    }

    /// The lists of other blocks, whose receivers are at `positions` of these.
    pub(super) fn select(&self, blocks: Vec<ReceiverBlock>, positions: &[usize]) -> Lists {
        let mut place = vec![(0, 0); positions.len().max(self.blocks.len() * RECEIVERS_PER_BLOCK)];
        for (number, block) in self.blocks.iter().enumerate() {
            for (lane, receiver) in block.receivers.iter().enumerate().filter(|(_, receiver)| **receiver != EMPTY_LANE)
            {
                place[*receiver as usize] = (number, lane);
            }
        }
        let (mut offsets, mut sources, mut rest) =
            (vec![0], Vec::new(), Vec::with_capacity(blocks.len() * RECEIVERS_PER_BLOCK));
        for block in &blocks {
            let from = block.receivers.map(|receiver| match receiver {
                EMPTY_LANE => None,
                receiver => Some(place[positions[receiver as usize]]),
            });
            rest.extend(
                from.map(|from| from.map_or(NO_REST, |(number, lane)| self.rest[number * RECEIVERS_PER_BLOCK + lane])),
            );
            for slot in 0..self.slots {
                for (number, lane) in from.map(|from| from.unwrap_or((usize::MAX, 0))) {
                    if number != usize::MAX {
                        let list = (number * self.slots + slot) * RECEIVERS_PER_BLOCK + lane;
                        sources.extend_from_slice(&self.sources[self.offsets[list]..self.offsets[list + 1]]);
                    }
                    offsets.push(sources.len());
                }
            }
        }
        Lists::new(blocks, self.slots, offsets, sources, rest, self.source_count)
    }

    /// `sums[block, l, receiver, :] = sum over the listed sources of values[j, :]`, lane block after lane block.
    pub(super) fn sums<const W: usize>(&self, values: &[f32], sums: &mut [f32]) {
        if self.blocks.is_empty() {
            return;
        }
        let per_block = self.slots * RECEIVERS_PER_BLOCK * W;
        let lane_blocks = sums.len() / (self.blocks.len() * per_block);
        for (values, sums) in split(values, lane_blocks).zip(sums.chunks_exact_mut(self.blocks.len() * per_block)) {
            let values = values.as_chunks::<W>().0;
            let totals = self.totals(values);
            sums.par_chunks_mut(per_block).enumerate().for_each(|(block, sums)| {
                Arch::new().dispatch(|| self.block_sums(block, values, &totals, sums.as_chunks_mut::<W>().0));
            });
        }
    }

    #[inline(always)]
    fn block_sums<const W: usize>(
        &self,
        block: usize,
        values: &[[f32; W]],
        totals: &[(usize, [f64; W])],
        sums: &mut [[f32; W]],
    ) {
        let first = self.blocks[block].first;
        let mut listed = [[0.0f64; W]; RECEIVERS_PER_BLOCK];
        for slot in 0..self.slots {
            for lane in 0..RECEIVERS_PER_BLOCK {
                let place = slot * RECEIVERS_PER_BLOCK + lane;
                let list = block * self.slots * RECEIVERS_PER_BLOCK + place;
                let mut exact = [0.0f64; W];
                for some in self.sources[self.offsets[list]..self.offsets[list + 1]].chunks(SOURCES_IN_F32) {
                    let mut sum = [0.0f32; W];
                    for source in some {
                        let value = &values[first + *source as usize];
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
        for (lane, rest) in self.rest[block * RECEIVERS_PER_BLOCK..][..RECEIVERS_PER_BLOCK].iter().enumerate() {
            if *rest != NO_REST {
                let total = totals.iter().find(|(of, _)| *of == first);
                let (_, total) = total.expect("invariant: a graph with a shell that is not listed has a total");
                sums[usize::from(*rest) * RECEIVERS_PER_BLOCK + lane] =
                    std::array::from_fn(|w| (total[w] - listed[lane][w]) as f32);
            }
        }
    }

    /// The sum over all sources of every graph, where it is needed.
    fn totals<const W: usize>(&self, values: &[[f32; W]]) -> Vec<(usize, [f64; W])> {
        let mut totals: Vec<(usize, [f64; W])> = Vec::new();
        for (block, rest) in self.blocks.iter().zip(self.rest.chunks_exact(RECEIVERS_PER_BLOCK)) {
            if rest.iter().all(|rest| *rest == NO_REST) || totals.last().is_some_and(|(first, _)| *first == block.first)
            {
                continue;
            }
            let mut total = [0.0; W];
            for value in &values[block.first..block.first + block.len] {
                total.iter_mut().zip(value).for_each(|(total, value)| *total += f64::from(*value));
            }
            totals.push((block.first, total));
        }
        totals
    }

    /// `gradient[j, :] += sum over the shells that j is in of shell_gradient`, lane block after lane block; overwrites
    /// `shell_gradient`.
    pub(super) fn gather<const W: usize>(&self, shell_gradient: &mut [f32], gradient: &mut [f32]) {
        if self.blocks.is_empty() || gradient.is_empty() {
            return;
        }
        let by_source = self.by_source.get_or_init(|| self.transposed());
        let lane_block_length = self.blocks.len() * self.slots * RECEIVERS_PER_BLOCK * W;
        let lane_blocks = shell_gradient.len() / lane_block_length;
        let gradient_length = gradient.len() / lane_blocks;
        for (shell_gradient, gradient) in
            shell_gradient.chunks_exact_mut(lane_block_length).zip(gradient.chunks_exact_mut(gradient_length))
        {
            self.add_unlisted(shell_gradient.as_chunks_mut::<W>().0, gradient.as_chunks_mut::<W>().0);
        }
        let shell_gradient: Vec<&[[f32; W]]> =
            split(shell_gradient, lane_blocks).map(|lanes| lanes.as_chunks::<W>().0).collect();
        let mut parts = parts_of(gradient, lane_blocks, SOURCES_PER_TASK * W);
        parts.par_iter_mut().enumerate().for_each(|(task, gradient)| {
            for (chunk, lists) in by_source.iter().enumerate() {
                for (shell_gradient, gradient) in shell_gradient.iter().zip(gradient.iter_mut()) {
                    let shell_gradient = &shell_gradient[chunk * BLOCKS_PER_CHUNK * self.slots * RECEIVERS_PER_BLOCK..];
                    let gradient = gradient.as_chunks_mut::<W>().0;
                    Arch::new().dispatch(|| lists.add_gradients(task * SOURCES_PER_TASK, shell_gradient, gradient));
                }
            }
        });
    }

    /// Adds the gradient of every shell that is not listed to all sources of its graph; sources that are listed are in
    /// another shell, from whose gradient as much is subtracted.
    fn add_unlisted<const W: usize>(&self, shell_gradient: &mut [[f32; W]], gradient: &mut [[f32; W]]) {
        let mut of_graph = [0.0f64; W];
        for (place, block) in self.blocks.iter().enumerate() {
            let shell_gradient =
                &mut shell_gradient[place * self.slots * RECEIVERS_PER_BLOCK..][..self.slots * RECEIVERS_PER_BLOCK];
            for (lane, rest) in self.rest[place * RECEIVERS_PER_BLOCK..][..RECEIVERS_PER_BLOCK]
                .iter()
                .enumerate()
                .filter(|(_, r)| **r != NO_REST)
            {
                let of_rest = shell_gradient[usize::from(*rest) * RECEIVERS_PER_BLOCK + lane];
                of_graph.iter_mut().zip(of_rest).for_each(|(sum, g)| *sum += f64::from(g));
                for slot in 0..self.slots {
                    shell_gradient[slot * RECEIVERS_PER_BLOCK + lane]
                        .iter_mut()
                        .zip(of_rest)
                        .for_each(|(g, rest)| *g -= rest);
                }
            }
            if self.blocks.get(place + 1).is_none_or(|next| next.first != block.first) {
                for sum in &mut gradient[block.first..block.first + block.len] {
                    sum.iter_mut().zip(of_graph).for_each(|(sum, g)| *sum += g as f32);
                }
                of_graph = [0.0; W];
            }
        }
    }

    fn transposed(&self) -> Vec<BySource> {
        let chunks: Vec<usize> = (0..self.blocks.len()).step_by(BLOCKS_PER_CHUNK).collect();
        let per_block = self.slots * RECEIVERS_PER_BLOCK;
        let transpose = |chunk: &usize| {
            let blocks = *chunk..(chunk + BLOCKS_PER_CHUNK).min(self.blocks.len());
            let lists = (blocks.start * per_block..blocks.end * per_block).map(|list| {
                let first = self.blocks[list / per_block].first;
                let sources = &self.sources[self.offsets[list]..self.offsets[list + 1]];
                ((list - blocks.start * per_block) as u32, sources.iter().map(move |source| first + *source as usize))
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
    /// Adds to every source, from `first` on, the gradients of the shells that it is in.
    #[inline(always)]
    fn add_gradients<const W: usize>(&self, first: usize, shell_gradient: &[[f32; W]], gradient: &mut [[f32; W]]) {
        for (source, sum) in (first..).zip(gradient) {
            for place in self.of(source) {
                let g = &shell_gradient[*place as usize];
                for w in 0..W {
                    sum[w] += g[w];
                }
            }
        }
    }

    /// The lists that a source is in.
    fn of(&self, source: usize) -> &[u32] {
        &self.places[self.offsets[source] as usize..self.offsets[source + 1] as usize]
    }
}
