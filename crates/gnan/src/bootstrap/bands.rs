//! Bands: from many values of one number to the interval that holds 95 % of them.

use serde::Serialize;

use crate::confidence::{TAIL, quantile};

/// A 95 % percentile interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Band {
    /// The 2.5 % percentile.
    pub low: f64,
    /// The 97.5 % percentile.
    pub high: f64,
}

impl Band {
    /// The band of some values, which are put in order; no values: 0 to 0.
    pub fn of(values: &mut [f64]) -> Band {
        if values.is_empty() {
            return Band::default();
        }
        values.sort_unstable_by(f64::total_cmp);
        Band { low: quantile(values, TAIL), high: quantile(values, 1.0 - TAIL) }
    }

    /// Whether it holds 0: the number may as well be nothing.
    pub fn holds_zero(&self) -> bool {
        !(self.low > 0.0 || self.high < 0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: 11 values 0, 1, ..., 10; place 0.025 * 10 = 0.25 lies a quarter between the first two.
    #[test]
    fn percentiles_by_hand() {
        let mut values: Vec<f64> = (0..=10).rev().map(f64::from).collect();
        assert_eq!(Band::of(&mut values), Band { low: 0.25, high: 9.75 });
        assert_eq!(Band::of(&mut [3.0]), Band { low: 3.0, high: 3.0 });
        assert_eq!(Band::of(&mut []), Band::default());
        assert_eq!(Band::of(&mut [-2.0, 2.0]), Band { low: -1.9, high: 1.9 });
        assert!(Band { low: -1.0, high: 0.0 }.holds_zero() && !Band { low: 0.1, high: 0.2 }.holds_zero());
    }
}
