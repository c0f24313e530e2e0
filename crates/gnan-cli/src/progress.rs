//! Progress on stderr, shown on a terminal only.

use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use gnan::train::EpochReport;
use indicatif::{ProgressBar, ProgressStyle};

use crate::interrupt;
use crate::style::{metric, metric_name, number};

const LETTERS: &str = "━╸╌";
const TICK: Duration = Duration::from_millis(100);
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

fn words(report: &EpochReport<'_>) -> String {
    let chief = report.metric.map(|(name, value)| format!("  validation {} {}", metric_name(name), metric(value)));
    let candidate = if report.candidate.is_empty() { String::new() } else { format!("{}  ", report.candidate) };
    format!("{candidate}loss {}{}  best {}", number(report.train_loss), chief.unwrap_or_default(), report.best_epoch)
}

/// The bar of an evaluation: all runs together, seen from several threads.
///
/// Nobody says when a run ends, so those that were not heard of lately, beyond one per thread, are taken to be done.
pub struct EvaluationProgress {
    bar: ProgressBar,
    candidates: usize,
    state: Mutex<EvaluationState>,
}

struct EvaluationState {
    runs: Vec<RunProgress>,
    reports: u64,
}

#[derive(Clone, Copy, Default)]
struct RunProgress {
    /// Number of the report last heard; 0: none yet.
    heard: u64,
    epoch: usize,
    candidates_done: usize,
    parts: u64,
}

impl EvaluationProgress {
    /// A bar over so many runs, each of which trains so many candidates.
    pub fn new(runs: usize, candidates: usize) -> EvaluationProgress {
        let template = "  evaluating {bar:20} {percent}%  {eta} left  {wide_msg}";
        EvaluationProgress {
            bar: bar(runs as u64 * PARTS_OF_A_RUN, template),
            candidates: candidates.max(1),
            state: Mutex::new(EvaluationState { runs: vec![RunProgress::default(); runs], reports: 0 }),
        }
    }

    /// Shows an epoch of a run, and stops everything if Ctrl-C was pressed.
    pub fn epoch(&self, run: usize, report: &EpochReport<'_>) -> ControlFlow<()> {
        let mut state = self.state();
        state.reports += 1;
        let reports = state.reports;
        if let Some(progress) = state.runs.get_mut(run) {
            progress.heard = reports;
            progress.candidates_done += usize::from(report.epoch < progress.epoch);
            progress.epoch = report.epoch;
            let share = report.epoch as f64 / report.epochs as f64 + progress.candidates_done as f64;
            progress.parts = (share / self.candidates as f64 * PARTS_OF_A_RUN as f64) as u64;
        }
        if !self.bar.is_hidden() {
            let (begun, total) = (state.begun(), state.runs.len());
            self.bar.set_position(self.bar.position().max(state.position()));
            let loss = number(report.train_loss);
            self.bar.set_message(format!("run {begun} of {total}  epoch {}  loss {loss}", report.epoch));
        }
        interrupt::flow()
    }

    /// How many runs have begun.
    pub fn begun(&self) -> usize {
        self.state().begun()
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

impl EvaluationState {
    fn begun(&self) -> usize {
        self.runs.iter().filter(|run| run.heard > 0).count()
    }

    fn position(&self) -> u64 {
        let mut begun: Vec<&RunProgress> = self.runs.iter().filter(|run| run.heard > 0).collect();
        begun.sort_unstable_by_key(|run| std::cmp::Reverse(run.heard));
        let active = begun.len().min(rayon::current_num_threads());
        let parts: u64 = begun[..active].iter().map(|run| run.parts.min(PARTS_OF_A_RUN)).sum();
        parts + (begun.len() - active) as u64 * PARTS_OF_A_RUN
    }
}
