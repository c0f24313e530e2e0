//! Replicates: the canonical numbers of every model that was trained on a resample.
//!
//! A replicate is one row of numbers, laid out by [`ReplicateLayout`]: its rho curves, shape functions at fixed points,
//! structure curve, output bias, importances, and for every point whether the resample held anything like it.

use std::collections::BTreeMap;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::dataset::Dataset;
use crate::explain::{Curves, Point, Points};
use crate::files::{Kind, Task};
use crate::model::Model;
use crate::statistics::{LevelValues, Statistics};

use super::importance::Importances;

/// The header of a file of replicates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ReplicatesHeader {
    /// Version of the format.
    pub version: u32,
    /// Checksum of the model that the replicates belong to.
    pub model: String,
    /// Name of the data set.
    pub data: String,
    /// Checksum of what training sees of the data.
    pub data_checksum: String,
    /// Number of items resampled.
    pub items: usize,
    /// The seed.
    pub seed: u64,
    /// Number of resamples wanted.
    pub wanted: usize,
    /// Number of resamples done.
    pub done: usize,
    /// Where every shape function is looked at.
    pub points: Points,
}

/// Models trained on resamples, in canonical form.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// use std::ops::ControlFlow;
/// use gnan::{Bootstrap, Replicates};
/// let bootstrap = Bootstrap { resamples: 4, ..Bootstrap::default() };
/// let replicates: Replicates = bootstrap.run(&model, &train, None, &|_| ControlFlow::Continue(()))?;
/// assert!(replicates.is_complete() && replicates.len() == 4);
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Replicates {
    pub(super) header: ReplicatesHeader,
    pub(super) shape: ReplicateLayout,
    /// By number of the resample.
    pub(super) rows: BTreeMap<usize, Vec<f64>>,
}

impl Replicates {
    /// What is known of all of them together.
    pub fn header(&self) -> &ReplicatesHeader {
        &self.header
    }

    /// Number of replicates.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Whether there are as many as are wanted.
    pub fn is_complete(&self) -> bool {
        self.rows.len() >= self.header.wanted
    }

    /// The canonical numbers of every replicate, as its own canonical form has them.
    pub fn curves(&self) -> impl Iterator<Item = Curves> + '_ {
        self.rows.values().map(|row| self.shape.curves(row))
    }

    /// One part of every replicate, flat.
    pub(super) fn part(&self, part: ReplicatePart) -> Vec<&[f64]> {
        let range = self.shape.range(part);
        self.rows.values().map(|row| &row[range.clone()]).collect()
    }
}

/// A part of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReplicatePart {
    Rho,
    Shapes,
    Structure,
    Base,
    FeatureImportance,
    DistanceImportance,
    StructureImportance,
    Present,
}

/// Every part, in the order of a row, and its name in a file.
pub(super) const PARTS: [(ReplicatePart, &str); 8] = [
    (ReplicatePart::Rho, "rho"),
    (ReplicatePart::Shapes, "shapes"),
    (ReplicatePart::Structure, "structure"),
    (ReplicatePart::Base, "base"),
    (ReplicatePart::FeatureImportance, "importance.features"),
    (ReplicatePart::DistanceImportance, "importance.distances"),
    (ReplicatePart::StructureImportance, "importance.structure"),
    (ReplicatePart::Present, "present"),
];

/// How the numbers of a replicate are laid out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ReplicateLayout {
    pub rhos: usize,
    pub slots: usize,
    pub outputs: usize,
    pub shown: usize,
    /// Number of points of every feature.
    pub points: Vec<usize>,
}

impl ReplicateLayout {
    pub(super) fn of(model: &Model, points: &Points) -> ReplicateLayout {
        let definition = model.definition();
        ReplicateLayout {
            rhos: definition.layout().rhos.len(),
            slots: definition.learned.receivers.len(),
            outputs: model.outputs(),
            shown: definition.shown_names().len(),
            points: points.features.iter().map(Vec::len).collect(),
        }
    }

    /// The dimensions of a part.
    pub(super) fn dimensions(&self, part: ReplicatePart) -> Vec<usize> {
        let points = self.points.iter().sum();
        match part {
            ReplicatePart::Rho => vec![self.rhos, self.slots, self.outputs],
            ReplicatePart::Shapes => vec![points, self.outputs],
            ReplicatePart::Structure => vec![self.slots, self.outputs],
            ReplicatePart::Base => vec![self.outputs],
            ReplicatePart::FeatureImportance => vec![self.points.len(), self.shown],
            ReplicatePart::DistanceImportance => vec![self.slots, self.shown],
            ReplicatePart::StructureImportance => vec![self.shown],
            ReplicatePart::Present => vec![points],
        }
    }

    /// Where a part lies in a row.
    pub(super) fn range(&self, part: ReplicatePart) -> Range<usize> {
        let len = |part: ReplicatePart| self.dimensions(part).iter().product::<usize>();
        let start = PARTS.iter().take_while(|(before, _)| *before != part).map(|(before, _)| len(*before)).sum();
        start..start + len(part)
    }

    /// The row of a replicate.
    pub(super) fn row(&self, curves: &Curves, importances: &Importances, present: &[bool]) -> Vec<f64> {
        let mut row: Vec<f64> = curves.rho.iter().flatten().flatten().copied().collect();
        row.extend(curves.shapes.iter().flatten().flatten());
        row.extend(curves.structure.iter().flatten());
        row.extend(&curves.base);
        row.extend(importances.by_feature.iter().chain(&importances.by_distance).chain(&importances.structure));
        row.extend(present.iter().map(|present| f64::from(u8::from(*present))));
        row
    }

    /// The curves in a row.
    pub(super) fn curves(&self, row: &[f64]) -> Curves {
        let by_output = |part| row[self.range(part)].chunks_exact(self.outputs.max(1)).map(<[f64]>::to_vec);
        let rho: Vec<Vec<f64>> = by_output(ReplicatePart::Rho).collect();
        let mut shapes = by_output(ReplicatePart::Shapes);
        Curves {
            rho: rho.chunks(self.slots.max(1)).map(<[_]>::to_vec).collect(),
            shapes: self.points.iter().map(|points| shapes.by_ref().take(*points).collect()).collect(),
            structure: by_output(ReplicatePart::Structure).collect(),
            base: row[self.range(ReplicatePart::Base)].to_vec(),
        }
    }
}

/// For every point the graphs that hold a node with that level, where a resample of graphs may hold none of them.
pub(super) struct Holders {
    /// Positions of items; `None`: always present, like a number on a curve.
    by_point: Vec<Option<Vec<u32>>>,
}

impl Holders {
    pub(super) fn new(model: &Model, data: &Dataset, points: &Points, statistics: &Statistics) -> Holders {
        let features = model.definition().learned.features.iter().zip(&points.features);
        let levels = &statistics.levels;
        let mut unit_of_point = Vec::new();
        for ((schema, points), found) in features.zip(&levels.features) {
            let by_level = data.task() == Task::Graph && matches!(schema.kind, Kind::Categorical | Kind::Binary);
            unit_of_point.extend(points.iter().map(|point| {
                let level = match (point, &found.values) {
                    _ if !by_level => return None,
                    (Point::Missing, _) => return Some(found.missing.unwrap_or(u32::MAX)),
                    (Point::Level(name), LevelValues::Names(names)) => names.iter().position(|known| known == name),
                    (Point::Number(x), LevelValues::Numbers(numbers)) => numbers.iter().position(|known| known == x),
                    _ => None,
                };
                Some(level.map_or(u32::MAX, |level| found.units.start + level as u32))
            }));
        }
        let mut by_unit: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
        if data.task() == Task::Graph {
            for (position, graph) in (0u32..).zip(data.items()) {
                let nodes = data.nodes_of(*graph as usize);
                for unit in nodes.flat_map(|node| levels.of_node(node).units) {
                    let holders = by_unit.entry(*unit).or_default();
                    if holders.last() != Some(&position) {
                        holders.push(position);
                    }
                }
            }
        }
        let holders = |unit: Option<u32>| unit.map(|unit| by_unit.get(&unit).cloned().unwrap_or_default());
        Holders { by_point: unit_of_point.into_iter().map(holders).collect() }
    }

    /// Whether a resample holds each point.
    pub(super) fn present(&self, counts: &[u32]) -> Vec<bool> {
        let held = |items: &Vec<u32>| items.iter().any(|position| counts[*position as usize] > 0);
        self.by_point.iter().map(|items| items.as_ref().is_none_or(held)).collect()
    }
}
