//! The model: a description of what was learned from which features, and the parameters that training found.

mod bank_specs;
mod certificate;
mod engine;
pub(crate) mod levels;
mod novelty;
mod parameters;
mod rules;
mod schema;

use std::borrow::Cow;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use bank_specs::BankSpecs;
pub use certificate::Certificate;
pub use engine::{Engine, EngineModel, ItemRows, OptimiserState, StepSettings};
pub use novelty::Novelty;
pub use parameters::{FeatureLayout, Layout, Parameters, Rho, RhoRow, RhoScale, shell_factor};
pub use rules::{Curvature, Direction, FeatureRules, Rules};
pub use schema::{FeatureSchema, Level, Scale, Support, TargetSchema, output_count};

use crate::dataset::{Dataset, Feature, LinkSchema, Outcome, Split};
use crate::error::Result;
use crate::files::Task;
use crate::lens::{DistanceAxis, Lens, Reach};
use crate::shape::{Architecture, Bank, Basis, ShapeKind};
use crate::statistics::{ChannelPlan, Statistics, StatisticsOptions};

/// Everything about a model except its parameters: what a model file says in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Whether it predicts graphs or nodes.
    pub task: Task,
    /// What it predicts.
    pub outcome: Outcome,
    /// What it remembers of its data where it predicts links: its nodes are pairs of nodes then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<LinkSchema>,
    /// Whether edges had a direction.
    pub directed: bool,
    /// Whether the hydrogens of molecules were atoms of their own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub explicit_hydrogens: bool,
    /// Whether only the largest component of each graph was kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub largest_component: bool,
    /// Shared or per feature.
    pub rho: Rho,
    /// How distances enter the rhos.
    pub rho_scale: RhoScale,
    /// What the shape functions are made of.
    #[serde(default, skip_serializing_if = "ShapeKind::is_network")]
    pub shape: ShapeKind,
    /// The knots of every rho, over `t = 1 / (1 + distance)`, where rhos are splines; else they are networks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rho_spline: Option<Basis>,
    /// Whether every rho was asked never to rise with distance and never to be negative.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub rho_monotone: bool,
    /// Whether a readout function stands between what is heard of each feature in a graph and the outputs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub readout: bool,
    /// Whether nothing is taken out of the features, because what they say is read by a readout function as it is.
    #[serde(skip)]
    pub uncentred: bool,
    /// Whether shells are normalised by their size.
    pub normalise: bool,
    /// Rho is 0 beyond this distance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hop_cap: Option<usize>,
    /// Whether rho is 0 for unreachable nodes.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub silent_unreachable: bool,
    /// The ways in which distance is measured.
    #[serde(default = "Lens::plain", skip_serializing_if = "is_plain")]
    pub lenses: Vec<Lens>,
    /// Number of slots of every lens in `receivers`; empty: there is one lens.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub slots: Vec<usize>,
    /// What rho is multiplied by at every distance, "unreachable" last; empty: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shell_scale: Vec<f64>,
    /// Size of the shape networks.
    pub architecture: Architecture,
    /// The features.
    pub features: Vec<FeatureSchema>,
    /// The targets.
    pub targets: Vec<TargetSchema>,
    /// How often each distance occurs in training: receivers that hear something from it (normalisation off: pairs),
    /// "unreachable" last.
    pub receivers: Vec<f64>,
    /// How training went.
    pub record: TrainingRecord,
    /// What the model promises, as it was checked when it was made.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub certificates: Vec<Certificate>,
}

/// How a model came about.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TrainingRecord {
    /// Version of the library.
    pub version: String,
    /// Name of the data set.
    pub data: String,
    /// Items fitted on.
    pub train_items: usize,
    /// Items used to stop.
    pub valid_items: usize,
    /// Nodes of the training graphs.
    pub nodes: usize,
    /// The seed.
    pub seed: u64,
    /// Step size.
    pub learning_rate: f64,
    /// Strength of L2.
    pub weight_decay: f64,
    /// Dropout rate.
    pub dropout: f64,
    /// Strength of the smoothness penalty of splines.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub smooth: f64,
    /// Items per step; 0 is all.
    pub batch: usize,
    /// Sources of every shell that a step saw; 0 is all.
    #[serde(default, skip_serializing_if = "is_none_sampled")]
    pub shell_sample: u32,
    /// How much such a sample moves an output, as a share of the spread of outputs over the items fitted on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sample_error: Option<f64>,
    /// Loss that was minimised.
    pub loss: String,
    /// Epochs run.
    pub epochs: usize,
    /// Epoch whose weights were kept.
    pub best_epoch: usize,
    /// Why training ended.
    pub ended: String,
    /// Training and validation loss after each epoch, thinned to at most 200 points: (epoch, train, valid).
    pub history: Vec<(usize, f64, f64)>,
    /// A checksum of the ids of the items fitted on, whatever their order; empty in files of before this was written down.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub items_checksum: String,
    /// Limit on epochs; `None` in files of before this was written down.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epoch_limit: Option<usize>,
    /// Epochs without a better validation loss after which the rate was lowered; `None` in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patience: Option<usize>,
    /// Whether an output bias was trained; `None` in older files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_bias: Option<bool>,
    /// Whether every class counted the same.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub balance_classes: bool,
    /// For every quantity that is a target, what was subtracted from it and what the rest was divided by while training.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub target_scale: Vec<(f64, f64)>,
    /// What was tried before this model was chosen, and the validation loss of each; empty where there was no choice.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tried: Vec<(String, f64)>,
    /// The path over strengths by which features were selected; empty where they were not.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub selection: Vec<SelectionStep>,
    /// The features that were removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<String>,
    /// How much each pair of features explains of what the additive model leaves, the best first; empty where none was
    /// looked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pairs: Vec<PairRank>,
}

/// How well a pair of features did among the candidates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PairRank {
    /// The two features.
    pub features: [String; 2],
    /// The share of what the additive model leaves that the pair explains, less what chance would explain.
    pub score: f64,
}

fn is_plain(lenses: &[Lens]) -> bool {
    Lens::is_plain(lenses)
}

fn is_none_sampled(sources: &u32) -> bool {
    *sources == 0
}

fn is_zero(number: &f64) -> bool {
    *number == 0.0
}

impl TrainingRecord {
    /// Whether a split has the very items that the model was fitted on and stopped by, as far as is written down.
    pub fn is_of(&self, split: &Split) -> bool {
        split.train.len() == self.train_items
            && split.valid.len() == self.valid_items
            && (self.items_checksum.is_empty() || self.items_checksum == split.train.items_checksum())
    }
}

/// What the output of a model before its readout is called.
pub const HEARD: &str = "heard";

/// A set of features on the path over strengths of the group penalty.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelectionStep {
    /// The strength that left them.
    pub strength: f64,
    /// How many they are.
    pub features: usize,
    /// The validation loss of a model of these features alone.
    pub valid_loss: f64,
    /// Its chief metric on the validation items.
    pub metric: Option<(String, f64)>,
}

/// A trained model.
#[derive(Clone, Debug)]
pub struct Model {
    description: Description,
    parameters: Parameters,
}

impl Model {
    /// A model from its parts, which must fit each other.
    pub fn from_parts(description: Description, parameters: Parameters) -> Model {
        Model { description, parameters }
    }

    /// The same model with a record of what was tried before it was chosen.
    pub fn chosen_among(mut self, tried: Vec<(String, f64)>) -> Model {
        self.description.record.tried = tried;
        self
    }

    /// The part of a model with a readout that stands before it: its only output is the sum of all that is heard in a
    /// graph, of every feature and of the structure. Nothing is centred, so that the contribution of a feature is what its
    /// readout function is given. `None` for a model without.
    pub fn before_readout(&self) -> Option<Model> {
        let Description { readout: true, .. } = self.description else { return None };
        let mut description = Description { readout: false, uncentred: true, ..self.description.clone() };
        description.outcome = Outcome::Regression;
        description.architecture.outputs = 1;
        description.targets = vec![TargetSchema { name: HEARD.to_owned(), unit: None, classes: None }];
        let mut parameters = self.parameters.clone();
        parameters.output_bias = vec![0.0];
        parameters.readouts = Bank::zeros(&description.bank_specs().readouts);
        Some(Model { description, parameters })
    }

    /// The same model with these certificates.
    pub fn with_certificates(mut self, certificates: Vec<Certificate>) -> Model {
        self.description.certificates = certificates;
        self
    }

    /// The same model with a record of how its features were selected, and which were removed.
    pub fn selected(mut self, path: Vec<SelectionStep>, removed: Vec<String>) -> Model {
        (self.description.record.selection, self.description.record.removed) = (path, removed);
        self
    }

    /// The same model with a record of how its pairs were found.
    pub fn with_pair_ranks(mut self, ranks: Vec<PairRank>) -> Model {
        self.description.record.pairs = ranks;
        self
    }

    /// What the model is.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The numbers that training found.
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.description.architecture.outputs
    }

    /// The features of `data` that the model uses, in its own order and kinds.
    pub fn features_of<'a>(&self, data: &'a Dataset) -> Result<Cow<'a, [Feature]>> {
        let known = |(feature, found): (&FeatureSchema, &Feature)| {
            let as_read = feature.description.is_none() && feature.pair.is_none();
            as_read && feature.name == found.name && feature.kind == found.kind
        };
        let own = &self.description.features;
        if own.len() == data.features().len() && own.iter().zip(data.features()).all(known) {
            return Ok(Cow::Borrowed(data.features()));
        }
        let mut found = Vec::with_capacity(self.description.features.len());
        for feature in &self.description.features {
            found.push(match &feature.pair {
                Some(pair) => pair.feature(&found)?,
                None => feature.find(data)?,
            });
        }
        Ok(Cow::Owned(found))
    }

    /// The statistics of `data` that the model needs.
    pub fn statistics(&self, data: &Dataset, features: &[Feature]) -> Result<Statistics> {
        let levels = self.levels(data, features)?;
        Statistics::with_levels(data, features, levels, self.description.statistics_options(), &[])
    }

    /// An engine that computes this model on `statistics`, tables evaluated.
    pub fn engine(&self, statistics: Arc<Statistics>) -> Engine {
        let mut engine = Engine::new(self.description.engine_model(), statistics, 1.0);
        engine.tables(&self.parameters, false);
        engine
    }
}

/// The reach of a model as a whole; a link does not hear itself.
pub(crate) fn model_reach(hop_cap: Option<usize>, silent_unreachable: bool, links: bool) -> Reach {
    let reach = match hop_cap {
        Some(cap) => Reach::up_to(cap),
        None => Reach { unreachable: !silent_unreachable, ..Reach::ALL },
    };
    if links { reach.and(Reach::OTHERS) } else { reach }
}

/// Which features are heard with one and the same rho, and so may share a channel; given the group and the association
/// rule of every feature. `None`: every feature has a rho of its own.
pub(crate) fn channel_plan<'a>(
    rho: Rho,
    features: impl Iterator<Item = (Option<&'a str>, Option<Reach>)>,
) -> Option<ChannelPlan> {
    if rho == Rho::PerFeature {
        return None;
    }
    let mut plan = ChannelPlan { bias: 0, features: Vec::new() };
    // The bias of a shared rho is heard as features without a rule are; else it has a rho of its own.
    let mut known: Vec<Option<(Option<&str>, Option<Reach>)>> =
        vec![if rho == Rho::Shared { Some((None, None)) } else { None }];
    for (group, reach) in features {
        let key = Some((if rho == Rho::Shared { None } else { group }, reach));
        let place = known.iter().position(|known| *known == key);
        plan.features.push(place.unwrap_or_else(|| {
            known.push(key);
            known.len() - 1
        }));
    }
    Some(plan)
}

impl Description {
    /// The parts that the engine needs.
    pub fn engine_model(&self) -> EngineModel<'_> {
        EngineModel {
            features: &self.features,
            architecture: Architecture { outputs: self.source_outputs(), ..self.architecture },
            readout: self.readout.then_some(self.architecture.outputs),
            uncentred: self.readout || self.uncentred,
            rho: self.rho,
            rho_scale: self.rho_scale,
            shape: self.shape,
            rho_spline: self.rho_spline.as_ref(),
            smooth: self.record.smooth,
            reach: self.reach(),
            shell_scale: &self.shell_scale,
            pieces_above: None,
        }
    }

    /// Number of outputs of a source: one for a readout, else those of the model.
    pub fn source_outputs(&self) -> usize {
        if self.readout { 1 } else { self.architecture.outputs }
    }

    /// The distances from which the model hears anything.
    pub fn reach(&self) -> Reach {
        model_reach(self.hop_cap, self.silent_unreachable, self.links.is_some())
    }

    /// Where the parameters of every feature are.
    pub fn layout(&self) -> Layout {
        Layout::new(&self.features, self.rho, self.reach(), self.lenses.len())
    }

    /// The distances that occurred in training.
    pub fn axis(&self) -> DistanceAxis {
        let lengths = if self.slots.is_empty() { vec![self.receivers.len()] } else { self.slots.clone() };
        let longest: Vec<usize> = lengths.into_iter().map(|slots| slots.saturating_sub(2)).collect();
        DistanceAxis::new(&self.lenses, &longest)
    }

    /// Which statistics the model needs.
    pub fn statistics_options(&self) -> StatisticsOptions {
        let heard = self.features.iter().map(|feature| (feature.rho_group.as_deref(), feature.reach));
        StatisticsOptions {
            normalise: self.normalise,
            lenses: self.lenses.clone(),
            channels: channel_plan(self.rho, heard),
            sample: None,
            cache: None,
        }
    }

    /// What the banks of the model hold.
    pub fn bank_specs(&self) -> BankSpecs {
        self.engine_model().bank_specs(&self.layout())
    }

    /// What the rhos are made of.
    pub fn rho_shape(&self) -> ShapeKind {
        if self.rho_spline.is_some() { ShapeKind::Spline } else { ShapeKind::Network }
    }

    /// Names of the outputs: classes, targets, or the positive class.
    pub fn output_names(&self) -> Vec<String> {
        let first_classes = || self.targets.first().and_then(|target| target.classes.clone()).unwrap_or_default();
        match self.outcome {
            Outcome::Binary if self.architecture.outputs == 1 => first_classes().into_iter().skip(1).collect(),
            Outcome::Binary | Outcome::Multiclass => first_classes(),
            _ => self.targets.iter().map(|target| target.name.clone()).collect(),
        }
    }

    /// Outputs, or parts of them, as they are shown: log-odds for two logits, centred over classes for a softmax, else as
    /// they are.
    pub fn shown(&self, values: &[f64]) -> Vec<f64> {
        let mut shown = Vec::new();
        self.show_into(values, &mut shown);
        shown
    }

    /// The same, into a list that is used again.
    pub(crate) fn show_into(&self, values: &[f64], shown: &mut Vec<f64>) {
        shown.clear();
        match (self.outcome, values) {
            (Outcome::Binary, [no, yes]) => shown.push(yes - no),
            (Outcome::Multiclass, values) => {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                shown.extend(values.iter().map(|value| value - mean));
            }
            _ => shown.extend_from_slice(values),
        }
    }

    /// Names of the outputs as they are shown.
    pub fn shown_names(&self) -> Vec<String> {
        let names = self.output_names();
        match self.outcome {
            Outcome::Binary => names.into_iter().rev().take(1).collect(),
            _ => names,
        }
    }

    /// The unit in which outputs and their parts are shown: log-odds, logits above the mean of the classes, or the unit of
    /// the target.
    pub fn shown_unit(&self) -> String {
        match self.outcome {
            Outcome::Binary | Outcome::MultiLabel => "log-odds".to_owned(),
            Outcome::Multiclass => "centred logit".to_owned(),
            Outcome::Regression => {
                let target = self.targets.first();
                target.map(|target| target.unit.as_ref().unwrap_or(&target.name).clone()).unwrap_or_default()
            }
            Outcome::MultiRegression => "units of the target".to_owned(),
        }
    }
}
