//! The parts of one split: how good a model is on each of them.

use serde::Serialize;

use crate::baseline::baseline;
use crate::dataset::Dataset;
use crate::error::Result;
use crate::metric::Metrics;
use crate::train::Fitted;

/// Metrics by part, and of the baseline on the last part there is.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct PartMetrics {
    /// On the validation part, which stopped training.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub validation: Option<Metrics>,
    /// On the test part, which training never saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub test: Option<Metrics>,
    /// Of a prediction without features.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Metrics>,
}

impl PartMetrics {
    /// How good a fitted model is on its validation part and on `test`; an empty part has no metrics.
    pub fn of(fitted: &Fitted, test: &Dataset) -> Result<PartMetrics> {
        let part = |data| Some(data).filter(|data: &&Dataset| !data.is_empty());
        let judge = |part: Option<&Dataset>| part.map(|part| fitted.model.evaluate(part)).transpose();
        let (valid, test) = (part(&fitted.valid), part(test));
        Ok(PartMetrics {
            validation: judge(valid)?,
            test: judge(test)?,
            baseline: test.or(valid).map(|part| baseline(&fitted.train, part)).transpose()?,
        })
    }
}
