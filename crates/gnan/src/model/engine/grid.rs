//! The grids of feature pairs: which free values belong to cells, and which cells are neighbours. A cell with little
//! support is held near those beside it.

use std::collections::HashMap;

use crate::dataset::{FeatureBins, FeaturePair};
use crate::model::parameters::Layout;
use crate::model::schema::FeatureSchema;

/// Strength of the penalty on the squared difference of neighbouring cells, times that of L2.
const SMOOTHING: f32 = 1.0;

/// The free values of all feature pairs.
pub(super) struct PairGrid {
    /// The first free value of a feature pair; these come after all other features.
    pub first_value: usize,
    /// Free values of cells that differ by one bin of a number.
    neighbours: Vec<[usize; 2]>,
}

impl PairGrid {
    pub(super) fn new(features: &[FeatureSchema], layout: &Layout) -> PairGrid {
        let mut grid = PairGrid { first_value: layout.values, neighbours: Vec::new() };
        for (feature, place) in features.iter().zip(&layout.features) {
            let Some(pair) = &feature.pair else { continue };
            grid.first_value = grid.first_value.min(place.first_value);
            let levels = feature.levels.iter().enumerate();
            let known: HashMap<&str, usize> =
                levels.map(|(level, of)| (of.name.as_str(), place.first_value + level)).collect();
            let [rows, columns] = pair.members.each_ref().map(|member| member.names());
            let value = |row: usize, column: usize| {
                known.get(FeaturePair::cell_name(&rows[row], &columns[column]).as_str()).copied()
            };
            // The last bin is that of missing values, which has no neighbours.
            let steps = |member: usize, bins: usize| match pair.members[member].bins {
                FeatureBins::Edges(_) => bins.saturating_sub(2),
                _ => 0,
            };
            for row in 0..steps(0, rows.len()) {
                let pairs = (0..columns.len()).filter_map(|column| value(row, column).zip(value(row + 1, column)));
                grid.neighbours.extend(pairs.map(|(a, b)| [a, b]));
            }
            for column in 0..steps(1, columns.len()) {
                let pairs = (0..rows.len()).filter_map(|row| value(row, column).zip(value(row, column + 1)));
                grid.neighbours.extend(pairs.map(|(a, b)| [a, b]));
            }
        }
        grid
    }

    /// Adds the gradient of the smoothness penalty to that of the values, `[values, outputs]`.
    pub(super) fn smooth(&self, values: &[f32], gradient: &mut [f32], outputs: usize, weight_decay: f32) {
        for [a, b] in &self.neighbours {
            for c in 0..outputs {
                let penalty = SMOOTHING * weight_decay * (values[a * outputs + c] - values[b * outputs + c]);
                gradient[a * outputs + c] += penalty;
                gradient[b * outputs + c] -= penalty;
            }
        }
    }
}
