//! How rows are kept: what fits in the memory that is left.

use super::distance_cache::DistanceCache;
use super::surroundings::Surroundings;
use crate::distance::OCTET;
use crate::memory;

/// How the rows of distances are kept between passes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Keeping {
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

impl Keeping {
    /// The best way that fits: bytes are the fastest, then half bytes, then a file where there is a cache for it.
    pub fn choose(pairs: u64, slots: usize, left: Option<u64>, cache: Option<&DistanceCache>) -> Keeping {
        let fits = |bytes: u64| left.is_none_or(|left| bytes as f64 <= SHARE * left as f64);
        let wide = slots > 256;
        if fits(if wide { pairs.saturating_mul(2) } else { pairs }) {
            Keeping::Bytes
        } else if slots <= 16 && fits(pairs / 2) {
            Keeping::HalfBytes
        } else {
            match cache {
                Some(cache) if !wide => Keeping::File(cache.clone()),
                _ => Keeping::Recomputed,
            }
        }
    }

    /// The best way without a file, for so many words of eight.
    pub(super) fn in_memory(surroundings: &Surroundings, words: usize) -> Keeping {
        Keeping::choose((words * OCTET) as u64, surroundings.slots(), memory::left(), None)
    }

    /// Its name.
    pub fn name(&self) -> &'static str {
        match self {
            Keeping::Bytes => "bytes in memory",
            Keeping::HalfBytes => "half bytes in memory",
            Keeping::File(_) => "a cache file",
            Keeping::Recomputed => "searched again for every pass",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_best_is_chosen() {
        let cache = DistanceCache::new("cache");
        let choose = |left: u64, slots, cache| Keeping::choose(1000, slots, Some(left), cache);
        assert_eq!(choose(10_000, 20, None), Keeping::Bytes);
        assert_eq!(choose(1000, 16, None), Keeping::HalfBytes);
        assert_eq!(choose(1000, 17, None), Keeping::Recomputed);
        assert_eq!(choose(1000, 17, Some(&cache)), Keeping::File(cache.clone()));
        assert_eq!(choose(2000, 300, Some(&cache)), Keeping::Recomputed);
        assert_eq!(Keeping::choose(u64::MAX, 300, None, None), Keeping::Bytes);
    }
}
