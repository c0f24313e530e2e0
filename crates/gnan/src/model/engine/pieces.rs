//! Networks evaluated piece by piece: exact, however many distinct values a feature has.
//!
//! Between two bends a network is a line, and so is the gradient of each of its parameters. Two points inside a piece
//! therefore determine the network on all of it, and carry the gradient of every value in it:
//!
//! ```text
//! f(x) = (1 - w) * f(first) + w * f(second),   w = (x - first) / (second - first)
//! ```
//!
//! where `w` may lie outside 0..1. Bends move with every step, so that points, rows of `T` and the rows of units are laid
//! out anew whenever tables are evaluated.

use rayon::prelude::*;

use crate::model::levels::outer_cuts;
use crate::model::parameters::Layout;
use crate::model::schema::Scale;
use crate::shape::{Bank, EvalPoints};
use crate::statistics::{FeatureLevels, LevelValues, Levels};

use super::EngineModel;
use super::binding::Binding;

/// Why shape functions have an architecture and bends.
const NETWORKS: &str = "only networks are evaluated piece by piece";

/// The row of `T` that every unit takes, and the share of the row after it; nothing: unit `u` takes row `u`.
#[derive(Default)]
pub(super) struct UnitRows(Vec<(u32, f32)>);

impl UnitRows {
    /// The row of a unit, and the share of the row after it.
    #[inline(always)]
    pub(super) fn of(&self, unit: u32) -> (usize, f32) {
        match self.0.get(unit as usize) {
            Some((row, share)) => (*row as usize, *share),
            None => (unit as usize, 0.0),
        }
    }

    /// Whether every unit takes a row of its own.
    pub(super) fn are_plain(&self) -> bool {
        self.0.is_empty()
    }
}

/// The features whose networks are evaluated piece by piece.
pub(super) struct Pieces {
    features: Vec<PieceFeature>,
    /// Rows of all other units.
    other_rows: usize,
}

struct PieceFeature {
    /// Its number among the features.
    place: usize,
    network: usize,
    scale: Scale,
}

/// The values in one piece, up to `end`, and the points that stand for them; a single point where both are the same.
struct PieceValues {
    end: usize,
    points: [f32; 2],
}

impl EngineModel<'_> {
    /// Whether the network of a feature with these levels is evaluated piece by piece.
    pub(super) fn is_pieced(&self, levels: &FeatureLevels) -> bool {
        let many = self.pieces_above.filter(|_| self.shape.is_network() && !levels.interpolated);
        matches!(&levels.values, LevelValues::Numbers(values) if many.is_some_and(|many| values.len() > many))
    }
}

impl Pieces {
    /// The features that are evaluated piece by piece, and the rows of all other units; `None`: there are none.
    pub(super) fn new(model: EngineModel<'_>, layout: &Layout, levels: &Levels) -> Option<(Pieces, UnitRows)> {
        let mut pieces = Pieces { features: Vec::new(), other_rows: 0 };
        let mut pieced = vec![false; levels.unit_count()];
        let features = model.features.iter().zip(&layout.features).zip(&levels.features).enumerate();
        for (place, ((schema, of_feature), levels)) in features {
            if let (Some(network), Some(scale), true) = (of_feature.network, schema.scale, model.is_pieced(levels)) {
                pieces.features.push(PieceFeature { place, network, scale });
                pieced[levels.units.start as usize..levels.units.end as usize].fill(true);
            }
        }
        if pieces.features.is_empty() {
            return None;
        }
        let row = |pieced: bool| {
            pieces.other_rows += usize::from(!pieced);
            (pieces.other_rows.saturating_sub(1) as u32, 0.0)
        };
        let unit_rows = UnitRows(pieced.into_iter().map(row).collect());
        Some((pieces, unit_rows))
    }

    /// Lays out points and rows for networks as they are; returns the number of rows of `T`.
    pub(super) fn lay_out(
        &self,
        shapes: &Bank,
        levels: &Levels,
        points: &mut EvalPoints,
        binding: &mut Binding,
        unit_rows: &mut UnitRows,
    ) -> usize {
        let size = shapes.architecture().expect(NETWORKS);
        let runs: Vec<Vec<PieceValues>> = (self.features.par_iter())
            .map(|feature| feature.runs(shapes, points.mask(size, feature.network), values_of(levels, feature.place)))
            .collect();
        let mut row = self.other_rows;
        let mut work = Vec::with_capacity(runs.len());
        let (mut rest, mut done) = (&mut unit_rows.0[..], 0);
        let mut all_points = Vec::with_capacity(runs.len());
        for (feature, runs) in self.features.iter().zip(&runs) {
            let units = &levels.features[feature.place].units;
            let (own, others) = rest[units.start as usize - done..].split_at_mut(units.len());
            (rest, done) = (others, units.end as usize);
            binding.set_first_row(feature.network, row);
            work.push((feature, runs, row, own));
            let mut of_feature: Vec<f32> = runs.iter().flat_map(PieceValues::distinct_points).copied().collect();
            row += of_feature.len();
            // The reference comes last.
            of_feature.push(0.0);
            all_points.push((feature.network, of_feature));
        }
        work.into_par_iter().for_each(|(feature, runs, row, unit_rows)| {
            feature.place_units(runs, row, values_of(levels, feature.place), unit_rows);
        });
        points.replace(&all_points, size.outputs);
        row
    }
}

fn values_of(levels: &Levels, place: usize) -> &[f64] {
    match &levels.features[place].values {
        LevelValues::Numbers(values) => values,
        LevelValues::Names(_) => unreachable!("a feature with a network has numbers"),
    }
}

impl PieceFeature {
    /// The pieces of the network that hold values, with points away from the bends.
    fn runs(&self, shapes: &Bank, mask: Option<&[f32]>, values: &[f64]) -> Vec<PieceValues> {
        let at = |place: usize| self.scale.apply(values[place]);
        let (from, to) = (at(0), at(values.len() - 1));
        let mut ends = shapes.bends(self.network, mask, from, to).expect(NETWORKS);
        ends.extend(outer_cuts(from, to));
        ends.sort_unstable_by(f64::total_cmp);
        ends.dedup();
        let mut runs = Vec::with_capacity(ends.len());
        let mut start = 0;
        for (piece, first) in ends.iter().enumerate() {
            let last = ends.get(piece + 1).unwrap_or(first);
            let end = match piece + 2 >= ends.len() {
                true => values.len(),
                false => start + values[start..].partition_point(|value| self.scale.apply(*value) < *last),
            };
            let width = last - first;
            let points = match end - start {
                0 => continue,
                1 => [at(start); 2],
                2 => [at(start), at(start + 1)],
                _ => [first + 0.25 * width, first + 0.75 * width],
            };
            runs.push(PieceValues { end, points: points.map(|point| point as f32) });
            start = end;
        }
        runs
    }

    /// Writes down where every value lies between the points of its piece.
    fn place_units(&self, runs: &[PieceValues], first_row: usize, values: &[f64], unit_rows: &mut [(u32, f32)]) {
        let (mut row, mut start) = (first_row, 0);
        for run in runs {
            let [first, second] = run.points.map(f64::from);
            let per_width = if second == first { 0.0 } else { 1.0 / (second - first) };
            for (unit_row, value) in unit_rows[start..run.end].iter_mut().zip(&values[start..run.end]) {
                *unit_row = (row as u32, ((self.scale.apply(*value) - first) * per_width) as f32);
            }
            row += run.distinct_points().len();
            start = run.end;
        }
    }
}

impl PieceValues {
    fn distinct_points(&self) -> &[f32] {
        if self.points[0] == self.points[1] { &self.points[..1] } else { &self.points }
    }
}
