//! How rows of distances are stored: what fits in the memory that is left.

use super::shell_counts::ShellCounts;
use crate::distance::RECEIVERS_PER_BLOCK;
use crate::run::DistanceCache;

/// How the rows of distances are stored between passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DistanceStorage {
    /// In memory, one byte for a receiver and a source; two above 256 slots.
    Bytes,
    /// In memory, half a byte: at most 16 slots.
    HalfBytes,
    /// In a file of this cache.
    File(DistanceCache),
    /// Not at all: they are searched again for every pass.
    Recomputed,
}

/// The share of the memory that is left that rows may take.
const SHARE: f64 = 0.6;

impl DistanceStorage {
    /// The best way that fits: bytes are the fastest, then half bytes, then a file where there is a cache for it.
    pub fn choose(pairs: u64, slots: usize, left: Option<u64>, cache: Option<&DistanceCache>) -> DistanceStorage {
        let fits = |bytes: u64| left.is_none_or(|left| bytes as f64 <= SHARE * left as f64);
        let wide = slots > 256;
        if fits(if wide { pairs.saturating_mul(2) } else { pairs }) {
            DistanceStorage::Bytes
        } else if slots <= 16 && fits(pairs / 2) {
            DistanceStorage::HalfBytes
        } else {
            match cache {
                Some(cache) if !wide => DistanceStorage::File(cache.clone()),
                Some(cache) => {
                    cache.report(format!("{slots} distances are too many for a cache file: they are searched again"));
                    DistanceStorage::Recomputed
                }
                None => DistanceStorage::Recomputed,
            }
        }
    }

    /// The best way without a file, for so many words of eight.
    pub(super) fn in_memory(shell_counts: &ShellCounts, words: usize) -> DistanceStorage {
        DistanceStorage::choose(
            (words * RECEIVERS_PER_BLOCK) as u64,
            shell_counts.slots,
            shell_counts.run.memory.left(),
            None,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_best_is_chosen() {
        let cache = DistanceCache::new("cache");
        let choose = |left: u64, slots, cache| DistanceStorage::choose(1000, slots, Some(left), cache);
        assert_eq!(choose(10_000, 20, None), DistanceStorage::Bytes);
        assert_eq!(choose(1000, 16, None), DistanceStorage::HalfBytes);
        assert_eq!(choose(1000, 17, None), DistanceStorage::Recomputed);
        assert_eq!(choose(1000, 17, Some(&cache)), DistanceStorage::File(cache.clone()));
        assert_eq!(cache.problem(), None);
        assert_eq!(choose(2000, 300, Some(&cache)), DistanceStorage::Recomputed);
        assert!(cache.problem().is_some_and(|problem| problem.contains("300 distances")));
        assert_eq!(DistanceStorage::choose(u64::MAX, 300, None, None), DistanceStorage::Bytes);
    }
}
