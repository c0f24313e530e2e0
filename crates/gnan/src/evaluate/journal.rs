//! The journal: runs that are done, one JSON line each, so that an evaluation that was killed goes on where it stopped.
//!
//! A run is known by a checksum of everything that decides its outcome: version, data, split, options and seed. Lines
//! that cannot be read (the last one of a killed run may be cut short) are runs that were not done.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::limits::Limits;
use crate::metric::Metrics;

/// The longest journal that is read.
const MOST_BYTES: u64 = 256 << 20;

/// What came of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct RunOutcome {
    /// Loss on the validation items.
    pub valid_loss: f64,
    /// Metrics on the validation items.
    #[serde(default)]
    pub valid: Metrics,
    /// Metrics on the test items, where they were predicted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<Metrics>,
    pub epochs: usize,
    pub best_epoch: usize,
    /// What the fit itself chose (between a rho per feature and a shared one), where it had a choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chosen: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Line {
    run: String,
    #[serde(flatten)]
    outcome: RunOutcome,
}

/// Runs that are done.
///
/// ```
/// use gnan::Journal;
/// let folder = tempfile::tempdir().expect("a folder");
/// let journal = Journal::open(&folder.path().join("runs.journal"))?;
/// assert!(journal.is_empty());
/// # Ok::<(), gnan::Error>(())
/// ```
pub struct Journal {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    done: HashMap<String, RunOutcome>,
    /// Runs that the file knew when it was opened, and whether each was requested since.
    before: HashMap<String, bool>,
    file: Option<(PathBuf, File)>,
}

impl Journal {
    /// A journal that is forgotten at the end.
    pub fn in_memory() -> Journal {
        Journal { state: Mutex::default() }
    }

    /// A journal in a file, which is made if it is not there.
    pub fn open(path: &Path) -> Result<Journal> {
        let io = |error: std::io::Error| Error::io(path, error);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| Error::io(folder, error))?;
        }
        let mut done = HashMap::new();
        let mut whole = true;
        if path.is_dir() {
            return Err(Error::usage("a journal is a file, and this is a folder")
                .in_file(path)
                .with_remedy("name a file in it: one that is not there is made"));
        }
        if path.exists() {
            let bytes = Limits { bytes: MOST_BYTES, ..Limits::default() }.read(path, "journal")?;
            if !bytes.is_empty() && bytes[0] != b'{' {
                return Err(Error::input("this file is not a journal of runs")
                    .in_file(path)
                    .with_remedy("name another file: one that is not there is made"));
            }
            whole = bytes.last().is_none_or(|byte| *byte == b'\n');
            for line in bytes.split(|byte| *byte == b'\n') {
                if let Ok(Line { run, outcome }) = serde_json::from_slice(line) {
                    done.insert(run, outcome);
                }
            }
        }
        let mut file = OpenOptions::new().create(true).append(true).open(path).map_err(io)?;
        if !whole {
            file.write_all(b"\n").map_err(io)?;
        }
        let before = done.keys().map(|run| (run.clone(), false)).collect();
        Ok(Journal { state: Mutex::new(State { done, before, file: Some((path.to_owned(), file)) }) })
    }

    /// How many runs are known.
    pub fn len(&self) -> usize {
        self.state().done.len()
    }

    /// Whether no run is known.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// How many runs were requested that its file knew when it was opened.
    pub fn known_before(&self) -> usize {
        self.state().before.values().filter(|requested| **requested).count()
    }

    pub(super) fn find(&self, run: &str) -> Option<RunOutcome> {
        let mut state = self.state();
        let outcome = state.done.get(run).cloned();
        if let Some(requested) = state.before.get_mut(run) {
            *requested = true;
        }
        outcome
    }

    pub(super) fn add(&self, run: &str, outcome: &RunOutcome) -> Result<()> {
        let mut state = self.state();
        state.done.insert(run.to_owned(), outcome.clone());
        let Some((path, file)) = &mut state.file else { return Ok(()) };
        let mut line = serde_json::to_vec(&Line { run: run.to_owned(), outcome: outcome.clone() })
            .map_err(|error| Error::because("a result cannot be written down", error))?;
        line.push(b'\n');
        file.write_all(&line).map_err(|error| Error::io(path, error))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // The lock is poisoned only if another thread panicked: what is done is still done.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metric::Metric;

    #[test]
    fn a_journal_that_was_cut_short_keeps_its_whole_lines() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/runs.jsonl");
        let outcome = |loss| RunOutcome {
            valid_loss: loss,
            valid: Metrics::from_iter([(Metric::Accuracy, 0.1 + 0.2)]),
            test: Some(Metrics::from_iter([(Metric::Mae, 0.3)])),
            ..RunOutcome::default()
        };
        let journal = Journal::open(&path).unwrap();
        journal.add("one", &outcome(0.1)).unwrap();
        journal.add("two", &outcome(0.2)).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        for length in 0..=bytes.len() {
            std::fs::write(&path, &bytes[..length]).unwrap();
            let journal = Journal::open(&path).unwrap();
            assert!(journal.find("one").is_none_or(|found| found == outcome(0.1)));
            journal.add("three", &outcome(0.3)).unwrap();
            assert_eq!(Journal::open(&path).unwrap().find("three"), Some(outcome(0.3)));
        }
        assert_eq!(Journal::in_memory().find("one"), None);
    }
}
