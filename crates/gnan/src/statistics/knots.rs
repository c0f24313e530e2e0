//! Knots: a feature with very many distinct values may be trained at few of them, with lines between them.
//!
//! Knots lie at quantiles of the feature's values, its smallest and largest among them. That is an approximation, so it
//! is announced and written down; a prediction evaluates the shape function at the value itself.

use rayon::prelude::*;

use crate::dataset::Feature;
use crate::files::Kind;
use crate::spec::BinChoice;

impl BinChoice {
    /// The knots of every feature that is trained on them, by its values on the nodes where it counts.
    pub fn knots(self, features: &[Feature], counts: impl Fn(&Feature, usize) -> bool + Sync) -> Vec<Option<Vec<f64>>> {
        let knots = |feature: &Feature| {
            let values = sorted_values(feature, |node| counts(feature, node))?;
            let count = self.count(distinct(&values))?;
            Some(quantile_knots(&values, count))
        };
        features.par_iter().map(|feature| if self == BinChoice::Off { None } else { knots(feature) }).collect()
    }
}

/// The known values of a numeric feature on the nodes that are wanted, ascending; the zeros of a sparse feature are left
/// out. `None`: it has no curve to put knots on.
pub(crate) fn sorted_values(feature: &Feature, wanted: impl Fn(usize) -> bool) -> Option<Vec<f64>> {
    if !matches!(feature.kind, Kind::Continuous | Kind::Sparse) {
        return None;
    }
    let numbers = feature.values.numbers().filter(|(node, _)| wanted(*node));
    let mut values: Vec<f64> = numbers.map(|(_, value)| value).collect();
    values.retain(|value| !value.is_nan());
    // -0 and 0 are one value.
    values.iter_mut().for_each(|value| *value += 0.0);
    values.sort_unstable_by(f64::total_cmp);
    Some(values)
}

/// Number of distinct values among sorted ones.
pub(crate) fn distinct(sorted: &[f64]) -> usize {
    sorted.windows(2).filter(|pair| pair[0] != pair[1]).count() + usize::from(!sorted.is_empty())
}

/// `count` distinct values at quantiles of sorted ones, the smallest and the largest among them; all distinct values
/// where there are no more. A value that many nodes share is worth one knot, not many.
pub(crate) fn quantile_knots(sorted: &[f64], count: usize) -> Vec<f64> {
    let most = sorted.len().div_ceil(count.max(1));
    let mut values: Vec<(f64, usize)> = Vec::new();
    for run in sorted.chunk_by(|a, b| a == b) {
        let before = values.last().map_or(0, |(_, up_to)| *up_to);
        values.push((run[0], before + run.len().min(most)));
    }
    if values.len() <= count {
        return values.into_iter().map(|(value, _)| value).collect();
    }
    let total = values[values.len() - 1].1;
    let mut knots = Vec::with_capacity(count);
    let mut next = 0;
    for knot in 0..count {
        // The first knot is the smallest value, the last the largest; those between leave enough values for the rest.
        let wanted = knot * total / (count - 1).max(1);
        let last = values.len() - (count - knot);
        let place = match knot + 1 == count {
            true => values.len() - 1,
            false => values.partition_point(|(_, up_to)| *up_to <= wanted).clamp(next, last),
        };
        knots.push(values[place].0);
        next = place + 1;
    }
    knots
}

/// Where a value lies between knots: the knot before it, and the share of the knot after that; beyond the outer knots
/// the nearest of them alone.
pub(crate) fn between(knots: &[f64], value: f64) -> (usize, f32) {
    let after = knots.partition_point(|knot| *knot <= value);
    if after == 0 || after == knots.len() {
        return (after.saturating_sub(1), 0.0);
    }
    let (from, to) = (knots[after - 1], knots[after]);
    let share = match (to - from).is_finite() {
        true => (value - from) / (to - from),
        false => (value / 2.0 - from / 2.0) / (to / 2.0 - from / 2.0),
    };
    (after - 1, share as f32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knots_are_distinct_values_from_the_smallest_to_the_largest() {
        let even: Vec<f64> = (0..1000).map(f64::from).collect();
        let knots = quantile_knots(&even, 11);
        assert_eq!((knots.len(), knots[0], knots[10]), (11, 0.0, 999.0));
        assert!(knots.windows(2).all(|pair| (90.0..=110.0).contains(&(pair[1] - pair[0]))), "{knots:?}");
        assert_eq!(quantile_knots(&even, 2), [0.0, 999.0]);
        assert_eq!(quantile_knots(&[3.0; 50], 4), [3.0]);
        assert_eq!(quantile_knots(&[1.0, 1.0, 2.0], 4), [1.0, 2.0]);
        assert!(quantile_knots(&[], 4).is_empty());
    }

    /// Nine of ten nodes have the same value: the others still get the knots.
    #[test]
    fn a_value_that_many_share_takes_one_knot() {
        let mut values = vec![0.0; 9000];
        values.extend((1..=1000).map(f64::from));
        values.sort_by(f64::total_cmp);
        let knots = quantile_knots(&values, 32);
        assert_eq!((knots.len(), knots[0], knots[31]), (32, 0.0, 1000.0));
        assert!(knots.windows(2).all(|pair| pair[0] < pair[1] && pair[1] - pair[0] < 80.0), "{knots:?}");
        let at_the_end: Vec<f64> = values.iter().rev().map(|x| -x).collect();
        let knots = quantile_knots(&at_the_end, 32);
        assert_eq!((knots.len(), knots[0], knots[31]), (32, -1000.0, 0.0));
    }

    #[test]
    fn values_lie_between_knots_however_far_those_are() {
        assert_eq!(between(&[1.0, 2.0, 4.0], 2.5), (1, 0.25));
        assert_eq!(between(&[1.0, 2.0, 4.0], 4.0), (2, 0.0));
        assert_eq!(between(&[1.0, 2.0, 4.0], 0.0), (0, 0.0));
        assert_eq!(between(&[1.0, 2.0, 4.0], 9.0), (2, 0.0));
        assert_eq!(between(&[7.0], 9.0), (0, 0.0));
        assert_eq!(between(&[f64::MIN, f64::MAX], 0.0), (0, 0.5));
    }

    #[test]
    fn choices_are_read_as_they_are_written() {
        for word in ["auto", "off", "64"] {
            assert_eq!(word.parse::<BinChoice>().unwrap().to_string(), word);
        }
        for word in ["", "1", "0", "-3", "65537", "many", "2.5", "99999999999999999999"] {
            assert!(word.parse::<BinChoice>().is_err(), "{word}");
        }
    }
}
