//! What can be chosen about training, with defaults that work untuned, checked once before any work starts.

use crate::dataset::{Dataset, Outcome};
use crate::error::{Error, Result};
use crate::files::Task;
use crate::lens::{Lens, Reach};
use crate::model::{Description, FeatureRules, Rho, StepSettings};
use crate::shape::{Adam, Architecture, ShapeKind};
use crate::statistics::knots::MANY_VALUES;
use crate::statistics::{DistanceCache, KnotChoice};

use super::Loss;

/// Default number of layers of every shape network.
pub const LAYERS: usize = 3;
/// Default width of the hidden layers.
pub const HIDDEN: usize = 64;
/// Default step size.
pub const LEARNING_RATE: f64 = 1e-3;
/// Default step size of graph tasks.
pub const GRAPH_LEARNING_RATE: f64 = 7e-3;
/// Default limit on epochs.
pub const EPOCHS: usize = 1000;
/// Default number of epochs without a better validation loss after which the learning rate is lowered, and in the end
/// training stops.
pub const PATIENCE: usize = 100;
/// Graph tasks in one batch take small, cheap steps: their default limits are this much longer.
pub const GRAPH_PATIENCE_FACTOR: usize = 3;
/// Default strength of L2 for a node task with few labels.
pub const FEW_LABELS_WEIGHT_DECAY: f64 = 3e-2;
/// Default strength of L2 for a well-labelled node task.
pub const NODE_WEIGHT_DECAY: f64 = 5e-4;
/// Default strength of L2 for a graph task, times the number of graphs.
pub const GRAPH_WEIGHT_DECAY: f64 = 0.1;
/// Default strength of the smoothness penalty of splines, times the number of items.
pub const SMOOTH: f64 = 2.0;
/// A node task with at least this many training labels gets a rho per feature by default.
pub const WELL_LABELLED: usize = 1000;
/// Default number of epochs after which the samples of shells are drawn anew.
pub const RESAMPLE: usize = 50;
/// Largest sample of a shell that is accepted.
const MOST_SAMPLED: u32 = 4096;
/// A node task with more pairs of a labelled node and another node than this gets a shared rho by default.
pub const MOST_PAIRS_PER_FEATURE: u64 = 2_000_000_000;
/// Widest hidden layer that is accepted.
const MOST_HIDDEN: usize = 1024;
/// Most layers that are accepted.
const MOST_LAYERS: usize = 5;

/// How many distance functions the model has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RhoChoice {
    /// Per feature for graph tasks and well-labelled node tasks, else shared.
    #[default]
    ByData,
    /// One for all features.
    Shared,
    /// One per feature.
    PerFeature,
    /// Both are trained; the lower validation loss wins.
    Auto,
}

/// How many logits a binary task has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LogitChoice {
    /// Two with a shared rho, one with a rho per feature.
    #[default]
    ByRho,
    /// One: log-odds.
    One,
    /// Two: one per class, softmax.
    Two,
    /// Both are trained; the lower validation loss wins.
    Auto,
}

/// Which features a model does without.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Selection {
    /// None.
    #[default]
    Off,
    /// Those that a path over strengths of a group penalty shows to be of no use on validation items.
    Path,
    /// Those that a group penalty of this strength switches off.
    Strength(f64),
}

/// Everything that can be chosen about training.
///
/// ```
/// use gnan::Training;
/// let training = Training::default().epochs(200).seed(42);
/// assert_eq!(training.epochs, Some(200));
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Training {
    /// Layers of every shape network, 1 to 5.
    pub layers: usize,
    /// Width of the hidden layers, a multiple of 16.
    pub hidden: usize,
    /// What shape functions are made of; `None`: networks, or splines where rules need them.
    pub shape: Option<ShapeKind>,
    /// What distance functions are made of; `None`: networks, or splines where rules need them.
    pub rho_shape: Option<ShapeKind>,
    /// Strength of the smoothness penalty of splines; `None`: by the amount of data.
    pub smooth: Option<f64>,
    /// What is asked of features.
    pub rules: Vec<FeatureRules>,
    /// Distance functions never rise with distance, and are never negative.
    pub rho_monotone: bool,
    /// How many distance functions.
    pub rho: RhoChoice,
    /// How many logits a binary task has.
    pub logits: LogitChoice,
    /// Which numeric features are trained on knots at quantiles of their values, with lines between them.
    pub knots: KnotChoice,
    /// Without knots, a network with more distinct values than this is asked piece by piece: two points for each of its
    /// pieces stand for all values there, exactly.
    pub pieces_above: usize,
    /// Put a readout function between what is heard of each feature in a graph and the outputs.
    pub readout: bool,
    /// Which features to do without.
    pub select: Selection,
    /// Divide by the number of nodes in a shell.
    pub normalise: bool,
    /// Train an output bias `b0`; `None`: for graph tasks and for regression.
    pub output_bias: Option<bool>,
    /// Rho is 0 beyond this distance.
    pub hop_cap: Option<usize>,
    /// Rho is 0 for unreachable nodes.
    pub silent_unreachable: bool,
    /// The ways in which distance is measured.
    pub lenses: Vec<Lens>,
    /// Groups of features that share a distance function, by name; with any, rho is grouped.
    pub rho_groups: Vec<(String, Vec<String>)>,
    /// Association rules: features by name, and the distances from which each is heard.
    pub associations: Vec<(String, Reach)>,
    /// Multiply rho at every distance by the root of a typical shell's size, so that the mean of a large shell, which
    /// differs little from node to node, counts as easily as one node.
    pub scale_shells: bool,
    /// The loss; `None`: the usual one for the targets.
    pub loss: Option<Loss>,
    /// Step size; `None`: by the task.
    pub learning_rate: Option<f64>,
    /// Strength of L2; `None`: by the amount of data.
    pub weight_decay: Option<f64>,
    /// Dropout rate inside shape networks.
    pub dropout: f64,
    /// Limit on epochs; `None`: by the task.
    pub epochs: Option<usize>,
    /// Epochs without a better validation loss after which the rate is lowered, and in the end training stops; 0: never.
    /// `None`: by the task.
    pub patience: Option<usize>,
    /// Items per step; `None`: all of them.
    pub batch: Option<usize>,
    /// Train a node task on so many sources of every shell, drawn anew now and then; `None`: on all of them.
    pub shell_sample: Option<u32>,
    /// Epochs after which sources are drawn anew.
    pub resample: usize,
    /// The folder in which distances are kept that do not fit in memory.
    pub cache: Option<DistanceCache>,
    /// Weigh classes so that each counts the same.
    pub balance_classes: bool,
    /// How many pairs of features the model is to have, the best by what the additive model leaves.
    pub pairs: usize,
    /// Pairs of features that the model is to have in any case.
    pub named_pairs: Vec<[String; 2]>,
    /// The seed of everything random.
    pub seed: u64,
}

impl Default for Training {
    fn default() -> Self {
        Training {
            layers: LAYERS,
            hidden: HIDDEN,
            shape: None,
            rho_shape: None,
            smooth: None,
            rules: Vec::new(),
            rho_monotone: false,
            rho: RhoChoice::default(),
            logits: LogitChoice::default(),
            knots: KnotChoice::default(),
            pieces_above: MANY_VALUES,
            readout: false,
            select: Selection::Off,
            normalise: true,
            output_bias: None,
            hop_cap: None,
            silent_unreachable: false,
            lenses: Lens::plain(),
            rho_groups: Vec::new(),
            associations: Vec::new(),
            scale_shells: false,
            loss: None,
            learning_rate: None,
            weight_decay: None,
            dropout: 0.0,
            epochs: None,
            patience: None,
            batch: None,
            shell_sample: None,
            resample: RESAMPLE,
            cache: None,
            balance_classes: false,
            pairs: 0,
            named_pairs: Vec::new(),
            seed: 0,
        }
    }
}

/// Settings that have been checked, with every choice made.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Settled {
    pub architecture: Architecture,
    pub shape: ShapeKind,
    pub rho_shape: ShapeKind,
    pub smooth: f64,
    pub rho_monotone: bool,
    pub outcome: Outcome,
    pub rho: Rho,
    pub two_logits: bool,
    pub output_bias: bool,
    pub loss: Loss,
    pub learning_rate: f32,
    pub weight_decay: f32,
    pub dropout: f32,
    pub batch: Option<usize>,
    pub epochs: usize,
    pub patience: usize,
}

impl Settled {
    /// The settings with which `description` was trained, for full batches.
    ///
    /// Mini-batches take many small steps per epoch; a model trained by them is repeated with the usual rate and limits
    /// of full batches. So is whatever an older model file does not say.
    pub(crate) fn of(description: &Description) -> Result<Settled> {
        let record = &description.record;
        let graphs = description.task == Task::Graph;
        let full_batch = record.batch == 0;
        let longer = if graphs { GRAPH_PATIENCE_FACTOR } else { 1 };
        let usual_rate = if graphs { GRAPH_LEARNING_RATE } else { LEARNING_RATE };
        let rate = if full_batch { record.learning_rate } else { usual_rate };
        let sensible = rate > 0.0 && rate <= 1.0 && record.weight_decay >= 0.0 && (0.0..1.0).contains(&record.dropout);
        let loss = Loss::named(&record.loss).filter(|_| sensible).ok_or_else(|| {
            Error::input("the model file does not say how the model was trained").remedy("train it again")
        })?;
        Ok(Settled {
            architecture: description.architecture,
            shape: description.shape,
            rho_shape: description.rho_shape(),
            smooth: record.smooth,
            rho_monotone: description.rho_monotone,
            outcome: description.outcome,
            rho: description.rho,
            two_logits: description.outcome == Outcome::Binary && description.architecture.outputs == 2,
            output_bias: record.output_bias.unwrap_or(description.outcome.is_regression() || graphs),
            loss,
            learning_rate: rate as f32,
            weight_decay: record.weight_decay as f32,
            dropout: record.dropout as f32,
            batch: None,
            epochs: record.epoch_limit.filter(|_| full_batch).unwrap_or(longer * EPOCHS),
            patience: record.patience.filter(|_| full_batch).unwrap_or(longer * PATIENCE),
        })
    }

    /// The settings of a step at this learning rate.
    pub(crate) fn step(&self, learning_rate: f32) -> StepSettings {
        let adam = Adam { learning_rate, weight_decay: self.weight_decay, ..Adam::default() };
        StepSettings { adam, output_bias: self.output_bias, group_penalty: 0.0 }
    }
}

impl Training {
    /// The limit on epochs.
    pub fn epochs(mut self, epochs: usize) -> Self {
        self.epochs = Some(epochs);
        self
    }

    /// The seed of everything random.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// How many distance functions the model has.
    pub fn rho(mut self, rho: RhoChoice) -> Self {
        self.rho = rho;
        self
    }

    /// How many logits a binary task has.
    pub fn logits(mut self, logits: LogitChoice) -> Self {
        self.logits = logits;
        self
    }

    /// Refuses values that make no sense.
    pub fn check(&self) -> Result<()> {
        let refuse = |what: String, remedy: &str| Err(Error::usage(what).remedy(remedy.to_owned()));
        if !(1..=MOST_LAYERS).contains(&self.layers) {
            return refuse(format!("{} layers", self.layers), "choose 1 to 5");
        }
        if self.hidden == 0 || !self.hidden.is_multiple_of(16) || self.hidden > MOST_HIDDEN {
            return refuse(format!("a hidden width of {}", self.hidden), "choose a multiple of 16, at most 1024");
        }
        if let Some(rate) = self.learning_rate
            && !(rate > 0.0 && rate <= 1.0)
        {
            return refuse(format!("a learning rate of {rate}"), "it must be above 0 and at most 1; 0.001 is usual");
        }
        if let Some(decay) = self.weight_decay
            && !(0.0..=10.0).contains(&decay)
        {
            return refuse(format!("a weight decay of {decay}"), "it must be from 0 to 10; 0.0005 is usual");
        }
        if let Some(size) = self.shell_sample.filter(|size| !(1..=MOST_SAMPLED).contains(size)) {
            return refuse(format!("a sample of {size} sources of every shell"), "choose 1 to 4096; 16 is usual");
        }
        if self.resample == 0 {
            return refuse(
                "samples drawn anew after 0 epochs".to_owned(),
                "give --resample a number of epochs; 50 is usual",
            );
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return refuse(format!("a dropout rate of {}", self.dropout), "it must be from 0 to below 1");
        }
        if self.dropout > 0.0 && [self.settled_shape(), self.settled_rho_shape()] == [ShapeKind::Spline; 2] {
            return refuse("dropout without networks".to_owned(), "leave it out: splines have no units to drop");
        }
        if let Some(smooth) = self.smooth
            && !(0.0..=1e6).contains(&smooth)
        {
            return refuse(format!("a smoothness of {smooth}"), "it must be from 0 to 1000000; 0.001 is usual");
        }
        self.knots.check()?;
        self.check_rules()?;
        if self.epochs == Some(0) {
            return refuse("0 epochs leave nothing learned".to_owned(), "choose at least 1");
        }
        if self.readout && (self.rules.iter().any(|rules| rules.rules.promise()) || self.rho_monotone) {
            return refuse(
                "a promise about predictions beside a readout, which stands between a feature and the prediction"
                    .to_owned(),
                "leave out the readout or the constraints",
            );
        }
        if let Selection::Strength(strength) = self.select
            && !(strength > 0.0 && strength.is_finite())
        {
            return refuse(
                format!("a selection of strength {strength}"),
                "it must be above 0; leave the number out for a path",
            );
        }
        Lens::check(&self.lenses)?;
        if !self.rho_groups.is_empty() && self.rho != RhoChoice::ByData {
            return refuse("groups of features beside another choice of rho".to_owned(), "leave --rho out");
        }
        if self.batch == Some(0) {
            return refuse("a batch of 0 items".to_owned(), "choose at least 1, or leave it out for all at once");
        }
        Ok(())
    }

    /// Makes every choice that the data decide.
    pub(crate) fn settle(&self, train: &Dataset, outcome: Outcome, two_logits: bool, rho: Rho) -> Result<Settled> {
        self.check()?;
        let regression = outcome.is_regression();
        let loss = self.loss.unwrap_or_else(|| Loss::usual(outcome, two_logits));
        if regression != matches!(loss, Loss::Squared | Loss::Absolute) {
            return Err(Error::usage(format!("the {} loss does not fit these targets", loss.name()))
                .remedy("squared and absolute are for numbers; leave the loss out for classes"));
        }
        if self.balance_classes && !matches!(outcome, Outcome::Binary | Outcome::Multiclass) {
            return Err(Error::usage("balancing classes needs one target with classes"));
        }
        if !matches!(self.logits, LogitChoice::ByRho) && outcome != Outcome::Binary {
            return Err(Error::usage("the number of logits is a choice for a target of two classes only"));
        }
        if self.scale_shells
            && !(train.task() == Task::Node && self.normalise && self.batch.is_none() && Lens::is_plain(&self.lenses))
        {
            return Err(Error::usage(
                "shells are scaled where nodes are predicted by plain distances, normalised, in one batch",
            )
            .remedy("leave the scaling of shells out"));
        }
        if self.scale_shells && self.output_bias == Some(false) {
            return Err(Error::usage("scaled shells need an output bias").remedy("leave it to the data"));
        }
        let targets: Vec<_> = train.targets().iter().map(crate::model::TargetSchema::of).collect();
        let outputs = crate::model::output_count(outcome, &targets, two_logits);
        let batch = self.batch.filter(|batch| *batch < train.len());
        let graphs = train.task() == Task::Graph;
        let longer = if graphs && batch.is_none() { GRAPH_PATIENCE_FACTOR } else { 1 };
        let usual_rate = if graphs { GRAPH_LEARNING_RATE } else { LEARNING_RATE };
        let (shape, rho_shape) = (self.settled_shape(), self.settled_rho_shape());
        let splines = [shape, rho_shape].contains(&ShapeKind::Spline);
        Ok(Settled {
            architecture: Architecture { layers: self.layers, hidden: self.hidden, outputs },
            shape,
            rho_shape,
            smooth: if splines { self.smooth.unwrap_or(SMOOTH / train.len().max(1) as f64) } else { 0.0 },
            rho_monotone: self.rho_monotone,
            outcome,
            rho,
            two_logits,
            output_bias: self.output_bias.unwrap_or(regression || graphs || self.scale_shells),
            loss,
            learning_rate: self.learning_rate.unwrap_or(usual_rate) as f32,
            weight_decay: self.weight_decay.unwrap_or_else(|| usual_weight_decay(train)) as f32,
            dropout: self.dropout as f32,
            batch,
            epochs: self.epochs.unwrap_or(longer * EPOCHS),
            patience: self.patience.unwrap_or(longer * PATIENCE),
        })
    }

    /// The distance functions to try.
    pub(crate) fn rho_candidates(&self, train: &Dataset) -> Vec<Rho> {
        match self.rho {
            _ if !self.rho_groups.is_empty() => vec![Rho::Grouped],
            RhoChoice::Shared => vec![Rho::Shared],
            RhoChoice::PerFeature => vec![Rho::PerFeature],
            RhoChoice::Auto => vec![Rho::Shared, Rho::PerFeature],
            // A pair hears every edge: words by distances would be too many cells.
            RhoChoice::ByData if train.links().is_some() => vec![Rho::Shared],
            // A rho per feature looks at every pair of receiver and source once per feature.
            RhoChoice::ByData
                if self.shell_sample.is_some() || train.receiver_source_pairs() > MOST_PAIRS_PER_FEATURE =>
            {
                vec![Rho::Shared]
            }
            RhoChoice::ByData if train.task() == Task::Graph || train.len() >= WELL_LABELLED => vec![Rho::PerFeature],
            RhoChoice::ByData => vec![Rho::Shared],
        }
    }

    /// The numbers of logits to try (true: two).
    pub(crate) fn logit_candidates(&self, outcome: Outcome, rho: Rho) -> Vec<bool> {
        match (outcome, self.logits) {
            (Outcome::Binary, LogitChoice::Auto) => vec![false, true],
            (Outcome::Binary, LogitChoice::Two) => vec![true],
            // Of the difference of two logits nothing can be promised.
            (Outcome::Binary, LogitChoice::ByRho) => vec![rho == Rho::Shared && !self.promises()],
            _ => vec![false],
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
