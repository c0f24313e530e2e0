//! The distribution of the training values of a numeric feature: bins with their support, and deciles.

use serde::{Deserialize, Serialize};

use super::training_nodes::{LITTLE_SUPPORT, Support, SupportCounter, TrainingNodes};
use crate::dataset::Feature;

/// Most bins of a feature; with fewer distinct values every value has its own.
const MOST_BINS: usize = 24;
/// Fewest bins of a feature with more distinct values.
const FEWEST_BINS: usize = 4;
/// As many items have values of a bin if all bins are alike: enough for few bins to have little support by chance.
const ITEMS_PER_BIN: u64 = 2 * LITTLE_SUPPORT;
/// Steps between the smallest and the largest value at which values are recorded.
const STEPS: usize = 10;
/// Whole numbers from here on are not all told apart.
const MOST_WHOLE: f64 = 9e15;

/// Values of a feature between two bounds (or equal to both), and their support.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Bin {
    /// Lower bound.
    pub from: f64,
    /// Upper bound; belongs to the next bin, but for the last.
    pub to: f64,
    /// Nodes, graphs and items with such a value.
    #[serde(flatten)]
    pub support: Support,
}

impl Bin {
    /// The middle of its values.
    pub fn centre(&self) -> f64 {
        self.from / 2.0 + self.to / 2.0
    }

    /// The support of a value: of two bins that it is the edge of, that of the better; none where no training value is.
    pub fn support_at(bins: &[Bin], x: f64) -> Support {
        let at = bins.iter().filter(|bin| bin.from <= x && x <= bin.to).map(|bin| bin.support);
        at.max_by_key(|support| support.items).unwrap_or_default()
    }
}

/// How the known training values of a numeric feature are distributed; the zeros of a sparse feature are left out.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Distribution {
    /// Bins that cover all values, ascending.
    pub bins: Vec<Bin>,
    /// The smallest value, those that a tenth, two tenths, ... of the nodes do not exceed, and the largest.
    pub deciles: Vec<f64>,
    /// Whether all values are whole numbers, as counts and years are.
    pub whole: bool,
}

impl Distribution {
    pub fn of(feature: &Feature, nodes: &TrainingNodes) -> Distribution {
        let nodes = nodes.of_feature(feature);
        let known = || {
            let numbers = feature.values.numbers();
            numbers.filter(|(node, value)| nodes.graph(*node).is_some() && value.is_finite())
        };
        let mut sorted: Vec<f64> = known().map(|(_, value)| value + 0.0).collect();
        sorted.sort_unstable_by(f64::total_cmp);
        let Some(last) = sorted.len().checked_sub(1) else { return Distribution::default() };
        let decile = |step: usize| sorted[(last * step).div_ceil(STEPS)];
        let deciles = (0..=STEPS).map(decile).collect();
        let whole = sorted.iter().all(|value| value.fract() == 0.0 && value.abs() < MOST_WHOLE);
        sorted.dedup();
        let most = (nodes.item_count / ITEMS_PER_BIN as usize).clamp(FEWEST_BINS, MOST_BINS);
        let mut bins = bins_of(&sorted, whole, most);
        let mut counters = vec![SupportCounter::default(); bins.len()];
        for (node, value) in known() {
            let after = bins.partition_point(|bin| bin.from <= value);
            counters[after.saturating_sub(1)].count(node, nodes);
        }
        bins.iter_mut().zip(counters).for_each(|(bin, counter)| bin.support = counter.support);
        Distribution { bins, deciles, whole }
    }
}

/// At most so many bins over distinct values in ascending order.
fn bins_of(distinct: &[f64], whole: bool, most: usize) -> Vec<Bin> {
    let bin = |from: f64, to: f64| Bin { from, to, support: Support::default() };
    let (min, max) = (distinct[0], distinct[distinct.len() - 1]);
    if distinct.len() <= most {
        return distinct.iter().map(|value| bin(*value, *value)).collect();
    }
    if whole {
        // Every bin holds as many whole numbers as the others, but for the last.
        let wide = ((max - min + 1.0) / most as f64).ceil();
        let count = ((max - min + 1.0) / wide).ceil().min(most as f64) as usize;
        return (0..count).map(|b| bin(min + wide * b as f64, (min + wide * (b + 1) as f64).min(max))).collect();
    }
    let edge = |index: usize| {
        let share = index as f64 / most as f64;
        (min * (1.0 - share) + max * share).clamp(min, max)
    };
    let mut edges: Vec<f64> = (0..=most).map(edge).collect();
    // Of values that can hardly be told apart there are fewer.
    edges.dedup_by(|next, previous| *next <= *previous);
    edges.windows(2).map(|ends| bin(ends[0], ends[1])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_ascend_and_cover_whatever_the_values_are() {
        let ulps = |start: f64| (0..40).scan(start, |x, _| Some(std::mem::replace(x, x.next_up()))).collect();
        let huge = (0..40).map(|k| 1e308 * (f64::from(k) / 20.0 - 1.0)).collect();
        let sets: [Vec<f64>; 5] =
            [ulps(1.0), ulps(1e300), huge, (0..40).map(f64::from).collect(), vec![f64::MIN, 0.0, f64::MAX]];
        for distinct in sets {
            for whole in [false, distinct.iter().all(|value| value.fract() == 0.0 && value.abs() < MOST_WHOLE)] {
                let bins = bins_of(&distinct, whole, MOST_BINS);
                assert!(bins.is_sorted_by(|a, b| a.from < b.from && a.to <= b.from), "{bins:?}");
                assert!(bins.iter().all(|bin| bin.from <= bin.to && bin.to.is_finite()));
                let (first, last) = (bins[0], bins[bins.len() - 1]);
                assert!(first.from <= distinct[0] && distinct[distinct.len() - 1] <= last.to);
            }
        }
    }

    #[test]
    fn a_value_between_bins_has_no_support() {
        let bin =
            |value: f64, items| Bin { from: value, to: value, support: Support { nodes: items, graphs: 1, items } };
        let bins = [bin(1.0, 50), bin(5.0, 60)];
        assert_eq!([0.0, 1.0, 3.0, 5.0].map(|x| Bin::support_at(&bins, x).items), [0, 50, 0, 60]);
        let wide = |from: f64, items| Bin { from, to: from + 1.0, support: Support { nodes: items, graphs: 1, items } };
        let bins = [wide(1.0, 3), wide(2.0, 60)];
        assert_eq!([1.5, 2.0, 3.0, 3.5].map(|x| Bin::support_at(&bins, x).items), [3, 60, 60, 0]);
    }
}
