//! Statistics that several fits on the same items share.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use super::resolve::ResolvedSpec;
use crate::dataset::{Dataset, FeaturePair};
use crate::error::Result;
use crate::model::{Rho, channel_plan};
use crate::spec::{BinChoice, Spec};
use crate::statistics::{Levels, Sample, ShellWeighting, Statistics, StatisticsRequest};

/// Items with their statistics, computed when first needed.
///
/// Statistics are a function of the items, the choice of bins and a [`StatisticsRequest`], and are kept under exactly
/// these: specifications that differ in anything else share them, and no others do.
pub struct StatisticsCache {
    data: Dataset,
    levels: Shared<BinChoice, Levels>,
    statistics: Shared<(BinChoice, String), Statistics>,
}

/// Values that are made once for every key.
type Shared<K, V> = Mutex<HashMap<K, Arc<V>>>;

impl StatisticsCache {
    /// A cache for the labelled items of `data`.
    pub fn new(data: &Dataset) -> StatisticsCache {
        StatisticsCache { data: data.labelled(), levels: Mutex::default(), statistics: Mutex::default() }
    }

    /// The items.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// A cache for the same items with feature pairs as further features.
    pub(super) fn with_pairs(&self, pairs: &[FeaturePair]) -> Result<StatisticsCache> {
        Ok(StatisticsCache::new(&self.data.paired(pairs)?))
    }

    /// Computes everything that fits of a specification on `train` will need.
    pub fn prepare(&self, spec: &Spec, train: &Dataset) -> Result<()> {
        let train = train.labelled();
        let spec = spec.with_method(&train)?;
        if spec.is_penalised() {
            // Its knots are those of the items that are fitted on.
            return Ok(());
        }
        spec.resolutions(&train)?.iter().try_for_each(|resolved| self.statistics(resolved).map(|_| ()))
    }

    /// The statistics that a fit needs.
    pub(crate) fn statistics(&self, resolved: &ResolvedSpec) -> Result<Arc<Statistics>> {
        let names = self.data.features().iter().map(|feature| feature.name.as_str());
        let request = StatisticsRequest::of(&resolved.spec, resolved.rho, names);
        let bins = resolved.spec.statistics.bins;
        let key = (bins, serde_json::to_string(&request).expect("a request is made of plain values"));
        // Whoever comes while they are computed waits: they are large.
        shared(&self.statistics, key, || {
            let levels = shared(&self.levels, bins, || bins.levels(&self.data))?;
            Ok(Arc::new(Statistics::with_levels(&self.data, self.data.features(), levels, request, &[])?))
        })
    }
}

impl StatisticsRequest {
    /// The statistics that a model of these features needs.
    pub(crate) fn of<'a>(spec: &Spec, rho: Rho, features: impl Iterator<Item = &'a str>) -> StatisticsRequest {
        let distances = &spec.distances;
        let sample = spec.statistics.shell_sample;
        StatisticsRequest {
            weighting: ShellWeighting::of(&spec.statistics),
            lenses: spec.lenses(),
            channels: channel_plan(rho, features.map(|name| (distances.group_of(name), distances.reach_of(name)))),
            in_cells: false,
            sample: sample.map(|size| Sample { size, seed: spec.fit.seed, draw: 0 }),
            farthest: distances.hop_cap,
        }
    }
}

fn shared<K: Eq + std::hash::Hash, V>(
    values: &Shared<K, V>,
    key: K,
    make: impl FnOnce() -> Result<Arc<V>>,
) -> Result<Arc<V>> {
    // A poisoned lock means that another thread panicked while it made a value, which was then not inserted.
    let mut values = values.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = values.get(&key) {
        return Ok(Arc::clone(found));
    }
    let made = make()?;
    values.insert(key, Arc::clone(&made));
    Ok(made)
}
