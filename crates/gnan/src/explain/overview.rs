//! The overview: the whole model in canonical form, with what stands behind every part of it.

use serde::Serialize;

use crate::dataset::{Dataset, Feature};
use crate::error::Result;
use crate::files::{Kind, Task};
use crate::lens::DistanceAxis;
use crate::model::{FeatureSchema, Model, Support};

use super::canonical::{Canonical, CanonicalLevel, RhoCurve};
use super::explainer::Explainer;
use super::importance::Importance;

/// Most bins of a density; with fewer distinct values every value has its own.
const MOST_BINS: usize = 24;

/// The whole model, as tables and figures show it.
#[derive(Clone, Debug, Serialize)]
pub struct Overview {
    /// The model's own outputs, which rho and shape functions have.
    pub outputs: Vec<String>,
    /// The outputs as contributions to them are shown, which base, structure curve and importances have.
    pub shown_outputs: Vec<String>,
    /// The unit of contributions.
    pub unit: String,
    /// `b0`, per shown output.
    pub base: Vec<f64>,
    /// The distances, one slot each.
    #[serde(rename = "distances")]
    pub axis: DistanceAxis,
    /// The structure curve, `[slots][shown outputs]`.
    pub structure: Vec<Vec<f64>>,
    /// Every rho. With one per feature the first is the bias's, which is part of the structure curve.
    pub rho: Vec<RhoCurve>,
    /// How often every distance occurs in training.
    pub receivers: Vec<f64>,
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
    /// What stands behind it in training.
    pub support: Support,
    /// Its levels: of a categorical feature, the 1 of a binary one, and the missing level where there is one.
    pub levels: Vec<CanonicalLevel>,
    /// The curve of a continuous or sparse feature.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curve: Option<ShapeCurve>,
}

/// The exact curve of a feature over the range of its training values, and how the data lie under it.
#[derive(Clone, Debug, Serialize)]
pub struct ShapeCurve {
    /// Points to join by lines: the ends of the range and every knot between them, with values per output; points between
    /// knots as well where the curve is not linear.
    pub points: Vec<(f64, Vec<f64>)>,
    /// How the values lie; empty without data.
    pub bins: Vec<Bin>,
}

/// Values of a feature between two bounds (or equal to both), and who has them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Bin {
    /// Lower bound.
    pub from: f64,
    /// Upper bound; belongs to the next bin, but for the last.
    pub to: f64,
    /// Nodes and graphs of the data with such a value.
    #[serde(flatten)]
    pub support: Support,
}

impl Model {
    /// The whole model without data: no importances, no densities.
    pub fn overview(&self) -> Overview {
        Overview::new(&self.canonical(), None)
    }
}

impl Explainer<'_> {
    /// The whole model with importances and densities over the data.
    pub fn overview(&self) -> Result<Overview> {
        let mut overview = self.overview_over(self.data())?;
        overview.importance = Some(self.importance()?);
        Ok(overview)
    }

    /// The whole model with the densities of `data`, which may be others than those explained, and no importances.
    pub fn overview_over(&self, data: &Dataset) -> Result<Overview> {
        let features = self.model().features_of(data)?;
        Ok(Overview::new(self.canonical(), Some((data, &features))))
    }
}

impl Overview {
    fn new(canonical: &Canonical, data: Option<(&Dataset, &[Feature])>) -> Overview {
        let definition = canonical.definition();
        let features = canonical.features().into_iter().zip(&definition.learned.features).enumerate();
        Overview {
            outputs: definition.output_names(),
            shown_outputs: definition.shown_names(),
            unit: definition.shown_unit(),
            base: definition.shown(canonical.output_bias()),
            axis: canonical.axis().clone(),
            structure: canonical.structure().iter().map(|values| definition.shown(values)).collect(),
            rho: canonical.rhos(),
            receivers: definition.learned.receivers.clone(),
            features: features
                .map(|(k, (feature, schema))| FeatureOverview {
                    name: feature.name,
                    kind: feature.kind,
                    unit: schema.unit.clone(),
                    support: schema.support,
                    levels: feature.levels,
                    curve: canonical.shape_curve(k).zip(schema.scale).map(|(curve, scale)| ShapeCurve {
                        points: curve.points_between(scale.min, scale.max),
                        bins: data.map_or_else(Vec::new, |(data, found)| bins(data, &found[k], schema)),
                    }),
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
}

impl FeatureOverview {
    /// The largest absolute value of its shape function.
    fn largest_value(&self) -> f64 {
        let levels = self.levels.iter().flat_map(|level| &level.values);
        let points = self.curve.iter().flat_map(|curve| &curve.points).flat_map(|(_, values)| values);
        levels.chain(points).fold(0.0, |largest: f64, value| largest.max(value.abs()))
    }
}

impl ShapeCurve {
    /// The values of the curve at `x`, on the line between two points; beyond its ends, those of the nearest end.
    pub fn value_at(&self, x: f64) -> Vec<f64> {
        let after = self.points.partition_point(|(at, _)| *at <= x);
        match (after.checked_sub(1).and_then(|before| self.points.get(before)), self.points.get(after)) {
            (Some((from, low)), Some((to, high))) => {
                let share = (x - from) / (to - from);
                low.iter().zip(high).map(|(low, high)| low + share * (high - low)).collect()
            }
            (Some((_, values)), None) | (None, Some((_, values))) => values.clone(),
            (None, None) => Vec::new(),
        }
    }

    /// `count` numbers evenly spaced over the range of the curve; one where it is a single point.
    pub fn evenly_spaced(&self, count: usize) -> Vec<f64> {
        let (Some((from, _)), Some((to, _))) = (self.points.first(), self.points.last()) else { return Vec::new() };
        let steps = if from == to { 0 } else { count.saturating_sub(1) };
        let at = |step: usize| {
            let share = step as f64 / steps.max(1) as f64;
            from * (1.0 - share) + to * share
        };
        (0..=steps).map(at).collect()
    }

    /// The bins that hold the lowest and the highest value and the quartiles between them.
    pub fn quartile_bins(&self) -> Vec<Bin> {
        let nodes: u64 = self.bins.iter().map(|bin| bin.support.nodes).sum();
        let mut before = 0;
        let mut shown = self.bins.clone();
        shown.retain(|bin| {
            let here = before..before + bin.support.nodes;
            before = here.end;
            (0..=4).any(|quarter| here.contains(&(nodes.saturating_sub(1) * quarter / 4)))
        });
        shown
    }
}

impl Bin {
    /// The middle of its values.
    pub fn centre(&self) -> f64 {
        self.from / 2.0 + self.to / 2.0
    }
}

/// How the values of a feature lie over the nodes of the data's items; the zeros of a sparse feature are left out.
fn bins(data: &Dataset, feature: &Feature, schema: &FeatureSchema) -> Vec<Bin> {
    let Some(scale) = schema.scale else { return Vec::new() };
    let values = values_by_graph(data, feature);
    let mut distinct: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    distinct.sort_by(f64::total_cmp);
    distinct.dedup();
    let mut bins: Vec<Bin> = if distinct.len() <= MOST_BINS {
        distinct.iter().map(|value| Bin { from: *value, to: *value, support: Support::default() }).collect()
    } else {
        let edge = |index: usize| {
            let share = index as f64 / MOST_BINS as f64;
            scale.min * (1.0 - share) + scale.max * share
        };
        (0..MOST_BINS).map(|b| Bin { from: edge(b), to: edge(b + 1), support: Support::default() }).collect()
    };
    let mut last = vec![usize::MAX; bins.len()];
    for (graph, value) in values {
        // Values out of the training range count with the nearest.
        let after = bins.partition_point(|bin| bin.from <= value);
        let index = after.saturating_sub(1);
        bins[index].support.nodes += 1;
        bins[index].support.graphs += u64::from(last[index] != graph);
        last[index] = graph;
    }
    bins
}

fn values_by_graph(data: &Dataset, feature: &Feature) -> Vec<(usize, f64)> {
    let of_graph =
        |graph: usize| feature.values.numbers_in(data.sources_of(graph)).map(move |(_, value)| (graph, value));
    data.graphs().into_iter().flat_map(of_graph).filter(|(_, value)| value.is_finite()).collect()
}

/// With fewer training graphs than this behind it (nodes, for a node task), a part of the model is called weakly
/// supported.
pub const LITTLE_SUPPORT: u64 = 10;

impl Support {
    /// Whether this is too little to rely on.
    pub fn is_little(&self, task: Task) -> bool {
        let count = if task == Task::Graph { self.graphs } else { self.nodes };
        count < LITTLE_SUPPORT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve() -> ShapeCurve {
        let bin = |from: f64, nodes| Bin { from, to: from + 1.0, support: Support { nodes, graphs: nodes } };
        let bins = vec![bin(0.0, 1), bin(1.0, 50), bin(2.0, 0), bin(3.0, 30), bin(4.0, 20)];
        ShapeCurve { points: vec![(0.0, vec![0.0]), (5.0, vec![10.0])], bins }
    }

    #[test]
    fn a_curve_is_linear_between_its_points_and_ends_with_them() {
        assert_eq!([-1.0, 0.0, 2.5, 5.0, 7.0].map(|x| curve().value_at(x)[0]), [0.0, 0.0, 5.0, 10.0, 10.0]);
        assert_eq!(curve().evenly_spaced(5), [0.0, 1.25, 2.5, 3.75, 5.0]);
        let point = ShapeCurve { points: vec![(2.0, vec![1.0])], bins: Vec::new() };
        assert_eq!(point.evenly_spaced(5), [2.0]);
        let nothing = ShapeCurve { points: Vec::new(), bins: Vec::new() };
        assert!(nothing.value_at(1.0).is_empty() && nothing.evenly_spaced(5).is_empty());
    }

    /// Of 101 nodes the 1st, 26th, 51st, 76th and 101st: the bins from 0, 1, 1, 3 and 4.
    #[test]
    fn the_quartiles_are_where_values_lie() {
        assert_eq!(curve().quartile_bins().iter().map(|bin| bin.from).collect::<Vec<_>>(), [0.0, 1.0, 3.0, 4.0]);
    }
}
