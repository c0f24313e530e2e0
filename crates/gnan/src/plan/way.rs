//! The ways of running: how training gets at the distances between receivers and sources.

use serde::{Serialize, Serializer};

use crate::statistics::DistanceStorage;

/// A way of running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Statistics summed over the data before training are all that is needed.
    StatisticsAlone,
    /// Distances are held in memory, a byte each (two above 256 slots).
    Bytes,
    /// Distances are held in memory, half a byte each.
    HalfBytes,
    /// Distances are read from a cache file.
    CacheFile,
    /// Distances are searched again for every pass.
    Recomputed,
    /// The sources of all but the largest shell are listed.
    Listed,
    /// So many sources of every shell are listed.
    Sampled(u32),
}

impl Way {
    /// Its name for people and files.
    pub fn name(self) -> String {
        match self {
            Way::StatisticsAlone => "statistics alone, no distances kept".to_owned(),
            Way::Bytes => "distances as bytes in memory".to_owned(),
            Way::HalfBytes => "distances as half bytes in memory".to_owned(),
            Way::CacheFile => "distances in a cache file".to_owned(),
            Way::Recomputed => "distances searched again for every pass".to_owned(),
            Way::Listed => "the nodes of all but the largest shell listed".to_owned(),
            Way::Sampled(size) => format!("a sample of {size} from every shell"),
        }
    }

    /// Whether all sources count, rather than a sample of every shell.
    pub fn is_exact(self) -> bool {
        !matches!(self, Way::Sampled(_))
    }
}

impl From<&DistanceStorage> for Way {
    fn from(keeping: &DistanceStorage) -> Way {
        match keeping {
            DistanceStorage::Bytes => Way::Bytes,
            DistanceStorage::HalfBytes => Way::HalfBytes,
            DistanceStorage::File(_) => Way::CacheFile,
            DistanceStorage::Recomputed => Way::Recomputed,
        }
    }
}

impl Serialize for Way {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.name())
    }
}
