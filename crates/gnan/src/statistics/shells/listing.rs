//! How lists are made: all sources of a shell, or a sample of them, in one search.
//!
//! The sample is stratified: the sources of a shell, in the order of the data, are cut into as many parts of equal length
//! as there are to be drawn, and one is drawn from each. Every source has the same chance, so the mean of the sample is
//! the mean of the shell on average. A shell with no more sources than that is taken whole.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::lists::{Lists, NO_REST};
use super::shell_counts::ShellCounts;
use super::slot_rows::{EMPTY_LANE, batches};
use serde::Serialize;

use crate::distance::RECEIVERS_PER_BLOCK;
use crate::lens::ViewSearch;
use crate::random::Stream;

/// The rank that no source has.
const NO_RANK: u32 = u32::MAX;

/// A sample of every shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sample {
    /// Sources of a shell.
    pub size: u32,
    /// The seed of all draws.
    pub seed: u64,
    /// Which draw it is.
    pub draw: u64,
}

/// Which sources are listed.
#[derive(Clone, Copy)]
pub(super) enum Pick {
    /// All, but for the largest shell of every receiver.
    AllButLargest,
    /// Some of every shell.
    Some(Sample),
}

impl Pick {
    /// How many sources of a shell of `count` are listed.
    pub(super) fn listed(self, count: u32) -> u32 {
        match self {
            Pick::AllButLargest => count,
            Pick::Some(sample) => count.min(sample.size),
        }
    }
}

/// Lists of receivers, which are given by their positions in the shell counts.
pub(super) fn lists(shell_counts: &Arc<ShellCounts>, receivers: &[u32], pick: Pick) -> Lists {
    let slots = shell_counts.slots;
    let blocks = shell_counts.receiver_blocks(receivers);
    let index = |receiver: u32| (receiver != EMPTY_LANE).then(|| receivers[receiver as usize]);
    let mut rest = Vec::with_capacity(blocks.len() * RECEIVERS_PER_BLOCK);
    let mut offsets = Vec::with_capacity(blocks.len() * slots * RECEIVERS_PER_BLOCK + 1);
    offsets.push(0);
    for block in &blocks {
        let own = block.receivers.map(|receiver| index(receiver).map(|index| shell_counts.counts(index as usize)));
        let largest = own.map(|counts| match (pick, counts) {
            (Pick::AllButLargest, Some(counts)) => largest_of(counts),
            _ => NO_REST,
        });
        rest.extend(largest);
        for slot in 0..slots {
            for lane in 0..RECEIVERS_PER_BLOCK {
                let count = own[lane].map_or(0, |counts| counts[slot]);
                let listed = if usize::from(largest[lane]) == slot { 0 } else { pick.listed(count) };
                offsets.push(offsets[offsets.len() - 1] + listed as usize);
            }
        }
    }
    let mut sources = vec![0; offsets[offsets.len() - 1]];
    let mut pieces = Vec::new();
    let mut left = &mut sources[..];
    for range in batches(&blocks, 0..blocks.len(), shell_counts.blocks_at_once) {
        let (place, batch) = (range.start, &blocks[range]);
        let length =
            offsets[(place + batch.len()) * slots * RECEIVERS_PER_BLOCK] - offsets[place * slots * RECEIVERS_PER_BLOCK];
        let (piece, after) = left.split_at_mut(length);
        pieces.push((place, batch, piece));
        left = after;
    }
    let (done, all) = (AtomicUsize::new(0), blocks.len());
    pieces.into_par_iter().for_each_init(
        || (ViewSearch::default(), Vec::new()),
        |(search, words), (place, batch, piece)| {
            let members = batch.iter().flat_map(|block| block.receivers).filter_map(index);
            let result = shell_counts.find_again(members, search);
            let first = offsets[place * slots * RECEIVERS_PER_BLOCK];
            for (number, block) in batch.iter().enumerate() {
                let lists =
                    &offsets[(place + number) * slots * RECEIVERS_PER_BLOCK..][..slots * RECEIVERS_PER_BLOCK + 1];
                let own = block.receivers.map(|receiver| index(receiver).map(|index| shell_counts.item(index)));
                let counts =
                    block.receivers.map(|receiver| index(receiver).map(|index| shell_counts.counts(index as usize)));
                let mut picker = Picker::new(pick, lists, first, own, counts);
                if slots <= 256 {
                    words.resize(block.len, 0);
                    result.write_bytes(number, (slots - 1) as u8, words);
                    for (source, word) in (0u32..).zip(words.iter()) {
                        for lane in 0..RECEIVERS_PER_BLOCK {
                            picker.visit(usize::from((word >> (8 * lane)) as u8), lane, source, piece);
                        }
                    }
                } else {
                    let mut wide = vec![[0; RECEIVERS_PER_BLOCK]; block.len];
                    result.write_wide(number, (slots - 1) as u16, &mut wide);
                    for (source, word) in (0u32..).zip(&wide) {
                        for lane in 0..RECEIVERS_PER_BLOCK {
                            picker.visit(usize::from(word[lane]), lane, source, piece);
                        }
                    }
                }
            }
            let now = done.fetch_add(batch.len(), Ordering::Relaxed) + batch.len();
            shell_counts.run.observe("lists of sources", now, all);
        },
    );
    Lists::new(blocks, slots, offsets, sources, rest, shell_counts.source_count)
}

fn largest_of(counts: &[u32]) -> u16 {
    let largest = (0..counts.len()).rev().max_by_key(|slot| counts[*slot]);
    largest.map_or(NO_REST, |slot| slot as u16)
}

/// Picks sources of eight receivers while visiting all sources in order.
struct Picker {
    shells: Vec<[Shell; RECEIVERS_PER_BLOCK]>,
    streams: [Stream; RECEIVERS_PER_BLOCK],
}

/// How far the list of a shell has come.
#[derive(Clone, Copy)]
struct Shell {
    /// Sources visited so far.
    visited: u32,
    /// The rank of the next one that is picked.
    next: u32,
    /// How many have been picked, of how many, out of how many.
    picked: u32,
    listed: u32,
    count: u32,
    /// Where they are written.
    start: usize,
}

impl Picker {
    fn new(
        pick: Pick,
        lists: &[usize],
        first: usize,
        items: [Option<u32>; RECEIVERS_PER_BLOCK],
        counts: [Option<&[u32]>; RECEIVERS_PER_BLOCK],
    ) -> Picker {
        let stream = |item: Option<u32>| match pick {
            Pick::Some(Sample { seed, draw, .. }) => {
                Stream::named(seed, "sample of shells", draw << 32 | u64::from(item.unwrap_or(0)))
            }
            Pick::AllButLargest => Stream::named(0, "sample of shells", 0),
        };
        let mut streams = items.map(stream);
        let slots = (lists.len() - 1) / RECEIVERS_PER_BLOCK;
        let mut shell = |slot: usize, lane: usize| {
            let place = slot * RECEIVERS_PER_BLOCK + lane;
            let listed = (lists[place + 1] - lists[place]) as u32;
            let count = counts[lane].map_or(0, |counts| counts[slot]);
            let mut shell = Shell { visited: 0, next: NO_RANK, picked: 0, listed, count, start: lists[place] - first };
            shell.next = shell.rank(&mut streams[lane]);
            shell
        };
        let shells = (0..slots).map(|slot| std::array::from_fn(|lane| shell(slot, lane))).collect();
        Picker { shells, streams }
    }

    #[inline(always)]
    fn visit(&mut self, slot: usize, lane: usize, source: u32, out: &mut [u32]) {
        let shell = &mut self.shells[slot][lane];
        while shell.visited == shell.next {
            out[shell.start + shell.picked as usize] = source;
            shell.picked += 1;
            shell.next = shell.rank(&mut self.streams[lane]);
        }
        shell.visited += 1;
    }
}

impl Shell {
    /// The rank of the source that is picked next: one from every part of equal length.
    fn rank(&self, stream: &mut Stream) -> u32 {
        if self.picked >= self.listed {
            return NO_RANK;
        }
        if self.listed == self.count {
            return self.picked;
        }
        let part = f64::from(self.count) / f64::from(self.listed);
        let rank = ((f64::from(self.picked) + stream.uniform()) * part) as u32;
        rank.min(self.count - 1)
    }
}
