//! What can be chosen about training. Defaults are those of [`Training`], here as everywhere.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use gnan::model::FeatureRules;
use gnan::shape::ShapeKind;
use gnan::statistics::{DistanceCache, KnotChoice};
use gnan::train::{LogitChoice, Loss, RhoChoice, Selection};
use gnan::{Error, Training};
use serde::Serialize;

use super::heading::{MODEL, TRAINING};
use super::hearing_args::HearingArgs;

/// How many distance functions the model has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RhoArg {
    /// One for all features
    Shared,
    /// One per feature
    PerFeature,
    /// Both are trained, the better on validation data is kept
    Auto,
}

/// How many logits a task of two classes has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LogitsArg {
    /// One: log-odds
    One,
    /// Two: softmax
    Two,
    /// Both are trained, the better on validation data is kept
    Auto,
}

/// What a function is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ShapeArg {
    /// A ReLU network
    Network,
    /// A B-spline: smooth, and quick to train
    Spline,
}

impl From<ShapeArg> for ShapeKind {
    fn from(shape: ShapeArg) -> ShapeKind {
        match shape {
            ShapeArg::Network => ShapeKind::Network,
            ShapeArg::Spline => ShapeKind::Spline,
        }
    }
}

/// What a regression minimises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum LossArg {
    /// Squared error
    Squared,
    /// Absolute error
    Absolute,
}

/// Everything that can be chosen about a model and its training.
#[derive(Args, Clone, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct TrainingArgs {
    /// Distance functions: one for all features or one each [default: one each for graphs and from 1,000 labelled nodes, one for links, samples of shells, very large graphs and else]
    #[arg(long, value_name = "shared|per-feature|auto", hide_possible_values = true, help_heading = MODEL)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho: Option<RhoArg>,

    /// Logits of a task of two classes [default: two with a shared rho, else one]
    #[arg(long, value_name = "one|two|auto", hide_possible_values = true, help_heading = MODEL)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logits: Option<LogitsArg>,

    /// Layers of each shape network, 1 to 5
    #[arg(long, value_name = "N", default_value_t = Training::default().layers, help_heading = MODEL)]
    pub layers: usize,

    /// Width of their hidden layers, a multiple of 16
    #[arg(long, value_name = "N", default_value_t = Training::default().hidden, help_heading = MODEL)]
    pub hidden: usize,

    /// What shape functions are made of [default: network, or spline where --constrain needs it]
    #[arg(long, value_name = "network|spline", hide_possible_values = true, help_heading = MODEL)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shape: Option<ShapeArg>,

    /// What distance functions are made of [default: network, or spline where a constraint needs it]
    #[arg(long, value_name = "network|spline", hide_possible_values = true, help_heading = MODEL)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rho_shape: Option<ShapeArg>,

    /// What a feature must keep to, certified in the model: up, down, convex, concave, bounded B (one source never counts for
    /// more), smooth X; repeat for several features
    #[arg(long, value_name = "\"FEATURE: RULE, ...\"", help_heading = MODEL)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub constrain: Vec<FeatureRules>,

    /// Distance functions never rise with distance and are never negative; unreachable counts as farthest
    #[arg(long, help_heading = MODEL)]
    pub rho_monotone: bool,

    /// What is heard from how far.
    #[command(flatten)]
    #[serde(flatten)]
    pub hearing: HearingArgs,

    /// Graphs: a function more between what is heard of each feature and the outputs; explained in two stages
    #[arg(long, help_heading = MODEL)]
    pub readout: bool,
    /// So many pairs of features of one node, each with a value per cell of their grid: those that explain most of what
    /// the additive model leaves
    #[arg(long, value_name = "N", default_value_t = Training::default().pairs, help_heading = MODEL)]
    pub pairs: usize,

    /// A pair by name: "a,b"; may be repeated
    #[arg(long, value_name = "A,B", value_parser = pair, help_heading = MODEL)]
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pair: Vec<[String; 2]>,

    /// Let large shells count as easily as single nodes: rho is multiplied by the root of the usual number of nodes at
    /// each distance
    #[arg(long, help_heading = MODEL)]
    pub scale_shells: bool,

    /// Do without features that are of no use: a path over strengths of a penalty, judged on validation data; with a number,
    /// that strength alone
    #[arg(long, value_name = "X", num_args = 0..=1, require_equals = true, default_missing_value = "path", value_parser = selection, help_heading = MODEL)]
    #[serde(skip)]
    pub select: Option<Selection>,

    /// Do not divide by the number of nodes at each distance
    #[arg(long, help_heading = MODEL)]
    pub no_normalise: bool,

    /// Train an output bias [default: true for graphs and for regression]
    #[arg(long, value_name = "true|false", hide_possible_values = true, help_heading = MODEL)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_bias: Option<bool>,

    /// Numbers with more distinct values than this are trained on so many knots at quantiles, with lines between them: fast,
    /// an approximation that the model names; predictions are exact. auto: 256 above 10,000 values; off: every value
    #[arg(long, value_name = "auto|off|N", default_value_t = Training::default().knots, value_parser = bins, help_heading = TRAINING)]
    #[serde(serialize_with = "in_words")]
    pub bins: KnotChoice,

    /// Step size [default: 0.007 for graphs, 0.001 for nodes]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = TRAINING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub learning_rate: Option<f64>,

    /// Strength of L2 [default: 0.1 / number of graphs; for nodes 0.03 below 1,000 labels, else 0.0005]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = TRAINING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weight_decay: Option<f64>,

    /// Strength of the smoothness of splines [default: 2 / number of training items]
    #[arg(long, value_name = "X", allow_negative_numbers = true, help_heading = TRAINING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub smooth: Option<f64>,

    /// Dropout rate inside shape networks
    #[arg(long, value_name = "X", default_value_t = Training::default().dropout, allow_negative_numbers = true, help_heading = TRAINING)]
    pub dropout: f64,

    /// Most passes over the data [default: 3000 for graphs in one batch, else 1000]
    #[arg(long, value_name = "N", help_heading = TRAINING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub epochs: Option<usize>,

    /// Lower the step size, and in the end stop, after so many epochs without a better validation loss; 0: never
    /// [default: 300 for graphs in one batch, else 100]
    #[arg(long, value_name = "N", help_heading = TRAINING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub patience: Option<usize>,

    /// Items per step [default: all of them]
    #[arg(long, value_name = "N", help_heading = TRAINING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub batch: Option<usize>,

    /// Train a node task on N sources of every shell of a node, in place of all of them: for large graphs. The model
    /// that comes out predicts and explains with all of them
    #[arg(long, value_name = "N", help_heading = TRAINING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shell_sample: Option<u32>,

    /// Draw the sources of --shell-sample anew after so many epochs
    #[arg(long, value_name = "EPOCHS", default_value_t = Training::default().resample, help_heading = TRAINING)]
    pub resample: usize,

    /// Keep distances that do not fit in memory in this folder, for this run and the next ones on the same graph
    #[arg(long, value_name = "FOLDER", help_heading = TRAINING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache: Option<PathBuf>,

    /// What a regression minimises [default: squared]
    #[arg(long, value_name = "squared|absolute", hide_possible_values = true, help_heading = TRAINING)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossArg>,

    /// Weigh classes so that each counts the same
    #[arg(long, help_heading = TRAINING)]
    pub balance: bool,

    /// Seed of everything random
    #[arg(long, value_name = "N", default_value_t = Training::default().seed, allow_negative_numbers = true, help_heading = TRAINING)]
    pub seed: u64,
}

/// Two names with a comma between them, or the name that a pair has in tables and figures.
fn pair(words: &str) -> Result<[String; 2], String> {
    let parts = words.split_once(" × ").or_else(|| words.split_once(','));
    match parts.map(|(first, second)| [first, second].map(|name| name.trim().to_owned())) {
        Some(names) if names.iter().all(|name| !name.is_empty()) => Ok(names),
        _ => Err("two names with a comma between them are needed".to_owned()),
    }
}

fn bins(text: &str) -> Result<KnotChoice, String> {
    text.parse().map_err(|error: Error| error.to_string())
}

fn in_words<S: serde::Serializer>(value: &KnotChoice, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(value)
}

fn selection(text: &str) -> Result<Selection, String> {
    match text {
        "path" => Ok(Selection::Path),
        number => {
            number.parse().map(Selection::Strength).map_err(|_| "give a strength, or nothing for a path".to_owned())
        }
    }
}

impl TryFrom<&TrainingArgs> for Training {
    type Error = Error;

    fn try_from(args: &TrainingArgs) -> Result<Training, Error> {
        let mut training = Training {
            layers: args.layers,
            hidden: args.hidden,
            shape: args.shape.map(ShapeKind::from),
            rho_shape: args.rho_shape.map(ShapeKind::from),
            smooth: args.smooth,
            rules: args.constrain.clone(),
            rho_monotone: args.rho_monotone,
            rho: match args.rho {
                None => RhoChoice::default(),
                Some(RhoArg::Shared) => RhoChoice::Shared,
                Some(RhoArg::PerFeature) => RhoChoice::PerFeature,
                Some(RhoArg::Auto) => RhoChoice::Auto,
            },
            logits: match args.logits {
                None => LogitChoice::default(),
                Some(LogitsArg::One) => LogitChoice::One,
                Some(LogitsArg::Two) => LogitChoice::Two,
                Some(LogitsArg::Auto) => LogitChoice::Auto,
            },
            knots: args.bins,
            readout: args.readout,
            select: args.select.unwrap_or_default(),
            normalise: !args.no_normalise,
            output_bias: args.output_bias,
            pairs: args.pairs,
            named_pairs: args.pair.clone(),
            scale_shells: args.scale_shells,
            loss: args.loss.map(|loss| match loss {
                LossArg::Squared => Loss::Squared,
                LossArg::Absolute => Loss::Absolute,
            }),
            learning_rate: args.learning_rate,
            weight_decay: args.weight_decay,
            dropout: args.dropout,
            epochs: args.epochs,
            patience: args.patience,
            batch: args.batch,
            shell_sample: args.shell_sample,
            resample: args.resample,
            cache: args.cache.clone().map(DistanceCache::new),
            balance_classes: args.balance,
            seed: args.seed,
            ..Training::default()
        };
        args.hearing.apply(&mut training)?;
        Ok(training)
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;
    use gnan::statistics::knots;
    use gnan::train::settings as library;

    /// Help names the defaults that the library has.
    #[test]
    fn help_tells_the_true_defaults() {
        let command = crate::cli::Cli::command();
        let train = command.find_subcommand("train").expect("train");
        let help = |name: &str| {
            let argument = train.get_arguments().find(|argument| argument.get_long() == Some(name)).expect("argument");
            argument.get_help().expect("help").to_string()
        };
        let rate = format!("{} for graphs, {} for nodes", library::GRAPH_LEARNING_RATE, library::LEARNING_RATE);
        assert!(help("learning-rate").contains(&rate));
        let decay = format!(
            "{} / number of graphs; for nodes {} below 1,000 labels, else {}",
            library::GRAPH_WEIGHT_DECAY,
            library::FEW_LABELS_WEIGHT_DECAY,
            library::NODE_WEIGHT_DECAY
        );
        assert!(help("weight-decay").contains(&decay));
        assert!(help("smooth").contains(&format!("{} / number of training items", library::SMOOTH)));
        let longer = library::GRAPH_PATIENCE_FACTOR;
        let epochs = format!("{} for graphs in one batch, else {}", longer * library::EPOCHS, library::EPOCHS);
        assert!(help("epochs").contains(&epochs));
        let patience = format!("{} for graphs in one batch, else {}", longer * library::PATIENCE, library::PATIENCE);
        assert!(help("patience").contains(&patience));
        assert_eq!(library::WELL_LABELLED, 1000);
        assert_eq!((knots::USUAL_KNOTS, knots::MANY_VALUES), (256, 10_000));
    }
}
