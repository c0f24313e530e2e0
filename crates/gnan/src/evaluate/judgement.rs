//! How well a finished model predicts: metrics on the best available part of some data, how sure they are, and how good
//! always predicting the same would be.

use std::collections::BTreeMap;

use super::parts::{rare_class, same_classes};
use crate::baseline::baseline;
use crate::confidence::intervals;
use crate::dataset::{Dataset, Outcome, Split, SplitOrigin, Target};
use crate::error::Result;
use crate::metric::{Metric, Metrics};
use crate::model::{Model, RememberedSplit};
use crate::predict::Outputs;
use crate::score::{margin, only_class, predicted_class, score, shown_metrics};

/// Which items a model is judged on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JudgedPart {
    /// Items that were set aside for testing.
    Test,
    /// Graphs of other structures, or nodes of other ids, than those that training used.
    New,
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
    /// Where the parts of the data come from, where that is known.
    pub origin: Option<SplitOrigin>,
    /// Labelled items of the data that training used, or may have used, and that the model is therefore not judged on.
    pub used_in_training: usize,
    /// The items.
    pub data: Dataset,
    /// What the model predicts for them: logits, or values in the units of the targets.
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

/// The items that a model is judged on, and those that it was fitted on where they are known.
struct JudgedItems {
    part: JudgedPart,
    origin: Option<SplitOrigin>,
    items: Dataset,
    train: Option<Dataset>,
}

/// The best items of some data to judge a model on.
fn judged_items(model: &Model, data: &Dataset, labelled: &Dataset, test_share: Option<f64>) -> JudgedItems {
    let record = model.record();
    // A file of before items were remembered: data that are divided as then are recognised.
    let divided = || data.parts(test_share, record.resolved.fit.seed).ok().filter(|(split, _)| record.is_of(split));
    let nothing = || labelled.subset(&[]);
    let known = match model.remembered(data) {
        Some(known) => Some((known, record.origin)),
        None => divided().map(|(split, origin)| {
            (RememberedSplit { split, doubtful: nothing(), new: nothing(), is_whole: true }, Some(origin))
        }),
    };
    let Some((RememberedSplit { split: Split { train, valid, test }, doubtful, new, is_whole }, origin)) = known else {
        return JudgedItems { part: JudgedPart::Unknown, origin: None, items: labelled.clone(), train: None };
    };
    let candidates = [
        (JudgedPart::Test, &test),
        (JudgedPart::New, &new),
        (JudgedPart::Validation, &valid),
        (JudgedPart::Unknown, &doubtful),
    ];
    let best = candidates.into_iter().find(|(_, items)| !items.is_empty());
    let (part, items) = best.unwrap_or((JudgedPart::Training, &train));
    JudgedItems { part, origin, items: items.clone(), train: is_whole.then_some(train.clone()) }
}

impl Judgement {
    /// Judges a model on the items of `data` that were set aside for testing; else on others that training did not use;
    /// else on those it was validated by, or fitted on. `test_share` says how the data were divided for a model whose file
    /// does not remember it.
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
                origin: None,
                used_in_training: 0,
                data: data.clone(),
                outputs: model.values_on(data)?,
                targets: Vec::new(),
                problem,
                metrics: Metrics::default(),
                confidence: BTreeMap::new(),
                baseline: Metrics::default(),
                outcome,
            });
        }
        let JudgedItems { part, origin, items: judged, train } = judged_items(model, data, &labelled, test_share);
        let used_in_training = if part == JudgedPart::New { labelled.len() - judged.len() } else { 0 };
        let outputs = model.values_on(&judged)?;
        let scored = model.scored(&outputs.values);
        let metrics = score(&scored, &targets, judged.items());
        let confidence = intervals(&scored, &targets, judged.items(), record.resolved.fit.seed);
        let baseline = match same_classes(data, &targets) {
            true => baseline(train.as_ref().unwrap_or(&judged), &judged, model.learned().target_family.as_ref())?,
            false => Metrics::default(),
        };
        Ok(Judgement {
            part,
            origin,
            used_in_training,
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

    /// The metrics that are shown, the chief one first.
    pub fn shown(&self) -> Vec<(Metric, f64)> {
        let shown = shown_metrics(&self.targets).into_iter();
        shown.filter_map(|metric| self.metrics.get(metric).map(|value| (metric, value))).collect()
    }

    /// The class whose precision and recall are measured, where it is rare.
    pub fn rare_class(&self) -> Option<String> {
        rare_class(&self.targets)
    }

    /// The class that all these items have, where it is one: metrics that compare classes are left out.
    pub fn only_class(&self) -> Option<&str> {
        only_class(&self.targets, self.data.items())
    }

    /// The metric by which the model is judged.
    pub fn chief(&self) -> Option<(Metric, f64)> {
        self.metrics.first_of(&shown_metrics(&self.targets))
    }

    /// Whether the chief metric is clearly better than that of the constant baseline; `None` without metrics.
    pub fn beats_baseline(&self) -> Option<bool> {
        let (name, _) = self.chief()?;
        let [low, high] = *self.confidence.get(&name)?;
        let reference = self.baseline.get(name)?;
        Some(if name.smaller_is_better() { high < reference } else { low > reference })
    }
}
