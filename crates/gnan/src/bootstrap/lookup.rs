//! Bands by what they belong to.

use crate::explain::{FeatureValue, Point};

use super::bands::Band;
use super::intervals::Intervals;

impl Intervals {
    /// The band of the effect of a value at the anchor of its feature, for a shown output. Between two numbers that were
    /// looked at it is interpolated; beyond them, and for levels that were not looked at, there is none.
    pub fn shape_at(&self, feature: usize, value: FeatureValue<'_>, output: usize) -> Option<Band> {
        let bands = self.shapes.get(feature)?;
        self.at(feature, value, |place| bands.get(place)?.get(output).copied())
    }

    /// The same at any distance.
    pub fn effect_at(&self, feature: usize, value: FeatureValue<'_>, slot: usize, output: usize) -> Option<Band> {
        let bands = self.products.get(feature)?;
        self.at(feature, value, |place| bands.get(place)?.get(slot)?.get(output).copied())
    }

    /// The band at a value, from those at the places of the values that were looked at.
    fn at(&self, feature: usize, value: FeatureValue<'_>, band: impl Fn(usize) -> Option<Band>) -> Option<Band> {
        let points = self.points.features.get(feature)?;
        if let Some(place) = points.iter().position(|point| point.value() == value) {
            return band(place);
        }
        let FeatureValue::Number(x) = value else { return None };
        let number = |place: usize| match points.get(place) {
            Some(Point::Number(number)) => Some(*number),
            _ => None,
        };
        let after = (0..points.len()).find(|place| number(*place).is_some_and(|number| number > x))?;
        let before = after.checked_sub(1)?;
        let (from, to) = (number(before)?, number(after)?);
        let share = (x - from) / (to - from);
        let (low, high) = (band(before)?, band(after)?);
        let between = |from: f64, to: f64| from + share * (to - from);
        Some(Band { low: between(low.low, high.low), high: between(low.high, high.high) })
    }
}
