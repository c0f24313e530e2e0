//! Penalised fits: a model that is linear in its effects, fitted as a generalised additive model.
//!
//! Where every level of a feature (or knot of a number) has a distance function of its own, the model is linear in its effects:
//! one effect per value and distance. These are the coefficients of a [`likelihood`](crate::likelihood) problem ([`columns`]), whose
//! [`estimate`] has neither a seed nor a step size and needs no validation items, and keeps to the [`constraints`] of features. [`choice`] compares what a specification leaves
//! open, the [second level](second_level) included, [`selection`] removes features where that is requested; [`parameters`] makes a model of the best, [`posterior`] keeps how sure it is, and [`summary`] tests its terms.

mod choice;
mod columns;
mod constraints;
mod dual_estimate;
mod estimate;
mod known_part;
mod parameters;
mod posterior;
mod second_level;
mod selection;
mod shared;
mod size;
mod summary;
mod targets;

use std::cell::Cell;
use std::ops::ControlFlow;

use super::fit::FitItems;
use super::loss::LaneTargets;
use super::report::{EpochReport, Fitted, Monitor};
use super::setup::Setup;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::likelihood::Iteration;
use crate::model::{Ended, ItemSplit, TargetFamily};
use crate::spec::Spec;
use choice::ComparedFits;
use estimate::PartEstimate;
use posterior::{keep_posterior, posterior};
use selection::SelectedFit;
pub use size::PenalisedSize;
use summary::SummaryInput;

impl Spec {
    /// Fits by penalised likelihood.
    pub(super) fn fit_penalised(&self, items: FitItems<'_>, monitor: &mut Monitor<'_>) -> Result<Fitted> {
        let FitItems { train, valid, .. } = items;
        if self.model.select.is_some() {
            self.check_selected_names()?;
        }
        let interrupted = Cell::new(false);
        let mut history = Vec::new();
        let mut watch = |candidate: &str, iteration: &Iteration| {
            let loss = -iteration.value / iteration.items.max(1) as f64;
            history.push((history.len() + 1, loss, loss));
            let report = EpochReport {
                candidate,
                epoch: iteration.number,
                epochs: iteration.most,
                train_loss: loss,
                valid_loss: loss,
                best_epoch: iteration.number,
                metric: None,
            };
            interrupted.set(interrupted.get() || monitor(&report).is_break() || train.run().cancel.is_cancelled());
            if interrupted.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let choice = self.compared(train, &mut watch)?;
        let chosen = choice.chosen();
        let ComparedFits { mut best, tried } = choice;
        let with_all = best.train.clone();
        let (mut selection, mut removed) = (Vec::new(), Vec::new());
        if self.model.select.is_some() && !interrupted.get() {
            let selected = best.selected(&mut |iteration| watch("selection", iteration))?;
            SelectedFit { fit: best, steps: selection, removed } = selected;
        }
        if best.dual && !interrupted.get() {
            best.finish(&mut |iteration| watch(&chosen, iteration));
        }
        let ended = match (interrupted.get(), best.converged) {
            (true, _) => Ended::Interrupted,
            (false, true) => Ended::Converged,
            (false, false) => Ended::Epochs,
        };
        let described = best.train;
        let dispersions = best.found.iter().map(|part| part.variance).collect();
        best.setup.definition.learned.target_family = TargetFamily::of(self.fit.family, dispersions);
        let parameters = match &best.shared {
            Some(shared) => best.setup.shared_parameters(shared, &best.found),
            None => best.setup.penalised_parameters(&best.columns, &best.found),
        };
        let model = best.setup.penalised_model(parameters, &described, &best.rows)?;
        let quantity = model.learned().outcome.is_regression() && model.learned().target_family.is_none();
        let posterior = posterior(&model, &best.found, &best.design, quantity);
        let model = model.with_posterior(posterior);
        let statistics = &best.setup.statistics;
        let input = SummaryInput {
            model: &model,
            columns: &best.columns,
            shared: best.shared.as_ref(),
            found: &best.found,
            statistics,
            rows: &best.rows,
        };
        let summary = input.summary();
        let model = keep_posterior(model);
        let valid_loss = match valid.is_empty() {
            true => best.setup.mean_loss(&described, model.values_of_rows(statistics, &best.rows)),
            false => {
                let judged = described.view_of(valid);
                best.setup.mean_loss(&judged, model.values_on(&judged)?.values)
            }
        };
        let iterations = history.len();
        let bounded = described.bounded().len();
        let model = model.with_record(|record| {
            record.items = ItemSplit::of(&described, &described.view_of(valid));
            record.valid_items = valid.len();
            (record.epochs, record.best_epoch, record.ended) = (iterations, iterations, ended);
            record.history = history;
            record.summary = summary;
            (record.selection, record.removed) = (selection, removed);
            if bounded > 0 {
                record.bounded_items = bounded;
                record.items_checksum = described.labelled().items_checksum();
            }
            if self.fit.family.is_log() {
                record.target_scale.clear();
            }
            if tried.len() > 1 {
                record.tried = tried.clone();
            }
        });
        let (train, valid) = (with_all.view_of(&described), with_all.view_of(valid));
        Ok(Fitted { ended, model, valid_loss, train, valid, tried, chosen })
    }
}

impl Setup {
    /// The mean loss of some items with these outputs, as training by gradient descent computes it, whatever the family of targets.
    fn mean_loss(&self, items: &Dataset, mut outputs: Vec<f32>) -> f64 {
        let pairs = self.scale.pairs();
        for row in outputs.chunks_exact_mut(pairs.len().max(1)).filter(|_| !pairs.is_empty()) {
            let scaled = row.iter_mut().zip(&pairs);
            scaled.for_each(|(y, (shift, scale))| *y = ((f64::from(*y) - shift) / scale) as f32);
        }
        let targets = self.scale.targets(items, &self.class_weights);
        let lane = LaneTargets::of_one(self.resolved.loss, self.resolved.outputs, &targets);
        let mut gradient = vec![0.0; outputs.len()];
        lane.evaluate(&outputs, &mut gradient)[0].train
    }
}
