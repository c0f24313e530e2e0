//! Scores: the metrics of outputs whose targets are known.
//!
//! A metric is computed on items with known targets only. With several targets it is the mean over targets.

use crate::dataset::{Outcome, Target};
use crate::metric::{Metric, Metrics};
use crate::model::TargetFamily;

/// Outputs to be judged: logits, or values in the units of the target, never logarithms of them.
#[derive(Clone, Copy, Debug)]
pub struct Scored<'a> {
    /// What was requested.
    pub outcome: Outcome,
    /// Outputs per item.
    pub width: usize,
    /// `[items, width]`
    pub outputs: &'a [f32],
    /// The family of the targets that deviances are of, where it has one of its own.
    pub family: Option<&'a TargetFamily>,
}

/// The probability that goes with log-odds.
pub fn sigmoid(log_odds: f64) -> f64 {
    1.0 / (1.0 + (-log_odds).exp())
}

/// Probabilities of the classes from logits: softmax, or sigmoid of one logit as (1 - p, p).
pub fn probabilities(logits: &[f32]) -> Vec<f64> {
    if let [logit] = logits {
        let p = sigmoid(f64::from(*logit));
        return vec![1.0 - p, p];
    }
    let largest = logits.iter().fold(f32::NEG_INFINITY, |a, b| a.max(*b));
    let exps: Vec<f64> = logits.iter().map(|y| f64::from(y - largest).exp()).collect();
    let sum: f64 = exps.iter().sum();
    exps.into_iter().map(|e| e / sum).collect()
}

/// The class that the outputs of one item predict; of several targets, that of the first. `None` for quantities.
pub fn predicted_class(outcome: Outcome, row: &[f32]) -> Option<usize> {
    match outcome {
        Outcome::Binary | Outcome::Multiclass => Some(most_probable(&probabilities(row))),
        Outcome::MultiLabel => Some(most_probable(&probabilities(&row[..1]))),
        Outcome::Regression | Outcome::MultiRegression => None,
    }
}

/// How confident a predicted class is: the lead of its logit over the next one, which orders predictions even where
/// probabilities round to 1. Of several targets, that of the first.
pub fn margin(outcome: Outcome, row: &[f32]) -> f64 {
    match (outcome, row) {
        (Outcome::MultiLabel, [logit, ..]) | (_, [logit]) => f64::from(logit.abs()),
        (_, row) => {
            let mut sorted: Vec<f64> = row.iter().map(|logit| f64::from(*logit)).collect();
            sorted.sort_by(|a, b| b.total_cmp(a));
            sorted.first().zip(sorted.get(1)).map_or(0.0, |(first, second)| first - second)
        }
    }
}

/// Whether [`score`] has a metric for every model of an outcome, where the items allow it.
pub fn is_scored(metric: Metric, outcome: Outcome) -> bool {
    // Deviances are of counts and gamma quantities, which an outcome does not say.
    if metric == Metric::MeanDeviance {
        return false;
    }
    let of_quantities = matches!(metric, Metric::Mae | Metric::R2 | Metric::Rmse);
    let of_two_classes = metric == Metric::AveragePrecision;
    of_quantities == outcome.is_regression() && !(of_two_classes && outcome == Outcome::Multiclass)
}

/// The metrics that are shown for these targets, the chief one first. Where the rarer of two classes is rare, or nearly all
/// items are of one of several, accuracy is not among them: always predicting the same class would look good.
pub fn shown_metrics(targets: &[Target]) -> Vec<Metric> {
    let rare = targets.iter().filter(|target| target.rare_class().is_some()).count();
    match targets {
        [target] if target.has_uneven_classes() => Metric::OF_UNEVEN_CLASSES.to_vec(),
        _ if 2 * rare >= targets.len().max(1) => Metric::OF_RARE_CLASSES.to_vec(),
        _ => Metric::ALL.to_vec(),
    }
}

/// The class that all of some items with a known class have, by its name, where it is one; metrics that compare classes cannot
/// be computed on them.
pub fn only_class<'a>(targets: &'a [Target], items: &[u32]) -> Option<&'a str> {
    let [target] = targets else { return None };
    let known = target.known(items);
    let first = known.first().filter(|first| known.iter().all(|class| class == *first))?;
    target.classes.as_ref()?.get(*first as usize).map(String::as_str)
}

/// Judges outputs for `items`, in their order; the values of `targets` are indexed by item.
pub fn score(scored: &Scored<'_>, targets: &[Target], items: &[u32]) -> Metrics {
    let per_target = |k: usize| -> Metrics {
        let values = &targets[k].values;
        let rows = scored.outputs.chunks_exact(scored.width.max(1)).zip(items);
        let known = rows.map(|(row, item)| (row, values[*item as usize])).filter(|(_, target)| !target.is_nan());
        match scored.outcome {
            Outcome::Binary | Outcome::Multiclass => {
                let classes = targets[k].classes.as_ref().map_or(0, Vec::len);
                let judged = known.map(|(row, target)| (probabilities(row), target as usize)).collect::<Vec<_>>();
                classification(&judged, classes, targets[k].positive_class())
            }
            Outcome::MultiLabel => {
                let judged =
                    known.map(|(row, target)| (probabilities(&row[k..=k]), target as usize)).collect::<Vec<_>>();
                classification(&judged, 2, targets[k].positive_class())
            }
            Outcome::Regression | Outcome::MultiRegression => {
                let judged: Vec<(f64, f64)> = known.map(|(row, target)| (f64::from(row[k]), target)).collect();
                let mut metrics = regression(&judged);
                if let Some(family) = scored.family.filter(|_| !judged.is_empty()) {
                    let sum: f64 = judged.iter().map(|(mean, target)| family.deviance(k, *mean, *target)).sum();
                    metrics.insert(Metric::MeanDeviance, sum / judged.len() as f64);
                }
                metrics
            }
        }
    };
    let count = if matches!(scored.outcome, Outcome::Binary | Outcome::Multiclass) { 1 } else { targets.len() };
    Metrics::mean(&(0..count.min(targets.len())).map(per_target).collect::<Vec<_>>())
}

/// The class with the largest probability; the first of several.
pub fn most_probable(probabilities: &[f64]) -> usize {
    let mut best = 0;
    for (class, p) in probabilities.iter().enumerate() {
        if *p > probabilities[best] {
            best = class;
        }
    }
    best
}

/// `positive` is the class of two whose precision and recall count.
fn classification(judged: &[(Vec<f64>, usize)], classes: usize, positive: usize) -> Metrics {
    let mut metrics = Metrics::default();
    if judged.is_empty() {
        return metrics;
    }
    let (mut hits, mut actual, mut claimed) = (vec![0.0; classes], vec![0.0; classes], vec![0.0; classes]);
    let mut log_loss = 0.0;
    for (p, target) in judged {
        let class = most_probable(p);
        actual[*target] += 1.0;
        claimed[class] += 1.0;
        hits[class] += f64::from(u8::from(class == *target));
        log_loss -= p[*target].max(1e-15).ln();
    }
    let count = judged.len() as f64;
    metrics.insert(Metric::Accuracy, hits.iter().sum::<f64>() / count);
    metrics.insert(Metric::LogLoss, log_loss / count);
    let present: Vec<usize> = (0..classes).filter(|class| actual[*class] > 0.0).collect();
    // The others compare classes with each other.
    if present.len() < 2 {
        return metrics;
    }
    let recall: f64 = present.iter().map(|class| hits[*class] / actual[*class]).sum();
    metrics.insert(Metric::BalancedAccuracy, recall / present.len() as f64);
    let f1 = |class: usize| {
        let sum = actual[class] + claimed[class];
        if sum > 0.0 { 2.0 * hits[class] / sum } else { 0.0 }
    };
    // Of the positive class for two classes; for more the mean over classes that occur or are claimed.
    let judged_classes: Vec<usize> = match classes {
        2 => vec![positive],
        _ => (0..classes).filter(|class| actual[*class] + claimed[*class] > 0.0).collect(),
    };
    let sum: f64 = judged_classes.iter().map(|class| f1(*class)).sum();
    metrics.insert(Metric::F1, sum / judged_classes.len() as f64);
    if classes == 2
        && let Some(precision) =
            average_precision(judged.iter().map(|(p, target)| (p[positive], *target == positive)).collect())
    {
        metrics.insert(Metric::AveragePrecision, precision);
    }
    // Two classes: of the positive one; more: the mean of one class against the rest.
    let wanted: Vec<usize> = if classes == 2 { vec![positive] } else { present };
    let aucs: Vec<f64> = wanted
        .into_iter()
        .filter_map(|class| roc_auc(judged.iter().map(|(p, target)| (p[class], *target == class)).collect()))
        .collect();
    if !aucs.is_empty() {
        metrics.insert(Metric::RocAuc, aucs.iter().sum::<f64>() / aucs.len() as f64);
    }
    metrics
}

/// The probability that a positive is ranked above a negative, ties counting half.
pub fn roc_auc(mut ranked: Vec<(f64, bool)>) -> Option<f64> {
    let positives = ranked.iter().filter(|(_, positive)| *positive).count() as f64;
    let negatives = ranked.len() as f64 - positives;
    if positives == 0.0 || negatives == 0.0 {
        return None;
    }
    ranked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (mut below, mut wins) = (0.0, 0.0);
    for tie in ranked.chunk_by(|a, b| a.0 == b.0) {
        let positive = tie.iter().filter(|(_, positive)| *positive).count() as f64;
        let negative = tie.len() as f64 - positive;
        wins += positive * (below + 0.5 * negative);
        below += negative;
    }
    Some(wins / (positives * negatives))
}

/// The mean over the positives of the precision among what is ranked at least as high as they are.
pub fn average_precision(mut ranked: Vec<(f64, bool)>) -> Option<f64> {
    let positives = ranked.iter().filter(|(_, positive)| *positive).count() as f64;
    if positives == 0.0 || positives == ranked.len() as f64 {
        return None;
    }
    ranked.sort_by(|a, b| b.0.total_cmp(&a.0));
    let (mut above, mut hits, mut sum) = (0.0, 0.0, 0.0);
    for tie in ranked.chunk_by(|a, b| a.0 == b.0) {
        let positive = tie.iter().filter(|(_, positive)| *positive).count() as f64;
        above += tie.len() as f64;
        hits += positive;
        sum += positive * hits / above;
    }
    Some(sum / positives)
}

fn regression(judged: &[(f64, f64)]) -> Metrics {
    let mut metrics = Metrics::default();
    if judged.is_empty() {
        return metrics;
    }
    let count = judged.len() as f64;
    // Outputs are rounded to 32 bits: what is smaller than that is 0.
    let rounding = 2.0 * f64::from(f32::EPSILON) * judged.iter().map(|(_, target)| target.abs()).fold(0.0, f64::max);
    let mean = judged.iter().map(|(_, target)| target).sum::<f64>() / count;
    let total: f64 = judged.iter().map(|(_, target)| (target - mean).powi(2)).sum();
    let squares: f64 = judged.iter().map(|(y, target)| (y - target).powi(2)).sum();
    let or_zero = |value: f64, rounding: f64| if value.abs() <= rounding { 0.0 } else { value };
    let mae = judged.iter().map(|(y, target)| (y - target).abs()).sum::<f64>() / count;
    metrics.insert(Metric::Mae, or_zero(mae, rounding));
    metrics.insert(Metric::Rmse, or_zero((squares / count).sqrt(), rounding));
    if total > count * rounding.powi(2) {
        let rounding = count * rounding.powi(2) / total + f64::from(f32::EPSILON).powi(2);
        metrics.insert(Metric::R2, or_zero(1.0 - squares / total, rounding));
    }
    metrics
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_known_to_be_scored_exactly_where_it_is() {
        let target = |classes: Option<usize>| {
            let names = classes.map(|count| (0..count).map(|class| class.to_string()).collect());
            let values = (0..6).map(|item| (item % classes.unwrap_or(6)) as f64).collect();
            Target::new("y", names, values)
        };
        let cases = [
            (Outcome::Binary, 1, vec![target(Some(2))]),
            (Outcome::Multiclass, 3, vec![target(Some(3))]),
            (Outcome::MultiLabel, 2, vec![target(Some(2)), target(Some(2))]),
            (Outcome::Regression, 1, vec![target(None)]),
            (Outcome::MultiRegression, 2, vec![target(None), target(None)]),
        ];
        for (outcome, width, targets) in cases {
            let outputs: Vec<f32> = (0..6 * width).map(|place| (place * 7 % 5) as f32 - 2.0).collect();
            let found =
                score(&Scored { outcome, width, outputs: &outputs, family: None }, &targets, &[0, 1, 2, 3, 4, 5]);
            for metric in Metric::ALL {
                assert_eq!(found.get(metric).is_some(), is_scored(metric, outcome), "{metric:?} {outcome:?}");
            }
        }
    }

    /// Pairs (positive above negative): 0.4<0.6 y, 0.4=0.4 tie, 0.4>0.1 y, 0.9 above all: (1 + 0.5 + 0 + 3) / 6.
    #[test]
    fn auc_counts_pairs_with_ties_half() {
        let ranked = vec![(0.4, true), (0.9, true), (0.6, false), (0.4, false), (0.1, false)];
        assert!((roc_auc(ranked).unwrap() - 4.5 / 6.0).abs() < 1e-12);
        assert_eq!(roc_auc(vec![(0.1, true)]), None);
    }

    /// Ranked 0.9 y, 0.6 n, then y and n tied at 0.4: (1/1 + 2/4) / 2.
    #[test]
    fn average_precision_by_hand() {
        let ranked = vec![(0.4, true), (0.9, true), (0.6, false), (0.4, false), (0.1, false)];
        assert!((average_precision(ranked).unwrap() - 0.75).abs() < 1e-12);
        assert_eq!(average_precision(vec![(0.1, true)]), None);
    }

    #[test]
    fn classes_and_their_margins_by_hand() {
        let found = |outcome, row: &[f32]| (predicted_class(outcome, row), margin(outcome, row));
        assert_eq!(found(Outcome::Binary, &[-2.0]), (Some(0), 2.0));
        assert_eq!(found(Outcome::Binary, &[1.0, 1.5]), (Some(1), 0.5));
        assert_eq!(found(Outcome::Multiclass, &[1.0, 4.0, 2.5]), (Some(1), 1.5));
        assert_eq!(found(Outcome::MultiLabel, &[3.0, -9.0]), (Some(1), 3.0));
        // A logit that rounds to a probability of one half is no yes, as in predictions.
        assert_eq!(found(Outcome::MultiLabel, &[1e-30]).0, Some(0));
        assert_eq!(found(Outcome::Regression, &[7.0]).0, None);
    }

    #[test]
    fn a_confusion_matrix_by_hand() {
        // Targets 0 0 0 1 1, claimed 0 0 1 1 0: accuracy 3/5, recalls 2/3 and 1/2, F1 of class 1: 2*1/(2+2).
        let p = |class: usize| if class == 1 { vec![0.2, 0.8] } else { vec![0.7, 0.3] };
        let judged = vec![(p(0), 0), (p(0), 0), (p(1), 0), (p(1), 1), (p(0), 1)];
        let metrics = classification(&judged, 2, 1);
        assert!((metrics.get(Metric::Accuracy).unwrap() - 0.6).abs() < 1e-12);
        assert!((metrics.get(Metric::BalancedAccuracy).unwrap() - 7.0 / 12.0).abs() < 1e-12);
        assert!((metrics.get(Metric::F1).unwrap() - 0.5).abs() < 1e-12);
    }

    /// All items are of the first class: how well classes are told apart cannot be measured.
    #[test]
    fn items_of_one_class_have_no_metrics_that_compare_classes() {
        for classes in [2, 3] {
            let mut p = vec![0.0; classes];
            (p[0], p[1]) = (0.75, 0.25);
            let metrics = classification(&[(p.clone(), 0), (p, 0)], classes, 1);
            let found: Vec<Metric> = metrics.in_order().map(|(metric, _)| metric).collect();
            assert_eq!(found, [Metric::Accuracy, Metric::LogLoss]);
        }
        let target = |values| Target::new("y", Some(vec!["no".to_owned(), "yes".to_owned()]), values);
        assert_eq!(only_class(&[target(vec![1.0, f64::NAN, 0.0, 1.0])], &[0, 1, 3]), Some("yes"));
        assert_eq!(only_class(&[target(vec![1.0, f64::NAN, 0.0, 1.0])], &[0, 2]), None);
        assert_eq!(only_class(&[target(vec![f64::NAN])], &[0]), None);
    }

    /// Always predicting "a" of 90 "a", 7 "b" and 3 "c" has an accuracy of 0.9.
    #[test]
    fn the_accuracy_of_a_large_class_does_not_lead() {
        let target = |counts: &[usize]| {
            let values = counts.iter().enumerate().flat_map(|(class, count)| vec![class as f64; *count]);
            let names = (0..counts.len()).map(|class| class.to_string()).collect();
            Target::new("y", Some(names), values.collect())
        };
        assert_eq!(shown_metrics(&[target(&[90, 7, 3])])[..2], [Metric::BalancedAccuracy, Metric::LogLoss]);
        assert!(!shown_metrics(&[target(&[90, 7, 3])]).contains(&Metric::Accuracy));
        assert_eq!(shown_metrics(&[target(&[80, 12, 8])])[0], Metric::Accuracy);
        assert_eq!(shown_metrics(&[target(&[95, 5])])[0], Metric::AveragePrecision);
    }

    /// The mean of 0.1, 0.2, 0.4 is not a number of 32 bits, and 0.1 + 0.2 not 0.3 in 64.
    #[test]
    fn what_is_within_the_rounding_of_outputs_is_zero() {
        let targets: [f64; 3] = [0.1, 0.2, 0.4];
        let mean = f64::from((targets.iter().sum::<f64>() / 3.0) as f32);
        let constant = regression(&targets.map(|target| (mean, target)));
        assert_eq!(constant.get(Metric::R2), Some(0.0));
        let exact = regression(&targets.map(|target| (f64::from(target as f32), target)));
        assert_eq!([Metric::Mae, Metric::Rmse].map(|metric| exact.get(metric)), [Some(0.0); 2]);
        let close = regression(&targets.map(|target| (target + 1e-5, target)));
        assert!((close.get(Metric::Mae).unwrap() - 1e-5).abs() < 1e-12);
    }

    #[test]
    fn regression_by_hand() {
        // Errors 1, -1, 0 around targets 1, 2, 3: MAE 2/3, RMSE sqrt(2/3), R2 = 1 - 2/2.
        let metrics = regression(&[(2.0, 1.0), (1.0, 2.0), (3.0, 3.0)]);
        assert!((metrics.get(Metric::Mae).unwrap() - 2.0 / 3.0).abs() < 1e-12);
        assert!((metrics.get(Metric::Rmse).unwrap() - (2.0f64 / 3.0).sqrt()).abs() < 1e-12);
        assert!(metrics.get(Metric::R2).unwrap().abs() < 1e-12);
    }
}
