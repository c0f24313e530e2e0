//! The sweeps over rows: sums over shells, and what receivers pull on sources.
//!
//! A row holds the slots of eight receivers, an octet, for every source: one word. Their sums are independent of one
//! another, which hides the latency of adding to memory; and they lie side by side for every slot, so that no two of
//! them fall on the same lines of a cache.

use std::ops::Range;

use pulp::Arch;
use rayon::prelude::*;

use super::rows::{Octet, Rows, Words};
use crate::distance::OCTET;

/// Sums over this many sources are made in f32 and then added up in f64; also how many words are unpacked at a time.
pub(super) const SOURCES_IN_F32: usize = 4096;
/// Sources whose gradient one task accumulates.
pub(super) const SOURCES_PER_TASK: usize = 2048;
/// Slots of a word of bytes.
const BYTES: usize = 256;

/// One number per lane for each receiver of an octet.
pub(super) type Eight<const W: usize> = [[f32; W]; OCTET];

/// Working memory of a task.
struct Scratch<const W: usize> {
    table: Vec<Eight<W>>,
    exact: Vec<[[f64; W]; OCTET]>,
    words: Vec<u64>,
}

impl<const W: usize> Scratch<W> {
    fn new(slots: usize, blocks: usize) -> Scratch<W> {
        Scratch {
            table: vec![[[0.0; W]; OCTET]; slots.max(BYTES)],
            exact: vec![[[0.0; W]; OCTET]; slots * blocks],
            words: vec![0; SOURCES_IN_F32],
        }
    }
}

/// Some words of a row, unpacked where they have to be.
enum Some<'a> {
    Bytes(&'a [u64]),
    Wide(&'a [[u16; OCTET]]),
}

fn unpacked<'a>(words: &Words<'a>, octet: &Octet, range: Range<usize>, room: &'a mut [u64]) -> Some<'a> {
    let range = octet.start - words.start() + range.start..octet.start - words.start() + range.end;
    match words {
        Words::Bytes(words, _) => Some::Bytes(&words[range]),
        Words::Wide(words, _) => Some::Wide(&words[range]),
        Words::HalfBytes(words, _) => {
            let room = &mut room[..range.len()];
            room.iter_mut().zip(&words[range]).for_each(|(word, half)| *word = spread_half_bytes(*half));
            Some::Bytes(room)
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

/// `sums[octet, l, receiver, :] = sum_(j in S_i(l)) said[j, :]`, block after block.
pub(super) fn sums<const W: usize>(rows: &Rows, slots: usize, said: &[f32], sums: &mut [f32]) {
    let octets = rows.octets();
    if octets.is_empty() {
        return;
    }
    let per_octet = slots * OCTET * W;
    let blocks = sums.len() / (octets.len() * per_octet);
    let said: Vec<&[[f32; W]]> = split(said, blocks).map(|block| block.as_chunks::<W>().0).collect();
    let mut parts = parts_of(sums, blocks, per_octet);
    rows.each_wave(|range, words| {
        let work = parts[range.clone()].par_iter_mut().zip(&octets[range]);
        work.for_each_init(
            || Scratch::<W>::new(slots, blocks),
            |scratch, (parts, octet)| octet_sums(octet, &words, slots, &said, scratch, parts),
        );
    });
}

fn octet_sums<const W: usize>(
    octet: &Octet,
    words: &Words<'_>,
    slots: usize,
    said: &[&[[f32; W]]],
    scratch: &mut Scratch<W>,
    sums: &mut [&mut [f32]],
) {
    let Scratch { table, exact, words: room } = scratch;
    exact.fill([[0.0; W]; OCTET]);
    for start in (0..octet.len).step_by(SOURCES_IN_F32) {
        let range = start..(start + SOURCES_IN_F32).min(octet.len);
        let some = unpacked(words, octet, range.clone(), room);
        for (said, exact) in said.iter().zip(exact.chunks_exact_mut(slots)) {
            let said = &said[octet.first + range.start..octet.first + range.end];
            table[..slots].fill([[0.0; W]; OCTET]);
            Arch::new().dispatch(|| match &some {
                Some::Bytes(words) => sums_of_bytes(words, said, table),
                Some::Wide(words) => sums_of_wide(words, said, table),
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
fn sums_of_bytes<const W: usize>(words: &[u64], said: &[[f32; W]], table: &mut [Eight<W>]) {
    let table = table.first_chunk_mut::<BYTES>().expect("invariant: a table has a row for every byte");
    for (word, value) in words.iter().zip(said) {
        for lane in 0..OCTET {
            let sum = &mut table[usize::from((word >> (8 * lane)) as u8)][lane];
            for w in 0..W {
                sum[w] += value[w];
            }
        }
    }
}

#[inline(always)]
fn sums_of_wide<const W: usize>(words: &[[u16; OCTET]], said: &[[f32; W]], table: &mut [Eight<W>]) {
    for (slots, value) in words.iter().zip(said) {
        for lane in 0..OCTET {
            let sum = &mut table[usize::from(slots[lane])][lane];
            for w in 0..W {
                sum[w] += value[w];
            }
        }
    }
}

/// `gradient[j, :] += sum_i pull[octet, l_ij, receiver, :]`, block after block.
pub(super) fn gather<const W: usize>(rows: &Rows, slots: usize, pull: &[f32], gradient: &mut [f32]) {
    let octets = rows.octets();
    if octets.is_empty() || gradient.is_empty() {
        return;
    }
    let per_octet = slots * OCTET * W;
    let blocks = pull.len() / (octets.len() * per_octet);
    let pull: Vec<&[Eight<W>]> =
        split(pull, blocks).map(|block| block.as_chunks::<W>().0.as_chunks::<OCTET>().0).collect();
    let mut parts = parts_of(gradient, blocks, SOURCES_PER_TASK * W);
    rows.each_wave(|range, words| {
        let work = parts.par_iter_mut().enumerate();
        work.for_each_init(
            || Scratch::<W>::new(slots, 0),
            |scratch, (task, gradient)| {
                let first = task * SOURCES_PER_TASK;
                let last = first + gradient[0].len() / W;
                let Scratch { table, words: room, .. } = scratch;
                for place in range.clone() {
                    let octet = &octets[place];
                    let (from, to) = (octet.first.max(first), (octet.first + octet.len).min(last));
                    if from >= to {
                        continue;
                    }
                    let some = unpacked(&words, octet, from - octet.first..to - octet.first, room);
                    for (pull, gradient) in pull.iter().zip(gradient.iter_mut()) {
                        table[..slots].copy_from_slice(&pull[place * slots..][..slots]);
                        let gradient = &mut gradient.as_chunks_mut::<W>().0[from - first..to - first];
                        Arch::new().dispatch(|| match &some {
                            Some::Bytes(words) => pulls_of_bytes(words, table, gradient),
                            Some::Wide(words) => pulls_of_wide(words, table, gradient),
                        });
                    }
                }
            },
        );
    });
}

#[inline(always)]
fn pulls_of_bytes<const W: usize>(words: &[u64], table: &[Eight<W>], gradient: &mut [[f32; W]]) {
    let table = table.first_chunk::<BYTES>().expect("invariant: a table has a row for every byte");
    for (word, sum) in words.iter().zip(gradient) {
        add_eight(sum, |lane| &table[usize::from((word >> (8 * lane)) as u8)][lane]);
    }
}

#[inline(always)]
fn pulls_of_wide<const W: usize>(words: &[[u16; OCTET]], table: &[Eight<W>], gradient: &mut [[f32; W]]) {
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

/// The blocks of an array.
pub(super) fn split(values: &[f32], blocks: usize) -> impl Iterator<Item = &[f32]> {
    let length = values.len() / blocks.max(1);
    (0..blocks).map(move |block| &values[block * length..(block + 1) * length])
}

/// Cuts every block of an array into pieces of a length; all first pieces together, all second ones, and so on.
pub(super) fn parts_of(values: &mut [f32], blocks: usize, length: usize) -> Vec<Vec<&mut [f32]>> {
    let block_length = values.len() / blocks.max(1);
    let mut parts: Vec<Vec<&mut [f32]>> = Vec::new();
    parts.resize_with(block_length.div_ceil(length.max(1)), || Vec::with_capacity(blocks));
    for block in values.chunks_exact_mut(block_length.max(1)) {
        block.chunks_mut(length.max(1)).zip(&mut parts).for_each(|(piece, parts)| parts.push(piece));
    }
    parts
}
