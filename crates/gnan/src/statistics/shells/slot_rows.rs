//! Rows of slots: for every block of eight receivers the slots of every source, packed in one word.
//!
//! A row is stored as bytes, as half bytes where slots are few, in a cache file, or not at all: then it is searched again
//! for every pass. Whichever it is, the same slots come out in the same order, and so the same numbers.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::distance_storage::DistanceStorage;
use super::row_file::{RowFile, pieces};
use super::shell_counts::ShellCounts;
use crate::distance::RECEIVERS_PER_BLOCK;
use crate::lens::{SearchResult, ViewSearch};
use crate::run::DistanceCache;

/// A lane of a block that no receiver uses.
pub(super) const EMPTY_LANE: u32 = u32::MAX;

/// Up to eight receivers of one graph.
#[derive(Clone, Debug)]
pub struct ReceiverBlock {
    /// Their positions among the receivers; `EMPTY_LANE` where there are fewer than eight.
    pub receivers: [u32; RECEIVERS_PER_BLOCK],
    /// Their first source.
    pub first: usize,
    /// The number of their sources.
    pub len: usize,
    /// Where their row begins, counted in words.
    pub start: usize,
}

impl ReceiverBlock {
    /// The positions of its receivers, which come first.
    pub fn members(&self) -> impl Iterator<Item = usize> {
        self.receivers.into_iter().take_while(|receiver| *receiver != EMPTY_LANE).map(|receiver| receiver as usize)
    }
}

/// Runs of blocks of one graph, at most so many each, that are searched for together.
pub(super) fn batches(blocks: &[ReceiverBlock], range: Range<usize>, at_once: usize) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    for place in range {
        match batches.last_mut() {
            Some(batch) if batch.len() < at_once && blocks[batch.start].first == blocks[place].first => {
                batch.end = place + 1;
            }
            _ => batches.push(place..place + 1),
        }
    }
    batches
}

/// Words that the rows of all blocks take.
fn words_of(blocks: &[ReceiverBlock]) -> usize {
    blocks.last().map_or(0, |block| block.start + block.len)
}

/// The rows of some receivers.
pub struct SlotRows {
    blocks: Vec<ReceiverBlock>,
    stored: StoredRows,
    pub(super) shell_counts: Arc<ShellCounts>,
    /// For every receiver its position in the shell counts.
    pub(super) indices: Arc<[u32]>,
}

enum StoredRows {
    Bytes(Vec<u64>),
    HalfBytes(Vec<u32>),
    Wide(Vec<[u16; RECEIVERS_PER_BLOCK]>),
    File(RowFile),
    Nowhere { wide: bool },
}

/// The words of some blocks, and where the first of them begins.
#[derive(Clone, Copy)]
pub(super) enum PackedSlots<'a> {
    Bytes(&'a [u64], usize),
    HalfBytes(&'a [u32], usize),
    Wide(&'a [[u16; RECEIVERS_PER_BLOCK]], usize),
}

impl PackedSlots<'_> {
    pub(super) fn start(&self) -> usize {
        match self {
            PackedSlots::Bytes(_, start) | PackedSlots::HalfBytes(_, start) | PackedSlots::Wide(_, start) => *start,
        }
    }
}

/// The slots of one source and eight receivers.
trait SlotWord: Copy + Default + Send + Sync {
    fn lane(self, lane: usize) -> u16;
    fn pack(lanes: [u16; RECEIVERS_PER_BLOCK]) -> Self;
    fn write(result: &SearchResult<'_>, block: usize, unreachable: usize, out: &mut [Self], bytes: &mut Vec<u64>);
}

impl SlotWord for u64 {
    fn lane(self, lane: usize) -> u16 {
        u16::from((self >> (8 * lane)) as u8)
    }

    fn pack(lanes: [u16; RECEIVERS_PER_BLOCK]) -> u64 {
        lanes.iter().rev().fold(0, |word, lane| word << 8 | u64::from(*lane))
    }

    fn write(result: &SearchResult<'_>, block: usize, unreachable: usize, out: &mut [u64], _: &mut Vec<u64>) {
        result.write_bytes(block, unreachable as u8, out);
    }
}

impl SlotWord for u32 {
    fn lane(self, lane: usize) -> u16 {
        (self >> (4 * lane) & 15) as u16
    }

    fn pack(lanes: [u16; RECEIVERS_PER_BLOCK]) -> u32 {
        lanes.iter().rev().fold(0, |word, lane| word << 4 | u32::from(*lane))
    }

    fn write(result: &SearchResult<'_>, block: usize, unreachable: usize, out: &mut [u32], bytes: &mut Vec<u64>) {
        bytes.resize(out.len(), 0);
        result.write_bytes(block, unreachable as u8, bytes);
        for (half, word) in out.iter_mut().zip(bytes.iter()) {
            let word = (word | word >> 4) & 0x00ff_00ff_00ff_00ff;
            let word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
            *half = (word | word >> 16) as u32;
        }
    }
}

impl SlotWord for [u16; RECEIVERS_PER_BLOCK] {
    fn lane(self, lane: usize) -> u16 {
        self[lane]
    }

    fn pack(lanes: [u16; RECEIVERS_PER_BLOCK]) -> Self {
        lanes
    }

    fn write(result: &SearchResult<'_>, block: usize, unreachable: usize, out: &mut [Self], _: &mut Vec<u64>) {
        result.write_wide(block, unreachable as u16, out);
    }
}

impl SlotRows {
    /// The rows of receivers, which are given by their positions in the shell counts, stored in some way.
    pub(super) fn new(shell_counts: &Arc<ShellCounts>, indices: &[u32], storage: &DistanceStorage) -> SlotRows {
        let blocks = shell_counts.receiver_blocks(indices);
        let words = words_of(&blocks);
        let wide = shell_counts.slots > 256;
        let mut rows = SlotRows {
            blocks,
            stored: StoredRows::Nowhere { wide },
            shell_counts: Arc::clone(shell_counts),
            indices: indices.into(),
        };
        rows.stored = match storage {
            // A file holds bytes.
            DistanceStorage::File(_) if wide => StoredRows::Nowhere { wide },
            DistanceStorage::Recomputed => StoredRows::Nowhere { wide },
            DistanceStorage::Bytes if wide => StoredRows::Wide(rows.filled(words)),
            DistanceStorage::Bytes => StoredRows::Bytes(rows.filled(words)),
            DistanceStorage::HalfBytes => StoredRows::HalfBytes(rows.filled(words)),
            DistanceStorage::File(cache) => match rows.file(cache) {
                Ok(file) => StoredRows::File(file),
                Err(error) => {
                    cache.report(format!(
                        "distances cannot be kept in {} ({error}): they were searched again for every pass",
                        cache.folder().display()
                    ));
                    StoredRows::Nowhere { wide }
                }
            },
        };
        rows
    }

    /// The receivers, eight at a time.
    pub fn receiver_blocks(&self) -> &[ReceiverBlock] {
        &self.blocks
    }

    fn filled<T: SlotWord>(&self, words: usize) -> Vec<T> {
        let mut out = vec![T::default(); words];
        self.search(0..self.blocks.len(), &mut out);
        out
    }

    /// Searches for the receivers of some blocks and writes down their rows.
    fn search<T: SlotWord>(&self, range: Range<usize>, out: &mut [T]) {
        let unreachable = self.shell_counts.slots - 1;
        let mut pieces = Vec::new();
        let mut rest = out;
        for batch in batches(&self.blocks, range, self.shell_counts.blocks_at_once) {
            let words = self.blocks[batch.clone()].iter().map(|block| block.len).sum();
            let (piece, after) = rest.split_at_mut(words);
            pieces.push((batch, piece));
            rest = after;
        }
        pieces.into_par_iter().for_each_init(
            || (ViewSearch::default(), Vec::new()),
            |(search, bytes), (batch, piece)| {
                let blocks = &self.blocks[batch];
                let result = self.shell_counts.find_again(self.members(blocks), search);
                for (block, out) in piece.chunks_exact_mut(blocks[0].len.max(1)).enumerate() {
                    T::write(&result, block, unreachable, out, bytes);
                }
            },
        );
    }

    /// The positions in the shell counts of the receivers of some blocks.
    fn members<'a>(&'a self, blocks: &'a [ReceiverBlock]) -> impl Iterator<Item = u32> + 'a {
        let receivers = blocks.iter().flat_map(|block| &block.receivers);
        receivers.filter(|receiver| **receiver != EMPTY_LANE).map(|receiver| self.indices[*receiver as usize])
    }

    /// Calls `visit` with all words, some blocks at a time.
    pub(super) fn each_wave(&self, mut visit: impl FnMut(Range<usize>, PackedSlots<'_>)) {
        let all = 0..self.blocks.len();
        match &self.stored {
            StoredRows::Bytes(words) => visit(all, PackedSlots::Bytes(words, 0)),
            StoredRows::HalfBytes(words) => visit(all, PackedSlots::HalfBytes(words, 0)),
            StoredRows::Wide(words) => visit(all, PackedSlots::Wide(words, 0)),
            StoredRows::Nowhere { wide: false } => {
                let mut words: Vec<u64> = Vec::new();
                self.each_search(|range, length| {
                    words.resize(length, 0);
                    self.search(range.clone(), &mut words);
                    visit(range.clone(), PackedSlots::Bytes(&words, self.blocks[range.start].start));
                });
            }
            StoredRows::Nowhere { wide: true } => {
                let mut words: Vec<[u16; RECEIVERS_PER_BLOCK]> = Vec::new();
                self.each_search(|range, length| {
                    words.resize(length, [0; RECEIVERS_PER_BLOCK]);
                    self.search(range.clone(), &mut words);
                    visit(range.clone(), PackedSlots::Wide(&words, self.blocks[range.start].start));
                });
            }
            StoredRows::File(file) => {
                let mut words: Vec<u64> = Vec::new();
                for range in pieces(&self.blocks) {
                    if let Err(error) = file.read(range.clone(), &self.blocks, &mut words) {
                        file.report("searched again", &error);
                        self.search(range.clone(), &mut words);
                    }
                    let start = self.blocks[range.start].start;
                    visit(range, PackedSlots::Bytes(&words, start));
                }
            }
        }
    }

    /// As many searches at a time as there are threads.
    fn each_search(&self, mut visit: impl FnMut(Range<usize>, usize)) {
        let batches = batches(&self.blocks, 0..self.blocks.len(), self.shell_counts.blocks_at_once);
        for wave in batches.chunks(rayon::current_num_threads().max(1)) {
            let range = wave[0].start..wave[wave.len() - 1].end;
            let length = self.blocks[range.clone()].iter().map(|block| block.len).sum();
            visit(range, length);
        }
    }

    /// The rows in a file, which is there already or is written now.
    fn file(&self, cache: &DistanceCache) -> std::io::Result<RowFile> {
        RowFile::open_or_create(cache, self.shell_counts.checksum(&self.indices), &self.blocks, |write| {
            let mut words: Vec<u64> = Vec::new();
            let mut written = Ok(());
            self.each_search(|range, length| {
                if written.is_ok() {
                    words.resize(length, 0);
                    self.search(range.clone(), &mut words);
                    written = write(range, &words);
                }
            });
            written
        })
    }

    /// The rows of some of the receivers, stored in memory the same way, or searched for now.
    pub(super) fn select(&self, positions: &[usize]) -> SlotRows {
        let indices: Vec<u32> = positions.iter().map(|position| self.indices[*position]).collect();
        let mut rows = SlotRows::new(&self.shell_counts, &indices, &DistanceStorage::Recomputed);
        rows.stored = match &self.stored {
            StoredRows::Bytes(words) => StoredRows::Bytes(self.regrouped(words, &rows.blocks, positions)),
            StoredRows::HalfBytes(words) => StoredRows::HalfBytes(self.regrouped(words, &rows.blocks, positions)),
            StoredRows::Wide(words) => StoredRows::Wide(self.regrouped(words, &rows.blocks, positions)),
            StoredRows::File(_) | StoredRows::Nowhere { .. } => {
                let words = words_of(&rows.blocks);
                return SlotRows::new(
                    &self.shell_counts,
                    &indices,
                    &DistanceStorage::in_memory(&self.shell_counts, words),
                );
            }
        };
        rows
    }

    /// The words of other blocks, whose receivers are at `positions` of these.
    fn regrouped<T: SlotWord>(&self, words: &[T], blocks: &[ReceiverBlock], positions: &[usize]) -> Vec<T> {
        let mut place = vec![(0, 0); self.indices.len()];
        for block in &self.blocks {
            for (lane, receiver) in block.receivers.iter().enumerate().filter(|(_, receiver)| **receiver != EMPTY_LANE)
            {
                place[*receiver as usize] = (block.start, lane);
            }
        }
        let mut out = vec![T::default(); words_of(blocks)];
        let mut pieces = Vec::new();
        let mut rest = &mut out[..];
        for block in blocks {
            let (piece, after) = rest.split_at_mut(block.len);
            pieces.push((block, piece));
            rest = after;
        }
        pieces.into_par_iter().for_each(|(block, piece)| {
            let from = block.receivers.map(|receiver| match receiver {
                EMPTY_LANE => None,
                receiver => Some(place[positions[receiver as usize]]),
            });
            for (source, word) in piece.iter_mut().enumerate() {
                *word = T::pack(from.map(|from| from.map_or(0, |(start, lane)| words[start + source].lane(lane))));
            }
        });
        out
    }
}
