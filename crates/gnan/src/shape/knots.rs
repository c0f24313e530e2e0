//! The exact knots of a shape network.
//!
//! A ReLU network of one number is piecewise linear. Layer by layer, the values before the ReLU are linear between the
//! knots found so far; where one of them changes its sign there is a new knot. Nothing is sampled: between two
//! knots of the result the network is a line, and at the knots its values are computed in f64.

use super::network::Architecture;
use super::piecewise::{Piecewise, between};

/// Knots beyond this are of no consequence: inputs are kept within it.
const FARTHEST: f64 = 1e18;

impl Architecture {
    /// The function that the network `block` computes, knot by knot.
    pub fn knots(&self, block: &[f32]) -> Piecewise {
        let mut layer = Lines { knots: vec![0.0], values: vec![vec![0.0]], left: vec![1.0], right: vec![1.0] };
        for (index, (weight, bias)) in self.layer_parts().enumerate() {
            let last = index == self.hidden_layers();
            let wide = |range: std::ops::Range<usize>| block[range].iter().map(|w| f64::from(*w)).collect::<Vec<f64>>();
            layer = layer.through(&wide(weight), &wide(bias), last);
            if !last {
                layer.add_crossings();
                layer.relu();
            }
        }
        let Lines { knots, values, left, right } = layer;
        Piecewise { knots, values, bends: Vec::new(), left_slope: left, right_slope: right }.simplified()
    }

    /// The places between `from` and `to`, both included, at which a hidden unit of the network `block` (with the
    /// dropout mask `mask`) is switched on or off: between them its outputs are lines, and so are their gradients.
    pub(super) fn bends(&self, block: &[f32], mask: Option<&[f32]>, from: f64, to: f64) -> Vec<f64> {
        let still = vec![0.0];
        let mut layer =
            Lines { knots: vec![from, to], values: vec![vec![from], vec![to]], left: still.clone(), right: still };
        layer.knots.dedup();
        layer.values.truncate(layer.knots.len());
        for index in 0..self.hidden_layers() {
            let (weight, bias) = self.hidden_part(index);
            let wide = |range: std::ops::Range<usize>| block[range].iter().map(|w| f64::from(*w)).collect::<Vec<f64>>();
            layer = layer.through(&wide(weight), &wide(bias), false);
            layer.add_crossings();
            layer.relu();
            if let Some(mask) = mask {
                let mask = &mask[index * self.hidden..][..self.hidden];
                layer.values.iter_mut().for_each(|values| {
                    values.iter_mut().zip(mask).for_each(|(value, kept)| *value *= f64::from(*kept));
                });
            }
        }
        layer.knots
    }
}

/// The units of one layer, each piecewise linear with the same knots.
struct Lines {
    knots: Vec<f64>,
    /// `[knots][units]`
    values: Vec<Vec<f64>>,
    /// Slopes before the first knot.
    left: Vec<f64>,
    /// Slopes after the last knot.
    right: Vec<f64>,
}

impl Lines {
    /// The next layer before its ReLU. Hidden weights are stored by input, the last layer's by output.
    fn through(&self, weight: &[f64], bias: &[f64], by_output: bool) -> Lines {
        let apply = |from: &[f64], start: &[f64]| {
            let mut to = start.to_vec();
            for (i, value) in from.iter().enumerate().filter(|(_, value)| **value != 0.0) {
                for (o, to) in to.iter_mut().enumerate() {
                    *to += value * if by_output { weight[o * from.len() + i] } else { weight[i * start.len() + o] };
                }
            }
            to
        };
        let still = vec![0.0; bias.len()];
        Lines {
            knots: self.knots.clone(),
            values: self.values.iter().map(|values| apply(values, bias)).collect(),
            left: apply(&self.left, &still),
            right: apply(&self.right, &still),
        }
    }

    /// Adds a knot wherever a unit changes its sign.
    fn add_crossings(&mut self) {
        let last = self.knots.len() - 1;
        let mut places = Vec::new();
        for unit in 0..self.left.len() {
            places
                .extend(crossing(self.knots[0], self.values[0][unit], self.left[unit]).filter(|x| *x < self.knots[0]));
            places.extend(
                crossing(self.knots[last], self.values[last][unit], self.right[unit]).filter(|x| *x > self.knots[last]),
            );
            for knot in 0..last {
                let (from, to) = (self.values[knot][unit], self.values[knot + 1][unit]);
                if from * to < 0.0 {
                    let width = self.knots[knot + 1] - self.knots[knot];
                    // From the nearer end: the other may be so far away that it rounds.
                    places.push(match from.abs() < to.abs() {
                        true => self.knots[knot] + width * (from / (from - to)),
                        false => self.knots[knot + 1] - width * (to / (to - from)),
                    });
                }
            }
        }
        places.extend(&self.knots);
        places.retain(|x| x.abs() <= FARTHEST);
        places.sort_by(f64::total_cmp);
        places.dedup();
        self.values = places.iter().map(|x| self.at(*x)).collect();
        self.knots = places;
    }

    /// The units at a place.
    fn at(&self, x: f64) -> Vec<f64> {
        let after = self.knots.partition_point(|knot| *knot <= x);
        let units = 0..self.left.len();
        if after == 0 {
            return units.map(|unit| self.values[0][unit] + self.left[unit] * (x - self.knots[0])).collect();
        }
        let (before, from) = (&self.values[after - 1], self.knots[after - 1]);
        if after == self.knots.len() {
            return units.map(|unit| before[unit] + self.right[unit] * (x - from)).collect();
        }
        let ends = [from, self.knots[after]];
        units.map(|unit| between(ends, [before[unit], self.values[after][unit]], x)).collect()
    }

    fn relu(&mut self) {
        let last = self.knots.len() - 1;
        let step = |knot: f64| 1.0 + knot.abs();
        for unit in 0..self.left.len() {
            // No unit changes its sign beyond the outer knots: any point out there shows which it is.
            if self.values[0][unit] - self.left[unit] * step(self.knots[0]) <= 0.0 {
                self.left[unit] = 0.0;
            }
            if self.values[last][unit] + self.right[unit] * step(self.knots[last]) <= 0.0 {
                self.right[unit] = 0.0;
            }
        }
        self.values.iter_mut().flatten().for_each(|value| *value = value.max(0.0));
    }
}

/// Where a line through `(x, value)` crosses zero.
fn crossing(x: f64, value: f64, slope: f64) -> Option<f64> {
    (slope != 0.0).then(|| x - value / slope)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    /// Between and beyond the knots the function is the network, evaluated layer by layer.
    #[test]
    fn knots_are_exact() {
        for (seed, layers) in [1, 2, 3, 3, 4, 5].into_iter().enumerate() {
            let size = Architecture { layers, hidden: 16, outputs: 2 };
            let mut block = vec![0.0; size.block_len()];
            let mut random = Stream::named(seed as u64, "knots", 0);
            size.initialise(&mut block, 1.0, &mut random);
            let exact = size.knots(&block);
            assert!(exact.knots.windows(2).all(|pair| pair[0] < pair[1]));
            assert!(layers > 1 || exact.knots.len() <= 2, "a line has no bends");
            let mut places: Vec<f64> = (0..400).map(|_| 12.0 * random.uniform() - 6.0).collect();
            places.extend(exact.knots.windows(2).map(|pair| (pair[0] + pair[1]) / 2.0));
            places.extend([-1e3, 1e3, 0.0]);
            for x in places {
                for (found, expected) in exact.evaluate(x).into_iter().zip(size.evaluate(&block, x)) {
                    assert!((found - expected).abs() < 1e-9 * expected.abs().max(1.0), "{layers} layers at {x}");
                }
            }
        }
    }

    /// Wherever the function bends there is a place, the ends are places, and a network of outputs 0 has them too.
    #[test]
    fn bends_are_those_of_the_hidden_units() {
        let size = Architecture { layers: 3, hidden: 16, outputs: 2 };
        let mut block = vec![0.0; size.block_len()];
        size.initialise(&mut block, 1.0, &mut Stream::named(4, "bends", 0));
        let exact = size.knots(&block);
        let bends = size.bends(&block, None, -2.0, 3.0);
        assert_eq!((bends[0], bends[bends.len() - 1]), (-2.0, 3.0));
        assert!(bends.windows(2).all(|pair| pair[0] < pair[1]));
        for knot in exact.knots.iter().filter(|knot| **knot > -2.0 && **knot < 3.0) {
            assert!(bends.iter().any(|bend| (bend - knot).abs() < 1e-9), "{knot}");
        }
        let mut zero = block.clone();
        zero[size.output_weight()].fill(0.0);
        assert_eq!(size.bends(&zero, None, -2.0, 3.0), bends);
        // What a mask drops does not bend what follows.
        assert!(size.bends(&block, Some(&[0.0; 32]), -2.0, 3.0).len() < bends.len());
        assert_eq!(size.bends(&block, None, 1.0, 1.0), [1.0]);
        assert_eq!(Architecture { layers: 1, ..size }.bends(&block, None, 0.0, 1.0), [0.0, 1.0]);
    }

    #[test]
    fn a_network_of_zeros_is_flat() {
        let size = Architecture { layers: 3, hidden: 16, outputs: 1 };
        let flat = size.knots(&vec![0.0; size.block_len()]);
        assert_eq!((flat.knots.len(), flat.evaluate(7.0)), (1, vec![0.0]));
    }
}
