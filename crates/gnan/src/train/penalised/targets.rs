//! The targets of a penalised fit: what is known of them, with weights; normal quantities are brought to one scale.

use super::super::resolve::ResolvedSpec;
use super::super::weights::class_weights;
use crate::dataset::{Dataset, Outcome, Target};
use crate::files::Side;
use crate::likelihood::{Block, Design, Family, Observed, PenalisedProblem};
use crate::spec::Spec;

/// The targets of one or several outputs that are fitted together.
pub(super) struct TargetPart {
    pub family: Family,
    pub targets: Vec<Observed>,
    pub weights: Vec<f64>,
    /// What was subtracted from a normal quantity, and what the rest was divided by; the logarithm of the mean of counts and gamma
    /// quantities, around which their outputs are estimated.
    pub shift: f64,
    pub scale: f64,
}

impl TargetPart {
    /// What outputs are estimated around.
    pub(super) fn offset(&self) -> f64 {
        if self.family.is_log() { self.shift } else { 0.0 }
    }

    /// The items that count, of so many.
    pub(super) fn counting(&self, items: usize) -> Vec<usize> {
        (0..items).filter(|item| self.weights[*item] > 0.0).collect()
    }

    /// What is to be estimated, given what items have of the coefficients and how these are penalised.
    pub(super) fn problem<'a>(&'a self, design: &'a Design, blocks: &'a [Block]) -> PenalisedProblem<'a> {
        PenalisedProblem {
            design,
            blocks,
            family: self.family,
            targets: &self.targets,
            weights: &self.weights,
            offset: self.offset(),
        }
    }
}

impl Spec {
    /// Whether items count of which only a bound is known: a normal quantity may lie anywhere below or above it.
    pub(in crate::train) fn counts_bounds(&self) -> bool {
        self.is_penalised() && !self.fit.family.is_log()
    }
}

/// The targets of the outputs, those of one softmax together.
pub(super) fn target_parts(train: &Dataset, outcome: Outcome, resolved: &ResolvedSpec) -> Vec<TargetPart> {
    let classes = match resolved.spec.fit.balance {
        true => class_weights(train, outcome),
        false => Vec::new(),
    };
    let part = |target: &Target| {
        let family = match outcome {
            Outcome::Binary | Outcome::MultiLabel => Family::Binomial,
            Outcome::Multiclass => Family::Multinomial(resolved.outputs),
            Outcome::Regression | Outcome::MultiRegression => resolved.spec.fit.family.likelihood(),
        };
        let mut known: Vec<Option<Observed>> = Vec::new();
        for item in train.items() {
            let value = target.values[*item as usize];
            known.push(match (value.is_nan(), family) {
                (false, _) => Some(Observed::Exactly(value)),
                (true, Family::Gaussian) => bound_of(target, *item),
                (true, _) => None,
            });
        }
        let weight = |(item, known): (&u32, &Option<Observed>)| match known {
            None => 0.0,
            Some(known) => {
                f64::from(train.weight(*item)) * classes.get(known.number() as usize).copied().unwrap_or(1.0)
            }
        };
        let weights: Vec<f64> = train.items().iter().zip(&known).map(weight).collect();
        let mut targets: Vec<Observed> = known.iter().map(|known| known.unwrap_or(Observed::Exactly(0.0))).collect();
        let exact = || {
            let counted = targets.iter().zip(&weights).filter(|(target, weight)| **weight > 0.0 && target.is_exact());
            counted.map(|(target, _)| target.number())
        };
        let count = (exact().count() as f64).max(1.0);
        let mean = exact().sum::<f64>() / count;
        let (mut shift, mut scale) = (0.0, 1.0);
        if family == Family::Gaussian {
            shift = mean;
            let spread = (exact().map(|value| (value - shift).powi(2)).sum::<f64>() / count).sqrt();
            scale = if spread.is_finite() && spread > 0.0 { spread } else { 1.0 };
            targets.iter_mut().for_each(|target| *target = target.with_number(|value| (value - shift) / scale));
        } else if family.is_log() {
            // Counts that are all 0 have no logarithm: as if one of them were a half.
            shift = mean.max(0.5 / count).ln();
        }
        TargetPart { family, targets, weights, shift, scale }
    };
    train.targets().iter().map(part).collect()
}

/// What is known of the missing target of an item.
fn bound_of(target: &Target, item: u32) -> Option<Observed> {
    let place = target.bounds.binary_search_by_key(&item, |bound| bound.row).ok()?;
    let bound = target.bounds[place];
    Some(match bound.side {
        Side::Below => Observed::AtMost(bound.value),
        Side::Above => Observed::AtLeast(bound.value),
    })
}
