//! Prepared data: statistics that several fits share.

use std::sync::{Arc, Mutex, PoisonError};

use crate::dataset::{Dataset, Pair};
use crate::error::Result;
use crate::model::Rho;
use crate::statistics::{Statistics, StatisticsOptions};

use super::Training;

/// A data set with its statistics, computed when first needed and shared by every fit on it.
pub struct Prepared {
    data: Dataset,
    normalise: bool,
    statistics: [Mutex<Option<Arc<Statistics>>>; 2],
}

impl Prepared {
    /// Prepares the labelled items of `data`.
    pub fn new(data: &Dataset, training: &Training) -> Prepared {
        Prepared { data: data.labelled(), normalise: training.normalise, statistics: Default::default() }
    }

    /// The same items with pairs as further features.
    pub(super) fn paired(&self, pairs: &[Pair], training: &Training) -> Result<Prepared> {
        Ok(Prepared::new(&self.data.paired(pairs)?, training))
    }

    /// The statistics for a shared rho or one per feature.
    pub fn statistics(&self, rho: Rho) -> Result<Arc<Statistics>> {
        let slot = &self.statistics[usize::from(rho == Rho::PerFeature)];
        // Whoever comes while they are computed waits: they are large.
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = &*slot {
            return Ok(Arc::clone(found));
        }
        let options = StatisticsOptions { normalise: self.normalise, rho_per_feature: rho == Rho::PerFeature };
        let found = Arc::new(Statistics::new(&self.data, self.data.features(), options)?);
        *slot = Some(Arc::clone(&found));
        Ok(found)
    }
}
