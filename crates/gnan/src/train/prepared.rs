//! Prepared data: statistics that several fits share.

use std::sync::{Arc, Mutex, PoisonError};

use crate::dataset::{Dataset, Pair};
use crate::error::Result;
use crate::model::Rho;
use crate::statistics::Statistics;

use super::Training;

/// A data set with its statistics, computed when first needed and shared by every fit on it.
pub struct Prepared {
    data: Dataset,
    training: Training,
    statistics: [Mutex<Option<Arc<Statistics>>>; 3],
}

impl Prepared {
    /// Prepares the labelled items of `data`.
    pub fn new(data: &Dataset, training: &Training) -> Prepared {
        Prepared { data: data.labelled(), training: training.clone(), statistics: Default::default() }
    }

    /// The items.
    pub(super) fn data(&self) -> &Dataset {
        &self.data
    }

    /// The same items with pairs as further features.
    pub(super) fn paired(&self, pairs: &[Pair], training: &Training) -> Result<Prepared> {
        Ok(Prepared::new(&self.data.paired(pairs)?, training))
    }

    /// The statistics for a shared rho, or one per feature or group.
    pub fn statistics(&self, rho: Rho) -> Result<Arc<Statistics>> {
        let slot = &self.statistics[rho as usize];
        // Whoever comes while they are computed waits: they are large.
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = &*slot {
            return Ok(Arc::clone(found));
        }
        let names = self.data.features().iter().map(|feature| feature.name.as_str());
        let options = self.training.statistics_options(rho, names);
        let found = Arc::new(Statistics::new(&self.data, self.data.features(), options)?);
        *slot = Some(Arc::clone(&found));
        Ok(found)
    }
}
