//! The runs of an evaluation: first those that choose, then those that test.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::PoisonError;
use std::time::Instant;

use super::candidate::Candidate;
use super::choice::{Choice, Trial, best};
use super::journal::{Journal, Outcome};
use super::protocol::{Protocol, Tuning};
use super::space::Search;
use super::{EvaluationEvent, EvaluationMonitor, FoldResult};
use crate::checksum::Checksum;
use crate::dataset::{Dataset, NodeDescription, Split};
use crate::error::{Error, Result};
use crate::train::{EpochReport, Prepared};
use crate::workers;

/// A split with the seed that made it.
struct Place {
    fold: usize,
    seed: u64,
    split: Split,
}

/// A test of a split with a seed.
struct Test {
    /// Index of the split.
    place: usize,
    seed: u64,
}

/// Everything that the runs of an evaluation share.
pub(super) struct Runs<'a> {
    data: &'a Dataset,
    /// All items that are trained on or validate somewhere.
    used: Dataset,
    places: Vec<Place>,
    tests: Vec<Test>,
    fingerprint: String,
    journal: &'a Journal,
    monitor: &'a EvaluationMonitor<'a>,
}

/// The data as some candidates see them, with their statistics.
struct Base {
    describe: Vec<NodeDescription>,
    normalise: bool,
    data: Dataset,
    prepared: Prepared,
}

/// One run: a candidate on a split with a seed, tested or not.
struct Run<'a> {
    candidate: &'a Candidate,
    place: usize,
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
        let (mut places, mut tests) = (Vec::new(), Vec::new());
        for seed in protocol.seeds() {
            if protocol.new_division_each || places.is_empty() {
                for (index, split) in protocol.splits(data, seed)?.into_iter().enumerate() {
                    places.push(Place { fold: index + 1, seed, split });
                    tests.push(Test { place: places.len() - 1, seed });
                }
            } else {
                tests.extend((0..places.len()).map(|place| Test { place, seed }));
            }
        }
        Ok(Runs::of_places(data, places, tests, journal, monitor))
    }

    /// The runs on one split, of which nothing is tested.
    pub(super) fn on_split(
        data: &'a Dataset,
        split: Split,
        seed: u64,
        journal: &'a Journal,
        monitor: &'a EvaluationMonitor<'a>,
    ) -> Runs<'a> {
        Runs::of_places(data, vec![Place { fold: 1, seed, split }], Vec::new(), journal, monitor)
    }

    fn of_places(
        data: &'a Dataset,
        places: Vec<Place>,
        tests: Vec<Test>,
        journal: &'a Journal,
        monitor: &'a EvaluationMonitor<'a>,
    ) -> Runs<'a> {
        let mut items: Vec<usize> = (places.iter())
            .flat_map(|place| place.split.train.items().iter().chain(place.split.valid.items()))
            .map(|item| *item as usize)
            .collect();
        items.sort_unstable();
        items.dedup();
        let used = data.whole().subset(&items);
        let fingerprint = format!("{} {}", env!("CARGO_PKG_VERSION"), data.content_checksum());
        Runs { data, used, places, tests, fingerprint, journal, monitor }
    }

    /// Chooses a candidate for every split (or on the first for all) on its validation items.
    pub(super) fn choose(&self, search: &Search, tuning: Tuning) -> Result<Choice> {
        let mut notes = Vec::new();
        if let [only] = search.candidates.as_slice() {
            let words = (!search.options.is_empty()).then(|| only.words(&search.options));
            let chosen = self.places.iter().map(|_| (only.clone(), words.clone())).collect();
            return Ok(Choice { chosen, tried: Vec::new(), notes });
        }
        let choosing = if tuning == Tuning::FirstSplit { 1 } else { self.places.len() };
        if choosing < self.places.len() {
            notes.push("options were tuned on the first split and used for all of them".to_owned());
        }
        // All splits of a candidate before the next candidate: if time runs out, fewer candidates are compared on all.
        let runs: Vec<Run<'_>> = (search.candidates.iter())
            .flat_map(|candidate| {
                (0..choosing).map(move |place| Run { candidate, place, seed: self.places[place].seed, tested: false })
            })
            .collect();
        let begun = Instant::now();
        let outcomes =
            self.do_all(&runs, |run| run < choosing || search.budget.is_none_or(|budget| begun.elapsed() < budget))?;
        let mut tried = Vec::new();
        let mut chosen = Vec::new();
        for place in 0..choosing {
            let found: Vec<(usize, &Outcome)> = (0..search.candidates.len())
                .filter_map(|candidate| Some((candidate, outcomes[candidate * choosing + place].as_ref()?)))
                .collect();
            let best = best(&found, search.criterion.unwrap_or_default())
                .ok_or_else(|| Error::training("no candidate was tried"))?;
            for (candidate, outcome) in found {
                tried.push(Trial {
                    fold: self.places[place].fold,
                    seed: self.places[place].seed,
                    candidate: search.candidates[candidate].words(&search.options),
                    valid_loss: outcome.valid_loss,
                    valid: outcome.valid.clone(),
                    best_epoch: outcome.best_epoch,
                    chosen: candidate == best,
                });
            }
            let candidate = &search.candidates[best];
            chosen.push((candidate.clone(), Some(candidate.words(&search.options))));
        }
        let skipped = outcomes.iter().filter(|outcome| outcome.is_none()).count();
        if skipped > 0 {
            notes.push(format!("the time budget ended the search: {skipped} of {} runs were not begun", runs.len()));
        }
        if choosing < self.places.len() {
            chosen = vec![chosen[0].clone(); self.places.len()];
        }
        Ok(Choice { chosen, tried, notes })
    }

    /// Tests what was chosen, once per split and seed.
    pub(super) fn test(&self, choice: &Choice) -> Result<Vec<FoldResult>> {
        let run = |test: &Test| Run {
            candidate: &choice.chosen[test.place].0,
            place: test.place,
            seed: test.seed,
            tested: true,
        };
        let runs: Vec<Run<'_>> = self.tests.iter().map(run).collect();
        let outcomes = self.do_all(&runs, |_| true)?;
        let results = runs.iter().zip(outcomes).map(|(run, outcome)| {
            let outcome = outcome.ok_or_else(|| Error::training("a test was not done"))?;
            let Place { fold, split, .. } = &self.places[run.place];
            Ok(FoldResult {
                fold: *fold,
                seed: run.seed,
                train: split.train.len(),
                valid: split.valid.len(),
                test: split.test.len(),
                epochs: outcome.epochs,
                best_epoch: outcome.best_epoch,
                chosen: choice.chosen[run.place].1.clone().or(outcome.chosen),
                metrics: outcome.test.unwrap_or_default(),
            })
        });
        results.collect()
    }

    /// Does all runs that are not in the journal; one that may not begin has no outcome.
    fn do_all(&self, runs: &[Run<'_>], may_begin: impl Fn(usize) -> bool + Sync) -> Result<Vec<Option<Outcome>>> {
        let names: Vec<String> = runs.iter().map(|run| self.name(run)).collect();
        let mut outcomes: Vec<Option<Outcome>> = names.iter().map(|name| self.journal.find(name)).collect();
        let open: Vec<usize> = (0..runs.len()).filter(|run| outcomes[*run].is_none()).collect();
        let remembered = runs.len() - open.len();
        if (self.monitor)(EvaluationEvent::Planned { runs: runs.len(), remembered }).is_break() {
            return Err(interrupted());
        }
        let bases = self.bases(open.iter().map(|run| runs[*run].candidate))?;
        let failure: Mutex<Option<Error>> = Mutex::new(None);
        let failed = || failure.lock().unwrap_or_else(PoisonError::into_inner).is_some();
        let done = workers::run(open.len(), |job| {
            let run = &runs[open[job]];
            if failed() || !may_begin(open[job]) {
                return None;
            }
            let result = self.do_one(run, open[job], &bases).and_then(|outcome| {
                self.journal.add(&names[open[job]], &outcome)?;
                let _ = (self.monitor)(EvaluationEvent::Done(open[job]));
                Ok(outcome)
            });
            result.map_err(|error| *failure.lock().unwrap_or_else(PoisonError::into_inner) = Some(error)).ok()
        });
        if let Some(error) = failure.into_inner().unwrap_or_else(PoisonError::into_inner) {
            return Err(error);
        }
        for (run, outcome) in open.into_iter().zip(done) {
            outcomes[run] = outcome;
        }
        Ok(outcomes)
    }

    fn do_one(&self, run: &Run<'_>, number: usize, bases: &[Base]) -> Result<Outcome> {
        let base = bases.iter().find(|base| base.serves(run.candidate));
        let base = base.ok_or_else(|| Error::training("the data of a candidate were not prepared"))?;
        let Split { train, valid, test } = &self.places[run.place].split;
        let [train, valid, test] = [train, valid, test].map(|part| base.data.view_of(part));
        let training = run.candidate.training.clone().seed(run.seed);
        let mut was_interrupted = false;
        let mut watch = |report: &EpochReport<'_>| -> ControlFlow<()> {
            let flow = (self.monitor)(EvaluationEvent::Epoch(number, report));
            was_interrupted |= flow.is_break();
            flow
        };
        let fitted = training.fit_prepared(&base.prepared, &train, Some(&valid), &mut watch)?;
        if was_interrupted {
            return Err(interrupted());
        }
        let record = &fitted.model.description().record;
        let judged = |part: &Dataset| fitted.model.evaluate(part);
        Ok(Outcome {
            valid_loss: fitted.valid_loss,
            valid: if valid.is_empty() || run.tested { Default::default() } else { judged(&valid)? },
            test: if run.tested { Some(judged(&test)?) } else { None },
            epochs: record.epochs,
            best_epoch: record.best_epoch,
            chosen: (fitted.tried.len() > 1).then(|| fitted.chosen()),
        })
    }

    /// The data as the candidates see them, each way once, with their statistics.
    fn bases<'c>(&self, candidates: impl Iterator<Item = &'c Candidate>) -> Result<Vec<Base>> {
        let mut bases: Vec<Base> = Vec::new();
        for candidate in candidates {
            let place = match bases.iter().position(|base| base.serves(candidate)) {
                Some(place) => place,
                None => {
                    let data = self.data.described(&candidate.describe)?;
                    let prepared = Prepared::new(&data.view_of(&self.used), &candidate.training);
                    let (describe, normalise) = (candidate.describe.clone(), candidate.training.normalise);
                    bases.push(Base { describe, normalise, data, prepared });
                    bases.len() - 1
                }
            };
            for rho in candidate.training.rho_candidates(&self.places[0].split.train) {
                bases[place].prepared.statistics(rho)?;
            }
        }
        Ok(bases)
    }

    /// What a run is known by in the journal.
    fn name(&self, run: &Run<'_>) -> String {
        let Split { train, valid, test } = &self.places[run.place].split;
        let mut sum = Checksum::of(self.fingerprint.as_bytes())
            .and(run.candidate.fingerprint().as_bytes())
            .and(&run.seed.to_le_bytes());
        let parts = if run.tested { vec![train, valid, test] } else { vec![train, valid] };
        for part in parts {
            sum = sum.and(b"part");
            for item in part.items() {
                sum = sum.and(&item.to_le_bytes());
            }
        }
        sum.to_string()
    }
}

impl Base {
    fn serves(&self, candidate: &Candidate) -> bool {
        self.describe == candidate.describe && self.normalise == candidate.training.normalise
    }
}

fn interrupted() -> Error {
    Error::training("the evaluation was interrupted")
}
