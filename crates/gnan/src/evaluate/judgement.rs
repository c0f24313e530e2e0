//! How well a finished model predicts: metrics on the best available part of some data, how sure they are, and how good
//! always predicting the same would be.

use std::collections::BTreeMap;

use crate::baseline::baseline;
use crate::confidence::intervals;
use crate::dataset::{Dataset, Outcome, Split, Target};
use crate::error::Result;
use crate::metric::{Metric, Metrics};
use crate::model::Model;
use crate::predict::Outputs;
use crate::score::{Scored, margin, predicted_class, score};

/// Which items a model is judged on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgedPart {
    /// Items that were not used in training.
    Test,
    /// Items that decided when training stopped.
    Validation,
    /// The items it was fitted on.
    Training,
    /// Items of which it is not known whether training saw them.
    Unknown,
}

/// The items that a model is judged on, with their outputs and metrics.
#[derive(Clone, Debug)]
pub struct Judgement {
    /// Which items these are.
    pub part: JudgedPart,
    /// Where the parts of the data come from.
    pub origin: &'static str,
    /// The items.
    pub data: Dataset,
    /// What the model predicts for them.
    pub outputs: Outputs,
    /// The targets, with classes numbered as in the model; empty if the data have none.
    pub targets: Vec<Target>,
    /// Why targets that are there could not be used.
    pub problem: Option<String>,
    /// The metrics; empty without targets.
    pub metrics: Metrics,
    /// The 95 % interval of every metric.
    pub confidence: BTreeMap<Metric, [f64; 2]>,
    /// The metrics of always predicting the same.
    pub baseline: Metrics,
    /// What is predicted.
    pub outcome: Outcome,
}

impl Judgement {
    /// Judges a model on the test part of its training data if there is one, else on the validation part, else on what it
    /// was fitted on; on all labelled items of other data.
    pub fn new(model: &Model, data: &Dataset, test_share: Option<f64>) -> Result<Judgement> {
        let record = &model.definition().record;
        let outcome = model.definition().learned.outcome;
        let (targets, problem) = match model.align_targets(data) {
            Ok(targets) => (targets, None),
            Err(_) if data.targets().is_empty() => (Vec::new(), None),
            Err(error) => (Vec::new(), Some(error.to_string())),
        };
        let labelled = data.labelled();
        if targets.is_empty() || labelled.is_empty() {
            return Ok(Judgement {
                part: JudgedPart::Unknown,
                origin: "all items",
                data: data.clone(),
                outputs: model.outputs_on(data)?,
                targets: Vec::new(),
                problem,
                metrics: Metrics::default(),
                confidence: BTreeMap::new(),
                baseline: Metrics::default(),
                outcome,
            });
        }
        // Data that cannot be divided as training data are (all of them a test part, say) are judged whole.
        let split = data.parts(test_share, record.resolved.fit.seed).ok().filter(|(split, _)| record.is_of(split));
        let (part, origin, judged, train) = match split {
            None => (JudgedPart::Unknown, "all labelled items", labelled, None),
            Some((Split { train, valid, test }, origin)) => match (test.is_empty(), valid.is_empty()) {
                (false, _) => (JudgedPart::Test, origin, test, Some(train)),
                (true, false) => (JudgedPart::Validation, origin, valid, Some(train)),
                (true, true) => (JudgedPart::Training, origin, train.clone(), Some(train)),
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
        Ok(Judgement {
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
    pub fn row(&self, position: usize) -> &[f32] {
        &self.outputs.values[position * self.outputs.width..][..self.outputs.width]
    }

    /// The known target of the item at a position; the first of several.
    pub fn target(&self, position: usize) -> Option<f64> {
        let item = self.data.items()[position] as usize;
        self.targets.first().map(|target| target.values[item]).filter(|value| !value.is_nan())
    }

    /// The predicted class of the item at a position, for the first of several targets; `None` for quantities.
    pub fn class(&self, position: usize) -> Option<usize> {
        predicted_class(self.outcome, self.row(position))
    }

    /// How confident the predicted class of the item at a position is.
    pub fn margin(&self, position: usize) -> f64 {
        margin(self.outcome, self.row(position))
    }

    /// Whether the predicted class of the item at a position is right; `None` where that is not known.
    pub fn is_right(&self, position: usize) -> Option<bool> {
        Some(self.target(position)? as usize == self.class(position)?)
    }

    /// By how much the prediction of a quantity misses its known target.
    pub fn error(&self, position: usize) -> Option<f64> {
        Some((f64::from(self.row(position)[0]) - self.target(position)?).abs())
    }

    /// How often every actual class (a row) was predicted as every class (a column); `None` where an item has not
    /// exactly one class.
    pub fn confusion(&self) -> Option<Vec<Vec<usize>>> {
        let exactly_one = matches!(self.outcome, Outcome::Binary | Outcome::Multiclass);
        let classes = self.targets.first().filter(|_| exactly_one)?.classes.as_ref()?.len();
        let mut counts = vec![vec![0; classes]; classes];
        for position in 0..self.data.len() {
            if let (Some(actual), Some(predicted)) = (self.target(position), self.class(position)) {
                counts[actual as usize][predicted] += 1;
            }
        }
        Some(counts)
    }

    /// Whether the chief metric is clearly better than that of the constant baseline; `None` without metrics.
    pub fn beats_baseline(&self) -> Option<bool> {
        let (name, _) = self.metrics.chief()?;
        let [low, high] = *self.confidence.get(&name)?;
        let reference = self.baseline.get(name)?;
        Some(if name.smaller_is_better() { high < reference } else { low > reference })
    }
}
