//! Rows of slots: for every octet of receivers a word per source.
//!
//! A row is kept as bytes, as half bytes where slots are few, in a cache file, or not at all: then it is searched again
//! for every pass. Whichever it is, the same slots come out in the same order, and so the same numbers.

use std::ops::Range;
use std::sync::Arc;

use rayon::prelude::*;

use super::distance_cache::DistanceCache;
use super::keeping::Keeping;
use super::row_file::{RowFile, pieces};
use super::surroundings::Surroundings;
use crate::distance::OCTET;
use crate::lens::{Found, ViewSearch};

/// The lane of an octet that is not used.
pub(super) const NOBODY: u32 = u32::MAX;

/// Eight receivers of one graph.
#[derive(Clone, Debug)]
pub struct Octet {
    /// Their positions among the receivers; `NOBODY` where there are fewer.
    pub receivers: [u32; OCTET],
    /// The first source they hear.
    pub first: usize,
    /// The number of sources they hear.
    pub len: usize,
    /// Where their row begins, counted in words.
    pub start: usize,
}

impl Octet {
    /// The positions of those that there are, which come first.
    pub fn members(&self) -> impl Iterator<Item = usize> {
        self.receivers.into_iter().take_while(|receiver| *receiver != NOBODY).map(|receiver| receiver as usize)
    }
}

/// Runs of octets of one graph, at most so many each, that are searched for together.
pub(super) fn batches(octets: &[Octet], range: Range<usize>, at_once: usize) -> Vec<Range<usize>> {
    let mut batches: Vec<Range<usize>> = Vec::new();
    for place in range {
        match batches.last_mut() {
            Some(batch) if batch.len() < at_once && octets[batch.start].first == octets[place].first => {
                batch.end = place + 1;
            }
            _ => batches.push(place..place + 1),
        }
    }
    batches
}

/// Rows of octets.
pub struct Rows {
    octets: Vec<Octet>,
    kept: Kept,
    surroundings: Arc<Surroundings>,
    /// For every receiver its position in the surroundings.
    seats: Arc<[u32]>,
}

enum Kept {
    Bytes(Vec<u64>),
    HalfBytes(Vec<u32>),
    Wide(Vec<[u16; OCTET]>),
    File(RowFile),
    Nowhere { wide: bool },
}

/// Words of some octets, and where the first of them begins.
#[derive(Clone, Copy)]
pub(super) enum Words<'a> {
    Bytes(&'a [u64], usize),
    HalfBytes(&'a [u32], usize),
    Wide(&'a [[u16; OCTET]], usize),
}

impl Words<'_> {
    pub(super) fn start(&self) -> usize {
        match self {
            Words::Bytes(_, start) | Words::HalfBytes(_, start) | Words::Wide(_, start) => *start,
        }
    }
}

/// A word of a row.
trait Word: Copy + Default + Send + Sync {
    fn lane(self, lane: usize) -> u16;
    fn pack(lanes: [u16; OCTET]) -> Self;
    fn write(found: &Found<'_>, octet: usize, unreachable: usize, out: &mut [Self], room: &mut Vec<u64>);
}

impl Word for u64 {
    fn lane(self, lane: usize) -> u16 {
        u16::from((self >> (8 * lane)) as u8)
    }

    fn pack(lanes: [u16; OCTET]) -> u64 {
        lanes.iter().rev().fold(0, |word, lane| word << 8 | u64::from(*lane))
    }

    fn write(found: &Found<'_>, octet: usize, unreachable: usize, out: &mut [u64], _: &mut Vec<u64>) {
        found.write_bytes(octet, unreachable as u8, out);
    }
}

impl Word for u32 {
    fn lane(self, lane: usize) -> u16 {
        (self >> (4 * lane) & 15) as u16
    }

    fn pack(lanes: [u16; OCTET]) -> u32 {
        lanes.iter().rev().fold(0, |word, lane| word << 4 | u32::from(*lane))
    }

    fn write(found: &Found<'_>, octet: usize, unreachable: usize, out: &mut [u32], room: &mut Vec<u64>) {
        room.resize(out.len(), 0);
        found.write_bytes(octet, unreachable as u8, room);
        for (half, word) in out.iter_mut().zip(room.iter()) {
            let word = (word | word >> 4) & 0x00ff_00ff_00ff_00ff;
            let word = (word | word >> 8) & 0x0000_ffff_0000_ffff;
            *half = (word | word >> 16) as u32;
        }
    }
}

impl Word for [u16; OCTET] {
    fn lane(self, lane: usize) -> u16 {
        self[lane]
    }

    fn pack(lanes: [u16; OCTET]) -> Self {
        lanes
    }

    fn write(found: &Found<'_>, octet: usize, unreachable: usize, out: &mut [Self], _: &mut Vec<u64>) {
        found.write_wide(octet, unreachable as u16, out);
    }
}

impl Rows {
    /// The rows of receivers, given by their positions in the surroundings, kept in some way.
    pub(super) fn new(surroundings: &Arc<Surroundings>, seats: &[u32], keeping: &Keeping) -> Rows {
        let octets = surroundings.octets(seats);
        let words = octets.last().map_or(0, |octet| octet.start + octet.len);
        let wide = surroundings.slots() > 256;
        let mut rows =
            Rows { octets, kept: Kept::Nowhere { wide }, surroundings: Arc::clone(surroundings), seats: seats.into() };
        rows.kept = match keeping {
            // A file holds bytes.
            Keeping::File(_) if wide => Kept::Nowhere { wide },
            Keeping::Recomputed => Kept::Nowhere { wide },
            Keeping::Bytes if wide => Kept::Wide(rows.filled(words)),
            Keeping::Bytes => Kept::Bytes(rows.filled(words)),
            Keeping::HalfBytes => Kept::HalfBytes(rows.filled(words)),
            Keeping::File(cache) => match rows.file(cache) {
                Ok(file) => Kept::File(file),
                Err(error) => {
                    cache.report(format!(
                        "distances cannot be kept in {} ({error}): they were searched again for every pass",
                        cache.folder().display()
                    ));
                    Kept::Nowhere { wide }
                }
            },
        };
        rows
    }

    /// The octets.
    pub fn octets(&self) -> &[Octet] {
        &self.octets
    }

    /// Positions in the surroundings.
    pub(super) fn seats(&self) -> &[u32] {
        &self.seats
    }

    pub(super) fn surroundings(&self) -> &Arc<Surroundings> {
        &self.surroundings
    }

    fn filled<T: Word>(&self, words: usize) -> Vec<T> {
        let mut out = vec![T::default(); words];
        self.search(0..self.octets.len(), &mut out);
        out
    }

    /// Searches for the receivers of some octets and writes down their rows.
    fn search<T: Word>(&self, range: Range<usize>, out: &mut [T]) {
        let unreachable = self.surroundings.slots() - 1;
        let mut pieces = Vec::new();
        let mut rest = out;
        for batch in batches(&self.octets, range, self.surroundings.octets_at_once()) {
            let words = self.octets[batch.clone()].iter().map(|octet| octet.len).sum();
            let (piece, after) = rest.split_at_mut(words);
            pieces.push((batch, piece));
            rest = after;
        }
        pieces.into_par_iter().for_each_init(
            || (ViewSearch::default(), Vec::new()),
            |(search, room), (batch, piece)| {
                let octets = &self.octets[batch];
                let found = self.surroundings.find_again(self.members(octets), search);
                for (octet, out) in piece.chunks_exact_mut(octets[0].len.max(1)).enumerate() {
                    T::write(&found, octet, unreachable, out, room);
                }
            },
        );
    }

    /// The positions in the surroundings of the receivers of some octets.
    fn members<'a>(&'a self, octets: &'a [Octet]) -> impl Iterator<Item = u32> + 'a {
        let receivers = octets.iter().flat_map(|octet| &octet.receivers);
        receivers.filter(|receiver| **receiver != NOBODY).map(|receiver| self.seats[*receiver as usize])
    }

    /// Hands over all words, some octets at a time.
    pub(super) fn each_wave(&self, mut visit: impl FnMut(Range<usize>, Words<'_>)) {
        let all = 0..self.octets.len();
        match &self.kept {
            Kept::Bytes(words) => visit(all, Words::Bytes(words, 0)),
            Kept::HalfBytes(words) => visit(all, Words::HalfBytes(words, 0)),
            Kept::Wide(words) => visit(all, Words::Wide(words, 0)),
            Kept::Nowhere { wide: false } => {
                let mut words: Vec<u64> = Vec::new();
                self.each_search(|range, length| {
                    words.resize(length, 0);
                    self.search(range.clone(), &mut words);
                    visit(range.clone(), Words::Bytes(&words, self.octets[range.start].start));
                });
            }
            Kept::Nowhere { wide: true } => {
                let mut words: Vec<[u16; OCTET]> = Vec::new();
                self.each_search(|range, length| {
                    words.resize(length, [0; OCTET]);
                    self.search(range.clone(), &mut words);
                    visit(range.clone(), Words::Wide(&words, self.octets[range.start].start));
                });
            }
            Kept::File(file) => {
                let mut words: Vec<u64> = Vec::new();
                for range in pieces(&self.octets) {
                    if let Err(error) = file.read(range.clone(), &self.octets, &mut words) {
                        file.report("searched again", &error);
                        self.search(range.clone(), &mut words);
                    }
                    let start = self.octets[range.start].start;
                    visit(range, Words::Bytes(&words, start));
                }
            }
        }
    }

    /// As many searches at a time as there are threads.
    fn each_search(&self, mut visit: impl FnMut(Range<usize>, usize)) {
        let batches = batches(&self.octets, 0..self.octets.len(), self.surroundings.octets_at_once());
        for wave in batches.chunks(rayon::current_num_threads().max(1)) {
            let range = wave[0].start..wave[wave.len() - 1].end;
            let length = self.octets[range.clone()].iter().map(|octet| octet.len).sum();
            visit(range, length);
        }
    }

    /// The rows in a file, which is there already or is written now.
    fn file(&self, cache: &DistanceCache) -> std::io::Result<RowFile> {
        RowFile::open_or_create(cache, self.surroundings.checksum(&self.seats), &self.octets, |write| {
            let mut room: Vec<u64> = Vec::new();
            let mut written = Ok(());
            self.each_search(|range, length| {
                if written.is_ok() {
                    room.resize(length, 0);
                    self.search(range.clone(), &mut room);
                    written = write(range, &room);
                }
            });
            written
        })
    }

    /// The rows of some of the receivers, kept in memory the same way, or searched for now.
    pub(super) fn select(&self, positions: &[usize]) -> Rows {
        let seats: Vec<u32> = positions.iter().map(|position| self.seats[*position]).collect();
        let mut rows = Rows::new(&self.surroundings, &seats, &Keeping::Recomputed);
        rows.kept = match &self.kept {
            Kept::Bytes(words) => Kept::Bytes(self.regrouped(words, &rows.octets, positions)),
            Kept::HalfBytes(words) => Kept::HalfBytes(self.regrouped(words, &rows.octets, positions)),
            Kept::Wide(words) => Kept::Wide(self.regrouped(words, &rows.octets, positions)),
            Kept::File(_) | Kept::Nowhere { .. } => {
                let words = rows.octets.last().map_or(0, |octet| octet.start + octet.len);
                return Rows::new(&self.surroundings, &seats, &Keeping::in_memory(&self.surroundings, words));
            }
        };
        rows
    }

    /// Words for other octets, whose receivers are at `positions` of these.
    fn regrouped<T: Word>(&self, words: &[T], octets: &[Octet], positions: &[usize]) -> Vec<T> {
        let mut place = vec![(0, 0); self.seats.len()];
        for octet in &self.octets {
            for (lane, receiver) in octet.receivers.iter().enumerate().filter(|(_, receiver)| **receiver != NOBODY) {
                place[*receiver as usize] = (octet.start, lane);
            }
        }
        let mut out = vec![T::default(); octets.last().map_or(0, |octet| octet.start + octet.len)];
        let mut pieces = Vec::new();
        let mut rest = &mut out[..];
        for octet in octets {
            let (piece, after) = rest.split_at_mut(octet.len);
            pieces.push((octet, piece));
            rest = after;
        }
        pieces.into_par_iter().for_each(|(octet, piece)| {
            let from = octet.receivers.map(|receiver| match receiver {
                NOBODY => None,
                receiver => Some(place[positions[receiver as usize]]),
            });
            for (source, word) in piece.iter_mut().enumerate() {
                *word = T::pack(from.map(|from| from.map_or(0, |(start, lane)| words[start + source].lane(lane))));
            }
        });
        out
    }
}
