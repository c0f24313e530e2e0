//! What a prediction without any features is worth: the shares of the classes, or the mean, of the training part.

use crate::dataset::{Dataset, Outcome, Split};
use crate::error::Result;
use crate::metric::Metrics;
use crate::model::TargetFamily;
use crate::score::{Scored, score};

/// Stands for a share of 0 where a logarithm is taken.
const LEAST_SHARE: f64 = 1e-9;

/// What the baseline is called in tables.
pub fn words(outcome: Outcome) -> &'static str {
    if outcome.is_regression() { "mean" } else { "largest class" }
}

/// Judges on `test` the same prediction for every item, learned from `train`; by the deviances of a family, too, where there is one.
pub fn baseline(train: &Dataset, test: &Dataset, family: Option<&TargetFamily>) -> Result<Metrics> {
    let outcome = train.outcome()?;
    let constant: Vec<f32> = match outcome {
        Outcome::Binary | Outcome::Multiclass => {
            train.targets()[0].class_shares(train.items()).into_iter().map(logarithm).collect()
        }
        Outcome::MultiLabel => train
            .targets()
            .iter()
            .map(|target| match target.class_shares(train.items()).as_slice() {
                [no, yes] => logarithm(*yes) - logarithm(*no),
                _ => 0.0,
            })
            .collect(),
        Outcome::Regression | Outcome::MultiRegression => {
            train.targets().iter().map(|target| mean(&target.known(train.items())) as f32).collect()
        }
    };
    let outputs = constant.repeat(test.len());
    Ok(score(&Scored { outcome, width: constant.len(), outputs: &outputs, family }, test.targets(), test.items()))
}

/// The baseline's metrics, each the mean over the splits on which it can be computed.
pub fn mean_baseline(splits: &[Split]) -> Result<Metrics> {
    let found =
        splits.iter().map(|split| baseline(&split.train, &split.test, None)).collect::<Result<Vec<Metrics>>>()?;
    Ok(Metrics::mean(&found))
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len().max(1) as f64
}

fn logarithm(share: f64) -> f32 {
    share.max(LEAST_SHARE).ln() as f32
}
