//! The run: groups of replicates on all threads, saved group by group.

use std::collections::BTreeMap;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::explain::Points;
use crate::model::Model;
use crate::remedy::{Remedy, Step};
use crate::train::Retraining;
use crate::workers;

use super::file::FORMAT_VERSION;
use super::importance::ImportanceCells;
use super::replicates::{Holders, ReplicateLayout, Replicates, ReplicatesHeader};

/// Default number of resamples.
pub const RESAMPLES: usize = 200;
/// Most resamples that are accepted.
const MOST_RESAMPLES: usize = 100_000;

/// How a model is to be bootstrapped.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// use std::ops::ControlFlow;
/// use gnan::{Bootstrap, Intervals};
/// let bootstrap = Bootstrap { resamples: 4, ..Bootstrap::default() };
/// let replicates = bootstrap.run(&model, &train, None, &|_| ControlFlow::Continue(()))?;
/// let intervals = Intervals::new(&model, &replicates)?;
/// assert_eq!(intervals.resamples, 4);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bootstrap {
    /// Number of resamples.
    pub resamples: usize,
    /// The seed of resamples and random starts.
    pub seed: u64,
    /// Begin again, whatever an earlier run left in the file; it is replaced when the first group is done.
    pub restart: bool,
}

impl Default for Bootstrap {
    fn default() -> Self {
        Bootstrap { resamples: RESAMPLES, seed: 0, restart: false }
    }
}

/// What a bootstrap reports while it runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BootstrapEvent {
    /// A group has done an epoch.
    Epoch {
        /// The replicates of the group.
        group: Range<usize>,
        /// How many of them still run.
        running: usize,
        /// Epochs done.
        epoch: usize,
        /// Limit on epochs.
        epochs: usize,
    },
    /// So many replicates are done and kept, those of an earlier run included.
    Done {
        /// Replicates done.
        done: usize,
        /// Replicates wanted.
        wanted: usize,
    },
}

/// Watches a bootstrap from several threads; break to stop with the groups that are done.
pub type BootstrapMonitor<'a> = dyn Fn(BootstrapEvent) -> ControlFlow<()> + Sync + 'a;

impl Bootstrap {
    /// Trains `model` again on resamples of the labelled items of `data`, on all threads.
    ///
    /// With a `file`, replicates found there are taken over and the file is written after every group. A run that the
    /// monitor breaks off returns what is done: see [`Replicates::is_complete`].
    pub fn run(
        &self,
        model: &Model,
        data: &Dataset,
        file: Option<&Path>,
        monitor: &BootstrapMonitor<'_>,
    ) -> Result<Replicates> {
        if self.resamples < 2 || self.resamples > MOST_RESAMPLES {
            return Err(
                Error::usage(format!("{} resamples", self.resamples)).with_remedy("choose 2 to 100000; 200 is usual")
            );
        }
        let retraining = Retraining::new(model, data)?;
        let replicates = self.start(model, &retraining, file)?;
        let size = retraining.group_size();
        let missing = |group: &Range<usize>| group.clone().any(|number| !replicates.rows.contains_key(&number));
        let groups = (0..self.resamples).step_by(size).map(|first| first..(first + size).min(self.resamples));
        let groups: Vec<Range<usize>> = groups.filter(missing).collect();
        let work = Work {
            cells: ImportanceCells::new(model, retraining.data(), retraining.statistics())?,
            holders: Holders::new(model, retraining.data(), &replicates.header.points, retraining.statistics()),
            points: &replicates.header.points.clone(),
            shape: &replicates.shape.clone(),
            retraining: &retraining,
            seed: self.seed,
            monitor,
        };
        let stopped = AtomicBool::new(false);
        let found = Mutex::new((replicates, None::<Error>));
        let take_group = |group: &Range<usize>| {
            if stopped.load(Ordering::Relaxed) {
                return;
            }
            let rows = work.group(group.clone(), &stopped);
            // A poisoned lock means that another thread panicked: what is there is still whole.
            let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = rows.and_then(|rows| {
                let Some(rows) = rows else { return Ok(ControlFlow::Break(())) };
                found.0.rows.extend(group.clone().zip(rows));
                file.map_or(Ok(()), |file| found.0.save(file))?;
                Ok(monitor(BootstrapEvent::Done { done: found.0.len(), wanted: self.resamples }))
            });
            match kept {
                Ok(ControlFlow::Continue(())) => {}
                Ok(ControlFlow::Break(())) => stopped.store(true, Ordering::Relaxed),
                Err(error) => {
                    stopped.store(true, Ordering::Relaxed);
                    found.1.get_or_insert(error);
                }
            }
        };
        data.run().install(|| workers::run(groups.len(), |job| take_group(&groups[job])));
        let (mut replicates, error) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some(error) = error {
            return Err(error);
        }
        replicates.rows.retain(|number, _| *number < self.resamples);
        replicates.header.wanted = self.resamples;
        replicates.header.done = replicates.rows.len();
        Ok(replicates)
    }

    /// What an earlier run left in `file`, or nothing yet.
    fn start(&self, model: &Model, retraining: &Retraining, file: Option<&Path>) -> Result<Replicates> {
        let data = retraining.data();
        let data_checksum = retraining.checksum().to_string();
        if let Some(file) = file.filter(|file| file.exists() && !self.restart) {
            let mut earlier = Replicates::load(file, model)?;
            let refuse = |what: &str| {
                Err(Error::usage(format!("the replicates in this file were made {what}"))
                    .in_file(file)
                    .with_remedy(["use the same".into(), Remedy::Run(Step::Bootstrap { restart: true })]))
            };
            if earlier.header.seed != self.seed {
                return refuse(&format!("with seed {}, not {}", earlier.header.seed, self.seed));
            }
            if earlier.header.data_checksum != data_checksum {
                return refuse("from other data or other items of it");
            }
            earlier.header.wanted = earlier.header.wanted.max(self.resamples);
            return Ok(earlier);
        }
        let points = Points::of(model, data)?;
        let header = ReplicatesHeader {
            version: FORMAT_VERSION,
            model: model.checksum()?,
            data: data.name().to_owned(),
            data_checksum,
            items: data.len(),
            seed: self.seed,
            wanted: self.resamples,
            done: 0,
            points,
        };
        Ok(Replicates { shape: ReplicateLayout::of(model, &header.points), header, rows: BTreeMap::new() })
    }
}

/// What every group needs.
struct Work<'a> {
    retraining: &'a Retraining,
    cells: ImportanceCells<'a>,
    holders: Holders,
    points: &'a Points,
    shape: &'a ReplicateLayout,
    seed: u64,
    monitor: &'a BootstrapMonitor<'a>,
}

impl Work<'_> {
    /// The rows of a group; `None`: it was broken off.
    fn group(&self, group: Range<usize>, stopped: &AtomicBool) -> Result<Option<Vec<Vec<f64>>>> {
        let epochs = self.retraining.epochs();
        let mut watch = |epoch: usize, running: usize| {
            if stopped.load(Ordering::Relaxed) {
                return ControlFlow::Break(());
            }
            (self.monitor)(BootstrapEvent::Epoch { group: group.clone(), running, epoch, epochs })
        };
        let Some(trained) = self.retraining.fit(group.clone(), self.seed, &mut watch)? else { return Ok(None) };
        let rows = group.zip(trained).map(|(number, trained)| {
            let curves = trained.canonical().curves(self.points);
            let importances = self.cells.importances(&trained);
            let present = self.holders.present(&self.retraining.resample(self.seed, number));
            let row = self.shape.row(&curves, &importances, &present);
            if row.iter().any(|number| !number.is_finite()) {
                return Err(Error::training(format!("the numbers of replicate {number} are not finite")));
            }
            Ok(row)
        });
        rows.collect::<Result<Vec<_>>>().map(Some)
    }
}
