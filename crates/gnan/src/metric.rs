//! Metrics by name: which measures of quality there are, what they are called, and in which direction they improve.
//!
//! How they are computed stands in [`score`](crate::score).

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::error::{Error, Result};
use crate::numbers;

/// A measure of how good outputs are; declared, and so ordered in files, by name.
///
/// ```
/// use gnan::Metric;
/// let metric: Metric = "rmse".parse()?;
/// assert!(metric.smaller_is_better());
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Metric {
    /// The share of items whose most probable class is the actual one.
    Accuracy,
    /// The mean precision at the positives, ranked by probability.
    AveragePrecision,
    /// The mean over classes of the share of their items that is recognised.
    BalancedAccuracy,
    /// The harmonic mean of precision and recall.
    F1,
    /// The mean negative logarithm of the probability of the actual class.
    LogLoss,
    /// The mean absolute error.
    Mae,
    /// The mean deviance of counts or gamma quantities: how much less likely they are than by a model that is right on each.
    MeanDeviance,
    /// The share of the variance that is explained.
    R2,
    /// The root of the mean squared error.
    Rmse,
    /// The probability that a positive is ranked above a negative.
    RocAuc,
}

impl Metric {
    /// Every metric, in the order in which they are usually shown; the first one present is the chief one.
    pub const ALL: [Metric; 10] = [
        Metric::Accuracy,
        Metric::BalancedAccuracy,
        Metric::RocAuc,
        Metric::AveragePrecision,
        Metric::F1,
        Metric::LogLoss,
        Metric::R2,
        Metric::Mae,
        Metric::Rmse,
        Metric::MeanDeviance,
    ];

    /// The metrics that are shown where one of two classes is rare, in their order.
    pub const OF_RARE_CLASSES: [Metric; 5] =
        [Metric::AveragePrecision, Metric::RocAuc, Metric::BalancedAccuracy, Metric::F1, Metric::LogLoss];

    /// The metrics that are shown where nearly all items are of one of several classes, in their order.
    pub const OF_UNEVEN_CLASSES: [Metric; 4] = [Metric::BalancedAccuracy, Metric::LogLoss, Metric::RocAuc, Metric::F1];

    /// Its name in options and files.
    pub const fn name(self) -> &'static str {
        match self {
            Metric::Accuracy => "accuracy",
            Metric::AveragePrecision => "average_precision",
            Metric::BalancedAccuracy => "balanced_accuracy",
            Metric::F1 => "f1",
            Metric::LogLoss => "log_loss",
            Metric::Mae => "mae",
            Metric::MeanDeviance => "mean_deviance",
            Metric::R2 => "r2",
            Metric::Rmse => "rmse",
            Metric::RocAuc => "roc_auc",
        }
    }

    /// Its short name for people, for the heads of tables.
    pub const fn label(self) -> &'static str {
        match self {
            Metric::Accuracy => "accuracy",
            Metric::AveragePrecision => "average precision",
            Metric::BalancedAccuracy => "balanced accuracy",
            Metric::F1 => "F1",
            Metric::LogLoss => "log loss",
            Metric::Mae => "MAE",
            Metric::MeanDeviance => "mean deviance",
            Metric::R2 => "R2",
            Metric::Rmse => "RMSE",
            Metric::RocAuc => "ROC-AUC",
        }
    }

    /// Its long name for people, for sentences and reports.
    pub const fn long_name(self) -> &'static str {
        match self {
            Metric::Mae => "mean absolute error",
            Metric::R2 => "R²",
            Metric::Rmse => "root mean square error",
            _ => self.label(),
        }
    }

    /// What follows its name where it is that of one class of two: " of" that class.
    pub fn class_words(self, class: Option<&str>) -> String {
        let of_class = matches!(self, Metric::AveragePrecision | Metric::F1);
        class.filter(|_| of_class).map_or_else(String::new, |class| format!(" of {class}"))
    }

    /// Whether it measures errors.
    pub const fn smaller_is_better(self) -> bool {
        matches!(self, Metric::LogLoss | Metric::Mae | Metric::MeanDeviance | Metric::Rmse)
    }

    /// Whether it is a share or a probability, which tables print in per cent.
    pub const fn is_share(self) -> bool {
        !matches!(self, Metric::LogLoss | Metric::R2 | Metric::Mae | Metric::MeanDeviance | Metric::Rmse)
    }

    /// Its value for people: four decimals; more where it is in units of the target, or a loss, and small.
    pub fn words(self, value: f64) -> String {
        let in_units = matches!(self, Metric::LogLoss | Metric::Mae | Metric::MeanDeviance | Metric::Rmse);
        if !in_units && value.abs() < 1.0 { numbers::fixed(value, 4) } else { numbers::metric(value) }
    }

    fn named(name: &str) -> Option<Metric> {
        Metric::ALL.into_iter().find(|metric| metric.name() == name)
    }
}

impl FromStr for Metric {
    type Err = Error;

    /// A metric by its name, in which `-` may stand for `_`.
    fn from_str(word: &str) -> Result<Metric> {
        Metric::named(&word.replace('-', "_")).ok_or_else(|| {
            Error::usage(format!("\"{word}\" is not a metric"))
                .with_remedy(format!("choose from {}", Metric::ALL.map(Metric::name).join(", ")))
        })
    }
}

impl Serialize for Metric {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Metric {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Metric, D::Error> {
        let name = String::deserialize(deserializer)?;
        Metric::named(&name).ok_or_else(|| serde::de::Error::custom(format!("\"{name}\" is not a metric")))
    }
}

/// Values of metrics; one that cannot be computed (ROC-AUC of one class) is absent.
///
/// ```
/// # use gnan::{Dataset, Spec};
/// # let (train, test) = Dataset::open("solubility")?.split(0.8, 1)?;
/// # let model = Spec::default().epochs(20).seed(1).fit(&train)?;
/// use gnan::Metric;
/// let metrics = model.evaluate(&test)?;
/// assert!(metrics.get(Metric::R2).is_some());
/// println!("{metrics}");
/// # Ok::<(), gnan::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Metrics(BTreeMap<Metric, f64>);

impl Metrics {
    /// The first of these metrics that could be computed.
    pub fn first_of(&self, wanted: &[Metric]) -> Option<(Metric, f64)> {
        wanted.iter().find_map(|metric| self.get(*metric).map(|value| (*metric, value)))
    }

    /// Metrics in the order in which they are shown.
    pub fn in_order(&self) -> impl Iterator<Item = (Metric, f64)> + '_ {
        Metric::ALL.into_iter().filter_map(|metric| self.get(metric).map(|value| (metric, value)))
    }

    /// The value of a metric.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.0.get(&metric).copied()
    }

    /// Adds the value of a metric.
    pub fn insert(&mut self, metric: Metric, value: f64) {
        self.0.insert(metric, value);
    }

    /// Every metric's mean over those of `all` that have it.
    pub fn mean<'a>(all: impl IntoIterator<Item = &'a Metrics>) -> Metrics {
        let all: Vec<&Metrics> = all.into_iter().collect();
        let mean = |metric: Metric| {
            let found: Vec<f64> = all.iter().filter_map(|metrics| metrics.get(metric)).collect();
            (!found.is_empty()).then(|| (metric, found.iter().sum::<f64>() / found.len() as f64))
        };
        Metric::ALL.into_iter().filter_map(mean).collect()
    }

    /// Whether nothing could be computed.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<(Metric, f64)> for Metrics {
    fn from_iter<I: IntoIterator<Item = (Metric, f64)>>(values: I) -> Metrics {
        Metrics(values.into_iter().collect())
    }
}

impl<'de> Deserialize<'de> for Metrics {
    /// Names of unknown metrics are passed over.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Metrics, D::Error> {
        let found: BTreeMap<String, f64> = BTreeMap::deserialize(deserializer)?;
        Ok(found.into_iter().filter_map(|(name, value)| Metric::named(&name).map(|metric| (metric, value))).collect())
    }
}

impl fmt::Display for Metrics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (metric, value)) in self.in_order().enumerate() {
            let end = if index == 0 { "" } else { "\n" };
            write!(f, "{end}{:<18} {value:>8.4}", metric.label())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_metric_is_found_by_its_name() {
        for metric in Metric::ALL {
            assert_eq!(metric.name().parse::<Metric>().unwrap(), metric);
            assert_eq!(metric.name().replace('_', "-").parse::<Metric>().unwrap(), metric);
            let written = serde_json::to_string(&metric).unwrap();
            assert_eq!(serde_json::from_str::<Metric>(&written).unwrap(), metric);
        }
        let refusal = "beauty".parse::<Metric>().unwrap_err().to_string();
        assert!(refusal.contains("accuracy, balanced_accuracy, roc_auc"), "{refusal}");
    }

    #[test]
    fn what_rounds_to_zero_is_written_as_zero_unless_it_has_a_unit() {
        let shown =
            [(Metric::R2, -1.776e-15), (Metric::R2, -1.4e-5), (Metric::Accuracy, 0.88754), (Metric::Mae, 2.5e-6)];
        let shown = shown.map(|(metric, value)| metric.words(value));
        assert_eq!(shown, ["0.0000", "0.0000", "0.8875", "2.5e-6"]);
        assert_eq!(Metric::R2.words(-3e9), "-3e9");
    }

    #[test]
    fn a_mean_is_over_those_that_have_a_metric() {
        let (one, two) = (Metrics::from_iter([(Metric::Mae, 1.0), (Metric::R2, 0.5)]), [(Metric::Mae, 3.0)]);
        let mean = Metrics::mean(&[one, Metrics::from_iter(two)]);
        assert_eq!(mean, Metrics::from_iter([(Metric::Mae, 2.0), (Metric::R2, 0.5)]));
    }

    #[test]
    fn files_list_metrics_by_name_and_pass_over_unknown_ones() {
        let metrics: Metrics = Metric::ALL.into_iter().zip([0.5; 10]).collect();
        let mut names = Metric::ALL.map(Metric::name);
        names.sort_unstable();
        let lines: Vec<String> = names.iter().map(|name| format!("\"{name}\":0.5")).collect();
        assert_eq!(serde_json::to_string(&metrics).unwrap(), format!("{{{}}}", lines.join(",")));
        let read: Metrics = serde_json::from_str("{\"mae\":1.5,\"beauty\":2.0}").unwrap();
        assert_eq!(read, Metrics::from_iter([(Metric::Mae, 1.5)]));
    }
}
