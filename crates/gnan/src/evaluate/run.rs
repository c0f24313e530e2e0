//! The runs of an evaluation: first those that choose, then those that test.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Instant;

use super::choice::{Choice, Criterion, Trial, best};
use super::journal::{Journal, RunOutcome};
use super::protocol::{Protocol, Tuning};
use super::space::{Search, words};
use super::{EvaluationEvent, EvaluationMonitor, FoldResult};
use crate::checksum::Checksum;
use crate::dataset::{Dataset, Split};
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::score::is_scored;
use crate::spec::{NodeDescription, Spec};
use crate::train::{EpochReport, StatisticsCache};
use crate::workers;

/// A split with the seed that made it.
struct SeededSplit {
    fold: usize,
    seed: u64,
    split: Split,
}

/// A test of a split with a seed.
struct Test {
    /// Index of the split.
    split: usize,
    seed: u64,
}

/// Everything that the runs of an evaluation share.
pub(super) struct Runs<'a> {
    data: &'a Dataset,
    /// All items that are trained on or validate somewhere.
    used: Dataset,
    splits: Vec<SeededSplit>,
    tests: Vec<Test>,
    data_checksum: String,
    journal: &'a Journal,
    monitor: &'a EvaluationMonitor<'a>,
}

/// The data with the features that some candidates describe nodes by, and the statistics of the items that are used.
struct DescribedData {
    data: Dataset,
    cache: StatisticsCache,
}

/// The data in every way in which candidates describe nodes.
type Descriptions = HashMap<Vec<NodeDescription>, DescribedData>;

/// One run: a candidate on a split with a seed, tested or not.
struct PlannedRun<'a> {
    candidate: &'a Spec,
    split: usize,
    seed: u64,
    tested: bool,
}

impl<'a> Runs<'a> {
    pub(super) fn new(
        data: &'a Dataset,
        protocol: &Protocol,
        journal: &'a Journal,
        monitor: &'a EvaluationMonitor<'a>,
    ) -> Result<Runs<'a>> {
        let (mut splits, mut tests) = (Vec::new(), Vec::new());
        for seed in protocol.seeds() {
            if protocol.new_division_each || splits.is_empty() {
                for (index, split) in protocol.splits(data, seed)?.into_iter().enumerate() {
                    splits.push(SeededSplit { fold: index + 1, seed, split });
                    tests.push(Test { split: splits.len() - 1, seed });
                }
            } else {
                tests.extend((0..splits.len()).map(|place| Test { split: place, seed }));
            }
        }
        Ok(Runs::of_splits(data, splits, tests, journal, monitor))
    }

    /// The runs on one split, of which nothing is tested.
    pub(super) fn on_split(
        data: &'a Dataset,
        split: Split,
        seed: u64,
        journal: &'a Journal,
        monitor: &'a EvaluationMonitor<'a>,
    ) -> Runs<'a> {
        Runs::of_splits(data, vec![SeededSplit { fold: 1, seed, split }], Vec::new(), journal, monitor)
    }

    fn of_splits(
        data: &'a Dataset,
        splits: Vec<SeededSplit>,
        tests: Vec<Test>,
        journal: &'a Journal,
        monitor: &'a EvaluationMonitor<'a>,
    ) -> Runs<'a> {
        let mut items: Vec<usize> = (splits.iter())
            .flat_map(|seeded| seeded.split.train.items().iter().chain(seeded.split.valid.items()))
            .map(|item| *item as usize)
            .collect();
        items.sort_unstable();
        items.dedup();
        let used = data.whole().subset(&items);
        let data_checksum = data.content_checksum();
        Runs { data, used, splits, tests, data_checksum, journal, monitor }
    }

    /// Chooses a candidate for every split (or on the first for all) on its validation items.
    pub(super) fn choose(&self, search: &Search, tuning: Tuning) -> Result<Choice> {
        let mut notes = Vec::new();
        if let [only] = search.candidates.as_slice() {
            let words = (!search.options.is_empty()).then(|| words(only, &search.options));
            let chosen = self.splits.iter().map(|_| (only.clone(), words.clone())).collect();
            return Ok(Choice { chosen, tried: Vec::new(), notes });
        }
        let criterion = search.criterion.unwrap_or_default();
        let outcome = self.data.outcome()?;
        if let Criterion::Metric(metric) = criterion
            && !is_scored(metric, outcome)
        {
            let scored = Metric::ALL.iter().filter(|metric| is_scored(**metric, outcome)).map(|metric| metric.name());
            return Err(Error::usage(format!("there is no {} here to choose by", metric.name()))
                .with_remedy(format!("choose by loss, {}", scored.collect::<Vec<_>>().join(", "))));
        }
        let choosing = if tuning == Tuning::FirstSplit { 1 } else { self.splits.len() };
        if choosing < self.splits.len() {
            notes.push("options were tuned on the first split and used for all of them".to_owned());
        }
        // All splits of a candidate before the next candidate: if time runs out, fewer candidates are compared on all.
        let runs: Vec<PlannedRun<'_>> = (search.candidates.iter())
            .flat_map(|candidate| {
                (0..choosing).map(move |place| PlannedRun {
                    candidate,
                    split: place,
                    seed: self.splits[place].seed,
                    tested: false,
                })
            })
            .collect();
        let begun = Instant::now();
        let outcomes =
            self.do_all(&runs, |run| run < choosing || search.budget.is_none_or(|budget| begun.elapsed() < budget))?;
        let mut tried = Vec::new();
        let mut chosen = Vec::new();
        for place in 0..choosing {
            let found: Vec<(usize, &RunOutcome)> = (0..search.candidates.len())
                .filter_map(|candidate| Some((candidate, outcomes[candidate * choosing + place].as_ref()?)))
                .collect();
            let best = best(&found, criterion).ok_or_else(|| Error::training("no candidate was tried"))?;
            for (candidate, outcome) in found {
                tried.push(Trial {
                    fold: self.splits[place].fold,
                    seed: self.splits[place].seed,
                    candidate: words(&search.candidates[candidate], &search.options),
                    valid_loss: outcome.valid_loss,
                    valid: outcome.valid.clone(),
                    best_epoch: outcome.best_epoch,
                    chosen: candidate == best,
                });
            }
            let candidate = &search.candidates[best];
            chosen.push((candidate.clone(), Some(words(candidate, &search.options))));
        }
        let skipped = outcomes.iter().filter(|outcome| outcome.is_none()).count();
        if skipped > 0 {
            notes.push(format!("the time budget ended the search: {skipped} of {} runs were not begun", runs.len()));
        }
        if choosing < self.splits.len() {
            chosen = vec![chosen[0].clone(); self.splits.len()];
        }
        Ok(Choice { chosen, tried, notes })
    }

    /// Tests what was chosen, once per split and seed.
    pub(super) fn test(&self, choice: &Choice) -> Result<Vec<FoldResult>> {
        let run = |test: &Test| PlannedRun {
            candidate: &choice.chosen[test.split].0,
            split: test.split,
            seed: test.seed,
            tested: true,
        };
        let runs: Vec<PlannedRun<'_>> = self.tests.iter().map(run).collect();
        let outcomes = self.do_all(&runs, |_| true)?;
        let results = runs.iter().zip(outcomes).map(|(run, outcome)| {
            let outcome = outcome.ok_or_else(|| Error::training("a test was not done"))?;
            let SeededSplit { fold, split, .. } = &self.splits[run.split];
            Ok(FoldResult {
                fold: *fold,
                seed: run.seed,
                train: split.train.len(),
                valid: split.valid.len(),
                test: split.test.len(),
                epochs: outcome.epochs,
                best_epoch: outcome.best_epoch,
                chosen: choice.chosen[run.split].1.clone().or(outcome.chosen),
                metrics: outcome.test.unwrap_or_default(),
            })
        });
        results.collect()
    }

    /// Does all runs that are not in the journal; one that may not begin has no outcome.
    fn do_all(
        &self,
        runs: &[PlannedRun<'_>],
        may_begin: impl Fn(usize) -> bool + Sync,
    ) -> Result<Vec<Option<RunOutcome>>> {
        let names: Vec<String> = runs.iter().map(|run| self.name(run)).collect();
        let mut outcomes: Vec<Option<RunOutcome>> = names.iter().map(|name| self.journal.find(name)).collect();
        let open: Vec<usize> = (0..runs.len()).filter(|run| outcomes[*run].is_none()).collect();
        let remembered = runs.len() - open.len();
        if (self.monitor)(EvaluationEvent::Planned { runs: runs.len(), remembered }).is_break() {
            return Err(interrupted());
        }
        let descriptions = self.descriptions(open.iter().map(|run| runs[*run].candidate))?;
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let failed = || failure.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let work = |job: usize| {
            let run = &runs[open[job]];
            if failed() || !may_begin(open[job]) {
                return None;
            }
            let result = self.do_one(run, open[job], &descriptions).and_then(|outcome| {
                self.journal.add(&names[open[job]], &outcome)?;
                let _ = (self.monitor)(EvaluationEvent::Done(open[job]));
                Ok(outcome)
            });
            result.map_err(|error| *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error)).ok()
        };
        let done = self.data.run().install(|| workers::run(open.len(), work));
        if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        for (run, outcome) in open.into_iter().zip(done) {
            outcomes[run] = outcome;
        }
        Ok(outcomes)
    }

    fn do_one(&self, run: &PlannedRun<'_>, number: usize, descriptions: &Descriptions) -> Result<RunOutcome> {
        let DescribedData { data, cache } = &descriptions[&run.candidate.data.describe];
        let Split { train, valid, test } = &self.splits[run.split].split;
        let [train, valid, test] = [train, valid, test].map(|part| data.view_of(part));
        let spec = run.candidate.clone().seed(run.seed);
        let mut was_interrupted = false;
        let mut watch = |report: &EpochReport<'_>| -> ControlFlow<()> {
            let flow = (self.monitor)(EvaluationEvent::Epoch(number, report));
            was_interrupted |= flow.is_break();
            flow
        };
        let fitted = match run.tested {
            true => {
                let split = Split { train: train.clone(), valid: valid.clone(), test: test.clone() };
                spec.fit_split_cached(cache, &split, &mut watch)?
            }
            // What chooses is the validation items.
            false => spec.fit_cached(cache, &train, Some(&valid), &mut watch)?,
        };
        if was_interrupted {
            return Err(interrupted());
        }
        let record = fitted.model.record();
        let judged = |part: &Dataset| fitted.model.evaluate(part);
        Ok(RunOutcome {
            valid_loss: fitted.valid_loss,
            valid: if valid.is_empty() || run.tested { Default::default() } else { judged(&valid)? },
            test: if run.tested { Some(judged(&test)?) } else { None },
            epochs: record.epochs,
            best_epoch: record.best_epoch,
            chosen: (fitted.tried.len() > 1).then(|| fitted.chosen.clone()),
        })
    }

    /// The data in every way in which the candidates describe nodes, with the statistics that their runs will need.
    fn descriptions<'c>(&self, candidates: impl Iterator<Item = &'c Spec>) -> Result<Descriptions> {
        let mut descriptions = Descriptions::new();
        for candidate in candidates {
            let described = match descriptions.entry(candidate.data.describe.clone()) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let data = self.data.described(new.key())?;
                    let cache = StatisticsCache::new(&data.view_of(&self.used));
                    new.insert(DescribedData { data, cache })
                }
            };
            let train = described.data.view_of(&self.splits[0].split.train);
            described.cache.prepare(candidate, &train)?;
        }
        Ok(descriptions)
    }

    /// What a run is known by in the journal.
    fn name(&self, run: &PlannedRun<'_>) -> String {
        let Split { train, valid, test } = &self.splits[run.split].split;
        let mut items = Checksum::default();
        let parts = if run.tested { vec![train, valid, test] } else { vec![train, valid] };
        for part in parts {
            items = part.items().iter().fold(items.and(b"part"), |sum, item| sum.and(&item.to_le_bytes()));
        }
        run.candidate.clone().seed(run.seed).identity(&format!("{} {items}", self.data_checksum))
    }
}

fn interrupted() -> Error {
    Error::training("the evaluation was interrupted")
}
