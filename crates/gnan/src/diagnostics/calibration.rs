//! Calibration: whether predicted probabilities are the shares of items that have the class.

use serde::Serialize;

use super::{KnownItems, LEAST_PROBABILITY};
use crate::likelihood::chi_squared_tail;
use crate::numbers::{fixed, percent};

/// Groups of items by predicted probability.
const GROUPS: usize = 10;
/// Fewest items of a group: of few items there are fewer groups.
const LEAST_IN_GROUP: usize = 5;
/// Standard deviations to either side that hold 95 % of a normal number.
const WIDTH: f64 = 1.959_963_984_540_054;
/// Below this p-value a deviation is more than chance ...
const CLEAR: f64 = 0.01;
/// ... and it matters where the mean error of probabilities is larger than this.
const MOST_ERROR: f64 = 0.03;
/// Newton steps for the slope.
const STEPS: usize = 40;

/// Items of similar predicted probability.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationGroup {
    /// Number of items; of every class, or of every target, where there are several.
    pub count: usize,
    /// Their mean predicted probability.
    pub predicted: f64,
    /// The share of them that is of the class.
    pub observed: f64,
    /// The lower end of the 95 % interval of that (Wilson).
    pub lower: f64,
    /// The upper end.
    pub upper: f64,
}

/// Whether probabilities are shares.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CalibrationCheck {
    /// What the probabilities are of, in words.
    pub of: String,
    /// The groups, the least probable first.
    pub groups: Vec<CalibrationGroup>,
    /// By how much predicted log-odds must be multiplied to fit best: 1 where they are right, less where they are too extreme;
    /// `None` where that cannot be estimated.
    pub slope: Option<f64>,
    /// Its 95 % interval.
    pub slope_interval: Option<[f64; 2]>,
    /// The expected calibration error: the mean difference of predicted probability and observed share over groups.
    pub error: f64,
    /// The probability of groups that differ as much or more where all probabilities are right (Hosmer and Lemeshow).
    pub p_value: f64,
    /// Whether all of that is fine.
    pub fine: bool,
    /// What it means and what to do.
    pub sentence: String,
}

impl CalibrationCheck {
    /// The calibration of classes; `None` for quantities.
    pub(super) fn new(known: &KnownItems) -> Option<CalibrationCheck> {
        if known.is_quantity {
            return None;
        }
        let mut pairs: Vec<(f64, bool)> = Vec::new();
        for row in &known.rows {
            match known.is_multi_label {
                true => {
                    let targets = row.predicted.iter().zip(&row.actual).filter(|(_, actual)| !actual.is_nan());
                    pairs.extend(targets.map(|(probability, actual)| (*probability, *actual > 0.5)));
                }
                // The probability of the first of two classes is what the other leaves.
                false if row.predicted.len() == 2 => pairs.push((row.predicted[1], row.actual[0] as usize == 1)),
                false => {
                    let classes = row.predicted.iter().enumerate();
                    pairs.extend(classes.map(|(class, p)| (*p, row.actual[0] as usize == class)));
                }
            }
        }
        pairs.retain(|(probability, _)| probability.is_finite());
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        let groups = groups(&pairs);
        let count = pairs.len().max(1) as f64;
        let error =
            groups.iter().map(|group| group.count as f64 * (group.predicted - group.observed).abs()).sum::<f64>()
                / count;
        let statistic: f64 = groups
            .iter()
            .map(|group| {
                let variance = (group.predicted * (1.0 - group.predicted)).max(LEAST_PROBABILITY);
                group.count as f64 * (group.observed - group.predicted).powi(2) / variance
            })
            .sum();
        let p_value = chi_squared_tail(statistic, groups.len().max(1) as f64);
        let found = slope(&pairs);
        let mut check = CalibrationCheck {
            of: known.compared.clone(),
            groups,
            slope: found.map(|(slope, _)| slope),
            slope_interval: found.map(|(slope, sd)| [slope - WIDTH * sd, slope + WIDTH * sd]),
            error,
            p_value,
            fine: true,
            sentence: String::new(),
        };
        (check.fine, check.sentence) = check.verdict();
        Some(check)
    }

    fn verdict(&self) -> (bool, String) {
        let error = format!("probabilities are off by {} on average", percent(self.error, 1));
        if self.p_value >= CLEAR || self.error <= MOST_ERROR {
            return (true, format!("Fine: {error}, which chance or little more explains."));
        }
        let how = match (self.slope, self.slope_interval) {
            (Some(slope), Some([_, high])) if high < 1.0 => format!(
                "they are too extreme (slope {}): trust rankings rather than probabilities, and train on more items or fewer features",
                fixed(slope, 2)
            ),
            (Some(slope), Some([low, _])) if low > 1.0 => format!(
                "they are too cautious (slope {}): effects are smoothed much; more items, or features that matter, would sharpen them",
                fixed(slope, 2)
            ),
            _ => "some groups are predicted too high and others too low: these items may differ from those of training"
                .to_owned(),
        };
        (false, format!("Not fine: {error}, and {how}."))
    }
}

/// Groups of as many items each; equal probabilities are not divided.
fn groups(pairs: &[(f64, bool)]) -> Vec<CalibrationGroup> {
    let number = GROUPS.min(pairs.len() / LEAST_IN_GROUP).max(1);
    let mut found = Vec::new();
    let mut start = 0;
    for group in 1..=number {
        let mut end = (group * pairs.len() / number).max(start);
        while end < pairs.len() && end > start && pairs[end].0 == pairs[end - 1].0 {
            end += 1;
        }
        if end > start {
            found.push(of_group(&pairs[start..end]));
            start = end;
        }
    }
    found
}

fn of_group(pairs: &[(f64, bool)]) -> CalibrationGroup {
    let count = pairs.len() as f64;
    let observed = pairs.iter().filter(|(_, is)| *is).count() as f64 / count;
    let z = WIDTH * WIDTH / count;
    let middle = (observed + 0.5 * z) / (1.0 + z);
    let half = WIDTH * (observed * (1.0 - observed) / count + 0.25 * z / count).sqrt() / (1.0 + z);
    CalibrationGroup {
        count: pairs.len(),
        predicted: pairs.iter().map(|(probability, _)| probability).sum::<f64>() / count,
        observed,
        // At either end the interval begins or ends there, but for rounding.
        lower: if observed == 0.0 { 0.0 } else { (middle - half).max(0.0) },
        upper: if observed == 1.0 { 1.0 } else { (middle + half).min(1.0) },
    }
}

/// The slope of a logistic regression of what items are on predicted log-odds, and its standard deviation; `None` where all
/// predictions are alike, or classes are told apart without an error.
fn slope(pairs: &[(f64, bool)]) -> Option<(f64, f64)> {
    let log_odds = |p: f64| {
        let p = p.clamp(LEAST_PROBABILITY, 1.0 - LEAST_PROBABILITY);
        (p / (1.0 - p)).ln()
    };
    let (mut intercept, mut slope) = (0.0, 1.0);
    for _ in 0..STEPS {
        let (mut g, mut h) = ([0.0; 2], [0.0; 3]);
        for (probability, is) in pairs {
            let x = log_odds(*probability);
            let p = 1.0 / (1.0 + (-(intercept + slope * x)).exp());
            let (left, weight) = (f64::from(u8::from(*is)) - p, p * (1.0 - p));
            g = [g[0] + left, g[1] + left * x];
            h = [h[0] + weight, h[1] + weight * x, h[2] + weight * x * x];
        }
        let determinant = h[0] * h[2] - h[1] * h[1];
        if determinant.is_nan() || determinant <= 1e-9 * h[0] * h[2] {
            return None;
        }
        let step = [(h[2] * g[0] - h[1] * g[1]) / determinant, (h[0] * g[1] - h[1] * g[0]) / determinant];
        intercept += step[0].clamp(-2.0, 2.0);
        slope += step[1].clamp(-1.0, 1.0);
        if step[0].abs() + step[1].abs() < 1e-9 {
            return Some((slope, (h[0] / determinant).sqrt()));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Stream;

    fn drawn(count: usize, factor: f64) -> Vec<(f64, bool)> {
        let mut random = Stream::named(7, "calibration", 0);
        let mut pairs: Vec<(f64, bool)> = (0..count)
            .map(|_| {
                let x = 1.5 * random.normal();
                let probability = |x: f64| 1.0 / (1.0 + (-x).exp());
                (probability(factor * x), random.uniform() < probability(x))
            })
            .collect();
        pairs.sort_by(|a, b| a.0.total_cmp(&b.0));
        pairs
    }

    /// Log-odds that are twice too large have a slope of a half; the interval is that of its standard deviation.
    #[test]
    fn slopes_are_those_that_were_planted() {
        for (factor, expected) in [(1.0, 1.0), (2.0, 0.5), (0.5, 2.0)] {
            let (slope, sd) = slope(&drawn(4000, factor)).unwrap();
            assert!((slope - expected).abs() < 4.0 * sd && sd < 0.1 * expected, "{slope} {sd}");
        }
        // One prediction for all, and classes without an error.
        assert_eq!(slope(&[(0.4, true), (0.4, false), (0.4, false)]), None);
        assert_eq!(slope(&[(0.1, false), (0.2, false), (0.8, true), (0.9, true)]), None);
    }

    #[test]
    fn groups_hold_all_items_and_do_not_divide_equal_ones() {
        let found = groups(&drawn(1003, 1.0));
        assert_eq!((found.len(), found.iter().map(|group| group.count).sum::<usize>()), (10, 1003));
        assert!(found.iter().all(|group| group.lower <= group.observed && group.observed <= group.upper));
        assert_eq!(groups(&vec![(0.3, true); 50]).len(), 1);
        assert_eq!(groups(&[(0.3, true), (0.4, false), (0.5, true)]).len(), 1);
        assert!(groups(&[]).is_empty());
    }
}
