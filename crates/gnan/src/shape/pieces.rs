//! The pieces of a piecewise function, with their exact extremes.

use super::piecewise::Piecewise;

/// One piece of one output: `start + u * rise + u * (1 - u) * (p + q * u)` with `u` from 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Piece {
    /// Where it begins.
    pub from: f64,
    /// How wide it is.
    pub width: f64,
    start: f64,
    rise: f64,
    bend: [f64; 2],
}

impl Piecewise {
    /// The pieces of one output, between the first knot and the last.
    pub fn pieces(&self, output: usize) -> impl Iterator<Item = Piece> {
        (1..self.knots.len()).map(move |knot| {
            let start = self.values[knot - 1][output];
            Piece {
                from: self.knots[knot - 1],
                width: self.knots[knot] - self.knots[knot - 1],
                start,
                rise: self.values[knot][output] - start,
                bend: self.bends.get(knot - 1).map_or([0.0; 2], |bends| bends[output]),
            }
        })
    }
}

impl Piece {
    fn at(&self, u: f64) -> f64 {
        self.start + u * self.rise + u * (1.0 - u) * (self.bend[0] + self.bend[1] * u)
    }

    /// The slope times the width: `rise + p + 2 (q - p) u - 3 q u^2`.
    fn slope(&self, u: f64) -> f64 {
        let [p, q] = self.bend;
        self.rise + p + 2.0 * (q - p) * u - 3.0 * q * u * u
    }

    /// The slopes at both ends, times the width.
    pub fn ends(&self) -> (f64, f64) {
        (self.slope(0.0), self.slope(1.0))
    }

    /// The lowest and the highest slope, times the width.
    pub fn rises(&self) -> (f64, f64) {
        let [p, q] = self.bend;
        let turn = (q - p) / (3.0 * q);
        extremes([0.0, 1.0, turn].into_iter().filter(|u| (0.0..=1.0).contains(u)).map(|u| self.slope(u)))
    }

    /// The change of the slope at both ends, times the width twice: it is a line between them.
    pub fn bends(&self) -> [f64; 2] {
        let [p, q] = self.bend;
        [2.0 * (q - p), 2.0 * (q - p) - 6.0 * q]
    }

    /// The lowest and the highest value.
    pub fn range(&self) -> (f64, f64) {
        let [p, q] = self.bend;
        // Where the slope is 0: 3 q u^2 - 2 (q - p) u - (rise + p) = 0, solved without cancellation.
        let (a, half, c) = (3.0 * q, p - q, -(self.rise + p));
        let root = (half * half - a * c).max(0.0).sqrt();
        let sum = -(half + root.copysign(half));
        let turns = [sum / a, c / sum].into_iter().filter(|u| (0.0..=1.0).contains(u));
        extremes([0.0, 1.0].into_iter().chain(turns).map(|u| self.at(u)))
    }
}

/// The lowest and the highest of some numbers.
pub(crate) fn extremes(values: impl Iterator<Item = f64>) -> (f64, f64) {
    values.fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), x| (low.min(x), high.max(x)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// No place of a piece is beyond its extremes, and dense sampling comes near to them.
    #[test]
    fn extremes_are_those_of_a_dense_look() {
        let mut random = Stream::named(3, "pieces", 0);
        for _ in 0..500 {
            let mut any = || if random.below(5) == 0 { 0.0 } else { random.normal() };
            let piece = Piece { from: 0.0, width: 1.0, start: any(), rise: any(), bend: [any(), any()] };
            let places = || (0..=2000).map(|step| f64::from(step) / 2000.0);
            for (found, dense) in [
                (piece.range(), extremes(places().map(|u| piece.at(u)))),
                (piece.rises(), extremes(places().map(|u| piece.slope(u)))),
            ] {
                assert!(
                    (found.0 - dense.0).abs() < 1e-5 && (found.1 - dense.1).abs() < 1e-5,
                    "{piece:?} {found:?} {dense:?}"
                );
                assert!(found.0 <= dense.0 + 1e-12 && found.1 >= dense.1 - 1e-12, "{piece:?}");
            }
            let [first, last] = piece.bends();
            let change = |u: f64| (piece.slope(u + 1e-6) - piece.slope(u - 1e-6)) / 2e-6;
            assert!((change(0.0) - first).abs() < 1e-6 && (change(1.0) - last).abs() < 1e-6);
        }
    }
}
