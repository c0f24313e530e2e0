//! How well the model predicts: metrics on the best available part of the data, with confidence intervals and a baseline.

use std::collections::BTreeMap;

use gnan::baseline::{self, baseline};
use gnan::confidence::intervals;
use gnan::dataset::{Outcome, Split, Target};
use gnan::metric::{Metric, Metrics};
use gnan::numbers;
use gnan::predict::Outputs;
use gnan::score::{Scored, most_probable, probabilities, score};
use gnan::{Dataset, Model, Result};
use maud::{Markup, html};

use super::html::{TableCell, table};
use crate::figure::scatter::{Scatter, ScatterPoint};
use crate::model_figures::Figure;
use crate::text;

/// Points of a scatter plot.
const MOST_POINTS: usize = 1500;

/// Which items the model is judged on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Items that were not used in training.
    Test,
    /// Items that decided when training stopped.
    Validation,
    /// The items it was fitted on.
    Training,
    /// Items of which it is not known whether training saw them.
    Unknown,
}

/// The items that a report judges the model on, with their outputs and metrics.
pub(super) struct Judged {
    pub part: Part,
    /// Where the parts of the data come from.
    pub origin: &'static str,
    pub data: Dataset,
    pub outputs: Outputs,
    /// The targets, with classes numbered as in the model; empty if the data have none.
    pub targets: Vec<Target>,
    /// Why targets that are there could not be used.
    problem: Option<String>,
    pub metrics: Metrics,
    confidence: BTreeMap<Metric, [f64; 2]>,
    baseline: Metrics,
    outcome: Outcome,
}

impl Judged {
    pub(super) fn new(model: &Model, data: &Dataset, test_share: Option<f64>) -> Result<Judged> {
        let record = &model.definition().record;
        let outcome = model.definition().learned.outcome;
        let (targets, problem) = match model.align_targets(data) {
            Ok(targets) => (targets, None),
            Err(_) if data.targets().is_empty() => (Vec::new(), None),
            Err(error) => (Vec::new(), Some(error)),
        };
        let labelled = data.labelled();
        if targets.is_empty() || labelled.is_empty() {
            let outputs = model.outputs_on(data)?;
            return Ok(Judged {
                part: Part::Unknown,
                origin: "all items",
                data: data.clone(),
                outputs,
                targets: Vec::new(),
                problem: problem.map(|error| error.to_string()),
                metrics: Metrics::default(),
                confidence: BTreeMap::new(),
                baseline: Metrics::default(),
                outcome,
            });
        }
        // Data that cannot be divided as training data are (all of them a test part, say) are judged whole.
        let split = data.parts(test_share, record.resolved.fit.seed).ok().filter(|(split, _)| record.is_of(split));
        let (part, origin, judged, train) = match split {
            None => (Part::Unknown, "all labelled items", labelled, None),
            Some((Split { train, valid, test }, origin)) => match (test.is_empty(), valid.is_empty()) {
                (false, _) => (Part::Test, origin, test, Some(train)),
                (true, false) => (Part::Validation, origin, valid, Some(train)),
                (true, true) => (Part::Training, origin, train.clone(), Some(train)),
            },
        };
        let outputs = model.outputs_on(&judged)?;
        let scored = Scored { outcome, width: outputs.width, outputs: &outputs.values };
        let metrics = score(&scored, &targets, judged.items());
        let confidence = intervals(&scored, &targets, judged.items(), record.resolved.fit.seed);
        // Of data with other classes than the model's the baseline would be another metric.
        let same = data.outcome().is_ok_and(|found| found == outcome)
            && data.targets().iter().map(|target| &target.classes).eq(targets.iter().map(|target| &target.classes));
        let baseline = match same {
            true => baseline(train.as_ref().unwrap_or(&judged), &judged)?,
            false => Metrics::default(),
        };
        Ok(Judged {
            part,
            origin,
            data: judged,
            outputs,
            targets,
            problem: None,
            metrics,
            confidence,
            baseline,
            outcome,
        })
    }

    /// The outputs of the item at a position.
    pub(super) fn row(&self, position: usize) -> &[f32] {
        &self.outputs.values[position * self.outputs.width..][..self.outputs.width]
    }

    /// The known target of the item at a position.
    pub(super) fn target(&self, position: usize) -> Option<f64> {
        let item = self.data.items()[position] as usize;
        self.targets.first().map(|target| target.values[item]).filter(|value| !value.is_nan())
    }

    /// Which items these are, in words.
    pub(super) fn part_words(&self) -> String {
        let items = numbers::count(self.data.len());
        match self.part {
            Part::Test => format!("{items} test items ({})", self.origin),
            Part::Validation => format!("{items} validation items"),
            Part::Training => format!("the {items} training items"),
            Part::Unknown => format!("{items} items"),
        }
    }

    /// What that means for the reliability of the metrics.
    pub(super) fn part_remark(&self) -> &'static str {
        match self.part {
            Part::Test => "They were not used in training.",
            Part::Validation => "They decided when training stopped, so the metrics are slightly optimistic.",
            Part::Training => "The metrics are optimistic: no items were held out.",
            Part::Unknown if self.targets.is_empty() => "Their targets are not known.",
            Part::Unknown => {
                "Some of them may have been used in training (the data cannot be divided as they were for training), so the \
                 metrics may be optimistic."
            }
        }
    }

    /// The section.
    pub(super) fn html(&self) -> Markup {
        if self.metrics.is_empty() {
            return match &self.problem {
                None => html! { p { "These data have no known targets: no metrics can be computed on them." } },
                Some(problem) => html! { p { "No metrics can be computed on these data: " (problem) "." } },
            };
        }
        let rows = self.metrics.in_order().map(|(name, value)| {
            let interval =
                self.confidence.get(&name).map(|[low, high]| format!("{} to {}", metric(*low), metric(*high)));
            vec![
                TableCell::Text(name.long_name().to_owned()),
                TableCell::Number(metric(value)),
                TableCell::Number(interval.unwrap_or_default()),
                TableCell::Number(self.baseline.get(name).map(metric).unwrap_or_default()),
            ]
        });
        let rows: Vec<Vec<TableCell>> = rows.collect();
        let reference = format!("baseline (always the {})", baseline::words(self.outcome));
        html! {
            p { "Metrics on " (self.part_words()) ". " (self.part_remark()) }
            (table(&["metric", "this model", "95 % confidence interval", &reference], &rows, &[]))
            (self.confusion())
        }
    }

    /// Predicted against actual values, for a regression with one target.
    pub(super) fn scatter(&self, unit: &str, width: f64) -> Option<Figure> {
        if self.outcome != Outcome::Regression || self.targets.is_empty() {
            return None;
        }
        let item = |position: usize| {
            let name = self.data.item_id(self.data.items()[position]);
            Some(ScatterPoint { name, actual: self.target(position)?, predicted: f64::from(self.row(position)[0]) })
        };
        let scatter = Scatter {
            title: "Predicted against actual values".to_owned(),
            unit: unit.to_owned(),
            items: (0..self.data.len()).filter_map(item).collect(),
            most: MOST_POINTS,
        };
        Some(Figure {
            name: "predicted-against-actual".to_owned(),
            caption: "Every point is one of these items; on the dashed line, predicted and actual values are equal."
                .to_owned(),
            scene: scatter.scene(width),
        })
    }

    /// The confusion matrix; nothing for other outcomes and for very many classes.
    fn confusion(&self) -> Markup {
        const MOST_CLASSES: usize = 12;
        let classes = match (self.outcome, self.targets.first().and_then(|target| target.classes.as_ref())) {
            (Outcome::Binary | Outcome::Multiclass, Some(classes)) if classes.len() <= MOST_CLASSES => classes,
            _ => return Markup::default(),
        };
        let mut counts = vec![vec![0; classes.len()]; classes.len()];
        for position in 0..self.data.len() {
            if let Some(target) = self.target(position) {
                counts[target as usize][most_probable(&probabilities(self.row(position)))] += 1;
            }
        }
        let mut header = vec!["actual class".to_owned()];
        header.extend(classes.iter().map(|class| format!("predicted {class}")));
        let rows = classes.iter().zip(counts).map(|(class, counts)| {
            let numbers = counts.into_iter().map(|count| TableCell::Number(numbers::count(count)));
            [TableCell::Text(class.clone())].into_iter().chain(numbers).collect()
        });
        let header: Vec<&str> = header.iter().map(String::as_str).collect();
        table(&header, &rows.collect::<Vec<_>>(), &[])
    }

    /// Whether the chief metric is clearly better than that of the constant baseline; `None` without metrics.
    pub(super) fn beats_baseline(&self) -> Option<bool> {
        let (name, _) = self.metrics.chief()?;
        let [low, high] = *self.confidence.get(&name)?;
        let reference = self.baseline.get(name)?;
        Some(if name.smaller_is_better() { high < reference } else { low > reference })
    }
}

/// A metric with a minus sign.
pub(super) fn metric(value: f64) -> String {
    text::with_minus(&numbers::metric(value))
}
