//! The overview: the whole model in canonical form, with what stands behind every part of it.

use serde::Serialize;

use crate::dataset::{Dataset, Feature};
use crate::error::Result;
use crate::files::{Kind, Task, Values};
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
        let description = canonical.description();
        let features = canonical.features().into_iter().zip(&description.features).enumerate();
        Overview {
            outputs: description.output_names(),
            shown_outputs: description.shown_names(),
            unit: description.shown_unit(),
            base: description.shown(canonical.output_bias()),
            axis: canonical.axis().clone(),
            structure: canonical.structure().iter().map(|values| description.shown(values)).collect(),
            rho: canonical.rhos(),
            receivers: description.receivers.clone(),
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
    let mut found = Vec::new();
    for graph in data.graphs() {
        let nodes = data.sources_of(graph);
        match &feature.values {
            Values::Numbers(values) => found.extend(values[nodes].iter().map(|value| (graph, *value))),
            Values::Sparse { rows, values, .. } => {
                let start = rows.partition_point(|row| (*row as usize) < nodes.start);
                let end = rows.partition_point(|row| (*row as usize) < nodes.end);
                found.extend(values[start..end].iter().map(|value| (graph, *value)));
            }
            Values::Categories { .. } => {}
        }
    }
    found.retain(|(_, value)| value.is_finite());
    found
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
