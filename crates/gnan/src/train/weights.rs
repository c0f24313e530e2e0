//! Weights: how much a class counts in the loss. The weights of items come with the data.

use crate::dataset::{Dataset, Outcome};

/// Weights that make every class count the same in training.
pub(super) fn class_weights(train: &Dataset, outcome: Outcome) -> Vec<f64> {
    if !matches!(outcome, Outcome::Binary | Outcome::Multiclass) {
        return Vec::new();
    }
    let target = &train.targets()[0];
    let mut counts = vec![0.0f64; target.classes.as_ref().map_or(0, Vec::len)];
    train.items().iter().for_each(|item| counts[target.values[*item as usize] as usize] += 1.0);
    let present = counts.iter().filter(|count| **count > 0.0).count() as f64;
    let total: f64 = counts.iter().sum();
    counts.into_iter().map(|count| if count > 0.0 { total / (present * count) } else { 1.0 }).collect()
}
