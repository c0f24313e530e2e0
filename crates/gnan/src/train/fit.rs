//! Fitting a model: the stages of training, each a call of the training loop.
//!
//! A plain fit runs the loop once for every resolution of the specification and keeps the best. Removing features
//! ([`select`](super::select)) and adding feature pairs ([`pairs`](super::pairs)) are stages around plain fits.

use std::ops::ControlFlow;

use super::report::{EpochReport, Fitted, Monitor};
use super::resolve::ResolvedSpec;
use super::setup::Setup;
use super::statistics_cache::StatisticsCache;
use super::training_loop::TrainingLoop;
use crate::dataset::{Dataset, Split};
use crate::error::{Error, Result};
use crate::metric::Metric;
use crate::model::{Ended, ItemSplit, Model};
use crate::score::{Scored, score, shown_metrics};
use crate::spec::Spec;

/// What a fit works on.
#[derive(Clone, Copy)]
pub(super) struct FitItems<'a> {
    /// The statistics of all items below.
    pub cache: &'a StatisticsCache,
    /// Fitted on.
    pub train: &'a Dataset,
    /// Validated by.
    pub valid: &'a Dataset,
}

impl Spec {
    /// Fits a model; 10 % of the items are validation items.
    pub fn fit(&self, data: &Dataset) -> Result<Model> {
        Ok(self.fit_watched(data, None, &mut |_| ControlFlow::Continue(()))?.model)
    }

    /// Fits a model on `train`, stops by `valid` (`None`: 10 % of `train`), and reports every epoch.
    pub fn fit_watched(&self, train: &Dataset, valid: Option<&Dataset>, monitor: &mut Monitor<'_>) -> Result<Fitted> {
        let everything = match valid {
            Some(valid) if !train.same_content(valid) => {
                return Err(Error::usage("training and validation items must be parts of one data set"));
            }
            Some(valid) => train.union(valid),
            None => train.clone(),
        };
        self.fit_cached(&StatisticsCache::new(&everything), train, valid, monitor)
    }

    /// Fits on items whose statistics are shared with other fits.
    pub fn fit_cached(
        &self,
        cache: &StatisticsCache,
        train: &Dataset,
        valid: Option<&Dataset>,
        monitor: &mut Monitor<'_>,
    ) -> Result<Fitted> {
        let bounded = train.bounded();
        let train = train.labelled();
        self.check()?;
        let spec = self.with_method(&train)?;
        spec.check_for(&train)?;
        let train = if spec.counts_bounds() { train.union(&bounded) } else { train };
        let (train, valid) = match valid {
            Some(valid) => (train, valid.labelled()),
            // Nothing stops a penalised fit but itself.
            None if spec.is_penalised() => (train.clone(), train.subset(&[])),
            None => train.hold_out(spec.fit.seed)?,
        };
        let items = FitItems { cache, train: &train, valid: &valid };
        train.run().install(|| match () {
            _ if spec.is_penalised() => spec.fit_penalised(items, monitor),
            _ if spec.model.select.is_some() => spec.fit_selected(items, monitor),
            _ if spec.wants_pairs() => spec.fit_with_pairs(items, monitor),
            _ => spec.fit_plain(items, monitor),
        })
    }

    /// Fits on the training items of a split. Nothing but itself stops a penalised fit: where test items judge the model, it is
    /// fitted on the validation items, too, and its record says so.
    pub fn fit_split(&self, split: &Split, monitor: &mut Monitor<'_>) -> Result<Fitted> {
        self.fit_split_cached(&StatisticsCache::new(&split.train.union(&split.valid)), split, monitor)
    }

    /// The same on items whose statistics are shared with other fits.
    pub fn fit_split_cached(
        &self,
        cache: &StatisticsCache,
        split: &Split,
        monitor: &mut Monitor<'_>,
    ) -> Result<Fitted> {
        self.check()?;
        let spec = self.with_method(&split.train.labelled())?;
        let joined = split.valid.labelled().len();
        if !spec.is_penalised() || split.test.is_empty() || joined == 0 {
            return spec.fit_cached(cache, &split.train, Some(&split.valid), monitor);
        }
        let all = split.train.union(&split.valid);
        let mut fitted = spec.fit_cached(cache, &all, Some(&all.subset(&[])), monitor)?;
        fitted.model = fitted.model.with_record(|record| record.joined_items = joined);
        Ok(fitted)
    }

    /// Fits every resolution of the specification, without selection and feature pairs, and keeps the one with the lowest
    /// validation loss.
    pub(super) fn fit_plain(&self, items: FitItems<'_>, monitor: &mut Monitor<'_>) -> Result<Fitted> {
        let resolutions = self.resolutions(items.train)?;
        let several = resolutions.len() > 1;
        let mut best: Option<Fitted> = None;
        let mut tried = Vec::new();
        for resolved in resolutions {
            let name = resolved.name();
            let fitted = self.fit_resolved(resolved, items, if several { &name } else { "" }, monitor)?;
            tried.push((name.clone(), fitted.valid_loss));
            let interrupted = fitted.ended == Ended::Interrupted;
            let fitted = Fitted { chosen: name, ..fitted };
            if best.as_ref().is_none_or(|best| fitted.valid_loss < best.valid_loss) {
                best = Some(fitted);
            }
            if interrupted {
                break;
            }
        }
        let mut best = best.ok_or_else(|| Error::training("there was nothing to train"))?;
        if several {
            best.model = best.model.with_record(|record| record.tried = tried.clone());
        }
        best.tried = tried;
        Ok(best)
    }

    fn fit_resolved(
        &self,
        resolved: ResolvedSpec,
        items: FitItems<'_>,
        candidate: &str,
        monitor: &mut Monitor<'_>,
    ) -> Result<Fitted> {
        let FitItems { cache, train, valid } = items;
        let statistics = cache.statistics(&resolved)?;
        let setup = Setup::of_data(self, resolved, statistics, train)?;
        let mut training = TrainingLoop::of_one(&setup, train, valid)?;
        let epochs = setup.resolved.epochs;
        let _ = training.run(&mut |training, epoch, _| {
            let lane = &training.lanes[0];
            // A lane that has just diverged has no losses to report.
            let Some((_, train_loss, valid_loss)) = lane.history.last().filter(|last| last.0 == epoch).copied() else {
                return ControlFlow::Continue(());
            };
            let (best_epoch, metric) = (lane.stopping.best_epoch, training.valid_metric());
            monitor(&EpochReport { candidate, epoch, epochs, train_loss, valid_loss, best_epoch, metric })
        });
        if training.lanes[0].history.is_empty() {
            return Err(Error::training("the loss was not a finite number from the start")
                .with_remedy("look for extreme values in features and targets, or lower the learning rate"));
        }
        let valid_loss = training.lanes[0].stopping.best_loss;
        let model = training.finish(valid.len())?.pop().expect("a loop of one lane gives one model");
        let model = model.with_record(|record| record.items = ItemSplit::of(train, valid));
        Ok(Fitted {
            ended: model.record().ended,
            model,
            valid_loss,
            train: train.clone(),
            valid: valid.clone(),
            tried: Vec::new(),
            chosen: String::new(),
        })
    }
}

impl TrainingLoop<'_> {
    /// The chief metric of the first lane on the validation items, from the outputs last computed.
    pub(super) fn valid_metric(&self) -> Option<(Metric, f64)> {
        let valid = self.valid.as_ref()?;
        let mut own_units = valid.outputs.clone();
        self.setup.scale.restore(&mut own_units);
        let scored = Scored {
            outcome: self.setup.resolved.outcome,
            width: self.setup.resolved.outputs,
            outputs: &own_units,
            family: None,
        };
        let targets = valid.data.targets();
        score(&scored, targets, valid.data.items()).first_of(&shown_metrics(targets))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An immense learning rate, which the specification would refuse, spoils every weight in the first step.
    #[test]
    fn training_that_diverges_keeps_the_last_good_model() {
        let data = Dataset::open("solubility").unwrap();
        let split = data.given_split(0, 0).unwrap();
        let spec = Spec::default().hidden(16);
        let mut resolved = spec.resolutions(&split.train).unwrap().remove(0);
        resolved.learning_rate = f32::MAX;
        let cache = StatisticsCache::new(&split.train.union(&split.valid));
        let items = FitItems { cache: &cache, train: &split.train, valid: &split.valid };
        let fitted = spec.fit_resolved(resolved, items, "", &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(fitted.ended, Ended::Diverged);
        let record = fitted.model.record();
        assert_eq!((record.best_epoch, record.ended), (0, Ended::Diverged));
        let model = Model::from_bytes(&fitted.model.to_bytes().unwrap()).unwrap();
        assert!(model.outputs_on(&split.test).unwrap().values.iter().all(|y| y.is_finite()));
    }
}
