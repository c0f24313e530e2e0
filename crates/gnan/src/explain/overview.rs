//! The overview: the whole model in canonical form, with the support of every part of it.

use serde::{Serialize, Serializer};

use crate::dataset::{Dataset, Feature};
use crate::error::Result;
use crate::files::Kind;
use crate::lens::DistanceAxis;
use crate::model::{Bin, Distribution, FeatureSchema, Model, Rho, Support, TrainingNodes};

use super::by_distance::CurveByDistance;
use super::canonical::{Canonical, CanonicalLevel, RhoCurve};
use super::explainer::Explainer;
use super::importance::Importance;
use super::shape_curve::ShapeCurve;

/// A rho that changes by less than this over the distances seen in training is flat.
const FLAT: f64 = 0.1;

/// The whole model, as tables and figures show it.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// use gnan::Explainer;
/// let overview = Explainer::new(&model, &train)?.overview()?;
/// let strongest = overview.by_importance(None)[0];
/// println!("{} matters most", overview.features[strongest].name);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    /// The model's own outputs, which rho has.
    pub outputs: Vec<String>,
    /// The outputs as contributions to them are shown, which effects, base, structure curve and importances have.
    pub shown_outputs: Vec<String>,
    /// The unit of contributions.
    pub unit: String,
    /// The mean output over the training items where it is known, else `b0`; per shown output.
    pub base: Vec<f64>,
    /// The distances, one slot each.
    #[serde(rename = "distances")]
    pub axis: DistanceAxis,
    /// The structure curve, `[slots][shown outputs]`.
    pub structure: Vec<Vec<f64>>,
    /// Every rho. With one per feature the first is the bias's, which is part of the structure curve. Those that are an influence
    /// by distance are written down; of the others only effects mean something.
    #[serde(serialize_with = "influences")]
    pub rho: Vec<RhoCurve>,
    /// How often every distance occurs in training.
    pub receivers: Vec<f64>,
    /// How many training items have a receiver with a source at every distance.
    pub items_at: Vec<u64>,
    /// Every feature.
    pub features: Vec<FeatureOverview>,
    /// Importances over the data, where there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub importance: Option<Importance>,
}

/// A feature with its shape function.
#[derive(Clone, Debug, Serialize)]
pub struct FeatureOverview {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: Kind,
    /// The unit of its values.
    pub unit: Option<String>,
    /// Its support in training.
    pub support: Support,
    /// Whether all its training values are whole numbers.
    pub whole: bool,
    /// The distance at which its effects are shown.
    pub anchor: String,
    /// Whether that is the node itself by the only lens, so that the effects are those of a node's own value.
    pub own_value: bool,
    /// Whether it sums up its item: the graph, or the node with those around it.
    pub of_item: bool,
    /// Its levels: of a categorical feature, the 1 of a binary one, and the missing level where there is one.
    pub levels: Vec<CanonicalLevel>,
    /// The curve of a continuous or sparse feature: effects at the anchor, per shown output.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<ShapeCurve>,
    /// Its effects at every distance, where they are not those at the anchor times an influence by distance.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub effects_by_distance: Vec<CurveByDistance>,
}

impl Model {
    /// The whole model without data: no importances.
    pub fn overview(&self) -> Overview {
        Overview::new(&self.canonical(), None)
    }
}

impl Explainer<'_> {
    /// The whole model with importances over the data.
    pub fn overview(&self) -> Result<Overview> {
        let mut overview = self.overview_over(self.data())?;
        overview.importance = Some(self.importance()?);
        Ok(overview)
    }

    /// The whole model without importances; the values in `data` stand in for those of training where a file of before they
    /// were recorded lacks them.
    pub fn overview_over(&self, data: &Dataset) -> Result<Overview> {
        let features = self.model().features_of(data)?;
        Ok(Overview::new(self.canonical(), Some((&TrainingNodes::of(data), &features))))
    }
}

/// Writes down the rhos that are an influence by distance.
fn influences<S: Serializer>(rhos: &[RhoCurve], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_seq(rhos.iter().filter(|rho| rho.anchor.is_some()))
}

impl Overview {
    /// `data` stand in for training data where the model does not remember how these lay.
    fn new(canonical: &Canonical, data: Option<(&TrainingNodes, &[Feature])>) -> Overview {
        let definition = canonical.definition();
        let of_feature = |(k, schema): (usize, &FeatureSchema)| match data {
            Some((nodes, found)) if schema.bins.is_empty() => Distribution::of(&found[k], nodes),
            _ => schema.distribution(),
        };
        let distributions: Vec<Distribution> = definition.learned.features.iter().enumerate().map(of_feature).collect();
        let features = canonical.features().into_iter().zip(&definition.learned.features).enumerate();
        Overview {
            outputs: definition.output_names(),
            shown_outputs: definition.shown_names(),
            unit: definition.shown_unit(),
            base: match canonical.average() {
                Some(average) => {
                    let base = definition.shown(canonical.output_bias()).into_iter().enumerate();
                    base.map(|(c, base)| base + average.structure[c] + average.all_features(c)).collect()
                }
                None => definition.shown(canonical.output_bias()),
            },
            axis: canonical.axis().clone(),
            structure: canonical.structure().iter().map(|values| definition.shown(values)).collect(),
            rho: canonical.rhos(),
            receivers: (0..canonical.slots()).map(|slot| canonical.receivers_at(slot)).collect(),
            items_at: (0..canonical.slots()).map(|slot| canonical.support_at(slot).items).collect(),
            features: features
                .map(|(k, (feature, schema))| FeatureOverview {
                    name: feature.name,
                    kind: feature.kind,
                    unit: schema.unit.clone(),
                    support: schema.support,
                    whole: distributions[k].whole,
                    levels: feature.levels,
                    anchor: canonical.axis().name(canonical.anchor(k)),
                    own_value: schema.is_of_item()
                        || canonical.axis().lenses() == 1 && canonical.axis().distance(canonical.anchor(k)) == Some(0),
                    of_item: schema.is_of_item(),
                    curve: canonical.shape_curve(k).zip(schema.scale).map(|(curve, scale)| ShapeCurve {
                        points: (curve.points_between(scale.min, scale.max).into_iter())
                            .map(|(x, values)| (x, definition.shown(&values)))
                            .collect(),
                        bins: distributions[k].bins.clone(),
                        deciles: distributions[k].deciles.clone(),
                    }),
                    effects_by_distance: canonical.effects_by_distance(k),
                })
                .collect(),
            importance: None,
        }
    }
}

impl Overview {
    /// Features from the most to the least important for these shown outputs (`None`: all); without data, from the
    /// largest value of their shape functions to the smallest.
    pub fn by_importance(&self, outputs: Option<&[usize]>) -> Vec<usize> {
        let size = |k: usize| -> f64 {
            match (&self.importance, outputs) {
                (Some(importance), None) => importance.by_feature[k].iter().sum(),
                (Some(importance), Some(outputs)) => {
                    outputs.iter().map(|output| importance.by_feature[k][*output]).sum()
                }
                (None, _) => self.features[k].largest_value(),
            }
        };
        let sizes: Vec<f64> = (0..self.features.len()).map(size).collect();
        let mut order: Vec<usize> = (0..sizes.len()).collect();
        order.sort_by(|a, b| sizes[*b].total_cmp(&sizes[*a]));
        order
    }

    /// The rhos that weigh features and are nearly the same, for every output, at all distances seen in training.
    pub fn flat_rhos(&self, rho: Rho) -> Vec<&RhoCurve> {
        let is_seen = |slot: usize| self.receivers.get(slot).is_some_and(|count| *count > 0.0);
        let is_flat = |values: &[Vec<f64>], c: usize| {
            let mut found = values.iter().enumerate().filter(|(slot, _)| is_seen(*slot)).map(|(_, row)| row[c]);
            let first = found.next().unwrap_or(0.0);
            let (low, high) = found.fold((first, first), |(low, high), value| (low.min(value), high.max(value)));
            high - low < FLAT
        };
        let rhos = self.rho[rho.of_bias_alone()..].iter().filter(|rho| rho.anchor.is_some() && !rho.is_zero());
        rhos.filter(|rho| (0..self.outputs.len()).all(|c| is_flat(&rho.values, c))).collect()
    }

    /// The rhos that weigh features and are 0 at every distance: what they weigh contributes nothing.
    pub fn zero_rhos(&self, rho: Rho) -> Vec<&RhoCurve> {
        self.rho[rho.of_bias_alone()..].iter().filter(|rho| rho.is_zero()).collect()
    }
}

impl FeatureOverview {
    /// Whether its values are counts: whole numbers from 0 or 1 on, or of which 0 is the usual one.
    pub fn counts(&self) -> bool {
        let ends = self.curve.as_ref().and_then(ShapeCurve::ends);
        self.whole
            && ends.is_some_and(|[from, _]| from == 0.0 || from == 1.0 || (from > 0.0 && self.kind == Kind::Sparse))
    }

    /// The support of a number; that of the feature where it is not recorded how the numbers are distributed.
    pub fn support_of(&self, value: f64) -> Support {
        let bins = self.curve.as_ref().map_or(&[][..], |curve| &curve.bins);
        match bins {
            [] => self.support,
            // The zeros of a sparse feature have no bin: nearly every node has one.
            _ if value == 0.0 && self.kind == Kind::Sparse => self.support,
            bins => Bin::support_at(bins, value),
        }
    }

    /// The largest absolute value of its shape function.
    fn largest_value(&self) -> f64 {
        let levels = self.levels.iter().flat_map(|level| &level.values);
        let points = self.curve.iter().flat_map(|curve| &curve.points).flat_map(|(_, values)| values);
        levels.chain(points).fold(0.0, |largest: f64, value| largest.max(value.abs()))
    }

    /// The levels with the lowest and the highest effect on the first output, of those with enough nodes.
    pub fn extreme_levels(&self) -> Vec<&CanonicalLevel> {
        let enough = |level: &&CanonicalLevel| !level.support.is_little();
        let mut found: Vec<&CanonicalLevel> = self.levels.iter().filter(enough).collect();
        found.sort_by(|a, b| a.values[0].total_cmp(&b.values[0]));
        if found.len() > 2 {
            found.drain(1..found.len() - 1);
        }
        found
    }
}
