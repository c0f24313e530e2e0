//! The sweeps over rows: sums over shells, and their gradients with respect to source values.
//!
//! A row holds the slots of a block of eight receivers for every source: one word. Their sums are independent of one
//! another, which hides the latency of adding to memory; and they lie side by side for every slot, so that no two of
//! them fall on the same lines of a cache.

use std::ops::Range;

use pulp::Arch;
use rayon::prelude::*;

use super::slot_rows::{PackedSlots, ReceiverBlock, SlotRows};
use crate::distance::RECEIVERS_PER_BLOCK;

/// Sums over this many sources are made in f32 and then added up in f64; also how many words are unpacked at a time.
pub(super) const SOURCES_IN_F32: usize = 4096;
/// Sources whose gradient one task accumulates.
pub(super) const SOURCES_PER_TASK: usize = 2048;
/// Slots of a word of bytes.
const BYTES: usize = 256;

/// One number per lane for each receiver of a block.
pub(super) type Eight<const W: usize> = [[f32; W]; RECEIVERS_PER_BLOCK];

/// Working memory of a task.
struct SweepScratch<const W: usize> {
    table: Vec<Eight<W>>,
    exact: Vec<[[f64; W]; RECEIVERS_PER_BLOCK]>,
    bytes: Vec<u64>,
}

impl<const W: usize> SweepScratch<W> {
    fn new(slots: usize, lane_blocks: usize) -> SweepScratch<W> {
        SweepScratch {
            table: vec![[[0.0; W]; RECEIVERS_PER_BLOCK]; slots.max(BYTES)],
            exact: vec![[[0.0; W]; RECEIVERS_PER_BLOCK]; slots * lane_blocks],
            bytes: vec![0; SOURCES_IN_F32],
        }
    }
}

/// Slots of some sources, unpacked where they have to be.
enum UnpackedSlots<'a> {
    Bytes(&'a [u64]),
    Wide(&'a [[u16; RECEIVERS_PER_BLOCK]]),
}

fn unpack<'a>(
    words: &PackedSlots<'a>,
    block: &ReceiverBlock,
    range: Range<usize>,
    bytes: &'a mut [u64],
) -> UnpackedSlots<'a> {
    let range = block.start - words.start() + range.start..block.start - words.start() + range.end;
    match words {
        PackedSlots::Bytes(words, _) => UnpackedSlots::Bytes(&words[range]),
        PackedSlots::Wide(words, _) => UnpackedSlots::Wide(&words[range]),
        PackedSlots::HalfBytes(words, _) => {
            let bytes = &mut bytes[..range.len()];
            bytes.iter_mut().zip(&words[range]).for_each(|(word, half)| *word = spread_half_bytes(*half));
            UnpackedSlots::Bytes(bytes)
        }
    }
}

/// Eight numbers of four bits as eight bytes.
pub(super) fn spread_half_bytes(half: u32) -> u64 {
    let word = u64::from(half);
    let word = (word | word << 16) & 0x0000_ffff_0000_ffff;
    let word = (word | word << 8) & 0x00ff_00ff_00ff_00ff;
    (word | word << 4) & 0x0f0f_0f0f_0f0f_0f0f
}

/// `sums[block, l, receiver, :] = sum_(j in S_i(l)) values[j, :]`, lane block after lane block.
pub(super) fn sums<const W: usize>(rows: &SlotRows, slots: usize, values: &[f32], sums: &mut [f32]) {
    let blocks = rows.receiver_blocks();
    if blocks.is_empty() {
        return;
    }
    let per_block = slots * RECEIVERS_PER_BLOCK * W;
    let lane_blocks = sums.len() / (blocks.len() * per_block);
    let values: Vec<&[[f32; W]]> = split(values, lane_blocks).map(|lanes| lanes.as_chunks::<W>().0).collect();
    let mut parts = parts_of(sums, lane_blocks, per_block);
    rows.each_wave(|range, words| {
        let work = parts[range.clone()].par_iter_mut().zip(&blocks[range]);
        work.for_each_init(
            || SweepScratch::<W>::new(slots, lane_blocks),
            |scratch, (parts, block)| block_sums(block, &words, slots, &values, scratch, parts),
        );
    });
}

fn block_sums<const W: usize>(
    block: &ReceiverBlock,
    words: &PackedSlots<'_>,
    slots: usize,
    values: &[&[[f32; W]]],
    scratch: &mut SweepScratch<W>,
    sums: &mut [&mut [f32]],
) {
    let SweepScratch { table, exact, bytes } = scratch;
    exact.fill([[0.0; W]; RECEIVERS_PER_BLOCK]);
    for start in (0..block.len).step_by(SOURCES_IN_F32) {
        let range = start..(start + SOURCES_IN_F32).min(block.len);
        let unpacked = unpack(words, block, range.clone(), bytes);
        for (values, exact) in values.iter().zip(exact.chunks_exact_mut(slots)) {
            let values = &values[block.first + range.start..block.first + range.end];
            table[..slots].fill([[0.0; W]; RECEIVERS_PER_BLOCK]);
            Arch::new().dispatch(|| match &unpacked {
                UnpackedSlots::Bytes(words) => sum_bytes(words, values, table),
                UnpackedSlots::Wide(words) => sum_wide(words, values, table),
            });
            for (exact, sums) in exact.iter_mut().flatten().zip(table[..slots].iter().flatten()) {
                exact.iter_mut().zip(sums).for_each(|(exact, sum)| *exact += f64::from(*sum));
            }
        }
    }
    for (sums, exact) in sums.iter_mut().zip(exact.chunks_exact(slots)) {
        sums.iter_mut().zip(exact.iter().flatten().flatten()).for_each(|(sum, exact)| *sum = *exact as f32);
    }
}

#[inline(always)]
fn sum_bytes<const W: usize>(words: &[u64], values: &[[f32; W]], table: &mut [Eight<W>]) {
    let table = table.first_chunk_mut::<BYTES>().expect("invariant: a table has a row for every byte");
    for (word, value) in words.iter().zip(values) {
        for lane in 0..RECEIVERS_PER_BLOCK {
            let sum = &mut table[usize::from((word >> (8 * lane)) as u8)][lane];
            for w in 0..W {
                sum[w] += value[w];
            }
        }
    }
}

#[inline(always)]
fn sum_wide<const W: usize>(words: &[[u16; RECEIVERS_PER_BLOCK]], values: &[[f32; W]], table: &mut [Eight<W>]) {
    for (slots, value) in words.iter().zip(values) {
        for lane in 0..RECEIVERS_PER_BLOCK {
            let sum = &mut table[usize::from(slots[lane])][lane];
            for w in 0..W {
                sum[w] += value[w];
            }
        }
    }
}

/// `gradient[j, :] += sum_i shell_gradient[block, l_ij, receiver, :]`, lane block after lane block.
pub(super) fn gather<const W: usize>(rows: &SlotRows, slots: usize, shell_gradient: &[f32], gradient: &mut [f32]) {
    let blocks = rows.receiver_blocks();
    if blocks.is_empty() || gradient.is_empty() {
        return;
    }
    let per_block = slots * RECEIVERS_PER_BLOCK * W;
    let lane_blocks = shell_gradient.len() / (blocks.len() * per_block);
    let shell_gradient: Vec<&[Eight<W>]> = split(shell_gradient, lane_blocks)
        .map(|lanes| lanes.as_chunks::<W>().0.as_chunks::<RECEIVERS_PER_BLOCK>().0)
        .collect();
    let mut parts = parts_of(gradient, lane_blocks, SOURCES_PER_TASK * W);
    rows.each_wave(|range, words| {
        let work = parts.par_iter_mut().enumerate();
        work.for_each_init(
            || SweepScratch::<W>::new(slots, 0),
            |scratch, (task, gradient)| {
                let first = task * SOURCES_PER_TASK;
                let last = first + gradient[0].len() / W;
                let SweepScratch { table, bytes, .. } = scratch;
                for place in range.clone() {
                    let block = &blocks[place];
                    let (from, to) = (block.first.max(first), (block.first + block.len).min(last));
                    if from >= to {
                        continue;
                    }
                    let unpacked = unpack(&words, block, from - block.first..to - block.first, bytes);
                    for (shell_gradient, gradient) in shell_gradient.iter().zip(gradient.iter_mut()) {
                        table[..slots].copy_from_slice(&shell_gradient[place * slots..][..slots]);
                        let gradient = &mut gradient.as_chunks_mut::<W>().0[from - first..to - first];
                        Arch::new().dispatch(|| match &unpacked {
                            UnpackedSlots::Bytes(words) => gather_bytes(words, table, gradient),
                            UnpackedSlots::Wide(words) => gather_wide(words, table, gradient),
                        });
                    }
                }
            },
        );
    });
}

#[inline(always)]
fn gather_bytes<const W: usize>(words: &[u64], table: &[Eight<W>], gradient: &mut [[f32; W]]) {
    let table = table.first_chunk::<BYTES>().expect("invariant: a table has a row for every byte");
    for (word, sum) in words.iter().zip(gradient) {
        add_eight(sum, |lane| &table[usize::from((word >> (8 * lane)) as u8)][lane]);
    }
}

#[inline(always)]
fn gather_wide<const W: usize>(words: &[[u16; RECEIVERS_PER_BLOCK]], table: &[Eight<W>], gradient: &mut [[f32; W]]) {
    for (slots, sum) in words.iter().zip(gradient) {
        add_eight(sum, |lane| &table[usize::from(slots[lane])][lane]);
    }
}

#[inline(always)]
fn add_eight<'a, const W: usize>(sum: &mut [f32; W], of: impl Fn(usize) -> &'a [f32; W]) {
    let [a, b, c, d] = [of(0), of(1), of(2), of(3)];
    let [e, f, g, h] = [of(4), of(5), of(6), of(7)];
    for w in 0..W {
        sum[w] += ((a[w] + b[w]) + (c[w] + d[w])) + ((e[w] + f[w]) + (g[w] + h[w]));
    }
}

/// The lane blocks of an array.
pub(super) fn split(values: &[f32], lane_blocks: usize) -> impl Iterator<Item = &[f32]> {
    let length = values.len() / lane_blocks.max(1);
    (0..lane_blocks).map(move |lane_block| &values[lane_block * length..(lane_block + 1) * length])
}

/// Cuts every lane block of an array into pieces of a length; all first pieces together, all second ones, and so on.
pub(super) fn parts_of(values: &mut [f32], lane_blocks: usize, length: usize) -> Vec<Vec<&mut [f32]>> {
    let lane_block_length = values.len() / lane_blocks.max(1);
    let mut parts: Vec<Vec<&mut [f32]>> = Vec::new();
    parts.resize_with(lane_block_length.div_ceil(length.max(1)), || Vec::with_capacity(lane_blocks));
    for lane_block in values.chunks_exact_mut(lane_block_length.max(1)) {
        lane_block.chunks_mut(length.max(1)).zip(&mut parts).for_each(|(piece, parts)| parts.push(piece));
    }
    parts
}
