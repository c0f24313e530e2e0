//! Progress on stderr, shown on a terminal only.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use gnan::bootstrap::BootstrapEvent;
use gnan::evaluate::EvaluationEvent;
use gnan::numbers::{metric, number};
use gnan::run::WorkDone;
use gnan::train::EpochReport;
use gnan_paper::selftest::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::interrupt;

const LETTERS: &str = "━╸╌";
const TICK: Duration = Duration::from_millis(100);
/// Work that is done sooner gets no bar.
const A_MOMENT: Duration = Duration::from_millis(700);
/// Parts of a run that the bar of an evaluation tells apart.
const PARTS_OF_A_RUN: u64 = 1000;

/// Does some work of unknown length behind a spinner.
pub fn working<T>(what: &'static str, work: impl FnOnce() -> T) -> T {
    let spinner = ProgressBar::new_spinner().with_message(what);
    spinner.enable_steady_tick(TICK);
    let result = work();
    spinner.finish_and_clear();
    result
}

fn bar(length: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::new(length);
    // A template that does not parse would be a mistake here, not the user's: then the plain bar has to do.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars(LETTERS));
    }
    bar
}

/// Shows long work inside the library, with the time left, once it takes more than a moment.
pub fn show_work() -> impl Fn(WorkDone) + Send + Sync {
    let shown: Mutex<Option<(&'static str, Instant, Option<ProgressBar>)>> = Mutex::new(None);
    move |WorkDone { what, done, all }| {
        let mut shown = shown.lock().unwrap_or_else(PoisonError::into_inner);
        if done >= all {
            if let Some((_, _, Some(bar))) = shown.take() {
                bar.finish_and_clear();
            }
            return;
        }
        let (_, since, at) = match &mut *shown {
            Some(work) if work.0 == what => work,
            other => other.insert((what, Instant::now(), None)),
        };
        if at.is_none() && since.elapsed() > A_MOMENT {
            let new = bar(all as u64, "  {msg} {bar:20} {percent}%  {elapsed}, {eta} left");
            new.set_message(what);
            *at = Some(new);
        }
        if let Some(bar) = at {
            bar.set_position(done as u64);
        }
    }
}

/// The bar of one training.
pub struct TrainingProgress {
    bar: ProgressBar,
}

impl TrainingProgress {
    /// A bar whose length the first epoch tells.
    pub fn new() -> TrainingProgress {
        TrainingProgress { bar: bar(1, "  training {bar:20} {pos}/{len}  {elapsed}  {wide_msg}") }
    }

    /// Shows an epoch, and stops training if Ctrl-C was pressed.
    pub fn epoch(&self, report: &EpochReport<'_>) -> ControlFlow<()> {
        if !self.bar.is_hidden() {
            self.bar.set_length(report.epochs as u64);
            self.bar.set_position(report.epoch as u64);
            self.bar.set_message(words(report));
        }
        interrupt::flow()
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The bar of a selftest: one case after the other.
pub struct SelftestProgress {
    bar: ProgressBar,
}

impl SelftestProgress {
    /// A bar whose length the first epoch tells.
    pub fn new() -> SelftestProgress {
        SelftestProgress { bar: bar(1, "  selftest {bar:20} {pos}/{len}  {elapsed}  {wide_msg}") }
    }

    /// Shows how far it has come.
    pub fn show(&self, at: &Progress<'_>) {
        if !self.bar.is_hidden() {
            self.bar.set_length(at.epochs.max(1) as u64);
            self.bar.set_position(at.epoch as u64);
            self.bar.set_message(format!("{} of {}: {}", at.number, at.of, at.case));
        }
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn words(report: &EpochReport<'_>) -> String {
    let chief = report.metric.map(|(chief, value)| format!("  validation {} {}", chief.label(), metric(value)));
    let candidate = if report.candidate.is_empty() { String::new() } else { format!("{}  ", report.candidate) };
    format!("{candidate}loss {}{}  best {}", number(report.train_loss), chief.unwrap_or_default(), report.best_epoch)
}

/// The bar of an evaluation: all runs of a stage together, seen from several threads.
pub struct EvaluationProgress {
    bar: ProgressBar,
    state: Mutex<EvaluationState>,
}

#[derive(Default)]
struct EvaluationState {
    runs: usize,
    done: usize,
    remembered: usize,
    /// Runs at work, and the share of their epochs that is done.
    at_work: BTreeMap<usize, f64>,
}

impl EvaluationProgress {
    /// A bar whose length the first stage tells.
    pub fn titled(title: &'static str) -> EvaluationProgress {
        let template = "  {prefix} {bar:20} {percent}%  {eta} left  {wide_msg}";
        EvaluationProgress { bar: bar(1, template).with_prefix(title), state: Mutex::default() }
    }

    /// Shows what happened, and stops everything if Ctrl-C was pressed.
    pub fn show(&self, event: EvaluationEvent<'_>) -> ControlFlow<()> {
        let mut state = self.state();
        match event {
            EvaluationEvent::Planned { runs, remembered } => {
                *state = EvaluationState { runs, done: remembered, remembered, at_work: BTreeMap::new() };
                self.bar.set_length(runs as u64 * PARTS_OF_A_RUN);
                self.bar.reset_eta();
            }
            EvaluationEvent::Epoch(run, report) => {
                state.at_work.insert(run, report.epoch as f64 / report.epochs.max(1) as f64);
            }
            EvaluationEvent::Done(run) => {
                state.at_work.remove(&run);
                state.done += 1;
            }
        }
        if !self.bar.is_hidden() {
            let shares = state.done as f64 + state.at_work.values().sum::<f64>();
            self.bar.set_position((shares * PARTS_OF_A_RUN as f64) as u64);
            let before = match state.remembered {
                0 => String::new(),
                remembered => format!(" ({remembered} from before)"),
            };
            let running = state.at_work.len();
            self.bar.set_message(format!("{} of {} runs done{before}, {running} running", state.done, state.runs));
        }
        interrupt::flow()
    }

    /// How many runs of the present stage are done, and of how many.
    pub fn done(&self) -> (usize, usize) {
        let state = self.state();
        (state.done, state.runs)
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }

    fn state(&self) -> MutexGuard<'_, EvaluationState> {
        // The lock is poisoned only if another thread panicked: then the numbers still serve.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The bar of a bootstrap: replicates done, and the share of those at work.
pub struct BootstrapProgress {
    bar: ProgressBar,
    state: Mutex<BootstrapState>,
}

#[derive(Default)]
struct BootstrapState {
    done: usize,
    /// Groups at work: where they start, how many replicates they are, and the share of their epochs that is done.
    groups: BTreeMap<usize, (usize, f64)>,
}

impl BootstrapProgress {
    /// A bar over so many replicates.
    pub fn new(resamples: usize) -> BootstrapProgress {
        let template = "  replicates {bar:20} {percent}%  {elapsed}  {eta} left  {wide_msg}";
        let bar = bar(resamples as u64 * PARTS_OF_A_RUN, template);
        BootstrapProgress { bar, state: Mutex::default() }
    }

    /// Shows what happened, and stops everything if Ctrl-C was pressed.
    pub fn show(&self, event: BootstrapEvent) -> ControlFlow<()> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match event {
            BootstrapEvent::Epoch { group, epoch, epochs, .. } => {
                state.groups.insert(group.start, (group.len(), epoch as f64 / epochs.max(1) as f64));
            }
            BootstrapEvent::Done { done, .. } => {
                state.done = done;
                state.groups.retain(|_, (_, share)| *share < 1.0);
            }
        }
        if !self.bar.is_hidden() {
            let at_work: f64 = state.groups.values().map(|(count, share)| *count as f64 * share).sum();
            let parts = (state.done as f64 + at_work) * PARTS_OF_A_RUN as f64;
            self.bar.set_position((parts as u64).max(self.bar.position()).min(self.bar.length().unwrap_or(0)));
            self.bar.set_message(format!("{} done", state.done));
        }
        interrupt::flow()
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// The bar of predictions that are made.
pub struct PredictionProgress {
    bar: ProgressBar,
}

impl PredictionProgress {
    /// A bar over so many predictions.
    pub fn new(predictions: usize) -> PredictionProgress {
        let bar = bar(predictions as u64, "  predicting {bar:20} {human_pos}/{human_len}  {eta} left");
        bar.enable_steady_tick(TICK);
        PredictionProgress { bar }
    }

    /// Shows how many are made, and stops if Ctrl-C was pressed.
    pub fn show(&self, done: usize) -> ControlFlow<()> {
        self.bar.set_position(done as u64);
        interrupt::flow()
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

impl Drop for PredictionProgress {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The bar of one file that arrives.
pub struct DownloadProgress {
    bar: ProgressBar,
}

impl DownloadProgress {
    /// A bar for a file of about so many bytes.
    pub fn new(name: &str, bytes: u64) -> DownloadProgress {
        let template = "  {msg} {bar:20} {decimal_bytes}/{decimal_total_bytes}  {decimal_bytes_per_sec}  {eta} left";
        DownloadProgress { bar: bar(bytes, template).with_message(name.to_owned()) }
    }

    /// Shows how much has arrived, and stops if Ctrl-C was pressed.
    pub fn show(&self, arrived: u64, total: Option<u64>) -> ControlFlow<()> {
        if !self.bar.is_hidden() {
            if let Some(total) = total {
                self.bar.set_length(total);
            }
            self.bar.set_position(arrived);
        }
        interrupt::flow()
    }

    /// Takes the bar away.
    pub fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
