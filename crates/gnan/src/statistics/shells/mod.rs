//! Shells: for some receivers of a node task what every shell around them holds, in the form that costs least.
//!
//! This carries what cells would make too large: the sum of all features under one shared `rho`, and features with many
//! distinct values. The source values are laid out in *lanes* (one per channel and output, in blocks of one width); the
//! mean of every lane over every shell comes from one sweep over [`slot_rows`], or over [`lists`] of sources. Receivers
//! come eight at a time, in *receiver blocks*.

mod distance_storage;
mod listing;
mod lists;
mod row_file;
mod shell_counts;
mod slot_rows;
mod sweep;

use std::sync::Arc;

pub use distance_storage::DistanceStorage;
pub use listing::Sample;
pub use shell_counts::ShellCounts;
pub use slot_rows::ReceiverBlock;

use crate::distance::RECEIVERS_PER_BLOCK;
use crate::run::DistanceCache;
use listing::Pick;
use lists::Lists;
use slot_rows::{EMPTY_LANE, SlotRows};

/// Sources are listed where no more than this share of all receiver-source pairs is outside the largest shell of each receiver.
const LISTED_SHARE: f64 = 1.0 / 16.0;

/// The shells of some receivers.
pub struct Shells {
    /// Number of slots; the last one is "unreachable".
    pub slots: usize,
    /// Number of receivers.
    pub receivers: usize,
    /// Number of sources over all graphs.
    pub source_count: usize,
    /// `[blocks, slots, receivers]`: what the sum over a shell is multiplied by; 0 for an empty shell.
    pub shares: Vec<f32>,
    form: ShellForm,
}

enum ShellForm {
    Rows(SlotRows),
    Lists(Lists, Arc<ShellCounts>, Arc<[u32]>, Pick),
}

impl Shells {
    /// The shells of receivers, which are given by their positions in the shell counts; `sample`: of some sources only.
    pub fn new(
        shell_counts: &Arc<ShellCounts>,
        receivers: &[usize],
        sample: Option<Sample>,
        cache: Option<&DistanceCache>,
    ) -> Shells {
        let indices: Vec<u32> = receivers.iter().map(|receiver| *receiver as u32).collect();
        let pairs = shell_counts.receiver_source_pairs(&indices);
        let pick = match sample {
            Some(sample) => Some(Pick::Some(sample)),
            None if mostly_in_largest(shell_counts, &indices) => Some(Pick::AllButLargest),
            None => None,
        };
        let form = match pick {
            Some(pick) => listed(shell_counts, indices.into(), pick),
            None => {
                let storage = DistanceStorage::choose(pairs, shell_counts.slots, shell_counts.run.memory.left(), cache);
                ShellForm::Rows(SlotRows::new(shell_counts, &indices, &storage))
            }
        };
        Shells::of(form)
    }

    /// The shells of receivers, their rows stored in a given way.
    pub fn stored(shell_counts: &Arc<ShellCounts>, receivers: &[usize], storage: &DistanceStorage) -> Shells {
        let indices: Vec<u32> = receivers.iter().map(|receiver| *receiver as u32).collect();
        Shells::of(ShellForm::Rows(SlotRows::new(shell_counts, &indices, storage)))
    }

    /// Whether the shells of all receivers are listed, but for the largest of each, where no sample is requested.
    pub(crate) fn are_listed(shell_counts: &ShellCounts) -> bool {
        mostly_in_largest(shell_counts, &(0..shell_counts.len() as u32).collect::<Vec<_>>())
    }

    /// The shells of receivers, all but the largest of each listed.
    pub fn listed(shell_counts: &Arc<ShellCounts>, receivers: &[usize]) -> Shells {
        let indices: Vec<u32> = receivers.iter().map(|receiver| *receiver as u32).collect();
        Shells::of(listed(shell_counts, indices.into(), Pick::AllButLargest))
    }

    fn of(form: ShellForm) -> Shells {
        let (shell_counts, indices, receiver_blocks, pick) = match &form {
            ShellForm::Rows(rows) => (&rows.shell_counts, &rows.indices[..], rows.receiver_blocks(), None),
            ShellForm::Lists(lists, shell_counts, indices, pick) => {
                (shell_counts, &indices[..], &lists.blocks[..], Some(*pick))
            }
        };
        let slots = shell_counts.slots;
        let mut shares = Vec::with_capacity(receiver_blocks.len() * slots * RECEIVERS_PER_BLOCK);
        for block in receiver_blocks {
            for slot in 0..slots {
                shares.extend(block.receivers.map(|receiver| {
                    if receiver == EMPTY_LANE {
                        return 0.0;
                    }
                    let count = shell_counts.counts(indices[receiver as usize] as usize)[slot];
                    let summed = pick.map_or(count, |pick| pick.listed(count));
                    let share = shell_counts.weighting.of_all(count) / f64::from(summed);
                    if count == 0 { 0.0 } else { share as f32 }
                }));
            }
        }
        let (receivers, source_count) = (indices.len(), shell_counts.source_count);
        Shells { slots, receivers, source_count, shares, form }
    }

    /// The receivers, eight at a time.
    pub fn receiver_blocks(&self) -> &[ReceiverBlock] {
        match &self.form {
            ShellForm::Rows(rows) => rows.receiver_blocks(),
            ShellForm::Lists(lists, ..) => &lists.blocks,
        }
    }

    /// The shells of some of the receivers, by their positions here.
    pub fn select(&self, positions: &[usize]) -> Shells {
        Shells::of(match &self.form {
            ShellForm::Rows(rows) => ShellForm::Rows(rows.select(positions)),
            ShellForm::Lists(lists, shell_counts, indices, pick) => {
                let indices: Arc<[u32]> = positions.iter().map(|position| indices[*position]).collect();
                let lists = lists.select(shell_counts.receiver_blocks(&indices), positions);
                ShellForm::Lists(lists, Arc::clone(shell_counts), indices, *pick)
            }
        })
    }

    /// Draws another sample, where there is one.
    pub fn redraw(&mut self, draw: u64) {
        if let ShellForm::Lists(_, shell_counts, indices, Pick::Some(sample)) = &self.form {
            let pick = Pick::Some(Sample { draw, ..*sample });
            self.form = listed(shell_counts, Arc::clone(indices), pick);
        }
    }

    /// `means[block, l, receiver, :] = share_i(l) * sum_(j in S_i(l)) values[j, :]`, for lane blocks of width `lanes` (1, 2,
    /// 4, 8 or 16).
    pub fn means(&self, values: &[f32], lanes: usize, means: &mut [f32]) {
        match lanes {
            1 => self.means_of::<1>(values, means),
            2 => self.means_of::<2>(values, means),
            4 => self.means_of::<4>(values, means),
            8 => self.means_of::<8>(values, means),
            _ => self.means_of::<16>(values, means),
        }
    }

    fn means_of<const W: usize>(&self, values: &[f32], means: &mut [f32]) {
        match &self.form {
            ShellForm::Rows(rows) => sweep::sums::<W>(rows, self.slots, values, means),
            ShellForm::Lists(lists, ..) => lists.sums::<W>(values, means),
        }
        for (mean, share) in means.as_chunks_mut::<W>().0.iter_mut().zip(self.shares.iter().cycle()) {
            mean.iter_mut().for_each(|x| *x *= share);
        }
    }

    /// `gradient[j, :] += sum_i shell_gradient[block, l_ij, receiver, :]`: from the gradients of sums over shells to those
    /// of source values. Overwrites `shell_gradient`.
    pub fn gather(&self, shell_gradient: &mut [f32], lanes: usize, gradient: &mut [f32]) {
        match lanes {
            1 => self.gather_of::<1>(shell_gradient, gradient),
            2 => self.gather_of::<2>(shell_gradient, gradient),
            4 => self.gather_of::<4>(shell_gradient, gradient),
            8 => self.gather_of::<8>(shell_gradient, gradient),
            _ => self.gather_of::<16>(shell_gradient, gradient),
        }
    }

    fn gather_of<const W: usize>(&self, shell_gradient: &mut [f32], gradient: &mut [f32]) {
        match &self.form {
            ShellForm::Rows(rows) => sweep::gather::<W>(rows, self.slots, shell_gradient, gradient),
            ShellForm::Lists(lists, ..) => lists.gather::<W>(shell_gradient, gradient),
        }
    }
}

fn listed(shell_counts: &Arc<ShellCounts>, indices: Arc<[u32]>, pick: Pick) -> ShellForm {
    ShellForm::Lists(listing::lists(shell_counts, &indices, pick), Arc::clone(shell_counts), indices, pick)
}

/// Whether nearly all receiver-source pairs are in the largest shell of a receiver.
fn mostly_in_largest(shell_counts: &ShellCounts, indices: &[u32]) -> bool {
    outside_largest(shell_counts, indices) as f64 <= LISTED_SHARE * shell_counts.receiver_source_pairs(indices) as f64
}

/// Receiver-source pairs outside the largest shell of each receiver.
fn outside_largest(shell_counts: &ShellCounts, indices: &[u32]) -> u64 {
    let outside = |index: &u32| {
        let counts = shell_counts.counts(*index as usize);
        counts.iter().map(|count| u64::from(*count)).sum::<u64>() - u64::from(counts.iter().copied().max().unwrap_or(0))
    };
    indices.iter().map(outside).sum()
}
