//! The training loop: full batch or mini-batches, early stopping on validation loss, the best weights kept.

use std::ops::ControlFlow;
use std::sync::{Arc, OnceLock};

use crate::dataset::{Dataset, Feature, Outcome};
use crate::error::{Error, Result};
use crate::files::{Kind, Task};
use crate::metric::{Scored, score};
use crate::model::{
    Description, Engine, EngineModel, FeatureSchema, Layout, Model, OptimiserState, Parameters, Rho, RhoScale, Rows,
    StepSettings, TargetSchema, TrainingRecord,
};
use crate::random::Stream;
use crate::shape::Adam;
use crate::statistics::{Statistics, StatisticsOptions};

use super::settings::Settled;
use super::{Goals, Training};

/// Points kept of the loss history.
const HISTORY_POINTS: usize = 200;
/// When the validation loss stops improving, the best weights are taken up again at a rate lowered by this factor ...
const RATE_LOWERED_BY: f32 = 3.0;
/// ... until it is this much lower than at first; then training ends.
const RATE_LOWERED_TO: f32 = 8.0;
/// With fewer labelled items than this none are set aside for validation.
const LEAST_TO_HOLD_OUT: usize = 10;

/// What is known after an epoch.
#[derive(Clone, Debug)]
pub struct EpochReport<'a> {
    /// Which of the candidates is being trained ("rho per feature, one logit"); empty if there is one only.
    pub candidate: &'a str,
    /// Epochs done.
    pub epoch: usize,
    /// Limit on epochs.
    pub epochs: usize,
    /// Mean training loss.
    pub train_loss: f64,
    /// Mean validation loss; the training loss where nothing is set aside.
    pub valid_loss: f64,
    /// The best epoch so far.
    pub best_epoch: usize,
    /// The chief metric on the validation part.
    pub metric: Option<(&'static str, f64)>,
}

/// Watches training and may end it: return [`ControlFlow::Break`] to stop with the best model so far.
pub type Monitor<'a> = dyn FnMut(&EpochReport<'_>) -> ControlFlow<()> + Send + 'a;

/// Why training ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The limit on epochs was reached.
    Epochs,
    /// The validation loss did not improve for long enough.
    Patience,
    /// The monitor asked for it.
    Interrupted,
    /// The loss was no longer a finite number; the best model before that was kept.
    Diverged,
}

impl Ended {
    fn words(self) -> &'static str {
        match self {
            Ended::Epochs => "the limit on epochs was reached",
            Ended::Patience => "the validation loss stopped improving",
            Ended::Interrupted => "it was interrupted",
            Ended::Diverged => "the loss was no longer finite",
        }
    }
}

/// A trained model and how training went.
#[derive(Clone, Debug)]
pub struct Fitted {
    /// The model, with the best weights.
    pub model: Model,
    /// Why training ended.
    pub ended: Ended,
    /// The validation loss of the kept weights.
    pub valid_loss: f64,
    /// What was tried where there was a choice: (name, validation loss).
    pub tried: Vec<(String, f64)>,
}

/// A data set with its statistics, computed when first needed and shared by every fit on it.
pub struct Prepared {
    data: Dataset,
    normalise: bool,
    statistics: [OnceLock<Arc<Statistics>>; 2],
}

impl Prepared {
    /// Prepares the labelled items of `data`.
    pub fn new(data: &Dataset, training: &Training) -> Prepared {
        Prepared { data: data.labelled(), normalise: training.normalise, statistics: Default::default() }
    }

    /// The statistics for a shared rho or one per feature.
    pub fn statistics(&self, rho: Rho) -> Result<Arc<Statistics>> {
        let slot = &self.statistics[usize::from(rho == Rho::PerFeature)];
        if let Some(found) = slot.get() {
            return Ok(Arc::clone(found));
        }
        let options = StatisticsOptions { normalise: self.normalise, rho_per_feature: rho == Rho::PerFeature };
        let found = Arc::new(Statistics::new(&self.data, self.data.features(), options)?);
        Ok(Arc::clone(slot.get_or_init(|| found)))
    }
}

impl Training {
    /// Fits a model; 10 % of the items are set aside to know when to stop.
    pub fn fit(&self, data: &Dataset) -> Result<Model> {
        Ok(self.fit_watched(data, None, &mut |_| ControlFlow::Continue(()))?.model)
    }

    /// Fits a model on `train`, stops by `valid` (`None`: 10 % of `train`), and reports every epoch.
    pub fn fit_watched(&self, train: &Dataset, valid: Option<&Dataset>, monitor: &mut Monitor<'_>) -> Result<Fitted> {
        let everything = match valid {
            Some(valid) => train.union(valid),
            None => train.clone(),
        };
        self.fit_prepared(&Prepared::new(&everything, self), train, valid, monitor)
    }

    /// Fits on items whose statistics are prepared already.
    pub fn fit_prepared(
        &self,
        prepared: &Prepared,
        train: &Dataset,
        valid: Option<&Dataset>,
        monitor: &mut Monitor<'_>,
    ) -> Result<Fitted> {
        self.check()?;
        let train = train.labelled();
        if train.is_empty() {
            return Err(Error::input("there are no labelled items to train on"));
        }
        let outcome = train.outcome()?;
        let (train, valid) = match valid {
            Some(valid) => (train, valid.labelled()),
            None if train.len() < LEAST_TO_HOLD_OUT => (train.clone(), train.subset(&[])),
            None => train.hold_out(self.seed)?,
        };
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
        best.tried = tried;
        Ok(best)
    }
}

fn candidate_name(settled: &Settled) -> String {
    let rho = match settled.rho {
        Rho::Shared => "shared rho",
        Rho::PerFeature => "rho per feature",
    };
    match (settled.outcome, settled.two_logits) {
        (Outcome::Binary, false) => format!("{rho}, one logit"),
        (Outcome::Binary, true) => format!("{rho}, two logits"),
        _ => rho.to_owned(),
    }
}

/// How targets are brought to a common scale while training, and back into the parameters afterwards.
struct TargetScale {
    shift: Vec<f64>,
    scale: Vec<f64>,
}

impl TargetScale {
    /// Standardises quantities; classes stay as they are.
    fn new(train: &Dataset, settled: &Settled) -> TargetScale {
        let width = train.targets().len();
        let mut scale = TargetScale { shift: vec![0.0; width], scale: vec![1.0; width] };
        if !settled.outcome.is_regression() {
            return scale;
        }
        for (k, target) in train.targets().iter().enumerate() {
            let known: Vec<f64> =
                train.items().iter().map(|item| target.values[*item as usize]).filter(|t| !t.is_nan()).collect();
            let count = known.len().max(1) as f64;
            let mean = known.iter().sum::<f64>() / count;
            let centre = if settled.output_bias { mean } else { 0.0 };
            let spread = (known.iter().map(|t| (t - centre).powi(2)).sum::<f64>() / count).sqrt();
            scale.shift[k] = centre;
            scale.scale[k] = if spread.is_finite() && spread > 0.0 { spread } else { 1.0 };
        }
        scale
    }

    fn goals(&self, part: &Dataset, class_weights: &[f64], item_weights: Option<&[f32]>) -> Goals {
        let width = part.targets().len();
        let mut values = Vec::with_capacity(part.len() * width);
        for item in part.items() {
            for (k, target) in part.targets().iter().enumerate() {
                values.push(((target.values[*item as usize] - self.shift[k]) / self.scale[k]) as f32);
            }
        }
        let weights = match item_weights {
            Some(weights) => part.items().iter().map(|item| weights[*item as usize]).collect(),
            None => vec![1.0; part.len()],
        };
        Goals::new(width, values, weights, class_weights.to_vec())
    }
}

/// One part of the data during training.
struct PartState {
    data: Dataset,
    positions: Vec<usize>,
    rows: Rows,
    goals: Goals,
    outputs: Vec<f32>,
}

/// One fit: one architecture, one choice of rho and logits.
struct Fit<'a> {
    training: &'a Training,
    settled: &'a Settled,
    features: Vec<FeatureSchema>,
    scale: TargetScale,
    gain: f32,
    receivers: Vec<f64>,
    engine: Engine,
    parameters: Parameters,
    state: OptimiserState,
    /// The learning rate, lowered when the validation loss stops improving.
    rate: f32,
    train: PartState,
    valid: PartState,
}

impl<'a> Fit<'a> {
    fn new(
        training: &'a Training,
        settled: &'a Settled,
        prepared: &Prepared,
        train: &Dataset,
        valid: &Dataset,
    ) -> Result<Fit<'a>> {
        let statistics = prepared.statistics(settled.rho)?;
        let features = learn_features(train.features(), train);
        let layout = Layout::new(&features, settled.rho);
        let gain = source_gain(train);
        let model = EngineModel {
            features: &features,
            architecture: settled.architecture,
            rho: settled.rho,
            rho_scale: RhoScale::default(),
            hop_cap: training.hop_cap,
        };
        let engine = Engine::new(model, Arc::clone(&statistics), gain);
        let parameters = Parameters::random(&layout, settled.architecture, training.seed);
        let scale = TargetScale::new(train, settled);
        if let Some(weights) = &training.item_weights {
            check_weights(weights, train)?;
        }
        let class_weights = if training.balance_classes { class_weights(train, settled.outcome) } else { Vec::new() };
        let part = |data: &Dataset, repeated: bool| -> Result<PartState> {
            let positions = statistics.rows_of(data)?;
            let rows = engine.rows(&positions, repeated);
            let goals = scale.goals(data, &class_weights, training.item_weights.as_deref());
            let outputs = vec![0.0; positions.len() * settled.architecture.outputs];
            Ok(PartState { data: data.clone(), positions, rows, goals, outputs })
        };
        let (train, valid) = (part(train, settled.batch.is_none())?, part(valid, false)?);
        Ok(Fit {
            training,
            settled,
            receivers: statistics.receivers(&train.positions),
            state: OptimiserState::new(&parameters),
            rate: settled.learning_rate,
            features,
            scale,
            gain,
            engine,
            parameters,
            train,
            valid,
        })
    }

    fn run(mut self, candidate: &str, monitor: &mut Monitor<'_>) -> Result<Fitted> {
        let epochs = self.settled.epochs;
        let outputs = self.settled.architecture.outputs;
        let mut gradient = vec![0.0; self.train.outputs.len()];
        let mut best = (f64::INFINITY, 0, self.parameters.clone());
        let mut history: Vec<(usize, f64, f64)> = Vec::new();
        let together = self.settled.batch.is_none() && self.settled.dropout == 0.0;
        let mut batch_loss = None;
        let mut ended = Ended::Epochs;
        let mut lowered = 0;
        for epoch in 0..=epochs {
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
            if valid_loss < best.0 {
                best.0 = valid_loss;
                best.1 = epoch;
                best.2.copy_from(&self.parameters);
            }
            if epoch > 0 {
                let metric = self.valid_metric(outputs);
                let report =
                    EpochReport { candidate, epoch, epochs, train_loss, valid_loss, best_epoch: best.1, metric };
                if monitor(&report).is_break() {
                    ended = Ended::Interrupted;
                    break;
                }
            }
            if self.settled.patience > 0 && epoch - best.1.max(lowered) >= self.settled.patience {
                if self.rate <= self.settled.learning_rate / RATE_LOWERED_TO {
                    ended = Ended::Patience;
                    break;
                }
                self.rate /= RATE_LOWERED_BY;
                self.parameters.copy_from(&best.2);
                self.state = OptimiserState::new(&self.parameters);
                lowered = epoch;
                batch_loss = None;
                self.engine.tables(&self.parameters, together);
                self.train_loss(Some(&mut gradient));
            }
            if epoch < epochs {
                batch_loss = self.epoch(epoch as u64, together, &mut gradient);
            }
        }
        if history.is_empty() {
            return Err(Error::training("the loss was not a finite number from the start")
                .remedy("look for extreme values in features and targets, or lower the learning rate"));
        }
        self.parameters = best.2;
        let fitted = self.finish(best.0, best.1, ended, history);
        if !fitted.model.parameters().is_finite() {
            return Err(Error::training("the model's weights are too large for 32-bit numbers")
                .remedy("give the target in a larger unit, so that its values become smaller"));
        }
        Ok(fitted)
    }

    /// One epoch of steps. Returns the mean loss over mini-batches, where there are any.
    fn epoch(&mut self, epoch: u64, together: bool, gradient: &mut [f32]) -> Option<f64> {
        let outputs = self.settled.architecture.outputs;
        let Some(batch) = self.settled.batch else {
            if !together {
                self.engine.draw_masks(&self.parameters, self.settled.dropout, self.training.seed, self.state.steps);
                self.engine.tables(&self.parameters, true);
                self.train_loss(Some(gradient));
            }
            let step = self.step();
            self.engine.step(&mut self.train.rows, gradient, &mut self.parameters, &mut self.state, step);
            return None;
        };
        let mut order: Vec<usize> = (0..self.train.positions.len()).collect();
        Stream::named(self.training.seed, "batches", epoch).shuffle(&mut order);
        let (mut loss, mut count) = (0.0, 0.0);
        for items in order.chunks(batch) {
            let positions: Vec<usize> = items.iter().map(|item| self.train.positions[*item]).collect();
            let mut rows = self.engine.rows(&positions, false);
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
        }
        Some(loss / count)
    }

    fn step(&self) -> StepSettings {
        StepSettings {
            adam: Adam { learning_rate: self.rate, weight_decay: self.settled.weight_decay, ..Adam::default() },
            output_bias: self.settled.output_bias,
        }
    }

    fn train_loss(&mut self, gradient: Option<&mut [f32]>) -> f64 {
        part_loss(&self.engine, self.settled, &self.parameters, &mut self.train, gradient)
    }

    fn valid_loss(&mut self) -> f64 {
        part_loss(&self.engine, self.settled, &self.parameters, &mut self.valid, None)
    }

    /// The chief metric on the validation part, from the outputs last computed.
    fn valid_metric(&self, outputs: usize) -> Option<(&'static str, f64)> {
        if self.valid.data.is_empty() {
            return None;
        }
        let mut own_units = self.valid.outputs.clone();
        if self.settled.outcome.is_regression() {
            for row in own_units.chunks_exact_mut(outputs) {
                for ((y, shift), scale) in row.iter_mut().zip(&self.scale.shift).zip(&self.scale.scale) {
                    *y = (f64::from(*y) * scale + shift) as f32;
                }
            }
        }
        let scored = Scored { outcome: self.settled.outcome, width: outputs, outputs: &own_units };
        score(&scored, self.valid.data.targets(), self.valid.data.items()).chief()
    }

    /// Folds gain and target scale into the parameters and writes the description.
    fn finish(mut self, valid_loss: f64, best_epoch: usize, ended: Ended, history: Vec<(usize, f64, f64)>) -> Fitted {
        let outputs = self.settled.architecture.outputs;
        let scale = |c: usize| self.scale.scale.get(c).copied().filter(|_| self.settled.outcome.is_regression());
        let gains: Vec<f32> = (0..outputs).map(|c| (f64::from(self.gain) * scale(c).unwrap_or(1.0)) as f32).collect();
        self.learn_mean_effects(&gains);
        self.parameters.scale_sources(&gains);
        if self.settled.outcome.is_regression() {
            for (c, bias) in self.parameters.output_bias.iter_mut().enumerate() {
                *bias = (f64::from(*bias) * self.scale.scale[c] + self.scale.shift[c]) as f32;
            }
        }
        let data = &self.train.data;
        let epochs = history.last().map_or(0, |last| last.0);
        let record = TrainingRecord {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            data: data.name().to_owned(),
            train_items: data.len(),
            valid_items: self.valid.data.len(),
            nodes: data.graphs().into_iter().map(|graph| data.nodes_of(graph).len()).sum(),
            seed: self.training.seed,
            learning_rate: f64::from(self.settled.learning_rate),
            weight_decay: f64::from(self.settled.weight_decay),
            dropout: self.training.dropout,
            batch: self.settled.batch.unwrap_or(0),
            loss: self.settled.loss.name().to_owned(),
            epochs,
            best_epoch,
            ended: ended.words().to_owned(),
            history: thin(history),
        };
        let description = Description {
            task: data.task(),
            outcome: self.settled.outcome,
            directed: data.directed(),
            rho: self.settled.rho,
            rho_scale: RhoScale::default(),
            normalise: self.training.normalise,
            hop_cap: self.training.hop_cap,
            architecture: self.settled.architecture,
            features: self.features,
            targets: data.targets().iter().map(TargetSchema::of).collect(),
            receivers: self.receivers,
            record,
        };
        Fitted { model: Model::from_parts(description, self.parameters), ended, valid_loss, tried: Vec::new() }
    }
}

/// Leaves the mean of every continuous shape function over the training nodes in the schema.
impl Fit<'_> {
    fn learn_mean_effects(&mut self, gains: &[f32]) {
        let outputs = gains.len();
        self.engine.tables(&self.parameters, false);
        let levels = self.engine.statistics().levels();
        let mut sums = vec![vec![0.0; outputs]; self.features.len()];
        let mut nodes = 0.0;
        for graph in self.train.data.graphs() {
            for node in self.train.data.nodes_of(graph) {
                nodes += 1.0;
                for unit in levels.of_node(node) {
                    let Some(feature) = levels.feature_of(*unit) else { continue };
                    let said = &self.engine.table()[*unit as usize * outputs..][..outputs];
                    sums[feature].iter_mut().zip(said).for_each(|(sum, said)| *sum += f64::from(*said));
                }
            }
        }
        let continuous = self.features.iter_mut().zip(sums).filter(|(feature, _)| feature.kind == Kind::Continuous);
        for (feature, sums) in continuous {
            let means = sums.iter().zip(gains).map(|(sum, gain)| sum * f64::from(*gain) / f64::max(nodes, 1.0));
            feature.mean_effect = means.collect();
        }
    }
}

fn part_loss(
    engine: &Engine,
    settled: &Settled,
    parameters: &Parameters,
    part: &mut PartState,
    gradient: Option<&mut [f32]>,
) -> f64 {
    engine.outputs(&mut part.rows, &mut part.outputs);
    add_output_bias(&mut part.outputs, &parameters.output_bias);
    settled.loss.evaluate(&part.outputs, &part.goals, gradient)
}

fn add_output_bias(outputs: &mut [f32], bias: &[f32]) {
    for row in outputs.chunks_exact_mut(bias.len()) {
        row.iter_mut().zip(bias).for_each(|(y, b)| *y += b);
    }
}

fn learn_features(features: &[Feature], train: &Dataset) -> Vec<FeatureSchema> {
    let mut graph_of_node = vec![u32::MAX; train.node_count()];
    for graph in train.graphs() {
        train.nodes_of(graph).for_each(|node| graph_of_node[node] = graph as u32);
    }
    features.iter().map(|feature| FeatureSchema::learn(feature, &graph_of_node)).collect()
}

/// A graph's output is a sum over its nodes: divided by their mean number, graphs of any size train alike.
fn source_gain(train: &Dataset) -> f32 {
    if train.task() == Task::Node {
        return 1.0;
    }
    let nodes: usize = train.items().iter().map(|graph| train.nodes_of(*graph as usize).len()).sum();
    (train.len() as f64 / nodes.max(1) as f64) as f32
}

fn check_weights(weights: &[f32], train: &Dataset) -> Result<()> {
    let items = train.items().iter().map(|item| weights.get(*item as usize));
    for weight in items {
        match weight {
            Some(weight) if weight.is_finite() && *weight >= 0.0 => {}
            _ => return Err(Error::usage("every item needs a weight that is a finite number, 0 or more")),
        }
    }
    Ok(())
}

/// Weights that make every class count the same in training.
fn class_weights(train: &Dataset, outcome: Outcome) -> Vec<f64> {
    if !matches!(outcome, Outcome::Binary | Outcome::Multiclass) {
        return Vec::new();
    }
    let target = &train.targets()[0];
    let mut counts = vec![0.0f64; target.classes.as_ref().map_or(0, Vec::len)];
    train.items().iter().for_each(|item| counts[target.values[*item as usize] as usize] += 1.0);
    let present = counts.iter().filter(|count| **count > 0.0).count() as f64;
    let total: f64 = counts.iter().sum();
    counts.into_iter().map(|count| if count > 0.0 { total / (present * count) } else { 1.0 }).collect()
}

/// At most [`HISTORY_POINTS`] points, evenly spaced, the last one included.
fn thin(history: Vec<(usize, f64, f64)>) -> Vec<(usize, f64, f64)> {
    let every = history.len().div_ceil(HISTORY_POINTS).max(1);
    let last = history.len().saturating_sub(1);
    history.into_iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last).map(|(_, point)| point).collect()
}
