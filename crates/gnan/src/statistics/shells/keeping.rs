//! How rows are kept: what fits in the memory that is left.

use std::path::PathBuf;

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
    /// In a cache file in this folder.
    File(PathBuf),
    /// Not at all: they are searched again for every pass.
    Recomputed,
}

/// The share of the memory that is left that rows may take.
const SHARE: f64 = 0.6;

impl Keeping {
    /// The best way that fits: bytes are the fastest, then half bytes, then a file where a folder for it is given.
    pub fn choose(pairs: u64, slots: usize, left: Option<u64>, folder: Option<&PathBuf>) -> Keeping {
        let fits = |bytes: u64| left.is_none_or(|left| bytes as f64 <= SHARE * left as f64);
        let wide = slots > 256;
        if fits(if wide { pairs.saturating_mul(2) } else { pairs }) {
            Keeping::Bytes
        } else if slots <= 16 && fits(pairs / 2) {
            Keeping::HalfBytes
        } else {
            match folder {
                Some(folder) if !wide => Keeping::File(folder.clone()),
                _ => Keeping::Recomputed,
            }
        }
    }

    /// The best way without a file, for so many words of eight.
    pub(super) fn in_memory(surroundings: &Surroundings, words: usize) -> Keeping {
        Keeping::choose((words * OCTET) as u64, surroundings.slots(), memory::left(), None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fits_best_is_chosen() {
        let folder = PathBuf::from("cache");
        let choose = |left: u64, slots, folder| Keeping::choose(1000, slots, Some(left), folder);
        assert_eq!(choose(10_000, 20, None), Keeping::Bytes);
        assert_eq!(choose(1000, 16, None), Keeping::HalfBytes);
        assert_eq!(choose(1000, 17, None), Keeping::Recomputed);
        assert_eq!(choose(1000, 17, Some(&folder)), Keeping::File(folder.clone()));
        assert_eq!(choose(2000, 300, Some(&folder)), Keeping::Recomputed);
        assert_eq!(Keeping::choose(u64::MAX, 300, None, None), Keeping::Bytes);
    }
}
