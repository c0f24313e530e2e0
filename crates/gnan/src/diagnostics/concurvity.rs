//! Concurvity: how much of what a term contributes over items the other terms contribute together.
//!
//! Contributions are regressed on those of all other terms; the share of their variance that is explained, adjusted for the
//! number of terms, is mgcv's "observed" measure. Where it is near 1, effects can be moved from one term to the others
//! without a change of predictions.

use rayon::prelude::*;
use serde::Serialize;

use crate::dataset::Dataset;
use crate::error::Result;
use crate::explain::Explainer;
use crate::model::Model;
use crate::numbers::percent;

/// Items whose contributions are looked at.
const MOST_ITEMS: usize = 1000;
/// Terms that are compared, the largest first; and items for every one of them.
const MOST_TERMS: usize = 50;
const ITEMS_PER_TERM: usize = 4;
/// Terms that contribute less than this share of the largest are left out: they are shrunk to nothing.
const LEAST_SIZE: f64 = 1e-4;
/// Added to the diagonal of correlations, so that duplicates have an inverse.
const RIDGE: f64 = 1e-8;
/// Above this share terms cannot be told apart.
const MOST: f64 = 0.9;

/// What terms contribute to items: features, and last the structure.
pub(super) struct TermContributions {
    items: usize,
    /// `[terms][items, shown outputs]`, less their means.
    terms: Vec<Vec<f64>>,
}

/// The contributions of all terms to some items, evenly spaced ones of many.
pub(super) fn contributions(model: &Model, data: &Dataset) -> Result<TermContributions> {
    let step = data.len().div_ceil(MOST_ITEMS).max(1);
    let some = data.subset(&(0..data.len()).step_by(step).collect::<Vec<_>>());
    let explainer = Explainer::new(model, &some)?;
    let rows: Vec<Vec<f64>> =
        (0..some.len()).into_par_iter().map(|position| explainer.by_feature(position)).collect::<Result<_>>()?;
    let outputs = model.definition().shown_names().len().max(1);
    let terms = model.learned().features.len() + 1;
    let column = |place: usize| {
        let mean = rows.iter().map(|row| row[place]).sum::<f64>() / rows.len().max(1) as f64;
        rows.iter().map(move |row| row[place] - mean).collect::<Vec<f64>>()
    };
    let term = |term: usize| (0..outputs).flat_map(|c| column(term * outputs + c)).collect();
    Ok(TermContributions { items: rows.len(), terms: (0..terms).map(term).collect() })
}

impl TermContributions {
    fn size(&self, term: usize) -> f64 {
        let own = &self.terms[term];
        (own.iter().map(|value| value * value).sum::<f64>() / own.len().max(1) as f64).sqrt()
    }

    /// The terms, the largest first; the structure is the last of them by number.
    pub(super) fn by_size(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.terms.len()).collect();
        order.sort_by(|a, b| self.size(*b).total_cmp(&self.size(*a)));
        order
    }
}

/// How much of a term the others explain.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConcurvityRow {
    /// The feature, or "structure".
    pub name: String,
    /// The share of its contributions that those of all others explain.
    pub by_all: f64,
    /// The term that explains most of it alone.
    pub nearest: String,
    /// The share that this one explains.
    pub by_nearest: f64,
    /// Whether that is fine.
    pub fine: bool,
}

/// Whether features can be told apart.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ConcurvityCheck {
    /// Items that contributions were compared over.
    pub items: usize,
    /// The terms, the worst first.
    pub rows: Vec<ConcurvityRow>,
    /// Terms that were not compared, because they contribute hardly anything or are too many for the items.
    pub not_compared: usize,
    /// Whether all are fine.
    pub fine: bool,
    /// What it means and what to do.
    pub sentence: String,
}

impl ConcurvityCheck {
    /// The check; `None` where fewer than two terms contribute.
    pub(super) fn new(model: &Model, found: &TermContributions) -> Option<ConcurvityCheck> {
        let largest = (0..found.terms.len()).map(|term| found.size(term)).fold(0.0, f64::max);
        let is_large = |term: &usize| found.size(*term) > LEAST_SIZE * largest;
        let order: Vec<usize> = found.by_size().into_iter().filter(is_large).collect();
        let most = MOST_TERMS.min(found.items / ITEMS_PER_TERM);
        let compared = &order[..order.len().min(most)];
        if compared.len() < 2 {
            return None;
        }
        let sizes: Vec<f64> = compared.iter().map(|term| found.size(*term)).collect();
        let together = |i: usize, j: usize| {
            let (a, b) = (&found.terms[compared[i]], &found.terms[compared[j]]);
            a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / (a.len() as f64 * sizes[i] * sizes[j])
        };
        let count = compared.len();
        let correlations: Vec<Vec<f64>> = (0..count).map(|i| (0..count).map(|j| together(i, j)).collect()).collect();
        let diagonal = inverse_diagonal(&correlations);
        let name = |term: usize| match model.learned().features.get(term) {
            Some(feature) => feature.name.clone(),
            None => "structure".to_owned(),
        };
        let items = found.items as f64;
        let row = |i: usize| {
            // The share that is left is 1 / (R^-1)_ii; of few items some is explained by chance.
            let left = (1.0 / diagonal[i]).clamp(0.0, 1.0) * (items - 1.0) / (items - count as f64).max(1.0);
            let by_all = (1.0 - left).clamp(0.0, 1.0);
            let others = (0..count).filter(|j| *j != i);
            let nearest =
                others.max_by(|a, b| correlations[i][*a].abs().total_cmp(&correlations[i][*b].abs())).unwrap_or(i);
            ConcurvityRow {
                name: name(compared[i]),
                by_all,
                nearest: name(compared[nearest]),
                by_nearest: correlations[i][nearest].powi(2).min(1.0),
                fine: by_all < MOST,
            }
        };
        let mut rows: Vec<ConcurvityRow> = (0..count).map(row).collect();
        rows.sort_by(|a, b| b.by_all.total_cmp(&a.by_all));
        let fine = rows.iter().all(|row| row.fine);
        let worst = &rows[0];
        let sentence = match fine {
            true => format!(
                "Fine: features can be told apart; of no term more than {} is explained by the others.",
                percent(worst.by_all, 0)
            ),
            false => format!(
                "Not fine: {} of what {} contributes is explained by the others, {} by {} alone. Predictions are not harmed, but \
                 effects can be moved from one to the other: leave one of them out before reading either.",
                percent(worst.by_all, 0),
                worst.name,
                percent(worst.by_nearest, 0),
                worst.nearest
            ),
        };
        Some(ConcurvityCheck { items: found.items, not_compared: found.terms.len() - count, rows, fine, sentence })
    }
}

/// The diagonal of the inverse of a matrix of correlations, by elimination.
fn inverse_diagonal(matrix: &[Vec<f64>]) -> Vec<f64> {
    let order = matrix.len();
    let mut rows: Vec<Vec<f64>> = (0..order)
        .map(|i| {
            let unit = (0..order).map(|j| f64::from(u8::from(i == j)));
            let own = matrix[i].iter().enumerate().map(|(j, entry)| if i == j { entry + RIDGE } else { *entry });
            own.chain(unit).collect()
        })
        .collect();
    // The matrix is positive definite: no row need be exchanged.
    for k in 0..order {
        let pivot = rows[k][k].max(f64::MIN_POSITIVE);
        rows[k].iter_mut().for_each(|entry| *entry /= pivot);
        let own = rows[k].clone();
        for (_, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != k) {
            let share = row[k];
            row.iter_mut().zip(&own).for_each(|(entry, own)| *entry -= share * own);
        }
    }
    (0..order).map(|i| rows[i][order + i].max(1.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::inverse_diagonal;

    /// By hand: the inverse of [[1, r], [r, 1]] has 1 / (1 - r^2) on its diagonal.
    #[test]
    fn the_inverse_is_that_computed_by_hand() {
        let found = inverse_diagonal(&[vec![1.0, 0.6], vec![0.6, 1.0]]);
        assert!(found.iter().all(|entry| (entry - 1.5625).abs() < 1e-6), "{found:?}");
        assert!(inverse_diagonal(&[vec![1.0, 1.0], vec![1.0, 1.0]])[0] > 1e6);
    }
}
