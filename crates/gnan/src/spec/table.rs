//! The table of options. To add an option is to add a row here, and to use it.
//!
//! A row is: what it means (for help texts), its field and type, its default, how it is written, and then, where
//! they apply, the default in words (`usual`), what its values must satisfy (`must`, with advice for values that do not),
//! and whether a search may try it (`=> tried`).

use std::hash::{Hash, Hasher};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::bin_choice::{BinChoice, MANY_VALUES};
use super::choices::{
    CurveChoice, EdgeDirection, FamilyChoice, FitMethod, LevelChoice, LogitChoice, Loss, PoolChoice, RhoChoice,
    Selection, ShapeKind, TaskChoice,
};
use super::description::NodeDescription;
use super::distances::{EdgeTypes, FeatureHopCap, FeaturePairName, RhoGroup, WeightBins};
use super::option::{Form, SpecOption, Stage};
use super::rules::FeatureRules;
use super::value::OptionValue;
use crate::error::Error;

/// Default step size of node tasks.
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
/// A node task with at least this many training labels gets a distance function per feature by default.
pub const WELL_LABELLED: usize = 1000;
/// A node task with more receiver-source pairs than this gets a shared distance function by default.
pub const MOST_PAIRS_PER_FEATURE: u64 = 2_000_000_000;
/// Node pairs without a link for each pair with one.
pub const NEGATIVES: f64 = 1.0;

macro_rules! options {
    ($(
        $(#[$stage_meta:meta])*
        $stage:ident $stage_field:ident $Stage:ident {
            $(
                $(#[doc = $help:literal])+
                $name:literal $field:ident: $type:ty = $default:expr, $form:expr, $value_name:literal
                $(, usual $usual:expr)? $(, must $check:expr, $advice:literal)? $(=> $tried:ident)?;
            )*
        }
    )*) => {
        $(
            $(#[$stage_meta])*
            #[derive(Clone, Debug, Serialize, Deserialize)]
            #[serde(deny_unknown_fields, default)]
            pub struct $Stage { $( $(#[doc = $help])+ #[serde(rename = $name)] pub $field: $type, )* }

            impl Default for $Stage {
                fn default() -> $Stage {
                    $Stage { $( $field: $default, )* }
                }
            }

            impl PartialEq for $Stage {
                fn eq(&self, other: &$Stage) -> bool {
                    super::canonical(self) == super::canonical(other)
                }
            }

            impl Eq for $Stage {}

            impl Hash for $Stage {
                fn hash<H: Hasher>(&self, state: &mut H) {
                    super::canonical(self).hash(state);
                }
            }
        )*

        /// Everything that can be chosen about a model and its training. Floats are compared by their bits.
        ///
        /// ```
        /// use gnan::{Dataset, Spec};
        /// let data = Dataset::open("solubility")?;
        /// let model = Spec::default().hidden(16).epochs(5).seed(7).fit(&data)?;
        /// assert_eq!(model.spec().fit.seed, 7);
        /// # Ok::<(), gnan::Error>(())
        /// ```
        #[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(deny_unknown_fields, default)]
        pub struct Spec { $( $(#[$stage_meta])* pub $stage_field: $Stage, )* }

        impl Spec {
            $($(
                $(#[doc = $help])+
                pub fn $field(mut self, value: <$type as OptionValue>::Given) -> Spec {
                    self.$stage_field.$field = <$type as OptionValue>::given(value);
                    self
                }
            )*)*
        }

        /// Every option, in the order in which they are listed for people.
        pub static OPTIONS: &[SpecOption] = &[ $($( SpecOption {
            name: $name,
            stage: Stage::$stage,
            help: concat!($($help),+),
            form: $form,
            value_name: $value_name,
            tried: options!(@tried $($tried)?),
            usual: options!(@usual $($usual)?),
            set: |spec, texts| {
                spec.$stage_field.$field = match texts {
                    [] => $default,
                    texts => OptionValue::read($name, texts)?,
                };
                Ok(())
            },
            get: |spec| spec.$stage_field.$field.write(),
            check: |spec| {
                let _ = spec;
                $(
                    let value: &$type = &spec.$stage_field.$field;
                    let check: fn(&$type) -> bool = $check;
                    if !check(value) {
                        return Err(Error::usage(format!("{} cannot be {}", $name, value.write().join(",")))
                            .with_remedy($advice));
                    }
                )?
                Ok(())
            },
        }, )*)* ];
    };
    (@tried) => { false };
    (@tried tried) => { true };
    (@usual) => { None };
    (@usual $usual:expr) => { Some(|| $usual.to_string()) };
}

options! {
    /// How files are read and what their columns mean.
    Data data DataSpec {
        /// Column to predict; several with commas or by repeating
        "target" target: Vec<String> = Vec::new(), Form::List, "NAME", usual "the data's own";
        /// Whether numbers to be predicted are classes or quantities; or link: predict which nodes are joined
        "task" task: Option<TaskChoice> = None, Form::One, "classification|regression|link",
            usual "few distinct whole numbers are classes";
        /// Column with the weight of each graph (or labelled node) in training
        "weight" weight: Option<String> = None, Form::One, "NAME";
        /// Describe every node by the graph around it, as further features: degree, ring, triangles (each also with
        /// +label), environment (environment:2 takes in two edges); values of fewer than 5 training graphs (nodes, where
        /// nodes are predicted) count as rare, with environment@20 those of fewer than 20
        "describe" describe: Vec<NodeDescription> = Vec::new(), Form::List, "LIST" => tried;
        /// Whether edges have a direction, overruling the data
        "directed" directed: Option<bool> = None, Form::OneOr("true"), "true|false", usual "the data's own";
        /// Keep only the largest connected component of each graph
        "largest-component" largest_component: bool = false, Form::Switch, "true|false";
        /// Make the hydrogens of molecules atoms of their own
        "explicit-hydrogens" explicit_hydrogens: bool = false, Form::Switch, "true|false";
        /// Column that holds the SMILES
        "smiles-column" smiles_column: Option<String> = None, Form::One, "NAME", usual "smiles";
        /// Column that names the molecules of a table, or holds the ids of nodes
        "name-column" name_column: Option<String> = None, Form::One, "NAME",
            usual "name, id, Compound ID, title and the like";
        /// Refuse a table of molecules at the first row that cannot be read; otherwise such rows are left out and listed, if
        /// they are at most 5 %
        "strict" strict: bool = false, Form::Switch, "true|false";
        /// JSON file of splits that replace those of the data
        "splits" splits: Option<PathBuf> = None, Form::One, "FILE";
        /// With task link: node pairs without a link for each pair with one, drawn with the seed
        "negatives" negatives: Option<f64> = None, Form::One, "X", usual NEGATIVES,
            must |negatives| negatives.is_none_or(|negatives| negatives > 0.0 && negatives <= 1000.0),
            "it must be above 0 and at most 1000; 1 is usual";
        /// With task link: most node pairs that are used, linked or not; all other edges still count as sources
        "most-node-pairs" most_node_pairs: Option<usize> = None, Form::One, "N",
            usual "as many as have 500 million distances";
        /// With task link: whether node pairs have features of their own, computed without the link itself: common neighbours,
        /// distance, degrees, agreement of the ends
        "pair-features" pair_features: bool = true, Form::One, "true|false";
    }

    /// How distance is measured, and from which distances features count.
    Distances distances DistanceSpec {
        /// Nodes further away than K edges do not count
        "hop-cap" hop_cap: Option<usize> = None, Form::One, "K" => tried;
        /// All nodes K or more edges away form one shell, with one value of the distance function. This is another model, not
        /// an approximation of the usual one; on large graphs of small diameter it is much cheaper
        "far-from" far_from: Option<u16> = None, Form::One, "K",
            must |far| far.is_none_or(|far| (1..=1000).contains(&far)), "give a number of edges from 1 to 1000" => tried;
        /// Nodes without a path do not count: their distance function is 0
        "ignore-unreachable" ignore_unreachable: bool = false, Form::Switch, "true|false" => tried;
        /// How the nodes of a graph are pooled: sum, mean, or both with a distance function each; auto: what training items choose
        /// in a penalised fit, else sum
        "pool" pool: PoolChoice = PoolChoice::Auto, Form::One, "sum|mean|both|auto" => tried;
        /// Ways to follow directed edges, each with a distance function of its own: along,against,ignoring
        "direction" direction: Vec<EdgeDirection> = Vec::new(), Form::List, "WAYS", usual EdgeDirection::Along => tried;
        /// Edge types that a distance is counted over, joined by +; several sets give a distance function each:
        /// single,double+triple
        "edge-types" edge_types: Vec<EdgeTypes> = Vec::new(), Form::List, "SETS", usual "all" => tried;
        /// Distance is the sum of a column of the edges, cut into bins that end here: days=1,7,30
        "edge-weight" edge_weight: Option<WeightBins> = None, Form::One, "COLUMN=ENDS";
        /// Features that share a distance function: [NAME=]A,B (may be repeated)
        "rho-group" rho_group: Vec<RhoGroup> = Vec::new(), Form::Repeat, "FEATURES";
        /// Only a node's own value of these features counts, never another node's: no guilt by association
        "own-only" own_only: Vec<String> = Vec::new(), Form::List, "FEATURES" => tried;
        /// A node's own value of these features does not count, only those of other nodes
        "neighbours-only" neighbours_only: Vec<String> = Vec::new(), Form::List, "FEATURES" => tried;
        /// Hop caps of single features: FEATURE=K,...
        "hop-cap-of" hop_cap_of: Vec<FeatureHopCap> = Vec::new(), Form::List, "CAPS" => tried;
    }

    /// What is counted and summed up before training.
    Statistics statistics StatisticsSpec {
        /// Divide by the number of nodes at each distance
        "normalise" normalise: Option<bool> = None, Form::One, "true|false",
            usual "true, or what training items choose in a penalised fit of graphs" => tried;
        /// Numbers with more distinct values than this are trained on so many knots at quantiles, with lines between them:
        /// fast, an approximation that the model names; predictions are exact. auto: 256 above 10,000 values; off: every
        /// value
        "bins" bins: BinChoice = BinChoice::Auto, Form::One, "auto|off|N" => tried;
        /// With bins off: a network with more distinct values than this is evaluated at the ends of its linear pieces, which
        /// is exact and faster
        "pieces-above" pieces_above: usize = MANY_VALUES, Form::One, "N" => tried;
        /// Train a node task on N sources of every shell of a node, in place of all of them: for large graphs. The model
        /// predicts and explains with all of them
        "shell-sample" shell_sample: Option<u32> = None, Form::One, "N",
            must |size| size.is_none_or(|size| (1..=4096).contains(&size)), "choose 1 to 4096; 16 is usual" => tried;
    }

    /// What the model looks like.
    Model model ModelSpec {
        /// Distance functions (rho): one for all features, or one each
        "rho" rho: Option<RhoChoice> = None, Form::One, "shared|per-feature|auto",
            usual format!("one each for graphs and from {WELL_LABELLED} labelled nodes; shared for links, samples of shells, \
                very large graphs and else") => tried;
        /// Logits of a task of two classes
        "logits" logits: Option<LogitChoice> = None, Form::One, "one|two|auto",
            usual "two with a shared distance function, else one" => tried;
        /// Layers of each shape network
        "layers" layers: usize = 3, Form::One, "N", must |layers| (1..=5).contains(layers), "choose 1 to 5" => tried;
        /// Width of their hidden layers
        "hidden" hidden: usize = 64, Form::One, "N",
            must |hidden| *hidden > 0 && hidden.is_multiple_of(16) && *hidden <= 1024,
            "choose a multiple of 16, at most 1024" => tried;
        /// What shape functions are made of
        "shape" shape: Option<ShapeKind> = None, Form::One, "network|spline",
            usual "network, or spline where a constraint needs it" => tried;
        /// What distance functions are made of
        "rho-shape" rho_shape: Option<ShapeKind> = None, Form::One, "network|spline",
            usual "network, or spline where a constraint needs it" => tried;
        /// What the effect of a feature must satisfy, certified in the model: up, down, convex, concave, bounded B (one source
        /// never contributes more), smooth X; repeat for several features
        "constrain" constrain: Vec<FeatureRules> = Vec::new(), Form::Repeat, "\"FEATURE: RULE, ...\"";
        /// Distance functions never rise with distance and are never negative; unreachable counts as farthest
        "rho-monotone" rho_monotone: bool = false, Form::Switch, "true|false" => tried;
        /// Graphs: one more function between the sum over a graph of each feature's effects and the outputs; explained in two
        /// stages
        "readout" readout: bool = false, Form::Switch, "true|false" => tried;
        /// Number of feature pairs on one node, each with a value per cell of their grid: those that explain most of what
        /// the additive model leaves
        "feature-pairs" feature_pairs: usize = 0, Form::One, "N" => tried;
        /// A feature pair by name: "a,b"; may be repeated
        "feature-pair" feature_pair: Vec<FeaturePairName> = Vec::new(), Form::Repeat, "A,B";
        /// Scale the distance function by the square root of the usual number of nodes at each distance, so that large
        /// shells are as easy to learn from as single nodes
        "scale-shells" scale_shells: bool = false, Form::Switch, "true|false" => tried;
        /// Remove features that are of no use: in a penalised fit those whose effects the marginal likelihood shrinks to nothing, else
        /// by a path over strengths of a penalty, judged on validation items; with a number, that strength alone
        "select" select: Option<Selection> = None, Form::OneOr("path"), "X",
            must |select| !matches!(select, Some(Selection::Strength(x)) if !(*x > 0.0 && x.is_finite())),
            "it must be above 0; leave the number out for a path" => tried;
        /// Train an output bias
        "output-bias" output_bias: Option<bool> = None, Form::One, "true|false",
            usual "true for graphs and for regression" => tried;
    }

    /// How the model is fitted.
    Fit fit FitSpec {
        /// How the model is fitted: shape and distance functions by gradient descent, stopped by validation items; or an effect of
        /// its own for every value and distance (or values and distance functions that they share) by penalised likelihood, which has no
        /// seed and no step size; auto: penalised
        /// wherever it has all that is requested and is not too large
        "fit" method: FitMethod = FitMethod::Auto, Form::One, "auto|gradient|penalised" => tried;
        /// In a penalised fit, let the training items choose what is not given: pooling, means or sums over shells, the hop cap,
        /// smooth or linear curves, descriptions of nodes and the second level
        "choose" choose: bool = true, Form::One, "true|false" => tried;
        /// How rich a penalised model is: 1, effects of values at distances; 2, also curves over numbers that sum an item up (its
        /// size, counts, means over the nodes at a distance) and tables over two of them; auto: what training items choose
        "level" level: LevelChoice = LevelChoice::Auto, Form::One, "auto|1|2" => tried;
        /// In a penalised fit, the effects of a number over its values: smooth (cubic B-splines), or linear between knots at quantiles.
        /// Numbers of few distinct values have an effect for each of them. auto: smooth,
        /// but linear over numbers that sum up items, and where training items choose linear
        "curves" curves: CurveChoice = CurveChoice::Auto, Form::One, "auto|smooth|linear" => tried;
        /// In a penalised fit, what quantities are, given their features: normal, counts (poisson, or negative-binomial for counts that
        /// vary more) or positive quantities that vary in proportion to their mean (gamma); of counts and gamma quantities effects
        /// add up to the logarithm of the mean. auto: normal. Values known only as < or > a number count in a normal fit as what they are
        "family" family: FamilyChoice = FamilyChoice::Auto, Form::One, "auto|gaussian|poisson|negative-binomial|gamma" => tried;
        /// Step size
        "learning-rate" learning_rate: Option<f64> = None, Form::One, "X",
            usual format!("{GRAPH_LEARNING_RATE} for graphs, {LEARNING_RATE} for nodes"),
            must |rate| rate.is_none_or(|rate| rate > 0.0 && rate <= 1.0),
            "it must be above 0 and at most 1; 0.001 is usual" => tried;
        /// Strength of L2
        "weight-decay" weight_decay: Option<f64> = None, Form::One, "X",
            usual format!("{GRAPH_WEIGHT_DECAY} / number of graphs; for nodes {FEW_LABELS_WEIGHT_DECAY} below \
                {WELL_LABELLED} labels, else {NODE_WEIGHT_DECAY}"),
            must |decay| decay.is_none_or(|decay| (0.0..=10.0).contains(&decay)),
            "it must be from 0 to 10; 0.0005 is usual" => tried;
        /// Strength of the smoothness penalty of splines
        "smooth" smooth: Option<f64> = None, Form::One, "X",
            usual format!("{SMOOTH} / number of training items"),
            must |smooth| smooth.is_none_or(|smooth| (0.0..=1e6).contains(&smooth)),
            "it must be from 0 to 1000000; 0.001 is usual" => tried;
        /// Dropout rate inside shape networks
        "dropout" dropout: f64 = 0.0, Form::One, "X",
            must |rate| (0.0..1.0).contains(rate), "it must be from 0 to below 1" => tried;
        /// Most passes over the data
        "epochs" epochs: Option<usize> = None, Form::One, "N",
            usual format!("{} for graphs in one batch, else {EPOCHS}", GRAPH_PATIENCE_FACTOR * EPOCHS),
            must |epochs| *epochs != Some(0), "choose at least 1" => tried;
        /// Lower the step size, and in the end stop, after so many epochs without a better validation loss; 0: never
        "patience" patience: Option<usize> = None, Form::One, "N",
            usual format!("{} for graphs in one batch, else {PATIENCE}", GRAPH_PATIENCE_FACTOR * PATIENCE) => tried;
        /// Items per step
        "batch" batch: Option<usize> = None, Form::One, "N", usual "all of them",
            must |batch| *batch != Some(0), "choose at least 1, or leave it out for all at once" => tried;
        /// Draw the sources of a shell sample anew after so many epochs
        "resample" resample: usize = 50, Form::One, "EPOCHS",
            must |epochs| *epochs > 0, "give a number of epochs; 50 is usual" => tried;
        /// What a regression minimises
        "loss" loss: Option<Loss> = None, Form::One, "squared|absolute", usual Loss::Squared => tried;
        /// Weight classes so that each counts the same
        "balance" balance: bool = false, Form::Switch, "true|false" => tried;
        /// Seed of everything random
        "seed" seed: u64 = 0, Form::One, "N";
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spec::USUAL_KNOTS;

    #[test]
    fn names_are_those_of_the_fields_and_unique() {
        let json = serde_json::to_value(Spec::default()).unwrap();
        let fields = json.as_object().unwrap().values().flat_map(|stage| stage.as_object().unwrap().keys());
        let mut fields: Vec<&str> = fields.map(String::as_str).collect();
        let mut names: Vec<&str> = OPTIONS.iter().map(|option| option.name).collect();
        fields.sort_unstable();
        names.sort_unstable();
        assert_eq!(names, fields);
        names.dedup();
        assert_eq!(names.len(), OPTIONS.len());
    }

    #[test]
    fn help_states_the_constants() {
        let help = Spec::option("bins").unwrap().help;
        assert!(help.contains(&format!("auto: {USUAL_KNOTS} above 10,000 values")));
        assert_eq!(MANY_VALUES, 10_000);
    }
}
