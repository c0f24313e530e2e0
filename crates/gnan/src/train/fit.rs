//! The training loop: full batch or mini-batches, early stopping on validation loss, the best weights kept.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::dataset::{Dataset, Feature, Outcome};
use crate::error::{Error, Result};
use crate::files::Task;
use crate::memory;
use crate::metric::{Scored, score};
use crate::model::{
    Engine, EngineModel, FeatureSchema, ItemRows, Layout, Model, OptimiserState, Parameters, Rho, RhoScale,
    StepSettings,
};
use crate::random::Stream;
use crate::shape::{Architecture, Basis, ShapeKind};
use crate::statistics::{self, KnotChoice, Statistics};

use super::finish::Point;
use super::prepared::Prepared;
use super::projection::Projection;
use super::report::{Ended, EpochReport, Fitted, Monitor};
use super::settings::{Selection, Settled};
use super::stopping::{Next, Stopping};
use super::target_scale::TargetScale;
use super::weights::class_weights;
use super::{Goals, Training};

/// What helps where the shells of a node task do not fit in memory.
const LEANER_HEARING: &str = "use a smaller --shell-sample, a --hop-cap or --far-from, or fewer labelled nodes";

impl Training {
    /// Fits a model; 10 % of the items are set aside to know when to stop.
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
        self.fit_prepared(&Prepared::new(&everything, self), train, valid, monitor)
    }

    /// Refuses what makes no sense, by itself or with these labelled items.
    pub(crate) fn check_for(&self, train: &Dataset) -> Result<()> {
        self.check()?;
        if train.is_empty() {
            return Err(Error::input("there are no labelled items to train on"));
        }
        if train.items().iter().all(|item| train.weight(*item) == 0.0) {
            return Err(Error::input("all training items have weight 0"));
        }
        self.check_hearing(train)?;
        self.check_rules_for(train, train.outcome()?)
    }

    /// Fits on items whose statistics are prepared already.
    pub fn fit_prepared(
        &self,
        prepared: &Prepared,
        train: &Dataset,
        valid: Option<&Dataset>,
        monitor: &mut Monitor<'_>,
    ) -> Result<Fitted> {
        let train = train.labelled();
        self.check_for(&train)?;
        let outcome = train.outcome()?;
        let (train, valid) = match valid {
            Some(valid) => (train, valid.labelled()),
            None => train.hold_out(self.seed)?,
        };
        if self.select != Selection::Off {
            return self.fit_selected(prepared, &train, &valid, monitor);
        }
        if self.wants_pairs() {
            return self.fit_with_pairs(prepared, &train, &valid, monitor);
        }
        let mut candidates = Vec::new();
        for rho in self.rho_candidates(&train) {
            for two_logits in self.logit_candidates(outcome, rho) {
                candidates.push(self.settle(&train, outcome, two_logits, rho)?);
            }
        }
        let mut best: Option<Fitted> = None;
        let mut tried = Vec::new();
        for settled in &candidates {
            let name = if candidates.len() > 1 { candidate_name(settled) } else { String::new() };
            let fitted = Fit::new(self, settled, prepared, &train, &valid)?.run(&name, monitor)?;
            tried.push((candidate_name(settled), fitted.valid_loss));
            let interrupted = fitted.ended == Ended::Interrupted;
            if best.as_ref().is_none_or(|best| fitted.valid_loss < best.valid_loss) {
                best = Some(fitted);
            }
            if interrupted {
                break;
            }
        }
        let mut best = best.ok_or_else(|| Error::training("there was nothing to train"))?;
        if tried.len() > 1 {
            best.model = best.model.chosen_among(tried.clone());
        }
        best.tried = tried;
        Ok(best)
    }
}

fn candidate_name(settled: &Settled) -> String {
    let rho = match settled.rho {
        Rho::Shared => "shared rho",
        Rho::PerFeature => "rho per feature",
        Rho::Grouped => "rho per group of features",
    };
    match (settled.outcome, settled.two_logits) {
        (Outcome::Binary, false) => format!("{rho}, one logit"),
        (Outcome::Binary, true) => format!("{rho}, two logits"),
        _ => rho.to_owned(),
    }
}

/// One part of the data during training.
pub(super) struct PartState {
    pub data: Dataset,
    pub positions: Vec<usize>,
    pub rows: ItemRows,
    goals: Goals,
    pub outputs: Vec<f32>,
}

/// One fit: one architecture, one choice of rho and logits.
pub(super) struct Fit<'a> {
    pub training: &'a Training,
    pub settled: &'a Settled,
    pub features: Vec<FeatureSchema>,
    pub scale: TargetScale,
    /// What the parameters are multiplied by at the end, per output.
    pub gains: Vec<f32>,
    pub receivers: Vec<f64>,
    pub slots: Vec<usize>,
    pub rho_scale: RhoScale,
    pub rho_spline: Option<Basis>,
    projection: Projection,
    /// What rho is multiplied by at every slot; empty: 1.
    pub shell_scale: Vec<f64>,
    /// The mean of the training outputs, which is taken out before the output bias is added; empty: nothing is.
    centre: Vec<f32>,
    pub engine: Engine,
    pub parameters: Parameters,
    /// The weights with the lowest validation loss so far.
    pub best: Parameters,
    pub stopping: Stopping,
    /// Strength of the penalty that switches features off.
    pub group_penalty: f32,
    state: OptimiserState,
    pub train: PartState,
    pub valid: PartState,
}

impl<'a> Fit<'a> {
    pub(super) fn new(
        training: &'a Training,
        settled: &'a Settled,
        prepared: &Prepared,
        train: &Dataset,
        valid: &Dataset,
    ) -> Result<Fit<'a>> {
        let statistics = prepared.statistics(settled.rho)?;
        let mut features = learn_features(training, settled.shape, train);
        training.associate(&mut features);
        for (feature, levels) in features.iter_mut().zip(statistics.levels().features()) {
            feature.knots = levels.interpolated.then_some(levels.units.len());
        }
        let reach = training.reach(train);
        let layout = Layout::new(&features, settled.rho, reach, training.lenses.len());
        let gain = source_gain(train);
        let slots = statistics.axis().slots();
        let shell_scale = if training.scale_shells { statistics::shell_scale(train, slots)? } else { Vec::new() };
        let receivers = heard_receivers(&statistics, train)?;
        let rho_spline = (settled.rho_shape == ShapeKind::Spline).then(|| {
            let axis = statistics.axis();
            let heard = |slot: &usize| receivers[*slot] > 0.0 && reach.includes(axis.distance(*slot));
            let seen = (0..receivers.len()).filter(heard).map(|slot| axis.argument(slot));
            Basis::hats(seen.chain([0.0, 1.0]).collect())
        });
        let rho_scale = if rho_spline.is_some() { RhoScale::PLAIN } else { RhoScale::default() };
        let source_outputs = if training.readout { 1 } else { settled.architecture.outputs };
        let model = EngineModel {
            features: &features,
            architecture: Architecture { outputs: source_outputs, ..settled.architecture },
            readout: training.readout.then_some(settled.architecture.outputs),
            uncentred: training.readout,
            rho: settled.rho,
            rho_scale,
            shape: settled.shape,
            rho_spline: rho_spline.as_ref(),
            smooth: settled.smooth,
            reach,
            shell_scale: &shell_scale,
            pieces_above: (training.knots == KnotChoice::Off).then_some(training.pieces_above),
        };
        memory::demand(Engine::bytes(model, &statistics, 1), "the tables of the shape functions")?;
        let lanes = statistics.channels().iter().flatten().max().map_or(1, |last| last + 1) * source_outputs;
        memory::demand_or(statistics.least_bytes(lanes), "what the nodes hear", LEANER_HEARING)?;
        let engine = Engine::new(model, Arc::clone(&statistics), gain);
        let outputs = settled.architecture.outputs;
        let mut parameters = Parameters::random(&layout, &model.bank_specs(&layout), outputs, training.seed);
        let scale = TargetScale::new(train, settled);
        let gains = if training.readout { vec![gain] } else { scale.gains(gain, outputs) };
        let projection = Projection::new(&features, &layout, settled.rho_monotone, &gains);
        projection.apply(&mut parameters);
        let class_weights = if training.balance_classes { class_weights(train, settled.outcome) } else { Vec::new() };
        let part = |data: &Dataset, repeated: bool| -> Result<PartState> {
            let positions = statistics.rows_of(data)?;
            let rows = engine.rows(&positions, repeated);
            let goals = scale.goals(data, &class_weights);
            let outputs = vec![0.0; positions.len() * settled.architecture.outputs];
            Ok(PartState { data: data.clone(), positions, rows, goals, outputs })
        };
        let (train, valid) = (part(train, settled.batch.is_none())?, part(valid, false)?);
        Ok(Fit {
            training,
            settled,
            receivers,
            slots: statistics.axis().lengths(),
            rho_scale,
            rho_spline,
            gains,
            projection,
            centre: vec![0.0; if training.scale_shells { settled.architecture.outputs } else { 0 }],
            shell_scale,
            state: OptimiserState::new(&parameters),
            stopping: Stopping::new(settled),
            group_penalty: 0.0,
            best: parameters.clone(),
            features,
            scale,
            engine,
            parameters,
            train,
            valid,
        })
    }

    fn run(mut self, candidate: &str, monitor: &mut Monitor<'_>) -> Result<Fitted> {
        let epochs = self.settled.epochs;
        let mut gradient = vec![0.0; self.train.outputs.len()];
        let mut history: Vec<Point> = Vec::new();
        let together = self.settled.batch.is_none() && self.settled.dropout == 0.0;
        let mut batch_loss = None;
        let mut ended = Ended::Epochs;
        for epoch in 0..=epochs {
            if epoch > 0 && epoch % self.training.resample == 0 {
                self.train.rows.redraw((epoch / self.training.resample) as u64);
            }
            self.engine.draw_masks(&self.parameters, 0.0, 0, 0);
            self.engine.tables(&self.parameters, together);
            let train_loss = match batch_loss {
                Some(loss) => loss,
                None => self.train_loss(Some(&mut gradient)),
            };
            let valid_loss = if self.valid.data.is_empty() { train_loss } else { self.valid_loss() };
            if !(train_loss.is_finite() && valid_loss.is_finite()) {
                ended = Ended::Diverged;
                break;
            }
            history.push((epoch, train_loss, valid_loss));
            if self.stopping.improves(epoch, valid_loss) {
                self.best.copy_from(&self.parameters);
            }
            if epoch > 0 {
                let (best_epoch, metric) = (self.stopping.best_epoch(), self.valid_metric());
                let report = EpochReport { candidate, epoch, epochs, train_loss, valid_loss, best_epoch, metric };
                if monitor(&report).is_break() {
                    ended = Ended::Interrupted;
                    break;
                }
            }
            match self.stopping.next(epoch) {
                Next::GoOn => {}
                Next::TakeUpBest => {
                    self.take_up_best(together, &mut gradient);
                    batch_loss = None;
                }
                Next::End => {
                    ended = Ended::Patience;
                    break;
                }
            }
            if epoch < epochs {
                batch_loss = self.epoch(epoch as u64, together, &mut gradient);
            }
        }
        if history.is_empty() {
            return Err(Error::training("the loss was not a finite number from the start")
                .remedy("look for extreme values in features and targets, or lower the learning rate"));
        }
        let fitted = self.finish(ended, history);
        if !fitted.model.parameters().is_finite() {
            return Err(Error::training("the model's weights are too large for 32-bit numbers")
                .remedy("give the target in a larger unit, so that its values become smaller"));
        }
        Ok(fitted)
    }

    /// Takes up the best weights again and leaves their gradient.
    fn take_up_best(&mut self, together: bool, gradient: &mut [f32]) {
        self.parameters.copy_from(&self.best);
        self.state = OptimiserState::new(&self.parameters);
        self.engine.tables(&self.parameters, together);
        self.train_loss(Some(gradient));
    }

    /// One epoch of steps. Returns the mean loss over mini-batches, where there are any.
    pub(super) fn epoch(&mut self, epoch: u64, together: bool, gradient: &mut [f32]) -> Option<f64> {
        let outputs = self.settled.architecture.outputs;
        let Some(batch) = self.settled.batch else {
            if !together {
                self.engine.draw_masks(&self.parameters, self.settled.dropout, self.training.seed, self.state.steps);
                self.engine.tables(&self.parameters, true);
                self.train_loss(Some(gradient));
            }
            let step = self.step();
            if self.centre.is_empty() {
                self.engine.gradients(&mut self.train.rows, gradient);
            } else {
                self.engine.centred_gradients(&mut self.train.rows, gradient);
            }
            self.engine.step_along(&self.train.rows, &mut self.parameters, &mut self.state, step);
            self.projection.apply(&mut self.parameters);
            return None;
        };
        let mut order: Vec<usize> = (0..self.train.positions.len()).collect();
        Stream::named(self.training.seed, "batches", epoch).shuffle(&mut order);
        let (mut loss, mut count) = (0.0, 0.0);
        for items in order.chunks(batch) {
            let mut rows = self.engine.batch(&self.train.rows, &self.train.positions, items);
            let goals = self.train.goals.select(items);
            self.engine.draw_masks(&self.parameters, self.settled.dropout, self.training.seed, self.state.steps);
            self.engine.tables(&self.parameters, true);
            let (out, gradient) =
                (&mut self.train.outputs[..items.len() * outputs], &mut gradient[..items.len() * outputs]);
            self.engine.outputs(&mut rows, out);
            add_output_bias(out, &self.parameters.output_bias);
            loss += self.settled.loss.evaluate(out, &goals, Some(gradient)) * items.len() as f64;
            count += items.len() as f64;
            let step = self.step();
            self.engine.step(&mut rows, gradient, &mut self.parameters, &mut self.state, step);
            self.projection.apply(&mut self.parameters);
        }
        Some(loss / count)
    }

    /// What is heard of every part of every training graph, part after part, with the parameters at hand.
    pub(super) fn heard(&mut self) -> Vec<f32> {
        self.engine.draw_masks(&self.parameters, 0.0, 0, 0);
        self.engine.tables(&self.parameters, false);
        self.engine.outputs(&mut self.train.rows, &mut self.train.outputs);
        self.train.rows.readout_inputs().to_vec()
    }

    fn step(&self) -> StepSettings {
        StepSettings { group_penalty: self.group_penalty, ..self.settled.step(self.stopping.rate()) }
    }

    pub(super) fn train_loss(&mut self, gradient: Option<&mut [f32]>) -> f64 {
        self.engine.outputs(&mut self.train.rows, &mut self.train.outputs);
        if !self.centre.is_empty() {
            self.centre = column_means(&self.train.outputs, self.centre.len());
        }
        part_loss(self.settled, &self.parameters, &self.centre, &mut self.train, gradient)
    }

    pub(super) fn valid_loss(&mut self) -> f64 {
        self.engine.outputs(&mut self.valid.rows, &mut self.valid.outputs);
        part_loss(self.settled, &self.parameters, &self.centre, &mut self.valid, None)
    }

    /// What was taken out of the outputs while training belongs to the output bias.
    pub(super) fn fold_centre(&mut self) {
        if !self.centre.is_empty() {
            self.engine.tables(&self.parameters, false);
            self.train_loss(None);
            self.parameters.output_bias.iter_mut().zip(&self.centre).for_each(|(bias, mean)| *bias -= mean);
        }
    }

    /// The chief metric on the validation part, from the outputs last computed.
    pub(super) fn valid_metric(&self) -> Option<(&'static str, f64)> {
        if self.valid.data.is_empty() {
            return None;
        }
        let mut own_units = self.valid.outputs.clone();
        self.scale.restore(&mut own_units);
        let scored =
            Scored { outcome: self.settled.outcome, width: self.settled.architecture.outputs, outputs: &own_units };
        score(&scored, self.valid.data.targets(), self.valid.data.items()).chief()
    }
}

/// The loss of the outputs of a part, as the engine left them.
fn part_loss(
    settled: &Settled,
    parameters: &Parameters,
    centre: &[f32],
    part: &mut PartState,
    gradient: Option<&mut [f32]>,
) -> f64 {
    let mut bias = parameters.output_bias.clone();
    bias.iter_mut().zip(centre).for_each(|(bias, mean)| *bias -= mean);
    add_output_bias(&mut part.outputs, &bias);
    settled.loss.evaluate(&part.outputs, &part.goals, gradient)
}

pub(super) fn add_output_bias(outputs: &mut [f32], bias: &[f32]) {
    for row in outputs.chunks_exact_mut(bias.len()) {
        row.iter_mut().zip(bias).for_each(|(y, b)| *y += b);
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

pub(super) fn learn_features(training: &Training, shape: ShapeKind, train: &Dataset) -> Vec<FeatureSchema> {
    let mut graph_of_node = vec![u32::MAX; train.node_count()];
    for graph in train.graphs() {
        train.sources_of(graph).for_each(|node| graph_of_node[node] = graph as u32);
    }
    let learn = |feature: &Feature| {
        let mut schema = FeatureSchema::learn(feature, &graph_of_node, train.task());
        schema.rules = training.rules_of(&schema.name);
        if shape == ShapeKind::Spline {
            schema.learn_spline(feature, &graph_of_node);
        }
        schema
    };
    train.features().iter().map(learn).collect()
}

/// How many receivers hear something from each distance; a link is not among those it hears.
fn heard_receivers(statistics: &Statistics, train: &Dataset) -> Result<Vec<f64>> {
    let mut receivers = statistics.receivers(&statistics.rows_of(train)?);
    if train.links().is_some() {
        (0..statistics.axis().lenses()).for_each(|lens| receivers[statistics.axis().range(lens).start] = 0.0);
    }
    Ok(receivers)
}

pub(super) fn source_gain(train: &Dataset) -> f32 {
    let nodes = train.items().iter().map(|item| train.nodes_of(*item as usize).len());
    if train.task() == Task::Node { 1.0 } else { gain_of(train.len(), nodes.sum()) }
}

/// A graph's output is a sum over its nodes: divided by their mean number, graphs of any size train alike.
pub(super) fn gain_of(graphs: usize, nodes: usize) -> f32 {
    (graphs as f64 / nodes.max(1) as f64) as f32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An immense learning rate, which the settings would refuse, spoils every weight in the first step.
    #[test]
    fn training_that_diverges_keeps_the_last_good_model() {
        let data = Dataset::open("solubility").unwrap();
        let split = data.given_split(0, 0).unwrap();
        let training = Training { hidden: 16, ..Training::default() };
        let mut settled = training.settle(&split.train, data.outcome().unwrap(), false, Rho::Shared).unwrap();
        settled.learning_rate = f32::MAX;
        let everything = split.train.union(&split.valid);
        let fit = Fit::new(&training, &settled, &Prepared::new(&everything, &training), &split.train, &split.valid);
        let fitted = fit.unwrap().run("", &mut |_| ControlFlow::Continue(())).unwrap();
        assert_eq!(fitted.ended, Ended::Diverged);
        let record = &fitted.model.description().record;
        assert_eq!((record.best_epoch, record.ended.as_str()), (0, "the loss was no longer finite"));
        let model = Model::from_bytes(&fitted.model.to_bytes().unwrap()).unwrap();
        assert!(model.outputs_on(&split.test).unwrap().values.iter().all(|y| y.is_finite()));
    }
}
