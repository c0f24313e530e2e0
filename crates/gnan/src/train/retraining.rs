//! Retraining: a model trained again on resamples of its items, many replicates per pass over the data.
//!
//! Replicates share the point estimate's settings, feature schema, target scale and gain; they differ in their random
//! start and in how often each item counts. A group of them is trained at once by one [`Engine`], full batch; each stops
//! by the loss of the items that its resample left out. What a replicate becomes depends on the seed and its number
//! only.

use std::ops::{ControlFlow, Range};
use std::sync::Arc;

use crate::checksum::Checksum;
use crate::dataset::Dataset;
use crate::error::{Error, Result};
use crate::files::Task;
use crate::model::{Description, Engine, ItemRows, Layout, Model, OptimiserState, Parameters, TargetSchema};
use crate::random::Stream;
use crate::statistics::Statistics;

use super::finish::mean_effects;
use super::fit::{add_output_bias, column_means, gain_of, source_gain};
use super::lane_loss::{LaneGoals, LaneLoss};
use super::projection::Projection;
use super::settings::Settled;
use super::stopping::{Next, Stopping};
use super::target_scale::TargetScale;
use super::weights::class_weights;
use super::{Ended, Goals};

/// Most replicates in a group: as many as fill a vector register.
const MOST_IN_GROUP: usize = 16;
/// Memory that a group may take, about.
const GROUP_BYTES: usize = 200 << 20;

/// A model's training, ready to be repeated.
pub struct Retraining {
    /// The point estimate's, without mean effects.
    description: Description,
    settled: Settled,
    layout: Layout,
    data: Dataset,
    statistics: Arc<Statistics>,
    rows: Vec<usize>,
    goals: Goals,
    scale: TargetScale,
    gain: f32,
}

/// A model trained on a resample.
#[derive(Clone, Debug)]
pub struct Retrained {
    /// The model, with the best weights.
    pub model: Model,
    /// Epoch whose weights were kept.
    pub best_epoch: usize,
    /// Why training ended.
    pub ended: Ended,
}

impl Retraining {
    /// Prepares to train `model` again on resamples of the labelled items of `data`.
    pub fn new(model: &Model, data: &Dataset) -> Result<Retraining> {
        let mut description = model.description().clone();
        description.features.iter_mut().for_each(|feature| feature.mean_effect.clear());
        let known = |target: &TargetSchema| (target.name.clone(), target.classes.clone());
        let found = data.targets().iter().map(|target| known(&TargetSchema::of(target)));
        if found.ne(description.targets.iter().map(known)) {
            return Err(Error::input("the targets of the data are not those that the model was trained on")
                .remedy("give the data that the model was trained on"));
        }
        if description.readout {
            return Err(Error::usage("a model with a readout cannot be trained again on resamples")
                .remedy("train it without --readout for intervals"));
        }
        let settled = Settled::of(&description)?;
        if data.task() != description.task {
            return Err(Error::input("the model does not predict what the data have targets for"));
        }
        let data = data.labelled();
        if data.items().iter().all(|item| data.weight(*item) == 0.0) {
            return Err(Error::input("there are no labelled items of any weight to resample"));
        }
        let features = model.features_of(&data)?;
        let levels = model.training_levels(&data, &features)?;
        let statistics = Statistics::with_levels(&data, &features, levels, description.statistics_options(), &[])?;
        let statistics = Arc::new(statistics);
        let record = &description.record;
        // A model file may say anything.
        let usable = record.target_scale.len() == data.targets().len()
            && record.target_scale.iter().all(|(shift, scale)| shift.is_finite() && scale.is_finite() && *scale > 0.0);
        let scale = match usable && settled.outcome.is_regression() {
            true => TargetScale::from_pairs(&record.target_scale),
            false => TargetScale::new(&data, &settled),
        };
        let balanced = if record.balance_classes { class_weights(&data, settled.outcome) } else { Vec::new() };
        Ok(Retraining {
            rows: statistics.rows_of(&data)?,
            goals: scale.goals(&data, &balanced),
            gain: match (data.task(), record.train_items, record.nodes) {
                (Task::Node, ..) => 1.0,
                (Task::Graph, 0, _) | (Task::Graph, _, 0) => source_gain(&data),
                (Task::Graph, graphs, nodes) => gain_of(graphs, nodes),
            },
            layout: description.layout(),
            description,
            settled,
            data,
            statistics,
            scale,
        })
    }

    /// The items that are resampled.
    pub fn data(&self) -> &Dataset {
        &self.data
    }

    /// Their statistics.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// A checksum of everything in the data that training sees.
    pub fn checksum(&self) -> Checksum {
        let rows = self.statistics.rows();
        let cells = rows.cells.iter().fold(Checksum::default(), |sum, cell| sum.and(&cell.to_le_bytes()));
        let all: Vec<u32> = (0..self.statistics.items().len() as u32).collect();
        let lenses = self.statistics.shell_counts().iter();
        lenses
            .fold(cells.and_floats(&rows.weights), |sum, of_lens| {
                sum.and(&of_lens.checksum(&all).number().to_le_bytes())
            })
            .and_floats(&self.goals.values)
            .and_floats(&self.goals.weights)
    }

    /// Limit on epochs.
    pub fn epochs(&self) -> usize {
        self.settled.epochs
    }

    /// How many replicates are trained together: a power of two, fewer where they are large.
    pub fn group_size(&self) -> usize {
        let outputs = self.settled.architecture.outputs;
        let units = self.statistics.levels().unit_count();
        let slots = self.statistics.slots();
        let forms = self.description.bank_specs();
        let (shapes, shape_activations) = forms.shapes.floats(units);
        let (rhos, rho_activations) = forms.rhos.floats(self.layout.functions * slots);
        // Parameters, the best of them, and two moments; activations; rows of outputs, tables and products, twice each.
        let shells = self.statistics.shell_counts().first();
        let shells = shells.map_or(0, |of_lens| of_lens.source_count() + self.data.len() * slots);
        let rows = 4 * self.data.len() + 2 * (units + self.layout.rhos.len() * slots + self.statistics.cells().len());
        let bytes = 4 * (4 * (shapes + rhos) + shape_activations + rho_activations + outputs * (rows + 2 * shells));
        let group = (GROUP_BYTES / bytes.max(1)).clamp(1, MOST_IN_GROUP);
        1 << group.ilog2()
    }

    /// How often each item counts in resample number `index`: as many items are drawn as there are.
    pub fn resample(&self, seed: u64, index: usize) -> Vec<u32> {
        let mut random = Stream::named(seed, "resample", index as u64);
        let weight = |position: usize| self.data.weight(self.data.items()[position]);
        loop {
            let mut counts = vec![0; self.data.len()];
            (0..counts.len()).for_each(|_| counts[random.below(self.data.len())] += 1);
            // Nothing can be learned from items of weight 0 only.
            if counts.iter().enumerate().any(|(position, count)| *count > 0 && weight(position) > 0.0) {
                return counts;
            }
        }
    }

    /// Trains the replicates of a group, at most [`group_size`](Self::group_size); `monitor` hears how many epochs are
    /// done and how many replicates still run. `None`: it broke off.
    pub fn fit(
        &self,
        replicates: Range<usize>,
        seed: u64,
        monitor: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Option<Vec<Retrained>>> {
        let counts: Vec<Vec<u32>> = replicates.clone().map(|index| self.resample(seed, index)).collect();
        let starts: Vec<u64> = replicates.map(|index| Stream::named(seed, "start", index as u64).next_u64()).collect();
        self.fit_counts(counts, &starts, monitor)
    }

    /// Trains replicates on items that count as often as `counts` says, from these seeds of random starts.
    pub(crate) fn fit_counts(
        &self,
        mut counts: Vec<Vec<u32>>,
        starts: &[u64],
        monitor: &mut dyn FnMut(usize, usize) -> ControlFlow<()>,
    ) -> Result<Option<Vec<Retrained>>> {
        // Spare lanes of an incomplete group count nothing, so that a replicate does not depend on its company.
        counts.resize(self.group_size().max(starts.len()), vec![0; self.data.len()]);
        let mut group = Group::new(self, &counts, starts);
        if group.run(monitor).is_break() {
            return Ok(None);
        }
        group.finish().map(Some)
    }
}

/// One model of a group during training.
struct Member {
    start: u64,
    parameters: Parameters,
    best: Parameters,
    state: OptimiserState,
    stopping: Stopping,
    /// Why it has ended, once it has.
    ended: Option<Ended>,
}

/// Replicates that are trained together.
struct Group<'a> {
    retraining: &'a Retraining,
    projection: Projection,
    gains: Vec<f32>,
    engine: Engine,
    rows: ItemRows,
    goals: LaneGoals,
    lanes: usize,
    members: Vec<Member>,
    outputs: Vec<f32>,
    gradient: Vec<f32>,
}

impl<'a> Group<'a> {
    fn new(retraining: &'a Retraining, counts: &[Vec<u32>], starts: &[u64]) -> Group<'a> {
        let Retraining { description, settled, layout, statistics, .. } = retraining;
        let model = description.engine_model();
        let engine = Engine::replicated(model, Arc::clone(statistics), retraining.gain, counts.len());
        let lanes = settled.architecture.outputs * counts.len();
        let (forms, outputs) = (description.bank_specs(), settled.architecture.outputs);
        let gains = retraining.scale.gains(retraining.gain, outputs);
        let projection = Projection::new(&description.features, layout, settled.rho_monotone, &gains);
        let member = |start: &u64| {
            let mut parameters = Parameters::random(layout, &forms, outputs, *start);
            projection.apply(&mut parameters);
            Member {
                start: *start,
                best: parameters.clone(),
                state: OptimiserState::new(&parameters),
                parameters,
                stopping: Stopping::new(settled),
                ended: None,
            }
        };
        Group {
            rows: engine.rows(&retraining.rows, true),
            goals: LaneGoals::new(settled.loss, settled.architecture.outputs, &retraining.goals, counts),
            members: starts.iter().map(member).collect(),
            outputs: vec![0.0; retraining.rows.len() * lanes],
            gradient: vec![0.0; retraining.rows.len() * lanes],
            projection,
            gains,
            retraining,
            engine,
            lanes,
        }
    }

    fn run(&mut self, monitor: &mut dyn FnMut(usize, usize) -> ControlFlow<()>) -> ControlFlow<()> {
        let Settled { epochs, dropout, .. } = self.retraining.settled;
        for epoch in 0..=epochs {
            let losses = self.losses(0.0);
            let mut again = dropout > 0.0;
            for (member, loss) in self.members.iter_mut().zip(losses).filter(|(member, _)| member.ended.is_none()) {
                again |= member.judge(epoch, loss) == Next::TakeUpBest;
            }
            let running = self.members.iter().filter(|member| member.ended.is_none()).count();
            if epoch > 0 {
                monitor(epoch, running)?;
            }
            if running == 0 || epoch == epochs {
                break;
            }
            if again {
                self.losses(dropout);
            }
            self.step();
        }
        ControlFlow::Continue(())
    }

    /// The losses of all members, with the gradients of their training losses left behind.
    fn losses(&mut self, dropout: f32) -> Vec<LaneLoss> {
        for (replicate, member) in self.members.iter().enumerate().filter(|(_, member)| member.ended.is_none()) {
            self.engine.draw_masks_of(replicate, &member.parameters, dropout, member.start, member.state.steps);
        }
        let running = |member: &'_ Member| member.ended.is_none();
        let parameters: Vec<Option<&Parameters>> =
            self.members.iter().map(|member| running(member).then_some(&member.parameters)).collect();
        self.engine.tables_of(&parameters, true);
        self.engine.outputs(&mut self.rows, &mut self.outputs);
        let mut bias = self.centre();
        let replicates = self.goals.replicates();
        for (replicate, member) in self.members.iter().enumerate() {
            let lanes = bias[replicate..].iter_mut().step_by(replicates);
            lanes.zip(&member.parameters.output_bias).for_each(|(lane, b0)| *lane += *b0);
        }
        add_output_bias(&mut self.outputs, &bias);
        self.goals.evaluate(&self.outputs, &mut self.gradient)
    }

    /// What is added to every lane so that its mean is 0; nothing where shells are not scaled.
    fn centre(&self) -> Vec<f32> {
        if self.retraining.description.shell_scale.is_empty() {
            return vec![0.0; self.lanes];
        }
        column_means(&self.outputs, self.lanes).into_iter().map(|mean| -mean).collect()
    }

    fn step(&mut self) {
        if self.retraining.description.shell_scale.is_empty() {
            self.engine.gradients(&mut self.rows, &self.gradient);
        } else {
            self.engine.centred_gradients(&mut self.rows, &self.gradient);
        }
        let settled = &self.retraining.settled;
        for (replicate, member) in self.members.iter_mut().enumerate().filter(|(_, member)| member.ended.is_none()) {
            let step = settled.step(member.stopping.rate());
            self.engine.step_of(replicate, &mut member.parameters, &mut member.state, step);
            self.projection.apply(&mut member.parameters);
        }
    }

    /// Folds gain and target scale into the best weights.
    fn finish(mut self) -> Result<Vec<Retrained>> {
        let Retraining { description, scale, data, .. } = self.retraining;
        let gains = &self.gains;
        self.members.iter().enumerate().for_each(|(replicate, member)| {
            self.engine.draw_masks_of(replicate, &member.best, 0.0, 0, 0);
        });
        let best: Vec<Option<&Parameters>> = self.members.iter().map(|member| Some(&member.best)).collect();
        self.engine.tables_of(&best, false);
        self.engine.outputs(&mut self.rows, &mut self.outputs);
        let centre = self.centre();
        let replicates = self.goals.replicates();
        let by_lane: Vec<f32> = (0..self.lanes).map(|lane| gains[lane / replicates]).collect();
        let means = mean_effects(&self.engine, data, &description.features, &by_lane);
        let finished = self.members.into_iter().enumerate().map(|(replicate, member)| {
            let mut description = description.clone();
            for (feature, means) in description.features.iter_mut().zip(&means) {
                feature.mean_effect = means.iter().skip(replicate).step_by(replicates).copied().collect();
            }
            let mut parameters = member.best;
            let moved = centre.iter().skip(replicate).step_by(replicates);
            parameters.output_bias.iter_mut().zip(moved).for_each(|(bias, moved)| *bias += moved);
            parameters.scale_sources(gains);
            scale.restore(&mut parameters.output_bias);
            if !parameters.is_finite() {
                return Err(Error::training("the weights of a replicate are too large for 32-bit numbers")
                    .remedy("give the target in a larger unit, so that its values become smaller"));
            }
            Ok(Retrained {
                model: Model::from_parts(description, parameters).certified(),
                best_epoch: member.stopping.best_epoch(),
                ended: member.ended.unwrap_or(Ended::Epochs),
            })
        });
        finished.collect()
    }
}

impl Member {
    /// Takes note of the losses after an epoch, and ends or starts again from the best weights where it should.
    fn judge(&mut self, epoch: usize, loss: LaneLoss) -> Next {
        if !(loss.train.is_finite() && loss.left_out.is_finite()) {
            self.ended = Some(Ended::Diverged);
            return Next::End;
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::train::Training;

    /// Every item once, from the same start: a plain full-batch fit that stops by its own loss, up to rounding.
    #[test]
    fn every_item_once_is_a_plain_fit() {
        let data = Dataset::open("solubility").unwrap();
        let data = data.subset(&(0..data.len()).step_by(10).collect::<Vec<_>>());
        for dropout in [0.0, 0.3] {
            let training =
                Training { hidden: 16, dropout, patience: Some(0), ..Training::default().epochs(25).seed(9) };
            let nothing = data.subset(&[]);
            let plain = training.fit_watched(&data, Some(&nothing), &mut |_| ControlFlow::Continue(())).unwrap();
            let retraining = Retraining::new(&plain.model, &data).unwrap();
            let counts = vec![vec![1; data.len()]; 2];
            let go_on = &mut |_, _| ControlFlow::Continue(());
            let found = retraining.fit_counts(counts, &[3, 9], go_on).unwrap().unwrap();
            assert_eq!(found[1].best_epoch, plain.model.description().record.best_epoch);
            let outputs = |model: &Model| model.outputs_on(&data).unwrap().values;
            let (found, expected) = (outputs(&found[1].model), outputs(&plain.model));
            let largest = found.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(largest < 2e-3, "{largest}");
        }
    }
}
