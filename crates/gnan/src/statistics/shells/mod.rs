//! Shells: for some receivers of a node task what every shell around them holds, in the form that costs least.
//!
//! This carries what cells would make too large: the sum of all features under one shared `rho`, and features with many
//! distinct values. What each source says is laid out in *lanes* (one per channel and output, in blocks of one width);
//! the mean of every lane over every shell comes from one sweep over [`rows`] of slots, or over [`lists`] of sources.
//! Receivers come eight at a time, in *octets*.

mod distance_cache;
mod keeping;
mod listing;
mod lists;
mod row_file;
mod rows;
mod surroundings;
mod sweep;

use std::sync::Arc;

pub use distance_cache::DistanceCache;
pub use keeping::Keeping;
pub use listing::Sample;
pub use rows::Octet;
pub use surroundings::Surroundings;

use crate::distance::OCTET;
use crate::memory;
use listing::Pick;
use lists::Lists;
use rows::{NOBODY, Rows};

/// Sources are listed where no more than this share of all pairs is outside the largest shell of each receiver.
const LISTED_SHARE: f64 = 1.0 / 16.0;

/// The shells of some receivers.
pub struct Shells {
    slots: usize,
    receivers: usize,
    source_count: usize,
    /// `[octets, slots, receivers]`: what the sum over a shell is multiplied by; 0 for an empty shell.
    shares: Vec<f32>,
    form: Form,
}

enum Form {
    Rows(Rows),
    Lists(Lists, Arc<Surroundings>, Arc<[u32]>, Pick),
}

impl Shells {
    /// The shells of receivers, given by their positions in the surroundings; `sample`: of some sources only.
    pub fn new(
        surroundings: &Arc<Surroundings>,
        receivers: &[usize],
        sample: Option<Sample>,
        cache: Option<&DistanceCache>,
    ) -> Shells {
        let seats: Vec<u32> = receivers.iter().map(|receiver| *receiver as u32).collect();
        let pairs = surroundings.pairs(&seats);
        let pick = match sample {
            Some(sample) => Some(Pick::Some(sample)),
            None if mostly_in_largest(surroundings, &seats) => Some(Pick::AllButLargest),
            None => None,
        };
        let form = match pick {
            Some(pick) => listed(surroundings, seats.into(), pick),
            None => {
                let keeping = Keeping::choose(pairs, surroundings.slots(), memory::left(), cache);
                Form::Rows(Rows::new(surroundings, &seats, &keeping))
            }
        };
        Shells::of(form)
    }

    /// The shells of receivers, their rows kept in a given way.
    pub fn kept(surroundings: &Arc<Surroundings>, receivers: &[usize], keeping: &Keeping) -> Shells {
        let seats: Vec<u32> = receivers.iter().map(|receiver| *receiver as u32).collect();
        Shells::of(Form::Rows(Rows::new(surroundings, &seats, keeping)))
    }

    /// Whether the shells of all receivers are listed, but for the largest of each, where no sample is asked for.
    pub(crate) fn are_listed(surroundings: &Surroundings) -> bool {
        mostly_in_largest(surroundings, &(0..surroundings.len() as u32).collect::<Vec<_>>())
    }

    /// The shells of receivers, all but the largest of each listed.
    pub fn listed(surroundings: &Arc<Surroundings>, receivers: &[usize]) -> Shells {
        let seats: Vec<u32> = receivers.iter().map(|receiver| *receiver as u32).collect();
        Shells::of(listed(surroundings, seats.into(), Pick::AllButLargest))
    }

    fn of(form: Form) -> Shells {
        let (surroundings, seats, octets, pick) = match &form {
            Form::Rows(rows) => (rows.surroundings(), rows.seats(), rows.octets(), None),
            Form::Lists(lists, surroundings, seats, pick) => (surroundings, &seats[..], &lists.octets[..], Some(*pick)),
        };
        let slots = surroundings.slots();
        let mut shares = Vec::with_capacity(octets.len() * slots * OCTET);
        for octet in octets {
            for slot in 0..slots {
                shares.extend(octet.receivers.map(|receiver| {
                    if receiver == NOBODY {
                        return 0.0;
                    }
                    let count = surroundings.counts(seats[receiver as usize] as usize)[slot];
                    let summed = pick.map_or(count, |pick| pick.listed(count));
                    match (count, surroundings.normalise()) {
                        (0, _) => 0.0,
                        (_, true) => 1.0 / summed as f32,
                        (_, false) => count as f32 / summed as f32,
                    }
                }));
            }
        }
        let (receivers, source_count) = (seats.len(), surroundings.source_count());
        Shells { slots, receivers, source_count, shares, form }
    }

    /// Number of slots; the last one is "unreachable".
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Number of receivers.
    pub fn receivers(&self) -> usize {
        self.receivers
    }

    /// Number of sources over all graphs.
    pub fn source_count(&self) -> usize {
        self.source_count
    }

    /// The receivers, eight at a time.
    pub fn octets(&self) -> &[Octet] {
        match &self.form {
            Form::Rows(rows) => rows.octets(),
            Form::Lists(lists, ..) => &lists.octets,
        }
    }

    /// `[octets, slots, receivers]`: what the sum over a shell is multiplied by; 0 for an empty shell.
    pub fn shares(&self) -> &[f32] {
        &self.shares
    }

    /// The shells of some of the receivers, by their positions here.
    pub fn select(&self, positions: &[usize]) -> Shells {
        Shells::of(match &self.form {
            Form::Rows(rows) => Form::Rows(rows.select(positions)),
            Form::Lists(lists, surroundings, seats, pick) => {
                let seats: Arc<[u32]> = positions.iter().map(|position| seats[*position]).collect();
                let lists = lists.select(surroundings.octets(&seats), positions);
                Form::Lists(lists, Arc::clone(surroundings), seats, *pick)
            }
        })
    }

    /// Draws another sample, where there is one.
    pub fn redraw(&mut self, draw: u64) {
        if let Form::Lists(_, surroundings, seats, Pick::Some(sample)) = &self.form {
            let pick = Pick::Some(Sample { draw, ..*sample });
            self.form = listed(surroundings, Arc::clone(seats), pick);
        }
    }

    /// `means[octet, l, receiver, :] = share_i(l) * sum_(j in S_i(l)) said[j, :]`, for blocks of lanes of width `lanes`
    /// (1, 2, 4, 8 or 16).
    pub fn means(&self, said: &[f32], lanes: usize, means: &mut [f32]) {
        match lanes {
            1 => self.means_of::<1>(said, means),
            2 => self.means_of::<2>(said, means),
            4 => self.means_of::<4>(said, means),
            8 => self.means_of::<8>(said, means),
            _ => self.means_of::<16>(said, means),
        }
    }

    fn means_of<const W: usize>(&self, said: &[f32], means: &mut [f32]) {
        match &self.form {
            Form::Rows(rows) => sweep::sums::<W>(rows, self.slots, said, means),
            Form::Lists(lists, ..) => lists.sums::<W>(said, means),
        }
        for (mean, share) in means.as_chunks_mut::<W>().0.iter_mut().zip(self.shares.iter().cycle()) {
            mean.iter_mut().for_each(|x| *x *= share);
        }
    }

    /// `gradient[j, :] += sum_i pull[octet, l_ij, receiver, :]`: what all receivers together pull on every source. The
    /// pulls are used up.
    pub fn gather(&self, pull: &mut [f32], lanes: usize, gradient: &mut [f32]) {
        match lanes {
            1 => self.gather_of::<1>(pull, gradient),
            2 => self.gather_of::<2>(pull, gradient),
            4 => self.gather_of::<4>(pull, gradient),
            8 => self.gather_of::<8>(pull, gradient),
            _ => self.gather_of::<16>(pull, gradient),
        }
    }

    fn gather_of<const W: usize>(&self, pull: &mut [f32], gradient: &mut [f32]) {
        match &self.form {
            Form::Rows(rows) => sweep::gather::<W>(rows, self.slots, pull, gradient),
            Form::Lists(lists, ..) => lists.gather::<W>(pull, gradient),
        }
    }
}

fn listed(surroundings: &Arc<Surroundings>, seats: Arc<[u32]>, pick: Pick) -> Form {
    Form::Lists(listing::lists(surroundings, &seats, pick), Arc::clone(surroundings), seats, pick)
}

/// Whether nearly all pairs are in the largest shell of a receiver.
fn mostly_in_largest(surroundings: &Surroundings, seats: &[u32]) -> bool {
    outside_largest(surroundings, seats) as f64 <= LISTED_SHARE * surroundings.pairs(seats) as f64
}

/// Pairs of a receiver and a source outside the largest shell of each receiver.
fn outside_largest(surroundings: &Surroundings, seats: &[u32]) -> u64 {
    let outside = |seat: &u32| {
        let counts = surroundings.counts(*seat as usize);
        counts.iter().map(|count| u64::from(*count)).sum::<u64>() - u64::from(counts.iter().copied().max().unwrap_or(0))
    };
    seats.iter().map(outside).sum()
}
