//! The definition of a model: everything but its parameters.
//!
//! A model is what was requested ([`Spec`]), what the data then decided ([`Learned`]), the parameters that training found,
//! and what happened on the way ([`Record`]).

use serde::{Deserialize, Serialize};

use super::bank_specs::BankSpecs;
use super::engine::EngineModel;
use super::parameters::{Layout, Rho, RhoScale};
use super::record::Record;
use super::schema::{FeatureSchema, TargetSchema};
use super::target_family::TargetFamily;
use super::training_nodes::Support;
use crate::dataset::{LinkSchema, Outcome};
use crate::files::Task;
use crate::lens::{DistanceAxis, Lens, Reach};
use crate::shape::{Architecture, Basis, ShapeKind};
use crate::spec::Spec;
use crate::statistics::{ChannelPlan, ShellWeighting, StatisticsRequest};

/// What training learned from the data besides the parameters, and what the data decided where the specification left it
/// open.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Learned {
    /// Whether it predicts graphs or nodes.
    pub task: Task,
    /// What it predicts.
    pub outcome: Outcome,
    /// The family of its targets, where outputs are logarithms of their means; else outputs are the means of quantities, or logits of
    /// classes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub target_family: Option<TargetFamily>,
    /// What it remembers of its data where it predicts links: its items are node pairs then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub links: Option<LinkSchema>,
    /// Whether edges had a direction.
    pub directed: bool,
    /// Shared, per feature or per group of features.
    pub rho: Rho,
    /// How distances enter the distance functions.
    pub rho_scale: RhoScale,
    /// What the shape functions are made of.
    pub shape: ShapeKind,
    /// The knots of every distance function, over `t = 1 / (1 + distance)`, where those are splines; else they are networks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rho_spline: Option<Basis>,
    /// Whether nothing is subtracted from the features' effects, because a readout function takes them as they are.
    #[serde(skip)]
    pub uncentred: bool,
    /// The ways in which distance is measured.
    pub lenses: Vec<Lens>,
    /// Number of slots of every lens in `receivers`.
    pub slots: Vec<usize>,
    /// What the distance function is multiplied by at every distance, "unreachable" last; empty: 1.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shell_scale: Vec<f64>,
    /// Number of outputs.
    pub outputs: usize,
    /// The features.
    pub features: Vec<FeatureSchema>,
    /// The targets.
    pub targets: Vec<TargetSchema>,
    /// How often each distance occurs in training: receivers with a source there (normalisation off: receiver-source
    /// pairs), "unreachable" last.
    pub receivers: Vec<f64>,
    /// How many training items have a receiver with a source at each distance, "unreachable" last.
    #[serde(default)]
    pub items_at: Vec<u64>,
    /// The average training item, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub average: Option<AverageItem>,
}

impl Learned {
    /// Outputs as values in the units of the targets, in place: those that are logarithms of means become means. Logits stay as they
    /// are.
    pub(crate) fn to_values(&self, outputs: &mut [f32]) {
        if let Some(family) = &self.target_family {
            outputs.iter_mut().for_each(|output| *output = family.mean(f64::from(*output)) as f32);
        }
    }

    /// The value in the unit of the target that an output stands for.
    pub fn value_of(&self, output: f64) -> f64 {
        self.target_family.as_ref().map_or(output, |family| family.mean(output))
    }

    /// Fills in the support in items, which files of earlier versions do not record: graphs with such a node, or all nodes that
    /// are such, labelled or not; receivers at a distance.
    pub(crate) fn count_items(&mut self) {
        let task = self.task;
        let fill =
            |support: &mut Support| support.items = if task == Task::Graph { support.graphs } else { support.nodes };
        for feature in &mut self.features {
            feature.levels.iter_mut().for_each(|level| fill(&mut level.support));
            feature.missing.iter_mut().for_each(fill);
            fill(&mut feature.support);
        }
        self.items_at = self.receivers.iter().map(|count| count.round() as u64).collect();
    }
}

/// Means over the training items, before anything is centred.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AverageItem {
    /// What every feature contributes, `[features][outputs]`.
    pub features: Vec<Vec<f64>>,
    /// The part of it that a receiver's own value contributes to its own output.
    pub own: Vec<Vec<f64>>,
    /// What the bias of a source contributes, per output.
    pub bias: Vec<f64>,
    /// What the structure curve is multiplied by in every slot.
    pub structure: Vec<f64>,
}

/// Everything about a model except its parameters.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// let definition = model.definition();
/// assert_eq!(definition.learned.features.len(), train.features().len());
/// assert_eq!(definition.shown_unit(), "log10 mol/L");
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Definition {
    /// What was requested.
    pub spec: Spec,
    /// What the data decided.
    pub learned: Learned,
    /// What happened.
    pub record: Record,
}

/// The distances from which anything counts; of a link, never its own.
pub(crate) fn model_reach(spec: &Spec, links: bool) -> Reach {
    let reach = match spec.distances.hop_cap {
        Some(cap) => Reach::up_to(cap),
        None => Reach { unreachable: !spec.distances.ignore_unreachable, ..Reach::ALL },
    };
    if links { reach.and(Reach::OTHERS) } else { reach }
}

/// Which features have one and the same distance function, and so may share a channel; given the group and the
/// association rule of every feature. `None`: every feature has a distance function of its own.
pub(crate) fn channel_plan<'a>(
    rho: Rho,
    features: impl Iterator<Item = (Option<&'a str>, Option<Reach>)>,
) -> Option<ChannelPlan> {
    if rho == Rho::PerFeature {
        return None;
    }
    let mut plan = ChannelPlan { bias: 0, features: Vec::new() };
    // With a shared function the bias counts as features without a rule do; else it has a function of its own.
    let mut known: Vec<Option<(Option<&str>, Option<Reach>)>> =
        vec![if rho == Rho::Shared { Some((None, None)) } else { None }];
    for (group, reach) in features {
        let key = Some((if rho == Rho::Shared { None } else { group }, reach));
        let channel = known.iter().position(|known| *known == key);
        plan.features.push(channel.unwrap_or_else(|| {
            known.push(key);
            known.len() - 1
        }));
    }
    Some(plan)
}

impl Definition {
    /// The parts that the engine needs.
    #[doc(hidden)]
    pub fn engine_model(&self) -> EngineModel<'_> {
        let Learned { features, rho, rho_scale, shape, rho_spline, shell_scale, uncentred, .. } = &self.learned;
        let readout = self.spec.model.readout;
        EngineModel {
            features,
            architecture: Architecture { outputs: self.source_outputs(), ..self.architecture() },
            readout: readout.then_some(self.learned.outputs),
            uncentred: readout || *uncentred,
            rho: *rho,
            rho_scale: *rho_scale,
            shape: *shape,
            rho_spline: rho_spline.as_ref(),
            smooth: self.smooth(),
            reach: self.reach(),
            shell_scale,
            pieces_above: None,
        }
    }

    /// Size of the shape networks.
    #[doc(hidden)]
    pub fn architecture(&self) -> Architecture {
        let model = &self.spec.model;
        Architecture { layers: model.layers, hidden: model.hidden, outputs: self.learned.outputs }
    }

    /// Strength of the smoothness penalty of splines.
    pub fn smooth(&self) -> f64 {
        self.record.resolved.fit.smooth.unwrap_or(0.0)
    }

    /// Number of outputs of a source: one for a readout, else those of the model.
    pub fn source_outputs(&self) -> usize {
        if self.spec.model.readout { 1 } else { self.learned.outputs }
    }

    /// The distances from which anything counts.
    #[doc(hidden)]
    pub fn reach(&self) -> Reach {
        model_reach(&self.spec, self.learned.links.is_some())
    }

    /// Where the parameters of every feature are.
    #[doc(hidden)]
    pub fn layout(&self) -> Layout {
        Layout::new(&self.learned.features, self.learned.rho, self.reach(), self.learned.lenses.len())
    }

    /// The distances that occurred in training.
    #[doc(hidden)]
    pub fn axis(&self) -> DistanceAxis {
        let longest: Vec<usize> = self.learned.slots.iter().map(|slots| slots.saturating_sub(2)).collect();
        DistanceAxis::new(&self.learned.lenses, &longest)
    }

    /// Which statistics the model needs.
    #[doc(hidden)]
    pub fn statistics_request(&self) -> StatisticsRequest {
        let features = self.learned.features.iter().map(|feature| (feature.rho_group.as_deref(), feature.reach));
        StatisticsRequest {
            weighting: ShellWeighting::of(&self.spec.statistics),
            lenses: self.learned.lenses.clone(),
            channels: channel_plan(self.learned.rho, features),
            in_cells: self.learned.features.iter().any(|feature| feature.effect_knots.is_some()),
            sample: None,
            farthest: self.spec.distances.hop_cap,
        }
    }

    /// What the banks of the model hold.
    #[doc(hidden)]
    pub fn bank_specs(&self) -> BankSpecs {
        self.engine_model().bank_specs(&self.layout())
    }

    /// What the distance functions are made of.
    pub fn rho_shape(&self) -> ShapeKind {
        if self.learned.rho_spline.is_some() { ShapeKind::Spline } else { ShapeKind::Network }
    }

    /// The classes of the first target; none of a quantity.
    pub(crate) fn classes(&self) -> &[String] {
        self.learned.targets.first().and_then(|target| target.classes.as_deref()).unwrap_or_default()
    }

    /// Names of the outputs: classes, targets, or the positive class.
    pub fn output_names(&self) -> Vec<String> {
        let Learned { outcome, targets, outputs, .. } = &self.learned;
        match outcome {
            Outcome::Binary if *outputs == 1 => self.classes().iter().skip(1).cloned().collect(),
            Outcome::Binary | Outcome::Multiclass => self.classes().to_vec(),
            _ => targets.iter().map(|target| target.name.clone()).collect(),
        }
    }

    /// Outputs, or contributions to them, as they are shown: log-odds for two logits, centred over classes for a softmax,
    /// else as they are.
    pub fn shown(&self, values: &[f64]) -> Vec<f64> {
        let mut shown = Vec::new();
        self.show_into(values, &mut shown);
        shown
    }

    /// The same, into a list that is used again.
    pub(crate) fn show_into(&self, values: &[f64], shown: &mut Vec<f64>) {
        shown.clear();
        match (self.learned.outcome, values) {
            (Outcome::Binary, [no, yes]) => shown.push(yes - no),
            (Outcome::Multiclass, values) => {
                let mean = values.iter().sum::<f64>() / values.len() as f64;
                shown.extend(values.iter().map(|value| value - mean));
            }
            _ => shown.extend_from_slice(values),
        }
    }

    /// Whether outputs are shown as they are: then effects are products of a shape function and a distance function. Log-odds
    /// of two logits and logits centred over classes are differences of such products.
    pub fn shows_own_outputs(&self) -> bool {
        self.learned.outputs == 1 || matches!(self.learned.outcome, Outcome::MultiLabel | Outcome::MultiRegression)
    }

    /// Names of the outputs as they are shown.
    pub fn shown_names(&self) -> Vec<String> {
        let names = self.output_names();
        match self.learned.outcome {
            Outcome::Binary => names.into_iter().rev().take(1).collect(),
            _ => names,
        }
    }

    /// The unit in which outputs and contributions are shown: log-odds, logits above the mean of the classes, the unit of
    /// the target, or its logarithm.
    pub fn shown_unit(&self) -> String {
        let unit = self.value_unit();
        if self.learned.target_family.is_some() { format!("log of {unit}") } else { unit }
    }

    /// The unit of predicted values: that of outputs, or of the means whose logarithms they are.
    pub fn value_unit(&self) -> String {
        match self.learned.outcome {
            Outcome::Binary | Outcome::MultiLabel => "log-odds".to_owned(),
            Outcome::Multiclass => "centred logit".to_owned(),
            Outcome::Regression => {
                let target = self.learned.targets.first();
                target.map(|target| target.unit.as_ref().unwrap_or(&target.name).clone()).unwrap_or_default()
            }
            Outcome::MultiRegression => "units of the target".to_owned(),
        }
    }
}
