//! Approximate leave-one-out: what a fit would predict for an item that it had not seen, from the one fit with all of them.
//!
//! ```text
//! f_(-i) = f_i - M (I - W_i M)^-1 g_i,   M = X_i V X_i'
//! ```
//!
//! with the posterior covariance `V` of the coefficients, and the gradient `g_i` and the second derivatives `W_i` of the item's
//! log-likelihood by its outputs.

use std::ops::Range;

use faer::Mat;
use rayon::prelude::*;

use super::family::{Derivatives, Family};
use super::newton::{PenalisedEstimate, PenalisedProblem};
use super::observed::Observed;
use super::vector::dot;

/// An item explains at most this share of its own output: beyond, it would be predicted from nothing.
const MOST_LEVERAGE: f64 = 0.999;

/// Items whose rows are made dense at a time, and the least share of entries other than 0 with which that pays.
const ITEMS_AT_ONCE: usize = 96;
const DENSE: f64 = 0.1;

/// The loss of every item by the outputs of a fit without it: half the squared error of a normal quantity, else minus the logarithm
/// of the likelihood of what it is; 0 for items that do not count.
pub fn left_out_losses(problem: &PenalisedProblem<'_>, estimate: &PenalisedEstimate) -> Vec<f64> {
    let PenalisedProblem { design, family, targets, weights, offset, .. } = *problem;
    let (outputs, columns) = (family.outputs(), design.columns());
    // `halves`: `L^-1 X_i'` of every output.
    let loss = |item: usize, halves: &[&[f64]]| {
        let output = |c: usize| {
            let own = &estimate.coefficients[c * columns..][..columns];
            design.row(item).map(|(column, value)| value * own[column]).sum::<f64>() + offset
        };
        let at: Vec<f64> = (0..outputs).map(output).collect();
        let mut found = Derivatives::default();
        family.derivatives(&at, targets[item], estimate.variance, &mut found);
        let spread: Vec<f64> = halves.iter().flat_map(|a| halves.iter().map(|b| dot(a, b))).collect();
        found.first.iter_mut().chain(&mut found.second).for_each(|entry| *entry *= weights[item]);
        let fitted = LeftOutItem { family, target: targets[item], dispersion: estimate.variance };
        fitted.loss(at, &spread, &found)
    };
    let of_output = |c: usize, item: usize| design.row(item).map(move |(column, value)| (c * columns + column, value));
    let losses = |items: Range<usize>| -> Vec<f64> {
        let counted: Vec<usize> = items.clone().filter(|item| weights[*item] != 0.0).collect();
        let entries: usize = counted.iter().map(|item| design.row(*item).count()).sum();
        let mut losses = vec![0.0; items.len()];
        if (entries as f64) < DENSE * (counted.len() * estimate.root.order()) as f64 {
            for item in counted {
                let halves: Vec<Vec<f64>> = (0..outputs).map(|c| estimate.root.times(of_output(c, item))).collect();
                losses[item - items.start] = loss(item, &halves.iter().map(Vec::as_slice).collect::<Vec<_>>());
            }
            return losses;
        }
        let products: Vec<Mat<f64>> = (0..outputs)
            .map(|c| {
                let mut dense = Mat::zeros(estimate.root.order(), counted.len());
                for (place, item) in counted.iter().enumerate() {
                    of_output(c, *item).for_each(|(row, value)| dense[(row, place)] = value);
                }
                estimate.root.times_dense(&dense)
            })
            .collect();
        for (place, item) in counted.iter().enumerate() {
            let halves: Vec<&[f64]> = products.iter().map(|product| product.col_as_slice(place)).collect();
            losses[item - items.start] = loss(*item, &halves);
        }
        losses
    };
    let starts: Vec<usize> = (0..design.rows()).step_by(ITEMS_AT_ONCE).collect();
    let parts = starts.into_par_iter().map(|start| losses(start..design.rows().min(start + ITEMS_AT_ONCE)));
    parts.flat_map_iter(|losses| losses).collect()
}

/// An item whose loss is computed as if it had not been fitted on.
#[derive(Clone, Copy)]
pub(super) struct LeftOutItem {
    pub family: Family,
    pub target: Observed,
    pub dispersion: f64,
}

impl LeftOutItem {
    /// The loss where outputs are not `at` but what is left of them, given their posterior covariance and the derivatives of the
    /// item's log-likelihood, its weight included.
    pub(super) fn loss(self, mut at: Vec<f64>, spread: &[f64], found: &Derivatives) -> f64 {
        let LeftOutItem { family, target, dispersion } = self;
        let outputs = at.len();
        let solved = solve_without(&found.second, spread, &found.first);
        for (c, output) in at.iter_mut().enumerate() {
            *output -= (0..outputs).map(|d| spread[c * outputs + d] * solved[d]).sum::<f64>();
        }
        match (family, target) {
            (Family::Gaussian, Observed::Exactly(value)) => 0.5 * (value - at[0]).powi(2),
            // In the same unit: a log-likelihood times the variance.
            (Family::Gaussian, _) => -dispersion * family.value(&at, target, dispersion),
            // The dispersion differs between fits: all of the log-likelihood of an item of weight 1 counts.
            _ => -family.value(&at, target, dispersion) - family.constant(target, 1.0, dispersion),
        }
    }
}

/// `(I - W M)^-1 g`.
fn solve_without(second: &[f64], spread: &[f64], first: &[f64]) -> Vec<f64> {
    let order = first.len();
    if order == 1 {
        return vec![first[0] / (1.0 - (second[0] * spread[0]).min(MOST_LEVERAGE))];
    }
    let mut left: Vec<Vec<f64>> = (0..order)
        .map(|i| {
            let entry = |j: usize| {
                let product: f64 = (0..order).map(|k| second[i * order + k] * spread[k * order + j]).sum();
                f64::from(u8::from(i == j)) - product
            };
            (0..order).map(entry).chain([first[i]]).collect()
        })
        .collect();
    for k in 0..order {
        let pivot = (k..order).max_by(|a, b| left[*a][k].abs().total_cmp(&left[*b][k].abs())).unwrap_or(k);
        left.swap(k, pivot);
        let least = 1.0 - MOST_LEVERAGE;
        if left[k][k].abs() < least {
            left[k][k] = least;
        }
        let own = left[k].clone();
        for (i, row) in left.iter_mut().enumerate() {
            if i != k {
                let share = row[k] / own[k];
                row.iter_mut().zip(&own).skip(k).for_each(|(entry, own)| *entry -= share * own);
            }
        }
    }
    (0..order).map(|i| left[i][order] / left[i][i]).collect()
}
