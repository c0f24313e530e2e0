//! Prepared data: statistics that several fits share.

use std::sync::{Arc, Mutex, PoisonError};

use crate::dataset::{Dataset, FeaturePair};
use crate::error::Result;
use crate::model::Rho;
use crate::statistics::{Levels, Statistics};

use super::Training;

/// A data set with its statistics, computed when first needed and shared by every fit on it.
pub struct Prepared {
    data: Dataset,
    training: Training,
    levels: Mutex<Option<Arc<Levels>>>,
    statistics: [Mutex<Option<Arc<Statistics>>>; 3],
}

impl Prepared {
    /// Prepares the labelled items of `data`.
    pub fn new(data: &Dataset, training: &Training) -> Prepared {
        Prepared {
            data: data.labelled(),
            training: training.clone(),
            levels: Mutex::default(),
            statistics: Default::default(),
        }
    }

    /// The items.
    pub(super) fn data(&self) -> &Dataset {
        &self.data
    }

    /// The same items with pairs as further features.
    pub(super) fn paired(&self, pairs: &[FeaturePair], training: &Training) -> Result<Prepared> {
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
        let levels = self.levels()?;
        let found = Arc::new(Statistics::with_levels(&self.data, self.data.features(), levels, options, &[])?);
        *slot = Some(Arc::clone(&found));
        Ok(found)
    }

    /// The levels of the features, on knots where there are to be some.
    fn levels(&self) -> Result<Arc<Levels>> {
        let mut slot = self.levels.lock().unwrap_or_else(PoisonError::into_inner);
        match &*slot {
            Some(found) => Ok(Arc::clone(found)),
            None => Ok(Arc::clone(slot.insert(self.training.knots.levels(&self.data)?))),
        }
    }
}
