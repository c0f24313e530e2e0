//! Confidence: how far a metric would move if other items had been judged.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use rayon::prelude::*;

use crate::dataset::Target;
use crate::metric::{Metric, Metrics};
use crate::random::Stream;
use crate::score::{Scored, score};

/// Resamples of the judged items.
const RESAMPLES: u64 = 400;
/// Of very many items, whose metrics hardly move, fewer resamples are drawn: so many items in all ...
const MOST_DRAWN: u64 = 20_000_000;
/// ... but not fewer resamples than this.
const FEWEST: u64 = 100;
/// Share beyond each end of a 95 % interval.
pub const TAIL: f64 = 0.025;

/// The 95 % percentile interval of every metric over resamples of the items (bootstrap), whatever their order; none of a
/// single item, which every resample would repeat.
pub fn intervals(scored: &Scored<'_>, targets: &[Target], items: &[u32], seed: u64) -> BTreeMap<Metric, [f64; 2]> {
    let order = by_target(scored, targets, items);
    if order.len() < 2 {
        return BTreeMap::new();
    }
    let resample = |index: u64| -> Metrics {
        let mut random = Stream::named(seed, "confidence", index);
        let mut outputs = Vec::with_capacity(scored.outputs.len());
        let drawn: Vec<u32> = (0..order.len())
            .map(|_| {
                let row = order[random.below(order.len())];
                outputs.extend_from_slice(&scored.outputs[row * scored.width..][..scored.width]);
                items[row]
            })
            .collect();
        score(&Scored { outputs: &outputs, ..*scored }, targets, &drawn)
    };
    let resamples = (MOST_DRAWN / order.len() as u64).clamp(FEWEST, RESAMPLES);
    let found: Vec<Metrics> = (0..resamples).into_par_iter().map(resample).collect();
    let interval = |metric: Metric| {
        let mut values: Vec<f64> = found.iter().filter_map(|metrics| metrics.get(metric)).collect();
        values.sort_by(f64::total_cmp);
        (!values.is_empty()).then(|| (metric, [quantile(&values, TAIL), quantile(&values, 1.0 - TAIL)]))
    };
    Metric::ALL.into_iter().filter_map(interval).collect()
}

/// The rows of items with a known target, by target and then by output: items that agree in both can be exchanged.
fn by_target(scored: &Scored<'_>, targets: &[Target], items: &[u32]) -> Vec<usize> {
    let known = |row: &usize| targets.iter().any(|target| !target.values[items[*row] as usize].is_nan());
    let of_target = |row: usize| targets.iter().map(move |target| target.values[items[row] as usize]);
    let outputs = |row: usize| &scored.outputs[row * scored.width..][..scored.width];
    let mut rows: Vec<usize> = (0..items.len()).filter(known).collect();
    rows.sort_by(|&a, &b| {
        let by_target = of_target(a).zip(of_target(b)).map(|(a, b)| a.total_cmp(&b));
        let by_output = outputs(a).iter().zip(outputs(b)).map(|(a, b)| a.total_cmp(b));
        by_target.chain(by_output).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
    });
    rows
}

/// A quantile of sorted values, on the line between the two nearest; not a number where there are no values.
pub fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else { return f64::NAN };
    let place = share.clamp(0.0, 1.0) * last as f64;
    let (below, rest) = (place.floor() as usize, place.fract());
    let above = (below + 1).min(last);
    sorted[below] + rest * (sorted[above] - sorted[below])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dataset::Outcome;

    #[test]
    fn quantiles_lie_on_the_line_between_neighbours() {
        let sorted = [1.0, 2.0, 4.0];
        assert_eq!([0.0, 0.25, 0.5, 0.75, 1.0].map(|share| quantile(&sorted, share)), [1.0, 1.5, 2.0, 3.0, 4.0]);
        assert!(quantile(&[], 0.5).is_nan());
    }

    /// The standard error of a share of one half over 400 items is sqrt(0.25 / 400) = 0.025, so 95 % lie within 0.049.
    #[test]
    fn the_interval_of_an_accuracy_is_the_binomial_one() {
        let items: Vec<u32> = (0..400).collect();
        let outputs: Vec<f32> = items.iter().map(|item| if item % 2 == 0 { 1.0 } else { -1.0 }).collect();
        let target = Target::new("y", Some(vec!["no".to_owned(), "yes".to_owned()]), vec![1.0; 400]);
        let scored = Scored { outcome: Outcome::Binary, width: 1, outputs: &outputs, family: None };
        let [low, high] = intervals(&scored, &[target], &items, 0)[&Metric::Accuracy];
        assert!((low - 0.451).abs() < 0.012 && (high - 0.549).abs() < 0.012, "{low} {high}");
    }

    /// 7 is coprime to 60: the same items in another order.
    #[test]
    fn the_order_of_items_does_not_move_an_interval() {
        let classes = Some(vec!["no".to_owned(), "yes".to_owned()]);
        let values: Vec<f64> = (0..60).map(|item| f64::from(item % 3 == 0)).collect();
        let of = |items: &[u32]| {
            let outputs: Vec<f32> = items.iter().map(|item| (*item as f32 * 1.3).sin()).collect();
            let scored = Scored { outcome: Outcome::Binary, width: 1, outputs: &outputs, family: None };
            intervals(&scored, &[Target::new("y", classes.clone(), values.clone())], items, 5)
        };
        let (items, shuffled): (Vec<u32>, Vec<u32>) = (0..60).map(|item| (item, item * 7 % 60)).unzip();
        assert_eq!(of(&items), of(&shuffled));
        assert!(of(&items).contains_key(&Metric::RocAuc));
    }

    #[test]
    fn one_item_has_no_interval() {
        let target = Target::new("y", None, vec![1.0, f64::NAN]);
        let scored = Scored { outcome: Outcome::Regression, width: 1, outputs: &[0.5, 0.5], family: None };
        assert!(intervals(&scored, std::slice::from_ref(&target), &[0, 1], 0).is_empty());
        assert!(intervals(&Scored { outputs: &[], ..scored }, &[target], &[], 0).is_empty());
    }
}
