//! The curve of one feature: its exact shape function as points, and how the data lie under it.

use serde::Serialize;

use crate::model::Bin;

/// The exact curve of a feature over the range of its training values, and how the data lie under it.
#[derive(Clone, Debug, Serialize)]
pub struct ShapeCurve {
    /// Points to join by lines: the ends of the range and every knot between them, with values per output; points between
    /// knots as well where the curve is not linear.
    pub points: Vec<(f64, Vec<f64>)>,
    /// How the training values lie; empty where the model does not remember it.
    pub bins: Vec<Bin>,
    /// The smallest training value, the deciles and the largest value; empty where the model does not remember them.
    pub deciles: Vec<f64>,
}

impl ShapeCurve {
    /// A curve through some points, x rising, with no data under it; points that are not finite are left out.
    pub fn through(points: impl Iterator<Item = (f64, Vec<f64>)>) -> ShapeCurve {
        let finite = |(x, values): &(f64, Vec<f64>)| x.is_finite() && values.iter().all(|value| value.is_finite());
        ShapeCurve { points: points.filter(finite).collect(), bins: Vec::new(), deciles: Vec::new() }
    }

    /// The numbers at which the curve begins and ends; `None` without points.
    pub fn ends(&self) -> Option<[f64; 2]> {
        Some([self.points.first()?.0, self.points.last()?.0])
    }

    /// The part of the curve between two numbers, which are points of it where the curve is known there.
    pub fn between(&self, low: f64, high: f64) -> Vec<(f64, Vec<f64>)> {
        let Some([from, to]) = self.ends() else { return Vec::new() };
        let end = |x: f64| (from <= x && x <= to).then(|| (x, self.value_at(x)));
        let within = self.points.iter().filter(|(x, _)| low < *x && *x < high).cloned();
        end(low).into_iter().chain(within).chain(end(high)).collect()
    }

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
        let Some([from, to]) = self.ends() else { return Vec::new() };
        let steps = if from == to { 0 } else { count.saturating_sub(1) };
        let at = |step: usize| {
            let share = step as f64 / steps.max(1) as f64;
            from * (1.0 - share) + to * share
        };
        (0..=steps).map(at).collect()
    }

    /// A value that this share of the training nodes does not exceed, to a tenth; where values are not recorded, so far
    /// along the curve.
    pub fn quantile(&self, share: f64) -> f64 {
        let [from, to] = self.ends().unwrap_or_default();
        match self.deciles.len().checked_sub(1) {
            Some(last) => self.deciles[(share.clamp(0.0, 1.0) * last as f64).round() as usize],
            None => from * (1.0 - share) + to * share,
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Support;

    fn curve() -> ShapeCurve {
        let bin =
            |from: f64, nodes| Bin { from, to: from + 1.0, support: Support { nodes, graphs: nodes, items: nodes } };
        let bins = vec![bin(0.0, 1), bin(1.0, 50), bin(2.0, 0), bin(3.0, 30), bin(4.0, 20)];
        ShapeCurve { points: vec![(0.0, vec![0.0]), (5.0, vec![10.0])], bins, deciles: Vec::new() }
    }

    #[test]
    fn a_curve_is_linear_between_its_points_and_ends_with_them() {
        assert_eq!([-1.0, 0.0, 2.5, 5.0, 7.0].map(|x| curve().value_at(x)[0]), [0.0, 0.0, 5.0, 10.0, 10.0]);
        assert_eq!(curve().evenly_spaced(5), [0.0, 1.25, 2.5, 3.75, 5.0]);
        let point = ShapeCurve { points: vec![(2.0, vec![1.0])], bins: Vec::new(), deciles: Vec::new() };
        assert_eq!((point.evenly_spaced(5), point.between(0.0, 4.0)), (vec![2.0], point.points.clone()));
        let nothing = ShapeCurve { points: Vec::new(), bins: Vec::new(), deciles: Vec::new() };
        assert!(nothing.value_at(1.0).is_empty() && nothing.evenly_spaced(5).is_empty());
    }

    #[test]
    fn a_part_of_a_curve_ends_where_it_is_cut_or_where_the_curve_does() {
        let at = |x: f64| (x, vec![2.0 * x]);
        assert_eq!(curve().between(1.0, 3.0), [at(1.0), at(3.0)]);
        assert_eq!(curve().between(-1.0, 3.0), [at(0.0), at(3.0)]);
        let points = [(0.0, vec![1.0]), (1.0, vec![f64::NAN]), (f64::INFINITY, vec![2.0])];
        assert_eq!(ShapeCurve::through(points.into_iter()).points, [(0.0, vec![1.0])]);
    }

    #[test]
    fn quantiles_are_values_or_lie_along_the_curve() {
        let deciles = vec![0.0, 1.0, 1.0, 1.0, 1.0, 1.0, 3.0, 3.0, 3.0, 4.0, 4.5];
        let known = ShapeCurve { deciles, ..curve() };
        assert_eq!([0.0, 0.1, 0.5, 0.9, 1.0].map(|share| known.quantile(share)), [0.0, 1.0, 1.0, 4.0, 4.5]);
        assert_eq!(curve().quantile(0.1), 0.5);
    }

    /// Of 101 nodes the 1st, 26th, 51st, 76th and 101st: the bins from 0, 1, 1, 3 and 4.
    #[test]
    fn the_quartiles_are_where_values_lie() {
        assert_eq!(curve().quartile_bins().iter().map(|bin| bin.from).collect::<Vec<_>>(), [0.0, 1.0, 3.0, 4.0]);
    }
}
