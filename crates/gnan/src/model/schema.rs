//! What a model knows of its features and targets: names, kinds, scales, levels, and their support in training.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

use super::bins::{Bin, Distribution};
use super::effect_curve::{EffectCurve, is_usable_at};
use super::training_nodes::{Support, SupportCounter, TrainingNodes};
use crate::dataset::{Dataset, Feature, FeaturePair, ItemStatistic, Outcome, Target};
use crate::error::{Error, Result};
use crate::files::{DateOrder, Kind, MISSING, Values};
use crate::lens::Reach;
use crate::shape::Basis;
use crate::spec::{CurveChoice, LEAST_SUPPORT, MOST_KNOTS, NodeDescription, RARE, Rules};
use crate::statistics::knots::{between, sorted_values};

/// A level of a categorical feature.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// Its name.
    pub name: String,
    /// Its support in training.
    pub support: Support,
}

/// Scaled values beyond this are taken for this.
pub(super) const FARTHEST: f64 = 1e18;

/// How the values of a numeric feature enter its network, and where they lay in training.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scale {
    /// The network sees `(x - shift) / scale`; its reference is `x = shift`.
    pub shift: f64,
    /// The network sees `(x - shift) / scale`.
    pub scale: f64,
    /// Smallest training value.
    pub min: f64,
    /// Largest training value.
    pub max: f64,
}

impl Scale {
    /// A value as the shape function sees it; kept finite however far out of range it is.
    pub fn apply(&self, value: f64) -> f64 {
        ((value - self.shift) / self.scale).clamp(-FARTHEST, FARTHEST)
    }

    /// The value itself, or the farthest that the network tells apart from it.
    pub fn within(&self, value: f64) -> f64 {
        value.clamp(self.shift - FARTHEST * self.scale, self.shift + FARTHEST * self.scale)
    }
}

/// The values of a numeric feature between which its effects are lines, each with effects of its own at every distance.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EffectKnots {
    /// The values, ascending; beyond them effects stay as they are there. The 0 of a sparse feature, whose effects are 0, is one
    /// of them; that of a binary feature is not.
    pub at: Vec<f64>,
    /// The share of every knot in the training nodes with a known value; a node between two of them counts for both.
    pub shares: Vec<f64>,
    /// The B-splines of which effects are sums at the knots; `None`: every knot has effects of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spline: Option<Basis>,
}

impl EffectKnots {
    /// Whether they can be those of a feature of this kind; a file may hold anything.
    pub fn are_usable(&self, kind: Kind) -> bool {
        let in_order = self.at.windows(2).all(|pair| pair[0] < pair[1]) && self.at.iter().all(|knot| knot.is_finite());
        let fits = match kind {
            Kind::Binary => self.at == [1.0],
            Kind::Sparse => self.at.contains(&0.0),
            Kind::Continuous => true,
            Kind::Categorical => false,
        };
        let counted = self.shares.len() == self.at.len() && self.shares.iter().all(|share| share.is_finite());
        let smooth = self.spline.as_ref().is_none_or(|basis| kind == Kind::Continuous && is_usable_at(basis, &self.at));
        fits && in_order && counted && smooth && (1..=MOST_KNOTS).contains(&self.at.len())
    }

    /// Number of places where the curve may bend as it likes, its ends included.
    pub fn bends(&self) -> usize {
        self.spline.as_ref().map_or(self.at.len(), |basis| basis.knots.len())
    }

    /// Number of coefficients that a curve over the number has at a distance.
    pub fn coefficients(&self) -> usize {
        self.spline.as_ref().map_or(self.at.len(), Basis::count)
    }

    /// The coefficients that the effect at a knot is a sum of, and how much each counts.
    pub fn coefficients_at(&self, knot: usize) -> Vec<(usize, f64)> {
        match &self.spline {
            None => vec![(knot, 1.0)],
            Some(basis) => basis.at(self.at[knot]).terms().filter(|(_, share)| *share != 0.0).collect(),
        }
    }

    /// The knots around a value, and the share of each.
    pub fn around(&self, value: f64) -> [(usize, f64); 2] {
        let (knot, share) = between(&self.at, value);
        let next = (knot + 1).min(self.at.len() - 1);
        [(knot, 1.0 - f64::from(share)), (next, f64::from(share))]
    }
}

/// What the model knows of one feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FeatureSchema {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The unit of its values, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// How a numeric feature is scaled; `None` for a categorical one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scale: Option<Scale>,
    /// The levels of a categorical feature that occur in training.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub levels: Vec<Level>,
    /// How it is computed from the graphs; `None`: it is read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<NodeDescription>,
    /// Which two features it is made of, and how they are cut; `None`: it is not a pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pair: Option<FeaturePair>,
    /// Which number it is that sums its item up; `None`: it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub statistic: Option<ItemStatistic>,
    /// Training values too rare for a level of their own: they share the level [`RARE`], as unseen ones do.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rare: Vec<String>,
    /// The group of features that it shares a distance function with, where rho is grouped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rho_group: Option<String>,
    /// The association rule: at which distances its effects count; `None`: at all distances of the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<Reach>,
    /// The support of the missing level; `None` if no training value was missing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<Support>,
    /// The mean of `f_k` over the training nodes of a continuous feature, per output; empty for the other kinds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mean_effect: Vec<f64>,
    /// Training nodes with a known value; for binary and sparse features, a value other than 0.
    pub support: Support,
    /// Where the training values of a numeric feature lie; empty in files of before this was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bins: Vec<Bin>,
    /// The smallest training value of a numeric feature, its deciles and its largest value; empty where not recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub deciles: Vec<f64>,
    /// Whether all training values are whole numbers.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
    /// The knots of its shape function, over scaled values, where that is a spline.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spline: Option<Basis>,
    /// The knots of a numeric feature that has an effect of its own at every distance; `None`: it has a shape function.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effect_knots: Option<EffectKnots>,
    /// On how many knots at quantiles of its values it was trained, with lines between them; `None`: on every distinct value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knots: Option<usize>,
    /// The rules that its shape function must keep to.
    #[serde(default, skip_serializing_if = "Rules::is_empty")]
    pub rules: Rules,
    /// Whether the day or the month came first in training, where it holds dates that show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date_order: Option<DateOrder>,
}

/// What the model knows of one target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct TargetSchema {
    /// Its name.
    pub name: String,
    /// Its unit, where known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<String>,
    /// Names of its classes; `None` for a quantity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub classes: Option<Vec<String>>,
    /// The share of every class over the training items; empty for a quantity, and in files of before it was recorded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub base_rates: Vec<f64>,
}

impl FeatureSchema {
    /// Learns what there is to know of a feature from the nodes of the training graphs. Rare categories share a level.
    pub fn learn(feature: &Feature, nodes: &TrainingNodes) -> FeatureSchema {
        let nodes = nodes.of_feature(feature);
        let in_training = |node: usize| nodes.graph(node).is_some();
        let mut missing = SupportCounter::default();
        let mut known = SupportCounter::default();
        let (mut scale, mut levels, mut rare) = (None, Vec::new(), Vec::new());
        let mut distribution = Distribution::default();
        match &feature.values {
            Values::Categories { codes, levels: names } => {
                let mut counters = vec![SupportCounter::default(); names.len()];
                for (node, code) in codes.iter().enumerate().filter(|(node, _)| in_training(*node)) {
                    match counters.get_mut(*code as usize) {
                        Some(counter) => {
                            counter.count(node, nodes);
                            known.count(node, nodes);
                        }
                        None => missing.count(node, nodes),
                    }
                }
                let occurring = names.iter().zip(counters).filter(|(_, counter)| counter.support.nodes > 0);
                levels =
                    occurring.map(|(name, counter)| Level { name: name.clone(), support: counter.support }).collect();
                // Where nodes are predicted, unlabelled ones count as well: they are sources.
                let count = |support: &Support| if nodes.predicts_graphs() { support.graphs } else { support.nodes };
                let enough = match &feature.description {
                    Some(description) => description.least_support,
                    // The cells of a feature pair keep their places; a level that is called so already stays itself.
                    None if feature.pair.is_some() || names.iter().any(|name| name == RARE) => 0,
                    None => least_support(nodes.item_count),
                };
                let is_rare = |level: &Level| count(&level.support) < enough;
                rare = levels.extract_if(.., |level| is_rare(level)).map(|level| level.name).collect();
                rare.sort_unstable();
                if feature.description.is_some() {
                    levels.sort_by_key(|level| std::cmp::Reverse(level.support.nodes));
                }
                if !rare.is_empty() {
                    let is_rare: Vec<bool> = names.iter().map(|name| rare.binary_search(name).is_ok()).collect();
                    let mut counter = SupportCounter::default();
                    for (node, code) in codes.iter().enumerate().filter(|(node, _)| in_training(*node)) {
                        if is_rare.get(*code as usize).copied().unwrap_or(false) {
                            counter.count(node, nodes);
                        }
                    }
                    levels.push(Level { name: RARE.to_owned(), support: counter.support });
                }
            }
            numeric => {
                let mut spread = RunningSpread::default();
                for (node, value) in numeric.numbers().filter(|(node, _)| in_training(*node)) {
                    if value.is_nan() {
                        missing.count(node, nodes);
                    } else {
                        known.count(node, nodes);
                        spread.add(value);
                    }
                }
                distribution = Distribution::of(feature, nodes);
                scale = Some(match feature.kind {
                    Kind::Continuous => spread.centred(),
                    kind => spread.anchored_at_zero(kind),
                });
            }
        }
        FeatureSchema {
            name: feature.name.clone(),
            kind: feature.kind,
            unit: feature.unit.clone(),
            scale,
            levels,
            description: feature.description.clone(),
            pair: feature.pair.clone(),
            statistic: feature.statistic.clone(),
            rare,
            rho_group: None,
            reach: (feature.own_only || feature.is_of_item()).then_some(Reach::OWN),
            missing: (missing.support.nodes > 0).then_some(missing.support),
            mean_effect: Vec::new(),
            support: known.support,
            bins: distribution.bins,
            deciles: distribution.deciles,
            whole: distribution.whole,
            spline: None,
            effect_knots: None,
            knots: None,
            rules: Rules::default(),
            date_order: feature.date_order,
        }
    }

    /// How its training values were distributed.
    pub(crate) fn distribution(&self) -> Distribution {
        Distribution { bins: self.bins.clone(), deciles: self.deciles.clone(), whole: self.whole }
    }

    /// Makes the shape function of a numeric feature a spline with knots at quantiles of the training values; it stays
    /// flat beyond them where it is bounded.
    pub fn learn_spline(&mut self, feature: &Feature, nodes: &TrainingNodes) {
        let Some(scale) = self.scale else { return };
        let nodes = nodes.of_feature(feature);
        let in_training = |node: usize| nodes.graph(node).is_some();
        let numbers = feature.values.numbers().filter(|(node, value)| in_training(*node) && value.is_finite());
        let mut values: Vec<f64> = numbers.map(|(_, value)| scale.apply(value)).collect();
        if self.kind != Kind::Continuous {
            values.push(scale.apply(0.0));
        }
        self.spline = Some(Basis::of_values(values, self.rules.bound.is_some()));
    }

    /// Gives a numeric feature, one of so many, an effect of its own at every distance, with knots at quantiles of the training
    /// values; smooth where that is wanted and there are values enough.
    pub fn learn_effect_knots(
        &mut self,
        feature: &Feature,
        nodes: &TrainingNodes,
        numbers: usize,
        choice: CurveChoice,
    ) {
        let nodes = nodes.of_feature(feature);
        let in_training = |node: usize| nodes.graph(node).is_some();
        let Some(curve) = EffectCurve::learn(self, sorted_values(feature, in_training), numbers, choice) else {
            return;
        };
        let EffectCurve { at, spline } = curve;
        let mut knots = EffectKnots { shares: vec![0.0; at.len()], at, spline };
        let known = feature.values.numbers().filter(|(node, x)| in_training(*node) && !x.is_nan());
        let mut count = 0.0;
        for (_, value) in known {
            count += 1.0;
            knots.around(value).into_iter().for_each(|(knot, share)| knots.shares[knot] += share);
        }
        knots.shares.iter_mut().for_each(|share| *share /= f64::max(count, 1.0));
        self.effect_knots = Some(knots);
    }

    /// The column of new data that plays the part of this feature, with its kind; a described feature is computed. A pair
    /// is made of features that were found: see [`FeaturePair::feature`].
    pub fn find(&self, data: &Dataset) -> Result<Feature> {
        if let Some(description) = &self.description {
            return Ok(self.with_rare_pooled(data.describe(description)?));
        }
        let Some(found) = data.features().iter().find(|feature| feature.name == self.name) else {
            let columns = crate::dataset::one_hot_columns(data.features(), &self.name);
            let absent: Vec<String> = (self.levels.iter())
                .filter(|level| !columns.is_empty() && !columns.iter().any(|(_, found)| *found == level.name))
                .map(|level| format!("{}_{}", self.name, level.name))
                .collect();
            if !absent.is_empty() {
                return Err(Error::input(format!(
                    "the data have some one-hot columns of \"{}\", which the model needs, but not all",
                    self.name
                ))
                .with_remedy(format!("add: {}", absent.join(", "))));
            }
            return Err(Error::input(format!("the data have no feature \"{}\", which the model needs", self.name))
                .with_remedy(format!("add the column; there are: {}", data.first_names())));
        };
        found.with_kind(self.kind)
    }

    /// The distances from which it counts in a model to which sources within `reach` contribute. A candidate node pair is no source
    /// for itself but by the features that it alone has.
    pub(crate) fn reach_within(&self, reach: Reach) -> Reach {
        match self.reach {
            None => reach,
            Some(Reach::OWN) => Reach::OWN,
            Some(own) => own.and(reach),
        }
    }

    /// Whether it is read from files, and not computed.
    pub fn is_read(&self) -> bool {
        self.description.is_none() && self.pair.is_none() && self.statistic.is_none()
    }

    /// Whether it is a value of the item itself, which counts at distance 0 and once: a statistic, or a pair with one.
    pub fn is_of_item(&self) -> bool {
        self.statistic.is_some() || self.pair.as_ref().is_some_and(|pair| pair.of_item)
    }

    /// Whether each of its levels or knots has a rho of its own where features have: a category's do, the cells of a pair share
    /// one unless they count at one distance alone.
    pub fn has_level_rhos(&self) -> bool {
        let shares_rho = self.pair.as_ref().is_some_and(|pair| !pair.of_item);
        (self.kind == Kind::Categorical && !shares_rho) || self.effect_knots.is_some()
    }

    /// Number of its free values for known values: one per level or knot. That for missing values follows them.
    pub fn known_values(&self) -> usize {
        self.effect_knots.as_ref().map_or(self.levels.len(), |knots| knots.at.len())
    }

    /// Number of its free values: one per level or knot, and one for missing values where there are any.
    pub fn value_count(&self) -> usize {
        self.known_values() + usize::from(self.missing.is_some())
    }

    /// Number of curves over distance that the effects of its known values are sums of, in a penalised fit.
    pub fn known_curves(&self) -> usize {
        self.effect_knots.as_ref().map_or(self.levels.len(), EffectKnots::coefficients)
    }

    /// The same with that of its missing values, where there are any.
    pub fn curve_count(&self) -> usize {
        self.known_curves() + usize::from(self.missing.is_some())
    }

    /// Which of them those of a value are a sum of, and how much each counts.
    pub fn curves_of(&self, value: usize) -> Vec<(usize, f64)> {
        self.effect_knots.as_ref().map_or_else(|| vec![(value, 1.0)], |knots| knots.coefficients_at(value))
    }

    /// The share of training nodes in each level, or at each knot, the missing level last where there is one; 0 for features of
    /// which no mean is taken out.
    pub fn level_shares(&self) -> Vec<f64> {
        if let Some(knots) = &self.effect_knots {
            if self.kind != Kind::Continuous {
                return vec![0.0; self.value_count()];
            }
            let missing = self.missing.map_or(0, |support| support.nodes) as f64;
            let known = self.support.nodes as f64 / (self.support.nodes as f64 + missing).max(1.0);
            let shares = knots.shares.iter().map(|share| share * known);
            return shares.chain(self.missing.map(|_| 1.0 - known)).collect();
        }
        let levels = self.levels.iter().map(|level| level.support).chain(self.missing);
        let total = levels.clone().map(|support| support.nodes).sum::<u64>().max(1) as f64;
        levels.map(|support| support.nodes as f64 / total).collect()
    }

    /// The index of a level by name; what training had not seen counts as rare, where there are rare values.
    pub fn level(&self, name: &str) -> Option<usize> {
        self.levels.iter().position(|level| level.name == name).or_else(|| self.rare_level())
    }

    /// The names of the levels that training had seen, rare ones included.
    pub fn seen_levels(&self) -> HashSet<&str> {
        self.levels.iter().map(|level| &level.name).chain(&self.rare).map(String::as_str).collect()
    }

    /// The level of rare values, where there is one.
    pub fn rare_level(&self) -> Option<usize> {
        let last = self.levels.len().checked_sub(1)?;
        (!self.rare.is_empty() && self.levels[last].name == RARE).then_some(last)
    }

    /// The same feature with one level for all values that were rare in training; unseen ones keep their names.
    fn with_rare_pooled(&self, mut feature: Feature) -> Feature {
        if let Values::Categories { codes, levels } = &mut feature.values
            && self.rare_level().is_some()
        {
            let rare: HashSet<&str> = self.rare.iter().map(String::as_str).collect();
            let pool = levels.len() as u32;
            let place: Vec<u32> = (0..)
                .zip(levels.iter())
                .map(|(place, level)| if rare.contains(level.as_str()) { pool } else { place })
                .collect();
            codes.iter_mut().filter(|code| **code != MISSING).for_each(|code| *code = place[*code as usize]);
            levels.push(RARE.to_owned());
        }
        feature
    }
}

impl TargetSchema {
    /// What is known of a target of these training items.
    pub fn of(target: &Target, items: &[u32]) -> TargetSchema {
        TargetSchema {
            name: target.name.clone(),
            unit: target.unit.clone(),
            classes: target.classes.clone(),
            base_rates: target.class_shares(items),
        }
    }
}

/// With fewer training graphs (nodes, for a node task) than this a category is rare: 5, as for descriptions of nodes, but no
/// more than one in a hundred, so that the few items of a small data set keep their categories.
fn least_support(items: usize) -> u64 {
    LEAST_SUPPORT.min(items as u64 / 100)
}

/// Number of outputs of the model for an outcome.
pub fn output_count(outcome: Outcome, targets: &[TargetSchema], two_logits: bool) -> usize {
    match outcome {
        Outcome::Binary => 1 + usize::from(two_logits),
        Outcome::Multiclass => targets.first().and_then(|t| t.classes.as_ref()).map_or(1, Vec::len),
        Outcome::Regression => 1,
        Outcome::MultiLabel | Outcome::MultiRegression => targets.len(),
    }
}

/// Mean and spread of values as they come (Welford).
#[derive(Default)]
struct RunningSpread {
    count: f64,
    mean: f64,
    squares: f64,
    min: Option<f64>,
    max: Option<f64>,
}

impl RunningSpread {
    fn add(&mut self, value: f64) {
        self.count += 1.0;
        let before = value - self.mean;
        self.mean += before / self.count;
        self.squares += before * (value - self.mean);
        self.min = Some(self.min.map_or(value, |min| min.min(value)));
        self.max = Some(self.max.map_or(value, |max| max.max(value)));
    }

    fn range(&self) -> (f64, f64) {
        (self.min.unwrap_or(0.0), self.max.unwrap_or(0.0))
    }

    fn centred(&self) -> Scale {
        let (min, max) = self.range();
        let deviation = (self.squares / self.count.max(1.0)).sqrt();
        if !(deviation.is_finite() && self.mean.is_finite()) {
            // Values whose squares overflow: the largest becomes 1.
            return Scale { shift: 0.0, scale: min.abs().max(max.abs()), min, max };
        }
        Scale { shift: self.mean, scale: if deviation > 0.0 { deviation } else { 1.0 }, min, max }
    }

    /// Zero stays zero; a sparse feature is divided by the root mean square of its other values.
    fn anchored_at_zero(&self, kind: Kind) -> Scale {
        let (min, max) = self.range();
        let root_mean_square = (self.squares / self.count.max(1.0) + self.mean * self.mean).sqrt();
        let scale = match kind {
            Kind::Sparse if !root_mean_square.is_finite() => min.abs().max(max.abs()),
            Kind::Sparse if root_mean_square > 0.0 => root_mean_square,
            _ => 1.0,
        };
        Scale { shift: 0.0, scale, min: min.min(0.0), max: max.max(0.0) }
    }
}
