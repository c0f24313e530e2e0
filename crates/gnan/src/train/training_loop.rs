//! The training loop: one or several models trained side by side by gradient descent, each stopped by its own held-out
//! loss, its best weights kept.
//!
//! Every model is a *lane*. A plain fit has one, stopped by validation items; the replicates of a bootstrap share a pass
//! over the data, each with its own resample and stopped by the items that its resample left out. What a lane becomes
//! does not depend on the others.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::loss::{ItemTargets, LaneLoss, LaneTargets};
use super::resolve::ResolvedSpec;
use super::setup::Setup;
use super::stopping::{Next, Stopping};
use crate::dataset::Dataset;
use crate::error::Result;
use crate::model::{Ended, Engine, ItemRows, OptimiserState, Parameters, StepSettings};
use crate::random::Stream;

/// A point of the loss history: epoch, training loss, validation loss.
pub(super) type Point = (usize, f64, f64);

/// Some items during training.
pub(super) struct LoopPart {
    pub data: Dataset,
    /// Their rows in the statistics.
    pub positions: Vec<usize>,
    pub rows: ItemRows,
    item_targets: ItemTargets,
    lane_targets: LaneTargets,
    pub outputs: Vec<f32>,
    gradient: Vec<f32>,
}

/// One model during training.
pub(super) struct Lane {
    seed: u64,
    pub parameters: Parameters,
    /// The weights with the lowest held-out loss so far.
    pub best: Parameters,
    state: OptimiserState,
    pub stopping: Stopping,
    /// Why it has ended, once it has.
    pub ended: Option<Ended>,
    pub history: Vec<Point>,
}

/// Models that are trained together.
pub(super) struct TrainingLoop<'a> {
    pub setup: &'a Setup,
    pub engine: Engine,
    pub lanes: Vec<Lane>,
    pub train: LoopPart,
    /// Items held out from every lane; `None`: each lane's resample leaves its own out, or nothing is held out.
    pub valid: Option<LoopPart>,
    /// Strength of the penalty that switches features off.
    pub group_penalty: f32,
    /// What is subtracted from every lane before its output bias is added; 0 unless shells are scaled.
    centre: Vec<f32>,
}

impl<'a> TrainingLoop<'a> {
    /// A loop of one model.
    pub(super) fn of_one(setup: &'a Setup, train: &Dataset, valid: &Dataset) -> Result<TrainingLoop<'a>> {
        let counts = [vec![1; train.len()]];
        let mut only = TrainingLoop::new(setup, train, &counts, &[setup.resolved.spec.fit.seed])?;
        if !valid.is_empty() {
            only.valid = Some(only.part(valid, false, &[vec![1; valid.len()]])?);
        }
        Ok(only)
    }

    /// A loop of models with these seeds; `counts[r][i]` is how often item `i` counts for model `r`. There may be more
    /// counts than models: lanes to spare.
    pub(super) fn new(
        setup: &'a Setup,
        train: &Dataset,
        counts: &[Vec<u32>],
        seeds: &[u64],
    ) -> Result<TrainingLoop<'a>> {
        let statistics = Arc::clone(&setup.statistics);
        let engine = Engine::replicated(setup.engine_model(), statistics, setup.gain, counts.len());
        let lane = |seed: &u64| {
            let parameters = setup.random_parameters(*seed);
            Lane {
                seed: *seed,
                best: parameters.clone(),
                state: OptimiserState::new(&parameters),
                parameters,
                stopping: Stopping::new(&setup.resolved),
                ended: None,
                history: Vec::new(),
            }
        };
        let repeated = setup.resolved.batch.is_none();
        Ok(TrainingLoop {
            train: part_of(setup, &engine, train, repeated, counts)?,
            valid: None,
            lanes: seeds.iter().map(lane).collect(),
            group_penalty: 0.0,
            centre: vec![0.0; setup.resolved.outputs * counts.len()],
            engine,
            setup,
        })
    }

    fn part(&self, data: &Dataset, repeated: bool, counts: &[Vec<u32>]) -> Result<LoopPart> {
        part_of(self.setup, &self.engine, data, repeated, counts)
    }

    fn resolved(&self) -> &'a ResolvedSpec {
        &self.setup.resolved
    }

    /// Lanes of outputs that stand side by side for every output.
    fn replicates(&self) -> usize {
        self.train.lane_targets.replicates
    }

    fn running(&self) -> usize {
        self.lanes.iter().filter(|lane| lane.ended.is_none()).count()
    }

    /// Trains until every lane has ended; after each epoch `monitor` is told how many epochs are done and how many lanes
    /// still run, and may break off.
    pub(super) fn run(
        &mut self,
        monitor: &mut dyn FnMut(&TrainingLoop<'_>, usize, usize) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let ResolvedSpec { epochs, dropout, batch, .. } = *self.resolved();
        let resample = self.setup.resolved.spec.fit.resample;
        let mut batch_loss = None;
        for epoch in 0..=epochs {
            if epoch > 0 && epoch.is_multiple_of(resample) {
                self.train.rows.redraw((epoch / resample) as u64);
            }
            // The same evaluation serves the step that follows, unless that is taken with dropout or in batches.
            let losses = self.losses(0.0, batch.is_none() && dropout == 0.0, batch_loss);
            let mut again = dropout > 0.0;
            for (lane, loss) in self.lanes.iter_mut().zip(losses).filter(|(lane, _)| lane.ended.is_none()) {
                again |= lane.judge(epoch, loss) == Next::TakeUpBest;
            }
            let running = self.running();
            let cancelled = self.train.data.run().cancel.is_cancelled();
            if epoch > 0 && (monitor(self, epoch, running).is_break() || cancelled) {
                self.end_all(Ended::Interrupted);
                return ControlFlow::Break(());
            }
            if running == 0 || epoch == epochs {
                break;
            }
            match batch {
                Some(size) => batch_loss = Some(self.step_through_batches(epoch as u64, size)),
                None => {
                    if again {
                        self.train_losses(dropout, true);
                    }
                    self.step();
                }
            }
        }
        self.end_all(Ended::Epochs);
        ControlFlow::Continue(())
    }

    fn end_all(&mut self, reason: Ended) {
        self.lanes.iter_mut().for_each(|lane| _ = lane.ended.get_or_insert(reason));
    }

    /// The losses of all lanes with their present parameters; the training loss may be known from mini-batches. With `keep`, a
    /// step may follow.
    pub(super) fn losses(&mut self, dropout: f32, keep: bool, batch_loss: Option<f64>) -> Vec<LaneLoss> {
        let mut losses = match batch_loss {
            Some(train) => {
                self.evaluate_tables(dropout, keep);
                vec![LaneLoss { train, left_out: train }]
            }
            None => self.train_losses(dropout, keep),
        };
        if let Some(mut valid) = self.valid.take() {
            self.engine.outputs(&mut valid.rows, &mut valid.outputs);
            let found = self.part_losses(&mut valid);
            losses.iter_mut().zip(found).for_each(|(loss, found)| loss.left_out = found.train);
            self.valid = Some(valid);
        }
        losses
    }

    /// The losses over the training items, with the gradients of the outputs left behind.
    fn train_losses(&mut self, dropout: f32, keep: bool) -> Vec<LaneLoss> {
        self.evaluate_tables(dropout, keep);
        self.engine.outputs(&mut self.train.rows, &mut self.train.outputs);
        if self.is_centred() {
            self.centre = column_means(&self.train.outputs, self.centre.len());
        }
        let bias = self.bias();
        let part = &mut self.train;
        add_to_rows(&mut part.outputs, &bias);
        part.lane_targets.evaluate(&part.outputs, &mut part.gradient)
    }

    fn part_losses(&self, part: &mut LoopPart) -> Vec<LaneLoss> {
        add_to_rows(&mut part.outputs, &self.bias());
        part.lane_targets.evaluate(&part.outputs, &mut part.gradient)
    }

    fn evaluate_tables(&mut self, dropout: f32, keep: bool) {
        let running = |lane: &Lane| lane.ended.is_none();
        for (replicate, lane) in self.lanes.iter().enumerate().filter(|(_, lane)| running(lane)) {
            self.engine.draw_masks_of(replicate, &lane.parameters, dropout, lane.seed, lane.state.steps);
        }
        let parameters: Vec<Option<&Parameters>> =
            self.lanes.iter().map(|lane| running(lane).then_some(&lane.parameters)).collect();
        self.engine.tables_of(&parameters, keep);
    }

    /// Whether the mean of all training outputs is subtracted: where shells are scaled.
    pub(super) fn is_centred(&self) -> bool {
        !self.setup.definition.learned.shell_scale.is_empty()
    }

    /// What is added to every lane: its output bias, less the mean that is subtracted.
    fn bias(&self) -> Vec<f32> {
        let mut bias: Vec<f32> = self.centre.iter().map(|mean| -mean).collect();
        let replicates = self.replicates();
        for (replicate, lane) in self.lanes.iter().enumerate() {
            let own = bias[replicate..].iter_mut().step_by(replicates);
            own.zip(&lane.parameters.output_bias).for_each(|(bias, b0)| *bias += *b0);
        }
        bias
    }

    /// One step of every lane that runs, along the gradient that was left behind.
    fn step(&mut self) {
        let LoopPart { rows, gradient, .. } = &mut self.train;
        if self.setup.definition.learned.shell_scale.is_empty() {
            self.engine.gradients(rows, gradient);
        } else {
            self.engine.centred_gradients(rows, gradient);
        }
        let (setup, group_penalty) = (self.setup, self.group_penalty);
        let alone = self.lanes.len() == 1;
        for (replicate, lane) in self.lanes.iter_mut().enumerate().filter(|(_, lane)| lane.ended.is_none()) {
            let settings = StepSettings { group_penalty, ..setup.resolved.step(lane.stopping.rate) };
            match alone {
                true => self.engine.step_along(rows, &mut lane.parameters, &mut lane.state, settings),
                false => self.engine.step_of(replicate, &mut lane.parameters, &mut lane.state, settings),
            }
            setup.projection.apply(&mut lane.parameters);
        }
    }

    /// One step for every mini-batch of the items, in random order; the mean loss over them. There is one lane.
    fn step_through_batches(&mut self, epoch: u64, size: usize) -> f64 {
        let resolved = self.resolved();
        let seed = self.lanes[0].seed;
        let mut order: Vec<usize> = (0..self.train.positions.len()).collect();
        Stream::named(seed, "batches", epoch).shuffle(&mut order);
        let mut sum = 0.0;
        for items in order.chunks(size) {
            let mut rows = self.engine.batch(&self.train.rows, &self.train.positions, items);
            let targets = self.train.item_targets.select(items);
            let targets = LaneTargets::of_one(resolved.loss, resolved.outputs, &targets);
            self.evaluate_tables(resolved.dropout, true);
            let floats = items.len() * resolved.outputs;
            let bias = self.bias();
            let (outputs, gradient) = (&mut self.train.outputs[..floats], &mut self.train.gradient[..floats]);
            self.engine.outputs(&mut rows, outputs);
            add_to_rows(outputs, &bias);
            sum += targets.evaluate(outputs, gradient)[0].train * items.len() as f64;
            let lane = &mut self.lanes[0];
            let settings = resolved.step(lane.stopping.rate);
            self.engine.step(&mut rows, gradient, &mut lane.parameters, &mut lane.state, settings);
            self.setup.projection.apply(&mut lane.parameters);
        }
        sum / order.len() as f64
    }

    /// Trains the only lane on for one epoch in full batch, whatever its validation loss: the losses before the step.
    pub(super) fn advance(&mut self) -> LaneLoss {
        let dropout = self.resolved().dropout;
        let losses = self.losses(0.0, dropout == 0.0, None);
        if dropout > 0.0 {
            self.train_losses(dropout, true);
        }
        self.step();
        losses[0]
    }

    /// The state of the optimiser after a step of the only lane that changes nothing but it: its first moments are the
    /// gradient of the training loss.
    pub(super) fn gradient_state(&mut self) -> OptimiserState {
        self.train_losses(0.0, true);
        let mut state = OptimiserState::new(&self.lanes[0].parameters);
        let mut settings = self.resolved().step(0.0);
        (settings.adam.weight_decay, settings.adam.beta1, settings.output_bias) = (0.0, 0.0, true);
        let LoopPart { rows, gradient, .. } = &mut self.train;
        self.engine.step(rows, gradient, &mut self.lanes[0].parameters, &mut state, settings);
        state
    }

    /// Evaluates the best weights of every lane; what is subtracted from each of them while training.
    pub(super) fn evaluate_best(&mut self) -> Vec<f32> {
        for (replicate, lane) in self.lanes.iter().enumerate() {
            self.engine.draw_masks_of(replicate, &lane.best, 0.0, 0, 0);
        }
        let best: Vec<Option<&Parameters>> = self.lanes.iter().map(|lane| Some(&lane.best)).collect();
        self.engine.tables_of(&best, false);
        self.engine.outputs(&mut self.train.rows, &mut self.train.outputs);
        match self.is_centred() {
            true => column_means(&self.train.outputs, self.centre.len()),
            false => vec![0.0; self.centre.len()],
        }
    }
}

fn part_of(setup: &Setup, engine: &Engine, data: &Dataset, repeated: bool, counts: &[Vec<u32>]) -> Result<LoopPart> {
    let positions = setup.statistics.rows_of(data)?;
    let item_targets = setup.scale.targets(data, &setup.class_weights);
    let outputs = setup.resolved.outputs;
    let floats = positions.len() * outputs * counts.len();
    Ok(LoopPart {
        data: data.clone(),
        rows: engine.rows(&positions, repeated),
        lane_targets: LaneTargets::new(setup.resolved.loss, outputs, &item_targets, counts),
        item_targets,
        outputs: vec![0.0; floats],
        gradient: vec![0.0; floats],
        positions,
    })
}

impl Lane {
    /// Takes note of the losses after an epoch, and ends or starts again from the best weights where it should.
    fn judge(&mut self, epoch: usize, loss: LaneLoss) -> Next {
        if !(loss.train.is_finite() && loss.left_out.is_finite()) {
            self.ended = Some(Ended::Diverged);
            return Next::End;
        }
        self.history.push((epoch, loss.train, loss.left_out));
        if self.stopping.improves(epoch, loss.left_out) {
            self.best.copy_from(&self.parameters);
        }
        let next = self.stopping.next(epoch);
        match next {
            Next::GoOn => {}
            Next::TakeUpBest => {
                self.parameters.copy_from(&self.best);
                self.state = OptimiserState::new(&self.parameters);
            }
            Next::End => self.ended = Some(Ended::Patience),
        }
        next
    }
}

/// Adds the same numbers to every row.
fn add_to_rows(rows: &mut [f32], numbers: &[f32]) {
    for row in rows.chunks_exact_mut(numbers.len()) {
        row.iter_mut().zip(numbers).for_each(|(y, b)| *y += b);
    }
}

/// The mean of every column, added up in f64.
pub(super) fn column_means(rows: &[f32], columns: usize) -> Vec<f32> {
    let mut sums = vec![0.0f64; columns];
    for row in rows.chunks_exact(columns) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    let count = (rows.len() / columns).max(1) as f64;
    sums.into_iter().map(|sum| (sum / count) as f32).collect()
}
