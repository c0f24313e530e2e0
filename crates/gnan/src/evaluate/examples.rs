//! Which predictions are worth showing: the most confident, the largest error and the most typical.

use std::cmp::Reverse;

use super::judgement::Judgement;
use crate::error::Result;
use crate::explain::Explainer;

/// Predicted classes of which the most confident prediction is shown.
const MOST_CLASSES: usize = 3;

/// A prediction worth showing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Example {
    /// Position among the judged items.
    pub position: usize,
    /// Why it is shown.
    pub reason: ExampleReason,
}

/// Why a prediction is shown; with several targets, all but the last are about the first of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExampleReason {
    /// The highest prediction of a quantity.
    Highest,
    /// The lowest prediction of a quantity.
    Lowest,
    /// The largest error of a quantity.
    LargestError,
    /// The most confident prediction of a class that is not known to be wrong.
    MostConfident {
        /// The class.
        class: usize,
        /// Whether it is known to be right.
        right: bool,
    },
    /// The most confident prediction of a wrong class.
    MostConfidentError,
    /// Its contributions by feature are nearest to the medians.
    MostTypical,
}

impl Judgement {
    /// Chooses examples from the judged items, which `explainer` explains; none is chosen twice.
    pub fn examples(&self, explainer: &Explainer<'_>) -> Result<Vec<Example>> {
        let mut found: Vec<(Option<usize>, ExampleReason)> = Vec::new();
        let all = || 0..self.data.len();
        if self.outcome.is_regression() {
            let value = |position: &usize| self.row(*position)[0];
            let error = |position: &usize| self.error(*position).unwrap_or(0.0);
            let errors = all().filter(|position| error(position) > 0.0);
            found.push((all().max_by(|a, b| value(a).total_cmp(&value(b))), ExampleReason::Highest));
            found.push((all().min_by(|a, b| value(a).total_cmp(&value(b))), ExampleReason::Lowest));
            found.push((errors.max_by(|a, b| error(a).total_cmp(&error(b))), ExampleReason::LargestError));
        } else {
            let most_confident = |wanted: &dyn Fn(&usize) -> bool| {
                all().filter(wanted).max_by(|a, b| self.margin(*a).total_cmp(&self.margin(*b)))
            };
            for class in self.predicted_classes().into_iter().take(MOST_CLASSES) {
                let best = most_confident(&|p| self.class(*p) == Some(class) && self.is_right(*p) != Some(false));
                let right = best.is_some_and(|position| self.is_right(position) == Some(true));
                found.push((best, ExampleReason::MostConfident { class, right }));
            }
            found.push((most_confident(&|p| self.is_right(*p) == Some(false)), ExampleReason::MostConfidentError));
        }
        found.push((explainer.most_typical()?, ExampleReason::MostTypical));
        let mut examples: Vec<Example> = Vec::new();
        for (position, reason) in found {
            if let Some(position) = position
                && examples.iter().all(|example| example.position != position)
            {
                examples.push(Example { position, reason });
            }
        }
        Ok(examples)
    }

    /// The classes that occur among predictions, the most frequent first.
    fn predicted_classes(&self) -> Vec<usize> {
        let mut counts: Vec<usize> = Vec::new();
        for class in (0..self.data.len()).filter_map(|position| self.class(position)) {
            counts.resize(counts.len().max(class + 1), 0);
            counts[class] += 1;
        }
        let mut classes: Vec<usize> = (0..counts.len()).filter(|class| counts[*class] > 0).collect();
        classes.sort_by_key(|class| (Reverse(counts[*class]), *class));
        classes
    }
}
