//! Piecewise functions of one number: what a shape function is, exactly.
//!
//! A ReLU network is linear between its knots, a B-spline cubic. With `u` from 0 to 1 between two knots,
//!
//! ```text
//! value = from + u * (to - from) + u * (1 - u) * (p + q * u)
//! ```
//!
//! where the bends `p` and `q` are 0 in a linear function, and so left out.

use serde::{Deserialize, Serialize};

/// Knots whose removal moves the function by no more than this, relative to its value there, are not kept.
const NEGLIGIBLE: f64 = 1e-12;

/// Points by which a piece that is not linear is drawn.
const POINTS_PER_PIECE: usize = 16;

/// A continuous function, linear or cubic between its knots, with a slope of its own before the first and after the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Piecewise {
    /// Where pieces meet, ascending; at least one.
    pub knots: Vec<f64>,
    /// The values at the knots, `[knots][outputs]`.
    pub values: Vec<Vec<f64>>,
    /// The bends `p` and `q` between every knot and the next, `[knots - 1][outputs]`; empty: all pieces are linear.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub bends: Vec<Vec<[f64; 2]>>,
    /// Slope before the first knot, per output.
    pub left_slope: Vec<f64>,
    /// Slope after the last knot, per output.
    pub right_slope: Vec<f64>,
}

impl Piecewise {
    /// The values at `x`, per output.
    pub fn evaluate(&self, x: f64) -> Vec<f64> {
        let after = self.knots.partition_point(|knot| *knot <= x);
        if after == 0 {
            return along(&self.values[0], &self.left_slope, x - self.knots[0]);
        }
        if after == self.knots.len() {
            return along(&self.values[after - 1], &self.right_slope, x - self.knots[after - 1]);
        }
        let (from, to) = (self.knots[after - 1], self.knots[after]);
        let share = (x - from) / (to - from);
        let ends = self.values[after - 1].iter().zip(&self.values[after]);
        let line = ends.map(|(start, end)| between([from, to], [*start, *end], x));
        match self.bends.get(after - 1) {
            None => line.collect(),
            Some(bends) => {
                line.zip(bends).map(|(line, [p, q])| line + share * (1.0 - share) * (p + q * share)).collect()
            }
        }
    }

    /// The sum of the function over places, per output. On a line that is its value at their mean, as often as they are.
    pub(crate) fn sum_over(&self, places: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut sums = vec![0.0; self.outputs()];
        let mut add = |place: f64, times: f64| {
            sums.iter_mut().zip(self.evaluate(place)).for_each(|(sum, value)| *sum += times * value);
        };
        if !self.bends.is_empty() {
            places.for_each(|place| add(place, 1.0));
            return sums;
        }
        let mut pieces = vec![(0.0, 0.0); self.knots.len() + 1];
        for place in places {
            let (count, mean) = &mut pieces[self.knots.partition_point(|knot| *knot <= place)];
            *count += 1.0;
            *mean += (place - *mean) / *count;
        }
        pieces.into_iter().filter(|(count, _)| *count > 0.0).for_each(|(count, mean)| add(mean, count));
        sums
    }

    /// Number of outputs.
    pub fn outputs(&self) -> usize {
        self.left_slope.len()
    }

    /// The same function of `x`, where this one is a function of `(x - shift) / scale`.
    pub fn of_unscaled(mut self, shift: f64, scale: f64) -> Piecewise {
        // A knot so far out that it is no longer a number is beyond every value; its outer line begins sooner.
        let place = |knot: f64| knot * scale + shift;
        while self.knots.len() > 1 && !place(self.knots[0]).is_finite() {
            self.left_slope = self.slope_between(0, 1);
            self.knots.remove(0);
            self.values.remove(0);
            self.bends.drain(..1.min(self.bends.len()));
        }
        while self.knots.len() > 1 && !place(self.knots[self.knots.len() - 1]).is_finite() {
            self.right_slope = self.slope_between(self.knots.len() - 2, self.knots.len() - 1);
            self.knots.pop();
            self.values.pop();
            self.bends.pop();
        }
        self.knots.iter_mut().for_each(|knot| *knot = place(*knot));
        self.left_slope.iter_mut().chain(&mut self.right_slope).for_each(|slope| *slope /= scale);
        self
    }

    fn slope_between(&self, from: usize, to: usize) -> Vec<f64> {
        let width = self.knots[to] - self.knots[from];
        self.values[from].iter().zip(&self.values[to]).map(|(from, to)| (to - from) / width).collect()
    }

    /// `(value - minus) * times`, per output.
    pub fn rescaled(mut self, minus: &[f64], times: &[f64]) -> Piecewise {
        for values in &mut self.values {
            values
                .iter_mut()
                .zip(minus)
                .zip(times)
                .for_each(|((value, minus), times)| *value = (*value - minus) * times);
        }
        for bends in &mut self.bends {
            bends.iter_mut().zip(times).for_each(|([p, q], times)| (*p, *q) = (*p * times, *q * times));
        }
        for slopes in [&mut self.left_slope, &mut self.right_slope] {
            slopes.iter_mut().zip(times).for_each(|(slope, times)| *slope *= times);
        }
        self
    }

    /// The part between `from` and `to`, as points to join by lines: both ends, every knot between them, and points
    /// between knots where the function is not linear.
    pub fn points_between(&self, from: f64, to: f64) -> Vec<(f64, Vec<f64>)> {
        let mut places = vec![from];
        places.extend(self.knots.iter().copied().filter(|knot| *knot > from && *knot < to));
        places.extend((to > from).then_some(to));
        if !self.bends.is_empty() {
            let steps = |pair: &[f64]| {
                let (from, width) = (pair[0], pair[1] - pair[0]);
                (1..POINTS_PER_PIECE).map(move |step| from + width * step as f64 / POINTS_PER_PIECE as f64)
            };
            let between: Vec<f64> = places.windows(2).flat_map(steps).collect();
            places.extend(between);
            places.sort_by(f64::total_cmp);
            places.dedup();
        }
        places.into_iter().map(|x| (x, self.evaluate(x))).collect()
    }

    /// The function, which is linear between its knots, without those at which its slope does not change.
    pub(super) fn simplified(self) -> Piecewise {
        let mut kept: Vec<usize> = vec![0];
        for knot in 1..self.knots.len().saturating_sub(1) {
            let (before, after) = (kept[kept.len() - 1], knot + 1);
            // Knots can be very far away and values there very large: neither shows what is negligible here.
            let ends = [self.knots[before], self.knots[after]];
            let bends = (0..self.left_slope.len()).any(|c| {
                let line = between(ends, [self.values[before][c], self.values[after][c]], self.knots[knot]);
                (self.values[knot][c] - line).abs() > NEGLIGIBLE * self.values[knot][c].abs()
            });
            if bends {
                kept.push(knot);
            }
        }
        if self.knots.len() > 1 {
            kept.push(self.knots.len() - 1);
        }
        Piecewise {
            knots: kept.iter().map(|knot| self.knots[*knot]).collect(),
            values: kept.iter().map(|knot| self.values[*knot].clone()).collect(),
            ..self
        }
    }
}

/// The line between two points at `x`, from the nearer of them: the other may be so far away that it rounds.
pub(super) fn between(knots: [f64; 2], values: [f64; 2], x: f64) -> f64 {
    let (width, rise) = (knots[1] - knots[0], values[1] - values[0]);
    let (before, after) = (x - knots[0], knots[1] - x);
    if before <= after { values[0] + before / width * rise } else { values[1] - after / width * rise }
}

fn along(start: &[f64], slope: &[f64], by: f64) -> Vec<f64> {
    start.iter().zip(slope).map(|(start, slope)| start + slope * by).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hat() -> Piecewise {
        Piecewise {
            knots: vec![-1.0, 0.0, 1.0],
            values: vec![vec![0.0], vec![1.0], vec![0.0]],
            bends: Vec::new(),
            left_slope: vec![0.0],
            right_slope: vec![-1.0],
        }
    }

    #[test]
    fn values_lie_on_the_lines_between_knots_and_beyond() {
        let at = |x: f64| hat().evaluate(x)[0];
        assert_eq!([at(-5.0), at(-0.5), at(0.0), at(0.25), at(3.0)], [0.0, 0.5, 1.0, 0.75, -2.0]);
    }

    /// A knot at the end of the world takes nothing from those that matter.
    #[test]
    fn far_knots_do_no_harm() {
        let mut far = hat();
        far.knots.insert(0, -1e16);
        far.values.insert(0, vec![2e16]);
        far.knots.push(1e17);
        far.values.push(vec![-3e17]);
        let far = far.simplified();
        assert_eq!(far.knots.len(), 5);
        for x in [-0.75, -0.5, 0.0, 0.25, 0.75] {
            assert_eq!(far.evaluate(x), hat().evaluate(x));
        }
        assert!((far.evaluate(-1.5)[0] - 1.0).abs() < 1e-9, "{:?}", far.evaluate(-1.5));
    }

    #[test]
    fn bends_are_cubic_and_vanish_at_knots() {
        let bent = Piecewise { bends: vec![vec![[4.0, 0.0]], vec![[0.0, 8.0]]], ..hat() };
        let at = |x: f64| bent.evaluate(x)[0];
        assert_eq!([at(-1.0), at(-0.5), at(0.0), at(0.5), at(1.0), at(2.0)], [0.0, 1.5, 1.0, 1.5, 0.0, -1.0]);
        let wide = bent.clone().of_unscaled(10.0, 2.0).rescaled(&[1.0], &[-3.0]);
        assert_eq!(wide.evaluate(11.0), [(at(0.5) - 1.0) * -3.0]);
        let drawn = bent.points_between(-1.0, 2.0);
        assert_eq!(drawn.len(), 3 * 16 + 1);
        assert!(drawn.iter().all(|(x, y)| y == &bent.evaluate(*x)));
    }

    #[test]
    fn sums_over_places_are_those_of_the_values() {
        let places = [-3.0, -0.5, -0.25, 0.0, 0.125, 0.5, 2.0, 4.0];
        for curve in [hat(), Piecewise { bends: vec![vec![[4.0, 0.0]], vec![[0.0, 8.0]]], ..hat() }] {
            let expected: f64 = places.iter().map(|x| curve.evaluate(*x)[0]).sum();
            assert!((curve.sum_over(places.into_iter())[0] - expected).abs() < 1e-12);
        }
    }

    #[test]
    fn units_of_the_argument_and_of_the_values_can_change() {
        let wide = hat().of_unscaled(10.0, 2.0).rescaled(&[1.0], &[-3.0]);
        // At x = 11 the hat is at (11 - 10) / 2 = 0.5, where it is 0.5.
        assert_eq!(wide.evaluate(11.0), [1.5]);
        assert_eq!(wide.evaluate(16.0), [(-2.0 - 1.0) * -3.0]);
    }

    #[test]
    fn a_part_is_given_by_its_ends_and_the_knots_between() {
        let part = hat().points_between(-0.5, 2.0);
        assert_eq!(
            part.iter().map(|(x, y)| (*x, y[0])).collect::<Vec<_>>(),
            [(-0.5, 0.5), (0.0, 1.0), (1.0, 0.0), (2.0, -1.0)]
        );
        assert_eq!(hat().points_between(0.0, 0.0).len(), 1);
    }
}
