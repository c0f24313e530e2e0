//! Resolving a specification: every option that it leaves to the data is given a value.

use crate::dataset::{Dataset, Outcome};
use crate::error::{Error, Result};
use crate::files::Task;
use crate::lens::Lens;
use crate::model::{Definition, Rho, StepSettings, TargetSchema, output_count};
use crate::shape::{Adam, ShapeKind};
use crate::spec::{
    EPOCHS, FEW_LABELS_WEIGHT_DECAY, FitMethod, GRAPH_LEARNING_RATE, GRAPH_PATIENCE_FACTOR, GRAPH_WEIGHT_DECAY,
    LEARNING_RATE, LogitChoice, Loss, MOST_PAIRS_PER_FEATURE, NODE_WEIGHT_DECAY, OPTIONS, PATIENCE, PoolChoice,
    RhoChoice, SMOOTH, Spec, Stage, WELL_LABELLED,
};

/// A specification that was checked against data, with the values of all options that were left to them.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ResolvedSpec {
    /// The specification with these values filled in.
    pub spec: Spec,
    pub outcome: Outcome,
    pub rho: Rho,
    pub outputs: usize,
    pub shape: ShapeKind,
    pub rho_shape: ShapeKind,
    pub smooth: f64,
    pub output_bias: bool,
    pub loss: Loss,
    pub learning_rate: f32,
    pub weight_decay: f32,
    pub dropout: f32,
    pub batch: Option<usize>,
    pub epochs: usize,
    pub patience: usize,
}

impl ResolvedSpec {
    /// The specification with which a model was trained, for full batches.
    ///
    /// Mini-batches take many small steps per epoch; a model trained by them is repeated with the usual rate and limits
    /// of full batches. So is whatever an older model file does not record.
    pub(crate) fn of_model(definition: &Definition) -> Result<ResolvedSpec> {
        let Definition { learned, record, .. } = definition;
        let mut spec = record.resolved.clone();
        let graphs = learned.task == Task::Graph;
        if spec.fit.batch.take().is_some() {
            (spec.fit.learning_rate, spec.fit.epochs, spec.fit.patience) = (None, None, None);
        }
        spec.model.output_bias.get_or_insert(learned.outcome.is_regression() || graphs);
        spec.fit.epochs.get_or_insert(usual_limit(EPOCHS, graphs));
        spec.fit.patience.get_or_insert(usual_limit(PATIENCE, graphs));
        spec.fit.learning_rate.get_or_insert(usual_rate(graphs));
        let unknown =
            || Error::input("the model file does not record how the model was trained").with_remedy("train it again");
        let mut fit_options = OPTIONS.iter().filter(|option| option.stage == Stage::Fit);
        if fit_options.any(|option| option.check(&spec).is_err()) {
            return Err(unknown());
        }
        let shapes = [learned.shape, definition.rho_shape()];
        ResolvedSpec::filled(spec, learned.outcome, learned.rho, learned.outputs, shapes).ok_or_else(unknown)
    }

    /// A specification in which nothing is left to the data; what its shape and distance functions are made of is given, too.
    fn filled(
        spec: Spec,
        outcome: Outcome,
        rho: Rho,
        outputs: usize,
        [shape, rho_shape]: [ShapeKind; 2],
    ) -> Option<ResolvedSpec> {
        Some(ResolvedSpec {
            outcome,
            rho,
            outputs,
            shape,
            rho_shape,
            smooth: spec.fit.smooth.unwrap_or(0.0),
            output_bias: spec.model.output_bias?,
            loss: spec.fit.loss?,
            learning_rate: spec.fit.learning_rate? as f32,
            weight_decay: spec.fit.weight_decay? as f32,
            dropout: spec.fit.dropout as f32,
            batch: spec.fit.batch,
            epochs: spec.fit.epochs?,
            patience: spec.fit.patience?,
            spec,
        })
    }

    /// The settings of a step at this learning rate.
    pub(crate) fn step(&self, learning_rate: f32) -> StepSettings {
        let adam = Adam { learning_rate, weight_decay: self.weight_decay, ..Adam::default() };
        StepSettings { adam, output_bias: self.output_bias, group_penalty: 0.0 }
    }

    /// What distinguishes it from other resolutions of the same specification, in words.
    pub(super) fn name(&self) -> String {
        let rho = match self.rho {
            Rho::Shared => "shared rho",
            Rho::PerFeature => "rho per feature",
            Rho::Grouped => "rho per group of features",
        };
        match (self.outcome, self.outputs) {
            (Outcome::Binary, 1) => format!("{rho}, one logit"),
            (Outcome::Binary, _) => format!("{rho}, two logits"),
            _ => rho.to_owned(),
        }
    }
}

fn usual_rate(graphs: bool) -> f64 {
    if graphs { GRAPH_LEARNING_RATE } else { LEARNING_RATE }
}

fn usual_limit(limit: usize, graphs_in_one_batch: bool) -> usize {
    if graphs_in_one_batch { GRAPH_PATIENCE_FACTOR * limit } else { limit }
}

impl Spec {
    /// Every resolution that is to be tried on these training items; the lowest validation loss decides.
    pub(crate) fn resolutions(&self, train: &Dataset) -> Result<Vec<ResolvedSpec>> {
        let outcome = train.outcome()?;
        let mut resolutions = Vec::new();
        for rho in self.rho_candidates(train) {
            for two_logits in self.logit_candidates(outcome, rho) {
                resolutions.push(self.resolve(train, outcome, two_logits, rho)?);
            }
        }
        Ok(resolutions)
    }

    /// Gives every option that is left to the data its value.
    fn resolve(&self, train: &Dataset, outcome: Outcome, two_logits: bool, rho: Rho) -> Result<ResolvedSpec> {
        let regression = outcome.is_regression();
        let loss = self.fit.loss.unwrap_or_else(|| Loss::usual(outcome, two_logits));
        if regression != matches!(loss, Loss::Squared | Loss::Absolute) {
            return Err(Error::usage(format!("the {} loss does not fit these targets", loss.name()))
                .with_remedy("squared and absolute are for numbers; leave the loss out for classes"));
        }
        let targets: Vec<_> = train.targets().iter().map(|target| TargetSchema::of(target, train.items())).collect();
        let batch = self.fit.batch.filter(|batch| *batch < train.len());
        let graphs = train.task() == Task::Graph;
        let in_one_batch = graphs && batch.is_none();
        let (shape, rho_shape) = (self.resolved_shape(), self.resolved_rho_shape());
        let splines = [shape, rho_shape].contains(&ShapeKind::Spline);
        let smooth = || self.fit.smooth.unwrap_or(SMOOTH / train.len().max(1) as f64);
        let mut spec = self.clone();
        spec.data = train.spec().clone();
        spec.model.rho = rho.choice();
        spec.model.logits =
            (outcome == Outcome::Binary).then_some(if two_logits { LogitChoice::Two } else { LogitChoice::One });
        if spec.distances.pool == PoolChoice::Auto {
            spec.distances.pool = PoolChoice::Sum;
        }
        spec.statistics.normalise = Some(self.statistics.normalises());
        (spec.model.shape, spec.model.rho_shape) = (Some(shape), Some(rho_shape));
        spec.model.output_bias.get_or_insert(regression || graphs || self.model.scale_shells);
        spec.fit.smooth = splines.then(smooth);
        spec.fit.learning_rate.get_or_insert_with(|| usual_rate(graphs));
        spec.fit.weight_decay.get_or_insert_with(|| usual_weight_decay(train));
        spec.fit.epochs.get_or_insert_with(|| usual_limit(EPOCHS, in_one_batch));
        spec.fit.patience.get_or_insert_with(|| usual_limit(PATIENCE, in_one_batch));
        (spec.fit.loss, spec.fit.batch) = (Some(loss), batch);
        let outputs = output_count(outcome, &targets, two_logits);
        let filled = ResolvedSpec::filled(spec, outcome, rho, outputs, [shape, rho_shape]);
        Ok(filled.expect("every option that is left to the data was given a value"))
    }

    /// The distance functions to try.
    fn rho_candidates(&self, train: &Dataset) -> Vec<Rho> {
        let by_data = || match train.task() {
            // Every node pair has every edge as a source: words by distances would be too many cells.
            _ if train.links().is_some() => Rho::Shared,
            // A distance function per feature takes a sweep over every receiver-source pair per feature.
            _ if self.statistics.shell_sample.is_some() || train.receiver_source_pairs() > MOST_PAIRS_PER_FEATURE => {
                Rho::Shared
            }
            Task::Graph => Rho::PerFeature,
            Task::Node if train.len() >= WELL_LABELLED => Rho::PerFeature,
            Task::Node => Rho::Shared,
        };
        match self.model.rho {
            _ if self.is_penalised() => vec![self.penalised_rho()],
            _ if !self.distances.rho_group.is_empty() => vec![Rho::Grouped],
            Some(RhoChoice::Shared) => vec![Rho::Shared],
            Some(RhoChoice::PerFeature) => vec![Rho::PerFeature],
            Some(RhoChoice::Auto) => vec![Rho::Shared, Rho::PerFeature],
            None => vec![by_data()],
        }
    }

    /// The distance functions of a penalised fit: one for every value, unless features share them.
    pub(super) fn penalised_rho(&self) -> Rho {
        match self.model.rho {
            _ if !self.distances.rho_group.is_empty() => Rho::Grouped,
            Some(RhoChoice::Shared) => Rho::Shared,
            _ => Rho::PerFeature,
        }
    }

    /// The numbers of logits to try (true: two).
    fn logit_candidates(&self, outcome: Outcome, rho: Rho) -> Vec<bool> {
        match (outcome, self.model.logits) {
            _ if self.is_penalised() => vec![false],
            (Outcome::Binary, Some(LogitChoice::Auto)) => vec![false, true],
            (Outcome::Binary, Some(LogitChoice::Two)) => vec![true],
            // Of the difference of two logits nothing can be promised.
            (Outcome::Binary, None) => vec![rho == Rho::Shared && !self.promises()],
            _ => vec![false],
        }
    }

    /// Whether the model is fitted by penalised likelihood.
    pub(crate) fn is_penalised(&self) -> bool {
        self.fit.method == FitMethod::Penalised
    }

    /// Whether anything is promised of a shape function.
    pub(crate) fn promises(&self) -> bool {
        self.model.constrain.iter().any(|rules| rules.rules.promise())
    }

    /// What shape functions are made of: rules need splines.
    pub(super) fn resolved_shape(&self) -> ShapeKind {
        let networks = self.model.constrain.is_empty() && !self.is_penalised();
        let by_rules = if networks { ShapeKind::Network } else { ShapeKind::Spline };
        self.model.shape.unwrap_or(by_rules)
    }

    /// What distance functions are made of: those that serve a promise, or keep one, are splines.
    pub(super) fn resolved_rho_shape(&self) -> ShapeKind {
        let ruled = self.model.rho_monotone || self.promises() || self.is_penalised();
        self.model.rho_shape.unwrap_or(if ruled { ShapeKind::Spline } else { ShapeKind::Network })
    }

    /// The ways in which distance is measured.
    pub(crate) fn lenses(&self) -> Vec<Lens> {
        Lens::of(&self.distances)
    }
}

impl Loss {
    /// The usual loss for an outcome.
    pub fn usual(outcome: Outcome, two_logits: bool) -> Loss {
        match outcome {
            Outcome::Binary if !two_logits => Loss::Logistic,
            Outcome::Binary | Outcome::Multiclass => Loss::CrossEntropy,
            Outcome::MultiLabel => Loss::Logistic,
            Outcome::Regression | Outcome::MultiRegression => Loss::Squared,
        }
    }
}

/// L2 by the amount of data: few labels need much.
fn usual_weight_decay(train: &Dataset) -> f64 {
    match train.task() {
        Task::Graph => GRAPH_WEIGHT_DECAY / train.len().max(1) as f64,
        Task::Node if train.len() < WELL_LABELLED => FEW_LABELS_WEIGHT_DECAY,
        Task::Node => NODE_WEIGHT_DECAY,
    }
}
