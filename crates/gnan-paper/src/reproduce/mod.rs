//! Reproduction: what the paper reports on a data set, and what our models reach by its protocol.
//!
//! A [`PaperProtocol`] is how the paper evaluates on one column of its table, and which options are tried here. A
//! [`Reproduced`] is what came of it, to stand beside the paper's seven rows.

mod protocols;
mod table;

use std::path::Path;

use serde::Serialize;

use protocols::SEED;
pub use protocols::{PaperProtocol, Variant};
pub use table::markdown;

use crate::catalogue::{self, PaperTask};
use gnan::baseline::mean_baseline;
use gnan::dataset::Dataset;
use gnan::error::{Error, Result};
use gnan::evaluate::{Evaluation, EvaluationMonitor, Journal, Search, Space, Spread, Strategy};
use gnan::metric::Metric;
use gnan::run::Run;
use gnan::spec::Spec;

/// What came of one column of the table.
#[derive(Clone, Debug, Serialize)]
pub struct Reproduced {
    /// The column.
    pub task: &'static str,
    /// Whether nodes were described by the graph around them.
    pub variant: Variant,
    /// The metric that the paper reports.
    pub metric: Metric,
    /// The unit of an error.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit: Option<&'static str>,
    /// Mean and standard deviation of our models, in per cent or in the unit.
    pub ours: Spread,
    /// The largest class, or the mean.
    pub baseline: f64,
    /// Number of tests behind the mean.
    pub tests: usize,
    /// Number of runs that chose options.
    pub tried: usize,
    /// The options that won on most splits.
    pub chosen: String,
    /// The protocol in words, and what else a reader of the figures should know.
    pub notes: Vec<String>,
    /// What the paper reports; `None` for a protocol that is not the paper's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub paper: Option<PaperTask>,
    /// The whole evaluation.
    #[serde(skip)]
    pub evaluation: Evaluation,
}

impl Reproduced {
    /// Decimals with which its figures are printed.
    pub fn digits(&self) -> usize {
        if self.metric.is_share() { 1 } else { 3 }
    }
}

/// Where data sets lie, and how work on them is done.
#[derive(Clone, Copy, Debug)]
pub struct DataFolder<'a> {
    /// The folder.
    pub path: &'a Path,
    /// How work is done.
    pub run: &'a Run,
}

impl PaperProtocol {
    /// Evaluates the data at `place` by this protocol. `folder` is where other data sets are looked for, on which
    /// options may have to be tuned.
    pub fn run(
        &self,
        place: &Path,
        folder: DataFolder<'_>,
        variant: Variant,
        search: Search,
        journal: &Journal,
        monitor: &EvaluationMonitor<'_>,
    ) -> Result<Reproduced> {
        let data = self.open(place, folder)?;
        let mut notes = vec![self.words.to_owned()];
        if !self.fixed.is_empty() {
            let fixed: Vec<String> = self.fixed.iter().map(|(option, value)| format!("{option} {value}")).collect();
            notes.push(format!("fixed unless tried: {}", fixed.join(", ")));
        }
        let (search, tuned_elsewhere) = self.tuned_elsewhere(search, folder, journal, monitor, &mut notes)?;
        let protocol = self.protocol();
        let evaluation = Evaluation::run(&data, &search, &protocol, journal, monitor)?;
        notes.extend(evaluation.notes.iter().cloned());
        let paper = self.paper();
        let metric = self.metric();
        let factor = self.factor(metric);
        let Some(found) = evaluation.metrics.get(&metric) else {
            return Err(
                Error::input(format!("the {} cannot be computed on these data", metric.long_name())).in_file(place)
            );
        };
        let baseline = mean_baseline(&protocol.splits(&data, protocol.seed)?)?;
        Ok(Reproduced {
            task: self.task,
            variant,
            metric,
            unit: self.unit,
            ours: Spread { mean: found.mean * factor, std: found.std * factor },
            baseline: factor * baseline.get(metric).unwrap_or(0.0),
            tests: evaluation.folds.len(),
            tried: evaluation.tried.len(),
            chosen: tuned_elsewhere
                .or(evaluation.most_chosen().map(str::to_owned))
                .unwrap_or_else(|| "defaults".to_owned()),
            notes,
            paper: paper.copied(),
            evaluation,
        })
    }

    /// Opens the data as the protocol wants them.
    pub fn open(&self, place: &Path, folder: DataFolder<'_>) -> Result<Dataset> {
        let options = self.data_options(folder)?;
        let data = Dataset::open_with(place, &options)?;
        if data.features().is_empty() {
            return Err(Error::input("these data have no features").in_file(place));
        }
        Ok(data)
    }

    /// Tunes options on the data set that the paper tunes them on, where that is another one.
    fn tuned_elsewhere(
        &self,
        search: Search,
        folder: DataFolder<'_>,
        journal: &Journal,
        monitor: &EvaluationMonitor<'_>,
        notes: &mut Vec<String>,
    ) -> Result<(Search, Option<String>)> {
        let Some(other) = self.tuned_on else { return Ok((search, None)) };
        let other = PaperProtocol::find(other).expect("options are tuned on a set that has a protocol");
        if search.candidates.len() < 2 {
            return Ok((search, None));
        }
        let Some(place) = catalogue::find(other.entry)?.place_in(folder.path) else {
            notes.push(format!("{} is not here, so options were tuned on these data themselves", other.task));
            return Ok((search, None));
        };
        let data = other.open(&place, folder)?;
        let protocol = other.protocol();
        let split = protocol.splits(&data, protocol.seed)?.swap_remove(0);
        let (candidate, tried, _) = Evaluation::search(&data, split, &search, protocol.seed, journal, monitor)?;
        let words = tried.into_iter().find(|trial| trial.chosen).map(|trial| trial.candidate);
        notes.push(format!("options were tuned on {}", other.task));
        Ok((Search::of(candidate), words))
    }

    /// What is tried: candidates around a base, which `prepare` may change, in the usual space or by `tries`.
    pub fn search(&self, variant: Variant, prepare: &dyn Fn(&mut Spec), tries: Option<&Tries<'_>>) -> Result<Search> {
        let mut base = self.base(variant)?;
        prepare(&mut base);
        if let Some(tries) = tries {
            let search = tries(&base)?;
            return Ok(Search { criterion: search.criterion.or(Some(self.criterion)), ..search });
        }
        let axes = match variant {
            Variant::Plain => self.plain,
            Variant::Described => self.described,
        };
        let space = axes.iter().try_fold(Space::default(), |space, axis| space.with(axis))?;
        let search = Search::new(&base, &space, Strategy::Grid, SEED)?;
        Ok(Search { criterion: Some(self.criterion), ..search })
    }
}

/// Makes a search around a base.
pub type Tries<'a> = dyn Fn(&Spec) -> Result<Search> + 'a;
