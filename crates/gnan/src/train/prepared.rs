//! Prepared data: statistics that several fits share.

use std::sync::{Arc, OnceLock};

use crate::dataset::Dataset;
use crate::error::Result;
use crate::model::Rho;
use crate::statistics::{Statistics, StatisticsOptions};

use super::Training;

/// A data set with its statistics, computed when first needed and shared by every fit on it.
pub struct Prepared {
    data: Dataset,
    normalise: bool,
    statistics: [OnceLock<Arc<Statistics>>; 2],
}

impl Prepared {
    /// Prepares the labelled items of `data`.
    pub fn new(data: &Dataset, training: &Training) -> Prepared {
        Prepared { data: data.labelled(), normalise: training.normalise, statistics: Default::default() }
    }

    /// The statistics for a shared rho or one per feature.
    pub fn statistics(&self, rho: Rho) -> Result<Arc<Statistics>> {
        let slot = &self.statistics[usize::from(rho == Rho::PerFeature)];
        if let Some(found) = slot.get() {
            return Ok(Arc::clone(found));
        }
        let options = StatisticsOptions { normalise: self.normalise, rho_per_feature: rho == Rho::PerFeature };
        let found = Arc::new(Statistics::new(&self.data, self.data.features(), options)?);
        Ok(Arc::clone(slot.get_or_init(|| found)))
    }
}
