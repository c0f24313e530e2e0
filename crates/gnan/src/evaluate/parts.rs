//! How good a model is on every part of some data: on what it was fitted on, validated by, and has not seen.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use crate::baseline::baseline;
use crate::confidence::intervals;
use crate::dataset::{Dataset, Split, Target};
use crate::error::Result;
use crate::metric::{Metric, Metrics};
use crate::model::{Model, RememberedSplit};
use crate::score::{only_class, score, shown_metrics};

/// What the parts are called in documents, in the order in which they are shown.
const PARTS: [&str; 5] = ["training", "validation", "test", "doubtful", "new"];

/// Numbers of items by the names of their parts.
fn by_part<S: Serializer>(items: &[usize; 5], serializer: S) -> std::result::Result<S::Ok, S::Error> {
    serializer.collect_map(PARTS.iter().zip(items).filter(|(_, items)| **items > 0))
}

/// Metrics by part, of the baseline, and how sure those of the best part are.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PartMetrics {
    /// On the items that the model was fitted on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub training: Option<Metrics>,
    /// On the validation part, which stopped training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Metrics>,
    /// On the test part, which training never saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Metrics>,
    /// On items that have the structure of a graph, or the id of a node, that training used, and another name or other
    /// values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub doubtful: Option<Metrics>,
    /// On other items, which training did not use, or of which that is not recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new: Option<Metrics>,
    /// Of always predicting the same, on the best part there is: test, other items, validation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Metrics>,
    /// The 95 % interval of every metric on that part.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub intervals: BTreeMap<Metric, [f64; 2]>,
    /// Number of items of the parts, in the order of the parts above.
    #[serde(serialize_with = "by_part")]
    pub items: [usize; 5],
    /// The class whose precision and recall are measured, where it is rare.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rare_class: Option<String>,
    /// The class that all items of the best part have, where it is one: metrics that compare classes are left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only_class: Option<String>,
    /// Which metrics are shown, the chief one first.
    #[serde(skip)]
    pub shown: Vec<Metric>,
}

impl PartMetrics {
    /// How good a model is on its validation and test items.
    pub fn of_split(model: &Model, split: &Split) -> Result<PartMetrics> {
        let nothing = split.train.subset(&[]);
        PartMetrics::of([&nothing, &split.valid, &split.test, &nothing, &nothing], &split.train, model, |part| {
            Ok(model.values_on(part)?.values)
        })
    }

    /// How good a model is on every part of some data that it remembers; all items are new to a model that remembers none.
    pub fn of_data(model: &Model, data: &Dataset) -> Result<PartMetrics> {
        PartMetrics::of_outputs(model, data, |part| Ok(model.values_on(part)?.values))
    }

    /// The same with logits or values that are known: those of a part, `[items, outputs]`.
    pub(super) fn of_outputs(
        model: &Model,
        data: &Dataset,
        outputs: impl Fn(&Dataset) -> Result<Vec<f32>>,
    ) -> Result<PartMetrics> {
        let RememberedSplit { split: Split { train, valid, test }, doubtful, new, is_whole } = known_parts(model, data);
        // A few of the training items are no measure of what a constant would predict.
        let reference = if is_whole { train.clone() } else { data.labelled() };
        PartMetrics::of([&train, &valid, &test, &doubtful, &new], &reference, model, outputs)
    }

    /// Metrics of the parts; `reference` is what the baseline learns from.
    fn of(
        parts: [&Dataset; 5],
        reference: &Dataset,
        model: &Model,
        outputs: impl Fn(&Dataset) -> Result<Vec<f32>>,
    ) -> Result<PartMetrics> {
        let targets = model.align_targets(reference)?;
        let family = model.learned().target_family.as_ref();
        let best = [2, 4, 1, 3, 0].into_iter().find(|part| !parts[*part].is_empty());
        let mut found = PartMetrics {
            shown: shown_metrics(&targets),
            rare_class: rare_class(&targets),
            items: parts.map(Dataset::len),
            ..Self::default()
        };
        let mut metrics: [Option<Metrics>; 5] = Default::default();
        for (place, part) in parts.into_iter().enumerate().filter(|(_, part)| !part.is_empty()) {
            let outputs = outputs(part)?;
            let scored = model.scored(&outputs);
            metrics[place] = Some(score(&scored, &targets, part.items()));
            if Some(place) == best {
                found.only_class = only_class(&targets, part.items()).map(str::to_owned);
                found.intervals = intervals(&scored, &targets, part.items(), model.record().resolved.fit.seed);
                found.baseline =
                    same_classes(reference, &targets).then(|| baseline(reference, part, family)).transpose()?;
            }
        }
        [found.training, found.validation, found.test, found.doubtful, found.new] = metrics;
        Ok(found)
    }
}

/// The parts of some data that a model remembers; everything is new to one that remembers nothing.
fn known_parts(model: &Model, data: &Dataset) -> RememberedSplit {
    model.remembered(data).unwrap_or_else(|| {
        let nothing = data.subset(&[]);
        let split = Split { train: nothing.clone(), valid: nothing.clone(), test: nothing };
        RememberedSplit { split, doubtful: data.subset(&[]), new: data.labelled(), is_whole: false }
    })
}

/// The class whose precision and recall are measured, where it is the rare one of two.
pub(super) fn rare_class(targets: &[Target]) -> Option<String> {
    let [target] = targets else { return None };
    target.classes.as_ref()?.get(target.rare_class()?).cloned()
}

/// Whether data have the very classes of a model: of others the baseline would be another metric.
pub(super) fn same_classes(data: &Dataset, targets: &[Target]) -> bool {
    data.targets().iter().map(|target| &target.classes).eq(targets.iter().map(|target| &target.classes))
}
