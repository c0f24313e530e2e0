//! Shell rows: for each receiver of a node task the slot of every source, and how many sources each slot holds.
//!
//! This form carries what cells would make too large: the sum of all features under one shared `rho`, and features
//! with many distinct values. What each source says is laid out in *lanes* (one per channel and output); the mean of
//! every lane over every shell is computed in one sweep over the rows, four receivers at a time.

use rayon::prelude::*;

/// Receivers swept together: their sums are independent, which hides the latency of adding to memory.
const RECEIVERS_TOGETHER: usize = 4;
/// Sums over this many sources are made in f32 and then added up in f64.
const SOURCES_IN_F32: usize = 4096;
/// Sources whose gradient one task accumulates.
const SOURCES_PER_TASK: usize = 2048;

/// The slot of every source, one row per receiver.
#[derive(Clone, Debug, PartialEq)]
pub enum SlotRows {
    /// At most 256 slots.
    Narrow(Vec<u8>),
    /// More than 256 slots.
    Wide(Vec<u16>),
}

/// Shells around a list of receivers.
#[derive(Clone, Debug)]
pub struct Shells {
    /// Number of slots; the last one is "unreachable".
    pub slots: usize,
    /// For each receiver where its row starts, and the first source and number of sources it covers.
    pub receivers: Vec<Receiver>,
    /// `[receivers, slots]`: `1 / n_i(l)` (1 with normalisation off), and 0 for an empty shell.
    pub shares: Vec<f32>,
    rows: SlotRows,
    source_count: usize,
    normalise: bool,
}

/// Where the row of a receiver lies and which sources it covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Receiver {
    row: usize,
    first: usize,
    len: usize,
}

impl Shells {
    /// Shells from slots: `rows` holds for each receiver its first source and the slot of each source from there on.
    pub fn new(rows: Vec<(usize, Vec<u16>)>, slots: usize, source_count: usize, normalise: bool) -> Shells {
        let mut receivers = Vec::with_capacity(rows.len());
        let mut shares = vec![0.0; rows.len() * slots];
        let mut start = 0;
        for ((first, row), shares) in rows.iter().zip(shares.chunks_exact_mut(slots)) {
            receivers.push(Receiver { row: start, first: *first, len: row.len() });
            start += row.len();
            row.iter().for_each(|slot| shares[*slot as usize] += 1.0);
            for share in shares.iter_mut().filter(|count| **count > 0.0) {
                *share = if normalise { 1.0 / *share } else { 1.0 };
            }
        }
        let flat = rows.into_iter().flat_map(|(_, row)| row);
        let rows = if slots <= 256 {
            SlotRows::Narrow(flat.map(|slot| slot as u8).collect())
        } else {
            SlotRows::Wide(flat.collect())
        };
        Shells { slots, receivers, shares, rows, source_count, normalise }
    }

    /// Adds `R(l)` of one receiver: 1 for every shell that is not empty, or its size with normalisation off.
    pub fn add_receivers(&self, receiver: usize, sums: &mut [f64]) {
        let shares = &self.shares[receiver * self.slots..][..self.slots];
        if self.normalise {
            shares.iter().zip(sums).for_each(|(share, sum)| *sum += f64::from(u8::from(*share > 0.0)));
            return;
        }
        let Receiver { row, len, .. } = self.receivers[receiver];
        match &self.rows {
            SlotRows::Narrow(rows) => rows[row..row + len].iter().for_each(|slot| sums[usize::from(*slot)] += 1.0),
            SlotRows::Wide(rows) => rows[row..row + len].iter().for_each(|slot| sums[usize::from(*slot)] += 1.0),
        }
    }

    /// Number of sources over all graphs.
    pub fn source_count(&self) -> usize {
        self.source_count
    }

    /// The same shells around fewer receivers.
    pub fn select(&self, positions: &[usize]) -> Shells {
        let mut selected = Shells {
            slots: self.slots,
            receivers: Vec::with_capacity(positions.len()),
            shares: Vec::with_capacity(positions.len() * self.slots),
            rows: match self.rows {
                SlotRows::Narrow(_) => SlotRows::Narrow(Vec::new()),
                SlotRows::Wide(_) => SlotRows::Wide(Vec::new()),
            },
            source_count: self.source_count,
            normalise: self.normalise,
        };
        let mut start = 0;
        for position in positions {
            let receiver = self.receivers[*position];
            let range = receiver.row..receiver.row + receiver.len;
            match (&mut selected.rows, &self.rows) {
                (SlotRows::Narrow(to), SlotRows::Narrow(from)) => to.extend_from_slice(&from[range]),
                (SlotRows::Wide(to), SlotRows::Wide(from)) => to.extend_from_slice(&from[range]),
                _ => {}
            }
            selected.receivers.push(Receiver { row: start, ..receiver });
            start += receiver.len;
            selected.shares.extend_from_slice(&self.shares[position * self.slots..][..self.slots]);
        }
        selected
    }

    /// `means[i, l, :] = share_i(l) * sum_(j in S_i(l)) said[j, :]` for lanes of width `lanes` (1, 2, 4, 8 or 16).
    pub fn means(&self, said: &[f32], lanes: usize, means: &mut [f32]) {
        match lanes {
            1 => self.means_of::<1>(said, means),
            2 => self.means_of::<2>(said, means),
            4 => self.means_of::<4>(said, means),
            8 => self.means_of::<8>(said, means),
            _ => self.means_of::<16>(said, means),
        }
    }

    /// `gradient[j, :] += sum_i pull[i, l_ij, :]`: what all receivers together pull on every source.
    pub fn gather(&self, pull: &[f32], lanes: usize, gradient: &mut [f32]) {
        match lanes {
            1 => self.gather_of::<1>(pull, gradient),
            2 => self.gather_of::<2>(pull, gradient),
            4 => self.gather_of::<4>(pull, gradient),
            8 => self.gather_of::<8>(pull, gradient),
            _ => self.gather_of::<16>(pull, gradient),
        }
    }

    fn means_of<const W: usize>(&self, said: &[f32], means: &mut [f32]) {
        let (said, _) = said.as_chunks::<W>();
        let (means, _) = means.as_chunks_mut::<W>();
        let work = means.par_chunks_mut(RECEIVERS_TOGETHER * self.slots).enumerate();
        work.for_each(|(group, means)| {
            let from = group * RECEIVERS_TOGETHER;
            let receivers = &self.receivers[from..(from + RECEIVERS_TOGETHER).min(self.receivers.len())];
            match &self.rows {
                SlotRows::Narrow(rows) => sums(rows, receivers, said, self.slots, means),
                SlotRows::Wide(rows) => sums(rows, receivers, said, self.slots, means),
            }
            let shares = &self.shares[from * self.slots..][..means.len()];
            for (mean, share) in means.iter_mut().zip(shares) {
                mean.iter_mut().for_each(|x| *x *= share);
            }
        });
    }

    fn gather_of<const W: usize>(&self, pull: &[f32], gradient: &mut [f32]) {
        let (pull, _) = pull.as_chunks::<W>();
        let (gradient, _) = gradient.as_chunks_mut::<W>();
        gradient[..self.source_count].par_chunks_mut(SOURCES_PER_TASK).enumerate().for_each(|(task, gradient)| {
            let from = task * SOURCES_PER_TASK;
            match &self.rows {
                SlotRows::Narrow(rows) => pulls(rows, self, pull, from, gradient),
                SlotRows::Wide(rows) => pulls(rows, self, pull, from, gradient),
            }
        });
    }
}

/// Sums of up to four receivers over their shells.
fn sums<const W: usize, I: Copy + Into<usize>>(
    rows: &[I],
    receivers: &[Receiver],
    said: &[[f32; W]],
    slots: usize,
    sums: &mut [[f32; W]],
) {
    sums.fill([0.0; W]);
    let mut exact = vec![[0.0f64; W]; sums.len()];
    let together = receivers.len() == RECEIVERS_TOGETHER
        && receivers.iter().all(|r| (r.first, r.len) == (receivers[0].first, receivers[0].len));
    let pieces = |receiver: &Receiver| (0..receiver.len).step_by(SOURCES_IN_F32);
    let flush = |sums: &mut [[f32; W]], exact: &mut [[f64; W]]| {
        for (sum, exact) in sums.iter_mut().zip(exact) {
            sum.iter().zip(exact.iter_mut()).for_each(|(sum, exact)| *exact += f64::from(*sum));
            *sum = [0.0; W];
        }
    };
    let add = |sum: &mut [f32; W], value: &[f32; W]| {
        for w in 0..W {
            sum[w] += value[w];
        }
    };
    if together {
        let [a, b, c, d] = [0, 1, 2, 3].map(|r| &rows[receivers[r].row..][..receivers[r].len]);
        for start in pieces(&receivers[0]) {
            let range = start..(start + SOURCES_IN_F32).min(receivers[0].len);
            let said = &said[receivers[0].first..][range.clone()];
            let [a, b, c, d] = [a, b, c, d].map(|row| &row[range.clone()]);
            for (j, value) in said.iter().enumerate() {
                add(&mut sums[a[j].into()], value);
                add(&mut sums[slots + b[j].into()], value);
                add(&mut sums[2 * slots + c[j].into()], value);
                add(&mut sums[3 * slots + d[j].into()], value);
            }
            flush(sums, &mut exact);
        }
    } else {
        for (r, receiver) in receivers.iter().enumerate() {
            for start in pieces(receiver) {
                let range = start..(start + SOURCES_IN_F32).min(receiver.len);
                let said = &said[receiver.first..][range.clone()];
                for (slot, value) in rows[receiver.row..][range].iter().zip(said) {
                    add(&mut sums[r * slots + (*slot).into()], value);
                }
                flush(sums, &mut exact);
            }
        }
    }
    for (sum, exact) in sums.iter_mut().zip(exact) {
        *sum = exact.map(|x| x as f32);
    }
}

/// What all receivers pull on the sources from `from` on.
fn pulls<const W: usize, I: Copy + Into<usize>>(
    rows: &[I],
    shells: &Shells,
    pull: &[[f32; W]],
    from: usize,
    gradient: &mut [[f32; W]],
) {
    let end = from + gradient.len();
    let slots = shells.slots;
    for (group, receivers) in shells.receivers.chunks(RECEIVERS_TOGETHER).enumerate() {
        let pull = &pull[group * RECEIVERS_TOGETHER * slots..];
        let same = receivers.len() == RECEIVERS_TOGETHER
            && receivers.iter().all(|r| (r.first, r.len) == (receivers[0].first, receivers[0].len));
        let covered = |r: &Receiver| (r.first.max(from), (r.first + r.len).min(end));
        let row = |r: &Receiver, start: usize, stop: usize| &rows[r.row + start - r.first..r.row + stop - r.first];
        if same {
            let (start, stop) = covered(&receivers[0]);
            if start >= stop {
                continue;
            }
            let [a, b, c, d] = [0, 1, 2, 3].map(|r| row(&receivers[r], start, stop));
            for (j, sum) in gradient[start - from..stop - from].iter_mut().enumerate() {
                let [a, b] = [&pull[a[j].into()], &pull[slots + b[j].into()]];
                let [c, d] = [&pull[2 * slots + c[j].into()], &pull[3 * slots + d[j].into()]];
                for w in 0..W {
                    sum[w] += (a[w] + b[w]) + (c[w] + d[w]);
                }
            }
        } else {
            for (r, receiver) in receivers.iter().enumerate() {
                let (start, stop) = covered(receiver);
                if start >= stop {
                    continue;
                }
                let slots_of_row = row(receiver, start, stop);
                for (slot, sum) in slots_of_row.iter().zip(&mut gradient[start - from..stop - from]) {
                    let pull = &pull[r * slots + (*slot).into()];
                    for w in 0..W {
                        sum[w] += pull[w];
                    }
                }
            }
        }
    }
}
